//! Measures over the queries of a data set.

use rankrls_files::exact;

use super::judge::Judge;
use super::metric::{Metric, distinct};
use super::rules::Convention;
use super::score::Score;
use crate::data::Queries;
use crate::error::{Error, Result, ensure};
use crate::stop;

/// Measures the ranking of `queries` by `scores`: `m` labels and scores, in row order. Each of `metrics` comes
/// once, in the order of first mention.
///
/// `convention` applies to metrics that name none.
///
/// The result does not depend on the number of threads.
pub fn evaluate(
    metrics: &[Metric],
    labels: &[f64],
    scores: &[f64],
    queries: &Queries,
    convention: Convention,
) -> Result<Vec<(Metric, Score)>> {
    check_labels(metrics, labels, queries, None)?;
    check("score", scores, queries)?;
    let judged = distinct(metrics).into_iter().map(|metric| {
        let judge = Judge::new(metric, convention, labels, queries);
        (metric, judge.score(scores))
    });
    let found = judged.collect();
    stop::check()?;
    Ok(found)
}

/// Refuses labels that `metrics` cannot use. [`evaluate()`] does so itself, but computing scores first may take
/// long. `inputs` are the rows of the input, from 0, if they stand in another order there.
pub fn check_labels(
    metrics: &[Metric],
    labels: &[f64],
    queries: &Queries,
    inputs: Option<&[u32]>,
) -> Result<()> {
    check("label", labels, queries)?;
    let first = |refused: &dyn Fn(f64) -> bool| {
        let row = labels.iter().position(|&label| refused(label))?;
        let query = queries.of_row(row);
        let number = || (query + 1).to_string();
        let query = queries.id(query).map_or_else(number, str::to_owned);
        let label = exact(labels[row]);
        let row = 1 + inputs.map_or(row, |rows| rows[row] as usize);
        Some(format!(
            "the label of row {row}, in query {query}, is {label}"
        ))
    };
    let graded = metrics.iter().find(|metric| metric.labels().are_grades());
    if let Some((metric, place)) = graded.zip(first(&|label| label < 0.0)) {
        let any = Metric::names_for_any_label();
        return Err(Error::data(format!(
            "{metric} needs grades, from 0 on: {place}; these measures take any label: {any}"
        )));
    }
    for metric in metrics {
        let Some(largest) = metric.max_grade() else {
            continue;
        };
        if let Some(place) = first(&|label| label > largest) {
            return Err(Error::data(format!(
                "{metric} has {} as the largest grade: {place}",
                exact(largest)
            )));
        }
    }
    Ok(())
}

/// Refuses values unless there is a finite one for each row.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metrics::{Convention, parse_list};

    #[test]
    fn undefined_queries_are_left_out_or_0() {
        let queries = Queries::from_sizes(&[2, 2, 2]).unwrap();
        let (labels, scores) = (
            [0.0, 1.0, 0.0, 0.0, 2.0, 0.0],
            [2.0, 1.0, 4.0, 3.0, 6.0, 5.0],
        );
        let first = [Some(0.5), None, Some(1.0)];
        let zero = [Some(0.5), Some(0.0), Some(1.0)];
        for (convention, mean, per_query) in [
            (Convention::Standard, 0.75, first),
            (Convention::Letor, 0.5, zero),
        ] {
            let metrics = parse_list("mrr,mrr").unwrap();
            let found = evaluate(&metrics, &labels, &scores, &queries, convention).unwrap();
            let [(metric, mrr)] = &found[..] else {
                panic!("{found:?}")
            };
            assert_eq!((metric.to_string().as_str(), mrr.mean), ("mrr", Some(mean)));
            assert_eq!(mrr.per_query, per_query);
            let defined = per_query.iter().flatten().count();
            assert_eq!((mrr.queries, mrr.left_out()), (defined, 3 - defined));
        }
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
            let found = &all[0].1;
            assert!((found.mean.unwrap() - mean).abs() < 1e-15, "{found:?}");
            assert_eq!((found.queries, found.left_out()), (3, 0));
        }
    }

    #[test]
    fn labels_that_are_no_grades_are_refused() {
        let queries = Queries::from_sizes(&[2, 2]).unwrap();
        let grades = "ndcg@10 needs grades, from 0 on: the label of row 4, in query 2, is -1; these \
                      measures take any label: map, p@K, mrr, cindex, label@1";
        let largest = "err:4 has 4 as the largest grade: the label of row 2, in query 1, is 5";
        for (metrics, labels, refused) in [
            ("map,ndcg@10,err", [1.0, 0.0, 1.0, -1.0], Some(grades)),
            ("map,ndcg@10,err:4", [1.0, 5.0, 1.0, 0.0], Some(largest)),
            ("map,err:5,err:4", [1.0, 5.0, 1.0, 0.0], Some(largest)),
            ("map,ndcg@10,err:4", [1.0, 4.0, 1.0, 0.0], None),
            ("map,ndcg@10,err", [1.0, 5.0, 1.0, 0.0], None),
            ("map,p@1,mrr,cindex,label@1", [-1.0, 1.0, 1.0, -1.0], None),
        ] {
            let metrics = parse_list(metrics).unwrap();
            let scores = [2.0, 1.0, 2.0, 1.0];
            let found = evaluate(&metrics, &labels, &scores, &queries, Convention::Standard);
            let error = found.err().map(|error| error.to_string());
            assert_eq!(error.as_deref(), refused);
        }
    }

    #[test]
    fn lengths_and_values_are_checked() {
        let queries = Queries::single(2).unwrap();
        let finite = [1.0, 2.0];
        for (labels, scores, message) in [
            (
                finite,
                &[1.0][..],
                "scores: expected 2, one a row of the queries, found 1",
            ),
            (
                finite,
                &[1.0, f64::NAN],
                "the score of row 1 is NaN: scores must be finite",
            ),
            (
                [f64::INFINITY, 2.0],
                &[1.0, 1.0],
                "the label of row 0 is inf: labels must be finite",
            ),
        ] {
            let found = evaluate(&[], &labels, scores, &queries, Convention::Standard);
            assert_eq!(found.unwrap_err().to_string(), message);
        }
    }
}
