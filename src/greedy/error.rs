//! Why a selection cannot start.

use thiserror::Error;

use crate::greedy::{Criterion, StrategyKind};
use crate::memory::Bytes;
use crate::metrics::Metric;

/// Why a selection could not start.
#[derive(Debug, Clone, PartialEq, Error)]
#[non_exhaustive]
pub enum SelectError {
    /// No features were asked for.
    #[error("k is 0: expected at least one feature to select")]
    NothingAsked,
    /// An empty random subset was asked for.
    #[error("0 candidates a step: expected at least one")]
    NothingSampled,
    /// No column is of any use.
    #[error(
        "nothing to select from: all {columns} columns are constant within every query, so no feature can tell the examples of a query apart"
    )]
    NoCandidates {
        /// Columns of the data.
        columns: usize,
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
        "column {feature} (counted from 0) has values too large: centred, the sum of their squares is {squares:e}, and at most 1e100 can be computed with; scale the column"
    )]
    Values {
        /// The lowest such column, 0-based.
        feature: u32,
        /// Its centred sum of squares; infinite where that is no finite number.
        squares: f64,
    },
    /// The ridge parameter vanishes beside the columns.
    #[error(
        "lambda {lambda:e} is too small for these values: the largest sum of squares of a column is {squares:e}, more than 1e100 times as much; raise lambda or scale the data"
    )]
    Lambda {
        /// The ridge parameter.
        lambda: f64,
        /// The largest centred sum of squares of a column.
        squares: f64,
    },
    /// An error or a weight is no finite number.
    #[error(
        "step {number} leads to numbers that are not finite; select fewer features, raise lambda or scale the data"
    )]
    NotFinite {
        /// The step, from 1.
        number: usize,
    },
    /// The criterion has a value for no query.
    #[error(
        "the criterion {metric} is undefined for every query of the training data, whatever the ranking: its labels do not tell examples apart"
    )]
    Undefined {
        /// The measure.
        metric: Metric,
    },
    /// The steps of an earlier run cannot be taken again.
    #[error(
        "step {number} of the earlier run cannot be taken again: {found}; was it run on other data, or by another build or machine?"
    )]
    Replay {
        /// The step, from 1.
        number: usize,
        /// What is wrong with it.
        found: String,
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
        /// What it would take in all.
        needed: u64,
        /// What is allowed.
        limit: u64,
        /// Strategies that fit.
        fitting: Vec<StrategyKind>,
    },
}

fn remedy(fitting: &[StrategyKind]) -> String {
    if fitting.is_empty() {
        return "no strategy fits: allow more memory or select fewer features".to_owned();
    }
    let names: Vec<&str> = fitting.iter().map(|kind| kind.name()).collect();
    format!("these fit: {}", names.join(", "))
}
