//! Which pairs of examples are to be ordered.

use crate::names::names;

/// Which pairs of examples a model is to order, and what each of them counts.
///
/// | objective | loss | the same as |
/// |---|---|---|
/// | `query` | `sum_q 1/n sum_{i<j in q} ((y_i - y_j) - (f_i - f_j))^2` over queries `q` of `n` examples | ridge regression on rows and labels that are centred in every query |
/// | `global` | `sum_{i<j} ((y_i - y_j) - (f_i - f_j))^2` over all examples | one query and ridge parameter `lambda / m` |
/// | `pairs` | `sum_e c_e (g_e - (f_i - f_j))^2` over given preferences `e` of `i` to `j` | |
///
/// Under `global` a model without `h` of the examples has ridge parameter `lambda / (m - h)`, as in
/// RLScore: the loss is a sum over pairs, of which fewer are left.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum Objective {
    /// Pairs within queries (`QueryRankRLS`).
    #[default]
    Query,
    /// All pairs, whatever their queries (`GlobalRankRLS`).
    Global,
    /// Given pairs (`PPRankRLS`).
    Pairs,
}

names!(Objective, "objective", Query => "query", Global => "global", Pairs => "pairs");

impl Objective {
    /// Whether it is `query`, which is not written where it would be.
    pub fn is_query(&self) -> bool {
        *self == Self::Query
    }

    /// Whether it compares examples of the same query, and no others. Else all examples are one query.
    pub fn is_within_queries(self) -> bool {
        matches!(self, Self::Query)
    }
}
