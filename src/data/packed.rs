//! Columns in few bytes: on their way from rows to columns, and in files.
//!
//! A page has columns one after the other. Their heads stand together, so that they can be counted
//! without looking at entries: how far the feature is from the one before, and how many entries there
//! are. Entries follow in the body, rows first, each as its distance from the one before. Whole
//! numbers from 1 to 254 take a byte as values, others a byte and the eight of the float; all other
//! numbers are written seven bits at a time. An entry of a corpus of parses takes about three bytes.

use rayon::prelude::*;

use super::transpose::Rows;

/// Bytes of a body from which on a page is full.
const FULL: usize = if cfg!(test) { 1 << 6 } else { 1 << 14 };

/// Bits by which entries are sorted at a time.
const DIGIT: u32 = 12;

/// Entries of rows that are sorted at once.
const SORTED: usize = if cfg!(test) { 1 << 9 } else { 1 << 17 };

/// Columns one after the other, features ascending.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Page {
    /// The first feature.
    pub(crate) first: u32,
    pub(crate) columns: u32,
    pub(crate) entries: u64,
    pub(crate) heads: Vec<u8>,
    pub(crate) body: Vec<u8>,
}

/// Packs columns whose features ascend.
#[derive(Debug, Default)]
pub(crate) struct Packer {
    page: Page,
    /// One more than the last feature of the page.
    next: u32,
}

impl Packer {
    /// Adds a column that has an entry; returns the page if it is full.
    pub(crate) fn push(
        &mut self,
        feature: u32,
        entries: impl ExactSizeIterator<Item = (u32, f64)> + Clone,
    ) -> Option<Page> {
        let page = &mut self.page;
        if page.columns == 0 {
            (page.first, self.next) = (feature, feature);
        }
        let count = entries.len();
        push_number(&mut page.heads, feature - self.next);
        // Rows count in 32 bits.
        push_number(&mut page.heads, u32::try_from(count).unwrap_or(u32::MAX));
        let mut next = 0;
        for (row, _) in entries.clone() {
            push_number(&mut page.body, row - next);
            next = row.saturating_add(1);
        }
        for (_, value) in entries {
            push_value(&mut page.body, value);
        }
        page.columns += 1;
        page.entries += count as u64;
        // No data set has 2^32 columns.
        self.next = feature.saturating_add(1);
        (page.body.len() >= FULL).then(|| self.take())
    }

    /// The page with the columns since the last.
    pub(crate) fn take(&mut self) -> Page {
        let mut page = std::mem::take(&mut self.page);
        page.heads.shrink_to_fit();
        page.body.shrink_to_fit();
        page
    }
}

/// Bytes that entries with these values take, about: two for the row and its share of the head.
pub(super) fn bytes(values: &[f64]) -> u64 {
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

/// The byte of a value that takes one.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "checked to be the same number"
)]
fn small(value: f64) -> Option<u8> {
    let small = value as u8;
    (f64::from(small) == value && (1..=254).contains(&small)).then_some(small)
}

/// Takes a number off; none where the bytes end.
#[inline(always)]
fn number(bytes: &mut &[u8]) -> Option<u32> {
    let (&first, rest) = bytes.split_first()?;
    *bytes = rest;
    let mut number = u32::from(first & 127);
    let (mut last, mut shift) = (first, 7);
    while last >= 128 {
        last = *bytes.split_off_first()?;
        number |= u32::from(last & 127).checked_shl(shift)?;
        shift += 7;
    }
    Some(number)
}

#[inline(always)]
fn value(bytes: &mut &[u8]) -> Option<f64> {
    match *bytes.split_off_first()? {
        0 => {
            let (value, rest) = bytes.split_first_chunk()?;
            *bytes = rest;
            Some(f64::from_le_bytes(*value))
        }
        small => Some(f64::from(small)),
    }
}

/// Walks the columns of a page. What is said of bytes that are no page is nonsense, and not more
/// than the page is long.
#[derive(Debug, Clone, Default)]
pub(crate) struct Columns<'a> {
    heads: &'a [u8],
    body: &'a [u8],
    next: u32,
}

impl<'a> Columns<'a> {
    pub(crate) fn new(page: &'a Page) -> Self {
        Self {
            heads: &page.heads,
            body: &page.body,
            next: page.first,
        }
    }

    /// Feature and number of entries of the next column; its entries come next, unless all that is
    /// wanted is heads.
    pub(crate) fn head(&mut self) -> Option<(u32, usize)> {
        let feature = self.next.checked_add(number(&mut self.heads)?)?;
        let count = number(&mut self.heads)? as usize;
        self.next = feature.saturating_add(1);
        Some((feature, count))
    }

    /// The entries of the column of the last head, in rows from `first` on.
    pub(crate) fn entries(
        &mut self,
        first: u32,
        rows: &mut [u32],
        values: &mut [f64],
    ) -> Option<()> {
        let mut body = self.body;
        let mut next = first;
        for row in rows {
            *row = next.checked_add(number(&mut body)?)?;
            next = row.wrapping_add(1);
        }
        for place in values {
            *place = value(&mut body)?;
        }
        self.body = body;
        Some(())
    }
}

