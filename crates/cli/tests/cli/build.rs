use std::fmt::Write as _;
use std::fs;

use serde_json::Value;

use crate::support::{Folder, keys, list, number};

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

/// What eats pizza with forks: the forks go with the word numbered `attached`.
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

/// `gold.conllu`; two parses of each sentence, the right one first, in `nbest.conllu`.
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

/// What it writes.
pub(crate) const FILES: [&str; 6] = [
    "c/train.svm.zst",
    "c/test.svm.zst",
    "c/texts.txt.zst",
    "c/test-texts.txt.zst",
    "c/names.txt.zst",
    "c/manifest.json",
];

/// A manifest without what was left out.
fn counts(manifest: &Value, key: &str) -> u64 {
    manifest["sentences"][key].as_u64().unwrap()
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
    // Of the four arcs without punctuation the second parse has three.
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
    // A build does not replace a file that it reads, and no other command replaces a file of a corpus.
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
    // Texts beside the rows are found.
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

#[test]
fn malformed_sentences_are_refused_or_left_out() {
    let folder = folder();
    let gold = folder.read("gold.conllu");
    folder.write(
        "gold.conllu",
        gold.replacen("PRON\t_\t_\t2", "PRON\t_\t_\t9", 1),
    );
    folder.fails(BUILD, 1);
    assert!(!folder.path("c/manifest.json").exists());
    let (_, errors) = folder.run(&format!("{BUILD} --skip-malformed"));
    assert!(
        errors.contains("warning: gold.conllu:2: left out, malformed: "),
        "{errors}"
    );
    assert!(
        errors.contains("gold.conllu:2:19: expected a head"),
        "{errors}"
    );
    // Its candidates are those of no sentence then.
    assert!(
        errors.contains("warning: nbest.conllu:1: left out, candidates of no"),
        "{errors}"
    );
    let manifest = folder.document("c/manifest.json");
    assert_eq!(
        (counts(&manifest, "read"), counts(&manifest, "malformed")),
        (8, 1)
    );
    assert_eq!(list(&manifest["skipped"]).len(), 2);
}

#[test]
fn a_corpus_of_nothing_tells_why() {
    let folder = folder();
    let gold = folder.read("gold.conllu");
    folder.write(
        "gold.conllu",
        gold.replace("eat\t_\tVERB\t_\t_\t0", "eat\t_\tVERB\t_\t_\t9"),
    );
    let error = folder.fails(&format!("{BUILD} --skip-malformed"), 1);
    for expected in [
        "no sentence can be used to train on: of 8 sentences, 8 malformed; such as gold.conllu:3: \
         left out, malformed: gold.conllu:3:18: expected a head from 0 to 6, found \"9\"",
        ", and nbest.conllu:1: left out, candidates of no sentence: ",
    ] {
        assert!(error.contains(expected), "{error}");
    }
    // Where the parses are malformed, and the sentences have none for that.
    folder.write("gold.conllu", gold);
    let nbest = folder.read("nbest.conllu");
    folder.write("nbest.conllu", nbest.replace("\tforks\t", "\t\t"));
    let error = folder.fails(&format!("{BUILD} --skip-malformed"), 1);
    let expected =
        "of 8 sentences, 8 without candidates; such as nbest.conllu:6: left out, malformed: ";
    assert!(error.contains(expected), "{error}");
}

#[test]
fn treebanks_without_their_text_are_refused() {
    let folder = folder();
    let (gold, nbest) = (folder.read("gold.conllu"), folder.read("nbest.conllu"));
    let hidden = |text: &str, form: &str, sentences: usize| {
        let mut left = sentences;
        let row = |line: &str| match line.split('\t').collect::<Vec<_>>()[..] {
            [number, _, ref rest @ ..] if left > 0 => {
                format!("{number}\t{form}\t{}\n", rest.join("\t"))
            }
            _ => {
                left -= usize::from(line.is_empty() && left > 0);
                format!("{line}\n")
            }
        };
        text.lines().map(row).collect::<String>()
    };
    let refused = "expected the forms of the words, found \"";
    for (form, sentences) in [("_", 8), ("____", 8), ("_", 6)] {
        let (bare, parses) = (
            hidden(&gold, form, sentences),
            hidden(&nbest, form, 2 * sentences),
        );
        for (gold, nbest, name) in [
            (&bare, &parses, "gold"),
            (&bare, &nbest, "gold"),
            (&gold, &parses, "nbest"),
        ] {
            folder.write("gold.conllu", gold);
            folder.write("nbest.conllu", nbest);
            let error = folder.fails(BUILD, 1);
            assert!(
                error.contains(&format!("{name}.conllu:1:1: {refused}")),
                "{error}"
            );
            assert!(!folder.path("c/manifest.json").exists());
        }
    }
    // Some sentences are left out.
    folder.write("gold.conllu", hidden(&gold, "_", 2));
    folder.write("nbest.conllu", hidden(&nbest, "_", 4));
    let manifest = folder.json(&format!("{BUILD} --test-share 0 --json"));
    assert_eq!(
        (counts(&manifest, "textless"), counts(&manifest, "train")),
        (2, 6)
    );
    assert!(!folder.unpacked("c/names.txt.zst").contains("word:_\n"));
    // An underscore is a word as others are.
    for (name, text) in [("gold", &gold), ("nbest", &nbest)] {
        folder.write(
            &format!("{name}.conllu"),
            text.replace("\tforks\t", "\t_\t"),
        );
    }
    let manifest = folder.json(&format!("{BUILD} --test-share 0 --json"));
    assert_eq!(counts(&manifest, "train"), 8);
    assert!(folder.unpacked("c/names.txt.zst").contains("word:_\n"));
}

#[cfg(unix)]
#[test]
fn names_of_files_and_sentences_do_not_reach_the_terminal_raw() {
    let folder = folder();
    let gold = folder.read("gold.conllu");
    let raw = "g\u{1b}[31m\u{9b}.conllu";
    folder.write(
        raw,
        gold.replacen("PRON\t_\t_\t2", "PRON\t_\t_\t\u{1b}[2J", 1),
    );
    let build = |more: &str| {
        let arguments = [
            "build",
            raw,
            "--candidates",
            "nbest.conllu",
            "-o",
            "c\u{1b}[1m",
        ];
        let mut command = folder.command("");
        command.args(arguments).args(more.split_whitespace());
        let output = command.output().unwrap();
        let text = String::from_utf8(output.stderr).unwrap();
        assert!(
            text.chars().all(|char| char == '\n' || !char.is_control()),
            "{text:?}"
        );
        text
    };
    assert!(build("").contains(r#"found "\u{1b}[2J""#));
    let told = build("--skip-malformed");
    assert!(
        told.contains(r"warning: g\u{1b}[31m\u{9b}.conllu:2: left out, malformed"),
        "{told}"
    );
    assert!(told.contains(r"c\u{1b}[1m/train.svm.zst: "), "{told}");
}

#[test]
fn other_words_are_reported_and_left_out() {
    let folder = folder();
    let nbest = folder.read("nbest.conllu");
    // The first parse of the first sentence is of others; the third sentence is cut in another
    // place, which makes no difference to its text; the fifth has one parse, the last has none.
    let blocks: Vec<&str> = nbest.split_inclusive("\n\n").collect();
    let mut kept = blocks[..14].to_vec();
    let (first, third) = (
        blocks[0].replace("They", "Them"),
        blocks[4].replace("pizza~1", "pi zza~1"),
    );
    (kept[0], kept[4]) = (first.as_str(), third.as_str());
    kept.remove(9);
    folder.write("nbest.conllu", kept.concat());
    let (_, errors) = folder.run(BUILD);
    let expected = "warning: nbest.conllu:1: left out, words that do not match: expected a parse of \
        \"They eat pizza~1 with forks .\", found one of \"Them eat";
    assert!(errors.contains(expected), "{errors}");
    assert!(
        errors.contains("warning: gold.conllu:57: left out, without candidates"),
        "{errors}"
    );
    let manifest = folder.document("c/manifest.json");
    let found = ["misaligned", "single", "missing"].map(|key| counts(&manifest, key));
    assert_eq!(found, [1, 1, 1]);
    assert_eq!(counts(&manifest, "train") + counts(&manifest, "test"), 5);
}

#[test]
fn candidates_that_cannot_be_told_apart_are_refused() {
    let folder = folder();
    let nbest = folder.read("nbest.conllu");
    folder.write(
        "nbest.conllu",
        format!("{nbest}{}", rows("s1", &sentence("They", 2))),
    );
    folder.refused(&format!(
        "{BUILD} => nbest.conllu:129:1: expected the parses of a sentence next to"
    ));
}

#[test]
fn sentences_without_an_identifier_go_by_a_number_that_is_no_other_identifier() {
    let folder = folder();
    let (gold, nbest) = (folder.read("gold.conllu"), folder.read("nbest.conllu"));
    // The first sentence is called 2, so that the second one, without identifier, has no name; the
    // third one is 3.
    let gold = gold.replacen("id = s1\n", "id = 2\n", 1);
    let gold = gold.replacen("# sent_id = s2\n", "", 1);
    folder.write("gold.conllu", gold.replacen("# sent_id = s3\n", "", 1));
    let nbest = nbest.replace("id = s1\n", "id = 2\n");
    folder.write("nbest.conllu", nbest.replace("id = s3\n", "id = 3\n"));
    let manifest = folder.json(&format!("{BUILD} --test-share 0 --json"));
    assert_eq!(counts(&manifest, "train"), 7);
    let skipped = list(&manifest["skipped"]).iter();
    let reasons: Vec<&Value> = skipped.map(|skipped| &skipped["reason"]).collect();
    assert_eq!(reasons, ["unknown", "missing"]);
    let texts = folder.unpacked("c/texts.txt.zst");
    assert!(texts.lines().next().unwrap().contains("They"), "{texts}");
    assert!(texts.lines().nth(2).unwrap().contains("You"), "{texts}");
}

#[test]
fn identifiers_with_control_characters_are_no_queries() {
    let folder = folder();
    for name in ["gold.conllu", "nbest.conllu"] {
        let text = folder.read(name);
        folder.write(name, text.replace("id = s1\n", "id = s\x1b[31m1\tx\n"));
    }
    let manifest = folder.json(&format!("{BUILD} --test-share 0 --json"));
    assert_eq!(counts(&manifest, "train"), 8);
    let svm = folder.unpacked("c/train.svm.zst");
    assert!(svm.contains(" qid:1 ") && svm.contains(" qid:8 "), "{svm}");
    assert!(svm.chars().all(|char| char == '\n' || !char.is_control()));
    folder.stdout("select c/train.svm.zst -k 1 --lambda 1");
}

#[test]
fn features_are_chosen_and_cut_off() {
    let folder = folder();
    let build = |arguments: &str| {
        let command = format!("{BUILD} --test-share 0 {arguments}");
        folder.run(&command);
        (
            folder.unpacked("c/names.txt.zst"),
            folder.unpacked("c/train.svm.zst"),
        )
    };
    let (names, _) = build("--templates words,costs");
    assert!(
        names
            .lines()
            .all(|name| name.starts_with("word:") || name.starts_with("num:"))
    );
    let (names, _) = build("--templates words --min-count 2");
    assert_eq!(
        names,
        "word:eat\nword:pizza%7E1\nword:with\nword:forks\nword:.\n"
    );
    let few = format!("{BUILD} --test-share 0 --templates words,bigrams");
    folder.warns(&format!("{few} => differ in 0 of"));
    let (_, svm) = build("--templates labels,costs");
    assert!(svm.contains(":4 ") && svm.contains(":8 "), "{svm}");
}

#[test]
fn new_sentences_are_ranked_by_a_model() {
    let folder = folder();
    folder.run(&format!("{BUILD} --test-share 0"));
    folder.run("select c/train.svm.zst -k 2 --lambda 1 -o model.json");
    let new = rows("new", &sentence("Cats", 2));
    let treeless: String = new
        .lines()
        .map(|line| match line.split('\t').collect::<Vec<_>>()[..] {
            [n, form, _, tag, ..] => format!("{n}\t{form}\t_\t{tag}\t_\t_\t_\t_\t_\t_\n"),
            _ => format!("{line}\n"),
        })
        .collect();
    folder.write("new.conllu", treeless);
    folder.write("new-nbest.conllu", rows("new", &sentence("Cats", 3)) + &new);
    let rank = "build new.conllu --candidates new-nbest.conllu --columns c/names.txt.zst \
        -o new --json";
    let manifest = folder.json(rank);
    assert_eq!(manifest["train"], Value::Null);
    assert_eq!(
        (counts(&manifest, "train"), counts(&manifest, "test")),
        (0, 1)
    );
    let files = ["names.txt.zst", "test-texts.txt.zst", "test.svm.zst"];
    assert_eq!(keys(&manifest["files"]), files);
    let svm = folder.unpacked("new/test.svm.zst");
    assert!(svm.contains("\n0 qid:new "));
    let texts = folder.unpacked("new/test-texts.txt.zst");
    let second = "eat -dep-> Cats; * -root-> eat; eat -dep-> pizza%7E1; eat -dep-> with; \
        with -dep-> forks; eat -dep-> .";
    assert_eq!(texts.lines().nth(1), Some(second));
    let scores = folder.scores("predict model.json new/test.svm.zst");
    assert!(scores.len() == 2 && scores[1] > scores[0], "{scores:?}");
    folder.write("twice.txt", "a\nb\na\n");
    let twice = rank.replace("c/names.txt.zst", "twice.txt");
    folder.refused(&format!(
        "{twice} => twice.txt: expected different names, found \"a\" twice"
    ));
    // To train on, sentences need trees.
    folder.refused(
        "build new.conllu --candidates nbest.conllu -o d \
         => new.conllu:2:19: expected the number of the word's head",
    );
}

/// A preposition depends on its noun, as in Universal Dependencies.
fn content_heads(who: &str, attached: u32) -> String {
    let mut words = sentence(who, 5);
    words[4].2 = attached;
    let text = rows(who, &words);
    text.replace("ADP\t_\t_\t5\tdep", "ADP\t_\t_\t5\tcase")
}

#[test]
fn prepositions_head_their_nouns_in_trees_and_candidates() {
    let folder = Folder::new();
    let gold = ["They", "We"].map(|who| content_heads(who, 2)).concat();
    let both = |who| content_heads(who, 2) + &content_heads(who, 3);
    folder.write("gold.conllu", gold);
    folder.write("nbest.conllu", ["They", "We"].map(both).concat());
    let build = |heads: &str, prefix: &str| {
        let (_, errors) = folder.run(&format!(
            "build gold.conllu --candidates nbest.conllu --test-share 0 {heads} -o {prefix}"
        ));
        // Heads agree: there is nothing to warn of.
        assert!(!errors.contains("warning"), "{errors}");
        let texts = folder.unpacked(&format!("{prefix}/texts.txt.zst"));
        let labels = folder.unpacked(&format!("{prefix}/train.svm.zst"));
        let label = |line: &str| line.split(' ').next().unwrap_or_default().to_owned();
        let labels: Vec<String> = labels.lines().skip(1).map(label).collect();
        (texts.lines().nth(1).unwrap_or_default().to_owned(), labels)
    };
    let content = build("", "c");
    assert_eq!(
        content.0,
        "eat -dep-> They; * -root-> eat; eat -dep-> pizza%7E1; forks -case-> with; \
         pizza%7E1 -dep-> forks; eat -dep-> ."
    );
    assert_eq!(build("--heads content", "d"), content);
    for name in ["train.svm.zst", "texts.txt.zst"] {
        let file = |prefix| folder.unpacked(&format!("{prefix}/{name}"));
        assert_eq!(file("c"), file("d"));
    }
    let function = build("--heads function", "f");
    assert_eq!(
        function.0,
        "eat -dep-> They; * -root-> eat; eat -dep-> pizza%7E1; pizza%7E1 -dep-> with; \
         with -case-> forks; eat -dep-> ."
    );
    // One arc in four is another in both.
    assert_eq!(content.1, ["1", "0.75", "1", "0.75"]);
    assert_eq!(function.1, content.1);
    assert_eq!(
        folder.document("f/manifest.json")["options"]["heads"],
        "function"
    );
}

/// A parser that cuts at blanks and links each word to the one before, or all to the first.
#[cfg(unix)]
mod with_a_simple_parser {
    use std::os::unix::fs::PermissionsExt;
    use std::process::{Child, Stdio};
    use std::thread::sleep;
    use std::time::{Duration, Instant};

    use super::*;
    use crate::signals::signal;

    const PARSER: &str = r#"#!/bin/sh
echo 'Info: Dictionary version 1.0, x' >&2
echo 'Info: Library version simple-1. Enter' >&2
while IFS= read -r line; do
    case "$line" in
    !limit=*) echo "limit set to ${line#*=}" ;;
    x) echo '[0]' ;;
    *hang*) while :; do :; done ;;
    *garble*) echo 'cost vector = (BETTER=1)'; echo '[0]' ;;
    *crash*) exit 1 ;;
    *)
        [ -e "$SLOW" ] && sleep 0.1
        set -f; set -- $line
        words='[(LEFT-WALL)'; chain='[[0 1 0 (Wd)]'; star=$chain; n=0
        for word; do
            n=$((n + 1)); words="$words($word)"
            [ $n -gt 1 ] && chain="$chain[$((n - 1)) $n 0 (A)]" && star="$star[1 $n 0 (B)]"
        done
        for links in "$chain" "$star"; do
            echo '	Linkage 1, cost vector = (UNUSED=0 DIS= 0.50 LEN=3)'
            echo; echo "$words(RIGHT-WALL)]"; echo "$links]"; echo '[0]'
        done ;;
    esac
