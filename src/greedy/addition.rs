//! Adding a feature to the state, query by query.

use super::matrices::QueryMatrices;
use crate::data::{Column, Queries};
use crate::linalg::centring::centre;
use crate::linalg::kernels;

/// A column to add, in any form that centres to it: a strategy's own candidate, or a column from another process.
#[derive(Debug, Clone, Copy)]
pub struct Addition<'a> {
    /// 0-based feature.
    pub feature: u32,
    /// The sparse column, not centred.
    pub column: Column<'a>,
    /// The column is this factor times the feature's own column. A scale of columns makes the difference.
    pub factor: f64,
}

/// The effect of the last addition, by which strategies update their caches.
#[derive(Debug, Clone)]
pub struct LastStep {
    /// The new row of `Phi`, `m` numbers.
    pub phi: Vec<f64>,
    /// `psi_Q = T_Q phi_Q` with `T_Q` from before the addition, `m` numbers.
    pub psi: Vec<f64>,
    /// `B_Q = phi_Q . psi_Q`, `q` numbers.
    pub leverage: Vec<f64>,
    /// `nu_Q = 1 / (1 - B_Q)`, `q` numbers.
    pub nu: Vec<f64>,
    /// `phi . y^`.
    pub eta: f64,
    /// The newest row of `F^-1`, `t` numbers: `phi = X_S weights`, with the new feature.
    pub weights: Vec<f64>,
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
            weights: Vec::new(),
        }
    }
}

/// The numbers of a new feature for all queries.
pub(super) struct NewFeature {
    /// Number of features before it, `t`.
    pub(super) step: usize,
    /// `sqrt(s)`
    pub(super) root: f64,
    /// `rho / sqrt(s)`
    pub(super) eta: f64,
    /// `lambda / s`, the least value of any `1 - B_Q`.
    pub(super) least_slack: f64,
    /// The first row of the query that holds the whole column, if one does.
    pub(super) sole_query: Option<usize>,
    /// Whether `QueryFactors` maintain `p`.
    pub(super) has_factors: bool,
}

/// The state's parts for one query.
pub(super) struct OfQuery<'a> {
    /// Its first row.
    pub(super) first: usize,
    /// The entries of the new column.
    pub(super) entries: Column<'a>,
    pub(super) matrices: &'a mut QueryMatrices,
    pub(super) residual: &'a mut [f64],
    pub(super) holdout: &'a mut [f64],
    /// `u_Q`, which becomes the new row of `Phi`.
    pub(super) phi: &'a mut [f64],
    pub(super) psi: &'a mut [f64],
    pub(super) leverage: &'a mut f64,
    pub(super) nu: &'a mut f64,
}

/// The addition in one query (`docs/derivation.md`, section 5): O(`|Q|` min(`|Q|`, t)).
#[multiversion::multiversion(targets = "simd")]
pub(super) fn add_to_query(feature: &NewFeature, query: OfQuery<'_>) {
    let &NewFeature { root, eta, .. } = feature;
    let OfQuery { phi, psi, .. } = query;
    for (phi, residual) in phi.iter_mut().zip(query.residual) {
        *phi /= root;
        *residual -= eta * *phi;
    }
    let (place, matrices) = ((query.first, phi.len()), query.matrices);
    matrices.selected.push(place, query.entries, feature.step);
    if feature.has_factors {
        return;
    }
    let sole = feature.sole_query == Some(query.first);
    if sole {
        // T_Q u_Q = v_Q, because no other query has the column.
        fill_centred(query.entries, query.first, psi);
        for psi in &mut *psi {
            *psi /= root;
        }
    } else {
        let (phi, psi) = (phi.as_chunks::<1>().0, psi.as_chunks_mut::<1>().0);
        matrices.transform.apply(phi, psi);
    }
    let leverage = kernels::dot(phi, psi);
    let (nu, surprise) = if sole {
        // The model without this query gives the feature weight 0.
        (1.0 / feature.least_slack, 0.0)
    } else {
        // s - b_Q >= lambda gives this bound. Rounding must not cross it.
        let nu = 1.0 / (1.0 - leverage).max(feature.least_slack);
        (nu, nu * (eta - kernels::dot(phi, query.holdout)))
    };
    for (holdout, psi) in query.holdout.iter_mut().zip(&*psi) {
        *holdout -= surprise * psi;
    }
    matrices.transform.add(nu, psi);
    matrices.trace += nu * kernels::dot(psi, psi);
    (*query.leverage, *query.nu) = (leverage, nu);
}

/// `v_Q`: the centred `entries` of a query whose rows begin at `first`.
#[inline(always)]
pub(super) fn fill_centred(entries: Column<'_>, first: usize, v: &mut [f64]) {
    v.fill(0.0);
    for (row, value) in entries.iter() {
        v[row - first] = value;
    }
    centre(v);
}
