//! A selection that ends early and resumes equals an unbroken one.

use std::ops::{ControlFlow, Range};
use std::path::Path;

use crate::oracle::{by, grid, outcome, strategies, tuned};
use rankrls::data::read::ReadOptions;
use rankrls::data::{DataHash, LabelScale, sample};
use rankrls::greedy::Step;
use rankrls::greedy::job::{Selecting, select_among, unwatched};
use rankrls::memory::Memory;
use rankrls::metrics::{Measure, Metric};
use rankrls::tune::{self, PathSteps, Rule, TuneEvent};
use rankrls::{
    ColumnClasses, Dataset, GreedyRankRls, HoldOut, Kind, Lambda, Model, QueryWeight, Ridge, Scale,
    StrategyKind,
};

const K: usize = 12;

fn options(lambda: f64) -> GreedyRankRls {
    GreedyRankRls::new(K, Lambda::new(lambda).unwrap())
}

/// The first 200 rows of the sample, with few enough columns for every strategy.
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
    let text: String =
        String::from_utf8(zstd::decode_all(sample::PARSES[0].rows).unwrap()).unwrap();
    let rows: Vec<&str> = text.lines().skip(range.start).take(range.len()).collect();
    rows.join("\n")
}

fn check(candidates: &ColumnClasses, data: &Dataset<'_>, options: &GreedyRankRls) {
    let whole = select_among(candidates, data, options, &[], &mut unwatched).unwrap();
    for taken in 0..=whole.steps.len() {
        // As read from a file.
        let json = serde_json::to_string(&whole.steps[..taken]).unwrap();
        let steps: Vec<Step> = serde_json::from_str(&json).unwrap();
        let resumed = select_among(candidates, data, options, &steps, &mut unwatched).unwrap();
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
    let candidates = ColumnClasses::new(&data);
    for strategy in strategies() {
        for lambda in [1e-7, 1.0] {
            check(&candidates, &data, &by(strategy, K, lambda));
        }
    }
    let sampled = GreedyRankRls {
        sample: Some(50),
        seed: Some(7),
        ..by(StrategyKind::Bounded, K, 1.0)
    };
    check(&candidates, &data, &sampled);
    let weighted = ColumnClasses::scaled(&data, QueryWeight::Pairs, Scale::None);
    check(&weighted, &data, &options(1.0));
    let criterion = Metric::CONCORDANCE.into();
    let ranked = GreedyRankRls {
        criterion,
        ..options(1.0)
    };
    check(&candidates, &data, &ranked);
}

#[test]
fn steps_of_other_data_are_refused() {
    let data = data();
    let candidates = ColumnClasses::new(&data);
    let options = options(1.0);
    let mut steps = select_among(&candidates, &data, &options, &[], &mut unwatched)
        .unwrap()
        .steps;
    steps.truncate(4);
    let refused = |steps: &[Step], text: &str| {
        let found = select_among(&candidates, &data, &options, steps, &mut unwatched);
        let error = found.unwrap_err().to_string();
        assert!(error.starts_with(text), "{error}");
    };
    let mut other = steps.clone();
    other[2].lqo_error = f64::from_bits(other[2].lqo_error.to_bits() + 1);
    refused(
        &other,
        "step 3 of the earlier run cannot be taken again: the held-out error is",
    );
    for cindex in [Some(0.5), Some(5e-324), None] {
        let mut other = steps.clone();
        other[1].lqo_cindex = cindex;
        refused(
            &other,
            "step 2 of the earlier run cannot be taken again: the held-out concordance index is",
        );
    }
    let mut other = steps.clone();
    other[3] = other[0].clone();
    let taken = "step 4 of the earlier run cannot be taken again: column";
    refused(&other, taken);
    let mut other = steps;
    other[1].feature = u32::MAX;
    refused(&other, "step 2 of the earlier run");
}

/// The model of `data` by these options after `after` steps, as read from a file.
fn ended(data: &Dataset<'_>, options: &GreedyRankRls, given: &[Step], after: usize) -> Model {
    let candidates = options.candidates(data).unwrap();
    let mut end = |_: &Step, work: &Selecting<'_>| match work.steps().len() {
        taken if taken == after => ControlFlow::Break(()),
        _ => ControlFlow::Continue(()),
    };
    let found = select_among(&candidates, data, options, given, &mut end).unwrap();
    assert_eq!(found.steps.len(), after);
    let model = Model::from_selection(&found, data, &candidates.summary(), DataHash::of(data));
    let mut text = Vec::new();
    model.write_to(&mut text).unwrap();
    Model::parse(&text, Path::new("model.json")).unwrap()
}

