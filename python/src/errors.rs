//! Errors of the library as exceptions.

use std::fmt::Display;

use pyo3::exceptions::{PyMemoryError, PyValueError};
use pyo3::{PyErr, PyResult};
use rankrls::tune::TuneError;
use rankrls::{DatasetError, SelectError, TrainError};
use serde::de::DeserializeOwned;
use serde_path_to_error::Segment;

/// A mistake in what was handed over.
pub(crate) fn value(error: impl Display) -> PyErr {
    PyValueError::new_err(error.to_string())
}

/// Options of the library from their JSON. A mistake is told with the name that Python has for the
/// parameter.
pub(crate) fn options<T: DeserializeOwned>(json: &str) -> PyResult<T> {
    let options: serde_json::Value = serde_json::from_str(json).map_err(value)?;
    serde_path_to_error::deserialize(options).map_err(|error| {
        let mut keys = error.path().iter().filter_map(|segment| match segment {
            Segment::Map { key } => Some(key.as_str()),
            _ => None,
        });
        let name = match keys.next_back() {
            Some("metric") => "criterion".to_owned(),
            Some("measure") => "scoring".to_owned(),
            key => key.unwrap_or("options").replace("lambda", "alpha"),
        };
        value(format_args!("{name}: {}", error.inner()))
    })
}

pub(crate) fn dataset(error: DatasetError) -> PyErr {
    if let DatasetError::Value { .. } = error {
        return value(format_args!(
            "{error}; fill gaps in first, for example with sklearn.impute.SimpleImputer"
        ));
    }
    value(error)
}

pub(crate) fn select(error: SelectError) -> PyErr {
    match error {
        SelectError::Memory { .. } | SelectError::Factors { .. } => {
            PyMemoryError::new_err(error.to_string())
        }
        SelectError::Teacher(error) => train(error),
        // Columns count from 0 in Python.
        SelectError::Values {
            feature, squares, ..
        } => value(SelectError::Values {
            feature,
            index: feature.into(),
            squares,
        }),
        _ => value(error),
    }
}

pub(crate) fn train(error: TrainError) -> PyErr {
    match error {
        TrainError::Memory { .. } | TrainError::KernelMemory { .. } => {
            PyMemoryError::new_err(error.to_string())
        }
        _ => value(error),
    }
}

/// Rows of the data set count from 1, those of Python, which `inputs` has, from 0.
pub(crate) fn in_input_rows(mut error: TrainError, inputs: &[u32]) -> TrainError {
    let places = match &mut error {
        TrainError::Overflow { row, other } => [row, other],
        TrainError::Asymmetric { row, column, .. } => [row, column],
        _ => return error,
    };
    for place in places {
        *place = inputs[*place - 1] as usize;
    }
    error
}

pub(crate) fn tune(error: TuneError) -> PyErr {
    match error {
        TuneError::Select(error) => select(error),
        _ => value(error),
    }
}
