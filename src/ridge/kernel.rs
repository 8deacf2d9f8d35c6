//! Kernels: similarities of rows in place of columns.
//!
//! Values are computed from the stored entries of rows: nothing is made dense but the result. Rows of
//! a model's basis meet the rows of other data in the same way.

use faer::linalg::matmul::matmul;
use faer::{Accum, Mat, MatRef, Par};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::factor::{Eigen, Square, extreme_eigenvalues};
use crate::data::{Dataset, DatasetError, Queries};
use crate::interrupt::heed;
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

/// Why a kernel, or the values of one, are none.
#[derive(Debug, Clone, PartialEq, Error)]
#[non_exhaustive]
pub enum KernelError {
    /// A parameter out of its range.
    #[error("{name} of the kernel: expected {expected}, found {found:?}")]
    Parameter {
        /// Its name.
        name: &'static str,
        /// Its range.
        expected: &'static str,
        /// What it was.
        found: f64,
    },
    /// A value that is no finite number.
    #[error(
        "the kernel of rows {row} and {other} is beyond all numbers: scale the data, or take a smaller gamma or degree"
    )]
    NotFinite {
        /// A row, counted from 1.
        row: usize,
        /// Another one.
        other: usize,
    },
    /// A given matrix of another shape.
    #[error("the kernel has {rows} rows and {columns} columns: expected {expected}")]
    Shape {
        /// Its rows.
        rows: usize,
        /// Its columns.
        columns: usize,
        /// What it has to have.
        expected: String,
    },
    /// A given matrix that is not symmetric.
    #[error(
        "the kernel is not symmetric: it has {value:?} in row {row}, column {column} and {mirrored:?} in row {column}, column {row}"
    )]
    Asymmetric {
        /// A row, counted from 1.
        row: usize,
        /// A column, counted from 1.
        column: usize,
        /// The value there.
        value: f64,
        /// The value in the mirrored place.
        mirrored: f64,
    },
    /// A given matrix that is indefinite.
    #[error(
        "the kernel is indefinite: its least eigenvalue is {least:.3e}, its largest {largest:.3e}; expected no eigenvalue below 0 but for rounding"
    )]
    Indefinite {
        /// The least eigenvalue.
        least: f64,
        /// The largest one.
        largest: f64,
    },
    /// A basis that the data do not have.
    #[error("a basis of {found} rows: expected {expected}")]
    Basis {
        /// Rows asked for, or a row.
        found: usize,
        /// What there is.
        expected: String,
    },
    /// A restricted data set that cannot be made.
    #[error(transparent)]
    Data(#[from] DatasetError),
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
    /// [`KernelError::Parameter`] unless `gamma` is finite and above 0.
    pub fn gaussian(gamma: f64) -> Result<Self, KernelError> {
        Ok(Self {
            kind: KernelKind::Gaussian,
            gamma: check_gamma(gamma)?,
            ..Self::LINEAR
        })
    }

    /// `(gamma x . z + coef0)^degree`.
    ///
    /// # Errors
    /// [`KernelError::Parameter`] unless `gamma` is finite and above 0, `coef0` finite and not below 0
    /// (the kernel would be indefinite), and `degree` above 0.
    pub fn polynomial(gamma: f64, coef0: f64, degree: u32) -> Result<Self, KernelError> {
        let refuse = |name, expected, found| {
            Err(KernelError::Parameter {
                name,
                expected,
                found,
            })
        };
        if !(coef0.is_finite() && coef0 >= 0.0) {
            return refuse("coef0", "a finite number from 0 on", coef0);
        }
        if degree == 0 {
            return refuse("degree", "a whole number above 0", 0.0);
        }
        Ok(Self {
            kind: KernelKind::Polynomial,
            gamma: check_gamma(gamma)?,
            coef0,
            degree,
        })
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
    ) -> super::Weights {
        if self.kind == KernelKind::Precomputed {
            let input = |&row: &usize| {
                let rows = dataset.input_rows();
                rows.map_or(row_number(row), |rows| rows[row])
            };
            let mut weights: Vec<(u32, f64)> = rows
                .iter()
                .map(input)
                .zip(coefficients.iter().copied())
                .collect();
            weights.sort_unstable_by_key(|&(feature, _)| feature);
            let (features, values) = weights.into_iter().unzip();
            return super::Weights { features, values };
        }
        if self.kind != KernelKind::Linear {
            return super::Weights::default();
        }
        let mut of_row = vec![0.0; dataset.rows()];
        for (&row, coefficient) in rows.iter().zip(coefficients) {
            of_row[row] = *coefficient;
        }
        let weight = |position: usize| -> f64 {
            let entries = dataset.column(position).iter();
            entries.map(|(row, value)| value * of_row[row]).sum()
        };
        let columns = 0..dataset.stored_columns();
        super::Weights {
            features: columns
                .clone()
                .map(|position| dataset.feature(position))
                .collect(),
            values: columns.map(weight).collect(),
        }
    }

    /// The same kernel after checks, for parameters that were read.
    pub(crate) fn checked(self) -> Result<Self, KernelError> {
        match self.kind {
            KernelKind::Gaussian => Self::gaussian(self.gamma),
            KernelKind::Polynomial => Self::polynomial(self.gamma, self.coef0, self.degree),
            KernelKind::Linear => Ok(Self::LINEAR),
            KernelKind::Precomputed => Ok(Self::PRECOMPUTED),
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
    /// [`KernelError`] for values that are no finite numbers, and for a given matrix that is no
    /// kernel.
    pub fn matrix(&self, dataset: &Dataset<'_>) -> Result<KernelMatrix, KernelError> {
        let size = dataset.rows();
        if self.kind == KernelKind::Precomputed {
            let given = given(dataset, size)?;
            check_given(&given)?;
            return Ok(KernelMatrix(given));
        }
        let values = Rows::new(dataset);
        let mut square = Square::zeros(size);
        let columns = square.values_mut().par_chunks_mut(size).enumerate();
        columns.for_each(|(row, column)| {
            heed();
            values.kernel(self, values.row(row), dataset, column);
        });
        check_finite(square.values(), size)?;
        Ok(KernelMatrix(square))
    }

    /// Refuses a gamma with which a model of `matrix` could tell nothing of any row but those it has
    /// seen.
    pub(super) fn check_alike(&self, matrix: &KernelMatrix) -> Result<(), KernelError> {
        let (values, size) = (matrix.0.values(), matrix.rows());
        let alike = |(at, value): (usize, &f64)| at / size != at % size && *value > 0.0;
        if self.kind != KernelKind::Gaussian || size < 2 || values.iter().enumerate().any(alike) {
            return Ok(());
        }
        Err(KernelError::Parameter {
            name: "gamma",
            expected: "a smaller number, as with it no two rows have a kernel above 0",
            found: self.gamma,
        })
    }

    /// The values of the rows of `dataset` (columns of the result) with those of `basis` (rows).
    pub(super) fn between(&self, basis: &Dataset<'_>, dataset: &Dataset<'_>) -> Mat<f64> {
        let (rows, own) = (Rows::new(dataset), Rows::new(basis));
        let mut values = vec![0.0; basis.rows() * dataset.rows()];
        let columns = values.par_chunks_mut(basis.rows()).enumerate();
        columns.for_each(|(row, column)| {
            heed();
            own.kernel(self, rows.row(row), basis, column);
        });
        MatRef::from_column_major_slice(&values, basis.rows(), dataset.rows()).to_owned()
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
        let scores = all.map_init(
            || vec![0.0; basis.rows()],
            |values, row| {
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

fn check_gamma(gamma: f64) -> Result<f64, KernelError> {
    if gamma.is_finite() && gamma > 0.0 {
        return Ok(gamma);
    }
    Err(KernelError::Parameter {
        name: "gamma",
        expected: "a finite number above 0",
        found: gamma,
    })
}

/// The columns of `dataset`, dense: as many as it has rows, in their order. Column `j` of the data
/// belongs to row `j` of the input.
fn given(dataset: &Dataset<'_>, size: usize) -> Result<Square, KernelError> {
    if dataset.width() != size {
        return Err(KernelError::Shape {
            rows: size,
            columns: dataset.width(),
            expected: "a column for each row, as the columns are the kernel".to_owned(),
        });
    }
    let mut square = Square::zeros(size);
    let mut places: Vec<usize> = (0..size).collect();
    for (place, &row) in dataset.input_rows().into_iter().flatten().enumerate() {
        places[row as usize] = place;
    }
    for position in 0..dataset.stored_columns() {
        let column = places[dataset.feature(position) as usize];
        for (row, value) in dataset.column(position).iter() {
            square.values_mut()[column * size + row] = value;
        }
    }
    Ok(square)
}

fn check_finite(values: &[f64], size: usize) -> Result<(), KernelError> {
    let Some(place) = values.iter().position(|value| !value.is_finite()) else {
        return Ok(());
    };
    Err(KernelError::NotFinite {
        row: place % size + 1,
        other: place / size + 1,
    })
}

fn check_given(square: &Square) -> Result<(), KernelError> {
    let (size, values) = (square.size(), square.values());
    check_finite(values, size)?;
    let largest = values
        .iter()
        .fold(0.0_f64, |most, value| most.max(value.abs()));
    for column in 0..size {
        for row in column + 1..size {
            let [value, mirrored] = [values[column * size + row], values[row * size + column]];
            if (value - mirrored).abs() > ROUNDING * largest {
                return Err(KernelError::Asymmetric {
                    row: row + 1,
                    column: column + 1,
                    value,
                    mirrored,
                });
            }
        }
    }
    match extreme_eigenvalues(square) {
        Some([least, largest]) if least < -ROUNDING * largest.abs() => {
            Err(KernelError::Indefinite { least, largest })
        }
        _ => Ok(()),
    }
}

/// The entries of a data set by row, and the squared norms of the rows.
struct Rows {
    starts: Vec<usize>,
    features: Vec<u32>,
    values: Vec<f64>,
    norms: Vec<f64>,
}

/// A row: features, ascending, their values, and the squared norm.
type Row<'a> = (&'a [u32], &'a [f64], f64);

impl Rows {
    fn new(dataset: &Dataset<'_>) -> Self {
        let by_row = dataset.x().to_other_storage();
        let (starts, positions, values) = by_row.into_raw_storage();
        let features = positions
            .iter()
            .map(|&position| dataset.feature(position as usize));
        let norms = starts.windows(2);
        let norms = norms.map(|range| values[range[0]..range[1]].iter().map(|v| v * v).sum());
        Self {
            norms: norms.collect(),
            features: features.collect(),
            starts,
            values,
        }
    }

    fn row(&self, row: usize) -> Row<'_> {
        let range = self.starts[row]..self.starts[row + 1];
        (
            &self.features[range.clone()],
            &self.values[range],
            self.norms[row],
        )
    }

    /// Fills `slots`, which are 0, with the kernel of `other` and each row of `dataset`, whose rows
    /// these are.
    fn kernel(&self, kernel: &Kernel, other: Row<'_>, dataset: &Dataset<'_>, slots: &mut [f64]) {
        let (features, values, norm) = other;
        for (&feature, value) in features.iter().zip(values) {
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
/// With `K_bb = U diag(s) U'` for the basis, the data are mapped to `Phi = K_mb U diag(s)^-1/2`, a
/// column for each eigenvalue that is not rounding: RankRLS on these columns minimises over all
/// `f = sum_b a_b k(x_b, .)`, and `a = U diag(s)^-1/2 w`. Everything that linear RankRLS has is there:
/// all solvers, objectives and hold-outs, which keep the basis whatever they hold out.
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
    /// [`KernelError::Basis`] for no rows, a row that is not there or is there twice; else as
    /// [`Kernel::matrix`].
    pub fn new(
        dataset: &Dataset<'_>,
        kernel: &Kernel,
        rows: &[usize],
    ) -> Result<Self, KernelError> {
        let refuse = |found, expected: String| Err(KernelError::Basis { found, expected });
        if rows.is_empty() || rows.len() > dataset.rows() {
            return refuse(
                rows.len(),
                format!("from 1 to {}, the rows of the data", dataset.rows()),
            );
        }
        let mut seen = vec![false; dataset.rows()];
        for &row in rows {
            match seen.get_mut(row) {
                Some(seen) if !*seen => *seen = true,
                Some(_) => {
                    return refuse(
                        rows.len(),
                        format!("each row once, row {} is twice in it", row + 1),
                    );
                }
                None => {
                    let message = format!("rows from 1 to {}, found {}", dataset.rows(), row + 1);
                    return refuse(rows.len(), message);
                }
            }
        }
        // In the order of the data.
        let rows: Vec<usize> = (0..dataset.rows()).filter(|&row| seen[row]).collect();
        let basis = dataset.rows_subset(&rows)?;
        let (own, all) = if kernel.kind == KernelKind::Precomputed {
            let all = given(dataset, dataset.rows())?;
            check_given(&all)?;
            let values = all.matrix();
            let own = Mat::from_fn(rows.len(), rows.len(), |a, b| values[(rows[a], rows[b])]);
            let all = Mat::from_fn(rows.len(), dataset.rows(), |a, row| values[(row, rows[a])]);
            (own, all)
        } else {
            (
                kernel.between(&basis, &basis),
                kernel.between(&basis, dataset),
            )
        };
        for values in [&own, &all] {
            for (column, values) in values.col_iter().enumerate() {
                if let Some(row) = values.iter().position(|value| !value.is_finite()) {
                    return Err(KernelError::NotFinite {
                        row: rows[row] + 1,
                        other: column + 1,
                    });
                }
            }
        }
        let mut square = Square::zeros(rows.len());
        square.matrix_mut().copy_from(&own);
        let eigen = Eigen::new(&square).ok_or(KernelError::NotFinite { row: 1, other: 1 })?;
        let least = rows.len() as f64 * f64::EPSILON * eigen.largest();
        let map = eigen.scaled_vectors(least, |value| 1.0 / value.sqrt());
        let mut mapped = Mat::zeros(dataset.rows(), map.ncols());
        matmul(
            mapped.as_mut(),
            Accum::Replace,
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
    pub fn coefficients(&self, weights: &super::Weights) -> Vec<f64> {
        let mut coefficients = vec![0.0; self.map.nrows()];
        for (&feature, weight) in weights.features.iter().zip(&weights.values) {
            for (coefficient, value) in coefficients
                .iter_mut()
                .zip(self.map.col(feature as usize).iter())
            {
                *coefficient += weight * value;
            }
        }
        coefficients
    }

    /// The rows of the basis, 0-based, ascending.
    pub fn rows(&self) -> &[usize] {
        &self.rows
    }
}

/// All values as columns, with labels and queries of `dataset`.
fn dense_dataset(
    values: &Mat<f64>,
    dataset: &Dataset<'_>,
) -> Result<Dataset<'static>, DatasetError> {
    let (rows, columns) = values.shape();
    let row_of = u32::try_from(rows).map_err(|_| DatasetError::TooManyRows { rows })?;
    let indptr: Vec<usize> = (0..=columns).map(|column| column * rows).collect();
    let indices: Vec<u32> = (0..columns).flat_map(|_| 0..row_of).collect();
    let values: Vec<f64> = values
        .col_iter()
        .flat_map(|column| column.iter().copied().collect::<Vec<_>>())
        .collect();
    let labels = dataset.labels().to_vec();
    let queries: Queries = dataset.queries().clone();
    Dataset::from_csc(indptr, indices, values, labels, queries)
}
