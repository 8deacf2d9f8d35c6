//! RankRLS against the definition: every solver, every partition of the queries, on data small
//! enough to retrain.

use crate::oracle::problems::{lambdas, problems};
use crate::oracle::{Problem, drawn_problems, grid, on};
use proptest::prelude::*;
use rankrls::data::{Groups, one_query};
use rankrls::ridge::{HOLDOUT_TOLERANCE, Holdout, RidgeProblem, TOLERANCE, Trained};
use rankrls::{Dataset, Kind, Lambda, Queries, QueryWeight, RankRls, Scale, Solver};

/// Queries from one row to all rows; more rows than columns and the other way round.
fn drawn() -> impl Strategy<Value = Problem> {
    let sizes = prop_oneof![
        4 => prop::collection::vec(1usize..6, 1..7),
        1 => prop::collection::vec(2usize..3, 8..14),
        1 => prop::collection::vec(12usize..17, 1..3),
    ];
    problems(sizes, 1..24)
}

fn weights() -> impl Strategy<Value = QueryWeight> {
    prop::sample::select(&QueryWeight::ALL[..])
}

fn options(solver: Solver) -> RankRls {
    RankRls {
        solver: Some(solver),
        ..RankRls::default()
    }
}

fn weighing(solver: Solver, query_weight: QueryWeight) -> RankRls {
    RankRls {
        query_weight,
        ..options(solver)
    }
}

/// What rounding may do with a system of condition `1 / lambda`, give or take the norms of the
/// columns, to residuals that are sums of labels.
fn noise(lambda: f64) -> f64 {
    1e-9 + 1e-12 / lambda
}

/// Hold-out residuals by training without each group.
fn retrained(problem: &Problem, groups: &Groups, lambda: f64) -> Vec<f64> {
    let mut residuals = vec![0.0; problem.rows()];
    let ranges = problem.queries();
    for group in groups.iter() {
        // As one query that is not to be centred again: rows are centred already.
        let rows: Vec<usize> = group
            .iter()
            .flat_map(|&query| ranges[query].clone())
            .collect();
        for (&row, residual) in rows.iter().zip(problem.residuals_without(&rows, lambda)) {
            residuals[row] = residual;
        }
    }
    residuals
}

fn check_holdout(
    problem: &Problem,
    weight: QueryWeight,
    groups: &Groups,
    lambda: f64,
    solver: Solver,
    found: &Holdout,
) -> Result<(), TestCaseError> {
    let weighed = problem.weighted(weight);
    let expected = retrained(&weighed, groups, lambda);
    let error: f64 = expected.iter().map(|residual| residual * residual).sum();
    let noise = noise(lambda);
    prop_assert!(
        (found.error - error).abs() <= noise * (1.0 + error),
        "{solver}: {} for {error}",
        found.error
    );
    let plain = problem.weighted(QueryWeight::Uniform);
    for range in problem.queries() {
        let scale = weight.of(range.len()).sqrt();
        for row in range {
            let prediction = plain.labels[row] - expected[row] / scale;
            let off = (found.predictions[row] - prediction).abs();
            prop_assert!(
                off <= noise,
                "{solver}: {} for {prediction}",
                found.predictions[row]
            );
        }
    }
    Ok(())
}

/// Weights by feature.
fn all_weights(trained: &Trained<'_>, features: usize) -> Vec<f64> {
    let weights = trained.weights();
    let mut all = vec![0.0; features];
    for (&feature, &weight) in weights.features.iter().zip(&weights.values) {
        all[feature as usize] = weight;
    }
    all
}

