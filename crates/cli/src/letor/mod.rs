//! `rankrls letor`.

mod figure;
mod protocol;
#[cfg(test)]
mod tests;

use std::fmt::Write as _;
use std::path::Path;
use std::process::ExitCode;
use std::time::Instant;

use anyhow::{Result, anyhow};
use clap::Args;
use rankrls::data::read::{Format, ReadOptions};
use rankrls::greedy::TargetOptions;
use rankrls::memory::{Bytes, Memory};
use rankrls::metrics::Convention;
use rankrls::warning::Warning;
use rankrls::{Lambdas, QueryWeight, SelectionOptions, StrategyKind};
use rankrls_files::memory;
use serde::Serialize;

use crate::args::{at_least_one, auto_or};
use crate::data::{Sizes, TestSizes, dropped};
use crate::figures::PlotArgs;
use crate::files::InPath;
use crate::numbers::{counted, printable};
use crate::output::{Object, by_name};
use crate::session::Session;
use crate::settings::{LAMBDAS_HELP, TeacherArgs, setting};
use crate::sheet::Sheet;
use crate::watch::Watch;
use protocol::{Fold, FoldOutcome, MEASURES, Measures};

/// Run the experiment of the LETOR collections: train, choose on validation data, test
///
/// On every fold, Greedy RankRLS selects features with each lambda, lambda and the number of
/// features are chosen together by mean average precision on the validation data (ties to fewer
/// features, then to the larger lambda), and the chosen model is measured on the test data;
/// beside it RankRLS on all features, its lambda chosen likewise. All measures follow the
/// convention letor.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  rankrls letor MQ2008
  rankrls letor MQ2008/Fold3 --plot fold3.svg
  rankrls letor MQ2008 --json > mq2008.json
  rankrls letor MQ2008 --lambdas 2^-4..2^8:2 -k 20 --query-weight pairs

DIR has train.txt, vali.txt and test.txt, or folders Fold1, Fold2 and so on that do.
Files may be compressed: train.txt.gz, train.txt.zst.")]
#[command(mut_args(setting))]
pub(crate) struct LetorArgs {
    /// Folder of a fold or of folds
    #[arg(value_name = "DIR")]
    directory: InPath,
    #[arg(long, value_name = "LIST", allow_hyphen_values = true)]
    #[arg(help_heading = "Selection", default_value = protocol::LAMBDAS, help = LAMBDAS_HELP)]
    lambdas: Lambdas,
    /// Most features to select [default: all]
    #[arg(help_heading = "Selection", short, value_name = "K", value_parser = at_least_one)]
    k: Option<usize>,
    #[arg(help_heading = "Selection", long, value_parser = auto_or(StrategyKind::ALL, StrategyKind::name))]
    strategy: std::option::Option<StrategyKind>,
    #[arg(help_heading = "Selection", long)]
    query_weight: QueryWeight,
    #[command(flatten)]
    target: TargetOptions,
    #[command(flatten)]
    plot: PlotArgs,
    /// Memory that may be taken, such as 8GiB [default: 95% of the free memory, at least 256 MiB]
    #[arg(help_heading = "Running", long, value_name = "SIZE")]
    max_memory: Option<Bytes>,
    /// Print one JSON document
    #[arg(help_heading = "Output", long)]
    json: bool,
}

pub(crate) fn run(args: &LetorArgs, session: &Session<'_>) -> Result<ExitCode> {
    TeacherArgs::default().check(&args.target, &[args.strategy])?;
    let folders = protocol::find(&args.directory)?;
    for folder in &folders {
        for file in Fold::files(folder)? {
            session.files.check_read("DIR", &file)?;
        }
    }
    let plot = args.plot.create()?;
    let mut folds = Vec::with_capacity(folders.len());
    for folder in &folders {
        match args.fold(folder, session)? {
            Some(fold) => folds.push(fold),
            None => break,
        }
    }
    if folds.len() < folders.len() {
        let (done, all) = (folds.len(), folders.len());
        let warning = format_args!("interrupted: {done} of {all} folds are done");
        session.console.warn(warning);
        if folds.is_empty() {
            return Ok(session.without_results());
        }
    }
    let drawn = plot.write(|| figure::figure(&folds));
    let report = Report::new(args, folds);
    session.end(args.json, &report, || report.text(), drawn)
}

impl LetorArgs {
    /// Runs the protocol on a fold; `None` if that was interrupted.
    fn fold(&self, folder: &Path, session: &Session<'_>) -> Result<Option<FoldReport>> {
        let (begin, console) = (Instant::now(), session.console);
        tracing::info!(fold = %folder.display(), "reading");
        let asked = self.max_memory.map(|Bytes(bytes)| bytes);
        let memory = Memory::limit(asked.or_else(memory::budget));
        let reading = ReadOptions::new().format(Format::Svmlight).memory(memory);
        let fold = Fold::read(folder, &reading)?;
        let name = &fold.name;
        let measured = [(&fold.validation, "validation"), (&fold.test, "test")];
        let [validation, test] = measured.map(|(loaded, what)| {
            let to = format!("the training data of {name}, in its {what} data");
            console.warn_all(dropped(loaded, &to));
            TestSizes::new(loaded, &MEASURES, &Convention::Letor.into())
        });
        let options = SelectionOptions {
            strategy: self.strategy,
            query_weight: self.query_weight,
            target: self.target.clone(),
            memory,
            ..SelectionOptions::new(self.k.unwrap_or(usize::MAX), None)
        };
        let mut watch = Watch::named(session, name);
        let ran = watch.run(|watch| protocol::run(&fold, &options, self.lambdas.clone(), watch))?;
        let found = ran
            .transpose()
            .map_err(|error| anyhow!("{name}: {error}"))?;
        let Some(outcome) = found.flatten() else {
            return Ok(None);
        };
        console.warn_all(outcome.warnings(name));
        let (labels, rules) = (fold.test.dataset.labels(), Convention::Letor.into());
        console.warn_all(Warning::of_grades(&MEASURES, labels, &rules, false));
        Ok(Some(FoldReport {
            train: Sizes::new(&fold.train, &outcome.summary),
            validation,
            test,
            fold: fold.name,
            outcome,
            seconds: begin.elapsed().as_secs_f64(),
        }))
    }
}

