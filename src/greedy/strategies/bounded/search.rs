//! The search of one step: candidates that may still win rise from level to level.

use std::borrow::Cow;
use std::ops::Range;

use rayon::prelude::*;

use super::bounds::{self, Whole};
use super::residual::{Residual, Touched};
use super::step::{QueryTerms, RESOLVED, StepTerms};
use crate::greedy::Round;
use crate::greedy::strategies::layout::{self, Layout, Piece};
use crate::greedy::strategies::lowmem::{self, squares};
use crate::greedy::strategy::tie_limit;
use crate::linalg::kernels::{self, LANES, Lanes};
use crate::stop;

/// Most contenders that one task takes through a level.
const CHUNK: usize = 64;

/// Fewest tasks of a level with contenders enough.
const TASKS: usize = 32;

/// Candidates evaluated exactly without a threshold.
const ROUND: usize = 64;

/// Best candidates of a step that open the next one.
const LEADERS: usize = 8;

/// A candidate with an upper bound on its gain.
#[derive(Debug, Clone)]
pub(super) struct BoundedCandidate {
    pub(super) candidate: u32,
    /// At least its gain.
    pub(super) bound: f64,
    /// Present from level 1 on.
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

/// The gain by a candidate's residual and its `z`.
#[derive(Debug, Clone, Copy)]
pub(super) struct Projected {
    whole: Whole,
    /// The gain in touched queries.
    touched: f64,
    /// `2 beta_0 sum c_Q` without touched queries.
    linear: f64,
    /// `- (2 / s) sum x_Q w_Q` of resolved untouched queries.
    apart: f64,
    /// The largest `(1 + h_Q) x_Q^2` of them.
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

    /// Level 2: all queries are resolved, except a rest with this [`spread`](super::step::spread).
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
    pub(super) layout: &'a Layout,
    /// Candidates unavailable in this step, by position.
    pub(super) retired: Vec<bool>,
    /// A larger error cannot win.
    limit: f64,
    /// Errors of exactly evaluated candidates.
    judged: Vec<(f64, u32)>,
    /// The residual of each candidate.
    pub(super) residuals: &'a [Option<Box<Residual>>],
    /// Bytes that new residuals may take.
    pub(super) room: usize,
    /// Candidates that bounds dropped, with close bounds.
    pub(super) close: Vec<(f64, u32)>,
}

/// Residuals from this step that help the next, by candidate.
pub(super) type Kept = Vec<(u32, Residual)>;

/// A contender at level 2.
pub(super) struct AtLevel2<'a> {
    pub(super) bounded: BoundedCandidate,
    projected: Projected,
    theta: Cow<'a, [f64]>,
    pieces: &'a [Piece],
}

/// The findings of levels 1 and 2 about some contenders.
#[derive(Default)]
pub(super) struct Risen<'a> {
    /// Candidates for level 2.
    pub(super) contenders: Vec<AtLevel2<'a>>,
    /// The number of candidates left by level 1.
    passed: usize,
    /// Candidates left by level 2.
    pub(super) left: Vec<BoundedCandidate>,
    /// Candidates dropped by level 1.
    dropped: Vec<(f64, u32)>,
    kept: Kept,
}

impl<'a> Risen<'a> {
    /// Adds a candidate to level 2 if it passes level 1.
    fn add(
        &mut self,
        search: &PruningSearch<'a>,
        bound: f64,
        candidate: u32,
        projected: Projected,
        theta: Cow<'a, [f64]>,
    ) {
        if !search.may_win(bound) {
            self.dropped.push((bound, candidate));
            return;
        }
        self.contenders.push(AtLevel2 {
            bounded: BoundedCandidate::new(candidate, bound),
            projected,
            theta,
            pieces: search.layout.pieces(candidate as usize),
        });
    }
}

impl AtLevel2<'_> {
    #[inline(always)]
    fn resolve(&mut self, step: &StepTerms, query: usize, (w, x): (f64, f64)) {
        if !layout::touches(self.pieces, query) {
            self.projected
                .resolve(&step.queries[query], step.lambda, (w, x));
        }
    }
}

