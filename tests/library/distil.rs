//! Distilled selection against its definition: a teacher is retrained without each query, and forward selection
//! follows its predictions.

use crate::oracle::problems::problems;
use crate::oracle::{Problem, drawn_problems, grid, on};
use proptest::prelude::*;
use rankrls::data::LabelScale;
use rankrls::greedy::job::{estimates, plan, select, unwatched};
use rankrls::greedy::{Selection, WeightTarget};
use rankrls::memory::Memory;
use rankrls::tune::Tune;
use rankrls::{
    Dataset, GreedyRankRls, HoldOut, Lambda, Lambdas, Queries, QueryWeight, Ridge, StrategyKind,
};

/// Ten queries or more, of one row and more.
fn drawn() -> impl Strategy<Value = Problem> {
    problems(prop::collection::vec(1usize..6, 10..14), 1..9)
}

fn options(strategy: StrategyKind, lambda: f64, others: GreedyRankRls) -> GreedyRankRls {
    GreedyRankRls {
        strategy,
        k: 9,
        lambda: Lambda::new(lambda).unwrap().into(),
        ..others
    }
}

/// Raw labels.
fn raw() -> GreedyRankRls {
    GreedyRankRls {
        label_scale: Some(LabelScale::Raw),
        ..GreedyRankRls::default()
    }
}

fn teacher(lambdas: &[f64]) -> Lambdas {
    Lambdas::of(&grid(lambdas))
}

/// Labels less the residuals of models without each query, under the lambda of least error.
fn teacher_predictions(problem: &Problem, lambdas: &[f64]) -> Vec<f64> {
    let labels = problem.centred(&problem.labels);
    let predictions = |&lambda: &f64| {
        let mut residuals = vec![0.0; problem.rows()];
        for range in problem.queries() {
            let rows: Vec<usize> = range.clone().collect();
            residuals[range].copy_from_slice(&problem.residuals_without(&rows, lambda));
        }
        let error: f64 = residuals.iter().map(|residual| residual * residual).sum();
        let pairs = labels.iter().zip(&residuals);
        (error, pairs.map(|(y, p)| y - p).collect::<Vec<f64>>())
    };
    let all = lambdas.iter().map(predictions);
    all.min_by(|a, b| a.0.total_cmp(&b.0)).unwrap().1
}

/// The problem with `(1 - share) z + share y` for labels.
fn blended(problem: &Problem, teacher_predictions: &[f64], share: f64) -> Problem {
    let labels = problem.centred(&problem.labels);
    let pairs = teacher_predictions.iter().zip(&labels);
    Problem {
        labels: pairs.map(|(z, y)| (1.0 - share) * z + share * y).collect(),
        ..problem.clone()
    }
}

fn features(selection: &Selection) -> Vec<usize> {
    let features = selection.features();
    features.iter().map(|&feature| feature as usize).collect()
}

fn close(found: &[f64], expected: &[f64]) -> Result<(), TestCaseError> {
    prop_assert_eq!(found.len(), expected.len());
    let size = expected
        .iter()
        .fold(1.0_f64, |size, value| size.max(value.abs()));
    for (value, other) in found.iter().zip(expected) {
        prop_assert!((value - other).abs() <= 1e-8 * size, "{value} for {other}");
    }
    Ok(())
}

/// Checks that each step of `selection` takes the least training error for the labels of `target`.
fn forward(
    classes: &[usize],
    target: &Problem,
    found: &Selection,
    lambda: f64,
) -> Result<(), TestCaseError> {
    let mut selected: Vec<usize> = Vec::new();
    prop_assert_eq!(found.steps.len(), classes.len());
    let start = target.training_error(&[], lambda);
    for chosen in features(found) {
        let error =
            |feature: usize| target.training_error(&[&selected[..], &[feature]].concat(), lambda);
        let left = classes.iter().filter(|class| !selected.contains(class));
        let least = left
            .map(|&class| error(class))
            .fold(f64::INFINITY, f64::min);
        prop_assert!(error(chosen) <= least + 1e-8 * start, "{chosen}");
        selected.push(chosen);
    }
    Ok(())
}

