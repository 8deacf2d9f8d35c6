//! Numbers at the ends of their range, and answers that lose digits.

use std::collections::BTreeMap;

use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;
use rankrls::greedy::{Selection, SelectionOptions};
use rankrls::{Lambda, SelectError, StrategyKind, select};

use crate::long::long;
use crate::oracle::problems::problems;
use crate::oracle::{Problem, by, drawn_problems, strategies};

/// Powers of ten that values, labels and lambda are multiplied by.
fn powers() -> impl Strategy<Value = i32> {
    prop_oneof![
        3 => Just(0),
        1 => prop::sample::select(vec![-300, -200, -160, -120, -80, -8, 8, 80, 120, 150, 160, 200, 300]),
    ]
}

fn scale(values: &mut [f64], power: i32) {
    for value in values {
        *value *= 10f64.powi(power);
    }
}

fn extreme() -> impl Strategy<Value = (Problem, f64)> {
    let problem = problems(prop::collection::vec(1..4_usize, 1..6), 1..6);
    let columns = prop::collection::vec(powers(), 6);
    let lambda = prop_oneof![
        4 => Just(1.0),
        6 => prop::sample::select(vec![5e-324, 1e-300, 1e-200, 1e-100, 1e-12, 1e12, 1e100, 1e200, 1e300, f64::MAX]),
    ];
    (problem, columns, powers(), lambda).prop_map(|(mut problem, columns, labels, lambda)| {
        for (column, power) in problem.x.iter_mut().zip(columns) {
            scale(column, power);
        }
        scale(&mut problem.labels, labels);
        (problem, lambda)
    })
}

proptest! {
    #![proptest_config(drawn_problems(3000))]

    #[test]
    fn numbers_are_finite_or_refused((problem, lambda) in extreme()) {
        let data = problem.dataset();
        for strategy in strategies() {
            let options = by(strategy, 4, lambda);
            let Ok(selection) = select(&data, &options, &mut ()) else {
                continue;
            };
            prop_assert!(selection.weights.iter().all(|w| w.is_finite()), "{strategy} {:?}", selection);
            for step in &selection.steps {
                prop_assert!(step.lqo_error.is_finite() && step.lqo_error >= 0.0, "{strategy} {:?}", selection);
            }
        }
    }
}

/// Columns of noise, some of them nearly the same as another one, some scaled, a lambda from
/// moderate to tiny: what loses digits.
fn delicate() -> impl Strategy<Value = (Problem, f64)> {
    let sizes = prop::collection::vec(2..5_usize, 3..7);
    (sizes, 2..7_usize).prop_flat_map(|(sizes, columns)| {
        let rows: usize = sizes.iter().sum();
        let noise = prop::collection::vec(-1.0..1.0f64, rows);
        let column = (
            noise.clone(),
            0..4u8,
            1..13i32,
            any::<prop::sample::Index>(),
            -4..5i32,
        );
        let columns = prop::collection::vec(column, columns);
        (Just(sizes), columns, noise, -12..3i32).prop_map(|(sizes, columns, labels, lambda)| {
            let mut x: Vec<Vec<f64>> = Vec::new();
            for (noise, kind, distance, other, power) in columns {
                let column: Vec<f64> = if kind == 0 && !x.is_empty() {
                    let other = &x[other.index(x.len())];
                    let near = |(a, b): (&f64, &f64)| a * (1.0 + b * 10f64.powi(-distance));
                    other.iter().zip(&noise).map(near).collect()
                } else if kind == 2 {
                    // Seen in one query alone, and a little in the next.
                    let query = other.index(sizes.len());
                    let start: usize = sizes[..query].iter().sum();
                    let within = start..start + sizes[query];
                    let small = 10f64.powi(-distance);
                    let share = |row| {
                        if within.contains(&row) {
                            1.0
                        } else if row == within.end {
                            small
                        } else {
                            0.0
                        }
                    };
                    (0..)
                        .zip(&noise)
                        .map(|(row, value)| value * share(row))
                        .collect()
                } else {
                    let power = if kind == 1 { power } else { 0 };
                    noise
                        .iter()
                        .map(|value| value * 10f64.powi(power))
                        .collect()
                };
                x.push(column);
            }
            (Problem { x, labels, sizes }, 10f64.powi(lambda))
        })
    })
}

/// How far `found` is from `exact`, as a share of it.
fn share(found: &[f64], exact: &[f64]) -> f64 {
    let length = |values: &mut dyn Iterator<Item = f64>| values.map(|v| v * v).sum::<f64>().sqrt();
    let distance = length(&mut found.iter().zip(exact).map(|(a, b)| a - b));
    distance / length(&mut exact.iter().copied()).max(f64::MIN_POSITIVE)
}

/// What was lost, as shares of the error and of the weights.
struct Loss {
    strategy: StrategyKind,
    condition: f64,
    error: f64,
    weights: f64,
}

