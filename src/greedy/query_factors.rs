//! One Cholesky factor a query, for data and `lambda` where the two `m x k`
//! matrices of [`State`](super::State) would lose too many digits.
//!
//! `State` derives the model without a query from the model with it, dividing by `1 - B_Q`. That may be as small as
//! `lambda / s`. If features occur in few queries and `lambda` is tiny against their norms, every further step
//! divides again. Digits then go with the square of `s / lambda`. `QueryFactors` never subtracts a query from a sum
//! that holds it. For each query `Q` it extends
//!
//! ```text
//! F_{-Q} F_{-Q}' = X_{S,-Q}' X_{S,-Q} + lambda I
//! P_Q            = F_{-Q}^-1 X_{S,Q}'           (by example: m x k in all)
//! eta_{-Q}       = F_{-Q}^-1 X_{S,-Q}' y_{-Q}
//! ```
//!
//! by one row a step, and judges a candidate `v` by
//!
//! ```text
//! z        = F_{-Q}^-1 X_{S,-Q}' v_{-Q}
//! beta_Q   = (v_{-Q} . y_{-Q} - z . eta_{-Q}) / (lambda + |v_{-Q}|^2 - |z|^2)
//! T_Q u_Q  = v_Q - P_Q' z
//! ```
//!
//! which is equation (*) with every sum over the other queries computed directly. It takes O(m k + q k^2) time for
//! a candidate and step, and as much memory.

use rayon::prelude::*;

use super::gain::{QuerySums, Terms};
use super::matrices::QueryMatrices;
use crate::data::{Column, Queries};
use crate::linalg::centring::sparse_moments;
use crate::linalg::grown::Grown;
use crate::linalg::kernels::{self, LANES, Lanes};

/// The models without each query, after `t` of at most `capacity` steps.
#[derive(Debug, Clone)]
pub(super) struct QueryFactors {
    queries: Queries,
    lambda: f64,
    capacity: usize,
    steps: usize,
    /// `P` by example: `m` rows of `capacity`.
    projected: Vec<f64>,
    /// `F_{-Q}` and `eta_{-Q}` of each query.
    models: Vec<Grown>,
}

/// Sums over all queries except one, without subtraction: for every touched query, the sums before it and after it.
#[derive(Debug, Default)]
pub(super) struct SumsWithout {
    /// Touched queries, ascending.
    touched: Vec<u32>,
    width: usize,
    /// `touched + 1` rows of `width`: sums over earlier queries.
    before: Vec<f64>,
    /// `touched + 1` rows of `width`: sums over this query and later ones.
    after: Vec<f64>,
}

impl SumsWithout {
    /// Turns the rows in `before`, one a touched query, into sums.
    fn accumulate(&mut self) {
        let (width, count) = (self.width, self.touched.len());
        self.after.clear();
        self.after.extend_from_slice(&self.before);
        self.after.resize(width * (count + 1), 0.0);
        for row in (0..count).rev() {
            let (here, next) = self.after[row * width..].split_at_mut(width);
            kernels::add_scaled(here, 1.0, &next[..width]);
        }
        self.before.resize(width * (count + 1), 0.0);
        self.before.rotate_right(width);
        for row in 0..count {
            let (here, next) = self.before[row * width..].split_at_mut(width);
            kernels::add_scaled(&mut next[..width], 1.0, here);
        }
    }

    /// The sums over all queries except `query`.
    fn without(&self, query: u32, sums: &mut [f64]) {
        let row = |rows: &'_ [f64], row: usize, sums: &mut [f64]| {
            kernels::add_scaled(sums, 1.0, &rows[row * self.width..][..self.width]);
        };
        sums.fill(0.0);
        match self.touched.binary_search(&query) {
            Ok(place) => {
                row(&self.before, place, sums);
                row(&self.after, place + 1, sums);
            }
            Err(_) => row(&self.after, 0, sums),
        }
    }
}

impl QueryFactors {
    pub(super) fn new(queries: &Queries, lambda: f64, capacity: usize) -> Self {
        let cells = queries.rows() * capacity;
        Self {
            queries: queries.clone(),
            lambda,
            capacity,
            steps: 0,
            projected: vec![0.0; cells],
            models: vec![Grown::new(lambda); queries.len()],
        }
    }

    /// Bytes for `capacity` steps.
    pub(super) fn memory(rows: usize, queries: usize, capacity: usize) -> u64 {
        let (rows, queries, capacity) = (rows as u64, queries as u64, capacity as u64);
        let factor = capacity.saturating_mul(capacity.saturating_add(3)) / 2;
        let cells = rows.saturating_mul(capacity);
        cells
            .saturating_add(queries.saturating_mul(factor))
            .saturating_mul(8)
    }

