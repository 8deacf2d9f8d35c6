//! Data sets as svmlight text.

use std::borrow::Cow;
use std::collections::HashSet;
use std::io::{self, Write};
use std::ops::Range;

use rankrls_files::{escaped_id, push_integer, push_number, unescaped_id};

use super::number::checked;
use super::token::{LARGEST_INDEX, query_token};
use crate::data::dataset::Dataset;
use crate::data::names::IndexBase;
use crate::data::queries::Queries;

/// Bytes gathered before they are written.
const BUFFER: usize = 1 << 16;

/// Entries brought together by row at once, unless a row has more.
const AT_ONCE: usize = if cfg!(test) { 1 << 3 } else { 1 << 19 };

pub(super) fn refused(message: String) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, message)
}

/// Approximate bytes of writing `dataset`: the entries of the present rows, their starts in each column, and the
/// query identifiers.
pub fn writing_memory(dataset: &Dataset<'_>) -> u64 {
    // A row has at most an entry in each column.
    let at_once = AT_ONCE.max(dataset.stored_columns());
    let entries = size_of::<(u32, f64)>() * dataset.nonzeros().min(at_once);
    let (rows, queries) = (dataset.rows(), dataset.queries().len());
    let text = 4 * BUFFER;
    (entries + 4 * dataset.stored_columns() + 12 * rows + 72 * queries + text) as u64
}

/// Writes `dataset` as svmlight text with query ids, rows in order.
///
/// Numbers have the fewest digits that read back to the same value, and indices count as [`Dataset::index_base`]
/// says. A data set of one nameless query has no `qid`. Several nameless queries are numbered from 1. The format
/// cannot hold names, empty columns after the last used one, and the earlier order of moved rows.
///
/// Allocates [`writing_memory`], some megabytes or more.
pub fn write_svmlight(dataset: &Dataset<'_>, writer: impl Write) -> io::Result<()> {
    write_rows(dataset, dataset.index_base(), None, writer)
}

/// Writes `dataset` like [`write_svmlight`], with columns that count from `base`. It reads back with the same
/// width: if no row has an entry in the last column, the first row has a zero there.
pub fn write_svmlight_as_wide(
    dataset: &Dataset<'_>,
    base: IndexBase,
    writer: impl Write,
) -> io::Result<()> {
    // `Dataset` refuses widths past 32 bits.
    let before_end = dataset.width().checked_sub(1);
    let last = before_end.and_then(|last| u32::try_from(last).ok());
    let has_entry = |last: u32| {
        let position = dataset.position(last);
        position.is_some_and(|position| !dataset.column(position).rows.is_empty())
    };
    write_rows(dataset, base, last.filter(|&last| !has_entry(last)), writer)
}

/// Writes all rows. The first row has a zero in a `last` column without an entry.
fn write_rows(
    dataset: &Dataset<'_>,
    base: IndexBase,
    last: Option<u32>,
    mut writer: impl Write,
) -> io::Result<()> {
    let stored = dataset.stored_columns().checked_sub(1);
    let largest = stored.map(|position| dataset.feature(position)).max(last);
    if let Some(index) = largest.map(|feature| base.file_index(feature))
        && index > LARGEST_INDEX
    {
        let message = format!("index {index} cannot be written: the largest is {LARGEST_INDEX}");
        return Err(refused(message));
    }
    check_values(dataset, base)?;
    let (queries, ids) = (dataset.queries(), ids(dataset.queries())?);
    let mut by_row = ByRow::new(dataset);
    let mut text = Vec::with_capacity(2 * BUFFER);
    let mut query = 0;
    for row in 0..dataset.rows() {
        push_number(&mut text, dataset.labels()[row]);
        if row >= queries.range(query).end {
            query += 1;
        }
        if let Some(id) = ids.get(query) {
            text.extend_from_slice(b" qid:");
            text.extend_from_slice(id.as_bytes());
        }
        for &(position, value) in by_row.of(row) {
            push_pair(
                &mut text,
                base.file_index(dataset.feature(position as usize)),
                value,
            );
            // A row may be long.
            flush(&mut text, &mut writer)?;
        }
        if let Some(last) = last.filter(|_| row == 0) {
            push_pair(&mut text, base.file_index(last), 0.0);
        }
        text.push(b'\n');
        flush(&mut text, &mut writer)?;
    }
    writer.write_all(&text)?;
    writer.flush()
}

