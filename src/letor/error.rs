//! Why the protocol cannot be run.

use std::io;
use std::path::PathBuf;

use thiserror::Error;

use crate::data::read::ReadError;
use crate::greedy::SelectError;
use crate::metrics::MetricsError;
use crate::ridge::TrainError;

/// Why the protocol could not be run.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum LetorError {
    /// There are no folds.
    #[error(
        "{}: expected train.txt, vali.txt and test.txt (each plain, .gz or .zst) or folders Fold1, Fold2 and so on, found neither",
        .directory.display()
    )]
    NoFolds {
        /// Where they were looked for.
        directory: PathBuf,
    },
    /// A fold is not complete.
    #[error(
        "{}: expected {part}.txt, {part}.txt.gz or {part}.txt.zst, found none of them",
        .directory.display()
    )]
    Missing {
        /// The folder of the fold.
        directory: PathBuf,
        /// `train`, `vali` or `test`.
        part: &'static str,
    },
    /// A folder cannot be listed.
    #[error("{}: cannot list the folder: {source}", .directory.display())]
    Directory {
        /// The folder.
        directory: PathBuf,
        /// Why not.
        source: io::Error,
    },
    /// A file cannot be read.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// The grid is empty.
    #[error("no ridge parameters: expected at least one")]
    NoLambdas,
    /// Features cannot be selected.
    #[error("{fold}: {source}")]
    Select {
        /// The fold.
        fold: String,
        /// Why not.
        source: SelectError,
    },
    /// RankRLS on all features cannot be trained.
    #[error("{fold}: {source}")]
    Train {
        /// The fold.
        fold: String,
        /// Why not.
        source: TrainError,
    },
    /// The scores of the chosen model are no numbers.
    #[error("{fold}: cannot measure the test data: {source}")]
    Evaluate {
        /// The fold.
        fold: String,
        /// Why not.
        source: MetricsError,
    },
    /// No model has a mean average precision on the validation data.
    #[error(
        "{fold}: no model of any lambda ranks the validation data by finite scores; use larger lambdas, or scale the data"
    )]
    NothingToChoose {
        /// The fold.
        fold: String,
    },
    /// The observer ended it.
    #[error("{fold}: interrupted before there was an outcome")]
    Interrupted {
        /// The fold.
        fold: String,
    },
}
