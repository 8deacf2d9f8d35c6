//! `rankrls shard`.

use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Result;
use clap::Args;
use rankrls::shards::{MANIFEST, Sharding, Shards};
use serde::Serialize;

use super::args::at_least_one;
use super::data::{TrainingData, read_named};
use super::files::OutPath;
use super::numbers::{counted, sizes};
use super::session::Session;

fn at_least_one_part(text: &str) -> Result<NonZeroUsize, String> {
    NonZeroUsize::new(at_least_one(text)?).ok_or_else(String::new)
}

/// Put the columns of data into parts
///
/// Each part is a file with some of the columns, and equal columns are in one part. A selection reads
/// the parts one after the other, for data that memory does not hold, or each on a machine of its own.
/// The data are read once. Of the memory that may be taken, half holds rows until they are written to
/// temporary files in DIR, which take about as much room as the parts.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  rankrls shard train.svm --parts 4 -o train.shards
  rankrls shard train.svm.zst --parts 4 --max-memory 1GiB --names names.txt -o named.shards
  rankrls select train.shards -k 50 --lambda 16 --max-memory 2GiB")]
pub(crate) struct ShardArgs {
    #[command(flatten)]
    data: TrainingData,
    /// Parts to make, at most as many as there are columns
    #[arg(long, value_name = "P", help_heading = "Output", value_parser = at_least_one_part)]
    parts: NonZeroUsize,
    /// Folder for the parts, not there yet or empty
    #[arg(short, long, value_name = "DIR", help_heading = "Output")]
    output: OutPath,
    /// Print one JSON document
    #[arg(long, help_heading = "Output")]
    json: bool,
}

/// The JSON document.
#[derive(Debug, Serialize)]
struct Report {
    schema: &'static str,
    manifest: PathBuf,
    rows: usize,
    queries: usize,
    columns: usize,
    nonzeros: usize,
    hash: String,
    parts: Vec<PartReport>,
}

#[derive(Debug, Serialize)]
struct PartReport {
    columns: usize,
    nonzeros: usize,
}

pub(crate) fn run(args: &ShardArgs, session: &Session<'_>) -> Result<ExitCode> {
    let (console, interrupt) = (session.console, session.interrupt);
    let read = &args.data.read;
    read.check([&args.data.path])?;
    interrupt.leaves(format!(
        "{} has no manifest, and can be removed",
        args.output.display()
    ));
    let sharding =
        Sharding::begin(&args.output, args.parts, read.memory().limit)?.with_table(read.table());
    let options = sharding.options(read.options(0));
    let read_rows = read_named(options, args.data.names.as_ref(), &args.data.path, console);
    if let Some(failure) = sharding.failure() {
        return Err(failure.into());
    }
    let rows = read_rows?;
    let spinner = console.spinner(&format!("writing {}", args.output.display()));
    let finished = sharding.finish(&rows);
    spinner.finish_and_clear();
    let shards = finished?;
    interrupt.finishing("the report", &spinner);
    let report = Report {
        schema: "rankrls.sharding/1",
        manifest: shards.folder().join(MANIFEST),
        rows: rows.rows(),
        queries: rows.queries().len(),
        columns: shards.width(),
        nonzeros: shards.nonzeros(),
        hash: shards.hash().to_string(),
        parts: parts(&shards),
    };
    session.end(args.json, &report, || report.text(), Ok(()))
}

fn parts(shards: &Shards) -> Vec<PartReport> {
    let sizes = (0..shards.parts()).map(|part| shards.sizes(part));
    let part = |(columns, nonzeros)| PartReport { columns, nonzeros };
    sizes.map(part).collect()
}

impl Report {
    /// The report for people.
    fn text(&self) -> String {
        let data = sizes(self.rows, self.queries, self.columns, self.nonzeros);
        let most = self.parts.iter().map(|part| part.nonzeros).max();
        let parts = counted(self.parts.len(), "part");
        format!(
            "data: {data}\n{parts}, the largest of {}\n",
            counted(most.unwrap_or(0), "non-zero")
        )
    }
}
