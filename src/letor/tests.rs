//! The protocol on small folds.

use std::ops::ControlFlow;

use super::*;
use crate::data::read::ReadOptions;
use crate::interrupt::Interrupt;
use crate::tune::GridStep;

/// Rows in queries of different sizes; `seed` makes others.
fn text(seed: u64, queries: u64) -> String {
    use std::fmt::Write as _;
    let mut state = seed;
    let mut draw = move |below: u64| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % below
    };
    let mut text = String::new();
    for query in 0..queries {
        for _ in 0..4 + query % 3 {
            let values: Vec<u64> = (0..6).map(|_| draw(10)).collect();
            let label = (values[1] + values[4] + draw(6)) / 8;
            write!(text, "{label} qid:{query}").unwrap();
            for (index, value) in (1..).zip(values) {
                write!(text, " {index}:{value}").unwrap();
            }
            text.push('\n');
        }
    }
    text
}

fn fold() -> Fold {
    let read = |seed, queries| {
        let loaded = ReadOptions::new().read_from(text(seed, queries).as_bytes(), "f");
        loaded.unwrap()
    };
    Fold {
        name: "Fold1".to_owned(),
        train: read(1, 12).dataset,
        validation: read(2, 6),
        test: read(3, 6),
    }
}

fn grid(lambdas: &[f64]) -> Vec<Lambda> {
    let lambdas = lambdas.iter().map(|&lambda| Lambda::new(lambda).unwrap());
    lambdas.collect()
}

/// The outcome for all features.
fn found(fold: &Fold, lambdas: &[f64]) -> FoldOutcome {
    run(fold, &options(), &grid(lambdas), &mut ()).unwrap()
}

#[test]
fn the_chosen_model_is_what_select_finds() {
    let fold = fold();
    let outcome = found(&fold, &[0.5, 4.0, 32.0]);
    assert_eq!(outcome.paths.len(), 3);
    let points = outcome.paths.iter().flat_map(|path| &path.points);
    let best = points.filter_map(|point| validation(point)[0]);
    assert_eq!(outcome.greedy.validation[0], best.max_by(f64::total_cmp));
    let chosen = &outcome.greedy.selection;
    let options = SelectionOptions {
        strategy: Some(chosen.strategy),
        ..SelectionOptions::new(chosen.steps.len(), chosen.lambda)
    };
    let selected = crate::select(&fold.train, &options, &mut ()).unwrap();
    assert_eq!(&selected, chosen);
    let features: Vec<u32> = chosen.steps.iter().map(|step| step.feature).collect();
    for (data, measures) in [
        (&fold.validation.dataset, outcome.greedy.validation),
        (&fold.test.dataset, outcome.greedy.test),
    ] {
        let scores = data.scores(&features, &chosen.weights);
        assert_eq!(measure(data, &scores).unwrap(), measures);
    }
}

/// With every feature selected, both models are the same.
#[test]
fn all_features_are_the_end_of_the_path() {
    let outcome = found(&fold(), &[0.5, 4.0, 32.0]);
    for (path, all) in outcome.paths.iter().zip(&outcome.all_features.grid) {
        assert_eq!(path.points.len(), 6);
        assert_eq!(path.points.last().map(validation), *all);
    }
    let best = outcome.all_features.grid.iter();
    let best = best.flatten().filter_map(|measures| measures[0]);
    assert_eq!(
        outcome.all_features.validation[0],
        best.max_by(f64::total_cmp)
    );
}

#[test]
fn queries_weigh_as_they_do_in_training() {
    let fold = fold();
    let lambdas = grid(&[4.0]);
    let outcome = |query_weight| {
        let options = SelectionOptions {
            query_weight,
            ..options()
        };
        run(&fold, &options, &lambdas, &mut ()).unwrap()
    };
    for weight in QueryWeight::ALL {
        let options = TrainOptions::new().query_weight(weight);
        let problem = RidgeProblem::new(&fold.train, &options).unwrap();
        let scores = problem.train(lambdas[0]).unwrap().weights();
        let scores = scores.scores(&fold.test.dataset);
        let test = measure(&fold.test.dataset, &scores).unwrap();
        assert_eq!(outcome(weight).all_features.test, test, "{weight}");
    }
    let error = |weight| outcome(weight).greedy.selection.steps[0].lqo_error;
    assert_ne!(error(QueryWeight::Uniform), error(QueryWeight::Pairs));
}

#[test]
fn threads_and_memory_change_nothing() {
    let fold = fold();
    let lambdas = grid(&[0.25, 0.5, 1.0, 2.0, 4.0, 8.0]);
    let outcome = |threads: usize, options: &SelectionOptions| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
        let run = || run(&fold, options, &lambdas, &mut ());
        pool.unwrap().install(run).unwrap()
    };
    let one = outcome(1, &options());
    assert_eq!(outcome(2, &options()), one);
    let within = |bytes| SelectionOptions {
        max_memory: Some(bytes),
        ..options()
    };
    assert_eq!(outcome(4, &within(200_000)), one);
    let error = run(&fold, &within(100), &lambdas, &mut ()).unwrap_err();
    assert!(error.to_string().starts_with("Fold1: "), "{error}");
}

