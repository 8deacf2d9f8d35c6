use std::path::Path;

use proptest::prelude::*;
use serde_json::{Value, json};

use super::file::SCHEMA;
use super::*;
use crate::columns::ColumnClasses;
use crate::data::Dataset;
use crate::data::read::{Format, Missing, ReadOptions, TableOptions};
use crate::greedy::job::select;
use crate::greedy::{GreedyRankRls, unwatched};
use crate::lambda::Lambda;
use crate::memory::Memory;
use crate::ridge::{Cell, Fit, Kernel, RankRls, Solver, Training};

const TEXT: &str = "\
2 qid:a 1:1 2:0.3 4:1 5:1
1 qid:a 2:1 3:0.5 5:1
0 qid:a 3:1 5:1
1 qid:b 1:1 2:2 4:1
0 qid:b 2:1
";

fn data() -> Dataset<'static> {
    let loaded = ReadOptions::new().read_from(TEXT.as_bytes(), "f");
    let names = ["one", "zwei", "", "four", "five"];
    loaded
        .unwrap()
        .dataset
        .with_names(names.into_iter().collect())
        .unwrap()
}

fn model() -> Model {
    let data = data();
    // Neither the seed nor the memory has an effect on it.
    let options = GreedyRankRls {
        seed: Some(9),
        memory: Memory::limit(1 << 30),
        ..GreedyRankRls::new(3, Lambda::new(0.3).unwrap())
    };
    let selection = select(&data, &options, &mut unwatched).unwrap();
    let summary = ColumnClasses::new(&data).summary();
    Model::from_selection(&selection, &data, &summary, DataHash::of(&data))
}

/// Trained on all columns but one, without names.
fn trained() -> Model {
    let fit = Fit::Linear(vec![(0, 0.5), (1, -0.125), (2, 1e-3), (3, 0.5)]);
    let cell = Cell {
        kernel: Kernel::LINEAR,
        lambda: Lambda::new(2.0).unwrap(),
        condition: 1.0,
        holdout: None,
        measure: None,
        iterations: None,
        residual: None,
    };
    let training = Training {
        cells: vec![cell],
        best: 0,
        fit,
        solver: Solver::Dual,
        unit: 1.0,
        held_out: None,
    };
    let (data, choice, options) = (data(), FeatureChoice::All, RankRls::default());
    let summary = ColumnClasses::new(&data).summary();
    let mut model = Model::from_training(&training, choice, &data, &summary, &options).unwrap();
    model.features[2].name = None;
    model
}

fn text(model: &Model) -> String {
    let mut text = Vec::new();
    model.write_to(&mut text).unwrap();
    String::from_utf8(text).unwrap()
}

fn parse(text: &str) -> crate::error::Result<Model> {
    Model::parse(text.as_bytes(), Path::new("m.json"))
}

#[test]
fn every_choice_of_features_reads_back() {
    for choice in FeatureChoice::every() {
        let json = serde_json::to_string(&choice).unwrap();
        assert_eq!(json, format!("\"{choice}\""));
        let again: FeatureChoice = serde_json::from_str(&json).unwrap();
        assert_eq!(again, choice);
    }
    let error = serde_json::from_str::<FeatureChoice>("\"auto\"").unwrap_err();
    let error = error.to_string();
    assert!(error.contains("`random`, `own`, `all`, `given`"), "{error}");
}

#[test]
fn models_read_back_with_all_that_they_keep() {
    let names = ["a", "b", "", "d \u{1}", "e"].map(str::to_owned);
    let mut whole = model().with_column_names(names.to_vec());
    whole.table = TableOptions {
        label: Some("grade".to_owned()),
        missing: Some(Missing::Value(0.5)),
        ignore: vec!["note".to_owned()],
        ..TableOptions::default()
    };
    let value: Value = serde_json::from_str(&text(&whole)).unwrap();
    let table = json!({"label": "grade", "missing": 0.5, "ignore": ["note"]});
    assert_eq!(value["table"], table);
    let name = |feature: &SelectedFeature| Some(names[feature.feature as usize].clone());
    assert!(whole.features.iter().all(|own| own.name == name(own)));
    let folder = tempfile::tempdir().unwrap();
    let mut unfinished = model();
    unfinished.unfinished = Some(Unfinished { taken: 3, asked: 9 });
    for model in [model(), trained(), whole, unfinished] {
        assert_eq!(text(&parse(&text(&model)).unwrap()), text(&model));
        for name in ["m.json", "m.json.gz", "m.json.zst"] {
            let path = folder.path().join(name);
            model.write(&path).unwrap();
            assert_eq!(Model::read(&path).unwrap(), model);
        }
    }
    let text = text(&trained());
    for line in [
        r#"  "strategy": "all","#,
        r#"    {"feature":2,"name":"zwei","weight":-0.125},"#,
        r#"    {"feature":3,"weight":0.001},"#,
    ] {
        assert!(text.lines().any(|own| own == line), "{text}");
    }
}

