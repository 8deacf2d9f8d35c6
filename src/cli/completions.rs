//! `rankrls completions`.

use anyhow::Result;
use clap::{Args, CommandFactory};
use clap_complete::Shell;

use super::Cli;
use super::output::print;

/// Print completions for a shell
#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  rankrls completions bash > ~/.local/share/bash-completion/completions/rankrls")]
pub(crate) struct CompletionsArgs {
    /// The shell
    #[arg(value_enum)]
    shell: Shell,
}

pub(crate) fn run(args: &CompletionsArgs) -> Result<()> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "rankrls", &mut script);
    print(|output| output.write_all(&script))
}
