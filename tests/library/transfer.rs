//! Offsets, score features and sources against their definitions: retraining without each query.

use crate::oracle::Problem;
use crate::oracle::problems::problems;
use proptest::prelude::*;
use rankrls::data::OtherRanker;
use rankrls::greedy::{Criterion, SelectError, resume_among, select};
use rankrls::metrics::{Convention, Metric, evaluate};
use rankrls::ridge::{Fit, Groups, HoldOut, RidgeProblem, TrainOptions};
use rankrls::{
    ColumnClasses, Dataset, DatasetError, Lambda, Model, Selection, SelectionOptions, Solver,
    StrategyKind, TrainError,
};

fn drawn() -> impl Strategy<Value = Problem> {
    problems(prop::collection::vec(1usize..6, 2..7), 1..9)
}

fn lambdas() -> impl Strategy<Value = f64> {
    (-6i32..8).prop_map(|power| 2f64.powi(power))
}

/// Scores of the rows, in quarters, from a seed.
fn scores(rows: usize, seed: usize) -> Vec<f64> {
    let score = |row: usize| ((row * row * 5 + row * seed + seed) % 11) as f64 / 4.0 - 1.0;
    (0..rows).map(score).collect()
}

fn of_scores() -> OtherRanker {
    OtherRanker::of_scores("other")
}

fn by(strategy: StrategyKind, k: usize, lambda: f64) -> SelectionOptions {
    SelectionOptions {
        strategy: Some(strategy),
        ..SelectionOptions::new(k, Lambda::new(lambda).unwrap())
    }
}

/// The problem whose labels are less `scores`.
fn less(problem: &Problem, scores: &[f64]) -> Problem {
    let labels = problem.labels.iter().zip(scores);
    Problem {
        labels: labels.map(|(label, score)| label - score).collect(),
        ..problem.clone()
    }
}

/// The problem with centred rows, those of the queries from `first` on times the root of `weight`.
fn sourced(problem: &Problem, first: usize, weight: f64) -> Problem {
    let from = problem.queries()[first].start;
    let scaled = |values: &Vec<f64>| {
        let mut values = problem.centred(values);
        values[from..]
            .iter_mut()
            .for_each(|value| *value *= weight.sqrt());
        values
    };
    Problem {
        x: problem.x.iter().map(scaled).collect(),
        labels: scaled(&problem.labels),
        sizes: problem.sizes.clone(),
    }
}

fn with_source(problem: &Problem, first: usize, weight: f64) -> Dataset<'static> {
    let data = problem.dataset();
    let (own, others): (Vec<usize>, Vec<usize>) =
        (0..problem.sizes.len()).partition(|&query| query < first);
    let (own, others) = (
        data.queries_subset(&own).unwrap(),
        data.queries_subset(&others).unwrap(),
    );
    own.with_source(&others, weight)
        .map_or(data, |(both, _)| both)
}

/// Takes the steps again that `selection` took, up to half of them, and goes on.
fn check_resumed(
    data: &Dataset<'_>,
    options: &SelectionOptions,
    selection: &Selection,
) -> Result<(), TestCaseError> {
    let candidates = ColumnClasses::new(data);
    let half = &selection.steps[..selection.steps.len().div_ceil(2)];
    let again = resume_among(&candidates, data, 0, options, half, &mut ());
    let again = again.unwrap();
    prop_assert_eq!(again.features(), selection.features());
    prop_assert_eq!(again.errors(), selection.errors());
    prop_assert_eq!(&again.weights, &selection.weights);
    Ok(())
}

