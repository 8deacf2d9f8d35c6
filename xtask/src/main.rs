//! What developers run: all checks, and all that the documentation measures and draws.

mod book;
mod ci;
mod commands;
mod family;
mod page;
mod python;
mod quality;
mod release;
mod scaling;
mod study;
mod when;
#[path = "../../benches/zipf.rs"]
mod zipf;

use std::process::ExitCode;

use anyhow::{Context, Result, bail};
use commands::built;
use study::Study;

static STUDIES: [Study; 3] = [when::STUDY, scaling::STUDY, quality::STUDY];

const USAGE: &str = "\
usage: cargo xtask TASK

  ci                       all checks of continuous integration
  figures                  draw the figures of the studies when, scaling and quality, and fill in
                           their tables, from the CSV files in docs/
  tables [STUDY...]        measure studies again, then draw; some minutes each.
                           RANKRLS_CORPORA names the folder of corpora
  peers TRAIN TEST [ARGUMENT...]
                           time other selectors beside rankrls, as docs/evidence.md says
  rlscore DATA... [--lambda LIST]... [--runs 5]
                           time RLScore's QueryRankRLS beside `rankrls train`, for docs/evidence.md
  family HOUSING           hold rankrls to RLScore's tutorial on ranking, for docs/rankrls.md
  book                     make the book of docs/ in target/book, and follow its links
  package                  pack the crates for publication
  release [--dry-run]      check workflows and citation; then pack the crates and the wheel of this
                           system, and publish nothing
  report                   open the page of `rankrls tune --html` in Chromium
  interop                  hold files against scikit-learn, SciPy and LightGBM
  python                   build the wheel of python/, test it, and run its examples
  rankers                  fill in the tables of docs/other-rankers.md by python/examples/rankers.py
  zipf ROWS QUERIES COLUMNS NONZEROS FILE
                           draw data of these sizes as svmlight text, for docs/large-data.md";

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
        ["figures"] => STUDIES.iter().try_for_each(Study::draw),
        ["tables"] => STUDIES.iter().try_for_each(measure_and_draw),
        ["tables", names @ ..] => {
            let studies = names.iter().map(|name| study(name));
            let studies: Vec<&Study> = studies.collect::<Result<_>>()?;
            studies.into_iter().try_for_each(measure_and_draw)
        }
        // Started by the task above, in the release profile.
        ["measure", name, part] => study(name)?.measure(part.parse()?),
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
        ["report"] => ci::report(&built("dev")?),
        ["interop"] => ci::interop(&built("dev")?),
        ["python"] => python::check(&built("dev")?),
        ["rankers"] => python::rankers(),
        ["zipf", sizes @ .., file] => scaling::draw_zipf(sizes, file.as_ref()),
        _ => bail!("no such task\n\n{USAGE}"),
    }
}

fn study(name: &str) -> Result<&'static Study> {
    let found = STUDIES.iter().find(|study| study.name == name);
    found.with_context(|| {
        let names = STUDIES.each_ref().map(|study| study.name);
        format!("expected one of {}, found {name:?}", names.join(", "))
    })
}

fn measure_and_draw(study: &Study) -> Result<()> {
    study.measure_again()?;
    study.draw()
}
