//! Linear models, as numbers.

use crate::data::Dataset;

/// A linear model: the `w` that minimises `|y^ - X^ w|^2 + lambda |w|^2` (Pahikkala et al., 2009;
/// `docs/rankrls.md`, "The problem"), for the features that vary within some query. The weights of all others
/// are 0.
///
/// A weight is in units of the labels over those of its column.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Weights {
    /// 0-based features, ascending, `n`.
    pub features: Vec<u32>,
    /// A weight for each of them, `n`.
    pub values: Vec<f64>,
}

impl Weights {
    /// From weights of features in any order.
    pub(super) fn of(mut weights: Vec<(u32, f64)>) -> Self {
        weights.sort_unstable_by_key(|&(feature, _)| feature);
        let (features, values) = weights.into_iter().unzip();
        Self { features, values }
    }

    /// Scores of the rows of `dataset`, `m`, in row order: sums over the features, ascending. Scores of a
    /// query can be compared; a constant may be added to all of them.
    pub fn scores(&self, dataset: &Dataset<'_>) -> Vec<f64> {
        dataset.scores(&self.features, &self.values)
    }
}
