//! How to train, and the choice of a solver.

use serde::{Deserialize, Serialize};

use super::error::TrainError;
use super::kernel::KernelKind;
use super::solver::{Shape, Solver};
use crate::columns::{ColumnClasses, QueryWeight, Scale};
use crate::data::{Dataset, LabelScale, Queries};
use crate::objective::Objective;
use crate::setters::setters;

/// How to train: for the library, and the arguments and reports of commands. What is going to be asked
/// for and held out is no part of its JSON.
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
    #[serde(skip_serializing)]
    pub(crate) max_memory: Option<u64>,
}

impl TrainOptions {
    /// Training by the fastest solver that fits into memory, with one ridge parameter, all
    /// queries weighted alike.
    pub fn new() -> Self {
        Self::default()
    }

    setters! {
        /// The solver. By default the cheaper of `dual` and `primal` if it takes no longer than
        /// [`Solver::PATIENCE`] and fits into memory, else conjugate gradients.
        solver: impl Into<Option<Solver>> => solver;

        /// Which pairs are to be ordered. The default is [`Objective::Query`].
        objective: Objective => objective;

        /// What a query counts. The default is [`QueryWeight::Uniform`].
        query_weight: QueryWeight => query_weight;

        /// The scale of the labels. The default is [`LabelScale::Raw`].
        labels: LabelScale => labels;

        /// What columns are divided by. The default is [`Scale::None`]. Column classes that were found
        /// before have a scale of their own.
        scale: Scale => scale;

        /// How many ridge parameters are going to be asked for, 1 by default: time is counted for
        /// them. Any number may be asked for whatever this says.
        lambdas: usize => lambdas;

        /// Examples of the largest group that is going to be held out, where groups are larger than
        /// queries: memory is counted for it. Any groups may be held out whatever this says.
        largest_group: usize => largest_group;

        /// Bytes that data, column classes and solver may take together. No limit by default.
        max_memory: impl Into<Option<u64>> => max_memory;
    }

    /// These options with a limit of so many `bytes`, unless they have one.
    #[must_use]
    pub fn within(self, bytes: Option<u64>) -> Self {
        self.max_memory(self.max_memory.or(bytes))
    }

    /// Whether rows of the same query are compared, and no others.
    pub fn compares_queries(&self) -> bool {
        self.objective.is_query()
    }

    /// The classes of the columns of `data` that the objective tells apart.
    pub fn column_classes(&self, data: &Dataset<'_>) -> ColumnClasses {
        let weight = QueryWeight::Uniform;
        if self.objective.is_query() {
            return ColumnClasses::scaled(data, weight, self.scale);
        }
        ColumnClasses::scaled(&data.as_one_query(), weight, self.scale)
    }

    /// Refuses kernel values that would not fit, before they take the memory; `held` bytes are in use.
    pub(super) fn check_kernel(
        &self,
        data: &Dataset<'_>,
        kind: KernelKind,
        basis: Option<&[usize]>,
        held: u64,
    ) -> Result<(), TrainError> {
        let rows = data.rows() as u64;
        let taken = match basis {
            None if kind == KernelKind::Linear => return Ok(()),
            None => 8 * rows * rows + Solver::Dual.memory(&self.shape(data.queries(), None)),
            // The values, their products with the map and the columns that they become.
            Some(basis) => 28 * rows * basis.len() as u64,
        };
        let (needed, limit) = (held.saturating_add(taken), self.max_memory);
        let Some(limit) = limit.filter(|limit| needed > *limit) else {
            return Ok(());
        };
        // Values and columns of a basis, as the primal solver has them, and its systems.
        let taken = |size: u64| held.saturating_add(size * (40 * rows + 24 * size));
        let most = (1..=data.rows()).rev();
        let basis = most.into_iter().find(|&most| taken(most as u64) <= limit);
        Err(TrainError::KernelMemory {
            needed,
            limit,
            basis: basis.unwrap_or(0),
        })
    }

    /// The shape of a problem of these rows, with the groups that are going to be held out.
    pub(super) fn shape(&self, queries: &Queries, classes: Option<&ColumnClasses>) -> Shape {
        let lambdas = self.lambdas.max(1);
        let shape = classes.map(|classes| Shape::new(classes, lambdas));
        let shape = shape.unwrap_or_else(|| Shape::of_rows(queries, lambdas));
        Shape {
            largest_group: shape.largest_group.max(self.largest_group),
            ..shape
        }
    }

    /// The solver for a problem of this shape, with `held` bytes taken already.
    ///
    /// # Errors
    /// [`TrainError::Memory`] if the solver asked for, or every solver, takes more than is
    /// allowed.
    pub fn choose(&self, shape: &Shape, held: u64) -> Result<Solver, TrainError> {
        let limit = self.max_memory.unwrap_or(u64::MAX);
        let needed = |solver: &Solver| held.saturating_add(solver.memory(shape));
        // Conjugate gradients rank behind a solver that factors within the patience, and before one that
        // takes longer.
        let rank = |solver: &Solver| match solver {
            Solver::ConjugateGradients => Solver::PATIENCE,
            factoring => factoring.cost(shape),
        };
        let asked = |solver: &Solver| self.solver.is_none_or(|asked| asked == *solver);
        let fitting = Solver::ALL.into_iter().filter(|s| needed(s) <= limit);
        let best = fitting.clone().filter(asked);
        let best = best.min_by(|a, b| rank(a).total_cmp(&rank(b)));
        best.ok_or_else(|| TrainError::Memory {
            solver: self.solver,
            needed: Solver::ALL
                .iter()
                .filter(|s| asked(s))
                .map(needed)
                .min()
                .unwrap_or(0),
            limit,
            fitting: fitting.collect(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::solver::tests::shape;
    use super::*;

    fn chosen(options: TrainOptions, shape: &Shape) -> Solver {
        options.choose(shape, 1000).unwrap()
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
        let little = options.max_memory(16 << 20);
        assert_eq!(chosen(little, &parses), Solver::ConjugateGradients);
    }

    #[test]
    fn what_does_not_fit_is_refused_with_what_does() {
        let parses = shape(2_000, 15_000, 300_000);
        let options = TrainOptions::new()
            .solver(Solver::Dual)
            .max_memory(16 << 20);
        let error = options.choose(&parses, 0).unwrap_err().to_string();
        assert!(error.starts_with("solver dual needs "), "{error}");
        assert!(error.ends_with("these fit: cg"), "{error}");
        let options = TrainOptions::new().max_memory(1000);
        let error = options.choose(&parses, 0).unwrap_err().to_string();
        assert!(error.starts_with("every solver needs "), "{error}");
        assert!(error.contains("no solver fits"), "{error}");
    }
}
