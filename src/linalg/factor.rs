//! Dense symmetric systems, factored: the same bits on any number of threads.
//!
//! A [`Square`] matrix is factored for each ridge parameter ([`Cholesky`]). Work is cut into column
//! blocks of fixed width, each a task of its own; products inside of a task are those of `faer` on
//! one thread. [`Eigen`] decomposes small matrices.

use crate::stop;
use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::cholesky::llt::factor::{
    LltRegularization, cholesky_in_place, cholesky_in_place_scratch,
};
use faer::linalg::matmul::matmul;
use faer::linalg::matmul::triangular::{BlockStructure, matmul as triangular_matmul};
use faer::linalg::solvers::SelfAdjointEigen;
use faer::linalg::triangular_solve::{
    solve_lower_triangular_in_place, solve_upper_triangular_in_place,
};
use faer::{Accum, Mat, MatMut, MatRef, Par, Side, Spec};
use rayon::prelude::*;

/// Columns of a block, which one task works on.
pub(crate) const BLOCK: usize = 128;

/// A dense symmetric matrix, column by column, of which the lower triangle counts.
#[derive(Debug, Clone)]
pub(crate) struct Square {
    size: usize,
    values: Vec<f64>,
}

impl Square {
    pub(crate) fn zeros(size: usize) -> Self {
        Self {
            size,
            values: vec![0.0; size * size],
        }
    }

    pub(crate) fn size(&self) -> usize {
        self.size
    }

    pub(crate) fn values(&self) -> &[f64] {
        &self.values
    }

    pub(crate) fn values_mut(&mut self) -> &mut [f64] {
        &mut self.values
    }

    pub(crate) fn column(&self, column: usize) -> &[f64] {
        &self.values[column * self.size..][..self.size]
    }

    pub(crate) fn value(&self, row: usize, column: usize) -> f64 {
        self.values[column * self.size + row]
    }

    pub(crate) fn matrix(&self) -> MatRef<'_, f64> {
        MatRef::from_column_major_slice(&self.values, self.size, self.size)
    }

    /// Adds `factor * panel * panel'`, in blocks of columns of fixed width: the same bits on any
    /// number of threads.
    pub(crate) fn add_products(&mut self, panel: MatRef<'_, f64>, factor: f64) {
        let size = self.size;
        let blocks = self.values.par_chunks_mut(size * BLOCK).enumerate();
        blocks.for_each(|(number, block)| add_products(block, panel, number * BLOCK, factor));
    }

    /// `Z' Z`.
    pub(crate) fn gram(half: MatRef<'_, f64>) -> Self {
        let mut square = Self::zeros(half.ncols());
        square.add_products(half.transpose(), 1.0);
        square
    }

    pub(crate) fn add_to_diagonal(&mut self, shift: f64) {
        let stride = self.size + 1;
        for value in self.values.iter_mut().step_by(stride) {
            *value += shift;
        }
    }
}

/// Dense columns side by side.
#[derive(Debug)]
pub(crate) struct Panel {
    height: usize,
    values: Vec<f64>,
}

impl Panel {
    pub(crate) fn zeros(height: usize, width: usize) -> Self {
        Self {
            height,
            values: vec![0.0; height * width],
        }
    }

    pub(crate) fn matrix(&self) -> MatRef<'_, f64> {
        let width = self.values.len() / self.height.max(1);
        MatRef::from_column_major_slice(&self.values, self.height, width)
    }

    pub(crate) fn values_mut(&mut self) -> &mut [f64] {
        &mut self.values
    }

    pub(crate) fn columns_mut(&mut self) -> impl Iterator<Item = &mut [f64]> {
        self.values.chunks_mut(self.height.max(1))
    }
}

/// Adds `factor * panel * panel'` to the lower triangle of the columns from `first` on, which are
/// a block. `panel` has as many rows as these columns.
fn add_products(block: &mut [f64], panel: MatRef<'_, f64>, first: usize, factor: f64) {
    let size = panel.nrows();
    let width = block.len() / size;
    let columns = MatMut::from_column_major_slice_mut(block, size, width);
    let lower = columns.submatrix_mut(first, 0, size - first, width);
    let (top, below) = lower.split_at_row_mut(width);
    let beside = panel.submatrix(first, 0, size - first, panel.ncols());
    let (beside_top, beside_below) = beside.split_at_row(width);
    let right = beside_top.transpose();
    triangular_matmul(
        top,
        BlockStructure::TriangularLower,
        Accum::Add,
        beside_top,
        BlockStructure::Rectangular,
        right,
        BlockStructure::Rectangular,
        factor,
        Par::Seq,
    );
    matmul(below, Accum::Add, beside_below, right, factor, Par::Seq);
}

