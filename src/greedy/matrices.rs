//! What the state has of one query: `X_{S,Q}`, as sparse as the data, and `T_Q` (`docs/derivation.md`, section 5).
//!
//! Kernels take `L` vectors side by side, a lane each. Lanes never meet.

use crate::data::Column;
use crate::linalg::centring::centre_rows;
use crate::linalg::kernels;

/// Columns that a kernel takes together.
const TILE: usize = 4;

/// `X_{S,Q}`, not centred: all numbers of a column that has an entry in half of the rows or more, and the entries
/// of the others.
#[derive(Debug, Clone, Default)]
pub(super) struct SelectedColumns {
    /// The steps of the columns with all numbers.
    steps: Vec<u32>,
    /// These columns, one after the other.
    dense: Vec<f64>,
    /// The entries of the others, by step and row.
    entries: Vec<Entry>,
}

/// An entry of a selected column, in a row of the query.
#[derive(Debug, Clone, Copy, Default)]
struct Entry {
    step: u32,
    row: u32,
    value: f64,
}

impl SelectedColumns {
    /// Adds the column of `step`, which has these entries in the query of so many rows from `first` on.
    pub(super) fn push(&mut self, (first, rows): (usize, usize), entries: Column<'_>, step: usize) {
        // Steps and rows count in 32 bits.
        let short = |count: usize| u32::try_from(count).unwrap_or(u32::MAX);
        if 2 * entries.rows.len() >= rows {
            let column = grow(&mut self.dense, rows);
            for (row, value) in entries.iter() {
                column[row - first] = value;
            }
            self.steps.push(short(step));
            return;
        }
        let new = grow(&mut self.entries, entries.rows.len());
        for (new, (row, value)) in new.iter_mut().zip(entries.iter()) {
            let (step, row) = (short(step), short(row - first));
            *new = Entry { step, row, value };
        }
    }

    /// The rows and the numbers of the column of `step`, of which `rows` has as many as the query.
    pub(super) fn column(&self, step: usize, rows: usize) -> Vec<(usize, f64)> {
        let is_own = |own: &u32| *own as usize == step;
        if let Some(place) = self.steps.iter().position(is_own) {
            let all = self.dense[place * rows..][..rows].iter().copied();
            return all.enumerate().filter(|&(_, value)| value != 0.0).collect();
        }
        let own = self.entries.iter().filter(|entry| is_own(&entry.step));
        own.map(|entry| (entry.row as usize, entry.value)).collect()
    }

    /// The steps of columns with an entry here.
    pub(super) fn present(&self) -> impl Iterator<Item = u32> {
        let runs = self.entries.chunk_by(|a, b| a.step == b.step);
        let dense = self.steps.iter().copied();
        dense.chain(runs.map(|run| run[0].step))
    }

    /// `x += X_{S,Q}' y` for a vector whose sum is 0; of the first `x.len()` steps.
    #[inline(always)]
    pub(super) fn add_products<const L: usize>(&self, y: &[[f64; L]], x: &mut [[f64; L]]) {
        dot_columns(&self.dense, y, |place, product| {
            if let Some(x) = x.get_mut(self.steps[place] as usize) {
                kernels::add_scaled(x, 1.0, &product);
            }
        });
        for entry in &self.entries {
            if let Some(x) = x.get_mut(entry.step as usize) {
                kernels::add_scaled(x, entry.value, &y[entry.row as usize]);
            }
        }
    }

    /// `u -= X_{S,Q} theta`, then centred.
    #[inline(always)]
    pub(super) fn take_off<const L: usize>(&self, theta: &[[f64; L]], u: &mut [[f64; L]]) {
        let factor = |place: usize| {
            let mut negative = [0.0; L];
            kernels::add_scaled(&mut negative, -1.0, &theta[self.steps[place] as usize]);
            negative
        };
        add_columns(&self.dense, factor, u);
        for entry in &self.entries {
            let theta = &theta[entry.step as usize];
            kernels::add_scaled(&mut u[entry.row as usize], -entry.value, theta);
        }
        centre_rows(u);
    }
}

/// So many numbers more, with room now and then for a quarter of all beyond them.
fn grow<T: Copy + Default>(numbers: &mut Vec<T>, more: usize) -> &mut [T] {
    let length = numbers.len();
    if length + more > numbers.capacity() {
        numbers.reserve_exact(more + length / 4);
    }
    numbers.resize(length + more, T::default());
    &mut numbers[length..]
}

/// `out += C F` for columns of as many numbers as `out` has rows, and a row of `F` for each.
#[inline(always)]
fn add_columns<const L: usize>(
    columns: &[f64],
    factor: impl Fn(usize) -> [f64; L],
    out: &mut [[f64; L]],
) {
    let rows = out.len();
    for (tile, columns) in columns.chunks(TILE * rows).enumerate() {
        let first = tile * TILE;
        if columns.len() == TILE * rows {
            let mut factors = [[0.0; L]; TILE];
            for (own, own_factor) in factors.iter_mut().enumerate() {
                *own_factor = factor(first + own);
            }
            add_tile(columns, &factors, out);
        } else {
            for (own, column) in columns.chunks_exact(rows).enumerate() {
                add_tile(column, &[factor(first + own)], out);
            }
        }
    }
}

