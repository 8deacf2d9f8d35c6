//! The reduced set method: a model over some rows alone.

use faer::linalg::matmul::matmul;
use faer::{Accum, Mat, Par};

use super::given::given;
use super::values::check_finite;
use super::{Kernel, KernelKind, row_number};
use crate::data::Dataset;
use crate::linalg::factor::{Eigen, Panel, Square};
use crate::linalg::kernels::add_scaled;
use crate::ridge::error::TrainError;
use crate::ridge::features::LEAST_SQUARES;
use crate::ridge::trained::Weights;

/// The reduced set method: a model over the kernel with `b` of the `m` rows alone, the basis.
///
/// It is the subset of regressors (Smola and Schölkopf, *Sparse greedy matrix approximation for machine
/// learning*, ICML 2000), with the penalty of the Nyström approximation (Williams and Seeger, *Using the
/// Nyström method to speed up kernel machines*, NIPS 13, 2001).
///
/// Let `K_bb = U diag(s) U'` be the kernel matrix of the basis. The data are mapped to
/// `Phi = K_mb U diag(s)^-1/2`, a column for each eigenvalue that is not rounding: RankRLS
/// on these columns minimises over all `f = sum_b a_b k(x_b, .)`, and `a = U diag(s)^-1/2 w`.
/// Everything that linear RankRLS has is there: all solvers, objectives and hold-outs, which keep the
/// basis whatever they hold out.
#[derive(Debug)]
pub struct ReducedSet {
    /// The rows of the basis, 0-based, ascending.
    rows: Vec<usize>,
    /// `U diag(s)^-1/2`: basis x columns.
    map: Mat<f64>,
    /// The data, mapped.
    mapped: Dataset<'static>,
}

impl ReducedSet {
    /// Maps `dataset` by `rows` of it, 0-based, under `kernel`. Of given kernels, `dataset` has the
    /// columns of the basis among all.
    ///
    /// `O(m b^2 + b^3)` time for `b` rows, `O(m b)` memory. A given kernel is checked as a whole first, in
    /// `O(m^3)` time and `O(m^2)` memory.
    ///
    /// # Errors
    /// [`TrainError::Unexpected`] for no rows, a row that is not there or is there twice; else as
    /// [`Kernel::matrix`].
    pub fn new(dataset: &Dataset<'_>, kernel: &Kernel, rows: &[usize]) -> Result<Self, TrainError> {
        let count = dataset.rows();
        let mut seen = vec![false; count];
        let wrong = rows.iter().find_map(|&row| match seen.get_mut(row) {
            Some(seen) => {
                let again = format!("each row once, row {} is twice in it", row + 1);
                std::mem::replace(seen, true).then_some(again)
            }
            None => Some(format!("rows from 1 to {count}, found {}", row + 1)),
        });
        let size = format!("from 1 to {count}, the rows of the data");
        let size = (rows.is_empty() || rows.len() > count).then_some(size);
        if let Some(expected) = size.or(wrong) {
            let what = format!("a basis of {} rows", rows.len());
            return Err(TrainError::unexpected(what, expected));
        }
        // In the order of the data.
        let rows: Vec<usize> = (0..count).filter(|&row| seen[row]).collect();
        let (mut own, mut all) = (Square::zeros(rows.len()), Panel::zeros(rows.len(), count));
        if kernel.kind == KernelKind::Precomputed {
            let values = given(dataset)?;
            for (row, column) in all.columns_mut().enumerate() {
                let values = rows.iter().map(|&basis| values.value(row, basis));
                column
                    .iter_mut()
                    .zip(values)
                    .for_each(|(slot, value)| *slot = value);
            }
        } else {
            let basis = dataset.rows_subset(&rows)?;
            kernel.fill(&basis, dataset, all.values_mut());
        }
        check_finite(all.values_mut(), rows.len(), |row| rows[row])?;
        let all = all.matrix();
        for (column, &row) in own.values_mut().chunks_mut(rows.len()).zip(&rows) {
            let values = column.iter_mut().zip(all.col(row).iter());
            values.for_each(|(slot, value)| *slot = *value);
        }
        let eigen = Eigen::new(&own).ok_or(TrainError::Overflow { row: 1, other: 1 })?;
        if eigen.largest() < LEAST_SQUARES {
            return Err(TrainError::ConstantKernel);
        }
        let least = rows.len() as f64 * f64::EPSILON * eigen.largest();
        let map = eigen.scaled_vectors(least, |value| 1.0 / value.sqrt());
        let mut mapped = Mat::zeros(count, map.ncols());
        let replace = Accum::Replace;
        matmul(
            mapped.as_mut(),
            replace,
            all.transpose(),
            &map,
            1.0,
            Par::Seq,
        );
        let mapped = dense_dataset(&mapped, dataset)?;
        Ok(Self { rows, map, mapped })
    }

    /// `Phi`: the data, mapped, `m` x at most `b` columns. Labels and queries are those of the data.
    pub fn mapped(&self) -> &Dataset<'static> {
        &self.mapped
    }

    /// `a`: coefficients of the rows of the basis, `b`, in order, from weights of the mapped columns.
    pub fn coefficients(&self, weights: &Weights) -> Vec<f64> {
        let mut coefficients = vec![0.0; self.map.nrows()];
        for (&feature, weight) in weights.features.iter().zip(&weights.values) {
            let column = self.map.col_as_slice(feature as usize);
            add_scaled(&mut coefficients, *weight, column);
        }
        coefficients
    }

    /// The rows of the basis, `b`, 0-based, ascending.
    pub fn rows(&self) -> &[usize] {
        &self.rows
    }
}

/// All values as columns, with labels and queries of `dataset`.
fn dense_dataset(values: &Mat<f64>, dataset: &Dataset<'_>) -> Result<Dataset<'static>, TrainError> {
    let (rows, columns) = values.shape();
    let indptr: Vec<usize> = (0..=columns).map(|column| column * rows).collect();
    let indices: Vec<u32> = (0..columns).flat_map(|_| 0..row_number(rows)).collect();
    let values = (0..columns).flat_map(|column| values.col_as_slice(column));
    let (labels, queries) = (dataset.labels().to_vec(), dataset.queries().clone());
    let values: Vec<f64> = values.copied().collect();
    Ok(Dataset::from_csc(indptr, indices, values, labels, queries)?)
}
