//! The ridge parameter.

use std::fmt;

use serde::{Deserialize, Serialize};
use thiserror::Error;

/// Ridge parameter `lambda` of regularised least squares: finite and above 0.
///
/// ```
/// use rankrls::Lambda;
///
/// assert_eq!(Lambda::new(16.0)?.value(), 16.0);
/// assert!(Lambda::new(0.0).is_err());
/// # Ok::<(), rankrls::InvalidLambda>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd, Serialize, Deserialize)]
#[serde(try_from = "f64", into = "f64")]
pub struct Lambda(f64);

/// A ridge parameter that is not finite or not above 0.
#[derive(Debug, Clone, Copy, PartialEq, Error)]
#[error("lambda is {0}: expected a finite number above 0")]
pub struct InvalidLambda(pub f64);

impl Lambda {
    /// 1.
    pub const ONE: Self = Self(1.0);

    /// Checks `value`.
    ///
    /// # Errors
    /// [`InvalidLambda`] unless `value` is finite and above 0.
    pub fn new(value: f64) -> Result<Self, InvalidLambda> {
        if value.is_finite() && value > 0.0 {
            Ok(Self(value))
        } else {
            Err(InvalidLambda(value))
        }
    }

    /// Each of `lambdas` once, ascending: a grid to search.
    pub fn grid(lambdas: &[Self]) -> Vec<Self> {
        let mut grid = lambdas.to_vec();
        grid.sort_by(|a, b| a.0.total_cmp(&b.0));
        grid.dedup();
        grid
    }

    /// The number.
    pub fn value(self) -> f64 {
        self.0
    }
}

impl TryFrom<f64> for Lambda {
    type Error = InvalidLambda;

    fn try_from(value: f64) -> Result<Self, InvalidLambda> {
        Self::new(value)
    }
}

impl From<Lambda> for f64 {
    fn from(lambda: Lambda) -> Self {
        lambda.0
    }
}

impl std::str::FromStr for Lambda {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let value: f64 = text
            .parse()
            .map_err(|_| format!("expected a number above 0, found {text:?}"))?;
        Self::new(value).map_err(|error| error.to_string())
    }
}

impl fmt::Display for Lambda {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(formatter)
    }
}
