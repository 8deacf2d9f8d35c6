//! A data set: the columns and the examples.

use std::borrow::Cow;
use std::sync::Arc;

use rankrls_files::Remedy;

use super::columns::{Column, Columns, no_matrix};
use super::names::{Feature, FeatureNames, IndexBase};
use super::queries::Queries;
use super::{check, packed};
use crate::error::{Error, Result};

/// A checked data set of `m` examples in queries and `n` feature columns.
///
/// Memory: 12 bytes an entry and 12 a stored column, or nothing for borrowed arrays.
#[derive(Debug, Clone)]
pub struct Dataset<'a> {
    pub(super) columns: Columns<'a>,
    pub(super) examples: Examples<'a>,
    pub(super) names: Option<FeatureNames>,
    pub(super) index_base: IndexBase,
}

impl<'a> Dataset<'a> {
    /// Joins the parts and checks them.
    pub(super) fn assemble(
        columns: Columns<'a>,
        labels: Cow<'a, [f64]>,
        queries: Queries,
    ) -> Result<Self> {
        check::columns(columns.width)?;
        let examples = Examples::new(labels, queries)?;
        let dataset = Self {
            columns,
            examples,
            names: None,
            index_base: IndexBase::default(),
        };
        dataset.checked()
    }

    /// Names the features. Every column needs a name. Empty names after the last column do not count. There may be
    /// more names than columns, as in a corpus whose last columns these rows lack. Surplus names are refused if
    /// names repeat and all are numbers, or are as many as rows: they are labels or queries.
    pub fn with_names(mut self, names: FeatureNames) -> Result<Self> {
        let width = self.width();
        check::length("feature names", width, names.len().min(width))?;
        let names = names.for_columns(width);
        if let Some(found) = names.are_no_names(width, self.rows()) {
            let expected = format!("names of {width} columns, each once");
            return Err(Error::data(format!("expected {expected}, found {found}")));
        }
        self.names = Some(names);
        Ok(self)
    }

    /// Sets how the source of the data counts its columns. The default is [`IndexBase::One`].
    #[must_use]
    pub fn with_index_base(mut self, base: IndexBase) -> Self {
        self.index_base = base;
        self
    }

    /// Records the position of each row in the input, if rows were moved to make queries contiguous.
    pub(crate) fn with_input_rows(mut self, input_rows: Vec<u32>) -> Result<Self> {
        let rows = self.rows();
        check::length("input rows", rows, input_rows.len())?;
        let mut seen = vec![false; rows];
        for &row in &input_rows {
            match seen.get_mut(row as usize) {
                Some(mark) if !*mark => *mark = true,
                _ => return Err(no_matrix(format!("input row {row} twice"))),
            }
        }
        self.examples.input_rows = Some(input_rows);
        Ok(self)
    }

    /// Adds the scores of a teacher, one a row, of any ranker and in any units. No score may depend on the labels
    /// of its row's query. The strategy `distil` and cross-fitted weights learn from them instead of from RankRLS
    /// on all columns. [`queries_subset`](Self::queries_subset) keeps them.
    pub fn with_teacher(mut self, scores: Vec<f64>) -> Result<Self> {
        check::length("teacher's scores", self.rows(), scores.len())?;
        if let Some(row) = scores.iter().position(|score| !score.is_finite()) {
            let value = scores[row];
            return Err(Error::data(format!(
                "the teacher's score of row {row} is {value}: scores must be finite"
            )));
        }
        let constant =
            |range: std::ops::Range<usize>| scores[range].windows(2).all(|pair| pair[0] == pair[1]);
        if self.queries().ranges().all(constant) {
            let text = "the teacher's scores are constant in every query: they teach nothing";
            return Err(Error::data(text));
        }
        self.examples.teacher = Some(scores);
        Ok(self)
    }

    /// The scores of a teacher, one a row, if there are any.
    pub fn teacher(&self) -> Option<&[f64]> {
        self.examples.teacher.as_deref()
    }

    /// Adds rows with the same columns. The strategy `fs-ed` evaluates the densities of features at their values.
    /// [`queries_subset`](Self::queries_subset) keeps them.
    #[must_use]
    pub fn with_validation(mut self, validation: impl Into<Arc<Dataset<'static>>>) -> Self {
        self.examples.validation = Some(validation.into());
        self
    }

