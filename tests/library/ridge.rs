//! RankRLS against the definition: every solver, every partition of the queries, on data small
//! enough to retrain.

use crate::oracle::problems::{lambdas, problems};
use crate::oracle::training::{
    drawn_training, given, held_out, noise_of_iterations, scores, train, weights,
};
use crate::oracle::{Problem, drawn_problems, grid, on};
use proptest::prelude::*;
use rankrls::data::{Groups, one_query};
use rankrls::ridge::{HOLDOUT_TOLERANCE, Holdout, Training};
use rankrls::{Dataset, HoldOut, Kind, Lambdas, Queries, QueryWeight, RankRls, Scale, Solver};

/// Queries from one row to all rows. Rows may outnumber columns, or the reverse.
fn drawn() -> impl Strategy<Value = Problem> {
    let sizes = prop_oneof![
        4 => prop::collection::vec(1usize..6, 1..7),
        1 => prop::collection::vec(2usize..3, 8..14),
        1 => prop::collection::vec(12usize..17, 1..3),
    ];
    problems(sizes, 1..24)
}

fn query_weights() -> impl Strategy<Value = QueryWeight> {
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

/// Rounding of residuals, which are sums of labels, in a system of condition about `1 / lambda`, up to the norms of
/// the columns.
fn noise(lambda: f64) -> f64 {
    1e-9 + 1e-12 / lambda
}

/// Hold-out residuals by training without each group.
fn retrained(problem: &Problem, groups: &Groups, lambda: f64) -> Vec<f64> {
    let mut residuals = vec![0.0; problem.rows()];
    let ranges = problem.queries();
    for group in groups.iter() {
        // One query that needs no centring: its rows are centred already.
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
    let noise = match solver {
        Solver::ConjugateGradients => noise_of_iterations(&weighed, lambda),
        _ => noise(lambda),
    };
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
fn all_weights(training: &Training, features: usize) -> Vec<f64> {
    let mut all = vec![0.0; features];
    for &(feature, weight) in weights(training) {
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
        weight in query_weights(),
    ) {
        let dataset = problem.dataset();
        let features: Vec<usize> = (0..problem.x.len()).collect();
        let weighted = problem.weighted(weight);
        let defined = weighted.weights(&features, lambda);
        // At least |K|. The product K a, with a as long as y / lambda, is rounded by a share of 2e-16 of it.
        let trace: f64 = weighted.x.iter().flatten().map(|value| value * value).sum();
        for solver in Solver::ALL {
            let options = weighing(solver, weight);
            let Some(trained) = drawn_training(&dataset, &options, lambda, HoldOut::Nothing) else {
                prop_assert!(problem.representatives().is_empty());
                return Ok(());
            };
            prop_assert_eq!(trained.solver, solver);
            if let Some(residual) = trained.best().residual {
                let attainable = 1e-10 + 1e-13_f64.max(3e-16 * trace) / lambda;
                prop_assert!(residual <= attainable, "{residual}");
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
        weight in query_weights(),
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
            let options = RankRls { scale: Some(scale), ..weighing(solver, weight) };
            let Some(trained) = drawn_training(&dataset, &options, lambda, HoldOut::Queries) else {
                continue;
            };
            let weights = all_weights(&trained, features.len());
            for ((found, divisor), expected) in weights.iter().zip(&divisors).zip(&defined) {
                let off = (found * divisor - expected).abs();
                prop_assert!(off <= noise(lambda), "{solver}: {found} x {divisor} for {expected}");
            }
            check_holdout(&divided, weight, &queries, lambda, solver, held_out(&trained))?;
        }
    }

    #[test]
    fn any_partition_is_held_out_as_defined(
        problem in drawn(),
        lambda in lambdas(),
        weight in query_weights(),
        numbers in prop::collection::vec(0usize..3, 14),
    ) {
        let queries = problem.sizes.len();
        let members = |group| (0..queries).filter(|&query| numbers[query] == group).collect();
        let groups = Groups::new((0..3).map(members).collect(), queries).unwrap();
        let dataset = problem.dataset();
        for solver in Solver::ALL {
            let options = weighing(solver, weight);
            let by = |holdout| drawn_training(&dataset, &options, lambda, holdout);
            let Some(trained) = by(given(&groups)) else { continue };
            check_holdout(&problem, weight, &groups, lambda, solver, held_out(&trained))?;
            if queries == 1 {
                let found = train(&dataset, &options, lambda, HoldOut::Queries);
                prop_assert_eq!(found, Err(one_query(dataset.queries())));
                continue;
            }
            let Some(trained) = by(HoldOut::Queries) else { continue };
            let all = Groups::queries(queries);
            check_holdout(&problem, weight, &all, lambda, solver, held_out(&trained))?;
        }
    }

    #[test]
    fn lambdas_side_by_side_are_held_out_as_defined(
        problem in drawn(),
        lambda in lambdas(),
        weight in query_weights(),
        folds in 2usize..5,
    ) {
        let dataset = problem.dataset();
        let queries = dataset.queries();
        let drawn = Groups::folds(queries, folds.min(queries.len()), 1);
        let groups = drawn.unwrap_or_else(|_| Groups::queries(queries.len()));
        let several = [4.0 * lambda, lambda, 16.0 * lambda];
        for solver in Solver::ALL {
            let options = RankRls {
                lambdas: Lambdas::of(&grid(&several)),
                holdout: given(&groups),
                ..weighing(solver, weight)
            };
            let Ok(trained) = options.train(&dataset, None) else { continue };
            for (cell, one) in trained.cells.iter().zip(several) {
                let found = cell.holdout.as_ref().unwrap();
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
    let by = |data: &Dataset<'_>| train(data, &RankRls::default(), 1.0, HoldOut::Nothing);
    let trained = by(&dataset).unwrap();
    let features = weights(&trained).iter().map(|&(feature, _)| feature);
    assert!(features.eq([0, 1]));
    let constant = dataset.features_subset(&[2]).unwrap();
    let error = by(&constant).unwrap_err();
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
    let trained = train(&data, &RankRls::default(), 0.5, HoldOut::Nothing).unwrap();
    // Column 1, 3, 0 and labels 1/2, 0, 1, centred.
    let (x, y) = ([-1.0 / 3.0, 5.0 / 3.0, -4.0 / 3.0], [0.0, -0.5, 0.5]);
    let along: f64 = x.iter().zip(&y).map(|(a, b)| a * b).sum();
    let norm: f64 = x.iter().map(|value| value * value).sum();
    let &[(1, weight)] = weights(&trained) else {
        panic!("{trained:?}");
    };
    assert!((weight - along / (norm + 0.5)).abs() < 1e-15);
    assert_eq!(scores(&trained, &whole)[3], 3.0 * weight);
}

#[test]
fn predictions_without_a_group_that_is_everything_are_0() {
    let dataset = small().dataset();
    let groups = Groups::new(vec![vec![0, 1, 2]], 3).unwrap();
    for solver in Solver::ALL {
        let trained = train(&dataset, &options(solver), 0.5, given(&groups)).unwrap();
        for prediction in &held_out(&trained).predictions {
            assert!(prediction.abs() < 1e-12, "{solver}");
        }
    }
    let other = given(&Groups::queries(4));
    let error = train(&dataset, &RankRls::default(), 0.5, other).unwrap_err();
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
        let trained = train(&dataset, &options(solver), 0.5, HoldOut::Queries).unwrap();
        assert_eq!(weights(&trained), [(0, 0.0), (1, 0.0)], "{solver}");
        let found = held_out(&trained);
        assert_eq!((found.error, found.cindex), (0.0, None), "{solver}");
    }
}

#[test]
fn values_that_are_too_large_are_an_error() {
    let mut problem = small();
    problem.x[0][0] = 1e200;
    let dataset = problem.dataset();
    for solver in Solver::ALL {
        let error = options(solver).train(&dataset, None).unwrap_err();
        assert_eq!(error.kind(), Kind::Data, "{solver}");
        let text = error.to_string();
        assert!(text.starts_with("column 1 has values too large"), "{text}");
    }
}

/// More columns than rows and than a block, and queries of any size.
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
    let folds = Groups::folds(dataset.queries(), 3, 1).unwrap();
    let run = |solver: Solver, threads: usize| {
        on(threads, || {
            let options = weighing(solver, QueryWeight::Size);
            let by = |holdout| train(&dataset, &options, 0.25, holdout).unwrap();
            let lambdas = RankRls {
                lambdas: Lambdas::of(&grid(&[64.0, 0.25])),
                holdout: given(&folds),
                ..options.clone()
            };
            let side_by_side = lambdas.train(&dataset, None).unwrap();
            [by(HoldOut::Queries), by(given(&folds)), side_by_side]
        })
    };
    let exact = run(Solver::Dual, 1);
    for solver in Solver::ALL {
        let outcome = run(solver, 1);
        assert_eq!(outcome, run(solver, 3), "{solver}");
        for (found, expected) in outcome.iter().zip(&exact) {
            for (one, other) in weights(found).iter().zip(weights(expected)) {
                assert_eq!(one.0, other.0);
                assert!((one.1 - other.1).abs() < 1e-9, "{solver}");
            }
            for (one, other) in found.cells.iter().zip(&expected.cells) {
                let [one, other] = [one, other].map(|cell| cell.holdout.as_ref().unwrap());
                let pairs = one.predictions.iter().zip(&other.predictions);
                // Conjugate gradients end by their residual, not by their predictions.
                let (off, share) = match solver {
                    Solver::ConjugateGradients => (1e-4, 1e-5),
                    _ => (1e-8, 1e-9),
                };
                for (found, expected) in pairs {
                    assert!((found - expected).abs() < off, "{solver}");
                }
                assert!((one.error / other.error - 1.0).abs() < share, "{solver}");
                if solver != Solver::ConjugateGradients {
                    assert_eq!(one.cindex, other.cindex, "{solver}");
                }
            }
        }
    }
}

#[test]
fn a_task_has_the_same_bits_whatever_stands_beside_it() {
    let dataset = larger();
    let lambdas = grid(&[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10].map(|power| f64::from(1 << power)));
    let held = |lambdas: Lambdas, groups: &Groups| {
        let options = RankRls {
            lambdas,
            holdout: given(groups),
            ..options(Solver::ConjugateGradients)
        };
        options.train(&dataset, None)
    };
    let groups = Groups::folds(dataset.queries(), 2, 1).unwrap();
    let all = held(Lambdas::of(&lambdas), &groups).unwrap();
    for (&lambda, found) in lambdas.iter().zip(&all.cells).step_by(3) {
        let alone = held(lambda.into(), &groups).unwrap();
        assert_eq!(alone.cells[0].holdout, found.holdout, "{lambda}");
        let residual = found.holdout.as_ref().and_then(|holdout| holdout.residual);
        assert!(residual <= Some(HOLDOUT_TOLERANCE));
    }
    let error = held(Lambdas::of(&lambdas), &Groups::queries(7)).unwrap_err();
    assert_eq!(error.kind(), Kind::Options);
}