proptest! {
    #![proptest_config(drawn_problems(400))]

    #[test]
    fn distil_is_forward_selection_towards_the_retrained_teacher(
        problem in drawn(),
        exponent in -6i32..12,
        teaching in prop::sample::select(vec![vec![16.0], vec![0.01, 1.0], vec![4.0, 1e6]]),
        share in prop::sample::select(vec![0.0, 0.2, 1.0]),
        weight in prop::sample::select(&QueryWeight::ALL[..]),
    ) {
        let lambda = 2f64.powi(exponent);
        let others = GreedyRankRls {
            weight_target: Some(WeightTarget::Labels),
            blend: Some(share),
            teacher_lambda: Some(teacher(&teaching)),
            ..raw()
        };
        let options = GreedyRankRls {
            query_weight: weight,
            ..options(StrategyKind::Distil, lambda, others)
        };
        let Ok(found) = select(&problem.dataset(), &options, &mut unwatched) else {
            let nothing = problem.representatives().is_empty() || constant(&problem);
            prop_assert!(nothing);
            return Ok(());
        };
        let classes = problem.representatives();
        // Rows are centred and weighted already, so centring again changes nothing.
        let weighted = problem.weighted(weight);
        let taught = blended(&weighted, &teacher_predictions(&weighted, &teaching), share);
        forward(&classes, &taught, &found, lambda)?;
        close(&found.weights, &taught.weights(&features(&found), lambda))?;
    }

    #[test]
    fn cross_fitted_weights_are_those_of_their_target(
        problem in drawn(),
        strategy in prop::sample::select(vec![
            StrategyKind::Distil, StrategyKind::Bounded, StrategyKind::Backfit,
        ]),
    ) {
        let others = GreedyRankRls {
            weight_target: Some(WeightTarget::CrossFitted),
            weight_lambda: Some(Ridge::Number(Lambda::new(3.0).unwrap())),
            teacher_lambda: Some(teacher(&[4.0, 16.0, 64.0])),
            ..raw()
        };
        let Ok(found) = select(&problem.dataset(), &options(strategy, 2.0, others), &mut unwatched) else {
            return Ok(());
        };
        let taught = blended(&problem, &teacher_predictions(&problem, &[4.0, 16.0, 64.0]), 0.25);
        close(&found.weights, &taught.weights(&features(&found), 3.0))?;
        prop_assert!(found.teacher.unwrap().lambda.is_some());
    }

    #[test]
    fn a_given_teacher_counts_in_any_units(problem in drawn(), factor in 0.01f64..100.0) {
        let scores = teacher_predictions(&problem, &[16.0]);
        let labels = problem.centred(&problem.labels);
        let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
        let slope = dot(&scores, &labels) / dot(&scores, &scores);
        prop_assume!(slope > 1e-6 && !problem.representatives().is_empty());
        let given = scores.iter().map(|score| factor * score + 3.0).collect();
        let data = problem.dataset().with_teacher(given).unwrap();
        let others = GreedyRankRls {
            weight_lambda: Some(Ridge::Number(Lambda::new(4.0).unwrap())),
            ..raw()
        };
        let options = options(StrategyKind::Distil, 4.0, others);
        let found = select(&data, &options, &mut unwatched).unwrap();
        let scores: Vec<f64> = scores.iter().map(|score| slope * score).collect();
        forward(&problem.representatives(), &blended(&problem, &scores, 0.2), &found, 4.0)?;
        let weights = blended(&problem, &scores, 0.25).weights(&features(&found), 4.0);
        close(&found.weights, &weights)?;
    }

    #[test]
    fn labels_on_a_scale_are_labels_that_were_scaled_before(
        problem in drawn(),
        scale in prop::sample::select(vec![LabelScale::SqrtSd, LabelScale::Unit]),
        strategy in prop::sample::select(vec![StrategyKind::Bounded, StrategyKind::Distil]),
    ) {
        let others = GreedyRankRls { label_scale: Some(scale), ..GreedyRankRls::default() };
        let found = select(&problem.dataset(), &options(strategy, 1.0, others), &mut unwatched);
        let scaled = Problem { labels: by_hand(&problem, scale), ..problem.clone() };
        let plain = options(strategy, 1.0, raw());
        let expected = select(&scaled.dataset(), &plain, &mut unwatched);
        prop_assert_eq!(found.is_ok(), expected.is_ok());
        let (Ok(selection), Ok(by_hand)) = (found, expected) else { return Ok(()) };
        prop_assert_eq!(selection.options.label_scale, Some(scale));
        let pairs = selection.steps.iter().zip(&by_hand.steps);
        for (step, other) in pairs {
            let error = other.lqo_error;
            prop_assert!((step.lqo_error - error).abs() <= 1e-8 * (1.0 + error));
            if step.feature != other.feature {
                return Ok(());
            }
            prop_assert_eq!(step.lqo_cindex, other.lqo_cindex);
        }
        close(&selection.weights, &by_hand.weights)?;
    }
}