done
"#;

    /// With a treebank of forty sentences.
    fn folder() -> Folder {
        let folder = Folder::new();
        folder.write("link-parser", PARSER);
        let executable = fs::Permissions::from_mode(0o755);
        fs::set_permissions(folder.path("link-parser"), executable).unwrap();
        let mut gold = String::new();
        for number in 0..40 {
            let word = format!("w{number}");
            gold += &rows(&format!("s{number}"), &sentence(&word, 2));
        }
        folder.write("gold.conllu", gold);
        folder
    }

    const BUILD: &str = "build gold.conllu --link-grammar";

    const PARSES: &str = "cut.part/parses";

    fn files(folder: &Folder, name: &str) -> [Vec<u8>; 6] {
        FILES.map(|file| fs::read(folder.path(&file.replacen('c', name, 1))).unwrap())
    }

    fn start(folder: &Folder, prefix: &str) -> Child {
        let arguments = format!("{BUILD} --threads 2 -q -o {prefix}");
        let mut command = folder.command(&arguments);
        command.env("SLOW", folder.path("link-parser"));
        command.stdout(Stdio::null()).stderr(Stdio::piped());
        command.spawn().unwrap()
    }

    /// Waits until there are the answers of some sentences.
    fn wait_for_answers(folder: &Folder) {
        let begin = Instant::now();
        let long = || fs::metadata(folder.path(PARSES)).is_ok_and(|file| file.len() > 2000);
        while !long() {
            assert!(begin.elapsed() < Duration::from_secs(60), "no answers");
            sleep(Duration::from_millis(10));
        }
    }

    #[test]
    fn a_run_that_was_killed_ends_as_a_whole_one() {
        let folder = folder();
        folder.run(&format!("{BUILD} -o whole"));
        let mut child = start(&folder, "cut");
        wait_for_answers(&folder);
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(!folder.path("cut").exists());
        folder.write("n.conllu", rows("s0", &sentence("w0", 2)));
        for command in [
            format!("{BUILD} -o cut"),
            "build gold.conllu --candidates n.conllu --resume -o cut".to_owned(),
        ] {
            folder.refused(&format!(
                "{command} => {PARSES}: expected no file, found the work of a run that did not end"
            ));
        }
        folder.refused(&format!("{BUILD} --linkages 5 --resume -o cut => {PARSES}:1:1: expected the work of a run with linkages 5, found linkages 20"));
        let torn = fs::read(folder.path(PARSES)).unwrap();
        folder.write(PARSES, &torn[..torn.len() - 3]);
        folder.write("cut.part/train.svm.zst", "half of it");
        folder.run(&format!("{BUILD} --resume -o cut"));
        assert_eq!(files(&folder, "cut"), files(&folder, "whole"));
        assert!(!folder.path("cut.part").exists());
    }

    #[test]
    fn prepositions_below_their_nouns_are_told_once() {
        let folder = folder();
        let told = "8 prepositions of the treebank depend on nouns";
        let warned = |arguments: &str| {
            let (_, errors) = folder.run(&format!("{BUILD} {arguments} -o c"));
            errors.matches("warning: ").count() == 1 && errors.contains(told)
        };
        assert!(!warned(""), "no preposition depends on a noun");
        let gold = EATERS.map(|who| content_heads(who, 2)).concat();
        folder.write("gold.conllu", gold);
        assert!(warned(""));
        assert!(warned("--templates labels,costs"));
        assert!(!warned("--heads content"));
        assert!(!warned("--heads function"));
    }

    #[test]
    fn an_interrupt_keeps_the_parses() {
        let folder = folder();
        folder.run(&format!("{BUILD} -o whole"));
        let child = start(&folder, "cut");
        wait_for_answers(&folder);
        signal(&child, "-INT");
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(130));
        assert!(!folder.path("cut").exists());
        folder.run(&format!("{BUILD} --resume -o cut"));
        assert_eq!(files(&folder, "cut"), files(&folder, "whole"));
    }

    #[test]
    fn damaged_answers_are_refused_with_their_place() {
        let folder = folder();
        folder.run(&format!("{BUILD} -o whole"));
        let mut child = start(&folder, "cut");
        wait_for_answers(&folder);
        child.kill().unwrap();
        child.wait().unwrap();
        let answers = folder.read(PARSES);
        let first: usize = answers.lines().take(1).map(|line| line.len() + 1).sum();
        let mut damaged = answers.clone().into_bytes();
        damaged[first + 100] ^= 4;
        folder.write(PARSES, &damaged);
        let resume = format!("{BUILD} --resume -o cut");
        folder.refused(&format!(
            "{resume} => {PARSES}:2:1: expected the line that was written, by its hash, found a \
             damaged one (keep only the lines before it to go on from there, or delete the file"
        ));
        assert_eq!(fs::read(folder.path(PARSES)).unwrap(), damaged);
        folder.write(PARSES, &answers[..first]);
        folder.run(&resume);
        assert_eq!(files(&folder, "cut"), files(&folder, "whole"));
    }

    #[test]
    fn a_second_process_does_not_write_the_same_corpus() {
        let folder = folder();
        let mut child = start(&folder, "cut");
        wait_for_answers(&folder);
        for resume in ["", "--resume"] {
            folder.refused(&format!(
                "{BUILD} {resume} -o cut => cut.part: expected a folder that no other process writes"
            ));
        }
        assert!(child.wait().unwrap().success());
        folder.run(&format!("{BUILD} -o whole"));
        assert_eq!(files(&folder, "cut"), files(&folder, "whole"));
    }

    /// What the processes of a run are to say of themselves, and how the run ends.
    fn ends_with_its_parser(body: &str, end: impl FnOnce(&Child)) -> String {
        let folder = folder();
        let pids = folder.path("pids");
        let body = format!("#!/bin/sh\necho $$ >> pids\n{body}");
        let body = body.replace("pids", &pids.display().to_string());
        folder.write("link-parser", &body);
        let child = start(&folder, "c");
        let begin = Instant::now();
        while fs::read_to_string(&pids).map_or(0, |text| text.lines().count()) < 2 {
            assert!(begin.elapsed() < Duration::from_secs(60), "no parser");
            sleep(Duration::from_millis(10));
        }
        end(&child);
        let output = child.wait_with_output().unwrap();
        assert!(
            matches!(output.status.code(), Some(1 | 130 | 143)),
            "{output:?}"
        );
        // A process that was killed is gone when the system gets to it, which may be later.
        let begin = Instant::now();
        for process in folder.read("pids").lines() {
            loop {
                let state = std::process::Command::new("ps")
                    .args(["-o", "stat=", "-p", process])
                    .output();
                let state = String::from_utf8(state.unwrap().stdout).unwrap();
                if state.is_empty() || state.starts_with('Z') {
                    break;
                }
                let late = begin.elapsed() > Duration::from_secs(10);
                assert!(!late, "{body}: {process} is {state}");
                sleep(Duration::from_millis(10));
            }
        }
        String::from_utf8(output.stderr).unwrap()
    }

    #[test]
    fn parsers_and_their_children_end_with_the_run() {
        let child = "sleep 1000 >&- 2>&- & echo $! >> pids\n";
        let answers = PARSER.trim_start_matches("#!/bin/sh\n");
        for name in ["-INT", "-TERM"] {
            for rest in ["sleep 1000", "exec yes >&2", answers] {
                ends_with_its_parser(&format!("{child}{rest}"), |run| signal(run, name));
            }
        }
        let error = ends_with_its_parser(&format!("{child}exit 1"), |_| {});
        assert!(
            error.contains("does not start as the Link Grammar parser does"),
            "{error}"
        );
    }

    #[test]
    fn sentences_that_the_parser_fails_on_are_reported() {
        let folder = folder();
        let gold = folder.read("gold.conllu");
        folder.write(
            "gold.conllu",
            gold.replace("w3\t", "crash\t").replace("w5\t", "hang\t"),
        );
        let (_, errors) = folder.run(&format!("{BUILD} --time-limit 1 -o c"));
        assert!(
            errors.contains("gold.conllu:25: left out, not parsed: the parser ended"),
            "{errors}"
        );
        assert!(
            errors.contains("gold.conllu:41: left out, timed out"),
            "{errors}"
        );
        assert!(
            errors.contains("40 read, 19 to train on, 19 held out"),
            "{errors}"
        );
        let manifest = folder.document("c/manifest.json");
        assert_eq!(
            (counts(&manifest, "failed"), counts(&manifest, "timed_out")),
            (1, 1)
        );
        assert_eq!(manifest["sources"]["parser"]["version"], "simple-1");
    }

    #[test]
    fn no_answer_about_one_sentence_ends_a_build() {
        let folder = folder();
        let gold = folder.read("gold.conllu").replace("w3\t", "garble\t");
        folder.write("gold.conllu", gold);
        let manifest = folder.json(&format!("{BUILD} -o c --json"));
        assert_eq!(counts(&manifest, "unreadable"), 1);
        assert_eq!(counts(&manifest, "train") + counts(&manifest, "test"), 39);
        let skipped = list(&manifest["skipped"]);
        assert_eq!(skipped.len(), 1);
        let keys = ["file", "line", "id", "reason"].map(|key| skipped[0][key].to_string());
        let expected = ["\"gold.conllu\"", "25", "\"s3\"", "\"unreadable\""];
        assert_eq!(keys, expected);
        let detail = skipped[0]["detail"].as_str().unwrap();
        assert!(
            detail.contains("expected the costs of a linkage"),
            "{detail}"
        );
    }

    #[test]
    fn a_parser_that_fails_at_a_third_of_the_sentences_ends_the_build() {
        let folder = folder();
        let whole = folder.read("gold.conllu");
        let garbled = |count: usize| {
            let garble = |text: String, number| {
                text.replace(&format!("\tw{number}\t"), &format!("\tgarble{number}\t"))
            };
            (0..count).fold(whole.clone(), garble)
        };
        folder.write("gold.conllu", garbled(19));
        let manifest = folder.json(&format!("{BUILD} -o c --json"));
        assert_eq!(counts(&manifest, "unreadable"), 19);
        folder.write("gold.conllu", garbled(20));
        let error = folder.fails(&format!("{BUILD} -o d"), 1);
        let expected = "the parser failed at 20 of the ";
        assert!(error.contains(expected), "{error}");
        assert!(error.contains("more than a third"), "{error}");
    }
}

