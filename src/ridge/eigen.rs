//! One decomposition for all ridge parameters.

use faer::linalg::matmul::matmul;
use faer::linalg::solvers::SelfAdjointEigen;
use faer::{Accum, Mat, MatMut, MatRef, Par, Side};

use super::square::Square;

/// `M = U diag(s) U'` of a positive semidefinite `M`.
#[derive(Debug)]
pub(super) struct Eigen {
    values: Vec<f64>,
    vectors: Mat<f64>,
}

impl Eigen {
    /// Decomposes `gram`; `None` if that does not converge, as with values that are no finite
    /// numbers. `O(n^3)` time, `24 n^2` bytes on the way and `8 n^2` after. On one thread.
    pub(super) fn new(gram: &Square) -> Option<Self> {
        let eigen = SelfAdjointEigen::new(gram.matrix(), Side::Lower).ok()?;
        let values = eigen.S().column_vector().iter();
        // What is below 0 is rounding.
        let values: Vec<f64> = values.map(|value| value.max(0.0)).collect();
        let finite = values.iter().all(|value| value.is_finite());
        finite.then(|| Self {
            values,
            vectors: eigen.U().to_owned(),
        })
    }

    /// The decomposition of `M + shift I`.
    pub(super) fn shifted(&self, shift: f64) -> Shifted<'_> {
        let inverse = |value: &f64| 1.0 / (value + shift);
        Shifted {
            vectors: self.vectors.as_ref(),
            inverses: self.values.iter().map(inverse).collect(),
        }
    }
}

/// `(M + shift I)^-1 = U diag(inverses) U'`.
#[derive(Debug)]
pub(super) struct Shifted<'a> {
    vectors: MatRef<'a, f64>,
    inverses: Vec<f64>,
}

impl Shifted<'_> {
    /// Turns `b` into `(M + shift I)^-1 b`.
    pub(super) fn solve(&self, b: &mut [f64]) {
        let size = b.len();
        let mut along = vec![0.0; size];
        let projection = MatMut::from_column_major_slice_mut(&mut along, size, 1);
        let right = MatRef::from_column_major_slice(b, size, 1);
        let transposed = self.vectors.transpose();
        matmul(projection, Accum::Replace, transposed, right, 1.0, Par::Seq);
        for (along, inverse) in along.iter_mut().zip(&self.inverses) {
            *along *= inverse;
        }
        let along = MatRef::from_column_major_slice(&along, size, 1);
        let b = MatMut::from_column_major_slice_mut(b, size, 1);
        matmul(b, Accum::Replace, self.vectors, along, 1.0, Par::Seq);
    }

    /// `Z` with `Z' Z = b' (M + shift I)^-1 b`.
    pub(super) fn half(&self, b: &Mat<f64>) -> Mat<f64> {
        let mut half = Mat::zeros(b.nrows(), b.ncols());
        let transposed = self.vectors.transpose();
        matmul(half.as_mut(), Accum::Replace, transposed, b, 1.0, Par::Seq);
        self.scale(half)
    }

    /// The same for the unit vectors of `rows`.
    pub(super) fn half_of_units(&self, rows: &[usize]) -> Mat<f64> {
        let pick = |along: usize, column: usize| self.vectors[(rows[column], along)];
        self.scale(Mat::from_fn(self.vectors.nrows(), rows.len(), pick))
    }

    fn scale(&self, mut half: Mat<f64>) -> Mat<f64> {
        for column in half.col_iter_mut() {
            for (z, inverse) in column.iter_mut().zip(&self.inverses) {
                *z *= inverse.sqrt();
            }
        }
        half
    }
}
