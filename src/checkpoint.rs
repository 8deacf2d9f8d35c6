//! Checkpoint files: the steps of a long run, to go on from after the process has ended,
//! however it ended.
//!
//! A checkpoint is a line and a JSON document:
//!
//! ```text
//! rankrls.checkpoint/1 selection 5120 3f9a...e1
//! {"data": "...", ...}
//! ```
//!
//! The line has the schema, what kind of run it is, the bytes of the document and their BLAKE3
//! hash, so that a file that was cut off, changed or mixed up is told from a whole one. It is
//! written beside the old one and then takes its name ([`Output`]), so that there is a whole
//! checkpoint at any time, and floats are written so that they read back to the same bits.
//!
//! A [`Record`] is what a file holds: the [`Progress`] of a selection or a [`Tuning`]. A
//! [`Checkpointer`] writes one while a run goes on.

use std::collections::BTreeSet;
use std::io::{self, Write};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use thiserror::Error;

use crate::data::read::ReadError;
use crate::data::{DataHash, Output};
use crate::greedy::{self, SelectionOptions, Step, StrategyKind, TeacherPredictions};
use crate::tune::{self, Event, Evidence, PathId, RecordedPath, RecordedTeacher, TuneOptions};
use rankrls_files::read_whole;

/// The schema of checkpoint files.
pub const SCHEMA: &str = "rankrls.checkpoint/1";

/// Most bytes that are taken for a checkpoint.
const LARGEST: u64 = 1 << 30;

/// Most bytes of the first line.
const LONGEST_HEADER: usize = 256;

/// A checkpoint that no run can go on from.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum CheckpointError {
    /// The file cannot be read.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// The file is something else.
    #[error("{} is no checkpoint of rankrls: its first line should be `rankrls.checkpoint/1 ...`", .0.display())]
    Foreign(PathBuf),
    /// A checkpoint of another kind or version.
    #[error("{path}: expected {expected}, found {found}", path = path.display())]
    Other {
        /// The file.
        path: PathBuf,
        /// The schema and kind to go on from.
        expected: String,
        /// The schema or kind of the file.
        found: String,
    },
    /// The file was cut off or changed: with the damage.
    #[error("{} is damaged: found {}; remove it to start anew", .0.display(), .1)]
    Damaged(PathBuf, String),
    /// A checkpoint of other data or with other options: with the differences.
    #[error("{} is of another run: {}", .0.display(), .1.join("; "))]
    OtherRun(PathBuf, Vec<String>),
}

/// Reads the checkpoint of a run of this `kind` from the bytes of a file, which messages call `path`.
/// Whatever they are, memory stays in proportion to their number.
///
/// # Errors
/// [`CheckpointError`] for bytes that are no whole checkpoint of this kind.
pub fn parse<T: DeserializeOwned>(
    bytes: &[u8],
    path: &Path,
    kind: &str,
) -> Result<T, CheckpointError> {
    let header = || {
        let end = memchr::memchr(b'\n', &bytes[..bytes.len().min(LONGEST_HEADER)])?;
        let line = std::str::from_utf8(&bytes[..end]).ok()?;
        let words: Vec<&str> = line.split(' ').collect();
        let [schema, kind, length, hash] = words[..] else {
            return None;
        };
        let length: usize = length.parse().ok()?;
        Some((schema, kind, length, hash, &bytes[end + 1..]))
    };
    let foreign = || CheckpointError::Foreign(path.to_owned());
    let (schema, found, length, hash, document) = header().ok_or_else(foreign)?;
    if (schema, found) != (SCHEMA, kind) {
        if !schema.starts_with("rankrls.checkpoint/") {
            return Err(foreign());
        }
        return Err(CheckpointError::Other {
            path: path.to_owned(),
            expected: format!("{SCHEMA} of the kind {kind}"),
            found: match schema {
                SCHEMA => format!("one of a run of the kind {found}"),
                _ => format!("{schema}, written by another version of rankrls"),
            },
        });
    }
    let damaged = |what: String| CheckpointError::Damaged(path.to_owned(), what);
    if document.len() != length {
        let found = document.len();
        return Err(damaged(format!(
            "{found} bytes where {length} were written"
        )));
    }
    if blake3::hash(document).to_hex().as_str() != hash {
        return Err(damaged(
            "content that does not have the hash it was written with".to_owned(),
        ));
    }
    serde_json::from_slice(document).map_err(|error| damaged(error.to_string()))
}

/// The steps of a run so far.
pub trait Record: Serialize + DeserializeOwned {
    /// The settings that decide the outcome of the run, the training data aside.
    type Settings: Clone;

    /// The kind of checkpoint, one word.
    const KIND: &'static str;

    /// Nothing yet, of the run that `settings` describe on data with the hash `data`.
    fn new(data: DataHash, settings: Self::Settings) -> Self;

    /// Contents that no run can have written.
    fn fault(&self) -> Option<String>;

    /// Steps that have been found.
    fn steps(&self) -> usize;

