//! Warnings of answers that lose digits.

use super::console::Console;

/// Digits of a selection that may be lost without a word: half of what there is. The condition
/// number is an estimate that tells what is lost, give or take three digits.
pub(crate) const SELECTED_DIGITS: f64 = 1e8;

/// The same for all features, whose figure is a bound and mostly far above what is lost.
pub(crate) const TRAINED_DIGITS: f64 = 1e12;

/// Warns if rounding is amplified by more than `silent`.
pub(crate) fn warn_of_lost_digits(condition: f64, silent: f64, console: Console) {
    if condition <= silent {
        return;
    }
    let what = if condition.is_finite() && condition < 1e15 {
        format!(
            "{} {:.0} of 16 digits of errors and weights are lost",
            if silent == TRAINED_DIGITS {
                "up to"
            } else {
                "about"
            },
            condition.log10()
        )
    } else {
        "errors and weights may have no digit that is right".to_owned()
    };
    let bound = if silent == TRAINED_DIGITS {
        " at most"
    } else {
        ""
    };
    console.warn(format_args!(
        "{what}: the condition number is {condition:.0e}{bound}, as lambda is small beside the values or \
         columns are nearly the same; raise lambda or scale the data"
    ));
}
