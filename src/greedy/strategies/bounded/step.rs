//! What a step's bounds need of every query and example, taken once a step; and quadratic forms
//! over all queries, for steps in which norms leave many candidates: the second and third order
//! in `z` of what untouched queries gain.

use rayon::prelude::*;

use crate::greedy::State;
use crate::greedy::state::QueryMatrices;
use crate::kernels::{self, LANES, Lanes};

/// Norms of one query, of vectors and matrices of the state.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct QueryTerms {
    /// `|f_Q|`, `f_Q = Phi_Q p_Q`
    pub(super) f: f64,
    /// `|g_Q|`, `g_Q = Phi_Q T_Q p_Q = H_Q' p_Q`
    pub(super) g: f64,
    /// `|g_Q - f_Q|^2`
    pub(super) gap_squared: f64,
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
    /// `|Phi_Q' (G - g_Q)|`
    pub(super) elsewhere: f64,
}

/// What a column is multiplied with at one example, side by side: a pass over a column is one
/// multiplication of eight lanes an entry, of which six are in use.
pub(super) type ExampleTerms = Lanes;

/// `p`
pub(super) const P: usize = 0;
/// `r`
pub(super) const R: usize = 1;
/// The row of `Phi` added last.
pub(super) const PHI: usize = 2;
/// `Phi' G`: with it a column has `z . G`.
pub(super) const ALL_G: usize = 3;
/// `Phi_Q' g_Q`: with it a column's entries in `Q` have `z_Q . g_Q`.
pub(super) const OWN_G: usize = 4;
/// `Phi_Q' f_Q`: with it they have `z_Q . f_Q`.
pub(super) const OWN_F: usize = 5;

/// The state of one step, as the bounds see it.
#[derive(Debug)]
pub(super) struct StepTerms {
    pub(super) steps: usize,
    pub(super) lambda: f64,
    pub(super) queries: Vec<QueryTerms>,
    pub(super) examples: Vec<ExampleTerms>,
    /// `[f_Q, g_Q]` for every query: `2 t` numbers each.
    pub(super) vectors: Vec<f64>,
    /// `G = sum_Q g_Q`, `t`.
    pub(super) g: Vec<f64>,
    /// `h_Q`, query by query.
    pub(super) h: Vec<f64>,
    /// `sum_Q h_Q |g_Q|`
    pub(super) hg: f64,
    /// `sum_Q |g_Q - f_Q|^2`
    pub(super) gaps: f64,
    /// `sqrt(sum_Q h_Q^2)`
    pub(super) h_norm: f64,
    /// `max_Q h_Q`
    pub(super) h_max: f64,
    /// `e(S)`
    pub(super) error: f64,
    /// What rounding may have done to a gain or a bound, as a share: see `docs/bounds.md`.
    pub(super) rounding: f64,
}

impl StepTerms {
    /// O(m t + q t) time, in parallel over queries; `longest`: the largest `|v|^2` of a
    /// candidate.
    pub(super) fn new(state: &State, longest: f64) -> Self {
        let steps = state.steps();
        let mut vectors = vec![0.0; 2 * steps * state.queries().len()];
        let mut queries = vec![QueryTerms::default(); state.queries().len()];
        if steps > 0 {
            vectors
                .par_chunks_exact_mut(2 * steps)
                .zip(&mut queries)
                .enumerate()
                .for_each(|(query, (vectors, terms))| terms.project(state, query, vectors));
        }
        let mut g = vec![0.0; steps];
        for pair in vectors.chunks_exact(2 * steps.max(1)) {
            kernels::add_scaled(&mut g, 1.0, &pair[steps..]);
        }
        let error = state.error();
        let sum = |term: fn(&QueryTerms) -> f64| queries.iter().map(term).sum::<f64>();
        let mut terms = Self {
            steps,
            lambda: state.lambda().value(),
            g,
            h: queries.iter().map(|terms| terms.h).collect(),
            hg: sum(|terms| terms.h * terms.g),
            gaps: sum(|terms| terms.gap_squared),
            h_norm: sum(|terms| terms.h * terms.h).sqrt(),
            h_max: queries.iter().map(|terms| terms.h).fold(0.0, f64::max),
            queries: Vec::new(),
            examples: vec![[0.0; LANES]; state.labels().len()],
            vectors,
            error,
            rounding: state.rounding(longest),
        };
        terms.describe_examples(state, &mut queries);
        terms.queries = queries;
        terms
    }

