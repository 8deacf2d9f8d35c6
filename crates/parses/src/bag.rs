//! Collecting the features of a sentence's candidates.

use std::fmt::{self, Write};

use crate::interner::Interner;

/// A value of 1: values are whole numbers of ten-thousandths, which every platform rounds alike
/// and a decimal file gives back.
pub(super) const ONE: i32 = 10_000;

/// The number that so many ten-thousandths are.
pub(super) fn real(units: i32) -> f64 {
    f64::from(units) / f64::from(ONE)
}

/// Whether labels are all the same: there is nothing to rank.
pub(super) fn all_same(labels: &[i32]) -> bool {
    labels.windows(2).all(|pair| pair[0] == pair[1])
}

/// Rows of named features; columns are numbered by first occurrence.
#[derive(Debug, Default)]
pub(super) struct Bag {
    names: Interner,
    /// Reused for every name.
    name: String,
    /// Features of the row that is being filled, as they come.
    row: Vec<(u32, i32)>,
    entries: Vec<(u32, i32)>,
    /// One past the last entry of each row.
    ends: Vec<usize>,
}

impl Bag {
    /// Adds one to a feature of the row.
    pub(super) fn count(&mut self, name: fmt::Arguments<'_>) {
        self.add(name, ONE);
    }

    /// Adds ten-thousandths to a feature of the row.
    pub(super) fn add(&mut self, name: fmt::Arguments<'_>, units: i32) {
        self.name.clear();
        self.name
            .write_fmt(name)
            .expect("a string takes what is written");
        self.row.push((self.names.number(&self.name), units));
    }

    /// Ends the row: what was added to one feature is summed, zeros are left out.
    pub(super) fn end_row(&mut self) {
        self.row.sort_unstable_by_key(|&(feature, _)| feature);
        for same in self.row.chunk_by(|a, b| a.0 == b.0) {
            let sum = same.iter().map(|&(_, units)| units).sum();
            if sum != 0 {
                self.entries.push((same[0].0, sum));
            }
        }
        self.row.clear();
        self.ends.push(self.entries.len());
    }

    /// Gives the entries of the row that ended last other values than zero, by feature and value.
    pub(super) fn revalue_last_row(&mut self, value: impl Fn(&str, i32) -> i32) {
        let last = self.ends.len().saturating_sub(2);
        let start = if self.ends.len() < 2 {
            0
        } else {
            self.ends[last]
        };
        for (feature, units) in &mut self.entries[start..] {
            *units = value(self.names.name(*feature), *units);
        }
    }

    /// The names of the features, in the order of their numbers.
    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.names.strings().iter()
    }

    /// The entries of one row.
    pub(super) fn row(&self, row: usize) -> &[(u32, i32)] {
        let start = row.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.entries[start..self.ends[row]]
    }

    /// The name of a feature.
    pub(super) fn name(&self, feature: u32) -> &str {
        self.names.name(feature)
    }
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
        bag.add(format_args!("a"), -5000);
        bag.add(format_args!("c"), 0);
        bag.end_row();
        assert_eq!(bag.row(0), [(0, 2 * ONE), (1, ONE)]);
        assert_eq!(bag.row(1), [(1, -5000)]);
        assert_eq!(bag.name(1), "a");
        assert!((real(-625) + 0.0625).abs() < f64::EPSILON);
    }
}
