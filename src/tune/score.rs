//! The measure that models are judged by, and the values of their predictions.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::metrics::Metric;

/// Values that differ by no more than this share are equal: they are in exact arithmetic where
/// rounding tells them apart.
const TIE: f64 = 1e-10;

/// The measure that models are judged by: a mean over queries.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum Measure {
    /// `squared`: squares of the centred residuals, summed over the examples of a query, in squared units of
    /// the labels. Lower is better. On leave-query-out predictions its mean is the leave-query-out error divided
    /// by the number of queries.
    #[default]
    SquaredError,
    /// A ranking measure. Higher is better.
    Metric(Metric),
}

impl Measure {
    /// Whether lower values are better.
    pub fn lower_is_better(self) -> bool {
        self == Self::SquaredError
    }

    /// The metric, unless it is the squared error.
    pub fn metric(self) -> Option<Metric> {
        match self {
            Self::SquaredError => None,
            Self::Metric(metric) => Some(metric),
        }
    }

    /// Whether `value` is better than `other`, and not equal to it but for rounding.
    pub fn better(self, value: f64, other: f64) -> bool {
        let ahead = if self.lower_is_better() {
            other - value
        } else {
            value - other
        };
        ahead > TIE * other.abs()
    }

    /// Whether `value` is better than `other` by at least `least`: a share of `other` for the
    /// squared error, a difference for metrics.
    pub fn improves(self, value: f64, other: f64, least: f64) -> bool {
        let enough = match self {
            Self::SquaredError => value <= other * (1.0 - least),
            Self::Metric(_) => value >= other + least,
        };
        enough && self.better(value, other)
    }

    /// `value` made worse by `by`, from 0 on, in the units of the measure.
    pub fn worsened(self, value: f64, by: f64) -> f64 {
        if self.lower_is_better() {
            value + by
        } else {
            value - by
        }
    }
}

impl fmt::Display for Measure {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::SquaredError => formatter.pad("squared"),
            Self::Metric(metric) => metric.fmt(formatter),
        }
    }
}

impl FromStr for Measure {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self> {
        if name == "squared" {
            return Ok(Self::SquaredError);
        }
        let metric = name.parse().map(Self::Metric);
        metric.map_err(|error: Error| error.within("expected squared or the name of a metric; "))
    }
}

impl TryFrom<String> for Measure {
    type Error = Error;

    fn try_from(name: String) -> Result<Self> {
        name.parse()
    }
}

impl From<Measure> for String {
    fn from(measure: Measure) -> Self {
        measure.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_round_trip() {
        for name in ["squared", "cindex", "ndcg@10"] {
            let measure: Measure = name.parse().unwrap();
            assert_eq!(measure.to_string(), name);
            let json = serde_json::to_string(&measure).unwrap();
            assert_eq!(serde_json::from_str::<Measure>(&json).unwrap(), measure);
        }
        let error = "mse".parse::<Measure>().unwrap_err().to_string();
        assert!(
            error.contains("squared") && error.contains("ndcg"),
            "{error}"
        );
    }

    #[test]
    fn lower_errors_and_higher_metrics_are_better() {
        let (squared, cindex) = (Measure::SquaredError, Measure::Metric(Metric::Concordance));
        assert!(squared.better(1.0, 2.0) && !squared.better(2.0, 1.0));
        assert!(cindex.better(0.6, 0.5) && !cindex.better(0.5, 0.6));
        for measure in [squared, cindex] {
            assert!(!measure.better(1.0, 1.0));
            assert!(!measure.better(1.0, 1.0 + 1e-12) && !measure.better(1.0 + 1e-12, 1.0));
        }
    }

    #[test]
    fn improvements_are_shares_of_errors_and_differences_of_metrics() {
        let (squared, cindex) = (Measure::SquaredError, Measure::Metric(Metric::Concordance));
        assert!(squared.improves(7.5, 10.0, 0.25) && !squared.improves(7.6, 10.0, 0.25));
        assert!(cindex.improves(0.75, 0.5, 0.25) && !cindex.improves(0.74, 0.5, 0.25));
        assert!(!squared.improves(1.0, 1.0, 0.0) && !cindex.improves(1.0, 1.0, 0.0));
    }
}
