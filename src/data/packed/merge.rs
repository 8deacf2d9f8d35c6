//! From runs of rows to columns.
//!
//! The features are cut into spans with about equal numbers of entries, one task each, and spans into strips that
//! fit the cache. A task walks all runs strip by strip. It first counts, then writes every entry to the next free
//! place of its column. Walking runs in order leaves the rows of every column ascending for any spans, so the
//! result does not depend on the number of threads. Features may lie far apart.

use rayon::prelude::*;

use super::runs::{Reader, Run};
use crate::data::columns::{Columns, cut};
use crate::error::{Error, Result};

/// Approximate entries of a strip, unless there are many runs.
const STRIP: u64 = if cfg!(test) { 1 << 7 } else { 1 << 16 };

/// Least entries of a strip for each run. To reach the page of fewer takes longer than to read them.
const VISIT: u64 = if cfg!(test) { 1 } else { 32 };

/// Most features of a strip that a table counts.
const NARROW: usize = if cfg!(test) { 1 << 5 } else { 1 << 18 };

/// The first feature of each strip, and the end of the last.
struct Span(Vec<u32>);

/// The occupied columns of `runs` among `width` columns. The runs have at most 2^32 - 1 rows together. `check` may
/// refuse the number of columns.
pub(super) fn columns_of<E>(
    runs: &[Run],
    width: usize,
    check: impl FnOnce(usize) -> Result<(), E>,
) -> Result<Columns<'static>, E> {
    let spans = spans(runs, 4 * rayon::current_num_threads());
    let mut columns = Columns::none(0, width);
    fill_within(runs, &spans, &mut columns, check)?;
    Ok(columns)
}

/// Calls `each` with all columns of `runs`, about `entries` entries at once.
pub(super) fn each_batch(
    runs: &[Run],
    width: usize,
    entries: u64,
    mut each: impl FnMut(&mut Columns<'static>) -> Result<()>,
) -> Result<()> {
    let threads = rayon::current_num_threads();
    let all: u64 = runs.iter().map(Run::entries).sum();
    let batches = usize::try_from(all.div_ceil(entries.max(1))).unwrap_or(usize::MAX);
    let mut columns = Columns::none(0, width);
    for spans in spans(runs, batches.saturating_mul(threads)).chunks(threads) {
        fill_within(runs, spans, &mut columns, |_| Ok::<_, Error>(()))?;
        each(&mut columns)?;
    }
    Ok(())
}

/// Makes `columns` the occupied columns of these consecutive spans. `check` may refuse their number.
fn fill_within<E>(
    runs: &[Run],
    spans: &[Span],
    columns: &mut Columns<'static>,
    check: impl FnOnce(usize) -> Result<(), E>,
) -> Result<(), E> {
    let mut tasks: Vec<Task<'_>> = spans.iter().map(|span| Task::new(runs, span)).collect();
    tasks.par_iter_mut().for_each(Task::count);
    let found: Vec<usize> = tasks.iter().map(|task| task.features.len()).collect();
    check(found.iter().sum())?;
    columns.height = runs.iter().map(|run| run.rows as usize).sum();
    columns.refill(
        tasks
            .iter()
            .map(|task| (&task.features[..], &task.counts[..])),
    );
    // Features and counts stand in the columns now. Free them before the entries take memory.
    for task in &mut tasks {
        (task.features, task.counts) = (Vec::new(), Vec::new());
    }
    let (features, starts, rows, values) = columns.parts();
    let mut first = 0;
    let own = found.into_iter().map(|count| {
        let own = first..first + count;
        first = own.end;
        (&features[own.clone()], &starts[own.start..=own.end])
    });
    let own: Vec<(&[u32], &[usize])> = own.collect();
    let sizes = own
        .iter()
        .map(|(_, starts)| starts[starts.len() - 1] - starts[0]);
    let outputs = cut(rows, values, sizes);
    tasks
        .par_iter()
        .zip(own)
        .zip(outputs)
        .for_each(|((task, own), (rows, values))| task.fill(own, rows, values));
    Ok(())
}

/// Cuts the features into at most about `most` spans with similar numbers of entries. Pages count in the order of
/// their first features.
fn spans(runs: &[Run], most: usize) -> Vec<Span> {
    let pages = runs.iter().flat_map(|run| &run.pages);
    let mut firsts: Vec<(u32, u64)> = pages.map(|page| (page.first, page.entries)).collect();
    firsts.par_sort_unstable();
    let entries: u64 = firsts.iter().map(|page| page.1).sum();
    let strip = STRIP.max(VISIT * runs.len() as u64);
    let share = (entries / most.max(1) as u64).max(strip);
    let (mut spans, mut span) = (Vec::new(), vec![0]);
    let (mut of_span, mut of_strip) = (0, 0);
    for (first, of_page) in firsts {
        let begins = span.last().is_some_and(|&last| first > last);
        if begins && of_strip >= strip {
            span.push(first);
            of_strip = 0;
            if of_span >= share {
                spans.push(Span(std::mem::replace(&mut span, vec![first])));
                of_span = 0;
            }
        }
        of_span += of_page;
        of_strip += of_page;
    }
    // Features are below 2^32 - 1.
    span.push(u32::MAX);
    spans.push(Span(span));
    spans
}

/// The columns of a span of features, found strip by strip.
struct Task<'a> {
    runs: &'a [Run],
    strips: &'a [u32],
    /// Features with an entry, and their numbers of entries.
    features: Vec<u32>,
    counts: Vec<u32>,
}

