//! Taking the measures of predictions.

use super::Tune;
use crate::data::Dataset;
use crate::linalg::centring::centre;
use crate::metrics::{Metric, Rules, Score, per_query};
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

    /// Values of each query for its `scores`; none if a score or a square is no finite number.
    /// Metrics are taken of `ranked`, the same with what ought to be equal made equal.
    pub(super) fn values(&self, scores: &[f64], ranked: &[f64]) -> Option<Values> {
        if !scores.iter().all(|score| score.is_finite()) {
            return None;
        }
        let (labels, queries) = (self.data.labels(), self.data.queries());
        let found = per_query(&self.metrics, labels, ranked, queries, self.rules);
        if stop::requested() {
            // Some queries may have been left out.
            return None;
        }
        let column = |metric: usize| found.iter().map(|query| query[metric]).collect();
        let mut values: Values = (0..self.metrics.len()).map(column).collect();
        if self.squared {
            values.insert(0, self.squares(scores)?);
        }
        Some(values)
    }

    /// Squared centred residuals, summed over each query.
    fn squares(&self, scores: &[f64]) -> Option<Vec<Option<f64>>> {
        let pairs = self.centred.iter().zip(scores);
        let mut residual: Vec<f64> = pairs.map(|(label, score)| label - score).collect();
        let square = |part: &mut [f64]| {
            centre(part);
            let sum: f64 = part.iter().map(|residual| residual * residual).sum();
            sum.is_finite().then_some(Some(sum))
        };
        let queries = self.data.queries();
        queries.split_mut(&mut residual).map(square).collect()
    }
}

/// Means and standard errors of the values of all queries.
pub(super) fn summarise(values: &[Vec<Option<f64>>]) -> (Score, Vec<Score>) {
    let mut scores = values.iter().map(|values| Score::of(values));
    let measure = scores.next().unwrap_or_else(|| Score::of(&[]));
    (measure, scores.collect())
}
