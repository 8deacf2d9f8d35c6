//! Every strategy against the definition, on data small enough to retrain.

use std::cell::RefCell;
use std::collections::HashMap;
use std::ops::ControlFlow;

use crate::oracle::problems::{lambdas, problems};
use crate::oracle::{EXACT, Problem, by, drawn_problems, strategies};
use proptest::prelude::*;
use rankrls::data::LabelScale;
use rankrls::greedy::Step;
use rankrls::greedy::job::{Selecting, select, unwatched};
use rankrls::greedy::strategy::Sampler;
use rankrls::metrics::{Convention, Measure, Metric, evaluate};
use rankrls::{
    ColumnClasses, GreedyRankRls, Lambda, Queries, QueryWeight, Scale, Selection, StrategyKind,
};

/// Queries from one row to all rows.
pub(crate) fn drawn() -> impl Strategy<Value = Problem> {
    let sizes = prop_oneof![
        4 => prop::collection::vec(1usize..6, 1..7),
        1 => prop::collection::vec(Just(1usize), 1..5),
        1 => prop::collection::vec(2usize..3, 8..14),
        1 => prop::collection::vec(12usize..17, 1..3),
    ];
    problems(sizes, 1..9)
}

fn run(problem: &Problem, options: &GreedyRankRls) -> Option<Selection> {
    select(&problem.dataset(), options, &mut unwatched).ok()
}

fn options(k: usize, lambda: f64) -> GreedyRankRls {
    GreedyRankRls::new(k, Lambda::new(lambda).unwrap())
}

/// Checks each step of a path against the definition.
pub(crate) fn check_path(
    problem: &Problem,
    selection: &Selection,
    lambda: f64,
    eligible: impl Fn(usize, &[usize]) -> Vec<usize>,
    criterion: impl Fn(&[usize], usize) -> f64,
) -> Result<(), TestCaseError> {
    let start = problem.error(&[], lambda);
    // Rounding of a sum of squares that began at `start`, in models of condition about 1 / lambda, up to the norms
    // of the columns.
    let noise = start * (1e-13 + 1e-15 / lambda);
    let mut selected: Vec<usize> = Vec::new();
    for (number, step) in selection.steps.iter().enumerate() {
        let chosen = step.feature as usize;
        let judged: Vec<(usize, f64)> = eligible(number, &selected)
            .iter()
            .map(|&i| (i, criterion(&selected, i)))
            .collect();
        let least = judged
            .iter()
            .map(|pair| pair.1)
            .fold(f64::INFINITY, f64::min);
        let own = judged.iter().find(|pair| pair.0 == chosen);
        prop_assert!(
            own.is_some(),
            "feature {chosen} was not eligible in step {number}"
        );
        let error = own.unwrap().1;
        prop_assert!(
            error <= least * (1.0 + 1e-8) + noise,
            "step {number}: {error} for {least}"
        );
        if noise < 1e-12 * least {
            let tied = judged.iter().filter(|pair| pair.1 <= least * (1.0 + 5e-11));
            let lowest = tied.map(|pair| pair.0).min().unwrap();
            prop_assert!(
                chosen <= lowest,
                "step {number}: {chosen}, tied with {lowest}"
            );
        }
        selected.push(chosen);
        let error = problem.error(&selected, lambda);
        let off = (step.lqo_error - error).abs();
        prop_assert!(
            off <= 1e-8 * error + noise,
            "step {number}: {} for {error}",
            step.lqo_error
        );
    }
    let weights = problem.weights(&selected, lambda);
    let size = weights
        .iter()
        .fold(0.0f64, |size, weight| size.max(weight.abs()));
    for (found, expected) in selection.weights.iter().zip(&weights) {
        let off = (found - expected).abs();
        prop_assert!(
            off <= (1e-9 + 1e-14 / lambda) * size + 1e-15 / lambda,
            "weight {found} for {expected}"
        );
    }
    Ok(())
}

