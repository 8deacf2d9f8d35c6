//! What the state has of queries: `X_{S,Q}`, as sparse as the data, and `T_Q` (`docs/derivation.md`, section 5).
//!
//! Queries are kept in runs of some thousand rows: going from one query to the next reads on in the same arrays.
//!
//! Kernels take `L` vectors side by side, one a lane. Lanes never mix.

use std::ops::Range;

use crate::data::{Column, Queries};
use crate::linalg::centring::centre_rows;
use crate::linalg::kernels;

/// Rows computed together in registers.
const TILE: usize = 4;

/// `X_{S,Q}`, not centred, by rows. It has all numbers if at least half of them are not 0, otherwise only those.
#[derive(Debug, Clone, Copy)]
pub(super) struct SelectedRows<'a> {
    /// The end of each row in `steps` and `values`. Empty if rows have all numbers.
    ends: &'a [usize],
    /// The steps of `values`; none where rows have all numbers.
    steps: &'a [u32],
    values: &'a [f64],
    /// The steps of columns with an entry here, and their means.
    means: &'a [(u32, f64)],
    /// Steps so far.
    width: usize,
}

impl SelectedRows<'_> {
    /// The numbers of a row that has all.
    #[inline(always)]
    fn whole_row(&self, row: usize) -> &[f64] {
        &self.values[row * self.width..][..self.width]
    }

    /// The steps and the numbers of a row that has some.
    #[inline(always)]
    fn row(&self, row: usize) -> (&[u32], &[f64]) {
        let start = row.checked_sub(1).map_or(0, |before| self.ends[before]);
        let cells = start..self.ends[row];
        (&self.steps[cells.clone()], &self.values[cells])
    }

    /// Whether rows have all numbers.
    #[inline(always)]
    fn is_whole(&self) -> bool {
        self.ends.is_empty()
    }

    /// The number of a step in a row.
    pub(super) fn entry(&self, row: usize, step: usize) -> f64 {
        if self.is_whole() {
            return self.whole_row(row)[step];
        }
        let (steps, values) = self.row(row);
        let place = steps.binary_search_by_key(&step, |&own| own as usize);
        place.map_or(0.0, |place| values[place])
    }

    /// `x += X_{S,Q}' v_Q` for the entries of `v` in a query whose rows begin at `first`, in the first `x.len()`
    /// steps.
    #[inline(always)]
    pub(super) fn add_products(&self, entries: Column<'_>, first: usize, x: &mut [f64]) {
        let mut sum = 0.0;
        for (row, value) in entries.iter() {
            self.add_row(row - first, value, x);
            sum += value;
        }
        for &(step, mean) in self.means {
            if let Some(x) = x.get_mut(step as usize) {
                *x -= sum * mean;
            }
        }
    }

    /// `x += X_{S,Q}' y` for a vector whose sum is 0.
    #[inline(always)]
    pub(super) fn add_products_of(&self, y: &[f64], x: &mut [f64]) {
        for (row, &y) in y.iter().enumerate() {
            self.add_row(row, y, x);
        }
    }

    /// Adds a row times a number.
    #[inline(always)]
    fn add_row(&self, row: usize, value: f64, x: &mut [f64]) {
        if self.is_whole() {
            kernels::add_scaled(x, value, self.whole_row(row));
            return;
        }
        let (steps, numbers) = self.row(row);
        for (&step, number) in steps.iter().zip(numbers) {
            if let Some(x) = x.get_mut(step as usize) {
                *x += value * number;
            }
        }
    }

    /// The steps of columns with an entry here.
    pub(super) fn present(&self) -> impl Iterator<Item = u32> {
        self.means.iter().map(|&(step, _)| step)
    }

    /// `u -= X_{S,Q} theta`, then centred.
    #[inline(always)]
    pub(super) fn take_off<const L: usize>(&self, theta: &[[f64; L]], u: &mut [[f64; L]]) {
        if self.is_whole() {
            multiply(self.values, theta, u, |u, product| {
                kernels::add_scaled(u, -1.0, product);
            });
        } else {
            for (row, u) in u.iter_mut().enumerate() {
                let mut product = [0.0; L];
                let (steps, numbers) = self.row(row);
                for (&step, &number) in steps.iter().zip(numbers) {
                    kernels::add_scaled(&mut product, number, &theta[step as usize]);
                }
                kernels::add_scaled(u, -1.0, &product);
            }
        }
        centre_rows(u);
    }
}

