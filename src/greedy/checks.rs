//! Refusals of numbers that a selection cannot compute with, and of options for nothing.

use rankrls_files::{Parameter, Remedy};

use crate::candidates::Candidates;
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
        Parameter::Validation => format!("{parameter} goes with {fs_ed}"),
        Parameter::Blend => format!("{parameter} goes with {distil}"),
        _ => format!("{parameter} has no effect"),
    })
}

/// Largest sum of squares of a column, also in units of lambda: products of four values, and sums
/// of them, stay finite.
const LARGEST_SQUARES: f64 = 1e100;

/// Refuses columns whose products overflow, and a lambda that vanishes beside them.
pub(super) fn check_values(candidates: &Candidates, lambda: Lambda) -> Result<()> {
    // Overflow may have made it no number.
    let fits = |squares: f64| squares <= LARGEST_SQUARES;
    let classes = candidates.classes();
    let refused = |&candidate: &usize| {
        !fits(classes.squared_norm(candidate)) || !classes.can_be_divided(candidate)
    };
    let own = (0..classes.len()).find(refused).map(|candidate| {
        let squares = classes.squared_norm(candidate);
        (classes.feature(candidate), squares)
    });
    let all = candidates.peers().all(&own).into_iter().flatten();
    if let Some((feature, squares)) = all.min_by_key(|&(feature, _)| feature) {
        let column = candidates.written(feature);
        if fits(squares) {
            return Err(Error::data(format!(
                "column {column} has values too small to scale: expected deviations within queries above 1e-308"
            )));
        }
        return Err(Error::data(format!(
            "column {column} has values too large: centred, the sum of their squares is {squares:e}, \
             and at most 1e100 can be computed with"
        )));
    }
    let (squares, lambda) = (classes.largest_squared_norm(), lambda.value());
    if squares < LEAST_SQUARES {
        return Err(Error::data(format!(
            "the columns have values too small: centred, the largest sum of squares of a column is \
             {squares:e}, and at least 1e-280 can be computed with"
        )));
    }
    if squares / LARGEST_SQUARES > lambda {
        return Err(Error::options(format!(
            "lambda {lambda:e} is too small for these values: the largest sum of squares of a column is \
             {squares:e}, more than 1e100 times as much; {}",
            Remedy::RaiseLambda
        )));
    }
    Ok(())
}

/// Least sum of squares, of labels or of a column, that leaves its parts their digits: errors and gains
/// are a small share of it.
const LEAST_SQUARES: f64 = 1e-280;

/// Refuses labels whose squares overflow or lose their digits to underflow: every candidate
/// would look alike.
///
/// `labels` are centred and weighted.
pub(super) fn check_labels(labels: &[f64]) -> Result<()> {
    let sizes = labels.iter().map(|label| label.abs());
    let largest = sizes.fold(0.0, f64::max);
    let squares: f64 = labels.iter().map(|label| label * label).sum();
    if largest == 0.0 || (LEAST_SQUARES..f64::INFINITY).contains(&squares) {
        return Ok(());
    }
    let size = if largest > 1.0 { "large" } else { "small" };
    Err(Error::data(format!(
        "the labels are too {size}: centred, the largest is {largest:e}, and its square is out of the \
         range of numbers"
    )))
}
