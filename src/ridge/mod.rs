//! RankRLS on all features, or on given ones, and what it predicts for queries it has not seen.
//!
//! RankRLS is ridge regression on features and labels from which the means of their queries have
//! been taken (see [`QueryWeight`] for what a query counts). [`RankRls`] prepares data,
//! [`RankRls::train`] solves for one ridge parameter, and [`Trained::holdout`] predicts groups of
//! queries by models that were trained without them, exactly and without training again:
//! `docs/rankrls.md` has the derivation.
//!
//! ```
//! use rankrls::data::sample;
//! use rankrls::ridge::{Groups, RankRls, TrainOptions};
//! use rankrls::Lambda;
//!
//! let data = sample::train();
//! let problem = RankRls::new(&data, &TrainOptions::new().lambdas(3))?;
//! for lambda in [1.0, 16.0, 256.0] {
//!     let trained = problem.train(Lambda::new(lambda)?)?;
//!     let lqo = trained.leave_query_out()?;
//!     println!("{lambda:5} {:9.5} {:?}", lqo.error, lqo.cindex);
//! }
//! let trained = problem.train(Lambda::new(16.0)?)?;
//! let folds = Groups::folds(data.queries().len(), 5, 1)?;
//! assert!(trained.holdout(&folds)?.cindex > Some(0.5));
//! assert_eq!(trained.weights().scores(&data).len(), data.rows());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod cholesky;
mod conjugate;
mod design;
mod eigen;
mod error;
mod groups;
mod holdout;
mod options;
mod solver;
mod square;
mod system;
mod trained;

use std::borrow::Cow;

pub use conjugate::{Convergence, ITERATIONS, TOLERANCE};
pub use error::TrainError;
pub use groups::{Groups, GroupsError};
pub use holdout::Holdout;
pub use options::TrainOptions;
pub use solver::{Shape, Solver, UnknownSolver};
pub use trained::{Trained, Weights};

use crate::columns::ColumnClasses;
use crate::data::Dataset;
use crate::{Lambda, QueryWeight};
use conjugate::Iterative;
use design::Design;
use eigen::Eigen;
use square::Square;
use system::Prepared;
use trained::Solution;

/// RankRLS on a data set, ready for ridge parameters.
///
/// Columns that are constant within every query have weight 0 whatever the labels, and are left
/// out; columns that are equal up to a constant in each query and up to sign are one unknown.
#[derive(Debug)]
pub struct RankRls<'a> {
    dataset: &'a Dataset<'a>,
    design: Design<'a>,
    /// Centred, weighted labels, `m`.
    labels: Vec<f64>,
    /// `X' y` as the right side of the primal system, if that is to be solved.
    moments: Vec<f64>,
    /// Mean of the diagonal of `X X'`.
    mean_diagonal: f64,
    engine: Engine,
}

/// What was made of the data.
#[derive(Debug)]
enum Engine {
    Dual(Prepared),
    Primal {
        covariance: Square,
        eigen: Option<Eigen>,
    },
    Iterative,
}

impl<'a> RankRls<'a> {
    /// Prepares `dataset`: finds the column classes and, for solvers that factor, forms the
    /// system and decomposes it if that pays.
    ///
    /// # Errors
    /// [`TrainError`] when no column varies within a query, when there is not the memory, or when
    /// values are too large.
    pub fn new(dataset: &'a Dataset<'a>, options: &TrainOptions) -> Result<Self, TrainError> {
        let candidates = Cow::Owned(ColumnClasses::new(dataset));
        Self::with(dataset, candidates, dataset.memory(), options)
    }

    /// The same with column classes that have been found in `dataset` before. `held` bytes are in
    /// use besides them and count towards the limit.
    ///
    /// # Errors
    /// As [`new`](Self::new).
    ///
    /// # Panics
    /// When the candidates are weighted: weights are those of the options.
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
        let shape = Shape::new(&candidates, options.lambdas);
        let solver = options.choose(&shape, held.saturating_add(candidates.memory()))?;
        tracing::info!(%solver, rows = shape.rows, classes = shape.classes, "training");
        let design = Design::new(candidates, options.weight);
        let mut labels = dataset.labels().to_vec();
        design.centre(&mut labels);
        design.weigh(&mut labels);
        let mean_diagonal = design.mean_diagonal();
        if !mean_diagonal.is_finite() {
            return Err(TrainError::NotFinite);
        }
        let engine = Engine::new(&design, solver, shape.decomposes(), mean_diagonal)?;
        let moments = match engine {
            Engine::Primal { .. } => design.moments(&labels),
            Engine::Dual(_) | Engine::Iterative => Vec::new(),
        };
        Ok(Self {
            dataset,
            design,
            labels,
            moments,
            mean_diagonal,
            engine,
        })
    }

    /// The solver.
    pub fn solver(&self) -> Solver {
        match self.engine {
            Engine::Dual(_) => Solver::Dual,
            Engine::Primal { .. } => Solver::Primal,
            Engine::Iterative => Solver::ConjugateGradients,
        }
    }

    /// Trains with the ridge parameter `lambda`.
    ///
    /// # Errors
    /// [`TrainError::Singular`] when `lambda` is too small for the values,
    /// [`TrainError::NotFinite`] when they are too large.
    pub fn train(&'a self, lambda: Lambda) -> Result<Trained<'a>, TrainError> {
        let ridge = lambda.value();
        let singular = TrainError::Singular { lambda: ridge };
        let (class_weights, solution) = match &self.engine {
            Engine::Dual(prepared) => {
                let system = prepared.system(ridge).ok_or(singular)?;
                let mut coefficients = self.labels.clone();
                system.solve(&mut coefficients);
                // As they are but for rounding.
                self.design.centre(&mut coefficients);
                let weights = self.design.class_weights(&coefficients);
                (weights, Solution::Dual(system, coefficients))
            }
            Engine::Primal { covariance, eigen } => {
                let system = system::factor(covariance, eigen.as_ref(), ridge).ok_or(singular)?;
                let mut unknowns = self.moments.clone();
                system.solve(&mut unknowns);
                let weights = self.design.unscaled(&unknowns);
                (weights, Solution::Primal(system, covariance))
            }
            Engine::Iterative => {
                let iterative = Iterative::new(&self.design, self.mean_diagonal, ridge);
                let mut coefficients = vec![0.0; self.labels.len()];
                let convergence = iterative.solve(&self.labels, None, &mut coefficients);
                tracing::info!(?convergence, "trained");
                let weights = self.design.class_weights(&coefficients);
                (
                    weights,
                    Solution::Iterated(iterative, coefficients, convergence),
                )
            }
        };
        Trained::new(self, lambda, class_weights, solution)
    }
}

impl Engine {
    fn new(
        design: &Design<'_>,
        solver: Solver,
        decompose: bool,
        mean_diagonal: f64,
    ) -> Result<Self, TrainError> {
        match solver {
            Solver::Dual => {
                let kernel = design.kernel_matrix(mean_diagonal);
                let prepared = Prepared::new(kernel, decompose);
                prepared.map(Self::Dual).ok_or(TrainError::NotFinite)
            }
            Solver::Primal => {
                let covariance = design.covariance();
                let eigen = if decompose {
                    Some(Eigen::new(&covariance).ok_or(TrainError::NotFinite)?)
                } else {
                    None
                };
                Ok(Self::Primal { covariance, eigen })
            }
            Solver::ConjugateGradients => Ok(Self::Iterative),
        }
    }
}
