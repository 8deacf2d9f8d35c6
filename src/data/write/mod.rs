//! Data sets and names as files that the readers take back unchanged.

mod npz;
mod svmlight;

use std::borrow::Cow;
use std::collections::HashSet;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

pub use npz::{MatrixLayout, write_npy_labels, write_npy_query_ids, write_npz};
pub use svmlight::{
    write_features, write_labels, write_query_ids, write_svmlight, write_whole_svmlight,
};

use super::read::{Format, split_features};
use super::sidecar::{NAMES, find, prefix, with_ending};
use super::{CompleteOutput, Dataset, FeatureNames, IndexBase, Output, Queries};

/// Writes names one a line.
///
/// # Errors
/// Those of `writer`; [`io::ErrorKind::InvalidInput`] for a name with a line end in it.
pub fn write_names(names: &FeatureNames, mut writer: impl Write) -> io::Result<()> {
    for name in names.iter() {
        write_name(name, &mut writer)?;
    }
    writer.flush()
}

fn write_name(name: &str, writer: &mut impl Write) -> io::Result<()> {
    if name.contains('\n') || name.ends_with('\r') {
        return Err(refused(format!(
            "the feature name {name:?} does not fit on a line"
        )));
    }
    writer.write_all(name.as_bytes())?;
    writer.write_all(b"\n")
}

fn refused(message: String) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, message)
}

/// The identifier of each query, all different, none empty and none with a `forbidden`
/// character; nameless queries are numbered from 1.
///
/// # Errors
/// [`io::ErrorKind::InvalidInput`] for others.
fn tokens<'q>(queries: &'q Queries, forbidden: &[char]) -> io::Result<Vec<Cow<'q, str>>> {
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

/// A file of a data set.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Part {
    /// Entries; in svmlight text labels and queries, too.
    Entries,
    /// Labels.
    Labels,
    /// The query of each row.
    Queries,
    /// Names of the columns.
    Names,
}

/// Where, and how, a data set is written: what [`ReadOptions`](crate::data::read::ReadOptions)
/// reads back unchanged.
///
/// Names go to `NAME.names.txt`, where `NAME` is the path without `.gz` or `.zst` and without the
/// ending before it. Readers of `.npz` find them there; readers of other formats
/// have to be told.
#[derive(Debug, Clone)]
pub struct DataFiles {
    path: PathBuf,
    format: Format,
    layout: MatrixLayout,
    base: IndexBase,
}

impl DataFiles {
    /// The files of a data set at `path`. [`Format::Auto`] is known by the ending: `.npz`,
    /// `.features` (perhaps with `.gz` or `.zst`), all others are svmlight.
    pub fn new(path: &Path, format: Format) -> Self {
        Self {
            path: path.to_owned(),
            format: match format {
                Format::Auto => Format::of_ending(path),
                format => format,
            },
            layout: MatrixLayout::default(),
            base: IndexBase::default(),
        }
    }

    /// By row or by column, for `.npz`. Default: by row.
    #[must_use]
    pub fn layout(mut self, layout: MatrixLayout) -> Self {
        self.layout = layout;
        self
    }

    /// The index of the first column in svmlight text. Default: [`IndexBase::One`].
    #[must_use]
    pub fn index_base(mut self, base: IndexBase) -> Self {
        self.base = base;
        self
    }

    /// The format, never [`Format::Auto`].
    pub fn format(&self) -> Format {
        self.format
    }

    /// The parts that `dataset` has in this format. The entries are last: when they are there,
    /// all is there.
    pub fn parts(&self, dataset: &Dataset<'_>) -> Vec<Part> {
        let queries = dataset.queries();
        let queries = queries.ids().is_some() || queries.len() > 1;
        let mut parts = match self.format {
            Format::Auto | Format::Svmlight => Vec::new(),
            Format::Rlscore | Format::Npz if queries => vec![Part::Labels, Part::Queries],
            Format::Rlscore | Format::Npz => vec![Part::Labels],
        };
        parts.extend(dataset.names().map(|_| Part::Names));
        parts.push(Part::Entries);
        parts
    }

