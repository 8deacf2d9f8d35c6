//! Compressed sparse columns: the matrix of data sets and of runs of rows.

use std::borrow::Cow;
use std::ops::Range;

use rayon::prelude::*;
use sprs::CsMatViewI;

use super::missing;
use super::queries::Queries;
use crate::error::{Error, Result};

/// Values that a task examines.
const CHUNK: usize = 1 << 16;

/// One sparse column: ascending rows and the values there.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Column<'a> {
    /// Rows with an entry, strictly ascending.
    pub rows: &'a [u32],
    /// The entries, as many as rows.
    pub values: &'a [f64],
}

impl<'a> Column<'a> {
    /// Pairs of row and value.
    pub fn iter(self) -> impl ExactSizeIterator<Item = (usize, f64)> + Clone + 'a {
        self.entries().map(|(row, value)| (row as usize, value))
    }

    /// Pairs of row and value, rows in 32 bits.
    pub(crate) fn entries(self) -> impl ExactSizeIterator<Item = (u32, f64)> + Clone + 'a {
        self.rows.iter().copied().zip(self.values.iter().copied())
    }

    /// Removes the entries in rows below `end`, and returns them.
    pub(crate) fn take_rows_below(&mut self, end: usize) -> Self {
        let inside = |&&row: &&u32| (row as usize) < end;
        self.take_entries(self.rows.iter().take_while(inside).count())
    }

    /// The queries with an entry, ascending, each with its rows and its entries.
    pub(crate) fn by_query(
        mut self,
        queries: &Queries,
    ) -> impl Iterator<Item = (usize, Range<usize>, Self)> {
        let mut query = 0;
        std::iter::from_fn(move || {
            let &first = self.rows.first()?;
            // The next query is usually near, so the search doubles its distance.
            let ends = &queries.offsets()[query + 1..];
            let mut near = 1;
            while ends.get(near - 1).is_some_and(|&end| end <= first) {
                near *= 2;
            }
            let before = near / 2;
            let ends = &ends[before..near.min(ends.len())];
            query += before + ends.partition_point(|&end| end <= first);
            let rows = queries.range(query);
            let entries = self.take_rows_below(rows.end);
            Some((query, rows, entries))
        })
    }

    /// Removes the first `count` entries, and returns them.
    pub(crate) fn take_entries(&mut self, count: usize) -> Self {
        let (rows, later_rows) = self.rows.split_at(count);
        let (values, later_values) = self.values.split_at(count);
        *self = Self {
            rows: later_rows,
            values: later_values,
        };
        Self { rows, values }
    }
}

/// The columns of a matrix. Some of them are stored, one after the other.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Columns<'a> {
    /// Number of rows of the matrix.
    pub(crate) height: usize,
    /// Number of feature columns, stored or not.
    pub(crate) width: usize,
    /// Positions in `rows` and `values`, from 0 on: one more than stored columns.
    pub(crate) starts: Cow<'a, [usize]>,
    pub(crate) rows: Cow<'a, [u32]>,
    pub(crate) values: Cow<'a, [f64]>,
    /// 0-based feature of every stored column, ascending; `None`: column `j` is feature `j`.
    pub(crate) features: Option<Cow<'a, [u32]>>,
}

impl<'a> Columns<'a> {
    /// All columns of a matrix of `shape`. If zeros are stored, only the columns with other entries.
    pub(super) fn new(
        shape: (usize, usize),
        starts: Cow<'a, [usize]>,
        rows: Cow<'a, [u32]>,
        values: Cow<'a, [f64]>,
    ) -> Result<Self> {
        Self::check_starts(&starts)?;
        CsMatViewI::try_new_csc(shape, &starts[..], &rows[..], &values[..])
            .map_err(|(.., error)| no_matrix(error))?;
        let mut columns = Self {
            height: shape.0,
            width: shape.1,
            starts,
            rows,
            values,
            features: None,
        };
        columns.drop_zeros();
        Ok(columns)
    }

