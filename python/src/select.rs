//! Selection.

use std::ops::ControlFlow;

use numpy::ndarray::Array2;
use numpy::{PyArray2, ToPyArray};
use pyo3::prelude::*;
use rankrls::greedy::{Event, Observer, Selection, Step, TargetOptions, WeightsPath, select_among};
use rankrls::memory::{Bytes, budget};
use rankrls::tune::{self, TuneError, TuneOptions, Tuning};
use rankrls::{Dataset, Lambda, Model as Fitted, Ridge, SelectionOptions, StrategyKind};
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::data::{Data, DataView, Matrix, View};
use crate::errors::{self, Result, value};
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
pub(crate) fn checked(options: &mut SelectionOptions) -> Result<()> {
    options.max_memory = options.max_memory.or_else(budget);
    Ok(options.check_strategy()?)
}

/// Bytes of a size such as 8GiB.
#[pyfunction]
pub(crate) fn memory_size(size: &str) -> Result<u64> {
    let bytes = size.parse();
    let Bytes(bytes) = bytes.map_err(|error| value(format_args!("max_memory: {error}")))?;
    Ok(bytes)
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
) -> Result<Option<Found>> {
    let data = data.dataset()?;
    let test = test.map(Dataset::unlabelled).transpose()?;
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
                select_among(&candidates, &data, tuning.held, &options, &mut ())?;
                return Err(error.into());
            }
            Err(error @ (TuneError::Folds { .. } | TuneError::OneQueryLeft { .. })) => {
                let remedy = "so that alpha cannot be chosen by them; give a number as alpha";
                return Err(value(format_args!("{error}, {remedy}")));
            }
            tuned => tuned?,
        };
        (options.lambda, at_edge) = (tuned.lambda(), tuned.is_at_edge());
    }
    let mut steps = Steps {
        watch,
        taken,
        path: keep_path.then(WeightsPath::default),
    };
    let selection = select_among(&candidates, &data, data.memory(), &options, &mut steps)?;
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

/// What Python gets of a selection: a [`Report`] in JSON, of which only the steps and weights are there
/// where it was ended before there was a model; the model; weights after each step, and scores of
/// test data, where they were asked for; the exception that ended it.
type Selected<'py> = (
    String,
    Option<Model>,
    Option<Bound<'py, PyArray2<f64>>>,
    Option<Bound<'py, PyArray2<f64>>>,
    Option<PyErr>,
);

/// Selects features.
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
) -> Result<Selected<'py>> {
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
    let Some(found) = found else {
        let text = json!({"steps": taken.steps, "weights": taken.weights}).to_string();
        return Ok((text, None, None, None, ended));
    };
    let text = serde_json::to_string(&Report::new(&found.selection, found.at_edge))?;
    let (path, scores) = found.path.unzip();
    let path = path.map(|path| path.weights().to_pyarray(py));
    let scores = scores.flatten().map(|scores| scores.to_pyarray(py));
    Ok((text, Some(Model(found.model)), path, scores, ended))
}

/// A finished selection.
#[derive(Serialize)]
pub(crate) struct Report<'a> {
    #[serde(flatten)]
    selection: &'a Selection,
    steps: &'a [Step],
    alpha: Lambda,
    unit: f64,
    /// Whether alpha was chosen, and is at the edge of those tried.
    at_edge: bool,
}

impl<'a> Report<'a> {
    pub(crate) fn new(selection: &'a Selection, at_edge: bool) -> Self {
        Self {
            selection,
            steps: &selection.steps,
            alpha: selection.options.lambda,
            unit: selection.unit,
            at_edge,
        }
    }
}
