//! `rankrls-mpi select`: every rank reads the data, and keeps its own columns.

use std::ffi::OsString;
use std::fmt::Write as _;
use std::fs;
use std::io::{self, Write};
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Instant;

use anyhow::{Context, Result, bail};
use clap::{Args, CommandFactory, Parser, Subcommand};
use rankrls::columns::Summary;
use rankrls::columns::share;
use rankrls::data::read::{Loaded, ReadOptions, read_scores};
use rankrls::data::{DataHash, Output};
use rankrls::greedy::job::{Selecting, Sizes, StepReport, TestPath, select_among};
use rankrls::memory::{Bytes, Memory};
use rankrls::metrics::{Convention, parse_list};
use rankrls::peers::Peers;
use rankrls::{ColumnClasses, Dataset, GreedyRankRls, Model, Ridge, Selection, Warning};
use rankrls_files::{memory, write_json};
use serde::Serialize;

use crate::failure::{self, Failure, check_alike};

/// The measures of test data.
const MEASURES: &str = "map,ndcg@10,mean-ndcg,p@10,err,mrr,cindex";

/// Select features as the ranks of an MPI job, each of which has some of the columns
#[derive(Debug, Parser)]
#[command(name = "rankrls-mpi", version)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Select(Box<SelectArgs>),
}

/// Select features by leave-query-out error
#[derive(Debug, Args)]
struct SelectArgs {
    /// Training data, which every rank reads
    data: PathBuf,
    /// Features to select
    #[arg(short, value_name = "K")]
    k: usize,
    /// Ridge parameter: a number above 0, or a share of u, the mean squared norm of a centred row, such as 1/64u
    #[arg(long)]
    lambda: Ridge,
    #[command(flatten)]
    settings: GreedyRankRls,
    /// Scores of a teacher, one a row, for --strategy distil and --refit cross-fitted
    #[arg(long, value_name = "FILE")]
    teacher: Option<PathBuf>,
    /// Measure this data after every step
    #[arg(long, value_name = "DATA")]
    test: Option<PathBuf>,
    /// Memory that a rank may take, such as 8GiB [default: 95% of the free memory]
    #[arg(long, value_name = "SIZE")]
    max_memory: Option<Bytes>,
    /// Write the model to this file
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Print one JSON document
    #[arg(long)]
    json: bool,
}

/// Parses the arguments and works as one of `peers`. The first rank prints.
pub fn run(peers: &Arc<dyn Peers>) -> ExitCode {
    let ended = failure::run(peers, |peers| {
        let cli = Cli::try_parse().map_err(|error| Failure {
            code: u8::try_from(error.exit_code()).unwrap_or(2),
            text: error.to_string().trim_end().to_owned(),
        })?;
        let Command::Select(args) = cli.command;
        args.run(&peers).map_err(|error| Failure {
            code: 1,
            text: with_programs(&format!("error: {error:#}")),
        })
    });
    ended.unwrap_or_else(|Failure { code, text }| {
        match (peers.rank(), code) {
            // Help is not a failure.
            (0, 0) if print(format!("{text}\n").as_bytes()).is_err() => return ExitCode::FAILURE,
            (0, 1..) => {
                // If nobody reads it, the exit code still tells.
                let _ = writeln!(io::stderr(), "{text}");
            }
            _ => {}
        }
        ExitCode::from(code)
    })
}

/// A message of the library, and a line that names the options that this program lacks. Ranks read data as they
/// are; the command can write data that ranks read.
fn with_programs(text: &str) -> String {
    let program = Cli::command();
    let select = program.find_subcommand("select");
    let own = |name: &str| {
        let mut arguments = select.into_iter().flat_map(clap::Command::get_arguments);
        arguments.any(|argument| argument.get_long() == Some(name))
    };
    let is_part = |char: char| char.is_ascii_lowercase() || char == '-';
    let words = text.split(|char| !is_part(char));
    let names = words.filter_map(|word| word.strip_prefix("--"));
    let other: Vec<String> = names
        .filter(|name| !name.is_empty() && !own(name))
        .map(|name| format!("--{name}"))
        .collect();
    if other.is_empty() {
        return text.to_owned();
    }
    let names = other.join(", ");
    format!("{text}\n{names}: an option of rankrls, which converts data and trains on them")
}

