//! The filter: every feature judged alone, by the leave-query-out error of the model that has
//! it and nothing else. A baseline: it does not see that features repeat each other.
//!
//! All candidates are judged once, in the first step, by equation (*) of `docs/derivation.md`,
//! section 4, with no feature selected: O(nnz + m n). Later steps take the next best.

use super::lowmem;
use crate::greedy::strategy::{Facts, Property, Shape, bytes};
use crate::greedy::{Round, Strategy, Work};

pub(super) const FACTS: Facts = Facts {
    name: "univariate",
    summary: "Baseline: each feature by its own leave-query-out error, O(nnz + m n)",
    properties: &[Property::Samples, Property::Ranks, Property::Baseline],
    sample: None,
    memory: |shape| (bytes(12) * bytes(shape.candidates) + lowmem::errors_memory(shape, 0)).0,
    cost: Shape::pass,
    build: |_, _| Filter::boxed(alone),
};

/// The leave-query-out error of each candidate alone.
fn alone(round: &Round<'_>) -> Vec<f64> {
    let all: Vec<u32> = (0u32..).take(round.candidates.len()).collect();
    let state = &round.state.without_features();
    lowmem::errors(&Round { state, ..*round }, &all)
}

/// Takes candidates in the order of errors that each has alone.
pub(super) struct Filter {
    judge: fn(&Round<'_>) -> Vec<f64>,
    /// Errors of each candidate; empty before the first step.
    errors: Vec<f64>,
    /// Candidates that the last step evaluated.
    evaluated: usize,
}

impl Filter {
    pub(super) fn boxed(judge: fn(&Round<'_>) -> Vec<f64>) -> Box<dyn Strategy> {
        Box::new(Self {
            judge,
            errors: Vec::new(),
            evaluated: 0,
        })
    }
}

impl Strategy for Filter {
    fn errors(&mut self, round: &Round<'_>, eligible: &[u32]) -> Vec<f64> {
        if self.errors.is_empty() {
            self.errors = (self.judge)(round);
        }
        let first = round.state.steps() == 0;
        self.evaluated = if first { self.errors.len() } else { 0 };
        let errors = eligible.iter().map(|&at| self.errors[at as usize]);
        errors.collect()
    }

    fn work(&self, _: usize) -> Work {
        Work::evaluated(self.evaluated)
    }
}
