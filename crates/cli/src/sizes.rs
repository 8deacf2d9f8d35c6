//! The size of data, and the rules of measures, in words of reports.

use std::fmt::Write as _;

use rankrls::data::read::Loaded;
pub(crate) use rankrls::greedy::job::Sizes;
use rankrls::memory::Bytes;
use rankrls::metrics::{Convention, Metric};
use serde::Serialize;

use super::numbers::{counted, exact, number, sizes};

/// The sizes of data that were read in `load` seconds, and the `seconds` of the work that is `done`, in lines that
/// fit a narrow terminal.
pub(crate) fn heading(
    data: &Sizes,
    load: f64,
    done: &str,
    seconds: f64,
    peak: Option<u64>,
) -> String {
    let peak = peak.map_or_else(String::new, |peak| format!(", peak memory {}", Bytes(peak)));
    let lines = lines(data);
    format!("{lines}read in {load:.2} s, {done} in {seconds:.2} s{peak}\n")
}

/// Three lines that fit a narrow terminal.
pub(crate) fn lines(data: &Sizes) -> String {
    let sizes = sizes(data.rows, data.queries, data.columns, data.nonzeros);
    let constant = counted(data.constant_columns, "column");
    let classes = counted(data.column_classes, "column class");
    let unit = number(data.unit);
    format!(
        "data: {sizes}\n      {constant} constant in every query, {classes}\n      \
         u, the mean squared norm of a centred row: {unit}\n"
    )
}

/// The rules by which measures read labels and ranks, beside their names.
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

    /// The convention, and a line on the largest grade if it comes from the data.
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
