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
//! exactly, every other weight fitted again. When a feature is added, `r` loses `eta phi`, so
//! with `tau = v . phi` a candidate's `rho` loses `eta tau`, and its `|z|^2` grows by `tau^2`: a
//! step costs one product with every sparse column, O(nnz).

use rayon::prelude::*;

use crate::columns::ColumnClasses;
use crate::greedy::strategy::{Facts, Property, Shape, bytes, error_left};
use crate::greedy::{Round, State, Strategy};
use crate::interrupt::check_interrupt;
use crate::linalg::kernels;

/// Candidates that a task judges.
const CHUNK: usize = 512;

pub(super) const FACTS: Facts = Facts {
    name: "residual",
    summary: "Baseline: the least regularised training error, O(nnz) a step",
    properties: &[Property::Samples, Property::Baseline],
    sample: None,
    memory: Residual::memory,
    cost: Shape::pass,
    build: |_, _| Box::new(Residual::default()),
};

/// Judges candidates by the regularised training error.
#[derive(Debug, Default)]
pub(super) struct Residual {
    /// Products of every candidate; empty before the first step.
    products: Vec<Products>,
}

/// Products of a candidate's `v` with the state.
#[derive(Debug, Clone, Copy)]
struct Products {
    /// `v . r`.
    rho: f64,
    /// `|z|^2`.
    explained: f64,
}

impl Residual {
    /// The products of each candidate, and `z` for each thread.
    pub(super) fn memory(shape: &Shape) -> u64 {
        let [candidates, threads, k] = [shape.candidates, shape.threads, shape.k].map(bytes);
        (bytes(16) * candidates + bytes(8) * threads * k).0
    }

    /// The products of all candidates with a state that may have features already.
    fn start(&mut self, candidates: &ColumnClasses, state: &State) {
        let products = |z: &mut Vec<f64>, candidate: usize| {
            check_interrupt();
            let column = candidates.column(candidate);
            state.project(column, z);
            Products {
                rho: kernels::sparse_dot(column.rows, column.values, state.residual()),
                explained: kernels::dot(z, z),
            }
        };
        let all = (0..candidates.len())
            .into_par_iter()
            .with_min_len(CHUNK)
            .with_max_len(CHUNK);
        self.products = all
            .map_init(|| vec![0.0; state.steps()], products)
            .collect();
    }
}

impl Strategy for Residual {
    fn errors(&mut self, round: &Round<'_>, eligible: &[u32]) -> Vec<f64> {
        let (candidates, state) = (round.candidates, round.state);
        if self.products.is_empty() {
            self.start(candidates, state);
        }
        let error = kernels::dot(state.labels(), state.residual());
        let lambda = state.lambda().value();
        let judge = |&candidate: &u32| {
            let candidate = candidate as usize;
            let Products { rho, explained } = self.products[candidate];
            // |v|^2 - |z|^2 is not negative, but for rounding.
            let unexplained = candidates.squared_norm(candidate) - explained;
            error_left(error, rho * rho / (lambda + unexplained.max(0.0)))
        };
        eligible.iter().map(judge).collect()
    }

    fn follows(&self) -> bool {
        true
    }

    fn adopt(&mut self, candidates: &ColumnClasses, state: &State) {
        let Some(last) = state.last() else { return };
        if state.steps() == 1 && self.products.is_empty() {
            // A path that is replayed has to sum up as the first run did.
            self.start(candidates, &state.without_features());
        }
        let products = self
            .products
            .par_iter_mut()
            .with_min_len(CHUNK)
            .with_max_len(CHUNK);
        products.enumerate().for_each(|(candidate, products)| {
            let column = candidates.column(candidate);
            let tau = kernels::sparse_dot(column.rows, column.values, &last.phi);
            products.rho -= last.eta * tau;
            products.explained += tau * tau;
        });
    }
}
