//! Equation (*) of `docs/derivation.md`, section 4, for every candidate, without memory between steps: O(k m) time
//! a candidate and step, O(m k) memory beside the candidates.
//!
//! Eight candidates make a block. `theta` has a column for each of them, and for each query
//!
//! ```text
//! u_Q = v_Q - X_{S,Q} theta
//! ```
//!
//! and `T_Q u_Q` are products of a matrix of the state (section 5) with eight columns, computed side by side in
//! registers. Only rankings keep them: the four sums are all that (*) needs.

use std::num::Saturating;

use rayon::current_num_threads;
use rayon::prelude::*;

use super::forms::{self, Forms};
use crate::columns::{ColumnClasses, Segment};
use crate::data::Column;
use crate::greedy::criterion::BlockRanking;
use crate::greedy::gain::{QuerySums, Terms};
use crate::greedy::matrices::QueryMatrices;
use crate::greedy::query_factors::{QueryFactors, SumsWithout};
use crate::greedy::strategy::{Facts, Shape, bytes, error_left};
use crate::greedy::{Round, State, Strategy};
use crate::linalg::kernels::{self, LANES, Lanes};
use crate::stop;

/// Most candidates to judge query by query.
const FEW: usize = 512;

/// Queries whose gains [`FEW`] candidates keep at once. Fewer candidates have more queries at once.
const QUERIES: usize = 1024;

