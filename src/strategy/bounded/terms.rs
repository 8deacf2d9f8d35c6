//! What a step's bounds need of every query, taken once a step.

use rayon::prelude::*;

use crate::kernels;
use crate::strategy::State;

/// Norms of one query. Every one is that of a vector or matrix of section 3.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct QueryTerms {
    /// `|f_Q|`, `f_Q = Phi_Q p_Q`
    pub(super) f: f64,
    /// `|g_Q|`, `g_Q = Phi_Q T_Q p_Q = H_Q' p_Q`
    pub(super) g: f64,
    /// `|p_Q|^2`
    pub(super) p_squared: f64,
    /// `|r_Q|`
    pub(super) r: f64,
    /// `h_Q >= |T_Q - I|`: its trace.
    pub(super) h: f64,
    /// `sqrt(h_Q (1 + h_Q)) >= |H_Q|`
    pub(super) held: f64,
    /// `min(1, |Phi_Q|_F) >= |Phi_Q|`
    pub(super) phi: f64,
}

/// The state of one step, as the bounds see it.
#[derive(Debug)]
pub(super) struct StepTerms {
    pub(super) steps: usize,
    pub(super) lambda: f64,
    pub(super) queries: Vec<QueryTerms>,
    /// `[f_Q, g_Q]` for every query: `2 t` numbers each.
    pub(super) vectors: Vec<f64>,
    /// `G = sum_Q g_Q`, `t`.
    pub(super) g: Vec<f64>,
    /// `|G|`
    pub(super) g_norm: f64,
    /// `sum_Q h_Q |g_Q|`
    pub(super) hg: f64,
    /// `sum_Q |f_Q| |g_Q|`
    pub(super) fg: f64,
    /// `max_Q h_Q`
    pub(super) h_max: f64,
    /// What rounding may have done to a gain or a bound: see `docs/bounds.md`.
    pub(super) slop: f64,
    /// `[p, r]` by example.
    pub(super) residuals: Vec<[f64; 2]>,
}

impl StepTerms {
    pub(super) fn new(state: &State) -> Self {
        let steps = state.steps();
        let mut vectors = vec![0.0; 2 * steps * state.queries().len()];
        let mut queries = vec![QueryTerms::default(); state.queries().len()];
        let jobs = queries.par_iter_mut().enumerate();
        if steps == 0 {
            jobs.for_each(|(query, terms)| *terms = QueryTerms::new(state, query, &mut []));
        } else {
            jobs.zip(vectors.par_chunks_exact_mut(2 * steps)).for_each(
                |((query, terms), vectors)| *terms = QueryTerms::new(state, query, vectors),
            );
        }
        let mut g = vec![0.0; steps];
        for pair in vectors.chunks_exact(2 * steps.max(1)) {
            kernels::add_scaled(&mut g, 1.0, &pair[steps..]);
        }
        let sum = |term: fn(&QueryTerms) -> f64| queries.iter().map(term).sum::<f64>();
        Self {
            steps,
            lambda: state.lambda().value(),
            g_norm: norm(&g),
            g,
            hg: sum(|terms| terms.h * terms.g),
            fg: sum(|terms| terms.f * terms.g),
            h_max: queries.iter().map(|terms| terms.h).fold(0.0, f64::max),
            queries,
            vectors,
            slop: state.error() * state.rounding(),
            residuals: state
                .holdout()
                .iter()
                .zip(state.residual())
                .map(|(&p, &r)| [p, r])
                .collect(),
        }
    }

    /// `f_Q`, `t` numbers.
    pub(super) fn f(&self, query: usize) -> &[f64] {
        &self.vectors[2 * self.steps * query..][..self.steps]
    }

    /// `g_Q`, `t` numbers.
    pub(super) fn g(&self, query: usize) -> &[f64] {
        &self.vectors[2 * self.steps * query..][self.steps..2 * self.steps]
    }

    /// Bytes for `queries` and `rows` after `k` steps.
    pub(super) fn memory(rows: usize, queries: usize, k: usize) -> u64 {
        (queries * (size_of::<QueryTerms>() + 16 * k) + 16 * rows + 8 * k) as u64
    }
}

impl QueryTerms {
    fn new(state: &State, query: usize, vectors: &mut [f64]) -> Self {
        let rows = state.queries().range(query);
        let (f, g) = vectors.split_at_mut(vectors.len() / 2);
        let matrices = state.query_matrices(query);
        let phi_squared = project_residual(&matrices, f, g);
        let h = state.trace(query);
        Self {
            f: norm(f),
            g: norm(g),
            p_squared: matrices.holdout.iter().map(|p| p * p).sum(),
            r: norm(&state.residual()[rows]),
            h,
            held: (h * (1.0 + h)).sqrt(),
            phi: phi_squared.sqrt().min(1.0),
        }
    }
}

/// `f_Q` and `g_Q`, and the squared Frobenius norm of `Phi_Q`.
#[multiversion::multiversion(targets = "simd")]
fn project_residual(
    query: &crate::strategy::lowmem::QueryMatrices<'_>,
    f: &mut [f64],
    g: &mut [f64],
) -> f64 {
    let mut squared = 0.0;
    let steps = f.len();
    for (example, &p) in query.holdout.iter().enumerate() {
        let start = example * query.stride;
        let phi = &query.phi[start..start + steps];
        kernels::add_scaled(f, p, phi);
        kernels::add_scaled(g, p, &query.held[start..start + steps]);
        squared += kernels::dot(phi, phi);
    }
    squared
}

fn norm(vector: &[f64]) -> f64 {
    kernels::dot(vector, vector).sqrt()
}
