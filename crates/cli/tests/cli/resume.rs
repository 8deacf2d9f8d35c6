use crate::support::{Folder, TRAIN, generated, keys, list};

const SELECT: &str = "select train.svm --names names.txt --lambda 0.5 --strategy bounded";

#[test]
fn a_run_that_goes_on_ends_in_the_same_model() {
    let folder = Folder::new();
    folder.run(&format!("{SELECT} -k 3 -o whole.json"));
    // There is no model yet.
    let resume = format!("{SELECT} -k 3 -o model.json --resume");
    let (first, errors) = folder.run(&resume);
    assert!(errors.is_empty(), "{errors}");
    assert_eq!(folder.read("model.json"), folder.read("whole.json"));
    let (second, errors) = folder.run(&resume);
    let told = "going on after 3 of 3 features";
    assert!(errors.contains(told), "{errors}");
    assert_eq!(folder.read("model.json"), folder.read("whole.json"));
    let table = |text: &str| text.split_once("\n\n").unwrap().1.to_owned();
    assert_eq!(table(&first), table(&second));
    folder.misused(&format!("{SELECT} -k 3 --resume => --output"));
}

#[test]
fn test_data_are_measured_along_the_whole_path() {
    let folder = Folder::new();
    let select = format!("{SELECT} -k 3 --test test.svm --json -o model.json --resume");
    let (first, second) = (folder.json(&select), folder.json(&select));
    for (first, second) in list(&first["steps"]).iter().zip(list(&second["steps"])) {
        assert_eq!(first["test"], second["test"]);
        assert_eq!(first["lqo_error"], second["lqo_error"]);
    }
    assert!(keys(&second["steps"][0]).contains(&"test"));
}

#[test]
fn a_model_grows_to_the_model_of_more_features() {
    let folder = Folder::new();
    for options in [
        "--lambda 0.5 --strategy bounded",
        "--lambda 1/16u",
        "--lambda auto",
        "--lambda 0.5 --strategy sampled --candidates 2 --seed 5",
        "--lambda 0.5 --strategy sampled --seed 2",
        "--lambda 2 --criterion ndcg@2 --convention letor --query-weight pairs",
    ] {
        let select = format!("select big.svm {options}");
        folder.write("big.svm", generated(60, 20));
        // Folds choose it once, for the fewer features.
        let whole = if options.contains("auto") { 2 } else { 4 };
        folder.run(&format!("{select} -k {whole} -o whole.json"));
        folder.run(&format!("{select} -k 2 -o model.json"));
        folder.warns(&format!(
            "{select} -k {whole} -o model.json --resume => going on after 2 of {whole} features"
        ));
        let (found, expected) = (folder.read("model.json"), folder.read("whole.json"));
        assert_eq!(found, expected, "{options}");
    }
}

/// The refusal names each setting that differs, and the model stays.
#[test]
fn other_runs_are_refused() {
    let folder = Folder::new();
    folder.run(&format!("{SELECT} -k 3 -o model.json"));
    let before = folder.read("model.json");
    for (options, told) in [
        ("--lambda 0.25 -k 3", "lambda was 0.5 and is 0.25 now"),
        (
            "--lambda 0.5 -k 2",
            "has 3 features: expected as many or more as -k, found 2",
        ),
        (
            "--lambda 0.5 -k 3 --scale sd",
            "scale was not given and is sd now",
        ),
        (
            "--lambda 0.5 -k 3 --strategy dense",
            "strategy was bounded and is dense now",
        ),
        (
            "--lambda 0.5 -k 3 --criterion map",
            "criterion was not given and is map",
        ),
    ] {
        let select = format!("select train.svm --names names.txt {options} -o model.json");
        folder.refused(&format!("{select} --resume => {told}"));
        assert_eq!(folder.read("model.json"), before, "{options}");
    }
    folder.run("train train.svm --lambda 1 -o all.json");
    let all = folder.read("all.json");
    let refused = "all.json: the features were not selected but all";
    folder.refused(&format!("{SELECT} -k 3 -o all.json --resume => {refused}"));
    assert_eq!(folder.read("all.json"), all);
    folder.write("text.json", "no model");
    folder.refused(&format!(
        "{SELECT} -k 3 -o text.json --resume => text.json:1:"
    ));
    let other = before.replacen("\"lqo_error\": ", "\"lqo_error\": 1", 1);
    folder.write("other.json", &other);
    let refused = "step 1 of the earlier run cannot be taken again: the held-out error is";
    folder.refused(&format!(
        "{SELECT} -q -k 3 -o other.json --resume => {refused}"
    ));
    assert_eq!(folder.read("other.json"), other);
    folder.write("train.svm", TRAIN.replace("2:0.3", "2:0.4"));
    folder.refused(&format!(
        "{SELECT} -k 3 -o model.json --resume => trained on other data"
    ));
    assert_eq!(folder.read("model.json"), before);
}

#[test]
fn the_model_is_written_while_it_grows() {
    let folder = Folder::new();
    folder.write("big.svm", generated(300, 200));
    let select = "select big.svm -k 60 --lambda 1 --strategy dense";
    folder.run(&format!("{select} -o whole.json"));
    let mut command = folder.command(&format!("{select} -q -o model.json"));
    let mut child = command.env("RANKRLS_SAVE_SECONDS", "0").spawn().unwrap();
    while !folder.path("model.json").exists() {
        std::thread::yield_now();
    }
    // It may have ended.
    let _ = child.kill();
    child.wait().unwrap();
    let model = folder.document("model.json");
    assert!((1..=60).contains(&list(&model["steps"]).len()));
    folder.run(&format!("{select} -o model.json --resume"));
    assert_eq!(folder.read("model.json"), folder.read("whole.json"));
}

#[test]
fn strategies_that_are_named_twice_are_refused() {
    let folder = Folder::new();
    folder.fails(
        "tune train.svm -k 3 --strategies dense,distil,dense --evidence folds:2",
        2,
    );
}
