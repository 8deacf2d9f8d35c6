//! The search of one step: candidates that may still win rise from level to level.

use rayon::prelude::*;

use super::bounds::{self, Whole};
use super::residual::{Residual, Touched};
use super::step::{QueryTerms, RESOLVED, StepTerms};
use crate::greedy::Round;
use crate::greedy::strategies::layout::Piece;
use crate::greedy::strategies::lowmem::{self, Subject};
use crate::greedy::strategy::tie_limit;
use crate::linalg::kernels::{self, LANES, Lanes};
use crate::stop;

/// Contenders that one task takes through a level, at most.
const CHUNK: usize = 64;

/// Tasks of a level, at least, where there are contenders enough.
const TASKS: usize = 32;

/// Candidates evaluated exactly when no threshold is known.
const ROUND: usize = 64;

/// Best candidates of a step that open the next one.
const LEADERS: usize = 8;

/// A candidate with an upper bound on its gain.
#[derive(Debug, Clone)]
pub(super) struct BoundedCandidate {
    pub(super) candidate: u32,
    /// No less than its gain.
    pub(super) bound: f64,
    /// There from level 1 on.
    pub(super) projected: Option<Box<Projected>>,
}

impl BoundedCandidate {
    /// A candidate at level 0.
    #[inline(always)]
    pub(super) fn new(candidate: u32, bound: f64) -> Self {
        Self {
            candidate,
            bound,
            projected: None,
        }
    }

    /// The findings of level 1.
    ///
    /// # Panics
    /// Before level 1.
    fn projected(&self) -> Projected {
        *self.projected.as_deref().expect("level 1 comes before")
    }
}

/// Scratch for one task.
#[derive(Debug)]
pub(super) struct Scratch {
    z: Vec<f64>,
    /// `z_-` of one query.
    z_without: Vec<f64>,
    pieces: Vec<Piece>,
}

impl Scratch {
    pub(super) fn new(steps: usize) -> Self {
        Self {
            z: vec![0.0; steps],
            z_without: vec![0.0; steps],
            pieces: Vec::new(),
        }
    }
}

/// The gain that a candidate's residual and its `z` tell.
#[derive(Debug, Clone, Copy)]
pub(super) struct Projected {
    whole: Whole,
    /// The gain in touched queries.
    touched: f64,
    /// `2 beta_0 sum c_Q`, touched queries left out.
    linear: f64,
    /// `- (2 / s) sum x_Q w_Q` of untouched queries that are resolved.
    apart: f64,
    /// The largest `(1 + h_Q) x_Q^2` of theirs.
    largest: f64,
}

impl Projected {
    /// `c`: `sum_Q c_Q`, all queries.
    #[inline(always)]
    pub(super) fn new(step: &StepTerms, whole: Whole, c: f64, touched: &Touched) -> Self {
        Self {
            whole,
            touched: touched.gain,
            linear: 2.0 * whole.weight(step.lambda) * (c - touched.c),
            apart: 0.0,
            largest: 0.0,
        }
    }

    /// Level 1.
    #[inline(always)]
    pub(super) fn bound(&self, step: &StepTerms) -> f64 {
        self.touched + self.linear + bounds::untouched(&self.whole, step)
    }

    /// Level 2: all queries are resolved but those with this
    /// [`spread`](super::step::spread).
    #[inline(always)]
    pub(super) fn bound_with(&self, step: &StepTerms, rest: f64) -> f64 {
        let apart = self.apart + bounds::fourth_order(&self.whole, step, self.largest);
        self.touched + self.linear + apart + bounds::rest(&self.whole, step, rest)
    }

    /// Resolves an untouched query.
    #[inline(always)]
    fn resolve(&mut self, terms: &QueryTerms, lambda: f64, (w, x): (f64, f64)) {
        self.apart -= 2.0 * x * w / self.whole.pivot(lambda);
        self.largest = self.largest.max((1.0 + terms.h) * x * x);
    }
}

/// The search of one step.
pub(super) struct PruningSearch<'a> {
    pub(super) round: &'a Round<'a>,
    pub(super) step: &'a StepTerms,
    /// Candidates that the step may not take, by position.
    pub(super) retired: Vec<bool>,
    /// An error above this can not win.
    limit: f64,
    /// Errors of what has been evaluated exactly.
    judged: Vec<(f64, Subject)>,
    /// The residual of each candidate.
    pub(super) residuals: &'a [Option<Box<Residual>>],
    /// Bytes that new residuals may take.
    pub(super) room: usize,
    /// Candidates that bounds have dropped, with bounds that came close.
    pub(super) close: Vec<(f64, u32)>,
}

