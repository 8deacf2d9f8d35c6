//! `rankrls letor`.

use std::fmt::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Instant;

use anyhow::{Result, anyhow};
use clap::Args;
use rankrls::data::read::{Format, ReadOptions};
use rankrls::greedy::TargetOptions;
use rankrls::letor::{
    self, AllFeatures, Fold, FoldFiles, FoldOutcome, LetorError, MEASURES, Measures, validation,
};
use rankrls::memory::{self, Bytes};
use rankrls::plot::{Figure, LinePlot, panel, power};
use rankrls::tune::{Curve, Measure, Outcome, Rule, TuneError, Tuned};
use rankrls::{Dataset, Lambda, Lambdas, QueryWeight, SelectionOptions, StrategyKind};
use serde::Serialize;

use super::args::{at_least_one, one_of};
use super::console::Console;
use super::figures::PlotArgs;
use super::numbers::{counted, printable};
use super::output::{Object, by_name};
use super::session::Session;
use super::settings::{LAMBDAS_HELP, QUERY_WEIGHT_HELP, TargetArgs, TeacherArgs, strategy};
use super::sheet::Sheet;
use super::warnings::{warn_dropped, warn_of_edge, warn_of_teacher};
use super::watch::Watch;

/// Run the experiment of the LETOR collections: train, choose on validation data, test
///
/// On every fold, Greedy RankRLS selects features with each lambda, lambda and the number of
/// features are chosen together by mean average precision on the validation data (ties to fewer
/// features, then to the larger lambda), and the chosen model is measured on the test data;
/// beside it RankRLS on all features, its lambda chosen likewise. All measures follow the
/// convention letor.
#[derive(Debug, Args)]
#[command(mut_arg("plot", |plot| plot.alias("curves")))]
#[command(after_help = "\
Examples:
  rankrls letor MQ2008
  rankrls letor MQ2008/Fold3 --plot fold3.svg
  rankrls letor MQ2008 --json > mq2008.json
  rankrls letor MQ2008 --lambdas 2^-4..2^8:2 -k 20 --query-weight pairs

DIR has train.txt, vali.txt and test.txt, or folders Fold1, Fold2 and so on that do.
Files may be compressed: train.txt.gz, train.txt.zst.")]
pub(crate) struct LetorArgs {
    /// Folder of a fold or of folds
    #[arg(value_name = "DIR")]
    directory: PathBuf,
    #[arg(long, value_name = "LIST", allow_hyphen_values = true)]
    #[arg(default_value = "2^-10..2^10", help = LAMBDAS_HELP)]
    lambdas: Lambdas,
    /// Most features to select [default: all]
    #[arg(short, value_name = "K", value_parser = at_least_one)]
    k: Option<usize>,
    /// Strategy: auto is the fastest exact one that fits into memory
    #[arg(long, value_name = "NAME", default_value = "auto")]
    #[arg(value_parser = strategy())]
    strategy: std::option::Option<StrategyKind>,
    #[arg(long, value_name = "NAME", default_value = "uniform", help = QUERY_WEIGHT_HELP)]
    #[arg(value_parser = one_of(QueryWeight::ALL, QueryWeight::name))]
    query_weight: QueryWeight,
    #[command(flatten)]
    target: TargetArgs,
    #[command(flatten)]
    plot: PlotArgs,
    /// Memory that may be taken, such as 8GiB [default: 95% of the free memory, at least 256 MiB]
    #[arg(long, value_name = "SIZE")]
    max_memory: Option<Bytes>,
    /// Print one JSON document
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &LetorArgs, session: &Session<'_>) -> Result<ExitCode> {
    TeacherArgs::default().check(&args.target.options(), &[args.strategy], &**session.peers)?;
    args.plot.check()?;
    let files = letor::find(&args.directory)?;
    let plot = args.plot.create(session)?;
    let mut folds = Vec::with_capacity(files.len());
    for files in &files {
        match args.fold(files, session)? {
            Some(fold) => folds.push(fold),
            None => break,
        }
    }
    if folds.len() < files.len() {
        let (done, all) = (folds.len(), files.len());
        let done = format_args!("interrupted: {done} of {all} folds are done");
        session.console.warn(done);
        if folds.is_empty() {
            return Ok(session.without_results());
        }
    }
    let drawn = plot.map_or(Ok(()), |plot| plot.write(figure(&folds)));
    let report = Report {
        args,
        folds: &folds,
    };
    session.end(args.json, &report.document(), || report.text(), drawn)
}

