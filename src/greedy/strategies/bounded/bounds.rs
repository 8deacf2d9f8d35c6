//! Upper bounds on the gain of a candidate. The argument for each is in
//! `docs/bounds.md`.
//!
//! Everything is written in sums *without* a query: with `v_-`, `z_-` the parts
//! of `v` and `z = Phi v` from outside `Q` and `N_Q = Phi_Q H_Q`,
//!
//! ```text
//! n_Q  = rho - a_Q = v_- . r_- + z_- . f_Q
//! S_Q  = s - b_Q   = lambda + |v_-|^2 - |z_-|^2 - z_-' N_Q z_-     0 <= z_-' N_Q z_- <= h_Q |z_-|^2
//! c_Q  = v_Q . p_Q - z_- . g_Q
//! d_Q  = |v_Q - H_Q z_-|^2
//! gain = sum_Q 2 beta_Q c_Q - beta_Q^2 d_Q,       beta_Q = n_Q / S_Q
//! ```
//!
//! In a query that the candidate does not touch `z_- = z`. With `beta_0 = rho / s`,
//! `x_Q = z . g_Q`, `w_Q = z . f_Q` and `b_Q = s - S_Q`, which `d_Q` is not below,
//!
//! ```text
//! 2 beta_Q c_Q - beta_Q^2 d_Q <= - 2 beta_0 x_Q - (2 / s) x_Q w_Q + b_Q x_Q^2 / s^2
//! ```
//!
//! The first term is summed over all queries, `- 2 beta_0 z . G`, one number a candidate that a pass
//! over its entries gives; touched queries take their share back. The others are small, and exact
//! for the queries where they may not be.

use super::step::{ExampleTerms, OWN_F, OWN_G, P, QueryTerms, R, StepTerms};
use crate::data::Column;
use crate::kernels::{LANES, Lanes};

/// What a bound knows of a candidate in a query it touches.
#[derive(Debug, Clone, Copy)]
pub(super) struct QueryPart {
    pub(super) query: usize,
    /// `|v_Q|^2`
    pub(super) squared_norm: f64,
    /// `|z_-|^2`
    pub(super) z_without: f64,
    /// Products of the entries with [`ExampleTerms`].
    pub(super) sums: ExampleTerms,
}

impl QueryPart {
    /// Passes over the entries of a piece.
    #[inline(always)]
    pub(super) fn new(
        (query, squared_norm): (usize, f64),
        entries: Column<'_>,
        examples: &[ExampleTerms],
    ) -> Self {
        let mut sums = [0.0; LANES];
        for (row, value) in entries.iter() {
            let example = &examples[row];
            for lane in 0..LANES {
                sums[lane] += value * example[lane];
            }
        }
        Self {
            query,
            squared_norm,
            z_without: 0.0,
            sums,
        }
    }

    /// `v_- . r_- - z_Q . f_Q`: `n_Q` but for `z . f_Q`.
    #[inline(always)]
    pub(super) fn n(&self, whole: &Whole) -> f64 {
        whole.rho - self.sums[R] - self.sums[OWN_F]
    }

    /// `v_Q . p_Q + z_Q . g_Q`: `c_Q` but for `- z . g_Q`.
    #[inline(always)]
    pub(super) fn c(&self) -> f64 {
        self.sums[P] + self.sums[OWN_G]
    }
}

/// What a bound knows of a candidate as a whole.
#[derive(Debug, Clone, Copy)]
pub(super) struct Whole {
    /// `|v|^2`
    pub(super) squared_norm: f64,
    /// `|z|^2`, or no less.
    pub(super) z_squared: f64,
    /// `rho = v . r`
    pub(super) rho: f64,
}

impl Whole {
    /// `s = lambda + |v|^2 - |z|^2`, or no more, but no less than `lambda`.
    #[inline(always)]
    pub(super) fn pivot(&self, lambda: f64) -> f64 {
        lambda + (self.squared_norm - self.z_squared).max(0.0)
    }
}

