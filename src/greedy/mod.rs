//! Greedy selection: options, strategies and results.
//!
//! [`GreedyRankRls::fit`] is the short way. [`job`] is for front ends, which find candidates, watch selections and
//! resume them. [`strategy`] is for your own strategies.
//!
//! A strategy keeps data for each candidate as it likes. The [`State`] has everything about the examples. In a step
//! the driver asks the strategy for the [`errors`](strategy::Strategy::errors) and adds the column of the least
//! error to the state. Then the strategy [adopts](strategy::Strategy::adopt) the change.

mod addition;
#[cfg(feature = "clap")]
pub mod args;
mod checks;
mod choice;
mod criterion;
mod density;
mod gain;
mod include;
mod matrices;
mod options;
mod path;
mod plan;
mod query_factors;
mod report;
mod selection;
mod state;
mod strategies;
pub mod strategy;
mod target;
mod teacher;
mod test_path;

pub use choice::{Choice, Tried};
pub use options::GreedyRankRls;
pub use selection::{Ending, Selection, Step};
pub use strategies::StrategyKind;
pub use target::WeightTarget;
pub use teacher::Teacher;

pub(crate) use addition::{Addition, LastStep};
pub(crate) use options::{check_several, is_default};
pub(crate) use path::{Each, Selecting, select_with, unwatched};
pub(crate) use plan::{Plan, plan_with};
pub(crate) use state::State;
pub(crate) use strategies::{OWN, Sampler, own_name};
pub(crate) use strategy::{Own, Round, Shape, Strategy, Work};
pub(crate) use teacher::Labels;
use test_path::TestPath;

/// Selections as jobs of front ends: on candidates found before, with known memory, watched, measured and resumed.
pub mod job {
    pub use super::path::{Each, Selecting, select, select_among, unwatched};
    pub use super::plan::{Estimate, Plan, estimates, plan};
    pub use super::report::{Named, Sizes, StepReport};
    pub use super::test_path::TestPath;
}
