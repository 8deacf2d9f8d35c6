//! What developers run: all checks, the book, and packages.

mod book;
mod ci;
mod commands;
mod draw;
mod family;
mod page;
mod python;
mod release;
#[path = "../../benches/zipf.rs"]
#[expect(dead_code, reason = "data are written as text here")]
mod zipf;

use std::process::ExitCode;

use anyhow::{Result, bail};
use commands::built;

const USAGE: &str = "\
usage: cargo xtask TASK

  ci                       all checks of continuous integration
  figures                  check that studies/figures.py makes the figures and tables of docs/
  peers TRAIN TEST [ARGUMENT...]
                           time other selectors beside rankrls, as docs/evidence.md says
  rlscore DATA... [--lambda LIST]... [--runs 5]
                           time RLScore's QueryRankRLS beside `rankrls train`, for docs/evidence.md
  family HOUSING           compare rankrls with RLScore's tutorial on ranking, for docs/rankrls.md
  book                     make the book of docs/ in target/book, and follow its links
  package                  pack the crates for publication
  release [--dry-run]      check workflows and citation; then pack the crates and the wheel of this
                           system, and publish nothing
  interop                  check files with scikit-learn, SciPy and LightGBM
  python                   build the wheel of python/, test it, run its examples, and make its
                           reference in target/book/python
  zipf ROWS QUERIES COLUMNS NONZEROS [SHARED] FILE
                           draw data of these sizes as svmlight text, for studies/ and
                           docs/large-data.md; rows of a query share 85 percent of their entries";

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
        ["peers", train, test, rest @ ..] => ci::peers(train, test, rest),
        ["rlscore", data, rest @ ..] => ci::rlscore(data, rest),
        ["family", housing] => family::compare(housing.as_ref()),
        ["book"] => book::build(),
        ["book-for-web"] => book::preprocess(),
        // mdBook asks, and reads the exit code.
        ["book-for-web", "supports", "html"] => Ok(()),
        ["package"] => release::package(),
        ["release"] => release::check(),
        ["release", "--dry-run"] => release::rehearse(),
        ["interop"] => ci::interop(&built("dev")?),
        ["python"] => python::check(&built("dev")?),
        ["zipf", rows, queries, columns, nonzeros, file] => {
            draw::write([rows, queries, columns, nonzeros, "85"], file.as_ref())
        }
        ["zipf", rows, queries, columns, nonzeros, shared, file] => {
            draw::write([rows, queries, columns, nonzeros, shared], file.as_ref())
        }
        _ => bail!("no such task\n\n{USAGE}"),
    }
}
