//! Products and sums of vectors: the inner loops of selection and training.

/// Candidates judged side by side, one to a vector lane. Lanes never mix: a candidate's sums have one order, in any
/// lane and beside any neighbours.
pub(crate) const LANES: usize = 8;

/// A number for each candidate of a block.
pub(crate) type Lanes = [f64; LANES];

/// Independent sums of a dot product. A single sum would wait for each addition. Eight sums are two registers of
/// four numbers, or one of eight.
const SUMS: usize = 8;

/// The largest absolute value; 0 where there is none. Values that are no numbers do not count.
pub(crate) fn largest(x: &[f64]) -> f64 {
    x.iter().fold(0.0, |most: f64, value| most.max(value.abs()))
}

/// `y += scale * x`, over the shorter of the two: `O(n)`.
///
/// ```text
/// for i in 0..n: y[i] = y[i] + (scale * x[i])
/// ```
///
/// Each number gets one term, so order does not matter. Each step reads two numbers and writes one for two
/// operations, so memory bounds the speed beyond the first caches.
#[inline(always)]
pub(crate) fn add_scaled(y: &mut [f64], scale: f64, x: &[f64]) {
    for (y, x) in y.iter_mut().zip(x) {
        *y += scale * x;
    }
}

/// `x . y`, over the shorter of the two: `O(n)`.
///
/// ```text
/// s[0..8] = 0
/// for each whole chunk of eight numbers, in order:
///     for lane in 0..8: s[lane] = s[lane] + (x[lane] * y[lane])
/// rest = the products after the last whole chunk, added in order
/// return (((s0 + s4) + (s2 + s6)) + ((s1 + s5) + (s3 + s7))) + rest
/// ```
///
/// The final tree halves the lanes three times, as vector registers do: the upper four onto the lower, then two,
/// then one. The bound on rounding errors grows with `n / 8`, not with `n`.
#[inline(always)]
pub(crate) fn dot(x: &[f64], y: &[f64]) -> f64 {
    let mut sums = [0.0; SUMS];
    let (x_chunks, x_rest) = x.as_chunks::<SUMS>();
    let (y_chunks, y_rest) = y.as_chunks::<SUMS>();
    for (left, right) in x_chunks.iter().zip(y_chunks) {
        for lane in 0..SUMS {
            sums[lane] += left[lane] * right[lane];
        }
    }
    let rest: f64 = x_rest.iter().zip(y_rest).map(|(a, b)| a * b).sum();
    let pairs = |a: usize| sums[a] + sums[a + 4];
    ((pairs(0) + pairs(2)) + (pairs(1) + pairs(3))) + rest
}

/// `x . v` for a sparse column `x`: `values[e]` in row `rows[e]`. `O(nnz)`.
///
/// ```text
/// sum = 0
/// for each entry e, in order: sum = sum + (values[e] * v[rows[e]])
/// ```
///
/// One sum without lanes: `v` is read out of order, which fills no vector.
#[inline(always)]
pub(crate) fn sparse_dot(rows: &[u32], values: &[f64], v: &[f64]) -> f64 {
    rows.iter()
        .zip(values)
        .map(|(&row, value)| value * v[row as usize])
        .sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dot_covers_whole_chunks_and_the_rest() {
        for length in [0usize, 1, 7, 8, 9, 31] {
            let x: Vec<f64> = (0..length).map(|i| i as f64).collect();
            let expected: f64 = x.iter().map(|x| 2.0 * x * x).sum();
            let y: Vec<f64> = x.iter().map(|x| 2.0 * x).collect();
            assert!((dot(&x, &y) - expected).abs() < 1e-9);
        }
    }
}
