//! The RankRLS family against `RLScore` (`family.json` names its source) and against retraining: objectives,
//! hold-outs that cut queries, pairs, kernels and reduced sets.

#![expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "small numbers of rows"
)]

use std::sync::LazyLock;

use crate::oracle::problems::{lambdas, problems};
use crate::oracle::training::{
    drawn_training, given, held_out, noise_of_iterations, precision, scores, train, weights,
};
use crate::oracle::{Problem, drawn_problems, on, ridge};
use proptest::prelude::*;
use rankrls::data::Groups;
use rankrls::ridge::{Basis, Kernel, KernelKind, Preference, Preferences};
use rankrls::{Dataset, HoldOut, Lambda, Objective, Queries, QueryWeight, RankRls, Solver};
use serde_json::Value;

static GOLDEN: LazyLock<Value> =
    LazyLock::new(|| serde_json::from_str(include_str!("family.json")).unwrap());

const NAMES: [&str; 2] = ["tiny_a", "tiny_b"];

const FACTORING: [Solver; 2] = [Solver::Dual, Solver::Primal];

fn options(solver: Solver) -> RankRls {
    RankRls {
        solver: Some(solver),
        ..RankRls::default()
    }
}

fn global(solver: Solver) -> RankRls {
    RankRls {
        objective: Objective::Global,
        ..options(solver)
    }
}

fn weighted(solver: Solver, all_pairs: bool, query_weight: QueryWeight) -> RankRls {
    if all_pairs {
        return global(solver);
    }
    RankRls {
        query_weight,
        ..options(solver)
    }
}

fn preferring_to(preferences: &Preferences, solver: Solver) -> RankRls {
    RankRls {
        objective: Objective::Pairs,
        preferences: Some(preferences.clone()),
        ..options(solver)
    }
}

fn numbers(value: &Value) -> Vec<f64> {
    let list = value.as_array().unwrap_or_else(|| panic!("{value}"));
    list.iter().map(|number| number.as_f64().unwrap()).collect()
}

fn places(value: &Value) -> Vec<usize> {
    numbers(value)
        .into_iter()
        .map(|place| place as usize)
        .collect()
}

fn list(value: &Value) -> &[Value] {
    value.as_array().unwrap()
}

fn lambda(run: &Value) -> f64 {
    run["lambda"].as_f64().unwrap()
}

/// A data set from lists of rows.
fn dense(json: &Value, labels: Vec<f64>, queries: Queries) -> Dataset<'static> {
    let rows: Vec<Vec<f64>> = list(json).iter().map(numbers).collect();
    let (mut indptr, mut places, mut values) = (vec![0], Vec::new(), Vec::new());
    for column in 0..rows[0].len() {
        for (row, line) in (0u32..).zip(&rows) {
            if line[column] != 0.0 {
                places.push(row);
                values.push(line[column]);
            }
        }
        indptr.push(places.len());
    }
    Dataset::from_csc(indptr, places, values, labels, queries).unwrap()
}

fn data(golden: &Value) -> Dataset<'static> {
    let queries = Queries::from_row_ids(&places(&golden["qids"])).unwrap();
    dense(&golden["X"], numbers(&golden["y"]), queries)
}

/// The groups of all rows, from lists of rows.
fn groups_of(lists: &[Vec<usize>], rows: usize) -> Groups {
    let group = |row: usize| lists.iter().position(|list| list.contains(&row)).unwrap();
    Groups::of_rows((0..rows).map(group)).unwrap()
}