/// Whether there is a parser, or must be; a word about it if there is not.
pub(crate) fn link_grammar() -> bool {
    let version = std::process::Command::new("link-parser")
        .arg("--version")
        .output();
    let present = version.is_ok() || std::env::var_os("RANKRLS_LINK_GRAMMAR").is_some();
    if !present {
        eprintln!("NOT TESTED: link-parser is not installed");
    }
    present
}

/// Sentences of every kind, words with blanks between, each with the reason for which it has no
/// rows, if it has none.
const KINDS: &[(&str, &str, Option<&str>)] = &[
    ("nothing linked", "Ah .", None),
    ("nothing linked, a dash", "I'll —", None),
    ("one word", "Yes", None),
    ("one letter", "I", None),
    ("one mark", ".", None),
    ("marks", "... !? -- ;", None),
    ("emoji", "I love 🍕 and 👩‍👩‍👧 😀 .", None),
    (
        "quotes",
        "\" He said : ' yes ' , '' no '' “ so ” « oui » .",
        None,
    ),
    ("brackets", "( a [ b { c > d ) ) ] e", None),
    ("a bracket", "[", None),
    (
        "pairs of brackets",
        "[] [[ ]] () )( [0] (( ))",
        Some("misaligned"),
    ),
    ("foreign", "これ は 日本語 です 。 и русский עברית", None),
    (
        "addresses",
        "See http://a.example/x?y=1&z=[2]#f or mail me@a.example .",
        None,
    ),
    ("a command", "!verbosity=5", None),
    ("commands", "!help !file x !exit", None),
    ("a mark and a word", "! Stop", None),
    ("a comment", "% nothing here", None),
    ("an answer", "limit set to 1000", None),
    ("an end", "[0]", None),
    ("a cost", "cost vector = (UNUSED=0 DIS= 0.00 LEN=0)", None),
    ("a wall", "LEFT-WALL RIGHT-WALL", None),
    ("a clock", "Timer is expired!", None),
    ("slashes", "a\\b c/d \\ / \\n", None),
    ("no-break space", "10\u{a0}000 dogs", None),
    ("zero width", "a\u{200b}b c\u{200d} \u{feff}d", None),
    ("soft hyphen, marks", "co\u{ad}op e\u{301}te\u{301}", None),
    ("right to left", "\u{202e}abc\u{202c} d", None),
    ("controls", "a\u{1}b c\u{7f}d e\u{85}f", None),
];

