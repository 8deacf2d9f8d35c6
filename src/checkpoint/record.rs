//! What a run has found so far, for what it looked, and writing it while the run goes on.

use std::fmt;
use std::io;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::{CheckpointError, load, save};
use crate::Lambda;
use crate::data::DataHash;
use crate::greedy::{
    Criterion, Observer, Plan, SelectionOptions, State, Step, StrategyKind, TargetOptions,
};
use crate::metrics::{Convention, Gain};
use crate::tune::{self, Evidence, GridStep, Measure, RecordedPath, Rule, TuneOptions};

/// What a run has found so far.
pub trait Record: Serialize + DeserializeOwned {
    /// What decides the outcome of the run, the training data aside.
    type Settings;

    /// The kind of checkpoint, one word.
    const KIND: &'static str;

    /// Nothing yet, of the run that `settings` describe on data with the hash `data`.
    fn new(data: DataHash, settings: Self::Settings) -> Self;

    /// Hash of the training data.
    fn data(&self) -> DataHash;

    /// Says of each setting that is another one `now` what it was and is.
    fn differences(&self, now: &Self::Settings) -> Vec<String>;

    /// What no run can have found.
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
        let (then, now) = (record.data().to_string(), data.to_string());
        let mut differences = changes([("the BLAKE3 hash of the data", then, now)]);
        differences.extend(record.differences(settings));
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

/// Says which settings, each with its name, are others now than they were then.
fn changes<const N: usize>(settings: [(&str, String, String); N]) -> Vec<String> {
    let changed = settings.into_iter().filter(|(_, then, now)| then != now);
    changed
        .map(|(what, then, now)| format!("{what} was {then} and is {now} now"))
        .collect()
}

/// The same of a selection. The memory allowed has no part.
fn selection_changes(then: &SelectionOptions, now: &SelectionOptions) -> Vec<String> {
    let strategy = |options: &SelectionOptions| {
        let kind = options.strategy;
        kind.map_or_else(|| "auto".to_owned(), |kind| kind.to_string())
    };
    let sample = |options: &SelectionOptions| {
        let size = options.sample;
        size.map_or_else(|| "the strategy's own".to_owned(), |size| size.to_string())
    };
    let criterion = |options: &SelectionOptions| match options.criterion {
        Criterion::Squared => options.criterion.to_string(),
        Criterion::Ranking {
            convention,
            shortlist,
            ..
        } => {
            let of =
                shortlist.map_or_else(String::new, |count| format!(" of a shortlist of {count}"));
            format!("{} ({convention}){of}", options.criterion)
        }
    };
    let weight = |options: &SelectionOptions| options.query_weight.to_string();
    let target = |options: &SelectionOptions| {
        let TargetOptions {
            labels,
            refit,
            blend,
            teacher_lambda,
        } = options.target;
        let or_default = |given: Option<String>| given.unwrap_or_else(|| "the default".to_owned());
        [
            labels.to_string(),
            or_default(refit.map(|refit| refit.to_string())),
            or_default(blend.map(|blend| blend.to_string())),
            or_default(teacher_lambda.map(|lambdas| lambdas.to_string())),
        ]
    };
    let [
        [then_labels, then_refit, then_blend, then_teacher],
        [now_labels, now_refit, now_blend, now_teacher],
    ] = [target(then), target(now)];
    changes([
        ("strategy", strategy(then), strategy(now)),
        ("lambda", then.lambda.to_string(), now.lambda.to_string()),
        ("k", then.k.to_string(), now.k.to_string()),
        ("candidates", sample(then), sample(now)),
        ("seed", then.seed.to_string(), now.seed.to_string()),
        ("criterion", criterion(then), criterion(now)),
        ("query weight", weight(then), weight(now)),
        ("the scale of labels", then_labels, now_labels),
        ("refit", then_refit, now_refit),
        ("blend", then_blend, now_blend),
        ("teacher's lambdas", then_teacher, now_teacher),
        ("scale", then.scale.to_string(), now.scale.to_string()),
    ])
}

/// What a selection has found so far.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Progress {
    /// Hash of the data.
    pub data: DataHash,
    /// What was asked for.
    pub settings: SelectionOptions,
    /// The strategy that does it: what `auto` took, once it has.
    pub strategy: Option<StrategyKind>,
    /// The steps taken.
    pub steps: Vec<Step>,
}