pub(super) const FACTS: Facts = Facts {
    name: "lowmem",
    exact: true,
    samples: true,
    ranks: true,
    memory: |shape| (errors_memory(shape, shape.k) + forms::memory(shape, shape.k)).0,
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

/// Bytes of [`errors`] after `k` steps: `z` and the sums of few candidates, and blocks.
pub(super) fn errors_memory(shape: &Shape, k: usize) -> Saturating<u64> {
    let few = bytes(shape.candidates.min(FEW)) * bytes(size_of::<f64>());
    scratch_memory(shape, k) + few * (bytes(k) + bytes(shape.queries.min(QUERIES)))
}

/// Evaluates (*) afresh for every eligible candidate.
pub(super) struct LowMemory;

impl Strategy for LowMemory {
    /// Forms do not pay for a sample or for few columns: candidates share the cost of making them.
    fn errors(&mut self, round: &Round<'_>, eligible: &[u32]) -> Vec<f64> {
        let by_sums = round.state.query_factors().is_none() && round.ranking.is_none();
        // Every rank knows the number of all columns.
        let shared = !round.sampled && round.candidates.summary().columns >= forms::MANY;
        let forms = (by_sums && shared).then(|| Forms::new(round.state));
        errors_by(round, forms.as_ref(), eligible)
    }
}

/// Errors of `candidates` by (*), in parallel, by the rows of all queries.
pub(super) fn errors(round: &Round<'_>, candidates: &[u32]) -> Vec<f64> {
    errors_by(round, None, candidates)
}

/// Errors of `candidates` by (*), in parallel, by `forms` of untouched queries.
fn errors_by(round: &Round<'_>, forms: Option<&Forms<'_>>, candidates: &[u32]) -> Vec<f64> {
    if candidates.is_empty() {
        return Vec::new();
    }
    let error = round.state.error();
    let by_sums = round.state.query_factors().is_none() && round.ranking.is_none();
    if by_sums && candidates.len() <= FEW {
        let gains = gains_by_query(round, forms, candidates);
        let gains = gains.as_flattened()[..candidates.len()].iter();
        return gains.map(|&gain| error_left(error, gain)).collect();
    }
    candidates
        .par_chunks(LANES)
        .map_init(
            || Scratch::new(round, forms),
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

/// `e(S) - e(S + v)` by blocks, in parallel over queries: one reading of a query's state serves all candidates.
/// Each gain is summed in the same order as by blocks, so the bits are equal.
fn gains_by_query(round: &Round<'_>, forms: Option<&Forms<'_>>, candidates: &[u32]) -> Vec<Lanes> {
    let (classes, state) = (round.candidates, round.state);
    let blocks = candidates.par_chunks(LANES);
    let block = |block| (block, Projected::new(classes, state, block));
    let blocks: Vec<(&[u32], Projected)> = blocks.map(block).collect();
    let mut gains = vec![[0.0; LANES]; blocks.len()];
    let queries: Vec<u32> = (0u32..).take(state.queries().len()).collect();
    let together = FEW / LANES * QUERIES / blocks.len();
    for queries in queries.chunks(together) {
        let task = queries.len().div_ceil(8 * current_num_threads());
        let gained: Vec<Vec<Lanes>> = queries
            .par_chunks(task)
            .map_init(
                || Scratch::new(round, forms),
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
struct Projected {
    /// `theta`, `t`: the weights of selected features that best predict each candidate.
    theta: Vec<Lanes>,
    /// `|theta|^2`
    theta_squared: Lanes,
    terms: Terms<LANES>,
}

impl Projected {
    fn new(candidates: &ColumnClasses, state: &State, block: &[u32]) -> Self {
        let mut terms = Terms::new(state.lambda().value());
        let columns = columns(candidates, block, 0);
        let z = state.coordinates(&columns);
        let explained = squares(&z);
        for (lane, (&candidate, column)) in block.iter().zip(columns).enumerate() {
            let candidate = candidate as usize;
            // |v|^2 - |z|^2 is negative only by rounding.
            terms.s[lane] += (candidates.squared_norm(candidate) - explained[lane]).max(0.0);
            terms.rho[lane] = kernels::sparse_dot(column.rows, column.values, state.residual());
            terms.sole[lane] = candidates.sole_query(candidate).unwrap_or(u32::MAX);
        }
        let theta = state.thetas(z);
        Self {
            theta_squared: squares(&theta),
            theta,
            terms,
        }
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

/// Room for `u_Q` and `T_Q u_Q` of a block in the present query, and for forms.
#[derive(Debug)]
struct Scratch<'a> {
    u: Vec<Lanes>,
    tu: Vec<Lanes>,
    forms: Option<&'a Forms<'a>>,
    theta: Vec<Lanes>,
}

impl<'a> Scratch<'a> {
    fn new(round: &Round<'_>, forms: Option<&'a Forms<'a>>) -> Self {
        let largest = round.state.queries().largest();
        Self {
            u: vec![[0.0; LANES]; largest],
            tu: vec![[0.0; LANES]; largest],
            forms,
            theta: Vec::new(),
        }
    }

    /// The criterion with each of up to eight candidates added: `e(S + v)`, or the distance to a perfect ranking.
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
        match round.state.query_factors() {
            Some(factors) => judge_by_factors(factors, round, block, see),
            None => self.judge(round, block, see),
        }
        match ranking {
            Some(ranking) => ranking.losses(),
            None => gains.map(|gain| error_left(error, gain)),
        }
    }

    /// Calls `see` once for each query, with the terms and sums of (*) of up to eight candidates, and their `T_Q
    /// u_Q` if wanted.
    fn judge(
        &mut self,
        round: &Round<'_>,
        block: &[u32],
        mut see: impl FnMut(u32, &Terms<LANES>, &QuerySums<LANES>, &[Lanes]),
    ) {
        let (candidates, state) = (round.candidates, round.state);
        let projected = Projected::new(candidates, state, block);
        let mut rest = columns(candidates, block, 0);
        for query in (0u32..).take(state.queries().len()) {
            let sums = self.sums(candidates, state, &projected, query, &mut rest);
            see(query, &projected.terms, &sums, &self.tu);
        }
    }

    /// The sums that a query adds to (*); `rest`: the entries from the query on. A candidate that does not touch
    /// the query takes its form, if it has one, whatever its neighbours.
    fn sums(
        &mut self,
        candidates: &ColumnClasses,
        state: &State,
        block: &Projected,
        query: u32,
        rest: &mut [Column<'_>; LANES],
    ) -> QuerySums<LANES> {
        let end = state.queries().range(query as usize).end;
        let untouched = rest.each_ref().map(|rest| !begins_below(rest, end));
        let form = self.forms.filter(|_| untouched.contains(&true));
        let Some(form) = form.and_then(|forms| forms.get(query as usize)) else {
            return self.sums_by_rows(candidates, state, block, query, rest);
        };
        let served: [bool; LANES] =
            std::array::from_fn(|lane| untouched[lane] && form.serves(block.theta_squared[lane]));
        if !served.contains(&true) {
            return self.sums_by_rows(candidates, state, block, query, rest);
        }
        let mut sums = form.sums(&block.theta, &mut self.theta);
        if served.contains(&false) {
            let by_rows = self.sums_by_rows(candidates, state, block, query, rest);
            for lane in (0..LANES).filter(|&lane| !served[lane]) {
                sums.take_lane(lane, &by_rows);
            }
        }
        sums
    }

    /// The same sums by the rows of the query.
    fn sums_by_rows(
        &mut self,
        candidates: &ColumnClasses,
        state: &State,
        block: &Projected,
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

/// The columns of up to eight candidates from row `start` on; empty for missing candidates.
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

/// Calls `see` once for each query, with the terms and sums of (*) of up to eight candidates and their `T_Q u_Q`,
/// if the state's matrices are too coarse (`docs/derivation.md`, section 10).
fn judge_by_factors(
    factors: &QueryFactors,
    round: &Round<'_>,
    block: &[u32],
    see: impl FnMut(u32, &Terms<LANES>, &QuerySums<LANES>, &[Lanes]),
) {
    let (candidates, state) = (round.candidates, round.state);
    let mut rest = columns(candidates, block, 0);
    let sums = rest.iter().take(block.len());
    let sums = sums.map(|&column| factors.sums(column, state.matrices(), state.labels()));
    let sums: Vec<SumsWithout> = sums.collect();
    let load = |query: usize, v: &mut [Lanes]| {
        let range = state.queries().range(query);
        take_segments(candidates, &mut rest, range.end, |lane, segment| {
            fill_lane(segment, range.start, lane, v);
        });
    };
    factors.judge(&sums, state.holdout(), load, see);
}

/// Whether a column has an entry before row `end`.
#[inline(always)]
fn begins_below(column: &Column<'_>, end: usize) -> bool {
    column.rows.first().is_some_and(|&row| (row as usize) < end)
}

/// Takes the segments of the query that ends before row `end` from columns that have one, with the lane of each.
#[inline]
fn take_segments(
    candidates: &ColumnClasses,
    rest: &mut [Column<'_>],
    end: usize,
    mut visit: impl FnMut(usize, &Segment<'_>),
) {
    for (lane, rest) in rest.iter_mut().enumerate() {
        if begins_below(rest, end) {
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

#[cfg(test)]
mod tests {
    use rand::rngs::ChaCha8Rng;
    use rand::{RngExt, SeedableRng};

    use super::*;
    use crate::data::{Dataset, Queries};
    use crate::greedy::Addition;
    use crate::lambda::Lambda;
    use crate::peers::Alone;

    /// Columns of a few queries, of some rows of all, and some that are nearly the previous column.
    fn draw(random: &mut ChaCha8Rng, columns: usize) -> Dataset<'static> {
        let sizes: Vec<usize> = (0..24).map(|_| random.random_range(1..16)).collect();
        let queries = Queries::from_sizes(&sizes).unwrap();
        let labels = (0..queries.rows()).map(|_| random.random_range(-1.0..1.0));
        let labels: Vec<f64> = labels.collect();
        let (mut indptr, mut rows, mut values) = (vec![0], Vec::new(), Vec::new());
        let mut before = vec![0.0; queries.rows()];
        for _ in 0..columns {
            let alike = random.random_bool(0.2);
            let scale = [1.0, 1e-3, 1e3][random.random_range(0..3)];
            for (query, range) in queries.ranges().enumerate() {
                let here = query == 0 || random.random_bool(0.2);
                for row in range {
                    let value: f64 = random.random_range(-1.0..1.0);
                    before[row] = match alike {
                        true => before[row] * (1.0 + 1e-7 * value),
                        false if here && value > -0.3 => scale * value,
                        false => 0.0,
                    };
                }
            }
            for (row, &value) in (0u32..).zip(&before).filter(|pair| *pair.1 != 0.0) {
                rows.push(row);
                values.push(value);
            }
            indptr.push(rows.len());
        }
        Dataset::from_csc(indptr, rows, values, labels, queries).unwrap()
    }

    /// Checks the sums of one block in every query that has a form, and counts these and the others.
    fn check_sums(round: &Round<'_>, forms: &Forms<'_>, block: &[u32]) -> [usize; 2] {
        let (state, classes, lambda) = (round.state, round.candidates, round.state.lambda());
        let (mut scratch, mut counts) = (Scratch::new(round, None), [0; 2]);
        let projected = Projected::new(classes, state, block);
        let mut rest = columns(classes, block, 0);
        for (query, range) in (0u32..).zip(state.queries().ranges()) {
            let untouched = rest.each_ref().map(|rest| !begins_below(rest, range.end));
            let expected = scratch.sums_by_rows(classes, state, &projected, query, &mut rest);
            let Some(form) = forms.get(query as usize) else {
                continue;
            };
            let found = form.sums(&projected.theta, &mut Vec::new());
            let p: f64 = state.holdout()[range.clone()].iter().map(|p| p * p).sum();
            // The rounding that section 5 of `docs/derivation.md` allows to a form, and the rounding of rows.
            let terms = 4.0 * (state.steps() + range.len() + 3) as f64 * f64::EPSILON;
            let square = terms * 100.0 * lambda.value();
            let linear = terms * (100.0 * lambda.value() * p).sqrt();
            for lane in (0..block.len()).filter(|&lane| untouched[lane]) {
                let serves = form.serves(projected.theta_squared[lane]);
                counts[usize::from(!serves)] += 1;
                let near = |a: Lanes, b: Lanes, most: f64| (a[lane] - b[lane]).abs() <= most;
                assert!(
                    !serves
                        || near(found.a, expected.a, linear)
                            && near(found.b, expected.b, square)
                            && near(found.c, expected.c, linear)
                            && near(found.d, expected.d, square),
                    "{found:?} for {expected:?} in lane {lane}"
                );
            }
        }
        counts
    }

    /// Checks one step, and counts the sums from forms and the others.
    fn check(round: &Round<'_>, eligible: &[u32]) -> [usize; 2] {
        let by_rows = errors(round, eligible);
        let by_forms = LowMemory.errors(round, eligible);
        for (place, (found, expected)) in by_forms.iter().zip(&by_rows).enumerate() {
            let norm = round.candidates.squared_norm(eligible[place] as usize);
            let off = (found - expected).abs();
            assert!(off <= round.state.rounding(norm) * round.state.error());
        }
        // Candidates of other blocks, and few of them, which are judged query by query.
        for start in [1, 5, 190] {
            let found = LowMemory.errors(round, &eligible[start..]);
            assert_eq!(found, by_forms[start..], "from {start} on");
        }
        let forms = Forms::new(round.state);
        let blocks = eligible.chunks(LANES).step_by(5);
        let counts = blocks.map(|block| check_sums(round, &forms, block));
        counts.fold([0; 2], |sum, own| [sum[0] + own[0], sum[1] + own[1]])
    }

    /// Errors equal the errors of rows, in any company, whether lambda leaves digits or not.
    #[test]
    fn forms_say_what_rows_say() {
        let mut counted = [[0; 2]; 3];
        for seed in 0..6 {
            let mut random = ChaCha8Rng::seed_from_u64(seed);
            let data = draw(&mut random, 600);
            let candidates = ColumnClasses::new(&data);
            for (lambda, counted) in [1e-2, 1.0, 1e3].into_iter().zip(&mut counted) {
                let lambda = Lambda::new(lambda).unwrap();
                let mut state = State::new(data.labels(), data.queries(), lambda, 8);
                let mut eligible: Vec<u32> = (0u32..).take(candidates.len()).collect();
                while state.steps() < 8 && state.query_factors().is_none() {
                    let round = Round {
                        candidates: &candidates,
                        peers: &Alone,
                        state: &state,
                        sampled: false,
                        ranking: None,
                        cache_bytes: 0,
                    };
                    let step = check(&round, &eligible);
                    *counted = [counted[0] + step[0], counted[1] + step[1]];
                    let place = random.random_range(0..eligible.len());
                    let class = eligible.remove(place) as usize;
                    state.add(Addition {
                        feature: candidates.feature(class),
                        column: candidates.column(class),
                        factor: candidates.factor(class),
                    });
                }
            }
        }
        let [least, _, most] = counted;
        assert!(
            least[0] > 100 && least[1] > 100 && most[0] > 10_000,
            "{counted:?}"
        );
    }
}
