//! What folds have chosen of a selection: a plain value, which reports and models keep.

use serde::{Deserialize, Serialize};

use super::is_default;
use crate::lambda::Ridge;
use crate::metrics::Measure;

/// The choice of what was not given of a selection, and all that was tried for it. Values are means of the measure
/// over queries that the models had not seen.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Choice {
    /// The measure that models were judged by.
    pub measure: Measure,
    /// Folds of the queries; each is predicted by models of the others.
    pub folds: usize,
    /// The seed by which the folds, and the queries that take part, were drawn.
    pub seed: u64,
    /// Features of each model.
    pub k: usize,
    /// Rows that took part.
    pub rows: usize,
    /// Queries that took part.
    pub queries: usize,
    /// The scales of columns; empty where one was given.
    #[serde(default, skip_serializing_if = "is_default")]
    pub scale: Vec<Tried>,
    /// The scales of labels; empty where one was given.
    #[serde(default, skip_serializing_if = "is_default")]
    pub label_scale: Vec<Tried>,
    /// The strategies, where `exact` is the fastest exact one; empty where one was given.
    #[serde(default, skip_serializing_if = "is_default")]
    pub strategy: Vec<Tried>,
    /// The ridge parameters that were tried with the chosen setting, ascending.
    pub lambda: Vec<Tried>,
    /// Why nothing was chosen, if nothing was.
    #[serde(default, skip_serializing_if = "is_default")]
    pub reason: Option<String>,
}

/// A value of an option, with the best that was found with it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tried {
    /// The value, as the option has it.
    pub name: String,
    /// The best ridge parameter with it.
    #[serde(default, skip_serializing_if = "is_default")]
    pub lambda: Option<Ridge>,
    /// The mean over queries; `None` where no model could be judged.
    pub value: Option<f64>,
    /// Its standard error.
    pub standard_error: Option<f64>,
    /// Whether it was chosen; of no ridge parameter.
    #[serde(default, skip_serializing_if = "is_default")]
    pub chosen: bool,
    /// Why it was left out, if it was.
    #[serde(default, skip_serializing_if = "is_default")]
    pub reason: Option<String>,
}
