//! The search of one step: candidates that may still win climb from level to level.

use std::collections::{HashMap, HashSet};

use rayon::prelude::*;

use super::bounds::{self, QueryPart, Whole};
use super::layout::Layout;
use super::step::{R, StepTerms};
use crate::greedy::state::QueryMatrices;
use crate::greedy::strategies::lowmem;
use crate::greedy::{Contest, Entrant, Round};
use crate::interrupt::heed;
use crate::kernels::{self, LANES, Lanes};

/// Contenders that one task takes through levels 1 and 2.
const CHUNK: usize = 64;

/// Candidates evaluated exactly in a round, before the threshold is looked at again.
const ROUND: usize = 64;

/// Best candidates of a step that open the next one.
const LEADERS: usize = 8;

/// A candidate with an upper bound on its gain.
#[derive(Debug, Clone, Copy)]
pub(super) struct BoundedCandidate {
    pub(super) candidate: u32,
    /// No less than its gain.
    pub(super) bound: f64,
    /// Bound on what is gained in touched queries, once level 2 has one.
    pub(super) touched: f64,
    /// For a candidate of several queries whose pieces are up to date: which of them it is, and
    /// the last component of its `z`.
    pub(super) kept: Option<(u32, f64)>,
}

impl BoundedCandidate {
    /// A candidate at level 0.
    #[inline(always)]
    pub(super) fn new(candidate: u32, bound: f64) -> Self {
        Self {
            candidate,
            bound,
            touched: f64::INFINITY,
            kept: None,
        }
    }
}

/// Scratch for one task.
#[derive(Debug)]
pub(super) struct Scratch {
    pub(super) z: Vec<f64>,
    /// `z_Q` of every touched query.
    pub(super) own_z: Vec<f64>,
    /// `H_Q' v_Q` of one query, `t`.
    own_held: Vec<f64>,
    pub(super) parts: Vec<QueryPart>,
    /// `n_Q` and `c_Q` of every touched query.
    exact: Vec<(f64, f64)>,
    /// `z` of contenders that passed, one after the other.
    pub(super) kept_z: Vec<f64>,
    pub(super) z_lanes: Vec<Lanes>,
}

impl Scratch {
    pub(super) fn new(steps: usize) -> Self {
        Self {
            z: vec![0.0; steps],
            own_z: Vec::new(),
            own_held: vec![0.0; steps],
            parts: Vec::new(),
            exact: Vec::new(),
            kept_z: Vec::new(),
            z_lanes: vec![[0.0; LANES]; steps],
        }
    }

    /// Puts `count` kept `z` from `first` on side by side.
    pub(super) fn load_kept(&mut self, first: usize, count: usize) {
        self.z_lanes.fill([0.0; LANES]);
        let steps = self.z.len();
        for lane in 0..count {
            let z = &self.kept_z[(first + lane) * steps..][..steps];
            for (lanes, &z) in self.z_lanes.iter_mut().zip(z) {
                lanes[lane] = z;
            }
        }
    }
}

/// What a candidate's `z` tells.
#[derive(Debug, Clone, Copy)]
pub(super) struct Projected {
    pub(super) whole: Whole,
    /// Bound on what is gained in touched queries.
    pub(super) touched: f64,
    /// `- 2 beta_0 z . G`, touched queries left out.
    pub(super) linear: f64,
    /// `sum x_Q w_Q` over touched queries.
    pub(super) touched_form: f64,
    /// Bound on the third order in untouched queries.
    pub(super) third: f64,
}

impl Projected {
    /// Level 1.
    pub(super) fn bound(&self, step: &StepTerms) -> f64 {
        let second = bounds::second_order(&self.whole, step, self.touched_form);
        self.touched + self.linear + second + self.third
    }

    /// Level 2, from `z' M z`.
    pub(super) fn bound_by_form(&self, step: &StepTerms, form: f64) -> f64 {
        let second = 2.0 * (self.touched_form - form) / self.whole.pivot(step.lambda);
        self.touched + self.linear + second + self.third
    }
}

