//! Candidates in parts, where memory does not hold the entries of all: they are in temporary files,
//! and one part at a time is read.

use std::borrow::Cow;
use std::io;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::{ColumnClasses, Summary};
use crate::data::Column;
use crate::data::merge::columns_of;
use crate::data::runs::{Packer, Run, nameless_file};

/// The parts of some candidates.
#[derive(Debug)]
pub(crate) struct Parts {
    all: Vec<Mutex<Part>>,
    /// Bytes that a part takes while it is read.
    largest: u64,
}

/// Some of the candidates.
#[derive(Debug)]
struct Part {
    /// With entries while it is their turn.
    classes: ColumnClasses,
    /// The position of each among the candidates of all parts.
    places: Vec<u32>,
    entries: Run,
}

impl Parts {
    /// How many there are.
    pub(crate) fn count(&self) -> usize {
        self.all.len()
    }

    /// Does `work` with the candidates of a part, and their positions among all.
    pub(crate) fn with<T>(
        &self,
        part: usize,
        work: impl FnOnce(&ColumnClasses, &[u32]) -> T,
    ) -> io::Result<T> {
        let mut part = self.lock(part);
        part.load()?;
        let result = work(&part.classes, &part.places);
        part.classes.drop_entries();
        Ok(result)
    }

    fn lock(&self, part: usize) -> MutexGuard<'_, Part> {
        let part = self.all[part].lock();
        part.unwrap_or_else(PoisonError::into_inner)
    }

    /// Bytes held, and those of the part at hand.
    fn memory(&self) -> u64 {
        let of_part = |part: usize| {
            let part = self.lock(part);
            part.classes.memory() + 4 * part.places.len() as u64
        };
        self.largest + (0..self.count()).map(of_part).sum::<u64>()
    }
}

impl Part {
    /// Moves the entries of `classes` to a file in `folder`.
    fn new(mut classes: ColumnClasses, folder: &Path) -> io::Result<Self> {
        let mut packer = Packer::default();
        for (candidate, number) in (0..classes.len()).zip(0..) {
            packer.push(number, classes.column(candidate).entries());
        }
        let rows = classes.queries().rows();
        classes.drop_entries();
        Ok(Self {
            classes,
            places: Vec::new(),
            entries: packer.finish_in(nameless_file(folder)?, rows)?,
        })
    }

    /// Reads the entries.
    fn load(&mut self) -> io::Result<()> {
        let columns = columns_of(std::slice::from_ref(&self.entries), 0)?;
        (self.classes.columns.rows, self.classes.columns.values) = (columns.rows, columns.values);
        Ok(())
    }
}

impl ColumnClasses {
    /// The candidates of parts of which each class is in one, as [`Partition`](super::Partition) has
    /// it: in memory where their entries take at most `room` bytes, else in temporary files in
    /// `folder`. Then a selection reads part by part in each step, and [`column`](Self::column) has
    /// nothing.
    ///
    /// # Errors
    /// Those of `parts` and of writing.
    pub(crate) fn of_parts<E: From<io::Error>>(
        parts: impl Iterator<Item = Result<Self, E>>,
        folder: &Path,
        room: u64,
    ) -> Result<Self, E> {
        let (mut here, mut away) = (Vec::new(), Vec::new());
        let (mut entries, mut largest) = (0, 0);
        for classes in parts {
            let classes = classes?;
            let own = 12 * classes.columns.rows.len() as u64;
            // Packed entries are less than columns of them.
            largest = largest.max(2 * own);
            entries += own;
            here.push(classes);
            if entries > room {
                for classes in here.drain(..) {
                    away.push(Part::new(classes, folder)?);
                }
            }
        }
        if away.is_empty() {
            return Ok(Self::joined(&here.iter().collect::<Vec<_>>()));
        }
        let mut all = Self::joined(&away.iter().map(|part| &part.classes).collect::<Vec<_>>());
        for part in &mut away {
            let classes = &part.classes;
            let places = (0..classes.len()).map(|candidate| {
                let place = all.represented_by(classes.feature(candidate));
                // Candidates count in 32 bits.
                u32::try_from(place.unwrap_or(0)).unwrap_or(u32::MAX)
            });
            part.places = places.collect();
        }
        all.parts = Some(Arc::new(Parts {
            all: away.into_iter().map(Mutex::new).collect(),
            largest,
        }));
        Ok(all)
    }