#[test]
fn sentences_of_every_kind_are_built() {
    if !link_grammar() {
        return;
    }
    let folder = Folder::new();
    let mut treebank = String::new();
    let mut push = |id: &str, text: &str| {
        let words: Vec<_> = text.split(' ').map(|word| (word, "X", 0)).collect();
        treebank += &rows(&id.replace(' ', "-"), &words);
    };
    for (kind, text, _) in KINDS {
        push(kind, text);
    }
    push("a long word", &"x".repeat(400));
    push("too long a word", &"ß".repeat(1500));
    push("many words", "dogs bark and ".repeat(67).trim_end());
    push("good", "The dog saw the man with a telescope .");
    treebank += "# sent_id = multiword\n1-2\tdon't\t_\t_\t_\t_\t_\t_\t_\t_\n\
        1\tdo\t_\tAUX\t_\t_\t0\troot\t_\t_\n2\tn't\t_\tPART\t_\t_\t1\tdep\t_\t_\n\
        2.1\tgo\t_\tVERB\t_\t_\t_\t_\t_\t_\n3-4\tdu\t_\t_\t_\t_\t_\t_\t_\t_\n\
        3\tde\t_\tADP\t_\t_\t1\tdep\t_\t_\n4\tle\t_\tDET\t_\t_\t1\tdep\t_\t_\n\n";
    folder.write("t.conllu", treebank);
    folder.write("names.txt", "word:dog.n\n");
    // Every sentence that is parsed has rows then, however few.
    let manifest = folder.json(
        "build t.conllu --link-grammar --linkages 4 --time-limit 2 --columns names.txt \
         -o c --json",
    );
    let skipped = list(&manifest["skipped"]);
    let reason = |kind: &str| {
        let id = kind.replace(' ', "-");
        let found = skipped.iter().find(|skipped| skipped["id"] == id);
        found.map(|skipped| skipped["reason"].as_str().unwrap().to_owned())
    };
    for (kind, _, expected) in KINDS {
        assert_eq!(reason(kind).as_deref(), *expected, "{kind}: {manifest}");
    }
    assert_eq!(reason("too long a word").as_deref(), Some("failed"));
    assert_eq!(reason("good").or(reason("multiword")), None);
    let sum: u64 = ["test", "failed", "timed_out", "misaligned", "unreadable"]
        .map(|key| counts(&manifest, key))
        .iter()
        .sum();
    assert_eq!(sum, counts(&manifest, "read"), "{manifest}");
}

