//! The criterion of a step: the squared error of its leave-query-out predictions,
//! or how they rank; and their concordance.

use std::ops::Range;

use rayon::prelude::*;

use super::State;
use super::gain::{QuerySums, Terms};
use crate::data::{LabelScale, Queries};
use crate::linalg::kernels::{LANES, Lanes};
use crate::metrics::{
    Convention, LabelUse, Metric, Rules, of_tied, pairs_of, prediction_tolerance, tie,
    tie_predictions,
};

/// A ranking measure of predictions for the examples of a training set.
#[derive(Debug, Clone)]
pub struct RankingCriterion {
    metric: Metric,
    queries: Queries,
    /// Labels as given, `m`.
    labels: Vec<f64>,
    /// Pairs of different labels, by query.
    pairs: Vec<u64>,
    rules: Rules,
    /// Predictions of a query that are no further apart are tied.
    tolerance: f64,
    /// The measure of a perfect ranking.
    perfect: f64,
}

impl RankingCriterion {
    /// `metric` by `rules`, which may be a [`Convention`], of predictions for examples with `labels`, as given,
    /// which predictions are of, too; `None` when no query has a value whatever the predictions. Discrete, so ties
    /// are common, and they go to the lowest feature as always.
    pub(super) fn new(
        metric: Metric,
        rules: impl Into<Rules>,
        labels: &[f64],
        queries: &Queries,
    ) -> Option<Self> {
        let centred = queries.centred(labels);
        let mut criterion = Self {
            metric,
            queries: queries.clone(),
            labels: labels.to_vec(),
            pairs: queries
                .ranges()
                .map(|rows| pairs_of(&labels[rows]))
                .collect(),
            rules: rules.into().of(labels),
            tolerance: prediction_tolerance(&centred),
            perfect: 1.0,
        };
        let equal = vec![0.0; labels.len()];
        criterion.mean(&equal)?;
        if metric.labels() == LabelUse::Value {
            criterion.perfect = criterion.mean(labels)?;
        }
        Some(criterion)
    }

    /// The concordance index of a state's leave-query-out predictions; `None` when no query has a pair of
    /// different labels. Labels as given, not centred.
    pub(super) fn concordance(state: &State, labels: &[f64]) -> Option<Self> {
        let metric = Metric::Concordance;
        let criterion = Self::new(metric, Convention::Standard, labels, state.queries())?;
        Some(Self {
            tolerance: prediction_tolerance(&state.centred_labels()),
            ..criterion
        })
    }

    /// This measure of predictions that are of the labels on this scale: those that are taken for
    /// equal are as far apart as rounding takes them, which is in proportion to what is predicted.
    #[must_use]
    pub(super) fn on_scale(self, scale: LabelScale) -> Self {
        let learnt = scale.apply(&self.labels, &self.queries);
        let tolerance = prediction_tolerance(&self.queries.centred(&learnt));
        Self { tolerance, ..self }
    }

    /// The measure of one query's predictions, which it overwrites.
    pub(super) fn of_query(&self, query: usize, predictions: &mut [f64]) -> Option<f64> {
        let labels = &self.labels[self.queries.range(query)];
        if self.metric == Metric::Concordance {
            return of_tied(labels, predictions, self.pairs[query], self.tolerance);
        }
        tie(predictions, self.tolerance);
        self.metric.query(labels, predictions, self.rules)
    }

    /// The distance of a mean to that of a perfect ranking: less is better.
    pub(super) fn loss(&self, mean: f64) -> f64 {
        self.perfect - mean
    }

    /// The measure of predictions for all examples, `m`, averaged over the queries where it is
    /// defined.
    pub fn mean(&self, predictions: &[f64]) -> Option<f64> {
        let of_run = |run: Range<usize>| -> Vec<Option<f64>> {
            let mut own = Vec::new();
            let of_query = |query| {
                own.clear();
                own.extend_from_slice(&predictions[self.queries.range(query)]);
                self.of_query(query, &mut own)
            };
            run.map(of_query).collect()
        };
        let runs = self.queries.tasks().into_par_iter().map(of_run);
        let values: Vec<Vec<Option<f64>>> = runs.collect();
        let mut mean = Mean::default();
        values
            .into_iter()
            .flatten()
            .for_each(|value| mean.add(value));
        mean.value()
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

    pub(super) fn value(&self) -> Option<f64> {
        (self.count > 0).then(|| self.sum / self.count as f64)
    }
}

/// Leave-query-out predictions, those of a query that differ by rounding made equal.
pub(crate) fn tied_predictions(state: &State) -> Vec<f64> {
    let mut predictions = state.predictions();
    tie_predictions(&mut predictions, &state.centred_labels(), state.queries());
    predictions
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

    /// Ranks a query whose leave-query-out residual becomes `p_Q - beta_Q T_Q u_Q`. `tu` may be longer than
    /// the query; further rows are ignored. A weight of the query scales all its predictions. It is divided
    /// out, because the tolerance of ties is a share of the predictions.
    pub(super) fn add(
        &mut self,
        query: u32,
        terms: &Terms<LANES>,
        sums: &QuerySums<LANES>,
        tu: &[Lanes],
    ) {
        let (beta, query) = (terms.betas(query, sums), query as usize);
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

    /// The distance to a perfect ranking, by candidate; nan where nothing is defined, which
    /// never wins.
    pub(super) fn losses(&self) -> Lanes {
        self.means
            .map(|mean| self.criterion.loss(mean.value().unwrap_or(f64::NAN)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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

    #[test]
    fn losses_are_distances_to_a_perfect_ranking() {
        let queries = Queries::from_sizes(&[2, 3]).unwrap();
        for size in [1e-30, 1.0, 1e30] {
            let labels = [-2.0, -3.0, 0.0, 4.0, 4.0].map(|label| label * size);
            for (name, perfect) in [("label@1", size), ("map", 1.0), ("cindex", 1.0)] {
                let (metric, rules) = (name.parse().unwrap(), Convention::Standard);
                let found = RankingCriterion::new(metric, rules, &labels, &queries).unwrap();
                assert_eq!(found.loss(0.25 * perfect), 0.75 * perfect, "{name} {size}");
                assert_eq!(
                    found.loss(found.mean(&labels).unwrap()),
                    0.0,
                    "{name} {size}"
                );
            }
        }
    }

    /// On a scale, predictions are of the size of 1 whatever the size of the labels.
    #[test]
    fn ties_are_as_wide_as_what_is_predicted() {
        let queries = Queries::from_sizes(&[2, 2]).unwrap();
        for size in [1e-9, 1.0, 1e9, 1e300] {
            let labels = [0.0, size, 2.0 * size, 0.0];
            for scale in LabelScale::ALL {
                let found = RankingCriterion::new(
                    Metric::Concordance,
                    Convention::Standard,
                    &labels,
                    &queries,
                );
                let found = found.unwrap().on_scale(scale);
                let learnt = scale.apply(&labels, &queries);
                let learnt = queries.centred(&learnt);
                let largest = learnt.iter().copied().fold(0.0, f64::max);
                let apart = [0.0, 1e-11 * largest, 1e-13 * largest, 0.0];
                assert_eq!(found.mean(&apart), Some(0.75), "{size} {scale}");
            }
        }
    }
}