/// Like [`check_path`], if all remaining features are eligible.
fn check_steps(
    problem: &Problem,
    selection: &Selection,
    lambda: f64,
    criterion: impl Fn(&[usize], usize) -> f64,
) -> Result<(), TestCaseError> {
    let eligible = |_, selected: &[usize]| remaining(problem, selected);
    check_path(problem, selection, lambda, eligible, criterion)
}

fn remaining(problem: &Problem, selected: &[usize]) -> Vec<usize> {
    let mut rest = problem.representatives();
    rest.retain(|feature| !selected.contains(feature));
    rest
}

proptest! {
    #![proptest_config(drawn_problems(3000))]

    #[test]
    fn candidates_are_the_distinct_centred_columns(problem in drawn()) {
        let candidates = ColumnClasses::new(&problem.dataset());
        let found: Vec<usize> =
            (0..candidates.len()).map(|c| candidates.feature(c) as usize).collect();
        prop_assert_eq!(found, problem.representatives());
        let summary = candidates.summary();
        let members: usize = (0..candidates.len()).map(|c| candidates.class(c).len()).sum();
        prop_assert_eq!(members + summary.constant_columns, problem.x.len());
    }

    #[test]
    fn exact_strategies_follow_the_definition(problem in drawn(), lambda in lambdas()) {
        let k = problem.x.len();
        // The strategies mostly judge the same sets, so each set is trained once.
        let known = RefCell::new(HashMap::new());
        let error = |selected: &[usize], candidate| {
            let set = [selected, &[candidate]].concat();
            let found = known.borrow().get(&set).copied();
            found.unwrap_or_else(|| {
                let error = problem.error(&set, lambda);
                known.borrow_mut().insert(set, error);
                error
            })
        };
        for strategy in EXACT {
            let selection = run(&problem, &by(strategy, k, lambda));
            let refused = problem.sizes.len() == 1 || problem.representatives().is_empty();
            prop_assert_eq!(selection.is_none(), refused);
            let Some(selection) = selection else { continue };
            prop_assert_eq!(selection.steps.len(), problem.representatives().len());
            check_steps(&problem, &selection, lambda, error)?;
        }
    }

    #[test]
    fn backfit_follows_its_own_definition(problem in drawn(), lambda in lambdas()) {
        let options = by(StrategyKind::Backfit, problem.x.len(), lambda);
        let Some(selection) = run(&problem, &options) else { return Ok(()) };
        check_steps(&problem, &selection, lambda, |selected, candidate| problem.backfit_error(selected, candidate, lambda),
        )?;
    }

    #[test]
    fn the_filter_judges_each_feature_alone(problem in drawn(), lambda in lambdas()) {
        let options = by(StrategyKind::Univariate, problem.x.len(), lambda);
        let Some(selection) = run(&problem, &options) else { return Ok(()) };
        check_steps(&problem, &selection, lambda, |_, candidate| problem.error(&[candidate], lambda),
        )?;
    }

    #[test]
    fn residual_takes_the_least_training_error(problem in drawn(), exponent in -8i32..20) {
        let lambda = 2f64.powi(exponent);
        let options = by(StrategyKind::Residual, problem.x.len(), lambda);
        let Some(selection) = run(&problem, &options) else { return Ok(()) };
        check_steps(&problem, &selection, lambda, |selected, candidate| {
                problem.training_error(&[selected, &[candidate]].concat(), lambda)
            },
        )?;
    }

    #[test]
    fn random_takes_every_class_once(problem in drawn(), seed in 0u64..9) {
        let options = GreedyRankRls {
            seed: Some(seed),
            ..by(StrategyKind::Random, problem.x.len(), 1.0)
        };
        let Some(selection) = run(&problem, &options) else { return Ok(()) };
        let mut taken: Vec<usize> =
            selection.steps.iter().map(|step| step.feature as usize).collect();
        for (number, step) in selection.steps.iter().enumerate() {
            let error = problem.error(&taken[..=number], 1.0);
            prop_assert!((step.lqo_error - error).abs() <= 1e-8 * (error + 1e-3));
        }
        taken.sort_unstable();
        prop_assert_eq!(taken, problem.representatives());
    }

    #[test]
    fn sampling_takes_the_best_of_its_subset(
        problem in drawn(), lambda in lambdas(), size in 1usize..5, seed in 0u64..100,
    ) {
        let classes = problem.representatives();
        let sampler = Sampler { size, seed };
        let drawn = |step: usize, selected: &[usize]| {
            let open: Vec<u32> = (0u32..).zip(&classes)
                .filter(|(_, feature)| !selected.contains(feature))
                .map(|(position, _)| position)
                .collect();
            sampler.draw(step, &open).iter().map(|&position| classes[position as usize]).collect()
        };
        for strategy in [StrategyKind::Sampled, StrategyKind::Backfit, StrategyKind::Bounded] {
            let options =
                GreedyRankRls {
                    sample: Some(size),
                    seed: Some(seed),
                    ..by(strategy, problem.x.len(), lambda)
                };
            let Some(selection) = run(&problem, &options) else { return Ok(()) };
            check_path(&problem, &selection, lambda, drawn, |selected, candidate| {
                match strategy {
                    StrategyKind::Backfit => problem.backfit_error(selected, candidate, lambda),
                    _ => problem.error(&[selected, &[candidate]].concat(), lambda),
                }
            })?;
        }
    }

    #[test]
    fn order_of_queries_does_not_matter(problem in drawn(), turn in 0usize..6) {
        let mut queries = problem.queries();
        let count = queries.len();
        queries.rotate_left(turn % count);
        let order: Vec<usize> = queries.iter().cloned().flatten().collect();
        let permuted = Problem {
            x: problem.x.iter().map(|x| order.iter().map(|&row| x[row]).collect()).collect(),
            labels: order.iter().map(|&row| problem.labels[row]).collect(),
            sizes: queries.iter().map(ExactSizeIterator::len).collect(),
        };
        for strategy in strategies() {
            let options = by(strategy, 4, 0.5);
            let (a, b) = (run(&problem, &options), run(&permuted, &options));
            same_errors(a.as_ref(), b.as_ref())?;
        }
    }

    #[test]
    fn order_of_columns_changes_names_only(problem in drawn(), turn in 0usize..9) {
        let mut permuted = problem.clone();
        permuted.x.rotate_left(turn % problem.x.len());
        for strategy in [StrategyKind::Dense, StrategyKind::LowMem] {
            let options = by(strategy, 1, 0.5);
            same_errors(run(&problem, &options).as_ref(), run(&permuted, &options).as_ref())?;
        }
    }
}

