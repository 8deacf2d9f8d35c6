//! Eigenvalues and eigenvectors of small symmetric matrices: Householder reflections to a tridiagonal matrix, and
//! the QL algorithm with implicit shifts on it (Bowdler, Martin, Reinsch and Wilkinson, *The QR and QL algorithms
//! for symmetric matrices*, Numerische Mathematik 11, 1968: `tred2` and `tql2`). All inner loops go along columns.

use super::factor::Square;
use super::kernels::{add_scaled, dot};

/// Most iterations to an eigenvalue; a few are usual.
const ITERATIONS: usize = 60;

/// `M = U diag(s) U'` of a positive semidefinite `M`.
#[derive(Debug)]
pub(crate) struct Eigen {
    values: Vec<f64>,
    /// Eigenvectors, column by column.
    vectors: Vec<f64>,
}

impl Eigen {
    /// Decomposes `gram`. `None` if that does not converge, as with values that are not finite. `O(n^3)` time, `8
    /// n^2` bytes. On one thread.
    pub(crate) fn new(gram: &Square) -> Option<Self> {
        let mut vectors = gram.values().to_vec();
        let (mut values, mut beside) = tridiagonal(&mut vectors, gram.size());
        accumulate(&mut vectors, &mut values);
        diagonal(&mut values, &mut beside, &mut vectors)?;
        // Negative values are rounding.
        for value in &mut values {
            *value = value.max(0.0);
        }
        Some(Self { values, vectors })
    }

