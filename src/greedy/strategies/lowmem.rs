//! Equation (*) of `docs/derivation.md`, section 4, for every candidate, nothing kept between steps:
//! O(k m) time a candidate and step, O(m k) memory beside the candidates.
//!
//! Eight candidates make a block. `Phi` and `H` are the matrices of the state (section 5), `Z = Phi V` has a
//! column for each candidate, and `Z_Q` is the part of it that query `Q` makes. For each query
//!
//! ```text
//! u_Q     = v_Q - Phi_Q' Z
//! T_Q u_Q = v_Q - H_Q (Z - Z_Q)
//! ```
//!
//! are products of a `|Q| x t` matrix with a `t x 8` one, computed four examples
//! by eight candidates at a time in registers. Neither is stored, unless predictions
//! are wanted: the four sums that (*) needs are taken on the way.

use std::num::Saturating;

use rayon::current_num_threads;
use rayon::prelude::*;

use crate::columns::{ColumnClasses, Segment};
use crate::data::Column;
use crate::greedy::criterion::BlockRanking;
use crate::greedy::folds::{Folds, SumsWithout};
use crate::greedy::gain::{QuerySums, Terms};
use crate::greedy::matrices::QueryMatrices;
use crate::greedy::strategy::{Facts, Shape, bytes, error_left};
use crate::greedy::{Round, State, Strategy};
use crate::linalg::kernels::{self, LANES, Lanes};
use crate::stop;

/// Examples computed together.
const TILE: usize = 4;

/// Candidates that are judged query by query.
const FEW: usize = 512;

/// Queries whose gains are kept at once for [`FEW`] candidates. Fewer candidates have more queries at once.
const QUERIES: usize = 1024;

pub(super) const FACTS: Facts = Facts {
    name: "lowmem",
    exact: true,
    samples: true,
    ranks: true,
    memory: |shape| errors_memory(shape, shape.k).0,
    cost: |shape| (0.5e-9 + 0.05e-9 * shape.k as f64) * shape.cells(),
    build: |_, _| Box::new(LowMemory),
    ..Facts::USUAL
};

/// Bytes of room for a block on every thread, after `k` steps.
pub(super) fn scratch_memory(shape: &Shape, k: usize) -> Saturating<u64> {
    let (k, query) = (bytes(k), bytes(shape.largest_query));
    let block = bytes(size_of::<Lanes>()) * (bytes(3) * k + bytes(4) * query) + bytes(9) * query;
    bytes(shape.threads) * block
}

/// Bytes that [`errors`] takes after `k` steps: `z` of few candidates and their sums, and blocks.
pub(super) fn errors_memory(shape: &Shape, k: usize) -> Saturating<u64> {
    let few = bytes(shape.candidates.min(FEW)) * bytes(size_of::<f64>());
    scratch_memory(shape, k) + few * (bytes(k) + bytes(shape.queries.min(QUERIES)))
}

/// Evaluates (*) afresh for every eligible candidate.
pub(super) struct LowMemory;

impl Strategy for LowMemory {
    fn errors(&mut self, round: &Round<'_>, eligible: &[u32]) -> Vec<f64> {
        errors(round, eligible)
    }
}

/// Errors of `candidates` by (*), in parallel.
pub(super) fn errors(round: &Round<'_>, candidates: &[u32]) -> Vec<f64> {
    if candidates.is_empty() {
        return Vec::new();
    }
    let error = round.state.error();
    let by_sums = round.state.folds().is_none() && round.ranking.is_none();
    if by_sums && candidates.len() <= FEW {
        let mut subjects: Vec<Subject> = candidates.iter().copied().map(Subject::new).collect();
        return errors_of_few(round, &mut subjects);
    }
    candidates
        .par_chunks(LANES)
        .map_init(
            || Scratch::new(round),
            |scratch, block| {
                if stop::requested() {
                    return vec![f64::NAN; block.len()];
                }
                scratch.errors(round, error, block)[..block.len()].to_vec()
            },
        )
        .collect::<Vec<_>>()
        .concat()
}

