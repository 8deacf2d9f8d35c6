//! Exact selection at sparse cost (algorithms, section 5): the result of
//! `dense`, from bounds.
//!
//! A candidate touches few queries. What it gains there and in all others is
//! bounded from above by four bounds, each dearer and tighter than the one
//! before (`bounds.rs`):
//!
//! | level | what is exact | cost a candidate |
//! |---|---|---|
//! | 0 | norms; `v_Q . p_Q`, `v_Q . r_Q` | O(nnz); O(1) a query for all columns seen in that query alone |
//! | 1 | `z`; `n_Q`, `c_Q` in touched queries | O(t nnz + t touched) |
//! | 2 | `z . f_Q`, `z . g_Q` in every query | O(t q) |
//! | 3 | everything: equation (*) | O(t m) |
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
mod terms;

use rayon::prelude::*;

use super::lanes::{LANES, Lanes};
use super::{Contest, Entrant, Round, Strategy, Work, lowmem};
use crate::candidates::Candidates;
use crate::kernels;
use bounds::{Touch, Whole};
use layout::{Layout, Piece};
use terms::StepTerms;

/// Candidates whose level-0 bound one task computes.
const CHUNK: usize = 1024;

/// Candidates evaluated exactly in a round, before the threshold is looked at again.
const ROUND: usize = 64;

/// Best candidates of a step that open the next one.
const LEADERS: usize = 16;

/// Exact selection from bounds.
#[derive(Debug)]
pub struct Bounded {
    layout: Layout,
    /// `|z|^2` of `layout.several`, as of `synced` steps.
    z_squared: Vec<f64>,
    synced: usize,
    /// The best candidates of the last step, by error.
    leaders: Vec<u32>,
    work: Work,
}

/// A candidate with an upper bound on its gain.
#[derive(Debug, Clone, Copy)]
struct Suspect {
    bound: f64,
    candidate: u32,
}

impl Bounded {
    /// Sorts the candidates by where they occur.
    pub fn new(candidates: &Candidates) -> Self {
        let layout = Layout::new(candidates);
        Self {
            z_squared: vec![0.0; layout.several.len()],
            layout,
            synced: 0,
            leaders: Vec::new(),
            work: Work::default(),
        }
    }

    /// Bytes taken besides the state, for candidates with `pieces` pairs of candidate and
    /// touched query.
    pub fn memory(shape: &super::Shape) -> u64 {
        let block = size_of::<Lanes>() * (4 * shape.k + shape.largest_query);
        Layout::memory(shape.candidates, shape.queries, shape.pieces)
            + StepTerms::memory(shape.rows, shape.queries, shape.k)
            + (shape.candidates * (8 + 2 * size_of::<Suspect>()) + shape.threads * block) as u64
    }
}

impl Strategy for Bounded {
    fn propose(&mut self, round: &Round<'_>) -> Contest {
        if round.state.folds().is_some() {
            // The quantities that the bounds are made of have lost too many digits.
            let all = round.eligible_candidates();
            self.work = Work {
                evaluated: all.len(),
                alive: vec![all.len(); 4],
            };
            return lowmem::judge(round, &all);
        }
        let step = StepTerms::new(round.state);
        let mut hunt = Hunt {
            round,
            step: &step,
            contest: Contest::default(),
            judged: Vec::new(),
        };
        hunt.evaluate(&self.open(round));
        let suspects = match round.sample {
            Some(sample) => Hunt::unbounded(sample),
            None => self.by_norms(&hunt),
        };
        let alive = hunt.finish(suspects);
        self.work = Work {
            evaluated: hunt.judged.len(),
            alive,
        };
        self.leaders = hunt.leaders();
        hunt.contest
    }

