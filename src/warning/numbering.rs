//! Columns that count the rows, as an index does, or give each row an identifier.
//!
//! A selection takes such a column wherever the order of the rows knows of the labels, and on other rows
//! it means nothing. Sound columns are too unlikely to look like these by chance:
//!
//! - numbers that rise, or fall, by the same step from row to row of the file: `0, 1, ..., m - 1`, and what
//!   scaling makes of them; `0, 1, ..., m - 1` also in any order, as where an index of pandas was shuffled;
//! - whole numbers that rise by 1 from row to row, and begin again with another part of the rows;
//! - whole numbers of which none comes back, where the name of the column ends as names of identifiers do.
//!
//! `1, 2, ..., m` in another order may be ranks, which are among the best features there are.
//!
//! Only columns with an entry in each row are looked at, or in all rows but one of each query.

use std::collections::HashSet;

use crate::data::{Column, Dataset};

/// Fewer rows tell nothing: 1, 2, 3 and 4 may be a feature.
const LEAST_ROWS: usize = 10;

/// How far a number may be from its place, in steps: it may have had 32 bits once.
const ROUNDING: f64 = 0.05;

/// Last words of names of identifiers.
const ID_WORDS: [&str; 14] = [
    "id",
    "ids",
    "docid",
    "rowid",
    "itemid",
    "productid",
    "pageid",
    "uid",
    "pid",
    "uuid",
    "docno",
    "sku",
    "isbn",
    "asin",
];

/// What numbers that count the rows are, after the name of their column.
const ROWS: &str =
    "counts the rows, as an index of pandas or R does, and says nothing of other rows";

/// What numbers are of which each row has another one.
const IDENTIFIERS: &str =
    "has another whole number in each row, as identifiers are, which say nothing of other rows";

/// What the numbers in the `column` of a feature are, where they number the rows of `data`.
pub(super) fn numbering(
    column: Column<'_>,
    feature: u32,
    data: &Dataset<'_>,
) -> Option<&'static str> {
    let (rows, queries) = (data.rows(), data.queries().len());
    let present = column.rows.len();
    if rows < LEAST_ROWS || present + queries < rows {
        return None;
    }
    let whole = column.values.iter().all(|value| value.fract() == 0.0);
    // One row may have 0, which is no entry.
    let complete = present + 1 >= rows;
    if !whole && !complete {
        return None;
    }
    let values = data.in_input_order(of_rows(column, data));
    if complete && (is_evenly_spaced(&values) || counts_from_zero(&values)) {
        // Places in the only query, or years, count its rows with good reason.
        let from_first = values.contains(&0.0) || values.contains(&1.0);
        return (queries > 1 || from_first).then_some(ROWS);
    }
    if !whole {
        return None;
    }
    if queries > 1 && begins_again(&values, queries) {
        return Some(ROWS);
    }
    let is_named = || data.name_of(feature).is_some_and(is_of_identifiers);
    (complete && is_named() && never_repeats(&values)).then_some(IDENTIFIERS)
}

/// Whether a name ends as those of identifiers do: `doc_id`, `Row.ID`, `docId`.
fn is_of_identifiers(name: &str) -> bool {
    let mut word = String::new();
    let mut lower = false;
    for letter in name.chars() {
        if !letter.is_alphanumeric() || (lower && letter.is_uppercase()) {
            word.clear();
        }
        lower = letter.is_lowercase();
        word.extend(
            letter
                .to_lowercase()
                .filter(|letter| letter.is_alphanumeric()),
        );
    }
    ID_WORDS.contains(&word.as_str())
}

/// The values of a column, one a row.
fn of_rows(column: Column<'_>, data: &Dataset<'_>) -> Vec<f64> {
    let mut values = vec![0.0; data.rows()];
    for (row, value) in column.iter() {
        values[row] = value;
    }
    values
}

/// Whether each of several values is as far from the one before it.
fn is_evenly_spaced(values: &[f64]) -> bool {
    let [first, .., last] = values else {
        return false;
    };
    let step = (last - first) / (values.len() - 1) as f64;
    let is_in_place =
        |(place, value): (usize, &f64)| ((value - first) / step - place as f64).abs() <= ROUNDING;
    step != 0.0 && step.is_finite() && values.iter().enumerate().all(is_in_place)
}

/// Whether each of the whole numbers from 0 on is there once, in any order.
fn counts_from_zero(values: &[f64]) -> bool {
    let mut taken = vec![false; values.len()];
    values.iter().all(|&value| {
        // Past the end, or between two numbers, it is none of them.
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
        let place = value as usize;
        let mark = taken.get_mut(place).filter(|_| place as f64 == value);
        mark.is_some_and(|mark| !std::mem::replace(mark, true))
    })
}

