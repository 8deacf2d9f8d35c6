//! The two readings of the measures.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::MetricNameError;

/// How ranks are discounted, ties broken and undefined queries treated; the
/// [module](super) has the table. Written `letor` and `standard`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Convention {
    /// The arithmetic of `Eval-Score-4.0.pl`, to compare with published LETOR figures.
    Letor,
    /// Textbook discounts, expectations over ties, undefined queries left out.
    #[default]
    Standard,
}

impl Convention {
    /// Discount of the 1-based `rank`: 1 at rank 1 and not increasing.
    pub(super) fn discount(self, rank: usize) -> f64 {
        match self {
            Self::Letor => 1.0 / (rank.max(2) as f64).log2(),
            Self::Standard => 1.0 / (rank as f64 + 1.0).log2(),
        }
    }

    /// The value of a query for which a measure is undefined.
    pub(super) fn undefined(self) -> Option<f64> {
        match self {
            Self::Letor => Some(0.0),
            Self::Standard => None,
        }
    }
}

impl fmt::Display for Convention {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Letor => "letor",
            Self::Standard => "standard",
        })
    }
}

impl FromStr for Convention {
    type Err = MetricNameError;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        match name {
            "letor" => Ok(Self::Letor),
            "standard" => Ok(Self::Standard),
            _ => Err(MetricNameError::Convention(name.to_owned())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_round_trip() {
        for convention in [Convention::Letor, Convention::Standard] {
            assert_eq!(convention.to_string().parse(), Ok(convention));
            let json = serde_json::to_string(&convention).unwrap();
            assert_eq!(json, format!("\"{convention}\""));
        }
        let error = "LETOR".parse::<Convention>().unwrap_err();
        assert!(error.to_string().contains("letor, standard"), "{error}");
    }

    #[test]
    #[expect(clippy::float_cmp, reason = "the same expressions, rounded once")]
    fn discounts_of_the_first_ranks() {
        let discounts = |convention: Convention| [1, 2, 3, 4].map(|rank| convention.discount(rank));
        let log2_3 = 3.0_f64.log2();
        assert_eq!(discounts(Convention::Letor), [1.0, 1.0, 1.0 / log2_3, 0.5]);
        let standard = discounts(Convention::Standard);
        assert_eq!(standard[..3], [1.0, 1.0 / log2_3, 0.5]);
    }
}
