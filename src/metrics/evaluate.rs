//! Measures over the queries of a data set.

use rayon::prelude::*;
use serde::ser::SerializeMap;
use serde::{Deserialize, Serialize, Serializer};

use super::metric::{LabelUse, Metric, distinct};
use super::ranking::{Ranking, mean};
use super::rules::Rules;
use crate::data::Queries;
use crate::error::{Error, Result, ensure};
use crate::stop;

/// A mean over the queries where a measure is defined.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Score {
    /// The mean; `None` where no query has a value.
    pub mean: Option<f64>,
    /// Standard error of the mean: the deviation of queries (with one degree of freedom less)
    /// over the root of their number. `None` for fewer than two queries, and where squares of
    /// deviations are beyond the doubles.
    pub standard_error: Option<f64>,
    /// Queries that have a value.
    pub queries: usize,
}

impl Score {
    /// Summarises the values of queries.
    pub(crate) fn of(per_query: &[Option<f64>]) -> Self {
        let values: Vec<f64> = per_query.iter().flatten().copied().collect();
        let queries = values.len();
        let count = queries as f64;
        let mean = (queries > 0).then(|| mean(values.iter().copied()));
        let variance = mean.filter(|_| queries > 1).map(|mean| {
            let squares = values.iter().map(|value| (value - mean) * (value - mean));
            squares.sum::<f64>() / (count - 1.0)
        });
        Self {
            mean,
            standard_error: variance
                .map(|variance| (variance / count).sqrt())
                .filter(|error| error.is_finite()),
            queries,
        }
    }
}

/// One measure over the queries of a data set.
///
/// The JSON: `{"mean": 0.5, "standard_error": 0.1, "queries": 9, "left_out": 1}`,
/// without the per-query values.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct MetricValues {
    /// The measure.
    #[serde(skip)]
    pub metric: Metric,
    /// Mean over the queries that have a value, `None` where none has.
    pub mean: Option<f64>,
    /// Standard error of the mean over queries, see [`Score`].
    pub standard_error: Option<f64>,
    /// Queries that have a value.
    pub queries: usize,
    /// Queries that have none.
    pub left_out: usize,
    /// The value of each query, in order.
    #[serde(skip)]
    pub per_query: Vec<Option<f64>>,
}

