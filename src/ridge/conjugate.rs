//! Conjugate gradients for dual systems, several side by side, without ever forming one.
//!
//! A [`Task`] is a system `(K + lambda I) a = y` on the rows that it does not leave out, for `K = X^ X^'` and a `y` that is centred, as is everything on the way, unless rows are
//! differences. The preconditioner is the part of the system in which a query meets itself, decomposed once for every `lambda`; of
//! queries over [`LARGEST_BLOCK`] examples it is the diagonal, of queries that a task cuts a number.
//! The heaviest columns are added to it (module `heavy`), unless a task cuts queries.
//!
//! Tasks run in lanes: every vector has a number a lane for each row, so that a round of iterations
//! reads the entries of the column classes twice for all lanes together. A lane whose task has
//! ended takes the next task. Lanes never meet and sums are taken in one order, so that the bits
//! of a task depend neither on threads nor on the tasks beside it.

use std::ops::Range;

use rayon::prelude::*;

use super::design::Design;
use super::factor::{Cholesky, Eigen, Square};
use super::heavy::Heavy;
use super::solver::LARGEST_BLOCK;
use crate::lambda::Lambda;
use crate::linalg::centring::centre_rows;
use crate::linalg::kernels::LANES;

/// Norm of the residual to reach, as a share of that of the labels.
pub const TOLERANCE: f64 = 1e-10;

/// The relative residual at which models end that only predict the queries they leave out, to compare
/// ridge parameters.
pub const HOLDOUT_TOLERANCE: f64 = 1e-6;

/// Most iterations.
pub const ITERATIONS: usize = 5_000;

/// Growth of the residual, from its least, that only rounding explains: the error falls in each iteration,
/// and the residual is at most the root of the condition number further out, of which a double has 1e16.
const DIVERGED: f64 = 1e8;

/// Rows that one task of a thread works on, at least.
const ROWS: usize = 256;

/// How conjugate gradients ended.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Convergence {
    /// Iterations taken.
    pub iterations: usize,
    /// Norm of the residual `y - (K + lambda I) a`, as a share of that of the labels: predictions for
    /// the training rows are off by no more than this share of them. Rounding keeps it above
    /// [`TOLERANCE`] where the unit is some 1e8 times `lambda` or more. At 1 nothing was learnt: all
    /// weights are 0.
    pub residual: f64,
}

/// A solution by conjugate gradients that is not as near as it ought to be.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Shortfall {
    /// The ridge parameter.
    pub lambda: Lambda,
    /// Whether hold-out predictions are meant, not the model of all data.
    pub held_out: bool,
    /// The precision that was reached.
    pub convergence: Convergence,
    /// The residual that was to be reached: [`TOLERANCE`] or [`HOLDOUT_TOLERANCE`].
    pub tolerance: f64,
}

impl Convergence {
    /// Whether the residual is within [`TOLERANCE`].
    pub fn is_converged(&self) -> bool {
        self.is_within(TOLERANCE)
    }

    /// Whether the residual is a number within `tolerance`.
    pub fn is_within(&self, tolerance: f64) -> bool {
        self.residual <= tolerance
    }
}

/// A system to solve.
#[derive(Debug, Clone, Copy)]
pub(super) struct Task<'a> {
    pub(super) lambda: f64,
    /// The rows that are left out, ascending. What is left of a query that they cut is centred
    /// anew.
    pub(super) out: &'a [usize],
    /// Coefficients to begin with, `m`, if not 0.
    pub(super) start: Option<&'a [f64]>,
}

impl Task<'_> {
    /// The system of all rows.
    pub(super) fn whole(lambda: f64) -> Self {
        Self {
            lambda,
            out: &[],
            start: None,
        }
    }
}

/// The outcome of a task.
#[derive(Debug, Clone)]
pub(super) struct Solved {
    /// `K a` on the rows that were left out, in order; all coefficients `a` if there are none.
    pub(super) values: Vec<f64>,
    pub(super) convergence: Convergence,
}

/// The parts of the systems in which a query meets itself, for any `lambda`.
#[derive(Debug)]
pub(super) struct Preconditioner {
    blocks: Vec<Block>,
    heavy: Heavy,
    /// A shift of the size of the diagonal of `K`.
    shift: f64,
}

#[derive(Debug)]
pub(super) enum Block {
    Decomposed(Eigen),
    Diagonal(Vec<f64>),
}

