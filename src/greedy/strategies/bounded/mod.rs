//! Exact selection at sparse cost (`docs/bounds.md`): the result of
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
//! | 2 | second order in `z` of all queries; `T_Q u_Q` along `v_Q` in touched ones | O(t^2 + t nnz) |
//! | 3 | `z . f_Q`, `z . g_Q` in every query; all of (*) in touched ones | O(t q + t touched rows) |
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
mod layout;
mod search;
mod step;
#[cfg(test)]
mod tests;

use rayon::prelude::*;

use super::lowmem;
use crate::columns::ColumnClasses;
use crate::data::Column;
use crate::greedy::strategy::Facts;
use crate::greedy::{Contest, Round, Shape, Strategy, Work};
use crate::interrupt::heed;
use crate::kernels::Lanes;
use bounds::{QueryPart, Whole};
use layout::{Layout, Piece};
use search::{BoundedCandidate, CACHE_BYTES, Kept, ProjectionCache, PruningSearch, Scratch};
use step::{ALL_G, ExampleTerms, Form, OWN_F, OWN_G, PHI, R, StepTerms};

/// Candidates whose level-0 bound one task computes.
const CHUNK: usize = 1024;

/// Halvings of the bound on the quadratic form that are tried first.
const HALVINGS: i32 = 8;

/// Where rounding may take this share of a step's error, bounds are not used.
const COARSE: f64 = 1e-4;

pub(super) const FACTS: Facts = Facts {
    name: "bounded",
    summary: "Bounds first: exact, at a cost that grows with the non-zeros, O(nnz + m k) memory",
    exact: true,
    samples: true,
    ranks: false,
    baseline: false,
    distils: false,
    sample: None,
    memory,
    cost: |shape| 4e-9 * shape.nonzeros as f64 + 8e-9 * shape.pieces as f64,
    build: |candidates, _| Box::new(Bounded::new(candidates)),
};

fn memory(shape: &Shape) -> u64 {
    let Shape {
        candidates,
        pieces,
        k,
        ..
    } = *shape;
    let block = size_of::<Lanes>() * (4 * k + shape.largest_query);
    let cache = CACHE_BYTES.min(candidates.saturating_mul(8 * k));
    let contenders = candidates * (size_of::<f64>() + size_of::<BoundedCandidate>());
    Layout::memory(candidates, shape.queries, pieces)
        + StepTerms::memory(shape.rows, shape.queries, k)
        + Form::memory(k)
        + (size_of::<f64>() * pieces + cache + contenders + shape.threads * block) as u64
}

/// Exact selection from bounds.
#[derive(Debug)]
struct Bounded {
    layout: Layout,
    /// `|z|^2` of `layout.several`, as of `synced` steps.
    z_squared: Vec<f64>,
    /// `|z_-|^2` of all pieces, likewise.
    z_without: Vec<f64>,
    synced: usize,
    /// `z` of candidates that reached level 1 in the last step.
    cache: ProjectionCache,
    /// `max |v|^2`
    longest: f64,
    /// See [`step::Form::new`].
    halvings: i32,
    /// The best candidates of the last step, by error.
    leaders: Vec<u32>,
}

impl Bounded {
    /// Sorts the candidates by where they occur.
    fn new(candidates: &ColumnClasses) -> Self {
        let layout = Layout::new(candidates);
        Self {
            z_squared: vec![0.0; layout.several.len()],
            z_without: vec![0.0; layout.piece_count()],
            cache: ProjectionCache::default(),
            layout,
            synced: 0,
            longest: candidates.largest_squared_norm(),
            halvings: HALVINGS,
            leaders: Vec::new(),
        }
    }
}

impl Strategy for Bounded {
    fn propose(&mut self, round: &Round<'_>) -> (Contest, Work) {
        if round.state.folds().is_some() || round.state.rounding(self.longest) > COARSE {
            // The quantities that the bounds are made of have lost too many digits.
            let all = round.eligible_candidates();
            let work = Work {
                evaluated: all.len(),
                alive: vec![all.len(); 4],
            };
            return (lowmem::judge(round, &all), work);
        }
        let step = StepTerms::new(round.state, self.longest, &mut self.halvings);
        if step.steps.wrapping_sub(self.synced) > 1 {
            // Not the steps that came after what is kept.
            self.cache.clear();
        }
        let mut search = PruningSearch::new(round, &step, std::mem::take(&mut self.cache));
        search.evaluate(&self.open(round));
        search.share();
        let contenders = match round.sample {
            Some(sample) => PruningSearch::unbounded(sample),
            None => self.by_norms(&search),
        };
        search.kept = Some(Kept {
            layout: &self.layout,
            z_without: &self.z_without,
        });
        let alive = search.finish(contenders);
        let work = Work {
            evaluated: search.evaluated(),
            alive,
        };
        self.leaders = search.leaders();
        let (contest, cache) = search.end();
        self.cache = cache;
        (contest, work)
    }
}

impl Bounded {
    /// Candidates to open a step with: the last step's best that may still be chosen.
    fn open(&self, round: &Round<'_>) -> Vec<u32> {
        let leaders = self.leaders.iter().copied();
        leaders
            .filter(|&candidate| round.eligible(candidate as usize))
            .collect()
    }

    /// Level 0: candidates whose bound from norms passes the threshold.
    fn by_norms(&mut self, search: &PruningSearch<'_>) -> Vec<BoundedCandidate> {
        let mut contenders = self.several_by_norms(search);
        let single = search.step.queries.par_iter().enumerate();
        let found: Vec<Vec<BoundedCandidate>> = single
            .map(|(query, _)| self.single_by_norms(search, query))
            .collect();
        contenders.extend(found.into_iter().flatten());
        contenders
    }

