//! The folds' choice for a selection, as a plain value for reports and models.

use serde::{Deserialize, Serialize};

use super::is_default;
use crate::lambda::Ridge;
use crate::metrics::Measure;

/// The choice of all open settings of a selection, and all that was tried for it. Values are means of the measure
/// over queries that the models had not seen.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Choice {
    /// The measure that judged the models.
    pub measure: Measure,
    /// Number of folds of the queries. Models on the others predict each fold.
    pub folds: usize,
    /// The seed of the folds and of the queries that take part.
    pub seed: u64,
    /// Number of features of each model.
    pub k: usize,
    /// Number of rows that took part.
    pub rows: usize,
    /// Number of queries that took part.
    pub queries: usize,
    /// The tried scales of columns. Empty if one was given.
    #[serde(default, skip_serializing_if = "is_default")]
    pub scale: Vec<Tried>,
    /// The tried scales of labels. Empty if one was given.
    #[serde(default, skip_serializing_if = "is_default")]
    pub label_scale: Vec<Tried>,
    /// The tried strategies, where `exact` is the fastest exact one. Empty if one was given.
    #[serde(default, skip_serializing_if = "is_default")]
    pub strategy: Vec<Tried>,
    /// The ridge parameters tried under the chosen setting, ascending.
    pub lambda: Vec<Tried>,
    /// Why nothing was chosen, if that is so.
    #[serde(default, skip_serializing_if = "is_default")]
    pub reason: Option<String>,
}

/// A value of an option, and the best result with it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tried {
    /// The value, as in the option.
    pub name: String,
    /// The best ridge parameter with it.
    #[serde(default, skip_serializing_if = "is_default")]
    pub lambda: Option<Ridge>,
    /// The mean over queries. `None` if no model could be judged.
    pub value: Option<f64>,
    /// Its standard error.
    pub standard_error: Option<f64>,
    /// Whether it was chosen. Never set for ridge parameters.
    #[serde(default, skip_serializing_if = "is_default")]
    pub chosen: bool,
    /// Why it was left out, if that is so.
    #[serde(default, skip_serializing_if = "is_default")]
    pub reason: Option<String>,
}
