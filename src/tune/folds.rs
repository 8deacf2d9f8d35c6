//! Cross-validation over queries: the folds, and selections without one of them.

use super::score::{Meter, Values};
use super::{Evidence, TuneError, TuneOptions};
use crate::candidates::{Candidates, Partition};
use crate::data::{Column, Dataset};
use crate::greedy::{Advance, Greedy, SelectError, SelectionOptions, Target};
use crate::ridge::Groups;
use crate::stop;

/// The data that a selection sees: all training data, or those without a fold.
#[derive(Clone, Copy)]
pub(super) struct Part<'a> {
    pub(super) candidates: &'a Candidates,
    pub(super) target: Target<'a>,
}

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

/// A fold: the data to select from, and the queries that are left out.
#[derive(Debug)]
pub(super) struct Fold {
    /// Positions of its queries in the whole data.
    queries: Vec<usize>,
    candidates: Candidates,
    labels: Vec<f64>,
    teacher: Option<Vec<f64>>,
    /// The rows and columns to select from, where a strategy judges columns as the data have them.
    data: Option<Dataset<'static>>,
    pub(super) test: Dataset<'static>,
}

impl Fold {
    /// The folds of the data of this rank, whose column classes are `whole`; none unless they are
    /// the evidence.
    pub(super) fn all(
        dataset: &Dataset<'_>,
        whole: &Candidates,
        options: &TuneOptions,
    ) -> Result<Vec<Self>, TuneError> {
        let Evidence::Folds { count, seed } = options.evidence else {
            return Ok(Vec::new());
        };
        let queries = dataset.queries().len();
        if queries == 1 {
            return Err(SelectError::OneQuery.into());
        }
        let drawn = Groups::folds(queries, count, seed);
        let groups = drawn.map_err(|_| TuneError::Folds { count, queries })?;
        if groups.iter().any(|fold| queries - fold.len() == 1) {
            return Err(TuneError::OneQueryLeft { count, queries });
        }
        let fold = |left_out: &[usize]| Self::new(dataset, left_out.to_vec(), options, whole);
        let folds = groups.iter().map(fold).collect();
        if stop::requested() {
            return Err(TuneError::Interrupted);
        }
        folds
    }

    fn new(
        dataset: &Dataset<'_>,
        queries: Vec<usize>,
        options: &TuneOptions,
        whole: &Candidates,
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
        let selections = options.selections();
        let needed = selections.iter().any(SelectionOptions::needs_data);
        Ok(Self {
            candidates: options.selection.candidates(&train).among(peers),
            labels: train.labels().to_vec(),
            teacher: train.teacher().map(<[f64]>::to_vec),
            data: needed.then_some(train),
            test: dataset.queries_subset(&queries)?,
            queries,
        })
    }

    /// Bytes held.
    pub(super) fn memory(&self) -> u64 {
        let teacher = self.teacher.as_deref().map_or(0, size_of_val);
        let numbers = size_of_val(&self.labels[..]) + size_of_val(&self.queries[..]) + teacher;
        let data = self.data.as_ref().map_or(0, Dataset::memory);
        self.candidates.memory() + self.test.memory() + numbers as u64 + data
    }

    /// The data that a selection without the fold sees.
    pub(super) fn part(&self) -> Part<'_> {
        Part {
            candidates: &self.candidates,
            target: Target {
                labels: &self.labels,
                teacher: self.teacher.as_deref(),
                data: self.data.as_ref(),
                memory: 0,
            },
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
    /// Before the first step of `greedy`.
    pub(super) fn new(
        fold: &'a Fold,
        meter: &'a Meter<'a>,
        greedy: Option<Greedy<'a>>,
    ) -> Result<Self, PathEnd> {
        let zeros = vec![0.0; fold.test.rows()];
        Ok(Self {
            fold,
            meter,
            greedy,
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
fn column_of(feature: u32, data: &Dataset<'_>, candidates: &Candidates) -> (Vec<u32>, Vec<f64>) {
    let own = data.position(feature).map(|position| {
        let Column { rows, values } = data.column(position);
        (rows.to_vec(), values.to_vec())
    });
    let mut all = candidates.peers().all(&own).into_iter().flatten();
    all.next().unwrap_or_default()
}
