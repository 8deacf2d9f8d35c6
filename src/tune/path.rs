//! A selection in single steps.

use super::meter::{Meter, Overflow, Values};
use super::run::PathEnd;
use crate::columns::ColumnClasses;
use crate::data::Dataset;
use crate::greedy::State;
use crate::greedy::scores;
use crate::greedy::{self, Greedy, Plan, SelectError, Step, start, tied_predictions};

/// A selection in single steps, no more than planned.
pub(super) struct SelectionPath<'a> {
    candidates: &'a ColumnClasses,
    labels: &'a [f64],
    greedy: Greedy<'a>,
    /// Steps to take again before there is anything to search for.
    earlier: &'a [Step],
    features: Vec<u32>,
    steps: usize,
}

impl<'a> SelectionPath<'a> {
    pub(super) fn new(
        candidates: &'a ColumnClasses,
        labels: &'a [f64],
        plan: &'a Plan,
        options: &'a greedy::SelectionOptions,
        earlier: &'a [Step],
    ) -> Result<Self, SelectError> {
        Ok(Self {
            candidates,
            labels,
            greedy: start(candidates, labels, plan, options)?,
            earlier,
            features: Vec::with_capacity(plan.steps),
            steps: plan.steps,
        })
    }

    /// Takes the next step, if there is one.
    pub(super) fn step(&mut self) -> Result<Option<Step>, PathEnd> {
        let taken = self.features.len();
        if taken == self.steps {
            return Ok(None);
        }
        let step = match self.earlier.get(taken) {
            Some(step) => {
                let step = self.greedy.replay(taken + 1, step);
                Some(step.map_err(PathEnd::Replay)?)
            }
            None => self.greedy.step(self.labels),
        };
        let Some(step) = step else {
            return Ok(None);
        };
        if !step.lqo_error.is_finite() {
            return Err(PathEnd::Overflow);
        }
        self.features.push(step.feature);
        Ok(Some(step))
    }

    /// Whether the last step was taken again.
    pub(super) fn replayed(&self) -> bool {
        self.features.len() <= self.earlier.len()
    }

    pub(super) fn state(&self) -> &State {
        self.greedy.state()
    }

    /// The class of the feature taken last.
    pub(super) fn class(&self) -> Vec<u32> {
        let last = self.features.last();
        let position = last.and_then(|&feature| self.candidates.represented_by(feature));
        position.map_or_else(Vec::new, |position| {
            self.candidates.class(position).to_vec()
        })
    }

    /// Measures of the leave-query-out predictions.
    pub(super) fn left_out(&self, meter: &Meter<'_>) -> Result<Values, Overflow> {
        let state = self.state();
        meter.values(&state.predictions(), &tied_predictions(state))
    }

    /// Measures of the predictions for `dataset`.
    pub(super) fn on(&self, dataset: &Dataset<'_>, meter: &Meter<'_>) -> Result<Values, Overflow> {
        let scores = scores(&self.features, &self.state().weights(), dataset);
        meter.values(&scores, &scores)
    }
}
