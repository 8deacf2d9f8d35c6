//! Why something could not be trained or held out.

use rankrls_files::{Parameter, Remedy};
use thiserror::Error;

use super::solvers::Solver;
use crate::columns::{none_compares, none_varies};
use crate::data::Dataset;
use crate::error::Error as DataError;
use crate::memory::Bytes;
use crate::metrics::{Metric, MetricsError};

/// Why a model could not be trained or tested.
#[derive(Debug, Clone, PartialEq, Error)]
#[non_exhaustive]
pub enum TrainError {
    /// A parameter out of its range, which the text states.
    #[error("{0}")]
    Parameter(String),
    /// No column is of any use.
    #[error("nothing to train on: {}", none_varies(*columns))]
    NoColumns {
        /// Columns of the data.
        columns: usize,
    },
    /// No query has two rows, whatever the columns.
    #[error("nothing to train on: {}", none_compares(*queries))]
    SingleRows {
        /// Queries of the data.
        queries: usize,
    },
    /// There is no other query to train on when the only one is left out.
    #[error(
        "leave-query-out is undefined: the data are one query, and without it nothing is left to train on; {}",
        Remedy::GiveQueries
    )]
    OneQuery,
    /// The memory limit is too low. Sizes in bytes.
    #[error(
        "{what} needs {needed} with the data, {limit} are allowed; {remedy}",
        what = match solver { Some(solver) => format!("solver {solver}"), None => "every solver".to_owned() },
        needed = Bytes(*needed).exact(),
        limit = Bytes(*limit).exact(),
        remedy = remedy(fitting)
    )]
    Memory {
        /// The solver asked for; `None`: none fits.
        solver: Option<Solver>,
        /// The bytes that it would take in all.
        needed: u64,
        /// The bytes that are allowed.
        limit: u64,
        /// Solvers that fit.
        fitting: Vec<Solver>,
    },
    /// The memory limit is too low for the values of the kernel. Sizes in bytes.
    #[error(
        "the kernel needs {needed} with the data, {limit} are allowed; {remedy}",
        needed = Bytes(*needed).exact(),
        limit = Bytes(*limit).exact(),
        remedy = match basis {
            0 => "allow more memory".to_owned(),
            most => format!("a reduced set fits, with a basis of {most} at most"),
        }
    )]
    KernelMemory {
        /// The bytes that it would take in all.
        needed: u64,
        /// The bytes that are allowed.
        limit: u64,
        /// Rows of the largest basis that fits.
        basis: usize,
    },
    /// The system has no solution in double precision.
    #[error(
        "lambda {lambda:e} is too small for these values: with it the system is singular to working precision; {} or scale the data",
        Remedy::RaiseLambda
    )]
    Singular {
        /// The ridge parameter.
        lambda: f64,
    },
    /// Values so large that products are no finite numbers.
    #[error(
        "the values or labels are too large: their products are no finite numbers; scale the data"
    )]
    NotFinite,
    /// Values so small that products vanish.
    #[error(
        "the values are too small: centred, the largest sum of squares of a column is {squares:e}, and at least 1e-280 can be computed with; scale the columns: {}",
        Remedy::Set(Parameter::Scale, "sd")
    )]
    SmallValues {
        /// The largest centred sum of squares of a column.
        squares: f64,
    },
    /// Labels whose squares vanish.
    #[error(
        "the labels are too small: centred, the largest is {largest:e}, and its square is out of the range of numbers; scale the labels"
    )]
    SmallLabels {
        /// The largest centred label, times the root of its query's weight.
        largest: f64,
    },
    /// The values of a basis without eigenvalues: values are too large for the sums, or iterations do not end.
    #[error(
        "the kernel of the {rows} rows of the basis has values up to {largest:e}, and its eigenvalues were not found: expected eigenvalues that are finite numbers; scale the data, or take another basis"
    )]
    NoEigenvalues {
        /// Rows of the basis.
        rows: usize,
        /// The largest magnitude of a value.
        largest: f64,
    },
    /// A kernel by which all rows that are compared are the same.
    #[error(
        "the kernel is constant within every query, so it can tell no examples of a query apart: expected rows that differ, or another gamma"
    )]
    ConstantKernel,
    /// A name, number, row or group that is not among those there are.
    #[error("{what}: expected {expected}")]
    Unexpected {
        /// The values found.
        what: String,
        /// The values that would be legal.
        expected: String,
    },
    /// A group of everything.
    #[error(
        "all examples are in one group: without it nothing is left to train on; expected two groups or more"
    )]
    OneGroup,
    /// Groups in which nothing can be compared.
    #[error(
        "no group holds out two examples of a query: no two predictions of a model can be compared; expected larger groups"
    )]
    NothingToCompare,
    /// Preferences that compare nothing.
    #[error("no preference compares two rows: expected one at least")]
    NoPreferences,
    /// Several models, and nothing to choose by.
    #[error(
        "{} cannot tell which of several models is best: expected a single one, or a hold-out scheme",
        Remedy::Set(Parameter::Holdout, "none")
    )]
    NoChoice,
    /// The objective of preferences without them, or preferences with another.
    #[error(
        "{} and {} go together",
        Remedy::Set(Parameter::Objective, "pairs"),
        Parameter::Preferences
    )]
    PairsApart,
    /// Weights of queries under an objective that has none.
    #[error(
        "{} goes with {}",
        Parameter::QueryWeight,
        Remedy::Set(Parameter::Objective, "query")
    )]
    NoQueries,
    /// A scale of labels that nothing is learnt from.
    #[error(
        "{} has nothing to scale: the pairs are learnt from",
        Parameter::Labels
    )]
    NoLabels,
    /// A scale of columns that are not what is learnt from.
    #[error(
        "{} goes with {}, without {}",
        Parameter::Scale,
        Remedy::Set(Parameter::Kernel, "linear"),
        Parameter::Basis
    )]
    NoScale,
    /// A solver of columns, for kernel values.
    #[error(
        "a kernel has the solver dual; with {} it has the others, too",
        Parameter::Basis
    )]
    DualOnly,
    /// A measure to choose by that the labels do not have.
    #[error(transparent)]
    Measure(#[from] MetricsError),
    /// The measure has no value for any model.
    #[error(
        "{metric} is undefined in every query that is held out, so there is nothing to choose by: {cause}; take another measure, such as squared"
    )]
    Undefined {
        /// The measure.
        metric: Metric,
        /// The property that the labels lack.
        cause: &'static str,
    },
    /// All pairs are to be ordered, of data with queries.
    #[error(
        "the global objective has one query, the data have {queries}: expected data of one query (Dataset::as_one_query)"
    )]
    Queries {
        /// Queries of the data.
        queries: usize,
    },
    /// A value of a kernel that is no finite number.
    #[error(
        "the kernel of rows {row} and {other} is beyond all numbers: scale the data, or take a smaller gamma or degree"
    )]
    Overflow {
        /// A row, counted from 1.
        row: usize,
        /// Another one.
        other: usize,
    },
    /// A given kernel that is not symmetric.
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
    /// A given kernel that is indefinite.
    #[error(
        "the kernel is indefinite: its least eigenvalue is {least:.3e}, its largest {largest:.3e}; expected no eigenvalue below 0 but for rounding; add {shift:.1e} to its diagonal, which makes it a kernel", shift = -*least
    )]
    Indefinite {
        /// The least eigenvalue.
        least: f64,
        /// The largest one.
        largest: f64,
    },
    /// A restricted data set that cannot be made.
    #[error(transparent)]
    Data(#[from] DataError),
}

impl TrainError {
    /// The rows that the error names, counted from 1.
    pub fn rows_mut(&mut self) -> Vec<&mut usize> {
        match self {
            Self::Overflow { row, other } => vec![row, other],
            Self::Asymmetric { row, column, .. } => vec![row, column],
            _ => Vec::new(),
        }
    }

    /// The same error with the rows of the input of `data`, from which rows may have been moved.
    pub(super) fn in_input(mut self, data: &Dataset<'_>) -> Self {
        if let Some(inputs) = data.input_rows() {
            for row in self.rows_mut() {
                *row = inputs[*row - 1] as usize + 1;
            }
        }
        self
    }

    pub(super) fn unexpected(what: impl Into<String>, expected: impl Into<String>) -> Self {
        Self::Unexpected {
            what: what.into(),
            expected: expected.into(),
        }
    }
}

fn remedy(fitting: &[Solver]) -> String {
    if fitting.is_empty() {
        return "no solver fits: allow more memory".to_owned();
    }
    let names: Vec<&str> = fitting.iter().map(|solver| solver.name()).collect();
    format!("these fit: {}", names.join(", "))
}
