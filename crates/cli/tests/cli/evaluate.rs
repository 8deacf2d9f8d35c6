use crate::support::{Folder, list, number, zst};

/// Labels 1, 0 and 0, 2, 1 in the order of the scores 2 > 1 and 3 > 2 > 1.
#[test]
fn scores_are_measured() {
    let folder = Folder::new();
    folder.write("scores.txt", "2\n1\n3\n2\n1\n");
    let evaluate = "evaluate test.svm --scores scores.txt --metrics mrr,map,p@2 --json";
    let document = folder.json(&format!("{evaluate} --csv queries.csv"));
    assert_eq!(document["metrics"]["mrr"], 0.75);
    // Values 1 and 0.5: a deviation of 0.5 / sqrt(2) over sqrt(2).
    assert!((number(&document["standard_errors"]["mrr"]) - 0.25).abs() < 1e-15);
    assert_eq!(document["metrics"]["p@2"], 0.5);
    let map = number(&document["metrics"]["map"]);
    assert!((map - 19.0 / 24.0).abs() < 1e-15);
    let queries = folder.read("queries.csv");
    assert_eq!(queries.lines().count(), 3);
    assert!(queries.contains("\nscores.txt,y,0.5,"), "{queries}");
    folder.write("scores.zst", zst("2\n1\n3\n2\n1\n"));
    let compressed = folder.json(&evaluate.replace("scores.txt", "scores.zst"));
    assert_eq!(compressed["metrics"], document["metrics"]);
    let piped = folder.piped(&evaluate.replace("scores.txt", "-"), "2\n1\n3\n2\n1");
    let piped: serde_json::Value = serde_json::from_str(&piped).unwrap();
    assert_eq!(piped["metrics"], document["metrics"]);
}

#[test]
fn undefined_measures_are_left_out_or_null() {
    let folder = Folder::new();
    folder.write("flat.svm", "0 1:1\n0\n0\n0\n");
    folder.write("scores.txt", "1\n0\n1\n0\n");
    let evaluate = "evaluate flat.svm --scores scores.txt --metrics map --csv q.csv --json";
    let document = folder.json(&format!("{evaluate} --rows-per-query 4"));
    assert!(document["metrics"]["map"].is_null());
    assert_eq!(folder.read("q.csv"), "ranking,query,map\nscores.txt,1,\n");
    assert_eq!(document["left_out"]["map"], 1);
    let letor = folder.json(&format!("{evaluate} --rows-per-query 4 --convention letor"));
    assert_eq!(letor["metrics"]["map"], 0.0);
    assert_eq!(letor["left_out"]["map"], 0);
}

#[test]
fn scores_are_in_input_order() {
    let folder = Folder::new();
    folder.write("mixed.svm", "1 qid:a\n0 qid:b\n0 qid:a\n2 qid:b\n");
    folder.write("scores.txt", "4\n3\n2\n1\n");
    let evaluate = "evaluate mixed.svm --scores scores.txt --json --metrics mrr";
    folder.json(&format!("{evaluate} --csv q.csv"));
    let queries = folder.read("q.csv");
    assert!(
        queries.ends_with("\nscores.txt,a,1\nscores.txt,b,0.5\n"),
        "{queries}"
    );
}

/// Labels 1, 0 and 0, 2, 1. One ranking is perfect, and the other reversed.
#[test]
fn rankings_are_compared_in_pairs() {
    let folder = Folder::new();
    folder.write("best.txt", "2\n1\n1\n3\n2\n");
    folder.write("worst.txt", "1\n2\n3\n1\n2\n");
    folder.stdout("select train.svm -k 2 --lambda 1 -o model.json");
    let evaluate = "evaluate test.svm --scores best.txt --scores worst.txt --metrics cindex,p@1";
    let document = folder.json(&format!("{evaluate} --json"));
    assert_eq!(document["rankings"][0]["name"], "best.txt");
    assert_eq!(document["rankings"][0]["metrics"]["cindex"], 1.0);
    assert_eq!(document["rankings"][1]["metrics"]["cindex"], 0.0);
    assert_eq!(document["rankings"][1]["standard_errors"]["cindex"], 0.0);
    let comparison = &document["comparisons"][0];
    assert_eq!(comparison["first"], "best.txt");
    assert_eq!(comparison["second"], "worst.txt");
    let cindex = &comparison["metrics"]["cindex"];
    assert_eq!(cindex["difference"], 1.0);
    assert_eq!(cindex["interval"], serde_json::json!([1.0, 1.0]));
    // Of the four signs of two equal differences, two are as extreme.
    assert_eq!(cindex["p"], 0.5);
    assert_eq!(cindex["exact"], true);
    assert_eq!(cindex["wins"], 2);
    assert_eq!(cindex["ties"], 0);
    assert_eq!(document["seed"], 1);
    let text = folder.stdout(evaluate);
    assert!(text.contains("95% interval"), "{text}");
    assert!(text.contains("+1.0000 to +1.0000"), "{text}");
    assert!(text.contains("\nA: best.txt\nB: worst.txt\n"), "{text}");
    let three = folder.json(&format!("{evaluate} --model model.json --json --seed 7"));
    assert_eq!(three["rankings"][0]["name"], "model.json");
    assert_eq!(list(&three["comparisons"]).len(), 3);
    assert_eq!(three["seed"], 7);
    assert_eq!(three["resamples"], 10_000);
}

