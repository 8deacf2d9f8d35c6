//! Rules that choose one of all models.

use std::cmp::Ordering;
use std::str::FromStr;

use rankrls_files::exact;
use serde::{Deserialize, Serialize};

use crate::error::{Error, Result, ensure};
use crate::lambda::Lambda;
use crate::metrics::{Measure, Score};

/// The rule that chooses lambda and k by the values of all models.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(tag = "name", rename_all = "kebab-case")]
pub enum Rule {
    /// The best value. Ties go to the fewest features, then to the larger lambda.
    #[default]
    Best,
    /// The fewest features of all models within one standard error of the best value, the error of the best model
    /// over queries (Breiman, Friedman, Olshen and Stone, *Classification and Regression Trees*, 1984). Ties go to
    /// the best value, then to the larger lambda.
    OneSe,
    /// The best of one model a lambda: the last improvement of its path. The first model is an improvement, and so
    /// is every model that is better than the last one by at least `least`. `patience` models in a row without an
    /// improvement end the path and the selection.
    MinImprovement {
        /// A share of the squared error, or a difference of a metric; from 0 on.
        least: f64,
        /// Models without an improvement after which a path ends; at least 1.
        patience: usize,
    },
}

/// A model to choose from.
#[derive(Debug, Clone, Copy)]
struct Entry {
    /// The position of its path, and the number of its features.
    choice: (usize, usize),
    lambda: f64,
    value: f64,
    standard_error: f64,
}

impl Rule {
    /// Paths end after five models in a row that do not improve by 0.001.
    pub const MIN_IMPROVEMENT: Self = Self::MinImprovement {
        least: 0.001,
        patience: 5,
    };

    /// The name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Best => "best",
            Self::OneSe => "one-se",
            Self::MinImprovement { .. } => "min-improvement",
        }
    }

    /// Chooses among the models of all `paths`: of each its lambda, and the scores by `measure` of the models of 1,
    /// 2, ... features. Returns the position of the path, from 0, and the number of features; `None` if no model
    /// has a value. `O(n)` time for `n` models.
    pub fn choose(
        self,
        measure: Measure,
        paths: &[(Lambda, Vec<Score>)],
    ) -> Option<(usize, usize)> {
        let chosen = match self {
            Self::Best => best(measure, entries(paths)),
            Self::OneSe => sparsest(measure, entries(paths)),
            Self::MinImprovement { least, patience } => {
                let last_of = |(_, scores): &(Lambda, Vec<Score>)| {
                    let values = scores.iter().map(|score| score.mean);
                    last_improvement(measure, least, patience, values).0
                };
                let last: Vec<Option<usize>> = paths.iter().map(last_of).collect();
                let is_last = |entry: &Entry| last[entry.choice.0] == Some(entry.choice.1);
                best(measure, entries(paths).filter(is_last))
            }
        };
        chosen.map(|entry| entry.choice)
    }

    pub(super) fn check(self) -> Result<()> {
        if let Self::MinImprovement { least, patience } = self {
            ensure!(
                least.is_finite() && least >= 0.0,
                options,
                "the least improvement is {}: expected a finite number from 0 on",
                exact(least)
            );
            ensure!(
                patience > 0,
                options,
                "the patience is {patience}: expected at least 1 model"
            );
        }
        Ok(())
    }

    /// Whether it may end a path early.
    pub(super) fn ends_paths(self) -> bool {
        matches!(self, Self::MinImprovement { .. })
    }

    /// Whether a path with models of these `values` ends at the last of them.
    pub(super) fn settles(
        self,
        measure: Measure,
        values: impl Iterator<Item = Option<f64>>,
    ) -> bool {
        match self {
            Self::MinImprovement { least, patience } => {
                last_improvement(measure, least, patience, values).1
            }
            _ => false,
        }
    }
}

