//! From rows to columns.
//!
//! Text comes row by row, a [`Dataset`](super::Dataset) stores columns. The entries are counted by column, the
//! counts are summed into column bounds, and every entry is written to the next free place of its
//! column: two passes over the rows, no sorting of entries. To do it on several threads, the columns
//! are cut into spans of about equal numbers of entries, each with its own piece of the output; the
//! indices of a row ascend, so that bisection finds the part of each span. Walking rows in order
//! leaves the rows of every column ascending, whatever the spans: the result does not depend on the
//! number of threads.
//!
//! Indices that lie far apart are numbered afresh first, by their rank among the indices that occur:
//! an index of four thousand million costs what any other costs. Memory above rows and result: a
//! number or two for each column, which are at most half as many as the entries, or else a copy of the
//! indices.

use std::ops::Range;

use rayon::prelude::*;

use super::{Columns, DatasetError};

/// Consecutive rows of a sparse matrix: indices ascend within a row.
#[derive(Debug, Default)]
pub(crate) struct RowBlock {
    /// Where in `indices` each row ends.
    pub(crate) ends: Vec<usize>,
    pub(crate) indices: Vec<u32>,
    pub(crate) values: Vec<f64>,
}

impl RowBlock {
    pub(crate) fn rows(&self) -> Rows<'_> {
        Rows {
            ends: &self.ends,
            indices: &self.indices,
            values: &self.values,
        }
    }
}

/// A borrowed [`RowBlock`].
#[derive(Debug, Clone, Copy)]
pub(crate) struct Rows<'a> {
    pub(crate) ends: &'a [usize],
    pub(crate) indices: &'a [u32],
    pub(crate) values: &'a [f64],
}

impl<'a> Rows<'a> {
    /// The indices and values of row `row` of the block.
    pub(crate) fn row(&self, row: usize) -> (&'a [u32], &'a [f64]) {
        let start = row.checked_sub(1).map_or(0, |before| self.ends[before]);
        let range = start..self.ends[row];
        (&self.indices[range.clone()], &self.values[range])
    }

    fn iter(&self) -> impl Iterator<Item = (&'a [u32], &'a [f64])> {
        let block = *self;
        (0..self.ends.len()).map(move |row| block.row(row))
    }
}

/// Compressed columns of which each has an entry.
#[derive(Debug, PartialEq)]
pub(crate) struct Occupied {
    /// The 0-based feature of every column, ascending.
    pub(crate) features: Vec<u32>,
    pub(crate) indptr: Vec<usize>,
    pub(crate) rows: Vec<u32>,
    pub(crate) values: Vec<f64>,
}

impl Default for Occupied {
    /// No column.
    fn default() -> Self {
        Self {
            features: Vec::new(),
            indptr: vec![0],
            rows: Vec::new(),
            values: Vec::new(),
        }
    }
}

impl Occupied {
    /// Adds the column of a `feature` after the last, unless it is empty.
    pub(super) fn push(&mut self, feature: u32, entries: impl Iterator<Item = (u32, f64)>) {
        for (row, value) in entries {
            self.rows.push(row);
            self.values.push(value);
        }
        if self.indptr.last() != Some(&self.rows.len()) {
            self.features.push(feature);
            self.indptr.push(self.rows.len());
        }
    }

    /// These columns of `rows` rows, among `width` columns.
    pub(super) fn into_columns(
        self,
        rows: usize,
        width: usize,
    ) -> Result<Columns<'static>, DatasetError> {
        let shape = (rows, self.features.len());
        let features = (self.features.len() < width).then_some(self.features);
        let columns = Columns::new(shape, self.indptr, self.rows, self.values)?;
        Ok(Columns {
            features,
            width,
            ..columns
        })
    }
}

