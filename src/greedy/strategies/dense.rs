//! Algorithm 1 of the paper: O(k m n) time, O(m n) memory.
//!
//! `docs/paper.md` has Algorithm 1 line by line beside the functions. The paper's letters and their values here
//! (`docs/derivation.md`, sections 3 to 5):
//!
//! | paper | here |
//! |---|---|
//! | `a` | `lambda a` is [`State::residual`] |
//! | `p` | [`State::holdout`] |
//! | `C` | [`Block::c`] is `lambda C`: the `u` of equation (*) |
//! | `U` | [`Block::u`]: the `T u` of equation (*) |
//! | `c` of a candidate | `lambda / s` |
//! | `d` of a candidate | `rho / s` |
//! | `gamma` in a query | `-lambda / (s - C_Q . U_Q)` with `lambda C` |
//! | `beta` in a query | `(rho - C_Q . p_Q) / (s - C_Q . U_Q)` with `lambda C`: [`Terms::betas`] |
//!
//! When the next step begins, the last added feature is subtracted from `C` and `U` of every candidate. `phi`,
//! `psi`, `nu` and `B` are from section 5 ([`LastStep`], where `B` is `leverage`):
//!
//! ```text
//! C_Q <- C_Q - tau phi_Q                                        tau = phi . v
//! U_Q <- U_Q - psi_Q (tau - nu_Q (C_Q . psi_Q - tau B_Q))       (C from before)
//! ```
//!
//! The same pass computes the sums of the step. Both caches have eight candidates side by side, so a query of a
//! block stays in the first-level cache between the update and the sums.

use rayon::prelude::*;

use super::lowmem::{LowMemory, fill_lane};
use crate::columns::ColumnClasses;
use crate::data::Column;
use crate::greedy::criterion::BlockRanking;
use crate::greedy::gain::{QuerySums, Terms};
use crate::greedy::strategy::{Facts, bytes, error_left};
use crate::greedy::{LastStep, Round, State, Strategy};
use crate::linalg::kernels::{self, LANES, Lanes};
use crate::metrics::Judge;
use crate::stop;

pub(super) const FACTS: Facts = Facts {
    name: "dense",
    exact: true,
    ranks: true,
    memory: |shape| {
        let candidates = shape.candidates.next_multiple_of(LANES);
        (bytes(16) * bytes(shape.rows) * bytes(candidates)).0
    },
    cost: |shape| 0.9e-9 * shape.cells(),
    build: |candidates, state| Box::new(Dense::new(candidates, state)),
    ..Facts::USUAL
};

/// `C` and `U` of all candidates; empty once the state has a factor for every query.
#[derive(Debug)]
struct Dense(Vec<Block>);

/// Eight candidates.
#[derive(Debug)]
struct Block {
    first: usize,
    terms: Terms<LANES>,
    /// `lambda C`, `m`.
    c: Vec<Lanes>,
    /// `U`, `m`.
    u: Vec<Lanes>,
    /// The decrease of the error by each candidate.
    gains: Lanes,
}

impl Dense {
    fn new(candidates: &ColumnClasses, state: &State) -> Self {
        let firsts = (0..candidates.len().div_ceil(LANES)).into_par_iter();
        let block = |block: usize| Block::new(candidates, state, block * LANES);
        Self(firsts.map(block).collect())
    }
}

impl Strategy for Dense {
    fn errors(&mut self, round: &Round<'_>, eligible: &[u32]) -> Vec<f64> {
        if round.state.query_factors().is_some() {
            return LowMemory.errors(round, eligible);
        }
        let error = round.state.error();
        let of_block = |block: &Block| match round.ranking {
            None => block.gains.map(|gain| error_left(error, gain)),
            Some(judge) => block.ranking_losses(judge, round.state),
        };
        let errors: Vec<Lanes> = self.0.par_iter().map(of_block).collect();
        let errors = errors.as_flattened();
        eligible.iter().map(|&at| errors[at as usize]).collect()
    }

    fn adopt(&mut self, candidates: &ColumnClasses, state: &State) {
        if state.query_factors().is_some() {
            // The caches would lose too many digits.
            self.0 = Vec::new();
        }
        if let Some(last) = state.last() {
            let blocks = self.0.par_iter_mut();
            blocks.for_each(|block| block.adopt(candidates, state, last));
        }
    }
}