proptest! {
    #![proptest_config(drawn_problems(128))]

    #[test]
    fn every_solver_trains_as_defined(
        problem in drawn(),
        lambda in lambdas(),
        weight in weights(),
    ) {
        let dataset = problem.dataset();
        let features: Vec<usize> = (0..problem.x.len()).collect();
        let weighted = problem.weighted(weight);
        let defined = weighted.weights(&features, lambda);
        // No less than |K|: K a, with a as long as y / lambda, is rounded by a share of 2e-16 of it.
        let trace: f64 = weighted.x.iter().flatten().map(|value| value * value).sum();
        for solver in Solver::ALL {
            let options = weighing(solver, weight);
            let Ok(rls) = RidgeProblem::new(&dataset, &options) else {
                prop_assert!(problem.representatives().is_empty());
                return Ok(());
            };
            let trained = rls.train(Lambda::new(lambda).unwrap()).unwrap();
            prop_assert_eq!(trained.solver(), solver);
            if let Some(convergence) = trained.convergence() {
                let attainable = 1e-10 + 1e-13_f64.max(3e-16 * trace) / lambda;
                prop_assert!(convergence.residual <= attainable, "{:?}", convergence);
            }
            let weights = all_weights(&trained, features.len());
            for (found, expected) in weights.iter().zip(&defined) {
                let off = (found - expected).abs();
                prop_assert!(off <= noise(lambda), "{solver}: {found} for {expected}");
            }
        }
    }

    #[test]
    fn scaled_columns_are_trained_as_columns_that_were_divided(
        problem in drawn(),
        lambda in lambdas(),
        weight in weights(),
        scale in prop::sample::select(&Scale::ALL[..]),
    ) {
        let problem = problem.uneven();
        let (divided, divisors) = problem.divided(scale);
        if scale.is_none() || problem.sizes.len() == 1 {
            return Ok(());
        }
        let (dataset, queries) = (problem.dataset(), Groups::queries(problem.sizes.len()));
        let features: Vec<usize> = (0..problem.x.len()).collect();
        let defined = divided.weighted(weight).weights(&features, lambda);
        for solver in Solver::ALL {
            let options = RankRls { scale, ..weighing(solver, weight) };
            let Ok(rls) = RidgeProblem::new(&dataset, &options) else { continue };
            let trained = rls.train(Lambda::new(lambda).unwrap()).unwrap();
            let weights = all_weights(&trained, features.len());
            for ((found, divisor), expected) in weights.iter().zip(&divisors).zip(&defined) {
                let off = (found * divisor - expected).abs();
                prop_assert!(off <= noise(lambda), "{solver}: {found} x {divisor} for {expected}");
            }
            let held_out = trained.leave_query_out().unwrap();
            check_holdout(&divided, weight, &queries, lambda, solver, &held_out)?;
        }
    }

    #[test]
    fn any_partition_is_held_out_as_defined(
        problem in drawn(),
        lambda in lambdas(),
        weight in weights(),
        numbers in prop::collection::vec(0usize..3, 14),
    ) {
        let queries = problem.sizes.len();
        let members = |group| (0..queries).filter(|&query| numbers[query] == group).collect();
        let groups = Groups::new((0..3).map(members).collect(), queries).unwrap();
        let dataset = problem.dataset();
        for solver in Solver::ALL {
            let options = weighing(solver, weight);
            let Ok(rls) = RidgeProblem::new(&dataset, &options) else { continue };
            let trained = rls.train(Lambda::new(lambda).unwrap()).unwrap();
            let found = trained.leave_out(&groups).unwrap();
            check_holdout(&problem, weight, &groups, lambda, solver, &found)?;
            if queries == 1 {
                prop_assert_eq!(trained.leave_query_out(), Err(one_query()));
                continue;
            }
            let found = trained.leave_query_out().unwrap();
            check_holdout(&problem, weight, &Groups::queries(queries), lambda, solver, &found)?;
        }
    }

    #[test]
    fn lambdas_side_by_side_are_held_out_as_defined(
        problem in drawn(),
        lambda in lambdas(),
        weight in weights(),
        folds in 2usize..5,
    ) {
        let queries = problem.sizes.len();
        let drawn = Groups::folds(queries, folds.min(queries), 1);
        let groups = drawn.unwrap_or_else(|_| Groups::queries(queries));
        let dataset = problem.dataset();
        let several = [4.0 * lambda, lambda, 16.0 * lambda];
        let given = several.map(|lambda| Lambda::new(lambda).unwrap());
        for solver in Solver::ALL {
            let options = weighing(solver, weight);
            let Ok(rls) = RidgeProblem::new(&dataset, &options) else { continue };
            let holdouts = rls.leave_out(&given, &groups, TOLERANCE).unwrap();
            for (found, one) in holdouts.iter().zip(several) {
                check_holdout(&problem, weight, &groups, one, solver, found)?;
            }
        }
    }
}

