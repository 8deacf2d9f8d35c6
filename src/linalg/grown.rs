//! The ridge model of selected features: a Cholesky factor that grows by one row with each feature.
//!
//! With `F F' = X_S' X_S + ridge I` and a new feature `v`, the next factor is (Golub and Van Loan, *Matrix
//! Computations*, section 4.2)
//!
//! ```text
//! [F   0      ]
//! [z'  sqrt(s)],    z = F^-1 X_S' v,    s = ridge + |v|^2 - |z|^2
//! ```
//!
//! and `eta = F^-1 X_S' y` grows by `(v . y - z . eta) / sqrt(s)`. Earlier rows do not change, so a feature costs
//! `O(t^2)`, not the `O(t^3)` of a new factor.
//!
//! The rows of the triangle are stored one after the other, so each is contiguous. Sums along a row use
//! [`kernels::dot`]. Solving with `F'` goes down its columns: it subtracts one row of `F` at a time by
//! [`kernels::add_scaled`].

use super::kernels::{self, largest};

/// Iterations for each end of the spectrum in the condition number.
const ITERATIONS: usize = 16;

/// The Cholesky factor `F` of `X_S' X_S + ridge I`, and `eta = F^-1 X_S' y`, for centred columns `X_S`
/// and centred labels `y`.
#[derive(Debug, Clone)]
pub(crate) struct Grown {
    ridge: f64,
    /// Rows of the lower factor, one after the other.
    factor: Vec<f64>,
    eta: Vec<f64>,
}

impl Grown {
    /// The model without features.
    pub(crate) fn new(ridge: f64) -> Self {
        Self {
            ridge,
            factor: Vec::new(),
            eta: Vec::new(),
        }
    }

    /// Number of features `t`.
    pub(crate) fn steps(&self) -> usize {
        self.eta.len()
    }

    /// `F^-1 X_S' y`, of length `t`.
    pub(crate) fn eta(&self) -> &[f64] {
        &self.eta
    }

    /// The first `step + 1` numbers of row `step` of `F`. The others are 0.
    pub(crate) fn row(&self, step: usize) -> &[f64] {
        &self.factor[step * (step + 1) / 2..][..=step]
    }

    /// Adds the feature `v` by its products `X_S' v`, which turn into `z = F^-1 X_S' v`, its `square`
    /// `|v|^2` and its `moment` `v . y`: O(t^2). Returns `sqrt(s)`.
    ///
    /// ```text
    /// z    = F^-1 products
    /// root = sqrt(ridge + max(square - z . z, 0))
    /// eta  = (moment - z . eta) / root
    /// ```
    pub(crate) fn grow(&mut self, products: &mut [f64], square: f64, moment: f64) -> f64 {
        self.solve(products);
        // Only rounding makes |v|^2 - |z|^2 negative.
        let left = (square - kernels::dot(products, products)).max(0.0);
        let root = (self.ridge + left).sqrt();
        let eta = (moment - kernels::dot(products, &self.eta)) / root;
        self.push(products, root, eta);
        root
    }

    /// Adds the feature that has these `z` and `root = sqrt(s)`.
    pub(crate) fn push(&mut self, z: &[f64], root: f64, eta: f64) {
        self.factor.extend_from_slice(z);
        self.factor.push(root);
        self.eta.push(eta);
    }

    /// `w = F'^-1 eta`, a weight for each feature: O(t^2).
    pub(crate) fn weights(&self) -> Vec<f64> {
        let mut weights = self.eta.clone();
        self.solve_transposed(&mut weights);
        weights
    }

    /// The condition number of `F F'`: the ratio of its largest to its least eigenvalue, estimated from below. It
    /// iterates with the matrix and with its inverse (Golub and Van Loan, section 8.2), and gives the order of
    /// magnitude, from 1 on. Infinite if products are not finite. O(t^2).
    pub(crate) fn condition(&self) -> f64 {
        if self.eta.is_empty() {
            return 1.0;
        }
        let largest = self.growth(|x| {
            self.multiply_transposed(x);
            self.multiply(x);
        });
        let least = self.growth(|x| {
            self.solve(x);
            self.solve_transposed(x);
        });
        let value = largest * least;
        if value.is_nan() {
            f64::INFINITY
        } else {
            value.max(1.0)
        }
    }

    /// The growth of a vector under a matrix, after some iterations towards its largest growth.
    fn growth(&self, apply: impl Fn(&mut [f64])) -> f64 {
        // A start that is unlikely to be an eigenvector.
        let start = |step: usize| 0.5 + (0.618 * step as f64).fract();
        let mut x: Vec<f64> = (0..self.steps()).map(start).collect();
        let mut growth = f64::INFINITY;
        for _ in 0..ITERATIONS {
            let length = largest(&x);
            if !(length > 0.0 && length.is_finite()) {
                return f64::INFINITY;
            }
            for value in &mut x {
                *value /= length;
            }
            apply(&mut x);
            growth = largest(&x);
        }
        growth
    }

