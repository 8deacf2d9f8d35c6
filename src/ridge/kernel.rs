//! Kernels: similarities of rows in place of columns.
//!
//! Values are computed from the stored entries of rows: nothing is made dense but the result. Rows of
//! a model's basis meet the rows of other data in the same way.

use faer::linalg::matmul::matmul;
use faer::{Accum, Mat, Par};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use sprs::CsMatI;

use super::design::{LEAST_SQUARES, entries_of};
use super::error::TrainError;
use super::factor::{Eigen, Panel, Square, extreme_eigenvalues};
use super::weights::Weights;
use crate::data::Dataset;
use crate::interrupt::{check_interrupt, least_part};
use crate::linalg::kernels::add_scaled;
use crate::names::names;

/// The kernels, by the names that users give.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum KernelKind {
    /// `x . z`.
    #[default]
    Linear,
    /// `exp(-gamma |x - z|^2)`.
    Gaussian,
    /// `(gamma x . z + coef0)^degree`.
    Polynomial,
    /// The columns of the data are the kernel: column `j` has the values with row `j` of the training
    /// data, as they were before rows of a query were moved together.
    Precomputed,
}

names!(
    KernelKind,
    "kernel",
    Linear => "linear",
    Gaussian => "gaussian",
    Polynomial => "polynomial",
    Precomputed => "precomputed",
);

/// A kernel with its parameters.
///
/// ```
/// use rankrls::ridge::Kernel;
///
/// assert!(Kernel::gaussian(0.5).is_ok());
/// assert!(Kernel::gaussian(0.0).unwrap_err().to_string().contains("gamma"));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Kernel {
    kind: KernelKind,
    gamma: f64,
    coef0: f64,
    degree: u32,
}

/// How far a given kernel may be from symmetric, and below 0, as a share of its largest value.
const ROUNDING: f64 = 1e-8;

impl Kernel {
    /// `x . z`.
    pub const LINEAR: Self = Self {
        kind: KernelKind::Linear,
        gamma: 1.0,
        coef0: 0.0,
        degree: 1,
    };

    /// Columns that are the kernel themselves.
    pub const PRECOMPUTED: Self = Self {
        kind: KernelKind::Precomputed,
        ..Self::LINEAR
    };

    /// `exp(-gamma |x - z|^2)`.
    ///
    /// # Errors
    /// [`TrainError::Unexpected`] unless `gamma` is finite and above 0.
    pub fn gaussian(gamma: f64) -> Result<Self, TrainError> {
        let kind = KernelKind::Gaussian;
        Self {
            kind,
            gamma,
            ..Self::LINEAR
        }
        .checked()
    }

    /// `(gamma x . z + coef0)^degree`.
    ///
    /// # Errors
    /// [`TrainError::Unexpected`] unless `gamma` is finite and above 0, `coef0` finite and not below 0
    /// (the kernel would be indefinite), and `degree` above 0.
    pub fn polynomial(gamma: f64, coef0: f64, degree: u32) -> Result<Self, TrainError> {
        let kernel = Self {
            kind: KernelKind::Polynomial,
            gamma,
            coef0,
            degree,
        };
        kernel.checked()
    }

    /// This kernel, unless one of its parameters is out of range; parameters that it has no use for are
    /// as usual.
    pub(crate) fn checked(self) -> Result<Self, TrainError> {
        let Self {
            kind,
            gamma,
            coef0,
            degree,
        } = self;
        let refuse = |name: &str, expected: &str, found: f64| {
            let what = format!("{name} of the kernel");
            Err(TrainError::unexpected(
                what,
                format!("{expected}, found {found:?}"),
            ))
        };
        match kind {
            KernelKind::Linear | KernelKind::Precomputed => Ok(Self {
                kind,
                ..Self::LINEAR
            }),
            KernelKind::Polynomial if !(coef0.is_finite() && coef0 >= 0.0) => {
                refuse("coef0", "a finite number from 0 on", coef0)
            }
            KernelKind::Polynomial if degree == 0 => {
                refuse("degree", "a whole number above 0", 0.0)
            }
            _ if !(gamma.is_finite() && gamma > 0.0) => {
                refuse("gamma", "a finite number above 0", gamma)
            }
            KernelKind::Gaussian => Ok(Self {
                kind,
                gamma,
                ..Self::LINEAR
            }),
            KernelKind::Polynomial => Ok(self),
        }
    }

    /// Which one it is.
    pub fn kind(&self) -> KernelKind {
        self.kind
    }

