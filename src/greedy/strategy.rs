//! Strategies: the trait, its arguments in a step, and the facts about it.
//!
//! [`GreedyRankRls::fit_with`](super::GreedyRankRls::fit_with) takes a strategy of your own:
//! `examples/strategy.rs` has one.

use std::num::Saturating;

use serde::{Deserialize, Serialize};

use crate::columns::{ColumnClasses, Summary};
use crate::metrics::Judge;
use crate::peers::Peers;

pub use super::addition::{Addition, LastStep};
pub use super::state::State;
pub use super::strategies::{ExpectedDivergence, Sampler};

/// Errors within this share of the least are equal: symmetric columns tie in exact arithmetic, and rounding must
/// not decide between them.
pub const TIE_TOLERANCE: f64 = 1e-10;

/// A way to find the best candidate of a step.
///
/// A step takes the lowest feature among the candidates whose error is within [`TIE_TOLERANCE`] of
/// the least.
pub trait Strategy: Send {
    /// The criterion's value with each of the `eligible` candidates added, in their order. It is the
    /// leave-query-out error, or 1 less the ranking measure, for all strategies except `backfit` and baselines. No
    /// step takes a candidate with NaN, so a strategy may return this for one that it knows to be worse than
    /// another. More or fewer values than candidates, or NaN alone, end the selection with an error.
    ///
    /// `eligible` has positions among the candidates of the round, ascending. The value of a candidate
    /// depends on the state and the candidate alone: others may be on other ranks.
    fn errors(&mut self, round: &Round<'_>, eligible: &[u32]) -> Vec<f64>;

    /// The work that the last [`errors`](Self::errors) of `judged` candidates took.
    fn work(&self, judged: usize) -> Work {
        Work::evaluated(judged)
    }

    /// Learns of the last added feature: [`State::last`] has its effect. Called once an addition, before the next
    /// one and before the next [`errors`](Self::errors), even if the strategy did not find the feature.
    fn adopt(&mut self, candidates: &ColumnClasses, state: &State) {
        let _ = (candidates, state);
    }

    /// Bytes that your strategy will take for a selection of this `shape`, beside data, candidates and [`State`]:
    /// asked before the selection starts. 0 by default.
    fn memory(&self, shape: &Shape) -> u64 {
        let _ = shape;
        0
    }
}

/// Makes a strategy of your own, before it sees data: one for each selection.
pub type Own<'a> = dyn Fn() -> Box<dyn Strategy> + Sync + 'a;

/// The least number; infinity without any.
pub(super) fn least(errors: &[f64]) -> f64 {
    errors.iter().copied().fold(f64::INFINITY, f64::min)
}

/// The largest error that ties with the least.
pub(super) fn tie_limit(least: f64) -> f64 {
    // A user's strategy may return negative values.
    if least < 0.0 {
        least * (1.0 - TIE_TOLERANCE)
    } else {
        least * (1.0 + TIE_TOLERANCE)
    }
}

/// The first of `errors` that ties with the least of all ranks.
pub(super) fn first_tied(errors: &[f64], least: f64) -> Option<usize> {
    let limit = tie_limit(least);
    errors.iter().position(|&error| error <= limit)
}

/// The rest of `error` after `gain`, at least 0, as it is negative only by rounding. NaN stays, which [`f64::max`]
/// would hide.
pub(super) fn error_left(error: f64, gain: f64) -> f64 {
    let left = error - gain;
    if left < 0.0 { 0.0 } else { left }
}

/// The work behind the errors of a step, by level of exactness.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Work {
    /// Candidates whose criterion was evaluated exactly.
    pub evaluated: usize,
    /// For `bounded`, the numbers of candidates that could still win before any entry was read, and after each
    /// level of bounds that reads them. Candidates evaluated on the way count, too.
    pub alive: Vec<usize>,
}

impl Work {
    /// Adds the work for the candidates of another rank.
    pub(super) fn add(&mut self, other: &Self) {
        self.evaluated += other.evaluated;
        self.alive
            .resize(other.alive.len().max(self.alive.len()), 0);
        let alive = self.alive.iter_mut().zip(&other.alive);
        alive.for_each(|(sum, count)| *sum += count);
    }

