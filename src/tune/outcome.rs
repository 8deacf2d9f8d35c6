//! The outcome of each path of a grid, and watching it.

use std::ops::ControlFlow;

use serde::{Deserialize, Deserializer, Serialize};

use super::{Curve, Score, Stability};
use crate::data::LabelScale;
use crate::error::Error;
use crate::greedy::{self, GreedyRankRls, Selection, Step, StrategyKind, Teacher};
use crate::lambda::Lambda;

/// The outcome of one lambda: a plain value, which may be stored and read back.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Outcome {
    /// The ridge parameter.
    pub lambda: Lambda,
    /// The other options of its selection, with every choice made. The strategy is `auto` where no
    /// selection started, and for one that the library does not have.
    #[serde(flatten)]
    pub options: GreedyRankRls,
    /// The unit of ridge parameters, in squared units of the values
    /// ([`Candidates::unit`](crate::candidates::Candidates::unit)).
    pub unit: f64,
    /// The teacher of the selection from all training data, if there was one.
    pub teacher: Option<Teacher>,
    /// The models of 1, 2, ... features.
    pub points: Vec<Point>,
    /// The features that were selected without each fold, in order of selection; empty without
    /// folds.
    #[serde(default)]
    pub folds: Vec<Vec<u32>>,
    /// How the path ended.
    pub ending: PathEnding,
    /// The error that ended the selection from all training data.
    #[serde(skip)]
    pub error: Option<Error>,
}

/// The model after one step, trained on all training data.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Point {
    /// The feature that was added, and the leave-query-out measures.
    pub step: Step,
    /// Weights of all features so far, in order of selection, in units of the labels over those of the columns.
    pub weights: Vec<f64>,
    /// The factor, from 1 on, by which rounding may be amplified in errors and weights
    /// ([`State::condition`](crate::greedy::strategy::State::condition)).
    #[serde(deserialize_with = "or_infinite")]
    pub condition: f64,
    /// The value that the model is judged by.
    pub score: Score,
    /// The metrics asked for besides.
    pub metrics: Vec<Score>,
    /// Folds that had no candidates left for this step, and kept their last model.
    pub short_folds: usize,
}

/// A number, which JSON has as null where it is infinite.
fn or_infinite<'de, D: Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error> {
    let number: Option<f64> = Option::deserialize(deserializer)?;
    Ok(number.unwrap_or(f64::INFINITY))
}

/// How a path ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum PathEnding {
    /// The path has as many features as asked for.
    Complete,
    /// The path has all the candidates there are.
    Exhausted,
    /// The rule saw no improvement any more.
    Settled,
    /// The observer ended it, on the way or before it began.
    Interrupted,
    /// Before a step whose errors or predictions are no finite numbers: lambda is too small for
    /// the values of the data.
    Overflow,
    /// Before it began: there is not the memory for it.
    Refused {
        /// The memory that it needs and the memory allowed.
        reason: String,
    },
}

impl Outcome {
    /// Before the first step of a selection by `options`.
    pub(super) fn without_points(
        options: &GreedyRankRls,
        lambda: Lambda,
        unit: f64,
        ending: PathEnding,
    ) -> Self {
        Self {
            lambda,
            options: GreedyRankRls {
                lambda: None,
                ..options.clone()
            },
            unit,
            teacher: None,
            points: Vec::new(),
            folds: Vec::new(),
            ending,
            error: None,
        }
    }

    /// The scale of the labels that it learns.
    pub fn labels(&self) -> LabelScale {
        self.options.label_scale()
    }

    /// How stable the first `k` features are over the folds, among so many `candidates`; `None` without folds.
    /// Features are 0-based.
    pub fn stability(&self, k: usize, candidates: usize) -> Option<Stability> {
        let first = |features: &Vec<u32>| features.iter().take(k).map(|&f| u64::from(f)).collect();
        let folds: Vec<Vec<u64>> = self.folds.iter().map(first).collect();
        (!folds.is_empty()).then(|| Stability::new(&folds, candidates))
    }

    /// The values of its models.
    pub fn curve(&self) -> Curve {
        Curve {
            lambda: self.lambda,
            scores: self.points.iter().map(|point| point.score).collect(),
        }
    }

