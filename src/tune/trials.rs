//! Trials of a setting: models of some queries, judged on unseen ones.

use std::iter;
use std::ops::ControlFlow;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use rayon::prelude::*;

use super::Tune;
use super::folds::{Fold, Part, groups};
use super::meter::Meter;
use super::run::side_by_side;
use crate::columns::{ColumnClasses, QueryWeight, Scale};
use crate::data::{Dataset, Feature};
use crate::error::{Error, Kind, Result};
use crate::greedy::{Choice, GreedyRankRls, Labels, Own, Plan, Selecting, plan_with};
use crate::lambda::{Lambda, Lambdas, Ridge};
use crate::memory::Memory;
use crate::metrics::Score;
use crate::stop;

/// Folds of the queries.
pub(super) const FOLDS: usize = 3;

/// The shares of the unit for a teacher without a ridge parameter. Steps are long, as errors hardly depend on it.
const TEACHER: [Ridge; 4] = [
    Ridge::fraction((1, 1024)),
    Ridge::fraction((1, 64)),
    Ridge::fraction((1, 4)),
    Ridge::fraction((4, 1)),
];

/// News of a choice.
#[derive(Debug, Clone, Copy)]
pub enum ChoiceEvent<'a> {
    /// A setting is about to be tried with one or more ridge parameters.
    Trying {
        /// Its options, where the strategy `auto` is the fastest exact one.
        options: &'a GreedyRankRls,
        /// Steps of all its selections, at most.
        steps: usize,
    },
    /// One of these steps is done.
    Stepped,
    /// A setting was judged: the choice so far.
    Judged(&'a Choice),
}

/// Sees the news of a choice, one call at a time. Breaking after a step ends the choice.
pub type EachTrial<'e> = dyn FnMut(ChoiceEvent<'_>) -> ControlFlow<()> + Send + 'e;

/// An [`EachTrial`] that looks at nothing.
pub fn unwatched_trials(_: ChoiceEvent<'_>) -> ControlFlow<()> {
    ControlFlow::Continue(())
}

/// The values of all queries, in the order of the data.
type Values = Vec<Option<f64>>;

/// The folds for the trials of all settings.
pub(super) struct Trials<'a, 'e> {
    own: Option<&'a Own<'a>>,
    /// Labels of all data, as their largest sets the scale of grades.
    labels: &'a [f64],
    queries: usize,
    /// The columns to include.
    included: Vec<Feature>,
    /// Their candidates have the values of the data if several scales are to be tried.
    folds: Vec<Fold>,
    /// The query weight and the scale of these candidates.
    base: (QueryWeight, Scale),
    /// The candidates on the scale of the last setting, unless the folds have it.
    scaled: Vec<ColumnClasses>,
    /// That scale, if it could be computed.
    scale: Option<Scale>,
    /// The memory limit, with the data in use.
    memory: Memory,
    each: Mutex<&'e mut EachTrial<'a>>,
    stopped: AtomicBool,
}

/// A setting to try, with all that its ridge parameters share.
pub(super) struct Trial {
    pub(super) options: GreedyRankRls,
    /// The labels of each fold, made once, as a teacher takes long.
    labels: Vec<Result<Labels>>,
    /// The ridge parameter of the teachers, a share of the unit, if any were trained.
    pub(super) teacher: Option<Ridge>,
}

impl Trial {
    /// A trial of a selection by these `options`, whatever their lambda.
    pub(super) fn new(options: GreedyRankRls) -> Self {
        Self {
            options,
            labels: Vec::new(),
            teacher: None,
        }
    }
}

/// A selection without a fold.
struct Job {
    fold: usize,
    plan: Plan,
}

