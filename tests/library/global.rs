//! Selection by the order of all examples against the definition: models trained again from lists of
//! pairs.

use std::ops::ControlFlow;

use crate::oracle::Problem;
use crate::oracle::problems::{lambdas, problems};
use proptest::prelude::*;
use rankrls::greedy::{
    GlobalHoldout, Observer, Plan, SelectError, State, Step, plan, resume_among, select,
};
use rankrls::interrupt::Interrupt;
use rankrls::ridge::Groups;
use rankrls::tune::{TuneOptions, tune};
use rankrls::{
    ColumnClasses, Dataset, GreedyRankRls, Lambda, Model, Objective, QueryWeight, Scale, Selection,
    SelectionOptions, StrategyKind,
};
use twofloat::TwoFloat;

fn options(k: usize, lambda: f64, holdout: GlobalHoldout) -> SelectionOptions {
    SelectionOptions {
        objective: Objective::Global,
        holdout: Some(holdout),
        ..SelectionOptions::new(k, Lambda::new(lambda).unwrap())
    }
}

/// The same rows in one query: for classes of columns.
fn whole(problem: &Problem) -> Problem {
    Problem {
        sizes: vec![problem.rows()],
        ..problem.clone()
    }
}

/// Sets of rows that are left out.
fn sets(rows: usize, holdout: GlobalHoldout) -> Vec<Vec<usize>> {
    match holdout {
        GlobalHoldout::Lpo => (0..rows)
            .flat_map(|i| (i + 1..rows).map(move |j| vec![i, j]))
            .collect(),
        GlobalHoldout::Folds { count, seed } => {
            let groups = Groups::folds(rows, count, seed).unwrap();
            groups.iter().map(<[usize]>::to_vec).collect()
        }
    }
}

/// Error and concordance by the definition, and how near to a tie the concordance comes: the least
/// difference of two predictions for different labels.
fn by_definition(
    problem: &Problem,
    features: &[usize],
    lambda: f64,
    holdout: GlobalHoldout,
) -> (f64, Option<f64>, f64) {
    let mut error = 0.0;
    let mut shares = Vec::new();
    let mut margin = f64::INFINITY;
    for set in sets(problem.rows(), holdout) {
        let weights = problem.global_weights(features, lambda, &set);
        let predict = |row: usize| {
            let products = features.iter().zip(&weights);
            products.fold(TwoFloat::from(0.0), |sum, (&f, w)| {
                sum + *w * problem.x[f][row]
            })
        };
        let predictions: Vec<TwoFloat> = set.iter().map(|&row| predict(row)).collect();
        let (mut squares, mut right, mut count) = (0.0, 0.0, 0.0);
        for (i, &a) in set.iter().enumerate() {
            for (j, &b) in set.iter().enumerate().take(i) {
                let labels = problem.labels[a] - problem.labels[b];
                let predicted = f64::from(predictions[i] - predictions[j]);
                squares += (labels - predicted).powi(2);
                if labels != 0.0 {
                    count += 1.0;
                    margin = margin.min(predicted.abs());
                    right += if predicted.abs() < 1e-13 {
                        0.5
                    } else {
                        f64::from(predicted * labels > 0.0)
                    };
                }
            }
        }
        // Squares centred in the set are those of its pairs, by its size.
        error += match holdout {
            GlobalHoldout::Lpo => squares / problem.rows() as f64,
            GlobalHoldout::Folds { .. } => squares / set.len() as f64,
        };
        shares.extend((count > 0.0).then(|| right / count));
    }
    let cindex = (!shares.is_empty()).then(|| shares.iter().sum::<f64>() / shares.len() as f64);
    (error, cindex, margin)
}

