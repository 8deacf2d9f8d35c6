use serde_json::Value;

use crate::support::{Folder, generated, list, number};

fn tuned(folder: &Folder, arguments: &str) -> Value {
    folder.json(&format!("tune train.svm --json {arguments}"))
}

/// A folder whose `train.svm` has enough queries for folds.
fn folder() -> Folder {
    let folder = Folder::new();
    folder.write("train.svm", generated(120, 30));
    folder.write("other.svm", generated(60, 30));
    folder
}

#[test]
fn folds_that_nobody_counts_are_no_more_than_queries() {
    let folder = Folder::empty();
    let rows = |queries: usize| -> String {
        let row = |row: usize| {
            format!(
                "{} qid:{} 1:{} 2:{}\n",
                row * 5 % 7 % 3,
                row / 4,
                row * 11 % 13,
                row % 5
            )
        };
        (0..4 * queries).map(row).collect()
    };
    for (queries, folds) in [(3, 3), (4, 4), (5, 5), (12, 5)] {
        folder.write("t.svm", rows(queries));
        folder.prints(&format!(
            "tune t.svm -k 1 --holdout folds => judged by {folds} folds"
        ));
    }
    folder.write("t.svm", rows(15));
    for biased in [
        "--strategy distil",
        "--refit cross-fitted --strategy lowmem",
    ] {
        folder.prints(&format!("tune t.svm -k 1 {biased} => judged by 5 folds"));
    }
    folder.write("t.svm", rows(4));
    // The rest needs a teacher of ten queries.
    folder.refused("tune t.svm -k 1 --strategy distil => expected at least 10");
    folder.refused("tune t.svm -k 1 --holdout folds:5 => 5 folds of 4 queries");
}

#[test]
fn the_model_is_that_of_select() {
    let folder = folder();
    for rule in ["best", "one-se", "min-improvement:0.01:2"] {
        let options = "--strategy lowmem --query-weight pairs";
        let document = tuned(
            &folder,
            &format!("-k 6 -o a.json {options} --choose-by squared --rule {rule}"),
        );
        let (lambda, k) = (&document["chosen"]["lambda"], &document["chosen"]["k"]);
        let select =
            format!("select train.svm -k {k} --lambda {lambda} {options} --json -o b.json");
        let selection = folder.json(&select);
        for key in ["weights", "lambda", "strategy", "ending", "query_weight"] {
            assert_eq!(document["selection"][key], selection[key], "{key}");
        }
        assert_eq!(folder.read("a.json"), folder.read("b.json"));
    }
}

#[test]
fn validation_data_or_folds_may_judge() {
    let folder = folder();
    let document = tuned(&folder, "-k 3 --validation other.svm --choose-by ndcg@10");
    let holdout = &document["options"]["holdout"];
    assert_eq!(holdout["kind"], "validation");
    assert_eq!(holdout["rows"], 60);
    assert_eq!(document["better"], "higher");
    let (lambda, k) = (&document["chosen"]["lambda"], &document["chosen"]["k"]);
    folder.run(&format!(
        "select train.svm -k {k} --lambda {lambda} -o model.json"
    ));
    let found = folder.json("evaluate other.svm --model model.json --metrics ndcg@10 --json");
    assert_eq!(found["metrics"]["ndcg@10"], document["chosen"]["value"]);
    let same = tuned(&folder, "-k 3 --validation other.svm --choose-by ndcg@10");
    assert_eq!(same["table"], document["table"]);
    let folds = tuned(&folder, "-k 3 --holdout folds:3 --seed 4 --lambda 1,4");
    assert_eq!(
        folds["options"]["holdout"],
        serde_json::json!({"kind": "folds", "count": 3, "seed": 4})
    );
    let rule = "-k 3 --holdout lqo --lambda 1 --rule min-improvement:0.02:3";
    let rule = &tuned(&folder, rule)["options"]["rule"];
    assert_eq!(rule["least"], 0.02);
    assert_eq!(rule["patience"], 3);
    let five = tuned(&folder, "-k 3 --holdout folds --lambda 1");
    assert_eq!(five["options"]["holdout"]["count"], 5);
}

