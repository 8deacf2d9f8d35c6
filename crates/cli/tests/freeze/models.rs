//! The model of schema 2 in `fixtures/models`. It loads, gives the old scores, and is written to the same bytes.

use crate::folder::Folder;

const SELECT: &str =
    "select train.svm --names names.txt -k 5 --lambda 2 --strategy bounded -o found.json";

#[test]
fn a_model_of_schema_2_scores_as_it_did() {
    let folder = Folder::new();
    folder.run("predict models/bounded.json test.svm -o found.txt");
    assert_eq!(folder.read("found.txt"), folder.read("scores/bounded.txt"));
}

#[test]
fn a_model_of_schema_2_is_written_again() {
    let folder = Folder::new();
    folder.run(SELECT);
    let expected = folder.read("models/bounded.json");
    assert_eq!(folder.read("found.json"), expected, "from data");
    // Read the model, and write it with one more step.
    folder.write("more.json", expected);
    let more = SELECT.replace("-k 5", "-k 6");
    folder.run(&format!(
        "{} --resume",
        more.replace("found.json", "more.json")
    ));
    folder.run(&more);
    assert_eq!(folder.read("more.json"), folder.read("found.json"));
}