/// Errors of few candidates by (*), not by ranking nor by folds, in parallel; finds all of their `z`.
pub(super) fn errors_of_few(round: &Round<'_>, subjects: &mut [Subject]) -> Vec<f64> {
    if subjects.is_empty() {
        return Vec::new();
    }
    let error = round.state.error();
    let gains = gains_by_query(round, subjects);
    let gains = gains.as_flattened()[..subjects.len()].iter();
    gains.map(|&gain| error_left(error, gain)).collect()
}

/// `e(S) - e(S + v)` by blocks, in parallel over queries: the state's matrices, which seldom fit
/// into a cache, are read once for all candidates. Each gain is added up in the same order as by
/// blocks, so the bits are equal.
fn gains_by_query(round: &Round<'_>, subjects: &mut [Subject]) -> Vec<Lanes> {
    let (classes, state) = (round.candidates, round.state);
    let projected = subjects.par_iter_mut();
    let projected = projected.map(|subject| subject.project(classes, state));
    let products: Vec<f64> = projected.collect();
    let in_blocks = subjects.chunks(LANES).zip(products.chunks(LANES));
    let blocks: Vec<(Vec<u32>, Block)> = in_blocks
        .map(|(subjects, products)| {
            let numbers = subjects.iter().map(|subject| subject.candidate);
            let block = Block::new(classes, state, subjects, products);
            (numbers.collect(), block)
        })
        .collect();
    let mut gains = vec![[0.0; LANES]; blocks.len()];
    let queries: Vec<u32> = (0u32..).take(state.queries().len()).collect();
    let together = FEW / LANES * QUERIES / blocks.len();
    for queries in queries.chunks(together) {
        let task = queries.len().div_ceil(8 * current_num_threads());
        let gained: Vec<Vec<Lanes>> = queries
            .par_chunks(task)
            .map_init(
                || Scratch::new(round),
                |scratch, task| {
                    if stop::requested() {
                        return Vec::new();
                    }
                    let start = state.queries().range(task[0] as usize).start;
                    let rests = blocks
                        .iter()
                        .map(|(block, _)| columns(classes, block, start));
                    let mut rests: Vec<_> = rests.collect();
                    let mut gained = Vec::with_capacity(task.len() * blocks.len());
                    for &query in task {
                        for ((_, projected), rest) in blocks.iter().zip(&mut rests) {
                            let sums = scratch.sums(classes, state, projected, query, rest);
                            gained.push(projected.terms.gained(query, &sums));
                        }
                    }
                    gained
                },
            )
            .collect();
        for gained in gained.iter().flat_map(|task| task.chunks(blocks.len())) {
            for (gain, gained) in gains.iter_mut().zip(gained) {
                kernels::add_scaled(gain, 1.0, gained);
            }
        }
    }
    gains
}

/// A candidate to be judged.
#[derive(Debug, Clone)]
pub(super) struct Subject {
    pub(super) candidate: u32,
    /// The numbers of `z = Phi v` that are known, the first so many of them. Steps to come leave them as they
    /// are.
    pub(super) z: Vec<f64>,
}

impl Subject {
    /// A candidate of which nothing is known.
    pub(super) fn new(candidate: u32) -> Self {
        Self {
            candidate,
            z: Vec::new(),
        }
    }

    /// Finds the numbers of `z` that are not known; returns `rho = v . r`.
    fn project(&mut self, candidates: &ColumnClasses, state: &State) -> f64 {
        let column = candidates.column(self.candidate as usize);
        let known = self.z.len();
        if known < state.steps() {
            self.z.resize(state.steps(), 0.0);
            state.project_newest(column, &mut self.z[known..]);
        }
        kernels::sparse_dot(column.rows, column.values, state.residual())
    }
}

/// Eight candidates.
#[derive(Debug)]
struct Block {
    /// `Z = Phi V`, `t`.
    z: Vec<Lanes>,
    terms: Terms<LANES>,
}

