//! The shared state of the paths of a grid: the plan of each, the number that fits into memory side by side, and
//! the watcher.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use super::folds::{Fold, Part};
use super::meter::Meter;
use super::{EachEvent, PathSteps, Tune, TuneEvent};
use crate::columns::ColumnClasses;
use crate::error::{Kind, Result};
use crate::greedy::{GreedyRankRls, Labels, Own, Plan, Step, plan_with};
use crate::lambda::Lambda;
use crate::memory::Memory;

/// The labels of each part: the same for every path of a strategy. A part without candidates has an error.
pub(super) type LabelsOfParts = Vec<Result<Labels>>;

/// The shared state of the paths.
pub(super) struct Run<'a> {
    pub(super) options: &'a Tune,
    /// All training data.
    pub(super) whole: Part<'a>,
    pub(super) folds: &'a [Fold],
    /// One a fold, or the only one.
    pub(super) meters: &'a [Meter<'a>],
    /// Selections of an earlier run.
    pub(super) given: &'a [PathSteps],
    /// The strategy, if it is not in the library.
    pub(super) own: Option<&'a Own<'a>>,
    /// The number of queries with values.
    pub(super) queries: usize,
    /// The memory with all lasting use: data, candidates, folds and results.
    pub(super) memory: Memory,
    pub(super) each: Mutex<&'a mut EachEvent<'a>>,
    pub(super) stopped: AtomicBool,
}

/// A path to follow.
#[derive(Debug)]
pub(super) struct Job {
    pub(super) lambda: Lambda,
    /// The plan of the selection from all data.
    pub(super) plan: Plan,
    /// One a fold; `None` for a fold without candidates.
    pub(super) folds: Vec<Option<Plan>>,
    /// Bytes it takes while it is at work.
    memory: u64,
}

impl Job {
    /// The selection without `fold`, or from all data, before its first step.
    pub(super) fn path(&self, fold: Option<usize>) -> PathSteps {
        let options = &self.plan.options;
        PathSteps {
            lambda: self.lambda,
            strategy: options.strategy,
            labels: options.label_scale(),
            fold,
            steps: Vec::new(),
        }
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
    pub(super) fn candidates(&self) -> &ColumnClasses {
        self.whole.candidates
    }

    /// The training data without `fold`, or all of them.
    pub(super) fn part(&self, fold: Option<usize>) -> Part<'_> {
        fold.map_or(self.whole, |fold| self.folds[fold].part())
    }

    /// Whether the selections without each fold of a path come one after the other, not together: if no rule asks
    /// after every step.
    pub(super) fn one_by_one(&self) -> bool {
        !self.folds.is_empty() && !self.options.rule.ends_paths()
    }

    /// The job of `selection` with `lambda`; refuses one that exceeds the memory.
    pub(super) fn job(&self, selection: &GreedyRankRls, lambda: Lambda) -> Result<Job> {
        let mut options = GreedyRankRls {
            lambda: lambda.into(),
            ..selection.clone()
        };
        let is_of = |known: &&PathSteps| {
            let options = GreedyRankRls {
                strategy: options.strategy.or(known.strategy),
                ..options.clone()
            };
            let path = (lambda, options.strategy, options.label_scale());
            (known.lambda, known.strategy, known.labels) == path
        };
        if let Some(known) = self.given.iter().find(is_of) {
            options.strategy = known.strategy;
        }
        let job = self.plan(options, lambda)?;
        let (count, strategy) = (1 + self.folds.len(), job.plan.strategy_name());
        self.memory.require(
            format_args!("{count} selections by {strategy} side by side need"),
            job.memory,
            "allow more memory, or take a rule for which folds come one after the other: best or one-se",
        )?;
        Ok(job)
    }

    fn plan(&self, options: GreedyRankRls, lambda: Lambda) -> Result<Job> {
        let plan = self.plan_among(self.whole, &options)?;
        let options = GreedyRankRls {
            strategy: plan.options.strategy,
            // All data checked them. Without a fold, a column may be constant or equal another one; the fold then
            // continues without it.
            include: None,
            ..options
        };
        let without = |fold: &Fold| match self.plan_among(fold.part(), &options) {
            Ok(of_fold) => Ok(Some(Plan {
                included: fold.part().candidates.of_these(&plan.included),
                ..of_fold
            })),
            // Without the fold, nothing is left to select from or to judge by.
            Err(error) if error.kind() == Kind::Data => Ok(None),
            Err(error) => Err(error),
        };
        let folds: Vec<Option<Plan>> = self.folds.iter().map(without).collect::<Result<_>>()?;
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
        // The plan counts candidates and data again.
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
        // Selections that may work at once share the rest.
        let selections = self.most_paths().max(1) * (1 + self.folds.len());
        Ok(Plan {
            spare: plan.spare / selections as u64,
            ..plan
        })
    }

    /// Paths that may work at once, as far as memory allows.
    fn most_paths(&self) -> usize {
        let asked = self.options.concurrent;
        asked.unwrap_or_else(rayon::current_num_threads)
    }

    /// The number of `jobs`, in any combination, that may work at once; each fits alone.
    pub(super) fn concurrent(&self, jobs: &[&Job]) -> usize {
        let sizes = jobs.iter().map(|job| job.memory).collect();
        side_by_side(self.memory, sizes, self.most_paths())
    }
}

/// The number of jobs, of these `sizes` in bytes, that may work at once in `memory`, in any combination: at most
/// `most`, and at least one.
pub(super) fn side_by_side(mut memory: Memory, mut sizes: Vec<u64>, most: usize) -> usize {
    sizes.sort_unstable_by(|a, b| b.cmp(a));
    let fits = |size: &&u64| {
        memory = memory.holding(**size);
        memory.allows(0)
    };
    let fitting = sizes.iter().take_while(fits).count();
    fitting.min(most).max(1)
}

impl<'a> Run<'a> {
    /// The steps of this selection in an earlier run.
    pub(super) fn given(&self, path: &PathSteps) -> &'a [Step] {
        let same = self.given.iter().find(|known| known.is_of(path));
        same.map_or(&[], |known| &known.steps)
    }
}

/// The watcher.
impl Run<'_> {
    /// Ends all paths after their present steps.
    pub(super) fn stop(&self) {
        self.stopped.store(true, Ordering::Relaxed);
    }

    pub(super) fn is_stopped(&self) -> bool {
        self.stopped.load(Ordering::Relaxed)
    }

    /// Reports a step, which may come from an earlier run.
    pub(super) fn stepped(&self, path: &PathSteps) {
        if self.tell(TuneEvent::Stepped(path)) {
            self.stop();
        }
    }

    /// Tells the watcher, and says whether to stop; one thread at a time. A closure that panicked is not called
    /// again; the thread of its panic passes it on.
    pub(super) fn tell(&self, event: TuneEvent<'_>) -> bool {
        let each = self.each.lock();
        each.is_ok_and(|mut each| each(event).is_break())
    }
}
