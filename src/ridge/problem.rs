//! A problem, prepared once for any number of ridge parameters.

use std::borrow::Cow;

use super::comparisons::{Centred, Compared, Comparisons, Differences, Preferences};
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

/// RankRLS on a data set, ready for ridge parameters.
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

/// The comparisons of rows within queries, or of `preferences` among all rows.
fn compared<'a>(
    dataset: &'a Dataset<'_>,
    preferences: Option<&Preferences>,
    options: &TrainOptions,
) -> Result<Compared<'a>, TrainError> {
    if let Some(preferences) = preferences {
        return Differences::compared(preferences, dataset);
    }
    let (objective, weight) = (options.objective, options.query_weight);
    Centred::compared(dataset, objective, weight, options.labels)
}

impl<'a> RidgeProblem<'a> {
    /// Prepares `dataset`: finds the column classes and, for solvers that factor, forms the system.
    ///
    /// # Errors
    /// [`TrainError`] when no column varies within a query, when there is not the memory, or when
    /// values are too large.
    pub fn new(dataset: &'a Dataset<'a>, options: &TrainOptions) -> Result<Self, TrainError> {
        let classes = ColumnClasses::scaled(dataset, QueryWeight::Uniform, options.scale);
        Self::of_columns(dataset, Cow::Owned(classes), None, options)
    }

    /// Prepares `dataset` with column classes that have been found in it before, scaled as they are.
    ///
    /// # Errors
    /// As [`new`](Self::new).
    ///
    /// # Panics
    /// When the candidates are weighted, as the options have the weights.
    pub fn among(
        dataset: &'a Dataset<'a>,
        candidates: &'a ColumnClasses,
        options: &TrainOptions,
    ) -> Result<Self, TrainError> {
        Self::of_columns(dataset, Cow::Borrowed(candidates), None, options)
    }

    /// RankRLS on preferences among the rows of `dataset`, which is one query: its labels are not used,
    /// nor are weights of queries.
    ///
    /// # Errors
    /// As [`new`](Self::new), and [`TrainError::Queries`] for data of several queries,
    /// [`TrainError::Unexpected`] for preferences among other rows.
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
        let compared = compared(dataset, preferences, options)?;
        let shape = options.shape(dataset.queries(), Some(&classes));
        let shape = options.with_groups(compared.rows.shape(shape));
        let solver = options.holding(held).choose(&shape)?;
        tracing::info!(%solver, rows = shape.rows, classes = shape.classes, "training");
        let problem = Self::prepare(compared, Features::of_classes(classes), solver)?;
        Ok(problem.of_data(dataset))
    }

    /// The problem of `dataset` under a kernel, whose values for all pairs of rows are known: by
    /// [`Solver::Dual`]. Of preferences among the rows, if there are any.
    ///
    /// # Errors
    /// [`TrainError`] when there is not the memory for another matrix of this size and its factors,
    /// and when values are too large.
    ///
    /// # Panics
    /// Unless the kernel is of as many rows.
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
        let compared = compared(dataset, preferences, options)?;
        let shape = options.with_groups(compared.rows.shape(options.shape(queries, None)));
        let options = options.solver(Solver::OF_KERNELS).holding(held);
        let solver = options.choose(&shape)?;
        let problem = Self::prepare(compared, Features::Kernel(kernel.into_square()), solver)?;
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
        let compared = Compared {
            rows: Comparisons::Queries(rows),
            as_given: labels.into(),
            labels: labels.to_vec(),
        };
        let features = Features::of_classes(Cow::Borrowed(candidates));
        Self::prepare(compared, features, solver)
    }

    fn prepare(
        compared: Compared<'a>,
        features: Features<'a>,
        solver: Solver,
    ) -> Result<Self, TrainError> {
        let system = System::new(compared.rows, compared.labels, features)?;
        Ok(Self {
            dataset: None,
            as_given: compared.as_given,
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

    /// The unit of ridge parameters: the mean diagonal of the centred, weighted kernel matrix,
    /// which is that of [`ColumnClasses::unit`] where columns are known. Where preferences are
    /// learned, this mean is multiplied by the mean degree of a row: the weight of its preferences.
    pub fn unit(&self) -> f64 {
        self.unit
    }

    /// A bound on how much `lambda` lets rounding errors grow: `1 + trace(X^ X^') / ridge`, which is at
    /// least the condition number of the system to solve.
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

    /// Trains with the ridge parameter `lambda`.
    ///
    /// # Errors
    /// [`TrainError::Singular`] when `lambda` is too small for the values,
    /// [`TrainError::NotFinite`] when they are too large.
    pub fn train(&'a self, lambda: Lambda) -> Result<Trained<'a>, TrainError> {
        let solution = self.solution(lambda, 0)?;
        Ok(Trained::new(self, lambda, solution))
    }

    /// The model with the ridge parameter that the system has without `out` of the rows.
    pub(super) fn solution(&self, lambda: Lambda, out: usize) -> Result<Solution, TrainError> {
        let ridge = self.system.ridge(lambda, out)?;
        let solution = self.solve.train(&self.system, ridge);
        let solution = solution.ok_or(TrainError::Singular {
            lambda: lambda.value(),
        })?;
        if !solution.totals.iter().all(|total| total.is_finite()) {
            return Err(TrainError::NotFinite);
        }
        Ok(solution)
    }

    /// [`Solve::without`].
    pub(super) fn without(
        &self,
        models: &[Model<'_>],
        groups: &[&[usize]],
        tolerance: f64,
    ) -> Result<Vec<Residuals>, TrainError> {
        self.solve.without(&self.system, models, groups, tolerance)
    }
}
