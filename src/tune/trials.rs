//! Trials of a setting: models of some queries, judged on those that they have not seen.

use std::iter;
use std::ops::ControlFlow;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use rankrls_files::Remedy;
use rayon::prelude::*;

use super::Tune;
use super::folds::{Fold, Part, groups};
use super::meter::Meter;
use super::run::side_by_side;
use crate::candidates::Candidates;
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

/// Wants to see nothing: an [`EachTrial`].
pub fn unwatched_trials(_: ChoiceEvent<'_>) -> ControlFlow<()> {
    ControlFlow::Continue(())
}

/// The values of all queries, in the order of the data.
type Values = Vec<Option<f64>>;

/// The folds that all settings are tried on, and the candidates on the scale of the last of them.
pub(super) struct Trials<'a, 'e> {
    own: Option<&'a Own<'a>>,
    /// Labels of the data, as their largest is that of the scale of grades.
    labels: &'a [f64],
    queries: usize,
    /// The columns to include.
    included: Vec<Feature>,
    folds: Vec<Fold>,
    /// The candidates of each fold as the data have them, where several scales are to be tried.
    bases: Vec<ColumnClasses>,
    scale: Option<Scale>,
    /// The memory that may be taken, with the data in use.
    memory: Memory,
    each: Mutex<&'e mut EachTrial<'a>>,
    stopped: AtomicBool,
}

/// A setting that can be tried: what its ridge parameters share.
pub(super) struct Trial {
    pub(super) options: GreedyRankRls,
    /// The labels of each fold, once they are made: a teacher takes long.
    labels: Vec<Result<Labels>>,
}

impl Trial {
    /// Of a selection by these `options`, but for lambda.
    pub(super) fn new(options: GreedyRankRls) -> Self {
        let labels = Vec::new();
        Self { options, labels }
    }
}

/// A selection without a fold.
struct Job {
    fold: usize,
    plan: Plan,
}

impl<'a, 'e> Trials<'a, 'e> {
    /// Folds of `drawn`, some or all of the queries of `whole`, for settings like `first` on `scales`.
    pub(super) fn new(
        whole: &'a Dataset<'_>,
        drawn: &Dataset<'_>,
        first: &GreedyRankRls,
        scales: &[Scale],
        own: Option<&'a Own<'a>>,
        each: &'e mut EachTrial<'a>,
    ) -> Result<Self> {
        let mut memory = first.memory.holding(whole.memory());
        if drawn.rows() < whole.rows() {
            memory = memory.holding(drawn.memory());
        }
        let rescaled = scales.len() > 1;
        let selection = |memory: Memory| GreedyRankRls {
            scale: first.scale.filter(|_| !rescaled),
            query_weight: if rescaled {
                QueryWeight::Uniform
            } else {
                first.query_weight
            },
            memory,
            ..first.clone()
        };
        let mut held = memory;
        let mut folds = Vec::new();
        for left_out in groups(drawn.queries(), FOLDS, first.seed())?.iter() {
            let fold = Fold::new(
                drawn,
                left_out.to_vec(),
                &selection(held),
                first.needs_data(),
            );
            let fold = fold.map_err(cannot_choose)?;
            held = held.holding(fold.memory());
            folds.push(fold);
        }
        stop::check()?;
        let bases = folds.iter().filter(|_| rescaled);
        Ok(Self {
            own,
            labels: whole.labels(),
            queries: drawn.queries().len(),
            included: first.included_features(whole)?,
            bases: bases
                .map(|fold| fold.candidates.classes().clone())
                .collect(),
            scale: first.scale.filter(|_| !rescaled),
            folds,
            memory,
            each: Mutex::new(each),
            stopped: AtomicBool::new(false),
        })
    }

    /// The memory with the folds in use.
    fn held(&self) -> Memory {
        let bases = self.bases.iter().map(ColumnClasses::memory);
        let held = self.folds.iter().map(Fold::memory).chain(bases);
        held.fold(self.memory, Memory::holding)
    }

    /// Makes the candidates on this scale, where those at hand are on another.
    fn rescale(&mut self, options: &GreedyRankRls) -> Result<()> {
        if self.scale == options.scale || self.bases.is_empty() {
            return Ok(());
        }
        self.scale = options.scale;
        let (weight, scale) = (options.query_weight, options.column_scale());
        for (fold, base) in self.folds.iter_mut().zip(&self.bases) {
            fold.candidates = Candidates::from(base.on_scale(weight, scale));
        }
        stop::check()
    }

