//! A problem, prepared once, and the models that are trained from it.

use std::borrow::Cow;

use super::conjugate::{self, Convergence, Preconditioner, Solved, TOLERANCE, Task};
use super::design::{Comparisons, Design, Features};
use super::error::TrainError;
use super::factor::{Cholesky, Square};
use super::kernel::KernelMatrix;
use super::options::TrainOptions;
use super::preferences::Preferences;
use super::solver::Solver;
use super::weights::Weights;
use crate::columns::{ColumnClasses, QueryWeight};
use crate::data::Dataset;
use crate::lambda::Lambda;
use crate::linalg::kernels::add_scaled;
use crate::objective::Objective;

/// RankRLS on a data set, ready for ridge parameters.
///
/// Columns that are constant within every query have weight 0 whatever the labels, and are left
/// out; columns that are equal up to a constant in each query and up to sign are one unknown.
#[derive(Debug)]
pub struct RidgeProblem<'a> {
    /// The data that the classes were found in; `None`: only predictions are asked for.
    dataset: Option<&'a Dataset<'a>>,
    pub(super) objective: Objective,
    /// Labels as given, or magnitudes of preferences: one for each row of the design.
    pub(super) as_given: Cow<'a, [f64]>,
    pub(super) design: Design<'a>,
    /// Centred, weighted labels.
    pub(super) labels: Vec<f64>,
    /// Mean of the diagonal of `X X'`, and what it is shifted by where it has an average of a query.
    pub(super) mean_diagonal: f64,
    /// The unit of ridge parameters.
    unit: f64,
    pub(super) engine: Engine,
}

/// Least sum of squared labels that leaves errors their digits.
const LEAST_LABELS: f64 = 1e-280;

