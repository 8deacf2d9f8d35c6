//! Which of all models to take.

use std::cmp::Ordering;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::{Measure, Score, TuneError};
use crate::Lambda;

/// How lambda and k are chosen by the values of all models.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(tag = "name", rename_all = "kebab-case")]
pub enum Rule {
    /// The best value. Of equal ones that with the fewest features, then that of the larger lambda.
    #[default]
    Best,
    /// The fewest features of all models that are within one standard error (that of the best
    /// one, over queries) of the best value. Of as many features the best value, then the larger
    /// lambda.
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
    /// Position of its lambda in the grid.
    pub position: usize,
    /// Its features.
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

    /// Chooses a model; `None` where none has a value.
    pub fn choose(self, measure: Measure, curves: &[Curve]) -> Option<Choice> {
        let chosen = match self {
            Self::Best => best(measure, entries(curves)),
            Self::OneSe => sparsest(measure, entries(curves)),
            Self::MinImprovement { least, patience } => {
                let last =
                    |curve: &Curve| EarlyStop::new(measure, least, patience).last(&curve.scores);
                let last: Vec<Option<usize>> = curves.iter().map(last).collect();
                let is_last = |entry: &Entry| last[entry.choice.position] == Some(entry.choice.k);
                best(measure, entries(curves).filter(is_last))
            }
        };
        chosen.map(|entry| entry.choice)
    }

