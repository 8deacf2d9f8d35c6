//! Measures on the command line and in JSON.

use std::str::FromStr;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use rankrls::QueryWeight;
use rankrls::greedy::Criterion;
use rankrls::metrics::{Convention, Metric, MetricNameError, parse_list};
use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};

/// Measures where none are asked for.
pub(crate) const DEFAULT: &str = "map,ndcg@10,mean-ndcg,p@10,err,mrr,cindex";

/// Help for a list of measures.
pub(crate) const HELP: &str =
    "Measures, separated by commas: map, p@K, ndcg@K, mean-ndcg, err, mrr, cindex";

/// A list of measures.
#[derive(Debug, Clone)]
pub(crate) struct Measures(pub(crate) Vec<Metric>);

impl FromStr for Measures {
    type Err = MetricNameError;

    fn from_str(list: &str) -> Result<Self, MetricNameError> {
        parse_list(list).map(Self)
    }
}

/// Parses the name of a convention.
pub(crate) fn convention() -> impl TypedValueParser<Value = Convention> {
    PossibleValuesParser::new(["letor", "standard"]).map(|name| match name.as_str() {
        "letor" => Convention::Letor,
        _ => Convention::Standard,
    })
}

/// A criterion on the command line: `squared`, or a measure, whose convention is given apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct CriterionName(pub(crate) Option<Metric>);

/// Help for a criterion.
pub(crate) const CRITERION_HELP: &str = "What each step improves most: squared, the squared \
    leave-query-out error, or a measure of the leave-query-out predictions: cindex, ndcg@K, map, \
    mean-ndcg, p@K, err, mrr; measures take dense, lowmem or sampled";

impl CriterionName {
    pub(crate) fn with(self, convention: Convention) -> Criterion {
        self.0
            .map_or(Criterion::Squared, |metric| Criterion::Ranking {
                metric,
                convention,
            })
    }
}

impl FromStr for CriterionName {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        if name == "squared" {
            return Ok(Self(None));
        }
        let metric = name.parse::<Metric>();
        metric
            .map(|metric| Self(Some(metric)))
            .map_err(|error| format!("expected squared or a measure: {error}"))
    }
}

/// Parses the name of a query weight.
pub(crate) fn query_weight() -> impl TypedValueParser<Value = QueryWeight> {
    PossibleValuesParser::new(QueryWeight::ALL.map(QueryWeight::name))
        .map(|name| name.parse().unwrap_or_default())
}

/// Help for a query weight.
pub(crate) const QUERY_WEIGHT_HELP: &str = "What a query of n examples counts: uniform 1, so \
    that examples count alike; pairs n, so that pairs do; size 1/n, so that queries do";

/// Pairs that become a JSON object, in their order.
#[derive(Debug)]
pub(crate) struct Object<V>(pub(crate) Vec<(String, V)>);

impl<V: Serialize> Serialize for Object<V> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for (key, value) in &self.0 {
            map.serialize_entry(key, value)?;
        }
        map.end()
    }
}

/// Values of measures by their names.
pub(crate) fn by_name<V: Copy>(metrics: &[Metric], values: &[V]) -> Object<V> {
    let names = metrics.iter().map(Metric::to_string);
    Object(names.zip(values.iter().copied()).collect())
}