/// Level 0, all touched queries, when nothing is known of the candidate there: none loses more than
/// all of its error. Contains the `2 beta_0 x_Q` that each takes back from the sum over all queries.
#[inline(always)]
pub(super) fn touched_by_errors(
    parts: &[QueryPart],
    step: &StepTerms,
    (z, beta_0): (f64, f64),
) -> f64 {
    let x = 2.0 * z * beta_0.abs();
    let terms = parts.iter().map(|part| &step.queries[part.query]);
    terms.map(|terms| terms.p_squared + x * terms.g).sum()
}

/// Level 0, all touched queries: `z . f_Q` and `z . g_Q` are known by their norms only. Contains
/// the `2 beta_0 x_Q + (2 / s) x_Q w_Q` that each takes back from the sums over all queries.
#[inline(always)]
pub(super) fn touched_by_norms(
    whole: &Whole,
    parts: &[QueryPart],
    step: &StepTerms,
    lengths: (f64, f64),
) -> f64 {
    let mut sums = [0.0; LANES];
    for block in parts.chunks(LANES) {
        let mut ranges = Ranges::default();
        for (lane, part) in block.iter().enumerate() {
            ranges.load(lane, whole, part, &step.queries[part.query], lengths.0);
        }
        let bounds = ranges.bounds(whole, lengths.1, step.lambda);
        // What a lane without a query gets is not added.
        for lane in 0..block.len() {
            sums[lane] += bounds[lane];
        }
    }
    sums.iter().sum()
}

/// What level 0 knows of eight touched queries.
#[derive(Debug, Clone, Copy, Default)]
struct Ranges {
    squared_norm: Lanes,
    z_without: Lanes,
    h: Lanes,
    held: Lanes,
    /// `n_Q` is within `n_off` of `n`.
    n: Lanes,
    n_off: Lanes,
    /// `c_Q` is within `c_off` of `c`.
    c: Lanes,
    c_off: Lanes,
}

impl Ranges {
    #[inline(always)]
    fn load(&mut self, lane: usize, whole: &Whole, part: &QueryPart, terms: &QueryTerms, z: f64) {
        self.squared_norm[lane] = part.squared_norm;
        self.z_without[lane] = part.z_without;
        self.h[lane] = terms.h;
        self.held[lane] = terms.held;
        self.n[lane] = part.n(whole);
        self.n_off[lane] = z * terms.f;
        self.c[lane] = part.c();
        self.c_off[lane] = z * terms.g;
    }

    /// No branch: this runs a million times a step, eight at a time.
    #[inline(always)]
    fn bounds(&self, whole: &Whole, beta_0: f64, lambda: f64) -> Lanes {
        let by_pivot = 1.0 / whole.pivot(lambda);
        let mut bounds = [0.0; LANES];
        for (lane, bound) in bounds.iter_mut().enumerate() {
            let (n, n_off) = (self.n[lane], self.n_off[lane]);
            let (c, c_off) = (self.c[lane], self.c_off[lane]);
            let outside = larger(whole.squared_norm - self.squared_norm[lane], 0.0);
            let (least, most) = pivot_without(outside, self.z_without[lane], self.h[lane], lambda);
            let d = longer_than(
                self.squared_norm[lane],
                self.z_without[lane],
                self.held[lane],
            );
            let range = weights((n - n_off, n + n_off), least, most);
            // With w = beta S - n, x is multiplied with
            // -2 (beta (1 - S / s) + n / s - beta_0): largest at the ends of x and of S.
            let by_d = 1.0 / d;
            let fixed = 2.0 * c_off * (n * by_pivot - beta_0);
            let (some, all) = (
                c_off * (1.0 - most * by_pivot),
                c_off * (1.0 - least * by_pivot),
            );
            let above = larger(
                parabola(c + some, d, by_d, range),
                parabola(c + all, d, by_d, range),
            );
            let below = larger(
                parabola(c - some, d, by_d, range),
                parabola(c - all, d, by_d, range),
            );
            *bound = larger(above + fixed, below - fixed);
        }
        bounds
    }
}