fn small() -> Problem {
    Problem {
        x: vec![
            vec![1.0, 0.0, 2.0, 0.0, 1.0, 0.0],
            vec![0.0, 1.0, 1.0, 3.0, 0.0, 0.5],
            vec![3.0, 3.0, 2.0, 2.0, 2.0, 7.0],
        ],
        labels: vec![1.0, 0.0, 0.5, 0.0, 1.0, 2.0],
        sizes: vec![2, 3, 1],
    }
}

#[test]
fn features_that_vary_nowhere_are_left_out() {
    let dataset = small().dataset();
    let rls = RidgeProblem::new(&dataset, &RankRls::default()).unwrap();
    let weights = rls.train(Lambda::new(1.0).unwrap()).unwrap().weights();
    assert_eq!(weights.features, [0, 1]);
    let constant = dataset.features_subset(&[2]).unwrap();
    let error = RidgeProblem::new(&constant, &RankRls::default()).unwrap_err();
    assert_eq!(error.kind(), Kind::Data);
    assert!(
        error
            .to_string()
            .starts_with("nothing to train on: all 3 columns are")
    );
}

#[test]
fn given_features_and_queries_are_those_of_their_own_data() {
    let problem = small();
    let whole = problem.dataset();
    let data = whole.features_subset(&[1]).unwrap();
    let data = data.queries_subset(&[1]).unwrap();
    let rls = RidgeProblem::new(&data, &RankRls::default()).unwrap();
    let weights = rls.train(Lambda::new(0.5).unwrap()).unwrap().weights();
    // Column 1, 3, 0 and labels 1/2, 0, 1, centred.
    let (x, y) = ([-1.0 / 3.0, 5.0 / 3.0, -4.0 / 3.0], [0.0, -0.5, 0.5]);
    let along: f64 = x.iter().zip(&y).map(|(a, b)| a * b).sum();
    let norm: f64 = x.iter().map(|value| value * value).sum();
    assert_eq!(weights.features, [1]);
    assert!((weights.values[0] - along / (norm + 0.5)).abs() < 1e-15);
    let scores = weights.scores(&whole);
    assert_eq!(scores[3], 3.0 * weights.values[0]);
}

#[test]
fn predictions_without_a_group_that_is_everything_are_0() {
    let dataset = small().dataset();
    let groups = Groups::new(vec![vec![0, 1, 2]], 3).unwrap();
    for solver in Solver::ALL {
        let rls = RidgeProblem::new(&dataset, &options(solver)).unwrap();
        let trained = rls.train(Lambda::new(0.5).unwrap()).unwrap();
        let found = trained.leave_out(&groups).unwrap();
        for prediction in found.predictions {
            assert!(prediction.abs() < 1e-12, "{solver}");
        }
    }
    let rls = RidgeProblem::new(&dataset, &RankRls::default()).unwrap();
    let trained = rls.train(Lambda::new(0.5).unwrap()).unwrap();
    let error = trained.leave_out(&Groups::queries(4)).unwrap_err();
    assert!(
        error.to_string().starts_with("the groups are of 4 rows"),
        "{error}"
    );
}

#[test]
fn labels_that_vary_nowhere_give_weights_of_0() {
    let problem = Problem {
        labels: vec![1.0, 1.0, 0.0, 0.0, 0.0, 5.0],
        ..small()
    };
    let dataset = problem.dataset();
    for solver in Solver::ALL {
        let rls = RidgeProblem::new(&dataset, &options(solver)).unwrap();
        let trained = rls.train(Lambda::new(0.5).unwrap()).unwrap();
        assert_eq!(trained.weights().values, [0.0, 0.0], "{solver}");
        let found = trained.leave_query_out().unwrap();
        assert_eq!((found.error, found.cindex), (0.0, None), "{solver}");
    }
}

#[test]
fn values_that_are_too_large_are_an_error() {
    let mut problem = small();
    problem.x[0][0] = 1e200;
    let dataset = problem.dataset();
    for solver in Solver::ALL {
        let error = RidgeProblem::new(&dataset, &options(solver)).unwrap_err();
        assert_eq!(error.kind(), Kind::Numbers, "{solver}");
        let text = error.to_string();
        assert!(
            text.starts_with("the values or labels are too large"),
            "{text}"
        );
    }
}