    /// `F x` into `x`: O(t^2). Starts at the last row, because a row reads earlier numbers of `x`.
    ///
    /// ```text
    /// for i in (0..t) from the last: x[i] = F[i][..=i] . x[..=i]
    /// ```
    fn multiply(&self, x: &mut [f64]) {
        for step in (0..x.len()).rev() {
            x[step] = kernels::dot(self.row(step), &x[..=step]);
        }
    }

    /// `F' x` into `x`: O(t^2), by rows of `F`, each times one number of `x`.
    ///
    /// ```text
    /// for i in 0..t: (x[..i], x[i]) = (x[..i] + x[i] F[i][..i], x[i] F[i][i])
    /// ```
    fn multiply_transposed(&self, x: &mut [f64]) {
        for step in 0..x.len() {
            let (value, row) = (x[step], self.row(step));
            x[step] = row[step] * value;
            kernels::add_scaled(&mut x[..step], value, &row[..step]);
        }
    }

    /// `F^-1 x` into `x`, by forward substitution: O(t^2).
    ///
    /// ```text
    /// for i in 0..t: x[i] = (x[i] - F[i][..i] . x[..i]) / F[i][i]
    /// ```
    pub(crate) fn solve(&self, x: &mut [f64]) {
        for step in 0..x.len() {
            let row = self.row(step);
            x[step] = (x[step] - kernels::dot(&row[..step], &x[..step])) / row[step];
        }
    }

    /// `F'^-1 x` into `x`, by back substitution: O(t^2).
    ///
    /// ```text
    /// for i in (0..t) from the last: x[i] = x[i] / F[i][i]; x[..i] = x[..i] - x[i] F[i][..i]
    /// ```
    pub(crate) fn solve_transposed(&self, x: &mut [f64]) {
        for step in (0..x.len()).rev() {
            let row = self.row(step);
            x[step] /= row[step];
            let (earlier, solved) = x.split_at_mut(step);
            kernels::add_scaled(earlier, -solved[0], &row[..step]);
        }
    }

    /// [`solve`](Self::solve) for several vectors side by side, with one sum for each number. It takes four rows of
    /// `F` at a time, to read numbers of `x` once for them.
    #[inline(always)]
    pub(crate) fn solve_lanes<const L: usize>(&self, x: &mut [[f64; L]]) {
        for start in (0..x.len()).step_by(TILE) {
            let rows = self.tile(start);
            let (solved, tile) = x.split_at_mut(start);
            let count = tile.len().min(TILE);
            let mut heads = rows;
            for head in &mut heads {
                *head = &head[..start];
            }
            let mut sums = [[0.0; L]; TILE];
            for (at, solved) in solved.iter().enumerate() {
                for (sum, row) in sums.iter_mut().zip(heads) {
                    kernels::add_scaled(sum, row[at], solved);
                }
            }
            for own in 0..count {
                let (before, after) = tile.split_at_mut(own);
                let mut sum = sums[own];
                for (before, &number) in before.iter().zip(&rows[own][start..]) {
                    kernels::add_scaled(&mut sum, number, before);
                }
                let divisor = rows[own][start + own];
                for (number, sum) in after[0].iter_mut().zip(sum) {
                    *number = (*number - sum) / divisor;
                }
            }
        }
    }

    /// [`solve_transposed`](Self::solve_transposed) for several vectors side by side, with one sum for each number.
    /// It takes four columns of `F` at a time.
    #[inline(always)]
    pub(crate) fn solve_transposed_lanes<const L: usize>(&self, x: &mut [[f64; L]]) {
        for start in (0..x.len()).step_by(TILE).rev() {
            let end = x.len().min(start + TILE);
            let rows = self.tile(start);
            let (tile, solved) = x[start..].split_at_mut(end - start);
            let mut sums = [[0.0; L]; TILE];
            for (step, solved) in (end..).zip(solved) {
                let numbers = &self.row(step)[start..start + TILE];
                for (sum, number) in sums.iter_mut().zip(numbers) {
                    kernels::add_scaled(sum, *number, solved);
                }
            }
            for own in (0..tile.len()).rev() {
                let (before, after) = tile.split_at_mut(own + 1);
                let mut sum = sums[own];
                for (row, after) in rows[own + 1..].iter().zip(after) {
                    kernels::add_scaled(&mut sum, row[start + own], after);
                }
                let divisor = rows[own][start + own];
                for (number, sum) in before[own].iter_mut().zip(sum) {
                    *number = (*number - sum) / divisor;
                }
            }
        }
    }

