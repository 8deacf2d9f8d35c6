//! `rankrls tune`.

mod figure;
mod judging;
mod report;

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Instant;

use anyhow::{Context, Result};
use clap::{Arg, ArgMatches, Args, Command, FromArgMatches};
use rankrls::data::{DataHash, LabelScale};
use rankrls::greedy::Choice;
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
use super::console::Console;
use super::data::{Input, TrainingData};
use super::output::{Destination, appear_after};
use super::report::SelectionReport;
use super::session::Session;
use super::settings::{LAMBDAS_HELP, TeacherArgs, check_selection};
use super::sizes::{Sizes, TestSizes};
use crate::choosing;
use crate::figures::PlotArgs;
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

/// The values of an argument that takes a list; none of a list of one, which is the setting.
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

    /// The hold-outs that were asked for, or folds where others would be biased; none with validation data.
    fn holdout(&self) -> Option<Scheme> {
        let folds = || self.is_biased().then_some(Scheme::Folds);
        let holdout = self.judging.holdout.clone().or_else(folds);
        holdout.filter(|_| self.judging.validation.is_none())
    }

    /// Whether nobody said what models are judged by, and nothing else does.
    fn is_open(&self) -> bool {
        self.holdout().is_none() && self.judging.validation.is_none()
    }

    /// What models are judged by: squared errors of given lambdas, else what chooses the setting.
    fn measure(&self) -> Measure {
        let options = &self.settings.selection;
        match options.choose_by {
            None if self.lambdas != Lambdas::Auto => Measure::Squared,
            _ => options.judged_by(),
        }
    }

    /// The measure of the choice, then the others to print: by default those of the test data.
    fn measures(&self) -> Result<Vec<Metric>> {
        let others = match &self.metrics {
            Some(metrics) => metrics.clone(),
            None if self.test.is_some() => parse_list(args::DEFAULT_MEASURES)?,
            None => Vec::new(),
        };
        Ok(self.measure().metric().into_iter().chain(others).collect())
    }

    /// Judges by folds where nobody asked for anything else and leave-query-out predictions would be biased, and
    /// says why.
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

    /// The options to try on `train`, with the validation data if there are any.
    fn options(&self, train: &Dataset<'_>, validation: Option<&Dataset<'_>>) -> Tune {
        let seed = self.settings.selection.seed();
        let holdout = match self.holdout() {
            Some(Scheme::Named(drawn)) => drawn.seed(seed),
            Some(Scheme::Folds) => HoldOut::folds(train.queries()).seed(seed),
            None => validation.map_or(HoldOut::Queries, HoldOut::of),
        };
        let (selection, convention) = (self.settings.selection.clone(), self.convention.known());
        let selection = GreedyRankRls {
            k: self.k,
            criterion: selection.criterion.under(convention),
            memory: self.data.read.memory(),
            ..selection
        };
        Tune {
            holdout,
            measure: self.measure(),
            metrics: self.metrics.clone().unwrap_or_default(),
            convention,
            rule: self.judging.rule,
            strategies: self.settings.strategies.clone(),
            labels: self.settings.labels.clone(),
            scales: self.settings.scales.clone(),
            ..Tune::new(selection, self.lambdas.clone())
        }
    }
}

/// Folds, as many as usual.
fn folds_of(queries: &Queries, options: &Tune) -> HoldOut {
    HoldOut::folds(queries).seed(options.selection.seed())
}

/// Chooses the setting of `options` that nobody gave, and says how; `None` if that was interrupted.
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

/// The data, with labels that the measures can be taken of.
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

