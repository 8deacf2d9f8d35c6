//! Options of reading, and its result.

use std::path::{Path, PathBuf};

use rankrls_files::Parameter;
use rankrls_files::error::{Fault, ReadError};
use rankrls_files::input::{Source, is_stdin};
use serde::{Deserialize, Serialize};

use super::format::Format;
use crate::data::dataset::Dataset;
use crate::data::missing::Missing;
use crate::data::names::{FeatureNames, IndexBase};
use crate::data::packed::Packed;
use crate::memory::Memory;

/// The result of reading data.
#[derive(Debug)]
pub struct Loaded {
    /// The rows, in the order of the file. Only scattered rows of a query are moved together.
    /// [`Dataset::input_rows`] has the way back.
    pub dataset: Dataset<'static>,
    /// The entries, if [`ReadOptions::packed`] asks for them. The data set then has none.
    pub packed: Packed,
    /// Dropped entries other than zero, in columns at or beyond [`ReadOptions::width`].
    pub dropped_entries: u64,
    /// Number of different columns with dropped entries.
    pub dropped_columns: u64,
    /// The first scattered query, and the line where it came back, in the data or in the file of queries.
    pub returned: Option<(String, u64)>,
    /// The first query identifier that may stand for several, such as `1.23457E+11`, and its line.
    pub rounded: Option<(String, u64)>,
}

/// The columns of a table, and its missing values. Only [`missing`](Self::missing) counts in other formats. A model
/// keeps them ([`Model::table`](crate::Model::table)), to read other data alike.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TableOptions {
    /// The label column. Data with labels are refused without it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// The query column. Without it, all rows are one query.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub query: Option<String>,
    /// The number to read for missing values, which are refused without it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub missing: Option<Missing>,
    /// Columns to leave out, whatever their cells hold.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ignore: Vec<String>,
}

/// The queries of data without identifiers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RowQueries {
    /// A file with the query identifier of each row, one a line, or with the size of each query. Whole numbers that
    /// add up to the rows, but are fewer, are sizes. Queries are then numbered from 1.
    File(PathBuf),
    /// Each query has this many rows. Identifiers count queries from 1.
    Size(usize),
}

/// How to read data.
#[derive(Debug, Clone, Default)]
pub struct ReadOptions {
    pub(super) format: Format,
    pub(super) base: IndexBase,
    pub(super) row_queries: Option<RowQueries>,
    pub(super) table: TableOptions,
    pub(super) columns: Option<FeatureNames>,
    pub(super) unlabelled: bool,
    pub(super) width: Option<usize>,
    pub(super) names: Option<PathBuf>,
    pub(super) beside: bool,
    pub(super) memory: Memory,
    /// Bytes of text that a thread parses at once.
    pub(super) chunk: Option<usize>,
    pub(super) packed: bool,
}

