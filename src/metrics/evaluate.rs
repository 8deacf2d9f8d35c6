//! Measures over the queries of a data set.

use rayon::prelude::*;
use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};

use super::MetricsError;
use super::metric::{Metric, distinct};
use super::ranking::{Context, Convention, Ranking};
use crate::data::Queries;

/// One measure over the queries of a data set.
///
/// As JSON: `{"mean": 0.5, "queries": 9, "left_out": 1}`, without the per-query
/// values.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct MetricValues {
    /// The measure.
    #[serde(skip)]
    pub metric: Metric,
    /// Mean over the queries that have a value, `None` where none has.
    pub mean: Option<f64>,
    /// Queries that have a value.
    pub queries: usize,
    /// Queries that have none.
    pub left_out: usize,
    /// The value of each query, in order.
    #[serde(skip)]
    pub per_query: Vec<Option<f64>>,
}

/// What [`evaluate()`] found.
///
/// As JSON: `{"convention": "standard", "metrics": {"map": {...}, ...}}`, see
/// [`MetricValues`].
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Evaluation {
    /// The convention of all figures.
    pub convention: Convention,
    /// One entry a measure, each measure once, in the order first asked for.
    #[serde(serialize_with = "by_name")]
    pub metrics: Vec<MetricValues>,
}

impl Evaluation {
    /// The values of `metric`, if it was asked for.
    pub fn get(&self, metric: Metric) -> Option<&MetricValues> {
        self.metrics.iter().find(|values| values.metric == metric)
    }
}

/// Measures the ranking of `queries` by `scores`: `m` labels and scores, in row
/// order.
///
/// Every query is sorted once; queries are shared among the threads of the
/// current rayon pool, and the result does not depend on their number.
///
/// # Errors
/// [`MetricsError::Lengths`] unless there are a label and a score a row,
/// [`MetricsError::NotFinite`] for one that is nan or infinite.
pub fn evaluate(
    metrics: &[Metric],
    labels: &[f64],
    scores: &[f64],
    queries: &Queries,
    convention: Convention,
) -> Result<Evaluation, MetricsError> {
    check("label", labels, queries)?;
    check("score", scores, queries)?;
    let context = Context::of(labels);
    let metrics = distinct(metrics);
    let values = per_query(&metrics, labels, scores, queries, (convention, context));
    let values_of = |index: usize| values.iter().map(|query| query[index]).collect();
    Ok(Evaluation {
        convention,
        metrics: (0..)
            .zip(metrics)
            .map(|(index, metric)| summarise(metric, values_of(index)))
            .collect(),
    })
}

/// Values of each query, one a measure, for a label and a score a row.
pub(crate) fn per_query(
    metrics: &[Metric],
    labels: &[f64],
    scores: &[f64],
    queries: &Queries,
    (convention, context): (Convention, Context),
) -> Vec<Vec<Option<f64>>> {
    (0..queries.len())
        .into_par_iter()
        .map(|query| {
            let rows = queries.range(query);
            let ranking = Ranking::new(&labels[rows.clone()], &scores[rows], convention);
            let value = |metric: &Metric| metric.of(ranking.as_ref()?, context);
            metrics.iter().map(value).collect()
        })
        .collect()
}

/// Refuses what is not one finite value a row.
fn check(what: &'static str, values: &[f64], queries: &Queries) -> Result<(), MetricsError> {
    if values.len() != queries.rows() {
        return Err(MetricsError::Lengths {
            what,
            expected: queries.rows(),
            found: values.len(),
        });
    }
    match values.iter().position(|value| !value.is_finite()) {
        Some(row) => Err(MetricsError::NotFinite {
            what,
            row,
            value: values[row],
        }),
        None => Ok(()),
    }
}

/// The mean of a measure and its counts.
fn summarise(metric: Metric, per_query: Vec<Option<f64>>) -> MetricValues {
    let queries = per_query.iter().flatten().count();
    let sum: f64 = per_query.iter().flatten().sum();
    MetricValues {
        metric,
        mean: (queries > 0).then(|| sum / queries as f64),
        queries,
        left_out: per_query.len() - queries,
        per_query,
    }
}

/// A map from the names of measures to their values.
fn by_name<S: Serializer>(metrics: &[MetricValues], serializer: S) -> Result<S::Ok, S::Error> {
    let mut map = serializer.serialize_map(Some(metrics.len()))?;
    for values in metrics {
        map.serialize_entry(&values.metric, values)?;
    }
    map.end()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metrics::parse_list;

    const LABELS: [f64; 6] = [0.0, 1.0, 0.0, 0.0, 2.0, 0.0];
    const SCORES: [f64; 6] = [2.0, 1.0, 4.0, 3.0, 6.0, 5.0];

    fn evaluation(names: &str, convention: Convention) -> Evaluation {
        let queries = Queries::from_sizes(&[2, 2, 2]).unwrap();
        let metrics = parse_list(names).unwrap();
        evaluate(&metrics, &LABELS, &SCORES, &queries, convention).unwrap()
    }

    #[test]
    fn undefined_queries_are_left_out_or_0() {
        let standard = evaluation("mrr", Convention::Standard);
        let mrr = standard.get(Metric::ReciprocalRank).unwrap();
        assert_eq!((mrr.mean, mrr.queries, mrr.left_out), (Some(0.75), 2, 1));
        assert_eq!(mrr.per_query, [Some(0.5), None, Some(1.0)]);
        let letor = evaluation("mrr", Convention::Letor);
        let mrr = letor.get(Metric::ReciprocalRank).unwrap();
        assert_eq!((mrr.mean, mrr.queries, mrr.left_out), (Some(0.5), 3, 0));
    }

    #[test]
    fn no_defined_query_has_no_mean() {
        let queries = Queries::single(2).unwrap();
        let metrics = [Metric::Concordance, Metric::Concordance];
        let found = evaluate(&metrics, &[1.0; 2], &[2.0; 2], &queries, Convention::Letor).unwrap();
        assert_eq!(found.metrics.len(), 1);
        assert_eq!(found.metrics[0].mean, None);
        assert_eq!(found.metrics[0].left_out, 1);
    }

    #[test]
    fn json_keys_are_the_names() {
        let json = serde_json::to_string(&evaluation("p@2,cindex", Convention::Standard)).unwrap();
        assert_eq!(
            json,
            r#"{"convention":"standard","metrics":{"p@2":{"mean":0.3333333333333333,"queries":3,"left_out":0},"cindex":{"mean":0.5,"queries":2,"left_out":1}}}"#
        );
    }

    #[test]
    fn lengths_and_values_are_checked() {
        let queries = Queries::single(2).unwrap();
        let with = |labels: &[f64], scores: &[f64]| {
            evaluate(&[], labels, scores, &queries, Convention::Standard).unwrap_err()
        };
        let error = with(&[1.0, 2.0], &[1.0]);
        assert!(matches!(
            error,
            MetricsError::Lengths {
                what: "score",
                expected: 2,
                found: 1
            }
        ));
        let error = with(&[1.0, 2.0], &[1.0, f64::NAN]);
        assert_eq!(
            error.to_string(),
            "the score of row 1 is NaN: scores must be finite"
        );
        let error = with(&[f64::INFINITY, 2.0], &[1.0, 1.0]);
        assert!(matches!(
            error,
            MetricsError::NotFinite {
                what: "label",
                row: 0,
                ..
            }
        ));
    }
}
