//! `rankrls corpus`: one file a command.

mod build;
mod check;
mod convert;
mod info;
mod project;

use std::process::ExitCode;

use anyhow::Result;
use clap::{Args, Subcommand};

use super::console::{Console, Interrupt};

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

pub(crate) fn run(args: &CorpusArgs, console: Console, interrupt: &Interrupt) -> Result<ExitCode> {
    match &args.command {
        CorpusCommand::Build(args) => build::run(args, console, interrupt),
        CorpusCommand::Check(args) => return check::run(args),
        CorpusCommand::Info(args) => info::run(args, console),
        CorpusCommand::Convert(args) => convert::run(args, console),
        CorpusCommand::Project(args) => project::run(args, console),
    }?;
    Ok(ExitCode::SUCCESS)
}
