//! `rankrls compare`: a selection by each strategy, one after the other, in one table.

use std::fmt::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;
use std::str::FromStr;
use std::time::Instant;

use anyhow::{Result, bail};
use clap::Args;
use rankrls::data::LabelScale;
use rankrls::greedy::job::{Named, TestPath, plan};
use rankrls::greedy::{Choice, Ending, GreedyRankRls};
use rankrls::memory::Bytes;
use rankrls::metrics::{Metric, Paired, PairedOptions, Score, parse_list};
use rankrls::warning::Warning;
use rankrls::{Ridge, Step, StrategyKind};
use serde::Serialize;

use crate::args::{self, ConventionArgs, at_least_one, each_once};
use crate::choosing::{self, choose};
use crate::data::{Input, TrainingData};
use crate::numbers::{counted, printable, ridge};
use crate::report::BIASED;
use crate::select::Tested;
use crate::session::Session;
use crate::settings::{LabelArgs, TeacherArgs, WeightArgs};
use crate::sheet::Sheet;
use crate::sizes::{Sizes, TestSizes, lines};
use crate::watch::Watch;

/// All strategies except `fs-ed`, which needs grades.
const ALL: &str = "dense,lowmem,bounded,sampled,backfit,distil,univariate,residual,random";

/// Compare strategies: time, memory, errors, and the features they share
///
/// Selects by each strategy, one after the other. A strategy that cannot select, such as one that does
/// not fit into memory, is a row without figures, and the reason stands below. Times are of finding
/// column classes and selecting, without reading the data and measuring test data. Test measures have
/// standard errors over queries, and the difference to the first strategy, query by query, with its own.
/// Errors stand beside each other only where strategies learn labels on one scale.
#[derive(Debug, Args)]
#[command(next_help_heading = "Selection")]
#[command(after_help = "\
Examples:
  rankrls compare @sentences -k 10 --test @sentences-test
  rankrls compare train.svm -k 20 --lambda 16 --strategy bounded,backfit,sampled:500
  rankrls compare train.svm -k 20 --lambda 16 --strategy sampled,random --seed 2 --json")]
pub(crate) struct CompareArgs {
    /// Features to select
    #[arg(short, value_name = "K", value_parser = at_least_one)]
    k: usize,
    /// Ridge parameter of all strategies, a number or a share as of select; auto: folds choose it, and the scales of
    /// columns and labels that are not given, once, as select does with the fastest exact strategy
    #[arg(long, default_value = "auto")]
    #[arg(value_parser = args::auto_or_ridge)]
    lambda: std::option::Option<Ridge>,
    /// Strategies, separated by commas; NAME:N judges N candidates a step, drawn at random
    #[arg(long = "strategy", value_name = "LIST", value_delimiter = ',', default_value = ALL)]
    strategies: Vec<Contestant>,
    /// Seed of the strategies that draw at random
    #[arg(long, default_value_t = 1)]
    seed: u64,
    #[command(flatten)]
    weight: WeightArgs,
    #[command(flatten)]
    labels: LabelArgs,
    #[command(flatten)]
    teacher: TeacherArgs,
    #[command(flatten)]
    data: TrainingData,
    /// Measure this data after every step; @sentences-test goes with @sentences
    #[arg(help_heading = "Measures", long, value_name = "DATA")]
    test: Option<PathBuf>,
    #[arg(
        long,
        value_name = "LIST",
        requires = "test",
        default_value = "cindex,ndcg@10"
    )]
    #[arg(help_heading = "Measures", help = args::measures_help(), value_parser = parse_list)]
    metrics: std::vec::Vec<Metric>,
    #[command(flatten)]
    convention: ConventionArgs,
    /// Print one JSON document
    #[arg(help_heading = "Output", long)]
    json: bool,
}

/// A strategy, perhaps on a number of candidates drawn in every step: `lowmem`, `sampled:500`.
#[derive(Debug, Clone, Serialize)]
struct Contestant {
    #[serde(rename = "strategy")]
    name: String,
    #[serde(skip)]
    kind: StrategyKind,
    /// Candidates to draw each step; `None`: the strategy's own number.
    #[serde(skip)]
    sample: Option<usize>,
    /// Whether every step takes the best of all candidates.
    exact: bool,
}