/// Writes to standard output. A closed pipe, such as `head` leaves, is not an error.
fn print(text: &[u8]) -> Result<()> {
    let mut output = io::stdout().lock();
    let written = output.write_all(text).and_then(|()| output.flush());
    match written {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        written => written.context("cannot write to standard output"),
    }
}

impl SelectArgs {
    fn run(&self, peers: &Arc<dyn Peers>) -> Result<ExitCode> {
        let arguments: Vec<OsString> = std::env::args_os().skip(1).collect();
        let own = format!("{} {arguments:?}", env!("CARGO_PKG_VERSION"));
        check_alike(&**peers, &own, "another version or other options")?;
        self.check_output()?;
        let leads = peers.rank() == 0;
        let asked = self.output.as_ref().filter(|_| leads);
        let output = asked.map(|path| {
            let created = Output::create(path);
            created.with_context(|| format!("cannot write {}", path.display()))
        });
        let output = output.transpose()?;
        let begin = Instant::now();
        let options = self.options()?;
        let (rows, candidates, hash) = self.read(&options, &**peers)?;
        check_alike(&**peers, &hash.to_string(), "other data")?;
        let candidates = candidates.among(Arc::clone(peers));
        let test = self.test.as_ref().filter(|_| leads).map(|path| {
            let reading = ReadOptions::new().memory(options.memory.holding(rows.memory()));
            reading.width(rows.width()).read(path)
        });
        let test: Option<Loaded> = test.transpose()?;
        let metrics = parse_list(MEASURES)?;
        let mut path = test
            .as_ref()
            .map(|test| TestPath::new(&test.dataset, &metrics, Convention::default()));
        let load_seconds = begin.elapsed().as_secs_f64();
        let begin = Instant::now();
        let selection = select_measured(&candidates, &rows, &options, path.as_mut())?;
        if !leads {
            return Ok(ExitCode::SUCCESS);
        }
        let summary = candidates.summary();
        if let (Some(mut output), Some(path)) = (output, &self.output) {
            let model = Model::from_selection(&selection, &rows, &summary, hash);
            let written = model.write_to(&mut output).and_then(|()| output.finish());
            written.with_context(|| format!("cannot write {}", path.display()))?;
        }
        let mut report = Report::new(&selection, &rows, &summary, path.as_ref());
        (report.load_seconds, report.select_seconds) =
            (load_seconds, begin.elapsed().as_secs_f64());
        let mut document = Vec::new();
        if self.json {
            write_json(&mut document, &report)?;
        } else {
            document.extend(report.text().into_bytes());
        }
        print(&document)?;
        Ok(ExitCode::SUCCESS)
    }

    /// Refuses to replace a file that a rank reads.
    fn check_output(&self) -> Result<()> {
        let found = |path: &PathBuf| fs::canonicalize(path).ok();
        let Some(output) = self.output.as_ref().and_then(found) else {
            return Ok(());
        };
        let read = [Some(&self.data), self.test.as_ref(), self.teacher.as_ref()];
        for (path, name) in read.into_iter().zip(["DATA", "--test", "--teacher"]) {
            if path.and_then(found).as_ref() == Some(&output) {
                bail!("--output and {name} name the same file");
            }
        }
        Ok(())
    }

    fn options(&self) -> Result<GreedyRankRls> {
        let memory = self.max_memory.map(|Bytes(bytes)| bytes);
        let options = GreedyRankRls {
            k: self.k,
            lambda: Some(self.lambda),
            memory: Memory::limit(memory.or_else(memory::budget)),
            ..self.settings.clone()
        };
        options.check_strategy()?;
        options.check_effects(&[options.strategy], self.teacher.is_some(), false)?;
        Ok(options)
    }

