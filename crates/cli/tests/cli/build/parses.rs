//! Treebanks and lists of parses that a reader may misread. They are read as meant, or refused.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use serde_json::Value;

use super::{BUILD, counts, folder, rows, sentence};
use crate::support::{Folder, list};

const ALL: &str = "--test-share 0";

/// The values of a column of training rows, by the text of the row.
fn column(folder: &Folder, corpus: &str, name: &str) -> Vec<String> {
    let names = folder.unpacked(&format!("{corpus}/names.txt.zst"));
    let at = 1 + names.lines().position(|line| line == name).unwrap();
    let svm = folder.unpacked(&format!("{corpus}/train.svm.zst"));
    let value = |row: &str| {
        let pair = row
            .split(' ')
            .find_map(|pair| pair.strip_prefix(&format!("{at}:")));
        pair.unwrap_or("0").to_owned()
    };
    svm.lines().skip(1).map(value).collect()
}

/// The parses of `folder()`, each with a comment, one after the other.
fn commented<'c>(folder: &Folder, comments: impl IntoIterator<Item = &'c str>) {
    let nbest = folder.read("nbest.conllu");
    let blocks = nbest.split_inclusive("\n\n");
    let text: String = blocks
        .zip(comments)
        .map(|(block, line)| match line {
            "" => block.to_owned(),
            line => block.replacen('\n', &format!("\n{line}\n"), 1),
        })
        .collect();
    folder.write("scored.conllu", text);
}

const SCORED: &str = "build gold.conllu --candidates scored.conllu --test-share 0 -o c";

#[test]
fn scores_keep_their_digits() {
    let folder = folder();
    for scores in [
        ["3.2e-7", "1.1e-9"],
        ["-1234567.890123456", "-1234567.890123457"],
        ["1e-300", "-5e-324"],
        ["0.1", "0.30000000000000004"],
        ["1e300", "-0.00005"],
    ] {
        let comments = scores.map(|score| format!("# score = {score}"));
        commented(
            &folder,
            comments.iter().map(String::as_str).cycle().take(16),
        );
        let (_, errors) = folder.run(SCORED);
        assert!(!errors.contains("warning"), "{errors}");
        let written = column(&folder, "c", "num:score");
        assert_eq!(written.len(), 16);
        for (pair, given) in written.iter().zip(scores.iter().cycle()) {
            assert_eq!(pair.parse::<f64>(), given.parse::<f64>());
        }
    }
}

#[test]
fn scores_that_are_equal_in_each_sentence_are_told() {
    let folder = folder();
    let told = "the scores of the candidates are equal in each sentence, and cannot rank";
    let (same, other) = ("# score = -2.5", "# score = -2.5000000000000004");
    commented(&folder, [same; 16]);
    folder.warns(&format!("{SCORED} => {told}"));
    commented(
        &folder,
        [same, same, other, other].into_iter().cycle().take(16),
    );
    folder.warns(&format!("{SCORED} => {told}"));
    for sound in [
        [same; 15].into_iter().chain([other]).collect::<Vec<_>>(),
        vec![""; 16],
    ] {
        commented(&folder, sound);
        let (_, errors) = folder.run(SCORED);
        assert!(!errors.contains("warning"), "{errors}");
    }
}

#[test]
fn a_score_that_is_not_one_is_refused_with_its_place() {
    let folder = folder();
    commented(&folder, ["# score = -12,5"; 16]);
    folder.refused(&format!(
        "{SCORED} => scored.conllu:2:1: expected score = NUMBER, as in"
    ));
    // A score of a treebank is not a score of a parse.
    let gold = folder.read("gold.conllu");
    folder.write(
        "gold.conllu",
        gold.replace("# sent_id", "# Score: 3, say\n# sent_id"),
    );
    folder.run(BUILD);
}

