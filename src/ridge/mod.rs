//! RankRLS on all features, or on given ones, and what it predicts for queries it has not seen.
//!
//! RankRLS is ridge regression on features and labels from which the means of their queries have
//! been taken (see [`QueryWeight`](crate::QueryWeight) for what a query counts). [`RidgeProblem`]
//! prepares data, [`RidgeProblem::train`] solves for one ridge parameter, and [`Trained::leave_out`]
//! predicts groups of queries by models that were trained without them. Solvers that factor do so from the
//! factors of the whole model; conjugate gradients train again. [`RankRls`] has all parameters, and chooses among
//! lambdas and kernels. `docs/rankrls.md` has the derivation, and a table of the letters.
//!
//! ```
//! use rankrls::data::{Groups, sample};
//! use rankrls::ridge::RidgeProblem;
//! use rankrls::{Lambda, RankRls};
//!
//! let data = sample::train();
//! let problem = RidgeProblem::new(&data, &RankRls::default())?;
//! for lambda in [1.0, 16.0, 256.0] {
//!     let trained = problem.train(Lambda::new(lambda)?)?;
//!     let lqo = trained.leave_query_out()?;
//!     println!("{lambda:5} {:9.5} {:?}", lqo.error, lqo.cindex);
//! }
//! let trained = problem.train(Lambda::new(16.0)?)?;
//! let folds = Groups::folds(data.queries().len(), 5, 1)?;
//! assert!(trained.leave_out(&folds)?.cindex > Some(0.5));
//! assert_eq!(trained.weights().scores(&data).len(), data.rows());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # The parts, lowest first
//!
//! - `blocks`: the part of the system in which a query meets itself, which preconditions;
//! - `features`: columns, or a kernel in their place; `comparisons`: the rows that a loss compares, of
//!   queries or of preferences; `system`: the matrix `X^` of both, never formed, and the least squares on it;
//! - `solvers`: a file for each; `problem` and `trained`: a problem with its solver, and its models;
//! - `holdout`: models that have not seen some rows, and what they are worth; `kernel`; `options`: all
//!   parameters; `grid`: every ridge parameter with every kernel.
//!
//! # Sources
//!
//! T. Pahikkala, E. Tsivtsivadze, A. Airola, J. Järvinen and J. Boberg, *An efficient algorithm for learning
//! to rank from preference graphs*, Machine Learning 75, 2009
//! ([doi](https://doi.org/10.1007/s10994-008-5097-z)) has RankRLS, its dual and primal systems, and
//! hold-outs of queries. Modules name what else they rest on.

mod blocks;
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
mod trained;
mod weights;

pub use crate::data::Groups;
pub use comparisons::{Preference, Preferences};
pub use grid::{Cell, Fit, Training};
pub use holdout::{Holdout, LeftPair};
pub use kernel::{Basis, Kernel, KernelKind, KernelMatrix, KernelParameter, ReducedSet};
pub use options::RankRls;
pub use problem::RidgeProblem;
pub use shape::TrainShape;
pub use solvers::{Convergence, HOLDOUT_TOLERANCE, ITERATIONS, Shortfall, Solver, TOLERANCE};
pub use trained::Trained;
pub use weights::Weights;
