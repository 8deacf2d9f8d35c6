//! Ranking data: sparse examples with labels, in queries.
//!
//! A [`Dataset`] is checked once, when it is built, and trusted after: indices
//! in range and ascending, everything finite, every query a contiguous run of
//! rows. It stores columns only, since every strategy walks columns, and only
//! the columns that have an entry: a feature index of four thousand million
//! costs nothing.

use std::borrow::Cow;
use std::path::Path;
use std::sync::Arc;

use rankrls_files::Remedy;
use rankrls_files::error::{Fault, quote};

mod arrays;
mod columns;
mod description;
mod error;
mod examples;
mod formats;
pub(crate) mod hash;
mod label_scale;
pub(crate) mod merge;
mod queries;
mod ranker;
pub(crate) mod runs;
#[cfg(feature = "sample")]
pub mod sample;
mod sidecar;
mod subset;

pub use columns::Column;
pub(crate) use columns::{Columns, pieces};
pub use description::{Description, Labels, LongColumn, Spread};
pub use error::DatasetError;
use examples::Examples;
pub(crate) use formats::fill_missing;
pub use formats::{DataFiles, FilePart, MatrixLayout, write_names, write_svmlight};
pub use hash::{DataHash, InvalidHash};
pub use label_scale::LabelScale;
pub use queries::Queries;
pub use ranker::{Ranker, write_query_sizes};
pub use rankrls_files::{CompleteOutput, Output, Strings};

pub mod read {
    //! Readers of ranking data; each [`Format`] is described in `docs/formats.md`.
    //!
    //! A row of svmlight / LETOR text is a line, `<label> qid:<id> <index>:<value> … # comment`: `qid` is
    //! an opaque token, on all rows or on none (all rows are one query then), the rows of a query are next
    //! to each other, and indices count from 1 and ascend. RLScore's `X.features` has `index:value` with
    //! indices from 0, beside `X.labels` and perhaps `X.qids` with a line each row. SciPy's `X.npz` and
    //! NumPy's `X.npy` have `X.labels.npy`, and perhaps `X.qids.npy` and `X.names.txt`, beside them. Tables
    //! name their columns in a header ([`TableOptions`]). Text may be compressed by gzip or zstd, which is
    //! known by its first bytes. Zeros are not stored.
    //!
    //! Text that is not understood is refused: see [`ReadErrorKind`].
    //!
    //! ```
    //! use rankrls::data::read::{ReadErrorKind, ReadOptions};
    //!
    //! let text = "2 qid:a 1:0.5 7:1 # relevant\n0 qid:a 2:1\n1 qid:b\n";
    //! let data = ReadOptions::new().read_from(text.as_bytes(), "text")?.dataset;
    //! assert_eq!((data.rows(), data.queries().len(), data.width()), (3, 2, 7));
    //!
    //! let error = ReadOptions::new().read_from(&b"1 0:0.5\n"[..], "text").unwrap_err();
    //! assert_eq!(error.kind(), ReadErrorKind::Malformed);
    //! assert!(error.to_string().starts_with("text:1:3: expected indices that count from 1"));
    //! # Ok::<(), rankrls::data::read::ReadError>(())
    //! ```

    pub use super::formats::{
        Format, Loaded, Missing, Place, PreferenceLine, ReadError, ReadErrorKind, ReadOptions,
        RowQueries, TableOptions, read_folds, read_names, read_preferences, read_rows, read_scores,
        read_texts,
    };
    pub use super::sidecar::names_beside;
}

/// The data set of svmlight text in a test.
#[cfg(test)]
pub(crate) fn parsed(text: &str) -> Dataset<'static> {
    let loaded = read::ReadOptions::new().read_from(text.as_bytes(), "f");
    loaded.unwrap().dataset
}

/// The number a data file gives its first column.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum IndexBase {
    /// Columns count from 0, as in RLScore's files.
    Zero,
    /// Columns count from 1, as in svmlight files.
    #[default]
    One,
}

