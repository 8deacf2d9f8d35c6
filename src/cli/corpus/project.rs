//! `rankrls corpus project`.

use std::path::PathBuf;

use anyhow::Result;
use clap::Args;
use rankrls::Model;

use super::convert::TargetArgs;
use crate::cli::console::Console;
use crate::cli::data::{DataArgs, check_one_stdin};

/// Reduce data to the columns of a model, to train other rankers on
///
/// The features of the model become columns 1 to k, in the order in which they were selected, and
/// their names go to NAME.names.txt. Rows, labels and queries stay as they are. Columns are matched
/// as `rankrls predict` does.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  rankrls corpus project train.svm --model model.json -o selected.svm
  rankrls corpus project test.svm --model model.json -o selected-test.svm
  rankrls corpus project train.svm --model model.json -o selected.npz --keep-numbers")]
pub(crate) struct ProjectArgs {
    /// Data to reduce; - is standard input, and @parses-test comes with the program
    #[arg(value_name = "DATA")]
    path: PathBuf,
    /// Model whose features to keep
    #[arg(long, value_name = "MODEL")]
    model: PathBuf,
    /// Write the data to this file; - is standard output
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
    /// Keep the numbers of the columns, and write no names: those of the data still hold
    #[arg(long)]
    keep_numbers: bool,
    #[command(flatten)]
    data: DataArgs,
    #[command(flatten)]
    target: TargetArgs,
}

pub(crate) fn run(args: &ProjectArgs, console: Console) -> Result<()> {
    check_one_stdin(&[Some(&args.path), Some(&args.model)])?;
    let target = args.target.create(&args.output)?;
    let model = Model::read(&args.model)?;
    let dataset = args.data.read_for(&model, &args.path, console)?.dataset;
    let projected = if args.keep_numbers {
        model.keep(&dataset)
    } else {
        model.project(&dataset)
    };
    target.write(&projected?)
}