/// Refuses centred, weighted labels whose squares vanish: every model would look alike.
fn check_labels(labels: &[f64]) -> Result<(), TrainError> {
    let largest = labels
        .iter()
        .fold(0.0_f64, |most, label| most.max(label.abs()));
    let squares: f64 = labels.iter().map(|label| label * label).sum();
    if largest > 0.0 && squares < LEAST_LABELS {
        return Err(TrainError::SmallLabels { largest });
    }
    Ok(())
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

/// The form that the data were given.
#[derive(Debug)]
pub(super) enum Engine {
    /// `X X'`, made definite.
    Dual(Square),
    /// `X' X`, and `X' y`.
    Primal(Square, Vec<f64>),
    Iterative(Preconditioner),
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
        let mut shape = options.shape(dataset.queries(), Some(&classes));
        if let Some(preferences) = preferences {
            shape = shape.of_preferences(preferences.len());
        }
        let solver = options.holding(held).choose(&shape)?;
        tracing::info!(%solver, rows = shape.rows, classes = shape.classes, "training");
        let features = Features::of_classes(classes);
        Self::of_features(dataset, features, preferences, options, solver)
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
        let mut shape = options.shape(queries, None);
        if let Some(preferences) = preferences {
            shape = shape.of_preferences(preferences.len());
        }
        let held = dataset.memory().saturating_add(kernel.memory());
        let options = options.solver(Solver::Dual).holding(held);
        options.choose(&shape)?;
        let features = Features::Kernel(kernel.into_square());
        Self::of_features(dataset, features, preferences, &options, Solver::Dual)
    }

    fn of_features(
        dataset: &'a Dataset<'a>,
        features: Features<'a>,
        preferences: Option<&Preferences>,
        options: &TrainOptions,
        solver: Solver,
    ) -> Result<Self, TrainError> {
        let queries = dataset.queries();
        let one = preferences.is_some() || options.objective == Objective::Global;
        if one && queries.len() > 1 {
            let queries = queries.len();
            return Err(TrainError::Queries { queries });
        }
        let weight = match preferences {
            Some(_) => QueryWeight::Uniform,
            None => options.query_weight,
        };
        let rows = Comparisons::of_queries(queries, weight);
        let Some(preferences) = preferences else {
            let mut labels = options.labels.apply(dataset.labels(), queries).into_owned();
            rows.centre_labels(&mut labels);
            rows.weigh(&mut labels);
            let design = Design { rows, features };
            let problem = Self::prepare(design, labels, dataset.labels().into(), solver)?;
            return Ok(Self {
                dataset: Some(dataset),
                objective: options.objective,
                ..problem
            });
        };
        if preferences.rows() != dataset.rows() {
            return Err(TrainError::unexpected(
                format!("the preferences are among {} rows", preferences.rows()),
                format!("{}, those of the data", dataset.rows()),
            ));
        }
        let centred = Design { rows, features };
        // The unit is that of centred rows, so that lambdas have the size that they have for labels.
        let unit = centred.mean_diagonal() * preferences.mean_degree();
        let design = Design {
            rows: Comparisons::of_preferences(preferences)?,
            ..centred
        };
        let magnitudes: Vec<f64> = preferences.iter().map(|one| one.magnitude).collect();
        let mut labels = magnitudes.clone();
        design.rows.weigh(&mut labels);
        Ok(Self {
            dataset: Some(dataset),
            objective: Objective::Pairs,
            unit,
            ..Self::prepare(design, labels, magnitudes.into(), solver)?
        })
    }

    /// The problem of column classes, weighted as they are, and of `labels` that are centred and
    /// weighted alike: for predictions, as the data are not known that the classes are of.
    pub(crate) fn of_classes(
        candidates: &'a ColumnClasses,
        labels: &'a [f64],
        solver: Solver,
    ) -> Result<Self, TrainError> {
        let design = Design {
            rows: Comparisons::of_queries(candidates.queries(), QueryWeight::Uniform),
            features: Features::of_classes(Cow::Borrowed(candidates)),
        };
        Self::prepare(design, labels.to_vec(), labels.into(), solver)
    }

    /// Takes centred, weighted `labels`, and those `as_given`.
    fn prepare(
        design: Design<'a>,
        labels: Vec<f64>,
        as_given: Cow<'a, [f64]>,
        solver: Solver,
    ) -> Result<Self, TrainError> {
        check_labels(&labels)?;
        let mean_diagonal = design.mean_diagonal();
        if !mean_diagonal.is_finite() {
            return Err(TrainError::NotFinite);
        }
        design.check_size(mean_diagonal)?;
        let engine = match solver {
            Solver::Dual => Engine::Dual(design.kernel_matrix(mean_diagonal)),
            Solver::Primal => Engine::Primal(design.covariance(), design.moments(&labels)),
            Solver::ConjugateGradients => {
                Engine::Iterative(Preconditioner::new(&design, mean_diagonal))
            }
        };
        Ok(Self {
            dataset: None,
            objective: Objective::Query,
            as_given,
            design,
            labels,
            mean_diagonal,
            unit: mean_diagonal,
            engine,
        })
    }

    /// The unit of ridge parameters: the mean diagonal of the centred, weighted kernel matrix,
    /// which is that of [`ColumnClasses::unit`] where columns are known. Where preferences are
    /// learned, this mean is multiplied by the mean degree of a row: the weight of its preferences.
    pub fn unit(&self) -> f64 {
        self.unit
    }

    /// A bound on how much `lambda` lets rounding errors grow: `1 + trace(X X') / lambda`, which is at
    /// least the condition number of the system to solve.
    pub fn condition(&self, lambda: Lambda) -> f64 {
        let ridge = self.ridge(lambda, 0).unwrap_or(lambda.value());
        1.0 + self.mean_diagonal * self.labels.len() as f64 / ridge
    }

    /// The solver.
    pub fn solver(&self) -> Solver {
        match self.engine {
            Engine::Dual(_) => Solver::Dual,
            Engine::Primal(..) => Solver::Primal,
            Engine::Iterative(_) => Solver::ConjugateGradients,
        }
    }

    /// The ridge parameter of the centred problem without `out` of the rows.
    ///
    /// # Errors
    /// [`TrainError::OneGroup`] when no row is left under the global objective.
    pub(super) fn ridge(&self, lambda: Lambda, out: usize) -> Result<f64, TrainError> {
        match (self.objective, self.labels.len() - out) {
            (Objective::Global, 0) => Err(TrainError::OneGroup),
            (Objective::Global, left) => Ok(lambda.value() / left as f64),
            _ => Ok(lambda.value()),
        }
    }

    /// All tasks, by conjugate gradients.
    ///
    /// # Panics
    /// With another solver.
    pub(super) fn solve(&self, tasks: &[Task<'_>], tolerance: f64) -> Vec<Solved> {
        let Engine::Iterative(blocks) = &self.engine else {
            unreachable!("another solver");
        };
        conjugate::solve(&self.design, blocks, &self.labels, tasks, tolerance)
    }

    /// Trains with the ridge parameter `lambda`.
    ///
    /// # Errors
    /// [`TrainError::Singular`] when `lambda` is too small for the values,
    /// [`TrainError::NotFinite`] when they are too large.
    pub fn train(&'a self, lambda: Lambda) -> Result<Trained<'a>, TrainError> {
        self.train_without(lambda, 0)
    }

    /// Trains with the ridge parameter that the centred problem has without `out` of the rows.
    pub(super) fn train_without(
        &'a self,
        lambda: Lambda,
        out: usize,
    ) -> Result<Trained<'a>, TrainError> {
        let ridge = self.ridge(lambda, out)?;
        let mut trained = Trained {
            problem: self,
            lambda,
            ridge,
            factor: None,
            coefficients: Vec::new(),
            totals: Vec::new(),
            convergence: None,
        };
        let factor = |gram: &Square| Cholesky::new(gram, ridge).ok_or_else(|| trained.singular());
        match &self.engine {
            Engine::Dual(kernel) => {
                let factor = factor(kernel)?;
                let mut coefficients = self.labels.clone();
                factor.solve(&mut coefficients);
                // They are centred but for rounding.
                self.design.rows.centre(&mut coefficients);
                trained.factor = Some(factor);
                trained.coefficients = coefficients;
            }
            Engine::Primal(covariance, moments) => {
                let factor = factor(covariance)?;
                let mut unknowns = moments.clone();
                factor.solve(&mut unknowns);
                trained.factor = Some(factor);
                trained.totals = self.design.totals_of(&unknowns);
            }
            Engine::Iterative(_) => {
                let solved = self.solve(&[Task::whole(ridge)], TOLERANCE).remove(0);
                tracing::info!(convergence = ?solved.convergence, "trained");
                trained.coefficients = solved.values;
                trained.convergence = Some(solved.convergence);
            }
        }
        if !matches!(self.engine, Engine::Primal(..)) {
            trained.totals = self.design.totals(&trained.coefficients);
        }
        if !trained.totals.iter().all(|total| total.is_finite()) {
            return Err(TrainError::NotFinite);
        }
        Ok(trained)
    }
}

/// RankRLS trained with one ridge parameter.
#[derive(Debug)]
pub struct Trained<'a> {
    pub(super) problem: &'a RidgeProblem<'a>,
    pub(super) lambda: Lambda,
    /// The ridge parameter of the centred problem.
    pub(super) ridge: f64,
    /// The factor of solvers that have one, for the predictions of models without some of the rows.
    pub(super) factor: Option<Cholesky>,
    /// `a = (K + lambda I)^-1 y`, but for the primal.
    pub(super) coefficients: Vec<f64>,
    /// Weights of the column classes times their members, as far as there are any.
    totals: Vec<f64>,
    /// The convergence of conjugate gradients.
    convergence: Option<Convergence>,
}

