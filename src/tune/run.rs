//! Follows the paths of all lambdas.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, OnceLock};

use rayon::prelude::*;

use super::fold::{Fold, FoldPath};
use super::meter::{Meter, Overflow, Values, summarise};
use super::path::SelectionPath;
use super::plan::Job;
use super::{
    Ending, Evidence, GridStep, Observer, Options, Outcome, Point, RecordedPath, Score, TuneError,
};
use crate::columns::ColumnClasses;
use crate::greedy::{SelectError, Step};

/// All that the paths share.
pub(super) struct Run<'a> {
    pub(super) candidates: &'a ColumnClasses,
    pub(super) labels: &'a [f64],
    pub(super) options: &'a Options<'a>,
    pub(super) folds: &'a [Fold],
    /// One a fold, or the only one.
    pub(super) meters: &'a [Meter<'a>],
    /// What an earlier run has found.
    pub(super) taken: &'a [RecordedPath],
    /// Whether the folds of a lambda take their steps together.
    pub(super) side_by_side: bool,
    /// Queries that values are of.
    pub(super) queries: usize,
    pub(super) observer: Mutex<&'a mut dyn Observer>,
    pub(super) stopped: AtomicBool,
    /// Why there is no outcome at all.
    pub(super) failure: OnceLock<TuneError>,
}

/// What a model is judged by, and the folds that had no step for it.
struct Judgement {
    values: Values,
    short_folds: usize,
}

/// Why a path ends before its time.
#[derive(Debug)]
pub(super) enum PathEnd {
    Stopped,
    Overflow,
    Refused(SelectError),
    /// Steps of an earlier run that cannot be taken again: ends all.
    Replay(SelectError),
}

impl From<SelectError> for PathEnd {
    fn from(error: SelectError) -> Self {
        Self::Refused(error)
    }
}

impl From<Overflow> for PathEnd {
    fn from(_: Overflow) -> Self {
        Self::Overflow
    }
}

impl From<PathEnd> for Ending {
    fn from(halt: PathEnd) -> Self {
        match halt {
            PathEnd::Stopped | PathEnd::Replay(_) => Self::Interrupted,
            PathEnd::Overflow => Self::Overflow,
            PathEnd::Refused(error) => Self::Refused {
                reason: error.to_string(),
            },
        }
    }
}

