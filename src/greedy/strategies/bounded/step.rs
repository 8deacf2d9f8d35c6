//! What a step's bounds need of every query and example, taken once a step; and a quadratic form
//! over all queries: the second order in `z` of what they gain.

use rayon::prelude::*;

use super::bounds;
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
    /// `min(|Phi_Q|_F, sqrt(h_Q / (1 + h_Q))) >= |Phi_Q|`
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

/// Queries told apart in the third order at level 1.
const LEADING: usize = 64;

/// The queries of the largest `(1 + h_Q) |g_Q|`, and the largest numbers of all others.
#[derive(Debug, Default)]
pub(super) struct Leading {
    pub(super) queries: Vec<usize>,
    pub(super) rest: Rest,
}

/// The largest of some queries' numbers.
#[derive(Debug, Default)]
pub(super) struct Rest {
    /// `h_Q`
    pub(super) h: f64,
    /// `(1 + h_Q) |g_Q|`
    pub(super) g: f64,
    /// `(1 + h_Q) |g_Q - f_Q|^2`
    pub(super) gap: f64,
}

impl Leading {
    /// O(q) time.
    fn new(queries: &[QueryTerms]) -> Self {
        let weight = |query: usize| (1.0 + queries[query].h) * queries[query].g;
        let mut order: Vec<usize> = (0..queries.len()).collect();
        let count = LEADING.min(order.len());
        if count < order.len() {
            order.select_nth_unstable_by(count, |&a, &b| {
                weight(b).total_cmp(&weight(a)).then(a.cmp(&b))
            });
        }
        let mut rest = Rest::default();
        for query in order.split_off(count) {
            let terms = &queries[query];
            rest.h = rest.h.max(terms.h);
            rest.g = rest.g.max(weight(query));
            rest.gap = rest.gap.max((1.0 + terms.h) * terms.gap_squared);
        }
        order.sort_unstable();
        Self {
            queries: order,
            rest,
        }
    }
}

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
    /// `sum_Q |g_Q - f_Q|^2 / 4`: over any queries, `z' M z` is not below this times `-|z|^2`.
    pub(super) gaps: f64,
    pub(super) form: Form,
    /// `max_Q h_Q`
    pub(super) h_max: f64,
    /// [`bounds::spread`] of `|g_Q|` and of `|g_Q - f_Q|^2`.
    pub(super) third_g: f64,
    pub(super) third_gap: f64,
    pub(super) leading: Leading,
    /// `e(S)`
    pub(super) error: f64,
    /// What rounding may have done to a gain or a bound, as a share: see `docs/bounds.md`.
    pub(super) rounding: f64,
}

impl StepTerms {
    /// O(m t + q t^2 + t^3) time, in parallel over queries; `longest`: the largest `|v|^2` of a
    /// candidate; `halvings`: see [`Form`].
    pub(super) fn new(state: &State, longest: f64, halvings: &mut i32) -> Self {
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
        let lambda = state.lambda().value();
        let mut terms = Self::of_vectors(steps, lambda, vectors, queries, halvings);
        (terms.error, terms.rounding) = (state.error(), state.rounding(longest));
        terms.examples = vec![[0.0; LANES]; state.labels().len()];
        terms.describe_examples(state);
        terms
    }

    /// What follows from `[f_Q, g_Q]` and their norms.
    pub(super) fn of_vectors(
        steps: usize,
        lambda: f64,
        vectors: Vec<f64>,
        queries: Vec<QueryTerms>,
        halvings: &mut i32,
    ) -> Self {
        let mut g = vec![0.0; steps];
        for pair in vectors.chunks_exact(2 * steps.max(1)) {
            kernels::add_scaled(&mut g, 1.0, &pair[steps..]);
        }
        let spread = |term: fn(&QueryTerms) -> f64| {
            let term = |terms: &QueryTerms| (terms.h, (1.0 + terms.h) * term(terms));
            bounds::spread(queries.iter().map(term).collect())
        };
        let mut terms = Self {
            steps,
            lambda,
            g,
            gaps: 0.25 * queries.iter().map(|terms| terms.gap_squared).sum::<f64>(),
            h_max: queries.iter().map(|terms| terms.h).fold(0.0, f64::max),
            third_g: spread(|terms| terms.g),
            third_gap: spread(|terms| terms.gap_squared),
            leading: Leading::new(&queries),
            form: Form::default(),
            queries,
            examples: Vec::new(),
            vectors,
            error: 1.0,
            rounding: 0.0,
        };
        terms.form = Form::new(&terms, halvings);
        terms
    }

