//! The part of `K = X^ X^'` in which a query meets itself, and its inverse: the preconditioner of a query.
//!
//! A block is decomposed once for every ridge parameter. A query over [`LARGEST_BLOCK`] examples keeps the diagonal
//! alone.

use crate::linalg::centring::centre_rows;
use crate::linalg::eigen::Eigen;

/// Largest query whose block is factored.
pub(crate) const LARGEST_BLOCK: usize = 256;

/// The part of a system in which a query meets itself, for any ridge parameter.
#[derive(Debug)]
pub(crate) enum QueryBlock {
    /// Centred rows.
    Decomposed(Eigen),
    /// The diagonal of centred rows.
    Diagonal(Vec<f64>),
    /// A row that nothing centres.
    Alone(f64),
}

impl QueryBlock {
    /// `(K_qq + shift I)^-1 v` for the block `K_qq` of a query `q`, several shifts and `v`, a lane each. The result
    /// is centred like the rows: rounding would otherwise add up outside of the centred vectors.
    #[inline(always)]
    pub(crate) fn solve<const L: usize>(
        &self,
        shifts: &[f64; L],
        v: &[[f64; L]],
        solution: &mut [[f64; L]],
    ) {
        match self {
            Self::Decomposed(eigen) => {
                eigen.solve_lanes(shifts, v, solution);
                centre_rows(solution);
            }
            Self::Diagonal(diagonal) => {
                divide(diagonal, shifts, v, solution);
                centre_rows(solution);
            }
            Self::Alone(square) => divide(&[*square], shifts, v, solution),
        }
    }

    /// Multiplies `columns`, `rows` high, from the right by a `V` with `V V' = (K_qq + shift I)^-1`.
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
    v: &[[f64; L]],
    solution: &mut [[f64; L]],
) {
    for ((slot, right), square) in solution.iter_mut().zip(v).zip(diagonal) {
        *slot = std::array::from_fn(|lane| right[lane] / (square + shifts[lane]));
    }
}

fn halve(diagonal: &[f64], shift: f64, rows: usize, columns: &mut [f64]) {
    for (column, square) in columns.chunks_mut(rows).zip(diagonal) {
        let half = (square + shift).sqrt().recip();
        for value in column {
            *value *= half;
        }
    }
}

/// [`QueryBlock::solve`] for blocks whose rows follow each other in `v`.
#[multiversion::multiversion(targets = "simd")]
pub(crate) fn solve_blocks<const L: usize>(
    blocks: &[QueryBlock],
    sizes: &[usize],
    shifts: &[f64; L],
    v: &[[f64; L]],
    solution: &mut [[f64; L]],
) {
    let mut rest = (v, solution);
    for (block, &size) in blocks.iter().zip(sizes) {
        let (right, later_right) = rest.0.split_at(size);
        let (slots, later_slots) = rest.1.split_at_mut(size);
        block.solve(shifts, right, slots);
        rest = (later_right, later_slots);
    }
}
