//! RankRLS on all or some features, and its predictions for unseen queries.
//!
//! RankRLS is ridge regression on features and labels less the means of their queries
//! ([`QueryWeight`](crate::QueryWeight) weighs queries). [`RankRls`] has all parameters, and chooses among lambdas
//! and kernels by predictions for rows that models have not seen. Solvers that factor take these from the factors
//! of the whole model; conjugate gradients train again. `docs/derivation.md`, sections 12 to 16, has the
//! derivation, and a table of the letters.
//!
//! ```
//! use rankrls::data::sample;
//! use rankrls::RankRls;
//!
//! let data = sample::train();
//! let params = RankRls {
//!     lambdas: "1,16,256".parse()?,
//!     holdout: "folds:5".parse()?,
//!     ..RankRls::default()
//! };
//! let training = params.train(&data, None)?;
//! for cell in &training.cells {
//!     let folds = cell.holdout.as_ref().expect("five folds");
//!     println!("{:5} {:9.5} {:?}", cell.lambda, folds.error, folds.cindex);
//! }
//! assert!(training.best().holdout.as_ref().and_then(|folds| folds.cindex) > Some(0.5));
//! # Ok::<(), rankrls::Error>(())
//! ```
//!
//! # The parts, lowest first
//!
//! - `blocks`: the part of the system in which a query meets itself, which preconditions.
//! - `features`: columns, or a kernel in their place.
//! - `comparisons`: the compared rows of a loss, of queries or preferences.
//! - `system`: the matrix `X^` of both, never formed, and the least squares on it.
//! - `solvers`: a file for each.
//! - `problem`: a problem with its solver, and its models.
//! - `holdout`: predictions for rows by models that have not seen them, and their errors.
//! - `kernel`, `options` (all parameters), `grid` (every ridge parameter with every kernel), and `choice` (scales that
//!   nobody gave).
//!
//! # Sources
//!
//! T. Pahikkala, E. Tsivtsivadze, A. Airola, J. Järvinen and J. Boberg, *An efficient algorithm for learning to
//! rank from preference graphs*, Machine Learning 75, 2009 ([doi](https://doi.org/10.1007/s10994-008-5097-z)) has
//! RankRLS, its dual and primal systems, and hold-outs of queries. Modules name their other sources.

mod blocks;
mod choice;
mod comparisons;
mod features;
mod grid;
mod holdout;
mod kernel;
mod options;
mod problem;
mod shape;
mod solvers;
mod system;

pub use crate::data::{Groups, Preference};
pub use choice::{Chosen, Tried};
pub use comparisons::Preferences;
pub use grid::{Cell, Fit, Training};
pub use holdout::Holdout;
pub use kernel::{Basis, Kernel, KernelKind};
pub use options::RankRls;
pub(crate) use options::cheapest;
pub(crate) use problem::RidgeProblem;
pub(crate) use shape::TrainShape;
pub(crate) use solvers::TOLERANCE;
pub use solvers::{HOLDOUT_TOLERANCE, Solver};
