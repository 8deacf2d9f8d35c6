//! `rankrls compare`: selections by several strategies, one after the other, in one table.

use std::fmt::Write as _;
use std::io::{self, Write};
use std::process::ExitCode;
use std::str::FromStr;
use std::time::Instant;

use anyhow::{Result, bail};
use clap::Args;
use rankrls::greedy::job::{Earlier, TestPath, plan};
use rankrls::greedy::{Ending, SelectError, SelectionOptions, Step, TargetOptions};
use rankrls::memory::Bytes;
use rankrls::metrics::{Metric, parse_list};
use rankrls::warning::Warning;
use rankrls::{Lambda, Ridge, StrategyKind};
use rankrls_plot::{Figure, LinePlot, Series};
use serde::Serialize;

use super::args::{self, RulesArgs, at_least_one, each_once};
use super::data::{Input, Sizes, TestSizes, TrainingData};
use super::figures::{PlotArgs, page};
use super::files::{DataPath, OutPath};
use super::numbers::{counted, printable, ridge};
use super::output::{Object, by_name};
use super::report::BIASED;
use super::select::{Tested, choose_lambda};
use super::session::Session;
use super::settings::{TeacherArgs, WeightArgs};
use super::sheet::Sheet;
use super::watch::Watch;

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
    args.check(session)?;
    let console = session.console;
    let csv = session.create(args.csv.as_ref())?;
    let plot = args.plot.create(session)?;
    let html = session.create(args.html.as_ref())?;
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
    let candidates = input.candidates(&options)?;
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
        let page = page("rankrls compare", comparison.figure(), &comparison.text());
        writer.write_all(page.as_bytes())
    });
    let (text, saved) = (|| comparison.text(), drawn.and(listed).and(paged));
    session.end(args.json, &comparison, text, saved)
}

