//! Data sets and names as files that the readers take back unchanged.

use std::collections::HashSet;
use std::io::{self, Write};

use super::read::LARGEST_INDEX;
use super::transpose::{Row, RowBlock};
use super::{Dataset, FeatureNames, IndexBase, Queries};

/// Bytes gathered before they are written.
const BUFFER: usize = 1 << 16;

/// Writes `dataset` as svmlight text with query ids, rows in order.
///
/// Numbers have the fewest digits that read back to the same value, indices count as
/// [`Dataset::index_base`] says. A data set of one nameless query has no `qid`; several nameless
/// queries are numbered from 1. What the format does not hold is not written: names, empty
/// columns after the last that is used, and the order that the rows had before they were moved.
///
/// Allocates 12 bytes an entry and 8 a row, to have the entries by row.
///
/// # Errors
/// Those of `writer`; [`io::ErrorKind::InvalidInput`] when a query identifier comes twice or is
/// no token (empty, or with a blank, line end or `#`), or an index is over 2^32 - 2.
pub fn write_svmlight(dataset: &Dataset<'_>, mut writer: impl Write) -> io::Result<()> {
    let base = dataset.index_base();
    if let Some(last) = dataset.stored_columns().checked_sub(1) {
        check_index(base.written(dataset.feature(last)))?;
    }
    let ids = row_prefixes(dataset.queries())?;
    let block = by_row(dataset);
    let mut text = Vec::with_capacity(2 * BUFFER);
    for (query, range) in dataset.queries().ranges().enumerate() {
        let id = ids.get(query).map_or("", String::as_str);
        for row in range {
            push_number(&mut text, dataset.labels()[row]);
            text.extend_from_slice(id.as_bytes());
            push_pairs(&mut text, block.rows().row(row), base);
            if text.len() >= BUFFER {
                writer.write_all(&text)?;
                text.clear();
            }
        }
    }
    writer.write_all(&text)?;
    writer.flush()
}

fn push_pairs(text: &mut Vec<u8>, row: Row<'_>, base: IndexBase) {
    for (feature, value) in row.iter() {
        text.push(b' ');
        push_integer(text, base.written(feature));
        text.push(b':');
        push_number(text, value);
    }
    text.push(b'\n');
}

/// Writes names one a line.
///
/// # Errors
/// Those of `writer`; [`io::ErrorKind::InvalidInput`] for a name with a line end in it.
pub fn write_names(names: &FeatureNames, mut writer: impl Write) -> io::Result<()> {
    for name in names.iter() {
        if name.contains('\n') || name.ends_with('\r') {
            return Err(refused(format!(
                "the feature name {name:?} does not fit on a line"
            )));
        }
        writer.write_all(name.as_bytes())?;
        writer.write_all(b"\n")?;
    }
    writer.flush()
}

fn refused(message: String) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, message)
}

fn check_index(index: u64) -> io::Result<()> {
    if index <= LARGEST_INDEX {
        return Ok(());
    }
    Err(refused(format!(
        "index {index} cannot be written: the largest is {LARGEST_INDEX}"
    )))
}

/// What the rows of each query have after their labels; nothing for one nameless query.
fn row_prefixes(queries: &Queries) -> io::Result<Vec<String>> {
    let Some(ids) = queries.ids() else {
        let numbers = (1..=queries.len()).filter(|_| queries.len() > 1);
        return Ok(numbers.map(|number| format!(" qid:{number}")).collect());
    };
    let mut seen = HashSet::new();
    ids.iter()
        .map(|id| {
            if id.is_empty() || id.contains([' ', '\t', '\r', '\n', '#']) {
                return Err(refused(format!("the query identifier {id:?} is no token")));
            }
            if !seen.insert(id) {
                return Err(refused(format!("two queries are called {id:?}")));
            }
            Ok(format!(" qid:{id}"))
        })
        .collect()
}

/// The entries by row, features ascending.
fn by_row(dataset: &Dataset<'_>) -> RowBlock {
    let mut ends = vec![0; dataset.rows()];
    for position in 0..dataset.stored_columns() {
        for &row in dataset.column(position).rows {
            ends[row as usize] += 1;
        }
    }
    // Each row's place to fill: its beginning now, its end when it is full.
    let mut entries = 0;
    for end in &mut ends {
        entries += std::mem::replace(end, entries);
    }
    let mut indices = vec![0; entries];
    let mut values = vec![0.0; entries];
    for position in 0..dataset.stored_columns() {
        let feature = dataset.feature(position);
        for (row, value) in dataset.column(position).iter() {
            indices[ends[row]] = feature;
            values[ends[row]] = value;
            ends[row] += 1;
        }
    }
    RowBlock {
        ends,
        indices,
        values,
    }
}

/// A whole number in decimal digits.
pub(crate) fn push_integer(text: &mut Vec<u8>, mut number: u64) {
    let start = text.len();
    loop {
        text.push(b'0' + (number % 10) as u8);
        number /= 10;
        if number == 0 {
            break;
        }
    }
    text[start..].reverse();
}

