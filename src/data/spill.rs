//! Runs of rows, on disk where memory does not hold them.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::columns::Columns;
use super::dataset::Dataset;
use super::merge::each_batch;
use super::runs::{Packer, Run, nameless_file};

/// Rows on their way: the last in memory, those before in files without names, which are gone when
/// this is.
#[derive(Debug)]
pub(crate) struct Spill {
    folder: PathBuf,
    room: u64,
    taken: Mutex<Taken>,
}

#[derive(Debug, Default)]
struct Taken {
    runs: Vec<Run>,
    /// Why some could not be written.
    failure: Option<io::Error>,
}

impl Spill {
    /// Files in `folder`, of rows that take `room` bytes before they are written.
    pub(crate) fn new(folder: &Path, room: u64) -> Self {
        Self {
            folder: folder.to_owned(),
            room,
            taken: Mutex::default(),
        }
    }

    /// All rows in memory.
    pub(crate) fn in_memory() -> Self {
        Self::new(Path::new(""), u64::MAX)
    }

    /// Whether all rows stay in memory.
    pub(super) fn is_memory(&self) -> bool {
        self.room == u64::MAX
    }

    /// Bytes of rows in memory.
    pub(crate) fn memory(&self) -> u64 {
        let taken = self.taken();
        taken.runs.iter().map(|run| run.memory() as u64).sum()
    }

    /// Bytes from which on rows are to be written.
    pub(super) fn room(&self) -> u64 {
        self.room
    }

    /// Entries that are merged at a time: a quarter of the room, some bytes beside them counted.
    pub(crate) fn batch(&self) -> u64 {
        let least = if cfg!(test) { 1 << 10 } else { 1 << 16 };
        (self.room / 64).clamp(least, 1 << 22)
    }

    fn taken(&self) -> MutexGuard<'_, Taken> {
        self.taken.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Why rows could not be written, if that was so.
    pub(crate) fn failure(&self) -> Option<io::Error> {
        self.taken().failure.take()
    }

    /// Writes the rows after those before, and says whether that was possible.
    pub(super) fn write(&self, runs: &[Run]) -> bool {
        let stored = self.stored(runs);
        let mut taken = self.taken();
        match stored {
            Ok(run) => taken.runs.push(run),
            Err(error) => taken.failure = Some(error),
        }
        taken.failure.is_none()
    }

    /// Keeps the last rows in memory.
    pub(super) fn keep(&self, runs: &mut Vec<Run>) {
        self.taken().runs.append(runs);
    }

    fn stored(&self, runs: &[Run]) -> io::Result<Run> {
        let mut file = nameless_file(&self.folder)?;
        let mut packer = Packer::default();
        each_batch(runs, 0, self.batch(), |columns| {
            packer.extend(columns);
            packer.store(&mut file)
        })?;
        packer.finish_in(file, runs.iter().map(|run| run.rows).sum())
    }

    /// All rows, once.
    pub(crate) fn runs(&self) -> Vec<Run> {
        std::mem::take(&mut self.taken().runs)
    }
}

/// Calls `each` with all columns of `rows`, whose entries are in `runs`: as many at a time as have about so many
/// `entries`, with rows in their places and means for missing values.
pub(crate) fn each_columns<E: From<io::Error>>(
    runs: &[Run],
    rows: &Dataset<'_>,
    entries: u64,
    mut each: impl FnMut(&Columns<'_>) -> Result<(), E>,
) -> Result<(), E> {
    each_batch(runs, rows.width(), entries, |columns| {
        if let Some(order) = rows.input_rows() {
            columns.move_rows(order);
        }
        columns.fill_missing(rows.queries());
        each(columns)
    })
}
