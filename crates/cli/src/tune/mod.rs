//! `rankrls tune`.

mod figure;
mod judging;
mod report;

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Instant;

use anyhow::{Context, Result};
use clap::{Arg, ArgMatches, Args, Command, FromArgMatches};
use rankrls::columns::Summary;
use rankrls::data::{DataHash, LabelScale};
use rankrls::greedy::Choice;
use rankrls::greedy::job::TestPath;
use rankrls::metrics::{Measure, parse_list};
use rankrls::tune::{self, Outcome, PathEnding, Tune, Tuned};
use rankrls::warning::Warning;
use rankrls::{
    ColumnClasses, Dataset, GreedyRankRls, HoldOut, Lambdas, Metric, Model, Queries, Scale,
    StrategyKind,
};
use rankrls_files::memory;

use judging::{JudgingArgs, Scheme};

use super::args::{self, ConventionArgs, at_least_one, each_once};
use super::data::{Input, TrainingData};
use super::files::Results;
use super::output::{Destination, appear_after};
use super::report::SelectionReport;
use super::session::Session;
use super::settings::{LAMBDAS_HELP, TeacherArgs, check_selection};
use super::sizes::{Sizes, TestSizes};
use crate::choosing;
use crate::figures::{PlotArgs, PlotFile};
use crate::watch::Watch;
use report::Report;

/// The settings of a selection, with lists to choose from.
#[derive(Debug, Clone)]
struct Settings {
    /// The settings, with the first of each list.
    selection: GreedyRankRls,
    scales: Vec<Scale>,
    labels: Vec<LabelScale>,
    strategies: Vec<StrategyKind>,
}

const SCALES_HELP: &str = "Divisors of the columns to choose from, separated by commas: sd, the root mean square of a \
    centred column, or max, its largest absolute value. Weights stay in the units of the data [default: none with \
    --lambda, else none,sd,max]";

const LABELS_HELP: &str = "Scales of the training labels within each query to choose from, separated by \
    commas: sqrt-sd divides by the root of their standard deviation, unit by the deviation. Several go \
    with a measure as --choose-by, because errors are in their units [default: with --lambda raw, and sqrt-sd with \
    the strategy distil; else raw,sqrt-sd]";

const STRATEGIES_HELP: &str = "Strategies to choose from, separated by commas. auto: with --lambda the fastest exact \
    one that fits into memory, else that or distil";

const CHOOSE_BY_HELP: &str = "What models are judged by: squared, the mean over queries of the squared centred \
    error, or a measure; with a measure and without --lambda it also chooses the scales and the strategy that are not \
    given, by folds [default: cindex; squared with --lambda]";

