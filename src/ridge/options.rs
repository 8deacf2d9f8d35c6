//! How to train, and the choice of a solver.

use std::num::Saturating;

use serde::{Deserialize, Serialize};

use super::error::TrainError;
use super::kernel::KernelKind;
use super::shape::TrainShape;
use super::solvers::Solver;
use crate::columns::{ColumnClasses, QueryWeight, Scale};
use crate::data::{Dataset, LabelScale, Queries};
use crate::memory::Memory;
use crate::objective::Objective;
use crate::setters::setters;

/// How to train: for the library, and the arguments and reports of commands. Its JSON has neither the number of
/// ridge parameters nor the largest group.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct TrainOptions {
    #[serde(skip_serializing_if = "Objective::is_query")]
    pub(crate) objective: Objective,
    pub(crate) solver: Option<Solver>,
    pub(crate) query_weight: QueryWeight,
    #[serde(skip_serializing_if = "LabelScale::is_raw")]
    pub(crate) labels: LabelScale,
    #[serde(skip_serializing_if = "Scale::is_none")]
    pub(crate) scale: Scale,
    /// 0 counts as 1.
    #[serde(skip)]
    pub(super) lambdas: usize,
    #[serde(skip)]
    pub(super) largest_group: usize,
    #[serde(rename = "max_memory", skip_serializing)]
    pub(crate) memory: Memory,
}

impl TrainOptions {
    /// Training by the fastest solver that fits into memory, with one ridge parameter, all
    /// queries weighted alike.
    pub fn new() -> Self {
        Self::default()
    }

    setters! {
        /// The solver. By default the cheaper of `dual` and `primal` if it takes no longer than
        /// [`Solver::PATIENCE`] seconds and fits into memory, else conjugate gradients.
        solver: impl Into<Option<Solver>> => solver;

        /// Which pairs are to be ordered. The default is [`Objective::Query`].
        objective: Objective => objective;

        /// The weight of a query. The default is [`QueryWeight::Uniform`].
        query_weight: QueryWeight => query_weight;

        /// The scale of the labels. The default is [`LabelScale::Raw`].
        labels: LabelScale => labels;

        /// The divisors of columns. The default is [`Scale::None`]. Column classes that were found
        /// before have a scale of their own.
        scale: Scale => scale;

        /// How many ridge parameters are going to be asked for, 1 by default: time is counted for
        /// them. Any number may be asked for whatever this says.
        lambdas: usize => lambdas;

        /// Examples of the largest group that is going to be held out, where groups are larger than
        /// queries: memory is counted for it. Any groups may be held out whatever this says.
        largest_group: usize => largest_group;

        /// Bytes that data, column classes and solver may take together, and what else is in use. No limit
        /// by default.
        memory: impl Into<Memory> => memory;
    }

    /// These options with a limit of so many `bytes`, unless they have one.
    #[must_use]
    pub fn within(self, bytes: Option<u64>) -> Self {
        self.memory(self.memory.within(bytes))
    }

    /// [`Objective::is_within_queries`].
    pub fn compares_queries(&self) -> bool {
        self.objective.is_within_queries()
    }

    /// The classes of the columns of `data` that the objective tells apart.
    pub fn column_classes(&self, data: &Dataset<'_>) -> ColumnClasses {
        let weight = QueryWeight::Uniform;
        if self.compares_queries() {
            return ColumnClasses::scaled(data, weight, self.scale);
        }
        ColumnClasses::scaled(&data.as_one_query(), weight, self.scale)
    }

    /// These options with so many `bytes` more in use.
    #[must_use]
    pub fn holding(self, bytes: u64) -> Self {
        self.memory(self.memory.holding(bytes))
    }

