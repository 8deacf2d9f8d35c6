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
//! - whole numbers that come back in other queries alone, where the name of the column or their size is that of
//!   identifiers;
//! - places of rows in their queries, where the rows are in the order of their labels.
//!
//! Dates that are written as one number, `20210131`, say nothing either, as they are not as far apart as their days.
//!
//! Places whose order is not that of the rows get no warning: each query has the numbers 1, 2, ..., n
//! once, in any order. Ranks by another system are such a column, and among the best features there are.
//!
//! Only columns with an entry in each row are looked at, or in all rows but one of each query; the look
//! ends early in sound ones.

use std::collections::HashSet;

use crate::data::{Column, Dataset};

/// Fewer rows tell nothing: 1, 2, 3 and 4 may be a feature.
const LEAST_ROWS: usize = 6;

/// So many rows with numbers at equal distances, in any order or over and over, are no accident. Fewer are
/// to be in order, or to be counted from 0 or 1.
const ROWS_IN_ANY_ORDER: usize = 10;

/// How far a number may be from its place, in steps: it may have had 32 bits once.
const ROUNDING: f64 = 0.05;

/// Logarithm of the chance below which numbers that never repeat are no accident.
pub(super) const RARE: f64 = -14.0;

/// Identifiers are so large, and have all as many digits.
const LEAST_IDENTIFIER: f64 = 1e5;

/// Last words of names of identifiers, which may come back in other queries.
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

/// Last words of names of numbers of rows.
const ROW_WORDS: [&str; 4] = ["index", "idx", "key", "timestamp"];

/// Fewest pairs of rows of a query that tell whether numbers come back in one.
const LEAST_PAIRS: usize = 10;

/// So often the label changes at least between rows of a query that are in the order of their labels. Places
/// in queries of two rows are as features of 0 and 1, which may well know the labels.
const LEAST_CHANGES: usize = 4;

/// So many different dates are none by chance.
const LEAST_DATES: usize = 20;

/// More columns that number rows, if they are half of all, are features in ranks.
pub(super) const MANY: usize = 8;

/// What numbers that count the rows are, after the name of their column.
const ROWS: &str =
    "counts the rows, as an index of pandas or R does, and says nothing of other rows";

/// What numbers are of which each row has another one.
const IDENTIFIERS: &str =
    "has another whole number in each row, as identifiers are, which say nothing of other rows";

/// What numbers are of which each row of a query has another one, and other queries have them again.
const ITEMS: &str = "has another whole number in each row of a query, as identifiers of documents are, which say nothing of others";

/// What numbers are that count the rows of each query, which are in the order of their labels.
const PLACES: &str = "counts the rows of each query, and these are in the order of their labels: it tells the labels, \
     and says nothing of rows in another order";

/// What numbers are that are dates.
const DATES: &str = "has dates as numbers, such as 20210131, which are farther apart where a month ends: numbers of days \
     would be a feature";

/// The rows of data, in which columns are looked for that number them.
pub(super) struct Rows<'d> {
    data: &'d Dataset<'d>,
    /// Whether those of each query are in the order of their labels.
    by_label: bool,
}

impl<'d> Rows<'d> {
    pub(super) fn of(data: &'d Dataset<'_>) -> Self {
        let by_label = in_order_of_labels(data);
        Self { data, by_label }
    }

