//! Selection.

use std::ops::ControlFlow;

use numpy::ndarray::Array2;
use numpy::{PyArray1, PyReadonlyArray1, ToPyArray};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use rankrls::greedy::{Event, Observer, Selection, Step, TargetOptions, WeightsPath, select_among};
use rankrls::memory::{Bytes, budget};
use rankrls::tune::{self, TuneError, TuneOptions, Tuning};
use rankrls::{Dataset, Lambda, Model as Fitted, Ridge, SelectionOptions, StrategyKind};
use serde::Deserialize;

use crate::data::{Matrix, View, dataset};
use crate::errors::{self, value};
use crate::job::{self, Watch};
use crate::model::Model;

/// What to select, and how.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Options {
    /// `None`: chosen by three folds.
    alpha: Option<Ridge>,
    selection: SelectionOptions,
}

/// Limits options to the memory that there is, and checks them.
pub(crate) fn checked(options: &mut SelectionOptions) -> PyResult<()> {
    options.max_memory = options.max_memory.or_else(budget);
    options.check_strategy().map_err(errors::select)
}

/// Bytes of a size such as 8GiB.
#[pyfunction]
pub(crate) fn memory_size(size: &str) -> PyResult<u64> {
    let bytes = size.parse();
    let Bytes(bytes) = bytes.map_err(|error| value(format_args!("max_memory: {error}")))?;
    Ok(bytes)
}

/// The training data as Python has them.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct Data<'py> {
    x: Matrix<'py>,
    y: PyReadonlyArray1<'py, f64>,
    codes: PyReadonlyArray1<'py, i64>,
    ids: Vec<String>,
    teacher: Option<PyReadonlyArray1<'py, f64>>,
    validation: Option<Matrix<'py>>,
}

/// Data to be used while Python does something else.
pub(crate) struct DataView<'a> {
    x: View<'a>,
    y: &'a [f64],
    codes: &'a [i64],
    ids: &'a [String],
    teacher: Option<&'a [f64]>,
    validation: Option<View<'a>>,
}

impl Data<'_> {
    pub(crate) fn view(&self) -> PyResult<DataView<'_>> {
        let teacher = self.teacher.as_ref().map(PyReadonlyArray1::as_slice);
        Ok(DataView {
            x: self.x.view()?,
            y: self.y.as_slice()?,
            codes: self.codes.as_slice()?,
            ids: &self.ids,
            teacher: teacher.transpose()?,
            validation: self.validation.as_ref().map(Matrix::view).transpose()?,
        })
    }
}

impl<'a> DataView<'a> {
    pub(crate) fn dataset(&self) -> Result<Dataset<'a>, rankrls::DatasetError> {
        let mut data = dataset(self.x.clone(), self.y, self.codes, self.ids)?;
        if let Some(scores) = self.teacher {
            let scores = data.in_row_order(scores);
            data = data.with_teacher(scores)?;
        }
        if let Some(validation) = &self.validation {
            let validation = Dataset::unlabelled(validation.clone())?;
            // A copy of its only query.
            data = data.with_validation(validation.queries_subset(&[0])?);
        }
        Ok(data)
    }
}

/// The steps so far, which outlive work that is ended in the middle of one.
#[derive(Default)]
struct Taken {
    steps: Vec<Step>,
    weights: Vec<f64>,
}

/// Tells Python of every step, and keeps what was asked for.
struct Steps<'a, 'w> {
    watch: &'a mut Watch<'w>,
    taken: &'a mut Taken,
    path: Option<WeightsPath>,
}

impl Observer for Steps<'_, '_> {
    fn event(&mut self, event: Event<'_>) -> ControlFlow<()> {
        let Event::Stepped(advance, state) = event else {
            return ControlFlow::Continue(());
        };
        if let Some(path) = &mut self.path {
            let _ = path.event(event);
        }
        let (number, step) = (state.steps(), &advance.step);
        self.taken.steps.push(step.clone());
        self.taken.weights = state.weights();
        let (feature, error, cindex) = (step.feature, step.lqo_error, step.lqo_cindex);
        self.watch
            .tell(move |py| (number, feature, error, cindex).into_pyobject(py))
    }
}

/// A finished selection.
struct Found {
    selection: Selection,
    model: Fitted,
    /// The weights after each step, if they are to be kept, and the scores of the test data.
    path: Option<(WeightsPath, Option<Array2<f64>>)>,
    /// Whether lambda was chosen, and is at the edge of those tried.
    at_edge: bool,
}

