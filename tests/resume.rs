//! Selections that end early and go on later are the selections that were never interrupted.

use std::ops::ControlFlow;
use std::time::Duration;

use rankrls::checkpoint::{CheckpointError, Checkpointer, Progress, Settings};
use rankrls::corpus::sample;
use rankrls::dataset::DataHash;
use rankrls::metrics::{Convention, Metric};
use rankrls::select::{Observer, SelectError, Step, resume_among, select_among};
use rankrls::strategy::{Criterion, State};
use rankrls::{Candidates, Dataset, Lambda, Options, QueryWeight, Selection, StrategyKind};

const K: usize = 12;

fn options(lambda: f64) -> Options {
    Options::new(K, Lambda::new(lambda).unwrap())
}

/// The first 200 rows of the sample, and few enough columns for every strategy.
fn data() -> Dataset<'static> {
    let text: String = String::from_utf8(zstd::decode_all(sample::TRAIN).unwrap()).unwrap();
    let rows: Vec<&str> = text.lines().take(200).collect();
    let loaded =
        rankrls::dataset::read::ReadOptions::new().read_from(rows.join("\n").as_bytes(), "sample");
    loaded.unwrap().dataset
}

/// What there is to compare: how many candidates `bounded` has to evaluate depends on what it
/// has seen, its choices do not.
fn outcome(mut selection: Selection) -> Selection {
    for step in &mut selection.steps {
        step.evaluated = 0;
        step.alive.clear();
    }
    selection
}

fn check(candidates: &Candidates, labels: &[f64], options: &Options) {
    let whole = select_among(candidates, labels, 0, options, &mut ()).unwrap();
    for taken in 0..=whole.steps.len() {
        // As it comes back from a file.
        let json = serde_json::to_string(&whole.steps[..taken]).unwrap();
        let steps: Vec<Step> = serde_json::from_str(&json).unwrap();
        let resumed = resume_among(candidates, labels, 0, options, &steps, &mut ()).unwrap();
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
    let candidates = Candidates::new(&data);
    for strategy in StrategyKind::ALL {
        for lambda in [1e-7, 1.0] {
            check(
                &candidates,
                data.labels(),
                &options(lambda).strategy(strategy),
            );
        }
    }
    let sampled = options(1.0)
        .strategy(StrategyKind::Bounded)
        .sample(50)
        .seed(7);
    check(&candidates, data.labels(), &sampled);
}

#[test]
fn weights_and_criteria_go_on_too() {
    let data = data();
    let candidates = Candidates::weighted(&data, QueryWeight::Pairs);
    let ranking = Criterion::Ranking {
        metric: Metric::Concordance,
        convention: Convention::Standard,
    };
    for criterion in [Criterion::Squared, ranking] {
        check(
            &candidates,
            data.labels(),
            &options(1.0).criterion(criterion),
        );
    }
}

#[test]
fn steps_of_other_data_are_refused() {
    let data = data();
    let candidates = Candidates::new(&data);
    let labels = data.labels();
    let options = options(1.0);
    let mut steps = select_among(&candidates, labels, 0, &options, &mut ())
        .unwrap()
        .steps;
    steps.truncate(4);
    let refusal =
        |steps: &[Step]| match resume_among(&candidates, labels, 0, &options, steps, &mut ())
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

impl Observer for Cut {
    fn started(&mut self, plan: &rankrls::select::Plan) {
        self.checkpointer.started(plan);
    }

    fn replayed(&mut self, number: usize, step: &Step, state: &State) -> ControlFlow<()> {
        self.checkpointer.replayed(number, step, state)
    }

    fn stepped(&mut self, number: usize, step: &Step, state: &State) -> ControlFlow<()> {
        self.checkpointer.stepped(number, step, state)?;
        if number >= self.after {
            return ControlFlow::Break(());
        }
        ControlFlow::Continue(())
    }
}

#[test]
fn a_checkpoint_is_gone_on_from_again_and_again() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.checkpoint");
    let data = data();
    let candidates = Candidates::new(&data);
    let options = options(2.0);
    let (hash, settings) = (DataHash::of(&data), Settings::from(&options));
    let whole = select_among(&candidates, data.labels(), 0, &options, &mut ()).unwrap();
    let mut progress = Progress::new(hash, settings);
    for after in [2, 3, 7, K] {
        let steps = progress.steps.clone();
        let checkpointer = Checkpointer::new(&path, Duration::ZERO, progress).unwrap();
        let mut cut = Cut {
            checkpointer,
            after,
        };
        let found =
            resume_among(&candidates, data.labels(), 0, &options, &steps, &mut cut).unwrap();
        assert_eq!(found.steps.len(), after);
        assert!(cut.checkpointer.error().is_none());
        progress = Progress::load(&path, hash, &settings).unwrap();
        assert_eq!(progress.steps, found.steps);
        assert_eq!(progress.strategy, Some(whole.strategy));
    }
    let options = options.strategy(whole.strategy);
    let found = resume_among(
        &candidates,
        data.labels(),
        0,
        &options,
        &progress.steps,
        &mut (),
    );
    assert_eq!(outcome(found.unwrap()), outcome(whole));
}

#[test]
fn a_checkpoint_of_another_run_is_refused_with_what_differs() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.checkpoint");
    let data = data();
    let settings = Settings::from(&options(2.0));
    let hash = DataHash::of(&data);
    Progress::new(hash, settings).save(&path).unwrap();
    let refusal = |hash: DataHash, options: &Options| match Progress::load(
        &path,
        hash,
        &Settings::from(options),
    )
    .unwrap_err()
    {
        error @ CheckpointError::OtherRun { .. } => error.to_string(),
        other => panic!("{other}"),
    };
    let other = options(4.0).strategy(StrategyKind::Dense).seed(9).sample(3);
    let text = refusal(hash, &other.query_weight(QueryWeight::Size));
    for difference in [
        "lambda was 2 and is 4 now",
        "strategy was auto and is dense now",
        "seed was 1 and is 9 now",
        "candidates was the strategy's own and is 3 now",
        "query weight was uniform and is size now",
    ] {
        assert!(text.contains(difference), "{text}");
    }
    let other = DataHash::of(&sample::test());
    assert!(refusal(other, &options(2.0)).contains("hash of the data was"));
}
