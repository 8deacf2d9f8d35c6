//! Cross-validation over queries: the folds, and selections without one of them.

use super::meter::{Meter, Values};
use super::{PathSteps, Tune};
use crate::columns::ColumnClasses;
use crate::data::{Dataset, Groups, HoldOut, Queries};
use crate::error::{Error, Result, ensure};
use crate::greedy::{GreedyRankRls, Selecting, check_several};
use crate::memory::Memory;
use crate::stop;

/// The data that a selection sees: all training data, or all without a fold.
#[derive(Clone, Copy)]
pub(super) struct Part<'a> {
    pub(super) candidates: &'a ColumnClasses,
    pub(super) data: &'a Dataset<'a>,
}

/// A fold: the data to select from, and the queries left out.
#[derive(Debug)]
pub(super) struct Fold {
    /// Positions of its queries in the whole data.
    queries: Vec<usize>,
    pub(super) candidates: ColumnClasses,
    /// The rows to select from, with their columns if a strategy judges these.
    train: Dataset<'static>,
    pub(super) test: Dataset<'static>,
}

impl Fold {
    /// The folds of the data; empty unless asked for.
    pub(super) fn all(part: Part<'_>, options: &Tune) -> Result<Vec<Self>> {
        let dataset = part.data;
        let queries = dataset.queries();
        let groups = match &options.holdout {
            HoldOut::Folds { .. } | HoldOut::Given { .. } if queries.len() == 1 => {
                return check_several(queries).map(|()| Vec::new());
            }
            HoldOut::Folds { count, seed } => groups(queries, *count, *seed)?,
            HoldOut::Given { groups, .. } => several_left(queries, groups.clone())?,
            _ => return Ok(Vec::new()),
        };
        let mut memory = check_memory(part, groups.len(), options)?;
        let mut all = options.selections().into_iter();
        let needed = all.any(|selection| selection.needs_data());
        let fold = |left_out: &[usize]| {
            let selection = GreedyRankRls {
                memory,
                ..options.selection.clone()
            };
            let fold = Self::new(dataset, left_out.to_vec(), &selection, needed)?;
            memory = memory.holding(fold.memory());
            Ok(fold)
        };
        let folds = groups.iter().map(fold).collect();
        stop::check()?;
        folds
    }

    /// The fold of these `queries`, for `selection`, beside all in use in its memory. `needed`: whether the columns
    /// are, beside the candidates.
    pub(super) fn new(
        dataset: &Dataset<'_>,
        queries: Vec<usize>,
        selection: &GreedyRankRls,
        needed: bool,
    ) -> Result<Self> {
        let others: Vec<usize> = (0..dataset.queries().len())
            .filter(|query| queries.binary_search(query).is_err())
            .collect();
        let train = dataset.queries_subset(&others)?;
        Ok(Self {
            candidates: selection.candidates(&train)?,
            train: if needed { train } else { train.project(&[])? },
            test: dataset.queries_subset(&queries)?,
            queries,
        })
    }

    /// Bytes held.
    pub(super) fn memory(&self) -> u64 {
        let data = self.train.memory() + self.test.memory();
        self.candidates.memory() + data + size_of_val(&self.queries[..]) as u64
    }

    /// Puts a value of each of its queries at the query's place in the whole data.
    pub(super) fn spread(&self, own: &[Option<f64>], all: &mut [Option<f64>]) {
        for (&query, value) in self.queries.iter().zip(own) {
            all[query] = *value;
        }
    }

    /// The data of a selection without the fold.
    pub(super) fn part(&self) -> Part<'_> {
        Part {
            candidates: &self.candidates,
            data: &self.train,
        }
    }
}

/// Refuses folds that exceed the memory. All of them have the test data once, and candidates as often as there are
/// other folds; one also has its training data. Returns the memory with the whole data and their candidates in use.
fn check_memory(part: Part<'_>, folds: usize, options: &Tune) -> Result<Memory> {
    let (data, candidates) = (part.data.memory(), part.candidates.memory());
    let mut needs_data = options.selections().into_iter().map(|one| one.needs_data());
    let kept = if needs_data.any(|needed| needed) {
        data
    } else {
        0
    };
    let others = (folds as u64).saturating_sub(1);
    let of_folds = others.saturating_mul(candidates.saturating_add(kept));
    let taken = of_folds.saturating_add(data.saturating_mul(2));
    let memory = options.selection.memory.holding(data).holding(candidates);
    let what = format_args!("{folds} folds need");
    memory.require(what, taken, "allow more memory")?;
    Ok(memory)
}

/// The queries of each of `count` folds. A selection without one of them needs two queries.
pub(super) fn groups(queries: &Queries, count: usize, seed: u64) -> Result<Groups> {
    let drawn = Groups::folds(queries, count, seed);
    let drawn = drawn.map_err(|_| {
        Error::options(format!(
            "{count} folds of {} queries: expected from 2 folds up to one a query",
            queries.len()
        ))
    })?;
    several_left(queries, drawn)
}

/// Refuses folds that leave a single query.
fn several_left(queries: &Queries, groups: Groups) -> Result<Groups> {
    let (count, queries) = (groups.len(), queries.len());
    ensure!(
        groups.iter().all(|fold| queries - fold.len() > 1),
        options,
        "{count} folds of {queries} queries leave a single query to select from, and leave-query-out \
         needs two"
    );
    Ok(groups)
}

/// A selection without a fold, and its values on the fold.
pub(super) struct FoldPath<'a> {
    fold: &'a Fold,
    meter: &'a Meter<'a>,
    /// `None` if there is no candidate: every model predicts 0.
    work: Option<Selecting<'a>>,
    /// The selection after its last step.
    pub(super) path: PathSteps,
    /// Values after the last step.
    values: Values,
}

impl<'a> FoldPath<'a> {
    /// The state before the first step of `work`.
    pub(super) fn new(
        fold: &'a Fold,
        meter: &'a Meter<'a>,
        work: Option<Selecting<'a>>,
        path: PathSteps,
    ) -> Result<Self> {
        let zeros = vec![0.0; fold.test.rows()];
        Ok(Self {
            fold,
            meter,
            work,
            path,
            values: meter.values(&zeros, 0.0)?,
        })
    }

    /// Takes a step and measures the fold; `false` if no step was left.
    pub(super) fn advance(&mut self) -> Result<bool> {
        let Some(work) = &mut self.work else {
            return Ok(false);
        };
        let Some(step) = work.advance()?.cloned() else {
            return Ok(false);
        };
        self.path.steps.push(step);
        let scores = self
            .fold
            .test
            .scores(&work.features(), &work.state().weights());
        self.values = self.meter.values(&scores, 0.0)?;
        Ok(true)
    }

    /// The features so far.
    pub(super) fn features(&self) -> Vec<u32> {
        self.path.steps.iter().map(|step| step.feature).collect()
    }

    /// Puts the fold's values at the places of its queries in the whole data.
    pub(super) fn spread(&self, all: &mut Values) {
        for (all, own) in all.iter_mut().zip(&self.values) {
            self.fold.spread(own, all);
        }
    }
}
