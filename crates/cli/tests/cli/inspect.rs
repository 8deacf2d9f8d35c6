use crate::support::{Folder, keys};

fn folder() -> Folder {
    let folder = Folder::new();
    folder.stdout("select train.svm -k 3 --lambda 0.5 --names names.txt -o model.json --seed 1 -q");
    folder
}

#[test]
fn the_model_has_what_the_schema_says() {
    let folder = folder();
    let model = folder.json("inspect model.json --json");
    assert_eq!(
        folder.read("model.json"),
        folder.stdout("inspect model.json --json")
    );
    assert_eq!(model["schema"], "rankrls.model/1");
    assert_eq!(model["lambda"], 0.5);
    assert_eq!(model["index_base"], 1);
    assert!(model["seed"].is_null() && model["candidates"].is_null());
    let features = model["features"].as_array().unwrap();
    assert_eq!(features.len(), 3);
    let first = features
        .iter()
        .find(|feature| feature["index"] == 1)
        .unwrap();
    assert_eq!(first["name"], "word:a");
    assert_eq!(first["identical"], serde_json::json!([4]));
    let mut found = keys(&model["path"][0]);
    found.sort_unstable();
    assert_eq!(found, ["feature", "lqo_cindex", "lqo_error", "step"]);
    assert_eq!(model["data"]["hash"].as_str().unwrap().len(), 64);
    let selection = folder.json("select train.svm -k 3 --lambda 0.5 --json");
    for (step, path) in selection["steps"].as_array().unwrap().iter().zip(0..) {
        let path: &serde_json::Value = &model["path"][path];
        assert_eq!(step["lqo_error"], path["lqo_error"]);
        assert_eq!(step["feature"], path["feature"]);
    }
}

#[test]
fn people_can_read_it() {
    let folder = folder();
    let text = folder.stdout("inspect model.json");
    assert!(
        text.contains("8 rows, 3 queries, 7 columns from 1 on, 21 non-zeros"),
        "{text}"
    );
    assert!(
        text.contains("word:a") && text.contains("LQO error"),
        "{text}"
    );
    assert!(text.lines().all(|line| line.len() <= 80), "{text}");
    assert!(!text.contains("identical to"), "{text}");
    let text = folder.stdout("inspect model.json --members");
    assert!(text.contains("identical to 1 (word:a): 4\n"), "{text}");
    assert!(text.contains(": none\n"), "{text}");
}

#[test]
fn sampling_is_told() {
    let folder = Folder::new();
    folder.stdout("select train.svm -k 2 --lambda 1 --strategy sampled --seed 5 -o model.json.gz");
    let model = folder.json("inspect model.json.gz --json");
    assert_eq!(
        (&model["seed"], &model["candidates"]),
        (&5.into(), &59.into())
    );
    let text = folder.stdout("inspect model.json.gz");
    assert!(text.contains("59 candidates a step, seed 5"), "{text}");
}

#[test]
fn names_cannot_move_the_cursor() {
    let folder = folder();
    let text = folder
        .read("model.json")
        .replace("word:a", r"\u001b[2Jword");
    folder.write("model.json", text);
    let text = folder.stdout("inspect model.json --members");
    assert!(
        !text.contains('\x1b') && text.contains("\\u{1b}[2Jword"),
        "{text}"
    );
}

#[test]
fn damaged_models_are_refused_by_all_commands() {
    let folder = folder();
    let whole = folder.read("model.json");
    for (from, to, message) in [
        ("\"schema\"", "\"scheme\"", "found none"),
        (
            "\"lambda\": 0.5",
            "\"lambda\": -0.5",
            "bad.json:4:16: expected",
        ),
        ("  \"path\"", "  \"paths\"", "unknown field `paths`"),
        ("{", "", "bad.json:"),
    ] {
        assert!(whole.contains(from), "{from}");
        folder.write("bad.json", whole.replacen(from, to, 1));
        for command in ["inspect bad.json", "predict bad.json test.svm"] {
            let error = folder.fails(command, 1);
            assert!(error.contains("bad.json"), "{error}");
            assert!(error.contains(message), "{error}\nlacks: {message}");
        }
    }
    folder.write("bad.json", &whole[..whole.len() / 2]);
    let error = folder.fails("evaluate test.svm --model bad.json", 1);
    assert!(error.contains("EOF"), "{error}");
}
