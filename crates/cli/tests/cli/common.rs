use std::process::Output;

use crate::support::Folder;

/// Commands with examples in their help, which read what the examples before them wrote.
const COMMANDS: [&str; 12] = [
    "select",
    "tune",
    "compare",
    "train",
    "predict",
    "evaluate",
    "explain",
    "inspect",
    "info",
    "convert",
    "build",
    "completions",
];

#[test]
fn help_has_examples_and_fits_into_80_columns() {
    let folder = Folder::new();
    let text = folder.stdout("--help");
    for command in COMMANDS {
        assert!(text.contains(command), "{command}");
        let mut long = folder.command(&format!("{command} --help"));
        let help = long.env("COLUMNS", "80").output().unwrap();
        assert!(help.status.success(), "{command}");
        let help = String::from_utf8(help.stdout).unwrap();
        assert!(help.contains(&format!("rankrls {command}")), "{help}");
        assert!(help.contains("Example"), "{help}");
        // clap wraps neither the usage nor a list without spaces.
        let wrapped = |line: &&str| line.trim().contains(' ') && !line.starts_with("Usage: ");
        for line in help.lines().filter(wrapped) {
            let width = line.chars().count();
            assert!(width <= 80, "{command} --help: {width} columns: {line}");
        }
    }
    let version = folder.stdout("--version");
    assert_eq!(version, format!("rankrls {}\n", env!("CARGO_PKG_VERSION")));
}

/// The examples of the help, with the files they name.
#[test]
fn examples_work() {
    let folder = Folder::new();
    folder.write("train.svm.zst", crate::support::zst(crate::support::TRAIN));
    folder.write("vali.svm", crate::support::TEST);
    folder.write("grades.csv", "query,grade,x\n1,1,0\n1,0,1\n2,1,2\n2,0,1\n");
    folder.write("scores.txt", "1\n2\n3\n4\n5\n");
    folder.write("preferences.txt", "1 3\n4 5\n");
    for model in ["model", "a", "b"] {
        folder.run(&format!(
            "select train.svm -k 50 --lambda 16 -o {model}.json"
        ));
    }
    folder.write("bm25.txt", "1\n2\n3\n4\n5\n");
    folder.write("texts.txt", "1\n2\n3\n4\n5\n");
    let mut examples = 0;
    // These need a treebank, or write for a shell.
    let elsewhere = ["build", "completions"];
    let run = |line: &str| !elsewhere.iter().any(|command| line.starts_with(command));
    for command in COMMANDS {
        let help = folder.stdout(&format!("{command} --help"));
        for line in help.lines() {
            let example = line.strip_prefix("  rankrls ");
            if let Some(arguments) = example.filter(|line| run(line)) {
                let arguments = arguments.split(" | ").next().unwrap();
                folder.run(arguments);
                examples += 1;
            }
        }
    }
    assert!(examples >= 10, "{examples}");
}

#[test]
fn without_a_command_there_is_help() {
    let folder = Folder::new();
    let output = folder.command("").output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    let errors = String::from_utf8(output.stderr).unwrap();
    assert!(errors.contains("Usage: rankrls"), "{errors}");
}

#[test]
fn completions_are_made() {
    let folder = Folder::new();
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        folder.prints(&format!("completions {shell} => max-memory"));
    }
    folder.fails("completions best", 2);
}

#[test]
fn no_colour_means_none() {
    let folder = Folder::new();
    let coloured = |arguments: &str, none: Option<&str>| {
        let mut command = folder.command(arguments);
        command.env("CLICOLOR_FORCE", "1").env_remove("NO_COLOR");
        let output = command.envs(none.map(|none| ("NO_COLOR", none))).output();
        let Output { stdout, stderr, .. } = output.unwrap();
        [stdout, stderr].concat().contains(&0x1b)
    };
    assert!(coloured("--help", None));
    for arguments in [
        "--help",
        "select train.svm -k 2 --lambda 1 -v",
        "select absent -k 2 --lambda 1",
    ] {
        assert!(!coloured(arguments, Some("1")), "{arguments}");
    }
}