impl IndexBase {
    /// The index that a file with this base writes for the 0-based column `feature`.
    pub fn written(self, feature: u32) -> u64 {
        u64::from(feature) + u64::from(self.first())
    }

    /// 0 or 1.
    pub fn first(self) -> u32 {
        match self {
            Self::Zero => 0,
            Self::One => 1,
        }
    }
}

/// Names of the features, the first for the first column whichever way the
/// file counts its indices; or names of some features. Clones share them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FeatureNames {
    names: Arc<Strings>,
    /// The column of each name, ascending, where only some columns have one.
    features: Option<Arc<[u32]>>,
}

impl FeatureNames {
    /// Names in column order.
    pub fn new(names: Strings) -> Self {
        Self {
            names: names.into(),
            features: None,
        }
    }

    /// Names of some 0-based columns, in any order; a column that comes twice has its first name. They take
    /// no memory for the columns between them.
    pub fn of_some<S: AsRef<str>>(names: impl IntoIterator<Item = (u32, S)>) -> Self {
        let mut names: Vec<(u32, S)> = names.into_iter().collect();
        names.sort_by_key(|(feature, _)| *feature);
        names.dedup_by_key(|(feature, _)| *feature);
        Self {
            features: Some(names.iter().map(|(feature, _)| *feature).collect()),
            names: Arc::new(names.into_iter().map(|(_, name)| name).collect()),
        }
    }

    /// How many names there are.
    pub fn len(&self) -> usize {
        self.names.len()
    }

    /// Whether no column has one.
    pub fn is_empty(&self) -> bool {
        self.names.is_empty()
    }

    /// Name of the feature at the 0-based column `feature`.
    pub fn of(&self, feature: u32) -> Option<&str> {
        let position = match &self.features {
            None => feature as usize,
            Some(features) => features.binary_search(&feature).ok()?,
        };
        self.names.get(position)
    }

    /// Names in column order.
    pub fn iter(&self) -> impl Iterator<Item = &str> {
        self.names.iter()
    }

    /// The 0-based columns, ascending, with their names.
    pub fn named(&self) -> impl Iterator<Item = (u32, &str)> {
        let column = |position: usize| match &self.features {
            None => u32::try_from(position).unwrap_or(u32::MAX),
            Some(features) => features[position],
        };
        let names = self.iter().enumerate();
        names.map(move |(position, name)| (column(position), name))
    }

    /// Refuses these names of columns, of `file`, where `owner` knows others for the same columns, which
    /// `base` counts. Columns without a name agree with any.
    pub fn check_same<'n>(
        &self,
        known: impl IntoIterator<Item = (u32, &'n str)>,
        base: IndexBase,
        owner: &str,
        file: &Path,
    ) -> Result<(), read::ReadError> {
        let known = known.into_iter();
        let pairs = known.filter_map(|(column, name)| Some((column, name, self.of(column)?)));
        let mut others =
            pairs.filter(|(_, name, found)| !name.is_empty() && !found.is_empty() && name != found);
        let Some((column, name, found)) = others.next() else {
            return Ok(());
        };
        let (column, name) = (base.written(column), quote(name.as_bytes()));
        let expected = format!("{name} as the name of column {column}, as {owner} has it");
        let fault = Fault::mismatch(expected, quote(found.as_bytes()));
        Err(fault
            .remedy(Remedy::SameColumns)
            .of(&file.display().to_string()))
    }

    /// Bytes held.
    pub fn memory(&self) -> usize {
        let features = self.features.as_ref();
        self.names.memory() + features.map_or(0, |features| size_of_val(&features[..]))
    }

    /// Without empty names after those of so many columns: blank lines at the end of a file.
    fn for_columns(self, columns: usize) -> Self {
        let beyond = self.names.len().saturating_sub(columns);
        let mut empty = (0..beyond).map(|place| self.names.get(columns + place));
        if beyond == 0 || self.features.is_some() || !empty.all(|name| name == Some("")) {
            return self;
        }
        let mut names = Arc::unwrap_or_clone(self.names);
        names.truncate(columns);
        Self::new(names)
    }
}

