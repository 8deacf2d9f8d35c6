//! Comparisons: the rows of the matrix `B`. A loss sees data `X` through the design `X^ = B X`.
//!
//! `B = D P`, where `P` compares rows and `D` scales the comparisons. [`Centred`] subtracts from each row the mean
//! of its query, or of all rows; [`Differences`] subtracts a row from another one that is preferred to it. The loss
//! is `|y^ - X^ w|^2`. `B' B` is the Laplacian of the graph whose neighbours are compared rows (Pahikkala,
//! Tsivtsivadze, Airola, Järvinen and Boberg, *An efficient algorithm for learning to rank from preference graphs*,
//! Machine Learning 75, 2009).
//!
//! [`Loss`] is the interface of the two, [`Comparisons`] is one of the two, and [`Labelled`] adds the labels.
//! Nobody outside of this folder asks which of the two it has.

mod centred;
mod differences;

use std::borrow::Cow;
use std::fmt;
use std::ops::Deref;

use super::blocks::QueryBlock;
use super::features::{ByRow, ColumnFeatures, Features, Mean};
use super::shape::TrainShape;
use crate::data::Queries;
use crate::error::{Error, Result, ensure};
use crate::lambda::Lambda;
use crate::linalg::factor::Square;

pub(crate) use centred::Centred;
pub use differences::Preferences;
pub(crate) use differences::{Differences, no_preferences};

/// The rows that a [`Loss`] compares: rows of the same query, or the two rows of a preference.
#[derive(Debug)]
pub(crate) enum Comparisons {
    Queries(Centred),
    Preferences(Differences),
}

/// A squared loss of comparisons, `|y^ - X^ w|^2` for `X^ = B X` and `B = D P`.
pub(crate) trait Loss: fmt::Debug + Send + Sync {
    /// The rows of `B` that belong together: queries, or single preferences.
    fn queries(&self) -> &Queries;

    /// The diagonal of `D`, a number for each row of `B`; `None` where all are 1.
    fn scales(&self) -> Option<&[f64]>;

    /// The size of a problem of these comparisons, from the `shape` of its data.
    fn shape(&self, shape: TrainShape) -> TrainShape {
        shape
    }

    /// The ridge parameter of the system without `out` rows of `B`, from the `lambda` of users.
    fn ridge(&self, lambda: Lambda, out: usize) -> Result<f64> {
        let _ = out;
        Ok(lambda.value())
    }

    /// The unit of ridge parameters, given the mean of the diagonal of `X^ X^'`.
    fn unit(&self, features: &Features<'_>, mean_diagonal: f64) -> f64 {
        let _ = features;
        mean_diagonal
    }

    /// Projects `values`, one for each row of `B`, onto the range of `P`. Values in that range change by rounding
    /// alone.
    fn centre(&self, values: &mut [f64]);

    /// `B v` for the values `v` of the rows of the data, which `fill` writes: `L` vectors side by side.
    fn compare<const L: usize>(&self, product: &mut [[f64; L]], fill: impl FnOnce(&mut [[f64; L]]))
    where
        Self: Sized;