#[test]
fn a_model_is_gone_on_from_again_and_again() {
    let data = data();
    let hash = DataHash::of(&data);
    let share: Ridge = "1/16u".parse().unwrap();
    let sampled = GreedyRankRls {
        strategy: StrategyKind::Sampled,
        sample: Some(30),
        seed: Some(5),
        ..options(2.0)
    };
    let mut distil = GreedyRankRls {
        strategy: StrategyKind::Distil,
        ..GreedyRankRls::new(K, share)
    };
    let usual = distil.clone();
    distil.teacher_lambda = Some("1u,1/4u".parse().unwrap());
    for asked in [
        options(2.0),
        GreedyRankRls::new(K, share),
        sampled,
        distil,
        usual,
    ] {
        let whole = ended(&data, &asked, &[], K);
        let candidates = asked.candidates(&data).unwrap();
        let mut last = ended(&data, &asked, &[], 2);
        for after in [2, 3, 7, K] {
            let (options, given) = last.go_on(&asked, &candidates, hash).unwrap();
            assert_eq!(options.strategy, whole.settings.strategy);
            last = ended(&data, &options, &given, after);
        }
        assert_eq!(last, whole);
    }
    // If folds have chosen lambda, they do not choose again.
    let auto = GreedyRankRls::new(K, None);
    let candidates = auto.candidates(&data).unwrap();
    let model = ended(&data, &options(3.0), &[], 4);
    let (options, _) = model.go_on(&auto, &candidates, hash).unwrap();
    assert_eq!(options.lambda, model.settings.lambda);
}

#[test]
fn models_of_other_runs_are_not_gone_on_from() {
    let data = data();
    let hash = DataHash::of(&data);
    let candidates = options(2.0).candidates(&data).unwrap();
    let model = ended(&data, &options(2.0), &[], 3);
    let refused = |model: &Model, options: &GreedyRankRls, hash| {
        let candidates = options.candidates(&data).unwrap();
        model
            .go_on(options, &candidates, hash)
            .unwrap_err()
            .to_string()
    };
    let mut other = GreedyRankRls {
        strategy: StrategyKind::Sampled,
        seed: Some(9),
        sample: Some(3),
        query_weight: QueryWeight::Size,
        criterion: Measure::Squared,
        label_scale: Some(LabelScale::Unit),
        memory: Memory::limit(1 << 30),
        ..options(4.0)
    };
    let text = refused(&model, &other, hash);
    for difference in [
        "lambda was 2.0 and is 4.0 now",
        "and is sampled now",
        "seed was not given and is 9 now",
        "sample was not given and is 3 now",
        "query weight was not given and is size now",
        "label scale was not given and is unit now",
    ] {
        assert!(text.contains(difference), "{text}");
    }
    assert!(!text.contains("memory"), "{text}");
    other = options(2.0);
    other.criterion = "map:2(letor)".parse().unwrap();
    let text = refused(&model, &other, hash);
    assert!(
        text.contains("criterion was not given and is map:2(letor) now"),
        "{text}"
    );
    let text = refused(&model, &options(2.0), DataHash::of(&sample::test()));
    assert!(
        text.starts_with("the model was trained on other data"),
        "{text}"
    );
    other = options(2.0);
    other.k = 2;
    let text = refused(&model, &other, hash);
    assert!(
        text.contains("has 3 features: expected as many or more as -k, found 2"),
        "{text}"
    );
    let all = rankrls::RankRls::default().fit(&data).unwrap();
    let text = refused(&all, &options(2.0), hash);
    assert!(text.contains("not selected but all"), "{text}");
    let more = GreedyRankRls {
        k: K + 2,
        ..options(2.0)
    };
    let (more, given) = model.go_on(&more, &candidates, hash).unwrap();
    assert_eq!((more.k, given.len()), (K + 2, 3));
}

/// Ends a tuning after some steps, and keeps its finished selections.
struct Cut {
    left: usize,
    kept: Vec<PathSteps>,
}

impl Cut {
    fn event(&mut self, event: TuneEvent<'_>) -> ControlFlow<()> {
        match event {
            TuneEvent::Selected(finished) => {
                // As read from a file.
                let text = serde_json::to_string(finished).unwrap();
                self.kept.push(serde_json::from_str(&text).unwrap());
            }
            TuneEvent::Stepped(_) => {
                self.left = self.left.saturating_sub(1);
                if self.left == 0 {
                    return ControlFlow::Break(());
                }
            }
            _ => {}
        }
        ControlFlow::Continue(())
    }
}