    /// Refuses kernel values that would not fit, before they take the memory.
    pub(super) fn check_kernel(
        &self,
        data: &Dataset<'_>,
        kind: KernelKind,
        basis: Option<&[usize]>,
    ) -> Result<(), TrainError> {
        let taken = match basis {
            None if kind == KernelKind::Linear => return Ok(()),
            None => kernel_memory(&self.with_groups(self.shape(data.queries(), None))),
            Some(rows) => basis_memory(data.rows(), rows.len())
                .saturating_add(given_memory(data.rows(), kind)),
        };
        let memory = self.memory.holding(data.memory());
        let Some(limit) = memory.limit.filter(|_| !memory.allows(taken)) else {
            return Ok(());
        };
        // Values and columns of a basis, as the primal solver has them, and its systems.
        let fits = |size: usize| {
            let reduced = reduced_memory(data.rows(), size);
            memory.allows(reduced.saturating_add(given_memory(data.rows(), kind)))
        };
        Err(TrainError::KernelMemory {
            needed: memory.holding(taken).held,
            limit,
            basis: largest(data.rows(), fits),
        })
    }

    /// The shape of a problem of these rows.
    pub(super) fn shape(&self, queries: &Queries, classes: Option<&ColumnClasses>) -> TrainShape {
        let lambdas = self.lambdas.max(1);
        let shape = classes.map(|classes| TrainShape::new(classes, lambdas));
        shape.unwrap_or_else(|| TrainShape::of_rows(queries, lambdas))
    }

    /// A shape with the groups that are going to be held out.
    pub(super) fn with_groups(&self, shape: TrainShape) -> TrainShape {
        TrainShape {
            largest_group: shape.largest_group.max(self.largest_group),
            ..shape
        }
    }

    /// The solver for a problem of this shape: the one asked for, or the cheapest by [`Solver::cost`] that fits.
    /// The memory that is [held](Self::holding) has data and column classes in it.
    pub fn choose(&self, shape: &TrainShape) -> Result<Solver, TrainError> {
        let needed = |solver: &Solver| self.memory.holding(solver.memory(shape)).held;
        // Conjugate gradients rank behind a solver that factors within the patience, and before one that
        // takes longer.
        let rank = |solver: &Solver| {
            if solver.factors() {
                solver.cost(shape)
            } else {
                Solver::PATIENCE
            }
        };
        let asked = |solver: &Solver| self.solver.is_none_or(|named| named == *solver);
        let fits = |solver: &Solver| self.memory.allows(solver.memory(shape));
        let fitting = Solver::ALL.into_iter().filter(fits);
        let legal = fitting.clone().filter(asked);
        let best = legal.min_by(|a, b| rank(a).total_cmp(&rank(b)));
        best.ok_or_else(|| TrainError::Memory {
            solver: self.solver,
            needed: Solver::ALL
                .iter()
                .filter(|s| asked(s))
                .map(needed)
                .min()
                .unwrap_or(0),
            limit: self.memory.limit.unwrap_or(u64::MAX),
            fitting: fitting.collect(),
        })
    }
}

/// Bytes of the values of a kernel for all pairs of rows, and of the solver.
fn kernel_memory(shape: &TrainShape) -> u64 {
    let rows = Saturating(shape.rows as u64);
    (Saturating(8) * rows * rows + Saturating(Solver::OF_KERNELS.memory(shape))).0
}

/// Bytes of all values of a given kernel, which are checked before a basis is taken of them, and of the copy in
/// which their eigenvalues are found; 0 for others.
fn given_memory(rows: usize, kind: KernelKind) -> u64 {
    let rows = Saturating(rows as u64);
    match kind {
        KernelKind::Precomputed => (Saturating(24) * rows * rows).0,
        _ => 0,
    }
}

/// Bytes of the values of a basis, their products with the map and the columns that they become.
fn basis_memory(rows: usize, basis: usize) -> u64 {
    let cells = Saturating(rows as u64) * Saturating(basis as u64);
    (Saturating(28) * cells).0
}

/// Bytes of the values and columns of a basis, as the primal solver has them, and of its systems.
fn reduced_memory(rows: usize, basis: usize) -> u64 {
    let (rows, basis) = (Saturating(rows as u64), Saturating(basis as u64));
    (basis * (Saturating(40) * rows + Saturating(24) * basis)).0
}