impl Preconditioner {
    /// `shift` is of the size of the diagonal of `K`: what the preconditioner has for directions
    /// that are not centred, none of which is met.
    pub(super) fn new(design: &Design<'_>, shift: f64) -> Self {
        let block = |query: usize| {
            let size = design.queries().range(query).len();
            let small = (2..=LARGEST_BLOCK).contains(&size);
            let square = small.then(|| design.query_kernel(query, shift));
            square.and_then(|square| Eigen::new(&square)).map_or_else(
                || Block::Diagonal(design.query_diagonal(query)),
                Block::Decomposed,
            )
        };
        let queries = (0..design.queries().len()).into_par_iter();
        let blocks = queries.map(block).collect();
        Self {
            blocks,
            heavy: Heavy::new(design),
            shift,
        }
    }

    /// The matrices whose factors the heaviest columns need, for each ridge parameter of `tasks`.
    fn inner(&self, design: &Design<'_>, tasks: &[Task<'_>]) -> Vec<(f64, Square)> {
        if self.heavy.classes.is_empty() {
            return Vec::new();
        }
        let mut lambdas: Vec<f64> = tasks.iter().map(|task| task.lambda).collect();
        lambdas.sort_by(f64::total_cmp);
        lambdas.dedup();
        let inner = |lambda: f64| (lambda, self.heavy.inner(design, &self.blocks, lambda));
        lambdas.into_iter().map(inner).collect()
    }
}

impl Block {
    /// Turns `A`, `rows` high, into an `A V` with `V V' = (M + lambda I)^-1` for the block `M`.
    pub(super) fn halve(&self, lambda: f64, rows: usize, columns: &mut [f64]) {
        match self {
            Self::Decomposed(eigen) => eigen.halve(lambda, rows, columns),
            Self::Diagonal(diagonal) => {
                for (column, diagonal) in columns.chunks_mut(rows).zip(diagonal) {
                    let half = (diagonal + lambda).sqrt().recip();
                    for value in column {
                        *value *= half;
                    }
                }
            }
        }
    }

    #[inline(always)]
    fn solve<const L: usize>(
        &self,
        lambdas: &[f64; L],
        right: &[[f64; L]],
        scaled: &mut [[f64; L]],
    ) {
        match self {
            Self::Decomposed(eigen) => eigen.solve_lanes(lambdas, right, scaled),
            Self::Diagonal(diagonal) => {
                for ((scaled, right), diagonal) in scaled.iter_mut().zip(right).zip(diagonal) {
                    *scaled = std::array::from_fn(|lane| right[lane] / (diagonal + lambdas[lane]));
                }
            }
        }
    }
}

/// Solves all `tasks` until the residual is within `tolerance`, and returns their results in order.
///
/// The residual that iterations carry along drifts from the true one. Where they differ, the
/// iterations begin anew from the coefficients found, as long as that halves the true residual.
pub(super) fn solve(
    design: &Design<'_>,
    blocks: &Preconditioner,
    y: &[f64],
    tasks: &[Task<'_>],
    tolerance: f64,
) -> Vec<Solved> {
    let system = System {
        design,
        blocks,
        inner: &blocks.inner(design, tasks),
        y,
        tasks,
        tolerance,
    };
    if tasks.len() == 1 {
        Run::<1>::new(system).finish()
    } else {
        Run::<LANES>::new(system).finish()
    }
}

/// The values that all lanes share.
#[derive(Debug, Clone, Copy)]
struct System<'a> {
    design: &'a Design<'a>,
    blocks: &'a Preconditioner,
    /// [`Heavy::inner`] by ridge parameter.
    inner: &'a [(f64, Square)],
    y: &'a [f64],
    tasks: &'a [Task<'a>],
    tolerance: f64,
}

/// `L` lanes at work. Vectors have a row for each example.
struct Run<'a, const L: usize> {
    system: System<'a>,
    /// Queries that tasks of threads work on.
    chunks: Vec<Range<usize>>,
    next: usize,
    lanes: [Option<Lane>; L],
    lambdas: [f64; L],
    /// Whether a lane leaves a row out, by row.
    out: Vec<[bool; L]>,
    /// Whether a lane leaves a part of a query out, by query.
    cut: Vec<[bool; L]>,
    coefficients: Vec<[f64; L]>,
    residual: Vec<[f64; L]>,
    /// The preconditioned residual.
    scaled: Vec<[f64; L]>,
    /// The part that the heaviest columns take off it, before the blocks.
    heavy: Vec<[f64; L]>,
    direction: Vec<[f64; L]>,
    /// `K` times the direction.
    product: Vec<[f64; L]>,
    /// Weights of the classes, on the way to the product.
    weights: Vec<[f64; L]>,
    solved: Vec<Option<Solved>>,
}

