//! Comparisons: the rows of the matrix `B`. A loss sees data `X` through the design `X^ = B X`.
//!
//! `B = D P`, where `P` compares rows and `D` scales the comparisons. [`Centred`] takes the mean of its
//! query, or of all rows, off each row; [`Differences`] takes a row off another one that is preferred
//! to it. The loss is `|y^ - X^ w|^2`, and `B' B` is its row Laplacian: of the graph in which rows
//! that are compared are neighbours (Pahikkala, Tsivtsivadze, Airola, Järvinen and Boberg, *An efficient
//! algorithm for learning to rank from preference graphs*, Machine Learning 75, 2009).
//!
//! [`Loss`] is what each of the two does, [`Comparisons`] is one of the two, and [`Labelled`] has the labels
//! beside it. Nobody outside of this folder asks which of the two it has.

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

/// The rows that a [`Loss`] compares: of the same query, or of a preference.
#[derive(Debug)]
pub(crate) enum Comparisons {
    Queries(Centred),
    Preferences(Differences),
}

/// A squared loss of comparisons, `|y^ - X^ w|^2` for `X^ = B X` and `B = D P`.
pub(crate) trait Loss: fmt::Debug + Send + Sync {
    /// The rows of `B` that belong together: queries, or preferences, each of them alone.
    fn queries(&self) -> &Queries;

    /// The diagonal of `D`, a number for each row of `B`; `None` where all are 1.
    fn scales(&self) -> Option<&[f64]>;

    /// The size of a problem of these comparisons, for the `shape` of its data.
    fn shape(&self, shape: TrainShape) -> TrainShape {
        shape
    }

    /// The ridge parameter of the system without `out` rows of `B`, where users say `lambda`.
    fn ridge(&self, lambda: Lambda, out: usize) -> Result<f64> {
        let _ = out;
        Ok(lambda.value())
    }

    /// The unit of ridge parameters, where the diagonal of `X^ X^'` has this mean.
    fn unit(&self, features: &Features<'_>, mean_diagonal: f64) -> f64 {
        let _ = features;
        mean_diagonal
    }

    /// Projects `values`, one for each row of `B`, onto the range of `P`. Values that lie in it lose no more
    /// than their rounding errors.
    fn centre(&self, values: &mut [f64]);

    /// `B v` for the values `v` of the rows of the data, which `fill` writes: of `L` vectors side by
    /// side.
    fn compare<const L: usize>(&self, product: &mut [[f64; L]], fill: impl FnOnce(&mut [[f64; L]]))
    where
        Self: Sized;

    /// `B' v` for a `v` that is centred: a value for each row of the data, of `L` vectors side by side.
    fn spread<'v, const L: usize>(&self, v: &'v [[f64; L]]) -> Cow<'v, [[f64; L]]>
    where
        Self: Sized;

    /// The mean of the diagonal of `X^ X^'`.
    fn mean_diagonal(&self, features: &Features<'_>) -> f64;

    /// Refuses a kernel by which rows that are compared differ in rounding alone.
    fn check_kernel(&self, kernel: &Square, mean_diagonal: f64) -> Result<()> {
        let _ = (kernel, mean_diagonal);
        Ok(())
    }

    /// `X^ X^' + shift J`, lower triangle, where `J` averages over every query that is centred.
    fn kernel_matrix(&self, features: &Features<'_>, shift: f64) -> Square;

    /// The part of `X^ X^'` in which `query` meets itself, to be inverted. `shift` stands for
    /// directions that are not centred.
    fn block(&self, features: &Features<'_>, query: usize, shift: f64) -> QueryBlock;

    /// Fills `slots`, which are 0, one for each class, with a row of `P X`. `mean` is kept from call to
    /// call.
    fn fill_row(
        &self,
        columns: &ColumnFeatures<'_>,
        row: usize,
        mean: &mut Mean,
        slots: &mut [f64],
    );

    /// Fills `slots`, which are 0, with the rows of `P X diag(sqrt(k))` of a query, side by side, for
    /// the `columns` of `X`.
    fn fill_query(&self, columns: &ByRow, query: usize, slots: &mut [f64]);

    /// The share of pairs that predictions order as labels do; `None` where no pair has an order.
    /// `as_given` is [`Labelled::as_given`], `labels` are compared but in their own units.
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

/// Comparisons, with the labels that a model is to predict for them.
#[derive(Debug)]
pub(crate) struct Labelled<'a> {
    pub(crate) rows: Comparisons,
    /// Labels as given, or magnitudes of preferences: one for each row of `B`.
    pub(crate) as_given: Cow<'a, [f64]>,
    /// The labels `y^`, compared like the rows.
    pub(crate) labels: Vec<f64>,
}

/// The rows that are of one query and held out together.
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

/// A kernel by which all rows that are compared are the same.
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
