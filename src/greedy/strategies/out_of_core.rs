//! Any strategy where memory does not hold all candidates: a strategy for each part, and parts that
//! take turns.

use std::io;
use std::sync::Arc;

use super::StrategyKind;
use crate::columns::ColumnClasses;
use crate::columns::parts::Parts;
use crate::greedy::strategy::{least, tie_limit};
use crate::greedy::{Round, State, Strategy, Work};

/// A strategy for each part.
pub(super) struct OutOfCore {
    parts: Arc<Parts>,
    strategies: Vec<Box<dyn Strategy>>,
    /// Of the last step.
    work: Work,
    /// Why a part could not be read.
    failure: Option<io::Error>,
}

impl OutOfCore {
    pub(super) fn new(kind: StrategyKind, parts: &Arc<Parts>, state: &State) -> Self {
        let mut turns = Self {
            parts: Arc::clone(parts),
            strategies: Vec::new(),
            work: Work::default(),
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

impl Strategy for OutOfCore {
    fn errors(&mut self, round: &Round<'_>, eligible: &[u32]) -> Vec<f64> {
        let mut errors = vec![f64::NAN; eligible.len()];
        let mut work = Work::default();
        let room = round.room / self.parts.count();
        self.each(|strategies, part, classes, places| {
            let here = (0u32..).zip(places);
            let here =
                here.filter_map(|(own, place)| Some((own, eligible.binary_search(place).ok()?)));
            let (own, slots): (Vec<u32>, Vec<usize>) = here.unzip();
            let strategy = &mut strategies[part];
            let round = Round {
                candidates: classes,
                limit: tie_limit(least(&errors)),
                room,
                ..*round
            };
            for (slot, error) in slots.into_iter().zip(strategy.errors(&round, &own)) {
                errors[slot] = error;
            }
            work.add(&strategy.work(own.len()));
        });
        self.work = work;
        errors
    }

    fn work(&self, _: usize) -> Work {
        self.work.clone()
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