fn tune_options() -> tune::Tune {
    let lambdas = grid(&[0.25, 1.0, 4.0]);
    tune::Tune::new(GreedyRankRls::new(6, None), &lambdas)
}

/// Rows that `data` lacks.
fn validation(data: &Dataset<'_>) -> Dataset<'static> {
    rows(200..300, data.width())
}

/// Cuts a tuning after more and more steps, and compares its end with an unbroken one.
fn check_tuning(data: &Dataset<'_>, options: &tune::Tune, step: usize) {
    let candidates = options.selection.candidates(data).unwrap();
    let validation = validation(data);
    let from_the_start = tune::Tuning {
        candidates: Some(&candidates),
        validation: Some(&validation),
        ..tune::Tuning::new(data, options)
    };
    let whole = tuned(from_the_start.run(&mut tune::unwatched_events).unwrap());
    let (mut given, mut cuts) = (Vec::new(), 0);
    let key = |path: &PathSteps| (path.lambda, path.strategy, path.labels, path.fold);
    for left in (step..).step_by(step) {
        let (before, kept) = (given.len(), Vec::new());
        let mut cut = Cut { left, kept };
        let going_on = tune::Tuning {
            given: &given,
            ..from_the_start
        };
        let found = going_on.run(&mut |event| cut.event(event));
        for finished in &cut.kept {
            // Given selections are not kept twice.
            assert!(given.iter().all(|known| key(known) != key(finished)));
        }
        given.append(&mut cut.kept);
        match found {
            Ok(complete) if !complete.interrupted => {
                assert_eq!(tuned(complete), whole);
                break;
            }
            Ok(_) => cuts += 1,
            Err(error) if error.kind() == Kind::Stopped => cuts += 1,
            // There are models, but the measure is defined for none yet.
            Err(error) => assert!(error.to_string().contains("is undefined"), "{error}"),
        }
        assert!(given.len() >= before);
    }
    assert!(cuts > 1, "{cuts}");
    // A finished run keeps nothing.
    let (left, kept) = (usize::MAX, Vec::new());
    let mut cut = Cut { left, kept };
    let going_on = tune::Tuning {
        given: &given,
        ..from_the_start
    };
    let again = going_on.run(&mut |event| cut.event(event)).unwrap();
    assert!(cut.kept.is_empty());
    assert_eq!(tuned(again), whole);
}

#[test]
fn tunings_go_on_from_anywhere() {
    let data = data();
    let folds = HoldOut::Folds { count: 3, seed: 2 };
    let rule = Rule::MinImprovement {
        least: 0.05,
        patience: 2,
    };
    let mut bounded = tune_options();
    bounded.selection.strategy = StrategyKind::Bounded;
    let folded = tune::Tune {
        holdout: folds,
        ..tune_options()
    };
    let settling = tune::Tune {
        rule,
        ..folded.clone()
    };
    let mut sampled = tune::Tune {
        measure: Metric::CONCORDANCE.into(),
        ..folded.clone()
    };
    sampled.selection = GreedyRankRls {
        strategy: StrategyKind::Sampled,
        sample: Some(20),
        seed: Some(3),
        query_weight: QueryWeight::Size,
        ..sampled.selection
    };
    let strategies = tune::Tune {
        strategies: vec![StrategyKind::Distil, StrategyKind::Dense],
        measure: Metric::CONCORDANCE.into(),
        ..folded.clone()
    };
    let scales = tune::Tune {
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
    let options = tune::Tune {
        holdout: HoldOut::of(&validation),
        ..tune_options()
    };
    check_tuning(&data, &options, 4);
}

#[test]
fn steps_of_another_tuning_are_refused() {
    let data = data();
    let options = tune_options();
    let candidates = options.selection.candidates(&data).unwrap();
    let first = select_among(
        &candidates,
        &data,
        &GreedyRankRls {
            k: 1,
            lambda: options.grid(1.0)[1].into(),
            ..options.selection.clone()
        },
        &[],
        &mut unwatched,
    );
    let mut step = first.unwrap().steps.remove(0);
    step.lqo_error *= 2.0;
    let lambda = options.grid(1.0)[1];
    let taken = PathSteps {
        lambda,
        strategy: StrategyKind::Dense,
        labels: LabelScale::Raw,
        fold: None,
        steps: vec![step],
    };
    let tuning = tune::Tuning {
        given: &[taken],
        ..tune::Tuning::new(&data, &options)
    };
    let error = tuning.run(&mut tune::unwatched_events).unwrap_err();
    assert!(
        error
            .to_string()
            .starts_with("lambda 1: step 1 of the earlier run")
    );
}
