//! What developers run: all checks, and all that the documentation measures and draws.

mod book;
mod ci;
mod commands;
mod family;
mod measure;
mod page;
mod python;
mod quality;
mod release;
mod scaling;
mod strategies;
mod when;
#[path = "../../benches/zipf.rs"]
mod zipf;

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Result, bail};

const USAGE: &str = "\
usage: cargo xtask TASK

  ci                       all checks of continuous integration
  figures                  draw docs/when, docs/scaling and docs/quality, and fill in their tables, from the CSV
  tables [when|scaling|quality|strategies [NAME...]]
                           measure again what those pages say, then draw; some minutes each.
                           RANKRLS_CORPORA names the folder of corpora
  peers TRAIN TEST [ARGUMENT...]
                           time other selectors beside rankrls, as docs/comparison.md says
  rlscore DATA... [--lambda LIST]... [--runs 5]
                           time RLScore's QueryRankRLS beside `rankrls train`, for docs/comparison.md
  family HOUSING [PROGRAM] hold rankrls to RLScore's tutorial on ranking, for docs/rankrls-family.md
  book                     make the book of docs/ in target/book, and follow its links
  package                  pack the crates for publication and compile them as packed
  release                  check the workflows, recipe and citation of a release
  report [PROGRAM]         open the page of `rankrls tune --html` in Chromium
  interop [PROGRAM]        hold files against scikit-learn, SciPy and LightGBM
  python [PROGRAM]         build the wheel of python/, test it, and run its examples
  rankers                  fill in the tables of docs/rankers.md by python/examples/rankers.py
  zipf ROWS QUERIES COLUMNS NONZEROS FILE
                           draw data of these sizes as svmlight text, for docs/scaling.md
  scaling FILE K LAMBDA STRATEGY...
                           measure one data file as docs/strategies.md does
  against PROGRAM FILE LAMBDA K...
                           time `bounded` of another program beside this one, in turns, and
                           compare their steps to the bit";

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
        ["figures"] => figures(),
        ["tables"] => {
            when::measure_again()?;
            scaling::measure_again()?;
            quality::measure_again()?;
            strategies::measure_again(&[])?;
            figures()
        }
        ["tables", "when"] => when::measure_again().and_then(|()| figures()),
        ["tables", "scaling"] => scaling::measure_again().and_then(|()| figures()),
        ["tables", "quality"] => quality::measure_again().and_then(|()| figures()),
        ["tables", "strategies", names @ ..] => strategies::measure_again(names),
        ["peers", train, test, rest @ ..] => ci::peers(train, test, rest),
        ["rlscore", data, rest @ ..] => ci::rlscore(data, rest),
        ["family", housing] => family::compare(housing.as_ref(), &commands::released()?),
        ["family", housing, program] => family::compare(housing.as_ref(), program.as_ref()),
        ["book"] => book::build(),
        ["book-for-web"] => book::preprocess(),
        // mdBook asks, and reads the exit code.
        ["book-for-web", "supports", "html"] => Ok(()),
        ["package"] => release::package(),
        ["release"] => release::check(),
        ["report"] => ci::report(&built()?),
        ["report", program] => ci::report(program.as_ref()),
        ["interop"] => ci::interop(&built()?),
        ["interop", program] => ci::interop(program.as_ref()),
        ["python"] => python::check(&built()?),
        ["python", program] => python::check(program.as_ref()),
        ["rankers"] => python::rankers(),
        ["scaling", file, k, lambda, strategies @ ..] if !strategies.is_empty() => {
            commands::in_release(&[&["measure-file", *file, *k, *lambda], strategies].concat())
        }
        ["zipf", sizes @ .., _] if sizes.len() == 4 => {
            commands::in_release(&[&["draw-zipf"], &arguments[1..]].concat())
        }
        ["against", program, file, lambda, ks @ ..] => {
            scaling::against(program.as_ref(), file, lambda, ks)
        }
        // Started by the tasks above, in the release profile.
        ["measure-when"] => when::measure(),
        ["measure-quality"] => quality::measure(),
        ["measure-scaling"] => scaling::measure(),
        ["measure-job", number] => scaling::measure_job(number.parse()?),
        ["draw-zipf", sizes @ .., file] => scaling::draw_zipf(sizes, file.as_ref()),
        ["measure-file", file, k, lambda, strategies @ ..] => {
            scaling::measure_file(file.as_ref(), k, lambda, strategies)
        }
        _ => bail!("no such task\n\n{USAGE}"),
    }
}

fn figures() -> Result<()> {
    when::draw()?;
    quality::draw_results()?;
    scaling::draw()
}

/// The program, built in the profile for development, with the same features of dependencies as
/// this one, so that they are not built again.
fn built() -> Result<PathBuf> {
    let build = "build --quiet --locked --package rankrls-cli --package xtask --bin rankrls";
    commands::run(&mut commands::cargo(build))?;
    Ok(commands::program("debug"))
}
