//! A mean over queries, with its standard error.

use serde::{Deserialize, Serialize};

use super::ranking::mean;

/// A measure over the queries of a data set.
///
/// The JSON: `{"mean": 0.5, "standard_error": 0.1, "queries": 9}`, without the values of queries.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Score {
    /// The mean over the queries that have a value; `None` if none has.
    pub mean: Option<f64>,
    /// Standard error of the mean: the deviation of queries (with one degree of freedom less) over the root of
    /// their number. `None` for fewer than two queries, and if squared deviations overflow.
    pub standard_error: Option<f64>,
    /// Number of queries with a value.
    pub queries: usize,
    /// The value of each query, in order. Empty if they were not kept.
    #[serde(skip)]
    pub per_query: Vec<Option<f64>>,
}

impl Score {
    /// Summarises the values of queries, and keeps them.
    pub(crate) fn of(per_query: Vec<Option<f64>>) -> Self {
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
            per_query,
        }
    }

    /// Number of kept queries without a value.
    pub fn left_out(&self) -> usize {
        self.per_query.len().saturating_sub(self.queries)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scores_are_of_the_queries_that_have_a_value() {
        for (values, mean, standard_error, queries) in [
            // The variance is 4.
            (
                &[Some(1.0), None, Some(3.0), Some(5.0)][..],
                Some(3.0),
                Some((4.0_f64 / 3.0).sqrt()),
                3,
            ),
            (&[Some(2.0)], Some(2.0), None, 1),
            (&[Some(1e308), Some(1.4e308)], Some(1.2e308), None, 2),
            (&[None, None], None, None, 0),
        ] {
            let expected = Score {
                mean,
                standard_error,
                queries,
                per_query: values.to_vec(),
            };
            assert_eq!(Score::of(values.to_vec()), expected);
        }
    }
}