impl<'a> Task<'a> {
    fn new(runs: &'a [Run], span: &'a Span) -> Self {
        Self {
            runs,
            strips: &span.0,
            features: Vec::new(),
            counts: Vec::new(),
        }
    }

    /// Readers of all runs, at the first feature of the span. `pass` moves a reader past the entries of a column.
    fn readers(&self, pass: fn(&mut Reader<'a>, usize)) -> Vec<Reader<'a>> {
        let (first, mut first_row) = (self.strips[0], 0_u32);
        let reader = |run: &'a Run| {
            let mut reader = Reader::new(&run.pages, first, first_row);
            // Rows fit in 32 bits.
            first_row = first_row.saturating_add(run.rows);
            while let Some((_, count)) = reader.below(first) {
                pass(&mut reader, count);
            }
            reader
        };
        self.runs.iter().map(reader).collect()
    }

    /// Finds the features and their numbers of entries.
    fn count(&mut self) {
        let mut readers = self.readers(|reader, _| reader.next_head());
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
                let mut of_each = vec![0; (strip[1] - strip[0]) as usize];
                heads(&mut |feature, count| of_each[(feature - strip[0]) as usize] += count);
                let found = (strip[0]..).zip(of_each).filter(|&(_, count)| count > 0);
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

    /// Writes the entries column by column, for these features with these starts.
    fn fill(&self, (all, starts): (&[u32], &[usize]), rows: &mut [u32], values: &mut [f64]) {
        let mut readers = self.readers(Reader::skip);
        let mut first = 0;
        for strip in self.strips.windows(2) {
            let of_strip = all[first..].partition_point(|&feature| feature < strip[1]);
            let features = &all[first..first + of_strip];
            let begin = starts[first..first + of_strip].iter();
            let mut free: Vec<usize> = begin.map(|start| start - starts[0]).collect();
            let slots = Slots::new(features, strip);
            for reader in &mut readers {
                while let Some((feature, count)) = reader.below(strip[1]) {
                    let slot = slots.of(feature);
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

/// The places of features within a strip. The table has about as many parts as the strip has features, since
/// features may lie far apart.
struct Slots<'a> {
    features: &'a [u32],
    /// The first feature of the strip.
    first: u32,
    /// A part spans two to this power of features, occupied or not.
    shift: u32,
    /// Where the features of each part begin, and where the last end.
    starts: Vec<u32>,
}

impl<'a> Slots<'a> {
    fn new(features: &'a [u32], strip: &[u32]) -> Self {
        let (first, wide) = (strip[0], strip[1] - strip[0]);
        let parts = 2 * features.len().max(1);
        let mut shift = 0;
        while (wide >> shift) as usize > parts {
            shift += 1;
        }
        let mut starts = vec![0; (wide >> shift) as usize + 2];
        for &feature in features {
            starts[((feature - first) >> shift) as usize + 1] += 1;
        }
        let mut end = 0;
        for start in &mut starts {
            end += *start;
            *start = end;
        }
        Self {
            features,
            first,
            shift,
            starts,
        }
    }

    /// The place of a feature of the strip.
    #[inline(always)]
    fn of(&self, feature: u32) -> usize {
        let part = ((feature - self.first) >> self.shift) as usize;
        let (start, end) = (self.starts[part] as usize, self.starts[part + 1] as usize);
        if end - start == 1 {
            return start;
        }
        start + self.features[start..end].partition_point(|&other| other < feature)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use proptest::collection::{btree_set, vec};
    use proptest::prelude::*;

    use super::super::runs::{RowPacker, runs_of_rows};
    use super::*;

    fn columns(runs: &[Run]) -> Columns<'static> {
        columns_of(runs, 0, |_| Ok::<_, ()>(())).unwrap()
    }

    /// The value of all entries of a row.
    fn value(row: &[u32], column: u32) -> f64 {
        f64::from(column) + row.len() as f64
    }

    fn runs(rows: &[Vec<u32>]) -> Vec<Run> {
        let mut packer = RowPacker::default();
        for row in rows {
            for &column in row {
                packer.push(column, value(row, column));
            }
            packer.end_row();
        }
        packer.finish()
    }

    /// Columns by a map of maps.
    fn naive(rows: &[Vec<u32>]) -> Columns<'static> {
        let mut columns: BTreeMap<u32, Vec<(u32, f64)>> = BTreeMap::new();
        for (row, number) in rows.iter().zip(0..) {
            for &column in row {
                let entry = (number, value(row, column));
                columns.entry(column).or_default().push(entry);
            }
        }
        let mut result = Columns::none(rows.len(), 0);
        for (feature, entries) in columns {
            result.push(feature, entries.into_iter());
        }
        result
    }

    /// Rows with indices near 0, far away, anywhere, or all of these.
    fn rows() -> impl Strategy<Value = Vec<Vec<u32>>> {
        let near = (any::<u32>(), 0..9u32).prop_map(|(far, near)| (far % 3) << 30 | near);
        let index =
            prop_oneof![3 => 0..40u32, 3 => near, 1 => 0..u32::MAX, 1 => Just(u32::MAX - 1)];
        let row = btree_set(index, 0..60).prop_map(|row: BTreeSet<u32>| row.into_iter().collect());
        vec(row, 0..40)
    }

    /// Rows with indices near 0, and enough of them for several spans.
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
            let mut runs = runs(front);
            runs.extend(self::runs(back));
            prop_assert_eq!(&columns(&runs), &naive(&rows));
            let mut starts = vec![0];
            starts.extend(rows.iter().scan(0, |end, row| {
                *end += row.len();
                Some(*end)
            }));
            let values: Vec<f64> = rows
                .iter()
                .flat_map(|row| row.iter().map(|&column| value(row, column)))
                .collect();
            let runs = runs_of_rows(&starts, &rows.concat(), &values);
            prop_assert_eq!(&columns(&runs), &naive(&rows));
        }

        #[test]
        fn an_order_moves_rows(rows in prop_oneof![rows(), near()], seed in any::<u64>()) {
            let mut order: Vec<u32> = (0..).take(rows.len()).collect();
            order.sort_by_key(|&row| u64::from(row).wrapping_mul(seed | 1));
            let moved: Vec<_> = order.iter().map(|&row| rows[row as usize].clone()).collect();
            let mut columns = columns(&runs(&rows));
            columns.move_rows(&order);
            prop_assert_eq!(columns, naive(&moved));
        }
    }

    #[test]
    fn spans_are_of_like_size() {
        let rows: Vec<Vec<u32>> = (0..300).map(|row| (row..row + 400).collect()).collect();
        let spans = spans(&runs(&rows), 8);
        assert!((7..=8).contains(&spans.len()), "{}", spans.len());
        for Span(span) in spans {
            let own = |&&index: &&u32| (span[0]..span[span.len() - 1]).contains(&index);
            let entries = rows.iter().flatten().filter(own).count();
            assert!((12_000..18_000).contains(&entries), "{entries}");
        }
    }
}
