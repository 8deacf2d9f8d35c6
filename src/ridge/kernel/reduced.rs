//! The reduced set method: a model over some rows alone.

use rand::SeedableRng;
use rand::rngs::ChaCha8Rng;
use rand::seq::index;
use rayon::prelude::*;

use super::given::given;
use super::{Kernel, KernelKind, check_finite, named, row_number};
use crate::columns::LEAST_SQUARES;
use crate::data::{Dataset, IndexBase};
use crate::error::{Error, Result};
use crate::linalg::factor::{BLOCK, Cholesky, Panel, Square, leading};
use crate::ridge::comparisons::constant_kernel;
use crate::stop;

/// Rows of a reduced set, the unknowns of a model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Basis {
    /// Rows drawn without repetition. Equal seeds draw equal rows everywhere.
    Drawn {
        /// The number of rows.
        count: usize,
        /// The seed of the draw.
        seed: u64,
    },
    /// Rows of the input, 0-based.
    Given(Vec<usize>),
}

impl Basis {
    /// Its rows in `data`.
    pub(crate) fn rows(&self, data: &Dataset<'_>) -> Result<Vec<usize>> {
        let rows = data.rows();
        match self {
            Self::Drawn { count, seed } if (1..=rows).contains(count) => {
                let mut generator = ChaCha8Rng::seed_from_u64(*seed);
                let mut drawn = index::sample(&mut generator, rows, *count).into_vec();
                drawn.sort_unstable();
                Ok(drawn)
            }
            Self::Drawn { count, .. } => Err(Error::options(format!(
                "a basis of {count} rows: expected from 1 to {rows}, the rows of the data"
            ))),
            Self::Given(given) => {
                let places = data.rows_of_input();
                // The reduced set refuses rows that do not exist.
                let place = |&row: &usize| places.get(row).map_or(row, |&place| place as usize);
                Ok(given.iter().map(place).collect())
            }
        }
    }
}

/// The reduced set method: a model over the kernel with `b` of the `m` rows alone, the basis.
///
/// It is the subset of regressors (Smola and Schölkopf, *Sparse greedy matrix approximation for machine
/// learning*, ICML 2000), with the penalty of the Nyström approximation (Williams and Seeger, *Using the
/// Nyström method to speed up kernel machines*, NIPS 13, 2001).
///
/// Let `kappa` be the kernel. Its values among the basis are `F F'` up to rounding, for the `r` rows of the basis
/// that span the others, which a factorisation with pivots finds. The data are mapped to `kappa_mr F^-T`, a column
/// for each of the `r`. RankRLS on these columns minimises over all `f = sum_r alpha_r kappa(x_r, .)`, and `alpha =
/// F^-T w`. All solvers, objectives and hold-outs of linear RankRLS work here. Hold-outs keep the basis, whatever
/// rows they leave out.
#[derive(Debug)]
pub(crate) struct ReducedSet {
    /// The rows of the basis, `b`, 0-based, ascending.
    rows: Vec<usize>,
    /// The places in the basis of the rows that span it, in the order of `F`.
    pivots: Vec<usize>,
    /// `F`.
    factor: Cholesky,
    /// The data, mapped: `m` rows, at most `b` columns. They keep labels and queries.
    pub(crate) mapped: Dataset<'static>,
}

impl ReducedSet {
    /// Maps the `m` rows of `dataset` by `rows` of it, `b` rows, 0-based, under `kernel`. The columns of
    /// [`Kernel::PRECOMPUTED`] are all `m`, the basis among them. Rows in messages count from `base`.
    ///
    /// `O(m b^2 + b^3)` time, `O(m b)` memory. A given kernel is checked as a whole first, in
    /// `O(m^3)` time and `O(m^2)` memory.
    pub(crate) fn new(
        dataset: &Dataset<'_>,
        kernel: &Kernel,
        rows: &[usize],
        base: IndexBase,
    ) -> Result<Self> {
        let basis = checked_basis(rows, dataset.rows())?;
        let mut values = values_with(&basis, dataset, kernel, base)?;
        let own = among(&basis, &values);
        let size = basis.len();
        let diagonal = || own.values().iter().copied().step_by(size + 1);
        if !diagonal().sum::<f64>().is_finite() {
            let largest = diagonal().fold(0.0, f64::max);
            return Err(Error::numbers(format!(
                "the kernel of the {size} rows of the basis has values up to {largest:e}, and their sum is no finite number: expected smaller values"
            )));
        }
        if diagonal().all(|value| value < LEAST_SQUARES) {
            return Err(constant_kernel());
        }
        let (pivots, factor) = leading(&own, size as f64 * f64::EPSILON);
        let mut phi = Panel::zeros(pivots.len(), dataset.rows());
        for (slots, column) in phi.columns_mut().zip(values.values_mut().chunks(size)) {
            for (slot, &pivot) in slots.iter_mut().zip(&pivots) {
                *slot = column[pivot];
            }
        }
        let parts = phi.values_mut().par_chunks_mut(pivots.len() * BLOCK);
        parts.for_each(|part| factor.half(part, 0));
        Ok(Self {
            rows: basis,
            pivots,
            factor,
            mapped: dense_dataset(&phi, dataset)?,
        })
    }

