//! What became of one lambda.

use serde::{Deserialize, Serialize};

use super::{Curve, Score};
use crate::greedy::Sampler;
use crate::greedy::{self, Selection, Step};
use crate::greedy::{Criterion, StrategyKind};
use crate::{Lambda, QueryWeight};

/// What became of one lambda: a plain value, which may be stored and read back.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Outcome {
    /// The ridge parameter.
    pub lambda: Lambda,
    /// The strategy; `None` where no selection started.
    pub strategy: Option<StrategyKind>,
    /// ColumnClasses drawn each step, if not all were judged, and the seed.
    pub sampler: Option<Sampler>,
    /// What each step improved most.
    pub criterion: Criterion,
    /// What the queries counted in selection and training.
    pub query_weight: QueryWeight,
    /// The models of 1, 2, ... features.
    pub points: Vec<Point>,
    /// How the path ended.
    pub ending: Ending,
}

/// The model after one step, trained on all training data.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Point {
    /// The feature that was added, and the leave-query-out measures.
    pub step: Step,
    /// Weights of all features so far, in order of selection.
    pub weights: Vec<f64>,
    /// By how much rounding may be amplified in errors and weights
    /// ([`State::condition`](crate::greedy::State::condition)).
    pub condition: f64,
    /// 0-based features that centre to the same column as the one added, ascending, itself
    /// included.
    pub class: Vec<u32>,
    /// What the model is judged by.
    pub score: Score,
    /// The metrics asked for besides.
    pub metrics: Vec<Score>,
    /// Folds that had no candidates left for this step, and kept their last model.
    pub short_folds: usize,
}

/// How a path ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum Ending {
    /// With as many features as asked for.
    Complete,
    /// With all the candidates there are.
    Exhausted,
    /// By the rule, which saw no improvement any more.
    Settled,
    /// By the observer, on the way or before it began.
    Interrupted,
    /// Before a step whose errors or predictions are no finite numbers: lambda is too small for
    /// the values of the data.
    Overflow,
    /// Before it began: there is not the memory for it.
    Refused {
        /// What it needs and what is allowed.
        reason: String,
    },
}

impl Outcome {
    /// Before the first step of a selection by `options`.
    pub(super) fn without_points(options: &greedy::SelectionOptions, ending: Ending) -> Self {
        Self {
            lambda: options.lambda,
            strategy: None,
            sampler: None,
            criterion: options.criterion,
            query_weight: options.query_weight,
            points: Vec::new(),
            ending,
        }
    }

    /// The values of its models.
    pub fn curve(&self) -> Curve {
        Curve {
            lambda: self.lambda,
            scores: self.points.iter().map(|point| point.score).collect(),
        }
    }

    /// The first `k` steps as a selection of `k` features: to the last bit what
    /// [`select`](select::select()) finds with this lambda, `k` and strategy. `None` unless
    /// there are as many.
    pub fn selection(&self, k: usize) -> Option<Selection> {
        let points = self.points.get(..k)?;
        Some(Selection {
            strategy: self.strategy?,
            lambda: self.lambda,
            sampler: self.sampler,
            criterion: self.criterion,
            query_weight: self.query_weight,
            steps: points.iter().map(|point| point.step.clone()).collect(),
            weights: points.last()?.weights.clone(),
            condition: points.last()?.condition,
            classes: points.iter().map(|point| point.class.clone()).collect(),
            ending: greedy::Ending::Complete,
        })
    }
}