impl CompareArgs {
    /// Refuses mistakes that the parser cannot see.
    fn check(&self, session: &Session<'_>) -> Result<()> {
        self.data
            .read
            .check([&self.data.path].into_iter().chain(&self.test))?;
        let names: Vec<&str> = self.strategies.iter().map(|one| &*one.name).collect();
        each_once("strategy", &names)?;
        let strategies = self.strategies.iter().map(|one| Some(one.kind));
        let (target, strategies) = (&self.target, strategies.collect::<Vec<_>>());
        self.teacher.check(target, &strategies, &**session.peers)?;
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
        let found = interrupt.run(|| input.candidates(options))?;
        let Some(candidates) = found.transpose()? else {
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

/// Strategies beside each other, in the schema `rankrls.comparison/1`.
#[derive(Serialize)]
struct Comparison<'a> {
    schema: &'static str,
    version: &'static str,
    interrupted: bool,
    file: String,
    test_file: Option<String>,
    lambda: f64,
    k: usize,
    seeds: u64,
    metrics: Vec<String>,
    data: Sizes,
    test: Option<TestSizes>,
    load_seconds: f64,
    /// The exact strategy that the others are compared with: the first that ran.
    reference: Option<&'a str>,
    strategies: Vec<StrategyReport<'a>>,
}

/// A strategy: means over its runs, or why there are none.
#[derive(Serialize)]
struct StrategyReport<'a> {
    #[serde(flatten)]
    one: &'a Contestant,
    error: Option<String>,
    /// Bytes that it would take with the data, and those that it may, if it does not fit.
    needs_bytes: Option<u64>,
    limit_bytes: Option<u64>,
    /// Bytes that it takes besides data and column classes, as planned.
    memory_bytes: Option<u64>,
    select_seconds: Option<Spread>,
    /// Candidates evaluated exactly, over all steps.
    evaluated: Option<Spread>,
    /// Share of its features that the reference has too.
    overlap: Option<Spread>,
    /// After each step that all runs took.
    steps: Vec<Means>,
    runs: Vec<Trial<'a>>,
}

#[derive(Serialize)]
struct Means {
    step: usize,
    lqo_error: Option<Spread>,
    lqo_cindex: Option<Spread>,
    evaluated: Option<Spread>,
    test: Object<Option<Spread>>,
}

impl Means {
    /// Means of the column of [`Comparison::merits`] with this number.
    fn merit(&self, number: usize) -> Option<Spread> {
        match number {
            0 => self.lqo_error,
            1 => self.lqo_cindex,
            _ => self.test.0[number - 2].1,
        }
    }
}

impl<'a> Comparison<'a> {
    /// Selects by all, until somebody interrupts.
    fn new(
        args: &'a CompareArgs,
        (options, lambda): (&SelectionOptions, Lambda),
        input: &'a Input,
        data: Sizes,
        session: &Session<'_>,
    ) -> Self {
        let test = input.test.as_ref();
        let measured = test.iter().flat_map(|_| &args.metrics);
        let metrics: Vec<String> = measured.map(ToString::to_string).collect();
        let entry = |one: &'a Contestant| {
            let seeds = if one.random { args.seeds } else { 1 };
            let options = |seed| SelectionOptions {
                strategy: Some(one.kind),
                sample: one.sample,
                seed: Some(seed),
                ..options.clone()
            };
            let run = |seed| Trial::new(one, &options(seed), args, input, session).transpose();
            StrategyReport::new(one, (1..=seeds).map_while(run).collect(), &metrics)
        };
        let mut strategies: Vec<StrategyReport<'a>> = args.strategies.iter().map(entry).collect();
        let exact = strategies
            .iter()
            .find(|entry| entry.one.exact && entry.error.is_none());
        let features = exact.map(|entry| entry.runs[0].features.clone());
        let reference = exact.map(|entry| &*entry.one.name);
        if let Some(features) = features {
            for entry in &mut strategies {
                let overlap = |run: &Trial<'_>| {
                    let own = run.features.iter();
                    let both = own.filter(|feature| features.contains(feature)).count();
                    Some(both as f64 / run.features.len() as f64)
                };
                entry.overlap = Spread::of(entry.runs.iter().map(overlap));
            }
        }
        Self {
            schema: "rankrls.comparison/1",
            version: env!("CARGO_PKG_VERSION"),
            interrupted: session.interrupt.code().is_some(),
            file: args.data.path.to_string_lossy().into(),
            test_file: args.test.as_ref().map(|path| path.to_string_lossy().into()),
            lambda: lambda.value(),
            k: args.k,
            seeds: args.seeds,
            metrics,
            data,
            test: test.map(|test| TestSizes::new(test, &args.metrics, &args.rules.rules())),
            load_seconds: input.seconds,
            reference,
            strategies,
        }
    }

    /// The strategies that selected.
    fn ran(&self) -> impl Iterator<Item = &StrategyReport<'a>> {
        self.strategies.iter().filter(|entry| entry.error.is_none())
    }

    /// The reasons of the strategies that did not run.
    fn failures(&self) -> impl Iterator<Item = String> {
        self.strategies.iter().filter_map(StrategyReport::failure)
    }

    /// Titles of the figures of merit.
    fn merits(&self) -> Vec<String> {
        let lqo = ["LQO error", "LQO cindex"].map(str::to_owned);
        let test = self.metrics.iter().map(|metric| format!("test {metric}"));
        lqo.into_iter().chain(test).collect()
    }

    fn text(&self) -> String {
        let (k, lambda) = (self.k, ridge(self.lambda, self.data.unit));
        let (file, data) = (printable(&self.file), self.data.lines());
        let mut text = format!("{file}: {k} features, lambda {lambda}\n{data}");
        if let (Some(path), Some(test)) = (&self.test_file, &self.test) {
            let (file, rules) = (printable(path), test.rules.text());
            let sizes = [counted(test.rows, "row"), counted(test.queries, "query")].join(", ");
            let _ = writeln!(text, "test data: {file}, {sizes}, {rules}");
        }
        if self.strategies.iter().any(|entry| entry.runs.len() > 1) {
            text += "means of several runs, ± their standard deviation\n";
        }
        let _ = writeln!(text, "\n{}", self.table());
        if self.ran().any(|entry| entry.one.kind.distils()) {
            text += BIASED;
        }
        for failure in self.failures() {
            let _ = writeln!(text, "{}", printable(&failure));
        }
        text
    }

    /// A line a strategy, as far as it ran.
    fn table(&self) -> String {
        let count = |value: Spread| format!("{:.0}", value.mean);
        let percent = |share: Spread| format!("{:.0}%", 100.0 * share.mean);
        Sheet::of(&self.strategies)
            .words("strategy", |entry| &*entry.one.name)
            .number("exact", |entry| entry.one.exact)
            .measure("seconds", |entry| Some(entry.select_seconds?.mean))
            .number("memory", |entry| match entry.needs_bytes {
                Some(_) => Some("does not fit".to_owned()),
                None => Some(Bytes(entry.memory_bytes?).to_string()),
            })
            .number("evaluated", |entry| entry.evaluated.map(count))
            .number("overlap", |entry| entry.overlap.map(percent))
            .measures(self.merits(), |entry, merit| {
                let value = entry.steps.last()?.merit(merit)?;
                Some(match entry.runs.len() {
                    1 => format!("{:.4}", value.mean),
                    _ => format!("{:.4} ±{:.4}", value.mean, value.deviation),
                })
            })
            .text()
    }

    /// Figures of merit against the number of features: means, and bands from the least value of
    /// several seeds to the largest.
    fn figure(&self) -> Figure {
        let series = |entry: &StrategyReport<'_>, merit: usize| {
            let steps = entry.steps.iter();
            let values = steps.map(|step| (step.step as f64, step.merit(merit)));
            let means = values
                .clone()
                .map(|(x, value)| (x, value.map(|value| value.mean)));
            let several = values.filter(|_| entry.runs.len() > 1);
            let bands = several.filter_map(|(x, value)| Some((x, value?.least, value?.largest)));
            let mut line = Series::new(&entry.one.name, means).band(bands);
            line.emphasis = entry.one.exact;
            line
        };
        let panels = self.merits().into_iter().enumerate().map(|(merit, title)| {
            // Errors of distil are in units of other labels.
            let comparable = self
                .ran()
                .filter(|entry| merit > 0 || !entry.one.kind.distils());
            let lines = comparable.map(|entry| series(entry, merit));
            lines.fold(LinePlot::new("features", title), LinePlot::series)
        });
        let figure = Figure::new(format!("Strategies on {}", self.file));
        panels.fold(figure, Figure::lines)
    }

    /// A line a step as CSV; one with an error and no step for a strategy that did not run.
    fn write(&self, input: &Input, writer: &mut dyn Write) -> io::Result<()> {
        let mut lines = Vec::new();
        for entry in &self.strategies {
            if entry.error.is_some() {
                lines.push((entry, None));
            }
            for run in &entry.runs {
                let steps = run.steps.iter().enumerate();
                lines.extend(steps.map(|(place, step)| (entry, Some((run, place, step)))));
            }
        }
        let tests = self.metrics.iter().map(|metric| format!("test {metric}"));
        Sheet::of(&lines)
            .words("strategy", |(entry, _)| &*entry.one.name)
            .words("exact", |(entry, _)| entry.one.exact)
            .words("error", |(entry, _)| entry.error.as_deref())
            .number("seed", |&(_, run)| run?.0.seed)
            .number("select seconds", |&(_, run)| Some(run?.0.select_seconds))
            .number("memory bytes", |&(_, run)| Some(run?.0.memory))
            .number("step", |&(_, run)| Some(run?.1 + 1))
            .number("feature", |&(_, run)| {
                run.map(|(run, place, _)| run.features[place])
            })
            .words("name", |&(_, run)| input.train.name_of(run?.2.feature))
            .number("LQO error", |&(_, run)| Some(run?.2.lqo_error))
            .measure("LQO cindex", |&(_, run)| run?.2.lqo_cindex)
            .number("evaluated", |&(_, run)| Some(run?.2.evaluated))
            .measures(tests, |&(_, run), metric| run?.0.tested(run?.1, metric))
            .csv(writer)
    }
}