/// The same corpus, whether the parser is asked or what it printed is read.
#[test]
fn what_link_grammar_printed_is_read() {
    if !link_grammar() {
        return;
    }
    let folder = Folder::new();
    folder.write("t.conllu", shipped_sentences(12));
    folder.run("build t.conllu --link-grammar --linkages 5 -o c");
    let help = folder.stdout("build --help");
    let (_, from) = help.split_once("link-parser en ").unwrap();
    let options: Vec<&str> = from.split_whitespace().collect();
    let mut sentences = String::new();
    for rows in shipped_sentences(12).split("\n\n") {
        let words = rows.lines().filter_map(|row| row.split('\t').nth(1));
        writeln!(sentences, " {}", words.collect::<Vec<_>>().join(" ")).unwrap();
    }
    folder.write("s.txt", sentences);
    let mut parser = std::process::Command::new("link-parser");
    parser
        .arg("en")
        .args(options)
        .arg("-test=auto-next-linkage:5");
    parser.stdin(fs::File::open(folder.path("s.txt")).unwrap());
    folder.write("p.txt", parser.output().unwrap().stdout);
    folder.run("build t.conllu --candidates p.txt --linkages 5 -o d");
    for name in &FILES[..5] {
        let file = |of: &str| fs::read(folder.path(&name.replacen('c', of, 1))).unwrap();
        assert_eq!(file("c"), file("d"), "{name}");
    }
    let labelled = "build t.conllu --candidates p.txt --label labelled -o d";
    folder.misused(&format!("{labelled} => labelled arcs need candidates"));
    let text = folder.read("p.txt");
    let is_echo = |line: &str| line.starts_with(' ') && !line.starts_with("  ");
    let silent = text.lines().filter(|line| !is_echo(line));
    folder.write("p.txt", silent.collect::<Vec<_>>().join("\n"));
    folder.refused(
        "build t.conllu --candidates p.txt -o d => p.txt: expected each sentence of the treebank before its parses",
    );
}

