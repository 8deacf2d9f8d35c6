//! Adding a feature to the state, query by query.

use rayon::prelude::*;

use crate::data::{Column, Queries};
use crate::kernels;

/// A column to be added, in any form that centres to it: as a strategy's own
/// candidate, or as it came from another process.
#[derive(Debug, Clone, Copy)]
pub struct Addition<'a> {
    /// 0-based feature.
    pub feature: u32,
    /// The sparse column, not centred.
    pub column: Column<'a>,
    /// The column is this times the feature's own, as [`ColumnClasses::factor`] says.
    ///
    /// [`ColumnClasses::factor`]: crate::columns::ColumnClasses::factor
    pub factor: f64,
}

/// What the last addition did, for strategies that keep caches up to date.
#[derive(Debug, Clone)]
pub struct LastStep {
    /// The new row of `Phi`, `m`.
    pub phi: Vec<f64>,
    /// `psi_Q = T_Q phi_Q` with `T_Q` from before the addition, `m`.
    pub psi: Vec<f64>,
    /// `B_Q = phi_Q . psi_Q`, `q`.
    pub leverage: Vec<f64>,
    /// `nu_Q = 1 / (1 - B_Q)`, `q`.
    pub nu: Vec<f64>,
    /// `phi . y^`.
    pub eta: f64,
    /// `lambda / s`: no `1 - B_Q` is less.
    pub(super) least_slack: f64,
    /// The query that holds the whole column, if one does.
    pub(super) sole_query: Option<usize>,
}

impl LastStep {
    /// A step that changed nothing.
    pub(super) fn none(queries: &Queries) -> Self {
        let (rows, queries) = (queries.rows(), queries.len());
        Self {
            phi: vec![0.0; rows],
            psi: vec![0.0; rows],
            leverage: vec![0.0; queries],
            nu: vec![0.0; queries],
            eta: 0.0,
            least_slack: 1.0,
            sole_query: None,
        }
    }
}

/// One query's share of the state while a feature is added.
pub(super) struct Part<'a> {
    pub(super) first_row: usize,
    pub(super) capacity: usize,
    /// Entries of the new column in this query.
    pub(super) entries: Column<'a>,
    pub(super) phi: &'a mut [f64],
    pub(super) held: &'a mut [f64],
    pub(super) residual: &'a mut [f64],
    pub(super) holdout: &'a mut [f64],
    /// `u` on entry, `phi` when done.
    pub(super) new_phi: &'a mut [f64],
    /// `v` on entry, `psi` when done.
    pub(super) psi: &'a mut [f64],
    pub(super) leverage: &'a mut f64,
    pub(super) nu: &'a mut f64,
    pub(super) least_slack: f64,
    pub(super) trace: &'a mut f64,
    /// Whether `p` is looked after elsewhere.
    pub(super) folded: bool,
    /// No other query has the feature, so the model without this one gives it weight 0.
    pub(super) unseen_elsewhere: bool,
}

impl Part<'_> {
    /// `nu_Q`, and the multiple of `psi` that leaves `p`.
    fn reaction(&self, eta: f64) -> (f64, f64) {
        if self.unseen_elsewhere {
            return (1.0 / self.least_slack, 0.0);
        }
        // s - b_Q >= lambda, so this is the bound that rounding must not cross.
        let nu = 1.0 / (1.0 - *self.leverage).max(self.least_slack);
        let surprise = nu * (eta - kernels::dot(self.new_phi, self.holdout));
        (nu, surprise)
    }

    /// Appends `phi = u / root` to `Phi`, updates `r`, and `H` and `p` unless the factors of `Folds` have
    /// taken over: O(|Q| t).
    pub(super) fn append(self, z: &[f64], root: f64, eta: f64) {
        for value in self.new_phi.iter_mut().chain(&mut *self.psi) {
            *value /= root;
        }
        let phi_rows = self.phi.chunks_exact_mut(self.capacity);
        for ((row, residual), &phi) in phi_rows.zip(&mut *self.residual).zip(&*self.new_phi) {
            row[z.len()] = phi;
            *residual -= eta * phi;
        }
        if !self.folded {
            self.append_held(z, root, eta);
        }
    }

    /// The part of `append` that divides by `1 - B_Q`.
    fn append_held(self, z: &[f64], root: f64, eta: f64) {
        let t = z.len();
        let mut projection: Vec<f64> = z.iter().map(|z| z / root).collect();
        for (row, value) in self.entries.iter() {
            let phi = &self.phi[(row - self.first_row) * self.capacity..][..t];
            kernels::add_scaled(&mut projection, -value / root, phi);
        }
        subtract_products(self.psi, self.held, self.capacity, &projection);
        *self.leverage = kernels::dot(self.new_phi, self.psi);
        let (nu, surprise) = self.reaction(eta);
        *self.nu = nu;
        *self.trace += nu * kernels::dot(self.psi, self.psi);
        projection.fill(0.0);
        gather_products(&mut projection, self.phi, self.capacity, self.psi);
        let rows = self.held.chunks_exact_mut(self.capacity).zip(self.holdout);
        for ((row, holdout), &psi) in rows.zip(&*self.psi) {
            kernels::add_scaled(&mut row[..t], nu * psi, &projection);
            row[t] = nu * psi;
            *holdout -= surprise * psi;
        }
    }
}

/// `u -= M z` for the first `z.len()` columns of `M`.
#[multiversion::multiversion(targets = "simd")]
fn subtract_products(u: &mut [f64], m: &[f64], stride: usize, z: &[f64]) {
    for (u, row) in u.iter_mut().zip(m.chunks_exact(stride)) {
        *u -= kernels::dot(&row[..z.len()], z);
    }
}

/// `u -= M z` in parallel over rows.
pub(super) fn subtract_products_in_parallel(u: &mut [f64], m: &[f64], stride: usize, z: &[f64]) {
    const ROWS: usize = 1024;
    if !z.is_empty() {
        let chunks = u.par_chunks_mut(ROWS).zip(m.par_chunks(ROWS * stride));
        chunks.for_each(|(u, m)| subtract_products(u, m, stride, z));
    }
}

/// `z += M' u` for the first `z.len()` columns of `M`.
#[multiversion::multiversion(targets = "simd")]
fn gather_products(z: &mut [f64], m: &[f64], stride: usize, u: &[f64]) {
    for (&u, row) in u.iter().zip(m.chunks_exact(stride)) {
        kernels::add_scaled(z, u, row);
    }
}

/// `L y`: labels less their query's mean.
///
/// Twice: under a large common offset the first mean is off by the rounding of the offset, and
/// so is the sum of what is left; columns that are not centred would pick that up.
pub(crate) fn centred(values: &[f64], queries: &Queries) -> Vec<f64> {
    let mut centred = values.to_vec();
    for part in queries.split_mut(&mut centred) {
        centre(part);
        centre(part);
    }
    centred
}

/// Takes off the mean.
pub(crate) fn centre(values: &mut [f64]) {
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    for value in values {
        *value -= mean;
    }
}