    /// `gamma`, where it is a parameter of the kernel.
    pub fn gamma(&self) -> Option<f64> {
        matches!(self.kind, KernelKind::Gaussian | KernelKind::Polynomial).then_some(self.gamma)
    }

    /// Whether scores are linear in the columns of the data.
    pub fn is_linear(&self) -> bool {
        matches!(self.kind, KernelKind::Linear | KernelKind::Precomputed)
    }

    /// Weights of the columns of `dataset`, of a model under a kernel that is linear with these
    /// coefficients of its `rows`.
    pub(crate) fn weights(
        &self,
        dataset: &Dataset<'_>,
        rows: &[usize],
        coefficients: &[f64],
    ) -> Weights {
        let pairs = rows.iter().zip(coefficients);
        match self.kind {
            KernelKind::Precomputed => {
                let inputs = dataset.input_rows();
                let input = |row: usize| inputs.map_or(row_number(row), |inputs| inputs[row]);
                Weights::of(pairs.map(|(&row, value)| (input(row), *value)).collect())
            }
            KernelKind::Linear => {
                let mut of_row = vec![0.0; dataset.rows()];
                pairs.for_each(|(&row, value)| of_row[row] = *value);
                let weight = |position: usize| {
                    let entries = dataset.column(position).iter();
                    let weight = entries.map(|(row, value)| value * of_row[row]).sum();
                    (dataset.feature(position), weight)
                };
                Weights::of((0..dataset.stored_columns()).map(weight).collect())
            }
            KernelKind::Gaussian | KernelKind::Polynomial => Weights::default(),
        }
    }

    /// The value of rows with this product and these squared norms.
    fn value(&self, product: f64, norms: [f64; 2]) -> f64 {
        match self.kind {
            KernelKind::Linear | KernelKind::Precomputed => product,
            KernelKind::Gaussian => {
                let distance = norms[0] + norms[1] - 2.0 * product;
                let exponent = self.gamma * distance.max(0.0);
                // No number, rather than a kernel that knows equal rows alone.
                if exponent.is_finite() {
                    (-exponent).exp()
                } else {
                    f64::NAN
                }
            }
            KernelKind::Polynomial => {
                let base = self.gamma * product + self.coef0;
                base.powi(i32::try_from(self.degree).unwrap_or(i32::MAX))
            }
        }
    }

    /// The values of all pairs of rows of `dataset`: `m` x `m`. Columns that are the kernel are
    /// checked: square, finite, symmetric and without a negative eigenvalue, but for rounding.
    ///
    /// `O(sum over columns of squared entries + m^2)` time, `O(m^3)` for given columns.
    ///
    /// # Errors
    /// [`TrainError`] for values that are no finite numbers, and for a given matrix that is no
    /// kernel.
    pub fn matrix(&self, dataset: &Dataset<'_>) -> Result<KernelMatrix, TrainError> {
        if self.kind == KernelKind::Precomputed {
            return given(dataset).map(KernelMatrix);
        }
        let size = dataset.rows();
        let mut square = Square::zeros(size);
        self.fill(dataset, dataset, square.values_mut());
        check_finite(square.values(), size, |row| row)?;
        Ok(KernelMatrix(square))
    }

    /// Refuses a gamma with which a model of `matrix` could tell nothing of any row but those it has
    /// seen.
    pub(super) fn check_alike(&self, matrix: &KernelMatrix) -> Result<(), TrainError> {
        let (values, size) = (matrix.0.values(), matrix.rows());
        let alike = |(at, value): (usize, &f64)| at / size != at % size && *value > 0.0;
        if self.kind != KernelKind::Gaussian || size < 2 || values.iter().enumerate().any(alike) {
            return Ok(());
        }
        let expected = "a smaller number, as with it no two rows have a kernel above 0";
        let expected = format!("{expected}, found {:?}", self.gamma);
        Err(TrainError::unexpected("gamma of the kernel", expected))
    }

    /// Fills `values`, which are 0, with a column for each row of `dataset`: its values with the rows of
    /// `basis`.
    fn fill(&self, basis: &Dataset<'_>, dataset: &Dataset<'_>, values: &mut [f64]) {
        let (rows, own) = (Rows::new(dataset), Rows::new(basis));
        let columns = values.par_chunks_mut(basis.rows()).enumerate();
        columns.for_each(|(row, column)| {
            check_interrupt();
            own.kernel(self, rows.row(row), basis, column);
        });
    }