/// Selects; nothing where the choice of lambda was ended.
fn work(
    data: &DataView<'_>,
    test: Option<View<'_>>,
    mut options: SelectionOptions,
    ridge: Option<Ridge>,
    keep_path: bool,
    taken: &mut Taken,
    watch: &mut Watch<'_>,
) -> PyResult<Option<Found>> {
    let data = data.dataset().map_err(errors::dataset)?;
    let test = test.map(Dataset::unlabelled).transpose();
    let test = test.map_err(errors::dataset)?;
    let distils = options.strategy.is_some_and(StrategyKind::distils);
    let candidates = options.candidates(&data);
    let usual = distils.then(|| TargetOptions::ridge(data.queries().len()));
    let mut at_edge = false;
    if let Some(ridge) = ridge.or(usual) {
        options.lambda = ridge.lambda(candidates.unit());
    } else {
        let quick = TuneOptions::quick(options);
        let tuning = Tuning {
            candidates: Some(&candidates),
            ..Tuning::new(&data, &quick)
        };
        // Ends where Python wants the work to end.
        let stop = &mut *watch;
        let mut observer = move |_: tune::Event<'_>| stop.flow();
        let tuned = match tuning.run(&mut observer) {
            Ok(tuned) if tuned.interrupted => return Ok(None),
            Err(TuneError::Interrupted) => return Ok(None),
            Err(error @ TuneError::NoModel { lambda, .. }) => {
                // What stops every lambda mostly stops the selection, which says so in its words.
                options.lambda = lambda;
                let selection = select_among(&candidates, &data, tuning.held, &options, &mut ());
                selection.map_err(errors::select)?;
                return Err(errors::tune(error));
            }
            Err(error @ (TuneError::Folds { .. } | TuneError::OneQueryLeft { .. })) => {
                let remedy = "so that alpha cannot be chosen by them; give a number as alpha";
                return Err(errors::value(format_args!("{error}, {remedy}")));
            }
            tuned => tuned.map_err(errors::tune)?,
        };
        (options.lambda, at_edge) = (tuned.lambda(), tuned.is_at_edge());
    }
    let mut steps = Steps {
        watch,
        taken,
        path: keep_path.then(WeightsPath::default),
    };
    let selection = select_among(&candidates, &data, data.memory(), &options, &mut steps);
    let selection = selection.map_err(errors::select)?;
    let path = steps.path.map(|path| {
        let scores = test.map(|test| path.scores(&test));
        (path, scores)
    });
    Ok(Some(Found {
        model: Fitted::from_selection(&selection, &data, &candidates.summary()),
        selection,
        path,
        at_edge,
    }))
}

/// Selects features: what was found, and the exception that ended it early.
#[pyfunction]
#[pyo3(signature = (data, options, threads, keep_path=false, test=None, callback=None))]
pub(crate) fn select<'py>(
    py: Python<'py>,
    data: Data<'py>,
    options: &str,
    threads: usize,
    keep_path: bool,
    test: Option<Matrix<'py>>,
    callback: Option<Py<PyAny>>,
) -> PyResult<(Bound<'py, PyDict>, Option<PyErr>)> {
    let view = data.view()?;
    let Options {
        alpha,
        mut selection,
    } = errors::options(options)?;
    checked(&mut selection)?;
    let test = test.as_ref().map(Matrix::view).transpose()?;
    let mut taken = Taken::default();
    let (found, ended) = job::run(py, threads, callback.as_ref(), |watch| {
        work(&view, test, selection, alpha, keep_path, &mut taken, watch)
    })?;
    let Some(found) = found.transpose()?.flatten() else {
        let result = described(py, &taken.steps, &taken.weights)?;
        return Ok((result, ended));
    };
    let result = selected(py, &found.selection, found.at_edge)?;
    if let Some((path, scores)) = found.path {
        result.set_item("weights_path", path.weights().to_pyarray(py))?;
        let scores = scores.map(|scores| scores.to_pyarray(py));
        result.set_item("test_scores", scores)?;
    }
    result.set_item("model", Model(found.model).into_pyobject(py)?)?;
    Ok((result, ended))
}

/// A selection as a dict of arrays; its lambda was chosen and is `at_edge`.
pub(crate) fn selected<'py>(
    py: Python<'py>,
    selection: &Selection,
    at_edge: bool,
) -> PyResult<Bound<'py, PyDict>> {
    let result = described(py, &selection.steps, &selection.weights)?;
    result.set_item("strategy", selection.strategy.name())?;
    result.set_item("alpha", selection.options.lambda.value())?;
    result.set_item("unit", selection.unit)?;
    let taught = selection.teacher.is_some_and(|teacher| teacher.at_edge);
    result.set_item("at_edge", (at_edge, taught))?;
    result.set_item("condition", selection.condition)?;
    let teacher = selection.teacher.map(|teacher| {
        let solver = teacher.solver.map(rankrls::Solver::name);
        (solver, teacher.lambda.map(Lambda::value), teacher.cindex)
    });
    result.set_item("teacher", teacher)?;
    Ok(result)
}

/// Steps and weights as a dict of arrays; undefined indices are nan.
pub(crate) fn described<'py>(
    py: Python<'py>,
    steps: &[Step],
    weights: &[f64],
) -> PyResult<Bound<'py, PyDict>> {
    let numbers = |number: fn(&Step) -> f64| PyArray1::from_iter(py, steps.iter().map(number));
    let features = steps.iter().map(|step| i64::from(step.feature));
    let result = PyDict::new(py);
    result.set_item("features", PyArray1::from_iter(py, features))?;
    result.set_item("weights", weights.to_pyarray(py))?;
    result.set_item("lqo_error", numbers(|step| step.lqo_error))?;
    result.set_item(
        "lqo_cindex",
        numbers(|step| step.lqo_cindex.unwrap_or(f64::NAN)),
    )?;
    result.set_item(
        "criterion",
        numbers(|step| step.criterion.unwrap_or(f64::NAN)),
    )?;
    Ok(result)
}
