//! Greedy selection: the driver, the state that it keeps and the strategies that judge candidates.
//!
//! [`select`] does the whole job, and [`Greedy`] the same in single steps.
//!
//! A strategy keeps whatever it wants for each candidate; everything that belongs to the examples
//! is in the [`State`]. In a step the driver asks the strategy to [`propose`](Strategy::propose),
//! adds the winner's column to the state and lets the strategy [`adopt`](Strategy::adopt) the
//! change.

mod addition;
mod concordance;
mod condition;
mod contest;
mod criterion;
mod driver;
mod error;
mod folds;
mod kind;
mod lanes;
mod observer;
mod options;
mod plan;
mod sampler;
mod select;
mod selection;
mod state;
mod strategies;
mod strategy;
mod test_path;

pub use addition::{Addition, LastStep};
pub(crate) use addition::{centre, centred};
pub use concordance::lqo_cindex;
pub(crate) use concordance::{cindex, tied_predictions};
pub use contest::{Contest, Entrant, TIE_TOLERANCE};
pub use criterion::{Criterion, RankingCriterion};
pub(crate) use criterion::{PREDICTION_TIE, tie};
pub use driver::{Advance, Greedy};
pub use error::SelectError;
pub use kind::{Shape, StrategyKind, UnknownStrategy};
pub use observer::Observer;
pub use options::SelectionOptions;
pub use plan::{Estimate, Plan, estimates, plan};
pub use sampler::Sampler;
pub use select::{resume_among, select, select_among};
pub use selection::{Ending, Selection, Step};
pub use state::State;
pub use strategies::{Backfit, Bounded, Dense, LowMemory, Random, Residual, Univariate};
pub use strategy::{Round, Strategy, Work};
pub use test_path::{TestPath, scores};
