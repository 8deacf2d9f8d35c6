//! Sparse back-fitting under leave-query-out (`docs/derivation.md`, section 7):
//! O(k m-) time a candidate and step, m- the non-zeros of a column.
//!
//! A candidate is judged with all other weights held. Every model without a query `Q` keeps its weights; the new
//! weight is fitted to the residuals of the other queries and tested on `Q`,
//!
//! ```text
//! alpha_Q = (rho - a_Q) / (lambda + |v|^2 - |v_Q|^2)
//! a_Q     = v_Q . p_Q - z . f_Q = v_Q . p_Q - x . e_Q
//! x       = X_S' v          e_Q = F'^-1 f_Q = (X_S' X_S + lambda I)^-1 X_{S,Q}' p_Q
//! gain    = sum over touched Q of 2 alpha_Q (v_Q . p_Q) - alpha_Q^2 |v_Q|^2
//! ```
//!
//! and once it is chosen everything is fitted again. This is another criterion than leave-query-out pre-fitting,
//! not an approximation of its arithmetic, so it may choose other features.

use rayon::prelude::*;

use crate::greedy::strategy::{Facts, bytes, error_left};
use crate::greedy::{Round, State, Strategy};
use crate::linalg::kernels;
use crate::stop;

/// Candidates that a task judges.
const CHUNK: usize = 512;

pub(super) const FACTS: Facts = Facts {
    name: "backfit",
    samples: true,
    // e_Q for every query, and x for each thread.
    memory: |shape| {
        let [queries, threads, k] = [shape.queries, shape.threads, shape.k].map(bytes);
        (bytes(8) * (queries + threads) * k).0
    },
    build: |_, _| Box::new(Backfit),
    ..Facts::USUAL
};

/// Judges candidates with all other weights held.
struct Backfit;

impl Strategy for Backfit {
    fn errors(&mut self, round: &Round<'_>, eligible: &[u32]) -> Vec<f64> {
        let error = round.state.error();
        let explained = explained_holdout(round.state);
        let judge = |x: &mut Vec<f64>, &candidate: &u32| {
            if stop::requested() {
                return f64::NAN;
            }
            error_left(error, gain(round, candidate as usize, &explained, x))
        };
        let tasks = eligible.par_iter().with_min_len(CHUNK).with_max_len(CHUNK);
        tasks
            .map_init(|| vec![0.0; round.state.steps()], judge)
            .collect()
    }
}

/// The decrease of the leave-query-out error by back-fitting `candidate`.
#[multiversion::multiversion(targets = "simd")]
fn gain(round: &Round<'_>, candidate: usize, explained: &[f64], x: &mut [f64]) -> f64 {
    let (candidates, state) = (round.candidates, round.state);
    if candidates.sole_query(candidate).is_some() {
        // Only the held-out query has anything to fit.
        return 0.0;
    }
    let column = candidates.column(candidate);
    state.products(column, x);
    let rho = kernels::sparse_dot(column.rows, column.values, state.residual());
    let norm = state.lambda().value() + candidates.squared_norm(candidate);
    candidates
        .segments(candidate)
        .map(|segment| {
            let entries = segment.column;
            let along = kernels::sparse_dot(entries.rows, entries.values, state.holdout());
            let own = &explained[segment.query * x.len()..][..x.len()];
            let a = along - kernels::dot(x, own);
            // |v|^2 - |v_Q|^2 is negative only by rounding.
            let slack = (norm - segment.squared_norm).max(state.lambda().value());
            let alpha = (rho - a) / slack;
            alpha * (2.0 * along - alpha * segment.squared_norm)
        })
        .sum()
}

/// `e_Q` for every query: `q` rows of `t`.
fn explained_holdout(state: &State) -> Vec<f64> {
    let steps = state.steps();
    let mut explained = vec![0.0; steps * state.queries().len()];
    let rows = explained.par_chunks_exact_mut(steps.max(1)).enumerate();
    rows.for_each(|(query, own)| {
        let holdout = &state.holdout()[state.queries().range(query)];
        state.matrices()[query]
            .selected
            .add_products_of(holdout, own);
        state.solve(own);
    });
    explained
}