    fn work(&self) -> Work {
        self.work.clone()
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
    fn by_norms(&mut self, hunt: &Hunt<'_>) -> Vec<Suspect> {
        let mut suspects = self.several_by_norms(hunt);
        let single = hunt.step.queries.par_iter().enumerate();
        let found: Vec<Vec<Suspect>> = single
            .map(|(query, _)| self.single_by_norms(hunt, query))
            .collect();
        suspects.extend(found.into_iter().flatten());
        suspects
    }

    /// Candidates of one query. The bound for all of them comes first: it grows with the
    /// norm, and the longest columns are first.
    fn single_by_norms(&self, hunt: &Hunt<'_>, query: usize) -> Vec<Suspect> {
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
                rho += value * example.r;
                along += value * (example.all_g - example.own_g);
            }
            let z_squared = terms.phi * terms.phi * squared_norm;
            let whole = Whole {
                squared_norm,
                z_squared,
                rho,
            };
            // The true s is no less, so beta_0 is no larger.
            let beta_0 = rho.abs() / whole.pivot(step.lambda);
            let bound = 2.0 * beta_0 * along.abs() + bounds::remainder(&whole, step, beta_0);
            if hunt.passes(bound) && !hunt.round.retired[candidate as usize] {
                suspects.push(Suspect { bound, candidate });
            }
        }
        suspects
    }

    fn several_by_norms(&mut self, hunt: &Hunt<'_>) -> Vec<Suspect> {
        let catch_up = hunt.step.steps - self.synced > 1;
        let advance = hunt.step.steps > self.synced;
        self.synced = hunt.step.steps;
        let layout = &self.layout;
        let chunks = self.z_squared.par_chunks_mut(CHUNK).enumerate();
        let found: Vec<Vec<Suspect>> = chunks
            .map(|(chunk, z_squared)| {
                let mut room = Vec::new();
                let mut suspects = Vec::new();
                for (place, z_squared) in z_squared.iter_mut().enumerate() {
                    let position = chunk * CHUNK + place;
                    let candidate = layout.several[position];
                    if catch_up {
                        *z_squared = hunt.z_squared(candidate);
                    }
                    let (tau, along_g) = walk(hunt, candidate, layout.pieces(position), &mut room);
                    if advance && !catch_up {
                        *z_squared += tau * tau;
                    }
                    let bound = several_by_norms(hunt, candidate, (*z_squared, along_g), &room);
                    if hunt.passes(bound) && !hunt.round.retired[candidate as usize] {
                        suspects.push(Suspect { bound, candidate });
                    }
                }
                suspects
            })
            .collect();
        found.concat()
    }
}

/// Passes over a column once: what the bounds need of every piece into `touches`; returns
/// `tau = phi . v` and `z . G`.
fn walk(hunt: &Hunt<'_>, candidate: u32, pieces: &[Piece], touches: &mut Vec<Touch>) -> (f64, f64) {
    let column = hunt.round.candidates.column(candidate as usize);
    let (mut rows, mut values) = (column.rows, column.values);
    let (mut tau, mut along_g) = (0.0, 0.0);
    touches.clear();
    for piece in pieces {
        let (piece_rows, later_rows) = rows.split_at(piece.length as usize);
        let (piece_values, later_values) = values.split_at(piece.length as usize);
        (rows, values) = (later_rows, later_values);
        let mut touch = Touch::new(piece.query as usize, piece.squared_norm);
        for (&row, &value) in piece_rows.iter().zip(piece_values) {
            let example = &hunt.step.examples[row as usize];
            touch.add(value, example);
            tau += value * example.phi;
            along_g += value * example.all_g;
        }
        touches.push(touch);
    }
    (tau, along_g)
}

/// Level 0 for a candidate that touches two queries or more.
fn several_by_norms(
    hunt: &Hunt<'_>,
    candidate: u32,
    (z_squared, along_g): (f64, f64),
    touches: &[Touch],
) -> f64 {
    let step = hunt.step;
    let squared_norm = hunt.round.candidates.squared_norm(candidate as usize);
    let rho = touches.iter().map(|touch| touch.along_r).sum();
    let whole = Whole {
        squared_norm,
        z_squared,
        rho,
    };
    let beta_0 = rho / whole.pivot(step.lambda);
    let lengths = (z_squared.sqrt(), beta_0);
    let mut bound = bounds::remainder(&whole, step, beta_0) - 2.0 * beta_0 * along_g;
    for touch in touches {
        let terms = &step.queries[touch.query];
        bound += bounds::touched_by_norms(&whole, touch, terms, lengths, step.lambda);
    }
    bound
}

/// The search of one step.
struct Hunt<'a> {
    round: &'a Round<'a>,
    step: &'a StepTerms,
    contest: Contest,
    /// Errors of what has been evaluated exactly.
    judged: Vec<(f64, u32)>,
}

