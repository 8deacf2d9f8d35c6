//! Data that stay packed until their column classes are made: the matrix of all columns never exists.
//!
//! A selection needs the column classes alone. Rows stay as they were read, packed by columns, two to three
//! bytes an entry of a corpus of parses. Columns are put together some at a time; those that repeat another one, or are constant
//! in every query, are dropped at once.
//!
//! ```
//! use rankrls::data::read::ReadOptions;
//! use rankrls::memory::Memory;
//! use rankrls::packed::Packed;
//! use rankrls::{ColumnClasses, QueryWeight, Scale};
//!
//! let text = "2 qid:a 1:0.5 7:1\n0 qid:a 2:1\n1 qid:b 2:3\n";
//! let packed = Packed::default();
//! let options = packed.options(ReadOptions::new());
//! let rows = options.read_from(text.as_bytes(), "text")?.dataset;
//! let memory = Memory::default();
//! let (rows, classes) = packed.classes(&rows, QueryWeight::Uniform, Scale::None, memory, |_| ())?;
//! assert_eq!((rows.nonzeros(), rows.stored_columns(), classes.len()), (4, 0, 2));
//!
//! let data = ReadOptions::new().read_from(text.as_bytes(), "text")?.dataset;
//! assert_eq!(ColumnClasses::new(&data).summary(), classes.summary());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::candidates::share;
use crate::columns::{ColumnClasses, Gathering, QueryWeight, Scale};
use crate::data::Dataset;
use crate::data::hash::Content;
use crate::data::merge::each_batch;
use crate::data::read::ReadOptions;
use crate::data::runs::Run;
use crate::error::{Error, Result};
use crate::memory::Memory;

/// How many batches columns come in: each time, half a page of every run is read for nothing.
const BATCHES: u64 = 8;

/// Fewest entries of a batch, unless memory is short.
const LEAST: u64 = if cfg!(test) { 1 << 8 } else { 1 << 20 };

/// Bytes that an entry of a batch takes, its column included.
const ENTRY: u64 = 20;

/// The entries of data, packed.
#[derive(Debug)]
pub struct Packed {
    runs: Arc<Mutex<Vec<Run>>>,
    /// How many ranks have a share of the columns, and which share is wanted.
    ranks: usize,
    rank: usize,
}

impl Default for Packed {
    /// No entries yet, and all columns wanted.
    fn default() -> Self {
        Self::of_rank(1, 0)
    }
}

impl Packed {
    /// No entries yet, and those columns wanted that one of so many `ranks` [has](share).
    pub fn of_rank(ranks: usize, rank: usize) -> Self {
        let runs = Arc::default();
        Self { runs, ranks, rank }
    }

    fn runs(&self) -> MutexGuard<'_, Vec<Run>> {
        self.runs.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Options by which data are read, once: the entries go here, and the data set that is read has none.
    pub fn options(&self, options: ReadOptions) -> ReadOptions {
        options.packed(Arc::clone(&self.runs))
    }

    /// Bytes held.
    pub fn memory(&self) -> u64 {
        self.runs().iter().map(|run| run.memory() as u64).sum()
    }

