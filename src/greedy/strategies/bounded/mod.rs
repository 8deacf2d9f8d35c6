//! Exact selection at sparse cost (`docs/derivation.md`, section 11): the result of
//! `dense`, from bounds.
//!
//! Four bounds limit a candidate's gain from above, each dearer and tighter than the previous one (`bounds.rs`):
//!
//! | level | what is exact | cost a candidate |
//! |---|---|---|
//! | before 0 | nothing: norms of the queries it touches, or their bound of an earlier step (`known.rs`) | O(touched queries), or O(1) |
//! | 0 | the first order of (*) in all queries together | O(nnz), with `z . g_Q` of eight queries for those that may win |
//! | 1 | all of (*) in touched queries | O(touched rows) where `u` and `T u` of the last step are kept, else t times that |
//! | 2 | `z . f_Q`, `z . g_Q` in some hundred queries | O(t) for each |
//! | 3 | everything: equation (*) | O(t m) |
//!
//! A step first evaluates exactly the best candidates of the step before, and if they are few also the dropped ones
//! with the largest bounds. The best of them sets a threshold that dismisses most candidates unread. The others
//! rise from level to level. The last level takes them by falling bound, in rounds of fixed size, until the next
//! bound is below the threshold. The set of evaluated candidates depends on the data alone, not on timing.
//!
//! `Z = Phi X^'` is not kept, except for some candidates that reached level 1 in the last steps. Memory is O(nnz +
//! m) and the allowance for residuals, whatever the number of candidates times `k`.

mod bounds;
mod known;
mod residual;
mod search;
mod step;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use rayon::prelude::*;

use super::layout::{CHUNK, Layout};
use super::lowmem::{self, squares};
use super::recent::Recent;
use crate::columns::ColumnClasses;
use crate::data::Column;
use crate::greedy::strategy::{Facts, bytes};
use crate::greedy::{Round, Shape, Strategy, Work};
use crate::linalg::kernels::LANES;
use crate::stop;
use bounds::{Products, Reading};
use known::{Doubtful, Known, Reach};
use residual::Residual;
use search::{BoundedCandidate, Projected, PruningSearch};
use step::{RESOLVED, StepTerms};

/// Steps without use after which a residual goes.
const IDLE: usize = 8;

/// If rounding may change this share of a step's error, no bounds are used.
const COARSE: f64 = 1e-4;

pub(super) const FACTS: Facts = Facts {
    name: "bounded",
    exact: true,
    samples: true,
    memory,
    cost,
    build: |candidates, _| Box::new(Bounded::new(candidates)),
    ..Facts::USUAL
};

/// Seconds of a step, of all `k` on average, on two cores. The bounds lose their grip with the cube of
/// `t / m`: from `t = m / 4` on every candidate reaches level 2.
fn cost(shape: &Shape) -> f64 {
    let (rows, k) = (shape.rows as f64, shape.k as f64);
    let reading = 4e-9 * shape.nonzeros as f64 + 8e-9 * shape.pieces as f64 + 2e-9 * rows * k;
    let resolved = shape.queries.min(RESOLVED[2]) as f64;
    let rising = 0.035e-9 * shape.candidates as f64 * resolved * k;
    reading + rising * (4.0 * k / rows).powi(3).min(1.0)
}

/// Bytes for the numbers and bounds kept of a candidate, a piece, a query and an example, and for residuals.
fn memory(shape: &Shape) -> u64 {
    let Shape {
        rows, pieces, k, ..
    } = *shape;
    let of_piece = shape.largest_query.saturating_mul(32);
    let thetas = shape.candidates.saturating_mul(k).saturating_mul(8);
    let residuals = pieces.saturating_mul(of_piece).saturating_add(thetas);
    let residuals = Round::cache_bytes(rows, k).min(residuals);
    let kept = bytes(182) * bytes(shape.candidates) + bytes(16) * bytes(pieces);
    let resolved = bytes(shape.queries.min(RESOLVED[2])) * bytes(k).min(bytes(shape.longest));
    let of_row = bytes(144) + bytes(Recent::bytes_of_row(k));
    let step = bytes(112) * bytes(shape.queries) + bytes(24) * resolved + of_row * bytes(rows);
    (lowmem::errors_memory(shape, k) + kept + step + bytes(residuals)).0
}