    /// What the numbers in the `column` of a feature are, where they number the rows.
    pub(super) fn numbering(&self, column: Column<'_>, feature: u32) -> Option<&'static str> {
        let data = self.data;
        let (rows, queries) = (data.rows(), data.queries().len());
        if has_dates(column.values) {
            return Some(DATES);
        }
        if rows < LEAST_ROWS || column.rows.len() + queries < rows {
            return None;
        }
        let name = data.name_of(feature);
        let places = || self.by_label && counts_rows_of_queries(column, data);
        numbering(column, data, name).or_else(|| places().then_some(PLACES))
    }
}

fn numbering(column: Column<'_>, data: &Dataset<'_>, name: Option<&str>) -> Option<&'static str> {
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
    let in_order = || data.in_input_order(of_rows(column, data));
    let from_first = step == 1.0 && (least == 0.0 || least == 1.0);
    if missing < 2 && evenly_spaced(values(), rows, least, step) {
        let counts = rows >= ROWS_IN_ANY_ORDER || from_first || is_sorted(&in_order());
        // Places in the only query, or years, count its rows with good reason.
        return (counts && (queries > 1 || from_first)).then_some(ROWS);
    }
    if values().any(|value| value.fract() != 0.0) {
        return None;
    }
    if queries > 1 && rows >= ROWS_IN_ANY_ORDER && begins_again(&in_order, queries) {
        return Some(ROWS);
    }
    let named = |words: &[&str]| name.is_some_and(|name| ends_as(name, words));
    let long = least >= LEAST_IDENTIFIER && largest < 10.0 * least;
    let mut seen = HashSet::new();
    if missing < 2 && values().all(|value| seen.insert(value.to_bits())) {
        let rare = chance_of_no_repetition(rows, largest - least + 1.0) < RARE;
        let named = || named(&ID_WORDS) || named(&ROW_WORDS);
        let identifiers = rare || queries > 1 && (long || named() || is_sorted(&in_order()));
        return identifiers.then_some(IDENTIFIERS);
    }
    // Sound columns end here, mostly with one of the first queries.
    let numbers = long.then_some(largest - least + 1.0);
    let apart = (long || named(&ID_WORDS)) && come_back_elsewhere(column, data, numbers);
    apart.then_some(ITEMS)
}

/// Whether nine of ten numbers are dates, or the mean of a query: others are one time in 27, and half of the time
/// between dates of three months.
fn has_dates(values: &[f64]) -> bool {
    let is_date = |value: &&f64| {
        let (month, day) = ((**value / 100.0).floor() % 100.0, **value % 100.0);
        let is_year = (1.9e7..2.1e7).contains(*value);
        is_year && (1.0..13.0).contains(&month) && (1.0..32.0).contains(&day)
    };
    if 10 * values.iter().filter(is_date).count() <= 9 * values.len() {
        return false;
    }
    let mut dates: Vec<f64> = values.iter().filter(is_date).copied().collect();
    dates.sort_unstable_by(f64::total_cmp);
    dates.dedup();
    dates.len() >= LEAST_DATES && dates[dates.len() - 1] - dates[0] > 200.0
}

/// Whether no number is in two rows of a query, where queries have several; of so many `numbers` some come
/// back in other queries, and far more than by chance.
fn come_back_elsewhere(column: Column<'_>, data: &Dataset<'_>, numbers: Option<f64>) -> bool {
    let mut values = of_rows(column, data);
    let pairs = |rows: usize| rows * (rows - 1) / 2;
    let mut within = 0;
    for part in data.queries().split_mut(&mut values) {
        within += pairs(part.len());
        part.sort_unstable_by(f64::total_cmp);
        if part.windows(2).any(|pair| pair[0] == pair[1]) {
            return false;
        }
    }
    let Some(numbers) = numbers else {
        return within >= LEAST_PAIRS;
    };
    values.sort_unstable_by(f64::total_cmp);
    let runs = values.chunk_by(|a, b| a == b);
    let equal: usize = runs.map(|run| pairs(run.len())).sum();
    let step = values
        .windows(2)
        .fold(0.0, |step, pair| divisor(step, pair[1] - pair[0]));
    let expected = pairs(values.len()) as f64 * f64::max(step, 1.0) / numbers;
    within >= 10 * LEAST_PAIRS && equal > 2 && equal as f64 > 20.0 * expected
}

/// The greatest common divisor of whole numbers: prices are multiples of 10 or 100.
fn divisor(a: f64, b: f64) -> f64 {
    if b == 0.0 { a } else { divisor(b, a % b) }
}

fn is_sorted(values: &[f64]) -> bool {
    let mut pairs = values.windows(2);
    if values.first() < values.last() {
        pairs.all(|pair| pair[0] < pair[1])
    } else {
        pairs.all(|pair| pair[0] > pair[1])
    }
}