/// Hands `take` each number of `out` with the number of `M y`, for as many rows of `M` as `out` has.
#[inline(always)]
fn multiply<const L: usize>(
    m: &[f64],
    y: &[[f64; L]],
    out: &mut [[f64; L]],
    take: impl Fn(&mut [f64; L], &[f64; L]),
) {
    if y.is_empty() {
        return;
    }
    let (tiles, rest) = out.as_chunks_mut::<TILE>();
    let (whole, left) = m.split_at(tiles.len() * TILE * y.len());
    for (out, rows) in tiles.iter_mut().zip(whole.chunks_exact(TILE * y.len())) {
        let products = multiply_tile::<L, TILE>(rows, y);
        out.iter_mut()
            .zip(&products)
            .for_each(|(out, product)| take(out, product));
    }
    for (out, row) in rest.iter_mut().zip(left.chunks_exact(y.len())) {
        let [product] = multiply_tile::<L, 1>(row, y);
        take(out, &product);
    }
}

/// `M y` for some rows of `M`.
#[inline(always)]
fn multiply_tile<const L: usize, const ROWS: usize>(m: &[f64], y: &[[f64; L]]) -> [[f64; L]; ROWS] {
    let (mut rows, mut products) = ([&m[..0]; ROWS], [[0.0; L]; ROWS]);
    for (row, cells) in rows.iter_mut().zip(m.chunks_exact(y.len())) {
        *row = cells;
    }
    if L == 1 {
        // A single lane allows more sums.
        for (product, row) in products.iter_mut().zip(rows) {
            *product = [kernels::dot(row, y.as_flattened()); L];
        }
        return products;
    }
    for (at, y) in y.iter().enumerate() {
        for (product, row) in products.iter_mut().zip(rows) {
            kernels::add_scaled(product, row[at], y);
        }
    }
    products
}

/// `T_Q = I + S S'`. `S` has a column for each step, until the matrix itself takes less room.
#[derive(Debug, Clone, Copy)]
pub(super) struct Transform<'a> {
    /// Consecutive columns of `S`, or `T_Q`.
    numbers: &'a [f64],
    rows: usize,
}

impl Transform<'_> {
    /// Most numbers for a query with these rows after these steps. The matrix itself replaces the columns once they
    /// are half of it. The columns still exist while it is made.
    pub(super) fn most_numbers(rows: usize, steps: usize) -> usize {
        let square = rows.saturating_mul(rows);
        if steps.saturating_mul(2) < rows {
            rows.saturating_mul(steps)
        } else {
            square
        }
    }

    /// Whether the matrix is there: columns are fewer than half of the rows.
    #[inline(always)]
    fn is_whole(&self) -> bool {
        self.numbers.len() == self.rows * self.rows
    }

    /// `T_Q u` into `tu`.
    #[inline(always)]
    pub(super) fn apply<const L: usize>(&self, u: &[[f64; L]], tu: &mut [[f64; L]]) {
        if self.is_whole() {
            multiply(self.numbers, u, tu, |tu, product| *tu = *product);
            return;
        }
        tu.copy_from_slice(u);
        for column in self.numbers.chunks_exact(u.len()) {
            let mut along = [0.0; L];
            for (number, u) in column.iter().zip(u) {
                kernels::add_scaled(&mut along, *number, u);
            }
            for (number, tu) in column.iter().zip(&mut *tu) {
                kernels::add_scaled(tu, *number, &along);
            }
        }
    }
}

/// The state in one query.
#[derive(Debug, Clone, Copy)]
pub(super) struct QueryMatrices<'a> {
    pub(super) selected: SelectedRows<'a>,
    pub(super) transform: Transform<'a>,
    /// `trace(T_Q - I)`, which is at least its norm.
    pub(super) trace: f64,
}

impl QueryMatrices<'_> {
    /// Number of products in `X_{S,Q} theta` and `T_Q u` together.
    pub(super) fn products(&self) -> usize {
        let times = if self.transform.is_whole() { 1 } else { 2 };
        self.selected.values.len() + times * self.transform.numbers.len()
    }
}

/// Where numbers of a query begin in the arrays of its run.
#[derive(Debug, Clone, Copy, Default)]
struct Place {
    row: usize,
    steps: usize,
    values: usize,
    means: usize,
    transform: usize,
    /// Numbers of `X_{S,Q}` that are not 0.
    entries: usize,
    trace: f64,
}

