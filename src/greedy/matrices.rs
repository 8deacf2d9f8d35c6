//! What the state has of one query: `X_{S,Q}`, as sparse as the data, and `T_Q` (`docs/derivation.md`, section 5).
//!
//! Kernels take `L` vectors side by side, a lane each. Lanes never meet.

use crate::data::Column;
use crate::linalg::centring::centre_rows;
use crate::linalg::kernels;

/// Rows computed together in registers.
const TILE: usize = 4;

/// `X_{S,Q}`, not centred, by rows: all numbers where half of them or more are not 0, else those alone.
#[derive(Debug, Clone, Default)]
pub(super) struct SelectedRows {
    /// Where each row ends in `steps` and `values`; empty where rows have all numbers.
    ends: Vec<usize>,
    /// The steps of `values`; those of each row where rows have all numbers.
    steps: Vec<u32>,
    values: Vec<f64>,
    /// The steps of columns with an entry here, and their means.
    means: Vec<(u32, f64)>,
    /// Numbers that are not 0.
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

    /// Adds the column of `step`, which has these entries in the query of so many rows from `first` on.
    pub(super) fn push(&mut self, (first, rows): (usize, usize), entries: Column<'_>, step: usize) {
        // Steps count in 32 bits, as features do.
        let number = u32::try_from(step).unwrap_or(u32::MAX);
        if !entries.rows.is_empty() {
            self.entries += entries.rows.len();
            let sum: f64 = entries.values.iter().sum();
            self.means.push((number, sum / rows as f64));
        }
        let whole = 2 * self.entries >= rows * (step + 1);
        if entries.rows.is_empty() && !whole && !(self.ends.is_empty() && step > 0) {
            self.ends.resize(rows, 0);
            return;
        }
        let room = if whole {
            rows * (step + 1)
        } else {
            self.entries
        };
        let (mut steps, mut values) = (Vec::new(), Vec::with_capacity(room));
        let (mut ends, mut new) = (Vec::new(), entries.iter().peekable());
        for row in 0..rows {
            let newest = new.next_if(|&(own, _)| own == first + row);
            let newest = newest.map(|(_, value)| (number, value));
            let old = if self.values.is_empty() {
                (&[][..], &[][..])
            } else {
                self.row(row)
            };
            let old = old.0.iter().copied().zip(old.1.iter().copied());
            let all = old.filter(|&(_, value)| value != 0.0).chain(newest);
            if whole {
                let start = values.len();
                values.resize(start + step + 1, 0.0);
                all.for_each(|(step, value)| values[start + step as usize] = value);
            } else {
                all.for_each(|(step, value)| {
                    steps.push(step);
                    values.push(value);
                });
                ends.push(values.len());
            }
        }
        if whole {
            steps.extend(0..=number);
        }
        (self.steps, self.values, self.ends) = (steps, values, ends);
    }

    /// `x += X_{S,Q} v_Q` in a lane, for the entries of `v` in a query whose rows begin at `first`; of the first
    /// `x.len()` steps.
    #[inline(always)]
    pub(super) fn add_products<const L: usize>(
        &self,
        (entries, first): (Column<'_>, usize),
        lane: usize,
        x: &mut [[f64; L]],
    ) {
        let mut sum = 0.0;
        for (row, value) in entries.iter() {
            let (steps, numbers) = self.row(row - first);
            for (&step, number) in steps.iter().zip(numbers) {
                if let Some(x) = x.get_mut(step as usize) {
                    x[lane] += value * number;
                }
            }
            sum += value;
        }
        for &(step, mean) in &self.means {
            if let Some(x) = x.get_mut(step as usize) {
                x[lane] -= sum * mean;
            }
        }
    }

    /// `x += X_{S,Q} y` for vectors whose sum is 0.
    #[inline(always)]
    pub(super) fn add_products_of<const L: usize>(&self, y: &[[f64; L]], x: &mut [[f64; L]]) {
        for (row, y) in y.iter().enumerate() {
            let (steps, numbers) = self.row(row);
            for (&step, &number) in steps.iter().zip(numbers) {
                kernels::add_scaled(&mut x[step as usize], number, y);
            }
        }
    }

    /// `X_{S,Q} y` for vectors whose sum is 0, of the steps with an entry here; `steps`: `t`.
    pub(super) fn sparse_products_of<const L: usize>(
        &self,
        y: &[[f64; L]],
        steps: usize,
    ) -> Vec<(u32, [f64; L])> {
        let mut x = vec![[0.0; L]; steps];
        self.add_products_of(y, &mut x);
        let own = self.means.iter();
        own.map(|&(step, _)| (step, x[step as usize])).collect()
    }

    /// `u -= X_{S,Q}' theta`, then centred.
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

/// Gives `take` each number of `out` with that of `M y`, for as many rows of `M` as `out` has.
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
    let rows: [&[f64]; ROWS] = std::array::from_fn(|row| &m[row * y.len()..][..y.len()]);
    let mut products = [[0.0; L]; ROWS];
    for (at, y) in y.iter().enumerate() {
        for (product, row) in products.iter_mut().zip(rows) {
            for lane in 0..L {
                product[lane] += row[at] * y[lane];
            }
        }
    }
    products
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
            multiply(&self.numbers, u, tu, |tu, product| *tu = *product);
            return;
        }
        let columns = self.numbers.chunks_exact(u.len());
        let along = |column: &[f64]| {
            let mut along = [0.0; L];
            for (number, u) in column.iter().zip(u) {
                kernels::add_scaled(&mut along, *number, u);
            }
            along
        };
        let alongs: Vec<[f64; L]> = columns.clone().map(along).collect();
        for (row, (tu, u)) in tu.iter_mut().zip(u).enumerate() {
            let mut sum = *u;
            for (column, along) in columns.clone().zip(&alongs) {
                kernels::add_scaled(&mut sum, column[row], along);
            }
            *tu = sum;
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
    pub(super) selected: SelectedRows,
    pub(super) transform: Transform,
    /// `trace(T_Q - I)`, which is no less than its norm.
    pub(super) trace: f64,
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rows that are full at first, thin out and fill up again.
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
        let mut dense = vec![vec![0.0; 5]; 0];
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
            assert_eq!(found, expected);
            let (mut x, mut sum) = (vec![[0.0]; step + 1], vec![[0.0]; step + 1]);
            selected.add_products((entries, 7), 0, &mut x);
            let mut centred: Vec<[f64; 1]> = dense[step].iter().map(|&v| [v]).collect();
            centre_rows(&mut centred);
            selected.add_products_of(&centred, &mut sum);
            let pairs = x.as_flattened().iter().zip(sum.as_flattened());
            assert!(
                pairs.into_iter().all(|(a, b)| (a - b).abs() < 1e-12),
                "{x:?} {sum:?}"
            );
        }
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
