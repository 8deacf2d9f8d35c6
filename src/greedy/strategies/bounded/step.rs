//! Terms of every query and example for a step's bounds, computed once a step.

use std::ops::Range;

use rayon::prelude::*;

use crate::greedy::State;
use crate::greedy::matrices::QueryMatrices;
use crate::greedy::strategies::growth::{Growth, SURCHARGE, no_less};
use crate::greedy::strategies::recent::Recent;
use crate::linalg::kernels::{LANES, Lanes};

/// Norms of one query, of vectors and matrices of the state.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct QueryTerms {
    /// `|k_Q|^2`, `k_Q = (T_Q - I) p_Q`
    pub(super) k_squared: f64,
    /// `|k_Q|^2` of the change of `k_Q` since the state described before.
    k_change: f64,
    /// `h_Q >= |T_Q - I|`: its trace.
    pub(super) h: f64,
    /// `h_Q / (1 + h_Q) >= |Phi_Q|^2`
    pub(super) phi_squared: f64,
    /// At least `|g_Q|^2`, by rounding up.
    g_squared: f64,
    /// At least `(|f_Q| |g_Q| - f_Q . g_Q) / 2`, by rounding up: `-x_Q w_Q` is at most `|z|^2` times this.
    kappa: f64,
    /// `|m_Q|^2`, `m_Q = (r_Q + c_Q) / 2`
    m_squared: f64,
    /// `|m_Q|^2` of the change of `m_Q` since the state described before.
    change: f64,
    /// `|phi_Q|^2` for the newest row `phi` of `Phi`.
    added: f64,
}

/// The terms that a candidate sums over the queries that it touches, each rounded up. The last is 0, as eight are
/// added at once.
pub(super) type TouchedTerms = [f32; 8];

/// `|m_Q|^2`
pub(super) const M: usize = 0;
/// `|m_Q|^2` of the change of `m_Q` since the state described before.
pub(super) const CHANGE: usize = 1;
/// At least `|Phi_Q|^2`.
pub(super) const EXPLAINED: usize = 2;
/// Its growth since the state described before; infinite if unknown.
pub(super) const GROWTH: usize = 3;
/// `|k_Q|^2`
pub(super) const OWN: usize = 4;
/// `|k_Q|^2` of the change of `k_Q` since the state described before.
pub(super) const OWN_CHANGE: usize = 5;
/// [`QueryTerms::spread`]
pub(super) const SPREAD: usize = 6;

/// The factors of a column at one example, side by side. An entry of a column takes one multiplication of four
/// lanes.
pub(super) type ExampleTerms = [f64; 4];

/// `r`
pub(super) const R: usize = 0;
/// The newest row of `Phi`.
pub(super) const PHI: usize = 1;
/// `T p` less its part in selected features; the product with a column is `sum_Q c_Q`.
pub(super) const C: usize = 2;
/// `k_Q = (T_Q - I) p_Q`
pub(super) const K: usize = 3;

/// Tasks of queries in a block. The terms of a block fit into a cache of half a megabyte, unless one query exceeds
/// it.
const BLOCK: usize = 8;

/// Fewest queries that a task describes.
const QUERIES: usize = 32;

/// Largest numbers of queries that level 2 resolves, in turns.
pub(super) const RESOLVED: [usize; 3] = [8, 64, 512];

/// The identity of a state.
#[derive(Debug, Default)]
pub(super) struct Place {
    /// The number of described states, with this one.
    pub(super) number: usize,
    /// `t`
    pub(super) steps: usize,
    /// Steps since the state described before; `None` if it had more.
    pub(super) added: Option<usize>,
}

/// Numbers of all queries together, some without the first resolved ones.
#[derive(Debug, Default)]
pub(super) struct Sums {
    /// All queries in the order of resolution: by falling `(1 + h_Q) |g_Q|^2`.
    pub(super) order: Vec<usize>,
    /// The largest `|k_Q|^2`, and the largest of its change.
    pub(super) largest: f64,
    pub(super) largest_change: f64,
    /// [`spread`] of `|k_Q|^2`.
    pub(super) spread: f64,
    /// The sum of all `kappa_Q`.
    pub(super) kappa: f64,
    /// The most that `sum_Q b_Q x_Q^2 / |z|^4` may be, the spread of `(1 + h_Q) |g_Q|^2`: of all queries, and of
    /// all without the first eight of `order`.
    pub(super) fourth: [f64; 2],
    /// [`spread`] of `|k_Q|^2` of all queries without the first of `order`, as many as in [`RESOLVED`].
    pub(super) rests: [f64; RESOLVED.len()],
}

