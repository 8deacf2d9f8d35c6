//! Help from another corpus, by the program.

use std::fmt::Write as _;

use crate::support::{Folder, NAMES};

/// Another corpus: its columns 1 to 3 are `bigram:a_b`, a stranger and `word:a`.
const SOURCE: &str = "\
3 qid:s 1:1 3:2
0 qid:s 2:1
1 qid:t 3:1
0 qid:t 1:1 2:2
2 qid:u 1:2 3:1
1 qid:u 2:1 3:1
";

fn folder() -> Folder {
    let folder = Folder::new();
    folder.write("source.svm", SOURCE);
    folder.write("source.txt", "bigram:a_b\nstranger\nword:a\n");
    folder.run("train source.svm --names source.txt --lambda 1 -o source.json");
    folder
}

fn scores(text: &str) -> Vec<f64> {
    text.lines().map(|line| line.parse().unwrap()).collect()
}

/// The files of the folder are those there were.
fn nothing_is_written(folder: &Folder, arguments: &str, code: i32) -> String {
    let before = folder.list();
    let error = folder.fails(arguments, code);
    assert_eq!(folder.list(), before, "{arguments}");
    error
}

#[test]
fn an_offset_by_a_model_is_in_the_model() {
    let folder = folder();
    let options = "--names names.txt --lambda 1 --offset source.json";
    let (text, errors) = folder.run(&format!("train train.svm {options} -o model.json"));
    assert!(errors.is_empty(), "{errors}");
    assert!(
        text.contains("offset: source.json, 2 of its 3 columns found by name"),
        "{text}"
    );
    let document = folder.json(&format!("train train.svm {options} --json"));
    assert_eq!(document["offset"]["shared_columns"], 2);
    // The labels less the scores of the source model, trained on alone, and the scores added.
    let source: serde_json::Value = serde_json::from_str(&folder.read("source.json")).unwrap();
    let weight = |place: usize| source["features"][place]["weight"].as_f64().unwrap();
    let offset = |line: &str| -> f64 {
        let value = |column: &str| {
            let found = line.split(' ').find_map(|token| token.strip_prefix(column));
            found.map_or(0.0, |value| value.parse::<f64>().unwrap())
        };
        weight(2) * value("1:") + weight(0) * value("4:")
    };
    let rows: Vec<&str> = crate::support::TRAIN.lines().skip(1).collect();
    let mut left = String::new();
    for line in &rows {
        let (label, rest) = line.split_once(' ').unwrap();
        let label: f64 = label.parse().unwrap();
        writeln!(left, "{:.17} {rest}", label - offset(line)).unwrap();
    }
    folder.write("left.svm", left);
    folder.run("train left.svm --lambda 1 -o left.json");
    let found = scores(&folder.stdout("predict model.json train.svm"));
    let plain = scores(&folder.stdout("predict left.json train.svm"));
    for ((found, plain), line) in found.iter().zip(plain).zip(&rows) {
        assert!((found - plain - offset(line)).abs() < 1e-12);
    }
    // Measured with the offset, on other data too.
    let select = format!("select train.svm -k 2 {options} --test test.svm --json -o selected.json");
    let document = folder.json(&select);
    let evaluated = folder.json("evaluate test.svm --model selected.json --json");
    let last = &document["steps"][1]["test"];
    assert_eq!(last["cindex"], evaluated["metrics"]["cindex"]);
    let inspected = folder.stdout("inspect selected.json");
    assert!(inspected.contains("source.json"), "{inspected}");
}

#[test]
fn an_offset_by_scores_comes_with_the_data() {
    let folder = folder();
    folder.write("s.txt", "1\n0.5\n0\n2\n0\n1\n1\n0.25\n");
    folder.write("t.txt", "1\n0.5\n0\n2\n0\n");
    let options = "select train.svm -k 2 --lambda 1 --offset s.txt";
    folder.run(&format!("{options} -o model.json"));
    for command in [
        "predict model.json train.svm",
        "evaluate train.svm --model model.json",
    ] {
        let error = folder.fails(command, 1);
        assert!(
            error.contains("offset that it was trained with, scores of s.txt"),
            "{error}"
        );
    }
    let found = scores(&folder.stdout("predict model.json test.svm --offset t.txt"));
    let text = folder.read("model.json");
    let mut model: serde_json::Value = serde_json::from_str(&text).unwrap();
    model.as_object_mut().unwrap().remove("offset");
    folder.write("bare.json", model.to_string());
    let plain = scores(&folder.stdout("predict bare.json test.svm"));
    for ((found, plain), score) in found.iter().zip(plain).zip([1.0, 0.5, 0.0, 2.0, 0.0]) {
        assert_eq!(*found, plain + score);
    }
    folder.run("evaluate test.svm --model model.json --offset t.txt --metrics cindex");
    // Measured on the way with scores of their own.
    let error = nothing_is_written(&folder, &format!("{options} --test train.svm -o x.json"), 1);
    assert!(error.contains("a second --offset"), "{error}");
    folder.run(&format!(
        "{options} --test test.svm --offset t.txt -o x.json"
    ));
    // Goes on from the model with the same offset alone.
    folder.run("select train.svm -k 3 --lambda 1 --offset s.txt -o three.json");
    folder.run("select train.svm -k 3 --offset s.txt --extend model.json -o more.json");
    assert_eq!(folder.read("three.json"), folder.read("more.json"));
    let error = nothing_is_written(
        &folder,
        "select train.svm -k 3 --extend model.json -o y.json",
        1,
    );
    assert!(error.contains("trained on other data"), "{error}");
}

