//! A factored system, whichever way it was factored.

use faer::linalg::matmul::triangular::{BlockStructure, matmul};
use faer::{Accum, Mat, MatRef, Par};

use super::cholesky::Cholesky;
use super::eigen::{Eigen, Shifted};
use super::square::Square;

/// A symmetric positive semidefinite matrix, ready for any ridge parameter.
#[derive(Debug)]
pub(super) enum Prepared {
    /// To be factored for every ridge parameter.
    Matrix(Square),
    /// Decomposed once.
    Eigen(Eigen),
}

impl Prepared {
    /// Decomposes `matrix` if that pays for `lambdas` ridge parameters; `None` if it cannot.
    pub(super) fn new(matrix: Square, decompose: bool) -> Option<Self> {
        if decompose {
            Eigen::new(&matrix).map(Self::Eigen)
        } else {
            Some(Self::Matrix(matrix))
        }
    }

    /// The system with `lambda` added to the diagonal; `None` if rounding makes it indefinite.
    pub(super) fn system(&self, lambda: f64) -> Option<System<'_>> {
        match self {
            Self::Matrix(matrix) => factor(matrix, None, lambda),
            Self::Eigen(eigen) => Some(System::Eigen(eigen.shifted(lambda))),
        }
    }
}

/// The system of `matrix` with `lambda` added to its diagonal, from its decomposition if there is
/// one; `None` if rounding makes it indefinite.
pub(super) fn factor<'a>(
    matrix: &Square,
    eigen: Option<&'a Eigen>,
    lambda: f64,
) -> Option<System<'a>> {
    match eigen {
        Some(eigen) => Some(System::Eigen(eigen.shifted(lambda))),
        None => Cholesky::new(matrix, lambda).map(System::Cholesky),
    }
}

/// A factored `M`, symmetric and positive definite.
#[derive(Debug)]
pub(super) enum System<'a> {
    Cholesky(Cholesky),
    Eigen(Shifted<'a>),
}

impl System<'_> {
    /// Turns `b` into `M^-1 b`.
    pub(super) fn solve(&self, b: &mut [f64]) {
        match self {
            Self::Cholesky(factor) => factor.solve(b),
            Self::Eigen(eigen) => eigen.solve(b),
        }
    }

    /// `Z` with `Z' Z = b' M^-1 b`.
    pub(super) fn half(&self, mut b: Mat<f64>) -> Mat<f64> {
        match self {
            Self::Cholesky(factor) => {
                factor.half(&mut b, 0);
                b
            }
            Self::Eigen(eigen) => eigen.half(&b),
        }
    }

    /// The same for the unit vectors of `rows` among `size`.
    pub(super) fn half_of_units(&self, rows: &[usize], size: usize) -> Mat<f64> {
        match self {
            Self::Cholesky(factor) => {
                let mut units = Mat::zeros(size, rows.len());
                for (column, &row) in rows.iter().enumerate() {
                    units[(row, column)] = 1.0;
                }
                let skip = rows.iter().copied().min().unwrap_or(0);
                factor.half(&mut units, skip);
                units
            }
            Self::Eigen(eigen) => eigen.half_of_units(rows),
        }
    }
}

/// `Z' Z`, lower triangle.
pub(super) fn square_of(half: MatRef<'_, f64>) -> Square {
    let mut square = Square::zeros(half.ncols());
    matmul(
        square.matrix_mut(),
        BlockStructure::TriangularLower,
        Accum::Replace,
        half.transpose(),
        BlockStructure::Rectangular,
        half,
        BlockStructure::Rectangular,
        1.0,
        Par::Seq,
    );
    square
}