impl<'a> PruningSearch<'a> {
    pub(super) fn new(
        round: &'a Round<'a>,
        step: &'a StepTerms,
        layout: &'a Layout,
        eligible: &[u32],
    ) -> Self {
        let mut retired = vec![true; round.candidates.len()];
        for &candidate in eligible {
            retired[candidate as usize] = false;
        }
        Self {
            round,
            step,
            layout,
            retired,
            limit: f64::INFINITY,
            judged: Vec::new(),
            residuals: &[],
            room: 0,
            close: Vec::new(),
        }
    }

    /// The errors of evaluated `eligible` candidates; the others cannot win, so they have NaN.
    pub(super) fn errors(self, eligible: &[u32]) -> Vec<f64> {
        let mut errors = vec![f64::NAN; eligible.len()];
        for (error, candidate) in self.judged {
            if let Ok(place) = eligible.binary_search(&candidate) {
                errors[place] = error;
            }
        }
        errors
    }

    /// Candidates evaluated exactly so far.
    pub(super) fn evaluated(&self) -> usize {
        self.judged.len()
    }

    /// Whether a candidate is out: selected, or evaluated already.
    pub(super) fn out(&self, candidate: u32) -> bool {
        self.retired[candidate as usize]
            || self.judged.iter().any(|&(_, judged)| judged == candidate)
    }

    /// Whether a candidate with a gain of at most `bound` may still win.
    pub(super) fn may_win(&self, bound: f64) -> bool {
        let least = self.step.error - bound - self.step.slop(bound);
        least <= self.limit || least.is_nan()
    }

    /// Takes the least error that any rank has evaluated. Every rank calls this equally often in a step.
    pub(super) fn share(&mut self) {
        self.limit = self.round.peers.least(self.limit);
    }

    /// Evaluates candidates exactly.
    pub(super) fn evaluate(&mut self, candidates: Vec<u32>) {
        let errors = lowmem::errors(self.round, &candidates);
        for (candidate, error) in candidates.into_iter().zip(errors) {
            self.limit = self.limit.min(tie_limit(error));
            self.judged.push((error, candidate));
        }
    }

    /// Candidates without a bound.
    pub(super) fn unbounded(&self, sample: &[u32]) -> Vec<BoundedCandidate> {
        let fresh = sample.iter().filter(|&&candidate| !self.out(candidate));
        let unbounded = |&candidate| BoundedCandidate::new(candidate, f64::INFINITY);
        fresh.map(unbounded).collect()
    }

    /// The best evaluated candidates, which open the next step, and if they are few the closest dropped ones.
    pub(super) fn leaders(&mut self) -> Vec<u32> {
        self.judged
            .sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        self.close
            .sort_unstable_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        let all = self.judged.iter().chain(&self.close);
        // One of them is about to be selected.
        all.map(|&(_, candidate)| candidate)
            .take(LEADERS + 1)
            .collect()
    }

    /// Levels 1 to 3, after level 0. Returns the numbers of candidates alive before level 0 and after levels 0 to
    /// 2, and the residuals for the next step.
    pub(super) fn finish(
        &mut self,
        mut contenders: Vec<BoundedCandidate>,
        passed: [usize; 2],
    ) -> (Vec<usize>, Kept) {
        let mut alive = passed.map(|passed| self.judged.len() + passed).to_vec();
        if self.judged.is_empty() {
            // No candidate opened the step: the best bounds set the threshold.
            self.evaluate_best(&mut contenders, ROUND);
        }
        self.share();
        let before = self.judged.len();
        let (mut contenders, kept) = self.rise(contenders, &mut alive);
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
        let first = first.map(|contender| contender.candidate);
        self.evaluate(first.collect());
        contenders.retain(|contender| self.may_win(contender.bound));
        contenders.sort_unstable_by(falling);
    }

