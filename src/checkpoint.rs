//! Checkpoint files: the steps of a long run, to go on from after the process has ended,
//! however it ended.
//!
//! A checkpoint is a [journal](rankrls_files::journal), which is only appended to. Its first line says what the
//! run is. Each other line is a [`Recorded`]: steps that one selection has found since the line before, or
//! what its teacher predicts.
//!
//! ```text
//! {"checksum":"5f0c32a7e1d94b86","record":{"schema":"rankrls.selection-steps/1","run":{"data":...,"settings":...}}}
//! {"checksum":"a3b1940c77de2f58","record":{"path":{"lambda":16.0,...},"steps":[{"feature":98144,...}]}}
//! ```
//!
//! Floats are written so that they read back to the same bits. A [`Checkpointer`] has the file while a run
//! goes on.

use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rankrls_files::error::Fault;
use rankrls_files::{Journal, JournalError, escaped};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use thiserror::Error;

use crate::data::DataHash;
use crate::greedy::{self, PathId, Recorded, SelectionOptions, Step, TeacherPredictions};
use crate::tune::{self, Evidence, TuneOptions};

/// A checkpoint that no run can go on from, or that cannot be written.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum CheckpointError {
    /// The file is no checkpoint of such a run, is damaged, is at work in another process, or cannot be
    /// written.
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// A checkpoint of other data or with other options: with the differences.
    #[error("{} is of another run: {}", escaped(&.0.display().to_string()), .1.join("; "))]
    OtherRun(PathBuf, Vec<String>),
}

/// The settings that decide the outcome of a run, the training data aside.
pub trait Settings: Clone + Serialize + DeserializeOwned {
    /// The schema of its checkpoints.
    const SCHEMA: &'static str;

    /// Most steps of a selection.
    fn k(&self) -> usize;

    /// Whether the run may have the selection of `path` without `fold`, or from all data.
    fn has(&self, path: PathId, fold: Option<usize>) -> bool;
}

impl Settings for SelectionOptions {
    const SCHEMA: &'static str = "rankrls.selection-steps/1";

    fn k(&self) -> usize {
        self.k
    }

    fn has(&self, path: PathId, fold: Option<usize>) -> bool {
        path.is_of(self) && fold.is_none()
    }
}

impl Settings for TuneOptions {
    const SCHEMA: &'static str = "rankrls.tuning-steps/1";

    fn k(&self) -> usize {
        self.selection.k
    }

    fn has(&self, path: PathId, fold: Option<usize>) -> bool {
        let folds = match self.evidence {
            Evidence::Folds { count, .. } => count,
            _ => 0,
        };
        let lambdas = self.lambdas.numbers();
        self.selections().iter().any(|options| path.is_of(options))
            && lambdas.is_none_or(|all| all.contains(&path.lambda))
            && fold.is_none_or(|fold| fold < folds)
    }
}

/// The content of the first line.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Run<S> {
    /// Hash of the training data.
    data: DataHash,
    settings: S,
}

impl<S: Serialize> Run<S> {
    /// The values that were others `then`, in words.
    fn differences(&self, then: &Self) -> Vec<String> {
        let [then, now] = [then, self]
            .map(|run| serde_json::to_value(run).expect("settings have names for keys"));
        let mut differences = Vec::new();
        for (name, key) in [("the BLAKE3 hash of the data", "data"), ("", "settings")] {
            compare(name, &then[key], &now[key], &mut differences);
        }
        differences
    }
}

/// Adds a line to `differences` for each key whose values differ `then` and `now`. A key within
/// another has both names, joined by a dot; a missing key counts as null.
fn compare(name: &str, then: &Value, now: &Value, differences: &mut Vec<String>) {
    if then == now {
        return;
    }
    let both = [then, now];
    if !both
        .iter()
        .all(|value| value.is_object() || value.is_null())
    {
        let name = name.trim_start_matches('.').replace('_', " ");
        let [then, now] = both.map(text);
        return differences.push(format!("{name} was {then} and is {now} now"));
    }
    let keys = both.into_iter().filter_map(Value::as_object);
    let keys: BTreeSet<&String> = keys.flat_map(Map::keys).collect();
    for key in keys {
        let [then, now] = both.map(|value| value.get(key).unwrap_or(&Value::Null));
        compare(&format!("{name}.{key}"), then, now, differences);
    }
}

/// A setting in a message.
fn text(value: &Value) -> String {
    match value {
        Value::Null => "not given".to_owned(),
        Value::String(text) => text.clone(),
        Value::Array(list) => list.iter().map(text).collect::<Vec<_>>().join(","),
        Value::Object(map) => map.values().map(text).collect::<Vec<_>>().join(" "),
        Value::Bool(_) | Value::Number(_) => {
            let number = value.to_string();
            number.strip_suffix(".0").unwrap_or(&number).to_owned()
        }
    }
}