/// `X_{S,Q}` of the queries of a run, one after the other: see [`SelectedRows`].
#[derive(Debug, Clone, Default)]
struct Selected {
    /// Of all rows, counted from the beginning of the query.
    ends: Vec<usize>,
    steps: Vec<u32>,
    values: Vec<f64>,
    means: Vec<(u32, f64)>,
}

impl Selected {
    /// Adds a query with a column more than `before`, which has these entries in its rows. `is_thin`: whether rows
    /// are to have those numbers alone that are not 0.
    fn push(
        &mut self,
        before: SelectedRows<'_>,
        rows: Range<usize>,
        entries: Column<'_>,
        is_thin: bool,
    ) {
        self.means.extend_from_slice(before.means);
        // Steps fit in 32 bits, like features.
        let step = u32::try_from(before.width).unwrap_or(u32::MAX);
        if !entries.rows.is_empty() {
            let sum: f64 = entries.values.iter().sum();
            self.means.push((step, sum / rows.len() as f64));
        } else if is_thin && !before.is_whole() {
            self.ends.extend_from_slice(before.ends);
            self.steps.extend_from_slice(before.steps);
            self.values.extend_from_slice(before.values);
            return;
        }
        let (start, mut left) = (self.values.len(), entries.iter().peekable());
        for (row, number) in rows.enumerate() {
            let own = left.next_if(|&(at, _)| at == number);
            let own = own.map(|(_, value)| value);
            if is_thin {
                self.push_thin(before, row, step);
                self.steps.extend(own.map(|_| step));
                self.values.extend(own);
            } else {
                self.push_whole(before, row);
                self.values.push(own.unwrap_or(0.0));
            }
            self.ends.push(self.values.len() - start);
        }
    }

    /// Adds the numbers of a row that are not 0.
    fn push_thin(&mut self, before: SelectedRows<'_>, row: usize, width: u32) {
        if before.is_whole() {
            let all = (0..width).zip(before.whole_row(row));
            for (step, &value) in all.filter(|(_, value)| **value != 0.0) {
                self.steps.push(step);
                self.values.push(value);
            }
            return;
        }
        let (steps, values) = before.row(row);
        self.steps.extend_from_slice(steps);
        self.values.extend_from_slice(values);
    }

    /// Adds all numbers of a row.
    fn push_whole(&mut self, before: SelectedRows<'_>, row: usize) {
        if before.is_whole() {
            self.values.extend_from_slice(before.whole_row(row));
            return;
        }
        let start = self.values.len();
        self.values.resize(start + before.width, 0.0);
        let (steps, values) = before.row(row);
        for (&step, &value) in steps.iter().zip(values) {
            self.values[start + step as usize] = value;
        }
    }
}

/// The state in a run of queries.
#[derive(Debug, Clone)]
pub(super) struct RunMatrices {
    /// The queries.
    pub(super) queries: Range<usize>,
    /// Of each query, and where the last one ends.
    places: Vec<Place>,
    selected: Selected,
    /// The numbers of [`Transform`], query after query.
    transforms: Vec<f64>,
    /// Steps so far.
    width: usize,
}

impl RunMatrices {
    /// The state before the first step in some queries.
    pub(super) fn new(all: &Queries, queries: Range<usize>) -> Self {
        let first = all.range(queries.start).start;
        let ends = queries.clone().map(|query| all.range(query).end - first);
        let rows = std::iter::once(0).chain(ends);
        let place = |row: usize| Place {
            row,
            ..Place::default()
        };
        let places: Vec<Place> = rows.map(place).collect();
        let rows = places.last().map_or(0, |place| place.row);
        let selected = Selected {
            ends: vec![0; rows],
            ..Selected::default()
        };
        Self {
            queries,
            places,
            selected,
            transforms: Vec::new(),
            width: 0,
        }
    }

    pub(super) fn row_count(&self) -> usize {
        self.places[self.queries.len()].row
    }

    /// The rows of a query of this run, counted from its first row.
    #[inline(always)]
    pub(super) fn rows(&self, number: usize) -> Range<usize> {
        self.places[number].row..self.places[number + 1].row
    }

