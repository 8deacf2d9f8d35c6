//! Forward selection by training error, without cross-validation: orthogonal matching pursuit
//! with exact pre-fitting (Vincent and Bengio, 2002). A baseline: it shows what judging by
//! queries that were left out buys.
//!
//! The regularised training error of the features `S`, which RankRLS minimises, is `y . r`, and
//!
//! ```text
//! J(S) - J(S + v) = rho^2 / s        rho = v . r        s = lambda + |v|^2 - |z|^2
//! ```
//!
//! exactly, every other weight fitted again. A candidate that is read costs its products with `r` and with the
//! selected columns, and O(t^2) for `z`.
//!
//! # Candidates that cannot win are not read
//!
//! A candidate that touches the queries `T` gains at most
//!
//! ```text
//! |v|^2 R_T / lambda        R_T = sum |r_Q|^2
//! ```
//!
//! because `|v . r| <= |v| |r_T|` and `s >= lambda`: a sum of one number for each query. Nearly all
//! columns of texts are rare, and few rows have much of the error: the bound dismisses most candidates
//! before their entries are read. The sum need not be taken either, as long as the bound of an earlier
//! step, times all that `R_T` may have grown by, is too low. Of those that are read, `rho` and the `|z|^2`
//! of an earlier step dismiss most again. `docs/derivation.md`, section 11, has the argument for such bounds.

use std::ops::Range;

use rayon::prelude::*;

use super::clock::{Clock, SURCHARGE, no_less};
use super::layout::{CHUNK, Layout, Piece};
use super::lowmem::squares;
use super::recent::Recent;
use crate::columns::ColumnClasses;
use crate::data::Column;
use crate::greedy::strategy::{Facts, Shape, bytes, error_left, tie_limit};
use crate::greedy::{Round, State, Strategy, Work};
use crate::linalg::kernels::{self, LANES};
use crate::stop;

/// Best candidates of a step that open the next one: the best of them is the mark for all others.
const LEADERS: usize = 8;

/// Where rounding may change a bound by more than this share, a candidate is read.
const COARSE: f64 = 1e-2;

pub(super) const FACTS: Facts = Facts {
    name: "residual",
    samples: true,
    baseline: true,
    memory: Residual::memory,
    build: |candidates, _| Box::new(Residual::new(candidates)),
    ..Facts::USUAL
};

/// Judges candidates by the regularised training error.
#[derive(Debug)]
pub(super) struct Residual {
    layout: Layout,
    /// The numbers kept of every candidate.
    kept: Vec<Kept>,
    terms: Terms,
    recent: Recent,
    /// The best candidates of the last step.
    leaders: Vec<u32>,
    evaluated: usize,
}

/// The numbers kept of a candidate from step to step.
#[derive(Debug, Clone, Copy)]
struct Kept {
    /// `|v|^2 R_T / lambda`, with a surcharge for each query, when the queries were last summed, over the
    /// clock of that step.
    bound: f64,
    /// `|z|^2` after so many steps.
    explained: f64,
    steps: u32,
}

/// The numbers of a step that bounds are made of.
#[derive(Debug, Default)]
struct Terms {
    /// `|r_Q|^2` of each query, or a little more.
    queries: Vec<f32>,
    /// The clock of `|r_Q|^2`.
    clock: Clock,
}

impl Terms {
    /// Describes a state: O(m).
    fn renew(&mut self, state: &State) {
        let residual = state.residual();
        let squared =
            |range: Range<usize>| kernels::dot(&residual[range.clone()], &residual[range]);
        let ranges = state.queries().ranges();
        let queries: Vec<f32> = ranges.map(|range| no_less(squared(range))).collect();
        let sum: f64 = queries.iter().copied().map(f64::from).sum();
        let surcharge = SURCHARGE * sum / queries.len() as f64;
        let numbers = self.queries.iter().zip(&queries);
        self.clock
            .tick(numbers.map(|(&before, &now)| [before, now]), surcharge);
        self.queries = queries;
    }

    /// `R_T` of the queries that a candidate touches.
    fn sum(&self, pieces: &[Piece]) -> f64 {
        let of_query = |piece: &Piece| f64::from(self.queries[piece.query as usize]);
        pieces.iter().map(of_query).sum()
    }
}