impl<S: AsRef<str>> FromIterator<S> for FeatureNames {
    fn from_iter<I: IntoIterator<Item = S>>(names: I) -> Self {
        Self::new(names.into_iter().collect())
    }
}

/// A checked data set of `m` examples in queries and `n` feature columns.
///
/// Memory: 12 bytes an entry and 12 a stored column, or nothing for arrays
/// that were borrowed.
#[derive(Debug, Clone)]
pub struct Dataset<'a> {
    columns: Columns<'a>,
    examples: Examples<'a>,
    names: Option<FeatureNames>,
    index_base: IndexBase,
    whole: Option<Whole>,
}

/// The data of which the columns are a share, the others being elsewhere.
#[derive(Debug, Clone, Copy)]
struct Whole {
    nonzeros: usize,
    hash: DataHash,
    /// Bytes that entries took while they were read.
    reading: u64,
}

impl<'a> Dataset<'a> {
    /// Checks the parts and puts them together.
    fn assemble(
        columns: Columns<'a>,
        labels: Cow<'a, [f64]>,
        queries: Queries,
    ) -> Result<Self, DatasetError> {
        DatasetError::check_columns(columns.width)?;
        let examples = Examples::new(labels, queries)?;
        let dataset = Self {
            columns,
            examples,
            names: None,
            index_base: IndexBase::default(),
            whole: None,
        };
        dataset.checked()
    }

    /// Names the features; there must be a name for every column. Empty names after the last column do not
    /// count.
    pub fn with_names(mut self, names: FeatureNames) -> Result<Self, DatasetError> {
        let width = self.width();
        DatasetError::check_length("feature names", width, names.len().min(width))?;
        let names = names.for_columns(width);
        self.names = Some(names);
        Ok(self)
    }

    /// Sets how the source of the data counts its columns. The default is [`IndexBase::One`].
    #[must_use]
    pub fn with_index_base(mut self, base: IndexBase) -> Self {
        self.index_base = base;
        self
    }

    /// Records at which position of the input each row stood, for a source whose rows were
    /// moved to make queries contiguous.
    pub fn with_input_rows(mut self, input_rows: Vec<u32>) -> Result<Self, DatasetError> {
        let rows = self.rows();
        DatasetError::check_length("input rows", rows, input_rows.len())?;
        let mut seen = vec![false; rows];
        for &row in &input_rows {
            match seen.get_mut(row as usize) {
                Some(mark) if !*mark => *mark = true,
                _ => return Err(DatasetError::Structure(format!("input row {row} twice"))),
            }
        }
        self.examples.input_rows = Some(input_rows);
        Ok(self)
    }

    /// Adds the scores of a teacher, one a row: of any ranker, in any units, as long as no row's
    /// score has seen the labels of the row's query. The strategy `distil` and cross-fitted weights
    /// learn from them in place of RankRLS on all columns. They stay with the rows in
    /// [`queries_subset`](Self::queries_subset).
    pub fn with_teacher(mut self, scores: Vec<f64>) -> Result<Self, DatasetError> {
        DatasetError::check_length("teacher's scores", self.rows(), scores.len())?;
        if let Some(row) = scores.iter().position(|score| !score.is_finite()) {
            return Err(DatasetError::Score {
                row,
                value: scores[row],
            });
        }
        let constant =
            |range: std::ops::Range<usize>| scores[range].windows(2).all(|pair| pair[0] == pair[1]);
        if self.queries().ranges().all(constant) {
            return Err(DatasetError::ConstantScores);
        }
        self.examples.teacher = Some(scores);
        Ok(self.hashed_again())
    }

    /// The scores of a teacher, one a row, if there are any.
    pub fn teacher(&self) -> Option<&[f64]> {
        self.examples.teacher.as_deref()
    }

    /// Adds other rows with the same columns, at whose values the strategy `fs-ed` takes the densities
    /// of features. They stay in [`queries_subset`](Self::queries_subset).
    #[must_use]
    pub fn with_validation(mut self, validation: impl Into<Arc<Dataset<'static>>>) -> Self {
        self.examples.validation = Some(validation.into());
        self.hashed_again()
    }

