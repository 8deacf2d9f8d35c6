//! Sizes of data, as they are printed.

use rankrls::Dataset;
use rankrls::columns::Summary;
use rankrls::data::read::Loaded;
use rankrls::metrics::Convention;
use serde::Serialize;

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
        }
    }

    /// Two lines that fit a narrow terminal.
    pub(crate) fn lines(&self) -> String {
        let Self {
            rows,
            queries,
            columns,
            nonzeros,
            constant_columns,
            column_classes,
            ..
        } = self;
        format!(
            "data: {rows} rows, {queries} queries, {columns} columns, {nonzeros} non-zeros\n      \
             {constant_columns} columns constant in every query, {column_classes} column classes\n"
        )
    }
}

/// Test data along the path.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct TestSizes {
    pub(crate) convention: Convention,
    pub(crate) rows: usize,
    pub(crate) queries: usize,
    pub(crate) dropped_entries: u64,
    pub(crate) dropped_columns: u64,
}

impl TestSizes {
    pub(crate) fn new(loaded: &Loaded, convention: Convention) -> Self {
        Self {
            convention,
            rows: loaded.dataset.rows(),
            queries: loaded.dataset.queries().len(),
            dropped_entries: loaded.dropped_entries,
            dropped_columns: loaded.dropped_columns,
        }
    }
}
