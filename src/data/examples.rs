//! The examples of a data set, whatever its columns.

use std::borrow::Cow;
use std::sync::Arc;

use super::{Dataset, Queries, check};
use crate::error::{Error, Result};

/// Labels and queries of the examples, and what else is known of them.
#[derive(Debug, Clone)]
pub(super) struct Examples<'a> {
    pub(super) labels: Cow<'a, [f64]>,
    pub(super) queries: Queries,
    /// The place of each example among all in the order of the input; `None`: its own.
    pub(super) input_rows: Option<Vec<u32>>,
    /// Scores of a teacher.
    pub(super) teacher: Option<Vec<f64>>,
    /// Validation rows.
    pub(super) validation: Option<Arc<Dataset<'static>>>,
}

impl<'a> Examples<'a> {
    pub(super) fn new(labels: Cow<'a, [f64]>, queries: Queries) -> Result<Self> {
        check::length("labels", queries.rows(), labels.len())?;
        if let Some(row) = labels.iter().position(|label| !label.is_finite()) {
            let value = labels[row];
            return Err(Error::data(format!(
                "the label of row {row} is {value}: labels must be finite"
            )));
        }
        Ok(Self {
            labels,
            ..Self::unchecked(queries)
        })
    }

    /// These queries, and labels that are still to come.
    pub(super) fn unchecked(queries: Queries) -> Self {
        Self {
            labels: Cow::default(),
            queries,
            input_rows: None,
            teacher: None,
            validation: None,
        }
    }

    /// Bytes held, validation rows not counted.
    pub(super) fn memory(&self) -> usize {
        let teacher = self.teacher.as_deref().map_or(0, size_of_val);
        let input_rows = self.input_rows.as_deref().map_or(0, size_of_val);
        size_of_val(&self.labels[..]) + self.queries.memory() + input_rows + teacher
    }

    /// The examples at the positions `rows`, ascending, in these `queries`.
    pub(super) fn pick(&self, rows: &[u32], queries: Queries) -> Examples<'static> {
        let pick = |values: &[f64]| -> Vec<f64> {
            let rows = rows.iter();
            rows.map(|&row| values[row as usize]).collect()
        };
        Examples {
            labels: pick(&self.labels).into(),
            queries,
            input_rows: self.input_rows.as_ref().map(|all| order_of(all, rows)),
            teacher: self.teacher.as_deref().map(pick),
            validation: self.validation.clone(),
        }
    }

    /// These examples with labels that they own.
    pub(super) fn into_owned(self) -> Examples<'static> {
        Examples {
            labels: self.labels.into_owned().into(),
            input_rows: self.input_rows,
            teacher: self.teacher,
            validation: self.validation,
            queries: self.queries,
        }
    }
}

/// The places that `rows` have among themselves, by the places that all have.
fn order_of(all: &[u32], rows: &[u32]) -> Vec<u32> {
    let mut by_place: Vec<(u32, usize)> =
        rows.iter().map(|&row| all[row as usize]).zip(0..).collect();
    by_place.sort_unstable();
    let mut places = vec![0; rows.len()];
    for (place, (_, at)) in (0..).zip(by_place) {
        places[at] = place;
    }
    places
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::FeatureNames;
    use crate::data::read::ReadOptions;

    /// Rows of queries that come back: they were moved.
    fn moved() -> Dataset<'static> {
        let text = b"1 qid:long_name_a 1:1\n0 qid:b 2:1\n2 qid:long_name_a 2:2\n";
        let options = ReadOptions::new().regroup(true);
        options.read_from(&text[..], "f").unwrap().dataset
    }

    #[test]
    fn values_of_rows_are_as_many_as_rows() {
        let data = moved();
        assert_eq!(data.in_row_order(&[1, 2, 3]).unwrap(), [1, 3, 2]);
        assert_eq!(data.in_input_order(vec![1, 3, 2]), [1, 2, 3]);
        for values in [&[1, 2][..], &[1, 2, 3, 4], &[]] {
            let error = data.in_row_order(values).unwrap_err();
            let found = values.len();
            let expected = format!("values of rows: expected 3, found {found}");
            assert_eq!(error.to_string(), expected);
        }
    }

    #[test]
    fn all_that_is_held_is_counted() {
        let data = moved();
        let columns = data.columns.memory() as u64;
        // Labels, bounds of queries, identifiers and places in the input.
        let least = columns + 3 * 8 + 3 * 4 + "long_name_ab".len() as u64 + 2 * 8 + 3 * 4;
        assert!(data.memory() >= least, "{} of {least}", data.memory());
        let before = data.memory();
        let data = data.with_teacher(vec![1.0, 2.0, 3.0]).unwrap();
        assert_eq!(data.memory(), before + 3 * 8);
    }

    #[test]
    fn empty_names_after_the_last_column_do_not_count() {
        let names = |names: &[&str]| {
            let names: FeatureNames = names.iter().collect();
            moved()
                .with_names(names)
                .map(|data| data.names().unwrap().len())
        };
        assert_eq!(names(&["a", "b", "", ""]), Ok(2));
        assert_eq!(names(&["a", "", ""]), Ok(2));
        assert_eq!(names(&["a", "b", "", "c"]), Ok(4));
        assert!(names(&["a"]).is_err());
    }
}
