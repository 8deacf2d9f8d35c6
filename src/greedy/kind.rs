//! The strategies by name, what they need and what they can do.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::{Backfit, Bounded, Dense, LowMemory, Random, Residual, State, Strategy, Univariate};
use crate::Lambda;
use crate::columns::ColumnClasses;

/// The strategies, by the names that users give.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum StrategyKind {
    /// Algorithm 1 with dense caches: exact, O(k m n) time, O(m n) memory.
    Dense,
    /// Nothing kept for a candidate: exact, O(k^2 m n) time, O(m k) memory.
    LowMem,
    /// Bounds first: exact, at a cost that grows with the non-zeros, O(nnz + m k) memory.
    Bounded,
    /// `lowmem` on a fresh random subset each step: O(k^2 m kappa).
    Sampled,
    /// Back-fitting, another criterion: O(k^2 m- n), m- the non-zeros of a column.
    Backfit,
    /// Baseline: each feature by its own leave-query-out error, O(nnz + m n).
    Univariate,
    /// Baseline: the least regularised training error, O(nnz) a step.
    Residual,
    /// Baseline: a random feature in every step.
    Random,
}

/// A name that no strategy has.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("no strategy is called {0:?}: expected one of {names}", names = StrategyKind::names())]
pub struct UnknownStrategy(pub String);

/// The size of a selection, as far as memory depends on it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Shape {
    /// Examples `m`.
    pub rows: usize,
    /// Queries `q`.
    pub queries: usize,
    /// Examples of the largest query.
    pub largest_query: usize,
    /// ColumnClasses: column classes.
    pub candidates: usize,
    /// Pairs of a candidate and a query it touches, of candidates that touch several.
    pub pieces: usize,
    /// Entries of the candidates.
    pub nonzeros: usize,
    /// Largest `|v|^2 / lambda` of a candidate.
    pub stiffness: f64,
    /// ColumnClasses drawn at random each step, if not all are judged.
    pub sample: Option<usize>,
    /// Features to select.
    pub k: usize,
    /// Threads at work.
    pub threads: usize,
}

impl Shape {
    /// The shape of selecting `k` of `candidates`, `sample` at a time, on this thread pool.
    pub fn new(
        candidates: &ColumnClasses,
        k: usize,
        lambda: Lambda,
        sample: Option<usize>,
    ) -> Self {
        let queries = candidates.queries();
        Self {
            rows: queries.rows(),
            queries: queries.len(),
            largest_query: queries.largest(),
            candidates: candidates.len(),
            pieces: candidates.summary().pieces,
            nonzeros: candidates.summary().nonzeros,
            stiffness: candidates.largest_squared_norm() / lambda.value(),
            sample,
            k: k.min(candidates.len()),
            threads: rayon::current_num_threads(),
        }
    }
}

/// `|v|^2 / lambda` from which on the memory of one factor a query is counted in.
const STIFF: f64 = 1e4;

impl StrategyKind {
    /// All strategies: exact ones, others, and baselines.
    pub const ALL: [Self; 8] = [
        Self::Dense,
        Self::LowMem,
        Self::Bounded,
        Self::Sampled,
        Self::Backfit,
        Self::Univariate,
        Self::Residual,
        Self::Random,
    ];

    /// ColumnClasses that `sampled` draws when nothing else is asked for: one of them is among
    /// the best 5% with probability 0.95 (Smola and Bartlett, 2001).
    pub const DEFAULT_SAMPLE: usize = 59;

