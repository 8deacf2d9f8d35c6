//! Selection.

use pyo3::prelude::*;
use rankrls::data::DataHash;
use rankrls::greedy::job::{Selecting, select_among};
use rankrls::greedy::{Choice, Selection, Step};
use rankrls::memory::Bytes;
use rankrls::tune::{self, Axes};
use rankrls::{Dataset, GreedyRankRls, Kind, Lambda, Model as Fitted, Warning};
use rankrls_files::memory::budget;
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::data::{Array, CopiedData, Data};
use crate::errors::{self, Result, value};
use crate::job::{self, Watch};
use crate::model::Model;
use crate::warnings::told;

/// The options of a selection.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Options {
    selection: GreedyRankRls,
    /// Values to choose from.
    axes: Axes,
    /// Number of features asked for, which may exceed the number of columns.
    asked: usize,
}

/// Limits options to the free memory, and checks them.
pub(crate) fn checked(options: &mut GreedyRankRls) -> Result<()> {
    options.memory = options.memory.within(budget());
    Ok(options.check_strategy()?)
}

/// Bytes of a size such as 8GiB.
#[pyfunction]
pub(crate) fn memory_size(size: &str) -> Result<u64> {
    let bytes = size.parse();
    let Bytes(bytes) = bytes.map_err(|error| value(format_args!("max_memory: {error}")))?;
    Ok(bytes)
}

/// Bytes that may be taken, if the machine tells its memory.
#[pyfunction]
pub(crate) fn free_memory() -> Option<u64> {
    budget()
}

/// The steps so far. They outlive work that is stopped within a step.
#[derive(Default)]
struct Taken {
    steps: Vec<Step>,
    weights: Vec<f64>,
}

/// A finished selection.
struct Found {
    selection: Selection,
    model: Fitted,
    warnings: Vec<Warning>,
}

/// Options with every open value chosen, and the choice. `None` if Python ended the choice.
fn choose(
    data: &Dataset<'_>,
    axes: &Axes,
    options: &GreedyRankRls,
    watch: &mut Watch<'_>,
) -> Result<Option<(GreedyRankRls, Option<Choice>)>> {
    let mut observer = move |_: tune::ChoiceEvent<'_>| watch.flow();
    match tune::choose_among(axes, options, None, data, &mut observer) {
        Err(error) if error.kind() == Kind::Stopped => Ok(None),
        chosen => Ok(Some(chosen?)),
    }
}

/// Selects. `None` if the choice of lambda was stopped.
fn work(
    data: CopiedData,
    Options {
        selection: given,
        axes,
        asked,
    }: Options,
    taken: &mut Taken,
    watch: &mut Watch<'_>,
) -> Result<Option<Found>> {
    let data = data.dataset()?;
    let Some((options, mut choice)) = choose(&data, &axes, &given, watch)? else {
        return Ok(None);
    };
    let candidates = options.candidates(&data)?;
    let options = tune::affordable(options, choice.as_mut(), &candidates, &data);
    let mut each = |step: &Step, work: &Selecting<'_>| {
        let number = work.steps().len();
        taken.steps.push(step.clone());
        taken.weights = work.state().weights();
        let (feature, error, cindex) = (step.feature, step.lqo_error, step.lqo_cindex);
        let weights = Array(taken.weights.clone());
        watch.tell(move |py| (number, feature, error, cindex, weights).into_pyobject(py))
    };
    let mut selection = select_among(&candidates, &data, &options, &[], &mut each)?;
    selection.options.k = asked;
    let mut warnings = data.warnings();
    warnings.extend(Warning::of_grades(
        options.criterion.metric().as_slice(),
        data.labels(),
    ));
    if axes.scale.is_empty() && given.keeps_units() {
        warnings.extend(Warning::of_units(&candidates, &data));
    }
    warnings.extend(selection.warnings());
    let mut model = Fitted::from_selection(
        &selection,
        &data,
        &candidates.summary(),
        DataHash::of(&data),
    );
    model.choice = choice;
    Ok(Some(Found {
        selection,
        model,
        warnings,
    }))
}

/// Selects features. Returns a [`Report`] in JSON, the model, and the exception that ended the selection. A
/// selection that ends before it has a model reports only its steps and weights.
#[pyfunction]
#[pyo3(signature = (data, options, threads, callback=None))]
pub(crate) fn select(
    py: Python<'_>,
    data: Data<'_>,
    options: &str,
    threads: usize,
    callback: Option<Py<PyAny>>,
) -> Result<(String, Option<Model>, Option<PyErr>)> {
    let copy = data.copied()?;
    let mut options: Options = errors::options(options)?;
    checked(&mut options.selection)?;
    let selection = &options.selection;
    let strategies = match &options.axes.strategy[..] {
        [] => std::slice::from_ref(&selection.strategy),
        several => several,
    };
    data.check_effects(selection, strategies)?;
    let mut taken = Taken::default();
    let (found, ended) = job::run(py, threads, callback.as_ref(), |watch| {
        work(copy, options, &mut taken, watch)
    })?;
    let Some(found) = found else {
        let text = json!({"steps": taken.steps, "weights": taken.weights}).to_string();
        return Ok((text, None, ended));
    };
    let text = serde_json::to_string(&Report::new(&found.selection, found.warnings))?;
    Ok((text, Some(Model::of(found.model)), ended))
}

/// A finished selection.
#[derive(Serialize)]
pub(crate) struct Report<'a> {
    #[serde(flatten)]
    selection: &'a Selection,
    steps: &'a [Step],
    alpha: Lambda,
    unit: f64,
    warnings: Vec<String>,
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