/// Tunes, writes files and prints the report, also when interrupted on the way.
pub(crate) fn run(args: &TuneArgs, session: &Session<'_>) -> Result<ExitCode> {
    let console = session.console;
    args.check()?;
    let files = &session.files;
    args.teacher.name_files(files)?;
    let others = [
        ("--validation", args.judging.validation.as_ref()),
        ("--test", args.test.as_ref()),
    ];
    args.data.name_files(files, others)?;
    let table_file = Destination::create(files, "--table", args.table.as_ref())?;
    let plot_file = args.plot.create(files)?;
    let model_file = Destination::create(files, "--output", args.output.as_ref())?;
    let results = files.results(args.json)?;
    let input = read(args, session)?;
    let begin = Instant::now();
    let validation = input.validation.as_ref().map(|loaded| &loaded.dataset);
    let mut options = args.options(&input.train, validation);
    let test = input.test.as_ref().map_or(0, |test| test.dataset.memory());
    options.selection.memory = options.selection.memory.holding(test);
    options.selection = options.selection.counted(&input.train)?;
    // Folds compare scales, where nothing of these is given.
    let lambda_given = args.lambdas != Lambdas::Auto;
    let keeps_units = match options.selection.scale {
        _ if !options.scales.is_empty() => false,
        Some(scale) => scale.is_none(),
        None => lambda_given,
    };
    let chosen = choose_setting(args, &options, &input.train, session)?;
    let Some((chosen, choice)) = chosen else {
        return Ok(session.without_results());
    };
    options = chosen;
    let candidates = options.selection.candidates(&input.train)?;
    choosing::warn_of_units(keeps_units, &candidates, &input.train, console);
    let reason = args.advise(&mut options, &candidates);
    if let Some(reason) = &reason {
        console.tell(format_args!("judged by folds: {reason}\n"));
    }
    let mut watch = Watch::new(session);
    let train = &input.train;
    let tuning = tune::Tuning {
        validation,
        candidates: Some(&candidates),
        ..tune::Tuning::new(train, &options)
    };
    let tuned = watch.tune(|each| tuning.run(each))?;
    let Some(tuned) = tuned else {
        console.warn("interrupted before there was anything to choose from: nothing was saved");
        return Ok(session.without_results());
    };
    let cross_validated = cross_validated(&tuning, &tuned, session)?;
    let tune_seconds = begin.elapsed().as_secs_f64();
    let (selection, summary) = (tuned.selection(), candidates.summary());
    let metrics = args.measures()?;
    let mut test_path = input.test_path(&metrics, args.convention.known());
    if let Some(path) = &mut test_path {
        for point in &tuned.chosen().points[..tuned.k] {
            path.push(point.step.feature, &point.weights)
                .context("cannot measure the test data")?;
        }
    }
    let test_sizes = input.test.as_ref();
    let test_sizes = test_sizes.map(|test| TestSizes::new(test, &metrics, args.convention.known()));
    let folds = cross_validated.is_some() || options.holdout.drawn_by().is_some();
    if !folds && !tuned.outcomes.iter().any(Outcome::draws) {
        session.warn_of_seed(Some(selection.options.strategy));
    }
    warn(&tuned, train, console);
    let criterion = options.selection.criterion.metric().into_iter();
    let measures: Vec<_> = criterion.chain(options.measures()).collect();
    console.warn_all(Warning::of_grades(&measures, train.labels()));
    console.warn_all(Warning::of_queries(train));
    let test = test_sizes.zip(test_path.as_ref());
    let sizes = Sizes::new(train, &summary);
    let seconds = input.seconds;
    let mut selected = SelectionReport::new(&selection, train, sizes, test, seconds, tune_seconds);
    selected.peak_rss_bytes = memory::peak();
    let mut report = Report::new(&tuning, &tuned, cross_validated.as_ref(), reason, selected);
    report.choice = choice.as_ref();
    let table = table_file.complete(|writer| {
        let path = args.table.as_ref().expect("a table has a name");
        report.write_table(path, writer)
    });
    let drawn =
        plot_file.complete(|| figure::figure(&tuned, &options, test_path.as_ref()).to_svg());
    let model = model_file.complete(|writer| {
        let mut model = Model::from_selection(&selection, train, &summary, DataHash::of(train));
        model.table = input.table.clone();
        model.choice.clone_from(&choice);
        model.write_to(writer)
    });
    let saved = appear_after(tuned.interrupted, [model, table, drawn], console);
    session.end(&results, &report, || report.text(), saved)
}

/// The chosen path as folds judge it, where its value is optimistic and there are the queries.
fn cross_validated(
    tuning: &tune::Tuning<'_>,
    tuned: &Tuned,
    session: &Session<'_>,
) -> Result<Option<Outcome>> {
    let console = session.console;
    if !tuning.options.is_optimistic() || tuned.interrupted {
        return Ok(None);
    }
    // The selections without a fold have no part in the choice.
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

fn warn(tuned: &Tuned, train: &Dataset<'_>, console: Console) {
    if tuned.interrupted {
        let models = tuned.outcomes.iter().map(|outcome| outcome.points.len());
        let models: usize = models.sum();
        console.warn(format_args!(
            "interrupted: the choice is among {models} models; other steps are lost"
        ));
    }
    console.warn_all(tuned.warnings(train));
}
