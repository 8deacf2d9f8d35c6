//! Selections in processes of their own.

use std::ffi::{OsStr, OsString};
use std::io::Read;
use std::path::PathBuf;
use std::process::{Child, Command, ExitCode, ExitStatus, Stdio};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use anyhow::{Context, Result};
use rankrls::compare::{AllColumns, Contestant, Outcome, Selected};
use rankrls::greedy::Refit;
use serde::Deserialize;

use super::CompareArgs;
use crate::cli::console::Interrupt;

/// How often it is looked whether a process has ended, and whether it should.
const POLL: Duration = Duration::from_millis(10);

/// Exit codes of a process that was asked to end.
const INTERRUPTED: [i32; 2] = [130, 143];

/// Runs `rankrls select`.
pub(super) struct Runner<'a> {
    program: PathBuf,
    args: &'a CompareArgs,
    threads: Option<u16>,
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
        threads: Option<u16>,
        interrupt: &'a Interrupt,
    ) -> Result<Self> {
        let program = std::env::current_exe().context("cannot find this program")?;
        Ok(Self {
            program,
            args,
            threads,
            interrupt,
        })
    }

    /// Selects.
    ///
    /// # Errors
    /// If the process cannot be started, or what it prints cannot be read.
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
        let (target, distils) = (&args.target, contestant.strategy.distils());
        if let Some(refit) = target.refit {
            command.arg(format!("--refit={refit}"));
        }
        if let Some(blend) = target.blend.filter(|_| distils) {
            command.arg(format!("--blend={blend}"));
        }
        if distils || target.refit == Some(Refit::CrossFitted) {
            if let Some(lambdas) = target.teacher_lambda {
                command.arg(format!("--teacher-lambda={lambdas}"));
            }
            if let Some(teacher) = &args.teacher.teacher {
                command.arg(joined("--teacher=", teacher));
            }
        }
        if let Some(candidates) = contestant.candidates {
            command.arg(format!("--candidates={candidates}"));
        }
        if let Some(names) = &args.names {
            command.arg(joined("--names=", names));
        }
        if let Some(test) = &args.test {
            let names = args.metrics.0.iter().map(ToString::to_string);
            let names: Vec<String> = names.collect();
            command.arg(joined("--test=", test));
            command.arg(format!("--metrics={}", names.join(",")));
        }
        command.args(args.rules.arguments());
        command
    }

    /// RankRLS on all columns; none where it cannot be trained, such as for want of memory.
    ///
    /// # Errors
    /// If the process cannot be started.
    pub(super) fn all_columns(&self) -> Result<Option<AllColumns>> {
        let Ok(finished) = self.finish(self.on_data("train"))? else {
            return Ok(None);
        };
        Ok(serde_json::from_slice(&finished.output).ok())
    }

    /// A command that works on the training data, with what all of them are told.
    fn on_data(&self, name: &str) -> Command {
        let args = self.args;
        let mut command = Command::new(&self.program);
        command.args([name, "--quiet", "--json"]);
        command.arg(format!("--lambda={}", args.lambda.value()));
        command.arg(format!("--query-weight={}", args.query_weight));
        command.arg(format!("--labels={}", args.target.labels));
        command.arg(format!("--scale={}", args.scale));
        // Training reads no test data.
        let data = if name == "train" { 1 } else { 2 };
        command.args(args.data.arguments(data));
        if let Some(threads) = self.threads {
            command.arg(format!("--threads={threads}"));
        }
        // A name that begins with a hyphen is no option.
        if args.path.as_os_str().as_encoded_bytes().starts_with(b"-") {
            command.arg(PathBuf::from(".").join(&args.path));
        } else {
            command.arg(&args.path);
        }
        command
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
    /// What it said, as the rest of a sentence.
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

fn joined(option: &str, value: impl AsRef<OsStr>) -> OsString {
    let mut argument = OsString::from(option);
    argument.push(value);
    argument
}

/// Reads on a thread, so that no process waits for a reader.
fn collect(mut pipe: impl Read + Send + 'static) -> JoinHandle<Vec<u8>> {
    thread::spawn(move || {
        let mut bytes = Vec::new();
        // What could not be read is missing, and is noticed where it is parsed.
        let _ = pipe.read_to_end(&mut bytes);
        bytes
    })
}

fn bytes(thread: Option<JoinHandle<Vec<u8>>>) -> Vec<u8> {
    thread
        .and_then(|thread| thread.join().ok())
        .unwrap_or_default()
}
