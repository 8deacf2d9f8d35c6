//! Why there is nothing to choose from.

use rankrls_files::{Parameter, Remedy};
use thiserror::Error;

use super::Measure;
use crate::error::Error as DataError;
use crate::greedy::SelectError;
use crate::lambda::Lambda;

/// Why lambda and k could not be chosen.
#[derive(Debug, Error)]
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
    /// Leave-query-out predictions that are biased.
    #[error(
        "leave-query-out predictions are biased where a teacher has seen all labels, and do not know of refitted weights: judge by folds or by validation data"
    )]
    BiasedEvidence,
    /// Labels on several scales, judged by squared errors.
    #[error(
        "labels are learnt on several scales, and squared errors on them do not compare: judge by a measure such as cindex, or give one scale of labels ({})",
        Remedy::Name(Parameter::Labels)
    )]
    LabelScales,
    /// Evidence by other data than there are.
    #[error("the evidence is validation data that are not those of the tuning")]
    OtherValidation,
    /// Folds so large that selection without one of them sees a single query.
    #[error(
        "{count} folds of {queries} queries leave a single query to select from, and \
         leave-query-out needs two: give more queries or more folds"
    )]
    OneQueryLeft {
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
        /// Its legal values.
        expected: &'static str,
        /// Its value.
        found: String,
    },
    /// No selection can start, whatever lambda.
    #[error(transparent)]
    Select(#[from] SelectError),
    /// The queries could not be split.
    #[error(transparent)]
    Dataset(#[from] DataError),
    /// Steps of an earlier run that are none of this one.
    #[error("lambda {lambda}: {source}")]
    Replay {
        /// The ridge parameter that they were taken with.
        lambda: Lambda,
        /// Why not.
        source: SelectError,
    },
    /// No selection could take a step.
    #[error("no lambda gives a model; lambda {lambda}: {reason}")]
    NoModel {
        /// The first of the grid.
        lambda: Lambda,
        /// Why there is none.
        reason: String,
    },
    /// A measure cannot be taken of the labels that models are judged by.
    #[error("cannot judge models: {0}")]
    Judge(crate::error::Error),
    /// The measure has no value anywhere.
    #[error(
        "{measure} is undefined in every query of the evidence, so there is nothing to choose by: \
         take another measure, such as squared"
    )]
    Undefined {
        /// The measure.
        measure: Measure,
    },
    /// Folds find no ridge parameter for a selection that leaves it open.
    #[error("cannot choose lambda by folds: {remedy}: {0}", remedy = Remedy::GiveLambda)]
    NoLambda(Box<Self>),
    /// The observer stopped everything before there was a step to judge.
    #[error("interrupted before there was anything to choose from")]
    Interrupted,
}
