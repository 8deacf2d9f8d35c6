//! The filter: every feature judged alone, by the leave-query-out error of the model that has
//! it and nothing else. A baseline: it does not see that features repeat each other.
//!
//! All candidates are judged once, in the first step, by equation (*) of section 3 with no
//! feature selected: O(nnz + m n). Later steps take the next best.

use super::lowmem;
use crate::greedy::{Contest, Entrant, Round, Strategy, Work};

/// Ranks the candidates once, each by its own leave-query-out error.
#[derive(Debug, Default)]
pub struct Univariate {
    /// The criterion of each candidate alone; empty until the first proposal.
    alone: Vec<f64>,
    evaluated: usize,
}

impl Univariate {
    /// Nothing to prepare.
    pub fn new() -> Self {
        Self::default()
    }

    /// Bytes taken besides the state: the criterion of each candidate, and what judging takes
    /// of `lowmem` without features.
    pub fn memory(candidates: usize, largest_query: usize, threads: usize) -> u64 {
        12 * candidates as u64 + lowmem::LowMemory::memory(0, largest_query, 0, threads)
    }
}

impl Strategy for Univariate {
    fn propose(&mut self, round: &Round<'_>) -> Contest {
        self.evaluated = 0;
        if self.alone.is_empty() {
            let all: Vec<u32> = (0u32..).take(round.candidates.len()).collect();
            let empty = round.state.without_features();
            let alone = Round {
                state: &empty,
                ..*round
            };
            self.alone = lowmem::errors(&alone, &all);
            self.evaluated = all.len();
        }
        let mut contest = Contest::default();
        for &candidate in round.eligible_candidates().iter() {
            contest.enter(Entrant {
                error: self.alone[candidate as usize],
                feature: round.candidates.feature(candidate as usize),
            });
        }
        contest
    }

    fn work(&self) -> Work {
        Work {
            evaluated: self.evaluated,
            ..Work::default()
        }
    }
}