    /// Scores of the rows of `dataset` by a model with these `coefficients` of the rows of `basis`.
    ///
    /// `O(entries met)` time, memory of a row of the basis for each thread.
    pub(crate) fn scores(
        &self,
        basis: &Dataset<'_>,
        coefficients: &[f64],
        dataset: &Dataset<'_>,
    ) -> Vec<f64> {
        let (rows, own) = (Rows::new(dataset), Rows::new(basis));
        let all = (0..dataset.rows()).into_par_iter();
        let all = all.with_min_len(least_part(dataset.rows()));
        let scores = all.map_init(
            || vec![0.0; basis.rows()],
            |values, row| {
                check_interrupt();
                values.fill(0.0);
                own.kernel(self, rows.row(row), basis, values);
                values
                    .iter()
                    .zip(coefficients)
                    .map(|(value, c)| value * c)
                    .sum()
            },
        );
        scores.collect()
    }
}

/// A row as a 32-bit number, as data sets have them.
pub(super) fn row_number(row: usize) -> u32 {
    u32::try_from(row).unwrap_or(u32::MAX)
}

/// The columns of `dataset`, dense: as many as it has rows, in their order. Column `j` of the data
/// belongs to row `j` of the input.
fn given(dataset: &Dataset<'_>) -> Result<Square, TrainError> {
    let (size, columns) = (dataset.rows(), dataset.width());
    if columns != size {
        return Err(TrainError::unexpected(
            format!("the kernel has {size} rows and {columns} columns"),
            "a column for each row, as the columns are the kernel",
        ));
    }
    let mut square = Square::zeros(size);
    let places = dataset.rows_of_input();
    for position in 0..dataset.stored_columns() {
        let column = places[dataset.feature(position) as usize] as usize;
        for (row, value) in dataset.column(position).iter() {
            square.values_mut()[column * size + row] = value;
        }
    }
    check_given(&square)?;
    Ok(square)
}

/// Refuses a value of a row and another, which is `height` values on, that is no finite number.
fn check_finite(
    values: &[f64],
    height: usize,
    row: impl Fn(usize) -> usize,
) -> Result<(), TrainError> {
    let Some(place) = values.iter().position(|value| !value.is_finite()) else {
        return Ok(());
    };
    Err(TrainError::Overflow {
        row: row(place % height) + 1,
        other: place / height + 1,
    })
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
        let digits = (1..=*Self::DIGITS.end()).find(|&d| values.iter().all(|value| has(d, value)));
        let digits = digits.filter(|digits| Self::DIGITS.contains(digits));
        digits.map_or(Self::Double, |digits| {
            Self::Decimal(0.5 * 10f64.powi(1 - digits))
        })
    }

    /// How far apart two values may be that are equal, as a share of the largest.
    fn of_values(self) -> f64 {
        ROUNDING.max(match self {
            Self::Double => 0.0,
            Self::Single => Self::TERMS as f64 * f64::from(f32::EPSILON),
            Self::Decimal(share) => 2.0 * share,
        })
    }

    /// How far below 0 an eigenvalue of so many rows may be that is 0: random changes of all values by a
    /// share of `value`, the largest, move it by some root of the rows times that, and the rounding of
    /// sums moves it by the rows times a share of `eigenvalue`, the largest.
    fn of_eigenvalues(self, rows: usize, value: f64, eigenvalue: f64) -> f64 {
        let single = f64::from(f32::EPSILON) * rows.max(Self::TERMS) as f64 * eigenvalue;
        match self {
            Self::Double => ROUNDING * eigenvalue,
            Self::Single => single,
            Self::Decimal(share) => single.max(2.0 * share * value * (rows as f64).sqrt()),
        }
    }
}

fn check_given(square: &Square) -> Result<(), TrainError> {
    let (size, values) = (square.size(), square.values());
    check_finite(values, size, |row| row)?;
    let largest = |most: f64, value: &f64| most.max(value.abs());
    let largest = values.iter().fold(0.0, largest);
    let rounded = Rounded::of(values);
    let tolerance = rounded.of_values() * largest;
    for column in 0..size {
        for row in column + 1..size {
            let [value, mirrored] = [square.value(row, column), square.value(column, row)];
            if (value - mirrored).abs() > tolerance {
                return Err(TrainError::Asymmetric {
                    row: row + 1,
                    column: column + 1,
                    value,
                    mirrored,
                });
            }
        }
    }
    match extreme_eigenvalues(square) {
        Some([least, most]) if least < -rounded.of_eigenvalues(size, largest, most.abs()) => {
            let largest = most;
            Err(TrainError::Indefinite { least, largest })
        }
        _ => Ok(()),
    }
}