#[test]
fn scales_of_labels_are_an_axis_of_the_grid() {
    let folder = folder();
    let options = "-k 2 --holdout folds:3 --lambda 1,4 --strategy dense --label-scale raw,unit";
    let cindex = format!("tune train.svm {options} --choose-by cindex --table models.csv");
    folder.prints(&format!("{cindex} => chosen: labels "));
    assert!(folder.read("models.csv").starts_with("lambda,labels,k,"));
    folder.refused(&format!(
        "tune train.svm {options} => squared errors on them do not compare"
    ));
}

#[test]
fn test_data_have_no_part_in_the_choice() {
    let folder = folder();
    let with = tuned(
        &folder,
        "-k 4 --lambda 1,8 --test other.svm --metrics cindex",
    );
    let without = tuned(&folder, "-k 4 --lambda 1,8 --metrics cindex");
    assert_eq!(
        (&with["chosen"], &with["table"]),
        (&without["chosen"], &without["table"])
    );
    let steps = list(&with["selection"]["steps"]);
    assert!(steps.iter().all(|step| step["test"]["cindex"].is_number()));
    assert_eq!(without["selection"]["steps"][0].get("test"), None);
    let text = folder.stdout("tune train.svm -k 2 --lambda 1 --test other.svm");
    assert!(
        text.contains("test data: 60 rows") && text.contains("mean-ndcg"),
        "{text}"
    );
}

#[test]
fn tables_are_written() {
    let folder = folder();
    let document = tuned(&folder, "-k 3 --lambda 1,8 --metrics map --table t.csv");
    tuned(&folder, "-k 3 --lambda 1,8 --metrics map --table t.json");
    let json = folder.document("t.json");
    assert_eq!(json, document["table"]);
    let text = folder.read("t.csv");
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    let titles = reader.headers().unwrap().clone();
    assert_eq!(
        titles.iter().collect::<Vec<_>>().join(","),
        "lambda,k,feature,name,lqo_error,lqo_cindex,value,standard_error,queries,map,short_folds,note"
    );
    let records: Vec<csv::StringRecord> = reader.records().map(Result::unwrap).collect();
    assert_eq!(records.len(), 6);
    for (record, row) in records.iter().zip(json.as_array().unwrap()) {
        for (title, cell) in titles.iter().zip(record) {
            let expected = row.get(title).or_else(|| row["metrics"].get(title));
            if let Some(expected) = expected.filter(|value| value.is_number()) {
                assert_eq!(cell.parse::<f64>().ok(), expected.as_f64(), "{title}");
            }
        }
    }
}

#[test]
fn a_lambda_in_trouble_is_a_row_that_says_so() {
    let folder = Folder::new();
    folder.write(
        "train.svm",
        "1e150 qid:1 1:1e-160\n-1e150 qid:1 2:1\n1e150 qid:2 2:1\n-1e150 qid:2 1:1e-160\n\
         1e150 qid:3\n0 qid:3 2:1\n1e150 qid:4 1:1\n1e149 qid:4\n",
    );
    let arguments = "tune train.svm -k 2 --lambda 1e-300,1";
    let document = folder.json(&format!("{arguments} --json --table t.csv"));
    assert_eq!(document["paths"][0]["ending"], "refused");
    assert_eq!(document["paths"][1]["ending"], "complete");
    assert_eq!(document["chosen"]["lambda"], 1.0);
    assert!(folder.read("t.csv").contains("too small for these values"));
    folder.prints(&format!(
        "{arguments} => lambda 1e-300 is too small for these values"
    ));
}

#[test]
fn data_without_a_choice_is_refused() {
    let folder = Folder::new();
    folder.write(
        "flat.svm",
        "1 qid:1 1:1\n1 qid:1 2:1\n0 qid:2 1:1\n0 qid:2 2:3\n",
    );
    folder.refused("tune flat.svm -k 2 --choose-by cindex => cindex is undefined in every query");
    folder.write("constant.svm", "1 qid:1 1:1\n0 qid:1 1:1\n");
    folder.refused("tune constant.svm -k 2 => nothing to select from");
    folder.refused("tune train.svm -k 2 --max-memory 2KiB => allowed");
}

#[test]
fn a_seed_without_effect_is_a_warning() {
    let folder = folder();
    let tune = "tune train.svm -k 2 --lambda 1 --validation train.svm";
    for seed in [1, 3] {
        folder.warns(&format!("{tune} --seed {seed} => --seed has no effect"));
    }
}

