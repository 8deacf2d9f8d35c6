//! Data sets as svmlight text.

use std::borrow::Cow;
use std::collections::HashSet;
use std::io::{self, Write};

use rankrls_files::{push_integer, push_number};

use super::token::{LARGEST_INDEX, query_token};
use crate::data::dataset::Dataset;
use crate::data::names::IndexBase;
use crate::data::queries::Queries;

/// Bytes gathered before they are written.
const BUFFER: usize = 1 << 16;

pub(super) fn refused(message: String) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, message)
}

/// Writes `dataset` as svmlight text with query ids, rows in order.
///
/// Numbers have the fewest digits that read back to the same value, indices count as
/// [`Dataset::index_base`] says. A data set of one nameless query has no `qid`; several nameless
/// queries are numbered from 1. What the format does not hold is not written: names, empty
/// columns after the last that is used, and the order that the rows had before they were moved.
///
/// Allocates 12 bytes an entry and 8 a row, to have the entries by row.
pub fn write_svmlight(dataset: &Dataset<'_>, writer: impl Write) -> io::Result<()> {
    write_rows(dataset, dataset.index_base(), None, writer)
}

/// Writes `dataset` as [`write_svmlight`] does, with columns that count from `base`, and so that it reads
/// back as wide: the first row has a zero in the last column where no row has an entry there.
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

/// Writes all rows, the first with a zero in a `last` column that has no entry.
fn write_rows(
    dataset: &Dataset<'_>,
    base: IndexBase,
    last: Option<u32>,
    mut writer: impl Write,
) -> io::Result<()> {
    let stored = dataset.stored_columns().checked_sub(1);
    let largest = stored.map(|position| dataset.feature(position)).max(last);
    if let Some(index) = largest.map(|feature| base.written(feature))
        && index > LARGEST_INDEX
    {
        let message = format!("index {index} cannot be written: the largest is {LARGEST_INDEX}");
        return Err(refused(message));
    }
    let (queries, ids) = (dataset.queries(), ids(dataset.queries())?);
    let by_row = dataset.x().to_other_storage();
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
        let entries = by_row.outer_view(row);
        for (position, value) in entries.iter().flat_map(|entries| entries.iter()) {
            push_pair(&mut text, base.written(dataset.feature(position)), *value);
        }
        if let Some(last) = last.filter(|_| row == 0) {
            push_pair(&mut text, base.written(last), 0.0);
        }
        text.push(b'\n');
        if text.len() >= BUFFER {
            writer.write_all(&text)?;
            text.clear();
        }
    }
    writer.write_all(&text)?;
    writer.flush()
}

/// The identifier of each query, which must come back as a token; nameless queries are numbered from 1, a
/// single one has none.
fn ids(queries: &Queries) -> io::Result<Vec<Cow<'_, str>>> {
    let Some(ids) = queries.ids() else {
        let numbers = (1..=queries.len()).filter(|_| queries.len() > 1);
        return Ok(numbers.map(|number| number.to_string().into()).collect());
    };
    let mut seen = HashSet::new();
    ids.iter()
        .map(|id| {
            if query_token(id.as_bytes(), 0).is_err() {
                return Err(refused(format!("the query identifier {id:?} is no token")));
            }
            if !seen.insert(id) {
                return Err(refused(format!("two queries are called {id:?}")));
            }
            Ok(id.into())
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

    /// Data are read back: the same, and as wide.
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

    /// Two rows with these query identifiers, and a column that is not used.
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
                "q[a-zA-Z0-9:._é語-]{0,2}",
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
        for ids in [["1", "01"], ["+1", "2"], ["9223372036854775808", "-0"]] {
            check(&two(Some(ids)));
        }
    }

    #[test]
    fn what_would_not_come_back_is_refused() {
        for first in [
            "", "b", "a b", "a#", "a\n", "a\r", "NaN", "a\u{a0}", "a,1:2",
        ] {
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
