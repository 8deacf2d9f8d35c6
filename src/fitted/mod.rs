//! The short way: parameters, which are checked by `fit`, and models fitted to a data set.

mod greedy;
mod ridge;

pub use greedy::{FittedGreedyRankRls, GreedyRankRls, Steps};
pub use ridge::{FittedRankRls, RankRls};