impl Record for Progress {
    type Settings = SelectionOptions;

    const KIND: &'static str = "selection";

    fn new(data: DataHash, settings: SelectionOptions) -> Self {
        Self {
            data,
            settings,
            strategy: settings.strategy,
            steps: Vec::new(),
        }
    }

    fn data(&self) -> DataHash {
        self.data
    }

    fn differences(&self, now: &SelectionOptions) -> Vec<String> {
        selection_changes(&self.settings, now)
    }

    fn fault(&self) -> Option<String> {
        let (steps, k) = (self.steps.len(), self.settings.k);
        (steps > k).then(|| format!("{steps} steps for {k} features"))
    }

    fn steps(&self) -> usize {
        self.steps.len()
    }
}

/// What decides the outcome of a tuning, data aside. Metrics that are taken besides have no part.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TuningSettings {
    /// The grid, ascending.
    pub lambdas: Vec<Lambda>,
    /// Where predictions come from.
    pub evidence: EvidenceSettings,
    /// What models are judged by.
    pub measure: Measure,
    /// Convention of the measure.
    pub convention: Convention,
    /// The least label of a relevant document, where it is given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub relevant_from: Option<f64>,
    /// Gain of a grade.
    #[serde(default, skip_serializing_if = "Gain::is_default")]
    pub gain: Gain,
    /// The largest grade, where it is given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_grade: Option<f64>,
    /// How the model is chosen.
    pub rule: Rule,
    /// What all selections have in common; its lambda stands for any.
    pub selection: SelectionOptions,
}

/// Where the predictions come from that models are judged by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase", deny_unknown_fields)]
pub enum EvidenceSettings {
    /// Leave-query-out predictions.
    Lqo,
    /// Other data.
    Validation {
        /// Their hash.
        data: DataHash,
    },
    /// Cross-validation over queries.
    Folds {
        /// Folds.
        count: usize,
        /// Seed of the partition.
        seed: u64,
    },
}

impl fmt::Display for EvidenceSettings {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Lqo => formatter.write_str("leave-query-out predictions"),
            Self::Validation { data } => write!(formatter, "validation data with the hash {data}"),
            Self::Folds { count, seed } => write!(formatter, "{count} folds of the seed {seed}"),
        }
    }
}

impl From<&TuneOptions<'_>> for TuningSettings {
    fn from(options: &TuneOptions<'_>) -> Self {
        Self {
            lambdas: options.lambdas.clone(),
            evidence: match options.evidence {
                Evidence::Lqo => EvidenceSettings::Lqo,
                Evidence::Validation(dataset) => EvidenceSettings::Validation {
                    data: DataHash::of(dataset),
                },
                Evidence::Folds { count, seed } => EvidenceSettings::Folds { count, seed },
            },
            measure: options.measure,
            convention: options.rules.convention,
            relevant_from: options.rules.relevant_from,
            gain: options.rules.gain,
            max_grade: options.rules.max_grade,
            rule: options.rule,
            selection: options.selection,
        }
    }
}

/// What a tuning has found so far.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tuning {
    /// Hash of the training data.
    pub data: DataHash,
    /// What was asked for.
    pub settings: TuningSettings,
    /// The steps taken, a lambda each that has been planned.
    pub taken: Vec<RecordedPath>,
}

impl Record for Tuning {
    type Settings = TuningSettings;

    const KIND: &'static str = "tuning";

    fn new(data: DataHash, settings: TuningSettings) -> Self {
        Self {
            data,
            settings,
            taken: Vec::new(),
        }
    }

    fn data(&self) -> DataHash {
        self.data
    }

