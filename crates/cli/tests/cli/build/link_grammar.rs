//! The Link Grammar parser itself, and the parses in `corpora/`.

use std::fmt::Write as _;
use std::fs;

use serde_json::Value;

use super::{FILES, counts, rows};
use crate::support::{Folder, list, number};

/// Whether there is a parser, or must be. Prints a line if there is none.
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

/// Sentences of every kind, as words between blanks, with the reason why a sentence has no rows.
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
    folder.write("names.txt", "word:dog\n");
    // Then every parsed sentence has rows.
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

/// The parser and its printed output give the same corpus.
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
    folder.run("build t.conllu --candidates p.txt -o d");
    for name in &FILES[..5] {
        let file = |of: &str| fs::read(folder.path(&name.replacen('c', of, 1))).unwrap();
        assert_eq!(file("c"), file("d"), "{name}");
    }
    // A part of the treebank keeps only its own parses.
    folder.write("t.conllu", shipped_sentences(7));
    folder.run("build t.conllu --link-grammar --linkages 5 -o c");
    folder.run("build t.conllu --candidates p.txt -o d");
    let rows = ["c", "d"].map(|of| folder.unpacked(&format!("{of}/train.svm.zst")));
    assert_eq!(rows[0], rows[1]);
    let relations = "build t.conllu --candidates p.txt --relations -o d";
    folder.misused(&format!(
        "{relations} => expected candidates with the relations of the treebank"
    ));
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
    folder.write("t.conllu", shipped_sentences(40));
    let manifest = folder.json("build t.conllu --link-grammar --linkages 8 -o c --json");
    assert_eq!(list(&manifest["skipped"]).len(), 0, "{manifest}");
    let used = counts(&manifest, "train") + counts(&manifest, "test");
    assert!(used >= 25, "{manifest}");
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

/// The first `count` sentences in `corpora/`, as CoNLL-U.
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
