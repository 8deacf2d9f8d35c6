//! What models and steps are judged by.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::{Metric, Rules};
use crate::error::{Error, Result};

/// What predictions are judged by: `squared`, or the name of a ranking measure.
///
/// ```
/// use rankrls::metrics::{Measure, Metric};
///
/// assert_eq!("squared".parse::<Measure>()?, Measure::Squared);
/// assert_eq!("cindex".parse::<Measure>()?.metric(), Some(Metric::Concordance));
/// assert_eq!("ndcg@10".parse::<Measure>()?.to_string(), "ndcg@10");
/// # Ok::<(), rankrls::Error>(())
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum Measure {
    /// Squares of the centred residuals, summed over the examples of a query, in squared units of the labels.
    /// Lower is better.
    #[default]
    Squared,
    /// A ranking measure by these rules. Higher is better. Its text has the measure alone, and is read with the
    /// rules of the default convention.
    Of(Metric, Rules),
}

impl Measure {
    /// The ranking measure, unless it is the squared error.
    pub fn metric(self) -> Option<Metric> {
        match self {
            Self::Squared => None,
            Self::Of(metric, _) => Some(metric),
        }
    }
}

impl fmt::Display for Measure {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Squared => formatter.pad("squared"),
            Self::Of(metric, _) => metric.fmt(formatter),
        }
    }
}

impl FromStr for Measure {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self> {
        if name == "squared" {
            return Ok(Self::Squared);
        }
        let metric = name.parse().map_err(|error| {
            Error::options(format!("expected squared or the name of a metric; {error}"))
        })?;
        Ok(Self::Of(metric, Rules::default()))
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
