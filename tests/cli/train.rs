use crate::support::{Folder, generated, keys};

#[test]
fn a_model_of_all_features_is_trained() {
    let folder = Folder::new();
    let document = folder.json("train train.svm --lambda 2 --names names.txt -o model.json --json");
    assert_eq!(document["schema"], "rankrls.training/1");
    for key in [
        "lqo_error",
        "lqo_cindex",
        "load_seconds",
        "train_seconds",
        "peak_rss_bytes",
    ] {
        assert!(keys(&document).contains(&key), "{key}");
    }
    assert_eq!(document["lambda"], 2.0);
    assert_eq!(document["solver"], "primal");
    assert_eq!(document["features"], "all");
    // Columns 5 and 6 are constant in every query.
    assert_eq!(document["weights"], 5);
    assert_eq!(document["data"]["column_classes"], 4);
    assert!(document["folds"].is_null());
    let entry = &document["lambdas"][0];
    assert_eq!(entry["lqo_error"], document["lqo_error"]);
    assert!(entry["iterations"].is_null());

    let model = folder.json("inspect model.json --json");
    assert_eq!(
        (&model["strategy"], &model["lambda"]),
        (&"all".into(), &2.0.into())
    );
    assert_eq!(model["features"].as_array().unwrap().len(), 5);
    // Columns 1 and 4 are equal, and so are their weights.
    let weight = |index: u64| {
        let features = model["features"].as_array().unwrap();
        let feature = features.iter().find(|feature| feature["index"] == index);
        feature.unwrap()["weight"].as_f64().unwrap()
    };
    assert_eq!(weight(1).to_bits(), weight(4).to_bits());
    let text = folder.stdout("inspect model.json --top 2");
    assert!(text.contains("strategy all, lambda 2\n"), "{text}");
    assert!(
        text.contains("word:a") && text.contains("2 of 5 features"),
        "{text}"
    );

    // A score is the sum of weight times value.
    let scores = folder.stdout("predict model.json test.svm -q");
    let third: f64 = scores.lines().nth(2).unwrap().parse().unwrap();
    assert_eq!(third.to_bits(), weight(3).to_bits());
    let evaluation = folder.json("evaluate test.svm --model model.json --metrics cindex --json");
    assert!(evaluation["metrics"]["cindex"].is_number());
}

/// Selection of all classes ends with the model of all features, but for the weights of columns
/// that are equal: there, training has two.
#[test]
fn training_on_what_was_selected_gives_what_selection_ended_with() {
    let folder = Folder::new();
    let selection = folder.json("select train.svm -k 3 --lambda 0.5 -o model.json --json");
    let training =
        folder.json("train train.svm --lambda 0.5 --features model.json -o given.json --json");
    let last = &selection["steps"][2];
    for key in ["lqo_error", "lqo_cindex"] {
        let (found, expected) = (training[key].as_f64(), last[key].as_f64());
        assert!((found.unwrap() - expected.unwrap()).abs() < 1e-12, "{key}");
    }
    assert_eq!(training["features"], "given");
    let given = folder.json("inspect given.json --json");
    assert_eq!(given["strategy"], "given");
    let steps = selection["steps"].as_array().unwrap();
    for (step, weight) in steps.iter().zip(selection["weights"].as_array().unwrap()) {
        let features = given["features"].as_array().unwrap();
        let own = features
            .iter()
            .find(|feature| feature["index"] == step["feature"]);
        let found = own.unwrap()["weight"].as_f64().unwrap();
        assert!((found - weight.as_f64().unwrap()).abs() < 1e-12);
    }
}

#[test]
fn a_list_names_features_as_the_data_do() {
    let folder = Folder::new();
    folder.write("list.txt", "# two, and one that is constant\n3\n1\n5\n");
    let document = folder.json("train train.svm --lambda 1 --features list.txt -o m.json --json");
    assert_eq!(document["weights"], 2);
    let model = folder.json("inspect m.json --json");
    assert_eq!(model["features"][0]["index"], 1);
    assert_eq!(model["features"][1]["index"], 3);
    assert_eq!(model["data"]["columns"], 7);
    let text = folder.stdout("train train.svm --lambda 1 --features list.txt");
    assert!(
        text.contains("weights of 2 features out of the given ones\n"),
        "{text}"
    );
    for (list, message) in [
        (
            "8\n",
            "list.txt: line 1: expected an index from 1 to 7, found \"8\"",
        ),
        ("1\nword:a\n", "list.txt: line 2: expected an index"),
        ("5\n", "nothing to train on: all 7 columns are constant"),
    ] {
        folder.write("list.txt", list);
        let error = folder.fails("train train.svm --lambda 1 --features list.txt", 1);
        assert!(error.contains(message), "{error}");
    }
}

