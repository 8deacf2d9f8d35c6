//! Greedy RankRLS.

pub mod dataset;

pub use dataset::{Dataset, DatasetError, FeatureNames, IndexBase, Queries};