/// Exact selection from bounds.
#[derive(Debug)]
struct Bounded {
    layout: Arc<Layout>,
    /// What is [known](Known) of all candidates.
    kept_bounds: Vec<f64>,
    reaches: Vec<Reach>,
    /// The number of the step terms behind them.
    followed: usize,
    /// Residuals of candidates of several queries that reached level 1 in the last steps.
    residuals: Vec<Option<Box<Residual>>>,
    /// `max |v|^2`
    longest: f64,
    /// The terms of the last step; the next one reuses their buffers.
    step: StepTerms,
    /// The best candidates of the last step, by error.
    leaders: Vec<u32>,
    /// The work of the last step.
    work: Work,
}

impl Bounded {
    /// Sorts the candidates by place of occurrence.
    fn new(candidates: &ColumnClasses) -> Self {
        Self {
            kept_bounds: vec![f64::INFINITY; candidates.len()],
            reaches: vec![Reach::ANY; candidates.len()],
            residuals: (0..candidates.len()).map(|_| None).collect(),
            layout: Arc::new(Layout::new(candidates)),
            followed: 0,
            longest: candidates.largest_squared_norm(),
            step: StepTerms::default(),
            leaders: Vec::new(),
            work: Work::default(),
        }
    }
}

impl Strategy for Bounded {
    fn errors(&mut self, round: &Round<'_>, eligible: &[u32]) -> Vec<f64> {
        if round.state.query_factors().is_some() || round.state.rounding(self.longest) > COARSE {
            // The quantities behind the bounds have lost too many digits.
            self.work = Work {
                evaluated: eligible.len(),
                alive: vec![eligible.len(); 4],
            };
            return lowmem::errors(round, eligible);
        }
        let mut step = std::mem::take(&mut self.step);
        step.renew(round.state, self.longest);
        let errors = self.judge(round, &step, eligible);
        self.step = step;
        errors
    }

    fn work(&self, _: usize) -> Work {
        self.work.clone()
    }
}

/// The findings of level 0.
#[derive(Debug, Default)]
struct Found {
    /// Candidates left after level 1, and candidates without a residual.
    contenders: Vec<BoundedCandidate>,
    /// The number of candidates read.
    read: usize,
    /// The number of candidates that passed level 0.
    passed: usize,
    /// Bytes of all residuals.
    bytes: usize,
    /// From each chunk the dropped candidate of the largest bound, with the bound.
    close: Vec<(f64, u32)>,
}

impl Found {
    fn add(&mut self, other: Self) {
        self.contenders.extend(other.contenders);
        self.read += other.read;
        self.passed += other.passed;
        self.bytes += other.bytes;
        self.close.extend(other.close);
    }
}

impl Bounded {
    /// The errors of the candidates, as [`errors`](Strategy::errors) gives them.
    fn judge(&mut self, round: &Round<'_>, step: &StepTerms, eligible: &[u32]) -> Vec<f64> {
        let layout = Arc::clone(&self.layout);
        let mut search = PruningSearch::new(round, step, &layout, eligible);
        search.evaluate(self.open(&search));
        search.share();
        let mut found = Found::default();
        if round.sampled {
            found.contenders = search.unbounded(eligible);
            found.passed = found.contenders.len();
            found.read = found.passed;
        } else {
            found = self.by_norms(&search);
        }
        search.residuals = &self.residuals;
        // No later step uses numbers kept of candidates that are drawn anew each time.
        let room = if round.sampled { 0 } else { round.cache_bytes };
        search.room = room.saturating_sub(found.bytes);
        search.close = found.close;
        let (alive, kept) = search.finish(found.contenders, [found.read, found.passed]);
        self.work = Work {
            evaluated: search.evaluated(),
            alive,
        };
        self.leaders = search.leaders();
        let errors = search.errors(eligible);
        for (candidate, residual) in kept {
            self.residuals[candidate as usize] = Some(Box::new(residual));
        }
        errors
    }

    /// Candidates to open a step with: the last step's best that the step may still choose.
    fn open(&mut self, search: &PruningSearch<'_>) -> Vec<u32> {
        let mut leaders = std::mem::take(&mut self.leaders);
        leaders.retain(|&leader| !search.out(leader));
        leaders
    }

    /// Candidates that pass the threshold by a bound from norms: level 0, and level 1 with a kept residual.
    fn by_norms(&mut self, search: &PruningSearch<'_>) -> Found {
        // After a state more than one step older, everything is found anew.
        let follows = search.step.at.number == self.followed + 1 && search.step.at.added.is_some();
        self.followed = search.step.at.number;
        let found: Vec<Found> = self
            .chunks()
            .into_par_iter()
            // The first columns are the longest, so each chunk is a task.
            .with_max_len(1)
            .map(|mut chunk| {
                if stop::requested() {
                    return Found::default();
                }
                chunk.bound(search, follows)
            })
            .collect();
        let mut all = Found::default();
        for found in found {
            all.add(found);
        }
        all
    }

