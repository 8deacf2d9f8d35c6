//! Data sets as text: rows on their way to a file, and the tokens in them.

use std::borrow::Cow;
use std::collections::HashSet;
use std::io::{self, Write};

use sprs::CsMatI;

use super::token::LARGEST_INDEX;
use crate::data::{Dataset, IndexBase, Queries};
use rankrls_files::{push_integer, push_number};

/// Bytes gathered before they are written.
const BUFFER: usize = 1 << 16;

pub(super) fn refused(message: String) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, message)
}

/// The identifier of each query, all different, none empty and none with a `forbidden`
/// character; nameless queries are numbered from 1.
pub(super) fn tokens<'q>(
    queries: &'q Queries,
    forbidden: &[char],
) -> io::Result<Vec<Cow<'q, str>>> {
    let Some(ids) = queries.ids() else {
        let numbers = 1..=queries.len();
        return Ok(numbers.map(|number| number.to_string().into()).collect());
    };
    let mut seen = HashSet::new();
    ids.iter()
        .map(|id| {
            if id.is_empty() || id.contains(forbidden) {
                return Err(refused(format!("the query identifier {id:?} is no token")));
            }
            if !seen.insert(id) {
                return Err(refused(format!("two queries are called {id:?}")));
            }
            Ok(id.into())
        })
        .collect()
}

/// Lines on their way.
pub(super) struct Lines<W> {
    pub(super) text: Vec<u8>,
    writer: W,
}

impl<W: Write> Lines<W> {
    pub(super) fn new(writer: W) -> Self {
        Self {
            text: Vec::with_capacity(2 * BUFFER),
            writer,
        }
    }

    pub(super) fn end(&mut self) -> io::Result<()> {
        self.text.push(b'\n');
        if self.text.len() >= BUFFER {
            self.writer.write_all(&self.text)?;
            self.text.clear();
        }
        Ok(())
    }

    pub(super) fn finish(mut self) -> io::Result<()> {
        self.writer.write_all(&self.text)?;
        self.writer.flush()
    }
}

/// The entries of a data set by row.
pub(super) struct Rows<'a> {
    pub(super) dataset: &'a Dataset<'a>,
    base: IndexBase,
    by_row: CsMatI<f64, u32, usize>,
    /// The last column, if the file is to tell and would not otherwise.
    last: Option<u32>,
}

impl<'a> Rows<'a> {
    pub(super) fn new(dataset: &'a Dataset<'a>, base: IndexBase) -> io::Result<Self> {
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

    pub(super) fn with_width(mut self) -> io::Result<Self> {
        let dataset = self.dataset;
        // `Dataset` refuses widths past 32 bits.
        let before_end = dataset.width().checked_sub(1);
        let last = before_end.and_then(|last| u32::try_from(last).ok());
        let has_entry = |last: u32| {
            let position = dataset.position(last);
            position.is_some_and(|position| !dataset.column(position).rows.is_empty())
        };
        self.last = last.filter(|&last| !has_entry(last));
        self.last
            .map_or(Ok(()), |last| check_index(self.base.written(last)))?;
        Ok(self)
    }

    /// Writes every row after what `begin` puts before it.
    pub(super) fn write(
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
pub(super) fn push_pair(text: &mut Vec<u8>, start: usize, index: u64, value: f64) {
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
