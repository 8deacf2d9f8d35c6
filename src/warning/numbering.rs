//! Columns that count the rows, like an index, or give each row an identifier.
//!
//! A selection takes such a column if the order of the rows reveals the labels. On other rows it means nothing.
//! Sound columns rarely look like these by chance:
//!
//! - numbers that rise or fall by the same step from row to row of the file: `0, 1, ..., m - 1`, or a multiple of
//!   it. Also `0, 1, ..., m - 1` in any order, like a shuffled index of pandas;
//! - whole numbers that rise by 1 from row to row, and begin again in another part of the rows;
//! - different whole numbers, under a name with the ending of an identifier.
//!
//! `1, 2, ..., m` in another order may be ranks, which are excellent features.
//!
//! A column is examined if every row has an entry, or every row except one in each query.

use std::collections::HashSet;

use crate::data::{Column, Dataset};

/// Fewer rows show nothing: 1, 2, 3 and 4 may be a feature.
const LEAST_ROWS: usize = 10;

/// Largest distance of a number from its place, in steps: it may have had 32 bits.
const ROUNDING: f64 = 0.05;

/// Last words in names of identifiers.
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

/// The words for numbers that count the rows. They follow the column's name.
const ROWS: &str =
    "counts the rows, as an index of pandas or R does, and says nothing of other rows";

/// The words for numbers that differ in every row.
const IDENTIFIERS: &str =
    "has another whole number in each row, as identifiers are, which say nothing of other rows";

/// The words for the numbers in the `column` of a feature, if they number the rows of `data`.
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
    // One row may have 0, which is not stored.
    let complete = present + 1 >= rows;
    if !whole && !complete {
        return None;
    }
    let values = data.in_input_order(of_rows(column, data));
    if complete && (is_evenly_spaced(&values) || counts_from_zero(&values)) {
        // In a single query, places and years count its rows with good reason.
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

/// Whether a name ends like an identifier's: `doc_id`, `Row.ID`, `docId`.
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

/// Whether all neighbouring values have the same difference.
fn is_evenly_spaced(values: &[f64]) -> bool {
    let [first, .., last] = values else {
        return false;
    };
    let step = (last - first) / (values.len() - 1) as f64;
    let is_in_place =
        |(place, value): (usize, &f64)| ((value - first) / step - place as f64).abs() <= ROUNDING;
    step != 0.0 && step.is_finite() && values.iter().enumerate().all(is_in_place)
}

/// Whether each whole number from 0 on occurs once, in any order.
fn counts_from_zero(values: &[f64]) -> bool {
    let mut taken = vec![false; values.len()];
    values.iter().all(|&value| {
        // A number past the end, or between two whole numbers, fails.
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
        let place = value as usize;
        let mark = taken.get_mut(place).filter(|_| place as f64 == value);
        mark.is_some_and(|mark| !std::mem::replace(mark, true))
    })
}

/// Whether whole numbers count the rows of a few parts of the data, each from the first number on. Numbers that
/// begin again in each query are places, which may be a feature.
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

    /// The words for the numbers in a column of this name, in queries of `size` rows.
    fn found(size: usize, name: &str, values: &[f64]) -> Option<&'static str> {
        let row =
            |(row, value): (usize, &f64)| format!("{} qid:{} 1:{value}\n", row % 3, row / size);
        let rows: Vec<String> = values.iter().enumerate().map(row).collect();
        let data = crate::data::parsed(&rows.concat());
        let data = data.with_names([name].into_iter().collect()).unwrap();
        numbering(data.column(0), 0, &data)
    }

    /// `value` of each whole number from 0 on.
    fn all(rows: u32, value: impl Fn(f64) -> f64) -> Vec<f64> {
        (0..rows).map(|row| value(row.into())).collect()
    }

    /// `values` in an arbitrary order.
    fn shuffled(mut values: Vec<f64>) -> Vec<f64> {
        let rows = values.len();
        (0..rows).for_each(|row| values.swap(row, (row * 7 + 3) % rows));
        values
    }

    #[test]
    fn columns_that_count_rows_are_told_from_others() {
        // Like a column of 32 bits.
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
            // Indices of joined parts. Places in queries may be a feature.
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
