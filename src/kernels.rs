//! Small dense kernels: the inner loops of selection and training.
//!
//! # One order for every sum
//!
//! Floating-point sums depend on the order of their terms, and a product fused with its sum is rounded
//! once, not twice. Both are fixed here, in the source: a sum is split into a fixed number of lanes,
//! the lanes are added up in a fixed tree, and products are never fused. The results are the same bits
//! on every machine and for every vector width. A compiler may put lanes side by side into a vector
//! register, as no lane depends on another; it may not reorder the terms of one.
//!
//! # Instruction sets
//!
//! `multiversion` compiles a function for several instruction sets, and the processor chooses one at run
//! time. A choice costs an indirect call, so that it is made once a column, query or block, never once
//! an element. Primitives are `#[inline(always)]`: they take on the instruction set of the multiversioned
//! function that calls them.

/// Candidates that are judged side by side, one to a vector lane. Lanes never meet: a candidate's
/// sums have one order, whichever lane it is in and whoever its neighbours are.
pub(crate) const LANES: usize = 8;

/// A number for each candidate of a block.
pub(crate) type Lanes = [f64; LANES];

/// Independent sums of a dot product. One sum would wait for each addition before the next; eight
/// are two registers of four numbers, or one of eight.
const SUMS: usize = 8;

/// `y += scale * x`, over the shorter of the two: `O(n)`.
///
/// ```text
/// for i in 0..n: y[i] = y[i] + (scale * x[i])
/// ```
///
/// Sums of one term have no order. It reads two numbers and writes one for two operations, so that
/// memory bounds it beyond the first caches.
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
/// The tree at the end halves the lanes three times, as vector registers do: first the upper four onto
/// the lower, then two, then one. The bound on rounding errors grows with `n / 8`, not with `n`.
#[inline(always)]
pub(crate) fn dot(x: &[f64], y: &[f64]) -> f64 {
    let mut sums = [0.0; SUMS];
    let (x_chunks, x_rest) = x.as_chunks::<SUMS>();
    let (y_chunks, y_rest) = y.as_chunks::<SUMS>();
    for (x, y) in x_chunks.iter().zip(y_chunks) {
        for lane in 0..SUMS {
            sums[lane] += x[lane] * y[lane];
        }
    }
    let rest: f64 = x_rest.iter().zip(y_rest).map(|(x, y)| x * y).sum();
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
/// One sum and no lanes: `v` is read out of order, so that there is no vector to fill.
#[inline(always)]
pub(crate) fn sparse_dot(rows: &[u32], values: &[f64], v: &[f64]) -> f64 {
    rows.iter()
        .zip(values)
        .map(|(&row, value)| value * v[row as usize])
        .sum()
}

/// `z += M' x` for a sparse column `x`: `O(nnz z.len())`. `M` is stored by rows of `stride` numbers, of
/// which the first `z.len()` count: there is room for the features to come.
///
/// ```text
/// for each entry e, in order:
///     for j in 0..len(z): z[j] = z[j] + (values[e] * M[rows[e]][j])
/// ```
///
/// Each `z[j]` is a sum over the entries, in their order. The entries are the outer loop, as a row of `M`
/// is contiguous: it is read once, and `z` stays in the first cache.
#[multiversion::multiversion(targets = "simd")]
pub(crate) fn project(rows: &[u32], values: &[f64], m: &[f64], stride: usize, z: &mut [f64]) {
    for (&row, &value) in rows.iter().zip(values) {
        let start = row as usize * stride;
        add_scaled(z, value, &m[start..start + z.len()]);
    }
}

/// The mean, as a share of the largest value, of values that are centred as well as rounding allows.
const OFFSET: f64 = 1e-13;

/// Takes off the part of the mean that centring once has left under a large common offset: `O(n)`.
///
/// ```text
/// mean = (v[0] + v[1] + ... + v[n - 1]) / n, added in order
/// if |mean| > 1e-13 max |v|: v[i] = v[i] - mean
/// ```
///
/// An offset of 1e8 leaves a mean of some 1e-8 after one pass, as the first mean is rounded at the size
/// of the offset. Values without such an offset keep their bits.
pub(crate) fn centre_again(values: &mut [f64]) {
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    let largest = values
        .iter()
        .fold(0.0_f64, |most, value| most.max(value.abs()));
    if mean.abs() > OFFSET * largest {
        centre(values);
    }
}

/// Takes off the mean, whose sum is taken in the order of the values: `O(n)`, two passes.
pub(crate) fn centre(values: &mut [f64]) {
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    for value in values {
        *value -= mean;
    }
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

    #[test]
    fn project_is_a_transposed_product() {
        let m = [1.0, 2.0, 9.0, 3.0, 4.0, 9.0];
        let mut z = [10.0, 20.0];
        project(&[0, 1], &[2.0, -1.0], &m, 3, &mut z);
        assert_eq!(z, [9.0, 20.0]);
    }
}