/// A fold that is done with.
#[derive(Debug, Serialize)]
struct FoldReport {
    fold: String,
    train: Sizes,
    validation: TestSizes,
    test: TestSizes,
    #[serde(flatten)]
    outcome: FoldOutcome,
    seconds: f64,
}

/// All folds, in the schema `rankrls.letor/1`.
#[derive(Debug, Serialize)]
struct Report<'a> {
    schema: &'static str,
    directory: String,
    query_weight: QueryWeight,
    #[serde(skip_serializing_if = "Option::is_none")]
    target: Option<TargetOptions>,
    k: Option<usize>,
    lambdas: &'a Lambdas,
    folds: Vec<FoldReport>,
    /// Means over the folds of measures on the test data, by model.
    mean: Object<Object<Measures>>,
}

impl<'a> Report<'a> {
    fn new(args: &'a LetorArgs, folds: Vec<FoldReport>) -> Self {
        let target = args.target.clone();
        let means = means_of_tests(&folds).map(|means| by_name(["test"], [means]));
        Self {
            schema: "rankrls.letor/1",
            directory: args.directory.to_string_lossy().into_owned(),
            query_weight: args.query_weight,
            target: Some(target).filter(|target| *target != TargetOptions::default()),
            k: args.k,
            lambdas: &args.lambdas,
            folds,
            mean: by_name(["greedy", "all_features"], means),
        }
    }

    /// The report for people, in the tables of the paper.
    fn text(&self) -> String {
        let mut text = self.heading();
        let _ = writeln!(text, "\nchosen on validation data\n{}", self.choices());
        let titles = ["MAP", "P@10", "mean NDCG", "NDCG@10"];
        let mut rows: Vec<_> = self
            .folds
            .iter()
            .map(|fold| (&*fold.fold, fold.tests()))
            .collect();
        if rows.len() > 1 {
            rows.push(("average", means_of_tests(&self.folds)));
        }
        for (index, title) in titles.iter().enumerate() {
            let sheet = Sheet::of(&rows)
                .words("fold", |(fold, _)| *fold)
                .measure("greedy", |(_, tests)| tests[0].0[index])
                .measure("all features", |(_, tests)| tests[1].0[index]);
            let _ = writeln!(text, "\n{title} on test data\n{}", sheet.text());
        }
        text
    }

    fn heading(&self) -> String {
        let folds = counted(self.folds.len() as u64, "fold");
        let directory = printable(&self.directory);
        // The first fold is shown: shares may be other numbers in others.
        let paths = &self.folds[0].outcome.paths;
        let outer = [paths.first(), paths.last()].into_iter().flatten();
        let ends: Vec<String> = outer.map(|path| path.lambda.to_string()).collect();
        let size = |rows, queries| format!("{rows} in {queries}");
        let sizes = Sheet::of(&self.folds)
            .words("fold", |fold| &*fold.fold)
            .number("columns", |fold| fold.train.columns)
            .number("rows in queries to train", |fold| {
                size(fold.train.rows, fold.train.queries)
            })
            .number("to validate", |fold| {
                size(fold.validation.rows, fold.validation.queries)
            })
            .number("to test", |fold| size(fold.test.rows, fold.test.queries));
        format!(
            "{directory}: {folds}, query weight {}\n{} from {}\n\n{}\n",
            self.query_weight,
            counted(paths.len() as u64, "lambda"),
            ends.join(" to "),
            sizes.text()
        )
    }

    fn choices(&self) -> String {
        Sheet::of(&self.folds)
            .words("fold", |fold| &*fold.fold)
            .number("lambda", |fold| fold.outcome.greedy.lambda.to_string())
            .number("k", |fold| fold.outcome.greedy.k)
            .number("lambda, all", |fold| {
                fold.outcome.all_features.lambda.to_string()
            })
            .words("features", |fold| {
                let features = fold.outcome.greedy.features.iter().map(u64::to_string);
                features.collect::<Vec<String>>().join(" ")
            })
            .text()
    }
}

impl FoldReport {
    /// Test measures of the greedy model, and of that on all features.
    fn tests(&self) -> [Measures; 2] {
        [&self.outcome.greedy, &self.outcome.all_features].map(|model| model.test)
    }
}

/// Means of the test measures over the folds, of the greedy models and of the models on all features.
fn means_of_tests(folds: &[FoldReport]) -> [Measures; 2] {
    let tests = folds.iter().map(FoldReport::tests);
    let (greedy, all): (Vec<_>, Vec<_>) = tests.map(Into::into).unzip();
    [greedy, all].map(|tests| Measures::mean(&tests))
}