impl Block {
    /// The block before the first step: `C = X' / lambda` and `U = X'`, for centred columns.
    fn new(candidates: &ColumnClasses, state: &State, first: usize) -> Self {
        let mut terms = Terms::new(state.lambda().value());
        if stop::requested() {
            return Self {
                first,
                terms,
                c: Vec::new(),
                u: Vec::new(),
                gains: [0.0; LANES],
            };
        }
        let mut c = vec![[0.0; LANES]; state.labels().len()];
        for (lane, candidate) in lanes(candidates, first) {
            for segment in candidates.segments(candidate) {
                let rows = candidates.queries().range(segment.query);
                fill_lane(&segment, rows.start, lane, &mut c[rows]);
            }
            let Column { rows, values } = candidates.column(candidate);
            terms.s[lane] += candidates.squared_norm(candidate);
            terms.rho[lane] = kernels::sparse_dot(rows, values, state.labels());
            terms.sole[lane] = candidates.sole_query(candidate).unwrap_or(u32::MAX);
        }
        let mut block = Self {
            first,
            terms,
            u: c.clone(),
            c,
            gains: [0.0; LANES],
        };
        let nothing = LastStep::none(state.queries());
        // A step without changes: it only computes the gains.
        block.update(&[0.0; LANES], &nothing, state);
        block
    }

    /// Subtracts the last added feature.
    fn adopt(&mut self, candidates: &ColumnClasses, state: &State, last: &LastStep) {
        if stop::requested() {
            return;
        }
        let mut tau = [0.0; LANES];
        for (lane, candidate) in lanes(candidates, self.first) {
            let Column { rows, values } = candidates.column(candidate);
            tau[lane] = kernels::sparse_dot(rows, values, &last.phi);
            self.terms.s[lane] -= tau[lane] * tau[lane];
            self.terms.rho[lane] -= tau[lane] * last.eta;
        }
        self.update(&tau, last, state);
    }

    /// Updates both caches and evaluates (*): O(m) a candidate.
    fn update(&mut self, tau: &Lanes, last: &LastStep, state: &State) {
        let (c, u) = (&mut self.c[..], &mut self.u[..]);
        self.gains = update_and_judge(&self.terms, c, u, (tau, last), state);
    }

    /// The distance to a perfect ranking with each candidate.
    fn ranking_losses(&self, judge: &Judge<'_>, state: &State) -> Lanes {
        if stop::requested() {
            return [f64::NAN; LANES];
        }
        let mut ranking = BlockRanking::new(judge, state);
        for (query, rows) in (0u32..).zip(state.queries().ranges()) {
            let (c, u) = (&self.c[rows.clone()], &self.u[rows.clone()]);
            let sums = QuerySums::of(c, u, &state.holdout()[rows]);
            ranking.add(query, &self.terms, &sums, u);
        }
        ranking.losses()
    }
}

/// The candidates of the block that starts with `first`, each with its lane.
fn lanes(candidates: &ColumnClasses, first: usize) -> impl Iterator<Item = (usize, usize)> {
    (first..candidates.len()).take(LANES).enumerate()
}

/// The two loops over queries of Algorithm 1, joined: the update of one step, and the gains of the next.
#[multiversion::multiversion(targets = "simd")]
fn update_and_judge(
    terms: &Terms<LANES>,
    c: &mut [Lanes],
    u: &mut [Lanes],
    (tau, last): (&Lanes, &LastStep),
    state: &State,
) -> Lanes {
    let mut gains = [0.0; LANES];
    for (query, rows) in (0u32..).zip(state.queries().ranges()) {
        let sums = update_query(
            (&mut c[rows.clone()], &mut u[rows.clone()]),
            (&last.phi[rows.clone()], &last.psi[rows.clone()]),
            (tau, last.leverage[query as usize], last.nu[query as usize]),
            &state.holdout()[rows],
        );
        kernels::add_scaled(&mut gains, 1.0, &terms.gained(query, &sums));
    }
    gains
}

/// `C_Q` and `U_Q` of the next step, and their sums.
#[inline(always)]
fn update_query(
    (c, u): (&mut [Lanes], &mut [Lanes]),
    (phi, psi): (&[f64], &[f64]),
    (tau, leverage, nu): (&Lanes, f64, f64),
    holdout: &[f64],
) -> QuerySums<LANES> {
    let mut along = [0.0; LANES];
    for (c, &psi) in c.iter().zip(psi) {
        for lane in 0..LANES {
            along[lane] += c[lane] * psi;
        }
    }
    let mut change = [0.0; LANES];
    for lane in 0..LANES {
        change[lane] = nu * (along[lane] - tau[lane] * leverage) - tau[lane];
    }
    let mut sums = QuerySums::default();
    let examples = c.iter_mut().zip(u).zip(phi.iter().zip(psi)).zip(holdout);
    for (((c, u), (&phi, &psi)), &p) in examples {
        for lane in 0..LANES {
            c[lane] -= tau[lane] * phi;
            u[lane] += change[lane] * psi;
        }
        sums.add(c, u, p);
    }
    sums
}
