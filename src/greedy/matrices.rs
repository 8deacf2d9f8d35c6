//! The state of one query: `X_{S,Q}`, as sparse as the data, and `T_Q` (`docs/derivation.md`, section 5).
//!
//! Kernels take `L` vectors side by side, one a lane. Lanes never mix.

use crate::data::Column;
use crate::linalg::centring::centre_rows;
use crate::linalg::kernels;

/// Rows computed together in registers.
const TILE: usize = 4;

/// `X_{S,Q}`, not centred, by rows. It has all numbers if at least half of them are not 0, otherwise only those.
#[derive(Debug, Clone, Default)]
pub(super) struct SelectedRows {
    /// The end of each row in `steps` and `values`. Empty if rows have all numbers.
    ends: Vec<usize>,
    /// The steps of `values`. If rows have all numbers, the steps of each row.
    steps: Vec<u32>,
    values: Vec<f64>,
    /// The steps of columns with an entry here, and their means.
    means: Vec<(u32, f64)>,
    /// Numbers other than 0.
    entries: usize,
}

impl SelectedRows {
    /// The steps and the numbers of a row.
    #[inline(always)]
    fn row(&self, row: usize) -> (&[u32], &[f64]) {
        let width = self.steps.len();
        if self.ends.is_empty() {
            return (&self.steps, &self.values[row * width..][..width]);
        }
        let start = row.checked_sub(1).map_or(0, |before| self.ends[before]);
        let cells = start..self.ends[row];
        (&self.steps[cells.clone()], &self.values[cells])
    }

    /// The number of a step in a row.
    pub(super) fn entry(&self, row: usize, step: usize) -> f64 {
        let (steps, values) = self.row(row);
        let place = steps.binary_search_by_key(&step, |&own| own as usize);
        place.map_or(0.0, |place| values[place])
    }

    /// Adds the column of `step` with these entries. `place` has the query's first row and its number of rows.
    pub(super) fn push(&mut self, place: (usize, usize), entries: Column<'_>, step: usize) {
        let rows = place.1;
        // Steps fit in 32 bits, like features.
        let number = u32::try_from(step).unwrap_or(u32::MAX);
        if !entries.rows.is_empty() {
            self.entries += entries.rows.len();
            let sum: f64 = entries.values.iter().sum();
            self.means.push((number, sum / rows as f64));
        }
        if 2 * self.entries < rows * (step + 1) {
            self.thin_out(rows);
            self.insert(place, entries, number);
        } else {
            self.fill_up(rows, step);
            self.widen(place, entries, step);
            self.steps.push(number);
        }
    }

    /// Drops numbers that are 0.
    fn thin_out(&mut self, rows: usize) {
        if !self.ends.is_empty() {
            return;
        }
        let steps = std::mem::take(&mut self.steps);
        let values = std::mem::take(&mut self.values);
        for row in values.chunks_exact(steps.len().max(1)) {
            let entries = row.iter().zip(&steps).filter(|(value, _)| **value != 0.0);
            for (&value, &step) in entries {
                self.values.push(value);
                self.steps.push(step);
            }
            self.ends.push(self.values.len());
        }
        self.ends.resize(rows, self.values.len());
    }

    /// Stores all numbers of the steps before this one.
    fn fill_up(&mut self, rows: usize, step: usize) {
        if self.ends.is_empty() {
            return;
        }
        let mut all = vec![0.0; rows * step];
        for (row, all) in all.chunks_exact_mut(step).enumerate() {
            let (steps, values) = self.row(row);
            for (&step, &value) in steps.iter().zip(values) {
                all[step as usize] = value;
            }
        }
        (self.ends, self.values) = (Vec::new(), all);
        self.steps = (0u32..).take(step).collect();
    }

    /// Adds a column to rows with all numbers.
    fn widen(&mut self, (first, rows): (usize, usize), entries: Column<'_>, step: usize) {
        let width = step + 1;
        grow(&mut self.values, rows);
        for row in (0..rows).rev() {
            let old = row * step..(row + 1) * step;
            self.values.copy_within(old, row * width);
            self.values[row * width + step] = 0.0;
        }
        for (row, value) in entries.iter() {
            self.values[(row - first) * width + step] = value;
        }
    }

