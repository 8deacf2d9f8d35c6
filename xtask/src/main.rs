//! Tasks of developers: all checks, the book, and packages.

mod book;
mod ci;
mod commands;
mod python;
mod release;

use std::process::ExitCode;

use anyhow::{Result, bail};
use commands::built;

const USAGE: &str = "\
usage: cargo xtask TASK

  ci                       all checks of continuous integration
  figures                  check that studies/figures.py makes the figures and tables of docs/
  book                     make the book of docs/ in target/book, and follow its links
  package                  pack the crates for publication
  release                  check workflows and citation, pack the crates and the wheel of this
                           system, and publish nothing
  interop                  check files with scikit-learn, SciPy and LightGBM
  python                   build the wheel of python/, test it, and run its example";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match run(&arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(arguments: &[&str]) -> Result<()> {
    match arguments {
        ["ci"] => ci::run_all(),
        ["figures"] => ci::figures(),
        ["book"] => book::build(),
        ["book-for-web"] => book::preprocess(),
        // mdBook asks this, and reads the exit code.
        ["book-for-web", "supports", "html"] => Ok(()),
        ["package"] => release::package(),
        ["release"] => release::rehearse(),
        ["interop"] => ci::interop(&built()?),
        ["python"] => python::check(&built()?),
        _ => bail!("no such task\n\n{USAGE}"),
    }
}
