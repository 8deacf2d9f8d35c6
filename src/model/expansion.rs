//! Kernel models: a score is a sum over rows of the training data.

use serde::{Deserialize, Serialize};

use crate::data::{Dataset, Queries};
use crate::ridge::Kernel;

/// A kernel model: `f(x) = sum_b alpha_b kappa(x_b, x)` over the rows `x_b` of a basis, for the kernel `kappa`
/// (`docs/derivation.md`, section 16).
#[derive(Debug, Clone, PartialEq)]
pub struct Expansion {
    /// The kernel.
    pub kernel: Kernel,
    /// The rows of the basis, in their order: all rows of the training data, or a reduced set.
    pub rows: Vec<BasisRow>,
}

/// A row of the basis.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BasisRow {
    /// `alpha_b`, the weight of its kernel value, in units of the labels over those of the kernel.
    pub coefficient: f64,
    /// Its columns, ascending: 0-based here, and counted as in the data file in a model file.
    pub indices: Vec<u32>,
    /// The values there, one an index; other columns are 0.
    pub values: Vec<f64>,
}

impl Expansion {
    /// Rows of `dataset`, 0-based and ascending, with their `coefficients`.
    pub(super) fn new(
        kernel: Kernel,
        dataset: &Dataset<'_>,
        coefficients: &[(usize, f64)],
    ) -> Self {
        let mut places = vec![None; dataset.rows()];
        for (place, &(row, _)) in coefficients.iter().enumerate() {
            places[row] = Some(place);
        }
        let without_entries = |&(_, coefficient): &(usize, f64)| BasisRow {
            coefficient,
            indices: Vec::new(),
            values: Vec::new(),
        };
        let mut basis: Vec<BasisRow> = coefficients.iter().map(without_entries).collect();
        for position in 0..dataset.stored_columns() {
            for (row, value) in dataset.column(position).iter() {
                if let Some(place) = places[row].filter(|_| value != 0.0) {
                    basis[place].indices.push(dataset.feature(position));
                    basis[place].values.push(value);
                }
            }
        }
        let rows = basis;
        Self { kernel, rows }
    }

    /// Scores of the rows of `dataset` by rows of `width` columns. Columns outside of the basis count in the kernel
    /// as they are.
    pub(super) fn scores(&self, width: usize, dataset: &Dataset<'_>) -> Vec<f64> {
        let mut ends = vec![0];
        let (mut indices, mut values) = (Vec::new(), Vec::new());
        for row in &self.rows {
            indices.extend_from_slice(&row.indices);
            values.extend_from_slice(&row.values);
            ends.push(indices.len());
        }
        let labels = vec![0.0; self.rows.len()];
        let built = Queries::single(self.rows.len()).and_then(|queries| {
            Dataset::from_csr(&ends, &indices, &values, width, labels, queries)
        });
        let basis = built.expect("the rows of a basis have been checked");
        let coefficients: Vec<f64> = self.rows.iter().map(|row| row.coefficient).collect();
        self.kernel.scores(&basis, &coefficients, dataset)
    }
}
