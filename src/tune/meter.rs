//! Takes the measures of predictions.

use super::{Measure, Options, Score};
use crate::data::{Dataset, Queries};
use crate::greedy::{centre, centred};
use crate::metrics::{Context, Convention, Metric, per_query};

/// Values of every query: those of the measure, then those of each metric.
pub(super) type Values = Vec<Vec<Option<f64>>>;

/// Predictions that are no finite numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Overflow;

/// Takes the measures of predictions for one data set.
#[derive(Debug)]
pub(super) struct Meter<'a> {
    labels: &'a [f64],
    centred: Vec<f64>,
    queries: &'a Queries,
    /// All metrics to compute.
    metrics: Vec<Metric>,
    /// Where the measure is among them; `None` for the squared error.
    measure: Option<usize>,
    /// How many metrics were asked for besides the measure.
    asked: usize,
    convention: Convention,
    context: Context,
}

impl<'a> Meter<'a> {
    /// For `data`, which may be a part of the data that `context` is of.
    pub(super) fn of(data: &'a Dataset<'_>, context: Context, options: &Options<'_>) -> Self {
        let (labels, queries) = (data.labels(), data.queries());
        let mut metrics = options.metrics.clone();
        let asked = metrics.len();
        let measure = match options.measure {
            Measure::SquaredError => None,
            Measure::Metric(metric) => {
                let place = metrics.iter().position(|other| *other == metric);
                Some(place.unwrap_or_else(|| {
                    metrics.push(metric);
                    asked
                }))
            }
        };
        Self {
            labels,
            centred: centred(labels, queries),
            queries,
            metrics,
            measure,
            asked,
            convention: options.convention,
            context,
        }
    }

    /// Values of each query for its `scores`. Metrics are taken of `ranked`, the same with what
    /// ought to be equal made equal.
    pub(super) fn values(&self, scores: &[f64], ranked: &[f64]) -> Result<Values, Overflow> {
        if !scores.iter().all(|score| score.is_finite()) {
            return Err(Overflow);
        }
        let rule = (self.convention, self.context);
        let found = per_query(&self.metrics, self.labels, ranked, self.queries, rule);
        let column = |metric: usize| found.iter().map(|query| query[metric]).collect();
        let measure = match self.measure {
            None => self.squares(scores)?,
            Some(metric) => column(metric),
        };
        Ok(std::iter::once(measure)
            .chain((0..self.asked).map(column))
            .collect())
    }

    /// Squared centred residuals, summed over each query.
    fn squares(&self, scores: &[f64]) -> Result<Vec<Option<f64>>, Overflow> {
        let pairs = self.centred.iter().zip(scores);
        let mut residual: Vec<f64> = pairs.map(|(label, score)| label - score).collect();
        let square = |part: &mut [f64]| {
            centre(part);
            let sum: f64 = part.iter().map(|residual| residual * residual).sum();
            if sum.is_finite() {
                Ok(Some(sum))
            } else {
                Err(Overflow)
            }
        };
        self.queries.split_mut(&mut residual).map(square).collect()
    }
}

/// Means and standard errors of the values of all queries.
pub(super) fn summarise(values: &[Vec<Option<f64>>]) -> (Score, Vec<Score>) {
    let mut scores = values.iter().map(|values| Score::of(values));
    let measure = scores.next().unwrap_or_else(|| Score::of(&[]));
    (measure, scores.collect())
}
