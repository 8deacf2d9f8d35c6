//! Follows the paths of a grid: the memory of each, how many fit side by side, and the queue.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, OnceLock};
use std::time::Instant;

use rayon::prelude::*;

use super::path::{Fold, FoldPath, PathEnd, fold_queries, left_out, predicted};
use super::score::{Meter, Values, summarise};
use super::{
    Curve, Earlier, Ending, Evidence, Grid, GridStep, Observer, Outcome, Point, RecordedLesson,
    Score, TuneError, TuneOptions,
};
use crate::columns::ColumnClasses;
use crate::data::Dataset;
use crate::greedy::{
    Advance, Greedy, Lesson, Plan, SelectError, SelectionOptions, Step, Target, agreed, plan,
};
use crate::interrupt::unless_ended;
use crate::lambda::{MOST_BEYOND, beyond};
use crate::metrics::check_labels;
use crate::{Lambda, Lambdas};

/// What became of all paths.
pub(crate) struct Outcomes {
    pub(crate) paths: Vec<Outcome>,
    /// Whether they were ended before their time.
    pub(crate) interrupted: bool,
}

/// The outcome of every path of the grid, in its order, for one strategy after the other. `held`
/// bytes are in use besides the candidates; the steps of `earlier` are taken again without a search.
pub(crate) fn outcomes(
    candidates: &ColumnClasses,
    dataset: &Dataset<'_>,
    held: u64,
    options: &TuneOptions<'_>,
    earlier: Earlier<'_>,
    observer: &mut dyn Observer,
) -> Result<Outcomes, TuneError> {
    options.check()?;
    let strategies = options.by_strategy();
    let lacks = |options: &&TuneOptions<'_>| options.selection.lacks_filter(candidates);
    let lacking = strategies.iter().find(lacks);
    let peers = candidates.shared_peers();
    let filtered = lacking.map(|options| options.candidates(dataset).among(peers));
    let candidates = filtered.as_ref().unwrap_or(candidates);
    let shared = Shared {
        candidates,
        dataset,
        folds: &folds(dataset, candidates, lacking.unwrap_or(options))?,
        held,
        earlier,
    };
    let mut all = Outcomes {
        paths: Vec::new(),
        interrupted: false,
    };
    for (place, options) in strategies.iter().enumerate() {
        let later = strategies.len() - 1 - place;
        let Some(found) = unless_ended(|| shared.outcomes(options, later, observer)) else {
            all.interrupted = true;
            break;
        };
        let (paths, stopped) = found?;
        all.paths.extend(paths);
        let cut = |path: &Outcome| path.ending == Ending::Interrupted;
        let more = later > 0 || options.lambdas == Lambdas::Auto || all.paths.iter().any(cut);
        if stopped && more {
            all.interrupted = true;
            break;
        }
    }
    Ok(all)
}

/// What the paths of all strategies share.
struct Shared<'a> {
    candidates: &'a ColumnClasses,
    dataset: &'a Dataset<'a>,
    folds: &'a [Fold],
    held: u64,
    earlier: Earlier<'a>,
}

impl Shared<'_> {
    /// The outcomes for the strategy of `options`, after which so many more come `later`; and whether
    /// the observer, or a request, ended it.
    fn outcomes(
        &self,
        options: &TuneOptions<'_>,
        later: usize,
        observer: &mut dyn Observer,
    ) -> Result<(Vec<Outcome>, bool), TuneError> {
        let &Self {
            candidates,
            dataset,
            folds,
            held,
            earlier,
        } = self;
        let judged = match options.evidence {
            Evidence::Validation(validation) => validation,
            _ => dataset,
        };
        let (labels, queries) = (judged.labels(), judged.queries());
        check_labels(&options.measures(), labels, queries, &options.rules)
            .map_err(TuneError::Judge)?;
        let rule = (options.rules.convention, options.rules.context(labels));
        let strategy = options.selection.strategy;
        let scale = options.selection.target.label_scale(strategy);
        let meter = |data| Meter::new(data, scale, rule, options.measure, &options.metrics);
        let meters: Vec<Meter<'_>> = match folds {
            [] => vec![meter(judged)],
            folds => folds.iter().map(|fold| meter(&fold.test)).collect(),
        };
        let grid = options.grid(candidates.unit());
        // Where the grid goes on past its edge, for each lambda more.
        let most = grid.len()
            + if options.lambdas == Lambdas::Auto {
                MOST_BEYOND
            } else {
                0
            };
        let steps = options.selection.k.min(candidates.summary().column_classes);
        let queries = judged.queries().len();
        let results = results_memory(steps, queries, options).saturating_mul(most as u64);
        let held = folds
            .iter()
            .map(Fold::memory)
            .fold(held + candidates.memory(), u64::saturating_add)
            .saturating_add(results);
        let (held, max_memory) = agreed(candidates.peers(), held, options.selection.max_memory);
        let mut options = options.clone();
        options.selection.max_memory = max_memory;
        let options = &options;
        let mut run = Run {
            candidates,
            target: dataset.into(),
            options,
            folds,
            meters: &meters,
            earlier,
            side_by_side: options.rule.settling(options.measure).is_some(),
            queries,
            lessons: Vec::new(),
            later_steps: later * grid.len() * (1 + folds.len()) * steps,
            held,
            observer: Mutex::new(observer),
            stopped: AtomicBool::new(false),
            failure: OnceLock::new(),
        };
        let outcomes = run.grids(&grid)?;
        match run.failure.into_inner() {
            Some(error) => Err(error),
            None => Ok((outcomes, run.stopped.into_inner())),
        }
    }
}

