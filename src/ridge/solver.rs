//! The solvers by name, what they need and what they cost.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::columns::ColumnClasses;

/// The ways to solve for the weights, by the names that users give.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Solver {
    /// A system of one unknown for each example.
    #[serde(rename = "dual")]
    Dual,
    /// A system of one unknown for each column class.
    #[serde(rename = "primal")]
    Primal,
    /// No system at all: products with the sparse columns.
    #[serde(rename = "cg")]
    ConjugateGradients,
}

/// A name that no solver has.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("no solver is called {0:?}: expected one of dual, primal, cg")]
pub struct UnknownSolver(pub String);

/// The size of a problem, as far as memory and time depend on it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Shape {
    /// Examples `m`.
    pub rows: usize,
    /// Examples of the largest query.
    pub largest_query: usize,
    /// Column classes.
    pub classes: usize,
    /// Entries of the column classes.
    pub nonzeros: usize,
    /// Sum over the column classes of their squared numbers of entries.
    pub squares: f64,
    /// Ridge parameters that are going to be asked for.
    pub lambdas: usize,
    /// Threads at work.
    pub threads: usize,
}

impl Shape {
    /// The shape of training on `candidates` with `lambdas` ridge parameters, on this thread pool.
    pub fn new(candidates: &ColumnClasses, lambdas: usize) -> Self {
        let entries = |class: usize| candidates.column(class).rows.len() as f64;
        Self {
            rows: candidates.queries().rows(),
            largest_query: candidates.queries().largest(),
            classes: candidates.len(),
            nonzeros: candidates.summary().nonzeros,
            squares: (0..candidates.len()).map(|c| entries(c) * entries(c)).sum(),
            lambdas,
            threads: rayon::current_num_threads(),
        }
    }

    /// Whether one eigendecomposition is cheaper than a Cholesky factor for each ridge parameter.
    pub fn decomposes(&self) -> bool {
        self.lambdas >= EIGEN_FROM
    }
}

/// Ridge parameters from which on an eigendecomposition pays.
const EIGEN_FROM: usize = 32;

/// Largest query whose block [`Solver::ConjugateGradients`] factors.
pub(super) const LARGEST_BLOCK: usize = 256;

impl Solver {
    /// All solvers.
    pub const ALL: [Self; 3] = [Self::Dual, Self::Primal, Self::ConjugateGradients];

    /// Seconds by [`cost`](Self::cost) from which on `auto` takes conjugate gradients rather than
    /// a solver that factors.
    pub const PATIENCE: f64 = 20.0;

    /// The name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Dual => "dual",
            Self::Primal => "primal",
            Self::ConjugateGradients => "cg",
        }
    }

    /// Whether hold-out predictions come from one factorisation. Conjugate gradients train again
    /// for every group.
    pub fn has_holdout(self) -> bool {
        self != Self::ConjugateGradients
    }

    /// Bytes the solver will take on top of the data and the column classes.
    pub fn memory(self, shape: &Shape) -> u64 {
        let [rows, classes, nonzeros, largest, threads] = [
            shape.rows,
            shape.classes,
            shape.nonzeros,
            shape.largest_query,
            shape.threads,
        ]
        .map(|size| size as u64);
        let by_row = 12 * nonzeros + 8 * (rows + classes);
        let squares = if shape.decomposes() { 3 } else { 2 };
        by_row
            + match self {
                Self::Dual => 8 * rows * (squares * rows + threads * (largest + BATCH as u64)),
                Self::Primal => {
                    let kept = u64::from(shape.decomposes());
                    let examples = largest + BATCH as u64 + 1;
                    8 * classes * ((squares + kept) * classes + 2 * threads * examples)
                }
                Self::ConjugateGradients => {
                    let blocks = rows * largest.min(LARGEST_BLOCK as u64);
                    // Vectors while training, and again for each group that is held out.
                    8 * (blocks + (8 * rows + 2 * classes) * (threads + 1))
                }
            }
    }

    /// Rough seconds on two of today's cores, leave-query-out predictions included where the
    /// solver has them: to compare solvers, not to tell time. `docs/rankrls.md` has the figures.
    pub fn cost(self, shape: &Shape) -> f64 {
        let (rows, classes) = (shape.rows as f64, shape.classes as f64);
        let lambdas = shape.lambdas as f64;
        let factors = |size: f64| {
            let cube = size * size * size;
            if shape.decomposes() {
                0.15e-9 * cube + lambdas * 0.2e-9 * size * size * shape.largest_query as f64
            } else {
                lambdas * 0.005e-9 * cube
            }
        };
        match self {
            Self::Dual => 0.5e-9 * shape.squares + factors(rows),
            Self::Primal => 0.05e-9 * rows * classes * classes + factors(classes),
            Self::ConjugateGradients => lambdas * 1e-6 * shape.nonzeros as f64,
        }
    }
}

/// Examples whose hold-out predictions are computed at once, at least.
pub(super) const BATCH: usize = 128;

impl fmt::Display for Solver {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(self.name())
    }
}

impl FromStr for Solver {
    type Err = UnknownSolver;

    fn from_str(name: &str) -> Result<Self, UnknownSolver> {
        let mut solvers = Self::ALL.into_iter();
        solvers
            .find(|solver| solver.name() == name)
            .ok_or_else(|| UnknownSolver(name.to_owned()))
    }
}
