//! What is refused, and in which words.

use std::fmt::Write as _;
use std::io::Write as _;

use crate::folder::{Folder, hold};

/// One file after the other under the name `name`, and what `lines` say to each.
fn refuse(snapshot: &str, name: &str, lines: &[&str], contents: &[&[u8]]) {
    let folder = Folder::new();
    let mut text = String::new();
    for content in contents {
        folder.write(name, content);
        let shown = String::from_utf8_lossy(content);
        let shown = shown.lines().collect::<Vec<_>>().join("\n    ");
        writeln!(text, "# {name}:\n    {shown}").unwrap();
        for line in lines {
            text += &folder.refused(1, line);
        }
    }
    hold(snapshot, &text);
}

/// One line after the other, all of them refused with 1.
fn refusals(folder: &Folder, lines: &[&str]) -> String {
    lines.iter().map(|line| folder.refused(1, line)).collect()
}

#[test]
fn svmlight() {
    refuse(
        "error-svmlight",
        "bad.svm",
        &["select bad.svm -k 1 --lambda 1"],
        &[
            b"1 qid:1 1:1\n0 qid:2 1:2\n0 qid:1 2:1\n",
            b"1 qid:1 1:1\n0 1:2\n",
            b"1 1:1\n0 qid:1 1:2\n",
            b"1 1:1 qid:1\n",
            b"1 qid: 1:1\n",
            b"1 qid:\xff 1:1\n",
            b"1 1:1 1:2\n",
            b"1 2:1 1:2\n",
            b"1 0:1 1:2\n",
            b"1 4294967295:1\n",
            b"1 -1:1\n",
            b"1 1:nan\n",
            b"1 1:x\n",
            b"x 1:1\n",
            b"nan 1:1\n",
            b"",
            b"1 qid:1 1:1\n0 qid:1 1:1\n",
            b"1 qid:1 1:1\n1 qid:1 2:1\n",
            b"1 qid:1 1:1e200\n0 qid:1 2:1\n1 qid:2 1:1\n0 qid:2\n",
            b"1e200 qid:1 1:1\n0 qid:1 2:1\n1 qid:2 1:1\n0 qid:2\n",
        ],
    );
}

/// A message with the reason of a library: the place and what it is about is frozen.
#[test]
fn compressed_files() {
    let folder = Folder::new();
    let text = folder.read("train.svm");
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(text.as_bytes()).unwrap();
    let gz = encoder.finish().unwrap();
    let zst = zstd::encode_all(text.as_bytes(), 1).unwrap();
    let mut corrupt = gz.clone();
    let middle = corrupt.len() / 2;
    corrupt[middle..middle + 40].fill(0xaa);
    folder.write("cut.svm.gz", &gz[..gz.len() / 2]);
    folder.write("cut.svm.zst", &zst[..zst.len() / 2]);
    folder.write("corrupt.svm.gz", corrupt);
    folder.write("end.svm.gz", &gz[..gz.len() - 4]);
    let lines = [
        "select cut.svm.gz -k 1 --lambda 1",
        "select cut.svm.zst -k 1 --lambda 1",
        "select corrupt.svm.gz -k 1 --lambda 1",
        "select end.svm.gz -k 1 --lambda 1",
    ];
    hold("error-compressed", &refusals(&folder, &lines));
}

#[test]
fn names() {
    refuse(
        "error-names",
        "few.txt",
        &["select train.svm -k 1 --lambda 1 --names few.txt"],
        &[b"a\nb\n", b"a\n\xff\n"],
    );
}

#[test]
fn scores() {
    refuse(
        "error-scores",
        "scores.txt",
        &["evaluate test.svm --scores scores.txt"],
        &[b"1\n2\n", b"1\nx\n", b"1\n2 3\n", b"nan\n", b""],
    );
}

