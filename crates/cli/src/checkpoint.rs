//! Checkpoints on the command line, and the steps that a selection goes on from.

use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use clap::Args;
use rankrls::Dataset;
use rankrls::checkpoint::{Checkpointer, Progress, Record};
use rankrls::data::DataHash;
use rankrls::greedy::{Earlier, Lesson, SelectionOptions, Step};
use rankrls::peers::Peers;

use super::args::usage;
use super::console::{Console, Interrupt};
use super::ranks;

/// Where and when checkpoints are written.
#[derive(Debug, Args)]
pub(crate) struct CheckpointArgs {
    /// Keep the steps so far in this file, to go on from with --resume
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

    /// What an earlier run on `train` has found, or nothing yet; none if no checkpoint is asked for.
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

/// The path of a model to go on from.
pub(crate) struct Extended {
    /// Hash of the data that it is of.
    pub(crate) data: DataHash,
    pub(crate) options: SelectionOptions,
    pub(crate) steps: Vec<Step>,
}

/// Where a selection starts: at nothing, at the end of a model, or where an earlier run ended.
pub(crate) struct Start {
    pub(crate) steps: Vec<Step>,
    /// What the teacher taught, if an earlier run has kept it.
    pub(crate) lesson: Option<Lesson>,
    pub(crate) options: SelectionOptions,
    /// Where checkpoints go on from, if they are written.
    pub(crate) progress: Option<Progress>,
}

impl Start {
    /// At nothing.
    pub(crate) fn new(options: &SelectionOptions) -> Self {
        Self {
            steps: Vec::new(),
            lesson: None,
            options: *options,
            progress: None,
        }
    }

    /// All ranks start where the first does; each may take the memory that it may.
    pub(crate) fn agree(&mut self, peers: &dyn Peers) {
        let own = (std::mem::take(&mut self.steps), self.options);
        let max_memory = self.options.max_memory;
        (self.steps, self.options) = ranks::of_first(peers, own);
        self.options.max_memory = max_memory;
    }

    /// Reads and checks the earlier steps of a selection by `options` from `train`.
    pub(crate) fn find(
        options: &SelectionOptions,
        extended: Option<Extended>,
        checkpoint: &CheckpointArgs,
        train: &Dataset<'_>,
    ) -> Result<Self> {
        let Self {
            mut options,
            mut steps,
            ..
        } = Self::new(options);
        if let Some(extended) = extended {
            let (expected, found) = (extended.data, DataHash::of(train));
            if expected != found {
                bail!(
                    "the model was trained on other data: expected data with the hash {expected}, \
                     found {found}"
                );
            }
            (options, steps) = (extended.options, extended.steps);
        }
        let mut progress: Option<Progress> = checkpoint.record(train, || options)?;
        let mut lesson = None;
        if let Some(progress) = &mut progress {
            lesson.clone_from(&progress.lesson);
            if progress.steps.is_empty() {
                progress.steps.clone_from(&steps);
            } else {
                steps.clone_from(&progress.steps);
            }
            // The strategy that auto took then.
            options.strategy = progress.strategy.or(options.strategy);
        }
        Ok(Self {
            steps,
            lesson,
            options,
            progress,
        })
    }

    /// What there is to go on from.
    pub(crate) fn earlier(&self) -> Earlier<'_> {
        Earlier {
            steps: &self.steps,
            lesson: self.lesson.as_ref(),
        }
    }

    /// Says how far on the way to `asked` features the selection is.
    pub(crate) fn tell(&self, asked: usize, console: Console) {
        let taken = self.steps.len();
        if taken > 0 {
            tracing::info!(steps = taken, "going on");
            console.tell(format_args!("going on after {taken} of {asked} features\n"));
        }
    }
}
