//! The numbers of features.

use rankrls_files::Strings;

use crate::bag::{Bag, Interner};

/// The columns of a corpus.
#[derive(Debug, Default)]
pub(super) struct Columns {
    names: Interner,
    /// Whether new names become columns.
    open: bool,
    /// Names without a column.
    unseen: Interner,
}

impl Columns {
    /// Numbers features by first occurrence.
    pub(super) fn open() -> Self {
        Self {
            open: true,
            ..Self::default()
        }
    }

    /// Columns with these names. Returns a name that comes twice.
    pub(super) fn fixed<'n>(names: impl Iterator<Item = &'n str>) -> Result<Self, String> {
        let mut columns = Self::default();
        for (number, name) in names.enumerate() {
            columns.names.number(name);
            if columns.len() == number {
                return Err(name.to_owned());
            }
        }
        Ok(columns)
    }

    /// Closes the columns, and counts features without one anew.
    pub(super) fn close(&mut self) {
        self.open = false;
        self.unseen = Interner::default();
    }

    /// The column of each feature of a sentence, if it has one.
    pub(super) fn of(&mut self, bag: &Bag) -> Vec<Option<u32>> {
        let Self {
            names,
            open,
            unseen,
        } = self;
        let column = |name: &str| {
            if *open {
                return Some(names.number(name));
            }
            let column = names.find(name);
            if column.is_none() {
                unseen.number(name);
            }
            column
        };
        bag.names().map(column).collect()
    }

    pub(super) fn len(&self) -> usize {
        self.names.len()
    }

    /// Number of features without a column.
    pub(super) fn unseen(&self) -> usize {
        self.unseen.len()
    }

    pub(super) fn names(&self) -> &Strings {
        self.names.strings()
    }
}

/// The number of sentences that have each feature.
#[derive(Debug, Default)]
pub(super) struct Counts {
    names: Interner,
    sentences: Vec<u32>,
}

impl Counts {
    /// Counts a sentence.
    pub(super) fn add(&mut self, bag: &Bag) {
        for name in bag.names() {
            let number = self.names.number(name) as usize;
            if number == self.sentences.len() {
                self.sentences.push(0);
            }
            self.sentences[number] += 1;
        }
    }

    /// Columns for the features of at least `least` sentences, by first occurrence.
    pub(super) fn columns(&self, least: u32) -> Columns {
        let mut columns = Columns::default();
        for (name, &sentences) in self.names.strings().iter().zip(&self.sentences) {
            if sentences >= least {
                columns.names.number(name);
            }
        }
        columns
    }
}
