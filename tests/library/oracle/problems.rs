//! Small problems with all known difficulties.

use std::ops::Range;

use proptest::prelude::*;

use super::Problem;

/// `columns` columns of small half-integers. Some are constant, or equal, mirrored or shifted copies. Some rows are
/// empty, and queries have the given sizes.
pub fn problems(
    sizes: impl Strategy<Value = Vec<usize>>,
    columns: Range<usize>,
) -> impl Strategy<Value = Problem> {
    sizes
        .prop_flat_map(move |sizes| {
            let rows: usize = sizes.iter().sum();
            let value = prop_oneof![5 => Just(0i32), 2 => Just(2), 2 => -5i32..6];
            let column = prop::collection::vec(value, rows);
            let all = prop::collection::vec(
                (column, 0u8..8, any::<prop::sample::Index>()),
                columns.clone(),
            );
            let label = prop_oneof![Just(0.0), Just(1.0), -1.0f64..1.0];
            let labels = prop::collection::vec(label, rows);
            let empty_row = any::<prop::sample::Index>();
            (Just(sizes), all, labels, empty_row)
        })
        .prop_map(|(sizes, drawn, labels, empty_row)| {
            let mut x: Vec<Vec<f64>> = Vec::new();
            for (halves, special, other) in drawn {
                let mut column: Vec<f64> = halves.iter().map(|&v| f64::from(v) / 2.0).collect();
                match special {
                    0 => column.fill(1.5),
                    1 if !x.is_empty() => column.clone_from(&x[other.index(x.len())]),
                    2 if !x.is_empty() => {
                        column = x[other.index(x.len())].iter().map(|v| 0.5 - v).collect();
                    }
                    _ => column[empty_row.index(labels.len())] = 0.0,
                }
                x.push(column);
            }
            Problem { x, labels, sizes }
        })
}

/// From tiny to huge.
pub fn lambdas() -> impl Strategy<Value = f64> {
    prop_oneof![
        Just(1e-6),
        Just(1e6),
        Just(1.0),
        (-20i32..20).prop_map(|e| 2f64.powi(e))
    ]
}
