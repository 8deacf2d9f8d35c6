//! Why a selection cannot start.

use rankrls_files::{Parameter, Remedy};
use thiserror::Error;

use crate::candidates::Candidates;
use crate::columns::{none_compares, none_varies};
use crate::error::Error as DataError;
use crate::greedy::{Criterion, Refit, StrategyKind};
use crate::lambda::Lambda;
use crate::memory::Bytes;
use crate::metrics::Metric;

/// Why a selection could not start.
#[derive(Debug, Clone, PartialEq, Error)]
#[non_exhaustive]
pub enum SelectError {
    /// A parameter out of its range, which the text states.
    #[error("{0}")]
    Parameter(String),
    /// The work was asked to end before there was a step.
    #[error("interrupted before there was a result")]
    Stopped,
    /// No features were asked for.
    #[error("k is 0: expected at least one feature to select")]
    NothingAsked,
    /// An empty random subset was asked for.
    #[error("0 candidates a step: expected at least one")]
    NothingSampled,
    /// An empty list of ridge parameters for the teacher.
    #[error("{}: expected at least one, found none", Parameter::TeacherLambda)]
    NoTeacherLambdas,
    /// Auto, where only folds could choose.
    #[error(
        "the ridge parameter is auto, which folds choose before a selection: give a number, a share \
         of the unit, or choose it by tune::choose_lambda"
    )]
    NoLambda,
    /// There is no other query to train on when the only one is left out.
    #[error(
        "leave-query-out is undefined: the data are one query, and without it nothing is left to train on; {}",
        Remedy::GiveQueries
    )]
    OneQuery,
    /// A parameter that no strategy to be tried heeds.
    #[error("{}", no_effect(*parameter))]
    NoEffect {
        /// The parameter.
        parameter: Parameter,
    },
    /// A teacher's scores, and ridge parameters of another one.
    #[error(
        "{} brings its scores: there is no {} to choose",
        Parameter::Teacher,
        Parameter::TeacherLambda
    )]
    TwoTeachers,
    /// No column is of any use.
    #[error("nothing to select from: {}", none_varies(*columns))]
    NoCandidates {
        /// Columns of the data.
        columns: usize,
    },
    /// No query has two rows, whatever the columns.
    #[error("nothing to select from: {}", none_compares(*queries))]
    SingleRows {
        /// Queries of the data.
        queries: usize,
    },
    /// The strategy judges all candidates or none.
    #[error(
        "strategy {strategy} can not judge a random subset of the candidates; use {}",
        StrategyKind::names_of(StrategyKind::can_sample)
    )]
    CanNotSample {
        /// The strategy.
        strategy: StrategyKind,
    },
    /// The strategy has no leave-query-out predictions for every candidate.
    #[error(
        "strategy {strategy} can not judge by {criterion}: it does not compute every candidate's leave-query-out predictions; use {}",
        StrategyKind::names_of(StrategyKind::can_rank)
    )]
    CanNotRank {
        /// The strategy.
        strategy: StrategyKind,
        /// The criterion asked for.
        criterion: Criterion,
    },
    /// Labels that are no grades.
    #[error("strategy fs-ed: {0}")]
    Grades(DataError),
    /// A target without the columns that a filter judges.
    #[error(
        "strategy fs-ed judges columns as the data have them: expected a data set with the columns of the candidates, found labels without them"
    )]
    NoColumns,
    /// Too few queries for a teacher.
    #[error(
        "{queries} queries: expected at least {expected}, as a teacher predicts each query by the others; use a strategy and weights that need no teacher"
    )]
    FewQueries {
        /// Queries of the data.
        queries: usize,
        /// The fewest.
        expected: usize,
    },
    /// Labels that teach nothing.
    #[error("the labels are constant within every query: there is nothing to teach")]
    ConstantLabels,
    /// A teacher from elsewhere that knows nothing of the labels.
    #[error(
        "the teacher's scores do not rise with the labels: their product with the labels, both centred within queries, is not above 0; are the rows in another order, or the signs turned?"
    )]
    TeacherScores,
    /// A teacher that ranks would have to train on the columns that they share.
    #[error(
        "ranks do not train a teacher: expected its scores for the rows {}",
        Remedy::GiveTeacher
    )]
    SharedTeacher,
    /// The teacher cannot be trained.
    #[error("the teacher, RankRLS on all columns, cannot be trained: {0}")]
    Teacher(#[from] crate::error::Error),
    /// Squares of the labels are out of the range of floating point.
    #[error(
        "the labels are too {size}: centred, the largest is {largest:e}, and its square is out of the range of numbers; scale the labels",
        size = if *largest > 1.0 { "large" } else { "small" }
    )]
    Labels {
        /// The largest centred label, times the root of its query's weight.
        largest: f64,
    },
    /// Squares of a column's values are out of the range that can be computed with.
    #[error(
        "column {index} has values too large: centred, the sum of their squares is {squares:e}, and at most 1e100 can be computed with; scale the column"
    )]
    Values {
        /// The lowest such column, 0-based.
        feature: u32,
        /// The column as the data write it.
        index: u64,
        /// Its centred sum of squares; infinite where that is no finite number.
        squares: f64,
    },
    /// Squares of the values of all columns vanish.
    #[error(
        "the columns have values too small: centred, the largest sum of squares of a column is {squares:e}, and at least 1e-280 can be computed with; scale the columns: {}",
        Remedy::Set(Parameter::Scale, "sd")
    )]
    SmallValues {
        /// The largest centred sum of squares of a column.
        squares: f64,
    },
    /// The ridge parameter vanishes beside the columns.
    #[error(
        "lambda {lambda:e} is too small for these values: the largest sum of squares of a column is {squares:e}, more than 1e100 times as much; {} or scale the data",
        Remedy::RaiseLambda
    )]
    Lambda {
        /// The ridge parameter.
        lambda: f64,
        /// The largest centred sum of squares of a column.
        squares: f64,
    },
    /// An error or a weight is no finite number.
    #[error(
        "step {number} leads to numbers that are not finite; select fewer features, {} or scale the data",
        Remedy::RaiseLambda
    )]
    NotFinite {
        /// The step, from 1.
        number: usize,
    },
    /// A strategy has more or fewer errors than candidates.
    #[error(
        "the strategy has {found} errors in step {number}: expected {expected}, one for each of the eligible candidates, in their order"
    )]
    Errors {
        /// The step, from 1.
        number: usize,
        /// Candidates that the step may take.
        expected: usize,
        /// Errors there are.
        found: usize,
    },
    /// The criterion cannot be taken of the labels.
    #[error("as the criterion, {0}")]
    Criterion(crate::error::Error),
    /// The criterion has a value for no query.
    #[error(
        "the criterion {metric} is undefined for every query of the training data, whatever the ranking: {cause}"
    )]
    Undefined {
        /// The measure.
        metric: Metric,
        /// The property that the labels lack.
        cause: &'static str,
    },
    /// The steps of an earlier run cannot be taken again.
    #[error(
        "step {number} of the earlier run cannot be taken again: {found}; was it run on other data, or by another build or machine?"
    )]
    Replay {
        /// The step, from 1.
        number: usize,
        /// The fault found.
        found: String,
    },
    /// At step `number` rounding calls for one factor a query, which does not fit into the memory
    /// allowed. Sizes in bytes.
    #[error(
        "lambda is too small for the digits of a float from feature {number} on without one factor a \
         query, which takes {}, and {} are left; {}, select fewer features or allow more memory",
        Bytes(*bytes).exact(), Bytes(*room).exact(), Remedy::RaiseLambda
    )]
    Factors {
        /// The step, from 1 on.
        number: usize,
        /// The bytes that the factors would take.
        bytes: u64,
        /// The bytes that are left of the memory allowed.
        room: u64,
    },
    /// A strategy does not fit into the memory allowed. All sizes in bytes.
    #[error(
        "{what} needs {needed} with the data, {limit} are allowed; {remedy}",
        what = strategy.map_or_else(
            || "every exact strategy".to_owned(),
            |kind| format!("strategy {kind}"),
        ),
        needed = Bytes(*needed).exact(),
        limit = Bytes(*limit).exact(),
        remedy = remedy(fitting)
    )]
    Memory {
        /// The strategy asked for; `None`: no exact one fits.
        strategy: Option<StrategyKind>,
        /// The bytes that it would take in all.
        needed: u64,
        /// The bytes that are allowed.
        limit: u64,
        /// Strategies that fit.
        fitting: Vec<StrategyKind>,
    },
    /// A strategy of the caller's own does not fit into the memory allowed. All sizes in bytes.
    #[error(
        "the strategy of your own needs {needed} with the data, {limit} are allowed; allow more memory or select fewer features",
        needed = Bytes(*needed).exact(),
        limit = Bytes(*limit).exact()
    )]
    OwnMemory {
        /// The bytes that it would take in all.
        needed: u64,
        /// The bytes that are allowed.
        limit: u64,
    },
}

