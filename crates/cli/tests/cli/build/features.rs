//! Features, heads, and rows over the columns of another corpus.

use serde_json::Value;

use super::{BUILD, content_heads, counts, folder, rows, sentence};
use crate::support::{Folder, keys};

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
    folder.write("other.txt", "words:They\nwords:eat");
    for wrong in ["c/texts.txt.zst", "other.txt"] {
        let other = rank.replace("c/names.txt.zst", wrong);
        folder.refused(&format!("{other} => {wrong}: expected the names of a corpus of rankrls build, found names of other columns than all"));
    }
    // Training needs trees.
    folder.refused(
        "build new.conllu --candidates nbest.conllu -o d \
         => new.conllu:2:19: expected the number of the word's head",
    );
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
        // Heads agree, so there is no warning.
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
    // One arc in four differs in both.
    assert_eq!(content.1, ["1", "0.75", "1", "0.75"]);
    assert_eq!(function.1, content.1);
    assert_eq!(
        folder.document("f/manifest.json")["options"]["heads"],
        "function"
    );
}
