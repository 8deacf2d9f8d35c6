//! The JSON of a selection in front ends: sizes of the data, and steps.

use serde::{Serialize, Serializer};

use super::{Selection, Step, TestPath};
use crate::columns::Summary;
use crate::data::Dataset;
use crate::metrics::Score;

/// Named values, which become a JSON object in this order.
#[derive(Debug, Clone)]
pub struct Named<V>(pub Vec<(String, V)>);

impl<V> Named<V> {
    /// A value for each name.
    pub fn new(
        names: impl IntoIterator<Item = impl ToString>,
        values: impl IntoIterator<Item = V>,
    ) -> Self {
        let names = names.into_iter().map(|name| name.to_string());
        Self(names.zip(values).collect())
    }
}

impl<V: Serialize> Serialize for Named<V> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(name, value)| (name, value)))
    }
}

/// Sizes of the training data.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct Sizes {
    /// Rows.
    pub rows: usize,
    /// Queries.
    pub queries: usize,
    /// Columns.
    pub columns: usize,
    /// Stored entries.
    pub nonzeros: usize,
    /// Columns without an entry.
    pub empty_columns: usize,
    /// Columns that are constant within every query.
    pub constant_columns: usize,
    /// Distinct centred columns, up to sign.
    pub column_classes: usize,
    /// The unit of ridge parameters, the mean squared norm of a centred row.
    pub unit: f64,
}

impl Sizes {
    /// The sizes of `dataset`, with the `summary` of its column classes.
    pub fn new(dataset: &Dataset<'_>, summary: &Summary) -> Self {
        Self {
            rows: dataset.rows(),
            queries: dataset.queries().len(),
            columns: dataset.width(),
            nonzeros: summary.nonzeros,
            empty_columns: summary.empty_columns,
            constant_columns: summary.constant_columns,
            column_classes: summary.column_classes,
            unit: summary.unit,
        }
    }
}

/// A step of a selection.
#[derive(Debug, Default, Serialize)]
pub struct StepReport<'a> {
    /// Its number, from 1.
    pub step: usize,
    /// The feature, counted like the data file.
    pub feature: u64,
    /// Its name, if it has one.
    pub name: Option<&'a str>,
    /// Its weight in the last model.
    #[serde(skip)]
    pub weight: f64,
    /// See [`Step::lqo_error`].
    pub lqo_error: f64,
    /// See [`Step::lqo_cindex`].
    pub lqo_cindex: Option<f64>,
    /// See [`Step::criterion`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub criterion: Option<f64>,
    /// Number of other columns that centre to the same column up to sign.
    pub identical_columns: usize,
    /// Number of folds whose selection also has the feature.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub folds: Option<usize>,
    /// See [`Step::evaluated`].
    pub evaluated: usize,
    /// See [`Step::alive`].
    #[serde(skip_serializing_if = "<[usize]>::is_empty")]
    pub alive: &'a [usize],
    /// Measures of the test data.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub test: Option<Named<Option<f64>>>,
    /// Standard errors of the measures in `test`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub standard_errors: Option<Named<Option<f64>>>,
}

impl<'a> StepReport<'a> {
    /// The steps of a `selection` from `dataset`, with the measures of test data, if there are any.
    pub fn all(
        selection: &'a Selection,
        dataset: &'a Dataset<'_>,
        path: Option<&TestPath<'_>>,
    ) -> Vec<Self> {
        let tested = |number: usize, value: fn(&Score) -> Option<f64>| {
            let values = path?.steps().get(number)?.iter().map(value);
            Some(Named::new(path?.metrics(), values))
        };
        let report = |(number, (step, &weight)): (usize, (&'a Step, &f64))| Self {
            step: number + 1,
            feature: dataset.index_base().file_index(step.feature),
            name: dataset.name_of(step.feature),
            weight,
            lqo_error: step.lqo_error,
            lqo_cindex: step.lqo_cindex,
            criterion: step.criterion,
            identical_columns: step.identical.len(),
            folds: None,
            evaluated: step.evaluated,
            alive: &step.alive,
            test: tested(number, |score| score.mean),
            standard_errors: tested(number, |score| score.standard_error),
        };
        let steps = selection.steps.iter().zip(&selection.weights);
        steps.enumerate().map(report).collect()
    }
}
