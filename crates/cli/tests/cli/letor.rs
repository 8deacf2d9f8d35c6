use std::fmt::Write as _;

use crate::support::{Folder, draws, gz, list, zst};

/// Rows of queries whose labels follow feature 3 and, less, feature 1.
fn rows(seed: u64, queries: u64, columns: u64) -> String {
    let mut draw = draws(seed);
    let mut text = String::new();
    for query in 0..queries {
        for _ in 0..5 {
            let values: Vec<u64> = (0..columns).map(|_| draw(10)).collect();
            let label = (2 * values[2] + values[0] + draw(4)) / 12;
            write!(text, "{label} qid:{query}").unwrap();
            for (index, value) in (1..).zip(&values) {
                write!(text, " {index}:{value}").unwrap();
            }
            text.push_str(" #docid = x\n");
        }
    }
    text
}

/// Two folds, one of them compressed, under `data`.
fn folds() -> Folder {
    let folder = Folder::new();
    folder.write("data/Fold1/train.txt", rows(1, 12, 5));
    folder.write("data/Fold1/vali.txt", rows(2, 6, 5));
    folder.write("data/Fold1/test.txt", rows(3, 6, 5));
    folder.write("data/Fold2/train.txt.gz", gz(&rows(4, 12, 5)));
    folder.write("data/Fold2/vali.txt.zst", zst(&rows(5, 6, 5)));
    folder.write("data/Fold2/test.txt", rows(6, 6, 7));
    folder
}

#[test]
fn tables_have_a_row_a_fold_and_the_average() {
    let folder = folds();
    let (text, errors) = folder.run("letor data");
    assert!(errors.contains("warning: dropped "), "{errors}");
    assert!(errors.contains("of Fold2, in its test data"), "{errors}");
    for title in ["MAP on", "P@10 on", "mean NDCG on", "NDCG@10 on"] {
        let (_, table) = text.split_once(title).unwrap();
        let rows: Vec<&str> = table.lines().skip(2).take(3).collect();
        assert!(rows[0].starts_with("Fold1 ") && rows[1].starts_with("Fold2 "));
        let numbers = |row: &str| -> Vec<f64> {
            let cells = row.split_whitespace().skip(1);
            cells.map(|cell| cell.parse().unwrap()).collect()
        };
        let (one, two, average) = (numbers(rows[0]), numbers(rows[1]), numbers(rows[2]));
        assert_eq!(average.len(), 2);
        for (index, average) in average.iter().enumerate() {
            assert!((average - f64::midpoint(one[index], two[index])).abs() < 1e-4);
        }
    }
    let alone = folder.stdout("letor data/Fold1");
    assert!(
        !alone.contains("average") && alone.contains("Fold1"),
        "{alone}"
    );
}

#[test]
fn options_are_heeded_and_threads_change_nothing() {
    let folder = folds();
    let run = |options: &str| {
        let mut document = folder.json(&format!("letor data -q --json {options}"));
        for fold in document["folds"].as_array_mut().unwrap() {
            fold["seconds"].take();
        }
        document
    };
    let whole = run("");
    assert_eq!(list(&whole["lambdas"]).len(), 21);
    assert_eq!(run("--threads 1"), run("--threads 3"));
    let two = run("-k 2 --strategy lowmem --lambdas 2^-1..2^2");
    for fold in list(&two["folds"]) {
        assert_eq!(fold["strategy"], "lowmem");
        assert!(fold["greedy"]["k"].as_u64().unwrap() <= 2);
        assert_eq!(list(&fold["paths"][3]["features"]).len(), 2);
    }
    let pairs = run("--query-weight pairs");
    assert_eq!(pairs["query_weight"], "pairs");
    assert_ne!(
        pairs["folds"][0]["greedy"]["weights"],
        whole["folds"][0]["greedy"]["weights"]
    );
}

#[test]
fn curves_have_a_line_for_each_lambda() {
    let folder = folds();
    let lines = |svg: &str| svg.matches("<polyline").count();
    folder.run("letor data -q --lambdas 2^-1..2^2 --plot all.svg");
    let svg = folder.read("all.svg");
    roxmltree::Document::parse(&svg).unwrap();
    assert_eq!(
        lines(&svg),
        2 * 3 * 4,
        "two measures of two folds and of their mean"
    );
    assert!(svg.contains("Mean over 2 folds") && svg.contains("validation MAP"));
}

#[test]
fn missing_and_broken_folds_are_named() {
    let folder = folds();
    folder.refused("letor train.svm => train.svm: cannot list");
    folder.write("data/Fold1/train.txt", "1 qid:1 1:1\n0 qid:1 1:1\n");
    folder.refused("letor data/Fold1 -q => Fold1: nothing to select from");
}
