//! What makes a candidate the best one: the squared error of its leave-query-out predictions,
//! or how they rank.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::State;
use super::lanes::{BlockTerms, LANES, Lanes, QuerySums};
use crate::data::Queries;
use crate::metrics::{Context, Convention, Metric};

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
pub(crate) const PREDICTION_TIE: f64 = 1e-12;

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
    fn of_query(&self, query: usize, predictions: &mut [f64]) -> Option<f64> {
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
pub(crate) fn tie(scores: &mut [f64], tolerance: f64) {
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
struct Mean {
    sum: f64,
    count: usize,
}

impl Mean {
    fn add(&mut self, value: Option<f64>) {
        if let Some(value) = value {
            self.sum += value;
            self.count += 1;
        }
    }

    fn value(&self) -> Option<f64> {
        (self.count > 0).then(|| self.sum / self.count as f64)
    }
}

/// Ranks the examples by each candidate of a block, query by query.
pub(super) struct BlockRanking<'a> {
    criterion: &'a RankingCriterion,
    state: &'a State,
    means: [Mean; LANES],
    /// One candidate's predictions for the query at hand.
    predictions: Vec<f64>,
}

impl<'a> BlockRanking<'a> {
    pub(super) fn new(criterion: &'a RankingCriterion, state: &'a State) -> Self {
        Self {
            criterion,
            state,
            means: [Mean::default(); LANES],
            predictions: Vec::new(),
        }
    }

    /// Ranks a query whose leave-query-out residual becomes `p_Q - beta_Q T_Q u_Q`. A weight of
    /// the query scales all its predictions, which changes no order.
    pub(super) fn add(&mut self, query: usize, beta: &Lanes, tu: &[Lanes]) {
        let range = self.state.queries().range(query);
        let scale = self.state.scale(query);
        let labels = &self.state.labels()[range.clone()];
        let holdout = &self.state.holdout()[range];
        for (lane, mean) in self.means.iter_mut().enumerate() {
            let predictions = labels.iter().zip(holdout).zip(tu);
            let predictions = predictions.map(|((label, residual), tu)| {
                (label - (residual - beta[lane] * tu[lane])) / scale
            });
            self.predictions.clear();
            self.predictions.extend(predictions);
            mean.add(self.criterion.of_query(query, &mut self.predictions));
        }
    }

    /// The same for a query with given `u_Q`, `T_Q u_Q` and the terms of the block.
    pub(super) fn judge(&mut self, query: u32, terms: &BlockTerms, u: &[Lanes], tu: &[Lanes]) {
        let mut sums = QuerySums::default();
        let range = self.state.queries().range(query as usize);
        for ((u, tu), &p) in u.iter().zip(tu).zip(&self.state.holdout()[range]) {
            sums.add(u, tu, p);
        }
        self.add(query as usize, &terms.betas(query, &sums), tu);
    }

    /// What is missing to a perfect ranking, by candidate; nan where nothing is defined, which
    /// never wins.
    pub(super) fn losses(&self) -> Lanes {
        self.means
            .map(|mean| 1.0 - mean.value().unwrap_or(f64::NAN))
    }
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
