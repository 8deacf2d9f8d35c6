//! The choice of strategy, lambda and number of features.

use std::ops::ControlFlow;

use pyo3::prelude::*;
use rankrls::data::{DataHash, Groups};
use rankrls::greedy::job::plan;
use rankrls::tune::{ChoiceEvent, Outcome, PathSteps, Tune, TuneEvent, Tuned, Tuning};
use rankrls::{ColumnClasses, Dataset, HoldOut, Kind, Model as Fitted, Warning};
use serde::Serialize;
use serde_json::{Value, json};

use crate::data::{CopiedData, Data};
use crate::errors::{self, Result};
use crate::job::{self, Watch};
use crate::model::Model;
use crate::select::{self, checked};

/// Refuses, before any work, selections that no strategy has the memory for. A grid would only report its first
/// ridge parameter.
fn check_memory(data: &Dataset<'_>, candidates: &ColumnClasses, options: &Tune) -> Result<()> {
    for selection in options.selections() {
        match plan(candidates, data, &selection) {
            Err(error) if error.kind() == Kind::Memory => return Err(error.into()),
            Err(_) => break,
            Ok(_) => {}
        }
    }
    Ok(())
}

/// The chosen selection, and all judged ones.
#[derive(Serialize)]
struct Report<'a> {
    #[serde(flatten)]
    selection: select::Report<'a>,
    outcomes: &'a [Outcome],
    choice: Value,
    stability: Vec<Option<f64>>,
}

/// A model that was chosen.
struct Found {
    tuned: Tuned,
    model: Fitted,
    /// The stability of each outcome.
    stability: Vec<Option<f64>>,
    warnings: Vec<Warning>,
}

/// The options, by these `folds` of the rows where the caller has drawn them.
fn on_folds(given: &Tune, folds: Option<&[u32]>, data: &Dataset<'_>) -> Result<Tune> {
    let holdout = match folds {
        Some(folds) => HoldOut::Given {
            name: "cv".to_owned(),
            groups: Groups::of_folds(folds, data, None)?.of_queries(data.queries())?,
        },
        None => given.holdout.clone(),
    };
    Ok(Tune {
        holdout,
        ..given.clone()
    })
}

/// Keeps the longest path from all data so far, and tells of each step.
fn follow(
    event: TuneEvent<'_>,
    longest: &mut Option<PathSteps>,
    watch: &mut Watch<'_>,
) -> ControlFlow<()> {
    let TuneEvent::Stepped(path) = event else {
        return ControlFlow::Continue(());
    };
    let (number, fold) = (path.steps.len(), path.fold);
    let Some(step) = path.steps.last() else {
        return ControlFlow::Continue(());
    };
    let known = longest.as_ref().map_or(0, |path| path.steps.len());
    if fold.is_none() && number >= known {
        *longest = Some(path.clone());
    }
    let (feature, error) = (step.feature, step.lqo_error);
    let told = (path.lambda.value(), fold, number, feature, error);
    watch.tell(move |py| told.into_pyobject(py))
}

/// Chooses; nothing where Python wanted it to end.
fn work(
    data: CopiedData,
    given: &Tune,
    folds: Option<&[u32]>,
    longest: &mut Option<PathSteps>,
    watch: &mut Watch<'_>,
) -> Result<Option<Found>> {
    let data = data.dataset()?;
    let given = &on_folds(given, folds, &data)?;
    let choosing = &mut *watch;
    let mut choosing = move |_: ChoiceEvent<'_>| choosing.flow();
    let (options, choice) = match given.chosen(None, &data, &mut choosing) {
        Err(error) if error.kind() == Kind::Stopped => return Ok(None),
        chosen => chosen?,
    };
    let candidates = options.selection.candidates(&data)?;
    check_memory(&data, &candidates, &options)?;
    let tuning = Tuning {
        candidates: Some(&candidates),
        ..Tuning::new(&data, &options)
    };
    let tuned = match tuning.run(&mut |event: TuneEvent<'_>| follow(event, longest, watch)) {
        Err(error) if error.kind() == Kind::Stopped => return Ok(None),
        tuned => tuned?,
    };
    let (summary, hash) = (candidates.summary(), DataHash::of(&data));
    let mut model = Fitted::from_selection(&tuned.selection(), &data, &summary, hash);
    model.choice = choice;
    let stability = |outcome: &Outcome| outcome.stability(tuned.k, candidates.len())?.index;
    let mut warnings = data.warnings();
    let criterion = options.selection.criterion.metric().into_iter();
    let measures: Vec<_> = criterion.chain(options.measures()).collect();
    warnings.extend(Warning::of_grades(&measures, data.labels()));
    if given.keeps_units() {
        warnings.extend(Warning::of_units(&candidates, &data));
    }
    warnings.extend(tuned.warnings(&data));
    Ok(Some(Found {
        stability: tuned.outcomes.iter().map(stability).collect(),
        tuned,
        model,
        warnings,
    }))
}

/// Chooses a model. Returns a [`Report`] in JSON, the model, and the exception that ended the choice. A choice that
/// ends before it has a model reports only the steps and ridge parameter of the longest path. `folds` has the fold
/// of each row, if the caller has drawn folds.
#[pyfunction]
#[pyo3(signature = (data, options, threads, callback=None, folds=None))]
pub(crate) fn tune<'py>(
    py: Python<'py>,
    data: Data<'py>,
    options: &str,
    threads: usize,
    callback: Option<Py<PyAny>>,
    folds: Option<Vec<u32>>,
) -> Result<(String, Option<Model>, Option<PyErr>)> {
    let copy = data.copied()?;
    let mut given: Tune = errors::options(options)?;
    checked(&mut given.selection)?;
    let selections = given.selections();
    for selection in &selections {
        selection.check_strategy()?;
    }
    let strategies = selections.iter().map(|selection| selection.strategy);
    data.check_effects(&given.selection, &strategies.collect::<Vec<_>>())?;
    let mut longest = None;
    let (found, ended) = job::run(py, threads, callback.as_ref(), |watch| {
        work(copy, &given, folds.as_deref(), &mut longest, watch)
    })?;
    let Some(found) = found else {
        let alpha = longest.as_ref().map_or(1.0, |path| path.lambda.value());
        let steps = longest.map_or_else(Vec::new, |path| path.steps);
        let text = json!({"steps": steps, "weights": [], "alpha": alpha}).to_string();
        return Ok((text, None, ended));
    };
    let (tuned, selection) = (&found.tuned, found.tuned.selection());
    let report = Report {
        selection: select::Report::new(&selection, found.warnings),
        outcomes: &tuned.outcomes,
        choice: json!({"position": tuned.position, "k": tuned.k}),
        stability: found.stability,
    };
    let text = serde_json::to_string(&report)?;
    Ok((text, Some(Model::of(found.model)), ended))
}
