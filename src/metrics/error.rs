//! What can be wrong with the name of a measure and with what is evaluated.

use thiserror::Error;

/// A name that is no measure or convention.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum MetricNameError {
    /// No such measure.
    #[error(
        "unknown metric {0:?}: expected one of map, p@K, ndcg@K, mean-ndcg, err, mrr, cindex, with K a number from 1 on such as ndcg@10"
    )]
    Metric(String),
    /// `p@K` or `ndcg@K` with a `K` that is no plain positive number.
    #[error("metric {0:?} has no valid cut-off: expected a whole number from 1 on after the @")]
    CutOff(String),
    /// A list with an empty item.
    #[error(
        "empty name in the list of metrics {0:?}: expected names separated by single commas, such as map,ndcg@10"
    )]
    EmptyItem(String),
    /// No such convention.
    #[error("unknown convention {0:?}: expected one of letor, standard")]
    Convention(String),
}

/// Labels and scores that cannot be evaluated. Rows are counted from 0.
#[derive(Debug, Clone, PartialEq, Error)]
#[non_exhaustive]
pub enum EvaluationError {
    /// Labels or scores are not one a row.
    #[error("{what}: expected {expected}, one a row of the queries, found {found}")]
    Lengths {
        /// What was counted: labels or scores.
        what: &'static str,
        /// Rows of the queries.
        expected: usize,
        /// How many there are.
        found: usize,
    },
    /// A label or score that is nan or infinite.
    #[error("the {what} of row {row} is {value}: {what}s must be finite")]
    NotFinite {
        /// What it is: a label or a score.
        what: &'static str,
        /// Its row.
        row: usize,
        /// Its value.
        value: f64,
    },
}
