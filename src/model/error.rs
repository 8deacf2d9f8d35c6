//! Why a model file was refused.

use std::io;
use std::path::PathBuf;

use thiserror::Error;

use crate::data::read::ReadError;

/// A model file that cannot be read or written.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ModelError {
    /// The file cannot be read or decompressed.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// The text is not JSON, or the JSON has not the form of a model.
    #[error("{path}:{line}:{column}: expected a model of rankrls in JSON, found: {message}", path = path.display())]
    Json {
        /// The file.
        path: PathBuf,
        /// Line, counted from 1.
        line: usize,
        /// Column, counted from 1.
        column: usize,
        /// What is wrong there.
        message: String,
    },
    /// A document of another kind, or a model of another version.
    #[error("{path}: expected schema {expected:?}, found {found}{remedy}", path = path.display())]
    Schema {
        /// The file.
        path: PathBuf,
        /// The schema that can be read.
        expected: &'static str,
        /// The schema found, in quotes, or `none`.
        found: String,
        /// What to do about it.
        remedy: &'static str,
    },
    /// A value out of its range, or one that contradicts another.
    #[error("{path}: {field}: expected {expected}, found {found}", path = path.display())]
    Value {
        /// The file.
        path: PathBuf,
        /// Where: `features[2].weight`.
        field: String,
        /// What would be legal there.
        expected: String,
        /// What is there.
        found: String,
    },
    /// The file cannot be written.
    #[error("{path}: cannot write the model", path = path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
}
