//! What a selection goes on from: nothing, a model, or a checkpoint.

use anyhow::{Result, bail};
use rankrls::checkpoint::{Checkpointer, Progress};
use rankrls::data::DataHash;
use rankrls::greedy::{SelectionOptions, Step};

use super::checkpoint::CheckpointArgs;
use super::select::Extended;
use super::selection::Job;

/// What was found before the process started, and what is looked for.
pub(super) struct Earlier {
    pub(super) steps: Vec<Step>,
    pub(super) options: SelectionOptions,
    /// Where checkpoints go on from, if they are written.
    progress: Option<Progress>,
}

impl Earlier {
    /// Reads and checks what there is.
    pub(super) fn find(job: &Job<'_>) -> Result<Self> {
        let mut earlier = Self {
            steps: Vec::new(),
            options: job.args.options(),
            progress: None,
        };
        let checkpoint = &job.args.checkpoint;
        if checkpoint.path().is_none() && job.extended.is_none() {
            return Ok(earlier);
        }
        let data = DataHash::of(&job.input.train);
        if let Some(extended) = job.extended {
            earlier.extend(extended, data)?;
        }
        if checkpoint.path().is_some() {
            earlier.resume(checkpoint, data)?;
        }
        if !earlier.steps.is_empty() {
            let (taken, asked) = (earlier.steps.len(), job.args.k);
            tracing::info!(steps = taken, "going on");
            job.console
                .tell(format_args!("going on after {taken} of {asked} features\n"));
        }
        Ok(earlier)
    }

    fn extend(&mut self, extended: &Extended, data: DataHash) -> Result<()> {
        if extended.data != data {
            bail!(
                "the model was trained on other data: expected data with the hash {}, found {data}",
                extended.data
            );
        }
        self.options = extended.options;
        self.steps.clone_from(&extended.steps);
        Ok(())
    }

    fn resume(&mut self, checkpoint: &CheckpointArgs, data: DataHash) -> Result<()> {
        let Some(path) = checkpoint.resumed() else {
            let mut progress = Progress::new(data, self.options);
            progress.steps.clone_from(&self.steps);
            self.progress = Some(progress);
            return Ok(());
        };
        let progress = Progress::load(path, data, &self.options)?;
        // What auto took then, whatever it would take now.
        self.options.strategy = progress.strategy.or(self.options.strategy);
        self.steps.clone_from(&progress.steps);
        self.progress = Some(progress);
        Ok(())
    }

    /// Writes checkpoints from here on, if they are wanted.
    pub(super) fn checkpointer(&self, arguments: &CheckpointArgs) -> Result<Option<Checkpointer>> {
        arguments.checkpointer(self.progress.clone())
    }
}
