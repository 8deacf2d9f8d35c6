//! Selections in processes of their own.

use std::ffi::{OsStr, OsString};
use std::io::Read;
use std::path::PathBuf;
use std::process::{Child, Command, ExitCode, ExitStatus, Stdio};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use anyhow::{Context, Result};
use clap::ArgMatches;
use clap::parser::ValueSource;
use rankrls::StrategyKind;
use rankrls::compare::{AllColumns, Contestant, Outcome, Selected};
use rankrls::greedy::Refit;
use serde::Deserialize;

use super::CompareArgs;
use crate::cli::console::Interrupt;

/// How often it is looked whether a process has ended, and whether it should.
const POLL: Duration = Duration::from_millis(10);

/// Exit codes of a process that was asked to end.
const INTERRUPTED: [i32; 2] = [130, 143];

/// Options of all commands that are run.
const COMMON: [&str; 11] = [
    "lambda",
    "query_weight",
    "scale",
    "labels",
    "format",
    "query_size",
    "label",
    "query",
    "missing",
    "max_memory",
    "threads",
];

/// How measures read labels and ranks.
const RULES: [&str; 4] = ["convention", "relevant_from", "gain", "max_grade"];

/// Runs `rankrls select`.
pub(super) struct Runner<'a> {
    program: PathBuf,
    args: &'a CompareArgs,
    given: &'a ArgMatches,
    interrupt: &'a Interrupt,
}

/// What became of a process.
pub(super) enum Ended {
    Selected(Box<Selected>),
    /// Why it failed.
    Failed(String),
    /// Somebody wants the comparison to end.
    Interrupted(ExitCode),
}

/// A process that has ended.
struct Finished {
    status: ExitStatus,
    output: Vec<u8>,
    errors: String,
}

/// As much of a plan as says whether a strategy fits.
#[derive(Deserialize)]
struct Plan {
    limit_bytes: Option<u64>,
    strategies: Vec<PlanRow>,
}

#[derive(Deserialize)]
struct PlanRow {
    strategy: String,
    total_bytes: u64,
    fits: bool,
}

impl<'a> Runner<'a> {
    pub(super) fn new(
        args: &'a CompareArgs,
        given: &'a ArgMatches,
        interrupt: &'a Interrupt,
    ) -> Result<Self> {
        let program = std::env::current_exe().context("cannot find this program")?;
        Ok(Self {
            program,
            args,
            given,
            interrupt,
        })
    }

    /// Selects.
    ///
    /// # Errors
    /// If the process cannot be started, or its output cannot be read.
    pub(super) fn select(&self, contestant: Contestant, seed: Option<u64>) -> Result<Ended> {
        let mut command = self.command(contestant);
        if let Some(seed) = seed {
            command.arg(format!("--seed={seed}"));
        }
        let finished = match self.finish(command)? {
            Ok(finished) => finished,
            Err(code) => return Ok(Ended::Interrupted(code)),
        };
        if !finished.status.success() {
            return Ok(Ended::Failed(finished.complaint()));
        }
        let selected = serde_json::from_slice(&finished.output)
            .with_context(|| format!("cannot read the selection by {contestant}"))?;
        Ok(Ended::Selected(Box::new(selected)))
    }

    /// Why a contestant failed with `error`: whether it does not fit is what its plan says. An
    /// error here is one that no strategy can do without, such as data that cannot be read.
    pub(super) fn explain(&self, contestant: Contestant, error: String) -> Result<Outcome> {
        let mut command = self.command(contestant);
        command.arg("--dry-run");
        let Ok(finished) = self.finish(command)? else {
            return Ok(Outcome::Failed(error));
        };
        if !finished.status.success() {
            anyhow::bail!(finished.complaint());
        }
        let plan: Plan = serde_json::from_slice(&finished.output)
            .with_context(|| format!("cannot read the plan of {contestant}"))?;
        let name = contestant.strategy.name();
        let refused = |row: &&PlanRow| row.strategy == name && !row.fits;
        Ok(match plan.strategies.iter().find(refused) {
            Some(row) => Outcome::DoesNotFit {
                needs: row.total_bytes,
                limit: plan.limit_bytes,
            },
            None => Outcome::Failed(error),
        })
    }

    /// `rankrls select`, all but the seed.
    fn command(&self, contestant: Contestant) -> Command {
        let args = self.args;
        let mut command = self.on_data("select");
        command.arg(format!("-k{}", args.k));
        command.arg(format!("--strategy={}", contestant.strategy));
        let distils = contestant.strategy.distils();
        if distils {
            self.pass_on(&["blend"], &mut command);
        }
        if distils || args.target.refit == Some(Refit::CrossFitted) {
            self.pass_on(&["teacher_lambda", "teacher"], &mut command);
        }
        if contestant.strategy == StrategyKind::FsEd && args.target.fs_ed_scale {
            command.arg("--fs-ed-scale");
        }
        if let Some(candidates) = contestant.candidates {
            command.arg(format!("--candidates={candidates}"));
        }
        if args.test.is_some() {
            let names: Vec<String> = args.metrics.0.iter().map(ToString::to_string).collect();
            command.arg(format!("--metrics={}", names.join(",")));
        }
        self.pass_on(&["refit", "names", "test", "queries"], &mut command);
        self.pass_on(&RULES, &mut command);
        command
    }

