//! Forward selection by training error, without cross-validation: orthogonal matching pursuit
//! with exact pre-fitting (Vincent and Bengio, 2002). A baseline: it shows what judging by
//! queries that were left out buys.
//!
//! The regularised training error of the features `S`, which RankRLS minimises, is `y . r`, and
//!
//! ```text
//! J(S) - J(S + v) = rho^2 / s        rho = v . r        s = lambda + |v|^2 - |z|^2
//! ```
//!
//! exactly, every other weight fitted again. `|z|^2` grows by `tau^2`, `tau = phi . v`, when a
//! feature is added, so a step costs two products with every sparse column: O(nnz).

use rayon::prelude::*;

use crate::columns::ColumnClasses;
use crate::greedy::contest::error_left;
use crate::greedy::strategy::{Facts, Shape};
use crate::greedy::{Contest, Round, State, Strategy, Work};
use crate::kernels;

/// Candidates judged by one task.
const CHUNK: usize = 512;

pub(super) const FACTS: Facts = Facts {
    name: "residual",
    summary: "Baseline: the least regularised training error, O(nnz) a step",
    exact: false,
    samples: true,
    ranks: false,
    baseline: true,
    sample: None,
    // |z|^2 and a place in the list of those judged for each candidate, and z for each thread.
    memory: |shape| 12 * shape.candidates as u64 + 8 * (shape.threads * shape.k) as u64,
    cost: Shape::pass,
    build: |_, _| Box::new(Residual::default()),
};

/// Judges candidates by the regularised training error.
#[derive(Debug, Default)]
struct Residual {
    /// `|z|^2` of every candidate; empty until the first proposal.
    explained: Vec<f64>,
}

impl Residual {
    /// `|z|^2` of all candidates for a state that may have features already.
    fn start(&mut self, round: &Round<'_>) {
        let state = round.state;
        self.explained = (0..round.candidates.len())
            .into_par_iter()
            .with_min_len(CHUNK)
            .map_init(
                || vec![0.0; state.steps()],
                |z, candidate| {
                    state.project(round.candidates.column(candidate), z);
                    kernels::dot(z, z)
                },
            )
            .collect();
    }
}

impl Strategy for Residual {
    fn propose(&mut self, round: &Round<'_>) -> (Contest, Work) {
        if self.explained.is_empty() {
            self.start(round);
        }
        let (candidates, state) = (round.candidates, round.state);
        let error = kernels::dot(state.labels(), state.residual());
        let lambda = state.lambda().value();
        let judge = |candidate: usize| {
            let column = candidates.column(candidate);
            let rho = kernels::sparse_dot(column.rows, column.values, state.residual());
            // |v|^2 - |z|^2 is not negative, but for rounding.
            let unexplained = candidates.squared_norm(candidate) - self.explained[candidate];
            error_left(error, rho * rho / (lambda + unexplained.max(0.0)))
        };
        let eligible = round.eligible_candidates();
        let contest = round.judge(&eligible, CHUNK, || (), |(), candidate| judge(candidate));
        (contest, Work::evaluated(eligible.len()))
    }

    fn adopt(&mut self, candidates: &ColumnClasses, state: &State) {
        let Some(last) = state.last() else { return };
        if state.steps() == 1 {
            // A path that is replayed has to sum up as the first run did.
            self.explained = vec![0.0; candidates.len()];
        }
        let explained = self.explained.par_iter_mut().with_min_len(CHUNK);
        explained.enumerate().for_each(|(candidate, explained)| {
            let column = candidates.column(candidate);
            let tau = kernels::sparse_dot(column.rows, column.values, &last.phi);
            *explained += tau * tau;
        });
    }
}