    /// The candidates in chunks, with the numbers kept of them.
    fn chunks(&mut self) -> Vec<Chunk<'_>> {
        let bounds = self.kept_bounds.chunks_mut(CHUNK);
        let known = bounds.zip(self.reaches.chunks_mut(CHUNK));
        let chunks = known.zip(self.residuals.chunks_mut(CHUNK)).enumerate();
        chunks
            .map(|(number, ((bounds, reaches), residuals))| Chunk {
                first: number * CHUNK,
                known: Known { bounds, reaches },
                residuals,
            })
            .collect()
    }
}

/// Some candidates.
struct Chunk<'a> {
    /// The first one.
    first: usize,
    known: Known<'a>,
    residuals: &'a mut [Option<Box<Residual>>],
}

impl<'a> Chunk<'a> {
    /// Level 0 for candidates that may win by their queries, and level 1 for candidates of one query and kept
    /// residuals. `follows`: whether the kept numbers are from the step before.
    fn bound(&mut self, search: &PruningSearch<'_>, follows: bool) -> Found {
        let mut readings = self.readings(search, follows);
        let all = readings.iter_mut().map(|(_, reading)| reading);
        bounds::read_together(all, search.step);
        let reached = |(place, reading): &(usize, Reading<'_>)| {
            let squared_norm = search.round.candidates.squared_norm(self.first + place);
            self.known.reaches[*place].read(&reading.products, squared_norm, search.step)
        };
        let mut reaches: Vec<Reach> = readings.iter().map(reached).collect();
        self.explain(search, &readings, &mut reaches);
        let mut found = Found::default();
        for ((place, reading), reach) in readings.iter().zip(reaches) {
            self.known.set(*place, reach);
            self.read(search, (*place, reach), &reading.products, &mut found);
        }
        found
    }