#[test]
fn a_score_feature_is_selected_first() {
    let folder = folder();
    let options = "select train.svm -k 2 --names names.txt --lambda 1 --score-feature source.json";
    let document = folder.json(&format!("{options} --json -o model.json --test test.svm"));
    let steps = document["steps"].as_array().unwrap();
    assert_eq!(steps.len(), 3);
    assert_eq!(
        (&steps[0]["feature"], &steps[0]["name"]),
        (&8.into(), &"source.json".into())
    );
    let evaluated = folder.json("evaluate test.svm --model model.json --json");
    assert_eq!(steps[2]["test"]["cindex"], evaluated["metrics"]["cindex"]);
    folder.run("select train.svm -k 1 --names names.txt --lambda 1 --score-feature source.json -o one.json");
    folder.run("select train.svm -k 2 --names names.txt --score-feature source.json --extend one.json -o two.json");
    assert_eq!(folder.read("two.json"), folder.read("model.json"));
    // Scores alone have to come again.
    folder.write("s.txt", "1\n0.5\n0\n2\n0\n1\n1\n0.25\n");
    folder.write("t.txt", "1\n0.5\n0\n2\n0\n");
    folder.run("train train.svm --lambda 1 --score-feature s.txt -o trained.json");
    let error = folder.fails("predict trained.json train.svm", 1);
    assert!(
        error.contains("score feature that it was trained with, scores of s.txt"),
        "{error}"
    );
    folder.run("predict trained.json test.svm --score-feature t.txt");
    let error = folder.fails("predict model.json train.svm --score-feature s.txt", 2);
    assert!(error.contains("has source.json in itself"), "{error}");
}

#[test]
fn a_source_is_trained_on() {
    let folder = folder();
    let options =
        "--names names.txt --source source.svm --source-names source.txt --source-weight 0.5";
    let text = folder.stdout(&format!(
        "train train.svm --lambda 1 {options} -o model.json"
    ));
    let expected =
        "source: source.svm, 6 rows in 3 queries, weight 0.5, 2 of its 3 columns found by name";
    assert!(text.contains(expected), "{text}");
    let model: serde_json::Value = serde_json::from_str(&folder.read("model.json")).unwrap();
    assert_eq!(model["source"]["queries"], 3);
    assert_eq!(model["data"]["rows"], 14);
    folder.run(&format!(
        "train train.svm --lambda 1 {options} --holdout-scores h.txt"
    ));
    assert_eq!(scores(&folder.read("h.txt")).len(), 8);
    folder.run("predict model.json test.svm");
    folder.run(&format!(
        "select train.svm -k 2 --lambda 1 {options} --test test.svm -o selected.json"
    ));
    folder.run("inspect selected.json");
    // Folds are of the rows of the target.
    folder.write("folds.txt", "a\na\na\nb\nb\na\na\na\n");
    folder.run(&format!(
        "train train.svm --lambda 1 {options} --holdout folds:folds.txt"
    ));
    // Without names columns have numbers.
    let (_, errors) = folder.run("train train.svm --lambda 1 --source source.svm");
    assert!(
        errors.contains("3 columns found by number, not by name"),
        "{errors}"
    );
}

