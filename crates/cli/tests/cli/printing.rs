//! Every command prints to any standard output. An output may be printed in place of the report.

use std::fs;

use crate::support::{Folder, NAMES, TRAIN, zst};

/// All commands that print results, and before them the commands that write their inputs.
const PRINTING: [&str; 26] = [
    "select train.svm -k 3 --lambda 1",
    "select train.svm -k 3 --lambda 1 --json",
    "select train.svm -k 2",
    "tune train.svm -k 2",
    "tune train.svm -k 2 --json",
    "compare train.svm -k 2 --lambda 1 --strategy dense,lowmem",
    "compare train.svm -k 2 --lambda 1 --strategy dense,lowmem --json",
    "train train.svm --lambda 1",
    "train train.svm --lambda 1 --json",
    "predict model.json test.svm",
    "predict model.json test.svm -o -",
    "evaluate test.svm --model model.json",
    "evaluate test.svm --model model.json --json",
    "explain model.json test.svm y",
    "explain model.json test.svm y --json",
    "inspect model.json",
    "inspect model.json --json",
    "info train.svm",
    "info train.svm -k 2 --json",
    "convert train.svm -o -",
    "convert train.svm --model model.json -o -",
    "build gold.conllu --candidates nbest.conllu -o c --json",
    "completions bash",
    "completions zsh",
    "--help",
    "--version",
];

/// Outputs that may be files, with the arguments of a run before each.
const OUTPUTS: [&str; 13] = [
    "select train.svm -k 2 --lambda 1 -o",
    "select train.svm -k 2 --lambda 1 --names names.txt -o",
    "select train.svm -k 2 --lambda 1 --plot",
    "tune train.svm -k 2 -o",
    "tune train.svm -k 2 --table",
    "tune train.svm -k 2 --plot",
    "train train.svm --lambda 1 -o",
    "train train.svm --lambda 1 --holdout-scores",
    "predict model.json test.svm -o",
    "evaluate test.svm --model model.json --csv",
    "explain model.json test.svm y --plot",
    "convert train.svm -o",
    "convert table.csv --label y --query q -o",
];

fn folder() -> Folder {
    let folder = Folder::new();
    let fixtures = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/freeze/fixtures/build");
    for name in ["gold.conllu", "nbest.conllu"] {
        fs::copy(format!("{fixtures}/{name}"), folder.path(name)).unwrap();
    }
    folder.write("table.csv", "q,y,a b,c\n1,2,0.5,1\n1,1,0,3\n2,1,1,0\n");
    folder.run("select train.svm -k 2 --lambda 1 -o model.json");
    folder
}

/// The output of a line of a shell that succeeds and leaves standard error empty.
#[track_caller]
fn quiet(folder: &Folder, line: &str) -> String {
    let output = folder.shell(line);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{line}: {errors}");
    assert_eq!(errors, "", "{line}");
    String::from_utf8(output.stdout).unwrap()
}

/// The lines of a report without digits, because times differ.
fn steady(text: &str) -> Vec<String> {
    let words = |line: &str| line.replace(|char: char| char.is_ascii_digit() || char == ' ', "");
    text.lines().map(words).collect()
}

#[test]
fn every_command_prints_to_files_and_pipes() {
    let folder = folder();
    for arguments in PRINTING {
        // `build` makes its folder anew, and help takes no other option.
        let run = if arguments.starts_with("--") {
            format!("rankrls {arguments}")
        } else {
            format!("rm -rf c; rankrls {arguments} -q")
        };
        let piped = quiet(&folder, &format!("{run} | cat"));
        assert!(!piped.is_empty(), "{arguments}");
        folder.write("log", "earlier\n");
        for (to, begin) in [("> new", ""), (">> log", "earlier\n"), ("1<> new", "")] {
            quiet(&folder, &format!("rm -f new; {run} {to}"));
            let file = to.rsplit(' ').next().unwrap();
            let found = folder.read(file);
            let found = found.strip_prefix(begin).unwrap();
            assert_eq!(steady(found), steady(&piped), "{arguments} {to}");
        }
        let head = quiet(&folder, &format!("({run}) | head -n 1"));
        assert_eq!(steady(&head), steady(&piped)[..1], "{arguments}");
        // Nobody reads: the pipe closes before the first output.
        quiet(
            &folder,
            &format!("({run}; echo $? >&2) 2> code | :; cat code"),
        );
        assert_eq!(folder.read("code"), "0\n", "{arguments}");
    }
}

#[test]
#[cfg(target_os = "linux")]
fn a_full_standard_output_is_an_error() {
    let folder = folder();
    for arguments in PRINTING.iter().filter(|line| !line.starts_with("--")) {
        let output = folder.shell(&format!("rm -rf c; rankrls {arguments} -q > /dev/full"));
        let errors = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(1), "{arguments}: {errors}");
        assert!(
            errors.starts_with("error: cannot write to standard output\n"),
            "{errors}"
        );
    }
}

