//! Factors of dense symmetric systems, with the same bits on any number of threads.
//!
//! A [`Square`] matrix is factored for each ridge parameter ([`Cholesky`]). Column blocks of fixed width are the
//! tasks. A task halves its part until it is a few columns wide (Golub and Van Loan, *Matrix Computations*, section
//! 4.2), so nearly all work is products of matrices.

use ndarray::linalg::general_mat_mul;
use ndarray::{ArrayView2, ArrayViewMut2, Axis, ShapeBuilder};
use rayon::prelude::*;

use super::kernels::{add_scaled, dot};
use crate::stop;

/// Columns of a block, the work of one task.
pub(crate) const BLOCK: usize = 128;

/// Number of columns that are not halved further.
const NARROW: usize = 16;

/// A dense symmetric matrix, column by column. Only the lower triangle counts.
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

    pub(crate) fn matrix(&self) -> ArrayView2<'_, f64> {
        columns_of(&self.values, self.size)
    }

    /// Adds `factor * panel * panel'`, in column blocks of fixed width, which give the same bits on any number of
    /// threads.
    pub(crate) fn add_products(&mut self, panel: &ArrayView2<'_, f64>, factor: f64) {
        let size = self.size;
        let blocks = self.values.par_chunks_mut(size * BLOCK).enumerate();
        blocks.for_each(|(number, block)| add_products(block, panel, number * BLOCK, factor));
    }

    /// `Z' Z`.
    pub(crate) fn gram(half: &ArrayView2<'_, f64>) -> Self {
        let mut square = Self::zeros(half.ncols());
        square.add_products(&half.t(), 1.0);
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

    pub(crate) fn matrix(&self) -> ArrayView2<'_, f64> {
        columns_of(&self.values, self.height)
    }

    pub(crate) fn values_mut(&mut self) -> &mut [f64] {
        &mut self.values
    }

    pub(crate) fn columns_mut(&mut self) -> impl Iterator<Item = &mut [f64]> {
        self.values.chunks_mut(self.height.max(1))
    }
}

/// Consecutive columns of this height.
fn columns_of(values: &[f64], height: usize) -> ArrayView2<'_, f64> {
    let width = values.len() / height.max(1);
    let shape = (height, width).f();
    ArrayView2::from_shape(shape, values).unwrap_or_else(|_| unreachable!("whole columns"))
}

/// [`columns_of`], to write to.
fn columns_of_mut(values: &mut [f64], height: usize) -> ArrayViewMut2<'_, f64> {
    let width = values.len() / height.max(1);
    let shape = (height, width).f();
    ArrayViewMut2::from_shape(shape, values).unwrap_or_else(|_| unreachable!("whole columns"))
}

/// Adds `factor * panel * panel'` to a block of columns from `first` on, from the diagonal down. Numbers above the
/// diagonal become arbitrary. `panel` has as many rows as these columns.
fn add_products(block: &mut [f64], panel: &ArrayView2<'_, f64>, first: usize, factor: f64) {
    let columns = columns_of_mut(block, panel.nrows());
    let width = columns.ncols();
    let (_, beside) = panel.view().split_at(Axis(0), first);
    let (right, _) = beside.split_at(Axis(0), width);
    let (_, mut lower) = columns.split_at(Axis(0), first);
    general_mat_mul(factor, &beside, &right.t(), 1.0, &mut lower);
}

/// `L` with `L L' = M` for a positive definite `M`. It is right-looking: a block of columns is factored, and then
/// updates every later block.
#[derive(Debug)]
pub(crate) struct Cholesky(Square);

impl Cholesky {
    /// Factors `gram + shift I` in its own memory, `8 n^2` bytes.
    pub(crate) fn new(gram: &Square, shift: f64) -> Option<Self> {
        let mut sum = gram.clone();
        sum.add_to_diagonal(shift);
        Self::of(sum)
    }