    /// Hashes again for other rows or scores, where the entries are elsewhere.
    fn hashed_again(mut self) -> Self {
        let extended = |whole: Whole| Whole {
            hash: DataHash::extended(whole.hash, &self),
            ..whole
        };
        self.whole = self.whole.map(extended);
        self
    }

    /// The validation rows, if there are any.
    pub fn validation(&self) -> Option<&Dataset<'static>> {
        self.examples.validation.as_deref()
    }

    /// The rows and columns as one nameless query, without a teacher, whose scores are of queries. Of a
    /// share of columns it is these columns alone.
    #[must_use]
    pub fn as_one_query(&self) -> Dataset<'_> {
        // A data set has rows.
        let queries = Queries::single(self.rows()).unwrap_or_else(|_| self.queries().clone());
        Dataset {
            columns: self.columns.view(),
            examples: Examples {
                labels: self.labels().into(),
                input_rows: self.examples.input_rows.clone(),
                ..Examples::unchecked(queries)
            },
            names: self.names.clone(),
            index_base: self.index_base,
            whole: None,
        }
    }

    /// The examples with other `columns`, which have the names of the present ones if there are as many.
    pub(crate) fn with_columns<'c>(
        &self,
        columns: Columns<'c>,
    ) -> Result<Dataset<'c>, DatasetError> {
        let dataset = Dataset {
            examples: self.examples.clone().into_owned(),
            names: self.names.clone().filter(|_| columns.width == self.width()),
            columns,
            index_base: self.index_base,
            whole: None,
        };
        dataset.checked()
    }

    /// Says that these columns, if any, are a share of those of data with so many entries and this
    /// hash: they are the [`nonzeros`](Self::nonzeros) and the [`DataHash`] of the share, too.
    #[must_use]
    pub fn with_entries_elsewhere(mut self, nonzeros: usize, hash: DataHash) -> Self {
        self.whole = Some(Whole {
            nonzeros,
            hash,
            reading: 0,
        });
        self
    }

    /// Says how many bytes the entries that are elsewhere took while they were read.
    pub(crate) fn with_reading_memory(mut self, reading: u64) -> Self {
        self.whole = self.whole.map(|whole| Whole { reading, ..whole });
        self
    }

    /// Takes over from `data` which whole the columns are a share of, if they are a share.
    pub(crate) fn with_whole_of(mut self, data: &Dataset<'_>) -> Self {
        self.whole = data.whole;
        self
    }

    /// The data set, if it has as many rows as queries and all values are finite.
    fn checked(mut self) -> Result<Self, DatasetError> {
        let columns = &mut self.columns;
        // Features of all columns are their positions.
        let width = columns.width;
        columns.features.take_if(|features| features.len() == width);
        let height = columns.height;
        let finite = !columns.any(|value| !value.is_finite());
        DatasetError::check_length("rows", self.rows(), height)?;
        if finite {
            return Ok(self);
        }
        for position in 0..self.stored_columns() {
            let mut entries = self.column(position).iter();
            if let Some((row, value)) = entries.find(|(_, value)| !value.is_finite()) {
                let column = self.feature(position) as usize;
                return Err(DatasetError::Value { row, column, value });
            }
        }
        Ok(self)
    }

    /// The columns.
    pub(crate) fn columns(&self) -> &Columns<'a> {
        &self.columns
    }

    /// Number of examples `m`.
    pub fn rows(&self) -> usize {
        self.examples.queries.rows()
    }

    /// Number of feature columns `n`, empty ones included.
    pub fn width(&self) -> usize {
        self.columns.width
    }

    /// Number of columns that are stored: those with an entry, and any empty ones that came
    /// in borrowed arrays.
    pub fn stored_columns(&self) -> usize {
        self.columns.len()
    }

    /// Number of stored entries.
    pub fn nonzeros(&self) -> usize {
        let own = || self.columns.values.len();
        self.whole.map_or_else(own, |whole| whole.nonzeros)
    }

    /// Bytes that reading such data takes at its peak: the rows, packed, while the columns are made of
    /// them. Chunks of text, some MiB, come on top. O(nnz) time.
    pub fn reading_memory(&self) -> u64 {
        let elsewhere = self.whole.map_or(0, |whole| whole.reading);
        self.memory() + runs::bytes(&self.columns.values) + elsewhere
    }

    /// Bytes held: columns, labels, queries and their identifiers, places of rows in the input, names, scores
    /// of a teacher and validation rows; borrowed arrays are included.
    pub fn memory(&self) -> u64 {
        let names = self.names.as_ref().map_or(0, FeatureNames::memory);
        let validation = self.validation().map_or(0, Dataset::memory);
        (self.columns.memory() + self.examples.memory() + names) as u64 + validation
    }

    /// The stored column at `position`.
    ///
    /// # Panics
    /// When `position >= self.stored_columns()`.
    pub fn column(&self, position: usize) -> Column<'_> {
        self.columns.column(position)
    }

    /// 0-based feature of the stored column at `position`.
    ///
    /// # Panics
    /// When `position >= self.stored_columns()`.
    pub fn feature(&self, position: usize) -> u32 {
        self.columns.feature(position)
    }

    /// The stored column of the 0-based `feature`, if it has one.
    pub fn position(&self, feature: u32) -> Option<usize> {
        self.columns.position(feature)
    }

    /// Scores of the rows: the sum of weight times value over the 0-based `features`, added in
    /// their order, so that equal rows have the same score to the last bit. Features that the data
    /// do not have count nothing.
    ///
    /// # Panics
    /// Unless there are as many weights as features.
    pub fn scores(&self, features: &[u32], weights: &[f64]) -> Vec<f64> {
        assert_eq!(features.len(), weights.len(), "one weight a feature");
        let mut scores = vec![0.0; self.rows()];
        for (&feature, weight) in features.iter().zip(weights) {
            let Some(position) = self.position(feature) else {
                continue;
            };
            for (row, value) in self.column(position).iter() {
                scores[row] += weight * value;
            }
        }
        scores
    }

    /// The labels, one a row.
    pub fn labels(&self) -> &[f64] {
        &self.examples.labels
    }

    /// The partition of the rows.
    pub fn queries(&self) -> &Queries {
        &self.examples.queries
    }

    /// Names of the features, if they have any.
    pub fn names(&self) -> Option<&FeatureNames> {
        self.names.as_ref()
    }

    /// The name of a 0-based feature, if it has one.
    pub fn name_of(&self, feature: u32) -> Option<&str> {
        self.names.as_ref()?.of(feature)
    }

    /// How the source counts its columns.
    pub fn index_base(&self) -> IndexBase {
        self.index_base
    }

    /// The position in the input of every row, where that is not the row itself.
    pub fn input_rows(&self) -> Option<&[u32]> {
        self.examples.input_rows.as_deref()
    }

    /// The row here of every row of the input.
    pub(crate) fn rows_of_input(&self) -> Vec<u32> {
        self.in_input_order((0..).take(self.rows()).collect())
    }

    /// Values of the rows of the input, in the order of the rows here.
    pub fn in_row_order<T: Copy>(&self, values: &[T]) -> Result<Vec<T>, DatasetError> {
        DatasetError::check_length("values of rows", self.rows(), values.len())?;
        Ok(match self.input_rows() {
            Some(order) => order.iter().map(|&row| values[row as usize]).collect(),
            None => values.to_vec(),
        })
    }

    /// Values of the rows, in the order of the input.
    ///
    /// # Panics
    /// Unless there are as many values as rows.
    pub fn in_input_order<T: Copy>(&self, values: Vec<T>) -> Vec<T> {
        assert_eq!(values.len(), self.rows(), "one value a row");
        let mut ordered = values.clone();
        for (&row, value) in self.input_rows().into_iter().flatten().zip(values) {
            ordered[row as usize] = value;
        }
        ordered
    }
}
