//! Selections that end early and go on later are the selections that were never interrupted.

use std::ops::{ControlFlow, Range};
use std::path::Path;
use std::time::Duration;

use crate::oracle::{by, grid, outcome, strategies, tuned};
use rankrls::checkpoint::{CheckpointError, Checkpointer, Settings};
use rankrls::data::read::ReadOptions;
use rankrls::data::{DataHash, LabelScale, sample};
use rankrls::greedy::job::{self, PathId, Recorded, resume_among, select_among};
use rankrls::greedy::{Criterion, SelectError, Step, TargetOptions};
use rankrls::memory::Memory;
use rankrls::metrics::{Convention, Metric};
use rankrls::tune::{self, Evidence, Measure, Rule, TuneError, TuneEvent};
use rankrls::{
    Candidates, ColumnClasses, Dataset, Lambda, QueryWeight, Scale, SelectionOptions, StrategyKind,
};

const K: usize = 12;

fn options(lambda: f64) -> SelectionOptions {
    SelectionOptions::new(K, Lambda::new(lambda).unwrap())
}

/// The first 200 rows of the sample, and few enough columns for every strategy.
fn data() -> Dataset<'static> {
    let text = lines(0..200);
    let loaded = ReadOptions::new().read_from(text.as_bytes(), "sample");
    loaded.unwrap().dataset
}

/// Rows of the sample with the columns of other data.
fn rows(range: Range<usize>, width: usize) -> Dataset<'static> {
    let options = ReadOptions::new().width(width);
    let loaded = options.read_from(lines(range).as_bytes(), "sample");
    loaded.unwrap().dataset
}

fn lines(range: Range<usize>) -> String {
    let text: String = String::from_utf8(zstd::decode_all(sample::TRAIN).unwrap()).unwrap();
    let rows: Vec<&str> = text.lines().skip(range.start).take(range.len()).collect();
    rows.join("\n")
}

fn check(candidates: &Candidates, labels: &[f64], options: &SelectionOptions) {
    let whole = select_among(candidates, labels, options, &mut ()).unwrap();
    for taken in 0..=whole.steps.len() {
        // As it comes back from a file.
        let json = serde_json::to_string(&whole.steps[..taken]).unwrap();
        let steps: Vec<Step> = serde_json::from_str(&json).unwrap();
        let resumed = resume_among(candidates, labels, options, &steps, &mut ()).unwrap();
        assert_eq!(
            outcome(resumed),
            outcome(whole.clone()),
            "after {taken} steps"
        );
    }
}

#[test]
fn every_strategy_goes_on_from_every_step() {
    let data = data();
    let candidates = Candidates::from(ColumnClasses::new(&data));
    for strategy in strategies() {
        for lambda in [1e-7, 1.0] {
            check(&candidates, data.labels(), &by(strategy, K, lambda));
        }
    }
    let sampled = SelectionOptions {
        sample: Some(50),
        seed: Some(7),
        ..by(StrategyKind::Bounded, K, 1.0)
    };
    check(&candidates, data.labels(), &sampled);
    let weighted = ColumnClasses::scaled(&data, QueryWeight::Pairs, Scale::None).into();
    check(&weighted, data.labels(), &options(1.0));
    let criterion = Criterion::Ranking {
        metric: Metric::Concordance,
        convention: Convention::Standard,
    };
    let ranked = SelectionOptions {
        criterion,
        ..options(1.0)
    };
    check(&candidates, data.labels(), &ranked);
}

#[test]
fn steps_of_other_data_are_refused() {
    let data = data();
    let candidates = Candidates::from(ColumnClasses::new(&data));
    let labels = data.labels();
    let options = options(1.0);
    let mut steps = select_among(&candidates, labels, &options, &mut ())
        .unwrap()
        .steps;
    steps.truncate(4);
    let refusal = |steps: &[Step]| match resume_among(&candidates, labels, &options, steps, &mut ())
        .unwrap_err()
    {
        SelectError::Replay { number, found } => (number, found),
        other => panic!("{other}"),
    };
    let mut other = steps.clone();
    other[2].lqo_error = f64::from_bits(other[2].lqo_error.to_bits() + 1);
    assert_eq!(refusal(&other).0, 3);
    let mut other = steps.clone();
    other[3] = other[0].clone();
    assert!(refusal(&other).1.contains("is not to be selected"));
    let mut other = steps;
    other[1].feature = u32::MAX;
    assert_eq!(refusal(&other).0, 2);
}