    /// The candidates of all `parts`, with the entries that these have.
    fn joined(parts: &[&Self]) -> Self {
        let mut order: Vec<(u32, usize, usize)> = Vec::new();
        for (number, part) in parts.iter().enumerate() {
            order.extend(
                (0..part.len()).map(|candidate| (part.feature(candidate), number, candidate)),
            );
        }
        order.sort_unstable();
        let [first, ..] = parts else {
            unreachable!("there are parts");
        };
        let with_entries = parts.iter().all(|part| part.has_entries());
        let mut all = first.emptied();
        for &(_, number, candidate) in &order {
            let part = parts[number];
            let feature = part.feature(candidate);
            if with_entries {
                all.columns.push(feature, part.column(candidate).entries());
            } else {
                all.columns.push_length(feature, part.entries_of(candidate));
            }
            all.signs.push(part.signs[candidate]);
            all.squared_norms.push(part.squared_norms[candidate]);
            all.sole_queries.push(part.sole_queries[candidate]);
            all.divisors.extend(part.divisors.get(candidate));
            all.members.extend_from_slice(part.class(candidate));
            // Columns count in 32 bits, so their number does.
            let end = u32::try_from(all.members.len()).unwrap_or(u32::MAX);
            all.ends.push(end);
        }
        let sum = |field: fn(&Summary) -> usize| {
            parts.iter().map(|part| field(&part.summary)).sum::<usize>()
        };
        // Columns of other parts are empty in each.
        let columns = first.summary.columns;
        let others = columns * (parts.len() - 1);
        all.summary = Summary {
            columns,
            constant_columns: sum(|part| part.constant_columns) - others,
            empty_columns: sum(|part| part.empty_columns) - others,
            column_classes: all.len(),
            single_query_classes: sum(|part| part.single_query_classes),
            nonzeros: sum(|part| part.nonzeros),
            pieces: sum(|part| part.pieces),
            unit: 0.0,
        };
        all.size_up();
        all.share = all.summary;
        all
    }

    /// The parts, where memory does not hold the entries of all.
    pub(crate) fn parts(&self) -> Option<&Arc<Parts>> {
        self.parts.as_ref()
    }

    /// The entries of a candidate, wherever they are.
    pub(crate) fn entries(&self, candidate: usize) -> io::Result<Entries<'_>> {
        let Some(parts) = &self.parts else {
            let Column { rows, values } = self.column(candidate);
            return Ok((rows.into(), values.into()));
        };
        let feature = self.feature(candidate);
        for part in 0..parts.count() {
            if parts.lock(part).classes.represented_by(feature).is_none() {
                continue;
            }
            return parts.with(part, |classes, _| {
                let own = classes.represented_by(feature).unwrap_or(0);
                let Column { rows, values } = classes.column(own);
                (rows.to_vec().into(), values.to_vec().into())
            });
        }
        Err(io::ErrorKind::NotFound.into())
    }

    /// Bytes of parts.
    pub(super) fn memory_of_parts(&self) -> u64 {
        self.parts.as_ref().map_or(0, |parts| parts.memory())
    }

    fn has_entries(&self) -> bool {
        self.columns.rows.len() == self.columns.starts[self.len()]
    }

    fn drop_entries(&mut self) {
        (self.columns.rows, self.columns.values) = (Cow::default(), Cow::default());
    }
}

/// Rows and values of a column.
pub(crate) type Entries<'a> = (Cow<'a, [u32]>, Cow<'a, [f64]>);