    /// Judges models with each of these `shares` of the unit: each share with its score, or why there is none.
    pub(super) fn judge(
        &mut self,
        trial: &mut Trial,
        shares: &[Lambda],
    ) -> Result<Vec<(Lambda, Result<Score>)>> {
        self.rescale(&trial.options)?;
        let jobs: Vec<Result<Vec<Job>>> = shares
            .iter()
            .map(|&share| self.jobs(trial, share))
            .collect();
        let ready: Vec<&Job> = jobs.iter().flatten().flatten().collect();
        self.tell(ChoiceEvent::Trying {
            options: &trial.options,
            steps: ready.iter().map(|job| job.plan.steps).sum(),
        });
        if trial.labels.is_empty() {
            trial.labels = self.labels(&ready);
        }
        let values = self.all_values(trial, &ready)?;
        let mut values = values.into_iter();
        let scored = shares.iter().zip(&jobs).map(|(&share, jobs)| {
            let score = match jobs {
                Err(error) => Err(error.clone()),
                Ok(jobs) => self.score(trial, jobs, values.by_ref().take(jobs.len())),
            };
            (share, score)
        });
        Ok(scored.collect())
    }

    /// The selections with this share of the unit; none without a fold that leaves nothing to select from.
    fn jobs(&self, trial: &Trial, share: Lambda) -> Result<Vec<Job>> {
        let held = self.held();
        let mut jobs = Vec::new();
        for (place, fold) in self.folds.iter().enumerate() {
            let Part { candidates, data } = fold.part();
            // Those are counted once more there.
            let again = candidates.memory() + data.memory();
            let options = GreedyRankRls {
                lambda: Some(Ridge::Share(share)),
                memory: Memory {
                    held: held.held.saturating_sub(again),
                    ..held
                },
                // A column may be constant, or equal to another one, without a fold, which then goes on without it.
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

    /// The labels of each fold, by the plan of any job of it: no ridge parameter changes them. The teacher of the first
    /// fold searches for its own ridge parameter, and the others take the same share of the unit.
    fn labels(&self, jobs: &[&Job]) -> Vec<Result<Labels>> {
        let of = |place: usize, share: Option<Ridge>| {
            let job = jobs.iter().find(|job| job.fold == place);
            // Nobody asks for those of a fold without a job.
            let job = job.ok_or_else(|| Error::data("a fold has nothing to select from"))?;
            let mut plan = job.plan.clone();
            if let Some(share) = share {
                plan.options.teacher_lambda = Some(Lambdas::Given(vec![share]));
            }
            let Part { candidates, data } = self.folds[place].part();
            Labels::new(candidates, data, &plan)
        };
        let first = of(0, None);
        let teacher = first.as_ref().ok().and_then(|labels| labels.teacher);
        let unit = self.folds[0].candidates.unit();
        let share = teacher.and_then(|teacher| Lambda::new(teacher.lambda?.value() / unit).ok());
        let share = share.map(Ridge::Share);
        let others = (1..self.folds.len()).into_par_iter().with_max_len(1);
        let others = others.map(|place| of(place, share));
        let others: Vec<_> = others.collect();
        iter::once(first).chain(others).collect()
    }

    /// The values of the queries that each job has left out, in order. As many tasks as fit into memory take one job
    /// after the other.
    fn all_values(&self, trial: &Trial, jobs: &[&Job]) -> Result<Vec<Result<Values>>> {
        let sizes = jobs.iter().map(|job| job.plan.memory).collect();
        let at_once = side_by_side(self.held(), sizes, rayon::current_num_threads());
        let next = AtomicUsize::new(0);
        let work = |_: usize| {
            let mut done = Vec::new();
            loop {
                let place = next.fetch_add(1, Ordering::Relaxed);
                let Some(job) = jobs.get(place) else {
                    return done;
                };
                done.push((place, self.values(trial, job)));
            }
        };
        let workers = (0..at_once).into_par_iter().with_max_len(1);
        let mut values: Vec<_> = workers.flat_map_iter(work).collect();
        stop::check()?;
        if self.stopped.load(Ordering::Relaxed) {
            return Err(Error::stopped());
        }
        values.sort_by_key(|(place, _)| *place);
        Ok(values.into_iter().map(|(_, values)| values).collect())
    }

    /// The values of the queries that a job has left out, by the model of its last step.
    fn values(&self, trial: &Trial, job: &Job) -> Result<Values> {
        let fold = &self.folds[job.fold];
        let labels = trial.labels[job.fold].as_ref().map_err(Error::clone)?;
        let Part { candidates, data } = fold.part();
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

    /// Tells who watches, and says whether to stop. A closure that panicked is not called again.
    pub(super) fn tell(&self, event: ChoiceEvent<'_>) -> bool {
        let each = self.each.lock();
        each.is_ok_and(|mut each| each(event).is_break())
    }
}

fn cannot_choose(error: Error) -> Error {
    let remedy = Remedy::GiveLambda;
    error.within(format_args!("cannot choose lambda by folds: {remedy}: "))
}