impl Block {
    /// `Z`, and the terms of (*) that are the same for all queries, of up to eight candidates that have been
    /// projected, with their `rho`.
    fn new(candidates: &ColumnClasses, state: &State, block: &[Subject], products: &[f64]) -> Self {
        let mut terms = Terms::new(state.lambda().value());
        let mut z = vec![[0.0; LANES]; state.steps()];
        for (lane, (subject, &rho)) in block.iter().zip(products).enumerate() {
            for (lanes, &own) in z.iter_mut().zip(&subject.z) {
                lanes[lane] = own;
            }
            let candidate = subject.candidate as usize;
            let explained = kernels::dot(&subject.z, &subject.z);
            terms.s[lane] += candidates.squared_norm(candidate) - explained;
            terms.rho[lane] = rho;
            terms.sole[lane] = candidates.sole_query(candidate).unwrap_or(u32::MAX);
        }
        Self { z, terms }
    }
}

/// Scratch for one block.
#[derive(Debug)]
struct Scratch {
    /// `Z - Z_Q` for the query at hand, `t`.
    z_without: Vec<Lanes>,
    /// `V_Q`, centred, for the query at hand.
    v: Vec<Lanes>,
    /// The rows of the query at hand where columns have entries, ascending.
    rows: Vec<usize>,
    /// Whether a row of the query at hand is among `rows`.
    has: Vec<bool>,
    /// The entries in `rows`, not centred; anything in others.
    entries: Vec<Lanes>,
    /// `T_Q u_Q` of the candidates for the query at hand, where predictions are wanted; else empty.
    tu: Vec<Lanes>,
}

impl Scratch {
    fn new(round: &Round<'_>) -> Self {
        let (t, largest) = (round.state.steps(), round.state.queries().largest());
        Self {
            z_without: vec![[0.0; LANES]; t],
            v: vec![[0.0; LANES]; largest],
            rows: Vec::with_capacity(largest),
            has: vec![false; largest],
            entries: vec![[0.0; LANES]; largest],
            tu: vec![[0.0; LANES]; round.ranking.map_or(0, |_| largest)],
        }
    }

    /// The criterion with each of up to eight candidates added: `e(S + v)`, or what is missing
    /// to a perfect ranking.
    fn errors(&mut self, round: &Round<'_>, error: f64, block: &[u32]) -> Lanes {
        let mut gains = [0.0; LANES];
        let ranking = |criterion| BlockRanking::new(criterion, round.state);
        let mut ranking = round.ranking.map(ranking);
        let see = |query, terms: &Terms<LANES>, sums: &QuerySums<LANES>, tu: &[Lanes]| {
            if let Some(ranking) = &mut ranking {
                ranking.add(query, terms, sums, tu);
            } else {
                kernels::add_scaled(&mut gains, 1.0, &terms.gained(query, sums));
            }
        };
        match round.state.folds() {
            Some(folds) => judge_by_folds(folds, round, block, see),
            None => self.judge(round, block, see),
        }
        match ranking {
            Some(ranking) => ranking.losses(),
            None => gains.map(|gain| error_left(error, gain)),
        }
    }

    /// Calls `see` once for each query, with the terms and sums of (*) of up to eight candidates, and their
    /// `T_Q u_Q` where that is wanted.
    fn judge(
        &mut self,
        round: &Round<'_>,
        block: &[u32],
        mut see: impl FnMut(u32, &Terms<LANES>, &QuerySums<LANES>, &[Lanes]),
    ) {
        let (candidates, state) = (round.candidates, round.state);
        let mut subjects: Vec<Subject> = block.iter().copied().map(Subject::new).collect();
        let rhos = subjects.iter_mut();
        let rhos: Vec<f64> = rhos
            .map(|subject| subject.project(candidates, state))
            .collect();
        let projected = Block::new(candidates, state, &subjects, &rhos);
        let mut rest = columns(candidates, block, 0);
        for query in (0u32..).take(state.queries().len()) {
            let sums = self.sums(candidates, state, &projected, query, &mut rest);
            see(query, &projected.terms, &sums, &self.tu);
        }
    }