fn as_one(dataset: &Dataset<'_>) -> Dataset<'static> {
    let all = dataset.as_one_query();
    all.queries_subset(&[0]).unwrap()
}

#[track_caller]
fn close(found: f64, expected: f64, relative: f64) {
    let off = (found - expected).abs();
    assert!(
        off <= relative * (1.0 + expected.abs()),
        "{found} for {expected}"
    );
}

/// Compares predictions up to a constant: predictions of a query are relative to its mean.
#[track_caller]
fn close_but_for_a_constant(found: &[f64], expected: &[f64], relative: f64) {
    assert_eq!(found.len(), expected.len());
    for (a, b) in found.iter().zip(expected) {
        close(a - found[0], b - expected[0], relative);
    }
}

#[test]
fn all_pairs_are_learnt_as_rlscore_does() {
    for name in NAMES {
        let golden = &GOLDEN[name];
        let dataset = as_one(&data(golden));
        for run in list(&golden["global"]) {
            for solver in Solver::ALL {
                let trained = train(&dataset, &global(solver), lambda(run), HoldOut::Nothing);
                let (trained, expected) = (trained.unwrap(), numbers(&run["weights"]));
                for &(feature, weight) in weights(&trained) {
                    close(weight, expected[feature as usize], 1e-8);
                }
                let predictions = numbers(&run["train_predictions"]);
                for (found, expected) in scores(&trained, &dataset).into_iter().zip(predictions) {
                    close(found, expected, 1e-8);
                }
            }
        }
    }
}

#[test]
fn pairs_and_folds_of_all_data_are_left_out_as_in_rlscore() {
    for name in NAMES {
        let golden = &GOLDEN[name];
        let dataset = as_one(&data(golden));
        for run in list(&golden["runs"]) {
            for solver in Solver::ALL {
                let by = |holdout| train(&dataset, &global(solver), lambda(run), holdout);
                for (key, json) in [
                    ("kfold", &golden["folds"]),
                    ("folds_are_queries", &golden["queries"]),
                ] {
                    if json.is_null() {
                        continue;
                    }
                    let groups: Vec<Vec<usize>> = list(json).iter().map(places).collect();
                    let split = groups_of(&groups, dataset.rows());
                    let trained = by(given(&split)).unwrap();
                    let held_out = held_out(&trained);
                    let mean = run[key]["mean"].as_f64().unwrap();
                    if solver != Solver::ConjugateGradients {
                        close(held_out.cindex.unwrap(), mean, 1e-12);
                    }
                    for (group, expected) in
                        groups.iter().zip(list(&run[key]["holdout_predictions"]))
                    {
                        let found: Vec<f64> =
                            group.iter().map(|&row| held_out.predictions[row]).collect();
                        close_but_for_a_constant(&found, &numbers(expected), precision(solver));
                    }
                }
                let pairs_out = by(HoldOut::Pairs);
                if !FACTORING.contains(&solver) {
                    let error = pairs_out.unwrap_err();
                    assert!(
                        error.to_string().contains("has no hold-outs by lpo"),
                        "{error}"
                    );
                    continue;
                }
                let trained = pairs_out.unwrap();
                let held_out = held_out(&trained);
                let concordance = run["lpo_concordance"].as_f64().unwrap();
                close(held_out.cindex.unwrap(), concordance, 1e-12);
                let expected = numbers(&run["lpo_first"])
                    .into_iter()
                    .zip(numbers(&run["lpo_second"]));
                let pairs = list(&golden["pairs"]).iter().map(places);
                assert_eq!(held_out.pairs.len(), pairs.len());
                for ((pair, (first, second)), found) in pairs.zip(expected).zip(&held_out.pairs) {
                    assert_eq!(found.0.map(|row| row as usize), [pair[0], pair[1]]);
                    close(found.1[0] - found.1[1], first - second, 1e-8);
                }
            }
        }
    }
}

#[test]
fn queries_are_cut_as_by_training_again() {
    for name in NAMES {
        let golden = &GOLDEN[name];
        let dataset = data(golden);
        let queries = dataset.queries().clone();
        for run in list(&golden["runs"]) {
            for solver in Solver::ALL {
                let by = |holdout| train(&dataset, &options(solver), lambda(run), holdout).unwrap();
                let folds: Vec<Vec<usize>> = list(&golden["folds"]).iter().map(places).collect();
                let split = groups_of(&folds, dataset.rows());
                let trained = by(given(&split));
                let found = &held_out(&trained).predictions;
                let all = list(&run["query_rankrls_folds_that_cut_queries_raw"]);
                for (fold, json) in folds.iter().zip(all) {
                    let expected = numbers(json);
                    for (a, &first) in fold.iter().enumerate() {
                        for (b, &second) in fold.iter().enumerate() {
                            if queries.of_row(first) == queries.of_row(second) {
                                close(
                                    found[first] - found[second],
                                    expected[a] - expected[b],
                                    precision(solver),
                                );
                            }
                        }
                    }
                }
                if FACTORING.contains(&solver) {
                    let trained = by(HoldOut::Pairs);
                    for pair in list(&run["query_rankrls_lpo_within_query"]) {
                        let rows = places(&pair["pair"]);
                        let mut pairs_out = held_out(&trained).pairs.iter();
                        let same =
                            |own: &&([u32; 2], [f64; 2])| own.0.map(|row| row as usize) == rows[..];
                        let (_, predictions) = pairs_out.find(same).unwrap();
                        for (found, expected) in predictions.iter().zip(numbers(&pair["centred"])) {
                            close(*found, expected, 1e-8);
                        }
                    }
                }
            }
        }
    }
}

fn kernel(name: &str) -> Kernel {
    let words: Vec<&str> = name.split(' ').collect();
    let number = |after: &str| -> f64 {
        let place = words.iter().position(|word| *word == after).unwrap();
        words[place + 1].parse().unwrap()
    };
    match words[0] {
        "linear" => Kernel::LINEAR,
        "gaussian" => Kernel::gaussian(number("gamma")).unwrap(),
        _ => {
            let (gamma, coef0, degree) = (number("gamma"), number("coef0"), number("degree"));
            Kernel::new(KernelKind::Polynomial, gamma, coef0, degree as u32).unwrap()
        }
    }
}

#[test]
fn kernels_are_those_of_rlscore() {
    let golden = &GOLDEN["tiny_a"];
    let dataset = data(golden);
    let tests = list(&golden["X_test"]).len();
    let test = dense(
        &golden["X_test"],
        vec![0.0; tests],
        Queries::single(tests).unwrap(),
    );
    for run in list(&GOLDEN["kernels"]) {
        let kernel = kernel(run["kernel"].as_str().unwrap());
        let own = as_one(&dataset);
        let of_kernel = RankRls {
            lambdas: Lambda::new(lambda(run)).unwrap().into(),
            kernels: vec![kernel],
            ..RankRls::default()
        };
        for (key, objective, data) in [
            ("query", Objective::Query, &dataset),
            ("global", Objective::Global, &own),
        ] {
            let params = RankRls {
                objective,
                ..of_kernel.clone()
            };
            let model = params.fit(data).unwrap();
            let expected = numbers(&run[key]["test_predictions"]);
            let found = model.scores(&test);
            // The coefficients sum to 0, so a constant in the kernel changes nothing but the constant.
            close_but_for_a_constant(&found, &expected, 1e-8);
            let expected = numbers(&run[key]["train_predictions"]);
            close_but_for_a_constant(&model.scores(data), &expected, 1e-8);
        }
        let of_queries = of_kernel.train(&dataset, None).unwrap();
        let held_out = &of_queries.best().holdout.as_ref().unwrap().predictions;
        let lists = list(&run["query"]["leave_query_out_raw"]);
        for (range, expected) in dataset.queries().ranges().zip(lists) {
            close_but_for_a_constant(&held_out[range], &numbers(expected), 1e-8);
        }
        if let Some(reduced) = run.get("reduced_set") {
            let basis = places(&reduced["basis_rows"]);
            let params = RankRls {
                basis: Some(Basis::Given(basis)),
                ..of_kernel
            };
            let model = params.fit(&dataset).unwrap();
            let expected = numbers(&reduced["query_test_predictions"]);
            close_but_for_a_constant(&model.scores(&test), &expected, 1e-8);
        }
    }
}

#[test]
fn preferences_are_learnt_as_in_rlscore() {
    let golden = &GOLDEN["pairs"];
    let rows = list(&golden["X"]).len();
    let dataset = dense(
        &golden["X"],
        vec![0.0; rows],
        Queries::single(rows).unwrap(),
    );
    let tests = list(&golden["X_test"]).len();
    let test = dense(
        &golden["X_test"],
        vec![0.0; tests],
        Queries::single(tests).unwrap(),
    );
    let (magnitudes, of_pairs) = (
        numbers(&golden["magnitudes"]),
        numbers(&golden["pair_weights"]),
    );
    let starts = places(&golden["start"]).into_iter();
    let ends: Vec<(usize, usize)> = starts.zip(places(&golden["end"])).collect();
    let preferring = |sizes: &[f64], shares: &[f64]| {
        let numbers = ends.iter().zip(sizes).zip(shares);
        let all = numbers.map(|((&(s, e), &magnitude), &weight)| Preference {
            preferred: s as u32,
            other: e as u32,
            magnitude,
            weight,
        });
        Preferences::new(all.collect(), &dataset).unwrap()
    };
    let ones = vec![1.0; ends.len()];
    for run in list(&golden["runs"]) {
        for (key, preferences) in [
            ("weights", preferring(&ones, &ones)),
            ("with_magnitudes_weights", preferring(&magnitudes, &ones)),
            (
                "with_magnitudes_and_pair_weights_weights",
                preferring(&magnitudes, &of_pairs),
            ),
        ] {
            for solver in Solver::ALL {
                let options = preferring_to(&preferences, solver);
                let trained = train(&dataset, &options, lambda(run), HoldOut::Nothing).unwrap();
                for (&(_, found), expected) in weights(&trained).iter().zip(numbers(&run[key])) {
                    close(found, expected, 1e-8);
                }
            }
        }
        let kernel = Kernel::gaussian(0.25).unwrap();
        let params = RankRls {
            lambdas: Lambda::new(lambda(run)).unwrap().into(),
            kernels: vec![kernel],
            objective: Objective::Pairs,
            preferences: Some(preferring(&ones, &ones)),
            ..RankRls::default()
        };
        let model = params.fit(&dataset).unwrap();
        // With more preferences than rows, the model is over the rows.
        let twice: Vec<(usize, usize)> = ends.iter().chain(&ends).copied().collect();
        assert!(twice.len() > rows);
        let preference = |(s, e): (usize, usize)| Preference {
            preferred: s as u32,
            other: e as u32,
            magnitude: 1.0,
            weight: 1.0,
        };
        let many = twice.into_iter().map(preference).collect();
        let of_many = RankRls {
            lambdas: Lambda::new(lambda(run) * 2.0).unwrap().into(),
            preferences: Some(Preferences::new(many, &dataset).unwrap()),
            ..params
        };
        let scores = of_many.fit(&dataset).unwrap().scores(&test);
        close_but_for_a_constant(&scores, &model.scores(&test), 1e-8);
        let of_run = numbers(&run["gaussian_gamma_0.25"]["test_predictions"]);
        close_but_for_a_constant(&model.scores(&test), &of_run, 1e-8);
    }
}

/// Weights, and predictions for all rows, of a model trained on the `kept` rows. Each query is centred by its kept
/// rows.
fn retrained(problem: &Problem, kept: &[usize], weight: QueryWeight, lambda: f64) -> Vec<f64> {
    let centred = |given: &Vec<f64>| {
        let mut values = given.clone();
        for range in problem.queries() {
            let own: Vec<usize> = range.clone().filter(|row| kept.contains(row)).collect();
            let mean = own.iter().map(|&row| values[row]).sum::<f64>() / own.len().max(1) as f64;
            let scale = weight.of(range.len()).sqrt();
            for row in own {
                values[row] = (values[row] - mean) * scale;
            }
        }
        values
    };
    let x: Vec<Vec<f64>> = problem.x.iter().map(centred).collect();
    let weights = ridge(&x, &centred(&problem.labels), kept, lambda);
    let score = |row: usize| {
        problem
            .x
            .iter()
            .zip(&weights)
            .map(|(x, w)| x[row] * w)
            .sum()
    };
    (0..problem.rows()).map(score).collect()
}

fn drawn() -> impl Strategy<Value = Problem> {
    let sizes = prop_oneof![
        4 => prop::collection::vec(1usize..6, 1..6),
        1 => prop::collection::vec(12usize..15, 1..3),
    ];
    problems(sizes, 1..12)
}

/// A problem, and whether it is one query for the objective of all pairs.
fn within_or_global() -> impl Strategy<Value = (Problem, bool)> {
    (drawn(), any::<bool>()).prop_map(|(mut problem, global)| {
        if global {
            problem.sizes = vec![problem.rows()];
        }
        (problem, global)
    })
}

fn noise(lambda: f64) -> f64 {
    1e-8 + 1e-11 / lambda
}

proptest! {
    #![proptest_config(drawn_problems(96))]

    #[test]
    fn rows_of_any_group_are_held_out_as_defined(
        (problem, global) in within_or_global(),
        lambda in lambdas(),
        weight in prop::sample::select(&QueryWeight::ALL[..]),
        groups in prop::collection::vec(0usize..3, 28),
    ) {
        let (rows, dataset) = (problem.rows(), problem.dataset());
        let weight = if global { QueryWeight::Uniform } else { weight };
        let Ok(split) = Groups::of_rows(groups[..rows].iter()) else { return Ok(()) };
        for solver in Solver::ALL {
            let options = weighted(solver, global, weight);
            let trained = match train(&dataset, &options, lambda, given(&split)) {
                Err(error) if error.to_string().starts_with("no group holds out") => return Ok(()),
                Err(error) if error.to_string().starts_with("nothing to train on") => return Ok(()),
                found => found.unwrap(),
            };
            let found = held_out(&trained);
            let by_residual = |noise: f64| match solver {
                Solver::ConjugateGradients => noise_of_iterations(&problem, lambda / rows as f64),
                _ => noise,
            };
            let mut error = 0.0;
            for group in split.iter() {
                let kept: Vec<usize> = (0..rows).filter(|row| !group.contains(row)).collect();
                let own = if global { lambda / kept.len() as f64 } else { lambda };
                let scores = retrained(&problem, &kept, weight, own);
                for range in problem.queries() {
                    let part: Vec<usize> = range.clone().filter(|row| group.contains(row)).collect();
                    for &row in &part {
                        let (first, noise) = (part[0], by_residual(noise(own)));
                        let expected = scores[row] - scores[first];
                        let difference = found.predictions[row] - found.predictions[first];
                        prop_assert!((difference - expected).abs() <= noise, "{solver}: {difference} for {expected}");
                    }
                    let left = part.iter().map(|&row| problem.labels[row] - scores[row]);
                    let mean = left.clone().sum::<f64>() / part.len().max(1) as f64;
                    let squares: f64 = left.map(|left| (left - mean).powi(2)).sum();
                    error += weight.of(range.len()) * squares;
                }
            }
            let noise = by_residual(noise(lambda)) * 10.0 * (1.0 + error);
            prop_assert!((found.error - error).abs() <= noise, "{solver}: {} for {error}", found.error);
        }
    }

    #[test]
    fn every_pair_is_left_out_as_defined(
        (problem, global) in within_or_global(),
        lambda in lambdas(),
        weight in prop::sample::select(&QueryWeight::ALL[..]),
    ) {
        let (rows, dataset) = (problem.rows(), problem.dataset());
        let weight = if global { QueryWeight::Uniform } else { weight };
        for solver in FACTORING {
            let options = weighted(solver, global, weight);
            if global && rows == 2 {
                let error = train(&dataset, &options, lambda, HoldOut::Pairs).unwrap_err();
                let start = ["all examples are in one group", "nothing to train on"];
                prop_assert!(start.iter().any(|start| error.to_string().starts_with(start)));
                return Ok(());
            }
            let Some(trained) = drawn_training(&dataset, &options, lambda, HoldOut::Pairs) else { return Ok(()) };
            let found = held_out(&trained);
            let mut error = 0.0;
            for (pair, predictions) in &found.pairs {
                let [i, j] = pair.map(|row| row as usize);
                let kept: Vec<usize> = (0..rows).filter(|row| *row != i && *row != j).collect();
                let own = if global { lambda / kept.len() as f64 } else { lambda };
                let scores = retrained(&problem, &kept, weight, own);
                let expected = scores[i] - scores[j];
                let difference = predictions[0] - predictions[1];
                prop_assert!((difference - expected).abs() <= noise(own), "{solver} {i} {j}: {difference} for {expected}");
                let size = problem.queries().into_iter().find(|range| range.contains(&i)).unwrap().len();
                let missed = problem.labels[i] - problem.labels[j] - expected;
                error += weight.of(size) * missed * missed / size as f64;
            }
            prop_assert!((found.error - error).abs() <= noise(lambda) * 10.0 * (1.0 + error));
            let pairs: usize = problem.sizes.iter().map(|size| size * (size - 1) / 2).sum();
            prop_assert_eq!(found.pairs.len(), pairs);
        }
    }

    #[test]
    fn preferences_are_left_out_as_by_training_again(
        problem in drawn(),
        lambda in lambdas(),
        ends in prop::collection::vec((0usize..28, 0usize..28, -2i32..3, 1u32..4), 1..14),
        folds in 2usize..5,
    ) {
        let rows = problem.rows();
        let problem = Problem { sizes: vec![rows], ..problem };
        let dataset = problem.dataset();
        let preference = |&(s, e, magnitude, weight): &(usize, usize, i32, u32)| Preference {
            preferred: (s % rows) as u32,
            other: (e % rows) as u32,
            magnitude: f64::from(magnitude),
            weight: f64::from(weight) / 2.0,
        };
        let list: Vec<Preference> = ends.iter().map(preference).collect();
        let Ok(preferences) = Preferences::new(list.clone(), &dataset) else { return Ok(()) };
        let units = Queries::from_sizes(&vec![1; list.len()]);
        let groups = match units.and_then(|units| Groups::folds(&units, folds, 1)) {
            Ok(groups) => groups,
            Err(_) => Groups::queries(list.len()),
        };
        // One row for each preference.
        let trained_on = |kept: &[usize]| {
            let row = |one: &usize| {
                let Preference { preferred, other, weight, .. } = list[*one];
                let difference = move |x: &Vec<f64>| x[preferred as usize] - x[other as usize];
                (difference, weight.sqrt())
            };
            let difference = |x: &Vec<f64>| kept.iter().map(|one| { let (d, c) = row(one); c * d(x) }).collect();
            let x: Vec<Vec<f64>> = problem.x.iter().map(difference).collect();
            let y: Vec<f64> = kept.iter().map(|&one| list[one].weight.sqrt() * list[one].magnitude).collect();
            ridge(&x, &y, &(0..kept.len()).collect::<Vec<_>>(), lambda)
        };
        let all: Vec<usize> = (0..list.len()).collect();
        let of_all = trained_on(&all);
        for solver in Solver::ALL {
            let options = preferring_to(&preferences, solver);
            let Some(trained) = drawn_training(&dataset, &options, lambda, given(&groups)) else { return Ok(()) };
            let iterated = solver == Solver::ConjugateGradients;
            let noise = if iterated {
                10.0 * noise_of_iterations(&problem, lambda) * (list.len() as f64).sqrt()
            } else {
                10.0 * noise(lambda)
            };
            for &(feature, found) in weights(&trained) {
                let (expected, noise) = (of_all[feature as usize], 100.0 * self::noise(lambda));
                prop_assert!((found - expected).abs() <= noise, "{solver}: {found} for {expected}");
            }
            let held_out = held_out(&trained);
            for group in groups.iter() {
                let kept: Vec<usize> = all.iter().copied().filter(|one| !group.contains(one)).collect();
                let of_kept = trained_on(&kept);
                for &one in group {
                    let Preference { preferred, other, .. } = list[one];
                    let difference = |x: &Vec<f64>| x[preferred as usize] - x[other as usize];
                    let expected: f64 = problem.x.iter().zip(&of_kept).map(|(x, w)| w * difference(x)).sum();
                    let found = held_out.predictions[one];
                    prop_assert!((found - expected).abs() <= noise, "{solver}: {found} for {expected}");
                }
            }
        }
    }

    #[test]
    fn a_linear_kernel_and_a_basis_of_all_rows_are_the_columns(
        problem in drawn(),
        lambda in lambdas(),
    ) {
        let dataset = problem.dataset();
        // Precomputed values of the linear kernel.
        let product = |i: usize, j: usize| problem.x.iter().map(|x| x[i] * x[j]).sum::<f64>();
        let rows = problem.rows();
        let x = (0..rows).map(|i| (0..rows).map(|j| product(i, j)).collect()).collect();
        let of_kernel = Problem { x, ..problem.clone() }.dataset();
        let precomputed = RankRls { kernels: vec![Kernel::PRECOMPUTED], ..RankRls::default() };
        let basis = RankRls { basis: Some(Basis::Given((0..rows).collect())), ..RankRls::default() };
        for holdout in [HoldOut::Queries, HoldOut::Pairs] {
            if holdout == HoldOut::Queries && dataset.queries().len() == 1 {
                continue;
            }
            let by_columns = drawn_training(&dataset, &RankRls::default(), lambda, holdout.clone());
            let Some(by_columns) = by_columns else { return Ok(()) };
            let expected = held_out(&by_columns);
            let by_kernel = train(&of_kernel, &precomputed, lambda, holdout.clone()).unwrap();
            let by_basis = train(&dataset, &basis, lambda, holdout).unwrap();
            for found in [held_out(&by_kernel), held_out(&by_basis)] {
                for (found, expected) in found.predictions.iter().zip(&expected.predictions) {
                    prop_assert!((found - expected).abs() <= noise(lambda), "{found} for {expected}");
                }
                for (found, expected) in found.pairs.iter().zip(&expected.pairs) {
                    let off = found.1[0] - expected.1[0];
                    prop_assert!(off.abs() <= noise(lambda), "{off}");
                }
            }
        }
    }
}

#[test]
fn objectives_meet_where_they_are_the_same() {
    let golden = &GOLDEN["tiny_a"];
    let (grouped, one) = (data(golden), as_one(&data(golden)));
    let by = |dataset: &Dataset<'_>, objective, preferences: Option<Preferences>| {
        let params = RankRls {
            objective,
            preferences,
            ..RankRls::default()
        };
        train(dataset, &params, 0.5, HoldOut::Nothing).unwrap()
    };
    let pairs = |dataset: &Dataset<'_>| {
        let labels = dataset.labels();
        let mut list = Vec::new();
        for range in dataset.queries().ranges() {
            let weight = if dataset.queries().len() == 1 {
                1.0
            } else {
                1.0 / range.len() as f64
            };
            for i in range.clone() {
                for j in i + 1..range.end {
                    list.push(Preference {
                        preferred: i as u32,
                        other: j as u32,
                        magnitude: labels[i] - labels[j],
                        weight,
                    });
                }
            }
        }
        Some(Preferences::new(list, dataset).unwrap())
    };
    for (dataset, objective) in [(&grouped, Objective::Query), (&one, Objective::Global)] {
        let expected = by(dataset, objective, None);
        let found = by(dataset, Objective::Pairs, pairs(dataset));
        for (found, expected) in weights(&found).iter().zip(weights(&expected)) {
            close(found.1, expected.1, 1e-10);
        }
    }
}

