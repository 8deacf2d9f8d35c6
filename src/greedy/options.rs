//! What to select, and how.

use super::SelectError;
use crate::checkpoint::Settings;
use crate::columns::ColumnClasses;
use crate::data::Queries;
use crate::greedy::Sampler;
use crate::greedy::{Criterion, RankingCriterion, StrategyKind};
use crate::{Lambda, QueryWeight};

/// What to select, and how.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SelectionOptions {
    pub(super) strategy: Option<StrategyKind>,
    pub(super) lambda: Lambda,
    pub(super) k: usize,
    pub(super) sample: Option<usize>,
    pub(super) seed: u64,
    pub(super) max_memory: Option<u64>,
    pub(super) query_weight: QueryWeight,
    pub(super) criterion: Criterion,
}

impl SelectionOptions {
    /// Selection of `k` features with ridge parameter `lambda`, by the fastest exact strategy
    /// that fits into memory.
    pub fn new(k: usize, lambda: Lambda) -> Self {
        Self {
            strategy: None,
            lambda,
            k,
            sample: None,
            seed: 1,
            max_memory: None,
            query_weight: QueryWeight::Uniform,
            criterion: Criterion::Squared,
        }
    }

    /// The strategy; the default is the fastest exact one that fits into memory.
    #[must_use]
    pub fn strategy(mut self, strategy: StrategyKind) -> Self {
        self.strategy = Some(strategy);
        self
    }

    /// Judges only `size` candidates a step, drawn at random. The default is all of them, and
    /// [`StrategyKind::DEFAULT_SAMPLE`] for `sampled`.
    #[must_use]
    pub fn sample(mut self, size: usize) -> Self {
        self.sample = Some(size);
        self
    }

    /// Seed of the random subsets, 1 by default. Equal seeds give equal features on every
    /// platform and at any number of threads.
    #[must_use]
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }

    /// Bytes that data, candidates and strategy may take together. No limit by default.
    #[must_use]
    pub fn max_memory(mut self, bytes: u64) -> Self {
        self.max_memory = Some(bytes);
        self
    }

    /// What the queries count; all the same by default.
    #[must_use]
    pub fn query_weight(mut self, weight: QueryWeight) -> Self {
        self.query_weight = weight;
        self
    }

    /// What each step improves most; the squared error by default.
    #[must_use]
    pub fn criterion(mut self, criterion: Criterion) -> Self {
        self.criterion = criterion;
        self
    }

    /// How many features to select.
    pub fn features(&self) -> usize {
        self.k
    }

    /// The ridge parameter.
    pub fn ridge(&self) -> Lambda {
        self.lambda
    }

    /// What the queries count.
    pub fn weight(&self) -> QueryWeight {
        self.query_weight
    }

    /// ColumnClasses to draw each step, if that was set.
    pub fn sample_size(&self) -> Option<usize> {
        self.sample
    }

    /// Bytes allowed, if there is a limit.
    pub fn memory_limit(&self) -> Option<u64> {
        self.max_memory
    }
}

impl SelectionOptions {
    /// The same for `k` features with another ridge parameter.
    pub(crate) fn with(self, k: usize, lambda: Lambda) -> Self {
        Self { lambda, k, ..self }
    }

    /// What decides the outcome, the data aside.
    pub(crate) fn settings(&self) -> Settings {
        Settings {
            strategy: self.strategy,
            lambda: self.lambda,
            k: self.k,
            sample: self.sample,
            seed: self.seed,
            criterion: self.criterion,
            query_weight: self.query_weight,
        }
    }

    pub(super) fn check(&self, candidates: &ColumnClasses) -> Result<(), SelectError> {
        if self.k == 0 {
            return Err(SelectError::NothingAsked);
        }
        if self.sample == Some(0) {
            return Err(SelectError::NothingSampled);
        }
        if candidates.is_empty() {
            return Err(SelectError::NoCandidates {
                columns: candidates.summary().columns,
            });
        }
        match self.strategy {
            Some(strategy) if self.sample.is_some() && !strategy.can_sample() => {
                Err(SelectError::CanNotSample { strategy })
            }
            Some(strategy) if !self.suits(strategy) => Err(SelectError::CanNotRank {
                strategy,
                criterion: self.criterion,
            }),
            _ => Ok(()),
        }
    }

    /// Whether `strategy` can do what is asked.
    pub(crate) fn suits(&self, strategy: StrategyKind) -> bool {
        (self.sample.is_none() || strategy.can_sample())
            && (self.criterion == Criterion::Squared || strategy.can_rank())
    }

    /// The measure to judge by, for training data with `labels`.
    pub(crate) fn ranking(
        &self,
        labels: &[f64],
        queries: &Queries,
    ) -> Result<Option<RankingCriterion>, SelectError> {
        let Criterion::Ranking { metric, convention } = self.criterion else {
            return Ok(None);
        };
        let criterion = RankingCriterion::new(metric, convention, labels, queries);
        criterion.map(Some).ok_or(SelectError::Undefined { metric })
    }

    pub(crate) fn sampler(&self, strategy: StrategyKind) -> Option<Sampler> {
        self.sample
            .or(strategy.default_sample())
            .map(|size| Sampler {
                size,
                seed: self.seed,
            })
    }
}
