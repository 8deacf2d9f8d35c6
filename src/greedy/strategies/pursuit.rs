//! Forward selection by training error, without cross-validation: orthogonal matching pursuit with exact
//! pre-fitting (Vincent and Bengio, 2002). A baseline: it shows the benefit of judging by left-out queries.
//!
//! The regularised training error of the features `S`, which RankRLS minimises, is `y . r`, and
//!
//! ```text
//! J(S) - J(S + v) = rho^2 / s        rho = v . r        s = lambda + |v|^2 - |z|^2
//! ```
//!
//! exactly, with every other weight fitted again. A candidate that is read costs its products with `r` and with the
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
//! because `|v . r| <= |v| |r_T|` and `s >= lambda`: a sum of one number for each query. Nearly all columns of
//! texts are rare, and few rows have much of the error, so the bound dismisses most candidates unread. Not even the
//! sum is needed while the bound of an earlier step, times the largest growth of `R_T`, is too low. `rho` and
//! `|z|^2` from the last reading change by at most as much as later steps changed the candidate's queries, so they
//! bound both. The new `rho` dismisses most candidates that are read. `docs/derivation.md`, section 11, has the
//! argument for such bounds.

use std::ops::Range;

use rayon::prelude::*;

use super::growth::{Growth, SURCHARGE, no_less};
use super::layout::{CHUNK, Layout, Piece};
use super::lowmem::squares;
use crate::columns::ColumnClasses;
use crate::data::Column;
use crate::greedy::strategy::{Facts, Shape, bytes, error_left, tie_limit};
use crate::greedy::{Round, State, Strategy, Work};
use crate::linalg::kernels::{self, LANES};
use crate::stop;

/// Best candidates of a step that open the next one: the best of them sets the limit for all others.
const LEADERS: usize = 8;

/// A candidate is read if rounding may change a bound by more than this share.
const COARSE: f64 = 1e-2;

pub(super) const FACTS: Facts = Facts {
    name: "residual",
    samples: true,
    baseline: true,
    memory: Pursuit::memory,
    build: |candidates, _| Box::new(Pursuit::new(candidates)),
    ..Facts::USUAL
};

/// Judges candidates by the regularised training error.
#[derive(Debug)]
pub(super) struct Pursuit {
    layout: Layout,
    /// The numbers kept of every candidate.
    kept: Vec<PursuitKept>,
    terms: PursuitTerms,
    /// The best candidates of the last step.
    leaders: Vec<u32>,
    evaluated: usize,
}

/// The numbers kept of a candidate from step to step.
#[derive(Debug, Clone, Copy)]
struct PursuitKept {
    /// `|v|^2 R_T / lambda`, with a surcharge for each query, when the queries were last summed, over the
    /// growth of that step.
    bound: f64,
    last: PursuitReach,
}

/// The candidate's share of the residual, and its explained part, after so many steps.
#[derive(Debug, Clone, Copy)]
struct PursuitReach {
    /// At least `|v . r|`.
    rho: f64,
    /// At least `|z|^2`.
    explained: f64,
    steps: u32,
    /// The sums at that time of the queries that it touches.
    sums: PursuitSums,
}

/// `|r_Q|^2`, and the changes by the followed steps: `sum eta^2 |phi_Q|^2` and `sum |phi_Q|^2`. The last number is
/// 0, as four are added at once.
type PursuitSums = [f64; 4];

/// The numbers of a step behind bounds.
#[derive(Debug, Default)]
struct PursuitTerms {
    /// `t`
    steps: usize,
    /// `|r_Q|^2` of each query, rounded up.
    squares: Vec<f32>,
    /// The growth of bounds by `|r_Q|^2`.
    growth: Growth,
    /// `|r_Q|^2` of each query, rounded up, and `eta^2 |phi_Q|^2` and `|phi_Q|^2`, summed over all followed steps.
    queries: Vec<PursuitSums>,
    /// `r` and the newest row of `Phi`, by example.
    examples: Vec<[f64; 2]>,
}