#[test]
fn classes_names_and_indices_are_those_of_the_data() {
    let model = model();
    let first = model.features.iter().find(|f| f.feature == 0).unwrap();
    assert_eq!(first.name.as_deref(), Some("one"));
    assert_eq!(first.identical, [3]);
    let value: Value = serde_json::from_str(&text(&model)).unwrap();
    let features = value["steps"].as_array().unwrap();
    let entry = features.iter().find(|f| f["feature"] == 1).unwrap();
    assert_eq!(entry["identical"], json!([4]));
    assert_eq!(value["index_base"], 1);
    assert_eq!(value["data"]["columns"], 5);
    assert_eq!(value["data"]["constant_columns"], 1);
    assert_eq!(value["data"]["column_classes"], 3);
    // Nothing was drawn.
    assert_eq!(value["settings"].get("seed"), None);
}

/// A file may claim any number of columns.
#[test]
fn names_take_no_memory_for_columns_between_them() {
    let mut document: Value = serde_json::from_str(&text(&model())).unwrap();
    document["data"]["columns"] = json!(u32::MAX - 1);
    document["steps"][0]["name"] = json!("far");
    let model = parse(&document.to_string()).unwrap();
    let names = model.feature_names();
    assert!(names.memory() < 1000);
    let feature = model.features[0].feature;
    assert_eq!(names.of(feature), Some("far"));
    assert_eq!(names.len(), model.features.len());
    let table = TableOptions::default();
    let as_csv = ReadOptions::new().format(Format::Csv).table(table);
    let unlabelled = as_csv.unlabelled(true).width(model.data.columns);
    let options = unlabelled.columns(FeatureNames::of_some([(feature, "far")]));
    let read = options.read_from(&b"near,far\n1,2\n"[..], "f").unwrap();
    assert_eq!(
        model.scores(&read.dataset),
        [2.0 * model.features[0].weight]
    );
}

#[test]
fn names_of_other_data_are_refused() {
    let model = model();
    let check = |texts: &[&str]| {
        let given: FeatureNames = texts.iter().collect();
        let checked = model.check_names(&given, Path::new("n.txt"));
        checked.map_err(|error| error.to_string())
    };
    // The third column has no name in the model, and the last ones have none in the data.
    assert_eq!(check(&["one", "zwei", "drei", "", "five"]), Ok(()));
    assert_eq!(check(&["one", "zwei"]), Ok(()));
    assert_eq!(check(&[]), Ok(()));
    let place = model.features[0].feature as usize;
    let mut names = ["one", "zwei", "", "four", "five"];
    let name = std::mem::replace(&mut names[place], "other");
    let expected = format!(
        "n.txt: expected {name:?} as the name of column {}, as the model has it, found \"other\"",
        place + 1
    );
    let message = check(&names).unwrap_err();
    assert!(message.starts_with(&expected), "{message}");
}

#[test]
fn scores_are_those_of_the_weights() {
    let (model, data) = (model(), data());
    let mut expected = vec![0.0; data.rows()];
    for feature in &model.features {
        for (row, value) in data.column(feature.feature as usize).iter() {
            expected[row] += feature.weight * value;
        }
    }
    assert_eq!(model.scores(&data), expected);
}

/// Text that is no model, and a part of the message.
const NO_MODELS: &str = r#"
1 qid:1 1:1       => 1:1: expected a model of rankrls in JSON
                  => 1:1: expected a model of rankrls in JSON
{ "schema": }     => 1:13: expected a model of rankrls in JSON
{"schema": 1}     => 1:12: expected a model of rankrls in JSON
[]                => 1:1: expected a model of rankrls in JSON
{}                => found none
{"schema": null}  => found none
{"a": [[1]]}      => found none
"#;

