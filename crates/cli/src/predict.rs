//! `rankrls predict`.

use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Result, bail};
use clap::Args;

use super::data::{ColumnNames, DataArgs, Wanted};
use super::output::OutputFile;
use super::session::Session;

/// Score rows with a model, one score a line in input order
///
/// The data has as many columns as the model was trained with: entries beyond them are dropped
/// and counted. Indices of svmlight files count from 1, or from 0 with --zero-based. Scores have 17 significant digits.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  rankrls predict model.json test.svm -o scores.txt
  zstdcat test.svm.zst | rankrls predict model.json - | head")]
pub(crate) struct PredictArgs {
    /// Model that `select -o`, `tune -o` or `train -o` wrote
    model: PathBuf,
    /// Rows to score; - is standard input, and @sentences-test comes with the program
    #[arg(value_name = "DATA")]
    path: PathBuf,
    #[command(flatten)]
    names: ColumnNames,
    #[command(flatten)]
    data: DataArgs,
    /// Write the scores to this file; - is standard output
    #[arg(
        help_heading = "Output",
        short,
        long,
        value_name = "FILE",
        default_value = "-"
    )]
    #[arg(hide_default_value = true)]
    output: PathBuf,
}

pub(crate) fn run(args: &PredictArgs, session: &Session<'_>) -> Result<ExitCode> {
    let files = &session.files;
    files.reads("MODEL", [&args.model])?;
    args.data.name_files(files, [("DATA", &args.path)])?;
    args.names.name_file(files)?;
    let output = OutputFile::create(files, "--output", &args.output)?;
    // Nothing else may appear between scores on a terminal.
    let console = session.console.beside(output.is_printed());
    let model = session.read_model(&args.model, args.data.memory())?;
    let loaded = args
        .data
        .read_for(&model, &args.path, &args.names, Wanted::Features, console)?;
    let dataset = &loaded.dataset;
    let memory = args.data.memory().holding(model.memory());
    // Memory for scores in row order, and for columns and weights.
    let bytes = 16 * dataset.rows() as u64 + 12 * model.features.len() as u64;
    let what = "the scores need";
    memory
        .holding(dataset.memory())
        .require(what, bytes, "allow more memory")?;
    let scores = dataset.in_input_order(model.scores(dataset));
    if let Some(row) = scores.iter().position(|score| !score.is_finite()) {
        let row = row + 1;
        bail!(
            "the score of row {row} is no finite number: its values or the weights are too large"
        );
    }
    let write = |writer: &mut dyn Write| {
        scores
            .iter()
            .try_for_each(|score| writeln!(writer, "{score:.16e}"))
    };
    output.write(write)?;
    Ok(session.code())
}
