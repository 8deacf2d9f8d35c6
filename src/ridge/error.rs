//! Why a model cannot be trained.

use thiserror::Error;

use super::{GroupsError, Solver};
use crate::memory::Bytes;

/// Why a model could not be trained or tested.
#[derive(Debug, Clone, PartialEq, Error)]
#[non_exhaustive]
pub enum TrainError {
    /// No column is of any use.
    #[error(
        "nothing to train on: all {columns} columns are constant within every query, so no feature can tell the examples of a query apart"
    )]
    NoColumns {
        /// Columns of the data.
        columns: usize,
    },
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
        /// What it would take in all.
        needed: u64,
        /// What is allowed.
        limit: u64,
        /// Solvers that fit.
        fitting: Vec<Solver>,
    },
    /// The system has no solution in double precision.
    #[error(
        "lambda {lambda:e} is too small for these values: with it the system is singular to working precision; raise lambda or scale the data"
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
    /// Groups that are not of these queries.
    #[error(transparent)]
    Groups(#[from] GroupsError),
}

fn remedy(fitting: &[Solver]) -> String {
    if fitting.is_empty() {
        return "no solver fits: allow more memory".to_owned();
    }
    let names: Vec<&str> = fitting.iter().map(|solver| solver.name()).collect();
    format!("these fit: {}", names.join(", "))
}