    fn describe_examples(&mut self, state: &State) {
        let queries = &mut self.queries;
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
        self.phi = phi_squared.min(h / (1.0 + h)).sqrt();
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

/// Rows and columns of the form that are computed together.
const TILE: usize = 8;

/// Queries that are taken into the form at once.
const BATCH: usize = 512;

/// The symmetric part of `M = sum_Q f_Q g_Q'` (`t x t`), and how far below 0 it may be.
#[derive(Debug, Default)]
pub(super) struct Form {
    /// Rows of `stride` numbers; what is right of the diagonal does not count.
    m: Vec<f64>,
    stride: usize,
    /// `z' M z >= -least |z|^2`
    pub(super) least: f64,
    /// What rounding may add to `z' M z`, as a share of `|z|^2`.
    rounding: f64,
}

impl Form {
    /// O(q t^2 + t^3), in parallel over rows. `halvings`: how often [`StepTerms::gaps`] can be
    /// halved until it is no bound, as of the step before.
    pub(super) fn new(step: &StepTerms, halvings: &mut i32) -> Self {
        let stride = step.steps.next_multiple_of(TILE);
        let mut m = vec![0.0; stride * stride];
        for batch in step.vectors.chunks(BATCH * 2 * step.steps.max(1)) {
            let firsts: Vec<usize> = (0..stride).step_by(TILE).collect();
            let panels: Vec<Vec<Panel>> = firsts
                .into_par_iter()
                .map(|first| panel(batch, step.steps, first))
                .collect();
            m.par_chunks_mut(TILE * stride)
                .zip(&panels)
                .enumerate()
                .for_each(|(number, (rows, of_rows))| {
                    for (place, of_columns) in panels[..=number].iter().enumerate() {
                        add_products(of_rows, of_columns, &mut rows[place * TILE..], stride);
                    }
                });
        }
        let sizes = step.queries.iter().map(|terms| terms.f * terms.g);
        let size = sizes.sum::<f64>() + step.steps as f64 * step.gaps;
        let terms = (step.queries.len() + 8 * step.steps) as f64;
        let mut form = Self {
            m,
            stride,
            least: step.gaps,
            rounding: terms * f64::EPSILON * size,
        };
        form.bound_below(step, halvings);
        form
    }

    /// Finds a `least`, near a half of which is no bound.
    fn bound_below(&mut self, step: &StepTerms, halvings: &mut i32) {
        // Now and then less is tried.
        *halvings += i32::from(step.steps.is_multiple_of(8));
        while *halvings > 0 {
            let least = step.gaps * 0.5f64.powi(*halvings);
            if is_positive(&self.m, self.stride, step.steps, least) {
                self.least = least + self.rounding;
                break;
            }
            *halvings -= 1;
        }
    }

    /// `z' M z` of eight `z` side by side, no more than it is without rounding: O(t^2) each.
    pub(super) fn values(&self, z: &[Lanes]) -> Lanes {
        let mut values = [0.0; LANES];
        evaluate(&self.m, self.stride, z, &mut values);
        for (lane, value) in values.iter_mut().enumerate() {
            let z_squared: f64 = z.iter().map(|z| z[lane] * z[lane]).sum();
            *value -= self.rounding * z_squared;
        }
        values
    }

    /// Bytes for `k` steps.
    pub(super) fn memory(k: usize) -> u64 {
        let stride = k.next_multiple_of(TILE);
        ((2 * stride * stride + 2 * stride * BATCH) * size_of::<f64>()) as u64
    }
}

/// Eight components of `f_Q / 2`, then of `g_Q`.
type Panel = [f64; 2 * TILE];

/// Components from `first` on, query by query.
fn panel(vectors: &[f64], steps: usize, first: usize) -> Vec<Panel> {
    let count = TILE.min(steps - first);
    let pairs = vectors.chunks_exact(2 * steps);
    pairs
        .map(|pair| {
            let (f, g) = pair.split_at(steps);
            let mut panel = [0.0; 2 * TILE];
            for place in 0..count {
                panel[place] = 0.5 * f[first + place];
                panel[TILE + place] = g[first + place];
            }
            panel
        })
        .collect()
}

/// Adds a square of `sum_Q (f_Q g_Q' + g_Q f_Q') / 2` to the first columns of `rows`.
#[multiversion::multiversion(targets = "simd")]
fn add_products(of_rows: &[Panel], of_columns: &[Panel], rows: &mut [f64], stride: usize) {
    let mut sums = [[0.0; TILE]; TILE];
    for (left, right) in of_rows.iter().zip(of_columns) {
        for (row, sums) in sums.iter_mut().enumerate() {
            let (f, g) = (left[row], left[TILE + row]);
            for column in 0..TILE {
                sums[column] += f * right[TILE + column] + g * right[column];
            }
        }
    }
    for (row, sums) in rows.chunks_mut(stride).zip(sums) {
        kernels::add_scaled(&mut row[..TILE], 1.0, &sums);
    }
}

#[multiversion::multiversion(targets = "simd")]
fn evaluate(m: &[f64], stride: usize, z: &[Lanes], values: &mut Lanes) {
    for (number, (row, here)) in m.chunks_exact(stride.max(1)).zip(z).enumerate() {
        let mut along = [0.0; LANES];
        for (&m, z) in row[..number].iter().zip(z) {
            for lane in 0..LANES {
                along[lane] += m * z[lane];
            }
        }
        for lane in 0..LANES {
            values[lane] += (2.0 * along[lane] + row[number] * here[lane]) * here[lane];
        }
    }
}

/// Whether `M + least I` has a Cholesky factor: by rows, O(t^3).
#[multiversion::multiversion(targets = "simd")]
fn is_positive(m: &[f64], stride: usize, steps: usize, least: f64) -> bool {
    let mut factor = vec![0.0; stride * stride];
    for row in 0..steps {
        let (above, rest) = factor.split_at_mut(row * stride);
        let own = &mut rest[..stride];
        for (column, other) in above.chunks_exact(stride).enumerate() {
            let product = kernels::dot(&own[..column], &other[..column]);
            own[column] = (m[row * stride + column] - product) / other[column];
        }
        let squares = kernels::dot(&own[..row], &own[..row]);
        let pivot = m[row * stride + row] + least - squares;
        if pivot.is_nan() || pivot <= 0.0 {
            return false;
        }
        own[row] = pivot.sqrt();
    }
    true
}
