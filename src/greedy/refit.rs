//! Weights of the selected features, fitted to other labels than those they were selected by.
//!
//! ```text
//! w = (X_S' X_S + lambda I)^-1 X_S' t
//! ```
//!
//! for centred columns `X_S` and a centred target `t`, by a Cholesky factor that grows by a row
//! with each feature.

use super::condition::{solve, solve_transposed};
use crate::data::Column;
use crate::kernels;

/// Weights for a target, feature by feature.
#[derive(Debug, Clone)]
pub(super) struct RefittedWeights {
    lambda: f64,
    /// `t`, centred, `m`.
    target: Vec<f64>,
    /// Rows of the lower Cholesky factor, one after the other.
    factor: Vec<f64>,
    /// `X_S' t`.
    moments: Vec<f64>,
}

impl RefittedWeights {
    pub(super) fn new(target: Vec<f64>, lambda: f64) -> Self {
        Self {
            lambda,
            target,
            factor: Vec::new(),
            moments: Vec::new(),
        }
    }

    /// Adds a feature whose column centres to `centred`, after those in `selected`: O(nnz).
    pub(super) fn add(
        &mut self,
        column: Column<'_>,
        centred: &[f64],
        selected: &[(Vec<u32>, Vec<f64>)],
    ) {
        let with =
            |(rows, values): &(Vec<u32>, Vec<f64>)| kernels::sparse_dot(rows, values, centred);
        let mut row: Vec<f64> = selected.iter().map(with).collect();
        solve(&self.factor, &mut row);
        let square = kernels::sparse_dot(column.rows, column.values, centred);
        // What the others leave of it is not negative, but for rounding.
        let left = (square - kernels::dot(&row, &row)).max(0.0);
        row.push((self.lambda + left).sqrt());
        self.factor.extend(row);
        let moment = kernels::sparse_dot(column.rows, column.values, &self.target);
        self.moments.push(moment);
    }

    /// A weight for each feature, O(t^2).
    pub(super) fn weights(&self) -> Vec<f64> {
        let mut weights = self.moments.clone();
        solve(&self.factor, &mut weights);
        solve_transposed(&self.factor, &mut weights);
        weights
    }
}