    /// The first `k` steps as a selection of `k` features: to the last bit what
    /// [`select`](greedy::job::select()) finds with this lambda, `k` and strategy. `None` unless
    /// there are as many.
    pub fn selection(&self, k: usize) -> Option<Selection> {
        let (points, options) = (self.points.get(..k)?, self.options.clone());
        Some(Selection {
            options: GreedyRankRls { k, ..options }.resolved(self.lambda),
            lambda: self.lambda,
            unit: self.unit,
            teacher: self.teacher,
            steps: points.iter().map(|point| point.step.clone()).collect(),
            weights: points.last()?.weights.clone(),
            condition: points.last()?.condition,
            ending: greedy::Ending::Complete,
        })
    }
}

/// Which selection it is, of those from the same data: a path of a grid.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct PathId {
    /// The ridge parameter.
    pub lambda: Lambda,
    /// The strategy that was chosen, or taken; `auto`: one that the library does not have.
    pub strategy: StrategyKind,
    /// The scale of the labels.
    pub labels: LabelScale,
}

impl PathId {
    /// The path of `options` with `lambda`.
    pub fn new(options: &GreedyRankRls, lambda: Lambda) -> Self {
        Self {
            lambda,
            strategy: options.strategy,
            labels: options.label_scale(),
        }
    }

    /// Whether it is a path of `options` with their lambda; they may leave the strategy open.
    pub(super) fn is_of(&self, options: &GreedyRankRls, lambda: Lambda) -> bool {
        let options = GreedyRankRls {
            strategy: options.strategy.or(self.strategy),
            ..options.clone()
        };
        *self == Self::new(&options, lambda)
    }
}

/// A selection of a grid that is done: a plain value, which may be stored and read back.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Finished {
    /// Its path.
    #[serde(flatten)]
    pub path: PathId,
    /// The fold that it does without, from 0; `None`: all training data.
    pub fold: Option<usize>,
    /// Its steps.
    pub steps: Vec<Step>,
}

/// News of the grid.
#[derive(Debug, Clone, Copy)]
pub enum TuneEvent<'a> {
    /// The selections are about to start: once for each strategy and scale of labels, and for each lambda past the edge
    /// of the grid.
    Started {
        /// Lambdas to try.
        lambdas: usize,
        /// Steps of all selections together, at most.
        steps: usize,
        /// Steps of the strategies and scales of labels to come after this one, at most.
        later_steps: usize,
        /// Lambdas at work at once.
        concurrent: usize,
    },
    /// A step of one of the selections is done.
    Stepped {
        /// Its path.
        path: PathId,
        /// The fold that it does without, from 0; `None`: all training data.
        fold: Option<usize>,
        /// Steps of this selection so far.
        number: usize,
        /// The step.
        step: &'a Step,
    },
    /// A selection is done.
    Selected(&'a Finished),
    /// A lambda is done.
    Finished(&'a Outcome),
}

/// Watches the grid. A closure may do it, and `()` watches nothing.
pub trait TuneObserver: Send {
    /// Takes the news: one call at a time, in an order that depends on timing. Breaking after a step
    /// ends all selections after the steps they are at, and the choice is made among the models so
    /// far; after other news it changes nothing.
    fn event(&mut self, event: TuneEvent<'_>) -> ControlFlow<()>;
}

impl TuneObserver for () {
    fn event(&mut self, _: TuneEvent<'_>) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }
}

impl<F: FnMut(TuneEvent<'_>) -> ControlFlow<()> + Send> TuneObserver for F {
    fn event(&mut self, event: TuneEvent<'_>) -> ControlFlow<()> {
        self(event)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_infinite_condition_is_read_back() {
        let point = Point {
            step: Step {
                feature: 3,
                lqo_error: 0.1,
                lqo_cindex: None,
                criterion: None,
                identical: Vec::new(),
                evaluated: 1,
                alive: Vec::new(),
            },
            weights: vec![-0.0, 1.0 / 3.0],
            condition: f64::INFINITY,
            score: Score::of(&[]),
            metrics: Vec::new(),
            short_folds: 0,
        };
        let text = serde_json::to_string(&point).unwrap();
        assert_eq!(serde_json::from_str::<Point>(&text).unwrap(), point);
    }
}