/// Checks each step of a selection by all candidates.
fn check(
    problem: &Problem,
    selection: &Selection,
    lambda: f64,
    holdout: GlobalHoldout,
) -> Result<(), TestCaseError> {
    let one = whole(problem);
    let start: f64 = one.centred(&problem.labels).iter().map(|y| y * y).sum();
    // The ridge parameter of the centred problem.
    let ridge = lambda / problem.rows() as f64;
    // Equal labels less their mean are rounding, not 0.
    let rounding: f64 = problem
        .labels
        .iter()
        .map(|y| (4.0 * f64::EPSILON * y).powi(2))
        .sum();
    let noise = start * (1e-13 + 1e-15 / ridge) + rounding;
    let mut selected: Vec<usize> = Vec::new();
    for step in &selection.steps {
        let chosen = step.feature as usize;
        let mut least = f64::INFINITY;
        let mut own = None;
        for candidate in one.representatives() {
            if !selected.contains(&candidate) {
                selected.push(candidate);
                let found = by_definition(problem, &selected, lambda, holdout);
                selected.pop();
                least = least.min(found.0);
                if candidate == chosen {
                    own = Some(found);
                }
            }
        }
        let Some((error, cindex, margin)) = own else {
            return Err(TestCaseError::fail(format!("{chosen} was not to be had")));
        };
        prop_assert!(error <= least * (1.0 + 1e-8) + noise, "{error} for {least}");
        let off = (step.lqo_error - error).abs();
        prop_assert!(
            off <= 1e-8 * error + noise,
            "{} for {error}",
            step.lqo_error
        );
        if margin > 1e-7 {
            let off = (step.lqo_cindex.unwrap_or(-1.0) - cindex.unwrap_or(-1.0)).abs();
            prop_assert!(off < 1e-12, "{:?} for {cindex:?}", step.lqo_cindex);
        }
        selected.push(chosen);
    }
    let weights = problem.global_weights(&selected, lambda, &[]);
    let size = weights
        .iter()
        .fold(0.0, |size: f64, &w| size.max(f64::from(w).abs()));
    for (found, &expected) in selection.weights.iter().zip(&weights) {
        let off = (found - f64::from(expected)).abs();
        prop_assert!(off <= (1e-9 + 1e-14 / ridge) * size + 1e-15 / ridge);
    }
    Ok(())
}

fn drawn() -> impl Strategy<Value = Problem> {
    let sizes = prop_oneof![
        3 => prop::collection::vec(3usize..13, 1),
        1 => prop::collection::vec(1usize..5, 2..4),
    ];
    problems(sizes, 1..8).prop_filter("3 rows", |problem| problem.rows() > 2)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 3000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn selections_follow_the_definition(problem in drawn(), lambda in lambdas(), folds in 2usize..7) {
        let folds = GlobalHoldout::Folds { count: folds, seed: 3 };
        let k = problem.x.len();
        for holdout in [GlobalHoldout::Lpo, folds] {
            let found = select(&problem.dataset(), &options(k, lambda, holdout), &mut ());
            let classes = whole(&problem).representatives().len();
            let few = matches!(holdout, GlobalHoldout::Folds { count, .. } if 2 * count > problem.rows());
            if classes == 0 || few {
                prop_assert!(found.is_err());
                continue;
            }
            let selection = found.unwrap();
            prop_assert_eq!(selection.steps.len(), classes);
            prop_assert_eq!(selection.holdout, Some(holdout));
            check(&problem, &selection, lambda, holdout)?;
        }
    }
}

const FOLDS: GlobalHoldout = GlobalHoldout::Folds { count: 3, seed: 1 };

/// 23 rows of dense and sparse columns, some of them in one row.
fn problem() -> Problem {
    let value = |feature: usize, row: usize| match feature % 3 {
        0 => f64::from(u8::from(row % 23 == feature)),
        1 => ((feature * 7 + row * row * 3) % 11) as f64 - 4.0,
        _ => f64::from(u8::from((feature + row).is_multiple_of(5))),
    };
    Problem {
        x: (0..20)
            .map(|f| (0..23).map(|row| value(f, row)).collect())
            .collect(),
        labels: (0..23).map(|row| f64::from((row * 5) % 7)).collect(),
        sizes: vec![10, 13],
    }
}

fn run(problem: &Problem, options: &SelectionOptions) -> Selection {
    select(&problem.dataset(), options, &mut ()).unwrap()
}

/// Every column once as it is, once in scale, in the units of the data.
#[test]
fn columns_may_be_scaled() {
    let problem = problem();
    let (divided, divisors) = whole(&problem).divided(Scale::Sd);
    for holdout in [GlobalHoldout::Lpo, FOLDS] {
        let plain = run(&divided, &options(6, 2.0, holdout));
        let scale = Scale::Sd;
        let scaled = run(
            &problem,
            &SelectionOptions {
                scale,
                ..options(6, 2.0, holdout)
            },
        );
        assert_eq!(plain.features(), scaled.features());
        for ((step, weight), other) in plain.steps.iter().zip(&plain.weights).zip(&scaled.weights) {
            let divisor = divisors[step.feature as usize];
            assert!((weight / divisor - other).abs() < 1e-10 * other.abs());
        }
    }
}

/// RLScore's `GlobalRankRLS.leave_pair_out` on 10 rows, with all 3 features.
#[test]
fn concordance_is_that_of_rlscore() {
    let problem = Problem {
        x: vec![
            vec![1.49, 0.19, 1.11, 1.5, 0.49, 0.9, -0.7, -1.06, -0.26, -0.32],
            vec![
                -0.71, -0.45, -2.23, -0.42, -1.12, 1.26, -0.44, -0.28, -1.11, 0.34,
            ],
            vec![-1.8, -1.67, -1.17, 1.1, 1.22, 0.19, 0.6, -0.64, -0.2, 1.54],
        ],
        labels: vec![1.0, -0.3, 0.6, -0.5, 0.7, -1.5, -0.8, 0.6, 1.4, 0.7],
        sizes: vec![10],
    };
    for (lambda, expected) in [
        (0.03125, 0.581_395_348_837_209_3),
        (1.0, 0.581_395_348_837_209_3),
        (32.0, 0.558_139_534_883_720_9),
    ] {
        let selection = run(&problem, &options(3, lambda, GlobalHoldout::Lpo));
        assert_eq!(selection.steps[2].lqo_cindex, Some(expected), "{lambda}");
    }
}

