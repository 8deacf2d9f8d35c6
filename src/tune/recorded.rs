//! What an earlier run has found.

use serde::{Deserialize, Serialize};

use crate::Lambda;
use crate::greedy::Step;
use crate::greedy::StrategyKind;

/// The steps that an earlier run has taken with one lambda, to be taken again without a search.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RecordedPath {
    /// The ridge parameter.
    pub lambda: Lambda,
    /// The strategy, which goes on whatever would be chosen now.
    pub strategy: StrategyKind,
    /// Those of the selection from all training data.
    pub steps: Vec<Step>,
    /// Those of the selections without a fold, by fold; folds at the end may be missing.
    pub folds: Vec<Vec<Step>>,
}

impl RecordedPath {
    /// The steps of the selection without `fold`, or of that from all data.
    pub fn of(&self, fold: Option<usize>) -> &[Step] {
        match fold {
            None => &self.steps,
            Some(fold) => self.folds.get(fold).map_or(&[], Vec::as_slice),
        }
    }

    /// The same to add to.
    pub(crate) fn of_mut(&mut self, fold: Option<usize>) -> &mut Vec<Step> {
        let Some(fold) = fold else {
            return &mut self.steps;
        };
        let folds = self.folds.len().max(fold + 1);
        self.folds.resize_with(folds, Vec::new);
        &mut self.folds[fold]
    }

    /// Steps of all selections.
    pub fn count(&self) -> usize {
        self.steps.len() + self.folds.iter().map(Vec::len).sum::<usize>()
    }

    /// That of `lambda`.
    pub(super) fn with(lambda: Lambda, taken: &[Self]) -> Option<&Self> {
        taken.iter().find(|taken| taken.lambda == lambda)
    }
}
