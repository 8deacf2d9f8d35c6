//! A problem, prepared once, and the models that are trained from it.

use std::borrow::Cow;

use super::conjugate::{self, Convergence, Preconditioner, Solved, TOLERANCE, Task};
use super::design::Design;
use super::factor::{Cholesky, Square};
use super::kernel::{KernelError, KernelMatrix};
use super::options::{Shape, Solver, TrainError, TrainOptions};
use super::preferences::Preferences;
use crate::columns::ColumnClasses;
use crate::data::Dataset;
use crate::kernels::add_scaled;
use crate::{Lambda, Objective, QueryWeight};

/// RankRLS on a data set, ready for ridge parameters.
///
/// Columns that are constant within every query have weight 0 whatever the labels, and are left
/// out; columns that are equal up to a constant in each query and up to sign are one unknown.
#[derive(Debug)]
pub struct RidgeProblem<'a> {
    /// What the classes were found in; `None`: only predictions are asked for.
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

/// What was made of the data.
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
        let candidates = Cow::Owned(classes);
        Self::with(dataset, candidates, dataset.memory(), options)
    }

    /// The same with column classes that have been found in `dataset` before, scaled as they are. `held` bytes are in
    /// use besides them and count towards the limit.
    ///
    /// # Errors
    /// As [`new`](Self::new).
    ///
    /// # Panics
    /// When the candidates are weighted, as the options have the weights, and when ranks share them.
    pub fn among(
        dataset: &'a Dataset<'a>,
        candidates: &'a ColumnClasses,
        held: u64,
        options: &TrainOptions,
    ) -> Result<Self, TrainError> {
        let weight = candidates.query_weight();
        assert!(
            weight == QueryWeight::Uniform,
            "candidates weighted by {weight}"
        );
        assert_eq!(candidates.peers().count(), 1, "ranks that share candidates");
        Self::with(dataset, Cow::Borrowed(candidates), held, options)
    }

    fn with(
        dataset: &'a Dataset<'a>,
        candidates: Cow<'a, ColumnClasses>,
        held: u64,
        options: &TrainOptions,
    ) -> Result<Self, TrainError> {
        if candidates.is_empty() {
            return Err(TrainError::NoColumns {
                columns: dataset.width(),
            });
        }
        options.check_queries(dataset.queries())?;
        let shape = options.grown(Shape::new(&candidates, options.lambdas.max(1)));
        let solver = options.choose(&shape, held.saturating_add(candidates.memory()))?;
        tracing::info!(%solver, rows = shape.rows, classes = shape.classes, "training");
        let design = Design::new(candidates, options.query_weight);
        Self::within(dataset, design, options, solver)
    }

    /// The problem of centred rows.
    fn within(
        dataset: &'a Dataset<'a>,
        design: Design<'a>,
        options: &TrainOptions,
        solver: Solver,
    ) -> Result<Self, TrainError> {
        let scaled = options.labels.apply(dataset.labels(), dataset.queries());
        let mut labels = scaled.into_owned();
        design.centre(&mut labels);
        design.weigh(&mut labels);
        Ok(Self {
            dataset: Some(dataset),
            objective: options.objective,
            ..Self::prepare(design, labels, dataset.labels().into(), solver)?
        })
    }

    /// RankRLS on preferences among the rows of `dataset`, which is one query: its labels are not used,
    /// and hold-outs are of preferences.
    ///
    /// Every preference is a row of the problem: `O(p^3)` time and `O(p^2)` memory for `p` preferences with
    /// solver `dual`, `O(p c^2)` and `O(c^2)` for `c` column classes with `primal`, and little with `cg`.
    ///
    /// # Errors
    /// As [`new`](Self::new), and [`TrainError`] for data of several queries and for preferences of
    /// other data.
    pub fn of_preferences(
        dataset: &'a Dataset<'a>,
        preferences: &Preferences,
        options: &TrainOptions,
    ) -> Result<Self, TrainError> {
        let classes = ColumnClasses::scaled(dataset, QueryWeight::Uniform, options.scale);
        if classes.is_empty() {
            return Err(TrainError::NoColumns {
                columns: dataset.width(),
            });
        }
        let held = dataset.memory().saturating_add(classes.memory());
        let shape = Shape::new(&classes, options.lambdas.max(1));
        let solver = options.choose(
            &options.grown(shape.of_preferences(preferences.len())),
            held,
        )?;
        let design = Design::new(Cow::Owned(classes), QueryWeight::Uniform);
        Self::preferring(dataset, preferences, design, solver)
    }

    /// The same under a kernel, as of [`of_kernel`](Self::of_kernel).
    ///
    /// # Errors
    /// As both.
    pub fn of_kernel_and_preferences(
        dataset: &'a Dataset<'a>,
        kernel: KernelMatrix,
        preferences: &Preferences,
        options: &TrainOptions,
    ) -> Result<Self, TrainError> {
        let shape = Shape::of_rows(dataset.queries(), options.lambdas.max(1));
        let shape = options.grown(shape.of_preferences(preferences.len()));
        let held = dataset.memory().saturating_add(kernel.memory());
        options.solver(Solver::Dual).choose(&shape, held)?;
        let (queries, kernel) = (dataset.queries(), kernel.into_square());
        let design = Design::of_kernel(kernel, queries, QueryWeight::Uniform);
        Self::preferring(dataset, preferences, design, Solver::Dual)
    }

    /// The problem of differences of the rows of `design`, which are those of `dataset`.
    fn preferring(
        dataset: &'a Dataset<'a>,
        preferences: &Preferences,
        design: Design<'a>,
        solver: Solver,
    ) -> Result<Self, TrainError> {
        let queries = dataset.queries().len();
        if queries > 1 {
            return Err(TrainError::Queries { queries });
        }
        let (expected, found) = (dataset.rows(), preferences.rows());
        if expected != found {
            return Err(TrainError::OtherQueries {
                what: "rows",
                expected,
                found,
            });
        }
        // Of centred rows, so that lambdas have the size that they have for labels.
        let unit = design.mean_diagonal() * preferences.mean_degree();
        let ends = preferences.iter().map(|one| [one.preferred, one.other]);
        let roots: Vec<f64> = preferences.iter().map(|one| one.weight.sqrt()).collect();
        let magnitudes: Vec<f64> = preferences.iter().map(|one| one.magnitude).collect();
        let labels = magnitudes.iter().zip(&roots);
        let labels = labels.map(|(magnitude, root)| magnitude * root).collect();
        let design = design.of_differences(ends.collect(), roots);
        let design = design.map_err(KernelError::from)?;
        Ok(Self {
            dataset: Some(dataset),
            objective: Objective::Pairs,
            unit,
            ..Self::prepare(design, labels, magnitudes.into(), solver)?
        })
    }

    /// The problem of `dataset` under a kernel, whose values for all pairs of rows are known: by
    /// [`Solver::Dual`].
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
        options: &TrainOptions,
    ) -> Result<Self, TrainError> {
        let queries = dataset.queries();
        assert_eq!(kernel.rows(), queries.rows(), "rows of the kernel");
        options.check_queries(queries)?;
        let shape = options.grown(Shape::of_rows(queries, options.lambdas.max(1)));
        let options = options.solver(Solver::Dual);
        let held = dataset.memory().saturating_add(kernel.memory());
        if let Err(TrainError::Memory { needed, .. }) = options.choose(&shape, held) {
            return Err(options.refuse_kernel(shape.rows as u64, dataset.memory(), needed));
        }
        let design = Design::of_kernel(kernel.into_square(), queries, options.query_weight);
        Self::within(dataset, design, &options, Solver::Dual)
    }

    /// The unit of ridge parameters: the mean diagonal of the centred, weighted kernel matrix,
    /// which is that of [`ColumnClasses::unit`] where columns are known; of preferences times the mean
    /// weight of those that a row is in.
    pub fn unit(&self) -> f64 {
        self.unit
    }

    /// The problem of column classes, weighted as they are, and of `labels` that are centred and
    /// weighted alike: for predictions, as the data are not known that the classes are of.
    pub(crate) fn of_classes(
        candidates: &'a ColumnClasses,
        labels: &'a [f64],
        solver: Solver,
    ) -> Result<Self, TrainError> {
        let design = Design::new(Cow::Borrowed(candidates), QueryWeight::Uniform);
        Self::prepare(design, labels.to_vec(), labels.into(), solver)
    }

    /// With centred, weighted `labels`, and those `as_given`.
    fn prepare(
        design: Design<'a>,
        labels: Vec<f64>,
        as_given: Cow<'a, [f64]>,
        solver: Solver,
    ) -> Result<Self, TrainError> {
        let mean_diagonal = design.mean_diagonal();
        if !mean_diagonal.is_finite() {
            return Err(TrainError::NotFinite);
        }
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

    /// At most so much is rounding amplified with `lambda`: `1 + trace(X X') / lambda`, no less
    /// than the condition number of the system to solve. From 1 on.
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
        self.train_at(lambda, self.ridge(lambda, 0)?)
    }

    /// The same, with the ridge parameter that the centred problem has for `lambda`.
    pub(super) fn train_at(
        &'a self,
        lambda: Lambda,
        ridge: f64,
    ) -> Result<Trained<'a>, TrainError> {
        let singular = TrainError::Singular {
            lambda: lambda.value(),
        };
        let (class_weights, solution) = match &self.engine {
            Engine::Dual(kernel) => {
                let system = Cholesky::new(kernel, ridge).ok_or(singular)?;
                let mut coefficients = self.labels.clone();
                system.solve(&mut coefficients);
                // As they are but for rounding.
                self.design.centre(&mut coefficients);
                let weights = self.design.class_weights(&coefficients);
                (weights, Solution::Dual(system, coefficients))
            }
            Engine::Primal(covariance, moments) => {
                let system = Cholesky::new(covariance, ridge).ok_or(singular)?;
                let mut unknowns = moments.clone();
                system.solve(&mut unknowns);
                let weights = self.design.unscaled(&unknowns);
                let solution = Solution::Primal {
                    system,
                    covariance,
                    moments,
                };
                (weights, solution)
            }
            Engine::Iterative(_) => {
                let task = Task {
                    lambda: ridge,
                    out: &[],
                    start: None,
                };
                let solved = self.solve(&[task], TOLERANCE).remove(0);
                tracing::info!(convergence = ?solved.convergence, "trained");
                let weights = self.design.class_weights(&solved.values);
                let solution = Solution::Iterated(solved.values, solved.convergence);
                (weights, solution)
            }
        };
        if !class_weights.iter().all(|weight| weight.is_finite()) {
            return Err(TrainError::NotFinite);
        }
        Ok(Trained {
            problem: self,
            lambda,
            ridge,
            class_weights,
            solution,
        })
    }
}

