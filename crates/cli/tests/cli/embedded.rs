use std::path::Path;

use crate::support::{Folder, list, number};

/// A file of the folder `corpora/`.
fn file(name: &str) -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpora");
    folder.join(name).display().to_string()
}

/// Corpora by name, with their names, rows to train on and rows to test on.
const CORPORA: [[&str; 4]; 3] = [
    [
        "@parses",
        "parses/names.txt.zst",
        "parses/train.svm.zst",
        "parses/test.svm.zst",
    ],
    [
        "@sentences",
        "sentences/names.txt.zst",
        "sentences/train.svm.zst",
        "sentences/test.svm.zst",
    ],
    [
        "@documents",
        "documents/names.txt.zst",
        "documents/train.svm.zst",
        "documents/test.svm.zst",
    ],
];

#[test]
fn embedded_corpora_are_those_of_the_files() {
    for [corpus, names, data, test] in CORPORA {
        let folder = Folder::new();
        let [names, data, test] = [names, data, test].map(file);
        folder.run(&format!("select {corpus} -k 5 --lambda 1 -o embedded.json"));
        folder.run(&format!(
            "select {data} --names {names} -k 5 --lambda 1 -o files.json"
        ));
        let [embedded, files] = ["embedded.json", "files.json"].map(|name| folder.read(name));
        assert_eq!(embedded, files, "{corpus}");
        let scores = folder.stdout(&format!("predict embedded.json {corpus}-test"));
        assert_eq!(folder.stdout(&format!("predict files.json {test}")), scores);
    }
}

#[test]
fn readable_corpora_have_texts_that_explain_shows() {
    for [corpus, _, data, test] in &CORPORA[1..] {
        let folder = Folder::new();
        folder.run(&format!("select {corpus} -k 5 --lambda 1 -o model.json"));
        for (embedded, beside) in [(corpus.to_string(), data), (format!("{corpus}-test"), test)] {
            let rows = folder.stdout(&format!("convert {embedded} -o -"));
            let (_, rest) = rows.split_once("qid:").unwrap();
            let query = rest.split(' ').next().unwrap();
            let explained = |data: &str| {
                let plot = "--versus best --plot why.svg";
                let told = folder.json(&format!("explain model.json {data} {query} {plot} --json"));
                (told, folder.read("why.svg"))
            };
            let (told, drawn) = explained(&embedded);
            assert!(told["versus"]["text"].is_string());
            assert_eq!((told, drawn), explained(&file(beside)));
        }
    }
}

#[test]
fn the_embedded_corpus_is_learnt_from() {
    let folder = Folder::new();
    let document = folder.json("select @parses -k 20 --lambda 16 --test @parses-test --json");
    let steps = list(&document["steps"]);
    assert!(steps.iter().all(|step| step["name"].is_string()));
    let cindex = |step: usize| number(&steps[step]["test"]["cindex"]);
    assert!(cindex(19) > 0.6 && cindex(19) > cindex(0), "{}", cindex(19));
}

#[test]
fn names_given_go_before_those_embedded() {
    let folder = Folder::new();
    let names: Vec<String> = (1..=19_424).map(|n| format!("column {n}")).collect();
    folder.write("numbers.txt", names.join("\n"));
    let document = folder.json("select @parses -k 1 --lambda 16 --names numbers.txt --json");
    let step = &document["steps"][0];
    assert_eq!(step["name"], format!("column {}", step["feature"]));
}

#[test]
fn other_names_are_files() {
    let folder = Folder::new();
    folder.write("@parses", crate::support::TRAIN);
    let document = folder.json("select ./@parses -k 1 --lambda 16 --json");
    assert_eq!(document["data"]["rows"], 8);
    folder.refused("select @parses -k 1 --lambda 16 --format csv => @parses");
}