#[test]
fn of_several_lambdas_the_best_is_kept() {
    let folder = Folder::new();
    folder.write("data.svm", generated(60, 30));
    let lambdas = "0.5,1,2^1..2^8";
    let document = folder.json(&format!(
        "train data.svm --lambda {lambdas} -o m.json --json"
    ));
    let entries = document["lambdas"].as_array().unwrap();
    assert_eq!(entries.len(), 10);
    let error = |entry: &serde_json::Value| entry["lqo_error"].as_f64().unwrap();
    let least = entries.iter().map(error).fold(f64::INFINITY, f64::min);
    assert_eq!(document["lqo_error"], least);
    let best = entries.iter().find(|entry| error(entry) == least).unwrap();
    assert_eq!(document["lambda"], best["lambda"]);
    assert_eq!(
        folder.json("inspect m.json --json")["lambda"],
        best["lambda"]
    );
    for entry in entries {
        let lambda = entry["lambda"].as_f64().unwrap();
        let alone = folder.json(&format!("train data.svm --lambda {lambda} --json"));
        assert!((error(&alone) - error(entry)).abs() < 1e-9, "{lambda}");
        assert_eq!(alone["lqo_cindex"], entry["lqo_cindex"]);
    }
    let text = folder.stdout("train data.svm --lambda 1,2 --folds 3 --seed 5");
    assert!(
        text.contains("fold error") && text.lines().count() > 7,
        "{text}"
    );
}

#[test]
fn solvers_agree_and_folds_too() {
    let folder = Folder::new();
    folder.write("data.svm", generated(90, 40));
    let run = |solver: &str| {
        folder.json(&format!(
            "train data.svm --lambda 3 --solver {solver} --query-weight size --folds 4 --seed 9 \
             --json"
        ))
    };
    let dual = run("dual");
    assert_eq!(dual["query_weight"], "size");
    assert_eq!(
        (&dual["folds"]["count"], &dual["folds"]["seed"]),
        (&4.into(), &9.into())
    );
    for solver in ["primal", "cg"] {
        let other = run(solver);
        assert_eq!(other["solver"], solver);
        let error = |document: &serde_json::Value| document["folds"]["error"].as_f64().unwrap();
        assert!(
            (error(&other) - error(&dual)).abs() < 1e-8 * error(&dual),
            "{solver}"
        );
        assert_eq!(other["folds"]["cindex"], dual["folds"]["cindex"]);
    }
    let (text, errors) = folder.run("train data.svm --lambda 3 --solver cg");
    assert!(errors.contains("no leave-query-out error"), "{errors}");
    assert!(text.contains("iterations"), "{text}");
    let (text, errors) = folder.run("train data.svm --lambda 3 --solver cg --lqo --json");
    assert_eq!(errors, "");
    let cg: serde_json::Value = serde_json::from_str(&text).unwrap();
    let dual = folder.json("train data.svm --lambda 3 --solver dual --json");
    let difference = cg["lqo_error"].as_f64().unwrap() - dual["lqo_error"].as_f64().unwrap();
    assert!(difference.abs() < 1e-7);
    assert!(cg["lambdas"][0]["residual"].as_f64().unwrap() <= 1e-10);
    let (_, errors) = folder.run("train data.svm --lambda 3 --solver dual --lqo");
    assert!(errors.contains("--lqo has no effect"), "{errors}");
}

#[test]
fn mistakes_are_told() {
    let folder = Folder::new();
    for (arguments, code, message) in [
        ("train train.svm", 2, "--lambda"),
        ("train train.svm --lambda 0", 2, "above 0"),
        ("train train.svm --lambda 1,,2", 2, "empty"),
        (
            "train train.svm --lambda 1 --solver best",
            2,
            "dual, primal, cg",
        ),
        ("train train.svm --lambda 1 --folds 1", 2, "from 2 on"),
        (
            "train train.svm --lambda 1 --folds 4",
            1,
            "4 folds of 3 queries",
        ),
        ("train train.svm --lambda 1 --seed 4", 2, "--folds"),
        ("train - --lambda 1 --features -", 2, "only one input"),
        ("train absent.svm --lambda 1", 1, "absent.svm"),
        ("train train.svm --lambda 1 --features absent", 1, "absent"),
        (
            "train train.svm --lambda 1,2 --solver cg -o m.json",
            1,
            "--lqo",
        ),
    ] {
        let error = folder.fails(arguments, code);
        assert!(error.contains(message), "{arguments}: {error}");
    }
    assert!(!folder.list().contains(&"m.json".to_owned()));
    folder.write("big.svm", "1 qid:1 1:1e200\n0 qid:1 2:1\n");
    let error = folder.fails("train big.svm --lambda 1", 1);
    assert!(error.contains("scale the data"), "{error}");
    folder.stdout("train train.svm --lambda 1 -o model.json");
    let error = folder.fails("inspect model.json --members", 1);
    assert!(error.contains("nothing was selected"), "{error}");
}

#[test]
fn a_solver_that_does_not_fit_names_those_that_do() {
    let folder = Folder::new();
    folder.write("data.svm", generated(2000, 50));
    let limited = "train data.svm --lambda 1 --max-memory 12MiB";
    let error = folder.fails(&format!("{limited} --solver dual"), 1);
    assert!(error.contains("solver dual needs"), "{error}");
    assert!(error.contains("these fit: primal, cg"), "{error}");
    assert_eq!(
        folder.json(&format!("{limited} --json"))["solver"],
        "primal"
    );
}
