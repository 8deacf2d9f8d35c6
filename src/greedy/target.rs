//! What a selection learns from: labels on some scale, mixed with what a teacher says.
//!
//! A teacher predicts every query without having seen its labels: RankRLS on all columns by its
//! hold-out predictions `z`, or scores from elsewhere. `distil` selects towards
//! `t = (1 - blend) z + blend y`, and `cross-fitted` weights are those of [`REFIT_BLEND`], after
//! the features have been selected by whatever strategy. `docs/quality.md` has why, and what it
//! is worth.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::StrategyKind;
use crate::Lambda;
use crate::data::{Dataset, LabelScale};
use crate::names::names;

/// Share of the labels in the target of cross-fitted weights; the rest is the teacher's.
pub(super) const REFIT_BLEND: f64 = 0.25;

/// The ridge parameter of cross-fitted weights.
pub(super) const REFIT_LAMBDA: f64 = 4.0;

/// Queries from which on labels count more: [`TargetOptions::blend`].
const MANY_QUERIES: usize = 500;

/// Labels, and scores of a teacher if they come from elsewhere.
#[derive(Debug, Clone, Copy)]
pub struct Target<'a> {
    /// Labels as given, `m`.
    pub labels: &'a [f64],
    /// A score for each row by a ranker that had not seen the row's query, `m`.
    pub teacher: Option<&'a [f64]>,
}

impl<'a> From<&'a [f64]> for Target<'a> {
    fn from(labels: &'a [f64]) -> Self {
        Self {
            labels,
            teacher: None,
        }
    }
}

impl<'a> From<&'a Vec<f64>> for Target<'a> {
    fn from(labels: &'a Vec<f64>) -> Self {
        Self::from(&labels[..])
    }
}

impl<'a> From<&'a Dataset<'_>> for Target<'a> {
    fn from(dataset: &'a Dataset<'_>) -> Self {
        Self {
            labels: dataset.labels(),
            teacher: dataset.teacher(),
        }
    }
}

/// What the weights of the selected features are fitted to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Refit {
    /// What the features were selected by: the labels, or the target of `distil`.
    Labels,
    /// Three quarters of the teacher's hold-out predictions and a quarter of the labels, with
    /// lambda 4.
    CrossFitted,
}

names!(Refit, "target of weights", Labels => "labels", CrossFitted => "cross-fitted");

/// What is learnt from.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[cfg_attr(feature = "cli", derive(clap::Args))]
pub struct TargetOptions {
    /// Scale of the training labels within each query: raw, sqrt-sd divides by the root of their
    /// standard deviation, unit by the deviation; errors are in its units
    #[cfg_attr(
        feature = "cli",
        arg(long, value_name = "SCALE", value_enum, default_value = "raw")
    )]
    #[cfg_attr(feature = "cli", arg(hide_possible_values = true))]
    pub labels: LabelScale,
    /// Labels to fit the weights to: labels, or cross-fitted, three quarters of what a teacher
    /// predicts [default: labels; cross-fitted with --strategy distil]
    #[cfg_attr(feature = "cli", arg(long, value_name = "TARGET"))]
    #[cfg_attr(feature = "cli", arg(hide_possible_values = true))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub refit: Option<Refit>,
    /// Share of the labels in what distil selects by, from 0 to 1; the rest is the teacher's
    /// [default: 0.2; 0.4 from 500 queries on]
    #[cfg_attr(feature = "cli", arg(long, value_name = "SHARE"))]
    #[cfg_attr(feature = "cli", arg(value_parser = share))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub blend: Option<f64>,
    /// Ridge parameters of the teacher, RankRLS on all columns; the one of least hold-out error
    /// is taken [default: 4,16,64]
    #[cfg_attr(feature = "cli", arg(long, value_name = "LIST"))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub teacher_lambda: Option<TeacherLambdas>,
}

impl TargetOptions {
    /// The ridge parameter for `distil` on so many queries, where nobody asks for another: 16, and 4
    /// from 500 queries on.
    pub fn lambda(queries: usize) -> Lambda {
        let value = if queries < MANY_QUERIES { 16.0 } else { 4.0 };
        Lambda::new(value).unwrap_or(Lambda::ONE)
    }

    /// Whether nothing is asked for.
    pub(crate) fn is_default(&self) -> bool {
        *self == Self::default()
    }

