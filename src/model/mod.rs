//! The model file: the features and weights, the data and options they came from, and the errors on the way.
//!
//! A model is one JSON document with the schema `rankrls.model/2`; `docs/formats.md` shows one. Numbers read back
//! to the same bits. Reading checks everything that it can, and takes memory in proportion to the file, of at most
//! 256 MiB; the file may be compressed.

mod expansion;
mod explain;
mod features;
mod file;
mod fit;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::path::Path;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::columns::{ColumnClasses, Summary};
use crate::data::read::{ReadError, TableOptions};
use crate::data::{ColumnName, DataHash, Dataset, Feature, FeatureNames, IndexBase};
use crate::error::{Error, Result, ensure};
use crate::greedy::{Choice, GreedyRankRls, OWN, Selection, Step, StrategyKind};
use crate::lambda::{Lambda, Lambdas};
use crate::names::Objective;
use crate::ridge::{Fit, RankRls, Training};

pub use expansion::{BasisRow, Expansion};
pub use explain::{Contribution, ExplainedRow, Explanation, Shown};
pub use features::{ListedFeatures, read_features};

/// A selected or trained model: linear over selected, given or all features, or a kernel [`Expansion`] over rows.
/// It scores rows of data with the columns of the training data.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Model {
    /// The progress of an unfinished selection, in a model that only serves to continue it; `None`: the selection
    /// has ended.
    pub unfinished: Option<Unfinished>,
    /// The origin of the features.
    pub strategy: FeatureChoice,
    /// The pairs that the model is to order.
    pub objective: Objective,
    /// The ridge parameter.
    pub lambda: Lambda,
    /// The settings of the model, with every choice made. A selection has all of them; a training has its ridge
    /// parameter, labels, scale and query weight.
    pub settings: GreedyRankRls,
    /// The choice of the settings that nobody gave, if there was one.
    pub choice: Option<Choice>,
    /// How the training data counted its columns.
    pub index_base: IndexBase,
    /// The kinds of the columns of the table of training data, and the marks of missing values, if they were given:
    /// other data for the model are read alike.
    pub table: TableOptions,
    /// The features, in order of selection; ascending if they were not selected.
    pub features: Vec<SelectedFeature>,
    /// The rows of training data in the scores of a nonlinear kernel; such a model has no features.
    pub expansion: Option<Expansion>,
    /// The training data.
    pub data: DataSummary,
    /// Names of all columns of the training data; empty if unknown. Data in files keep only the names of the
    /// features.
    pub column_names: Vec<String>,
}

/// The progress of an unfinished selection: "21 of 40".
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Unfinished {
    /// Features selected so far, all in the model.
    pub taken: usize,
    /// Features asked for: more.
    pub asked: usize,
}

impl fmt::Display for Unfinished {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} of {}", self.taken, self.asked)
    }
}

/// A feature of a model, and the step of its path if it was selected. Columns are 0-based here, and counted as in
/// the data file in a model file.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SelectedFeature {
    /// The column.
    pub feature: Feature,
    /// Its name, if the data had names.
    #[serde(default)]
    pub name: Option<String>,
    /// Its weight, in units of the labels over those of the column.
    pub weight: f64,
    /// Other columns that centre to the same one up to sign, ascending.
    #[serde(default)]
    pub identical: Vec<u32>,
    /// Leave-query-out error after the step: sum over queries of the squared centred residuals, in squared units of
    /// the labels; `None` if the feature was not selected.
    #[serde(default)]
    pub lqo_error: Option<f64>,
    /// Concordance index of the leave-query-out predictions, from 0 to 1; `None` if no query has a pair to order,
    /// or the feature was not selected.
    #[serde(default)]
    pub lqo_cindex: Option<f64>,
}

impl SelectedFeature {
    /// A column of `dataset` with its name there.
    fn new(dataset: &Dataset<'_>, feature: u32, weight: f64) -> Self {
        Self {
            feature,
            name: dataset.name_of(feature).map(str::to_owned),
            weight,
            identical: Vec::new(),
            lqo_error: None,
            lqo_cindex: None,
        }
    }
}

/// The training data of a model.
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
    /// Describes `dataset` with this `hash`, whose columns fall into classes as `summary` says.
    fn new(dataset: &Dataset<'_>, summary: &Summary, hash: DataHash) -> Self {
        Self {
            rows: dataset.rows(),
            queries: dataset.queries().len(),
            columns: dataset.width(),
            nonzeros: summary.nonzeros,
            constant_columns: summary.constant_columns,
            column_classes: summary.column_classes,
            hash,
        }
    }
}

