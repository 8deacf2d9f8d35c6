//! The deviations of columns within queries, which reveal different units.

use super::{ColumnClasses, Deviation};

/// A deviation below this share of the largest value is rounding.
pub(crate) const ROUNDING: f64 = 1e-9;

/// Largest ratio between deviations of columns in sound data.
pub(crate) const UNITS: f64 = 1e7;

/// Columns with this share of the squares of centred rows leave none to the others.
const ALMOST_ALL: f64 = 0.999;

/// The number of first columns that have almost all of the descending squares: at most four, and at most half of
/// all.
pub(crate) fn dominating(squares: &[f64]) -> Option<usize> {
    let most = ALMOST_ALL * squares.iter().sum::<f64>();
    let mut sum = 0.0;
    let enough = |squares: &f64| {
        sum += squares;
        sum > most
    };
    let first = squares.iter().take(4.min(squares.len() / 2));
    Some(1 + first.clone().position(enough)?)
}

impl ColumnClasses {
    /// Whether the units of unscaled columns differ enough for a warning.
    pub(crate) fn units_differ(&self) -> bool {
        let ratio = self
            .deviations()
            .map(|[(least, _), (largest, _)]| largest / least);
        self.scale().is_none() && ratio.is_some_and(|ratio| ratio > UNITS)
    }

    /// Whether a few unscaled columns have almost all squares, so that the unit of lambda is theirs.
    pub(crate) fn are_dominated(&self) -> bool {
        let mut squares: Vec<f64> = (0..self.len())
            .map(|class| self.squared_norm(class))
            .collect();
        squares.retain(|squares| *squares > 0.0);
        squares.sort_unstable_by(|one, other| other.total_cmp(one));
        self.scale().is_none() && dominating(&squares).is_some()
    }

    /// The least and the largest deviation of classes with these `largest` absolute values in the data. `None` if
    /// all are constant up to rounding.
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
