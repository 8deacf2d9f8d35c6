//! Selection.

use clap::{Args as _, Command};
use numpy::ndarray::{Array2, ArrayView1};
use numpy::{PyArray2, ToPyArray};
use pyo3::prelude::*;
use rankrls::greedy::job::{Selecting, select_among};
use rankrls::greedy::{Selection, Step};
use rankrls::memory::Bytes;
use rankrls::tune;
use rankrls::{
    Candidates, Dataset, GreedyRankRls, IndexBase, Kind, Lambda, Model as Fitted, Warning,
};
use rankrls_files::memory::budget;
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::data::{Data, DataView, Matrix, View};
use crate::errors::{self, Result, value};
use crate::job::{self, Watch};
use crate::model::Model;
use crate::warnings::{Told, told};

/// What to select, and how.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Options {
    selection: GreedyRankRls,
    /// Features asked for, which may be more than there are columns.
    asked: usize,
}

/// Limits options to the memory that there is, and checks them.
pub(crate) fn checked(options: &mut GreedyRankRls) -> Result<()> {
    options.memory = options.memory.within(budget());
    Ok(options.check_strategy()?)
}

/// What is said of a setting.
#[derive(Serialize)]
struct Setting {
    /// As in JSON.
    name: String,
    /// As a parameter of Python.
    parameter: String,
    help: String,
    /// All values, where they have names.
    values: Vec<String>,
}

/// The settings of a selection, in JSON.
#[pyfunction]
pub(crate) fn settings() -> Result<String> {
    let all = GreedyRankRls::augment_args(Command::new("settings"));
    let settings = all.get_arguments().map(|setting| {
        let name = setting.get_long().unwrap_or_default().replace('-', "_");
        Setting {
            parameter: errors::parameter(&name).to_owned(),
            name,
            help: setting
                .get_help()
                .map(ToString::to_string)
                .unwrap_or_default(),
            values: setting
                .get_possible_values()
                .iter()
                .map(|value| value.get_name().to_owned())
                .collect(),
        }
    });
    Ok(serde_json::to_string(&settings.collect::<Vec<_>>())?)
}

/// Bytes of a size such as 8GiB.
#[pyfunction]
pub(crate) fn memory_size(size: &str) -> Result<u64> {
    let bytes = size.parse();
    let Bytes(bytes) = bytes.map_err(|error| value(format_args!("max_memory: {error}")))?;
    Ok(bytes)
}

/// Bytes that may be taken, where the machine tells its memory.
#[pyfunction]
pub(crate) fn free_memory() -> Option<u64> {
    budget()
}

/// The steps so far, which outlive work that is ended in the middle of one.
#[derive(Default)]
struct Taken {
    steps: Vec<Step>,
    weights: Vec<f64>,
    /// The weights after each step, if they are to be kept.
    path: Option<Vec<Vec<f64>>>,
}

/// Weights after each step, `k x k` and lower triangular: row `t` has those of the first `t + 1` features, in
/// order of selection.
fn triangle(steps: &[Vec<f64>]) -> Array2<f64> {
    let weight = |(step, feature): (usize, usize)| steps[step].get(feature).copied();
    Array2::from_shape_fn((steps.len(), steps.len()), |place| {
        weight(place).unwrap_or(0.0)
    })
}

/// Scores of the rows of `data` after each step, `m x k`.
fn scores(data: &Dataset<'_>, features: &[u32], steps: &[Vec<f64>]) -> Array2<f64> {
    let mut all = Array2::zeros((data.rows(), steps.len()));
    for (mut column, weights) in all.columns_mut().into_iter().zip(steps) {
        let scores = data.scores(&features[..weights.len()], weights);
        column.assign(&ArrayView1::from(&scores));
    }
    all
}

/// A finished selection.
struct Found {
    selection: Selection,
    model: Fitted,
    test_scores: Option<Array2<f64>>,
    warnings: Vec<Warning>,
}

/// The lambda of a selection, and a warning where folds chose it at the edge of those tried; nothing where
/// Python wanted the choice to end.
fn choose_lambda(
    data: &Dataset<'_>,
    candidates: &Candidates,
    options: &GreedyRankRls,
    watch: &mut Watch<'_>,
) -> Result<Option<(Lambda, Option<Warning>)>> {
    let mut observer = move |_: tune::TuneEvent<'_>| watch.flow();
    match tune::choose_lambda(options, None, candidates, data, &mut observer) {
        Err(error) if error.kind() == Kind::Stopped => Ok(None),
        chosen => {
            let (lambda, auto) = chosen?;
            Ok(Some((lambda, auto.and_then(|tuned| tuned.edge()))))
        }
    }
}

/// Selects; nothing where the choice of lambda was ended.
fn work(
    data: &DataView<'_>,
    test: Option<View<'_>>,
    Options {
        selection: mut options,
        asked,
    }: Options,
    taken: &mut Taken,
    watch: &mut Watch<'_>,
) -> Result<Option<Found>> {
    let data = data.dataset()?;
    let test = test.as_ref().map(View::unlabelled).transpose()?;
    // Columns count from 0 in Python.
    let candidates = options.candidates(&data).counted_from(IndexBase::Zero);
    let Some((lambda, edge)) = choose_lambda(&data, &candidates, &options, watch)? else {
        return Ok(None);
    };
    options.lambda = lambda.into();
    let mut each = |step: &Step, work: &Selecting<'_>| {
        let number = work.steps().len();
        taken.steps.push(step.clone());
        taken.weights = work.state().weights();
        if let Some(path) = &mut taken.path {
            path.push(taken.weights.clone());
        }
        let told = (number, step.feature, step.lqo_error, step.lqo_cindex);
        watch.tell(move |py| told.into_pyobject(py))
    };
    let mut selection = select_among(&candidates, &data, &options, &[], &mut each)?;
    selection.options.k = asked;
    let path = taken.path.as_deref();
    let features = selection.features();
    let mut warnings = data.warnings();
    warnings.extend(Warning::of_criterion(options.criterion, data.labels()));
    warnings.extend(edge);
    warnings.extend(selection.warnings());
    Ok(Some(Found {
        warnings,
        model: Fitted::from_selection(&selection, &data, &candidates.summary()),
        selection,
        test_scores: test.and_then(|test| Some(scores(&test, &features, path?))),
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
    let mut options: Options = errors::options(options)?;
    checked(&mut options.selection)?;
    let selection = &options.selection;
    data.check_effects(selection, &[selection.strategy])?;
    let test = test.as_ref().map(Matrix::view).transpose()?;
    let mut taken = Taken {
        path: keep_path.then(Vec::new),
        ..Taken::default()
    };
    let (found, ended) = job::run(py, threads, callback.as_ref(), |watch| {
        work(&view, test, options, &mut taken, watch)
    })?;
    let Some(found) = found else {
        let text = json!({"steps": taken.steps, "weights": taken.weights}).to_string();
        return Ok((text, None, None, None, ended));
    };
    let text = serde_json::to_string(&Report::new(&found.selection, found.warnings))?;
    let path = taken.path.map(|path| triangle(&path).to_pyarray(py));
    let scores = found.test_scores.map(|scores| scores.to_pyarray(py));
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
    warnings: Vec<Told>,
}

impl<'a> Report<'a> {
    pub(crate) fn new(selection: &'a Selection, warnings: Vec<Warning>) -> Self {
        Self {
            selection,
            steps: &selection.steps,
            alpha: selection.lambda,
            unit: selection.unit,
            warnings: told(warnings),
        }
    }
}