fn constant(problem: &Problem) -> bool {
    let equal = |range: std::ops::Range<usize>| {
        problem.labels[range]
            .windows(2)
            .all(|pair| pair[0] == pair[1])
    };
    problem.queries().into_iter().all(equal)
}

/// Labels on a scale, by the definition in its table.
fn by_hand(problem: &Problem, scale: LabelScale) -> Vec<f64> {
    let mut labels = problem.labels.clone();
    for range in problem.queries() {
        let own = labels[range.clone()].to_vec();
        let count = own.len() as f64;
        let mean = own.iter().sum::<f64>() / count;
        let sd = (own.iter().map(|y| (y - mean) * (y - mean)).sum::<f64>() / count).sqrt();
        for (row, y) in range.zip(&own) {
            labels[row] = match scale {
                _ if own.iter().all(|other| other == y) => 0.0,
                LabelScale::Raw => *y,
                LabelScale::SqrtSd => (y - mean) / sd.sqrt(),
                LabelScale::Unit => (y - mean) / sd,
            };
        }
    }
    labels
}

/// `queries` queries of two rows each, the first of them better in column 0.
fn pairs(queries: usize) -> Problem {
    let rows = 2 * queries;
    let odd = |row: usize| (row % 2) as f64;
    Problem {
        x: vec![
            (0..rows).map(odd).collect(),
            (0..rows).map(|row| (row % 7) as f64).collect(),
        ],
        labels: (0..rows)
            .map(|row| odd(row) + 0.1 * (row % 3) as f64)
            .collect(),
        sizes: vec![2; queries],
    }
}

fn refusal(data: &Dataset<'_>) -> String {
    let options = options(StrategyKind::Distil, 1.0, GreedyRankRls::default());
    let refused = select(data, &options, &mut unwatched);
    refused.unwrap_err().to_string()
}

#[test]
fn what_cannot_be_taught_is_refused() {
    let few = refusal(&pairs(9).dataset());
    assert!(few.starts_with("9 queries: expected at least 10"), "{few}");
    let equal = Problem {
        labels: vec![2.0; 24],
        ..pairs(12)
    };
    let untaught = equal.dataset();
    let taught = untaught
        .clone()
        .with_teacher((0..24).map(f64::from).collect());
    for constant in [untaught, taught.unwrap()] {
        assert!(refusal(&constant).contains("there is nothing to teach"));
    }
    let problem = pairs(12);
    let turned = problem.labels.iter().map(|label| -label).collect();
    let data = problem.dataset().with_teacher(turned).unwrap();
    assert!(refusal(&data).contains("do not rise with the labels"));
    for (scores, message) in [
        (vec![1.0; 23], "expected 24, found 23"),
        (vec![1.0; 24], "constant in every query"),
        ([vec![0.0; 23], vec![f64::NAN]].concat(), "row 23 is NaN"),
    ] {
        let error = problem
            .dataset()
            .with_teacher(scores)
            .unwrap_err()
            .to_string();
        assert!(error.contains(message), "{error}");
    }
}

#[test]
fn any_number_of_threads_and_any_solver_of_folds_gives_the_same_bits() {
    let data = rankrls::data::sample::train();
    let distil = options(StrategyKind::Distil, 16.0, GreedyRankRls::default());
    // So little memory that no system fits, and conjugate gradients train the folds.
    let folds = GreedyRankRls {
        memory: Memory::limit(6 << 20),
        ..distil.clone()
    };
    for (options, solver) in [(distil, "dual"), (folds, "cg")] {
        let run = |threads: usize| on(threads, || select(&data, &options, &mut unwatched).unwrap());
        let one = run(1);
        assert_eq!(one.teacher.unwrap().solver.unwrap().to_string(), solver);
        for threads in [2, 3] {
            assert_eq!(run(threads), one, "{threads} threads");
        }
    }
}

