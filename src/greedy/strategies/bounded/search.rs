//! The search of one step: candidates that may still win climb from level to level.

use rayon::prelude::*;

use super::bounds::{self, QueryPart, Whole};
use super::residual::{Residual, Touched};
use super::step::{
    ALL_G, FIRST, FIRST_G, LEADING, OWN_G, Products, QueryTerms, R, Rest, StepTerms,
};
use crate::data::Column;
use crate::greedy::Round;
use crate::greedy::strategies::lowmem;
use crate::greedy::strategy::tie_limit;
use crate::interrupt::heed;
use crate::kernels::{self, LANES, Lanes};

/// Contenders that one task takes through a level.
const CHUNK: usize = 64;

/// Candidates evaluated exactly when no threshold is known.
const ROUND: usize = 64;

/// Contenders from which on leading queries are multiplied with all examples.
const MANY: usize = 256;

/// Best candidates of a step that open the next one.
const LEADERS: usize = 8;

/// A candidate with an upper bound on its gain.
#[derive(Debug, Clone)]
pub(super) struct BoundedCandidate {
    pub(super) candidate: u32,
    /// No less than its gain.
    pub(super) bound: f64,
    /// If there may be something kept of it: which of the candidates of several queries it is, and
    /// how many rows the queries have that it touches.
    pub(super) kept: Option<(u32, u32)>,
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
            kept: None,
            projected: None,
        }
    }

    /// What level 1 found.
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
    pub(super) z: Vec<f64>,
    /// `z_-` of one query, or `z_Q` of every touched one.
    pub(super) own_z: Vec<f64>,
    pub(super) parts: Vec<QueryPart>,
    pub(super) z_lanes: Vec<Lanes>,
}

impl Scratch {
    pub(super) fn new(steps: usize) -> Self {
        Self {
            z: vec![0.0; steps],
            own_z: Vec::new(),
            parts: Vec::new(),
            z_lanes: vec![[0.0; LANES]; steps],
        }
    }

    /// Puts the `z` of some candidates side by side.
    fn load(&mut self, climbers: &[Climber]) {
        self.z_lanes.fill([0.0; LANES]);
        for (lane, climber) in climbers.iter().enumerate() {
            for (lanes, &z) in self.z_lanes.iter_mut().zip(&climber.z) {
                lanes[lane] = z;
            }
        }
    }
}

/// What a candidate's residual and its `z` tell.
#[derive(Debug, Clone, Copy)]
pub(super) struct Projected {
    pub(super) whole: Whole,
    /// What is gained in touched queries.
    touched: f64,
    /// `- 2 beta_0 z . G`, touched queries left out.
    linear: f64,
    /// `sum kappa_Q` of untouched queries that are not told apart.
    kappa: f64,
    /// Bound on the [`bounds::fourth_order`].
    fourth: f64,
    /// `- (2 / s) sum x_Q w_Q` of untouched queries that are told apart.
    apart: f64,
    /// The largest `(1 + h_Q) x_Q^2` of theirs.
    largest: f64,
}

impl Projected {
    /// From products with [`ALL_G`] and with those from [`FIRST_G`] on.
    #[inline(always)]
    pub(super) fn new(
        step: &StepTerms,
        whole: Whole,
        (along_g, first): (f64, [f64; FIRST]),
        touched: &Touched,
    ) -> Self {
        let beta_0 = whole.rho / whole.pivot(step.lambda);
        Self {
            whole,
            touched: touched.gain,
            linear: -2.0 * beta_0 * (along_g - touched.x),
            kappa: (step.all.kappa - touched.kappa).max(0.0),
            fourth: step.fourth_order_by_first(&whole, first),
            apart: 0.0,
            largest: 0.0,
        }
    }

    /// Level 1.
    #[inline(always)]
    pub(super) fn bound(&self, step: &StepTerms) -> f64 {
        let second = bounds::second_order(&self.whole, step, self.kappa);
        self.touched + self.linear + second + self.fourth
    }

