//! Exact selection at sparse cost (algorithms, section 5): the result of
//! `dense`, from bounds.
//!
//! A candidate touches few queries. What it gains there and in all others is
//! bounded from above by four bounds, each dearer and tighter than the one
//! before (`bounds.rs`):
//!
//! | level | what is exact | cost a candidate |
//! |---|---|---|
//! | 0 | `z . G`; `v_Q . p_Q`, `v_Q . r_Q` in touched queries | O(nnz), or O(1) for all columns seen in one query only |
//! | 1 | `z`; `n_Q`, `c_Q` in touched queries | O(t nnz + t touched) |
//! | 2 | second order in `z` of what untouched queries gain | O(t^2) |
//! | 3 | `z . f_Q`, `z . g_Q` in every query | O(t q) |
//! | 4 | everything: equation (*) | O(t m) |
//!
//! A step begins by evaluating exactly the candidates that did best in the step
//! before: the best of them is a threshold that most candidates fail at level 0.
//! The others climb from level to level; at the last they are taken by falling
//! bound, in rounds of fixed size, until the next bound is below the threshold.
//! What is evaluated depends on the data alone, not on timing.
//!
//! `Z = Phi X^'` is not kept: only candidates that reach level 1 have their `z`
//! computed. Memory is O(nnz + k m + k q), whatever the number of candidates
//! times `k`.

mod bounds;
mod candidate;
mod forms;
mod layout;
mod search;
mod terms;
#[cfg(test)]
mod tests;

use rayon::prelude::*;

use super::lowmem;
use crate::columns::ColumnClasses;
use crate::data::Column;
use crate::greedy::lanes::Lanes;
use crate::greedy::{Contest, Round, Shape, Strategy, Work};
use bounds::{QueryPart, Whole};
use candidate::{BoundedCandidate, Scratch};
use forms::Forms;
use layout::{Layout, Piece};
use search::{AWAKE_BYTES, Kept, ProjectionCache, PruningSearch};
use terms::{ALL_G, ExampleTerms, OWN_G, PHI, R, StepTerms};

/// ColumnClasses whose level-0 bound one task computes.
const CHUNK: usize = 1024;

/// Where rounding may take this share of a step's error, bounds are not used.
const COARSE: f64 = 1e-4;

/// Exact selection from bounds.
#[derive(Debug)]
pub struct Bounded {
    layout: Layout,
    /// `|z|^2` of `layout.several`, as of `synced` steps.
    z_squared: Vec<f64>,
    /// `|z_-|^2` of all pieces, likewise.
    z_without: Vec<f64>,
    synced: usize,
    /// `z` of candidates that were awake in the last step.
    awake: ProjectionCache,
    /// `max |v|^2`
    longest: f64,
    /// The best candidates of the last step, by error.
    leaders: Vec<u32>,
    work: Work,
}

impl Bounded {
    /// Sorts the candidates by where they occur.
    pub fn new(candidates: &ColumnClasses) -> Self {
        let layout = Layout::new(candidates);
        Self {
            z_squared: vec![0.0; layout.several.len()],
            z_without: vec![0.0; layout.piece_count()],
            awake: ProjectionCache::default(),
            layout,
            synced: 0,
            longest: candidates.largest_squared_norm(),
            leaders: Vec::new(),
            work: Work::default(),
        }
    }

    /// Bytes taken besides the state.
    pub fn memory(shape: &Shape) -> u64 {
        let Shape {
            rows,
            queries,
            largest_query,
            candidates,
            pieces,
            k,
            threads,
            ..
        } = *shape;
        let block = size_of::<Lanes>() * (4 * k + largest_query);
        let awake = AWAKE_BYTES.min(candidates.saturating_mul(8 * k));
        let suspects = candidates * (size_of::<f64>() + size_of::<BoundedCandidate>());
        Layout::memory(candidates, queries, pieces)
            + StepTerms::memory(rows, queries, k)
            + Forms::memory(k)
            + (size_of::<f64>() * pieces + awake + suspects + threads * block) as u64
    }
}