/// Residuals that a step found and the next can use, by candidate.
pub(super) type Kept = Vec<(u32, Residual)>;

/// A contender at level 2.
struct AtLevel2 {
    bounded: BoundedCandidate,
    projected: Projected,
    z: Vec<f64>,
    /// Ascending.
    touched: Vec<usize>,
}

impl AtLevel2 {
    fn touches(&self, query: usize) -> bool {
        self.touched.binary_search(&query).is_ok()
    }

    #[inline(always)]
    fn resolve(&mut self, step: &StepTerms, query: usize, (w, x): (f64, f64)) {
        if !self.touches(query) {
            self.projected
                .resolve(&step.queries[query], step.lambda, (w, x));
        }
    }
}

impl<'a> PruningSearch<'a> {
    pub(super) fn new(round: &'a Round<'a>, step: &'a StepTerms, eligible: &[u32]) -> Self {
        let mut retired = vec![true; round.candidates.len()];
        for &candidate in eligible {
            retired[candidate as usize] = false;
        }
        Self {
            round,
            step,
            retired,
            limit: f64::INFINITY,
            judged: Vec::new(),
            residuals: &[],
            room: 0,
            close: Vec::new(),
        }
    }

    /// The errors of `eligible` candidates that were evaluated; the others can not win.
    pub(super) fn errors(self, eligible: &[u32]) -> Vec<f64> {
        let mut errors = vec![f64::NAN; eligible.len()];
        for (error, subject) in self.judged {
            if let Ok(place) = eligible.binary_search(&subject.candidate) {
                errors[place] = error;
            }
        }
        errors
    }

    /// Candidates evaluated exactly so far.
    pub(super) fn evaluated(&self) -> usize {
        self.judged.len()
    }

    /// Whether a candidate is out, as it is selected or opened the step.
    pub(super) fn out(&self, candidate: u32) -> bool {
        self.retired[candidate as usize]
            || self
                .judged
                .iter()
                .any(|(_, judged)| judged.candidate == candidate)
    }

    /// Whether a candidate whose gain is at most `bound` may still win.
    pub(super) fn passes(&self, bound: f64) -> bool {
        let least = self.step.error - bound - self.step.slop(bound);
        least <= self.limit || least.is_nan()
    }

    /// Learns the least error that any rank has evaluated. Every rank calls this equally often in a
    /// step.
    pub(super) fn share(&mut self) {
        self.limit = self.round.peers.least(self.limit);
    }

    /// Evaluates candidates exactly.
    pub(super) fn evaluate(&mut self, mut subjects: Vec<Subject>) {
        let errors = lowmem::errors_of_few(self.round, &mut subjects);
        for (subject, error) in subjects.into_iter().zip(errors) {
            self.limit = self.limit.min(tie_limit(error));
            self.judged.push((error, subject));
        }
    }

    /// Candidates that no bound has been computed for.
    pub(super) fn unbounded(&self, sample: &[u32]) -> Vec<BoundedCandidate> {
        let fresh = sample.iter().filter(|&&candidate| !self.out(candidate));
        let unbounded = |&candidate| BoundedCandidate::new(candidate, f64::INFINITY);
        fresh.map(unbounded).collect()
    }