    fn differences(&self, now: &TuningSettings) -> Vec<String> {
        let then = &self.settings;
        let lambdas = |settings: &TuningSettings| {
            let lambdas = settings.lambdas.iter().map(Lambda::to_string);
            lambdas.collect::<Vec<_>>().join(",")
        };
        let rule = |settings: &TuningSettings| match settings.rule {
            Rule::MinImprovement { least, patience } => {
                format!("{} by {least} in {patience} steps", settings.rule.name())
            }
            rule => rule.name().to_owned(),
        };
        let text = |value: &dyn fmt::Display| value.to_string();
        let label = |label: Option<f64>| {
            label.map_or_else(|| "not given".to_owned(), |label| label.to_string())
        };
        let mut differences = changes([
            ("the grid of lambdas", lambdas(then), lambdas(now)),
            ("evidence", text(&then.evidence), text(&now.evidence)),
            ("measure", text(&then.measure), text(&now.measure)),
            ("convention", text(&then.convention), text(&now.convention)),
            (
                "the least relevant label",
                label(then.relevant_from),
                label(now.relevant_from),
            ),
            ("gain", text(&then.gain), text(&now.gain)),
            (
                "the largest grade",
                label(then.max_grade),
                label(now.max_grade),
            ),
            ("rule", rule(then), rule(now)),
        ]);
        differences.extend(selection_changes(&then.selection, &now.selection));
        differences
    }

    fn fault(&self) -> Option<String> {
        let k = self.settings.selection.k;
        let folds = match self.settings.evidence {
            EvidenceSettings::Folds { count, .. } => count,
            _ => 0,
        };
        let mut before: Vec<Lambda> = Vec::new();
        for taken in &self.taken {
            let lambda = taken.lambda;
            if !self.settings.lambdas.contains(&lambda) || before.contains(&lambda) {
                return Some(format!("steps with lambda {lambda}, or twice as many"));
            }
            before.push(lambda);
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

/// An observer that writes a checkpoint after a step, unless it wrote one a moment ago.
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
    record: R,
    error: Option<io::Error>,
}

impl<R: Record> Checkpointer<R> {
    /// Goes on from `record`, usually without steps, and writes to `path` at once, so that
    /// it is known to be possible; then after steps that end `every` or more after the last
    /// time.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn new(path: &Path, every: Duration, record: R) -> io::Result<Self> {
        record.save(path)?;
        Ok(Self {
            path: path.to_owned(),
            every,
            written: Instant::now(),
            saved: record.steps(),
            record,
            error: None,
        })
    }

    /// Writes what is not yet in the file.
    pub fn flush(&mut self) {
        if self.saved == self.record.steps() {
            return;
        }
        self.written = Instant::now();
        match self.record.save(&self.path) {
            Ok(()) => {
                self.saved = self.record.steps();
                self.error = None;
            }
            Err(error) => self.error = Some(error),
        }
    }

    /// Writes what is new, unless it wrote a moment ago.
    fn write(&mut self) {
        if self.written.elapsed() >= self.every {
            self.flush();
        }
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

impl Observer for Checkpointer<Progress> {
    fn started(&mut self, plan: &Plan) {
        self.record.strategy = Some(plan.strategy);
    }

    fn replayed(&mut self, _: usize, _: &Step, _: &State) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }

    fn stepped(&mut self, _: usize, step: &Step, _: &State) -> ControlFlow<()> {
        if step.lqo_error.is_finite() {
            self.record.steps.push(step.clone());
            self.write();
        }
        ControlFlow::Continue(())
    }
}

impl tune::Observer for Checkpointer<Tuning> {
    fn planned(&mut self, lambda: Lambda, strategy: StrategyKind) {
        let taken = &mut self.record.taken;
        if taken.iter().all(|taken| taken.lambda != lambda) {
            taken.push(RecordedPath {
                lambda,
                strategy,
                steps: Vec::new(),
                folds: Vec::new(),
            });
        }
    }

    fn stepped(&mut self, step: &GridStep<'_>) -> ControlFlow<()> {
        if !step.replayed {
            let mut taken = self.record.taken.iter_mut();
            if let Some(taken) = taken.find(|taken| taken.lambda == step.lambda) {
                taken.of_mut(step.fold).push(step.step.clone());
            }
            self.write();
        }
        ControlFlow::Continue(())
    }
}
