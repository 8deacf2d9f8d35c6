//! The things that the paths of a grid share: the plan of each, how many fit into memory side by side, and the
//! observer.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use super::folds::{Fold, Part};
use super::meter::Meter;
use super::{Finished, Outcome, PathEnding, PathId, Tune, TuneEvent, TuneObserver};
use crate::candidates::Candidates;
use crate::error::{Kind, Result};
use crate::greedy::{GreedyRankRls, Labels, Own, Plan, Step, StrategyKind, plan_with};
use crate::lambda::Lambda;
use crate::memory::Memory;

/// The labels of each part: the same for every path of a strategy, and none where nothing is to be selected.
pub(super) type LabelsOfParts = Vec<Result<Labels>>;

/// All that the paths share.
pub(super) struct Run<'a> {
    pub(super) options: &'a Tune,
    /// All training data.
    pub(super) whole: Part<'a>,
    pub(super) folds: &'a [Fold],
    /// One a fold, or the only one.
    pub(super) meters: &'a [Meter<'a>],
    /// Selections of an earlier run.
    pub(super) given: &'a [Finished],
    /// The strategy, where the library does not have it.
    pub(super) own: Option<&'a Own<'a>>,
    /// Queries that values are of.
    pub(super) queries: usize,
    /// The memory with all in use that stays: data, candidates, folds and results.
    pub(super) memory: Memory,
    pub(super) observer: Mutex<&'a mut dyn TuneObserver>,
    pub(super) stopped: AtomicBool,
}

/// A path that can be followed.
#[derive(Debug)]
pub(super) struct Job {
    pub(super) lambda: Lambda,
    /// The plan of the selection from all data.
    pub(super) plan: Plan,
    /// One a fold; `None` for a fold that has nothing to select from.
    pub(super) folds: Vec<Option<Plan>>,
    /// Bytes it takes while it is at work.
    memory: u64,
}

impl Job {
    /// The plan of the selection without `fold`, or from all data.
    pub(super) fn plan(&self, fold: Option<usize>) -> Option<&Plan> {
        fold.map_or(Some(&self.plan), |fold| self.folds[fold].as_ref())
    }

    /// Which path it is.
    pub(super) fn path(&self) -> PathId {
        PathId::new(&self.plan.options, self.lambda)
    }

    /// Steps of all selections, at most.
    pub(super) fn steps(&self) -> usize {
        let folds = self.folds.iter().flatten();
        let folds = folds.map(|plan| plan.steps.min(self.plan.steps));
        self.plan.steps + folds.sum::<usize>()
    }
}

