//! `rankrls select`.

use std::io::{self, Write};
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Instant;

use anyhow::{Context, Result};
use clap::Args;
use rankrls::columns::Summary;
use rankrls::data::{DataHash, Output, Packed};
use rankrls::greedy::job::{Selecting, TestPath, select_among};
use rankrls::greedy::{Choice, Ending, GreedyRankRls, Selection};
use rankrls::metrics::{Metric, parse_list};
use rankrls::model::Unfinished;
use rankrls::tune;
use rankrls::warning::Warning;
use rankrls::{ColumnClasses, Dataset, Error, Model, Ridge, Step};
use rankrls_files::memory;
use rankrls_plot::Lines;

use super::args::{self, ConventionArgs, at_least_one};
use super::choosing::{self, choose};
use super::console::{Console, NOTHING};
use super::data::{Input, TrainingData};
use super::figures::{PlotArgs, PlotFile, lambda_name, lead, lqo_panels, note, test_panels};
use super::files::{Results, is_stdout};
use super::numbers::counted;
use super::output::{CompleteFile, Destination, appear, appear_after};
use super::report::SelectionReport;
use super::session::Session;
use super::settings::{TeacherArgs, check_selection};
use super::sizes::{Sizes, TestSizes};
use super::unfinished::UnfinishedModel;
use super::watch::Watch;

/// Select features by leave-query-out error
///
/// Adds, one at a time, the feature that gives RankRLS the least squared leave-query-out error.
/// Columns that are constant within every query cannot help, and of columns that are equal up to
/// a constant in each query and sign only the first is a candidate; the others are counted.
///
/// What you do not give is chosen by folds of your queries: the scale of the columns, the scale of the labels, the
/// strategy, and lambda. Give --lambda as a number, and nothing is chosen: the selection is that of the paper.
#[derive(Debug, Args)]
#[command(next_help_heading = "Selection")]
#[command(after_help = "\
Examples:
  rankrls select @sentences -k 10 --test @sentences-test
  rankrls select train.svm -k 50 --lambda 16 -o model.json
  rankrls select grades.csv --label grade --query query -k 10 --lambda 1 --json
  rankrls select train.svm.zst -k 20 --lambda 16 --strategy sampled --sample 500 --seed 7
  rankrls select train.svm -k 50 --lambda 16 --test test.svm --metrics map,cindex
  rankrls select train.svm -k 20 --lambda 16 --criterion ndcg@10
  rankrls select @sentences -k 50 --strategy distil
  rankrls select train.svm -k 80 --lambda 16 -o model.json --resume
  rankrls select train.svm -k 50 --lambda 16 --plot path.svg")]
pub(crate) struct SelectArgs {
    /// Features to select
    #[arg(short, value_name = "K", value_parser = at_least_one)]
    k: usize,
    /// Ridge parameter: a number; a share of u, the mean squared norm of a centred row, such as 1/64u; or auto
    ///
    /// Auto tries 1/256u, 1/64u, 1/16u, 1/4u and 1u, and up to three more past an edge.
    #[arg(long, default_value = "auto")]
    #[arg(value_parser = args::auto_or_ridge)]
    lambda: std::option::Option<Ridge>,
    #[command(flatten)]
    settings: GreedyRankRls,
    #[command(flatten)]
    teacher: TeacherArgs,
    #[command(flatten)]
    data: TrainingData,
    /// With --strategy fs-ed, compare densities at the values of this data [default: the training
    /// data]
    #[arg(long, value_name = "DATA", help_heading = "Labels and teacher")]
    validation: Option<PathBuf>,
    /// Measure this data after every step; @sentences-test goes with @sentences
    #[arg(long, value_name = "DATA", help_heading = "Measures")]
    test: Option<PathBuf>,
    #[arg(long, value_name = "LIST", requires = "test", default_value = args::DEFAULT_MEASURES)]
    #[arg(help = args::measures_help(), value_parser = parse_list, help_heading = "Measures")]
    metrics: std::vec::Vec<Metric>,
    #[command(flatten)]
    convention: ConventionArgs,
    /// Go on from FILE.part, which a run left that did not end, or from a finished model in FILE to more features.
    /// Data and settings must be as before, and what folds chose stays. The result equals that of one run with this
    /// choice
    #[arg(long, requires = "output", help_heading = "Running")]
    resume: bool,
    /// Write the model to this file at the end. FILE.part keeps the steps until then, at most a minute behind
    #[arg(short, long, value_name = "FILE", help_heading = "Output")]
    output: Option<PathBuf>,
    #[command(flatten)]
    plot: PlotArgs,
    /// Print one JSON document
    #[arg(long, help_heading = "Output")]
    json: bool,
}

