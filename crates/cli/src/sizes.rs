//! How large data are, and how measures read them, as reports say it.

use std::fmt::Write as _;

use rankrls::Dataset;
use rankrls::columns::Summary;
use rankrls::data::read::Loaded;
use rankrls::memory::Bytes;
use rankrls::metrics::{Convention, Metric};
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

/// How measures read labels and ranks, beside what their names say.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct RulesReport {
    /// The convention of measures that name none.
    convention: Convention,
    /// The largest label of the data, if a measure has a scale and does not name its largest grade.
    max_grade: Option<f64>,
}

impl RulesReport {
    /// For `metrics` of data with these `labels`.
    pub(crate) fn new(metrics: &[Metric], convention: Convention, labels: &[f64]) -> Self {
        let mut metrics = metrics.iter();
        Self {
            convention,
            max_grade: metrics.find_map(|metric| metric.grade_of(labels)),
        }
    }

    /// The convention, and a line on the largest grade if it is of the data.
    pub(crate) fn text(&self) -> String {
        let mut text = format!("convention {}", self.convention);
        if let Some(grade) = self.max_grade {
            let _ = write!(
                text,
                "\nerr: the largest grade is that of these data, {}; a name such as err:4 sets it",
                exact(grade)
            );
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
    pub(crate) fn new(loaded: &Loaded, metrics: &[Metric], convention: Convention) -> Self {
        Self {
            rules: RulesReport::new(metrics, convention, loaded.dataset.labels()),
            rows: loaded.dataset.rows(),
            queries: loaded.dataset.queries().len(),
            dropped_entries: loaded.dropped_entries,
            dropped_columns: loaded.dropped_columns,
        }
    }
}
