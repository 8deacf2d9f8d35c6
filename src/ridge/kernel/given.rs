//! Kernels that are given: what deserves the name, but for rounding.

use super::{check_finite, named};
use crate::data::{Dataset, IndexBase};
use crate::error::{Error, Result};
use crate::linalg::eigen::extreme_eigenvalues;
use crate::linalg::factor::{Cholesky, Square};
use crate::stop;

/// How far a given kernel may be from symmetric, and below 0, as a share of its largest value.
const ROUNDING: f64 = 1e-8;

/// The columns of `dataset`, dense: as many as it has rows, in their order. Column `j` of the data
/// belongs to row `j` of the input.
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

/// How values of a given kernel were rounded before they came here, each by some share of the largest.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Rounded {
    /// Not, but for the last digits of a double.
    Double,
    /// To single precision: sums of many terms, with the rounding of each.
    Single,
    /// To this share, as a file with few decimal digits has them.
    Decimal(f64),
}

impl Rounded {
    /// Numbers that a value is a sum of, where they are more than its rows.
    const TERMS: usize = 64;

    /// Decimal digits of values that were rounded to so many. Values of one or two digits are taken for
    /// what they are.
    const DIGITS: std::ops::RangeInclusive<i32> = 3..=9;

    /// The property that all the values have in common.
    fn of(values: &[f64]) -> Self {
        /// The digits that a sum of two numbers of single precision lacks.
        const ABSENT: u64 = (1 << 26) - 1;
        let whole = |value: &f64| value.fract() == 0.0;
        let single = |value: &f64| value.to_bits() & ABSENT == 0;
        if values.iter().all(single) {
            return if values.iter().all(whole) {
                Self::Double
            } else {
                Self::Single
            };
        }
        let has = |digits: i32, value: &f64| {
            let places = usize::try_from(digits - 1).unwrap_or(0);
            format!("{value:.places$e}").parse() == Ok(*value)
        };
        let fewest = (1..=*Self::DIGITS.end()).find(|&d| values.iter().all(|value| has(d, value)));
        match fewest {
            Some(digits) if Self::DIGITS.contains(&digits) => {
                Self::Decimal(0.5 * 10f64.powi(1 - digits))
            }
            _ => Self::Double,
        }
    }

    /// How far apart two values may be that are equal, as a share of the largest.
    fn of_values(self) -> f64 {
        ROUNDING.max(match self {
            Self::Double => 0.0,
            Self::Single => Self::TERMS as f64 * f64::from(f32::EPSILON),
            Self::Decimal(share) => 2.0 * share,
        })
    }

    /// How negative an eigenvalue of 0 may become by rounding. `value` is the largest value, `eigenvalue` the
    /// largest eigenvalue. Rounding each value by a share of `value` moves it by about `sqrt(rows)` times
    /// that; rounding of sums moves it by about `rows` times a share of `eigenvalue`.
    fn of_eigenvalues(self, rows: usize, value: f64, eigenvalue: f64) -> f64 {
        let single = f64::from(f32::EPSILON) * rows.max(Self::TERMS) as f64 * eigenvalue;
        match self {
            Self::Double => ROUNDING * eigenvalue,
            Self::Single => single,
            Self::Decimal(share) => single.max(2.0 * share * value * (rows as f64).sqrt()),
        }
    }
}

/// Refuses what is no kernel. `name` has the numbers of rows for people.
fn check_given(square: &Square, name: impl Fn(usize) -> usize) -> Result<()> {
    let (size, values) = (square.size(), square.values());
    check_finite(values, size, |row, other| [name(row), name(other)])?;
    let larger = |most: f64, value: &f64| most.max(value.abs());
    let largest = values.iter().fold(0.0, larger);
    let rounded = Rounded::of(values);
    let tolerance = rounded.of_values() * largest;
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
    // Its factor is found sooner than its eigenvalues. The largest of these is no less than a value on the diagonal,
    // or than the mean sum of a row.
    let diagonal = values.iter().copied().step_by(size + 1).fold(0.0, f64::max);
    let most = diagonal.max(values.iter().sum::<f64>() / size as f64);
    if Cholesky::new(square, rounded.of_eigenvalues(size, largest, most)).is_some() {
        return Ok(());
    }
    stop::check()?;
    match extreme_eigenvalues(square) {
        Some([least, most]) if least < -rounded.of_eigenvalues(size, largest, most.abs()) => {
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

    fn decimal(places: usize) -> impl Fn(f64) -> f64 {
        move |value| format!("{value:.places$}").parse().unwrap()
    }

    fn significant(places: usize) -> impl Fn(f64) -> f64 {
        move |value| format!("{value:.places$e}").parse().unwrap()
    }

    /// Rounding makes eigenvalues of 0 negative, which is no indefiniteness.
    #[test]
    fn rounding_of_the_type_that_a_kernel_comes_in_is_none_of_it() {
        for (rows, width) in [(20, 3), (100, 8), (150, 150), (200, 30)] {
            let kernel = cosines(rows, width);
            assert_eq!(checked(&kernel, |value| value), Ok(()));
            assert_eq!(checked(&kernel, single), Ok(()));
            for places in 3..10 {
                assert_eq!(checked(&kernel, decimal(places)), Ok(()), "{rows} {places}");
                assert_eq!(
                    checked(&kernel, significant(places)),
                    Ok(()),
                    "{rows} {places}"
                );
            }
        }
    }

    /// An eigenvalue below 0 by more than rounding is refused in every type, with what mends it.
    #[test]
    fn what_is_indefinite_is_refused_in_every_type() {
        for rows in [2, 20, 100] {
            let mut kernel = cosines(rows, rows / 2);
            for (row, values) in kernel.iter_mut().enumerate() {
                values[row] -= 0.1 + f64::EPSILON;
            }
            for round in [&|value| value, &single as &dyn Fn(f64) -> f64, &decimal(6)] {
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