/// Level 1 from `z` and its parts.
#[multiversion::multiversion(targets = "simd")]
pub(super) fn combine(
    step: &StepTerms,
    whole: &Whole,
    alone: bool,
    scratch: &mut Scratch,
) -> Projected {
    let Scratch {
        z, parts, exact, ..
    } = scratch;
    exact.clear();
    let (mut touched, mut touched_form) = (0.0, 0.0);
    let mut along_g = kernels::dot(z, &step.g);
    for part in parts.iter() {
        let (f, g) = (step.f(part.query), step.g(part.query));
        let (zf, zg) = (kernels::dot(z, f), kernels::dot(z, g));
        along_g -= zg;
        touched_form += zf * zg;
        exact.push((part.n(whole) + zf, part.c() - zg));
    }
    if !alone {
        // Without its only query the feature has no weight.
        for (part, &exact) in parts.iter().zip(&*exact) {
            touched += bounds::touched_by_projection(whole, part, step, exact, 0.0);
        }
    }
    let beta_0 = whole.rho / whole.pivot(step.lambda);
    Projected {
        whole: *whole,
        touched,
        linear: -2.0 * beta_0 * along_g,
        touched_form,
        third: bounds::third_order(whole, step),
    }
}

/// The third order from `z` along the leading queries: O(t) each.
#[multiversion::multiversion(targets = "simd")]
pub(super) fn third_order_by_leading(step: &StepTerms, whole: &Whole, z: &[f64]) -> f64 {
    let mut products = Vec::with_capacity(step.leading.queries.len());
    for &query in &step.leading.queries {
        let (x, w) = (
            kernels::dot(z, step.g(query)),
            kernels::dot(z, step.f(query)),
        );
        products.push((step.queries[query].h, x, w));
    }
    bounds::third_order_by_leading(whole, step, &products)
}

/// `|z - z_Q|^2`
#[inline(always)]
pub(super) fn without(z: &[f64], own: &[f64]) -> f64 {
    z.iter()
        .zip(own)
        .map(|(z, own)| (z - own) * (z - own))
        .sum()
}

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
pub(super) const CACHE_BYTES: usize = 128 << 20;

/// Entries from which on a column's `z` is worth keeping.
const WORTH_KEEPING: usize = 16;

/// The search of one step.
pub(super) struct PruningSearch<'a> {
    pub(super) round: &'a Round<'a>,
    pub(super) step: &'a StepTerms,
    contest: Contest,
    /// An error above this can not win against another rank's candidates.
    limit: f64,
    /// Errors of what has been evaluated exactly.
    judged: Vec<(f64, u32)>,
    /// From the last step, then for the next.
    cache: ProjectionCache,
    /// There once level 0 is done.
    pub(super) kept: Option<Kept<'a>>,
}

/// A contender after level 1.
struct Climber {
    contender: BoundedCandidate,
    projected: Projected,
    /// As in [`Scratch`].
    parts: Vec<QueryPart>,
    exact: Vec<(f64, f64)>,
}

/// Contenders of one task after levels 1 and 2.
struct Climbed {
    after_projection: usize,
    left: Vec<BoundedCandidate>,
    cache: Vec<(u32, Vec<f64>)>,
}

impl<'a> PruningSearch<'a> {
    pub(super) fn new(round: &'a Round<'a>, step: &'a StepTerms, cache: ProjectionCache) -> Self {
        Self {
            round,
            step,
            contest: Contest::default(),
            limit: f64::INFINITY,
            judged: Vec::new(),
            cache,
            kept: None,
        }
    }

    /// The outcome, and the projections to keep for the next step.
    pub(super) fn end(self) -> (Contest, ProjectionCache) {
        (self.contest, self.cache)
    }

    /// Candidates evaluated exactly so far.
    pub(super) fn evaluated(&self) -> usize {
        self.judged.len()
    }

