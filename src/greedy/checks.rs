//! Refusals of numbers that a selection cannot compute with, and of options for nothing.

use rankrls_files::{Parameter, Remedy};

use crate::candidates::Candidates;
use crate::columns::check_lambda;
use crate::error::{Error, Result};
use crate::greedy::{Refit, StrategyKind};
use crate::lambda::Lambda;

/// The refusal of a parameter that no strategy to be tried heeds: with the settings that it goes with.
pub(super) fn no_effect(parameter: Parameter) -> Error {
    let distil = Remedy::Set(Parameter::Strategy, StrategyKind::Distil.name());
    let cross_fitted = Remedy::Set(Parameter::Refit, Refit::CrossFitted.name());
    let fs_ed = Remedy::Set(Parameter::Strategy, StrategyKind::FsEd.name());
    Error::options(match parameter {
        Parameter::Teacher | Parameter::TeacherLambda => {
            format!("there is nothing to teach: a teacher goes with {distil} or {cross_fitted}")
        }
        Parameter::RefitLambda => format!(
            "{parameter} is of cross-fitted weights: it goes with {cross_fitted} or {distil}"
        ),
        Parameter::ChooseBy => {
            format!("{parameter} has nothing to choose: lambda is given")
        }
        Parameter::Validation => format!("{parameter} goes with {fs_ed}"),
        Parameter::Blend => format!("{parameter} goes with {distil}"),
        _ => format!("{parameter} has no effect"),
    })
}

/// Refuses columns whose products overflow or vanish, and a lambda that vanishes beside them.
pub(super) fn check_values(candidates: &Candidates, lambda: Lambda) -> Result<()> {
    let classes = candidates.classes();
    classes.check_range(candidates.peers())?;
    check_lambda(lambda, classes.largest_squared_norm())
}
