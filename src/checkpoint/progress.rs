//! What a selection has found so far, and for what it looked.

use std::fmt;
use std::io;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::{CheckpointError, Record, load, save};
use crate::data::DataHash;
use crate::greedy::{Criterion, SelectionOptions, Step, StrategyKind};

/// The kind of checkpoint.
const KIND: &str = "selection";

/// A setting of a checkpoint that is another one now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Difference {
    /// The setting.
    pub what: &'static str,
    /// What it was.
    pub then: String,
    /// What it is.
    pub now: String,
}

impl Difference {
    /// Those of the settings (name, then, now) that are others now.
    pub(super) fn among<const N: usize>(pairs: [(&'static str, String, String); N]) -> Vec<Self> {
        let differ = pairs.into_iter().filter(|(_, then, now)| then != now);
        differ
            .map(|(what, then, now)| Self { what, then, now })
            .collect()
    }
}

impl fmt::Display for Difference {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { what, then, now } = self;
        write!(formatter, "{what} was {then} and is {now} now")
    }
}

/// What differs between a selection of a checkpoint, by the options `then`, and one by `now`.
/// The memory allowed has no part.
pub(super) fn differences(then: &SelectionOptions, now: &SelectionOptions) -> Vec<Difference> {
    let strategy = |kind: Option<StrategyKind>| {
        kind.map_or_else(|| "auto".to_owned(), |kind| kind.to_string())
    };
    let sample = |size: Option<usize>| {
        size.map_or_else(|| "the strategy's own".to_owned(), |size| size.to_string())
    };
    let criterion = |criterion: Criterion| match criterion {
        Criterion::Squared => criterion.to_string(),
        Criterion::Ranking { convention, .. } => format!("{criterion} ({convention})"),
    };
    let pairs = [
        ("strategy", strategy(then.strategy), strategy(now.strategy)),
        ("lambda", then.lambda.to_string(), now.lambda.to_string()),
        ("k", then.k.to_string(), now.k.to_string()),
        ("candidates", sample(then.sample), sample(now.sample)),
        ("seed", then.seed.to_string(), now.seed.to_string()),
        (
            "criterion",
            criterion(then.criterion),
            criterion(now.criterion),
        ),
        (
            "query weight",
            then.query_weight.to_string(),
            now.query_weight.to_string(),
        ),
    ];
    Difference::among(pairs)
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

impl Progress {
    /// Nothing yet, of the selection that `settings` describe on data with the hash `data`.
    pub fn new(data: DataHash, settings: SelectionOptions) -> Self {
        Self {
            data,
            settings,
            strategy: settings.strategy,
            steps: Vec::new(),
        }
    }

    /// Reads a checkpoint of the selection that `settings` describe on data with the hash
    /// `data`.
    ///
    /// # Errors
    /// [`CheckpointError`] for a file that is none, or is one of another selection.
    pub fn load(
        path: &Path,
        data: DataHash,
        settings: &SelectionOptions,
    ) -> Result<Self, CheckpointError> {
        let progress: Self = load(path, KIND)?;
        let differences = differences(&progress.settings, settings);
        if progress.steps.len() > settings.k {
            return Err(CheckpointError::Damaged {
                path: path.to_owned(),
                what: format!("{} steps for {} features", progress.steps.len(), settings.k),
            });
        }
        same_run(path, (progress.data, data), differences)?;
        Ok(progress)
    }

    /// Writes the checkpoint.
    ///
    /// # Errors
    /// When the file cannot be written; the one before stays then.
    pub fn save(&self, path: &Path) -> io::Result<()> {
        save(path, KIND, self)
    }
}

impl Record for Progress {
    fn save(&self, path: &Path) -> io::Result<()> {
        self.save(path)
    }

    fn steps(&self) -> usize {
        self.steps.len()
    }
}

/// Refuses a checkpoint at `path` that is of other data, by their hashes then and now, or has
/// these `differences`.
pub(super) fn same_run(
    path: &Path,
    (then, now): (DataHash, DataHash),
    mut differences: Vec<Difference>,
) -> Result<(), CheckpointError> {
    if then != now {
        let (then, now) = (then.to_string(), now.to_string());
        let what = "the BLAKE3 hash of the data";
        differences.insert(0, Difference { what, then, now });
    }
    if differences.is_empty() {
        return Ok(());
    }
    Err(CheckpointError::OtherRun {
        path: path.to_owned(),
        differences,
    })
}
