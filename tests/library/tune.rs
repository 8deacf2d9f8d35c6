//! Tuning against the definition: retraining without each query, and one fold after another.

use std::ops::{ControlFlow, Range};

use crate::oracle::problems::problems;
use crate::oracle::{Problem, drawn_problems, draws, grid, on, strategies};
use proptest::prelude::*;
use rankrls::data::LabelScale;
use rankrls::greedy::job::{select, unwatched};
use rankrls::memory::Memory;
use rankrls::metrics::{Convention, Measure, Metric, evaluate};
use rankrls::ridge::Groups;
use rankrls::tune::{EachEvent, Outcome, PathEnding, Rule, Tune, TuneEvent, Tuned, Tuning};
use rankrls::{
    Dataset, GreedyRankRls, HoldOut, Kind, Lambda, Lambdas, QueryWeight, RankRls, Scale,
    StrategyKind,
};

fn drawn(least_queries: usize) -> impl Strategy<Value = Problem> {
    problems(prop::collection::vec(1usize..6, least_queries..9), 1..7)
}

/// A deterministic problem with a signal in its first columns.
fn problem(queries: usize) -> Problem {
    let (size, columns) = (6, 24);
    let mut next = draws(7);
    let mut x = vec![vec![0.0; queries * size]; columns];
    for column in &mut x {
        for value in column.iter_mut() {
            if next(3) == 0 {
                *value = 1.0 + next(3) as f64;
            }
        }
    }
    let labels = (0..queries * size)
        .map(|row| (2.0 * x[0][row] - x[1][row] + next(300) as f64 / 100.0).round())
        .collect();
    Problem {
        x,
        labels,
        sizes: vec![size; queries],
    }
}

const LAMBDAS: [f64; 4] = [0.125, 1.0, 4.0, 64.0];

fn tune(data: &Dataset<'_>, options: &Tune) -> rankrls::Result<Tuned> {
    watched(data, options, &mut rankrls::tune::unwatched_events)
}

fn watched(data: &Dataset<'_>, options: &Tune, each: &mut EachEvent<'_>) -> rankrls::Result<Tuned> {
    Tuning::new(data, options).run(each)
}

fn validated(data: &Dataset<'_>, options: &Tune, validation: &Dataset<'_>) -> Tuned {
    let tuning = Tuning {
        validation: Some(validation),
        ..Tuning::new(data, options)
    };
    tuning.run(&mut rankrls::tune::unwatched_events).unwrap()
}

fn options(k: usize, lambdas: &[f64]) -> Tune {
    Tune::new(GreedyRankRls::new(k, None), &grid(lambdas))
}

fn by(strategy: StrategyKind, k: usize, lambdas: &[f64]) -> Tune {
    let mut options = options(k, lambdas);
    options.selection.strategy = strategy;
    options
}

fn cindex() -> Measure {
    Metric::CONCORDANCE.into()
}

fn centred(values: &[f64]) -> Vec<f64> {
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    values.iter().map(|value| value - mean).collect()
}

/// Least and largest concordance of a query, if predictions that differ only by rounding may fall either way.
/// `None` without a pair to order.
fn concordance(labels: &[f64], predictions: &[f64]) -> Option<(f64, f64)> {
    let (mut pairs, mut least, mut most) = (0.0, 0.0, 0.0);
    for i in 0..labels.len() {
        for j in (0..labels.len()).filter(|&j| labels[i] > labels[j]) {
            pairs += 1.0;
            let ahead = predictions[i] - predictions[j];
            let tied = ahead.abs() <= 1e-8;
            least += if ahead > 1e-8 { 1.0 } else { 0.0 };
            most += if ahead > 0.0 || tied { 1.0 } else { 0.0 };
        }
    }
    (pairs > 0.0).then(|| (least / pairs, most / pairs))
}

fn mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

fn standard_error(values: &[f64]) -> Option<f64> {
    let (count, mean) = (values.len() as f64, mean(values)?);
    let variance = values
        .iter()
        .map(|value| (value - mean).powi(2))
        .sum::<f64>()
        / (count - 1.0);
    (count > 1.0).then(|| (variance / count).sqrt())
}

fn close(found: f64, expected: f64, scale: f64) -> bool {
    (found - expected).abs() <= 1e-7 * (expected.abs() + scale)
}