    /// A query of this run.
    #[inline(always)]
    pub(super) fn query(&self, number: usize) -> QueryMatrices<'_> {
        let [place, next] = &self.places[number..][..2] else {
            unreachable!("a query has an end");
        };
        let rows = next.row - place.row;
        let values = &self.selected.values[place.values..next.values];
        let is_thin = is_thin(place.entries, rows, self.width);
        let ends = if is_thin { place.row..next.row } else { 0..0 };
        QueryMatrices {
            selected: SelectedRows {
                ends: &self.selected.ends[ends],
                steps: &self.selected.steps[place.steps..next.steps],
                values,
                means: &self.selected.means[place.means..next.means],
                width: self.width,
            },
            transform: Transform {
                numbers: &self.transforms[place.transform..next.transform],
                rows,
            },
            trace: place.trace,
        }
    }

    /// Adds a column, which has these entries in the rows of the run, from `first` on.
    pub(super) fn push(&mut self, first: usize, entries: Column<'_>) {
        let all_thin =
            || (0..self.queries.len()).all(|number| !self.query(number).selected.is_whole());
        if entries.rows.is_empty() && all_thin() {
            self.width += 1;
            return;
        }
        let (mut rest, mut places) = (entries, self.places.clone());
        let (mut selected, mut room) = (Selected::default(), [0, 0, self.selected.means.len()]);
        for (number, place) in places.iter_mut().enumerate().take(self.queries.len()) {
            let rows = self.rows(number);
            let own = rest.take_rows_below(first + rows.end).rows.len();
            place.entries += own;
            room[2] += usize::from(own > 0);
            if is_thin(place.entries, rows.len(), self.width + 1) {
                room[0] += place.entries;
                room[1] += place.entries;
            } else {
                room[1] += rows.len() * (self.width + 1);
            }
        }
        selected.steps.reserve_exact(room[0]);
        selected.values.reserve_exact(room[1]);
        selected.means.reserve_exact(room[2]);
        selected.ends.reserve_exact(self.selected.ends.len());
        let mut rest = entries;
        for (number, place) in places.iter_mut().enumerate() {
            (place.steps, place.values) = (selected.steps.len(), selected.values.len());
            place.means = selected.means.len();
            if number < self.queries.len() {
                let rows = self.rows(number);
                let own = rest.take_rows_below(first + rows.end);
                let is_thin = is_thin(place.entries, rows.len(), self.width + 1);
                let rows = first + rows.start..first + rows.end;
                selected.push(self.query(number).selected, rows, own, is_thin);
            }
        }
        (self.places, self.selected) = (places, selected);
        self.width += 1;
    }

    /// `T_Q += nu psi psi'` in every query: a `nu` of each, and `psi` of all rows.
    #[inline(always)]
    pub(super) fn add(&mut self, nu: &[f64], psi: &[f64]) {
        let before = self.transforms.len();
        let size = |number: usize| {
            let [place, next] = [number, number + 1].map(|number| self.places[number]);
            let (rows, numbers) = (next.row - place.row, next.transform - place.transform);
            Transform::most_numbers(rows, numbers / rows + 1)
        };
        let sizes: Vec<usize> = (0..self.queries.len()).map(size).collect();
        let mut end = sizes.iter().sum();
        grow(&mut self.transforms, end - before);
        // From the last query back, as each moves towards the end.
        let mut end_before = before;
        for (number, size) in sizes.into_iter().enumerate().rev() {
            let rows = self.rows(number);
            let (start_before, start) = (self.places[number].transform, end - size);
            if start != start_before {
                self.transforms.copy_within(start_before..end_before, start);
            }
            let (nu, psi) = (nu[number], &psi[rows]);
            add_to_transform(
                &mut self.transforms[start..end],
                end_before - start_before,
                nu,
                psi,
            );
            let place = &mut self.places[number];
            place.transform = start;
            place.trace += nu * kernels::dot(psi, psi);
            self.places[number + 1].transform = end;
            (end, end_before) = (start, start_before);
        }
    }
}

/// Whether the rows of a query keep those numbers alone that are not 0.
#[inline(always)]
fn is_thin(entries: usize, rows: usize, steps: usize) -> bool {
    2 * entries < rows * steps
}

