//! A whole file, read in pieces on several threads.
//!
//! While one batch of chunks is decompressed and cut, the one before is parsed. The pieces of the batch before that
//! are joined in the order of the file. Joining settles line numbers and anything that spans lines. So the first
//! bad line of the file is reported, on any number of threads.

use std::io;

use rankrls_files::error::{Fault, ReadError, ReadErrorKind, quote};
use rankrls_files::input::Source;
use rankrls_files::text::{CHUNK, Chunks};
use rankrls_files::{Parameter, Remedy};
use rayon::prelude::*;

use crate::data::dataset::Dataset;
use crate::data::packed::Packed;
use crate::data::queries::Groups;
use crate::stop;

use super::format::Format;
use super::options::ReadOptions;
use super::parsed::{Grammar, Parsed};

/// Chunks of a batch for each thread. One batch is read, one is parsed, and one is appended at a time.
const BATCH: usize = 4;

/// A batch's share of the limit. Three batches take an eighth of it. Columns, more than half of the counted memory,
/// are not allocated then.
const BATCH_SHARE: u64 = 24;

/// Bytes of a column in data besides its entries: its start and its feature.
const COLUMN: u64 = 8 + 4;

/// Bytes for each byte of text on its way: the text, usually at most twice as much in entries, and the next text.
const PARSED: u64 = 4;

