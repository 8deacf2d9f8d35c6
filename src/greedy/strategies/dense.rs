//! Algorithm 1 of the paper: O(k m n) time, O(m n) memory.
//!
//! The paper caches `C = G X^'` and `U = Q G X^'` (`m x n`). In the terms of
//! `docs/derivation.md`, section 3, `lambda C_i = v_i - Phi' Phi v_i = u_i` and `U_i = T u_i`, query by
//! query; this strategy keeps `u` and `T u`. When a feature is added,
//!
//! ```text
//! u_i   <- u_i - tau_i phi                  tau_i = phi . v_i
//! T u_i <- T u_i + psi_Q (nu_Q (u_iQ . psi_Q - tau_i B_Q) - tau_i)
//! ```
//!
//! which is applied when the candidate is next judged, so that a step reads and
//! writes each cache once. Caches hold eight candidates side by side: one query
//! of a block stays in the first-level cache between its two passes.

use rayon::prelude::*;

use super::lowmem::LowMemory;
use crate::columns::ColumnClasses;
use crate::greedy::block::{BlockRanking, BlockTerms, QuerySums};
use crate::greedy::contest::error_left;
use crate::greedy::strategy::Facts;
use crate::greedy::{Contest, Entrant, LastStep, RankingCriterion, Round, State, Strategy, Work};
use crate::interrupt::heed;
use crate::kernels::{self, LANES, Lanes};

pub(super) const FACTS: Facts = Facts {
    name: "dense",
    summary: "Algorithm 1 with dense caches: exact, O(k m n) time, O(m n) memory",
    exact: true,
    samples: false,
    ranks: true,
    baseline: false,
    distils: false,
    sample: None,
    memory: |shape| 16 * (shape.rows * shape.candidates.next_multiple_of(LANES)) as u64,
    cost: |shape| 0.9e-9 * shape.cells(),
    build: |candidates, state| Box::new(Dense::new(candidates, state)),
};

/// Algorithm 1 with caches of `u` and `T u` for every candidate.
#[derive(Debug)]
struct Dense {
    blocks: Vec<Block>,
    /// The step that the caches do not know of yet.
    pending: LastStep,
}

/// Eight candidates.
#[derive(Debug)]
struct Block {
    first: usize,
    terms: BlockTerms,
    /// `u` by example; empty until the block is first judged.
    u: Vec<Lanes>,
    /// `T u` by example.
    tu: Vec<Lanes>,
}

impl Dense {
    /// Room for the caches of all candidates; they are filled in the first step.
    fn new(candidates: &ColumnClasses, state: &State) -> Self {
        let firsts = (0..candidates.len()).step_by(LANES);
        let lambda = state.lambda().value();
        Self {
            blocks: firsts
                .map(|first| Block::new(candidates, first, lambda))
                .collect(),
            pending: LastStep::none(candidates.queries()),
        }
    }

    fn apply_pending(&mut self, candidates: &ColumnClasses, state: &State) {
        let pending = &self.pending;
        self.blocks.par_iter_mut().for_each(|block| {
            block.advance(candidates, state, pending);
        });
    }
}

impl Strategy for Dense {
    fn propose(&mut self, round: &Round<'_>) -> (Contest, Work) {
        if round.state.folds().is_some() {
            // The caches would lose too many digits.
            return LowMemory.propose(round);
        }
        let eligible = round.eligible_candidates();
        let (candidates, state, pending) = (round.candidates, round.state, &self.pending);
        let error = state.error();
        let contest = self
            .blocks
            .par_iter_mut()
            .map(|block| {
                let gains = block.advance(candidates, state, pending);
                let errors = match round.ranking {
                    None => gains.map(|gain| error_left(error, gain)),
                    Some(ranking) => block.ranking_losses(ranking, state),
                };
                let mut contest = Contest::default();
                for (candidate, error) in (block.first..candidates.len()).zip(errors) {
                    if round.eligible(candidate) {
                        let feature = candidates.feature(candidate);
                        contest.enter(Entrant { error, feature });
                    }
                }
                contest
            })
            .reduce(Contest::default, Contest::merge);
        self.pending = LastStep::none(candidates.queries());
        (contest, Work::evaluated(eligible.len()))
    }

    fn follows(&self) -> bool {
        true
    }

    fn adopt(&mut self, candidates: &ColumnClasses, state: &State) {
        let Some(last) = state.last() else { return };
        if state.folds().is_some() {
            self.blocks = Vec::new();
            return;
        }
        if !self.pending.is_none() || self.blocks.first().is_some_and(|block| block.u.is_empty()) {
            self.apply_pending(candidates, state);
        }
        self.pending.clone_from(last);
    }
}

