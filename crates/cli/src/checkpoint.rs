//! Checkpoints on the command line, and what a selection goes on from.

use std::time::Duration;

use anyhow::{Context, Result, bail};
use clap::Args;
use rankrls::Dataset;
use rankrls::checkpoint::{Checkpointer, Progress, Record};
use rankrls::data::DataHash;
use rankrls::greedy::SelectionOptions;

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

    /// The findings of an earlier run on `train`, or nothing yet; none if no checkpoint is asked for.
    pub(crate) fn record<R: Record>(
        &self,
        train: &Dataset<'_>,
        settings: impl FnOnce() -> R::Settings,
    ) -> Result<Option<R>> {
        let Some(path) = &self.checkpoint else {
            return Ok(None);
        };
        let (data, settings) = (DataHash::of(train), settings());
        Ok(Some(if self.resume && path.exists() {
            R::load(path, data, &settings)?
        } else {
            R::new(data, settings)
        }))
    }

    /// The start of a selection by `options` from `train`, if there is one: a checkpoint, or
    /// the path of a model. The options become those of that run.
    pub(crate) fn earlier(
        &self,
        options: &mut SelectionOptions,
        extended: Option<Progress>,
        train: &Dataset<'_>,
    ) -> Result<Option<Progress>> {
        if let Some(extended) = &extended {
            let (expected, found) = (extended.data, DataHash::of(train));
            if expected != found {
                bail!(
                    "the model was trained on other data: expected data with the hash {expected}, \
                     found {found}"
                );
            }
            *options = extended.settings.clone();
        }
        let Some(mut progress) = self.record::<Progress>(train, || options.clone())? else {
            return Ok(extended);
        };
        if progress.steps.is_empty() {
            progress.steps = extended.map_or_else(Vec::new, |extended| extended.steps);
        }
        // The strategy that auto took then.
        options.strategy = progress.strategy.or(options.strategy);
        Ok(Some(progress))
    }

    /// Writes the steps from `record` on, if a checkpoint is asked for, which is then what a signal
    /// leaves.
    pub(crate) fn checkpointer<R: Record>(
        &self,
        record: Option<R>,
        interrupt: &Interrupt,
    ) -> Result<Option<Checkpointer<R>>> {
        let (Some(path), Some(record)) = (&self.checkpoint, record) else {
            return Ok(None);
        };
        let checkpointer = Checkpointer::new(path, self.checkpoint_every, record);
        let refusal = || format!("cannot write the checkpoint {}", path.display());
        let checkpointer = checkpointer.with_context(refusal)?;
        let path = path.display();
        interrupt.leaves(format!("--resume goes on from {path}"));
        Ok(Some(checkpointer))
    }
}