impl FromStr for Contestant {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let name = text.trim().to_owned();
        let (before, number) = name.split_once(':').unzip();
        let strategy = before.unwrap_or(&name);
        let kind: StrategyKind = strategy.parse().map_err(|error| format!("{error}"))?;
        if number.is_some() && !kind.can_sample() {
            let asked = GreedyRankRls {
                strategy: kind,
                sample: Some(1),
                ..GreedyRankRls::default()
            };
            asked.check_strategy().map_err(|error| error.to_string())?;
        }
        let expected = |_| {
            let found = number.unwrap_or_default();
            format!("expected a number of candidates from 1 on after the colon, found {found:?}")
        };
        let sample = number.map(at_least_one).transpose().map_err(expected)?;
        Ok(Self {
            exact: kind.is_exact() && sample.is_none(),
            name,
            kind,
            sample,
        })
    }
}

/// Strategies side by side, in the schema `rankrls.comparison/1`.
#[derive(Serialize)]
struct Comparison<'a> {
    schema: &'static str,
    version: &'static str,
    interrupted: bool,
    file: String,
    test_file: Option<String>,
    lambda: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    choice: Option<Choice>,
    k: usize,
    seed: u64,
    metrics: Vec<String>,
    data: Sizes,
    test: Option<TestSizes>,
    load_seconds: f64,
    /// The exact strategy whose features the others share: the first that ran.
    reference: Option<&'a str>,
    /// The strategy whose test measures are subtracted: the first that ran.
    paired_with: Option<&'a str>,
    strategies: Vec<Row<'a>>,
}

/// A strategy with its results, or with the reason for none.
#[derive(Serialize)]
struct Row<'a> {
    #[serde(flatten)]
    one: &'a Contestant,
    error: Option<String>,
    #[serde(flatten)]
    found: Found<'a>,
}

#[derive(Default, Serialize)]
struct Found<'a> {
    /// The scale of the labels that it learnt from: errors are in units of such labels.
    label_scale: Option<LabelScale>,
    select_seconds: Option<f64>,
    /// Bytes besides data and column classes, as planned.
    memory_bytes: Option<u64>,
    /// Candidates evaluated exactly, over all steps.
    evaluated: Option<usize>,
    /// Share of its features that the reference also has.
    overlap: Option<f64>,
    /// The difference of its final test measures to those of the first strategy that ran.
    paired: Option<Named<Paired>>,
    steps: Vec<StepRow>,
    /// The test data along its steps.
    #[serde(skip)]
    path: Option<TestPath<'a>>,
    #[serde(skip)]
    warnings: Vec<Warning>,
}

#[derive(Serialize)]
struct StepRow {
    step: usize,
    /// In the numbering of the data file.
    feature: u64,
    lqo_error: f64,
    lqo_cindex: Option<f64>,
    evaluated: usize,
    test: Named<Option<f64>>,
    /// Standard errors over queries of the measures in `test`.
    standard_errors: Named<Option<f64>>,
}

