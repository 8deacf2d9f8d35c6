//! Any strategy where memory does not hold all candidates: a strategy for each part, and parts that
//! take turns.

use std::io;
use std::sync::Arc;

use crate::candidates::Parts;
use crate::columns::ColumnClasses;
use crate::greedy::strategy::{least, tie_limit};
use crate::greedy::{Round, State, Strategy, Work};
use crate::peers::Alone;

/// A strategy for each part.
pub(in crate::greedy) struct OutOfCore {
    files: Arc<Parts>,
    parts: Vec<Box<dyn Strategy>>,
    /// The work of the last step.
    work: Work,
    /// Why a part could not be read.
    failure: Option<io::Error>,
}

impl OutOfCore {
    /// Takes the strategy that `build` makes for the classes of each part, of all `candidates`.
    pub(in crate::greedy) fn new(
        files: &Arc<Parts>,
        candidates: &ColumnClasses,
        build: impl Fn(&ColumnClasses) -> Box<dyn Strategy>,
    ) -> Self {
        let build = |part| files.with(part, candidates, |classes, _| build(classes));
        let parts: io::Result<Vec<_>> = (0..files.count()).map(build).collect();
        let (parts, failure) = match parts {
            Ok(parts) => (parts, None),
            Err(error) => (Vec::new(), Some(error)),
        };
        Self {
            files: Arc::clone(files),
            parts,
            work: Work::default(),
            failure,
        }
    }

    /// Gives every part its turn, up to the first that cannot be read.
    fn each(
        &mut self,
        candidates: &ColumnClasses,
        mut turn: impl FnMut(&mut dyn Strategy, &ColumnClasses, &[u32]),
    ) {
        for (number, strategy) in self.parts.iter_mut().enumerate() {
            let turn = |classes: &ColumnClasses, places: &[u32]| {
                turn(&mut **strategy, classes, places);
            };
            if let Err(error) = self.files.with(number, candidates, turn) {
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
        // Counts strategies that give more or fewer errors than they have candidates.
        let mut wrong = 0;
        let room = round.room / self.parts.len().max(1);
        self.each(round.candidates, |strategy, classes, places| {
            let here = (0u32..).zip(places);
            let here =
                here.filter_map(|(own, place)| Some((own, eligible.binary_search(place).ok()?)));
            let (own, slots): (Vec<u32>, Vec<usize>) = here.unzip();
            let round = Round {
                candidates: classes,
                // Ranks have parts of their own.
                peers: &Alone,
                limit: tie_limit(least(&errors)),
                room,
                ..*round
            };
            let found = strategy.errors(&round, &own);
            wrong += found.len().abs_diff(own.len());
            for (slot, error) in slots.into_iter().zip(found) {
                errors[slot] = error;
            }
            work.add(&strategy.work(own.len()));
            strategy.rest();
        });
        self.work = work;
        errors.resize(eligible.len() + wrong, f64::NAN);
        errors
    }

    fn work(&self, _: usize) -> Work {
        self.work.clone()
    }

    fn adopt(&mut self, candidates: &ColumnClasses, state: &State) {
        if self.parts.iter().any(|part| part.follows()) {
            self.each(candidates, |part, classes, _| part.adopt(classes, state));
        }
    }

    fn failure(&mut self) -> Option<io::Error> {
        self.failure.take()
    }
}