#[test]
fn parses_of_a_sentence_have_scores_or_none_has() {
    let folder = folder();
    let some = "# score = -1.5";
    let mut none_first = vec![some; 16];
    none_first[4] = "";
    let mut none_last = vec![some; 16];
    none_last[15] = "";
    let mut one = vec![""; 16];
    one[1] = some;
    for (comments, place, id) in [
        (&none_first, "scored.conllu:45:1", "s3"),
        (&none_last, "scored.conllu:136:1", "s8"),
        (&one, "scored.conllu:9:1", "s1"),
    ] {
        commented(&folder, comments.iter().copied());
        folder.refused(&format!("{SCORED} => {place}: expected a comment \"# score = …\" with all parses of \"{id}\" or none"));
        let manifest = folder.json(&format!("{SCORED} --skip-malformed --json"));
        assert_eq!(list(&manifest["skipped"]).len(), 1);
        assert_eq!(
            (counts(&manifest, "train"), counts(&manifest, "single")),
            (7, 1)
        );
    }
    // A sentence without scores stays as it is.
    let mut sound = vec![some; 16];
    sound[4..6].fill("");
    sound[1] = "# score = -2";
    commented(&folder, sound);
    assert_eq!(
        counts(&folder.json(&format!("{SCORED} --json")), "train"),
        8
    );
}

#[test]
fn columns_in_another_order_are_refused() {
    let folder = folder();
    for name in ["gold.conllu", "nbest.conllu"] {
        let text = folder.read(name);
        folder.write(
            name,
            format!("{text}# global.columns = ID FORM HEAD DEPREL\n"),
        );
        let line = text.lines().count() + 1;
        for skip in ["", "--skip-malformed"] {
            folder.refused(&format!(
                "{BUILD} {skip} => {name}:{line}:1: expected the columns ID FORM"
            ));
        }
        folder.write(name, text);
    }
}

/// F1 of the pairs of head and modifier in two sentences of `rows`, at words with letters or digits.
fn by_form(gold: &str, parse: &str) -> f64 {
    let arcs = |rows: &str| {
        let rows: Vec<Vec<String>> = rows
            .lines()
            .filter(|line| line.contains('\t'))
            .map(|line| line.split('\t').map(str::to_owned).collect())
            .collect();
        let is_word = |number: &str| {
            let row = rows.iter().find(|row| row[0] == number);
            row.is_some_and(|row| row[1].contains(char::is_alphanumeric) && row[1] != "-LRB-")
        };
        let arcs = rows
            .iter()
            .filter(|row| is_word(&row[0]) && is_word(&row[6]));
        arcs.map(|row| (row[6].clone(), row[0].clone()))
            .collect::<BTreeSet<_>>()
    };
    let (gold, parse) = (arcs(gold), arcs(parse));
    2.0 * gold.intersection(&parse).count() as f64 / (gold.len() + parse.len()) as f64
}

#[test]
fn punctuation_is_known_by_its_form_in_tags_of_all_kinds() {
    let [penn, tiger, chinese, prague, none] = [
        ["CD", ",", "-LRB-", "NN", "``", "."],
        ["CARD", "$,", "$(", "NN", "$(", "$."],
        ["CD", "PU", "PU", "NN", "PU", "PU"],
        ["C=", "Z:", "Z:", "NNIS1", "Z:", "Z:"],
        ["X"; 6],
    ];
    for tags in [penn, tiger, chinese, prague, none] {
        let folder = Folder::new();
        let heads = |heads: [u32; 6]| -> Vec<(&str, &str, u32)> {
            let forms = ["1992", ",", "-LRB-", "houses", "``", "。"];
            forms
                .iter()
                .zip(tags)
                .zip(heads)
                .map(|((form, tag), head)| (*form, tag, head))
                .collect()
        };
        let gold = rows("s", &heads([4, 1, 4, 0, 2, 4]));
        let parses = [[4, 4, 1, 0, 4, 1], [0, 1, 4, 1, 2, 4], [4, 1, 4, 0, 2, 4]]
            .map(|one| rows("s", &heads(one)));
        folder.write("gold.conllu", &gold);
        folder.write("nbest.conllu", parses.concat());
        let manifest = folder.json(&format!("{BUILD} {ALL} --json"));
        // The first parse differs from the last only in punctuation.
        assert_eq!(manifest["train"]["alike"], 1);
        assert_eq!(manifest["train"]["labels"]["exact_first"], 1.0);
        let svm = folder.unpacked("c/train.svm.zst");
        let labels = svm
            .lines()
            .skip(1)
            .map(|row| row.split(' ').next().unwrap().parse::<f64>().unwrap());
        for (label, parse) in labels.zip(&parses) {
            assert!((label - by_form(&gold, parse)).abs() < 1e-4, "{tags:?}");
        }
    }
    // Tags of Universal Dependencies decide.
    let folder = Folder::new();
    let words = |tag, head| rows("s", &[("a", "X", 0), ("&", tag, head), ("c", "X", 2)]);
    for (tag, queries) in [
        ("CCONJ", 1),
        ("SYM", 1),
        ("NUM", 1),
        ("PUNCT", 0),
        ("CC", 0),
    ] {
        folder.write("gold.conllu", words(tag, 1));
        let parse = words(tag, 1).replace("2\tdep\t_\t_\n\n", "1\tdep\t_\t_\n\n");
        folder.write("nbest.conllu", words(tag, 1) + &parse);
        let output = folder.command(&format!("{BUILD} {ALL}")).output().unwrap();
        assert_eq!(output.status.success(), queries == 1, "{tag}: {output:?}");
    }
}