/// The task of a lane.
#[derive(Debug)]
struct Lane {
    task: usize,
    /// Norm of the labels that are not left out.
    norm: f64,
    /// Whether this round finds the true residual: the direction is the coefficients.
    checks: bool,
    /// The factor of the heaviest columns, unless the task cuts queries.
    factor: Option<Cholesky>,
    /// Whether the coefficients are still the start of the task.
    fresh: bool,
    /// True residual of the check before.
    before: f64,
    /// Residual times preconditioned residual.
    along: f64,
    /// The least norm of the residual since the last check.
    least: f64,
    iterations: usize,
    best: Solved,
}

/// The rows that lanes leave out, and by query the lanes that leave out a part of it.
#[derive(Debug, Clone, Copy)]
struct Out<'a, const L: usize> {
    rows: &'a [[bool; L]],
    cut: &'a [[bool; L]],
}

impl<const L: usize> Out<'_, L> {
    /// The rest of the values of a query in `lane`: centred anew, if the lane cuts the query.
    #[inline(always)]
    fn project(self, lane: usize, query: usize, range: Range<usize>, values: &mut [[f64; L]]) {
        let rows = &self.rows[range];
        let out = values.iter_mut().zip(rows).filter(|(_, row)| row[lane]);
        out.for_each(|(value, _)| value[lane] = 0.0);
        if self.cut[query][lane] {
            let kept = rows.iter().filter(|row| !row[lane]).count() as f64;
            let mean = values.iter().map(|value| value[lane]).sum::<f64>() / kept;
            for (value, row) in values.iter_mut().zip(rows) {
                value[lane] -= if row[lane] { 0.0 } else { mean };
            }
        }
    }
}

/// Some queries, and the coefficients, residuals and preconditioned residuals of their rows.
type Part<'a, const L: usize> = (Range<usize>, [&'a mut [[f64; L]]; 3]);

impl<'a, const L: usize> Run<'a, L> {
    fn new(system: System<'a>) -> Self {
        let queries = system.design.queries();
        let mut chunks: Vec<Range<usize>> = Vec::new();
        let mut rows = ROWS;
        for (query, range) in queries.ranges().enumerate() {
            match chunks.last_mut() {
                Some(chunk) if rows < ROWS => chunk.end = query + 1,
                _ => {
                    chunks.push(query..query + 1);
                    rows = 0;
                }
            }
            rows += range.len();
        }
        let zeros = || vec![[0.0; L]; system.y.len()];
        let classes = system.design.classes();
        Self {
            system,
            chunks,
            next: 0,
            lanes: std::array::from_fn(|_| None),
            lambdas: [1.0; L],
            out: vec![[false; L]; system.y.len()],
            cut: vec![[false; L]; queries.len()],
            coefficients: zeros(),
            residual: zeros(),
            scaled: zeros(),
            heavy: zeros(),
            direction: zeros(),
            product: zeros(),
            weights: vec![[0.0; L]; classes],
            solved: vec![None; system.tasks.len()],
        }
    }

    fn finish(mut self) -> Vec<Solved> {
        (0..L).for_each(|lane| self.refill(lane));
        self.turn([None; L]);
        while self.lanes.iter().any(Option::is_some) {
            self.round();
        }
        self.solved.into_iter().flatten().collect()
    }

    /// Gives `lane` the next task that has anything to solve.
    fn refill(&mut self, lane: usize) {
        self.lanes[lane] = None;
        while self.lanes[lane].is_none() && self.next < self.system.tasks.len() {
            let number = self.next;
            self.next += 1;
            self.begin(lane, number);
        }
        if self.lanes[lane].is_none() {
            self.coefficients.iter_mut().for_each(|row| row[lane] = 0.0);
        }
    }