/// `out += C F` for a few columns.
#[inline(always)]
fn add_tile<const L: usize, const N: usize>(
    columns: &[f64],
    factors: &[[f64; L]; N],
    out: &mut [[f64; L]],
) {
    let columns = cut::<N>(columns, out.len());
    for (row, out) in out.iter_mut().enumerate() {
        for (column, factor) in columns.iter().zip(factors) {
            kernels::add_scaled(out, column[row], factor);
        }
    }
}

/// Shows `see` the rows of `C' u` for columns of as many numbers as `u` has rows.
#[inline(always)]
fn dot_columns<const L: usize>(
    columns: &[f64],
    u: &[[f64; L]],
    mut see: impl FnMut(usize, [f64; L]),
) {
    let rows = u.len();
    for (tile, columns) in columns.chunks(TILE * rows).enumerate() {
        let places = tile * TILE..;
        if columns.len() == TILE * rows {
            let products: [_; TILE] = dot_tile(columns, u);
            places
                .zip(products)
                .for_each(|(place, own)| see(place, own));
        } else {
            for (place, column) in places.zip(columns.chunks_exact(rows)) {
                let [product] = dot_tile(column, u);
                see(place, product);
            }
        }
    }
}

/// `C' u` for a few columns.
#[inline(always)]
fn dot_tile<const L: usize, const N: usize>(columns: &[f64], u: &[[f64; L]]) -> [[f64; L]; N] {
    let (columns, mut sums) = (cut::<N>(columns, u.len()), [[0.0; L]; N]);
    if L == 1 {
        // More sums, as there is one lane.
        for (sum, column) in sums.iter_mut().zip(columns) {
            *sum = [kernels::dot(column, u.as_flattened()); L];
        }
        return sums;
    }
    for (row, u) in u.iter().enumerate() {
        for (sum, column) in sums.iter_mut().zip(columns) {
            kernels::add_scaled(sum, column[row], u);
        }
    }
    sums
}

/// Columns of so many rows.
#[inline(always)]
fn cut<const N: usize>(columns: &[f64], rows: usize) -> [&[f64]; N] {
    let mut cut = [&columns[..0]; N];
    for (own, column) in cut.iter_mut().enumerate() {
        *column = &columns[own * rows..][..rows];
    }
    cut
}

/// `T_Q = I + S S'`. `S` has a column for each step, as long as the matrix itself would take more room.
#[derive(Debug, Clone, Default)]
pub(super) struct Transform {
    /// Columns of `S` one after the other, or `T_Q`.
    numbers: Vec<f64>,
    whole: bool,
}

impl Transform {
    /// `T_Q u` into `tu`.
    #[inline(always)]
    pub(super) fn apply<const L: usize>(&self, u: &[[f64; L]], tu: &mut [[f64; L]]) {
        if self.whole {
            dot_columns(&self.numbers, u, |row, product| tu[row] = product);
            return;
        }
        let mut along = vec![[0.0; L]; self.numbers.len() / u.len()];
        dot_columns(&self.numbers, u, |column, product| along[column] = product);
        tu.copy_from_slice(u);
        add_columns(&self.numbers, |column| along[column], tu);
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
        let root = nu.sqrt();
        self.numbers.extend(psi.iter().map(|own| root * own));
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
    pub(super) selected: SelectedColumns,
    pub(super) transform: Transform,
    /// `trace(T_Q - I)`, which is no less than its norm.
    pub(super) trace: f64,
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Columns of one entry and of as many as there are rows.
    #[test]
    fn columns_are_the_same_however_they_are_kept() {
        let columns: [&[(u32, f64)]; 7] = [
            &[(7, 1.0), (8, 2.0), (9, 3.0), (10, -1.0), (11, 0.5)],
            &[(8, -4.0)],
            &[],
            &[(9, 1.0), (11, 2.0)],
            &[(7, 1.5), (8, 0.25), (10, 2.0)],
            &[(7, 1.0), (8, 3.0), (9, 5.0), (10, 7.0)],
            &[(8, 3.0), (9, 5.0), (10, 7.0), (11, 2.0)],
        ];
        let mut selected = SelectedColumns::default();
        let mut dense = Vec::new();
        for (step, column) in columns.into_iter().enumerate() {
            let (rows, values): (Vec<u32>, Vec<f64>) = column.iter().copied().unzip();
            let entries = Column {
                rows: &rows,
                values: &values,
            };
            selected.push((7, 5), entries, step);
            let mut spread = vec![0.0; 5];
            for (row, value) in entries.iter() {
                spread[row - 7] = value;
            }
            let found = selected.column(step, 5).into_iter();
            assert!(found.eq(entries.iter().map(|(row, value)| (row - 7, value))));
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
            let close = |(a, b): (&f64, &f64)| (a - b).abs() < 1e-12;
            let (found, expected) = (found.as_flattened(), expected.as_flattened());
            assert!(found.iter().zip(expected).all(close));
            let mut x = vec![0.0; step + 1];
            let (y, x_rows) = (found.as_chunks::<1>().0, x.as_chunks_mut::<1>().0);
            selected.add_products(y, x_rows);
            let products = dense.iter().map(|column| kernels::dot(column, found));
            assert!(x.iter().zip(&products.collect::<Vec<_>>()).all(close));
        }
        assert_eq!(selected.steps, [0, 4, 5, 6]);
        assert!(selected.present().eq([0, 4, 5, 6, 1, 3]));
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
}