/// Weights of the features of `dataset`, from those of the column classes of its `design`.
fn weights_of_features(
    design: &Design<'_>,
    dataset: &Dataset<'_>,
    class_weights: &[f64],
) -> Weights {
    let Some(candidates) = design.candidates() else {
        return Weights::default();
    };
    let signs = candidates.member_signs(dataset);
    let classes = (0..candidates.len()).zip(class_weights);
    let members = classes.flat_map(|(class, &weight)| {
        let features = candidates.class(class).iter();
        let weight = weight / candidates.divisor(class);
        // A class has the sign of its canonical column.
        features.map(move |&feature| (feature, weight))
    });
    let signed = members.zip(signs);
    let weights = signed.map(|((feature, weight), sign)| (feature, f64::from(sign) * weight));
    let mut weights: Vec<(u32, f64)> = weights.collect();
    weights.sort_unstable_by_key(|&(feature, _)| feature);
    let (features, values) = weights.into_iter().unzip();
    Weights { features, values }
}

/// RankRLS trained with one ridge parameter.
#[derive(Debug)]
pub struct Trained<'a> {
    pub(super) problem: &'a RidgeProblem<'a>,
    pub(super) lambda: Lambda,
    /// The ridge parameter of the centred problem.
    pub(super) ridge: f64,
    /// Weights of the column classes, as far as there are any.
    pub(super) class_weights: Vec<f64>,
    pub(super) solution: Solution<'a>,
}

