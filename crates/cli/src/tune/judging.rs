//! `tune --holdout`, `--validation` and `--rule`: the judgement of models, and the choice among them.

use std::path::PathBuf;
use std::str::FromStr;

use clap::Args;
use rankrls::HoldOut;
use rankrls::tune::Rule;

#[derive(Debug, Args)]
pub(super) struct JudgingArgs {
    /// Predictions to judge by: lqo, by models that leave out the query; folds:N, by features that are selected
    /// without the fold of the query [default: folds:5 where column classes are more than ten times the queries, so
    /// that lqo would be biased, else lqo]
    #[arg(help_heading = "Choice", long, value_name = "SCHEME")]
    pub(super) holdout: Option<Scheme>,
    /// Judge by predictions for this data instead
    #[arg(help_heading = "Choice", long, value_name = "DATA")]
    #[arg(conflicts_with = "holdout")]
    pub(super) validation: Option<PathBuf>,
    /// best: the best value; one-se: the fewest features within one standard error of it;
    /// min-improvement:X:P: the best of paths that end after P steps that do not improve it by X, a
    /// share of the squared error or a difference of a measure [default: best; 0.001 and 5]
    #[arg(
        help_heading = "Choice",
        long,
        value_name = "RULE",
        default_value = "best",
        hide_default_value = true
    )]
    pub(super) rule: Rule,
}

/// The value of `--holdout`.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Scheme {
    /// The named hold-out.
    Named(HoldOut),
    /// Folds of the usual number.
    Folds,
}

impl FromStr for Scheme {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match (text, text.strip_prefix("folds:")) {
            ("lqo", _) => Ok(Self::Named(HoldOut::Queries)),
            ("folds", _) => Ok(Self::Folds),
            (_, Some(count)) => {
                folds(count).map(|count| Self::Named(HoldOut::Folds { count, seed: 1 }))
            }
            _ => Err(format!(
                "expected lqo or folds:N, found {text:?}; --validation names a file of data"
            )),
        }
    }
}

fn folds(text: &str) -> Result<usize, String> {
    let count = text.parse().ok().filter(|count| *count > 1);
    count.ok_or_else(|| {
        format!("expected at least 2 folds, one to predict and one to select from, found {text:?}")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn schemes_are_read() {
        let three = HoldOut::Folds { count: 3, seed: 1 };
        for (text, scheme) in [
            ("lqo", Scheme::Named(HoldOut::Queries)),
            ("folds", Scheme::Folds),
            ("folds:3", Scheme::Named(three)),
        ] {
            assert_eq!(text.parse(), Ok(scheme), "{text}");
        }
        for text in ["", "folds:1", "folds:x", "fold", "absent.svm"] {
            assert!(text.parse::<Scheme>().is_err(), "{text}");
        }
    }
}
