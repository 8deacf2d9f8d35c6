//! How much rounding is amplified by solving with a Cholesky factor.

use crate::kernels;

/// Iterations to each end of the spectrum, a step: each step goes on from the vectors of the last.
const ITERATIONS: usize = 4;

/// The condition number of `L L'`, the ratio of its largest eigenvalue to its least, estimated
/// from below by iterations with the matrix and with its inverse (Golub and Van Loan, section
/// 8.2): the order of magnitude.
#[derive(Debug, Clone)]
pub(super) struct Condition {
    /// Near the eigenvector of the largest eigenvalue.
    largest: Vec<f64>,
    /// Near that of the least.
    least: Vec<f64>,
    value: f64,
}

impl Default for Condition {
    fn default() -> Self {
        Self {
            largest: Vec::new(),
            least: Vec::new(),
            value: 1.0,
        }
    }
}

impl Condition {
    /// From 1 on; infinite where products are no finite numbers.
    pub(super) fn value(&self) -> f64 {
        self.value
    }

    /// Takes in the last row of `factor`, which has the rows of `L` one after the other. O(t^2).
    pub(super) fn extend(&mut self, factor: &[f64]) {
        // No start that a matrix is likely to have for an eigenvector.
        let start = 0.5 + (0.618 * self.least.len() as f64).fract();
        self.largest.push(start);
        self.least.push(start);
        let largest = growth(&mut self.largest, |x| {
            times_transposed(factor, x);
            times(factor, x);
        });
        let least = growth(&mut self.least, |x| {
            solve(factor, x);
            solve_transposed(factor, x);
        });
        let value = largest * least;
        self.value = if value.is_nan() {
            f64::INFINITY
        } else {
            value.max(self.value)
        };
    }
}

/// By how much a matrix makes `x` grow, after some turns towards where it grows most.
fn growth(x: &mut [f64], apply: impl Fn(&mut [f64])) -> f64 {
    let mut growth = f64::INFINITY;
    for _ in 0..ITERATIONS {
        let length = largest(x);
        if !(length > 0.0 && length.is_finite()) {
            x.fill(0.0);
            x[0] = 1.0;
            return f64::INFINITY;
        }
        for value in x.iter_mut() {
            *value /= length;
        }
        apply(x);
        growth = largest(x);
    }
    growth
}

fn largest(x: &[f64]) -> f64 {
    x.iter()
        .fold(0.0, |largest: f64, value| largest.max(value.abs()))
}

fn row(factor: &[f64], step: usize) -> &[f64] {
    &factor[step * (step + 1) / 2..][..=step]
}

/// `L x` into `x`.
fn times(factor: &[f64], x: &mut [f64]) {
    for step in (0..x.len()).rev() {
        x[step] = kernels::dot(row(factor, step), &x[..=step]);
    }
}

/// `L' x` into `x`.
fn times_transposed(factor: &[f64], x: &mut [f64]) {
    for step in 0..x.len() {
        let value = x[step];
        let row = row(factor, step);
        x[step] = row[step] * value;
        kernels::add_scaled(&mut x[..step], value, &row[..step]);
    }
}

/// `L^-1 x` into `x`.
pub(super) fn solve(factor: &[f64], x: &mut [f64]) {
    for step in 0..x.len() {
        let row = row(factor, step);
        x[step] = (x[step] - kernels::dot(&row[..step], &x[..step])) / row[step];
    }
}

/// `L'^-1 x` into `x`.
pub(super) fn solve_transposed(factor: &[f64], x: &mut [f64]) {
    for step in (0..x.len()).rev() {
        let row = row(factor, step);
        x[step] /= row[step];
        let (earlier, solved) = x.split_at_mut(step);
        kernels::add_scaled(earlier, -solved[0], &row[..step]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The estimate for the rows of a factor.
    fn condition(rows: &[&[f64]]) -> f64 {
        let (mut condition, mut factor) = (Condition::default(), Vec::new());
        for row in rows {
            factor.extend_from_slice(row);
            condition.extend(&factor);
        }
        condition.value()
    }

    #[test]
    fn diagonal_matrices_have_the_ratio_of_their_ends() {
        let found = condition(&[&[3.0], &[0.0, 1e-3], &[0.0, 0.0, 2.0]]);
        assert!((found / 9e6 - 1.0).abs() < 0.1, "{found}");
        assert_eq!(condition(&[]), 1.0);
        assert!((condition(&[&[5.0]]) - 1.0).abs() < 1e-12);
        assert_eq!(condition(&[&[1e200]]), f64::INFINITY);
    }

    /// `[[1, c], [c, 1]]` has the eigenvalues `1 + c` and `1 - c`.
    #[test]
    fn columns_that_are_alike_are_found_out() {
        for distance in [0.5, 1e-3, 1e-9] {
            let c: f64 = 1.0 - distance;
            let found = condition(&[&[1.0], &[c, (1.0 - c * c).sqrt()]]);
            let exact = (1.0 + c) / distance;
            assert!(
                (exact / 2.0..exact * 1.1).contains(&found),
                "{found} {exact}"
            );
        }
    }

    #[test]
    fn products_and_solutions_are_inverse() {
        let factor = [2.0, -1.0, 3.0, 0.5, 1.5, 1.0];
        let start = [1.0, -2.0, 0.25];
        for inverse in [
            [times as fn(&[f64], &mut [f64]), solve],
            [times_transposed, solve_transposed],
        ] {
            let mut x = start;
            inverse[0](&factor, &mut x);
            inverse[1](&factor, &mut x);
            assert!(x.iter().zip(start).all(|(a, b)| (a - b).abs() < 1e-12));
        }
    }
}
