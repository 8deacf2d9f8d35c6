//! From rows to columns.
//!
//! Text comes row by row, a [`Dataset`](super::Dataset) stores columns. Some hundred thousand entries at
//! a time are sorted by column while they are in the cache, and packed ([`Run`]): a quarter of the bytes
//! that they take in columns, where values are counts. Then the features are cut into spans of about
//! equal numbers of entries, a task each, and these into strips that fit the cache. A task walks all runs
//! strip by strip: first to count, then to write every entry to the next free place of its column. Walking
//! runs in order leaves the rows of every column ascending, whatever the spans: the result does not depend
//! on the number of threads. Indices may lie as far apart as they like.

use rayon::prelude::*;

use super::packed::{self, Page, Run};
use super::{Columns, DatasetError, Queries, fill_missing};

/// Entries of a strip, about.
const STRIP: u64 = if cfg!(test) { 1 << 7 } else { 1 << 16 };

/// Features of a strip that are looked up in a table.
const NARROW: usize = if cfg!(test) { 1 << 5 } else { 1 << 18 };

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
            start: 0,
        }
    }
}

/// A borrowed [`RowBlock`].
#[derive(Debug, Clone, Copy)]
pub(crate) struct Rows<'a> {
    pub(crate) ends: &'a [usize],
    pub(crate) indices: &'a [u32],
    pub(crate) values: &'a [f64],
    /// Where in `indices` the first row begins.
    pub(crate) start: usize,
}

