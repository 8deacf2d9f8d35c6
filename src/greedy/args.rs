//! Reads the values of settings on a command line, and makes help of lists.

use clap::builder::{PossibleValuesParser, TypedValueParser};

use super::StrategyKind;
use crate::metrics::Metric;

/// Parses the name of one of `all` values.
pub fn one_of<T: Copy + Send + Sync + 'static>(
    all: impl IntoIterator<Item = T>,
    name: fn(T) -> &'static str,
) -> impl TypedValueParser<Value = T> {
    let all: Vec<T> = all.into_iter().collect();
    let names = PossibleValuesParser::new(all.iter().map(|&value| name(value)));
    names.try_map(move |found| {
        let mut values = all.iter().copied();
        let value = values.find(|&value| name(value) == found);
        value.ok_or_else(|| format!("no value is called {found}"))
    })
}

/// Parses a whole number from 1 on.
pub fn at_least_one(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(number) if number > 0 => Ok(number),
        _ => Err("expected a whole number from 1 on".to_owned()),
    }
}

/// Parses the name of a strategy, or `auto`.
pub(super) fn strategy() -> impl TypedValueParser<Value = StrategyKind> {
    let all = [StrategyKind::Auto].into_iter().chain(StrategyKind::ALL);
    one_of(all, StrategyKind::name)
}

pub(super) fn criterion_help() -> String {
    format!(
        "What each step improves most: squared, the squared leave-query-out error, or a measure of the \
         leave-query-out predictions: {}. The strategies {} take measures, and so does the baseline univariate",
        Metric::names(),
        StrategyKind::names_of(StrategyKind::can_rank).replace(" or ", " and ")
    )
}