    /// The rows of the basis, `b`, each with its coefficient `alpha`, from `weights` of the mapped columns, in
    /// units of the labels over those of the kernel: `O(b^2)` time.
    pub(crate) fn coefficients(&self, weights: &[(u32, f64)]) -> Vec<(usize, f64)> {
        let mut alpha = vec![0.0; self.pivots.len()];
        for &(feature, weight) in weights {
            alpha[feature as usize] = weight;
        }
        self.factor.back(&mut alpha);
        let mut coefficients = vec![0.0; self.rows.len()];
        for (&pivot, alpha) in self.pivots.iter().zip(alpha) {
            coefficients[pivot] = alpha;
        }
        self.rows.iter().copied().zip(coefficients).collect()
    }
}

/// The `rows` of a basis in the order of the data, of `count` rows.
fn checked_basis(rows: &[usize], count: usize) -> Result<Vec<usize>> {
    let mut seen = vec![false; count];
    let wrong = rows.iter().find_map(|&row| match seen.get_mut(row) {
        Some(known) => {
            let again = format!("each row once, row {} is twice in it", row + 1);
            std::mem::replace(known, true).then_some(again)
        }
        None => Some(format!("rows from 1 to {count}, found {}", row + 1)),
    });
    let sizes = format!("from 1 to {count}, the rows of the data");
    let size = (rows.is_empty() || rows.len() > count).then_some(sizes);
    if let Some(expected) = size.or(wrong) {
        let size = rows.len();
        return Err(Error::options(format!(
            "a basis of {size} rows: expected {expected}"
        )));
    }
    Ok((0..count).filter(|&row| seen[row]).collect())
}

/// The values of the rows of the `basis` with all rows of `dataset`, `b` x `m`.
fn values_with(
    basis: &[usize],
    dataset: &Dataset<'_>,
    kernel: &Kernel,
    base: IndexBase,
) -> Result<Panel> {
    let mut values = Panel::zeros(basis.len(), dataset.rows());
    if kernel.kind == KernelKind::Precomputed {
        let all = given(dataset, base)?;
        for (row, column) in values.columns_mut().enumerate() {
            for (slot, &other) in column.iter_mut().zip(basis) {
                *slot = all.value(row, other);
            }
        }
    } else {
        let rows = dataset.rows_subset(basis)?;
        kernel.fill(&rows, dataset, values.values_mut());
        stop::check()?;
    }
    let name = |row| named(dataset, base, row);
    check_finite(values.values_mut(), basis.len(), |row, other| {
        [name(basis[row]), name(other)]
    })?;
    Ok(values)
}

/// The values among the rows of the `basis`, `b` x `b`, from their values with all rows.
fn among(basis: &[usize], values: &Panel) -> Square {
    let mut square = Square::zeros(basis.len());
    let columns = square.values_mut().chunks_mut(basis.len()).zip(basis);
    for (column, &row) in columns {
        for (slot, value) in column.iter_mut().zip(values.matrix().column(row)) {
            *slot = *value;
        }
    }
    square
}

/// The rows of `values` as columns, with labels and queries of `dataset`.
fn dense_dataset(values: &Panel, dataset: &Dataset<'_>) -> Result<Dataset<'static>> {
    let values = values.matrix();
    let (columns, rows) = values.dim();
    let indptr: Vec<usize> = (0..=columns).map(|column| column * rows).collect();
    let indices: Vec<u32> = (0..columns).flat_map(|_| 0..row_number(rows)).collect();
    let entries: Vec<f64> = values.iter().copied().collect();
    let (labels, queries) = (dataset.labels().to_vec(), dataset.queries().clone());
    Dataset::from_csc(indptr, indices, entries, labels, queries)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Queries;

    #[test]
    fn values_whose_sum_is_infinite_are_refused() {
        // Each product is finite, but the sum overflows.
        let x = ndarray::arr2(&[[1.2e154], [1.2e154], [1.2e154]]);
        let queries = Queries::single(3).unwrap();
        let data = Dataset::from_dense(x.view(), &[1.0, 0.0, 0.5], queries).unwrap();
        let error = ReducedSet::new(&data, &Kernel::LINEAR, &[0, 1, 2], IndexBase::One);
        let error = error.unwrap_err().to_string();
        let start = "the kernel of the 3 rows of the basis has values up to";
        assert!(error.starts_with(start), "{error}");
    }
}
