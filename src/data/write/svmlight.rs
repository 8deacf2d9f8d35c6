//! Data sets as text: svmlight, and RLScore's triplets.

use std::io::{self, Write};

use sprs::CsMatI;

use super::{refused, tokens};
use crate::data::read::LARGEST_INDEX;
use crate::data::{Dataset, IndexBase};
use rankrls_files::{push_integer, push_number};

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
pub fn write_svmlight(dataset: &Dataset<'_>, writer: impl Write) -> io::Result<()> {
    Rows::new(dataset, dataset.index_base())?.write_svmlight(writer)
}

/// As [`write_svmlight`], with indices that count from `base`, and with the width: where the last
/// column has no entry, the first row has a zero there.
///
/// # Errors
/// As [`write_svmlight`].
pub fn write_whole_svmlight(
    dataset: &Dataset<'_>,
    base: IndexBase,
    writer: impl Write,
) -> io::Result<()> {
    let rows = Rows::new(dataset, base)?.with_width()?;
    rows.write_svmlight(writer)
}

/// Writes the entries of `dataset` as RLScore's file `.features`, with the width as
/// [`write_whole_svmlight`] has it. Allocates 12 bytes an entry and 8 a row.
///
/// # Errors
/// Those of `writer`.
pub fn write_features(dataset: &Dataset<'_>, writer: impl Write) -> io::Result<()> {
    let rows = Rows::new(dataset, IndexBase::Zero)?.with_width()?;
    rows.write(writer, |_, _| {})
}

/// Writes the labels one a line, as RLScore's file `.labels`.
///
/// # Errors
/// Those of `writer`.
pub fn write_labels(dataset: &Dataset<'_>, writer: impl Write) -> io::Result<()> {
    let mut lines = Lines::new(writer);
    for &label in dataset.labels() {
        push_number(&mut lines.text, label);
        lines.end()?;
    }
    lines.finish()
}

/// Writes the query of each row on a line, as RLScore's file `.qids`; nameless queries are
/// numbered from 1.
///
/// # Errors
/// Those of `writer`; [`io::ErrorKind::InvalidInput`] when a query identifier comes twice or is
/// no token.
pub fn write_query_ids(dataset: &Dataset<'_>, writer: impl Write) -> io::Result<()> {
    let ids = tokens(dataset.queries(), &[' ', '\t', '\r', '\n'])?;
    let mut lines = Lines::new(writer);
    for (id, rows) in ids.iter().zip(dataset.queries().ranges()) {
        for _ in rows {
            lines.text.extend_from_slice(id.as_bytes());
            lines.end()?;
        }
    }
    lines.finish()
}

/// Lines on their way.
struct Lines<W> {
    text: Vec<u8>,
    writer: W,
}

impl<W: Write> Lines<W> {
    fn new(writer: W) -> Self {
        Self {
            text: Vec::with_capacity(2 * BUFFER),
            writer,
        }
    }

    fn end(&mut self) -> io::Result<()> {
        self.text.push(b'\n');
        if self.text.len() >= BUFFER {
            self.writer.write_all(&self.text)?;
            self.text.clear();
        }
        Ok(())
    }

    fn finish(mut self) -> io::Result<()> {
        self.writer.write_all(&self.text)?;
        self.writer.flush()
    }
}

/// The entries of a data set by row.
struct Rows<'a> {
    dataset: &'a Dataset<'a>,
    base: IndexBase,
    by_row: CsMatI<f64, u32, usize>,
    /// The last column, if the file is to tell and would not otherwise.
    last: Option<u32>,
}

impl<'a> Rows<'a> {
    fn new(dataset: &'a Dataset<'a>, base: IndexBase) -> io::Result<Self> {
        if let Some(last) = dataset.stored_columns().checked_sub(1) {
            check_index(base.written(dataset.feature(last)))?;
        }
        Ok(Self {
            dataset,
            base,
            by_row: dataset.x().to_other_storage(),
            last: None,
        })
    }

    fn with_width(mut self) -> io::Result<Self> {
        let dataset = self.dataset;
        // `Dataset` refuses widths past 32 bits.
        let last = dataset.width().checked_sub(1).map(|last| last as u64);
        let last = last.and_then(|last| u32::try_from(last).ok());
        let has_entry = |last: u32| {
            let position = dataset.position(last);
            position.is_some_and(|position| !dataset.column(position).rows.is_empty())
        };
        self.last = last.filter(|&last| !has_entry(last));
        self.last
            .map_or(Ok(()), |last| check_index(self.base.written(last)))?;
        Ok(self)
    }

    fn write_svmlight(&self, writer: impl Write) -> io::Result<()> {
        let queries = self.dataset.queries();
        let named = queries.ids().is_some() || queries.len() > 1;
        let ids = if named {
            tokens(queries, &[' ', '\t', '\r', '\n', '#'])?
        } else {
            Vec::new()
        };
        let mut query = 0;
        self.write(writer, |text, row| {
            push_number(text, self.dataset.labels()[row]);
            if row >= queries.range(query).end {
                query += 1;
            }
            if let Some(id) = ids.get(query) {
                text.extend_from_slice(b" qid:");
                text.extend_from_slice(id.as_bytes());
            }
        })
    }

    /// Writes every row after what `begin` puts before it.
    fn write(
        &self,
        writer: impl Write,
        mut begin: impl FnMut(&mut Vec<u8>, usize),
    ) -> io::Result<()> {
        let mut lines = Lines::new(writer);
        for row in 0..self.dataset.rows() {
            let start = lines.text.len();
            begin(&mut lines.text, row);
            let entries = self.by_row.outer_view(row);
            for (position, value) in entries.iter().flat_map(|entries| entries.iter()) {
                let index = self.base.written(self.dataset.feature(position));
                push_pair(&mut lines.text, start, index, *value);
            }
            if let Some(last) = self.last.filter(|_| row == 0) {
                push_pair(&mut lines.text, start, self.base.written(last), 0.0);
            }
            lines.end()?;
        }
        lines.finish()
    }
}

/// Writes a pair, after a blank unless the line has just begun at `start`.
fn push_pair(text: &mut Vec<u8>, start: usize, index: u64, value: f64) {
    if text.len() > start {
        text.push(b' ');
    }
    push_integer(text, index);
    text.push(b':');
    push_number(text, value);
}

fn check_index(index: u64) -> io::Result<()> {
    if index <= LARGEST_INDEX {
        return Ok(());
    }
    Err(refused(format!(
        "index {index} cannot be written: the largest is {LARGEST_INDEX}"
    )))
}

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;

    use proptest::collection::{btree_map, vec};
    use proptest::prelude::*;

    use super::super::write_names;
    use super::*;
    use crate::data::read::{ReadOptions, read_names};
    use crate::data::{FeatureNames, Queries, Strings};

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
