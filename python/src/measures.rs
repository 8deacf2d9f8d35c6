//! Measures of rankings, and comparisons of two.

use numpy::{PyArray1, PyReadonlyArray1};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use rankrls::Queries;
use rankrls::metrics::{PairedOptions, Rules, parse_list};

use crate::errors::value;

/// Measures `scores` of rows in queries of `sizes` rows each.
#[pyfunction]
pub(crate) fn evaluate<'py>(
    py: Python<'py>,
    metrics: &str,
    labels: PyReadonlyArray1<'py, f64>,
    scores: PyReadonlyArray1<'py, f64>,
    sizes: Vec<usize>,
    rules: &str,
) -> PyResult<Bound<'py, PyDict>> {
    let metrics = parse_list(metrics).map_err(value)?;
    let rules: Rules = serde_json::from_str(rules).map_err(value)?;
    let queries = Queries::from_sizes(&sizes).map_err(value)?;
    let (labels, scores) = (labels.as_slice()?, scores.as_slice()?);
    let found = py.detach(|| rankrls::metrics::evaluate(&metrics, labels, scores, &queries, rules));
    let result = PyDict::new(py);
    for found in found.map_err(value)?.metrics {
        let per_query = found.per_query.iter();
        let per_query = PyArray1::from_iter(py, per_query.map(|value| value.unwrap_or(f64::NAN)));
        let values = (
            found.mean,
            found.standard_error,
            found.queries,
            found.left_out,
        );
        result.set_item(found.metric.to_string(), (values, per_query))?;
    }
    Ok(result)
}

/// Compares the values that queries have by two rankings; nan for queries without.
#[pyfunction]
pub(crate) fn paired(
    py: Python<'_>,
    first: PyReadonlyArray1<'_, f64>,
    second: PyReadonlyArray1<'_, f64>,
    resamples: usize,
    confidence: f64,
    seed: u64,
) -> PyResult<String> {
    let values = |array: &PyReadonlyArray1<'_, f64>| -> PyResult<Vec<Option<f64>>> {
        let values = array.as_slice()?.iter();
        Ok(values
            .map(|&value| (!value.is_nan()).then_some(value))
            .collect())
    };
    let (first, second) = (values(&first)?, values(&second)?);
    let options = PairedOptions {
        resamples,
        confidence,
        seed,
    };
    let found = py.detach(|| rankrls::metrics::paired(&first, &second, &options));
    serde_json::to_string(&found.map_err(value)?).map_err(value)
}
