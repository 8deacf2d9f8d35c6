//! `rankrls corpus`: one file a command.

mod build;
mod check;
mod convert;
mod info;
mod project;

use std::process::ExitCode;

use anyhow::Result;
use clap::{Args, Subcommand};

use super::commands;
use super::session::Session;

/// Make, describe and convert corpora of ranking data
#[derive(Debug, Args)]
#[command(arg_required_else_help = true)]
#[command(after_help = "\
Examples:
  rankrls corpus info @parses
  rankrls corpus convert @parses parses.svm
  rankrls corpus build treebank.conllu --link-grammar -o parses")]
pub(crate) struct CorpusArgs {
    #[command(subcommand)]
    command: CorpusCommand,
}

commands! { CorpusCommand:
    Build(build::BuildArgs) => build::run,
    Check(check::CheckArgs) => check::run,
    Info(info::InfoArgs) => info::run,
    Convert(convert::ConvertArgs) => convert::run,
    Project(project::ProjectArgs) => project::run,
}

pub(crate) fn run(args: &CorpusArgs, session: &Session<'_>) -> Result<ExitCode> {
    args.command.run(session)
}
