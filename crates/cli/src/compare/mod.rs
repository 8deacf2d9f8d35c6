//! `rankrls compare`: selections by several strategies, one after the other, in one table.

mod report;
mod shown;

use std::process::ExitCode;
use std::str::FromStr;
use std::time::Instant;

use anyhow::{Result, bail};
use clap::Args;
use rankrls::greedy::job::{Earlier, TestPath, plan};
use rankrls::greedy::{Ending, SelectError, SelectionOptions, Step, TargetOptions};
use rankrls::metrics::{Metric, parse_list};
use rankrls::warning::Warning;
use rankrls::{Ridge, StrategyKind};
use serde::Serialize;

use report::Comparison;

use crate::args::{self, RulesArgs, at_least_one, each_once};
use crate::data::{Input, Sizes, TrainingData};
use crate::figures::PlotArgs;
use crate::files::{DataPath, OutPath};
use crate::numbers::counted;
use crate::output::Destination;
use crate::select::{Tested, choose_lambda};
use crate::session::Session;
use crate::settings::{TeacherArgs, WeightArgs};
use crate::watch::Watch;

/// Compare strategies: time, memory, errors, and the features they share
///
/// Selects by each strategy, one after the other, and once for every seed where a strategy draws
/// at random. A strategy that does not fit into memory is a row that says so. Times are of finding
/// column classes and selecting, without reading the data and measuring test data.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  rankrls compare @parses -k 10 --lambda 16 --test @parses-test
  rankrls compare train.svm -k 20 --lambda 16 --strategies bounded,backfit,sampled:500
  rankrls compare train.svm -k 20 --lambda 16 --csv paths.csv --plot paths.svg")]
pub(crate) struct CompareArgs {
    /// Features to select
    #[arg(help_heading = "Selection", short, value_name = "K", value_parser = at_least_one)]
    k: usize,
    /// Ridge parameter of all strategies, a number or a share as of select; auto: what select takes
    /// with the fastest exact one
    #[arg(
        help_heading = "Selection",
        long,
        default_value = "auto",
        allow_negative_numbers = true
    )]
    #[arg(value_parser = args::auto_or_ridge)]
    lambda: std::option::Option<Ridge>,
    /// Strategies, separated by commas; NAME:N judges N candidates a step, drawn at random
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    #[arg(
        help_heading = "Selection",
        default_value = "dense,lowmem,bounded,sampled,backfit,distil,univariate,residual,random"
    )]
    strategies: Vec<Contestant>,
    /// Runs of a strategy that draws at random, with the seeds 1, 2 and so on
    #[arg(long, value_name = "N", default_value = "5")]
    #[arg(help_heading = "Selection", value_parser = clap::value_parser!(u64).range(1..=1000))]
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
    #[arg(help_heading = "Measures", long, value_name = "DATA")]
    test: Option<DataPath>,
    #[arg(
        long,
        value_name = "LIST",
        requires = "test",
        default_value = "cindex,ndcg@10"
    )]
    #[arg(help_heading = "Measures", help = args::measures_help(), value_parser = parse_list)]
    metrics: std::vec::Vec<Metric>,
    #[command(flatten)]
    rules: RulesArgs,
    #[command(flatten)]
    plot: PlotArgs,
    /// Write all steps of all runs, a line each
    #[arg(help_heading = "Output", long, value_name = "FILE")]
    csv: Option<OutPath>,
    /// Write a report with diagrams, one file for any browser
    #[arg(help_heading = "Output", long, value_name = "FILE")]
    html: Option<OutPath>,
    /// Print one JSON document
    #[arg(help_heading = "Output", long)]
    json: bool,
}

/// A strategy, perhaps on a number of candidates that are drawn in every step: `lowmem`,
/// `sampled:500`.
#[derive(Debug, Clone, Serialize)]
struct Contestant {
    #[serde(rename = "strategy")]
    name: String,
    #[serde(skip)]
    kind: StrategyKind,
    /// Candidates to draw each step; `None`: as many as the strategy does by itself.
    #[serde(skip)]
    sample: Option<usize>,
    /// Whether every step takes the best of all candidates.
    exact: bool,
    /// Whether it draws at random, so that it depends on the seed.
    random: bool,
}

impl FromStr for Contestant {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let name = text.trim().to_owned();
        let (before, number) = name.split_once(':').unzip();
        let strategy = before.unwrap_or(&name);
        let kind: StrategyKind = strategy.parse().map_err(|error| format!("{error}"))?;
        if number.is_some() && !kind.can_sample() {
            return Err(SelectError::CanNotSample { strategy: kind }.to_string());
        }
        let expected = |_| {
            let found = number.unwrap_or_default();
            format!("expected a number of candidates from 1 on after the colon, found {found:?}")
        };
        let sample = number.map(at_least_one).transpose().map_err(expected)?;
        Ok(Self {
            exact: kind.is_exact() && sample.is_none(),
            random: sample.or(kind.default_sample()).is_some(),
            name,
            kind,
            sample,
        })
    }
}

