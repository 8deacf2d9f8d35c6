//! The judge of models, steps and predictions: the squared error or a ranking measure.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::{Convention, Metric};
use crate::error::{Error, Result};

/// Values that differ by at most this share are equal: only rounding separates them.
const TIE: f64 = 1e-10;

/// A judge of predictions, as a mean over queries: `squared`, or the name of a ranking measure with its rules.
///
/// ```
/// use rankrls::metrics::{Measure, Metric};
///
/// assert_eq!("squared".parse::<Measure>()?, Measure::Squared);
/// assert_eq!("cindex".parse::<Measure>()?.metric(), Some(Metric::CONCORDANCE));
/// let measure: Measure = "ndcg@10:linear(letor)".parse()?;
/// assert_eq!(measure.to_string(), "ndcg@10:linear(letor)");
/// # Ok::<(), rankrls::Error>(())
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum Measure {
    /// Squares of the centred residuals, summed over the examples of a query, in squared units of the labels.
    /// Lower is better.
    #[default]
    Squared,
    /// A ranking measure. Higher is better.
    Of(Metric),
}

impl Measure {
    /// The ranking measure, unless it is the squared error.
    pub fn metric(self) -> Option<Metric> {
        match self {
            Self::Squared => None,
            Self::Of(metric) => Some(metric),
        }
    }

    /// This measure under `convention`, if it ranks and names none.
    #[must_use]
    pub fn under(self, convention: Convention) -> Self {
        let metric = self.metric();
        metric.map_or(Self::Squared, |metric| Self::Of(metric.under(convention)))
    }

    /// Whether lower values are better.
    pub fn lower_is_better(self) -> bool {
        self == Self::Squared
    }

    /// Whether `value` is better than `other` by more than rounding.
    pub fn better(self, value: f64, other: f64) -> bool {
        let ahead = if self.lower_is_better() {
            other - value
        } else {
            value - other
        };
        ahead > TIE * other.abs()
    }

    /// Whether `value` is better than `other` by at least `least`. For the squared error that is a share of
    /// `other`, for metrics a difference.
    pub(crate) fn improves(self, value: f64, other: f64, least: f64) -> bool {
        let enough = match self {
            Self::Squared => value <= other * (1.0 - least),
            Self::Of(..) => value >= other + least,
        };
        enough && self.better(value, other)
    }

    /// `value` made worse by `by`, which is at least 0, in the units of the measure.
    pub fn worsened(self, value: f64, by: f64) -> f64 {
        if self.lower_is_better() {
            value + by
        } else {
            value - by
        }
    }
}

impl From<Metric> for Measure {
    fn from(metric: Metric) -> Self {
        Self::Of(metric)
    }
}

impl fmt::Display for Measure {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Squared => formatter.pad("squared"),
            Self::Of(metric) => metric.fmt(formatter),
        }
    }
}

impl FromStr for Measure {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self> {
        if name == "squared" {
            return Ok(Self::Squared);
        }
        let metric = name.parse().map(|metric: Metric| metric.into());
        metric.map_err(|error: Error| error.within("expected squared or the name of a metric; "))
    }
}

impl TryFrom<String> for Measure {
    type Error = Error;

    fn try_from(text: String) -> Result<Self> {
        text.parse()
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
        for name in ["squared", "cindex", "ndcg@2(letor)", "map:2(standard)"] {
            let measure: Measure = name.parse().unwrap();
            let json = serde_json::to_string(&measure).unwrap();
            assert_eq!(json, format!("{name:?}"));
            assert_eq!(serde_json::from_str::<Measure>(&json).unwrap(), measure);
        }
        for other in ["mse", "map(x)", "squared(letor)", "squared:2"] {
            let error = other.parse::<Measure>().unwrap_err().to_string();
            let begin = "expected squared or the name of a metric; ";
            assert!(error.starts_with(begin), "{error}");
        }
    }

    #[test]
    fn lower_errors_and_higher_metrics_are_better() {
        let squared = Measure::Squared;
        let cindex = Measure::from(Metric::CONCORDANCE);
        for (measure, value, other, better) in [
            (squared, 1.0, 2.0, true),
            (squared, 2.0, 1.0, false),
            (cindex, 0.6, 0.5, true),
            (cindex, 0.5, 0.6, false),
            (squared, 1.0, 1.0, false),
            (cindex, 1.0, 1.0, false),
            (squared, 1.0, 1.0 + 1e-12, false),
            (cindex, 1.0 + 1e-12, 1.0, false),
        ] {
            assert_eq!(
                measure.better(value, other),
                better,
                "{measure}: {value} and {other}"
            );
        }
        // Improvements are shares of errors and differences of metrics.
        for (measure, value, other, least, improves) in [
            (squared, 7.5, 10.0, 0.25, true),
            (squared, 7.6, 10.0, 0.25, false),
            (cindex, 0.75, 0.5, 0.25, true),
            (cindex, 0.74, 0.5, 0.25, false),
            (squared, 1.0, 1.0, 0.0, false),
            (cindex, 1.0, 1.0, 0.0, false),
        ] {
            assert_eq!(
                measure.improves(value, other, least),
                improves,
                "{measure}: {value}"
            );
        }
    }
}
