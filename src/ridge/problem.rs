//! A problem, prepared once for any number of ridge parameters.

use std::borrow::Cow;

use super::comparisons::{Centred, Comparisons, Differences, Labelled, Preferences};
use super::design::System;
use super::error::TrainError;
use super::features::Features;
use super::kernel::KernelMatrix;
use super::options::TrainOptions;
use super::solvers::{Model, Residuals, Solution, Solve, Solver};
use super::trained::Trained;
use crate::columns::{ColumnClasses, QueryWeight};
use crate::data::Dataset;
use crate::lambda::Lambda;

/// RankRLS on a data set, ready for ridge parameters: `min_w |y^ - X^ w|^2 + lambda |w|^2` for the centred,
/// weighted `X^` and `y^` of `docs/rankrls.md`, "The problem" (Pahikkala et al., 2009).
///
/// Columns that are constant within every query have weight 0 whatever the labels, and are left
/// out; columns that are equal up to a constant in each query and up to sign are one unknown.
#[derive(Debug)]
pub struct RidgeProblem<'a> {
    /// The data that the classes were found in; `None`: only predictions are asked for.
    pub(super) dataset: Option<&'a Dataset<'a>>,
    /// Labels as given, or magnitudes of preferences: one for each row of the system.
    pub(super) as_given: Cow<'a, [f64]>,
    pub(super) system: System<'a>,
    /// The unit of ridge parameters.
    unit: f64,
    solver: Solver,
    solve: Box<dyn Solve>,
}

/// Refuses data in which no row is compared with another.
fn check_rows(dataset: &Dataset<'_>) -> Result<(), TrainError> {
    let queries = dataset.queries();
    if queries.largest() < 2 {
        let queries = queries.len();
        return Err(TrainError::SingleRows { queries });
    }
    Ok(())
}

/// The comparisons of rows within queries, or of `preferences` among all rows, with their labels.
fn labelled<'a>(
    dataset: &'a Dataset<'_>,
    preferences: Option<&Preferences>,
    options: &TrainOptions,
) -> Result<Labelled<'a>, TrainError> {
    if let Some(preferred) = preferences {
        return Differences::labelled(preferred, dataset);
    }
    let (objective, weight) = (options.objective, options.query_weight);
    Centred::labelled(dataset, objective, weight, options.labels)
}

impl<'a> RidgeProblem<'a> {
    /// Prepares `dataset`, `m` rows of `n` columns: finds the column classes, `c` of them, and chooses the
    /// solver by [`TrainOptions::choose`].
    ///
    /// Classes take `O(nnz + n log n)` time. `dual` then forms `K = X^ X^'`, `m` x `m`, and `primal` forms
    /// `C = X^' X^`, `c` x `c`; [`Solver::memory`] has the bytes and [`Solver::cost`] the seconds.
    pub fn new(dataset: &'a Dataset<'a>, options: &TrainOptions) -> Result<Self, TrainError> {
        let classes = ColumnClasses::scaled(dataset, QueryWeight::Uniform, options.scale);
        Self::of_columns(dataset, Cow::Owned(classes), None, options)
    }

    /// Prepares `dataset` with column classes that [`TrainOptions::column_classes`] found in it before: their
    /// scale counts, and not that of the options.
    ///
    /// # Panics
    /// When the `candidates` have weights of queries, which the options have.
    pub fn among(
        dataset: &'a Dataset<'a>,
        candidates: &'a ColumnClasses,
        options: &TrainOptions,
    ) -> Result<Self, TrainError> {
        Self::of_columns(dataset, Cow::Borrowed(candidates), None, options)
    }

    /// RankRLS on `p` preferences among the `m` rows of `dataset`, which is one query: its labels are not
    /// used, nor are weights of queries. The system has a row for each preference, so that `dual` forms
    /// `p` x `p` numbers (Pahikkala et al., 2009; `docs/rankrls.md`, "All pairs, and given ones").
    pub fn of_preferences(
        dataset: &'a Dataset<'a>,
        preferences: &Preferences,
        options: &TrainOptions,
    ) -> Result<Self, TrainError> {
        let classes = ColumnClasses::scaled(dataset, QueryWeight::Uniform, options.scale);
        Self::of_columns(dataset, Cow::Owned(classes), Some(preferences), options)
    }

    pub(super) fn of_columns(
        dataset: &'a Dataset<'a>,
        classes: Cow<'a, ColumnClasses>,
        preferences: Option<&Preferences>,
        options: &TrainOptions,
    ) -> Result<Self, TrainError> {
        let weight = classes.query_weight();
        assert!(
            weight == QueryWeight::Uniform,
            "candidates weighted by {weight}"
        );
        // Preferences compare rows of one query.
        check_rows(dataset)?;
        if classes.is_empty() {
            return Err(TrainError::NoColumns {
                columns: dataset.width(),
            });
        }
        let held = dataset.memory().saturating_add(classes.memory());
        let comparisons = labelled(dataset, preferences, options)?;
        let of_data = options.shape(dataset.queries(), Some(&classes));
        let shape = options.with_groups(comparisons.rows.shape(of_data));
        let solver = options.holding(held).choose(&shape)?;
        tracing::info!(%solver, rows = shape.rows, classes = shape.classes, "training");
        let problem = Self::prepare(comparisons, Features::of_classes(classes), solver)?;
        Ok(problem.of_data(dataset))
    }