#[test]
fn models() {
    let folder = Folder::new();
    let whole = folder.read("models/bounded.json");
    let mut text = String::new();
    for (before, after) in [
        ("rankrls.model/2", "rankrls.model/1"),
        ("rankrls.model/2", "rankrls.selection/1"),
        ("\"lambda\": 2.0", "\"lambda\": 0.0"),
        ("\"lambda\": 2.0", "\"lambda\": \"2\""),
        ("\"lambda\": 2.0,", ""),
        ("\"lambda\": 2.0", "\"lambda\": 2.0, \"mu\": 1"),
        ("\"strategy\": \"bounded\"", "\"strategy\": \"best\""),
        ("\"strategy\": \"bounded\"", "\"strategy\": \"all\""),
        (
            "\"index_base\": 1",
            "\"settings\": {\"criterion\": \"mse\"}, \"index_base\": 1",
        ),
        (
            "\"index_base\": 1",
            "\"settings\": {\"seed\": 1}, \"index_base\": 1",
        ),
        ("\"index_base\": 1", "\"index_base\": 2"),
        ("\"feature\": 4", "\"feature\": 3"),
        ("\"feature\": 4", "\"feature\": 49"),
        ("\"lqo_error\": 6", "\"lqo_error\": -6"),
        ("\"rows\": 96", "\"rows\": 0"),
        ("\"column_classes\": 46", "\"column_classes\": 48"),
        ("\"hash\": \"ba", "\"hash\": \"xx"),
    ] {
        assert!(whole.contains(before), "{before}");
        folder.write("bad.json", whole.replacen(before, after, 1));
        let refused = folder.refused(1, "inspect bad.json");
        write!(text, "# {before} -> {after}\n{refused}").unwrap();
    }
    for (what, bytes) in [
        ("cut", &whole[..whole.len() / 2]),
        ("empty", ""),
        ("no JSON", "1 1:1\n"),
        ("another document", "[1]"),
    ] {
        folder.write("bad.json", bytes);
        write!(text, "# {what}\n{}", folder.refused(1, "inspect bad.json")).unwrap();
    }
    folder.run("train train.svm --lambda 1 -o trained.json");
    text += &refusals(
        &folder,
        &[
            "predict absent.json test.svm",
            "convert test.svm --model test.svm -o a.svm",
            "select train.svm -k 3 --lambda 2 -o models/bounded.json --resume",
            "select test.svm -k 9 --lambda 2 -o models/bounded.json --resume",
            "select train.svm -k 9 --lambda 1 -o trained.json --resume",
        ],
    );
    hold("error-models", &text);
}

#[test]
fn treebanks() {
    let folder = Folder::new();
    let (gold, nbest) = (
        folder.read("build/gold.conllu"),
        folder.read("build/nbest.conllu"),
    );
    let head = |head: &str| gold.replacen("PRON\t_\t_\t2", &format!("PRON\t_\t_\t{head}"), 1);
    let mut text = String::new();
    for (what, gold, nbest) in [
        ("a head", head("9"), nbest.clone()),
        ("no head", head("_"), nbest.clone()),
        ("a cycle", head("1"), nbest.clone()),
        (
            "a number",
            gold.replacen("1\tThey", "2\tThey", 1),
            nbest.clone(),
        ),
        (
            "columns",
            gold.clone(),
            nbest.replacen("\tPRON\t_", "\tPRON", 1),
        ),
        (
            "an identifier twice",
            gold.replace("id = s2", "id = s1"),
            nbest.clone(),
        ),
        (
            "equal labels",
            gold.clone(),
            nbest.replace("ADP\t_\t_\t3", "ADP\t_\t_\t2"),
        ),
        ("nothing", String::new(), nbest.clone()),
    ] {
        folder.write("gold.conllu", gold);
        folder.write("nbest.conllu", nbest);
        let line = "build gold.conllu --candidates nbest.conllu -o c";
        write!(text, "# {what}\n{}", folder.refused(1, line)).unwrap();
    }
    hold("error-treebanks", &text);
}

#[test]
fn lists_of_features() {
    refuse(
        "error-features",
        "list.txt",
        &["train train.svm --lambda 1 --features list.txt"],
        &[b"99\n", b"1\n1\n", b"1\nword:a\n", b"48\n", b"# none\n"],
    );
}
