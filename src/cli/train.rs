//! `rankrls train`.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Result;
use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use rankrls::ridge::TrainOptions;
use rankrls::{Lambda, QueryWeight, Solver};

use super::console::Console;
use super::data::{self, ColumnArgs, DataArgs};
use super::input::Source;
use super::interrupt::Interrupt;
use super::lambdas::Lambdas;
use super::measures;
use super::output::OutputFile;
use super::training::Training;
use super::usage;

/// Train RankRLS on all features, or on given ones, without selection
///
/// Prints the leave-query-out error and concordance index: every query is predicted by a model
/// that has not seen it, exactly, from one factorisation. Columns that are constant within every
/// query cannot help and are left out.
///
/// The solvers find the same weights. dual takes memory with the square of the rows, primal with
/// the square of the column classes; cg, conjugate gradients, with neither, but it leaves queries
/// out only by training again. auto takes the faster of the first two if that is a matter of
/// seconds and fits into memory, else cg.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  rankrls train @parses --lambda 16
  rankrls train train.svm --lambda 1 -o model.json.zst
  rankrls train train.svm --lambda 0.25,1,4,16 --json
  rankrls train train.svm --lambda 2^-4..2^10:2
  rankrls train train.svm --lambda 1 --features model.json -o given.json
  rankrls train train.svm --lambda 1 --folds 3 --seed 7")]
pub(crate) struct TrainArgs {
    /// Training data, plain or compressed by gzip or zstd; - is standard input, and @parses a
    /// small corpus that comes with the program
    #[arg(value_name = "DATA")]
    pub(super) path: PathBuf,
    /// Ridge parameters above 0, separated by commas: numbers such as 0.25, powers such as 2^-3,
    /// and ranges of powers such as 2^-4..2^10 or 2^-4..2^10:2. Of several, the model is that of
    /// the least leave-query-out error (of the least error over --folds, where no query is left
    /// out)
    #[arg(long, value_name = "LIST", required = true, allow_hyphen_values = true)]
    lambda: Vec<Lambdas>,
    /// Train on these features only: those of a model, or a list with an index a line
    #[arg(long, value_name = "FILE")]
    pub(super) features: Option<PathBuf>,
    /// Solver
    #[arg(long, value_name = "NAME", default_value = "auto", value_parser = solver())]
    solver: Choice,
    #[arg(long, value_name = "NAME", default_value = "uniform")]
    #[arg(value_parser = measures::query_weight(), help = measures::QUERY_WEIGHT_HELP)]
    pub(super) query_weight: QueryWeight,
    /// Predict N groups of queries, drawn at random, each by a model trained on the others
    #[arg(long, value_name = "N")]
    pub(super) folds: Option<usize>,
    /// Seed of the random draw [default: 1]
    #[arg(long, value_name = "SEED", requires = "folds")]
    pub(super) seed: Option<u64>,
    /// Leave queries out with cg, too, which trains once for every query
    #[arg(long)]
    pub(super) lqo: bool,
    #[command(flatten)]
    pub(super) data: DataArgs,
    #[command(flatten)]
    pub(super) columns: ColumnArgs,
    /// Write the model to this file
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Print one JSON document
    #[arg(long)]
    pub(super) json: bool,
}

/// A solver by name, or none for `auto`.
#[derive(Debug, Clone, Copy)]
struct Choice(Option<Solver>);

fn solver() -> impl TypedValueParser<Value = Choice> {
    let names = Solver::ALL.into_iter().map(Solver::name);
    PossibleValuesParser::new(std::iter::once("auto").chain(names))
        .map(|name| Choice(name.parse().ok()))
}

pub(crate) fn run(args: &TrainArgs, console: Console) -> Result<ExitCode> {
    args.check()?;
    let output = args.output.as_deref().map(OutputFile::create).transpose()?;
    let _interrupt = Interrupt::install()?;
    let source = Source {
        path: &args.path,
        data: &args.data,
        columns: &args.columns,
    };
    let (train, load_seconds) = source.train(console)?;
    let training = Training {
        args,
        console,
        train: &train,
        load_seconds,
    };
    training.run(output)?;
    Ok(ExitCode::SUCCESS)
}

impl TrainArgs {
    /// Refuses what the parser cannot see.
    fn check(&self) -> Result<()> {
        let inputs = [
            Some(&self.path),
            self.columns.names.as_ref(),
            self.features.as_ref(),
        ];
        data::check_one_stdin(&inputs)?;
        if self.folds.is_some_and(|folds| folds < 2) {
            return Err(usage("--folds takes a number from 2 on"));
        }
        Ok(())
    }

    /// The ridge parameters, as given.
    pub(super) fn lambdas(&self) -> impl Iterator<Item = Lambda> {
        self.lambda.iter().flat_map(|list| list.0.iter().copied())
    }

    /// How to train.
    pub(super) fn options(&self) -> TrainOptions {
        let mut options = TrainOptions::new()
            .query_weight(self.query_weight)
            .lambdas(self.lambdas().count());
        if let Some(solver) = self.solver.0 {
            options = options.solver(solver);
        }
        if let Some(bytes) = self.data.budget() {
            options = options.max_memory(bytes);
        }
        options
    }
}
