//! What the protocol found.

use super::Measures;
use crate::Lambda;
use crate::columns::Summary;
use crate::greedy::Selection;
use crate::greedy::StrategyKind;
use crate::ridge::Solver;

/// What the protocol found on a fold.
#[derive(Debug, Clone, PartialEq)]
pub struct Outcome {
    /// The name of the fold.
    pub fold: String,
    /// How the columns of the training data fall into classes.
    pub summary: Summary,
    /// The selections on the training data, one a ridge parameter, ascending.
    pub curves: Vec<Curve>,
    /// The model of Greedy RankRLS.
    pub greedy: GreedyModel,
    /// The model of RankRLS on all features.
    pub all_features: AllFeatures,
}

/// A selection, and how its models rank the validation data.
#[derive(Debug, Clone, PartialEq)]
pub struct Curve {
    /// The ridge parameter.
    pub lambda: Lambda,
    /// The strategy.
    pub strategy: StrategyKind,
    /// 0-based features in order of selection.
    pub features: Vec<u32>,
    /// Measures after each step. Where scores are no finite numbers there are none any more.
    pub validation: Vec<Measures>,
}

impl Curve {
    /// Values of the measure at `index` of [`MEASURES`](super::MEASURES) after 1, 2, ...
    /// features.
    ///
    /// # Panics
    /// When there are not so many measures.
    pub fn of(&self, index: usize) -> Vec<Option<f64>> {
        let values = self.validation.iter();
        values.map(|measures| measures[index]).collect()
    }
}

/// The chosen selection.
#[derive(Debug, Clone, PartialEq)]
pub struct GreedyModel {
    /// The selection, up to the chosen number of features.
    pub selection: Selection,
    /// Measures on the validation data, by which it was chosen.
    pub validation: Measures,
    /// Measures on the test data.
    pub test: Measures,
}

/// The chosen model of RankRLS on all features.
#[derive(Debug, Clone, PartialEq)]
pub struct AllFeatures {
    /// The ridge parameter.
    pub lambda: Lambda,
    /// What solved for the weights.
    pub solver: Solver,
    /// Features with a weight: those that vary within some query.
    pub features: usize,
    /// Measures on the validation data for each ridge parameter, ascending; `None` where it is
    /// too small.
    pub grid: Vec<Option<Measures>>,
    /// Measures on the validation data, by which it was chosen.
    pub validation: Measures,
    /// Measures on the test data.
    pub test: Measures,
}

/// The means of measures over folds; `None` where one of them has none, or there are none.
pub fn mean<'a>(folds: impl IntoIterator<Item = &'a Measures>) -> Measures {
    let folds: Vec<&Measures> = folds.into_iter().collect();
    std::array::from_fn(|index| {
        let values: Option<Vec<f64>> = folds.iter().map(|measures| measures[index]).collect();
        let values = values.filter(|values| !values.is_empty())?;
        Some(values.iter().sum::<f64>() / values.len() as f64)
    })
}