impl Model {
    /// The model that `selection` found in `dataset` with this `hash`, whose columns fall into classes as `summary`
    /// says. The entries may be elsewhere ([`ColumnClasses::of_packed`]).
    pub fn from_selection(
        selection: &Selection,
        dataset: &Dataset<'_>,
        summary: &Summary,
        hash: DataHash,
    ) -> Self {
        let parts = selection.steps.iter().zip(&selection.weights);
        let feature = |(step, &weight): (&Step, &f64)| SelectedFeature {
            identical: step.identical.clone(),
            lqo_error: Some(step.lqo_error),
            lqo_cindex: step.lqo_cindex,
            ..SelectedFeature::new(dataset, step.feature, weight)
        };
        Self {
            unfinished: None,
            strategy: match selection.options.strategy {
                StrategyKind::Auto => FeatureChoice::Own,
                strategy => FeatureChoice::Strategy(strategy),
            },
            objective: Objective::Query,
            lambda: selection.lambda,
            settings: GreedyRankRls {
                k: selection.steps.len(),
                ..selection.options.clone()
            },
            choice: None,
            index_base: dataset.index_base(),
            table: TableOptions::default(),
            features: parts.map(feature).collect(),
            expansion: None,
            data: DataSummary::new(dataset, summary, hash),
            column_names: Vec::new(),
        }
    }

    /// The best model of a `training` on features of `dataset`, all or given ones, by these `options`: weights of
    /// features, or coefficients of rows. A kernel that is linear in the columns becomes weights. Refuses a model
    /// that exceeds their memory with the data and the training: a million features take some hundred bytes each.
    pub fn from_training(
        training: &Training,
        strategy: FeatureChoice,
        dataset: &Dataset<'_>,
        summary: &Summary,
        options: &RankRls,
    ) -> Result<Self> {
        let (cell, fit) = (training.best(), &training.fit);
        let kernel = cell.kernel;
        let memory = options.memory.holding(dataset.memory());
        memory.holding(training.memory()).require(
            "the model needs",
            memory_of(fit, dataset),
            "allow more memory",
        )?;
        let expansion = match fit {
            Fit::Kernel(coefficients) if !kernel.is_linear() => {
                Some(Expansion::new(kernel, dataset, coefficients))
            }
            _ => None,
        };
        let linear;
        let (weights, constant_columns) = match fit {
            Fit::Linear(weights) => (weights, summary.constant_columns),
            // Columns that are constant in the training data may vary in others.
            Fit::Kernel(coefficients) => {
                linear = kernel.weights(dataset, coefficients);
                (&linear, 0)
            }
        };
        let weighted = weights.iter();
        let feature =
            |&(feature, weight): &(u32, f64)| SelectedFeature::new(dataset, feature, weight);
        Ok(Self {
            unfinished: None,
            strategy,
            objective: options.objective,
            lambda: cell.lambda,
            settings: GreedyRankRls {
                query_weight: options.query_weight,
                scale: options.scale.filter(|scale| !scale.is_none()),
                label_scale: options.label_scale.filter(|labels| !labels.is_raw()),
                ..GreedyRankRls::new(weights.len(), cell.lambda)
            },
            choice: None,
            index_base: dataset.index_base(),
            table: TableOptions::default(),
            features: weighted.map(feature).collect(),
            expansion,
            data: DataSummary {
                nonzeros: dataset.nonzeros(),
                constant_columns,
                ..DataSummary::new(dataset, summary, DataHash::of(dataset))
            },
            column_names: Vec::new(),
        })
    }

    /// Bytes held.
    pub fn memory(&self) -> u64 {
        let feature = |own: &SelectedFeature| {
            let name = own.name.as_ref().map_or(0, |name| NAME + name.len());
            size_of::<SelectedFeature>() + name + 4 * own.identical.len()
        };
        let row = |row: &BasisRow| size_of::<BasisRow>() + 12 * row.indices.len();
        let rows = self.expansion.iter().flat_map(|basis| &basis.rows);
        let names = self.column_names.iter().map(|name| NAME + name.len());
        let features: usize = self.features.iter().map(feature).sum();
        (features + rows.map(row).sum::<usize>() + names.sum::<usize>()) as u64
    }

    /// This model with the `names` of its features that are known.
    #[must_use]
    pub fn with_names(mut self, names: &FeatureNames) -> Self {
        for feature in &mut self.features {
            let name = names.of(feature.feature).map(str::to_owned);
            feature.name = name.or(feature.name.take());
        }
        self
    }

    /// This model with the names of all columns of its training data.
    ///
    /// # Panics
    /// Unless there is a name for each column.
    #[must_use]
    pub fn with_column_names(mut self, names: Vec<String>) -> Self {
        assert_eq!(names.len(), self.data.columns, "a name for each column");
        for feature in &mut self.features {
            feature.name = Some(names[feature.feature as usize].clone());
        }
        self.column_names = names;
        self
    }