    /// RankRLS under a `kernel` whose values are known for all pairs of the `m` rows of `dataset`, `m` x `m`:
    /// by [`Solver::Dual`]. It learns from `preferences` among the rows if there are some, as
    /// [`of_preferences`](Self::of_preferences) does.
    ///
    /// The values are centred, and scaled by the weights of queries, in `O(m^2)` time.
    ///
    /// # Panics
    /// Unless the kernel is of as many rows as `dataset` has.
    pub fn of_kernel(
        dataset: &'a Dataset<'a>,
        kernel: KernelMatrix,
        preferences: Option<&Preferences>,
        options: &TrainOptions,
    ) -> Result<Self, TrainError> {
        let queries = dataset.queries();
        assert_eq!(kernel.rows(), queries.rows(), "rows of the kernel");
        check_rows(dataset)?;
        let held = dataset.memory().saturating_add(kernel.memory());
        let comparisons = labelled(dataset, preferences, options)?;
        let shape = options.with_groups(comparisons.rows.shape(options.shape(queries, None)));
        let dual = options.solver(Solver::OF_KERNELS).holding(held);
        let features = Features::Kernel(kernel.into_square());
        let problem = Self::prepare(comparisons, features, dual.choose(&shape)?)?;
        Ok(problem.of_data(dataset))
    }

    /// The problem of column classes, weighted as they are, and of `labels` that are centred and
    /// weighted alike: for predictions, as the data are not known that the classes are of.
    pub(crate) fn of_classes(
        candidates: &'a ColumnClasses,
        labels: &'a [f64],
        solver: Solver,
    ) -> Result<Self, TrainError> {
        let rows = Centred::new(candidates.queries(), QueryWeight::Uniform);
        let comparisons = Labelled {
            rows: Comparisons::Queries(rows),
            as_given: labels.into(),
            labels: labels.to_vec(),
        };
        let features = Features::of_classes(Cow::Borrowed(candidates));
        Self::prepare(comparisons, features, solver)
    }

    fn prepare(
        comparisons: Labelled<'a>,
        features: Features<'a>,
        solver: Solver,
    ) -> Result<Self, TrainError> {
        let system = System::new(comparisons.rows, comparisons.labels, features)?;
        Ok(Self {
            dataset: None,
            as_given: comparisons.as_given,
            unit: system.unit(),
            solver,
            solve: solver.build(&system),
            system,
        })
    }

    fn of_data(self, dataset: &'a Dataset<'a>) -> Self {
        Self {
            dataset: Some(dataset),
            ..self
        }
    }

    /// The unit of ridge parameters, in squared units of the values: the mean diagonal of `K`, the centred,
    /// weighted kernel matrix. Without weights it is [`ColumnClasses::unit`] where columns are known. Where
    /// preferences are learned, it is that of centred rows times the mean degree of a row: the weight of the
    /// preferences that the row is in.
    pub fn unit(&self) -> f64 {
        self.unit
    }

    /// A bound on how much `lambda` lets rounding errors grow, a number from 1 on: `1 + trace(K) / ridge`,
    /// which is at least the condition number of the system to solve. `ridge` is `lambda`, and `lambda / m`
    /// under the global objective.
    pub fn condition(&self, lambda: Lambda) -> f64 {
        let System {
            labels,
            mean_diagonal,
            ..
        } = &self.system;
        let ridge = self.system.ridge(lambda, 0).unwrap_or(lambda.value());
        1.0 + mean_diagonal * labels.len() as f64 / ridge
    }

    /// The solver.
    pub fn solver(&self) -> Solver {
        self.solver
    }

    /// Trains with the ridge parameter `lambda`, a number in the unit of [`unit`](Self::unit): `m^3 / 3`
    /// operations for `dual`, `c^3 / 3` for `primal` with `c` column classes, two for each entry in each
    /// iteration of `cg`.
    pub fn train(&'a self, lambda: Lambda) -> Result<Trained<'a>, TrainError> {
        let solution = self.solution(lambda, 0)?;
        Ok(Trained::new(self, lambda, solution))
    }

    /// The model with the ridge parameter that the system has without `out` of the rows.
    pub(super) fn solution(&self, lambda: Lambda, out: usize) -> Result<Solution, TrainError> {
        let ridge = self.system.ridge(lambda, out)?;
        let singular = TrainError::Singular {
            lambda: lambda.value(),
        };
        let solution = self.solve.train(&self.system, ridge).ok_or(singular)?;
        if !solution.totals.iter().all(|total| total.is_finite()) {
            return Err(TrainError::NotFinite);
        }
        Ok(solution)
    }

    /// [`Solve::leave_out`].
    pub(super) fn residuals(
        &self,
        models: &[Model<'_>],
        groups: &[&[usize]],
        tolerance: f64,
    ) -> Result<Vec<Residuals>, TrainError> {
        self.solve
            .leave_out(&self.system, models, groups, tolerance)
    }
}
