//! `rankrls corpus project`.

use std::process::ExitCode;

use anyhow::{Result, bail};
use clap::Args;
use rankrls::Model;
use rankrls::data::{Ranker, write_query_sizes};

use super::convert::TargetArgs;
use crate::args::one_of;
use crate::args::usage;
use crate::data::{ColumnNames, DataArgs, Wanted};
use crate::files::{DataPath, InPath, OutPath};
use crate::numbers::printable;
use crate::output::OutputFile;
use crate::session::Session;

/// Reduce data to the columns of a model, to train other rankers on
///
/// The features of the model become columns 1 to k, in the order in which they were selected, and
/// their names go to NAME.names.txt. Rows, labels and queries stay as they are. Columns are matched
/// as `rankrls predict` does.
#[derive(Debug, Args)]
#[command(next_help_heading = "Output")]
#[command(after_help = "\
Examples:
  rankrls corpus project train.svm --model model.json -o selected.svm
  rankrls corpus project test.svm --model model.json -o selected-test.svm
  rankrls corpus project train.svm --model model.json -o boost.svm --for lightgbm
  rankrls corpus project train.svm --model model.json -o selected.svm --keep-numbers")]
pub(crate) struct ProjectArgs {
    /// Data to reduce; - is standard input, and @parses-test comes with the program
    #[arg(value_name = "DATA")]
    path: DataPath,
    /// Model whose features to keep
    #[arg(long, value_name = "MODEL")]
    model: InPath,
    /// Write the data to this file; - is standard output
    #[arg(short, long, value_name = "FILE")]
    output: OutPath,
    /// Keep the numbers of the columns and write no names: the names of the data still hold
    #[arg(long)]
    keep_numbers: bool,
    /// Write what this ranker reads: whole grades from 0, columns from 0, and for xgboost queries by
    /// number, for lightgbm their sizes in FILE.query
    #[arg(long = "for", value_name = "RANKER")]
    #[arg(value_parser = one_of(Ranker::ALL, Ranker::name))]
    ranker: Option<Ranker>,
    #[command(flatten)]
    data: DataArgs,
    #[command(flatten)]
    target: TargetArgs,
}

pub(crate) fn run(args: &ProjectArgs, session: &Session<'_>) -> Result<ExitCode> {
    let target = (args.target).create("--output", &args.output, None, session)?;
    if args.ranker.is_some() && !target.is_plain_file() {
        return Err(usage("--for writes a file without .gz or .zst"));
    }
    // Found writable before the work.
    let sizes = if args.ranker == Some(Ranker::LightGbm) {
        let mut path = args.output.as_os_str().to_owned();
        path.push(".query");
        let file = session.files.part("--output", path.into(), None)?;
        Some(OutputFile::create(&file)?)
    } else {
        None
    };
    let model = Model::read(&args.model)?;
    if model.expansion.is_some() {
        let path = printable(&args.model.display().to_string());
        bail!("{path}: the model has no features to keep: its kernel compares rows");
    }
    let (names, wanted) = (ColumnNames::default(), Wanted::Labels);
    let loaded = args
        .data
        .read_for(&model, &args.path, &names, wanted, session)?;
    let dataset = loaded.dataset;
    let projected = if args.keep_numbers {
        model.keep(&dataset)?
    } else {
        model.project(&dataset)?
    };
    let Some(ranker) = args.ranker else {
        target.write(&projected)?;
        return Ok(session.code());
    };
    let queries = projected.queries().clone();
    target.zero_based().write(&projected.for_ranker(ranker)?)?;
    if let Some(file) = sizes {
        file.write(|writer| write_query_sizes(&queries, writer))?;
    }
    Ok(session.code())
}