/// A place in a model that was selected, what may not stand there, and a part of the message.
const OF_SELECTED: &str = r#"
/schema                => "rankrls.model/1"            => expected schema "rankrls.model/2", found "rankrls.model/1"
/schema                => "rankrls.model/1"            => another version
/schema                => "rankrls.selection/1"        => models are written by `rankrls select -o`
/index_base            => 2                            => index_base: expected 0 or 1
/lambda                => 0.0                          => lambda is 0
/lambda                => -1                           => lambda is -1
/strategy              => "best"                       => unknown variant
/unfinished            => {"taken": 2, "asked": 9}     => unfinished.taken: expected 3
/unfinished            => {"taken": 3, "asked": 3}     => unfinished.asked: expected more than 3
/unfinished            => {"taken": 3}                 => missing field `asked`
/extra                 => 1                            => unknown field `extra`
/settings              => {"seed": 1}                  => seed: expected a seed together
/settings              => {"sample": 0, "seed": 1}     => settings.sample: expected 1
/settings              => {"k": 3}                     => settings: expected no strategy
/settings              => {"mu": 3}                    => unknown field `mu`
/table                 => {"missing": "median"}        => expected a model of rankrls in JSON
/column_names          => ["a"]                        => column_names: expected 5 names
/steps                 => []                           => steps: expected from 1 to 3
/steps/0/weight        => null                         => f64
/steps/0/feature       => 0                            => from 1 to 5, found 0
/steps/0/feature       => 6                            => from 1 to 5, found 6
/steps/0/identical     => [5, 5]                       => 5 twice
/steps/0/lqo_error     => -1                           => steps[0].lqo_error
/steps/0/lqo_error     => null                         => steps[0].lqo_error: expected a finite number from 0 on, found none
/steps/0/lqo_cindex    => 1.5                          => steps[0].lqo_cindex
/data/rows             => 18446744073709551615         => data.rows: expected
/data/queries          => 9                            => a number from 1 to 5
/data/hash             => "00"                         => 64 hexadecimal digits
/data/columns          => 0                            => data.columns: expected
/data/columns          => 1099511627776                => data.columns
/data/nonzeros         => 26                           => data.nonzeros: expected
/data/constant_columns => 6                            => data.constant_columns
/data/column_classes   => 5                            => data.column_classes
"#;

/// The same of a model that was trained.
const OF_TRAINED: &str = r#"
/strategy              => "bounded"                    => to 3 features, one a column
/settings              => {"sample": 5, "seed": 1}     => seed: expected none
/unfinished            => {"taken": 4, "asked": 9}     => unfinished: expected none, with strategy all
/data/constant_columns => 2                            => columns that vary
/steps/0 => {"feature": 1, "weight": 1.0, "lqo_error": 1.0} => none, with strategy all
"#;

#[test]
fn what_is_no_model_is_refused() {
    let check = |text: &str, message: &str| {
        let error = parse(text).unwrap_err().to_string();
        let legal = error.starts_with("m.json:") && error.contains(message);
        assert!(legal, "{text}: {error}\nlacks: {message}");
    };
    for case in NO_MODELS.trim().lines() {
        let (text, message) = case.split_once("=>").unwrap();
        check(text.trim(), message.trim());
    }
    check("{\n \"schema\": }", "m.json:2:12: expected a model");
    let mut twice: Value = serde_json::from_str(&text(&model())).unwrap();
    twice["steps"][1] = twice["steps"][0].clone();
    check(&twice.to_string(), "every index once");
    for (model, cases) in [(model(), OF_SELECTED), (trained(), OF_TRAINED)] {
        for case in cases.trim().lines() {
            let parts: Vec<&str> = case.split("=>").map(str::trim).collect();
            let [place, value, message] = parts[..] else {
                panic!("{case}");
            };
            let mut document: Value = serde_json::from_str(&text(&model)).unwrap();
            let value = serde_json::from_str(value).unwrap();
            match document.pointer_mut(place) {
                Some(own) => *own = value,
                None => document[&place[1..]] = value,
            }
            check(&document.to_string(), message);
        }
    }
}

#[test]
fn hostile_text_is_an_error() {
    let deep = format!(
        "{{\"schema\": \"{SCHEMA}\", \"steps\": {}",
        "[".repeat(1_000_000)
    );
    assert!(parse(&deep).is_err());
    let whole = text(&model());
    let huge = whole.replacen("\"weight\": ", "\"weight\": 1e999, \"was\": ", 1);
    let error = parse(&huge).unwrap_err().to_string();
    assert!(error.contains("out of range"), "{error}");
    let twice = whole.replacen("\"index_base\"", "\"index_base\": 1, \"index_base\"", 1);
    let error = parse(&twice).unwrap_err().to_string();
    assert!(error.contains("duplicate field"), "{error}");
    for end in 0..whole.trim_end().len() {
        assert!(parse(&whole[..end]).is_err(), "{end}");
    }
}

#[test]
fn what_would_not_read_back_is_not_written() {
    let mut broken = model();
    broken.features[1].weight = f64::NAN;
    assert!(broken.write_to(std::io::sink()).is_err());
    let mut broken = model();
    broken.features[0].lqo_error = Some(f64::INFINITY);
    assert!(broken.write_to(std::io::sink()).is_err());
}

proptest! {
    #[test]
    fn all_floats_read_back_to_the_same_bits(
        weights in proptest::collection::vec(
            prop::num::f64::NORMAL | prop::num::f64::SUBNORMAL | prop::num::f64::ZERO,
            3,
        ),
        error in 0.0..f64::MAX,
    ) {
        let mut model = model();
        for (feature, weight) in model.features.iter_mut().zip(weights) {
            feature.weight = weight;
        }
        model.features[0].lqo_error = Some(error);
        let again = parse(&text(&model)).unwrap();
        for (before, after) in model.features.iter().zip(&again.features) {
            prop_assert_eq!(before.weight.to_bits(), after.weight.to_bits());
        }
        prop_assert_eq!(again, model);
    }
}
