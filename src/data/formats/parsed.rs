//! The rows of a chunk of svmlight text.

use rankrls_files::error::{Fault, ReadErrorKind};
use rankrls_files::text::without_comment;
use rankrls_files::{Strings, text, unescaped_id};

use super::token::{self, LARGEST_INDEX};
use crate::data::packed::{RowPacker, Run};

/// The rules for the lines of a file.
#[derive(Debug, Clone, Copy)]
pub(super) struct Grammar {
    /// The index of the first column, 0 or 1.
    pub(super) first: u32,
    /// Columns from this one on are dropped.
    pub(super) width: Option<usize>,
    /// The number to read for a missing value.
    pub(super) missing: Option<f64>,
    /// Whether rows may lack their label, which is then 0.
    pub(super) unlabelled: bool,
}

/// A run of rows with the same query identifier.
#[derive(Debug, Clone, Copy)]
pub(super) struct QueryRun {
    pub(super) rows: usize,
    /// Line of the first row, counted from 1 in the chunk.
    pub(super) line: u64,
    /// Position of the identifier in that line.
    pub(super) at: usize,
}

/// The rows of a chunk, up to its first bad line.
#[derive(Debug, Default)]
pub(super) struct Parsed {
    pub(super) rows: usize,
    pub(super) lines: u64,
    packer: RowPacker,
    /// The entries.
    pub(super) runs: Vec<Run>,
    pub(super) labels: Vec<f64>,
    /// Identifiers of the runs.
    pub(super) ids: Strings,
    pub(super) query_runs: Vec<QueryRun>,
    /// The line of the first row without an identifier, counted from 1 in the chunk, and the fault of the text in
    /// its place.
    pub(super) first_nameless: Option<(u64, Fault)>,
    /// One more than the last column.
    pub(super) width: usize,
    pub(super) dropped_entries: u64,
    /// Ascending.
    pub(super) dropped_columns: Vec<u32>,
    /// The fault of the last of the `lines`.
    pub(super) fault: Option<Fault>,
}

impl Parsed {
    /// Reads `text`: whole lines, of which the last may lack its end.
    pub(super) fn parse(text: &[u8], grammar: Grammar) -> Self {
        // Every entry has a colon.
        let entries = memchr::memchr_iter(b':', text).count();
        let mut parsed = Self {
            packer: RowPacker::with_room(entries),
            ..Self::default()
        };
        let plain = text::is_plain(text);
        for line in text::lines(text) {
            parsed.lines += 1;
            let line = if plain { Ok(line) } else { text::checked(line) };
            parsed.fault = line.and_then(|line| parsed.line(line, grammar)).err();
            if parsed.fault.is_some() {
                break;
            }
        }
        parsed.runs = std::mem::take(&mut parsed.packer).finish();
        parsed.labels.shrink_to_fit();
        parsed.dropped_columns.sort_unstable();
        parsed.dropped_columns.dedup();
        parsed
    }

    /// Bytes that the rows take here, and bytes that they take in columns, unless they stay `packed`.
    pub(super) fn memory(&self, packed: bool) -> [u64; 2] {
        let rows = self.rows * 2 * size_of::<f64>();
        // A query in the table of all queries takes less than twice its run's bytes.
        let ids = 2 * self.ids.memory() + self.query_runs.len() * 3 * size_of::<QueryRun>();
        let entries: usize = self.runs.iter().map(Run::memory).sum();
        let merged: u64 = self.runs.iter().map(|run| 12 * run.entries()).sum();
        let columns = if packed { 0 } else { merged };
        let held = entries + rows + ids + self.dropped_columns.len() * 4;
        [held as u64, columns]
    }

    fn line(&mut self, line: &[u8], grammar: Grammar) -> Result<(), Fault> {
        let line = without_comment(line);
        let at = token::start(line, 0);
        if at == line.len() {
            return Ok(());
        }
        // No label has a colon, but everything that may follow it has one.
        let has_label = !grammar.unlabelled || !line[at..token::end(line, at)].contains(&b':');
        let (label, at) = if has_label {
            let (label, end) = token::label(line, at)?;
            (label, token::start(line, end))
        } else {
            (0.0, at)
        };
        let end = token::end(line, at);
        if let Some(id) = line[at..end].strip_prefix(b"qid:") {
            self.query(id, at)?;
            self.pairs(line, token::start(line, end), grammar)?;
        } else {
            self.pairs(line, at, grammar)?;
            self.nameless(line, at, end);
        }
        self.labels.push(label);
        self.rows += 1;
        Ok(())
    }

    /// Adds a row of the query `id`, at byte `at`.
    fn query(&mut self, id: &[u8], at: usize) -> Result<(), Fault> {
        if let Some(run) = self.query_runs.last_mut()
            && self.ids.last().is_some_and(|last| last.as_bytes() == id)
        {
            run.rows += 1;
            return Ok(());
        }
        let id = token::query_token(id, at)?;
        self.ids.push(&unescaped_id(id));
        self.query_runs.push(QueryRun {
            rows: 1,
            line: self.lines,
            at,
        });
        Ok(())
    }

    fn nameless(&mut self, line: &[u8], at: usize, end: usize) {
        if self.first_nameless.is_none() {
            let fault = Fault::token("", at, &line[at..end]).kind(ReadErrorKind::Mismatch);
            self.first_nameless = Some((self.lines, fault));
        }
    }

    /// Adds the pairs from `at` on as a row.
    fn pairs(&mut self, line: &[u8], mut at: usize, grammar: Grammar) -> Result<(), Fault> {
        let first = u64::from(grammar.first);
        let mut floor = first;
        while at < line.len() {
            let pair = token::pair(line, at, grammar.missing)?;
            if pair.index < floor || pair.index > LARGEST_INDEX {
                let before = (floor > first).then(|| floor - 1);
                return Err(token::bad_index(
                    &line[at..pair.end],
                    at,
                    pair.index,
                    before,
                ));
            }
            floor = pair.index + 1;
            self.entry(pair.index - first, pair.value, grammar.width);
            at = token::start(line, pair.end);
        }
        // At most LARGEST_INDEX + 1. A `usize` of fewer than 32 bits cannot hold such a file.
        self.width = self
            .width
            .max(usize::try_from(floor - first).unwrap_or(usize::MAX));
        self.packer.end_row();
        Ok(())
    }

    /// Stores a value other than zero, in columns below `width`.
    #[inline]
    fn entry(&mut self, feature: u64, value: f64, width: Option<usize>) {
        // The caller checked the index.
        let feature = u32::try_from(feature).unwrap_or(u32::MAX);
        if value == 0.0 {
            return;
        }
        if width.is_some_and(|width| feature as usize >= width) {
            self.dropped_entries += 1;
            self.dropped_columns.push(feature);
            return;
        }
        self.packer.push(feature, value);
    }
}
