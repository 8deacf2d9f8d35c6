//! Rows packed by columns, some rows at a time.
//!
//! Text comes row by row, but a [`Dataset`](crate::Dataset) stores columns. Some hundred thousand entries at once
//! are sorted by column in the cache, and packed. If values are counts, that takes a quarter of their bytes in
//! columns. [`merge`](super::merge) makes columns of runs.
//!
//! A page has consecutive columns. Their heads stand together, so that counting need not look at entries. A head
//! has the distance to the previous feature and the number of entries. Entries follow in the body, rows first, each
//! as the distance from the previous row. As values, whole numbers from 1 to 254 take a byte. Others take a byte
//! and the eight bytes of the float. All other numbers are written seven bits at a time. An entry of a corpus of
//! parses takes about three bytes.

use rayon::prelude::*;

/// Bytes of a body that fill a page.
const FULL: usize = if cfg!(test) { 1 << 6 } else { 1 << 14 };

/// Most bits of a sorting digit.
const DIGIT: u32 = 12;

/// Entries of rows sorted at once.
const SORTED: usize = if cfg!(test) { 1 << 9 } else { 1 << 17 };

/// Consecutive columns with ascending features.
#[derive(Debug, Clone)]
pub(super) struct Page {
    /// The first feature.
    pub(super) first: u32,
    pub(super) entries: u64,
    /// Bytes of heads. The body follows.
    heads: usize,
    bytes: Vec<u8>,
}

/// Rows packed by columns.
#[derive(Debug, Default)]
pub(in crate::data) struct Run {
    pub(super) rows: u32,
    pub(super) pages: Vec<Page>,
}

impl Run {
    /// Bytes held.
    pub(in crate::data) fn memory(&self) -> usize {
        let of_page = |page: &Page| page.bytes.len() + size_of::<Page>();
        self.pages.iter().map(of_page).sum()
    }

    /// Number of entries.
    pub(in crate::data) fn entries(&self) -> u64 {
        self.pages.iter().map(|page| page.entries).sum()
    }
}

/// Packs columns whose features ascend.
#[derive(Debug, Default)]
struct Packer {
    run: Run,
    /// The first feature of the next page.
    first: u32,
    entries: u64,
    heads: Vec<u8>,
    body: Vec<u8>,
    /// One more than the last feature.
    next: u32,
}

impl Packer {
    /// Adds a column, which has at least one entry.
    fn push(&mut self, feature: u32, entries: impl ExactSizeIterator<Item = (u32, f64)> + Clone) {
        if self.heads.is_empty() {
            (self.first, self.next) = (feature, feature);
        }
        let count = entries.len();
        push_number(&mut self.heads, feature - self.next);
        // Rows count in 32 bits.
        push_number(&mut self.heads, u32::try_from(count).unwrap_or(u32::MAX));
        let mut next = 0;
        for (row, _) in entries.clone() {
            push_number(&mut self.body, row - next);
            next = row.saturating_add(1);
        }
        for (_, value) in entries {
            push_value(&mut self.body, value);
        }
        self.entries += count as u64;
        // No data set has 2^32 columns.
        self.next = feature.saturating_add(1);
        if self.body.len() >= FULL {
            self.end_page();
        }
    }

    fn end_page(&mut self) {
        if self.heads.is_empty() {
            return;
        }
        self.run.pages.push(Page {
            first: self.first,
            entries: std::mem::take(&mut self.entries),
            heads: self.heads.len(),
            bytes: [&self.heads[..], &self.body].concat(),
        });
        self.heads.clear();
        self.body.clear();
    }

    /// The columns of `rows` rows.
    fn finish(mut self, rows: u32) -> Run {
        self.end_page();
        self.run.rows = rows;
        self.run.pages.shrink_to_fit();
        self.run
    }
}

/// Packs rows one after the other, some at a time.
#[derive(Debug, Default)]
pub(in crate::data) struct RowPacker {
    entries: Vec<Entry>,
    /// Rows of the unfinished run.
    rows: u32,
    runs: Vec<Run>,
}

#[derive(Debug, Clone, Copy, Default)]
struct Entry {
    column: u32,
    row: u32,
    value: f64,
}

impl RowPacker {
    /// A packer with room for `entries` entries.
    pub(in crate::data) fn with_room(entries: usize) -> Self {
        Self {
            entries: Vec::with_capacity(entries),
            ..Self::default()
        }
    }

    /// Adds an entry to the present row, which has none in this column yet.
    #[inline]
    pub(in crate::data) fn push(&mut self, column: u32, value: f64) {
        let row = self.rows;
        self.entries.push(Entry { column, row, value });
    }

