//! Measures on the command line and in JSON.

use std::str::FromStr;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use rankrls::QueryWeight;
use rankrls::metrics::{Convention, Metric, MetricsError, parse_list};
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
    type Err = MetricsError;

    fn from_str(list: &str) -> Result<Self, MetricsError> {
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
