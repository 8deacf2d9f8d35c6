//! Follows the paths of a grid: the memory of each, how many fit side by side, and the queue.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, OnceLock};

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::path::{Fold, FoldPath, PathEnd, fold_queries, left_out, predicted, spread};
use super::score::{Meter, Values, summarise};
use super::{
    Ending, Evidence, Grid, GridStep, Observer, Outcome, Point, RecordedPath, Score, TuneError,
    TuneOptions,
};
use crate::columns::ColumnClasses;
use crate::data::Dataset;
use crate::greedy::{
    Advance, Greedy, Lesson, Plan, SelectError, SelectionOptions, Step, Target, agreed, plan,
};
use crate::metrics::check_labels;

/// The outcome of every path of the grid, in its order. `held` bytes are in use besides the
/// candidates; the steps in `recorded` are taken again without a search.
pub(crate) fn outcomes(
    candidates: &ColumnClasses,
    dataset: &Dataset<'_>,
    held: u64,
    options: &TuneOptions<'_>,
    recorded: &[RecordedPath],
    observer: &mut dyn Observer,
) -> Result<Vec<Outcome>, TuneError> {
    options.check()?;
    let lacking = options.selection.lacks_filter(candidates);
    let peers = candidates.shared_peers();
    let filtered = lacking.then(|| options.candidates(dataset).among(peers));
    let candidates = filtered.as_ref().unwrap_or(candidates);
    let fold_queries = queries_of_folds(dataset, options)?;
    let side_by_side = options.rule.settling(options.measure).is_some();
    let groups = candidates.peers().groups();
    let share = Share {
        group: groups.rank(),
        groups: groups.count(),
        lambdas: options.grid().len(),
        selections: if side_by_side {
            1
        } else {
            1 + fold_queries.len()
        },
    };
    let own = |fold: &usize| side_by_side || share.has_any(1 + fold);
    let own = (0..fold_queries.len()).filter(own);
    let fold = |fold| Fold::new(dataset, fold, &fold_queries[fold], options, candidates);
    let folds: Vec<Fold> = own.map(fold).collect::<Result<_, _>>()?;
    let judged = match options.evidence {
        Evidence::Validation(validation) => validation,
        _ => dataset,
    };
    let (labels, queries) = (judged.labels(), judged.queries());
    check_labels(&options.measures(), labels, queries, &options.rules).map_err(TuneError::Judge)?;
    let rule = (options.rules.convention, options.rules.context(labels));
    let meter = |data| Meter::new(data, rule, options.measure, &options.metrics);
    let meters: Vec<Meter<'_>> = match &folds[..] {
        [] => vec![meter(judged)],
        folds => folds.iter().map(|fold| meter(&fold.test)).collect(),
    };
    let grid = options.grid();
    let steps = options.selection.k.min(candidates.summary().column_classes);
    let queries = judged.queries().len();
    let results = results_memory(steps, queries, options).saturating_mul(grid.len() as u64);
    let of_folds = folds.iter().map(Fold::memory);
    let held = of_folds
        .clone()
        .fold(held + candidates.memory(), u64::saturating_add)
        // Groups exchange results as text.
        .saturating_add(results.saturating_mul(if share.groups > 1 { 4 } else { 1 }));
    let empty = dataset.features_subset(&[])?;
    let columns = [
        dataset.memory() + candidates.memory(),
        of_folds.max().unwrap_or(0),
        empty.memory() + ColumnClasses::new(&empty).memory(),
    ];
    let columns = columns.map(|bytes| usize::try_from(bytes).unwrap_or(usize::MAX));
    let columns = groups.most(candidates.peers().most(columns));
    let (held, max_memory) = agreed(candidates.peers(), held, options.selection.max_memory);
    let (held, max_memory) = agreed(groups, held, max_memory);
    let mut options = options.clone();
    options.selection.max_memory = max_memory;
    let options = &options;
    let mut run = Run {
        candidates,
        target: dataset.into(),
        options,
        fold_queries: &fold_queries,
        folds: &folds,
        meters: &meters,
        recorded,
        share,
        columns,
        side_by_side,
        queries,
        lessons: Vec::new(),
        held,
        observer: Mutex::new(observer),
        stopped: AtomicBool::new(false),
        failure: OnceLock::new(),
    };
    run.grid(&grid)
}

