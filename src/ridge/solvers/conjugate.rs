//! `(K + ridge I) a = y^` by conjugate gradients, which never form `K = X^ X^'`: `K v` is `X^' v` by columns, then
//! `X^ (X^' v)` by rows.
//!
//! Models without some rows are [`Task`]s of their own, on the remaining rows. Module `gradients` solves several
//! side by side, and a lane whose task has ended takes the next one.

use std::num::Saturating;
use std::ops::Range;

use rayon::prelude::*;

use super::gradients::{Gradients, Operator, ROWS, Solved};
use super::preconditioner::{Preconditioner, heavy_memory};
use super::{Residuals, Solution, Solve, SolverFacts, TOLERANCE, size};
use crate::error::Result;
use crate::lambda::Lambda;
use crate::linalg::factor::{Cholesky, Square};
use crate::linalg::kernels::LANES;
use crate::ridge::blocks::{LARGEST_BLOCK, QueryBlock, solve_blocks};
use crate::ridge::shape::TrainShape;
use crate::ridge::system::System;
use crate::stop;

pub(super) const FACTS: SolverFacts = SolverFacts {
    name: "cg",
    factors: false,
    matrices: |shape| {
        let block = size(shape.largest_query.min(LARGEST_BLOCK));
        let rows = size(shape.rows);
        let lanes = size(LANES) * (Saturating(7) * rows + size(shape.classes));
        Saturating(8) * (rows * block + lanes) + heavy_memory(shape)
    },
    cost: |shape: &TrainShape| shape.lambdas as f64 * 1e-6 * shape.nonzeros as f64,
    build: |system| {
        let shift = system.mean_diagonal;
        Box::new(Conjugate(Preconditioner::new(system, shift)))
    },
};

/// Groups from which on tasks begin with the model of all rows. That model is close to one without a small group,
/// and far from one without a large fold.
const STARTS_FROM: usize = 16;

#[derive(Debug)]
struct Conjugate(Preconditioner);

/// A system to solve.
#[derive(Debug, Clone, Copy)]
struct Task<'a> {
    ridge: f64,
    /// The left-out rows, ascending. A query that they cut is centred anew.
    out: &'a [usize],
    /// Coefficients to begin with, `m`, if not 0.
    start: Option<&'a [f64]>,
}

impl Task<'_> {
    /// The system of all rows.
    fn whole(ridge: f64) -> Self {
        Self {
            ridge,
            out: &[],
            start: None,
        }
    }

    /// The outcome of coefficients that are all 0: `K a` on the left-out rows, in order, or all coefficients `a` if
    /// no row is left out.
    fn nothing(&self, rows: usize, residual: f64) -> Solved {
        let length = if self.out.is_empty() {
            rows
        } else {
            self.out.len()
        };
        Solved {
            values: vec![0.0; length],
            iterations: 0,
            residual,
        }
    }
}

impl Solve for Conjugate {
    fn train(&self, system: &System<'_>, ridge: f64) -> Option<Solution> {
        let solved = self.solve(system, &[Task::whole(ridge)], TOLERANCE).pop()?;
        let (iterations, residual) = (solved.iterations, solved.residual);
        Some(Solution {
            ended: Some((iterations, residual)),
            ..Solution::of_coefficients(system, ridge, solved.values)
        })
    }

    /// Trains again for every group, from the whole model if there are many groups.
    fn leave_out(
        &self,
        system: &System<'_>,
        lambdas: &[Lambda],
        _: Option<&Solution>,
        groups: &[&[usize]],
        tolerance: f64,
    ) -> Result<Vec<Residuals>> {
        let wholes = if groups.len() < STARTS_FROM {
            Vec::new()
        } else {
            let ridges = lambdas.iter().map(|&lambda| system.ridge(lambda, 0));
            let tasks = ridges.map(|ridge| Ok(Task::whole(ridge?)));
            self.solve(system, &tasks.collect::<Result<Vec<_>>>()?, tolerance)
        };
        let mut order: Vec<usize> = (0..lambdas.len()).collect();
        // The longest first, so that no lane ends long after the others.
        order.sort_by(|&a, &b| lambdas[a].total_cmp(lambdas[b]));
        let mut tasks = Vec::with_capacity(order.len() * groups.len());
        for &place in &order {
            for &out in groups {
                tasks.push(Task {
                    ridge: system.ridge(lambdas[place], out.len())?,
                    out,
                    start: wholes.get(place).map(|solved| &solved.values[..]),
                });
            }
        }
        let solved = self.solve(system, &tasks, tolerance);
        let mut by_model: Vec<(usize, &[Solved])> =
            order.into_iter().zip(solved.chunks(groups.len())).collect();
        by_model.sort_by_key(|&(place, _)| place);
        let residuals = |(_, own): (usize, &[Solved])| residuals_of(system, groups, own);
        Ok(by_model.into_iter().map(residuals).collect())
    }
}