    pub(in crate::data) fn end_row(&mut self) {
        self.rows += 1;
        if self.entries.len() >= SORTED {
            self.end_run();
        }
    }

    pub(in crate::data) fn finish(mut self) -> Vec<Run> {
        if self.rows > 0 {
            self.end_run();
        }
        self.runs
    }

    fn end_run(&mut self) {
        sort_by_column(&mut self.entries);
        let mut packer = Packer::default();
        for column in self.entries.chunk_by(|a, b| a.column == b.column) {
            let own = column.iter().map(|entry| (entry.row, entry.value));
            packer.push(column[0].column, own);
        }
        self.entries.clear();
        let rows = std::mem::take(&mut self.rows);
        self.runs.push(packer.finish(rows));
    }
}

/// The rows of a matrix in compressed rows, packed, without stored zeros.
pub(in crate::data) fn runs_of_rows(starts: &[usize], columns: &[u32], values: &[f64]) -> Vec<Run> {
    let rows = starts.len() - 1;
    let at_once = (rows * SORTED / columns.len().max(1)).clamp(1, rows.max(1));
    let firsts: Vec<usize> = (0..rows).step_by(at_once).collect();
    let pack = |first: usize| {
        let mut packer = RowPacker::default();
        for row in first..rows.min(first + at_once) {
            let range = starts[row]..starts[row + 1];
            let entries = columns[range.clone()].iter().zip(&values[range]);
            for (&column, &value) in entries.filter(|(_, value)| **value != 0.0) {
                packer.push(column, value);
            }
            packer.end_row();
        }
        packer.finish()
    };
    firsts.into_par_iter().flat_map_iter(pack).collect()
}

/// Sorts entries, which are in the order of rows, by the digits of the column, lowest digit first.
fn sort_by_column(entries: &mut Vec<Entry>) {
    // The columns of a single row, which may be long, are in order already.
    if entries.is_sorted_by_key(|entry| entry.column) {
        return;
    }
    let last = entries.iter().map(|entry| entry.column).max().unwrap_or(0);
    let mut sorted = vec![Entry::default(); entries.len()];
    // Equal digits keep the number of written places small.
    let bits = u32::BITS - last.leading_zeros();
    let digit_bits = bits.div_ceil(bits.div_ceil(DIGIT));
    for shift in (0..bits).step_by(digit_bits as usize) {
        let digit = |entry: &Entry| (entry.column >> shift) as usize & ((1 << digit_bits) - 1);
        let mut places = vec![0u32; 1 << digit_bits];
        for entry in &*entries {
            places[digit(entry)] += 1;
        }
        let mut end = 0;
        for count in &mut places {
            end += std::mem::replace(count, end);
        }
        for entry in &*entries {
            let place = &mut places[digit(entry)];
            sorted[*place as usize] = *entry;
            *place += 1;
        }
        std::mem::swap(entries, &mut sorted);
    }
}

/// Approximate bytes of entries with these values: two for the row and its share of the head.
pub(in crate::data) fn bytes(values: &[f64]) -> u64 {
    let value = |value: &f64| if small(*value).is_some() { 3 } else { 11 };
    values.par_iter().map(value).sum()
}

fn push_number(bytes: &mut Vec<u8>, mut number: u32) {
    while number >= 1 << 7 {
        bytes.push(number.to_le_bytes()[0] | 128);
        number >>= 7;
    }
    bytes.push(number.to_le_bytes()[0]);
}

fn push_value(bytes: &mut Vec<u8>, value: f64) {
    if let Some(small) = small(value) {
        bytes.push(small);
    } else {
        bytes.push(0);
        bytes.extend_from_slice(&value.to_le_bytes());
    }
}

/// The byte of a value that fits into one.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "checked to be the same number"
)]
fn small(value: f64) -> Option<u8> {
    let small = value as u8;
    (f64::from(small) == value && (1..=254).contains(&small)).then_some(small)
}

/// Removes a byte.
#[inline(always)]
fn byte(bytes: &mut &[u8]) -> u8 {
    let (&byte, rest) = bytes.split_first().expect("a page that was packed here");
    *bytes = rest;
    byte
}

/// Removes a number.
#[inline(always)]
fn number(bytes: &mut &[u8]) -> u32 {
    let mut last = byte(bytes);
    let (mut number, mut shift) = (u32::from(last & 127), 7);
    while last >= 128 {
        last = byte(bytes);
        number |= u32::from(last & 127) << shift;
        shift += 7;
    }
    number
}