impl Strategy for Bounded {
    fn propose(&mut self, round: &Round<'_>) -> Contest {
        if round.state.folds().is_some() || round.state.rounding(self.longest) > COARSE {
            // The quantities that the bounds are made of have lost too many digits.
            let all = round.eligible_candidates();
            self.work = Work {
                evaluated: all.len(),
                alive: vec![all.len(); 4],
            };
            return lowmem::judge(round, &all);
        }
        let step = StepTerms::new(round.state, self.longest);
        if step.steps.wrapping_sub(self.synced) > 1 {
            // Not the steps that came after what is kept.
            self.awake.clear();
        }
        let mut hunt = PruningSearch::new(round, &step, std::mem::take(&mut self.awake));
        hunt.evaluate(&self.open(round));
        let suspects = match round.sample {
            Some(sample) => PruningSearch::unbounded(sample),
            None => self.by_norms(&hunt),
        };
        hunt.kept = Some(Kept {
            layout: &self.layout,
            z_without: &self.z_without,
        });
        let alive = hunt.finish(suspects);
        self.work = Work {
            evaluated: hunt.evaluated(),
            alive,
        };
        self.leaders = hunt.leaders();
        let (contest, awake) = hunt.end();
        self.awake = awake;
        contest
    }

    fn work(&self) -> Work {
        self.work.clone()
    }
}

impl Bounded {
    /// ColumnClasses to open a step with: the last step's best that may still be chosen.
    fn open(&self, round: &Round<'_>) -> Vec<u32> {
        let leaders = self.leaders.iter().copied();
        leaders
            .filter(|&candidate| round.eligible(candidate as usize))
            .collect()
    }

    /// Level 0: candidates whose bound from norms passes the threshold.
    fn by_norms(&mut self, hunt: &PruningSearch<'_>) -> Vec<BoundedCandidate> {
        let mut suspects = self.several_by_norms(hunt);
        let single = hunt.step.queries.par_iter().enumerate();
        let found: Vec<Vec<BoundedCandidate>> = single
            .map(|(query, _)| self.single_by_norms(hunt, query))
            .collect();
        suspects.extend(found.into_iter().flatten());
        suspects
    }

    /// ColumnClasses of one query. The bound for all of them comes first: it grows with the
    /// norm, and the longest columns are first.
    fn single_by_norms(&self, hunt: &PruningSearch<'_>, query: usize) -> Vec<BoundedCandidate> {
        let (step, candidates) = (hunt.step, hunt.round.candidates);
        let terms = &step.queries[query];
        let mut suspects = Vec::new();
        for &candidate in self.layout.only_in(query) {
            let squared_norm = candidates.squared_norm(candidate as usize);
            if !hunt.passes(bounds::single_by_norms(squared_norm, terms, step)) {
                break;
            }
            let (mut rho, mut along) = (0.0, 0.0);
            for (row, value) in candidates.column(candidate as usize).iter() {
                let example = &step.examples[row];
                rho += value * example[R];
                along += value * (example[ALL_G] - example[OWN_G]);
            }
            let z_squared = terms.phi * terms.phi * squared_norm;
            let whole = Whole {
                squared_norm,
                z_squared,
                rho,
            };
            // The true s is no less, so |beta_0| is no larger.
            let beta_0 = rho.abs() / whole.pivot(step.lambda);
            let suspect = BoundedCandidate::new(candidate, 2.0 * beta_0 * along.abs(), whole, step);
            if hunt.passes(suspect.bound) && !hunt.round.retired[candidate as usize] {
                suspects.push(suspect);
            }
        }
        suspects
    }

    fn several_by_norms(&mut self, hunt: &PruningSearch<'_>) -> Vec<BoundedCandidate> {
        // A state that is younger than what is kept is another one: all is found anew.
        let missing = hunt
            .step
            .steps
            .checked_sub(self.synced)
            .unwrap_or(usize::MAX);
        self.synced = hunt.step.steps;
        let found: Vec<Vec<BoundedCandidate>> = self
            .chunks()
            .into_par_iter()
            .map(|mut chunk| chunk.bound(hunt, missing))
            .collect();
        found.concat()
    }

