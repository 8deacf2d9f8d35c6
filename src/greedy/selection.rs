//! What a selection finds: its steps, and the model of them.

use ndarray::Array1;
use serde::{Deserialize, Serialize};

use super::{GreedyRankRls, Teacher, own_name};
use crate::data::Feature;
use crate::lambda::Lambda;

/// One step of a selection.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Step {
    /// 0-based feature that was added.
    pub feature: Feature,
    /// Other columns that centre to the same column up to sign, 0-based, ascending.
    pub identical: Vec<u32>,
    /// Leave-query-out error after the step: sum over queries of the squared centred residuals.
    /// The error of `distil` is biased, as is its index: its teacher has seen the query's labels.
    pub lqo_error: f64,
    /// Concordance index of the leave-query-out predictions; `None` when no query has
    /// examples of different labels.
    pub lqo_cindex: Option<f64>,
    /// The ranking measure that candidates were judged by, of the leave-query-out predictions
    /// after the step; `None` where they were judged by the squared error.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub criterion: Option<f64>,
    /// Candidates that were evaluated exactly.
    #[serde(default)]
    pub evaluated: usize,
    /// For `bounded`, candidates that could still win after each level of bounds
    /// ([`Work::alive`](super::strategy::Work::alive)); empty for others.
    #[serde(default)]
    pub alive: Vec<usize>,
}

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
    /// The options asked for, with every choice made: the strategy (`auto`: one that the library does not have),
    /// candidates drawn each step (if not all were judged), what was learnt from. Without a memory limit.
    #[serde(flatten)]
    pub options: GreedyRankRls,
    /// The ridge parameter used.
    #[serde(skip)]
    pub lambda: Lambda,
    /// The unit of ridge parameters ([`ColumnClasses::unit`](crate::ColumnClasses::unit)).
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
    /// ([`State::condition`](super::strategy::State::condition)).
    pub condition: f64,
    /// How it ended.
    pub ending: Ending,
}

impl Selection {
    /// The name of the strategy; `own` for one that the library does not have.
    pub fn strategy_name(&self) -> &'static str {
        own_name(self.options.strategy)
    }

    /// Whether the seed counted: candidates were drawn by it, or the folds of a teacher.
    pub fn draws(&self) -> bool {
        let teacher = self.teacher.as_ref();
        self.options.sample.is_some() || teacher.is_some_and(Teacher::draws)
    }

    /// 0-based features in order of selection.
    pub fn features(&self) -> Vec<u32> {
        self.steps.iter().map(|step| step.feature).collect()
    }

    /// Leave-query-out error after each step, `k`.
    pub fn errors(&self) -> Array1<f64> {
        self.steps.iter().map(|step| step.lqo_error).collect()
    }
}
