//! A contestant and how it did.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::greedy::Stability;

use super::{Contestant, Overlap, Selected, SelectedStep, Spread};

/// How the runs of a contestant ended.
#[derive(Debug, Clone, PartialEq)]
pub enum Outcome {
    /// It selected, once for every seed.
    Selected(Vec<Selected>),
    /// It takes more memory than it may.
    DoesNotFit {
        /// Bytes that it would take with the data.
        needs: u64,
        /// Bytes that it may take.
        limit: Option<u64>,
    },
    /// It failed otherwise, with this message.
    Failed(String),
}

/// A contestant: means over its runs, or why there are none.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Entry {
    /// Which one.
    #[serde(rename = "strategy")]
    pub contestant: Contestant,
    /// Whether every step took the best candidate of all.
    pub exact: bool,
    /// Whether it draws at random.
    pub random: bool,
    /// Why there are no runs; `None` if there are.
    pub error: Option<String>,
    /// Bytes that it would have taken with the data, if it does not fit.
    pub needs_bytes: Option<u64>,
    /// Bytes that it may have taken, if it does not fit.
    pub limit_bytes: Option<u64>,
    /// Seconds of reading the data.
    pub load_seconds: Option<Spread>,
    /// Seconds of finding candidates and selecting.
    pub select_seconds: Option<Spread>,
    /// The same divided by the features selected.
    pub seconds_per_feature: Option<Spread>,
    /// Most memory of the process.
    pub peak_rss_bytes: Option<Spread>,
    /// Candidates evaluated exactly, over all steps.
    pub evaluated: Option<Spread>,
    /// Overlap of each run with the reference; empty without one.
    pub overlaps: Vec<Overlap>,
    /// How stable the features are over the seeds; `None` for a single run.
    pub stability: Option<Stability>,
    /// Means over the runs after each step that all of them took.
    pub steps: Vec<StepEntry>,
    /// The runs.
    pub runs: Vec<RunEntry>,
}

/// Means over the runs after a step.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct StepEntry {
    /// From 1.
    pub step: usize,
    /// Leave-query-out error.
    pub lqo_error: Spread,
    /// Concordance index of the leave-query-out predictions.
    pub lqo_cindex: Option<Spread>,
    /// Candidates evaluated exactly.
    pub evaluated: Spread,
    /// Share of the features that the reference has as well.
    pub overlap: Option<Spread>,
    /// Measures of the test data.
    pub test: BTreeMap<String, Option<Spread>>,
}

/// A run.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RunEntry {
    /// Its seed, if it drew.
    pub seed: Option<u64>,
    /// Seconds of reading the data.
    pub load_seconds: f64,
    /// Seconds of finding candidates and selecting.
    pub select_seconds: f64,
    /// Most memory of the process.
    pub peak_rss_bytes: Option<u64>,
    /// The features, in order of selection, as the data file counts.
    pub features: Vec<u64>,
    /// Features and measures, step by step.
    #[serde(skip)]
    pub steps: Vec<SelectedStep>,
}

impl Outcome {
    /// The runs, if there are.
    pub(super) fn selected(&self) -> Option<&[Selected]> {
        match self {
            Self::Selected(runs) if !runs.is_empty() => Some(runs),
            _ => None,
        }
    }
}