fn folds(
    dataset: &Dataset<'_>,
    candidates: &ColumnClasses,
    options: &TuneOptions<'_>,
) -> Result<Vec<Fold>, TuneError> {
    let Evidence::Folds { count, seed } = options.evidence else {
        return Ok(Vec::new());
    };
    let queries = dataset.queries().len();
    if queries == 1 {
        return Err(SelectError::OneQuery.into());
    }
    let parts = fold_queries(queries, count, seed)?;
    if parts.iter().any(|part| queries - part.len() == 1) {
        return Err(TuneError::OneQueryLeft { count, queries });
    }
    let fold = |queries| Fold::new(dataset, queries, options, candidates);
    parts.into_iter().map(fold).collect()
}

/// Bytes that the results of one path take.
fn results_memory(steps: usize, queries: usize, options: &TuneOptions<'_>) -> u64 {
    let steps = steps as u64;
    let weights = steps.saturating_mul(steps + 1) / 2 * size_of::<f64>() as u64;
    let columns = 1 + options.metrics.len();
    let values = match options.evidence {
        Evidence::Folds { .. } => columns * queries * size_of::<Option<f64>>(),
        _ => 0,
    };
    let point = size_of::<Step>() + columns * size_of::<Score>() + values;
    weights.saturating_add(steps.saturating_mul(point as u64))
}

/// All that the paths share.
struct Run<'a> {
    candidates: &'a ColumnClasses,
    target: Target<'a>,
    options: &'a TuneOptions<'a>,
    folds: &'a [Fold],
    /// One a fold, or the only one.
    meters: &'a [Meter<'a>],
    earlier: Earlier<'a>,
    /// Whether the folds of a path take their steps together.
    side_by_side: bool,
    /// Queries that values are of.
    queries: usize,
    /// Lessons of teachers for the selection from all data, then for each without a fold: the same
    /// for every path.
    lessons: Vec<Result<Option<Lesson>, SelectError>>,
    /// Steps of the strategies to come, at most.
    later_steps: usize,
    /// Bytes held all the time, candidates and results included.
    held: u64,
    observer: Mutex<&'a mut dyn Observer>,
    stopped: AtomicBool,
    /// Why there is no outcome at all.
    failure: OnceLock<TuneError>,
}

/// A path that can be followed.
#[derive(Debug)]
struct Job {
    /// Its place in the grid.
    place: usize,
    options: SelectionOptions,
    plan: Plan,
    /// One a fold; `None` for a fold that has nothing to select from.
    folds: Vec<Option<Plan>>,
    /// Bytes it takes while it is at work.
    memory: u64,
}

/// The values that a model is judged by, and the folds that had no step for it.
#[derive(Default)]
struct Judgement {
    values: Values,
    short_folds: usize,
}

