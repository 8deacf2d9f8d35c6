//! Watching the grid.

use std::ops::ControlFlow;

use super::Outcome;
use crate::Lambda;
use crate::greedy::Step;
use crate::greedy::StrategyKind;

/// What is about to be done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Grid {
    /// Lambdas to try.
    pub lambdas: usize,
    /// Steps of all selections together, at most.
    pub steps: usize,
    /// Lambdas at work at once.
    pub concurrent: usize,
}

/// A step of one of the selections.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct GridStep<'a> {
    /// Its ridge parameter.
    pub lambda: Lambda,
    /// The fold that it does without, from 0; `None`: all training data.
    pub fold: Option<usize>,
    /// Steps of this selection so far.
    pub number: usize,
    /// What was found.
    pub step: &'a Step,
    /// Whether an earlier run had taken it.
    pub replayed: bool,
}

/// Watches the grid; one call at a time, in an order that depends on timing. Everything defaults
/// to doing nothing.
pub trait Observer: Send {
    /// A lambda is going to be tried, by this strategy. All of them are told before the start.
    fn planned(&mut self, lambda: Lambda, strategy: StrategyKind) {
        let _ = (lambda, strategy);
    }

    /// The selections are about to start.
    fn started(&mut self, grid: &Grid) {
        let _ = grid;
    }

    /// A step is done; breaking ends all selections after the steps they are at, and the choice
    /// is made among what there is.
    fn stepped(&mut self, step: &GridStep<'_>) -> ControlFlow<()> {
        let _ = step;
        ControlFlow::Continue(())
    }

    /// A lambda is done.
    fn finished(&mut self, outcome: &Outcome) {
        let _ = outcome;
    }
}

/// Watches nothing.
impl Observer for () {}
