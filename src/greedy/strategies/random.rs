//! A random feature in every step: the baseline below which nothing should fall.

use crate::greedy::{Contest, Entrant, Round, Strategy, Work};

/// Takes what the [`Sampler`](crate::Sampler) draws, one candidate a step, without judging.
#[derive(Debug, Default)]
pub struct Random;

impl Strategy for Random {
    fn propose(&mut self, round: &Round<'_>) -> Contest {
        let mut contest = Contest::default();
        if let Some(&candidate) = round.eligible_candidates().first() {
            contest.enter(Entrant {
                error: round.state.error(),
                feature: round.candidates.feature(candidate as usize),
            });
        }
        contest
    }

    fn work(&self) -> Work {
        Work::default()
    }
}