/// A step, as candidates are judged in it.
struct Judge<'a> {
    round: &'a Round<'a>,
    layout: &'a Layout,
    terms: &'a Terms,
    recent: &'a Recent,
    /// `y . r`, the error before the step.
    error: f64,
    /// `|y|^2`
    labels_squared: f64,
    /// An error above this cannot win.
    limit: f64,
}

impl Judge<'_> {
    /// Whether a candidate may win whose bound is that, but for rounding: `rho`, which follows step after
    /// step, is off by a share of `|v| |y|`.
    fn passes(&self, bound: f64, candidate: usize) -> bool {
        let (state, candidates) = (self.round.state, self.round.candidates);
        let (entries, steps) = (candidates.column(candidate).rows.len(), state.capacity());
        let operations = ((entries + steps + 8) * (1 + 2 * steps)) as f64;
        let size = candidates.squared_norm(candidate) / state.lambda().value();
        let share = 4.0 * f64::EPSILON * operations * size;
        let most = bound * (1.0 + share) + share * self.labels_squared;
        let least = self.error * (1.0 - 8.0 * f64::EPSILON) - most;
        // A comparison with what is no number is false.
        !(share < COARSE && least > self.limit)
    }

    /// Whether the queries that a candidate touches tell that it cannot win.
    fn dismisses(&self, kept: &mut Kept, candidate: usize) -> bool {
        if !self.passes(kept.bound * self.terms.clock.now, candidate) {
            return true;
        }
        let pieces = self.layout.pieces(candidate);
        let lambda = self.round.state.lambda().value();
        let size = self.round.candidates.squared_norm(candidate) / lambda;
        let squared = self.terms.sum(pieces);
        let surcharges = self.terms.clock.surcharge * pieces.len() as f64;
        kept.bound = size * (squared + surcharges) / self.terms.clock.now;
        !self.passes(size * squared, candidate)
    }

    /// `v . r` of a candidate, from all its entries.
    fn along(&self, candidate: usize) -> f64 {
        let Column { rows, values } = self.round.candidates.column(candidate);
        kernels::sparse_dot(rows, values, self.round.state.residual())
    }

    /// Whether `rho` and what is known of `|z|^2` tell that a candidate cannot win: by as much as the newest
    /// rows of `Phi` add to it.
    fn dismisses_by(&self, kept: &mut Kept, candidate: usize, rho: f64) -> bool {
        let (state, column) = (self.round.state, self.round.candidates.column(candidate));
        let newest = state.steps() - kept.steps as usize;
        let Some(explained) = self.recent.explained(column, newest) else {
            return false;
        };
        kept.follow(kept.explained + explained, state);
        !self.passes(self.gain(kept, candidate, rho), candidate)
    }

    /// `rho^2 / s`
    fn gain(&self, kept: &Kept, candidate: usize, rho: f64) -> f64 {
        // |v|^2 - |z|^2 is not negative, but for rounding.
        let unexplained = self.round.candidates.squared_norm(candidate) - kept.explained;
        rho * rho / (self.round.state.lambda().value() + unexplained.max(0.0))
    }

    /// The errors with up to eight candidates of these `rho`: with `z` anew, so that they do not depend on what
    /// was kept.
    fn errors_with(&self, block: &[(usize, f64)]) -> [(f64, Kept); LANES] {
        let (state, candidates) = (self.round.state, self.round.candidates);
        let columns = block.iter().map(|&(own, _)| candidates.column(own));
        let explained = squares(&state.coordinates(&columns.collect::<Vec<_>>()));
        std::array::from_fn(|lane| {
            let mut kept = Kept::NOTHING;
            kept.follow(explained[lane], state);
            let gain = |&(own, rho): &(usize, f64)| self.gain(&kept, own, rho);
            let error = block
                .get(lane)
                .map_or(f64::NAN, |own| error_left(self.error, gain(own)));
            (error, kept)
        })
    }

    /// Evaluates the eligible candidates of a task whose bounds pass.
    fn judge(&self, task: Task<'_>) {
        let mut passing = Vec::new();
        for (place, &candidate) in task.eligible.iter().enumerate() {
            let candidate = candidate as usize;
            let kept = &mut task.kept[candidate - task.first];
            let every = self.round.sampled;
            if task.errors[place].is_nan() && (every || !self.dismisses(kept, candidate)) {
                let rho = self.along(candidate);
                if every || !self.dismisses_by(kept, candidate, rho) {
                    passing.push((place, (candidate, rho)));
                }
            }
        }
        for block in passing.chunks(LANES) {
            let subjects: Vec<(usize, f64)> = block.iter().map(|&(_, subject)| subject).collect();
            let found = self.errors_with(&subjects);
            for (&(place, (candidate, _)), (error, kept)) in block.iter().zip(found) {
                task.errors[place] = error;
                let own = &mut task.kept[candidate - task.first];
                (own.explained, own.steps) = (kept.explained, kept.steps);
            }
        }
    }
}