    /// The column classes of the wanted columns of the data, as [`ColumnClasses::scaled`] has them, to the bit; and the `rows` that
    /// were read, with the hash and the non-zeros of the whole data. `look` sees all columns, some at a
    /// time, as data of these rows. Columns come in smaller batches where `memory` is short.
    ///
    /// O(nnz + n log n) time for `n` columns. Memory: the packed entries, the classes, and an eighth of the
    /// columns at a time.
    pub fn classes(
        self,
        rows: &Dataset<'static>,
        weight: QueryWeight,
        scale: Scale,
        memory: Memory,
        mut look: impl FnMut(&Dataset<'_>),
    ) -> Result<(Dataset<'static>, ColumnClasses)> {
        let (held, runs) = (self.memory(), std::mem::take(&mut *self.runs()));
        let all: u64 = runs.iter().map(Run::entries).sum();
        let left = memory.holding(held).left().unwrap_or(u64::MAX);
        let batch = (all / BATCHES).max(LEAST).min((left / ENTRY).max(1 << 16));
        let mut gathering = Gathering::new(rows);
        let (mut content, mut nonzeros) = (Content::new(rows), 0);
        each_batch(&runs, rows.width(), batch, |columns| {
            if let Some(order) = rows.input_rows() {
                columns.move_rows(order);
            }
            columns.fill_missing(rows.queries());
            let data = rows.with_columns(columns.view())?;
            nonzeros += data.nonzeros();
            look(&data);
            let own = (self.ranks > 1).then(|| share(&data, self.ranks, self.rank));
            let own = own.as_ref().map_or(data.columns(), Dataset::columns);
            rayon::join(|| content.columns(&data), || gathering.add(own));
            Ok::<_, Error>(())
        })?;
        drop(runs);
        content.others(rows);
        let rows = rows.clone();
        let rows = rows.with_entries_elsewhere(nonzeros, content.finish());
        let rows = rows.with_reading_memory(held + ENTRY * batch.min(all));
        Ok((rows, gathering.finish(weight, scale)))
    }
}

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;

    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;
    use crate::data::DataHash;
    use crate::data::read::{Missing, TableOptions};

    /// Rows of queries that come back, whose columns repeat each other, shifted and mirrored.
    fn text(cells: &[Vec<(u32, i8)>]) -> String {
        let mut text = String::new();
        for (row, cells) in cells.iter().enumerate() {
            let _ = write!(text, "{} qid:{}", row % 5, row / 3 % 7);
            let mut cells = cells.clone();
            cells.sort_unstable();
            cells.dedup_by_key(|cell| cell.0);
            let missing = |value: i8| if value == 3 { "nan" } else { "-1" };
            let shift = (row / 3 % 7) as f64 / 3.0;
            for &(column, value) in &cells {
                let (place, same) = (3 * column + 1, f64::from(value) + 0.1);
                let _ = write!(text, " {place}:{same} {}:{}", place + 1, missing(value));
            }
            for &(column, value) in &cells {
                let (place, same) = (3 * column + 500, f64::from(value) + 0.1);
                let _ = write!(text, " {place}:{same} {}:{}", place + 1, shift - same);
            }
            text.push('\n');
        }
        text
    }

    proptest! {
        #[test]
        fn classes_are_those_of_the_whole_matrix(
            cells in vec(vec((0..60u32, -2..4i8), 0..30), 1..120),
            weighted in any::<bool>(),
            scale in 0..3usize,
        ) {
            let weight = if weighted { QueryWeight::Pairs } else { QueryWeight::Uniform };
            let scale = [Scale::None, Scale::Sd, Scale::Max][scale];
            let text = text(&cells);
            let table = TableOptions { missing: Some(Missing::Mean), ..TableOptions::default() };
            let options = ReadOptions::new().regroup(true).table(table);
            let whole = options.read_from(text.as_bytes(), "text").unwrap().dataset;
            let packed = Packed::default();
            let read = packed.options(options).read_from(text.as_bytes(), "text").unwrap();
            let mut seen = 0;
            let look = |columns: &Dataset<'_>| seen += columns.stored_columns();
            let memory = Memory::default();
            let (rows, classes) = packed.classes(&read.dataset, weight, scale, memory, look).unwrap();
            prop_assert_eq!(seen, whole.stored_columns());
            prop_assert_eq!(rows.nonzeros(), whole.nonzeros());
            prop_assert_eq!(DataHash::of(&rows), DataHash::of(&whole));
            let expected = ColumnClasses::scaled(&whole, weight, scale);
            prop_assert_eq!(format!("{classes:?}"), format!("{expected:?}"));
        }
    }
}