/// What exact strategies lose on a problem.
fn losses(problem: &Problem, lambda: f64) -> Vec<Loss> {
    let data = problem.dataset();
    let exact = StrategyKind::ALL.into_iter().filter(|kind| kind.is_exact());
    let loss = |strategy| {
        let options = by(strategy, 7, lambda);
        let selection = select(&data, &options, &mut ()).unwrap();
        let features = selection.steps.iter().map(|step| step.feature as usize);
        let precise = problem.precisely(&features.collect::<Vec<_>>(), lambda);
        let error = selection.steps.last().map_or(0.0, |step| step.lqo_error);
        Loss {
            strategy,
            condition: selection.condition,
            error: share(&[error], &[precise.error]),
            weights: share(&selection.weights, &precise.weights),
        }
    };
    exact.map(loss).collect()
}

/// As many digits are lost as the condition number has, give or take three: the table in
/// `docs/promises.md`, printed with `--nocapture`, of ten times as many problems: `RANKRLS_LONG=10`.
#[test]
fn the_condition_number_tells_how_many_digits_are_lost() {
    let mut runner = TestRunner::deterministic();
    let mut table: BTreeMap<i32, [f64; 3]> = BTreeMap::new();
    for _ in 0..long(600) {
        let (problem, lambda) = delicate().new_tree(&mut runner).unwrap().current();
        for loss in losses(&problem, lambda) {
            let Loss {
                strategy,
                condition,
                error,
                weights,
            } = loss;
            if condition > 1e14 {
                // Nothing may be left; there is a warning.
                continue;
            }
            let most = 1e3 * f64::EPSILON * condition + 1e-12;
            assert!(
                error <= most && weights <= most,
                "{strategy} {condition:e}: {error:e} {weights:e}"
            );
            // The power of ten is a small number.
            #[expect(clippy::cast_possible_truncation)]
            let row = table.entry(condition.log10().floor() as i32).or_default();
            *row = [row[0] + 1.0, row[1].max(error), row[2].max(weights)];
        }
    }
    println!("| condition number | selections | error of the LQO error | of the weights |");
    println!("|---|---:|---:|---:|");
    for (power, [count, error, weights]) in &table {
        println!(
            "| 1e{power} to 1e{} | {count} | {error:.0e} | {weights:.0e} |",
            power + 1
        );
    }
    // All kinds of problems were among them.
    assert!((0..14).all(|power| table.contains_key(&power)));
}

/// A problem of two queries with one column of these values.
fn column(values: [f64; 4]) -> Problem {
    Problem {
        x: vec![values.to_vec()],
        labels: vec![1.0, 0.0, 0.5, 0.25],
        sizes: vec![2, 2],
    }
}

fn selected(problem: &Problem, lambda: f64) -> Result<Selection, SelectError> {
    let options = SelectionOptions::new(1, Lambda::new(lambda).unwrap());
    select(&problem.dataset(), &options, &mut ())
}

#[test]
fn values_beyond_their_squares_are_refused() {
    for value in [1e300, 1e51] {
        let error = selected(&column([value, 0.0, 1.0, 0.0]), 1.0).unwrap_err();
        assert!(
            matches!(error, SelectError::Values { feature: 0, .. }),
            "{error}"
        );
        assert!(error.to_string().contains("scale the column"), "{error}");
    }
    assert!(selected(&column([1e49, 0.0, 1.0, 0.0]), 1.0).is_ok());
}

/// What is too small to matter beside lambda gets no weight, and makes no trouble.
#[test]
fn values_that_vanish_have_no_effect() {
    for value in [1e-300, 5e-324, 1e-170] {
        let problem = column([value, 0.0, 0.0, value]);
        let selection = selected(&problem, 1.0).unwrap();
        let labels = column([0.0; 4]);
        let centred: f64 = labels.error(&[], 1.0);
        assert_eq!(selection.steps[0].lqo_error, centred);
        assert!(selection.weights[0].abs() <= value);
    }
}

#[test]
fn a_lambda_that_vanishes_beside_the_values_is_refused() {
    let problem = column([1.0, 0.0, 1.0, 0.0]);
    for lambda in [5e-324, 1e-300, 1e-101] {
        let error = selected(&problem, lambda).unwrap_err();
        assert!(matches!(error, SelectError::Lambda { .. }), "{error}");
        assert!(error.to_string().contains("raise lambda"), "{error}");
    }
    for lambda in [1e-99, 1e300, f64::MAX] {
        let selection = selected(&problem, lambda).unwrap();
        assert!(selection.weights[0].is_finite() && selection.steps[0].lqo_error.is_finite());
    }
    // Small beside one is not small beside the other.
    assert!(selected(&column([1e-120, 0.0, 1e-120, 0.0]), 1e-300).is_ok());
}

#[test]
fn without_pairs_there_is_nothing_to_select() {
    for sizes in [vec![1], vec![1; 4]] {
        let rows = sizes.len();
        let problem = Problem {
            x: vec![(0..rows).map(|row| row as f64 + 1.0).collect()],
            labels: (0..rows).map(|row| row as f64).collect(),
            sizes,
        };
        let error = selected(&problem, 1.0).unwrap_err();
        assert!(
            matches!(error, SelectError::NoCandidates { columns: 1 }),
            "{error}"
        );
    }
}
