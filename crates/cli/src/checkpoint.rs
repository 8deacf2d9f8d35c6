//! Checkpoints on the command line, and what a selection goes on from.

use std::time::Duration;

use anyhow::{Result, bail};
use clap::Args;
use rankrls::Dataset;
use rankrls::checkpoint::{Checkpointer, Settings};
use rankrls::data::DataHash;
use rankrls::greedy::SelectionOptions;
use rankrls::greedy::job::Recorded;

use super::args::usage;
use super::console::Interrupt;
use super::files::OutPath;

/// Where and when checkpoints are written.
#[derive(Debug, Args)]
#[command(next_help_heading = "Running")]
pub(crate) struct CheckpointArgs {
    /// Keep the steps so far in this file, to go on from with --resume
    #[arg(long, value_name = "FILE")]
    checkpoint: Option<OutPath>,
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
    let seconds = text.parse().ok();
    let seconds = seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    seconds.ok_or_else(|| format!("expected seconds from 0 on, found {text:?}"))
}

impl CheckpointArgs {
    /// Refuses to write over the checkpoint of another run.
    pub(crate) fn check(&self) -> Result<()> {
        let Some(path) = &self.checkpoint else {
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

    /// Begins the checkpoint of a run on `train`, or goes on with it: with the findings so far. From now
    /// on a signal leaves it. Nothing if none is asked for.
    pub(crate) fn open(
        &self,
        train: &Dataset<'_>,
        settings: &impl Settings,
        interrupt: &Interrupt,
    ) -> Result<(Option<Checkpointer>, Vec<Recorded>)> {
        let Some(path) = &self.checkpoint else {
            return Ok((None, Vec::new()));
        };
        let (data, every) = (DataHash::of(train), self.checkpoint_every);
        let opened = Checkpointer::open(path, every, data, settings, self.resume);
        let (checkpointer, recorded) = opened?;
        let path = path.display();
        interrupt.leaves(format!("--resume goes on from {path}"));
        Ok((Some(checkpointer), recorded))
    }

    /// Opens the checkpoint of a selection by `options` from `train`, which has the path of a model to
    /// begin with if one is extended. The options become those of the run that is gone on with.
    pub(crate) fn open_selection(
        &self,
        options: &mut SelectionOptions,
        extended: Option<Extended>,
        train: &Dataset<'_>,
        interrupt: &Interrupt,
    ) -> Result<(Option<Checkpointer>, Vec<Recorded>)> {
        if let Some(extended) = &extended {
            let (expected, found) = (extended.data, DataHash::of(train));
            if expected != found {
                bail!(
                    "the model was trained on other data: expected data with the hash {expected}, \
                     found {found}"
                );
            }
            *options = extended.options.clone();
        }
        let (mut checkpointer, mut recorded) = self.open(train, options, interrupt)?;
        if let (true, Some(extended)) = (recorded.is_empty(), extended) {
            if let Some(checkpointer) = &mut checkpointer {
                checkpointer.keep(extended.path.clone());
            }
            recorded.push(extended.path);
        }
        // The strategy that auto took then.
        let taken = recorded.first().and_then(|found| found.path.strategy);
        options.strategy = taken.or(options.strategy);
        Ok((checkpointer, recorded))
    }
}

/// The selection of a model, to go on with.
#[derive(Debug)]
pub(crate) struct Extended {
    /// Hash of the training data.
    pub(crate) data: DataHash,
    pub(crate) options: SelectionOptions,
    pub(crate) path: Recorded,
}