pub(crate) fn run(args: &CompareArgs, session: &Session<'_>) -> Result<ExitCode> {
    args.check()?;
    let (console, test) = (session.console, args.test.as_ref());
    args.teacher.name_files(&session.files)?;
    args.data.name_files(&session.files, [("--test", test)])?;
    let results = session.files.results(args.json)?;
    let (input, _) = Input::read(&args.data, false, &args.teacher, [None, test], session)?;
    input.check_measures(test, &args.metrics, console)?;
    input.warn_of_seen(false, input.train.nonzeros(), console);
    let options = args.options(&input);
    let keeps_units = options.keeps_units();
    let Some((mut options, choice)) = choose(&options, &input.train, session)? else {
        return Ok(session.without_results());
    };
    let candidates = options.candidates(&input.train)?;
    choosing::warn_of_units(keeps_units, &candidates, &input.train, console);
    let lambda = options.lambda_of(&candidates)?;
    options.lambda = lambda.into();
    let data = Sizes::new(&input.train, &candidates.summary());
    drop(candidates);
    let row = |one| {
        let (found, error) = match args.select(one, &options, &input, session) {
            Ok(Some(found)) => (found, None),
            Ok(None) => (Found::default(), Some("interrupted".to_owned())),
            Err(error) => (Found::default(), Some(format!("{error:#}"))),
        };
        Row { one, error, found }
    };
    let mut strategies: Vec<Row<'_>> = args.strategies.iter().map(row).collect();
    let reference = share_features(&mut strategies);
    let paired_with = pair(&mut strategies, args)?;
    let test = input.test.as_ref();
    let metrics = test.iter().flat_map(|_| &args.metrics);
    let comparison = Comparison {
        schema: "rankrls.comparison/1",
        version: env!("CARGO_PKG_VERSION"),
        interrupted: session.interrupt.code().is_some(),
        file: args.data.path.to_string_lossy().into(),
        test_file: args.test.as_ref().map(|path| path.to_string_lossy().into()),
        lambda: lambda.value(),
        choice,
        k: args.k,
        seed: args.seed,
        metrics: metrics.map(ToString::to_string).collect(),
        data,
        test: test.map(|test| TestSizes::new(test, &args.metrics, args.convention.known())),
        load_seconds: input.seconds,
        reference,
        paired_with,
        strategies,
    };
    let ran = comparison.ran().count();
    if comparison.interrupted {
        let strategies = counted(ran, "strategy");
        console.warn(format_args!("interrupted after {strategies}"));
    }
    if ran == 0 {
        return match comparison.failures().next() {
            Some(first) if !comparison.interrupted => bail!("no strategy could select: {first}"),
            _ => Ok(session.without_results()),
        };
    }
    console.warn_all(Warning::of_queries(&input.train));
    for (warning, names) in comparison.warnings() {
        console.warn(format_args!("{}: {warning}", names.join(", ")));
    }
    session.end(&results, &comparison, || comparison.text(), Ok(()))
}

impl CompareArgs {
    /// Refuses mistakes that the parser cannot see.
    fn check(&self) -> Result<()> {
        self.data
            .read
            .check([&self.data.path].into_iter().chain(&self.test))?;
        let names: Vec<&str> = self.strategies.iter().map(|one| &*one.name).collect();
        each_once("strategy", &names)?;
        let strategies = self.strategies.iter().map(|one| one.kind);
        let strategies: Vec<_> = strategies.collect();
        self.teacher.check(&self.labels.options(), &strategies)?;
        self.convention.check(self.test.is_some())
    }

    /// The options of all selections but the strategy. Dense selects what the fastest exact one does, which chooses in
    /// its place.
    fn options(&self, input: &Input) -> GreedyRankRls {
        GreedyRankRls {
            strategy: StrategyKind::Dense,
            query_weight: self.weight.query_weight,
            scale: self.weight.scale,
            memory: input.others_in(self.data.read.memory()),
            seed: Some(self.seed),
            k: self.k,
            lambda: self.lambda,
            ..self.labels.options()
        }
    }