/// Compares paths as far as ties in exact arithmetic allow: up to the first step with equal errors and different
/// features.
fn same_errors(a: Option<&Selection>, b: Option<&Selection>) -> Result<(), TestCaseError> {
    prop_assert_eq!(a.is_some(), b.is_some());
    let (Some(one), Some(other)) = (a, b) else {
        return Ok(());
    };
    for (step, same) in one.steps.iter().zip(&other.steps) {
        let off = (step.lqo_error - same.lqo_error).abs();
        prop_assert!(
            off <= 1e-9 * step.lqo_error.max(1e-3),
            "{} and {}",
            step.lqo_error,
            same.lqo_error
        );
        if step.feature != same.feature {
            break;
        }
    }
    Ok(())
}

#[test]
fn a_value_whose_square_overflows_is_refused() {
    let problem = Problem {
        x: vec![vec![1e200, 0.0, 0.0, 0.0], vec![1.0, 0.0, 1.0, 0.0]],
        labels: vec![1.0, 0.0, 1.0, 0.0],
        sizes: vec![2, 2],
    };
    for strategy in strategies() {
        let options = by(strategy, 1, 1.0);
        let error = select(&problem.dataset(), &options, &mut unwatched).unwrap_err();
        assert!(
            error.to_string().contains(" has values too large"),
            "{error}"
        );
    }
}

