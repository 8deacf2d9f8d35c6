//! Refusals of numbers beyond computation, and of options without effect.

use rankrls_files::{Parameter, Remedy};

use crate::columns::{ColumnClasses, check_lambda};
use crate::error::{Error, Result};
use crate::greedy::{StrategyKind, WeightTarget};
use crate::lambda::Lambda;

/// Parameters that may have no effect.
#[derive(Debug, Clone, Copy)]
pub(super) enum Idle {
    Blend,
    WeightLambda,
    Teacher,
    ChooseBy,
    Validation,
    Strategy,
}

/// The refusal of a parameter that no tried strategy uses. It names the settings that use it.
pub(super) fn no_effect(parameter: Idle) -> Error {
    let distil = Remedy::Set(Parameter::Strategy, StrategyKind::Distil.name());
    let cross_fitted = Remedy::Set(Parameter::Refit, WeightTarget::CrossFitted.name());
    let fs_ed = Remedy::Set(Parameter::Strategy, StrategyKind::FsEd.name());
    Error::options(match parameter {
        Idle::Blend => format!("blend goes with {distil}"),
        Idle::WeightLambda => format!("weight_lambda goes with {cross_fitted} or {distil}"),
        Idle::Teacher => {
            format!("there is nothing to teach: a teacher goes with {distil} or {cross_fitted}")
        }
        Idle::ChooseBy => "--choose-by has nothing to choose: --lambda is given".to_owned(),
        Idle::Validation => format!("{} goes with {fs_ed}", Parameter::Validation),
        Idle::Strategy => format!("{} has no effect", Parameter::Strategy),
    })
}

/// Refuses columns whose products overflow or vanish, and a lambda that vanishes beside them.
pub(super) fn check_values(candidates: &ColumnClasses, lambda: Lambda) -> Result<()> {
    candidates.check_range()?;
    check_lambda(lambda, candidates.largest_squared_norm())
}
