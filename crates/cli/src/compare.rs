//! `rankrls compare`: selections by several strategies, one after the other, in one table.

use std::fmt::Write as _;
use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;
use std::str::FromStr;
use std::time::Instant;

use anyhow::{Result, bail};
use clap::Args;
use rankrls::greedy::{
    Earlier, Ending, Plan, SelectError, Selection, SelectionOptions, Step, plan,
};
use rankrls::memory::Bytes;
use rankrls::peers::Peers;
use rankrls::plot::{Figure, LinePlot, Series};
use rankrls::{Dataset, Lambda, Ridge, StrategyKind, TestPath, UnknownName};
use serde::Serialize;

use super::args::{self, Measures, RulesArgs, at_least_one, each_once};
use super::console::Console;
use super::data::{Input, Sizes, TestSizes, TrainingData};
use super::figures::PlotArgs;
use super::numbers::{counted, printable, ridge};
use super::output::{Object, by_name};
use super::report::BIASED;
use super::select::{Tested, choose_lambda};
use super::session::Session;
use super::settings::{TargetArgs, TeacherArgs, WeightArgs};
use super::sheet::Sheet;
use super::warnings::warn_of_few_queries;
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
    #[arg(short, value_name = "K", value_parser = at_least_one)]
    k: usize,
    /// Ridge parameter of all strategies, a number or a share as of select; auto: what select takes
    /// with the fastest exact one
    #[arg(long, default_value = "auto", allow_negative_numbers = true)]
    #[arg(value_parser = args::auto_or_ridge)]
    lambda: std::option::Option<Ridge>,
    /// Strategies, separated by commas; NAME:N judges N candidates a step, drawn at random
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    #[arg(
        default_value = "dense,lowmem,bounded,sampled,backfit,distil,univariate,residual,random"
    )]
    strategies: Vec<Contestant>,
    /// Runs of a strategy that draws at random, with the seeds 1, 2 and so on
    #[arg(long, value_name = "N", default_value = "5")]
    #[arg(value_parser = clap::value_parser!(u64).range(1..=1000))]
    seeds: u64,
    #[command(flatten)]
    weight: WeightArgs,
    #[command(flatten)]
    target: TargetArgs,
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
    /// Write all steps of all runs, a line each
    #[arg(long, value_name = "FILE")]
    csv: Option<PathBuf>,
    #[command(flatten)]
    plot: PlotArgs,
    /// Print one JSON document
    #[arg(long)]
    json: bool,
}

/// A strategy, perhaps on a number of candidates that are drawn in every step: `lowmem`,
/// `sampled:500`.
#[derive(Debug, Clone, PartialEq)]
struct Contestant {
    name: String,
    strategy: StrategyKind,
    /// Candidates to draw each step; `None`: as many as the strategy does by itself.
    candidates: Option<usize>,
}

impl FromStr for Contestant {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let name = text.trim().to_owned();
        let (kind, number) = match name.split_once(':') {
            Some((kind, number)) => (kind, Some(number)),
            None => (&*name, None),
        };
        let unknown = |error: UnknownName| error.to_string();
        let strategy: StrategyKind = kind.parse().map_err(unknown)?;
        if number.is_some() && !strategy.can_sample() {
            return Err(SelectError::CanNotSample { strategy }.to_string());
        }
        let expected = |_| {
            let found = number.unwrap_or_default();
            format!("expected a number of candidates from 1 on after the colon, found {found:?}")
        };
        let candidates = number.map(at_least_one).transpose().map_err(expected)?;
        Ok(Self {
            name,
            strategy,
            candidates,
        })
    }
}

impl Contestant {
    /// Whether it draws at random, so that it depends on the seed.
    fn is_random(&self) -> bool {
        self.candidates.or(self.strategy.default_sample()).is_some()
    }

    /// Whether every step takes the best of all candidates.
    fn is_exact(&self) -> bool {
        self.strategy.is_exact() && self.candidates.is_none()
    }
}