impl Args for Settings {
    fn augment_args(command: Command) -> Command {
        let list = |arg: Arg, help| arg.help(help).value_delimiter(',').value_name("LIST");
        let choice = |by: Arg| by.help(CHOOSE_BY_HELP).help_heading("Choice");
        GreedyRankRls::augment_args(command)
            .mut_arg("scale", |scale| list(scale, SCALES_HELP))
            .mut_arg("label_scale", |scale| list(scale, LABELS_HELP))
            .mut_arg("strategy", |strategy| list(strategy, STRATEGIES_HELP))
            .mut_arg("choose_by", choice)
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for Settings {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        Ok(Self {
            scales: listed(matches, "scale"),
            labels: listed(matches, "label_scale"),
            strategies: listed(matches, "strategy"),
            selection: GreedyRankRls::from_arg_matches(matches)?,
        })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

/// The values of an argument that takes a list; empty for a single value, which is the setting.
fn listed<T: Clone + Send + Sync + 'static>(matches: &ArgMatches, name: &str) -> Vec<T> {
    let values: Vec<T> = matches
        .get_many(name)
        .into_iter()
        .flatten()
        .cloned()
        .collect();
    if values.len() > 1 { values } else { Vec::new() }
}

/// Choose lambda and the number of features together
///
/// Without --lambda, folds choose the scales of columns and labels and the strategy first, as for select. Then it
/// selects features with every lambda of a grid. The model after each step is judged by its
/// leave-query-out predictions, which cost nothing more, by its predictions for validation data,
/// or by cross-validation over queries; a rule chooses one of all models.
#[derive(Debug, Args)]
#[command(next_help_heading = "Selection")]
#[command(after_help = "\
Examples:
  rankrls tune @sentences -k 20
  rankrls tune train.svm -k 50 --lambda 2^-2..2^8:2 --rule one-se -o model.json
  rankrls tune train.svm -k 50 --validation vali.svm --choose-by ndcg@10 --metrics map,cindex
  rankrls tune train.svm -k 20 --lambda 0.5,4,32 --holdout folds:3 --table models.csv
  rankrls tune train.svm -k 50 --rule one-se --plot paths.svg
  rankrls tune @sentences -k 20 --scale none,sd --strategy bounded,distil
  rankrls tune @sentences -k 20 --strategy bounded,distil --lambda 4,16,64 --choose-by cindex
  rankrls tune train.svm -k 50 --rule min-improvement:0.01:3 --json")]
pub(crate) struct TuneArgs {
    /// Most features to select
    #[arg(short, value_name = "K", value_parser = at_least_one)]
    k: usize,
    #[arg(long = "lambda", value_name = "LIST", allow_hyphen_values = true)]
    #[arg(default_value = "auto", help = LAMBDAS_HELP)]
    lambdas: Lambdas,
    #[command(flatten)]
    settings: Settings,
    #[command(flatten)]
    teacher: TeacherArgs,
    #[command(flatten)]
    judging: JudgingArgs,
    /// Other measures to print, separated by commas [default for --test: all measures]
    #[arg(long, value_name = "LIST", value_parser = parse_list, help_heading = "Measures")]
    metrics: Option<std::vec::Vec<Metric>>,
    #[command(flatten)]
    convention: ConventionArgs,
    #[command(flatten)]
    data: TrainingData,
    /// Measure the chosen path on this data; has no part in the choice
    #[arg(long, value_name = "DATA", help_heading = "Measures")]
    test: Option<PathBuf>,
    /// Write a table of all models to this file, as CSV, or as JSON if its name ends in .json
    #[arg(long, value_name = "FILE", value_parser = report::table_name, help_heading = "Output")]
    table: Option<PathBuf>,
    /// Write the chosen model to this file
    #[arg(short, long, value_name = "FILE", help_heading = "Output")]
    output: Option<PathBuf>,
    #[command(flatten)]
    plot: PlotArgs,
    /// Print one JSON document
    #[arg(long, help_heading = "Output")]
    json: bool,
}

impl TuneArgs {
    /// Refuses mistakes that the parser cannot see.
    fn check(&self) -> Result<()> {
        let strategies = self.strategies();
        each_once("strategy", &self.settings.strategies)?;
        each_once("scale of columns", &self.settings.scales)?;
        each_once("scale of labels", &self.settings.labels)?;
        if self.settings.strategies.contains(&StrategyKind::Auto) {
            let mistake =
                "--strategy auto stands alone: expected strategies by name, such as bounded,distil";
            return Err(args::usage(mistake));
        }
        let k = self.k;
        let options = &GreedyRankRls {
            k,
            ..self.settings.selection.clone()
        };
        check_selection(options, &strategies, self.convention, true)?;
        self.teacher.check(options, &strategies)?;
        let validation = self.judging.validation.as_ref();
        let others = [validation, self.test.as_ref()].into_iter().flatten();
        self.data
            .read
            .check([&self.data.path].into_iter().chain(others))
    }

    /// The strategies to choose from.
    fn strategies(&self) -> Vec<StrategyKind> {
        if self.settings.strategies.is_empty() {
            return vec![self.settings.selection.strategy];
        }
        self.settings.strategies.clone()
    }

    /// Whether leave-query-out predictions are no evidence.
    fn is_biased(&self) -> bool {
        let mut all = self.strategies().into_iter();
        self.settings.selection.is_biased() || all.any(StrategyKind::distils)
    }

    /// The hold-outs asked for, or folds if others would be biased; `None` with validation data.
    fn holdout(&self) -> Option<Scheme> {
        let folds = || self.is_biased().then_some(Scheme::Folds);
        let holdout = self.judging.holdout.clone().or_else(folds);
        holdout.filter(|_| self.judging.validation.is_none())
    }

    /// Whether neither the user nor another setting decides the evidence.
    fn is_open(&self) -> bool {
        self.holdout().is_none() && self.judging.validation.is_none()
    }

    /// The measure that judges models: squared errors of given lambdas, else the measure that chooses the setting.
    fn measure(&self) -> Measure {
        let options = &self.settings.selection;
        match options.choose_by {
            None if self.lambdas != Lambdas::Auto => Measure::Squared,
            _ => options.judged_by(),
        }
    }

    /// The measure of the choice, then the others to print: by default the measures of the test data.
    fn measures(&self) -> Result<Vec<Metric>> {
        let others = match &self.metrics {
            Some(metrics) => metrics.clone(),
            None if self.test.is_some() => parse_list(args::DEFAULT_MEASURES)?,
            None => Vec::new(),
        };
        Ok(self.measure().metric().into_iter().chain(others).collect())
    }

    /// Judges by folds, and returns the reason, if nobody asked for anything else and leave-query-out predictions
    /// would be biased.
    fn advise(&self, options: &mut Tune, candidates: &ColumnClasses) -> Option<String> {
        if !self.is_open() {
            return None;
        }
        if options.selections().iter().any(GreedyRankRls::is_biased) {
            options.holdout = folds_of(candidates.queries(), options);
            return None;
        }
        let classes = candidates.summary().column_classes;
        let queries = candidates.queries().len();
        options.holdout = HoldOut::advised(classes, queries, options.selection.seed());
        (!options.is_optimistic()).then(|| {
            format!(
                "{classes} column classes for {queries} queries: leave-query-out predictions would \
                 be biased; --holdout lqo takes them, in less time"
            )
        })
    }

    /// The options to try on the training data, with the validation data if there are any.
    fn options(&self, input: &Input, validation: Option<&Dataset<'_>>) -> Result<Tune> {
        let train = &input.train;
        let seed = self.settings.selection.seed();
        let holdout = match self.holdout() {
            Some(Scheme::Named(drawn)) => drawn.seed(seed),
            Some(Scheme::Folds) => HoldOut::folds(train.queries()).seed(seed),
            None => validation.map_or(HoldOut::Queries, HoldOut::of),
        };
        let (selection, convention) = (self.settings.selection.clone(), self.convention.known());
        let test = input.test.as_ref().map_or(0, |test| test.dataset.memory());
        let selection = GreedyRankRls {
            k: self.k,
            criterion: selection.criterion.under(convention),
            memory: self.data.read.memory().holding(test),
            ..selection
        };
        Ok(Tune {
            holdout,
            measure: self.measure(),
            metrics: self.metrics.clone().unwrap_or_default(),
            convention,
            rule: self.judging.rule,
            strategies: self.settings.strategies.clone(),
            labels: self.settings.labels.clone(),
            scales: self.settings.scales.clone(),
            ..Tune::new(selection.counted(train)?, self.lambdas.clone())
        })
    }
}

/// Folds of the usual number.
fn folds_of(queries: &Queries, options: &Tune) -> HoldOut {
    HoldOut::folds(queries).seed(options.selection.seed())
}

/// Chooses the settings of `options` that nobody gave, and returns the choice; `None` if interrupted.
fn choose_setting(
    args: &TuneArgs,
    options: &Tune,
    train: &Dataset<'_>,
    session: &Session<'_>,
) -> Result<Option<(Tune, Option<Choice>)>> {
    // Folds judge any strategy, unless somebody wants no folds.
    let judged = Tune {
        holdout: if args.is_open() {
            folds_of(train.queries(), options)
        } else {
            options.holdout.clone()
        },
        ..options.clone()
    };
    let chosen = choosing::watched(session, |each| judged.chosen(None, train, each))?;
    let options = |chosen: Tune| Tune {
        holdout: options.holdout.clone(),
        ..chosen
    };
    Ok(chosen.map(|(chosen, choice)| (options(chosen), choice)))
}

/// The data, with labels that fit the measures.
fn read(args: &TuneArgs, session: &Session<'_>) -> Result<Input> {
    let test = args.test.as_ref();
    let others = [args.judging.validation.as_ref(), test];
    let (mut input, _) = Input::read(&args.data, false, &args.teacher, others, session)?;
    if let Some(validation) = &input.validation
        && args.strategies().contains(&StrategyKind::FsEd)
    {
        let validation = validation.dataset.clone();
        input.train = input.train.with_validation(validation);
    }
    input.check_measures(test, &args.measures()?, session.console)?;
    input.warn_of_seen(true, input.train.nonzeros(), session.console);
    Ok(input)
}

/// Where results go.
struct Outputs {
    table: Destination,
    plot: PlotFile,
    model: Destination,
    results: Results,
}

impl Outputs {
    /// Makes sure that all can be written before there is work to lose.
    fn create(args: &TuneArgs, session: &Session<'_>) -> Result<Self> {
        let files = &session.files;
        args.teacher.name_files(files)?;
        let others = [
            ("--validation", args.judging.validation.as_ref()),
            ("--test", args.test.as_ref()),
        ];
        args.data.name_files(files, others)?;
        Ok(Self {
            table: Destination::create(files, "--table", args.table.as_ref())?,
            plot: args.plot.create(files)?,
            model: Destination::create(files, "--output", args.output.as_ref())?,
            results: files.results(args.json)?,
        })
    }
}

/// Tunes, writes files and prints the report, even after an interrupt on the way.
pub(crate) fn run(args: &TuneArgs, session: &Session<'_>) -> Result<ExitCode> {
    args.check()?;
    let outputs = Outputs::create(args, session)?;
    let input = read(args, session)?;
    let begin = Instant::now();
    let (train, console) = (&input.train, session.console);
    let validation = input.validation.as_ref().map(|loaded| &loaded.dataset);
    let asked = args.options(&input, validation)?;
    let Some((mut options, choice)) = choose_setting(args, &asked, train, session)? else {
        return Ok(session.without_results());
    };
    let candidates = options.selection.candidates(train)?;
    choosing::warn_of_units(asked.keeps_units(), &candidates, train, console);
    let reason = args.advise(&mut options, &candidates);
    if let Some(reason) = &reason {
        console.tell(format_args!("judged by folds: {reason}\n"));
    }
    let tuning = tune::Tuning {
        validation,
        candidates: Some(&candidates),
        ..tune::Tuning::new(train, &options)
    };
    let mut watch = Watch::new(session);
    let Some(tuned) = watch.tune(|each| tuning.run(each))? else {
        console.warn("interrupted before there was anything to choose from: nothing was saved");
        return Ok(session.without_results());
    };
    let cross_validated = cross_validated(&tuning, &tuned, session)?;
    let done = Done {
        args,
        session,
        input: &input,
        tuning,
        tuned: &tuned,
        cross_validated: cross_validated.as_ref(),
        choice: choice.as_ref(),
    };
    done.write(outputs, &candidates.summary(), reason, begin)
}

/// A model that is chosen.
struct Done<'a> {
    args: &'a TuneArgs,
    session: &'a Session<'a>,
    input: &'a Input,
    tuning: tune::Tuning<'a>,
    tuned: &'a Tuned,
    /// The chosen path as folds judge it.
    cross_validated: Option<&'a Outcome>,
    /// How the setting was chosen.
    choice: Option<&'a Choice>,
}

impl Done<'_> {
    /// Measures the test data, writes files and prints the report. `reason` says why folds judge if nobody asked for
    /// them.
    fn write(
        &self,
        outputs: Outputs,
        summary: &Summary,
        reason: Option<String>,
        begin: Instant,
    ) -> Result<ExitCode> {
        let tune_seconds = begin.elapsed().as_secs_f64();
        let (args, tuned, input) = (self.args, self.tuned, self.input);
        let (train, selection) = (&input.train, tuned.selection());
        let (metrics, convention) = (args.measures()?, args.convention.known());
        let test_path = self.test_path(&metrics)?;
        self.warn_of_result(selection.options.strategy);
        let test = input.test.as_ref();
        let test = test.map(|test| TestSizes::new(test, &metrics, convention));
        let test = test.zip(test_path.as_ref());
        let (sizes, seconds) = (Sizes::new(train, summary), input.seconds);
        let mut selected =
            SelectionReport::new(&selection, train, sizes, test, seconds, tune_seconds);
        selected.peak_rss_bytes = memory::peak();
        let mut report = Report::new(&self.tuning, tuned, self.cross_validated, reason, selected);
        report.choice = self.choice;
        let table = outputs.table.complete(|writer| {
            let path = args.table.as_ref().expect("a table has a name");
            report.write_table(path, writer)
        });
        let figure = || figure::figure(tuned, self.tuning.options, test_path.as_ref()).to_svg();
        let drawn = outputs.plot.complete(figure);
        let model = outputs.model.complete(|writer| {
            let mut model = Model::from_selection(&selection, train, summary, DataHash::of(train));
            model.table = input.table.clone();
            model.choice = self.choice.cloned();
            model.write_to(writer)
        });
        let console = self.session.console;
        let saved = appear_after(tuned.interrupted, [model, table, drawn], console);
        let text = || report.text();
        self.session.end(&outputs.results, &report, text, saved)
    }

