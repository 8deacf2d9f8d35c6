//! The observer of selections and grids: the progress bar, the checkpoint, and signals.

use std::ops::ControlFlow;

use indicatif::ProgressBar;
use rankrls::checkpoint::Checkpointer;
use rankrls::greedy::job;
use rankrls::tune;
use rankrls::tune::Outcome;

use super::numbers::{printable, short};
use super::session::Session;

const STYLE: &str = "{prefix}{bar:24} {pos}/{len} steps{msg}{left}";

/// Draws the steps, writes the checkpoint, and ends the work after a signal.
pub(crate) struct Watch<'a> {
    session: &'a Session<'a>,
    /// Before the bar.
    prefix: String,
    checkpointer: Option<Checkpointer>,
    /// One for all that it watches.
    bar: Option<ProgressBar>,
    /// Steps of each path of a grid, at most.
    path_steps: usize,
}

impl<'a> Watch<'a> {
    /// Writes the checkpoint if there is one.
    pub(crate) fn new(session: &'a Session<'a>, checkpointer: Option<Checkpointer>) -> Self {
        Self {
            session,
            prefix: String::new(),
            checkpointer,
            bar: None,
            path_steps: 0,
        }
    }

    /// Without a checkpoint, of work that has a name beside the bar.
    pub(crate) fn named(session: &'a Session<'a>, name: &str) -> Self {
        Self {
            prefix: format!("{} ", printable(name)),
            ..Self::new(session, None)
        }
    }

    /// Does `work`, which takes the watch for its observer; `None` if that was interrupted before it
    /// had a result. Takes the bar away then, and completes the checkpoint.
    pub(crate) fn run<T: Send, E: Send>(
        &mut self,
        work: impl FnOnce(&mut Self) -> Result<T, E> + Send,
    ) -> anyhow::Result<Option<Result<T, E>>> {
        let interrupt = self.session.interrupt;
        let found = interrupt.run(|| work(self));
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
        let Some(checkpointer) = &mut self.checkpointer else {
            return found;
        };
        if let Err(error) = checkpointer.flush() {
            let (error, saved) = (anyhow::Error::from(error), checkpointer.saved());
            let console = self.session.console;
            console.warn(format_args!("{error:#}; the checkpoint has {saved} steps"));
        }
        found
    }

    /// The words for an interrupted run: its checkpoint, or what it has `lost` without one.
    pub(crate) fn left(&self, lost: &str) -> String {
        let Some(checkpointer) = &self.checkpointer else {
            return lost.to_owned();
        };
        let (path, saved) = (checkpointer.path().display(), checkpointer.saved());
        format!("{path} has {saved} steps, and --resume goes on")
    }

    /// Goes on to so many steps more. From now on there is something to save.
    fn begin(&mut self, steps: usize) {
        let bar = || {
            let bar = self.session.console.bar(0, STYLE);
            bar.with_prefix(self.prefix.clone())
        };
        let bar = self.bar.get_or_insert_with(bar);
        bar.set_length(bar.position() + steps as u64);
        self.session.interrupt.finishing("the steps at work", bar);
    }

    /// Takes the steps away that a path of a grid has ended without.
    fn end_path(&self, outcome: &Outcome) {
        let taken = outcome.points.len() * (1 + outcome.folds.len());
        let spared = self.path_steps.saturating_sub(taken) as u64;
        if let Some(bar) = &self.bar {
            let length = bar.length().unwrap_or_default();
            bar.set_length(length.saturating_sub(spared).max(bar.position()));
        }
    }

    fn step(&self, news: String) {
        if let Some(bar) = &self.bar {
            bar.set_message(news);
            bar.inc(1);
        }
    }
}

impl job::Observer for Watch<'_> {
    fn event(&mut self, event: job::Event<'_>) -> ControlFlow<()> {
        if let Some(checkpointer) = &mut self.checkpointer {
            job::Observer::event(checkpointer, event)?;
        }
        match event {
            job::Event::TeacherTrained(..) => {}
            job::Event::Started(plan) => self.begin(plan.steps),
            job::Event::Stepped(advance, _) => {
                self.step(format!(", LQO error {:.6}", advance.step.lqo_error));
            }
        }
        self.session.interrupt.flow()
    }
}

impl tune::TuneObserver for Watch<'_> {
    fn event(&mut self, event: tune::TuneEvent<'_>) -> ControlFlow<()> {
        if let Some(checkpointer) = &mut self.checkpointer {
            tune::TuneObserver::event(checkpointer, event)?;
        }
        match event {
            tune::TuneEvent::TeacherTrained { .. } => {}
            tune::TuneEvent::Started {
                lambdas,
                steps,
                later_steps,
                concurrent,
            } => {
                tracing::info!(lambdas, concurrent, "tuning");
                self.path_steps = steps.checked_div(lambdas).unwrap_or(0);
                self.begin(steps + later_steps);
            }
            tune::TuneEvent::Stepped { path, number, .. } => {
                let lambda = short(path.lambda.value());
                self.step(format!(", lambda {lambda} at {number}"));
            }
            tune::TuneEvent::Finished(outcome) => {
                let (lambda, steps) = (outcome.lambda.value(), outcome.points.len());
                tracing::info!(lambda, steps, ending = ?outcome.ending, "path done");
                self.end_path(outcome);
            }
        }
        self.session.interrupt.flow()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use clap::ArgMatches;
    use rankrls::data::sample;
    use rankrls::peers::{Alone, Peers};
    use rankrls::tune::TuneOptions;
    use rankrls::{Lambda, SelectionOptions, StrategyKind};

    use super::*;
    use crate::console::{Console, Interrupt};
    use crate::files::Files;

    /// The length and the position of the bar after a grid of two lambdas.
    fn bar_after(options: impl FnOnce(TuneOptions) -> TuneOptions) -> (Option<u64>, u64) {
        let (data, interrupt) = (sample::train(), Interrupt::new(true));
        let (peers, given): (Arc<dyn Peers>, _) = (Arc::new(Alone), ArgMatches::default());
        let session = Session {
            console: Console::new(true, false),
            interrupt: &interrupt,
            peers: &peers,
            files: &Files::default(),
            given: &given,
        };
        let lambdas = [1.0, 4.0].map(|lambda| Lambda::new(lambda).unwrap());
        let selection = SelectionOptions::new(3, None);
        let options = options(TuneOptions::new(selection, &lambdas));
        let mut watch = Watch::new(&session, None);
        tune::Tuning::new(&data, &options).run(&mut watch).unwrap();
        let bar = watch.bar.unwrap();
        (bar.length(), bar.position())
    }

    #[test]
    fn one_bar_has_the_steps_of_all_strategies() {
        let strategies = vec![StrategyKind::Dense, StrategyKind::Bounded];
        let found = bar_after(|options| TuneOptions {
            strategies,
            ..options
        });
        assert_eq!(found, (Some(12), 12));
    }

    #[test]
    fn a_path_that_ends_early_shortens_the_bar() {
        let rule = "min-improvement:0.9:1".parse().unwrap();
        let (length, position) = bar_after(|options| TuneOptions { rule, ..options });
        assert_eq!(length, Some(position));
        assert!(position < 6);
    }
}
