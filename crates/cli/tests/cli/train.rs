use std::fmt::Write as _;

use crate::support::{Folder, generated, list, number};

#[test]
fn a_model_of_all_features_is_trained() {
    let folder = Folder::new();
    let document = folder.json("train train.svm --lambda 2 --names names.txt -o model.json --json");
    // Columns 5 and 6 are constant in every query.
    assert_eq!(document["weights"], 5);
    assert_eq!(document["data"]["column_classes"], 4);
    assert_eq!(document["holdout"]["squared"], document["lqo_error"]);
    assert_eq!(document["lambdas"][0]["lqo_error"], document["lqo_error"]);
    let model = folder.json("inspect model.json --json");
    assert_eq!(list(&model["steps"]).len(), 5);
    // Columns 1 and 4 are equal, and so are their weights.
    let weight = |index: u64| {
        let features = list(&model["steps"]);
        let feature = features.iter().find(|feature| feature["feature"] == index);
        number(&feature.unwrap()["weight"])
    };
    assert_eq!(weight(1).to_bits(), weight(4).to_bits());
    // A score is the sum of weight times value.
    let scores = folder.scores("predict model.json test.svm -q");
    assert_eq!(scores[2].to_bits(), weight(3).to_bits());
    let evaluation = folder.json("evaluate test.svm --model model.json --metrics cindex --json");
    assert!(evaluation["metrics"]["cindex"].is_number());
}

#[test]
fn a_list_names_features_as_the_data_do() {
    let folder = Folder::new();
    folder.write("list.txt", "# two, and one that is constant\n3\n1\n5\n");
    let document = folder.json("train train.svm --lambda 1 --features list.txt -o m.json --json");
    assert_eq!(document["weights"], 2);
    let model = folder.json("inspect m.json --json");
    assert_eq!(model["steps"][0]["feature"], 1);
    assert_eq!(model["steps"][1]["feature"], 3);
    assert_eq!(model["data"]["columns"], 7);
    folder.prints(
        "train train.svm --lambda 1 --features list.txt \
         => weights of 2 features out of the given ones\n",
    );
    folder.write("list.txt", "5\n");
    let error = folder.fails("train train.svm --lambda 1 --features list.txt", 1);
    let message = "nothing to train on: the given feature is constant within every query";
    assert!(error.contains(message), "{error}");
}

#[test]
fn of_several_lambdas_the_best_is_kept() {
    let folder = Folder::new();
    folder.write("data.svm", generated(60, 30));
    let lambdas = "0.5,1,2^1..2^8";
    let document = folder.json(&format!(
        "train data.svm --lambda {lambdas} -o m.json --json"
    ));
    let entries = list(&document["lambdas"]);
    assert_eq!(entries.len(), 10);
    let error = |entry: &serde_json::Value| number(&entry["lqo_error"]);
    let least = entries.iter().map(error).fold(f64::INFINITY, f64::min);
    assert_eq!(document["lqo_error"], least);
    let best = entries.iter().find(|entry| error(entry) == least).unwrap();
    assert_eq!(document["lambda"], best["lambda"]);
    assert_eq!(
        folder.json("inspect m.json --json")["lambda"],
        best["lambda"]
    );
    folder.prints(
        "train data.svm --lambda 1,2 --holdout folds:3 --seed 5 => hold-outs: folds:3, seed 5",
    );
    // Without any lambda, a grid is tried.
    let document = folder.json("train data.svm --json");
    assert!((5..=8).contains(&list(&document["lambdas"]).len()));
}

#[test]
fn a_hold_out_says_how_it_was_taken() {
    let folder = Folder::new();
    let train = "train train.svm --lambda 3,0.5";
    let folds = folder.json(&format!("{train} --holdout folds:3 --seed 9 --json"));
    assert_eq!(folds["holdout"]["scheme"], "folds:3");
    assert_eq!(folds["holdout"]["seed"], 9);
    assert!(folds["lqo_error"].is_null());
    // With cg, a list trains once, for the best lambda.
    folder.prints(&format!(
        "{train} --solver cg -o m.json -q => hold-outs: lqo by cg to 1e-6; "
    ));
    let none = folder.json("train train.svm --lambda 3 --holdout none --json");
    assert!(none["holdout"].is_null() && none["lqo_error"].is_null());
}

/// With fifty thousand entries a query, leave-query-out would train too often.
#[test]
fn a_list_of_lambdas_works_at_any_size() {
    let folder = Folder::new();
    let mut data = String::new();
    for row in 0..2400_usize {
        write!(data, "{} qid:{}", (row * row) % 7, row / 6).unwrap();
        let columns = (0..260)
            .map(|place| 1 + place * 16 + ((row + 1) * (place + 1) * (row + place)) % 1009 % 16);
        columns.for_each(|column| write!(data, " {column}:1").unwrap());
        data.push('\n');
    }
    folder.write("data.svm", data);
    let document =
        folder.json("train data.svm --lambda 16,256,4096 --solver cg -o m.json --json -q");
    assert_eq!(document["holdout"]["scheme"], "folds:5");
    let (least, all) = (&document["holdout"]["squared"], &document["lambdas"]);
    for entry in all.as_array().unwrap() {
        assert!(entry["holdout"]["squared"].as_f64() >= least.as_f64());
        assert!(entry["lqo_cindex"].is_null());
    }
}
