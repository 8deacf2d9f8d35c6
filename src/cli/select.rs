//! `rankrls select`.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Result;
use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use rankrls::metrics::Convention;
use rankrls::select::{Options, SelectError};
use rankrls::{Candidates, Lambda, StrategyKind};

use super::console::Console;
use super::data::{self, DataArgs};
use super::input::Input;
use super::interrupt::Interrupt;
use super::measures::{self, Measures};
use super::output::{OutputFile, print, print_json};
use super::plan::PlanReport;
use super::selection::Job;
use super::usage;

/// Select features by leave-query-out error
///
/// Adds, one at a time, the feature that gives RankRLS the least squared leave-query-out error.
/// Columns that are constant within every query cannot help, and of columns that are equal up to
/// a constant in each query and sign only the first is a candidate; the others are counted.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  rankrls select @parses -k 10 --lambda 16 --test @parses-test
  rankrls select train.svm -k 50 --lambda 16 -o model.json
  rankrls select train.features -k 10 --lambda 1 --json
  rankrls select train.svm.zst -k 20 --lambda 16 --strategy sampled --candidates 500 --seed 7
  rankrls select train.svm -k 50 --lambda 16 --test test.svm --metrics map,cindex
  rankrls select train.svm -k 50 --lambda 16 --dry-run")]
pub(crate) struct SelectArgs {
    /// Training data, plain or compressed by gzip or zstd; - is standard input, and @parses a
    /// small corpus that comes with the program
    #[arg(value_name = "DATA")]
    pub(super) path: PathBuf,
    /// Features to select
    #[arg(short, value_name = "K", value_parser = at_least_one)]
    pub(super) k: usize,
    /// Ridge parameter, above 0
    #[arg(long, allow_negative_numbers = true)]
    pub(super) lambda: Lambda,
    /// Strategy: auto is the fastest exact one that fits into memory
    #[arg(long, value_name = "NAME", default_value = "auto", value_parser = strategy())]
    pub(super) strategy: Strategy,
    /// Judge only N candidates a step, drawn at random [default: all; 59 with --strategy sampled]
    #[arg(long, value_name = "N", value_parser = at_least_one)]
    candidates: Option<usize>,
    /// Seed of the random draws [default: 1]
    #[arg(long, value_name = "SEED")]
    pub(super) seed: Option<u64>,
    #[command(flatten)]
    pub(super) data: DataArgs,
    /// Indices of svmlight files count from 0, not 1
    #[arg(long)]
    pub(super) zero_based: bool,
    /// Names of the features: the first line names the first column
    #[arg(long, value_name = "FILE")]
    pub(super) names: Option<PathBuf>,
    /// Measure this data after every step; @parses-test goes with @parses
    #[arg(long, value_name = "DATA")]
    pub(super) test: Option<PathBuf>,
    #[arg(long, value_name = "LIST", requires = "test", default_value = measures::DEFAULT)]
    #[arg(help = measures::HELP)]
    pub(super) metrics: Measures,
    /// Convention of the measures
    #[arg(
        long,
        value_name = "NAME",
        requires = "test",
        default_value = "standard"
    )]
    #[arg(value_parser = measures::convention())]
    pub(super) convention: Convention,
    /// Read the data, tell what each strategy would take, and stop
    #[arg(long)]
    dry_run: bool,
    /// Write the model to this file
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Print one JSON document
    #[arg(long)]
    pub(super) json: bool,
}

/// A strategy by name, or none for `auto`.
#[derive(Debug, Clone, Copy)]
pub(super) struct Strategy(pub(super) Option<StrategyKind>);

fn strategy() -> impl TypedValueParser<Value = Strategy> {
    let names = StrategyKind::ALL.into_iter().map(StrategyKind::name);
    PossibleValuesParser::new(std::iter::once("auto").chain(names))
        .map(|name| Strategy(name.parse().ok()))
}

pub(super) fn at_least_one(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(number) if number > 0 => Ok(number),
        _ => Err("expected a whole number from 1 on".to_owned()),
    }
}

pub(crate) fn run(args: &SelectArgs, console: Console) -> Result<ExitCode> {
    args.check()?;
    if args.dry_run {
        let input = Input::read(args, console)?;
        return plan(args, &input);
    }
    let output = args.output.as_deref().map(OutputFile::create).transpose()?;
    let interrupt = Interrupt::install()?;
    let input = Input::read(args, console)?;
    let job = Job {
        args,
        console,
        input: &input,
        interrupt: &interrupt,
    };
    job.run(output)
}

fn plan(args: &SelectArgs, input: &Input) -> Result<ExitCode> {
    let candidates = Candidates::new(&input.train);
    let plan = PlanReport::new(&input.train, &candidates, input.memory(), &args.options())?;
    if args.json {
        print_json(&plan)?;
    } else {
        print(|output| output.write_all(plan.text().as_bytes()))?;
    }
    Ok(ExitCode::SUCCESS)
}

impl SelectArgs {
    /// Refuses what the parser cannot see.
    fn check(&self) -> Result<()> {
        let inputs = [Some(&self.path), self.names.as_ref(), self.test.as_ref()];
        data::check_one_stdin(&inputs)?;
        match self.strategy.0 {
            Some(kind) if self.candidates.is_some() && !kind.can_sample() => {
                let error = SelectError::CanNotSample { strategy: kind };
                Err(usage(error))
            }
            _ => Ok(()),
        }
    }

    /// What to select, by whatever strategy.
    pub(super) fn options(&self) -> Options {
        let mut options = Options::new(self.k, self.lambda);
        if let Some(size) = self.candidates {
            options = options.sample(size);
        }
        if let Some(seed) = self.seed {
            options = options.seed(seed);
        }
        if let Some(bytes) = self.data.budget() {
            options = options.max_memory(bytes);
        }
        options
    }
}
