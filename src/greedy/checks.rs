//! Refusals of numbers that a selection cannot compute with, and of options for nothing.

use rankrls_files::{Parameter, Remedy};

use crate::candidates::Candidates;
use crate::error::{Error, Result, ensure};
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
            format!(
                "{parameter} has nothing to choose: {} is given",
                Parameter::Lambda
            )
        }
        Parameter::Validation => format!("{parameter} goes with {fs_ed}"),
        Parameter::Blend => format!("{parameter} goes with {distil}"),
        _ => format!("{parameter} has no effect"),
    })
}

/// Largest sum of squares of a column, also in units of lambda: products of four values, and sums
/// of them, stay finite.
const LARGEST_SQUARES: f64 = 1e100;

/// Refuses columns whose products overflow or vanish, and a lambda that vanishes beside them.
pub(super) fn check_values(candidates: &Candidates, lambda: Lambda) -> Result<()> {
    let classes = candidates.classes();
    classes.check_range(candidates.peers(), LARGEST_SQUARES)?;
    let (squares, lambda) = (classes.largest_squared_norm(), lambda.value());
    ensure!(
        squares / LARGEST_SQUARES <= lambda,
        options,
        "lambda {lambda:e} is too small for these values: the largest sum of squares of a column is \
         {squares:e}, more than {LARGEST_SQUARES:e} times as much; {}",
        Remedy::RaiseLambda
    );
    Ok(())
}
