//! Real and small data against numbers from other programs. The corpora belong to others and live outside the
//! repository. `RANKRLS_CORPORA` names their folder. Without it, the tests that need them say so and pass.

#![allow(
    clippy::unreadable_literal,
    reason = "numbers as they stand in the sources"
)]

use std::path::PathBuf;
use std::sync::LazyLock;

use rankrls::data::Groups;
use rankrls::data::read::ReadOptions;
use rankrls::greedy::job::{select, unwatched};
use rankrls::metrics::{Convention, Judge, Metric, evaluate};
use rankrls::ridge::{KernelKind, Solver};
use rankrls::{
    ColumnClasses, Dataset, HoldOut, Kernel, Lambda, Objective, Queries, RankRls, Selection,
    StrategyKind,
};
use serde::Deserialize;

use crate::oracle::training::{given, held_out, precision};
use crate::oracle::{EXACT, by, training};

/// Figures of `golden.json`, which names the source of each.
#[derive(Deserialize)]
struct Golden {
    rlscore: Vec<Greedy>,
    trained: Vec<Trained>,
    family: Vec<(f64, [f64; 3], [f64; 2])>,
    folds: Vec<Vec<usize>>,
    kernels: Vec<(String, f64, f64)>,
    global: Vec<(f64, [f64; 3])>,
    held_out: Vec<HeldOut>,
    graded: Vec<Graded>,
}

static GOLDEN: LazyLock<Golden> =
    LazyLock::new(|| serde_json::from_str(include_str!("golden.json")).unwrap());

fn corpus(path: &str) -> Option<PathBuf> {
    let Some(folder) = std::env::var_os("RANKRLS_CORPORA") else {
        eprintln!("NOT TESTED: set RANKRLS_CORPORA to the folder of corpora to test {path}");
        return None;
    };
    Some(PathBuf::from(folder).join(path))
}

fn load(path: &str, options: &ReadOptions) -> Option<Dataset<'static>> {
    let path = corpus(path)?;
    Some(
        options
            .read(&path)
            .unwrap_or_else(|error| panic!("{error}"))
            .dataset,
    )
}

/// RLScore's three files as svmlight text, one row a line.
fn rlscore(name: &str, options: &ReadOptions) -> Option<Dataset<'static>> {
    let path = corpus(&format!("rlscore-parse/{name}"))?;
    let file = |ending| std::fs::read_to_string(path.with_extension(ending)).unwrap();
    let [labels, qids, features] = ["labels", "qids", "features"].map(file);
    let rows = labels.lines().zip(qids.lines()).zip(features.lines());
    let rows = rows.map(|((label, id), pairs)| format!("{label} qid:{} {pairs}\n", id.trim()));
    let text: String = rows.collect();
    let options = options.clone().zero_based(true);
    Some(options.read_from(text.as_bytes(), name).unwrap().dataset)
}

fn run(data: &Dataset<'_>, strategy: StrategyKind, k: usize, lambda: f64) -> Selection {
    select(data, &by(strategy, k, lambda), &mut unwatched).unwrap()
}

fn assert_close(found: f64, expected: f64, relative: f64) {
    assert!(
        (found - expected).abs() <= relative * expected.abs(),
        "{found} for {expected}"
    );
}

/// One run of the authors' implementation.
#[derive(Deserialize)]
struct Greedy {
    lambda: f64,
    features: Vec<u32>,
    errors: Vec<f64>,
    weights: Vec<f64>,
}

#[test]
fn agrees_with_the_authors_implementation() {
    let Some(data) = rlscore("train", &ReadOptions::new()) else {
        return;
    };
    let summary = ColumnClasses::new(&data).summary();
    assert_eq!(
        (data.rows(), data.queries().len(), data.width()),
        (100, 22, 195_095)
    );
    assert_eq!(data.stored_columns(), 9_312);
    assert_eq!(summary.column_classes, 1_083);
    for golden in &GOLDEN.rlscore {
        for strategy in EXACT {
            let selection = run(&data, strategy, 10, golden.lambda);
            assert_eq!(selection.features(), golden.features, "{strategy}");
            for (step, expected) in selection.steps.iter().zip(&golden.errors) {
                assert_close(step.lqo_error, *expected, 1e-8);
            }
            for (&weight, expected) in selection.weights.iter().zip(&golden.weights) {
                assert_close(weight, *expected, 1e-8);
            }
        }
    }
}

/// One model of the authors' implementation on all features.
#[derive(Deserialize)]
struct Trained {
    lambda: f64,
    lqo_cindex: f64,
    test_cindex: f64,
    predictions: Vec<f64>,
}

fn by_solver(solver: Solver) -> RankRls {
    RankRls {
        solver: Some(solver),
        ..RankRls::default()
    }
}