pub(crate) fn run(args: &SelectArgs, session: &Session<'_>) -> Result<ExitCode> {
    args.check()?;
    let files = &session.files;
    args.teacher.name_files(files)?;
    let others = [("--validation", &args.validation), ("--test", &args.test)];
    args.data
        .name_files(files, others.map(|(name, path)| (name, path.as_ref())))?;
    let plot = args.plot.create(files)?;
    let output = Destination::create(files, "--output", args.output.as_ref())?;
    let results = files.results(args.json)?;
    let unfinished = args.unfinished(session)?;
    let (input, packed) = args.read(session)?;
    let job = Job {
        args,
        session,
        results,
        input,
    };
    job.run(packed, unfinished, output, plot)
}

impl SelectArgs {
    /// Refuses mistakes that the parser cannot see.
    fn check(&self) -> Result<()> {
        let others = [&self.validation, &self.test].into_iter().flatten();
        self.data
            .read
            .check([&self.data.path].into_iter().chain(others))?;
        let (options, measured) = (self.options(), self.test.is_some());
        let strategies = [options.strategy];
        check_selection(&options, &strategies, self.convention, measured)?;
        let validation = self.validation.is_some();
        let checked = GreedyRankRls::default().check_effects(&strategies, false, validation);
        checked.map_err(|error| {
            args::usage(format_args!("{error}; rankrls tune judges models by it"))
        })?;
        self.teacher.check(&options, &strategies)
    }

    /// The options of the selection.
    fn options(&self) -> GreedyRankRls {
        let (criterion, choose_by) = (self.settings.criterion, self.settings.choose_by);
        let convention = self.convention.known();
        GreedyRankRls {
            k: self.k,
            lambda: self.lambda,
            criterion: criterion.under(convention),
            choose_by: choose_by.map(|measure| measure.under(convention)),
            memory: self.data.read.memory(),
            ..self.settings.clone()
        }
    }

    /// The data, with labels that fit the measures, and its entries if the selection needs only candidates.
    fn read(&self, session: &Session<'_>) -> Result<(Input, Option<Packed>)> {
        let others = [self.validation.as_ref(), self.test.as_ref()];
        let packed = self.options().needs_only_candidates();
        let teacher = &self.teacher;
        let (mut input, packed) = Input::read(&self.data, packed, teacher, others, session)?;
        if let Some(validation) = input.validation.take() {
            input.train = input.train.with_validation(validation.dataset);
        }
        let (test, console) = (self.test.as_ref(), session.console);
        input.check_measures(test, &self.metrics, console)?;
        Ok((input, packed))
    }

    /// The unfinished model beside the output, unless that is a pipe or device.
    fn unfinished(&self, session: &Session<'_>) -> Result<Option<UnfinishedModel>> {
        let is_file = |path: &&PathBuf| !is_stdout(path) && Output::replaces(path);
        let output = self.output.as_ref().filter(is_file);
        if self.resume && output.is_none() {
            let found = "standard output, a pipe or a device";
            return Err(args::usage(format_args!(
                "--resume: expected a file for --output, found {found}"
            )));
        }
        let memory = self.data.read.memory();
        let find =
            |path: &PathBuf| UnfinishedModel::find(path, self.resume, memory, &session.files);
        output.map(find).transpose()
    }
}