/// Ends a selection after some steps, and sees to checkpoints.
struct Cut {
    checkpointer: Checkpointer,
    after: usize,
}

impl job::Observer for Cut {
    fn event(&mut self, event: job::Event<'_>) -> ControlFlow<()> {
        job::Observer::event(&mut self.checkpointer, event)?;
        match event {
            job::Event::Stepped(advance, state)
                if !advance.replayed && state.steps() >= self.after =>
            {
                ControlFlow::Break(())
            }
            _ => ControlFlow::Continue(()),
        }
    }
}

#[test]
fn a_checkpoint_is_gone_on_from_again_and_again() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.checkpoint");
    let data = data();
    let candidates = Candidates::from(ColumnClasses::new(&data));
    let options = options(2.0);
    let whole = select_among(&candidates, data.labels(), &options, &mut ()).unwrap();
    let mut steps = Vec::new();
    for after in [2, 3, 7, K] {
        let (checkpointer, _) = open(&path, &data, &options).unwrap();
        let mut cut = Cut {
            checkpointer,
            after,
        };
        let found = resume_among(&candidates, data.labels(), &options, &steps, &mut cut).unwrap();
        assert_eq!(found.steps.len(), after);
        assert_eq!(cut.checkpointer.saved(), after);
        drop(cut);
        let (_, mut recorded) = open(&path, &data, &options).unwrap();
        let last = recorded.pop().unwrap();
        assert_eq!(last.path.strategy, whole.strategy);
        assert_eq!(last.steps, found.steps);
        steps = last.steps;
    }
    let options = SelectionOptions {
        strategy: whole.strategy,
        ..options
    };
    let found = resume_among(&candidates, data.labels(), &options, &steps, &mut ());
    assert_eq!(outcome(found.unwrap()), outcome(whole));
}

/// Begins a checkpoint, or goes on with it.
fn open(
    path: &Path,
    data: &Dataset<'_>,
    settings: &impl Settings,
) -> Result<(Checkpointer, Vec<Recorded>), CheckpointError> {
    let hash = DataHash::of(data);
    Checkpointer::open(path, Duration::ZERO, hash, settings, true)
}

/// A checkpoint with a step that is in no run.
fn written(path: &Path, data: &Dataset<'_>, settings: &impl Settings, lambda: f64) {
    let path_of_step = PathId {
        lambda: Lambda::new(lambda).unwrap(),
        strategy: StrategyKind::Dense.into(),
        labels: LabelScale::Raw,
    };
    let (mut checkpointer, _) = open(path, data, settings).unwrap();
    checkpointer.keep(Recorded::new(path_of_step, None));
    checkpointer.flush().unwrap();
}

/// The text of an error that says what differs.
fn other_run(path: &Path, data: &Dataset<'_>, settings: &impl Settings) -> String {
    match open(path, data, settings).unwrap_err() {
        error @ CheckpointError::OtherRun { .. } => error.to_string(),
        other => panic!("{other}"),
    }
}

#[test]
fn a_checkpoint_of_another_run_is_refused_with_what_differs() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.checkpoint");
    let data = data();
    written(&path, &data, &options(2.0), 2.0);
    let other = SelectionOptions {
        strategy: Some(StrategyKind::Dense),
        seed: Some(9),
        sample: Some(3),
        query_weight: QueryWeight::Size,
        criterion: Criterion::Ranking {
            metric: Metric::Concordance,
            convention: Convention::Letor,
        },
        target: TargetOptions {
            blend: Some(0.3),
            ..TargetOptions::default()
        },
        memory: Memory::limit(1 << 30),
        ..options(4.0)
    };
    let text = other_run(&path, &data, &other);
    for difference in [
        "lambda was 2 and is 4 now",
        "strategy was not given and is dense now",
        "seed was not given and is 9 now",
        "candidates was not given and is 3 now",
        "query weight was not given and is size now",
        "criterion was not given and is cindex (letor) now",
        "target.blend was not given and is 0.3 now",
    ] {
        assert!(text.contains(difference), "{text}");
    }
    assert!(!text.contains("memory"), "{text}");
    let text = other_run(&path, &sample::test(), &options(2.0));
    assert!(text.contains("hash of the data was"), "{text}");
}

/// Ends a tuning after some steps that were searched for, and sees to checkpoints.
struct TuneCut {
    checkpointer: Checkpointer,
    left: usize,
    replayed: usize,
    expected: usize,
    teachers: usize,
}

