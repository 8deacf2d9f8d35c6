//! Watching a selection.

use std::ops::ControlFlow;

use super::{Plan, Step};
use crate::greedy::State;

/// Watches a selection. Everything defaults to doing nothing.
pub trait Observer: Send {
    /// The strategy has been chosen and is about to start.
    fn started(&mut self, plan: &Plan) {
        let _ = plan;
    }

    /// A step was taken again that an earlier run had found; as [`stepped`](Self::stepped)
    /// unless said otherwise.
    fn replayed(&mut self, number: usize, step: &Step, state: &State) -> ControlFlow<()> {
        self.stepped(number, step, state)
    }

    /// A step is done; breaking ends the selection with what there is.
    fn stepped(&mut self, number: usize, step: &Step, state: &State) -> ControlFlow<()> {
        let _ = (number, step, state);
        ControlFlow::Continue(())
    }
}

/// Watches nothing.
impl Observer for () {}
