//! The outcome of each path of a grid, and watching it.

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
    /// The other options of its selection, with every choice made. The strategy is `auto` where no
    /// selection started, and for one that the library does not have.
    #[serde(flatten)]
    pub options: GreedyRankRls,
    /// The unit of ridge parameters, in squared units of the values
    /// ([`ColumnClasses::unit`](crate::ColumnClasses::unit)).
    pub unit: f64,
    /// The teacher of the selection from all training data, if there was one.
    pub teacher: Option<Teacher>,
    /// The models of 1, 2, ... features.
    pub points: Vec<Point>,
    /// The features that were selected without each fold, in order of selection; empty without
    /// folds.
    pub folds: Vec<Vec<u32>>,
    /// How the path ended.
    pub ending: PathEnding,
    /// The error that ended it.
    #[serde(skip)]
    pub(super) error: Option<Error>,
    /// Whether the selection from all training data met this error, and not one without a fold.
    #[serde(skip)]
    pub(super) ends_selection: bool,
}

/// The model after one step, trained on all training data.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Point {
    /// The feature that was added, and the leave-query-out measures.
    pub step: Step,
    /// Weights of all features so far, in order of selection, in units of the labels over those of the columns.
    pub weights: Vec<f64>,
    /// The factor, from 1 on, by which rounding may be amplified in errors and weights
    /// ([`State::condition`](crate::greedy::strategy::State::condition)).
    pub condition: f64,
    /// The value that the model is judged by.
    pub score: Score,
    /// The metrics asked for besides.
    pub metrics: Vec<Score>,
    /// Folds that had no candidates left for this step, and kept their last model.
    pub short_folds: usize,
}

/// How a path ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum PathEnding {
    /// The path has as many features as asked for.
    Complete,
    /// The path has all the candidates there are.
    Exhausted,
    /// The rule saw no improvement any more.
    Settled,
    /// It was ended from outside, on the way or before it began.
    Interrupted,
    /// An error ended it: before it began, or before a step that comes after those of the points.
    Refused {
        /// The text of the error.
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
            ends_selection: false,
        }
    }

    /// The scale of the labels that it learns.
    pub fn labels(&self) -> LabelScale {
        self.options.label_scale()
    }

    /// Whether the seed counted in the selection from all training data: [`Selection::draws`].
    pub fn draws(&self) -> bool {
        let teacher = self.teacher.as_ref();
        self.options.sample.is_some() || teacher.is_some_and(Teacher::draws)
    }

    /// How stable the first `k` features are over the folds, among so many `candidates`; `None` without folds.
    /// Features are 0-based.
    pub fn stability(&self, k: usize, candidates: usize) -> Option<Stability> {
        let first = |features: &Vec<u32>| features.iter().take(k).map(|&f| u64::from(f)).collect();
        let folds: Vec<Vec<u64>> = self.folds.iter().map(first).collect();
        (!folds.is_empty()).then(|| Stability::new(&folds, candidates))
    }

    /// Lambda and the scores of the models, for [`Rule::choose`](super::Rule::choose). A model that lacks a column to
    /// include has no mean, as it is not to be chosen.
    pub fn scores(&self) -> (Lambda, Vec<Score>) {
        let means = values(&self.points, self.options.included().len());
        let scores = self.points.iter().zip(means);
        let scores = scores.map(|(point, mean)| Score {
            mean,
            ..point.score.clone()
        });
        (self.lambda, scores.collect())
    }

    /// The selection of its first `k` steps, as `select` returns it with its strategy. `None` unless
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

/// The values of models, as far as these have the features that they are to have at `least`.
pub(super) fn values(points: &[Point], least: usize) -> impl Iterator<Item = Option<f64>> {
    let points = (1..).zip(points);
    points.map(move |(k, point)| point.score.mean.filter(|_| k >= least))
}

/// A selection of the grid and its steps: a plain value, which may be stored and read back.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PathSteps {
    /// The ridge parameter.
    pub lambda: Lambda,
    /// The strategy that was chosen, or taken; `auto`: one that the library does not have.
    pub strategy: StrategyKind,
    /// The scale of the labels.
    pub labels: LabelScale,
    /// The fold that it does without, from 0; `None`: all training data.
    pub fold: Option<usize>,
    /// Its steps so far.
    pub steps: Vec<Step>,
}

impl PathSteps {
    /// Whether `other` is the same selection, after however many steps.
    pub(super) fn is_of(&self, other: &Self) -> bool {
        let own = |path: &Self| (path.lambda, path.strategy, path.labels, path.fold);
        own(self) == own(other)
    }
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
    /// A step of one of the selections is done: the last of these.
    Stepped(&'a PathSteps),
    /// A selection that was not given is done.
    Selected(&'a PathSteps),
    /// A lambda is done.
    Finished(&'a Outcome),
}

/// Sees all news: one call at a time, in an order that depends on timing. Breaking after a step
/// ends all selections after the steps they are at, and the choice is made among the models so
/// far; after other news it changes nothing.
pub type EachEvent<'e> = dyn FnMut(TuneEvent<'_>) -> ControlFlow<()> + Send + 'e;

/// Wants all steps, for who has nothing to see: an [`EachEvent`].
pub fn unwatched_events(_: TuneEvent<'_>) -> ControlFlow<()> {
    ControlFlow::Continue(())
}