pub(crate) fn run(args: &CompareArgs, session: &Session<'_>) -> Result<ExitCode> {
    args.check(&**session.peers)?;
    let console = session.console;
    let csv = session.create(args.csv.as_deref())?;
    let plot = args.plot.create(session)?;
    let test = args.test.as_ref();
    let input = Input::read(&args.data, &args.teacher, [None, test], console)?;
    input.check_measures(test, &args.metrics.0, &args.rules, console)?;
    let mut options = SelectionOptions {
        query_weight: args.weight.query_weight,
        scale: args.weight.scale,
        target: args.target.options(),
        max_memory: args.data.read.budget(),
        ..SelectionOptions::new(args.k, Lambda::ONE)
    };
    let candidates = input.candidates(&options)?;
    options.lambda = if let Some(ridge) = args.lambda {
        ridge.lambda(candidates.unit())
    } else {
        let chosen = choose_lambda(&candidates, &input, &options, session)?;
        let Some(chosen) = chosen else {
            return Ok(session.without_results());
        };
        chosen.lambda
    };
    let job = Job {
        args,
        options,
        input: &input,
        session,
    };
    let comparison = job.compare();
    let ran = comparison.ran().count();
    if comparison.interrupted {
        let ran = counted(ran as u64, "strategy");
        console.warn(format_args!("interrupted after {ran}"));
    } else if ran == 0 {
        bail!(comparison.why_none_ran());
    }
    if ran == 0 {
        return Ok(session.without_results());
    }
    comparison.warn(console);
    let drawn = plot.map_or(Ok(()), |plot| plot.write(comparison.figure()));
    let listed = csv.map_or(Ok(()), |file| file.write(|writer| comparison.write(writer)));
    session.end(
        args.json,
        &comparison,
        || comparison.text(),
        drawn.and(listed),
    )
}

impl CompareArgs {
    /// Refuses mistakes that the parser cannot see.
    fn check(&self, peers: &dyn Peers) -> Result<()> {
        self.data.read.check(1 + usize::from(self.test.is_some()))?;
        let names: Vec<&str> = self.strategies.iter().map(|one| &*one.name).collect();
        each_once("strategy", &names)?;
        let strategies = self.strategies.iter().map(|one| Some(one.strategy));
        let strategies: Vec<_> = strategies.collect();
        let target = self.target.options();
        self.teacher.check(&target, &strategies, peers)?;
        self.rules.check(self.test.is_some(), false)?;
        self.plot.check()
    }
}

/// A comparison about to be made.
struct Job<'a> {
    args: &'a CompareArgs,
    options: SelectionOptions,
    input: &'a Input,
    session: &'a Session<'a>,
}

/// A selection.
#[derive(Serialize)]
struct Run<'a> {
    /// Where the strategy draws at random.
    seed: Option<u64>,
    select_seconds: f64,
    /// In order of selection, as the data file counts.
    features: Vec<u64>,
    #[serde(skip)]
    plan: Plan,
    #[serde(skip)]
    steps: Vec<Step>,
    #[serde(skip)]
    test: Option<TestPath<'a>>,
}

impl<'a> Job<'a> {
    /// Selects by all, until somebody interrupts.
    fn compare(&self) -> Comparison<'a> {
        let seeds = |one: &Contestant| if one.is_random() { self.args.seeds } else { 1 };
        let runs = self.args.strategies.iter().map(|one| {
            let runs = (1..=seeds(one)).map(|seed| self.select(one, seed).transpose());
            runs.map_while(|run| run).collect()
        });
        Comparison::new(self, runs.collect())
    }

    /// Selects by a contestant; `None` if somebody interrupts.
    fn select(&self, contestant: &Contestant, seed: u64) -> Result<Option<Run<'a>>> {
        if self.session.interrupt.code().is_some() {
            return Ok(None);
        }
        let options = SelectionOptions {
            strategy: Some(contestant.strategy),
            sample: contestant.candidates,
            seed,
            ..self.options
        };
        let (args, input) = (self.args, self.input);
        let mut tested = Tested::new(input.test_path(&args.metrics.0, args.rules.rules()));
        let mut watch = Watch::named(self.session, &contestant.name);
        let begin = Instant::now();
        let found = self.session.interrupt.run(|| input.candidates(&options))?;
        let Some(candidates) = found.transpose()? else {
            return Ok(None);
        };
        let plan = plan(&candidates, input.memory(), &options)?;
        let nothing = Earlier::default();
        let selection = tested.select(input, &candidates, &options, nothing, &mut watch)?;
        let seconds = begin.elapsed().as_secs_f64() - tested.seconds;
        let whole = |selection: &Selection| selection.ending != Ending::Interrupted;
        let Some(selection) = selection.filter(whole) else {
            return Ok(None);
        };
        let base = input.train.index_base();
        let features = selection.features().into_iter();
        Ok(Some(Run {
            seed: contestant.is_random().then_some(seed),
            select_seconds: seconds,
            features: features.map(|feature| base.written(feature)).collect(),
            plan,
            steps: selection.steps,
            test: tested.path,
        }))
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
    /// `None` if nothing was selected.
    data: Option<Sizes>,
    test: Option<TestSizes>,
    load_seconds: f64,
    /// The exact strategy that the others are compared with: the first that ran.
    reference: Option<&'a str>,
    strategies: Vec<Entry<'a>>,
    #[serde(skip)]
    train: &'a Dataset<'a>,
}

