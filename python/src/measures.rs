//! Measures of rankings, and comparisons of two.

use numpy::PyArray1;
use pyo3::prelude::*;
use rankrls::metrics::{Convention, Measure, PairedOptions, parse_list};
use rankrls::{Queries, Warning};

use crate::data::{Array, copied};
use crate::errors::Result;
use crate::job;
use crate::warnings::told;

/// The name of a measure, the measure in JSON, and its value for each query: nan if a query has none.
type Measured = (String, String, Array<f64>);

/// Measures `scores` of rows in queries of `sizes` rows each. Returns warnings, too.
#[pyfunction]
pub(crate) fn evaluate(
    py: Python<'_>,
    metrics: &str,
    labels: Bound<'_, PyArray1<f64>>,
    scores: Bound<'_, PyArray1<f64>>,
    sizes: Vec<usize>,
    convention: &str,
    threads: usize,
) -> Result<(Vec<Measured>, Vec<String>)> {
    let metrics = parse_list(metrics)?;
    let convention: Convention = convention.parse()?;
    let queries = Queries::from_sizes(&sizes)?;
    let (labels, scores) = (copied(&labels)?, copied(&scores)?);
    let found = job::finish(py, threads, || {
        let found = rankrls::metrics::evaluate(&metrics, &labels, &scores, &queries, convention);
        Ok(found?)
    });
    let described = found?.into_iter().map(|(metric, score)| {
        let mut values = serde_json::to_value(&score)?;
        values["left_out"] = score.left_out().into();
        let per_query = score.per_query.iter();
        let per_query = per_query.map(|value| value.unwrap_or(f64::NAN)).collect();
        Ok((metric.to_string(), values.to_string(), Array(per_query)))
    });
    let warnings = Warning::of_grades(&metrics, &labels);
    let warnings: Vec<_> = warnings.into_iter().collect();
    Ok((described.collect::<Result<_>>()?, told(warnings)))
}

/// The name of a measure under this convention, unless it names its own.
#[pyfunction]
pub(crate) fn under(measure: &str, convention: &str) -> Result<String> {
    let measure: Measure = measure.parse()?;
    Ok(measure.under(convention.parse()?).to_string())
}

/// Compares the values of queries under two rankings: nan if a query has none.
#[pyfunction]
pub(crate) fn paired(
    py: Python<'_>,
    first: Bound<'_, PyArray1<f64>>,
    second: Bound<'_, PyArray1<f64>>,
    resamples: usize,
    confidence: f64,
    seed: u64,
    threads: usize,
) -> Result<String> {
    let values = |array: &Bound<'_, PyArray1<f64>>| -> Result<Vec<Option<f64>>> {
        let values = copied(array)?.into_iter();
        Ok(values
            .map(|value| (!value.is_nan()).then_some(value))
            .collect())
    };
    let (first, second) = (values(&first)?, values(&second)?);
    let options = PairedOptions {
        resamples,
        confidence,
        seed,
    };
    let found = job::finish(py, threads, || {
        Ok(rankrls::metrics::paired(&first, &second, &options)?)
    })?;
    Ok(serde_json::to_string(&found)?)
}
