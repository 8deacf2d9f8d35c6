//! Terms that a step's bounds need of every query and example, taken once a step.

use std::ops::Range;

use rayon::prelude::*;

use crate::greedy::State;
use crate::greedy::matrices::{Products, QueryMatrices};
use crate::greedy::strategies::clock::{Clock, SURCHARGE, no_less};
use crate::linalg::kernels::{self, LANES, Lanes};

/// Norms of one query, of vectors and matrices of the state.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct QueryTerms {
    /// `|k_Q|^2`, `k_Q = Phi_Q' g_Q`
    pub(super) k_squared: f64,
    /// `h_Q >= |T_Q - I|`: its trace.
    pub(super) h: f64,
    /// `h_Q / (1 + h_Q) >= |Phi_Q|^2`
    pub(super) phi_squared: f64,
    /// `|g_Q|^2`
    g_squared: f64,
    /// `(|f_Q| |g_Q| - f_Q . g_Q) / 2`, or a little more: `-x_Q w_Q` is at most `|z|^2` times this.
    kappa: f64,
    /// `|m_Q|^2`, `m_Q = (r_Q + c_Q) / 2`
    m_squared: f64,
    /// `|m_Q|^2` of the change of `m_Q` since the state that was described before.
    change: f64,
    /// `|phi_Q|^2`, `phi` being the row of `Phi` added last.
    added: f64,
}

/// The terms that a candidate sums over the queries that it touches: each number, or a little more.
pub(super) type TouchedTerms = [f32; 6];

/// `|m_Q|^2`
pub(super) const M: usize = 0;
/// `|m_Q|^2` of the change of `m_Q` since the state that was described before.
pub(super) const CHANGE: usize = 1;
/// No less than `|Phi_Q|^2`.
pub(super) const EXPLAINED: usize = 2;
/// The growth of this since the state that was described before; infinite where that is not known.
pub(super) const GROWTH: usize = 3;
/// `|k_Q|^2`
pub(super) const OWN: usize = 4;
/// [`QueryTerms::spread`]
pub(super) const SPREAD: usize = 5;

/// The factors of a column at one example, side by side: a pass over a column is one
/// multiplication of four lanes an entry.
pub(super) type ExampleTerms = [f64; 4];

/// `r`
pub(super) const R: usize = 0;
/// The row of `Phi` added last.
pub(super) const PHI: usize = 1;
/// `p_Q - Phi_Q' (G - g_Q)`: with it a column has `sum_Q c_Q`.
pub(super) const C: usize = 2;
/// `k_Q = Phi_Q' g_Q`
pub(super) const K: usize = 3;

/// Tasks of queries that are a block: the terms of a block fit into a cache of half a megabyte, unless a query
/// does not.
const BLOCK: usize = 8;

/// Queries resolved at level 2, in turns: up to so many each.
pub(super) const RESOLVED: [usize; 3] = [8, 64, 512];

/// Which state it is.
#[derive(Debug, Default)]
pub(super) struct Place {
    /// How many states have been described, this one included.
    pub(super) number: usize,
    /// `t`
    pub(super) steps: usize,
    /// Steps since the state that was described before; `None` where it had more.
    pub(super) added: Option<usize>,
}

/// Numbers of all queries together, some without those that are resolved first.
#[derive(Debug, Default)]
pub(super) struct Sums {
    /// All queries, those that are resolved first: of the largest `(1 + h_Q) |g_Q|^2`.
    pub(super) order: Vec<usize>,
    /// The largest `|k_Q|^2`.
    pub(super) largest: f64,
    /// [`spread`] of `|k_Q|^2`.
    pub(super) spread: f64,
    /// The sum of all `kappa_Q`.
    pub(super) kappa: f64,
    /// The most that `sum_Q b_Q x_Q^2 / |z|^4` is, the spread of `(1 + h_Q) |g_Q|^2`: of all queries, and
    /// of all but the first eight of `order`.
    pub(super) fourth: [f64; 2],
    /// [`spread`] of `|k_Q|^2` of all but so many of `order` as [`RESOLVED`] says.
    pub(super) rests: [f64; RESOLVED.len()],
}

