//! Enums whose values have names: on the command line, in JSON and in messages.

use crate::error::Error;

/// The error of a name that no value of this `kind` has.
pub(crate) fn unknown(kind: &str, found: &str, names: &[&str]) -> Error {
    let expected = names.join(", ");
    Error::options(format!(
        "no {kind} is called {found:?}: expected one of {expected}"
    ))
}

/// Gives an enum the names of its listed values: `ALL`, `name` and the traits of [`named`].
macro_rules! names {
    ($type:ident, $kind:literal, $($value:ident => $name:literal),+ $(,)?) => {
        impl $type {
            /// All values.
            pub const ALL: [Self; [$($name),+].len()] = [$(Self::$value),+];

            /// The name.
            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$value => $name,)+
                }
            }
        }

        $crate::names::named!($type, $kind);
    };
}

/// Writes and reads the names of an enum that has `ALL` and `name`. `other` is a value outside of `ALL`.
macro_rules! named {
    ($type:ident, $kind:literal $(, $other:ident)?) => {
        impl std::fmt::Display for $type {
            fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                formatter.pad(self.name())
            }
        }

        impl std::str::FromStr for $type {
            type Err = $crate::error::Error;

            fn from_str(name: &str) -> Result<Self, Self::Err> {
                let mut all = Self::ALL.into_iter()$(.chain([Self::$other]))?;
                let found = all.find(|value| value.name() == name);
                let names = Self::ALL.map(Self::name);
                found.ok_or_else(|| $crate::names::unknown($kind, name, &names))
            }
        }

        impl serde::Serialize for $type {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(self.name())
            }
        }

        impl<'de> serde::Deserialize<'de> for $type {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let name = String::deserialize(deserializer)?;
                name.parse().map_err(serde::de::Error::custom)
            }
        }
    };
}

pub(crate) use {named, names};

/// The pairs of examples that a model should order, and their weights.
///
/// | objective | loss | the same as |
/// |---|---|---|
/// | `query` | `sum_q 1/n sum_{i<j in q} ((y_i - y_j) - (f_i - f_j))^2` over queries `q` of `n` examples | ridge regression on rows and labels that are centred in every query |
/// | `global` | `sum_{i<j} ((y_i - y_j) - (f_i - f_j))^2` over all examples | one query and ridge parameter `lambda / m` |
/// | `pairs` | `sum_e c_e (g_e - (f_i - f_j))^2` over given preferences `e` of `i` to `j` | |
///
/// Under `global`, a model without `h` of the examples has ridge parameter `lambda / (m - h)`, as in RLScore: its
/// loss sums over fewer pairs.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum Objective {
    /// Pairs within queries (`QueryRankRLS`).
    #[default]
    Query,
    /// All pairs, within queries or not (`GlobalRankRLS`).
    Global,
    /// Given pairs (`PPRankRLS`).
    Pairs,
}

names!(Objective, "objective", Query => "query", Global => "global", Pairs => "pairs");

impl Objective {
    /// Whether it is `query`, the default, which is not written.
    pub fn is_query(&self) -> bool {
        *self == Self::Query
    }

    /// Whether it compares only examples of the same query. Otherwise all examples are one query.
    pub fn is_within_queries(self) -> bool {
        matches!(self, Self::Query)
    }
}

#[cfg(test)]
mod tests {
    use super::Objective;
    use crate::columns::{QueryWeight, Scale};
    use crate::data::read::Format;
    use crate::data::{LabelScale, Ranker};
    use crate::greedy::{StrategyKind, WeightTarget};
    use crate::metrics::Convention;
    use crate::ridge::{KernelKind, Solver};

    #[test]
    fn names_read_back_and_others_are_refused_with_all_of_them() {
        macro_rules! check {
            ($($type:ident: $message:literal),+ $(,)?) => {$(
                for value in $type::ALL {
                    assert_eq!(value.to_string().parse(), Ok(value));
                    let json = serde_json::to_string(&value).unwrap();
                    assert_eq!(json, format!("\"{value}\""));
                }
                let error = "other".parse::<$type>().unwrap_err().to_string();
                assert_eq!(error, $message);
            )+};
        }
        check! {
            Format: "no format is called \"other\": expected one of auto, svmlight, csv, tsv",
            KernelKind: "no kernel is called \"other\": expected one of linear, gaussian, polynomial, precomputed",
            LabelScale: "no scale of labels is called \"other\": expected one of raw, sqrt-sd, unit",
            Objective: "no objective is called \"other\": expected one of query, global, pairs",
            Ranker: "no ranker is called \"other\": expected one of lightgbm, xgboost",
            WeightTarget: "no target of weights is called \"other\": expected one of labels, cross-fitted",
            Scale: "no scale is called \"other\": expected one of none, sd, max",
            QueryWeight: "no query weight is called \"other\": expected one of uniform, pairs, size",
            Convention: "no convention is called \"other\": expected one of letor, standard",
            Solver: "no solver is called \"other\": expected one of dual, primal, cg",
            StrategyKind: "no strategy is called \"other\": expected one of dense, lowmem, bounded, \
                sampled, backfit, distil, univariate, fs-ed, residual, random",
        }
    }
}
