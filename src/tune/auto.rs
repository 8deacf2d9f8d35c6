//! The default of lambda of a selection is decided here, for the command, for Rust and for Python.
//!
//! [`choose_lambda`] asks `GreedyRankRls::known_lambda`: what was given, or for the strategy `distil`
//! 1/16 of the unit, or 1/64. For all other strategies folds choose: [`Tune::quick`] has
//! their number, [`Lambdas::Auto`](crate::Lambdas::Auto) the ridge parameters.

use rankrls_files::Remedy;

use super::folds::groups;
use super::{Evidence, Tune, TuneObserver, Tuned, Tuning, stopped};
use crate::candidates::Candidates;
use crate::data::Dataset;
use crate::error::{Error, Kind, Result};
use crate::greedy::{GreedyRankRls, Own, plan_with};
use crate::lambda::Lambda;

/// How folds chose a ridge parameter.
#[derive(Debug, Clone, PartialEq)]
pub struct AutoLambda {
    /// The options tried, and how they were judged.
    pub options: Tune,
    /// The outcome of each ridge parameter.
    pub tuned: Tuned,
}

/// The ridge parameter of a selection by `options`, in the unit of `candidates`, and how it was chosen if folds had
/// to choose it.
///
/// A number is taken as it is. A share is taken of the [unit](Candidates::unit) of `candidates`. Auto is 1/16 of the
/// unit for the strategy `distil`, and 1/64 from 500 queries on; for all others three folds choose it
/// ([`Tune::quick`]), watched by `observer`.
///
/// ```
/// use rankrls::data::sample;
/// use rankrls::tune::choose_lambda;
/// use rankrls::GreedyRankRls;
/// use rankrls::greedy::job::{select, unwatched};
///
/// let data = sample::train();
/// let options = GreedyRankRls::new(5, None);
/// let candidates = options.candidates(&data);
/// let (lambda, auto) = choose_lambda(&options, &candidates, &data, &mut ())?;
/// assert_eq!(lambda, auto.expect("folds chose").tuned.lambda());
/// let selection = select(&data, &GreedyRankRls::new(5, lambda), &mut unwatched)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn choose_lambda(
    options: &GreedyRankRls,
    candidates: &Candidates,
    dataset: &Dataset<'_>,
    observer: &mut dyn TuneObserver,
) -> Result<(Lambda, Option<AutoLambda>)> {
    choose_lambda_with(options, None, candidates, dataset, observer)
}

/// Chooses as [`choose_lambda`], for a strategy of the caller's `own` where there is one.
pub(crate) fn choose_lambda_with(
    options: &GreedyRankRls,
    own: Option<&Own<'_>>,
    candidates: &Candidates,
    dataset: &Dataset<'_>,
    observer: &mut dyn TuneObserver,
) -> Result<(Lambda, Option<AutoLambda>)> {
    if let Some(lambda) = options.known_lambda(candidates) {
        return Ok((lambda, None));
    }
    let quick = Tune::quick(options.clone());
    let no_lambda = |error: Error| {
        let remedy = Remedy::GiveLambda;
        error.within(format_args!("cannot choose lambda by folds: {remedy}: "))
    };
    let queries = dataset.queries().len();
    if let Evidence::Folds { count, seed } = quick.evidence
        && queries > 1
    {
        groups(queries, count, seed).map_err(no_lambda)?;
    }
    let tuning = Tuning {
        candidates: Some(candidates),
        own,
        ..Tuning::new(dataset, &quick)
    };
    let (outcomes, interrupted) = tuning.outcomes(observer)?;
    if interrupted {
        return Err(stopped());
    }
    let Some(choice) = quick.choose(&outcomes) else {
        let error = tuning.nothing_chosen(&outcomes, interrupted);
        // An error that stops every lambda mostly stops the selection, which says so in its words.
        let first = outcomes.iter().find(|outcome| outcome.points.is_empty());
        if let Some(first) = first.filter(|_| error.kind() == Kind::Numbers) {
            let selection = GreedyRankRls {
                lambda: first.lambda.into(),
                ..options.clone()
            };
            plan_with(candidates, dataset, &selection, own)?;
            first.error.clone().map_or(Ok(()), Err)?;
        }
        return Err(no_lambda(error));
    };
    let tuned = Tuned {
        outcomes,
        choice,
        interrupted,
    };
    let lambda = tuned.lambda();
    let auto = AutoLambda {
        options: quick,
        tuned,
    };
    Ok((lambda, Some(auto)))
}
