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

/// An error of the library or of Python, to raise.
pub(crate) struct Error(PyErr);

/// A mistake in the arguments.
pub(crate) fn value(error: impl Display) -> Error {
    Error(PyValueError::new_err(in_python(&error.to_string())))
}

pub(crate) fn memory(error: impl Display) -> Error {
    Error(PyMemoryError::new_err(in_python(&error.to_string())))
}

/// A message of the library in the names of Python: `--max-memory` becomes `max_memory`, `--scale=sd` becomes
/// `scale='sd'`, and lambda becomes alpha. Text in quotes stays.
pub(crate) fn in_python(message: &str) -> String {
    let message = message.replace("--query-file or --rows-per-query", "--qid");
    let mut quoted = false;
    let word = |word: &str| {
        let marks = word.chars().filter(|&char| char == '"').count();
        let stays = quoted && marks == 0;
        quoted ^= marks % 2 == 1;
        if stays {
            word.to_owned()
        } else {
            word_in_python(word)
        }
    };
    message.split_inclusive(' ').map(word).collect()
}

fn word_in_python(word: &str) -> String {
    let is_part = |char: char| char.is_ascii_alphanumeric() || char == '-';
    if word.starts_with("lambda") && !word[6..].starts_with(is_part) {
        return word.replacen("lambda", "alpha", 1);
    }
    let (before, option) = word.split_at(word.find(|char| char != '(').unwrap_or(0));
    let Some(option) = option.strip_prefix("--") else {
        return word.to_owned();
    };
    let (name, rest) = option.split_at(option.find(|char| !is_part(char)).unwrap_or(option.len()));
    let name = name.replace('-', "_");
    let name = parameter(&name);
    let Some(rest) = rest.strip_prefix('=') else {
        return format!("{before}{name}{rest}");
    };
    let end = rest.find(|char: char| !(is_part(char) || char == '.'));
    let (value, rest) = rest.split_at(end.unwrap_or(rest.len()));
    // A value that the message quotes begins with the quotes.
    if value.is_empty() || value.parse::<f64>().is_ok() {
        format!("{before}{name}={value}{rest}")
    } else {
        format!("{before}{name}='{value}'{rest}")
    }
}

impl From<Error> for PyErr {
    fn from(error: Error) -> Self {
        error.0
    }
}

/// Errors of Python, which stay, and types of the library whose errors are all mistakes.
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

/// Options of the library with other names in Python, which follow scikit-learn.
const NAMES: [(&str, &str); 12] = [
    ("k", "n_features_to_select"),
    ("asked", "n_features_to_select"),
    ("lambda", "alpha"),
    ("lambdas", "alpha"),
    ("strategies", "strategy"),
    ("scales", "scale"),
    ("labels", "label_scale"),
    ("sample", "n_candidates"),
    ("validation", "X_validation"),
    ("seed", "random_state"),
    ("measure", "scoring"),
    ("count", "cv"),
];

/// Python's name for an option of the library.
fn parameter(option: &str) -> &str {
    let renamed = NAMES.iter().find(|(ours, _)| *ours == option);
    renamed.map_or(option, |(_, theirs)| theirs)
}

/// Options of the library from their JSON. A mistake is reported under Python's name for the parameter.
pub(crate) fn options<T: DeserializeOwned>(json: &str) -> Result<T> {
    let options: serde_json::Value = serde_json::from_str(json)?;
    serde_path_to_error::deserialize(options).map_err(|error| {
        let mut keys = error.path().iter().filter_map(|segment| match segment {
            Segment::Map { key } => Some(key.as_str()),
            _ => None,
        });
        let name = parameter(keys.next_back().unwrap_or("options"));
        value(format_args!("{name}: {}", error.inner()))
    })
}
