//! The whole job of a selection: what watches it, and what it finds.

use std::ops::ControlFlow;
use std::time::Duration;

use ndarray::{Array1, ArrayView1};
use serde::{Deserialize, Serialize};

use super::{
    Advance, Earlier, Greedy, OWN, OwnStrategy, PathId, Plan, Prepared, SelectError,
    SelectionOptions, State, Step, StrategyKind, Target, Teacher, TeacherPredictions, plan_with,
};
use crate::candidates::Candidates;
use crate::data::Dataset;
use crate::lambda::Lambda;

/// News of a selection.
#[derive(Debug, Clone, Copy)]
pub enum Event<'a> {
    /// The teacher of a selection is done, and took so long; before the start.
    TeacherTrained(PathId, &'a TeacherPredictions, Duration),
    /// The strategy has been chosen and is about to start.
    Started(&'a Plan),
    /// A step is done, and this is the state after it.
    Stepped(&'a Advance, &'a State),
}

/// Watches a selection. A closure may do it, and `()` watches nothing.
pub trait Observer: Send {
    /// Takes the news. Breaking after a step ends the selection with the steps so far; after other
    /// news it changes nothing.
    fn event(&mut self, event: Event<'_>) -> ControlFlow<()>;
}

impl Observer for () {
    fn event(&mut self, _: Event<'_>) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }
}

impl<F: FnMut(Event<'_>) -> ControlFlow<()> + Send> Observer for F {
    fn event(&mut self, event: Event<'_>) -> ControlFlow<()> {
        self(event)
    }
}

/// How a selection ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Ending {
    /// It has as many features as asked for.
    Complete,
    /// It has all the candidates there are.
    Exhausted,
    /// The observer stopped it.
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
    /// 0-based features of each selected class, ascending; its first is the step's feature.
    #[serde(skip)]
    pub classes: Vec<Vec<u32>>,
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
    observer: &mut dyn Observer,
) -> Result<Selection, SelectError> {
    let candidates = options.candidates(dataset);
    select_among(&candidates, dataset, options, observer)
}

/// Selects among candidates that have been found before. Queries weigh what they weigh in the candidates,
/// and columns are scaled as there, whatever the options say.
pub fn select_among<'a>(
    candidates: &'a Candidates,
    target: impl Into<Target<'a>>,
    options: &SelectionOptions,
    observer: &mut dyn Observer,
) -> Result<Selection, SelectError> {
    let nothing = Earlier::default();
    resume_among(candidates, target, options, nothing, observer)
}

/// Goes on with a selection that has taken the steps of `earlier` before: adds their features without
/// searching, and selects the rest. Ends with the features, errors and weights, to the last bit,
/// of a selection that was never interrupted.
pub fn resume_among<'a>(
    candidates: &'a Candidates,
    target: impl Into<Target<'a>>,
    options: &SelectionOptions,
    earlier: impl Into<Earlier<'a>>,
    observer: &mut dyn Observer,
) -> Result<Selection, SelectError> {
    let (target, earlier) = (target.into(), earlier.into());
    select_with(candidates, target, options, None, earlier, observer)
}

/// Selects as [`resume_among`], by a strategy of the caller's `own` where there is one.
pub(crate) fn select_with<'a>(
    candidates: &'a Candidates,
    target: Target<'a>,
    options: &SelectionOptions,
    own: Option<&OwnStrategy>,
    earlier: Earlier<'a>,
    observer: &mut dyn Observer,
) -> Result<Selection, SelectError> {
    let plan = plan_with(candidates, target, options, own)?;
    // A step has many short parallel parts: each would otherwise wake another thread to start and this
    // one when it ends.
    rayon::scope(|_| {
        let begun = Selecting::begin(candidates, target, plan, options, earlier, observer)?;
        begun.run(observer)
    })
}

/// A selection at work.
struct Selecting<'a> {
    greedy: Greedy<'a>,
    plan: Plan,
    options: SelectionOptions,
    steps: Vec<Step>,
    /// Whether no candidate is left.
    exhausted: bool,
}

impl<'a> Selecting<'a> {
    /// Before the first step, with the teacher trained where `plan` has one that `earlier` does not
    /// bring.
    fn begin(
        candidates: &'a Candidates,
        target: Target<'a>,
        plan: Plan,
        options: &SelectionOptions,
        earlier: Earlier<'a>,
        observer: &mut dyn Observer,
    ) -> Result<Self, SelectError> {
        let kind = plan.strategy.kind();
        let lambda = options.known_lambda(kind, candidates);
        let path = PathId::new(options, lambda.ok_or(SelectError::NoLambda)?, kind);
        plan.log();
        let tell = |predictions: &TeacherPredictions, took: Duration| {
            let _ = observer.event(Event::TeacherTrained(path, predictions, took));
        };
        let kept = earlier.teacher;
        let prepared = Prepared::new(candidates, target, &plan, options, kept, tell)?;
        let (labels, recorded) = (target.labels, earlier.steps);
        let greedy = Greedy::begin(candidates, labels, prepared, &plan, options, recorded)?;
        let _ = observer.event(Event::Started(&plan));
        Ok(Self {
            greedy,
            steps: Vec::with_capacity(plan.steps),
            plan,
            options: options.clone(),
            exhausted: false,
        })
    }

    /// Takes the next step; `None` after the last, and where a request ended it. Such a request that
    /// comes before the first step has no result to end with.
    fn advance(&mut self) -> Result<Option<Advance>, SelectError> {
        // Only the search for a step is ended in the middle, which leaves the state as it was.
        let advanced = match self.greedy.advance() {
            Err(SelectError::Stopped) if !self.steps.is_empty() => return Ok(None),
            advanced => advanced?,
        };
        let Some(advance) = advanced else {
            self.exhausted = true;
            return Ok(None);
        };
        self.steps.push(advance.step.clone());
        if !advance.replayed {
            let feature = self.greedy.candidates().written(advance.step.feature);
            advance.step.log(self.steps.len(), feature);
        }
        Ok(Some(advance))
    }

    /// Takes all steps, as long as the observer wants more.
    fn run(mut self, observer: &mut dyn Observer) -> Result<Selection, SelectError> {
        while let Some(advance) = self.advance()? {
            let flow = observer.event(Event::Stepped(&advance, self.greedy.state()));
            let peers = self.greedy.candidates().peers();
            if self.steps.len() < self.plan.steps && peers.any(flow.is_break()) {
                break;
            }
        }
        Ok(self.selection())
    }

    /// The selection of the steps so far.
    fn selection(self) -> Selection {
        let (greedy, candidates) = (&self.greedy, self.greedy.candidates());
        let ending = match self.steps.len() {
            taken if taken == self.options.k => Ending::Complete,
            taken if self.exhausted || taken == self.plan.steps => Ending::Exhausted,
            _ => Ending::Interrupted,
        };
        let (strategy, lambda) = (self.plan.strategy.kind(), greedy.state().lambda());
        let options = SelectionOptions {
            query_weight: candidates.classes().query_weight(),
            scale: candidates.classes().scale(),
            ..self.options
        };
        Selection {
            strategy,
            options: options.resolved(strategy, lambda, greedy.target()),
            lambda,
            unit: candidates.unit(),
            teacher: greedy.teacher(),
            classes: greedy.classes().to_vec(),
            steps: self.steps,
            weights: greedy.state().weights(),
            condition: greedy.state().condition(),
            ending,
        }
    }
}
