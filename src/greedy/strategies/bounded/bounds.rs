//! Upper bounds on the gain of a candidate. The argument for each is in
//! `docs/derivation.md`, section 11.
//!
//! Let `beta_0 = rho / s` be the weight of the candidate without hold-outs, and `k_Q = Phi_Q' g_Q`. Then
//!
//! ```text
//! c_Q  = p_Q . T_Q u_Q      b_Q = u_Q . T_Q u_Q      y_Q = u_Q . k_Q
//! gain <= sum_Q 2 beta_0 c_Q - beta_0^2 b_Q + y_Q^2 / (s + lambda)
//! ```
//!
//! The sum of all `c_Q` is one product of the candidate with a vector that is the same for all candidates, and
//! `y_Q` is of the second order in the leverage of the query. So one reading of the entries gives a close bound. In
//! a query that the candidate does not touch, `u_Q = -Phi_Q' z`.

use super::step::{C, ExampleTerms, K, PHI, R, StepTerms};
use crate::data::Column;
use crate::greedy::strategies::layout::{self, Piece};
use crate::linalg::kernels::LANES;

/// Products of a candidate's entries with [`ExampleTerms`].
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Products {
    /// `rho = v . r`
    pub(super) rho: f64,
    /// `tau`, the entry of `z` from the last step.
    pub(super) tau: f64,
    /// `sum_Q c_Q`
    pub(super) c: f64,
    /// `sum_Q (v_Q . k_Q)^2`
    pub(super) k_squared: f64,
    /// `sum_Q (k_Q . Phi_Q' z)^2` is at most `|z|^2` times this.
    pub(super) spread: f64,
    /// `|z|^2` is at most `|v|^2` times this.
    pub(super) explained: f64,
}

/// Reads a whole column; `pieces` are all its pieces.
pub(super) fn read(column: Column<'_>, pieces: &[Piece], step: &StepTerms) -> Products {
    let mut reading = Reading::new(column, pieces);
    read_before(&mut reading, u32::MAX, step);
    reading.products
}

/// A column read some queries at a time. Many columns read the same few queries one after the other, so the terms
/// of these queries stay in a cache.
#[derive(Debug)]
pub(super) struct Reading<'a> {
    /// The next entries.
    rest: Column<'a>,
    /// The next pieces.
    pieces: &'a [Piece],
    /// The products of the entries so far.
    pub(super) products: Products,
}

impl<'a> Reading<'a> {
    /// The column before its first query; `pieces` are all its pieces.
    pub(super) fn new(column: Column<'a>, pieces: &'a [Piece]) -> Self {
        Self {
            rest: column,
            pieces,
            products: Products::default(),
        }
    }
}

/// Reads many columns.
pub(super) fn read_together<'p, 'c: 'p>(
    readings: impl Iterator<Item = &'p mut Reading<'c>>,
    step: &StepTerms,
) {
    let mut long = Vec::new();
    for reading in readings {
        if reading.pieces.len() > step.blocks.len() {
            long.push(reading);
        } else {
            read_before(reading, u32::MAX, step);
        }
    }
    for &end in &step.blocks {
        for reading in &mut long {
            read_before(reading, end, step);
        }
    }
}

/// Reads the queries before query `end`.
#[multiversion::multiversion(targets = "simd")]
fn read_before(reading: &mut Reading<'_>, end: u32, step: &StepTerms) {
    let mut products = reading.products;
    while let [piece, later @ ..] = reading.pieces
        && piece.query < end
    {
        let mut sums = ExampleTerms::default();
        for (row, value) in reading.rest.take_entries(piece.length as usize).iter() {
            for (sum, term) in sums.iter_mut().zip(&step.examples[row]) {
                *sum += value * term;
            }
        }
        products.rho += sums[R];
        products.tau += sums[PHI];
        products.c += sums[C];
        products.k_squared += sums[K] * sums[K];
        let query = &step.queries[piece.query as usize];
        products.spread += query.spread();
        products.explained += query.phi_squared;
        reading.pieces = later;
    }
    reading.products = products;
}

/// The terms of a bound for the whole candidate.
#[derive(Debug, Clone, Copy)]
pub(super) struct Whole {
    /// `|v|^2`
    pub(super) squared_norm: f64,
    /// At least `|z|^2`.
    pub(super) z_squared: f64,
    /// At most `|z|^2`.
    pub(super) z_least: f64,
    /// `rho = v . r`
    pub(super) rho: f64,
    /// At least `sum b_Q x_Q^2 / |z|^2` of untouched queries.
    pub(super) fourth: f64,
}

impl Whole {
    /// At most `s = lambda + |v|^2 - |z|^2`, and at least `lambda`.
    #[inline(always)]
    pub(super) fn pivot(&self, lambda: f64) -> f64 {
        lambda + (self.squared_norm - self.z_squared).max(0.0)
    }

