//! The formats of data files: their names and endings.

use std::path::{Path, PathBuf};

use crate::data::sidecar::{has_extension, names_beside, plain};
use crate::names::names;

/// The formats of data files, by users' names. Each may be compressed by gzip or zstd.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Format {
    /// The format by the ending of the path, with or without `.gz` or `.zst`: `.csv` and `.tsv` are tables, all
    /// others are svmlight.
    #[default]
    Auto,
    /// svmlight or LETOR text.
    Svmlight,
    /// A table of values separated by commas.
    Csv,
    /// A table of values separated by tabs.
    Tsv,
}

names!(Format, "format", Auto => "auto", Svmlight => "svmlight", Csv => "csv", Tsv => "tsv");

impl Format {
    /// The common name of data in this format.
    pub(super) fn title(self) -> &'static str {
        match self {
            Self::Auto | Self::Svmlight => "svmlight",
            Self::Csv => "a table of comma-separated values",
            Self::Tsv => "a table of tab-separated values",
        }
    }

    /// Whether data at `path` are a table, whose columns are found by name.
    pub fn is_table(self, path: &Path) -> bool {
        matches!(self.at(path), Self::Csv | Self::Tsv)
    }

    /// The file beside the data at `path` with the names of their columns, if there is one. A table has its own names.
    pub fn names_beside(self, path: &Path) -> Option<PathBuf> {
        (!self.is_table(path)).then(|| names_beside(path)).flatten()
    }

    /// The format of data at `path`, never [`Auto`](Self::Auto).
    pub(super) fn at(self, path: &Path) -> Self {
        let ends = |extension| has_extension(&plain(path), extension);
        match self {
            Self::Auto if ends("csv") => Self::Csv,
            Self::Auto if ends("tsv") => Self::Tsv,
            Self::Auto => Self::Svmlight,
            format => format,
        }
    }
}
