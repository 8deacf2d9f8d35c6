//! The search of one step: suspects climb from level to level.

use std::collections::{HashMap, HashSet};

use rayon::prelude::*;

use super::bounds::{self, QueryPart, Whole};
use super::candidate::{BoundedCandidate, Projected, Scratch, combine, without};
use super::forms::Forms;
use super::layout::Layout;
use super::terms::{R, StepTerms};
use crate::greedy::lanes::{LANES, Lanes};
use crate::greedy::strategies::lowmem;
use crate::greedy::{Contest, Entrant, Round};
use crate::kernels;

/// Suspects that one task takes through levels 1 and 2.
const CHUNK: usize = 64;

/// ColumnClasses evaluated exactly in a round, before the threshold is looked at again.
const ROUND: usize = 64;

/// Best candidates of a step that open the next one.
const LEADERS: usize = 8;

/// What is kept of candidates of several queries.
#[derive(Debug, Clone, Copy)]
pub(super) struct Kept<'a> {
    pub(super) layout: &'a Layout,
    /// `|z_-|^2` of all pieces.
    pub(super) z_without: &'a [f64],
}

/// `z` of candidates that reached level 1 in the last step: many of them will again, and then
/// one component is new.
pub(super) type ProjectionCache = HashMap<u32, Vec<f64>>;

/// Bytes that [`ProjectionCache`] may take: candidates that do not fit are projected anew.
pub(super) const AWAKE_BYTES: usize = 32 << 20;

/// Entries from which on a column's `z` is worth keeping.
const WORTH_KEEPING: usize = 64;

/// The search of one step.
pub(super) struct PruningSearch<'a> {
    pub(super) round: &'a Round<'a>,
    pub(super) step: &'a StepTerms,
    contest: Contest,
    /// Errors of what has been evaluated exactly.
    judged: Vec<(f64, u32)>,
    /// From the last step, then for the next.
    awake: ProjectionCache,
    /// There once level 0 is done.
    pub(super) kept: Option<Kept<'a>>,
}

/// Suspects of one task after levels 1 and 2.
struct Climbed {
    after_projection: usize,
    left: Vec<BoundedCandidate>,
    awake: Vec<(u32, Vec<f64>)>,
}

impl<'a> PruningSearch<'a> {
    pub(super) fn new(round: &'a Round<'a>, step: &'a StepTerms, awake: ProjectionCache) -> Self {
        Self {
            round,
            step,
            contest: Contest::default(),
            judged: Vec::new(),
            awake,
            kept: None,
        }
    }

    /// The outcome, and who was awake.
    pub(super) fn end(self) -> (Contest, ProjectionCache) {
        (self.contest, self.awake)
    }

    /// ColumnClasses evaluated exactly so far.
    pub(super) fn evaluated(&self) -> usize {
        self.judged.len()
    }

    /// Whether a candidate whose gain is at most `bound` may still win.
    pub(super) fn passes(&self, bound: f64) -> bool {
        let least = self.step.error - bound - self.step.slop(bound);
        least <= self.contest.limit() || least.is_nan()
    }

    /// Evaluates candidates exactly.
    pub(super) fn evaluate(&mut self, candidates: &[u32]) {
        let errors = lowmem::errors(self.round, candidates);
        for (&candidate, error) in candidates.iter().zip(errors) {
            let feature = self.round.candidates.feature(candidate as usize);
            self.contest.enter(Entrant { error, feature });
            self.judged.push((error, candidate));
        }
    }

    /// ColumnClasses that no bound has been computed for.
    pub(super) fn unbounded(sample: &[u32]) -> Vec<BoundedCandidate> {
        let whole = Whole {
            squared_norm: 0.0,
            z_squared: 0.0,
            rho: 0.0,
        };
        let (bound, first_order) = (f64::INFINITY, f64::INFINITY);
        let suspects = sample.iter();
        suspects
            .map(|&candidate| BoundedCandidate {
                candidate,
                bound,
                first_order,
                whole,
                beta_0: 0.0,
                kept: None,
            })
            .collect()
    }

    /// The best that were evaluated, for the next step to open with.
    pub(super) fn leaders(&mut self) -> Vec<u32> {
        self.judged
            .sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        // One of them is about to be selected.
        self.judged
            .iter()
            .take(LEADERS + 1)
            .map(|&(_, candidate)| candidate)
            .collect()
    }

    /// `|z|^2` from scratch, and `|z_-|^2` of every piece.
    pub(super) fn catch_up(
        &self,
        candidate: u32,
        room: &mut Scratch,
        z_without: &mut [f64],
    ) -> f64 {
        self.project_pieces(candidate as usize, room);
        for (z_without, touch) in z_without.iter_mut().zip(&room.touches) {
            *z_without = touch.z_without;
        }
        kernels::dot(&room.z, &room.z)
    }

