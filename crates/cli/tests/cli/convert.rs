use std::fs;

use crate::support::{Folder, NAMES, TRAIN, gz};

/// `TRAIN` without header and comments.
fn canonical() -> String {
    let rows = TRAIN.lines().filter(|line| !line.starts_with('#'));
    let row = |line: &str| format!("{}\n", line.split(" #").next().unwrap());
    rows.map(row).collect()
}

/// Formats by their endings.
const ENDINGS: &[&str] = &["svm", "svm.gz", "features", "features.zst", "npz"];

#[test]
fn any_format_leads_to_any_other_and_back() {
    let folder = Folder::new();
    for from in ENDINGS {
        folder.run(&format!(
            "corpus convert train.svm a.{from} --names names.txt"
        ));
        assert_eq!(folder.read("a.names.txt"), NAMES);
        for to in ENDINGS {
            folder.run(&format!(
                "corpus convert a.{from} b.{to} --names a.names.txt"
            ));
            let (text, _) = folder.run(&format!("corpus convert b.{to} -"));
            assert_eq!(text, canonical(), "{from} to {to}");
            assert_eq!(folder.read("b.names.txt"), NAMES);
            fs::remove_file(folder.path("b.names.txt")).unwrap();
        }
    }
}

#[test]
fn names_come_with_matrices() {
    let folder = Folder::new();
    folder.run("corpus convert train.svm a.npz --names names.txt");
    let document = folder.json("select a.npz -k 1 --lambda 1 --json");
    assert_eq!(document["steps"][0]["feature"], 0);
    assert_eq!(document["steps"][0]["name"], "word:a");
    folder.write("other.txt", "1\n2\n3\n4\n5\n6\n7\n");
    let document = folder.json("select a.npz -k 1 --lambda 1 --json --names other.txt");
    assert_eq!(document["steps"][0]["name"], "1");
    // Test data has the columns of the training data, and no use for names.
    folder.run("select train.svm -k 2 --lambda 1 -o model.json");
    folder.write("a.names.txt", "too few\n");
    folder.run("predict model.json a.npz");
    folder.refused("select a.npz -k 1 --lambda 1 => a.names.txt: expected at least 7 names");
}

#[test]
fn the_embedded_corpus_has_names() {
    let folder = Folder::new();
    let (text, errors) = folder.run("corpus convert @parses parses.npz --layout csc");
    assert_eq!((text.as_str(), errors.as_str()), ("", ""));
    assert_eq!(folder.read("parses.names.txt").lines().count(), 19_424);
    let hash = |data: &str| folder.json(&format!("corpus info {data} --json"))["hash"].clone();
    assert_eq!(hash("parses.npz"), hash("@parses"));
    // The columns that it has, not all those of the training data.
    let (text, errors) = folder.run("corpus convert @parses-test test.npz");
    assert_eq!((text.as_str(), errors.as_str()), ("", ""));
    assert_eq!(hash("test.npz"), hash("@parses-test"));
}

#[test]
fn indices_count_as_asked() {
    let folder = Folder::new();
    folder.write("zero.svm", "1 0:1 2:0.5\n");
    let convert = |arguments: &str| folder.stdout(&format!("corpus convert {arguments}"));
    assert_eq!(convert("zero.svm - --zero-based"), "1 1:1 3:0.5\n");
    let both = "zero.svm - --zero-based --zero-based-output";
    assert_eq!(convert(both), "1 0:1 2:0.5\n");
    convert("zero.svm x.features --zero-based");
    assert_eq!(folder.read("x.features"), "0:1 2:0.5\n");
    assert_eq!(folder.read("x.labels"), "1\n");
    assert!(!folder.path("x.qids").exists());
}

#[test]
fn formats_can_be_named() {
    let folder = Folder::new();
    folder.run("corpus convert train.svm matrix --to npz");
    folder.run("corpus convert matrix text.npz --format npz --to svmlight");
    assert_eq!(folder.read("text.npz"), canonical());
    folder.run("corpus convert train.svm triplet --to rlscore");
    folder.run("corpus convert triplet again.svm");
    assert_eq!(folder.read("again.svm"), canonical());
    assert_eq!(folder.piped("corpus convert - -", gz(TRAIN)), canonical());
}

#[test]
fn rows_of_a_query_are_brought_together() {
    let folder = Folder::new();
    folder.write("mixed.svm", "1 qid:b 1:1\n2 qid:a 1:2\n3 qid:b 1:3\n");
    folder.refused("corpus convert mixed.svm a.npz => mixed.svm:3:3");
    assert!(!folder.path("a.npz").exists());
    folder.run("corpus convert mixed.svm a.npz --regroup");
    let text = folder.stdout("corpus convert a.npz -");
    assert_eq!(text, "1 qid:b 1:1\n3 qid:b 1:3\n2 qid:a 1:2\n");
}

#[test]
fn what_cannot_be_written_is_refused() {
    let folder = Folder::new();
    let before = folder.list();
    for case in [
        "train.svm absent/a.npz => cannot write to absent/a.npz",
        "absent.npz a.svm => absent.npz: expected a readable file",
    ] {
        folder.refused(&format!("corpus convert {case}"));
    }
    assert_eq!(folder.list(), before);
    folder.write("a.qids.npy", "of other data");
    folder.write("nameless.svm", "1 1:1\n");
    folder.refused("corpus convert nameless.svm a.npz => a.qids.npy would be read as part");
    folder.write("a#.svm", "1 1:1\n");
    folder.write("b.features", "0:1\n");
    folder.write("b.labels", "1\n");
    folder.write("b.qids", "a#\n");
    folder.run("corpus convert b.features c.npz");
    folder.refused("corpus convert c.npz c.svm => the query identifier \"a#\" is no token");
}