#[test]
fn what_does_not_fit_is_refused_and_nothing_is_written() {
    let folder = folder();
    folder.write("short.txt", "1\n2\n");
    folder.write("nan.txt", "1\nnan\n0\n2\n0\n1\n1\n0.25\n");
    folder.write("constant.txt", "1\n1\n1\n2\n2\n1\n1\n1\n");
    folder.write("grades.svm", SOURCE.replace("3 qid", "30 qid"));
    folder.write("strange.svm", "3 qid:s 1:1\n0 qid:s 2:1\n");
    folder.write("strange.txt", "x\ny\n");
    folder.run("train strange.svm --names strange.txt --lambda 1 --holdout none -o strange.json");
    folder.run("train train.svm --lambda 1 --kernel gaussian -o kernel.json");
    for (options, code, expected) in [
        (
            "--offset short.txt",
            1,
            "expected 8 scores, one for each row of the data, found 2",
        ),
        ("--score-feature short.txt", 1, "expected 8 scores"),
        ("--offset nan.txt", 1, "nan.txt:2"),
        ("--score-feature constant.txt", 1, "constant in every query"),
        ("--offset kernel.json", 1, "has a kernel"),
        ("--offset strange.json", 1, "no name is the same"),
        (
            "--source strange.svm --source-names strange.txt",
            1,
            "no column in common",
        ),
        (
            "--source grades.svm --source-names source.txt",
            1,
            "labels of the source are from 0 to 30",
        ),
        ("--source source.svm --source-weight 0", 1, "above 0"),
        ("--source source.svm --source-weight nan", 2, "finite"),
        ("--source-weight 2", 2, "--source"),
        (
            "--source source.svm --offset short.txt",
            2,
            "cannot be used with",
        ),
        (
            "--offset short.txt --score-feature short.txt",
            2,
            "cannot be used with",
        ),
        ("--offset missing.txt", 1, "missing.txt"),
    ] {
        for command in [
            "train train.svm --lambda 1",
            "select train.svm -k 1 --lambda 1",
        ] {
            let arguments = format!("{command} --names names.txt {options} -o out.json");
            let error = nothing_is_written(&folder, &arguments, code);
            assert!(error.contains(expected), "{arguments}: {error}");
        }
    }
    let select = "select train.svm --names names.txt -k 1 -o out.json --source source.svm";
    for (options, code, expected) in [
        ("", 2, "--source takes a number as --lambda"),
        ("--lambda 1 --strategy bounded", 1, "never held out"),
    ] {
        let arguments = format!("{select} {options} --source-names source.txt");
        let error = nothing_is_written(&folder, &arguments, code);
        assert!(error.contains(expected), "{arguments}: {error}");
    }
    let train = "train train.svm --names names.txt --lambda 1 -o out.json";
    for (options, expected) in [
        (
            "--source source.svm --source-names source.txt --kernel gaussian",
            "linear kernel",
        ),
        ("--offset source.json --objective global", "objective query"),
        (
            "--offset source.json --labels rank",
            "another scale than raw",
        ),
        ("--offset source.json --holdout lpo", "lqo or folds:N"),
    ] {
        let error = nothing_is_written(&folder, &format!("{train} {options}"), 1);
        assert!(error.contains(expected), "{options}: {error}");
    }
    let error = folder.fails("predict source.json source.svm --offset short.txt", 2);
    assert!(error.contains("trained without one"), "{error}");
    // Grades on another scale do where labels are scaled in each query.
    let options = "--source grades.svm --source-names source.txt --labels rank";
    folder.run(&format!(
        "train train.svm --lambda 1 --names names.txt {options}"
    ));
    assert_eq!(NAMES.lines().count(), 7);
}

#[test]
fn a_mix_is_weighed_by_other_queries() {
    let folder = folder();
    folder.write("good.txt", "2\n1\n0\n1\n0\n2\n1\n0\n");
    folder.write("bad.txt", "0\n1\n2\n0\n1\n0\n1\n2\n");
    let text = folder.stdout("evaluate train.svm --mix good.txt,bad.txt --metrics cindex");
    assert!(
        text.contains("mix: weight 0 of the second ranking has the best cindex"),
        "{text}"
    );
    let document = folder.json("evaluate train.svm --mix bad.txt,good.txt --metrics cindex --json");
    assert_eq!(document["mix"]["weights"].as_array().unwrap().len(), 3);
    assert_eq!(document["rankings"][2]["metrics"]["cindex"], 1.0);
    assert_eq!(document["comparisons"].as_array().unwrap().len(), 3);
    let by_name = "evaluate train.svm --mix good.txt,source.json --names names.txt";
    let (_, errors) = folder.run(by_name);
    assert!(errors.contains("2 of 3 features found by name"), "{errors}");
    for (options, code, expected) in [
        ("--mix good.txt", 2, "expected two"),
        (
            "--mix good.txt,bad.txt --scores good.txt",
            2,
            "cannot be used with",
        ),
        ("--mix good.txt,short.txt", 1, "short.txt"),
    ] {
        let error = folder.fails(&format!("evaluate train.svm {options}"), code);
        assert!(error.contains(expected), "{options}: {error}");
    }
}