/// Reads `best`, `one-se` or `min-improvement`, which `:LEAST` and `:PATIENCE` may follow.
impl FromStr for Rule {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let expected = || Error::options("expected best, one-se or min-improvement:X:P");
        let mut parts = text.split(':');
        let name = parts.next().unwrap_or_default();
        let rules = [Self::Best, Self::OneSe, Self::MIN_IMPROVEMENT];
        let named = rules.into_iter().find(|rule| rule.name() == name);
        let mut rule = named.ok_or_else(expected)?;
        if let Self::MinImprovement { least, patience } = &mut rule {
            if let Some(number) = parts.next() {
                *least = number.parse().map_err(|_| expected())?;
            }
            if let Some(number) = parts.next() {
                *patience = number.parse().map_err(|_| expected())?;
            }
        }
        match parts.next() {
            Some(_) => Err(expected()),
            None => rule.check().map(|()| rule),
        }
    }
}

/// The number of features at the last improvement on a path with models of these `values`, and whether the path
/// ends by the last of the values.
fn last_improvement(
    measure: Measure,
    least: f64,
    patience: usize,
    values: impl Iterator<Item = Option<f64>>,
) -> (Option<usize>, bool) {
    let mut improvement: Option<(usize, f64)> = None;
    for (k, value) in (1..).zip(values) {
        let Some(value) = value else { continue };
        match improvement {
            Some((_, last)) if !measure.improves(value, last, least) => {}
            _ => improvement = Some((k, value)),
        }
        if improvement.is_some_and(|(last, _)| k - last >= patience) {
            return (improvement.map(|(last, _)| last), true);
        }
    }
    (improvement.map(|(last, _)| last), false)
}

/// All models with a value.
fn entries(paths: &[(Lambda, Vec<Score>)]) -> impl Iterator<Item = Entry> + Clone {
    let paths = paths.iter().enumerate();
    paths.flat_map(|(position, (lambda, scores))| {
        let scores = (1..).zip(scores);
        scores.filter_map(move |(k, score)| {
            Some(Entry {
                choice: (position, k),
                lambda: lambda.value(),
                value: score.mean?,
                standard_error: score.standard_error.unwrap_or(0.0),
            })
        })
    })
}

/// The fewest features first, then the larger lambda. No rule knows a lambda by its number, which depends on the
/// units of the data.
fn by_size(a: &Entry, b: &Entry) -> Ordering {
    let (fewer, larger) = (a.choice.1.cmp(&b.choice.1), b.lambda.total_cmp(&a.lambda));
    fewer.then(larger)
}

/// The best value, whatever the ties.
fn extreme(measure: Measure, entries: impl Iterator<Item = Entry>) -> Option<Entry> {
    let by_value = |a: &Entry, b: &Entry| a.value.total_cmp(&b.value);
    if measure.lower_is_better() {
        entries.min_by(by_value)
    } else {
        entries.max_by(by_value)
    }
}

fn best(measure: Measure, entries: impl Iterator<Item = Entry> + Clone) -> Option<Entry> {
    let extreme = extreme(measure, entries.clone())?;
    let tied = entries.filter(|entry| !measure.better(extreme.value, entry.value));
    tied.min_by(by_size)
}

