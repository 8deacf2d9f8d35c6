//! Faults of data handed over in memory.

use rankrls_files::Remedy;
use thiserror::Error;

impl DatasetError {
    /// Refuses another number of things than `expected`.
    pub(super) fn check_length(
        what: &'static str,
        expected: usize,
        found: usize,
    ) -> Result<(), Self> {
        if found == expected {
            return Ok(());
        }
        Err(Self::Lengths {
            what,
            expected,
            found,
        })
    }

    /// Refuses more rows than 32 bits count.
    pub(super) fn check_rows(rows: usize) -> Result<(), Self> {
        u32::try_from(rows).map_or(Err(Self::TooManyRows { rows }), |_| Ok(()))
    }

    /// Refuses more columns than 32 bits count.
    pub(super) fn check_columns(columns: usize) -> Result<(), Self> {
        u32::try_from(columns).map_or(Err(Self::TooManyColumns { columns }), |_| Ok(()))
    }
}

/// A data set that cannot be: returned by the constructors of
/// [`Dataset`](super::Dataset) and [`Queries`](super::Queries). Rows, queries
/// and columns are counted from 0.
#[derive(Debug, Clone, PartialEq, Error)]
#[non_exhaustive]
pub enum DatasetError {
    /// Not a single example.
    #[error("the data has no rows: expected at least one example")]
    NoRows,
    /// Row numbers are stored in 32 bits.
    #[error("{rows} rows: at most 4294967295 can be indexed")]
    TooManyRows {
        /// Rows found.
        rows: usize,
    },
    /// Data for a kernel model, which compares all columns, that have others.
    #[error(
        "the data have entries in columns beyond the {expected} of the model: a kernel compares rows of the same columns"
    )]
    OtherColumns {
        /// Columns of the model.
        expected: usize,
    },
    /// Column numbers are stored in 32 bits.
    #[error("{columns} columns: at most 4294967295 can be indexed")]
    TooManyColumns {
        /// Columns found.
        columns: usize,
    },
    /// A query without rows.
    #[error("query {query} has no rows: every query needs at least one")]
    EmptyQuery {
        /// Position of the query.
        query: usize,
    },
    /// A query whose rows are not contiguous.
    #[error(
        "query {id:?} begins at row {first} and comes back at row {again}: rows of a query must be contiguous; sort them by query, or let Dataset::regrouped move them"
    )]
    SplitQuery {
        /// The identifier that came back.
        id: String,
        /// Where it first began.
        first: usize,
        /// Where it begins again.
        again: usize,
    },
    /// Two parts of the data disagree in length.
    #[error("{what}: expected {expected}, found {found}")]
    Lengths {
        /// The things counted.
        what: &'static str,
        /// How many there should be.
        expected: usize,
        /// How many there are.
        found: usize,
    },
    /// A label that is nan or infinite.
    #[error("the label of row {row} is {value}: labels must be finite")]
    Label {
        /// Row of the label.
        row: usize,
        /// The label.
        value: f64,
    },
    /// A teacher's score that is nan or infinite.
    #[error("the teacher's score of row {row} is {value}: scores must be finite")]
    Score {
        /// Row of the score.
        row: usize,
        /// The score.
        value: f64,
    },
    /// A teacher that does not tell examples apart.
    #[error("the teacher's scores are constant in every query: they teach nothing")]
    ConstantScores,
    /// Labels that are no grades.
    #[error("expected grades: at most 16 different labels, from 0 to below 1024; found {found}")]
    Grades {
        /// The values found.
        found: String,
    },
    /// A value that is nan or infinite.
    #[error(
        "the value at row {row}, column {column} is {value}: values must be finite; {}",
        Remedy::FillGaps
    )]
    Value {
        /// Row of the value.
        row: usize,
        /// Column of the value.
        column: usize,
        /// The value.
        value: f64,
    },
    /// A query or feature that the data does not have.
    #[error("there is no {what} {position} among {count}")]
    Absent {
        /// The thing asked for.
        what: &'static str,
        /// Its position.
        position: usize,
        /// How many there are.
        count: usize,
    },
    /// A query or feature that is asked for twice.
    #[error("{what} {position} is named twice")]
    Repeated {
        /// The thing asked for.
        what: &'static str,
        /// Its position.
        position: usize,
    },
    /// Index arrays that are no compressed sparse matrix.
    #[error("not a compressed sparse matrix: {0}")]
    Structure(String),
}