/// Whether whole numbers count the rows of a few parts of the data, each from the first number on. Parts
/// that are queries have places of rows in them, which may be a feature.
fn begins_again(values: &[f64], queries: usize) -> bool {
    let first = values[0];
    let mut parts = 1;
    let counts = values.windows(2).all(|pair| {
        parts += usize::from(pair[1] == first);
        pair[1] == pair[0] + 1.0 || pair[1] == first
    });
    counts && 2 * parts <= queries
}

fn never_repeats(values: &[f64]) -> bool {
    let mut seen = HashSet::new();
    values.iter().all(|value| seen.insert(value.to_bits()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What the numbers in a column of this name are, in queries of so many rows.
    fn found(size: usize, name: &str, values: &[f64]) -> Option<&'static str> {
        let row =
            |(row, value): (usize, &f64)| format!("{} qid:{} 1:{value}\n", row % 3, row / size);
        let rows: Vec<String> = values.iter().enumerate().map(row).collect();
        let data = crate::data::parsed(&rows.concat());
        let data = data.with_names([name].into_iter().collect()).unwrap();
        numbering(data.column(0), 0, &data)
    }

    /// `value` of each of the numbers from 0 on.
    fn all(rows: u32, value: impl Fn(f64) -> f64) -> Vec<f64> {
        (0..rows).map(|row| value(row.into())).collect()
    }

    /// `values` in an order that follows nothing.
    fn shuffled(mut values: Vec<f64>) -> Vec<f64> {
        let rows = values.len();
        (0..rows).for_each(|row| values.swap(row, (row * 7 + 3) % rows));
        values
    }

    #[test]
    fn columns_that_count_rows_are_told_from_others() {
        // As a column of 32 bits has it.
        #[expect(clippy::cast_possible_truncation)]
        let narrow = |row: f64| f64::from((row / 7.0 - 3.0) as f32);
        let parts = [all(20, |row| row), all(16, |row| row)].concat();
        for (size, expected, values) in [
            (5, Some(ROWS), all(60, narrow)),
            (5, Some(ROWS), all(60, |row| row / 7.0 - 3.0)),
            (5, Some(ROWS), all(17, |row| 17.0 - row)),
            (5, Some(ROWS), shuffled(all(60, |row| row))),
            (2, Some(ROWS), all(12, |row| 100.0 + row)),
            (2, Some(ROWS), all(12, |row| 10.0 * row)),
            (2, None, all(9, |row| 1.0 + row)),
            // Indices of parts that were put together; places in queries may be a feature.
            (4, Some(ROWS), parts),
            (4, None, all(36, |row| row % 4.0)),
            // A single query has places, but no years.
            (40, Some(ROWS), all(40, |row| 1.0 + row)),
            (40, Some(ROWS), all(40, |row| 40.0 - row)),
            (40, None, all(40, |row| 1990.0 + row)),
            // Ranks, prices, times, numbers that are all different, counts that come back, lengths, a number a query.
            (5, None, shuffled(all(60, |row| 1.0 + row))),
            (4, None, shuffled(all(40, |row| 100_000.0 + 977.0 * row))),
            (4, None, shuffled(all(40, |row| 1.6e9 + row * row))),
            (4, None, all(40, f64::sqrt)),
            (4, None, all(40, |row| row * row)),
            (4, None, all(40, |row| row * row % 31.0)),
            (4, None, all(40, |row| 20_210_101.0 + row * 7.0 % 28.0)),
            (4, None, all(40, |row| (row / 4.0).floor())),
            (4, None, all(40, |_| 3.0)),
        ] {
            assert_eq!(found(size, "x", &values), expected, "{values:?}");
        }
    }

    #[test]
    fn identifiers_are_told_by_their_name_where_none_comes_back() {
        let other = shuffled(all(30, |row| 3.0 * row * row + 2.0));
        let mut twice = other.clone();
        twice[3] = twice[7];
        for name in [
            "id",
            "ID",
            "doc_id",
            "docId",
            "Row.ID",
            "docid",
            "SKU",
            "Time-Stamp\tid",
        ] {
            assert_eq!(found(4, name, &other), Some(IDENTIFIERS), "{name}");
            assert_eq!(found(4, name, &twice), None, "{name}");
            assert_eq!(found(4, name, &all(30, f64::sqrt)), None, "{name}");
        }
        for name in [
            "acid",
            "grid",
            "humid",
            "h_index",
            "price",
            "id_of_text_length",
            "body\tmass",
            "ID5 ",
        ] {
            assert_eq!(found(4, name, &other), None, "{name}");
        }
    }
}