/// A setter for each named field, with the type of its argument: `impl Into<Option<T>>` for a field of type
/// `Option<T>`.
macro_rules! setters {
    ($($(#[$doc:meta])+ $name:ident: $type:ty => $($field:tt).+;)+) => {$(
        $(#[$doc])+
        #[must_use]
        pub fn $name(mut self, $name: $type) -> Self {
            self.$($field).+ = $name.into();
            self
        }
    )+};
}

impl ReadOptions {
    /// All options at their defaults.
    pub fn new() -> Self {
        Self::default()
    }

    setters! {
        /// The format of the file. Default: [`Format::Auto`].
        format: Format => format;

        /// The queries of data without identifiers; data with identifiers are then refused. Default: none, and data
        /// without identifiers are one query.
        row_queries: impl Into<Option<RowQueries>> => row_queries;

        /// The columns of a table, and the number to read for missing values. Missing values are the usual words
        /// and marker numbers, and in tables also empty cells. Default: nothing given.
        table: TableOptions => table;

        /// Names of the features, which find the columns of a table in any order. An empty name finds nothing. Set
        /// it with [`width`](Self::width), for a model's data or besides training data. Other formats have columns
        /// of the same numbers. Default: none. Then the columns of a table are the features, in its order and with
        /// its names.
        columns: impl Into<Option<FeatureNames>> => columns;

        /// Whether labels may be missing: of rows of text, in cells, or the whole column of a table. They are then
        /// 0. Default: no.
        unlabelled: bool => unlabelled;

        /// The number of columns. Entries in columns at or beyond it are dropped and counted. Data for a model take
        /// the model's width. Default: none, one more than the last column in the file.
        width: impl Into<Option<usize>> => width;

        /// A file with the names of the columns, see [`read_names`](super::read_names). Default: none.
        names: impl Into<Option<PathBuf>> => names;

        /// Whether a file beside the data has the names of the columns, where there is one and no other was given:
        /// [`Format::names_beside`]. A table has its own. Default: no; [`Dataset::read`] takes them.
        names_beside: bool => beside;

        /// Bytes that rows, and the columns made of them, may take while reading. Default: no limit. Text on its
        /// way takes at most an eighth of the memory left, or three longer lines. It is gone before the columns are
        /// made.
        memory: impl Into<Memory> => memory;

        /// Whether entries stay packed, in [`Loaded::packed`], instead of becoming columns. Default: no.
        packed: bool => packed;
    }

    /// Whether the indices of an svmlight file count from 0. Default: no, from 1.
    #[must_use]
    pub fn zero_based(mut self, zero_based: bool) -> Self {
        self.base = if zero_based {
            IndexBase::Zero
        } else {
            IndexBase::One
        };
        self
    }

    /// The file with the names of the columns of the data at `path`, if there is one.
    pub(super) fn names_of(&self, path: &Path) -> Option<PathBuf> {
        let beside = || {
            self.beside
                .then(|| self.format.names_beside(path))
                .flatten()
        };
        self.names.clone().or_else(beside)
    }

    /// Bytes of text that a thread parses at once.
    #[cfg(test)]
    pub(super) fn chunk(mut self, bytes: usize) -> Self {
        self.chunk = Some(bytes);
        self
    }

    /// Refuses options that no data at `paths`, which are read together, use: names of columns without a table, and
    /// indices from 0 without svmlight text.
    pub fn check_effects<'a>(
        &self,
        paths: impl IntoIterator<Item = &'a Path, IntoIter: Clone>,
    ) -> Result<(), ReadError> {
        let mut paths = paths.into_iter();
        let mut tables = paths.clone().map(|path| self.format.is_table(path));
        let table = tables.clone().any(|is_table| is_table);
        let text = tables.any(|is_table| !is_table);
        let names = &self.table;
        let idle = [
            (Parameter::Label, names.label.is_some() && !table),
            (Parameter::Query, names.query.is_some() && !table),
            (Parameter::Ignore, !names.ignore.is_empty() && !table),
            (Parameter::ZeroBased, self.base == IndexBase::Zero && !text),
        ];
        let idle = idle.into_iter().find(|(_, idle)| *idle);
        let (Some((parameter, _)), Some(first)) = (idle, paths.next()) else {
            return Ok(());
        };
        // A missing file, or one that is not text, is refused first. A file that is not a table is refused after
        // it.
        let is_sample = first.to_string_lossy().starts_with('@');
        if first.is_file() || first.is_dir() || !(first.exists() || is_sample || is_stdin(first)) {
            Source::open(first, self.memory.left())?.check()?;
        }
        let leave = format!("leave {parameter} out");
        let fault = if parameter == Parameter::ZeroBased {
            Fault::mismatch(
                format!("svmlight, for {parameter}"),
                self.format.at(first).title(),
            )
            .remedy(leave)
        } else {
            let expected = format!("a table, in which {parameter} names columns");
            let remedy = format!("{leave}; if it is a table, say so by {}", Parameter::Format);
            Fault::mismatch(expected, "svmlight").remedy(remedy)
        };
        let name = if is_stdin(first) {
            "<stdin>".into()
        } else {
            first.to_string_lossy()
        };
        Err(fault.of(&name))
    }
}

#[cfg(test)]
mod tests {
    use rankrls_files::ReadErrorKind;

    use super::*;

    #[test]
    fn options_without_effect_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let table = |set: fn(&mut TableOptions)| {
            let mut table = TableOptions::default();
            set(&mut table);
            ReadOptions::new().table(table)
        };
        let label = table(|table| table.label = Some("x".to_owned()));
        let query = table(|table| table.query = Some("x".to_owned()));
        let ignore = table(|table| table.ignore.push("x".to_owned()));
        let missing = table(|table| table.missing = Some(Missing::Mean));
        let zero = ReadOptions::new().zero_based(true);
        let sizes = ReadOptions::new().row_queries(RowQueries::Size(2));
        let label_of = "a.svm: expected a table, in which --label names columns, found svmlight (leave --label out; if it is a table, say so by --format)";
        let query_of = "a.svm: expected a table, in which --query";
        let ignore_of = "a.svm: expected a table, in which --ignore";
        let zero_of = "a.csv: expected svmlight, for --zero-based, found a table of comma-separated values (leave --zero-based out)";
        for (options, refused) in [
            (label, [label_of, ""]),
            (query, [query_of, ""]),
            (ignore, [ignore_of, ""]),
            (missing, ["", ""]),
            (zero, ["", zero_of]),
            (sizes, ["", ""]),
        ] {
            let paths = ["a.svm", "a.csv"].map(|name| folder.path().join(name));
            let paths = [&*paths[0], &*paths[1]];
            assert!(options.check_effects(paths).is_ok());
            for (path, message) in paths.into_iter().zip(refused) {
                std::fs::write(path, "1 1:1\n").unwrap();
                let error = options.check_effects([path]).err();
                let error = error.map_or_else(String::new, |error| error.to_string());
                assert!(error.contains(message), "{error}");
                assert_eq!(error.is_empty(), message.is_empty());
            }
        }
        // A folder, and a missing file, are refused as such.
        let label = table(|table| table.label = Some("x".to_owned()));
        for path in [folder.path(), &folder.path().join("none.svm")] {
            let error = label.check_effects([path]).unwrap_err();
            assert!(matches!(error.kind(), ReadErrorKind::Io(_)), "{error}");
        }
    }
}