#[test]
fn pairs_of_a_large_query_have_the_same_bits_at_any_number_of_threads() {
    let problem = Problem {
        x: (0..40_usize)
            .map(|column| {
                (0..700_usize)
                    .map(|row| ((row * 31 + column * 17 + row * column) % 23) as f64)
                    .collect()
            })
            .collect(),
        labels: (0..700_usize)
            .map(|row| ((row * row) % 11) as f64)
            .collect(),
        sizes: vec![300, 20, 380],
    };
    let (dataset, rows) = (problem.dataset(), problem.rows());
    let run = |solver: Solver, threads: usize| {
        on(threads, || {
            let trained = train(&dataset, &options(solver), 2.0, HoldOut::Pairs).unwrap();
            held_out(&trained).clone()
        })
    };
    let expected = run(Solver::Dual, 1);
    assert_eq!(expected.pairs.len(), 300 * 299 / 2 + 190 + 380 * 379 / 2);
    for solver in FACTORING {
        let found = run(solver, 1);
        assert_eq!(found, run(solver, 3), "{solver}");
        close(found.error, expected.error, 1e-9);
        assert_eq!(found.cindex, expected.cindex);
    }
    // One pair, by retraining.
    let kept: Vec<usize> = (0..rows).filter(|row| ![5, 299].contains(row)).collect();
    let scores = retrained(&problem, &kept, QueryWeight::Uniform, 2.0);
    let mut pairs = expected.pairs.iter();
    let (_, found) = pairs.find(|(pair, _)| *pair == [5, 299]).unwrap();
    close(found[0] - found[1], scores[5] - scores[299], 1e-9);
}

