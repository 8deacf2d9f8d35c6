//! How to read, and what comes of it.

use std::io::Read;
use std::path::{Path, PathBuf};

use crate::data::sidecar::{NAMES, find};
use crate::data::{Dataset, IndexBase};

use super::error::{Fault, ReadError};
use super::piece::{Grammar, Lines};
use super::text::{CHUNK, Plan, Text};
use super::{names, npz, rlscore, svmlight};

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
    pub(in crate::data) fn of_ending(path: &Path) -> Self {
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
    pub(super) zero_based: bool,
    pub(super) regroup: bool,
    pub(super) width: Option<usize>,
    names: Option<PathBuf>,
    pub(super) max_memory: Option<u64>,
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

    /// A file with the names of the columns, see [`read_names`](super::read_names). Default: none.
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
    pub(super) fn chunk(mut self, bytes: usize) -> Self {
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
    /// As [`Self::read`], and [`OneStream`](super::ReadErrorKind::OneStream) when the format is
    /// one of several files.
    pub fn read_from(&self, reader: impl Read + Send, name: &str) -> Result<Loaded, ReadError> {
        match self.format {
            Format::Rlscore => return Err(rlscore::one_stream(name)),
            Format::Npz => return Err(npz::one_stream(name)),
            Format::Auto | Format::Svmlight => {}
        }
        svmlight::read_from(reader, name, self)
    }

    pub(super) fn plan(&self, lines: Lines, base: IndexBase, spent: u64) -> Plan {
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
    pub(super) fn build_beside(
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
    pub(super) fn build(&self, text: Text, base: IndexBase) -> Result<Loaded, ReadError> {
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
            Some(path) => names::attach(dataset, path, self.max_memory, held)?,
        };
        Ok(Loaded {
            dataset,
            dropped_entries,
            dropped_columns,
        })
    }
}