    /// The best that were evaluated, for the next step to open with, and those that came close where
    /// these are few.
    pub(super) fn leaders(&mut self) -> Vec<Subject> {
        self.judged
            .sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.candidate.cmp(&b.1.candidate)));
        self.close
            .sort_unstable_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        let judged = self.judged.iter().map(|(_, subject)| subject.clone());
        let close = self
            .close
            .iter()
            .map(|&(_, candidate)| Subject::new(candidate));
        // One of them is about to be selected.
        judged.chain(close).take(LEADERS + 1).collect()
    }

    /// Levels 1 to 3, after so many candidates have been read and have passed level 0. Returns how many
    /// candidates were alive before level 0 and after levels 0 to 2, and what the next step can use.
    pub(super) fn finish(
        &mut self,
        mut contenders: Vec<BoundedCandidate>,
        passed: [usize; 2],
    ) -> (Vec<usize>, Kept) {
        let mut alive = passed.map(|passed| self.judged.len() + passed).to_vec();
        if self.judged.is_empty() {
            // Nothing to open with: the best bounds give the threshold.
            self.evaluate_best(&mut contenders, ROUND);
        }
        self.share();
        let before = self.judged.len();
        let kept = self.level_1(&mut contenders);
        alive.push(before + contenders.len());
        self.level_2(&mut contenders);
        alive.push(before + contenders.len());
        self.evaluate_best(&mut contenders, LANES);
        self.share();
        while !contenders.is_empty() {
            self.evaluate_best(&mut contenders, LANES);
        }
        (alive, kept)
    }

    /// Evaluates the `count` contenders of the largest bounds and drops the contenders that are out.
    fn evaluate_best(&mut self, contenders: &mut Vec<BoundedCandidate>, count: usize) {
        let falling = |a: &BoundedCandidate, b: &BoundedCandidate| {
            let bounds = b.bound.total_cmp(&a.bound);
            bounds.then(a.candidate.cmp(&b.candidate))
        };
        if count < contenders.len() {
            contenders.select_nth_unstable_by(count, falling);
        }
        let first = contenders.drain(..count.min(contenders.len()));
        let first = first.map(|contender| Subject::new(contender.candidate));
        self.evaluate(first.collect());
        contenders.retain(|contender| self.passes(contender.bound));
        contenders.sort_unstable_by(falling);
    }

    /// Level 1 for those that level 0 had no residual of; returns the residuals that there is room for.
    fn level_1(&mut self, contenders: &mut Vec<BoundedCandidate>) -> Kept {
        let fresh = contenders.par_iter_mut().filter(|c| c.projected.is_none());
        let mut fresh: Vec<_> = fresh
            .map(|contender| (self.residual_bytes(contender.candidate), contender))
            .collect();
        let mut room = self.room;
        for (bytes, _) in &mut fresh {
            *bytes = bytes.filter(|&bytes| bytes <= room);
            room -= bytes.unwrap_or(0);
        }
        let task = (fresh.len() / TASKS).clamp(1, CHUNK);
        let kept: Vec<Kept> = fresh
            .par_chunks_mut(task)
            .map_init(
                || Scratch::new(self.step.at.steps),
                |scratch, chunk| {
                    if stop::requested() {
                        return Kept::new();
                    }
                    let met = chunk.iter_mut().filter_map(|(bytes, contender)| {
                        let candidate = contender.candidate;
                        let (projected, residual) =
                            self.project(candidate, bytes.is_some(), scratch);
                        contender.bound = contender.bound.min(projected.bound(self.step));
                        contender.projected = Some(Box::new(projected));
                        bytes.map(|_| (candidate, residual))
                    });
                    met.collect()
                },
            )
            .collect();
        let (left, dropped) = std::mem::take(contenders)
            .into_iter()
            .partition(|contender| self.passes(contender.bound));
        *contenders = left;
        let dropped: Vec<BoundedCandidate> = dropped;
        self.close
            .extend(dropped.iter().map(|c| (c.bound, c.candidate)));
        kept.into_iter().flatten().collect()
    }

    /// Bytes of a candidate's residual; none is kept of candidates of one query.
    fn residual_bytes(&self, candidate: u32) -> Option<usize> {
        let (candidates, candidate) = (self.round.candidates, candidate as usize);
        if candidates.sole_query(candidate).is_some() {
            return None;
        }
        let queries = candidates.queries();
        let segments = candidates.segments(candidate);
        let rows = segments.map(|segment| queries.range(segment.query).len());
        Some(Residual::bytes_of(rows.sum(), self.round.state.capacity()))
    }

    /// The sums of a candidate of one query there: without the query the feature has no weight.
    pub(super) fn only_touched(&self, candidate: usize) -> Option<Touched> {
        let (candidates, holdout) = (self.round.candidates, self.round.state.holdout());
        candidates.sole_query(candidate).map(|_| {
            let column = candidates.column(candidate);
            let c = kernels::sparse_dot(column.rows, column.values, holdout);
            Touched { gain: 0.0, c }
        })
    }

    /// Level 1 from scratch: O(t) for every row of the queries that the candidate touches. The
    /// residual is whole if it may be kept.
    pub(super) fn project(
        &self,
        candidate: u32,
        kept: bool,
        scratch: &mut Scratch,
    ) -> (Projected, Residual) {
        let (candidates, state) = (self.round.candidates, self.round.state);
        let candidate = candidate as usize;
        let Scratch {
            z,
            z_without,
            pieces,
        } = scratch;
        let column = candidates.column(candidate);
        state.project(column, z);
        pieces.clear();
        pieces.extend(candidates.segments(candidate).map(|s| Piece::new(&s)));
        let products = bounds::pass_over(column, pieces, self.step);
        let z_squared = kernels::dot(z, z);
        let whole = Whole {
            squared_norm: candidates.squared_norm(candidate),
            z_squared,
            z_least: z_squared,
            rho: products.rho,
            fourth: bounds::fourth_of(column, pieces, z_squared, self.step),
        };
        let mut residual = Residual::default();
        let touched = self.only_touched(candidate).unwrap_or_else(|| {
            let mut touched = Touched::default();
            for segment in candidates.segments(candidate) {
                if !kept {
                    residual.clear();
                }
                let first = residual.add(state, &segment, z, z_without);
                touched.add(residual.of_query(first, state, &whole, segment.query));
            }
            touched
        });
        if kept {
            residual.keep(z, state.capacity(), self.step.at.steps);
        }
        let projected = Projected::new(self.step, whole, products.c, &touched);
        (projected, residual)
    }

    /// Level 2: resolves queries, some first and then some more.
    fn level_2(&self, contenders: &mut Vec<BoundedCandidate>) {
        let task = (contenders.len() / TASKS).clamp(LANES, CHUNK);
        let left: Vec<Vec<BoundedCandidate>> = contenders
            .par_chunks(task)
            .map_init(
                || vec![[0.0; LANES]; self.step.at.steps],
                |z, chunk| {
                    if stop::requested() {
                        return Vec::new();
                    }
                    self.level_2_of(chunk, z)
                },
            )
            .collect();
        *contenders = left.concat();
    }

    /// Takes some contenders through level 2; `z`: `t` lanes.
    pub(super) fn level_2_of(
        &self,
        chunk: &[BoundedCandidate],
        z: &mut [Lanes],
    ) -> Vec<BoundedCandidate> {
        let order = &self.step.sums.order;
        let mut contenders: Vec<AtLevel2> = chunk.iter().map(|c| self.at_level_2(c)).collect();
        let mut done = 0;
        for (end, rest) in RESOLVED.into_iter().zip(self.step.sums.rests) {
            let end = order.len().min(end);
            for block in contenders.chunks_mut(LANES) {
                self.resolve(block, order.get(done..end).unwrap_or_default(), z);
            }
            for contender in &mut contenders {
                let bound = contender.projected.bound_with(self.step, rest);
                contender.bounded.bound = contender.bounded.bound.min(bound);
            }
            contenders.retain(|contender| self.passes(contender.bounded.bound));
            done = end;
        }
        let left = contenders.into_iter().map(|contender| BoundedCandidate {
            projected: Some(Box::new(contender.projected)),
            ..contender.bounded
        });
        left.collect()
    }

    /// A contender with its `z`.
    fn at_level_2(&self, contender: &BoundedCandidate) -> AtLevel2 {
        let candidate = contender.candidate as usize;
        let kept = self.residuals.get(candidate).and_then(Option::as_deref);
        let kept = kept.and_then(|residual| residual.z(self.step.at.steps));
        let project = || {
            let mut z = vec![0.0; self.step.at.steps];
            let column = self.round.candidates.column(candidate);
            self.round.state.project(column, &mut z);
            z
        };
        AtLevel2 {
            bounded: contender.clone(),
            projected: contender.projected(),
            z: kept.map_or_else(project, <[f64]>::to_vec),
            touched: self.touched(contender.candidate),
        }
    }

    /// The queries that a candidate touches, ascending.
    fn touched(&self, candidate: u32) -> Vec<usize> {
        let segments = self.round.candidates.segments(candidate as usize);
        segments.map(|segment| segment.query).collect()
    }

    /// Resolves queries for up to eight candidates; `z_lanes`: `t` lanes.
    fn resolve(&self, block: &mut [AtLevel2], queries: &[usize], z_lanes: &mut [Lanes]) {
        z_lanes.fill([0.0; LANES]);
        for (lane, contender) in block.iter().enumerate() {
            for (lanes, &z) in z_lanes.iter_mut().zip(&contender.z) {
                lanes[lane] = z;
            }
        }
        let products = self.round.state.products();
        for &query in queries {
            let (f, g) = products.of(query);
            let (w, x) = along_both(f, g, z_lanes);
            for (lane, contender) in block.iter_mut().enumerate() {
                contender.resolve(self.step, query, (w[lane], x[lane]));
            }
        }
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