/// Rows that were packed by columns.
#[derive(Debug, Default)]
pub(crate) struct Run {
    pub(crate) rows: usize,
    pub(crate) entries: usize,
    pub(crate) pages: Vec<Page>,
}

#[derive(Debug, Clone, Copy, Default)]
struct Entry {
    column: u32,
    row: u32,
    value: f64,
}

impl Run {
    pub(crate) fn new(rows: Rows<'_>) -> Self {
        let entries = by_column(rows);
        let (mut packer, mut pages) = (Packer::default(), Vec::new());
        for column in entries.chunk_by(|a, b| a.column == b.column) {
            let own = column.iter().map(|entry| (entry.row, entry.value));
            pages.extend(packer.push(column[0].column, own));
        }
        let rest = packer.take();
        pages.extend((rest.columns > 0).then_some(rest));
        Self {
            rows: rows.ends.len(),
            entries: entries.len(),
            pages,
        }
    }

    /// Cuts rows into runs of some entries each.
    pub(crate) fn cut(rows: Rows<'_>) -> Vec<Rows<'_>> {
        let mut cut = Vec::new();
        let (mut first, mut start) = (0, 0);
        while first < rows.ends.len() {
            let later = &rows.ends[first..];
            let count = later.partition_point(|&end| end - start <= SORTED).max(1);
            let end = later[count - 1];
            cut.push(Rows {
                ends: &later[..count],
                indices: &rows.indices[..end],
                values: &rows.values[..end],
                start,
            });
            (first, start) = (first + count, end);
        }
        cut
    }

    /// Bytes held.
    pub(crate) fn memory(&self) -> usize {
        let of_page = |page: &Page| page.heads.len() + page.body.len() + size_of::<Page>();
        self.pages.iter().map(of_page).sum()
    }

    /// Bytes held here and in the columns that are made of it.
    pub(crate) fn memory_with_columns(&self) -> usize {
        self.memory() + self.entries * (size_of::<u32>() + size_of::<f64>())
    }
}

/// The entries of rows by column and row: sorted by the digits of the column, the lowest first.
fn by_column(rows: Rows<'_>) -> Vec<Entry> {
    let mut entries = Vec::with_capacity(rows.indices.len() - rows.start);
    for ((indices, values), row) in rows.iter().zip(0..) {
        let own = indices.iter().zip(values);
        entries.extend(own.map(|(&column, &value)| Entry { column, row, value }));
    }
    let last = entries.iter().map(|entry| entry.column).max().unwrap_or(0);
    let mut sorted = vec![Entry::default(); entries.len()];
    for shift in (0..u32::BITS - last.leading_zeros()).step_by(DIGIT as usize) {
        let digit = |entry: &Entry| (entry.column >> shift) as usize & ((1 << DIGIT) - 1);
        let mut places = vec![0u32; 1 << DIGIT];
        for entry in &entries {
            places[digit(entry)] += 1;
        }
        let mut place = 0;
        for count in &mut places {
            place += std::mem::replace(count, place);
        }
        for entry in &entries {
            let place = &mut places[digit(entry)];
            sorted[*place as usize] = *entry;
            *place += 1;
        }
        std::mem::swap(&mut entries, &mut sorted);
    }
    entries
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

    fn unpacked(page: &Page) -> Vec<Column> {
        let mut columns = Columns::new(page);
        let mut found = Vec::new();
        while let Some((feature, count)) = columns.head() {
            let (mut rows, mut values) = (vec![0; count], vec![0.0; count]);
            columns.entries(0, &mut rows, &mut values).unwrap();
            found.push((feature, rows.into_iter().zip(values).collect()));
        }
        found
    }

    proptest! {
        #[test]
        fn columns_come_back_to_the_bit(columns in columns()) {
            let mut packer = Packer::default();
            let mut pages = Vec::new();
            for (feature, entries) in &columns {
                pages.extend(packer.push(*feature, entries.iter().copied()));
            }
            pages.push(packer.take());
            let bits = |columns: &[Column]| -> Vec<(u32, Vec<(u32, u64)>)> {
                let entry = |&(row, value): &(u32, f64)| (row, value.to_bits());
                let column = |(feature, entries): &Column| (*feature, entries.iter().map(entry).collect());
                columns.iter().map(column).collect()
            };
            let found: Vec<Column> = pages.iter().flat_map(unpacked).collect();
            prop_assert_eq!(bits(&found), bits(&columns));
        }

        #[test]
        fn bytes_that_are_no_page_end_somewhere(heads in vec(any::<u8>(), 0..40), body in vec(any::<u8>(), 0..40)) {
            let page = Page { heads, body, ..Page::default() };
            let mut columns = Columns::new(&page);
            while let Some((_, count)) = columns.head() {
                let count = count.min(100);
                if columns.entries(0, &mut vec![0; count], &mut vec![0.0; count]).is_none() {
                    break;
                }
            }
        }
    }
}
