//! Why a corpus cannot be built.

use std::error::Error as _;
use std::path::{Path, PathBuf};
use std::{fmt, io};

use rankrls_files::{ReadError, escaped};
use thiserror::Error;

/// Why there is no corpus. Its [`Debug`](fmt::Debug) is its text and what it comes from.
#[derive(Error)]
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

impl fmt::Debug for Error {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{self}")?;
        match self.source() {
            Some(source) => write!(formatter, ": {source}"),
            None => Ok(()),
        }
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_that_ends_by_an_error_prints_its_sentence() {
        let failed = Error::Failed("the parser does not work".to_owned());
        assert_eq!(format!("{failed:?}"), "the parser does not work");
        let denied = Error::write(Path::new("gum"))(io::ErrorKind::PermissionDenied.into());
        let told = "cannot write gum: permission denied";
        assert_eq!(format!("{denied:?}"), told);
    }
}
