//! What a selection found.

use serde::{Deserialize, Serialize};

use crate::greedy::Sampler;
use crate::greedy::{Criterion, StrategyKind};
use crate::{Lambda, QueryWeight};

/// One step of a selection.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Step {
    /// 0-based feature that was added.
    pub feature: u32,
    /// Leave-query-out error after the step: sum over queries of the squared centred residuals.
    pub lqo_error: f64,
    /// Concordance index of the leave-query-out predictions; `None` when no query has
    /// examples of different labels.
    pub lqo_cindex: Option<f64>,
    /// The ranking measure that candidates were judged by, of the leave-query-out predictions
    /// after the step; `None` where they were judged by the squared error.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub criterion: Option<f64>,
    /// Other columns that centre to the same column up to sign.
    pub identical_columns: usize,
    /// ColumnClasses that were evaluated exactly.
    pub evaluated: usize,
    /// For `bounded`, candidates that could still win after each level of bounds
    /// ([`Work::alive`](crate::greedy::Work::alive)); empty for others.
    pub alive: Vec<usize>,
}

/// How a selection ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Ending {
    /// With as many features as asked for.
    Complete,
    /// With all the candidates there are.
    Exhausted,
    /// The observer stopped it.
    Interrupted,
}

/// A finished selection.
#[derive(Debug, Clone, PartialEq)]
pub struct Selection {
    /// The strategy used.
    pub strategy: StrategyKind,
    /// The ridge parameter.
    pub lambda: Lambda,
    /// ColumnClasses drawn each step, if not all were judged, and the seed.
    pub sampler: Option<Sampler>,
    /// What each step improved most.
    pub criterion: Criterion,
    /// What the queries counted.
    pub query_weight: QueryWeight,
    /// What happened, step by step.
    pub steps: Vec<Step>,
    /// Weights of the selected features in order of selection.
    pub weights: Vec<f64>,
    /// By how much rounding may be amplified in errors and weights
    /// ([`State::condition`](crate::greedy::State::condition)).
    pub condition: f64,
    /// 0-based features of each selected class, ascending; its first is the step's feature.
    pub classes: Vec<Vec<u32>>,
    /// How it ended.
    pub ending: Ending,
}

impl Step {
    pub(super) fn log(&self, number: usize) {
        let Self {
            feature: column,
            lqo_error,
            evaluated,
            alive,
            ..
        } = self;
        if alive.is_empty() {
            tracing::info!(step = number, column, lqo_error, evaluated, "selected");
        } else {
            tracing::info!(
                step = number,
                column,
                lqo_error,
                ?alive,
                evaluated,
                "selected"
            );
        }
    }
}