fn features(outcome: &Outcome, k: usize) -> Vec<u32> {
    outcome.points[..k]
        .iter()
        .map(|point| point.step.feature)
        .collect()
}

proptest! {
    #![proptest_config(drawn_problems(300))]

    #[test]
    fn leave_query_out_predictions_are_retraining_without_each_query(problem in drawn(1)) {
        let data = problem.dataset();
        let mut options = options(problem.x.len(), &LAMBDAS);
        options.metrics = vec![Metric::CONCORDANCE];
        let result = tune(&data, &options);
        let refused = problem.sizes.len() == 1 || problem.representatives().is_empty();
        prop_assert_eq!(result.is_err(), refused);
        let Ok(tuned) = result else { return Ok(()) };
        options.measure = cindex();
        let by_cindex = tune(&data, &options);
        prop_assert_eq!(tuned.outcomes.len(), LAMBDAS.len());
        let queries = problem.queries();
        let start: f64 = problem.error(&[], 1.0);
        for outcome in &tuned.outcomes {
            let lambda = outcome.lambda.value();
            for (k, point) in (1..).zip(&outcome.points) {
                let selected: Vec<usize> = features(outcome, k).iter().map(|&f| f as usize).collect();
                let holdout = problem.holdout(&selected, lambda);
                let square = |range: &Range<usize>| holdout[range.clone()].iter().map(|p| p * p).sum();
                let squares: Vec<f64> = queries.iter().map(square).collect();
                prop_assert!(close(point.score.mean.unwrap(), mean(&squares).unwrap(), start));
                prop_assert_eq!(point.score.standard_error.is_some(), squares.len() > 1);
                if let (Some(found), Some(expected)) = (point.score.standard_error, standard_error(&squares)) {
                    prop_assert!(close(found, expected, start), "{found} for {expected}");
                }
                let ranges = queries.iter().filter_map(|range| {
                    let labels = &problem.labels[range.clone()];
                    let centred = centred(labels);
                    let predictions: Vec<f64> =
                        centred.iter().zip(&holdout[range.clone()]).map(|(y, p)| y - p).collect();
                    concordance(labels, &predictions)
                });
                let (least, most): (Vec<f64>, Vec<f64>) = ranges.unzip();
                let found = &point.metrics[0];
                prop_assert_eq!(found.queries, least.len());
                prop_assert_eq!(found.mean, point.step.lqo_cindex);
                prop_assert_eq!(found.mean.is_some(), !least.is_empty());
                if let Some(value) = found.mean {
                    let (low, high) = (mean(&least).unwrap(), mean(&most).unwrap());
                    prop_assert!(low - 1e-12 <= value && value <= high + 1e-12);
                }
            }
        }
        match by_cindex {
            Ok(other) => {
                for (path, same) in tuned.outcomes.iter().zip(&other.outcomes) {
                    for (a, b) in path.points.iter().zip(&same.points) {
                        prop_assert_eq!(&a.metrics[0], &b.score);
                    }
                }
            }
            Err(error) => prop_assert!(error.to_string().starts_with("cindex is undefined"), "{error}"),
        }
    }

    #[test]
    fn folds_are_selections_without_each_of_them(mut problem in drawn(2), seed in 0u64..9, many in any::<bool>(), scale in prop::sample::select(Scale::ALL.to_vec())) {
        // Measures of grades need labels from 0 on.
        for label in &mut problem.labels {
            *label = label.abs();
        }
        let data = problem.dataset();
        let queries = data.queries().len();
        let count = if many { queries } else { 2 };
        let metrics: Vec<Metric> = ["cindex", "err"].map(|name| name.parse().unwrap()).into();
        let mut options = Tune {
            metrics: metrics.clone(),
            holdout: HoldOut::Folds { count, seed },
            ..by(StrategyKind::LowMem, 4, &[0.5, 8.0])
        };
        options.selection.scale = Some(scale);
        let Ok(tuned) = tune(&data, &options) else {
            let left = queries - queries.div_ceil(count);
            prop_assert!(left == 1 || problem.representatives().is_empty());
            return Ok(());
        };
        let groups = Groups::folds(data.queries(), count, seed).unwrap();
        let folds: Vec<Vec<usize>> = groups.iter().map(<[usize]>::to_vec).collect();
        for outcome in &tuned.outcomes {
            for (k, point) in (1..).zip(&outcome.points) {
                let (scores, short) = out_of_fold(&data, &folds, outcome.lambda, k, scale);
                let squares: Vec<f64> = data.queries().ranges().map(|range| {
                    let left: Vec<f64> = range.map(|row| data.labels()[row] - scores[row]).collect();
                    centred(&left).iter().map(|r| r * r).sum()
                }).collect();
                prop_assert!(close(point.score.mean.unwrap(), mean(&squares).unwrap(), 1e-3));
                prop_assert_eq!(point.short_folds, short);
                let found = evaluate(&metrics, data.labels(), &scores, data.queries(), Convention::Standard).unwrap();
                for (own, (_, expected)) in point.metrics.iter().zip(&found) {
                    prop_assert_eq!(own.mean, expected.mean);
                    prop_assert_eq!(own.queries, expected.queries);
                }
            }
        }
        // Paths of several folds side by side are the same.
        options.rule = Rule::MinImprovement { least: 0.0, patience: 100 };
        let together = tune(&data, &options).unwrap();
        prop_assert_eq!(together.outcomes, tuned.outcomes);
    }
}

