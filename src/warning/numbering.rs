//! Columns that number the rows, as an index does, or give each row an identifier.
//!
//! A selection takes such a column wherever the order of the rows knows of the labels, and on other rows
//! it means nothing. Sound columns are too unlikely to look like these by chance:
//!
//! - numbers at equal distances, each once, in any order of the rows: `0, 1, ..., m - 1`, and what
//!   scaling makes of them;
//! - whole numbers that rise by 1 from row to row, and begin again with another part of the rows;
//! - whole numbers that rise, or fall, from the first row to the last;
//! - whole numbers of which none comes back, although as many draws from their range would repeat one,
//!   or where they have six digits and more, all as many, as identifiers and times have, or where the
//!   name of the column ends as names of identifiers do;
//! - places of rows in their queries, where the rows are in the order of their labels.
//!
//! Places whose order is not that of the rows get no warning: each query has the numbers 1, 2, ..., n
//! once, in any order. Ranks by another system are such a column, and among the best features there are.
//!
//! Only columns with an entry in each row are looked at, or in all rows but one of each query; the look
//! ends early in sound ones.

use std::collections::HashSet;

use rayon::prelude::*;

use crate::data::{Column, Dataset};

/// Fewer rows tell nothing: 1, 2, 3 and 4 may be a feature.
const LEAST_ROWS: usize = 6;

/// So many rows with numbers at equal distances, in any order or over and over, are no accident. Fewer are
/// to be in order, or to be counted from 0 or 1.
const ROWS_IN_ANY_ORDER: usize = 10;

/// How far a number may be from its place, in steps: it may have had 32 bits once.
const ROUNDING: f64 = 0.05;

/// Logarithm of the chance below which numbers that never repeat are no accident.
const RARE: f64 = -14.0;

/// Identifiers are so large, and have all as many digits.
const LEAST_IDENTIFIER: f64 = 1e5;

/// Last words of names of identifiers.
const IDENTIFIERS: [&str; 9] = [
    "id",
    "ids",
    "docid",
    "rowid",
    "index",
    "idx",
    "key",
    "timestamp",
    "uid",
];

/// So often the label changes at least between rows of a query that are in the order of their labels. Places
/// in queries of two rows are as features of 0 and 1, which may well know the labels.
const LEAST_CHANGES: usize = 4;

/// More columns that number rows, if they are half of all, are features in ranks.
const MANY: usize = 8;

/// The pattern of the numbers of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Numbering {
    /// They count the rows.
    Rows,
    /// Each row has another one.
    Identifiers,
    /// They count the rows of each query, which are in the order of their labels.
    Places,
}

/// Columns that number rows, found among columns that come some at a time.
#[derive(Debug, Default)]
pub(super) struct Numberings {
    found: Vec<(u32, Numbering)>,
    /// Stored columns that were looked at.
    columns: usize,
}

impl Numberings {
    /// Looks at the stored columns of `data`.
    pub(super) fn look(&mut self, data: &Dataset<'_>) {
        self.columns += data.stored_columns();
        let (rows, queries) = (data.rows(), data.queries().len());
        if rows < LEAST_ROWS {
            return;
        }
        let by_label = in_order_of_labels(data);
        let columns = (0..data.stored_columns()).into_par_iter();
        let found = columns.filter_map(|position| {
            let column = data.column(position);
            if column.rows.len() + queries < rows {
                return None;
            }
            let places = || by_label && counts_rows_of_queries(column, data);
            let identifier = || {
                let name = data.name_of(data.feature(position));
                name.is_some_and(names_identifiers)
            };
            let numbers = numbering(column, data, identifier);
            let known = numbers.or_else(|| places().then_some(Numbering::Places))?;
            Some((data.feature(position), known))
        });
        self.found.par_extend(found);
    }

    /// The features of the columns that number rows.
    pub(super) fn found(self) -> Vec<(u32, Numbering)> {
        if self.found.len() > MANY && 2 * self.found.len() > self.columns {
            return Vec::new();
        }
        self.found
    }
}

