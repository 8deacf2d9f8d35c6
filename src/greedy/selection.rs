//! The result of a selection: its steps, and their model.

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
    /// Leave-query-out error after the step: sum over queries of the squared centred residuals. Under `distil`,
    /// error and index are biased: its teacher has seen the query's labels.
    pub lqo_error: f64,
    /// Concordance index of the leave-query-out predictions. `None` if no query has examples of different labels.
    pub lqo_cindex: Option<f64>,
    /// The criterion's ranking measure of the leave-query-out predictions after the step. `None` for the squared
    /// error.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub criterion: Option<f64>,
    /// Number of candidates evaluated exactly.
    #[serde(default)]
    pub evaluated: usize,
    /// For `bounded`, candidates that could still win after each level of bounds
    /// ([`Work::alive`](super::strategy::Work::alive)). Empty for other strategies.
    #[serde(default)]
    pub alive: Vec<usize>,
}

/// How a selection ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Ending {
    /// It has as many features as requested.
    Complete,
    /// It has all candidates.
    Exhausted,
    /// It was stopped early.
    Interrupted,
}

/// A finished selection. The JSON has its options, the teacher, weights, condition and ending.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Selection {
    /// The requested options with every choice made: strategy (`auto` stands for a caller's own), candidates drawn
    /// each step (if not all were judged), labels and teacher. Without a memory limit.
    #[serde(flatten)]
    pub options: GreedyRankRls,
    /// The ridge parameter.
    #[serde(skip)]
    pub lambda: Lambda,
    /// The unit of ridge parameters ([`ColumnClasses::unit`](crate::ColumnClasses::unit)).
    #[serde(skip)]
    pub unit: f64,
    /// The teacher, if there was one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub teacher: Option<Teacher>,
    /// The steps, with their work.
    #[serde(skip)]
    pub steps: Vec<Step>,
    /// Weights of the selected features in order of selection.
    pub weights: Vec<f64>,
    /// The factor by which errors and weights may amplify rounding
    /// ([`State::condition`](super::strategy::State::condition)).
    pub condition: f64,
    /// How it ended.
    pub ending: Ending,
}

impl Selection {
    /// The name of the strategy; `own` for a caller's own.
    pub fn strategy_name(&self) -> &'static str {
        own_name(self.options.strategy)
    }

    /// Whether the seed was used, for candidates or for the folds of a teacher.
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