    /// The measures of the test data along the chosen path, if there are any.
    fn test_path(&self, metrics: &[Metric]) -> Result<Option<TestPath<'_>>> {
        let convention = self.args.convention.known();
        let mut test_path = self.input.test_path(metrics, convention);
        if let Some(path) = &mut test_path {
            for point in &self.tuned.chosen().points[..self.tuned.k] {
                path.push(point.step.feature, &point.weights)
                    .context("cannot measure the test data")?;
            }
        }
        Ok(test_path)
    }

    /// Warns of the result, whose selection is by `strategy`.
    fn warn_of_result(&self, strategy: StrategyKind) {
        let (console, tuned, train) = (self.session.console, self.tuned, &self.input.train);
        let options = self.tuning.options;
        let folds = self.cross_validated.is_some() || options.holdout.drawn_by().is_some();
        if !folds && !tuned.outcomes.iter().any(Outcome::draws) {
            self.session.warn_of_seed(Some(strategy));
        }
        if tuned.interrupted {
            let models = tuned.outcomes.iter().map(|outcome| outcome.points.len());
            let models: usize = models.sum();
            console.warn(format_args!(
                "interrupted: the choice is among {models} models; other steps are lost"
            ));
        }
        console.warn_all(tuned.warnings(train));
        let criterion = options.selection.criterion.metric().into_iter();
        let measures: Vec<_> = criterion.chain(options.measures()).collect();
        console.warn_all(Warning::of_grades(&measures, train.labels()));
        console.warn_all(Warning::of_queries(train));
    }
}

/// The chosen path judged by folds, if its value is optimistic and there are enough queries.
fn cross_validated(
    tuning: &tune::Tuning<'_>,
    tuned: &Tuned,
    session: &Session<'_>,
) -> Result<Option<Outcome>> {
    let console = session.console;
    if !tuning.options.is_optimistic() || tuned.interrupted {
        return Ok(None);
    }
    // The selections without a fold do not affect the choice.
    let mut watch = Watch::new(session);
    let interrupted = || {
        console.warn("interrupted: the model is chosen, but not judged by folds");
        Ok(None)
    };
    let judged = watch.tune(|each| tuning.judge_by_folds(tuned, each))?;
    let Some(cross_validated) = judged else {
        return interrupted();
    };
    match cross_validated.as_ref().map(|path| &path.ending) {
        Some(PathEnding::Refused { reason }) => {
            console.warn(format_args!(
                "folds cannot judge the chosen model: {reason}"
            ));
            Ok(None)
        }
        Some(PathEnding::Interrupted) => interrupted(),
        _ => Ok(cross_validated),
    }
}
