use std::fs;

use crate::support::{Folder, NAMES, TRAIN, gz};

/// `TRAIN` without header and comments.
fn canonical() -> String {
    let rows = TRAIN.lines().filter(|line| !line.starts_with('#'));
    let row = |line: &str| format!("{}\n", line.split(" #").next().unwrap());
    rows.map(row).collect()
}

#[test]
fn data_and_their_names_come_back() {
    let folder = Folder::new();
    for to in ["svm", "svm.gz", "svm.zst"] {
        folder.run(&format!(
            "corpus convert train.svm a.{to} --names names.txt"
        ));
        assert_eq!(folder.read("a.names.txt"), NAMES);
        let (text, _) = folder.run(&format!("corpus convert a.{to} - --names a.names.txt"));
        assert_eq!(text, canonical(), "{to}");
        fs::remove_file(folder.path("a.names.txt")).unwrap();
    }
    assert_eq!(folder.piped("corpus convert - -", gz(TRAIN)), canonical());
}

#[test]
fn the_embedded_corpus_has_names() {
    let folder = Folder::new();
    let hash = |data: &str| folder.json(&format!("corpus info {data} --json"))["hash"].clone();
    // Test data have the columns that they use, not all those of the training data.
    for (data, columns) in [("@parses", 19_424), ("@parses-test", 19_419)] {
        let (text, errors) = folder.run(&format!("corpus convert {data} a.svm"));
        assert_eq!((text.as_str(), errors.as_str()), ("", ""));
        assert_eq!(folder.read("a.names.txt").lines().count(), columns);
        assert_eq!(hash("a.svm"), hash(data));
    }
}

#[test]
fn a_table_becomes_text_with_names() {
    let folder = Folder::new();
    folder.write(
        "t.csv",
        "query,x,grade,\"a, b\",last\nq,0.5,2,0,0\nr,0,1,3,0\n",
    );
    folder.run("corpus convert t.csv t.svm --label grade --query query");
    assert_eq!(folder.read("t.svm"), "2 qid:q 1:0.5 3:0\n1 qid:r 2:3\n");
    assert_eq!(folder.read("t.names.txt"), "x\na, b\nlast\n");
}

#[test]
fn indices_count_as_asked() {
    let folder = Folder::new();
    folder.write("zero.svm", "1 0:1 2:0.5\n");
    let convert = |arguments: &str| folder.stdout(&format!("corpus convert {arguments}"));
    assert_eq!(convert("zero.svm - --zero-based"), "1 1:1 3:0.5\n");
    let both = "zero.svm - --zero-based --zero-based-output";
    assert_eq!(convert(both), "1 0:1 2:0.5\n");
}

#[test]
fn rows_of_a_query_are_brought_together() {
    let folder = Folder::new();
    folder.write("mixed.svm", "1 qid:b 1:1\n2 qid:a 1:2\n3 qid:b 1:3\n");
    folder.refused("corpus convert mixed.svm a.svm => mixed.svm:3:3");
    assert!(!folder.path("a.svm").exists());
    folder.run("corpus convert mixed.svm a.svm --regroup");
    assert_eq!(
        folder.read("a.svm"),
        "1 qid:b 1:1\n3 qid:b 1:3\n2 qid:a 1:2\n"
    );
}

#[test]
fn what_cannot_be_written_is_refused() {
    let folder = Folder::new();
    folder.write("t.csv", "query,grade,x\na#,1,2\n");
    let before = folder.list();
    for case in [
        "train.svm absent/a.svm => cannot write to absent/a.svm",
        "absent.svm a.svm => absent.svm: expected a readable file",
        "t.csv a.svm --label grade --query query => the query identifier \"a#\" is no token",
    ] {
        folder.refused(&format!("corpus convert {case}"));
    }
    assert_eq!(folder.list(), before);
}
