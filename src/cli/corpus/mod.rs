//! `rankrls corpus`: one file a command.

mod document;
mod generate;

use anyhow::Result;
use clap::{Args, Subcommand};

use super::console::Console;

/// Make corpora of ranking data
#[derive(Debug, Args)]
#[command(arg_required_else_help = true)]
#[command(after_help = "\
Example:
  rankrls corpus generate --rows 500 -o corpus.svm.zst --names names.txt.zst")]
pub(crate) struct CorpusArgs {
    #[command(subcommand)]
    command: CorpusCommand,
}

#[derive(Debug, Subcommand)]
enum CorpusCommand {
    Generate(generate::GenerateArgs),
}

pub(crate) fn run(args: &CorpusArgs, console: Console) -> Result<()> {
    match &args.command {
        CorpusCommand::Generate(args) => generate::run(args, console),
    }
}
