//! The filter: every feature judged alone, by the leave-query-out error of the model that has
//! it and nothing else. A baseline: it does not see that features repeat each other.
//!
//! All candidates are judged once, in the first step, by equation (*) of `docs/derivation.md`, section 4, with no
//! feature selected: O(nnz + m n). Later steps take the next best.

use super::lowmem;
use crate::greedy::strategy::{Facts, Shape};
use crate::greedy::{Contest, Round, Strategy, Work};

/// Candidates entered by one task.
const CHUNK: usize = 4096;

pub(super) const FACTS: Facts = Facts {
    name: "univariate",
    summary: "Baseline: each feature by its own leave-query-out error, O(nnz + m n)",
    exact: false,
    samples: true,
    ranks: true,
    baseline: true,
    distils: false,
    sample: None,
    memory: |shape| 12 * shape.candidates as u64 + lowmem::errors_memory(shape, 0),
    cost: Shape::pass,
    build: |_, _| Box::new(Univariate::default()),
};

/// Ranks the candidates once, each by its own leave-query-out error.
#[derive(Debug, Default)]
struct Univariate {
    /// The criterion of each candidate alone; empty until the first proposal.
    alone: Vec<f64>,
}

impl Strategy for Univariate {
    fn propose(&mut self, round: &Round<'_>) -> (Contest, Work) {
        let mut work = Work::default();
        if self.alone.is_empty() {
            let all: Vec<u32> = (0u32..).take(round.candidates.len()).collect();
            let empty = round.state.without_features();
            let alone = Round {
                state: &empty,
                ..*round
            };
            self.alone = lowmem::errors(&alone, &all);
            work = Work::evaluated(all.len());
        }
        let eligible = round.eligible_candidates();
        let contest = round.judge(
            &eligible,
            CHUNK,
            || (),
            |(), candidate| self.alone[candidate],
        );
        (contest, work)
    }
}
