//! Why there is nothing to choose from.

use thiserror::Error;

use super::Measure;
use crate::Lambda;
use crate::data::DatasetError;
use crate::greedy::SelectError;

/// Why lambda and k could not be chosen.
#[derive(Debug, Clone, PartialEq, Error)]
#[non_exhaustive]
pub enum TuneError {
    /// An empty grid.
    #[error("no lambda to choose from: expected at least one")]
    NoLambdas,
    /// Folds that are no partition of the queries.
    #[error("{count} folds of {queries} queries: expected from 2 folds up to one a query")]
    Folds {
        /// Folds asked for.
        count: usize,
        /// Queries there are.
        queries: usize,
    },
    /// A rule that cannot be followed.
    #[error("{what} is {found}: expected {expected}")]
    Rule {
        /// The parameter.
        what: &'static str,
        /// What it may be.
        expected: &'static str,
        /// What it is.
        found: String,
    },
    /// No selection can start, whatever lambda.
    #[error(transparent)]
    Select(#[from] SelectError),
    /// The queries could not be split.
    #[error(transparent)]
    Dataset(#[from] DatasetError),
    /// Steps of an earlier run that are none of this one.
    #[error("lambda {lambda}: {source}")]
    Replay {
        /// The ridge parameter that they were taken with.
        lambda: Lambda,
        /// What is wrong with them.
        source: SelectError,
    },
    /// No selection could take a step.
    #[error("no lambda gives a model; lambda {lambda}: {reason}")]
    NoModel {
        /// The first of the grid.
        lambda: Lambda,
        /// What came in its way.
        reason: String,
    },
    /// The measure has no value anywhere.
    #[error(
        "{measure} is undefined in every query of the evidence, so there is nothing to choose by: \
         take another measure, such as squared"
    )]
    Undefined {
        /// The measure.
        measure: Measure,
    },
    /// The observer stopped everything before there was a step to judge.
    #[error("interrupted before there was anything to choose from")]
    Interrupted,
}