/// The memory of each path, and how many fit side by side.
impl Run<'_> {
    /// The job of `options`, or the outcome of a path without the memory for it.
    fn job(
        &self,
        place: usize,
        mut options: SelectionOptions,
    ) -> Result<Result<Job, Outcome>, TuneError> {
        if let Some(recorded) = self.earlier.path(&options) {
            options.strategy = Some(recorded.strategy);
        }
        let refused = |reason| {
            let unit = self.candidates.unit();
            let ending = Ending::Refused { reason };
            Ok(Err(Outcome::without_points(&options, unit, ending)))
        };
        match self.plan(place, &options) {
            Ok(job) if self.held.saturating_add(job.memory) > self.limit() => {
                refused(self.refusal(&job))
            }
            Ok(job) => Ok(Ok(job)),
            Err(error @ SelectError::Memory { .. }) => refused(error.to_string()),
            Err(error) => Err(error.into()),
        }
    }

    fn plan(&self, place: usize, options: &SelectionOptions) -> Result<Job, SelectError> {
        let whole = self.plan_among(self.candidates, self.target.labels, options)?;
        let options = SelectionOptions {
            strategy: Some(whole.strategy),
            ..*options
        };
        let fold = |fold: &Fold| match self.plan_among(&fold.candidates, &fold.labels, &options) {
            Ok(plan) => Ok(Some(plan)),
            Err(SelectError::NoCandidates { .. } | SelectError::Undefined { .. }) => Ok(None),
            Err(error) => Err(error),
        };
        let folds: Vec<Option<Plan>> = self.folds.iter().map(fold).collect::<Result<_, _>>()?;
        let takes = folds.iter().flatten().map(|plan| plan.memory);
        let memory = if self.side_by_side {
            takes.fold(whole.memory, u64::saturating_add)
        } else {
            takes.fold(whole.memory, u64::max)
        };
        Ok(Job {
            place,
            options,
            plan: whole,
            folds,
            memory,
        })
    }

    fn plan_among(
        &self,
        candidates: &ColumnClasses,
        labels: &[f64],
        options: &SelectionOptions,
    ) -> Result<Plan, SelectError> {
        options.ranking(labels, candidates.queries())?;
        // Candidates are counted once more there.
        let others = self.held.saturating_sub(candidates.memory());
        let plan = plan(candidates, others, options)?;
        // Selections that may be at work at once share what is left.
        let concurrent = self.options.concurrent;
        let paths = concurrent.unwrap_or_else(rayon::current_num_threads);
        let selections = paths.max(1) * (1 + self.folds.len());
        Ok(Plan {
            room: plan.room / selections as u64,
            ..plan
        })
    }

    fn limit(&self) -> u64 {
        self.options.selection.max_memory.unwrap_or(u64::MAX)
    }

    fn refusal(&self, job: &Job) -> String {
        let needed = self.held.saturating_add(job.memory);
        format!(
            "{} selections by {} side by side need {needed} bytes with the data, {} are allowed; \
             allow more memory, or take a rule for which folds come one after the other: best or one-se",
            1 + job.folds.len(),
            job.plan.strategy,
            self.limit()
        )
    }

    /// How many of `jobs` may be at work at once, whichever they are; each fits alone.
    fn concurrent(&self, jobs: &[Job]) -> usize {
        let mut sizes: Vec<u64> = jobs.iter().map(|job| job.memory).collect();
        sizes.sort_unstable_by(|a, b| b.cmp(a));
        if self.candidates.peers().count() > 1 {
            // All ranks take the steps of a path together.
            return 1;
        }
        let mut total = self.held;
        let fits = |size: &&u64| {
            total = total.saturating_add(**size);
            total <= self.limit()
        };
        let fitting = sizes.iter().take_while(fits).count();
        let most = self.options.concurrent;
        fitting
            .min(most.unwrap_or_else(rayon::current_num_threads))
            .max(1)
    }

    /// Steps of all selections of `job`, at most.
    fn steps(job: &Job) -> usize {
        let folds = job.folds.iter().flatten();
        let folds = folds.map(|plan| plan.steps.min(job.plan.steps));
        job.plan.steps + folds.sum::<usize>()
    }
}

