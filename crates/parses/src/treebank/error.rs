//! What can be wrong with a file of sentences.

use thiserror::Error;

use rankrls_files::ReadError;
use rankrls_files::quote;

/// A sentence, or a file of them, that was refused.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum TreebankError {
    /// The file could not be read.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// A sentence is not what the format asks for.
    #[error("{name}:{line}:{column}: expected {expected}, found {found}{}", in_brackets(.remedy))]
    Malformed {
        /// The file, or how the reader was told to call its input.
        name: String,
        /// Line, counted from 1.
        line: u64,
        /// Byte within the line, counted from 1.
        column: usize,
        /// What should have been there.
        expected: String,
        /// What was there; quoted input is escaped and cut.
        found: String,
        /// What to do about it, or nothing.
        remedy: &'static str,
    },
}

fn in_brackets(remedy: &str) -> String {
    if remedy.is_empty() {
        return String::new();
    }
    format!(" ({remedy})")
}

/// A [`TreebankError::Malformed`] without its file.
#[derive(Debug)]
pub(super) struct Fault {
    pub(super) line: u64,
    column: usize,
    expected: String,
    found: String,
    remedy: &'static str,
}

impl Fault {
    /// A fault at byte `before` (from 0) of a line, where `token` was found.
    pub(super) fn token(line: u64, before: usize, expected: &str, token: &[u8]) -> Self {
        let found = if token.is_empty() {
            "nothing".to_owned()
        } else {
            quote(token)
        };
        Self::new(line, before, expected, found)
    }

    pub(super) fn new(line: u64, before: usize, expected: &str, found: String) -> Self {
        Self {
            line,
            column: before + 1,
            expected: expected.to_owned(),
            found,
            remedy: "",
        }
    }

    pub(super) fn remedy(mut self, remedy: &'static str) -> Self {
        self.remedy = remedy;
        self
    }

    pub(super) fn of(self, name: &str) -> TreebankError {
        TreebankError::Malformed {
            name: name.to_owned(),
            line: self.line,
            column: self.column,
            expected: self.expected,
            found: self.found,
            remedy: self.remedy,
        }
    }
}
