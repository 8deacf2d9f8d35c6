//! Centring: the mean of a query's values is subtracted from each of them.
//!
//! Sums are added in the order of the values. A mean is rounded at the size of the values. Under a common offset of
//! 1e8, one pass leaves a mean of some 1e-8. Columns, residuals and products have no such offset, so one pass
//! centres them. Labels come from users, and take two passes:
//!
//! | function | passes | for |
//! |---|---|---|
//! | [`centre`], [`centre_rows`] | 1 | columns, residuals, products; a vector, or several side by side |
//! | [`centre_twice`] | 2 | labels to select by |
//! | [`centre_offset`] | 1, and 2 under a large offset | labels to train on |
//!
//! Labels without an offset differ in their last bits after one pass and after two.

use super::kernels::largest;

/// Subtracts the mean of each lane from the rows of a query: `O(n L)`, two passes over memory.
///
/// ```text
/// for lane in 0..L:
///     mean[lane] = (rows[0][lane] + rows[1][lane] + ... + rows[n - 1][lane]) / n, added in order
///     for i in 0..n: rows[i][lane] = rows[i][lane] - mean[lane]
/// ```
///
/// Lanes never mix: each has the same bits as alone.
#[inline(always)]
pub(crate) fn centre_rows<const L: usize>(rows: &mut [[f64; L]]) {
    let mut means = [0.0; L];
    for row in rows.iter() {
        for lane in 0..L {
            means[lane] += row[lane];
        }
    }
    for mean in &mut means {
        *mean /= rows.len() as f64;
    }
    for row in rows {
        for lane in 0..L {
            row[lane] -= means[lane];
        }
    }
}

/// Subtracts the mean, as [`centre_rows`] does for one lane: `O(n)`.
pub(crate) fn centre(values: &mut [f64]) {
    centre_rows(values.as_chunks_mut::<1>().0);
}

/// Centres values that may have a large offset in common: `O(n)`.
///
/// ```text
/// centre(v)
/// centre(v)
/// ```
///
/// The second mean is of values without the offset, so its rounding is small.
pub(crate) fn centre_twice(values: &mut [f64]) {
    centre(values);
    centre(values);
}

/// The mean of optimally centred values, as a share of the largest value.
const OFFSET: f64 = 1e-13;

/// Centres values that may have a large offset in common. Only a large offset takes the second pass: `O(n)`.
///
/// ```text
/// centre(v)
/// mean = (v[0] + v[1] + ... + v[n - 1]) / n, added in order
/// if |mean| > 1e-13 max |v|: centre(v)
/// ```
pub(crate) fn centre_offset(values: &mut [f64]) {
    centre(values);
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    if mean.abs() > OFFSET * largest(values) {
        centre(values);
    }
}

/// The mean of a sparse column over `rows` rows, and its squared norm once centred: `O(nnz)`. `values` are the
/// entries, and other rows have a zero.
///
/// ```text
/// mean = (values[0] + values[1] + ... + values[nnz - 1]) / rows, added in order
/// norm = the sum of (values[e] - mean)^2 over the entries e, in order
/// return mean, norm + ((rows - nnz) * mean) * mean
/// ```
///
/// The mean comes first: subtracting `rows mean^2` from `|v|^2` would lose the digits under a common offset.
pub(crate) fn sparse_moments(values: &[f64], rows: usize) -> (f64, f64) {
    let mean = values.iter().sum::<f64>() / rows as f64;
    let squares = values.iter().map(|value| (value - mean) * (value - mean));
    let entries: f64 = squares.sum();
    (mean, entries + (rows - values.len()) as f64 * mean * mean)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lanes_are_centred_as_they_are_alone() {
        let mut rows = [[1.0, 0.1], [2.0, 0.3], [6.0, 1e9]];
        let lanes = [0, 1].map(|lane| {
            let mut values = rows.map(|row| row[lane]);
            centre(&mut values);
            values
        });
        centre_rows(&mut rows);
        assert_eq!(lanes[0], [-2.0, -1.0, 3.0]);
        for (lane, values) in lanes.into_iter().enumerate() {
            assert_eq!(rows.map(|row| row[lane]), values);
        }
    }

    #[test]
    fn labels_are_centred_under_any_offset() {
        for offset in [0.0, 1e8, -1e12] {
            let given = [0.1, 0.7, 0.35, 2.0, 1.1].map(|label| label + offset);
            let exact = given.map(|label| label - offset);
            let mean = exact.iter().sum::<f64>() / 5.0;
            for by in [centre_twice, centre_offset] {
                let mut labels = given;
                by(&mut labels);
                assert!(labels.iter().sum::<f64>().abs() < 1e-15);
                for (label, without) in labels.iter().zip(exact) {
                    assert!((label - (without - mean)).abs() < 1e-15, "{label}");
                }
            }
        }
    }

    #[test]
    fn moments_of_a_sparse_column_are_those_of_the_dense_one() {
        let (mean, norm) = sparse_moments(&[1e9 + 1.0, 1e9 - 1.0], 2);
        assert_eq!((mean, norm), (1e9, 2.0));
        let (mean, norm) = sparse_moments(&[3.0, 1.0], 4);
        assert_eq!((mean, norm), (1.0, 6.0));
    }
}