/// `T_Q += nu psi psi'`, for so many numbers `before`.
#[inline(always)]
fn add_to_transform(numbers: &mut [f64], before: usize, nu: f64, psi: &[f64]) {
    let rows = psi.len();
    if before == rows * rows {
        add_outer(numbers, nu, psi);
        return;
    }
    let root = nu.sqrt();
    let column = numbers[before..].iter_mut();
    column
        .zip(psi)
        .for_each(|(number, own)| *number = root * own);
    if numbers.len() < rows * rows {
        return;
    }
    let columns = numbers[..before + rows].to_vec();
    numbers.fill(0.0);
    let diagonal = numbers.iter_mut().step_by(rows + 1);
    diagonal.for_each(|one| *one = 1.0);
    for column in columns.chunks_exact(rows) {
        add_outer(numbers, 1.0, column);
    }
}

/// `T += nu psi psi'`
#[inline(always)]
fn add_outer(matrix: &mut [f64], nu: f64, psi: &[f64]) {
    for (row, own) in matrix.chunks_exact_mut(psi.len()).zip(psi) {
        kernels::add_scaled(row, nu * own, psi);
    }
}

/// Makes room for `more` numbers, and sometimes for a quarter of all beyond them.
fn grow(numbers: &mut Vec<f64>, more: usize) {
    let length = numbers.len() + more;
    if length > numbers.capacity() {
        numbers.reserve_exact(more + length / 4);
    }
    numbers.resize(length, 0.0);
}

/// The state in all queries.
#[derive(Debug, Clone)]
pub(super) struct Matrices {
    runs: Vec<RunMatrices>,
    /// The run of each query.
    run_of: Vec<u32>,
}

impl Matrices {
    /// The state before the first step.
    pub(super) fn new(queries: &Queries) -> Self {
        let tasks = queries.tasks().into_iter();
        let runs: Vec<RunMatrices> = tasks.map(|run| RunMatrices::new(queries, run)).collect();
        let numbers = (0u32..).zip(&runs);
        let run_of = numbers.flat_map(|(number, run)| run.queries.clone().map(move |_| number));
        Self {
            run_of: run_of.collect(),
            runs,
        }
    }

    /// Runs of queries, in order.
    pub(super) fn runs(&self) -> &[RunMatrices] {
        &self.runs
    }

    pub(super) fn runs_mut(&mut self) -> &mut [RunMatrices] {
        &mut self.runs
    }

