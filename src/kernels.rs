//! Small dense kernels, compiled for several instruction sets and chosen at
//! run time.
//!
//! Every sum has one order, whatever the vector width, and no product is fused
//! with its sum: the results are the same bits on every machine. Primitives are
//! `#[inline(always)]` so that they take on the instruction set of the
//! multiversioned function that calls them; dispatch happens once a column,
//! query or block, never once an element.

/// Candidates that are judged side by side, one to a vector lane. Lanes never meet: a candidate's
/// sums have one order, whichever lane it is in and whoever its neighbours are.
pub(crate) const LANES: usize = 8;

/// A number for each candidate of a block.
pub(crate) type Lanes = [f64; LANES];

/// Independent sums of a dot product.
const SUMS: usize = 8;

/// `y += scale * x`, over the shorter of the two.
#[inline(always)]
pub(crate) fn add_scaled(y: &mut [f64], scale: f64, x: &[f64]) {
    for (y, x) in y.iter_mut().zip(x) {
        *y += scale * x;
    }
}

/// `x . y`, over the shorter of the two, in eight interleaved sums.
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

/// `x . v` for a sparse column, one entry after the other.
#[inline(always)]
pub(crate) fn sparse_dot(rows: &[u32], values: &[f64], v: &[f64]) -> f64 {
    rows.iter()
        .zip(values)
        .map(|(&row, value)| value * v[row as usize])
        .sum()
}

/// `z += M' x` for a sparse `x`: `M` has rows of `stride` numbers, of which the
/// first `z.len()` count. `O(nnz z.len())`.
#[multiversion::multiversion(targets = "simd")]
pub(crate) fn project(rows: &[u32], values: &[f64], m: &[f64], stride: usize, z: &mut [f64]) {
    for (&row, &value) in rows.iter().zip(values) {
        let start = row as usize * stride;
        add_scaled(z, value, &m[start..start + z.len()]);
    }
}

/// The mean, as a share of the largest value, of values that are centred as well as rounding allows.
const OFFSET: f64 = 1e-13;

/// Takes off what centring once has left of the mean under a large common offset; values that have no
/// such offset keep their bits.
pub(crate) fn centre_again(values: &mut [f64]) {
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    let largest = values
        .iter()
        .fold(0.0_f64, |most, value| most.max(value.abs()));
    if mean.abs() > OFFSET * largest {
        centre(values);
    }
}

/// Takes off the mean.
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
