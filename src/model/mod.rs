//! The model file: what was selected or trained, from what, and how well it did on the way.
//!
//! A model is one JSON document with the schema `rankrls.model/1`:
//!
//! | key | meaning |
//! |---|---|
//! | `strategy`, `lambda` | how the features were selected; `all` or `given` if they were not, see [`FeatureChoice`] |
//! | `criterion`, `convention` | what each step improved most: `squared` or a measure, and the measure's convention or null; `squared` where missing |
//! | `objective` | which pairs were to be ordered, see [`Objective`]; `query` where missing |
//! | `query_weight` | what the queries counted; `uniform` where missing |
//! | `target` | what was learnt from, see [`TargetOptions`]: `labels`, `refit`, `blend`, `teacher_lambda`; the raw labels where missing |
//! | `scale` | what the columns were divided by in training, which is in the weights already; `none` where missing |
//! | `candidates`, `seed` | candidates drawn each step and the seed; null if all were judged |
//! | `index_base` | 0 or 1: how the data file, and with it this file, counts columns |
//! | `table` | what the columns of a table were, and missing values, see [`TableOptions`]: `label`, `query`, `missing` (a number or `mean`), `ignore`; nothing said where missing |
//! | `features` | in order of selection, else ascending: `index`, `name` or null, `weight`, and `identical`, the other columns that centre to the same up to sign. `name` and `identical` may be left out |
//! | `path` | `step`, `feature`, `lqo_error` and `lqo_cindex` (null without pairs to order) after each step; empty if nothing was selected |
//! | `kernel`, `basis` | of a model under a kernel that is not linear, in place of features: the kernel with its parameters, and rows of the training data, each with its `coefficient`, `indices` and `values` |
//! | `data` | sizes of the training data, `constant_columns`, `column_classes`, and its `hash`, see [`DataHash`] |
//!
//! Numbers are written so that they read back to the same bits. Reading checks everything that
//! can be checked and takes memory in proportion to the file, of at most 256 MiB; the file may
//! be compressed.

mod expansion;
mod explain;
mod features;
mod file;
mod fitted;
#[cfg(test)]
mod tests;

use std::fmt;
use std::io;
use std::path::PathBuf;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use thiserror::Error;

use crate::columns::{Scale, Summary};
use crate::data::read::{ReadError, TableOptions};
use crate::data::{DataHash, Dataset, DatasetError, FeatureNames, IndexBase};
use crate::greedy::{
    Criterion, Sampler, Selection, SelectionOptions, Step, StrategyKind, TargetOptions,
};
use crate::ridge::{Fit, Kernel, TrainOptions};
use crate::{Lambda, Objective, QueryWeight};

pub use expansion::{BasisRow, Expansion};
pub use explain::{Against, Contribution, ExplainError, ExplainedRow, Explanation};
pub use features::read_features;
pub use file::SCHEMA;
pub use fitted::{
    GlobalRankRls, GreedyRankRls, GreedyRankRlsParams, PairwiseRankRls, RankRls, RankRlsParams,
};

/// A linear model over features that were selected, over given ones, or over all.
#[derive(Debug, Clone, PartialEq)]
pub struct Model {
    strategy: FeatureChoice,
    lambda: Lambda,
    sampler: Option<Sampler>,
    criterion: Criterion,
    objective: Objective,
    query_weight: QueryWeight,
    target: TargetOptions,
    scale: Scale,
    index_base: IndexBase,
    table: TableOptions,
    features: Vec<SelectedFeature>,
    /// In place of features, where the kernel is not linear.
    expansion: Option<Expansion>,
    path: Vec<PathStep>,
    data: DataSummary,
}

/// A feature of a model.
#[derive(Debug, Clone, PartialEq)]
pub struct SelectedFeature {
    /// 0-based column.
    pub feature: u32,
    /// Its name, if the data had names.
    pub name: Option<String>,
    /// Its weight.
    pub weight: f64,
    /// 0-based columns that centre to the same one up to sign.
    pub identical: Vec<u32>,
}

/// How good the model was after a step.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PathStep {
    /// Leave-query-out error: sum over queries of the squared centred residuals.
    pub lqo_error: f64,
    /// Concordance index of the leave-query-out predictions, if some query has a pair to order.
    pub lqo_cindex: Option<f64>,
}