#[test]
fn an_observer_can_stop_and_keeps_what_there_is() {
    let problem = Problem {
        x: vec![
            vec![1.0, 0.0, 2.0, 0.0, 1.0],
            vec![0.0, 1.0, 1.0, 3.0, 0.0],
            vec![1.0, 4.0, 0.0, 0.0, 0.0],
        ],
        labels: vec![1.0, 0.0, 0.5, 0.0, 1.0],
        sizes: vec![2, 3],
    };
    let mut steps = 0;
    let mut each = |_: &Step, work: &Selecting<'_>| {
        steps += 1;
        assert_eq!(work.state().steps(), steps);
        if steps == 2 {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    };
    let selection = select(&problem.dataset(), &options(3, 1.0), &mut each).unwrap();
    assert_eq!(selection.steps.len(), 2);
    assert_eq!(selection.weights.len(), 2);
    assert_eq!(selection.ending, rankrls::greedy::Ending::Interrupted);
}

/// Criteria for which users ask.
fn measures() -> impl Strategy<Value = (Metric, Convention)> {
    let metric = prop::sample::select(vec!["cindex", "ndcg@2", "ndcg@10", "map", "mean-ndcg"]);
    let convention = prop::sample::select(vec![Convention::Standard, Convention::Letor]);
    (metric.prop_map(|name| name.parse().unwrap()), convention)
}

/// A measure of leave-query-out predictions, by definition. `None` if predictions of a query differ so little that
/// rounding may decide their order.
fn measure_by_definition(
    problem: &Problem,
    features: &[usize],
    lambda: f64,
    (metric, convention): (Metric, Convention),
) -> Option<f64> {
    let mut predictions = problem.predictions(features, lambda);
    let largest = predictions
        .iter()
        .fold(1.0f64, |most, value| most.max(value.abs()));
    for range in problem.queries() {
        let mut sorted: Vec<usize> = range.collect();
        sorted.sort_by(|&a, &b| predictions[a].total_cmp(&predictions[b]));
        for pair in sorted.windows(2) {
            let gap = predictions[pair[1]] - predictions[pair[0]];
            if gap > 1e-14 * largest && gap < 1e-8 * largest {
                return None;
            }
            if gap <= 1e-14 * largest {
                predictions[pair[1]] = predictions[pair[0]];
            }
        }
    }
    let queries = Queries::from_sizes(&problem.sizes).unwrap();
    let labels = &problem.labels;
    let found = evaluate(&[metric], labels, &predictions, &queries, convention).unwrap();
    found[0].1.mean
}

proptest! {
    #![proptest_config(drawn_problems(2000))]

    #[test]
    fn a_measure_as_criterion_follows_the_definition(
        problem in drawn(), exponent in -4i32..5, measure in measures(),
    ) {
        let lambda = 2f64.powi(exponent);
        let criterion = Measure::from(measure.0).under(measure.1);
        for strategy in [StrategyKind::Dense, StrategyKind::LowMem, StrategyKind::Sampled] {
            let all = problem.x.len();
            let options = GreedyRankRls {
                criterion,
                sample: (strategy == StrategyKind::Sampled).then_some(all),
                ..by(strategy, all, lambda)
            };
            let selection = match select(&problem.dataset(), &options, &mut unwatched) {
                Ok(selection) => selection,
                Err(error) if error.to_string().contains("is undefined for every query") => {
                    prop_assert_eq!(measure_by_definition(&problem, &[], lambda, measure), None);
                    return Ok(());
                }
                Err(_) => return Ok(()),
            };
            let mut selected = Vec::new();
            for step in &selection.steps {
                let judged: Option<Vec<(usize, f64)>> = remaining(&problem, &selected)
                    .into_iter()
                    .map(|i| {
                        let features = [&selected[..], &[i]].concat();
                        Some((i, measure_by_definition(&problem, &features, lambda, measure)?))
                    })
                    .collect();
                let Some(values) = judged else { break };
                let best = values.iter().fold(f64::MIN, |best, pair| best.max(pair.1));
                let tied = values.iter().filter(|pair| 1.0 - pair.1 <= (1.0 - best) + 1e-12);
                let lowest = tied.map(|pair| pair.0).min().unwrap();
                prop_assert_eq!(step.feature as usize, lowest, "{} {:?}", strategy, values);
                prop_assert!((step.criterion.unwrap() - best).abs() < 1e-12);
                selected.push(lowest);
                let error = problem.error(&selected, lambda);
                prop_assert!((step.lqo_error - error).abs() <= 1e-8 * (error + 1.0));
            }
        }
    }

    #[test]
    fn weights_of_queries_scale_their_centred_rows(
        problem in drawn(), lambda in lambdas(), weight in prop::sample::select(QueryWeight::ALL.to_vec()),
    ) {
        let scaled = problem.weighted(weight);
        let k = problem.x.len();
        for strategy in EXACT {
            let options = GreedyRankRls {
                query_weight: weight,
                ..by(strategy, k, lambda)
            };
            let Some(selection) = run(&problem, &options) else { return Ok(()) };
            prop_assert_eq!(selection.options.query_weight, weight);
            check_path(
                &scaled,
                &selection,
                lambda,
                |_, selected| remaining(&problem, selected),
                |selected, candidate| scaled.error(&[selected, &[candidate]].concat(), lambda),
            )?;
        }
    }
}

