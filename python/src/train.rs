//! `RankRLS` on all features.

use numpy::ToPyArray;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use rankrls::RankRls;

use crate::data::in_input_order;
use crate::errors;
use crate::job;
use crate::model::Model;
use crate::select::{Data, label_scale, lambda, parsed};

/// How to train, as Python has it.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct TrainOptions {
    alpha: f64,
    solver: String,
    query_weight: String,
    scale: String,
    labels: String,
    /// `None`: leave-query-out where it comes from the factors of the solver.
    holdout: Option<String>,
    seed: u64,
    max_memory: Option<u64>,
    threads: usize,
}

enum Failure {
    Data(rankrls::DatasetError),
    Train(rankrls::TrainError),
}

/// Trains `RankRLS`.
#[pyfunction]
pub(crate) fn train<'py>(
    py: Python<'py>,
    data: Data<'py>,
    options: TrainOptions,
) -> PyResult<(Option<Bound<'py, PyDict>>, Option<PyErr>)> {
    let view = data.view()?;
    let mut params = RankRls::params()
        .lambda(lambda("alpha", options.alpha)?.value())
        .map_err(errors::value)?
        .query_weight(parsed("query_weight", &options.query_weight)?)
        .scale(parsed("scale", &options.scale)?)
        .labels(label_scale(&options.labels)?);
    if options.solver != "auto" {
        params = params.solver(parsed("solver", &options.solver)?);
    }
    if let Some(scheme) = &options.holdout {
        let scheme: rankrls::ridge::HoldOut = parsed("holdout", scheme)?;
        params = params.holdout(scheme.seed(options.seed));
    }
    if let Some(limit) = options.max_memory.or_else(rankrls::memory::budget) {
        params = params.max_memory(limit);
    }
    let (found, ended) = job::run(py, options.threads, None, |_| {
        let data = view.dataset().map_err(Failure::Data)?;
        let model = params.fit(&data).map_err(Failure::Train)?;
        let holdout = model.holdout().map(|holdout| {
            let predictions = in_input_order(&data, holdout.predictions.clone());
            (predictions, holdout.error, holdout.cindex)
        });
        Ok((model, holdout))
    })?;
    let Some(found) = found else {
        return Ok((None, ended));
    };
    let (model, holdout) = found.map_err(|failure| match failure {
        Failure::Data(error) => errors::dataset(error),
        Failure::Train(error) => errors::train(error),
    })?;
    let result = PyDict::new(py);
    let features: Vec<i64> = model.features().iter().map(|&f| f.into()).collect();
    result.set_item("features", features.to_pyarray(py))?;
    result.set_item("weights", model.weights().to_pyarray(py))?;
    result.set_item("solver", model.solver().name())?;
    result.set_item("condition", model.condition())?;
    let holdout = holdout.map(|(predictions, error, cindex)| {
        (
            predictions.to_pyarray(py),
            error,
            cindex.unwrap_or(f64::NAN),
        )
    });
    result.set_item("holdout", holdout)?;
    result.set_item("model", Model(model.model().clone()).into_pyobject(py)?)?;
    Ok((Some(result), ended))
}