    /// Selects by a strategy; `None` if somebody interrupts.
    fn select<'i>(
        &self,
        one: &Contestant,
        options: &GreedyRankRls,
        input: &'i Input,
        session: &Session<'_>,
    ) -> Result<Option<Found<'i>>> {
        let interrupt = session.interrupt;
        if interrupt.code().is_some() {
            return Ok(None);
        }
        let options = GreedyRankRls {
            strategy: one.kind,
            sample: one.sample,
            ..options.clone()
        };
        let mut tested = Tested::new(input.test_path(&self.metrics, self.convention.known()));
        let mut watch = Watch::named(session, &one.name);
        let begin = Instant::now();
        let found = interrupt.run(|| {
            let candidates = options.candidates(&input.train)?;
            let memory = plan(&candidates, &input.train, &options)?.memory;
            anyhow::Ok((candidates, memory))
        })?;
        let Some((candidates, memory)) = found.transpose()? else {
            return Ok(None);
        };
        watch.begin(options.k.min(candidates.summary().column_classes));
        let selection = tested.select(
            input,
            &candidates,
            &options,
            &[],
            &mut |_| Ok(()),
            &mut watch,
        )?;
        let select_seconds = begin.elapsed().as_secs_f64() - tested.seconds;
        let Some(selection) = selection.filter(|found| found.ending != Ending::Interrupted) else {
            return Ok(None);
        };
        let steps = selection.steps.iter().enumerate();
        let steps = steps.map(|(place, step)| self.step(place, step, input, tested.path.as_ref()));
        Ok(Some(Found {
            label_scale: Some(options.label_scale()),
            select_seconds: Some(select_seconds),
            memory_bytes: Some(memory),
            evaluated: Some(selection.steps.iter().map(|step| step.evaluated).sum()),
            overlap: None,
            paired: None,
            steps: steps.collect(),
            path: tested.path,
            warnings: selection.warnings(),
        }))
    }

    /// The `step` at this `place`, with the test measures along the `path`.
    fn step(
        &self,
        place: usize,
        step: &Step,
        input: &Input,
        path: Option<&TestPath<'_>>,
    ) -> StepRow {
        let scores = path.and_then(|path| path.steps().get(place));
        let named = |value: fn(&Score) -> Option<f64>| {
            Named::new(&self.metrics, scores.into_iter().flatten().map(value))
        };
        StepRow {
            step: place + 1,
            feature: input.train.index_base().file_index(step.feature),
            lqo_error: step.lqo_error,
            lqo_cindex: step.lqo_cindex,
            evaluated: step.evaluated,
            test: named(|score| score.mean),
            standard_errors: named(|score| score.standard_error),
        }
    }
}

/// Gives the rows after the first that ran, which is named, the differences of their test measures to it.
fn pair<'a>(rows: &mut [Row<'a>], args: &CompareArgs) -> Result<Option<&'a str>> {
    let mut ran = rows.iter_mut().filter(|row| row.found.path.is_some());
    let Some(first) = ran.next() else {
        return Ok(None);
    };
    let options = PairedOptions {
        seed: args.seed,
        ..PairedOptions::default()
    };
    for row in ran {
        let paths = row.found.path.as_ref().zip(first.found.path.as_ref());
        let found = paths.map(|(own, first)| own.less(first, &options));
        let found = found.transpose()?;
        row.found.paired = found.map(|found| Named::new(&args.metrics, found));
    }
    Ok(Some(&first.one.name))
}

/// Gives all rows the share of their features that the first exact row has, and returns that row's name.
fn share_features<'a>(rows: &mut [Row<'a>]) -> Option<&'a str> {
    let exact = rows
        .iter()
        .find(|row| row.one.exact && row.error.is_none())?;
    let (name, steps) = (&*exact.one.name, exact.found.steps.iter());
    let features: Vec<u64> = steps.map(|step| step.feature).collect();
    for Row { found, .. } in rows {
        let own = found.steps.iter();
        let both = own.filter(|step| features.contains(&step.feature)).count();
        let share = both as f64 / found.steps.len() as f64;
        found.overlap = found.select_seconds.map(|_| share);
    }
    Some(name)
}