    /// The same with every choice made that counts for `strategy` on so many queries, and without
    /// the other choices.
    #[must_use]
    pub fn resolved(self, strategy: StrategyKind, queries: usize) -> Self {
        let distils = strategy.distils();
        let default = if distils {
            Refit::CrossFitted
        } else {
            Refit::Labels
        };
        let refit = self.refit.unwrap_or(default);
        let taught = distils || refit == Refit::CrossFitted;
        let blend = if queries < MANY_QUERIES { 0.2 } else { 0.4 };
        Self {
            labels: self.labels,
            refit: taught.then_some(refit),
            blend: distils.then(|| self.blend.unwrap_or(blend)),
            teacher_lambda: taught.then(|| self.teacher_lambda.unwrap_or_default()),
        }
    }
}

/// Parses a share for the command line.
#[cfg(feature = "cli")]
fn share(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(share) if (0.0..=1.0).contains(&share) => Ok(share),
        _ => Err("expected a number from 0 to 1".to_owned()),
    }
}

/// Most ridge parameters of a teacher.
const MOST_LAMBDAS: usize = 8;

/// Ridge parameters of a teacher: from one to eight, ascending, each once.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Vec<Lambda>", into = "Vec<Lambda>")]
pub struct TeacherLambdas {
    lambdas: [Lambda; MOST_LAMBDAS],
    count: usize,
}

impl TeacherLambdas {
    /// Each of `lambdas` once; `None` unless they are from one to eight.
    pub fn new(lambdas: &[Lambda]) -> Option<Self> {
        let grid = Lambda::grid(lambdas);
        let mut all = [Lambda::ONE; MOST_LAMBDAS];
        all.get_mut(..grid.len())?.copy_from_slice(&grid);
        (!grid.is_empty()).then_some(Self {
            lambdas: all,
            count: grid.len(),
        })
    }

    /// The ridge parameters, ascending.
    pub fn as_slice(&self) -> &[Lambda] {
        &self.lambdas[..self.count]
    }
}

impl Default for TeacherLambdas {
    /// 4, 16 and 64.
    fn default() -> Self {
        let lambda = |value: f64| Lambda::new(value).expect("above 0");
        Self::new(&[4.0, 16.0, 64.0].map(lambda)).expect("three of them")
    }
}

impl TryFrom<Vec<Lambda>> for TeacherLambdas {
    type Error = String;

    fn try_from(lambdas: Vec<Lambda>) -> Result<Self, String> {
        Self::new(&lambdas).ok_or_else(|| {
            let found = lambdas.len();
            format!("expected from 1 to {MOST_LAMBDAS} lambdas for the teacher, found {found}")
        })
    }
}

impl From<TeacherLambdas> for Vec<Lambda> {
    fn from(lambdas: TeacherLambdas) -> Self {
        lambdas.as_slice().to_vec()
    }
}

impl FromStr for TeacherLambdas {
    type Err = String;

    /// Numbers above 0 with commas between.
    fn from_str(text: &str) -> Result<Self, String> {
        let lambdas = text.split(',').map(|lambda| lambda.trim().parse());
        lambdas.collect::<Result<Vec<Lambda>, _>>()?.try_into()
    }
}

impl fmt::Display for TeacherLambdas {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let lambdas: Vec<String> = self.as_slice().iter().map(Lambda::to_string).collect();
        formatter.pad(&lambdas.join(","))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn defaults_depend_on_strategy_and_queries() {
        let none = TargetOptions::default();
        assert!(none.resolved(StrategyKind::Bounded, 1000).is_default());
        let few = none.resolved(StrategyKind::Distil, 112);
        assert_eq!(
            (few.blend, few.refit),
            (Some(0.2), Some(Refit::CrossFitted))
        );
        assert_eq!(few.teacher_lambda.unwrap().to_string(), "4,16,64");
        assert_eq!(none.resolved(StrategyKind::Distil, 560).blend, Some(0.4));
        let refit = TargetOptions {
            refit: Some(Refit::CrossFitted),
            blend: Some(0.3),
            ..none
        };
        let refit = refit.resolved(StrategyKind::Dense, 112);
        assert!(refit.teacher_lambda.is_some() && refit.blend.is_none());
    }

    #[test]
    fn lists_of_lambdas_are_short_and_in_order() {
        let parsed: TeacherLambdas = "64, 4,4".parse().unwrap();
        assert_eq!(parsed.to_string(), "4,64");
        for text in ["", "1,,2", "0", "1,2,3,4,5,6,7,8,9"] {
            assert!(text.parse::<TeacherLambdas>().is_err(), "{text}");
        }
    }
}
