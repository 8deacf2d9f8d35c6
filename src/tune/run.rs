//! The grid: paths by strategy, scale of labels and lambda, the memory that they share, and who watches them.

use std::iter;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use rayon::prelude::*;

use super::folds::{Fold, Part};
use super::meter::Meter;
use super::path::Path;
use super::{Each, Outcome, PathEnding, PathSteps, Tune, TuneEvent, Tuning};
use crate::candidates::Candidates;
use crate::data::{Dataset, HoldOut};
use crate::error::{Error, Kind, Result};
use crate::greedy::{GreedyRankRls, Labels, OwnStrategy, Plan, Step, Target, plan_with};
use crate::lambda::Lambda;
use crate::memory::Memory;
use crate::metrics::{Score, check_labels};
use crate::stop::unless_stopped;

/// The labels of each part: the same for every path of a strategy, and none where nothing is to be selected.
pub(super) type LabelsOfParts = Vec<Result<Labels>>;

/// All that the paths share.
pub(super) struct Run<'a> {
    pub(super) options: &'a Tune,
    /// All training data.
    whole: Part<'a>,
    pub(super) folds: &'a [Fold],
    /// One a fold, or the only one.
    pub(super) meters: &'a [Meter<'a>],
    /// Selections of an earlier run.
    given: &'a [PathSteps],
    /// The strategy, where the library does not have it.
    own: Option<&'a OwnStrategy>,
    /// Queries that values are of.
    pub(super) queries: usize,
    /// The memory with all in use that stays: data, candidates, folds and results.
    memory: Memory,
    each: Mutex<&'a mut Each<'a>>,
    stopped: AtomicBool,
}