impl Trained<'_> {
    /// The ridge parameter.
    pub fn lambda(&self) -> Lambda {
        self.lambda
    }

    /// [`RidgeProblem::condition`] with its ridge parameter.
    pub fn condition(&self) -> f64 {
        self.problem.condition(self.lambda)
    }

    /// The solver.
    pub fn solver(&self) -> Solver {
        self.problem.solver()
    }

    /// How conjugate gradients ended, if they were the solver.
    pub fn convergence(&self) -> Option<Convergence> {
        self.convergence
    }

    /// Weights of the features. Features whose columns are equal up to a constant in each query
    /// and up to sign have the same weight up to sign, to the last bit. None under a kernel, which has
    /// [`coefficients`](Self::coefficients).
    ///
    /// `O(nnz)` time.
    #[expect(clippy::missing_panics_doc, reason = "public problems have data")]
    pub fn weights(&self) -> Weights {
        let Some(columns) = self.problem.design.columns() else {
            return Weights::default();
        };
        let dataset = self.problem.dataset;
        let dataset = dataset.expect("problems without data are asked for predictions only");
        let classes = (0..).zip(&self.totals);
        let members = classes.flat_map(|(class, total)| {
            let features = columns.classes.class(class);
            // A class has the sign of its canonical column.
            let weight = total / features.len() as f64 / columns.classes.divisor(class);
            features.iter().map(move |&feature| (feature, weight))
        });
        let signed = members.zip(columns.classes.member_signs(dataset));
        let signed = signed.map(|((feature, weight), sign)| (feature, f64::from(sign) * weight));
        Weights::of(signed.collect())
    }

    /// A coefficient for each row of the data, whose sum over a query, or over rows that preferences connect, is 0: a row scores the sum of
    /// its kernel values with these rows, each times the coefficient. `None` for the solvers that have
    /// none.
    pub fn coefficients(&self) -> Option<Vec<f64>> {
        let known = !self.coefficients.is_empty();
        known.then(|| self.problem.design.of_data(&self.coefficients))
    }

    /// The rest that the model leaves of the centred, weighted labels.
    pub(super) fn residuals(&self) -> Vec<f64> {
        let mut residuals = self.problem.labels.clone();
        let predictions = self.problem.design.predictions(&self.totals);
        add_scaled(&mut residuals, -1.0, &predictions);
        residuals
    }

    pub(super) fn singular(&self) -> TrainError {
        TrainError::Singular {
            lambda: self.lambda.value(),
        }
    }
}