/// The settings that a parameter without effect goes with.
fn no_effect(parameter: Parameter) -> String {
    let distil = Remedy::Set(Parameter::Strategy, StrategyKind::Distil.name());
    let cross_fitted = Remedy::Set(Parameter::Refit, Refit::CrossFitted.name());
    let fs_ed = Remedy::Set(Parameter::Strategy, StrategyKind::FsEd.name());
    match parameter {
        Parameter::Teacher | Parameter::TeacherLambda => {
            format!("there is nothing to teach: a teacher goes with {distil} or {cross_fitted}")
        }
        Parameter::RefitLambda => format!(
            "{parameter} is of cross-fitted weights: it goes with {cross_fitted} or {distil}"
        ),
        Parameter::Validation => format!("{parameter} goes with {fs_ed}"),
        Parameter::Blend => format!("{parameter} goes with {distil}"),
        _ => format!("{parameter} has no effect"),
    }
}

fn remedy(fitting: &[StrategyKind]) -> String {
    if fitting.is_empty() {
        return "no strategy fits: allow more memory or select fewer features".to_owned();
    }
    let names: Vec<&str> = fitting.iter().map(|kind| kind.name()).collect();
    format!("these fit: {}", names.join(", "))
}

/// Largest sum of squares of a column, also in units of lambda: products of four values, and sums
/// of them, stay finite.
const LARGEST_SQUARES: f64 = 1e100;