#[test]
fn link_grammar_parses_a_treebank() {
    if !link_grammar() {
        return;
    }
    let folder = Folder::new();
    folder.write("t.conllu", shipped_sentences(60));
    let manifest = folder.json("build t.conllu --link-grammar --linkages 8 -o c --json");
    assert_eq!(list(&manifest["skipped"]).len(), 0, "{manifest}");
    let used = counts(&manifest, "train") + counts(&manifest, "test");
    assert!(used >= 40, "{manifest}");
    folder.run("build t.conllu --link-grammar --linkages 8 --threads 1 -o d");
    for name in FILES {
        let file =
            |folder_name| fs::read(folder.path(&name.replacen('c', folder_name, 1))).unwrap();
        assert_eq!(file("c"), file("d"), "{name}");
    }
    let document = folder.json(
        "select c/train.svm.zst -k 10 --lambda 16 --test c/test.svm.zst --metrics cindex --json",
    );
    assert!(number(&document["steps"][9]["test"]["cindex"]) > 0.5);
}

/// So many of the sentences in `corpora/`, as CoNLL-U.
pub(crate) fn shipped_sentences(count: usize) -> String {
    let text = zstd::decode_all(fs::File::open(shipped("sentences.conllu.zst")).unwrap()).unwrap();
    let text = String::from_utf8(text).unwrap();
    text.split_inclusive("\n\n").take(count).collect()
}

