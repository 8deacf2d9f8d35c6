//! Choice of lambda and k together, by what the models of many selections predict.
//!
//! A selection of `k` features passes through the models of 1, 2, ..., `k` features. So a grid
//! of lambdas costs one selection each, and gives a table of models, lambda by number of
//! features, whose rows are those of [`select()`](crate::greedy::select()). Every model is judged
//!
//! - from the predictions of some [`Evidence`]: those of the models that leave a query out, which
//!   each step has anyway, those for validation data, or those of cross-validation over queries,
//! - by a [`Measure`], which is a mean over queries and has a standard error,
//!
//! and a [`Rule`] chooses one of them. `docs/tuning.md` has the formulas.
//!
//! ```
//! use rankrls::Lambda;
//! use rankrls::data::sample;
//! use rankrls::tune::{Options, Rule, tune};
//!
//! let lambdas = [1.0, 4.0, 16.0, 64.0].map(|lambda| Lambda::new(lambda).expect("above 0"));
//! let options = Options::new(20, &lambdas).rule(Rule::OneSe);
//! let tuned = tune(&sample::train(), &options, &mut ())?;
//! let chosen = tuned.selection();
//! println!("lambda {}, {} features", chosen.lambda, chosen.steps.len());
//! # Ok::<(), rankrls::tune::TuneError>(())
//! ```
//!
//! # What lambdas share
//!
//! The data and their column classes are the same for every lambda, and found once. Of a first
//! step only products of columns with labels, one pass over the non-zeros, are without lambda. They
//! are not shared: the whole first step, with all that goes before it, is less than 2% of a path
//! of 100 features (`docs/tuning.md`).
//!
//! # Memory and threads
//!
//! As many selections are at work at once as fit into the memory allowed, at most one a thread.
//! All share the threads of the current rayon pool. Results are the same to the last bit however
//! many there are.

mod error;
mod evidence;
#[cfg(feature = "plot")]
mod figure;
mod fold;
mod measure;
mod meter;
mod observer;
mod options;
mod outcome;
mod path;
mod plan;
mod recorded;
mod rule;
mod run;
mod score;

pub use error::TuneError;
pub use evidence::Evidence;
#[cfg(feature = "plot")]
pub use figure::figure;
pub use fold::fold_queries;
pub use measure::{Measure, UnknownMeasure};
pub use observer::{Grid, GridStep, Observer};
pub use options::Options;
pub use outcome::{Ending, Outcome, Point};
pub use recorded::RecordedPath;
pub use rule::{Choice, Curve, Rule};
pub use score::Score;

use std::sync::atomic::AtomicBool;
use std::sync::{Mutex, OnceLock};

use crate::columns::ColumnClasses;
use crate::data::Dataset;
use crate::greedy::Selection;
use crate::metrics::Context;
use fold::Fold;
use meter::Meter;
use plan::{Job, Planner, results_memory};
use run::Run;

/// The models of a grid of lambdas, and the chosen one.
#[derive(Debug, Clone, PartialEq)]
pub struct Tuned {
    /// What became of each lambda, ascending.
    pub outcomes: Vec<Outcome>,
    /// The model that the rule chose.
    pub choice: Choice,
    /// Whether the observer stopped it: the choice is among what there was.
    pub interrupted: bool,
}

impl Tuned {
    /// The path that the chosen model is on.
    ///
    /// # Panics
    /// When `choice` was replaced by a model that there is not; so do the others.
    pub fn chosen(&self) -> &Outcome {
        &self.outcomes[self.choice.position]
    }

    /// The chosen model.
    ///
    /// # Panics
    /// As [`chosen`](Self::chosen).
    pub fn point(&self) -> &Point {
        &self.chosen().points[self.choice.k - 1]
    }

    /// The selection that ends with the chosen model: see [`Outcome::selection`].
    ///
    /// # Panics
    /// As [`chosen`](Self::chosen).
    pub fn selection(&self) -> Selection {
        let selection = self.chosen().selection(self.choice.k);
        selection.expect("a rule chooses among models that there are")
    }
}

/// Follows the path of every lambda and chooses a model.
///
/// # Errors
/// [`TuneError`] when nothing can be selected, or nothing chosen. A lambda that takes too much
/// memory or overflows is no error: its [`Ending`] says so.
pub fn tune(
    dataset: &Dataset<'_>,
    options: &Options<'_>,
    observer: &mut dyn Observer,
) -> Result<Tuned, TuneError> {
    let held = match options.evidence {
        Evidence::Validation(validation) => dataset.memory() + validation.memory(),
        _ => dataset.memory(),
    };
    let candidates = options.candidates(dataset);
    tune_among(&candidates, dataset, held, options, observer)
}

