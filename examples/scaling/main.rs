//! What selections cost, one line of comma-separated values each:
//!
//! ```text
//! cargo run --release --example scaling                     generated corpora, and ewt-parse
//! cargo run --release --example scaling -- FILE K LAMBDA STRATEGY...      a data file
//! ```
//!
//! Corpora are generated, and files read, before anything is timed. `classes_seconds` is for
//! finding the column classes, `select_seconds` for all `k` steps after that, `pass_seconds`
//! for one sparse dot product of every stored column with a dense vector, on as many threads:
//! the least that looking at all data once could take. Each is the median of several runs,
//! unless one takes long. `peak_bytes` is the most memory that the process had while it
//! selected, with the data, and `planned_bytes` what `--dry-run` would say. Every data set has
//! a process of its own, so that it finds no memory that others left behind.

mod measure;
mod studies;

use std::error::Error;
use std::path::Path;
use std::process::Command;

use measure::{HEADER, Trial, of_file};

type Outcome = Result<(), Box<dyn Error>>;

fn main() -> Outcome {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.as_slice() {
        [] => {
            println!("{HEADER}");
            (0..studies::jobs().len()).try_for_each(in_own_process)
        }
        [flag, number] if flag == "--job" => studies::jobs()[number.parse::<usize>()?].run(),
        [file, k, lambda, strategies @ ..] if !strategies.is_empty() => {
            println!("{HEADER}");
            let trials = strategies.iter().map(|strategy| {
                Ok(Trial {
                    strategy: strategy.parse()?,
                    k: k.parse()?,
                    lambda: lambda.parse()?,
                })
            });
            let trials = trials.collect::<Result<Vec<_>, Box<dyn Error>>>()?;
            of_file("file", Path::new(file), &trials)
        }
        _ => Err("usage: scaling [FILE K LAMBDA STRATEGY...]".into()),
    }
}

fn in_own_process(job: usize) -> Outcome {
    let mut command = Command::new(std::env::current_exe()?);
    let status = command.arg("--job").arg(job.to_string()).status()?;
    if status.success() {
        return Ok(());
    }
    Err(format!("job {job} failed: {status}").into())
}
