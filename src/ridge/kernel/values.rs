//! The values of a kernel, from the stored entries of rows: nothing is made dense but the result. Rows of
//! a model's basis meet the rows of other data in the same way.

use rayon::prelude::*;
use sprs::CsMatI;

use super::given::given;
use super::{Kernel, KernelKind, Products, check_finite, named};
use crate::data::{Dataset, IndexBase};
use crate::error::{Error, Result};
use crate::linalg::factor::Square;
use crate::ridge::features::entries_of;
use crate::stop;

impl Kernel {
    /// The values of all pairs of the `m` rows of `dataset`, `m` x `m`, in units of the kernel: `8 m^2` bytes, those
    /// of `X X'` under the linear one (`docs/derivation.md`, section 16). Columns that are the kernel are checked: square,
    /// finite, symmetric and without a negative eigenvalue, each but for rounding. Rows in messages count from
    /// `base`.
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

    /// Refuses a gamma with which a model of `matrix` could tell nothing of any row but those it has
    /// seen.
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

    /// Fills `values`, which are 0, with a column for each row of `dataset`: its values with the rows of
    /// `basis`.
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
    /// `O(entries met)` time, memory of a row of the basis for each thread. Rows that a request to end leaves out
    /// have the score nan.
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
    entries: CsMatI<f64, u32, usize>,
    norms: Vec<f64>,
    features: Vec<u32>,
}

/// The sum of squared differences of two rows: features, ascending, with their values.
fn squared_distance(
    row: impl Iterator<Item = (u32, f64)>,
    other: impl Iterator<Item = (u32, f64)>,
) -> f64 {
    let (mut row, mut other) = (row.peekable(), other.peekable());
    let mut sum = 0.0;
    loop {
        let difference = match (row.peek(), other.peek()) {
            (None, None) => return sum,
            (Some(&(own, value)), Some(&(feature, theirs))) if own == feature => {
                (row.next(), other.next());
                value - theirs
            }
            (Some(&(own, value)), theirs) if theirs.is_none_or(|&(feature, _)| own < feature) => {
                row.next();
                value
            }
            _ => other.next().map_or(0.0, |(_, value)| value),
        };
        sum += difference * difference;
    }
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
    fn row(&self, row: usize) -> (impl Iterator<Item = (u32, f64)> + Clone, f64) {
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
        (entries, norm): (impl Iterator<Item = (u32, f64)> + Clone, f64),
        dataset: &Dataset<'_>,
        slots: &mut [f64],
    ) {
        for (feature, value) in entries.clone() {
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
            distance: &|other| squared_distance(entries.clone(), self.row(other).0),
        };
        (kernel.kind.facts().values)(kernel, &mut products);
    }
}