/// `L` with `L L' = M` for a positive definite `M`, right-looking: a block of columns is factored,
/// then every later block is updated by it.
#[derive(Debug)]
pub(crate) struct Cholesky(Square);

impl Cholesky {
    /// Factors `gram + shift I` in memory of its own, `8 n^2` bytes.
    pub(crate) fn new(gram: &Square, shift: f64) -> Option<Self> {
        let mut sum = gram.clone();
        sum.add_to_diagonal(shift);
        Self::of(sum)
    }

    /// Factors `lower`; `None` if that is not positive definite to working precision, and where the work was
    /// asked to end.
    /// `O(n^3 / 3)` time, in place.
    pub(crate) fn of(mut lower: Square) -> Option<Self> {
        let size = lower.size();
        let mut rest = lower.values_mut();
        for start in (0..size).step_by(BLOCK) {
            let width = BLOCK.min(size - start);
            let (own, later) = rest.split_at_mut(size * width);
            let mut panel = MatMut::from_column_major_slice_mut(own, size, width);
            factor_panel(panel.as_mut().submatrix_mut(start, 0, size - start, width))?;
            let factored = panel.as_ref();
            let blocks = later.par_chunks_mut(size * BLOCK).enumerate();
            blocks.for_each(|(number, block)| {
                if stop::requested() {
                    return;
                }
                let first = start + width + number * BLOCK;
                add_products(block, factored, first, -1.0);
            });
            if stop::requested() {
                return None;
            }
            rest = later;
        }
        let finite = lower
            .values()
            .iter()
            .step_by(size + 1)
            .all(|v| v.is_finite());
        finite.then_some(Self(lower))
    }

    /// Unknowns.
    pub(crate) fn size(&self) -> usize {
        self.0.size()
    }

    /// Turns `b` into `M^-1 b`.
    pub(crate) fn solve(&self, b: &mut [f64]) {
        let rows = b.len();
        let mut column = MatMut::from_column_major_slice_mut(b, rows, 1);
        let lower = self.0.matrix();
        solve_lower_triangular_in_place(lower, column.as_mut(), Par::Seq);
        solve_upper_triangular_in_place(lower.transpose(), column, Par::Seq);
    }

    /// Turns dense columns `b` into `Z = L^-1 b`, so that `Z' Z = b' M^-1 b`. The first `skip` rows of
    /// `b` are known to be 0.
    pub(crate) fn half(&self, b: &mut [f64], skip: usize) {
        let (size, columns) = (self.size(), b.len() / self.size());
        let lower = self.0.matrix();
        let lower = lower.submatrix(skip, skip, size - skip, size - skip);
        let b = MatMut::from_column_major_slice_mut(b, size, columns);
        let below = b.submatrix_mut(skip, 0, size - skip, columns);
        solve_lower_triangular_in_place(lower, below, Par::Seq);
    }
}

/// Factors the square on top and solves the rows below it.
fn factor_panel(panel: MatMut<'_, f64>) -> Option<()> {
    let width = panel.ncols();
    let (mut top, below) = panel.split_at_row_mut(width);
    let scratch = cholesky_in_place_scratch::<f64>(width, Par::Seq, Spec::default());
    cholesky_in_place(
        top.as_mut(),
        LltRegularization::default(),
        Par::Seq,
        MemStack::new(&mut MemBuffer::new(scratch)),
        Spec::default(),
    )
    .ok()?;
    solve_lower_triangular_in_place(top.as_ref(), below.transpose_mut(), Par::Seq);
    Some(())
}

/// The least and the largest eigenvalue of a symmetric `M`; `None` where they are not found.
pub(crate) fn extreme_eigenvalues(square: &Square) -> Option<[f64; 2]> {
    let values = square.matrix().self_adjoint_eigenvalues(Side::Lower).ok()?;
    Some([*values.first()?, *values.last()?])
}

/// `M = U diag(s) U'` of a positive semidefinite `M`.
#[derive(Debug)]
pub(crate) struct Eigen {
    values: Vec<f64>,
    vectors: Mat<f64>,
}

impl Eigen {
    /// Decomposes `gram`; `None` if that does not converge, as with values that are no finite
    /// numbers. `O(n^3)` time, `24 n^2` bytes on the way and `8 n^2` after. On one thread.
    pub(crate) fn new(gram: &Square) -> Option<Self> {
        let eigen = SelfAdjointEigen::new(gram.matrix(), Side::Lower).ok()?;
        let values = eigen.S().column_vector().iter();
        // Values below 0 are rounding.
        let values: Vec<f64> = values.map(|value| value.max(0.0)).collect();
        let finite = values.iter().all(|value| value.is_finite());
        finite.then(|| Self {
            values,
            vectors: eigen.U().to_owned(),
        })
    }