/// The state of one step, as the bounds see it.
#[derive(Debug, Default)]
pub(super) struct StepTerms {
    pub(super) at: Place,
    pub(super) lambda: f64,
    pub(super) queries: Vec<QueryTerms>,
    /// Terms of each query, in little room.
    pub(super) touched: Vec<TouchedTerms>,
    /// The clock of `|m_Q|^2`.
    pub(super) clock: Clock,
    pub(super) examples: Vec<ExampleTerms>,
    /// `Phi' g_Q` of the first eight of `order`, by example, if they [matter](StepTerms::first_matter): with them a
    /// column has their `x_Q`.
    pub(super) first: Vec<Lanes>,
    /// `G = sum_Q g_Q`, `t`.
    pub(super) g: Vec<f64>,
    /// Where the queries are cut for [passes](super::bounds::Passage) over columns: the queries that blocks end
    /// before, ascending.
    pub(super) blocks: Vec<u32>,
    pub(super) sums: Sums,
    /// `e(S)`
    pub(super) error: f64,
    /// The share by which rounding may have changed a gain or a bound: `docs/derivation.md`, section 11.
    pub(super) rounding: f64,
}

impl StepTerms {
    /// Describes a state: O(m t) time, in parallel over queries; `longest`: the largest `|v|^2` of a
    /// candidate.
    pub(super) fn renew(&mut self, state: &State, longest: f64) {
        self.at.number += 1;
        self.at.added = state.steps().checked_sub(self.at.steps);
        self.at.steps = state.steps();
        self.lambda = state.lambda().value();
        (self.error, self.rounding) = (state.error(), state.rounding(longest));
        self.examples
            .resize(state.labels().len(), ExampleTerms::default());
        self.first.resize(state.labels().len(), [0.0; LANES]);
        self.describe_queries(state);
        self.order_queries();
        self.describe_examples(state);
        self.sum_queries();
        self.sum_touched();
    }

    /// Describes the queries, cuts them into blocks, and adds up their `g_Q`.
    fn describe_queries(&mut self, state: &State) {
        let products = state.products();
        let describe = |run: Range<usize>| {
            let mut sum = vec![0.0; products.steps()];
            let describe = |query| {
                let (f, g) = products.of(query);
                kernels::add_scaled(&mut sum, 1.0, g);
                QueryTerms::new(state.trace(query), f, g)
            };
            let terms: Vec<QueryTerms> = run.map(describe).collect();
            (terms, sum)
        };
        let runs = state.queries().tasks();
        let last_runs = runs.chunks(BLOCK).filter_map(|runs| runs.last());
        // Queries count in 32 bits.
        let end = |run: &Range<usize>| u32::try_from(run.end).unwrap_or(u32::MAX);
        self.blocks = last_runs.map(end).collect();
        let described: Vec<_> = runs.into_par_iter().map(describe).collect();
        self.queries.clear();
        self.g.clear();
        self.g.resize(products.steps(), 0.0);
        for (terms, sum) in described {
            self.queries.extend(terms);
            kernels::add_scaled(&mut self.g, 1.0, &sum);
        }
    }

    /// Finds the queries to resolve first, and what the others have: O(q).
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

    /// [`spread`] of a number of each query but the first so many of `order`, in parallel.
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

    /// Whether the first eight of `order` have half of what all queries have, or more.
    pub(super) fn first_matter(&self) -> bool {
        self.sums.fourth[0] > 0.0 && self.sums.fourth[1] <= 0.5 * self.sums.fourth[0]
    }

    /// Sums over queries, some without the first: O(q).
    fn sum_queries(&mut self) {
        let queries = &self.queries;
        let k_squared: fn(&QueryTerms) -> f64 = |query| query.k_squared;
        self.sums.kappa = queries.iter().map(|query| query.kappa).sum();
        self.sums.largest = queries.iter().map(k_squared).fold(0.0, f64::max);
        let [first, second, third] = RESOLVED;
        let [spread, rests @ ..] = self.spreads_of([0, first, second, third], k_squared);
        (self.sums.spread, self.sums.rests) = (spread, rests);
    }

