//! Greedy RankRLS.

pub mod candidates;
pub mod corpus;
pub mod dataset;
mod estimate;
mod kernels;
mod lambda;
pub mod memory;
pub mod metrics;
pub mod model;
pub mod path;
mod sample;
pub mod select;
pub mod strategy;

pub use candidates::Candidates;
pub use dataset::{Dataset, DatasetError, FeatureNames, IndexBase, Queries};
pub use estimate::{Estimate, estimates};
pub use lambda::{InvalidLambda, Lambda};
pub use model::{Model, ModelError};
pub use path::TestPath;
pub use sample::Sampler;
pub use select::{Options, Selection, select};
pub use strategy::StrategyKind;