/// The entries of a data set by row, and the squared norms of the rows.
struct Rows {
    entries: CsMatI<f64, u32, usize>,
    norms: Vec<f64>,
    features: Vec<u32>,
}

impl Rows {
    fn new(dataset: &Dataset<'_>) -> Self {
        let entries = dataset.x().to_other_storage();
        let norm = |row| entries_of(&entries, row).1.iter().map(|v| v * v).sum();
        let columns = 0..dataset.stored_columns();
        Self {
            norms: (0..dataset.rows()).map(norm).collect(),
            features: columns.map(|position| dataset.feature(position)).collect(),
            entries,
        }
    }

    /// A row: its features, ascending, with their values, and the squared norm.
    fn row(&self, row: usize) -> (impl Iterator<Item = (u32, f64)>, f64) {
        let (positions, values) = entries_of(&self.entries, row);
        let features = positions.iter();
        let features = features.map(|&position| self.features[position as usize]);
        (features.zip(values.iter().copied()), self.norms[row])
    }

    /// Fills `slots`, which are 0, with the kernel of another row and each row of `dataset`, whose rows
    /// these are.
    fn kernel(
        &self,
        kernel: &Kernel,
        (entries, norm): (impl Iterator<Item = (u32, f64)>, f64),
        dataset: &Dataset<'_>,
        slots: &mut [f64],
    ) {
        for (feature, value) in entries {
            let Some(position) = dataset.position(feature) else {
                continue;
            };
            for (row, own) in dataset.column(position).iter() {
                slots[row] += value * own;
            }
        }
        for (slot, &own) in slots.iter_mut().zip(&self.norms) {
            *slot = kernel.value(*slot, [own, norm]);
        }
    }
}

/// The values of a kernel for all pairs of rows of a data set, both triangles.
#[derive(Debug, Clone)]
pub struct KernelMatrix(Square);

impl KernelMatrix {
    /// Rows, and columns.
    pub fn rows(&self) -> usize {
        self.0.size()
    }

    /// Bytes held.
    pub fn memory(&self) -> u64 {
        size_of_val(self.0.values()) as u64
    }

    pub(super) fn into_square(self) -> Square {
        self.0
    }
}

/// The reduced set method: a model over the kernel with some rows alone, the basis.
///
/// Let `K_bb = U diag(s) U'` be the kernel matrix of the basis. The data are mapped to
/// `Phi = K_mb U diag(s)^-1/2`, a column for each eigenvalue that is not rounding: RankRLS
/// on these columns minimises over all `f = sum_b a_b k(x_b, .)`, and `a = U diag(s)^-1/2 w`.
/// Everything that linear RankRLS has is there: all solvers, objectives and hold-outs, which keep the
/// basis whatever they hold out.
#[derive(Debug)]
pub struct ReducedSet {
    /// The rows of the basis, 0-based, ascending.
    rows: Vec<usize>,
    /// `U diag(s)^-1/2`: basis x columns.
    map: Mat<f64>,
    /// The data, mapped.
    mapped: Dataset<'static>,
}