impl<'a> Comparison<'a> {
    /// The strategies that selected.
    fn ran(&self) -> impl Iterator<Item = &Row<'a>> {
        self.strategies.iter().filter(|row| row.error.is_none())
    }

    /// The warnings of the results, each once, with the names of its strategies.
    fn warnings(&self) -> Vec<(&Warning, Vec<&str>)> {
        let mut all: Vec<(&Warning, Vec<&str>)> = Vec::new();
        for row in self.ran() {
            for warning in &row.found.warnings {
                match all.iter_mut().find(|(known, _)| *known == warning) {
                    Some((_, names)) => names.push(&row.one.name),
                    None => all.push((warning, vec![&row.one.name])),
                }
            }
        }
        all
    }

    /// The reasons of the strategies that did not run.
    fn failures(&self) -> impl Iterator<Item = String> {
        self.strategies.iter().filter_map(|row| {
            let (name, error) = (&row.one.name, row.error.as_ref()?);
            Some(format!("{name} did not run: {error}"))
        })
    }

    /// The report for people.
    fn text(&self) -> String {
        let features = counted(self.k, "feature");
        let lambda = ridge(self.lambda, self.data.unit);
        let (file, data) = (printable(&self.file), lines(&self.data));
        let mut text = format!("{file}: {features}, lambda {lambda}\n{data}");
        if let Some(choice) = &self.choice {
            text += &choosing::text(choice, self.lambda, self.data.rows, self.data.unit);
        }
        if let (Some(path), Some(test)) = (&self.test_file, &self.test) {
            let (file, rules) = (printable(path), test.rules.text());
            let sizes = [counted(test.rows, "row"), counted(test.queries, "query")].join(", ");
            let _ = writeln!(text, "test data: {file}, {sizes}, {rules}");
        }
        let _ = write!(text, "\n{}\n{}", self.table().text(), self.notes());
        if self.ran().any(|row| row.one.kind.distils()) {
            text += BIASED;
        }
        for failure in self.failures() {
            let _ = writeln!(text, "{}", printable(&failure));
        }
        text
    }

    /// Explains the columns, and empty cells.
    fn notes(&self) -> String {
        let mut text = match self.paired_with {
            Some(first) => format!(
                "\ndiff. is the test measure less that of {first}, query by query; s.e. is the standard error\n\
                 over queries of what stands before it\n"
            ),
            None => "\nthe LQO columns are of the data that the features were chosen by, and too good where a\n\
                     strategy searches by them: --test DATA measures other queries\n"
                .to_owned(),
        };
        for row in self.ran() {
            if let (None, Some(scale)) = (self.error(row), row.found.label_scale) {
                let name = &row.one.name;
                let _ = writeln!(
                    text,
                    "{name} learns labels on the scale {scale}: its LQO error is in other units, and left out"
                );
            }
        }
        text
    }

    /// The error of a row, where it is in the units of the first one that ran.
    fn error(&self, row: &Row<'_>) -> Option<f64> {
        let first = self.ran().next()?.found.label_scale;
        let last = row.found.steps.last()?;
        (row.found.label_scale == first).then_some(last.lqo_error)
    }

    /// A line a strategy: its costs and values, then its work.
    fn table(&self) -> Sheet<'_, Row<'a>> {
        let sheet = Sheet::of(&self.strategies)
            .words("strategy", |row| &*row.one.name)
            .number("seconds", |row| {
                Some(format!("{:.3}", row.found.select_seconds?))
            })
            .number("memory", |row| {
                Some(Bytes(row.found.memory_bytes?).to_string())
            })
            .number("LQO error", |row| self.error(row))
            .measure("LQO cindex", |row| row.found.steps.last()?.lqo_cindex);
        let metrics = self.metrics.iter().enumerate();
        let sheet = metrics.fold(sheet, |sheet, (place, metric)| {
            let paired = move |row: &Row<'_>| Some(row.found.paired.as_ref()?.0[place].1);
            let signed = |value: f64| format!("{value:+.4}");
            sheet
                .measure(format!("test {metric}"), move |row| {
                    row.found.steps.last()?.test.0[place].1
                })
                .measure("s.e.", move |row| {
                    row.found.steps.last()?.standard_errors.0[place].1
                })
                .number("diff.", move |row| paired(row)?.difference.map(signed))
                .measure("s.e.", move |row| paired(row)?.standard_error)
        });
        sheet
            .number("overlap", |row| match row.found.overlap {
                Some(_) if row.one.exact => Some("exact".to_owned()),
                share => share.map(|share| format!("{:.0}%", 100.0 * share)),
            })
            .number("evaluated", |row| row.found.evaluated)
    }
}