    /// `(M + shift I)^-1 b` for several shifts and right-hand sides `b`, one a lane.
    #[inline(always)]
    pub(crate) fn solve_lanes<const L: usize>(
        &self,
        shifts: &[f64; L],
        b: &[[f64; L]],
        solution: &mut [[f64; L]],
    ) {
        solution.fill([0.0; L]);
        for (vector, eigenvalue) in self.pairs() {
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

    /// Turns the columns of `A`, `rows` high, into the columns of `A U (diag(s) + shift I)^-1/2`.
    pub(crate) fn halve(&self, shift: f64, rows: usize, columns: &mut [f64]) {
        let from = columns.to_vec();
        for (column, (vector, eigenvalue)) in columns.chunks_mut(rows).zip(self.pairs()) {
            column.fill(0.0);
            let half = (eigenvalue + shift).sqrt().recip();
            for (x, own) in vector.iter().zip(from.chunks(rows)) {
                add_scaled(column, half * x, own);
            }
        }
    }

    /// Eigenvectors with their eigenvalues.
    #[inline(always)]
    fn pairs(&self) -> impl Iterator<Item = (&[f64], f64)> {
        let vectors = self.vectors.chunks(self.values.len().max(1));
        vectors.zip(self.values.iter().copied())
    }
}

/// The least and the largest eigenvalue of a symmetric `M`. `None` if they are not found. `O(n^3)` time.
pub(crate) fn extreme_eigenvalues(square: &Square) -> Option<[f64; 2]> {
    let size = square.size();
    let mut matrix = square.values().to_vec();
    let (_, mut beside) = tridiagonal(&mut matrix, size);
    // Until reflections are accumulated, the diagonal of the matrix is in place.
    let mut values: Vec<f64> = matrix.iter().copied().step_by(size + 1).collect();
    diagonal(&mut values, &mut beside, &mut [])?;
    let least = values.iter().copied().reduce(f64::min)?;
    Some([least, values.iter().copied().reduce(f64::max)?])
}

/// Reduces the lower triangle of `matrix` to a tridiagonal matrix. Its diagonal is left on the diagonal of
/// `matrix`, and the reflections in the upper triangle. Returns half of the square of each reflection, and the
/// numbers beside the diagonal, from the second on.
#[multiversion::multiversion(targets = "simd")]
fn tridiagonal(matrix: &mut [f64], size: usize) -> (Vec<f64>, Vec<f64>) {
    let (mut halves, mut beside) = (vec![0.0; size], vec![0.0; size]);
    let last = |matrix: &[f64], row: usize| -> Vec<f64> {
        (0..=row)
            .map(|column| matrix[column * size + row])
            .collect()
    };
    for row in (1..size).rev() {
        let mut reflection = last(matrix, row);
        reflection.pop();
        let scale: f64 = reflection.iter().map(|value| value.abs()).sum();
        if scale == 0.0 {
            matrix[row * size..][..row].fill(0.0);
            continue;
        }
        for value in &mut reflection {
            *value /= scale;
        }
        let square = dot(&reflection, &reflection);
        let pivot = reflection[row - 1];
        let root = -square.sqrt().copysign(pivot);
        beside[row] = scale * root;
        let half = square - pivot * root;
        reflection[row - 1] = pivot - root;
        halves[row] = half;
        let mut product = vec![0.0; row];
        for column in 0..row {
            let below = &matrix[column * size + column + 1..column * size + row];
            let along = reflection[column];
            let sum = dot(below, &reflection[column + 1..]);
            product[column] += matrix[column * size + column] * along + sum;
            add_scaled(&mut product[column + 1..], along, below);
        }
        for value in &mut product {
            *value /= half;
        }
        let share = dot(&product, &reflection) / (half + half);
        add_scaled(&mut product, -share, &reflection);
        for column in 0..row {
            let own = &mut matrix[column * size + column..column * size + row];
            add_scaled(own, -reflection[column], &product[column..]);
            add_scaled(own, -product[column], &reflection[column..]);
        }
        matrix[row * size..][..row].copy_from_slice(&reflection);
    }
    (halves, beside)
}

/// Turns the results of [`tridiagonal`] into the product of its reflections, and `halves` into the diagonal.
#[multiversion::multiversion(targets = "simd")]
fn accumulate(matrix: &mut [f64], halves: &mut [f64]) {
    let size = halves.len();
    for row in 0..size {
        let (before, own) = matrix.split_at_mut(row * size);
        let diagonal = own[row];
        let half = std::mem::replace(&mut halves[row], diagonal);
        if half != 0.0 {
            let reflection = &own[..row];
            for column in before.chunks_mut(size) {
                let along = dot(reflection, &column[..row]);
                add_scaled(&mut column[..row], -along / half, reflection);
            }
        }
        own[..size].fill(0.0);
        own[row] = 1.0;
        for column in before.chunks_mut(size) {
            column[row] = 0.0;
        }
    }
}

/// Turns the `values` on the diagonal and the values `beside` it into eigenvalues. The same rotations apply to
/// `vectors`, if there are any. `None` if it does not converge.
fn diagonal(values: &mut [f64], beside: &mut [f64], vectors: &mut [f64]) -> Option<()> {
    let size = values.len();
    beside.rotate_left(1.min(size));
    for first in 0..size {
        let mut left = ITERATIONS;
        loop {
            let small = |at: &usize| {
                let around = values[*at].abs() + values[*at + 1].abs();
                beside[*at].abs() <= f64::EPSILON * around
            };
            let last = (first..size - 1).find(small).unwrap_or(size - 1);
            if last == first {
                break;
            }
            left = left.checked_sub(1)?;
            sweep(values, beside, vectors, first..last);
        }
    }
    values.iter().all(|value| value.is_finite()).then_some(())
}

/// An iteration of QL with an implicit shift, on an undivided part of the diagonal.
fn sweep(
    values: &mut [f64],
    beside: &mut [f64],
    vectors: &mut [f64],
    part: std::ops::Range<usize>,
) {
    let (first, last, size) = (part.start, part.end, values.len());
    let ahead = (values[first + 1] - values[first]) / (2.0 * beside[first]);
    let root = ahead.hypot(1.0).copysign(ahead);
    let mut along = values[last] - values[first] + beside[first] / (ahead + root);
    let (mut sine, mut cosine, mut shift) = (1.0, 1.0, 0.0);
    for at in part.rev() {
        let (across, before) = (sine * beside[at], cosine * beside[at]);
        let length = across.hypot(along);
        beside[at + 1] = length;
        if length == 0.0 {
            values[at + 1] -= shift;
            beside[last] = 0.0;
            return;
        }
        (sine, cosine) = (across / length, along / length);
        let next = values[at + 1] - shift;
        let turned = (values[at] - next) * sine + 2.0 * cosine * before;
        shift = sine * turned;
        values[at + 1] = next + shift;
        along = cosine * turned - before;
        if !vectors.is_empty() {
            rotate(&mut vectors[at * size..][..2 * size], cosine, sine);
        }
    }
    values[first] -= shift;
    beside[first] = along;
    beside[last] = 0.0;
}

/// Rotates two columns.
#[multiversion::multiversion(targets = "simd")]
fn rotate(columns: &mut [f64], cosine: f64, sine: f64) {
    let (left, right) = columns.split_at_mut(columns.len() / 2);
    for (left, right) in left.iter_mut().zip(right) {
        (*left, *right) = (
            cosine * *left - sine * *right,
            sine * *left + cosine * *right,
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn symmetric(size: usize, value: impl Fn(usize, usize) -> f64) -> Square {
        let mut square = Square::zeros(size);
        for (at, slot) in square.values_mut().iter_mut().enumerate() {
            let (row, column) = (at % size, at / size);
            *slot = value(row.min(column), row.max(column));
        }
        square
    }

    /// `A A'` for a drawn `A` of rank at most `rank`.
    fn gram(size: usize, rank: usize) -> Square {
        let a =
            |row: usize, along: usize| ((row * 37 + along * 101 + row * along) % 29) as f64 - 14.0;
        symmetric(size, |i, j| (0..rank).map(|k| a(i, k) * a(j, k)).sum())
    }

    #[test]
    fn vectors_and_values_make_the_matrix_again() {
        for (size, rank) in [(1, 1), (2, 2), (3, 1), (7, 4), (40, 40), (64, 5), (5, 0)] {
            let square = gram(size, rank);
            let eigen = Eigen::new(&square).unwrap();
            let scale = 1.0 + eigen.values.iter().copied().fold(0.0, f64::max);
            for i in 0..size {
                for j in 0..size {
                    let vectors =
                        |k: usize| (eigen.vectors[k * size + i], eigen.vectors[k * size + j]);
                    let product: f64 = (0..size)
                        .map(|k| vectors(k).0 * vectors(k).1 * eigen.values[k])
                        .sum();
                    assert!(
                        (product - square.value(i, j)).abs() < 1e-13 * scale,
                        "{size} {rank}"
                    );
                    let along: f64 = (0..size)
                        .map(|row| eigen.vectors[i * size + row] * eigen.vectors[j * size + row])
                        .sum();
                    let expected = f64::from(u8::from(i == j));
                    assert!((along - expected).abs() < 1e-13, "{size} {rank}");
                }
            }
        }
    }

    #[test]
    fn extremes_are_those_of_a_known_matrix() {
        // 2 on the diagonal and -1 beside it: 2 - 2 cos(k pi / (n + 1)).
        let square = symmetric(50, |i, j| [2.0, -1.0].get(j - i).copied().unwrap_or(0.0));
        let [least, most] = extreme_eigenvalues(&square).unwrap();
        let known = |k: f64| 2.0 - 2.0 * (k * std::f64::consts::PI / 51.0).cos();
        assert!((least - known(1.0)).abs() < 1e-13, "{least}");
        assert!((most - known(50.0)).abs() < 1e-13, "{most}");
        let two = symmetric(2, |i, j| [1.0, 3.0][j - i]);
        assert_eq!(
            extreme_eigenvalues(&two).map(|e| e.map(f64::round)),
            Some([-2.0, 4.0])
        );
    }

    #[test]
    fn what_is_no_number_has_no_eigenvalues() {
        let mut square = gram(4, 4);
        square.values_mut()[5] = f64::NAN;
        assert!(Eigen::new(&square).is_none());
        assert!(extreme_eigenvalues(&square).is_none());
    }
}
