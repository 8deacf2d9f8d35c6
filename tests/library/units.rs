//! Values in other units. If values are multiplied by a power of two and lambdas are shares, features, errors and
//! scores stay the same to the bit. Weights are divided by that power.

use proptest::prelude::*;
use rankrls::greedy::job::{select, unwatched};
use rankrls::greedy::{Choice, Selection, WeightTarget};
use rankrls::ridge::{Fit, RankRls, Training};
use rankrls::tune::{self, Tune, Tuning, choose, unwatched_trials};
use rankrls::{
    ColumnClasses, Dataset, GreedyRankRls, HoldOut, Lambdas, QueryWeight, Ridge, Scale, Solver,
    StrategyKind,
};

use crate::oracle::problems::problems;
use crate::oracle::{Problem, by, drawn_problems};

fn drawn() -> impl Strategy<Value = Problem> {
    problems(prop::collection::vec(1usize..6, 10..14), 1..9)
}

/// Multiplies the columns by a power of two.
fn times(problem: &Problem, factor: f64) -> Problem {
    let columns = problem.x.iter();
    Problem {
        x: columns
            .map(|column| column.iter().map(|value| factor * value).collect())
            .collect(),
        ..problem.clone()
    }
}

fn ridge() -> impl Strategy<Value = Ridge> {
    prop::sample::select(vec!["1/64u", "1/16u", "0.3u", "4u"])
        .prop_map(|text| text.parse().unwrap())
}

fn refit() -> impl Strategy<Value = Option<WeightTarget>> {
    prop::sample::select(vec![
        None,
        Some(WeightTarget::Labels),
        Some(WeightTarget::CrossFitted),
    ])
}

fn bits(values: impl IntoIterator<Item = f64>) -> Vec<u64> {
    values.into_iter().map(f64::to_bits).collect()
}