    /// The validation rows, if there are any.
    pub fn validation(&self) -> Option<&Dataset<'static>> {
        self.examples.validation.as_deref()
    }

    /// The rows and columns as one nameless query, without a teacher, whose scores belong to queries. For a share
    /// of columns, it has only these columns.
    #[must_use]
    pub fn as_one_query(&self) -> Dataset<'_> {
        // A data set has rows.
        let queries = Queries::single(self.rows()).unwrap_or_else(|_| self.queries().clone());
        Dataset {
            columns: self.columns.view(),
            examples: Examples {
                labels: self.labels().into(),
                input_rows: self.examples.input_rows.clone(),
                ..Examples::unchecked(queries)
            },
            names: self.names.clone(),
            index_base: self.index_base,
        }
    }

    /// The examples with other `columns`. These keep the present names if there are as many columns.
    pub(crate) fn with_columns<'c>(&self, columns: Columns<'c>) -> Result<Dataset<'c>> {
        let dataset = Dataset {
            examples: self.examples.clone().into_owned(),
            names: self.names.clone().filter(|_| columns.width == self.width()),
            columns,
            index_base: self.index_base,
        };
        dataset.checked()
    }

    /// The data set, if it has as many rows as queries and all values are finite.
    pub(super) fn checked(mut self) -> Result<Self> {
        let columns = &mut self.columns;
        // Without gaps, features equal positions.
        let width = columns.width;
        columns.features.take_if(|features| features.len() == width);
        let height = columns.height;
        let finite = !columns.any(|value| !value.is_finite());
        check::length("rows", self.rows(), height)?;
        if finite {
            return Ok(self);
        }
        for position in 0..self.stored_columns() {
            let mut entries = self.column(position).iter();
            if let Some((row, value)) = entries.find(|(_, value)| !value.is_finite()) {
                let column = self.feature(position) as usize;
                let fill = format!("; {}", Remedy::FillGaps);
                let fill = if value.is_nan() { &fill } else { "" };
                return Err(Error::data(format!(
                    "the value at row {row}, column {column} is {value}: values must be finite{fill}"
                )));
            }
        }
        Ok(self)
    }

    /// The columns.
    pub(crate) fn columns(&self) -> &Columns<'a> {
        &self.columns
    }

    /// Number of examples `m`.
    pub fn rows(&self) -> usize {
        self.examples.queries.rows()
    }

    /// Number of feature columns `n`, empty ones included.
    pub fn width(&self) -> usize {
        self.columns.width
    }

    /// Number of stored columns: columns with an entry, and empty columns of borrowed arrays.
    pub fn stored_columns(&self) -> usize {
        self.columns.len()
    }

    /// Number of stored entries.
    pub fn nonzeros(&self) -> usize {
        self.columns.values.len()
    }

    /// Peak bytes of reading such data: the packed rows, and the columns made of them. Chunks of text take some MiB
    /// more. O(nnz) time.
    pub fn reading_memory(&self) -> u64 {
        self.memory() + packed::bytes(&self.columns.values)
    }

    /// Bytes held: columns, labels, queries with their identifiers, places of rows in the input, names, scores of a
    /// teacher, and validation rows. Borrowed arrays count, too.
    pub fn memory(&self) -> u64 {
        let names = self.names.as_ref().map_or(0, FeatureNames::memory);
        let validation = self.validation().map_or(0, Dataset::memory);
        (self.columns.memory() + self.examples.memory() + names) as u64 + validation
    }

    /// The stored column at `position`.
    ///
    /// # Panics
    /// When `position >= self.stored_columns()`.
    pub fn column(&self, position: usize) -> Column<'_> {
        self.columns.column(position)
    }

    /// 0-based feature of the stored column at `position`.
    ///
    /// # Panics
    /// When `position >= self.stored_columns()`.
    pub fn feature(&self, position: usize) -> Feature {
        self.columns.feature(position)
    }

    /// The stored column of the 0-based `feature`, if it has one.
    pub fn position(&self, feature: Feature) -> Option<usize> {
        self.columns.position(feature)
    }

    /// Scores of the rows: the sum of weight times value over the 0-based `features`. It is added in their order,
    /// so equal rows have equal scores to the last bit. Features that the data lack add nothing.
    ///
    /// # Panics
    /// Unless there are as many weights as features.
    pub fn scores(&self, features: &[Feature], weights: &[f64]) -> Vec<f64> {
        assert_eq!(features.len(), weights.len(), "one weight a feature");
        let mut scores = vec![0.0; self.rows()];
        for (&feature, weight) in features.iter().zip(weights) {
            let Some(position) = self.position(feature) else {
                continue;
            };
            for (row, value) in self.column(position).iter() {
                scores[row] += weight * value;
            }
        }
        scores
    }

    /// The labels, one a row.
    pub fn labels(&self) -> &[f64] {
        &self.examples.labels
    }

    /// The partition of the rows into queries.
    pub fn queries(&self) -> &Queries {
        &self.examples.queries
    }

    /// Names of the features, if they have any.
    pub fn names(&self) -> Option<&FeatureNames> {
        self.names.as_ref()
    }

    /// The name of a 0-based feature, if it has one.
    pub fn name_of(&self, feature: Feature) -> Option<&str> {
        self.names.as_ref()?.of(feature)
    }

    /// How the source counts its columns.
    pub fn index_base(&self) -> IndexBase {
        self.index_base
    }

    /// The position in the input of every row, if rows were moved.
    pub fn input_rows(&self) -> Option<&[u32]> {
        self.examples.input_rows.as_deref()
    }

    /// The present row of every row of the input.
    pub(crate) fn rows_of_input(&self) -> Vec<u32> {
        self.in_input_order((0..).take(self.rows()).collect())
    }

    /// Values of the input's rows, in the present order of the rows.
    pub fn in_row_order<T: Copy>(&self, values: &[T]) -> Result<Vec<T>> {
        check::length("values of rows", self.rows(), values.len())?;
        Ok(match self.input_rows() {
            Some(order) => order.iter().map(|&row| values[row as usize]).collect(),
            None => values.to_vec(),
        })
    }

    /// Values of the rows, in the order of the input.
    ///
    /// # Panics
    /// Unless there are as many values as rows.
    pub fn in_input_order<T: Copy>(&self, values: Vec<T>) -> Vec<T> {
        assert_eq!(values.len(), self.rows(), "one value a row");
        let mut ordered = values.clone();
        for (&row, value) in self.input_rows().into_iter().flatten().zip(values) {
            ordered[row as usize] = value;
        }
        ordered
    }
}

