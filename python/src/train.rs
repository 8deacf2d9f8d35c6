//! `RankRLS` on all features, or under a kernel.

use pyo3::prelude::*;
use rankrls::data::{Groups, one_query};
use rankrls::model::FeatureChoice;
use rankrls::ridge::{Basis, Fit, Kernel, KernelKind, Preference, Preferences, RankRls};
use rankrls::{Dataset, HoldOut, IndexBase, Lambdas, Model as Fitted, Warning};
use rankrls_files::memory::budget;
use serde::Deserialize;
use serde_json::json;

use crate::data::{Array, Data};
use crate::errors::{self, Result, value};
use crate::job;
use crate::model::Model;
use crate::warnings::told;

/// The options of training.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Training {
    alpha: Lambdas,
    kernel: KernelKind,
    gamma: f64,
    degree: u32,
    coef0: f64,
    basis: Option<BasisRows>,
    /// `None`: every query, or every pair, if the solver's factors give the hold-outs.
    holdout: Option<Asked>,
    keep_pairs: bool,
    pairs: Option<Vec<Pair>>,
    seed: u64,
    options: RankRls,
}

/// Preferred row, other row, magnitude and weight.
type Pair = (u32, u32, f64, f64);

/// Rows of a basis, drawn or given.
#[derive(Deserialize)]
#[serde(untagged)]
enum BasisRows {
    Count(usize),
    Given(Vec<usize>),
}

/// The hold-outs: by name, or by the fold of each row or preference.
#[derive(Deserialize)]
#[serde(untagged)]
enum Asked {
    Name(String),
    Folds(Vec<i64>),
}

/// A model, and its results for the rows of Python.
#[derive(IntoPyObject)]
pub(crate) struct Outcome {
    model: Model,
    /// The other results, in JSON.
    report: String,
    /// The basis rows of a kernel model.
    support: Array<i64>,
    /// A coefficient for each basis row.
    coefficients: Array<f64>,
    /// A prediction for each row or preference, or for each of the kept `pairs`.
    predictions: Array<f64>,
    pairs: Array<i64>,
}

impl Training {
    /// All parameters that do not depend on the rows of the data.
    fn params(&self) -> Result<RankRls> {
        let holdout = match &self.holdout {
            None if self.alpha.count() > 1 => HoldOut::Auto,
            None | Some(Asked::Folds(_)) => HoldOut::Factored,
            Some(Asked::Name(name)) => {
                let named: HoldOut = name
                    .parse()
                    .map_err(|error| value(format_args!("holdout: {error}, or an array")))?;
                named.seed(self.seed)
            }
        };
        let seed = self.seed;
        let basis = self.basis.as_ref().map(|basis| match basis {
            BasisRows::Count(count) => Basis::Drawn {
                count: *count,
                seed,
            },
            BasisRows::Given(rows) => Basis::Given(rows.clone()),
        });
        let kernel = Kernel::new(self.kernel, self.gamma, self.coef0, self.degree)?;
        let params = RankRls {
            lambdas: self.alpha.clone(),
            basis,
            kernels: vec![kernel],
            holdout,
            seed,
            keep_pairs: self.keep_pairs,
            rows_from: IndexBase::Zero,
            memory: self.options.memory.within(budget()),
            ..self.options.clone()
        };
        params.check(self.basis.is_some(), self.pairs.is_some())?;
        Ok(params)
    }

    /// Sets preferences and folds of the rows of `data` in `params`.
    fn place(&self, params: &mut RankRls, data: &Dataset<'_>) -> rankrls::Result<()> {
        if let Some(pairs) = &self.pairs {
            let preference = |&(preferred, other, magnitude, weight): &Pair| Preference {
                preferred,
                other,
                magnitude,
                weight,
            };
            let list = pairs.iter().map(preference).collect();
            params.preferences = Some(Preferences::new(list, data)?);
        }
        if let Some(Asked::Folds(folds)) = &self.holdout {
            let preferences = params.preferences.as_ref().map(Preferences::len);
            params.holdout = HoldOut::Given {
                name: "folds".to_owned(),
                groups: Groups::of_folds(folds, data, preferences)?,
            };
        }
        Ok(())
    }

    fn fit(&self, mut params: RankRls, data: &Dataset<'_>) -> rankrls::Result<Outcome> {
        self.place(&mut params, data)?;
        let inputs: Vec<u32> = match data.input_rows() {
            Some(rows) => rows.to_vec(),
            None => (0..).take(data.rows()).collect(),
        };
        let keeps_units = params.keeps_units();
        let classes = params.column_classes(data)?;
        let chosen = params.choose(data, &classes)?;
        let (params, mut outcome) = (chosen.options, chosen.training);
        let mut warnings = Warning::of_columns(data);
        warnings.extend(Warning::of_identifiers(data.queries()));
        if self.options.objective.is_within_queries() {
            warnings.extend(Warning::of_queries(data));
            if let Some(HoldOut::Given { groups, .. }) = &outcome.held_out {
                warnings.extend(Warning::of_folds(groups, data.queries()));
            }
        }
        if keeps_units {
            warnings.extend(Warning::of_units(&classes, data));
        }
        warnings.extend(outcome.warnings(data, params.column_scale()));
        let (choice, summary) = (FeatureChoice::All, classes.summary());
        let model = Fitted::from_training(&outcome, choice, data, &summary, &params)?;
        let mut best = outcome.cells.swap_remove(outcome.best);
        let (rows, coefficients): (Vec<usize>, Vec<f64>) = match outcome.fit {
            Fit::Kernel(coefficients) => coefficients.into_iter().unzip(),
            Fit::Linear(_) => Default::default(),
        };
        let holdout = best.holdout.take().unwrap_or_default();
        let report = json!({
            "solver": outcome.solver,
            "condition": best.condition,
            "alpha": best.lambda,
            "unit": outcome.unit,
            "warnings": told(warnings),
            "scheme": outcome.held_out.map(|held_out| held_out.to_string()),
            "error": holdout.error,
            "cindex": holdout.cindex,
            "choice": chosen.tried,
        });
        let mut predictions = holdout.predictions;
        if self.pairs.is_none() && !predictions.is_empty() {
            predictions = data.in_input_order(predictions);
        }
        let mut pairs = Vec::new();
        for (rows, of_rows) in holdout.pairs {
            pairs.extend(rows.map(|row| i64::from(inputs[row as usize])));
            predictions.extend(of_rows);
        }
        Ok(Outcome {
            model: Model::of(model),
            report: report.to_string(),
            support: Array(rows.iter().map(|&row| inputs[row].into()).collect()),
            coefficients: Array(coefficients),
            predictions: Array(predictions),
            pairs: Array(pairs),
        })
    }
}

/// Trains `RankRLS`.
#[pyfunction]
pub(crate) fn train(
    py: Python<'_>,
    data: Data<'_>,
    options: &str,
    threads: usize,
) -> Result<Outcome> {
    let training: Training = errors::options(options)?;
    let (copy, params) = (data.copied()?, training.params()?);
    job::finish(py, threads, || {
        let data = copy.dataset()?;
        let several = params.lambdas.count() > 1;
        training.fit(params, &data).map_err(|error| {
            if several && error == one_query(data.queries()) {
                return value(format_args!(
                    "which alpha is best is not known, as {error}; or give a number for alpha"
                ));
            }
            error.into()
        })
    })
}
