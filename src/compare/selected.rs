//! Documents of runs, their overlap, and values over several runs.

use std::collections::{BTreeMap, HashSet};

use serde::{Deserialize, Serialize};

use crate::StrategyKind;

/// A document of the schema `rankrls.selection/1`, as far as it is compared.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct Selected {
    /// The strategy.
    pub strategy: StrategyKind,
    /// Ridge parameter.
    pub lambda: f64,
    /// Candidates drawn each step, if not all were judged.
    pub candidates: Option<usize>,
    /// Seed of the draws, if there were any.
    pub seed: Option<u64>,
    /// Sizes of the training data.
    pub data: DataSizes,
    /// The steps.
    pub steps: Vec<SelectedStep>,
    /// The test data that were measured after every step, if any.
    #[serde(default)]
    pub test: Option<TestData>,
    /// Seconds that reading took.
    pub load_seconds: f64,
    /// Seconds from data that were read to the last feature.
    pub select_seconds: f64,
    /// Seconds of these that measuring test data took.
    #[serde(default)]
    pub test_seconds: f64,
    /// Most memory that the process had, where the system tells.
    pub peak_rss_bytes: Option<u64>,
}

/// A step of a run.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct SelectedStep {
    /// The feature, as the data file counts.
    pub feature: u64,
    /// Its name.
    pub name: Option<String>,
    /// Leave-query-out error after the step.
    pub lqo_error: f64,
    /// Concordance index of the leave-query-out predictions.
    pub lqo_cindex: Option<f64>,
    /// Candidates that were evaluated exactly.
    pub evaluated: usize,
    /// Measures of the test data by name.
    #[serde(default)]
    pub test: BTreeMap<String, Option<f64>>,
}

/// A document of the schema `rankrls.training/1`, as far as it is compared: `RankRLS` on all
/// columns.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct AllColumns {
    /// Leave-query-out error; `None` where no query was left out.
    pub lqo_error: Option<f64>,
    /// Concordance index of the leave-query-out predictions.
    pub lqo_cindex: Option<f64>,
    /// Columns with a weight.
    #[serde(rename = "weights")]
    pub columns: usize,
}

/// Sizes of training data.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct DataSizes {
    /// Examples.
    pub rows: usize,
    /// Queries.
    pub queries: usize,
    /// Features.
    pub columns: usize,
    /// Non-zeros.
    pub nonzeros: usize,
    /// Features that are constant in every query.
    pub constant_columns: usize,
    /// Column classes: features that are told apart.
    pub column_classes: usize,
}

/// Sizes of test data.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TestData {
    /// Convention of the measures.
    pub convention: String,
    /// Examples.
    pub rows: usize,
    /// Queries.
    pub queries: usize,
    /// Non-zeros in columns that training data does not have.
    pub dropped_entries: u64,
    /// These columns.
    pub dropped_columns: u64,
}

impl Selected {
    /// The features, in order of selection.
    pub fn features(&self) -> Vec<u64> {
        self.steps.iter().map(|step| step.feature).collect()
    }

    /// Seconds of finding candidates and selecting, without measuring.
    pub fn seconds(&self) -> f64 {
        (self.select_seconds - self.test_seconds).max(0.0)
    }
}

/// The features that a selection shares with the reference.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Overlap {
    /// After each step, the share of the features selected so far that are among as many of the
    /// reference, 0 to 1. It ends with the shorter of the two.
    pub shares: Vec<f64>,
    /// The first step, from 1, in which another feature was selected, or only one of the two
    /// selected any; `None` if there is none.
    pub first_difference: Option<usize>,
}