    /// Levels 1 to 4; returns how many candidates were alive after levels 0 to 3.
    pub(super) fn finish(&mut self, mut suspects: Vec<BoundedCandidate>) -> Vec<usize> {
        let opened: HashSet<u32> = self
            .judged
            .iter()
            .map(|&(_, candidate)| candidate)
            .collect();
        suspects.retain(|suspect| !opened.contains(&suspect.candidate));
        let mut alive = vec![opened.len() + suspects.len()];
        if opened.is_empty() {
            // Nothing to open with: the best bounds give the threshold.
            self.lead(&mut suspects, ROUND);
        }
        let before = self.judged.len();
        alive.push(before + self.climb(&mut suspects));
        alive.push(before + suspects.len());
        self.lead(&mut suspects, LANES);
        self.by_queries(&mut suspects);
        alive.push(self.judged.len() + suspects.len());
        while !suspects.is_empty() {
            self.lead(&mut suspects, ROUND);
        }
        alive
    }

    /// Evaluates the `count` suspects of the largest bounds and drops those that are out.
    fn lead(&mut self, suspects: &mut Vec<BoundedCandidate>, count: usize) {
        suspects.sort_unstable_by(|a, b| {
            b.bound
                .total_cmp(&a.bound)
                .then(a.candidate.cmp(&b.candidate))
        });
        let first = suspects.drain(..count.min(suspects.len()));
        let first: Vec<u32> = first.map(|suspect| suspect.candidate).collect();
        self.evaluate(&first);
        suspects.retain(|suspect| self.passes(suspect.bound));
    }

    /// Levels 1 and 2; returns how many were left after level 1.
    fn climb(&mut self, suspects: &mut Vec<BoundedCandidate>) -> usize {
        // The forms cost q t^2 and save q t for each suspect they rule out.
        let worthwhile = self.step.steps > 0 && suspects.len() > self.step.steps;
        let forms = worthwhile.then(|| Forms::new(self.step));
        if let Some(forms) = &forms {
            suspects.retain(|suspect| self.passes(suspect.bound_by_spectrum(self.step, forms)));
        }
        let climbed: Vec<Climbed> = suspects
            .par_chunks(CHUNK)
            .map_init(
                || Scratch::new(self.step.steps),
                |room, chunk| self.climb_chunk(chunk, forms.as_ref(), room),
            )
            .collect();
        suspects.clear();
        let mut after_projection = 0;
        self.awake.clear();
        let room = AWAKE_BYTES / (size_of::<f64>() * self.step.steps.max(1));
        for part in climbed {
            after_projection += part.after_projection;
            suspects.extend(part.left);
            self.awake.extend(
                part.awake
                    .into_iter()
                    .take(room - self.awake.len().min(room)),
            );
        }
        after_projection
    }

    fn climb_chunk(
        &self,
        chunk: &[BoundedCandidate],
        forms: Option<&Forms>,
        room: &mut Scratch,
    ) -> Climbed {
        let mut kept: Vec<(BoundedCandidate, Projected)> = Vec::new();
        room.kept_z.clear();
        let mut awake = Vec::new();
        for suspect in chunk {
            let projected = self.project(suspect, room);
            // Only what is kept up to date is recalled.
            let column = self.round.candidates.column(suspect.candidate as usize);
            if suspect.kept.is_some() && column.rows.len() >= WORTH_KEEPING {
                awake.push((suspect.candidate, room.z.clone()));
            }
            let bound = suspect.bound.min(projected.bound(self.step, forms));
            if self.passes(bound) {
                kept.push((BoundedCandidate { bound, ..*suspect }, projected));
                room.kept_z.extend_from_slice(&room.z);
            }
        }
        let mut climbed = Climbed {
            after_projection: kept.len(),
            left: Vec::new(),
            awake,
        };
        for (number, block) in kept.chunks(LANES).enumerate() {
            let Some(forms) = forms else {
                climbed
                    .left
                    .extend(block.iter().map(|(suspect, _)| *suspect));
                continue;
            };
            room.load_kept(number * LANES, block.len());
            let values = forms.values(&room.z_lanes);
            for (lane, (suspect, projected)) in block.iter().enumerate() {
                let forms = [values.m[lane], values.c[lane], values.d[lane]];
                let bound = suspect
                    .bound
                    .min(projected.bound_by_forms(self.step, forms));
                if self.passes(bound) {
                    climbed.left.push(BoundedCandidate { bound, ..*suspect });
                }
            }
        }
        climbed
    }

    /// A candidate's `z`, left in `room`, and what follows from it.
    pub(super) fn project(&self, suspect: &BoundedCandidate, room: &mut Scratch) -> Projected {
        let (candidates, step) = (self.round.candidates, self.step);
        let candidate = suspect.candidate as usize;
        match (self.kept, suspect.kept) {
            (Some(kept), Some((position, tau))) => {
                self.recall(candidate, tau, room);
                self.recall_pieces(candidate, kept, position as usize, room);
            }
            _ => self.project_pieces(candidate, room),
        }
        let whole = Whole {
            squared_norm: candidates.squared_norm(candidate),
            z_squared: kernels::dot(&room.z, &room.z),
            rho: room.touches.iter().map(|touch| touch.sums[R]).sum(),
        };
        combine(
            step,
            &whole,
            candidates.sole_query(candidate).is_some(),
            room,
        )
    }

