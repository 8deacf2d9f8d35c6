//! The solvers by name, what they need and what they cost.

use std::num::Saturating;

use super::factor::BLOCK;
use crate::columns::ColumnClasses;
use crate::data::Queries;
use crate::linalg::kernels::LANES;
use crate::names::names;

/// The ways to solve for the weights, by the names that users give.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Solver {
    /// A system of one unknown for each example.
    Dual,
    /// A system of one unknown for each column class.
    Primal,
    /// No system at all: products with the sparse columns.
    ConjugateGradients,
}

names!(Solver, "solver", Dual => "dual", Primal => "primal", ConjugateGradients => "cg");

/// The size of a problem, as far as memory and time depend on it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Shape {
    /// Examples `m`.
    pub rows: usize,
    /// Queries.
    pub queries: usize,
    /// Examples of the largest query.
    pub largest_query: usize,
    /// Examples of the largest group that is held out at once: no fewer than those.
    pub largest_group: usize,
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
        let entries = |class: usize| candidates.entries_of(class) as u128;
        let squares = (0..candidates.len()).map(|c| entries(c) * entries(c));
        Self {
            classes: candidates.summary().column_classes,
            nonzeros: candidates.summary().nonzeros,
            squares: squares.sum::<u128>() as f64,
            ..Self::of_rows(candidates.queries(), lambdas)
        }
    }

    /// The shape of training on the rows of `queries` under a kernel that is known.
    pub(super) fn of_rows(queries: &Queries, lambdas: usize) -> Self {
        Self {
            rows: queries.rows(),
            queries: queries.len(),
            largest_query: queries.largest(),
            largest_group: queries.largest(),
            classes: 0,
            nonzeros: 0,
            squares: 0.0,
            lambdas,
            threads: rayon::current_num_threads(),
        }
    }

    /// The shape of so many preferences among the rows.
    pub(super) fn of_preferences(self, preferences: usize) -> Self {
        let rows_each = preferences as f64 / self.rows as f64;
        Self {
            rows: preferences,
            queries: preferences,
            largest_query: 1,
            largest_group: 1,
            // A column of the kernel meets the columns of two rows.
            squares: 2.0 * rows_each * self.squares,
            ..self
        }
    }
}

/// Largest query whose block [`Solver::ConjugateGradients`] factors.
pub(super) const LARGEST_BLOCK: usize = 256;

impl Solver {
    /// Seconds by [`cost`](Self::cost) from which on `auto` takes conjugate gradients rather than
    /// a solver that factors.
    pub const PATIENCE: f64 = 20.0;

    /// Whether hold-out predictions come from one factorisation. Conjugate gradients train again
    /// for every group.
    pub fn has_holdout(self) -> bool {
        self != Self::ConjugateGradients
    }

    /// Bytes the solver will take on top of the data and the column classes: its matrices, and a
    /// tenth.
    pub fn memory(self, shape: &Shape) -> u64 {
        let size = |size: usize| Saturating(size as u64);
        let times = |factor: u64, size: Saturating<u64>| Saturating(factor) * size;
        let (rows, classes) = (size(shape.rows), size(shape.classes));
        // Rows that all threads hold out at once; those of a batch are packed twice for products.
        let out = size(shape.threads) * (size(shape.largest_group) + size(3 * BLOCK));
        let matrices = match self {
            Self::Dual => times(8, rows * (times(2, rows) + out)),
            Self::Primal => times(16, classes * (classes + out)),
            Self::ConjugateGradients => {
                let block = size(shape.largest_query.min(LARGEST_BLOCK));
                let lanes = size(LANES) * (times(7, rows) + classes);
                times(8, rows * block + lanes)
            }
        };
        // The entries of the classes by row count, too.
        let all = matrices + times(12, size(shape.nonzeros));
        (times(11, all) / Saturating(10)).0
    }

    /// Rough seconds on two of today's cores, leave-query-out predictions included where the
    /// solver has them: to compare solvers, not to tell time. `docs/rankrls.md` has the figures.
    pub fn cost(self, shape: &Shape) -> f64 {
        let (rows, classes) = (shape.rows as f64, shape.classes as f64);
        let lambdas = shape.lambdas as f64;
        let factors = |size: f64| lambdas * 0.005e-9 * (size * size * size);
        match self {
            Self::Dual => 0.5e-9 * shape.squares + factors(rows),
            Self::Primal => 0.05e-9 * rows * classes * classes + factors(classes),
            Self::ConjugateGradients => lambdas * 1e-6 * shape.nonzeros as f64,
        }
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    pub(in crate::ridge) fn shape(rows: usize, classes: usize, nonzeros: usize) -> Shape {
        Shape {
            rows,
            queries: rows / 10,
            largest_query: 20,
            largest_group: 20,
            classes,
            nonzeros,
            squares: nonzeros as f64 * 40.0,
            lambdas: 1,
            threads: 2,
        }
    }

    #[test]
    fn larger_groups_take_more_memory() {
        let queries = shape(2_000, 15_000, 300_000);
        let halves = Shape {
            largest_group: 1_000,
            ..queries
        };
        let more = |solver: Solver| solver.memory(&halves) - solver.memory(&queries);
        assert_eq!(more(Solver::Dual), 8 * 2_000 * 2 * 980 * 11 / 10);
        assert_eq!(more(Solver::Primal), 16 * 15_000 * 2 * 980 * 11 / 10);
        assert_eq!(more(Solver::ConjugateGradients), 0);
    }
}