    /// Writes the checkpoint. An earlier file stays until all is written and has reached the disk.
    ///
    /// # Errors
    /// When the file cannot be written.
    fn save(&self, path: &Path) -> io::Result<()> {
        let document = serde_json::to_vec(self)?;
        let (kind, hash) = (Self::KIND, blake3::hash(&document).to_hex());
        let mut output = Output::create(path)?;
        writeln!(output, "{SCHEMA} {kind} {} {hash}", document.len())?;
        output.write_all(&document)?;
        output.finish()
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
        let record: Self = parse(&read_whole(path, LARGEST)?, path, Self::KIND)?;
        let new = Self::new(data, settings.clone());
        let [then, now] = [&record, &new]
            .map(|record| serde_json::to_value(record).expect("records have names for keys"));
        let mut differences = Vec::new();
        for (name, key) in [("the BLAKE3 hash of the data", "data"), ("", "settings")] {
            compare(name, &then[key], &now[key], &mut differences);
        }
        let path = path.to_owned();
        if !differences.is_empty() {
            return Err(CheckpointError::OtherRun(path, differences));
        }
        match record.fault() {
            Some(what) => Err(CheckpointError::Damaged(path, what)),
            None => Ok(record),
        }
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
    /// The predictions of the teacher, if they took long.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub teacher: Option<TeacherPredictions>,
    /// The steps taken.
    pub steps: Vec<Step>,
}

impl<'a> From<&'a Progress> for greedy::Earlier<'a> {
    fn from(progress: &'a Progress) -> Self {
        Self {
            steps: &progress.steps,
            teacher: progress.teacher.as_ref(),
        }
    }
}

impl Record for Progress {
    type Settings = SelectionOptions;

    const KIND: &'static str = "selection";

    fn new(data: DataHash, settings: SelectionOptions) -> Self {
        Self {
            data,
            strategy: settings.strategy,
            settings,
            teacher: None,
            steps: Vec::new(),
        }
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
    /// The predictions of teachers, if they took long.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub teachers: Vec<RecordedTeacher>,
    /// The steps taken, for each path that has been planned.
    pub taken: Vec<RecordedPath>,
}

impl<'a> From<&'a Tuning> for tune::Earlier<'a> {
    fn from(tuning: &'a Tuning) -> Self {
        Self {
            paths: &tuning.taken,
            teachers: &tuning.teachers,
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
            teachers: Vec::new(),
            taken: Vec::new(),
        }
    }

    fn fault(&self) -> Option<String> {
        let k = self.settings.selection.k;
        let folds = match self.settings.evidence {
            Evidence::Folds { count, .. } => count,
            _ => 0,
        };
        let lambdas = self.settings.lambdas.numbers();
        let selections = self.settings.selections();
        for (place, taken) in self.taken.iter().enumerate() {
            let PathId {
                lambda,
                strategy,
                labels,
            } = taken.path;
            let asked = selections.iter().any(|options| {
                options.strategy.is_none_or(|asked| Some(asked) == strategy)
                    && options.target.label_scale(strategy) == labels
            });
            let foreign = lambdas.as_ref().is_some_and(|all| !all.contains(&lambda)) || !asked;
            let mut before = self.taken[..place].iter();
            if foreign || before.any(|before| before.path == taken.path) {
                let strategy = strategy.map_or(greedy::OWN, StrategyKind::name);
                return Some(format!(
                    "steps of {strategy} with lambda {lambda}, or twice as many"
                ));
            }
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
/// A checkpoint that cannot be written does not stop the run: the one before stays, and
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

    /// Whether predictions that took so long are worth keeping.
    fn keeps(&self, predictions: &TeacherPredictions, took: Duration) -> bool {
        !predictions.is_given() && took >= LONG.min(self.every)
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
            greedy::Event::TeacherTrained(predictions, took) if self.keeps(predictions, took) => {
                self.record.teacher = Some(predictions.clone());
                self.changed = true;
                self.flush();
            }
            greedy::Event::Started(plan) => self.record.strategy = plan.strategy.kind(),
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
            Event::TeacherTrained(teacher, took) if self.keeps(&teacher.predictions, took) => {
                self.record.teachers.push(teacher.clone());
                self.changed = true;
                self.flush();
            }
            Event::Planned(path) => {
                let taken = &mut self.record.taken;
                if !taken.iter().any(|taken| taken.path == path) {
                    taken.push(RecordedPath::new(path));
                }
            }
            Event::Stepped {
                path,
                fold,
                step,
                replayed: false,
                ..
            } => {
                let mut taken = self.record.taken.iter_mut();
                if let Some(taken) = taken.find(|taken| taken.path == path) {
                    taken.of_mut(fold).push(step.clone());
                }
                self.write();
            }
            _ => {}
        }
        ControlFlow::Continue(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::sample;

    fn saved() -> Vec<u8> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("run.checkpoint");
        let data = DataHash::of(&sample::test());
        let settings = SelectionOptions::new(3, None);
        let progress = Progress::new(data, settings.clone());
        progress.save(&path).unwrap();
        assert_eq!(Progress::load(&path, data, &settings).unwrap(), progress);
        std::fs::read(path).unwrap()
    }

    fn read(bytes: &[u8], kind: &str) -> Result<Progress, CheckpointError> {
        parse(bytes, Path::new("run"), kind)
    }

    #[test]
    fn every_cut_and_every_changed_byte_is_seen() {
        let whole = saved();
        assert!(read(&whole, "selection").is_ok());
        for end in 0..whole.len() {
            assert!(read(&whole[..end], "selection").is_err(), "cut at {end}");
        }
        for place in 0..whole.len() {
            let mut changed = whole.clone();
            changed[place] ^= 1;
            assert!(read(&changed, "selection").is_err(), "changed at {place}");
        }
        let longer = [&whole[..], b" "].concat();
        let error = read(&longer, "selection").unwrap_err();
        assert!(matches!(error, CheckpointError::Damaged(..)));
    }

    #[test]
    fn other_files_are_told_apart() {
        let text = |bytes: &[u8], kind| read(bytes, kind).unwrap_err().to_string();
        let whole = saved();
        assert!(text(&whole, "tuning").contains("a run of the kind selection"));
        assert!(text(b"{\"schema\": 1}\n", "selection").contains("no checkpoint"));
        let next = String::from_utf8(whole).unwrap();
        let next = next.replace("checkpoint/1", "checkpoint/9");
        assert!(text(next.as_bytes(), "selection").contains("another version"));
    }
}