    /// Checks that bounds begin with 0: `sprs` would take other bounds for a part of a matrix.
    pub(super) fn check_starts(starts: &[usize]) -> Result<()> {
        let first = starts.first().copied().unwrap_or(0);
        let found = format!("expected bounds that begin with 0, found {first}");
        if first > 0 {
            Err(no_matrix(found))
        } else {
            Ok(())
        }
    }

    /// A matrix of `height` rows with no stored column.
    pub(crate) fn none(height: usize, width: usize) -> Self {
        Self {
            height,
            width,
            starts: vec![0].into(),
            rows: Cow::default(),
            values: Cow::default(),
            features: Some(Cow::default()),
        }
    }

    /// The columns, borrowed.
    pub(crate) fn view(&self) -> Columns<'_> {
        Columns {
            height: self.height,
            width: self.width,
            starts: Cow::Borrowed(&self.starts),
            rows: Cow::Borrowed(&self.rows),
            values: Cow::Borrowed(&self.values),
            features: self.features.as_deref().map(Cow::Borrowed),
        }
    }

    /// The stored columns as a matrix of `sprs`, which checks them again.
    pub(crate) fn matrix(&self) -> CsMatViewI<'_, f64, u32, usize> {
        let shape = (self.height, self.len());
        CsMatViewI::new_csc(shape, &self.starts, &self.rows, &self.values)
    }

    /// Number of stored columns.
    pub(crate) fn len(&self) -> usize {
        self.starts.len() - 1
    }

    /// The number of entries of each stored column.
    pub(crate) fn lengths(&self) -> impl Iterator<Item = usize> + Clone {
        self.starts.windows(2).map(|bounds| bounds[1] - bounds[0])
    }

    /// The entries of the stored column at `position`.
    pub(crate) fn column(&self, position: usize) -> Column<'_> {
        let range = self.starts[position]..self.starts[position + 1];
        Column {
            rows: &self.rows[range.clone()],
            values: &self.values[range],
        }
    }

    /// The 0-based feature of the stored column at `position`.
    pub(crate) fn feature(&self, position: usize) -> u32 {
        match &self.features {
            Some(features) => features[position],
            // No matrix has more columns than 32 bits count.
            None => u32::try_from(position).unwrap_or(u32::MAX),
        }
    }

    /// The stored column of a 0-based feature, if it has one.
    pub(crate) fn position(&self, feature: u32) -> Option<usize> {
        match &self.features {
            Some(features) => features.binary_search(&feature).ok(),
            None => Some(feature as usize).filter(|&position| position < self.len()),
        }
    }

    /// Bytes held, borrowed ones included.
    pub(crate) fn memory(&self) -> usize {
        self.values.len() * (size_of::<f64>() + size_of::<u32>())
            + self.len() * size_of::<usize>()
            + self
                .features
                .as_ref()
                .map_or(0, |all| size_of_val(&all[..]))
    }

    /// The feature of every stored column, to change.
    pub(crate) fn features_mut(&mut self) -> &mut Vec<u32> {
        let stored = self.len();
        let all = || (0..).take(stored).collect();
        self.features.get_or_insert_with(all).to_mut()
    }

    /// Reserves exactly this many further columns and entries.
    pub(super) fn reserve(&mut self, columns: usize, entries: usize) {
        self.rows.to_mut().reserve_exact(entries);
        self.values.to_mut().reserve_exact(entries);
        self.starts.to_mut().reserve_exact(columns);
        self.features_mut().reserve_exact(columns);
    }

    /// Appends the column of a `feature`, unless it has no entries.
    pub(crate) fn push(&mut self, feature: u32, entries: impl Iterator<Item = (u32, f64)>) {
        let (rows, values) = (self.rows.to_mut(), self.values.to_mut());
        for (row, value) in entries {
            rows.push(row);
            values.push(value);
        }
        let end = rows.len();
        if self.starts.last() != Some(&end) {
            self.features_mut().push(feature);
            self.starts.to_mut().push(end);
        }
    }

    /// Appends the column of a `feature`.
    pub(crate) fn push_column(&mut self, feature: u32, column: Column<'_>) {
        self.features_mut().push(feature);
        let end = self.starts[self.len()] + column.rows.len();
        self.starts.to_mut().push(end);
        self.rows.to_mut().extend_from_slice(column.rows);
        self.values.to_mut().extend_from_slice(column.values);
    }

    /// Appends columns.
    pub(crate) fn append(&mut self, others: &Self) {
        let before = self.rows.len();
        let features = (0..others.len()).map(|position| others.feature(position));
        self.features_mut().extend(features);
        let ends = others.starts[1..].iter().map(|end| before + end);
        self.starts.to_mut().extend(ends);
        self.rows.to_mut().extend_from_slice(&others.rows);
        self.values.to_mut().extend_from_slice(&others.values);
    }

    /// Makes these the columns of the given features, with room for their numbers of entries. Features and numbers
    /// come in several slices. The entries are to be filled, and memory is reused.
    pub(super) fn refill<'c>(
        &mut self,
        some: impl Iterator<Item = (&'c [u32], &'c [u32])> + Clone,
    ) {
        let stored = some.clone().map(|(features, _)| features.len()).sum();
        self.features_mut().clear();
        self.features_mut().reserve_exact(stored);
        self.starts.to_mut().truncate(1);
        self.starts.to_mut().reserve_exact(stored);
        let mut end = 0;
        for (features, lengths) in some {
            self.features_mut().extend_from_slice(features);
            self.starts.to_mut().extend(lengths.iter().map(|&length| {
                end += length as usize;
                end
            }));
        }
        resize(self.rows.to_mut(), end);
        resize(self.values.to_mut(), end);
    }

    /// Features and starts, and the rows and values to fill.
    pub(super) fn parts(&mut self) -> (&[u32], &[usize], &mut [u32], &mut [f64]) {
        let features = self.features.as_deref().unwrap_or_default();
        let (rows, values) = (self.rows.to_mut(), self.values.to_mut());
        (features, &self.starts, rows, values)
    }

    /// The stored columns at these positions, borrowed, as columns of the same matrix.
    pub(crate) fn some(&self, positions: Range<usize>) -> Columns<'_> {
        let features = positions.clone().map(|position| self.feature(position));
        let starts = &self.starts[positions.start..=positions.end];
        let entries = starts[0]..starts[positions.len()];
        Columns {
            height: self.height,
            width: self.width,
            starts: starts.iter().map(|start| start - entries.start).collect(),
            rows: Cow::Borrowed(&self.rows[entries.clone()]),
            values: Cow::Borrowed(&self.values[entries]),
            features: Some(features.collect()),
        }
    }

    /// Frees the spare memory.
    pub(crate) fn shrink(&mut self) {
        self.rows.to_mut().shrink_to_fit();
        self.values.to_mut().shrink_to_fit();
        self.starts.to_mut().shrink_to_fit();
    }

    /// Whether any entry satisfies `is_such`.
    pub(super) fn any(&self, is_such: impl Fn(f64) -> bool + Sync) -> bool {
        let any = |values: &[f64]| values.iter().any(|&value| is_such(value));
        self.values.par_chunks(CHUNK).any(any)
    }

    /// Replaces missing values by means. Then drops entries that are 0, and columns that become empty.
    pub(crate) fn fill_missing(&mut self, queries: &Queries) {
        if self.any(f64::is_nan) {
            self.keep(|rows, values| missing::fill(rows, values, queries));
        }
    }

    /// Drops entries that are 0, and columns that become empty.
    fn drop_zeros(&mut self) {
        if self.any(|value| value == 0.0) {
            self.keep(missing::nonzeros);
        }
    }

    /// Shortens each column to the number of entries that `front` returns after it has moved them to the front.
    /// Drops columns that become empty.
    fn keep(&mut self, front: impl Fn(&mut [u32], &mut [f64]) -> usize) {
        let mut features = std::mem::take(self.features_mut());
        let (rows, values) = (self.rows.to_mut(), self.values.to_mut());
        let starts = self.starts.to_mut();
        let (mut columns, mut entries, mut start) = (0, 0, 0);
        for column in 0..features.len() {
            let end = starts[column + 1];
            let count = front(&mut rows[start..end], &mut values[start..end]);
            let kept = start..start + count;
            rows.copy_within(kept.clone(), entries);
            values.copy_within(kept.clone(), entries);
            if !kept.is_empty() {
                entries += kept.len();
                features[columns] = features[column];
                columns += 1;
                starts[columns] = entries;
            }
            start = end;
        }
        features.truncate(columns);
        self.features = Some(features.into());
        self.truncate(columns);
    }

    /// Keeps the first columns.
    fn truncate(&mut self, columns: usize) {
        let entries = self.starts[columns];
        self.starts.to_mut().truncate(columns + 1);
        self.rows.to_mut().truncate(entries);
        self.values.to_mut().truncate(entries);
    }

    /// Moves the row at `order[i]` to place `i`.
    pub(crate) fn move_rows(&mut self, order: &[u32]) {
        let mut places = vec![0; order.len()];
        for (&position, place) in order.iter().zip(0..) {
            places[position as usize] = place;
        }
        let starts = self.starts.windows(2);
        let sizes = starts.map(|bounds| bounds[1] - bounds[0]);
        let columns = cut(self.rows.to_mut(), self.values.to_mut(), sizes);
        let move_entries = |(rows, values): (&mut [u32], &mut [f64])| {
            for row in &mut *rows {
                *row = places[*row as usize];
            }
            sort(rows, values);
        };
        columns.into_par_iter().for_each(move_entries);
    }
}