    fn begin(&mut self, lane: usize, number: usize) {
        let System {
            design,
            y,
            blocks,
            inner,
            ..
        } = self.system;
        let task = self.system.tasks[number];
        self.lambdas[lane] = task.lambda;
        self.out.iter_mut().for_each(|out| out[lane] = false);
        task.out.iter().for_each(|&row| self.out[row][lane] = true);
        for (query, range) in design.queries().ranges().enumerate() {
            let left_out = self.out[range.clone()].iter().filter(|out| out[lane]);
            self.cut[query][lane] = (1..range.len()).contains(&left_out.count());
        }
        let whole = !self.cut.iter().any(|cut| cut[lane]);
        let start = |row: usize| task.start.map_or(0.0, |start| start[row]);
        for (row, label) in y.iter().enumerate() {
            self.coefficients[row][lane] = start(row);
            // Not needed before the next round.
            self.scaled[row][lane] = *label;
        }
        let out = Out {
            rows: &self.out,
            cut: &self.cut,
        };
        for (query, range) in design.queries().ranges().enumerate() {
            for values in [&mut self.coefficients, &mut self.scaled] {
                let own = &mut values[range.clone()];
                out.project(lane, query, range.clone(), own);
            }
        }
        let squares: f64 = self.scaled.iter().map(|y| y[lane] * y[lane]).sum();
        let length = match task.out.len() {
            0 => y.len(),
            rows => rows,
        };
        let best = |residual| Solved {
            values: vec![0.0; length],
            convergence: Convergence {
                iterations: 0,
                residual,
            },
        };
        if squares == 0.0 {
            self.solved[number] = Some(best(0.0));
            return;
        }
        let own = |(lambda, _): &&(f64, Square)| whole && *lambda == task.lambda;
        let factor = inner.iter().find(own).and_then(|(lambda, inner)| {
            let heavy = &blocks.heavy;
            heavy.factor(design, &blocks.blocks, *lambda, task.out, inner)
        });
        self.lanes[lane] = Some(Lane {
            task: number,
            norm: squares.sqrt(),
            checks: true,
            factor,
            fresh: task.start.is_some(),
            before: f64::INFINITY,
            along: 0.0,
            least: 0.0,
            iterations: 0,
            // The start: coefficients that are all 0.
            best: best(1.0),
        });
    }

    fn round(&mut self) {
        let design = self.system.design;
        design.kernel(&self.direction, &mut self.weights, &mut self.product);
        let curvature = self.curvature();
        let steps = std::array::from_fn(|lane| match &self.lanes[lane] {
            None => Some(0.0),
            Some(Lane { checks: true, .. }) => None,
            Some(Lane { along, .. }) => Some(along / curvature[lane]),
        });
        let squares = self.advance(&steps);
        self.correct();
        let along = self.along();
        let turns = std::array::from_fn(|lane| self.decide(lane, along[lane], squares[lane]));
        self.turn(turns);
    }

    /// How much of its direction before `lane` takes to the preconditioned residual, after `along` and
    /// `squares` of its residual; `None`: the coefficients are the direction, to check.
    fn decide(&mut self, number: usize, along: f64, squares: f64) -> Option<f64> {
        let lane = self.lanes[number].as_mut()?;
        let now = squares.sqrt();
        if !lane.checks {
            lane.iterations += 1;
            lane.least = lane.least.min(now);
            // Where it is not a number, or has grown, rounding has taken over.
            lane.checks = now <= self.system.tolerance * lane.norm
                || now.is_nan()
                || now > DIVERGED * lane.least
                || lane.iterations >= ITERATIONS;
            if lane.checks {
                return None;
            }
            let before = std::mem::replace(&mut lane.along, along);
            return Some(along / before);
        }
        let share = now / lane.norm;
        let fresh = std::mem::take(&mut lane.fresh);
        let closer = share < lane.best.convergence.residual;
        if fresh && !closer {
            // Nothing is a better start.
            self.coefficients
                .iter_mut()
                .for_each(|row| row[number] = 0.0);
            return None;
        }
        lane.best.convergence.iterations = lane.iterations;
        let halved = share < 0.5 * std::mem::replace(&mut lane.before, share);
        let ends = share <= self.system.tolerance || !halved || lane.iterations >= ITERATIONS;
        if !ends {
            lane.checks = false;
            lane.along = along;
            lane.least = now;
        }
        if closer {
            lane.best.convergence.residual = share;
            // Not before rounding or the end asks for them.
            self.record(number);
        }
        if !ends {
            return Some(0.0);
        }
        if let Some(lane) = self.lanes[number].take() {
            self.solved[lane.task] = Some(lane.best);
        }
        self.refill(number);
        None
    }