/// The result of [`evaluate()`].
///
/// The JSON: `{"convention": "standard", "metrics": {"map": {...}, ...}}`, with those of the
/// [`Rules`] that were given beside the convention; see [`MetricValues`].
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Evaluation {
    /// The rules of all figures.
    #[serde(flatten)]
    pub rules: Rules,
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
/// `rules` are [`Rules`], or a [`Convention`](super::Convention) where the others are as usual.
///
/// Every query is sorted once; queries are shared among the threads of the
/// current rayon pool, and the result does not depend on their number.
pub fn evaluate(
    metrics: &[Metric],
    labels: &[f64],
    scores: &[f64],
    queries: &Queries,
    rules: impl Into<Rules>,
) -> Result<Evaluation> {
    let rules: Rules = rules.into();
    check_labels(metrics, labels, queries, &rules, None)?;
    check("score", scores, queries)?;
    let metrics = distinct(metrics);
    let values = per_query(&metrics, labels, scores, queries, rules.of(labels));
    stop::check()?;
    let summary = |(index, metric): (usize, Metric)| {
        let per_query: Vec<_> = values.iter().map(|query| query[index]).collect();
        let score = Score::of(&per_query);
        MetricValues {
            metric,
            mean: score.mean,
            standard_error: score.standard_error,
            queries: score.queries,
            left_out: per_query.len() - score.queries,
            per_query,
        }
    };
    Ok(Evaluation {
        rules,
        metrics: metrics.iter().copied().enumerate().map(summary).collect(),
    })
}

/// Values of each query, one a measure, for a label and a score a row. A request to end leaves queries out: the
/// caller asks for it afterwards.
pub(crate) fn per_query(
    metrics: &[Metric],
    labels: &[f64],
    scores: &[f64],
    queries: &Queries,
    rules: Rules,
) -> Vec<Vec<Option<f64>>> {
    (0..queries.len())
        .into_par_iter()
        .map(|query| {
            if stop::requested() {
                return vec![None; metrics.len()];
            }
            let rows = queries.range(query);
            let ranking = Ranking::new(&labels[rows.clone()], &scores[rows], rules);
            let value = |metric: &Metric| metric.of(ranking.as_ref()?);
            metrics.iter().map(value).collect()
        })
        .collect()
}

/// Refuses labels that `metrics` cannot be taken of: [`evaluate()`] does so itself, but scores may
/// take long to compute. `inputs` are the rows of the input, from 0, where they are in another order
/// there.
pub fn check_labels(
    metrics: &[Metric],
    labels: &[f64],
    queries: &Queries,
    rules: &Rules,
    inputs: Option<&[u32]>,
) -> Result<()> {
    check("label", labels, queries)?;
    let first = |labels_of: fn(LabelUse) -> bool, refused: &dyn Fn(f64) -> bool| {
        let metric = metrics.iter().find(|metric| labels_of(metric.labels()))?;
        let row = labels.iter().position(|&label| refused(label))?;
        let query = queries.of_row(row);
        let number = || (query + 1).to_string();
        let query = queries.id(query).map_or_else(number, str::to_owned);
        let (label, row) = (
            labels[row],
            1 + inputs.map_or(row, |rows| rows[row] as usize),
        );
        let place = format!("the label of row {row}, in query {query}, is {label}");
        Some((metric, place))
    };
    if let Some((metric, place)) = first(LabelUse::are_grades, &|label| label < 0.0) {
        let any = Metric::names_for_any_label();
        return Err(Error::data(format!(
            "{metric} needs grades, from 0 on: {place}; these measures take any label: {any}"
        )));
    }
    let largest = rules.max_grade.unwrap_or(f64::INFINITY);
    match first(|labels| labels == LabelUse::Scale, &|label| label > largest) {
        None => Ok(()),
        Some((metric, place)) => Err(Error::data(format!(
            "{metric} has {largest} as the largest grade: {place}"
        ))),
    }
}

/// Refuses what is not one finite value a row.
fn check(what: &str, values: &[f64], queries: &Queries) -> Result<()> {
    let (rows, found) = (queries.rows(), values.len());
    ensure!(
        found == rows,
        data,
        "{what}s: expected {rows}, one a row of the queries, found {found}"
    );
    let Some(row) = values.iter().position(|value| !value.is_finite()) else {
        return Ok(());
    };
    let value = values[row];
    Err(Error::numbers(format!(
        "the {what} of row {row} is {value}: {what}s must be finite"
    )))
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
    use crate::metrics::{Convention, parse_list};

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
            r#"{"convention":"standard","metrics":{"p@2":{"mean":0.3333333333333333,"standard_error":0.16666666666666669,"queries":3,"left_out":0},"cindex":{"mean":0.5,"standard_error":0.5,"queries":2,"left_out":1}}}"#
        );
    }

    /// Two of three queries have counts as labels.
    #[test]
    fn queries_of_counts_are_not_left_out() {
        let queries = Queries::from_sizes(&[2, 2, 2]).unwrap();
        let labels = [2000.0, 5.0, 1500.0, 0.0, 40.0, 3.0];
        let scores = [2.0, 1.0, 1.0, 2.0, 2.0, 1.0];
        let third = 1.0 / 3.0_f64.log2();
        for (convention, mean) in [
            (Convention::Standard, (2.0 + third) / 3.0),
            (Convention::Letor, 1.0),
        ] {
            let metrics = parse_list("ndcg@2").unwrap();
            let all = evaluate(&metrics, &labels, &scores, &queries, convention).unwrap();
            let found = &all.metrics[0];
            assert!((found.mean.unwrap() - mean).abs() < 1e-15, "{found:?}");
            assert_eq!((found.queries, found.left_out), (3, 0));
        }
    }

    #[test]
    fn labels_that_are_no_grades_are_refused() {
        let queries = Queries::from_sizes(&[2, 2]).unwrap();
        let metrics = parse_list("map,ndcg@10,err").unwrap();
        let with = |labels: &[f64], max_grade| {
            let rules = Rules {
                max_grade,
                ..Rules::default()
            };
            evaluate(&metrics, labels, &[1.0; 4], &queries, rules).map(|_| ())
        };
        let error = with(&[1.0, 0.0, 1.0, -1.0], None).unwrap_err().to_string();
        let place = "ndcg@10 needs grades, from 0 on: the label of row 4, in query 2, is -1";
        assert!(error.starts_with(place), "{error}");
        assert!(error.contains("map, p@K, mrr, cindex, label@1"), "{error}");
        let error = with(&[1.0, 5.0, 1.0, 0.0], Some(4.0)).unwrap_err();
        let message = "err has 4 as the largest grade: the label of row 2, in query 1, is 5";
        assert_eq!(error.to_string(), message);
        assert_eq!(with(&[1.0, 4.0, 1.0, 0.0], Some(4.0)), Ok(()));
        assert_eq!(with(&[1.0, 5.0, 1.0, 0.0], None), Ok(()));
        let any = parse_list("map,p@1,mrr,cindex,label@1").unwrap();
        let found = evaluate(
            &any,
            &[-1.0, 1.0, 1.0, -1.0],
            &[2.0, 1.0, 2.0, 1.0],
            &queries,
            Convention::Standard,
        );
        let found = found.unwrap();
        let mean = |metric| found.get(metric).unwrap().mean;
        assert_eq!(mean(Metric::AveragePrecision), Some(0.75));
        assert_eq!(mean(Metric::FirstLabel), Some(0.0));
    }

    #[test]
    fn scores_are_of_the_queries_that_have_a_value() {
        let score = Score::of(&[Some(1.0), None, Some(3.0), Some(5.0)]);
        assert_eq!((score.mean, score.queries), (Some(3.0), 3));
        // The variance is 4.
        assert_eq!(score.standard_error, Some((4.0_f64 / 3.0).sqrt()));
        let one = Score::of(&[Some(2.0)]);
        assert_eq!((one.mean, one.standard_error), (Some(2.0), None));
        let huge = Score::of(&[Some(1e308), Some(1.4e308)]);
        assert_eq!((huge.mean, huge.standard_error), (Some(1.2e308), None));
        let none = Score::of(&[None, None]);
        assert_eq!(
            (none.mean, none.standard_error, none.queries),
            (None, None, 0)
        );
    }

    #[test]
    fn lengths_and_values_are_checked() {
        let queries = Queries::single(2).unwrap();
        let with = |labels: &[f64], scores: &[f64]| {
            evaluate(&[], labels, scores, &queries, Convention::Standard).unwrap_err()
        };
        let infinite = [f64::INFINITY, 2.0];
        for (labels, scores, message) in [
            (
                [1.0, 2.0],
                &[1.0][..],
                "scores: expected 2, one a row of the queries, found 1",
            ),
            (
                [1.0, 2.0],
                &[1.0, f64::NAN],
                "the score of row 1 is NaN: scores must be finite",
            ),
            (
                infinite,
                &[1.0, 1.0],
                "the label of row 0 is inf: labels must be finite",
            ),
        ] {
            assert_eq!(with(&labels, scores).to_string(), message);
        }
    }
}