    /// The `options` with this model's values for open settings: the strategy, and without a ridge parameter this
    /// one and the scales of columns and labels.
    #[must_use]
    pub fn as_chosen(&self, options: &GreedyRankRls) -> GreedyRankRls {
        let then = &self.settings;
        let mut options = options.clone();
        options.strategy = options.strategy.or(then.strategy);
        if options.lambda.is_none() {
            options.lambda = self.lambda.into();
            options.scale = options.scale.or(then.scale);
            options.label_scale = options.label_scale.or(then.label_scale);
            let teacher = options.teacher_lambda.take();
            options.teacher_lambda = teacher.or_else(|| then.teacher_lambda.clone());
            options.choose_by = None;
        }
        options
    }

    /// Continues the selection that ended with this model, from data with this `hash` and these `candidates`. It
    /// returns the `options` [as it has chosen them](Self::as_chosen), and its steps, for
    /// [`select_among`](crate::greedy::job::select_among). Columns to include are numbers in the options, as in
    /// [`GreedyRankRls::counted`]. Refuses other data, other settings, and features that no strategy of the library
    /// selected.
    pub fn go_on(
        &self,
        options: &GreedyRankRls,
        candidates: &ColumnClasses,
        hash: DataHash,
    ) -> Result<(GreedyRankRls, Vec<Step>)> {
        ensure!(
            self.strategy != FeatureChoice::Own,
            options,
            "a program with a strategy of its own selected the features: go on there"
        );
        ensure!(
            self.strategy.is_selection(),
            options,
            "the features were not selected but {}: there is no path to go on from",
            self.strategy
        );
        let expected = self.data.hash;
        ensure!(
            expected == hash,
            data,
            "the model was trained on other data: expected data with the hash {expected}, found {hash}"
        );
        let (taken, k) = (self.features.len(), options.k);
        ensure!(
            taken <= k,
            options,
            "the model has {taken} features: expected as many or more as -k, found {k}"
        );
        let then = &self.settings;
        let options = self.as_chosen(options);
        let lambda = options.lambda_of(candidates)?;
        let mut now = GreedyRankRls {
            k: then.k,
            query_weight: candidates.query_weight(),
            scale: Some(candidates.scale()),
            ..options.settled(candidates)
        };
        if now.teacher_lambda == Some(Lambdas::Auto) {
            now.teacher_lambda.clone_from(&then.teacher_lambda);
        }
        let differences = differences(then, &now.resolved(lambda));
        ensure!(
            differences.is_empty(),
            options,
            "the model has other settings: {}",
            differences.join("; ")
        );
        let step = |feature: &SelectedFeature| Step {
            feature: feature.feature,
            identical: feature.identical.clone(),
            lqo_error: feature.lqo_error.unwrap_or_default(),
            lqo_cindex: feature.lqo_cindex,
            criterion: None,
            evaluated: 0,
            alive: Vec::new(),
        };
        Ok((options, self.features.iter().map(step).collect()))
    }

    /// Scores of the `m` rows of `dataset`, in row order, in units of the labels: sums over the features in their
    /// order, so equal rows have the same score to the last bit. Scores of a query compare, and a constant may be
    /// added to all of them. Columns match by their 0-based numbers, whatever the base of either file.
    pub fn scores(&self, dataset: &Dataset<'_>) -> Vec<f64> {
        if let Some(expansion) = &self.expansion {
            return expansion.scores(self.data.columns, dataset);
        }
        dataset.scores(&self.columns(), &self.weights())
    }

    /// The refusal of data with entries in other columns, which a kernel would count.
    pub fn other_columns(&self) -> Error {
        let expected = self.data.columns;
        Error::data(format!(
            "the data have entries in columns beyond the {expected} of the model: a kernel compares \
             rows of the same columns"
        ))
    }