impl LetorArgs {
    /// Runs the protocol on a fold; `None` if that was interrupted.
    fn fold(&self, files: &FoldFiles, session: &Session<'_>) -> Result<Option<FoldReport>> {
        let (begin, console) = (Instant::now(), session.console);
        tracing::info!(fold = %files.name, "reading");
        let asked = self.max_memory.map(|Bytes(bytes)| bytes);
        let max_memory = asked.or_else(memory::budget);
        let reading = ReadOptions::new()
            .format(Format::Svmlight)
            .max_memory(max_memory);
        let fold = files.read(&reading)?;
        warn(&fold, console);
        let options = SelectionOptions {
            strategy: self.strategy,
            query_weight: self.query_weight,
            target: self.target.options(),
            max_memory,
            ..SelectionOptions::new(self.k.unwrap_or(usize::MAX), Lambda::ONE)
        };
        let mut watch = Watch::named(session, &files.name);
        let ran = watch.run(|watch| letor::run(&fold, &options, self.lambdas.clone(), watch))?;
        let outcome = match ran {
            None | Some(Err(LetorError::Tune(TuneError::Interrupted))) => return Ok(None),
            Some(outcome) => outcome.map_err(|error| anyhow!("{}: {error}", files.name))?,
        };
        let (greedy, all) = (outcome.tuned.selection(), &outcome.all_features);
        let lambdas = lambdas(&outcome.tuned);
        let lambdas = lambdas.iter().map(|lambda| lambda.value());
        for (model, chosen) in [
            ("features", greedy.options.lambda),
            ("all columns", all.lambda),
        ] {
            let what = format!("{}: the lambda of {model}", files.name);
            warn_of_edge(&what, lambdas.clone(), chosen.value(), console);
        }
        warn_of_teacher(greedy.teacher, console);
        let seconds = begin.elapsed().as_secs_f64();
        Ok(Some(FoldReport::new(&fold, outcome, seconds)))
    }
}

fn warn(fold: &Fold, console: Console) {
    for (loaded, what) in [(&fold.validation, "validation"), (&fold.test, "test")] {
        let to = format!("the training data of {}, in its {what} data", fold.name);
        warn_dropped(loaded, &to, console);
    }
}

/// The ridge parameters of the paths, ascending.
fn lambdas(tuned: &Tuned) -> Vec<Lambda> {
    let paths = tuned.outcomes.iter();
    paths.map(|path| path.options.lambda).collect()
}

/// A fold that is done with.
#[derive(Debug)]
struct FoldReport {
    tuned: Tuned,
    entry: FoldEntry,
}

#[derive(Debug, Serialize)]
struct Document<'a> {
    schema: &'static str,
    directory: String,
    query_weight: QueryWeight,
    #[serde(skip_serializing_if = "Option::is_none")]
    target: Option<TargetOptions>,
    k: Option<usize>,
    lambdas: &'a Lambdas,
    folds: Vec<&'a FoldEntry>,
    /// Of the test data, by model.
    mean: Object<Object<Measures>>,
}

#[derive(Debug, Serialize)]
struct FoldEntry {
    fold: String,
    train: Size,
    validation: Size,
    test: Size,
    constant_columns: usize,
    column_classes: usize,
    greedy: GreedyEntry,
    all_features: AllFeatures,
    curves: Vec<CurveEntry>,
    seconds: f64,
}

#[derive(Debug, Serialize)]
struct Size {
    rows: usize,
    queries: usize,
    columns: usize,
    nonzeros: usize,
}

#[derive(Debug, Serialize)]
struct GreedyEntry {
    strategy: &'static str,
    lambda: Lambda,
    k: usize,
    /// As the files write them.
    features: Vec<u64>,
    weights: Vec<f64>,
    validation: Measures,
    test: Measures,
}

#[derive(Debug, Serialize)]
struct CurveEntry {
    lambda: Lambda,
    features: Vec<u64>,
    validation: Object<Vec<Option<f64>>>,
}

impl Size {
    fn of(dataset: &Dataset<'_>) -> Self {
        Self {
            rows: dataset.rows(),
            queries: dataset.queries().len(),
            columns: dataset.width(),
            nonzeros: dataset.nonzeros(),
        }
    }
}

