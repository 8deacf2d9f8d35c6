//! The part of `K = X^ X^'` in which a query meets itself, and its inverse: the preconditioner of a query.
//!
//! A block is decomposed once for every ridge parameter. Of a query over [`LARGEST_BLOCK`] examples it is
//! the diagonal alone.

use crate::linalg::centring::centre_rows;
use crate::linalg::factor::Eigen;

/// Largest query whose block is factored.
pub(crate) const LARGEST_BLOCK: usize = 256;

/// The part of a system in which a query meets itself, for any ridge parameter.
#[derive(Debug)]
pub(crate) enum Block {
    /// Centred rows.
    Decomposed(Eigen),
    /// The diagonal of centred rows.
    Diagonal(Vec<f64>),
    /// A row that nothing centres.
    Alone(f64),
}

impl Block {
    /// `(M + shift I)^-1 b` for the block `M`, several shifts and `b`, a lane each; centred like the rows,
    /// as rounding would otherwise add up outside of the centred vectors.
    #[inline(always)]
    pub(crate) fn solve<const L: usize>(
        &self,
        shifts: &[f64; L],
        b: &[[f64; L]],
        solution: &mut [[f64; L]],
    ) {
        match self {
            Self::Decomposed(eigen) => {
                eigen.solve_lanes(shifts, b, solution);
                centre_rows(solution);
            }
            Self::Diagonal(diagonal) => {
                divide(diagonal, shifts, b, solution);
                centre_rows(solution);
            }
            Self::Alone(square) => divide(&[*square], shifts, b, solution),
        }
    }

    /// Turns `A`, `rows` high, into an `A V` with `V V' = (M + shift I)^-1` for the block `M`.
    pub(crate) fn halve(&self, shift: f64, rows: usize, columns: &mut [f64]) {
        match self {
            Self::Decomposed(eigen) => eigen.halve(shift, rows, columns),
            Self::Diagonal(diagonal) => halve(diagonal, shift, rows, columns),
            Self::Alone(square) => halve(&[*square], shift, rows, columns),
        }
    }
}

#[inline(always)]
fn divide<const L: usize>(
    diagonal: &[f64],
    shifts: &[f64; L],
    b: &[[f64; L]],
    solution: &mut [[f64; L]],
) {
    for ((solution, b), diagonal) in solution.iter_mut().zip(b).zip(diagonal) {
        *solution = std::array::from_fn(|lane| b[lane] / (diagonal + shifts[lane]));
    }
}

fn halve(diagonal: &[f64], shift: f64, rows: usize, columns: &mut [f64]) {
    for (column, diagonal) in columns.chunks_mut(rows).zip(diagonal) {
        let half = (diagonal + shift).sqrt().recip();
        for value in column {
            *value *= half;
        }
    }
}

/// [`Block::solve`] for blocks whose rows follow each other in `b`.
#[multiversion::multiversion(targets = "simd")]
pub(crate) fn solve_blocks<const L: usize>(
    blocks: &[Block],
    sizes: &[usize],
    shifts: &[f64; L],
    b: &[[f64; L]],
    solution: &mut [[f64; L]],
) {
    let mut rest = (b, solution);
    for (block, &size) in blocks.iter().zip(sizes) {
        let (b, later_b) = rest.0.split_at(size);
        let (solution, later) = rest.1.split_at_mut(size);
        block.solve(shifts, b, solution);
        rest = (later_b, later);
    }
}
