//! `rankrls letor`.

mod curves;
mod report;

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Instant;

use anyhow::Result;
use clap::Args;
use indicatif::ProgressBar;
use rankrls::data::read::{Format, Loaded, ReadOptions};
use rankrls::letor::{self, Curve, Fold, FoldFiles, LetorError, Observer, Options};
use rankrls::memory;
use rankrls::{QueryWeight, StrategyKind};

use super::args;
use super::args::Lambdas;
use super::args::{at_least_one, auto_or};
use super::console::Console;
use super::console::Interrupt;
use super::data::warn_dropped;
use super::output::{print, print_json};
use curves::CurveFiles;
use rankrls::memory::Bytes;
use report::{FoldReport, Report};

const STYLE: &str = "{bar:24} {pos}/{len} selections, {msg}{eta} left";

/// Run the experiment of the LETOR collections: train, choose on validation data, test
///
/// On every fold, Greedy RankRLS selects features with each lambda, lambda and the number of
/// features are chosen together by mean average precision on the validation data (ties to fewer
/// features, then to the lambda nearest 1), and the chosen model is measured on the test data;
/// beside it RankRLS on all features, its lambda chosen likewise. All measures follow the
/// convention letor.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  rankrls letor MQ2008
  rankrls letor MQ2008/Fold3 --curves fold3.svg
  rankrls letor MQ2008 --curves figures --json > mq2008.json
  rankrls letor MQ2008 --lambdas 2^-4..2^8:2 -k 20 --query-weight pairs

DIR has train.txt, vali.txt and test.txt, or folders Fold1, Fold2 and so on that do.
Files may be compressed: train.txt.gz, train.txt.zst.")]
pub(crate) struct LetorArgs {
    /// Folder of a fold or of folds
    #[arg(value_name = "DIR")]
    directory: PathBuf,
    #[arg(long, value_name = "LIST", allow_hyphen_values = true)]
    #[arg(default_value = "2^-10..2^10", help = args::LAMBDAS_HELP)]
    lambdas: Lambdas,
    /// Most features to select [default: all]
    #[arg(short, value_name = "K", value_parser = at_least_one)]
    k: Option<usize>,
    /// Strategy: auto is the fastest exact one that fits into memory
    #[arg(long, value_name = "NAME", default_value = "auto")]
    #[arg(value_parser = auto_or::<StrategyKind>(StrategyKind::ALL.map(StrategyKind::name)))]
    strategy: std::option::Option<StrategyKind>,
    #[arg(long, value_name = "NAME", default_value = "uniform")]
    #[arg(value_parser = args::query_weight(), help = args::QUERY_WEIGHT_HELP)]
    query_weight: QueryWeight,
    /// Draw the validation measures against the number of features: all folds into one
    /// FILE.svg, FILE.png or FILE.html, or else an SVG a fold and measure into this folder
    #[arg(long, value_name = "PATH")]
    curves: Option<PathBuf>,
    /// Memory that may be taken, such as 8GiB [default: what is free less a twentieth, at least
    /// 256 MiB]
    #[arg(long, value_name = "SIZE")]
    max_memory: Option<Bytes>,
    /// Print one JSON document
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &LetorArgs, console: Console) -> Result<ExitCode> {
    let files = letor::find(&args.directory)?;
    let curves = CurveFiles::create(args.curves.as_deref(), &files)?;
    let options = args.options();
    let interrupt = Interrupt::install()?;
    // A signal ends with a message, and the report of the folds that are done.
    interrupt.disarm();
    let bar = console.bar(files.len() * options.grid().len(), STYLE);
    let mut folds = Vec::with_capacity(files.len());
    for files in &files {
        let watch = Watch {
            fold: &files.name,
            interrupt: &interrupt,
            bar: &bar,
        };
        match args.fold(files, &options, console, &watch) {
            Err(LetorError::Interrupted { .. }) => break,
            fold => folds.push(fold),
        }
    }
    bar.finish_and_clear();
    let folds: Vec<FoldReport> = folds.into_iter().collect::<Result<_, _>>()?;
    if folds.len() < files.len() {
        let (done, all) = (folds.len(), files.len());
        console.warn(format_args!("interrupted: {done} of {all} folds are done"));
        if folds.is_empty() {
            return Ok(interrupt.code().unwrap_or(ExitCode::FAILURE));
        }
    }
    let report = Report {
        directory: &args.directory,
        options: &options,
        k: args.k,
        query_weight: args.query_weight,
        folds: &folds,
    };
    let drawn = curves.write(&folds);
    if args.json {
        print_json(&report.document())?;
    } else {
        print(|output| output.write_all(report.text().as_bytes()))?;
    }
    // What was found is printed even if it could not be drawn.
    drawn?;
    Ok(interrupt.code().unwrap_or(ExitCode::SUCCESS))
}

/// Progress and signals.
struct Watch<'a> {
    fold: &'a str,
    interrupt: &'a Interrupt,
    bar: &'a ProgressBar,
}

impl Observer for Watch<'_> {
    fn followed(&self, curve: &Curve) {
        tracing::info!(fold = self.fold, lambda = curve.lambda.value(), "selected");
        self.bar.inc(1);
    }

    fn interrupted(&self) -> bool {
        self.interrupt.code().is_some()
    }
}

impl LetorArgs {
    fn options(&self) -> Options {
        let mut options = Options::new()
            .lambdas(&self.lambdas.0)
            .query_weight(self.query_weight);
        if let Some(k) = self.k {
            options = options.features(k);
        }
        if let Some(strategy) = self.strategy {
            options = options.strategy(strategy);
        }
        if let Some(bytes) = self.budget() {
            options = options.max_memory(bytes);
        }
        options
    }

    fn budget(&self) -> Option<u64> {
        let asked = self.max_memory.map(|Bytes(bytes)| bytes);
        asked.or_else(memory::budget)
    }

    fn fold(
        &self,
        files: &FoldFiles,
        options: &Options,
        console: Console,
        watch: &Watch<'_>,
    ) -> Result<FoldReport, LetorError> {
        let begin = Instant::now();
        watch.bar.set_message(format!("{}, ", files.name));
        tracing::info!(fold = %files.name, "reading");
        let reading = ReadOptions::new()
            .format(Format::Svmlight)
            .max_memory(self.budget());
        let fold = files.read(&reading)?;
        watch.bar.suspend(|| warn(&fold, console));
        let outcome = letor::run(&fold, options, watch)?;
        Ok(FoldReport::new(
            &fold,
            outcome,
            begin.elapsed().as_secs_f64(),
        ))
    }
}

fn warn(fold: &Fold, console: Console) {
    let of = |loaded: &Loaded, what: &str| {
        let to = format!("the training data of {}, in its {what} data", fold.name);
        warn_dropped(loaded, &to, console);
    };
    of(&fold.validation, "validation");
    of(&fold.test, "test");
}