/// Wider than it is long and longer than a block of columns, with queries of any size.
fn larger() -> Dataset<'static> {
    let (rows, columns) = (700_u64, 900_u64);
    let (mut bounds, mut entries, mut values) = (vec![0], Vec::new(), Vec::new());
    for column in 0..columns {
        for row in 0..rows {
            let mixed = (row * 2_654_435_761 + column * 40_503_777_777) % 1009;
            if mixed < 40 + column % 90 {
                entries.push(u32::try_from(row).unwrap());
                values.push((mixed % 7) as f64 - 2.0);
            }
        }
        bounds.push(entries.len());
    }
    let labels: Vec<f64> = (0..rows)
        .map(|row| ((row * row) % 11) as f64 / 11.0)
        .collect();
    let queries = Queries::from_sizes(&[300, 1, 99, 40, 60, 130, 2, 68]).unwrap();
    Dataset::from_csc(bounds, entries, values, labels, queries).unwrap()
}

#[test]
fn solvers_agree_on_larger_data_and_threads_do_not_count() {
    let dataset = larger();
    let groups = [Groups::queries(8), Groups::folds(8, 3, 1).unwrap()];
    let run = |solver: Solver, threads: usize| {
        on(threads, || {
            let options = weighing(solver, QueryWeight::Size);
            let rls = RidgeProblem::new(&dataset, &options).unwrap();
            let trained = rls.train(Lambda::new(0.25).unwrap()).unwrap();
            let held_out = groups
                .clone()
                .map(|groups| trained.leave_out(&groups).unwrap());
            let lambdas = grid(&[64.0, 0.25]);
            let loose = rls
                .leave_out(&lambdas, &groups[1], HOLDOUT_TOLERANCE)
                .unwrap();
            (trained.weights(), held_out, loose)
        })
    };
    let (weights, held_out, exact) = run(Solver::Dual, 1);
    for solver in Solver::ALL {
        let outcome = run(solver, 1);
        assert_eq!(outcome, run(solver, 3), "{solver}");
        assert_eq!(outcome.0.features, weights.features);
        for (found, expected) in outcome.0.values.iter().zip(&weights.values) {
            assert!((found - expected).abs() < 1e-9, "{solver}");
        }
        for (one, other) in outcome.1.iter().zip(&held_out) {
            let pairs = one.predictions.iter().zip(&other.predictions);
            for (found, expected) in pairs {
                assert!((found - expected).abs() < 1e-8, "{solver}");
            }
            assert!((one.error - other.error).abs() < 1e-7, "{solver}");
            assert_eq!(one.cindex, other.cindex, "{solver}");
        }
        // The loose tolerance is one of conjugate gradients: of the residual, not of predictions.
        for (one, other) in outcome.2.iter().zip(&exact) {
            let pairs = one.predictions.iter().zip(&other.predictions);
            for (found, expected) in pairs {
                assert!((found - expected).abs() < 1e-4, "{solver}");
            }
            assert!((one.error / other.error - 1.0).abs() < 1e-5, "{solver}");
        }
    }
}

#[test]
fn a_task_has_the_same_bits_whatever_stands_beside_it() {
    let dataset = larger();
    let rls = RidgeProblem::new(&dataset, &options(Solver::ConjugateGradients)).unwrap();
    let lambdas: Vec<Lambda> = (0..11)
        .map(|power| Lambda::new(f64::from(1 << power)).unwrap())
        .collect();
    let groups = Groups::folds(8, 2, 1).unwrap();
    let all = rls.leave_out(&lambdas, &groups, HOLDOUT_TOLERANCE).unwrap();
    for (lambda, found) in lambdas.iter().zip(&all) {
        let alone = rls.leave_out(&[*lambda], &groups, HOLDOUT_TOLERANCE);
        assert_eq!(alone.unwrap()[0], *found, "{lambda}");
        assert!(found.convergence.unwrap().residual <= HOLDOUT_TOLERANCE);
    }
    let other = Groups::queries(7);
    let error = rls.leave_out(&lambdas, &other, HOLDOUT_TOLERANCE);
    assert_eq!(error.unwrap_err().kind(), Kind::Options);
    assert!(rls.leave_out(&[], &groups, TOLERANCE).unwrap().is_empty());
}