/// The same among candidates that [`Options::candidates`] found before. `held` bytes are in use
/// besides the candidates and count towards the limit.
///
/// # Errors
/// As [`tune`].
pub fn tune_among(
    candidates: &ColumnClasses,
    dataset: &Dataset<'_>,
    held: u64,
    options: &Options<'_>,
    observer: &mut dyn Observer,
) -> Result<Tuned, TuneError> {
    resume_among(candidates, dataset, held, options, &[], observer)
}

/// Goes on where an earlier run ended that has `taken` these steps: takes them again without a
/// search, and finds the rest. Ends, to the last bit, as a run that was never interrupted.
///
/// # Errors
/// As [`tune`]; [`TuneError::Replay`] when steps do not lead here to the errors that they led to.
pub fn resume_among(
    candidates: &ColumnClasses,
    dataset: &Dataset<'_>,
    held: u64,
    options: &Options<'_>,
    taken: &[RecordedPath],
    observer: &mut dyn Observer,
) -> Result<Tuned, TuneError> {
    options.check()?;
    let folds = folds(dataset, options)?;
    let judged = match options.evidence {
        Evidence::Validation(validation) => validation,
        _ => dataset,
    };
    let context = Context::of(judged.labels());
    let meter = |data| Meter::of(data, context, options);
    let meters: Vec<Meter<'_>> = match &folds[..] {
        [] => vec![meter(judged)],
        folds => folds.iter().map(|fold| meter(&fold.test)).collect(),
    };
    let side_by_side = options.rule.settling(options.measure).is_some();
    let steps = options.features().min(candidates.len());
    let queries = judged.queries().len();
    let results = results_memory(steps, queries, options, !folds.is_empty());
    let results = results.saturating_mul(options.lambdas().len() as u64);
    let planner = Planner {
        candidates,
        labels: dataset.labels(),
        folds: &folds,
        options,
        taken,
        side_by_side,
        held: folds
            .iter()
            .map(Fold::memory)
            .fold(held + candidates.memory(), u64::saturating_add)
            .saturating_add(results),
    };
    let (jobs, refused) = planner.jobs()?;
    let concurrent = planner.concurrent(&jobs);
    for job in &jobs {
        observer.planned(job.options.lambda, job.plan.strategy);
    }
    observer.started(&grid(&jobs, concurrent));
    let run = Run {
        candidates,
        labels: dataset.labels(),
        options,
        folds: &folds,
        meters: &meters,
        taken,
        side_by_side,
        queries,
        observer: Mutex::new(observer),
        stopped: AtomicBool::new(false),
        failure: OnceLock::new(),
    };
    let mut outcomes = run.all(&jobs, concurrent);
    if let Some(error) = run.failure.into_inner() {
        return Err(error);
    }
    outcomes.extend(refused);
    outcomes.sort_by(|a, b| a.lambda.value().total_cmp(&b.lambda.value()));
    choose(outcomes, options)
}

fn folds(dataset: &Dataset<'_>, options: &Options<'_>) -> Result<Vec<Fold>, TuneError> {
    let Evidence::Folds { count, seed } = options.evidence else {
        return Ok(Vec::new());
    };
    let parts = fold_queries(dataset.queries().len(), count, seed)?;
    let fold = |queries| Fold::new(dataset, queries, options);
    parts.into_iter().map(fold).collect()
}

fn grid(jobs: &[Job], concurrent: usize) -> Grid {
    let steps = |job: &Job| {
        let folds = job
            .folds
            .iter()
            .flatten()
            .map(|plan| plan.steps.min(job.plan.steps));
        job.plan.steps + folds.sum::<usize>()
    };
    Grid {
        lambdas: jobs.len(),
        steps: jobs.iter().map(steps).sum(),
        concurrent,
    }
}

fn choose(outcomes: Vec<Outcome>, options: &Options<'_>) -> Result<Tuned, TuneError> {
    let curves: Vec<Curve> = outcomes.iter().map(Outcome::curve).collect();
    let interrupted = outcomes
        .iter()
        .any(|outcome| outcome.ending == Ending::Interrupted);
    let Some(choice) = options.rule.choose(options.measure, &curves) else {
        return Err(nothing_chosen(&outcomes, interrupted, options));
    };
    Ok(Tuned {
        outcomes,
        choice,
        interrupted,
    })
}

fn nothing_chosen(outcomes: &[Outcome], interrupted: bool, options: &Options<'_>) -> TuneError {
    if outcomes.iter().any(|outcome| !outcome.points.is_empty()) {
        let measure = options.measure;
        return TuneError::Undefined { measure };
    }
    if interrupted {
        return TuneError::Interrupted;
    }
    let first = &outcomes[0];
    let reason = match &first.ending {
        Ending::Refused { reason } => reason.clone(),
        _ => "the errors are no finite numbers: raise lambda or scale the data".to_owned(),
    };
    TuneError::NoModel {
        lambda: first.lambda,
        reason,
    }
}