/// The shortest decimal that reads back as `number`.
pub(crate) fn push_number(text: &mut Vec<u8>, number: f64) {
    let magnitude = number.abs();
    if magnitude < 1e15 && magnitude.fract() == 0.0 {
        if number.is_sign_negative() {
            text.push(b'-');
        }
        // An integer below 10^15.
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
        push_integer(text, magnitude as u64);
        return;
    }
    let written = if (1e-5..1e16).contains(&magnitude) {
        write!(text, "{number}")
    } else {
        write!(text, "{number:e}")
    };
    // A vector takes all that is written to it.
    debug_assert!(written.is_ok());
}

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;

    use proptest::collection::{btree_map, vec};
    use proptest::prelude::*;

    use super::super::Strings;
    use super::super::read::{ReadOptions, read_names};
    use super::*;

    fn written(dataset: &Dataset<'_>) -> String {
        let mut text = Vec::new();
        write_svmlight(dataset, &mut text).unwrap();
        String::from_utf8(text).unwrap()
    }

    fn read(text: &str, base: IndexBase) -> Dataset<'static> {
        let options = ReadOptions::new().zero_based(base == IndexBase::Zero);
        options.read_from(text.as_bytes(), "f").unwrap().dataset
    }

    #[test]
    fn numbers_are_as_short_as_they_can_be() {
        for (number, text) in [
            (0.0, "0"),
            (-0.0, "-0"),
            (1.0, "1"),
            (-20.0, "-20"),
            (0.1, "0.1"),
            (-2.5, "-2.5"),
            (1e14, "100000000000000"),
            (1e300, "1e300"),
            (1.5e-7, "1.5e-7"),
            (f64::MIN_POSITIVE, "2.2250738585072014e-308"),
        ] {
            let mut bytes = Vec::new();
            push_number(&mut bytes, number);
            assert_eq!(String::from_utf8(bytes).unwrap(), text);
        }
    }

    #[test]
    fn what_was_read_is_written() {
        for (base, text) in [
            (IndexBase::One, "1 qid:a 1:0.5 4000000000:2\n-2.5 qid:b\n"),
            (IndexBase::One, "1 1:1\n2\n"),
            (IndexBase::One, "1 qid:x\n"),
            (IndexBase::One, "1 4294967294:1\n"),
            (IndexBase::Zero, "1 0:1 4294967294:1\n"),
        ] {
            assert_eq!(written(&read(text, base)), text);
        }
    }

    #[test]
    fn nameless_queries_are_numbered() {
        let queries = Queries::from_sizes(&[1, 2]).unwrap();
        let data = Dataset::from_csr(&[0; 4], &[], &[], 0, vec![1.0, 2.0, 3.0], queries).unwrap();
        assert_eq!(written(&data), "1 qid:1\n2 qid:2\n3 qid:2\n");
    }

    #[test]
    fn what_would_not_read_back_is_refused() {
        let error = |ids: &[&str]| {
            let ids: Strings = ids.iter().collect();
            let queries = Queries::from_sizes(&vec![1; ids.len()]).unwrap();
            let queries = queries.with_ids(ids).unwrap();
            let (bounds, labels) = (vec![0; queries.rows() + 1], vec![0.0; queries.rows()]);
            let data = Dataset::from_csr(&bounds, &[], &[], 0, labels, queries).unwrap();
            write_svmlight(&data, io::sink()).unwrap_err()
        };
        for ids in [
            &[""][..],
            &["a b"],
            &["a#"],
            &["a\n"],
            &["a\r"],
            &["a", "b", "a"],
        ] {
            assert_eq!(error(ids).kind(), io::ErrorKind::InvalidInput, "{ids:?}");
        }
        let last = u32::MAX - 1;
        let queries = Queries::single(1).unwrap();
        let width = u32::MAX as usize;
        let data = Dataset::from_csr(&[0, 1], &[last], &[1.0], width, vec![0.0], queries).unwrap();
        assert!(write_svmlight(&data, io::sink()).is_err());
        let zero_based = data.with_index_base(IndexBase::Zero);
        assert!(write_svmlight(&zero_based, io::sink()).is_ok());
        let names: FeatureNames = ["a\nb"].into_iter().collect();
        assert!(write_names(&names, io::sink()).is_err());
    }

    #[test]
    fn names_read_back() {
        let names: FeatureNames = ["a b", "", "ü\rx"].into_iter().collect();
        let file = tempfile::NamedTempFile::new().unwrap();
        write_names(&names, &file).unwrap();
        assert_eq!(read_names(file.path(), None).unwrap(), names);
    }

    /// Feature, row and bits of every entry.
    fn entries(data: &Dataset<'_>) -> Vec<(u32, usize, u64)> {
        let column = |position| {
            let entries = data.column(position).iter();
            entries.map(move |(row, value)| (data.feature(position), row, value.to_bits()))
        };
        (0..data.stored_columns()).flat_map(column).collect()
    }

    fn label_bits(data: &Dataset<'_>) -> Vec<u64> {
        data.labels().iter().map(|label| label.to_bits()).collect()
    }

    proptest! {
        #[test]
        fn any_data_set_reads_back(
            rows in vec(
                (
                    prop::num::f64::NORMAL | prop::num::f64::ZERO,
                    btree_map(0..5000u32, prop::num::f64::NORMAL | prop::num::f64::SUBNORMAL, 0..9),
                    any::<bool>(),
                ),
                1..20,
            ),
            zero: bool,
        ) {
            let mut text = String::new();
            let mut query = 0;
            for (label, entries, next) in rows {
                query += u32::from(next);
                write!(text, "{label} qid:{query}").unwrap();
                for (index, value) in entries {
                    write!(text, " {}:{value:e}", index + u32::from(!zero)).unwrap();
                }
                text.push('\n');
            }
            let base = if zero { IndexBase::Zero } else { IndexBase::One };
            let data = read(&text, base);
            let again = read(&written(&data), base);
            prop_assert_eq!(entries(&again), entries(&data));
            prop_assert_eq!(label_bits(&again), label_bits(&data));
            prop_assert_eq!(again.queries(), data.queries());
            prop_assert_eq!(again.width(), data.width());
        }
    }
}