    /// Describes queries in short, and takes the clock on: O(q).
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
        self.clock.tick(numbers, surcharge);
    }

    /// `g_Q` of the first eight of `order`, a lane each.
    fn first_lanes(&self, products: &Products<'_>) -> Vec<Lanes> {
        let mut lanes = vec![[0.0; LANES]; self.at.steps];
        for (lane, &query) in self.sums.order.iter().take(LANES).enumerate() {
            let (_, g) = products.of(query);
            for (lanes, &g) in lanes.iter_mut().zip(g) {
                lanes[lane] = g;
            }
        }
        lanes
    }

    fn describe_examples(&mut self, state: &State) {
        let (first_matter, g) = (self.first_matter(), &self.g);
        let products = state.products();
        let first_g = self.first_lanes(&products);
        let queries = state.queries();
        let (mut terms, mut examples) = (&mut self.queries[..], &mut self.examples[..]);
        let mut first = &mut self.first[..];
        let task = |run: Range<usize>| {
            let rows = queries.rows_of(&run).len();
            let terms = terms.split_off_mut(..run.len()).unwrap_or_default();
            let examples = examples.split_off_mut(..rows).unwrap_or_default();
            let first = first.split_off_mut(..rows).unwrap_or_default();
            (run, terms, examples, first)
        };
        let tasks: Vec<_> = queries.tasks().into_iter().map(task).collect();
        tasks
            .into_par_iter()
            .for_each(|(run, terms, mut examples, mut first)| {
                for (query, terms) in run.zip(terms) {
                    let range = queries.range(query);
                    let examples = examples.split_off_mut(..range.len()).unwrap_or_default();
                    let first = first.split_off_mut(..range.len()).unwrap_or_default();
                    let (_, own_g) = products.of(query);
                    let matrices = state.query_matrices(query);
                    let last = state.last();
                    let new_phi = last.map_or(&[][..], |last| &last.phi[range.clone()]);
                    let residual = &state.residual()[range];
                    project_back(&matrices, [g, own_g], [residual, new_phi], terms, examples);
                    if first_matter {
                        project_first(&matrices, &first_g, first);
                    }
                }
            });
    }

    /// The change that rounding may have made to a gain or to this bound on it: a share of the error
    /// before or, of a candidate that does harm, after.
    #[inline(always)]
    pub(super) fn slop(&self, bound: f64) -> f64 {
        self.rounding * self.error.max(self.error - bound)
    }
}

impl QueryTerms {
    /// The terms of a query with this trace of `T_Q - I`, before its examples.
    fn new(h: f64, f: &[f64], g: &[f64]) -> Self {
        let [f_squared, g_squared, along] = norms(f, g);
        let size = (f_squared * g_squared).sqrt();
        let rounding = (f.len() + 8) as f64 * f64::EPSILON * size;
        Self {
            h,
            phi_squared: h / (1.0 + h),
            g_squared,
            kappa: 0.5 * (size - along).max(0.0) + rounding,
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

    /// The terms of the query for the candidates that touch it, `added` steps after the state that was
    /// described before.
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
            self.spread(),
        ];
        terms.map(no_less)
    }

    /// Adds an example, of which `m` was something else before.
    #[inline(always)]
    fn add(&mut self, example: &ExampleTerms, before: f64) {
        let m = half(example);
        self.m_squared += m * m;
        self.change += (m - before).powi(2);
        self.added += example[PHI] * example[PHI];
        self.k_squared += example[K] * example[K];
    }
}

/// `|f|^2`, `|g|^2` and `f . g`.
#[multiversion::multiversion(targets = "simd")]
fn norms(f: &[f64], g: &[f64]) -> [f64; 3] {
    [(f, f), (g, g), (f, g)].map(|(a, b)| kernels::dot(a, b))
}

/// `(r + c) / 2` of an example.
#[inline(always)]
fn half(example: &ExampleTerms) -> f64 {
    0.5 * (example[R] + example[C])
}

/// Describes the examples of a query, with what `Phi'` times `G` and `g_Q` gives, and takes their sums.
/// `new_phi` is empty before the first step.
#[multiversion::multiversion(targets = "simd")]
fn project_back(
    query: &QueryMatrices<'_>,
    [g, own_g]: [&[f64]; 2],
    [residual, new_phi]: [&[f64]; 2],
    terms: &mut QueryTerms,
    examples: &mut [ExampleTerms],
) {
    for (place, example) in examples.iter_mut().enumerate() {
        let before = half(example);
        let phi = &query.phi[place * query.stride..][..g.len()];
        let k = kernels::dot(phi, own_g);
        let others = kernels::dot(phi, g) - k;
        example[R] = residual[place];
        example[PHI] = new_phi.get(place).copied().unwrap_or(0.0);
        example[C] = query.holdout[place] - others;
        example[K] = k;
        terms.add(example, before);
    }
}

/// `Phi'` times some vectors, `t` rows of them, for every example of a query.
#[multiversion::multiversion(targets = "simd")]
fn project_first(query: &QueryMatrices<'_>, first_g: &[Lanes], products: &mut [Lanes]) {
    for (place, product) in products.iter_mut().enumerate() {
        let mut sums = [0.0; LANES];
        for (phi, first_g) in query.phi[place * query.stride..].iter().zip(first_g) {
            for (sum, first_g) in sums.iter_mut().zip(first_g) {
                *sum += phi * first_g;
            }
        }
        *product = sums;
    }
}

/// Queries that [`spread`] sorts.
const SORTED: usize = 256;

/// The largest `sum_Q |k_Q|^2 y_Q` for `0 <= y_Q <= |Phi_Q|^2` of a sum of at most 1, or more: no less
/// than `sum_Q y_Q^2 / |z|^2` where `u_Q = -Phi_Q' z`. `terms`: `|Phi_Q|^2` and `|k_Q|^2`.
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
