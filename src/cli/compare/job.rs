//! A comparison: from arguments to what is printed.

use std::process::ExitCode;

use anyhow::{Result, bail};
use indicatif::ProgressBar;
use rankrls::compare::{Comparison, Contestant, Findings, Outcome, Selected, Task, duration};
use serde::Serialize;

use super::runner::{Ended, Runner};
use super::text::text;
use super::{CompareArgs, page, path_file};
use crate::cli::console::Console;
use crate::cli::console::Interrupt;
use crate::cli::output::{OutputFile, print, print_json};
use crate::cli::output::{counted, printable};

const STYLE: &str = "{bar:24} {pos}/{len} runs, {msg} {elapsed}";

/// A comparison about to be made.
pub(super) struct Job<'a> {
    args: &'a CompareArgs,
    threads: Option<u16>,
    console: Console,
}

/// All contestants, in their order, and the exit code if that was asked for.
struct Runs {
    outcomes: Vec<(Contestant, Outcome)>,
    interrupted: Option<ExitCode>,
}

#[derive(Serialize)]
struct Document<'a> {
    schema: &'static str,
    version: &'static str,
    interrupted: bool,
    #[serde(flatten)]
    comparison: &'a Comparison,
    findings: Findings,
}

impl<'a> Job<'a> {
    pub(super) fn new(args: &'a CompareArgs, threads: Option<u16>, console: Console) -> Self {
        Self {
            args,
            threads,
            console,
        }
    }

    /// Runs all, writes and prints; when interrupted, what there is.
    pub(super) fn run(
        &self,
        page: Option<OutputFile>,
        paths: Option<OutputFile>,
    ) -> Result<ExitCode> {
        let interrupt = Interrupt::install()?;
        interrupt.disarm();
        let Runs {
            outcomes,
            interrupted,
        } = self.run_all(&Runner::new(self.args, self.threads, &interrupt)?)?;
        let comparison = Comparison::new(self.task(), outcomes);
        if let Some(code) = interrupted {
            let ran = comparison.ran().count() as u64;
            let ran = counted(ran, "strategy").replace("strategys", "strategies");
            self.console.warn(format_args!("interrupted after {ran}"));
            if comparison.ran().next().is_none() {
                return Ok(code);
            }
        }
        check(&comparison)?;
        self.warn(&comparison);
        let drawn = page.map_or(Ok(()), |file| {
            file.write(|writer| writer.write_all(page::page(&comparison).as_bytes()))
        });
        let listed = paths.map_or(Ok(()), |file| {
            file.write(|writer| path_file::write(&comparison, writer))
        });
        self.print(&comparison, interrupted.is_some())?;
        // What was found is printed even if it could not be written.
        drawn?;
        listed?;
        Ok(interrupted.unwrap_or(ExitCode::SUCCESS))
    }

    fn task(&self) -> Task {
        let args = self.args;
        let mut metrics: Vec<String> = Vec::new();
        if args.test.is_some() {
            for name in args.metrics.0.iter().map(ToString::to_string) {
                if !metrics.contains(&name) {
                    metrics.push(name);
                }
            }
        }
        Task {
            file: args.path.to_string_lossy().into_owned(),
            test_file: args
                .test
                .as_ref()
                .map(|path| path.to_string_lossy().into_owned()),
            lambda: args.lambda.value(),
            k: args.k,
            seeds: args.seeds,
            metrics,
        }
    }

    fn run_all(&self, runner: &Runner<'_>) -> Result<Runs> {
        let contestants = &self.args.strategies.0;
        let runs = contestants
            .iter()
            .map(|contestant| self.seeds(contestant).len());
        let bar = self.console.bar(runs.sum(), STYLE);
        let mut outcomes = Vec::new();
        let mut interrupted = None;
        for &contestant in contestants {
            let outcome = if interrupted.is_some() {
                Outcome::Failed("interrupted".to_owned())
            } else {
                self.outcome(runner, contestant, &mut interrupted, &bar)?
            };
            outcomes.push((contestant, outcome));
        }
        bar.finish_and_clear();
        Ok(Runs {
            outcomes,
            interrupted,
        })
    }

    /// The seeds of a contestant: none once where it draws nothing.
    fn seeds(&self, contestant: &Contestant) -> Vec<Option<u64>> {
        if contestant.is_random() {
            (1..=self.args.seeds).map(Some).collect()
        } else {
            vec![None]
        }
    }

    fn outcome(
        &self,
        runner: &Runner<'_>,
        contestant: Contestant,
        interrupted: &mut Option<ExitCode>,
        bar: &ProgressBar,
    ) -> Result<Outcome> {
        let mut runs = Vec::new();
        for seed in self.seeds(&contestant) {
            let name = seed.map_or_else(
                || contestant.to_string(),
                |seed| format!("{contestant}, seed {seed}"),
            );
            bar.set_message(name.clone());
            match runner.select(contestant, seed)? {
                Ended::Selected(selected) => {
                    bar.println(format!("{name}: {}", line(&selected)));
                    runs.push(*selected);
                }
                Ended::Failed(error) => {
                    bar.println(format!("{name}: {}", printable(&error)));
                    return runner.explain(contestant, error);
                }
                Ended::Interrupted(code) => {
                    *interrupted = Some(code);
                    break;
                }
            }
            bar.inc(1);
        }
        Ok(match (&interrupted, runs.is_empty()) {
            (Some(_), true) => Outcome::Failed("interrupted".to_owned()),
            _ => Outcome::Selected(runs),
        })
    }

    fn warn(&self, comparison: &Comparison) {
        let fewer = comparison.ran().filter_map(|entry| {
            let steps = entry.steps.len();
            (steps < self.args.k).then_some((entry.contestant, steps))
        });
        for (contestant, steps) in fewer {
            let asked = self.args.k;
            self.console.warn(format_args!(
                "{contestant} selected {steps} features, not {asked}: there are no more column \
                 classes"
            ));
        }
        let dropped = comparison.test.as_ref().map(|test| test.dropped_columns);
        if let (Some(columns @ 1..), Some(test)) = (dropped, &comparison.test) {
            let entries = counted(test.dropped_entries, "non-zero");
            let columns = counted(columns, "column");
            self.console.warn(format_args!(
                "dropped {entries} in {columns} unknown to the training data"
            ));
        }
    }

    fn print(&self, comparison: &Comparison, interrupted: bool) -> Result<()> {
        if !self.args.json {
            return print(|output| output.write_all(text(comparison).as_bytes()));
        }
        print_json(&Document {
            schema: "rankrls.comparison/1",
            version: env!("CARGO_PKG_VERSION"),
            interrupted,
            findings: comparison.findings(),
            comparison,
        })
    }
}

/// What is shown of a run that has ended.
fn line(selected: &Selected) -> String {
    let error = selected.steps.last().map(|step| step.lqo_error);
    let error = error.map_or_else(String::new, |error| format!(", LQO error {error:.4}"));
    format!("{}{error}", duration(selected.seconds()))
}

/// Refuses a comparison of nothing.
fn check(comparison: &Comparison) -> Result<()> {
    if comparison.ran().next().is_some() {
        return Ok(());
    }
    let mut errors = comparison.strategies.iter().map(|entry| &entry.error);
    if let Some(Some(first)) = errors.next()
        && comparison.strategies[0].needs_bytes.is_none()
        && errors.all(|error| error.as_ref() == Some(first))
    {
        bail!("{first}");
    }
    let reasons = comparison.strategies.iter().map(super::summary::failure);
    let reasons: Vec<String> = reasons.collect();
    bail!("no strategy could select: {}", reasons.join("; "));
}