    fn describe_examples(&mut self, state: &State, queries: &mut [QueryTerms]) {
        let examples = state.queries().split_mut(&mut self.examples);
        let ranges = state.queries().ranges().zip(queries).zip(examples);
        let part = |(query, ((range, terms), examples))| {
            let vectors = &self.vectors[2 * self.steps * query..][..2 * self.steps];
            (query, range, terms, examples, vectors)
        };
        let parts: Vec<_> = ranges.enumerate().map(part).collect();
        let g = &self.g;
        parts
            .into_par_iter()
            .for_each(|(query, range, terms, examples, vectors)| {
                let new_phi = state.last().map(|last| &last.phi[range.clone()]);
                let residual = &state.residual()[range];
                for (place, example) in examples.iter_mut().enumerate() {
                    example[R] = residual[place];
                    example[PHI] = new_phi.map_or(0.0, |phi| phi[place]);
                }
                let matrices = state.query_matrices(query);
                let (f, own_g) = vectors.split_at(vectors.len() / 2);
                project_back(&matrices, [g, own_g, f], examples);
                let squares = examples
                    .iter()
                    .map(|example| (example[ALL_G] - example[OWN_G]).powi(2));
                terms.elsewhere = squares.sum::<f64>().sqrt();
                terms.p_squared = examples.iter().map(|example| example[P] * example[P]).sum();
                terms.r = examples
                    .iter()
                    .map(|example| example[R] * example[R])
                    .sum::<f64>()
                    .sqrt();
            });
    }

    /// What rounding may have done to a gain or to this bound on it: a share of the error
    /// before or, of a candidate that does harm, after.
    #[inline(always)]
    pub(super) fn slop(&self, bound: f64) -> f64 {
        self.rounding * self.error.max(self.error - bound)
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
        let query = size_of::<QueryTerms>() + 16 * k;
        (queries * query + rows * size_of::<ExampleTerms>() + 8 * k) as u64
    }
}

impl QueryTerms {
    fn project(&mut self, state: &State, query: usize, vectors: &mut [f64]) {
        let (f, g) = vectors.split_at_mut(vectors.len() / 2);
        let phi_squared = project_residual(&state.query_matrices(query), f, g);
        let h = state.trace(query);
        self.f = kernels::dot(f, f).sqrt();
        self.g = kernels::dot(g, g).sqrt();
        self.gap_squared = f.iter().zip(&*g).map(|(f, g)| (g - f) * (g - f)).sum();
        self.h = h;
        self.held = (h * (1.0 + h)).sqrt();
        self.phi = phi_squared.sqrt().min(1.0);
    }
}