pub(crate) fn run(args: &CompareArgs, session: &Session<'_>) -> Result<ExitCode> {
    args.check()?;
    let console = session.console;
    let csv = Destination::create(args.csv.as_ref())?;
    let plot = args.plot.create()?;
    let html = Destination::create(args.html.as_ref())?;
    let test = args.test.as_ref();
    let input = Input::read(&args.data, None, &args.teacher, [None, test], session)?;
    input.check_measures(test, &args.metrics, &args.rules, console)?;
    let mut options = SelectionOptions {
        query_weight: args.weight.query_weight,
        scale: args.weight.scale,
        target: args.target.clone(),
        memory: input.others_in(args.data.read.memory()),
        ..SelectionOptions::new(args.k, args.lambda)
    };
    let candidates = options.candidates(&input.train);
    let Some((lambda, _)) = choose_lambda(&candidates, &input, &options, session)? else {
        return Ok(session.without_results());
    };
    options.lambda = lambda.into();
    let data = Sizes::new(&input.train, &candidates.summary());
    drop(candidates);
    let comparison = Comparison::new(args, (&options, lambda), &input, data, session);
    let ran = comparison.ran().count();
    if comparison.interrupted {
        let strategies = counted(ran, "strategy");
        console.warn(format_args!("interrupted after {strategies}"));
        if ran == 0 {
            return Ok(session.without_results());
        }
    } else if ran == 0 {
        let first = comparison.failures().next().unwrap_or_default();
        bail!("no strategy could select: {first}");
    }
    console.warn_all(Warning::of_queries(&input.train));
    for entry in comparison.ran().filter(|entry| entry.steps.len() < args.k) {
        let (name, taken, asked) = (&entry.one.name, entry.steps.len(), args.k);
        let warning = Warning::Exhausted { taken, asked };
        console.warn(format_args!("{name} {warning}"));
    }
    let drawn = plot.write(|| comparison.figure());
    let listed = csv.write(|writer| comparison.write(&input, writer));
    let paged = html.write(|writer| {
        let page = comparison
            .document()
            .page("rankrls compare", &comparison.figure());
        writer.write_all(page.as_bytes())
    });
    let (text, saved) = (
        || comparison.document().text(),
        drawn.and(listed).and(paged),
    );
    session.end(args.json, &comparison, text, saved)
}

impl CompareArgs {
    /// Refuses mistakes that the parser cannot see.
    fn check(&self) -> Result<()> {
        self.data
            .read
            .check([&self.data.path].into_iter().chain(&self.test))?;
        let names: Vec<&str> = self.strategies.iter().map(|one| &*one.name).collect();
        each_once("strategy", &names)?;
        let strategies = self.strategies.iter().map(|one| Some(one.kind));
        let (target, strategies) = (&self.target, strategies.collect::<Vec<_>>());
        self.teacher.check(target, &strategies)?;
        self.rules.check(self.test.is_some(), false)
    }
}

/// A selection, with measures of the test data.
#[derive(Serialize)]
struct Trial<'a> {
    /// Where the strategy draws at random.
    seed: Option<u64>,
    select_seconds: f64,
    /// In order of selection, as the data file counts.
    features: Vec<u64>,
    #[serde(skip)]
    memory: u64,
    #[serde(skip)]
    steps: Vec<Step>,
    #[serde(skip)]
    test: Option<TestPath<'a>>,
}

impl<'a> Trial<'a> {
    /// Selects by a contestant; `None` if somebody interrupts.
    fn new(
        one: &Contestant,
        options: &SelectionOptions,
        args: &CompareArgs,
        input: &'a Input,
        session: &Session<'_>,
    ) -> Result<Option<Self>> {
        let interrupt = session.interrupt;
        if interrupt.code().is_some() {
            return Ok(None);
        }
        let mut tested = Tested::new(input.test_path(&args.metrics, args.rules.rules()));
        let mut watch = Watch::named(session, &one.name);
        let begin = Instant::now();
        let found = interrupt.run(|| options.candidates(&input.train))?;
        let Some(candidates) = found else {
            return Ok(None);
        };
        let memory = plan(&candidates, &input.train, options)?.memory;
        let nothing = Earlier::default();
        let selection = tested.select(input, &candidates, options, nothing, &mut watch)?;
        let select_seconds = begin.elapsed().as_secs_f64() - tested.seconds;
        let Some(selection) = selection.filter(|found| found.ending != Ending::Interrupted) else {
            return Ok(None);
        };
        let base = input.train.index_base();
        let features = selection.features().into_iter();
        Ok(Some(Self {
            seed: one.random.then_some(options.seed()),
            select_seconds,
            features: features.map(|feature| base.written(feature)).collect(),
            memory,
            steps: selection.steps,
            test: tested.path,
        }))
    }

    /// Measures of the test data after a step, counted from 0.
    fn tested(&self, step: usize, metric: usize) -> Option<f64> {
        self.test.as_ref()?.steps()[step][metric]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn contestants_are_read() {
        for (text, random, exact) in [
            ("dense", false, true),
            (" sampled", true, false),
            ("sampled:500", true, false),
            ("lowmem:7", true, false),
            ("backfit", false, false),
        ] {
            let one: Contestant = text.parse().unwrap();
            assert_eq!((one.random, one.exact), (random, exact), "{text}");
        }
        for (text, says) in [
            ("", "expected one of dense"),
            ("sampled:0", "from 1 on"),
            ("sampled:x", "\"x\""),
            ("random:5", "random"),
        ] {
            let error = text.parse::<Contestant>().unwrap_err();
            assert!(error.contains(says), "{text}: {error}");
        }
    }
}