/// Refuses values that readers would not take back: marks of missing values, and values too large to compute with.
fn check_values(dataset: &Dataset<'_>, base: IndexBase) -> io::Result<()> {
    let lost = |value: f64| checked(value).is_err();
    if !dataset.columns.any(lost) {
        return Ok(());
    }
    for position in 0..dataset.stored_columns() {
        let mut entries = dataset.column(position).iter();
        if let Some((row, value)) = entries.find(|&(_, value)| lost(value)) {
            let row = dataset
                .input_rows()
                .map_or(row, |places| places[row] as usize);
            let feature = base.file_index(dataset.feature(position));
            return Err(refused(format!(
                "feature {feature} of row {row} is {value:e}, which is read as a missing value or as too large: \
                 expected other values (scale the column, or leave it out)"
            )));
        }
    }
    Ok(())
}

/// Writes the text, if there is enough of it.
#[inline]
fn flush(text: &mut Vec<u8>, writer: &mut impl Write) -> io::Result<()> {
    if text.len() >= BUFFER {
        writer.write_all(text)?;
        text.clear();
    }
    Ok(())
}

/// The entries of data by row, for some rows at once.
struct ByRow<'a> {
    dataset: &'a Dataset<'a>,
    /// Number of entries of each row.
    lengths: Vec<u32>,
    /// Number of taken entries of each column. It has at most one for each row.
    taken: Vec<u32>,
    /// The present rows.
    rows: Range<usize>,
    /// Where the entries of each present row begin, and where the last ends.
    starts: Vec<usize>,
    /// Positions of columns, ascending, and values.
    entries: Vec<(u32, f64)>,
}

impl<'a> ByRow<'a> {
    fn new(dataset: &'a Dataset<'a>) -> Self {
        let mut lengths = vec![0; dataset.rows()];
        for position in 0..dataset.stored_columns() {
            for &row in dataset.column(position).rows {
                lengths[row as usize] += 1;
            }
        }
        Self {
            dataset,
            lengths,
            taken: vec![0; dataset.stored_columns()],
            rows: 0..0,
            starts: vec![0],
            entries: Vec::new(),
        }
    }

    /// The entries of a row. Rows must be asked for in order.
    fn of(&mut self, row: usize) -> &[(u32, f64)] {
        if row == self.rows.end {
            self.advance();
        }
        let place = row - self.rows.start;
        &self.entries[self.starts[place]..self.starts[place + 1]]
    }

    /// Moves on to the next rows.
    fn advance(&mut self) {
        let first = self.rows.end;
        self.starts.truncate(1);
        let mut all = 0;
        for &length in &self.lengths[first..] {
            all += length as usize;
            if all > AT_ONCE && self.starts.len() > 1 {
                break;
            }
            self.starts.push(all);
        }
        self.rows = first..first + self.starts.len() - 1;
        let count = self.starts[self.starts.len() - 1];
        self.entries.clear();
        self.entries.reserve_exact(count);
        self.entries.resize(count, (0, 0.0));
        let mut next = self.starts.clone();
        // No data set has more columns than 32 bits count.
        for (taken, position) in self.taken.iter_mut().zip(0_u32..) {
            let column = self.dataset.column(position as usize);
            let first_left = *taken as usize;
            let (rows, values) = (&column.rows[first_left..], &column.values[first_left..]);
            let below = rows
                .iter()
                .take_while(|&&row| (row as usize) < self.rows.end);
            for (&row, &value) in below.zip(values) {
                let place = &mut next[row as usize - first];
                self.entries[*place] = (position, value);
                *place += 1;
                *taken += 1;
            }
        }
    }
}

/// The identifier of each query as a token, escaped if it would not read back. Nameless queries are numbered from
/// 1. A single nameless query has none.
fn ids(queries: &Queries) -> io::Result<Vec<Cow<'_, str>>> {
    let Some(ids) = queries.ids() else {
        let numbers = (1..=queries.len()).filter(|_| queries.len() > 1);
        return Ok(numbers.map(|number| number.to_string().into()).collect());
    };
    let mut seen = HashSet::new();
    ids.iter()
        .map(|id| {
            if id.is_empty() {
                return Err(refused("a query has an empty identifier".to_owned()));
            }
            if !seen.insert(id) {
                return Err(refused(format!("two queries are called {id:?}")));
            }
            let is_token = query_token(id.as_bytes(), 0).is_ok() && unescaped_id(id) == id;
            Ok(if is_token {
                id.into()
            } else {
                escaped_id(id).into()
            })
        })
        .collect()
}

fn push_pair(text: &mut Vec<u8>, index: u64, value: f64) {
    text.push(b' ');
    push_integer(text, index);
    text.push(b':');
    push_number(text, value);
}