    /// The file of a part.
    pub fn path(&self, part: Part) -> PathBuf {
        let beside = |ending| with_ending(&prefix(&self.path), ending, "");
        let triplet = |ending| {
            let (prefix, suffix) = self.triplet();
            with_ending(&prefix, ending, suffix)
        };
        match (part, self.format) {
            (Part::Names, Format::Rlscore) => with_ending(&self.triplet().0, NAMES, ""),
            (Part::Names, _) => beside(NAMES),
            (Part::Entries, Format::Rlscore) => triplet(".features"),
            (Part::Labels, Format::Rlscore) => triplet(".labels"),
            (Part::Queries, Format::Rlscore) => triplet(".qids"),
            (Part::Labels, _) => beside(".labels.npy"),
            (Part::Queries, _) => beside(".qids.npy"),
            (Part::Entries, _) => self.path.clone(),
        }
    }

    /// What stands before `.features`, and the suffix of compression.
    fn triplet(&self) -> (PathBuf, &'static str) {
        split_features(&self.path).unwrap_or_else(|| (self.path.clone(), ""))
    }

    /// A file that is there and would be read as a part of `dataset`, which has no such part: it
    /// is of other data, and must go before these are written.
    pub fn stranger(&self, dataset: &Dataset<'_>) -> Option<PathBuf> {
        let parts = self.parts(dataset);
        let names = || find(&prefix(&self.path), NAMES, "");
        match self.format {
            Format::Auto | Format::Svmlight => None,
            Format::Rlscore if parts.contains(&Part::Queries) => None,
            Format::Rlscore => find(&self.triplet().0, ".qids", ""),
            Format::Npz if !parts.contains(&Part::Queries) && self.path(Part::Queries).exists() => {
                Some(self.path(Part::Queries))
            }
            Format::Npz if parts.contains(&Part::Names) => None,
            Format::Npz => names(),
        }
    }

    /// Writes one part.
    ///
    /// # Errors
    /// Those of `writer`; [`io::ErrorKind::InvalidInput`] for identifiers or names that the format
    /// does not hold.
    pub fn write_part(
        &self,
        part: Part,
        dataset: &Dataset<'_>,
        writer: impl Write,
    ) -> io::Result<()> {
        match (part, self.format) {
            (Part::Names, _) => write_own_names(dataset, writer),
            (Part::Entries, Format::Auto | Format::Svmlight) => {
                write_whole_svmlight(dataset, self.base, writer)
            }
            (Part::Entries, Format::Rlscore) => write_features(dataset, writer),
            (Part::Entries, Format::Npz) => write_npz(dataset, self.layout, writer),
            (Part::Labels, Format::Npz) => write_npy_labels(dataset, writer),
            (Part::Labels, _) => write_labels(dataset, writer),
            (Part::Queries, Format::Npz) => write_npy_query_ids(dataset, writer),
            (Part::Queries, _) => write_query_ids(dataset, writer),
        }
    }

    /// Writes all parts; they appear when all have been written, each of them whole.
    ///
    /// # Errors
    /// As [`Self::write_part`], and [`io::ErrorKind::AlreadyExists`] when there is a
    /// [`stranger`](Self::stranger).
    pub fn write(&self, dataset: &Dataset<'_>) -> io::Result<()> {
        if let Some(stranger) = self.stranger(dataset) {
            let message = format!("{} belongs to other data", stranger.display());
            return Err(io::Error::new(io::ErrorKind::AlreadyExists, message));
        }
        let mut complete = Vec::new();
        for part in self.parts(dataset) {
            let mut output = Output::create(&self.path(part))?;
            self.write_part(part, dataset, &mut output)?;
            complete.push(output.complete()?);
        }
        complete.into_iter().try_for_each(CompleteOutput::commit)
    }
}

/// Writes the names of the columns that there are.
fn write_own_names(dataset: &Dataset<'_>, mut writer: impl Write) -> io::Result<()> {
    let names = dataset.names().into_iter().flat_map(FeatureNames::iter);
    for name in names.take(dataset.width()) {
        write_name(name, &mut writer)?;
    }
    writer.flush()
}

#[cfg(test)]
mod tests;