    /// Whether a candidate whose gain is at most `bound` may still win.
    pub(super) fn passes(&self, bound: f64) -> bool {
        let least = self.step.error - bound - self.step.slop(bound);
        least <= self.contest.limit().min(self.limit) || least.is_nan()
    }

    /// Learns the least error that any rank has evaluated. Every rank calls this equally often in a
    /// step.
    pub(super) fn share(&mut self) {
        self.limit = self.round.candidates.peers().least(self.contest.limit());
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

    /// Candidates that no bound has been computed for.
    pub(super) fn unbounded(sample: &[u32]) -> Vec<BoundedCandidate> {
        let unbounded = |&candidate| BoundedCandidate::new(candidate, f64::INFINITY);
        sample.iter().map(unbounded).collect()
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
        scratch: &mut Scratch,
        z_without: &mut [f64],
    ) -> f64 {
        self.project_pieces(candidate as usize, scratch);
        for (z_without, part) in z_without.iter_mut().zip(&scratch.parts) {
            *z_without = part.z_without;
        }
        kernels::dot(&scratch.z, &scratch.z)
    }

    /// Levels 1 to 4; returns how many candidates were alive after levels 0 to 3.
    pub(super) fn finish(&mut self, mut contenders: Vec<BoundedCandidate>) -> Vec<usize> {
        let opened: HashSet<u32> = self
            .judged
            .iter()
            .map(|&(_, candidate)| candidate)
            .collect();
        contenders.retain(|contender| !opened.contains(&contender.candidate));
        let mut alive = vec![opened.len() + contenders.len()];
        if opened.is_empty() {
            // Nothing to open with: the best bounds give the threshold.
            self.lead(&mut contenders, ROUND);
        }
        self.share();
        let before = self.judged.len();
        alive.push(before + self.climb(&mut contenders));
        alive.push(before + contenders.len());
        self.lead(&mut contenders, LANES);
        self.share();
        self.by_queries(&mut contenders);
        alive.push(self.judged.len() + contenders.len());
        while !contenders.is_empty() {
            self.lead(&mut contenders, ROUND);
        }
        alive
    }

    /// Evaluates the `count` contenders of the largest bounds and drops the contenders that are out.
    fn lead(&mut self, contenders: &mut Vec<BoundedCandidate>, count: usize) {
        contenders.sort_unstable_by(|a, b| {
            b.bound
                .total_cmp(&a.bound)
                .then(a.candidate.cmp(&b.candidate))
        });
        let first = contenders.drain(..count.min(contenders.len()));
        let first: Vec<u32> = first.map(|contender| contender.candidate).collect();
        self.evaluate(&first);
        contenders.retain(|contender| self.passes(contender.bound));
    }

    /// Levels 1 and 2; returns how many were left after level 1.
    fn climb(&mut self, contenders: &mut Vec<BoundedCandidate>) -> usize {
        let climbed: Vec<Climbed> = contenders
            .par_chunks(CHUNK)
            .map_init(
                || Scratch::new(self.step.steps),
                |scratch, chunk| self.climb_chunk(chunk, scratch),
            )
            .collect();
        contenders.clear();
        let mut after_projection = 0;
        self.cache.clear();
        let most = CACHE_BYTES / (size_of::<f64>() * self.step.steps.max(1));
        for part in climbed {
            after_projection += part.after_projection;
            contenders.extend(part.left);
            self.cache.extend(
                part.cache
                    .into_iter()
                    .take(most - self.cache.len().min(most)),
            );
        }
        after_projection
    }

    fn climb_chunk(&self, chunk: &[BoundedCandidate], scratch: &mut Scratch) -> Climbed {
        heed();
        let mut kept: Vec<Climber> = Vec::new();
        scratch.kept_z.clear();
        let mut cache = Vec::new();
        for contender in chunk {
            let mut projected = self.project(contender, scratch);
            // Only what is kept up to date is recalled.
            let column = self.round.candidates.column(contender.candidate as usize);
            if contender.kept.is_some() && column.rows.len() >= WORTH_KEEPING {
                cache.push((contender.candidate, scratch.z.clone()));
            }
            if !self.passes(projected.bound(self.step)) {
                continue;
            }
            let third = third_order_by_leading(self.step, &projected.whole, &scratch.z);
            projected.third = projected.third.min(third);
            let bound = contender.bound.min(projected.bound(self.step));
            if self.passes(bound) {
                let contender = BoundedCandidate {
                    bound,
                    ..*contender
                };
                kept.push(Climber {
                    contender,
                    projected,
                    parts: std::mem::take(&mut scratch.parts),
                    exact: std::mem::take(&mut scratch.exact),
                });
                scratch.kept_z.extend_from_slice(&scratch.z);
            }
        }
        let after_projection = kept.len();
        let mut left = Vec::new();
        for (number, block) in kept.chunks_mut(LANES).enumerate() {
            scratch.load_kept(number * LANES, block.len());
            let values = self.step.form.values(&scratch.z_lanes);
            for (lane, (value, climber)) in values.into_iter().zip(block).enumerate() {
                let Climber {
                    contender,
                    projected,
                    ..
                } = climber;
                let others = projected.bound_by_form(self.step, value) - projected.touched;
                let first = (number * LANES + lane) * self.step.steps;
                let z = &scratch.kept_z[first..first + self.step.steps];
                scratch.z.copy_from_slice(z);
                scratch.parts = std::mem::take(&mut climber.parts);
                scratch.exact = std::mem::take(&mut climber.exact);
                let touched =
                    self.touched_closely(contender.candidate, projected, Some(others), scratch);
                let bound = contender.bound.min(others + touched);
                if self.passes(bound) {
                    left.push(BoundedCandidate {
                        bound,
                        touched,
                        ..*contender
                    });
                }
            }
        }
        Climbed {
            after_projection,
            left,
            cache,
        }
    }

    /// Bound on what is gained in touched queries, with `d_Q` no less than the square of what
    /// `T_Q u_Q` has along `v_Q`: O(t nnz). `scratch` is as [`project`](Self::project) left it.
    /// With what `others` gain: query by query, until the candidate is out, if there is hope of that.
    pub(super) fn touched_closely(
        &self,
        candidate: u32,
        projected: &Projected,
        others: Option<f64>,
        scratch: &mut Scratch,
    ) -> f64 {
        let (candidates, state) = (self.round.candidates, self.round.state);
        let (whole, mut touched) = (&projected.whole, projected.touched);
        if candidates.sole_query(candidate as usize).is_some() {
            return touched;
        }
        let Scratch {
            z,
            own_z,
            own_held,
            parts,
            exact,
            ..
        } = scratch;
        own_z.resize(self.step.steps.max(own_z.len()), 0.0);
        let own_z = &mut own_z[..self.step.steps];
        let of = |place: usize, d: f64| {
            bounds::touched_by_projection(whole, &parts[place], self.step, exact[place], d)
        };
        // T_Q u_Q is about as long as v_Q: the queries where that tells most come first.
        let expected = |place: usize| {
            let before = of(place, 0.0);
            (before - of(place, parts[place].squared_norm), before, place)
        };
        let mut order: Vec<_> = (0..parts.len()).map(expected).collect();
        order.sort_unstable_by(|a, b| b.0.total_cmp(&a.0).then(a.2.cmp(&b.2)));
        let hope: f64 = order.iter().map(|expected| expected.0).sum();
        let in_still = |touched: f64| others.is_none_or(|others| self.passes(others + touched));
        if others.is_some() && in_still(touched - hope) {
            return touched;
        }
        let segments: Vec<_> = candidates.segments(candidate as usize).collect();
        for (_, before, place) in order {
            if !in_still(touched) {
                break;
            }
            let segment = &segments[place];
            state.project(segment.column, own_z);
            state.project_held(segment.column, own_held);
            let along =
                segment.squared_norm - kernels::dot(own_held, z) + kernels::dot(own_held, own_z);
            let after = of(place, along * along / segment.squared_norm);
            touched += after.min(before) - before;
        }
        touched
    }

    /// A candidate's `z`, left in `scratch`, and what follows from it.
    pub(super) fn project(&self, contender: &BoundedCandidate, scratch: &mut Scratch) -> Projected {
        let (candidates, step) = (self.round.candidates, self.step);
        let candidate = contender.candidate as usize;
        match (self.kept, contender.kept) {
            (Some(kept), Some((position, tau))) => {
                self.recall(candidate, tau, scratch);
                self.recall_pieces(candidate, kept, position as usize, scratch);
            }
            _ => self.project_pieces(candidate, scratch),
        }
        let whole = Whole {
            squared_norm: candidates.squared_norm(candidate),
            z_squared: kernels::dot(&scratch.z, &scratch.z),
            rho: scratch.parts.iter().map(|part| part.sums[R]).sum(),
        };
        combine(
            step,
            &whole,
            candidates.sole_query(candidate).is_some(),
            scratch,
        )
    }

    /// `z`, from the cache if the candidate is in it.
    fn recall(&self, candidate: usize, tau: f64, scratch: &mut Scratch) {
        // Candidates count in 32 bits.
        let known = u32::try_from(candidate)
            .ok()
            .and_then(|candidate| self.cache.get(&candidate));
        let t = self.step.steps;
        match known {
            Some(z) if z.len() == t => scratch.z.copy_from_slice(z),
            Some(z) if z.len() + 1 == t => {
                scratch.z[..t - 1].copy_from_slice(z);
                scratch.z[t - 1] = tau;
            }
            _ => self
                .round
                .state
                .project(self.round.candidates.column(candidate), &mut scratch.z),
        }
    }

    /// What is known of every piece, without projecting it.
    fn recall_pieces(
        &self,
        candidate: usize,
        kept: Kept<'_>,
        position: usize,
        scratch: &mut Scratch,
    ) {
        let mut rest = self.round.candidates.column(candidate);
        scratch.parts.clear();
        let z_without = &kept.z_without[kept.layout.span(position)];
        for (piece, &z_without) in kept.layout.pieces(position).iter().zip(z_without) {
            let entries = rest.take_entries(piece.length as usize);
            let mut part = QueryPart::new(piece.place(), entries, &self.step.examples);
            part.z_without = z_without;
            scratch.parts.push(part);
        }
    }

    /// `z` from scratch, and what is known of every piece.
    fn project_pieces(&self, candidate: usize, scratch: &mut Scratch) {
        let t = self.step.steps;
        scratch.own_z.clear();
        scratch.parts.clear();
        scratch.z.fill(0.0);
        for segment in self.round.candidates.segments(candidate) {
            let start = scratch.own_z.len();
            scratch.own_z.resize(start + t, 0.0);
            self.round
                .state
                .project(segment.column, &mut scratch.own_z[start..]);
            kernels::add_scaled(&mut scratch.z, 1.0, &scratch.own_z[start..]);
            let place = (segment.query, segment.squared_norm);
            scratch
                .parts
                .push(QueryPart::new(place, segment.column, &self.step.examples));
        }
        for (place, part) in scratch.parts.iter_mut().enumerate() {
            part.z_without = without(&scratch.z, &scratch.own_z[place * t..][..t]);
        }
    }

    /// Level 3.
    fn by_queries(&self, contenders: &mut Vec<BoundedCandidate>) {
        let refined: Vec<Vec<f64>> = contenders
            .par_chunks(LANES)
            .map_init(
                || Scratch::new(self.step.steps),
                |scratch, block| self.bound_by_queries(block, scratch),
            )
            .collect();
        for (contender, bound) in contenders.iter_mut().zip(refined.concat()) {
            contender.bound = contender.bound.min(bound);
        }
        contenders.retain(|contender| self.passes(contender.bound));
    }

    pub(super) fn bound_by_queries(
        &self,
        block: &[BoundedCandidate],
        scratch: &mut Scratch,
    ) -> Vec<f64> {
        heed();
        let mut projected = Vec::with_capacity(block.len());
        let mut touched: Vec<Vec<usize>> = Vec::with_capacity(block.len());
        scratch.kept_z.clear();
        for contender in block {
            projected.push(self.project(contender, scratch));
            touched.push(scratch.parts.iter().map(|part| part.query).collect());
            scratch.kept_z.extend_from_slice(&scratch.z);
        }
        scratch.load_kept(0, block.len());
        let by_ranges = |(projected, contender): (&Projected, &BoundedCandidate)| {
            projected.touched.min(contender.touched)
        };
        let by_ranges: Vec<f64> = projected.iter().zip(block).map(by_ranges).collect();
        let mut bounds = by_ranges.clone();
        for (query, terms) in self.step.queries.iter().enumerate() {
            let (zf, zg) = along_both(self.step.f(query), self.step.g(query), &scratch.z_lanes);
            for (lane, bound) in bounds.iter_mut().enumerate() {
                if touched[lane].binary_search(&query).is_err() {
                    let along = (zf[lane], zg[lane]);
                    let whole = &projected[lane].whole;
                    *bound += bounds::untouched_exactly(whole, terms, along, self.step.lambda);
                }
            }
        }
        for (lane, bound) in bounds.iter_mut().enumerate() {
            if self.passes(*bound) {
                let z = &scratch.kept_z[lane * self.step.steps..][..self.step.steps];
                let whole = &projected[lane].whole;
                *bound += self.touched_exactly(block[lane].candidate, z, whole) - by_ranges[lane];
            }
        }
        bounds
    }

    /// What is gained in touched queries, by (*): O(t) for each of their examples.
    fn touched_exactly(&self, candidate: u32, z: &[f64], whole: &Whole) -> f64 {
        let (candidates, state) = (self.round.candidates, self.round.state);
        if candidates.sole_query(candidate as usize).is_some() {
            return 0.0;
        }
        let mut z_without = vec![0.0; z.len()];
        let (mut v, mut touched) = (Vec::new(), 0.0);
        for segment in candidates.segments(candidate as usize) {
            let range = state.queries().range(segment.query);
            v.clear();
            v.resize(range.len(), -segment.mean);
            for (row, value) in segment.column.iter() {
                v[row - range.start] = value - segment.mean;
            }
            state.project(segment.column, &mut z_without);
            for (own, z) in z_without.iter_mut().zip(z) {
                *own = z - *own;
            }
            let [a, b, c, d] =
                sums_of_query(&state.query_matrices(segment.query), z, &z_without, &v);
            let slack = (whole.pivot(self.step.lambda) - b).max(self.step.lambda);
            let beta = (whole.rho - a) / slack;
            touched += beta * (2.0 * c - beta * d);
        }
        touched
    }
}

/// `a_Q`, `b_Q`, `c_Q` and `d_Q` of one candidate.
#[multiversion::multiversion(targets = "simd")]
fn sums_of_query(query: &QueryMatrices<'_>, z: &[f64], z_without: &[f64], v: &[f64]) -> [f64; 4] {
    let (mut a, mut b, mut c, mut d) = (0.0, 0.0, 0.0, 0.0);
    for (example, (&v, &p)) in v.iter().zip(query.holdout).enumerate() {
        let row = example * query.stride..example * query.stride + z.len();
        let u = v - kernels::dot(&query.phi[row.clone()], z);
        let tu = v - kernels::dot(&query.held[row], z_without);
        a += u * p;
        b += u * tu;
        c += p * tu;
        d += tu * tu;
    }
    [a, b, c, d]
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
