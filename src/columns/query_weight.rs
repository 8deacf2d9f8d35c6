//! The weight of a query.

use crate::data::Queries;
use crate::names::names;

/// The weight of a query, by the number of its examples `|Q|`. It is the factor `omega_Q` in the objective `sum_Q
/// omega_Q |L_Q (y_Q - f_Q)|^2 + lambda |w|^2` and in the leave-query-out error.
///
/// For residuals `r`, `|L_Q r_Q|^2 = 1/(2|Q|) sum_ij (r_i - r_j)^2` over all pairs of examples
/// of `Q`. The three weights keep that normaliser, drop it, and complete it to a mean:
///
/// | weight | `omega_Q` | objective of a query |
/// |---|---|---|
/// | `uniform` | `1` | `1/(2|Q|) sum_ij (r_i - r_j)^2`: an example counts the same wherever it is |
/// | `pairs` | `|Q|` | `1/2 sum_ij (r_i - r_j)^2`: every pair counts the same |
/// | `size` | `1/|Q|` | `1/2 mean_ij (r_i - r_j)^2`: a query counts the same whatever its size |
///
/// Only ratios of weights matter next to `lambda`: scaling all of them by a constant is
/// scaling `lambda` by its inverse.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum QueryWeight {
    /// `omega_Q = 1`.
    #[default]
    Uniform,
    /// `omega_Q = |Q|`.
    Pairs,
    /// `omega_Q = 1 / |Q|`.
    Size,
}

names!(QueryWeight, "query weight", Uniform => "uniform", Pairs => "pairs", Size => "size");

impl QueryWeight {
    /// `omega_Q` of a query of `examples`.
    pub fn of(self, examples: usize) -> f64 {
        match self {
            Self::Uniform => 1.0,
            Self::Pairs => examples as f64,
            Self::Size => 1.0 / examples as f64,
        }
    }

    /// `sqrt(omega_Q)` for every query, the scale of its centred rows. `None` if all are 1.
    pub(crate) fn scales(self, queries: &Queries) -> Option<Vec<f64>> {
        let scale = |range: std::ops::Range<usize>| self.of(range.len()).sqrt();
        (self != Self::Uniform).then(|| queries.ranges().map(scale).collect())
    }

    /// The root of its query's weight for every example, `m` numbers. `None` if all are 1.
    pub(crate) fn row_scales(self, queries: &Queries) -> Option<Vec<f64>> {
        let scales = self.scales(queries)?;
        let rows = queries.ranges().zip(scales);
        Some(
            rows.flat_map(|(range, scale)| std::iter::repeat_n(scale, range.len()))
                .collect(),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_scaled_by_the_root_of_their_querys_weight() {
        let queries = Queries::from_sizes(&[2, 1]).unwrap();
        let scales = |weight: QueryWeight| weight.row_scales(&queries);
        let root = 2.0_f64.sqrt();
        assert_eq!(scales(QueryWeight::Uniform), None);
        assert_eq!(scales(QueryWeight::Pairs), Some(vec![root, root, 1.0]));
        let half = 0.5_f64.sqrt();
        assert_eq!(scales(QueryWeight::Size), Some(vec![half, half, 1.0]));
    }
}
