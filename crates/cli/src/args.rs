//! Arguments that several commands take, and how their values are read.

use std::fmt;

use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use rankrls::Ridge;
pub(crate) use rankrls::greedy::args::{at_least_one, one_of};
use rankrls::metrics::{Convention, Gain, LabelUse, Metric, Rules};

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

pub(crate) fn finite(text: &str) -> Result<f64, String> {
    let number = text.parse().ok().filter(|number: &f64| number.is_finite());
    number.ok_or_else(|| "expected a finite number".to_owned())
}

/// Parses `auto`, which is `None`, or the name of one of `all` values. The type of the field has to be
/// written as `std::option::Option`: clap takes a plain `Option` for an argument that may be missing.
pub(crate) fn auto_or<T: Copy + Send + Sync + 'static, const N: usize>(
    all: [T; N],
    name: fn(T) -> &'static str,
) -> impl TypedValueParser<Value = Option<T>> {
    let names = std::iter::once("auto").chain(all.map(name));
    PossibleValuesParser::new(names)
        .map(move |found| all.into_iter().find(|&value| name(value) == found))
}

/// Parses `auto`, which is `None`, or a ridge parameter. The type of the field has to be written
/// as `std::option::Option`: clap takes a plain `Option` for an argument that may be missing.
pub(crate) fn auto_or_ridge(text: &str) -> rankrls::Result<Option<Ridge>> {
    if text == "auto" {
        return Ok(None);
    }
    text.parse().map(Some)
}

/// Measures where none are asked for.
pub(crate) const DEFAULT_MEASURES: &str = "map,ndcg@10,mean-ndcg,p@10,err,mrr,cindex";

/// Help of the options that take a list of measures. The type of their fields has to be written as
/// `std::vec::Vec`: clap takes a plain `Vec` for an argument of several values.
pub(crate) fn measures_help() -> String {
    format!("Measures, separated by commas: {}", Metric::names())
}

/// How measures read labels and ranks.
#[derive(Debug, Clone, Copy, Args)]
#[command(next_help_heading = "Measures")]
pub(crate) struct RulesArgs {
    /// Convention of the measures [default: standard]
    #[arg(long, value_name = "NAME", value_parser = one_of(Convention::ALL, Convention::name))]
    pub(crate) convention: Option<Convention>,
    /// Least label of a relevant document, for map, p@K and mrr [default: any above 0]
    #[arg(long, value_name = "X", value_parser = finite)]
    relevant_from: Option<f64>,
    /// Gain of a grade y, for ndcg@K and mean-ndcg: exponential, 2^y - 1, or linear, y [default:
    /// exponential]
    #[arg(long, value_name = "NAME", value_parser = one_of(Gain::ALL, Gain::name))]
    gain: Option<Gain>,
    /// Largest grade of the scale, for err [default: the largest label of the data]
    #[arg(long, value_name = "G", value_parser = grade)]
    max_grade: Option<f64>,
}

impl RulesArgs {
    pub(crate) fn rules(&self) -> Rules {
        Rules {
            convention: self.convention.unwrap_or_default(),
            relevant_from: self.relevant_from,
            gain: self.gain.unwrap_or_default(),
            max_grade: self.max_grade,
        }
    }

    /// The options that read labels, each with the labels that it is for.
    fn of_labels(&self) -> impl Iterator<Item = (&'static str, LabelUse)> {
        [
            (
                "--relevant-from",
                LabelUse::Relevance,
                self.relevant_from.is_some(),
            ),
            ("--gain", LabelUse::Gains, self.gain.is_some()),
            ("--max-grade", LabelUse::Scale, self.max_grade.is_some()),
        ]
        .into_iter()
        .filter_map(|(option, labels, given)| given.then_some((option, labels)))
    }

    /// Refuses options where nothing is `measured`, and options without effect on a criterion that
    /// `ranks`.
    pub(crate) fn check(&self, measured: bool, ranks: bool) -> anyhow::Result<()> {
        if self.convention.is_some() && !measured && !ranks {
            return Err(usage(
                "--convention has nothing to measure: it goes with --test or a measure as \
                 --criterion",
            ));
        }
        match self.of_labels().next() {
            Some((option, _)) if !measured => Err(usage(format_args!(
                "{option} has nothing to measure: it goes with --test"
            ))),
            Some((option, _)) if ranks => Err(usage(format_args!(
                "{option} does not go with a measure as --criterion: there, labels above 0 are \
                 relevant, gains are exponential, and the largest label is the largest grade"
            ))),
            _ => Ok(()),
        }
    }
}

fn grade(text: &str) -> Result<f64, String> {
    let grade = finite(text).ok().filter(|grade| *grade > 0.0);
    grade.ok_or_else(|| "expected a number above 0".to_owned())
}
