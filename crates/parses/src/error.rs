//! Why there is no corpus.

use std::io;
use std::path::{Path, PathBuf};

use rankrls_files::{ReadError, escaped};
use thiserror::Error;

/// Why there is no corpus.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum Error {
    /// An option outside its range, or at odds with another.
    #[error("{0}")]
    Options(String),
    /// A file that cannot be read, a sentence that is malformed, candidates that cannot be told
    /// apart, a folder that is no corpus, or lines of another run.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// The parser does not work, or nothing is left to rank.
    #[error("{0}")]
    Failed(String),
    /// A file that cannot be written or read back.
    #[error("cannot write {}", escaped(&path.display().to_string()))]
    Write {
        /// The file.
        path: PathBuf,
        /// Why not.
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
