//! The grid: paths by strategy, scale of labels and lambda, as a queue.

use std::iter;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use rayon::prelude::*;

use super::folds::{Fold, Part};
use super::meter::Meter;
use super::path::Path;
use super::run::{Job, LabelsOfParts, Run};
use super::{EachEvent, Outcome, PathEnding, Tune, TuneEvent, Tuning};
use crate::columns::ColumnClasses;
use crate::data::{Dataset, HoldOut};
use crate::error::{Error, Kind, Result};
use crate::greedy::{GreedyRankRls, Labels, Step, StrategyKind};
use crate::lambda::Lambda;
use crate::memory::Memory;
use crate::metrics::{Score, check_labels};
use crate::stop::unless_stopped;

/// The outcome of every path of the grid, one strategy and scale of labels after the other, and whether somebody
/// ended them early.
pub(super) fn outcomes(
    tuning: &Tuning<'_>,
    candidates: &ColumnClasses,
    each: &mut EachEvent<'_>,
) -> Result<(Vec<Outcome>, bool)> {
    let &Tuning {
        dataset, options, ..
    } = tuning;
    assert_eq!(candidates.peers().count(), 1, "ranks do not tune");
    let judged = tuning.judged()?;
    let whole = Part {
        candidates,
        data: dataset,
    };
    let folds = Fold::all(whole, options)?;
    let (labels, queries) = (judged.labels(), judged.queries());
    check_labels(&options.measures(), labels, queries, None)
        .map_err(|error| error.within("cannot judge models: "))?;
    let meter = |data| Meter::new(data, options, labels);
    let meters: Vec<Meter<'_>> = match &folds[..] {
        [] => vec![meter(judged)],
        several => several.iter().map(|fold| meter(&fold.test)).collect(),
    };
    let results = results_memory(candidates, queries.len(), options);
    let judging = tuning.validation.map_or(0, Dataset::memory);
    let memory = [dataset.memory(), judging, candidates.memory(), results]
        .into_iter()
        .chain(folds.iter().map(Fold::memory))
        .fold(options.selection.memory, Memory::holding);
    let run = Run {
        options,
        whole,
        folds: &folds,
        meters: &meters,
        given: tuning.given,
        own: tuning.own,
        queries: queries.len(),
        memory,
        each: Mutex::new(each),
        stopped: AtomicBool::new(false),
    };
    run.selections(&options.selections())
}

/// Bytes of the results of all paths of a strategy.
fn results_memory(candidates: &ColumnClasses, queries: usize, options: &Tune) -> u64 {
    /// Bytes of a score without its values of queries, a list that is empty.
    const SCORE: usize = size_of::<Score>() - size_of::<Vec<Option<f64>>>();
    let paths = options.search(candidates.unit()).most();
    let steps = options.selection.k.min(candidates.summary().column_classes) as u64;
    let weights = steps.saturating_mul(steps.saturating_add(1)) / 2;
    let weights = weights.saturating_mul(size_of::<f64>() as u64);
    let columns = 1 + options.metrics.len();
    let values = match options.holdout {
        HoldOut::Folds { .. } | HoldOut::Given { .. } => {
            (columns * size_of::<Option<f64>>()).saturating_mul(queries)
        }
        _ => 0,
    };
    let point = (size_of::<Step>() + columns * SCORE).saturating_add(values);
    let path = weights.saturating_add(steps.saturating_mul(point as u64));
    path.saturating_mul(paths as u64)
}

