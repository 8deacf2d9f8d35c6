//! The compiled corpora against `parses.json`, which dense NumPy made from the same files and the paper. It centres
//! columns within queries and runs Algorithm 1 with ties to the lowest feature. It checks every error by retraining
//! without each query. Its features count from 1, as in the files. `readable.py` makes `readable.json` of the other
//! two corpora.

use std::collections::BTreeMap;

use rankrls::data::LabelScale;
use rankrls::data::sample::{self, DOCUMENTS, PARSES, SENTENCES, Sample};
use rankrls::greedy::WeightTarget;
use rankrls::greedy::job::{select, unwatched};
use rankrls::metrics::{Convention, Metric, evaluate};
use rankrls::{
    ColumnClasses, Dataset, GreedyRankRls, Lambda, Lambdas, RankRls, Selection, Solver,
    StrategyKind,
};
use serde::Deserialize;

use crate::oracle::by;

#[derive(Deserialize)]
struct Golden {
    /// By ridge parameter.
    greedy: BTreeMap<String, Greedy>,
    /// By ridge parameter.
    rankrls: BTreeMap<String, Trained>,
    distil: Distil,
    unit: Unit,
}

#[derive(Deserialize)]
struct Unit {
    u: f64,
}

#[derive(Deserialize)]
struct Greedy {
    features: Vec<u32>,
    lqo_errors: Vec<f64>,
    weights: Vec<f64>,
    test_cindex: f64,
}

#[derive(Deserialize)]
struct Trained {
    lqo_error: f64,
    test_cindex: f64,
}

#[derive(Deserialize)]
struct Distil {
    lambda: f64,
    blend: f64,
    refit_lambda: f64,
    teacher: Teacher,
    features: Vec<u32>,
    weights: Vec<f64>,
    test_cindex: f64,
}

#[derive(Deserialize)]
struct Teacher {
    /// By ridge parameter.
    lqo_errors: BTreeMap<String, f64>,
    chosen: f64,
}

fn golden() -> Golden {
    serde_json::from_str(include_str!("parses.json")).unwrap()
}

fn lambda(text: &str) -> Lambda {
    text.parse().unwrap()
}

fn assert_close(found: f64, expected: f64) {
    assert!(
        (found - expected).abs() <= 1e-9 * expected.abs(),
        "{found} for {expected}"
    );
}

fn cindex(data: &Dataset<'_>, scores: &[f64]) -> f64 {
    let measured = evaluate(
        &[Metric::CONCORDANCE],
        data.labels(),
        scores,
        data.queries(),
        Convention::Standard,
    );
    measured.unwrap()[0].1.mean.unwrap()
}

/// Checks features, weights, and scores of unseen sentences.
fn assert_model(
    selection: &Selection,
    features: &[u32],
    weights: &[f64],
    test: &Dataset<'_>,
    test_cindex: f64,
) {
    let found: Vec<u32> = selection.features().iter().map(|f| f + 1).collect();
    assert_eq!(found, features, "{}", selection.options.strategy);
    for (&found, &expected) in selection.weights.iter().zip(weights) {
        assert_close(found, expected);
    }
    let scores = test.scores(&selection.features(), &selection.weights);
    assert_close(cindex(test, &scores), test_cindex);
}

#[test]
fn the_unit_is_the_mean_squared_norm_of_a_row() {
    assert_close(ColumnClasses::new(&sample::train()).unit(), golden().unit.u);
}

#[test]
fn every_exact_strategy_is_algorithm_1() {
    let readable = serde_json::from_str(include_str!("readable.json"));
    let mut readable: BTreeMap<String, BTreeMap<String, Greedy>> = readable.unwrap();
    readable.insert(PARSES[0].name.to_owned(), golden().greedy);
    for corpus in [PARSES, SENTENCES, DOCUMENTS] {
        assert_algorithm_1(corpus, readable.remove(corpus[0].name).unwrap());
    }
}

fn assert_algorithm_1(corpus: [Sample; 2], golden: BTreeMap<String, Greedy>) {
    let [data, test] = corpus.map(sample::read);
    for (lambda_, expected) in golden {
        for strategy in StrategyKind::ALL.into_iter().filter(|s| s.is_exact()) {
            let options = by(strategy, expected.features.len(), lambda(&lambda_).value());
            let selection = select(&data, &options, &mut unwatched).unwrap();
            let Greedy {
                features, weights, ..
            } = &expected;
            assert_model(&selection, features, weights, &test, expected.test_cindex);
            for (step, &error) in selection.steps.iter().zip(&expected.lqo_errors) {
                assert_close(step.lqo_error, error);
            }
        }
    }
}

#[test]
fn every_solver_trains_on_all_features() {
    let (data, test) = (sample::train(), sample::test());
    let expected = golden().rankrls;
    let lambdas: Vec<Lambda> = expected.keys().map(|text| lambda(text)).collect();
    for solver in [Solver::Dual, Solver::Primal] {
        let params = |lambdas| RankRls {
            lambdas,
            solver: Some(solver),
            ..RankRls::default()
        };
        let training = params(Lambdas::of(&lambdas)).train(&data, None).unwrap();
        assert_eq!(training.cells.len(), expected.len());
        for ((cell, &lambda), expected) in
            training.cells.iter().zip(&lambdas).zip(expected.values())
        {
            let held_out = cell.holdout.as_ref().unwrap();
            assert_close(held_out.error, expected.lqo_error);
            let scores = params(lambda.into()).fit(&data).unwrap().scores(&test);
            assert_close(cindex(&test, &scores), expected.test_cindex);
        }
    }
}

#[test]
fn distil_is_its_definition() {
    let (data, test) = (sample::train(), sample::test());
    let expected = golden().distil;
    let mut lambdas = Vec::new();
    for (lambda_, &error) in &expected.teacher.lqo_errors {
        lambdas.push(lambda(lambda_));
        let params = RankRls {
            lambdas: lambda(lambda_).into(),
            label_scale: Some(LabelScale::SqrtSd),
            ..RankRls::default()
        };
        let training = params.train(&data, None).unwrap();
        assert_close(training.best().holdout.as_ref().unwrap().error, error);
    }
    let options = GreedyRankRls {
        strategy: StrategyKind::Distil,
        label_scale: Some(LabelScale::SqrtSd),
        weight_target: Some(WeightTarget::CrossFitted),
        weight_lambda: Some(Lambda::new(expected.refit_lambda).unwrap().into()),
        blend: Some(expected.blend),
        teacher_lambda: Some(Lambdas::of(&lambdas)),
        ..GreedyRankRls::new(
            expected.features.len(),
            Lambda::new(expected.lambda).unwrap(),
        )
    };
    let selection = select(&data, &options, &mut unwatched).unwrap();
    let chosen = selection.teacher.unwrap().lambda.unwrap();
    assert_close(chosen.value(), expected.teacher.chosen);
    let Distil {
        features, weights, ..
    } = &expected;
    assert_model(&selection, features, weights, &test, expected.test_cindex);
}
