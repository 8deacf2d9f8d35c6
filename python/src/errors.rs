//! Errors of the library as exceptions.

use std::fmt::Display;
use std::io::{self, ErrorKind};
use std::result;

use numpy::{AsSliceError, BorrowError};
use pyo3::PyErr;
use pyo3::exceptions::{PyFileNotFoundError, PyMemoryError, PyValueError};
use rankrls::Kind;
use rankrls::data::read::{ReadError, ReadErrorKind};
use serde::de::DeserializeOwned;
use serde_path_to_error::Segment;

pub(crate) type Result<T, E = Error> = result::Result<T, E>;

/// An error of the library or of Python, to be raised.
pub(crate) struct Error(PyErr);

/// A mistake in what was handed over.
pub(crate) fn value(error: impl Display) -> Error {
    Error(PyValueError::new_err(error.to_string()))
}

pub(crate) fn memory(error: impl Display) -> Error {
    Error(PyMemoryError::new_err(error.to_string()))
}

impl From<Error> for PyErr {
    fn from(error: Error) -> Self {
        error.0
    }
}

/// Errors of Python, which stay, and those of the library that are all mistakes.
macro_rules! errors {
    (python: $($python:ty),+; mistakes: $($mistake:ty),+) => {
        $(impl From<$python> for Error {
            fn from(error: $python) -> Self {
                Self(error.into())
            }
        })+
        $(impl From<$mistake> for Error {
            fn from(error: $mistake) -> Self {
                value(error)
            }
        })+
    };
}

errors! {
    python: PyErr, AsSliceError, BorrowError;
    mistakes: serde_json::Error, io::Error
}

impl From<ReadError> for Error {
    fn from(error: ReadError) -> Self {
        match error.kind() {
            ReadErrorKind::Io(ErrorKind::NotFound) => {
                Self(PyFileNotFoundError::new_err(error.to_string()))
            }
            ReadErrorKind::TooLarge => memory(error),
            _ => value(error),
        }
    }
}

impl From<rankrls::Error> for Error {
    fn from(error: rankrls::Error) -> Self {
        match error.kind() {
            Kind::Memory => memory(error),
            _ => value(error),
        }
    }
}

/// Options of the library that have other names in Python, as scikit-learn names its own.
const NAMES: [(&str, &str); 13] = [
    ("k", "n_features_to_select"),
    ("asked", "n_features_to_select"),
    ("lambda", "alpha"),
    ("lambdas", "alpha"),
    ("strategies", "strategy"),
    ("scales", "scale"),
    ("labels", "label_scale"),
    ("refit_lambda", "refit_alpha"),
    ("teacher_lambda", "teacher_alpha"),
    ("candidates", "n_candidates"),
    ("seed", "random_state"),
    ("measure", "scoring"),
    ("count", "cv"),
];

/// The name that Python has for an option of the library.
fn parameter(option: &str) -> &str {
    let renamed = NAMES.iter().find(|(ours, _)| *ours == option);
    renamed.map_or(option, |(_, theirs)| theirs)
}

/// Options of the library from their JSON. A mistake is told with the name that Python has for the
/// parameter.
pub(crate) fn options<T: DeserializeOwned>(json: &str) -> Result<T> {
    let options: serde_json::Value = serde_json::from_str(json)?;
    serde_path_to_error::deserialize(options).map_err(|error| {
        let mut keys = error.path().iter().filter_map(|segment| match segment {
            Segment::Map { key } => Some(key.as_str()),
            _ => None,
        });
        let name = parameter(keys.next_back().unwrap_or("options"));
        let told = error.inner().to_string().replace("lambda", "alpha");
        value(format_args!("{name}: {told}"))
    })
}