/// The least limit of memory with which `works`, in bytes.
fn least_limit(works: impl Fn(Memory) -> bool) -> u64 {
    let (mut refused, mut enough) = (0, 1 << 26);
    while enough - refused > 1 {
        let middle = refused + (enough - refused) / 2;
        if works(Memory::limit(middle)) {
            enough = middle;
        } else {
            refused = middle;
        }
    }
    enough
}

/// Given scores need no teacher. The selection takes the memory of its strategy and the bytes of the scores.
#[test]
fn given_scores_take_no_memory_of_a_solver() {
    let first: Vec<usize> = (0..12).collect();
    let data = rankrls::data::sample::train();
    let data = data.queries_subset(&first).unwrap();
    let scores: Vec<f64> = data.labels().iter().map(|label| 2.0 * label).collect();
    let taught = data.clone().with_teacher(scores).unwrap();
    let refitted = GreedyRankRls {
        weight_target: Some(WeightTarget::CrossFitted),
        ..GreedyRankRls::default()
    };
    for (strategy, others) in [
        (StrategyKind::Distil, GreedyRankRls::default()),
        (StrategyKind::LowMem, refitted),
    ] {
        let asked = GreedyRankRls {
            k: 3,
            ..options(strategy, 16.0, others)
        };
        let candidates = asked.candidates(&data).unwrap();
        let planned = |data: &Dataset<'_>, memory| {
            let asked = GreedyRankRls {
                memory,
                ..asked.clone()
            };
            plan(&candidates, data, &asked)
        };
        let trained = least_limit(|memory| planned(&data, memory).is_ok());
        let given = least_limit(|memory| planned(&taught, memory).is_ok());
        let scores = 8 * data.rows() as u64;
        assert!(given < trained + scores, "{strategy}: {given} {trained}");
        let found = planned(&taught, Memory::limit(given)).unwrap();
        assert_eq!(found.teacher, None, "{strategy}");
        let estimate = estimates(&candidates, &taught, &asked)
            .into_iter()
            .find(|estimate| estimate.strategy == strategy);
        assert_eq!(estimate.unwrap().total, given, "{strategy}");
        let tuned = |data: &Dataset<'_>, memory| {
            let tune = Tune {
                holdout: HoldOut::Folds { count: 3, seed: 1 },
                concurrent: Some(1),
                ..Tune::new(
                    GreedyRankRls {
                        memory,
                        ..asked.clone()
                    },
                    Lambda::new(16.0).unwrap(),
                )
            };
            tune.fit(data).is_ok()
        };
        let trained = least_limit(|memory| tuned(&data, memory));
        let given = least_limit(|memory| tuned(&taught, memory));
        // The data exist twice at a time, and the folds have their scores.
        assert!(
            given < trained + 4 * scores,
            "{strategy}: {given} {trained}"
        );
    }
}

#[test]
fn rows_keep_their_teacher_in_parts_of_the_data() {
    let problem = pairs(12);
    let scores: Vec<f64> = (0..24).map(f64::from).collect();
    let data = problem.dataset().with_teacher(scores).unwrap();
    let part = data.queries_subset(&[1, 3]).unwrap();
    assert_eq!(part.teacher(), Some(&[2.0, 3.0, 6.0, 7.0][..]));
    assert_eq!(part.queries(), &Queries::from_sizes(&[2, 2]).unwrap());
}

#[test]
fn a_teacher_without_a_ridge_parameter_is_refused() {
    let options = GreedyRankRls {
        strategy: StrategyKind::Distil,
        teacher_lambda: Some(teacher(&[])),
        ..GreedyRankRls::new(2, None)
    };
    let error = select(&rankrls::data::sample::train(), &options, &mut unwatched).unwrap_err();
    assert!(error.to_string().contains("at least one"), "{error}");
}
