//! Columns that deserve a second look: they number the rows, reveal the labels, or have very different units.
//!
//! - A column that is a linear function of the label in every row reveals it. Chance can do that if there are few
//!   rows or labels. So the product of the label shares of all rows must be below one in a million.
//! - The column classes know the deviations within queries, so no column is read for them.

use std::sync::OnceLock;

use rankrls_files::{Parameter, Remedy, short};
use rayon::prelude::*;

use super::Warning;
use super::numbering::numbering;
use crate::columns::{ColumnClasses, ROUNDING, UNITS, dominating};
use crate::data::{Column, Dataset};
use crate::linalg::centring::sparse_moments;
use crate::linalg::kernels::largest;

/// Logarithm of the chance below which labels in a column are no accident.
const RARE: f64 = -14.0;

/// The words for a column that contains the labels.
const LABELS: &str = "is the label times a number plus another in every row: it tells the labels, and other rows have none";

/// Columns that deserve a second look. Columns of the same rows may come in several batches.
#[derive(Debug, Default)]
pub struct OddColumns {
    /// The labels, once they have been examined.
    told: OnceLock<Option<Labels>>,
    /// Features with numbers of rows, and the words for these.
    numberings: Vec<(u32, &'static str)>,
    /// Features that reveal the labels.
    labels: Vec<u32>,
}

impl OddColumns {
    /// Examines the stored columns of `data`, which may be one of several batches.
    pub fn look(&mut self, data: &Dataset<'_>) {
        let labels = self.told.get_or_init(|| Labels::of(data));
        let positions = (0..data.stored_columns()).into_par_iter();
        // Few of millions of columns are odd.
        let odd = positions.filter_map(|position| {
            let (column, feature) = (data.column(position), data.feature(position));
            let number = numbering(column, feature, data);
            let tells = labels
                .as_ref()
                .is_some_and(|labels| labels.are_told_by(column, data));
            (number.is_some() || tells).then_some((feature, number, tells))
        });
        let odd: Vec<_> = odd.collect();
        for (feature, number, tells) in odd {
            self.numberings
                .extend(number.map(|number| (feature, number)));
            self.labels.extend(tells.then_some(feature));
        }
    }

    /// Warns of columns that number the rows or reveal the labels, as `data` name and count columns.
    pub fn warnings(&self, data: &Dataset<'_>) -> Vec<Warning> {
        let labels = self.labels.iter().map(|&feature| (feature, LABELS));
        let warning = |(feature, what): (u32, &str)| {
            let name = data.name_of(feature);
            let remedy = Remedy::LeaveOut(name.map(str::to_owned));
            Warning {
                column: Some((feature, called(feature, data))),
                text: format!("{what}; {remedy}"),
            }
        };
        let numberings = self.numberings.iter().copied();
        labels.chain(numberings).map(warning).collect()
    }
}

/// Warns of columns with very different units.
pub(super) fn units(classes: &ColumnClasses, data: &Dataset<'_>) -> Option<Warning> {
    let [(least, small), (largest, large)] = classes.deviations()?;
    let scale = Remedy::Set(Parameter::Scale, "sd");
    classes.units_differ().then(|| {
        let text = format!(
            "deviations within queries differ by a factor of {:.0e}, from {} of {} to {} of {}: lambda is small \
             beside some and large beside others; {scale} makes them alike",
            largest / least,
            short(least),
            called(small, data),
            short(largest),
            called(large, data)
        );
        text.into()
    })
}

/// Why no lambda of a grid suits most columns.
pub(super) enum Cause {
    /// Their units differ so much that [`units`] warns.
    Units,
    /// A few columns, named in these words, have almost all squares of centred rows. They are the unit of grids.
    Dominated(String),
}

/// Why no lambda of a grid suits most columns of `data`, if that is so.
pub(super) fn cause(data: &Dataset<'_>) -> Option<Cause> {
    let of_column = |position| {
        let column = data.column(position);
        let squares = squares(column, data);
        let largest = largest(column.values);
        let deviation = (squares / column.rows.len() as f64).sqrt();
        (
            squares,
            position,
            Some(deviation).filter(|one| *one > ROUNDING * largest),
        )
    };
    let positions = (0..data.stored_columns()).into_par_iter();
    let mut all: Vec<(f64, usize, Option<f64>)> = positions.map(of_column).collect();
    let deviations = || all.iter().filter_map(|one| one.2);
    let least = deviations().fold(f64::INFINITY, f64::min);
    if deviations().any(|deviation| deviation / least > UNITS) {
        return Some(Cause::Units);
    }
    all.retain(|one| one.0 > 0.0);
    all.sort_unstable_by(|one, other| other.0.total_cmp(&one.0));
    let few = dominating(&all.iter().map(|one| one.0).collect::<Vec<_>>())?;
    let name = |one: &(f64, usize, Option<f64>)| called(data.feature(one.1), data);
    let names: Vec<String> = all[..few].iter().map(name).collect();
    Some(Cause::Dominated(format!(
        "beside {}, whose values are far larger, other columns hardly count: {} makes them alike",
        names.join(" and "),
        Remedy::Set(Parameter::Scale, "sd")
    )))
}

/// The name of a column in messages.
fn called(feature: u32, data: &Dataset<'_>) -> String {
    match data.name_of(feature) {
        Some(name) => format!("column {name:?}"),
        None => format!("column {}", data.index_base().file_index(feature)),
    }
}

/// Labels of data with so many different values that no column has them by chance.
#[derive(Debug)]
struct Labels {
    /// A row with the least label, and one with the largest.
    ends: [usize; 2],
    /// Number of rows with the most frequent label.
    most: usize,
}

impl Labels {
    fn of(data: &Dataset<'_>) -> Option<Self> {
        let labels = data.labels();
        let mut rows: Vec<usize> = (0..labels.len()).collect();
        rows.sort_unstable_by(|&a, &b| labels[a].total_cmp(&labels[b]));
        let runs = rows.chunk_by(|&a, &b| labels[a] == labels[b]);
        let (mut chance, mut most) = (0.0, 0);
        for run in runs {
            let rows = run.len() as f64;
            chance += rows * (rows / labels.len() as f64).ln();
            most = most.max(run.len());
        }
        let ends = [*rows.first()?, *rows.last()?];
        // Each of many columns has its chance.
        (chance + (data.width() as f64).ln() < RARE).then_some(Self { ends, most })
    }

