//! Equation (*) of `docs/derivation.md`, section 4, of several candidates side by side.

use super::State;
use super::criterion::{Mean, RankingCriterion};
use crate::linalg::kernels::{LANES, Lanes};

/// The sums that a query adds to equation (*), of each candidate.
#[derive(Debug, Clone, Copy)]
pub(super) struct QuerySums<const N: usize> {
    /// `u_Q . p_Q`
    pub(super) a: [f64; N],
    /// `u_Q . T_Q u_Q`
    pub(super) b: [f64; N],
    /// `p_Q . T_Q u_Q`
    pub(super) c: [f64; N],
    /// `|T_Q u_Q|^2`
    pub(super) d: [f64; N],
}

impl<const N: usize> Default for QuerySums<N> {
    fn default() -> Self {
        let zeros = [0.0; N];
        Self {
            a: zeros,
            b: zeros,
            c: zeros,
            d: zeros,
        }
    }
}

impl<const N: usize> QuerySums<N> {
    /// The sums of a query with these `u_Q`, `T_Q u_Q` and `p_Q`.
    pub(super) fn of(u: &[[f64; N]], tu: &[[f64; N]], p: &[f64]) -> Self {
        let mut sums = Self::default();
        for ((u, tu), &p) in u.iter().zip(tu).zip(p) {
            sums.add(u, tu, p);
        }
        sums
    }

    /// Adds an example: its `u`, `T u` and `p`.
    #[inline(always)]
    pub(super) fn add(&mut self, u: &[f64; N], tu: &[f64; N], p: f64) {
        for lane in 0..N {
            self.a[lane] += u[lane] * p;
            self.b[lane] += u[lane] * tu[lane];
            self.c[lane] += p * tu[lane];
            self.d[lane] += tu[lane] * tu[lane];
        }
    }

    /// Adds an example where the terms have the sums of the other queries already: `a` and `b` would take
    /// the query out of them again, and stay 0.
    #[inline(always)]
    pub(super) fn add_left_out(&mut self, tu: &[f64; N], p: f64) {
        for (lane, tu) in tu.iter().enumerate() {
            self.c[lane] += p * tu;
            self.d[lane] += tu * tu;
        }
    }
}

/// The terms of equation (*) besides the sums of a query, of each candidate: the same for all queries, but
/// where each query has a factor of its own (`folds.rs`).
#[derive(Debug, Clone, Copy)]
pub(super) struct Terms<const N: usize> {
    /// `s = lambda + |v|^2 - |z|^2`
    pub(super) s: [f64; N],
    /// `rho = v . r`
    pub(super) rho: [f64; N],
    /// The query that holds the whole column, or `u32::MAX`.
    pub(super) sole: [u32; N],
    pub(super) lambda: f64,
}

impl<const N: usize> Terms<N> {
    /// The terms of columns that are 0.
    pub(super) fn new(lambda: f64) -> Self {
        Self {
            s: [lambda; N],
            rho: [0.0; N],
            sole: [u32::MAX; N],
            lambda,
        }
    }

    /// `beta_Q`, the weight of each candidate in the model trained without `Q`: 0 where no other query
    /// has the candidate.
    #[inline(always)]
    pub(super) fn betas(&self, query: u32, sums: &QuerySums<N>) -> [f64; N] {
        let mut betas = [0.0; N];
        for (lane, beta) in betas.iter_mut().enumerate() {
            if self.sole[lane] != query {
                // s - b_Q >= lambda but for rounding (section 6).
                let slack = (self.s[lane] - sums.b[lane]).max(self.lambda);
                *beta = (self.rho[lane] - sums.a[lane]) / slack;
            }
        }
        betas
    }

    /// `2 beta_Q c_Q - beta_Q^2 d_Q`, what the query adds to `e(S) - e(S + v)`.
    #[inline(always)]
    pub(super) fn gained(&self, query: u32, sums: &QuerySums<N>) -> [f64; N] {
        let mut gained = self.betas(query, sums);
        for (lane, gained) in gained.iter_mut().enumerate() {
            let beta = *gained;
            *gained = beta * (2.0 * sums.c[lane] - beta * sums.d[lane]);
        }
        gained
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
