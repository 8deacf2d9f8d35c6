//! The protocol on small folds.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::*;
use crate::Lambda;
use crate::columns::QueryWeight;
use crate::data::read::ReadOptions;
use crate::ridge::{RidgeProblem, TrainOptions};

/// Rows in queries of different sizes; `seed` makes others.
fn text(seed: u64, queries: u64) -> String {
    use std::fmt::Write as _;
    let mut state = seed;
    let mut draw = move |below: u64| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % below
    };
    let mut text = String::new();
    for query in 0..queries {
        for _ in 0..4 + query % 3 {
            let values: Vec<u64> = (0..6).map(|_| draw(10)).collect();
            let label = (values[1] + values[4] + draw(6)) / 8;
            write!(text, "{label} qid:{query}").unwrap();
            for (index, value) in (1..).zip(values) {
                write!(text, " {index}:{value}").unwrap();
            }
            text.push('\n');
        }
    }
    text
}

fn fold() -> Fold {
    let read = |seed, queries| {
        let loaded = ReadOptions::new().read_from(text(seed, queries).as_bytes(), "f");
        loaded.unwrap()
    };
    Fold {
        name: "Fold1".to_owned(),
        train: read(1, 12).dataset,
        validation: read(2, 6),
        test: read(3, 6),
    }
}

fn options(lambdas: &[f64]) -> Options {
    let lambdas = lambdas.iter().map(|&lambda| Lambda::new(lambda).unwrap());
    Options::new().lambdas(&lambdas.collect::<Vec<_>>())
}

#[test]
fn the_chosen_model_is_what_select_finds() {
    let fold = fold();
    let outcome = run(&fold, &options(&[0.5, 4.0, 32.0]), &()).unwrap();
    assert_eq!(outcome.curves.len(), 3);
    let best = outcome.curves.iter().flat_map(|curve| curve.of(0));
    let best = best.flatten().fold(0.0, f64::max);
    assert_eq!(outcome.greedy.validation[0], Some(best));
    let chosen = &outcome.greedy.selection;
    let options = crate::SelectionOptions::new(chosen.steps.len(), chosen.lambda);
    let options = crate::SelectionOptions {
        strategy: Some(chosen.strategy),
        ..options
    };
    let selected = crate::select(&fold.train, &options, &mut ()).unwrap();
    assert_eq!(&selected, chosen);
    let features: Vec<u32> = chosen.steps.iter().map(|step| step.feature).collect();
    let curve = outcome
        .curves
        .iter()
        .find(|curve| curve.lambda == chosen.lambda);
    let curve = curve.unwrap();
    assert_eq!(curve.features[..features.len()], features);
    assert_eq!(curve.strategy, chosen.strategy);
    for (data, measures) in [
        (&fold.validation.dataset, outcome.greedy.validation),
        (&fold.test.dataset, outcome.greedy.test),
    ] {
        let scores = crate::greedy::scores(&features, &chosen.weights, data);
        assert_eq!(measure(data, &scores).unwrap(), measures);
    }
}

/// With every feature selected, both models are the same.
#[test]
fn all_features_are_the_end_of_the_path() {
    let outcome = run(&fold(), &options(&[0.5, 4.0, 32.0]), &()).unwrap();
    for (curve, all) in outcome.curves.iter().zip(&outcome.all_features.grid) {
        assert_eq!(curve.features.len(), 6);
        assert_eq!(curve.validation.last(), all.as_ref());
    }
    let best = outcome.all_features.grid.iter();
    let best = best.flatten().filter_map(|measures| measures[0]);
    assert_eq!(
        outcome.all_features.validation[0],
        best.max_by(f64::total_cmp)
    );
}

#[test]
fn queries_weigh_as_they_do_in_training() {
    let fold = fold();
    for weight in QueryWeight::ALL {
        let lambda = Lambda::new(4.0).unwrap();
        let options = options(&[4.0]).query_weight(weight);
        let outcome = run(&fold, &options, &()).unwrap();
        let options = TrainOptions::new().query_weight(weight);
        let problem = RidgeProblem::new(&fold.train, &options).unwrap();
        let scores = problem.train(lambda).unwrap().weights();
        let scores = scores.scores(&fold.test.dataset);
        let test = measure(&fold.test.dataset, &scores).unwrap();
        assert_eq!(outcome.all_features.test, test, "{weight}");
    }
    let error = |weight| {
        let options = options(&[4.0]).query_weight(weight);
        let outcome = run(&fold, &options, &()).unwrap();
        outcome.greedy.selection.steps[0].lqo_error
    };
    assert_ne!(error(QueryWeight::Uniform), error(QueryWeight::Pairs));
}

#[test]
fn threads_and_memory_change_nothing() {
    let fold = fold();
    let outcome = |threads: usize, options: &Options| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
        pool.unwrap().install(|| run(&fold, options, &())).unwrap()
    };
    let options = options(&[0.25, 0.5, 1.0, 2.0, 4.0, 8.0]);
    let one = outcome(1, &options);
    assert_eq!(outcome(2, &options), one);
    assert_eq!(outcome(4, &options.clone().max_memory(200_000)), one);
    let error = run(&fold, &options.max_memory(100), &()).unwrap_err();
    assert!(error.to_string().starts_with("Fold1: "), "{error}");
}

/// Notes what is followed, and ends it after so many questions.
#[derive(Default)]
struct Watch {
    followed: Mutex<Vec<f64>>,
    asked: AtomicUsize,
    last: Option<usize>,
}

impl Observer for Watch {
    fn followed(&self, curve: &Curve) {
        self.followed.lock().unwrap().push(curve.lambda.value());
    }

    fn interrupted(&self) -> bool {
        let asked = self.asked.fetch_add(1, Ordering::Relaxed);
        self.last.is_some_and(|last| asked >= last)
    }
}

#[test]
fn an_interrupt_leaves_no_outcome() {
    let (fold, options) = (fold(), options(&[1.0, 2.0, 8.0]));
    let whole = Watch::default();
    run(&fold, &options, &whole).unwrap();
    // Three lambdas of six features, and every one once more for all features.
    let asked = whole.asked.into_inner();
    assert!(asked >= 3 * 6 + 3, "{asked}");
    for last in 0..asked {
        let watch = Watch {
            last: Some(last),
            ..Watch::default()
        };
        let error = run(&fold, &options, &watch).unwrap_err();
        assert!(matches!(error, LetorError::Interrupted { .. }), "{error}");
    }
}

#[test]
fn every_lambda_is_followed_once() {
    let watch = Watch::default();
    let options = options(&[8.0, 1.0, 2.0, 1.0]).features(2);
    let outcome = run(&fold(), &options, &watch);
    let mut followed = watch.followed.into_inner().unwrap();
    followed.sort_by(f64::total_cmp);
    assert_eq!(followed, [1.0, 2.0, 8.0]);
    let outcome = outcome.unwrap();
    assert!(outcome.curves.iter().all(|curve| curve.features.len() == 2));
    assert!(matches!(
        run(&fold(), &Options::new().lambdas(&[]), &()),
        Err(LetorError::NoLambdas)
    ));
}

#[test]
fn means_are_over_folds() {
    let first = [Some(0.2), None, Some(1.0), Some(0.0)];
    let second = [Some(0.4), Some(0.1), Some(0.0), Some(0.0)];
    let found = mean([&first, &second]);
    assert!((found[0].unwrap() - 0.3).abs() < 1e-15);
    assert_eq!(found[1..], [None, Some(0.5), Some(0.0)]);
    assert_eq!(mean([]), [None; 4]);
}
