//! A strategy that takes candidates in a given order: by an error of each alone, whatever else is selected.

use std::sync::Arc;

use crate::greedy::{Round, Strategy, Work};

/// Takes candidates in the order of errors, computed once.
pub(in crate::greedy) struct Filter {
    /// An error of each candidate; empty before the first step.
    errors: Arc<[f64]>,
    /// Computes them in the first step that needs them.
    judge: fn(&Round<'_>) -> Vec<f64>,
    /// The number of candidates evaluated in the last step.
    evaluated: usize,
}

impl Filter {
    /// Takes candidates in the order of these `errors`, one for each.
    pub(in crate::greedy) fn given(errors: Arc<[f64]>) -> Box<dyn Strategy> {
        Box::new(Self {
            errors,
            judge: |_| Vec::new(),
            evaluated: 0,
        })
    }

    /// Takes candidates in the order of the errors from `judge`, one for each.
    pub(super) fn by(judge: fn(&Round<'_>) -> Vec<f64>) -> Box<dyn Strategy> {
        Box::new(Self {
            errors: Arc::default(),
            judge,
            evaluated: 0,
        })
    }
}

impl Strategy for Filter {
    fn errors(&mut self, round: &Round<'_>, eligible: &[u32]) -> Vec<f64> {
        if self.errors.is_empty() {
            self.errors = (self.judge)(round).into();
        }
        let first = round.state.steps() == 0;
        self.evaluated = if first { self.errors.len() } else { 0 };
        // Fewer errors than candidates end the selection.
        let errors = eligible.iter().map(|&at| self.errors.get(at as usize));
        errors.flatten().copied().collect()
    }

    fn work(&self, _: usize) -> Work {
        Work::evaluated(self.evaluated)
    }
}