#[cfg(test)]
mod tests {
    use proptest::collection::{btree_map, vec};
    use proptest::prelude::*;

    use super::super::options::ReadOptions;
    use super::*;
    use crate::data::{DataHash, Strings};

    /// Checks that data read back the same and as wide.
    fn check(data: &Dataset<'_>) {
        for base in [IndexBase::One, IndexBase::Zero] {
            let mut text = Vec::new();
            write_svmlight_as_wide(data, base, &mut text).unwrap();
            let options = ReadOptions::new().zero_based(base == IndexBase::Zero);
            let found = options.read_from(&text[..], "f").unwrap().dataset;
            assert_eq!(DataHash::of(&found), DataHash::of(data));
            assert_eq!(found.queries(), data.queries());
        }
    }

    #[test]
    fn values_that_readers_refuse_are_not_written() {
        let queries = || Queries::single(2).unwrap();
        for value in [
            1e300,
            -1e305,
            3.402_823_466_385_288_6e38,
            9.969_21e36,
            1e200,
        ] {
            let labels = vec![1.0, 0.0];
            let data = Dataset::from_csr(&[0, 1, 2], &[0, 1], &[2.0, value], 2, labels, queries());
            let error = write_svmlight(&data.unwrap(), Vec::new()).unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::InvalidInput);
            let text = format!("feature 2 of row 1 is {value:e}, which is read as a missing value");
            assert!(error.to_string().starts_with(&text), "{error}");
        }
        let sound = [-9e36, 1e-300];
        check(
            &Dataset::from_csr(&[0, 1, 2], &[0, 1], &sound, 2, vec![1.0, 0.0], queries()).unwrap(),
        );
    }

    /// Two rows with these query identifiers, and an unused column.
    fn two(ids: Option<[&str; 2]>) -> Dataset<'static> {
        let queries = match ids {
            None => Queries::single(2).unwrap(),
            Some(ids) => {
                let ids: Strings = ids.into_iter().collect();
                Queries::from_sizes(&[1, 1]).unwrap().with_ids(ids).unwrap()
            }
        };
        Dataset::from_csr(&[0, 1, 1], &[0], &[2.0], 2, vec![1.0, -0.0], queries).unwrap()
    }

    proptest! {
        #[test]
        fn any_data_set_reads_back(
            rows in vec((
                prop::num::f64::NORMAL | prop::num::f64::ZERO,
                btree_map(prop_oneof![0..50u32, 0..5000u32], -1e30..1e30f64, 0..6),
                "q[a-zA-Z0-9:._é語 #{}\\\\u\u{a0}\n-]{0,4}",
            ), 1..12),
            named: bool,
            empty in 0..3usize,
        ) {
            let mut rows = rows;
            rows.sort_by(|a, b| a.2.cmp(&b.2));
            let (mut bounds, mut columns, mut values) = (vec![0], Vec::new(), Vec::new());
            for (_, row, _) in &rows {
                columns.extend(row.keys());
                values.extend(row.values().map(|value| if *value == 0.0 { 1e-300 } else { *value }));
                bounds.push(columns.len());
            }
            let ids: Vec<&str> = rows.iter().map(|row| &*row.2).collect();
            let queries = if named {
                Queries::from_row_ids(&ids)
            } else {
                Queries::single(rows.len())
            };
            let width = columns.iter().max().map_or(0, |&last| last as usize + 1) + empty;
            let labels: Vec<f64> = rows.iter().map(|row| row.0).collect();
            check(&Dataset::from_csr(&bounds, &columns, &values, width, labels, queries.unwrap()).unwrap());
        }
    }

    #[test]
    fn identifiers_keep_their_spelling() {
        for ids in [
            ["1", "01"],
            ["+1", "2"],
            ["9223372036854775808", "-0"],
            ["a b", "a\u{a0}b"],
            ["a#", "#"],
            ["a\n", "a\r"],
            ["NaN", "?"],
            ["a,1:2", "a_1:0"],
            ["\\u{3a}", ":"],
        ] {
            check(&two(Some(ids)));
        }
    }

    #[test]
    fn what_would_not_come_back_is_refused() {
        for first in ["", "b"] {
            let ids = [first, "b"];
            let error = write_svmlight(&two(Some(ids)), io::sink()).unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::InvalidInput, "{error}");
        }
    }

    #[test]
    fn the_width_is_told_by_a_zero() {
        let mut text = Vec::new();
        write_svmlight_as_wide(&two(None), IndexBase::One, &mut text).unwrap();
        assert_eq!(String::from_utf8(text).unwrap(), "1 1:2 2:0\n-0\n");
    }
}