impl<'a, 'e> Trials<'a, 'e> {
    /// Folds of `drawn`, some or all of the queries of `whole`, for settings like `first`, on `several` scales or
    /// on one.
    pub(super) fn new(
        whole: &'a Dataset<'_>,
        drawn: &Dataset<'_>,
        first: &GreedyRankRls,
        several: bool,
        own: Option<&'a Own<'a>>,
        each: &'e mut EachTrial<'a>,
    ) -> Result<Self> {
        let memory = first.memory.holding(whole.memory());
        let base = if several {
            (QueryWeight::Uniform, Scale::None)
        } else {
            (first.query_weight, first.column_scale())
        };
        let selection = GreedyRankRls {
            query_weight: base.0,
            scale: Some(base.1),
            memory: if drawn.rows() < whole.rows() {
                memory.holding(drawn.memory())
            } else {
                memory
            },
            ..first.clone()
        };
        let folds = folds(drawn, &selection)?;
        Ok(Self {
            own,
            labels: whole.labels(),
            queries: drawn.queries().len(),
            included: first.included_features(whole)?,
            folds,
            base,
            scaled: Vec::new(),
            scale: Some(base.1).filter(|_| base.0 == first.query_weight),
            memory,
            each: Mutex::new(each),
            stopped: AtomicBool::new(false),
        })
    }

    /// The memory with the folds in use.
    fn held(&self) -> Memory {
        let scaled = self.scaled.iter().map(ColumnClasses::memory);
        let held = self.folds.iter().map(Fold::memory).chain(scaled);
        held.fold(self.memory, Memory::holding)
    }

