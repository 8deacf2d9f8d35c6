//! The whole job of a selection, and what it finds.

use ndarray::{Array1, ArrayView1};
use serde::{Deserialize, Serialize};

use super::{
    Each, Labels, OWN, OwnStrategy, Selecting, SelectionOptions, Step, StrategyKind, Target,
    Teacher, plan_with,
};
use crate::candidates::Candidates;
use crate::data::Dataset;
use crate::error::Result;
use crate::lambda::Lambda;

/// How a selection ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Ending {
    /// It has as many features as asked for.
    Complete,
    /// It has all the candidates there are.
    Exhausted,
    /// It was stopped on the way.
    Interrupted,
}

/// A finished selection. As JSON: what was asked for, the teacher, weights, condition and ending.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Selection {
    /// The strategy used; `None`: one that the library does not have.
    #[serde(skip)]
    pub strategy: Option<StrategyKind>,
    /// The options asked for, with every choice made: the strategy, candidates drawn each step (if not
    /// all were judged), what was learnt from. Without a memory limit.
    #[serde(flatten)]
    pub options: SelectionOptions,
    /// The ridge parameter used.
    #[serde(skip)]
    pub lambda: Lambda,
    /// The unit of ridge parameters ([`Candidates::unit`]).
    #[serde(skip)]
    pub unit: f64,
    /// The teacher, if there was one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub teacher: Option<Teacher>,
    /// The steps and what they took.
    #[serde(skip)]
    pub steps: Vec<Step>,
    /// Weights of the selected features in order of selection.
    pub weights: Vec<f64>,
    /// The factor by which rounding may be amplified in errors and weights
    /// ([`State::condition`](State::condition)).
    pub condition: f64,
    /// How it ended.
    pub ending: Ending,
}

impl Selection {
    /// The name of the strategy; `own` for one that the library does not have.
    pub fn strategy_name(&self) -> &'static str {
        self.strategy.map_or(OWN, StrategyKind::name)
    }

    /// 0-based features in order of selection.
    pub fn features(&self) -> Vec<u32> {
        self.steps.iter().map(|step| step.feature).collect()
    }

    /// Weights of the selected features in order of selection, `k`.
    pub fn weights(&self) -> ArrayView1<'_, f64> {
        ArrayView1::from(&self.weights)
    }

    /// Leave-query-out error after each step, `k`.
    pub fn errors(&self) -> Array1<f64> {
        self.steps.iter().map(|step| step.lqo_error).collect()
    }
}

/// Selects features of `dataset`.
pub fn select(
    dataset: &Dataset<'_>,
    options: &SelectionOptions,
    each: &mut Each<'_>,
) -> Result<Selection> {
    let candidates = options.candidates(dataset);
    select_among(&candidates, dataset, options, &[], each)
}

/// Selects among candidates that have been found before. Queries weigh what they weigh in the candidates,
/// and columns are scaled as there, whatever the options say.
///
/// Takes the `given` steps of an earlier run again, without a search, and selects the rest. Ends with the
/// features, errors and weights, to the last bit, of a selection that was never interrupted.
pub fn select_among<'a>(
    candidates: &'a Candidates,
    target: impl Into<Target<'a>>,
    options: &SelectionOptions,
    given: &[Step],
    each: &mut Each<'_>,
) -> Result<Selection> {
    select_with(candidates, target.into(), options, None, given, each)
}

/// Selects as [`select_among`], by a strategy of the caller's `own` where there is one.
pub(crate) fn select_with(
    candidates: &Candidates,
    target: Target<'_>,
    options: &SelectionOptions,
    own: Option<&OwnStrategy>,
    given: &[Step],
    each: &mut Each<'_>,
) -> Result<Selection> {
    let plan = plan_with(candidates, target, options, own)?;
    options.lambda_of(plan.strategy.kind(), candidates)?;
    plan.log();
    // A step has many short parallel parts: each would otherwise wake another thread to start and this
    // one when it ends.
    rayon::scope(|_| {
        let labels = Labels::new(candidates, target, &plan, options)?;
        let raw = target.labels;
        let mut work = Selecting::begin(candidates, raw, labels, &plan, options, given)?;
        work.run(each)?;
        Ok(work.selection())
    })
}