#[test]
fn trains_on_all_features_as_the_authors_implementation() {
    let Some(train) = rlscore("train", &ReadOptions::new()) else {
        return;
    };
    let Some(test) = rlscore("test", &ReadOptions::new().width(train.width())) else {
        return;
    };
    for solver in Solver::ALL {
        for golden in &GOLDEN.trained {
            let options = by_solver(solver);
            let trained = training::train(&train, &options, golden.lambda, HoldOut::Queries);
            let trained = trained.unwrap();
            let lqo = held_out(&trained);
            for (found, expected) in lqo.predictions.iter().zip(&golden.predictions) {
                assert!(
                    (found - expected).abs() < precision(solver),
                    "{solver}: {found} for {expected}"
                );
            }
            assert!(
                (lqo.cindex.unwrap() - golden.lqo_cindex).abs() < 1e-12,
                "{solver}"
            );
            let scores = training::scores(&trained, &test);
            let metric = [Metric::CONCORDANCE];
            let (labels, queries) = (test.labels(), test.queries());
            let measured = evaluate(&metric, labels, &scores, queries, Convention::Standard);
            let mean = measured.unwrap()[0].1.mean.unwrap();
            assert!(
                (mean - golden.test_cindex).abs() < 1e-12,
                "{solver}: {mean}"
            );
        }
    }
}

/// A stand-alone implementation of Algorithm 1 (dense, f64) on `ewt-parse/train_2000`:
/// columns as in the svmlight file, lowest of each class; `lambda` 16.
const EWT_FEATURES: [u32; 20] = [
    98144, 77881, 99368, 13505, 6, 92, 22318, 10485, 23286, 148, 10784, 4, 98965, 98034, 188,
    12374, 11956, 111_380, 21684, 93563,
];
const EWT_LAST_ERRORS: [f64; 3] = [6.487799246377643, 6.408247963173719, 6.320148511596452];

#[test]
fn the_family_agrees_with_rlscore_on_its_parses() {
    let Some(train) = rlscore("train", &ReadOptions::new()) else {
        return;
    };
    let one = train.as_one_query();
    let fold = |row: usize| GOLDEN.folds.iter().position(|rows| rows.contains(&row));
    let folds = Groups::of_rows((0..train.rows()).map(fold)).unwrap();
    let queries = Groups::queries(train.queries().len())
        .rows(train.queries())
        .unwrap();
    let fifth = |row: usize| train.queries().of_row(row) % 5;
    let fifths = Groups::of_rows((0..train.rows()).map(fifth)).unwrap();
    let near = |found: Option<f64>, expected: f64| {
        let index = found.unwrap();
        assert!((index - expected).abs() < 1e-12, "{index} for {expected}");
    };
    let all_pairs = RankRls {
        objective: Objective::Global,
        ..by_solver(Solver::Dual)
    };
    let dual = by_solver(Solver::Dual);
    let by = |data: &Dataset<'_>, options: &RankRls, lambda: f64, holdout: HoldOut| {
        let trained = training::train(data, options, lambda, holdout).unwrap();
        held_out(&trained).cindex
    };
    for (number, [of_rows, of_queries, of_pairs], [pairs, of_fifths]) in
        GOLDEN.family.iter().copied()
    {
        let global = |holdout| by(&one, &all_pairs, number, holdout);
        near(global(given(&folds)), of_rows);
        near(global(given(&queries)), of_queries);
        near(global(HoldOut::Pairs), of_pairs);
        let within = |holdout| by(&train, &dual, number, holdout);
        near(within(HoldOut::Pairs), pairs);
        near(within(given(&fifths)), of_fifths);
    }
    for (name, lambda, expected) in &GOLDEN.kernels {
        let kernel = match name.as_str() {
            "gaussian" => Kernel::gaussian(0.00390625).unwrap(),
            _ => Kernel::new(KernelKind::Polynomial, 0.015625, 1.0, 2).unwrap(),
        };
        let params = RankRls {
            lambdas: Lambda::new(*lambda).unwrap().into(),
            kernels: vec![kernel],
            ..RankRls::default()
        };
        let training = params.train(&train, None).unwrap();
        near(training.best().holdout.as_ref().unwrap().cindex, *expected);
    }
}

#[test]
fn agrees_with_a_stand_alone_algorithm_1_on_parses() {
    let Some(data) = load("ewt-parse/train_2000.svm.zst", &ReadOptions::new()) else {
        return;
    };
    let summary = ColumnClasses::new(&data).summary();
    assert_eq!(
        (data.rows(), data.queries().len(), data.width()),
        (2_000, 108, 118_971)
    );
    assert_eq!(summary.column_classes, 15_550);
    for strategy in EXACT {
        let selection = run(&data, strategy, 20, 16.0);
        let written = selection.features().into_iter().map(|feature| feature + 1);
        assert_eq!(written.collect::<Vec<u32>>(), EWT_FEATURES, "{strategy}");
        for (step, expected) in selection.steps[17..].iter().zip(EWT_LAST_ERRORS) {
            assert_close(step.lqo_error, expected, 1e-8);
        }
    }
}

