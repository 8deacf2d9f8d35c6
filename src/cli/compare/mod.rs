//! `rankrls compare`: from arguments to printed tables.

mod page;
mod runner;
mod summary;
mod tables;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Result, bail};
use clap::{ArgMatches, Args};
use indicatif::ProgressBar;
use rankrls::Lambda;
use rankrls::compare::{
    Comparison, Contestant, ContestantError, Findings, Outcome, Selected, Task, contestants,
    duration,
};
use rankrls::greedy::TargetOptions;
use serde::Serialize;

use super::args::{self, Measures, RulesArgs, WeightArgs, at_least_one, usage};
use super::console::{Console, Interrupt};
use super::data::{TeacherArgs, TrainingData, warn_dropped, warn_of_few_queries};
use super::output::{OutputFile, PlotArgs, PlotFile, counted, print_report, printable};
use runner::{Ended, Runner};

const DATA_HELP: &str = "Training data, plain or compressed by gzip or zstd; @parses is a small corpus \
    that comes with the program";

/// Compare strategies: time, memory, errors, and the loss against exact strategies
///
/// Runs `rankrls select` once for every strategy, one after the other, each in a process of its
/// own, and once for every seed where a strategy draws at random. A strategy that does not fit
/// into memory is a row that says so. Times leave out reading the data and measuring test data.
#[derive(Debug, Args)]
#[command(mut_arg("path", |path| path.help(DATA_HELP)))]
#[command(after_help = "\
Examples:
  rankrls compare @parses -k 10 --lambda 16 --test @parses-test --html report.html
  rankrls compare train.svm -k 20 --lambda 16 --strategies bounded,backfit,sampled:500
  rankrls compare train.svm -k 20 --lambda 16 --csv paths.csv --json")]
pub(crate) struct CompareArgs {
    /// Features to select
    #[arg(short, value_name = "K", value_parser = at_least_one)]
    k: usize,
    /// Ridge parameter, above 0
    #[arg(long, allow_negative_numbers = true)]
    lambda: Lambda,
    /// Strategies, separated by commas; NAME:N judges N candidates a step, drawn at random
    #[arg(long, value_name = "LIST", value_parser = list)]
    #[arg(
        default_value = "dense,lowmem,bounded,sampled,backfit,distil,univariate,residual,random"
    )]
    strategies: List,
    /// Runs of a strategy that draws at random, with the seeds 1, 2 and so on
    #[arg(long, value_name = "N", default_value = "5")]
    #[arg(value_parser = clap::value_parser!(u64).range(1..=1000))]
    seeds: u64,
    #[command(flatten)]
    weight: WeightArgs,
    #[command(flatten)]
    target: TargetOptions,
    #[command(flatten)]
    teacher: TeacherArgs,
    #[command(flatten)]
    data: TrainingData,
    /// Measure this data after every step; @parses-test goes with @parses
    #[arg(long, value_name = "DATA")]
    test: Option<PathBuf>,
    #[arg(
        long,
        value_name = "LIST",
        requires = "test",
        default_value = "cindex,ndcg@10"
    )]
    #[arg(help = args::measures_help())]
    metrics: Measures,
    #[command(flatten)]
    rules: RulesArgs,
    /// Write a report with diagrams, one file for any browser
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
    /// Write all steps of all runs, a line each
    #[arg(long, value_name = "FILE")]
    csv: Option<PathBuf>,
    #[command(flatten)]
    plot: PlotArgs,
    /// Print one JSON document
    #[arg(long)]
    json: bool,
}

/// Strategies that were named.
#[derive(Debug, Clone)]
struct List(Vec<Contestant>);

fn list(text: &str) -> Result<List, ContestantError> {
    contestants(text).map(List)
}

/// Compares strategies by options of which some are `given`.
pub(crate) fn run(args: &CompareArgs, given: &ArgMatches, console: Console) -> Result<ExitCode> {
    args.check()?;
    let create = |path: &Option<PathBuf>| path.as_deref().map(OutputFile::create).transpose();
    let (page, paths) = (create(&args.html)?, create(&args.csv)?);
    let plot = args.plot.create()?;
    let job = Job {
        args,
        given,
        console,
    };
    job.run(page, paths, plot)
}