/// The occupied columns of at most 2^32 - 1 rows, taken in `order` if there is one: the position in
/// the blocks of every row.
pub(crate) fn transpose(blocks: &[Rows<'_>], order: Option<&[u32]>) -> Occupied {
    let spans = 4 * rayon::current_num_threads();
    let entries: usize = blocks.iter().map(|block| block.indices.len()).sum();
    let rows = blocks.iter().flat_map(Rows::iter);
    let last = rows.filter_map(|(indices, _)| indices.last()).max();
    let columns = last.map_or(0, |&last| last as usize + 1);
    if columns <= entries / 2 {
        return count_and_fill(blocks, order, columns, spans);
    }
    let features = distinct(blocks);
    let ranks = Ranks::new(&features);
    let of_block = |block: &Rows<'_>| block.indices.iter().map(|&index| ranks.of(index)).collect();
    let indices: Vec<Vec<u32>> = blocks.par_iter().map(of_block).collect();
    drop(ranks);
    let ranked = blocks.iter().zip(&indices);
    let ranked: Vec<_> = ranked
        .map(|(block, indices)| Rows { indices, ..*block })
        .collect();
    let occupied = count_and_fill(&ranked, order, features.len(), spans);
    Occupied {
        features,
        ..occupied
    }
}

/// The indices that occur, ascending.
fn distinct(blocks: &[Rows<'_>]) -> Vec<u32> {
    let mut indices: Vec<u32> = blocks
        .iter()
        .flat_map(|block| block.indices)
        .copied()
        .collect();
    indices.par_sort_unstable();
    indices.dedup();
    indices.shrink_to_fit();
    indices
}

/// Ranks of indices among ascending `features`: a table of the places at which those with the same
/// leading bits begin leaves little to bisect.
struct Ranks<'a> {
    features: &'a [u32],
    /// Bits after the leading ones.
    shift: u32,
    starts: Vec<usize>,
}

impl<'a> Ranks<'a> {
    fn new(features: &'a [u32]) -> Self {
        let shift = u32::BITS - features.len().max(2).ilog2().min(31);
        let mut starts = vec![0; (u32::MAX >> shift) as usize + 2];
        for feature in features {
            starts[(feature >> shift) as usize + 1] += 1;
        }
        let mut start = 0;
        for count in &mut starts {
            start += *count;
            *count = start;
        }
        Self {
            features,
            shift,
            starts,
        }
    }

    fn of(&self, index: u32) -> u32 {
        let bucket = (index >> self.shift) as usize;
        let (start, end) = (self.starts[bucket], self.starts[bucket + 1]);
        let within = self.features[start..end].partition_point(|&feature| feature < index);
        // Different indices of 32 bits are at most 2^32.
        u32::try_from(start + within).expect("a rank below 2^32")
    }
}

/// The transposition of rows with indices below `columns`, in at most `most` spans.
fn count_and_fill(
    blocks: &[Rows<'_>],
    order: Option<&[u32]>,
    columns: usize,
    most: usize,
) -> Occupied {
    let mut bounds = column_bounds(blocks, columns);
    let entries = bounds[columns];
    let (mut rows, mut values) = (vec![0; entries], vec![0.0; entries]);
    let (mut rows_left, mut values_left) = (&mut rows[..], &mut values[..]);
    let count: usize = blocks.iter().map(|block| block.ends.len()).sum();
    let mut tasks = Vec::with_capacity(most);
    for span in spans(&bounds, count, most) {
        let size = bounds[span.end] - bounds[span.start];
        let rows = rows_left.split_off_mut(..size).unwrap_or_default();
        let values = values_left.split_off_mut(..size).unwrap_or_default();
        tasks.push((span, rows, values));
    }
    tasks.into_par_iter().for_each(|(span, rows, values)| {
        let first = bounds[span.start];
        let free = bounds[span.clone()].iter().map(|bound| bound - first);
        fill(blocks, order, &span, free.collect(), (rows, values));
    });
    let occupied = bounds.windows(2).zip(0..);
    let features = occupied.filter_map(|(pair, column)| (pair[0] < pair[1]).then_some(column));
    let features = features.collect();
    bounds.dedup();
    Occupied {
        features,
        indptr: bounds,
        rows,
        values,
    }
}

/// Where the entries of each column begin, and the number of all entries.
fn column_bounds(blocks: &[Rows<'_>], columns: usize) -> Vec<usize> {
    // Each group has its own counters, as long as all of them are few beside the entries.
    let entries: usize = blocks.iter().map(|block| block.indices.len()).sum();
    let groups = (entries / columns.max(1)).clamp(1, rayon::current_num_threads());
    let group = blocks.len().div_ceil(groups).max(1);
    let counts = blocks.par_chunks(group).map(|blocks| {
        let mut counts = vec![0u32; columns];
        for &index in blocks.iter().flat_map(|block| block.indices) {
            counts[index as usize] += 1;
        }
        counts
    });
    let counts = counts.reduce_with(|mut sums, counts| {
        for (sum, count) in sums.iter_mut().zip(counts) {
            *sum += count;
        }
        sums
    });
    let mut bounds = Vec::with_capacity(columns + 1);
    let mut end = 0;
    bounds.push(end);
    for count in counts.unwrap_or_default() {
        end += count as usize;
        bounds.push(end);
    }
    bounds.resize(columns + 1, end);
    bounds
}

/// At most `most` spans that cover the columns, each with about as many entries.
fn spans(bounds: &[usize], rows: usize, most: usize) -> Vec<Range<usize>> {
    // Finding a span in a row costs like walking some entries: short rows make few spans.
    const SLICE: usize = 4;
    let (columns, entries) = (bounds.len() - 1, bounds[bounds.len() - 1]);
    let count = (entries / (SLICE * rows.max(1024))).clamp(1, most.max(1));
    let quantile = |span| bounds.partition_point(|&bound| bound < span * (entries / count));
    let mut ends: Vec<usize> = (0..count).map(quantile).chain([columns]).collect();
    ends.dedup();
    ends.windows(2).map(|pair| pair[0]..pair[1]).collect()
}

/// Writes the entries of the columns of `span`, each to the place that is `free` next in its column.
fn fill(
    blocks: &[Rows<'_>],
    order: Option<&[u32]>,
    span: &Range<usize>,
    mut free: Vec<usize>,
    (rows, values): (&mut [u32], &mut [f64]),
) {
    let mut add = |number: u32, (indices, row_values): (&[u32], &[f64])| {
        let start = indices.partition_point(|&index| (index as usize) < span.start);
        let end = start + indices[start..].partition_point(|&index| (index as usize) < span.end);
        for (&index, &value) in indices[start..end].iter().zip(&row_values[start..end]) {
            let place = &mut free[index as usize - span.start];
            rows[*place] = number;
            values[*place] = value;
            *place += 1;
        }
    };
    let Some(order) = order else {
        let all = blocks.iter().flat_map(Rows::iter);
        all.zip(0..).for_each(|(row, number)| add(number, row));
        return;
    };
    let starts = blocks.iter().scan(0, |rows, block| {
        *rows += block.ends.len();
        Some(*rows - block.ends.len())
    });
    let starts: Vec<usize> = starts.collect();
    for (&position, number) in order.iter().zip(0..) {
        let position = position as usize;
        let block = starts.partition_point(|&start| start <= position) - 1;
        add(number, blocks[block].row(position - starts[block]));
    }
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use proptest::collection::{btree_set, vec};
    use proptest::prelude::*;

    use super::*;

    fn block(rows: &[Vec<u32>]) -> RowBlock {
        let mut block = RowBlock::default();
        for row in rows {
            for &index in row {
                block.values.push(f64::from(index) + row.len() as f64);
                block.indices.push(index);
            }
            block.ends.push(block.indices.len());
        }
        block
    }

    /// Columns by way of a map of maps.
    fn naive(rows: &[Vec<u32>]) -> Occupied {
        let mut columns: BTreeMap<u32, Vec<(u32, f64)>> = BTreeMap::new();
        for (row, number) in rows.iter().zip(0..) {
            for &index in row {
                let value = f64::from(index) + row.len() as f64;
                columns.entry(index).or_default().push((number, value));
            }
        }
        let mut result = Occupied::default();
        for (feature, entries) in columns {
            result.push(feature, entries.into_iter());
        }
        result
    }

    /// Rows whose indices lie near 0, far away, anywhere, or all of these.
    fn rows() -> impl Strategy<Value = Vec<Vec<u32>>> {
        let near = (any::<u32>(), 0..9u32).prop_map(|(far, near)| (far % 3) << 30 | near);
        let index = prop_oneof![3 => 0..40u32, 3 => near, 1 => any::<u32>(), 1 => Just(u32::MAX)];
        let row = btree_set(index, 0..60).prop_map(|row: BTreeSet<u32>| row.into_iter().collect());
        vec(row, 0..40)
    }

    /// With indices as they are, if they are near enough, and by their ranks.
    fn check(blocks: &[Rows<'_>], order: Option<&[u32]>, spans: usize, rows: &[Vec<u32>]) {
        let expected = naive(rows);
        assert_eq!(transpose(blocks, order), expected);
        let last = expected.features.last().map_or(0, |&last| last as usize);
        if last < 100 {
            assert_eq!(count_and_fill(blocks, order, last + 1, spans), expected);
        }
    }

    /// Rows whose indices lie near 0, often enough for spans.
    fn near() -> impl Strategy<Value = Vec<Vec<u32>>> {
        let row = btree_set(0..60u32, 0..60);
        vec(
            row.prop_map(|row: BTreeSet<u32>| row.into_iter().collect()),
            0..300,
        )
    }

    proptest! {
        #[test]
        fn any_cut_gives_the_naive_columns(
            rows in prop_oneof![rows(), near()],
            spans in 1..40usize,
            at in 0..40usize,
        ) {
            let (front, back) = rows.split_at(at.min(rows.len()));
            let (front, back) = (block(front), block(back));
            check(&[front.rows(), back.rows()], None, spans, &rows);
        }

        #[test]
        fn an_order_moves_rows(rows in prop_oneof![rows(), near()], seed in any::<u64>()) {
            let mut order: Vec<u32> = (0..).take(rows.len()).collect();
            order.sort_by_key(|&row| u64::from(row).wrapping_mul(seed | 1));
            let moved: Vec<_> = order.iter().map(|&row| rows[row as usize].clone()).collect();
            let (front, back) = rows.split_at(rows.len() / 3);
            let (front, back) = (block(front), block(back));
            check(&[front.rows(), back.rows()], Some(&order), 3, &moved);
        }
    }

    #[test]
    fn many_entries_make_several_spans_of_like_size() {
        let rows: Vec<Vec<u32>> = (0..300).map(|row| (row..row + 400).collect()).collect();
        let block = block(&rows);
        let blocks = [block.rows()];
        let bounds = column_bounds(&blocks, 699);
        let spans = spans(&bounds, 300, 8);
        assert_eq!((spans.len(), spans[7].end), (8, 699));
        for span in spans {
            let entries = bounds[span.end] - bounds[span.start];
            assert!((14_000..16_000).contains(&entries), "{entries}");
        }
        check(&blocks, None, 8, &rows);
        assert_eq!(count_and_fill(&blocks, None, 699, 8), naive(&rows));
    }
}
