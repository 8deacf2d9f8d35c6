//! Warnings of answers that lose digits.

use super::console::Console;

/// What a condition number is worth.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Condition {
    /// Of a selection: it tells what is lost, give or take three digits.
    Estimate,
    /// Of all features: mostly far above what is lost.
    Bound,
}

impl Condition {
    /// Up to here nothing is said: half of the digits are left, or three quarters lost at most.
    fn silent(self) -> f64 {
        match self {
            Self::Estimate => 1e8,
            Self::Bound => 1e12,
        }
    }
}

/// Warns if rounding is amplified too much.
pub(crate) fn warn_of_lost_digits(condition: f64, worth: Condition, console: Console) {
    if condition <= worth.silent() {
        return;
    }
    let (about, most) = match worth {
        Condition::Estimate => ("about", ""),
        Condition::Bound => ("up to", " at most"),
    };
    let what = if condition.is_finite() && condition < 1e15 {
        let digits = condition.log10();
        format!("{about} {digits:.0} of 16 digits of errors and weights are lost")
    } else {
        "errors and weights may have no digit that is right".to_owned()
    };
    console.warn(format_args!(
        "{what}: the condition number is {condition:.0e}{most}, as lambda is small beside the values or \
         columns are nearly the same; raise lambda or scale the data"
    ));
}
