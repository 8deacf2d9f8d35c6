//! Numbers at the ends of their range, and loss of digits.

use std::collections::BTreeMap;

use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;
use rankrls::data::LabelScale;
use rankrls::greedy::job::{select, unwatched};
use rankrls::greedy::strategy::{self, Round};
use rankrls::greedy::{GreedyRankRls, Selection};
use rankrls::metrics::{Convention, Metric, evaluate};
use rankrls::ridge::{Basis, Kernel, KernelKind, RankRls, Solver, Training};
use rankrls::tune::Tune;
use rankrls::{HoldOut, Kind, Lambda, Lambdas, Result, Scale, StrategyKind};

use crate::long::long;
use crate::oracle::problems::problems;
use crate::oracle::training::{scores, train, weights};
use crate::oracle::{EXACT, Problem, by, drawn_problems, strategies};

/// Powers of ten that multiply values, labels and lambda.
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
            let Ok(selection) = select(&data, &options, &mut unwatched) else {
                continue;
            };
            prop_assert!(selection.weights.iter().all(|w| w.is_finite()), "{strategy} {:?}", selection);
            for step in &selection.steps {
                prop_assert!(step.lqo_error.is_finite() && step.lqo_error >= 0.0, "{strategy} {:?}", selection);
            }
        }
    }
}