impl<'a> StrategyReport<'a> {
    /// The runs of a strategy, not yet compared with others.
    fn new(one: &'a Contestant, outcome: Result<Vec<Trial<'a>>>, metrics: &[String]) -> Self {
        let mut too_large = None;
        let (runs, error) = match outcome {
            Ok(runs) if runs.is_empty() => (runs, Some("interrupted".to_owned())),
            Ok(runs) => (runs, None),
            Err(error) => {
                let mut text = format!("{error:#}");
                if let Some(SelectError::Memory { needed, limit, .. }) = error.downcast_ref() {
                    too_large = Some((*needed, *limit));
                    "does not fit into memory".clone_into(&mut text);
                }
                (Vec::new(), Some(text))
            }
        };
        let (needs_bytes, limit_bytes) = too_large.unzip();
        let of = |value: &dyn Fn(&Trial<'_>) -> Option<f64>| Spread::of(runs.iter().map(value));
        let evaluated = |run: &Trial<'_>| run.steps.iter().map(|step| step.evaluated as f64).sum();
        let means = |index: usize| Means {
            step: index + 1,
            lqo_error: of(&|run| Some(run.steps[index].lqo_error)),
            lqo_cindex: of(&|run| run.steps[index].lqo_cindex),
            evaluated: of(&|run| Some(run.steps[index].evaluated as f64)),
            test: by_name(
                metrics,
                (0..).map(|metric| of(&|run| run.tested(index, metric))),
            ),
        };
        let shortest = runs.iter().map(|run| run.steps.len()).min().unwrap_or(0);
        Self {
            one,
            error,
            needs_bytes,
            limit_bytes,
            memory_bytes: runs.iter().map(|run| run.memory).max(),
            select_seconds: of(&|run| Some(run.select_seconds)),
            evaluated: of(&|run| Some(evaluated(run))),
            overlap: None,
            steps: (0..shortest).map(means).collect(),
            runs,
        }
    }

    /// The reason why it did not run.
    fn failure(&self) -> Option<String> {
        let (name, error) = (&self.one.name, self.error.as_ref()?);
        Some(
            match (self.needs_bytes.map(Bytes), self.limit_bytes.map(Bytes)) {
                (Some(needs), Some(limit)) => {
                    format!("{name} {error}: it needs {needs} with the data, {limit} may be taken")
                }
                _ => format!("{name} did not run: {error}"),
            },
        )
    }
}

/// Mean and spread of some values.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
struct Spread {
    mean: f64,
    /// Standard deviation of the sample; 0 for one value.
    deviation: f64,
    least: f64,
    largest: f64,
}

impl Spread {
    /// The values, all of which have to be there; `None` if there are none.
    fn of(values: impl IntoIterator<Item = Option<f64>>) -> Option<Self> {
        let values: Vec<f64> = values.into_iter().collect::<Option<_>>()?;
        let first = *values.first()?;
        let count = values.len() as f64;
        // Around the first, so that equal values have themselves for their mean.
        let mean = first + values.iter().map(|value| value - first).sum::<f64>() / count;
        let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
        Some(Self {
            mean,
            deviation: (squares / (count - 1.0).max(1.0)).sqrt(),
            least: values.iter().copied().fold(first, f64::min),
            largest: values.iter().copied().fold(first, f64::max),
        })
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

    #[test]
    fn means_and_deviations() {
        let of = |values: &[f64]| Spread::of(values.iter().copied().map(Some));
        let [mean, least, largest] = [3.0, 1.0, 6.0];
        let deviation = 7.0_f64.sqrt();
        let spread = Spread {
            mean,
            deviation,
            least,
            largest,
        };
        assert_eq!(of(&[1.0, 2.0, 6.0]), Some(spread));
        for equal in [&[0.1; 1][..], &[0.1; 7]] {
            let spread = of(equal).unwrap();
            assert_eq!((spread.mean, spread.deviation), (0.1, 0.0));
        }
        assert_eq!(of(&[]), None);
        assert_eq!(Spread::of([Some(1.0), None]), None);
    }
}
