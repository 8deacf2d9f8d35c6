//! Why a corpus cannot be built.

use std::io;
use std::path::{Path, PathBuf};

use rankrls_files::{ReadError, escaped};
use thiserror::Error;

/// The reason why a corpus cannot be built.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum Error {
    /// An option outside its range, or in conflict with another.
    #[error("{0}")]
    Options(String),
    /// An unreadable file, a malformed sentence, ambiguous candidates, a folder that is not a corpus, or unfinished
    /// work of another run.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// The parser does not work, or no sentence is left to rank.
    #[error("{0}")]
    Failed(String),
    /// A file that cannot be written or read back.
    #[error("cannot write {}", escaped(&path.display().to_string()))]
    Write {
        /// The file.
        path: PathBuf,
        /// The system's reason.
        #[source]
        source: io::Error,
    },
}

impl Error {
    /// A failure at `path`.
    pub(crate) fn write(path: &Path) -> impl FnOnce(io::Error) -> Self + '_ {
        move |source| Self::Write {
            path: path.to_owned(),
            source,
        }
    }
}
