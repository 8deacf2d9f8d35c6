//! Which of all models to take.

use std::cmp::Ordering;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::{Measure, Score};
use crate::error::{Error, Result};
use crate::lambda::Lambda;

/// How lambda and k are chosen by the values of all models.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(tag = "name", rename_all = "kebab-case")]
pub enum Rule {
    /// The best value. Among equal ones that with the fewest features, then that of the larger lambda.
    #[default]
    Best,
    /// The fewest features of all models that are within one standard error (that of the best
    /// one, over queries) of the best value (Breiman, Friedman, Olshen and Stone, *Classification and
    /// Regression Trees*, 1984). Among models of as many features the best value, then the
    /// larger lambda.
    OneSe,
    /// The best of one model a lambda: the last that was an improvement. From the first model
    /// on, a model is an improvement if it is better than the last improvement by at least
    /// `least` (see [`Measure::improves`]), and `patience` models in a row that are none end the
    /// path, and the selection with it.
    MinImprovement {
        /// A share of the squared error, or a difference of a metric; from 0 on.
        least: f64,
        /// Models without an improvement after which a path ends; at least 1.
        patience: usize,
    },
}

/// The values along the path of one lambda, from one feature on.
#[derive(Debug, Clone, PartialEq)]
pub struct Curve {
    /// The ridge parameter.
    pub lambda: Lambda,
    /// The score of the model of `k` features, at `k - 1`.
    pub scores: Vec<Score>,
}

impl Curve {
    /// A curve of means without standard errors.
    pub fn of_means(lambda: Lambda, means: impl IntoIterator<Item = Option<f64>>) -> Self {
        let score = |mean| Score {
            mean,
            standard_error: None,
            queries: 0,
        };
        Self {
            lambda,
            scores: means.into_iter().map(score).collect(),
        }
    }
}

/// A model of a grid.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Choice {
    /// Position of its path among the outcomes, or curves, 0-based.
    pub position: usize,
    /// Number of its features, from 1 on.
    pub k: usize,
}

/// A model to choose from.
#[derive(Debug, Clone, Copy)]
struct Entry {
    choice: Choice,
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

    /// Chooses among the models of all `curves`, whose scores are values of `measure`; `None` where none has a
    /// value. `O(n)` time for `n` models.
    pub fn choose(self, measure: Measure, curves: &[Curve]) -> Option<Choice> {
        let chosen = match self {
            Self::Best => best(measure, entries(curves)),
            Self::OneSe => sparsest(measure, entries(curves)),
            Self::MinImprovement { least, patience } => {
                let last_of =
                    |curve: &Curve| EarlyStop::new(measure, least, patience).last(&curve.scores);
                let last: Vec<Option<usize>> = curves.iter().map(last_of).collect();
                let is_last = |entry: &Entry| last[entry.choice.position] == Some(entry.choice.k);
                best(measure, entries(curves).filter(is_last))
            }
        };
        chosen.map(|entry| entry.choice)
    }

    pub(super) fn check(self) -> Result<()> {
        let Self::MinImprovement { least, patience } = self else {
            return Ok(());
        };
        let (what, expected, found) = if !(least.is_finite() && least >= 0.0) {
            let expected = "a finite number from 0 on";
            ("the least improvement", expected, least.to_string())
        } else if patience == 0 {
            ("the patience", "at least 1 model", patience.to_string())
        } else {
            return Ok(());
        };
        let text = format!("{what} is {found}: expected {expected}");
        Err(Error::options(text))
    }

    /// Watches for the end of a path.
    pub(super) fn early_stop(self, measure: Measure) -> Option<EarlyStop> {
        match self {
            Self::MinImprovement { least, patience } => {
                Some(EarlyStop::new(measure, least, patience))
            }
            _ => None,
        }
    }
}

/// Reads `best`, `one-se` or `min-improvement`, which `:LEAST` and `:PATIENCE` may follow.
impl FromStr for Rule {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let expected = || "expected best, one-se or min-improvement:X:P".to_owned();
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
        if parts.next().is_some() {
            return Err(expected());
        }
        rule.check().map_err(|error| error.to_string())?;
        Ok(rule)
    }
}

/// Follows a path until it improves no more.
#[derive(Debug, Clone, Copy)]
pub(super) struct EarlyStop {
    measure: Measure,
    least: f64,
    patience: usize,
    steps: usize,
    /// Features and value of the last improvement.
    improvement: Option<(usize, f64)>,
}

impl EarlyStop {
    fn new(measure: Measure, least: f64, patience: usize) -> Self {
        Self {
            measure,
            least,
            patience,
            steps: 0,
            improvement: None,
        }
    }

    /// Takes the next model; true if the path ends with it.
    pub(super) fn push(&mut self, score: &Score) -> bool {
        self.steps += 1;
        let Some(value) = score.mean else {
            return false;
        };
        match self.improvement {
            Some((_, last)) if !self.measure.improves(value, last, self.least) => {}
            _ => self.improvement = Some((self.steps, value)),
        }
        self.improvement()
            .is_some_and(|k| self.steps - k >= self.patience)
    }

