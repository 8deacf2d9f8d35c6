//! The residual of a candidate in the queries that it touches.

use super::bounds::Whole;
use crate::columns::Segment;
use crate::greedy::State;
use crate::greedy::matrices::QueryMatrices;
use crate::greedy::strategies::layout::Piece;
use crate::linalg::kernels;

/// `u` and `T u` of a candidate, row by row of the queries that it touches. A step changes them in
/// O(1) a row; with them the gain there is exact.
#[derive(Debug, Default)]
pub(super) struct Residual {
    rows: Vec<[f64; 2]>,
    /// `z`, `t` numbers, as long as it takes no more room than the rows; empty after that.
    z: Vec<f64>,
    /// The step in which it was last of use.
    pub(super) used: usize,
}

/// Sums of a candidate over the queries that it touches.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Touched {
    /// Their part of (*).
    pub(super) gain: f64,
    /// `sum c_Q`
    pub(super) c: f64,
}

impl Touched {
    pub(super) fn add(&mut self, other: Self) {
        self.gain += other.gain;
        self.c += other.c;
    }
}

impl Residual {
    /// Bytes of one of so many rows, up to so many steps.
    pub(super) fn bytes_of(rows: usize, capacity: usize) -> usize {
        let numbers = 2 * rows + capacity.min(2 * rows);
        size_of::<Self>() + numbers * size_of::<f64>()
    }

    /// Bytes held.
    pub(super) fn bytes(&self, capacity: usize) -> usize {
        Self::bytes_of(self.rows.len(), capacity)
    }

    /// `z` after so many steps, if it is kept.
    pub(super) fn z(&self, steps: usize) -> Option<&[f64]> {
        (self.z.len() == steps).then_some(&self.z[..])
    }

    /// Keeps `z`, too, where it is short; up to `capacity` steps.
    pub(super) fn keep(&mut self, z: &[f64], capacity: usize, steps: usize) {
        self.used = steps;
        let most = capacity.min(2 * self.rows.len());
        if z.len() <= most {
            self.z.reserve_exact(most);
            self.z.extend_from_slice(z);
        }
    }

    /// Forgets all queries.
    pub(super) fn clear(&mut self) {
        self.rows.clear();
    }

    /// Adds a query, from `z`: O(t) a row; returns where its rows begin. `z_without`: room for `t`
    /// numbers.
    pub(super) fn add(
        &mut self,
        state: &State,
        segment: &Segment<'_>,
        z: &[f64],
        z_without: &mut [f64],
    ) -> usize {
        let range = state.queries().range(segment.query);
        let first = self.rows.len();
        self.rows
            .resize(first + range.len(), [-segment.mean, -segment.mean]);
        let rows = &mut self.rows[first..];
        for (row, value) in segment.column.iter() {
            rows[row - range.start] = [value - segment.mean; 2];
        }
        state.project(segment.column, z_without);
        for (own, z) in z_without.iter_mut().zip(z) {
            *own = z - *own;
        }
        subtract(&state.query_matrices(segment.query), z, z_without, rows);
        first
    }

    /// Follows the last addition, which had `tau = phi . v`: section 3 of `docs/derivation.md`.
    #[inline(always)]
    pub(super) fn follow(&mut self, state: &State, pieces: &[Piece], tau: f64) {
        let Some(last) = state.last() else {
            return;
        };
        if self.z.len() + 1 == state.steps() && state.steps() <= 2 * self.rows.len() {
            self.z.push(tau);
        } else {
            self.z = Vec::new();
        }
        let mut rest = &mut self.rows[..];
        for piece in pieces {
            let query = piece.query as usize;
            let range = state.queries().range(query);
            let rows = rest.split_off_mut(..range.len()).unwrap_or_default();
            let (phi, psi) = (&last.phi[range.clone()], &last.psi[range]);
            let along: f64 = rows.iter().zip(psi).map(|(row, psi)| row[0] * psi).sum();
            let (nu, leverage) = (last.nu[query], last.leverage[query]);
            let change = nu * (along - tau * leverage) - tau;
            for ((row, phi), psi) in rows.iter_mut().zip(phi).zip(psi) {
                row[0] -= tau * phi;
                row[1] += change * psi;
            }
        }
    }

    /// The sums over touched queries.
    #[inline(always)]
    pub(super) fn touched(&self, state: &State, whole: &Whole, pieces: &[Piece]) -> Touched {
        let (mut touched, mut first) = (Touched::default(), 0);
        for piece in pieces {
            let query = piece.query as usize;
            touched.add(self.of_query(first, state, whole, query));
            first += state.queries().range(query).len();
        }
        touched
    }

    /// The sums of the query whose rows begin at `first`.
    #[inline(always)]
    pub(super) fn of_query(
        &self,
        first: usize,
        state: &State,
        whole: &Whole,
        query: usize,
    ) -> Touched {
        let (mut a, mut b, mut c, mut d) = (0.0, 0.0, 0.0, 0.0);
        let holdout = &state.holdout()[state.queries().range(query)];
        for (&[u, tu], &p) in self.rows[first..].iter().zip(holdout) {
            a += u * p;
            b += u * tu;
            c += p * tu;
            d += tu * tu;
        }
        let lambda = state.lambda().value();
        let slack = (whole.pivot(lambda) - b).max(lambda);
        let beta = (whole.rho - a) / slack;
        Touched {
            gain: beta * (2.0 * c - beta * d),
            c,
        }
    }
}

/// `u - Phi_Q' z` and `T u - H_Q z_-`, from `v` in both.
#[multiversion::multiversion(targets = "simd")]
fn subtract(query: &QueryMatrices<'_>, z: &[f64], z_without: &[f64], rows: &mut [[f64; 2]]) {
    for (example, row) in rows.iter_mut().enumerate() {
        let cells = example * query.stride..example * query.stride + z.len();
        row[0] -= kernels::dot(&query.phi[cells.clone()], z);
        row[1] -= kernels::dot(&query.held[cells], z_without);
    }
}
