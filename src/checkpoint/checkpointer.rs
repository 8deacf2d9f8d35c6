//! Writes checkpoints while a run goes on.

use std::io;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use super::{Progress, Tuning};
use crate::Lambda;
use crate::greedy::{Observer, Plan, Step};
use crate::greedy::{State, StrategyKind};
use crate::tune::{self, GridStep};

/// What a run has found so far.
pub trait Record {
    /// Writes the checkpoint.
    ///
    /// # Errors
    /// When the file cannot be written; the one before stays then.
    fn save(&self, path: &Path) -> io::Result<()>;

    /// Steps that have been found.
    fn steps(&self) -> usize;
}

/// An observer that writes a checkpoint after a step, unless it wrote one a moment ago.
///
/// That a checkpoint cannot be written does not stop the run: the one before stays, and
/// [`error`](Self::error) tells.
#[derive(Debug)]
pub struct Checkpointer<R = Progress> {
    path: PathBuf,
    every: Duration,
    /// When a checkpoint was last written, or tried to be.
    written: Instant,
    /// Steps in the file.
    saved: usize,
    record: R,
    error: Option<io::Error>,
}

impl<R: Record> Checkpointer<R> {
    /// Goes on from `record`, usually without steps, and writes to `path` at once, so that
    /// it is known to be possible; then after steps that end `every` or more after the last
    /// time.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn new(path: &Path, every: Duration, record: R) -> io::Result<Self> {
        record.save(path)?;
        Ok(Self {
            path: path.to_owned(),
            every,
            written: Instant::now(),
            saved: record.steps(),
            record,
            error: None,
        })
    }

    /// Writes what is not yet in the file.
    pub fn flush(&mut self) {
        if self.saved == self.record.steps() {
            return;
        }
        self.written = Instant::now();
        match self.record.save(&self.path) {
            Ok(()) => {
                self.saved = self.record.steps();
                self.error = None;
            }
            Err(error) => self.error = Some(error),
        }
    }

    /// Writes what is new, unless it wrote a moment ago.
    fn write(&mut self) {
        if self.written.elapsed() >= self.every {
            self.flush();
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

impl Observer for Checkpointer<Progress> {
    fn started(&mut self, plan: &Plan) {
        self.record.strategy = Some(plan.strategy);
    }

    fn replayed(&mut self, _: usize, _: &Step, _: &State) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }

    fn stepped(&mut self, _: usize, step: &Step, _: &State) -> ControlFlow<()> {
        if step.lqo_error.is_finite() {
            self.record.steps.push(step.clone());
            self.write();
        }
        ControlFlow::Continue(())
    }
}

impl tune::Observer for Checkpointer<Tuning> {
    fn planned(&mut self, lambda: Lambda, strategy: StrategyKind) {
        self.record.plan(lambda, strategy);
    }

    fn stepped(&mut self, step: &GridStep<'_>) -> ControlFlow<()> {
        if !step.replayed {
            self.record.add(step);
            self.write();
        }
        ControlFlow::Continue(())
    }
}
