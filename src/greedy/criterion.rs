//! What makes a candidate the best one: the squared error of its leave-query-out predictions,
//! or how they rank; and their concordance.

use std::fmt;
use std::str::FromStr;

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::State;
use crate::data::Queries;
use crate::metrics::{self, Context, Convention, Metric};

/// What a greedy step improves most.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Criterion {
    /// The sum over queries of the squared centred leave-query-out residuals.
    #[default]
    Squared,
    /// A ranking measure of the leave-query-out predictions, averaged over the queries that
    /// have a value. Discrete, so ties are common, and they go to the lowest feature as always.
    Ranking {
        /// The measure.
        metric: Metric,
        /// Its convention.
        convention: Convention,
    },
}

impl fmt::Display for Criterion {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Squared => formatter.pad("squared"),
            Self::Ranking { metric, .. } => metric.fmt(formatter),
        }
    }
}

impl Criterion {
    /// The same under another convention, where it is a measure.
    #[must_use]
    pub fn under(self, convention: Convention) -> Self {
        match self {
            Self::Squared => Self::Squared,
            Self::Ranking { metric, .. } => Self::Ranking { metric, convention },
        }
    }
}

impl FromStr for Criterion {
    type Err = String;

    /// `squared`, or a measure under the standard convention.
    fn from_str(name: &str) -> Result<Self, String> {
        if name == "squared" {
            return Ok(Self::Squared);
        }
        match name.parse::<Metric>() {
            Ok(metric) => Ok(Self::Ranking {
                metric,
                convention: Convention::Standard,
            }),
            Err(error) => Err(format!("expected squared or a measure: {error}")),
        }
    }
}

/// Predictions of one query closer than this share of the largest centred label are tied: equal
/// predictions differ in their last bits once they have been computed in different ways.
const PREDICTION_TIE: f64 = 1e-12;

/// A ranking measure of predictions for the examples of a training set.
#[derive(Debug, Clone)]
pub struct RankingCriterion {
    metric: Metric,
    convention: Convention,
    queries: Queries,
    /// Labels as given, `m`.
    labels: Vec<f64>,
    context: Context,
    /// Predictions of a query that are no further apart are tied.
    tolerance: f64,
}

impl RankingCriterion {
    /// `metric` under `convention` of predictions for examples with `labels`, as given; `None`
    /// when no query has a value whatever the predictions.
    pub fn new(
        metric: Metric,
        convention: Convention,
        labels: &[f64],
        queries: &Queries,
    ) -> Option<Self> {
        let centred = super::addition::centred(labels, queries);
        let largest = centred
            .iter()
            .fold(0.0_f64, |most, label| most.max(label.abs()));
        let criterion = Self {
            metric,
            convention,
            queries: queries.clone(),
            labels: labels.to_vec(),
            context: Context::of(labels),
            tolerance: largest * PREDICTION_TIE,
        };
        let equal = vec![0.0; labels.len()];
        criterion.mean(&equal).map(|_| criterion)
    }

    /// The measure of one query's predictions, which are changed where they are tied.
    pub(super) fn of_query(&self, query: usize, predictions: &mut [f64]) -> Option<f64> {
        tie(predictions, self.tolerance);
        let labels = &self.labels[self.queries.range(query)];
        self.metric
            .query(labels, predictions, self.convention, self.context)
    }

    /// The measure of predictions for all examples, `m`, averaged over the queries where it is
    /// defined.
    pub fn mean(&self, predictions: &[f64]) -> Option<f64> {
        let mut mean = Mean::default();
        for (query, range) in self.queries.ranges().enumerate() {
            mean.add(self.of_query(query, &mut predictions[range].to_vec()));
        }
        mean.value()
    }
}

/// Makes scores equal that are no further than `tolerance` from the next one.
fn tie(scores: &mut [f64], tolerance: f64) {
    let mut order: Vec<usize> = (0..scores.len()).collect();
    order.sort_unstable_by(|&a, &b| scores[a].total_cmp(&scores[b]));
    for pair in 1..order.len() {
        let (before, here) = (order[pair - 1], order[pair]);
        if scores[here] - scores[before] <= tolerance {
            scores[here] = scores[before];
        }
    }
}

/// A mean over queries in their order.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Mean {
    sum: f64,
    count: usize,
}

impl Mean {
    pub(super) fn add(&mut self, value: Option<f64>) {
        if let Some(value) = value {
            self.sum += value;
            self.count += 1;
        }
    }

    pub(super) fn value(&self) -> Option<f64> {
        (self.count > 0).then(|| self.sum / self.count as f64)
    }
}

/// Queries whose concordance one task computes.
const QUERIES: usize = 16;

/// Concordance index of the leave-query-out predictions, averaged over the queries that
/// have a pair of different labels; `None` when none has. Labels as given, not centred.
pub fn lqo_cindex(state: &State, labels: &[f64]) -> Option<f64> {
    let centred = state.centred_labels();
    cindex(state.predictions(), labels, &centred, state.queries())
}

/// Concordance index of `predictions` for `labels`; `centred` labels tell what is close.
pub(crate) fn cindex(
    predictions: Vec<f64>,
    labels: &[f64],
    centred: &[f64],
    queries: &Queries,
) -> Option<f64> {
    let predictions = tied(predictions, centred, queries);
    let indices: Vec<Option<f64>> = (0..queries.len())
        .into_par_iter()
        .with_min_len(QUERIES)
        .map(|query| {
            let range = queries.range(query);
            metrics::concordance(&labels[range.clone()], &predictions[range])
        })
        .collect();
    let defined: Vec<f64> = indices.into_iter().flatten().collect();
    (!defined.is_empty()).then(|| defined.iter().sum::<f64>() / defined.len() as f64)
}

/// Leave-query-out predictions, those of a query that differ by rounding made equal.
pub(crate) fn tied_predictions(state: &State) -> Vec<f64> {
    tied(
        state.predictions(),
        &state.centred_labels(),
        state.queries(),
    )
}

/// Predictions, those of a query that differ by rounding made equal: `centred` labels tell what
/// is close.
fn tied(mut predictions: Vec<f64>, centred: &[f64], queries: &Queries) -> Vec<f64> {
    let largest = |most: f64, label: &f64| most.max(label.abs());
    let tolerance = centred.iter().fold(0.0, largest) * PREDICTION_TIE;
    let parts: Vec<_> = queries.split_mut(&mut predictions).collect();
    parts
        .into_par_iter()
        .with_min_len(QUERIES)
        .for_each(|part| tie(part, tolerance));
    predictions
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn close_predictions_are_tied() {
        let mut scores = [1.0, 3.0, 1.0 + 1e-13, 2.0];
        tie(&mut scores, 1e-12);
        assert_eq!(scores, [1.0, 3.0, 1.0, 2.0]);
    }

    #[test]
    fn a_measure_without_any_query_is_no_criterion() {
        let queries = Queries::from_sizes(&[2, 1]).unwrap();
        let criterion = |labels: &[f64]| {
            RankingCriterion::new(Metric::Concordance, Convention::Standard, labels, &queries)
        };
        assert!(criterion(&[1.0, 1.0, 2.0]).is_none());
        let found = criterion(&[1.0, 2.0, 2.0]).unwrap();
        assert_eq!(found.mean(&[0.0, 1.0, 5.0]), Some(1.0));
        assert_eq!(found.mean(&[0.0, 1e-13, 5.0]), Some(0.5));
    }
}