/// The state of one step, as the bounds see it.
#[derive(Debug, Default)]
pub(super) struct StepTerms {
    pub(super) at: Place,
    pub(super) lambda: f64,
    pub(super) queries: Vec<QueryTerms>,
    /// Terms of each query in single precision.
    pub(super) touched: Vec<TouchedTerms>,
    /// The growth of bounds by `|m_Q|^2`.
    pub(super) growth: Growth,
    pub(super) examples: Vec<ExampleTerms>,
    /// `Phi' g_Q` of the first eight of `order`, by example, if they [matter](StepTerms::first_matter): they give
    /// the `x_Q` of a column.
    pub(super) first: Vec<Lanes>,
    /// `T p`, `m`.
    transformed: Vec<f64>,
    pub(super) recent: Recent,
    /// `X_{S,Q}' p_Q` and `X_{S,Q}' T_Q p_Q` of the first queries of `order`, without zeros.
    pub(super) resolved: Vec<Vec<(u32, [f64; 2])>>,
    /// The ends of blocks of queries, ascending, at which [readings](super::bounds::Reading) of columns stop.
    pub(super) blocks: Vec<u32>,
    pub(super) sums: Sums,
    /// `e(S)`
    pub(super) error: f64,
    /// The share of a gain or a bound that rounding may change: `docs/derivation.md`, section 11.
    pub(super) rounding: f64,
}

impl StepTerms {
    /// Describes a state: O(t^2) time, and products with `X_S` and all `T_Q`, in parallel. `longest` is the largest
    /// `|v|^2` of a candidate.
    pub(super) fn renew(&mut self, state: &State, longest: f64) {
        self.at.number += 1;
        self.at.added = state.steps().checked_sub(self.at.steps);
        self.at.steps = state.steps();
        self.lambda = state.lambda().value();
        (self.error, self.rounding) = (state.error(), state.rounding(longest));
        let rows = state.labels().len();
        self.examples.resize(rows, ExampleTerms::default());
        self.transformed.resize(rows, 0.0);
        self.recent.follow(state);
        self.describe_queries(state);
        self.order_queries();
        self.describe_examples(state);
        self.describe_first(state);
        self.sum_queries();
        self.sum_touched();
    }

    /// Describes the queries, cuts them into blocks, and finds `T p`.
    fn describe_queries(&mut self, state: &State) {
        let queries = state.queries();
        let runs = queries.tasks();
        let last_runs = runs.chunks(BLOCK).filter_map(|runs| runs.last());
        // Queries count in 32 bits.
        let end = |run: &Range<usize>| u32::try_from(run.end).unwrap_or(u32::MAX);
        self.blocks = last_runs.map(end).collect();
        let describe = |(query, transformed): (usize, &mut [f64])| {
            let rows = queries.range(query);
            let (holdout, residual) = (&state.holdout()[rows.clone()], &state.residual()[rows]);
            let matrices = &state.matrices()[query];
            transform(matrices, holdout, transformed);
            QueryTerms::new(matrices.trace, holdout, residual, transformed)
        };
        let parts: Vec<_> = queries
            .split_mut(&mut self.transformed)
            .enumerate()
            .collect();
        let parts = parts.into_par_iter().with_min_len(QUERIES);
        self.queries = parts.map(describe).collect();
    }

    /// Finds the queries to resolve first, and the numbers of the others: O(q).
    fn order_queries(&mut self) {
        let weight = |query: usize| self.queries[query].weight();
        let falling = |&a: &usize, &b: &usize| weight(b).total_cmp(&weight(a)).then(a.cmp(&b));
        let mut order: Vec<usize> = (0..self.queries.len()).collect();
        let most = RESOLVED[2].min(order.len());
        if most < order.len() {
            order.select_nth_unstable_by(most, falling);
        }
        order[..most].sort_unstable_by(falling);
        self.sums.order = order;
        self.sums.fourth = self.spreads_of([0, LANES], QueryTerms::weight);
    }

    /// [`spread`] of a number of each query without the first so many of `order`, in parallel.
    fn spreads_of<const N: usize>(
        &self,
        counts: [usize; N],
        weight: fn(&QueryTerms) -> f64,
    ) -> [f64; N] {
        let mut spreads = counts.map(|count| (count, 0.0));
        spreads.par_iter_mut().for_each(|(count, sum)| {
            let others = self.sums.order.get(*count..).unwrap_or_default().iter();
            let queries = others.map(|&query| &self.queries[query]);
            let pairs = queries.map(|query| (query.phi_squared, weight(query)));
            *sum = spread(pairs.collect());
        });
        spreads.map(|(_, sum)| sum)
    }