impl PursuitTerms {
    /// Describes a state: O(m). Returns whether it has as many steps as the last one, or one more.
    fn renew(&mut self, state: &State) -> bool {
        let residual = state.residual();
        let squared = |y: &[f64], range: Range<usize>| kernels::dot(&y[range.clone()], &y[range]);
        let ranges = state.queries().ranges();
        let squares = ranges.map(|range| no_less(squared(residual, range)));
        let squares: Vec<f32> = squares.collect();
        let sum: f64 = squares.iter().copied().map(f64::from).sum();
        let surcharge = SURCHARGE * sum / squares.len() as f64;
        let numbers = self.squares.iter().zip(&squares);
        self.growth
            .follow(numbers.map(|(&before, &now)| [before, now]), surcharge);
        let added = state.steps().checked_sub(self.steps);
        (self.steps, self.squares) = (state.steps(), squares);
        self.queries.resize(self.squares.len(), [0.0; 4]);
        for (query, &square) in self.queries.iter_mut().zip(&self.squares) {
            query[0] = f64::from(square);
        }
        self.examples.clear();
        self.examples.extend(residual.iter().map(|&r| [r, 0.0]));
        let Some(last) = state.last() else {
            return added == Some(0);
        };
        for (example, &phi) in self.examples.iter_mut().zip(&last.phi) {
            example[1] = phi;
        }
        if added == Some(1) {
            let ranges = state.queries().ranges();
            for (query, range) in self.queries.iter_mut().zip(ranges) {
                let size = squared(&last.phi, range);
                query[1] += last.eta * last.eta * size;
                query[2] += size;
            }
        }
        added.is_some_and(|added| added < 2)
    }

    /// The sums of the queries that a candidate touches.
    fn sums(&self, pieces: &[Piece]) -> PursuitSums {
        let mut sums = [0.0; 4];
        for piece in pieces {
            kernels::add_scaled(&mut sums, 1.0, &self.queries[piece.query as usize]);
        }
        sums
    }

    /// `v . r` and the newest entry of `z`.
    fn along(&self, column: Column<'_>) -> [f64; 2] {
        let mut sums = [0.0; 2];
        for (row, value) in column.iter() {
            kernels::add_scaled(&mut sums, value, &self.examples[row]);
        }
        sums
    }
}

impl PursuitReach {
    /// The value of an unknown candidate.
    const ANY: Self = Self {
        rho: f64::INFINITY,
        explained: f64::INFINITY,
        steps: 0,
        sums: [0.0; 4],
    };

    /// Its possible reach now, with these sums.
    ///
    /// ```text
    /// |v . (r - r')| <= |v| sum |eta phi_T|    |z|^2 <= |z'|^2 + |v|^2 sum |phi_T|^2    over the steps since
    /// ```
    fn follow(self, squared_norm: f64, sums: PursuitSums, steps: u32) -> Self {
        let missed = f64::from(steps - self.steps);
        let change = |of: usize| squared_norm * (sums[of] - self.sums[of]).max(0.0);
        let rho = self.rho + (missed * change(1)).sqrt();
        Self {
            rho: rho.min((squared_norm * sums[0]).sqrt()),
            explained: (self.explained + change(2)).min(squared_norm),
            steps,
            sums,
        }
    }
}

/// A step and its candidates' judgement.
struct Judge<'a> {
    round: &'a Round<'a>,
    layout: &'a Layout,
    terms: &'a PursuitTerms,
    /// `y . r`, the error before the step.
    error: f64,
    /// `|y|^2`
    labels_squared: f64,
    /// A larger error cannot win.
    limit: f64,
}

