use std::path::Path;

use crate::support::{Folder, list, number};

/// A file of the folder `corpora/`.
fn file(name: &str) -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpora");
    folder.join(name).display().to_string()
}

#[test]
fn the_embedded_corpus_is_that_of_the_files() {
    let folder = Folder::new();
    folder.run("select @parses -k 5 --lambda 16 -o embedded.json");
    let (data, names) = (file("parses.svm.zst"), file("parses.names.txt.zst"));
    folder.run(&format!(
        "select {data} --names {names} -k 5 --lambda 16 -o files.json"
    ));
    assert_eq!(folder.read("embedded.json"), folder.read("files.json"));
    let scores = folder.stdout("predict embedded.json @parses-test");
    let test = file("parses-test.svm.zst");
    assert_eq!(folder.stdout(&format!("predict files.json {test}")), scores);
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
