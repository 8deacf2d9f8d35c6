//! Symmetric matrices in one allocation.

use faer::linalg::matmul::matmul;
use faer::linalg::matmul::triangular::{BlockStructure, matmul as triangular_matmul};
use faer::{Accum, MatMut, MatRef, Par};
use rayon::prelude::*;

/// Columns of a block, which one task works on.
pub(super) const BLOCK: usize = 128;

/// A dense symmetric matrix, column by column, of which the lower triangle counts.
#[derive(Debug, Clone)]
pub(super) struct Square {
    size: usize,
    values: Vec<f64>,
}

impl Square {
    pub(super) fn zeros(size: usize) -> Self {
        Self {
            size,
            values: vec![0.0; size * size],
        }
    }

    pub(super) fn size(&self) -> usize {
        self.size
    }

    pub(super) fn values(&self) -> &[f64] {
        &self.values
    }

    pub(super) fn values_mut(&mut self) -> &mut [f64] {
        &mut self.values
    }

    pub(super) fn matrix(&self) -> MatRef<'_, f64> {
        MatRef::from_column_major_slice(&self.values, self.size, self.size)
    }

    /// Adds `factor * panel * panel'`, in blocks of columns of fixed width: the same bits on any
    /// number of threads.
    pub(super) fn add_products(&mut self, panel: MatRef<'_, f64>, factor: f64) {
        let size = self.size;
        let blocks = self.values.par_chunks_mut(size * BLOCK).enumerate();
        blocks.for_each(|(number, block)| add_products(block, panel, number * BLOCK, factor));
    }

    pub(super) fn matrix_mut(&mut self) -> MatMut<'_, f64> {
        MatMut::from_column_major_slice_mut(&mut self.values, self.size, self.size)
    }

    pub(super) fn add_to_diagonal(&mut self, shift: f64) {
        let stride = self.size + 1;
        for value in self.values.iter_mut().step_by(stride) {
            *value += shift;
        }
    }
}

/// Adds `factor * panel * panel'` to the lower triangle of the columns from `first` on, which are
/// a block. `panel` has as many rows as these columns.
pub(super) fn add_products(block: &mut [f64], panel: MatRef<'_, f64>, first: usize, factor: f64) {
    let size = panel.nrows();
    let width = block.len() / size;
    let block = MatMut::from_column_major_slice_mut(block, size, width);
    let block = block.submatrix_mut(first, 0, size - first, width);
    let (top, below) = block.split_at_row_mut(width);
    let panel = panel.submatrix(first, 0, size - first, panel.ncols());
    let (beside_top, beside_below) = panel.split_at_row(width);
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