/// The data that a model was trained on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DataSummary {
    /// Examples.
    pub rows: usize,
    /// Queries.
    pub queries: usize,
    /// Columns, used or not.
    pub columns: usize,
    /// Stored entries.
    pub nonzeros: usize,
    /// Columns constant within every query.
    pub constant_columns: usize,
    /// Distinct columns once centred, up to sign.
    pub column_classes: usize,
    /// Hash of all of it.
    pub hash: DataHash,
}

impl DataSummary {
    /// Describes `dataset`, whose columns fall into classes as `summary` says.
    pub fn new(dataset: &Dataset<'_>, summary: &Summary) -> Self {
        Self {
            rows: dataset.rows(),
            queries: dataset.queries().len(),
            columns: dataset.width(),
            nonzeros: dataset.nonzeros(),
            constant_columns: summary.constant_columns,
            column_classes: summary.column_classes,
            hash: DataHash::of(dataset),
        }
    }
}

impl Model {
    /// The model that `selection` found in `dataset`.
    pub fn from_selection(selection: &Selection, dataset: &Dataset<'_>, summary: &Summary) -> Self {
        let parts = selection.steps.iter().zip(&selection.weights);
        let parts = parts.zip(&selection.classes);
        let feature = |((step, &weight), class): ((&Step, &f64), &Vec<u32>)| {
            let others = class.iter().filter(|&&member| member != step.feature);
            SelectedFeature {
                feature: step.feature,
                name: dataset.name_of(step.feature).map(str::to_owned),
                weight,
                identical: others.copied().collect(),
            }
        };
        let path = |step: &Step| PathStep {
            lqo_error: step.lqo_error,
            lqo_cindex: step.lqo_cindex,
        };
        Self {
            strategy: FeatureChoice::Strategy(selection.strategy),
            lambda: selection.lambda,
            sampler: selection.sampler,
            criterion: selection.criterion,
            objective: Objective::Query,
            query_weight: selection.query_weight,
            target: selection.target,
            scale: selection.scale,
            index_base: dataset.index_base(),
            table: TableOptions::default(),
            features: parts.map(feature).collect(),
            expansion: None,
            path: selection.steps.iter().map(path).collect(),
            data: DataSummary::new(dataset, summary),
        }
    }

    /// The model that was trained on features of `dataset`, all or `given` ones, with `lambda` and
    /// `kernel` by these `options`: weights of features, or coefficients of rows. A kernel that is
    /// linear in the columns becomes weights.
    pub fn from_fit(
        fit: &Fit,
        kernel: Kernel,
        strategy: FeatureChoice,
        lambda: Lambda,
        dataset: &Dataset<'_>,
        summary: &Summary,
        options: &TrainOptions,
    ) -> Self {
        let expansion = match fit {
            Fit::Kernel { rows, coefficients } if !kernel.is_linear() => {
                Some(Expansion::new(kernel, dataset, rows, coefficients))
            }
            _ => None,
        };
        let linear;
        let (weights, constant_columns) = match fit {
            Fit::Linear(weights) => (weights, summary.constant_columns),
            // Columns that are constant in the training data may vary in others.
            Fit::Kernel { rows, coefficients } => {
                linear = kernel.weights(dataset, rows, coefficients);
                (&linear, 0)
            }
        };
        let pairs = weights.features.iter().zip(&weights.values);
        let feature = |(&feature, &weight): (&u32, &f64)| SelectedFeature {
            feature,
            name: dataset.name_of(feature).map(str::to_owned),
            weight,
            identical: Vec::new(),
        };
        Self {
            strategy,
            lambda,
            sampler: None,
            criterion: Criterion::Squared,
            objective: options.objective,
            query_weight: options.query_weight,
            target: TargetOptions {
                labels: Some(options.labels).filter(|labels| !labels.is_raw()),
                ..TargetOptions::default()
            },
            scale: options.scale,
            index_base: dataset.index_base(),
            table: TableOptions::default(),
            features: pairs.map(feature).collect(),
            expansion,
            path: Vec::new(),
            data: DataSummary {
                constant_columns,
                ..DataSummary::new(dataset, summary)
            },
        }
    }

    /// The same with `names` of features, as far as they go.
    #[must_use]
    pub fn with_names(mut self, names: &FeatureNames) -> Self {
        for feature in &mut self.features {
            let name = names.of(feature.feature).map(str::to_owned);
            feature.name = name.or(feature.name.take());
        }
        self
    }

