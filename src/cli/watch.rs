//! Watches a selection: progress, measures on test data, signals.

use std::ops::ControlFlow;
use std::time::Instant;

use indicatif::ProgressBar;
use rankrls::TestPath;
use rankrls::checkpoint::Checkpointer;
use rankrls::greedy::State;
use rankrls::greedy::{Observer, Plan, Step};

use super::checkpoint;
use super::console::Console;
use super::interrupt::Interrupt;

const STYLE: &str = "{bar:24} {pos}/{len} features, {msg}{eta} left";

pub(crate) struct Watch<'a> {
    console: Console,
    interrupt: &'a Interrupt,
    pub(crate) test: Option<TestPath<'a>>,
    /// Time that measuring test data took.
    pub(crate) test_seconds: f64,
    pub(crate) checkpointer: Option<Checkpointer>,
    bar: Option<ProgressBar>,
}

impl<'a> Watch<'a> {
    pub(crate) fn new(
        console: Console,
        interrupt: &'a Interrupt,
        test: Option<TestPath<'a>>,
    ) -> Self {
        Self {
            console,
            interrupt,
            test,
            test_seconds: 0.0,
            checkpointer: None,
            bar: None,
        }
    }

    /// Takes the progress bar away, and writes what is not yet in the checkpoint.
    pub(crate) fn clear(&mut self) {
        checkpoint::finish(self.checkpointer.as_mut(), "features", self.console);
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

impl Observer for Watch<'_> {
    fn started(&mut self, plan: &Plan) {
        self.interrupt.disarm();
        self.bar = Some(self.console.bar(plan.steps, STYLE));
        if let Some(checkpointer) = &mut self.checkpointer {
            checkpointer.started(plan);
        }
    }

    fn replayed(&mut self, number: usize, step: &Step, state: &State) -> ControlFlow<()> {
        self.see(number, step, state)
    }

    fn stepped(&mut self, number: usize, step: &Step, state: &State) -> ControlFlow<()> {
        if let Some(checkpointer) = &mut self.checkpointer {
            checkpointer.stepped(number, step, state)?;
        }
        self.see(number, step, state)
    }
}

impl Watch<'_> {
    fn see(&mut self, number: usize, step: &Step, state: &State) -> ControlFlow<()> {
        if let Some(bar) = &self.bar {
            bar.set_message(format!("LQO error {:.6}, ", step.lqo_error));
            bar.set_position(number as u64);
        }
        if let Some(test) = &mut self.test {
            let begin = Instant::now();
            test.stepped(number, step, state)?;
            self.test_seconds += begin.elapsed().as_secs_f64();
        }
        match self.interrupt.code() {
            None => ControlFlow::Continue(()),
            Some(_) => ControlFlow::Break(()),
        }
    }
}