/// A selection to make.
struct Job<'a> {
    args: &'a SelectArgs,
    session: &'a Session<'a>,
    results: Results,
    input: Input,
}

impl Job<'_> {
    /// Selects, writes the model and the diagram and prints the report, even after an interrupt on the way.
    fn run(
        mut self,
        packed: Option<Packed>,
        mut unfinished: Option<UnfinishedModel>,
        output: Destination,
        plot: PlotFile,
    ) -> Result<ExitCode> {
        let begin = Instant::now();
        let (args, session) = (self.args, self.session);
        let Some((options, choice, candidates)) = self.prepare(packed, unfinished.as_ref())? else {
            return Ok(session.without_results());
        };
        let (options, given) = self.given(options, &candidates, unfinished.as_mut())?;
        let (input, summary) = (&self.input, candidates.summary());
        let mut tested = Tested::new(input.test_path(&args.metrics, args.convention.known()));
        let mut watch = Watch::new(session);
        watch.begin(args.k.min(summary.column_classes));
        let hash = args.output.as_ref().map(|_| input.hash());
        let model = |selection: &Selection| {
            hash.map(|hash| self.model(selection, &summary, hash, choice.as_ref()))
        };
        let mut save = |work: &Selecting<'_>| match &mut unfinished {
            Some(unfinished) if work.steps().len() > given.len() && unfinished.is_due() => {
                let selection = work.selection();
                if selection.ending != Ending::Interrupted {
                    return Ok(());
                }
                let model = model(&selection);
                let write = |writer: &mut dyn Write| written(model.as_ref(), writer);
                unfinished.keep(session.console, write)
            }
            _ => Ok(()),
        };
        let selection =
            tested.select(input, &candidates, &options, &given, &mut save, &mut watch)?;
        let Some(selection) = selection else {
            let console = session.console;
            console.warn(format_args!("interrupted before the first step: {NOTHING}"));
            return Ok(session.without_results());
        };
        let seconds = begin.elapsed().as_secs_f64();
        let drawn = plot.complete(|| {
            figure(&selection, summary.unit, &input.train, tested.path.as_ref()).to_svg()
        });
        let model = model(&selection);
        let (files, console) = ((output, drawn), session.console);
        let (saved, left) = save_all(
            unfinished,
            given.len(),
            &selection,
            model.as_ref(),
            files,
            console,
        );
        self.warn(&selection, choice.is_some(), left);
        let report = self.report(&selection, &summary, choice.as_ref(), &tested, seconds);
        session.end(&self.results, &report, || report.text(), saved)
    }

    /// The options with all that was not given, how that was chosen, and the candidates. `None` if the choice was
    /// interrupted.
    fn prepare(
        &mut self,
        packed: Option<Packed>,
        unfinished: Option<&UnfinishedModel>,
    ) -> Result<Option<(GreedyRankRls, Option<Choice>, ColumnClasses)>> {
        let (args, session) = (self.args, self.session);
        let mut options = args.options();
        options.memory = self.input.others_in(options.memory);
        options = options.counted(&self.input.train)?;
        let Some((options, mut choice)) = self.chosen(&options, unfinished)? else {
            return Ok(None);
        };
        let keeps_units = args.options().keeps_units();
        let candidates = candidates(&mut self.input, packed, &options, keeps_units, session)?;
        let nonzeros = candidates.summary().nonzeros;
        self.input.warn_of_seen(false, nonzeros, session.console);
        let goes_on = unfinished.map(UnfinishedModel::earlier);
        let made = choice
            .as_mut()
            .filter(|_| !matches!(goes_on, Some(Ok(Some(_)))));
        let options = tune::affordable(options, made, &candidates, &self.input.train);
        Ok(Some((options, choice, candidates)))
    }

    /// The report on a selection that took so many seconds.
    fn report<'r>(
        &'r self,
        selection: &'r Selection,
        summary: &Summary,
        choice: Option<&'r Choice>,
        tested: &Tested<'_>,
        select_seconds: f64,
    ) -> SelectionReport<'r> {
        let (input, args) = (&self.input, self.args);
        let sizes = Sizes::new(&input.train, summary);
        let test = input.test.as_ref();
        let test = test.map(|test| TestSizes::new(test, &args.metrics, args.convention.known()));
        let test = test.zip(tested.path.as_ref());
        let (train, seconds) = (&input.train, input.seconds);
        let mut report =
            SelectionReport::new(selection, train, sizes, test, seconds, select_seconds);
        report.test_seconds = tested.path.as_ref().map(|_| tested.seconds);
        report.peak_rss_bytes = memory::peak();
        report.choice = choice;
        report
    }

    /// The options with every open setting, and the choice by folds. An earlier model to continue has them already.
    /// `None` if the choice was interrupted.
    fn chosen(
        &self,
        options: &GreedyRankRls,
        unfinished: Option<&UnfinishedModel>,
    ) -> Result<Option<(GreedyRankRls, Option<Choice>)>> {
        let earlier = unfinished.map(UnfinishedModel::earlier).transpose()?;
        match earlier.flatten() {
            Some(model) => Ok(Some((model.as_chosen(options), model.choice.clone()))),
            None => choose(options, &self.input.train, self.session),
        }
    }

    /// The options and the steps to continue from; no steps without an earlier model.
    fn given(
        &self,
        options: GreedyRankRls,
        candidates: &ColumnClasses,
        unfinished: Option<&mut UnfinishedModel>,
    ) -> Result<(GreedyRankRls, Vec<Step>)> {
        let hash = || self.input.hash();
        let earlier = unfinished.map(|found| found.go_on(&options, candidates, hash));
        let Some((options, given)) = earlier.transpose()?.flatten() else {
            return Ok((options, Vec::new()));
        };
        let taken = given.len();
        let line = format_args!("going on after {taken} of {} features\n", self.args.k);
        self.session.console.tell(line);
        Ok((options, given))
    }

    /// The model of a selection from data with this `hash`. It says so if the selection has not ended.
    fn model(
        &self,
        selection: &Selection,
        summary: &Summary,
        hash: DataHash,
        choice: Option<&Choice>,
    ) -> Model {
        let mut model = Model::from_selection(selection, &self.input.train, summary, hash);
        model.table = self.input.table.clone();
        model.choice = choice.cloned();
        let progress = Unfinished {
            taken: selection.steps.len(),
            asked: self.args.k,
        };
        model.unfinished = (selection.ending == Ending::Interrupted).then_some(progress);
        model
    }

    /// Warns of the result. `folds` tells whether drawn folds chose lambda. `left` is the place of an interrupted
    /// selection.
    fn warn(&self, selection: &Selection, folds: bool, left: Option<String>) {
        let console = self.session.console;
        console.warn_all(Warning::of_queries(&self.input.train));
        let (criterion, labels) = (selection.options.criterion, self.input.train.labels());
        console.warn_all(Warning::of_grades(criterion.metric().as_slice(), labels));
        console.warn_all(selection.warnings());
        if selection.ending == Ending::Interrupted {
            let report = match self.results {
                Results::Replaced => "standard output",
                Results::Text(_) | Results::Json(_) => "the report",
            };
            let (taken, asked) = (selection.steps.len(), self.args.k);
            let left = left.unwrap_or_else(|| "an unfinished step is lost".to_owned());
            console.warn(format_args!(
                "interrupted after {taken} of {asked} features, which are in {report}; {left}"
            ));
        }
        if !folds && !selection.draws() {
            self.session.warn_of_seed(Some(selection.options.strategy));
        }
    }
}

