//! Arguments of several commands, and the parsers of their values.

use std::fmt;

use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use rankrls::Ridge;
pub(crate) use rankrls::greedy::args::{at_least_one, one_of};
use rankrls::metrics::{Convention, Metric};

/// A mistake in the arguments that the parser of the command line cannot see: exit code 2.
#[derive(Debug)]
pub(crate) struct UsageError(String);

impl fmt::Display for UsageError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl std::error::Error for UsageError {}

/// A mistake in the arguments; the program adds the usage of the command.
pub(crate) fn usage(message: impl fmt::Display) -> anyhow::Error {
    UsageError(message.to_string()).into()
}

/// Refuses a list that has a value twice.
pub(crate) fn each_once<T: PartialEq + fmt::Display>(what: &str, list: &[T]) -> anyhow::Result<()> {
    let mut values = list.iter().enumerate();
    match values.find(|(index, value)| list[..*index].contains(value)) {
        None => Ok(()),
        Some((_, value)) => Err(usage(format_args!(
            "{value} is named twice: expected each {what} once"
        ))),
    }
}

/// Parses `auto`, which is `None`, or the name of one of `all` values. The field needs the type
/// `std::option::Option`: clap takes a plain `Option` for an argument that may be missing.
pub(crate) fn auto_or<T: Copy + Send + Sync + 'static, const N: usize>(
    all: [T; N],
    name: fn(T) -> &'static str,
) -> impl TypedValueParser<Value = Option<T>> {
    let names = std::iter::once("auto").chain(all.map(name));
    PossibleValuesParser::new(names)
        .map(move |found| all.into_iter().find(|&value| name(value) == found))
}

/// Parses `auto`, which is `None`, or a ridge parameter. The field needs the type `std::option::Option`: clap takes
/// a plain `Option` for an argument that may be missing.
pub(crate) fn auto_or_ridge(text: &str) -> rankrls::Result<Option<Ridge>> {
    if text == "auto" {
        return Ok(None);
    }
    text.parse().map(Some)
}

/// The default measures.
pub(crate) const DEFAULT_MEASURES: &str = "map,ndcg@10,mean-ndcg,p@10,err,mrr,cindex";

/// Help of the options with a list of measures. Their fields need the type `std::vec::Vec`: clap takes a plain
/// `Vec` for an argument of several values.
pub(crate) fn measures_help() -> String {
    format!(
        "Measures, separated by commas: {}. Rules stand in the name: map:2, p@5:2 and mrr:2 take labels from 2 on \
         for relevant, ndcg@10:linear has linear gains, err:4 grades up to 4, ndcg@10(letor) the convention letor",
        Metric::names()
    )
}

/// The convention of measures that name none.
#[derive(Debug, Clone, Copy, Args)]
#[command(next_help_heading = "Measures")]
pub(crate) struct ConventionArgs {
    /// Convention of measures that name none, such as map(letor) does [default: standard]
    #[arg(long, value_name = "NAME", value_parser = one_of(Convention::ALL, Convention::name))]
    convention: Option<Convention>,
}

impl ConventionArgs {
    /// The convention.
    pub(crate) fn known(self) -> Convention {
        self.convention.unwrap_or_default()
    }

    /// Refuses a convention if nothing is `measured`.
    pub(crate) fn check(self, measured: bool) -> anyhow::Result<()> {
        if self.convention.is_some() && !measured {
            return Err(usage(
                "--convention has nothing to measure: it goes with --test or a measure as \
                 --criterion",
            ));
        }
        Ok(())
    }
}