/// Whether the last word of a name is one of `words`: `doc_id`, `Row.ID`, `docId`, `Index`.
fn ends_as(name: &str, words: &[&str]) -> bool {
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
    words.contains(&word.as_str())
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
    let values = of_rows(column, data);
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

/// The values of a column, one a row.
fn of_rows(column: Column<'_>, data: &Dataset<'_>) -> Vec<f64> {
    let mut values = vec![0.0; data.rows()];
    for (row, value) in column.iter() {
        values[row] = value;
    }
    values
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
    use super::super::OddColumns;
    use super::*;

    /// The pattern of the numbers in a column of rows with these labels, in queries of so many rows. Another
    /// column is sound.
    fn found(size: usize, labels: &[u32], values: &[f64]) -> Option<&'static str> {
        let row = |(row, value): (usize, &f64)| {
            let label = labels[row % labels.len()];
            format!("{label} qid:{} 1:{value} 2:{}\n", row / size, row * row % 4)
        };
        let rows: Vec<String> = values.iter().enumerate().map(row).collect();
        let mut odd = OddColumns::default();
        odd.look(&crate::data::parsed(&rows.concat()));
        let found = odd.sound();
        assert!(found.iter().all(|&(feature, _)| feature == 0), "{found:?}");
        found.first().map(|&(_, what)| what)
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
    fn columns_that_number_rows_are_told_from_others() {
        // As a column of 32 bits has it.
        #[expect(clippy::cast_possible_truncation)]
        let narrow = |row: f64| f64::from((row / 7.0 - 3.0) as f32);
        let parts = [all(20, |row| row), all(16, |row| row)].concat();
        let gaps = all(50, |row| row)
            .into_iter()
            .filter(|id| id % 5.0 != 2.0)
            .collect::<Vec<_>>();
        let rising = vec![
            3.0, 90.0, 1234.0, 1240.0, 5001.0, 5100.0, 7e4, 8e4, 9e4, 9.5e4, 9.9e4,
        ];
        let times = all(20, |row| 1.6e9 + row * row * 1_000_003.0);
        for (size, expected, values) in [
            // Row numbers in any order and scale.
            (5, Some(ROWS), shuffled(all(10, |row| row))),
            (5, Some(ROWS), shuffled(all(17, |row| 5000.0 + row))),
            (5, Some(ROWS), shuffled(all(60, narrow))),
            (5, Some(ROWS), all(60, |row| row / 7.0 - 3.0)),
            (5, Some(ROWS), all(17, |row| 17.0 - row)),
            // Few of them in order, or from the first number on.
            (2, Some(ROWS), all(6, |row| 100.0 + row)),
            (2, Some(ROWS), all(9, |row| 12.0 - row)),
            (2, Some(ROWS), shuffled(all(7, |row| 1.0 + row))),
            (2, Some(ROWS), all(8, |row| 10.0 * row)),
            (2, None, shuffled(all(7, |row| 2.0 + row))),
            (2, None, all(5, |row| 1.0 + row)),
            // Indices of parts that were put together; places in queries may be a feature.
            (4, Some(ROWS), parts),
            (4, None, all(36, |row| row % 4.0)),
            // A single query has places, but no years.
            (40, Some(ROWS), all(40, |row| 1.0 + row)),
            (40, None, all(40, |row| 1990.0 + row)),
            (4, Some(IDENTIFIERS), gaps.clone()),
            (4, Some(IDENTIFIERS), shuffled(gaps)),
            (4, Some(IDENTIFIERS), rising.clone()),
            (4, None, shuffled(rising)),
            (4, Some(IDENTIFIERS), shuffled(times)),
            // Numbers of any kind that are all different, counts that come back, lengths, a number a query.
            (4, None, all(40, f64::sqrt)),
            (4, None, shuffled(all(40, f64::exp2))),
            (4, None, all(40, |row| row * row % 31.0)),
            (4, None, shuffled(all(40, |row| row * row * row))),
            (4, None, all(40, |row| (row / 4.0).floor())),
        ] {
            assert_eq!(found(size, &[0, 1, 2], &values), expected, "{values:?}");
        }
    }

    #[test]
    fn places_in_queries_are_told_where_labels_are_in_order() {
        for (labels, expected) in [
            ([2, 1, 0, 2, 2, 1, 1, 0, 0], Some(PLACES)),
            ([0, 1, 2, 1, 1, 2, 0, 0, 1], Some(PLACES)),
            // The ranks of a first search say something of rows in other queries.
            ([2, 1, 0, 0, 2, 1, 1, 0, 0], None),
            // Too few rows to know.
            ([1, 1, 0, 1, 1, 1, 1, 0, 0], None),
        ] {
            for values in [all(9, |row| 1.0 + row % 3.0), all(9, |row| 2.0 - row % 3.0)] {
                assert_eq!(found(3, &labels, &values), expected, "{labels:?}");
            }
            assert_eq!(
                found(3, &labels, &all(9, |row| row % 3.0 * (row % 3.0))),
                None
            );
        }
        // In pairs a feature of 0 and 1 may know the labels.
        assert_eq!(found(2, &[0, 1], &all(24, |row| row % 2.0)), None);
    }

    #[test]
    fn names_of_identifiers_are_told_from_others() {
        for name in "id ID doc_id docId Row.ID docid index rowID Time-Stamp\tid".split(' ') {
            let words = [&ID_WORDS[..], &ROW_WORDS].concat();
            assert!(ends_as(name, &words), "{name}");
        }
        for name in "acid grid humid id_of_text_length body\tmass indexed ID5 ".split(' ') {
            assert!(
                !ends_as(name, &ID_WORDS) && !ends_as(name, &ROW_WORDS),
                "{name}"
            );
        }
    }

    #[test]
    fn identifiers_that_come_back_in_other_queries_are_told() {
        let found = |rows: usize, name: &str, value: &dyn Fn(usize) -> usize| {
            let row = |row| format!("{} qid:{} 1:{}\n", row % 3, row / 6, value(row));
            let data = crate::data::parsed(&(0..rows).map(row).collect::<String>());
            let data = data.with_names([name].into_iter().collect()).unwrap();
            let mut odd = OddColumns::default();
            odd.look(&data);
            odd.sound().first().map(|&(_, what)| what)
        };
        // 29 documents; a query has six different ones.
        let document = |row: usize| (row * 7 + row / 6 * 3) % 29;
        let long = |row: usize| 100_000 + document(row) * document(row) * 977;
        for name in ["doc_id", "DocID", "docno", "item.id", "SKU"] {
            assert_eq!(found(60, name, &document), Some(ITEMS), "{name}");
        }
        for name in ["x", "index", "length"] {
            assert_eq!(found(120, name, &long), Some(ITEMS), "{name}");
            assert_eq!(found(60, name, &document), None, "{name}");
        }
        // One query has a document twice; few rows; prices; a number for each query.
        let twice = |row: usize| if row == 7 { document(8) } else { document(row) };
        assert_eq!(found(60, "doc_id", &twice), None);
        assert_eq!(found(6, "doc_id", &document), None);
        assert_eq!(
            found(120, "price", &|row| 100_000 + document(row) * 25_000),
            None
        );
        assert_eq!(found(60, "site_id", &|row| row / 6 % 4), None);
    }

    #[test]
    fn many_features_in_ranks_are_let_through() {
        let ranks = |row: usize| {
            let rank = |column: usize| format!(" {column}:{}", (row + 1) * (2 * column - 1) % 37);
            (1..=12).map(rank).collect::<String>()
        };
        let rows = (0..36).map(|row| format!("{} qid:{}{}\n", row % 3, row / 4, ranks(row)));
        let data = crate::data::parsed(&rows.collect::<String>());
        let known = Rows::of(&data);
        let of = |position| known.numbering(data.column(position), data.feature(position));
        assert!((0..12).filter_map(of).count() > MANY);
        let mut odd = OddColumns::default();
        odd.look(&data);
        assert_eq!(odd.sound(), []);
    }
}
