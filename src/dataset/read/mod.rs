//! Readers of ranking data: svmlight / LETOR text and RLScore's triplets.
//!
//! # svmlight / LETOR
//!
//! One row a line, `<label> qid:<id> <index>:<value> … # comment`:
//!
//! - the label is any finite decimal number;
//! - `qid` stands right after it, on all rows or on none (all rows are one query then); the
//!   identifier is an opaque token, and the rows of a query are next to each other;
//! - indices count from 1 and ascend strictly in a row; a value of zero is legal and not stored;
//! - tokens are separated by blanks and tabs; comments, blank lines, CRLF, a row without pairs
//!   and a last line without line end are legal.
//!
//! # RLScore's triplets
//!
//! `X.features` has one row a line, `index:value` with indices that count from 0, where an empty
//! line is a row without entries; `X.labels` a label a line; `X.qids` the query of the row on
//! each line, and without that file all rows are one query. There are no comments.
//!
//! Each file may be compressed by gzip or zstd, which is known by its first bytes. What is not
//! understood is refused: see [`ReadErrorKind`].

use std::io::Read;
use std::path::{Path, PathBuf};

use super::{Dataset, IndexBase};

mod chunks;
mod error;
mod groups;
mod input;
mod names;
mod number;
mod piece;
mod rlscore;
mod scores;
mod svmlight;
mod text;
mod token;

pub use error::{Place, ReadError, ReadErrorKind};
pub use names::read_names;
pub use scores::read_scores;
pub(crate) use scores::read_whole;
pub(super) use token::LARGEST_INDEX;

use piece::{Grammar, Lines};
use text::{Plan, Text};

/// Bytes of text that a thread parses at a time.
const CHUNK: usize = 1 << 20;

/// The formats of data files.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Format {
    /// RLScore's triplets for a path that ends in `.features`, perhaps with `.gz` or `.zst`
    /// after it, and for one that is no file but becomes one with that ending; svmlight for
    /// all others.
    #[default]
    Auto,
    /// svmlight / LETOR text.
    Svmlight,
    /// RLScore's triplets of `.features`, `.labels` and `.qids`.
    Rlscore,
}

/// Data as it was read.
#[derive(Debug)]
pub struct Loaded {
    /// The rows, in the order of the file unless [`ReadOptions::regroup`] moved them.
    pub dataset: Dataset<'static>,
    /// Entries other than zero that were dropped, being in columns at or beyond
    /// [`ReadOptions::width`].
    pub dropped_entries: u64,
    /// In how many different columns they were.
    pub dropped_columns: u64,
}

/// How to read data.
#[derive(Debug, Clone)]
pub struct ReadOptions {
    format: Format,
    zero_based: bool,
    regroup: bool,
    width: Option<usize>,
    names: Option<PathBuf>,
    max_memory: Option<u64>,
    chunk: usize,
}

impl Default for ReadOptions {
    fn default() -> Self {
        Self {
            format: Format::default(),
            zero_based: false,
            regroup: false,
            width: None,
            names: None,
            max_memory: None,
            chunk: CHUNK,
        }
    }
}

impl ReadOptions {
    /// All at their defaults.
    pub fn new() -> Self {
        Self::default()
    }

    /// The format of the file. Default: [`Format::Auto`].
    #[must_use]
    pub fn format(mut self, format: Format) -> Self {
        self.format = format;
        self
    }

    /// Whether the indices of an svmlight file count from 0. Default: no, from 1. RLScore's
    /// always count from 0.
    #[must_use]
    pub fn zero_based(mut self, zero_based: bool) -> Self {
        self.zero_based = zero_based;
        self
    }

    /// Whether the rows of a query that comes back are moved to its others, instead of being
    /// refused. Default: no. Queries stay in the order of their first rows and rows in the
    /// order of the file; [`Dataset::input_rows`] has the way back.
    #[must_use]
    pub fn regroup(mut self, regroup: bool) -> Self {
        self.regroup = regroup;
        self
    }

    /// The number of columns: entries in columns at or beyond it are dropped and counted.
    /// Default: none, one more than the last column that the file mentions. Data for a model
    /// takes its width from the model.
    #[must_use]
    pub fn width(mut self, width: impl Into<Option<usize>>) -> Self {
        self.width = width.into();
        self
    }

    /// A file with the names of the columns, see [`read_names`]. Default: none.
    #[must_use]
    pub fn names(mut self, path: impl Into<Option<PathBuf>>) -> Self {
        self.names = path.into();
        self
    }

    /// Bytes that may be held while reading, in rows and in the columns made of them. Default:
    /// none, no limit. Some chunks of text come on top, 1/32 of the limit and at most 1 MiB
    /// each.
    #[must_use]
    pub fn max_memory(mut self, bytes: impl Into<Option<u64>>) -> Self {
        self.max_memory = bytes.into();
        self
    }

