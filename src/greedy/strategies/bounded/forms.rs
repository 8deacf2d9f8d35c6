//! Quadratic forms over all queries, for steps in which norms leave many
//! suspects: the second and third order in `z` of what untouched queries gain.

use rayon::prelude::*;

use super::terms::StepTerms;
use crate::greedy::lanes::{LANES, Lanes};
use crate::kernels;

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

/// The forms of eight candidates.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct FormValues {
    /// `z' M z`
    pub(super) m: Lanes,
    /// `z' C z`
    pub(super) c: Lanes,
    /// `z' D z`
    pub(super) d: Lanes,
}

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
                add_products(step.vectors(), steps, number * ROWS, [m, c, d]);
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
            values.c[lane] += self.roundings[0] * z_squared;
            values.d[lane] += self.roundings[1] * z_squared;
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
            values.m[lane] += along[0][lane] * here[lane];
            values.c[lane] += along[1][lane] * here[lane];
            values.d[lane] += along[2][lane] * here[lane];
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
