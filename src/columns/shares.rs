//! Column classes of which some are elsewhere: shares that are joined, and classes without their entries.

use super::members::{Factors, Members};
use super::{ColumnClasses, Summary};
use crate::data::Columns;

impl ColumnClasses {
    /// The classes of several data sets with the same rows and columns, of which each class is in one and
    /// empty in the others. Classes whose [entries are dropped](Self::drop_entries) stay so.
    pub(crate) fn joined(shares: &[Self]) -> Self {
        let mut order: Vec<(u32, usize, usize)> = Vec::new();
        for (number, share) in shares.iter().enumerate() {
            order.extend((0..share.len()).map(|class| (share.feature(class), number, class)));
        }
        order.sort_unstable();
        let mut all = shares[0].emptied();
        for (feature, number, class) in order {
            let share = &shares[number];
            if share.columns.rows.is_empty() {
                all.columns.push_length(feature, share.entries_of(class));
            } else {
                all.columns.push(feature, share.column(class).entries());
            }
            all.push(share, class);
        }
        let summaries: Vec<Summary> = shares.iter().map(|share| share.summary).collect();
        all.geometry.find_largest();
        all.summary = Summary::joined(&summaries);
        all.summary.unit = all.unit_of(all.rounded_norms());
        all
    }

    /// Some of these classes, whose `columns` are elsewhere.
    pub(crate) fn some(&self, classes: &[u32], columns: Columns<'static>) -> Self {
        let mut some = self.emptied();
        for &class in classes {
            some.push(self, class as usize);
        }
        some.columns = columns;
        some
    }

    /// Drops the entries of the columns: [`column`](Self::column) has nothing from here on.
    pub(crate) fn drop_entries(&mut self) {
        (self.columns.rows, self.columns.values) = Default::default();
    }

    /// The rows alone, without a class.
    fn emptied(&self) -> Self {
        Self {
            columns: Columns::none(self.columns.height, self.columns.width),
            members: Members::default(),
            factors: Factors::default(),
            geometry: self.geometry.emptied(),
            queries: self.queries.clone(),
            query_of_row: self.query_of_row.clone(),
            ..*self
        }
    }

    /// Adds a class of others that have the same rows, but for its column.
    fn push(&mut self, others: &Self, class: usize) {
        self.members.push(others.class(class).iter().copied());
        self.factors.push(&others.factors, class);
        self.geometry.push(&others.geometry, class);
    }

    /// The sum of `|v|^2` over all columns, members of classes one by one, rounded so that sums of several
    /// classes add up in any order.
    pub(crate) fn rounded_norms(&self) -> u128 {
        self.geometry.rounded_norms(&self.members)
    }

    /// The unit where columns have this sum of [`rounded_norms`](Self::rounded_norms).
    pub(crate) fn unit_of(&self, sum: u128) -> f64 {
        self.geometry.mean(sum, self.queries.rows())
    }

    /// These classes beside others elsewhere, whose largest `|v|^2` may be larger.
    pub(crate) fn beside(mut self, squared_norm: f64) -> Self {
        self.geometry.largest = self.geometry.largest.max(squared_norm);
        self
    }

    /// The candidates that `features` represent, as far as they represent one.
    pub(crate) fn positions(&self, features: impl Iterator<Item = u32>) -> Vec<u32> {
        let positions = features.filter_map(|feature| self.represented_by(feature));
        // Candidates count in 32 bits.
        positions
            .filter_map(|position| u32::try_from(position).ok())
            .collect()
    }
}
