//! Cholesky factors on all threads, the same bits on any number of them.
//!
//! Right-looking, in column blocks of fixed width: a block is factored, then every later block is
//! updated by it, each as a task of its own. Products inside of a task are those of `faer` on one
//! thread.

use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::cholesky::llt::factor::{
    LltRegularization, cholesky_in_place, cholesky_in_place_scratch,
};
use faer::linalg::triangular_solve::{
    solve_lower_triangular_in_place, solve_upper_triangular_in_place,
};
use faer::{Mat, MatMut, Par, Spec};
use rayon::prelude::*;

use super::square::{BLOCK, Square, add_products};

/// `L` with `L L' = M` for a positive definite `M`.
#[derive(Debug)]
pub(super) struct Cholesky(Square);

impl Cholesky {
    /// Factors `gram + shift I`; `None` if that is not positive definite to working precision.
    /// `O(n^3 / 3)` time, `8 n^2` bytes.
    pub(super) fn new(gram: &Square, shift: f64) -> Option<Self> {
        let mut lower = gram.clone();
        lower.add_to_diagonal(shift);
        let size = lower.size();
        let mut rest = lower.values_mut();
        for start in (0..size).step_by(BLOCK) {
            let width = BLOCK.min(size - start);
            let (panel, later) = rest.split_at_mut(size * width);
            let mut panel = MatMut::from_column_major_slice_mut(panel, size, width);
            factor_panel(panel.as_mut().submatrix_mut(start, 0, size - start, width))?;
            let panel = panel.as_ref();
            let blocks = later.par_chunks_mut(size * BLOCK).enumerate();
            blocks.for_each(|(number, block)| {
                let first = start + width + number * BLOCK;
                add_products(block, panel, first, -1.0);
            });
            rest = later;
        }
        let finite = lower
            .values()
            .iter()
            .step_by(size + 1)
            .all(|v| v.is_finite());
        finite.then_some(Self(lower))
    }

    /// Turns `b` into `M^-1 b`.
    pub(super) fn solve(&self, b: &mut [f64]) {
        let rows = b.len();
        let mut b = MatMut::from_column_major_slice_mut(b, rows, 1);
        let lower = self.0.matrix();
        solve_lower_triangular_in_place(lower, b.as_mut(), Par::Seq);
        solve_upper_triangular_in_place(lower.transpose(), b, Par::Seq);
    }

    /// Turns `b` into `Z = L^-1 b`, so that `Z' Z = b' M^-1 b`. The first `skip` rows of `b` are
    /// known to be 0.
    pub(super) fn half(&self, b: &mut Mat<f64>, skip: usize) {
        let rest = b.nrows() - skip;
        let lower = self.0.matrix().submatrix(skip, skip, rest, rest);
        let columns = b.ncols();
        let b = b.as_mut().submatrix_mut(skip, 0, rest, columns);
        solve_lower_triangular_in_place(lower, b, Par::Seq);
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
        factor.solve(&mut unit);
        let mut half = Mat::zeros(size, 1);
        half[(at, 0)] = 1.0;
        factor.half(&mut half, at);
        let square: f64 = half.col(0).iter().map(|z| z * z).sum();
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