/// Writes the model, if there is an output.
fn written(model: Option<&Model>, writer: &mut dyn Write) -> io::Result<()> {
    model.map_or(Ok(()), |model| model.write_to(writer))
}

/// Writes the model and the diagram, which is drawn already; of an interrupted selection, that went on after so many
/// `given` steps, the model is left beside the output, and the words say where.
fn save_all(
    unfinished: Option<UnfinishedModel>,
    given: usize,
    selection: &Selection,
    model: Option<&Model>,
    (output, drawn): (Destination, Result<Option<CompleteFile>>),
    console: Console,
) -> (Result<()>, Option<String>) {
    let write = |writer: &mut dyn Write| written(model, writer);
    match unfinished {
        Some(part) if selection.ending == Ending::Interrupted => {
            let (left, found) = part.leave(selection.steps.len(), given, write);
            (left.and(appear_after(true, [drawn], console)), found)
        }
        part => {
            let saved = appear([output.complete(write), drawn]);
            let end = |()| part.map_or(Ok(()), UnfinishedModel::end);
            (saved.and_then(end), None)
        }
    }
}

/// The candidates, made of `packed` entries if there are some.
fn candidates(
    input: &mut Input,
    packed: Option<Packed>,
    options: &GreedyRankRls,
    keeps_units: bool,
    session: &Session<'_>,
) -> Result<ColumnClasses> {
    if let Some(packed) = packed {
        return input.unpacked(packed, options, session.console);
    }
    let candidates = options.candidates(&input.train)?;
    choosing::warn_of_units(keeps_units, &candidates, &input.train, session.console);
    Ok(candidates)
}

