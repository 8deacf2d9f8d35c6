//! Arguments that several commands take, and how their values are read.

use std::fmt;
use std::str::FromStr;

use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use rankrls::greedy::Criterion;
use rankrls::metrics::{Convention, Gain, Labels, Metric, MetricsError, Rules, parse_list};
use rankrls::{Lambda, QueryWeight, Scale, SelectionOptions, StrategyKind};

use super::console::Console;

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

pub(crate) fn at_least_one(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(number) if number > 0 => Ok(number),
        _ => Err("expected a whole number from 1 on".to_owned()),
    }
}

pub(crate) fn finite(text: &str) -> Result<f64, String> {
    let number = text.parse().ok().filter(|number: &f64| number.is_finite());
    number.ok_or_else(|| "expected a finite number".to_owned())
}

/// Parses one of `names`.
pub(crate) fn named<T: FromStr + Default + Clone + Send + Sync + 'static>(
    names: impl IntoIterator<Item = &'static str>,
) -> impl TypedValueParser<Value = T> {
    PossibleValuesParser::new(names).map(|name| name.parse().unwrap_or_default())
}

/// Parses `auto`, which is `None`, or one of `names`. The type of the field has to be written as
/// `std::option::Option`: clap takes a plain `Option` for an argument that may be missing.
pub(crate) fn auto_or<T: FromStr + Clone + Send + Sync + 'static>(
    names: impl IntoIterator<Item = &'static str>,
) -> impl TypedValueParser<Value = Option<T>> {
    PossibleValuesParser::new(std::iter::once("auto").chain(names)).map(|name| name.parse().ok())
}

/// Parses `auto`, which is `None`, or a ridge parameter; the field likewise.
pub(crate) fn auto_or_lambda(text: &str) -> Result<Option<Lambda>, String> {
    if text == "auto" {
        return Ok(None);
    }
    text.parse().map(Some)
}

/// Measures where none are asked for.
pub(crate) const DEFAULT_MEASURES: &str = "map,ndcg@10,mean-ndcg,p@10,err,mrr,cindex";

/// Help of the options that take a list of measures.
pub(crate) fn measures_help() -> String {
    format!("Measures, separated by commas: {}", Metric::names())
}

/// A list of measures.
#[derive(Debug, Clone)]
pub(crate) struct Measures(pub(crate) Vec<Metric>);

impl FromStr for Measures {
    type Err = MetricsError;

    fn from_str(list: &str) -> Result<Self, MetricsError> {
        parse_list(list).map(Self)
    }
}

