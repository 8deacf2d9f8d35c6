//! The whole job of a selection.

use super::{
    Each, GreedyRankRls, Labels, OwnStrategy, Selecting, Selection, Step, Target, plan_with,
};
use crate::candidates::Candidates;
use crate::data::Dataset;
use crate::error::Result;

/// Selects features of `dataset`.
pub fn select(
    dataset: &Dataset<'_>,
    options: &GreedyRankRls,
    each: &mut Each<'_>,
) -> Result<Selection> {
    let candidates = options.candidates(dataset);
    select_among(&candidates, dataset, options, &[], each)
}

/// Selects among candidates that have been found before. Queries weigh what they weigh in the candidates,
/// and columns are scaled as there, whatever the options say.
///
/// Takes the `given` steps of an earlier run again, without a search, and selects the rest. Ends with the
/// features, errors and weights, to the last bit, of a selection that was never interrupted.
pub fn select_among<'a>(
    candidates: &'a Candidates,
    target: impl Into<Target<'a>>,
    options: &GreedyRankRls,
    given: &[Step],
    each: &mut Each<'_>,
) -> Result<Selection> {
    select_with(candidates, target.into(), options, None, given, each)
}

/// Selects as [`select_among`], by a strategy of the caller's `own` where there is one.
pub(crate) fn select_with(
    candidates: &Candidates,
    target: Target<'_>,
    options: &GreedyRankRls,
    own: Option<&OwnStrategy>,
    given: &[Step],
    each: &mut Each<'_>,
) -> Result<Selection> {
    let plan = plan_with(candidates, target, options, own)?;
    plan.options.lambda_of(candidates)?;
    plan.log();
    // A step has many short parallel parts: each would otherwise wake another thread to start and this
    // one when it ends.
    rayon::scope(|_| {
        let labels = Labels::new(candidates, target, &plan)?;
        let raw = target.labels;
        let mut work = Selecting::begin(candidates, raw, &labels, &plan, given)?;
        work.run(each)?;
        Ok(work.selection())
    })
}