    /// `z`, from what was awake if the candidate was.
    fn recall(&self, candidate: usize, tau: f64, room: &mut Scratch) {
        // ColumnClasses count in 32 bits.
        let known = u32::try_from(candidate)
            .ok()
            .and_then(|candidate| self.awake.get(&candidate));
        let t = self.step.steps;
        match known {
            Some(z) if z.len() == t => room.z.copy_from_slice(z),
            Some(z) if z.len() + 1 == t => {
                room.z[..t - 1].copy_from_slice(z);
                room.z[t - 1] = tau;
            }
            _ => self
                .round
                .state
                .project(self.round.candidates.column(candidate), &mut room.z),
        }
    }

    /// What is known of every piece, without projecting it.
    fn recall_pieces(&self, candidate: usize, kept: Kept<'_>, position: usize, room: &mut Scratch) {
        let mut rest = self.round.candidates.column(candidate);
        room.touches.clear();
        let z_without = &kept.z_without[kept.layout.span(position)];
        for (piece, &z_without) in kept.layout.pieces(position).iter().zip(z_without) {
            let entries = rest.take_entries(piece.length as usize);
            let mut touch = QueryPart::new(piece.place(), entries, &self.step.examples);
            touch.z_without = z_without;
            room.touches.push(touch);
        }
    }

    /// `z` from scratch, and what is known of every piece.
    fn project_pieces(&self, candidate: usize, room: &mut Scratch) {
        let t = self.step.steps;
        room.parts.clear();
        room.touches.clear();
        room.z.fill(0.0);
        for segment in self.round.candidates.segments(candidate) {
            let start = room.parts.len();
            room.parts.resize(start + t, 0.0);
            self.round
                .state
                .project(segment.column, &mut room.parts[start..]);
            kernels::add_scaled(&mut room.z, 1.0, &room.parts[start..]);
            let place = (segment.query, segment.squared_norm);
            room.touches
                .push(QueryPart::new(place, segment.column, &self.step.examples));
        }
        for (place, touch) in room.touches.iter_mut().enumerate() {
            touch.z_without = without(&room.z, &room.parts[place * t..][..t]);
        }
    }

    /// Level 3.
    fn by_queries(&self, suspects: &mut Vec<BoundedCandidate>) {
        let refined: Vec<Vec<f64>> = suspects
            .par_chunks(LANES)
            .map_init(
                || Scratch::new(self.step.steps),
                |room, block| self.bound_by_queries(block, room),
            )
            .collect();
        for (suspect, bound) in suspects.iter_mut().zip(refined.concat()) {
            suspect.bound = suspect.bound.min(bound);
        }
        suspects.retain(|suspect| self.passes(suspect.bound));
    }

    pub(super) fn bound_by_queries(
        &self,
        block: &[BoundedCandidate],
        room: &mut Scratch,
    ) -> Vec<f64> {
        let mut projected = Vec::with_capacity(block.len());
        let mut touched: Vec<Vec<usize>> = Vec::with_capacity(block.len());
        room.kept_z.clear();
        for suspect in block {
            projected.push(self.project(suspect, room));
            touched.push(room.touches.iter().map(|touch| touch.query).collect());
            room.kept_z.extend_from_slice(&room.z);
        }
        room.load_kept(0, block.len());
        let mut bounds: Vec<f64> = projected
            .iter()
            .map(|projected| projected.touched)
            .collect();
        for (query, terms) in self.step.queries.iter().enumerate() {
            let (zf, zg) = along_both(self.step.f(query), self.step.g(query), &room.z_lanes);
            for (lane, bound) in bounds.iter_mut().enumerate() {
                if touched[lane].binary_search(&query).is_err() {
                    let along = (zf[lane], zg[lane]);
                    let whole = &projected[lane].whole;
                    *bound += bounds::untouched_exactly(whole, terms, along, self.step.lambda);
                }
            }
        }
        bounds
    }
}

/// `z . f` and `z . g` for eight candidates.
#[multiversion::multiversion(targets = "simd")]
fn along_both(f: &[f64], g: &[f64], z: &[Lanes]) -> (Lanes, Lanes) {
    let (mut zf, mut zg) = ([0.0; LANES], [0.0; LANES]);
    for ((z, &f), &g) in z.iter().zip(f).zip(g) {
        for lane in 0..LANES {
            zf[lane] += z[lane] * f;
            zg[lane] += z[lane] * g;
        }
    }
    (zf, zg)
}