#[test]
fn the_paths_are_drawn_with_the_choice() {
    let folder = folder();
    let tune = "tune train.svm -k 4 --lambda 0.5,3,2^4 --choose-by cindex --holdout folds:3";
    let (text, _) = folder.run(&format!("{tune} --plot paths.svg"));
    let svg = folder.read("paths.svg");
    let document = roxmltree::Document::parse(&svg).unwrap();
    let lines = document.descendants();
    let lines = lines.filter(|node| node.tag_name().name() == "polyline");
    let expected = 9 + 2;
    assert_eq!(
        lines.count(),
        expected,
        "three lambdas in three panels, and two lines of the choice"
    );
    for label in [
        "cindex, 3 folds",
        "leave-query-out error",
        " lambda 16<",
        ">the chosen path<",
    ] {
        assert!(svg.contains(label), "{label}");
    }
    let chosen = tuned(
        &folder,
        "-k 4 --lambda 0.5,3,2^4 --choose-by cindex --holdout folds:3",
    );
    let chosen = &chosen["chosen"];
    let name = match number(&chosen["lambda"]) {
        0.5 => "0.5",
        3.0 => "3",
        _ => "16",
    };
    let title = format!("lambda {name}, {} feature", chosen["k"]);
    assert!(svg.contains(&title), "{title} in {text}");
    // One in a tooltip, and one in the list of lines.
    assert_eq!(svg.matches("features: the best").count(), 2, "{text}");
    // The standard error of the chosen path, and the values within it of the best one.
    assert_eq!(svg.matches("<polygon").count(), 1);
    assert!(svg.contains(">one standard error from the best: 0."));
    folder.run(&format!("{tune} --plot again.svg --threads 2"));
    assert_eq!(folder.read("again.svg"), svg);
    folder.run(&format!(
        "{tune} --plot tested.svg --test test.svm --metrics map,mrr"
    ));
    let tested = folder.read("tested.svg");
    // The measure and two more are constant over the steps. A note says so in place of panels.
    assert_eq!(tested.matches("<polyline").count(), 11);
    assert!(tested.contains("Constant"), "{tested}");
}

#[test]
fn the_measure_of_the_choice_is_on_the_test_path() {
    let folder = Folder::new();
    let tune = "tune train.svm -k 2 --lambda 1 --choose-by map --test test.svm";
    let document = folder.json(&format!("{tune} --metrics mrr,map,mrr --json"));
    let step = &document["selection"]["steps"][0];
    for key in ["test", "standard_errors"] {
        assert_eq!(crate::support::keys(&step[key]), ["map", "mrr"]);
    }
    let text = folder.stdout(&format!("{tune} --metrics mrr"));
    assert!(
        text.lines()
            .any(|line| line.split_whitespace().eq(["step", "map", "mrr"])),
        "{text}"
    );
    let twice = folder.stdout(&format!("{tune} --metrics map"));
    assert_eq!(
        twice
            .lines()
            .filter(|line| line.trim_start().starts_with("map "))
            .count(),
        1
    );
}

