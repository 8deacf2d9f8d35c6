//! The filter: every feature judged alone, by the leave-query-out error of the model that has
//! it and nothing else. A baseline: it does not see that features repeat each other.
//!
//! All candidates are judged once, in the first step, by equation (*) of `docs/derivation.md`,
//! section 4, with no feature selected: O(nnz + m n). Later steps take the next best.

use super::lowmem;
use crate::greedy::strategy::{Facts, Property, Shape};
use crate::greedy::{Round, Strategy, Work};

pub(super) const FACTS: Facts = Facts {
    name: "univariate",
    summary: "Baseline: each feature by its own leave-query-out error, O(nnz + m n)",
    properties: &[Property::Samples, Property::Ranks, Property::Baseline],
    sample: None,
    memory: |shape| 12 * shape.candidates as u64 + lowmem::errors_memory(shape, 0),
    cost: Shape::pass,
    build: |_, _| Box::new(Univariate::default()),
};

/// Ranks the candidates once, each by its own leave-query-out error.
#[derive(Debug, Default)]
struct Univariate {
    /// The criterion of each candidate alone; empty before the first step.
    alone: Vec<f64>,
    /// Candidates that the last step evaluated.
    evaluated: usize,
}

impl Strategy for Univariate {
    fn errors(&mut self, round: &Round<'_>, eligible: &[u32]) -> Vec<f64> {
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
        let alone = |&candidate: &u32| self.alone[candidate as usize];
        eligible.iter().map(alone).collect()
    }

    fn work(&self, _: usize) -> Work {
        Work::evaluated(self.evaluated)
    }
}