/// Measures the test data, if there are any, after each step.
pub(super) struct Tested<'a> {
    pub(super) path: Option<TestPath<'a>>,
    /// Seconds of measuring.
    pub(super) seconds: f64,
}

impl<'a> Tested<'a> {
    pub(super) fn new(path: Option<TestPath<'a>>) -> Self {
        Self { path, seconds: 0.0 }
    }

    /// Selects among the `candidates` of `input` after the `given` steps, and lets `save` see every step; `None` if
    /// interrupted before the first step.
    pub(super) fn select(
        &mut self,
        input: &Input,
        candidates: &ColumnClasses,
        options: &GreedyRankRls,
        given: &[Step],
        save: &mut (dyn FnMut(&Selecting<'_>) -> Result<()> + Send),
        watch: &mut Watch<'_>,
    ) -> Result<Option<Selection>> {
        let (train, mut failure) = (&input.train, None);
        let selection = watch.run(|watch| {
            let mut each = |step: &Step, work: &Selecting<'_>| {
                let measured = self.measure(step, work);
                let measured = measured.context("cannot measure the test data");
                if let Err(error) = measured.and_then(|()| save(work)) {
                    failure = Some(error);
                    return ControlFlow::Break(());
                }
                watch.stepped(step)
            };
            select_among(candidates, train, options, given, &mut each)
        })?;
        match failure {
            None => Ok(selection.transpose()?),
            Some(error) => Err(error),
        }
    }

    fn measure(&mut self, step: &Step, work: &Selecting<'_>) -> Result<(), Error> {
        let Some(path) = &mut self.path else {
            return Ok(());
        };
        let begin = Instant::now();
        let measured = path.push(step.feature, &work.state().weights());
        self.seconds += begin.elapsed().as_secs_f64();
        measured
    }
}

/// The path of a selection: held-out measures, and measures of the test data, with the names of the
/// features below.
fn figure(
    selection: &Selection,
    unit: f64,
    train: &Dataset<'_>,
    test: Option<&TestPath<'_>>,
) -> Lines {
    let strategy = selection.strategy_name();
    let lambda = lambda_name(selection.lambda.value(), unit);
    let features = counted(selection.steps.len(), "feature");
    let lead = test.map_or_else(String::new, lead);
    let tested = test.into_iter().flat_map(test_panels);
    let names = selection.steps.iter().map(|step| {
        let name = train.name_of(step.feature).map(str::to_owned);
        name.unwrap_or_else(|| train.index_base().file_index(step.feature).to_string())
    });
    Lines {
        title: format!("{features} by {strategy} at lambda {lambda}{lead}"),
        panels: tested.chain(lqo_panels(&selection.steps)).collect(),
        names: names.collect(),
        note: test.map_or_else(String::new, |test| note(Some(test))),
    }
}