impl Judge<'_> {
    /// Whether a candidate with this bound may win, apart from rounding: `rho`, which follows step after step, is
    /// off by a share of `|v| |y|`.
    fn may_win(&self, bound: f64, candidate: usize) -> bool {
        let (state, candidates) = (self.round.state, self.round.candidates);
        let (entries, steps) = (candidates.column(candidate).rows.len(), state.capacity());
        let operations = ((entries + steps + 8) * (1 + 2 * steps)) as f64;
        let size = candidates.squared_norm(candidate) / state.lambda().value();
        let share = 4.0 * f64::EPSILON * operations * size;
        let most = bound * (1.0 + share) + share * self.labels_squared;
        let least = self.error * (1.0 - 8.0 * f64::EPSILON) - most;
        // A comparison with NaN is false.
        !(share < COARSE && least > self.limit)
    }

    /// A candidate's reach by the queries that it touches; `None` if it cannot win.
    fn reach(&self, kept: &mut PursuitKept, candidate: usize) -> Option<PursuitReach> {
        if !self.may_win(kept.bound * self.terms.growth.now, candidate) {
            return None;
        }
        let pieces = self.layout.pieces(candidate);
        let squared_norm = self.round.candidates.squared_norm(candidate);
        let sums = self.terms.sums(pieces);
        let surcharges = self.terms.growth.surcharge * pieces.len() as f64;
        let size = squared_norm / self.round.state.lambda().value();
        kept.bound = size * (sums[0] + surcharges) / self.terms.growth.now;
        // Steps, like features, count in 32 bits.
        let steps = u32::try_from(self.terms.steps).unwrap_or(u32::MAX);
        let reach = kept.last.follow(squared_norm, sums, steps);
        self.may_win(self.gain(&reach, candidate), candidate)
            .then_some(reach)
    }

    /// `rho^2 / s`
    fn gain(&self, reach: &PursuitReach, candidate: usize) -> f64 {
        // |v|^2 - |z|^2 is negative only by rounding.
        let unexplained = self.round.candidates.squared_norm(candidate) - reach.explained;
        reach.rho * reach.rho / (self.round.state.lambda().value() + unexplained.max(0.0))
    }

    /// Reads a candidate with this reach, and keeps its new reach; returns whether it may win.
    fn read(&self, kept: &mut PursuitKept, candidate: usize, mut reach: PursuitReach) -> bool {
        let [rho, tau] = self.terms.along(self.round.candidates.column(candidate));
        reach.rho = rho.abs();
        if kept.last.steps + 1 == reach.steps {
            reach.explained = reach.explained.min(kept.last.explained + tau * tau);
        }
        kept.last = reach;
        self.may_win(self.gain(&reach, candidate), candidate)
    }

    /// The errors with up to eight candidates of these `|rho|`, and `|z|^2`. They compute `z` anew, so they do not
    /// depend on kept numbers.
    fn errors_with(&self, block: &[(usize, f64)]) -> Vec<(f64, f64)> {
        let (state, candidates) = (self.round.state, self.round.candidates);
        let columns = block.iter().map(|&(own, _)| candidates.column(own));
        let explained = squares(&state.coordinates(&columns.collect::<Vec<_>>()));
        let error = |(&(own, rho), explained): (&(usize, f64), f64)| {
            let reach = PursuitReach {
                rho,
                explained,
                ..PursuitReach::ANY
            };
            (error_left(self.error, self.gain(&reach, own)), explained)
        };
        block.iter().zip(explained).map(error).collect()
    }

    /// Evaluates the eligible candidates of a task whose bounds may win.
    fn judge(&self, task: &mut Task<'_>) {
        let mut contenders = Vec::new();
        for (place, &candidate) in task.eligible.iter().enumerate() {
            let candidate = candidate as usize;
            let kept = &mut task.kept[candidate - task.first];
            if !task.errors[place].is_nan() {
                continue;
            }
            if self.round.sampled {
                let [rho, _] = self.terms.along(self.round.candidates.column(candidate));
                contenders.push((place, (candidate, rho.abs())));
            } else if let Some(reach) = self.reach(kept, candidate)
                && self.read(kept, candidate, reach)
            {
                contenders.push((place, (candidate, kept.last.rho)));
            }
        }
        for block in contenders.chunks(LANES) {
            let subjects: Vec<(usize, f64)> = block.iter().map(|&(_, subject)| subject).collect();
            let found = self.errors_with(&subjects);
            for (&(place, (candidate, _)), (error, explained)) in block.iter().zip(found) {
                task.errors[place] = error;
                if !self.round.sampled {
                    task.kept[candidate - task.first].last.explained = explained;
                }
            }
        }
    }
}

impl PursuitKept {
    /// The value of an unknown candidate.
    const NOTHING: Self = Self {
        bound: f64::INFINITY,
        last: PursuitReach::ANY,
    };
}