/// How the model was found, kept for the predictions of models without some of the queries.
#[derive(Debug)]
pub(super) enum Solution<'a> {
    /// The factors and the coefficients `a = (K + lambda I)^-1 y`, `m`.
    Dual(Cholesky, Vec<f64>),
    /// The factors, and the system without its ridge parameter.
    Primal {
        system: Cholesky,
        covariance: &'a Square,
        moments: &'a [f64],
    },
    /// The coefficients as above, and how they were found.
    Iterated(Vec<f64>, Convergence),
}

/// Weights of the features that vary within some query; those of all others are 0.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Weights {
    /// 0-based features, ascending.
    pub features: Vec<u32>,
    /// A weight for each of them.
    pub values: Vec<f64>,
}

impl Weights {
    /// Scores of the rows of `dataset`, in row order: sums over the features, ascending.
    pub fn scores(&self, dataset: &Dataset<'_>) -> Vec<f64> {
        dataset.scores(&self.features, &self.values)
    }
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
        match &self.solution {
            Solution::Dual(..) | Solution::Primal { .. } => None,
            Solution::Iterated(_, convergence) => Some(*convergence),
        }
    }

    /// Weights of the features. Features whose columns are equal up to a constant in each query
    /// and up to sign have the same weight up to sign, to the last bit. None under a kernel, which has
    /// [`coefficients`](Self::coefficients).
    ///
    /// `O(nnz)` time.
    #[expect(clippy::missing_panics_doc, reason = "public problems have data")]
    pub fn weights(&self) -> Weights {
        let dataset = self.problem.dataset;
        let dataset = dataset.expect("problems without data are asked for predictions only");
        weights_of_features(&self.problem.design, dataset, &self.class_weights)
    }

    /// A coefficient for each row of the data, whose sum over a query, or over rows that preferences connect, is 0: a row scores the sum of
    /// its kernel values with these rows, each times the coefficient. `None` for the solvers that have
    /// none.
    pub fn coefficients(&self) -> Option<Vec<f64>> {
        match &self.solution {
            Solution::Dual(_, coefficients) | Solution::Iterated(coefficients, _) => {
                Some(self.problem.design.of_data(coefficients))
            }
            Solution::Primal { .. } => None,
        }
    }

    /// What the model leaves of the centred, weighted labels.
    pub(super) fn residuals(&self) -> Vec<f64> {
        let mut residuals = self.problem.labels.clone();
        let predictions = self.problem.design.predictions(&self.class_weights);
        add_scaled(&mut residuals, -1.0, &predictions);
        residuals
    }

    pub(super) fn singular(&self) -> TrainError {
        TrainError::Singular {
            lambda: self.lambda.value(),
        }
    }
}