    pub(super) fn check(self) -> Result<(), TuneError> {
        let Self::MinImprovement { least, patience } = self else {
            return Ok(());
        };
        if !(least.is_finite() && least >= 0.0) {
            return Err(TuneError::Rule {
                what: "the least improvement",
                expected: "a finite number from 0 on",
                found: least.to_string(),
            });
        }
        if patience == 0 {
            return Err(TuneError::Rule {
                what: "the patience",
                expected: "at least 1 model",
                found: patience.to_string(),
            });
        }
        Ok(())
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
        let mut parts = text.split(':');
        let rules = [Self::Best, Self::OneSe, Self::MIN_IMPROVEMENT];
        let name = parts.next().unwrap_or_default();
        let mut rule = rules.into_iter().find(|rule| rule.name() == name);
        if let Some(Self::MinImprovement { least, patience }) = &mut rule {
            if let Some(text) = parts.next() {
                let number = text.parse().ok();
                let number = number.filter(|number: &f64| number.is_finite() && *number >= 0.0);
                *least = number
                    .ok_or_else(|| format!("expected an improvement from 0 on, found {text}"))?;
            }
            if let Some(text) = parts.next() {
                let number = text.parse().ok().filter(|number| *number > 0);
                *patience =
                    number.ok_or_else(|| format!("expected a patience from 1 on, found {text}"))?;
            }
        }
        rule.filter(|_| parts.next().is_none())
            .ok_or_else(|| "expected best, one-se or min-improvement:X:P".to_owned())
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

    fn curve(lambda: f64, standard_error: f64, values: &[f64]) -> Curve {
        let score = |&value: &f64| Score {
            mean: Some(value).filter(|value| !value.is_nan()),
            standard_error: Some(standard_error),
            queries: 9,
        };
        Curve {
            lambda: Lambda::new(lambda).unwrap(),
            scores: values.iter().map(score).collect(),
        }
    }

    /// Lambda and k of the choice.
    fn chosen(rule: Rule, measure: Measure, curves: &[Curve]) -> (f64, usize) {
        let choice = rule.choose(measure, curves).unwrap();
        (curves[choice.position].lambda.value(), choice.k)
    }

    #[test]
    fn rules_are_read() {
        let rule = |least, patience| Ok(Rule::MinImprovement { least, patience });
        for (text, read) in [
            ("best", Ok(Rule::Best)),
            ("one-se", Ok(Rule::OneSe)),
            ("min-improvement", Ok(Rule::MIN_IMPROVEMENT)),
            ("min-improvement:0.01", rule(0.01, 5)),
            ("min-improvement:0:2", rule(0.0, 2)),
        ] {
            assert_eq!(text.parse(), read, "{text}");
        }
        for text in [
            "",
            "worst",
            "best:1",
            "min-improvement:-1",
            "min-improvement:nan",
        ] {
            assert!(text.parse::<Rule>().is_err(), "{text}");
        }
        for text in [
            "min-improvement:0:0",
            "min-improvement:0:1:2",
            "min-improvement:",
        ] {
            assert!(text.parse::<Rule>().is_err(), "{text}");
        }
    }

    #[test]
    fn the_best_value_wins() {
        let curves = [
            curve(1.0, 0.1, &[5.0, 3.0, 4.0]),
            curve(2.0, 0.1, &[6.0, 5.0, 2.0]),
        ];
        assert_eq!(chosen(Rule::Best, SQUARED, &curves), (2.0, 3));
        assert_eq!(chosen(Rule::Best, CINDEX, &curves), (2.0, 1));
    }

    #[test]
    fn ties_go_to_fewer_features_then_to_the_larger_lambda() {
        let tied = [curve(1.0, 0.1, &[9.0, 2.0]), curve(64.0, 0.1, &[2.0, 2.0])];
        assert_eq!(chosen(Rule::Best, SQUARED, &tied), (64.0, 1));
        let tied = [
            curve(0.125, 0.1, &[2.0]),
            curve(4.0, 0.1, &[2.0]),
            curve(16.0, 0.1, &[2.0]),
        ];
        assert_eq!(chosen(Rule::Best, SQUARED, &tied), (16.0, 1));
        let rounded = [
            curve(1.0, 0.1, &[2.0 + 1e-12, 2.0]),
            curve(2.0, 0.1, &[3.0, 2.0 - 1e-12]),
        ];
        assert_eq!(chosen(Rule::Best, SQUARED, &rounded), (1.0, 1));
    }

    #[test]
    fn one_standard_error_takes_the_sparsest_that_is_good_enough() {
        let curves = [
            curve(1.0, 1.0, &[9.0, 4.5, 4.0, 3.6]),
            curve(2.0, 1.0, &[9.0, 4.25, 4.0, 3.5]),
            curve(4.0, 9.0, &[8.0, 4.75, 4.0, 3.7]),
        ];
        // The best is 3.5 with 4 features, so 4.5 is near enough; of the two 4.25 is better.
        assert_eq!(chosen(Rule::OneSe, SQUARED, &curves), (2.0, 2));
        let curves = [curve(1.0, 0.125, &[0.25, 0.5, 0.75, 0.875])];
        assert_eq!(chosen(Rule::OneSe, CINDEX, &curves), (1.0, 3));
    }

    #[test]
    fn one_standard_error_ties_go_to_the_larger_lambda() {
        let curves = [curve(8.0, 1.0, &[4.0, 3.5]), curve(0.5, 1.0, &[4.0, 3.6])];
        assert_eq!(chosen(Rule::OneSe, SQUARED, &curves), (8.0, 1));
    }

    #[test]
    fn without_a_standard_error_the_sparsest_of_the_best_is_taken() {
        let mut only = curve(1.0, 0.0, &[3.0, 2.0, 2.0]);
        only.scores
            .iter_mut()
            .for_each(|score| score.standard_error = None);
        assert_eq!(chosen(Rule::OneSe, SQUARED, &[only]), (1.0, 2));
    }

    #[test]
    fn a_path_ends_where_it_improves_no_more() {
        let rule = |least, patience| Rule::MinImprovement { least, patience };
        let values = [8.0, 7.9, 4.0, 3.9, 3.8, 1.0];
        let curves = [curve(1.0, 0.1, &values)];
        assert_eq!(chosen(rule(0.5, 1), SQUARED, &curves), (1.0, 1));
        assert_eq!(chosen(rule(0.5, 2), SQUARED, &curves), (1.0, 3));
        assert_eq!(chosen(rule(0.5, 3), SQUARED, &curves), (1.0, 6));
        assert_eq!(chosen(rule(0.0, 1), SQUARED, &curves), (1.0, 6));
        let curves = [
            curve(1.0, 0.1, &values),
            curve(2.0, 0.1, &[5.0, 4.0, 3.5, 3.5]),
        ];
        // The path of 1 ends at 4.0, that of 2 at 5.0.
        assert_eq!(chosen(rule(0.5, 2), SQUARED, &curves), (1.0, 3));
        assert_eq!(chosen(rule(0.25, 1), SQUARED, &curves), (2.0, 1));
        let curves = [curve(1.0, 0.1, &[0.5, 0.5625, 0.625, 0.625])];
        assert_eq!(chosen(rule(0.125, 1), CINDEX, &curves), (1.0, 1));
        assert_eq!(chosen(rule(0.125, 2), CINDEX, &curves), (1.0, 3));
    }

    #[test]
    fn models_without_a_value_do_not_take_part() {
        let curves = [curve(1.0, 0.1, &[f64::NAN, 2.0]), curve(2.0, 0.1, &[])];
        for rule in [
            Rule::Best,
            Rule::OneSe,
            Rule::MinImprovement {
                least: 0.0,
                patience: 1,
            },
        ] {
            assert_eq!(chosen(rule, SQUARED, &curves), (1.0, 2));
            assert_eq!(rule.choose(SQUARED, &curves[1..]), None);
        }
    }

    #[test]
    fn parameters_are_checked() {
        for (least, patience) in [(-1.0, 1), (f64::NAN, 1), (f64::INFINITY, 1), (0.5, 0)] {
            assert!(Rule::MinImprovement { least, patience }.check().is_err());
        }
        assert!(
            Rule::MinImprovement {
                least: 0.0,
                patience: 1
            }
            .check()
            .is_ok()
        );
    }
}