/// Notes what is followed, and ends it after so many steps.
#[derive(Default)]
struct Watch {
    followed: Vec<f64>,
    steps: usize,
    last: Option<usize>,
}

impl Observer for Watch {
    fn stepped(&mut self, _: &GridStep<'_>) -> ControlFlow<()> {
        self.steps += 1;
        if self.last.is_some_and(|last| self.steps > last) {
            return ControlFlow::Break(());
        }
        ControlFlow::Continue(())
    }

    fn finished(&mut self, path: &Outcome) {
        self.followed.push(path.lambda.value());
    }
}

#[test]
fn an_interrupt_leaves_no_outcome() {
    let (fold, lambdas) = (fold(), grid(&[1.0, 2.0, 8.0]));
    let mut whole = Watch::default();
    run(&fold, &options(), &lambdas, &mut whole).unwrap();
    assert_eq!(whole.steps, 3 * 6);
    for last in 0..whole.steps - 1 {
        let mut watch = Watch {
            last: Some(last),
            ..Watch::default()
        };
        let error = run(&fold, &options(), &lambdas, &mut watch).unwrap_err();
        assert!(matches!(error, TuneError::Interrupted), "{error}");
    }
}

/// Asks for the end once all paths are done.
struct Late<'a>(&'a Interrupt, usize);

impl Observer for Late<'_> {
    fn finished(&mut self, _: &Outcome) {
        self.1 -= 1;
        if self.1 == 0 {
            self.0.request();
        }
    }
}

#[test]
fn an_interrupt_ends_the_model_of_all_features() {
    let (fold, lambdas, interrupt) = (fold(), grid(&[1.0, 2.0, 8.0]), Interrupt::new());
    let mut watch = Late(&interrupt, lambdas.len());
    let work = || run(&fold, &options(), &lambdas, &mut watch);
    let error = interrupt.run(2, work).unwrap().unwrap().unwrap_err();
    assert!(matches!(error, TuneError::Interrupted), "{error}");
}

#[test]
fn every_lambda_is_followed_once() {
    let (fold, two) = (fold(), SelectionOptions::new(2, Lambda::ONE));
    let mut watch = Watch::default();
    let outcome = run(&fold, &two, &grid(&[8.0, 1.0, 2.0, 1.0]), &mut watch);
    watch.followed.sort_by(f64::total_cmp);
    assert_eq!(watch.followed, [1.0, 2.0, 8.0]);
    assert!(
        outcome
            .unwrap()
            .paths
            .iter()
            .all(|path| path.points.len() == 2)
    );
    let error = run(&fold, &two, &[], &mut ()).unwrap_err();
    assert!(error.to_string().contains("no lambda"), "{error}");
}

#[test]
fn ties_go_to_fewer_features_then_to_the_larger_lambda() {
    // Lambdas, their values, and the position and number of features of the choice.
    type Case<'a> = (&'a [f64], &'a [&'a [f64]], Option<(usize, usize)>);
    let nan = f64::NAN;
    let cases: [Case<'_>; 8] = [
        (
            &[0.5, 1.0, 2.0],
            &[&[0.1, 0.2], &[0.3, 0.1, 0.4], &[0.39]],
            Some((1, 3)),
        ),
        (
            &[1024.0, 1.0],
            &[&[0.1, 0.4, 0.4], &[0.1, 0.2, 0.4]],
            Some((0, 2)),
        ),
        (&[0.25, 2.0, 8.0], &[&[0.4], &[0.4], &[0.4]], Some((2, 1))),
        (&[8.0, 0.25], &[&[0.4], &[0.4]], Some((0, 1))),
        // Equal but for rounding.
        (
            &[0.25, 4.0],
            &[&[0.3, 0.4 + 1e-12], &[0.3, 0.4]],
            Some((1, 2)),
        ),
        // Not a number stands for no value.
        (
            &[1.0, 2.0, 4.0],
            &[&[nan, nan], &[nan, 0.0], &[]],
            Some((1, 2)),
        ),
        (&[1.0], &[&[nan]], None),
        (&[], &[], None),
    ];
    for (lambdas, values, expected) in cases {
        let value = |&value: &f64| (!value.is_nan()).then_some(value);
        let values = values.iter().map(|row| row.iter().map(value).collect());
        let values: Vec<Vec<Option<f64>>> = values.collect();
        let choice = choose(&grid(lambdas), &values);
        assert_eq!(choice.map(|choice| (choice.position, choice.k)), expected);
    }
}

#[test]
fn means_are_over_folds() {
    let first = [Some(0.2), None, Some(1.0), Some(0.0)];
    let second = [Some(0.4), Some(0.1), Some(0.0), Some(0.0)];
    let found = mean([&first, &second]);
    assert!((found[0].unwrap() - 0.3).abs() < 1e-15);
    assert_eq!(found[1..], [None, Some(0.5), Some(0.0)]);
    assert_eq!(mean([]), [None; 4]);
}
