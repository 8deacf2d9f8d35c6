//! Models that were trained.

use super::problem::RidgeProblem;
use super::solvers::{Convergence, Solution, Solver};
use super::weights::Weights;
use crate::error::Result;
use crate::lambda::Lambda;

/// RankRLS trained with one ridge parameter: weights of features, or coefficients of rows, and the predictions
/// of models without some of the rows.
#[derive(Debug)]
pub struct Trained<'a> {
    pub(super) problem: &'a RidgeProblem<'a>,
    pub(super) lambda: Lambda,
    pub(super) solution: Solution,
}

impl<'a> RidgeProblem<'a> {
    /// Trains with the ridge parameter `lambda`, a number in the unit of [`unit`](Self::unit): `m^3 / 3`
    /// operations for `dual`, `c^3 / 3` for `primal` with `c` column classes, two for each entry in each
    /// iteration of `cg`.
    pub fn train(&'a self, lambda: Lambda) -> Result<Trained<'a>> {
        Ok(Trained {
            problem: self,
            lambda,
            solution: self.solution(lambda, 0)?,
        })
    }
}

impl Trained<'_> {
    /// The solver.
    pub fn solver(&self) -> Solver {
        self.problem.solver()
    }

    /// How conjugate gradients ended, if they were the solver.
    pub fn convergence(&self) -> Option<Convergence> {
        self.solution.convergence
    }

    /// Weights of the features, in units of the labels over those of the columns. Features whose columns are
    /// equal up to a constant in each query and up to sign have the same weight up to sign, to the last bit.
    /// None under a kernel, which has [`coefficients`](Self::coefficients).
    ///
    /// `O(nnz)` time.
    #[expect(clippy::missing_panics_doc, reason = "public problems have data")]
    pub fn weights(&self) -> Weights {
        let Some(columns) = self.problem.system.features.columns() else {
            return Weights::default();
        };
        let known = self.problem.dataset;
        let dataset = known.expect("problems without data are asked for predictions only");
        let classes = (0..).zip(&self.solution.totals);
        let members = classes.flat_map(|(class, total)| {
            let features = columns.classes.class(class);
            // A class has the sign of its canonical column.
            let weight = total / features.len() as f64 / columns.classes.divisor(class);
            features.iter().map(move |&feature| (feature, weight))
        });
        let pairs = members.zip(columns.classes.member_signs(dataset));
        let signed = pairs.map(|((feature, weight), sign)| (feature, f64::from(sign) * weight));
        Weights::of(signed.collect())
    }

    /// `B' a` for the dual coefficients `a` (`docs/rankrls.md`, "Two systems"; Saunders, Gammerman and Vovk,
    /// ICML 1998): a coefficient for each row of the data, `m`, in units of the labels over those of the kernel.
    ///
    /// A row scores the sum of its kernel values with these rows, each times the coefficient. The coefficients
    /// of a query, or of rows that preferences connect, sum to 0. `None` for `primal`, which has none.
    pub fn coefficients(&self) -> Option<Vec<f64>> {
        let coefficients = &self.solution.coefficients;
        let system = &self.problem.system;
        (!coefficients.is_empty()).then(|| system.of_data(coefficients))
    }
}