/// The grid.
impl Run<'_> {
    /// Outcomes of the paths of each of `selections`, and whether somebody ended them early.
    fn selections(&self, selections: &[GreedyRankRls]) -> Result<(Vec<Outcome>, bool)> {
        let (mut all, mut interrupted) = (Vec::new(), false);
        for (place, selection) in selections.iter().enumerate() {
            let later = selections.len() - 1 - place;
            let Some(paths) = unless_stopped(self.selection(selection, later)) else {
                interrupted = true;
                break;
            };
            all.extend(paths?);
            let cut = |path: &Outcome| path.ending == PathEnding::Interrupted;
            let more = later > 0 || self.options.lambdas.is_open() || all.iter().any(cut);
            if self.is_stopped() && more {
                interrupted = true;
                break;
            }
        }
        Ok((all, interrupted))
    }

    /// Outcomes of `selection` with every lambda, and of the paths past the edge while the choice is there; by
    /// lambda. `later` selections come after it.
    fn selection(&self, selection: &GreedyRankRls, later: usize) -> Result<Vec<Outcome>> {
        let candidates = self.candidates();
        let mut search = self.options.search(candidates.unit());
        let steps = selection.k.min(candidates.summary().column_classes);
        let first = search.tried().to_vec();
        let later = later * first.len() * (1 + self.folds.len()) * steps;
        let (mut outcomes, mut labels) = (Vec::new(), LabelsOfParts::new());
        search.run(first, |_, lambdas| {
            outcomes.extend(self.grid(selection, lambdas, later, &mut labels)?);
            outcomes.sort_by(|a: &Outcome, b| a.lambda.total_cmp(b.lambda));
            let choice = self
                .options
                .choose(&outcomes)
                .filter(|_| !self.is_stopped());
            Ok::<_, Error>(choice.map(|(position, _)| outcomes[position].lambda))
        })?;
        Ok(outcomes)
    }

    /// Outcomes of `selection` with each of `lambdas`, in their order. The first fills `labels`.
    ///
    /// Tasks, as many as fit into memory, take one job after the other. All of them, and the parallel parts of
    /// every step, share the threads of the pool. A thread that waits within a selection may begin another one only
    /// by beginning another task, so the number at work never grows.
    fn grid(
        &self,
        selection: &GreedyRankRls,
        lambdas: &[Lambda],
        later_steps: usize,
        labels: &mut LabelsOfParts,
    ) -> Result<Vec<Outcome>> {
        let job = |&lambda: &Lambda| match self.job(selection, lambda) {
            Err(error) if error.kind() != Kind::Memory => Err(error),
            job => Ok((lambda, job)),
        };
        let jobs: Vec<(Lambda, Result<Job>)> = lambdas.iter().map(job).collect::<Result<_>>()?;
        let ready: Vec<&Job> = jobs
            .iter()
            .filter_map(|(_, job)| job.as_ref().ok())
            .collect();
        if let Some(job) = ready.first()
            && labels.is_empty()
        {
            *labels = self.labels(job);
        }
        let concurrent = self.concurrent(&ready);
        self.tell(TuneEvent::Started {
            lambdas: ready.len(),
            steps: ready.iter().map(|job| job.steps()).sum(),
            later_steps,
            concurrent,
        });
        let (shared, next) = (&*labels, AtomicUsize::new(0));
        let work = |_: usize| {
            let mut done = Vec::new();
            loop {
                let place = next.fetch_add(1, Ordering::Relaxed);
                let Some((lambda, job)) = jobs.get(place) else {
                    return done;
                };
                let outcome = match job {
                    Ok(job) => Path::new(self, job, shared).outcome(),
                    Err(error) => Ok(self.refused(selection, *lambda, error)),
                };
                done.push((place, outcome));
            }
        };
        let workers = (0..concurrent).into_par_iter().with_max_len(1);
        let mut outcomes: Vec<_> = workers.flat_map_iter(work).collect();
        outcomes.sort_by_key(|(place, _)| *place);
        outcomes.into_iter().map(|(_, outcome)| outcome).collect()
    }

    /// The outcome of a path that exceeds the memory.
    fn refused(&self, selection: &GreedyRankRls, lambda: Lambda, error: &Error) -> Outcome {
        let reason = error.to_string();
        let options = GreedyRankRls {
            strategy: StrategyKind::Auto,
            ..selection.clone()
        };
        let unit = self.candidates().unit();
        let ending = PathEnding::Refused { reason };
        Outcome {
            error: Some(error.clone()),
            ..Outcome::without_points(&options, lambda, unit, ending)
        }
    }

    /// The labels of the selections of `job`, which no lambda changes. They are made before paths are followed: a
    /// thread that waited for them could begin another path.
    fn labels(&self, job: &Job) -> LabelsOfParts {
        let of = |fold: Option<usize>| {
            let plan = fold.map_or(Some(&job.plan), |fold| job.folds[fold].as_ref());
            // Nobody asks for the labels of a fold without a plan.
            let unknown = || Error::data("a fold has nothing to select from");
            let Part { candidates, data } = self.part(fold);
            Labels::new(candidates, data, plan.ok_or_else(unknown)?)
        };
        let folds = (0..self.folds.len()).map(Some);
        iter::once(None).chain(folds).map(of).collect()
    }
}
