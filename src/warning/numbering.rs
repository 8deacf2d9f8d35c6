//! Columns that number the rows, as an index does, or give each row an identifier.
//!
//! A selection takes such a column wherever the order of the rows knows of the labels, and on other rows
//! it means nothing. Sound columns are too unlikely to look like these by chance:
//!
//! - numbers at equal distances, each once, in any order of the rows: `0, 1, ..., m - 1`, and what
//!   scaling makes of them;
//! - whole numbers that rise by 1 from row to row, and begin again with another part of the rows;
//! - whole numbers that rise, or fall, from the first row to the last;
//! - whole numbers of which none comes back, although as many draws from their range would repeat one.
//!
//! Only columns with an entry in nearly each row are looked at, as 0 is no entry; the look ends early in
//! sound ones.

use std::collections::HashSet;

use rayon::prelude::*;

use crate::data::{Column, Dataset};

/// Fewer rows tell nothing: 1, 2, 3 and 4 may be a feature.
const LEAST_ROWS: usize = 10;

/// How far a number may be from its place, in steps: it may have had 32 bits once.
const ROUNDING: f64 = 0.05;

/// Logarithm of the chance below which numbers that never repeat are no accident.
const RARE: f64 = -14.0;

/// More columns that number rows, if they are half of all, are features in ranks.
const MANY: usize = 8;

/// What the numbers of a column look like.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Numbering {
    /// They count the rows.
    Rows,
    /// Each row has another one.
    Identifiers,
}

/// The stored columns of `data` that number its rows.
pub(super) fn numberings(data: &Dataset<'_>) -> Vec<(usize, Numbering)> {
    let rows = data.rows();
    if rows < LEAST_ROWS {
        return Vec::new();
    }
    // Each part of the rows may begin with 0.
    let zeros = (data.queries().len() / 2).max(1);
    let columns = (0..data.stored_columns()).into_par_iter();
    let found = columns.filter_map(|position| {
        let column = data.column(position);
        let full = column.rows.len() + zeros >= rows;
        let found = full.then(|| numbering(column, data)).flatten()?;
        Some((position, found))
    });
    let found: Vec<_> = found.collect();
    if found.len() > MANY && 2 * found.len() > data.stored_columns() {
        return Vec::new();
    }
    found
}

fn numbering(column: Column<'_>, data: &Dataset<'_>) -> Option<Numbering> {
    let (rows, queries) = (data.rows(), data.queries().len());
    let zeros = rows - column.rows.len();
    let zeros = || std::iter::repeat_n(0.0, zeros);
    let values = || column.values.iter().copied().chain(zeros());
    let least = values().fold(f64::INFINITY, f64::min);
    let largest = values().fold(f64::NEG_INFINITY, f64::max);
    let step = (largest - least) / (rows - 1) as f64;
    if !(step > 0.0 && step.is_finite()) {
        return None;
    }
    if evenly_spaced(values(), rows, least, step) {
        // Places in the only query, or years, count its rows with good reason.
        let from_first = step == 1.0 && (least == 0.0 || least == 1.0);
        return (queries > 1 || from_first).then_some(Numbering::Rows);
    }
    if values().any(|value| value.fract() != 0.0) {
        return None;
    }
    let in_order = || input_order(column, data);
    if queries > 1 && begins_again(&in_order, queries) {
        return Some(Numbering::Rows);
    }
    let mut seen = HashSet::new();
    // Sound columns end here, mostly with one of the first rows.
    if !values().all(|value| seen.insert(value.to_bits())) {
        return None;
    }
    let rare = chance_of_no_repetition(rows, largest - least + 1.0) < RARE;
    let sorted = queries > 1 && {
        let values = in_order();
        values.windows(2).all(|pair| pair[0] < pair[1])
            || values.windows(2).all(|pair| pair[0] > pair[1])
    };
    (rare || sorted).then_some(Numbering::Identifiers)
}

/// The values of a column in the order of the input.
fn input_order(column: Column<'_>, data: &Dataset<'_>) -> Vec<f64> {
    let mut values = vec![0.0; data.rows()];
    for (row, value) in column.iter() {
        values[row] = value;
    }
    data.in_input_order(values)
}

/// Whether each of the places `least`, `least + step`, ... is taken once.
fn evenly_spaced(values: impl Iterator<Item = f64>, rows: usize, least: f64, step: f64) -> bool {
    let mut taken = vec![false; rows];
    let mut take = |value: f64| {
        let place = (value - least) / step;
        let nearest = place.round();
        // Between 0 and the number of rows.
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
        let mark = taken.get_mut(nearest as usize);
        (place - nearest).abs() <= ROUNDING
            && mark.is_some_and(|mark| !std::mem::replace(mark, true))
    };
    values.into_iter().all(&mut take)
}

/// Whether whole numbers count the rows of a few parts of the data, each from the first number on. Parts
/// that are queries have places of rows in them, which may be a feature.
fn begins_again(values: &impl Fn() -> Vec<f64>, queries: usize) -> bool {
    let values = values();
    let first = values[0];
    let mut parts = 1;
    let counts = values.windows(2).all(|pair| {
        parts += usize::from(pair[1] == first);
        pair[1] == pair[0] + 1.0 || pair[1] == first
    });
    counts && 2 * parts <= queries
}

