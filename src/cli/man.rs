//! `rankrls man`.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use clap::{Args, CommandFactory};

use super::Cli;
use super::output::print;

/// Print the man page, or write the pages of all commands into a folder
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  rankrls man | man -l -
  rankrls man ~/.local/share/man/man1")]
pub(crate) struct ManArgs {
    /// Folder for the pages; it is made if it is not there
    #[arg(value_name = "DIR")]
    folder: Option<PathBuf>,
}

pub(crate) fn run(args: &ManArgs) -> Result<()> {
    let Some(folder) = &args.folder else {
        let page = clap_mangen::Man::new(Cli::command());
        return print(|mut output| page.render(&mut output));
    };
    write(folder).with_context(|| format!("cannot write man pages to {}", folder.display()))
}

fn write(folder: &Path) -> Result<()> {
    fs::create_dir_all(folder)?;
    clap_mangen::generate_to(Cli::command(), folder)?;
    Ok(())
}
