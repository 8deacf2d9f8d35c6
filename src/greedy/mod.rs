//! Greedy selection: the driver, the state that it keeps and the strategies that judge candidates.
//!
//! [`select()`] does the whole job, and [`Greedy`] the same in single steps.
//!
//! A strategy keeps whatever it wants for each candidate; everything that belongs to the examples
//! is in the [`State`]. In a step the driver asks the strategy for the [`errors`](Strategy::errors),
//! adds the column of the least one to the state and lets the strategy [`adopt`](Strategy::adopt) the
//! change.

mod addition;
#[cfg(feature = "clap")]
pub mod args;
mod criterion;
mod density;
mod driver;
mod error;
mod folds;
mod gain;
mod grown;
mod options;
mod plan;
mod select;
mod stability;
mod state;
mod strategies;
mod strategy;
mod target;
mod teacher;
mod test_path;

pub use addition::{Addition, LastStep};
pub(crate) use addition::{centre, centre_again, centred};
pub(crate) use criterion::tied_predictions;
pub use criterion::{Criterion, RankingCriterion, lqo_cindex};
pub use driver::{Advance, Greedy, Step};
pub use error::SelectError;
pub use options::SelectionOptions;
pub(crate) use options::is_default;
pub use plan::{Estimate, Plan, estimates, plan};
pub use select::{Earlier, Ending, Event, Observer, Selection, resume_among, select, select_among};
pub use stability::{Frequency, Stability};
pub use state::State;
pub use strategies::{ExpectedDivergence, Sampler, StrategyKind};
pub use strategy::{Round, Shape, Strategy, TIE_TOLERANCE, Work};
pub use target::{Refit, Target, TargetOptions};
pub use teacher::{Teacher, TeacherPlan, TeacherPredictions};
pub use test_path::{TestPath, WeightsPath};