/// Scores of all rows by models trained without their fold, and the folds with fewer than `k` selectable features.
fn out_of_fold(
    data: &Dataset<'_>,
    folds: &[Vec<usize>],
    lambda: Lambda,
    k: usize,
    scale: Scale,
) -> (Vec<f64>, usize) {
    let mut all = vec![0.0; data.rows()];
    let mut short = 0;
    for fold in folds {
        let others = (0..data.queries().len()).filter(|query| !fold.contains(query));
        let train = data.queries_subset(&others.collect::<Vec<_>>()).unwrap();
        let options = GreedyRankRls {
            strategy: StrategyKind::LowMem,
            scale: Some(scale),
            ..GreedyRankRls::new(k, lambda)
        };
        let Ok(selection) = select(&train, &options, &mut unwatched) else {
            short += 1;
            continue;
        };
        short += usize::from(selection.steps.len() < k);
        let whole = data.scores(&selection.features(), &selection.weights);
        for &query in fold {
            let rows = data.queries().range(query);
            all[rows.clone()].copy_from_slice(&whole[rows]);
        }
    }
    (all, short)
}

#[test]
fn the_chosen_selection_is_what_select_finds() {
    let data = problem(9).dataset();
    // Leave-query-out predictions do not judge a teacher's lessons.
    for strategy in strategies().filter(|kind| !kind.distils()) {
        for rule in [
            Rule::Best,
            Rule::OneSe,
            Rule::MinImprovement {
                least: 0.01,
                patience: 2,
            },
        ] {
            let mut options = by(strategy, 15, &LAMBDAS);
            options.selection.seed = Some(3);
            options.rule = rule;
            let tuned = tune(&data, &options).unwrap();
            let selection = tuned.selection();
            let single = GreedyRankRls {
                strategy,
                seed: Some(3),
                ..GreedyRankRls::new(tuned.k, tuned.lambda())
            };
            let alone = select(&data, &single, &mut unwatched).unwrap();
            assert_eq!(selection, alone, "{strategy}, {rule:?}");
        }
    }
}

#[test]
fn query_weights_and_criteria_are_those_of_select() {
    let mut problem = problem(9);
    problem.sizes = vec![3, 9, 6, 12, 4, 2, 6, 6, 6];
    let data = problem.dataset();
    let criterion = cindex();
    for weight in [QueryWeight::Size, QueryWeight::Pairs] {
        for criterion in [Measure::Squared, criterion] {
            let mut options = by(StrategyKind::LowMem, 8, &LAMBDAS);
            options.selection.query_weight = weight;
            options.selection.criterion = criterion;
            let tuned = tune(&data, &options).unwrap();
            let single = GreedyRankRls {
                strategy: StrategyKind::LowMem,
                query_weight: weight,
                criterion,
                ..GreedyRankRls::new(tuned.k, tuned.lambda())
            };
            let alone = select(&data, &single, &mut unwatched).unwrap();
            assert_eq!(tuned.selection(), alone);
            // Predictions are in the units of labels, and queries count alike.
            let holdout = problem.weighted(weight).holdout(
                &features(tuned.chosen(), tuned.k)
                    .into_iter()
                    .map(|feature| feature as usize)
                    .collect::<Vec<_>>(),
                tuned.lambda().value(),
            );
            let square = |range: Range<usize>| {
                let squares: f64 = holdout[range.clone()].iter().map(|p| p * p).sum();
                squares / weight.of(range.len())
            };
            let squares: Vec<f64> = problem.queries().into_iter().map(square).collect();
            assert!(close(
                tuned.point().score.mean.unwrap(),
                mean(&squares).unwrap(),
                1e-3
            ));
            // A fold without labels to rank cannot select.
            options.holdout = HoldOut::Folds { count: 3, seed: 1 };
            assert!(tune(&data, &options).is_ok());
        }
    }
}

