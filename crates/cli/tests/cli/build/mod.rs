//! `rankrls build`.

use std::fmt::Write as _;
use std::fs;

use serde_json::Value;

use crate::support::{Folder, keys, list};

mod features;
pub(crate) mod link_grammar;
#[cfg(unix)]
mod parser;
mod parses;
mod refused;
mod split;

/// A sentence in CoNLL-U: forms with parts of speech and heads.
pub(crate) fn rows(id: &str, words: &[(&str, &str, u32)]) -> String {
    let mut text = format!("# sent_id = {id}\n");
    for (number, (form, tag, head)) in (1..).zip(words) {
        let label = if *head == 0 { "root" } else { "dep" };
        writeln!(
            text,
            "{number}\t{form}\t_\t{tag}\t_\t_\t{head}\t{label}\t_\t_"
        )
        .unwrap();
    }
    text + "\n"
}

/// The sentence "eat pizza with forks", in which *with forks* depends on the word numbered `attached`.
fn sentence(who: &str, attached: u32) -> [(&str, &str, u32); 6] {
    [
        (who, "PRON", 2),
        ("eat", "VERB", 0),
        ("pizza~1", "NOUN", 2),
        ("with", "ADP", attached),
        ("forks", "NOUN", 4),
        (".", "PUNCT", 2),
    ]
}

const EATERS: [&str; 8] = ["They", "We", "You", "Kings", "Queens", "Dogs", "Ö", "%"];

/// A folder with `gold.conllu`, and two parses of each sentence in `nbest.conllu`, the right one first.
fn folder() -> Folder {
    let folder = Folder::new();
    let (mut gold, mut candidates) = (String::new(), String::new());
    for (number, who) in (1..).zip(EATERS) {
        let id = format!("s{number}");
        gold += &rows(&id, &sentence(who, 2));
        candidates += &rows(&id, &sentence(who, 2));
        candidates += &rows(&id, &sentence(who, 3));
    }
    folder.write("gold.conllu", gold);
    folder.write("nbest.conllu", candidates);
    folder
}

const BUILD: &str = "build gold.conllu --candidates nbest.conllu -o c";

/// The files that a build writes.
pub(crate) const FILES: [&str; 6] = [
    "c/train.svm.zst",
    "c/test.svm.zst",
    "c/texts.txt.zst",
    "c/test-texts.txt.zst",
    "c/names.txt.zst",
    "c/manifest.json",
];

/// A count of sentences in a manifest.
fn counts(manifest: &Value, key: &str) -> u64 {
    manifest["sentences"][key].as_u64().unwrap()
}

/// A preposition depends on its noun, as in Universal Dependencies.
fn content_heads(who: &str, attached: u32) -> String {
    let mut words = sentence(who, 5);
    words[4].2 = attached;
    let text = rows(who, &words);
    text.replace("ADP\t_\t_\t5\tdep", "ADP\t_\t_\t5\tcase")
}

#[test]
fn candidates_of_a_file_become_rows() {
    let folder = folder();
    let manifest = folder.json(&format!("{BUILD} --test-share 0 --json"));
    let files = ["names.txt.zst", "texts.txt.zst", "train.svm.zst"];
    assert_eq!(keys(&manifest["files"]), files);
    assert_eq!(folder.list_of("c").len(), files.len() + 1);
    assert!(!folder.path("c.part").exists());
    assert_eq!(folder.document("c/manifest.json"), manifest);
    let train = &manifest["train"];
    assert_eq!(train["rows"], 16);
    assert_eq!(train["queries"], 8);
    // The second parse has three of the four arcs, punctuation aside.
    let labels = &train["labels"];
    assert_eq!(labels["largest"], 1.0);
    assert_eq!(labels["least"], 0.75);
    for name in files {
        let hash = blake3::hash(&fs::read(folder.path(&format!("c/{name}"))).unwrap());
        assert_eq!(manifest["files"][name], hash.to_hex().to_string());
    }
    let names = folder.unpacked("c/names.txt.zst");
    for name in ["head~mod:pizza%7E1~with", "word:Ö", "word:%25"] {
        assert!(names.lines().any(|line| line == name), "{name}");
    }
    let document = folder.json("select c/train.svm.zst -k 1 --lambda 1 --json");
    let name = document["steps"][0]["name"].as_str().unwrap();
    assert!(names.lines().any(|line| line == name), "{name}");
    assert_eq!(document["data"]["nonzeros"], train["nonzeros"]);
    assert_eq!(document["steps"][0]["lqo_cindex"], 1.0);
}

#[test]
fn the_same_options_give_the_same_bytes() {
    let folder = folder();
    let build = |arguments: &str| {
        folder.run(&format!("{BUILD} {arguments}"));
        FILES.map(|name| fs::read(folder.path(name)).unwrap())
    };
    let first = build("--threads 1");
    assert_eq!(build("--threads 3"), first);
    assert_ne!(build("--seed 5")[..4], first[..4]);
}

