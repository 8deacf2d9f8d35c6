//! Given kernels: checks that they are symmetric and have no negative eigenvalue, up to rounding.

use super::{check_finite, named};
use crate::data::{Dataset, IndexBase};
use crate::error::{Error, Result};
use crate::linalg::eigen::extreme_eigenvalues;
use crate::linalg::factor::{Cholesky, Square};
use crate::linalg::kernels::largest;
use crate::stop;

/// The largest difference between two values of a symmetric kernel, as a share of the largest value. Rounding to
/// six digits, or the sums of single precision, cause as much.
const SYMMETRIC: f64 = 1e-6;

/// How far below 0 an eigenvalue may be for each row, as a share of the largest. Rounding each value by a share of
/// itself moves eigenvalues by at most this share times the rows.
const DEFINITE: f64 = 1e-6;

/// The columns of `dataset`, dense: as many as rows, in their order. Column `j` of the data belongs to row `j` of
/// the input.
pub(super) fn given(dataset: &Dataset<'_>, base: IndexBase) -> Result<Square> {
    let (size, columns) = (dataset.rows(), dataset.width());
    if columns != size {
        return Err(Error::data(format!(
            "the kernel has {size} rows and {columns} columns: expected a column for each row, as the columns are the kernel"
        )));
    }
    let mut square = Square::zeros(size);
    let places = dataset.rows_of_input();
    for position in 0..dataset.stored_columns() {
        let column = places[dataset.feature(position) as usize] as usize;
        for (row, value) in dataset.column(position).iter() {
            square.values_mut()[column * size + row] = value;
        }
    }
    check_given(&square, |row| named(dataset, base, row))?;
    Ok(square)
}

/// Refuses a matrix that is no kernel. `name` returns the number of a row for people.
fn check_given(square: &Square, name: impl Fn(usize) -> usize) -> Result<()> {
    let (size, values) = (square.size(), square.values());
    check_finite(values, size, |row, other| [name(row), name(other)])?;
    let tolerance = SYMMETRIC * largest(values);
    for column in 0..size {
        for row in column + 1..size {
            let [value, mirrored] = [square.value(row, column), square.value(column, row)];
            if (value - mirrored).abs() > tolerance {
                let [row, column] = [name(row), name(column)];
                return Err(Error::data(format!(
                    "the kernel is not symmetric: it has {value:?} in row {row}, column {column} and {mirrored:?} in row {column}, column {row}"
                )));
            }
        }
    }
    // A factor takes less time than eigenvalues. The largest eigenvalue is at least any value on the diagonal, and
    // at least the mean sum of a row.
    let diagonal = values.iter().copied().step_by(size + 1).fold(0.0, f64::max);
    let most = diagonal.max(values.iter().sum::<f64>() / size as f64);
    let share = DEFINITE * size as f64;
    if Cholesky::new(square, share * most).is_some() {
        return Ok(());
    }
    stop::check()?;
    match extreme_eigenvalues(square) {
        Some([least, most]) if least < -share * most.abs() => {
            let shift = -least;
            Err(Error::data(format!(
                "the kernel is indefinite: its least eigenvalue is {least:.3e}, its largest {most:.3e}; expected no eigenvalue below 0 but for rounding; add {shift:.1e} to its diagonal, which makes it a kernel"
            )))
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use rand::rngs::ChaCha8Rng;
    use rand::{RngExt, SeedableRng};

    use super::*;

    /// Cosines of `rows` random rows of `width` numbers: of rank `width`.
    fn cosines(rows: usize, width: usize) -> Vec<Vec<f64>> {
        let mut random = ChaCha8Rng::seed_from_u64(11);
        let row = |_| {
            let values: Vec<f64> = (0..width).map(|_| random.random_range(-0.5..1.0)).collect();
            let norm = values.iter().map(|v| v * v).sum::<f64>().sqrt();
            values.iter().map(|v| v / norm).collect::<Vec<f64>>()
        };
        let all: Vec<Vec<f64>> = (0..rows).map(row).collect();
        let product = |x: &[f64], z: &[f64]| x.iter().zip(z).map(|(a, b)| a * b).sum::<f64>();
        let values = |x: &Vec<f64>| all.iter().map(|z| product(x, z)).collect();
        all.iter().map(values).collect()
    }

    fn checked(kernel: &[Vec<f64>], round: impl Fn(f64) -> f64) -> Result<()> {
        let mut square = Square::zeros(kernel.len());
        let values = kernel.iter().flatten().map(|&value| round(value));
        square
            .values_mut()
            .copy_from_slice(&values.collect::<Vec<f64>>());
        check_given(&square, |row| row)
    }

    #[expect(clippy::cast_possible_truncation, reason = "as embeddings are")]
    fn single(value: f64) -> f64 {
        f64::from(value as f32)
    }

    fn decimal(value: f64) -> f64 {
        format!("{value:.6}").parse().unwrap()
    }

    /// Rounding makes eigenvalues of 0 negative, which is no fault.
    #[test]
    fn kernels_may_be_rounded_to_six_digits() {
        for (rows, width) in [(20, 3), (100, 8), (150, 150), (200, 30)] {
            let kernel = cosines(rows, width);
            assert_eq!(checked(&kernel, |value| value), Ok(()));
            assert_eq!(checked(&kernel, single), Ok(()));
            assert_eq!(checked(&kernel, decimal), Ok(()), "{rows}");
        }
    }

    /// An eigenvalue below 0 by more than rounding is refused in every type, with the remedy.
    #[test]
    fn what_is_indefinite_is_refused_in_every_type() {
        for rows in [2, 20, 100] {
            let mut kernel = cosines(rows, rows / 2);
            for (row, values) in kernel.iter_mut().enumerate() {
                values[row] -= 0.1 + f64::EPSILON;
            }
            for round in [&|value| value, &single as &dyn Fn(f64) -> f64, &decimal] {
                let error = checked(&kernel, round).unwrap_err();
                let text = error.to_string();
                assert!(
                    text.starts_with("the kernel is indefinite"),
                    "{rows}: {text}"
                );
                assert!(text.contains("add "), "{text}");
            }
        }
        let whole = vec![vec![0.0, 1.0], vec![1.0, 0.0]];
        assert!(checked(&whole, |value| value).is_err());
        let lopsided = vec![vec![1.0, 0.25], vec![0.2, 1.0]];
        for round in [&|value| value, &single as &dyn Fn(f64) -> f64] {
            let error = checked(&lopsided, round).unwrap_err();
            let start = "the kernel is not symmetric";
            assert!(error.to_string().starts_with(start), "{error}");
        }
    }
}