/// The outcome of every path of the grid, one strategy and scale of labels after the other, and
/// whether they were ended before their time.
pub(super) fn outcomes(
    tuning: &Tuning<'_>,
    candidates: &Candidates,
    each: &mut Each<'_>,
) -> Result<(Vec<Outcome>, bool)> {
    let &Tuning {
        dataset, options, ..
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
    let judging = tuning.validation.map_or(0, Dataset::memory);
    let memory = [dataset.memory(), judging, candidates.memory(), results]
        .into_iter()
        .chain(folds.iter().map(Fold::memory))
        .fold(options.selection.memory, Memory::holding);
    let target = Target {
        // The run has counted them.
        memory: 0,
        ..dataset.into()
    };
    let run = Run {
        options,
        whole: Part { candidates, target },
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

/// Bytes that the results of all paths of a strategy take.
fn results_memory(candidates: &Candidates, queries: usize, options: &Tune) -> u64 {
    /// A score but for the list of the values of queries, which is empty.
    const SCORE: usize = size_of::<Score>() - size_of::<Vec<Option<f64>>>();
    let paths = options.search(candidates.unit()).most();
    let steps = options.selection.k.min(candidates.summary().column_classes) as u64;
    let weights = steps.saturating_mul(steps.saturating_add(1)) / 2;
    let weights = weights.saturating_mul(size_of::<f64>() as u64);
    let columns = 1 + options.metrics.len();
    let values = match options.evidence {
        HoldOut::Folds { .. } => (columns * size_of::<Option<f64>>()).saturating_mul(queries),
        _ => 0,
    };
    let point = (size_of::<Step>() + columns * SCORE).saturating_add(values);
    let path = weights.saturating_add(steps.saturating_mul(point as u64));
    path.saturating_mul(paths as u64)
}

/// A path that can be followed.
#[derive(Debug)]
pub(super) struct Job {
    pub(super) lambda: Lambda,
    /// The options with the strategy of the plans.
    pub(super) options: GreedyRankRls,
    /// The plan of the selection from all data.
    pub(super) plan: Plan,
    /// One a fold; `None` for a fold that has nothing to select from.
    pub(super) folds: Vec<Option<Plan>>,
    /// Bytes it takes while it is at work.
    memory: u64,
}

impl Job {
    /// The selection without `fold`, or from all data, before its first step.
    pub(super) fn path(&self, fold: Option<usize>) -> PathSteps {
        let strategy = self.plan.strategy.kind();
        PathSteps {
            lambda: self.lambda,
            strategy,
            labels: self.options.target.label_scale(strategy),
            fold,
            steps: Vec::new(),
        }
    }

    /// Steps of all selections, at most.
    fn steps(&self) -> usize {
        let folds = self.folds.iter().flatten();
        let folds = folds.map(|plan| plan.steps.min(self.plan.steps));
        self.plan.steps + folds.sum::<usize>()
    }
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

    /// The outcome of a path for which there is not the memory.
    fn refused(&self, selection: &GreedyRankRls, lambda: Lambda, error: &Error) -> Outcome {
        let reason = error.to_string();
        let options = GreedyRankRls {
            strategy: None,
            ..selection.clone()
        };
        let unit = self.candidates().unit();
        Outcome::without_points(&options, lambda, unit, PathEnding::Refused { reason })
    }

    /// The labels of the selections of `job`, on which no lambda has an effect. They are made before paths are
    /// followed, as a thread that waited for them could begin another path.
    fn labels(&self, job: &Job) -> LabelsOfParts {
        let of = |fold: Option<usize>| {
            let plan = fold.map_or(Some(&job.plan), |fold| job.folds[fold].as_ref());
            // Nobody asks for those of a fold without a plan.
            let unknown = || Error::data("a fold has nothing to select from");
            let Part { candidates, target } = self.part(fold);
            Labels::new(candidates, target, plan.ok_or_else(unknown)?, &job.options)
        };
        let folds = (0..self.folds.len()).map(Some);
        iter::once(None).chain(folds).map(of).collect()
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

    /// Whether the selections without each fold of a path come one after the other, and not together:
    /// where no rule asks after every step whether to go on.
    pub(super) fn one_by_one(&self) -> bool {
        !self.folds.is_empty() && !self.options.rule.ends_paths()
    }

    /// The job of `selection` with `lambda`; refuses one that there is not the memory for.
    fn job(&self, selection: &GreedyRankRls, lambda: Lambda) -> Result<Job> {
        let mut options = GreedyRankRls {
            lambda: lambda.into(),
            ..selection.clone()
        };
        let is_of = |known: &&PathSteps| {
            let strategy = options.strategy.or(known.strategy);
            let labels = options.target.label_scale(strategy);
            (known.lambda, known.strategy, known.labels) == (lambda, strategy, labels)
        };
        if let Some(known) = self.given.iter().find(is_of) {
            options.strategy = known.strategy;
        }
        let job = self.plan(options, lambda)?;
        if self.memory.allows(job.memory) {
            return Ok(job);
        }
        let needed = self.memory.holding(job.memory).held;
        Err(Error::memory(format!(
            "{} selections by {} side by side need {needed} bytes with the data, {} are allowed; \
             allow more memory, or take a rule for which folds come one after the other: best or one-se",
            1 + self.folds.len(),
            job.plan.strategy,
            self.memory.limit.unwrap_or(u64::MAX)
        )))
    }

    fn plan(&self, options: GreedyRankRls, lambda: Lambda) -> Result<Job> {
        let plan = self.plan_among(self.whole, &options)?;
        let options = GreedyRankRls {
            strategy: plan.strategy.kind(),
            ..options
        };
        let without = |fold: &Fold| match self.plan_among(fold.part(), &options) {
            Ok(of_fold) => Ok(Some(of_fold)),
            // Without the fold there is nothing to select from, or to judge by.
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
            options,
            plan,
            folds,
            memory,
        })
    }

    fn plan_among(&self, part: Part<'_>, options: &GreedyRankRls) -> Result<Plan> {
        let candidates = part.candidates;
        options.ranking(part.target.labels, candidates.queries())?;
        // Candidates are counted once more there.
        let memory = Memory {
            held: self.memory.held.saturating_sub(candidates.memory()),
            ..self.memory
        };
        let held = GreedyRankRls {
            memory,
            ..options.clone()
        };
        let plan = plan_with(candidates, part.target, &held, self.own)?;
        // Selections that may be at work at once share what is left.
        let selections = self.most_paths().max(1) * (1 + self.folds.len());
        Ok(Plan {
            room: plan.room / selections as u64,
            ..plan
        })
    }

    /// Paths that may be at work at once, as far as memory allows.
    fn most_paths(&self) -> usize {
        let asked = self.options.concurrent;
        asked.unwrap_or_else(rayon::current_num_threads)
    }

    /// How many of `jobs` may be at work at once, whichever they are; each fits alone.
    fn concurrent(&self, jobs: &[&Job]) -> usize {
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
    /// The steps that an earlier run has taken of this selection.
    pub(super) fn given(&self, path: &PathSteps) -> &'a [Step] {
        let same = self.given.iter().find(|known| known.is_of(path));
        same.map_or(&[], |known| &known.steps)
    }
}

/// Who watches.
impl Run<'_> {
    /// Ends all paths after the steps that they are at.
    pub(super) fn stop(&self) {
        self.stopped.store(true, Ordering::Relaxed);
    }

    pub(super) fn is_stopped(&self) -> bool {
        self.stopped.load(Ordering::Relaxed)
    }

    /// Tells of a step, which may have been taken again.
    pub(super) fn stepped(&self, path: &PathSteps) {
        if self.tell(TuneEvent::Stepped(path)) {
            self.stop();
        }
    }

    /// Tells who watches, and says whether to stop; one thread at a time. A closure that
    /// panicked is not called again; its panic is passed on by the thread it happened in.
    pub(super) fn tell(&self, event: TuneEvent<'_>) -> bool {
        let each = self.each.lock();
        each.is_ok_and(|mut each| each(event).is_break())
    }
}
