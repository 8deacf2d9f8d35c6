//! Greedy RankRLS.

pub mod dataset;
pub mod metrics;

pub use dataset::{Dataset, DatasetError, FeatureNames, IndexBase, Queries};
