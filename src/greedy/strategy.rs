//! Strategies: the trait, what one judges by in a step, and the facts about it.
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

/// Errors within this share of the least are equal: symmetric columns tie in
/// exact arithmetic, and rounding must not decide between them.
pub const TIE_TOLERANCE: f64 = 1e-10;

/// A way to find the best candidate of a step.
///
/// A step takes the lowest feature among the candidates whose error is within [`TIE_TOLERANCE`] of
/// the least.
pub trait Strategy: Send {
    /// The criterion's value if each of the `eligible` candidates is added, in their order: for all
    /// strategies but `backfit` and baselines the leave-query-out error, or 1 less the ranking measure.
    /// A candidate whose value is not a number is not taken, so that a strategy may give this for one
    /// that it knows to be worse than another. More or fewer values than candidates, and no number
    /// among them, end the selection with an error.
    ///
    /// `eligible` has positions among the candidates of the round, ascending. The value of a candidate
    /// depends on the state and the candidate alone: others may be on other ranks.
    fn errors(&mut self, round: &Round<'_>, eligible: &[u32]) -> Vec<f64>;

    /// The work that the last [`errors`](Self::errors) of `judged` candidates took.
    fn work(&self, judged: usize) -> Work {
        Work::evaluated(judged)
    }

    /// Takes note of the feature that was added last: [`State::last`] says what it changed. Called once
    /// an addition, before the next one and before the next [`errors`](Self::errors), also where the
    /// strategy did not find the feature.
    fn adopt(&mut self, candidates: &ColumnClasses, state: &State) {
        let _ = (candidates, state);
    }

    /// Bytes that a strategy of your own will take for a selection of this `shape`, besides data,
    /// candidates and [`State`]: asked before the selection starts. 0 by default.
    fn memory(&self, shape: &Shape) -> u64 {
        let _ = shape;
        0
    }
}

/// Makes a strategy of your own, which has seen no data yet: one for each selection.
pub type Own<'a> = dyn Fn() -> Box<dyn Strategy> + Sync + 'a;

/// The least number; infinity where there is none.
pub(super) fn least(errors: &[f64]) -> f64 {
    errors.iter().copied().fold(f64::INFINITY, f64::min)
}

/// The largest error that ties with the least.
pub(super) fn tie_limit(least: f64) -> f64 {
    // Values of a strategy of one's own may be below 0.
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

/// The rest of `error` after `gain`: not negative but for rounding, and no number if the
/// gain is none, which [`f64::max`] would hide.
pub(super) fn error_left(error: f64, gain: f64) -> f64 {
    let left = error - gain;
    if left < 0.0 { 0.0 } else { left }
}

/// The work that the errors of a step took: how exactness was had.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Work {
    /// Candidates whose criterion was evaluated exactly.
    pub evaluated: usize,
    /// For `bounded`, candidates that could still win before their entries were read, and after each
    /// level of bounds that reads them, those evaluated on the way included.
    pub alive: Vec<usize>,
}

impl Work {
    /// Adds what the candidates of another rank took.
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

/// The things by which a strategy judges in one step.
#[derive(Debug, Clone, Copy)]
pub struct Round<'a> {
    /// The candidates of this rank.
    pub candidates: &'a ColumnClasses,
    /// The ranks that judge the others at the same time.
    pub peers: &'a dyn Peers,
    /// The state that one of them will be added to.
    pub state: &'a State,
    /// Whether the eligible candidates were drawn for this step, and not all that are left.
    pub sampled: bool,
    /// The measure to judge by; `None`: the squared error. Only met by strategies that can
    /// ([`StrategyKind::can_rank`](super::StrategyKind::can_rank)).
    pub ranking: Option<&'a Judge<'a>>,
    /// Bytes that the strategy may keep of candidates from step to step, beside what it needs.
    pub cache_bytes: usize,
}

/// Bytes that strategies may keep of candidates where the state is larger.
const ROOM: usize = 256 << 20;

impl Round<'_> {
    /// [`cache_bytes`](Self::cache_bytes) for `rows` examples and `k` steps: no more than the state takes.
    pub(super) fn cache_bytes(rows: usize, k: usize) -> usize {
        let row = k.saturating_mul(2 * size_of::<f64>());
        ROOM.min(rows.saturating_mul(row))
    }
}

/// The facts about a strategy besides its arithmetic. Each has it in its own file. The methods of
/// [`StrategyKind`](super::StrategyKind) say what the properties mean.
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
    /// Candidates drawn each step when nothing else is asked for; `None`: all are judged.
    pub(super) sample: Option<usize>,
    /// Bytes it takes besides the state.
    pub(super) memory: fn(&Shape) -> u64,
    /// Rough seconds of a step besides those of the state, on two of today's cores: to compare
    /// strategies, not to tell time. `docs/choosing.md` has the figures.
    pub(super) cost: fn(&Shape) -> f64,
    /// The strategy, ready for the first step.
    pub(super) build: fn(&ColumnClasses, &State) -> Box<dyn Strategy>,
}

impl Facts {
    /// What a strategy does not say otherwise: no property, no memory, and the time of a pass over the entries.
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

/// No error of any candidate, which ends a selection.
impl Strategy for () {
    fn errors(&mut self, _: &Round<'_>, _: &[u32]) -> Vec<f64> {
        Vec::new()
    }
}

/// A size whose sums and products stay the largest number where they would pass it: memory that nobody
/// has.
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
    /// Entries of the `k` longest of them, or more.
    pub longest: usize,
    /// Candidates drawn at random each step, if not all are judged.
    pub sample: Option<usize>,
    /// Features to select.
    pub k: usize,
    /// Threads at work.
    pub threads: usize,
}

impl Shape {
    /// The shape of selecting `k` of `candidates`, `sample` at a time, on this thread pool; of the
    /// rank that has most: every rank must call this.
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

    /// This shape with the candidates of all ranks: what time on one rank depends on.
    pub(super) fn of_all(self, summary: Summary) -> Self {
        Self {
            candidates: summary.column_classes,
            pieces: summary.pieces,
            nonzeros: summary.class_nonzeros,
            ..self
        }
    }

    /// Candidates that are judged in a step.
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

    /// Bytes that every strategy takes: the state, who is out, and the errors of who is not.
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

    /// The place that wins where ranks, or one, have these errors.
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
        // Not a number never wins.
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