/// The refusal of data with a kernel, or with a basis.
fn refused(data: &Dataset<'_>, kernel: Kernel, basis: Option<Basis>) -> String {
    let params = RankRls {
        kernels: vec![kernel],
        basis,
        ..RankRls::default()
    };
    let found = train(data, &params, 1.0, HoldOut::Nothing);
    found.unwrap_err().to_string()
}

#[test]
fn kernels_that_are_none_are_refused() {
    let given = |kernel: &[[f64; 3]; 3]| {
        let values: Vec<f64> = (0..9).map(|at| kernel[at % 3][at / 3]).collect();
        let rows: Vec<u32> = (0..3).flat_map(|_| 0..3).collect();
        let queries = Queries::single(3).unwrap();
        let data = Dataset::from_csc(vec![0, 3, 6, 9], rows, values, vec![0.0, 1.0, 2.0], queries);
        refused(&data.unwrap(), Kernel::PRECOMPUTED, None)
    };
    let error = given(&[[1.0, 2.0, 0.0], [2.0, 1.0, 0.0], [0.0, 0.0, 1.0]]);
    assert!(error.contains("its least eigenvalue is -"), "{error}");
    let error = given(&[[1.0, 0.5, 0.0], [0.4, 1.0, 0.0], [0.0, 0.0, 1.0]]);
    assert!(error.contains("0.4 in row 2, column 1 and 0.5"), "{error}");
    let data = data(&GOLDEN["tiny_a"]);
    let error = refused(&data, Kernel::PRECOMPUTED, None);
    assert!(error.contains("10 rows and 3 columns"), "{error}");
    let huge = Kernel::new(KernelKind::Polynomial, 1e200, 0.0, 3).unwrap();
    let error = refused(&data, huge, None);
    assert!(error.contains("scale the data"), "{error}");
    for rows in [vec![], vec![0, 0], vec![10], (0..11).collect()] {
        let error = refused(&data, Kernel::LINEAR, Some(Basis::Given(rows)));
        assert!(error.starts_with("a basis of "), "{error}");
    }
}
