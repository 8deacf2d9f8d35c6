//! The observer of selections and grids: the progress bar, and signals.

use std::ops::ControlFlow;

use indicatif::ProgressBar;
use rankrls::tune::{ChoiceEvent, EachEvent, Outcome, TuneEvent};
use rankrls::{GreedyRankRls, Kind, Step, StrategyKind};

use super::numbers::{printable, short};
use super::session::Session;

const STYLE: &str = "{prefix}{bar:24} {pos}/{len} steps{msg}{left}";

/// Draws the steps, and ends the work after a signal.
pub(crate) struct Watch<'a> {
    session: &'a Session<'a>,
    /// The text before the bar.
    prefix: String,
    /// One bar for all that it watches.
    bar: Option<ProgressBar>,
    /// Most steps of each path of a grid.
    path_steps: usize,
    /// The setting that a choice is trying.
    trying: String,
}

impl<'a> Watch<'a> {
    pub(crate) fn new(session: &'a Session<'a>) -> Self {
        Self {
            session,
            prefix: String::new(),
            bar: None,
            path_steps: 0,
            trying: String::new(),
        }
    }

    /// The watch of work with a name beside the bar.
    pub(crate) fn named(session: &'a Session<'a>, name: &str) -> Self {
        Self {
            prefix: format!("{} ", printable(name)),
            ..Self::new(session)
        }
    }

    /// Does `work`, which takes the watch as its observer; `None` if interrupted before a result. Removes the bar
    /// afterwards.
    pub(crate) fn run<T: Send, E: Send>(
        &mut self,
        work: impl FnOnce(&mut Self) -> Result<T, E> + Send,
    ) -> anyhow::Result<Option<Result<T, E>>> {
        let interrupt = self.session.interrupt;
        let found = interrupt.run(|| work(self));
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
        found
    }

    /// Continues with so many more steps.
    pub(crate) fn begin(&mut self, steps: usize) {
        let bar = || {
            let bar = self.session.console.bar(0, STYLE);
            bar.with_prefix(self.prefix.clone())
        };
        let bar = self.bar.get_or_insert_with(bar);
        bar.set_length(bar.position() + steps as u64);
    }

    /// From now on there is something to save.
    fn saves(&self) {
        if let Some(bar) = &self.bar {
            self.session.interrupt.finishing("the steps at work", bar);
        }
    }

    /// Removes the steps that an ended path of a grid did not need.
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

impl Watch<'_> {
    /// Sees a step of a selection.
    pub(crate) fn stepped(&self, step: &Step) -> ControlFlow<()> {
        self.saves();
        self.step(format!(", LQO error {:.6}", step.lqo_error));
        self.session.interrupt.flow()
    }

    /// Does `work` on a grid and sees its news; `None` if interrupted before a result.
    pub(crate) fn tune<T: Send>(
        &mut self,
        work: impl FnOnce(&mut EachEvent<'_>) -> rankrls::Result<T> + Send,
    ) -> anyhow::Result<Option<T>> {
        self.choose(|watch| work(&mut |event| watch.event(event)))
    }

    /// Does the `work` of a choice; `None` if interrupted.
    pub(crate) fn choose<T: Send>(
        &mut self,
        work: impl FnOnce(&mut Self) -> rankrls::Result<T> + Send,
    ) -> anyhow::Result<Option<T>> {
        match self.run(work)? {
            None => Ok(None),
            Some(Err(error)) if error.kind() == Kind::Stopped => Ok(None),
            Some(found) => Ok(Some(found?)),
        }
    }

    /// Sees the news of a choice.
    pub(crate) fn trial(&mut self, event: ChoiceEvent<'_>) -> ControlFlow<()> {
        match event {
            ChoiceEvent::Trying { options, steps } => {
                self.trying = setting(options);
                self.begin(steps);
            }
            ChoiceEvent::Stepped => self.step(format!(", trying {}", self.trying)),
            ChoiceEvent::Judged(_) => {}
        }
        self.session.interrupt.flow()
    }

    /// Sees the news of a grid.
    fn event(&mut self, event: TuneEvent<'_>) -> ControlFlow<()> {
        match event {
            TuneEvent::Started {
                lambdas,
                steps,
                later_steps,
                ..
            } => {
                self.path_steps = steps.checked_div(lambdas).unwrap_or(0);
                self.begin(steps + later_steps);
                self.saves();
            }
            TuneEvent::Stepped(path) => {
                let (lambda, number) = (short(path.lambda.value()), path.steps.len());
                self.step(format!(", lambda {lambda} at {number}"));
            }
            TuneEvent::Selected(_) => {}
            TuneEvent::Finished(outcome) => {
                self.end_path(outcome);
            }
        }
        self.session.interrupt.flow()
    }
}

/// The setting that a choice is trying.
fn setting(options: &GreedyRankRls) -> String {
    let strategy = match options.strategy {
        StrategyKind::Auto => "exact",
        strategy => strategy.name(),
    };
    let (columns, labels) = (
        options.column_scale(),
        options.label_scale.unwrap_or_default(),
    );
    format!("columns {columns}, labels {labels}, {strategy}")
}

#[cfg(test)]
mod tests {
    use clap::ArgMatches;
    use rankrls::Lambda;
    use rankrls::data::sample;
    use rankrls::tune::{Tune, Tuning};

    use super::*;
    use crate::console::{Console, Interrupt};
    use crate::files::Files;

    /// The length and the position of the bar after a grid of two lambdas.
    fn bar_after(options: impl FnOnce(Tune) -> Tune) -> (Option<u64>, u64) {
        let (data, interrupt) = (sample::train(), Interrupt::new());
        let given = ArgMatches::default();
        let session = Session {
            console: Console::new(true),
            interrupt: &interrupt,
            files: Files::default(),
            given: &given,
        };
        let lambdas = [1.0, 4.0].map(|lambda| Lambda::new(lambda).unwrap());
        let selection = GreedyRankRls::new(3, None);
        let options = options(Tune::new(selection, &lambdas));
        let mut watch = Watch::new(&session);
        let tuning = Tuning::new(&data, &options);
        tuning.run(&mut |event| watch.event(event)).unwrap();
        let bar = watch.bar.unwrap();
        (bar.length(), bar.position())
    }

    #[test]
    fn one_bar_has_the_steps_of_all_strategies() {
        let strategies = vec![StrategyKind::Dense, StrategyKind::Bounded];
        let found = bar_after(|options| Tune {
            strategies,
            ..options
        });
        assert_eq!(found, (Some(12), 12));
    }

    #[test]
    fn a_path_that_ends_early_shortens_the_bar() {
        let rule = "min-improvement:0.9:1".parse().unwrap();
        let (length, position) = bar_after(|options| Tune { rule, ..options });
        assert_eq!(length, Some(position));
        assert!(position < 6);
    }
}