proptest! {
    #![proptest_config(drawn_problems(500))]

    /// Columns that become equal stay classes of their own.
    #[test]
    fn scaled_columns_are_selected_as_columns_that_were_divided(
        problem in drawn(), exponent in -6i32..20,
        scale in prop::sample::select(vec![Scale::Sd, Scale::Max]),
        weight in prop::sample::select(QueryWeight::ALL.to_vec()),
    ) {
        // Columns that became equal make the system singular, except for lambda.
        let lambda = 2f64.powi(exponent);
        let problem = problem.uneven();
        let (divided, divisors) = problem.divided(scale);
        let divided = divided.weighted(weight);
        for strategy in EXACT {
            let options = GreedyRankRls {
                query_weight: weight,
                scale: Some(scale),
                ..by(strategy, problem.x.len(), lambda)
            };
            let Some(mut selection) = run(&problem, &options) else { return Ok(()) };
            prop_assert_eq!(selection.options.column_scale(), scale);
            for (step, scaled) in selection.steps.iter().zip(&mut selection.weights) {
                *scaled *= divisors[step.feature as usize];
            }
            check_path(
                &divided,
                &selection,
                lambda,
                |_, selected| remaining(&problem, selected),
                |selected, candidate| divided.error(&[selected, &[candidate]].concat(), lambda),
            )?;
        }
    }
}

#[test]
fn strategies_without_predictions_refuse_a_measure() {
    let text = "1 qid:1 1:1\n0 qid:1 2:1\n1 qid:2 1:1\n0 qid:2\n";
    let loaded = rankrls::data::read::ReadOptions::new().read_from(text.as_bytes(), "f");
    let dataset = loaded.unwrap().dataset;
    let options = GreedyRankRls {
        criterion: Metric::CONCORDANCE.into(),
        ..options(1, 1.0)
    };
    for strategy in [StrategyKind::Bounded, StrategyKind::Backfit] {
        let asked = GreedyRankRls {
            strategy,
            ..options.clone()
        };
        let error = select(&dataset, &asked, &mut unwatched).unwrap_err();
        let message = error.to_string();
        assert!(message.contains("can not judge by cindex"), "{message}");
        assert!(message.contains("dense, lowmem or sampled"), "{message}");
    }
    assert!(select(&dataset, &options, &mut unwatched).unwrap().steps[0].criterion == Some(1.0));
}

