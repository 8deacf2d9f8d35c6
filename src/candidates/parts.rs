//! Candidates in parts, where memory does not hold the entries of all: they are in temporary files,
//! and one part at a time is read.

use std::io;
use std::path::Path;

use crate::columns::ColumnClasses;
use crate::data::merge::columns_of;
use crate::data::runs::{Packer, Run, nameless_file};
use crate::data::{Column, Columns};

/// The files that have the entries of candidates.
#[derive(Debug)]
pub(crate) struct Parts {
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

impl Part {
    /// Reads the columns, of a matrix of so many columns.
    fn read(&self, width: usize) -> io::Result<Columns<'static>> {
        columns_of(std::slice::from_ref(&self.entries), width)
    }
}

impl Parts {
    /// The classes of all `shards`, and the parts that have their entries where these take more than `room`
    /// bytes: then the classes have none.
    pub(super) fn of_shards<E: From<io::Error>>(
        shards: impl Iterator<Item = Result<ColumnClasses, E>>,
        folder: &Path,
        room: u64,
    ) -> Result<(ColumnClasses, Option<Self>), E> {
        let (mut found, mut stored) = (Vec::<ColumnClasses>::new(), Vec::new());
        let (mut entries, mut largest) = (0, 0);
        for shard in shards {
            let classes = shard?;
            let own = classes.columns().rows.len() as u64;
            // Packed entries are less than columns of them.
            largest = largest.max(24 * own + 37 * classes.len() as u64);
            entries += 12 * own;
            found.push(classes);
            if entries > room {
                for held in &mut found[stored.len()..] {
                    stored.push(store(held, folder)?);
                }
            }
        }
        let all = ColumnClasses::joined(&found);
        if stored.is_empty() {
            return Ok((all, None));
        }
        let part = |(classes, run): (&ColumnClasses, Run)| Part {
            places: all.positions((0..classes.len()).map(|class| classes.feature(class))),
            entries: run,
        };
        let parts = Self {
            all: found.iter().zip(stored).map(part).collect(),
            largest,
        };
        Ok((all, Some(parts)))
    }

    /// How many parts take turns.
    pub(crate) fn count(&self) -> usize {
        self.all.len()
    }

    /// Does `work` with the classes of a part, of all `classes`, and their positions among these.
    ///
    /// # Panics
    /// When there is no such part.
    pub(crate) fn with<T>(
        &self,
        part: usize,
        classes: &ColumnClasses,
        work: impl FnOnce(&ColumnClasses, &[u32]) -> T,
    ) -> io::Result<T> {
        let own = &self.all[part];
        let columns = own.read(classes.columns().width)?;
        Ok(work(&classes.some(&own.places, columns), &own.places))
    }

    /// The rows and values of one of all `classes`.
    pub(super) fn entries(
        &self,
        classes: &ColumnClasses,
        class: usize,
    ) -> io::Result<(Vec<u32>, Vec<f64>)> {
        let has = |part: &&Part| part.places.iter().any(|&place| place as usize == class);
        let part = self.all.iter().find(has).ok_or(io::ErrorKind::NotFound)?;
        let columns = part.read(classes.columns().width)?;
        let position = columns.position(classes.feature(class));
        let Column { rows, values } = columns.column(position.ok_or(io::ErrorKind::NotFound)?);
        Ok((rows.to_vec(), values.to_vec()))
    }

    /// Bytes of parts, and those of the part at hand.
    pub(super) fn memory(&self) -> u64 {
        let places = self.all.iter().map(|part| 4 * part.places.len() as u64);
        self.largest + places.sum::<u64>()
    }
}

/// Moves the entries of classes to a file in `folder`.
fn store(classes: &mut ColumnClasses, folder: &Path) -> io::Result<Run> {
    let mut packer = Packer::default();
    packer.extend(classes.columns());
    let height = classes.columns().height;
    classes.drop_entries();
    packer.finish_in(nameless_file(folder)?, height)
}
