//! Predictions along selections, and cross-validation over queries.

use super::score::{Meter, Values};
use super::{TuneError, TuneOptions};
use crate::columns::{ColumnClasses, Partition};
use crate::data::{Column, Dataset};
use crate::greedy::tied_predictions;
use crate::greedy::{Advance, Greedy, Lesson, Plan, SelectError, SelectionOptions, Step, Target};
use crate::peers::low;
use crate::ridge::Groups;

/// Why a path ends before its time.
#[derive(Debug)]
pub(super) enum PathEnd {
    /// The observer stopped it.
    Stopped,
    /// An error, a weight or a prediction is no finite number.
    Overflow,
    /// It cannot start, or steps of an earlier run cannot be taken again.
    Select(SelectError),
}

impl From<SelectError> for PathEnd {
    fn from(error: SelectError) -> Self {
        match error {
            SelectError::NotFinite { .. } => Self::Overflow,
            error => Self::Select(error),
        }
    }
}

/// Measures of the leave-query-out predictions after the last step.
pub(super) fn left_out(greedy: &Greedy<'_>, meter: &Meter<'_>) -> Result<Values, PathEnd> {
    let state = greedy.state();
    let values = meter.values(&state.predictions(), &tied_predictions(state));
    values.ok_or(PathEnd::Overflow)
}

/// Measures of the predictions for the data of `meter`, which every rank has, after the last step.
pub(super) fn predicted(greedy: &Greedy<'_>, meter: &Meter<'_>) -> Result<Values, PathEnd> {
    let scores = meter
        .data
        .scores(greedy.features(), &greedy.state().weights());
    meter.values(&scores, &scores).ok_or(PathEnd::Overflow)
}

/// The queries of each of `count` folds, ascending: a random partition whose parts differ by
/// one query at most; that of [`Groups::folds`].
///
/// # Errors
/// [`TuneError::Folds`] unless there are 2 folds or more, and a query for each.
pub fn fold_queries(queries: usize, count: usize, seed: u64) -> Result<Vec<Vec<usize>>, TuneError> {
    let groups = Groups::folds(queries, count, seed);
    let groups = groups.map_err(|_| TuneError::Folds { count, queries })?;
    Ok(groups.iter().map(<[usize]>::to_vec).collect())
}

/// A fold: the data to select from, and the queries that are left out.
#[derive(Debug)]
pub(super) struct Fold {
    /// Positions of its queries in the whole data.
    pub(super) queries: Vec<usize>,
    pub(super) candidates: ColumnClasses,
    pub(super) labels: Vec<f64>,
    teacher: Option<Vec<f64>>,
    pub(super) test: Dataset<'static>,
}

impl Fold {
    /// Of the data of this rank, whose column classes are `whole`.
    pub(super) fn new(
        dataset: &Dataset<'_>,
        queries: Vec<usize>,
        options: &TuneOptions<'_>,
        whole: &ColumnClasses,
    ) -> Result<Self, TuneError> {
        let others: Vec<usize> = (0..dataset.queries().len())
            .filter(|query| queries.binary_search(query).is_err())
            .collect();
        let mut train = dataset.queries_subset(&others)?;
        let peers = whole.shared_peers();
        if peers.count() > 1 {
            // Columns are equal here that are not in the whole data.
            train = Partition::exchange(&train, &*peers);
        }
        Ok(Self {
            candidates: options.candidates(&train).among(peers),
            labels: train.labels().to_vec(),
            teacher: train.teacher().map(<[f64]>::to_vec),
            test: dataset.queries_subset(&queries)?,
            queries,
        })
    }

    /// Bytes held.
    pub(super) fn memory(&self) -> u64 {
        let teacher = self.teacher.as_deref().map_or(0, size_of_val);
        let numbers = size_of_val(&self.labels[..]) + size_of_val(&self.queries[..]) + teacher;
        self.candidates.memory() + self.test.memory() + numbers as u64
    }

    pub(super) fn target(&self) -> Target<'_> {
        Target {
            labels: &self.labels,
            teacher: self.teacher.as_deref(),
        }
    }
}

