//! The short way: parameters, which are checked by `fit`, and models fitted to a data set.

mod greedy;

pub use greedy::{FittedGreedyRankRls, GreedyRankRls, Steps};
