//! The scale of the training labels.

use std::borrow::Cow;

use super::queries::Queries;
use crate::linalg::kernels::largest;
use crate::names::names;

/// A transformation of the training labels within each query. It keeps the order of a query's examples, so measures
/// of rankings do not change. Errors are in its units.
///
/// Queries with widely spread labels dominate the squared error, but not a ranking. Let `mean` and `sd` be the mean
/// and the standard deviation (over all `|Q|` examples) of a query:
///
/// | scale | label |
/// |---|---|
/// | `raw` | `y` |
/// | `sqrt-sd` | `(y - mean) / sqrt(sd)` |
/// | `unit` | `(y - mean) / sd` |
///
/// A query with equal labels drops out: its labels become 0. `docs/evidence.md` measures the value of each scale.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum LabelScale {
    /// Unchanged labels.
    #[default]
    Raw,
    /// Divided by the root of the query's standard deviation: halfway to `unit`.
    SqrtSd,
    /// Divided by the query's standard deviation.
    Unit,
}

names!(LabelScale, "scale of labels", Raw => "raw", SqrtSd => "sqrt-sd", Unit => "unit");

impl LabelScale {
    /// Whether labels stay unchanged.
    pub fn is_raw(&self) -> bool {
        *self == Self::Raw
    }

    /// The labels, `m`, on this scale.
    pub(crate) fn apply<'a>(self, labels: &'a [f64], queries: &Queries) -> Cow<'a, [f64]> {
        if self == Self::Raw {
            return Cow::Borrowed(labels);
        }
        let mut scaled = labels.to_vec();
        for query in queries.split_mut(&mut scaled) {
            self.apply_to(query);
        }
        Cow::Owned(scaled)
    }

    fn apply_to(self, labels: &mut [f64]) {
        if labels.iter().all(|label| *label == labels[0]) {
            labels.fill(0.0);
            return;
        }
        take_off_offset(labels);
        let count = labels.len() as f64;
        // The squares are of shares of the largest label, so huge and tiny labels stay in range.
        let largest = largest(labels);
        let shares = |labels: &[f64], mean: f64| -> f64 {
            let squares = labels.iter().map(|y| (y / largest - mean).powi(2));
            (squares.sum::<f64>() / count).sqrt()
        };
        let mean = labels.iter().map(|y| y / largest).sum::<f64>() / count;
        let deviation = shares(labels, mean);
        let divisor = match self {
            // For labels below 1e-308, the quotient is not finite.
            Self::SqrtSd if largest < f64::MIN_POSITIVE => deviation.sqrt() / largest.sqrt(),
            Self::SqrtSd => (deviation / largest).sqrt(),
            _ => deviation,
        };
        for label in labels {
            *label = (*label / largest - mean) / divisor;
        }
    }
}

/// The relative spread of labels below which shares of the largest would lose digits.
const OFFSET: f64 = 1e-4;

/// Removes a common offset that is large beside the spread of the labels, which is exact. Labels without such an
/// offset keep their bits.
fn take_off_offset(labels: &mut [f64]) {
    let first = labels[0];
    let spread = labels.iter().map(|label| (label - first).abs());
    if spread.fold(0.0, f64::max) < OFFSET * first.abs() {
        for label in labels {
            *label -= first;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scaled(scale: LabelScale, labels: &[f64]) -> Vec<f64> {
        let queries = Queries::from_sizes(&[labels.len()]).unwrap();
        scale.apply(labels, &queries).into_owned()
    }

    fn assert_close(found: &[f64], expected: &[f64]) {
        for (found, expected) in found.iter().zip(expected) {
            assert!((found - expected).abs() < 1e-12, "{found} and {expected}");
        }
    }

    #[test]
    fn labels_are_divided_by_their_deviation_or_its_root() {
        // Mean 3, deviation 2.
        let labels = [1.0, 5.0, 1.0, 5.0];
        assert_eq!(scaled(LabelScale::Raw, &labels), labels);
        assert_close(&scaled(LabelScale::Unit, &labels), &[-1.0, 1.0, -1.0, 1.0]);
        let root = 2.0_f64.sqrt();
        let expected = [-root, root, -root, root];
        assert_close(&scaled(LabelScale::SqrtSd, &labels), &expected);
        let tiny = labels.map(|label| 1e-200 * label);
        assert_close(&scaled(LabelScale::Unit, &tiny), &[-1.0, 1.0, -1.0, 1.0]);
        for offset in [1e5, -1e8, 1e12] {
            let shifted = labels.map(|label| label + offset);
            assert_close(&scaled(LabelScale::Unit, &shifted), &[-1.0, 1.0, -1.0, 1.0]);
        }
    }

    #[test]
    fn the_root_of_a_tiny_deviation_is_no_zero() {
        let labels = [1.0, 5.0, 1.0, 5.0];
        for power in [300, 305, 308, 310, 316, 320] {
            let tiny: Vec<f64> = labels
                .iter()
                .map(|y| y * 10f64.powi(-160) * 10f64.powi(160 - power))
                .collect();
            let found = scaled(LabelScale::SqrtSd, &tiny);
            let expected = (2.0 * tiny[0]).sqrt();
            for (found, sign) in found.iter().zip([-1.0, 1.0, -1.0, 1.0]) {
                let off = (found - sign * expected).abs();
                assert!(off < 1e-3 * expected, "{power}: {found:e} and {expected:e}");
            }
        }
    }

    #[test]
    fn a_query_of_equal_labels_stays_out() {
        for scale in [LabelScale::SqrtSd, LabelScale::Unit] {
            assert_eq!(scaled(scale, &[0.1, 0.1, 0.1]), [0.0; 3]);
            assert_eq!(scaled(scale, &[4.0]), [0.0]);
        }
    }
}