fn compare(
    (data, found): (&Dataset<'_>, &Selection),
    (scaled, again): (&Dataset<'_>, &Selection),
    factor: f64,
) -> Result<(), TestCaseError> {
    prop_assert_eq!(again.lambda.value(), found.lambda.value() * factor * factor);
    prop_assert_eq!(again.unit, found.unit * factor * factor);
    prop_assert_eq!(found.features(), again.features());
    prop_assert_eq!(bits(found.errors()), bits(again.errors()));
    let weights = again.weights.iter().map(|weight| weight * factor);
    prop_assert_eq!(bits(found.weights.clone()), bits(weights));
    let scores = data.scores(&found.features(), &found.weights);
    prop_assert_eq!(
        bits(scores),
        bits(scaled.scores(&again.features(), &again.weights))
    );
    let cindex = |selection: &Selection| selection.teacher.map(|teacher| teacher.cindex);
    prop_assert_eq!(cindex(found), cindex(again));
    Ok(())
}

proptest! {
    #![proptest_config(drawn_problems(400))]

    #[test]
    fn a_selection_is_the_same_in_other_units(
        problem in drawn(),
        exponent in -40i32..40,
        strategy in prop::sample::select(StrategyKind::ALL.to_vec()),
        ridge in ridge(),
        refit in refit(),
        scale in prop::sample::select(Scale::ALL.to_vec()),
        weight in prop::sample::select(QueryWeight::ALL.to_vec()),
    ) {
        let factor = 2f64.powi(exponent);
        let by = |data: &Dataset<'_>| {
            let options = GreedyRankRls {
                strategy,
                weight_target: refit,
                scale: Some(scale),
                query_weight: weight,
                ..GreedyRankRls::new(6, None)
            };
            let lambda = Some(ridge);
            select(data, &GreedyRankRls { lambda, ..options }, &mut unwatched)
        };
        let (data, scaled) = (problem.dataset(), times(&problem, factor).dataset());
        match (by(&data), by(&scaled)) {
            // Scaled columns have no units left.
            (Ok(found), Ok(again)) if !scale.is_none() => {
                prop_assert_eq!(found.options.lambda, again.options.lambda);
                prop_assert_eq!(bits(found.errors()), bits(again.errors()));
            }
            (Ok(found), Ok(again)) => compare((&data, &found), (&scaled, &again), factor)?,
            (found, again) => prop_assert!(found.is_err() && again.is_err()),
        }
    }

    #[test]
    fn a_tuned_choice_is_the_same_in_other_units(
        problem in drawn(),
        exponent in -40i32..40,
        strategy in prop::sample::select(vec![StrategyKind::Bounded, StrategyKind::Distil]),
    ) {
        let factor = 2f64.powi(exponent);
        let options = Tune {
            holdout: HoldOut::Folds { count: 3, seed: 1 },
            ..Tune::new(by(strategy, 4, 1.0), Lambdas::Auto)
        };
        let by = |data: &Dataset<'_>| Tuning::new(data, &options).run(&mut tune::unwatched_events);
        let (data, scaled) = (problem.dataset(), times(&problem, factor).dataset());
        match (by(&data), by(&scaled)) {
            (Ok(found), Ok(again)) => {
                prop_assert_eq!((found.position, found.k), (again.position, again.k));
                let selections = (found.selection(), again.selection());
                compare((&data, &selections.0), (&scaled, &selections.1), factor)?;
            }
            (found, again) => prop_assert!(found.is_err() && again.is_err()),
        }
    }

    #[test]
    fn a_choice_is_the_same_in_other_units(problem in drawn(), exponent in -40i32..40) {
        let options = GreedyRankRls::new(4, None);
        let by = |data: &Dataset<'_>| choose(&options, None, data, &mut unwatched_trials);
        let (data, scaled) = (problem.dataset(), times(&problem, 2f64.powi(exponent)).dataset());
        match (by(&data), by(&scaled)) {
            (Ok((found, how)), Ok((again, also))) => {
                prop_assert_eq!(found, again);
                let names = |choice: Choice| {
                    let all = [choice.scale, choice.label_scale, choice.strategy].concat();
                    all.into_iter().map(|tried| (tried.name, tried.value)).collect::<Vec<_>>()
                };
                prop_assert_eq!(how.map(names), also.map(names));
            }
            (found, again) => prop_assert!(found.is_err() && again.is_err()),
        }
    }

    #[test]
    fn training_is_the_same_in_other_units(
        problem in drawn(),
        exponent in -40i32..40,
        solver in prop::sample::select(Solver::ALL.to_vec()),
    ) {
        let factor = 2f64.powi(exponent);
        let params = RankRls { solver: Some(solver), ..RankRls::default() };
        let (data, scaled) = (problem.dataset(), times(&problem, factor).dataset());
        let by = |data: &Dataset<'_>| params.train(data, None);
        match (by(&data), by(&scaled)) {
            (Ok(found), Ok(again)) => {
                prop_assert_eq!(found.best, again.best);
                prop_assert_eq!(again.unit, found.unit * factor * factor);
                let errors = |outcome: &Training| {
                    let held_out = outcome.cells.iter().filter_map(|cell| cell.holdout.as_ref());
                    bits(held_out.map(|holdout| holdout.error))
                };
                prop_assert_eq!(errors(&found), errors(&again));
                let weights = |outcome: &Training, factor: f64| match &outcome.fit {
                    Fit::Linear(weights) => bits(weights.iter().map(|own| own.1 * factor)),
                    fit @ Fit::Kernel(_) => panic!("{fit:?}"),
                };
                prop_assert_eq!(weights(&found, 1.0), weights(&again, factor));
            }
            (found, again) => prop_assert!(found.is_err() && again.is_err()),
        }
    }

    /// Checks the definition: the mean squared norm of a row, centred, weighted and divided.
    #[test]
    fn the_unit_is_the_mean_squared_norm_of_a_row(
        problem in drawn(),
        scale in prop::sample::select(Scale::ALL.to_vec()),
        weight in prop::sample::select(QueryWeight::ALL.to_vec()),
    ) {
        let rows = problem.divided(scale).0.weighted(weight);
        let squares = rows.x.iter().flatten().map(|value| value * value);
        let expected = squares.sum::<f64>() / rows.rows() as f64;
        let found = ColumnClasses::scaled(&problem.dataset(), weight, scale).unit();
        prop_assert!((found - expected).abs() <= 1e-12 * expected, "{found} for {expected}");
    }
}
