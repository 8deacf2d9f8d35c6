//! Judges predictions by the measure and the metrics.

use super::Tune;
use crate::data::Dataset;
use crate::error::{Error, Result};
use crate::metrics::{Judge, Measure, Score};
use crate::stop;

/// Values of every query: of the measure, then of each metric.
pub(super) type Values = Vec<Vec<Option<f64>>>;

/// Judges predictions for one data set.
#[derive(Debug)]
pub(super) struct Meter<'a> {
    /// The data to predict.
    pub(super) data: &'a Dataset<'a>,
    /// Judges of the measure, then of each metric.
    judges: Vec<Judge<'a>>,
    squared: bool,
}

impl<'a> Meter<'a> {
    /// For `data`, which may be a part of the data with these `labels`, and the measure and metrics of `options`.
    /// Squared errors are of labels on the scale that strategies learn.
    pub(super) fn new(data: &'a Dataset<'_>, options: &Tune, labels: &[f64]) -> Self {
        let queries = data.queries();
        let judge = |measure| match measure {
            Measure::Of(metric) => {
                let metric = metric.graded_by(labels);
                Judge::new(metric, options.convention, data.labels(), queries)
            }
            Measure::Squared => {
                let scale = options.selections()[0].label_scale();
                Judge::of_squares(
                    queries.centred(&scale.apply(data.labels(), queries)),
                    queries,
                )
            }
        };
        let metrics = options.metrics.iter().copied().map(Measure::from);
        Self {
            data,
            judges: [options.measure]
                .into_iter()
                .chain(metrics)
                .map(judge)
                .collect(),
            squared: options.measure == Measure::Squared,
        }
    }

    /// Values of each query for its `scores`. Scores no further apart than `tolerance` are tied. Refuses a score or
    /// a square that is not finite.
    pub(super) fn values(&self, scores: &[f64], tolerance: f64) -> Result<Values> {
        let not_finite = || Error::numbers("a prediction or its error is no finite number");
        if !scores.iter().all(|score| score.is_finite()) {
            return Err(not_finite());
        }
        let judged = self
            .judges
            .iter()
            .map(|judge| judge.score_within(scores, tolerance));
        let values: Values = judged.map(|Score { per_query, .. }| per_query).collect();
        stop::check()?;
        if self.squared && values[0].contains(&None) {
            return Err(not_finite());
        }
        Ok(values)
    }
}