    /// The sums that a query adds to (*); `rest`: the entries from the query on.
    fn sums(
        &mut self,
        candidates: &ColumnClasses,
        state: &State,
        block: &Block,
        query: u32,
        rest: &mut [Column<'_>; LANES],
    ) -> QuerySums<LANES> {
        let matrices = state.query_matrices(query as usize);
        if !self.load(candidates, state, query as usize, rest) {
            return judge_query(&matrices, (&block.z, &block.z), None, &mut self.tu);
        }
        let entries = (&self.rows[..], &self.entries[..]);
        leave_out(&matrices, entries, &block.z, &mut self.z_without);
        let z = (&block.z[..], &self.z_without[..]);
        judge_query(&matrices, z, Some(&self.v), &mut self.tu)
    }

    /// Moves the columns' entries in `query` into `v` and `entries`, and says whether there were any.
    fn load(
        &mut self,
        candidates: &ColumnClasses,
        state: &State,
        query: usize,
        rest: &mut [Column<'_>; LANES],
    ) -> bool {
        let range = state.queries().range(query);
        let v = &mut self.v[..range.len()];
        let (rows, has, entries) = (&mut self.rows, &mut self.has, &mut self.entries);
        for row in rows.drain(..) {
            has[row] = false;
        }
        take_segments(candidates, rest, range.end, |lane, segment| {
            if rows.is_empty() {
                v.fill([0.0; LANES]);
            }
            spread(segment, range.start, lane, v);
            for (row, value) in segment.column.iter() {
                let row = row - range.start;
                if !has[row] {
                    (has[row], entries[row]) = (true, [0.0; LANES]);
                    rows.push(row);
                }
                entries[row][lane] = value;
            }
        });
        rows.sort_unstable();
        !rows.is_empty()
    }
}

/// The columns of up to eight candidates from row `start` on, empty where there are fewer.
fn columns<'a>(candidates: &'a ColumnClasses, block: &[u32], start: usize) -> [Column<'a>; LANES] {
    let mut columns = [Column {
        rows: &[],
        values: &[],
    }; LANES];
    for (column, &candidate) in columns.iter_mut().zip(block) {
        *column = candidates.column(candidate as usize);
        let before = column.rows.partition_point(|&row| (row as usize) < start);
        column.take_entries(before);
    }
    columns
}

/// Calls `see` once for each query, with the terms and sums of (*) of up to eight candidates and their
/// `T_Q u_Q`, where the state's matrices are too coarse (`docs/derivation.md`, section 10).
fn judge_by_folds(
    folds: &Folds,
    round: &Round<'_>,
    block: &[u32],
    see: impl FnMut(u32, &Terms<LANES>, &QuerySums<LANES>, &[Lanes]),
) {
    let (candidates, state) = (round.candidates, round.state);
    let mut rest = columns(candidates, block, 0);
    let mut sums: Vec<SumsWithout> = Vec::new();
    sums.resize_with(block.len(), SumsWithout::default);
    for (sums, &column) in sums.iter_mut().zip(&rest) {
        folds.sums(column, state.labels(), sums);
    }
    let load = |query: usize, v: &mut [Lanes]| {
        let range = state.queries().range(query);
        take_segments(candidates, &mut rest, range.end, |lane, segment| {
            spread(segment, range.start, lane, v);
        });
    };
    folds.judge(&sums, state.holdout(), load, see);
}

/// Takes the segments of the query that ends before row `end` off columns that have one, with
/// the lane of each.
#[inline]
fn take_segments(
    candidates: &ColumnClasses,
    rest: &mut [Column<'_>],
    end: usize,
    mut visit: impl FnMut(usize, &Segment<'_>),
) {
    for (lane, rest) in rest.iter_mut().enumerate() {
        if rest.rows.first().is_some_and(|&row| (row as usize) < end) {
            visit(lane, &candidates.take_segment(rest));
        }
    }
}

/// Puts a column's centred entries in a query into its lane.
pub(super) fn spread(segment: &Segment<'_>, first_row: usize, lane: usize, v: &mut [Lanes]) {
    for v in v.iter_mut() {
        v[lane] = -segment.mean;
    }
    for (row, value) in segment.column.iter() {
        v[row - first_row][lane] = value - segment.mean;
    }
}

/// `Z - Z_Q` for a query in which columns have entries in these rows.
#[multiversion::multiversion(targets = "simd")]
fn leave_out(
    query: &QueryMatrices<'_>,
    entries: (&[usize], &[Lanes]),
    z: &[Lanes],
    z_without: &mut [Lanes],
) {
    let (tiles, rest) = z.as_chunks::<TILE>();
    let (tiles_without, rest_without) = z_without.as_chunks_mut::<TILE>();
    let mut first = 0;
    for (z, without) in tiles.iter().zip(tiles_without) {
        leave_out_tile(query, first, entries, z, without);
        first += TILE;
    }
    let rest = rest.as_chunks::<1>().0.iter();
    for (z, without) in rest.zip(rest_without.as_chunks_mut::<1>().0) {
        leave_out_tile(query, first, entries, z, without);
        first += 1;
    }
}

#[inline(always)]
fn leave_out_tile<const STEPS: usize>(
    query: &QueryMatrices<'_>,
    first: usize,
    (rows, entries): (&[usize], &[Lanes]),
    z: &[Lanes; STEPS],
    z_without: &mut [Lanes; STEPS],
) {
    let mut of_query = [[0.0; LANES]; STEPS];
    for &row in rows {
        let entries_here = &entries[row];
        let phi = &query.phi[row * query.stride + first..][..STEPS];
        for (sums, phi) in of_query.iter_mut().zip(phi) {
            for lane in 0..LANES {
                sums[lane] += phi * entries_here[lane];
            }
        }
    }
    for ((without, z), of_query) in z_without.iter_mut().zip(z).zip(&of_query) {
        for lane in 0..LANES {
            without[lane] = z[lane] - of_query[lane];
        }
    }
}

/// The four sums of (*) over one query; `v` is zero where it is `None`, and `transformed` has room for
/// `T_Q U_Q`, or is empty.
#[multiversion::multiversion(targets = "simd")]
fn judge_query(
    query: &QueryMatrices<'_>,
    z: (&[Lanes], &[Lanes]),
    v: Option<&[Lanes]>,
    transformed: &mut [Lanes],
) -> QuerySums<LANES> {
    let rows = query.holdout.len();
    let mut sums = QuerySums::default();
    let tiles = rows / TILE * TILE;
    for first in (0..tiles).step_by(TILE) {
        judge_tile::<TILE>(query, first, z, v, (&mut sums, transformed));
    }
    for first in tiles..rows {
        judge_tile::<1>(query, first, z, v, (&mut sums, transformed));
    }
    sums
}

#[inline(always)]
fn judge_tile<const ROWS: usize>(
    query: &QueryMatrices<'_>,
    first: usize,
    (z, z_without): (&[Lanes], &[Lanes]),
    v: Option<&[Lanes]>,
    (sums, transformed): (&mut QuerySums<LANES>, &mut [Lanes]),
) {
    let mut u = [[0.0; LANES]; ROWS];
    if let Some(v) = v {
        u.copy_from_slice(&v[first..first + ROWS]);
    }
    let mut tu = u;
    let steps = z.len();
    let row = |matrix: &'_ [f64], row: usize| {
        let start = (first + row) * query.stride;
        start..(start + steps).min(matrix.len())
    };
    let phi: [&[f64]; ROWS] = std::array::from_fn(|r| &query.phi[row(query.phi, r)]);
    let held: [&[f64]; ROWS] = std::array::from_fn(|r| &query.held[row(query.held, r)]);
    for (step, (z, z_without)) in z.iter().zip(z_without).enumerate() {
        for r in 0..ROWS {
            let (phi, held) = (phi[r][step], held[r][step]);
            for lane in 0..LANES {
                u[r][lane] -= phi * z[lane];
                tu[r][lane] -= held * z_without[lane];
            }
        }
    }
    if let Some(transformed) = transformed.get_mut(first..first + ROWS) {
        transformed.copy_from_slice(&tu);
    }
    for r in 0..ROWS {
        sums.add(&u[r], &tu[r], query.holdout[first + r]);
    }
}
