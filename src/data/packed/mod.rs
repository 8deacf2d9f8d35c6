//! Entries that are not in columns yet.

use super::columns::Columns;
use crate::error::Result;

mod merge;
mod runs;

pub(super) use runs::{RowPacker, Run, bytes, runs_of_rows};

/// The entries of rows, packed by columns, one run of rows after the other. An entry of a corpus of parses takes
/// two to three bytes. [`ColumnClasses::of_packed`](crate::ColumnClasses::of_packed) makes candidates of them
/// without the matrix of all columns.
#[derive(Debug, Default)]
pub struct Packed(Vec<Run>);

impl Packed {
    /// Bytes held.
    pub fn memory(&self) -> u64 {
        self.0.iter().map(|run| run.memory() as u64).sum()
    }

    /// Number of entries.
    pub(crate) fn entries(&self) -> u64 {
        self.0.iter().map(Run::entries).sum()
    }

    /// Appends rows.
    pub(super) fn append(&mut self, runs: &mut Vec<Run>) {
        self.0.append(runs);
    }

    /// The occupied columns among `width` columns. `check` may refuse their number.
    pub(super) fn columns<E>(
        &self,
        width: usize,
        check: impl FnOnce(usize) -> Result<(), E>,
    ) -> Result<Columns<'static>, E> {
        merge::columns_of(&self.0, width, check)
    }

    /// Calls `each` with all columns, about `entries` entries at once. Each batch searches all runs again and reads
    /// half a page in vain, so batches should be large.
    pub(crate) fn each_batch(
        &self,
        width: usize,
        entries: u64,
        each: impl FnMut(&mut Columns<'static>) -> Result<()>,
    ) -> Result<()> {
        merge::each_batch(&self.0, width, entries, each)
    }
}

impl From<Vec<Run>> for Packed {
    fn from(runs: Vec<Run>) -> Self {
        Self(runs)
    }
}