/// A strategy: means over its runs, or why there are none.
#[derive(Serialize)]
struct Entry<'a> {
    strategy: &'a str,
    exact: bool,
    random: bool,
    #[serde(skip)]
    distils: bool,
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
    steps: Vec<StepEntry>,
    runs: Vec<Run<'a>>,
}

#[derive(Serialize)]
struct StepEntry {
    step: usize,
    lqo_error: Option<Spread>,
    lqo_cindex: Option<Spread>,
    evaluated: Option<Spread>,
    test: Object<Option<Spread>>,
}

impl<'a> Comparison<'a> {
    fn new(job: &Job<'a>, outcomes: Vec<Result<Vec<Run<'a>>>>) -> Self {
        let (args, test) = (job.args, job.input.test.as_ref());
        let metrics = test.iter().flat_map(|_| &args.metrics.0);
        let metrics: Vec<String> = metrics.map(ToString::to_string).collect();
        let first = |(one, outcome): (&'a Contestant, &Result<Vec<Run<'a>>>)| {
            let features = outcome.as_ref().ok()?.first()?.features.clone();
            one.is_exact().then_some((&*one.name, features))
        };
        let reference = args.strategies.iter().zip(&outcomes).find_map(first);
        let (reference, features) = reference.unzip();
        let entries = args.strategies.iter().zip(outcomes);
        let entries =
            entries.map(|(one, runs)| Entry::new(one, runs, &metrics, features.as_deref()));
        let strategies: Vec<Entry<'_>> = entries.collect();
        let first = strategies.iter().find_map(|entry| entry.runs.first());
        Self {
            schema: "rankrls.comparison/1",
            version: env!("CARGO_PKG_VERSION"),
            interrupted: job.session.interrupt.code().is_some(),
            file: args.data.path.to_string_lossy().into(),
            test_file: args.test.as_ref().map(|path| path.to_string_lossy().into()),
            lambda: job.options.lambda.value(),
            k: args.k,
            seeds: args.seeds,
            metrics,
            data: first.map(|run| Sizes::new(&job.input.train, &run.plan.summary)),
            test: test.map(|test| TestSizes::new(test, &args.metrics.0, &args.rules.rules())),
            load_seconds: job.input.seconds,
            reference,
            strategies,
            train: &job.input.train,
        }
    }

