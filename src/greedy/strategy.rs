//! The trait of strategies: ways to find the candidate that the criterion likes best.

use super::{Contest, RankingCriterion, State};
use crate::columns::ColumnClasses;

/// A way to find the best candidate of a step.
pub trait Strategy: Send {
    /// Judges the eligible candidates of a round.
    fn propose(&mut self, round: &Round<'_>) -> Contest;

    /// Takes note of the feature that was just added: [`State::last`] says what it changed.
    /// Called once an addition, also when features are added that nobody proposed.
    fn adopt(&mut self, candidates: &ColumnClasses, state: &State) {
        let _ = (candidates, state);
    }

    /// What the last proposal took.
    fn work(&self) -> Work;
}

/// What a proposal took: how exactness was had.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Work {
    /// ColumnClasses whose criterion was evaluated exactly.
    pub evaluated: usize,
    /// For `bounded`, candidates that could still win after each level of bounds, those
    /// evaluated on the way included.
    pub alive: Vec<usize>,
}

/// What a strategy judges by in one step.
#[derive(Debug, Clone, Copy)]
pub struct Round<'a> {
    /// The candidates.
    pub candidates: &'a ColumnClasses,
    /// The state that one of them will be added to.
    pub state: &'a State,
    /// ColumnClasses that are out, by position: selected ones and their equals.
    pub retired: &'a [bool],
    /// ColumnClasses drawn for this step, ascending and not retired; `None`: all.
    pub sample: Option<&'a [u32]>,
    /// The measure to judge by; `None`: the squared error. Only met by strategies for which
    /// [`StrategyKind::can_rank`] holds.
    pub ranking: Option<&'a RankingCriterion>,
}

impl Round<'_> {
    /// Whether the candidate at a position may be chosen.
    ///
    /// # Panics
    /// When there is no such candidate.
    pub fn eligible(&self, candidate: usize) -> bool {
        match self.sample {
            None => !self.retired[candidate],
            Some(sample) => {
                u32::try_from(candidate).is_ok_and(|wanted| sample.binary_search(&wanted).is_ok())
            }
        }
    }

    /// How many candidates may be chosen.
    pub fn eligible_count(&self) -> usize {
        match self.sample {
            None => self.retired.iter().filter(|&&retired| !retired).count(),
            Some(sample) => sample.len(),
        }
    }

    /// Positions of the candidates that may be chosen, ascending.
    pub fn eligible_candidates(&self) -> std::borrow::Cow<'_, [u32]> {
        match self.sample {
            Some(sample) => sample.into(),
            None => (0u32..)
                .zip(self.retired)
                .filter_map(|(candidate, &retired)| (!retired).then_some(candidate))
                .collect::<Vec<_>>()
                .into(),
        }
    }
}
