//! Numbers and names of columns.

use std::collections::HashSet;
use std::path::Path;
use std::sync::Arc;

use rankrls_files::error::{Fault, quote};
use rankrls_files::{ReadError, Strings};

/// The number of a column inside the library. It counts from 0, however the file counts. [`IndexBase::file_index`] is
/// its number in the file, and [`FeatureNames::of`] its name. Steps, models and weights have features, and reports
/// for people have written indices.
pub type Feature = u32;

/// The number a data file gives its first column.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum IndexBase {
    /// Columns count from 0.
    Zero,
    /// Columns count from 1, as in svmlight files.
    #[default]
    One,
}

impl IndexBase {
    /// The index that a file with this base writes for the 0-based column `feature`.
    pub fn file_index(self, feature: Feature) -> u64 {
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

/// Names of the features, the first for the first column however the file counts. Or names of some features. Clones
/// share them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FeatureNames {
    names: Arc<Strings>,
    /// The column of each name, ascending, if only some columns have a name.
    features: Option<Arc<[Feature]>>,
}

impl FeatureNames {
    /// Names in column order.
    pub fn new(names: Strings) -> Self {
        Self {
            names: names.into(),
            features: None,
        }
    }

    /// Names of some 0-based columns, in any order. A repeated column keeps its first name. The columns between
    /// them take no memory.
    pub(crate) fn of_some<S: AsRef<str>>(names: impl IntoIterator<Item = (Feature, S)>) -> Self {
        let mut names: Vec<(Feature, S)> = names.into_iter().collect();
        names.sort_by_key(|(feature, _)| *feature);
        names.dedup_by_key(|(feature, _)| *feature);
        Self {
            features: Some(names.iter().map(|(feature, _)| *feature).collect()),
            names: Arc::new(names.into_iter().map(|(_, name)| name).collect()),
        }
    }

    /// Number of names.
    pub fn len(&self) -> usize {
        self.names.len()
    }

    /// Whether no column has a name.
    pub fn is_empty(&self) -> bool {
        self.names.is_empty()
    }

    /// Name of the feature at the 0-based column `feature`.
    pub fn of(&self, feature: Feature) -> Option<&str> {
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
    pub fn named(&self) -> impl Iterator<Item = (Feature, &str)> {
        let column = |position: usize| match &self.features {
            None => u32::try_from(position).unwrap_or(u32::MAX),
            Some(features) => features[position],
        };
        let names = self.iter().enumerate();
        names.map(move |(position, name)| (column(position), name))
    }

    /// Refuses these names of columns, from `file`, if `owner` knows other names for the same columns, which `base`
    /// counts. A column without a name agrees with any name.
    pub fn check_same<'n>(
        &self,
        known: impl IntoIterator<Item = (Feature, &'n str)>,
        base: IndexBase,
        owner: &str,
        file: &Path,
    ) -> Result<(), ReadError> {
        let known = known.into_iter();
        let pairs = known.filter_map(|(column, name)| Some((column, name, self.of(column)?)));
        let mut others =
            pairs.filter(|(_, name, found)| !name.is_empty() && !found.is_empty() && name != found);
        let Some((column, name, found)) = others.next() else {
            return Ok(());
        };
        let (column, name) = (base.file_index(column), quote(name.as_bytes()));
        let expected = format!("{name} as the name of column {column}, as {owner} has it");
        let fault = Fault::mismatch(expected, quote(found.as_bytes()));
        Err(fault.of(&file.display().to_string()))
    }

    /// The fault of these names for `columns` columns, if they are a list of something else. There are then more
    /// names than columns, names repeat, and all are numbers or there is one for each of the `rows`.
    pub(in crate::data) fn are_no_names(&self, columns: usize, rows: usize) -> Option<String> {
        let count = self.len();
        let is_number = |name: &str| name.is_empty() || name.parse::<f64>().is_ok();
        if count <= columns || !(count == rows || self.iter().all(is_number)) {
            return None;
        }
        let mut known = HashSet::new();
        let mut names = self.iter().filter(|name| !name.is_empty());
        let twice = names.find(|name| !known.insert(*name))?;
        Some(format!(
            "{count} names, {twice:?} for several: a list of labels or queries?"
        ))
    }

    /// Bytes held.
    pub fn memory(&self) -> usize {
        let features = self.features.as_ref();
        self.names.memory() + features.map_or(0, |features| size_of_val(&features[..]))
    }

    /// Drops empty names beyond `columns` columns: blank lines at the end of a file.
    pub(super) fn for_columns(self, columns: usize) -> Self {
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
