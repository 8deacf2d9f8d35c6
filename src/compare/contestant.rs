//! A contestant: a strategy, perhaps on random subsets.

use std::fmt;
use std::str::FromStr;

use serde::{Serialize, Serializer};
use thiserror::Error;

use super::Selected;
use crate::UnknownName;
use crate::greedy::SelectError;
use crate::greedy::StrategyKind;

/// A strategy, perhaps on a number of candidates that are drawn in every step: `lowmem`,
/// `sampled:500`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Contestant {
    /// The strategy.
    pub strategy: StrategyKind,
    /// Candidates to draw each step; `None`: as many as the strategy does by itself.
    pub candidates: Option<usize>,
}

/// Text that names no contestant.
#[derive(Debug, Error)]
pub enum ContestantError {
    /// No such strategy.
    #[error(transparent)]
    Unknown(#[from] UnknownName),
    /// Text after the colon that is no number of candidates.
    #[error("expected a number of candidates from 1 on after the colon, found {0:?}")]
    NotANumber(String),
    /// The strategy judges all candidates, or exactly one.
    #[error(transparent)]
    CanNotSample(Box<SelectError>),
    /// The same twice.
    #[error("{0} is named twice: expected each strategy once")]
    Twice(Contestant),
}

impl Contestant {
    /// Whether it draws at random, so that it depends on the seed.
    pub fn is_random(&self) -> bool {
        self.candidates.or(self.strategy.default_sample()).is_some()
    }

    /// Whether every step took the best of all candidates.
    pub(super) fn is_exact(&self, runs: &[Selected]) -> bool {
        let judged_all = |run: &Selected| {
            let classes = run.data.column_classes;
            run.candidates.is_none_or(|drawn| drawn >= classes)
        };
        self.strategy.is_exact() && runs.iter().all(judged_all)
    }
}

/// Reads a list of contestants, separated by commas, each of them once.
///
/// # Errors
/// [`ContestantError`].
pub fn contestants(list: &str) -> Result<Vec<Contestant>, ContestantError> {
    let mut all = Vec::new();
    for name in list.split(',') {
        let contestant = name.trim().parse()?;
        if all.contains(&contestant) {
            return Err(ContestantError::Twice(contestant));
        }
        all.push(contestant);
    }
    Ok(all)
}

impl FromStr for Contestant {
    type Err = ContestantError;

    fn from_str(text: &str) -> Result<Self, ContestantError> {
        let Some((name, number)) = text.split_once(':') else {
            let strategy = text.parse()?;
            return Ok(Self {
                strategy,
                candidates: None,
            });
        };
        let strategy: StrategyKind = name.parse()?;
        if !strategy.can_sample() {
            let error = SelectError::CanNotSample { strategy };
            return Err(ContestantError::CanNotSample(Box::new(error)));
        }
        match number.parse() {
            Ok(candidates) if candidates > 0 => Ok(Self {
                strategy,
                candidates: Some(candidates),
            }),
            _ => Err(ContestantError::NotANumber(number.to_owned())),
        }
    }
}

impl fmt::Display for Contestant {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = self.strategy.name();
        match self.candidates {
            None => formatter.pad(name),
            Some(candidates) => formatter.pad(&format!("{name}:{candidates}")),
        }
    }
}

impl Serialize for Contestant {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_read() {
        let all = contestants("dense, sampled,sampled:500,lowmem:7").unwrap();
        let names: Vec<String> = all.iter().map(ToString::to_string).collect();
        assert_eq!(names, ["dense", "sampled", "sampled:500", "lowmem:7"]);
        let random: Vec<bool> = all.iter().map(Contestant::is_random).collect();
        assert_eq!(random, [false, true, true, true]);
        let random = contestants("bounded,backfit,univariate,residual,random").unwrap();
        let random: Vec<bool> = random.iter().map(Contestant::is_random).collect();
        assert_eq!(random, [false, false, false, false, true]);
    }

    #[test]
    fn other_text_is_refused() {
        for (list, says) in [
            ("", "expected one of dense"),
            ("dense,", "expected one of dense"),
            ("best", "\"best\""),
            ("sampled:0", "from 1 on"),
            ("sampled:x", "\"x\""),
            ("dense:5", "dense"),
            ("random:5", "random"),
            ("dense,bounded,dense", "dense is named twice"),
        ] {
            let error = contestants(list).unwrap_err().to_string();
            assert!(error.contains(says), "{list}: {error}");
        }
    }
}