impl Kept {
    /// A candidate before the first step.
    const NOTHING: Self = Self {
        bound: f64::INFINITY,
        explained: 0.0,
        steps: 0,
    };

    /// Takes `|z|^2` of a state.
    fn follow(&mut self, explained: f64, state: &State) {
        self.explained = explained;
        // Steps count in 32 bits, as features do.
        self.steps = u32::try_from(state.steps()).unwrap_or(u32::MAX);
    }
}

impl Residual {
    /// A strategy before the first step.
    pub(super) fn new(candidates: &ColumnClasses) -> Self {
        Self {
            layout: Layout::new(candidates),
            kept: vec![Kept::NOTHING; candidates.len()],
            recent: Recent::default(),
            terms: Terms::default(),
            leaders: Vec::new(),
            evaluated: 0,
        }
    }

    /// The numbers kept of each candidate and its queries, and `z` of eight candidates for each thread.
    pub(super) fn memory(shape: &Shape) -> u64 {
        let [candidates, threads, k] = [shape.candidates, shape.threads, shape.k].map(bytes);
        let kept = bytes(40) * candidates + bytes(8) * (bytes(shape.pieces) + bytes(shape.queries));
        (kept + bytes(64) * (threads * k + bytes(shape.rows))).0
    }
}

/// The eligible candidates of a chunk, with what is kept of the chunk and where errors go.
struct Task<'a> {
    first: usize,
    kept: &'a mut [Kept],
    eligible: &'a [u32],
    errors: &'a mut [f64],
}

/// The eligible candidates chunk by chunk.
fn tasks<'a>(
    kept: &'a mut [Kept],
    mut eligible: &'a [u32],
    mut errors: &'a mut [f64],
) -> Vec<Task<'a>> {
    let mut tasks = Vec::new();
    for (number, kept) in kept.chunks_mut(CHUNK).enumerate() {
        let first = number * CHUNK;
        let end = eligible.partition_point(|&candidate| (candidate as usize) < first + CHUNK);
        let (own, others) = eligible.split_at(end);
        let (of_own, of_others) = errors.split_at_mut(end);
        (eligible, errors) = (others, of_others);
        tasks.push(Task {
            first,
            kept,
            eligible: own,
            errors: of_own,
        });
    }
    tasks
}

/// The candidates to open the next step with: those of the least errors, one of which is about to be selected.
fn best(eligible: &[u32], errors: &[f64]) -> Vec<u32> {
    let mut best: Vec<(f64, u32)> = Vec::new();
    let judged = errors.iter().zip(eligible);
    for (&error, &candidate) in judged.filter(|(error, _)| !error.is_nan()) {
        // Candidates come in their order, so that the lower one stays before an equal error.
        let place = best.partition_point(|&(least, _)| least <= error);
        if place <= LEADERS {
            best.truncate(LEADERS);
            best.insert(place, (error, candidate));
        }
    }
    best.into_iter().map(|(_, candidate)| candidate).collect()
}

impl Strategy for Residual {
    fn errors(&mut self, round: &Round<'_>, eligible: &[u32]) -> Vec<f64> {
        let state = round.state;
        self.terms.renew(state);
        self.recent.follow(state);
        let mut judge = Judge {
            round,
            layout: &self.layout,
            terms: &self.terms,
            recent: &self.recent,
            error: kernels::dot(state.labels(), state.residual()),
            labels_squared: kernels::dot(state.labels(), state.labels()),
            limit: f64::INFINITY,
        };
        let mut errors = vec![f64::NAN; eligible.len()];
        let leaders = self.leaders.iter();
        let places = leaders.filter_map(|leader| eligible.binary_search(leader).ok());
        let places: Vec<usize> = places.collect();
        for block in places.chunks(LANES) {
            let own = block.iter().map(|&place| eligible[place] as usize);
            let subjects: Vec<(usize, f64)> = own.map(|own| (own, judge.along(own))).collect();
            for (&place, (error, _)) in block.iter().zip(judge.errors_with(&subjects)) {
                errors[place] = error;
                judge.limit = judge.limit.min(tie_limit(error));
            }
        }
        judge.limit = round.peers.least(judge.limit);
        let tasks = tasks(&mut self.kept, eligible, &mut errors);
        tasks.into_par_iter().with_max_len(1).for_each(|task| {
            if !stop::requested() {
                judge.judge(task);
            }
        });
        self.evaluated = errors.iter().filter(|error| !error.is_nan()).count();
        self.leaders = best(eligible, &errors);
        errors
    }