    /// So many exact evaluations.
    pub fn evaluated(evaluated: usize) -> Self {
        Self {
            evaluated,
            alive: Vec::new(),
        }
    }
}

/// The arguments of a strategy in one step.
#[derive(Debug, Clone, Copy)]
pub struct Round<'a> {
    /// The candidates of this rank.
    pub candidates: &'a ColumnClasses,
    /// The ranks that judge the other candidates at the same time.
    pub peers: &'a dyn Peers,
    /// The state before the addition of one of them.
    pub state: &'a State,
    /// Whether the eligible candidates were drawn for this step, and are not all that are left.
    pub sampled: bool,
    /// The measure to judge by; `None`: the squared error. Only strategies that can rank
    /// ([`StrategyKind::can_rank`](super::StrategyKind::can_rank)) get one.
    pub ranking: Option<&'a Judge<'a>>,
    /// Bytes for optional numbers of candidates that the strategy may keep from step to step.
    pub cache_bytes: usize,
}

/// Most bytes for optional numbers of candidates, if the state is larger.
const ROOM: usize = 256 << 20;

impl Round<'_> {
    /// [`cache_bytes`](Self::cache_bytes) for `rows` examples and `k` steps: at most the bytes of the state.
    pub(super) fn cache_bytes(rows: usize, k: usize) -> usize {
        let row = k.saturating_mul(2 * size_of::<f64>());
        ROOM.min(rows.saturating_mul(row))
    }
}

/// The facts about a strategy besides its arithmetic, each in the strategy's file. The methods of
/// [`StrategyKind`](super::StrategyKind) explain the properties.
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a property of its own"
)]
pub(super) struct Facts {
    /// The name that users give.
    pub(super) name: &'static str,
    pub(super) exact: bool,
    pub(super) samples: bool,
    pub(super) ranks: bool,
    pub(super) baseline: bool,
    pub(super) distils: bool,
    pub(super) needs_grades: bool,
    /// The default number of candidates drawn each step; `None`: all are judged.
    pub(super) sample: Option<usize>,
    /// Bytes it takes besides the state.
    pub(super) memory: fn(&Shape) -> u64,
    /// Rough seconds of a step besides those of the state, on two of today's cores, to compare strategies, not to
    /// tell time. `docs/choosing.md` has the figures.
    pub(super) cost: fn(&Shape) -> f64,
    /// Builds the strategy before the first step.
    pub(super) build: fn(&ColumnClasses, &State) -> Box<dyn Strategy>,
}

impl Facts {
    /// The default facts: no property, no memory, and the time of a pass over the entries.
    pub(super) const USUAL: Self = Self {
        name: "",
        exact: false,
        samples: false,
        ranks: false,
        baseline: false,
        distils: false,
        needs_grades: false,
        sample: None,
        memory: |_| 0,
        cost: Shape::pass,
        build: |_, _| Box::new(()),
    };
}

/// No errors for any candidate, which ends a selection.
impl Strategy for () {
    fn errors(&mut self, _: &Round<'_>, _: &[u32]) -> Vec<f64> {
        Vec::new()
    }
}

/// A size whose sums and products saturate at the largest number, a memory that nobody has.
pub(super) fn bytes(size: usize) -> Saturating<u64> {
    Saturating(size as u64)
}

/// The size of a selection, as far as memory and time depend on it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Shape {
    /// Examples `m`.
    pub rows: usize,
    /// Queries `q`.
    pub queries: usize,
    /// Examples of the largest query.
    pub largest_query: usize,
    /// Numbers of the matrices of all queries after `k` steps ([`State::transforms`]).
    pub transforms: usize,
    /// Candidates: column classes.
    pub candidates: usize,
    /// Pairs of a candidate and a query it touches, of candidates that touch several.
    pub pieces: usize,
    /// Entries of the candidates.
    pub nonzeros: usize,
    /// At least the entries of the `k` longest of them.
    pub longest: usize,
    /// Candidates drawn at random each step, if not all are judged.
    pub sample: Option<usize>,
    /// Features to select.
    pub k: usize,
    /// Threads at work.
    pub threads: usize,
}

