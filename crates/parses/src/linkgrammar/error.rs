//! What can go wrong with the parser as a whole.

use std::io;

use thiserror::Error;

/// The program does not run, or does not start as the known versions do. What is wrong with one sentence
/// is an [`Answer`](super::Answer).
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum LinkGrammarError {
    /// There is no such program.
    #[error(
        "{program} was not found: install the Link Grammar parser (Debian packages link-grammar and link-grammar-dictionaries-en), or take candidates from a file"
    )]
    Absent {
        /// What was looked for.
        program: String,
    },
    /// The system cannot run it.
    #[error("{program} cannot be run")]
    Run {
        /// The program.
        program: String,
        /// Why not.
        #[source]
        source: io::Error,
    },
    /// It ended, or kept silent, before it had parsed anything.
    #[error(
        "{program} does not start: {reason} (the English dictionary is in the Debian package link-grammar-dictionaries-en)"
    )]
    Start {
        /// The program.
        program: String,
        /// The last it said, or what it did.
        reason: String,
    },
    /// It does not tell its versions as the known ones do.
    #[error(
        "{program}: expected the versions of dictionary and library, found none: this version of it is not known"
    )]
    Version {
        /// The program.
        program: String,
    },
}