    /// The rows of the data, the column classes of this rank, and the hash of the data. Drops other ranks' columns
    /// before it makes classes, unless the strategy judges original columns.
    fn read(
        &self,
        options: &GreedyRankRls,
        peers: &dyn Peers,
    ) -> Result<(Dataset<'static>, ColumnClasses, DataHash)> {
        let (count, rank) = (peers.count(), peers.rank());
        let packs = options.needs_only_candidates();
        let reading = ReadOptions::new().memory(options.memory).packed(packs);
        let read = reading.read(&self.data)?;
        if rank == 0 {
            for warning in Warning::of_loaded(&read) {
                eprintln!("{}", with_programs(&format!("warning: {warning}")));
            }
        }
        let mut data = read.dataset;
        if let Some(path) = &self.teacher {
            let scores = data.in_row_order(&read_scores(path, options.memory)?);
            let taught = scores.and_then(|scores| data.with_teacher(scores));
            data = taught.with_context(|| path.display().to_string())?;
        }
        if !packs {
            let hash = DataHash::of(&data);
            let own = share(&data, count, rank);
            let candidates = options.candidates(&own)?;
            return Ok((own, candidates, hash));
        }
        let memory = options.memory.holding(data.memory());
        let (weight, scale) = (options.query_weight, options.column_scale());
        let own = (count, rank);
        let (classes, hash) =
            ColumnClasses::of_packed(read.packed, &data, weight, scale, memory, own, |_| ())?;
        Ok((data, classes, hash))
    }
}

/// Selects, and measures the test data of `path` after each step, if there are any.
fn select_measured(
    candidates: &ColumnClasses,
    rows: &Dataset<'_>,
    options: &GreedyRankRls,
    mut path: Option<&mut TestPath<'_>>,
) -> Result<Selection> {
    let mut unmeasured = None;
    let mut each = |step: &rankrls::Step, work: &Selecting<'_>| {
        let weights = work.state().weights();
        let path = path.as_mut();
        match path.map_or(Ok(()), |path| path.push(step.feature, &weights)) {
            Ok(()) => ControlFlow::Continue(()),
            Err(error) => {
                unmeasured = Some(error);
                ControlFlow::Break(())
            }
        }
    };
    let selection = select_among(candidates, rows, options, &[], &mut each)?;
    match unmeasured {
        None => Ok(selection),
        Some(error) => bail!("cannot measure the test data: {error}"),
    }
}

/// A selection, as `rankrls select --json` has it.
#[derive(Serialize)]
struct Report<'a> {
    schema: &'static str,
    #[serde(flatten)]
    selection: &'a Selection,
    data: Sizes,
    steps: Vec<StepReport<'a>>,
    load_seconds: f64,
    select_seconds: f64,
    peak_rss_bytes: Option<u64>,
}

impl<'a> Report<'a> {
    fn new(
        selection: &'a Selection,
        data: &'a Dataset<'_>,
        summary: &Summary,
        path: Option<&TestPath<'_>>,
    ) -> Self {
        Self {
            schema: "rankrls.selection/1",
            selection,
            data: Sizes::new(data, summary),
            steps: StepReport::all(selection, data, path),
            load_seconds: 0.0,
            select_seconds: 0.0,
            peak_rss_bytes: memory::peak(),
        }
    }

    /// The report as text: one line a step.
    fn text(&self) -> String {
        let (strategy, lambda) = (
            self.selection.strategy_name(),
            self.selection.lambda.value(),
        );
        let mut text =
            format!("{strategy}, lambda {lambda}\nstep\tfeature\tweight\tLQO error\tLQO cindex");
        let measures = self.steps.first().and_then(|step| step.test.as_ref());
        for (name, _) in measures.into_iter().flat_map(|measures| &measures.0) {
            let _ = write!(text, "\ttest {name}");
        }
        text.push('\n');
        for step in &self.steps {
            let weight = step.weight;
            let _ = write!(text, "{}\t{}\t{weight:.6}", step.step, step.feature);
            let index = step
                .lqo_cindex
                .map_or("-".to_owned(), |index| format!("{index:.4}"));
            let _ = write!(text, "\t{:.6}\t{index}", step.lqo_error);
            for (_, value) in step.test.iter().flat_map(|test| &test.0) {
                let _ = match value {
                    Some(value) => write!(text, "\t{value:.4}"),
                    None => write!(text, "\t-"),
                };
            }
            text.push('\n');
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_of_the_command_are_told_apart() {
        let known = "error: --choose-by has nothing to choose: --lambda is given";
        assert_eq!(with_programs(known), known);
        let told = with_programs("error: to read missing values as 0, pass --missing=0");
        assert!(told.ends_with(
            "\n--missing: an option of rankrls, which converts data and trains on them"
        ));
    }
}
