//! Names of features.

use std::sync::Arc;

use super::Strings;

/// Names of the features, the first for the first column whichever way the
/// file counts its indices. Clones share them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FeatureNames(Arc<Strings>);

impl FeatureNames {
    /// Names in column order.
    pub fn new(names: Strings) -> Self {
        Self(Arc::new(names))
    }

    /// How many columns have a name.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether no column has one.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Name of the feature at the 0-based column `feature`.
    pub fn of(&self, feature: u32) -> Option<&str> {
        self.0.get(feature as usize)
    }

    /// Names in column order.
    pub fn iter(&self) -> impl Iterator<Item = &str> {
        self.0.iter()
    }

    /// Bytes held.
    pub fn memory(&self) -> usize {
        self.0.memory()
    }
}

impl<S: AsRef<str>> FromIterator<S> for FeatureNames {
    fn from_iter<I: IntoIterator<Item = S>>(names: I) -> Self {
        Self(Arc::new(names.into_iter().collect()))
    }
}