fn numbering(
    column: Column<'_>,
    data: &Dataset<'_>,
    named: impl Fn() -> bool,
) -> Option<Numbering> {
    let (rows, queries) = (data.rows(), data.queries().len());
    // Entries that are missing are 0.
    let missing = rows - column.rows.len();
    let values = || {
        let zeros = std::iter::repeat_n(0.0, missing);
        column.values.iter().copied().chain(zeros)
    };
    let least = values().fold(f64::INFINITY, f64::min);
    let largest = values().fold(f64::NEG_INFINITY, f64::max);
    let step = (largest - least) / (rows - 1) as f64;
    if !(step > 0.0 && step.is_finite()) {
        return None;
    }
    let in_order = || input_order(column, data);
    let from_first = step == 1.0 && (least == 0.0 || least == 1.0);
    if missing < 2 && evenly_spaced(values(), rows, least, step) {
        let counts = rows >= ROWS_IN_ANY_ORDER || from_first || is_sorted(&in_order());
        // Places in the only query, or years, count its rows with good reason.
        return (counts && (queries > 1 || from_first)).then_some(Numbering::Rows);
    }
    if values().any(|value| value.fract() != 0.0) {
        return None;
    }
    if queries > 1 && rows >= ROWS_IN_ANY_ORDER && begins_again(&in_order, queries) {
        return Some(Numbering::Rows);
    }
    let mut seen = HashSet::new();
    // Sound columns end here, mostly with one of the first rows.
    if missing > 1 || !values().all(|value| seen.insert(value.to_bits())) {
        return None;
    }
    let rare = chance_of_no_repetition(rows, largest - least + 1.0) < RARE;
    let long = least >= LEAST_IDENTIFIER && largest < 10.0 * least;
    let identifiers = rare || queries > 1 && (long || named() || is_sorted(&in_order()));
    identifiers.then_some(Numbering::Identifiers)
}

fn is_sorted(values: &[f64]) -> bool {
    let mut pairs = values.windows(2);
    if values.first() < values.last() {
        pairs.all(|pair| pair[0] < pair[1])
    } else {
        pairs.all(|pair| pair[0] > pair[1])
    }
}

/// Whether the last word of a name is one for identifiers: `doc_id`, `Row.ID`, `docId`, `Index`.
fn names_identifiers(name: &str) -> bool {
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
    IDENTIFIERS.contains(&word.as_str())
}

/// Whether labels only fall, or only rise, from row to row of each query.
fn in_order_of_labels(data: &Dataset<'_>) -> bool {
    let (mut rises, mut falls, mut changes) = (0, 0, 0);
    for range in data.queries().ranges() {
        let before = rises + falls;
        let rows = range.len();
        for pair in data.labels()[range].windows(2) {
            rises += usize::from(pair[0] < pair[1]);
            falls += usize::from(pair[0] > pair[1]);
        }
        if rows > 2 {
            changes += rises + falls - before;
        }
        if rises > 0 && falls > 0 {
            return false;
        }
    }
    data.queries().len() > 1 && changes >= LEAST_CHANGES
}