/// The memory of each path, and how many fit side by side.
impl Run<'_> {
    pub(super) fn candidates(&self) -> &Candidates {
        self.whole.candidates
    }

    /// The training data without `fold`, or all of them.
    pub(super) fn part(&self, fold: Option<usize>) -> Part<'_> {
        fold.map_or(self.whole, |fold| self.folds[fold].part())
    }

    /// Selections that a path takes: one from all training data, and one without each fold.
    pub(super) fn selections_of_path(&self) -> usize {
        1 + self.folds.len()
    }

    /// Whether the selections without each fold of a path come one after the other, and not together:
    /// where no rule asks after every step whether to go on.
    pub(super) fn one_by_one(&self) -> bool {
        let rule = self.options.rule;
        !self.folds.is_empty() && rule.early_stop(self.options.measure).is_none()
    }

    /// The job of `selection` with `lambda`, or the outcome of a path without the memory for it.
    pub(super) fn job(
        &self,
        selection: &GreedyRankRls,
        lambda: Lambda,
    ) -> Result<Result<Job, Outcome>> {
        let mut options = GreedyRankRls {
            lambda: lambda.into(),
            ..selection.clone()
        };
        let mut paths = self.given.iter().map(|known| known.path);
        if let Some(path) = paths.find(|path| path.is_of(&options, lambda)) {
            options.strategy = path.strategy;
        }
        let reason = match self.plan(&options, lambda) {
            Ok(job) if self.memory.allows(job.memory) => return Ok(Ok(job)),
            Ok(job) => self.refusal(&job),
            Err(error) if error.kind() == Kind::Memory => error.to_string(),
            Err(error) => return Err(error),
        };
        options.strategy = StrategyKind::Auto;
        let (unit, ending) = (self.candidates().unit(), PathEnding::Refused { reason });
        Ok(Err(Outcome::without_points(&options, lambda, unit, ending)))
    }

    fn plan(&self, options: &GreedyRankRls, lambda: Lambda) -> Result<Job> {
        let plan = self.plan_among(self.whole, options)?;
        let planned = GreedyRankRls {
            strategy: plan.options.strategy,
            ..options.clone()
        };
        let without = |fold: &Fold| match self.plan_among(fold.part(), &planned) {
            Ok(of_fold) => Ok(Some(of_fold)),
            // Without the fold there is nothing to select from, or to judge by.
            Err(error) if error.kind() == Kind::Data => Ok(None),
            Err(error) => Err(error),
        };
        let asked = self.folds.iter().map(without);
        let folds: Vec<Option<Plan>> = asked.collect::<Result<_, _>>()?;
        let takes = folds.iter().flatten().map(|of_fold| of_fold.memory);
        let memory = if self.one_by_one() {
            takes.fold(plan.memory, u64::max)
        } else {
            takes.fold(plan.memory, u64::saturating_add)
        };
        Ok(Job {
            lambda,
            plan,
            folds,
            memory,
        })
    }

    fn plan_among(&self, part: Part<'_>, options: &GreedyRankRls) -> Result<Plan> {
        let Part { candidates, data } = part;
        options.ranking(data.labels(), candidates.queries())?;
        // Candidates and data are counted once more there.
        let again = candidates.memory() + data.memory();
        let memory = Memory {
            held: self.memory.held.saturating_sub(again),
            ..self.memory
        };
        let held = GreedyRankRls {
            memory,
            ..options.clone()
        };
        let plan = plan_with(candidates, data, &held, self.own)?;
        // Selections that may be at work at once share what is left.
        let selections = self.most_paths().max(1) * self.selections_of_path();
        Ok(Plan {
            room: plan.room / selections as u64,
            ..plan
        })
    }

    fn refusal(&self, job: &Job) -> String {
        let needed = self.memory.holding(job.memory).held;
        format!(
            "{} selections by {} side by side need {needed} bytes with the data, {} are allowed; \
             allow more memory, or take a rule for which folds come one after the other: best or one-se",
            self.selections_of_path(),
            job.plan.strategy_name(),
            self.memory.limit.unwrap_or(u64::MAX)
        )
    }

    /// Paths that may be at work at once, as far as memory allows.
    fn most_paths(&self) -> usize {
        let asked = self.options.concurrent;
        asked.unwrap_or_else(rayon::current_num_threads)
    }

    /// How many of `jobs` may be at work at once, whichever they are; each fits alone.
    pub(super) fn concurrent(&self, jobs: &[&Job]) -> usize {
        let mut sizes: Vec<u64> = jobs.iter().map(|job| job.memory).collect();
        sizes.sort_unstable_by(|a, b| b.cmp(a));
        let mut memory = self.memory;
        let fits = |size: &&u64| {
            memory = memory.holding(**size);
            memory.allows(0)
        };
        let fitting = sizes.iter().take_while(fits).count();
        fitting.min(self.most_paths()).max(1)
    }
}

impl<'a> Run<'a> {
    /// The steps of an earlier run of the selection of `path` without `fold`, or from all data.
    pub(super) fn given(&self, path: PathId, fold: Option<usize>) -> &'a [Step] {
        let same = |known: &&Finished| (known.path, known.fold) == (path, fold);
        let same = self.given.iter().find(same);
        same.map_or(&[], |known| &known.steps)
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
    pub(super) fn stepped(&self, job: &Job, fold: Option<usize>, number: usize, step: &Step) {
        let stops = self.tell(TuneEvent::Stepped {
            path: job.path(),
            fold,
            number,
            step,
        });
        if stops {
            self.stop();
        }
    }

    /// Tells the observer, and says whether it wants to stop; one thread at a time. An observer that
    /// panicked is not called again; its panic is passed on by the thread it happened in.
    pub(super) fn tell(&self, event: TuneEvent<'_>) -> bool {
        let observer = self.observer.lock();
        observer.is_ok_and(|mut observer| observer.event(event).is_break())
    }
}