/// A printed output equals the file, and nothing else is printed.
#[test]
fn an_output_is_printed_in_place_of_the_report() {
    let folder = folder();
    std::os::unix::fs::symlink("/dev/stdout", folder.path("out")).unwrap();
    for arguments in OUTPUTS {
        let file = match arguments.rsplit(' ').next().unwrap() {
            "--plot" => "file.svg",
            "--csv" | "--table" => "file.csv",
            _ => "file",
        };
        quiet(
            &folder,
            &format!("rm -f file*; rankrls {arguments} {file} -q > report"),
        );
        let written = folder.read(file);
        for name in ["-", "/dev/stdout", "/dev/fd/1", "out"] {
            let run = format!("rankrls {arguments} {name} -q");
            assert_eq!(quiet(&folder, &format!("{run} | cat")), written, "{run}");
            folder.write("log", "earlier\n");
            quiet(&folder, &format!("{run} >> log"));
            assert_eq!(folder.read("log"), format!("earlier\n{written}"), "{run}");
            quiet(&folder, &format!("{run} > log"));
            assert_eq!(folder.read("log"), written, "{run}");
            quiet(
                &folder,
                &format!("({run}; echo $? >&2) 2> code | :; cat code"),
            );
            assert_eq!(folder.read("code"), "0\n", "{run}");
        }
    }
    let models = "rankrls select train.svm -k 2 --lambda 1 -o - -q | rankrls predict - test.svm -q";
    assert_eq!(
        quiet(&folder, models),
        folder.stdout("predict model.json test.svm")
    );
    assert!(!folder.path("-").exists());
    let left = folder.list().into_iter();
    assert_eq!(left.filter(|name| name.contains("part")).count(), 0);
}

#[test]
fn standard_output_has_one_thing_alone() {
    let folder = folder();
    let before = folder.list();
    let json = "both go to standard output: name a file";
    for arguments in OUTPUTS {
        let reports = ["select", "tune", "train", "evaluate", "explain"];
        let has_report = reports.iter().any(|name| arguments.starts_with(name));
        if has_report {
            folder.misused(&format!("{arguments} - --json => and --json {json}"));
            folder.misused(&format!(
                "{arguments} /dev/stdout --json => and --json {json}"
            ));
        }
    }
    for (arguments, names) in [
        (
            "select train.svm -k 1 --lambda 1 -o - --plot -",
            "--plot and --output",
        ),
        (
            "tune train.svm -k 1 -o - --table /dev/stdout",
            "--table and --output",
        ),
        (
            "train train.svm --lambda 1 -o - --holdout-scores -",
            "--holdout-scores and --output",
        ),
    ] {
        folder.misused(&format!(
            "{arguments} => {names} both go to standard output"
        ));
    }
    for arguments in [
        "select train.svm -k 1 --lambda 1 -o - --resume => --resume: expected a file",
        "build gold.conllu --candidates nbest.conllu -o - => expected a folder",
        "convert train.svm -o - --to lightgbm => --to writes a file",
    ] {
        folder.misused(arguments);
    }
    // A file that is also standard output would be replaced, and the report lost with it.
    folder.write("log", "earlier\n");
    let select = "rankrls select train.svm -k 1 --lambda 1 -o log >> log";
    let output = folder.shell(select);
    assert_eq!(output.status.code(), Some(2));
    let errors = String::from_utf8(output.stderr).unwrap();
    let same = "--output and standard output name the same file";
    assert!(
        errors.contains(same) || errors.contains("standard output and --output"),
        "{errors}"
    );
    assert_eq!(folder.read("log"), "earlier\n");
    fs::remove_file(folder.path("log")).unwrap();
    assert_eq!(folder.list(), before);
}

/// A stream has no name with an ending.
#[test]
fn a_table_on_standard_input_is_read_as_one_or_says_how() {
    let folder = folder();
    let table = folder.read("table.csv");
    let select = "select table.csv --label y --query q -k 1 --lambda 1 -o table.json";
    folder.run(select);
    let scores = folder.stdout("predict table.json table.csv");
    assert_eq!(
        folder.piped("predict table.json - --format csv", &table),
        scores
    );
    let zipped = zst(&table);
    assert_eq!(
        folder.piped("predict table.json - --format csv", &zipped),
        scores
    );
    for arguments in [
        "predict table.json -",
        "evaluate - --model table.json",
        "info -",
    ] {
        for text in [&*table, "y\tq\ta b\n1\t2\t3\n"] {
            folder.write("in", text);
            let output = folder.shell(&format!("rankrls {arguments} < in"));
            assert_eq!(output.status.code(), Some(1), "{arguments}");
            let errors = String::from_utf8(output.stderr).unwrap();
            let remedy = "(if it is a table, say so by --format=csv or tsv)\n";
            assert!(errors.ends_with(remedy), "{arguments}: {errors}");
        }
    }
    // No such hint where the data are svmlight text, or are declared as such.
    folder.write("in.svm", format!("{TRAIN}1 qid:d 1:x\n"));
    folder.write("names.svm", NAMES);
    for arguments in ["info - < in.svm", "info - --format svmlight < names.svm"] {
        let output = folder.shell(&format!("rankrls {arguments}"));
        assert_eq!(output.status.code(), Some(1), "{arguments}");
        let errors = String::from_utf8(output.stderr).unwrap();
        assert!(!errors.contains("--format"), "{arguments}: {errors}");
    }
}