    /// ColumnClasses of several queries in chunks, with what is kept of them.
    fn chunks(&mut self) -> Vec<Chunk<'_>> {
        let layout = &self.layout;
        let mut without = &mut self.z_without[..];
        let chunks = self.z_squared.chunks_mut(CHUNK).enumerate();
        chunks
            .map(|(number, z_squared)| {
                let first = number * CHUNK;
                let pieces = layout.span(first).start..layout.span(first + z_squared.len() - 1).end;
                let z_without = without.split_off_mut(..pieces.len()).unwrap_or_default();
                Chunk {
                    layout,
                    first,
                    z_squared,
                    z_without,
                }
            })
            .collect()
    }
}

/// Some candidates of several queries.
struct Chunk<'a> {
    layout: &'a Layout,
    /// Position of the first.
    first: usize,
    z_squared: &'a mut [f64],
    z_without: &'a mut [f64],
}

impl Chunk<'_> {
    /// Level 0, once `missing` steps have been caught up with.
    fn bound(&mut self, hunt: &PruningSearch<'_>, missing: usize) -> Vec<BoundedCandidate> {
        let mut touches = Vec::new();
        let mut suspects = Vec::new();
        let mut room = Scratch::new(hunt.step.steps);
        let mut rest = &mut *self.z_without;
        for (place, z_squared) in self.z_squared.iter_mut().enumerate() {
            let position = self.first + place;
            let candidate = self.layout.several[position];
            let pieces = self.layout.pieces(position);
            let z_without = rest.split_off_mut(..pieces.len()).unwrap_or_default();
            let column = hunt.round.candidates.column(candidate as usize);
            let (tau, along_g) = walk(column, pieces, &hunt.step.examples, &mut touches);
            if missing == 1 {
                *z_squared += tau * tau;
                for (z_without, touch) in z_without.iter_mut().zip(&touches) {
                    let new = tau - touch.sums[PHI];
                    *z_without += new * new;
                }
            } else if missing > 1 {
                *z_squared = hunt.catch_up(candidate, &mut room, z_without);
            }
            for (touch, &z_without) in touches.iter_mut().zip(&*z_without) {
                touch.z_without = z_without;
            }
            if hunt.round.retired[candidate as usize] {
                continue;
            }
            let known = (*z_squared, along_g);
            let kept = u32::try_from(position).ok().map(|position| (position, tau));
            let suspect = BoundedCandidate {
                kept,
                ..several_by_norms(hunt, candidate, known, &touches)
            };
            if hunt.passes(suspect.bound) {
                suspects.push(suspect);
            }
        }
        suspects
    }
}

/// Passes over a column once: what the bounds need of every piece into `touches`; returns
/// `tau = phi . v` and `z . G`.
#[multiversion::multiversion(targets = "simd")]
fn walk(
    column: Column<'_>,
    pieces: &[Piece],
    examples: &[ExampleTerms],
    touches: &mut Vec<QueryPart>,
) -> (f64, f64) {
    let mut rest = column;
    let (mut tau, mut along_g) = (0.0, 0.0);
    touches.clear();
    for piece in pieces {
        let entries = rest.take_entries(piece.length as usize);
        let touch = QueryPart::new(piece.place(), entries, examples);
        tau += touch.sums[PHI];
        along_g += touch.sums[ALL_G];
        touches.push(touch);
    }
    (tau, along_g)
}

/// Level 0 for a candidate that touches two queries or more.
#[multiversion::multiversion(targets = "simd")]
fn several_by_norms(
    hunt: &PruningSearch<'_>,
    candidate: u32,
    (z_squared, along_g): (f64, f64),
    touches: &[QueryPart],
) -> BoundedCandidate {
    let step = hunt.step;
    let squared_norm = hunt.round.candidates.squared_norm(candidate as usize);
    let rho = touches.iter().map(|touch| touch.sums[R]).sum();
    let whole = Whole {
        squared_norm,
        z_squared,
        rho,
    };
    let beta_0 = rho / whole.pivot(step.lambda);
    let touched = bounds::touched_by_norms(&whole, touches, step, (z_squared.sqrt(), beta_0));
    let first_order = touched - 2.0 * beta_0 * along_g;
    BoundedCandidate::new(candidate, first_order, whole, step)
}
