//! Readers of ranking data: svmlight / LETOR text, RLScore's triplets and SciPy's matrices.
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
//! Each file may be compressed by gzip or zstd, which is known by its first bytes.
//!
//! # SciPy's matrices
//!
//! `X.npz` is a matrix in compressed rows or columns, as `scipy.sparse.save_npz` writes it, with
//! `X.labels.npy`, perhaps `X.qids.npy` (integers or text), and perhaps names in `X.names.txt`.
//! Entries of a row may be in any order, but not twice in a column; zeros are not stored.
//!
//! What is not understood is refused: see [`ReadErrorKind`].
//!
//! ```
//! use rankrls::data::read::{ReadErrorKind, ReadOptions};
//!
//! let text = "2 qid:a 1:0.5 7:1 # relevant\n0 qid:a 2:1\n1 qid:b\n";
//! let data = ReadOptions::new().read_from(text.as_bytes(), "text")?.dataset;
//! assert_eq!((data.rows(), data.queries().len(), data.width()), (3, 2, 7));
//!
//! let error = ReadOptions::new().read_from(&b"1 0:0.5\n"[..], "text").unwrap_err();
//! assert_eq!(error.kind(), ReadErrorKind::ZeroIndex);
//! assert!(error.to_string().starts_with("text:1:3: expected indices that count from 1"));
//! # Ok::<(), rankrls::data::read::ReadError>(())
//! ```

use std::io::Read;
use std::path::{Path, PathBuf};

use super::sidecar::{NAMES, find};
use super::{Dataset, IndexBase};

mod lines;
mod npy;
mod npz;
mod piece;
mod rlscore;
mod svmlight;
mod text;
mod token;

pub use lines::{read_names, read_names_from, read_scores, read_scores_from};
pub use rankrls_files::{Place, ReadError, ReadErrorKind};
use rankrls_files::{error, input};
pub(super) use rlscore::split as split_features;
pub(super) use token::LARGEST_INDEX;

use error::Fault;
use piece::{Grammar, Lines};
use text::{CHUNK, Plan, Text};

/// The formats of data files.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Format {
    /// SciPy's matrices for a path that ends in `.npz`; RLScore's
    /// triplets for a path that ends in `.features`, perhaps with `.gz` or `.zst`
    /// after it, and for one that is no file but becomes one with that ending; svmlight for
    /// all others.
    #[default]
    Auto,
    /// svmlight / LETOR text.
    Svmlight,
    /// RLScore's triplets of `.features`, `.labels` and `.qids`.
    Rlscore,
    /// A sparse matrix of SciPy, `NAME.npz`, with `NAME.labels.npy` and `NAME.qids.npy`.
    Npz,
}

impl Format {
    /// The format that the ending of `path` stands for: svmlight without a known one.
    pub(super) fn of_ending(path: &Path) -> Self {
        if npz::recognises(path) {
            Self::Npz
        } else if rlscore::split(path).is_some() {
            Self::Rlscore
        } else {
            Self::Svmlight
        }
    }
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
            Format::Npz => npz::read(path, self),
            Format::Auto if npz::recognises(path) => npz::read(path, self),
            Format::Auto if rlscore::recognises(path) => rlscore::read(path, self),
            Format::Auto | Format::Svmlight => svmlight::read(path, self),
        }
    }

    /// Reads svmlight text, perhaps compressed, that messages call `name`.
    ///
    /// # Errors
    /// As [`Self::read`], and [`OneStream`](ReadErrorKind::OneStream) when the format is
    /// one of several files.
    pub fn read_from(&self, reader: impl Read + Send, name: &str) -> Result<Loaded, ReadError> {
        match self.format {
            Format::Rlscore => return Err(rlscore::one_stream(name)),
            Format::Npz => return Err(npz::one_stream(name)),
            Format::Auto | Format::Svmlight => {}
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

    /// As [`Self::build`], with the names in `prefix` and `.names.txt` unless others are asked
    /// for. Data that takes its width from elsewhere has no use for them.
    fn build_beside(
        &self,
        text: Text,
        base: IndexBase,
        prefix: &Path,
    ) -> Result<Loaded, ReadError> {
        let beside = || find(prefix, NAMES, "").filter(|_| self.width.is_none());
        let names = self.names.clone().or_else(beside);
        self.clone().names(names).build(text, base)
    }

    /// The data set of the rows of `text`, whose labels and queries may have come from others.
    fn build(&self, text: Text, base: IndexBase) -> Result<Loaded, ReadError> {
        if text.rows == 0 {
            return Err(Fault::no_rows().of(&text.name));
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
            Some(path) => lines::attach(dataset, path, self.max_memory, held)?,
        };
        Ok(Loaded {
            dataset,
            dropped_entries,
            dropped_columns,
        })
    }
}

/// What tests compress.
#[cfg(test)]
mod compressed {
    use std::io::Write;

    use flate2::write::GzEncoder;

    pub(super) fn gz(text: &[u8]) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), flate2::Compression::fast());
        encoder.write_all(text).unwrap();
        encoder.finish().unwrap()
    }

    pub(super) fn zst(text: &[u8]) -> Vec<u8> {
        zstd::encode_all(text, 3).unwrap()
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

    /// Feature, row and value of every entry, by the simplest of readers.
    fn naive(text: &str) -> Vec<(u32, usize, f64)> {
        let mut entries = Vec::new();
        for (row, line) in text.lines().enumerate() {
            let tokens = line.split('#').next().unwrap_or_default().split(' ');
            for (index, value) in tokens.skip(2).filter_map(|token| token.split_once(':')) {
                let (index, value): (u32, f64) = (index.parse().unwrap(), value.parse().unwrap());
                entries.push((index - 1, row, value));
            }
        }
        entries.retain(|(_, _, value)| *value != 0.0);
        entries.sort_by_key(|&(feature, row, _)| (feature, row));
        entries
    }

    #[test]
    fn corpora_hold_what_a_naive_reader_finds() {
        for file in [
            "ewt-parse/test_2000.svm.zst",
            "letor-mq2008-fold3/vali.txt.zst",
        ] {
            let Some(path) = corpus(file) else { return };
            let text = zstd::decode_all(std::fs::File::open(&path).unwrap()).unwrap();
            let data = ReadOptions::new().read(&path).unwrap().dataset;
            let column = |position| {
                let entries = data.column(position).iter();
                entries.map(move |(row, value)| (position, row, value))
            };
            let entries = (0..data.stored_columns()).flat_map(column);
            let entries =
                entries.map(|(position, row, value)| (data.feature(position), row, value));
            assert!(entries.eq(naive(std::str::from_utf8(&text).unwrap())));
        }
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
