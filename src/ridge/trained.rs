//! A model for one ridge parameter.

use super::conjugate::{Convergence, Iterative};
use super::holdout::Holdout;
use super::square::Square;
use super::system::System;
use super::{Groups, RankRls, Solver, TrainError};
use crate::Lambda;
use crate::data::Dataset;
use crate::greedy::scores;
use crate::kernels::add_scaled;

/// RankRLS trained with one ridge parameter.
#[derive(Debug)]
pub struct Trained<'a> {
    pub(super) problem: &'a RankRls<'a>,
    pub(super) lambda: Lambda,
    /// Weights of the column classes.
    pub(super) class_weights: Vec<f64>,
    pub(super) solution: Solution<'a>,
}

/// How the model was found, kept for the predictions of models without some of the queries.
#[derive(Debug)]
pub(super) enum Solution<'a> {
    /// The factors and the coefficients `a = (K + lambda I)^-1 y`, `m`.
    Dual(System<'a>, Vec<f64>),
    /// The factors, and the matrix without its ridge parameter.
    Primal(System<'a>, &'a Square),
    /// The coefficients as above, and how they were found.
    Iterated(Iterative<'a>, Vec<f64>, Convergence),
}

/// Weights of the features that vary within some query; those of all others are 0.
#[derive(Debug, Clone, PartialEq)]
pub struct Weights {
    /// 0-based features, ascending.
    pub features: Vec<u32>,
    /// A weight for each of them.
    pub values: Vec<f64>,
}

impl Weights {
    /// Scores of the rows of `dataset`, in row order: sums over the features, ascending.
    pub fn scores(&self, dataset: &Dataset<'_>) -> Vec<f64> {
        scores(&self.features, &self.values, dataset)
    }
}

impl<'a> Trained<'a> {
    pub(super) fn new(
        problem: &'a RankRls<'a>,
        lambda: Lambda,
        class_weights: Vec<f64>,
        solution: Solution<'a>,
    ) -> Result<Self, TrainError> {
        if !class_weights.iter().all(|weight| weight.is_finite()) {
            return Err(TrainError::NotFinite);
        }
        Ok(Self {
            problem,
            lambda,
            class_weights,
            solution,
        })
    }

    /// The ridge parameter.
    pub fn lambda(&self) -> Lambda {
        self.lambda
    }

    /// At most so much is rounding amplified: `1 + trace(X X') / lambda`, no less than the condition
    /// number of the system that was solved. From 1 on.
    pub fn condition(&self) -> f64 {
        let trace = self.problem.mean_diagonal * self.problem.labels.len() as f64;
        1.0 + trace / self.lambda.value()
    }

    /// The solver.
    pub fn solver(&self) -> Solver {
        self.problem.solver()
    }

    /// How conjugate gradients ended, if they were the solver.
    pub fn convergence(&self) -> Option<Convergence> {
        match &self.solution {
            Solution::Dual(..) | Solution::Primal(..) => None,
            Solution::Iterated(_, _, convergence) => Some(*convergence),
        }
    }

    /// Weights of the features. Features whose columns are equal up to a constant in each query
    /// and up to sign have the same weight up to sign, to the last bit.
    ///
    /// `O(nnz)` time.
    pub fn weights(&self) -> Weights {
        let candidates = self.problem.design.candidates();
        let signs = candidates.member_signs(self.problem.dataset);
        let classes = (0..candidates.len()).zip(&self.class_weights);
        let members = classes.flat_map(|(class, &weight)| {
            let features = candidates.class(class).iter();
            // The sign of the class is that of its canonical column.
            features.map(move |&feature| (feature, weight))
        });
        let signed = members.zip(signs);
        let mut weights: Vec<(u32, f64)> = signed
            .map(|((feature, weight), sign)| (feature, f64::from(sign) * weight))
            .collect();
        weights.sort_unstable_by_key(|&(feature, _)| feature);
        let (features, values) = weights.into_iter().unzip();
        Weights { features, values }
    }

    /// Predictions for every query by models that were trained without its group.
    ///
    /// `dual` and `primal` take them from the factors of the whole system, `cg` trains again for
    /// every group.
    ///
    /// # Errors
    /// [`TrainError::Groups`] for groups of other data; [`TrainError::Singular`] and
    /// [`TrainError::NotFinite`] where numbers fail.
    pub fn holdout(&self, groups: &Groups) -> Result<Holdout, TrainError> {
        Holdout::new(self, groups)
    }

    /// [`holdout`](Self::holdout) of every query on its own.
    ///
    /// # Errors
    /// As [`holdout`](Self::holdout).
    pub fn leave_query_out(&self) -> Result<Holdout, TrainError> {
        self.holdout(&Groups::queries(self.problem.design.queries().len()))
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