    /// `X_{S,Q}' v_Q`, `|v_Q|^2` and `v_Q . y_Q` of every touched query, summed without each of them: rows of `t +
    /// 2` numbers. The matrices may have more features.
    pub(super) fn sums(
        &self,
        column: Column<'_>,
        matrices: &[QueryMatrices],
        labels: &[f64],
    ) -> SumsWithout {
        let mut sums = SumsWithout {
            width: self.steps + 2,
            ..SumsWithout::default()
        };
        for (query, range, entries) in column.by_query(&self.queries) {
            let start = sums.before.len();
            sums.before.resize(start + sums.width, 0.0);
            let (products, scalars) = sums.before[start..].split_at_mut(self.steps);
            let selected = &matrices[query].selected;
            selected.add_products(entries, range.start, products);
            scalars[0] = sparse_moments(entries.values, range.len()).1;
            scalars[1] = kernels::sparse_dot(entries.rows, entries.values, labels);
            // Queries fit in 32 bits, like rows.
            sums.touched.push(u32::try_from(query).unwrap_or(u32::MAX));
        }
        sums.accumulate();
        sums
    }

    /// Adds a feature by the [`sums`](Self::sums) of its column and by its dense `centred` form. Updates the
    /// leave-query-out residual.
    pub(super) fn add(&mut self, sums: &SumsWithout, centred: &[f64], holdout: &mut [f64]) {
        let (t, capacity) = (self.steps, self.capacity);
        let projected = self.queries.split_rows_mut(&mut self.projected, capacity);
        let examples = projected.zip(self.queries.split_mut(holdout));
        let queries = (0u32..).zip(self.queries.ranges()).zip(&mut self.models);
        let parts: Vec<_> = queries.zip(examples).collect();
        parts
            .into_par_iter()
            .for_each(|(((query, range), fold), (projected, holdout))| {
                let centred = &centred[range];
                let mut z = vec![0.0; t + 2];
                sums.without(query, &mut z);
                let (z, scalars) = z.split_at_mut(t);
                let root = fold.grow(z, scalars[0], scalars[1]);
                let eta = fold.eta()[t];
                let rows = projected
                    .chunks_exact_mut(capacity)
                    .zip(centred)
                    .zip(holdout);
                for ((row, &v), holdout) in rows {
                    row[t] = (v - kernels::dot(&row[..t], z)) / root;
                    *holdout -= eta * row[t];
                }
            });
        self.steps += 1;
    }

    /// The largest condition number of all models.
    pub(super) fn condition(&self) -> f64 {
        let conditions = self.models.par_iter().map(Grown::condition);
        conditions.reduce(|| 1.0, f64::max)
    }

    /// Shows `see` the terms of (*) for candidates with these sums, one a lane, and `T_Q u_Q`, query by query.
    /// `load` writes the centred columns of a query over zeros.
    pub(super) fn judge(
        &self,
        sums: &[SumsWithout],
        holdout: &[f64],
        mut load: impl FnMut(usize, &mut [Lanes]),
        mut see: impl FnMut(u32, &Terms<LANES>, &QuerySums<LANES>, &[Lanes]),
    ) {
        let t = self.steps;
        let mut single = vec![0.0; t + 2];
        let mut z = vec![[0.0; LANES]; t + 2];
        let mut v = vec![[0.0; LANES]; self.queries.largest()];
        for ((query, range), fold) in (0u32..).zip(self.queries.ranges()).zip(&self.models) {
            for (lane, sums) in sums.iter().enumerate() {
                sums.without(query, &mut single);
                for (z, &single) in z.iter_mut().zip(&single) {
                    z[lane] = single;
                }
            }
            let v = &mut v[..range.len()];
            v.fill([0.0; LANES]);
            load(query as usize, v);
            let rows = &self.projected[range.start * self.capacity..range.end * self.capacity];
            let rows = Rows {
                projected: rows,
                stride: self.capacity,
                holdout: &holdout[range],
            };
            let (terms, sums) = judge(fold, self.lambda, &mut z, &rows, v);
            see(query, &terms, &sums, v);
        }
    }
}

/// The examples of a query: rows of `P_Q'`, and `p_Q`.
struct Rows<'a> {
    projected: &'a [f64],
    stride: usize,
    holdout: &'a [f64],
}

/// The terms of one query in equation (*). `z` holds `X_{S,-Q}' v_{-Q}` and the two scalars. `v_Q` becomes `T_Q
/// u_Q`.
#[multiversion::multiversion(targets = "simd")]
fn judge(
    fold: &Grown,
    lambda: f64,
    z: &mut [Lanes],
    query: &Rows<'_>,
    v: &mut [Lanes],
) -> (Terms<LANES>, QuerySums<LANES>) {
    let (z, scalars) = z.split_at_mut(fold.steps());
    fold.solve_lanes(z);
    let (mut slack, mut along) = (scalars[0], scalars[1]);
    for (z, &eta) in z.iter().zip(fold.eta()) {
        for lane in 0..LANES {
            slack[lane] -= z[lane] * z[lane];
            along[lane] -= z[lane] * eta;
        }
    }
    let mut sums = QuerySums::default();
    let rows = query.projected.chunks_exact(query.stride);
    for ((row, &p), slot) in rows.zip(query.holdout).zip(v) {
        let mut tu = *slot;
        for (&factor, z) in row.iter().zip(&*z) {
            for lane in 0..LANES {
                tu[lane] -= factor * z[lane];
            }
        }
        sums.add_left_out(&tu, p);
        *slot = tu;
    }
    let mut terms = Terms::new(lambda);
    for (s, slack) in terms.s.iter_mut().zip(slack) {
        *s += slack;
    }
    terms.rho = along;
    (terms, sums)
}
