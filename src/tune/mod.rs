//! Chooses lambda and k together, by the predictions of the models of many selections.
//!
//! A selection of `k` features passes through the models of 1, 2, ..., `k` features. So a grid of lambdas costs one
//! selection each, and gives a table of models, lambda by number of features, whose rows are single selections.
//! Every model is judged
//!
//! from the predictions of some [`HoldOut`]: by the models that leave a query out, which each step has anyway, for
//! validation data, or by cross-validation over queries,
//! - by a [`Measure`](crate::metrics::Measure), which is a mean over queries and has a standard error,
//!
//! and a [`Rule`] chooses one of them. `docs/choosing.md` says how.
//!
//! ```
//! use rankrls::data::sample;
//! use rankrls::tune::{Rule, Tune};
//! use rankrls::{Lambdas, GreedyRankRls};
//!
//! let lambdas: Lambdas = "1,4,16,64".parse()?;
//! let options = Tune {
//!     rule: Rule::OneSe,
//!     ..Tune::new(GreedyRankRls::new(20, None), lambdas)
//! };
//! let (model, _) = options.fit(&sample::train())?;
//! println!("lambda {}, {} features", model.lambda, model.features.len());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! [`Tune::fit`] is the short way. [`Tuning`] also judges by validation data, watches the selections, and continues
//! an earlier run.
//!
//! # What lambdas share
//!
//! The data and their column classes are the same for every lambda, and found once. In a first step only products
//! of columns with labels, one pass over the non-zeros, are without lambda. Lambdas do not share them: the whole
//! first step, with all before it, is less than 2% of a path of 100 features.
//!
//! # Memory and threads
//!
//! As many selections work at once as fit into the memory, at most one a thread. All share the threads of the
//! current rayon pool. Their number changes no bit of the results.

mod choice;
mod folds;
mod grid;
mod meter;
mod options;
mod outcome;
mod path;
mod rule;
mod run;
mod search;
mod stability;
mod trials;

pub use choice::{affordable, choose, choose_among};
pub use options::Tune;
pub use outcome::{EachEvent, Outcome, PathEnding, PathSteps, Point, TuneEvent, unwatched_events};
pub use rule::Rule;
pub use search::Axes;
pub use stability::{Frequency, Stability};
pub use trials::{ChoiceEvent, EachTrial, unwatched_trials};

use crate::columns::ColumnClasses;
use crate::data::{Dataset, HoldOut};
use crate::error::{Error, Kind, Result};
use crate::greedy::{GreedyRankRls, Own, Selection, check_several};
use crate::lambda::{Lambda, Lambdas};
use rankrls_files::Parameter;

/// The choice to make: the model of a grid that predicts `dataset` best.
///
/// ```
/// use rankrls::data::sample;
/// use rankrls::tune::{Tune, Tuning, unwatched_events};
/// use rankrls::{Lambda, GreedyRankRls};
///
/// let data = sample::train();
/// let options = Tune::new(GreedyRankRls::new(5, None), &[Lambda::new(1.0)?]);
/// let candidates = options.selection.candidates(&data)?;
/// let tuning = Tuning {
///     candidates: Some(&candidates),
///     ..Tuning::new(&data, &options)
/// };
/// let tuned = tuning.run(&mut unwatched_events)?;
/// // Leave-query-out predictions, which also chose the features, promise too much.
/// let judged = tuning.judge_by_folds(&tuned, &mut unwatched_events)?.expect("three queries");
/// let (promised, likely) = (tuned.point().score.mean, judged.points.last().unwrap().score.mean);
/// assert!(promised < likely);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy)]
pub struct Tuning<'a> {
    /// The training data.
    pub dataset: &'a Dataset<'a>,
    /// The selections to make, and the judgement of their models.
    pub options: &'a Tune,
    /// The data that judge models, under [`HoldOut::Data`].
    pub validation: Option<&'a Dataset<'a>>,
    /// The earlier result of [`GreedyRankRls::candidates`], of one rank; `None`: it is computed again.
    pub candidates: Option<&'a ColumnClasses>,
    /// The strategy of all selections, if it is not in the library.
    pub own: Option<&'a Own<'a>>,
    /// Selections of an earlier run. Their steps are taken again without a search. To the last bit, the result is
    /// as if the run had never been interrupted.
    pub given: &'a [PathSteps],
}

impl<'a> Tuning<'a> {
    /// A choice from the start.
    pub fn new(dataset: &'a Dataset<'a>, options: &'a Tune) -> Self {
        Self {
            dataset,
            options,
            validation: None,
            candidates: None,
            own: None,
            given: &[],
        }
    }

    /// The data whose labels judge the models.
    fn judged(&self) -> Result<&'a Dataset<'a>> {
        let holdout = &self.options.holdout;
        if !matches!(holdout, HoldOut::Data { .. }) {
            return Ok(self.dataset);
        }
        let described = |data: &&Dataset<'_>| HoldOut::of(data) == *holdout;
        let validation = self.validation.filter(described);
        validation.ok_or_else(|| {
            let text = "these are not the validation data of the tuning";
            Error::options(text)
        })
    }