impl<'a> Rows<'a> {
    /// The indices and values of every row.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&'a [u32], &'a [f64])> {
        let block = *self;
        let mut start = self.start;
        self.ends.iter().map(move |&end| {
            let range = std::mem::replace(&mut start, end)..end;
            (&block.indices[range.clone()], &block.values[range])
        })
    }

    /// All rows packed, some at a time.
    pub(crate) fn packed(self) -> Vec<Run> {
        Run::cut(self).into_par_iter().map(Run::new).collect()
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
    pub(crate) fn push(&mut self, feature: u32, entries: impl Iterator<Item = (u32, f64)>) {
        for (row, value) in entries {
            self.rows.push(row);
            self.values.push(value);
        }
        if self.indptr.last() != Some(&self.rows.len()) {
            self.features.push(feature);
            self.indptr.push(self.rows.len());
        }
    }

    /// Puts means into the places of missing values.
    pub(super) fn fill_missing(&mut self, queries: &Queries) {
        let (mut columns, mut entries, mut start) = (0, 0, 0);
        for column in 0..self.features.len() {
            let end = self.indptr[column + 1];
            let (rows, values) = (&mut self.rows[start..end], &mut self.values[start..end]);
            let kept = start..start + fill_missing(rows, values, queries);
            self.rows.copy_within(kept.clone(), entries);
            self.values.copy_within(kept.clone(), entries);
            if !kept.is_empty() {
                entries += kept.len();
                self.features[columns] = self.features[column];
                columns += 1;
                self.indptr[columns] = entries;
            }
            start = end;
        }
        self.features.truncate(columns);
        self.indptr.truncate(columns + 1);
        self.rows.truncate(entries);
        self.values.truncate(entries);
    }

    /// Puts the row that stands at `order[i]` in place `i`.
    pub(super) fn move_rows(&mut self, order: &[u32]) {
        let places = places_in(order);
        let (mut rows_left, mut values_left) = (&mut self.rows[..], &mut self.values[..]);
        let columns = self.indptr.windows(2).map(|bounds| {
            let size = bounds[1] - bounds[0];
            let rows = rows_left.split_off_mut(..size).unwrap_or_default();
            (rows, values_left.split_off_mut(..size).unwrap_or_default())
        });
        let columns: Vec<_> = columns.collect();
        columns
            .into_par_iter()
            .for_each(|(rows, values)| move_entries(rows, values, &places));
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

/// The occupied columns of `runs`, at most 2^32 - 1 rows one after the other; taken in `order` if there
/// is one: the position in the runs of every row.
pub(crate) fn columns_of(runs: &[Run], order: Option<&[u32]>) -> Occupied {
    let mut tasks: Vec<Task<'_>> = spans(runs, 4 * rayon::current_num_threads())
        .into_iter()
        .map(|span| Task::new(runs, span))
        .collect();
    tasks.par_iter_mut().for_each(Task::count);
    let mut occupied = Occupied::default();
    for task in &tasks {
        occupied.features.extend_from_slice(&task.features);
        let mut end = occupied.indptr.last().copied().unwrap_or(0);
        occupied.indptr.extend(task.counts.iter().map(|&count| {
            end += count as usize;
            end
        }));
    }
    let entries = occupied.indptr.last().copied().unwrap_or(0);
    (occupied.rows, occupied.values) = (vec![0; entries], vec![0.0; entries]);
    let (mut rows_left, mut values_left) = (&mut occupied.rows[..], &mut occupied.values[..]);
    let outputs = tasks.into_iter().map(|task| {
        let size = task.counts.iter().map(|&count| count as usize).sum();
        let rows = rows_left.split_off_mut(..size).unwrap_or_default();
        let values = values_left.split_off_mut(..size).unwrap_or_default();
        (task, rows, values)
    });
    let outputs: Vec<_> = outputs.collect();
    outputs
        .into_par_iter()
        .for_each(|(task, rows, values)| task.fill(rows, values));
    if let Some(order) = order {
        occupied.move_rows(order);
    }
    occupied
}

/// The place of the row at each position, by the position of the row in each place.
pub(crate) fn places_in(order: &[u32]) -> Vec<u32> {
    let mut places = vec![0; order.len()];
    for (&position, place) in order.iter().zip(0..) {
        places[position as usize] = place;
    }
    places
}

/// Moves the entries of a column to the places of their rows.
pub(crate) fn move_entries(rows: &mut [u32], values: &mut [f64], places: &[u32]) {
    let moved = rows.iter().map(|&row| places[row as usize]);
    let mut entries: Vec<(u32, f64)> = moved.zip(values.iter().copied()).collect();
    entries.sort_unstable_by_key(|entry| entry.0);
    for ((row, value), entry) in rows.iter_mut().zip(values).zip(entries) {
        (*row, *value) = entry;
    }
}

/// Where to cut the features into about `most` spans of like numbers of entries: a page in the order of
/// their first features after the other.
fn spans(runs: &[Run], most: usize) -> Vec<Vec<u32>> {
    let pages = runs.iter().flat_map(|run| &run.pages);
    let mut firsts: Vec<(u32, u64)> = pages.map(|page| (page.first, page.entries)).collect();
    firsts.par_sort_unstable();
    let entries: u64 = firsts.iter().map(|page| page.1).sum();
    let share = (entries / most.max(1) as u64).max(STRIP);
    let (mut spans, mut span) = (Vec::new(), vec![0]);
    let (mut of_span, mut of_strip) = (0, 0);
    for (first, entries) in firsts {
        let begins = span.last().is_some_and(|&last| first > last);
        if begins && of_strip >= STRIP {
            span.push(first);
            of_strip = 0;
            if of_span >= share {
                spans.push(std::mem::replace(&mut span, vec![first]));
                of_span = 0;
            }
        }
        of_span += entries;
        of_strip += entries;
    }
    // Features are below 2^32 - 1.
    span.push(u32::MAX);
    spans.push(span);
    spans
}

/// The columns of a span of features, found strip by strip.
struct Task<'a> {
    runs: &'a [Run],
    /// Where strips begin, and where the last ends.
    strips: Vec<u32>,
    /// Features with an entry and how many they have.
    features: Vec<u32>,
    counts: Vec<u32>,
}

impl<'a> Task<'a> {
    fn new(runs: &'a [Run], strips: Vec<u32>) -> Self {
        Self {
            runs,
            strips,
            features: Vec::new(),
            counts: Vec::new(),
        }
    }

    /// Readers of all runs, at the first feature of the span.
    fn readers(&self) -> Vec<Reader<'a>> {
        let mut first_row = 0;
        let reader = |run: &'a Run| {
            let mut reader = Reader::new(run, self.strips[0], first_row);
            // As many rows as 32 bits count.
            first_row += u32::try_from(run.rows).unwrap_or(u32::MAX);
            reader.skip(self.strips[0]);
            reader
        };
        self.runs.iter().map(reader).collect()
    }

    /// Finds the features and how many entries they have.
    fn count(&mut self) {
        let mut readers = self.readers();
        for strip in self.strips.windows(2) {
            let mut heads = |see: &mut dyn FnMut(u32, u32)| {
                for reader in &mut readers {
                    while let Some((feature, count)) = reader.below(strip[1]) {
                        // Rows count in 32 bits.
                        see(feature, u32::try_from(count).unwrap_or(u32::MAX));
                        reader.next_head();
                    }
                }
            };
            if (strip[1] - strip[0]) as usize <= NARROW {
                let mut counts = vec![0; (strip[1] - strip[0]) as usize];
                heads(&mut |feature, count| counts[(feature - strip[0]) as usize] += count);
                let found = (strip[0]..).zip(counts).filter(|&(_, count)| count > 0);
                let (features, counts): (Vec<u32>, Vec<u32>) = found.unzip();
                self.features.extend(features);
                self.counts.extend(counts);
                continue;
            }
            let mut found = Vec::new();
            heads(&mut |feature, count| found.push((feature, count)));
            found.sort_unstable();
            for same in found.chunk_by(|a, b| a.0 == b.0) {
                self.features.push(same[0].0);
                self.counts.push(same.iter().map(|found| found.1).sum());
            }
        }
    }

    /// Writes the entries, columns one after the other.
    fn fill(self, rows: &mut [u32], values: &mut [f64]) {
        let mut readers = self.readers();
        let (mut first, mut end) = (0, 0);
        for strip in self.strips.windows(2) {
            let of_strip = self.features[first..].partition_point(|&feature| feature < strip[1]);
            let features = &self.features[first..first + of_strip];
            let mut free: Vec<usize> = Vec::with_capacity(of_strip);
            free.extend(self.counts[first..first + of_strip].iter().map(|&count| {
                let begin = end;
                end += count as usize;
                begin
            }));
            let slots = slots(features, strip);
            for reader in &mut readers {
                while let Some((feature, count)) = reader.below(strip[1]) {
                    let slot = match slots.get((feature - strip[0]) as usize) {
                        Some(&slot) => slot as usize,
                        None => features.partition_point(|&other| other < feature),
                    };
                    let place = free[slot];
                    free[slot] += count;
                    reader.take(
                        &mut rows[place..place + count],
                        &mut values[place..place + count],
                    );
                }
            }
            first += of_strip;
        }
    }
}

