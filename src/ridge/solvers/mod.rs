//! The solvers: one file each with all about it, and a line in the list below.
//!
//! A solver minimises `|y^ - X^ w|^2 + ridge |w|^2` for a [`System`] and any ridge parameter, by an algorithm
//! of its own. [`Solve`] says what it does, [`SolverFacts`] what is known of it beforehand. Nobody outside
//! of this folder asks which one it is.

mod conjugate;
mod dual;
mod factored;
mod gradients;
mod preconditioner;
mod primal;

use std::fmt;
use std::num::Saturating;

use rankrls_files::Remedy;

use super::shape::TrainShape;
use super::system::System;
use crate::error::{Error, Result};
use crate::lambda::Lambda;
use crate::linalg::factor::BLOCK;
use crate::names::named;

pub(crate) use factored::{Factored, batches, blocks};

/// Norm of the residual `y^ - (K + ridge I) a` at which iterations end, as a share of the norm of the labels `y^`.
/// Rounding keeps it above if the unit is about 1e8 times lambda or more.
pub(crate) const TOLERANCE: f64 = 1e-10;

/// The same for models that only predict left-out rows, to compare ridge parameters.
pub const HOLDOUT_TOLERANCE: f64 = 1e-6;

/// The facts about a solver that hold for any system.
pub(crate) struct SolverFacts {
    /// The name that users give.
    name: &'static str,
    /// Whether hold-out predictions come from the factors of the whole system. Other solvers train again for every
    /// group.
    factors: bool,
    /// Bytes of its matrices and vectors.
    matrices: fn(&TrainShape) -> Saturating<u64>,
    /// Rough seconds on two of today's cores; with leave-query-out predictions if it `factors`.
    cost: fn(&TrainShape) -> f64,
    /// Forms everything that does not depend on the ridge parameter.
    build: fn(&System<'_>) -> Box<dyn Solve>,
}

/// The work of a solver on the system that it was built for.
pub(crate) trait Solve: fmt::Debug + Send + Sync {
    /// The model with this ridge parameter; `None` if the parameter is too small for a factor.
    fn train(&self, system: &System<'_>, ridge: f64) -> Option<Solution>;

    /// The residuals of the rows of each of `groups` by models without the group, for each of `lambdas`. By default
    /// they come from the factors of [`train`](Self::train), or of a `known` model of all rows. Solvers that
    /// iterate end at a residual of `tolerance`, as a share of the labels. Groups are rows, ascending; every row is
    /// in one.
    fn leave_out(
        &self,
        system: &System<'_>,
        lambdas: &[Lambda],
        known: Option<&Solution>,
        groups: &[&[usize]],
        tolerance: f64,
    ) -> Result<Vec<Residuals>> {
        let _ = tolerance;
        let train = |ridge| self.train(system, ridge);
        let residuals = |&lambda| factored::leave_out(system, train, lambda, known, groups);
        lambdas.iter().map(residuals).collect()
    }
}

/// A trained model.
#[derive(Debug)]
pub(crate) struct Solution {
    /// The ridge parameter of the system.
    pub(crate) ridge: f64,
    /// `a = (K + ridge I)^-1 y^`, one for each row of the system; empty in the primal.
    pub(crate) coefficients: Vec<f64>,
    /// Weights of the column classes times their members, if columns are known.
    pub(crate) totals: Vec<f64>,
    /// The factor, if the solver has one.
    pub(crate) factored: Option<Box<dyn Factored>>,
    /// The iterations of solvers that iterate, and their residual as a share of the labels.
    pub(crate) ended: Option<(usize, f64)>,
}

impl Solution {
    /// The model with these centred dual coefficients.
    fn of_coefficients(system: &System<'_>, ridge: f64, coefficients: Vec<f64>) -> Self {
        Self {
            ridge,
            totals: system.totals(&coefficients),
            coefficients,
            factored: None,
            ended: None,
        }
    }
}

/// The residuals of all rows by models that have not seen them.
#[derive(Debug)]
pub(crate) struct Residuals {
    /// One for each row of the system.
    pub(crate) values: Vec<f64>,
    /// The largest residual of solvers that iterate, as a share of the labels.
    pub(crate) largest: Option<f64>,
}

/// Makes the enum of all solvers from their files.
macro_rules! solvers {
    ($($(#[$doc:meta])+ $kind:ident => $file:ident),* $(,)?) => {
        /// The ways to solve for the weights, by the names that users give.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum Solver {
            $($(#[$doc])+ $kind,)*
        }

        impl Solver {
            /// All values.
            pub const ALL: [Self; [$(Self::$kind),*].len()] = [$(Self::$kind),*];

            fn facts(self) -> &'static SolverFacts {
                match self {
                    $(Self::$kind => &$file::FACTS,)*
                }
            }
        }
    };
}

solvers! {
    /// A system of one unknown for each compared row: an example, or a preference.
    Dual => dual,
    /// A system of one unknown for each column class.
    Primal => primal,
    /// No system at all: products with the sparse columns.
    ConjugateGradients => conjugate,
}

named!(Solver, "solver");

impl Solver {
    /// Seconds by [`cost`](Self::cost) from which on `auto` takes conjugate gradients, not a solver that factors.
    pub(crate) const PATIENCE: f64 = 20.0;

    /// The solver of kernels, which needs no columns.
    pub(crate) const OF_KERNELS: Self = Self::Dual;

    /// The name.
    pub fn name(self) -> &'static str {
        self.facts().name
    }

    /// Whether the solver factors the system. Then the predictions of models without some rows come from the
    /// factors. Conjugate gradients train again for every group.
    pub(crate) fn factors(self) -> bool {
        self.facts().factors
    }

    /// The names of the solvers that factor, as a list for people.
    pub(crate) fn factoring() -> String {
        let solvers = Self::ALL.into_iter().filter(|solver| solver.factors());
        solvers.map(Self::name).collect::<Vec<_>>().join(" or ")
    }

    /// Bytes the solver will take beside the data and the column classes: its matrices, the entries of the classes
    /// by row, and a tenth of both; numbers of rows, queries, classes and columns; and the hold-out predictions of
    /// each ridge parameter.
    pub(crate) fn memory(self, shape: &TrainShape) -> u64 {
        let all = (self.facts().matrices)(shape) + Saturating(12) * size(shape.nonzeros);
        let each = |bytes: u64, count: usize| Saturating(bytes) * size(count);
        let held_out = size(shape.rows) * size(shape.lambdas);
        let numbers = each(ROW, shape.rows)
            + each(QUERY, shape.queries)
            + each(CLASS, shape.classes)
            + each(COLUMN, shape.columns)
            + Saturating(8) * held_out;
        (Saturating(11) * all / Saturating(10) + numbers).0
    }

    /// Rough seconds on two of today's cores, to compare solvers, not to tell time; with leave-query-out
    /// predictions if the solver [factors](Self::factors). `docs/derivation.md`, section 12, has the figures.
    pub(crate) fn cost(self, shape: &TrainShape) -> f64 {
        (self.facts().cost)(shape)
    }

    /// Builds the solver of `system`, with everything that does not depend on the ridge parameter.
    pub(crate) fn build(self, system: &System<'_>) -> Box<dyn Solve> {
        (self.facts().build)(system)
    }
}

/// The error for a ridge parameter without a solution in double precision.
pub(crate) fn singular(lambda: Lambda) -> Error {
    Error::numbers(format!(
        "lambda {:e} is too small for these values: with it the system is singular to working precision; {}",
        lambda.value(),
        Remedy::RaiseLambda
    ))
}

/// Bytes of a row in vectors: labels, coefficients and residuals, held-out groups, and predictions.
const ROW: u64 = 12 * 8;

/// Bytes of a held-out query, in lists of its rows.
const QUERY: u64 = 128;

/// Bytes of a column class in vectors: its number of columns, and totals.
const CLASS: u64 = 5 * 8;

/// Bytes of a column: its weight, its weight in the best model so far, and its sign.
const COLUMN: u64 = 2 * 16 + 1;

fn size(size: usize) -> Saturating<u64> {
    Saturating(size as u64)
}

/// Rows of the batches that all threads leave out at once; products pack the rows of a batch twice.
fn batch_rows(shape: &TrainShape) -> Saturating<u64> {
    size(shape.threads) * (size(shape.largest_group) + size(3 * BLOCK))
}

/// Seconds for factors of so many unknowns, one for each ridge parameter.
fn factor_seconds(shape: &TrainShape, unknowns: f64) -> f64 {
    shape.lambdas as f64 * 0.005e-9 * (unknowns * unknowns * unknowns)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ridge::shape::tests::shape;

    #[test]
    fn larger_groups_take_more_memory() {
        let queries = shape(2_000, 15_000, 300_000);
        let halves = TrainShape {
            largest_group: 1_000,
            ..queries
        };
        let more = |solver: Solver| solver.memory(&halves) - solver.memory(&queries);
        assert_eq!(more(Solver::Dual), 8 * 2_000 * 2 * 980 * 11 / 10);
        assert_eq!(more(Solver::Primal), 16 * 15_000 * 2 * 980 * 11 / 10);
        assert_eq!(more(Solver::ConjugateGradients), 0);
    }
}
