//! The grid: paths by strategy, scale of labels and lambda, as a queue.

use std::iter;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use rayon::prelude::*;

use super::folds::{Fold, Part};
use super::meter::Meter;
use super::path::Path;
use super::run::{Job, LabelsOfParts, Run};
use super::{Evidence, Outcome, PathEnding, Score, Tune, TuneEvent, TuneObserver, Tuning};
use crate::candidates::Candidates;
use crate::data::Dataset;
use crate::error::{Error, Result};
use crate::greedy::{GreedyRankRls, Labels, Step};
use crate::lambda::Lambda;
use crate::memory::Memory;
use crate::metrics::check_labels;
use crate::stop::unless_stopped;

/// The outcome of every path of the grid, one strategy and scale of labels after the other, and
/// whether they were ended before their time.
pub(super) fn outcomes(
    tuning: &Tuning<'_>,
    candidates: &Candidates,
    observer: &mut dyn TuneObserver,
) -> Result<(Vec<Outcome>, bool)> {
    let &Tuning {
        dataset,
        options,
        validation,
        given,
        own,
        ..
    } = tuning;
    assert_eq!(candidates.peers().count(), 1, "ranks do not tune");
    let judged = tuning.judged()?;
    let folds = Fold::all(dataset, options)?;
    let (labels, queries) = (judged.labels(), judged.queries());
    check_labels(&options.measures(), labels, queries, &options.rules, None)
        .map_err(|error| error.within("cannot judge models: "))?;
    let meter = |data| Meter::new(data, options, labels);
    let meters: Vec<Meter<'_>> = match &folds[..] {
        [] => vec![meter(judged)],
        several => several.iter().map(|fold| meter(&fold.test)).collect(),
    };
    let results = results_memory(candidates, queries.len(), options);
    let judging = validation.map_or(0, Dataset::memory);
    let memory = [dataset.memory(), judging, candidates.memory(), results]
        .into_iter()
        .chain(folds.iter().map(Fold::memory))
        .fold(options.selection.memory, Memory::holding);
    let run = Run {
        options,
        whole: Part {
            candidates,
            data: dataset,
        },
        folds: &folds,
        meters: &meters,
        given,
        own,
        queries: queries.len(),
        memory,
        observer: Mutex::new(observer),
        stopped: AtomicBool::new(false),
    };
    run.selections(&options.selections())
}

/// Bytes that the results of all paths of a strategy take.
fn results_memory(candidates: &Candidates, queries: usize, options: &Tune) -> u64 {
    let paths = options.search(candidates.unit()).most();
    let steps = options.selection.k.min(candidates.summary().column_classes) as u64;
    let weights = steps.saturating_mul(steps.saturating_add(1)) / 2;
    let weights = weights.saturating_mul(size_of::<f64>() as u64);
    let columns = 1 + options.metrics.len();
    let values = match options.evidence {
        Evidence::Folds { .. } => (columns * size_of::<Option<f64>>()).saturating_mul(queries),
        _ => 0,
    };
    let point = (size_of::<Step>() + columns * size_of::<Score>()).saturating_add(values);
    let path = weights.saturating_add(steps.saturating_mul(point as u64));
    path.saturating_mul(paths as u64)
}

/// The grid.
impl Run<'_> {
    /// Outcomes of the paths of each of `selections`, and whether they were ended before their time.
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

    /// Outcomes of `selection` with every lambda, after which so many selections come `later`, and of
    /// the paths past the edge while the choice is there; by lambda.
    fn selection(&self, selection: &GreedyRankRls, later: usize) -> Result<Vec<Outcome>> {
        let candidates = self.candidates();
        let mut search = self.options.search(candidates.unit());
        let steps = selection.k.min(candidates.summary().column_classes);
        let later = later * search.tried().len() * self.selections_of_path() * steps;
        let mut labels = LabelsOfParts::new();
        let mut outcomes = self.grid(selection, search.tried(), later, &mut labels)?;
        while !self.is_stopped() {
            let choice = self.options.choose(&outcomes);
            let past = choice.and_then(|best| search.go_on(outcomes[best.position].lambda));
            let Some(lambda) = past else {
                break;
            };
            outcomes.extend(self.grid(selection, &[lambda], later, &mut labels)?);
            outcomes.sort_by(|a, b| a.lambda.total_cmp(b.lambda));
        }
        Ok(outcomes)
    }

    /// Outcomes of `selection` with each of `lambdas`, in their order. The first fills `labels`.
    ///
    /// Tasks, as many as fit into memory, take one job after the other; all of them, and the
    /// parallel parts of every step, share the threads of the pool. A thread that waits within a
    /// selection may begin another one only by beginning another task, so that no more are at work.
    fn grid(
        &self,
        selection: &GreedyRankRls,
        lambdas: &[Lambda],
        later_steps: usize,
        labels: &mut LabelsOfParts,
    ) -> Result<Vec<Outcome>> {
        let asked = lambdas.iter().map(|&lambda| self.job(selection, lambda));
        let jobs: Vec<_> = asked.collect::<Result<_, _>>()?;
        let ready: Vec<&Job> = jobs.iter().flatten().collect();
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
                done.push(match jobs.get(place) {
                    Some(Ok(job)) => (place, Path::new(self, job, shared).outcome()),
                    Some(Err(refused)) => (place, Ok(refused.clone())),
                    None => return done,
                });
            }
        };
        let workers = (0..concurrent).into_par_iter().with_max_len(1);
        let mut outcomes: Vec<_> = workers.flat_map_iter(work).collect();
        outcomes.sort_by_key(|(place, _)| *place);
        outcomes.into_iter().map(|(_, outcome)| outcome).collect()
    }

    /// The labels of the selections of `job`, on which no lambda has an effect. They are made before paths are
    /// followed, as a thread that waited for them could begin another path.
    fn labels(&self, job: &Job) -> LabelsOfParts {
        let labels = |fold| {
            let Part { candidates, data } = self.part(fold);
            let plan = job.plan(fold)?;
            Some(Labels::new(candidates, data, plan))
        };
        let folds = (0..self.folds.len()).map(Some);
        // Nobody asks for those of a fold without a plan.
        let unknown = || Err(Error::data("a fold has nothing to select from"));
        let all = iter::once(None).chain(folds).map(labels);
        all.map(|found| found.unwrap_or_else(unknown)).collect()
    }
}
