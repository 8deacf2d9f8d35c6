use crate::support::Folder;

fn folder() -> Folder {
    let folder = Folder::new();
    folder.stdout("select train.svm -k 3 --lambda 0.5 --names names.txt -o model.json --seed 1 -q");
    folder
}

#[test]
fn the_document_is_the_file() {
    let folder = folder();
    let document = folder.stdout("inspect model.json --json");
    assert_eq!(folder.read("model.json"), document);
}

#[test]
fn sampling_is_told() {
    let folder = Folder::new();
    folder.stdout("select train.svm -k 2 --lambda 1 --strategy sampled --seed 5 -o model.json.gz");
    let model = folder.json("inspect model.json.gz --json");
    assert_eq!(model["settings"]["seed"], 5);
    assert_eq!(model["settings"]["sample"], 59);
    folder.prints("inspect model.json.gz => sample 59, seed 5");
}

#[test]
fn names_cannot_move_the_cursor() {
    let folder = folder();
    let text = folder
        .read("model.json")
        .replace("word:a", r"\u001b[2Jword");
    folder.write("model.json", text);
    let text = folder.stdout("inspect model.json");
    assert!(
        !text.contains('\x1b') && text.contains("\\u{1b}[2Jword"),
        "{text}"
    );
}

#[test]
fn damaged_models_are_refused_by_all_commands() {
    let folder = folder();
    let whole = folder.read("model.json");
    folder.write(
        "bad.json",
        whole.replace("\"lambda\": 0.5", "\"lambda\": -0.5"),
    );
    for command in [
        "inspect bad.json",
        "predict bad.json test.svm",
        "evaluate test.svm --model bad.json",
    ] {
        folder.refused(&format!("{command} => bad.json:4:16: expected"));
    }
}
