//! Watches the grid: progress and signals.

use std::ops::ControlFlow;

use indicatif::ProgressBar;
use rankrls::checkpoint::{Checkpointer, Tuning};
use rankrls::tune::{Grid, GridStep, Observer, Outcome};
use rankrls::{Lambda, StrategyKind};

use crate::cli::checkpoint;
use crate::cli::console::Console;
use crate::cli::console::Interrupt;
use crate::cli::output::format_exact;

const STYLE: &str = "{bar:24} {pos}/{len} steps, {msg}{eta} left";

pub(super) struct Watch<'a> {
    console: Console,
    interrupt: &'a Interrupt,
    pub(super) checkpointer: Option<Checkpointer<Tuning>>,
    bar: Option<ProgressBar>,
}

impl<'a> Watch<'a> {
    pub(super) fn new(console: Console, interrupt: &'a Interrupt) -> Self {
        Self {
            console,
            interrupt,
            checkpointer: None,
            bar: None,
        }
    }

    /// Takes the progress bar away, and writes what is not yet in the checkpoint.
    pub(super) fn clear(&mut self) {
        checkpoint::finish(self.checkpointer.as_mut(), "steps", self.console);
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

impl Observer for Watch<'_> {
    fn planned(&mut self, lambda: Lambda, strategy: StrategyKind) {
        if let Some(checkpointer) = &mut self.checkpointer {
            checkpointer.planned(lambda, strategy);
        }
    }

    fn started(&mut self, grid: &Grid) {
        tracing::info!(
            lambdas = grid.lambdas,
            concurrent = grid.concurrent,
            "tuning"
        );
        self.interrupt.disarm();
        self.bar = Some(self.console.bar(grid.steps, STYLE));
    }

    fn stepped(&mut self, step: &GridStep<'_>) -> ControlFlow<()> {
        if let Some(checkpointer) = &mut self.checkpointer {
            checkpointer.stepped(step)?;
        }
        if let Some(bar) = &self.bar {
            let lambda = format_exact(step.lambda.value());
            bar.set_message(format!("lambda {lambda} at {}, ", step.number));
            bar.inc(1);
        }
        match self.interrupt.code() {
            None => ControlFlow::Continue(()),
            Some(_) => ControlFlow::Break(()),
        }
    }

    fn finished(&mut self, outcome: &Outcome) {
        let (lambda, steps) = (outcome.lambda.value(), outcome.points.len());
        tracing::info!(lambda, steps, ending = ?outcome.ending, "path done");
    }
}
