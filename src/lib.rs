//! Greedy RankRLS: leave-query-out selection of sparse features for learning to rank.
//!
//! Data are `m` examples (rows) of `n` features (columns), in `q` queries, with a label each.
//! RankRLS is ridge regression on labels and features from which the means of their queries have
//! been taken; it fits the differences of the examples in a query, every query's pairs divided by
//! its size. With `X` and `y` so centred, it minimises over the weights `w` of the selected features
//!
//! ```text
//! |y - X w|^2 + lambda |w|^2
//! ```
//!
//! where the ridge parameter `lambda` is above 0. Selection adds `k` features, one at a time: in
//! each step the one with which the *leave-query-out error* is least, the sum over queries of the
//! squared centred residuals of a model trained without that query. Formulas give the error
//! exactly, without training `q` models for each candidate.
//!
//! | symbol | meaning |
//! |---|---|
//! | `m`, `n`, `q` | examples, features, queries |
//! | `k` | features to select |
//! | `lambda` | ridge parameter, [`Lambda`] |
//! | `kappa` | candidates drawn each step by the strategy `sampled`, [`Sampler`] |
//!
//! ```
//! use rankrls::data::sample;
//! use rankrls::metrics::{Convention, Metric};
//! use rankrls::SelectionOptions;
//! use rankrls::{Lambda, TestPath};
//!
//! let (train, test) = (sample::train(), sample::test());
//! let options = SelectionOptions::new(10, Lambda::new(16.0)?);
//! let mut path = TestPath::new(&test, &[Metric::Concordance], Convention::Standard);
//! let selection = rankrls::select(&train, &options, &mut path)?;
//!
//! let names = train.names().expect("the sample has names");
//! for (step, weight) in selection.steps.iter().zip(&selection.weights) {
//!     let name = names.of(step.feature).unwrap_or_default();
//!     println!("{name:40} {weight:9.5} {:9.5}", step.lqo_error);
//! }
//! let cindex = path.steps()[9][0].expect("some labels differ");
//! assert!(cindex > 0.6);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Modules
//!
//! - [`dataset`]: sparse columns with labels, queries and names; [`dataset::read`] and writers.
//! - [`candidates`]: columns that are worth judging, one for each class of equal ones.
//! - [`mod@select`]: the greedy driver, its options and observers.
//! - [`strategy`]: the ways to find the best candidate of a step, and the state they share.
//! - [`checkpoint`]: going on after a process has ended.
//! - [`comparison`]: strategies beside each other.
//! - [`mod@tune`]: lambda and the number of features, chosen together.
//! - [`path`]: scores of test data after every step.
//! - [`letor`]: the experiment of the LETOR collections.
//! - `plot` (with the feature of that name): diagrams as SVG, PNG and HTML.
//! - [`mod@rankrls`]: RankRLS without selection, leave-query-out and hold-out predictions.
//! - [`model`]: what was selected, as a file.
//! - [`metrics`]: measures of rankings, in two conventions.
//! - [`memory`]: how much the machine has left.
//!
//! The library prints nothing and ends no process; it works on the threads of the current rayon
//! pool, and results do not depend on how many they are. Without the feature `cli`, which is on
//! by default, nothing is built that only the program `rankrls` needs, and no diagrams unless the
//! feature `plot` is on.

pub mod checkpoint;
pub mod columns;
pub mod compare;
pub mod data;
pub mod greedy;
mod kernels;
mod lambda;
pub mod letor;
pub mod memory;
pub mod metrics;
pub mod model;
#[cfg(feature = "plot")]
pub mod plot;
pub mod ridge;
pub mod tune;

pub use columns::{ColumnClasses, QueryWeight, UnknownQueryWeight};
pub use data::{Dataset, DatasetError, FeatureNames, IndexBase, Queries};
pub use greedy::{
    Estimate, Observer, Sampler, SelectError, Selection, SelectionOptions, Step, StrategyKind,
    TestPath, UnknownStrategy, estimates, select,
};
pub use lambda::{InvalidLambda, Lambda};
pub use metrics::{Convention, Metric};
pub use model::{GreedyRankRls, Model, ModelError, RankRls};
pub use ridge::{Solver, TrainError, TrainOptions};
pub use tune::tune;
