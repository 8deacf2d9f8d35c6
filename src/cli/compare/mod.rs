//! `rankrls compare`.

mod job;
mod page;
mod path_file;
mod rows;
mod runner;
mod summary;
mod text;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Result;
use clap::Args;
use rankrls::compare::{Contestant, ContestantError, contestants};
use rankrls::metrics::Convention;
use rankrls::{Lambda, QueryWeight};

use super::args::at_least_one;
use super::args::usage;
use super::args::{self, Measures};
use super::console::Console;
use super::data::DataArgs;
use super::output::OutputFile;
use job::Job;

/// Compare strategies: time, memory, errors, and what is lost against the exact ones
///
/// Runs `rankrls select` once for every strategy, one after the other, each in a process of its
/// own, and once for every seed where a strategy draws at random. A strategy that does not fit
/// into memory is a row that says so. Times leave out reading the data and measuring test data.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  rankrls compare @parses -k 10 --lambda 16 --test @parses-test --html report.html
  rankrls compare train.svm -k 20 --lambda 16 --strategies bounded,backfit,sampled:500
  rankrls compare train.svm -k 20 --lambda 16 --csv paths.csv --json")]
pub(crate) struct CompareArgs {
    /// Training data, plain or compressed by gzip or zstd; @parses is a small corpus that comes
    /// with the program
    #[arg(value_name = "DATA")]
    pub(super) path: PathBuf,
    /// Features to select
    #[arg(short, value_name = "K", value_parser = at_least_one)]
    k: usize,
    /// Ridge parameter, above 0
    #[arg(long, allow_negative_numbers = true)]
    lambda: Lambda,
    /// Strategies, separated by commas; NAME:N judges N candidates a step, drawn at random
    #[arg(long, value_name = "LIST", value_parser = list)]
    #[arg(default_value = "dense,lowmem,bounded,sampled,backfit,univariate,residual,random")]
    strategies: List,
    /// Runs of a strategy that draws at random, with the seeds 1, 2 and so on
    #[arg(long, value_name = "N", default_value = "5")]
    #[arg(value_parser = clap::value_parser!(u64).range(1..=1000))]
    seeds: u64,
    #[arg(long, value_name = "NAME", default_value = "uniform")]
    #[arg(value_parser = args::query_weight(), help = args::QUERY_WEIGHT_HELP)]
    query_weight: QueryWeight,
    #[command(flatten)]
    data: DataArgs,
    /// Indices of svmlight files count from 0, not 1
    #[arg(long)]
    zero_based: bool,
    /// Names of the features: the first line names the first column
    #[arg(long, value_name = "FILE")]
    names: Option<PathBuf>,
    /// Measure this data after every step; @parses-test goes with @parses
    #[arg(long, value_name = "DATA")]
    test: Option<PathBuf>,
    #[arg(
        long,
        value_name = "LIST",
        requires = "test",
        default_value = "cindex,ndcg@10"
    )]
    #[arg(help = args::MEASURES_HELP)]
    metrics: Measures,
    /// Convention of the measures [default: standard]
    #[arg(long, value_name = "NAME", value_parser = args::convention(), requires = "test")]
    convention: Option<Convention>,
    /// Write a report with diagrams, one file for any browser
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
    /// Write all steps of all runs, a line each
    #[arg(long, value_name = "FILE")]
    csv: Option<PathBuf>,
    /// Print one JSON document
    #[arg(long)]
    json: bool,
}

/// Strategies that were named.
#[derive(Debug, Clone)]
struct List(Vec<Contestant>);

fn list(text: &str) -> Result<List, ContestantError> {
    contestants(text).map(List)
}

pub(crate) fn run(args: &CompareArgs, threads: Option<u16>, console: Console) -> Result<ExitCode> {
    args.check()?;
    let create = |path: &Option<PathBuf>| path.as_deref().map(OutputFile::create).transpose();
    let (page, paths) = (create(&args.html)?, create(&args.csv)?);
    Job::new(args, threads, console).run(page, paths)
}

impl CompareArgs {
    /// Refuses what the parser cannot see.
    fn check(&self) -> Result<()> {
        let inputs = [Some(&self.path), self.names.as_ref(), self.test.as_ref()];
        if inputs
            .into_iter()
            .flatten()
            .any(|path| path == Path::new("-"))
        {
            return Err(usage(
                "every strategy reads the data by itself: it has to be in files, not on standard \
                 input",
            ));
        }
        if self.html.is_some() && self.html == self.csv {
            return Err(usage("--html and --csv name the same file"));
        }
        Ok(())
    }
}