/// The residuals of the rows of `groups`; `solved` has their predictions.
fn residuals_of(system: &System<'_>, groups: &[&[usize]], solved: &[Solved]) -> Residuals {
    let mut values = system.labels.clone();
    for (&rows, of_group) in groups.iter().zip(solved) {
        for (&row, prediction) in rows.iter().zip(&of_group.values) {
            values[row] -= prediction;
        }
    }
    let all = solved.iter().map(|of_group| of_group.residual);
    Residuals {
        values,
        largest: Some(all.fold(0.0, f64::max)),
    }
}

impl Conjugate {
    /// Solves all `tasks` until the residual is within `tolerance`, and returns their results in order.
    fn solve(&self, system: &System<'_>, tasks: &[Task<'_>], tolerance: f64) -> Vec<Solved> {
        if tasks.len() == 1 {
            self.solve_in_lanes::<1>(system, tasks, tolerance)
        } else {
            self.solve_in_lanes::<LANES>(system, tasks, tolerance)
        }
    }

    fn solve_in_lanes<const L: usize>(
        &self,
        system: &System<'_>,
        tasks: &[Task<'_>],
        tolerance: f64,
    ) -> Vec<Solved> {
        let mut lanes = Lanes::<L>::new(system, &self.0, tasks);
        let parts = lanes.rows_of_parts();
        let mut gradients = Gradients::new(&system.labels, tolerance, parts);
        let mut solved: Vec<Option<Solved>> = vec![None; tasks.len()];
        let mut waiting = tasks.iter().enumerate();
        let mut at_work = [None; L];
        loop {
            if stop::requested() {
                let skipped = |task: &Task<'_>| task.nothing(system.labels.len(), f64::NAN);
                return tasks.iter().map(skipped).collect();
            }
            for (lane, own) in at_work.iter_mut().enumerate() {
                while own.is_none()
                    && let Some((number, task)) = waiting.next()
                {
                    let [y, start] = lanes.take(lane, *task);
                    let squares: f64 = y.iter().map(|label| label * label).sum();
                    if squares == 0.0 {
                        solved[number] = Some(task.nothing(y.len(), 0.0));
                        continue;
                    }
                    lanes.couple_lane(lane);
                    let known = task.start.is_some().then_some(&start[..]);
                    let nothing = task.nothing(y.len(), 1.0);
                    gradients.begin(lane, squares.sqrt(), known, nothing);
                    *own = Some(number);
                }
            }
            if at_work.iter().all(Option::is_none) {
                return solved.into_iter().flatten().collect();
            }
            let ended = gradients.round(&mut lanes).into_iter().enumerate();
            for (lane, outcome) in ended.filter(|(_, outcome)| outcome.is_some()) {
                if let Some(number) = at_work[lane].take() {
                    solved[number] = outcome;
                    lanes.factors[lane] = None;
                }
            }
        }
    }
}

/// The systems of `L` tasks: `K` on the kept rows of each task, centred anew in the queries that it cuts, and its
/// preconditioner.
struct Lanes<'a, const L: usize> {
    system: &'a System<'a>,
    preconditioner: &'a Preconditioner,
    /// [`Preconditioner::inner`] by ridge parameter.
    inner: Vec<(f64, Square)>,
    /// The queries of each part.
    parts: Vec<Range<usize>>,
    /// Rows of each query.
    sizes: Vec<usize>,
    ridges: [f64; L],
    /// The rows that each task leaves out.
    left_out: [&'a [usize]; L],
    /// The factors of the heaviest columns, unless the task cuts queries.
    factors: [Option<Cholesky>; L],
    /// Whether a lane leaves a row out, by row.
    out: Vec<[bool; L]>,
    /// Whether a lane leaves a part of a query out, by query.
    cut: Vec<[bool; L]>,
    /// Totals of the classes, an intermediate step of a product.
    weights: Vec<[f64; L]>,
    /// The part of the heaviest columns, before the blocks.
    heavy: Vec<[f64; L]>,
}