impl FoldEntry {
    /// Test measures of the greedy model, and of that on all features.
    fn tests(&self) -> [Measures; 2] {
        [self.greedy.test, self.all_features.test]
    }
}

impl FoldReport {
    fn new(fold: &Fold, outcome: FoldOutcome, seconds: f64) -> Self {
        let (tuned, summary) = (outcome.tuned, outcome.summary);
        let selection = tuned.selection();
        let written = |feature| fold.train.index_base().written(feature);
        let curve = |path: &Outcome| CurveEntry {
            lambda: path.options.lambda,
            features: path
                .points
                .iter()
                .map(|point| written(point.step.feature))
                .collect(),
            validation: by_name(MEASURES, (0..).map(|index| of(path, index))),
        };
        let entry = FoldEntry {
            fold: fold.name.clone(),
            train: Size::of(&fold.train),
            validation: Size::of(&fold.validation.dataset),
            test: Size::of(&fold.test.dataset),
            constant_columns: summary.constant_columns,
            column_classes: summary.column_classes,
            greedy: GreedyEntry {
                strategy: selection.strategy.name(),
                lambda: selection.options.lambda,
                k: selection.steps.len(),
                features: selection.features().into_iter().map(written).collect(),
                weights: selection.weights,
                validation: validation(tuned.point()),
                test: outcome.test,
            },
            all_features: outcome.all_features,
            curves: tuned.outcomes.iter().map(curve).collect(),
            seconds,
        };
        Self { tuned, entry }
    }
}

/// All folds.
struct Report<'a> {
    args: &'a LetorArgs,
    folds: &'a [FoldReport],
}

impl<'a> Report<'a> {
    /// The JSON document of the schema `rankrls.letor/1`.
    fn document(&self) -> impl Serialize {
        let names = ["greedy", "all_features"].map(str::to_owned);
        let test = |means: Measures| Object(vec![("test".to_owned(), means)]);
        Document {
            schema: "rankrls.letor/1",
            directory: self.args.directory.to_string_lossy().into_owned(),
            query_weight: self.args.query_weight,
            target: Some(self.args.target.options())
                .filter(|target| *target != TargetOptions::default()),
            k: self.args.k,
            lambdas: &self.args.lambdas,
            folds: self.folds.iter().map(|fold| &fold.entry).collect(),
            mean: Object(names.into_iter().zip(self.means().map(test)).collect()),
        }
    }

    /// Means of the test measures over the folds, of the greedy models and of the models on
    /// all features.
    fn means(&self) -> [Measures; 2] {
        [0, 1].map(|model| {
            let tests = self.folds.iter().map(|fold| fold.entry.tests()[model]);
            Measures::mean(&tests.collect::<Vec<_>>())
        })
    }

    /// The report for people, in the tables of the paper.
    fn text(&self) -> String {
        let mut text = self.heading();
        let _ = writeln!(text, "\nchosen on validation data\n{}", self.choices());
        let titles = ["MAP", "P@10", "mean NDCG", "NDCG@10"];
        for (index, title) in titles.iter().enumerate() {
            let _ = writeln!(text, "\n{title} on test data\n{}", self.measured(index));
        }
        text
    }

    fn heading(&self) -> String {
        let folds = counted(self.folds.len() as u64, "fold");
        let directory = printable(&self.args.directory.to_string_lossy());
        // Of the first fold: shares may be other numbers in others.
        let first = self.folds.first();
        let lambdas = first.map_or_else(Vec::new, |fold| lambdas(&fold.tuned));
        let ends = [lambdas.first(), lambdas.last()].into_iter().flatten();
        let ends: Vec<String> = ends.map(Lambda::to_string).collect();
        let size = |size: &Size| format!("{} in {}", size.rows, size.queries);
        let sizes = Sheet::of(self.folds)
            .words("fold", |fold| &*fold.entry.fold)
            .number("columns", |fold| fold.entry.train.columns)
            .number("rows in queries to train", |fold| size(&fold.entry.train))
            .number("to validate", |fold| size(&fold.entry.validation))
            .number("to test", |fold| size(&fold.entry.test));
        format!(
            "{directory}: {folds}, query weight {}\n{} from {}\n\n{}\n",
            self.args.query_weight,
            counted(lambdas.len() as u64, "lambda"),
            ends.join(" to "),
            sizes.text()
        )
    }

