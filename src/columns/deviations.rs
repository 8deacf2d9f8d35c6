//! The deviations of columns within queries, which tell of units that differ.

use super::{ColumnClasses, Deviation};

/// A deviation that is a smaller share of the largest value is one of rounding.
pub(crate) const ROUNDING: f64 = 1e-9;

impl ColumnClasses {
    /// The least deviation and the largest, of classes that have `largest` absolute values in the data; none where all
    /// are constant but for rounding.
    pub(super) fn extremes(&self, largest: &[f64]) -> Option<[Deviation; 2]> {
        let mut extremes: Option<[Deviation; 2]> = None;
        for (class, largest) in largest.iter().enumerate() {
            let entries = self.entries_of(class) as f64;
            let deviation = (self.squared_norm(class) / entries).sqrt();
            if !(deviation.is_finite() && deviation > ROUNDING * largest) {
                continue;
            }
            let one = (deviation, self.feature(class));
            let [least, most] = extremes.unwrap_or([one; 2]);
            let smaller = if one.0 < least.0 { one } else { least };
            let larger = if one.0 > most.0 { one } else { most };
            extremes = Some([smaller, larger]);
        }
        extremes
    }
}
