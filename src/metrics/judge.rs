//! The judge of predictions: one measure, query by query.
//!
//! All code that rates predictions asks a [`Judge`]: steps and their criterion, hold-outs, folds, test data and
//! teachers. Only preferences and left-out pairs, which have no queries to rank, count by themselves.

use std::borrow::Cow;
use std::ops::Range;

use rayon::prelude::*;

use super::Measure;
use super::concordance::{of_tied, pairs_of, tie};
use super::metric::{LabelUse, Metric};
use super::rules::{Convention, Rules};
use super::score::Score;
use crate::data::Queries;
use crate::linalg::centring::centre;
use crate::linalg::kernels::largest;

/// The share of the largest label up to which predictions of a left-out pair count as equal: each pair has its own
/// model and rounding.
pub(crate) const PAIR_TIE: f64 = 1e-10;

/// The difference up to which predictions of a query with these `centred` labels count as equal. Equal predictions
/// that were computed in different ways differ in their last bits.
pub(crate) fn prediction_tolerance(centred: &[f64]) -> f64 {
    /// The share of the largest label.
    const PREDICTION_TIE: f64 = 1e-12;
    largest(centred) * PREDICTION_TIE
}

/// Judges predictions for the rows of queries by a measure.
///
/// ```
/// use rankrls::data::Queries;
/// use rankrls::metrics::{Convention, Judge};
///
/// let queries = Queries::from_sizes(&[3, 2])?;
/// let labels = [2.0, 0.0, 1.0, 0.0, 0.0];
/// let judge = Judge::new("cindex".parse()?, Convention::Standard, &labels, &queries);
/// let score = judge.score(&[0.9, 0.5, 0.1, 0.3, 0.3]);
/// assert_eq!(score.per_query, [Some(2.0 / 3.0), None]);
/// assert_eq!((score.mean, score.queries), (Some(2.0 / 3.0), 1));
/// # Ok::<(), rankrls::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Judge<'a> {
    measure: Measure,
    /// The rules of the measure, for these labels.
    rules: Rules,
    queries: &'a Queries,
    /// The `m` labels as given, or centred for squares.
    labels: Cow<'a, [f64]>,
    /// Pairs of different labels, by query. Empty if pairs do not matter.
    pairs: Vec<u64>,
    /// The difference up to which predictions of a query are equal.
    tolerance: f64,
    /// The value of a perfect ranking.
    perfect: f64,
}

impl<'a> Judge<'a> {
    /// Ranks by `metric`, under `convention` unless the metric names its own. `labels` are as given, one a row of
    /// `queries`. Only predictions with the same bits are equal.
    pub fn new(
        metric: Metric,
        convention: Convention,
        labels: impl Into<Cow<'a, [f64]>>,
        queries: &'a Queries,
    ) -> Self {
        let labels = labels.into();
        let pairs = match metric {
            Metric::CONCORDANCE => queries
                .ranges()
                .map(|rows| pairs_of(&labels[rows]))
                .collect(),
            _ => Vec::new(),
        };
        let mut judge = Self {
            measure: metric.into(),
            rules: metric.rules(convention).of(&labels),
            queries,
            labels,
            pairs,
            tolerance: 0.0,
            perfect: 1.0,
        };
        if metric.labels() == LabelUse::Value {
            judge.perfect = judge.score(&judge.labels).mean.unwrap_or(judge.perfect);
        }
        judge
    }

    /// Sums squares of the residuals of `centred` labels, in their squared units.
    pub(crate) fn of_squares(centred: Vec<f64>, queries: &'a Queries) -> Self {
        Self {
            measure: Measure::Squared,
            rules: Rules::default(),
            queries,
            labels: centred.into(),
            pairs: Vec::new(),
            tolerance: 0.0,
            perfect: 0.0,
        }
    }

    /// This judge, with predictions equal up to `tolerance`: see [`prediction_tolerance`].
    #[must_use]
    pub(crate) fn within(self, tolerance: f64) -> Self {
        Self { tolerance, ..self }
    }

    /// The value of a query by its `predictions`, one a row, which it overwrites. `None` if the measure is
    /// undefined, or if predictions are not finite.
    ///
    /// # Panics
    /// Unless there are as many predictions as rows.
    pub fn of_query(&self, query: usize, predictions: &mut [f64]) -> Option<f64> {
        self.of_tied(query, predictions, self.tolerance)
    }

    fn of_tied(&self, query: usize, predictions: &mut [f64], tolerance: f64) -> Option<f64> {
        let labels = &self.labels[self.queries.range(query)];
        assert_eq!(labels.len(), predictions.len(), "one prediction a label");
        match self.measure {
            Measure::Squared => square(labels, predictions),
            Measure::Of(Metric::CONCORDANCE) => {
                of_tied(labels, predictions, self.pairs[query], tolerance)
            }
            Measure::Of(metric) => {
                if tolerance > 0.0 {
                    tie(predictions, tolerance);
                }
                metric.query(labels, predictions, self.rules)
            }
        }
    }

