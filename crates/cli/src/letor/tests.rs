//! The protocol of LETOR on small folds, and on a fold of MQ2008 against the figures of the Greedy
//! RankRLS paper. The corpus is other people's and lives outside the repository: `RANKRLS_CORPORA`
//! names its folder, and without it these tests say so and pass.

use std::fs;
use std::ops::ControlFlow;
use std::path::Path;

use rankrls::data::read::ReadOptions;
use rankrls::greedy::job::select;
use rankrls::interrupt::Interrupt;
use rankrls::ridge::{RankRls, RidgeProblem};
use rankrls::tune::TuneEvent;
use rankrls::{Lambda, Lambdas, QueryWeight, SelectionOptions, StrategyKind};

use super::protocol::{self, Fold, FoldOutcome, Measures, PARTS, file, find, name};

/// All features by the fastest exact strategy.
fn options() -> SelectionOptions {
    SelectionOptions::new(usize::MAX, None)
}

/// Rows in queries of different sizes; `seed` makes others.
fn text(seed: u64, queries: u64) -> String {
    use std::fmt::Write as _;
    let mut state = seed;
    let mut draw = |below: u64| {
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

fn grid(lambdas: &[f64]) -> Vec<Lambda> {
    let lambdas = lambdas.iter().map(|&lambda| Lambda::new(lambda).unwrap());
    lambdas.collect()
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

fn outcome(fold: &Fold, options: &SelectionOptions, lambdas: &[Lambda]) -> FoldOutcome {
    let ran = protocol::run(fold, options, lambdas, &mut ()).unwrap();
    ran.unwrap()
}

#[test]
fn the_chosen_model_is_what_select_finds() {
    let fold = fold();
    let outcome = outcome(&fold, &options(), &grid(&[0.5, 4.0, 32.0]));
    assert_eq!(outcome.paths.len(), 3);
    let models = outcome.paths.iter().flat_map(|path| &path.validation);
    let best = models.filter_map(|measures| measures.0[0]);
    let greedy = &outcome.greedy;
    assert_eq!(greedy.validation.0[0], best.max_by(f64::total_cmp));
    let options = SelectionOptions {
        strategy: outcome.strategy,
        ..SelectionOptions::new(greedy.features.len(), greedy.lambda)
    };
    let selected = select(&fold.train, &options, &mut ()).unwrap();
    for (data, measures) in [
        (&fold.validation.dataset, greedy.validation),
        (&fold.test.dataset, greedy.test),
    ] {
        let scores = data.scores(&selected.features(), &selected.weights);
        assert_eq!(Measures::of(data, &scores).unwrap(), measures);
    }
    assert_eq!(selected, outcome.selection);
}

/// With every feature selected, both models are the same.
#[test]
fn all_features_are_the_end_of_the_path() {
    let outcome = outcome(&fold(), &options(), &grid(&[0.5, 4.0, 32.0]));
    for path in &outcome.paths {
        assert_eq!(path.validation.len(), 6);
        assert_eq!(path.validation.last(), path.all_features.as_ref());
    }
    let paths = outcome.paths.iter();
    let best = paths.filter_map(|path| path.all_features?.0[0]);
    assert_eq!(
        outcome.all_features.validation.0[0],
        best.max_by(f64::total_cmp)
    );
}

#[test]
fn queries_weigh_as_they_do_in_training() {
    let fold = fold();
    let lambdas = grid(&[4.0]);
    let weighted = |query_weight| {
        let options = SelectionOptions {
            query_weight,
            ..options()
        };
        outcome(&fold, &options, &lambdas)
    };
    for weight in QueryWeight::ALL {
        let training = RankRls {
            query_weight: weight,
            ..RankRls::default()
        };
        let problem = RidgeProblem::new(&fold.train, &training).unwrap();
        let weights = problem.train(lambdas[0]).unwrap().weights();
        let scores = weights.scores(&fold.test.dataset);
        let test = Measures::of(&fold.test.dataset, &scores).unwrap();
        assert_eq!(weighted(weight).all_features.test, test, "{weight}");
    }
    let error = |weight| weighted(weight).selection.steps[0].lqo_error;
    assert_ne!(error(QueryWeight::Uniform), error(QueryWeight::Pairs));
}

#[test]
fn an_interrupt_leaves_no_outcome() {
    let (fold, lambdas) = (fold(), grid(&[1.0, 2.0, 8.0]));
    // The last of all steps leaves nothing to stop.
    for last in 1..3 * 6 {
        let mut steps = 0;
        let mut watch = |event: TuneEvent<'_>| {
            steps += usize::from(matches!(event, TuneEvent::Stepped { .. }));
            if steps >= last {
                return ControlFlow::Break(());
            }
            ControlFlow::Continue(())
        };
        let ended = protocol::run(&fold, &options(), &lambdas, &mut watch).unwrap();
        assert!(ended.is_none(), "{last}");
    }
}

#[test]
fn an_interrupt_ends_the_model_of_all_features() {
    let (fold, lambdas, interrupt) = (fold(), grid(&[1.0, 2.0, 8.0]), Interrupt::new());
    let mut left = lambdas.len();
    // Asks for the end once all paths are done.
    let mut watch = |event: TuneEvent<'_>| {
        left -= usize::from(matches!(event, TuneEvent::Finished(_)));
        if left == 0 {
            interrupt.request();
        }
        ControlFlow::Continue(())
    };
    let work = || protocol::run(&fold, &options(), &lambdas, &mut watch);
    assert!(interrupt.run(2, work).unwrap().is_none());
}

#[test]
fn means_are_over_folds() {
    let mean = |values: &[Option<f64>]| {
        let folds = values.iter().map(|value| Measures([*value; 4]));
        Measures::mean(&folds.collect::<Vec<_>>()).0[3]
    };
    assert!((mean(&[Some(0.2), Some(0.4)]).unwrap() - 0.3).abs() < 1e-15);
    assert_eq!(mean(&[Some(0.1), None]), None);
    assert_eq!(mean(&[]), None);
}

fn fold_3(options: &SelectionOptions) -> Option<(Fold, FoldOutcome)> {
    let Some(corpora) = std::env::var_os("RANKRLS_CORPORA") else {
        eprintln!("NOT TESTED: set RANKRLS_CORPORA to the folder of corpora to test LETOR");
        return None;
    };
    let folders = protocol::find(&Path::new(&corpora).join("letor-mq2008-fold3")).unwrap();
    let fold = Fold::read(&folders[0], &ReadOptions::new()).unwrap();
    let lambdas: Lambdas = protocol::LAMBDAS.parse().unwrap();
    let outcome = protocol::run(&fold, options, lambdas, &mut ())
        .unwrap()
        .unwrap();
    Some((fold, outcome))
}

/// To the four decimals that the paper prints.
fn printed(measures: &Measures) -> [String; 4] {
    measures.0.map(|value| format!("{:.4}", value.unwrap()))
}

/// Tables 2 and 7 to 10 of the paper, fold 3 of MQ2008, which an independent Algorithm 1 gives
/// too. Features count from 1, as in the files.
#[test]
fn fold_3_of_mq2008_is_that_of_the_paper() {
    let Some((fold, outcome)) = fold_3(&options()) else {
        return;
    };
    for strategy in [
        StrategyKind::Dense,
        StrategyKind::LowMem,
        StrategyKind::Bounded,
    ] {
        let options = SelectionOptions {
            strategy: Some(strategy),
            ..SelectionOptions::new(7, Lambda::new(8.0).unwrap())
        };
        let selected = select(&fold.train, &options, &mut ()).unwrap();
        let features = selected.features().into_iter();
        let written = features.map(|feature| u64::from(feature) + 1);
        assert!(written.eq(outcome.greedy.features.clone()), "{strategy}");
        let test = &fold.test.dataset;
        let scores = test.scores(&selected.features(), &selected.weights);
        let measures = Measures::of(test, &scores).unwrap();
        assert_eq!(printed(&measures), printed(&outcome.greedy.test));
    }
    assert_eq!(outcome.greedy.features, [39, 29, 25, 23, 46, 37, 19]);
    assert_eq!(outcome.greedy.lambda.value(), 8.0);
    let greedy = ["0.4582", "0.2363", "0.4787", "0.2558"];
    assert_eq!(printed(&outcome.greedy.test), greedy);
    let all_features = ["0.4542", "0.2325", "0.4741", "0.2489"];
    assert_eq!(printed(&outcome.all_features.test), all_features);
}

/// With every feature that varies selected, the last models of the paths are those of RankRLS on
/// all features: two ways to the same weights, whose rankings differ in ties at most.
#[test]
fn paths_end_with_all_features() {
    for query_weight in [QueryWeight::Uniform, QueryWeight::Pairs] {
        let options = SelectionOptions {
            query_weight,
            ..options()
        };
        let Some((_, outcome)) = fold_3(&options) else {
            return;
        };
        assert_eq!(outcome.paths.len(), 21);
        for path in &outcome.paths {
            assert_eq!(path.validation.len(), outcome.summary.column_classes);
            let last = path.validation.last().unwrap();
            for (found, expected) in last.0.iter().zip(&path.all_features.unwrap().0) {
                let difference = (found.unwrap() - expected.unwrap()).abs();
                assert!(difference < 1e-3, "{}: {difference}", path.lambda);
            }
        }
    }
}

fn write_fold(directory: &Path, endings: [&str; 3]) {
    fs::create_dir_all(directory).unwrap();
    for (part, ending) in PARTS.iter().zip(endings) {
        fs::write(directory.join(format!("{part}.{ending}")), "1 1:1\n").unwrap();
    }
}

#[test]
fn a_folder_is_a_fold_or_holds_folds() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    for (name, endings) in [
        ("Fold10", ["txt"; 3]),
        ("fold2", ["txt.zst", "txt", "txt.gz"]),
        ("Fold1", ["txt"; 3]),
        ("Folder", ["txt"; 3]),
    ] {
        write_fold(&root.join(name), endings);
    }
    fs::write(root.join("Fold3"), "no folder").unwrap();
    let names = |folder: &Path| -> Vec<String> {
        let found = find(folder).unwrap();
        found.iter().map(|folder| name(folder)).collect()
    };
    assert_eq!(names(root), ["Fold1", "fold2", "Fold10"]);
    assert_eq!(names(&root.join("Fold10").join(".")), ["Fold10"]);
    assert_eq!(
        names(&root.join("Fold10").join("..").join("fold2")),
        ["fold2"]
    );
    let mixed = file(&root.join("fold2"), "test").unwrap();
    assert!(mixed.ends_with("test.txt.gz"));
}