#[test]
fn any_number_of_threads_gives_the_same_bits() {
    let problem = problem();
    for holdout in [GlobalHoldout::Lpo, FOLDS] {
        for lambda in [1e-6, 1.0] {
            let run = |threads: usize| {
                let pool = rayon::ThreadPoolBuilder::new()
                    .num_threads(threads)
                    .build()
                    .unwrap();
                pool.install(|| run(&problem, &options(12, lambda, holdout)))
            };
            let one = run(1);
            for other in [run(2), run(3)] {
                assert_eq!(one, other);
                let bits =
                    |run: &Selection| run.weights.iter().map(|w| w.to_bits()).collect::<Vec<_>>();
                assert_eq!(bits(&one), bits(&other));
            }
        }
    }
}

#[test]
fn a_selection_goes_on_from_its_steps_and_from_its_model() {
    let data = problem().dataset();
    for holdout in [GlobalHoldout::Lpo, FOLDS] {
        let options = options(9, 1e-6, holdout);
        let candidates = options.candidates(&data);
        let whole = select(&data, &options, &mut ()).unwrap();
        let steps = &whole.steps[..5];
        let resumed = resume_among(&candidates, &data, 0, &options, steps, &mut ()).unwrap();
        assert_eq!(whole, resumed);
        let short = SelectionOptions { k: 5, ..options };
        let short = select(&data, &short, &mut ()).unwrap();
        let mut text = Vec::new();
        let model = Model::from_selection(&short, &data, &candidates.summary());
        model.write_to(&mut text).unwrap();
        let read = Model::parse(&text, "model.json".as_ref()).unwrap();
        assert_eq!(read, model);
        let (more, steps) = read.selection(9).unwrap();
        assert_eq!(
            (more.objective, more.holdout),
            (options.objective, options.holdout)
        );
        let longer = resume_among(&candidates, &data, 0, &more, &steps, &mut ()).unwrap();
        assert_eq!(longer.weights, whole.weights);
    }
}

/// Asks for the end once the first step is done.
struct Impatient<'a>(&'a Interrupt, usize);

impl Observer for Impatient<'_> {
    fn stepped(&mut self, number: usize, _: &Step, _: &State) -> ControlFlow<()> {
        self.1 = number;
        self.0.request();
        ControlFlow::Continue(())
    }
}

#[test]
fn a_request_to_end_is_heeded() {
    let data = problem().dataset();
    for holdout in [GlobalHoldout::Lpo, FOLDS] {
        let interrupt = Interrupt::new();
        let mut observer = Impatient(&interrupt, 0);
        let options = options(9, 1.0, holdout);
        let ended = interrupt.run(2, || select(&data, &options, &mut observer));
        assert!(ended.unwrap().is_none());
        assert_eq!(observer.1, 1);
    }
}

/// Values, labels and lambda of eleven magnitudes: finite numbers, or an error.
#[test]
fn numbers_are_finite_or_refused() {
    let sizes = [
        1e-300, 1e-160, 1e-40, 1e-8, 1.0, 1e8, 1e40, 1e100, 1e160, 1e300,
    ];
    for (value, label) in sizes.iter().flat_map(|v| sizes.map(|label| (*v, label))) {
        for lambda in [5e-324, 1e-100, 1e-12, 1.0, 1e100, f64::MAX] {
            for holdout in [GlobalHoldout::Lpo, FOLDS] {
                let mut problem = problem();
                problem
                    .x
                    .iter_mut()
                    .take(7)
                    .flatten()
                    .for_each(|x| *x *= value);
                problem.labels.iter_mut().for_each(|y| *y *= label);
                let options = options(8, lambda, holdout);
                if let Ok(found) = select(&problem.dataset(), &options, &mut ()) {
                    let finite = |step: &Step| step.lqo_error.is_finite();
                    assert!(found.steps.iter().all(finite), "{value} {label} {lambda}");
                    assert!(found.weights.iter().all(|weight| weight.is_finite()));
                }
            }
        }
    }
}

