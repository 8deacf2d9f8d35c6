//! Where the predictions come from that models are judged by.

use crate::data::Dataset;

/// Where the predictions come from that models are judged by.
#[derive(Debug, Clone, Copy, Default)]
pub enum Evidence<'a> {
    /// Leave-query-out predictions on the training data, which every step of a selection has
    /// anyway. The features were chosen by them, too, with all queries in view: they are
    /// optimistic about the choice of features, though not about their weights.
    #[default]
    Lqo,
    /// Predictions for other data with the columns of the training data.
    Validation(&'a Dataset<'a>),
    /// Cross-validation over queries: for each fold, features are selected and weighted without
    /// the queries of the fold, whose predictions are then taken. Costs as many more selections a
    /// lambda, and sees what selection does to queries that had no part in it.
    Folds {
        /// Folds, from 2 to the number of queries.
        count: usize,
        /// Seed of the partition.
        seed: u64,
    },
}

impl Evidence<'_> {
    /// The name: `lqo`, `validation` or `folds`.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Lqo => "lqo",
            Self::Validation(_) => "validation",
            Self::Folds { .. } => "folds",
        }
    }
}
