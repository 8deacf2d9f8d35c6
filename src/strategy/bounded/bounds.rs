//! Upper bounds on the gain of a candidate, cheapest first. The argument for
//! each is in `docs/bounds.md`.
//!
//! Everything is written in the sums *without* a query: with `v_-`, `z_-` the
//! parts of `v` and `z = Phi v` from outside `Q` and `N_Q = Phi_Q H_Q`,
//!
//! ```text
//! n_Q = rho - a_Q = v_- . r_- + z_- . f_Q
//! S_Q = s - b_Q   = lambda + |v_-|^2 - |z_-|^2 - z_-' N_Q z_-,   0 <= z_-' N_Q z_- <= h_Q |z_-|^2
//! c_Q             = v_Q . p_Q - z_- . g_Q
//! d_Q             = |v_Q - H_Q z_-|^2
//! gain            = sum_Q 2 (n_Q / S_Q) c_Q - (n_Q / S_Q)^2 d_Q
//! ```

use super::terms::{QueryTerms, StepTerms};

/// What a bound knows of a candidate in a query it touches.
#[derive(Debug, Clone, Copy)]
pub(super) struct Touch {
    pub(super) query: usize,
    /// `|v_Q|^2`
    pub(super) squared_norm: f64,
    /// `v_Q . p_Q`
    pub(super) along_p: f64,
    /// `v_Q . r_Q`
    pub(super) along_r: f64,
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
    /// `s = lambda + |v|^2 - |z|^2`, no more and no less than `lambda`.
    pub(super) fn pivot(&self, lambda: f64) -> f64 {
        lambda + (self.squared_norm - self.z_squared).max(0.0)
    }
}

/// Level 0, one touched query: from norms alone, `z_-` replaced by its length.
#[inline(always)]
pub(super) fn touched_by_norms(
    whole: &Whole,
    touch: &Touch,
    terms: &QueryTerms,
    z: f64,
    lambda: f64,
) -> f64 {
    let outside = (whole.squared_norm - touch.squared_norm).max(0.0);
    // |z_-| <= |z| + |Phi_Q v_Q|, and |z_-| <= |v_-| as |Phi| <= 1.
    let v = touch.squared_norm.sqrt();
    let z_squared = (z + terms.phi * v).powi(2).min(outside);
    let z = z_squared.sqrt();
    let slack = lambda + (outside - (1.0 + terms.h) * z_squared).max(0.0);
    let (n, n_off) = (whole.rho - touch.along_r, z * terms.f);
    let (c, c_off) = (touch.along_p, z * terms.g);
    // The largest n c: both at their upper ends, or both at their lower.
    let product = ((n + n_off) * (c + c_off))
        .max((n - n_off) * (c - c_off))
        .max(0.0);
    let linear = 2.0 * product / slack;
    // No weight takes more off than the best weight: c^2 / d.
    let d = (v - terms.held * z).max(0.0).powi(2);
    let best = (c.abs() + c_off).powi(2);
    if linear * d > best {
        (best / d).min(terms.p_squared)
    } else {
        linear.min(terms.p_squared)
    }
}

/// Level 0, the untouched queries, from norms alone. `touched_g`: the sum of `|g_Q|` over the
/// touched ones.
#[inline(always)]
pub(super) fn untouched_by_norms(whole: &Whole, step: &StepTerms, z: f64, touched_g: f64) -> f64 {
    let beta = whole.rho.abs() / whole.pivot(step.lambda);
    2.0 * beta * z * (step.g_norm + touched_g) + remainder(whole, step, z, beta)
}

/// What the untouched queries can add to the first-order term `- 2 beta_0 z . g_Q`: section 5,
/// level 1, with `lambda` as a floor of `s - b_Q`.
#[inline(always)]
pub(super) fn remainder(whole: &Whole, step: &StepTerms, z: f64, beta: f64) -> f64 {
    let z_squared = z * z;
    let slack = (whole.pivot(step.lambda) - z_squared * step.h_max).max(step.lambda);
    2.0 * z_squared * (beta * z * step.hg + step.fg) / slack
}

/// Level 1, one touched query: `n_Q` and `c_Q` exact, `S_Q` between its bounds and `d_Q` no
/// less than its own.
#[inline(always)]
pub(super) fn touched_by_projection(
    outside: f64,
    touch: &Touch,
    terms: &QueryTerms,
    (n, c, z_squared): (f64, f64, f64),
    lambda: f64,
) -> f64 {
    let most = lambda + (outside - z_squared).max(0.0);
    let least = lambda + (outside - (1.0 + terms.h) * z_squared).max(0.0);
    let from_norms = touch.squared_norm.sqrt() - terms.held * z_squared.sqrt();
    let d = from_norms.max(0.0).powi(2);
    best_between(n, c, least, most, d_no_less(d, c, terms.p_squared))
}

/// `d >= c^2 / |p|^2` by Cauchy and Schwarz.
#[inline(always)]
fn d_no_less(d: f64, c: f64, p_squared: f64) -> f64 {
    if p_squared > 0.0 {
        d.max(c * c / p_squared)
    } else {
        d
    }
}

/// The largest `2 beta c - beta^2 d` for `beta = n / S`, `S` from `least` to `most`.
#[inline(always)]
fn best_between(n: f64, c: f64, least: f64, most: f64, d: f64) -> f64 {
    let (n, c) = (n.abs(), if n < 0.0 { -c } else { c });
    let (low, high) = (n / most, n / least);
    // The parabola rises up to beta = c / d.
    let beta = if c <= 0.0 {
        low
    } else if d * high <= c {
        high
    } else {
        (c / d).max(low)
    };
    beta * (2.0 * c - beta * d)
}

/// Level 3, one untouched query: `z . f_Q` and `z . g_Q` exact.
#[inline(always)]
pub(super) fn untouched_exactly(
    whole: &Whole,
    terms: &QueryTerms,
    (zf, zg): (f64, f64),
    lambda: f64,
) -> f64 {
    let most = whole.pivot(lambda);
    let least = (most - whole.z_squared * terms.h).max(lambda);
    best_between(
        whole.rho + zf,
        -zg,
        least,
        most,
        d_no_less(0.0, zg, terms.p_squared),
    )
}
