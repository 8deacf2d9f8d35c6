//! Adding a feature to the state, query by query.

use super::matrices::QueryMatrices;
use crate::data::{Column, Queries};
use crate::linalg::centring::centre;
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
    pub(super) stride: usize,
    pub(super) phi: &'a mut [f64],
    pub(super) held: &'a mut [f64],
    pub(super) residual: &'a mut [f64],
    pub(super) holdout: &'a mut [f64],
    /// The new row of `Phi`.
    pub(super) new_phi: &'a mut [f64],
    pub(super) psi: &'a mut [f64],
    /// `[f_Q, g_Q]` after the addition, of each query, or none.
    pub(super) products: &'a mut [f64],
    /// How many numbers these are for each query.
    pub(super) of_query: usize,
}

impl Examples<'_> {
    /// Takes the first `queries` off, which have so many `rows`.
    pub(super) fn take(&mut self, queries: usize, rows: usize) -> Self {
        let cells = rows * self.stride;
        Self {
            stride: self.stride,
            phi: self.phi.split_off_mut(..cells).unwrap_or_default(),
            held: self.held.split_off_mut(..cells).unwrap_or_default(),
            residual: self.residual.split_off_mut(..rows).unwrap_or_default(),
            holdout: self.holdout.split_off_mut(..rows).unwrap_or_default(),
            new_phi: self.new_phi.split_off_mut(..rows).unwrap_or_default(),
            psi: self.psi.split_off_mut(..rows).unwrap_or_default(),
            products: self
                .products
                .split_off_mut(..queries * self.of_query)
                .unwrap_or_default(),
            of_query: self.of_query,
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
    let (t, stride) = (z.len(), examples.stride);
    let Examples {
        phi, held, holdout, ..
    } = examples;
    let (new_phi, psi) = (examples.new_phi, examples.psi);
    // phi = u / sqrt(s), and v / sqrt(s) on the way to psi.
    fill_centred(entries, first, psi);
    new_phi.copy_from_slice(psi);
    subtract_rows(new_phi, phi, stride, z);
    for value in new_phi.iter_mut().chain(&mut *psi) {
        *value /= root;
    }
    let rows = phi.chunks_exact_mut(stride).zip(examples.residual);
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
        let phi = &phi[(row - first) * stride..][..t];
        kernels::add_scaled(&mut without, -value / root, phi);
    }
    subtract_rows(psi, held, stride, &without);
    let leverage = kernels::dot(new_phi, psi);
    let (nu, surprise) = if feature.sole_query == Some(query) {
        // The model without this query gives the feature weight 0.
        (1.0 / feature.least_slack, 0.0)
    } else {
        // s - b_Q >= lambda, so this is the bound that rounding must not cross.
        let nu = 1.0 / (1.0 - leverage).max(feature.least_slack);
        (nu, nu * (eta - kernels::dot(new_phi, holdout)))
    };
    // H_Q <- [H_Q + nu psi (Phi_Q psi)', nu psi]
    let mut along = vec![0.0; t];
    for (&psi, row) in psi.iter().zip(phi.chunks_exact(stride)) {
        kernels::add_scaled(&mut along, psi, row);
    }
    let rows = held.chunks_exact_mut(stride).zip(&mut *holdout);
    for ((row, holdout), &psi) in rows.zip(&*psi) {
        kernels::add_scaled(&mut row[..t], nu * psi, &along);
        row[t] = nu * psi;
        *holdout -= surprise * psi;
    }
    let matrices = QueryMatrices {
        phi,
        held,
        stride,
        holdout,
    };
    project_holdout(&matrices, examples.products);
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

/// `v_Q`: the `entries` of a query whose rows begin at `first`, centred.
#[inline(always)]
pub(super) fn fill_centred(entries: Column<'_>, first: usize, v: &mut [f64]) {
    v.fill(0.0);
    for (row, value) in entries.iter() {
        v[row - first] = value;
    }
    centre(v);
}

/// Appends the terms of `v . u`, `u = v - Phi' z`, for the `entries` of a query whose rows begin at `first`.
/// `phi` has its rows, and `v` has room for them.
#[multiversion::multiversion(targets = "simd")]
pub(super) fn push_along(
    entries: Column<'_>,
    first: usize,
    (phi, stride): (&[f64], usize),
    z: &[f64],
    (v, terms): (&mut [f64], &mut Vec<f64>),
) {
    fill_centred(entries, first, v);
    for (row, value) in entries.iter() {
        let row = row - first;
        let phi = phi.get(row * stride..).unwrap_or_default();
        subtract_rows(&mut v[row..=row], phi, stride, z);
        terms.push(value * v[row]);
    }
}

/// `[f_Q, g_Q] = [Phi_Q p_Q, H_Q' p_Q]` into `products`, which may be empty: O(`|Q|` t).
#[multiversion::multiversion(targets = "simd")]
pub(super) fn project_holdout(query: &QueryMatrices<'_>, products: &mut [f64]) {
    products.fill(0.0);
    let steps = products.len() / 2;
    let (f, g) = products.split_at_mut(steps);
    for (example, &p) in query.holdout.iter().enumerate() {
        let start = example * query.stride;
        kernels::add_scaled(f, p, &query.phi[start..start + steps]);
        kernels::add_scaled(g, p, &query.held[start..start + steps]);
    }
}
