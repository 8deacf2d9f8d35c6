//! What is held out: documents or sentences.

use std::collections::BTreeSet;
use std::fs;

use serde_json::Value;

use super::{FILES, counts, rows, sentence};
use crate::support::Folder;

const BUILD: &str = "build gold.conllu --candidates nbest.conllu -o c";

/// A treebank in which each document has the sentences with these words, below its first line, and two parses of each
/// sentence.
fn folder(documents: &[(&str, &[&str])]) -> Folder {
    let folder = Folder::empty();
    let (mut gold, mut parses, mut number) = (String::new(), String::new(), 0);
    for (first, words) in documents {
        gold += first;
        for word in *words {
            number += 1;
            let id = format!("s{number}");
            gold += &rows(&id, &sentence(word, 2));
            parses += &rows(&id, &sentence(word, 2));
            parses += &rows(&id, &sentence(word, 3));
        }
    }
    folder.write("gold.conllu", gold);
    folder.write("nbest.conllu", parses);
    folder
}

/// The numbers of the sentences in a file of rows.
fn sentences(folder: &Folder, file: &str) -> BTreeSet<usize> {
    if !folder.path(file).exists() {
        return BTreeSet::new();
    }
    let svm = folder.unpacked(file);
    let ids = svm.split(" qid:s").skip(1);
    ids.map(|rest| rest.split(' ').next().unwrap().parse().unwrap())
        .collect()
}

fn sides(folder: &Folder) -> [BTreeSet<usize>; 2] {
    ["c/train.svm.zst", "c/test.svm.zst"].map(|file| sentences(folder, file))
}

fn bytes(folder: &Folder) -> Vec<Vec<u8>> {
    let there = FILES.iter().filter(|file| folder.path(file).exists());
    there
        .map(|file| fs::read(folder.path(file)).unwrap())
        .collect()
}

/// One of four documents is the beginning of the file, another comes back, and a third has no identifier.
const FOUR: [(&str, &[&str]); 5] = [
    ("", &["Kings", "Queens"]),
    ("# newdoc id = a\n", &["Cats", "Dogs", "Birds"]),
    ("# newdoc\n", &["They", "We", "You"]),
    ("# newdoc id = b\n", &["Men", "Women"]),
    ("# newdoc id = a\n", &["Mice", "Rats"]),
];

/// The document of each sentence of those.
const OF: [usize; 12] = [0, 0, 1, 1, 1, 2, 2, 2, 3, 3, 1, 1];

#[test]
fn no_document_is_on_both_sides() {
    let folder = folder(&FOUR);
    let mut found = BTreeSet::new();
    for seed in 1..=12 {
        for (share, most) in [("0.5", 6), ("0.25", 3)] {
            let build = format!("{BUILD} --test-share {share} --seed {seed}");
            let manifest = folder.json(&format!("{build} --json"));
            let [train, test] = sides(&folder);
            let documents = [&train, &test].map(|side| {
                let documents = side.iter().map(|sentence| OF[sentence - 1]);
                documents.collect::<BTreeSet<_>>()
            });
            assert!(documents[0].is_disjoint(&documents[1]), "{documents:?}");
            assert_eq!(train.len() + test.len(), OF.len());
            assert!(!test.is_empty() && test.len() <= most, "{share} {test:?}");
            let said = &manifest["documents"];
            assert_eq!(said["train"], documents[0].len());
            assert_eq!(said["test"], documents[1].len());
            assert_eq!(manifest["options"]["split"], "documents");
            assert_eq!(counts(&manifest, "test"), test.len() as u64);
            found.insert(test);
        }
    }
    assert!(found.len() > 3, "the seed draws: {found:?}");
    let line = "documents: 2 to train on, 2 held out; --split sentences does not keep them whole";
    let printed = (1..=12).any(|seed| {
        let text = folder.run(&format!("{BUILD} --seed {seed}"));
        text.0.contains(line) || text.1.contains(line)
    });
    assert!(printed);
    // The same as what is asked for.
    folder.run(BUILD);
    let usual = bytes(&folder);
    folder.run(&format!("{BUILD} --split documents"));
    assert_eq!(bytes(&folder), usual);
}