    /// Up to [`TILE`] rows of `F` from `start` on. The last row repeats if there are fewer.
    #[inline(always)]
    fn tile(&self, start: usize) -> [&[f64]; TILE] {
        let mut rows = [&self.factor[..0]; TILE];
        for (own, row) in rows.iter_mut().enumerate() {
            *row = self.row((start + own).min(self.steps() - 1));
        }
        rows
    }
}

/// Rows solved together.
const TILE: usize = 4;

#[cfg(test)]
mod tests {
    use super::*;

    type Apply = fn(&Grown, &mut [f64]);
    type Pairs = fn(&Grown, &mut [[f64; 2]]);

    /// The model with these rows of the factor.
    fn grown(rows: &[&[f64]]) -> Grown {
        let mut grown = Grown::new(0.0);
        for row in rows {
            let (root, z) = row.split_last().unwrap();
            grown.push(z, *root, 1.0);
        }
        grown
    }

    #[test]
    fn diagonal_matrices_have_the_ratio_of_their_ends() {
        let found = grown(&[&[3.0], &[0.0, 1e-3], &[0.0, 0.0, 2.0]]).condition();
        assert!((found / 9e6 - 1.0).abs() < 0.1, "{found}");
        assert_eq!(grown(&[]).condition(), 1.0);
        assert!((grown(&[&[5.0]]).condition() - 1.0).abs() < 1e-12);
        assert_eq!(grown(&[&[1e200]]).condition(), f64::INFINITY);
    }

    /// `[[1, c], [c, 1]]` has the eigenvalues `1 + c` and `1 - c`.
    #[test]
    fn columns_that_are_alike_are_found_out() {
        for distance in [0.5, 1e-3, 1e-9] {
            let c: f64 = 1.0 - distance;
            let found = grown(&[&[1.0], &[c, (1.0 - c * c).sqrt()]]).condition();
            let exact = (1.0 + c) / distance;
            assert!(
                (exact / 2.0..exact * 1.1).contains(&found),
                "{found} {exact}"
            );
        }
    }

    #[test]
    fn products_and_solutions_are_inverse() {
        let grown = grown(&[&[2.0], &[-1.0, 3.0], &[0.5, 1.5, 1.0]]);
        let start = [1.0, -2.0, 0.25];
        let factor: [Apply; 2] = [Grown::multiply, Grown::solve];
        let transposed: [Apply; 2] = [Grown::multiply_transposed, Grown::solve_transposed];
        for inverse in [factor, transposed] {
            let mut x = start;
            inverse[0](&grown, &mut x);
            inverse[1](&grown, &mut x);
            assert!(x.iter().zip(start).all(|(a, b)| (a - b).abs() < 1e-12));
        }
    }

    #[test]
    fn lanes_are_solved_as_they_are_alone() {
        for steps in [0, 1, 3, 4, 5, 9, 14] {
            let number = |a: usize, b: usize| (0.37 * (7 * a + 3 * b) as f64).sin();
            let mut grown = Grown::new(0.0);
            for step in 0..steps {
                let row: Vec<f64> = (0..step).map(|at| number(step, at)).collect();
                grown.push(&row, 3.0 + number(step, step), 1.0);
            }
            let x: Vec<[f64; 2]> = (0..steps)
                .map(|at| [number(at, 50), number(at, 99)])
                .collect();
            let pairs: [(Pairs, Apply); 2] = [
                (Grown::solve_lanes, Grown::solve),
                (Grown::solve_transposed_lanes, Grown::solve_transposed),
            ];
            for (lanes, alone) in pairs {
                let mut found = x.clone();
                lanes(&grown, &mut found);
                for lane in 0..2 {
                    let mut expected: Vec<f64> = x.iter().map(|x| x[lane]).collect();
                    alone(&grown, &mut expected);
                    let close = |(a, b): (&[f64; 2], &f64)| (a[lane] - b).abs() < 1e-12;
                    assert!(
                        found.iter().zip(&expected).all(close),
                        "{found:?} {expected:?}"
                    );
                }
            }
        }
    }

    /// Two features, `X X' + I = [[5, 2], [2, 3]]` and `X y = [3, 1]`.
    #[test]
    fn weights_solve_the_system() {
        let mut grown = Grown::new(1.0);
        grown.grow(&mut [], 4.0, 3.0);
        grown.grow(&mut [2.0], 2.0, 1.0);
        let weights = grown.weights();
        for (found, expected) in weights.iter().zip([7.0 / 11.0, -1.0 / 11.0]) {
            assert!((found - expected).abs() < 1e-15, "{found} {expected}");
        }
    }
}