#[test]
fn all_parses_of_a_file_are_used() {
    let folder = folder();
    for parses in [3, 21, 50, 1001] {
        let mut nbest = String::new();
        for number in 0..parses {
            let words = sentence("They", if number + 1 == parses { 2 } else { 3 });
            write!(nbest, "{}", rows("s1", &words)).unwrap();
        }
        folder.write("nbest.conllu", nbest);
        let manifest = folder.json(&format!("{BUILD} {ALL} --json"));
        assert_eq!(manifest["train"]["rows"], parses);
        assert_eq!(manifest["options"]["candidates"], Value::Null);
    }
    for parser in ["--linkages 50", "--time-limit 5", "--resume"] {
        folder.misused(&format!(
            "{BUILD} {parser} => the argument '--candidates <FILE>' cannot be used with"
        ));
    }
}

/// The output of link-parser for a sentence of three words: a chain, and a star.
fn printed(sentence: &str) -> String {
    let words = sentence.replace(' ', ")(");
    let mut text = format!(" {sentence}\nFound 2 linkages (2 had no P.P. violations)\n");
    for (number, links) in [(1, "[1 2 0 (A)][2 3 0 (A)]"), (2, "[1 2 0 (B)][1 3 0 (B)]")] {
        let costs = "cost vector = (UNUSED=0 DIS= 0.50 LEN=3)";
        writeln!(
            text,
            "\tLinkage {number}, {costs}\n    LEFT-WALL 0.000 Wd+\n\n[(LEFT-WALL)({words})(RIGHT-WALL)]\n\
             [[0 1 0 (Wd)]{links}]\n[0]\n"
        )
        .unwrap();
    }
    text
}

#[test]
fn lines_that_the_parser_printed_are_no_sentences() {
    let folder = Folder::new();
    let chain = |id, words: [&'static str; 3]| {
        rows(
            id,
            &[(words[0], "_", 0), (words[1], "_", 1), (words[2], "_", 2)],
        )
    };
    let mut gold = chain("s1", ["a", "b", "c"]) + &rows("s2", &[("[0]", "_", 0)]);
    gold += &(rows("s3", &[("!", "_", 0)]) + &chain("s4", ["d", "e", "f"]));
    folder.write("gold.conllu", gold);
    // A sentence of another treebank stands between.
    let text = ["a b c", "x y z", "d e f"].map(printed).concat();
    let build = format!("build gold.conllu --candidates p.txt {ALL} -o c --json");
    for text in [
        text.clone(),
        text.replace('\n', "\r\n"),
        text.clone() + &text,
    ] {
        folder.write("p.txt", text);
        let manifest = folder.json(&build);
        assert_eq!(
            (counts(&manifest, "train"), counts(&manifest, "missing")),
            (2, 2)
        );
        assert_eq!(manifest["train"]["rows"], 4);
        assert_eq!(manifest["train"]["labels"]["mean_first"], 1.0);
    }
    for (from, expected) in [
        (
            "    LEFT-WALL 0.000 Wd+\n",
            "expected the connectors of the words, as -disjuncts=1 prints them",
        ),
        ("[(LEFT-WALL)", "expected the words of a linkage"),
    ] {
        folder.write("p.txt", text.replace(from, ""));
        folder.refused(&format!("{build} => {expected}"));
    }
}