/// Ten rows of three columns, made up.
const ROWS: [[f64; 3]; 10] = [
    [1.49, -0.71, -1.8],
    [0.19, -0.45, -1.67],
    [1.11, -2.23, -1.17],
    [1.5, -0.42, 1.1],
    [0.49, -1.12, 1.22],
    [0.9, 1.26, 0.19],
    [-0.7, -0.44, 0.6],
    [-1.06, -0.28, -0.64],
    [-0.26, -1.11, -0.2],
    [-0.32, 0.34, 1.54],
];
const LABELS: [f64; 10] = [1.0, -0.3, 0.6, -0.5, 0.7, -1.5, -0.8, 0.6, 1.4, 0.7];

/// These rows in queries of the given sizes.
fn rows_in_queries(sizes: &[usize]) -> Dataset<'static> {
    let values = (0..3).flat_map(|column| ROWS.map(|row| row[column]));
    Dataset::from_csc(
        vec![0, 10, 20, 30],
        (0..3).flat_map(|_| 0..10).collect::<Vec<u32>>(),
        values.collect::<Vec<f64>>(),
        LABELS.to_vec(),
        Queries::from_sizes(sizes).unwrap(),
    )
    .unwrap()
}

/// RLScore's `GlobalRankRLS` sums over all pairs. So it is RankRLS on one query with the ridge parameter `lambda /
/// 10`.
#[test]
fn one_query_is_the_global_ranking_of_the_authors_implementation() {
    let data = rows_in_queries(&[10]);
    for solver in Solver::ALL {
        for (lambda, weights) in &GOLDEN.global {
            let (options, nothing) = (by_solver(solver), HoldOut::Nothing);
            let trained = training::train(&data, &options, lambda / 10.0, nothing).unwrap();
            for (&(_, weight), expected) in training::weights(&trained).iter().zip(weights) {
                assert_close(weight, *expected, 1e-9);
            }
        }
    }
}

/// Scores by models trained without the rows.
#[derive(Deserialize)]
struct HeldOut {
    lambda: f64,
    /// Every query on its own.
    queries: Vec<f64>,
    /// The first and third query together, and the other two.
    folds: Vec<f64>,
}

#[test]
fn queries_are_held_out_as_by_the_authors_implementation() {
    let data = rows_in_queries(&[4, 3, 2, 1]);
    let folds = Groups::new(vec![vec![0, 2], vec![1, 3]], 4).unwrap();
    for solver in Solver::ALL {
        for golden in &GOLDEN.held_out {
            for (groups, scores) in [
                (&Groups::queries(4), &golden.queries),
                (&folds, &golden.folds),
            ] {
                let (options, lambda) = (by_solver(solver), golden.lambda);
                let trained = training::train(&data, &options, lambda, given(groups)).unwrap();
                let found = held_out(&trained);
                for range in data.queries().ranges() {
                    let own = &scores[range.clone()];
                    let mean = own.iter().sum::<f64>() / own.len() as f64;
                    for (prediction, score) in found.predictions[range].iter().zip(own) {
                        let expected = score - mean;
                        assert!(
                            (prediction - expected).abs() < precision(solver),
                            "{solver}: {prediction} for {expected}"
                        );
                    }
                }
            }
        }
    }
}

/// A query with grades up to 4, and its measures.
#[derive(Deserialize)]
struct Graded {
    grades: Vec<f64>,
    scores: Vec<f64>,
    err: f64,
    err_in_input_order: f64,
    ndcg_3: Option<f64>,
    ndcg_10: Option<f64>,
}

#[test]
fn grades_up_to_4_are_measured_as_by_brute_force() {
    for (number, query) in GOLDEN.graded.iter().enumerate() {
        for (name, convention, expected) in [
            ("err:4", Convention::Standard, Some(query.err)),
            ("err:4", Convention::Letor, Some(query.err_in_input_order)),
            ("ndcg@3", Convention::Standard, query.ndcg_3),
            ("ndcg@10", Convention::Standard, query.ndcg_10),
        ] {
            let queries = Queries::single(query.grades.len()).unwrap();
            let judge = Judge::new(name.parse().unwrap(), convention, &query.grades, &queries);
            let found = judge.of_query(0, &mut query.scores.clone());
            let close = match (found, expected) {
                (Some(value), Some(other)) => (value - other).abs() < 1e-14,
                _ => found == expected,
            };
            assert!(
                close,
                "query {number}: {name} is {found:?}, not {expected:?}"
            );
        }
    }
}
