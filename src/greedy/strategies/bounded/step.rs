//! What a step's bounds need of every query and example, taken once a step.

use rayon::prelude::*;

use super::bounds::{self, Whole};
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
    /// `(|f_Q| |g_Q| - f_Q . g_Q) / 2`, or a little more: `- x_Q w_Q` is no more than this times
    /// `|z|^2`.
    pub(super) kappa: f64,
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
/// multiplication of eight lanes an entry.
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

/// `Phi' g_Q` of the first of [`StepTerms::order`], from here on: with them a column has its `x_Q`.
pub(super) const FIRST_G: usize = 6;

/// Queries told apart at level 0.
pub(super) const FIRST: usize = LANES - FIRST_G;

/// Queries told apart by products with the column, and by products with its `z`, at level 2.
pub(super) const LEADING: [usize; 3] = [32, 64, 512];

/// Products with the queries that lead.
pub(super) type Products = [f64; LEADING[0]];

/// Examples that one task multiplies with them.
const ROWS: usize = 512;

/// What queries that are not told apart have at most.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Rest {
    /// The largest `(1 + h_Q) |g_Q|^2`.
    pub(super) g_squared: f64,
    /// [`bounds::spread`] of `|g_Q|^2`.
    pub(super) spread: f64,
    /// The sum of `kappa_Q`.
    pub(super) kappa: f64,
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
    /// All queries, those that are told apart first: of the largest `(1 + h_Q) |g_Q|^2`.
    pub(super) order: Vec<usize>,
    /// All queries, and all but [`FIRST`] of `order`.
    pub(super) all: Rest,
    pub(super) without_first: Rest,
    /// All but so many of `order` as [`LEADING`] says.
    pub(super) rests: [Rest; LEADING.len()],
    /// `e(S)`
    pub(super) error: f64,
    /// What rounding may have done to a gain or a bound, as a share: see `docs/bounds.md`.
    pub(super) rounding: f64,
}

impl StepTerms {
    /// O(m t) time, in parallel over queries; `longest`: the largest `|v|^2` of a candidate.
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
        let lambda = state.lambda().value();
        let mut terms = Self::of_vectors(steps, lambda, vectors, queries);
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
    ) -> Self {
        let mut g = vec![0.0; steps];
        for pair in vectors.chunks_exact(2 * steps.max(1)) {
            kernels::add_scaled(&mut g, 1.0, &pair[steps..]);
        }
        let mut terms = Self {
            steps,
            lambda,
            g,
            order: Vec::new(),
            all: Rest::default(),
            without_first: Rest::default(),
            rests: [Rest::default(); LEADING.len()],
            queries,
            examples: Vec::new(),
            vectors,
            error: 1.0,
            rounding: 0.0,
        };
        terms.tell_apart();
        terms
    }

    /// Finds the queries that lead: O(q).
    fn tell_apart(&mut self) {
        let queries = &self.queries;
        let weight = |query: usize| queries[query].weight();
        let falling = |&a: &usize, &b: &usize| weight(b).total_cmp(&weight(a)).then(a.cmp(&b));
        let mut order: Vec<usize> = (0..queries.len()).collect();
        let most = LEADING[2].min(order.len());
        if most < order.len() {
            order.select_nth_unstable_by(most, falling);
        }
        order[..most].sort_unstable_by(falling);
        let rest = |count: usize| {
            let others = order.get(count..).unwrap_or_default().iter();
            let terms = others.map(|&query| &queries[query]);
            Rest {
                g_squared: terms.clone().map(QueryTerms::weight).fold(0.0, f64::max),
                spread: bounds::spread(terms.clone().map(|q| (q.h, q.weight())).collect()),
                kappa: terms.map(|terms| terms.kappa).sum(),
            }
        };
        (self.all, self.without_first) = (rest(0), rest(FIRST));
        self.rests = LEADING.map(rest);
        self.order = order;
    }

    /// `Phi' g_Q` of the first of `order`, by example: O(m t).
    pub(super) fn multiply_leading(&self, state: &State) -> Vec<Products> {
        let mut g = vec![[0.0; _]; self.steps];
        for (place, &query) in self.order.iter().take(LEADING[0]).enumerate() {
            for (products, &g) in g.iter_mut().zip(self.g(query)) {
                products[place] = g;
            }
        }
        let mut leading = vec![[0.0; _]; state.labels().len()];
        let chunks = leading.par_chunks_mut(ROWS).enumerate();
        chunks.for_each(|(chunk, leading)| project_leading(state, chunk * ROWS, &g, leading));
        leading
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
        // Products with a query too many are not looked at.
        let first: [&[f64]; FIRST] = std::array::from_fn(|place| {
            let query = self.order.get(place).copied().unwrap_or(0);
            &self.vectors[2 * self.steps * query..][self.steps..2 * self.steps]
        });
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
                project_back(&matrices, [g, own_g, f, first[0], first[1]], examples);
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

    /// [`bounds::fourth_order`] with `x_Q` of the first of `order`.
    #[inline(always)]
    pub(super) fn fourth_order_by_first(&self, whole: &Whole, x: [f64; FIRST]) -> f64 {
        let first = self.order.iter().zip(x);
        let products = first.map(|(&query, x)| self.queries[query].h * x * x);
        let sum = whole.z_squared * self.without_first.spread + products.sum::<f64>();
        bounds::fourth_order(whole, self, sum)
    }

    /// `f_Q`, `t` numbers.
    pub(super) fn f(&self, query: usize) -> &[f64] {
        &self.vectors[2 * self.steps * query..][..self.steps]
    }

    /// `g_Q`, `t` numbers.
    pub(super) fn g(&self, query: usize) -> &[f64] {
        &self.vectors[2 * self.steps * query..][self.steps..2 * self.steps]
    }
}