    /// Keeps the coefficients of a lane, or what they predict where nothing was learnt.
    fn record(&mut self, number: usize) {
        let Some(lane) = &mut self.lanes[number] else {
            return;
        };
        let out = self.system.tasks[lane.task].out;
        lane.best.values.clear();
        if out.is_empty() {
            let all = self.coefficients.iter().map(|row| row[number]);
            lane.best.values.extend(all);
        }
        let products = out.iter().map(|&row| self.product[row][number]);
        lane.best.values.extend(products);
    }

    /// `d . (K + lambda I) d` of the directions `d`, which are 0 where a query is left out.
    fn curvature(&self) -> [f64; L] {
        let chunks = self.direction.par_chunks(ROWS);
        let sums: Vec<[f64; L]> = chunks
            .zip(self.product.par_chunks(ROWS))
            .map(|(direction, product)| curvature(&self.lambdas, direction, product))
            .collect();
        total(&sums)
    }

    /// The residual times the preconditioned one.
    fn along(&self) -> [f64; L] {
        let chunks = self.residual.par_chunks(ROWS);
        let sums: Vec<[f64; L]> = chunks
            .zip(self.scaled.par_chunks(ROWS))
            .map(|(residual, scaled)| curvature(&[0.0; L], residual, scaled))
            .collect();
        total(&sums)
    }

    /// Brings the heaviest columns into the preconditioned residual, which knows the blocks.
    fn correct(&mut self) {
        let System { design, blocks, .. } = self.system;
        let heaviest = &blocks.heavy.classes;
        let lanes = self.lanes.each_ref();
        let factors = lanes.map(|lane| lane.as_ref().and_then(|lane| lane.factor.as_ref()));
        if factors.iter().all(Option::is_none) {
            return;
        }
        let mut products = design.products(heaviest, &self.scaled);
        for (lane, factor) in factors.into_iter().enumerate() {
            let mut own: Vec<f64> = products.iter().map(|product| product[lane]).collect();
            match factor {
                Some(factor) => factor.solve(&mut own),
                None => own.fill(0.0),
            }
            for (product, own) in products.iter_mut().zip(own) {
                product[lane] = own;
            }
        }
        design.combination(heaviest, &products, &mut self.weights, &mut self.heavy);
        let queries = design.queries();
        let (out, lambdas) = (&self.out, &self.lambdas);
        let parts = queries
            .split_mut(&mut self.heavy)
            .zip(queries.split_mut(&mut self.scaled));
        let parts: Vec<_> = parts.zip(queries.ranges()).zip(&blocks.blocks).collect();
        let parts = parts.into_par_iter().with_min_len(ROWS);
        let centred = design.rows.ends.is_none();
        parts.for_each_init(Vec::new, |solved, (((heavy, scaled), range), block)| {
            solved.resize(heavy.len(), [0.0; L]);
            let vectors = [heavy, solved];
            correct(block, lambdas, centred, &out[range], vectors, scaled);
        });
    }

    /// Moves all lanes by a step along their directions, or to the true residual, preconditions the
    /// new residual by the blocks, and returns its squares.
    fn advance(&mut self, steps: &[Option<f64>; L]) -> [f64; L] {
        let queries = self.system.design.queries();
        let vectors = [&mut self.coefficients, &mut self.residual, &mut self.scaled];
        let mut rest = vectors.map(|vector| &mut vector[..]);
        let part = |chunk: &Range<usize>| -> Part<'_, L> {
            let rows = ..queries.rows_of(chunk).len();
            let own = rest.each_mut();
            let own = own.map(|rest| rest.split_off_mut(rows).unwrap_or_default());
            (chunk.clone(), own)
        };
        let parts: Vec<Part<'_, L>> = self.chunks.iter().map(part).collect();
        let (system, lambdas) = (&self.system, &self.lambdas);
        let out = Out {
            rows: &self.out,
            cut: &self.cut,
        };
        let vectors = [&self.direction[..], &self.product[..]];
        let sums: Vec<[f64; L]> = parts
            .into_par_iter()
            .map(|part| advance(system, lambdas, out, vectors, steps, part))
            .collect();
        total(&sums)
    }

    fn turn(&mut self, turns: [Option<f64>; L]) {
        let vectors = self
            .scaled
            .par_chunks(ROWS)
            .zip(self.coefficients.par_chunks(ROWS));
        self.direction.par_chunks_mut(ROWS).zip(vectors).for_each(
            |(direction, (scaled, coefficients))| {
                turn(&turns, direction, scaled, coefficients);
            },
        );
    }
}