    /// Factors `lower` in place, in `O(n^3 / 3)` time. `None` if it is not positive definite to working precision,
    /// or if the work was asked to end.
    pub(crate) fn of(mut lower: Square) -> Option<Self> {
        let size = lower.size();
        let mut rest = lower.values_mut();
        for start in (0..size).step_by(BLOCK) {
            let width = BLOCK.min(size - start);
            let (own, later) = rest.split_at_mut(size * width);
            factor_columns(own, size, start)?;
            let factored = &columns_of(own, size);
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

    /// Number of unknowns.
    pub(crate) fn size(&self) -> usize {
        self.0.size()
    }

    /// Turns `b` into `M^-1 b`.
    pub(crate) fn solve(&self, b: &mut [f64]) {
        forward(&self.0.matrix(), b);
        self.back(b);
    }

    /// Turns `b` into `L'^-1 b`.
    pub(crate) fn back(&self, b: &mut [f64]) {
        for column in (0..self.size()).rev() {
            let factor = &self.0.column(column)[column..];
            b[column] = (b[column] - dot(&factor[1..], &b[column + 1..])) / factor[0];
        }
    }

    /// Turns dense columns `b` into `Z = L^-1 b`, so that `Z' Z = b' M^-1 b`. The first `skip` rows of
    /// `b` are known to be 0.
    pub(crate) fn half(&self, b: &mut [f64], skip: usize) {
        let (_, below) = columns_of_mut(b, self.size()).split_at(Axis(0), skip);
        let (_, lower) = self.0.matrix().split_at(Axis(0), skip);
        solve_lower(&lower.split_at(Axis(1), skip).1, below);
    }
}

/// Turns `b` into `L^-1 b` for the lower triangle `L` of `lower`. Halves the rows down to a few.
fn solve_lower(lower: &ArrayView2<'_, f64>, mut b: ArrayViewMut2<'_, f64>) {
    let size = lower.nrows();
    if size <= 2 * NARROW {
        for mut column in b.columns_mut() {
            if let Some(column) = column.as_slice_mut() {
                forward(lower, column);
            }
        }
        return;
    }
    let half = (size / 2).next_multiple_of(NARROW);
    let (mut top, mut below) = b.split_at(Axis(0), half);
    let (left, right) = lower.view().split_at(Axis(1), half);
    let (corner, beside) = left.split_at(Axis(0), half);
    solve_lower(&corner, top.view_mut());
    general_mat_mul(-1.0, &beside, &top, 1.0, &mut below);
    solve_lower(&right.split_at(Axis(0), half).1, below);
}

/// Turns `b` into `L^-1 b`, one column of `L` after the other.
fn forward(lower: &ArrayView2<'_, f64>, b: &mut [f64]) {
    for (at, column) in lower.columns().into_iter().enumerate() {
        let Some(factor) = column.to_slice() else {
            unreachable!("columns are contiguous")
        };
        let (before, below) = b.split_at_mut(at + 1);
        before[at] /= factor[at];
        add_scaled(below, -before[at], &factor[at + 1..]);
    }
}

/// Factors the columns from `first` on, from the diagonal down, of a matrix of this `size`. Halves them down to a
/// few.
fn factor_columns(columns: &mut [f64], size: usize, first: usize) -> Option<()> {
    let width = columns.len() / size;
    if width <= NARROW {
        return factor_narrow(columns, size, first);
    }
    let half = (width / 2).next_multiple_of(NARROW);
    let (own, later) = columns.split_at_mut(half * size);
    factor_columns(own, size, first)?;
    add_products(later, &columns_of(own, size), first + half, -1.0);
    factor_columns(later, size, first + half)
}

/// [`factor_columns`], one column after the other.
#[multiversion::multiversion(targets = "simd")]
fn factor_narrow(columns: &mut [f64], size: usize, first: usize) -> Option<()> {
    for at in 0..columns.len() / size {
        let (before, rest) = columns.split_at_mut(at * size);
        let row = first + at;
        let own = &mut rest[row..size];
        for earlier in before.chunks(size) {
            add_scaled(own, -earlier[row], &earlier[row..]);
        }
        let pivot = Some(own[0]).filter(|pivot| *pivot > 0.0)?.sqrt();
        for value in &mut *own {
            *value /= pivot;
        }
        own[0] = pivot;
    }
    Some(())
}

/// The first rows of `square`, in the order of pivots, that span all others up to `share` of its largest value, and
/// their Cholesky factor. The largest remainder is the next pivot (Golub and Van Loan, section 4.2.8). `O(n r^2)`
/// time for `r` of `n` rows.
#[multiversion::multiversion(targets = "simd")]
pub(crate) fn leading(square: &Square, share: f64) -> (Vec<usize>, Cholesky) {
    let size = square.size();
    let mut rest: Vec<f64> = square.values().iter().copied().step_by(size + 1).collect();
    let (mut pivots, mut factor) = (Vec::new(), Vec::<f64>::new());
    let mut least = 0.0;
    while let Some(pivot) = (0..size).max_by(|&a, &b| rest[a].total_cmp(&rest[b]).then(b.cmp(&a))) {
        if pivots.is_empty() {
            least = share * rest[pivot];
        }
        if rest[pivot].is_nan() || rest[pivot] <= least {
            break;
        }
        let mut column = square.column(pivot).to_vec();
        for earlier in factor.chunks(size) {
            add_scaled(&mut column, -earlier[pivot], earlier);
        }
        let root = rest[pivot].sqrt();
        for (value, rest) in column.iter_mut().zip(&mut rest) {
            *value /= root;
            *rest -= *value * *value;
        }
        column[pivot] = root;
        rest[pivot] = f64::NEG_INFINITY;
        pivots.push(pivot);
        factor.extend(column);
    }
    let mut own = Square::zeros(pivots.len());
    let columns = factor
        .chunks(size.max(1))
        .zip(own.values.chunks_mut(pivots.len().max(1)));
    for (at, (column, slots)) in columns.enumerate() {
        for (slot, &pivot) in slots.iter_mut().zip(&pivots).skip(at) {
            *slot = column[pivot];
        }
    }
    (pivots, Cholesky(own))
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
    fn leading_rows_span_the_others() {
        // Two rows span all others: x_i . x_j for x_i = (1, i mod 3).
        let mut square = Square::zeros(40);
        for (at, slot) in square.values_mut().iter_mut().enumerate() {
            *slot = 1.0 + ((at % 40) % 3 * ((at / 40) % 3)) as f64;
        }
        let (pivots, factor) = leading(&square, 1e-14);
        assert_eq!(pivots, [2, 0]);
        let mut own = vec![square.value(2, 2), square.value(0, 2)];
        factor.solve(&mut own);
        assert!(
            (own[0] - 1.0).abs() < 1e-14 && own[1].abs() < 1e-14,
            "{own:?}"
        );
        assert!(leading(&Square::zeros(3), 1e-14).0.is_empty());
    }

    #[test]
    fn what_is_not_positive_definite_has_no_factor() {
        assert!(Cholesky::new(&example(2 * BLOCK), -1.0).is_none());
        let mut nan = example(2);
        nan.values_mut()[3] = f64::NAN;
        assert!(Cholesky::new(&nan, 1.0).is_none());
    }
}