/// Rows of a query are scattered, and one query has a single row.
#[test]
fn the_order_of_the_file_is_a_ranking() {
    let folder = Folder::new();
    let rows = "-2 qid:a\n3.5 qid:b\n1 qid:b\n4 qid:a\n-1 qid:c\n";
    folder.write("mixed.svm", rows);
    folder.write("scores.txt", "1\n2\n2\n2\n0\n");
    let evaluate = "evaluate mixed.svm --metrics label@1,cindex --json --csv q.csv";
    let alone = folder.json(&format!("{evaluate} --file-order"));
    let first = || -> Vec<f64> {
        let queries = folder.read("q.csv");
        let values = queries.lines().skip(1).map(|line| line.split(',').nth(2));
        values
            .map(|value| value.unwrap().parse().unwrap())
            .collect()
    };
    assert_eq!(first(), [-2.0, 3.5, -1.0]);
    assert_eq!(alone["metrics"]["label@1"], 0.5 / 3.0);
    assert_eq!(alone["left_out"]["label@1"], 0);
    assert_eq!(alone["metrics"]["cindex"], 0.5);
    assert_eq!(alone["left_out"]["cindex"], 1);

    let both = folder.json(&format!("{evaluate} --file-order --scores scores.txt"));
    assert_eq!(both["rankings"][0]["name"], "scores.txt");
    assert_eq!(both["rankings"][1]["name"], "order of the file");
    assert_eq!(both["rankings"][1]["metrics"], alone["metrics"]);
    // The second query is tied: its value is the mean, or under letor its first row.
    assert_eq!(first()[1], 2.25);
    folder.json(&format!(
        "{evaluate} --file-order --scores scores.txt --convention letor"
    ));
    assert_eq!(first()[1], 3.5);
    let compared = &both["comparisons"][0]["metrics"]["label@1"];
    assert_eq!(
        [&compared["wins"], &compared["ties"], &compared["losses"]],
        [1, 1, 1]
    );
    folder.prints("evaluate mixed.svm --file-order --metrics label@1 => label@1  0.1667");
    folder.fails("evaluate mixed.svm --metrics label@1", 2);
    folder.write("empty.svm", "");
    folder.fails("evaluate empty.svm --file-order --metrics label@1", 1);
}

/// Every use of a measure takes this one: criteria, rules, and measures of test data.
#[test]
fn labels_of_first_rows_are_measured_everywhere() {
    let folder = Folder::new();
    for arguments in [
        "select train.svm -k 2 --lambda 1 --criterion label@1 --test test.svm --metrics label@1",
        "tune train.svm -k 2 --lambda 1,4 --choose-by label@1 --metrics cindex",
        "tune train.svm -k 2 --lambda 1,4 --validation test.svm --choose-by label@1",
        "train train.svm --lambda 1,4 --choose-by label@1",
        "compare train.svm -k 2 --lambda 1 --test test.svm --metrics label@1",
    ] {
        folder.stdout(arguments);
    }
    let document = folder.json(
        "select train.svm -k 1 --lambda 1 --criterion label@1 --test test.svm --metrics label@1 --json",
    );
    assert!(document["steps"][0]["test"]["label@1"].is_number());
    folder.misused("evaluate test.svm --file-order --metrics label@2 => cindex, label@1, with K");
}

#[test]
fn the_tables_of_a_comparison_fit_80_columns() {
    let folder = Folder::new();
    let long = format!("{}.txt", "scores-of-the-first-ranking-".repeat(3));
    folder.write(&long, "2\n1\n1\n3\n2\n");
    folder.write("worst.txt", "1\n2\n3\n1\n2\n");
    let text = folder.stdout(&format!(
        "evaluate test.svm --scores {long} --scores worst.txt"
    ));
    assert!(text.contains(&format!("\nA: {long}\n")), "{text}");
    let mut lines = text.lines().filter(|line| !line.ends_with(&long));
    assert!(lines.all(|line| line.chars().count() <= 80), "{text}");
}

