//! What a selection goes on from: nothing, a model, or a checkpoint.

use anyhow::{Result, bail};
use rankrls::Dataset;
use rankrls::checkpoint::{Checkpointer, Progress};
use rankrls::data::DataHash;
use rankrls::greedy::{SelectionOptions, Step};

use super::checkpoint::CheckpointArgs;
use super::console::Console;

/// What was found before the process started, and what is looked for.
pub(super) struct Earlier {
    pub(super) steps: Vec<Step>,
    pub(super) options: SelectionOptions,
    /// Where checkpoints go on from, if they are written.
    progress: Option<Progress>,
}

/// The path of a model to go on from.
pub(super) struct Extended {
    /// Hash of the data that it is of.
    pub(super) data: DataHash,
    pub(super) options: SelectionOptions,
    pub(super) steps: Vec<Step>,
}

impl Earlier {
    /// Reads and checks what there is for a selection by `options` from `train`.
    pub(super) fn find(
        options: SelectionOptions,
        extended: Option<Extended>,
        checkpoint: &CheckpointArgs,
        train: &Dataset<'_>,
    ) -> Result<Self> {
        let mut earlier = Self {
            steps: Vec::new(),
            options,
            progress: None,
        };
        if checkpoint.path().is_none() && extended.is_none() {
            return Ok(earlier);
        }
        let data = DataHash::of(train);
        if let Some(extended) = extended {
            earlier.extend(extended, data)?;
        }
        if checkpoint.path().is_some() {
            earlier.resume(checkpoint, data)?;
        }
        Ok(earlier)
    }

    /// Says how far on the way to `asked` features the selection is.
    pub(super) fn tell(&self, asked: usize, console: Console) {
        let taken = self.steps.len();
        if taken > 0 {
            tracing::info!(steps = taken, "going on");
            console.tell(format_args!("going on after {taken} of {asked} features\n"));
        }
    }

    fn extend(&mut self, extended: Extended, data: DataHash) -> Result<()> {
        if extended.data != data {
            bail!(
                "the model was trained on other data: expected data with the hash {}, found {data}",
                extended.data
            );
        }
        self.options = extended.options;
        self.steps = extended.steps;
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