/// The logarithm of the chance that none of `draws` comes back, of so many equally likely numbers: of
/// others it is less.
fn chance_of_no_repetition(draws: usize, numbers: f64) -> f64 {
    let chances = (0..draws).map(|drawn| (-(drawn as f64) / numbers).ln_1p());
    chances.sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Queries;
    use Numbering::{Identifiers, Rows};

    /// What the numbers of queries of so many rows look like.
    fn found(size: usize, values: &[f64]) -> Option<Numbering> {
        let rows = values.iter().enumerate();
        let rows = rows.map(|(row, value)| {
            format!("{} qid:{} 1:{value} 2:{}\n", row % 3, row / size, row % 4)
        });
        let found = numberings(&crate::data::parsed(&rows.collect::<String>()));
        assert!(
            found.iter().all(|&(position, _)| position == 0),
            "{found:?}"
        );
        found.first().map(|&(_, numbering)| numbering)
    }

    /// `values` in an order that follows nothing.
    fn shuffled(values: impl IntoIterator<Item = f64>) -> Vec<f64> {
        let mut values: Vec<f64> = values.into_iter().collect();
        let rows = values.len();
        (0..rows).for_each(|row| values.swap(row, (row * 7 + 3) % rows));
        values
    }

    fn counted(from: u32, rows: u32) -> Vec<f64> {
        (from..from + rows).map(f64::from).collect()
    }

    #[test]
    fn row_numbers_are_found_in_any_order_and_scale() {
        for rows in [10, 17, 60] {
            for from in [0, 1, 5000] {
                let numbers = counted(from, rows);
                let backwards: Vec<f64> = numbers.iter().rev().copied().collect();
                let scaled = numbers.iter().map(|number| number / 7.0 - 3.0);
                // As a column of 32 bits has them.
                #[expect(clippy::cast_possible_truncation)]
                let narrow = scaled.clone().map(|number| f64::from(number as f32));
                for values in [
                    shuffled(numbers.clone()),
                    shuffled(scaled.clone()),
                    shuffled(narrow),
                    scaled.collect(),
                    backwards,
                    numbers,
                ] {
                    assert_eq!(found(5, &values), Some(Rows), "{values:?}");
                }
            }
        }
    }

    #[test]
    fn indices_of_parts_that_were_put_together_are_found() {
        let twice = [counted(0, 20), counted(0, 16)].concat();
        assert_eq!(found(4, &twice), Some(Rows));
        // Places in queries may be a feature.
        let places: Vec<f64> = (0..36).map(|row| f64::from(row % 4)).collect();
        assert_eq!(found(4, &places), None);
    }

    #[test]
    fn identifiers_are_found() {
        let gaps: Vec<f64> = counted(0, 50)
            .into_iter()
            .filter(|id| id % 5.0 != 2.0)
            .collect();
        assert_eq!(found(4, &gaps), Some(Identifiers));
        assert_eq!(found(4, &shuffled(gaps)), Some(Identifiers));
        let rising = [
            3.0, 90.0, 1234.0, 1240.0, 5001.0, 5100.0, 7e4, 8e4, 9e4, 9.5e4, 9.9e4,
        ];
        assert_eq!(found(4, &rising), Some(Identifiers));
        assert_eq!(found(4, &shuffled(rising)), None);
    }

    #[test]
    fn sound_columns_are_let_through() {
        let sound = [
            // Few rows.
            counted(1, 9),
            // Numbers of any kind that are all different.
            (1..40).map(|row| f64::from(row).sqrt()).collect(),
            shuffled((1..40).map(|row| f64::from(row).exp2())),
            // Counts that come back.
            (0..40).map(|row| f64::from(row * row % 31)).collect(),
            // One number for each query.
            (0..40).map(|row| f64::from(row / 4)).collect(),
        ];
        for values in sound {
            assert_eq!(found(4, &values), None, "{values:?}");
        }
        // Of a single query places, but no years.
        assert_eq!(found(40, &counted(1990, 40)), None);
        assert_eq!(found(40, &counted(1, 40)), Some(Rows));
    }

    #[test]
    fn features_in_ranks_are_let_through() {
        let rows = 36;
        let labels: Vec<f64> = (0..rows).map(|row| f64::from(row % 3)).collect();
        let columns = 12;
        let ranks = (0..columns * rows).map(|cell| {
            let (column, row) = (cell / rows, cell % rows);
            f64::from((row + 1) * (column + 1) % 37 - 1)
        });
        let values: Vec<f64> = ranks.collect();
        let indptr: Vec<usize> = (0..=columns as usize).map(|j| j * rows as usize).collect();
        let indices: Vec<u32> = (0..columns * rows).map(|cell| cell % rows).collect();
        let queries = Queries::from_sizes(&[4; 9]).unwrap();
        let data = Dataset::from_csc(indptr, indices, values, labels, queries).unwrap();
        assert_eq!(numberings(&data), []);
    }
}
