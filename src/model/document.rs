//! The JSON of a model file.

use serde::ser::SerializeStruct;
use serde::{Deserialize, Serialize, Serializer};

use super::check::{Invalid, check};
use super::{DataSummary, FeatureChoice, Model, PathStep, SelectedFeature};
use crate::data::{DataHash, IndexBase};
use crate::greedy::Criterion;
use crate::greedy::Sampler;
use crate::metrics::{Convention, Metric};
use crate::{Lambda, QueryWeight};

/// A model as it is written: `index` and `identical` count as the data file does.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Document {
    pub(super) schema: String,
    pub(super) strategy: FeatureChoice,
    pub(super) lambda: Lambda,
    #[serde(default)]
    pub(super) criterion: CriterionName,
    #[serde(default)]
    pub(super) convention: Option<Convention>,
    #[serde(default)]
    pub(super) query_weight: QueryWeight,
    /// ColumnClasses drawn each step, if not all were judged.
    pub(super) candidates: Option<usize>,
    pub(super) seed: Option<u64>,
    pub(super) index_base: u32,
    pub(super) features: Vec<FeatureEntry>,
    pub(super) path: Vec<PathEntry>,
    pub(super) data: DataEntry,
}

/// `squared`, or a measure.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum CriterionName {
    #[default]
    Squared,
    #[serde(untagged)]
    Measure(Metric),
}

impl From<Criterion> for CriterionName {
    fn from(criterion: Criterion) -> Self {
        match criterion {
            Criterion::Squared => Self::Squared,
            Criterion::Ranking { metric, .. } => Self::Measure(metric),
        }
    }
}

impl CriterionName {
    fn with(&self, convention: Option<Convention>) -> Result<Criterion, Invalid> {
        match (self, convention) {
            (Self::Squared, None) => Ok(Criterion::Squared),
            (&Self::Measure(metric), Some(convention)) => {
                Ok(Criterion::Ranking { metric, convention })
            }
            (Self::Squared, Some(convention)) => {
                let expected = "null, as the criterion squared has none";
                Err(Invalid::new("convention", expected, convention))
            }
            (Self::Measure(metric), None) => {
                let expected = format!("that of the criterion {metric}");
                Err(Invalid::new("convention", expected, "null"))
            }
        }
    }
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct FeatureEntry {
    pub(super) index: u64,
    #[serde(default)]
    pub(super) name: Option<String>,
    pub(super) weight: f64,
    #[serde(default)]
    pub(super) identical: Vec<u64>,
    /// Whether what is null or empty is left out.
    #[serde(skip)]
    pub(super) brief: bool,
}

impl Serialize for FeatureEntry {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let name = !self.brief || self.name.is_some();
        let identical = !self.brief || !self.identical.is_empty();
        let fields = 2 + usize::from(name) + usize::from(identical);
        let mut entry = serializer.serialize_struct("FeatureEntry", fields)?;
        entry.serialize_field("index", &self.index)?;
        if name {
            entry.serialize_field("name", &self.name)?;
        }
        entry.serialize_field("weight", &self.weight)?;
        if identical {
            entry.serialize_field("identical", &self.identical)?;
        }
        entry.end()
    }
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct PathEntry {
    pub(super) step: usize,
    pub(super) feature: u64,
    pub(super) lqo_error: f64,
    pub(super) lqo_cindex: Option<f64>,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct DataEntry {
    pub(super) rows: u64,
    pub(super) queries: u64,
    pub(super) columns: u64,
    pub(super) nonzeros: u64,
    pub(super) constant_columns: u64,
    pub(super) column_classes: u64,
    pub(super) hash: DataHash,
}

impl From<&Model> for Document {
    fn from(model: &Model) -> Self {
        let base = model.index_base;
        let feature = |feature: &SelectedFeature| FeatureEntry {
            index: base.written(feature.feature),
            name: feature.name.clone(),
            weight: feature.weight,
            identical: feature.identical.iter().map(|&f| base.written(f)).collect(),
            brief: !model.strategy.is_selection(),
        };
        let step = |(step, path): (usize, &PathStep)| PathEntry {
            step,
            feature: base.written(model.features[step - 1].feature),
            lqo_error: path.lqo_error,
            lqo_cindex: path.lqo_cindex,
        };
        Self {
            schema: super::SCHEMA.to_owned(),
            strategy: model.strategy,
            lambda: model.lambda,
            criterion: CriterionName::from(model.criterion),
            convention: match model.criterion {
                Criterion::Squared => None,
                Criterion::Ranking { convention, .. } => Some(convention),
            },
            query_weight: model.query_weight,
            candidates: model.sampler.map(|sampler| sampler.size),
            seed: model.sampler.map(|sampler| sampler.seed),
            index_base: base.first(),
            features: model.features.iter().map(feature).collect(),
            path: (1..).zip(&model.path).map(step).collect(),
            data: DataEntry::from(&model.data),
        }
    }
}

impl From<&DataSummary> for DataEntry {
    fn from(data: &DataSummary) -> Self {
        Self {
            rows: data.rows as u64,
            queries: data.queries as u64,
            columns: data.columns as u64,
            nonzeros: data.nonzeros as u64,
            constant_columns: data.constant_columns as u64,
            column_classes: data.column_classes as u64,
            hash: data.hash,
        }
    }
}

impl TryFrom<Document> for Model {
    type Error = Invalid;

    fn try_from(document: Document) -> Result<Self, Invalid> {
        let base = check(&document)?;
        let sampler = document.candidates.zip(document.seed);
        Ok(Self {
            strategy: document.strategy,
            lambda: document.lambda,
            criterion: document.criterion.with(document.convention)?,
            query_weight: document.query_weight,
            sampler: sampler.map(|(size, seed)| Sampler { size, seed }),
            index_base: base,
            path: document.path.iter().map(PathStep::from).collect(),
            data: DataSummary::try_from(&document.data)?,
            features: document
                .features
                .into_iter()
                .map(|feature| feature.read(base))
                .collect::<Result<_, Invalid>>()?,
        })
    }
}

impl FeatureEntry {
    fn read(self, base: IndexBase) -> Result<SelectedFeature, Invalid> {
        let column = |index: u64| {
            let column = index.checked_sub(u64::from(base.first()));
            let column = column.and_then(|column| u32::try_from(column).ok());
            column.ok_or_else(|| Invalid::new("features", "indices of 32 bits", index))
        };
        Ok(SelectedFeature {
            feature: column(self.index)?,
            name: self.name,
            weight: self.weight,
            identical: self
                .identical
                .into_iter()
                .map(column)
                .collect::<Result<_, Invalid>>()?,
        })
    }
}

impl From<&PathEntry> for PathStep {
    fn from(entry: &PathEntry) -> Self {
        Self {
            lqo_error: entry.lqo_error,
            lqo_cindex: entry.lqo_cindex,
        }
    }
}

impl TryFrom<&DataEntry> for DataSummary {
    type Error = Invalid;

    fn try_from(entry: &DataEntry) -> Result<Self, Invalid> {
        let size = |size: u64| {
            usize::try_from(size)
                .map_err(|_| Invalid::new("data", "sizes that this machine can count", size))
        };
        Ok(Self {
            rows: size(entry.rows)?,
            queries: size(entry.queries)?,
            columns: size(entry.columns)?,
            nonzeros: size(entry.nonzeros)?,
            constant_columns: size(entry.constant_columns)?,
            column_classes: size(entry.column_classes)?,
            hash: entry.hash,
        })
    }
}
