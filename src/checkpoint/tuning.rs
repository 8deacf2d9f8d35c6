//! What a tuning has found so far, and for what it looked.

use std::fmt;
use std::io;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::progress::{differences, same_run};
use super::{CheckpointError, Difference, Record, load, save};
use crate::Lambda;
use crate::data::DataHash;
use crate::greedy::{SelectionOptions, StrategyKind};
use crate::metrics::Convention;
use crate::tune::{GridStep, Measure, Options, RecordedPath, Rule};

/// The kind of checkpoint.
const KIND: &str = "tuning";

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

impl From<&Options<'_>> for TuningSettings {
    fn from(options: &Options<'_>) -> Self {
        options.settings()
    }
}

impl TuningSettings {
    /// What differs between a checkpoint with these settings and a run with `now`.
    pub fn differences(&self, now: &Self) -> Vec<Difference> {
        let lambdas = |settings: &Self| {
            let lambdas = settings.lambdas.iter().map(Lambda::to_string);
            lambdas.collect::<Vec<_>>().join(",")
        };
        let rule = |rule: Rule| match rule {
            Rule::Best | Rule::OneSe => rule.name().to_owned(),
            Rule::MinImprovement { least, patience } => {
                format!("{} by {least} in {patience} steps", rule.name())
            }
        };
        let text = |now: &dyn fmt::Display| now.to_string();
        let mut found = Difference::among([
            ("the grid of lambdas", lambdas(self), lambdas(now)),
            ("evidence", text(&self.evidence), text(&now.evidence)),
            ("measure", text(&self.measure), text(&now.measure)),
            ("convention", text(&self.convention), text(&now.convention)),
            ("rule", rule(self.rule), rule(now.rule)),
        ]);
        found.extend(differences(&self.selection, &now.selection));
        found
    }

    /// Folds that are selected without.
    fn folds(&self) -> usize {
        match self.evidence {
            EvidenceSettings::Folds { count, .. } => count,
            _ => 0,
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

impl Tuning {
    /// Nothing yet, of the tuning that `settings` describe on data with the hash `data`.
    pub fn new(data: DataHash, settings: TuningSettings) -> Self {
        Self {
            data,
            settings,
            taken: Vec::new(),
        }
    }

    /// Reads a checkpoint of the tuning that `settings` describe on data with the hash `data`.
    ///
    /// # Errors
    /// [`CheckpointError`] for a file that is none, or is one of another tuning.
    pub fn load(
        path: &Path,
        data: DataHash,
        settings: &TuningSettings,
    ) -> Result<Self, CheckpointError> {
        let tuning: Self = load(path, KIND)?;
        let differences = tuning.settings.differences(settings);
        same_run(path, (tuning.data, data), differences)?;
        match tuning.fault() {
            None => Ok(tuning),
            Some(what) => Err(CheckpointError::Damaged {
                path: path.to_owned(),
                what,
            }),
        }
    }

    /// Writes the checkpoint.
    ///
    /// # Errors
    /// When the file cannot be written; the one before stays then.
    pub fn save(&self, path: &Path) -> io::Result<()> {
        save(path, KIND, self)
    }

    /// What cannot be so.
    fn fault(&self) -> Option<String> {
        let (k, folds) = (self.settings.selection.k, self.settings.folds());
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

    /// Steps of `lambda`, none yet, will be by `strategy`, unless some are already.
    pub(super) fn plan(&mut self, lambda: Lambda, strategy: StrategyKind) {
        if self.taken.iter().all(|taken| taken.lambda != lambda) {
            self.taken.push(RecordedPath {
                lambda,
                strategy,
                steps: Vec::new(),
                folds: Vec::new(),
            });
        }
    }

    pub(super) fn add(&mut self, step: &GridStep<'_>) {
        let mut taken = self.taken.iter_mut();
        if let Some(taken) = taken.find(|taken| taken.lambda == step.lambda) {
            taken.of_mut(step.fold).push(step.step.clone());
        }
    }
}

impl Record for Tuning {
    fn save(&self, path: &Path) -> io::Result<()> {
        self.save(path)
    }

    fn steps(&self) -> usize {
        self.taken.iter().map(RecordedPath::count).sum()
    }
}
