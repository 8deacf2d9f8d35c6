//! The command line: one file a command.

mod checkpoint;
mod compare;
mod completions;
mod console;
mod corpus;
mod data;
mod digits;
mod evaluate;
mod evaluation;
mod input;
mod inspect;
mod interrupt;
mod lambdas;
mod letor;
mod man;
mod measures;
mod numbers;
mod output;
mod path_table;
mod plan;
mod plot;
mod predict;
mod report;
mod resume;
mod select;
mod selection;
mod sizes;
mod table;
mod train;
mod training;
mod tune;
mod watch;

use std::process::ExitCode;

use anyhow::{Context, Result};
use clap::{Args, CommandFactory, Parser, Subcommand};

use console::Console;

/// Greedy RankRLS: exact leave-query-out selection of sparse features for learning to rank.
#[derive(Debug, Parser)]
#[command(name = "rankrls", version, arg_required_else_help = true)]
#[command(after_help = "\
Examples:
  rankrls select @parses -k 10 --lambda 16
  rankrls select train.svm -k 50 --lambda 16 -o model.json
  rankrls tune train.svm -k 50 --rule one-se -o model.json
  rankrls evaluate test.svm --model model.json

Results go to standard output; progress, warnings and logs to standard error.
Exit codes: 0 done, 1 failure, 2 usage, 130 interrupted.")]
struct Cli {
    #[command(subcommand)]
    command: Command,
    #[command(flatten)]
    common: Common,
}

/// What every command takes.
#[derive(Debug, Args)]
#[command(next_help_heading = "Options of all commands")]
struct Common {
    /// Show no progress and no warnings
    #[arg(short, long, global = true)]
    quiet: bool,
    /// Log what is done, in place of progress
    #[arg(
        short,
        long,
        global = true,
        conflicts_with = "quiet",
        overrides_with = "verbose"
    )]
    verbose: bool,
    /// Threads to use [default: one a core]
    #[arg(long, global = true, value_name = "N")]
    #[arg(value_parser = clap::value_parser!(u16).range(1..=4096))]
    threads: Option<u16>,
}

#[derive(Debug, Subcommand)]
enum Command {
    Select(Box<select::SelectArgs>),
    Train(Box<train::TrainArgs>),
    Tune(Box<tune::TuneArgs>),
    Compare(Box<compare::CompareArgs>),
    Predict(predict::PredictArgs),
    Evaluate(evaluate::EvaluateArgs),
    Inspect(inspect::InspectArgs),
    Letor(letor::LetorArgs),
    Corpus(corpus::CorpusArgs),
    Completions(completions::CompletionsArgs),
    Man(man::ManArgs),
}

/// Parses, runs, and prints what went wrong.
pub(crate) fn main() -> ExitCode {
    let cli = Cli::parse();
    let console = Console::new(cli.common.quiet, cli.common.verbose);
    match run(&cli, console) {
        Ok(code) => code,
        Err(error) => match error.downcast::<clap::Error>() {
            Ok(usage) => usage.exit(),
            Err(error) => {
                console.error(&error);
                ExitCode::FAILURE
            }
        },
    }
}

fn run(cli: &Cli, console: Console) -> Result<ExitCode> {
    if let Some(threads) = cli.common.threads {
        rayon::ThreadPoolBuilder::new()
            .num_threads(usize::from(threads))
            .build_global()
            .with_context(|| format!("cannot start {threads} threads"))?;
    }
    match &cli.command {
        Command::Select(args) => return select::run(args, console),
        Command::Train(args) => return train::run(args, console),
        Command::Tune(args) => return tune::run(args, console),
        Command::Compare(args) => return compare::run(args, cli.common.threads, console),
        Command::Predict(args) => predict::run(args, console),
        Command::Evaluate(args) => evaluate::run(args, console),
        Command::Inspect(args) => inspect::run(args),
        Command::Letor(args) => return letor::run(args, console),
        Command::Corpus(args) => return corpus::run(args, console),
        Command::Completions(args) => completions::run(args),
        Command::Man(args) => man::run(args),
    }?;
    Ok(ExitCode::SUCCESS)
}

/// A mistake in the arguments that the parser cannot see: exit code 2.
fn usage(message: impl std::fmt::Display) -> anyhow::Error {
    let kind = clap::error::ErrorKind::ArgumentConflict;
    Cli::command().error(kind, message).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_arguments_are_consistent() {
        Cli::command().debug_assert();
    }
}