    /// Level 1 for candidates without a residual in level 0, and level 2 for all. Adds the number alive between
    /// them; returns the residuals that fit into the room.
    fn rise(
        &mut self,
        contenders: Vec<BoundedCandidate>,
        alive: &mut Vec<usize>,
    ) -> (Vec<BoundedCandidate>, Kept) {
        let (known, fresh): (Vec<_>, Vec<_>) =
            contenders.into_iter().partition(|c| c.projected.is_some());
        let mut room = self.room;
        let sized = |contender: BoundedCandidate| {
            let bytes = self.residual_bytes(contender.candidate);
            let kept = bytes.is_some_and(|bytes| bytes <= room);
            room -= bytes.filter(|_| kept).unwrap_or(0);
            (contender, kept)
        };
        let fresh: Vec<(BoundedCandidate, bool)> = fresh.into_iter().map(sized).collect();
        let task = |count: usize| (count / TASKS).clamp(LANES, CHUNK);
        let of_known = known.par_chunks(task(known.len())).map(|chunk| {
            let blocks = chunk.chunks(LANES).map(|block| self.at_level_2(block));
            self.level_2(blocks.collect())
        });
        let of_fresh = fresh.par_chunks(task(fresh.len())).map(|chunk| {
            let blocks = chunk.chunks(LANES).map(|block| self.level_1(block));
            self.level_2(blocks.collect())
        });
        let all: Vec<Risen<'_>> = of_known.chain(of_fresh).collect();
        let (mut passed, mut left, mut kept) = (self.judged.len(), Vec::new(), Kept::new());
        for risen in all {
            passed += risen.passed;
            left.extend(risen.left);
            kept.extend(risen.kept);
            self.close.extend(risen.dropped);
        }
        alive.push(passed);
        (left, kept)
    }

    /// Bytes of a candidate's residual; `None` for candidates of one query, which keep none.
    fn residual_bytes(&self, candidate: u32) -> Option<usize> {
        let (candidates, candidate) = (self.round.candidates, candidate as usize);
        if candidates.sole_query(candidate).is_some() {
            return None;
        }
        let pieces = self.layout.pieces(candidate).iter();
        let rows = pieces.map(|piece| candidates.queries().range(piece.query as usize).len());
        Some(Residual::bytes_of(rows.sum(), self.round.state.capacity()))
    }

    /// The sums of a candidate with one query: without the query the feature has no weight.
    pub(super) fn only_touched(&self, candidate: usize) -> Option<Touched> {
        let (candidates, holdout) = (self.round.candidates, self.round.state.holdout());
        candidates.sole_query(candidate).map(|_| {
            let column = candidates.column(candidate);
            let c = kernels::sparse_dot(column.rows, column.values, holdout);
            Touched { gain: 0.0, c }
        })
    }

