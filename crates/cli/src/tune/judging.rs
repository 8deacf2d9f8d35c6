//! `tune --evidence` and `--rule`: how models are judged, and which of them is chosen.

use std::path::{Path, PathBuf};
use std::str::FromStr;

use anyhow::Result;
use clap::Args;
use rankrls::Dataset;
use rankrls::tune::{Evidence, Rule};

use crate::args::usage;
use crate::files::{DataPath, Named, Names};

/// Folds where their number is not said.
const FOLDS: usize = 5;

#[derive(Debug, Args)]
pub(super) struct JudgingArgs {
    /// Predictions to judge by: lqo, for the training data by models that leave out the query;
    /// folds:N, for the queries of each fold by features selected without them; or a file of
    /// validation data [default: folds:5 where column classes are more than ten times the queries,
    /// so that lqo would be biased, else lqo]
    #[arg(long, value_name = "EVIDENCE")]
    evidence: Option<EvidenceChoice>,
    /// As --evidence FILE
    #[arg(long, value_name = "DATA", hide = true)]
    validation: Option<DataPath>,
    /// As --evidence folds:N
    #[arg(long, value_name = "N", hide = true, conflicts_with = "validation")]
    #[arg(value_parser = folds)]
    folds: Option<usize>,
    /// best: the best value; one-se: the fewest features within one standard error of it;
    /// min-improvement:X:P: the best of paths that end after P steps that do not improve it by X, a
    /// share of the squared error or a difference of a measure [default: best; 0.001 and 5]
    #[arg(long, value_name = "RULE")]
    rule: Option<Rule>,
    /// As --rule min-improvement:X
    #[arg(long, value_name = "X", allow_negative_numbers = true, hide = true)]
    min_improvement: Option<String>,
    /// As --rule min-improvement:X:P
    #[arg(long, value_name = "P", hide = true)]
    patience: Option<String>,
}

/// What `--evidence` names.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum EvidenceChoice {
    Lqo,
    Folds(usize),
    /// `None`: the data of `--validation`.
    Validation(Option<DataPath>),
}

impl FromStr for EvidenceChoice {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match (text, text.strip_prefix("folds:")) {
            ("lqo", _) => Ok(Self::Lqo),
            ("folds", _) => Ok(Self::Folds(FOLDS)),
            ("validation", _) => Ok(Self::Validation(None)),
            (_, Some(count)) => folds(count).map(Self::Folds),
            _ if text == "-" || Path::new(text).exists() => {
                Ok(Self::Validation(Some(PathBuf::from(text).into())))
            }
            _ => Err(format!(
                "expected lqo, folds:N, or a file of validation data: there is no file {text}"
            )),
        }
    }
}

impl Names for EvidenceChoice {
    fn named(&self) -> Option<Named<'_>> {
        match self {
            Self::Validation(path) => path.as_ref()?.named(),
            Self::Lqo | Self::Folds(_) => None,
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
    /// Refuses what the old names of the options say against the new ones.
    pub(super) fn check(&self) -> Result<()> {
        let message = match (&self.evidence, &self.validation, self.folds) {
            (Some(EvidenceChoice::Validation(None)), None, _) => {
                "--evidence validation takes its data from --validation: --evidence FILE says both"
            }
            (None | Some(EvidenceChoice::Validation(None)), _, None)
            | (None | Some(EvidenceChoice::FIVE_FOLDS), None, _)
            | (_, None, None) => return self.rule().map(|_| ()),
            _ => "--evidence says all: it does not go with another --validation or --folds",
        };
        Err(usage(message))
    }

    /// The evidence that was asked for.
    pub(super) fn evidence(&self) -> Option<EvidenceChoice> {
        let folds = self.folds.map(EvidenceChoice::Folds);
        let data = self
            .validation
            .clone()
            .map(|path| EvidenceChoice::Validation(Some(path)));
        data.or(folds).or(self.evidence.clone())
    }

    /// The file of validation data.
    pub(super) fn validation(&self) -> Option<DataPath> {
        match self.evidence() {
            Some(EvidenceChoice::Validation(path)) => path,
            _ => None,
        }
    }

    pub(super) fn rule(&self) -> Result<Rule> {
        if self.min_improvement.is_none() && self.patience.is_none() {
            return Ok(self.rule.unwrap_or_default());
        }
        let named = self.rule.unwrap_or(Rule::MIN_IMPROVEMENT);
        let Rule::MinImprovement { least, patience } = named else {
            return Err(usage(
                "--min-improvement and --patience go with --rule min-improvement",
            ));
        };
        let least = self.min_improvement.clone().unwrap_or(least.to_string());
        let patience = self.patience.clone().unwrap_or(patience.to_string());
        let rule = format!("min-improvement:{least}:{patience}").parse();
        rule.map_err(|error: String| usage(error))
    }
}

impl EvidenceChoice {
    /// What is taken where leave-query-out predictions would be biased.
    pub(super) const FIVE_FOLDS: Self = Self::Folds(FOLDS);

    /// The evidence, with the `validation` data if they are it.
    pub(super) fn evidence(self, seed: u64, validation: Option<&Dataset<'_>>) -> Evidence {
        match self {
            Self::Lqo => Evidence::Lqo,
            Self::Folds(count) => Evidence::Folds { count, seed },
            Self::Validation(_) => validation.map_or(Evidence::Lqo, Evidence::of),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn evidence_is_read() {
        let file = std::env::current_exe().unwrap();
        for (text, choice) in [
            ("lqo", EvidenceChoice::Lqo),
            ("folds", EvidenceChoice::Folds(5)),
            ("folds:3", EvidenceChoice::Folds(3)),
            (
                "-",
                EvidenceChoice::Validation(Some(PathBuf::from("-").into())),
            ),
            (
                file.to_str().unwrap(),
                EvidenceChoice::Validation(Some(file.clone().into())),
            ),
        ] {
            assert_eq!(text.parse(), Ok(choice), "{text}");
        }
        for text in ["", "folds:1", "folds:x", "fold", "absent.svm"] {
            assert!(text.parse::<EvidenceChoice>().is_err(), "{text}");
        }
    }
}