/// Queries are of no concern, and strategies that need none do.
#[test]
fn queries_do_not_count() {
    let problem = problem();
    let by = |problem: &Problem, strategy, sample| {
        let asked = SelectionOptions {
            strategy,
            sample,
            ..options(6, 2.0, FOLDS)
        };
        run(problem, &asked)
    };
    for strategy in StrategyKind::ALL
        .into_iter()
        .filter(|kind| kind.is_global())
    {
        let found = by(&problem, Some(strategy), None);
        assert_eq!(found, by(&whole(&problem), Some(strategy), None));
        assert_eq!(found.strategy, strategy);
        assert_eq!(found.sampler.is_some(), strategy != StrategyKind::LowMem);
    }
    assert_eq!(by(&problem, None, None).strategy, StrategyKind::LowMem);
    assert_eq!(by(&problem, None, Some(4)).steps[0].evaluated, 4);
}

#[test]
fn the_hold_out_follows_the_size() {
    let asked = SelectionOptions {
        holdout: None,
        seed: 7,
        ..options(1, 1.0, FOLDS)
    };
    assert_eq!(asked.global_holdout(1000), Some(GlobalHoldout::Lpo));
    let folds = GlobalHoldout::Folds { count: 10, seed: 7 };
    assert_eq!(asked.global_holdout(1001), Some(folds));
    assert_eq!(
        SelectionOptions::new(1, Lambda::ONE).global_holdout(50),
        None
    );
    assert_eq!("folds:3".parse(), Ok(FOLDS));
    assert_eq!(FOLDS.to_string(), "folds:3");
    assert!(
        ["folds:1", "folds:", "lqo", ""]
            .iter()
            .all(|text| text.parse::<GlobalHoldout>().is_err())
    );
}

#[test]
fn the_short_way_and_a_memory_limit_are_the_same() {
    let data = problem().dataset();
    let params = GreedyRankRls::params(4).objective(Objective::Global);
    let found = params.fit(&data).unwrap();
    let expected = options(4, 1.0, GlobalHoldout::Lpo);
    assert_eq!(
        found.weights().to_vec(),
        select(&data, &expected, &mut ()).unwrap().weights
    );
    assert_eq!(found.model().objective(), Objective::Global);
    let candidates = expected.candidates(&data);
    let Plan {
        strategy, memory, ..
    } = plan(&candidates, 0, &expected).unwrap();
    assert_eq!(strategy, StrategyKind::LowMem);
    let limited = params.max_memory(memory).fit(&data).unwrap_err();
    assert!(matches!(limited, SelectError::Memory { .. }), "{limited}");
}

#[test]
fn what_is_of_queries_is_refused() {
    let data = problem().dataset();
    let usual = options(4, 1.0, GlobalHoldout::Lpo);
    let refused = |asked: SelectionOptions, said: &str| {
        let error = select(&data, &asked, &mut ()).unwrap_err().to_string();
        assert!(error.contains(said), "{error}");
    };
    for strategy in StrategyKind::ALL
        .into_iter()
        .filter(|kind| !kind.is_global())
    {
        let strategy = Some(strategy);
        refused(
            SelectionOptions { strategy, ..usual },
            "use lowmem or sampled",
        );
    }
    let criterion = "ndcg@10".parse().unwrap();
    refused(
        SelectionOptions { criterion, ..usual },
        "criterion ndcg@10 does not go",
    );
    let query_weight = QueryWeight::Pairs;
    refused(
        SelectionOptions {
            query_weight,
            ..usual
        },
        "query weight pairs does not go",
    );
    let mut taught = usual;
    taught.target.blend = Some(0.5);
    refused(taught, "a teacher does not go");
    let objective = Objective::Pairs;
    refused(
        SelectionOptions { objective, ..usual },
        "use query or global",
    );
    let holdout = Some(GlobalHoldout::Folds { count: 12, seed: 1 });
    refused(
        SelectionOptions { holdout, ..usual },
        "23 examples are too few for the hold-out folds:12",
    );
    refused(
        SelectionOptions {
            lambda: Lambda::new(5e-324).unwrap(),
            ..usual
        },
        "lambda",
    );
    let grouped = ColumnClasses::new(&data);
    let error = resume_among(&grouped, &data, 0, &usual, &[], &mut ()).unwrap_err();
    assert!(matches!(error, SelectError::NotGlobal { .. }), "{error}");
    let error = tune(&data, &TuneOptions::new(usual, &[Lambda::ONE]), &mut ()).unwrap_err();
    assert!(
        error
            .to_string()
            .contains("tuning does not know the objective global"),
        "{error}"
    );
    let two: Dataset<'_> = Problem {
        x: vec![vec![0.0, 1.0]],
        labels: vec![1.0, 2.0],
        sizes: vec![2],
    }
    .dataset();
    assert!(matches!(
        select(&two, &usual, &mut ()),
        Err(SelectError::Holdout { rows: 2, .. })
    ));
}