impl Hunt<'_> {
    /// Whether a candidate whose gain is at most `bound` may still win.
    fn passes(&self, bound: f64) -> bool {
        self.step.error - bound - self.step.slop <= self.contest.limit()
    }

    /// Evaluates candidates exactly.
    fn evaluate(&mut self, candidates: &[u32]) {
        let errors = lowmem::errors(self.round, candidates);
        for (&candidate, error) in candidates.iter().zip(errors) {
            let feature = self.round.candidates.feature(candidate as usize);
            self.contest.enter(Entrant { error, feature });
            self.judged.push((error, candidate));
        }
    }

    /// Candidates that no bound has been computed for.
    fn unbounded(sample: &[u32]) -> Vec<Suspect> {
        let unbounded = |&candidate: &u32| Suspect {
            bound: f64::INFINITY,
            candidate,
        };
        sample.iter().map(unbounded).collect()
    }

    /// The best that were evaluated.
    fn leaders(&mut self) -> Vec<u32> {
        self.judged
            .sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        self.judged
            .iter()
            .take(LEADERS + 1)
            .map(|&(_, candidate)| candidate)
            .collect()
    }

    fn z_squared(&self, candidate: u32) -> f64 {
        let mut z = vec![0.0; self.step.steps];
        self.round
            .state
            .project(self.round.candidates.column(candidate as usize), &mut z);
        kernels::dot(&z, &z)
    }

    /// Levels 1 to 3; returns how many candidates were alive after levels 0, 1 and 2.
    fn finish(&mut self, mut suspects: Vec<Suspect>) -> Vec<usize> {
        let opened: std::collections::HashSet<u32> = self
            .judged
            .iter()
            .map(|&(_, candidate)| candidate)
            .collect();
        suspects.retain(|suspect| !opened.contains(&suspect.candidate));
        let mut alive = vec![opened.len() + suspects.len()];
        self.refine(&mut suspects, Self::by_projection);
        alive.push(self.judged.len() + suspects.len());
        self.lead(&mut suspects, LANES);
        self.refine(&mut suspects, Self::by_queries);
        alive.push(self.judged.len() + suspects.len());
        while !suspects.is_empty() {
            self.lead(&mut suspects, ROUND);
        }
        alive
    }

    /// Evaluates the `count` suspects of the largest bounds and drops those that are out.
    fn lead(&mut self, suspects: &mut Vec<Suspect>, count: usize) {
        suspects.sort_unstable_by(|a, b| {
            b.bound
                .total_cmp(&a.bound)
                .then(a.candidate.cmp(&b.candidate))
        });
        let first: Vec<u32> = suspects
            .drain(..count.min(suspects.len()))
            .map(|suspect| suspect.candidate)
            .collect();
        self.evaluate(&first);
        suspects.retain(|suspect| self.passes(suspect.bound));
    }

    /// Replaces bounds by tighter ones and drops those that are out.
    fn refine(
        &self,
        suspects: &mut Vec<Suspect>,
        level: fn(&Self, &[Suspect], &mut Room) -> Vec<f64>,
    ) {
        let refined: Vec<Vec<f64>> = suspects
            .par_chunks(LANES)
            .map_init(
                || Room::new(self.step.steps),
                |room, block| level(self, block, room),
            )
            .collect();
        for (suspect, bound) in suspects.iter_mut().zip(refined.concat()) {
            suspect.bound = suspect.bound.min(bound);
        }
        suspects.retain(|suspect| self.passes(suspect.bound));
    }

    /// Level 1.
    fn by_projection(&self, block: &[Suspect], room: &mut Room) -> Vec<f64> {
        block
            .iter()
            .map(|suspect| self.project(suspect.candidate as usize, room).bound())
            .collect()
    }

    /// A candidate's `z`, left in `room`, and what follows from it.
    fn project(&self, candidate: usize, room: &mut Room) -> Projected {
        let (candidates, state, step) = (self.round.candidates, self.round.state, self.step);
        let t = step.steps;
        room.parts.clear();
        room.touches.clear();
        room.z.fill(0.0);
        for segment in candidates.segments(candidate) {
            let start = room.parts.len();
            room.parts.resize(start + t, 0.0);
            state.project(segment.column, &mut room.parts[start..]);
            kernels::add_scaled(&mut room.z, 1.0, &room.parts[start..]);
            let mut touch = Touch::new(segment.query, segment.squared_norm);
            for (row, value) in segment.column.iter() {
                touch.add(value, &step.examples[row]);
            }
            room.touches.push(touch);
        }
        let whole = Whole {
            squared_norm: candidates.squared_norm(candidate),
            z_squared: kernels::dot(&room.z, &room.z),
            rho: room.touches.iter().map(|touch| touch.along_r).sum(),
        };
        let alone = candidates.sole_query(candidate).is_some();
        combine(step, &whole, alone, room)
    }

    /// Level 2.
    fn by_queries(&self, block: &[Suspect], room: &mut Room) -> Vec<f64> {
        let mut projected = Vec::with_capacity(block.len());
        room.z_lanes.fill([0.0; LANES]);
        let mut touched: Vec<Vec<usize>> = Vec::with_capacity(block.len());
        for (lane, suspect) in block.iter().enumerate() {
            projected.push(self.project(suspect.candidate as usize, room));
            touched.push(room.touches.iter().map(|touch| touch.query).collect());
            for (lanes, &z) in room.z_lanes.iter_mut().zip(&room.z) {
                lanes[lane] = z;
            }
        }
        let mut bounds: Vec<f64> = projected
            .iter()
            .map(|projected| projected.touched)
            .collect();
        for (query, terms) in self.step.queries.iter().enumerate() {
            let (zf, zg) = along_both(self.step.f(query), self.step.g(query), &room.z_lanes);
            for (lane, bound) in bounds.iter_mut().enumerate() {
                if touched[lane].binary_search(&query).is_err() {
                    let whole = &projected[lane].whole;
                    let along = (zf[lane], zg[lane]);
                    *bound += bounds::untouched_exactly(whole, terms, along, self.step.lambda);
                }
            }
        }
        bounds
    }
}

