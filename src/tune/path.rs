//! A selection in single steps.

use super::meter::{Meter, Overflow, Values};
use super::run::PathEnd;
use crate::columns::ColumnClasses;
use crate::data::Dataset;
use crate::greedy::State;
use crate::greedy::scores;
use crate::greedy::{self, Advance, Greedy, Plan, SelectError, Step, tied_predictions};

/// A selection in single steps, no more than planned.
pub(super) struct SelectionPath<'a> {
    candidates: &'a ColumnClasses,
    greedy: Greedy<'a>,
    replayed: bool,
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
            greedy: Greedy::new(candidates, labels, plan, options, earlier)?,
            replayed: false,
        })
    }

    /// Takes the next step, if there is one.
    pub(super) fn step(&mut self) -> Result<Option<Step>, PathEnd> {
        match self.greedy.advance() {
            Ok(Some(Advance { step, replayed })) => {
                self.replayed = replayed;
                Ok(Some(step))
            }
            Ok(None) => Ok(None),
            Err(SelectError::NotFinite { .. }) => Err(PathEnd::Overflow),
            Err(error) => Err(PathEnd::Replay(error)),
        }
    }

    /// Whether the last step was taken again.
    pub(super) fn replayed(&self) -> bool {
        self.replayed
    }

    pub(super) fn state(&self) -> &State {
        self.greedy.state()
    }

    /// The class of the feature taken last.
    pub(super) fn class(&self) -> Vec<u32> {
        let last = self.greedy.features().last();
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
        let scores = scores(self.greedy.features(), &self.state().weights(), dataset);
        meter.values(&scores, &scores)
    }
}