/// Refuses columns whose products overflow, and a lambda that vanishes beside them.
pub(super) fn check_values(candidates: &Candidates, lambda: Lambda) -> Result<(), SelectError> {
    // Overflow may have made it no number.
    let fits = |squares: f64| squares <= LARGEST_SQUARES;
    let classes = candidates.classes();
    let too_large = |&candidate: &usize| !fits(classes.squared_norm(candidate));
    let own = (0..classes.len()).find(too_large).map(|candidate| {
        let squares = classes.squared_norm(candidate);
        (classes.feature(candidate), squares)
    });
    let all = candidates.peers().all(&own).into_iter().flatten();
    if let Some((feature, squares)) = all.min_by_key(|&(feature, _)| feature) {
        return Err(SelectError::Values {
            feature,
            index: candidates.written(feature),
            squares,
        });
    }
    let (squares, lambda) = (classes.largest_squared_norm(), lambda.value());
    if squares < LEAST_SQUARES {
        return Err(SelectError::SmallValues { squares });
    }
    if squares / LARGEST_SQUARES > lambda {
        return Err(SelectError::Lambda { lambda, squares });
    }
    Ok(())
}

/// Least sum of squares, of labels or of a column, that leaves its parts their digits: errors and gains
/// are a small share of it.
const LEAST_SQUARES: f64 = 1e-280;

/// Refuses labels whose squares overflow or lose their digits to underflow: every candidate
/// would look alike.
///
/// `labels` are centred and weighted.
pub(super) fn check_labels(labels: &[f64]) -> Result<(), SelectError> {
    let sizes = labels.iter().map(|label| label.abs());
    let largest = sizes.fold(0.0, f64::max);
    let squares: f64 = labels.iter().map(|label| label * label).sum();
    if largest == 0.0 || (LEAST_SQUARES..f64::INFINITY).contains(&squares) {
        return Ok(());
    }
    Err(SelectError::Labels { largest })
}