/// Whether numbers rise, or fall, by 1 from row to row of each query, and all begin, or end, with the
/// same number.
fn counts_rows_of_queries(column: Column<'_>, data: &Dataset<'_>) -> bool {
    let mut values = vec![0.0; data.rows()];
    for (row, value) in column.iter() {
        values[row] = value;
    }
    let counts = |step: f64| {
        let mut first = None;
        data.queries().ranges().all(|range| {
            let own = &values[range];
            let least = if step > 0.0 { own.first() } else { own.last() };
            *first.get_or_insert(least) == least
                && own.windows(2).all(|pair| pair[1] == pair[0] + step)
        })
    };
    counts(1.0) || counts(-1.0)
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
    use std::fmt::Write as _;

    use super::*;

    /// The columns of `data` that number its rows.
    fn numberings(data: &Dataset<'_>) -> Vec<(u32, Numbering)> {
        let mut numberings = Numberings::default();
        numberings.look(data);
        numberings.found()
    }
    use crate::data::Queries;
    use Numbering::{Identifiers, Places, Rows};

    /// The pattern of the numbers of queries of so many rows.
    fn found(size: usize, values: &[f64]) -> Option<Numbering> {
        let mut data = String::new();
        for (row, value) in values.iter().enumerate() {
            let query = row / size;
            writeln!(data, "{} qid:{query} 1:{value} 2:{}", row % 3, row % 4).unwrap();
        }
        let found = numberings(&crate::data::parsed(&data));
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
                // The numbers as a column of 32 bits has them.
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
    fn few_rows_are_counted_in_order_or_from_the_first_number() {
        for rows in 6..10 {
            for values in [
                counted(0, rows),
                counted(1, rows),
                counted(100, rows),
                counted(3, rows).into_iter().rev().collect(),
                shuffled(counted(0, rows)),
                shuffled(counted(1, rows)),
                (0..rows).map(|row| f64::from(row * 10)).collect(),
            ] {
                assert_eq!(found(2, &values), Some(Rows), "{values:?}");
            }
        }
    }

    #[test]
    fn long_numbers_are_identifiers() {
        let times = (0..20).map(|row| 1.6e9 + f64::from(row * row * 1_000_003));
        assert_eq!(found(4, &shuffled(times)), Some(Identifiers));
        let numbers = (0..12).map(|row| 100_000.0 + f64::from(row * row * 7001 % 899_999));
        assert_eq!(found(4, &shuffled(numbers)), Some(Identifiers));
    }

    #[test]
    fn names_of_identifiers_are_told_from_others() {
        for name in [
            "id",
            "ID",
            "doc_id",
            "docId",
            "Row.ID",
            "docid",
            "index",
            "Time-Stamp id",
            "rowID",
        ] {
            assert!(names_identifiers(name), "{name}");
        }
        for name in [
            "acid",
            "grid",
            "humid",
            "id_of_text_length",
            "body mass",
            "",
            "indexed",
            "ID5",
        ] {
            assert!(!names_identifiers(name), "{name}");
        }
    }

    /// The pattern of the places of rows in their queries, for these labels of queries of three rows.
    fn places(labels: [u32; 9], place: impl Fn(u32) -> u32) -> Option<Numbering> {
        let mut data = String::new();
        for (row, label) in (0..).zip(labels) {
            let place = place(row % 3);
            writeln!(
                data,
                "{label} qid:{} 1:{place} 2:{}",
                row / 3,
                row * row % 4
            )
            .unwrap();
        }
        let found = numberings(&crate::data::parsed(&data));
        found.first().map(|&(_, numbering)| numbering)
    }

    #[test]
    fn places_in_queries_are_told_where_labels_are_in_order() {
        let falling = [2, 1, 0, 2, 2, 1, 1, 0, 0];
        let rising = [0, 1, 2, 1, 1, 2, 0, 0, 1];
        for labels in [falling, rising] {
            for from in [0, 1] {
                assert_eq!(places(labels, |place| from + place), Some(Places));
                assert_eq!(places(labels, |place| from + 2 - place), Some(Places));
            }
            assert_eq!(places(labels, |place| place * place), None);
        }
        // The ranks of a first search say something of rows in other queries.
        assert_eq!(places([2, 1, 0, 0, 2, 1, 1, 0, 0], |place| place), None);
        // In pairs a feature of 0 and 1 may know the labels.
        let rows = (0..24)
            .map(|row| format!("{0} qid:{1} 1:{0} 2:{2}\n", row % 2, row / 2, row * row % 5));
        let pairs: Vec<String> = rows.collect();
        assert_eq!(numberings(&crate::data::parsed(&pairs.concat())), []);
        // Too few rows to know.
        assert_eq!(places([1, 1, 0, 1, 1, 1, 1, 0, 0], |place| place), None);
    }

    #[test]
    fn sound_columns_are_let_through() {
        let sound = [
            // Few rows.
            counted(1, 5),
            shuffled((2..9).map(f64::from)),
            // Numbers of any kind that are all different.
            (1..40).map(|row| f64::from(row).sqrt()).collect(),
            shuffled((1..40).map(|row| f64::from(row).exp2())),
            // Counts that come back.
            (0..40).map(|row| f64::from(row * row % 31)).collect(),
            // Whole numbers of several sizes, such as lengths.
            shuffled((1..40).map(|row| f64::from(row * row * row))),
            // One number for each query.
            (0..40).map(|row| f64::from(row / 4)).collect(),
        ];
        for values in sound {
            assert_eq!(found(4, &values), None, "{values:?}");
        }
        // A single query has places, but no years.
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
            f64::from((row + 1) * (2 * column + 1) % 37)
        });
        let values: Vec<f64> = ranks.collect();
        let indptr: Vec<usize> = (0..=columns as usize).map(|j| j * rows as usize).collect();
        let indices: Vec<u32> = (0..columns * rows).map(|cell| cell % rows).collect();
        let queries = Queries::from_sizes(&[4; 9]).unwrap();
        let data = Dataset::from_csc(indptr, indices, values, labels, queries).unwrap();
        assert_eq!(numberings(&data), []);
    }
}
