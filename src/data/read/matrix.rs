//! Sparse matrices from arrays, before they are columns.

use crate::data::transpose::RowBlock;

use super::error::{Fault, ReadErrorKind};

/// Bytes that may be held, and those that are.
#[derive(Debug, Clone, Copy)]
pub(super) struct Budget {
    limit: Option<u64>,
    pub(super) spent: u64,
}

impl Budget {
    pub(super) fn new(limit: Option<u64>) -> Self {
        Self { limit, spent: 0 }
    }

    /// Takes `bytes`, before they are allocated.
    pub(super) fn take(&mut self, bytes: u64) -> Result<(), Fault> {
        self.spent = self.spent.saturating_add(bytes);
        match self.limit.filter(|&limit| self.spent > limit) {
            None => Ok(()),
            Some(limit) => Err(Fault::too_large(limit, &self.spent.to_string())),
        }
    }
}

/// Entries in columns at or beyond the width asked for.
#[derive(Debug, Default)]
pub(super) struct Dropped {
    pub(super) entries: u64,
    pub(super) columns: Vec<u32>,
}

/// Orders the entries of every row by column, and removes zeros and entries in columns at or
/// beyond `width`.
///
/// # Errors
/// A column that comes twice in a row.
pub(super) fn settle(block: &mut RowBlock, width: Option<usize>) -> Result<Dropped, Fault> {
    let mut dropped = Dropped::default();
    let mut sorted = Vec::new();
    let (mut start, mut kept) = (0, 0);
    for (number, end) in block.ends.iter_mut().enumerate() {
        let (indices, values) = (
            &mut block.indices[start..*end],
            &mut block.values[start..*end],
        );
        if !indices.is_sorted() {
            sort(indices, values, &mut sorted);
        }
        if let Some(pair) = indices.windows(2).find(|pair| pair[0] == pair[1]) {
            return Err(repeated(number as u64, pair[0]));
        }
        for at in start..*end {
            let (index, value) = (block.indices[at], block.values[at]);
            if value == 0.0 {
                continue;
            }
            if width.is_some_and(|width| index as usize >= width) {
                dropped.entries += 1;
                dropped.columns.push(index);
                continue;
            }
            (block.indices[kept], block.values[kept]) = (index, value);
            kept += 1;
        }
        start = std::mem::replace(end, kept);
    }
    block.indices.truncate(kept);
    block.values.truncate(kept);
    dropped.columns.sort_unstable();
    dropped.columns.dedup();
    Ok(dropped)
}

fn sort(indices: &mut [u32], values: &mut [f64], entries: &mut Vec<(u32, f64)>) {
    entries.clear();
    entries.extend(indices.iter().copied().zip(values.iter().copied()));
    entries.sort_unstable_by_key(|(index, _)| *index);
    let places = indices.iter_mut().zip(values);
    for ((index, value), entry) in places.zip(entries) {
        (*index, *value) = *entry;
    }
}

/// `column` comes twice in `row`, both counted from 0.
fn repeated(row: u64, column: u32) -> Fault {
    let found = format!("column {column} twice");
    let expected = "each column once in a row";
    Fault::new(ReadErrorKind::RepeatedIndex, expected, found).in_array("row", Some(row))
}

/// Entries in any order, by `count` rows: their rows, each below `count`, their columns and their
/// values.
pub(super) fn by_row(
    rows: &[u32],
    columns: impl Iterator<Item = u32>,
    values: &[f64],
    count: usize,
) -> RowBlock {
    let mut ends = vec![0; count];
    for &row in rows {
        ends[row as usize] += 1;
    }
    // Each row's place to fill: its beginning now, its end when it is full.
    let mut entries = 0;
    for end in &mut ends {
        entries += std::mem::replace(end, entries);
    }
    let mut block = RowBlock {
        indices: vec![0; entries],
        values: vec![0.0; entries],
        ends,
    };
    for (&row, (column, &value)) in rows.iter().zip(columns.zip(values)) {
        let end = &mut block.ends[row as usize];
        block.indices[*end] = column;
        block.values[*end] = value;
        *end += 1;
    }
    block
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_sorted_and_rid_of_zeros() {
        let mut block = RowBlock {
            ends: vec![3, 3, 5, 6],
            indices: vec![4, 0, 2, 1, 7, 7],
            values: vec![1.0, 2.0, 0.0, -0.0, 3.0, 4.0],
        };
        let dropped = settle(&mut block, Some(5)).unwrap();
        assert_eq!((dropped.entries, &dropped.columns[..]), (2, &[7][..]));
        assert_eq!(block.ends, [2, 2, 2, 2]);
        assert_eq!(block.indices, [0, 4]);
        assert_eq!(block.values, [2.0, 1.0]);
        let mut block = RowBlock {
            ends: vec![0, 3],
            indices: vec![4, 0, 4],
            values: vec![0.0; 3],
        };
        let fault = settle(&mut block, None).unwrap_err().of("f");
        assert!(fault.to_string().starts_with("f: row[1]: "), "{fault}");
    }

    #[test]
    fn the_budget_is_kept() {
        let mut budget = Budget::new(Some(10));
        budget.take(10).unwrap();
        assert!(budget.take(1).is_err());
        assert!(budget.take(u64::MAX).is_err());
        assert!(Budget::new(None).take(u64::MAX).is_ok());
    }
}