    /// Features of the last improvement before the path of these scores ends.
    fn last(mut self, scores: &[Score]) -> Option<usize> {
        for score in scores {
            if self.push(score) {
                break;
            }
        }
        self.improvement()
    }

    /// Features of the last improvement.
    fn improvement(&self) -> Option<usize> {
        self.improvement.map(|(k, _)| k)
    }
}

/// All models that have a value.
fn entries(curves: &[Curve]) -> impl Iterator<Item = Entry> + Clone {
    curves.iter().enumerate().flat_map(|(position, curve)| {
        let scores = (1..).zip(&curve.scores);
        scores.filter_map(move |(k, score)| {
            Some(Entry {
                choice: Choice { position, k },
                lambda: curve.lambda.value(),
                value: score.mean?,
                standard_error: score.standard_error.unwrap_or(0.0),
            })
        })
    })
}

/// The fewest features first, then the larger lambda: no rule that knows a lambda by its number, as
/// that is of the units of the data.
fn by_size(a: &Entry, b: &Entry) -> Ordering {
    a.choice
        .k
        .cmp(&b.choice.k)
        .then(b.lambda.total_cmp(&a.lambda))
}

/// The best value, without regard to ties.
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
    let k = near.clone().map(|entry| entry.choice.k).min()?;
    self::best(measure, near.filter(|entry| entry.choice.k == k))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metrics::Metric;

    const SQUARED: Measure = Measure::SquaredError;
    const CINDEX: Measure = Measure::Metric(Metric::Concordance);

    /// Curves such as `4±0.5: 3 2 nan`: lambda, standard error, and values by number of features.
    fn curves(text: &str) -> Vec<Curve> {
        let curve = |curve: &str| {
            let (head, values) = curve.split_once(':').unwrap();
            let (lambda, standard_error) = head.split_once('±').unwrap();
            let score = |value: &str| Score {
                mean: value.parse().ok().filter(|value: &f64| !value.is_nan()),
                standard_error: standard_error.parse().ok(),
                queries: 9,
            };
            Curve {
                lambda: lambda.trim().parse().unwrap(),
                scores: values.split_whitespace().map(score).collect(),
            }
        };
        text.split(';').map(curve).collect()
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
        let paths = "1±0.1: 5 3 4; 2±0.1: 6 5 2";
        let near = "1±1: 9 4.5 4 3.6; 2±1: 9 4.25 4 3.5; 4±9: 8 4.75 4 3.7";
        let falls = "1±0.1: 8 7.9 4 3.9 3.8 1";
        let both = "1±0.1: 8 7.9 4 3.9 3.8 1; 2±0.1: 5 4 3.5 3.5";
        let rises = "1±0.1: 0.5 0.5625 0.625 0.625";
        for (rule, measure, paths, expected) in [
            ("best", SQUARED, paths, (2.0, 3)),
            ("best", CINDEX, paths, (2.0, 1)),
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
            ("one-se", CINDEX, "1±0.125: 0.25 0.5 0.75 0.875", (1.0, 3)),
            ("one-se", SQUARED, "8±1: 4 3.5; 0.5±1: 4 3.6", (8.0, 1)),
            // Without a standard error, the sparsest of the best.
            ("one-se", SQUARED, "1±none: 3 2 2", (1.0, 2)),
            ("min-improvement:0.5:1", SQUARED, falls, (1.0, 1)),
            ("min-improvement:0.5:2", SQUARED, falls, (1.0, 3)),
            ("min-improvement:0.5:3", SQUARED, falls, (1.0, 6)),
            ("min-improvement:0:1", SQUARED, falls, (1.0, 6)),
            // The path of 1 ends at 4, that of 2 at 5.
            ("min-improvement:0.5:2", SQUARED, both, (1.0, 3)),
            ("min-improvement:0.25:1", SQUARED, both, (2.0, 1)),
            ("min-improvement:0.125:1", CINDEX, rises, (1.0, 1)),
            ("min-improvement:0.125:2", CINDEX, rises, (1.0, 3)),
        ] {
            let curves = curves(paths);
            let choice = rule.parse::<Rule>().unwrap().choose(measure, &curves);
            let found = choice.map(|best| (curves[best.position].lambda.value(), best.k));
            assert_eq!(found, Some(expected), "{rule}, {measure}: {paths}");
        }
    }

    #[test]
    fn models_without_a_value_do_not_take_part() {
        let curves = curves("1±0.1: nan 2; 2±0.1:");
        for rule in ["best", "one-se", "min-improvement:0:1"] {
            let rule: Rule = rule.parse().unwrap();
            let first = Choice { position: 0, k: 2 };
            assert_eq!(rule.choose(SQUARED, &curves), Some(first));
            assert_eq!(rule.choose(SQUARED, &curves[1..]), None);
        }
    }
}
