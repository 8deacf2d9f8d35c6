#[cfg(unix)]
use std::fs;
#[cfg(unix)]
use std::path::Path;
use std::process::Output;

#[cfg(unix)]
use crate::build::link_grammar::link_grammar;
use crate::support::Folder;
#[cfg(unix)]
use crate::support::{TEST, TRAIN, zst};

/// Commands with examples in their help. Examples read the files of earlier examples.
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

/// Files that the examples of the help read and no earlier example writes.
#[cfg(unix)]
fn examples_folder() -> Folder {
    let folder = Folder::new();
    folder.write("train.svm.zst", zst(TRAIN));
    folder.write("test.svm.zst", zst(TEST));
    folder.write("vali.svm", TEST);
    folder.write("grades.csv", "query,grade,x\n1,1,0\n1,0,1\n2,1,2\n2,0,1\n");
    folder.write("preferences.txt", "1 3\n4 5\n");
    for name in ["scores.txt", "bm25.txt", "texts.txt"] {
        folder.write(name, "1\n2\n3\n4\n5\n");
    }
    for model in ["a", "b"] {
        folder.run(&format!(
            "select train.svm -k 2 --lambda 16 -o {model}.json"
        ));
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let fixture = |name: &str| {
        let path = root.join(format!("tests/freeze/fixtures/build/{name}.conllu"));
        // The corpora have sentences of these names, too.
        let text = fs::read_to_string(path).unwrap();
        text.replace("sent_id = s", "sent_id = listed-")
    };
    folder.write("nbest.conllu", fixture("nbest"));
    // Sentences of the list, and sentences that the parser knows.
    let sentences = fs::read(root.join("../../corpora/sentences.conllu.zst")).unwrap();
    let sentences = String::from_utf8(zstd::decode_all(&sentences[..]).unwrap()).unwrap();
    let sentences: Vec<&str> = sentences.split_inclusive("\n\n").take(12).collect();
    let treebank = fixture("gold") + &sentences.concat();
    for name in ["treebank.conllu", "ud-treebank.conllu", "new.conllu"] {
        folder.write(name, &treebank);
    }
    fs::create_dir_all(folder.path(".local/share/bash-completion/completions")).unwrap();
    folder
}

/// The lines under "Examples" of all help.
#[cfg(unix)]
fn examples(folder: &Folder) -> Vec<String> {
    let mut examples = Vec::new();
    for command in [""].iter().chain(&COMMANDS) {
        let mut help = folder.command(&format!("{command} --help"));
        let help = help.env("COLUMNS", "200").output().unwrap();
        let help = String::from_utf8(help.stdout).unwrap();
        let (_, below) = help.split_once("\nExample").unwrap();
        let lines = below.lines().skip(1);
        let lines = lines.map_while(|line| line.strip_prefix("  ").map(str::to_owned));
        examples.extend(lines);
    }
    examples
}

/// The examples of all help, run by a shell in order. Later ones read the files of earlier ones.
#[test]
#[cfg(unix)]
fn examples_work() {
    let folder = examples_folder();
    let (examples, parser) = (examples(&folder), link_grammar());
    assert!(examples.len() > 50, "{examples:?}");
    for example in examples {
        if example.contains("--link-grammar") && !parser {
            continue;
        }
        let output = folder.shell(&example);
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{example}: {errors}");
    }
    let completions = ".local/share/bash-completion/completions/rankrls";
    assert!(folder.read(completions).contains("--max-memory"));
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
        ("select train.svm -k 1 --sample -5", "-5' for '--sample"),
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
    ] {
        folder.misused(&format!("{arguments} => invalid value '{option}"));
    }
    // The value of a file or column is not another option.
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
    let sampled = "select train.svm -k 1 --lambda 1 --strategy sampled --sample 2";
    let text = folder.stdout(&format!("{sampled} --seed 12345678901234567890"));
    assert!(text.contains("seed 12345678901234567890"), "{text}");
    folder.write(
        "huge.svm",
        "1e300 qid:a 1:1\n0 qid:a 2:1\n1 qid:b 1:1\n1e-300 qid:b 2:1\n",
    );
    folder.write("below.svm", "-1e300 qid:a 1:1\n0 qid:a 2:1\n");
    for arguments in [
        "evaluate huge.svm --file-order --metrics err",
        "evaluate huge.svm --file-order --metrics err:1e305",
        "evaluate huge.svm --file-order --metrics err:1e290",
        "evaluate huge.svm --file-order --metrics map:1e299",
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
