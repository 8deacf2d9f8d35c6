//! Divisors of columns.

use crate::names::names;

/// The divisor of each column, applied before learning, so that one `lambda` suits columns of different sizes.
/// Weights stay in the units of the data.
///
/// | scale | divisor of a column with the query-centred values `v`, over all `m` rows |
/// |---|---|
/// | `none` | 1 |
/// | `sd` | `sqrt(|v|^2 / m)`, the root mean square |
/// | `max` | the largest `|v_i|` |
///
/// Zero entries stay zero. Query weights do not enter the divisor. Columns that are multiples of each other become
/// equal but stay separate column classes. They tie, and the lowest is selected first.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum Scale {
    /// Columns stay unchanged.
    #[default]
    None,
    /// The root mean centred square becomes 1.
    Sd,
    /// The largest absolute centred value becomes 1.
    Max,
}

names!(Scale, "scale", None => "none", Sd => "sd", Max => "max");

impl Scale {
    /// Whether columns stay unchanged.
    pub fn is_none(&self) -> bool {
        *self == Self::None
    }

    /// The divisor of a column of `rows` rows. `values` has its centred values, each with its number of rows.
    pub(super) fn divisor(self, values: &[(usize, f64)], rows: usize) -> f64 {
        let largest = values
            .iter()
            .fold(0.0_f64, |largest, (_, value)| largest.max(value.abs()));
        // Squares of shares of the largest value neither overflow nor all vanish.
        let square = |&(count, value): &(usize, f64)| count as f64 * (value / largest).powi(2);
        match self {
            Self::None => 1.0,
            Self::Sd => largest * (values.iter().map(square).sum::<f64>() / rows as f64).sqrt(),
            Self::Max => largest,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::columns::{ColumnClasses, QueryWeight};
    use crate::data::{Dataset, Queries};

    /// The columns centre to (3, -3, 0, 0, 0) and (0, 0, 2e200, -1e200, -1e200).
    #[test]
    fn columns_are_divided_by_what_their_centred_values_say() {
        let queries = Queries::from_sizes(&[2, 3]).unwrap();
        let (starts, values) = ([0, 1, 1, 2, 2, 2], [6.0, 3e200]);
        let data = Dataset::from_csr(&starts, &[0, 1], &values, 2, vec![0.0; 5], queries).unwrap();
        for (scale, divisors) in [
            (Scale::None, [1.0, 1.0]),
            (
                Scale::Sd,
                [(18.0_f64 / 5.0).sqrt(), (6.0_f64 / 5.0).sqrt() * 1e200],
            ),
            (Scale::Max, [3.0, 2e200]),
        ] {
            for weight in QueryWeight::ALL {
                let classes = ColumnClasses::scaled(&data, weight, scale);
                for (class, (divisor, value)) in divisors.into_iter().zip([6.0, 3e200]).enumerate()
                {
                    assert!((classes.factor(class).abs() * divisor - 1.0).abs() < 1e-14);
                    let root = weight.of(class + 2).sqrt();
                    let found = classes.column(class);
                    assert_eq!(found.rows.len(), 1, "sparse columns stay sparse");
                    let share = found.values[0].abs() * divisor / (value * root);
                    assert!((share - 1.0).abs() < 1e-14);
                }
            }
        }
    }
}
