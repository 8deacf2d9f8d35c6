//! Choice of lambda and k together, by the predictions of the models of many selections.
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
//! use rankrls::data::sample;
//! use rankrls::tune::{Rule, TuneOptions, tune};
//! use rankrls::{Lambda, SelectionOptions};
//!
//! let lambdas = [1.0, 4.0, 16.0, 64.0].map(|lambda| Lambda::new(lambda).expect("above 0"));
//! let selection = SelectionOptions::new(20, Lambda::ONE);
//! let options = TuneOptions {
//!     rule: Rule::OneSe,
//!     ..TuneOptions::new(selection, &lambdas)
//! };
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
//! of 100 features.
//!
//! # Memory and threads
//!
//! As many selections are at work at once as fit into the memory allowed, at most one a thread.
//! All share the threads of the current rayon pool. Results are the same to the last bit however
//! many there are.

mod error;
mod options;
mod outcome;
mod path;
mod rule;
mod run;
mod score;

pub use crate::metrics::Score;
pub use error::TuneError;
pub use options::{Evidence, TuneOptions};
pub use outcome::{
    Earlier, Ending, Grid, GridStep, Observer, Outcome, Point, RecordedLesson, RecordedPath,
};
pub use path::fold_queries;
pub use rule::{Choice, Curve, Rule};
pub(crate) use run::{Outcomes, outcomes};
pub use score::{Measure, UnknownMeasure};

use crate::columns::ColumnClasses;
use crate::data::Dataset;
use crate::greedy::{Selection, SelectionOptions};
use crate::lambda::at_edge;
use crate::{Lambda, Lambdas};

/// The models of a grid of lambdas, and the chosen one.
#[derive(Debug, Clone, PartialEq)]
pub struct Tuned {
    /// What became of each lambda, ascending.
    pub outcomes: Vec<Outcome>,
    /// The model that the rule chose.
    pub choice: Choice,
    /// Whether the observer stopped it: the choice is among the models so far.
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

    /// Whether the chosen lambda is the least or the largest of several, so that another may do
    /// better.
    ///
    /// # Panics
    /// As [`chosen`](Self::chosen).
    pub fn is_at_edge(&self) -> bool {
        let tried: Vec<Lambda> = self.outcomes.iter().map(|outcome| outcome.lambda).collect();
        at_edge(&tried, self.chosen().lambda)
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
    options: &TuneOptions<'_>,
    observer: &mut dyn Observer,
) -> Result<Tuned, TuneError> {
    let held = match options.evidence {
        Evidence::Validation(validation) => dataset.memory() + validation.memory(),
        _ => dataset.memory(),
    };
    let candidates = options.candidates(dataset);
    tune_among(&candidates, dataset, held, options, observer)
}

/// The same among candidates that [`TuneOptions::candidates`] found before. `held` bytes are in use
/// besides the candidates and count towards the limit.
///
/// # Errors
/// As [`tune`].
pub fn tune_among(
    candidates: &ColumnClasses,
    dataset: &Dataset<'_>,
    held: u64,
    options: &TuneOptions<'_>,
    observer: &mut dyn Observer,
) -> Result<Tuned, TuneError> {
    let nothing = Earlier::default();
    resume_among(candidates, dataset, held, options, nothing, observer)
}

/// Goes on where an `earlier` run ended: takes its steps again without a search, and finds the rest.
/// Ends, to the last bit, as a run that was never interrupted.
///
/// # Errors
/// As [`tune`]; [`TuneError::Replay`] when steps do not lead here to the errors that they led to.
pub fn resume_among<'a>(
    candidates: &ColumnClasses,
    dataset: &Dataset<'_>,
    held: u64,
    options: &TuneOptions<'_>,
    earlier: impl Into<Earlier<'a>>,
    observer: &mut dyn Observer,
) -> Result<Tuned, TuneError> {
    let earlier = earlier.into();
    let all = outcomes(candidates, dataset, held, options, earlier, observer)?;
    choose(all, options)
}