#[test]
fn any_number_of_selections_and_threads_gives_the_same_bits() {
    let (data, other) = (problem(9).dataset(), problem(5).dataset());
    let folds = HoldOut::Folds { count: 3, seed: 5 };
    for holdout in [HoldOut::Queries, HoldOut::of(&other), folds] {
        for rule in [
            Rule::Best,
            Rule::MinImprovement {
                least: 0.01,
                patience: 2,
            },
        ] {
            same_bits(&data, &other, |concurrent| Tune {
                holdout: holdout.clone(),
                rule,
                concurrent,
                metrics: vec!["map".parse().unwrap()],
                ..options(12, &LAMBDAS)
            });
        }
    }
}

#[test]
fn a_teacher_on_any_number_of_threads_gives_the_same_bits() {
    let (data, other) = (problem(24).dataset(), problem(5).dataset());
    let folds = HoldOut::Folds { count: 2, seed: 5 };
    for holdout in [HoldOut::of(&other), folds] {
        same_bits(&data, &other, |concurrent| Tune {
            holdout: holdout.clone(),
            concurrent,
            ..by(StrategyKind::Distil, 6, &LAMBDAS)
        });
    }
}

/// Checks that any number of threads, and of selections at once, finds the same.
fn same_bits(
    data: &Dataset<'_>,
    other: &Dataset<'_>,
    options: impl Fn(Option<usize>) -> Tune + Sync,
) {
    let run = |threads: usize, concurrent: usize| {
        let own = options(Some(concurrent));
        on(threads, || validated(data, &own, other))
    };
    let alone = run(1, 1);
    for (threads, concurrent) in [(3, 1), (1, 4), (2, 2), (4, 9)] {
        assert_eq!(run(threads, concurrent), alone);
    }
}

#[test]
fn validation_data_judge_what_the_models_predict() {
    let mut graded = problem(4);
    for label in &mut graded.labels {
        *label = label.abs();
    }
    let (data, other) = (problem(9).dataset(), graded.dataset());
    let mean_ndcg: Metric = "mean-ndcg".parse().unwrap();
    let metrics = [Metric::CONCORDANCE, mean_ndcg];
    let options = Tune {
        holdout: HoldOut::of(&other),
        measure: mean_ndcg.into(),
        metrics: metrics.to_vec(),
        ..options(6, &[1.0, 16.0])
    };
    let missing = tune(&data, &options);
    let text = missing.unwrap_err().to_string();
    assert!(
        text.starts_with("these are not the validation data"),
        "{text}"
    );
    let tuned = validated(&data, &options, &other);
    for outcome in &tuned.outcomes {
        for (k, point) in (1..).zip(&outcome.points) {
            let selection = select(
                &data,
                &GreedyRankRls::new(k, outcome.lambda),
                &mut unwatched,
            )
            .unwrap();
            let scores = other.scores(&features(outcome, k), &selection.weights);
            let found = evaluate(
                &metrics,
                other.labels(),
                &scores,
                other.queries(),
                Convention::Standard,
            )
            .unwrap();
            let means: Vec<_> = found.iter().map(|(_, score)| score.mean).collect();
            assert_eq!(
                point
                    .metrics
                    .iter()
                    .map(|score| score.mean)
                    .collect::<Vec<_>>(),
                means
            );
            assert_eq!(point.score, point.metrics[1]);
        }
    }
}

/// Counts steps, and stops after some.
#[derive(Default)]
struct Counter {
    /// Steps ahead, and lambdas at work at once.
    grid: Option<(usize, usize)>,
    steps: usize,
    finished: usize,
    last: usize,
}

