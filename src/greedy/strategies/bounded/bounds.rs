//! Upper bounds on the gain of a candidate. The argument for each is in
//! `docs/derivation.md`, section 11.
//!
//! With `beta_0 = rho / s`, the weight of the candidate when no query is left out, and
//! `k_Q = Phi_Q' g_Q`,
//!
//! ```text
//! c_Q  = p_Q . T_Q u_Q      b_Q = u_Q . T_Q u_Q      y_Q = u_Q . k_Q
//! gain <= sum_Q 2 beta_0 c_Q - beta_0^2 b_Q + y_Q^2 / (s + lambda)
//! ```
//!
//! The sum of all `c_Q` is one product of the candidate with a vector that is the same for all
//! candidates, and `y_Q` is of the second order in the leverage of the query: so one pass over the
//! entries gives a bound that is close. In a query that the candidate does not touch
//! `u_Q = -Phi_Q' z`.

use super::layout::Piece;
use super::step::{C, ExampleTerms, K, PHI, QueryTerms, R, StepTerms};
use crate::data::Column;

/// Products of a candidate's entries with [`ExampleTerms`].
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Products {
    /// `rho = v . r`
    pub(super) rho: f64,
    /// `tau`, the entry of `z` that the last step added.
    pub(super) tau: f64,
    /// `sum_Q c_Q`
    pub(super) c: f64,
    /// `sum_Q (v_Q . k_Q)^2`
    pub(super) k_squared: f64,
}

/// Passes over a column, whose pieces are all of it.
#[multiversion::multiversion(targets = "simd")]
pub(super) fn pass_over(
    column: Column<'_>,
    pieces: &[Piece],
    examples: &[ExampleTerms],
) -> Products {
    let mut rest = column;
    let mut products = Products::default();
    for piece in pieces {
        let mut sums = ExampleTerms::default();
        for (row, value) in rest.take_entries(piece.length as usize).iter() {
            for (sum, term) in sums.iter_mut().zip(&examples[row]) {
                *sum += value * term;
            }
        }
        products.rho += sums[R];
        products.tau += sums[PHI];
        products.c += sums[C];
        products.k_squared += sums[K] * sums[K];
    }
    products
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

    /// `beta_0 = rho / s`
    #[inline(always)]
    pub(super) fn weight(&self, lambda: f64) -> f64 {
        self.rho / self.pivot(lambda)
    }
}

/// Level 0, for a candidate of several queries.
#[inline(always)]
pub(super) fn of_products(whole: &Whole, products: &Products, step: &StepTerms) -> f64 {
    let beta_0 = whole.weight(step.lambda);
    // u . v, which |u|^2 does not exceed.
    let along = whole.pivot(step.lambda) - step.lambda;
    let u_squared = along * along / whole.squared_norm;
    let of_z = (step.spread * whole.z_squared).sqrt();
    let y_squared = (products.k_squared.sqrt() + of_z).powi(2);
    let y_squared = y_squared.min(step.largest * along);
    beta_0 * (2.0 * products.c - beta_0 * u_squared) + second_order(whole, step, y_squared)
}

/// `sum_Q y_Q^2 / (s + lambda)` of queries with this sum of `y_Q^2`, or more.
#[inline(always)]
fn second_order(whole: &Whole, step: &StepTerms, y_squared: f64) -> f64 {
    y_squared / (whole.pivot(step.lambda) + step.lambda)
}

/// What untouched queries with this [`spread`](super::step::spread) have beyond the first order.
#[inline(always)]
pub(super) fn rest(whole: &Whole, step: &StepTerms, spread: f64) -> f64 {
    second_order(whole, step, spread * whole.z_squared)
}

/// What all untouched queries have beyond the first order: the less of their [`rest`] and of what
/// `x_Q` and `w_Q` may be, which is less after many steps.
#[inline(always)]
pub(super) fn untouched(whole: &Whole, step: &StepTerms) -> f64 {
    let by_z = 2.0 * step.kappa * whole.z_squared / whole.pivot(step.lambda)
        + fourth_order(whole, step, step.fourth * whole.z_squared);
    by_z.min(rest(whole, step, step.spread))
}

/// What untouched queries have beyond `- (2 / s) x_Q w_Q`, or more: `sum b_Q x_Q^2 / s^2`, from the
/// largest `(1 + h_Q) x_Q^2`.
#[inline(always)]
pub(super) fn fourth_order(whole: &Whole, step: &StepTerms, largest: f64) -> f64 {
    whole.z_squared * largest / whole.pivot(step.lambda).powi(2)
}

/// Level 0 for every candidate of one query no longer than `squared_norm`: it gains nothing in
/// that query, and `|rho| <= |v| |r_Q|`, `|z| <= |Phi_Q| |v|`, `|z . (G - g_Q)| <= |v| |Phi_Q' (G - g_Q)|`.
/// Grows with `squared_norm`.
pub(super) fn single_by_norms(squared_norm: f64, terms: &QueryTerms, step: &StepTerms) -> f64 {
    let v = squared_norm.sqrt();
    let whole = Whole {
        squared_norm,
        z_squared: terms.phi * terms.phi * squared_norm,
        rho: v * terms.r,
    };
    let first_order = 2.0 * whole.weight(step.lambda) * v * terms.elsewhere;
    first_order + untouched(&whole, step)
}
