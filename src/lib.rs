//! Greedy RankRLS: leave-query-out selection of sparse features for learning to rank.
//!
//! ```
//! use rankrls::data::sample;
//! use rankrls::{Lambda, GreedyRankRls};
//!
//! let (train, test) = (sample::train(), sample::test());
//! let model = GreedyRankRls::new(10, Lambda::new(16.0)?).fit(&train)?;
//! println!("features {:?}, weights {:?}", model.columns(), model.weights());
//! let scores = model.scores(&test);
//! assert_eq!(scores.len(), test.rows());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Options have public fields, defaults, `check`, and `fit`, which makes a [`Model`]. [`GreedyRankRls`] selects
//! features, [`Tune`] chooses lambda and their number, and [`RankRls`] trains on all of them. `docs/library.md` is
//! the guide to the library. `docs/derivation.md` has the symbols and the formulas.
//!
//! # Modules, lowest first
//!
//! - [`stop`]: early ends of work.
//! - [`memory`]: the memory limit of a call, and sizes as people write them.
//! - [`data`]: sparse columns with labels, queries and names, and [`data::read`] and writers. With the feature
//!   `sample`, `data::sample` has small corpora.
//! - [`metrics`]: measures of rankings, in two conventions.
//! - [`peers`]: ranks that share the columns of a job.
//! - [`columns`]: classes of equal columns, each of which is one candidate.
//! - [`ridge`]: RankRLS without selection: parameters, solvers and hold-outs.
//! - [`greedy`]: options and results of a selection, with [`greedy::strategy`] for your own strategies and
//!   [`greedy::job`] for front ends.
//! - [`model`]: fitted models, and model files.
//! - [`mod@tune`]: lambda and the number of features, chosen together.
//! - [`warning`]: warnings about data and results, as values.
//!
//! Every function that can fail returns an [`Error`]: its kind, and a text that says the rest.
//!
//! The library prints nothing and ends no process. It works on the threads of the current rayon pool, and results
//! do not depend on their number.

pub mod columns;
pub mod data;
mod error;
mod fit;
pub mod greedy;
mod lambda;
mod linalg;
pub mod memory;
pub mod metrics;
pub mod model;
mod names;
pub mod peers;
pub mod ridge;
pub mod stop;
pub mod tune;
pub mod warning;

pub use columns::{ColumnClasses, QueryWeight, Scale};
pub use data::{Dataset, FeatureNames, HoldOut, IndexBase, Queries};
pub use error::{Error, Kind, Result};
pub use greedy::{GreedyRankRls, Selection, Step, StrategyKind};
pub use lambda::{Lambda, Lambdas, Ridge};
pub use metrics::{Convention, Metric};
pub use model::Model;
pub use names::Objective;
pub use rankrls_files::{Parameter, Remedy};
pub use ridge::{Kernel, RankRls, Solver};
pub use tune::Tune;
pub use warning::Warning;

#[cfg(doctest)]
#[doc = include_str!("../docs/library.md")]
struct Guide;
