//! Equation (*) of `docs/derivation.md`, section 4, for every candidate, nothing kept between steps:
//! O(k m) time a candidate and step, O(m k) memory beside the candidates.
//!
//! Eight candidates make a block. `theta` has a column for each of them, and for each query
//!
//! ```text
//! u_Q = v_Q - X_{S,Q} theta
//! ```
//!
//! and `T_Q u_Q` are products of a matrix of the state (section 5) with eight columns, computed side by side in
//! registers. Neither is kept, unless predictions are wanted: the four sums that (*) needs are all there is.

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
    let block = bytes(size_of::<Lanes>()) * (bytes(2) * k + bytes(2) * query);
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
        let gains = gains_by_query(round, candidates);
        let gains = gains.as_flattened()[..candidates.len()].iter();
        return gains.map(|&gain| error_left(error, gain)).collect();
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

/// `e(S) - e(S + v)` by blocks, in parallel over queries: what the state has of a query is read once for all
/// candidates. Each gain is added up in the same order as by blocks, so the bits are equal.
fn gains_by_query(round: &Round<'_>, candidates: &[u32]) -> Vec<Lanes> {
    let (classes, state) = (round.candidates, round.state);
    let blocks = candidates.par_chunks(LANES);
    let block = |block| (block, Block::new(classes, state, block));
    let blocks: Vec<(&[u32], Block)> = blocks.map(block).collect();
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

/// Up to eight candidates.
#[derive(Debug)]
struct Block {
    /// `theta`, `t`: the weights of selected features that tell most of each candidate.
    theta: Vec<Lanes>,
    terms: Terms<LANES>,
}

impl Block {
    fn new(candidates: &ColumnClasses, state: &State, block: &[u32]) -> Self {
        let mut terms = Terms::new(state.lambda().value());
        let columns = columns(candidates, block, 0);
        let z = state.coordinates(&columns);
        let explained = squares(&z);
        for (lane, (&candidate, column)) in block.iter().zip(columns).enumerate() {
            let candidate = candidate as usize;
            // |v|^2 - |z|^2 is not negative, but for rounding.
            terms.s[lane] += (candidates.squared_norm(candidate) - explained[lane]).max(0.0);
            terms.rho[lane] = kernels::sparse_dot(column.rows, column.values, state.residual());
            terms.sole[lane] = candidates.sole_query(candidate).unwrap_or(u32::MAX);
        }
        let theta = state.thetas(z);
        Self { theta, terms }
    }
}

/// `|z|^2` of each lane.
pub(super) fn squares(z: &[Lanes]) -> Lanes {
    let mut squares = [0.0; LANES];
    for z in z {
        for lane in 0..LANES {
            squares[lane] += z[lane] * z[lane];
        }
    }
    squares
}

/// Room for `u_Q` and `T_Q u_Q` of a block in the query at hand.
#[derive(Debug)]
struct Scratch {
    u: Vec<Lanes>,
    tu: Vec<Lanes>,
}

impl Scratch {
    fn new(round: &Round<'_>) -> Self {
        let largest = round.state.queries().largest();
        Self {
            u: vec![[0.0; LANES]; largest],
            tu: vec![[0.0; LANES]; largest],
        }
    }

    /// The criterion with each of up to eight candidates added: `e(S + v)`, or what is missing
    /// to a perfect ranking.
    fn errors(&mut self, round: &Round<'_>, error: f64, block: &[u32]) -> Lanes {
        let mut gains = [0.0; LANES];
        let ranking = |judge| BlockRanking::new(judge, round.state);
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
        let projected = Block::new(candidates, state, block);
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
        let range = state.queries().range(query as usize);
        let (u, tu) = (&mut self.u[..range.len()], &mut self.tu[..range.len()]);
        u.fill([0.0; LANES]);
        take_segments(candidates, rest, range.end, |lane, segment| {
            fill_lane(segment, range.start, lane, u);
        });
        let matrices = &state.matrices()[query as usize];
        judge_query(matrices, &block.theta, &state.holdout()[range], u, tu)
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
    let sums = rest.iter().take(block.len());
    let sums = sums.map(|&column| folds.sums(column, state.matrices(), state.labels()));
    let sums: Vec<SumsWithout> = sums.collect();
    let load = |query: usize, v: &mut [Lanes]| {
        let range = state.queries().range(query);
        take_segments(candidates, &mut rest, range.end, |lane, segment| {
            fill_lane(segment, range.start, lane, v);
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
pub(super) fn fill_lane(segment: &Segment<'_>, first_row: usize, lane: usize, v: &mut [Lanes]) {
    for v in v.iter_mut() {
        v[lane] = -segment.mean;
    }
    for (row, value) in segment.column.iter() {
        v[row - first_row][lane] = value - segment.mean;
    }
}

/// The four sums of (*) over one query. `V_Q` turns into `U_Q`, and `tu` has room for `T_Q U_Q`.
#[multiversion::multiversion(targets = "simd")]
fn judge_query(
    query: &QueryMatrices,
    theta: &[Lanes],
    holdout: &[f64],
    u: &mut [Lanes],
    tu: &mut [Lanes],
) -> QuerySums<LANES> {
    query.selected.take_off(theta, u);
    query.transform.apply(u, tu);
    QuerySums::of(u, tu, holdout)
}
