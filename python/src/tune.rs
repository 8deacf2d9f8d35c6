//! The choice of strategy, lambda and number of features.

use std::ops::ControlFlow;

use pyo3::prelude::*;
use rankrls::data::{DataHash, Groups};
use rankrls::greedy::job::plan;
use rankrls::tune::{ChoiceEvent, Outcome, PathSteps, Tune, TuneEvent, Tuning};
use rankrls::{ColumnClasses, Dataset, HoldOut, Kind, Lambdas, Model as Fitted, Warning};
use serde::Serialize;
use serde_json::{Value, json};

use crate::data::Data;
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

/// Whether every model takes columns in their own units, without a choice.
fn keeps_units(given: &Tune) -> bool {
    match given.selection.scale {
        _ if !given.scales.is_empty() => false,
        Some(scale) => scale.is_none(),
        None => given.lambdas != Lambdas::Auto,
    }
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
    let strategies: Vec<_> = selections
        .iter()
        .map(|selection| selection.strategy)
        .collect();
    data.check_effects(&given.selection, &strategies)?;
    // The longest path on all data so far.
    let mut longest: Option<PathSteps> = None;
    let work = |watch: &mut Watch<'_>| -> Result<Option<_>> {
        let data = copy.dataset()?;
        let given = &Tune {
            holdout: match &folds {
                Some(folds) => HoldOut::Given {
                    name: "cv".to_owned(),
                    groups: Groups::of_folds(folds, &data, None)?.of_queries(data.queries())?,
                },
                None => given.holdout.clone(),
            },
            ..given.clone()
        };
        let choosing = &mut *watch;
        let mut choosing = move |_: ChoiceEvent<'_>| choosing.flow();
        let chosen = match given.chosen(None, &data, &mut choosing) {
            Err(error) if error.kind() == Kind::Stopped => return Ok(None),
            chosen => chosen?,
        };
        let (options, choice) = &chosen;
        let candidates = options.selection.candidates(&data)?;
        let tuning = Tuning {
            candidates: Some(&candidates),
            ..Tuning::new(&data, options)
        };
        check_memory(&data, &candidates, options)?;
        let mut observer = |event: TuneEvent<'_>| {
            let TuneEvent::Stepped(path) = event else {
                return ControlFlow::Continue(());
            };
            let (number, fold) = (path.steps.len(), path.fold);
            let Some(step) = path.steps.last() else {
                return ControlFlow::Continue(());
            };
            let known = longest.as_ref().map_or(0, |path| path.steps.len());
            if fold.is_none() && number >= known {
                longest = Some(path.clone());
            }
            let (feature, error) = (step.feature, step.lqo_error);
            let told = (path.lambda.value(), fold, number, feature, error);
            watch.tell(move |py| told.into_pyobject(py))
        };
        let tuned = match tuning.run(&mut observer) {
            Err(error) if error.kind() == Kind::Stopped => return Ok(None),
            tuned => tuned?,
        };
        let mut model = Fitted::from_selection(
            &tuned.selection(),
            &data,
            &candidates.summary(),
            DataHash::of(&data),
        );
        model.choice.clone_from(choice);
        let stability = |outcome: &Outcome| outcome.stability(tuned.k, candidates.len());
        let stability = tuned
            .outcomes
            .iter()
            .map(|outcome| stability(outcome)?.index);
        let stability: Vec<Option<f64>> = stability.collect();
        let mut warnings = data.warnings();
        let criterion = options.selection.criterion.metric().into_iter();
        let measures: Vec<_> = criterion.chain(options.measures()).collect();
        warnings.extend(Warning::of_grades(&measures, data.labels()));
        if keeps_units(given) {
            warnings.extend(Warning::of_units(&candidates, &data));
        }
        warnings.extend(tuned.warnings(&data));
        Ok(Some((tuned, model, stability, warnings)))
    };
    let (found, ended) = job::run(py, threads, callback.as_ref(), work)?;
    let Some((tuned, model, stability, warnings)) = found else {
        let alpha = longest.as_ref().map_or(1.0, |path| path.lambda.value());
        let steps = longest.map_or_else(Vec::new, |path| path.steps);
        let text = json!({"steps": steps, "weights": [], "alpha": alpha}).to_string();
        return Ok((text, None, ended));
    };
    let selection = tuned.selection();
    let report = Report {
        selection: select::Report::new(&selection, warnings),
        outcomes: &tuned.outcomes,
        choice: json!({"position": tuned.position, "k": tuned.k}),
        stability,
    };
    Ok((
        serde_json::to_string(&report)?,
        Some(Model::of(model)),
        ended,
    ))
}