/// Chunks of about `size` bytes, in batches for all threads.
fn chunks(source: Source<'_>, size: usize, limit: Option<u64>) -> Chunks<'_> {
    let share = limit.map_or(u64::MAX, |limit| limit / BATCH_SHARE);
    let batch = (BATCH * rayon::current_num_threads(), share);
    Chunks::new(source, size, batch, limit)
}

/// The content of a file.
#[derive(Debug, Default)]
pub(super) struct Text {
    pub(super) name: String,
    pub(super) rows: usize,
    pub(super) packed: Packed,
    pub(super) labels: Vec<f64>,
    pub(super) groups: Groups,
    /// One more than the last column.
    pub(super) width: usize,
    pub(super) dropped_entries: u64,
    pub(super) dropped_columns: Vec<u32>,
    /// Bytes held for it.
    pub(super) memory: u64,
    /// Bytes that the entries will take in columns.
    pub(super) columns: u64,
    pub(super) lines: u64,
    /// The line of the first row without a query identifier.
    pub(super) nameless_line: Option<u64>,
}

impl Text {
    /// Reads the whole of `source`.
    pub(super) fn read(
        source: Source<'_>,
        options: &ReadOptions,
        grammar: Grammar,
    ) -> Result<Self, ReadError> {
        let mut text = Self::new(source.name.clone());
        let mut chunks = chunks(
            source,
            options.chunk.unwrap_or(CHUNK),
            options.memory.left(),
        );
        let (failure, appended) = text.take(&mut chunks, options, grammar);
        if let Err(error) = appended {
            let corrupt = failure.filter(|fault| fault.kind == ReadErrorKind::Corrupt);
            let corrupt = corrupt.or_else(|| chunks.damage());
            return Err(corrupt.map_or(error, |fault| fault.of(&text.name)));
        }
        text.dropped_columns.sort_unstable();
        text.dropped_columns.dedup();
        match failure {
            None => Ok(text),
            Some(fault) => Err(fault.at(&text.name, text.lines + 1)),
        }
    }

    /// The data set of these rows in `width` columns of at most `limit` bytes. If missing values are `averaged`,
    /// means replace them.
    pub(super) fn into_dataset(
        self,
        width: usize,
        averaged: bool,
        limit: Option<u64>,
    ) -> Result<Dataset<'static>, ReadError> {
        let check = |stored: usize| {
            let bytes = COLUMN * stored as u64 + self.columns;
            self.check_memory(bytes, limit)
        };
        let mut columns = self
            .packed
            .columns(width, check)
            .map_err(|fault| fault.of(&self.name))?;
        let name = self.name;
        let refused = |error| Fault::data(&error).of(&name);
        let (queries, order) = self.groups.finish(self.rows).map_err(refused)?;
        drop(self.packed);
        // Packed entries have no columns.
        columns.height = self.rows;
        if let Some(order) = &order {
            columns.move_rows(order);
        }
        if averaged {
            columns.fill_missing(&queries);
        }
        let Some(order) = order else {
            return Dataset::assemble(columns, self.labels.into(), queries).map_err(refused);
        };
        let moved = order.iter().map(|&row| self.labels[row as usize]);
        let dataset = Dataset::assemble(columns, moved.collect(), queries);
        let placed = dataset.and_then(|dataset| dataset.with_input_rows(order));
        placed.map_err(refused)
    }

    pub(super) fn new(name: String) -> Self {
        Self {
            name,
            ..Self::default()
        }
    }

    /// Appends all chunks in order, up to the first that is bad or too much. Also returns the failure that ended
    /// reading early.
    fn take(
        &mut self,
        chunks: &mut Chunks<'_>,
        options: &ReadOptions,
        grammar: Grammar,
    ) -> (Option<Fault>, Result<(), ReadError>) {
        let parse_text = |text: Vec<u8>| Parsed::parse(&text, grammar);
        let (mut texts, mut failure) = chunks.batch();
        let mut pieces: Vec<Parsed> = Vec::new();
        while !texts.is_empty() || !pieces.is_empty() {
            if stop::requested() {
                let ended = Fault::io(&io::ErrorKind::Interrupted.into());
                return (failure, Err(ended.of(&self.name)));
            }
            let read = || match failure {
                None => chunks.batch(),
                failure => (Vec::new(), failure),
            };
            let waiting = texts.iter().map(Vec::len).sum::<usize>() as u64;
            let parse = || texts.into_par_iter().map(parse_text).collect();
            let mut parsed = pieces.into_iter();
            let append = || parsed.try_for_each(|one| self.append(one, waiting, options));
            let (read, (parsed, appended)) = rayon::join(read, || rayon::join(parse, append));
            (texts, failure) = read;
            if appended.is_err() {
                return (failure, appended);
            }
            pieces = parsed;
        }
        (failure, Ok(()))
    }

    /// Appends rows, while `waiting` bytes of text wait.
    fn append(
        &mut self,
        mut parsed: Parsed,
        waiting: u64,
        options: &ReadOptions,
    ) -> Result<(), ReadError> {
        let [held, columns] = parsed.memory(options.packed);
        self.memory += held;
        self.columns += columns;
        let bytes = self.columns.max(PARSED * waiting);
        let within = self.check_memory(bytes, options.memory.left());
        within.map_err(|fault| fault.at(&self.name, self.lines + 1))?;
        let mixed = self.mixed(&mut parsed);
        self.add_queries(&parsed);
        let last = parsed.fault.take().map(|fault| (parsed.lines, fault));
        let faults = [mixed, last].into_iter().flatten();
        if let Some((line, fault)) = faults.min_by_key(|(line, _)| *line) {
            // No row begins like this, and none was read before.
            let is_other = fault.column == 1 && self.rows + parsed.rows == 0;
            let error = fault.at(&self.name, self.lines + line);
            return Err(if is_other && options.format == Format::Auto {
                let csv = Remedy::Set(Parameter::Format, "csv");
                error.or_remedy(format!("if it is a table, say so by {csv} or tsv"))
            } else {
                error
            });
        }
        self.lines += parsed.lines;
        self.rows += parsed.rows;
        self.width = self.width.max(parsed.width);
        self.labels.append(&mut parsed.labels);
        self.packed.append(&mut parsed.runs);
        self.dropped_entries += parsed.dropped_entries;
        self.dropped_columns.append(&mut parsed.dropped_columns);
        Ok(())
    }

    /// Refuses to take `bytes` more if that exceeds the limit.
    pub(super) fn check_memory(&self, bytes: u64, limit: Option<u64>) -> Result<(), Fault> {
        let all = self.memory.saturating_add(bytes);
        match limit.filter(|&limit| all > limit) {
            None => Ok(()),
            Some(limit) => Err(Fault::too_large(limit, &format!("{all} or more"))),
        }
    }

    /// The first row with a query identifier after rows without, or the reverse.
    fn mixed(&mut self, parsed: &mut Parsed) -> Option<(u64, Fault)> {
        let named = parsed.query_runs.first().copied();
        let nameless = parsed.first_nameless.take();
        let nameless_line = nameless.as_ref().map(|(line, _)| self.lines + line);
        let named_line = named.map(|run| self.lines + run.line);
        self.nameless_line = self.nameless_line.or(nameless_line);
        let without = self.nameless_line?;
        let with = self.groups.first_place().or(named_line)?;
        let remedy = "give every row a qid, or none";
        if with < without {
            let (line, fault) = nameless?;
            let expected = format!("a qid after the label, as on line {with}");
            return Some((line, fault.expecting(expected).remedy(remedy)));
        }
        let expected = format!("no qid, as on line {without}");
        let found = format!("qid:{}", parsed.ids.get(0)?);
        let run = named?;
        let fault = Fault::mismatch(expected, quote(found.as_bytes()));
        Some((run.line, fault.at_column(run.at + 1).remedy(remedy)))
    }

    fn add_queries(&mut self, parsed: &Parsed) {
        for (run, id) in parsed.query_runs.iter().zip(parsed.ids.iter()) {
            self.groups.add(id, run.rows, self.lines + run.line);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::compressed::gz;
    use super::*;

    fn chunks(bytes: &[u8], size: usize, limit: Option<u64>) -> (Vec<Vec<u8>>, Option<Fault>) {
        let source = Source::new(bytes, "x", None).unwrap();
        let mut chunks = super::chunks(source, size, limit);
        let mut texts = Vec::new();
        loop {
            match chunks.next() {
                Ok(Some(text)) => texts.push(text),
                Ok(None) => return (texts, None),
                Err(failure) => return (texts, Some(failure)),
            }
        }
    }

    #[test]
    fn chunks_end_where_lines_end() {
        let text = b"a\nbb\n\nccccccccccccccccccccccccc\nd\ne";
        for size in 1..40 {
            let (chunks, failure) = chunks(text, size, None);
            assert!(failure.is_none());
            assert_eq!(chunks.concat(), text);
            let (last, whole) = chunks.split_last().unwrap();
            assert!(whole.iter().all(|chunk| chunk.ends_with(b"\n")));
            assert!(last.ends_with(b"e"));
        }
    }

    #[test]
    fn a_failure_comes_after_the_lines_before_it() {
        let lines = (0..2000u32).map(|i| i.wrapping_mul(2_654_435_761).to_string());
        let noise = lines.collect::<Vec<_>>().join("\n");
        let whole = gz(noise.as_bytes());
        let mut seen = Vec::new();
        for size in [16, 1000, 1 << 20] {
            let (cut, failure) = chunks(&whole[..whole.len() / 2], size, None);
            let fault = failure.unwrap();
            assert_eq!(fault.kind, ReadErrorKind::Truncated);
            let text = cut.concat();
            assert!(noise.as_bytes().starts_with(&text) && text.ends_with(b"\n"));
            seen.push((text.len(), fault.column));
        }
        seen.dedup();
        assert_eq!(seen.len(), 1);
    }

    #[test]
    fn batches_are_within_the_limit_whatever_the_threads() {
        let text = b"1 qid:1 1:1 2:1\n".repeat(200_000);
        let cases = [(64, Some(2 << 20)), (64, Some(1 << 24)), (2, Some(1 << 20))];
        for (threads, limit) in cases.into_iter().chain([(1, None)]) {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
            pool.unwrap().install(|| {
                let source = Source::new(&text[..], "x", None).unwrap();
                let mut chunks = super::chunks(source, 1 << 18, limit);
                let batch = || Some(chunks.batch().0).filter(|batch| !batch.is_empty());
                let batches: Vec<_> = std::iter::from_fn(batch).collect();
                assert_eq!(batches.concat().concat(), text);
                let most = limit.map_or(4 << 18, |limit| limit / 24) + 16;
                for batch in batches {
                    assert!(batch.len() <= 4 * threads);
                    assert!(batch.concat().len() as u64 <= most, "{threads} threads");
                }
            });
        }
    }

    #[test]
    fn a_line_longer_than_the_limit_stops() {
        let text = [b"a\n", &[b'b'; 1000][..]].concat();
        let (chunks, failure) = chunks(&text, 16, Some(100));
        assert_eq!(chunks.concat(), b"a\n");
        assert_eq!(failure.unwrap().kind, ReadErrorKind::TooLarge);
    }
}
