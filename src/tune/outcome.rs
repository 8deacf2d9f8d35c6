//! The outcome of each path of a grid, and the news on the way.

use std::ops::ControlFlow;

use serde::{Deserialize, Serialize};

use super::Stability;
use crate::data::LabelScale;
use crate::error::Error;
use crate::greedy::{self, GreedyRankRls, Selection, Step, StrategyKind, Teacher};
use crate::lambda::Lambda;
use crate::metrics::Score;

/// The outcome of one lambda.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Outcome {
    /// The ridge parameter.
    pub lambda: Lambda,
    /// The other options of its selection, with every choice made. The strategy is `auto` if no selection started,
    /// and for a strategy outside of the library.
    #[serde(flatten)]
    pub options: GreedyRankRls,
    /// The unit of ridge parameters, in squared units of the values
    /// ([`ColumnClasses::unit`](crate::ColumnClasses::unit)).
    pub unit: f64,
    /// The teacher of the selection from all training data, if there was one.
    pub teacher: Option<Teacher>,
    /// The models of 1, 2, ... features.
    pub points: Vec<Point>,
    /// The features selected without each fold, in order of selection; empty without folds.
    pub folds: Vec<Vec<u32>>,
    /// The reason of the end.
    pub ending: PathEnding,
    /// The error that ended it.
    #[serde(skip)]
    pub(super) error: Option<Error>,
    /// Whether the selection from all training data met this error, and not a selection without a fold.
    #[serde(skip)]
    pub(super) ends_selection: bool,
}

/// The model after one step, trained on all training data.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Point {
    /// The added feature, and the leave-query-out measures.
    pub step: Step,
    /// Weights of all features so far, in order of selection, in units of the labels over those of the columns.
    pub weights: Vec<f64>,
    /// The factor, from 1 on, by which rounding may be amplified in errors and weights
    /// ([`State::condition`](crate::greedy::strategy::State::condition)).
    pub condition: f64,
    /// The value that judges the model.
    pub score: Score,
    /// The other metrics.
    pub metrics: Vec<Score>,
    /// Folds without candidates left for this step, which kept their last model.
    pub short_folds: usize,
}

/// How a path ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum PathEnding {
    /// The path has as many features as asked for.
    Complete,
    /// The path has all candidates.
    Exhausted,
    /// The rule saw no more improvement.
    Settled,
    /// Somebody ended it, on the way or before it began.
    Interrupted,
    /// An error ended it: before it began, or before the step after the last point.
    Refused {
        /// The text of the error.
        reason: String,
    },
}

impl Outcome {
    /// The outcome before the first step of a selection by `options`.
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
            ends_selection: false,
        }
    }

    /// The scale of the learned labels.
    pub fn labels(&self) -> LabelScale {
        self.options.label_scale()
    }

    /// Whether the seed had an effect on the selection from all training data: [`Selection::draws`].
    pub fn draws(&self) -> bool {
        let teacher = self.teacher.as_ref();
        self.options.sample.is_some() || teacher.is_some_and(Teacher::draws)
    }

    /// The stability of the first `k` features over the folds, among so many `candidates`; `None` without folds.
    /// Features are 0-based.
    pub fn stability(&self, k: usize, candidates: usize) -> Option<Stability> {
        let first = |features: &Vec<u32>| features.iter().take(k).map(|&f| u64::from(f)).collect();
        let folds: Vec<Vec<u64>> = self.folds.iter().map(first).collect();
        (!folds.is_empty()).then(|| Stability::new(&folds, candidates))
    }

    /// Lambda and the scores of the models, for [`Rule::choose`](super::Rule::choose). A model that lacks a column
    /// to include has no mean, so no rule chooses it.
    pub fn scores(&self) -> (Lambda, Vec<Score>) {
        let means = values(&self.points, self.options.included().len());
        let scores = self.points.iter().zip(means);
        let scores = scores.map(|(point, mean)| Score {
            mean,
            ..point.score.clone()
        });
        (self.lambda, scores.collect())
    }

    /// The selection of its first `k` steps, as `select` returns it with its strategy. `None` for fewer steps.
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

/// The values of models with at least `least` features, and `None` for the others.
pub(super) fn values(points: &[Point], least: usize) -> impl Iterator<Item = Option<f64>> {
    let points = (1..).zip(points);
    points.map(move |(k, point)| point.score.mean.filter(|_| k >= least))
}

/// A selection of the grid and its steps: a plain value, to store and read back.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PathSteps {
    /// The ridge parameter.
    pub lambda: Lambda,
    /// The chosen or given strategy; `auto`: a strategy outside of the library.
    pub strategy: StrategyKind,
    /// The scale of the labels.
    pub labels: LabelScale,
    /// The fold that it leaves out, from 0; `None`: all training data.
    pub fold: Option<usize>,
    /// Its steps so far.
    pub steps: Vec<Step>,
}

impl PathSteps {
    /// Whether `other` is the same selection, whatever the number of steps.
    pub(super) fn is_of(&self, other: &Self) -> bool {
        let own = |path: &Self| (path.lambda, path.strategy, path.labels, path.fold);
        own(self) == own(other)
    }
}

/// News of the grid.
#[derive(Debug, Clone, Copy)]
pub enum TuneEvent<'a> {
    /// The selections are about to start: once for each strategy and scale of labels, and for each lambda past the
    /// edge of the grid.
    Started {
        /// Lambdas to try.
        lambdas: usize,
        /// Steps of all selections together, at most.
        steps: usize,
        /// Steps of the later strategies and scales of labels, at most.
        later_steps: usize,
        /// Lambdas at work at once.
        concurrent: usize,
    },
    /// A step of one of the selections is done: its last.
    Stepped(&'a PathSteps),
    /// A selection that was not given is done.
    Selected(&'a PathSteps),
    /// A lambda is done.
    Finished(&'a Outcome),
}

/// Sees all news: one call at a time, in an order that depends on timing. A break after a step ends all selections
/// after their present steps, and the choice is among the models so far. After other news a break changes nothing.
pub type EachEvent<'e> = dyn FnMut(TuneEvent<'_>) -> ControlFlow<()> + Send + 'e;

/// Wants all steps, for who has nothing to see: an [`EachEvent`].
pub fn unwatched_events(_: TuneEvent<'_>) -> ControlFlow<()> {
    ControlFlow::Continue(())
}