    /// The strategies that selected.
    fn ran(&self) -> impl Iterator<Item = &Entry<'a>> {
        self.strategies.iter().filter(|entry| entry.error.is_none())
    }

    /// The reason that all have, or the reason of each.
    fn why_none_ran(&self) -> String {
        let errors = self
            .strategies
            .iter()
            .filter_map(|entry| entry.error.as_ref());
        let mut errors: Vec<&String> = errors.collect();
        errors.dedup();
        match errors[..] {
            [error] if self.strategies[0].needs_bytes.is_none() => error.clone(),
            _ => {
                let failures: Vec<String> = self.strategies.iter().map(Entry::failure).collect();
                format!("no strategy could select: {}", failures.join("; "))
            }
        }
    }

    fn warn(&self, console: Console) {
        warn_of_few_queries(self.train.queries().len(), console);
        for entry in self.ran().filter(|entry| entry.steps.len() < self.k) {
            let (name, taken, asked) = (entry.strategy, entry.steps.len(), self.k);
            console.warn(format_args!(
                "{name} selected {taken} features, not {asked}: there are no more column classes"
            ));
        }
    }

    /// Titles of the figures of merit, as [`StepEntry::merits`] has them.
    fn merits(&self) -> Vec<String> {
        let lqo = ["LQO error", "LQO cindex"].map(str::to_owned);
        let test = self.metrics.iter().map(|metric| format!("test {metric}"));
        lqo.into_iter().chain(test).collect()
    }

    fn text(&self) -> String {
        let unit = self.data.map_or(f64::NAN, |data| data.unit);
        let (k, lambda) = (self.k, ridge(self.lambda, unit));
        let mut text = format!("{}: {k} features, lambda {lambda}\n", printable(&self.file));
        text += &self.data.map_or_else(String::new, |data| data.lines());
        if let (Some(file), Some(test)) = (&self.test_file, &self.test) {
            let (file, rules) = (printable(file), test.rules.text());
            let sizes = [counted(test.rows, "row"), counted(test.queries, "query")].join(", ");
            let _ = writeln!(text, "test data: {file}, {sizes}, {rules}");
        }
        if self.strategies.iter().any(|entry| entry.runs.len() > 1) {
            text += "means of several runs, ± their standard deviation\n";
        }
        let _ = writeln!(text, "\n{}", self.table());
        if self.ran().any(|entry| entry.distils) {
            text += BIASED;
        }
        let failed = self.strategies.iter().filter(|entry| entry.error.is_some());
        for failure in failed.map(Entry::failure) {
            let _ = writeln!(text, "{}", printable(&failure));
        }
        text
    }

    /// A line a strategy, as far as it ran.
    fn table(&self) -> String {
        let count = |value: Spread| format!("{:.0}", value.mean);
        let percent = |share: Spread| format!("{:.0}%", 100.0 * share.mean);
        Sheet::of(&self.strategies)
            .words("strategy", |entry| entry.strategy)
            .number("exact", |entry| entry.exact)
            .measure("seconds", |entry| Some(entry.select_seconds?.mean))
            .number("memory", |entry| match entry.needs_bytes {
                Some(_) => Some("does not fit".to_owned()),
                None => Some(Bytes(entry.memory_bytes?).to_string()),
            })
            .number("evaluated", |entry| entry.evaluated.map(count))
            .number("overlap", |entry| entry.overlap.map(percent))
            .measures(self.merits(), |entry, merit| {
                let value = entry.steps.last()?.merits()[merit]?;
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
        let series = |entry: &Entry<'_>, merit: usize| {
            let steps = entry.steps.iter();
            let values = steps.map(|step| (step.step as f64, step.merits()[merit]));
            let mean = |value: Option<Spread>| Some(value?.mean);
            let means = values.clone().map(|(x, value)| (x, mean(value)));
            let bands = values.filter(|_| entry.runs.len() > 1);
            let bands = bands.filter_map(|(x, value)| Some((x, value?.least, value?.largest)));
            let mut series = Series::new(entry.strategy, means).band(bands);
            series.emphasis = entry.exact;
            series
        };
        let panels = self.merits().into_iter().enumerate().map(|(merit, title)| {
            // Errors of distil are in units of other labels.
            let comparable = self.ran().filter(|entry| merit > 0 || !entry.distils);
            let lines = comparable.map(|entry| series(entry, merit));
            lines.fold(LinePlot::new("features", title), LinePlot::series)
        });
        let figure = Figure::new(format!("Strategies on {}", self.file));
        panels.fold(figure, Figure::lines)
    }

    /// A line a step as CSV; one with an error and no step for a strategy that did not run.
    fn write(&self, writer: &mut dyn Write) -> io::Result<()> {
        let mut lines = Vec::new();
        for entry in &self.strategies {
            let line = |run, place| Line { entry, run, place };
            lines.extend(entry.error.is_some().then(|| line(None, None)));
            for run in &entry.runs {
                let places = (0..run.steps.len()).map(Some);
                lines.extend(places.map(|place| line(Some(run), place)));
            }
        }
        let tests = self.metrics.iter().map(|metric| format!("test {metric}"));
        Sheet::of(&lines)
            .words("strategy", |line| line.entry.strategy)
            .words("exact", |line| line.entry.exact)
            .words("error", |line| line.entry.error.as_deref())
            .number("seed", |line| line.run?.seed)
            .number("select seconds", |line| Some(line.run?.select_seconds))
            .number("memory bytes", |line| Some(line.run?.plan.memory))
            .number("step", |line| Some(line.place? + 1))
            .number("feature", |line| Some(line.run?.features[line.place?]))
            .words("name", |line| self.train.name_of(line.step()?.feature))
            .number("LQO error", |line| Some(line.step()?.lqo_error))
            .measure("LQO cindex", |line| line.step()?.lqo_cindex)
            .number("evaluated", |line| Some(line.step()?.evaluated))
            .measures(tests, |line, metric| {
                line.run?.test.as_ref()?.steps()[line.place?][metric]
            })
            .csv(writer)
    }
}

