//! Column classes of packed data, without a matrix of all columns.

use super::share::share;
use super::{ColumnClasses, Gathering, QueryWeight, Scale};
use crate::data::content::Content;
use crate::data::{DataHash, Dataset, Packed};
use crate::error::Result;
use crate::memory::Memory;

/// Number of batches of columns. Each batch reads half a page of every run in vain.
const BATCHES: u64 = 8;

/// Fewest entries of a batch, unless memory is short.
const LEAST: u64 = if cfg!(test) { 1 << 8 } else { 1 << 20 };

/// Bytes of a batch's entry, with its column.
const ENTRY: u64 = 20;

impl ColumnClasses {
    /// The classes of data whose rows are `rows` and whose entries are `packed`, equal to [`scaled`](Self::scaled) to
    /// the bit. Also the hash of the data. `look` sees all columns, in batches, as data of these rows. Batches are
    /// smaller if `memory` is short. Columns that repeat others, or are constant in every query, are dropped at
    /// once. `own` has the number of ranks and a rank, which keeps only the classes of its [`share`] of the columns.
    ///
    /// O(nnz + n log n) time for `n` columns. Memory holds the packed entries, the classes, and an eighth of the
    /// columns at once.
    ///
    /// ```
    /// use rankrls::data::DataHash;
    /// use rankrls::data::read::ReadOptions;
    /// use rankrls::memory::Memory;
    /// use rankrls::{ColumnClasses, QueryWeight, Scale};
    ///
    /// let text = &b"2 qid:a 1:0.5 7:1\n0 qid:a 2:1\n1 qid:b 2:3\n"[..];
    /// let read = ReadOptions::new().packed(true).read_from(text, "text")?;
    /// let (uniform, memory) = (QueryWeight::Uniform, Memory::default());
    /// let rows = read.dataset;
    /// let (classes, hash) =
    ///     ColumnClasses::of_packed(read.packed, &rows, uniform, Scale::None, memory, (1, 0), |_| ())?;
    /// assert_eq!((rows.stored_columns(), classes.summary().nonzeros, classes.len()), (0, 4, 2));
    ///
    /// let data = ReadOptions::new().read_from(text, "text")?.dataset;
    /// assert_eq!(ColumnClasses::new(&data).summary(), classes.summary());
    /// assert_eq!(DataHash::of(&data), hash);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn of_packed(
        packed: Packed,
        rows: &Dataset<'static>,
        weight: QueryWeight,
        scale: Scale,
        memory: Memory,
        own: (usize, usize),
        mut look: impl FnMut(&Dataset<'_>),
    ) -> Result<(Self, DataHash)> {
        // Each batch of columns copies the rows.
        let beside = memory.holding(rows.memory());
        let memory = beside.holding(packed.memory());
        let left = memory.left().unwrap_or(u64::MAX);
        let batch = (packed.entries() / BATCHES).max(LEAST);
        // The classes of a batch are at most as large as the batch.
        let batch = batch.min((left / (4 * ENTRY)).max(1 << 14));
        let mut gathering =
            Gathering::new(rows, memory.holding(ENTRY * batch.min(packed.entries())));
        let mut content = Content::new(rows);
        packed.each_batch(rows.width(), batch, |columns| {
            if let Some(order) = rows.input_rows() {
                columns.move_rows(order);
            }
            columns.fill_missing(rows.queries());
            let data = rows.with_columns(columns.view())?;
            look(&data);
            let own = (own.0 > 1).then(|| share(&data, own.0, own.1));
            let own = own.as_ref().map_or(data.columns(), Dataset::columns);
            rayon::join(|| content.columns(&data), || gathering.add(own)).1
        })?;
        drop(packed);
        let classes = gathering.beside(beside).finish(weight, scale)?;
        Ok((classes, content.others(rows).finish()))
    }
}

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;

    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::super::Canonicaliser;
    use super::*;
    use crate::data::read::{Missing, ReadOptions, TableOptions};

    /// Rows of scattered queries, with columns that repeat, shift and mirror each other.
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
            let options = ReadOptions::new().table(table);
            let whole = options.read_from(text.as_bytes(), "text").unwrap().dataset;
            let read = options.packed(true).read_from(text.as_bytes(), "text").unwrap();
            let mut seen = 0;
            let look = |columns: &Dataset<'_>| seen += columns.stored_columns();
            let memory = Memory::default();
            let (classes, hash) =
                ColumnClasses::of_packed(read.packed, &read.dataset, weight, scale, memory, (1, 0), look).unwrap();
            prop_assert_eq!(seen, whole.stored_columns());
            prop_assert_eq!(classes.summary().nonzeros, whole.nonzeros());
            prop_assert_eq!(hash, DataHash::of(&whole));
            let expected = ColumnClasses::scaled(&whole, weight, scale);
            prop_assert_eq!(format!("{classes:?}"), format!("{expected:?}"));
            let query_of_row = whole.queries().of_rows();
            let mut canonicaliser = Canonicaliser::new(whole.queries(), &query_of_row);
            for class in 0..classes.len() {
                for &member in classes.class(class) {
                    let column = whole.column(whole.position(member).unwrap());
                    let sign = canonicaliser.canonicalise(column);
                    prop_assert_eq!(classes.sign(class, member), sign, "column {}", member);
                    prop_assert_eq!(classes.candidate_of(member), Some(class));
                }
            }
            // Some columns of the whole at a time.
            let mut gathering = Gathering::new(&whole, memory);
            for first in (0..whole.stored_columns()).step_by(7) {
                let end = whole.stored_columns().min(first + 7);
                gathering.add(&whole.columns().some(first..end)).unwrap();
            }
            let some = gathering.finish(weight, scale).unwrap();
            prop_assert_eq!(format!("{some:?}"), format!("{expected:?}"));
        }
    }
}