impl Counter {
    fn event(&mut self, event: TuneEvent<'_>) -> ControlFlow<()> {
        match event {
            TuneEvent::Started {
                steps, concurrent, ..
            } => self.grid = Some((steps, concurrent)),
            TuneEvent::Stepped(_) => self.steps += 1,
            TuneEvent::Finished(_) => self.finished += 1,
            TuneEvent::Selected(_) => {}
        }
        if self.steps == self.last {
            return ControlFlow::Break(());
        }
        ControlFlow::Continue(())
    }
}

#[test]
fn paths_that_improve_no_more_are_left() {
    let data = problem(9).dataset();
    let folds = HoldOut::Folds { count: 3, seed: 5 };
    for holdout in [HoldOut::Queries, folds] {
        let mut options = options(20, &LAMBDAS);
        options.holdout = holdout.clone();
        let whole = tune(&data, &options).unwrap();
        let rule = Rule::MinImprovement {
            least: 0.05,
            patience: 2,
        };
        let mut counter = Counter::default();
        options.rule = rule;
        let tuned = watched(&data, &options, &mut |event| counter.event(event)).unwrap();
        let mut taken = 0;
        for (short, long) in tuned.outcomes.iter().zip(&whole.outcomes) {
            assert_eq!(short.ending, PathEnding::Settled);
            assert_eq!(short.points, long.points[..short.points.len()]);
            taken += short.points.len();
        }
        assert!(tuned.k + 2 == tuned.chosen().points.len());
        let selections = if holdout == HoldOut::Queries { 1 } else { 4 };
        assert_eq!(counter.steps, selections * taken);
        assert_eq!(counter.grid.unwrap().0, selections * 20 * LAMBDAS.len());
        assert!(taken < 10 * LAMBDAS.len(), "{taken}");
        assert_eq!(counter.finished, LAMBDAS.len());
        // Paths that were not followed do not change the choice.
        let paths: Vec<_> = whole.outcomes.iter().map(Outcome::scores).collect();
        assert_eq!(
            rule.choose(Measure::Squared, &paths),
            Some((tuned.position, tuned.k))
        );
    }
}

#[test]
fn an_observer_can_stop_and_the_choice_is_among_what_there_is() {
    let data = problem(9).dataset();
    let stopped = |holdout, last| {
        let options = Tune {
            holdout,
            concurrent: Some(1),
            ..options(20, &LAMBDAS)
        };
        let mut counter = Counter {
            last,
            ..Counter::default()
        };
        watched(&data, &options, &mut |event| counter.event(event))
    };
    let tuned: Tuned = stopped(HoldOut::Queries, 23).unwrap();
    assert!(tuned.interrupted);
    let lengths: Vec<usize> = tuned
        .outcomes
        .iter()
        .map(|outcome| outcome.points.len())
        .collect();
    assert_eq!(lengths, [20, 3, 0, 0]);
    assert_eq!(tuned.outcomes[0].ending, PathEnding::Complete);
    assert!(
        tuned.outcomes[1..]
            .iter()
            .all(|outcome| outcome.ending == PathEnding::Interrupted)
    );
    let folds = HoldOut::Folds { count: 2, seed: 1 };
    let error = stopped(folds.clone(), 30).unwrap_err();
    assert_eq!(error.kind(), Kind::Stopped, "{error}");
    let tuned = stopped(folds, 90).unwrap();
    assert_eq!(tuned.outcomes[0].points.len(), 20);
    assert!(tuned.outcomes[1].points.is_empty());
    // After the last step, nothing is left to stop.
    let options = options(3, &[1.0]);
    let mut counter = Counter {
        last: 3,
        ..Counter::default()
    };
    let tuned = watched(&data, &options, &mut |event| counter.event(event)).unwrap();
    assert!(!tuned.interrupted);
}