/// The position of every feature of a narrow strip among those that occur; none for a wide one.
fn slots(features: &[u32], strip: &[u32]) -> Vec<u32> {
    let wide = (strip[1] - strip[0]) as usize;
    if wide > NARROW {
        return Vec::new();
    }
    let mut slots = vec![0; wide];
    for (&feature, slot) in features.iter().zip(0..) {
        slots[(feature - strip[0]) as usize] = slot;
    }
    slots
}

/// Walks the columns of a run.
struct Reader<'a> {
    pages: std::slice::Iter<'a, Page>,
    columns: packed::Columns<'a>,
    /// The row of the matrix that is the first of the run.
    first_row: u32,
    /// The column at hand.
    head: Option<(u32, usize)>,
}

impl<'a> Reader<'a> {
    /// From the page that has `feature`, if one does.
    fn new(run: &'a Run, feature: u32, first_row: u32) -> Self {
        let before = run.pages.partition_point(|page| page.first <= feature);
        let mut reader = Self {
            pages: run.pages[before.saturating_sub(1)..].iter(),
            columns: packed::Columns::default(),
            first_row,
            head: None,
        };
        reader.next_head();
        reader
    }

    /// The column at hand if its feature is below `end`.
    #[inline(always)]
    fn below(&self, end: u32) -> Option<(u32, usize)> {
        self.head.filter(|&(feature, _)| feature < end)
    }

    #[inline(always)]
    fn next_head(&mut self) {
        self.head = self.columns.head().or_else(|| {
            self.columns = packed::Columns::new(self.pages.next()?);
            self.columns.head()
        });
    }

    /// Reads the entries of the column at hand.
    #[inline(always)]
    fn take(&mut self, rows: &mut [u32], values: &mut [f64]) {
        let whole = self.columns.entries(self.first_row, rows, values);
        whole.expect("a page that was packed here");
        self.next_head();
    }

    /// Goes to the first column from `feature` on.
    fn skip(&mut self, feature: u32) {
        while let Some((_, count)) = self.below(feature) {
            self.take(&mut vec![0; count], &mut vec![0.0; count]);
        }
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
        let index =
            prop_oneof![3 => 0..40u32, 3 => near, 1 => 0..u32::MAX, 1 => Just(u32::MAX - 1)];
        let row = btree_set(index, 0..60).prop_map(|row: BTreeSet<u32>| row.into_iter().collect());
        vec(row, 0..40)
    }

    /// Any cut of the features gives the same.
    fn check(blocks: &[Rows<'_>], order: Option<&[u32]>, rows: &[Vec<u32>]) {
        let runs: Vec<Run> = blocks.iter().flat_map(|block| block.packed()).collect();
        assert_eq!(columns_of(&runs, order), naive(rows));
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
            at in 0..40usize,
        ) {
            let (front, back) = rows.split_at(at.min(rows.len()));
            let (front, back) = (block(front), block(back));
            check(&[front.rows(), back.rows()], None, &rows);
        }

        #[test]
        fn an_order_moves_rows(rows in prop_oneof![rows(), near()], seed in any::<u64>()) {
            let mut order: Vec<u32> = (0..).take(rows.len()).collect();
            order.sort_by_key(|&row| u64::from(row).wrapping_mul(seed | 1));
            let moved: Vec<_> = order.iter().map(|&row| rows[row as usize].clone()).collect();
            let (front, back) = rows.split_at(rows.len() / 3);
            let (front, back) = (block(front), block(back));
            check(&[front.rows(), back.rows()], Some(&order), &moved);
        }
    }

    #[test]
    fn spans_are_of_like_size() {
        let rows: Vec<Vec<u32>> = (0..300).map(|row| (row..row + 400).collect()).collect();
        let block = block(&rows);
        let spans = spans(&block.rows().packed(), 8);
        assert!((7..=8).contains(&spans.len()), "{}", spans.len());
        let in_span = |span: &[u32]| {
            let own = |&&index: &&u32| (span[0]..span[span.len() - 1]).contains(&index);
            rows.iter().flatten().filter(own).count()
        };
        for span in spans {
            let entries = in_span(&span);
            assert!((12_000..18_000).contains(&entries), "{entries}");
        }
        check(&[block.rows()], None, &rows);
    }
}
