//! Candidates in parts, where memory does not hold the entries of all: they are in temporary files,
//! and one part at a time is read.

use std::borrow::Cow;
use std::io;
use std::path::Path;
use std::sync::Arc;

use super::{ColumnClasses, Summary};
use crate::data::Column;
use crate::data::merge::columns_of;
use crate::data::runs::{Packer, Run, nameless_file};

/// Where the entries of candidates are.
#[derive(Debug)]
pub(super) struct Parts {
    all: Vec<Part>,
    /// Bytes that a part takes while it is read.
    largest: u64,
}

/// Some of the candidates.
#[derive(Debug)]
struct Part {
    /// The position of each among all candidates, ascending.
    places: Vec<u32>,
    entries: Run,
}

impl ColumnClasses {
    /// The candidates of `shards` of which each class is in one, as [`Partition`](super::Partition) has
    /// it: in memory where their entries take at most `room` bytes, else in temporary files in
    /// `folder`. Then a selection reads part by part in each step, and [`column`](Self::column) has
    /// nothing.
    ///
    /// # Errors
    /// Those of `shards` and of writing.
    pub(crate) fn of_shards<E: From<io::Error>>(
        shards: impl Iterator<Item = Result<Self, E>>,
        folder: &Path,
        room: u64,
    ) -> Result<Self, E> {
        let (mut found, mut stored) = (Vec::<Self>::new(), Vec::new());
        let (mut entries, mut largest) = (0, 0);
        for classes in shards {
            let classes = classes?;
            let own = classes.columns.rows.len() as u64;
            // Packed entries are less than columns of them.
            largest = largest.max(24 * own + 37 * classes.len() as u64);
            entries += 12 * own;
            found.push(classes);
            if entries > room {
                for classes in &mut found[stored.len()..] {
                    stored.push(classes.store(folder)?);
                }
            }
        }
        let mut all = Self::joined(&found);
        if !stored.is_empty() {
            let part = |(classes, entries): (&Self, Run)| Part {
                places: all.positions((0..classes.len()).map(|class| classes.feature(class))),
                entries,
            };
            let parts = found.iter().zip(stored).map(part).collect();
            all.parts = Some(Arc::new(Parts {
                all: parts,
                largest,
            }));
        }
        Ok(all)
    }

    /// Moves the entries to a file in `folder`.
    fn store(&mut self, folder: &Path) -> io::Result<Run> {
        let mut packer = Packer::default();
        packer.extend(&self.columns);
        (self.columns.rows, self.columns.values) = (Cow::default(), Cow::default());
        packer.finish_in(nameless_file(folder)?, self.columns.height)
    }

    /// The candidates of all `shards`, with the entries that these have.
    fn joined(shards: &[Self]) -> Self {
        let mut order: Vec<(u32, usize, usize)> = Vec::new();
        for (number, shard) in shards.iter().enumerate() {
            order.extend((0..shard.len()).map(|class| (shard.feature(class), number, class)));
        }
        order.sort_unstable();
        let mut all = shards[0].emptied();
        for (feature, number, class) in order {
            let shard = &shards[number];
            if shard.columns.rows.is_empty() {
                all.columns.push_length(feature, shard.entries_of(class));
            } else {
                all.columns.push(feature, shard.column(class).entries());
            }
            all.push_class(shard, class);
        }
        let summaries: Vec<Summary> = shards.iter().map(|shard| shard.summary).collect();
        all.summary = Summary::of_shards(&summaries);
        all.size_up();
        all.share = all.summary;
        all
    }

    /// How many parts take turns; 0 where memory holds the entries of all.
    pub(crate) fn parts(&self) -> usize {
        self.parts.as_ref().map_or(0, |parts| parts.all.len())
    }

    /// Does `work` with the candidates of a part, and their positions among all.
    ///
    /// # Panics
    /// When there is no such part.
    pub(crate) fn with_part<T>(
        &self,
        part: usize,
        work: impl FnOnce(&Self, &[u32]) -> T,
    ) -> io::Result<T> {
        let parts = self.parts.as_ref().expect("entries in parts");
        let part = &parts.all[part];
        let mut classes = self.emptied();
        for &place in &part.places {
            classes.push_class(self, place as usize);
        }
        classes.columns = columns_of(std::slice::from_ref(&part.entries), self.columns.width)?;
        Ok(work(&classes, &part.places))
    }

    /// The rows and values of a candidate, wherever they are.
    pub(crate) fn entries(&self, candidate: usize) -> io::Result<(Vec<u32>, Vec<f64>)> {
        let of = |column: Column<'_>| (column.rows.to_vec(), column.values.to_vec());
        let Some(parts) = &self.parts else {
            return Ok(of(self.column(candidate)));
        };
        let has = |part: &&Part| part.places.iter().any(|&place| place as usize == candidate);
        let part = parts.all.iter().find(has);
        let part = part.ok_or(io::ErrorKind::NotFound)?;
        let columns = columns_of(std::slice::from_ref(&part.entries), self.columns.width)?;
        let position = columns.position(self.feature(candidate));
        let position = position.ok_or(io::ErrorKind::NotFound)?;
        Ok(of(columns.column(position)))
    }

    /// Bytes of parts, and those of the part at hand.
    pub(super) fn memory_of_parts(&self) -> u64 {
        let Some(parts) = &self.parts else { return 0 };
        let places = parts.all.iter().map(|part| 4 * part.places.len() as u64);
        parts.largest + places.sum::<u64>()
    }
}