impl CompareArgs {
    /// Refuses mistakes that the parser cannot see.
    fn check(&self) -> Result<()> {
        self.data.read.check(1 + usize::from(self.test.is_some()))?;
        let others = [&self.data.names, &self.test].into_iter().flatten();
        let mut inputs = others.chain([&self.data.path]);
        if inputs.any(|path| path == Path::new("-")) {
            return Err(usage(
                "every strategy reads the data by itself: it has to be in files, not on standard \
                 input",
            ));
        }
        let strategies = self.strategies.0.iter();
        let strategies: Vec<_> = strategies.map(|one| Some(one.strategy)).collect();
        self.teacher.check(&self.target, &strategies)?;
        self.rules.check(self.test.is_some(), false)?;
        self.plot.check(None)?;
        if self.html.is_some() && self.html == self.csv {
            return Err(usage("--html and --csv name the same file"));
        }
        Ok(())
    }
}

const STYLE: &str = "{bar:24} {pos}/{len} runs, {msg} {elapsed}";

/// A comparison about to be made.
struct Job<'a> {
    args: &'a CompareArgs,
    given: &'a ArgMatches,
    console: Console,
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

impl Job<'_> {
    /// Runs all, writes and prints, also when interrupted on the way.
    fn run(
        &self,
        page: Option<OutputFile>,
        paths: Option<OutputFile>,
        plot: Option<PlotFile>,
    ) -> Result<ExitCode> {
        let interrupt = Interrupt::install(self.console)?;
        interrupt.disarm();
        let runner = Runner::new(self.args, self.given, &interrupt)?;
        let mut interrupted = None;
        let outcomes = self.run_all(&runner, &mut interrupted)?;
        let mut comparison = Comparison::new(self.task(), outcomes);
        // The diagrams have a line for it.
        if (page.is_some() || plot.is_some()) && interrupted.is_none() {
            comparison.all_columns = runner.all_columns()?;
        }
        if let Some(code) = interrupted {
            let ran = comparison.ran().count() as u64;
            let ran = counted(ran, "strategy");
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
        let plotted = plot.map_or(Ok(()), |plot| plot.write(page::figure(&comparison)));
        let listed = paths.map_or(Ok(()), |file| {
            file.write(|writer| tables::write_paths(&comparison, writer))
        });
        self.print(&comparison, interrupted.is_some())?;
        // Results are printed even if they could not be written.
        drawn?;
        plotted?;
        listed?;
        // A signal may have come while all columns were trained on.
        let code = interrupted.or(interrupt.code());
        Ok(code.unwrap_or(ExitCode::SUCCESS))
    }

    fn task(&self) -> Task {
        let args = self.args;
        let metrics = args.test.iter().flat_map(|_| &args.metrics.0);
        Task {
            file: args.data.path.to_string_lossy().into_owned(),
            test_file: args.test.as_ref().map(|path| path.to_string_lossy().into()),
            lambda: args.lambda.value(),
            k: args.k,
            seeds: args.seeds,
            metrics: metrics.map(ToString::to_string).collect(),
        }
    }

    /// All contestants, in their order; sets the exit code when `interrupted`.
    fn run_all(
        &self,
        runner: &Runner<'_>,
        interrupted: &mut Option<ExitCode>,
    ) -> Result<Vec<(Contestant, Outcome)>> {
        let contestants = &self.args.strategies.0;
        let runs = contestants
            .iter()
            .map(|contestant| self.seeds(contestant).len());
        let bar = self.console.bar(runs.sum(), STYLE);
        let mut outcomes = Vec::new();
        for &contestant in contestants {
            let outcome = self.outcome(runner, contestant, interrupted, &bar)?;
            outcomes.push((contestant, outcome));
        }
        bar.finish_and_clear();
        Ok(outcomes)
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
            if interrupted.is_some() {
                break;
            }
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
                Ended::Interrupted(code) => *interrupted = Some(code),
            }
            bar.inc(1);
        }
        Ok(match (&interrupted, runs.is_empty()) {
            (Some(_), true) => Outcome::Failed("interrupted".to_owned()),
            _ => Outcome::Selected(runs),
        })
    }

    fn warn(&self, comparison: &Comparison) {
        if let Some(data) = &comparison.data {
            warn_of_few_queries(data.queries, self.console);
        }
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
        if let Some(test) = &comparison.test {
            let (entries, columns) = (test.dropped_entries, test.dropped_columns);
            warn_dropped(entries, columns, "the training data", self.console);
        }
    }

    fn print(&self, comparison: &Comparison, interrupted: bool) -> Result<()> {
        let document = Document {
            schema: "rankrls.comparison/1",
            version: env!("CARGO_PKG_VERSION"),
            interrupted,
            findings: comparison.findings(),
            comparison,
        };
        print_report(self.args.json, &document, || tables::text(comparison))
    }
}

/// Time and error of a run that has ended.
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
    let reasons = comparison.strategies.iter().map(summary::failure);
    let reasons: Vec<String> = reasons.collect();
    bail!("no strategy could select: {}", reasons.join("; "));
}
