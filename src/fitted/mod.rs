//! The short way: parameters, which are checked by `fit`, and models fitted to a data set.

mod ridge;

pub use ridge::{FittedRankRls, RankRls};