    /// Adds a column to rows without zeros.
    fn insert(&mut self, (first, rows): (usize, usize), entries: Column<'_>, number: u32) {
        let mut left = entries.rows.len();
        grow(&mut self.steps, left);
        grow(&mut self.values, left);
        for row in (0..rows).rev() {
            if left == 0 {
                break;
            }
            let start = row.checked_sub(1).map_or(0, |before| self.ends[before]);
            let end = self.ends[row];
            self.ends[row] = end + left;
            if entries.rows[left - 1] as usize == first + row {
                left -= 1;
                self.steps[end + left] = number;
                self.values[end + left] = entries.values[left];
            }
            self.steps.copy_within(start..end, start + left);
            self.values.copy_within(start..end, start + left);
        }
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
        for &(step, mean) in &self.means {
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
        let (steps, numbers) = self.row(row);
        if self.ends.is_empty() {
            kernels::add_scaled(x, value, numbers);
            return;
        }
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
        if self.ends.is_empty() {
            multiply(&self.values, theta, u, |u, product| {
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

/// Makes room for `more` numbers, and sometimes for a quarter of all beyond them.
fn grow<T: Copy + Default>(numbers: &mut Vec<T>, more: usize) {
    let length = numbers.len() + more;
    if length > numbers.capacity() {
        numbers.reserve_exact(more + length / 4);
    }
    numbers.resize(length, T::default());
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
#[derive(Debug, Clone, Default)]
pub(super) struct Transform {
    /// Consecutive columns of `S`, or `T_Q`.
    numbers: Vec<f64>,
    whole: bool,
}

impl Transform {
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

    /// `T_Q u` into `tu`.
    #[inline(always)]
    pub(super) fn apply<const L: usize>(&self, u: &[[f64; L]], tu: &mut [[f64; L]]) {
        if self.whole {
            multiply(&self.numbers, u, tu, |tu, product| *tu = *product);
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

    /// `T_Q += nu psi psi'`
    #[inline(always)]
    pub(super) fn add(&mut self, nu: f64, psi: &[f64]) {
        let rows = psi.len();
        if self.whole {
            for (row, own) in self.numbers.chunks_exact_mut(rows).zip(psi) {
                kernels::add_scaled(row, nu * own, psi);
            }
            return;
        }
        let (root, before) = (nu.sqrt(), self.numbers.len());
        grow(&mut self.numbers, rows);
        let column = self.numbers[before..].iter_mut();
        column
            .zip(psi)
            .for_each(|(number, own)| *number = root * own);
        if 2 * self.numbers.len() >= rows * rows {
            let columns = std::mem::replace(&mut self.numbers, vec![0.0; rows * rows]);
            self.whole = true;
            self.numbers
                .iter_mut()
                .step_by(rows + 1)
                .for_each(|one| *one = 1.0);
            columns
                .chunks_exact(rows)
                .for_each(|column| self.add(1.0, column));
        }
    }
}

/// The state in one query.
#[derive(Debug, Clone, Default)]
pub(super) struct QueryMatrices {
    pub(super) selected: SelectedRows,
    pub(super) transform: Transform,
    /// `trace(T_Q - I)`, which is at least its norm.
    pub(super) trace: f64,
}

impl QueryMatrices {
    /// Number of products in `X_{S,Q} theta` and `T_Q u` together.
    pub(super) fn products(&self) -> usize {
        let times = if self.transform.whole { 1 } else { 2 };
        self.selected.values.len() + times * self.transform.numbers.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linalg::centring::centre;

    /// Rows that are full at first, then thin out, and fill up again.
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
        let mut selected = SelectedRows::default();
        let mut dense: Vec<Vec<f64>> = Vec::new();
        for (step, column) in columns.into_iter().enumerate() {
            let (rows, values): (Vec<u32>, Vec<f64>) = column.iter().copied().unzip();
            let entries = Column {
                rows: &rows,
                values: &values,
            };
            selected.push((7, 5), entries, step);
            let mut spread = vec![0.0; 5];
            entries
                .iter()
                .for_each(|(row, value)| spread[row - 7] = value);
            dense.push(spread);
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
            selected.add_products(entries, 7, &mut x);
            let mut centred = dense[step].clone();
            centre(&mut centred);
            selected.add_products_of(&centred, &mut sum);
            let close = |(a, b): (&f64, &f64)| (a - b).abs() < 1e-12;
            assert!(x.iter().zip(&sum).all(close), "{x:?} {sum:?}");
        }
        assert!(selected.ends.is_empty());
    }

    #[test]
    fn a_transform_is_the_same_before_and_after_it_is_whole() {
        let mut transform = Transform::default();
        let mut expected = [[2.0], [-1.0], [0.5], [3.0], [1.0]];
        let u = expected;
        for (nu, psi) in [
            (2.0, [1.0, 0.5, -1.0, 2.0, 0.0]),
            (0.5, [0.0, 1.0, 1.0, 4.0, 2.0]),
            (3.0, [1.0; 5]),
        ] {
            transform.add(nu, &psi);
            let along: f64 = psi.iter().zip(&u).map(|(psi, u)| psi * u[0]).sum();
            for (expected, psi) in expected.iter_mut().zip(psi) {
                expected[0] += nu * psi * along;
            }
            let mut found = [[0.0]; 5];
            transform.apply(&u, &mut found);
            for (found, expected) in found.iter().zip(expected) {
                assert!((found[0] - expected[0]).abs() < 1e-12);
            }
        }
        assert!(transform.whole);
    }

    #[test]
    fn a_transform_has_as_many_numbers_as_are_counted() {
        for rows in 1..12 {
            let mut transform = Transform::default();
            for steps in 1..20 {
                transform.add(1.0, &vec![0.5; rows]);
                let counted = Transform::most_numbers(rows, steps);
                assert_eq!(transform.numbers.len(), counted, "{rows} {steps}");
                let room = transform.numbers.capacity();
                assert!(room <= counted + counted / 4, "{room} for {counted}");
            }
        }
    }
}