/// Subtracts from the kept rows of a query their mean, in one `lane` of values whose other rows are 0.
fn centre_kept<const L: usize>(
    kept: impl Iterator<Item = bool> + Clone,
    lane: usize,
    values: &mut [[f64; L]],
) {
    let count = kept.clone().filter(|&kept| kept).count() as f64;
    let mean = values.iter().map(|value| value[lane]).sum::<f64>() / count;
    for (value, kept) in values.iter_mut().zip(kept) {
        value[lane] -= if kept { mean } else { 0.0 };
    }
}

/// Whole queries of so many rows, or some more.
fn parts_of(sizes: &[usize]) -> Vec<Range<usize>> {
    let mut parts: Vec<Range<usize>> = Vec::new();
    let mut rows = ROWS;
    for (query, size) in sizes.iter().enumerate() {
        match parts.last_mut() {
            Some(part) if rows < ROWS => part.end = query + 1,
            _ => {
                parts.push(query..query + 1);
                rows = 0;
            }
        }
        rows += size;
    }
    parts
}

impl<'a, const L: usize> Lanes<'a, L> {
    fn new(system: &'a System<'a>, preconditioner: &'a Preconditioner, tasks: &[Task<'_>]) -> Self {
        let mut ridges: Vec<f64> = tasks.iter().map(|task| task.ridge).collect();
        ridges.sort_by(f64::total_cmp);
        ridges.dedup();
        let inner = |ridge: f64| Some((ridge, preconditioner.inner(system, ridge)?));
        let sizes: Vec<usize> = system.queries().ranges().map(|range| range.len()).collect();
        let rows = system.labels.len();
        Self {
            system,
            preconditioner,
            inner: ridges.into_iter().filter_map(inner).collect(),
            parts: parts_of(&sizes),
            ridges: [1.0; L],
            left_out: [&[]; L],
            factors: std::array::from_fn(|_| None),
            out: vec![[false; L]; rows],
            cut: vec![[false; L]; sizes.len()],
            sizes,
            weights: vec![[0.0; L]; system.classes()],
            heavy: vec![[0.0; L]; rows],
        }
    }

    fn rows_of_parts(&self) -> Vec<Range<usize>> {
        let queries = self.system.queries();
        let rows = self.parts.iter().map(|part| queries.rows_of(part));
        rows.collect()
    }

    /// Gives a task to `lane`, and returns its right side and its start, projected.
    fn take(&mut self, lane: usize, task: Task<'a>) -> [Vec<f64>; 2] {
        let queries = self.system.queries();
        self.ridges[lane] = task.ridge;
        self.left_out[lane] = task.out;
        self.out.iter_mut().for_each(|out| out[lane] = false);
        task.out.iter().for_each(|&row| self.out[row][lane] = true);
        for (cut, range) in self.cut.iter_mut().zip(queries.ranges()) {
            let left_out = self.out[range.clone()].iter().filter(|out| out[lane]);
            cut[lane] = (1..range.len()).contains(&left_out.count());
        }
        let y = &self.system.labels[..];
        let start = task
            .start
            .map_or_else(|| vec![0.0; y.len()], <[f64]>::to_vec);
        [y.to_vec(), start].map(|mut values| {
            task.out.iter().for_each(|&row| values[row] = 0.0);
            let parts = queries.split_mut(&mut values).zip(queries.ranges());
            for ((own, range), _) in parts.zip(&self.cut).filter(|(_, cut)| cut[lane]) {
                let kept = self.out[range].iter().map(|out| !out[lane]);
                centre_kept::<1>(kept, 0, own.as_chunks_mut().0);
            }
            values
        })
    }

    /// Factors the part of the heaviest columns for `lane`.
    fn couple_lane(&mut self, lane: usize) {
        let whole = !self.cut.iter().any(|cut| cut[lane]);
        let ridge = self.ridges[lane];
        let inner = self
            .inner
            .iter()
            .find(|(known, _)| whole && *known == ridge);
        self.factors[lane] = inner.and_then(|(ridge, inner)| {
            let (system, out) = (self.system, self.left_out[lane]);
            self.preconditioner.factor(system, *ridge, out, inner)
        });
    }
}