#[test]
fn a_mistake_comes_with_the_usage_of_its_command() {
    let folder = Folder::new();
    for (arguments, usage) in [
        (
            "select - -k 1 --lambda 1 --test -",
            "rankrls select [OPTIONS]",
        ),
        ("train - --lambda 1 --names -", "rankrls train [OPTIONS]"),
        ("convert - -o - --names -", "rankrls convert [OPTIONS]"),
    ] {
        folder.misused(&format!("{arguments} => Usage: {usage}"));
    }
}

#[test]
fn a_number_with_a_minus_is_a_value_that_is_refused() {
    let folder = Folder::new();
    for (arguments, option) in [
        ("select train.svm -k 1 --lambda -inf", "-inf' for '--lambda"),
        ("select train.svm -k 1 --lambda -nan", "-nan' for '--lambda"),
        ("select train.svm -k -1 --lambda 1", "-1' for '-k"),
        ("select train.svm -k -inf --lambda 1", "-inf' for '-k"),
        ("select train.svm -k 1 --seed -1", "-1' for '--seed"),
        ("select train.svm -k 1 --blend -inf", "-inf' for '--blend"),
        (
            "select train.svm -k 1 --candidates -5",
            "-5' for '--candidates",
        ),
        (
            "select train.svm -k 1 --missing -inf",
            "-inf' for '--missing",
        ),
        (
            "select train.svm -k 1 --max-memory -8GiB",
            "-8GiB' for '--max-memory",
        ),
        ("select train.svm -k 1 --strategy -x", "-x' for '--strategy"),
        ("select train.svm -k 1 --threads -2", "-2' for '--threads"),
        ("tune train.svm -k 1 --rule -inf", "-inf' for '--rule"),
        (
            "evaluate train.svm --file-order --relevant-from -inf",
            "-inf' for '--relevant-from",
        ),
        (
            "evaluate train.svm --file-order --max-grade -inf",
            "-inf' for '--max-grade",
        ),
    ] {
        folder.misused(&format!("{arguments} => invalid value '{option}"));
    }
    // The name of a file or column is no number: another option is not taken for it.
    for arguments in [
        "select train.svm -k 1 -o --json",
        "select train.svm -k 1 --label --json",
        "select train.svm -k 1 --test -q",
    ] {
        folder.misused(&format!("{arguments} => a value is required for"));
    }
}

#[test]
fn numbers_in_headings_are_as_they_were_given_and_short() {
    let folder = Folder::new();
    let sampled = "select train.svm -k 1 --lambda 1 --strategy sampled --candidates 2";
    let text = folder.stdout(&format!("{sampled} --seed 12345678901234567890"));
    assert!(text.contains("seed 12345678901234567890"), "{text}");
    folder.write(
        "huge.svm",
        "1e300 qid:a 1:1\n0 qid:a 2:1\n1 qid:b 1:1\n1e-300 qid:b 2:1\n",
    );
    folder.write("below.svm", "-1e300 qid:a 1:1\n0 qid:a 2:1\n");
    for arguments in [
        "evaluate huge.svm --file-order --metrics err",
        "evaluate huge.svm --file-order --metrics err --max-grade 1e305",
        "evaluate huge.svm --file-order --metrics err --max-grade 1e290",
        "evaluate huge.svm --file-order --metrics map --relevant-from 1e299",
        "evaluate below.svm --file-order --metrics ndcg@3",
        "select train.svm -k 1 --lambda -1e300",
        "select train.svm -k 1 --lambda 1e290u",
        "tune train.svm -k 1 --rule min-improvement:-1e300",
        "info huge.svm",
    ] {
        let output = folder.command(arguments).output().unwrap();
        for text in [output.stdout, output.stderr] {
            let text = String::from_utf8(text).unwrap();
            let words = text.split(|char: char| !char.is_ascii_digit());
            assert!(words.map(str::len).max() < Some(22), "{arguments}: {text}");
        }
    }
}