/// Whether the sum over the first rows of squared residuals without each query is least for the step
/// taken, among the `candidates` that are left if the strategy is exact, and is what the step says.
fn check_steps(
    problem: &Problem,
    rows: usize,
    selection: &Selection,
    first: Option<usize>,
    lambda: f64,
    candidates: Option<&[usize]>,
) -> Result<(), TestCaseError> {
    let error = |features: &[usize]| -> f64 {
        let residuals = problem.holdout(features, lambda);
        residuals[..rows]
            .iter()
            .map(|residual| residual * residual)
            .sum()
    };
    let start = error(&[]);
    let noise = 1e-9 * (start + 1e-3);
    let mut selected: Vec<usize> = Vec::new();
    for (number, step) in selection.steps.iter().enumerate() {
        let chosen = step.feature as usize;
        let forced = number == 0 && first.is_some();
        if forced {
            prop_assert!(selection.classes[0].contains(&u32::try_from(first.unwrap()).unwrap()));
        } else if let Some(candidates) = candidates {
            let mut left = candidates.to_vec();
            left.retain(|feature| !selected.contains(feature));
            let with = |feature: usize| error(&[&selected[..], &[feature]].concat());
            let least = left.into_iter().map(with).fold(f64::INFINITY, f64::min);
            let own = with(chosen);
            prop_assert!(
                own <= least * (1.0 + 1e-8) + noise,
                "step {number}: {own} for {least}"
            );
        }
        selected.push(chosen);
        let own = error(&selected);
        prop_assert!(
            (step.lqo_error - own).abs() <= 1e-8 * own + noise,
            "step {number}: {} for {own}",
            step.lqo_error
        );
    }
    let expected = problem.weights(&selected, lambda);
    for (found, expected) in selection.weights.iter().zip(&expected) {
        prop_assert!((found - expected).abs() <= 1e-8 * (1.0 + expected.abs()));
    }
    Ok(())
}

const SOLVERS: [Solver; 3] = [Solver::Dual, Solver::Primal, Solver::ConjugateGradients];