impl<const L: usize> Operator<L> for Lanes<'_, L> {
    fn shifts(&self) -> &[f64; L] {
        &self.ridges
    }

    fn apply(&mut self, v: &[[f64; L]], product: &mut [[f64; L]]) {
        self.system.kernel(v, &mut self.weights, product);
    }

    fn project(&self, part: usize, values: &mut [[f64; L]]) {
        if self.left_out.iter().all(|out| out.is_empty()) {
            return;
        }
        let queries = self.system.queries();
        let within = self.parts[part].clone();
        let out = &self.out[queries.rows_of(&within)];
        for (row, row_out) in values.iter_mut().zip(out) {
            for lane in 0..L {
                row[lane] = if row_out[lane] { 0.0 } else { row[lane] };
            }
        }
        let mut rest = (values, out);
        for query in within {
            let (own, later) = rest.0.split_at_mut(self.sizes[query]);
            let (own_out, later_out) = rest.1.split_at(self.sizes[query]);
            for lane in (0..L).filter(|&lane| self.cut[query][lane]) {
                centre_kept(own_out.iter().map(|row_out| !row_out[lane]), lane, own);
            }
            rest = (later, later_out);
        }
    }

    /// `K a` on the left-out rows, in order; all coefficients `a` if no row is left out.
    fn outcome(
        &self,
        lane: usize,
        coefficients: &[[f64; L]],
        product: &[[f64; L]],
        values: &mut Vec<f64>,
    ) {
        let out = self.left_out[lane];
        if out.is_empty() {
            values.extend(coefficients.iter().map(|row| row[lane]));
        }
        values.extend(out.iter().map(|&row| product[row][lane]));
    }

    fn precondition(&self, part: usize, residual: &[[f64; L]], scaled: &mut [[f64; L]]) {
        let within = self.parts[part].clone();
        let (blocks, sizes) = (
            &self.preconditioner.blocks[within.clone()],
            &self.sizes[within.clone()],
        );
        solve_blocks(blocks, sizes, &self.ridges, residual, scaled);
        let mut start = 0;
        for (query, size) in within.zip(sizes) {
            let rows = start..start + size;
            for lane in (0..L).filter(|&lane| self.cut[query][lane]) {
                // The block of a whole query does not fit a part of it.
                let diagonal = self.system.mean_diagonal + self.ridges[lane];
                for row in rows.clone() {
                    scaled[row][lane] = residual[row][lane] / diagonal;
                }
            }
            start = rows.end;
        }
    }

    /// Brings the heaviest columns into the preconditioned residual, which knows only the blocks.
    fn couple(&mut self, scaled: &mut [[f64; L]]) {
        if self.factors.iter().all(Option::is_none) {
            return;
        }
        let (system, blocks) = (self.system, &self.preconditioner.blocks);
        let heaviest = &self.preconditioner.heavy;
        let mut products = system.products(&heaviest.classes, scaled);
        for (lane, factor) in self.factors.iter().enumerate() {
            let mut own: Vec<f64> = products.iter().map(|product| product[lane]).collect();
            match factor {
                Some(known) => known.solve(&mut own),
                None => own.fill(0.0),
            }
            for (product, value) in products.iter_mut().zip(own) {
                product[lane] = value;
            }
        }
        let heavy = &mut self.heavy;
        system.combination(&heaviest.columns, &products, heavy);
        let queries = system.queries();
        let (out, ridges) = (&self.out, &self.ridges);
        let vectors = queries.split_mut(heavy).zip(queries.split_mut(scaled));
        let by_query: Vec<_> = vectors.zip(queries.ranges()).zip(blocks).collect();
        let tasks = by_query.into_par_iter().with_min_len(ROWS);
        tasks.for_each_init(Vec::new, |solved, (((own, own_scaled), range), block)| {
            solved.resize(own.len(), [0.0; L]);
            correct(block, ridges, &out[range], own, solved, own_scaled);
        });
    }
}

/// Subtracts `(block + ridge I)^-1 heavy` from `scaled`, except in lanes that leave the query out.
#[multiversion::multiversion(targets = "simd")]
fn correct<const L: usize>(
    block: &QueryBlock,
    ridges: &[f64; L],
    out: &[[bool; L]],
    heavy: &[[f64; L]],
    solved: &mut [[f64; L]],
    scaled: &mut [[f64; L]],
) {
    block.solve(ridges, heavy, solved);
    for ((slot, change), row_out) in scaled.iter_mut().zip(solved).zip(out) {
        for lane in 0..L {
            slot[lane] -= if row_out[lane] { 0.0 } else { change[lane] };
        }
    }
}
