//! Adding a feature to the state, query by query.

use super::matrices::{RunMatrices, Transform};
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

/// All that the state has of a run of queries.
pub(super) struct OfRun<'a> {
    /// Its first row.
    pub(super) first: usize,
    /// The entries of the new column.
    pub(super) entries: Column<'a>,
    pub(super) matrices: &'a mut RunMatrices,
    pub(super) residual: &'a mut [f64],
    pub(super) holdout: &'a mut [f64],
    /// `u`, which turns into the new row of `Phi`.
    pub(super) phi: &'a mut [f64],
    pub(super) psi: &'a mut [f64],
    /// Of each query.
    pub(super) leverage: &'a mut [f64],
    pub(super) nu: &'a mut [f64],
}

/// The addition in a run of queries (`docs/derivation.md`, section 5): O(`|Q|` min(`|Q|`, t)) for each.
#[multiversion::multiversion(targets = "simd")]
pub(super) fn add_to_run(feature: &NewFeature, run: OfRun<'_>) {
    let OfRun {
        first, mut entries, ..
    } = run;
    for (phi, residual) in run.phi.iter_mut().zip(run.residual) {
        *phi /= feature.root;
        *residual -= feature.eta * *phi;
    }
    run.matrices.push(first, entries);
    if feature.has_factors {
        return;
    }
    let numbers = run.leverage.iter_mut().zip(&mut *run.nu);
    for (number, (leverage, nu)) in numbers.enumerate() {
        let rows = run.matrices.rows(number);
        let query = OfQuery {
            first: first + rows.start,
            entries: entries.take_rows_below(first + rows.end),
            transform: run.matrices.query(number).transform,
            holdout: &mut run.holdout[rows.clone()],
            phi: &run.phi[rows.clone()],
            psi: &mut run.psi[rows],
        };
        (*leverage, *nu) = leave_query(feature, query);
    }
    run.matrices.add(run.nu, run.psi);
}

/// What the model without a query changes.
struct OfQuery<'a> {
    first: usize,
    entries: Column<'a>,
    transform: Transform<'a>,
    holdout: &'a mut [f64],
    phi: &'a [f64],
    psi: &'a mut [f64],
}

/// Finds `psi_Q` and what it takes off `p_Q`; returns `B_Q` and `nu_Q`.
#[inline(always)]
fn leave_query(feature: &NewFeature, query: OfQuery<'_>) -> (f64, f64) {
    let OfQuery { phi, psi, .. } = query;
    let sole = feature.sole_query == Some(query.first);
    if sole {
        // T_Q u_Q = v_Q, because no other query has the column.
        fill_centred(query.entries, query.first, psi);
        for psi in &mut *psi {
            *psi /= feature.root;
        }
    } else {
        let (phi, psi) = (phi.as_chunks::<1>().0, psi.as_chunks_mut::<1>().0);
        query.transform.apply(phi, psi);
    }
    let leverage = kernels::dot(phi, psi);
    let (nu, surprise) = if sole {
        // The model without this query gives the feature weight 0.
        (1.0 / feature.least_slack, 0.0)
    } else {
        // s - b_Q >= lambda gives this bound. Rounding must not cross it.
        let nu = 1.0 / (1.0 - leverage).max(feature.least_slack);
        let along = kernels::dot(phi, query.holdout);
        (nu, nu * (feature.eta - along))
    };
    for (holdout, psi) in query.holdout.iter_mut().zip(&*psi) {
        *holdout -= surprise * psi;
    }
    (leverage, nu)
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
