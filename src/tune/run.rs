//! The grid: the memory of each path, how many fit side by side, and the queue.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Instant;

use rayon::prelude::*;

use super::folds::Fold;
use super::path::Path;
use super::score::Meter;
use super::{
    Earlier, Ending, Event, Evidence, Grid, GridStep, Observer, Outcome, RecordedLesson, Score,
    TuneError, TuneOptions, Tuning,
};
use crate::columns::ColumnClasses;
use crate::greedy::{
    Advance, Lesson, Plan, SelectError, SelectionOptions, Step, Target, agreed, plan,
};
use crate::interrupt::unless_ended;
use crate::lambda::{MOST_BEYOND, beyond};
use crate::metrics::check_labels;
use crate::{Lambda, Lambdas};

/// The outcome of every path of the grid, for one strategy after the other, and whether they were
/// ended before their time.
pub(super) fn outcomes(
    tuning: &Tuning<'_>,
    candidates: &ColumnClasses,
    observer: &mut dyn Observer,
) -> Result<(Vec<Outcome>, bool), TuneError> {
    let &Tuning {
        dataset,
        options,
        earlier,
        held,
        ..
    } = tuning;
    let judged = match options.evidence {
        Evidence::Validation(validation) => validation,
        _ => dataset,
    };
    let folds = Fold::all(dataset, candidates, options)?;
    let (labels, queries) = (judged.labels(), judged.queries());
    check_labels(&options.measures(), labels, queries, &options.rules).map_err(TuneError::Judge)?;
    let meter = |data| Meter::new(data, options, labels);
    let meters: Vec<Meter<'_>> = match &folds[..] {
        [] => vec![meter(judged)],
        folds => folds.iter().map(|fold| meter(&fold.test)).collect(),
    };
    let whole = Part {
        candidates,
        target: dataset.into(),
    };
    let mut parts = vec![whole];
    parts.extend(folds.iter().map(Fold::part));
    let held = held + candidates.memory();
    let held = folds
        .iter()
        .map(Fold::memory)
        .fold(held, u64::saturating_add);
    let results = results_memory(candidates, queries.len(), options);
    let held = held.saturating_add(results);
    let (held, max_memory) = agreed(candidates.peers(), held, options.selection.max_memory);
    let run = Run {
        options,
        parts,
        folds: &folds,
        meters: &meters,
        earlier,
        queries: queries.len(),
        held,
        limit: max_memory.unwrap_or(u64::MAX),
        observer: Mutex::new(observer),
        stopped: AtomicBool::new(false),
    };
    let strategies = options.by_strategy().into_iter();
    let strategies = strategies.map(|selection| SelectionOptions {
        max_memory,
        ..selection
    });
    run.strategies(&strategies.collect::<Vec<_>>())
}

/// Bytes that the results of all paths of a strategy take.
fn results_memory(candidates: &ColumnClasses, queries: usize, options: &TuneOptions<'_>) -> u64 {
    // Where the grid goes on past its edge, for each lambda more.
    let beyond = match options.lambdas {
        Lambdas::Auto => MOST_BEYOND,
        Lambdas::Given(_) => 0,
    };
    let paths = options.grid(candidates.unit()).len() + beyond;
    let steps = options.selection.k.min(candidates.summary().column_classes) as u64;
    let weights = steps.saturating_mul(steps + 1) / 2 * size_of::<f64>() as u64;
    let columns = 1 + options.metrics.len();
    let values = match options.evidence {
        Evidence::Folds { .. } => columns * queries * size_of::<Option<f64>>(),
        _ => 0,
    };
    let point = size_of::<Step>() + columns * size_of::<Score>() + values;
    let path = weights.saturating_add(steps.saturating_mul(point as u64));
    path.saturating_mul(paths as u64)
}

/// What a selection sees: all training data, or those without a fold.
pub(super) struct Part<'a> {
    pub(super) candidates: &'a ColumnClasses,
    pub(super) target: Target<'a>,
}