    /// A query.
    #[inline(always)]
    pub(super) fn query(&self, query: usize) -> QueryMatrices<'_> {
        let run = &self.runs[self.run_of[query] as usize];
        run.query(query - run.queries.start)
    }

    /// All queries, in order.
    pub(super) fn queries(&self) -> impl Iterator<Item = QueryMatrices<'_>> {
        let of_run = |run: &'_ RunMatrices| run.queries.len();
        let numbers = self.runs.iter().map(move |run| (run, 0..of_run(run)));
        numbers.flat_map(|(run, numbers)| numbers.map(|number| run.query(number)))
    }

    /// The largest trace of all queries.
    pub(super) fn largest_trace(&self) -> f64 {
        let places = self.runs.iter().flat_map(|run| &run.places);
        places.map(|place| place.trace).fold(0.0, f64::max)
    }

    /// The runs with the parts of a vector of all rows.
    pub(super) fn with_rows<'m, 'v, T>(
        &'m self,
        values: &'v mut [T],
    ) -> Vec<(&'m RunMatrices, &'v mut [T])> {
        let mut rest = values;
        let part = |run: &'m RunMatrices| {
            let own = rest.split_off_mut(..run.row_count());
            (run, own.expect("values for every row"))
        };
        self.runs.iter().map(part).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linalg::centring::centre;

    /// A run of these queries alone.
    fn run(sizes: &[usize]) -> RunMatrices {
        let queries = Queries::from_sizes(sizes).unwrap();
        RunMatrices::new(&queries, 0..sizes.len())
    }

    /// Rows that are full at first, thin out and fill up again: those of the second of three queries.
    #[test]
    fn rows_are_the_same_however_they_are_kept() {
        let columns: [&[(u32, f64)]; 6] = [
            &[(7, 1.0), (8, 2.0), (9, 3.0), (10, -1.0), (11, 0.5)],
            &[(8, -4.0)],
            &[],
            &[(11, 2.0)],
            &[(7, 1.5), (8, 0.25), (9, 3.0), (10, 2.0), (11, 1.0)],
            &[(7, 1.0), (8, 3.0), (9, 5.0), (10, 7.0), (11, 2.0)],
        ];
        let mut run = run(&[7, 5, 2]);
        let mut dense: Vec<Vec<f64>> = Vec::new();
        for (step, column) in columns.into_iter().enumerate() {
            let others = [(2, 1.0), (12, 0.5)].into_iter().skip(step % 3);
            let all = others.clone().take_while(|entry| entry.0 < 7);
            let all = all.chain(column.iter().copied());
            let all = all.chain(others.skip_while(|entry| entry.0 < 7));
            let (rows, values): (Vec<u32>, Vec<f64>) = all.unzip();
            let entries = Column {
                rows: &rows,
                values: &values,
            };
            run.push(0, entries);
            let mut own = entries;
            own.take_rows_below(7);
            let own = own.take_rows_below(12);
            let selected = run.query(1).selected;
            let mut spread = vec![0.0; 5];
            own.iter().for_each(|(row, value)| spread[row - 7] = value);
            dense.push(spread);
            for (row, step) in (0..5).flat_map(|row| (0..=step).map(move |step| (row, step))) {
                assert_eq!(selected.entry(row, step), dense[step][row]);
            }
            let theta: Vec<[f64; 1]> = (0..=step).map(|at| [1.0 + at as f64]).collect();
            let mut found = [[0.25], [0.5], [-0.25], [1.0], [2.0]];
            let mut expected = found;
            selected.take_off(&theta, &mut found);
            for (row, expected) in expected.iter_mut().enumerate() {
                for (column, theta) in dense.iter().zip(&theta) {
                    expected[0] -= column[row] * theta[0];
                }
            }
            centre_rows(&mut expected);
            let pairs = found.as_flattened().iter().zip(expected.as_flattened());
            assert!(pairs.into_iter().all(|(a, b)| (a - b).abs() < 1e-12));
            let (mut x, mut sum) = (vec![0.0; step + 1], vec![0.0; step + 1]);
            selected.add_products(own, 7, &mut x);
            let mut centred = dense[step].clone();
            centre(&mut centred);
            selected.add_products_of(&centred, &mut sum);
            let close = |(a, b): (&f64, &f64)| (a - b).abs() < 1e-12;
            assert!(x.iter().zip(&sum).all(close), "{x:?} {sum:?}");
        }
        assert!(run.query(1).selected.is_whole());
        assert!(!run.query(0).selected.is_whole());
    }

    #[test]
    fn a_transform_is_the_same_before_and_after_it_is_whole() {
        let mut run = run(&[3, 5, 20]);
        let mut expected = [[2.0], [-1.0], [0.5], [3.0], [1.0]];
        let u = expected;
        for (nu, psi) in [
            (2.0, [1.0, 0.5, -1.0, 2.0, 0.0]),
            (0.5, [0.0, 1.0, 1.0, 4.0, 2.0]),
            (3.0, [1.0; 5]),
        ] {
            let all = [&[0.5; 3][..], &psi, &[0.25; 20]].concat();
            run.add(&[1.0, nu, 4.0], &all);
            let along: f64 = psi.iter().zip(&u).map(|(psi, u)| psi * u[0]).sum();
            for (expected, psi) in expected.iter_mut().zip(psi) {
                expected[0] += nu * psi * along;
            }
            let mut found = [[0.0]; 5];
            run.query(1).transform.apply(&u, &mut found);
            for (found, expected) in found.iter().zip(expected) {
                assert!((found[0] - expected[0]).abs() < 1e-12);
            }
        }
        let traces = [0, 2].map(|number| run.query(number).trace);
        assert_eq!(traces, [3.0 * 0.75, 3.0 * 4.0 * 20.0 / 16.0]);
        assert!(run.query(1).transform.is_whole() && !run.query(2).transform.is_whole());
    }

    #[test]
    fn a_transform_has_as_many_numbers_as_are_counted() {
        let sizes: Vec<usize> = (1..12).collect();
        let mut run = run(&sizes);
        let (nu, psi) = (vec![1.0; sizes.len()], vec![0.5; sizes.iter().sum()]);
        for steps in 1..20 {
            run.add(&nu, &psi);
            let mut all = 0;
            for (number, &rows) in sizes.iter().enumerate() {
                let counted = Transform::most_numbers(rows, steps);
                let numbers = run.query(number).transform.numbers;
                assert_eq!(numbers.len(), counted, "{rows} {steps}");
                all += counted;
            }
            let room = run.transforms.capacity();
            assert!(room <= all + all / 4, "{room} for {all}");
        }
    }
}