/// Room for one block of suspects.
#[derive(Debug)]
struct Room {
    z: Vec<f64>,
    /// `z_Q` of every touched query.
    parts: Vec<f64>,
    touches: Vec<Touch>,
    z_lanes: Vec<Lanes>,
}

impl Room {
    fn new(steps: usize) -> Self {
        Self {
            z: vec![0.0; steps],
            parts: Vec::new(),
            touches: Vec::new(),
            z_lanes: vec![[0.0; LANES]; steps],
        }
    }
}

/// What a candidate's `z` tells.
#[derive(Debug, Clone, Copy)]
struct Projected {
    whole: Whole,
    /// Bound on what is gained in touched queries.
    touched: f64,
    /// Level 1's bound on what is gained in the others.
    untouched: f64,
}

impl Projected {
    fn bound(&self) -> f64 {
        self.touched + self.untouched
    }
}

/// Level 1 from `z` and its parts.
#[multiversion::multiversion(targets = "simd")]
fn combine(step: &StepTerms, whole: &Whole, alone: bool, room: &mut Room) -> Projected {
    let t = step.steps;
    let Room {
        z, parts, touches, ..
    } = room;
    let mut touched = 0.0;
    let mut along_g = kernels::dot(z, &step.g);
    for (place, touch) in touches.iter().enumerate() {
        let (f, g) = (step.f(touch.query), step.g(touch.query));
        along_g -= kernels::dot(z, g);
        if alone {
            // Without its only query the feature has no weight.
            continue;
        }
        let without = &mut parts[place * t..][..t];
        for (part, z) in without.iter_mut().zip(&*z) {
            *part = z - *part;
        }
        let n = whole.rho - touch.along_r + kernels::dot(without, f);
        let c = touch.along_p - kernels::dot(without, g);
        let z_squared = kernels::dot(without, without);
        let outside = (whole.squared_norm - touch.squared_norm).max(0.0);
        let terms = &step.queries[touch.query];
        touched +=
            bounds::touched_by_projection(outside, touch, terms, (n, c, z_squared), step.lambda);
    }
    let beta_0 = whole.rho / whole.pivot(step.lambda);
    let untouched = bounds::remainder(whole, step, beta_0) - 2.0 * beta_0 * along_g;
    Projected {
        whole: *whole,
        touched,
        untouched,
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