/// A selection without a fold, and how it does on the fold.
pub(super) struct FoldPath<'a> {
    fold: &'a Fold,
    meter: &'a Meter<'a>,
    /// `None` where nothing can be selected from: every model predicts 0.
    greedy: Option<Greedy<'a>>,
    /// The columns of the features on the fold.
    columns: Vec<(Vec<u32>, Vec<f64>)>,
    /// Values after the last step.
    values: Values,
}

impl<'a> FoldPath<'a> {
    /// Before the first step.
    pub(super) fn new(
        fold: &'a Fold,
        meter: &'a Meter<'a>,
        plan: Option<&Plan>,
        lesson: Option<Lesson>,
        options: &SelectionOptions,
        recorded: &'a [Step],
    ) -> Result<Self, PathEnd> {
        let zeros = vec![0.0; fold.test.rows()];
        let (candidates, labels) = (&fold.candidates, &fold.labels);
        let greedy = |plan| Greedy::taught(candidates, labels, lesson, plan, options, recorded);
        Ok(Self {
            fold,
            meter,
            greedy: plan.map(greedy).transpose()?,
            columns: Vec::new(),
            values: meter.values(&zeros, &zeros).ok_or(PathEnd::Overflow)?,
        })
    }

    /// Takes a step and measures the fold; `None` if there was none to take.
    pub(super) fn advance(&mut self) -> Result<Option<Advance>, PathEnd> {
        let Some(greedy) = &mut self.greedy else {
            return Ok(None);
        };
        let Some(advance) = greedy.advance()? else {
            return Ok(None);
        };
        let column = column_of(advance.step.feature, &self.fold.test, &self.fold.candidates);
        self.columns.push(column);
        let mut scores = vec![0.0; self.fold.test.rows()];
        for (weight, (rows, values)) in greedy.state().weights().iter().zip(&self.columns) {
            for (&row, value) in rows.iter().zip(values) {
                scores[row as usize] += weight * value;
            }
        }
        let values = self.meter.values(&scores, &scores);
        self.values = values.ok_or(PathEnd::Overflow)?;
        Ok(Some(advance))
    }

    /// The features so far.
    pub(super) fn features(&self) -> Vec<u32> {
        let greedy = self.greedy.as_ref();
        greedy.map_or_else(Vec::new, |greedy| greedy.features().to_vec())
    }

    /// Puts the fold's values where its queries are in the whole data.
    pub(super) fn spread(&self, all: &mut Values) {
        for (all, own) in all.iter_mut().zip(&self.values) {
            for (&query, value) in self.fold.queries.iter().zip(own) {
                all[query] = *value;
            }
        }
    }
}

/// Rows and values of a feature in `data`, of which each of the ranks of `candidates` has some
/// columns.
fn column_of(feature: u32, data: &Dataset<'_>, candidates: &ColumnClasses) -> (Vec<u32>, Vec<f64>) {
    let mut words = Vec::new();
    if let Some(position) = data.position(feature) {
        let Column { rows, values } = data.column(position);
        words.extend(rows.iter().copied().map(u64::from));
        words.extend(values.iter().map(|value| value.to_bits()));
    }
    let words = candidates.peers().gather(words).concat();
    let (rows, values) = words.split_at(words.len() / 2);
    let values = values.iter().copied().map(f64::from_bits);
    (rows.iter().map(low).collect(), values.collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folds_are_a_partition_of_equal_parts() {
        let folds = fold_queries(11, 3, 1).unwrap();
        let sizes: Vec<usize> = folds.iter().map(Vec::len).collect();
        assert_eq!(sizes, [4, 4, 3]);
        let mut all = folds.concat();
        all.sort_unstable();
        assert_eq!(all, (0..11).collect::<Vec<_>>());
        assert_ne!(folds, fold_queries(11, 3, 2).unwrap());
    }

    #[test]
    fn a_seed_makes_the_same_folds_from_release_to_release() {
        assert_eq!(fold_queries(6, 3, 1).unwrap(), [[0, 4], [1, 5], [2, 3]]);
    }

    #[test]
    fn folds_need_queries() {
        for (queries, count) in [(5, 0), (5, 1), (5, 6)] {
            let error = fold_queries(queries, count, 1).unwrap_err();
            assert_eq!(
                error.to_string(),
                format!(
                    "{count} folds of {queries} queries: expected from 2 folds up to one a query"
                )
            );
        }
    }
}