    /// Candidates of one query. The bound for all of them comes first: it grows with the
    /// norm, and the longest columns are first.
    fn single_by_norms(&self, search: &PruningSearch<'_>, query: usize) -> Vec<BoundedCandidate> {
        heed();
        let (step, candidates) = (search.step, search.round.candidates);
        let terms = &step.queries[query];
        let mut contenders = Vec::new();
        for &candidate in self.layout.only_in(query) {
            let squared_norm = candidates.squared_norm(candidate as usize);
            if !search.passes(bounds::single_by_norms(squared_norm, terms, step)) {
                break;
            }
            let (mut rho, mut along) = (0.0, 0.0);
            let (mut x, mut w) = (0.0, 0.0);
            for (row, value) in candidates.column(candidate as usize).iter() {
                let example = &step.examples[row];
                rho += value * example[R];
                along += value * (example[ALL_G] - example[OWN_G]);
                x += value * example[OWN_G];
                w += value * example[OWN_F];
            }
            let z_squared = terms.phi * terms.phi * squared_norm;
            let whole = Whole {
                squared_norm,
                z_squared,
                rho,
            };
            // The true s is no less.
            let pivot = whole.pivot(step.lambda);
            let first_order = 2.0 * rho.abs() * along.abs() / pivot;
            let second_order = bounds::second_order(&whole, step, (x * w).max(0.0));
            let bound = first_order + second_order + bounds::third_order(&whole, step);
            let contender = BoundedCandidate::new(candidate, bound);
            if search.passes(contender.bound) && !search.round.retired[candidate as usize] {
                contenders.push(contender);
            }
        }
        contenders
    }

    fn several_by_norms(&mut self, search: &PruningSearch<'_>) -> Vec<BoundedCandidate> {
        // A state that is younger than what is kept is another one: all is found anew.
        let missing = search
            .step
            .steps
            .checked_sub(self.synced)
            .unwrap_or(usize::MAX);
        self.synced = search.step.steps;
        let found: Vec<Vec<BoundedCandidate>> = self
            .chunks()
            .into_par_iter()
            .map(|mut chunk| {
                heed();
                chunk.bound(search, missing)
            })
            .collect();
        found.concat()
    }

    /// Candidates of several queries in chunks, with what is kept of them.
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
    fn bound(&mut self, search: &PruningSearch<'_>, missing: usize) -> Vec<BoundedCandidate> {
        let mut parts = Vec::new();
        let mut contenders = Vec::new();
        let mut scratch = Scratch::new(search.step.steps);
        let mut rest = &mut *self.z_without;
        for (place, z_squared) in self.z_squared.iter_mut().enumerate() {
            let position = self.first + place;
            let candidate = self.layout.several[position];
            let pieces = self.layout.pieces(position);
            let z_without = rest.split_off_mut(..pieces.len()).unwrap_or_default();
            let column = search.round.candidates.column(candidate as usize);
            let (tau, along_g) = pass_over(column, pieces, &search.step.examples, &mut parts);
            if missing == 1 {
                *z_squared += tau * tau;
                for (z_without, part) in z_without.iter_mut().zip(&parts) {
                    let new = tau - part.sums[PHI];
                    *z_without += new * new;
                }
            } else if missing > 1 {
                *z_squared = search.catch_up(candidate, &mut scratch, z_without);
            }
            for (part, &z_without) in parts.iter_mut().zip(&*z_without) {
                part.z_without = z_without;
            }
            if search.round.retired[candidate as usize] {
                continue;
            }
            let known = (*z_squared, along_g);
            let kept = u32::try_from(position).ok().map(|position| (position, tau));
            let contender = BoundedCandidate {
                kept,
                ..several_by_norms(search, candidate, known, &parts)
            };
            if search.passes(contender.bound) {
                contenders.push(contender);
            }
        }
        contenders
    }
}

/// Passes over a column once: what the bounds need of every piece into `parts`; returns
/// `tau = phi . v` and `z . G`.
#[multiversion::multiversion(targets = "simd")]
fn pass_over(
    column: Column<'_>,
    pieces: &[Piece],
    examples: &[ExampleTerms],
    parts: &mut Vec<QueryPart>,
) -> (f64, f64) {
    let mut rest = column;
    let (mut tau, mut along_g) = (0.0, 0.0);
    parts.clear();
    for piece in pieces {
        let entries = rest.take_entries(piece.length as usize);
        let part = QueryPart::new(piece.place(), entries, examples);
        tau += part.sums[PHI];
        along_g += part.sums[ALL_G];
        parts.push(part);
    }
    (tau, along_g)
}

/// Level 0 for a candidate that touches two queries or more.
#[multiversion::multiversion(targets = "simd")]
fn several_by_norms(
    search: &PruningSearch<'_>,
    candidate: u32,
    (z_squared, along_g): (f64, f64),
    parts: &[QueryPart],
) -> BoundedCandidate {
    let step = search.step;
    let squared_norm = search.round.candidates.squared_norm(candidate as usize);
    let rho = parts.iter().map(|part| part.sums[R]).sum();
    let whole = Whole {
        squared_norm,
        z_squared,
        rho,
    };
    let beta_0 = rho / whole.pivot(step.lambda);
    let touched = bounds::touched_by_norms(&whole, parts, step, (z_squared.sqrt(), beta_0));
    // Touched queries have taken back their share of the second order already.
    let second_order = 2.0 * step.form.least * z_squared / whole.pivot(step.lambda);
    let others = second_order + bounds::third_order(&whole, step);
    BoundedCandidate::new(candidate, touched - 2.0 * beta_0 * along_g + others)
}