/// The largest number up to `most` that `fits`, if all smaller ones do; 0 where none does.
fn largest(most: usize, fits: impl Fn(usize) -> bool) -> usize {
    let (mut least, mut beyond) = (0, most.saturating_add(1));
    while beyond - least > 1 {
        let middle = least + (beyond - least) / 2;
        if fits(middle) {
            least = middle;
        } else {
            beyond = middle;
        }
    }
    least
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::shape::tests::shape;
    use super::*;

    /// Bytes that 64 bits cannot count.
    fn exact(solver: Solver, shape: &TrainShape) -> u128 {
        let size = |size: usize| size as u128;
        let (rows, classes) = (size(shape.rows), size(shape.classes));
        // Others have vectors at least.
        let squares = [(Solver::Dual, rows), (Solver::Primal, classes)];
        let square = squares.into_iter().find(|(own, _)| *own == solver);
        let matrices = square.map_or(8 * rows, |(_, unknowns)| 16 * unknowns * unknowns);
        matrices + 12 * size(shape.nonzeros)
    }

    proptest! {
        /// Up to the most rows and columns that data may have, more never takes less, and nothing wraps.
        #[test]
        fn memory_grows_with_every_size(
            sizes in prop::array::uniform5(0usize..=u32::MAX as usize),
            more in prop::array::uniform5(0usize..=u32::MAX as usize),
            threads in 1usize..1000,
        ) {
            let of = |[rows, classes, nonzeros, largest_query, largest_group]: [usize; 5]| TrainShape {
                largest_query,
                largest_group,
                threads,
                ..shape(rows, classes, nonzeros.saturating_mul(1 << 20))
            };
            let larger = std::array::from_fn(|at| sizes[at].max(more[at]));
            for solver in Solver::ALL {
                let found = solver.memory(&of(sizes));
                let least = exact(solver, &of(sizes)).min(u128::from(u64::MAX / 10));
                prop_assert!(u128::from(found) >= least, "{solver}: {found} for {least}");
                prop_assert!(solver.memory(&of(larger)) >= found, "{solver}");
            }
            prop_assert!(kernel_memory(&of(larger)) >= kernel_memory(&of(sizes)));
            let [rows, basis, ..] = sizes;
            for memory in [basis_memory, reduced_memory] {
                prop_assert!(memory(larger[0], larger[1]) >= memory(rows, basis));
                let cells = (28 * rows as u128 * basis as u128).min(u128::from(u64::MAX));
                prop_assert!(u128::from(memory(rows, basis)) >= cells);
            }
        }
    }

    #[test]
    fn the_largest_basis_that_fits_is_found() {
        for most in [0, 1, 2, 7, 100, u32::MAX as usize] {
            for fitting in [0, 1, 3, 99, 100, 1 << 31] {
                assert_eq!(largest(most, |size| size <= fitting), most.min(fitting));
            }
        }
    }

    fn chosen(options: TrainOptions, shape: &TrainShape) -> Solver {
        options.holding(1000).choose(shape).unwrap()
    }

    #[test]
    fn the_smaller_side_is_factored_if_it_is_small_enough() {
        let options = TrainOptions::new();
        let letor = shape(9_000, 46, 400_000);
        assert_eq!(chosen(options, &letor), Solver::Primal);
        let parses = shape(2_000, 15_000, 300_000);
        assert_eq!(chosen(options, &parses), Solver::Dual);
        let many = shape(20_000, 150_000, 3_000_000);
        assert_eq!(chosen(options, &many), Solver::ConjugateGradients);
        let little = options.memory(16 << 20);
        assert_eq!(chosen(little, &parses), Solver::ConjugateGradients);
    }

    #[test]
    fn what_does_not_fit_is_refused_with_what_does() {
        let parses = shape(2_000, 15_000, 300_000);
        let options = TrainOptions::new().solver(Solver::Dual).memory(16 << 20);
        let error = options.choose(&parses).unwrap_err().to_string();
        assert!(error.starts_with("solver dual needs "), "{error}");
        assert!(error.ends_with("these fit: cg"), "{error}");
        let options = TrainOptions::new().memory(1000);
        let error = options.choose(&parses).unwrap_err().to_string();
        assert!(error.starts_with("every solver needs "), "{error}");
        assert!(error.contains("no solver fits"), "{error}");
    }
}
