//! The default of lambda of a selection is decided here, for the command, for Rust and for Python.
//!
//! [`choose_lambda`] asks `SelectionOptions::known_lambda`: what was given, or for the strategy `distil`
//! [`TargetOptions::distil_lambda`]. For all other strategies folds choose: [`TuneOptions::quick`] has
//! their number, [`Lambdas::Auto`](crate::Lambdas::Auto) the ridge parameters.
//!
//! [`TargetOptions::distil_lambda`]: crate::greedy::TargetOptions::distil_lambda

use super::{TuneError, TuneObserver, TuneOptions, Tuned, Tuning};
use crate::candidates::Candidates;
use crate::data::Dataset;
use crate::greedy::{Earlier, OwnStrategy, SelectionOptions, select_with};
use crate::lambda::Lambda;

/// How folds chose a ridge parameter.
#[derive(Debug, Clone, PartialEq)]
pub struct AutoLambda {
    /// The options tried, and how they were judged.
    pub options: TuneOptions,
    /// The outcome of each ridge parameter.
    pub tuned: Tuned,
}

/// The ridge parameter of a selection by `options`, in the unit of `candidates`, and how it was chosen if folds had
/// to choose it.
///
/// A number is taken as it is. A share is taken of the [unit](Candidates::unit) of `candidates`. Auto is
/// [`TargetOptions::distil_lambda`](crate::greedy::TargetOptions::distil_lambda) for the strategy `distil`; for all
/// others three folds choose it ([`TuneOptions::quick`]), watched by `observer`.
///
/// ```
/// use rankrls::data::sample;
/// use rankrls::tune::choose_lambda;
/// use rankrls::SelectionOptions;
/// use rankrls::greedy::job::select;
///
/// let data = sample::train();
/// let options = SelectionOptions::new(5, None);
/// let candidates = options.candidates(&data);
/// let (lambda, auto) = choose_lambda(&options, &candidates, &data, &mut ())?;
/// assert_eq!(lambda, auto.expect("folds chose").tuned.lambda());
/// let selection = select(&data, &SelectionOptions::new(5, lambda), &mut ())?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn choose_lambda(
    options: &SelectionOptions,
    candidates: &Candidates,
    dataset: &Dataset<'_>,
    observer: &mut dyn TuneObserver,
) -> Result<(Lambda, Option<AutoLambda>), TuneError> {
    choose_lambda_with(options, None, candidates, dataset, observer)
}

/// Chooses as [`choose_lambda`], for a strategy of the caller's `own` where there is one.
pub(crate) fn choose_lambda_with(
    options: &SelectionOptions,
    own: Option<&OwnStrategy>,
    candidates: &Candidates,
    dataset: &Dataset<'_>,
    observer: &mut dyn TuneObserver,
) -> Result<(Lambda, Option<AutoLambda>), TuneError> {
    if let Some(lambda) = options.known_lambda(options.strategy, candidates) {
        return Ok((lambda, None));
    }
    let quick = TuneOptions::quick(options.clone());
    let tuning = Tuning {
        candidates: Some(candidates),
        own,
        ..Tuning::new(dataset, &quick)
    };
    match tuning.run(observer) {
        Ok(tuned) if tuned.interrupted => Err(TuneError::Interrupted),
        Ok(tuned) => {
            let lambda = tuned.lambda();
            let auto = AutoLambda {
                options: quick,
                tuned,
            };
            Ok((lambda, Some(auto)))
        }
        // An error that stops every selection says so in its own words.
        Err(error @ (TuneError::Interrupted | TuneError::Select(_))) => Err(error),
        Err(error) => {
            // An error that stops every lambda mostly stops the selection, which says so in its words.
            if let TuneError::NoModel { lambda, .. } = error {
                let first = SelectionOptions {
                    lambda: lambda.into(),
                    ..options.clone()
                };
                let (target, nothing) = (dataset.into(), Earlier::default());
                select_with(candidates, target, &first, own, nothing, &mut ())?;
            }
            Err(TuneError::NoLambda(Box::new(error)))
        }
    }
}