impl Overlap {
    /// Of `features` with the features of the reference, both in order of selection.
    pub fn new(features: &[u64], reference: &[u64]) -> Self {
        let (mut ours, mut theirs) = (HashSet::new(), HashSet::new());
        let mut common = 0;
        let steps = features.iter().zip(reference);
        let shares = steps.map(|(&our, &their)| {
            ours.insert(our);
            theirs.insert(their);
            common += usize::from(theirs.contains(&our));
            common += usize::from(our != their && ours.contains(&their));
            common as f64 / ours.len() as f64
        });
        let shares = shares.collect();
        let differs = features.iter().zip(reference).position(|(a, b)| a != b);
        let shorter = features.len().min(reference.len());
        let lengths = (features.len() != reference.len()).then_some(shorter);
        Self {
            shares,
            first_difference: differs.or(lengths).map(|step| step + 1),
        }
    }
}

/// Mean and spread of some values.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Spread {
    /// Mean.
    pub mean: f64,
    /// Standard deviation of the sample; 0 for one value.
    pub deviation: f64,
    /// The least.
    pub least: f64,
    /// The largest.
    pub largest: f64,
}

impl Spread {
    /// Of `values`; `None` if there are none.
    pub fn of(values: impl IntoIterator<Item = f64>) -> Option<Self> {
        let values: Vec<f64> = values.into_iter().collect();
        let first = *values.first()?;
        let count = values.len() as f64;
        // Around the first, so that equal values have themselves for their mean.
        let mean = first + values.iter().map(|value| value - first).sum::<f64>() / count;
        let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
        Some(Self {
            mean,
            deviation: (squares / (count - 1.0).max(1.0)).sqrt(),
            least: values.iter().copied().fold(first, f64::min),
            largest: values.iter().copied().fold(first, f64::max),
        })
    }

    /// Of values all of which have to be there.
    pub fn of_all(values: impl IntoIterator<Item = Option<f64>>) -> Option<Self> {
        let values: Option<Vec<f64>> = values.into_iter().collect();
        Self::of(values?)
    }
}

/// Seconds or milliseconds with three digits: `1.16 ms`, `23.2 ms`, `2.50 s`.
pub fn duration(seconds: f64) -> String {
    let (value, unit) = if seconds < 1.0 {
        (seconds * 1e3, "ms")
    } else {
        (seconds, "s")
    };
    let decimals = match value {
        value if value >= 99.95 => 0,
        value if value >= 9.995 => 1,
        _ => 2,
    };
    format!("{value:.decimals$} {unit}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_and_first_differences() {
        let same = Overlap::new(&[5, 2, 9], &[5, 2, 9]);
        assert_eq!((same.shares, same.first_difference), (vec![1.0; 3], None));
        let swapped = Overlap::new(&[5, 9, 2, 4], &[5, 2, 9, 1]);
        assert_eq!(swapped.shares, [1.0, 0.5, 1.0, 0.75]);
        assert_eq!(swapped.first_difference, Some(2));
        let other = Overlap::new(&[1, 2], &[3, 4]);
        assert_eq!(
            (other.shares, other.first_difference),
            (vec![0.0; 2], Some(1))
        );
        let shorter = Overlap::new(&[5], &[5, 2]);
        assert_eq!(
            (shorter.shares, shorter.first_difference),
            (vec![1.0], Some(2))
        );
    }

    #[test]
    fn means_and_deviations() {
        let spread = Spread::of([1.0, 2.0, 6.0]).unwrap();
        assert_eq!((spread.mean, spread.least, spread.largest), (3.0, 1.0, 6.0));
        assert_eq!(spread.deviation, 7.0_f64.sqrt());
        let one = Spread::of([0.1]).unwrap();
        assert_eq!((one.mean, one.deviation), (0.1, 0.0));
        let equal = Spread::of([0.1; 7]).unwrap();
        assert_eq!((equal.mean, equal.deviation), (0.1, 0.0));
        assert_eq!(Spread::of([]), None);
        assert_eq!(Spread::of_all([Some(1.0), None]), None);
    }

    #[test]
    fn times_have_three_digits() {
        assert_eq!(duration(0.001_234), "1.23 ms");
        assert_eq!(duration(0.0456), "45.6 ms");
        assert_eq!(duration(0.789), "789 ms");
        let times = [1.5, 12.34, 123.4].map(duration);
        assert_eq!(times, ["1.50 s", "12.3 s", "123 s"]);
    }
}