impl ReducedSet {
    /// Maps `dataset` by `rows` of it, 0-based, under `kernel`. Of given kernels, `dataset` has the
    /// columns of the basis among all.
    ///
    /// `O(m b^2 + b^3)` time for `b` rows, `O(m b)` memory.
    ///
    /// # Errors
    /// [`TrainError::Unexpected`] for no rows, a row that is not there or is there twice; else as
    /// [`Kernel::matrix`].
    pub fn new(dataset: &Dataset<'_>, kernel: &Kernel, rows: &[usize]) -> Result<Self, TrainError> {
        let count = dataset.rows();
        let mut seen = vec![false; count];
        let wrong = rows.iter().find_map(|&row| match seen.get_mut(row) {
            Some(seen) => {
                let again = format!("each row once, row {} is twice in it", row + 1);
                std::mem::replace(seen, true).then_some(again)
            }
            None => Some(format!("rows from 1 to {count}, found {}", row + 1)),
        });
        let size = format!("from 1 to {count}, the rows of the data");
        let size = (rows.is_empty() || rows.len() > count).then_some(size);
        if let Some(expected) = size.or(wrong) {
            let what = format!("a basis of {} rows", rows.len());
            return Err(TrainError::unexpected(what, expected));
        }
        // In the order of the data.
        let rows: Vec<usize> = (0..count).filter(|&row| seen[row]).collect();
        let (mut own, mut all) = (Square::zeros(rows.len()), Panel::zeros(rows.len(), count));
        if kernel.kind == KernelKind::Precomputed {
            let values = given(dataset)?;
            for (row, column) in all.columns_mut().enumerate() {
                let values = rows.iter().map(|&basis| values.value(row, basis));
                column
                    .iter_mut()
                    .zip(values)
                    .for_each(|(slot, value)| *slot = value);
            }
        } else {
            let basis = dataset.rows_subset(&rows)?;
            kernel.fill(&basis, dataset, all.values_mut());
        }
        check_finite(all.values_mut(), rows.len(), |row| rows[row])?;
        let all = all.matrix();
        for (column, &row) in own.values_mut().chunks_mut(rows.len()).zip(&rows) {
            let values = column.iter_mut().zip(all.col(row).iter());
            values.for_each(|(slot, value)| *slot = *value);
        }
        let eigen = Eigen::new(&own).ok_or(TrainError::Overflow { row: 1, other: 1 })?;
        if eigen.largest() < LEAST_SQUARES {
            return Err(TrainError::ConstantKernel);
        }
        let least = rows.len() as f64 * f64::EPSILON * eigen.largest();
        let map = eigen.scaled_vectors(least, |value| 1.0 / value.sqrt());
        let mut mapped = Mat::zeros(count, map.ncols());
        let replace = Accum::Replace;
        matmul(
            mapped.as_mut(),
            replace,
            all.transpose(),
            &map,
            1.0,
            Par::Seq,
        );
        let mapped = dense_dataset(&mapped, dataset)?;
        Ok(Self { rows, map, mapped })
    }

    /// The data, mapped: labels and queries are those of the data.
    pub fn mapped(&self) -> &Dataset<'static> {
        &self.mapped
    }

    /// Coefficients of the rows of the basis, in order, from weights of the mapped columns.
    pub fn coefficients(&self, weights: &Weights) -> Vec<f64> {
        let mut coefficients = vec![0.0; self.map.nrows()];
        for (&feature, weight) in weights.features.iter().zip(&weights.values) {
            let column = self.map.col_as_slice(feature as usize);
            add_scaled(&mut coefficients, *weight, column);
        }
        coefficients
    }

    /// The rows of the basis, 0-based, ascending.
    pub fn rows(&self) -> &[usize] {
        &self.rows
    }
}

/// All values as columns, with labels and queries of `dataset`.
fn dense_dataset(values: &Mat<f64>, dataset: &Dataset<'_>) -> Result<Dataset<'static>, TrainError> {
    let (rows, columns) = values.shape();
    let indptr: Vec<usize> = (0..=columns).map(|column| column * rows).collect();
    let indices: Vec<u32> = (0..columns).flat_map(|_| 0..row_number(rows)).collect();
    let values = (0..columns).flat_map(|column| values.col_as_slice(column));
    let (labels, queries) = (dataset.labels().to_vec(), dataset.queries().clone());
    let values: Vec<f64> = values.copied().collect();
    Ok(Dataset::from_csc(indptr, indices, values, labels, queries)?)
}

#[cfg(test)]
mod tests {
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;

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
        let product = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
        let rows = all.iter();
        rows.map(|a| all.iter().map(|b| product(a, b)).collect())
            .collect()
    }

    fn checked(kernel: &[Vec<f64>], round: impl Fn(f64) -> f64) -> Result<(), TrainError> {
        let mut square = Square::zeros(kernel.len());
        let values = kernel.iter().flatten().map(|&value| round(value));
        square
            .values_mut()
            .copy_from_slice(&values.collect::<Vec<f64>>());
        check_given(&square)
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
                assert!(
                    matches!(error, TrainError::Indefinite { .. }),
                    "{rows}: {error}"
                );
                assert!(error.to_string().contains("add "), "{error}");
            }
        }
        let whole = vec![vec![0.0, 1.0], vec![1.0, 0.0]];
        assert!(checked(&whole, |value| value).is_err());
        let lopsided = vec![vec![1.0, 0.25], vec![0.2, 1.0]];
        for round in [&|value| value, &single as &dyn Fn(f64) -> f64] {
            let error = checked(&lopsided, round).unwrap_err();
            assert!(matches!(error, TrainError::Asymmetric { .. }), "{error}");
        }
    }
}
