//! The sums of equation (*) for a candidate without a row in a query (`docs/derivation.md`, section 5).
//!
//! There `v_Q = 0`, so `u_Q = -X theta` with the columns `X` of `X_{S,Q}`, and the sums are forms of `theta` alone:
//!
//! ```text
//! u . p = -theta . f      u . T u = theta' M theta      f = X' p      M = X' T X
//! p . T u = -theta . g    |T u|^2 = theta' N theta      g = X' T p    N = X' T T X
//! ```
//!
//! Only the selected features that are present in the query count. If these are few, the forms take fewer products
//! than the rows of the query. Candidates of all blocks share them, and a step makes each of them once.
//!
//! A form has the rounding of its terms, which cancel if columns of `X` are alike. By Cauchy and Schwarz the terms
//! of `theta' N theta` sum up to at most `|theta|^2 |X|^2 |T|^2`, with `|T| <= 1 + trace(T - I)`. A candidate takes
//! the form only if this is at most [`SMALL`] times lambda, the least divisor of (*).

use std::num::Saturating;
use std::sync::OnceLock;

use crate::greedy::State;
use crate::greedy::gain::QuerySums;
use crate::greedy::matrices::QueryMatrices;
use crate::greedy::strategy::{Shape, bytes};
use crate::linalg::centring::centre_rows;
use crate::linalg::kernels::{self, LANES, Lanes};

/// Rounding errors of this many times lambda are in the last digits.
const SMALL: f64 = 100.0;

/// Columns from which on forms pay: making one costs about as much as some tens of candidates save.
pub(super) const MANY: usize = 256;

/// Products of `u`, `T u`, `p` and each other for each row of a query.
const OF_ROW: usize = 4;

/// Bytes of the forms after `k` steps: at most the products of rows that they save, and at most all features in
/// every query. Each thread also has the columns for one form.
pub(super) fn memory(shape: &Shape, k: usize) -> Saturating<u64> {
    let [rows, queries, largest, longest] = [
        shape.rows,
        shape.queries,
        shape.largest_query,
        shape.longest,
    ]
    .map(bytes);
    let k = bytes(k);
    let entries = longest.min(rows * k);
    let of_rows = bytes(2) * entries + rows * ((bytes(2) * k).min(largest) + bytes(OF_ROW));
    let of_features = queries * k * (k + bytes(3));
    let making = bytes(size_of::<Lanes>()) * k + bytes(16) * (k + bytes(LANES)) * largest;
    bytes(9) * of_rows.min(of_features) + bytes(112) * queries + bytes(shape.threads) * making
}

/// The forms of all queries of a state, each made when a candidate first asks for it.
#[derive(Debug)]
pub(super) struct Forms<'a> {
    state: &'a State,
    queries: Vec<OnceLock<Option<Form>>>,
}

impl<'a> Forms<'a> {
    pub(super) fn new(state: &'a State) -> Self {
        let queries = (0..state.queries().len()).map(|_| OnceLock::new());
        Self {
            state,
            queries: queries.collect(),
        }
    }

    /// The form of a query; `None` if its rows take fewer products.
    pub(super) fn get(&self, query: usize) -> Option<&Form> {
        let make = || {
            let holdout = &self.state.holdout()[self.state.queries().range(query)];
            let (matrices, lambda) = (&self.state.matrices()[query], self.state.lambda().value());
            let pays = products(matrices) < matrices.products() + OF_ROW * holdout.len();
            pays.then(|| Form::new(matrices, holdout, lambda))
        };
        self.queries[query].get_or_init(make).as_ref()
    }
}

/// Products in the forms of a query.
fn products(matrices: &QueryMatrices) -> usize {
    let present = matrices.selected.present().count();
    present * (present + 3)
}

/// The forms of one query, of the `t_Q` features that are present there.
#[derive(Debug)]
pub(super) struct Form {
    /// Their steps, ascending.
    steps: Vec<u32>,
    /// `f` and `g`.
    linear: Vec<[f64; 2]>,
    /// `M` and `N`: each row up to the diagonal, with doubled values beside the diagonal.
    square: Vec<[f64; 2]>,
    /// The largest valid `|theta|^2`.
    most: f64,
}

