//! Numbers of columns and column classes, and messages where there are none.

use serde::{Deserialize, Serialize};

/// The numbers of columns and classes of a data set, and their size.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    /// All feature columns of the data: constant columns and class members.
    pub columns: usize,
    /// Columns constant within every query, empty ones included.
    pub constant_columns: usize,
    /// Columns without any entry.
    pub empty_columns: usize,
    /// Distinct centred forms up to sign: the candidates.
    pub column_classes: usize,
    /// Candidates whose entries all lie in one query.
    pub single_query_classes: usize,
    /// Stored entries of all columns of the data.
    pub nonzeros: usize,
    /// Entries of the candidates.
    pub class_nonzeros: usize,
    /// Pairs of a candidate and one of its queries, for candidates in several queries.
    pub pieces: usize,
    /// The unit `u` of ridge parameters, see [`ColumnClasses::unit`](super::ColumnClasses::unit).
    #[serde(skip)]
    pub unit: f64,
}

impl Summary {
    /// The joined classes of several shares, each class of which is in one share only. It has no unit.
    pub(crate) fn joined(shares: &[Self]) -> Self {
        let sum = |field: fn(&Self) -> usize| shares.iter().map(field).sum::<usize>();
        let columns = shares.first().map_or(0, |share| share.columns);
        let elsewhere = sum(|share| share.columns) - columns;
        Self {
            columns,
            constant_columns: sum(|share| share.constant_columns) - elsewhere,
            empty_columns: sum(|share| share.empty_columns) - elsewhere,
            column_classes: sum(|share| share.column_classes),
            single_query_classes: sum(|share| share.single_query_classes),
            nonzeros: sum(|share| share.nonzeros),
            class_nonzeros: sum(|share| share.class_nonzeros),
            pieces: sum(|share| share.pieces),
            unit: 0.0,
        }
    }
}

/// The message that none of these columns is a candidate.
pub(crate) fn none_varies(columns: usize) -> String {
    let columns = match columns {
        0 => return "no row has a value, so that there are no columns".to_owned(),
        1 => "the only column is".to_owned(),
        columns => format!("all {columns} columns are"),
    };
    format!(
        "{columns} constant within every query, so no feature can tell the examples of a query \
         apart"
    )
}

/// The message that none of these queries has two rows.
pub(crate) fn none_compares(queries: usize) -> String {
    let rows = match queries {
        1 => "the data have a single row".to_owned(),
        queries => format!("each of the {queries} queries has a single row"),
    };
    format!("{rows}, and only examples of a query are compared")
}