/// Problems that lose digits: columns of noise, nearly equal or scaled columns, and a lambda from moderate to tiny.
fn delicate() -> impl Strategy<Value = (Problem, f64)> {
    let sizes = prop::collection::vec(2..5_usize, 3..7);
    (sizes, 2..7_usize).prop_flat_map(|(sizes, columns)| {
        let rows: usize = sizes.iter().sum();
        let noise = prop::collection::vec(-1.0..1.0f64, rows);
        let parts = (
            noise.clone(),
            0..4u8,
            1..13i32,
            any::<prop::sample::Index>(),
            -4..5i32,
        );
        let all = prop::collection::vec(parts, columns);
        (Just(sizes), all, noise, -12..3i32).prop_map(|(sizes, drawn, labels, lambda)| {
            let mut x: Vec<Vec<f64>> = Vec::new();
            for (values, kind, distance, other, power) in drawn {
                let column: Vec<f64> = if kind == 0 && !x.is_empty() {
                    let like = &x[other.index(x.len())];
                    let near = |(a, b): (&f64, &f64)| a * (1.0 + b * 10f64.powi(-distance));
                    like.iter().zip(&values).map(near).collect()
                } else if kind == 2 {
                    // Visible in one query, and slightly in the next.
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
                        .zip(&values)
                        .map(|(row, value)| value * share(row))
                        .collect()
                } else {
                    let power = if kind == 1 { power } else { 0 };
                    values
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

/// Losses, as shares of the error and of the weights.
struct Loss {
    strategy: StrategyKind,
    condition: f64,
    error: f64,
    weights: f64,
}

/// The losses of exact strategies on a problem.
fn losses(problem: &Problem, lambda: f64) -> Vec<Loss> {
    let data = problem.dataset();
    let exact = StrategyKind::ALL.into_iter().filter(|kind| kind.is_exact());
    let loss = |strategy| {
        let options = by(strategy, 7, lambda);
        let selection = select(&data, &options, &mut unwatched).unwrap();
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

/// The condition number gives the number of lost digits, up to three more or less. Prints the table in
/// `docs/promises.md` with `--nocapture`, for ten times as many problems with `RANKRLS_LONG=10`.
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
                // All digits may be lost, with a warning.
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

fn selected(problem: &Problem, lambda: f64) -> Result<Selection> {
    let options = GreedyRankRls::new(1, Lambda::new(lambda).unwrap());
    select(&problem.dataset(), &options, &mut unwatched)
}

#[test]
fn values_beyond_their_squares_are_refused() {
    for value in [1e300, 1e51] {
        let error = selected(&column([value, 0.0, 1.0, 0.0]), 1.0).unwrap_err();
        assert!(
            error
                .to_string()
                .starts_with("column 1 has values too large"),
            "{error}"
        );
    }
    assert!(selected(&column([1e49, 0.0, 1.0, 0.0]), 1.0).is_ok());
    // Training has the same rules, also for vanishing lambdas.
    let trained = |value: f64, lambda: f64, solver: Solver| {
        let options = RankRls {
            lambdas: Lambda::new(lambda).unwrap().into(),
            solver: Some(solver),
            ..RankRls::default()
        };
        let data = column([value, 0.0, 1.0, 0.0]).dataset();
        options
            .train(&data, None)
            .map_err(|error| error.to_string())
    };
    for solver in Solver::ALL {
        let error = trained(1e51, 1.0, solver).unwrap_err();
        assert!(
            error.starts_with("column 1 has values too large"),
            "{error}"
        );
        let error = trained(1.0, 1e-200, solver).unwrap_err();
        assert!(
            error.starts_with("lambda 1e-200 is too small for these values"),
            "{error}"
        );
        assert!(trained(1e49, 1e90, solver).is_ok());
    }
}

/// A column too small to matter beside others gets no weight, and does no harm.
#[test]
fn values_that_vanish_have_no_effect() {
    for value in [1e-300, 5e-324, 1e-170] {
        let mut problem = column([value, 0.0, 0.0, value]);
        problem.x.push(vec![1.0, 0.0, 2.0, 0.0]);
        let options = GreedyRankRls::new(2, Lambda::new(1.0).unwrap());
        let selection = select(&problem.dataset(), &options, &mut unwatched).unwrap();
        assert_eq!(selection.features(), [1, 0]);
        assert_eq!(selection.steps[0].lqo_error, selection.steps[1].lqo_error);
        assert!(selection.weights[1].abs() <= value);
    }
}

/// Queries of three rows whose labels the second of two columns follows.
fn following(value: f64) -> Problem {
    let labels = [2.0, 0.0, 1.0].repeat(12);
    let noise = (0..36).map(|row| f64::from(row * 7 % 5) * value);
    Problem {
        x: vec![
            noise.collect(),
            labels.iter().map(|label| label * value).collect(),
        ],
        labels,
        sizes: vec![3; 12],
    }
}

/// If the squares of all columns vanish, all columns look alike. Every strategy and solver refuses them. Scaled
/// columns are fine.
#[test]
fn columns_whose_squares_vanish_are_refused_or_scaled() {
    for value in [1e-150, 1e-200, 1e-300, 5e-324] {
        let data = following(value).dataset();
        for strategy in strategies() {
            let options = by(strategy, 1, 1.0);
            let error = select(&data, &options, &mut unwatched).unwrap_err();
            let text = error.to_string();
            assert!(text.contains("values too small"), "{strategy}: {text}");
        }
        for solver in Solver::ALL {
            let error = by_solver(solver).train(&data, None).unwrap_err();
            let text = error.to_string();
            assert!(
                text.starts_with("the columns have values too small"),
                "{solver}: {text}"
            );
        }
        // Multiples of the least number have no digits to differ in.
        for scale in [Scale::Sd, Scale::Max]
            .into_iter()
            .filter(|_| value > 1e-310)
        {
            for strategy in strategies().filter(|kind| kind.is_exact()) {
                let options = GreedyRankRls {
                    scale: Some(scale),
                    ..by(strategy, 1, 1.0)
                };
                let selection = select(&data, &options, &mut unwatched).unwrap();
                assert_eq!(selection.features(), [1], "{strategy}");
                assert_eq!(selection.steps[0].lqo_cindex, Some(1.0), "{strategy}");
            }
            let options = RankRls {
                scale: Some(scale),
                ..RankRls::default()
            };
            let trained = train(&data, &options, 1.0, HoldOut::Nothing).unwrap();
            let found = mean(&data, &scores(&trained, &data));
            assert_eq!(found, Some(1.0), "{scale}");
        }
    }
    assert_eq!(selected(&following(1.0), 1.0).unwrap().features(), [1]);
}

/// Numbers out of range are one fault, in the same words everywhere: in a selection, a training, a teacher, and
/// paths of a grid.
#[test]
fn numbers_out_of_range_are_one_fault() {
    let labels = |size: f64| {
        let mut problem = following(1.0);
        problem.labels.iter_mut().for_each(|label| *label *= size);
        problem.dataset()
    };
    let scaled = GreedyRankRls {
        scale: Some(Scale::Sd),
        ..by(StrategyKind::Auto, 1, 1.0)
    };
    for (data, scale, text) in [
        (labels(1e-150), Scale::None, "the labels are too small"),
        (labels(1e200), Scale::None, "the labels are too large"),
        (
            following(1e-200).dataset(),
            Scale::None,
            "the columns have values too small",
        ),
        (
            following(1e200).dataset(),
            Scale::None,
            "column 1 has values too large",
        ),
        (
            following(5e-324).dataset(),
            Scale::Sd,
            "column 1 has values too small to scale",
        ),
    ] {
        let selection = GreedyRankRls {
            scale: Some(scale),
            ..scaled.clone()
        };
        let distil = GreedyRankRls {
            strategy: StrategyKind::Distil,
            label_scale: Some(LabelScale::Raw),
            ..selection.clone()
        };
        let training = RankRls {
            scale: Some(scale),
            ..with_lambda(1.0)
        };
        let grid = |selection: &GreedyRankRls, holdout: HoldOut| Tune {
            holdout,
            ..Tune::new(selection.clone(), Lambda::new(1.0).unwrap())
        };
        let folds = HoldOut::Folds { count: 3, seed: 1 };
        let auto = GreedyRankRls {
            lambda: None,
            ..selection.clone()
        };
        let found = [
            select(&data, &selection, &mut unwatched).unwrap_err(),
            select(&data, &distil, &mut unwatched).unwrap_err(),
            training.train(&data, None).unwrap_err(),
            grid(&selection, HoldOut::Queries).fit(&data).unwrap_err(),
            grid(&distil, folds).fit(&data).unwrap_err(),
            auto.fit(&data).unwrap_err(),
        ];
        for (place, error) in found.iter().enumerate() {
            assert_eq!(error.kind(), Kind::Data, "{place}: {error}");
            assert!(error.to_string().contains(text), "{place}: {error}");
        }
    }
}

fn by_solver(solver: Solver) -> RankRls {
    RankRls {
        solver: Some(solver),
        ..RankRls::default()
    }
}

fn with_lambda(lambda: f64) -> RankRls {
    RankRls {
        lambdas: Lambda::new(lambda).unwrap().into(),
        ..RankRls::default()
    }
}

fn mean(data: &rankrls::Dataset<'_>, scores: &[f64]) -> Option<f64> {
    let (labels, queries) = (data.labels(), data.queries());
    let metrics = [Metric::CONCORDANCE];
    let found = evaluate(&metrics, labels, scores, queries, Convention::Standard);
    found.unwrap()[0].1.mean
}

/// Kernels of tiny values are constant, or vanish.
#[test]
fn kernels_of_tiny_values_are_refused() {
    let data = following(1e-200).dataset();
    let kernels = [
        Kernel::gaussian(1.0).unwrap(),
        Kernel::new(KernelKind::Polynomial, 1.0, 1.0, 2).unwrap(),
        Kernel::new(KernelKind::Polynomial, 1.0, 0.0, 2).unwrap(),
    ];
    for kernel in kernels {
        for basis in [None, Some(Basis::Given((0..9).collect()))] {
            let params = RankRls {
                kernels: vec![kernel],
                basis,
                ..with_lambda(1.0)
            };
            let error = params.train(&data, None).unwrap_err().to_string();
            let refused = [
                "the kernel is constant",
                "the values are too small",
                "nothing to train on",
            ];
            let refused = refused.iter().any(|start| error.starts_with(start));
            assert!(refused, "{kernel:?}: {error}");
        }
    }
}

/// A common offset of labels or columns changes nothing except rounding.
#[test]
fn common_offsets_change_nothing() {
    let mut plain = following(1.0);
    for (row, label) in (0..).zip(&mut plain.labels) {
        *label += f64::from(row * 5 % 7) / 4.0;
    }
    for offset in [1e6, 1e8, 1e10] {
        let mut shifted = plain.clone();
        shifted.labels.iter_mut().for_each(|label| *label += offset);
        for column in &mut shifted.x {
            for value in column {
                *value -= 4.0 * offset;
            }
        }
        let datasets = [plain.dataset(), shifted.dataset()];
        for strategy in EXACT {
            let [of_plain, of_shifted] = datasets.each_ref().map(|data| {
                let options = by(strategy, 2, 1.0);
                select(data, &options, &mut unwatched).unwrap()
            });
            assert_eq!(
                of_plain.features(),
                of_shifted.features(),
                "{strategy} {offset:e}"
            );
            assert!(
                share(&of_shifted.weights, &of_plain.weights) < 1e-12,
                "{strategy}"
            );
        }
        for solver in Solver::ALL {
            for labels in LabelScale::ALL {
                let [weights, others] = datasets.each_ref().map(|data| {
                    let options = RankRls {
                        label_scale: Some(labels),
                        ..by_solver(solver)
                    };
                    let trained = train(data, &options, 1.0, HoldOut::Nothing).unwrap();
                    let residual = trained.best().residual;
                    assert!(residual.is_none_or(|share| share <= 1e-10), "{residual:?}");
                    let values = weights(&trained).iter().map(|&(_, value)| value);
                    values.collect::<Vec<f64>>()
                });
                let share = share(&others, &weights);
                assert!(share < 1e-9, "{solver} {labels} {offset:e}: {share:e}");
            }
        }
    }
}

#[test]
fn a_lambda_that_vanishes_beside_the_values_is_refused() {
    let problem = column([1.0, 0.0, 1.0, 0.0]);
    for lambda in [5e-324, 1e-300, 1e-101] {
        let error = selected(&problem, lambda).unwrap_err();
        assert_eq!(error.kind(), Kind::Options, "{error}");
        assert!(error.to_string().contains("raise --lambda"), "{error}");
    }
    for lambda in [1e-99, 1e300, f64::MAX] {
        let selection = selected(&problem, lambda).unwrap();
        assert!(selection.weights[0].is_finite() && selection.steps[0].lqo_error.is_finite());
    }
    // A number that is small beside one column need not be small beside another.
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
        let data = problem.dataset();
        for strategy in strategies() {
            let error = select(&data, &by(strategy, 1, 1.0), &mut unwatched).unwrap_err();
            assert!(error.to_string().contains("a single row"), "{error}");
        }
        let ranking = GreedyRankRls {
            criterion: "cindex".parse().unwrap(),
            ..by(StrategyKind::Dense, 1, 1.0)
        };
        let error = select(&data, &ranking, &mut unwatched).unwrap_err();
        assert!(error.to_string().contains("a single row"), "{error}");
        for kernel in [Kernel::LINEAR, Kernel::gaussian(1.0).unwrap()] {
            let params = RankRls {
                kernels: vec![kernel],
                ..with_lambda(1.0)
            };
            let refused = params.train(&data, None).unwrap_err().to_string();
            assert!(refused.contains("a single row"), "{refused}");
        }
    }
    // Columns are to blame if queries have several rows.
    let error = selected(&column([1.0, 1.0, 2.0, 2.0]), 1.0).unwrap_err();
    let text = error.to_string();
    assert!(text.starts_with("nothing to select from: "), "{text}");
    assert!(!text.contains("a single row"), "{text}");
}

/// A criterion without a value says what the labels lack.
#[test]
fn a_criterion_without_a_value_says_what_labels_lack() {
    for (labels, criterion, cause) in [
        ([1.0, 1.0, 3.0, 3.0], "cindex", "do not tell examples apart"),
        ([0.0, -1.0, -2.0, 0.0], "map", "no example is relevant"),
        ([0.0, -1.0, -2.0, 0.0], "mrr", "no example is relevant"),
        ([0.0; 4], "ndcg@2", "no label is above 0"),
        ([0.0; 4], "mean-ndcg", "no label is above 0"),
    ] {
        let mut problem = column([1.0, 0.0, 1.0, 2.0]);
        problem.labels = labels.to_vec();
        let options = GreedyRankRls {
            criterion: criterion.parse().unwrap(),
            ..GreedyRankRls::new(1, Lambda::new(1.0).unwrap())
        };
        let error = select(&problem.dataset(), &options, &mut unwatched).unwrap_err();
        assert!(error.to_string().contains(cause), "{criterion}: {error}");
    }
}

/// A custom strategy that returns these errors for candidates.
struct Given(fn(usize) -> Vec<f64>);

impl strategy::Strategy for Given {
    fn errors(&mut self, _: &Round<'_>, eligible: &[u32]) -> Vec<f64> {
        (self.0)(eligible.len())
    }
}

#[test]
fn errors_that_are_not_those_of_the_candidates_are_refused() {
    type Errors = fn(usize) -> Vec<f64>;

    let data = following(1.0).dataset();
    let first = |errors: Errors| {
        let options = GreedyRankRls::new(1, Lambda::new(1.0).unwrap());
        let model = options.fit_with(&data, Some(&|| Box::new(Given(errors))), &mut unwatched)?;
        Ok::<u32, rankrls::Error>(model.columns()[0])
    };
    let wrong: [(Errors, usize); 4] = [
        (|count| vec![1.0; count / 2], 1),
        (|count| vec![1.0; 2 * count], 4),
        (|_| Vec::new(), 0),
        (|count| vec![1.0; count + 1], 3),
    ];
    for (errors, found) in wrong {
        let error = first(errors).unwrap_err();
        let expected = format!("the strategy has {found} errors in step 1: expected 2, ");
        assert!(error.to_string().starts_with(&expected), "{error}");
    }
    let error = first(|count| vec![f64::NAN; count]).unwrap_err();
    assert_eq!(error.kind(), Kind::Numbers);
    assert!(error.to_string().starts_with("step 1 leads"), "{error}");
    assert_eq!(first(|_| vec![f64::NAN, 7.0]), Ok(1));
    assert_eq!(first(|_| vec![-1.0, -2.0]), Ok(1));
    assert_eq!(first(|_| vec![3.0, 3.0]), Ok(0));
}

/// The size of the labels changes neither the selection by a measure nor its values, because predictions scale with
/// the labels.
#[test]
fn a_measure_as_criterion_does_not_see_the_size_of_labels() {
    let plain = following(1.0);
    for scale in LabelScale::ALL {
        for metric in ["cindex", "ndcg@2"] {
            let found = |size: f64| {
                let mut problem = plain.clone();
                problem.labels.iter_mut().for_each(|label| *label *= size);
                let mut options = GreedyRankRls {
                    criterion: metric.parse().unwrap(),
                    ..GreedyRankRls::new(2, Lambda::new(1.0).unwrap())
                };
                options.label_scale = Some(scale);
                let selection = select(&problem.dataset(), &options, &mut unwatched).unwrap();
                let steps = selection.steps.iter();
                let indices: Vec<_> = steps.map(|step| step.lqo_cindex).collect();
                (selection.features(), indices, selection.steps[0].criterion)
            };
            let small = found(1.0);
            assert_eq!(small.0[0], 1, "{scale} {metric}");
            for size in [1e-9, 1e9, 1e13] {
                let large = found(size);
                assert_eq!(
                    (&large.0, &large.1),
                    (&small.0, &small.1),
                    "{scale} {metric}"
                );
                // Gains depend on the size of labels, but the order of the best does not.
                assert_eq!(large.2, small.2, "{scale} {metric} {size:e}");
            }
        }
    }
}

/// A grid chooses among models that can be judged, and refuses if none can.
#[test]
fn a_grid_whose_measure_is_undefined_everywhere_is_refused() {
    let grid = |metric: &str, lambdas: Lambdas| RankRls {
        lambdas,
        measure: metric.parse().unwrap(),
        ..RankRls::default()
    };
    let several: Lambdas = "1,4,16".parse().unwrap();
    let mut problem = following(1.0);
    for (labels, metric, cause) in [
        (0.0, "map", "no example is relevant"),
        (0.0, "ndcg@2", "no label is above 0"),
        (3.0, "cindex", "do not tell examples apart"),
    ] {
        problem.labels.fill(labels);
        let data = problem.dataset();
        for lambdas in [several.clone(), Lambdas::Auto] {
            let error = grid(metric, lambdas).train(&data, None).unwrap_err();
            let text = error.to_string();
            assert!(text.contains("is undefined in every query"), "{text}");
            assert!(error.to_string().contains(cause), "{error}");
        }
        // A single model is not a choice.
        let one = grid(metric, "1".parse().unwrap());
        assert!(one.train(&data, None).is_ok());
    }
    // A measure that is undefined in most queries is defined.
    problem.labels[0] = 4.0;
    problem.labels[4] = 5.0;
    let found = grid("cindex", several)
        .train(&problem.dataset(), None)
        .unwrap();
    assert!(found.cells.iter().all(|cell| cell.measure.is_some()));
}

/// Rows of one query with noisy labels, for which conjugate gradients have no factor.
fn noisy() -> Problem {
    let noise = |row: u64, column: u64| {
        let word = (row * 8 + column + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let word = (word ^ word >> 29).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        ((word ^ word >> 32) >> 12) as f64 / 2f64.powi(52) - 0.5
    };
    let rows = 0..600;
    let x: Vec<Vec<f64>> = (0..4)
        .map(|column| rows.clone().map(|row| noise(row, column)).collect())
        .collect();
    let label = |row: u64| {
        let place = usize::try_from(row).unwrap();
        let terms = (1..)
            .zip(&x)
            .map(|(weight, x)| f64::from(weight) * x[place]);
        terms.sum::<f64>() + 0.1 * noise(row, 7)
    };
    Problem {
        labels: rows.map(label).collect(),
        x,
        sizes: vec![600],
    }
}

/// For any lambda, weights are right, or the residual tells how wrong they are.
#[test]
fn conjugate_gradients_come_near_or_say_how_far_they_are() {
    let data = noisy().dataset();
    let mut short = 0;
    for exponent in [-2, -4, -6, -8, -9, -10, -12, -16, -20, -40] {
        let by = |solver: Solver| {
            let lambda = 10f64.powi(exponent);
            let found = train(&data, &by_solver(solver), lambda, HoldOut::Nothing).unwrap();
            let mut all = vec![0.0; 4];
            for &(feature, value) in weights(&found) {
                all[feature as usize] = value;
            }
            (all, found)
        };
        let told = |outcome: &Training| {
            let warnings = outcome.warnings(&data, Scale::None).into_iter();
            warnings
                .filter(|warning| warning.text.contains("residual"))
                .count()
        };
        let (right, exact) = by(Solver::Primal);
        assert_eq!(told(&exact), 0);
        let (found, outcome) = by(Solver::ConjugateGradients);
        let residual = outcome.cells[0].residual.unwrap();
        assert_eq!(told(&outcome), usize::from(residual > 1e-10));
        let off = share(&found, &right);
        assert!(
            off <= 10.0 * residual.max(1e-10),
            "1e{exponent}: {off:e} after {residual:e}"
        );
        // With a unit of about 1e8 times lambda, six digits remain.
        assert!(exponent < -9 || off < 1e-6, "1e{exponent}: {off:e}");
        short += told(&outcome);
    }
    assert!(short > 0);
}

/// Every solver refuses labels whose squares vanish. On a scale they are as good as others.
#[test]
fn labels_whose_squares_vanish_are_refused_or_scaled() {
    for size in [1e-150, 1e-200, 1e-300] {
        let mut problem = following(1.0);
        problem.labels.iter_mut().for_each(|label| *label *= size);
        let data = problem.dataset();
        for solver in Solver::ALL {
            let options = by_solver(solver);
            let error = options.train(&data, None).unwrap_err();
            let text = error.to_string();
            assert!(
                text.starts_with("the labels are too small"),
                "{solver}: {text}"
            );
            let options = RankRls {
                label_scale: Some(LabelScale::Unit),
                ..options
            };
            let trained = train(&data, &options, 1.0, HoldOut::Nothing).unwrap();
            assert_eq!(mean(&data, &scores(&trained, &data)), Some(1.0));
        }
    }
}
