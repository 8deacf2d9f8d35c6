//! A build refuses files or leaves sentences out: messages and counts.

use serde_json::Value;
use std::collections::BTreeSet;

use super::{BUILD, counts, folder, rows, sentence};
use crate::support::list;

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
    // Its candidates then belong to no sentence.
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
    // The only sentence is held out.
    let word = |number, head| format!("{number}\tw{number}\t_\tNOUN\t_\t_\t{head}\tdep\t_\t_\n");
    let [one, other] = [[0, 1, 1], [2, 0, 2]].map(|heads| {
        let words = (1..).zip(heads).map(|(number, head)| word(number, head));
        format!("# sent_id = a\n{}\n", words.collect::<String>())
    });
    folder.write("one.conllu", &one);
    folder.write("parses.conllu", format!("{one}{other}"));
    let build = "build one.conllu --candidates parses.conllu -o one";
    let error = folder.fails(build, 1);
    assert!(
        error.contains("of 1 sentence, 1 held out to test on, by the test share"),
        "{error}"
    );
    folder.run(&format!("{build} --test-share 0"));
    // The parses are malformed, so their sentences have none.
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
    // An underscore is an ordinary word.
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
    // The first parse of the first sentence has other words. The third sentence is cut elsewhere, which does not
    // change its text. The fifth has one parse, and the last has none.
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
    let expected = "warning: nbest.conllu:1: left out, with words that do not match: expected a parse of \
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
    // The first sentence has the identifier 2, so the second one, without identifier, has no name. The third one is
    // 3.
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
fn identifiers_that_are_none_of_queries_are_written_otherwise() {
    let folder = folder();
    let texts = ["gold.conllu", "nbest.conllu"].map(|name| (name, folder.read(name)));
    for id in ["s\u{200b}1", "MATT_5:1", "NaN", "a b"] {
        for (name, text) in &texts {
            folder.write(name, text.replace("id = s1\n", &format!("id = {id}\n")));
        }
        let manifest = folder.json(&format!("{BUILD} --test-share 0 --json"));
        assert_eq!(counts(&manifest, "train"), 8);
        let svm = folder.unpacked("c/train.svm.zst");
        assert!(!svm.contains(&format!(" qid:{id} ")), "{svm}");
        let tokens = svm.lines().filter_map(|line| line.split(' ').nth(1));
        let tokens = tokens.filter(|token| token.starts_with("qid:"));
        assert_eq!(tokens.collect::<BTreeSet<_>>().len(), 8, "{svm}");
        folder.stdout("select c/train.svm.zst -k 1 --lambda 1");
    }
    for (name, text) in &texts {
        folder.write(name, text.replace("id = s1\n", "id =\n"));
    }
    folder.refused(&format!(
        "{BUILD} => nbest.conllu:1:1: expected a comment \"# sent_id = …\""
    ));
}
