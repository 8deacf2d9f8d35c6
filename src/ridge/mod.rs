//! RankRLS on all features, or on given ones, and what it predicts for queries it has not seen.
//!
//! RankRLS is ridge regression on features and labels from which the means of their queries have
//! been taken (see [`QueryWeight`](crate::QueryWeight) for what a query counts). [`RidgeProblem`]
//! prepares data, [`RidgeProblem::train`] solves for one ridge parameter, and [`Trained::holdout`]
//! predicts groups of queries by models that were trained without them, exactly and without
//! training again: `docs/rankrls.md` has the derivation. [`RankRls`](crate::RankRls) is the short
//! way to one model.
//!
//! ```
//! use rankrls::data::sample;
//! use rankrls::ridge::{RidgeProblem, TrainOptions};
//! use rankrls::Lambda;
//!
//! let data = sample::train();
//! let problem = RidgeProblem::new(&data, &TrainOptions::new().lambdas(3))?;
//! for lambda in [1.0, 16.0, 256.0] {
//!     let trained = problem.train(Lambda::new(lambda)?)?;
//!     let lqo = trained.leave_query_out()?;
//!     println!("{lambda:5} {:9.5} {:?}", lqo.error, lqo.cindex);
//! }
//! let trained = problem.train(Lambda::new(16.0)?)?;
//! assert!(trained.holdout_by(&"folds:5".parse()?)?.cindex > Some(0.5));
//! assert_eq!(trained.weights().scores(&data).len(), data.rows());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! The parts, lowest first: `solver` has the solvers and their costs, `options` the
//! choice of one; `factor` dense systems; `design` the matrix of what the loss compares, centred rows or preferences, which is
//! never formed; `conjugate` the solver that forms nothing, `heavy` a part of its preconditioner; `trained` problems and models; `scheme`
//! what may be held out, `without` how that follows from factors, `holdout` what it is worth.

mod conjugate;
mod design;
mod error;
mod factor;
mod grid;
mod heavy;
mod holdout;
mod kernel;
mod options;
mod pairs_out;
mod preferences;
mod scheme;
mod solver;
mod trained;
mod weights;
mod without;

pub use conjugate::{Convergence, HOLDOUT_TOLERANCE, ITERATIONS, Shortfall, TOLERANCE};
pub use error::TrainError;
pub use grid::{Basis, Cell, Fit, GridOutcome, TrainGrid};
pub use holdout::{Holdout, LeftPair};
pub use kernel::{Kernel, KernelKind, KernelMatrix, ReducedSet};
pub use options::TrainOptions;
pub use preferences::{Preference, Preferences};
pub use scheme::{Groups, Scheme};
pub use solver::{Shape, Solver};
pub use trained::{RidgeProblem, Trained};
pub use weights::Weights;
