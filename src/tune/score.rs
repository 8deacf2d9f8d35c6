//! A measure of one model over queries.

use serde::{Deserialize, Serialize};

/// A measure of one model: its mean over the queries where it is defined.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Score {
    /// The mean; `None` where no query has a value.
    pub mean: Option<f64>,
    /// Standard error of the mean: the deviation of queries (with one degree of freedom less)
    /// over the root of their number. `None` for fewer than two queries.
    pub standard_error: Option<f64>,
    /// Queries that have a value.
    pub queries: usize,
}

impl Score {
    /// Summarises the values of queries.
    pub fn of(per_query: &[Option<f64>]) -> Self {
        let values = per_query.iter().flatten();
        let queries = values.clone().count();
        let count = queries as f64;
        let mean = (queries > 0).then(|| values.clone().sum::<f64>() / count);
        let variance = mean.filter(|_| queries > 1).map(|mean| {
            let squares = values.map(|value| (value - mean) * (value - mean));
            squares.sum::<f64>() / (count - 1.0)
        });
        Self {
            mean,
            standard_error: variance.map(|variance| (variance / count).sqrt()),
            queries,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn queries_without_a_value_are_left_out() {
        let score = Score::of(&[Some(1.0), None, Some(3.0), Some(5.0)]);
        assert_eq!((score.mean, score.queries), (Some(3.0), 3));
        // The variance is 4.
        assert_eq!(score.standard_error, Some((4.0_f64 / 3.0).sqrt()));
    }

    #[test]
    fn one_query_has_no_standard_error_and_none_no_mean() {
        let one = Score::of(&[Some(2.0)]);
        assert_eq!((one.mean, one.standard_error), (Some(2.0), None));
        let none = Score::of(&[None, None]);
        assert_eq!(
            (none.mean, none.standard_error, none.queries),
            (None, None, 0)
        );
    }
}