/// The path to the chosen model as folds judge it, whatever the evidence of the choice: what
/// leave-query-out predictions, which features were chosen by, promise too much. Takes a selection
/// for each of [`Evidence::folds`]; the path itself is not searched again.
///
/// ```
/// use rankrls::data::sample;
/// use rankrls::tune::{TuneOptions, judge_by_folds, tune};
/// use rankrls::{Lambda, SelectionOptions};
///
/// let data = sample::train();
/// let options = TuneOptions::new(SelectionOptions::new(5, Lambda::ONE), &[Lambda::ONE]);
/// let tuned = tune(&data, &options, &mut ())?;
/// let candidates = options.candidates(&data);
/// let judged = judge_by_folds(&candidates, &data, data.memory(), &options, &tuned, &mut ())?;
/// let (promised, likely) = (tuned.point().score.mean, judged.points.last().unwrap().score.mean);
/// assert!(promised < likely);
/// # Ok::<(), rankrls::tune::TuneError>(())
/// ```
///
/// # Errors
/// As [`tune`]; [`TuneError::Folds`] for less than three queries; [`TuneError::Interrupted`] when it
/// ended before the first step.
pub fn judge_by_folds(
    candidates: &ColumnClasses,
    dataset: &Dataset<'_>,
    held: u64,
    options: &TuneOptions<'_>,
    tuned: &Tuned,
    observer: &mut dyn Observer,
) -> Result<Outcome, TuneError> {
    let (chosen, k, queries) = (tuned.chosen(), tuned.choice.k, dataset.queries().len());
    let evidence = Evidence::folds(queries, options.selection.seed);
    let again = TuneOptions {
        evidence: evidence.ok_or(TuneError::Folds { count: 2, queries })?,
        rule: Rule::Best,
        lambdas: Lambdas::of(&[chosen.lambda]),
        selection: SelectionOptions {
            k,
            strategy: chosen.strategy,
            ..options.selection
        },
        strategies: Vec::new(),
        ..options.clone()
    };
    let recorded = chosen.strategy.map(|strategy| RecordedPath {
        lambda: chosen.lambda,
        strategy,
        steps: chosen.points[..k]
            .iter()
            .map(|point| point.step.clone())
            .collect(),
        folds: Vec::new(),
    });
    let recorded: Vec<RecordedPath> = recorded.into_iter().collect();
    let earlier = Earlier::from(&recorded);
    let judged = outcomes(candidates, dataset, held, &again, earlier, observer)?;
    let path = judged.paths.into_iter().next();
    path.ok_or(TuneError::Interrupted)
}

fn choose(all: Outcomes, options: &TuneOptions<'_>) -> Result<Tuned, TuneError> {
    let Outcomes {
        paths: outcomes,
        interrupted,
    } = all;
    let curves: Vec<Curve> = outcomes.iter().map(Outcome::curve).collect();
    let Some(choice) = options.rule.choose(options.measure, &curves) else {
        return Err(nothing_chosen(&outcomes, interrupted, options));
    };
    Ok(Tuned {
        outcomes,
        choice,
        interrupted,
    })
}

fn nothing_chosen(outcomes: &[Outcome], interrupted: bool, options: &TuneOptions<'_>) -> TuneError {
    if outcomes.iter().any(|outcome| !outcome.points.is_empty()) {
        let measure = options.measure;
        return TuneError::Undefined { measure };
    }
    let Some(first) = outcomes.first().filter(|_| !interrupted) else {
        return TuneError::Interrupted;
    };
    let reason = match &first.ending {
        Ending::Refused { reason } => reason.clone(),
        _ => "the errors are no finite numbers: raise lambda or scale the data".to_owned(),
    };
    TuneError::NoModel {
        lambda: first.lambda,
        reason,
    }
}
