//! The values of a kernel, from the stored entries of rows: only the result is dense. Rows of a model's basis meet
//! the rows of other data in the same way.

use rayon::prelude::*;

use super::given::given;
use super::{Kernel, KernelKind, Products, check_finite, named};
use crate::data::{Dataset, IndexBase};
use crate::error::{Error, Result};
use crate::linalg::factor::Square;
use crate::stop;

impl Kernel {
    /// The values of all pairs of the `m` rows of `dataset`, `m` x `m`, in units of the kernel: `8 m^2` bytes, `X
    /// X'` under the linear one (`docs/derivation.md`, section 16). Given columns are checked: square, finite,
    /// symmetric and without a negative eigenvalue, each up to rounding. Rows in messages count from `base`.
    ///
    /// `O(sum over columns of squared entries + m^2)` time, `O(m^3)` for given columns.
    pub(crate) fn matrix(&self, dataset: &Dataset<'_>, base: IndexBase) -> Result<Square> {
        if self.kind == KernelKind::Precomputed {
            return given(dataset, base);
        }
        let size = dataset.rows();
        let mut square = Square::zeros(size);
        self.fill(dataset, dataset, square.values_mut());
        let name = |row| named(dataset, base, row);
        stop::check()?;
        check_finite(square.values(), size, |row, other| [name(row), name(other)])?;
        Ok(square)
    }

    /// Refuses a gamma with which a model of `matrix` could predict only rows that it has seen.
    pub(crate) fn check_alike(&self, matrix: &Square) -> Result<()> {
        let (values, size) = (matrix.values(), matrix.size());
        let alike = |(at, value): (usize, &f64)| at / size != at % size && *value > 0.0;
        if !self.kind.facts().local || size < 2 || values.iter().enumerate().any(alike) {
            return Ok(());
        }
        Err(Error::options(format!(
            "gamma of the kernel: expected a smaller number, as with it no two rows have a kernel above 0, found {:?}",
            self.gamma
        )))
    }

    /// Fills `values`, all 0, with a column for each row of `dataset`: its values with the rows of `basis`.
    pub(super) fn fill(&self, basis: &Dataset<'_>, dataset: &Dataset<'_>, values: &mut [f64]) {
        let (rows, own) = (Rows::new(dataset), Rows::new(basis));
        let columns = values.par_chunks_mut(basis.rows()).enumerate();
        columns.for_each(|(row, column)| {
            if stop::requested() {
                return;
            }
            own.kernel(self, rows.row(row), basis, column);
        });
    }

    /// Scores of the rows of `dataset` by a model with these `coefficients` of the rows of `basis`.
    ///
    /// `O(entries met)` time, memory of a row of the basis for each thread. A request to end leaves NaN for the
    /// remaining rows.
    pub(crate) fn scores(
        &self,
        basis: &Dataset<'_>,
        coefficients: &[f64],
        dataset: &Dataset<'_>,
    ) -> Vec<f64> {
        let (rows, own) = (Rows::new(dataset), Rows::new(basis));
        let scores = (0..dataset.rows()).into_par_iter().map_init(
            || vec![0.0; basis.rows()],
            |values, row| {
                if stop::requested() {
                    return f64::NAN;
                }
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

/// The entries of a data set by row, and the squared norms of the rows.
struct Rows {
    bounds: Vec<usize>,
    /// The feature of each entry, ascending in a row.
    features: Vec<u32>,
    values: Vec<f64>,
    norms: Vec<f64>,
}

/// A row: its features, ascending, and their values.
type Row<'a> = (&'a [u32], &'a [f64]);

/// The sum of the squared differences of two rows.
fn squared_distance((features, values): Row<'_>, (others, theirs): Row<'_>) -> f64 {
    if features == others {
        let differences = values.iter().zip(theirs).map(|(own, other)| own - other);
        return differences.map(|difference| difference * difference).sum();
    }
    let (mut own, mut other, mut sum) = (0, 0, 0.0);
    while own < features.len() || other < others.len() {
        // A row without a feature has 0 there.
        let feature = features.get(own).into_iter().chain(others.get(other)).min();
        let (here, there) = (features.get(own) == feature, others.get(other) == feature);
        let difference =
            if here { values[own] } else { 0.0 } - if there { theirs[other] } else { 0.0 };
        (own, other) = (own + usize::from(here), other + usize::from(there));
        sum += difference * difference;
    }
    sum
}

impl Rows {
    fn new(dataset: &Dataset<'_>) -> Self {
        let entries = dataset.x().to_other_storage();
        let (bounds, mut features, values) = entries.into_raw_storage();
        for feature in &mut features {
            *feature = dataset.feature(*feature as usize);
        }
        let norm = |bounds: &[usize]| values[bounds[0]..bounds[1]].iter().map(|v| v * v).sum();
        Self {
            norms: bounds.windows(2).map(norm).collect(),
            bounds,
            features,
            values,
        }
    }

    /// A row and its squared norm.
    fn row(&self, row: usize) -> (Row<'_>, f64) {
        let range = self.bounds[row]..self.bounds[row + 1];
        (
            (&self.features[range.clone()], &self.values[range]),
            self.norms[row],
        )
    }

    /// Fills `slots`, all 0, with the kernel of another row and each row of `dataset`, whose rows are in `self`.
    fn kernel(
        &self,
        kernel: &Kernel,
        (entries, norm): (Row<'_>, f64),
        dataset: &Dataset<'_>,
        slots: &mut [f64],
    ) {
        for (&feature, value) in entries.0.iter().zip(entries.1) {
            let Some(position) = dataset.position(feature) else {
                continue;
            };
            for (row, own) in dataset.column(position).iter() {
                slots[row] += value * own;
            }
        }
        let mut products = Products {
            values: slots,
            norm,
            norms: &self.norms,
            distance: &|other| squared_distance(entries, self.row(other).0),
        };
        (kernel.kind.facts().values)(kernel, &mut products);
    }
}