    /// Whether the first eight of `order` have at least half of the sum of all queries.
    pub(super) fn first_matter(&self) -> bool {
        self.sums.fourth[0] > 0.0 && self.sums.fourth[1] <= 0.5 * self.sums.fourth[0]
    }

    /// Sums over queries, some without the first: O(q).
    fn sum_queries(&mut self) {
        let queries = &self.queries;
        let k_squared: fn(&QueryTerms) -> f64 = |query| query.k_squared;
        self.sums.kappa = queries.iter().map(|query| query.kappa).sum();
        self.sums.largest = queries.iter().map(k_squared).fold(0.0, f64::max);
        let changes = queries.iter().map(|query| query.k_change);
        self.sums.largest_change = changes.fold(0.0, f64::max);
        let [first, second, third] = RESOLVED;
        let [spread, rests @ ..] = self.spreads_of([0, first, second, third], k_squared);
        (self.sums.spread, self.sums.rests) = (spread, rests);
    }

    /// Describes queries in short, and follows the growth: O(q).
    fn sum_touched(&mut self) {
        let sum: f64 = self.queries.iter().map(|query| query.m_squared).sum();
        let surcharge = SURCHARGE * sum / self.queries.len() as f64 + 0.25 * self.sums.largest;
        self.touched
            .resize(self.queries.len(), TouchedTerms::default());
        let added = self.at.added;
        let renewed = |(touched, query): (&mut TouchedTerms, &QueryTerms)| {
            let before = std::mem::replace(touched, query.touched(added));
            [before[M], touched[M]]
        };
        let numbers = self.touched.iter_mut().zip(&self.queries).map(renewed);
        self.growth.follow(numbers, surcharge);
    }

    /// Describes the examples: O(t^2), and the entries of selected columns.
    fn describe_examples(&mut self, state: &State) {
        let mut rest = self.transformed.clone();
        state.residualise(state.products_of(&rest), &mut rest, 1);
        let last = state.last().map_or(&[][..], |last| &last.phi);
        let queries = state.queries();
        let examples = queries.split_mut(&mut self.examples);
        let all = queries.ranges().zip(&mut self.queries).zip(examples);
        let (transformed, rest) = (&self.transformed, &rest);
        let parts: Vec<_> = all.collect();
        let parts = parts.into_par_iter().with_min_len(QUERIES);
        parts.for_each(|((rows, terms), examples)| {
            for (row, example) in rows.zip(examples) {
                let before = *example;
                let phi = last.get(row).copied().unwrap_or(0.0);
                let k = transformed[row] - state.holdout()[row];
                *example = [state.residual()[row], phi, rest[row], k];
                terms.add(example, &before);
            }
        });
    }

    /// Finds the products that resolve the first queries of `order`, and `Phi' g_Q` of the first eight.
    fn describe_first(&mut self, state: &State) {
        let first = &self.sums.order[..RESOLVED[2].min(self.sums.order.len())];
        let transformed = &self.transformed;
        let products = |&query: &usize| {
            let rows = state.queries().range(query);
            let [p, tp] = [state.holdout(), transformed].map(|all| &all[rows.clone()]);
            let selected = &state.matrices()[query].selected;
            let [f, g] = [p, tp].map(|y| {
                let mut products = vec![0.0; self.at.steps];
                selected.add_products_of(y, &mut products);
                products
            });
            let numbers = |step: u32| (step, [f[step as usize], g[step as usize]]);
            selected.present().map(numbers).collect()
        };
        self.resolved = first.par_iter().map(products).collect();
        if !self.first_matter() {
            return;
        }
        // 64 bytes a row, in few steps.
        self.first.resize(self.transformed.len(), [0.0; LANES]);
        let mut g = vec![[0.0; LANES]; self.at.steps];
        for (lane, products) in self.resolved.iter().take(LANES).enumerate() {
            for &(step, [_, own]) in products {
                g[step as usize][lane] = own;
            }
        }
        let theta = state.solved(g);
        let parts = state
            .queries()
            .split_mut(&mut self.first)
            .zip(state.matrices());
        let parts: Vec<_> = parts.collect();
        parts
            .into_par_iter()
            .with_min_len(QUERIES)
            .for_each(|(first, matrices)| {
                project_first(matrices, &theta, first);
            });
    }

    /// The most that rounding may change a gain or this bound on it: a share of the error before or, for a harmful
    /// candidate, after.
    #[inline(always)]
    pub(super) fn slop(&self, bound: f64) -> f64 {
        self.rounding * self.error.max(self.error - bound)
    }
}