/// A file of the folder `corpora/`.
fn shipped(name: &str) -> String {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpora");
    folder.join(name).display().to_string()
}

#[test]
fn the_shipped_parses_are_learnt_from() {
    let folder = Folder::new();
    let file = |name: &str| shipped(&format!("link-parses/{name}"));
    let document = folder.json(&format!(
        "select {} -k 20 --lambda 16 --test {} --metrics cindex --json",
        file("train.svm.zst"),
        file("test.svm.zst")
    ));
    let manifest = fs::read_to_string(file("manifest.json")).unwrap();
    let manifest: Value = serde_json::from_str(&manifest).unwrap();
    for key in ["rows", "queries", "columns", "nonzeros"] {
        assert_eq!(document["data"][key], manifest["train"][key]);
    }
    assert!(manifest["train"]["columns"].as_u64().unwrap() >= 100_000);
    for part in ["train", "test"] {
        assert!(manifest[part]["queries"].as_u64().unwrap() >= 117);
        assert!(manifest[part]["rows"].as_u64().unwrap() >= 2000);
    }
    let steps = list(&document["steps"]);
    assert!(steps.iter().all(|step| step["name"].is_string()));
    assert!(number(&steps[19]["test"]["cindex"]) > 0.65);
}

#[test]
fn the_shipped_parses_are_of_the_shipped_sentences() {
    let hash = blake3::hash(shipped_sentences(usize::MAX).as_bytes());
    let manifest = fs::read_to_string(shipped("link-parses/manifest.json")).unwrap();
    assert!(manifest.contains(hash.to_hex().as_str()));
}