/// `f_Q` and `g_Q`, and the squared Frobenius norm of `Phi_Q`.
#[multiversion::multiversion(targets = "simd")]
fn project_residual(query: &QueryMatrices<'_>, f: &mut [f64], g: &mut [f64]) -> f64 {
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

/// `p`, and `Phi'` times three vectors, for every example of a query.
#[multiversion::multiversion(targets = "simd")]
fn project_back(query: &QueryMatrices<'_>, vectors: [&[f64]; 3], examples: &mut [ExampleTerms]) {
    let [all_g, own_g, own_f] = vectors;
    for (place, (example, &p)) in examples.iter_mut().zip(query.holdout).enumerate() {
        let phi = &query.phi[place * query.stride..][..all_g.len()];
        example[P] = p;
        example[ALL_G] = kernels::dot(phi, all_g);
        example[OWN_G] = kernels::dot(phi, own_g);
        example[OWN_F] = kernels::dot(phi, own_f);
    }
}

/// Rows of a form that one task computes.
const ROWS: usize = 8;

/// Three `t x t` matrices by rows, with `delta_Q = g_Q - f_Q`, and bounds on two norms.
#[derive(Debug)]
pub(super) struct Forms {
    /// `M = sum_Q f_Q g_Q'`
    m: Vec<f64>,
    /// `C = sum_Q g_Q g_Q'`
    c: Vec<f64>,
    /// `D = sum_Q delta_Q delta_Q'`
    d: Vec<f64>,
    /// No less than `|C|`.
    pub(super) c_norm: f64,
    /// No less than `|D|`.
    pub(super) d_norm: f64,
    /// What rounding may take off `z' C z` and `z' D z`, as shares of `|z|^2`.
    roundings: [f64; 2],
}

/// `z' M z`, `z' C z` and `z' D z` of eight candidates.
type FormValues = [Lanes; 3];

impl Forms {
    /// O(q t^2 + t^3), in parallel over rows.
    pub(super) fn new(step: &StepTerms) -> Self {
        let steps = step.steps;
        let zero = || vec![0.0; steps * steps];
        let (mut m, mut c, mut d) = (zero(), zero(), zero());
        let chunk = ROWS * steps;
        m.par_chunks_mut(chunk)
            .zip(c.par_chunks_mut(chunk))
            .zip(d.par_chunks_mut(chunk))
            .enumerate()
            .for_each(|(number, ((m, c), d))| {
                add_products(&step.vectors, steps, number * ROWS, [m, c, d]);
            });
        let (c_norm, d_norm) = rayon::join(|| norm(&c, steps), || norm(&d, steps));
        let terms = (step.queries.len() + 2 * steps) as f64;
        let roundings = [&c, &d].map(|form| terms * f64::EPSILON * trace(form, steps));
        Self {
            m,
            c,
            d,
            c_norm,
            d_norm,
            roundings,
        }
    }

    /// The forms of eight `z` side by side: O(t^2) each. `z' C z` and `z' D z` are no less than
    /// they are without rounding: roots will be taken of them.
    pub(super) fn values(&self, z: &[Lanes]) -> FormValues {
        let mut values = FormValues::default();
        evaluate([&self.m, &self.c, &self.d], z, &mut values);
        for lane in 0..LANES {
            let z_squared: f64 = z.iter().map(|z| z[lane] * z[lane]).sum();
            values[1][lane] += self.roundings[0] * z_squared;
            values[2][lane] += self.roundings[1] * z_squared;
        }
        values
    }

    /// Bytes for `k` steps.
    pub(super) fn memory(k: usize) -> u64 {
        (5 * k * k * size_of::<f64>()) as u64
    }
}

/// Adds `f g'`, `g g'` and `delta delta'` of every query to the rows from `first` on.
#[multiversion::multiversion(targets = "simd")]
fn add_products(vectors: &[f64], steps: usize, first: usize, rows: [&mut [f64]; 3]) {
    let [m, c, d] = rows;
    let mut delta = vec![0.0; steps];
    for pair in vectors.chunks_exact(2 * steps) {
        let (f, g) = pair.split_at(steps);
        for ((delta, f), g) in delta.iter_mut().zip(f).zip(g) {
            *delta = g - f;
        }
        let rows = m.chunks_exact_mut(steps).zip(c.chunks_exact_mut(steps));
        for (row, ((m, c), d)) in rows.zip(d.chunks_exact_mut(steps)).enumerate() {
            kernels::add_scaled(m, f[first + row], g);
            kernels::add_scaled(c, g[first + row], g);
            kernels::add_scaled(d, delta[first + row], &delta);
        }
    }
}

#[multiversion::multiversion(targets = "simd")]
fn evaluate(forms: [&[f64]; 3], z: &[Lanes], values: &mut FormValues) {
    let steps = z.len();
    let [m, c, d] = forms.map(|form| form.chunks_exact(steps.max(1)));
    for (((m, c), d), here) in m.zip(c).zip(d).zip(z) {
        let mut along = [[0.0; LANES]; 3];
        for (((&m, &c), &d), z) in m.iter().zip(c).zip(d).zip(z) {
            for lane in 0..LANES {
                along[0][lane] += m * z[lane];
                along[1][lane] += c * z[lane];
                along[2][lane] += d * z[lane];
            }
        }
        for lane in 0..LANES {
            values[0][lane] += along[0][lane] * here[lane];
            values[1][lane] += along[1][lane] * here[lane];
            values[2][lane] += along[2][lane] * here[lane];
        }
    }
}

/// No less than the largest eigenvalue of a positive semi-definite `A`: `|A^4|_F^(1/4)`, which
/// is at most `t^(1/8)` times as large.
fn norm(a: &[f64], steps: usize) -> f64 {
    let scale = kernels::dot(a, a).sqrt();
    if scale == 0.0 {
        return 0.0;
    }
    let scaled: Vec<f64> = a.iter().map(|entry| entry / scale).collect();
    let fourth = square(&square(&scaled, steps), steps);
    // What rounding may have taken away: t terms a product, twice, and the root.
    let rounding = 1.0 + 8.0 * steps as f64 * f64::EPSILON;
    let tail = 8.0 * steps as f64 * steps as f64 * f64::EPSILON;
    scale * (kernels::dot(&fourth, &fourth).sqrt() + tail).powf(0.25) * rounding
}

/// The sum of the diagonal: with it `|z|' |A| |z| <= trace(A) |z|^2` for a positive
/// semi-definite `A`, entries taken by their sizes.
fn trace(a: &[f64], steps: usize) -> f64 {
    a.iter().step_by(steps + 1).sum()
}

/// `A A` for a symmetric `A`.
#[multiversion::multiversion(targets = "simd")]
fn square(a: &[f64], steps: usize) -> Vec<f64> {
    let mut product = vec![0.0; a.len()];
    for (row, into) in a.chunks_exact(steps).zip(product.chunks_exact_mut(steps)) {
        for (&entry, other) in row.iter().zip(a.chunks_exact(steps)) {
            kernels::add_scaled(into, entry, other);
        }
    }
    product
}