impl Form {
    fn new(matrices: &QueryMatrices, holdout: &[f64], lambda: f64) -> Self {
        let steps: Vec<u32> = matrices.selected.present().collect();
        let columns: Vec<[Vec<Lanes>; 2]> = steps
            .chunks(LANES)
            .map(|steps| {
                let (mut x, mut tx) = (vec![[0.0; LANES]; holdout.len()], Vec::new());
                tx.clone_from(&x);
                transformed(matrices, steps, &mut x, &mut tx);
                [x, tx]
            })
            .collect();
        let along = |[one, other]: [(usize, usize); 2]| -> f64 {
            let rows = columns[one.0 / LANES][one.1].iter();
            let rows = rows.zip(&columns[other.0 / LANES][other.1]);
            let products = rows.map(|(a, b)| a[one.0 % LANES] * b[other.0 % LANES]);
            products.sum()
        };
        let along_p = |place: usize, which: usize| -> f64 {
            let rows = columns[place / LANES][which].iter().zip(holdout);
            rows.map(|(x, p)| x[place % LANES] * p).sum()
        };
        let (mut linear, mut square, mut size) = (Vec::new(), Vec::new(), 0.0);
        for row in 0..steps.len() {
            linear.push([along_p(row, 0), along_p(row, 1)]);
            size += along([(row, 0); 2]);
            for column in 0..=row {
                let times = if column < row { 2.0 } else { 1.0 };
                let m = along([(row, 0), (column, 1)]);
                let n = along([(row, 1), (column, 1)]);
                square.push([times * m, times * n]);
            }
        }
        Self {
            steps,
            linear,
            square,
            most: SMALL * lambda / (size * (1.0 + matrices.trace).powi(2)),
        }
    }

    /// Whether the form is as exact as rows, for a candidate with this `|theta|^2`.
    #[inline(always)]
    pub(super) fn serves(&self, theta_squared: f64) -> bool {
        theta_squared <= self.most
    }

    /// The sums of eight candidates; `scratch` for the `theta` of features that are present.
    pub(super) fn sums(&self, theta: &[Lanes], scratch: &mut Vec<Lanes>) -> QuerySums<LANES> {
        scratch.clear();
        scratch.extend(self.steps.iter().map(|&step| theta[step as usize]));
        sums(self, scratch)
    }
}

/// Writes the columns of some steps, centred, into the lanes of `x`, which are 0, and `T x` into `tx`.
#[multiversion::multiversion(targets = "simd")]
fn transformed(matrices: &QueryMatrices, steps: &[u32], x: &mut [Lanes], tx: &mut [Lanes]) {
    for (row, x) in x.iter_mut().enumerate() {
        for (x, &step) in x.iter_mut().zip(steps) {
            *x = matrices.selected.entry(row, step as usize);
        }
    }
    centre_rows(x);
    matrices.transform.apply(x, tx);
}

#[multiversion::multiversion(targets = "simd")]
fn sums(form: &Form, theta: &[Lanes]) -> QuerySums<LANES> {
    let mut sums = QuerySums::default();
    let mut rest = &form.square[..];
    for (place, (own, [f, g])) in theta.iter().zip(&form.linear).enumerate() {
        kernels::add_scaled(&mut sums.a, -f, own);
        kernels::add_scaled(&mut sums.c, -g, own);
        let (row, later) = rest.split_at(place + 1);
        rest = later;
        let (mut along_m, mut along_n) = ([0.0; LANES], [0.0; LANES]);
        for ([m, n], other) in row.iter().zip(theta) {
            kernels::add_scaled(&mut along_m, *m, other);
            kernels::add_scaled(&mut along_n, *n, other);
        }
        for lane in 0..LANES {
            sums.b[lane] += own[lane] * along_m[lane];
            sums.d[lane] += own[lane] * along_n[lane];
        }
    }
    sums
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn large_weights_and_no_numbers_take_no_form() {
        let form = Form {
            steps: vec![0, 1],
            linear: vec![[1.0; 2]; 2],
            square: vec![[1.0; 2]; 3],
            most: 50.0,
        };
        assert!(form.serves(50.0) && !form.serves(50.1) && !form.serves(f64::NAN));
    }
}
