//! The residual of a candidate in the queries that it touches.

use super::IDLE;
use super::bounds::Whole;
use crate::columns::Segment;
use crate::greedy::State;
use crate::greedy::matrices::QueryMatrices;
use crate::greedy::strategies::layout::Piece;
use crate::linalg::kernels;

/// `u` and `T u` of a candidate in the queries that it touches. A step changes them in O(1) a row. With them the
/// gain there is exact.
#[derive(Debug, Default)]
pub(super) struct Residual {
    /// `u_Q` and then `T_Q u_Q`, query after query.
    numbers: Vec<f64>,
    /// `theta`, `t`.
    pub(super) theta: Vec<f64>,
    /// The step that last used it.
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
    /// Bytes of one for `rows` rows and up to `capacity` steps.
    pub(super) fn bytes_of(rows: usize, capacity: usize) -> usize {
        size_of::<Self>() + (2 * rows + capacity) * size_of::<f64>()
    }

    /// Bytes held, for up to `capacity` steps.
    pub(super) fn bytes(&self, capacity: usize) -> usize {
        Self::bytes_of(self.numbers.len() / 2, capacity)
    }

    /// Forgets all queries.
    pub(super) fn clear(&mut self) {
        self.numbers.clear();
    }

    /// Adds a query, from `theta`; returns the start of its numbers. `room` is for its computation.
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
        let first = self.numbers.len();
        self.numbers.extend_from_slice(u.as_flattened());
        self.numbers.extend_from_slice(tu.as_flattened());
        first
    }

    /// The sums of the query with numbers from `first` on.
    pub(super) fn of_query(
        &self,
        first: usize,
        state: &State,
        whole: &Whole,
        query: usize,
    ) -> Touched {
        let holdout = &state.holdout()[state.queries().range(query)];
        sums_of(
            &self.numbers[first..],
            holdout,
            whole,
            state.lambda().value(),
        )
    }
}

/// The sums over the touched queries of a residual.
#[multiversion::multiversion(targets = "simd")]
pub(super) fn touched(
    residual: &Residual,
    state: &State,
    whole: &Whole,
    pieces: &[Piece],
) -> Touched {
    let (mut touched, mut rest) = (Touched::default(), &residual.numbers[..]);
    for piece in pieces {
        let holdout = &state.holdout()[state.queries().range(piece.query as usize)];
        touched.add(sums_of(rest, holdout, whole, state.lambda().value()));
        rest = &rest[2 * holdout.len()..];
    }
    touched
}

/// The sums of the query whose numbers come first.
#[inline(always)]
fn sums_of(numbers: &[f64], holdout: &[f64], whole: &Whole, lambda: f64) -> Touched {
    let (u, rest) = numbers.split_at(holdout.len());
    let tu = &rest[..holdout.len()];
    let (a, b) = (kernels::dot(u, holdout), kernels::dot(u, tu));
    let (c, d) = (kernels::dot(tu, holdout), kernels::dot(tu, tu));
    let slack = (whole.pivot(lambda) - b).max(lambda);
    let beta = (whole.rho - a) / slack;
    Touched {
        gain: beta * (2.0 * c - beta * d),
        c,
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
    let mut rest = &mut residual.numbers[..];
    for piece in pieces {
        let query = piece.query as usize;
        let range = state.queries().range(query);
        let (u, tu);
        (u, rest) = rest.split_at_mut(range.len());
        (tu, rest) = rest.split_at_mut(range.len());
        let (phi, psi) = (&last.phi[range.clone()], &last.psi[range]);
        let along = kernels::dot(u, psi);
        let (nu, leverage) = (last.nu[query], last.leverage[query]);
        kernels::add_scaled(u, -tau, phi);
        kernels::add_scaled(tu, nu * (along - tau * leverage) - tau, psi);
    }
}

/// `u_Q` in place of `v_Q`, and `T_Q u_Q`.
#[multiversion::multiversion(targets = "simd")]
fn transform(query: &QueryMatrices, theta: &[[f64; 1]], u: &mut [[f64; 1]], tu: &mut [[f64; 1]]) {
    query.selected.take_off(theta, u);
    query.transform.apply(u, tu);
}