#[test]
fn folders_of_others_are_not_replaced() {
    let folder = folder();
    folder.write("c/model.json", "{}");
    folder.refused(&format!(
        "{BUILD} => c: expected a folder with nothing but a corpus of rankrls build, found \"model.json\" in it"
    ));
    assert_eq!(folder.list_of("c"), ["model.json"]);
    fs::remove_file(folder.path("c/model.json")).unwrap();
    folder.refused(&format!(
        "{BUILD} => c: expected a corpus of rankrls build, found no manifest of one"
    ));
    fs::remove_dir(folder.path("c")).unwrap();
    folder.run(BUILD);
    // A build does not replace its inputs, and no other command replaces a file of a corpus.
    for line in [
        "build c/texts.txt.zst --link-grammar -o c",
        "build gold.conllu --candidates nbest.conllu --columns c/names.txt.zst -o ./c/",
        "select c/train.svm.zst -k 1 --lambda 1 -o c/manifest.json",
        "select c/train.svm.zst -k 1 --lambda 1 -o c/names.txt.zst",
        "select nbest.conllu -k 1 --lambda 1 --test c/test.svm.zst -o c/texts.txt.zst",
    ] {
        folder.misused(&format!("{line} => a run reads it does not replace"));
    }
    let names = fs::read(folder.path("c/names.txt.zst")).unwrap();
    folder.write("c/model.json", "{}");
    folder.refused(&format!("{BUILD} => found \"model.json\" in it"));
    assert_eq!(fs::read(folder.path("c/names.txt.zst")).unwrap(), names);
    assert_eq!(folder.list_of("c").len(), FILES.len() + 1);
}

/// Anything under the name of the unfinished work stays, and is not waited for.
#[cfg(unix)]
#[test]
fn whatever_is_called_like_unfinished_work_stays() {
    let folder = folder();
    folder.run(BUILD);
    let part = folder.path("c.part");
    for found in ["a pipe or a device", "a folder", "a link", "\"notes\""] {
        match found {
            "a folder" => fs::create_dir(&part).unwrap(),
            "a link" => std::os::unix::fs::symlink("c", &part).unwrap(),
            "\"notes\"" => folder.write("c.part", "notes"),
            _ => {
                let made = std::process::Command::new("mkfifo").arg(&part).status();
                assert!(made.unwrap().success());
            }
        }
        let kind = || fs::symlink_metadata(&part).unwrap().file_type();
        let was = kind();
        folder.refused(&format!(
            "{BUILD} => , found {found} (it is something else: move it away"
        ));
        assert_eq!(kind(), was);
        let _ = fs::remove_file(&part).or_else(|_| fs::remove_dir(&part));
    }
    fs::copy(folder.path("gold.conllu"), &part).unwrap();
    folder
        .misused("build c.part --candidates nbest.conllu -o c => a run reads it does not replace");
    assert_eq!(folder.read("c.part"), folder.read("gold.conllu"));
}

#[cfg(unix)]
#[test]
fn a_full_disk_leaves_the_old_corpus() {
    let folder = folder();
    let files = || FILES.map(|name| fs::read(folder.path(name)).unwrap());
    folder.run(BUILD);
    let before = files();
    let mut limited = std::process::Command::new("sh");
    limited.current_dir(folder.path("."));
    limited.args(["-c", "ulimit -f 1; exec \"$@\"", "sh"]);
    limited.arg(folder.command("").get_program());
    limited.args(format!("{BUILD} --seed 5").split_whitespace());
    let output = limited.output().unwrap();
    let errors = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1), "{errors}");
    assert!(errors.contains("cannot write"), "{errors}");
    assert_eq!(files(), before);
    assert!(!folder.path("c.part").exists());
}

#[test]
fn held_out_rows_have_the_columns_of_training() {
    let folder = folder();
    let manifest = folder.json(&format!("{BUILD} --test-share 0.25 --json"));
    let (train, test) = (&manifest["train"], &manifest["test"]);
    assert_eq!(
        (counts(&manifest, "train"), counts(&manifest, "test")),
        (6, 2)
    );
    assert_eq!(test["columns"], train["columns"]);
    assert!(test["unseen_features"].as_u64().unwrap() > 0);
    let select = "select c/train.svm.zst -k 2 --lambda 1 --test c/test.svm.zst -o model.json";
    let (text, errors) = folder.run(select);
    assert!(text.contains("cindex") && errors.is_empty(), "{errors}");
    // Texts beside the rows are read.
    let svm = folder.unpacked("c/test.svm.zst");
    let query = svm.split("qid:").nth(1).unwrap().split(' ').next().unwrap();
    let explain = format!("explain model.json c/test.svm.zst  {query} --json");
    let trained = "explain model.json c/train.svm.zst s1 --json";
    for document in [folder.json(&explain), folder.json(trained)] {
        let rows = list(&document["rows"]);
        assert_eq!(rows.len(), 2);
        for row in rows {
            let right = row["label"] == 1.0;
            let head = if right { "eat" } else { "pizza%7E1" };
            let text = row["text"].as_str().unwrap();
            assert!(text.contains(&format!("{head} -dep-> with")), "{text}");
        }
    }
    let error = folder.fails(&format!("{explain} --texts c/texts.txt.zst"), 1);
    let expected =
        "c/texts.txt.zst: expected 4 lines, one for each row of c/test.svm.zst, found 12";
    assert!(error.contains(expected), "{error}");
}