    /// The same of data that were read in this way.
    #[must_use]
    pub fn with_table(mut self, table: TableOptions) -> Self {
        self.table = table;
        self
    }

    /// How the features were chosen.
    pub fn strategy(&self) -> FeatureChoice {
        self.strategy
    }

    /// The rows of training data that the model scores by, where its kernel is not linear: then it has
    /// no features.
    pub fn expansion(&self) -> Option<&Expansion> {
        self.expansion.as_ref()
    }

    /// The ridge parameter.
    pub fn lambda(&self) -> Lambda {
        self.lambda
    }

    /// Candidates drawn each step, if not all were judged, and the seed.
    pub fn sampler(&self) -> Option<Sampler> {
        self.sampler
    }

    /// What each step of the selection improved most.
    pub fn criterion(&self) -> Criterion {
        self.criterion
    }

    /// What the model is to order.
    pub fn objective(&self) -> Objective {
        self.objective
    }

    /// What the queries of the training data counted.
    pub fn query_weight(&self) -> QueryWeight {
        self.query_weight
    }

    /// What was learnt from.
    pub fn target(&self) -> TargetOptions {
        self.target
    }

    /// What the columns were divided by in training. Weights are in the units of the data.
    pub fn scale(&self) -> Scale {
        self.scale
    }

    /// The selection that this model is the end of, to go on with
    /// ([`resume_among`](crate::greedy::resume_among)): its options, with room for `k` features,
    /// and its steps. `None` for a model whose features were not selected.
    pub fn selection(&self, k: usize) -> Option<(SelectionOptions, Vec<Step>)> {
        let FeatureChoice::Strategy(strategy) = self.strategy else {
            return None;
        };
        let mut options = SelectionOptions {
            strategy: Some(strategy),
            criterion: self.criterion,
            query_weight: self.query_weight,
            target: self.target,
            scale: self.scale,
            ..SelectionOptions::new(k, self.lambda)
        };
        if let Some(Sampler { size, seed }) = self.sampler {
            options.seed = seed;
            options.sample = Some(size).filter(|_| strategy.default_sample() != Some(size));
        }
        let step = |(feature, path): (&SelectedFeature, &PathStep)| Step {
            feature: feature.feature,
            lqo_error: path.lqo_error,
            lqo_cindex: path.lqo_cindex,
            criterion: None,
            identical_columns: feature.identical.len(),
            evaluated: 0,
            alive: Vec::new(),
        };
        let steps = self.features.iter().zip(&self.path).map(step);
        Some((options, steps.collect()))
    }

    /// How the training data counted its columns.
    pub fn index_base(&self) -> IndexBase {
        self.index_base
    }

    /// What the columns of the table of training data were, and what was taken for missing values, as
    /// far as it was said: other data for the model are read alike.
    pub fn table(&self) -> &TableOptions {
        &self.table
    }

    /// The features, in order of selection; ascending if they were not selected.
    pub fn features(&self) -> &[SelectedFeature] {
        &self.features
    }

    /// Leave-query-out measures after each step of a selection.
    pub fn path(&self) -> &[PathStep] {
        &self.path
    }

    /// The training data.
    pub fn data(&self) -> &DataSummary {
        &self.data
    }

    /// Scores of the rows of `dataset`, in row order: sums over the features in their
    /// order, so that equal rows have the same score to the last bit. Columns are matched
    /// by their 0-based numbers, however either file counts them.
    pub fn scores(&self, dataset: &Dataset<'_>) -> Vec<f64> {
        if let Some(expansion) = &self.expansion {
            return expansion.scores(dataset);
        }
        let weights: Vec<f64> = self.features.iter().map(|f| f.weight).collect();
        dataset.scores(&self.columns(), &weights)
    }

    /// Refuses data with entries in other columns, where a kernel would count them.
    ///
    /// # Errors
    /// [`DatasetError::OtherColumns`].
    pub fn check_columns(&self, dataset: &Dataset<'_>) -> Result<(), DatasetError> {
        let expected = self.data.columns;
        let last = dataset.stored_columns().checked_sub(1);
        let beyond = last.is_some_and(|last| dataset.feature(last) as usize >= expected);
        if self.expansion.is_some() && beyond {
            return Err(DatasetError::OtherColumns { expected });
        }
        Ok(())
    }