impl Run<'_> {
    /// Outcomes of `jobs`, in their order, `concurrent` at work at once.
    ///
    /// As many tasks as that take one job after the other; all of them, and the parallel parts
    /// of every step, share the threads of the pool.
    pub(super) fn all(&self, jobs: &[Job], concurrent: usize) -> Vec<Outcome> {
        let next = AtomicUsize::new(0);
        let work = |_: usize| {
            let mut done = Vec::new();
            while let Some(job) = jobs.get(next.fetch_add(1, Ordering::Relaxed)) {
                done.push(self.outcome(job));
            }
            done
        };
        let workers = (0..concurrent).into_par_iter().with_max_len(1);
        let mut outcomes: Vec<Outcome> = workers.flat_map_iter(work).collect();
        outcomes.sort_by(|a, b| a.lambda.value().total_cmp(&b.lambda.value()));
        outcomes
    }

    fn outcome(&self, job: &Job) -> Outcome {
        let mut outcome = Outcome {
            strategy: Some(job.plan.strategy),
            sampler: job.options.sampler(job.plan.strategy),
            ..Outcome::without_points(&job.options, Ending::Complete)
        };
        let halted = match (self.folds, self.side_by_side) {
            _ if self.stopped.load(Ordering::Relaxed) => Err(PathEnd::Stopped),
            ([], _) => self.alone(job, &mut outcome.points),
            (_, true) => self.side_by_side(job, &mut outcome.points),
            (_, false) => self.one_by_one(job, &mut outcome.points),
        };
        if let Err(PathEnd::Replay(source)) = &halted {
            self.fail(job, source);
        }
        outcome.ending = match halted {
            Err(halt) => halt.into(),
            Ok(()) if outcome.points.len() < job.plan.steps => Ending::Settled,
            Ok(()) if job.plan.steps < self.options.features() => Ending::Exhausted,
            Ok(()) => Ending::Complete,
        };
        self.tell(|observer| observer.finished(&outcome));
        outcome
    }

    /// Ends all selections without an outcome.
    fn fail(&self, job: &Job, source: &SelectError) {
        let error = TuneError::Replay {
            lambda: job.options.lambda,
            source: source.clone(),
        };
        // One of several is enough.
        let _ = self.failure.set(error);
        self.stopped.store(true, Ordering::Relaxed);
    }

    fn alone(&self, job: &Job, points: &mut Vec<Point>) -> Result<(), PathEnd> {
        self.follow(job, points, |walk| {
            let values = match self.options.evidence {
                Evidence::Validation(dataset) => walk.on(dataset, &self.meters[0])?,
                _ => walk.left_out(&self.meters[0])?,
            };
            Ok(Judgement {
                values,
                short_folds: 0,
            })
        })
    }

    /// The selection and those without a fold, step by step together.
    fn side_by_side(&self, job: &Job, points: &mut Vec<Point>) -> Result<(), PathEnd> {
        let folds = (0..self.folds.len()).map(|fold| self.fold_walk(job, fold));
        let mut folds: Vec<FoldPath<'_>> = folds.collect::<Result<_, _>>()?;
        let mut values = self.no_values();
        self.follow(job, points, |walk| {
            let mut short_folds = 0;
            for (number, fold) in folds.iter_mut().enumerate() {
                match fold.step()? {
                    Some(step) => {
                        self.stepped(job, Some(number), walk.state().steps(), (&step.0, step.1));
                    }
                    None => short_folds += 1,
                }
                fold.spread(&mut values);
            }
            Ok(Judgement {
                values: values.clone(),
                short_folds,
            })
        })
    }

    /// The selection, then those without a fold one after the other.
    fn one_by_one(&self, job: &Job, points: &mut Vec<Point>) -> Result<(), PathEnd> {
        let mut judgements = Vec::new();
        let mut halted = self.follow(job, points, |_| {
            judgements.push(Judgement {
                values: self.no_values(),
                short_folds: 0,
            });
            Ok(Judgement {
                values: Vec::new(),
                short_folds: 0,
            })
        });
        // The models before an overflow can be judged, but not those before an interruption.
        if !matches!(halted, Err(PathEnd::Stopped)) {
            for fold in 0..self.folds.len() {
                if let Err(halt) = self.judge_fold(job, fold, &mut judgements) {
                    halted = Err(halt);
                }
            }
        }
        if matches!(halted, Err(PathEnd::Stopped)) {
            judgements.clear();
        }
        points.truncate(judgements.len());
        for (point, judgement) in points.iter_mut().zip(judgements) {
            (point.score, point.metrics) = summarise(&judgement.values);
            point.short_folds = judgement.short_folds;
        }
        halted
    }

    /// Adds what a fold says of each model; cuts off those that it cannot judge.
    fn judge_fold(
        &self,
        job: &Job,
        fold: usize,
        judgements: &mut Vec<Judgement>,
    ) -> Result<(), PathEnd> {
        let mut walk = self
            .fold_walk(job, fold)
            .inspect_err(|_| judgements.clear())?;
        for number in 0..judgements.len() {
            if self.stopped.load(Ordering::Relaxed) {
                return Err(PathEnd::Stopped);
            }
            match walk.step() {
                Ok(Some(step)) => self.stepped(job, Some(fold), number + 1, (&step.0, step.1)),
                Ok(None) => judgements[number].short_folds += 1,
                Err(halt) => {
                    judgements.truncate(number);
                    return Err(halt);
                }
            }
            walk.spread(&mut judgements[number].values);
        }
        Ok(())
    }

    /// The steps that an earlier run has taken.
    fn earlier(&self, job: &Job, fold: Option<usize>) -> &[Step] {
        RecordedPath::with(job.options.lambda, self.taken).map_or(&[], |taken| taken.of(fold))
    }

    fn fold_walk<'b>(&'b self, job: &'b Job, fold: usize) -> Result<FoldPath<'b>, PathEnd> {
        let (parts, meter) = (&self.folds[fold], &self.meters[fold]);
        let (plan, earlier) = (job.folds[fold].as_ref(), self.earlier(job, Some(fold)));
        FoldPath::new(parts, meter, plan, &job.options, earlier)
    }

    /// Takes the steps of the selection from all data, each judged by `judge`, until the rule
    /// has seen enough.
    fn follow<'b>(
        &'b self,
        job: &'b Job,
        points: &mut Vec<Point>,
        mut judge: impl FnMut(&SelectionPath<'b>) -> Result<Judgement, PathEnd>,
    ) -> Result<(), PathEnd> {
        let (plan, options) = (&job.plan, &job.options);
        let earlier = self.earlier(job, None);
        let mut walk = SelectionPath::new(self.candidates, self.labels, plan, options, earlier)?;
        let mut settling = self.options.rule.settling(self.options.measure);
        loop {
            if self.stopped.load(Ordering::Relaxed) && points.len() < job.plan.steps {
                return Err(PathEnd::Stopped);
            }
            let Some(step) = walk.step()? else {
                return Ok(());
            };
            let judgement = judge(&walk)?;
            let point = point(&walk, step, &judgement);
            log(job, points.len() + 1, &point);
            let settled = settling
                .as_mut()
                .is_some_and(|path| path.push(&point.score));
            points.push(point);
            let step = &points[points.len() - 1].step;
            self.stepped(job, None, points.len(), (step, walk.replayed()));
            if settled {
                return Ok(());
            }
        }
    }

    fn no_values(&self) -> Values {
        vec![vec![None; self.queries]; 1 + self.options.metrics.len()]
    }

    /// Tells of a step, which may have been taken again.
    fn stepped(
        &self,
        job: &Job,
        fold: Option<usize>,
        number: usize,
        (step, replayed): (&Step, bool),
    ) {
        let step = GridStep {
            lambda: job.options.lambda,
            fold,
            number,
            step,
            replayed,
        };
        self.tell(|observer| {
            if observer.stepped(&step).is_break() {
                self.stopped.store(true, Ordering::Relaxed);
            }
        });
    }

    /// One thread at a time. An observer that panicked is not called again; its panic is passed
    /// on by the thread it happened in.
    fn tell(&self, what: impl FnOnce(&mut dyn Observer)) {
        if let Ok(mut observer) = self.observer.lock() {
            what(&mut **observer);
        }
    }
}

fn point(walk: &SelectionPath<'_>, step: Step, judgement: &Judgement) -> Point {
    let (score, metrics): (Score, Vec<Score>) = summarise(&judgement.values);
    Point {
        step,
        weights: walk.state().weights(),
        condition: walk.state().condition(),
        class: walk.class(),
        score,
        metrics,
        short_folds: judgement.short_folds,
    }
}

fn log(job: &Job, number: usize, point: &Point) {
    let lambda = job.options.lambda.value();
    let (column, lqo_error) = (point.step.feature, point.step.lqo_error);
    let value = point.score.mean;
    tracing::info!(lambda, step = number, column, lqo_error, value, "selected");
}