    fn work(&self, _: usize) -> Work {
        Work::evaluated(self.evaluated)
    }
}

#[cfg(test)]
mod tests {
    use rand::rngs::ChaCha8Rng;
    use rand::{RngExt, SeedableRng};

    use super::*;
    use crate::greedy::Addition;
    use crate::greedy::strategy::least;
    use crate::lambda::Lambda;
    use crate::peers::Alone;

    /// Rows in queries of four, and columns that are rare but for a few.
    fn candidates(rows: usize, columns: usize) -> ColumnClasses {
        let mut random = ChaCha8Rng::seed_from_u64(5);
        let mut text = Vec::new();
        for row in 0..rows {
            text.push(format!("0 qid:{}", row / 4));
            for column in 1..=columns {
                let often = if column < 9 { 0.5 } else { 0.02 };
                if random.random_bool(often) {
                    text.push(format!(" {column}:{}", random.random_range(0.1..2.0)));
                }
            }
            text.push("\n".to_owned());
        }
        ColumnClasses::new(&crate::data::parsed(&text.concat()))
    }

    /// The errors of all candidates, none of them passed over.
    fn eager(candidates: &ColumnClasses, state: &State) -> Vec<f64> {
        let error = kernels::dot(state.labels(), state.residual());
        let of = |candidate: usize| {
            let column = candidates.column(candidate);
            let rho = kernels::sparse_dot(column.rows, column.values, state.residual());
            let explained = squares(&state.coordinates(&[column]))[0];
            let unexplained = (candidates.squared_norm(candidate) - explained).max(0.0);
            error_left(error, rho * rho / (state.lambda().value() + unexplained))
        };
        (0..candidates.len()).map(of).collect()
    }

    #[test]
    fn candidates_that_are_passed_over_cannot_win_and_others_keep_their_bits() {
        let candidates = candidates(200, 300);
        let mut random = ChaCha8Rng::seed_from_u64(6);
        for lambda in [1e-9, 0.5, 30.0] {
            let labels: Vec<f64> = (0..200).map(|_| random.random_range(-1.0..1.0)).collect();
            let lambda = Lambda::new(lambda).unwrap();
            let mut state = State::new(&labels, candidates.queries(), lambda, 12);
            let mut strategy = Residual::new(&candidates);
            let mut eligible: Vec<u32> = (0..).take(candidates.len()).collect();
            let mut passed_over = 0;
            for _ in 0..12 {
                let round = Round {
                    candidates: &candidates,
                    peers: &Alone,
                    state: &state,
                    sampled: false,
                    ranking: None,
                    room: 0,
                };
                let found = strategy.errors(&round, &eligible);
                let all = eager(&candidates, &state);
                let expected: Vec<f64> = eligible.iter().map(|&own| all[own as usize]).collect();
                let limit = tie_limit(least(&expected));
                for (found, expected) in found.iter().zip(&expected) {
                    if found.is_nan() {
                        assert!(
                            *expected > limit,
                            "{lambda} {} {expected} {limit}",
                            state.steps()
                        );
                        passed_over += 1;
                    } else {
                        assert_eq!(found.to_bits(), expected.to_bits());
                    }
                }
                let place = found.iter().position(|&error| error <= limit).unwrap();
                let best = eligible.remove(place) as usize;
                state.add(Addition {
                    feature: candidates.feature(best),
                    column: candidates.column(best),
                    factor: candidates.factor(best),
                });
            }
            // Rounding may change all that a tiny lambda leaves.
            assert!(
                passed_over > 100 || lambda.value() < 1e-6,
                "{lambda} {passed_over}"
            );
        }
    }
}