/// Adds the `text` of a line to the findings so far of a run by `settings`.
fn read(text: &[u8], settings: &impl Settings, all: &mut Vec<Recorded>) -> Result<(), Fault> {
    const EXPECTED: &str = "steps or a teacher of this run";
    let more: Recorded =
        serde_json::from_slice(text).map_err(|error| Fault::new(EXPECTED, error.to_string()))?;
    if !settings.has(more.path, more.fold) {
        return Err(Fault::new(EXPECTED, "those of another selection"));
    }
    let known = Recorded::of(all, more.path, more.fold);
    known.steps.extend(more.steps);
    known.teacher = more.teacher.or(known.teacher.take());
    let (steps, k) = (known.steps.len(), settings.k());
    if steps > k {
        return Err(Fault::new(
            EXPECTED,
            format!("{steps} steps for {k} features"),
        ));
    }
    Ok(())
}

/// A teacher that took so long is kept, or as long as checkpoints are apart if that is less.
const LONG: Duration = Duration::from_secs(2);

/// An observer that brings a checkpoint up to date after a step, unless it did a moment ago, and after a
/// teacher that took more than two seconds.
///
/// A checkpoint that cannot be written does not stop the run: the lines before stay, and the next
/// [`flush`](Self::flush) writes what is missing. A checkpoint without a step or a teacher goes away with its
/// checkpointer: a run that is refused leaves nothing.
#[derive(Debug)]
pub struct Checkpointer {
    journal: Journal,
    every: Duration,
    /// When the file was last brought up to date, or tried to be.
    written: Instant,
    /// The findings that the file does not have.
    unwritten: Vec<Recorded>,
    /// Steps in the file.
    saved: usize,
}

impl Checkpointer {
    /// Begins a checkpoint at `path` of the run that `settings` describe on data with the hash `data`, or
    /// goes on with the one that is there if it may `resume`: with the findings so far. Brings it up to date
    /// after steps that end `every` or more after the last time.
    pub fn open<S: Settings>(
        path: &Path,
        every: Duration,
        data: DataHash,
        settings: &S,
        resume: bool,
    ) -> Result<(Self, Vec<Recorded>), CheckpointError> {
        let settings = settings.clone();
        let run = Run { data, settings };
        let mut all = Vec::new();
        let journal = if resume {
            let same = |then: &Run<S>| {
                let differences = run.differences(then);
                if differences.is_empty() {
                    return Ok(());
                }
                Err(CheckpointError::OtherRun(path.to_owned(), differences))
            };
            let take = |_, text: &[u8]| read(text, &run.settings, &mut all);
            Journal::resume(path, S::SCHEMA, &run, same, take)?
        } else {
            Journal::create(path, S::SCHEMA, &run)?
        };
        let checkpointer = Self {
            journal,
            every,
            written: Instant::now(),
            unwritten: Vec::new(),
            saved: all.iter().map(|known| known.steps.len()).sum(),
        };
        Ok((checkpointer, all))
    }

    /// Keeps findings of elsewhere that the run goes on with.
    pub fn keep(&mut self, found: Recorded) {
        self.unwritten.push(found);
    }

    /// Brings the file up to date: appends what is new, and has the disk keep it.
    pub fn flush(&mut self) -> Result<(), JournalError> {
        self.written = Instant::now();
        while let Some(next) = self.unwritten.first_mut() {
            match self.journal.append(next) {
                // A teacher of more rows than a line has room for will teach again.
                Err(JournalError::TooLong { .. }) if next.teacher.take().is_some() => {}
                appended => {
                    appended?;
                    self.saved += next.steps.len();
                    self.unwritten.remove(0);
                }
            }
        }
        self.journal.sync()
    }

    fn step(&mut self, path: PathId, fold: Option<usize>, step: &Step) {
        let found = Recorded::of(&mut self.unwritten, path, fold);
        found.steps.push(step.clone());
        if self.written.elapsed() >= self.every {
            // It stays unwritten where the disk refuses it.
            let _ = self.flush();
        }
    }

    /// Keeps the predictions of a teacher that are worth it: that took long.
    fn teacher(
        &mut self,
        path: PathId,
        fold: Option<usize>,
        predictions: &TeacherPredictions,
        took: Duration,
    ) {
        if !predictions.is_given() && took >= LONG.min(self.every) {
            let found = Recorded::of(&mut self.unwritten, path, fold);
            found.teacher = Some(predictions.clone());
            let _ = self.flush();
        }
    }

