use std::fs;

use serde_json::Value;

use crate::support::{Folder, keys};

const GENERATE: &str = "corpus generate --rows 300 --vocabulary 200";

fn bytes(folder: &Folder, name: &str) -> Vec<u8> {
    fs::read(folder.path(name)).unwrap()
}

/// What `select` sees in the file.
fn sizes(folder: &Folder, arguments: &str) -> Value {
    let plan = folder.json(&format!(
        "select {arguments} -k 1 --lambda 1 --dry-run --json"
    ));
    plan["data"].clone()
}

#[test]
fn a_seed_gives_the_same_bytes() {
    let folder = Folder::new();
    for (name, arguments) in [
        ("first", "--threads 1"),
        ("again", "--threads 1"),
        ("threads", "--threads 2"),
        ("other", "--threads 2 --seed 2"),
    ] {
        folder.run(&format!(
            "{GENERATE} {arguments} -o {name}.svm.zst --names {name}.txt.gz --test-rows 100 \
             --test-output {name}-test.svm --sentences {name}.trees"
        ));
    }
    for ending in [".svm.zst", ".txt.gz", "-test.svm", ".trees"] {
        let file = |name: &str| bytes(&folder, &format!("{name}{ending}"));
        assert_eq!(file("again"), file("first"), "{ending}");
        assert_eq!(file("threads"), file("first"), "{ending}");
        assert_ne!(file("other"), file("first"), "{ending}");
    }
}

#[test]
fn files_belong_together() {
    let folder = Folder::new();
    let document = folder.json(&format!(
        "{GENERATE} -o c.svm.gz --names n.txt --test-rows 100 --test-output t.svm.zst \
         --sentences s.txt --json"
    ));
    let (train, test) = (&document["train"], &document["test"]);
    let read = sizes(&folder, "c.svm.gz --names n.txt");
    for key in ["rows", "queries", "columns", "nonzeros"] {
        assert_eq!(read[key], train[key], "{key}");
    }
    assert_eq!(folder.read("n.txt").lines().count(), train["columns"]);
    assert_eq!(folder.read("s.txt").lines().count(), train["queries"]);
    assert!(
        folder
            .read("s.txt")
            .lines()
            .all(|tree| tree.starts_with("(S "))
    );
    let read = sizes(&folder, "t.svm.zst");
    assert_eq!((&read["rows"], &test["rows"]), (&100.into(), &100.into()));
    assert_eq!(test["columns"], train["columns"]);
    folder.run("select c.svm.gz -k 2 --lambda 1 -o model.json");
    let (_, errors) = folder.run("predict model.json t.svm.zst");
    assert_eq!(errors, "", "test columns are training columns");
}

#[test]
fn the_report_is_complete() {
    let folder = Folder::new();
    let document = folder.json(&format!("{GENERATE} -o c.svm --json"));
    assert_eq!(document["schema"], "rankrls.corpus/1");
    assert_eq!(document["test"], Value::Null);
    assert_eq!(
        keys(&document),
        ["options", "schema", "test", "train", "version"]
    );
    assert_eq!(
        keys(&document["options"]),
        [
            "attraction",
            "columns",
            "max_length",
            "max_parses",
            "min_length",
            "rows",
            "seed",
            "vocabulary"
        ]
    );
    assert_eq!(
        keys(&document["train"]),
        [
            "columns",
            "drawn",
            "labels",
            "nonzeros",
            "queries",
            "repeated",
            "rows",
            "tied",
            "unambiguous",
            "unfitting",
            "unseen_entries",
            "unseen_features",
            "vocabulary",
            "with_own_tree",
            "wrong_length"
        ]
    );
    let label = |key: &str| document["train"]["labels"][key].as_f64().unwrap();
    assert!(label("least") < label("mean") && label("mean") < label("largest"));
    assert!(label("mean_range") > 0.0 && label("largest") <= 1.0);
    let (_, errors) = folder.run(&format!("{GENERATE} -o d.svm"));
    assert!(errors.starts_with("corpus: 300 rows, "), "{errors}");
    assert_eq!(folder.run(&format!("{GENERATE} -o d.svm -q")).1, "");
}

#[test]
fn without_a_file_the_corpus_is_printed() {
    let folder = Folder::new();
    let (text, errors) = folder.run(GENERATE);
    assert!(errors.starts_with("corpus: 300 rows, "), "{errors}");
    folder.run(&format!("{GENERATE} -o c.svm"));
    assert_eq!(folder.read("c.svm"), text);
    assert_eq!(folder.stdout(&format!("{GENERATE} -o -")), text);
    let heading = text.lines().next().unwrap();
    let command = heading.split_once(" corpus ").unwrap().1;
    assert_eq!(folder.stdout(&format!("corpus {command}")), text);
}

#[test]
fn columns_asked_for_are_there() {
    let folder = Folder::new();
    let command = format!("{GENERATE} --columns 10000 -o c.svm --json");
    let document = folder.json(&command);
    assert!(document["train"]["columns"].as_u64().unwrap() >= 10_000);
    assert_eq!(document["options"]["columns"], 10_000);
}

#[test]
fn wrong_arguments_are_usage() {
    let folder = Folder::new();
    let before = folder.list();
    for (arguments, message) in [
        ("--rows 1", "--rows 1: expected from 2 to"),
        ("--max-parses 1", "--max-parses 1: expected from 2 to 1000"),
        (
            "--attraction 101",
            "--attraction 101: expected from 0 to 100",
        ),
        ("--min-length 30", "--min-length 30: expected from 1 to 24"),
        (
            "--test-output t --test-rows 1",
            "--test-rows 1: expected from 2 to",
        ),
        ("--test-output t", "--test-rows"),
        ("--test-rows 10", "--test-output"),
        ("--json", "--output"),
        ("--json -o -", "--json needs the name of a file"),
        ("-o same --names same", "same is asked for twice"),
        ("-o c --names -", "takes the name of a file, not -"),
        ("--rows many", "many"),
    ] {
        let error = folder.fails(&format!("corpus generate {arguments}"), 2);
        assert!(error.contains(message), "{arguments}: {error}");
    }
    assert_eq!(folder.list(), before);
    let error = folder.fails("corpus generate -o absent/c.svm", 1);
    assert!(error.contains("cannot write to absent/c.svm"), "{error}");
}