/// The work.
impl Run<'_> {
    /// Outcomes of the selections of `grid`, and of those past its edge while the choice is there,
    /// by lambda.
    fn grids(&mut self, grid: &[SelectionOptions]) -> Result<Vec<Outcome>, TuneError> {
        let mut outcomes = self.grid(grid)?;
        while self.options.lambdas == Lambdas::Auto && !self.stopped.load(Ordering::Relaxed) {
            let curves: Vec<Curve> = outcomes.iter().map(Outcome::curve).collect();
            let choice = self.options.rule.choose(self.options.measure, &curves);
            let tried: Vec<Lambda> = outcomes.iter().map(|outcome| outcome.lambda).collect();
            let past = choice.and_then(|choice| beyond(&tried, grid.len(), tried[choice.position]));
            let Some(lambda) = past else {
                break;
            };
            outcomes.extend(self.grid(&[self.options.with(lambda)])?);
            outcomes.sort_by(|a, b| a.lambda.total_cmp(b.lambda));
        }
        Ok(outcomes)
    }

    /// Outcomes of the selections of `grid`, in their order.
    ///
    /// As many tasks as fit into memory take one job after the other; all of them, and the
    /// parallel parts of every step, share the threads of the pool. A thread that waits within a
    /// selection may begin another one only by beginning another task, so that no more are at work.
    fn grid(&mut self, grid: &[SelectionOptions]) -> Result<Vec<Outcome>, TuneError> {
        let (mut jobs, mut outcomes) = (Vec::new(), Vec::new());
        for (place, options) in grid.iter().enumerate() {
            match self.job(place, *options)? {
                Ok(job) => jobs.push(job),
                Err(refused) => outcomes.push((place, refused)),
            }
        }
        if let Some(job) = jobs.first()
            && self.lessons.is_empty()
        {
            self.lessons = self.teach(job);
        }
        let concurrent = self.concurrent(&jobs);
        self.tell(|observer| {
            for job in &jobs {
                observer.planned(job.options.lambda, job.plan.strategy);
            }
            observer.started(&Grid {
                lambdas: jobs.len(),
                steps: jobs.iter().map(Self::steps).sum(),
                later_steps: self.later_steps,
                concurrent,
            });
        });
        let (run, next) = (&*self, AtomicUsize::new(0));
        let work = |_: usize| {
            let mut done = Vec::new();
            while let Some(job) = jobs.get(next.fetch_add(1, Ordering::Relaxed)) {
                done.push((job.place, run.outcome(job)));
            }
            done
        };
        let workers = (0..concurrent).into_par_iter().with_max_len(1);
        outcomes.par_extend(workers.flat_map_iter(work));
        outcomes.sort_by_key(|(place, _)| *place);
        Ok(outcomes.into_iter().map(|(_, outcome)| outcome).collect())
    }

    fn outcome(&self, job: &Job) -> Outcome {
        let mut outcome = Outcome {
            strategy: Some(job.plan.strategy),
            sampler: job.options.sampler(job.plan.strategy),
            target: job.plan.target,
            ..Outcome::without_points(&job.options, self.candidates.unit(), Ending::Complete)
        };
        let ended = unless_ended(|| match (self.folds, self.side_by_side) {
            _ if self.stopped.load(Ordering::Relaxed) => Err(PathEnd::Stopped),
            ([], _) => self.alone(job, &mut outcome),
            (_, true) => self.side_by_side(job, &mut outcome),
            (_, false) => self.one_by_one(job, &mut outcome),
        });
        let ended = ended.unwrap_or_else(|| {
            self.stopped.store(true, Ordering::Relaxed);
            Err(PathEnd::Stopped)
        });
        let judged = self.folds.is_empty() || self.side_by_side;
        if matches!(ended, Err(PathEnd::Stopped)) && !judged {
            // Not by all folds.
            outcome.points.clear();
        }
        outcome.ending = match ended {
            Err(PathEnd::Stopped) => Ending::Interrupted,
            Err(PathEnd::Overflow) => Ending::Overflow,
            Err(PathEnd::Select(error @ SelectError::Replay { .. })) => {
                self.fail(job, error);
                Ending::Interrupted
            }
            Err(PathEnd::Select(error)) => Ending::Refused {
                reason: error.to_string(),
            },
            Ok(()) if outcome.points.len() < job.plan.steps => Ending::Settled,
            Ok(()) if job.plan.steps < self.options.selection.k => Ending::Exhausted,
            Ok(()) => Ending::Complete,
        };
        self.tell(|observer| observer.finished(&outcome));
        outcome
    }

    /// Ends all selections without an outcome.
    fn fail(&self, job: &Job, source: SelectError) {
        let lambda = job.options.lambda;
        // One of several is enough.
        let _ = self.failure.set(TuneError::Replay { lambda, source });
        self.stopped.store(true, Ordering::Relaxed);
    }

    fn alone(&self, job: &Job, outcome: &mut Outcome) -> Result<(), PathEnd> {
        self.follow(job, outcome, |greedy| {
            let values = match self.options.evidence {
                Evidence::Validation(_) => predicted(greedy, &self.meters[0])?,
                _ => left_out(greedy, &self.meters[0])?,
            };
            Ok(Judgement {
                values,
                short_folds: 0,
            })
        })
    }

    /// The selection and those without a fold, step by step together.
    fn side_by_side(&self, job: &Job, outcome: &mut Outcome) -> Result<(), PathEnd> {
        let folds = (0..self.folds.len()).map(|fold| self.fold_path(job, fold));
        let mut folds: Vec<FoldPath<'_>> = folds.collect::<Result<_, _>>()?;
        let mut values = self.no_values();
        let ended = self.follow(job, outcome, |greedy| {
            let mut short_folds = 0;
            for (number, fold) in folds.iter_mut().enumerate() {
                match fold.advance()? {
                    Some(step) => {
                        self.stepped(job, Some(number), greedy.features().len(), &step);
                    }
                    None => short_folds += 1,
                }
                fold.spread(&mut values);
            }
            Ok(Judgement {
                values: values.clone(),
                short_folds,
            })
        });
        outcome.folds = folds.iter().map(FoldPath::features).collect();
        ended
    }

    /// The selection, then those without a fold one after the other.
    fn one_by_one(&self, job: &Job, outcome: &mut Outcome) -> Result<(), PathEnd> {
        let mut ended = self.follow(job, outcome, |_| Ok(Judgement::default()));
        let points = &mut outcome.points;
        let judgement = || Judgement {
            values: self.no_values(),
            short_folds: 0,
        };
        let mut judgements: Vec<Judgement> = points.iter().map(|_| judgement()).collect();
        // The models before an overflow can be judged, but not those before an interruption.
        for fold in 0..self.folds.len() {
            if matches!(ended, Err(PathEnd::Stopped)) {
                return ended;
            }
            match self.judge_fold(job, fold, &mut judgements) {
                Ok(features) => outcome.folds.push(features),
                Err(end) => ended = Err(end),
            }
        }
        points.truncate(judgements.len());
        for (point, judgement) in points.iter_mut().zip(judgements) {
            (point.score, point.metrics) = summarise(&judgement.values);
            point.short_folds = judgement.short_folds;
        }
        ended
    }

    /// Adds the judgement of a fold to each model, and returns its features; cuts off the models
    /// that it cannot judge.
    fn judge_fold(
        &self,
        job: &Job,
        fold: usize,
        judgements: &mut Vec<Judgement>,
    ) -> Result<Vec<u32>, PathEnd> {
        let path = self.fold_path(job, fold);
        let mut path = path.inspect_err(|_| judgements.clear())?;
        for number in 0..judgements.len() {
            if self.stopped.load(Ordering::Relaxed) {
                return Err(PathEnd::Stopped);
            }
            match path.advance() {
                Ok(Some(step)) => self.stepped(job, Some(fold), number + 1, &step),
                Ok(None) => judgements[number].short_folds += 1,
                Err(end) => {
                    judgements.truncate(number);
                    return Err(end);
                }
            }
            path.spread(&mut judgements[number].values);
        }
        Ok(path.features())
    }

    /// The steps that an earlier run has taken.
    fn recorded(&self, job: &Job, fold: Option<usize>) -> &[Step] {
        let recorded = self.earlier.path(&job.options);
        recorded.map_or(&[], |recorded| recorded.of(fold))
    }

    fn fold_path<'b>(&'b self, job: &'b Job, fold: usize) -> Result<FoldPath<'b>, PathEnd> {
        let (parts, meter) = (&self.folds[fold], &self.meters[fold]);
        let (plan, recorded) = (job.folds[fold].as_ref(), self.recorded(job, Some(fold)));
        let lesson = self.lessons[1 + fold].clone()?;
        FoldPath::new(parts, meter, plan, lesson, &job.options, recorded)
    }

    /// The lessons of the teachers that the plans of `job` have, which no lambda of a selection
    /// changes. Before paths are followed, as a thread that waited for a lesson could begin another path.
    fn teach(&self, job: &Job) -> Vec<Result<Option<Lesson>, SelectError>> {
        let whole = self.lesson(job, None, self.candidates, self.target, &job.plan);
        let without = |(number, (fold, plan)): (usize, (&Fold, &Option<Plan>))| match plan {
            Some(plan) => self.lesson(job, Some(number), &fold.candidates, fold.target(), plan),
            None => Ok(None),
        };
        let folds = self.folds.iter().zip(&job.folds).enumerate().map(without);
        std::iter::once(whole).chain(folds).collect()
    }

    /// That of the selection without `fold`, or from all data: kept by an earlier run, or new.
    fn lesson(
        &self,
        job: &Job,
        fold: Option<usize>,
        candidates: &ColumnClasses,
        target: Target<'_>,
        plan: &Plan,
    ) -> Result<Option<Lesson>, SelectError> {
        let strategy = plan.strategy;
        let kept = self.earlier.lesson(strategy, fold);
        if let Some(kept) = kept.filter(|kept| kept.fits(target.labels, plan)) {
            return Ok(Some(kept.clone()));
        }
        let begin = Instant::now();
        let lesson = Lesson::new(candidates, target, plan, &job.options)?;
        if let Some(lesson) = &lesson {
            let lesson = RecordedLesson {
                strategy,
                fold,
                lesson: lesson.clone(),
            };
            self.tell(|observer| observer.taught(&lesson, begin.elapsed()));
        }
        Ok(lesson)
    }

    /// Takes the steps of the selection from all data, each judged by `judge`, until the rule
    /// has seen enough.
    fn follow<'b>(
        &'b self,
        job: &'b Job,
        outcome: &mut Outcome,
        mut judge: impl FnMut(&Greedy<'b>) -> Result<Judgement, PathEnd>,
    ) -> Result<(), PathEnd> {
        let (candidates, recorded) = (self.candidates, self.recorded(job, None));
        let lesson = self.lessons[0].clone()?;
        let (labels, plan, options) = (self.target.labels, &job.plan, &job.options);
        let mut greedy = Greedy::taught(candidates, labels, lesson, plan, options, recorded)?;
        (outcome.teacher, outcome.target) = (greedy.teacher(), greedy.target());
        let points = &mut outcome.points;
        let mut settling = self.options.rule.settling(self.options.measure);
        loop {
            if self.stopped.load(Ordering::Relaxed) && points.len() < job.plan.steps {
                return Err(PathEnd::Stopped);
            }
            let Some(advance) = greedy.advance()? else {
                return Ok(());
            };
            let point = Self::point(&greedy, &advance.step, &judge(&greedy)?);
            log(
                job,
                points.len() + 1,
                self.candidates.written(point.step.feature),
                &point,
            );
            let settled = settling
                .as_mut()
                .is_some_and(|path| path.push(&point.score));
            points.push(point);
            self.stepped(job, None, points.len(), &advance);
            if settled {
                return Ok(());
            }
        }
    }

    fn point(greedy: &Greedy<'_>, step: &Step, judgement: &Judgement) -> Point {
        let (score, metrics) = summarise(&judgement.values);
        let class = greedy.classes().last();
        Point {
            step: step.clone(),
            weights: greedy.state().weights(),
            condition: greedy.state().condition(),
            class: class.cloned().unwrap_or_default(),
            score,
            metrics,
            short_folds: judgement.short_folds,
        }
    }

    fn no_values(&self) -> Values {
        vec![vec![None; self.queries]; 1 + self.options.metrics.len()]
    }

    /// Tells of a step, which may have been taken again.
    fn stepped(&self, job: &Job, fold: Option<usize>, number: usize, advance: &Advance) {
        let step = GridStep {
            lambda: job.options.lambda,
            strategy: job.plan.strategy,
            fold,
            number,
            step: &advance.step,
            replayed: advance.replayed,
        };
        let mut stops = false;
        self.tell(|observer| stops = observer.stepped(&step).is_break());
        if self.candidates.peers().any(stops) {
            self.stopped.store(true, Ordering::Relaxed);
        }
    }

    /// One thread at a time. An observer that panicked is not called again; its panic is passed
    /// on by the thread it happened in.
    fn tell(&self, what: impl FnOnce(&mut dyn Observer)) {
        if let Ok(mut observer) = self.observer.lock() {
            what(&mut **observer);
        }
    }
}

fn log(job: &Job, number: usize, feature: u64, point: &Point) {
    let lambda = job.options.lambda.value();
    let (lqo_error, value) = (point.step.lqo_error, point.score.mean);
    tracing::info!(lambda, step = number, feature, lqo_error, value, "selected");
}