    /// The file.
    pub fn path(&self) -> &Path {
        self.journal.path()
    }

    /// Steps that a run that starts now would not have to search for.
    pub fn saved(&self) -> usize {
        self.saved
    }
}

impl Drop for Checkpointer {
    fn drop(&mut self) {
        if self.journal.is_empty() {
            // One that cannot be removed can be gone on with.
            let _ = self.journal.remove();
        }
    }
}

impl greedy::Observer for Checkpointer {
    fn event(&mut self, event: greedy::Event<'_>) -> ControlFlow<()> {
        match event {
            greedy::Event::TeacherTrained(path, predictions, took) => {
                self.teacher(path, None, predictions, took);
            }
            greedy::Event::Stepped(advance, _) if !advance.replayed => {
                self.step(advance.path, None, &advance.step);
            }
            _ => {}
        }
        ControlFlow::Continue(())
    }
}

impl tune::TuneObserver for Checkpointer {
    fn event(&mut self, event: tune::TuneEvent<'_>) -> ControlFlow<()> {
        match event {
            tune::TuneEvent::TeacherTrained {
                path,
                fold,
                predictions,
                took,
            } => self.teacher(path, fold, predictions, took),
            tune::TuneEvent::Stepped {
                path,
                fold,
                step,
                replayed: false,
                ..
            } => self.step(path, fold, step),
            _ => {}
        }
        ControlFlow::Continue(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{LabelScale, sample};
    use crate::greedy::StrategyKind;
    use crate::lambda::Lambda;

    /// Some findings, as no run makes them.
    fn found(strategy: StrategyKind, fold: Option<usize>, steps: u32) -> Recorded {
        let path = PathId {
            lambda: Lambda::new(4.0).unwrap(),
            strategy: strategy.into(),
            labels: LabelScale::Raw,
        };
        let step = |feature| Step {
            feature,
            lqo_error: 1.0 / 3.0,
            lqo_cindex: None,
            criterion: None,
            identical_columns: 0,
            evaluated: 1,
            alive: vec![3, 1],
        };
        Recorded {
            steps: (0..steps).map(step).collect(),
            ..Recorded::new(path, fold)
        }
    }

    /// Goes on with the checkpoint of a selection of three features, and ends it.
    fn resume(path: &Path) -> Result<Vec<Recorded>, CheckpointError> {
        let settings = SelectionOptions::new(3, None);
        let data = DataHash::of(&sample::test());
        let (_, all) = Checkpointer::open(path, Duration::ZERO, data, &settings, true)?;
        Ok(all)
    }

    fn keep(path: &Path, found: Recorded) {
        let settings = SelectionOptions::new(3, None);
        let data = DataHash::of(&sample::test());
        let open = Checkpointer::open(path, Duration::ZERO, data, &settings, true);
        let (mut checkpointer, _) = open.unwrap();
        checkpointer.keep(found);
        checkpointer.flush().unwrap();
    }

    #[test]
    fn a_flush_appends_what_is_new() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("run.checkpoint");
        let mut before = Vec::new();
        for steps in 1..=3 {
            keep(&path, found(StrategyKind::Dense, None, 1));
            let after = std::fs::read(&path).unwrap();
            assert!(after.starts_with(&before) && after.len() > before.len());
            before = after;
            assert_eq!(resume(&path).unwrap()[0].steps.len(), steps);
            assert_eq!(std::fs::read(&path).unwrap(), before);
        }
    }

    #[test]
    fn a_checkpoint_without_a_step_goes_away() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("run.checkpoint");
        assert!(resume(&path).unwrap().is_empty());
        assert!(!path.exists());
    }

    /// Their checksums are right, as only who makes them can.
    #[test]
    fn records_that_cannot_be_are_refused_with_their_line() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("run.checkpoint");
        for (other, reason) in [
            (
                found(StrategyKind::Dense, None, 3),
                "4 steps for 3 features",
            ),
            (found(StrategyKind::Dense, Some(0), 1), "another selection"),
            (found(StrategyKind::Distil, None, 1), "another selection"),
        ] {
            keep(&path, found(StrategyKind::Dense, None, 1));
            keep(&path, other);
            let before = std::fs::read(&path).unwrap();
            let error = resume(&path).unwrap_err().to_string();
            let place = "run.checkpoint:3:1: expected steps or a teacher of this run, found ";
            assert!(error.contains(place) && error.ends_with(reason), "{error}");
            assert_eq!(std::fs::read(&path).unwrap(), before);
            std::fs::remove_file(&path).unwrap();
        }
    }
}