    /// Whether a column is a linear function of the label.
    fn are_told_by(&self, column: Column<'_>, data: &Dataset<'_>) -> bool {
        let labels = data.labels();
        if column.rows.len() + self.most < labels.len() {
            return false;
        }
        let [low, high] = self.ends.map(|row| {
            let place = u32::try_from(row).map(|row| column.rows.binary_search(&row));
            let entry = place.ok().and_then(Result::ok);
            (labels[row], entry.map_or(0.0, |place| column.values[place]))
        });
        let slope = (high.1 - low.1) / (high.0 - low.0);
        let is_near = |value: f64, label: f64| {
            let expected = low.1 + slope * (label - low.0);
            (value - expected).abs() <= ROUNDING * (high.1 - low.1).abs()
        };
        let mut entries = column.iter();
        // Rows without an entry have 0.
        let nonzero = |label: &&f64| !is_near(0.0, **label);
        slope != 0.0
            && entries.all(|(row, value)| is_near(value, labels[row]))
            && labels.iter().filter(nonzero).count() <= column.rows.len()
    }
}

/// The sum of squares of a column, centred within queries.
fn squares(column: Column<'_>, data: &Dataset<'_>) -> f64 {
    let parts = column.by_query(data.queries());
    let squares = parts.map(|(_, rows, part)| sparse_moments(part.values, rows.len()).1);
    squares.sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::parsed;

    /// Examines rows with these labels and values of the first column, in queries of four.
    fn looked(
        rows: usize,
        label: impl Fn(usize) -> f64,
        value: impl Fn(usize) -> f64,
    ) -> (OddColumns, Dataset<'static>) {
        let row = |row: usize| {
            let (label, value, query) = (label(row), value(row), row / 4);
            format!("{label} qid:q{query} 1:{value} 2:{}.5\n", row * 11 % 13)
        };
        let data = parsed(&(0..rows).map(row).collect::<String>());
        let mut odd = OddColumns::default();
        odd.look(&data);
        (odd, data)
    }

    fn grade(row: usize) -> f64 {
        (row * 5 % 7 % 4) as f64
    }

    fn binary(row: usize) -> f64 {
        (row * 5 % 7 % 2) as f64
    }

    fn real(row: usize) -> f64 {
        (row as f64).sqrt() - 3.0
    }

    #[test]
    fn labels_are_told_by_themselves_in_any_unit() {
        for label in [grade, real] {
            for (slope, offset) in [(1.0, 0.0), (-0.1, 0.0), (3e7, 2.0), (1.0 / 3.0, -1e5)] {
                let value = |row| slope * label(row) + offset;
                let (odd, data) = looked(32, label, value);
                assert_eq!(odd.labels, [0], "{slope} {offset}");
                let told = odd.warnings(&data)[0].to_string();
                assert!(
                    told.starts_with("column 1 is the label times a number"),
                    "{told}"
                );
                // One row has a different value.
                let (odd, _) = looked(32, label, |row| {
                    value(row) + if row == 9 { 0.7 * slope } else { 0.0 }
                });
                assert!(odd.labels.is_empty());
            }
        }
        assert_eq!(looked(60, binary, binary).0.labels, [0]);
        // A feature of few rows, or of 0 and 1, may know the labels. Squares and constants do not.
        assert!(looked(8, grade, grade).0.labels.is_empty());
        assert!(looked(16, binary, binary).0.labels.is_empty());
        assert!(
            looked(32, grade, |row| grade(row) * grade(row))
                .0
                .labels
                .is_empty()
        );
        assert!(looked(32, grade, |_| 3.0).0.labels.is_empty());
        assert!(looked(32, |_| 1.0, real).0.labels.is_empty());
    }

    #[test]
    fn units_that_differ_a_lot_are_told_of() {
        let factor = |value: &dyn Fn(usize) -> f64| {
            let (_, data) = looked(32, grade, value);
            units(&ColumnClasses::new(&data), &data).map(|warning| warning.to_string())
        };
        for size in [1e9, 1e-9, 3e12] {
            let told = factor(&|row| size * real(row)).unwrap();
            assert!(
                told.contains("column 1") && told.contains("makes them alike"),
                "{told}"
            );
        }
        for size in [1.0, 1e4, 1e-4] {
            assert_eq!(factor(&|row| size * real(row)), None);
        }
        // One entry in many rows, a constant up to rounding, and a large offset.
        assert_eq!(factor(&|row| f64::from(u8::from(row == 3))), None);
        assert_eq!(factor(&|row| 0.1 + row as f64 * 1e-17), None);
        assert_eq!(factor(&|row| 1.6e9 + row as f64), None);
    }
}
