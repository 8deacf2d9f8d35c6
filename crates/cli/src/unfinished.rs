//! The unfinished model of a selection, beside its output: found, continued, and saved on the way.

use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use rankrls::data::DataHash;
use rankrls::memory::Memory;
use rankrls::{ColumnClasses, Error, GreedyRankRls, Model, Step};
use rankrls_files::Part;

use super::console::Console;
use super::files::Files;

/// The longest age of the saved model: as long as the run has taken, within these.
const BEHIND: [Duration; 2] = [Duration::from_secs(1), Duration::from_secs(60)];

/// The unfinished model beside an output, and the models to continue from.
pub(crate) struct UnfinishedModel {
    part: Part,
    output: PathBuf,
    /// The model of an unfinished run.
    unfinished: Option<Model>,
    /// The model in the output, or its error, if the run may continue it.
    finished: Option<rankrls::Result<Model>>,
    begun: Instant,
    /// The time of the last save after the beginning.
    saved: Option<Duration>,
}

impl UnfinishedModel {
    /// Finds the unfinished model beside the file `output`. Refuses it unless the run is to `resume`. Refuses any
    /// other file of its name.
    pub(crate) fn find(output: &Path, resume: bool, memory: Memory, files: &Files) -> Result<Self> {
        files.writes("--output", &Part::path_of(output))?;
        let part = Part::open(output)?;
        let mut unfinished = None;
        if part.file().is_some() {
            let model = Model::read_within(part.path(), memory);
            let model = model.with_context(|| part.other("another file"))?;
            let Some(progress) = model.unfinished else {
                return Err(part.other("a finished model").into());
            };
            if !resume {
                return Err(part.refusal(format!("{progress} features")).into());
            }
            unfinished = Some(model);
        }
        let finished = resume && output.exists();
        Ok(Self {
            part,
            output: output.to_owned(),
            unfinished,
            finished: finished.then(|| Model::read_within(output, memory)),
            begun: Instant::now(),
            saved: None,
        })
    }

    /// The model whose choices the run continues, if there is one: the unfinished one, or the finished one.
    pub(crate) fn earlier(&self) -> Result<Option<&Model>> {
        let finished = self.finished.as_ref().map(rankrls::Result::as_ref);
        match &self.unfinished {
            Some(unfinished) => Ok(Some(unfinished)),
            None => Ok(finished.transpose().map_err(Error::clone)?),
        }
    }

    /// The options and steps to continue from, if there are some: of the unfinished model, which must be of this
    /// run; or of a finished one of this run with more.
    pub(crate) fn go_on(
        &mut self,
        options: &GreedyRankRls,
        candidates: &ColumnClasses,
        hash: impl FnOnce() -> DataHash,
    ) -> Result<Option<(GreedyRankRls, Vec<Step>)>> {
        let (unfinished, finished) = (self.unfinished.take(), self.finished.take());
        if unfinished.is_none() && finished.is_none() {
            return Ok(None);
        }
        let hash = hash();
        let steps_of = |model: &Model, path: &Path| {
            let gone_on = model.go_on(options, candidates, hash);
            gone_on.map_err(|error| error.within(format_args!("{}: ", path.display())))
        };
        let Some(unfinished) = unfinished else {
            let model = finished.transpose()?;
            let steps = model.map(|model| steps_of(&model, &self.output));
            return Ok(steps.transpose()?);
        };
        let steps = steps_of(&unfinished, self.part.path())?;
        let finished = finished.and_then(Result::ok);
        let more = finished.and_then(|model| steps_of(&model, &self.output).ok());
        Ok(more
            .filter(|more| more.1.len() > steps.1.len())
            .or(Some(steps)))
    }

    /// Whether the saved model is old enough.
    pub(crate) fn is_due(&self) -> bool {
        let [least, most] = BEHIND;
        let wait = |saved: Duration| self.begun.elapsed() >= saved + saved.clamp(least, most);
        self.saved.is_none_or(wait)
    }

    /// Saves the model that `write` writes, on the way. Fails if another run saves its own. Warns of a full disk,
    /// as there may be room later.
    pub(crate) fn keep(
        &mut self,
        console: Console,
        write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
    ) -> Result<()> {
        let saved = self.part.save(write);
        self.saved = Some(self.begun.elapsed());
        let path = self.part.path().display();
        match saved {
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {
                Err(self.part.other("that of another run").into())
            }
            Err(error) => {
                console.warn(format_args!("cannot write to {path}: {error}"));
                Ok(())
            }
            Ok(()) => Ok(()),
        }
    }

    /// Saves the model that `write` writes, of a run interrupted after so many `taken` steps. With fewer steps than
    /// it was `given`, it leaves the earlier model. Returns words about the file left.
    pub(crate) fn leave(
        mut self,
        taken: usize,
        given: usize,
        write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
    ) -> (Result<()>, Option<String>) {
        if taken >= given
            && let Err(error) = self.part.save(write)
        {
            let text = format!("cannot write to {}", self.part.path().display());
            return (Err(error).context(text), None);
        }
        let is_there = self.part.file().is_some();
        let path = if is_there {
            self.part.path()
        } else {
            &self.output
        };
        let (path, most) = (path.display(), taken.max(given));
        let left = format!("{path} has {most}, and --resume goes on");
        (Ok(()), Some(left))
    }

    /// Deletes the unfinished model: the finished one has its name.
    pub(crate) fn end(mut self) -> Result<()> {
        let removed = self.part.remove();
        removed.with_context(|| format!("cannot delete {}", self.part.path().display()))
    }
}
