//! FS-ED against a reference in NumPy, with densities and divergences of SciPy (`gaussian_kde`, `jensenshannon`)
//! and the NDCG of `rankrls evaluate`.

#![allow(
    clippy::unreadable_literal,
    reason = "numbers as they stand in the sources"
)]

use std::path::PathBuf;

use rankrls::data::DataHash;
use rankrls::data::read::ReadOptions;
use rankrls::greedy::job::{plan, select, select_among, unwatched};
use rankrls::greedy::strategy::ExpectedDivergence;
use rankrls::tune::{self, Tune, Tuning};
use rankrls::{Dataset, GreedyRankRls, HoldOut, Lambda, Queries, StrategyKind};
use serde::Deserialize;

use crate::oracle::{by, draws, on};

const CLOSE: f64 = 1e-10;

fn assert_close(found: f64, expected: f64) {
    assert!((found - expected).abs() <= CLOSE, "{found} for {expected}");
}

#[derive(Deserialize)]
struct Golden {
    /// Feature from 1, `s`, divergences of the grades 0-1, 0-2 and 1-2, bandwidth of grade 0, `psi`.
    letor: Vec<(u32, f64, [f64; 3], f64, f64)>,
    /// The features by falling `psi`.
    ranking: Vec<u32>,
}

fn letor() -> Option<(Dataset<'static>, Dataset<'static>)> {
    let Some(folder) = std::env::var_os("RANKRLS_CORPORA") else {
        eprintln!(
            "NOT TESTED: set RANKRLS_CORPORA to the folder of corpora to test fs-ed on LETOR"
        );
        return None;
    };
    let read = |name: &str| {
        let path = PathBuf::from(&folder).join("letor-mq2008-fold3").join(name);
        let loaded = ReadOptions::new().width(46).read(&path);
        loaded.unwrap_or_else(|error| panic!("{error}")).dataset
    };
    Some((read("train.txt.zst"), read("vali.txt.zst")))
}

#[test]
fn features_of_letor_are_judged_as_by_scipy() {
    let Some((train, validation)) = letor() else {
        return;
    };
    let golden: Golden = serde_json::from_str(include_str!("filters.json")).unwrap();
    let train = train.with_validation(validation);
    let filter = ExpectedDivergence::new(&train).unwrap();
    let mut rest: Vec<u32> = (1..=46).collect();
    for (feature, s, pairs, bandwidth, psi) in golden.letor {
        let feature = feature - 1;
        let [descending, ascending] = filter.ndcg(feature);
        assert_close(descending.max(ascending), s);
        let divergences = filter.divergences(feature).unwrap();
        assert_eq!(divergences.len(), pairs.len());
        for (found, expected) in divergences.into_iter().zip(pairs) {
            assert_close(found, expected);
        }
        let bandwidths = filter.bandwidths(feature).unwrap();
        assert_close(bandwidths[0].unwrap(), bandwidth);
        assert_close(filter.psi(feature).unwrap(), psi);
        rest.retain(|&other| other != feature + 1);
    }
    assert!(rest.iter().all(|feature| filter.psi(feature - 1).is_none()));
    let options = by(StrategyKind::FsEd, 46, 8.0);
    let selected = select(&train, &options, &mut unwatched).unwrap().features();
    let numbers: Vec<u32> = selected.iter().map(|feature| feature + 1).collect();
    assert_eq!(numbers, golden.ranking);
}

#[test]
fn a_feature_of_eight_rows_is_judged_as_by_hand() {
    let x = ndarray::arr2(&[[0.1], [0.4], [0.35], [0.8], [0.9], [0.6], [0.2], [0.5]]);
    let labels = [0.0, 0.0, 0.0, 1.0, 2.0, 2.0, 0.0, 1.0];
    let queries = || Queries::from_sizes(&[4, 4]).unwrap();
    let x_validation = ndarray::arr2(&[[0.15], [0.45], [0.7], [0.95]]);
    let one_query = Queries::single(4).unwrap();
    let validation = Dataset::from_dense(x_validation.view(), &[0.0; 4], one_query).unwrap();
    let train = Dataset::from_dense(x.view(), &labels, queries()).unwrap();
    let train = train.with_validation(validation.queries_subset(&[0]).unwrap());
    let filter = ExpectedDivergence::new(&train).unwrap();
    for (found, expected) in filter.divergences(0).unwrap().into_iter().zip([
        0.3594119662278672,
        0.5280006028101307,
        0.11211815862537075,
    ]) {
        assert!((found - expected).abs() <= 1e-14, "{found} for {expected}");
    }
    for (found, expected) in filter.bandwidths(0).unwrap().into_iter().zip([
        0.0939140540971457,
        0.08770472092908721,
        0.08770472092908707,
    ]) {
        assert!(
            (found.unwrap() - expected).abs() <= 1e-15,
            "{found:?} for {expected}"
        );
    }
    let [descending, ascending] = filter.ndcg(0);
    assert_close(descending, 1.0);
    assert_close(ascending, 0.5327027505845986);
    assert_close(filter.psi(0).unwrap(), 2.5275313304734994);
}

