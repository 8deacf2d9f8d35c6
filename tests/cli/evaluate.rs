use crate::support::{Folder, keys, zst};

#[test]
fn the_document_has_the_keys_of_the_schema() {
    let folder = Folder::new();
    folder.stdout("select train.svm -k 2 --lambda 1 -o model.json");
    let document = folder.json("evaluate test.svm --model model.json --json");
    assert_eq!(document["schema"], "rankrls.evaluation/1");
    assert_eq!(document["convention"], "standard");
    assert_eq!(document["queries"], 2);
    let mut names = [
        "map",
        "ndcg@10",
        "mean-ndcg",
        "p@10",
        "err",
        "mrr",
        "cindex",
    ];
    names.sort_unstable();
    for key in ["metrics", "left_out"] {
        let mut found = keys(&document[key]);
        found.sort_unstable();
        assert_eq!(found, names);
    }
    assert!(document["metrics"]["map"].as_f64().is_some());
    assert!(document.get("per_query").is_none());
}

/// Labels 1, 0 and 0, 2, 1 in the order of the scores 2 > 1 and 3 > 2 > 1.
#[test]
fn scores_are_measured() {
    let folder = Folder::new();
    folder.write("scores.txt", "2\n1\n3\n2\n1\n");
    let evaluate = "evaluate test.svm --scores scores.txt --metrics mrr,map,p@2 --json";
    let document = folder.json(&format!("{evaluate} --per-query"));
    assert_eq!(document["metrics"]["mrr"], 0.75);
    assert_eq!(document["metrics"]["p@2"], 0.5);
    let map = document["metrics"]["map"].as_f64().unwrap();
    assert!((map - 19.0 / 24.0).abs() < 1e-15);
    let queries = document["per_query"].as_array().unwrap();
    assert_eq!(queries.len(), 2);
    assert_eq!(queries[1]["query"], "y");
    assert_eq!(queries[1]["mrr"], 0.5);
    folder.write("scores.zst", zst("2\n1\n3\n2\n1\n"));
    let compressed = folder.json(&evaluate.replace("scores.txt", "scores.zst"));
    assert_eq!(compressed["metrics"], document["metrics"]);
    let mut command = folder.command(&evaluate.replace("scores.txt", "-"));
    let output = command.write_stdin("2\n1\n3\n2\n1").output().unwrap();
    let piped: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(piped["metrics"], document["metrics"]);
}

#[test]
fn undefined_measures_are_left_out_or_null() {
    let folder = Folder::new();
    folder.write("flat.svm", "0 qid:a 1:1\n0 qid:a\n1 qid:b\n0 qid:b\n");
    folder.write("scores.txt", "1\n0\n1\n0\n");
    let evaluate = "evaluate flat.svm --scores scores.txt --metrics map,cindex --json";
    let document = folder.json(&format!("{evaluate} --per-query"));
    assert_eq!(document["metrics"]["map"], 1.0);
    assert_eq!(document["left_out"]["map"], 1);
    assert!(document["per_query"][0]["map"].is_null());
    let letor = folder.json(&format!("{evaluate} --convention letor"));
    assert_eq!(letor["metrics"]["map"], 0.5);
    assert_eq!(letor["left_out"]["map"], 0);
    folder.write("flat.svm", "0 1:1\n0\n0\n0\n");
    let document = folder.json(&format!("{evaluate} --per-query"));
    assert!(document["metrics"]["map"].is_null());
    assert_eq!(document["per_query"][0]["query"], "1");
}

#[test]
fn the_table_has_the_values() {
    let folder = Folder::new();
    folder.write("scores.txt", "2\n1\n3\n2\n1\n");
    let text = folder.stdout("evaluate test.svm --scores scores.txt --metrics mrr --per-query");
    insta::assert_snapshot!(text, @r"
    5 rows, 2 queries, convention standard

    measure    mean  queries  left out
    mrr      0.7500        2         0

    query     mrr
    x      1.0000
    y      0.5000
    ");
}

#[test]
fn scores_are_in_input_order() {
    let folder = Folder::new();
    folder.write("mixed.svm", "1 qid:a\n0 qid:b\n0 qid:a\n2 qid:b\n");
    folder.write("scores.txt", "4\n3\n2\n1\n");
    let evaluate = "evaluate mixed.svm --scores scores.txt --regroup --json --metrics mrr";
    let document = folder.json(&format!("{evaluate} --per-query"));
    assert_eq!(document["per_query"][0]["mrr"], 1.0);
    assert_eq!(document["per_query"][1]["mrr"], 0.5);
}

#[test]
fn bad_scores_are_refused() {
    let folder = Folder::new();
    let evaluate = "evaluate test.svm --scores scores.txt";
    folder.write("scores.txt", "1\n2\n3\n");
    let error = folder.fails(evaluate, 1);
    assert!(error.contains("scores.txt: expected 5 scores"), "{error}");
    assert!(error.contains("test.svm, found 3"), "{error}");
    for (text, place) in [("1\nx\n", "2:1"), ("1\n2 3\n", "2:3"), ("nan\n", "1:1")] {
        folder.write("scores.txt", text);
        let error = folder.fails(evaluate, 1);
        assert!(
            error.contains(&format!("scores.txt:{place}: expected")),
            "{error}"
        );
    }
}

#[test]
fn mistakes_in_arguments_end_with_2() {
    let folder = Folder::new();
    for (arguments, message) in [
        ("evaluate test.svm", "--model"),
        ("evaluate test.svm --model m --scores s", "--scores"),
        ("evaluate test.svm --model m --zero-based", "--zero-based"),
        (
            "evaluate test.svm --scores s --metrics best",
            "unknown metric",
        ),
        ("evaluate test.svm --scores s --metrics ndcg@0", "cut-off"),
        ("evaluate test.svm --scores s --metrics map,", "empty name"),
        ("evaluate test.svm --scores s --convention best", "letor"),
        ("evaluate - --scores -", "standard input"),
    ] {
        let error = folder.fails(arguments, 2);
        assert!(error.contains(message), "{arguments}: {error}");
    }
}

#[test]
fn zero_based_data_is_read() {
    let folder = Folder::new();
    folder.write("zero.svm", "1 qid:1 0:1\n0 qid:1 1:1\n");
    folder.write("scores.txt", "1\n0\n");
    folder.fails("evaluate zero.svm --scores scores.txt", 1);
    folder.stdout("evaluate zero.svm --scores scores.txt --zero-based");
}
