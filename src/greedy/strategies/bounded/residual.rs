//! The residual of a candidate in the queries that it touches.

use super::IDLE;
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
    /// `theta`, `t`.
    pub(super) theta: Vec<f64>,
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
        size_of::<Self>() + (2 * rows + capacity) * size_of::<f64>()
    }

    /// Bytes held, up to so many steps.
    pub(super) fn bytes(&self, capacity: usize) -> usize {
        Self::bytes_of(self.rows.len(), capacity)
    }

    /// Forgets all queries.
    pub(super) fn clear(&mut self) {
        self.rows.clear();
    }

    /// Adds a query, from `theta`; returns where its rows begin. `room`: for what is computed of the query.
    pub(super) fn add(
        &mut self,
        state: &State,
        segment: &Segment<'_>,
        theta: &[[f64; 1]],
        room: &mut [Vec<[f64; 1]>; 2],
    ) -> usize {
        let range = state.queries().range(segment.query);
        let [u, tu] = room;
        u.clear();
        u.resize(range.len(), [-segment.mean]);
        for (row, value) in segment.column.iter() {
            u[row - range.start] = [value - segment.mean];
        }
        tu.resize(range.len(), [0.0]);
        transform(&state.matrices()[segment.query], theta, u, tu);
        let first = self.rows.len();
        let rows = u.iter().zip(&*tu).map(|(u, tu)| [u[0], tu[0]]);
        self.rows.extend(rows);
        first
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

/// Follows the last addition, which had `tau = phi . v`: section 3 of `docs/derivation.md`.
#[multiversion::multiversion(targets = "simd")]
pub(super) fn follow(residual: &mut Residual, state: &State, pieces: &[Piece], tau: f64) {
    let Some(last) = state.last() else {
        return;
    };
    let theta = &mut residual.theta;
    if theta.len() == theta.capacity() {
        theta.reserve_exact(IDLE);
    }
    theta.push(0.0);
    kernels::add_scaled(theta, tau, &last.weights);
    let mut rest = &mut residual.rows[..];
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

/// `u_Q` in place of `v_Q`, and `T_Q u_Q`.
#[multiversion::multiversion(targets = "simd")]
fn transform(query: &QueryMatrices, theta: &[[f64; 1]], u: &mut [[f64; 1]], tu: &mut [[f64; 1]]) {
    query.selected.take_off(theta, u);
    query.transform.apply(u, tu);
}