/// Strategies that know sources, and whether they are exact.
const STRATEGIES: [(StrategyKind, bool); 6] = [
    (StrategyKind::Dense, true),
    (StrategyKind::LowMem, true),
    (StrategyKind::Sampled, false),
    (StrategyKind::Univariate, false),
    (StrategyKind::Residual, false),
    (StrategyKind::Random, false),
];

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn an_offset_is_labels_less_it_without_every_query(
        problem in drawn(),
        lambda in lambdas(),
        seed in 0usize..50,
    ) {
        let scores = scores(problem.rows(), seed);
        let left = less(&problem, &scores);
        let data = problem.dataset().with_offset(scores.clone(), of_scores()).unwrap();
        let centred = problem.centred(&scores);
        let every: Vec<usize> = (0..problem.x.len()).collect();
        let expected = left.holdout(&every, lambda);
        let labels = problem.centred(&problem.labels);
        for solver in SOLVERS {
            let options = TrainOptions::new().solver(solver);
            let Ok(ridge) = RidgeProblem::new(&data, &options) else {
                prop_assert!(problem.representatives().is_empty());
                continue;
            };
            let trained = ridge.train(Lambda::new(lambda).unwrap()).unwrap();
            let holdout = trained.leave_query_out().unwrap();
            let error: f64 = expected.iter().map(|residual| residual * residual).sum();
            prop_assert!((holdout.error - error).abs() <= 1e-7 * (1.0 + error));
            for row in 0..problem.rows() {
                let prediction = labels[row] - expected[row];
                let off = (holdout.predictions[row] - prediction).abs();
                prop_assert!(off <= 1e-7, "{solver}: {off}");
            }
            // The model adds the offset to what it was fitted to.
            let fit = Fit::Linear(trained.weights());
            let kind = rankrls::model::FeatureChoice::All;
            let (kernel, lambda) = (rankrls::ridge::Kernel::LINEAR, Lambda::new(lambda).unwrap());
            let summary = ColumnClasses::new(&data).summary();
            let model = Model::from_fit(&fit, kernel, kind, lambda, &data, &summary, &options);
            let plain = trained.weights().scores(&data);
            for ((found, plain), score) in model.scores(&data).iter().zip(plain).zip(&scores) {
                prop_assert_eq!(*found, plain + score);
            }
        }
        for strategy in [StrategyKind::Dense, StrategyKind::LowMem, StrategyKind::Bounded] {
            let options = by(strategy, 4, lambda);
            let Ok(selection) = select(&data, &options, &mut ()) else {
                prop_assert!(problem.representatives().is_empty());
                continue;
            };
            // To the bit the selection by labels less the offset, but for the index.
            let plain = select(&left.dataset(), &options, &mut ()).unwrap();
            prop_assert_eq!(&selection.weights, &plain.weights);
            check_steps(&left, problem.rows(), &selection, None, lambda, Some(&problem.representatives()))?;
            check_resumed(&data, &options, &selection)?;
            for (number, step) in selection.steps.iter().enumerate() {
                let features = selection.features();
                let features = features[..=number].iter().map(|&feature| feature as usize);
                let predicted = left.predictions(&features.collect::<Vec<_>>(), lambda);
                let predicted: Vec<f64> =
                    predicted.iter().zip(&centred).map(|(own, score)| own + score).collect();
                // Ties by rounding are ties.
                let rounded: Vec<f64> = predicted.iter().map(|p| (p * 1e7).round()).collect();
                let queries = data.queries();
                let found = evaluate(
                    &[Metric::Concordance], &problem.labels, &rounded, queries, Convention::Standard,
                );
                let expected = found.unwrap().metrics[0].mean;
                prop_assert_eq!(step.lqo_cindex.is_some(), expected.is_some());
                if let (Some(found), Some(expected)) = (step.lqo_cindex, expected) {
                    prop_assert!((found - expected).abs() < 1e-9, "{found} for {expected}");
                }
            }
        }
    }

    #[test]
    fn a_ranking_measure_is_of_predictions_with_the_offset(
        problem in drawn(),
        seed in 0usize..50,
    ) {
        let scores = scores(problem.rows(), seed);
        let data = problem.dataset().with_offset(scores, of_scores()).unwrap();
        let criterion = Criterion::Ranking {
            metric: Metric::Concordance,
            convention: Convention::Standard,
            shortlist: None,
        };
        let mut paths = Vec::new();
        for strategy in [StrategyKind::Dense, StrategyKind::LowMem] {
            let options = SelectionOptions { criterion, ..by(strategy, 3, 1.0) };
            if let Ok(selection) = select(&data, &options, &mut ()) {
                for step in &selection.steps {
                    prop_assert_eq!(step.criterion, step.lqo_cindex);
                }
                paths.push(selection.features());
            }
        }
        prop_assert_eq!(paths.first(), paths.last());
    }

    #[test]
    fn a_source_is_trained_on_by_its_weight_and_never_held_out(
        problem in drawn(),
        lambda in lambdas(),
        weight in (-3i32..4).prop_map(|power| 2f64.powi(power)),
        first in any::<prop::sample::Index>(),
    ) {
        let first = 1 + first.index(problem.sizes.len() - 1);
        let weighed = sourced(&problem, first, weight);
        let data = with_source(&problem, first, weight);
        if data.queries().source_weight().is_none() {
            // The source had no column.
            return Ok(());
        }
        let rows = data.queries().target_rows();
        prop_assert_eq!(rows, problem.queries()[first].start);
        let groups = Groups::queries(first);
        let ranges = problem.queries();
        let every: Vec<usize> = (0..problem.x.len()).collect();
        let expected = weighed.holdout(&every, lambda);
        let error: f64 = expected[..rows].iter().map(|residual| residual * residual).sum();
        let labels = problem.centred(&problem.labels);
        let weights = weighed.weights(&every, lambda);
        for solver in SOLVERS {
            let Ok(ridge) = RidgeProblem::new(&data, &TrainOptions::new().solver(solver)) else {
                prop_assert!(problem.representatives().is_empty());
                continue;
            };
            let trained = ridge.train(Lambda::new(lambda).unwrap()).unwrap();
            let found = trained.weights();
            for (feature, value) in found.features.iter().zip(&found.values) {
                let off = (value - weights[*feature as usize]).abs();
                prop_assert!(off <= 1e-7, "{solver}: weight off by {off}");
            }
            if ranges[..first].iter().all(|range| range.len() == 1) && problem.sizes.iter().any(|&n| n > 1) {
                prop_assert_eq!(
                    trained.holdout(&groups).unwrap_err(),
                    TrainError::NothingToCompare
                );
                continue;
            }
            for holdout in [trained.holdout(&groups).unwrap(), trained.leave_query_out().unwrap()] {
                prop_assert_eq!(holdout.predictions.len(), rows);
                prop_assert!((holdout.error - error).abs() <= 1e-7 * (1.0 + error), "{solver}");
                for row in 0..rows {
                    let prediction = labels[row] - expected[row];
                    let off = (holdout.predictions[row] - prediction).abs();
                    prop_assert!(off <= 1e-7, "{solver}: {off}");
                }
            }
            let pairs = trained.holdout_by(&HoldOut::Pairs);
            prop_assert!(pairs.is_err());
        }
        for (strategy, exact) in STRATEGIES {
            let options = by(strategy, 4, lambda);
            if let Ok(selection) = select(&data, &options, &mut ()) {
                let candidates = exact.then(|| problem.representatives());
                check_steps(&weighed, rows, &selection, None, lambda, candidates.as_deref())?;
                check_resumed(&data, &options, &selection)?;
            }
        }
        for strategy in [StrategyKind::Bounded, StrategyKind::Distil] {
            let refused = select(&data, &by(strategy, 2, lambda), &mut ());
            let known = matches!(
                refused,
                Err(SelectError::Transfer(_) | SelectError::NoCandidates { .. })
            );
            prop_assert!(known);
        }
    }

    #[test]
    fn a_score_feature_comes_first_and_does_not_count(
        problem in drawn(),
        lambda in lambdas(),
        seed in 0usize..50,
    ) {
        let scores = scores(problem.rows(), seed);
        let mut wider = problem.clone();
        wider.x.push(scores.clone());
        let data = problem.dataset().with_score_feature(&scores, of_scores());
        let data = match data {
            Ok(data) => data,
            Err(error) => {
                prop_assert_eq!(error, DatasetError::ConstantScoreFeature);
                return Ok(());
            }
        };
        let column = problem.x.len();
        let all = ColumnClasses::new(&data).len();
        for strategy in [StrategyKind::Dense, StrategyKind::LowMem, StrategyKind::Bounded] {
            let options = by(strategy, 3, lambda);
            let selection = select(&data, &options, &mut ()).unwrap();
            prop_assert_eq!(selection.steps.len(), 4.min(all));
            let candidates = wider.representatives();
            check_steps(&wider, problem.rows(), &selection, Some(column), lambda, Some(&candidates))?;
            check_resumed(&data, &options, &selection)?;
            let summary = ColumnClasses::new(&data).summary();
            let model = Model::from_selection(&selection, &data, &summary);
            let plain = problem.dataset();
            let needs = model.check_columns(&plain).is_err();
            prop_assert!(needs);
            prop_assert!(model.check_columns(&data).is_ok());
            let mut text = Vec::new();
            model.write_to(&mut text).unwrap();
            let read = Model::parse(&text, "model".as_ref()).unwrap();
            prop_assert_eq!(read.scores(&data), model.scores(&data));
            // A linear model is in the model: then no scores are needed.
            if selection.classes[0].len() == 1 {
                let (features, weights) = (vec![0], vec![0.5]);
                let linear = OtherRanker { name: "m".into(), weights: Some((features, weights)) };
                let own = linear.scores(&plain).unwrap();
                if let Ok(data) = plain.clone().with_score_feature(&own, linear) {
                    let selection = select(&data, &options, &mut ()).unwrap();
                    let model = Model::from_selection(&selection, &data, &summary);
                    prop_assert!(model.check_columns(&plain).is_ok());
                    for (a, b) in model.scores(&plain).iter().zip(model.scores(&data)) {
                        prop_assert_eq!(*a, b);
                    }
                }
            }
        }
    }
}

#[test]
fn choices_that_do_not_go_together_are_refused() {
    let problem = Problem {
        x: vec![vec![1.0, 0.0, 2.0, 0.0], vec![0.0, 1.0, 1.0, 3.0]],
        labels: vec![1.0, 0.0, 2.0, 0.0],
        sizes: vec![2, 2],
    };
    let data = problem
        .dataset()
        .with_offset(vec![1.0, 0.5, 0.0, 1.0], of_scores())
        .unwrap();
    let lambda = Lambda::new(1.0).unwrap();
    let trained = RidgeProblem::new(&data, &TrainOptions::new());
    let trained = trained.unwrap();
    let refused = trained.train(lambda).unwrap().holdout_by(&HoldOut::Pairs);
    assert!(matches!(refused, Err(TrainError::Transfer(_))));
    let options = rankrls::tune::TuneOptions::new(SelectionOptions::new(1, lambda), &[lambda]);
    assert!(rankrls::tune::tune(&data, &options, &mut ()).is_err());
}
