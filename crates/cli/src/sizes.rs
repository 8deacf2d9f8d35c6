//! How large data are, and how measures read them, as reports say it.

use std::fmt::Write as _;

use rankrls::Dataset;
use rankrls::columns::Summary;
use rankrls::data::read::Loaded;
use rankrls::memory::Bytes;
use rankrls::metrics::{Convention, Gain, LabelUse, Metric, Rules};
use serde::Serialize;

use super::numbers::{counted, exact, number, sizes};

/// Sizes of the data.
#[derive(Debug, Clone, Copy, Serialize)]
pub(crate) struct Sizes {
    pub(crate) rows: usize,
    pub(crate) queries: usize,
    pub(crate) columns: usize,
    pub(crate) nonzeros: usize,
    pub(crate) empty_columns: usize,
    pub(crate) constant_columns: usize,
    pub(crate) column_classes: usize,
    /// The unit of ridge parameters.
    pub(crate) unit: f64,
}

impl Sizes {
    pub(crate) fn new(dataset: &Dataset<'_>, summary: &Summary) -> Self {
        Self {
            rows: dataset.rows(),
            queries: dataset.queries().len(),
            columns: dataset.width(),
            nonzeros: dataset.nonzeros(),
            empty_columns: summary.empty_columns,
            constant_columns: summary.constant_columns,
            column_classes: summary.column_classes,
            unit: summary.unit,
        }
    }

    /// Sizes of data that were read in `load` seconds, and the `seconds` of the work that is
    /// `done`, in lines that fit a narrow terminal.
    pub(crate) fn heading(&self, load: f64, done: &str, seconds: f64, peak: Option<u64>) -> String {
        let peak = peak.map_or_else(String::new, |peak| format!(", peak memory {}", Bytes(peak)));
        let lines = self.lines();
        format!("{lines}read in {load:.2} s, {done} in {seconds:.2} s{peak}\n")
    }

    /// Three lines that fit a narrow terminal.
    pub(crate) fn lines(&self) -> String {
        let sizes = sizes(self.rows, self.queries, self.columns, self.nonzeros);
        let constant = counted(self.constant_columns, "column");
        let classes = counted(self.column_classes, "column class");
        let unit = number(self.unit);
        format!(
            "data: {sizes}\n      {constant} constant in every query, {classes}\n      \
             u, the mean squared norm of a centred row: {unit}\n"
        )
    }
}

/// How measures read labels and ranks.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct RulesReport {
    convention: Convention,
    /// Null: labels above 0 are relevant.
    relevant_from: Option<f64>,
    gain: Gain,
    /// The largest grade, if a measure has a scale.
    max_grade: Option<f64>,
    /// Whether it is the largest label of the data for want of another.
    #[serde(skip)]
    of_data: bool,
}

impl RulesReport {
    /// `rules` of `metrics` for data with these `labels`.
    pub(crate) fn new(metrics: &[Metric], rules: &Rules, labels: &[f64]) -> Self {
        let scale = metrics
            .iter()
            .any(|metric| metric.labels() == LabelUse::Scale);
        Self {
            convention: rules.convention,
            relevant_from: rules.relevant_from,
            gain: rules.gain,
            max_grade: rules.of(labels).max_grade.filter(|_| scale),
            of_data: rules.max_grade.is_none(),
        }
    }

    /// All that is not as usual, and a line on the largest grade if it is of the data.
    pub(crate) fn text(&self) -> String {
        let mut text = format!("convention {}", self.convention);
        if let Some(least) = self.relevant_from {
            let _ = write!(text, ", relevant from {}", exact(least));
        }
        if self.gain != Gain::default() {
            let _ = write!(text, ", {} gain", self.gain);
        }
        match self.max_grade {
            Some(grade) if self.of_data => {
                let _ = write!(
                    text,
                    "\nerr: the largest grade is that of these data, {}; --max-grade sets it",
                    exact(grade)
                );
            }
            Some(grade) => {
                let _ = write!(text, ", largest grade {}", exact(grade));
            }
            None => {}
        }
        text
    }
}

/// Test data along the path.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct TestSizes {
    #[serde(flatten)]
    pub(crate) rules: RulesReport,
    pub(crate) rows: usize,
    pub(crate) queries: usize,
    pub(crate) dropped_entries: u64,
    pub(crate) dropped_columns: u64,
}

impl TestSizes {
    pub(crate) fn new(loaded: &Loaded, metrics: &[Metric], rules: &Rules) -> Self {
        Self {
            rules: RulesReport::new(metrics, rules, loaded.dataset.labels()),
            rows: loaded.dataset.rows(),
            queries: loaded.dataset.queries().len(),
            dropped_entries: loaded.dropped_entries,
            dropped_columns: loaded.dropped_columns,
        }
    }
}