    /// Levels 2 and 3: all queries but `rest` are told apart.
    pub(super) fn bound_with(&self, step: &StepTerms, rest: &Rest) -> f64 {
        let largest = self.largest.max(rest.g_squared * self.whole.z_squared);
        let fourth = bounds::fourth_order(&self.whole, step, largest);
        let second = bounds::second_order(&self.whole, step, rest.kappa.min(self.kappa));
        self.touched + self.linear + self.apart + second + fourth.min(self.fourth)
    }

    /// Finds `x_Q` of the first of the leading queries by a pass over the column.
    fn tell_first(
        &mut self,
        step: &StepTerms,
        leading: &[Products],
        column: (Column<'_>, &[usize]),
    ) {
        let sum =
            self.whole.z_squared * step.rests[0].spread + squares_of_first(step, leading, column);
        let fourth = bounds::fourth_order(&self.whole, step, sum);
        self.fourth = self.fourth.min(fourth);
    }

    /// Tells an untouched query apart.
    #[inline(always)]
    fn tell_apart(&mut self, terms: &QueryTerms, lambda: f64, (w, x): (f64, f64)) {
        self.apart -= 2.0 * x * w / self.whole.pivot(lambda);
        self.largest = self.largest.max((1.0 + terms.h) * x * x);
        self.kappa = (self.kappa - terms.kappa).max(0.0);
    }
}

/// `sum h_Q x_Q^2` of the first of the leading queries that the column does not touch.
#[multiversion::multiversion(targets = "simd")]
fn squares_of_first(
    step: &StepTerms,
    leading: &[Products],
    (column, touched): (Column<'_>, &[usize]),
) -> f64 {
    let mut products = [0.0; LEADING[0]];
    for (row, value) in column.iter() {
        for (sum, product) in products.iter_mut().zip(&leading[row]) {
            *sum += value * product;
        }
    }
    let first = step.order.iter().zip(products);
    let untouched = first.filter(|(query, _)| touched.binary_search(query).is_err());
    untouched
        .map(|(&query, x)| step.queries[query].h * x * x)
        .sum()
}

/// Tells the first of the leading queries apart: O(t) each.
#[multiversion::multiversion(targets = "simd")]
fn tell_leading_apart(step: &StepTerms, climber: &mut Climber) {
    for &query in step.order.iter().take(LEADING[1]) {
        let w = kernels::dot(&climber.z, step.f(query));
        let x = kernels::dot(&climber.z, step.g(query));
        climber.tell_apart(step, query, (w, x));
    }
}

/// `|z - z_Q|^2`
#[inline(always)]
pub(super) fn without(z: &[f64], own: &[f64]) -> f64 {
    z.iter()
        .zip(own)
        .map(|(z, own)| (z - own) * (z - own))
        .sum()
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
    judged: Vec<(f64, u32)>,
    /// By [`BoundedCandidate::kept`].
    pub(super) residuals: &'a [Option<Box<Residual>>],
    /// Bytes that news may take.
    pub(super) room: usize,
}

/// What a step found out and the next can use, of candidates of several queries.
#[derive(Debug, Default)]
pub(super) struct News {
    pub(super) residuals: Vec<(u32, Residual)>,
    /// `z` of those that reached level 2 and had none.
    pub(super) z: Vec<(u32, Vec<f64>)>,
}

/// A contender from level 2 on.
struct Climber {
    contender: BoundedCandidate,
    projected: Projected,
    z: Vec<f64>,
    /// Ascending.
    touched: Vec<usize>,
}

impl Climber {
    fn touches(&self, query: usize) -> bool {
        self.touched.binary_search(&query).is_ok()
    }

    #[inline(always)]
    fn tell_apart(&mut self, step: &StepTerms, query: usize, (w, x): (f64, f64)) {
        if !self.touches(query) {
            self.projected
                .tell_apart(&step.queries[query], step.lambda, (w, x));
        }
    }

    /// Levels 2 and 3.
    fn bound(&self, step: &StepTerms, rest: &Rest) -> f64 {
        self.contender
            .bound
            .min(self.projected.bound_with(step, rest))
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
        }
    }

    /// The errors of `eligible` candidates that were evaluated; the others can not win.
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

    /// Whether a candidate is out, as it is selected or opened the step.
    pub(super) fn out(&self, candidate: u32) -> bool {
        self.retired[candidate as usize]
            || self.judged.iter().any(|&(_, judged)| judged == candidate)
    }

    /// Whether a candidate whose gain is at most `bound` may still win.
    pub(super) fn passes(&self, bound: f64) -> bool {
        let least = self.step.error - bound - self.step.slop(bound);
        least <= self.limit || least.is_nan()
    }

    /// Learns the least error that any rank has evaluated. Every rank calls this equally often in a
    /// step.
    pub(super) fn share(&mut self) {
        self.limit = self.round.candidates.peers().least(self.limit);
    }

    /// Evaluates candidates exactly.
    pub(super) fn evaluate(&mut self, candidates: &[u32]) {
        let errors = lowmem::errors(self.round, candidates);
        for (&candidate, error) in candidates.iter().zip(errors) {
            self.limit = self.limit.min(tie_limit(error));
            self.judged.push((error, candidate));
        }
    }

    /// Candidates that no bound has been computed for.
    pub(super) fn unbounded(&self, sample: &[u32]) -> Vec<BoundedCandidate> {
        let fresh = sample.iter().filter(|&&candidate| !self.out(candidate));
        let unbounded = |&candidate| BoundedCandidate::new(candidate, f64::INFINITY);
        fresh.map(unbounded).collect()
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
        let t = self.step.steps;
        scratch.own_z.clear();
        scratch.z.fill(0.0);
        for segment in self.round.candidates.segments(candidate as usize) {
            let start = scratch.own_z.len();
            scratch.own_z.resize(start + t, 0.0);
            let own = &mut scratch.own_z[start..];
            self.round.state.project(segment.column, own);
            kernels::add_scaled(&mut scratch.z, 1.0, own);
        }
        for (place, z_without) in z_without.iter_mut().enumerate() {
            *z_without = without(&scratch.z, &scratch.own_z[place * t..][..t]);
        }
        kernels::dot(&scratch.z, &scratch.z)
    }

    /// Levels 1 to 4, after `passed` candidates have passed level 0. Returns how many candidates
    /// were alive after levels 0 to 3, and what the next step can use.
    pub(super) fn finish(
        &mut self,
        mut contenders: Vec<BoundedCandidate>,
        passed: usize,
    ) -> (Vec<usize>, News) {
        let mut alive = vec![self.judged.len() + passed];
        if self.judged.is_empty() {
            // Nothing to open with: the best bounds give the threshold.
            self.lead(&mut contenders, ROUND);
        }
        self.share();
        let before = self.judged.len();
        let residuals = self.meet(&mut contenders);
        alive.push(before + contenders.len());
        let z = self.by_leading(&mut contenders);
        alive.push(before + contenders.len());
        self.by_queries(&mut contenders);
        alive.push(before + contenders.len());
        self.lead(&mut contenders, LANES);
        self.share();
        while !contenders.is_empty() {
            self.lead(&mut contenders, LANES);
        }
        (alive, News { residuals, z })
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

    /// Level 1 for those that level 0 had no residual of; returns the residuals that there is room for.
    fn meet(&mut self, contenders: &mut Vec<BoundedCandidate>) -> Vec<(u32, Residual)> {
        for contender in contenders.iter_mut().filter(|c| c.projected.is_none()) {
            contender.kept = contender.kept.filter(|&(_, rows)| {
                let left = self.room.checked_sub(Residual::bytes_of(rows as usize));
                self.room = left.unwrap_or(self.room);
                left.is_some()
            });
        }
        let found: Vec<Vec<(u32, Residual)>> = contenders
            .par_chunks_mut(CHUNK)
            .map_init(
                || Scratch::new(self.step.steps),
                |scratch, chunk| {
                    heed();
                    let new = chunk.iter_mut().filter(|c| c.projected.is_none());
                    let met = new.filter_map(|contender| {
                        let (projected, residual) = self.project(contender, scratch);
                        contender.bound = contender.bound.min(projected.bound(self.step));
                        contender.projected = Some(Box::new(projected));
                        Some((contender.kept?.0, residual))
                    });
                    met.collect()
                },
            )
            .collect();
        contenders.retain(|contender| self.passes(contender.bound));
        found.into_iter().flatten().collect()
    }

    /// Level 1 from scratch: O(t) for every row of the queries that the candidate touches. The
    /// residual is whole if it may be kept.
    pub(super) fn project(
        &self,
        contender: &BoundedCandidate,
        scratch: &mut Scratch,
    ) -> (Projected, Residual) {
        let (candidates, state) = (self.round.candidates, self.round.state);
        let candidate = contender.candidate as usize;
        let Scratch {
            z, own_z, parts, ..
        } = scratch;
        state.project(candidates.column(candidate), z);
        parts.clear();
        for segment in candidates.segments(candidate) {
            let place = (segment.query, segment.squared_norm);
            parts.push(QueryPart::new(place, segment.column, &self.step.examples));
        }
        let whole = Whole {
            squared_norm: candidates.squared_norm(candidate),
            z_squared: kernels::dot(z, z),
            rho: parts.iter().map(|part| part.sums[R]).sum(),
        };
        let (mut touched, mut residual) = (Touched::default(), Residual::default());
        if candidates.sole_query(candidate).is_some() {
            // Without its only query the feature has no weight.
            touched.x = parts.iter().map(|part| part.sums[OWN_G]).sum();
        } else {
            own_z.resize(z.len(), 0.0);
            for (segment, part) in candidates.segments(candidate).zip(&*parts) {
                if contender.kept.is_none() {
                    residual.clear();
                }
                let first = residual.add(state, &segment, z, &mut own_z[..z.len()]);
                touched.add(residual.of_query(first, state, self.step, (&whole, part)));
            }
        }
        residual.used = self.step.steps;
        let projected = Projected::new(self.step, whole, along(parts), &touched);
        (projected, residual)
    }

    /// Level 2; returns `z` that were not kept.
    fn by_leading(&self, contenders: &mut Vec<BoundedCandidate>) -> Vec<(u32, Vec<f64>)> {
        let leading = if contenders.len() > MANY {
            self.step.multiply_leading(self.round.state)
        } else {
            Vec::new()
        };
        let has_room = self.room >= contenders.len() * size_of::<f64>() * self.step.steps;
        let (left, z): (Vec<_>, Vec<_>) = contenders
            .par_chunks(CHUNK)
            .map_init(
                || Scratch::new(self.step.steps),
                |scratch, chunk| {
                    heed();
                    self.chunk_by_leading(chunk, (&leading, has_room), scratch)
                },
            )
            .unzip();
        *contenders = left.concat();
        z.concat()
    }

    pub(super) fn chunk_by_leading(
        &self,
        chunk: &[BoundedCandidate],
        (leading, has_room): (&[Products], bool),
        scratch: &mut Scratch,
    ) -> (Vec<BoundedCandidate>, Vec<(u32, Vec<f64>)>) {
        let order = &self.step.order;
        let mut climbers = Vec::new();
        let mut new = Vec::new();
        for contender in chunk {
            let touched = self.touched(contender.candidate);
            let mut projected = contender.projected();
            if !leading.is_empty() {
                let column = self.round.candidates.column(contender.candidate as usize);
                projected.tell_first(self.step, leading, (column, &touched));
                if !self.passes(projected.bound(self.step)) {
                    continue;
                }
            }
            let mut climber = self.climber(contender, projected, touched);
            let kept = contender.kept.filter(|_| has_room);
            if let Some((position, _)) = kept.filter(|_| self.kept_z(contender).is_none()) {
                new.push((position, climber.z.clone()));
            }
            tell_leading_apart(self.step, &mut climber);
            let rest = &self.step.rests[1];
            if self.passes(climber.bound(self.step, rest)) {
                climbers.push(climber);
            }
        }
        let more = &order[LEADING[1].min(order.len())..LEADING[2].min(order.len())];
        let rest = &self.step.rests[2];
        let blocks = climbers.chunks_mut(LANES);
        let left = blocks.flat_map(|block| self.tell_apart(block, more, rest, scratch));
        (left.collect(), new)
    }

    /// Level 3.
    fn by_queries(&self, contenders: &mut Vec<BoundedCandidate>) {
        let left: Vec<Vec<BoundedCandidate>> = contenders
            .par_chunks(LANES)
            .map_init(
                || Scratch::new(self.step.steps),
                |scratch, block| {
                    heed();
                    self.block_by_queries(block, scratch)
                },
            )
            .collect();
        *contenders = left.concat();
    }

    pub(super) fn block_by_queries(
        &self,
        block: &[BoundedCandidate],
        scratch: &mut Scratch,
    ) -> Vec<BoundedCandidate> {
        let climbers = block.iter().map(|contender| {
            let touched = self.touched(contender.candidate);
            self.climber(contender, contender.projected(), touched)
        });
        let mut climbers: Vec<Climber> = climbers.collect();
        let order = &self.step.order;
        let more = &order[LEADING[2].min(order.len())..];
        self.tell_apart(&mut climbers, more, &Rest::default(), scratch)
    }

    /// A contender with its `z`.
    fn climber(
        &self,
        contender: &BoundedCandidate,
        projected: Projected,
        touched: Vec<usize>,
    ) -> Climber {
        let z = self.kept_z(contender).map(<[f64]>::to_vec);
        let project = || {
            let mut z = vec![0.0; self.step.steps];
            let column = self.round.candidates.column(contender.candidate as usize);
            self.round.state.project(column, &mut z);
            z
        };
        Climber {
            contender: contender.clone(),
            projected,
            z: z.unwrap_or_else(project),
            touched,
        }
    }

    /// `z` if it is kept.
    fn kept_z(&self, contender: &BoundedCandidate) -> Option<&[f64]> {
        let residual = self.residuals[contender.kept?.0 as usize].as_deref()?;
        (residual.z.len() == self.step.steps).then_some(&residual.z[..])
    }

    /// The queries that a candidate touches, ascending.
    fn touched(&self, candidate: u32) -> Vec<usize> {
        let segments = self.round.candidates.segments(candidate as usize);
        segments.map(|segment| segment.query).collect()
    }

    /// Tells more queries apart, all but `rest`, for up to eight candidates; returns those that pass.
    fn tell_apart(
        &self,
        block: &mut [Climber],
        queries: &[usize],
        rest: &Rest,
        scratch: &mut Scratch,
    ) -> Vec<BoundedCandidate> {
        scratch.load(block);
        for &query in queries {
            let (w, x) = along_both(self.step.f(query), self.step.g(query), &scratch.z_lanes);
            for (lane, climber) in block.iter_mut().enumerate() {
                climber.tell_apart(self.step, query, (w[lane], x[lane]));
            }
        }
        let bounded = block.iter().map(|climber| BoundedCandidate {
            bound: climber.bound(self.step, rest),
            projected: Some(Box::new(climber.projected)),
            ..climber.contender.clone()
        });
        bounded
            .filter(|contender| self.passes(contender.bound))
            .collect()
    }
}

/// `z . G`, and the `x_Q` of the first queries.
#[inline(always)]
pub(super) fn along(parts: &[QueryPart]) -> (f64, [f64; FIRST]) {
    let (mut along_g, mut first) = (0.0, [0.0; FIRST]);
    for part in parts {
        along_g += part.sums[ALL_G];
        for (x, &part) in first.iter_mut().zip(&part.sums[FIRST_G..]) {
            *x += part;
        }
    }
    (along_g, first)
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
