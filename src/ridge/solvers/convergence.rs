//! How near conjugate gradients come.

use crate::lambda::Lambda;

/// Norm of the residual to reach, as a share of the norm of the labels.
pub const TOLERANCE: f64 = 1e-10;

/// The relative residual at which models end that only predict the queries they leave out, to compare
/// ridge parameters.
pub const HOLDOUT_TOLERANCE: f64 = 1e-6;

/// Most iterations.
pub const ITERATIONS: usize = 5_000;

/// How conjugate gradients ended.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Convergence {
    /// Iterations taken.
    pub iterations: usize,
    /// Norm of the residual `y^ - (K + ridge I) a`, as a share of the norm of the labels `y^`: predictions for
    /// the training rows are off by no more than this share of them. Rounding keeps it above
    /// [`TOLERANCE`] where the unit is some 1e8 times `lambda` or more. At 1 nothing was learnt: all
    /// weights are 0.
    pub residual: f64,
}

/// A solution by conjugate gradients whose residual is above the tolerance.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Shortfall {
    /// The ridge parameter.
    pub lambda: Lambda,
    /// Whether it is that of models without some rows, and not of the model of all data.
    pub held_out: bool,
    /// The precision that was reached.
    pub convergence: Convergence,
    /// The residual that was to be reached: [`TOLERANCE`] or [`HOLDOUT_TOLERANCE`].
    pub tolerance: f64,
}

impl Convergence {
    /// Whether the residual is a number within `tolerance`.
    pub fn is_within(&self, tolerance: f64) -> bool {
        self.residual <= tolerance
    }
}
