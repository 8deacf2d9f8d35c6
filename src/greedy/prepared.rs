//! The work before the first step that depends on data and strategy, and on no ridge parameter of the
//! selection.

use std::sync::Arc;
use std::time::{Duration, Instant};

use super::{Plan, SelectError, SelectionOptions, StrategyKind, Target, TeacherPredictions};
use crate::candidates::Candidates;

/// The findings before the first step.
#[derive(Debug, Clone, Default)]
pub(crate) struct Prepared {
    /// The predictions of a teacher, where the plan has one.
    pub(super) teacher: Option<TeacherPredictions>,
    /// An error of each candidate by the data themselves, where the strategy takes candidates in this order.
    pub(super) scores: Option<Arc<[f64]>>,
}

impl Prepared {
    /// Prepares the selection that `plan` has made of `options`. Takes the predictions that an earlier run has
    /// `kept` where they fit; `tell` hears of others, and how long they took.
    pub(crate) fn new(
        candidates: &Candidates,
        target: Target<'_>,
        plan: &Plan,
        options: &SelectionOptions,
        kept: Option<&TeacherPredictions>,
        tell: impl FnOnce(&TeacherPredictions, Duration),
    ) -> Result<Self, SelectError> {
        let begin = Instant::now();
        let teacher = match kept.filter(|kept| kept.fits(target.labels, plan)) {
            Some(kept) => Some(kept.clone()),
            None => TeacherPredictions::new(candidates, target, plan, options)?
                .inspect(|found| tell(found, begin.elapsed())),
        };
        let mut scores = None;
        if plan.strategy.kind().is_some_and(StrategyKind::needs_grades) {
            let classes = candidates.classes();
            scores = Some(target.filter(classes)?.errors(classes));
        }
        Ok(Self { teacher, scores })
    }
}