    /// `dataset` with the features of the model as its columns, in order of selection and with the names of the
    /// model: data to train other rankers on.
    pub fn project(&self, dataset: &Dataset<'_>) -> Result<Dataset<'static>, Error> {
        let projected = dataset.project(&self.columns())?;
        if self.features.iter().all(|feature| feature.name.is_none()) {
            return Ok(projected);
        }
        let names = self.features.iter();
        let names = names.map(|feature| feature.name.as_deref().unwrap_or_default());
        projected.with_names(names.collect())
    }

    /// Names of the features by their columns in the training data, which find the features in a table
    /// ([`ReadOptions::columns`](crate::data::read::ReadOptions::columns)).
    pub fn feature_names(&self) -> FeatureNames {
        let name = |feature: &SelectedFeature| {
            let name = feature.name.clone().unwrap_or_default();
            (feature.feature, name)
        };
        FeatureNames::of_some(self.features.iter().map(name))
    }

    /// The known names of features.
    fn known_names(&self) -> impl Iterator<Item = (u32, &str)> {
        let features = self.features.iter();
        let names = features.filter_map(|known| Some((known.feature, known.name.as_deref()?)));
        names.filter(|(_, name)| !name.is_empty())
    }

    /// Refuses data whose columns have other `names` than in the model: data of another corpus, whose columns have
    /// the same numbers by chance. `file` is the source of the names.
    pub fn check_names(&self, names: &FeatureNames, file: &Path) -> Result<(), ReadError> {
        let all = (0..).zip(self.column_names.iter().map(String::as_str));
        let known = self.known_names().chain(all);
        names.check_same(known, self.index_base, "the model", file)
    }

    /// The model whose files and messages count columns from `base`.
    #[must_use]
    pub fn counted_from(mut self, base: IndexBase) -> Self {
        let [old, new] = [self.index_base, base].map(|base| base.file_index(0));
        for column in self.settings.include.iter_mut().flatten() {
            if let ColumnName::Number(number) = column {
                *number = *number + new - old;
            }
        }
        self.index_base = base;
        self
    }

    /// Weights of the [`features`](Self::features), in their order.
    pub fn weights(&self) -> Vec<f64> {
        self.features.iter().map(|f| f.weight).collect()
    }

    /// Columns of the [`features`](Self::features), 0-based, in their order.
    pub fn columns(&self) -> Vec<Feature> {
        self.features.iter().map(|f| f.feature).collect()
    }
}

/// Bytes of a name besides its text.
const NAME: usize = 40;

/// Bytes of the model that `fit` on `dataset` makes.
fn memory_of(fit: &Fit, dataset: &Dataset<'_>) -> u64 {
    let bytes = match fit {
        Fit::Linear(weights) => {
            let name = |&(feature, _): &(u32, f64)| {
                let name = dataset.name_of(feature);
                name.map_or(0, |name| NAME + name.len())
            };
            let names: usize = weights.iter().map(name).sum();
            names + size_of::<SelectedFeature>() * weights.len()
        }
        // Lists of indices and values grow.
        Fit::Kernel(rows) => size_of::<BasisRow>() * rows.len() + 2 * 12 * dataset.nonzeros(),
    };
    bytes as u64
}

/// The settings that differ between `then` and `now`, in words.
fn differences(then: &GreedyRankRls, now: &GreedyRankRls) -> Vec<String> {
    let [then, now] = [then, now].map(|settings| {
        let mut all: BTreeMap<String, Value> = settings.given().into_iter().collect();
        all.insert("strategy".to_owned(), json!(settings.strategy));
        all.insert("lambda".to_owned(), json!(settings.lambda));
        all
    });
    let names: BTreeSet<&String> = then.keys().chain(now.keys()).collect();
    let names = names.into_iter();
    let differing = names.filter(|&name| then.get(name) != now.get(name));
    let text = |value: Option<&Value>| match value {
        None | Some(Value::Null) => "not given".to_owned(),
        Some(Value::String(text)) => text.clone(),
        Some(value) => value.to_string(),
    };
    let words = |name: &String| {
        let [then, now] = [&then, &now].map(|all| text(all.get(name)));
        format!("{} was {then} and is {now} now", name.replace('_', " "))
    };
    differing.map(words).collect()
}

/// The origin of the features of a model. As JSON: its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "&str")]
pub enum FeatureChoice {
    /// Selected by a strategy of the library.
    Strategy(StrategyKind),
    /// Selected by another strategy.
    Own,
    /// All features that vary within some query.
    All,
    /// The features of a list, or of another model.
    Given,
}

impl FeatureChoice {
    /// All choices, strategies first.
    fn every() -> impl Iterator<Item = Self> {
        let strategies = StrategyKind::ALL.into_iter().map(Self::Strategy);
        strategies.chain([Self::Own, Self::All, Self::Given])
    }

    /// The name: of a strategy, or `own`, `all` or `given`.
    fn name(self) -> &'static str {
        match self {
            Self::Strategy(strategy) => strategy.name(),
            Self::Own => OWN,
            Self::All => "all",
            Self::Given => "given",
        }
    }

    /// Whether features were added one at a time, which makes a path.
    pub fn is_selection(self) -> bool {
        !matches!(self, Self::All | Self::Given)
    }
}

impl fmt::Display for FeatureChoice {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(self.name())
    }
}

impl From<FeatureChoice> for &str {
    fn from(choice: FeatureChoice) -> Self {
        choice.name()
    }
}

impl TryFrom<String> for FeatureChoice {
    type Error = String;

    fn try_from(name: String) -> Result<Self, String> {
        let found = Self::every().find(|choice| choice.name() == name);
        found.ok_or_else(|| {
            let names: Vec<String> = Self::every().map(|choice| format!("`{choice}`")).collect();
            let expected = names.join(", ");
            format!("unknown variant `{name}`, expected one of {expected}")
        })
    }
}