fn total<const L: usize>(sums: &[[f64; L]]) -> [f64; L] {
    let mut total = [0.0; L];
    for sum in sums {
        for lane in 0..L {
            total[lane] += sum[lane];
        }
    }
    total
}

#[multiversion::multiversion(targets = "simd")]
fn curvature<const L: usize>(
    lambdas: &[f64; L],
    direction: &[[f64; L]],
    product: &[[f64; L]],
) -> [f64; L] {
    let mut sum = [0.0; L];
    for (direction, product) in direction.iter().zip(product) {
        for lane in 0..L {
            sum[lane] += direction[lane] * (product[lane] + lambdas[lane] * direction[lane]);
        }
    }
    sum
}

#[multiversion::multiversion(targets = "simd")]
fn advance<const L: usize>(
    system: &System<'_>,
    lambdas: &[f64; L],
    out: Out<'_, L>,
    vectors: [&[[f64; L]]; 2],
    steps: &[Option<f64>; L],
    (chunk, vectors_of_chunk): Part<'_, L>,
) -> [f64; L] {
    let queries = system.design.queries();
    let first = queries.range(chunk.start).start;
    let [directions, products] = vectors;
    let [coefficients, residual, scaled] = vectors_of_chunk;
    let checks = steps.map(|step| step.is_none());
    let taken = steps.map(|step| step.unwrap_or(0.0));
    let lost = steps.map(|step| step.unwrap_or(1.0));
    let mut squares = [0.0; L];
    for query in chunk {
        let range = queries.range(query);
        let own = range.start - first..range.end - first;
        let coefficients = &mut coefficients[own.clone()];
        let residual = &mut residual[own.clone()];
        let scaled = &mut scaled[own];
        for (place, row) in range.clone().enumerate() {
            let out = &out.rows[row];
            let (direction, product, y) = (&directions[row], &products[row], system.y[row]);
            for lane in 0..L {
                let before = residual[place][lane];
                let base = if checks[lane] { y } else { before };
                let moved = base - lost[lane] * (product[lane] + lambdas[lane] * direction[lane]);
                residual[place][lane] = if out[lane] { 0.0 } else { moved };
                coefficients[place][lane] += taken[lane] * direction[lane];
            }
        }
        for lane in (0..L).filter(|&lane| out.cut[query][lane]) {
            out.project(lane, query, range.clone(), residual);
        }
        system.blocks.blocks[query].solve(lambdas, residual, scaled);
        if system.design.rows.ends.is_none() {
            // Rounding would otherwise add up outside of the centred vectors.
            centre_rows(scaled);
        }
        for lane in (0..L).filter(|&lane| out.cut[query][lane]) {
            // The whole query is no guide to a part of it.
            let size = system.blocks.shift + lambdas[lane];
            for (scaled, residual) in scaled.iter_mut().zip(residual.iter()) {
                scaled[lane] = residual[lane] / size;
            }
        }
        for residual in residual.iter() {
            for lane in 0..L {
                squares[lane] += residual[lane] * residual[lane];
            }
        }
    }
    squares
}

/// Takes what the `block` of a query makes of the heaviest columns off `scaled`, but in lanes that
/// leave the query out.
#[multiversion::multiversion(targets = "simd")]
fn correct<const L: usize>(
    block: &Block,
    lambdas: &[f64; L],
    centred: bool,
    out: &[[bool; L]],
    [heavy, solved]: [&mut [[f64; L]]; 2],
    scaled: &mut [[f64; L]],
) {
    block.solve(lambdas, heavy, solved);
    if centred {
        centre_rows(solved);
    }
    for ((scaled, solved), out) in scaled.iter_mut().zip(solved).zip(out) {
        for lane in 0..L {
            scaled[lane] -= if out[lane] { 0.0 } else { solved[lane] };
        }
    }
}

#[multiversion::multiversion(targets = "simd")]
fn turn<const L: usize>(
    turns: &[Option<f64>; L],
    direction: &mut [[f64; L]],
    scaled: &[[f64; L]],
    coefficients: &[[f64; L]],
) {
    for ((direction, scaled), coefficients) in direction.iter_mut().zip(scaled).zip(coefficients) {
        for lane in 0..L {
            direction[lane] = match turns[lane] {
                Some(share) => scaled[lane] + share * direction[lane],
                None => coefficients[lane],
            };
        }
    }
}
