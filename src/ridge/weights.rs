//! A linear model.

use crate::data::Dataset;

/// Weights of the features that vary within some query; those of all others are 0.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Weights {
    /// 0-based features, ascending.
    pub features: Vec<u32>,
    /// A weight for each of them.
    pub values: Vec<f64>,
}

impl Weights {
    /// From weights of features in any order.
    pub(super) fn of(mut weights: Vec<(u32, f64)>) -> Self {
        weights.sort_unstable_by_key(|&(feature, _)| feature);
        let (features, values) = weights.into_iter().unzip();
        Self { features, values }
    }

    /// Scores of the rows of `dataset`, in row order: sums over the features, ascending.
    pub fn scores(&self, dataset: &Dataset<'_>) -> Vec<f64> {
        dataset.scores(&self.features, &self.values)
    }
}
