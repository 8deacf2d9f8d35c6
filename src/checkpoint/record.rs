//! The steps of a run so far with its settings, and writing them while the run goes on.

use std::collections::BTreeSet;
use std::io;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{CheckpointError, load, save};
use crate::data::{DataHash, Output};
use crate::greedy::{self, Lesson, SelectionOptions, Step, StrategyKind};
use crate::tune::{self, Event, Evidence, PathId, RecordedLesson, RecordedPath, TuneOptions};

/// The steps of a run so far.
pub trait Record: Serialize + DeserializeOwned {
    /// The settings that decide the outcome of the run, the training data aside.
    type Settings: Serialize;

    /// The kind of checkpoint, one word.
    const KIND: &'static str;

    /// Nothing yet, of the run that `settings` describe on data with the hash `data`.
    fn new(data: DataHash, settings: Self::Settings) -> Self;

    /// Hash of the training data, and the settings of the run.
    fn run(&self) -> (DataHash, &Self::Settings);

    /// Contents that no run can have written.
    fn fault(&self) -> Option<String>;

    /// Steps that have been found.
    fn steps(&self) -> usize;

    /// Writes the checkpoint.
    ///
    /// # Errors
    /// When the file cannot be written; the one before stays then.
    fn save(&self, path: &Path) -> io::Result<()> {
        save(path, Self::KIND, self)
    }

    /// Reads a checkpoint of the run that `settings` describe on data with the hash `data`.
    ///
    /// # Errors
    /// [`CheckpointError`] for a file that is none, or is one of another run.
    fn load(
        path: &Path,
        data: DataHash,
        settings: &Self::Settings,
    ) -> Result<Self, CheckpointError> {
        let record: Self = load(path, Self::KIND)?;
        let (then, settings_then) = record.run();
        let mut differences = Vec::new();
        if then != data {
            let hashes = format!("was {then} and is {data} now");
            differences.push(format!("the BLAKE3 hash of the data {hashes}"));
        }
        compare("", &json(settings_then), &json(settings), &mut differences);
        let path = path.to_owned();
        if !differences.is_empty() {
            return Err(CheckpointError::OtherRun { path, differences });
        }
        match record.fault() {
            Some(what) => Err(CheckpointError::Damaged { path, what }),
            None => Ok(record),
        }
    }
}

fn json(settings: &impl Serialize) -> Value {
    serde_json::to_value(settings).expect("settings have names for keys")
}

/// Adds a line to `differences` for each key whose values differ `then` and `now`. A key within
/// another has both names, joined by a dot; a missing key counts as null.
fn compare(name: &str, then: &Value, now: &Value, differences: &mut Vec<String>) {
    let keys: BTreeSet<&String> = match (then, now) {
        (Value::Object(one), Value::Object(other)) => one.keys().chain(other.keys()).collect(),
        (Value::Object(one), Value::Null) | (Value::Null, Value::Object(one)) => {
            one.keys().collect()
        }
        _ if then == now => return,
        _ => {
            let (name, then, now) = (name.replace('_', " "), text(then), text(now));
            return differences.push(format!("{name} was {then} and is {now} now"));
        }
    };
    for key in keys {
        let name = if name.is_empty() {
            key.clone()
        } else {
            format!("{name}.{key}")
        };
        let [then, now] = [then, now].map(|value| value.get(key).unwrap_or(&Value::Null));
        compare(&name, then, now, differences);
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

/// The steps of a selection so far.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Progress {
    /// Hash of the data.
    pub data: DataHash,
    /// The settings of the run.
    pub settings: SelectionOptions,
    /// The strategy that does it: what `auto` took, once it has.
    pub strategy: Option<StrategyKind>,
    /// What the teacher taught, if that took long.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lesson: Option<Lesson>,
    /// The steps taken.
    pub steps: Vec<Step>,
}

impl<'a> From<&'a Progress> for greedy::Earlier<'a> {
    fn from(progress: &'a Progress) -> Self {
        Self {
            steps: &progress.steps,
            lesson: progress.lesson.as_ref(),
        }
    }
}

impl Record for Progress {
    type Settings = SelectionOptions;

    const KIND: &'static str = "selection";

    fn new(data: DataHash, settings: SelectionOptions) -> Self {
        Self {
            data,
            settings,
            strategy: settings.strategy,
            lesson: None,
            steps: Vec::new(),
        }
    }

    fn run(&self) -> (DataHash, &SelectionOptions) {
        (self.data, &self.settings)
    }

    fn fault(&self) -> Option<String> {
        let (steps, k) = (self.steps.len(), self.settings.k);
        (steps > k).then(|| format!("{steps} steps for {k} features"))
    }

    fn steps(&self) -> usize {
        self.steps.len()
    }
}

/// The steps of a tuning so far.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tuning {
    /// Hash of the training data.
    pub data: DataHash,
    /// The settings of the run. Metrics that are taken besides have no part in it.
    pub settings: TuneOptions,
    /// What teachers taught, if that took long.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lessons: Vec<RecordedLesson>,
    /// The steps taken, for each path that has been planned.
    pub taken: Vec<RecordedPath>,
}

impl<'a> From<&'a Tuning> for tune::Earlier<'a> {
    fn from(tuning: &'a Tuning) -> Self {
        Self {
            paths: &tuning.taken,
            lessons: &tuning.lessons,
        }
    }
}

impl Record for Tuning {
    type Settings = TuneOptions;

    const KIND: &'static str = "tuning";