    /// `(M + shift I)^-1 b` for several shifts and `b`, a lane each.
    #[inline(always)]
    pub(crate) fn solve_lanes<const L: usize>(
        &self,
        shifts: &[f64; L],
        b: &[[f64; L]],
        solution: &mut [[f64; L]],
    ) {
        solution.fill([0.0; L]);
        for (along, eigenvalue) in self.values.iter().enumerate() {
            let vector = self.vectors.col_as_slice(along);
            let mut sum = [0.0; L];
            for (x, right) in vector.iter().zip(b) {
                for lane in 0..L {
                    sum[lane] += x * right[lane];
                }
            }
            for lane in 0..L {
                sum[lane] /= eigenvalue + shifts[lane];
            }
            for (x, slots) in vector.iter().zip(&mut *solution) {
                for lane in 0..L {
                    slots[lane] += x * sum[lane];
                }
            }
        }
    }

    /// The columns of `U diag(f(s))`, for the eigenvalues `s` over `least`.
    pub(crate) fn scaled_vectors(&self, least: f64, f: impl Fn(f64) -> f64) -> Mat<f64> {
        let kept = (0..self.values.len()).filter(|&along| self.values[along] > least);
        let kept: Vec<usize> = kept.collect();
        Mat::from_fn(self.values.len(), kept.len(), |row, column| {
            self.vectors[(row, kept[column])] * f(self.values[kept[column]])
        })
    }

    /// Turns the columns of `A`, `rows` high, into those of `A U (diag(s) + shift I)^-1/2`.
    pub(crate) fn halve(&self, shift: f64, rows: usize, columns: &mut [f64]) {
        let half = self.scaled_vectors(f64::NEG_INFINITY, |value| (value + shift).sqrt().recip());
        let panel = MatRef::from_column_major_slice(columns, rows, half.nrows()).to_owned();
        let product = MatMut::from_column_major_slice_mut(columns, rows, half.ncols());
        matmul(product, Accum::Replace, panel, half, 1.0, Par::Seq);
    }

    /// The largest eigenvalue.
    pub(crate) fn largest(&self) -> f64 {
        self.values.iter().copied().fold(0.0, f64::max)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `A + size I` for a symmetric `A` of small numbers.
    fn example(size: usize) -> Square {
        let mut square = Square::zeros(size);
        for column in 0..size {
            for row in 0..size {
                let (low, high) = (row.min(column), row.max(column));
                let value = ((low * 31 + high * 17) % 23) as f64 / 23.0;
                square.values_mut()[column * size + row] = value;
            }
        }
        square
    }

    #[test]
    fn factors_of_any_size_solve() {
        for size in [1, 2, BLOCK - 1, BLOCK, BLOCK + 1, 3 * BLOCK + 17] {
            let gram = example(size);
            let factor = Cholesky::new(&gram, size as f64).unwrap();
            let solution: Vec<f64> = (0..size).map(|i| (i % 7) as f64 - 3.0).collect();
            let mut b: Vec<f64> = (0..size)
                .map(|row| {
                    let line = gram.values().iter().skip(row).step_by(size);
                    let product: f64 = line.zip(&solution).map(|(a, x)| a * x).sum();
                    product + size as f64 * solution[row]
                })
                .collect();
            factor.solve(&mut b);
            for (found, expected) in b.iter().zip(&solution) {
                assert!((found - expected).abs() < 1e-10, "{size}");
            }
        }
    }

    #[test]
    fn halves_make_the_inverse() {
        let (size, at) = (BLOCK + 5, BLOCK - 2);
        let factor = Cholesky::new(&example(size), size as f64).unwrap();
        let mut unit = vec![0.0; size];
        unit[at] = 1.0;
        let mut half = unit.clone();
        factor.solve(&mut unit);
        factor.half(&mut half, at);
        let square: f64 = half.iter().map(|z| z * z).sum();
        assert!((square - unit[at]).abs() < 1e-13);
    }

    #[test]
    fn what_is_not_positive_definite_has_no_factor() {
        assert!(Cholesky::new(&example(2 * BLOCK), -1.0).is_none());
        let mut nan = example(2);
        nan.values_mut()[3] = f64::NAN;
        assert!(Cholesky::new(&nan, 1.0).is_none());
    }
}
