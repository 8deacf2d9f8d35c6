//! What a run says of itself.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::StrategyKind;

/// A document of the schema `rankrls.selection/1`, as far as it is compared.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct Selected {
    /// The strategy.
    pub strategy: StrategyKind,
    /// Ridge parameter.
    pub lambda: f64,
    /// ColumnClasses drawn each step, if not all were judged.
    pub candidates: Option<usize>,
    /// Seed of the draws, if there were any.
    pub seed: Option<u64>,
    /// Sizes of the training data.
    pub data: DataSizes,
    /// The steps.
    pub steps: Vec<SelectedStep>,
    /// What was measured after every step, if anything.
    #[serde(default)]
    pub test: Option<TestData>,
    /// Seconds that reading took.
    pub load_seconds: f64,
    /// Seconds from data that were read to the last feature.
    pub select_seconds: f64,
    /// Seconds of these that measuring test data took.
    #[serde(default)]
    pub test_seconds: f64,
    /// Most memory that the process had, where the system tells.
    pub peak_rss_bytes: Option<u64>,
}

/// A step of a run.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct SelectedStep {
    /// The feature, as the data file counts.
    pub feature: u64,
    /// Its name.
    pub name: Option<String>,
    /// Leave-query-out error after the step.
    pub lqo_error: f64,
    /// Concordance index of the leave-query-out predictions.
    pub lqo_cindex: Option<f64>,
    /// ColumnClasses that were evaluated exactly.
    pub evaluated: usize,
    /// Measures of the test data by name.
    #[serde(default)]
    pub test: BTreeMap<String, Option<f64>>,
}

/// Sizes of training data.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct DataSizes {
    /// Examples.
    pub rows: usize,
    /// Queries.
    pub queries: usize,
    /// Features.
    pub columns: usize,
    /// Non-zeros.
    pub nonzeros: usize,
    /// Features that are constant in every query.
    pub constant_columns: usize,
    /// ColumnClasses: features that are told apart.
    pub column_classes: usize,
}

/// Sizes of test data.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TestData {
    /// Convention of the measures.
    pub convention: String,
    /// Examples.
    pub rows: usize,
    /// Queries.
    pub queries: usize,
    /// Non-zeros in columns that training data does not have.
    pub dropped_entries: u64,
    /// These columns.
    pub dropped_columns: u64,
}

impl Selected {
    /// The features, in order of selection.
    pub fn features(&self) -> Vec<u64> {
        self.steps.iter().map(|step| step.feature).collect()
    }

    /// Seconds of finding candidates and selecting, without measuring.
    pub fn seconds(&self) -> f64 {
        (self.select_seconds - self.test_seconds).max(0.0)
    }
}
