//! `rankrls corpus`: one file a command.

mod build;
mod check;
mod convert;
mod info;
mod project;

use std::process::ExitCode;

use anyhow::Result;
use clap::{Args, Subcommand};

use super::session::Session;

/// Make, describe and convert corpora of ranking data
#[derive(Debug, Args)]
#[command(arg_required_else_help = true)]
#[command(after_help = "\
Examples:
  rankrls corpus info @parses
  rankrls corpus convert @parses parses.npz
  rankrls corpus build treebank.conllu --link-grammar -o parses")]
pub(crate) struct CorpusArgs {
    #[command(subcommand)]
    command: CorpusCommand,
}

#[derive(Debug, Subcommand)]
enum CorpusCommand {
    Build(Box<build::BuildArgs>),
    Check(check::CheckArgs),
    Info(info::InfoArgs),
    Convert(convert::ConvertArgs),
    Project(project::ProjectArgs),
}

pub(crate) fn run(args: &CorpusArgs, session: &Session<'_>) -> Result<ExitCode> {
    match &args.command {
        CorpusCommand::Build(args) => build::run(args, session),
        CorpusCommand::Check(args) => check::run(args, session),
        CorpusCommand::Info(args) => info::run(args, session),
        CorpusCommand::Convert(args) => convert::run(args, session),
        CorpusCommand::Project(args) => project::run(args, session),
    }
}
