//! Why a checkpoint was refused.

use std::path::PathBuf;

use thiserror::Error;

use super::Difference;
use crate::data::read::ReadError;

/// A checkpoint that cannot be gone on from.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum CheckpointError {
    /// The file cannot be read.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// The file is something else.
    #[error("{path} is no checkpoint of rankrls: its first line should be `rankrls.checkpoint/1 ...`", path = path.display())]
    Foreign {
        /// The file.
        path: PathBuf,
    },
    /// A checkpoint of another kind or version.
    #[error("{path}: expected {expected}, found {found}", path = path.display())]
    Other {
        /// The file.
        path: PathBuf,
        /// What can be gone on from.
        expected: String,
        /// What it is.
        found: String,
    },
    /// The file was cut off or changed.
    #[error("{path} is damaged: found {what}; remove it to start anew", path = path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// How it shows.
        what: String,
    },
    /// A checkpoint of other data or with other options.
    #[error("{path} is of another run: {differences}", path = path.display(), differences = list(differences))]
    OtherRun {
        /// The file.
        path: PathBuf,
        /// What differs.
        differences: Vec<Difference>,
    },
}

fn list(differences: &[Difference]) -> String {
    let texts: Vec<String> = differences.iter().map(ToString::to_string).collect();
    texts.join("; ")
}