    /// Judges `predictions`, one a row: the value of each query, their mean and its standard error. It is fast, and
    /// finishes even if work was asked to end. The threads of the current rayon pool share the queries. The result
    /// does not depend on their number.
    ///
    /// # Panics
    /// Unless there are as many predictions as rows.
    pub fn score(&self, predictions: &[f64]) -> Score {
        self.score_within(predictions, self.tolerance)
    }

    /// [`score`](Self::score) with another tolerance for equal predictions.
    pub(crate) fn score_within(&self, predictions: &[f64], tolerance: f64) -> Score {
        assert_eq!(self.labels.len(), predictions.len(), "one prediction a row");
        let of_run = |run: Range<usize>| -> Vec<Option<f64>> {
            let mut own = Vec::new();
            let of_query = |query| {
                own.clear();
                own.extend_from_slice(&predictions[self.queries.range(query)]);
                self.of_tied(query, &mut own, tolerance)
            };
            run.map(of_query).collect()
        };
        let runs = self.queries.tasks().into_par_iter().map(of_run);
        Score::of(runs.collect::<Vec<_>>().concat())
    }

    /// The difference between a perfect ranking's value and this mean. Less is better.
    pub(crate) fn shortfall(&self, mean: f64) -> f64 {
        self.perfect - mean
    }
}

/// The sum of squared centred residuals of a query. `None` if it overflows.
fn square(centred: &[f64], predictions: &mut [f64]) -> Option<f64> {
    for (residual, label) in predictions.iter_mut().zip(centred) {
        *residual = label - *residual;
    }
    centre(predictions);
    let sum: f64 = predictions.iter().map(|residual| residual * residual).sum();
    sum.is_finite().then_some(sum)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::LabelScale;

    fn concordance<'a>(labels: &'a [f64], queries: &'a Queries) -> Judge<'a> {
        let tolerance = prediction_tolerance(&queries.centred(labels));
        Judge::new(Metric::CONCORDANCE, Convention::Standard, labels, queries).within(tolerance)
    }

    #[test]
    fn queries_without_pairs_have_no_value() {
        let queries = Queries::from_sizes(&[2, 1]).unwrap();
        let score = |labels: &[f64], scores: &[f64]| concordance(labels, &queries).score(scores);
        assert_eq!(score(&[1.0, 1.0, 2.0], &[0.0; 3]).mean, None);
        assert_eq!(score(&[1.0, 2.0, 2.0], &[0.0, 1.0, 5.0]).mean, Some(1.0));
        assert_eq!(score(&[1.0, 2.0, 2.0], &[0.0, 1e-13, 5.0]).mean, Some(0.5));
    }

    #[test]
    fn shortfalls_are_distances_to_a_perfect_ranking() {
        let queries = Queries::from_sizes(&[2, 3]).unwrap();
        for size in [1e-30, 1.0, 1e30] {
            let labels = [-2.0, -3.0, 0.0, 4.0, 4.0].map(|label| label * size);
            for (name, perfect) in [("label@1", size), ("map", 1.0), ("cindex", 1.0)] {
                let metric = name.parse().unwrap();
                let judge = Judge::new(metric, Convention::Standard, &labels[..], &queries);
                let quarter = judge.shortfall(0.25 * perfect);
                assert_eq!(quarter, 0.75 * perfect, "{name} {size}");
                let best = judge.score(&labels).mean.unwrap();
                assert_eq!(judge.shortfall(best), 0.0, "{name} {size}");
            }
        }
    }

    /// On a scale, predictions have the size of 1 for labels of any size.
    #[test]
    fn ties_are_as_wide_as_what_is_predicted() {
        let queries = Queries::from_sizes(&[2, 2]).unwrap();
        for size in [1e-9, 1.0, 1e9, 1e300] {
            let labels = [0.0, size, 2.0 * size, 0.0];
            for scale in LabelScale::ALL {
                let learnt = scale.apply(&labels, &queries);
                let learnt = queries.centred(&learnt);
                let largest = learnt.iter().copied().fold(0.0, f64::max);
                let apart = [0.0, 1e-11 * largest, 1e-13 * largest, 0.0];
                let judge = concordance(&labels, &queries).within(prediction_tolerance(&learnt));
                assert_eq!(judge.score(&apart).mean, Some(0.75), "{size} {scale}");
            }
        }
    }

    #[test]
    fn squares_are_of_centred_residuals() {
        let queries = Queries::from_sizes(&[2, 1, 2]).unwrap();
        let labels = queries.centred(&[3.0, 1.0, 7.0, 0.0, 4.0]);
        let judge = Judge::of_squares(labels, &queries);
        let score = judge.score(&[5.0, 5.0, 9.0, 1.0, 5.0]);
        assert_eq!(score.per_query, [Some(2.0), Some(0.0), Some(0.0)]);
        let overflow = judge.score(&[1e200, 0.0, 0.0, 0.0, 0.0]);
        assert_eq!(overflow.per_query[0], None);
    }
}
