//! What each lambda takes, and how many fit side by side.

use super::fold::Fold;
use super::{Ending, Options, Outcome, RecordedPath, TuneError};
use crate::Lambda;
use crate::columns::ColumnClasses;
use crate::greedy::{self, Plan, SelectError, Step, plan};

/// A lambda that can be tried.
#[derive(Debug)]
pub(super) struct Job {
    pub(super) options: greedy::SelectionOptions,
    pub(super) plan: Plan,
    /// One a fold; `None` for a fold that has nothing to select from.
    pub(super) folds: Vec<Option<Plan>>,
    /// Bytes it takes while it is at work.
    pub(super) memory: u64,
}

/// What there is to plan with.
#[derive(Debug, Clone, Copy)]
pub(super) struct Planner<'a> {
    pub(super) candidates: &'a ColumnClasses,
    pub(super) labels: &'a [f64],
    pub(super) folds: &'a [Fold],
    pub(super) options: &'a Options<'a>,
    /// What an earlier run has found.
    pub(super) taken: &'a [RecordedPath],
    /// Whether the folds of a lambda take their steps together.
    pub(super) side_by_side: bool,
    /// Bytes held all the time, candidates and results included.
    pub(super) held: u64,
}

impl Planner<'_> {
    /// Jobs of all lambdas, and those there is not the memory for.
    pub(super) fn jobs(&self) -> Result<(Vec<Job>, Vec<Outcome>), TuneError> {
        let (mut jobs, mut refused) = (Vec::new(), Vec::new());
        for &lambda in self.options.lambdas() {
            match self.job(lambda)? {
                Ok(job) => jobs.push(job),
                Err(outcome) => refused.push(outcome),
            }
        }
        Ok((jobs, refused))
    }

    /// The job of `lambda`, or what says that there is not the memory for it.
    fn job(&self, lambda: Lambda) -> Result<Result<Job, Outcome>, TuneError> {
        let mut options = self.options.selection(lambda, self.options.features());
        if let Some(taken) = RecordedPath::with(lambda, self.taken) {
            options.strategy = Some(taken.strategy);
        }
        match self.plan(options) {
            Ok(job) if self.held.saturating_add(job.memory) > self.limit() => {
                Ok(Err(refused(&job.options, self.refusal(&job))))
            }
            Ok(job) => Ok(Ok(job)),
            Err(error @ SelectError::Memory { .. }) => {
                Ok(Err(refused(&options, error.to_string())))
            }
            Err(error) => Err(error.into()),
        }
    }

    fn plan(&self, options: greedy::SelectionOptions) -> Result<Job, SelectError> {
        let whole = self.plan_among(self.candidates, self.labels, &options)?;
        let options = greedy::SelectionOptions {
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
        options: &greedy::SelectionOptions,
    ) -> Result<Plan, SelectError> {
        options.ranking(labels, candidates.queries())?;
        // ColumnClasses are counted once more there.
        let others = self.held.saturating_sub(candidates.memory());
        plan(candidates, others, options)
    }

    fn limit(&self) -> u64 {
        self.options.memory_limit().unwrap_or(u64::MAX)
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
    pub(super) fn concurrent(&self, jobs: &[Job]) -> usize {
        let mut sizes: Vec<u64> = jobs.iter().map(|job| job.memory).collect();
        sizes.sort_unstable_by(|a, b| b.cmp(a));
        let mut total = self.held;
        let fits = |size: &&u64| {
            total = total.saturating_add(**size);
            total <= self.limit()
        };
        let fitting = sizes.iter().take_while(fits).count();
        fitting.min(self.options.most_concurrent()).max(1)
    }
}

/// Bytes that the results of one lambda take.
pub(super) fn results_memory(
    steps: usize,
    queries: usize,
    options: &Options<'_>,
    folds: bool,
) -> u64 {
    let steps = steps as u64;
    let weights = steps.saturating_mul(steps + 1) / 2 * size_of::<f64>() as u64;
    let columns = 1 + options.metrics.len();
    let values = if folds {
        columns * queries * size_of::<Option<f64>>()
    } else {
        0
    };
    let point = size_of::<Step>() + columns * size_of::<super::Score>() + values;
    weights.saturating_add(steps.saturating_mul(point as u64))
}

fn refused(options: &greedy::SelectionOptions, reason: String) -> Outcome {
    Outcome::without_points(options, Ending::Refused { reason })
}
