//! Checkpoints on the command line.

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result, bail};
use clap::Args;
use rankrls::checkpoint::{Checkpointer, Record};

use super::args::usage;
use super::console::Console;

/// Where and when checkpoints are written.
#[derive(Debug, Args)]
pub(crate) struct CheckpointArgs {
    /// Keep what has been found in this file, to go on from with --resume
    #[arg(long, value_name = "FILE")]
    checkpoint: Option<PathBuf>,
    /// Write it after steps that end so many seconds after the last time; 0: after every step
    #[arg(
        long,
        value_name = "SECONDS",
        requires = "checkpoint",
        default_value = "1"
    )]
    #[arg(value_parser = seconds)]
    checkpoint_every: Duration,
    /// Go on from the checkpoint, if there is one; the model is that of an unbroken run
    #[arg(long, requires = "checkpoint")]
    resume: bool,
}

fn seconds(text: &str) -> Result<Duration, String> {
    let seconds: f64 = text
        .parse()
        .map_err(|_| format!("expected seconds from 0 on, found {text:?}"))?;
    Duration::try_from_secs_f64(seconds).map_err(|error| error.to_string())
}

impl CheckpointArgs {
    /// Where to write, if at all.
    pub(crate) fn path(&self) -> Option<&Path> {
        self.checkpoint.as_deref()
    }

    /// How long to wait between two checkpoints.
    fn every(&self) -> Duration {
        self.checkpoint_every
    }

    /// The checkpoint to go on from.
    pub(crate) fn resumed(&self) -> Option<&Path> {
        let path = self.path()?;
        (self.resume && path.exists()).then_some(path)
    }

    /// Refuses to write over the checkpoint of another run.
    pub(crate) fn check(&self) -> Result<()> {
        let Some(path) = self.path() else {
            return Ok(());
        };
        if path.as_os_str() == "-" {
            return Err(usage("a checkpoint takes the name of a file, not -"));
        }
        if !self.resume && path.exists() {
            bail!(
                "{} exists: --resume goes on from it; remove it to start anew",
                path.display()
            );
        }
        Ok(())
    }

    /// Writes what is found from `record` on, if that is wanted.
    pub(crate) fn checkpointer<R: Record>(
        &self,
        record: Option<R>,
    ) -> Result<Option<Checkpointer<R>>> {
        let (Some(path), Some(record)) = (self.path(), record) else {
            return Ok(None);
        };
        let checkpointer = Checkpointer::new(path, self.every(), record);
        let refusal = || format!("cannot write the checkpoint {}", path.display());
        checkpointer.map(Some).with_context(refusal)
    }
}

/// Writes what is not yet in the checkpoint, and warns if that fails. `what` are the steps of
/// the run.
pub(crate) fn finish<R: Record>(
    checkpointer: Option<&mut Checkpointer<R>>,
    what: &str,
    console: Console,
) {
    let Some(checkpointer) = checkpointer else {
        return;
    };
    checkpointer.flush();
    if let Some(error) = checkpointer.error() {
        let saved = checkpointer.saved();
        console.warn(format_args!(
            "cannot write the checkpoint: {error}; the last one has {saved} {what}"
        ));
    }
}
