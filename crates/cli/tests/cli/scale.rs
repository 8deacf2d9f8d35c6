//! `--scale`.

use serde_json::Value;

use crate::support::{Folder, TRAIN, keys, list, number};

/// A training without a lambda takes the scales of the best hold-outs. Giving these scales changes nothing.
#[test]
fn train_chooses_scales_by_hold_outs() {
    let folder = Folder::new();
    let found = folder.json("train @documents -o model.json --json");
    let tried = list(&found["choice"]["tried"]);
    let value = |setting: &Value| number(&setting["value"]);
    let best = tried.iter().map(value).fold(0.0, f64::max);
    let first = tried.iter().find(|setting| value(setting) == best).unwrap();
    let scales = |of: &Value| (of["scale"].clone(), of["label_scale"].clone());
    assert_eq!(tried.len(), 4);
    assert_eq!(scales(first), ("sd".into(), "raw".into()));
    assert_eq!(found["scale"], "sd");
    let model = folder.read("model.json");
    let lambda = number(&found["lambda"]);
    let again = format!("train @documents --scale sd --lambda {lambda} -o model.json --json");
    assert_eq!(folder.json(&again)["choice"], Value::Null);
    assert_eq!(folder.read("model.json"), model);
    // Given scales are kept, and no others are tried.
    let (text, _) = folder.run("train @documents --scale none --label-scale raw");
    assert!(
        !text.contains("scales chosen") && !text.contains("scale sd"),
        "{text}"
    );
    let given = folder.json("train @documents --scale none --json");
    assert_eq!(list(&given["choice"]["tried"]).len(), 2);
    // Kernels have no scales.
    let kernel = folder.json("train @documents --kernel gaussian:0.01 --json");
    assert_eq!(kernel["choice"], Value::Null);
}

/// The training data with the third column times 1024. No other column equals it.
fn stretched() -> String {
    let token = |token: &str| match token.strip_prefix("3:") {
        Some(value) => format!("3:{}", 1024.0 * value.parse::<f64>().unwrap()),
        None => token.to_owned(),
    };
    let line = |line: &str| line.split(' ').map(token).collect::<Vec<_>>().join(" ") + "\n";
    TRAIN.lines().map(line).collect()
}

/// The library compares figures and weights with columns divided before.
#[test]
fn the_size_of_a_column_does_not_matter() {
    let folder = Folder::new();
    folder.write("big.svm", stretched());
    for command in ["select -k 4", "train"] {
        let scores = |data: &str| {
            let (name, rest) = command.split_once(' ').unwrap_or((command, ""));
            let run = format!("{name} {data} {rest} --lambda 1 --scale sd --json -o {data}.json");
            assert_eq!(folder.json(&run)["scale"], "sd");
            folder.scores(&format!("predict {data}.json {data}"))
        };
        for (found, expected) in scores("big.svm").iter().zip(scores("train.svm")) {
            assert!((found - expected).abs() <= 1e-12 * (1.0 + expected.abs()));
        }
    }
    assert!(!keys(&folder.json("select train.svm -k 4 --lambda 1 --json")).contains(&"scale"));
    let text = folder.stdout("select train.svm -k 1 --lambda 1 --scale sd");
    let first = text.lines().next().unwrap();
    assert!(first.starts_with("strategy lowmem, lambda 1 ("), "{text}");
    assert!(first.ends_with("u), scale sd"), "{text}");
    folder.prints("train train.svm --lambda 1 --scale max => u), scale max\n");
    folder.run("compare big.svm -k 2 --lambda 1 --scale sd --strategy dense,bounded");
}

#[test]
fn lost_digits_are_found_again() {
    let folder = Folder::new();
    folder.write("huge.svm", TRAIN.replace(" 1:1", " 1:1e9"));
    folder.warns("select huge.svm -k 2 --lambda 1 --json => --scale=sd");
    let (_, errors) = folder.run("select huge.svm -k 2 --lambda 1 --scale sd --json");
    assert_eq!(errors, "");
}
