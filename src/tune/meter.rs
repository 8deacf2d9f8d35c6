//! Taking the measures of predictions.

use super::Tune;
use crate::data::Dataset;
use crate::error::{Error, Result};
use crate::linalg::centring::centre;
use crate::metrics::{Metric, Rules, per_query};
use crate::stop;

/// Values of every query: those of the measure, then those of each metric.
pub(super) type Values = Vec<Vec<Option<f64>>>;

/// Takes the measures of predictions for one data set.
#[derive(Debug)]
pub(super) struct Meter<'a> {
    /// The data to predict.
    pub(super) data: &'a Dataset<'a>,
    centred: Vec<f64>,
    /// The measure, if it is a metric, and the metrics besides.
    metrics: Vec<Metric>,
    squared: bool,
    rules: Rules,
}

impl<'a> Meter<'a> {
    /// For `data`, which may be a part of the data that have these `labels`: takes the measure and
    /// the metrics of `options`. Squared errors are of labels on the scale that strategies learn.
    pub(super) fn new(data: &'a Dataset<'_>, options: &Tune, labels: &[f64]) -> Self {
        let scale = options.selections()[0].label_scale();
        let (measured, queries) = (options.measure.metric(), data.queries());
        Self {
            data,
            centred: queries.centred(&scale.apply(data.labels(), queries)),
            metrics: measured
                .into_iter()
                .chain(options.metrics.iter().copied())
                .collect(),
            squared: measured.is_none(),
            rules: options.rules.of(labels),
        }
    }

    /// Values of each query for its `scores`; refuses a score or a square that is no finite number.
    /// Metrics are taken of `ranked`, the same with what ought to be equal made equal.
    pub(super) fn values(&self, scores: &[f64], ranked: &[f64]) -> Result<Values> {
        if !scores.iter().all(|score| score.is_finite()) {
            return Err(not_finite());
        }
        let (labels, queries) = (self.data.labels(), self.data.queries());
        let mut values = per_query(&self.metrics, labels, ranked, queries, self.rules);
        // Some queries may have been left out.
        stop::check()?;
        if self.squared {
            values.insert(0, self.squares(scores)?);
        }
        Ok(values)
    }

    /// Squared centred residuals, summed over each query.
    fn squares(&self, scores: &[f64]) -> Result<Vec<Option<f64>>> {
        let pairs = self.centred.iter().zip(scores);
        let mut residual: Vec<f64> = pairs.map(|(label, score)| label - score).collect();
        let square = |part: &mut [f64]| {
            centre(part);
            let sum: f64 = part.iter().map(|residual| residual * residual).sum();
            if sum.is_finite() {
                Ok(Some(sum))
            } else {
                Err(not_finite())
            }
        };
        let queries = self.data.queries();
        queries.split_mut(&mut residual).map(square).collect()
    }
}

fn not_finite() -> Error {
    Error::numbers("a prediction or its error is no finite number")
}
