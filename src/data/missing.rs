//! Missing values, and the numbers that replace them.
//!
//! The mean of a query is known after all its rows. Until then, NaN, which no data have, stands for the value.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::queries::Queries;

/// The number that replaces a missing value.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Missing {
    /// The mean of the query's values in the column. A query without values takes the mean over all data read, or 0
    /// if they have none either. After centring, the value is 0: a missing value counts neither for a row nor
    /// against it.
    Mean,
    /// This number in every column.
    #[serde(untagged)]
    Value(f64),
}

impl Missing {
    /// Replaces missing values, which are NaN, in a column with entries in the ascending `rows`. Zeros stay
    /// entries.
    pub fn fill(self, rows: &[u32], values: &mut [f64], queries: &Queries) {
        if !values.iter().any(|value| value.is_nan()) {
            return;
        }
        match self {
            Self::Mean => fill_means(rows, values, queries),
            Self::Value(number) => {
                let missing = values.iter_mut().filter(|value| value.is_nan());
                missing.for_each(|value| *value = number);
            }
        }
    }

    /// The number that stands for a missing value until means are known.
    pub(in crate::data) fn in_place(self) -> f64 {
        match self {
            Self::Mean => f64::NAN,
            Self::Value(value) => value,
        }
    }
}

impl fmt::Display for Missing {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Mean => formatter.pad("mean"),
            Self::Value(value) => value.fmt(formatter),
        }
    }
}

impl FromStr for Missing {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text == "mean" {
            return Ok(Self::Mean);
        }
        let value = text.parse().ok().filter(|value: &f64| value.is_finite());
        value
            .map(Self::Value)
            .ok_or_else(|| "expected a finite number, or mean".to_owned())
    }
}

/// Replaces missing values of a column with ascending `rows` by means, and moves the entries other than 0 to the
/// front. Returns the number of these.
pub(super) fn fill(rows: &mut [u32], values: &mut [f64], queries: &Queries) -> usize {
    if !values.iter().any(|value| value.is_nan()) {
        return values.len();
    }
    fill_means(rows, values, queries);
    nonzeros(rows, values)
}

/// Moves the entries other than 0 to the front. Returns the number of these.
pub(super) fn nonzeros(rows: &mut [u32], values: &mut [f64]) -> usize {
    let mut kept = 0;
    for at in 0..values.len() {
        if values[at] != 0.0 {
            (rows[kept], values[kept]) = (rows[at], values[at]);
            kept += 1;
        }
    }
    kept
}

/// Replaces missing values of a column with ascending `rows` by means. Only visits queries with an entry.
fn fill_means(rows: &[u32], values: &mut [f64], queries: &Queries) {
    let of_column = mean(values, queries.rows()).unwrap_or(0.0);
    let mut start = 0;
    while let Some(&row) = rows.get(start) {
        let query = queries.range(queries.of_row(row as usize));
        let below = |&row: &u32| (row as usize) < query.end;
        let end = start + rows[start..].partition_point(below);
        let own = &mut values[start..end];
        if own.iter().any(|value| value.is_nan()) {
            let of_query = mean(own, query.len()).unwrap_or(of_column);
            let missing = own.iter_mut().filter(|value| value.is_nan());
            missing.for_each(|value| *value = of_query);
        }
        start = end;
    }
}

/// The mean of the known `values` among `rows` rows, where all other rows are 0; `None` if all are missing. Equal
/// values have exactly that mean, so a constant column stays constant.
fn mean(values: &[f64], rows: usize) -> Option<f64> {
    let known = values.iter().filter(|value| !value.is_nan());
    let zeros = rows - values.len();
    let first = if zeros > 0 {
        0.0
    } else {
        *known.clone().next()?
    };
    let count = (zeros + known.clone().count()) as f64;
    Some(first + known.map(|value| (value - first) / count).sum::<f64>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_value_is_the_mean_of_its_query() {
        let queries = Queries::from_sizes(&[3, 2, 2]).unwrap();
        // Row 1 has a 0, and rows 5 and 6 have values that add up to 0.
        let nan = f64::NAN;
        let mut rows = [0, 2, 3, 4, 5, 6];
        let mut values = [3.0, nan, nan, nan, 4.0, -4.0];
        assert_eq!(fill(&mut rows, &mut values, &queries), 6);
        assert_eq!(values, [3.0, 1.5, 0.75, 0.75, 4.0, -4.0]);
        let (mut rows, mut values) = ([0, 5, 6], [nan, 2.0, nan]);
        assert_eq!(fill(&mut rows, &mut values, &queries), 2);
        assert_eq!((&rows[..2], &values[..2]), (&[5, 6][..], &[2.0, 2.0][..]));
        let (mut rows, mut values) = ([0, 1, 2, 3, 4, 5, 6], [nan; 7]);
        assert_eq!(fill(&mut rows, &mut values, &queries), 0);
    }

    #[test]
    fn numbers_fill_a_column_in_place() {
        let queries = Queries::from_sizes(&[2, 2]).unwrap();
        let column = [f64::NAN, 0.0, f64::NAN, -4.0];
        for (missing, expected) in [
            (Missing::Mean, [0.0, 0.0, -4.0, -4.0]),
            (Missing::Value(2.5), [2.5, 0.0, 2.5, -4.0]),
        ] {
            let mut values = column;
            missing.fill(&[0, 1, 2, 3], &mut values, &queries);
            assert_eq!(values, expected);
        }
    }

    #[test]
    fn means_of_equal_and_of_large_values_are_right() {
        assert_eq!(mean(&[f64::MAX, f64::MAX, f64::NAN], 3), Some(f64::MAX));
        assert_eq!(mean(&[f64::MAX, f64::MAX], 4), Some(f64::MAX / 2.0));
        assert_eq!(mean(&[0.1; 10], 10), Some(0.1));
    }

    #[test]
    fn a_treatment_reads_back() {
        for (missing, json) in [
            (Missing::Mean, "\"mean\""),
            (Missing::Value(-1.5), "-1.5"),
            (Missing::Value(0.0), "0.0"),
        ] {
            assert_eq!(missing.to_string().parse(), Ok(missing));
            assert_eq!(serde_json::to_string(&missing).unwrap(), json);
            assert_eq!(serde_json::from_str::<Missing>(json).unwrap(), missing);
        }
        for text in ["", "median", "nan", "inf"] {
            assert!(text.parse::<Missing>().is_err(), "{text}");
        }
        assert!(serde_json::from_str::<Missing>("\"median\"").is_err());
    }
}