/// A line of CSV: a step, or a strategy that did not run.
struct Line<'a> {
    entry: &'a Entry<'a>,
    run: Option<&'a Run<'a>>,
    place: Option<usize>,
}

impl<'a> Line<'a> {
    fn step(&self) -> Option<&'a Step> {
        Some(&self.run?.steps[self.place?])
    }
}

impl<'a> Entry<'a> {
    fn new(
        one: &'a Contestant,
        outcome: Result<Vec<Run<'a>>>,
        metrics: &[String],
        reference: Option<&[u64]>,
    ) -> Self {
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
        let of = |value: &dyn Fn(&Run<'_>) -> Option<f64>| Spread::of(runs.iter().map(value));
        let evaluated = |run: &Run<'_>| {
            let steps = run.steps.iter();
            Some(steps.map(|step| step.evaluated as f64).sum())
        };
        let overlap = |run: &Run<'_>| {
            let (features, reference) = (&run.features, reference?);
            let both = features
                .iter()
                .filter(|feature| reference.contains(feature));
            Some(both.count() as f64 / features.len() as f64)
        };
        let shortest = runs.iter().map(|run| run.steps.len()).min().unwrap_or(0);
        Self {
            strategy: &one.name,
            exact: one.is_exact(),
            random: one.is_random(),
            distils: one.strategy.distils(),
            error,
            needs_bytes: too_large.map(|(needs, _)| needs),
            limit_bytes: too_large.map(|(_, limit)| limit),
            memory_bytes: runs.iter().map(|run| run.plan.memory).max(),
            select_seconds: of(&|run| Some(run.select_seconds)),
            evaluated: of(&evaluated),
            overlap: of(&overlap),
            steps: (0..shortest)
                .map(|index| StepEntry::new(&runs, index, metrics))
                .collect(),
            runs,
        }
    }

    fn failure(&self) -> String {
        let (name, error) = (self.strategy, self.error.as_deref().unwrap_or_default());
        match (self.needs_bytes.map(Bytes), self.limit_bytes.map(Bytes)) {
            (Some(needs), Some(limit)) => {
                format!("{name} {error}: it needs {needs} with the data, {limit} may be taken")
            }
            _ => format!("{name} did not run: {error}"),
        }
    }
}

impl StepEntry {
    fn new(runs: &[Run<'_>], index: usize, metrics: &[String]) -> Self {
        let of = |value: &dyn Fn(&Run<'_>) -> Option<f64>| Spread::of(runs.iter().map(value));
        let measure = |number: usize| of(&|run| run.test.as_ref()?.steps()[index][number]);
        Self {
            step: index + 1,
            lqo_error: of(&|run| Some(run.steps[index].lqo_error)),
            lqo_cindex: of(&|run| run.steps[index].lqo_cindex),
            evaluated: of(&|run| Some(run.steps[index].evaluated as f64)),
            test: by_name(metrics, (0..).map(measure)),
        }
    }

    /// The figures of merit.
    fn merits(&self) -> Vec<Option<Spread>> {
        let test = self.test.0.iter().map(|(_, value)| *value);
        [self.lqo_error, self.lqo_cindex]
            .into_iter()
            .chain(test)
            .collect()
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
    /// Of values that all have to be there; `None` if there are none.
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
            assert_eq!((one.is_random(), one.is_exact()), (random, exact), "{text}");
        }
        for (text, says) in [
            ("", "expected one of dense"),
            ("best", "\"best\""),
            ("sampled:0", "from 1 on"),
            ("sampled:x", "\"x\""),
            ("dense:5", "dense"),
            ("random:5", "random"),
        ] {
            let error = text.parse::<Contestant>().unwrap_err();
            assert!(error.contains(says), "{text}: {error}");
        }
    }

    #[test]
    fn means_and_deviations() {
        let spread = Spread::of([1.0, 2.0, 6.0].map(Some)).unwrap();
        assert_eq!((spread.mean, spread.least, spread.largest), (3.0, 1.0, 6.0));
        assert_eq!(spread.deviation, 7.0_f64.sqrt());
        for equal in [&[Some(0.1); 1][..], &[Some(0.1); 7]] {
            let spread = Spread::of(equal.iter().copied()).unwrap();
            assert_eq!((spread.mean, spread.deviation), (0.1, 0.0));
        }
        assert_eq!(Spread::of([]), None);
        assert_eq!(Spread::of([Some(1.0), None]), None);
    }
}