#[test]
fn models_of_other_columns_read_the_data_again() {
    let folder = Folder::new();
    folder.write(
        "zero.svm",
        "1 qid:1 0:1\n0 qid:1 1:1\n0 qid:2 0:2\n1 qid:2\n",
    );
    folder.stdout("select train.svm -k 2 --lambda 1 -o one.json");
    folder.stdout("select zero.svm --zero-based -k 1 --lambda 1 -o zero.json");
    folder.write(
        "data.svm",
        "1 qid:1 1:1\n0 qid:1 2:1\n2 qid:2 1:1\n0 qid:2 3:1\n",
    );
    let evaluate = "evaluate data.svm --metrics cindex --json";
    let both = folder.json(&format!("{evaluate} --model one.json --model zero.json"));
    for (place, model) in ["one.json", "zero.json"].into_iter().enumerate() {
        let one = folder.json(&format!("{evaluate} --model {model}"));
        assert_eq!(
            both["rankings"][place]["metrics"], one["metrics"],
            "{model}"
        );
    }
    let mut twice = folder.command("evaluate - --model one.json --model zero.json");
    twice.stdin(std::fs::File::open(folder.path("data.svm")).unwrap());
    assert_eq!(twice.output().unwrap().status.code(), Some(2));
}

#[test]
fn values_of_queries_are_written_as_csv() {
    let folder = Folder::new();
    folder.write("scores.txt", "2\n1\n3\n2\n1\n");
    folder.write("flat.txt", "1\n1\n1\n1\n1\n");
    let both = "evaluate test.svm --scores scores.txt --scores flat.txt --metrics mrr,cindex";
    folder.stdout(&format!("{both} --csv queries.csv"));
    insta::assert_snapshot!(folder.read("queries.csv"), @r"
    ranking,query,mrr,cindex
    scores.txt,x,1,1
    scores.txt,y,0.5,0.3333333333333333
    flat.txt,x,0.75,0.5
    flat.txt,y,0.8333333333333333,0.5
    ");
    folder.fails(&format!("{both} --csv absent/queries.csv"), 1);
}

/// Grades 2, 0, 1 of a scale up to 4, computed from the definition (`golden.rs` has more).
#[test]
fn a_scale_makes_files_comparable() {
    let folder = Folder::new();
    folder.write("data.svm", "2 qid:1\n0 qid:1\n1 qid:1\n");
    folder.write("scores.txt", "0.9\n0.8\n0.7\n");
    let evaluate = "evaluate data.svm --scores scores.txt --metrics err";
    let document = folder.json(&format!("{evaluate}:4,err --json"));
    assert_eq!(document["metrics"]["err:4"], 0.204_427_083_333_333_34);
    assert_eq!(document["max_grade"], 2.0);
    folder.prints(&format!(
        "{evaluate} => the largest grade is that of these data, 2"
    ));
    let error = folder.fails(&format!("{evaluate}:1"), 1);
    let expected =
        "data.svm: err:1 has 1 as the largest grade: the label of row 1, in query 1, is 2";
    assert!(error.contains(expected), "{error}");
}

/// Grades 0, 2, 1 in the order of the scores. Rules in a name hold for that measure alone.
#[test]
fn rules_stand_in_the_name_of_a_measure() {
    let folder = Folder::new();
    folder.write("data.svm", "0 qid:1\n2 qid:1\n1 qid:1\n");
    let evaluate = "evaluate data.svm --file-order --json --metrics";
    let measured = |list: &str, name: &str| {
        let document = folder.json(&format!("{evaluate} {list}"));
        number(&document["metrics"][name])
    };
    let all = "map,map:2,ndcg@2,ndcg@2:linear,ndcg@4(letor),ndcg@4,p@2:2,mrr:1.5";
    let third = 1.0 / 3.0_f64.log2();
    for (name, value) in [
        ("map", 7.0 / 12.0),
        ("map:2", 0.5),
        ("ndcg@2", 3.0 * third / (3.0 + third)),
        ("ndcg@2:linear", 2.0 * third / (2.0 + third)),
        ("ndcg@4(letor)", 0.0),
        ("p@2:2", 0.5),
        ("mrr:1.5", 0.5),
    ] {
        let found = measured(all, name);
        assert!((found - value).abs() < 1e-15, "{name}: {found}");
    }
    // A convention concerns names without one, and a default rule is not written.
    let letor = measured("ndcg@4(standard),ndcg@4 --convention letor", "ndcg@4");
    assert_eq!(letor, 0.0);
    let named = "ndcg@4(standard),ndcg@4 --convention letor";
    assert_eq!(
        measured(named, "ndcg@4(standard)"),
        measured("ndcg@4", "ndcg@4")
    );
    assert_eq!(
        measured("ndcg@2:exponential", "ndcg@2"),
        measured("ndcg@2", "ndcg@2")
    );
    for (list, refused) in [
        (
            "ndcg@2:cubic",
            "metric ndcg@2: expected a gain, exponential or linear, found",
        ),
        (
            "map:x",
            "expected the least label of a relevant row, a number such as map:2",
        ),
        (
            "err:0",
            "expected the largest grade, a number above 0 such as err:4",
        ),
        ("cindex:2", "metric cindex: expected the name alone"),
        ("map(best)", "expected one of letor, standard"),
    ] {
        folder.misused(&format!("{evaluate} {list} => {refused}"));
    }
}

/// Criteria, judges of models and measures of test data follow their own rules.
#[test]
fn whatever_takes_a_measure_obeys_its_rules() {
    let folder = Folder::new();
    let tune = "tune train.svm -k 2 --lambda 1,4 --json --choose-by";
    let values = |name: &str| number(&folder.json(&format!("{tune} {name}"))["chosen"]["value"]);
    assert_eq!(values("ndcg@9(letor)"), 0.0);
    assert_eq!(values("ndcg@9 --convention letor"), 0.0);
    assert!(values("ndcg@9") > 0.0);
    assert_eq!(
        values("ndcg@9(standard) --convention letor"),
        values("ndcg@9")
    );
    let select = "select train.svm -k 2 --lambda 1 --criterion";
    folder.run(&format!("{select} map:1.5(letor) -o model.json"));
    assert!(folder.read("model.json").contains("\"map:1.5(letor)\""));
    // A model resumes only under its own rules.
    let more = select.replace("-k 2", "-k 3");
    folder.run(&format!("{more} map:1.5(letor) -o model.json --resume"));
    folder.refused(&format!(
        "{more} map:1(letor) -o model.json --resume => criterion was map:1.5(letor)"
    ));
}

#[test]
fn labels_below_0_have_no_grades() {
    let folder = Folder::new();
    folder.write(
        "signs.svm",
        "1 qid:b 1:1\n-1 qid:a\n1 qid:a 1:1\n-1 qid:b\n",
    );
    folder.write("scores.txt", "4\n3\n2\n1\n");
    let evaluate = "evaluate signs.svm --scores scores.txt --metrics";
    for metric in ["ndcg@10", "mean-ndcg", "err", "map,err"] {
        let error = folder.fails(&format!("{evaluate} {metric}"), 1);
        assert!(error.contains("signs.svm: "), "{error}");
        let place = "the label of row 4, in query b, is -1";
        assert!(error.contains(place), "{error}");
        assert!(error.contains("map, p@K, mrr, cindex, label@1"), "{error}");
    }
    let document = folder.json(&format!("{evaluate} map,mrr,p@1,cindex,label@1 --json"));
    assert_eq!(document["metrics"]["map"], 0.75);
    assert_eq!(document["metrics"]["label@1"], 0.0);
    let document = folder.json(&format!("{evaluate} map:-1 --json"));
    assert_eq!(document["metrics"]["map:-1"], 1.0);
    for arguments in [
        "select train.svm -k 1 --lambda 1 --test signs.svm --metrics ndcg@5",
        "select signs.svm -k 1 --lambda 1 --criterion ndcg@5",
        "tune train.svm -k 1 --test signs.svm --metrics ndcg@5",
        "tune train.svm -k 1 --validation signs.svm --choose-by ndcg@5",
    ] {
        folder.refused(&format!("{arguments} => ndcg@5 needs grades"));
    }
}

#[test]
fn names_of_data_that_come_with_the_program_are_listed() {
    let folder = Folder::new();
    folder.write("scores.txt", "1\n");
    for name in ["@parse", "@parses-tset", "@data"] {
        let listed = "come with the program are @sentences, @sentences-test";
        folder.refused(&format!("evaluate {name} --scores scores.txt => {listed}"));
    }
    folder.write("@mine", "1 1:1\n");
    folder.stdout("evaluate @mine --rows-per-query 1 --scores scores.txt --metrics p@1");
}