#[test]
fn a_tiny_lambda_ranks_by_a_factor_a_query() {
    let problem = Problem {
        x: vec![
            vec![1.0, 0.0, 2.0, 0.0, 1.0, 3.0, 0.0],
            vec![0.0, 1.0, 1.0, 3.0, 0.0, 1.0, 0.5],
            vec![1.0, 4.0, 0.0, 0.0, 0.0, 2.0, 1.0],
        ],
        labels: vec![1.0, 0.0, 0.5, 0.0, 1.0, 0.3, 0.8],
        sizes: vec![2, 3, 2],
    };
    let measure = (Metric::CONCORDANCE, Convention::Standard);
    let criterion = Measure::from(measure.0).under(measure.1);
    for lambda in [1e-9, 1e-6, 1.0] {
        for strategy in [StrategyKind::Dense, StrategyKind::LowMem] {
            let options = GreedyRankRls {
                criterion,
                ..by(strategy, 3, lambda)
            };
            let selection = run(&problem, &options).unwrap();
            let mut selected = Vec::new();
            for step in &selection.steps {
                let value = |feature: usize| {
                    let features = [&selected[..], &[feature]].concat();
                    measure_by_definition(&problem, &features, lambda, measure).unwrap()
                };
                let best = remaining(&problem, &selected)
                    .into_iter()
                    .map(value)
                    .fold(0.0, f64::max);
                assert!((value(step.feature as usize) - best).abs() < 1e-12);
                selected.push(step.feature as usize);
            }
        }
    }
}

/// Ten queries of three rows; the first column orders them.
fn scaled(labels: f64, values: f64) -> Problem {
    let scale =
        |column: [f64; 6], by: f64| column.repeat(5).iter().map(|value| value * by).collect();
    Problem {
        x: vec![
            scale([1.0, 0.0, 2.0, 0.0, 1.0, 3.0], values),
            scale([0.0, 1.0, 1.0, 3.0, 0.0, 1.0], 1.0),
        ],
        labels: scale([0.5, 0.2, 1.0, 0.3, 0.1, 1.5], labels),
        sizes: vec![3; 10],
    }
}

#[test]
fn labels_out_of_range_are_refused() {
    for labels in [1e300, 1e155, 1e-155, 1e-300] {
        for strategy in strategies() {
            let mut options = by(strategy, 2, 1.0);
            options.label_scale = Some(LabelScale::Raw);
            let error =
                select(&scaled(labels, 1.0).dataset(), &options, &mut unwatched).unwrap_err();
            assert!(
                error.to_string().starts_with("the labels are too"),
                "{error}"
            );
            let size = if labels > 1.0 { "large" } else { "small" };
            assert!(error.to_string().contains(size), "{error}");
        }
    }
}

/// Within the range, the scale of the labels scales the results and changes nothing else.
#[test]
fn labels_of_any_legal_scale_select_alike() {
    for strategy in strategies() {
        let options = by(strategy, 2, 1.0);
        let features = |labels: f64| run(&scaled(labels, 1.0), &options).unwrap().features();
        for labels in [1e150, 1e-130] {
            assert_eq!(features(labels), features(1.0), "{strategy} {labels:e}");
        }
    }
}

/// A column scaled by 1e8 against the others is judged by the definition.
#[test]
fn columns_of_different_scales_follow_the_definition() {
    let problem = scaled(1.0, 1e8);
    for strategy in EXACT {
        let selection = run(&problem, &by(strategy, 2, 1.0)).unwrap();
        let mut selected = Vec::new();
        for step in &selection.steps {
            selected.push(step.feature as usize);
            let error = problem.error(&selected, 1.0);
            assert!(
                (step.lqo_error - error).abs() <= 1e-6 * error,
                "{strategy}: {error}"
            );
        }
    }
}

#[test]
fn constant_labels_have_no_error_and_no_weights() {
    let mut problem = scaled(1.0, 1.0);
    problem.labels.fill(0.7);
    for strategy in strategies().filter(|kind| !kind.distils()) {
        let selection = run(&problem, &by(strategy, 2, 1.0)).unwrap();
        assert!(selection.steps.iter().all(|step| step.lqo_error == 0.0));
        assert!(selection.steps.iter().all(|step| step.lqo_cindex.is_none()));
        assert!(selection.weights.iter().all(|&weight| weight == 0.0));
    }
}