    /// `B' v` for a centred `v`: a value for each row of the data, `L` vectors side by side.
    fn spread<'v, const L: usize>(&self, v: &'v [[f64; L]]) -> Cow<'v, [[f64; L]]>
    where
        Self: Sized;

    /// The mean of the diagonal of `X^ X^'`.
    fn mean_diagonal(&self, features: &Features<'_>) -> f64;

    /// Refuses a kernel by which compared rows differ in rounding alone.
    fn check_kernel(&self, kernel: &Square, mean_diagonal: f64) -> Result<()> {
        let _ = (kernel, mean_diagonal);
        Ok(())
    }

    /// `X^ X^' + shift J`, lower triangle, where `J` averages over every centred query.
    fn kernel_matrix(&self, features: &Features<'_>, shift: f64) -> Square;

    /// The part of `X^ X^'` in which `query` meets itself, to be inverted. `shift` fills the directions that
    /// centring removed.
    fn block(&self, features: &Features<'_>, query: usize, shift: f64) -> QueryBlock;

    /// Fills `slots`, one 0 for each class, with a row of `P X`. Calls for the same query share `mean`.
    fn fill_row(
        &self,
        columns: &ColumnFeatures<'_>,
        row: usize,
        mean: &mut Mean,
        slots: &mut [f64],
    );

    /// Fills `slots`, all 0, with the rows of `P X diag(sqrt(k))` of a query, side by side, for the `columns` of
    /// `X`.
    fn fill_query(&self, columns: &ByRow, query: usize, slots: &mut [f64]);

    /// The share of pairs that predictions order as labels do; `None` if no pair has an order. `as_given` is
    /// [`Labelled::as_given`]; `labels` are compared labels in their own units.
    fn concordance(
        &self,
        as_given: &[f64],
        labels: &[f64],
        predictions: &[f64],
        parts: &Parts,
    ) -> Option<f64>;
}

impl dyn Loss {
    /// The diagonal of `D` at a row of `B`.
    pub(crate) fn weight_root(&self, row: usize) -> f64 {
        self.scales().map_or(1.0, |scales| scales[row])
    }
}

impl Deref for Comparisons {
    type Target = dyn Loss;

    fn deref(&self) -> &Self::Target {
        match self {
            Self::Queries(centred) => centred,
            Self::Preferences(differences) => differences,
        }
    }
}

impl Comparisons {
    /// [`Loss::compare`].
    pub(crate) fn compare<const L: usize>(
        &self,
        product: &mut [[f64; L]],
        fill: impl FnOnce(&mut [[f64; L]]),
    ) {
        match self {
            Self::Queries(centred) => centred.compare(product, fill),
            Self::Preferences(differences) => differences.compare(product, fill),
        }
    }

    /// [`Loss::spread`].
    pub(crate) fn spread<'v, const L: usize>(&self, v: &'v [[f64; L]]) -> Cow<'v, [[f64; L]]> {
        match self {
            Self::Queries(centred) => centred.spread(v),
            Self::Preferences(differences) => differences.spread(v),
        }
    }
}

/// Multiplies rows by the diagonal of `D`.
fn weigh<const L: usize>(scales: Option<&[f64]>, rows: &mut [[f64; L]]) {
    for (row, scale) in rows.iter_mut().zip(scales.into_iter().flatten()) {
        for value in row {
            *value *= scale;
        }
    }
}

/// Comparisons with their labels.
#[derive(Debug)]
pub(crate) struct Labelled<'a> {
    pub(crate) rows: Comparisons,
    /// Labels as given, or magnitudes of preferences: one for each row of `B`.
    pub(crate) as_given: Cow<'a, [f64]>,
    /// The labels `y^`, compared like the rows.
    pub(crate) labels: Vec<f64>,
}

/// The rows of one query that are held out together.
#[derive(Debug)]
pub(crate) struct Parts {
    /// All rows, part by part.
    pub(crate) order: Vec<usize>,
    /// The sizes of the parts in that order.
    pub(crate) queries: Queries,
}

pub(crate) fn pick(values: &[f64], rows: &[usize]) -> Vec<f64> {
    rows.iter().map(|&row| values[row]).collect()
}

/// The error for a kernel by which all compared rows are the same.
pub(crate) fn constant_kernel() -> Error {
    Error::data(
        "the kernel is constant within every query, so it can tell no examples of a query apart: expected rows that differ",
    )
}

/// Refuses data of several queries.
fn check_one_query(queries: &Queries) -> Result<()> {
    let count = queries.len();
    ensure!(
        count == 1,
        data,
        "the global objective has one query, the data have {count}: expected data of one query (Dataset::as_one_query)"
    );
    Ok(())
}
