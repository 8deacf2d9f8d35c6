//! `--scale`.

use serde_json::Value;

use crate::support::{Folder, TRAIN, keys, list, number};

/// The training data with the third column, which equals no other, 1024 times as large.
fn stretched() -> String {
    let token = |token: &str| match token.strip_prefix("3:") {
        Some(value) => format!("3:{}", 1024.0 * value.parse::<f64>().unwrap()),
        None => token.to_owned(),
    };
    let line = |line: &str| line.split(' ').map(token).collect::<Vec<_>>().join(" ") + "\n";
    TRAIN.lines().map(line).collect()
}

fn numbers(values: &Value) -> Vec<f64> {
    let values = values.as_array().unwrap().iter();
    values.map(|value| value.as_f64().unwrap()).collect()
}

fn close(found: &[f64], expected: &[f64]) -> bool {
    let mut pairs = found.iter().zip(expected);
    found.len() == expected.len() && pairs.all(|(a, b)| (a - b).abs() <= 1e-12 * (1.0 + b.abs()))
}

#[test]
fn the_size_of_a_column_does_not_matter_and_weights_are_in_its_units() {
    let folder = Folder::new();
    folder.write("big.svm", stretched());
    for scale in ["sd", "max"] {
        for command in ["select -k 4", "select -k 4 --query-weight pairs", "train"] {
            let run = |data: &str, scale: &str| {
                let (name, rest) = command.split_once(' ').unwrap_or((command, ""));
                let arguments = format!("{name} {data} {rest} --lambda 1 --scale {scale}");
                let document = folder.json(&format!("{arguments} --json -o {data}.json"));
                let scores = folder.scores(&format!("predict {data}.json {data}"));
                (document, scores)
            };
            let ((small, scores), (big, same)) = (run("train.svm", scale), run("big.svm", scale));
            assert!(close(&same, &scores), "{same:?} for {scores:?}");
            assert_eq!(small["scale"], scale);
            let error = |document: &Value| match &document["steps"] {
                Value::Array(steps) => steps.iter().map(|s| number(&s["lqo_error"])).collect(),
                _ => vec![number(&document["lqo_error"])],
            };
            assert!(close(&error(&big), &error(&small)), "{big} for {small}");
            let (none, _) = run("big.svm", "none");
            assert!(!close(&error(&none), &error(&small)), "{command}");
            assert!(!keys(&none).contains(&"scale"));
        }
    }
    let text = folder.stdout("select train.svm -k 1 --lambda 1 --scale sd");
    let first = text.lines().next().unwrap();
    assert!(first.starts_with("strategy lowmem, lambda 1 ("), "{text}");
    assert!(first.ends_with("u), scale sd"), "{text}");
    folder.prints("train train.svm --lambda 1 --scale max => u), scale max\n");
}

#[test]
fn the_test_path_is_that_of_the_model() {
    let folder = Folder::new();
    folder.write("big.svm", stretched());
    let select = "select big.svm -k 3 --lambda 1 --scale sd --test train.svm --metrics cindex";
    let document = folder.json(&format!("{select} -o model.json --json"));
    let last = document["steps"][2]["test"]["cindex"].clone();
    let evaluation = folder.json("evaluate train.svm --model model.json --metrics cindex --json");
    assert_eq!(evaluation["metrics"]["cindex"], last);
    let weights = numbers(&document["weights"]);
    let tuned = folder.json("tune big.svm -k 3 --lambdas 1 --scale sd --json -o tuned.json");
    assert_eq!(numbers(&tuned["selection"]["weights"])[0], {
        let k = list(&tuned["selection"]["weights"]).len();
        let again = format!("select big.svm -k {k} --lambda 1 --scale sd --json");
        numbers(&folder.json(&again)["weights"])[0]
    });
    assert_eq!(weights.len(), 3);
    folder.run("compare big.svm -k 2 --lambda 1 --scale sd --strategies dense,bounded");
}

#[test]
fn models_and_checkpoints_know_their_scale() {
    let folder = Folder::new();
    folder.write("big.svm", stretched());
    let whole = folder.json("select big.svm -k 4 --lambda 1 --scale sd --json");
    folder.run("select big.svm -k 2 --lambda 1 --scale sd -o model.json");
    assert_eq!(folder.json("inspect model.json --json")["scale"], "sd");
    folder.prints("inspect model.json => scale sd");
    let grown = folder.json("select big.svm -k 4 --extend model.json --json");
    assert_eq!(
        grown["steps"][3]["lqo_error"],
        whole["steps"][3]["lqo_error"]
    );
    assert_eq!(grown["weights"], whole["weights"]);
    for command in [
        "select big.svm -k 3 --lambda 1",
        "tune big.svm -k 3 --lambdas 1",
    ] {
        let with = format!("{command} --checkpoint run.ck");
        folder.run(&format!("{with} --scale sd"));
        folder.run(&format!("{with} --scale sd --resume"));
        folder.refused(&format!(
            "{with} --scale max --resume => scale was sd and is max now"
        ));
        std::fs::remove_file(folder.path("run.ck")).unwrap();
    }
}

#[test]
fn lost_digits_are_found_again() {
    let folder = Folder::new();
    folder.write("huge.svm", TRAIN.replace(" 1:1", " 1:1e9"));
    folder.warns("select huge.svm -k 2 --lambda 1 --json => --scale sd");
    let (_, errors) = folder.run("select huge.svm -k 2 --lambda 1 --scale sd --json");
    assert_eq!(errors, "");
}