    /// Bytes of text that a thread parses at a time.
    #[cfg(test)]
    fn chunk(mut self, bytes: usize) -> Self {
        self.chunk = bytes;
        self
    }

    /// Reads the file at `path`, or standard input for `-`.
    ///
    /// Uses the threads of the current rayon pool and one more. Peak memory is about twice that
    /// of the data set.
    ///
    /// # Errors
    /// [`ReadError`] names the place in the file and what is wrong there; of several faults it
    /// is that of the first line.
    pub fn read(&self, path: &Path) -> Result<Loaded, ReadError> {
        match self.format {
            Format::Rlscore => rlscore::read(path, self),
            Format::Auto if rlscore::recognises(path) => rlscore::read(path, self),
            Format::Auto | Format::Svmlight => svmlight::read(path, self),
        }
    }

    /// Reads svmlight text, perhaps compressed, that messages call `name`.
    ///
    /// # Errors
    /// As [`Self::read`], and [`ReadErrorKind::OneStream`] when the format is
    /// [`Format::Rlscore`].
    pub fn read_from(&self, reader: impl Read + Send, name: &str) -> Result<Loaded, ReadError> {
        if self.format == Format::Rlscore {
            return Err(rlscore::one_stream(name));
        }
        svmlight::read_from(reader, name, self)
    }

    fn plan(&self, lines: Lines, base: IndexBase, spent: u64) -> Plan {
        Plan {
            grammar: Grammar {
                lines,
                first: base.first(),
                width: self.width,
            },
            chunk: self.chunk,
            limit: self.max_memory,
            spent,
            regroup: self.regroup,
        }
    }

    /// The data set of the rows of `text`, whose labels and queries may have come from others.
    fn build(&self, text: Text, base: IndexBase) -> Result<Loaded, ReadError> {
        if text.rows == 0 {
            return Err(error::Fault::no_rows().of(&text.name));
        }
        let name = text.name.clone();
        let width = self.width.unwrap_or(text.width);
        let (dropped_entries, dropped_columns) = (text.dropped_entries, &text.dropped_columns);
        let dropped_columns = dropped_columns.len() as u64;
        let held = text.memory;
        let dataset = text
            .into_dataset(width)
            .map_err(|error| ReadError::data(&name, &error))?
            .with_index_base(base);
        let dataset = match &self.names {
            None => dataset,
            Some(path) => names::attach(dataset, path, self.max_memory, held)?,
        };
        Ok(Loaded {
            dataset,
            dropped_entries,
            dropped_columns,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A file of the corpora, or none and a word about it.
    fn corpus(file: &str) -> Option<PathBuf> {
        let folder = std::env::var_os("RANKRLS_CORPORA");
        if folder.is_none() {
            eprintln!("NOT TESTED on {file}: RANKRLS_CORPORA does not name the folder of corpora");
        }
        folder.map(|folder| Path::new(&folder).join(file))
    }

    /// Rows, queries, columns, stored columns and non-zeros.
    fn size(data: &Dataset<'_>) -> [usize; 5] {
        let queries = data.queries().len();
        let columns = [data.width(), data.stored_columns(), data.nonzeros()];
        [data.rows(), queries, columns[0], columns[1], columns[2]]
    }

    #[test]
    fn rlscore_corpus_is_read() {
        let Some(path) = corpus("rlscore-parse/train.features") else {
            return;
        };
        let data = ReadOptions::new().read(&path).unwrap().dataset;
        assert_eq!(size(&data), [100, 22, 195_095, 9_312, 51_855]);
        assert_eq!(data.queries().id(1), Some("1001"));
        let width = data.width();
        let path = path.with_file_name("test");
        let test = ReadOptions::new().width(width).read(&path).unwrap();
        assert_eq!(test.dataset.width(), width);
        assert_eq!(
            (test.dataset.rows(), test.dataset.queries().len()),
            (100, 20)
        );
        assert!(test.dropped_columns > 0);
    }

    #[test]
    fn parse_corpus_is_read_with_its_names() {
        let Some(path) = corpus("ewt-parse/train_2000.svm.zst") else {
            return;
        };
        let options = ReadOptions::new().names(path.with_file_name("features_2000.txt.zst"));
        let data = options.read(&path).unwrap().dataset;
        assert_eq!(size(&data), [2_000, 108, 118_971, 118_971, 1_308_985]);
        assert_eq!(data.names().unwrap().len(), 118_971);
    }

    #[test]
    fn letor_corpus_is_read() {
        let Some(path) = corpus("letor-mq2008-fold3/train.txt.zst") else {
            return;
        };
        let data = ReadOptions::new().read(&path).unwrap().dataset;
        assert_eq!(size(&data)[..3], [8_643, 470, 46]);
        assert_eq!(data.queries().id(0), Some("14037"));
    }
}
