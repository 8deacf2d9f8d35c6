//! What a strategy is: the trait, what it judges by in a step, and the facts about it.

use std::io;

use rayon::prelude::*;

use super::{Contest, Entrant, RankingCriterion, State};
use crate::columns::{ColumnClasses, Summary};
use crate::interrupt::heed;

/// A way to find the best candidate of a step.
pub trait Strategy: Send {
    /// Judges the eligible candidates of a round, and says what that took.
    fn propose(&mut self, round: &Round<'_>) -> (Contest, Work);

    /// Takes note of the feature that was just added: [`State::last`] says what it changed.
    /// Called once an addition, also when features are added that nobody proposed.
    fn adopt(&mut self, candidates: &ColumnClasses, state: &State) {
        let _ = (candidates, state);
    }

    /// Whether [`adopt`](Self::adopt) does anything.
    fn follows(&self) -> bool {
        false
    }

    /// Why the last proposal or adoption is none: columns in files could not be read.
    fn failure(&mut self) -> Option<io::Error> {
        None
    }
}

/// What a proposal took: how exactness was had.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Work {
    /// Candidates whose criterion was evaluated exactly.
    pub evaluated: usize,
    /// For `bounded`, candidates that could still win after each level of bounds, those
    /// evaluated on the way included.
    pub alive: Vec<usize>,
}

impl Work {
    /// Adds what another part of the candidates took.
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

/// What a strategy judges by in one step.
#[derive(Debug, Clone, Copy)]
pub struct Round<'a> {
    /// The candidates.
    pub candidates: &'a ColumnClasses,
    /// The state that one of them will be added to.
    pub state: &'a State,
    /// Candidates that are out, by position: selected ones and their equals.
    pub retired: &'a [bool],
    /// Candidates drawn for this step, ascending and not retired; `None`: all.
    pub sample: Option<&'a [u32]>,
    /// The measure to judge by; `None`: the squared error. Only met by strategies that can
    /// ([`StrategyKind::can_rank`](super::StrategyKind::can_rank)).
    pub ranking: Option<&'a RankingCriterion>,
    /// Bytes that the strategy may keep of candidates from step to step, beside what it needs.
    pub room: usize,
}

/// Bytes that strategies may keep of candidates where the state is larger.
const ROOM: usize = 256 << 20;

impl Round<'_> {
    /// [`room`](Self::room) for `rows` examples and `k` steps: no more than the state takes.
    pub(super) fn room(rows: usize, k: usize) -> usize {
        ROOM.min(rows.saturating_mul(2 * size_of::<f64>() * k))
    }

    /// Whether the candidate at a position may be chosen.
    ///
    /// # Panics
    /// When there is no such candidate.
    pub fn eligible(&self, candidate: usize) -> bool {
        match self.sample {
            None => !self.retired[candidate],
            Some(sample) => {
                u32::try_from(candidate).is_ok_and(|wanted| sample.binary_search(&wanted).is_ok())
            }
        }
    }

    /// Positions of the candidates that may be chosen, ascending.
    pub fn eligible_candidates(&self) -> std::borrow::Cow<'_, [u32]> {
        match self.sample {
            Some(sample) => sample.into(),
            None => (0u32..)
                .zip(self.retired)
                .filter_map(|(candidate, &retired)| (!retired).then_some(candidate))
                .collect::<Vec<_>>()
                .into(),
        }
    }

    /// Judges candidates in parallel by an error that is least for the best one; a task judges
    /// `chunk` of them, with a scratch of its own.
    pub fn judge<S>(
        &self,
        candidates: &[u32],
        chunk: usize,
        scratch: impl Fn() -> S + Sync + Send,
        judge: impl Fn(&mut S, usize) -> f64 + Sync + Send,
    ) -> Contest {
        let judge_chunk = |scratch: &mut S, chunk: &[u32]| {
            heed();
            let mut contest = Contest::default();
            for &candidate in chunk {
                let error = judge(scratch, candidate as usize);
                let feature = self.candidates.feature(candidate as usize);
                contest.enter(Entrant { error, feature });
            }
            contest
        };
        let chunks = candidates.par_chunks(chunk).map_init(scratch, judge_chunk);
        chunks.reduce(Contest::default, Contest::merge)
    }
}

/// What there is to know of a strategy besides its arithmetic. Each has it in its own file.
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own")]
pub(super) struct Facts {
    /// The name that users give.
    pub(super) name: &'static str,
    /// What it does, in a line.
    pub(super) summary: &'static str,
    /// Whether every step takes the candidate with the least leave-query-out error of all.
    pub(super) exact: bool,
    /// Whether it can judge a random subset of the candidates.
    pub(super) samples: bool,
    /// Whether it has every candidate's leave-query-out predictions, and so can judge by a
    /// ranking measure of them.
    pub(super) ranks: bool,
    /// Whether it is there to be compared with, because it does without what the others are
    /// for: leave-query-out errors of sets of features.
    pub(super) baseline: bool,
    /// Whether it selects towards what a teacher predicts, not towards the labels: its
    /// leave-query-out errors flatter, as the teacher has seen all labels.
    pub(super) distils: bool,
    /// Candidates drawn each step when nothing else is asked for; `None`: all are judged.
    pub(super) sample: Option<usize>,
    /// Bytes it takes besides the state.
    pub(super) memory: fn(&Shape) -> u64,
    /// Rough seconds of a step besides those of the state, on two of today's cores: to compare
    /// strategies, not to tell time. `docs/strategies.md` has the figures.
    pub(super) cost: fn(&Shape) -> f64,
    /// The strategy, ready for the first step.
    pub(super) build: fn(&ColumnClasses, &State) -> Box<dyn Strategy>,
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
    /// Candidates: column classes.
    pub candidates: usize,
    /// Pairs of a candidate and a query it touches, of candidates that touch several.
    pub pieces: usize,
    /// Entries of the candidates.
    pub nonzeros: usize,
    /// Candidates drawn at random each step, if not all are judged.
    pub sample: Option<usize>,
    /// Features to select.
    pub k: usize,
    /// Threads at work.
    pub threads: usize,
}

impl Shape {
    /// The shape of selecting `k` of `candidates`, `sample` at a time, on this thread pool; of the
    /// rank that has most.
    pub fn new(candidates: &ColumnClasses, k: usize, sample: Option<usize>) -> Self {
        let (queries, share) = (candidates.queries(), candidates.share());
        Self {
            rows: queries.rows(),
            queries: queries.len(),
            largest_query: queries.largest(),
            candidates: share.column_classes,
            pieces: share.pieces,
            nonzeros: share.nonzeros,
            sample,
            k: k.min(candidates.summary().column_classes),
            threads: candidates.threads(),
        }
    }

    /// The same with the candidates of all ranks: what time on one rank depends on.
    pub(super) fn of_all(self, summary: Summary) -> Self {
        Self {
            candidates: summary.column_classes,
            pieces: summary.pieces,
            nonzeros: summary.nonzeros,
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

    /// Bytes that every strategy takes: the state, and who is out.
    pub(super) fn base_memory(&self) -> u64 {
        State::memory(self.rows, self.k) + self.candidates as u64
    }
}
