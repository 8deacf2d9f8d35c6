//! Models of the grid as rows of a table.

use rankrls::Metric;
use rankrls::tune::{Ending, Outcome};
use serde::Serialize;

use super::report::Report;
use crate::cli::output::{Object, by_name};

/// A model.
#[derive(Debug, Serialize)]
pub(super) struct Row<'a> {
    pub(super) lambda: f64,
    pub(super) k: usize,
    /// The feature that was added, as the data file counts.
    pub(super) feature: u64,
    pub(super) name: Option<&'a str>,
    pub(super) lqo_error: f64,
    pub(super) lqo_cindex: Option<f64>,
    /// Mean of the measure over `queries`.
    pub(super) value: Option<f64>,
    pub(super) standard_error: Option<f64>,
    pub(super) queries: usize,
    pub(super) metrics: Object<Option<f64>>,
    /// Folds that had no candidates left.
    pub(super) short_folds: usize,
}

impl<'a> Row<'a> {
    /// The model of `k` features, if the path of `outcome` got there.
    pub(super) fn new(report: &Report<'a>, outcome: &'a Outcome, k: usize) -> Option<Self> {
        let point = outcome.points.get(k.checked_sub(1)?)?;
        let dataset = report.dataset;
        let names = dataset.names();
        let means: Vec<Option<f64>> = point.metrics.iter().map(|score| score.mean).collect();
        Some(Self {
            lambda: outcome.lambda.value(),
            k,
            feature: dataset.index_base().written(point.step.feature),
            name: names.and_then(|names| names.of(point.step.feature)),
            lqo_error: point.step.lqo_error,
            lqo_cindex: point.step.lqo_cindex,
            value: point.score.mean,
            standard_error: point.score.standard_error,
            queries: point.score.queries,
            metrics: by_name(report.metrics, &means),
            short_folds: point.short_folds,
        })
    }

    /// The models of one lambda.
    pub(super) fn all(report: &Report<'a>, outcome: &'a Outcome) -> impl Iterator<Item = Self> {
        (1..=outcome.points.len()).filter_map(|k| Self::new(report, outcome, k))
    }

    /// Titles of the columns, `metrics` among them.
    pub(super) fn titles(metrics: &[Metric]) -> Vec<String> {
        let before = ["lambda", "k", "feature", "name", "lqo_error", "lqo_cindex"];
        let middle = ["value", "standard_error", "queries"];
        let titles = before.into_iter().chain(middle).map(str::to_owned);
        let metrics = metrics.iter().map(Metric::to_string);
        let after = ["short_folds", "note"].map(str::to_owned);
        titles.chain(metrics).chain(after).collect()
    }

    /// What is in the columns; `note` says how a path ended.
    pub(super) fn cells(&self, note: &str) -> Vec<String> {
        let number = |value: Option<f64>| value.map_or_else(String::new, |value| value.to_string());
        let mut cells = vec![
            self.lambda.to_string(),
            self.k.to_string(),
            self.feature.to_string(),
            self.name.unwrap_or_default().to_owned(),
            self.lqo_error.to_string(),
            number(self.lqo_cindex),
            number(self.value),
            number(self.standard_error),
            self.queries.to_string(),
        ];
        cells.extend(self.metrics.0.iter().map(|&(_, value)| number(value)));
        cells.extend([self.short_folds.to_string(), note.to_owned()]);
        cells
    }
}

/// How a path ended, in a word.
pub(super) fn ending(ending: &Ending) -> &'static str {
    match ending {
        Ending::Complete => "complete",
        Ending::Exhausted => "exhausted",
        Ending::Settled => "settled",
        Ending::Interrupted => "interrupted",
        Ending::Overflow => "overflow",
        Ending::Refused { .. } => "refused",
    }
}

/// What there is to say of a path that is shorter than was asked for through no choice.
pub(super) fn trouble(ending: &Ending) -> Option<String> {
    match ending {
        Ending::Refused { reason } => Some(reason.clone()),
        Ending::Overflow => Some(
            "the errors of the next step are no finite numbers: lambda is too small for these \
             values"
                .to_owned(),
        ),
        _ => None,
    }
}