/// Removes a value.
#[inline(always)]
fn value(bytes: &mut &[u8]) -> f64 {
    match byte(bytes) {
        0 => {
            let (value, rest) = bytes.split_first_chunk().expect("eight bytes");
            *bytes = rest;
            f64::from_le_bytes(*value)
        }
        small => f64::from(small),
    }
}

/// Walks the columns of pages.
#[derive(Debug)]
pub(super) struct Reader<'a> {
    pages: std::slice::Iter<'a, Page>,
    heads: &'a [u8],
    body: &'a [u8],
    next: u32,
    /// The row of the matrix at which the run begins.
    first_row: u32,
    /// Feature and number of entries of the present column.
    head: Option<(u32, usize)>,
}

impl<'a> Reader<'a> {
    /// Begins at the page that has `feature`. Columns below it may come first.
    pub(super) fn new(pages: &'a [Page], feature: u32, first_row: u32) -> Self {
        let before = pages.partition_point(|page| page.first <= feature);
        let mut reader = Self {
            pages: pages[before.saturating_sub(1)..].iter(),
            heads: &[],
            body: &[],
            next: 0,
            first_row,
            head: None,
        };
        reader.next_head();
        reader
    }

    /// The present column, if its feature is below `end`.
    #[inline(always)]
    pub(super) fn below(&self, end: u32) -> Option<(u32, usize)> {
        self.head.filter(|&(feature, _)| feature < end)
    }

    /// Moves to the next head. The entries must be read or skipped before, unless only heads matter.
    #[inline(always)]
    pub(super) fn next_head(&mut self) {
        if self.heads.is_empty() {
            let Some(page) = self.pages.next() else {
                self.head = None;
                return;
            };
            (self.heads, self.body) = page.bytes.split_at(page.heads);
            self.next = page.first;
        }
        let feature = self.next + number(&mut self.heads);
        self.next = feature.saturating_add(1);
        self.head = Some((feature, number(&mut self.heads) as usize));
    }

    /// Reads the entries of the present column.
    #[inline(always)]
    pub(super) fn take(&mut self, rows: &mut [u32], values: &mut [f64]) {
        let (mut body, mut next) = (self.body, self.first_row);
        for row in rows {
            *row = next.wrapping_add(number(&mut body));
            next = row.wrapping_add(1);
        }
        for place in values {
            *place = value(&mut body);
        }
        self.body = body;
        self.next_head();
    }

    /// Skips the `count` entries of the present column.
    pub(super) fn skip(&mut self, count: usize) {
        for _ in 0..count {
            number(&mut self.body);
        }
        for _ in 0..count {
            value(&mut self.body);
        }
        self.next_head();
    }
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;

    type Column = (u32, Vec<(u32, f64)>);

    fn columns() -> impl Strategy<Value = Vec<Column>> {
        let value = prop_oneof![
            (0..300u32).prop_map(f64::from),
            any::<f64>(),
            Just(-0.0),
            Just(f64::MAX)
        ];
        let entries = vec((any::<u32>(), value), 1..50).prop_map(|mut entries| {
            entries.sort_unstable_by_key(|entry| entry.0);
            entries.dedup_by_key(|entry| entry.0);
            entries
        });
        vec((any::<u32>(), entries), 0..50).prop_map(|mut columns| {
            columns.sort_unstable_by_key(|column| column.0);
            columns.dedup_by_key(|column| column.0);
            columns
        })
    }

    /// The columns of a run from `first` on, with the bits of their values.
    fn unpacked(run: &Run, first: u32) -> Vec<(u32, Vec<(u32, u64)>)> {
        let mut reader = Reader::new(&run.pages, first, 0);
        while let Some((_, count)) = reader.below(first) {
            reader.skip(count);
        }
        let mut found = Vec::new();
        while let Some((feature, count)) = reader.head {
            let (mut rows, mut values) = (vec![0; count], vec![0.0; count]);
            reader.take(&mut rows, &mut values);
            let bits = values.into_iter().map(f64::to_bits);
            found.push((feature, rows.into_iter().zip(bits).collect()));
        }
        found
    }

    proptest! {
        #[test]
        fn columns_come_back_to_the_bit(columns in columns(), first in any::<u32>()) {
            let mut packer = Packer::default();
            for (feature, entries) in &columns {
                packer.push(*feature, entries.iter().copied());
            }
            let expected: Vec<(u32, Vec<(u32, u64)>)> = columns
                .iter()
                .filter(|column| column.0 >= first)
                .map(|(feature, entries)| {
                    let bits = |&(row, value): &(u32, f64)| (row, value.to_bits());
                    (*feature, entries.iter().map(bits).collect())
                })
                .collect();
            prop_assert_eq!(unpacked(&packer.finish(0), first), expected);
        }
    }
}
