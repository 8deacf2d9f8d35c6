//! The features of a sentence's candidates.

use std::fmt::{self, Write};
use std::hash::BuildHasher;

use foldhash::fast::FixedState;
use hashbrown::HashTable;
use rankrls_files::Strings;

/// Rows of named features. Columns are numbered by first occurrence.
#[derive(Debug, Default)]
pub(super) struct Bag {
    names: Interner,
    /// Reused for every name.
    name: String,
    /// Features of the unfinished row, in the order they were added.
    row: Vec<(u32, f64)>,
    entries: Vec<(u32, f64)>,
    /// One past the last entry of each row.
    ends: Vec<usize>,
}

impl Bag {
    /// Adds one to a feature of the row.
    pub(super) fn count(&mut self, name: fmt::Arguments<'_>) {
        self.add(name, 1.0);
    }

    /// Adds a value to a feature of the row.
    pub(super) fn add(&mut self, name: fmt::Arguments<'_>, value: f64) {
        self.name.clear();
        self.name
            .write_fmt(name)
            .expect("a string takes what is written");
        self.row.push((self.names.number(&self.name), value));
    }

    /// Ends the row: sums the values of each feature and drops zeros.
    pub(super) fn end_row(&mut self) {
        self.row.sort_unstable_by_key(|&(feature, _)| feature);
        for same in self.row.chunk_by(|a, b| a.0 == b.0) {
            let sum: f64 = same.iter().map(|&(_, value)| value).sum();
            if sum != 0.0 {
                self.entries.push((same[0].0, sum));
            }
        }
        self.row.clear();
        self.ends.push(self.entries.len());
    }

    /// The names of the features, by number.
    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.names.strings().iter()
    }

    /// The entries of one row.
    pub(super) fn row(&self, row: usize) -> &[(u32, f64)] {
        let start = row.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.entries[start..self.ends[row]]
    }
}

/// Numbers distinct strings by first occurrence.
///
/// The strings lie in one buffer, and the table holds only numbers: a million names cost their bytes and some 20
/// more each.
#[derive(Debug, Clone, Default)]
pub(super) struct Interner {
    strings: Strings,
    numbers: HashTable<u32>,
}

impl Interner {
    /// Number of distinct strings.
    pub(super) fn len(&self) -> usize {
        self.strings.len()
    }

    /// The string numbered `number`.
    ///
    /// # Panics
    /// If there is no such string.
    pub(super) fn name(&self, number: u32) -> &str {
        name(&self.strings, number)
    }

    /// The number of `name`, which gets a new one if it has none.
    ///
    /// # Panics
    /// At 2^32 - 1 strings.
    pub(super) fn number(&mut self, name: &str) -> u32 {
        if let Some(number) = self.find(name) {
            return number;
        }
        let number = u32::try_from(self.len()).expect("fewer than 2^32 names");
        self.strings.push(name);
        let rehash = |&number: &u32| hash(self::name(&self.strings, number));
        self.numbers.insert_unique(hash(name), number, rehash);
        number
    }

    /// The number of `name`, if it has one.
    pub(super) fn find(&self, name: &str) -> Option<u32> {
        let is_it = |&number: &u32| self.name(number) == name;
        self.numbers.find(hash(name), is_it).copied()
    }

    /// The strings, by number.
    pub(super) fn strings(&self) -> &Strings {
        &self.strings
    }
}

fn name(strings: &Strings, number: u32) -> &str {
    strings.get(number as usize).expect("a known number")
}

/// The hash finds strings and decides nothing else, so it may differ between platforms.
fn hash(name: &str) -> u64 {
    FixedState::default().hash_one(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_features_of_a_row_are_summed() {
        let mut bag = Bag::default();
        bag.count(format_args!("b"));
        bag.count(format_args!("a"));
        bag.count(format_args!("b"));
        bag.end_row();
        bag.add(format_args!("a"), -0.0625);
        bag.add(format_args!("c"), 0.0);
        bag.end_row();
        assert_eq!(bag.row(0), [(0, 2.0), (1, 1.0)]);
        assert_eq!(bag.row(1), [(1, -0.0625)]);
        assert!(bag.names().eq(["b", "a", "c"]));
    }

    #[test]
    fn numbers_follow_first_occurrence() {
        let mut interner = Interner::default();
        assert_eq!(interner.find("a"), None);
        for number in 0..1000 {
            assert_eq!(interner.number(&format!("name{number}")), number);
        }
        assert_eq!(interner.number("name7"), 7);
        assert_eq!(interner.find("name999"), Some(999));
        assert_eq!(interner.find("name1000"), None);
        assert_eq!(interner.name(3), "name3");
        assert_eq!(interner.strings().len(), 1000);
    }
}