#[test]
fn a_lambda_that_does_not_fit_does_not_end_the_others() {
    let data = problem(9).dataset();
    // The smaller lambda soon needs one factor a query, for which no memory is left.
    let options = |limit| {
        let mut options = by(StrategyKind::LowMem, 20, &[1e-6, 1.0]);
        options.selection.memory = Memory::limit(limit);
        options
    };
    let needed = (1..1 << 20)
        .map(|kib| kib << 10)
        .find(|&limit| tune(&data, &options(limit)).is_ok());
    let tuned = tune(&data, &options(needed.unwrap())).unwrap();
    let PathEnding::Refused { reason } = &tuned.outcomes[0].ending else {
        panic!("{:?}", tuned.outcomes[0].ending);
    };
    assert!(reason.contains("one factor a query"), "{reason}");
    assert_eq!(tuned.outcomes[1].ending, PathEnding::Complete);
    assert_eq!(tuned.position, 1);
    let refused = |limit| tune(&data, &options(limit)).unwrap_err().to_string();
    let error = refused(1);
    assert!(error.contains("1 bytes are allowed"), "{error}");
    // The column classes fit into this limit, but no selection does.
    let error = refused(needed.unwrap() - (1 << 10));
    assert!(
        error.starts_with("no lambda gives a model") && error.contains("are allowed"),
        "{error}"
    );
}

#[test]
fn fewer_selections_are_at_work_where_memory_is_short() {
    let data = problem(9).dataset();
    let concurrent = |limit: u64| {
        let mut options = by(StrategyKind::Dense, 20, &LAMBDAS);
        options.concurrent = Some(4);
        options.selection.memory = Memory::limit(limit);
        let mut counter = Counter::default();
        let found = watched(&data, &options, &mut |event| counter.event(event));
        found.is_ok().then(|| counter.grid.unwrap().1)
    };
    let found: Vec<_> = (0..600).map(|kib| concurrent(kib << 10)).collect();
    assert!(found.is_sorted() && found[0].is_none());
    for expected in 1..=4 {
        assert!(found.contains(&Some(expected)), "{expected}");
    }
}

#[test]
fn a_lambda_that_is_too_small_is_refused_alone() {
    let problem = Problem {
        x: vec![
            vec![1e-160, 0.0, 0.0, 1e-160, 0.0, 0.0, 1.0, 0.0],
            vec![0.0, 1.0, 1.0, 0.0, 0.0, 1.0, 0.0, 0.0],
        ],
        labels: vec![1e150, -1e150, 1e150, -1e150, 1e150, 0.0, 1e150, 1e149],
        sizes: vec![2, 2, 2, 2],
    };
    let result = tune(&problem.dataset(), &options(2, &[1e-300, 1.0]));
    let tuned = result.unwrap();
    assert!(matches!(
        tuned.outcomes[0].ending,
        PathEnding::Refused { .. }
    ));
    assert_eq!(tuned.outcomes[1].ending, PathEnding::Complete);
    let finite = |outcome: &Outcome| outcome.points.iter().all(|p| p.step.lqo_error.is_finite());
    assert!(tuned.outcomes.iter().all(finite));
}

#[test]
fn scales_of_labels_are_chosen_by_folds() {
    let data = problem(9).dataset();
    let labels = LabelScale::ALL.to_vec();
    let options = Tune {
        holdout: HoldOut::Folds { count: 3, seed: 2 },
        measure: cindex(),
        strategies: vec![StrategyKind::Dense, StrategyKind::LowMem],
        labels: labels.clone(),
        ..options(5, &[1.0, 16.0])
    };
    let tuned = tune(&data, &options).unwrap();
    let alone = options.selections().into_iter().flat_map(|selection| {
        let options = Tune {
            strategies: Vec::new(),
            labels: Vec::new(),
            selection,
            ..options.clone()
        };
        tune(&data, &options).unwrap().outcomes
    });
    assert_eq!(tuned.outcomes, alone.collect::<Vec<_>>());
    let scales = tuned.outcomes[..6].iter().map(Outcome::labels);
    let each = labels.iter().flat_map(|&scale| [scale; 2]);
    assert!(scales.eq(each));
    let judged =
        Tuning::new(&data, &options).judge_by_folds(&tuned, &mut rankrls::tune::unwatched_events);
    assert_eq!(judged.unwrap().unwrap().labels(), tuned.chosen().labels());
    let squared = Tune {
        measure: Measure::Squared,
        ..options
    };
    let error = tune(&data, &squared).unwrap_err();
    assert!(
        error
            .to_string()
            .starts_with("labels are learnt on several"),
        "{error}"
    );
}