fn queries_of_folds(
    dataset: &Dataset<'_>,
    options: &TuneOptions<'_>,
) -> Result<Vec<Vec<usize>>, TuneError> {
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
    Ok(parts)
}

/// The selections of a grid that the group of this rank makes. A path is a selection from all data
/// and, unless these take their steps together, one without each fold. A group has few folds, as
/// each takes memory.
#[derive(Debug, Clone, Copy)]
struct Share {
    group: usize,
    groups: usize,
    lambdas: usize,
    /// Of a path.
    selections: usize,
}

impl Share {
    /// Whether it makes a selection of the path at this `place` in the grid: from all data (0), or
    /// without a fold (from 1).
    fn has(&self, selection: usize, place: usize) -> bool {
        if self.selections == 1 {
            return place % self.groups == self.group;
        }
        let all = self.selections * self.lambdas;
        (selection * self.lambdas + place) * self.groups / all == self.group
    }

    /// The same for any path.
    fn has_any(&self, selection: usize) -> bool {
        (0..self.lambdas).any(|place| self.has(selection, place))
    }

    /// The most folds that a group of so many `groups` would have.
    fn most_folds(self, groups: usize) -> usize {
        let of_group = |group| {
            let share = Self {
                group,
                groups,
                ..self
            };
            let folds = 1..self.selections;
            folds.filter(|&selection| share.has_any(selection)).count()
        };
        (0..groups).map(of_group).max().unwrap_or(0)
    }
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
    /// Positions of the queries of each fold.
    fold_queries: &'a [Vec<usize>],
    /// Those that this group selects without.
    folds: &'a [Fold],
    /// One for each of these, or the only one.
    meters: &'a [Meter<'a>],
    /// The steps of an earlier run.
    recorded: &'a [RecordedPath],
    share: Share,
    /// Bytes on the rank that has most: of the data with the candidates, of a fold, and of either
    /// without columns.
    columns: [usize; 3],
    /// Whether the folds of a path take their steps together.
    side_by_side: bool,
    /// Queries that values are of.
    queries: usize,
    /// Lessons of teachers for the selection from all data, then for each without one of the `folds`:
    /// the same for every path.
    lessons: Vec<Result<Option<Lesson>, SelectError>>,
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

/// What a group has of a path.
#[derive(Clone, Serialize, Deserialize)]
struct Parts {
    place: usize,
    whole: Option<Outcome>,
    folds: Vec<FoldPart>,
}

/// A selection without a fold.
#[derive(Clone, Default, Serialize, Deserialize)]
struct FoldPart {
    fold: usize,
    features: Vec<u32>,
    /// Values of the queries of the fold for each model.
    values: Vec<Values>,
    /// Why there are no more.
    end: Option<Ending>,
}

