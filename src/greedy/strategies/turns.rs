//! Any strategy where memory does not hold all candidates: a strategy for each part, and parts that
//! take turns.

use std::io;
use std::sync::Arc;

use super::StrategyKind;
use crate::columns::ColumnClasses;
use crate::columns::parts::Parts;
use crate::greedy::{Contest, Round, State, Strategy, Work};

/// A strategy for each part.
pub(super) struct Turns {
    parts: Arc<Parts>,
    strategies: Vec<Box<dyn Strategy>>,
    /// Why a part could not be read.
    failure: Option<io::Error>,
}

impl Turns {
    pub(super) fn new(kind: StrategyKind, parts: &Arc<Parts>, state: &State) -> Self {
        let mut turns = Self {
            parts: Arc::clone(parts),
            strategies: Vec::new(),
            failure: None,
        };
        let mut built = Vec::new();
        turns.each(|_, _, classes, _| built.push(kind.build(classes, state)));
        turns.strategies = built;
        turns
    }

    /// Gives every part its turn, up to the first that cannot be read.
    fn each(
        &mut self,
        mut turn: impl FnMut(&mut [Box<dyn Strategy>], usize, &ColumnClasses, &[u32]),
    ) {
        for part in 0..self.parts.count() {
            let strategies = &mut self.strategies[..];
            let work =
                |classes: &ColumnClasses, places: &[u32]| turn(strategies, part, classes, places);
            if let Err(error) = self.parts.with(part, work) {
                self.failure.get_or_insert(error);
                return;
            }
        }
    }
}

impl Strategy for Turns {
    fn propose(&mut self, round: &Round<'_>) -> (Contest, Work) {
        self.parts.begin_step();
        let (mut contest, mut work) = (Contest::default(), Work::default());
        let room = round.room / self.parts.count();
        self.each(|strategies, part, classes, places| {
            let retired: Vec<bool> = places
                .iter()
                .map(|&place| round.retired[place as usize])
                .collect();
            let sample = round.sample.map(|sample| {
                let own = (0u32..).zip(places);
                let own = own.filter(|(_, place)| sample.binary_search(place).is_ok());
                own.map(|(candidate, _)| candidate).collect::<Vec<u32>>()
            });
            let (found, took) = strategies[part].propose(&Round {
                candidates: classes,
                retired: &retired,
                sample: sample.as_deref(),
                room,
                ..*round
            });
            contest = std::mem::take(&mut contest).merge(found);
            work.add(&took);
        });
        if self.failure.is_some() {
            contest = Contest::default();
        }
        (contest, work)
    }

    fn adopt(&mut self, _: &ColumnClasses, state: &State) {
        if self.strategies.iter().any(|strategy| strategy.follows()) {
            self.each(|strategies, part, classes, _| strategies[part].adopt(classes, state));
        }
    }

    fn failure(&mut self) -> Option<io::Error> {
        self.failure.take()
    }
}