/// How measures read labels and ranks.
#[derive(Debug, Clone, Copy, Args)]
pub(crate) struct RulesArgs {
    /// Convention of the measures [default: standard]
    #[arg(long, value_name = "NAME")]
    pub(crate) convention: Option<Convention>,
    /// Least label of a relevant document, for map, p@K and mrr [default: any above 0]
    #[arg(long, value_name = "X", value_parser = finite, allow_negative_numbers = true)]
    relevant_from: Option<f64>,
    /// Gain of a grade y, for ndcg@K and mean-ndcg: exponential, 2^y - 1, or linear, y [default:
    /// exponential]
    #[arg(long, value_name = "NAME")]
    gain: Option<Gain>,
    /// Largest grade of the scale, for err [default: the largest label of the data]
    #[arg(long, value_name = "G", value_parser = grade, allow_negative_numbers = true)]
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
    fn of_labels(&self) -> impl Iterator<Item = (&'static str, Labels)> {
        [
            (
                "--relevant-from",
                Labels::Relevance,
                self.relevant_from.is_some(),
            ),
            ("--gain", Labels::Gains, self.gain.is_some()),
            ("--max-grade", Labels::Scale, self.max_grade.is_some()),
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

    /// Warns of options that none of `metrics` heeds.
    pub(crate) fn warn(&self, metrics: &[Metric], console: Console) {
        for (option, labels) in self.of_labels() {
            if !metrics.iter().any(|metric| metric.labels() == labels) {
                console.warn(format_args!("{option} has no effect on these measures"));
            }
        }
    }
}

fn grade(text: &str) -> Result<f64, String> {
    let grade = finite(text).ok().filter(|grade| *grade > 0.0);
    grade.ok_or_else(|| "expected a number above 0".to_owned())
}

/// Weights of queries and the scale of columns.
#[derive(Debug, Clone, Copy, Args)]
pub(crate) struct WeightArgs {
    #[arg(long, value_name = "NAME", default_value = "uniform", help = QueryWeight::HELP)]
    pub(crate) query_weight: QueryWeight,
    #[arg(long, value_name = "NAME", default_value = "none", help = Scale::HELP)]
    pub(crate) scale: Scale,
}

/// Refuses `options` that one of `strategies` cannot heed, and rules of nothing: whether anything
/// but the criterion is `measured`.
pub(crate) fn check_selection(
    options: SelectionOptions,
    strategies: &[Option<StrategyKind>],
    rules: &RulesArgs,
    measured: bool,
) -> anyhow::Result<()> {
    rules.check(measured, options.criterion != Criterion::Squared)?;
    strategies.iter().try_for_each(|&strategy| {
        let options = SelectionOptions {
            strategy,
            ..options
        };
        options.check_strategy().map_err(usage)
    })
}

pub(crate) const LAMBDAS_HELP: &str = "Ridge parameters to try, separated by commas: numbers such \
    as 0.25, powers such as 2^-3, and ranges of powers such as 2^-4..2^10, or 2^-4..2^10:2 with \
    steps of 2 in the exponent";

/// Most lambdas in a grid.
const MOST: usize = 1000;

/// Largest exponent of 2, either way.
const EXPONENT: f64 = 1000.0;

/// A grid of lambdas.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Lambdas(pub(crate) Vec<Lambda>);

impl FromStr for Lambdas {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let mut lambdas = Vec::new();
        for item in text.split(',').map(str::trim) {
            match item.split_once("..") {
                Some((from, to)) => lambdas.extend(range(item, from, to)?),
                None => lambdas.push(single(item)?),
            }
            if lambdas.len() > MOST {
                return Err(format!("expected at most {MOST} values, found more"));
            }
        }
        Ok(Self(lambdas))
    }
}

fn single(item: &str) -> Result<Lambda, String> {
    if item.contains('^') {
        return power(exponent(item, item)?);
    }
    item.parse().map_err(|error| {
        if item.is_empty() {
            "expected values separated by single commas, found an empty one".to_owned()
        } else {
            error
        }
    })
}

/// `2^a..2^b`, or `2^a..2^b:step`.
fn range(item: &str, from: &str, to: &str) -> Result<Vec<Lambda>, String> {
    let (to, step) = match to.split_once(':') {
        Some((to, step)) => (to, number(item, step)?),
        None => (to, 1.0),
    };
    let (from, to) = (exponent(item, from)?, exponent(item, to)?);
    if step <= 0.0 {
        return Err(format!("{item:?}: expected a step above 0, found {step}"));
    }
    if to < from {
        return Err(format!(
            "{item:?}: expected the smaller power first, found 2^{from} before 2^{to}"
        ));
    }
    // What rounding takes off a step must not cost the last value.
    let last = (to - from) / step + 1e-9;
    let places = (0..=MOST).map(|place| place as f64);
    let places = places.take_while(|&place| place <= last);
    places.map(|place| power(from + place * step)).collect()
}

fn exponent(item: &str, text: &str) -> Result<f64, String> {
    let digits = text.trim().strip_prefix("2^");
    let digits = digits.ok_or_else(|| format!("{item:?}: expected powers such as 2^-3"))?;
    let exponent = number(item, digits)?;
    if exponent.abs() > EXPONENT {
        return Err(format!(
            "{item:?}: expected exponents from -{EXPONENT} to {EXPONENT}, found {exponent}"
        ));
    }
    Ok(exponent)
}

fn number(item: &str, text: &str) -> Result<f64, String> {
    let number = text.parse().ok().filter(|number: &f64| number.is_finite());
    number.ok_or_else(|| format!("{item:?}: expected a number, found {text:?}"))
}

fn power(exponent: f64) -> Result<Lambda, String> {
    Lambda::new(exponent.exp2()).map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values(text: &str) -> Vec<f64> {
        let Lambdas(lambdas) = text.parse().unwrap();
        lambdas.into_iter().map(Lambda::value).collect()
    }

    #[test]
    fn numbers_powers_and_ranges_are_read() {
        assert_eq!(values("0.25, 1,4"), [0.25, 1.0, 4.0]);
        assert_eq!(values("2^-2,3,2^10"), [0.25, 3.0, 1024.0]);
        assert_eq!(values("2^-1..2^2"), [0.5, 1.0, 2.0, 4.0]);
        assert_eq!(values("2^-2..2^3:2"), [0.25, 1.0, 4.0]);
        assert_eq!(values("2^0..2^1:0.5"), [1.0, 2.0_f64.sqrt(), 2.0]);
        assert_eq!(values("2^3..2^3"), [8.0]);
        assert_eq!(values("2^0..2^1:0.1").len(), 11);
        assert_eq!(values("2^-10..2^10").len(), 21);
    }

    #[test]
    fn other_text_is_refused() {
        for (text, message) in [
            ("", "empty"),
            ("1,,2", "empty"),
            ("0", "above 0"),
            ("1,-2", "above 0"),
            ("x", "above 0"),
            ("inf", "above 0"),
            ("3^2", "2^-3"),
            ("1..4", "2^-3"),
            ("2^x", "a number"),
            ("2^2..2^1", "smaller power first"),
            ("2^1..2^2:0", "above 0"),
            ("2^1..2^2:-1", "above 0"),
            ("2^1..2^2:nan", "a number"),
            ("2^0..2^5000", "from -1000 to 1000"),
            ("2^0..2^1000:0.001", "at most 1000"),
        ] {
            let error = text.parse::<Lambdas>().unwrap_err();
            assert!(error.contains(message), "{text}: {error}");
        }
    }
}