/// Noise in queries of five rows, with three grades and some nearly empty columns.
fn graded() -> Dataset<'static> {
    let mut next = draws(7);
    let (rows, columns) = (200, 30);
    let mut x = ndarray::Array2::zeros((rows, columns));
    for ((_, column), value) in x.indexed_iter_mut() {
        let rare = column % 3 == 0;
        if !rare || next(40) == 0 {
            *value = next(1000) as f64 / 100.0 - 3.0;
        }
    }
    let labels: Vec<f64> = (0..rows).map(|_| next(3) as f64).collect();
    let queries = Queries::from_sizes(&vec![5; rows / 5]).unwrap();
    Dataset::from_dense(x.view(), &labels, queries)
        .unwrap()
        .queries_subset(&(0..40).collect::<Vec<_>>())
        .unwrap()
}

fn options(k: usize) -> GreedyRankRls {
    by(StrategyKind::FsEd, k, 1.0)
}

#[test]
fn features_come_by_falling_psi_and_the_steps_are_taken_again() {
    let data = graded();
    let filter = ExpectedDivergence::new(&data).unwrap();
    // One column with many zeros, and one with few.
    let entries = |feature: usize| data.column(feature).rows.len();
    assert!(entries(0) < 10 && entries(1) > 10);
    let selection = select(&data, &options(30), &mut unwatched).unwrap();
    let psi: Vec<f64> = selection
        .features()
        .iter()
        .map(|&feature| filter.psi(feature).unwrap())
        .collect();
    assert_eq!(psi.len(), 30);
    assert!(psi.windows(2).all(|pair| pair[0] >= pair[1] - 1e-9));
    let evaluated: Vec<usize> = selection.steps.iter().map(|step| step.evaluated).collect();
    assert_eq!(evaluated[..2], [30, 0]);
    let candidates = options(30).candidates(&data).unwrap();
    for taken in [1, 15, 30] {
        let steps = &selection.steps[..taken];
        let again = select_among(&candidates, &data, &options(30), steps, &mut unwatched).unwrap();
        assert_eq!(again, selection);
    }
    for threads in [1, 3] {
        let again = on(threads, || {
            select(&data, &options(30), &mut unwatched).unwrap()
        });
        assert_eq!(again, selection);
    }
}

#[test]
fn a_column_is_judged_the_same_beside_others() {
    let data = graded();
    let all = select(&data, &options(30), &mut unwatched)
        .unwrap()
        .features();
    let part: Vec<u32> = (0..30).filter(|feature| feature % 4 == 1).collect();
    let alone = data.features_subset(&part).unwrap();
    let alone = select(&alone, &options(30), &mut unwatched)
        .unwrap()
        .features();
    let expected: Vec<u32> = all
        .into_iter()
        .filter(|feature| part.contains(feature))
        .collect();
    assert_eq!(alone, expected);
}

#[test]
fn validation_rows_decide_where_densities_are_compared() {
    let data = graded();
    let (first, rest) = (0..25).partition::<Vec<usize>, _>(|query| *query < 15);
    let validation = data.queries_subset(&rest).unwrap();
    let train = data.queries_subset(&first).unwrap();
    let psi = |data: &Dataset<'_>| ExpectedDivergence::new(data).unwrap().psi(1).unwrap();
    let (before, hash) = (psi(&train), DataHash::of(&train));
    let train = train.with_validation(validation);
    assert_ne!(psi(&train), before);
    assert_ne!(DataHash::of(&train), hash);
    let subset = train.queries_subset(&[0, 1, 2]).unwrap();
    assert_eq!(subset.validation().unwrap().rows(), 50);
}

#[test]
fn paths_of_several_strategies_have_the_filter() {
    let data = graded();
    let lambdas = [Lambda::new(1.0).unwrap()];
    let tuning = Tune {
        holdout: HoldOut::Folds { count: 3, seed: 1 },
        strategies: vec![StrategyKind::Bounded, StrategyKind::FsEd],
        ..Tune::new(GreedyRankRls::new(4, None), &lambdas)
    };
    let tuned = Tuning::new(&data, &tuning)
        .run(&mut tune::unwatched_events)
        .unwrap();
    let selected = tuned.outcomes[1].selection(4).unwrap();
    assert_eq!(
        selected,
        select(&data, &options(4), &mut unwatched).unwrap()
    );
}

#[test]
fn targets_without_columns_and_labels_that_are_no_grades_are_refused() {
    let data = graded();
    let candidates = options(3).candidates(&data).unwrap();
    // The rows of the data without columns.
    let other = data.features_subset(&[]).unwrap();
    let error = plan(&candidates, &other, &options(3)).unwrap_err();
    assert!(
        error.to_string().contains("found labels without them"),
        "{error}"
    );
    let labels: Vec<f64> = (0..data.rows()).map(|row| row as f64 / 10.0).collect();
    let data = Dataset::from_sprs(data.x(), &labels, data.queries().clone()).unwrap();
    let error = select(&data, &options(3), &mut unwatched).unwrap_err();
    assert!(error.to_string().starts_with("strategy fs-ed: "), "{error}");
    assert!(
        error.to_string().contains("found 200 different labels"),
        "{error}"
    );
}