impl Block {
    fn new(candidates: &ColumnClasses, first: usize, lambda: f64) -> Self {
        let mut terms = BlockTerms::new(lambda);
        for (lane, candidate) in (first..candidates.len()).take(LANES).enumerate() {
            terms.s[lane] += candidates.squared_norm(candidate);
            terms.sole[lane] = candidates.sole_query(candidate).unwrap_or(u32::MAX);
        }
        Self {
            first,
            terms,
            u: Vec::new(),
            tu: Vec::new(),
        }
    }

    /// Brings the caches up to date with `pending` and returns the gain of each candidate.
    fn advance(&mut self, candidates: &ColumnClasses, state: &State, pending: &LastStep) -> Lanes {
        heed();
        if self.u.is_empty() {
            self.fill(candidates, state);
        }
        let mut tau = [0.0; LANES];
        for (lane, candidate) in (self.first..candidates.len()).take(LANES).enumerate() {
            let column = candidates.column(candidate);
            tau[lane] = kernels::sparse_dot(column.rows, column.values, &pending.phi);
            self.terms.s[lane] -= tau[lane] * tau[lane];
            self.terms.rho[lane] -= tau[lane] * pending.eta;
        }
        let update = Update {
            tau: &tau,
            last: pending,
            offsets: state.queries().offsets(),
            holdout: state.holdout(),
        };
        update_and_judge(&self.terms, &mut self.u, &mut self.tu, &update)
    }

    /// What is missing to a perfect ranking with each candidate, by caches that are up to date.
    fn ranking_losses(&self, ranking: &RankingCriterion, state: &State) -> Lanes {
        let mut ranking = BlockRanking::new(ranking, state);
        for (query, rows) in (0u32..).zip(state.queries().ranges()) {
            let (u, tu) = (&self.u[rows.clone()], &self.tu[rows]);
            ranking.judge(query, &self.terms, u, tu);
        }
        ranking.losses()
    }

    /// `u = T u = v`, the centred columns.
    fn fill(&mut self, candidates: &ColumnClasses, state: &State) {
        self.u = vec![[0.0; LANES]; state.labels().len()];
        for (lane, candidate) in (self.first..candidates.len()).take(LANES).enumerate() {
            for segment in candidates.segments(candidate) {
                for row in candidates.queries().range(segment.query) {
                    self.u[row][lane] = -segment.mean;
                }
                for (row, value) in segment.column.iter() {
                    self.u[row][lane] = value - segment.mean;
                }
            }
            let column = candidates.column(candidate);
            self.terms.rho[lane] = kernels::sparse_dot(column.rows, column.values, state.labels());
        }
        self.tu.clone_from(&self.u);
    }
}

/// A step to apply to a block, and what to judge it by.
struct Update<'a> {
    /// `tau_i = phi . v_i`
    tau: &'a Lanes,
    last: &'a LastStep,
    offsets: &'a [u32],
    holdout: &'a [f64],
}

/// Applies the step to `u` and `T u` and evaluates (*): O(m) a candidate.
#[multiversion::multiversion(targets = "simd")]
fn update_and_judge(
    terms: &BlockTerms,
    u: &mut [Lanes],
    tu: &mut [Lanes],
    update: &Update<'_>,
) -> Lanes {
    let mut gains = [0.0; LANES];
    for (query, bounds) in (0u32..).zip(update.offsets.windows(2)) {
        let rows = bounds[0] as usize..bounds[1] as usize;
        let rows_of_step = (
            &update.last.phi[rows.clone()],
            &update.last.psi[rows.clone()],
        );
        let (leverage, nu) = (
            update.last.leverage[query as usize],
            update.last.nu[query as usize],
        );
        let sums = update_query(
            (&mut u[rows.clone()], &mut tu[rows.clone()]),
            rows_of_step,
            (update.tau, leverage, nu),
            &update.holdout[rows],
        );
        kernels::add_scaled(&mut gains, 1.0, &terms.gained(query, &sums));
    }
    gains
}

#[inline(always)]
fn update_query(
    (u, tu): (&mut [Lanes], &mut [Lanes]),
    (phi, psi): (&[f64], &[f64]),
    (tau, leverage, nu): (&Lanes, f64, f64),
    holdout: &[f64],
) -> QuerySums {
    let mut along_psi = [0.0; LANES];
    for (u, &psi) in u.iter().zip(psi) {
        for lane in 0..LANES {
            along_psi[lane] += u[lane] * psi;
        }
    }
    let mut change = [0.0; LANES];
    for lane in 0..LANES {
        change[lane] = nu * (along_psi[lane] - tau[lane] * leverage) - tau[lane];
    }
    let mut sums = QuerySums::default();
    let examples = u.iter_mut().zip(tu).zip(phi.iter().zip(psi)).zip(holdout);
    for (((u, tu), (&phi, &psi)), &p) in examples {
        for lane in 0..LANES {
            u[lane] -= tau[lane] * phi;
            tu[lane] += change[lane] * psi;
        }
        sums.add(u, tu, p);
    }
    sums
}