impl Pursuit {
    /// The strategy before the first step.
    pub(super) fn new(candidates: &ColumnClasses) -> Self {
        Self {
            layout: Layout::new(candidates),
            kept: vec![PursuitKept::NOTHING; candidates.len()],
            terms: PursuitTerms::default(),
            leaders: Vec::new(),
            evaluated: 0,
        }
    }

    /// Bytes of the numbers kept of each candidate and its queries, and of `z` of eight candidates for each thread.
    pub(super) fn memory(shape: &Shape) -> u64 {
        let [candidates, threads, k] = [shape.candidates, shape.threads, shape.k].map(bytes);
        let kept = bytes(72) * candidates + bytes(8) * bytes(shape.pieces);
        let terms = bytes(40) * bytes(shape.queries) + bytes(16) * bytes(shape.rows);
        (kept + terms + bytes(64) * threads * k).0
    }
}

/// The eligible candidates of a chunk, with the numbers kept of the chunk and the place for errors.
struct Task<'a> {
    first: usize,
    kept: &'a mut [PursuitKept],
    eligible: &'a [u32],
    errors: &'a mut [f64],
}

/// The eligible candidates chunk by chunk.
fn tasks<'a>(
    kept: &'a mut [PursuitKept],
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

/// The candidates to open the next step with, by least errors; one of them is about to be selected.
fn best(eligible: &[u32], errors: &[f64]) -> Vec<u32> {
    let mut best: Vec<(f64, u32)> = Vec::new();
    let judged = errors.iter().zip(eligible);
    for (&error, &candidate) in judged.filter(|(error, _)| !error.is_nan()) {
        // Candidates come in their order, so the lower one stays before an equal error.
        let place = best.partition_point(|&(least, _)| least <= error);
        if place <= LEADERS {
            best.truncate(LEADERS);
            best.insert(place, (error, candidate));
        }
    }
    best.into_iter().map(|(_, candidate)| candidate).collect()
}

impl Strategy for Pursuit {
    fn errors(&mut self, round: &Round<'_>, eligible: &[u32]) -> Vec<f64> {
        let state = round.state;
        if !self.terms.renew(state) {
            self.kept.fill(PursuitKept::NOTHING);
        }
        let mut judge = Judge {
            round,
            layout: &self.layout,
            terms: &self.terms,
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
            let rho = |own| self.terms.along(round.candidates.column(own))[0].abs();
            let subjects: Vec<(usize, f64)> = own.map(|own| (own, rho(own))).collect();
            for (&place, (error, _)) in block.iter().zip(judge.errors_with(&subjects)) {
                errors[place] = error;
                judge.limit = judge.limit.min(tie_limit(error));
            }
        }
        judge.limit = round.peers.least(judge.limit);
        let tasks = tasks(&mut self.kept, eligible, &mut errors);
        tasks.into_par_iter().with_max_len(1).for_each(|mut task| {
            if !stop::requested() {
                judge.judge(&mut task);
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

    /// Rows in queries of four, and columns that are mostly rare.
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

    /// The errors of all candidates, without dismissals.
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
    fn dismissed_candidates_cannot_win_and_others_keep_their_bits() {
        let candidates = candidates(200, 300);
        let mut random = ChaCha8Rng::seed_from_u64(6);
        for lambda in [1e-9, 0.5, 30.0] {
            let labels: Vec<f64> = (0..200).map(|_| random.random_range(-1.0..1.0)).collect();
            let lambda = Lambda::new(lambda).unwrap();
            let mut state = State::new(&labels, candidates.queries(), lambda, 12);
            let mut strategy = Pursuit::new(&candidates);
            let mut eligible: Vec<u32> = (0..).take(candidates.len()).collect();
            let mut dismissed = 0;
            for _ in 0..12 {
                let round = Round {
                    candidates: &candidates,
                    peers: &Alone,
                    state: &state,
                    sampled: false,
                    ranking: None,
                    cache_bytes: 0,
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
                        dismissed += 1;
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
                dismissed > 100 || lambda.value() < 1e-6,
                "{lambda} {dismissed}"
            );
        }
    }
}
