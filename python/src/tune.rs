//! The choice of strategy, lambda and number of features.

use std::ops::ControlFlow;

use pyo3::prelude::*;
use pyo3::types::PyDict;
use rankrls::greedy::{Step, plan};
use rankrls::tune::{Event, Observer, TuneError, TuneOptions, Tuning};
use rankrls::{ColumnClasses, Lambda, Model as Fitted, SelectError};

use crate::errors::{self, value};
use crate::job::{self, Watch};
use crate::model::Model;
use crate::select::{Data, checked, described, selected};

/// Tells Python of every step of every path, and keeps those of the paths from all data.
struct Steps<'a, 'w> {
    watch: &'a mut Watch<'w>,
    taken: &'a mut Vec<(Lambda, Vec<Step>)>,
}

impl Observer for Steps<'_, '_> {
    fn event(&mut self, event: Event<'_>) -> ControlFlow<()> {
        let Event::Stepped {
            path,
            fold,
            number,
            step,
            ..
        } = event
        else {
            return ControlFlow::Continue(());
        };
        if fold.is_none() {
            if number == 1 {
                self.taken.push((path.lambda, Vec::new()));
            }
            let mut paths = self.taken.iter_mut().rev();
            let taken = paths.find(|(lambda, _)| *lambda == path.lambda);
            if let Some((_, steps)) = taken {
                steps.push(step.clone());
            }
        }
        let lambda = path.lambda.value();
        let (feature, error) = (step.feature, step.lqo_error);
        self.watch
            .tell(move |py| (lambda, fold, number, feature, error).into_pyobject(py))
    }
}

/// Refuses before any work what no strategy has the memory for: a grid would only say so of its
/// first ridge parameter.
fn check_memory(candidates: &ColumnClasses, held: u64, options: &TuneOptions) -> PyResult<()> {
    for selection in options.selections() {
        match plan(candidates, held, &selection) {
            Err(error @ SelectError::Memory { .. }) => return Err(errors::select(error)),
            Err(_) => break,
            Ok(_) => {}
        }
    }
    Ok(())
}

/// Chooses a model: all that were judged as a JSON document, and the chosen one.
#[pyfunction]
#[pyo3(signature = (data, options, threads, callback=None))]
pub(crate) fn tune<'py>(
    py: Python<'py>,
    data: Data<'py>,
    options: &str,
    threads: usize,
    callback: Option<Py<PyAny>>,
) -> PyResult<(Bound<'py, PyDict>, Option<PyErr>)> {
    let view = data.view()?;
    let mut options: TuneOptions = errors::options(options)?;
    checked(&mut options.selection)?;
    let mut taken = Vec::new();
    let work = |watch: &mut Watch<'_>| -> PyResult<Option<_>> {
        let data = view.dataset().map_err(errors::dataset)?;
        let candidates = options.candidates(&data);
        let tuning = Tuning {
            candidates: Some(&candidates),
            ..Tuning::new(&data, &options)
        };
        let watch = &mut Steps {
            watch,
            taken: &mut taken,
        };
        check_memory(&candidates, tuning.held, &options)?;
        let tuned = match tuning.run(watch) {
            Err(TuneError::Interrupted) => return Ok(None),
            tuned => tuned.map_err(errors::tune)?,
        };
        let model = Fitted::from_selection(&tuned.selection(), &data, &candidates.summary());
        let stability: Vec<Option<f64>> = tuned
            .outcomes
            .iter()
            .map(|outcome| outcome.stability(tuned.choice.k, candidates.len())?.index)
            .collect();
        Ok(Some((tuned, model, stability)))
    };
    let (found, ended) = job::run(py, threads, callback.as_ref(), work)?;
    let Some((tuned, model, stability)) = found.transpose()?.flatten() else {
        let longest = taken.into_iter().max_by_key(|(_, steps)| steps.len());
        let (lambda, steps) = longest.unwrap_or((Lambda::ONE, Vec::new()));
        let result = described(py, &steps, &[])?;
        result.set_item("alpha", lambda.value())?;
        return Ok((result, ended));
    };
    let result = selected(py, &tuned.selection(), tuned.is_at_edge())?;
    let outcomes = serde_json::to_string(&tuned.outcomes).map_err(value)?;
    result.set_item("outcomes", outcomes)?;
    result.set_item("choice", (tuned.choice.position, tuned.choice.k))?;
    result.set_item("stability", stability)?;
    result.set_item("model", Model(model).into_pyobject(py)?)?;
    Ok((result, ended))
}