/// Labels and queries of the examples, and further facts about them.
#[derive(Debug, Clone)]
pub(super) struct Examples<'a> {
    pub(super) labels: Cow<'a, [f64]>,
    pub(super) queries: Queries,
    /// The place of each example in the input. `None` if none has moved.
    pub(super) input_rows: Option<Vec<u32>>,
    /// Scores of a teacher.
    pub(super) teacher: Option<Vec<f64>>,
    /// Validation rows.
    pub(super) validation: Option<Arc<Dataset<'static>>>,
}

impl<'a> Examples<'a> {
    fn new(labels: Cow<'a, [f64]>, queries: Queries) -> Result<Self> {
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

    /// These queries, without labels yet.
    fn unchecked(queries: Queries) -> Self {
        Self {
            labels: Cow::default(),
            queries,
            input_rows: None,
            teacher: None,
            validation: None,
        }
    }

    /// Bytes held, without validation rows.
    fn memory(&self) -> usize {
        let teacher = self.teacher.as_deref().map_or(0, size_of_val);
        let input_rows = self.input_rows.as_deref().map_or(0, size_of_val);
        size_of_val(&self.labels[..]) + self.queries.memory() + input_rows + teacher
    }

    /// The examples at the ascending positions `rows`, in these `queries`.
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

    /// These examples with owned labels.
    fn into_owned(self) -> Examples<'static> {
        Examples {
            labels: self.labels.into_owned().into(),
            input_rows: self.input_rows,
            teacher: self.teacher,
            validation: self.validation,
            queries: self.queries,
        }
    }
}

/// The order of `rows` among themselves, from the places of all rows.
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

    /// A scattered query, whose rows were moved.
    fn moved() -> Dataset<'static> {
        let text = b"1 qid:long_name_a 1:1\n0 qid:b 2:1\n2 qid:long_name_a 2:2\n";
        ReadOptions::new()
            .read_from(&text[..], "f")
            .unwrap()
            .dataset
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

    /// Surplus names may be a corpus's. They are refused if some repeat and all are numbers, or are as many as
    /// rows.
    #[test]
    fn a_list_of_something_else_is_no_list_of_names() {
        let named = |names: &[&str]| moved().with_names(names.iter().collect());
        for names in [
            &["0", "1", "0", "0", "2"][..],
            &["2.5", "1e3", "2.5"],
            &["q1", "q1", "q2"],
        ] {
            let error = named(names).unwrap_err();
            let counts = format!("names of 2 columns, each once, found {} names", names.len());
            assert!(error.to_string().contains(&counts), "{error}");
        }
        for names in [
            &["a", "b", "c", "d", "e"][..],
            &["a", "b", "c"],
            &["1", "2", "3", "4"],
            // Not more names than columns, or neither numbers nor as many as rows: repeated names only get a
            // warning.
            &["0", "0"],
            &["body", "title", "body", "title"],
        ] {
            assert!(named(names).is_ok(), "{names:?}");
        }
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
