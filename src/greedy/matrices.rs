//! The matrices of the state, `m` rows that grow by a number a step, as its users see them.

use rayon::prelude::*;

/// The rows of one query in `Phi'`, `H` and `p`.
pub(super) struct QueryMatrices<'a> {
    pub(super) phi: &'a [f64],
    pub(super) held: &'a [f64],
    pub(super) stride: usize,
    pub(super) holdout: &'a [f64],
}

/// `f_Q` and `g_Q` of each query.
#[derive(Debug, Clone, Copy)]
pub(super) struct Products<'a> {
    products: &'a [f64],
    steps: usize,
}

impl<'a> Products<'a> {
    /// Those in `products`, `2 t` numbers a query, after `t` steps.
    pub(super) fn new(products: &'a [f64], steps: usize) -> Self {
        Self { products, steps }
    }

    /// `t`
    pub(super) fn steps(&self) -> usize {
        self.steps
    }

    /// `f_Q = Phi_Q p_Q` and `g_Q = H_Q' p_Q`, `t` numbers each.
    #[inline(always)]
    pub(super) fn of(&self, query: usize) -> (&'a [f64], &'a [f64]) {
        self.products[2 * self.steps * query..][..2 * self.steps].split_at(self.steps)
    }
}

/// Moves `rows` of `old` numbers each apart in place, to have `new` each, in parallel.
pub(super) fn widen(matrix: &mut [f64], rows: usize, [old, new]: [usize; 2]) {
    let mut left = if old == 0 { 0 } else { rows };
    while left > 1 {
        // Rows from here on move to where no row is.
        let first = (left * old).div_ceil(new);
        if first == left {
            left -= 1;
            matrix.copy_within(left * old..(left + 1) * old, left * new);
            continue;
        }
        let (sources, places) = matrix.split_at_mut(left * old);
        let sources = sources[first * old..].par_chunks_exact(old);
        let places = &mut places[first * new - left * old..];
        let places = places[..(left - first) * new].par_chunks_exact_mut(new);
        let pairs = places.zip(sources).with_min_len(1024);
        pairs.for_each(|(place, source)| place[..old].copy_from_slice(source));
        left = first;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_keep_their_numbers_when_they_move_apart() {
        for (rows, old, new) in [(1, 8, 16), (2, 8, 9), (9, 0, 8), (5000, 3, 4), (700, 2, 7)] {
            let number = |row: usize, step: usize| (row * 10 + step) as f64;
            let mut matrix = vec![-1.0; rows * new];
            for row in 0..rows {
                for step in 0..old {
                    matrix[row * old + step] = number(row, step);
                }
            }
            widen(&mut matrix, rows, [old, new]);
            for row in 0..rows {
                let expected: Vec<f64> = (0..old).map(|step| number(row, step)).collect();
                assert_eq!(matrix[row * new..][..old], expected);
            }
        }
    }
}