/// Sentences are drawn as they are without documents.
#[test]
fn sentences_are_drawn_where_that_is_asked_for() {
    let with = folder(&FOUR);
    let without = folder(&FOUR.map(|(_, words)| ("", words)));
    without.run(BUILD);
    for split in ["--split sentences", ""] {
        without.run(&format!("{BUILD} {split}"));
        with.run(&format!("{BUILD} --split sentences"));
        assert_eq!(bytes(&with)[..5], bytes(&without)[..5]);
    }
    let manifest = with.document("c/manifest.json");
    assert_eq!(manifest["documents"], Value::Null);
    assert_eq!(manifest["options"]["split"], "sentences");
    // Without a share, and over the columns of another corpus, nothing is held out.
    with.run(&format!("{BUILD} --test-share 0"));
    assert_eq!(sides(&with).map(|side| side.len()), [12, 0]);
    with.misused(&format!(
        "{BUILD} --columns c/names.txt.zst --split documents => cannot be used with '--split"
    ));
}

#[test]
fn one_document_is_told() {
    let words = ["Kings", "Queens", "Cats", "Dogs"];
    let one = folder(&[("# newdoc id = a\n", &words)]);
    let none = folder(&[("", &words)]);
    none.run(BUILD);
    one.warns(&format!("{BUILD} => are of one document"));
    assert_eq!(bytes(&one)[..5], bytes(&none)[..5]);
    let (_, errors) = one.run(&format!("{BUILD} --split sentences"));
    assert!(!errors.contains("warning: "), "{errors}");
    for (folder, found) in [(&one, "one"), (&none, "none")] {
        folder.refused(&format!(
            "{BUILD} --split documents => gold.conllu: expected several documents, which comments # newdoc \
             begin, found {found} (--split sentences holds out sentences)"
        ));
    }
    // Nothing is held out, so one document is enough.
    one.run(&format!("{BUILD} --split documents --test-share 0"));
    assert_eq!(sides(&one).map(|side| side.len()), [4, 0]);
    // All texts that would be held out are trained on.
    let same = folder(&[("# newdoc\n", &words), ("# newdoc\n", &words)]);
    same.warns(&format!("{BUILD} => no sentence is held out"));
    let manifest = same.document("c/manifest.json");
    assert_eq!(manifest["documents"]["test"], 0);
    // There are two, and one of them is of no use.
    let two = folder(&[("# newdoc\n", &words), ("# newdoc\n", &["Ö"])]);
    let parses = two.read("nbest.conllu");
    two.write(
        "nbest.conllu",
        parses.split("# sent_id = s5").next().unwrap(),
    );
    two.refused(&format!(
        "{BUILD} --split documents => all sentences that can be used are of one; --split sentences"
    ));
    two.warns(&format!("{BUILD} => are of one document"));
}

/// What is trained on is not tested on, also where another document says it.
#[test]
fn a_text_is_on_one_side() {
    let same: &[&str] = &["Kings", "Queens", "Cats"];
    let folder = folder(&[
        ("# newdoc\n", same),
        ("# newdoc\n", &["Kings", "Dogs", "Birds"]),
    ]);
    let manifest = folder.json(&format!("{BUILD} --json"));
    let [train, test] = sides(&folder);
    assert_eq!((train.len(), test.len()), (3, 2));
    assert!(!test.contains(&1) && !test.contains(&4));
    assert_eq!(counts(&manifest, "repeated"), 1);
    let text = folder.run(BUILD);
    let said = "6 read, 3 to train on, 2 held out, 1 of documents held out, with texts to train on";
    assert!(format!("{text:?}").contains(said), "{text:?}");
}

#[test]
fn a_share_below_all_documents_takes_the_smallest() {
    let folder = folder(&[
        ("# newdoc\n", &["Kings", "Queens", "Cats"]),
        ("# newdoc\n", &["They", "We"]),
        ("# newdoc\n", &["Dogs", "Birds", "Mice"]),
    ]);
    for (share, held_out) in [("0.2", 2), ("0.1", 2), ("0.05", 0)] {
        folder.run(&format!("{BUILD} --test-share {share}"));
        let [train, test] = sides(&folder);
        assert_eq!(
            (train.len(), test.len()),
            (8 - held_out, held_out),
            "{share}"
        );
        assert!(test.iter().all(|sentence| [4, 5].contains(sentence)));
    }
}

/// Documents are those of the treebank, whatever a malformed sentence is in the way.
#[test]
fn a_document_may_begin_with_a_malformed_sentence() {
    let folder = folder(&[
        ("# newdoc\n", &["Kings", "Queens"]),
        ("# newdoc\n1\tx\n\n", &["They", "We"]),
    ]);
    let manifest = folder.json(&format!("{BUILD} --skip-malformed --json"));
    assert_eq!(manifest["documents"]["train"], 1);
    let [train, test] = sides(&folder);
    assert!(train == [1, 2].into() || test == [1, 2].into());
}