    fn choices(&self) -> String {
        Sheet::of(self.folds)
            .words("fold", |fold| fold.entry.fold.as_str())
            .number("lambda", |fold| fold.entry.greedy.lambda.to_string())
            .number("k", |fold| fold.entry.greedy.k)
            .number("lambda, all", |fold| {
                fold.entry.all_features.lambda.to_string()
            })
            .words("features", |fold| {
                let features = fold.entry.greedy.features.iter().map(u64::to_string);
                features.collect::<Vec<String>>().join(" ")
            })
            .text()
    }

    fn measured(&self, index: usize) -> String {
        let of = |fold: &'a FoldReport| {
            (
                &*fold.entry.fold,
                fold.entry.tests().map(|test| test[index]),
            )
        };
        let mut rows: Vec<_> = self.folds.iter().map(of).collect();
        if rows.len() > 1 {
            rows.push(("average", self.means().map(|means| means[index])));
        }
        Sheet::of(&rows)
            .words("fold", |(fold, _)| *fold)
            .measure("greedy", |(_, [greedy, _])| *greedy)
            .measure("all features", |(_, [_, all])| *all)
            .text()
    }
}

/// Values of one of [`MEASURES`] for validation data, after 1, 2, ... features.
fn of(path: &Outcome, index: usize) -> Vec<Option<f64>> {
    let points = path.points.iter();
    points.map(|point| validation(point)[index]).collect()
}

/// Measures that there are curves of: their places in [`MEASURES`], and labels.
const CURVES: [(usize, &str); 2] = [(0, "validation MAP"), (2, "validation mean NDCG")];

/// The curves of the means over folds, if there are several, and of each fold.
fn figure(folds: &[FoldReport]) -> Figure {
    let means = (folds.len() > 1).then(|| mean_curves(folds));
    let panels = means.into_iter().chain(folds.iter().map(curves)).flatten();
    let note = "Thick line and ring: chosen by validation MAP, and the best of the means.";
    let figure = Figure::new("Validation measures of Greedy RankRLS");
    panels.fold(figure.columns(2).note(note), Figure::lines)
}

/// The curves of [`CURVES`] averaged over folds: the figures 3 and 4 of the paper. A value is there
/// where all folds have it. The best mean is marked.
fn mean_curves(folds: &[FoldReport]) -> [LinePlot; 2] {
    let lambdas = folds
        .first()
        .map_or_else(Vec::new, |fold| lambdas(&fold.tuned));
    CURVES.map(|(index, label)| {
        let mean = |&lambda: &Lambda| {
            let own = |path: &&Outcome| path.options.lambda == lambda;
            let values = folds.iter().map(|fold| {
                let path = fold.tuned.outcomes.iter().find(own);
                path.map_or_else(Vec::new, |path| of(path, index))
            });
            let values: Vec<Vec<Option<f64>>> = values.collect();
            let shortest = values.iter().map(Vec::len).min().unwrap_or(0);
            let mean = |step| letor::mean(values.iter().map(|values| values[step]));
            Curve::of_means(lambda, (0..shortest).map(mean))
        };
        let means: Vec<Curve> = lambdas.iter().map(mean).collect();
        let best = Rule::Best.choose(Measure::Metric(MEASURES[index]), &means);
        let curves = means.iter().map(|curve| {
            let values = curve.scores.iter().map(|score| score.mean);
            (power(curve.lambda.value()), values.collect())
        });
        let best = best.map(|choice| (choice.position, choice.k));
        panel(label, curves.collect(), Some("lambda"), best)
            .title(format!("Mean over {}", counted(folds.len(), "fold")))
    })
}

/// The curves of a fold by each of [`CURVES`], one line a lambda, the chosen model marked.
fn curves(fold: &FoldReport) -> [LinePlot; 2] {
    let tuned = &fold.tuned;
    CURVES.map(|(index, label)| {
        let curve = |path: &Outcome| (power(path.options.lambda.value()), of(path, index));
        let curves = tuned.outcomes.iter().map(curve).collect();
        let chosen = Some((tuned.choice.position, tuned.choice.k));
        panel(label, curves, Some("lambda"), chosen).title(&fold.entry.fold)
    })
}