/// The memory of each path, and how many fit side by side.
impl Run<'_> {
    /// The job of `options`, or the outcome of a path without the memory for it.
    fn job(
        &self,
        place: usize,
        mut options: SelectionOptions,
    ) -> Result<Result<Job, Outcome>, TuneError> {
        if let Some(recorded) = RecordedPath::find(self.recorded, &options) {
            options.strategy = Some(recorded.strategy);
        }
        let refused = |reason| {
            Ok(Err(Outcome::without_points(
                &options,
                Ending::Refused { reason },
            )))
        };
        match self.plan(place, options) {
            Ok(job) if self.held.saturating_add(job.memory) > self.limit() => {
                refused(self.refusal(&job))
            }
            Ok(job) => Ok(Ok(job)),
            Err(error @ SelectError::Memory { needed, .. }) => {
                refused(format!("{error}{}", self.fewer_groups(needed)))
            }
            Err(error) => Err(error.into()),
        }
    }

    fn plan(&self, place: usize, options: SelectionOptions) -> Result<Job, SelectError> {
        let whole = self.plan_among(self.candidates, self.target.labels, &options)?;
        let options = SelectionOptions {
            strategy: Some(whole.strategy),
            ..options
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
        plan(candidates, others, options)
    }

    fn limit(&self) -> u64 {
        self.options.selection.max_memory.unwrap_or(u64::MAX)
    }

    fn refusal(&self, job: &Job) -> String {
        let needed = self.held.saturating_add(job.memory);
        format!(
            "{} selections by {} side by side need {needed} bytes with the data, {} are allowed; \
             allow more memory, or take a rule for which folds come one after the other: best or one-se{}",
            1 + job.folds.len(),
            job.plan.strategy,
            self.limit(),
            self.fewer_groups(needed)
        )
    }

    /// Says how many groups of ranks would do where these need so many bytes a rank.
    fn fewer_groups(&self, needed: u64) -> String {
        let now = self.share.groups;
        if now == 1 {
            return String::new();
        }
        let ranks = now * self.candidates.peers().count();
        let [whole, fold, rows] = self.columns.map(|bytes| bytes as u64);
        let columns = |groups: usize| {
            let folds = match self.share.selections {
                1 => self.folds.len(),
                _ => self.share.most_folds(groups),
            };
            let of = |bytes: u64| rows + bytes.saturating_sub(rows) / now as u64 * groups as u64;
            of(whole).saturating_add(of(fold).saturating_mul(folds as u64))
        };
        let fits = |&groups: &usize| {
            let others = needed.saturating_sub(columns(now));
            let estimate = others + columns(groups);
            // Parts are about equal.
            ranks.is_multiple_of(groups) && estimate + estimate / 16 <= self.limit()
        };
        let fitting = (1..now).rev().find(fits);
        let remedy = fitting.map_or_else(
            || "no number of groups fits".to_owned(),
            |groups| format!("at most {groups} will fit"),
        );
        format!("; a rank in one of {now} groups has {now} times the columns: {remedy}")
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

    /// Steps of the selections for `job` of this group, at most.
    fn steps(&self, job: &Job) -> usize {
        let whole = if self.share.has(0, job.place) {
            job.plan.steps
        } else {
            0
        };
        let own = self.own_folds(job).filter_map(|fold| job.folds[fold]);
        let folds = own.map(|plan| plan.steps.min(job.plan.steps));
        whole + folds.sum::<usize>()
    }

    /// The folds without which this group selects for `job`, as they are in `folds`.
    fn own_folds(&self, job: &Job) -> impl Iterator<Item = usize> {
        let selection = |fold: &usize| {
            if self.side_by_side {
                0
            } else {
                1 + self.folds[*fold].number
            }
        };
        (0..self.folds.len()).filter(move |fold| self.share.has(selection(fold), job.place))
    }
}

/// The work.
impl Run<'_> {
    /// Outcomes of the selections of `grid`, in their order.
    ///
    /// As many tasks as fit into memory take one job after the other; all of them, and the
    /// parallel parts of every step, share the threads of the pool. A thread that waits within a
    /// selection may begin another one only by beginning another task, so that no more are at work.
    fn grid(&mut self, grid: &[SelectionOptions]) -> Result<Vec<Outcome>, TuneError> {
        let groups = self.candidates.peers().groups();
        let (mut jobs, mut refused) = (Vec::new(), Vec::new());
        for (place, options) in grid.iter().enumerate() {
            match self.job(place, *options)? {
                Ok(job) => jobs.push(job),
                Err(outcome) => refused.push((place, outcome)),
            }
        }
        if groups.count() > 1 {
            refused = groups.values(&refused).concat();
            refused.sort_by_key(|(place, _)| *place);
            refused.dedup_by_key(|(place, _)| *place);
            jobs.retain(|job| refused.iter().all(|(place, _)| *place != job.place));
        }
        if let Some(job) = jobs.first() {
            self.lessons = self.teach(job);
        }
        let concurrent = self.concurrent(&jobs);
        self.tell(|observer| {
            for job in &jobs {
                observer.planned(job.options.lambda, job.plan.strategy);
            }
            observer.started(&Grid {
                lambdas: jobs.len(),
                steps: jobs.iter().map(|job| self.steps(job)).sum(),
                concurrent,
            });
        });
        let (run, next) = (&*self, AtomicUsize::new(0));
        let work = |_: usize| {
            let mut done = Vec::new();
            while let Some(job) = jobs.get(next.fetch_add(1, Ordering::Relaxed)) {
                let mut parts = vec![run.parts(job)];
                if groups.count() == 1 {
                    parts = vec![run.joined(parts)];
                }
                done.append(&mut parts);
            }
            done
        };
        let workers = (0..concurrent).into_par_iter().with_max_len(1);
        let mut all: Vec<Parts> = workers.flat_map_iter(work).collect();
        if let Some(error) = self.failure.take() {
            return Err(error);
        }
        if groups.count() > 1 {
            all = groups.values(&all).concat();
            all.sort_by_key(|parts| parts.place);
            let of_path = all.chunk_by(|a, b| a.place == b.place);
            all = of_path.map(|parts| self.joined(parts.to_vec())).collect();
        }
        let mut outcomes = refused;
        let found = all.into_iter();
        outcomes.extend(found.filter_map(|parts| Some((parts.place, parts.whole?))));
        outcomes.sort_by_key(|(place, _)| *place);
        Ok(outcomes.into_iter().map(|(_, outcome)| outcome).collect())
    }

    /// What this group finds of a path.
    fn parts(&self, job: &Job) -> Parts {
        let whole = self.share.has(0, job.place);
        let whole = whole.then(|| self.whole(job));
        let models = whole
            .as_ref()
            .map_or(job.plan.steps, |outcome| outcome.points.len());
        let stopped = |outcome: &Outcome| outcome.ending == Ending::Interrupted;
        let mut parts = Parts {
            place: job.place,
            folds: Vec::new(),
            whole,
        };
        // The models before an overflow can be judged, but not those before an interruption.
        if !self.side_by_side && !parts.whole.as_ref().is_some_and(stopped) {
            let folds = self.own_folds(job);
            parts.folds = folds
                .map(|fold| self.without_fold(job, fold, models))
                .collect();
        }
        parts
    }
    /// The selection from all data, judged if no other group has a part in that.
    fn whole(&self, job: &Job) -> Outcome {
        let mut outcome = Outcome {
            strategy: Some(job.plan.strategy),
            sampler: job.options.sampler(job.plan.strategy),
            target: job.plan.target,
            ..Outcome::without_points(&job.options, Ending::Complete)
        };
        let ended = match (self.fold_queries, self.side_by_side) {
            _ if self.stopped.load(Ordering::Relaxed) => Err(PathEnd::Stopped),
            ([], _) => self.alone(job, &mut outcome),
            (_, true) => self.side_by_side(job, &mut outcome),
            (_, false) => self.follow(job, &mut outcome, |_| Ok(Judgement::default())),
        };
        outcome.ending = match ended {
            Err(end) => self.ending(job, end),
            Ok(()) if outcome.points.len() < job.plan.steps => Ending::Settled,
            Ok(()) if job.plan.steps < self.options.selection.k => Ending::Exhausted,
            Ok(()) => Ending::Complete,
        };
        outcome
    }

    fn ending(&self, job: &Job, end: PathEnd) -> Ending {
        match end {
            PathEnd::Stopped => Ending::Interrupted,
            PathEnd::Overflow => Ending::Overflow,
            PathEnd::Select(error @ SelectError::Replay { .. }) => {
                self.fail(job, error);
                Ending::Interrupted
            }
            PathEnd::Select(error) => Ending::Refused {
                reason: error.to_string(),
            },
        }
    }

    /// Ends all selections without an outcome.
    fn fail(&self, job: &Job, source: SelectError) {
        let lambda = job.options.lambda;
        // One of several is enough.
        let _ = self.failure.set(TuneError::Replay { lambda, source });
        self.stopped.store(true, Ordering::Relaxed);
    }

    /// The selection without a fold, as many models as are to be judged at most.
    fn without_fold(&self, job: &Job, fold: usize, models: usize) -> FoldPart {
        let mut part = FoldPart {
            fold: self.folds[fold].number,
            ..FoldPart::default()
        };
        let ended = self.follow_fold(job, fold, models, &mut part);
        part.end = ended.err().map(|end| self.ending(job, end));
        part
    }

    fn follow_fold(
        &self,
        job: &Job,
        fold: usize,
        models: usize,
        part: &mut FoldPart,
    ) -> Result<(), PathEnd> {
        let mut path = self.fold_path(job, fold)?;
        for number in 1..=models {
            if self.stopped.load(Ordering::Relaxed) {
                return Err(PathEnd::Stopped);
            }
            if let Some(step) = path.advance()? {
                self.stepped(job, Some(part.fold), number, &step);
                part.features.push(step.step.feature);
            }
            part.values.push(path.values.clone());
        }
        Ok(())
    }

    /// The outcome of a path of which groups have these parts, its models judged by the folds; those
    /// that a fold cannot judge are cut off.
    fn joined(&self, parts: Vec<Parts>) -> Parts {
        let place = parts[0].place;
        let (mut whole, mut folds) = (None, Vec::new());
        for mut part in parts {
            folds.append(&mut part.folds);
            whole = whole.or(part.whole);
        }
        if let Some(outcome) = &mut whole {
            if self.share.selections > 1 {
                self.judge(outcome, folds);
            }
            self.tell(|observer| observer.finished(outcome));
        }
        Parts {
            place,
            whole,
            folds: Vec::new(),
        }
    }

    fn judge(&self, outcome: &mut Outcome, mut folds: Vec<FoldPart>) {
        folds.sort_by_key(|part| part.fold);
        if outcome.ending == Ending::Interrupted {
            folds.clear();
        }
        let mut judged = outcome.points.len();
        for part in &mut folds {
            let models = part.values.len();
            match part.end.take() {
                Some(end) if models < judged.max(1) => {
                    judged = models;
                    outcome.ending = end;
                }
                _ => {
                    part.features.truncate(judged);
                    outcome.folds.push(part.features.clone());
                }
            }
        }
        if outcome.ending == Ending::Interrupted {
            judged = 0;
        }
        outcome.points.truncate(judged);
        for (number, point) in outcome.points.iter_mut().enumerate() {
            let mut values = self.no_values();
            for part in &folds {
                spread(
                    &part.values[number],
                    &self.fold_queries[part.fold],
                    &mut values,
                );
            }
            (point.score, point.metrics) = summarise(&values);
            let short = |part: &&FoldPart| number >= part.features.len();
            point.short_folds = folds.iter().filter(short).count();
        }
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
                spread(&fold.values, &self.fold_queries[number], &mut values);
            }
            Ok(Judgement {
                values: values.clone(),
                short_folds,
            })
        });
        outcome.folds = folds.iter().map(FoldPath::features).collect();
        ended
    }

    /// The steps that an earlier run has taken.
    fn recorded(&self, job: &Job, fold: Option<usize>) -> &[Step] {
        let recorded = RecordedPath::find(self.recorded, &job.options);
        recorded.map_or(&[], |recorded| recorded.of(fold))
    }

    fn fold_path<'b>(&'b self, job: &'b Job, fold: usize) -> Result<FoldPath<'b>, PathEnd> {
        let (parts, meter) = (&self.folds[fold], &self.meters[fold]);
        let recorded = self.recorded(job, Some(parts.number));
        let plan = job.folds[fold].as_ref();
        let lesson = self.lessons[1 + fold].clone()?;
        FoldPath::new(parts, meter, plan, lesson, &job.options, recorded)
    }

    /// The lessons of the teachers that the plans of `job` have, which no lambda of a selection
    /// changes. Before paths are followed, as a thread that waited for a lesson could begin another path.
    fn teach(&self, job: &Job) -> Vec<Result<Option<Lesson>, SelectError>> {
        let whole = if self.share.has_any(0) {
            Lesson::new(self.candidates, self.target, &job.plan, &job.options)
        } else {
            Ok(None)
        };
        let without = |(fold, plan): (&Fold, &Option<Plan>)| match plan {
            Some(plan) => Lesson::new(&fold.candidates, fold.target(), plan, &job.options),
            None => Ok(None),
        };
        let folds = self.folds.iter().zip(&job.folds).map(without);
        std::iter::once(whole).chain(folds).collect()
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
        outcome.teacher = greedy.teacher();
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