#[test]
fn leave_query_out_values_are_labelled_and_stand_beside_those_of_folds() {
    let folder = folder();
    let document = tuned(&folder, "-k 4 --lambda 1,16,64 --metrics cindex");
    assert_eq!(document["options"]["holdout"]["kind"], "lqo");
    assert_eq!(document["optimistic"], true);
    let by_folds = &document["chosen_by_folds"];
    let (promised, likely) = (&document["chosen"]["value"], &by_folds["mean"]);
    assert!(promised.as_f64() < likely.as_f64(), "{document}");
    // The same as folds for this path alone.
    let (lambda, k) = (&document["chosen"]["lambda"], &document["chosen"]["k"]);
    let folds = format!("-k {k} --lambda {lambda} --holdout folds --metrics cindex");
    let folds = tuned(&folder, &folds);
    assert_eq!(folds["optimistic"], false);
    assert!(folds["chosen_by_folds"].is_null());
    let rows = list(&folds["table"]);
    let last = rows.last().unwrap();
    assert_eq!(by_folds["mean"], last["value"]);
    assert_eq!(by_folds["standard_error"], last["standard_error"]);
    assert_eq!(by_folds["metrics"], last["metrics"]);
    let text = folder.stdout("tune train.svm -k 4 --lambda 1,16");
    for part in [
        "optimistic: features were",
        "(optimistic)\n",
        "by 5 folds, seed 1: squared ",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
}

#[test]
fn many_candidates_are_judged_by_folds_unless_somebody_asks_otherwise() {
    let folder = Folder::new();
    folder.write("train.svm", generated(60, 200));
    let document = tuned(&folder, "-k 3 --lambda 4,16");
    assert_eq!(document["options"]["holdout"]["kind"], "folds");
    assert_eq!(document["options"]["holdout"]["count"], 5);
    let reason = document["holdout_reason"].as_str().unwrap();
    assert!(reason.contains("column classes for 6 queries"), "{reason}");
    let text = folder.stdout("tune train.svm -k 3 --lambda 4,16");
    assert!(text.contains("judged by 5 folds, seed 1\n"), "{text}");
    assert!(text.contains("--holdout lqo takes them"), "{text}");
    let document = tuned(&folder, "-k 3 --lambda 4,16 --holdout lqo");
    assert_eq!(document["options"]["holdout"]["kind"], "lqo");
    assert!(document["holdout_reason"].is_null());
}

#[test]
fn the_folds_that_select_a_feature_are_counted() {
    let folder = folder();
    let document = tuned(&folder, "-k 4 --lambda 16 --holdout folds:4 --seed 3");
    let stability = &document["stability"];
    assert_eq!(stability["selections"], 4);
    let index = number(&stability["index"]);
    let interval = list(&stability["interval"]);
    let [low, high] = [0, 1].map(|side| number(&interval[side]));
    assert!(low <= index && index <= high && index <= 1.0);
    let frequencies = list(&stability["frequencies"]);
    let counts = frequencies
        .iter()
        .map(|found| found["selections"].as_u64().unwrap());
    let k = document["chosen"]["k"].as_u64().unwrap();
    assert_eq!(counts.sum::<u64>(), 4 * k);
    for step in list(&document["selection"]["steps"]) {
        let found = frequencies
            .iter()
            .find(|found| found["feature"] == step["feature"]);
        let expected = found.map_or(0, |found| found["selections"].as_u64().unwrap());
        assert_eq!(step["folds"], expected);
    }
    folder.prints(
        "tune train.svm -k 4 --lambda 16 --holdout folds:4 => stability of the features over 4 folds: ",
    );
}

/// Lists narrow the folds' choice, and then the grid uses the choice. Given lambdas make the grid use every
/// strategy and scale of labels.
#[test]
fn lists_narrow_the_choice() {
    let folder = Folder::new();
    let tune = "tune @documents -k 4 --holdout folds:3 --json";
    let names = |list: &Value| -> Vec<String> {
        let list = list.as_array().into_iter().flatten();
        list.map(|tried| tried["name"].as_str().unwrap().to_owned())
            .collect()
    };
    let found = folder.json(&format!(
        "{tune} --scale sd,max --strategy backfit,bounded --label-scale sqrt-sd"
    ));
    let choice = &found["choice"];
    assert_eq!(names(&choice["scale"]), ["sd", "max"]);
    assert_eq!(names(&choice["strategy"]), ["backfit", "bounded"]);
    assert_eq!(choice["label_scale"], Value::Null);
    let strategies = list(&found["paths"]).iter().map(|path| &path["strategy"]);
    let strategies: Vec<&Value> = strategies.collect();
    assert!(strategies.windows(2).all(|pair| pair[0] == pair[1]));
    assert_eq!(found["selection"]["label_scale"], "sqrt-sd");
    // One value of each is given, so only lambda is open.
    let given = folder.json(&format!(
        "{tune} --scale sd --strategy bounded --label-scale raw --lambda 1/64u,1/16u"
    ));
    assert_eq!(given["choice"], Value::Null);
    assert_eq!(given["selection"]["scale"], "sd");
    // Scales are chosen under the given lambdas.
    let scaled = folder.json(&format!(
        "{tune} --scale none,sd --strategy bounded,backfit --lambda 1/64u,1/16u --choose-by cindex"
    ));
    assert_eq!(names(&scaled["choice"]["scale"]), ["none", "sd"]);
    assert_eq!(names(&scaled["choice"]["lambda"]), ["1/64u", "1/16u"]);
    assert_eq!(scaled["selection"]["scale"], "sd");
    assert_eq!(list(&scaled["paths"]).len(), 4);
}
