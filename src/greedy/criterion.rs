//! A step's criterion that ranks: it judges the leave-query-out predictions with each candidate.

use super::State;
use super::gain::{QuerySums, Terms};
use crate::linalg::kernels::{LANES, Lanes};
use crate::metrics::{Judge, Score};

/// Ranks the examples by each candidate of a block, query by query.
pub(super) struct BlockRanking<'a> {
    judge: &'a Judge<'a>,
    state: &'a State,
    /// Values by candidate and query.
    values: [Vec<Option<f64>>; LANES],
    /// One candidate's predictions for the present query.
    predictions: Vec<f64>,
}

impl<'a> BlockRanking<'a> {
    pub(super) fn new(judge: &'a Judge<'a>, state: &'a State) -> Self {
        Self {
            judge,
            state,
            values: std::array::from_fn(|_| Vec::new()),
            predictions: Vec::new(),
        }
    }

    /// Ranks a query whose leave-query-out residual becomes `p_Q - beta_Q T_Q u_Q`. Ignores rows of `tu` beyond the
    /// query. The weight of the query scales all its predictions. It is divided out, because the tolerance of ties
    /// is a share of the predictions.
    pub(super) fn add(
        &mut self,
        query: u32,
        terms: &Terms<LANES>,
        sums: &QuerySums<LANES>,
        tu: &[Lanes],
    ) {
        let (beta, query) = (terms.betas(query, sums), query as usize);
        let range = self.state.queries().range(query);
        let scale = self.state.weight_root(query);
        let labels = &self.state.labels()[range.clone()];
        let holdout = &self.state.holdout()[range];
        for (lane, values) in self.values.iter_mut().enumerate() {
            let predictions = labels.iter().zip(holdout).zip(tu);
            let predictions = predictions.map(|((label, residual), tu)| {
                (label - (residual - beta[lane] * tu[lane])) / scale
            });
            self.predictions.clear();
            self.predictions.extend(predictions);
            values.push(self.judge.of_query(query, &mut self.predictions));
        }
    }

    /// The distance to a perfect ranking, by candidate. It is nan, which never wins, if no query has a value.
    pub(super) fn losses(self) -> Lanes {
        let mean = |values| Score::of(values).mean.unwrap_or(f64::NAN);
        self.values.map(|values| self.judge.shortfall(mean(values)))
    }
}