impl Shape {
    /// The shape of a selection of `k` of `candidates`, `sample` at a time, on this thread pool, for the rank with
    /// the most. Every rank must call this.
    pub(super) fn new(candidates: &ColumnClasses, k: usize, sample: Option<usize>) -> Self {
        let queries = candidates.queries();
        let own = [
            candidates.len(),
            candidates.pieces(),
            candidates.entries(),
            rayon::current_num_threads(),
            candidates.longest(k),
        ];
        let ranks = candidates.peers().all(&own);
        let most = |size: usize| ranks.iter().map(|own| own[size]).max().unwrap_or(0);
        let k = k.min(candidates.summary().column_classes);
        let threads = most(3);
        Self {
            rows: queries.rows(),
            queries: queries.len(),
            largest_query: queries.largest(),
            candidates: most(0),
            pieces: most(1),
            nonzeros: most(2),
            longest: ranks.iter().map(|&[.., longest]| longest).sum(),
            sample,
            transforms: State::transforms(queries, k, threads),
            k,
            threads,
        }
    }

    /// This shape with the candidates of all ranks, which decide the time on one rank.
    pub(super) fn of_all(self, summary: Summary) -> Self {
        Self {
            candidates: summary.column_classes,
            pieces: summary.pieces,
            nonzeros: summary.class_nonzeros,
            ..self
        }
    }

    /// Candidates judged in a step.
    pub(super) fn judged(&self) -> usize {
        self.sample.unwrap_or(self.candidates).min(self.candidates)
    }

    /// Seconds of a pass over the entries of all candidates.
    pub(super) fn pass(&self) -> f64 {
        4e-9 * self.nonzeros as f64
    }

    /// Examples times candidates.
    pub(super) fn cells(&self) -> f64 {
        self.rows as f64 * self.candidates as f64
    }

    /// Bytes that every strategy takes: the state, the list of retired candidates, and the errors of the others.
    pub(super) fn base_memory(&self) -> u64 {
        let sizes = [self.rows, self.queries, self.transforms, self.longest];
        let state = Saturating(State::memory(sizes, self.k));
        (state + bytes(self.candidates) + bytes(12) * bytes(self.judged())).0
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The winning place for the errors of one rank or more.
    fn winner(ranks: &[&[f64]]) -> Option<usize> {
        let least = least(&ranks.iter().map(|errors| least(errors)).collect::<Vec<_>>());
        let mut passed = 0;
        let places = ranks.iter().map(|errors| {
            let place = first_tied(errors, least).map(|place| passed + place);
            passed += errors.len();
            place
        });
        places.flatten().min()
    }

    #[test]
    fn a_tie_goes_to_the_lower_feature() {
        assert_eq!(winner(&[&[2.0, 1.0 + 1e-11, 1.0]]), Some(1));
        assert_eq!(winner(&[&[2.0, 1.0 + 1e-9, 1.0]]), Some(2));
        assert_eq!(winner(&[&[]]), None);
        // NaN never wins.
        assert_eq!(winner(&[&[f64::NAN, 5.0]]), Some(1));
        assert_eq!(winner(&[&[f64::NAN]]), None);
        // Below 0, more is worse, too.
        assert_eq!(winner(&[&[-2.0, -3.0 + 1e-11, -3.0]]), Some(1));
        assert_eq!(winner(&[&[f64::NEG_INFINITY, 0.0]]), Some(0));
    }

    #[test]
    fn a_new_least_error_can_disqualify_the_winner() {
        let errors = [1.0 + 1.5e-10, 1.0 + 0.8e-10, 1.0];
        assert_eq!(winner(&[&errors[..2]]), Some(0));
        assert_eq!(winner(&[&errors]), Some(1));
    }

    proptest! {
        #[test]
        fn any_split_gives_the_same_winner(
            steps in prop::collection::vec(0u32..40, 1..30),
            cut in 0usize..30,
        ) {
            let errors: Vec<f64> =
                steps.iter().map(|&step| 1.0 + f64::from(step) * 2e-11).collect();
            let (left, right) = errors.split_at(cut.min(errors.len()));
            let least = errors.iter().copied().fold(f64::INFINITY, f64::min);
            let expected = errors.iter().position(|&error| error <= least * (1.0 + TIE_TOLERANCE));
            prop_assert_eq!(winner(&[left, right]), expected);
        }
    }
}
