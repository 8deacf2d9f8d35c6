//! The findings of an earlier run, for a run that goes on with them.

use serde::{Deserialize, Serialize};

use super::{SelectionOptions, Step, StrategyKind, TeacherPredictions};
use crate::data::LabelScale;
use crate::lambda::Lambda;

/// The findings of an earlier run of a selection: nothing, some steps, or a teacher's predictions, too.
#[derive(Debug, Clone, Copy, Default)]
pub struct Earlier<'a> {
    /// Its steps.
    pub steps: &'a [Step],
    /// The predictions of its teacher, if they were kept.
    pub teacher: Option<&'a TeacherPredictions>,
}

impl<'a, S: AsRef<[Step]> + ?Sized> From<&'a S> for Earlier<'a> {
    fn from(steps: &'a S) -> Self {
        Self {
            steps: steps.as_ref(),
            teacher: None,
        }
    }
}

impl<'a> From<&'a Recorded> for Earlier<'a> {
    fn from(recorded: &'a Recorded) -> Self {
        Self {
            steps: &recorded.steps,
            teacher: recorded.teacher.as_ref(),
        }
    }
}

/// Which selection it is, of those from the same data: a path of a grid.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PathId {
    /// The ridge parameter.
    pub lambda: Lambda,
    /// The strategy that was chosen, or taken; `None`: one that the library does not have.
    pub strategy: Option<StrategyKind>,
    /// The scale of the labels.
    pub labels: LabelScale,
}

impl PathId {
    /// The path of `options` with `lambda` by `strategy`, which the options may leave open.
    pub fn new(
        options: &SelectionOptions,
        lambda: Lambda,
        strategy: impl Into<Option<StrategyKind>>,
    ) -> Self {
        let strategy = strategy.into();
        Self {
            lambda,
            strategy,
            labels: options.target.label_scale(strategy),
        }
    }

    /// Whether it is a path of `options` with some lambda; they may leave the strategy open.
    pub(crate) fn is_of(&self, options: &SelectionOptions) -> bool {
        let strategy = options.strategy.or(self.strategy);
        *self == Self::new(options, self.lambda, strategy)
    }
}

/// The findings for a selection, or some of them: a plain value, which may be stored and read back.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Recorded {
    /// Its path. A resumed run keeps the strategy, even if the automatic choice is now another.
    pub path: PathId,
    /// The fold that it does without, from 0; `None`: all training data.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fold: Option<usize>,
    /// Its steps, to be taken again without a search.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub steps: Vec<Step>,
    /// The predictions of its teacher, if they were kept; no lambda of a selection changes them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub teacher: Option<TeacherPredictions>,
}

impl Recorded {
    /// Before anything is found for the selection of `path` without `fold`, or from all data.
    pub fn new(path: PathId, fold: Option<usize>) -> Self {
        Self {
            path,
            fold,
            steps: Vec::new(),
            teacher: None,
        }
    }

    /// The findings in `all` for the selection of `path` without `fold`, to add to.
    pub(crate) fn of(all: &mut Vec<Self>, path: PathId, fold: Option<usize>) -> &mut Self {
        let same = |known: &Self| (known.path, known.fold) == (path, fold);
        let place = all.iter().position(same).unwrap_or(all.len());
        if place == all.len() {
            all.push(Self::new(path, fold));
        }
        &mut all[place]
    }
}