impl TuneCut {
    fn new(checkpointer: Checkpointer, left: usize) -> Self {
        Self {
            checkpointer,
            left,
            replayed: 0,
            expected: 0,
            teachers: 0,
        }
    }
}

impl tune::TuneObserver for TuneCut {
    fn event(&mut self, event: TuneEvent<'_>) -> ControlFlow<()> {
        tune::TuneObserver::event(&mut self.checkpointer, event)?;
        match event {
            TuneEvent::TeacherTrained { .. } => self.teachers += 1,
            TuneEvent::Started { steps, .. } => self.expected += steps,
            TuneEvent::Stepped { replayed: true, .. } => self.replayed += 1,
            TuneEvent::Stepped { .. } => {
                self.left = self.left.saturating_sub(1);
                if self.left == 0 {
                    return ControlFlow::Break(());
                }
            }
            TuneEvent::Finished(_) => {}
        }
        ControlFlow::Continue(())
    }
}

fn tune_options() -> tune::TuneOptions {
    let lambdas = grid(&[0.25, 1.0, 4.0]);
    tune::TuneOptions::new(SelectionOptions::new(6, None), &lambdas)
}

/// Other rows than those of `data`.
fn validation(data: &Dataset<'_>) -> Dataset<'static> {
    rows(200..300, data.width())
}

/// Cuts a tuning every `left` steps, and holds its end to that of an unbroken one.
fn check_tuning(data: &Dataset<'_>, options: &tune::TuneOptions, left: usize) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.checkpoint");
    let candidates = options.selection.candidates(data);
    let validation = validation(data);
    let from_the_start = tune::Tuning {
        candidates: Some(&candidates),
        ..tune::Tuning::new(data, options).validated(&validation)
    };
    let whole = from_the_start.run(&mut ()).unwrap();
    let (mut cuts, mut teachers) = (0, 0);
    loop {
        let (checkpointer, earlier) = open(&path, data, options).unwrap();
        let before = checkpointer.saved();
        let mut cut = TuneCut::new(checkpointer, left);
        let going_on = tune::Tuning {
            earlier: &earlier,
            ..from_the_start
        };
        let found = going_on.run(&mut cut);
        teachers += cut.teachers;
        let after = cut.checkpointer.saved();
        assert!(cut.replayed <= before);
        match found {
            Ok(complete) if !complete.interrupted => {
                // Nothing was searched for twice.
                assert_eq!(cut.replayed, before);
                assert!(after <= cut.expected);
                assert_eq!(tuned(complete), tuned(whole));
                break;
            }
            Ok(_) | Err(TuneError::Interrupted | TuneError::Undefined { .. }) => cuts += 1,
            Err(error) => panic!("{error}"),
        }
        assert!(after > before, "no way on after {before} steps");
    }
    assert!(cuts > 1, "{cuts}");
    // Every teacher has taught once.
    let (checkpointer, earlier) = open(&path, data, options).unwrap();
    let kept = earlier.iter().filter(|found| found.teacher.is_some());
    assert_eq!(teachers, kept.count());
    // A finished run has nothing to search for.
    let mut cut = TuneCut::new(checkpointer, 1);
    let going_on = tune::Tuning {
        earlier: &earlier,
        ..from_the_start
    };
    let again = going_on.run(&mut cut).unwrap();
    assert_eq!((cut.left, cut.teachers), (1, 0));
    assert!(!again.interrupted);
}

#[test]
fn tunings_go_on_from_anywhere() {
    let data = data();
    let folds = Evidence::Folds { count: 3, seed: 2 };
    let rule = Rule::MinImprovement {
        least: 0.05,
        patience: 2,
    };
    let mut bounded = tune_options();
    bounded.selection.strategy = Some(StrategyKind::Bounded);
    let folded = tune::TuneOptions {
        evidence: folds,
        ..tune_options()
    };
    let settling = tune::TuneOptions {
        rule,
        ..folded.clone()
    };
    let mut sampled = tune::TuneOptions {
        measure: Measure::Metric(Metric::Concordance),
        ..folded.clone()
    };
    sampled.selection = SelectionOptions {
        strategy: Some(StrategyKind::Sampled),
        sample: Some(20),
        seed: Some(3),
        query_weight: QueryWeight::Size,
        ..sampled.selection
    };
    let strategies = tune::TuneOptions {
        strategies: vec![StrategyKind::Distil, StrategyKind::Dense],
        measure: Measure::Metric(Metric::Concordance),
        ..folded.clone()
    };
    let scales = tune::TuneOptions {
        labels: vec![LabelScale::Unit, LabelScale::Raw],
        strategies: vec![StrategyKind::Distil],
        ..strategies.clone()
    };
    for (options, left) in [
        (tune_options(), 4),
        (bounded, 5),
        (folded, 7),
        (settling, 5),
        (sampled, 9),
        (strategies, 31),
        (scales, 31),
    ] {
        check_tuning(&data, &options, left);
    }
    let validation = validation(&data);
    let options = tune::TuneOptions {
        evidence: Evidence::of(&validation),
        ..tune_options()
    };
    check_tuning(&data, &options, 4);
}

#[test]
fn steps_of_another_tuning_are_refused() {
    let data = data();
    let options = tune_options();
    let candidates = options.selection.candidates(&data);
    let first = select_among(
        &candidates,
        data.labels(),
        &SelectionOptions {
            k: 1,
            lambda: options.grid(1.0)[1].into(),
            ..options.selection.clone()
        },
        &mut (),
    );
    let mut step = first.unwrap().steps.remove(0);
    step.lqo_error *= 2.0;
    let lambda = options.grid(1.0)[1];
    let asked = SelectionOptions::new(6, lambda);
    let taken = Recorded {
        steps: vec![step],
        ..Recorded::new(PathId::new(&asked, lambda, StrategyKind::Dense), None)
    };
    let tuning = tune::Tuning {
        earlier: &[taken],
        ..tune::Tuning::new(&data, &options)
    };
    let error = tuning.run(&mut ()).unwrap_err();
    assert!(
        matches!(error, TuneError::Replay { lambda, .. } if lambda.value() == 1.0),
        "{error}"
    );
    assert!(
        error
            .to_string()
            .starts_with("lambda 1: step 1 of the earlier run")
    );
}

#[test]
fn a_checkpoint_of_another_tuning_is_refused_with_what_differs() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.checkpoint");
    let data = data();
    let settings = tune_options();
    written(&path, &data, &settings, 1.0);
    let selection = SelectionOptions {
        strategy: Some(StrategyKind::Sampled),
        sample: Some(5),
        seed: Some(4),
        query_weight: QueryWeight::Pairs,
        ..SelectionOptions::new(7, None)
    };
    let other = tune::TuneOptions {
        evidence: Evidence::Folds { count: 3, seed: 2 },
        measure: Measure::Metric(Metric::Concordance),
        rules: Convention::Letor.into(),
        rule: Rule::MinImprovement {
            least: 0.5,
            patience: 3,
        },
        strategies: vec![StrategyKind::LowMem, StrategyKind::Sampled],
        ..tune::TuneOptions::new(
            selection,
            &[1.0, 2.0].map(|lambda| Lambda::new(lambda).unwrap()),
        )
    };
    let text = other_run(&path, &data, &other);
    for difference in [
        "strategies was not given and is lowmem,sampled now",
        "lambdas was 0.25,1,4 and is 1,2 now",
        "evidence.kind was lqo and is folds now",
        "evidence.count was not given and is 3 now",
        "measure was squared and is cindex now",
        "convention was standard and is letor now",
        "rule.name was best and is min-improvement now",
        "rule.least was not given and is 0.5 now",
        "selection.k was 6 and is 7 now",
        "selection.strategy was not given and is sampled now",
        "selection.candidates was not given and is 5 now",
        "selection.seed was not given and is 4 now",
        "selection.query weight was not given and is pairs now",
    ] {
        assert!(text.contains(difference), "{difference}: {text}");
    }
    let test = sample::test();
    let text = other_run(&path, &test, &settings);
    assert!(text.contains("hash of the data was"), "{text}");
    let validated = tune::TuneOptions {
        evidence: Evidence::of(&test),
        ..tune_options()
    };
    let hash_now = format!("evidence.data was not given and is {}", DataHash::of(&test));
    assert!(other_run(&path, &data, &validated).contains(&hash_now));
    // Lines with right checksums of a path that is none of this run.
    written(&path, &data, &settings, 3.0);
    let error = open(&path, &data, &settings).unwrap_err().to_string();
    let expected =
        "run.checkpoint:3:1: expected steps or a teacher of this run, found those of another";
    assert!(error.contains(expected), "{error}");
    let refused = open(&path, &data, &settings.selection).unwrap_err();
    let schemas = "schema rankrls.selection-steps/1, found \"rankrls.tuning-steps/1\"";
    assert!(refused.to_string().contains(schemas), "{refused}");
}