impl QueryTerms {
    /// The terms of a query with this trace of `T_Q - I`, from `p_Q`, `r_Q` and `T_Q p_Q` and without examples.
    ///
    /// ```text
    /// |f|^2 = p . (p - r)      f . g = p . (T p - p)      |g|^2 = T p . (T p - p)
    /// ```
    fn new(h: f64, p: &[f64], r: &[f64], tp: &[f64]) -> Self {
        let [mut f_squared, mut g_squared, mut along, mut size] = [0.0; 4];
        for ((&p, &r), &tp) in p.iter().zip(r).zip(tp) {
            f_squared += p * (p - r);
            g_squared += tp * (tp - p);
            along += p * (tp - p);
            size += (p.abs() + tp.abs()).powi(2);
        }
        let rounding = (p.len() + 8) as f64 * f64::EPSILON * size;
        let [f_squared, g_squared] = [f_squared, g_squared].map(|x| x.max(0.0) + rounding);
        Self {
            h,
            phi_squared: h / (1.0 + h),
            g_squared,
            kappa: if h > 0.0 {
                0.5 * ((f_squared * g_squared).sqrt() - along).max(0.0) + rounding
            } else {
                0.0
            },
            ..Self::default()
        }
    }

    /// `(1 + h_Q) |g_Q|^2`
    fn weight(&self) -> f64 {
        (1.0 + self.h) * self.g_squared
    }

    /// `(k_Q . Phi_Q' z)^2` is at most `|z|^2` times this.
    pub(super) fn spread(&self) -> f64 {
        self.phi_squared * self.k_squared
    }

    /// The terms of the query for the candidates that touch it, `added` steps after the state described before.
    fn touched(&self, added: Option<usize>) -> TouchedTerms {
        let growth = match added {
            Some(0) => 0.0,
            Some(1) => self.added,
            _ => f64::INFINITY,
        };
        let terms = [
            self.m_squared,
            self.change,
            self.phi_squared,
            growth,
            self.k_squared,
            self.k_change,
            self.spread(),
            0.0,
        ];
        terms.map(no_less)
    }

    /// Adds an example, with its earlier terms `before`.
    #[inline(always)]
    fn add(&mut self, example: &ExampleTerms, before: &ExampleTerms) {
        let m = half(example);
        self.m_squared += m * m;
        self.change += (m - half(before)).powi(2);
        self.k_change += (example[K] - before[K]).powi(2);
        self.added += example[PHI] * example[PHI];
        self.k_squared += example[K] * example[K];
    }
}

/// `(r + c) / 2` of an example.
#[inline(always)]
fn half(example: &ExampleTerms) -> f64 {
    0.5 * (example[R] + example[C])
}

/// `T_Q p_Q`
#[multiversion::multiversion(targets = "simd")]
fn transform(query: &QueryMatrices, p: &[f64], tp: &mut [f64]) {
    let (p, tp) = (p.as_chunks::<1>().0, tp.as_chunks_mut::<1>().0);
    query.transform.apply(p, tp);
}

/// `X_{S,Q} theta`, centred, of every example of a query.
#[multiversion::multiversion(targets = "simd")]
fn project_first(query: &QueryMatrices, theta: &[Lanes], products: &mut [Lanes]) {
    products.fill([0.0; LANES]);
    query.selected.take_off(theta, products);
    for product in products.as_flattened_mut() {
        *product = -*product;
    }
}

/// Queries that [`spread`] sorts.
const SORTED: usize = 256;

/// At least the largest `sum_Q |k_Q|^2 y_Q` for `0 <= y_Q <= |Phi_Q|^2` of a sum of at most 1. So it is at least
/// `sum_Q y_Q^2 / |z|^2` for `u_Q = -Phi_Q' z`. `terms`: `|Phi_Q|^2` and `|k_Q|^2`.
pub(super) fn spread(mut terms: Vec<(f64, f64)>) -> f64 {
    let falling = |a: &(f64, f64), b: &(f64, f64)| b.1.total_cmp(&a.1).then(b.0.total_cmp(&a.0));
    let mut beyond = 0.0;
    if terms.len() > SORTED {
        beyond = terms.select_nth_unstable_by(SORTED, falling).1.1;
        terms.truncate(SORTED);
    }
    terms.sort_unstable_by(falling);
    let (mut left, mut sum) = (1.0_f64, 0.0);
    for (most, k_squared) in terms {
        let share = left.min(most);
        sum += share * k_squared;
        left -= share;
    }
    sum + left * beyond
}
