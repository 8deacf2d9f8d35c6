//! `tune --evidence` and `--rule`: how models are judged, and which of them is chosen.

use std::path::{Path, PathBuf};
use std::str::FromStr;

use clap::Args;
use rankrls::HoldOut;
use rankrls::tune::Rule;

#[derive(Debug, Args)]
pub(super) struct JudgingArgs {
    /// Predictions to judge by: lqo, for the training data by models that leave out the query;
    /// folds:N, for the queries of each fold by features selected without them; or a file of
    /// validation data [default: folds:5 where column classes are more than ten times the queries,
    /// so that lqo would be biased, else lqo]
    #[arg(help_heading = "Choice", long, value_name = "EVIDENCE")]
    pub(super) evidence: Option<EvidenceChoice>,
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

/// The value of `--evidence`.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum EvidenceChoice {
    /// Rows of the training data.
    HeldOut(HoldOut),
    /// Folds, as many as usual.
    Folds,
    /// Other data.
    Validation(PathBuf),
}

impl FromStr for EvidenceChoice {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match (text, text.strip_prefix("folds:")) {
            ("lqo", _) => Ok(Self::HeldOut(HoldOut::Queries)),
            ("folds", _) => Ok(Self::Folds),
            (_, Some(count)) => {
                folds(count).map(|count| Self::HeldOut(HoldOut::Folds { count, seed: 1 }))
            }
            _ if text == "-" || Path::new(text).exists() => {
                Ok(Self::Validation(PathBuf::from(text)))
            }
            _ => Err(format!(
                "expected lqo, folds:N, or a file of validation data: there is no file {text}"
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

impl JudgingArgs {
    /// The file of validation data.
    pub(super) fn validation(&self) -> Option<&PathBuf> {
        match &self.evidence {
            Some(EvidenceChoice::Validation(path)) => Some(path),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn evidence_is_read() {
        let file = std::env::current_exe().unwrap();
        let folds = |count| EvidenceChoice::HeldOut(HoldOut::Folds { count, seed: 1 });
        for (text, choice) in [
            ("lqo", EvidenceChoice::HeldOut(HoldOut::Queries)),
            ("folds", EvidenceChoice::Folds),
            ("folds:3", folds(3)),
            ("-", EvidenceChoice::Validation(PathBuf::from("-"))),
            (
                file.to_str().unwrap(),
                EvidenceChoice::Validation(file.clone()),
            ),
        ] {
            assert_eq!(text.parse(), Ok(choice), "{text}");
        }
        for text in ["", "folds:1", "folds:x", "fold", "absent.svm"] {
            assert!(text.parse::<EvidenceChoice>().is_err(), "{text}");
        }
    }
}
