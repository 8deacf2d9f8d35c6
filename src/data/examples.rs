//! What belongs to the examples of a data set, whatever its columns.

use std::borrow::Cow;
use std::sync::Arc;

use super::{Dataset, DatasetError, Queries};

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
    pub(super) fn new(labels: Cow<'a, [f64]>, queries: Queries) -> Result<Self, DatasetError> {
        DatasetError::check_length("labels", queries.rows(), labels.len())?;
        if let Some(row) = labels.iter().position(|label| !label.is_finite()) {
            let value = labels[row];
            return Err(DatasetError::Label { row, value });
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