    /// The data without a fold, and their candidates on the present scale.
    fn part(&self, fold: usize) -> Part<'_> {
        let part = self.folds[fold].part();
        Part {
            candidates: self.scaled.get(fold).unwrap_or(part.candidates),
            ..part
        }
    }

    /// Makes the candidates on the scale of these options, unless they are present.
    fn rescale(&mut self, options: &GreedyRankRls) -> Result<()> {
        let (weight, scale) = (options.query_weight, options.column_scale());
        if self.scale == Some(scale) {
            return Ok(());
        }
        self.scaled.clear();
        self.scale = None;
        if (weight, scale) != self.base {
            let folds = self.folds.iter().map(|fold| &fold.candidates);
            let bytes = folds.clone().map(ColumnClasses::memory).sum();
            let what = "the folds on another scale need";
            self.held().require(what, bytes, "allow more memory")?;
            let scaled = folds.map(|base| base.on_scale(weight, scale));
            self.scaled = scaled.collect();
        }
        self.scale = Some(scale);
        stop::check()
    }

    /// Keeps the candidates on the scale of these options alone: all later settings are on it.
    pub(super) fn keep_scale(&mut self, options: &GreedyRankRls) -> Result<()> {
        self.rescale(options)?;
        for (fold, scaled) in self.folds.iter_mut().zip(self.scaled.drain(..)) {
            fold.candidates = scaled;
        }
        self.base = (options.query_weight, options.column_scale());
        Ok(())
    }

    /// Judges models with each of these ridge parameters: each gets its score, or the error.
    pub(super) fn judge(
        &mut self,
        trial: &mut Trial,
        ridges: &[Ridge],
    ) -> Result<Vec<(Ridge, Result<Score>)>> {
        match self.rescale(&trial.options) {
            Err(error) if error.kind() == Kind::Memory => {
                return Ok(ridges
                    .iter()
                    .map(|&ridge| (ridge, Err(error.clone())))
                    .collect());
            }
            rescaled => rescaled?,
        }
        let jobs: Vec<Result<Vec<Job>>> = ridges
            .iter()
            .map(|&ridge| self.jobs(trial, ridge))
            .collect();
        let ready: Vec<&Job> = jobs.iter().flatten().flatten().collect();
        self.tell(ChoiceEvent::Trying {
            options: &trial.options,
            steps: ready.iter().map(|job| job.plan.steps).sum(),
        });
        if trial.labels.is_empty() {
            (trial.labels, trial.teacher) = self.labels(&ready);
        }
        let values = self.all_values(trial, &ready)?;
        let mut values = values.into_iter();
        let scored = ridges.iter().zip(&jobs).map(|(&ridge, jobs)| {
            let score = match jobs {
                Err(error) => Err(error.clone()),
                Ok(jobs) => self.score(trial, jobs, values.by_ref().take(jobs.len())),
            };
            (ridge, score)
        });
        Ok(scored.collect())
    }

    /// The selections with this ridge parameter, except without folds that leave nothing to select from.
    fn jobs(&self, trial: &Trial, ridge: Ridge) -> Result<Vec<Job>> {
        let held = self.held();
        let mut jobs = Vec::new();
        for place in 0..self.folds.len() {
            let Part { candidates, data } = self.part(place);
            // The plan counts candidates and data again.
            let again = candidates.memory() + data.memory();
            let options = GreedyRankRls {
                lambda: Some(ridge),
                memory: Memory {
                    held: held.held.saturating_sub(again),
                    ..held
                },
                // Without a fold, a column may be constant or equal another one; the fold then continues without
                // it.
                include: None,
                ..trial.options.clone()
            };
            match plan_with(candidates, data, &options, self.own) {
                Ok(mut plan) => {
                    plan.included = candidates.of_these(&self.included);
                    jobs.push(Job { fold: place, plan });
                }
                // Every model of it predicts 0.
                Err(error) if error.kind() == Kind::Data => {}
                Err(error) => return Err(error),
            }
        }
        Ok(jobs)
    }

    /// The labels of each fold, by the plan of any of its jobs, as no ridge parameter changes them; and the share
    /// of the unit of teachers. The teacher of the first fold searches for it, and the others take the same.
    fn labels(&self, jobs: &[&Job]) -> (Vec<Result<Labels>>, Option<Ridge>) {
        let job_of = |place: usize| jobs.iter().find(|job| job.fold == place);
        let of = |place: usize, shares: Option<Vec<Ridge>>| {
            // Nobody asks for the labels of a fold without a job.
            let job = job_of(place);
            let job = job.ok_or_else(|| Error::data("a fold has nothing to select from"))?;
            let mut plan = job.plan.clone();
            if let Some(shares) = shares {
                plan.options.teacher_lambda = Some(Lambdas::Given(shares));
            }
            let Part { candidates, data } = self.part(place);
            Labels::new(candidates, data, &plan)
        };
        let first = job_of(0).and_then(|job| job.plan.options.teacher_lambda.as_ref());
        let first = of(
            0,
            first
                .filter(|list| list.is_open())
                .map(|_| TEACHER.to_vec()),
        );
        let teacher = first.as_ref().ok().and_then(|labels| labels.teacher);
        let unit = self.part(0).candidates.unit();
        let share = teacher.and_then(|teacher| Lambda::new(teacher.lambda?.value() / unit).ok());
        let share = share.map(Ridge::Share);
        let shares = share.map(|share| vec![share]);
        let others: Vec<usize> = (1..self.folds.len()).collect();
        let size = |&place: &usize| job_of(place).map_or(0, |job| job.plan.memory);
        let others = self.side_by_side(&others, size, |&place| of(place, shares.clone()));
        (iter::once(first).chain(others).collect(), share)
    }

    /// The values of the left-out queries of each job, in order.
    fn all_values(&self, trial: &Trial, jobs: &[&Job]) -> Result<Vec<Result<Values>>> {
        let values = self.side_by_side(jobs, |job| job.plan.memory, |job| self.values(trial, job));
        stop::check()?;
        if self.stopped.load(Ordering::Relaxed) {
            return Err(Error::stopped());
        }
        Ok(values)
    }

    /// The results of `work` on each of `items` of these sizes in bytes, in order. As many tasks as fit into memory
    /// take one item after the other.
    fn side_by_side<T: Sync, R: Send>(
        &self,
        items: &[T],
        size: impl Fn(&T) -> u64,
        work: impl Fn(&T) -> R + Sync,
    ) -> Vec<R> {
        let sizes = items.iter().map(size).collect();
        let at_once = side_by_side(self.held(), sizes, rayon::current_num_threads());
        let next = AtomicUsize::new(0);
        let task = |_: usize| {
            let place = || next.fetch_add(1, Ordering::Relaxed);
            let mine = iter::from_fn(|| {
                let place = place();
                Some((place, work(items.get(place)?)))
            });
            mine.collect::<Vec<_>>()
        };
        let tasks = (0..at_once).into_par_iter().with_max_len(1);
        let mut made: Vec<_> = tasks.flat_map_iter(task).collect();
        made.sort_by_key(|(place, _)| *place);
        made.into_iter().map(|(_, made)| made).collect()
    }

    /// The values of the left-out queries of a job, by the model of its last step.
    fn values(&self, trial: &Trial, job: &Job) -> Result<Values> {
        let fold = &self.folds[job.fold];
        let labels = trial.labels[job.fold].as_ref().map_err(Error::clone)?;
        let Part { candidates, data } = self.part(job.fold);
        let mut work =
            Selecting::begin(candidates, data.labels(), labels, &job.plan, self.own, &[])?;
        while work.advance()?.is_some() {
            if self.tell(ChoiceEvent::Stepped) {
                self.stopped.store(true, Ordering::Relaxed);
            }
            if self.stopped.load(Ordering::Relaxed) {
                return Err(Error::stopped());
            }
        }
        let scores = fold.test.scores(&work.features(), &work.state().weights());
        self.judged(trial, fold, &scores)
    }

    /// The values of the queries of a fold by `scores` of its rows.
    fn judged(&self, trial: &Trial, fold: &Fold, scores: &[f64]) -> Result<Values> {
        let options = Tune {
            measure: trial.options.judged_by(),
            ..Tune::new(trial.options.clone(), &[][..])
        };
        let meter = Meter::new(&fold.test, &options, self.labels);
        let mut values = meter.values(scores, 0.0)?;
        Ok(values.swap_remove(0))
    }

    /// The score of all queries by the `values` of each of `jobs`.
    fn score(
        &self,
        trial: &Trial,
        jobs: &[Job],
        values: impl Iterator<Item = Result<Values>>,
    ) -> Result<Score> {
        let mut by_fold: Vec<Option<Values>> = vec![None; self.folds.len()];
        for (job, values) in jobs.iter().zip(values.collect::<Vec<_>>()) {
            by_fold[job.fold] = Some(values?);
        }
        let mut all = vec![None; self.queries];
        for (fold, values) in self.folds.iter().zip(by_fold) {
            let values = match values {
                Some(values) => values,
                None => self.judged(trial, fold, &vec![0.0; fold.test.rows()])?,
            };
            fold.spread(&values, &mut all);
        }
        Ok(Score::of(all))
    }

    /// Tells the watcher, and says whether to stop. A closure that panicked is not called again.
    pub(super) fn tell(&self, event: ChoiceEvent<'_>) -> bool {
        let each = self.each.lock();
        each.is_ok_and(|mut each| each(event).is_break())
    }
}

/// Folds of the queries of `data`, with all in use in the memory of `selection`.
fn folds(data: &Dataset<'_>, selection: &GreedyRankRls) -> Result<Vec<Fold>> {
    let mut memory = selection.memory;
    let mut folds = Vec::new();
    for left_out in groups(data.queries(), FOLDS, selection.seed())?.iter() {
        let needed = selection.needs_data();
        let selection = GreedyRankRls {
            memory,
            ..selection.clone()
        };
        // The memory for the data without the fold, and for the fold.
        memory.require("the folds need", data.memory(), "allow more memory")?;
        let fold = Fold::new(data, left_out.to_vec(), &selection, needed)?;
        memory = memory.holding(fold.memory());
        folds.push(fold);
    }
    stop::check()?;
    Ok(folds)
}
