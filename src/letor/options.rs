//! How to run the protocol.

use super::LetorError;
use crate::columns::QueryWeight;
use crate::{Lambda, StrategyKind, greedy};

/// Exponents of two of the grid where none is asked for.
const EXPONENTS: std::ops::RangeInclusive<i32> = -10..=10;

/// How to run the protocol.
#[derive(Debug, Clone, PartialEq)]
pub struct Options {
    pub(super) lambdas: Vec<Lambda>,
    pub(super) k: Option<usize>,
    /// What all selections have in common; `k` and lambda stand for any.
    selection: greedy::SelectionOptions,
}

impl Default for Options {
    fn default() -> Self {
        let powers = EXPONENTS.map(|exponent| 2_f64.powi(exponent));
        Self {
            lambdas: powers.filter_map(|power| Lambda::new(power).ok()).collect(),
            k: None,
            selection: greedy::SelectionOptions::new(1, Lambda::ONE),
        }
    }
}

impl Options {
    /// The paper's: all features by the fastest exact strategy, powers of two from `2^-10` to
    /// `2^10`, queries weighted alike.
    pub fn new() -> Self {
        Self::default()
    }

    /// The ridge parameters to choose from, ascending and each once whatever their order here.
    #[must_use]
    pub fn lambdas(mut self, lambdas: &[Lambda]) -> Self {
        self.lambdas = Lambda::grid(lambdas);
        self
    }

    /// The most features to select. By default all that there are.
    #[must_use]
    pub fn features(mut self, k: usize) -> Self {
        self.k = Some(k);
        self
    }

    /// The strategy. The default is the fastest exact one that fits into memory.
    #[must_use]
    pub fn strategy(mut self, strategy: StrategyKind) -> Self {
        self.selection.strategy = Some(strategy);
        self
    }

    /// What a query counts in training, of both models. The default is
    /// [`QueryWeight::Uniform`].
    #[must_use]
    pub fn query_weight(mut self, weight: QueryWeight) -> Self {
        self.selection.query_weight = weight;
        self
    }

    /// Bytes that data and models may take together. No limit by default.
    #[must_use]
    pub fn max_memory(mut self, bytes: u64) -> Self {
        self.selection.max_memory = Some(bytes);
        self
    }

    /// The ridge parameters, ascending.
    pub fn grid(&self) -> &[Lambda] {
        &self.lambdas
    }

    pub(super) fn check(&self) -> Result<(), LetorError> {
        if self.lambdas.is_empty() {
            return Err(LetorError::NoLambdas);
        }
        Ok(())
    }

    /// The selection of `k` features with `lambda`.
    pub(super) fn selection(&self, k: usize, lambda: Lambda) -> greedy::SelectionOptions {
        greedy::SelectionOptions {
            k,
            lambda,
            ..self.selection
        }
    }

    /// What a query counts.
    pub(super) fn weight(&self) -> QueryWeight {
        self.selection.query_weight
    }

    /// Bytes allowed, if there is a limit.
    pub(super) fn memory_limit(&self) -> Option<u64> {
        self.selection.max_memory
    }
}
