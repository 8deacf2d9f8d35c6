//! Column classes of one rank beside other ranks'.

use super::ColumnClasses;

impl ColumnClasses {
    /// The sum of `|v|^2` over all columns, members of classes counted one by one. It is rounded so that sums of
    /// several ranks add up in any order.
    pub(crate) fn rounded_norms(&self) -> u128 {
        self.geometry.rounded_norms(&self.members)
    }

    /// The unit for this sum of [`rounded_norms`](Self::rounded_norms).
    pub(crate) fn unit_of(&self, sum: u128) -> f64 {
        self.geometry.mean(sum, self.queries.rows())
    }

    /// These classes beside classes elsewhere, whose largest `|v|^2` may be larger.
    pub(crate) fn beside(mut self, squared_norm: f64) -> Self {
        self.geometry.largest = self.geometry.largest.max(squared_norm);
        self
    }

    /// The candidates that `features` represent. Others are skipped.
    pub(crate) fn positions(&self, features: impl Iterator<Item = u32>) -> Vec<u32> {
        let positions = features.filter_map(|feature| self.represented_by(feature));
        // Candidates count in 32 bits.
        positions
            .filter_map(|position| u32::try_from(position).ok())
            .collect()
    }
}
