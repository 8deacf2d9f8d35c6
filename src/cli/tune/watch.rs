//! Watches the grid: progress and signals.

use std::ops::ControlFlow;

use indicatif::ProgressBar;
use rankrls::tune::{Grid, GridStep, Observer, Outcome};

use crate::cli::console::Console;
use crate::cli::interrupt::Interrupt;
use crate::cli::numbers::given;

const STYLE: &str = "{bar:24} {pos}/{len} steps, {msg}{eta} left";

pub(super) struct Watch<'a> {
    console: Console,
    interrupt: &'a Interrupt,
    bar: Option<ProgressBar>,
}

impl<'a> Watch<'a> {
    pub(super) fn new(console: Console, interrupt: &'a Interrupt) -> Self {
        Self {
            console,
            interrupt,
            bar: None,
        }
    }

    /// Takes the progress bar away.
    pub(super) fn clear(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

impl Observer for Watch<'_> {
    fn started(&mut self, grid: &Grid) {
        tracing::info!(
            lambdas = grid.lambdas,
            concurrent = grid.concurrent,
            "tuning"
        );
        self.interrupt.disarm();
        self.bar = Some(self.console.bar(grid.steps, STYLE));
    }

    fn stepped(&mut self, step: &GridStep) -> ControlFlow<()> {
        if let Some(bar) = &self.bar {
            let lambda = given(step.lambda.value());
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