    /// Follows the path of every lambda with every strategy and scale of labels, and chooses a model. `each` sees
    /// the news of the grid.
    pub fn run(&self, each: &mut EachEvent<'_>) -> Result<Tuned> {
        let (outcomes, interrupted) = self.outcomes(each)?;
        self.choice(outcomes, interrupted)
            .map_err(|outcomes| self.nothing_chosen(&outcomes, interrupted))
    }

    /// The choice among `outcomes`, which come back if there is none.
    fn choice(&self, outcomes: Vec<Outcome>, interrupted: bool) -> Result<Tuned, Vec<Outcome>> {
        match self.options.choose(&outcomes) {
            Some((position, k)) => Ok(Tuned {
                outcomes,
                position,
                k,
                interrupted,
            }),
            None => Err(outcomes),
        }
    }

    /// The path to the chosen model as folds judge it, whatever the evidence of the choice. Takes a selection for
    /// each of five folds, or of one a query; the path itself is not searched again. `None` for fewer than three
    /// queries, as selection without a fold needs two.
    pub fn judge_by_folds(
        &self,
        tuned: &Tuned,
        each: &mut EachEvent<'_>,
    ) -> Result<Option<Outcome>> {
        let (chosen, k, asked) = (tuned.chosen(), tuned.k, &self.options.selection);
        let (strategy, lambda) = (chosen.options.strategy, tuned.lambda());
        let queries = self.dataset.queries();
        check_several(queries)?;
        let Some(holdout) = HoldOut::few_folds(queries.len(), asked.seed()) else {
            return Ok(None);
        };
        let options = Tune {
            holdout,
            rule: Rule::Best,
            lambdas: Lambdas::of(&[lambda]),
            selection: GreedyRankRls {
                strategy,
                k,
                label_scale: Some(chosen.labels()),
                scale: chosen.options.scale,
                ..asked.clone()
            },
            strategies: Vec::new(),
            labels: Vec::new(),
            ..self.options.clone()
        };
        let steps = chosen.points[..k].iter().map(|point| point.step.clone());
        let path = PathSteps {
            lambda,
            strategy,
            labels: chosen.labels(),
            fold: None,
            steps: steps.collect(),
        };
        let again = Tuning {
            options: &options,
            given: std::slice::from_ref(&path),
            ..*self
        };
        let (paths, _) = again.outcomes(each)?;
        paths.into_iter().next().ok_or_else(stopped).map(Some)
    }

    /// The outcome of every path, and whether somebody ended them early.
    fn outcomes(&self, each: &mut EachEvent<'_>) -> Result<(Vec<Outcome>, bool)> {
        self.options.check()?;
        let Some(candidates) = self.candidates else {
            let candidates = self.options.selection.candidates(self.dataset)?;
            return grid::outcomes(self, &candidates, each);
        };
        grid::outcomes(self, candidates, each)
    }

    fn nothing_chosen(&self, outcomes: &[Outcome], interrupted: bool) -> Error {
        let least = self.options.selection.included().len().max(1);
        if outcomes.iter().any(|outcome| outcome.points.len() >= least) {
            let measure = self.options.measure;
            return Error::data(format!(
                "{measure} is undefined in every query that judges, so there is nothing to choose \
                 by: take another measure, such as squared ({})",
                Parameter::ChooseBy
            ));
        }
        let Some(first) = outcomes.first().filter(|_| !interrupted) else {
            return stopped();
        };
        let reason = match &first.ending {
            PathEnding::Refused { reason } => reason,
            _ => "it has no step",
        };
        let (lambda, kind) = (first.lambda, first.error.as_ref().map(Error::kind));
        let text = format!("no lambda gives a model; lambda {lambda}: {reason}");
        Error::new(kind.unwrap_or(Kind::Numbers), text)
    }
}

/// The error of a grid that was stopped before any step was judged.
fn stopped() -> Error {
    let text = "interrupted before there was anything to choose from";
    Error::new(Kind::Stopped, text)
}

/// The models of a grid of lambdas, and the chosen one.
#[derive(Debug, Clone, PartialEq)]
pub struct Tuned {
    /// The outcome of each lambda, ascending.
    pub outcomes: Vec<Outcome>,
    /// The position among them of the path with the chosen model.
    pub position: usize,
    /// Number of features of the chosen model, from 1 on.
    pub k: usize,
    /// Whether it was stopped: the choice is among the models so far.
    pub interrupted: bool,
}

impl Tuned {
    /// The path with the chosen model.
    ///
    /// # Panics
    /// If `position` or `k` was replaced by a number out of range.
    pub fn chosen(&self) -> &Outcome {
        &self.outcomes[self.position]
    }

    /// The chosen model.
    ///
    /// # Panics
    /// As [`chosen`](Self::chosen).
    pub fn point(&self) -> &Point {
        &self.chosen().points[self.k - 1]
    }

    /// The chosen lambda.
    ///
    /// # Panics
    /// As [`chosen`](Self::chosen).
    pub fn lambda(&self) -> Lambda {
        self.chosen().lambda
    }

    /// The selection that ends with the chosen model: see [`Outcome::selection`].
    ///
    /// # Panics
    /// As [`chosen`](Self::chosen).
    pub fn selection(&self) -> Selection {
        let selection = self.chosen().selection(self.k);
        selection.expect("a rule chooses among models that there are")
    }
}
