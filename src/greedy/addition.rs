//! Adding a feature to the state, query by query.

use rayon::prelude::*;

use crate::data::{Column, Queries};
use crate::linalg::kernels;

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

/// The effect of the last addition, for strategies that keep caches up to date.
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
        }
    }
}

/// The numbers of a new feature that all queries share.
pub(super) struct NewFeature<'a> {
    pub(super) z: &'a [f64],
    /// `sqrt(s)`
    pub(super) root: f64,
    /// `rho / sqrt(s)`
    pub(super) eta: f64,
    /// `lambda / s`: no `1 - B_Q` is less.
    pub(super) least_slack: f64,
    /// The query that holds the whole column, if one does.
    pub(super) sole_query: Option<usize>,
    /// Whether `H` and `p` are looked after by `Folds`.
    pub(super) folded: bool,
}

/// Rows of all that the state has by example.
pub(super) struct Examples<'a> {
    /// Numbers a row of `phi` and `held`.
    pub(super) capacity: usize,
    pub(super) phi: &'a mut [f64],
    pub(super) held: &'a mut [f64],
    pub(super) residual: &'a mut [f64],
    pub(super) holdout: &'a mut [f64],
    /// `u` before the addition, the new row of `Phi` after it.
    pub(super) new_phi: &'a mut [f64],
    /// `v` before the addition, `psi` after it.
    pub(super) psi: &'a mut [f64],
}

impl Examples<'_> {
    /// Takes the first `rows` off.
    pub(super) fn take(&mut self, rows: usize) -> Self {
        let cells = rows * self.capacity;
        Self {
            capacity: self.capacity,
            phi: self.phi.split_off_mut(..cells).unwrap_or_default(),
            held: self.held.split_off_mut(..cells).unwrap_or_default(),
            residual: self.residual.split_off_mut(..rows).unwrap_or_default(),
            holdout: self.holdout.split_off_mut(..rows).unwrap_or_default(),
            new_phi: self.new_phi.split_off_mut(..rows).unwrap_or_default(),
            psi: self.psi.split_off_mut(..rows).unwrap_or_default(),
        }
    }
}

/// `B_Q`, `nu_Q`, and by how much the trace of `T_Q` grows.
pub(super) struct QueryStep {
    pub(super) leverage: f64,
    pub(super) nu: f64,
    pub(super) trace: f64,
}

/// The addition in one query, whose rows begin at `first` (`docs/derivation.md`, section 5): O(`|Q|` t).
/// `entries` are those of the new column there. `None` where `Folds` have taken over.
#[multiversion::multiversion(targets = "simd")]
pub(super) fn add_to_query(
    feature: &NewFeature<'_>,
    (query, first): (usize, usize),
    entries: Column<'_>,
    examples: Examples<'_>,
) -> Option<QueryStep> {
    let &NewFeature { z, root, eta, .. } = feature;
    let (t, capacity) = (z.len(), examples.capacity);
    let Examples { phi, held, .. } = examples;
    let (new_phi, psi) = (examples.new_phi, examples.psi);
    // phi = u / sqrt(s), and v / sqrt(s) on the way to psi.
    for value in new_phi.iter_mut().chain(&mut *psi) {
        *value /= root;
    }
    let rows = phi.chunks_exact_mut(capacity).zip(examples.residual);
    for ((row, residual), &phi) in rows.zip(&*new_phi) {
        row[t] = phi;
        *residual -= eta * phi;
    }
    if feature.folded {
        return None;
    }
    // psi_Q = (v_Q - H_Q z_-) / sqrt(s)
    let mut without: Vec<f64> = z.iter().map(|z| z / root).collect();
    for (row, value) in entries.iter() {
        let phi = &phi[(row - first) * capacity..][..t];
        kernels::add_scaled(&mut without, -value / root, phi);
    }
    subtract_rows(psi, held, capacity, &without);
    let leverage = kernels::dot(new_phi, psi);
    let (nu, surprise) = if feature.sole_query == Some(query) {
        // The model without this query gives the feature weight 0.
        (1.0 / feature.least_slack, 0.0)
    } else {
        // s - b_Q >= lambda, so this is the bound that rounding must not cross.
        let nu = 1.0 / (1.0 - leverage).max(feature.least_slack);
        (nu, nu * (eta - kernels::dot(new_phi, examples.holdout)))
    };
    // H_Q <- [H_Q + nu psi (Phi_Q psi)', nu psi]
    let mut along = vec![0.0; t];
    for (&psi, row) in psi.iter().zip(phi.chunks_exact(capacity)) {
        kernels::add_scaled(&mut along, psi, row);
    }
    let rows = held.chunks_exact_mut(capacity).zip(examples.holdout);
    for ((row, holdout), &psi) in rows.zip(&*psi) {
        kernels::add_scaled(&mut row[..t], nu * psi, &along);
        row[t] = nu * psi;
        *holdout -= surprise * psi;
    }
    Some(QueryStep {
        leverage,
        nu,
        trace: nu * kernels::dot(psi, psi),
    })
}

/// `u -= M z` for the first `z.len()` columns of `M`.
#[inline(always)]
fn subtract_rows(u: &mut [f64], m: &[f64], stride: usize, z: &[f64]) {
    for (u, row) in u.iter_mut().zip(m.chunks_exact(stride)) {
        *u -= kernels::dot(&row[..z.len()], z);
    }
}

#[multiversion::multiversion(targets = "simd")]
fn subtract_products(u: &mut [f64], m: &[f64], stride: usize, z: &[f64]) {
    subtract_rows(u, m, stride, z);
}

/// Subtracts products from `u` as [`subtract_products`], in parallel over rows.
pub(super) fn subtract_products_in_parallel(u: &mut [f64], m: &[f64], stride: usize, z: &[f64]) {
    const ROWS: usize = 1024;
    if !z.is_empty() {
        let chunks = u.par_chunks_mut(ROWS).zip(m.par_chunks(ROWS * stride));
        chunks.for_each(|(u, m)| subtract_products(u, m, stride, z));
    }
}
