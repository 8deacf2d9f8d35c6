//! How the features of a model were chosen.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::greedy::StrategyKind;

/// How the features of a model were chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FeatureChoice {
    /// Selected by a strategy.
    Strategy(StrategyKind),
    /// All that vary within some query.
    All,
    /// Those of a list, or of another model.
    Given,
}

/// Names of all choices.
const NAMES: [&str; 10] = [
    "dense",
    "lowmem",
    "bounded",
    "sampled",
    "backfit",
    "univariate",
    "residual",
    "random",
    "all",
    "given",
];

impl FeatureChoice {
    /// The name: that of a strategy, `all` or `given`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Strategy(strategy) => strategy.name(),
            Self::All => "all",
            Self::Given => "given",
        }
    }

    /// Whether features were added one at a time, so that there is a path.
    pub fn is_selection(self) -> bool {
        matches!(self, Self::Strategy(_))
    }
}

impl fmt::Display for FeatureChoice {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(self.name())
    }
}

impl Serialize for FeatureChoice {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

impl<'de> Deserialize<'de> for FeatureChoice {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let name = String::deserialize(deserializer)?;
        match name.as_str() {
            "all" => Ok(Self::All),
            "given" => Ok(Self::Given),
            name => StrategyKind::from_str(name)
                .map(Self::Strategy)
                .map_err(|_| serde::de::Error::unknown_variant(name, &NAMES)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_reads_back() {
        let strategies = StrategyKind::ALL.map(FeatureChoice::Strategy);
        let others = [FeatureChoice::All, FeatureChoice::Given];
        let choices: Vec<FeatureChoice> = strategies.into_iter().chain(others).collect();
        assert_eq!(choices.len(), NAMES.len());
        for choice in choices {
            let json = serde_json::to_string(&choice).unwrap();
            assert_eq!(json, format!("\"{choice}\""));
            assert!(NAMES.contains(&choice.name()));
            assert_eq!(
                serde_json::from_str::<FeatureChoice>(&json).unwrap(),
                choice
            );
        }
        assert!(serde_json::from_str::<FeatureChoice>("\"auto\"").is_err());
    }
}
