//! Writes checkpoints while a selection goes on.

use std::io;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use super::Progress;
use crate::select::{Observer, Plan, Step};
use crate::strategy::State;

/// An observer that writes a checkpoint after a step, unless it wrote one a moment ago.
///
/// That a checkpoint cannot be written does not stop the selection: the one before stays, and
/// [`error`](Self::error) tells.
#[derive(Debug)]
pub struct Checkpointer {
    path: PathBuf,
    every: Duration,
    /// When a checkpoint was last written, or tried to be.
    written: Instant,
    /// Steps in the file.
    saved: usize,
    progress: Progress,
    error: Option<io::Error>,
}

impl Checkpointer {
    /// Goes on from `progress`, usually without steps, and writes to `path` at once, so that
    /// it is known to be possible; then after steps that end `every` or more after the last
    /// time.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn new(path: &Path, every: Duration, progress: Progress) -> io::Result<Self> {
        progress.save(path)?;
        Ok(Self {
            path: path.to_owned(),
            every,
            written: Instant::now(),
            saved: progress.steps.len(),
            progress,
            error: None,
        })
    }

    /// Writes what is not yet in the file.
    pub fn flush(&mut self) {
        if self.saved == self.progress.steps.len() {
            return;
        }
        self.written = Instant::now();
        match self.progress.save(&self.path) {
            Ok(()) => {
                self.saved = self.progress.steps.len();
                self.error = None;
            }
            Err(error) => self.error = Some(error),
        }
    }

    /// Steps that a run that starts now would not have to search for.
    pub fn saved(&self) -> usize {
        self.saved
    }

    /// Why the last checkpoint could not be written.
    pub fn error(&self) -> Option<&io::Error> {
        self.error.as_ref()
    }
}

impl Observer for Checkpointer {
    fn started(&mut self, plan: &Plan) {
        self.progress.strategy = Some(plan.strategy);
    }

    fn replayed(&mut self, _: usize, _: &Step, _: &State) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }

    fn stepped(&mut self, _: usize, step: &Step, _: &State) -> ControlFlow<()> {
        if step.lqo_error.is_finite() {
            self.progress.steps.push(step.clone());
            if self.written.elapsed() >= self.every {
                self.flush();
            }
        }
        ControlFlow::Continue(())
    }
}