    /// Level 1 without a residual of up to eight candidates, each with a mark whether to keep its residual.
    pub(super) fn level_1(&self, block: &[(BoundedCandidate, bool)]) -> Risen<'a> {
        let (candidates, state) = (self.round.candidates, self.round.state);
        let mut risen = Risen::default();
        if stop::requested() {
            return risen;
        }
        let columns = block
            .iter()
            .map(|(own, _)| candidates.column(own.candidate as usize));
        let z = state.coordinates(&columns.collect::<Vec<_>>());
        let explained = squares(&z);
        let thetas = state.thetas(z);
        let mut room = [Vec::new(), Vec::new()];
        for (lane, (contender, kept)) in block.iter().enumerate() {
            let theta: Vec<[f64; 1]> = thetas.iter().map(|theta| [theta[lane]]).collect();
            let numbers = (explained[lane], &theta[..]);
            let candidate = contender.candidate;
            let (projected, mut residual) =
                self.projected(candidate as usize, *kept, numbers, &mut room);
            let theta = theta.as_flattened().to_vec();
            if *kept {
                residual.theta.clone_from(&theta);
                risen.kept.push((candidate, residual));
            }
            let bound = contender.bound.min(projected.bound(self.step));
            risen.add(self, bound, candidate, projected, theta.into());
        }
        risen
    }

    fn projected(
        &self,
        candidate: usize,
        kept: bool,
        (z_squared, theta): (f64, &[[f64; 1]]),
        room: &mut [Vec<[f64; 1]>; 2],
    ) -> (Projected, Residual) {
        let (candidates, state) = (self.round.candidates, self.round.state);
        let column = candidates.column(candidate);
        let pieces = self.layout.pieces(candidate);
        let products = bounds::read(column, pieces, self.step);
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
                let first = residual.add(state, &segment, theta, room);
                touched.add(residual.of_query(first, state, &whole, segment.query));
            }
            touched
        });
        residual.used = self.step.at.steps;
        let projected = Projected::new(self.step, whole, products.c, &touched);
        (projected, residual)
    }

    /// Level 2 of some contenders: resolves some queries first and then some more.
    pub(super) fn level_2(&self, blocks: Vec<Risen<'a>>) -> Risen<'a> {
        let mut risen = Risen::default();
        let mut contenders = Vec::new();
        for block in blocks {
            risen.passed += block.contenders.len();
            risen.kept.extend(block.kept);
            risen.dropped.extend(block.dropped);
            contenders.extend(block.contenders);
        }
        let order = &self.step.sums.order;
        let mut thetas = vec![[0.0; LANES]; self.step.at.steps];
        let mut done = 0;
        for (end, rest) in RESOLVED.into_iter().zip(self.step.sums.rests) {
            let end = order.len().min(end);
            for block in contenders.chunks_mut(LANES) {
                self.resolve(block, done..end, &mut thetas);
            }
            for contender in &mut contenders {
                let bound = contender.projected.bound_with(self.step, rest);
                contender.bounded.bound = contender.bounded.bound.min(bound);
            }
            contenders.retain(|contender| self.may_win(contender.bounded.bound));
            done = end;
        }
        risen.left = contenders
            .into_iter()
            .map(|contender| contender.bounded)
            .collect();
        risen
    }

    /// Up to eight contenders of level 0, each with its `theta`.
    pub(super) fn at_level_2(&self, block: &[BoundedCandidate]) -> Risen<'a> {
        let mut risen = Risen::default();
        let state = self.round.state;
        let kept = |own: &BoundedCandidate| {
            let kept = self.residuals.get(own.candidate as usize);
            kept.and_then(|kept| Some(&kept.as_ref()?.theta[..]))
        };
        let mut thetas = Vec::new();
        if block.iter().any(|own| kept(own).is_none()) {
            let candidates = self.round.candidates;
            let columns = block
                .iter()
                .map(|own| candidates.column(own.candidate as usize));
            thetas = state.thetas(state.coordinates(&columns.collect::<Vec<_>>()));
        }
        for (lane, own) in block.iter().enumerate() {
            let found = || thetas.iter().map(|theta| theta[lane]).collect();
            let theta = kept(own).map_or_else(found, Cow::Borrowed);
            risen.add(self, own.bound, own.candidate, own.projected(), theta);
        }
        risen
    }

    /// Resolves queries, by their places in the order, for up to eight candidates; `thetas`: `t` lanes.
    fn resolve(&self, block: &mut [AtLevel2<'_>], places: Range<usize>, thetas: &mut [Lanes]) {
        thetas.fill([0.0; LANES]);
        for (lane, contender) in block.iter().enumerate() {
            for (lanes, &theta) in thetas.iter_mut().zip(&*contender.theta) {
                lanes[lane] = theta;
            }
        }
        for place in places {
            let (w, x) = along_both(&self.step.resolved[place], thetas);
            let query = self.step.sums.order[place];
            for (lane, contender) in block.iter_mut().enumerate() {
                contender.resolve(self.step, query, (w[lane], x[lane]));
            }
        }
    }
}

/// `z . f_Q` and `z . g_Q` for eight candidates, from `X_{S,Q}' p_Q` and `X_{S,Q}' T_Q p_Q`.
#[multiversion::multiversion(targets = "simd")]
fn along_both(products: &[(u32, [f64; 2])], thetas: &[Lanes]) -> (Lanes, Lanes) {
    let (mut zf, mut zg) = ([0.0; LANES], [0.0; LANES]);
    for &(step, [f, g]) in products {
        let theta = &thetas[step as usize];
        for lane in 0..LANES {
            zf[lane] += theta[lane] * f;
            zg[lane] += theta[lane] * g;
        }
    }
    (zf, zg)
}
