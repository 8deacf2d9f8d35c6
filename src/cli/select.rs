//! `rankrls select`.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Result, bail};
use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use rankrls::data::DataHash;
use rankrls::greedy::{Criterion, SelectionOptions, Step};
use rankrls::metrics::Convention;
use rankrls::{ColumnClasses, Lambda, Model, StrategyKind};

use super::checkpoint::CheckpointArgs;
use super::console::Console;
use super::data::{self, ColumnArgs, DataArgs};
use super::input::Input;
use super::interrupt::Interrupt;
use super::measures::{self, Measures};
use super::output::{OutputFile, print, print_json};
use super::plan::PlanReport;
use super::plot::PlotArgs;
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
  rankrls select train.svm -k 20 --lambda 16 --criterion ndcg@10
  rankrls select train.svm -k 50 --lambda 16 --checkpoint run.checkpoint --resume
  rankrls select train.svm -k 80 --extend model.json -o larger.json
  rankrls select train.svm -k 50 --lambda 16 --plot path.svg
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
    #[arg(
        long,
        allow_negative_numbers = true,
        required_unless_present = "extend"
    )]
    lambda: Option<Lambda>,
    /// Go on from this model, whose options hold, to K features
    #[arg(long, value_name = "MODEL")]
    #[arg(conflicts_with_all = [
        "lambda", "strategy", "criterion", "query_weight", "sample", "seed", "dry_run",
    ])]
    pub(super) extend: Option<PathBuf>,
    #[command(flatten)]
    pub(super) selection: SelectionOptions,
    #[command(flatten)]
    pub(super) data: DataArgs,
    #[command(flatten)]
    pub(super) columns: ColumnArgs,
    /// Measure this data after every step; @parses-test goes with @parses
    #[arg(long, value_name = "DATA")]
    pub(super) test: Option<PathBuf>,
    #[arg(long, value_name = "LIST", requires = "test", default_value = measures::DEFAULT)]
    #[arg(help = measures::HELP)]
    pub(super) metrics: Measures,
    /// Convention of the measures [default: standard]
    #[arg(long, value_name = "NAME", value_parser = measures::convention())]
    convention: Option<Convention>,
    #[command(flatten)]
    pub(super) checkpoint: CheckpointArgs,
    /// Read the data, tell what each strategy would take, and stop
    #[arg(long)]
    dry_run: bool,
    /// Write the model to this file
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    #[command(flatten)]
    plot: PlotArgs,
    /// Print one JSON document
    #[arg(long)]
    pub(super) json: bool,
}

/// A strategy by name, or none for `auto`.
#[derive(Debug, Clone, Copy)]
pub(super) struct Strategy(pub(super) Option<StrategyKind>);

pub(super) fn strategy() -> impl TypedValueParser<Value = Strategy> {
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
    args.checkpoint.check()?;
    let extended = args.extended()?;
    let output = args.output.as_deref().map(OutputFile::create).transpose()?;
    let plot = args.plot.create()?;
    let interrupt = Interrupt::install()?;
    let input = Input::read(args, console)?;
    let job = Job {
        args,
        console,
        input: &input,
        interrupt: &interrupt,
        extended: extended.as_ref(),
    };
    job.run(output, plot)
}

/// A selection to go on with.
pub(super) struct Extended {
    /// Hash of the data that it is of.
    pub(super) data: DataHash,
    pub(super) options: SelectionOptions,
    pub(super) steps: Vec<Step>,
}

fn plan(args: &SelectArgs, input: &Input) -> Result<ExitCode> {
    let options = SelectionOptions {
        strategy: None,
        ..args.options()
    };
    let candidates = ColumnClasses::weighted(&input.train, options.query_weight);
    let plan = PlanReport::new(&input.train, &candidates, input.memory(), &options)?;
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
        let inputs = [
            Some(&self.path),
            self.columns.names.as_ref(),
            self.test.as_ref(),
        ];
        data::check_one_stdin(&inputs)?;
        let ranks = self.selection.criterion != Criterion::Squared;
        if self.convention.is_some() && self.test.is_none() && !ranks {
            return Err(usage(
                "--convention has nothing to measure: it goes with --test or a measure as \
                 --criterion",
            ));
        }
        self.plot.check(self.output.as_deref())?;
        self.options().check_strategy().map_err(usage)
    }

    /// The convention of all measures.
    pub(super) fn convention(&self) -> Convention {
        self.convention.unwrap_or(Convention::Standard)
    }

    /// The end of the model to go on from, if there is one.
    fn extended(&self) -> Result<Option<Extended>> {
        let Some(path) = &self.extend else {
            return Ok(None);
        };
        let model = Model::read(path)?;
        let features = model.features().len();
        if features >= self.k {
            bail!(
                "{} has {features} features: expected more than that as -k, found {}",
                path.display(),
                self.k
            );
        }
        let Some((mut options, earlier)) = model.selection(self.k) else {
            bail!(
                "{}: the features were not selected but {}: there is no path to go on from",
                path.display(),
                model.strategy()
            );
        };
        options.max_memory = self.data.budget();
        Ok(Some(Extended {
            data: model.data().hash,
            options,
            steps: earlier,
        }))
    }

    /// What to select, and how; the ridge parameter of a model to go on from is in the model.
    pub(super) fn options(&self) -> SelectionOptions {
        SelectionOptions {
            k: self.k,
            lambda: self.lambda.unwrap_or(Lambda::ONE),
            criterion: self.selection.criterion.under(self.convention()),
            max_memory: self.data.budget(),
            ..self.selection
        }
    }
}