impl Entry {
    pub(super) fn new(
        contestant: Contestant,
        outcome: Outcome,
        metrics: &[String],
        reference: Option<&[u64]>,
    ) -> Self {
        let (mut error, mut needs_bytes, mut limit_bytes) = (None, None, None);
        let mut runs = Vec::new();
        match outcome {
            Outcome::Selected(selected) if !selected.is_empty() => runs = selected,
            Outcome::Selected(_) => error = Some("did not run".to_owned()),
            Outcome::Failed(message) => error = Some(message),
            Outcome::DoesNotFit { needs, limit } => {
                error = Some("does not fit into memory".to_owned());
                (needs_bytes, limit_bytes) = (Some(needs), limit);
            }
        }
        let of = |value: &dyn Fn(&Selected) -> f64| Spread::of(runs.iter().map(value));
        let features = |run: &Selected| run.steps.len().max(1) as f64;
        let overlaps: Vec<Overlap> = reference.map_or_else(Vec::new, |reference| {
            let overlap = |run: &Selected| Overlap::new(&run.features(), reference);
            runs.iter().map(overlap).collect()
        });
        let evaluated = |run: &Selected| {
            let steps = run.steps.iter().map(|step| step.evaluated as f64);
            steps.sum()
        };
        let peaks = runs.iter().map(|run| run.peak_rss_bytes);
        let peaks = peaks.map(|peak| peak.map(|bytes| bytes as f64));
        let random = contestant.is_random();
        Self {
            contestant,
            exact: contestant.is_exact(&runs) && (error.is_none() || !random),
            random,
            error,
            needs_bytes,
            limit_bytes,
            load_seconds: of(&|run| run.load_seconds),
            select_seconds: of(&Selected::seconds),
            seconds_per_feature: of(&|run| run.seconds() / features(run)),
            peak_rss_bytes: Spread::of_all(peaks),
            evaluated: of(&evaluated),
            stability: stability(&runs),
            steps: steps(&runs, metrics, &overlaps),
            overlaps,
            runs: runs.into_iter().map(RunEntry::from).collect(),
        }
    }

    /// Whether it selected.
    pub fn ran(&self) -> bool {
        self.error.is_none()
    }

    /// The last step.
    pub fn last(&self) -> Option<&StepEntry> {
        self.steps.last()
    }

    /// The earliest step in which a run selected another feature than the reference; `None` if
    /// there is none, or no reference.
    pub fn first_difference(&self) -> Option<usize> {
        let firsts = self.overlaps.iter();
        firsts.filter_map(|overlap| overlap.first_difference).min()
    }
}

impl StepEntry {
    /// A measure of the test data.
    pub fn measure(&self, metric: &str) -> Option<Spread> {
        self.test.get(metric).copied().flatten()
    }
}

/// Means after each step that all runs took.
fn steps(runs: &[Selected], metrics: &[String], overlaps: &[Overlap]) -> Vec<StepEntry> {
    let shortest = runs.iter().map(|run| run.steps.len()).min().unwrap_or(0);
    let entry = |index: usize| {
        let steps = || runs.iter().map(move |run| &run.steps[index]);
        let measured = |metric: &String| {
            let values = steps().map(|step| step.test.get(metric).copied().flatten());
            (metric.clone(), Spread::of_all(values))
        };
        let tested = steps().all(|step| !step.test.is_empty());
        let shares = overlaps
            .iter()
            .map(|overlap| overlap.shares.get(index).copied());
        Some(StepEntry {
            step: index + 1,
            lqo_error: Spread::of(steps().map(|step| step.lqo_error))?,
            lqo_cindex: Spread::of_all(steps().map(|step| step.lqo_cindex)),
            evaluated: Spread::of(steps().map(|step| step.evaluated as f64))?,
            overlap: Spread::of_all(shares),
            test: metrics.iter().filter(|_| tested).map(measured).collect(),
        })
    };
    (0..shortest).map_while(entry).collect()
}

fn stability(runs: &[Selected]) -> Option<Stability> {
    let candidates = runs.first()?.data.column_classes;
    let features: Vec<Vec<u64>> = runs.iter().map(Selected::features).collect();
    (runs.len() > 1).then(|| Stability::new(&features, candidates))
}

impl From<Selected> for RunEntry {
    fn from(run: Selected) -> Self {
        Self {
            seed: run.seed,
            load_seconds: run.load_seconds,
            select_seconds: run.seconds(),
            peak_rss_bytes: run.peak_rss_bytes,
            features: run.features(),
            steps: run.steps,
        }
    }
}