/// `S_Q`, from its least to its most; `outside`: `|v_-|^2`.
#[inline(always)]
fn pivot_without(outside: f64, z_without: f64, h: f64, lambda: f64) -> (f64, f64) {
    let least = larger(outside - (1.0 + h) * z_without, 0.0);
    let most = larger(outside - z_without, 0.0);
    (lambda + least, lambda + most)
}

/// No more than `d_Q`: `|v_Q - H_Q z_-| >= |v_Q| - |H_Q| |z_-|`.
#[inline(always)]
fn longer_than(squared_norm: f64, z_without: f64, held: f64) -> f64 {
    let length = larger(squared_norm.sqrt() - held * z_without.sqrt(), 0.0);
    length * length
}

/// The least and the largest `n / S` for `n` and `S` in their ranges.
#[inline(always)]
fn weights((n_least, n_most): (f64, f64), least: f64, most: f64) -> (f64, f64) {
    let (by_least, by_most) = (1.0 / least, 1.0 / most);
    let low = smaller(n_least * by_least, n_least * by_most);
    let high = larger(n_most * by_least, n_most * by_most);
    (low, high)
}

/// The largest `2 beta c - beta^2 d` for `beta` from `low` to `high`; `by_d`: `1 / d`.
#[inline(always)]
fn parabola(c: f64, d: f64, by_d: f64, (low, high): (f64, f64)) -> f64 {
    // It rises up to beta = c / d; 0 / 0 gives `low`, where all values are equal.
    let beta = smaller(larger(c * by_d, low), high);
    beta * (2.0 * c - beta * d)
}

/// The larger one; `b` when `a` is not a number. One instruction, unlike [`f64::max`].
#[inline(always)]
fn larger(a: f64, b: f64) -> f64 {
    if a > b { a } else { b }
}

/// The smaller one; `b` when `a` is not a number.
#[inline(always)]
fn smaller(a: f64, b: f64) -> f64 {
    if a < b { a } else { b }
}

/// The second order in `z` of queries whose [`kappa`](QueryTerms::kappa) have a sum, or more:
/// `- (2 / s) sum x_Q w_Q`.
#[inline(always)]
pub(super) fn second_order(whole: &Whole, step: &StepTerms, kappa: f64) -> f64 {
    2.0 * kappa * whole.z_squared / whole.pivot(step.lambda)
}

/// What queries have beyond the second order, or more: `sum b_Q x_Q^2 / s^2`, from `sum` that
/// `sum b_Q x_Q^2 / |z|^2` does not exceed. `b_Q <= (1 + h_Q) |Phi_Q' z|^2` and `<= h_Q |z|^2`, and the
/// squares sum to `|z|^2` at most: so `sum` may be the largest `(1 + h_Q) x_Q^2`, or `|z|^2` times
/// [`StepTerms::spread`].
#[inline(always)]
pub(super) fn fourth_order(whole: &Whole, step: &StepTerms, sum: f64) -> f64 {
    let pivot = whole.pivot(step.lambda);
    whole.z_squared * sum / (pivot * pivot)
}

/// Level 0 for every candidate of one query no longer than `squared_norm`: it gains nothing in
/// that query, and `|rho| <= |v| |r_Q|`, `|z| <= |Phi_Q| |v|`, `|z . (G - g_Q)| <= |v| |Phi_Q' (G - g_Q)|`.
/// Grows with `squared_norm`.
pub(super) fn single_by_norms(squared_norm: f64, terms: &QueryTerms, step: &StepTerms) -> f64 {
    let v = squared_norm.sqrt();
    let z_squared = terms.phi * terms.phi * squared_norm;
    let whole = Whole {
        squared_norm,
        z_squared,
        rho: v * terms.r,
    };
    let pivot = whole.pivot(step.lambda);
    let beta_0 = whole.rho / pivot;
    let second = second_order(&whole, step, step.kappa);
    2.0 * beta_0 * v * terms.elsewhere
        + second
        + fourth_order(&whole, step, z_squared * step.spread)
}