    /// `beta_0 = rho / s`
    #[inline(always)]
    pub(super) fn weight(&self, lambda: f64) -> f64 {
        self.rho / self.pivot(lambda)
    }
}

/// Before level 0: `|v . m|` is at most `half`, and `k_squared` and `spread` are at least as in [`Products`].
#[inline(always)]
pub(super) fn of_half(
    whole: &Whole,
    half: f64,
    [k_squared, spread]: [f64; 2],
    step: &StepTerms,
) -> f64 {
    let s = whole.pivot(step.lambda);
    let along = s - step.lambda;
    let curved = s + 0.5 * along * along / whole.squared_norm;
    2.0 * half * half / curved + beyond_first(whole, [k_squared, spread], step)
}

/// Level 0.
#[inline(always)]
pub(super) fn of_products(whole: &Whole, products: &Products, step: &StepTerms) -> f64 {
    let beta_0 = whole.weight(step.lambda);
    // u . v, which is at most |u|^2.
    let along = whole.pivot(step.lambda) - step.lambda;
    let u_squared = along * along / whole.squared_norm;
    let mut first = beta_0 * (2.0 * products.c - beta_0 * u_squared);
    if whole.z_least < whole.z_squared {
        // Negative values may fall with |z|^2.
        first = first.max(0.0);
    }
    first + beyond_first(whole, [products.k_squared, products.spread], step)
}

/// The second order; `k_squared` and `spread` are at least as in [`Products`].
#[inline(always)]
fn beyond_first(whole: &Whole, [k_squared, spread]: [f64; 2], step: &StepTerms) -> f64 {
    let along = (whole.squared_norm - whole.z_least).max(0.0);
    let of_queries = |spread: f64| {
        let y = k_squared.sqrt() + (spread * whole.z_squared).sqrt();
        second_order(whole, step, y.powi(2).min(step.sums.largest * along))
    };
    of_queries(step.sums.spread).min(of_queries(spread) + by_z(whole, step))
}

/// At least `sum_Q y_Q^2 / (s + lambda)` of queries with this sum of `y_Q^2`.
#[inline(always)]
fn second_order(whole: &Whole, step: &StepTerms, y_squared: f64) -> f64 {
    y_squared / (whole.pivot(step.lambda) + step.lambda)
}

/// The gain of untouched queries with this [`spread`](super::step::spread) beyond the first order.
#[inline(always)]
pub(super) fn rest(whole: &Whole, step: &StepTerms, spread: f64) -> f64 {
    second_order(whole, step, spread * whole.z_squared)
}

/// The gain of all untouched queries beyond the first order: the smaller of their [`rest`] and [`by_z`], which is
/// smaller after many steps.
#[inline(always)]
pub(super) fn untouched(whole: &Whole, step: &StepTerms) -> f64 {
    by_z(whole, step).min(rest(whole, step, step.sums.spread))
}

/// The gain of untouched queries beyond the first order, by the range of `x_Q` and `w_Q`.
#[inline(always)]
fn by_z(whole: &Whole, step: &StepTerms) -> f64 {
    2.0 * step.sums.kappa * whole.z_squared / whole.pivot(step.lambda)
        + fourth_order(whole, step, whole.fourth)
}

/// [`Whole::fourth`], with the `x_Q` of the first eight queries if they matter: a reading of a column.
#[multiversion::multiversion(targets = "simd")]
pub(super) fn fourth_of(
    column: Column<'_>,
    pieces: &[Piece],
    z_squared: f64,
    step: &StepTerms,
) -> f64 {
    let [all, mut sum] = step.sums.fourth.map(|spread| spread * z_squared);
    if !step.first_matter() {
        return all;
    }
    let mut products = [0.0; LANES];
    for (row, value) in column.iter() {
        for (sum, product) in products.iter_mut().zip(&step.first[row]) {
            *sum += value * product;
        }
    }
    for (&query, x) in step.sums.order.iter().zip(products) {
        if !layout::touches(pieces, query) {
            // b_Q is at most h_Q |z|^2.
            sum += step.queries[query].h * x * x;
        }
    }
    sum.min(all)
}

/// At least the gain of untouched queries beyond `- (2 / s) x_Q w_Q`: `sum b_Q x_Q^2 / s^2`, from at least `sum b_Q
/// x_Q^2 / |z|^2`, such as the largest `(1 + h_Q) x_Q^2`.
#[inline(always)]
pub(super) fn fourth_order(whole: &Whole, step: &StepTerms, sum: f64) -> f64 {
    whole.z_squared * sum / whole.pivot(step.lambda).powi(2)
}
