//! The default of lambda of a selection is decided here, for the command, for Rust and for Python.
//!
//! [`choose_lambda`] asks `GreedyRankRls::known_lambda`: what was given, or for the strategy `distil`
//! 1/16 of the unit, or 1/64. For all other strategies folds choose: [`Tune::quick`] has
//! their number, [`Lambdas::Auto`](crate::Lambdas::Auto) the ridge parameters.

use rankrls_files::Remedy;

use super::folds::groups;
use super::{Each, Tune, Tuned, Tuning, stopped};
use crate::candidates::Candidates;
use crate::data::{Dataset, HoldOut};
use crate::error::{Error, Kind, Result};
use crate::greedy::{GreedyRankRls, Own, plan_with};
use crate::lambda::Lambda;

/// The ridge parameter of a selection by `options`, in the unit of `candidates`, and how it was chosen if folds had
/// to choose it.
///
/// A number is taken as it is. A share is taken of the [unit](Candidates::unit) of `candidates`. Auto is 1/16 of the
/// unit for the strategy `distil`, and 1/64 from 500 queries on; for all others three folds choose it
/// ([`Tune::quick`]), and `each` sees their news. A strategy of the caller's `own` takes the place of that in the
/// options.
///
/// ```
/// use rankrls::data::sample;
/// use rankrls::tune::{self, choose_lambda};
/// use rankrls::GreedyRankRls;
/// use rankrls::greedy::job::{select, unwatched};
///
/// let data = sample::train();
/// let options = GreedyRankRls::new(5, None);
/// let candidates = options.candidates(&data)?;
/// let (lambda, auto) = choose_lambda(&options, None, &candidates, &data, &mut tune::unwatched)?;
/// assert_eq!(lambda, auto.expect("folds chose").lambda());
/// let selection = select(&data, &GreedyRankRls::new(5, lambda), &mut unwatched)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn choose_lambda(
    options: &GreedyRankRls,
    own: Option<&Own<'_>>,
    candidates: &Candidates,
    dataset: &Dataset<'_>,
    each: &mut Each<'_>,
) -> Result<(Lambda, Option<Tuned>)> {
    if let Some(lambda) = options.known_lambda(candidates) {
        return Ok((lambda, None));
    }
    let quick = Tune::quick(options.clone());
    let no_lambda = |error: Error| {
        let remedy = Remedy::GiveLambda;
        error.within(format_args!("cannot choose lambda by folds: {remedy}: "))
    };
    let queries = dataset.queries();
    if let HoldOut::Folds { count, seed } = quick.evidence
        && queries.len() > 1
    {
        groups(queries, count, seed).map_err(no_lambda)?;
    }
    let tuning = Tuning {
        candidates: Some(candidates),
        own,
        ..Tuning::new(dataset, &quick)
    };
    let tried = tuning.outcomes(each);
    let (outcomes, interrupted) = tried.map_err(|error| match error.kind() {
        Kind::Memory => no_lambda(error),
        _ => error,
    })?;
    if interrupted {
        return Err(stopped());
    }
    let outcomes = match tuning.choice(outcomes, interrupted) {
        Ok(tuned) => return Ok((tuned.lambda(), Some(tuned))),
        Err(outcomes) => outcomes,
    };
    let error = tuning.nothing_chosen(&outcomes, interrupted);
    // What ends every path mostly ends the selection, too, which would say so in these words.
    let no_model = outcomes.iter().all(|outcome| outcome.points.is_empty());
    if let Some(first) = outcomes.first().filter(|_| no_model) {
        let selection = GreedyRankRls {
            lambda: first.lambda.into(),
            ..options.clone()
        };
        plan_with(candidates, dataset, &selection, own)?;
        if let Some(own) = first.error.clone().filter(|_| first.ends_selection) {
            return Err(own);
        }
    }
    Err(no_lambda(error))
}
