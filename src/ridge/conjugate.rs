//! Conjugate gradients for the dual system, without ever forming it.
//!
//! Solves `(K + lambda I) a = y` for `K = X^ X^'` and a `y` that is centred, as is everything on
//! the way. The preconditioner is the part of the system in which a query meets itself, factored;
//! of queries over [`LARGEST_BLOCK`] examples it is the diagonal.
//!
//! Every iteration multiplies with the entries of the column classes twice, on all threads, and
//! sums are taken in one order, so that the bits do not depend on threads.

use rayon::prelude::*;

use super::design::Design;
use super::factor::Cholesky;
use super::options::LARGEST_BLOCK;
use crate::kernels::{add_scaled, dot};

/// Norm of the residual to reach, as a share of that of the labels.
pub const TOLERANCE: f64 = 1e-10;

/// Most iterations.
pub const ITERATIONS: usize = 5_000;

/// Growth of the residual, from its least, that only rounding explains.
const DIVERGED: f64 = 1e4;

/// How conjugate gradients ended.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Convergence {
    /// Iterations taken.
    pub iterations: usize,
    /// Norm of the residual, as a share of that of the labels.
    pub residual: f64,
}

impl Convergence {
    /// Whether the residual is within [`TOLERANCE`].
    pub fn is_converged(&self) -> bool {
        self.residual <= TOLERANCE
    }
}

/// The system for one ridge parameter.
#[derive(Debug)]
pub(super) struct Iterative<'a> {
    design: &'a Design<'a>,
    lambda: f64,
    blocks: Vec<Block>,
}

/// The part of the preconditioner that belongs to a query.
#[derive(Debug)]
enum Block {
    Factor(Cholesky),
    Diagonal(Vec<f64>),
}

impl<'a> Iterative<'a> {
    /// `shift` is of the size of the diagonal of `K`: what the preconditioner has for directions
    /// that are not centred, none of which is met.
    pub(super) fn new(design: &'a Design<'a>, shift: f64, lambda: f64) -> Self {
        let queries = 0..design.queries().len();
        let block = |query: usize| Block::new(design, query, shift, lambda);
        Self {
            design,
            lambda,
            blocks: queries.into_par_iter().map(block).collect(),
        }
    }

    /// Improves `a` until `(K + lambda I) a = y` on the rows of the queries that are `kept` (all,
    /// if none are named). On other rows `a` becomes 0.
    ///
    /// The residual that iterations carry along drifts from the true one. Where they differ, the
    /// iterations begin anew from the best coefficients, as long as that brings them closer.
    pub(super) fn solve(&self, y: &[f64], kept: Option<&[bool]>, a: &mut Vec<f64>) -> Convergence {
        let mut y = y.to_vec();
        self.drop_others(kept, &mut y);
        self.drop_others(kept, a);
        let norm = norm(&y);
        let mut ended = Convergence {
            iterations: 0,
            residual: 0.0,
        };
        if norm == 0.0 {
            a.fill(0.0);
            return ended;
        }
        let mut residual = self.residual(&y, kept, a);
        if self::norm(&residual) > norm {
            a.fill(0.0);
            residual.clone_from(&y);
        }
        ended.residual = self::norm(&residual) / norm;
        while !ended.is_converged() && ended.iterations < ITERATIONS {
            let mut closer = a.clone();
            ended.iterations += self.iterate(residual, kept, TOLERANCE * norm, &mut closer);
            residual = self.residual(&y, kept, &closer);
            let share = self::norm(&residual) / norm;
            // Not a number is not closer.
            if share < ended.residual {
                *a = closer;
            }
            if share < 0.5 * ended.residual {
                ended.residual = share;
            } else {
                ended.residual = ended.residual.min(share);
                break;
            }
        }
        ended
    }

    /// Iterates until the residual is `enough`, and returns how many iterations that took.
    fn iterate(
        &self,
        mut residual: Vec<f64>,
        kept: Option<&[bool]>,
        enough: f64,
        a: &mut [f64],
    ) -> usize {
        let mut scaled = self.precondition(&residual, kept);
        let mut direction = scaled.clone();
        let mut along = dot(&residual, &scaled);
        let mut least = norm(&residual);
        for iteration in 0..ITERATIONS {
            let now = norm(&residual);
            least = least.min(now);
            // Where it is not a number, or has grown, rounding has taken over.
            if now <= enough || now.is_nan() || now > DIVERGED * least {
                return iteration;
            }
            let product = self.product(&direction, kept);
            let step = along / dot(&direction, &product);
            add_scaled(a, step, &direction);
            add_scaled(&mut residual, -step, &product);
            scaled = self.precondition(&residual, kept);
            let before = std::mem::replace(&mut along, dot(&residual, &scaled));
            let turn = along / before;
            for (direction, scaled) in direction.iter_mut().zip(&scaled) {
                *direction = scaled + turn * *direction;
            }
        }
        ITERATIONS
    }

    /// `y - (K + lambda I) a`.
    fn residual(&self, y: &[f64], kept: Option<&[bool]>, a: &[f64]) -> Vec<f64> {
        let mut residual = y.to_vec();
        add_scaled(&mut residual, -1.0, &self.product(a, kept));
        residual
    }

    /// `(K + lambda I) v` for a centred `v`.
    fn product(&self, v: &[f64], kept: Option<&[bool]>) -> Vec<f64> {
        let mut product = self.design.kernel(v);
        add_scaled(&mut product, self.lambda, v);
        self.drop_others(kept, &mut product);
        product
    }

    /// A centred vector from a centred one.
    fn precondition(&self, residual: &[f64], kept: Option<&[bool]>) -> Vec<f64> {
        let mut scaled = residual.to_vec();
        let parts = self.design.queries().split_mut(&mut scaled);
        for (part, block) in parts.zip(&self.blocks) {
            block.solve(part);
        }
        self.drop_others(kept, &mut scaled);
        // Rounding would otherwise add up outside of the centred vectors.
        self.design.centre(&mut scaled);
        scaled
    }

    fn drop_others(&self, kept: Option<&[bool]>, values: &mut [f64]) {
        let Some(kept) = kept else {
            return;
        };
        for (range, kept) in self.design.queries().ranges().zip(kept) {
            if !kept {
                values[range].fill(0.0);
            }
        }
    }
}

impl Block {
    fn new(design: &Design<'_>, query: usize, shift: f64, lambda: f64) -> Self {
        let range = design.queries().range(query);
        let size = range.len();
        if size <= LARGEST_BLOCK {
            let mut square = design.query_kernel(query, shift);
            square.add_to_diagonal(lambda);
            if let Some(factor) = Cholesky::small(square) {
                return Self::Factor(factor);
            }
        }
        let mut diagonal = design.query_diagonal(query);
        for value in &mut diagonal {
            *value += lambda;
        }
        Self::Diagonal(diagonal)
    }

    fn solve(&self, values: &mut [f64]) {
        match self {
            Self::Diagonal(diagonal) => {
                for (value, diagonal) in values.iter_mut().zip(diagonal) {
                    *value /= diagonal;
                }
            }
            Self::Factor(factor) => factor.solve(values),
        }
    }
}

fn norm(values: &[f64]) -> f64 {
    dot(values, values).sqrt()
}