    fn new(data: DataHash, settings: TuneOptions) -> Self {
        Self {
            data,
            settings,
            lessons: Vec::new(),
            taken: Vec::new(),
        }
    }

    fn run(&self) -> (DataHash, &TuneOptions) {
        (self.data, &self.settings)
    }

    fn fault(&self) -> Option<String> {
        let k = self.settings.selection.k;
        let folds = match self.settings.evidence {
            Evidence::Folds { count, .. } => count,
            _ => 0,
        };
        let mut before: Vec<PathId> = Vec::new();
        let lambdas = self.settings.lambdas.numbers();
        let selections = self.settings.selections();
        for taken in &self.taken {
            let PathId {
                lambda,
                strategy,
                labels,
            } = taken.path;
            let asked = selections.iter().any(|options| {
                options.strategy.is_none_or(|asked| asked == strategy)
                    && options.target.label_scale(strategy) == labels
            });
            let foreign = lambdas.as_ref().is_some_and(|all| !all.contains(&lambda)) || !asked;
            if foreign || before.contains(&taken.path) {
                return Some(format!(
                    "steps of {strategy} with lambda {lambda}, or twice as many"
                ));
            }
            before.push(taken.path);
            if taken.folds.len() > folds {
                return Some(format!("{} folds of {folds}", taken.folds.len()));
            }
            let mut runs = std::iter::once(&taken.steps).chain(&taken.folds);
            if let Some(run) = runs.find(|run| run.len() > k) {
                return Some(format!("{} steps for {k} features", run.len()));
            }
        }
        None
    }

    fn steps(&self) -> usize {
        self.taken.iter().map(RecordedPath::count).sum()
    }
}

/// A teacher that took so long is kept, or as long as checkpoints are apart if that is less.
const LONG: Duration = Duration::from_secs(2);

/// An observer that writes a checkpoint after a step, unless it wrote one a moment ago, and after a
/// teacher that took more than two seconds.
///
/// That a checkpoint cannot be written does not stop the run: the one before stays, and
/// [`error`](Self::error) tells.
#[derive(Debug)]
pub struct Checkpointer<R = Progress> {
    path: PathBuf,
    every: Duration,
    /// When a checkpoint was last written, or tried to be.
    written: Instant,
    /// Steps in the file.
    saved: usize,
    /// Whether the record has more than the file.
    changed: bool,
    record: R,
    error: Option<io::Error>,
}

impl<R: Record> Checkpointer<R> {
    /// Goes on from `record`, usually without steps, and sees at once whether `path` can be written,
    /// where a run that takes no step leaves nothing; writes there after steps that end `every` or
    /// more after the last time.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn new(path: &Path, every: Duration, record: R) -> io::Result<Self> {
        drop(Output::create(path)?);
        Ok(Self {
            path: path.to_owned(),
            every,
            written: Instant::now(),
            saved: record.steps(),
            changed: false,
            record,
            error: None,
        })
    }

    /// Brings the file up to date.
    pub fn flush(&mut self) {
        if !self.changed {
            return;
        }
        self.written = Instant::now();
        match self.record.save(&self.path) {
            Ok(()) => {
                self.saved = self.record.steps();
                self.changed = false;
                self.error = None;
            }
            Err(error) => self.error = Some(error),
        }
    }

    /// Whether the lesson of a teacher that took so long is worth keeping.
    fn keeps(&self, lesson: &Lesson, took: Duration) -> bool {
        !lesson.is_given() && took >= LONG.min(self.every)
    }

    /// Brings the file up to date after a step, unless it did a moment ago.
    fn write(&mut self) {
        self.changed = true;
        if self.written.elapsed() >= self.every {
            self.flush();
        }
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Steps that a run that starts now would not have to search for.
    pub fn saved(&self) -> usize {
        self.saved
    }

    /// Why the last checkpoint could not be written.
    pub fn error(&self) -> Option<&io::Error> {
        self.error.as_ref()
    }
}

impl greedy::Observer for Checkpointer<Progress> {
    fn event(&mut self, event: greedy::Event<'_>) -> ControlFlow<()> {
        match event {
            greedy::Event::Taught(lesson, took) if self.keeps(lesson, took) => {
                self.record.lesson = Some(lesson.clone());
                self.changed = true;
                self.flush();
            }
            greedy::Event::Started(plan) => self.record.strategy = Some(plan.strategy),
            greedy::Event::Stepped(advance, _) if !advance.replayed => {
                self.record.steps.push(advance.step.clone());
                self.write();
            }
            _ => {}
        }
        ControlFlow::Continue(())
    }
}

impl tune::Observer for Checkpointer<Tuning> {
    fn event(&mut self, event: Event<'_>) -> ControlFlow<()> {
        match event {
            Event::Taught(lesson, took) if self.keeps(&lesson.lesson, took) => {
                self.record.lessons.push(lesson.clone());
                self.changed = true;
                self.flush();
            }
            Event::Planned(path) => {
                let taken = &mut self.record.taken;
                if !taken.iter().any(|taken| taken.path == path) {
                    taken.push(RecordedPath::new(path));
                }
            }
            Event::Stepped(step) if !step.replayed => {
                let mut taken = self.record.taken.iter_mut();
                if let Some(taken) = taken.find(|taken| taken.path == step.path) {
                    taken.of_mut(step.fold).push(step.step.clone());
                }
                self.write();
            }
            _ => {}
        }
        ControlFlow::Continue(())
    }
}