    /// RankRLS on all columns; none where it cannot be trained, such as for want of memory.
    ///
    /// # Errors
    /// If the process cannot be started.
    pub(super) fn all_columns(&self) -> Result<Option<AllColumns>> {
        let mut command = self.on_data("train");
        // Training reads no test data.
        if let Some(queries) = self.given.get_raw("queries").and_then(|mut all| all.next()) {
            command.arg(joined("--queries=", queries));
        }
        let Ok(finished) = self.finish(command)? else {
            return Ok(None);
        };
        Ok(serde_json::from_slice(&finished.output).ok())
    }

    /// A command that works on the training data, with the options that all of them take.
    fn on_data(&self, name: &str) -> Command {
        let path = &self.args.data.path;
        let mut command = Command::new(&self.program);
        command.args([name, "--quiet", "--json"]);
        self.pass_on(&COMMON, &mut command);
        for (name, flag) in [("zero_based", "--zero-based"), ("regroup", "--regroup")] {
            command.args(self.given.get_flag(name).then_some(flag));
        }
        // A name that begins with a hyphen is no option.
        if path.as_os_str().as_encoded_bytes().starts_with(b"-") {
            command.arg(PathBuf::from(".").join(path));
        } else {
            command.arg(path);
        }
        command
    }

    /// Adds the options of these names that were given, as they were given.
    fn pass_on(&self, names: &[&str], command: &mut Command) {
        for name in names {
            let given = self.given.value_source(name) == Some(ValueSource::CommandLine);
            let values = self.given.get_raw(name).filter(|_| given);
            for value in values.into_iter().flatten() {
                command.arg(joined(&format!("--{}=", name.replace('_', "-")), value));
            }
        }
    }

    /// Waits for the end, or makes one of it if that is asked for: the exit code is the error.
    fn finish(&self, mut command: Command) -> Result<Result<Finished, ExitCode>> {
        tracing::info!(?command, "starting");
        let mut child = command
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .with_context(|| format!("cannot start {}", self.program.display()))?;
        let output = child.stdout.take().map(collect);
        let errors = child.stderr.take().map(collect);
        let status = self.wait(&mut child).context("cannot wait for a process");
        let (output, errors) = (bytes(output), bytes(errors));
        let status = match status? {
            Ok(status) => status,
            Err(code) => return Ok(Err(code)),
        };
        Ok(Ok(Finished {
            status,
            output,
            errors: String::from_utf8_lossy(&errors).into_owned(),
        }))
    }

    fn wait(&self, child: &mut Child) -> std::io::Result<Result<ExitStatus, ExitCode>> {
        loop {
            if let Some(code) = self.interrupt.code() {
                // It may have ended by itself.
                let _ = child.kill();
                child.wait()?;
                return Ok(Err(code));
            }
            if let Some(status) = child.try_wait()? {
                // A terminal sends Ctrl-C to all its processes: the child may be the first to act.
                let interrupted = status.code().filter(|code| INTERRUPTED.contains(code));
                let code = interrupted.and_then(|code| u8::try_from(code).ok());
                return Ok(code.map_or(Ok(status), |code| Err(ExitCode::from(code))));
            }
            thread::sleep(POLL);
        }
    }
}

impl Finished {
    /// Its messages, as the rest of a sentence.
    fn complaint(&self) -> String {
        let lines = self.errors.lines().map(str::trim);
        let lines: Vec<&str> = lines.filter(|line| !line.is_empty()).collect();
        let text = lines.join("; ");
        let text = text.strip_prefix("error: ").unwrap_or(&text).to_owned();
        if text.is_empty() {
            return format!("the process ended with {}", self.status);
        }
        text
    }
}

fn joined(option: &str, value: &OsStr) -> OsString {
    let mut argument = OsString::from(option);
    argument.push(value);
    argument
}

/// Reads on a thread, so that no process waits for a reader.
fn collect(mut pipe: impl Read + Send + 'static) -> JoinHandle<Vec<u8>> {
    thread::spawn(move || {
        let mut bytes = Vec::new();
        // Missing output is noticed where it is parsed.
        let _ = pipe.read_to_end(&mut bytes);
        bytes
    })
}

fn bytes(thread: Option<JoinHandle<Vec<u8>>>) -> Vec<u8> {
    thread
        .and_then(|thread| thread.join().ok())
        .unwrap_or_default()
}