    /// The name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Dense => "dense",
            Self::LowMem => "lowmem",
            Self::Bounded => "bounded",
            Self::Sampled => "sampled",
            Self::Backfit => "backfit",
            Self::Univariate => "univariate",
            Self::Residual => "residual",
            Self::Random => "random",
        }
    }

    fn names() -> String {
        Self::ALL.map(Self::name).join(", ")
    }

    /// Whether every step takes the candidate with the least leave-query-out error of all.
    pub fn is_exact(self) -> bool {
        matches!(self, Self::Dense | Self::LowMem | Self::Bounded)
    }

    /// Whether the strategy can judge a random subset of the candidates.
    pub fn can_sample(self) -> bool {
        !matches!(self, Self::Dense | Self::Random)
    }

    /// Whether the strategy is there to be compared with, because it does without what the
    /// others are for: leave-query-out errors of sets of features.
    pub fn is_baseline(self) -> bool {
        matches!(self, Self::Univariate | Self::Residual | Self::Random)
    }

    /// ColumnClasses drawn each step when nothing else is asked for; `None`: all are judged.
    pub(crate) fn default_sample(self) -> Option<usize> {
        match self {
            Self::Sampled => Some(Self::DEFAULT_SAMPLE),
            Self::Random => Some(1),
            _ => None,
        }
    }

    /// Whether the strategy has every candidate's leave-query-out predictions, and so can judge
    /// by a ranking measure of them.
    pub fn can_rank(self) -> bool {
        matches!(
            self,
            Self::Dense | Self::LowMem | Self::Sampled | Self::Univariate
        )
    }

    /// Bytes the strategy will take on top of the data and the candidates. It is what is
    /// allocated, not what is in use at once. Where `lambda` is tiny against the norms of the
    /// columns, one factor a query is counted in, whether or not the data turn out to need it.
    pub fn memory(self, shape: &Shape) -> u64 {
        let Shape {
            rows,
            queries,
            largest_query,
            candidates,
            k,
            threads,
            ..
        } = *shape;
        let judged = shape.sample.or(self.default_sample());
        let judged = judged.unwrap_or(candidates).min(candidates);
        let folds = if shape.stiffness > STIFF {
            State::folds_memory(rows, queries, k)
        } else {
            0
        };
        let own = match self {
            Self::Dense => Dense::memory(rows, candidates),
            Self::LowMem | Self::Sampled => LowMemory::memory(judged, largest_query, k, threads),
            Self::Bounded => Bounded::memory(shape),
            Self::Backfit => Backfit::memory(judged, queries, k, threads),
            Self::Univariate => Univariate::memory(candidates, largest_query, threads),
            Self::Residual => Residual::memory(candidates, k, threads),
            Self::Random => 4 * candidates as u64,
        };
        State::memory(rows, k) + candidates as u64 + folds + own
    }

    /// Rough seconds for all `k` steps on two of today's cores: to compare strategies, not to
    /// tell time. The figures are those of `docs/strategies.md`.
    pub fn cost(self, shape: &Shape) -> f64 {
        let (k, rows) = (shape.k as f64, shape.rows as f64);
        let cells = rows * shape.candidates as f64;
        let step = match self {
            Self::Dense => 0.9e-9 * cells,
            Self::Bounded => 4e-9 * shape.nonzeros as f64 + 8e-9 * shape.pieces as f64,
            Self::LowMem => (0.5e-9 + 0.05e-9 * k) * cells,
            Self::Random => 0.0,
            _ => 4e-9 * shape.nonzeros as f64,
        };
        k * (step + 2e-9 * rows * k)
    }

    /// A strategy ready for the first step.
    pub fn build(self, candidates: &ColumnClasses, state: &State) -> Box<dyn Strategy> {
        match self {
            Self::Dense => Box::new(Dense::new(candidates, state)),
            Self::LowMem | Self::Sampled => Box::new(LowMemory::new()),
            Self::Bounded => Box::new(Bounded::new(candidates)),
            Self::Backfit => Box::new(Backfit::new()),
            Self::Univariate => Box::new(Univariate::new()),
            Self::Residual => Box::new(Residual::new()),
            Self::Random => Box::new(Random),
        }
    }
}

impl fmt::Display for StrategyKind {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(self.name())
    }
}

impl FromStr for StrategyKind {
    type Err = UnknownStrategy;

    fn from_str(name: &str) -> Result<Self, UnknownStrategy> {
        let mut kinds = Self::ALL.into_iter();
        kinds
            .find(|kind| kind.name() == name)
            .ok_or_else(|| UnknownStrategy(name.to_owned()))
    }
}