fn sparsest(measure: Measure, entries: impl Iterator<Item = Entry> + Clone) -> Option<Entry> {
    let best = best(measure, entries.clone())?;
    let limit = measure.worsened(best.value, best.standard_error);
    let near = entries.filter(|entry| !measure.better(limit, entry.value));
    let k = near.clone().map(|entry| entry.choice.1).min()?;
    self::best(measure, near.filter(|entry| entry.choice.1 == k))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metrics::Metric;

    type Paths = Vec<(Lambda, Vec<Score>)>;

    const SQUARED: Measure = Measure::Squared;

    /// Paths such as `4±0.5: 3 2 nan`: lambda, standard error, and values by number of features.
    fn read(text: &str) -> Paths {
        let path = |path: &str| {
            let (head, values) = path.split_once(':').unwrap();
            let (lambda, standard_error) = head.split_once('±').unwrap();
            let score = |value: &str| Score {
                mean: value.parse().ok().filter(|value: &f64| !value.is_nan()),
                standard_error: standard_error.parse().ok(),
                queries: 9,
                per_query: Vec::new(),
            };
            let scores = values.split_whitespace().map(score).collect();
            (lambda.trim().parse().unwrap(), scores)
        };
        text.split(';').map(path).collect()
    }

    #[test]
    fn rules_are_read() {
        let rule = |least, patience| Rule::MinImprovement { least, patience };
        for (text, read) in [
            ("best", Rule::Best),
            ("one-se", Rule::OneSe),
            ("min-improvement", Rule::MIN_IMPROVEMENT),
            ("min-improvement:0.01", rule(0.01, 5)),
            ("min-improvement:0:2", rule(0.0, 2)),
        ] {
            assert_eq!(text.parse(), Ok(read), "{text}");
        }
        for text in ["", "worst", "best:1"] {
            assert!(text.parse::<Rule>().is_err(), "{text}");
        }
        for parameters in ["-1", "nan", "inf", "0.5:0", "0:1:2", ""] {
            let text = format!("min-improvement:{parameters}");
            assert!(text.parse::<Rule>().is_err(), "{text}");
        }
    }

    #[test]
    fn rules_choose_lambda_and_k() {
        let cindex = Measure::from(Metric::CONCORDANCE);
        let paths = "1±0.1: 5 3 4; 2±0.1: 6 5 2";
        let near = "1±1: 9 4.5 4 3.6; 2±1: 9 4.25 4 3.5; 4±9: 8 4.75 4 3.7";
        let falls = "1±0.1: 8 7.9 4 3.9 3.8 1";
        let both = "1±0.1: 8 7.9 4 3.9 3.8 1; 2±0.1: 5 4 3.5 3.5";
        let rises = "1±0.1: 0.5 0.5625 0.625 0.625";
        for (rule, measure, paths, expected) in [
            ("best", SQUARED, paths, (2.0, 3)),
            ("best", cindex, paths, (2.0, 1)),
            // Ties go to fewer features, then to the larger lambda; rounding does not break them.
            ("best", SQUARED, "1±0.1: 9 2; 64±0.1: 2 2", (64.0, 1)),
            (
                "best",
                SQUARED,
                "0.125±0.1: 2; 4±0.1: 2; 16±0.1: 2",
                (16.0, 1),
            ),
            (
                "best",
                SQUARED,
                "1±0.1: 2.000000000001 2; 2±0.1: 3 1.999999999999",
                (1.0, 1),
            ),
            // The best is 3.5 with 4 features, so 4.5 is near enough; of the two 4.25 is better.
            ("one-se", SQUARED, near, (2.0, 2)),
            ("one-se", cindex, "1±0.125: 0.25 0.5 0.75 0.875", (1.0, 3)),
            ("one-se", SQUARED, "8±1: 4 3.5; 0.5±1: 4 3.6", (8.0, 1)),
            // Without a standard error, the sparsest of the best.
            ("one-se", SQUARED, "1±none: 3 2 2", (1.0, 2)),
            ("min-improvement:0.5:1", SQUARED, falls, (1.0, 1)),
            ("min-improvement:0.5:2", SQUARED, falls, (1.0, 3)),
            ("min-improvement:0.5:3", SQUARED, falls, (1.0, 6)),
            ("min-improvement:0:1", SQUARED, falls, (1.0, 6)),
            // The path of 1 ends at 4, and the path of 2 at 5.
            ("min-improvement:0.5:2", SQUARED, both, (1.0, 3)),
            ("min-improvement:0.25:1", SQUARED, both, (2.0, 1)),
            ("min-improvement:0.125:1", cindex, rises, (1.0, 1)),
            ("min-improvement:0.125:2", cindex, rises, (1.0, 3)),
        ] {
            let read = read(paths);
            let choice = rule.parse::<Rule>().unwrap().choose(measure, &read);
            let found = choice.map(|(position, k)| (read[position].0.value(), k));
            assert_eq!(found, Some(expected), "{rule}, {measure}: {paths}");
        }
    }

    #[test]
    fn models_without_a_value_do_not_take_part() {
        let paths = read("1±0.1: nan 2; 2±0.1:");
        for rule in ["best", "one-se", "min-improvement:0:1"] {
            let rule: Rule = rule.parse().unwrap();
            assert_eq!(rule.choose(SQUARED, &paths), Some((0, 2)));
            assert_eq!(rule.choose(SQUARED, &paths[1..]), None);
        }
    }
}
