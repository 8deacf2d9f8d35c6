//! Warnings about results: what is at an edge, has no effect, or is not to be trusted.

use rankrls::Selection;
use rankrls::data::read::Loaded;
use rankrls::greedy::Teacher;

use super::console::Console;
use super::numbers::{counted, short};
use super::session::Session;

/// How closely a condition number tells the lost digits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Condition {
    /// Of a selection: give or take three digits.
    Estimate,
    /// Of all features: mostly far above the loss.
    Bound,
}

/// A choice, called `what`, at the edge of those `tried` says little about what lies beyond.
pub(crate) fn warn_of_edge(
    what: &str,
    tried: impl Iterator<Item = f64> + Clone,
    chosen: f64,
    console: Console,
) {
    let least = tried.clone().fold(f64::INFINITY, f64::min);
    let most = tried.fold(0.0, f64::max);
    let (which, other) = match chosen {
        _ if least == most => return,
        chosen if chosen == least => ("smallest", "smaller"),
        chosen if chosen == most => ("largest", "larger"),
        _ => return,
    };
    let chosen = short(chosen);
    console.warn(format_args!(
        "{what} {chosen} is the {which} of the grid: a {other} one may do better"
    ));
}

/// Warns where the ridge parameter of a teacher is at an edge.
pub(crate) fn warn_of_teacher(teacher: Option<Teacher>, console: Console) {
    let edge = teacher.filter(|teacher| teacher.at_edge);
    if let Some(lambda) = edge.and_then(|teacher| teacher.lambda) {
        let lambda = short(lambda.value());
        console.warn(format_args!(
            "the teacher's lambda {lambda} is at the edge of those tried: --teacher-lambda takes \
             others"
        ));
    }
}

/// Warns of a seed that was given where the strategy draws nothing.
pub(crate) fn warn_of_seed(session: &Session<'_>, selection: &Selection) {
    if session.is_given("seed") && selection.options.sample.is_none() {
        let strategy = selection.strategy;
        session.console.warn(format_args!(
            "--seed has no effect: {strategy} draws nothing at random without --candidates"
        ));
    }
}

/// Warns if rounding is amplified too much.
pub(crate) fn warn_of_lost_digits(condition: f64, worth: Condition, console: Console) {
    // Nothing is said where half of the digits are left, or three quarters lost at most.
    let (silent, about, most) = match worth {
        Condition::Estimate => (1e8, "about", ""),
        Condition::Bound => (1e12, "up to", " at most"),
    };
    if condition <= silent {
        return;
    }
    let what = if condition.is_finite() && condition < 1e15 {
        let digits = condition.log10();
        format!("{about} {digits:.0} of 16 digits of errors and weights are lost")
    } else {
        "errors and weights may have no digit that is right".to_owned()
    };
    console.warn(format_args!(
        "{what}: the condition number is {condition:.0e}{most}, as lambda is small beside the values or \
         columns are nearly the same; raise lambda, or scale the columns: --scale sd"
    ));
}

/// Warns of training data with so few queries that hold-outs say little.
pub(crate) fn warn_of_few_queries(queries: usize, console: Console) {
    if (2..5).contains(&queries) {
        console.warn(format_args!(
            "there are only {queries} queries: predictions for one by a model of the others say \
             little"
        ));
    }
}

/// Warns of columns that were read but are unknown to `to`, such as a model.
pub(crate) fn warn_dropped(loaded: &Loaded, to: &str, console: Console) {
    if loaded.dropped_columns > 0 {
        let entries = counted(loaded.dropped_entries, "non-zero");
        let columns = counted(loaded.dropped_columns, "column");
        console.warn(format_args!(
            "dropped {entries} in {columns} unknown to {to}"
        ));
    }
}