    /// Finds the missing entries of `z` for candidates that may win without them: the newest entries directly, and
    /// all entries of eight candidates together.
    fn explain(
        &self,
        search: &PruningSearch<'_>,
        readings: &[(usize, Reading<'_>)],
        reaches: &mut [Reach],
    ) {
        let (step, candidates) = (search.step, search.round.candidates);
        let column = |at: usize| candidates.column(self.first + readings[at].0);
        let mut unknown = Vec::new();
        for (at, (place, reading)) in readings.iter().enumerate() {
            let (reach, products) = (reaches[at], &reading.products);
            let squared_norm = candidates.squared_norm(self.first + place);
            let whole = reach.whole(squared_norm, products.rho, step);
            let missing = reach.missing(step);
            if missing == 0 || !search.may_win(bounds::of_products(&whole, products, step)) {
                continue;
            }
            match step.recent.explained(column(at), missing) {
                Some(newest) => reaches[at] = reach.explained(reach.z_least() + newest, step),
                None => unknown.push(at),
            }
        }
        for block in unknown.chunks(LANES) {
            let columns: Vec<Column<'_>> = block.iter().map(|&at| column(at)).collect();
            let explained = squares(&search.round.state.coordinates(&columns));
            for (&at, z_squared) in block.iter().zip(explained) {
                reaches[at] = reaches[at].explained(z_squared, step);
            }
        }
    }

    /// The columns to read, with their places here: of candidates that may win by their queries.
    fn readings<'s>(
        &mut self,
        search: &'s PruningSearch<'_>,
        follows: bool,
    ) -> Vec<(usize, Reading<'s>)>
    where
        'a: 's,
    {
        let (step, candidates, layout) = (search.step, search.round.candidates, search.layout);
        let (mut places, mut doubtful) = (Vec::new(), Vec::new());
        for (place, residual) in self.residuals.iter_mut().enumerate() {
            let candidate = self.first + place;
            if search.retired[candidate] || !follows {
                self.known.forget(place);
                *residual = None;
            }
            if search.retired[candidate]
                || residual.is_none() && !search.may_win(self.known.kept(place, step))
            {
                continue;
            }
            residual.take_if(|residual| residual.used + IDLE < step.at.steps);
            if residual.is_some() {
                places.push(place);
                continue;
            }
            doubtful.push(Doubtful {
                place,
                pieces: layout.pieces(candidate),
                squared_norm: candidates.squared_norm(candidate),
            });
        }
        for block in doubtful.chunks(LANES) {
            let dismissed = self.known.dismissed(search, block);
            let left = block
                .iter()
                .zip(dismissed)
                .filter(|(_, dismissed)| !dismissed);
            places.extend(left.map(|(doubtful, _)| doubtful.place));
        }
        places.sort_unstable();
        let reading = |place: usize| {
            let candidate = self.first + place;
            let (column, pieces) = (candidates.column(candidate), layout.pieces(candidate));
            (place, Reading::new(column, pieces))
        };
        places.into_iter().map(reading).collect()
    }

    /// Level 0 of the candidate at `place`, after its entries were read, and level 1 with a residual.
    fn read(
        &mut self,
        search: &PruningSearch<'_>,
        (place, reach): (usize, Reach),
        products: &Products,
        found: &mut Found,
    ) {
        let step = search.step;
        let (state, candidates) = (search.round.state, search.round.candidates);
        let residual = &mut self.residuals[place];
        let candidate = self.first + place;
        let pieces = search.layout.pieces(candidate);
        match step.at.added {
            Some(0) => {}
            Some(1) => {
                if let Some(residual) = residual {
                    residual::follow(residual, state, pieces, products.tau);
                }
            }
            _ => *residual = None,
        }
        found.bytes += residual
            .as_ref()
            .map_or(0, |kept| kept.bytes(state.capacity()));
        // Candidates count in 32 bits.
        let number = u32::try_from(candidate).unwrap_or(u32::MAX);
        if search.out(number) {
            return;
        }
        found.read += 1;
        let mut whole = reach.whole(candidates.squared_norm(candidate), products.rho, step);
        let mut bound = bounds::of_products(&whole, products, step);
        if step.first_matter() && search.may_win(bound) {
            let column = candidates.column(candidate);
            whole.fourth = bounds::fourth_of(column, pieces, whole.z_squared, step);
            bound = bounds::of_products(&whole, products, step);
        }
        let mut projected = None;
        if search.may_win(bound) {
            found.passed += 1;
            let touched = residual.as_mut().map(|residual| {
                residual.used = step.at.steps;
                residual::touched(residual, state, &whole, pieces)
            });
            if let Some(touched) = touched.or_else(|| search.only_touched(candidate)) {
                let level_1 = Projected::new(step, whole, products.c, &touched);
                bound = bound.min(level_1.bound(step));
                projected = Some(Box::new(level_1));
            }
        }
        if search.may_win(bound) {
            found.contenders.push(BoundedCandidate {
                candidate: number,
                bound,
                projected,
            });
        } else if found.close.first().is_none_or(|&(most, _)| bound > most) {
            found.close = vec![(bound, number)];
        }
    }
}

#[cfg(test)]
mod memory_tests {
    use rand::rngs::ChaCha8Rng;
    use rand::{RngExt, SeedableRng};

    use super::*;
    use crate::greedy::{Addition, State};
    use crate::lambda::Lambda;
    use crate::peers::Alone;

    /// Rows in queries of four.
    const ROWS: usize = 80;

    /// Noise that is the same on every machine.
    fn noise(row: usize, column: usize) -> f64 {
        let mut random = ChaCha8Rng::seed_from_u64((1000 * row + column) as u64);
        random.random_range(-0.5..0.5)
    }

    /// 400 columns of noise, too many for an evaluation of all.
    fn candidates() -> ColumnClasses {
        let row = |row: usize| {
            let entries = (1..=400).map(|column| format!(" {column}:{}", noise(row, column)));
            format!("0 qid:{}{}\n", row / 4, entries.collect::<String>())
        };
        ColumnClasses::new(&crate::data::parsed(
            &(0..ROWS).map(row).collect::<String>(),
        ))
    }

    /// Candidates without a bound from level 0 all come to level 1, which finds residuals.
    #[test]
    fn nothing_is_kept_of_candidates_that_are_drawn() {
        let candidates = candidates();
        let labels: Vec<f64> = (0..ROWS).map(|row| noise(row, 0)).collect();
        let lambda = Lambda::new(1.0).unwrap();
        let mut state = State::new(&labels, candidates.queries(), lambda, 3);
        let mut bounded = Bounded::new(&candidates);
        for step in 0..3 {
            let drawn: Vec<u32> = (step..200 + step).collect();
            let round = Round {
                candidates: &candidates,
                peers: &Alone,
                state: &state,
                sampled: true,
                ranking: None,
                cache_bytes: 1 << 20,
            };
            let errors = bounded.errors(&round, &drawn);
            assert!(errors.iter().any(|error| error.is_finite()));
            assert!(bounded.work.alive[1] > bounded.work.alive[2]);
            assert_eq!(bounded.residuals.iter().flatten().count(), 0);
            let best = step as usize;
            state.add(Addition {
                feature: candidates.feature(best),
                column: candidates.column(best),
                factor: candidates.factor(best),
            });
        }
    }
}