/// What a teacher taught of each part: the same for every path of a strategy.
pub(super) type Lessons = Vec<Result<Option<Lesson>, SelectError>>;

/// All that the paths share.
pub(super) struct Run<'a> {
    pub(super) options: &'a TuneOptions<'a>,
    /// All training data, then those without each fold.
    pub(super) parts: Vec<Part<'a>>,
    pub(super) folds: &'a [Fold],
    /// One a fold, or the only one.
    pub(super) meters: &'a [Meter<'a>],
    pub(super) earlier: Earlier<'a>,
    /// Queries that values are of.
    pub(super) queries: usize,
    /// Bytes held all the time, candidates and results included.
    held: u64,
    /// Bytes allowed.
    limit: u64,
    observer: Mutex<&'a mut dyn Observer>,
    stopped: AtomicBool,
}

/// A path that can be followed.
#[derive(Debug)]
pub(super) struct Job {
    /// With the strategy of the plans.
    pub(super) options: SelectionOptions,
    /// The plan of the selection from all data.
    pub(super) plan: Plan,
    /// One a fold; `None` for a fold that has nothing to select from.
    pub(super) folds: Vec<Option<Plan>>,
    /// Bytes it takes while it is at work.
    memory: u64,
}

impl Job {
    /// The plan of the selection without `fold`, or from all data.
    fn plan(&self, fold: Option<usize>) -> Option<&Plan> {
        fold.map_or(Some(&self.plan), |fold| self.folds[fold].as_ref())
    }

    /// Steps of all selections, at most.
    fn steps(&self) -> usize {
        let folds = self.folds.iter().flatten();
        let folds = folds.map(|plan| plan.steps.min(self.plan.steps));
        self.plan.steps + folds.sum::<usize>()
    }
}

/// The memory of each path, and how many fit side by side.
impl Run<'_> {
    pub(super) fn candidates(&self) -> &ColumnClasses {
        self.parts[0].candidates
    }

    /// Whether the folds of a path take their steps together.
    pub(super) fn side_by_side(&self) -> bool {
        let rule = self.options.rule;
        !self.folds.is_empty() && rule.settling(self.options.measure).is_some()
    }

    /// The job of `options`, or the outcome of a path without the memory for it.
    fn job(&self, mut options: SelectionOptions) -> Result<Result<Job, Outcome>, TuneError> {
        if let Some(recorded) = self.earlier.path(&options) {
            options.strategy = Some(recorded.strategy);
        }
        let reason = match self.plan(&options) {
            Ok(job) if self.held.saturating_add(job.memory) <= self.limit => return Ok(Ok(job)),
            Ok(job) => self.refusal(&job),
            Err(error @ SelectError::Memory { .. }) => error.to_string(),
            Err(error) => return Err(error.into()),
        };
        options.strategy = None;
        let (unit, ending) = (self.candidates().unit(), Ending::Refused { reason });
        Ok(Err(Outcome::without_points(&options, unit, ending)))
    }

    fn plan(&self, options: &SelectionOptions) -> Result<Job, SelectError> {
        let plan = self.plan_among(&self.parts[0], options)?;
        let options = SelectionOptions {
            strategy: Some(plan.strategy),
            ..*options
        };
        let fold = |part: &Part<'_>| match self.plan_among(part, &options) {
            Ok(plan) => Ok(Some(plan)),
            Err(SelectError::NoCandidates { .. } | SelectError::Undefined { .. }) => Ok(None),
            Err(error) => Err(error),
        };
        let folds: Vec<Option<Plan>> =
            self.parts[1..].iter().map(fold).collect::<Result<_, _>>()?;
        let takes = folds.iter().flatten().map(|plan| plan.memory);
        let memory = if self.side_by_side() {
            takes.fold(plan.memory, u64::saturating_add)
        } else {
            takes.fold(plan.memory, u64::max)
        };
        Ok(Job {
            options,
            plan,
            folds,
            memory,
        })
    }

    fn plan_among(&self, part: &Part<'_>, options: &SelectionOptions) -> Result<Plan, SelectError> {
        let candidates = part.candidates;
        options.ranking(part.target.labels, candidates.queries())?;
        // Candidates are counted once more there.
        let others = self.held.saturating_sub(candidates.memory());
        let plan = plan(candidates, others, options)?;
        // Selections that may be at work at once share what is left.
        let selections = self.most_paths().max(1) * self.parts.len();
        Ok(Plan {
            room: plan.room / selections as u64,
            ..plan
        })
    }

    fn refusal(&self, job: &Job) -> String {
        let needed = self.held.saturating_add(job.memory);
        format!(
            "{} selections by {} side by side need {needed} bytes with the data, {} are allowed; \
             allow more memory, or take a rule for which folds come one after the other: best or one-se",
            self.parts.len(),
            job.plan.strategy,
            self.limit
        )
    }

    /// Paths that may be at work at once, as far as memory allows.
    fn most_paths(&self) -> usize {
        let asked = self.options.concurrent;
        asked.unwrap_or_else(rayon::current_num_threads)
    }

    /// How many of `jobs` may be at work at once, whichever they are; each fits alone.
    fn concurrent(&self, jobs: &[&Job]) -> usize {
        if self.candidates().peers().count() > 1 {
            // All ranks take the steps of a path together.
            return 1;
        }
        let mut sizes: Vec<u64> = jobs.iter().map(|job| job.memory).collect();
        sizes.sort_unstable_by(|a, b| b.cmp(a));
        let mut total = self.held;
        let fits = |size: &&u64| {
            total = total.saturating_add(**size);
            total <= self.limit
        };
        let fitting = sizes.iter().take_while(fits).count();
        fitting.min(self.most_paths()).max(1)
    }
}