    /// `dataset` with the features of the model as its columns, in order of selection and with
    /// the names that the model has: data to train other rankers on.
    ///
    /// # Errors
    /// [`DatasetError`] when `dataset` has fewer columns than the training data and lacks a feature.
    pub fn project(&self, dataset: &Dataset<'_>) -> Result<Dataset<'static>, DatasetError> {
        let projected = dataset.project(&self.columns())?;
        if self.features.iter().all(|feature| feature.name.is_none()) {
            return Ok(projected);
        }
        let names = self.features.iter();
        let names = names.map(|feature| feature.name.as_deref().unwrap_or_default());
        projected.with_names(names.collect())
    }

    /// `dataset` with entries in the features of the model alone, all columns under their numbers.
    ///
    /// # Errors
    /// As [`Self::project`].
    pub fn keep(&self, dataset: &Dataset<'_>) -> Result<Dataset<'static>, DatasetError> {
        dataset.keep(&self.columns())
    }

    /// Names of all columns of the training data, empty where the model has none: to find its
    /// features in a table ([`ReadOptions::columns`](crate::data::read::ReadOptions::columns)).
    pub fn column_names(&self) -> FeatureNames {
        let mut names = vec![""; self.data.columns];
        for feature in &self.features {
            names[feature.feature as usize] = feature.name.as_deref().unwrap_or_default();
        }
        names.into_iter().collect()
    }

    /// 0-based columns, in order of selection.
    fn columns(&self) -> Vec<u32> {
        self.features.iter().map(|f| f.feature).collect()
    }
}

/// How the features of a model were chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FeatureChoice {
    /// Selected by a strategy.
    Strategy(StrategyKind),
    /// All that vary within some query.
    All,
    /// Those of a list, or of another model.
    Given,
}

impl FeatureChoice {
    /// All choices: those of a strategy first.
    fn every() -> impl Iterator<Item = Self> {
        let strategies = StrategyKind::ALL.into_iter().map(Self::Strategy);
        strategies.chain([Self::All, Self::Given])
    }

    /// The name: that of a strategy, `all` or `given`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Strategy(strategy) => strategy.name(),
            Self::All => "all",
            Self::Given => "given",
        }
    }

    /// Whether features were added one at a time, so that there is a path.
    pub fn is_selection(self) -> bool {
        matches!(self, Self::Strategy(_))
    }
}

impl fmt::Display for FeatureChoice {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(self.name())
    }
}

impl Serialize for FeatureChoice {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

impl<'de> Deserialize<'de> for FeatureChoice {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let name = String::deserialize(deserializer)?;
        let found = Self::every().find(|choice| choice.name() == name);
        found.ok_or_else(|| {
            let names: Vec<String> = Self::every().map(|choice| format!("`{choice}`")).collect();
            let expected = names.join(", ");
            serde::de::Error::custom(format_args!(
                "unknown variant `{name}`, expected one of {expected}"
            ))
        })
    }
}

/// A model file that cannot be read or written.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ModelError {
    /// The file cannot be read or decompressed.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// The text is not JSON, or the JSON has not the form of a model.
    #[error("{path}:{line}:{column}: expected a model of rankrls in JSON, found: {message}", path = path.display())]
    Json {
        /// The file.
        path: PathBuf,
        /// Line, counted from 1.
        line: usize,
        /// Column, counted from 1.
        column: usize,
        /// What is wrong there.
        message: String,
    },
    /// A document of another kind, or a model of another version.
    #[error("{path}: expected schema {expected:?}, found {found}{remedy}", path = path.display())]
    Schema {
        /// The file.
        path: PathBuf,
        /// The schema that can be read.
        expected: &'static str,
        /// The schema found, in quotes, or `none`.
        found: String,
        /// What to do about it.
        remedy: &'static str,
    },
    /// A value out of its range, or one that contradicts another.
    #[error("{path}: {field}: expected {expected}, found {found}", path = path.display())]
    Value {
        /// The file.
        path: PathBuf,
        /// Where: `features[2].weight`.
        field: String,
        /// What would be legal there.
        expected: String,
        /// What is there.
        found: String,
    },
    /// The file cannot be written.
    #[error("{path}: cannot write the model", path = path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
}