impl QueryTerms {
    /// `(1 + h_Q) |g_Q|^2`
    fn weight(&self) -> f64 {
        (1.0 + self.h) * self.g * self.g
    }

    fn project(&mut self, state: &State, query: usize, vectors: &mut [f64]) {
        let (f, g) = vectors.split_at_mut(vectors.len() / 2);
        let phi_squared = project_residual(&state.query_matrices(query), f, g);
        let h = state.trace(query);
        self.f = kernels::dot(f, f).sqrt();
        self.g = kernels::dot(g, g).sqrt();
        self.kappa = kappa(f, g);
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

/// Rows of `Phi'` that are multiplied together.
const TILE: usize = 4;

/// `Phi'` times the leading `g_Q`, `t` rows of them, for the examples from `first` on.
#[multiversion::multiversion(targets = "simd")]
fn project_leading(state: &State, first: usize, g: &[Products], leading: &mut [Products]) {
    let tiles = leading.chunks_mut(TILE);
    for (tile, products) in tiles.enumerate() {
        let first = first + tile * TILE;
        match products.len() {
            TILE => project_tile::<TILE>(state, first, g, products),
            rows => (0..rows).for_each(|row| {
                project_tile::<1>(state, first + row, g, &mut products[row..=row]);
            }),
        }
    }
}

#[inline(always)]
fn project_tile<const ROWS: usize>(
    state: &State,
    first: usize,
    g: &[Products],
    products: &mut [Products],
) {
    let phi: [&[f64]; ROWS] = std::array::from_fn(|row| &state.phi(first + row)[..g.len()]);
    let mut sums = [[0.0; LEADING[0]]; ROWS];
    for (step, g) in g.iter().enumerate() {
        for row in 0..ROWS {
            let phi = phi[row][step];
            for (sum, g) in sums[row].iter_mut().zip(g) {
                *sum += phi * g;
            }
        }
    }
    products.copy_from_slice(&sums);
}

/// `p`, and `Phi'` times some vectors, for every example of a query.
#[multiversion::multiversion(targets = "simd")]
fn project_back(
    query: &QueryMatrices<'_>,
    vectors: [&[f64]; LANES - ALL_G],
    examples: &mut [ExampleTerms],
) {
    for (place, (example, &p)) in examples.iter_mut().zip(query.holdout).enumerate() {
        let phi = &query.phi[place * query.stride..][..vectors[0].len()];
        example[P] = p;
        for (product, vector) in example[ALL_G..].iter_mut().zip(vectors) {
            *product = kernels::dot(phi, vector);
        }
    }
}

/// The least eigenvalue of `(f g' + g f') / 2`, without its sign, and the rounding of both terms.
pub(super) fn kappa(f: &[f64], g: &[f64]) -> f64 {
    let size = (kernels::dot(f, f) * kernels::dot(g, g)).sqrt();
    let rounding = (f.len() + 8) as f64 * f64::EPSILON * size;
    0.5 * (size - kernels::dot(f, g)).max(0.0) + rounding
}