/// The grid.
impl Run<'_> {
    /// Outcomes of the paths of each strategy, and whether they were ended before their time.
    fn strategies(
        &self,
        strategies: &[SelectionOptions],
    ) -> Result<(Vec<Outcome>, bool), TuneError> {
        let (mut all, mut interrupted) = (Vec::new(), false);
        for (place, selection) in strategies.iter().enumerate() {
            let later = strategies.len() - 1 - place;
            let Some(paths) = unless_ended(|| self.strategy(selection, later)) else {
                interrupted = true;
                break;
            };
            all.extend(paths?);
            let cut = |path: &Outcome| path.ending == Ending::Interrupted;
            let more = later > 0 || self.options.lambdas == Lambdas::Auto || all.iter().any(cut);
            if self.is_stopped() && more {
                interrupted = true;
                break;
            }
        }
        Ok((all, interrupted))
    }

    /// Outcomes of the grid by the strategy of `selection`, after which so many come `later`, and of
    /// the paths past its edge while the choice is there; by lambda.
    fn strategy(
        &self,
        selection: &SelectionOptions,
        later: usize,
    ) -> Result<Vec<Outcome>, TuneError> {
        let candidates = self.candidates();
        let grid = self.options.grid(candidates.unit());
        let steps = selection.k.min(candidates.summary().column_classes);
        let later = later * grid.len() * self.parts.len() * steps;
        let mut lessons = Lessons::new();
        let mut outcomes = self.grid(selection, &grid, later, &mut lessons)?;
        while self.options.lambdas == Lambdas::Auto && !self.is_stopped() {
            let tried: Vec<Lambda> = outcomes.iter().map(|path| path.options.lambda).collect();
            let choice = self.options.choose(&outcomes);
            let past = choice.and_then(|choice| beyond(&tried, grid.len(), tried[choice.position]));
            let Some(lambda) = past else {
                break;
            };
            outcomes.extend(self.grid(selection, &[lambda], later, &mut lessons)?);
            outcomes.sort_by(|a, b| a.options.lambda.total_cmp(b.options.lambda));
        }
        Ok(outcomes)
    }

    /// Outcomes of `selection` with each of `lambdas`, in their order. The first fills `lessons`.
    ///
    /// As many tasks as fit into memory take one job after the other; all of them, and the
    /// parallel parts of every step, share the threads of the pool. A thread that waits within a
    /// selection may begin another one only by beginning another task, so that no more are at work.
    fn grid(
        &self,
        selection: &SelectionOptions,
        lambdas: &[Lambda],
        later_steps: usize,
        lessons: &mut Lessons,
    ) -> Result<Vec<Outcome>, TuneError> {
        let with = |&lambda: &Lambda| {
            self.job(SelectionOptions {
                lambda,
                ..*selection
            })
        };
        let jobs: Vec<_> = lambdas.iter().map(with).collect::<Result<_, _>>()?;
        let ready: Vec<&Job> = jobs.iter().flatten().collect();
        if let Some(job) = ready.first()
            && lessons.is_empty()
        {
            *lessons = self.teach(job);
        }
        let concurrent = self.concurrent(&ready);
        for job in &ready {
            self.tell(Event::Planned(job.options.lambda, job.plan.strategy));
        }
        self.tell(Event::Started(&Grid {
            lambdas: ready.len(),
            steps: ready.iter().map(|job| job.steps()).sum(),
            later_steps,
            concurrent,
        }));
        let (lessons, next) = (&*lessons, AtomicUsize::new(0));
        let work = |_: usize| {
            let mut done = Vec::new();
            loop {
                let place = next.fetch_add(1, Ordering::Relaxed);
                done.push(match jobs.get(place) {
                    Some(Ok(job)) => (place, Path::new(self, job, lessons).outcome()),
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

    /// The lessons of the teachers that the plans of `job` have, which no lambda of a selection
    /// changes. Before paths are followed, as a thread that waited for a lesson could begin another path.
    fn teach(&self, job: &Job) -> Lessons {
        let fold = |part: usize| part.checked_sub(1);
        let lesson = |(number, part)| match job.plan(fold(number)) {
            Some(plan) => self.lesson(job, fold(number), part, plan),
            None => Ok(None),
        };
        self.parts.iter().enumerate().map(lesson).collect()
    }

    /// That of the selection without `fold`, or from all data: kept by an earlier run, or new.
    fn lesson(
        &self,
        job: &Job,
        fold: Option<usize>,
        part: &Part<'_>,
        plan: &Plan,
    ) -> Result<Option<Lesson>, SelectError> {
        let (strategy, target) = (plan.strategy, part.target);
        let kept = self.earlier.lesson(strategy, fold);
        if let Some(kept) = kept.filter(|kept| kept.fits(target.labels, plan)) {
            return Ok(Some(kept.clone()));
        }
        let begin = Instant::now();
        let lesson = Lesson::new(part.candidates, target, plan, &job.options)?;
        if let Some(lesson) = &lesson {
            let lesson = RecordedLesson {
                strategy,
                fold,
                lesson: lesson.clone(),
            };
            self.tell(Event::Taught(&lesson, begin.elapsed()));
        }
        Ok(lesson)
    }
}

/// The observer.
impl Run<'_> {
    /// Ends all paths after the steps that they are at.
    pub(super) fn stop(&self) {
        self.stopped.store(true, Ordering::Relaxed);
    }

    pub(super) fn is_stopped(&self) -> bool {
        self.stopped.load(Ordering::Relaxed)
    }

    /// Tells of a step, which may have been taken again.
    pub(super) fn stepped(&self, job: &Job, fold: Option<usize>, number: usize, advance: &Advance) {
        let step = GridStep {
            lambda: job.options.lambda,
            strategy: job.plan.strategy,
            fold,
            number,
            step: &advance.step,
            replayed: advance.replayed,
        };
        let stops = self.tell(Event::Stepped(&step));
        if self.candidates().peers().any(stops) {
            self.stop();
        }
    }

    /// Tells the observer, and says whether it wants to stop; one thread at a time. An observer that
    /// panicked is not called again; its panic is passed on by the thread it happened in.
    pub(super) fn tell(&self, event: Event<'_>) -> bool {
        let observer = self.observer.lock();
        observer.is_ok_and(|mut observer| observer.event(event).is_break())
    }
}
