//! Candidates judged eight at a time, one to a vector lane: equation (*) of `docs/derivation.md`,
//! section 4, and how the predictions rank.

use super::State;
use super::criterion::{Mean, RankingCriterion};
use crate::kernels::{LANES, Lanes};

/// What a query contributes to equation (*), for each candidate of a block.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct QuerySums {
    /// `u_Q . p_Q`
    pub(super) a: Lanes,
    /// `u_Q . T_Q u_Q`
    pub(super) b: Lanes,
    /// `p_Q . T_Q u_Q`
    pub(super) c: Lanes,
    /// `|T_Q u_Q|^2`
    pub(super) d: Lanes,
}

impl QuerySums {
    /// Adds one example: its `u`, `T u` and `p`.
    #[inline(always)]
    pub(super) fn add(&mut self, u: &Lanes, tu: &Lanes, p: f64) {
        for lane in 0..LANES {
            self.a[lane] += u[lane] * p;
            self.b[lane] += u[lane] * tu[lane];
            self.c[lane] += p * tu[lane];
            self.d[lane] += tu[lane] * tu[lane];
        }
    }
}

/// What does not depend on the query, for each candidate of a block.
#[derive(Debug, Clone, Copy)]
pub(super) struct BlockTerms {
    /// `s = lambda + |v|^2 - |z|^2`
    pub(super) s: Lanes,
    /// `rho = v . r`
    pub(super) rho: Lanes,
    /// The query that holds the whole column, or `u32::MAX`.
    pub(super) sole: [u32; LANES],
    pub(super) lambda: f64,
}

impl BlockTerms {
    pub(super) fn new(lambda: f64) -> Self {
        Self {
            s: [lambda; LANES],
            rho: [0.0; LANES],
            sole: [u32::MAX; LANES],
            lambda,
        }
    }

    /// A query's part of `e(S) - e(S + v)`, equation (*).
    #[inline(always)]
    pub(super) fn gained(&self, query: u32, sums: &QuerySums) -> Lanes {
        let mut gained = self.betas(query, sums);
        for (lane, gained) in gained.iter_mut().enumerate() {
            let beta = *gained;
            *gained = beta * (2.0 * sums.c[lane] - beta * sums.d[lane]);
        }
        gained
    }

    /// `beta_Q`: the coefficient of a candidate in the model trained without `Q`.
    #[inline(always)]
    fn beta(&self, lane: usize, sums: &QuerySums) -> f64 {
        // s - b_Q >= lambda but for rounding.
        let slack = (self.s[lane] - sums.b[lane]).max(self.lambda);
        (self.rho[lane] - sums.a[lane]) / slack
    }

    /// `beta_Q` for each candidate, 0 for one that no other query has: it gets no weight without
    /// this one.
    #[inline(always)]
    pub(super) fn betas(&self, query: u32, sums: &QuerySums) -> Lanes {
        let mut betas = [0.0; LANES];
        for (lane, found) in betas.iter_mut().enumerate() {
            if self.sole[lane] != query {
                *found = self.beta(lane, sums);
            }
        }
        betas
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