#[test]
fn options_can_be_stored() {
    let options = Tune {
        holdout: HoldOut::of(&problem(3).dataset()),
        labels: vec![LabelScale::Raw, LabelScale::Unit],
        rule: Rule::MIN_IMPROVEMENT,
        ..by(StrategyKind::Sampled, 5, &LAMBDAS)
    };
    let text = serde_json::to_string(&options).unwrap();
    assert_eq!(serde_json::from_str::<Tune>(&text).unwrap(), options);
    assert!(serde_json::from_str::<Tune>(&text.replace("rule", "rules")).is_err());
}

#[test]
fn what_cannot_be_tuned_is_refused() {
    let data = problem(3).dataset();
    let refused = |options: Tune| {
        let found = tune(&data, &options);
        found.unwrap_err().to_string()
    };
    assert!(refused(options(3, &[])).contains("no lambda"));
    assert!(refused(options(0, &[1.0])).contains("k is 0"));
    let folds = Tune {
        holdout: HoldOut::Folds { count: 4, seed: 1 },
        ..options(3, &[1.0])
    };
    assert!(refused(folds).contains("4 folds of 3 queries"));
    let rule = Tune {
        rule: Rule::MinImprovement {
            least: -1.0,
            patience: 1,
        },
        ..options(3, &[1.0])
    };
    assert!(refused(rule).contains("from 0 on"));
}

/// The data of `problem`, with query names that do not ascend. Unless the seed is 0, queries and their rows stand
/// in another order.
fn named(problem: &Problem, seed: u64) -> Dataset<'static> {
    let mut next = draws(seed);
    let queries = problem.sizes.len();
    let mut order: Vec<(u64, u64, usize, usize)> = Vec::new();
    for (query, rows) in problem.queries().into_iter().enumerate() {
        let of_query = next(1 << 20);
        order.extend(rows.map(|row| (of_query, next(1 << 20), query, row)));
    }
    if seed > 0 {
        order.sort_unstable();
    }
    let ids: Vec<String> = order
        .iter()
        .map(|place| format!("q{}", 7 * place.2 % queries))
        .collect();
    let pick = |values: &Vec<f64>| order.iter().map(|place| values[place.3]).collect();
    let runs = order.chunk_by(|a, b| a.2 == b.2);
    let moved = Problem {
        x: problem.x.iter().map(pick).collect(),
        labels: pick(&problem.labels),
        sizes: runs.map(<[_]>::len).collect(),
    };
    moved.dataset().regrouped(&ids).unwrap()
}

/// Alpha, features and weights of a default selection, of one tuned by folds, and of a model on all columns.
fn chosen(data: &Dataset<'_>, strategy: StrategyKind) -> Vec<(f64, Vec<u32>, Vec<f64>)> {
    let mut options = GreedyRankRls::new(5, None);
    options.strategy = strategy;
    let holdout = HoldOut::Folds { count: 4, seed: 3 };
    let tuned = Tune {
        holdout: holdout.clone(),
        measure: cindex(),
        ..Tune::new(options.clone(), Lambdas::Auto)
    };
    let ridge = RankRls {
        lambdas: Lambdas::Auto,
        holdout,
        ..RankRls::default()
    };
    let models = [
        options.fit(data).unwrap(),
        tuned.fit(data).unwrap().0,
        ridge.fit(data).unwrap(),
    ];
    let facts = models.into_iter().map(|model| {
        let features = model.features.iter();
        let named = features.clone().map(|taken| taken.feature).collect();
        let weights = features.map(|taken| taken.weight).collect();
        (model.lambda.value(), named, weights)
    });
    facts.collect()
}

#[test]
fn the_order_of_rows_counts_nowhere() {
    let problem = problem(30);
    for strategy in [
        StrategyKind::Dense,
        StrategyKind::Bounded,
        StrategyKind::Distil,
    ] {
        let expected = chosen(&named(&problem, 0), strategy);
        for seed in 1..6 {
            let found = chosen(&named(&problem, seed), strategy);
            for (found, expected) in found.iter().zip(&expected) {
                assert!(
                    close(found.0, expected.0, 0.0),
                    "{strategy}: {found:?}, {expected:?}"
                );
                assert_eq!(found.1, expected.1, "{strategy}");
                for (found, expected) in found.2.iter().zip(&expected.2) {
                    assert!(close(*found, *expected, 1.0), "{found}, {expected}");
                }
            }
        }
    }
}
