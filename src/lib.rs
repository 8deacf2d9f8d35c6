//! Greedy RankRLS.

pub mod candidates;
pub mod corpus;
pub mod dataset;
mod kernels;
mod lambda;
pub mod metrics;
mod sample;
pub mod select;
pub mod strategy;

pub use candidates::Candidates;
pub use dataset::{Dataset, DatasetError, FeatureNames, IndexBase, Queries};
pub use lambda::{InvalidLambda, Lambda};
pub use sample::Sampler;
pub use select::{Options, Selection, select};
pub use strategy::StrategyKind;