/// The refusal of arrays that are not a matrix.
pub(super) fn no_matrix(why: impl std::fmt::Display) -> Error {
    Error::data(format!("not a compressed sparse matrix: {why}"))
}

/// Sorts entries by index.
fn sort(indices: &mut [u32], values: &mut [f64]) {
    let entries = indices.iter().copied().zip(values.iter().copied());
    let mut entries: Vec<(u32, f64)> = entries.collect();
    entries.sort_unstable_by_key(|entry| entry.0);
    for ((index, value), entry) in indices.iter_mut().zip(values).zip(entries) {
        (*index, *value) = entry;
    }
}

/// Sets the length, with arbitrary values. New memory costs nothing until it is written.
fn resize<T: Clone + Default>(all: &mut Vec<T>, length: usize) {
    if all.capacity() < length {
        *all = Vec::new();
        // The next length is usually similar.
        *all = vec![T::default(); length + length / 8];
    }
    all.resize(length, T::default());
}

/// Cuts things of these sizes into consecutive ranges of about `most`, a task each. A thing counts with its size and 1.
pub(crate) fn task_ranges(sizes: impl Iterator<Item = usize>, most: usize) -> Vec<Range<usize>> {
    let (mut ranges, mut next, mut taken) = (Vec::new(), 0..0, 0);
    for size in sizes {
        next.end += 1;
        taken += size + 1;
        if taken >= most {
            ranges.push(next.clone());
            (next.start, taken) = (next.end, 0);
        }
    }
    ranges.extend((!next.is_empty()).then_some(next));
    ranges
}

/// Cuts rows and values into pieces of these lengths.
pub(super) fn cut<'v>(
    mut rows: &'v mut [u32],
    mut values: &'v mut [f64],
    sizes: impl Iterator<Item = usize>,
) -> Vec<(&'v mut [u32], &'v mut [f64])> {
    let cut = |size| {
        let rows = rows.split_off_mut(..size).unwrap_or_default();
        (rows, values.split_off_mut(..size).unwrap_or_default())
    };
    sizes.map(cut).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_end_where_they_are_large_enough() {
        let of = |sizes: &[usize]| task_ranges(sizes.iter().copied(), 5);
        assert_eq!(of(&[]), []);
        assert_eq!(of(&[0, 3, 0]), [0..2, 2..3]);
        assert_eq!(of(&[9, 1, 1, 1]), [0..1, 1..4]);
    }
}
