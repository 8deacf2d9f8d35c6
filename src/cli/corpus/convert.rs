//! `rankrls corpus convert`.

use std::path::PathBuf;

use anyhow::Result;
use clap::Args;

use super::target::TargetArgs;
use crate::cli::console::Console;
use crate::cli::data::read_named;
use crate::cli::data::{DataArgs, check_one_stdin};

/// Convert data to another format
///
/// Formats are svmlight (NAME.svm and the like), RLScore's triplets (NAME.features, .labels,
/// .qids) and a matrix of SciPy (NAME.npz, with NAME.labels.npy and NAME.qids.npy). Names of columns go to
/// NAME.names.txt. What is written reads back the same to the last bit: labels, queries, values,
/// and columns that nothing uses.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  rankrls corpus convert train.svm train.npz --names names.txt
  rankrls corpus convert train.npz train.features
  rankrls corpus convert @parses parses.npz --layout csc
  rankrls corpus convert train.npz - | head")]
pub(crate) struct ConvertArgs {
    /// Data to read; - is standard input, and @parses comes with the program
    #[arg(value_name = "IN")]
    input: PathBuf,
    /// Data to write; - is standard output
    #[arg(value_name = "OUT")]
    output: PathBuf,
    #[command(flatten)]
    data: DataArgs,
    /// Indices of an svmlight file to read count from 0, not 1
    #[arg(long)]
    zero_based: bool,
    /// Names of the columns, one a line [default: NAME.names.txt beside .npz]
    #[arg(long, value_name = "FILE")]
    names: Option<PathBuf>,
    #[command(flatten)]
    target: TargetArgs,
}

pub(crate) fn run(args: &ConvertArgs, console: Console) -> Result<()> {
    check_one_stdin(&[Some(&args.input), args.names.as_ref()])?;
    let target = args.target.create(&args.output)?;
    let options = args.data.options(0).zero_based(args.zero_based);
    let dataset = read_named(options, args.names.as_ref(), &args.input, console)?;
    target.write(&dataset)
}
