//! `RankRLS` on all features, or under a kernel.

use numpy::ToPyArray;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use rankrls::memory::budget;
use rankrls::model::FeatureChoice;
use rankrls::ridge::{
    Cell, Fit, Groups, Kernel, KernelKind, Preference, Preferences, Scheme, TrainGrid, draw_basis,
};
use rankrls::{Dataset, Lambda, Lambdas, Model as Fitted, Solver, TrainError, TrainOptions};
use serde::Deserialize;

use crate::errors::{self, value};
use crate::job;
use crate::model::Model;
use crate::select::Data;

/// How to train.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Training {
    alpha: Lambdas,
    kernel: KernelKind,
    gamma: f64,
    degree: u32,
    coef0: f64,
    basis: Option<Basis>,
    /// `None`: every query, or every pair, where that comes from the factors of the solver.
    holdout: Option<Asked>,
    keep_pairs: bool,
    pairs: Option<Vec<Pair>>,
    seed: u64,
    options: TrainOptions,
}

/// Preferred row, other row, magnitude and weight.
type Pair = (usize, usize, f64, f64);

/// Rows of a basis, drawn or given.
#[derive(Deserialize)]
#[serde(untagged)]
enum Basis {
    Count(usize),
    Rows(Vec<usize>),
}

/// What to hold out: by name, or by the fold of each row or preference.
#[derive(Deserialize)]
#[serde(untagged)]
enum Asked {
    Name(String),
    Folds(Vec<i64>),
}

/// A model, and what comes with it: rows are those of Python.
struct Outcome {
    model: Fitted,
    solver: Solver,
    best: Cell,
    unit: f64,
    at_edge: bool,
    scheme: Option<Scheme>,
    /// Rows that a kernel model is over, and their coefficients.
    support: Option<(Vec<i64>, Vec<f64>)>,
    /// Of each row or preference; of each of the `pairs` where they are kept.
    predictions: Vec<f64>,
    pairs: Vec<i64>,
}

impl Training {
    fn kernel(&self) -> Result<Kernel, TrainError> {
        match self.kernel {
            KernelKind::Linear => Ok(Kernel::LINEAR),
            KernelKind::Precomputed => Ok(Kernel::PRECOMPUTED),
            KernelKind::Gaussian => Kernel::gaussian(self.gamma),
            KernelKind::Polynomial => Kernel::polynomial(self.gamma, self.coef0, self.degree),
        }
    }

    /// All that does not depend on the rows of the data.
    fn grid(&self) -> PyResult<TrainGrid> {
        let holdout = match &self.holdout {
            None if self.alpha.count() > 1 => Scheme::Auto,
            None | Some(Asked::Folds(_)) => Scheme::Factored,
            Some(Asked::Name(name)) => {
                let scheme: Scheme = name.parse().map_err(|error| {
                    value(format_args!("holdout: {error}, auto, none, or an array"))
                })?;
                scheme.seed(self.seed)
            }
        };
        Ok(TrainGrid {
            kernels: vec![self.kernel().map_err(value)?],
            holdout,
            keep_pairs: self.keep_pairs,
            lambdas: self.alpha.clone(),
            ..TrainGrid::new(Lambda::ONE, self.options.within(budget()))
        })
    }

    /// The basis, preferences and folds of `grid` among the rows of `data`.
    fn place(&self, grid: &mut TrainGrid, data: &Dataset<'_>) -> Result<(), TrainError> {
        let places: Vec<u32> = data.in_input_order((0..).take(data.rows()).collect());
        grid.basis = match &self.basis {
            None => None,
            Some(Basis::Count(count)) => Some(draw_basis(*count, data.queries(), self.seed)?),
            Some(Basis::Rows(rows)) => Some(rows.iter().map(|&row| places[row] as usize).collect()),
        };
        if let Some(pairs) = &self.pairs {
            let preference = |&(preferred, other, magnitude, weight): &Pair| Preference {
                preferred: places[preferred],
                other: places[other],
                magnitude,
                weight,
            };
            let list = pairs.iter().map(preference).collect();
            grid.preferences = Some(Preferences::new(list, data.rows())?);
        }
        if let Some(Asked::Folds(folds)) = &self.holdout {
            let groups = match &self.pairs {
                None => Groups::of_rows(data.in_row_order(folds))?,
                Some(_) => Groups::of_rows(folds)?,
            };
            let name = "folds".to_owned();
            grid.holdout = Scheme::Given { name, groups };
        }
        Ok(())
    }

    fn fit(&self, mut grid: TrainGrid, data: &Dataset<'_>) -> Result<Outcome, TrainError> {
        self.place(&mut grid, data)?;
        let rows: Vec<u32> = (0..).take(data.rows()).collect();
        let inputs = data.in_row_order(&rows);
        let options = grid.options;
        let classes = options.column_classes(data);
        let mut outcome = grid
            .train(data, data.memory(), Some(&classes))
            .map_err(|error| errors::in_input_rows(error, &inputs))?;
        let at_edge = outcome.is_at_edge();
        let mut best = outcome.cells.swap_remove(outcome.best);
        let (fit, choice, summary) = (&outcome.fit, FeatureChoice::All, classes.summary());
        let model = Fitted::from_fit(fit, &best, choice, data, &summary, &options);
        let support = match outcome.fit {
            Fit::Linear(_) => None,
            Fit::Kernel { rows, coefficients } => {
                let rows = rows.iter().map(|&row| inputs[row].into());
                Some((rows.collect(), coefficients))
            }
        };
        let (mut predictions, mut pairs) = (Vec::new(), Vec::new());
        if let Some(holdout) = &mut best.holdout {
            predictions = std::mem::take(&mut holdout.predictions);
            if self.pairs.is_none() && !predictions.is_empty() {
                predictions = data.in_input_order(predictions);
            }
            for pair in std::mem::take(&mut holdout.pairs) {
                pairs.extend(pair.rows.map(|row| i64::from(inputs[row as usize])));
                predictions.extend(pair.predictions);
            }
        }
        Ok(Outcome {
            model,
            solver: outcome.solver,
            best,
            unit: outcome.unit,
            at_edge,
            scheme: outcome.scheme,
            support,
            predictions,
            pairs,
        })
    }
}

/// Trains `RankRLS`.
#[pyfunction]
pub(crate) fn train<'py>(
    py: Python<'py>,
    data: Data<'py>,
    options: &str,
    threads: usize,
) -> PyResult<Bound<'py, PyDict>> {
    let training: Training = errors::options(options)?;
    let (view, grid) = (data.view()?, training.grid()?);
    let found = job::finish(py, threads, || {
        let data = view.dataset().map_err(errors::dataset)?;
        let several = grid.lambdas.count() > 1;
        training.fit(grid, &data).map_err(|error| match error {
            TrainError::OneQuery if several => value(format_args!(
                "which alpha is best is not known, as {error}; or give a number for alpha"
            )),
            error => errors::train(error),
        })
    })?;
    let result = PyDict::new(py);
    result.set_item("solver", found.solver.name())?;
    result.set_item("condition", found.best.condition)?;
    result.set_item("alpha", found.best.lambda.value())?;
    result.set_item("unit", found.unit)?;
    result.set_item("at_edge", (found.at_edge, false))?;
    let support = found.support;
    let support = support.map(|(rows, values)| (rows.to_pyarray(py), values.to_pyarray(py)));
    result.set_item("support", support)?;
    let holdout = found.best.holdout.zip(found.scheme);
    let holdout = holdout.map(|(holdout, scheme)| {
        (
            scheme.to_string(),
            holdout.error,
            holdout.cindex.unwrap_or(f64::NAN),
            found.predictions.to_pyarray(py),
            found.pairs.to_pyarray(py),
        )
    });
    result.set_item("holdout", holdout)?;
    result.set_item("model", Model(found.model).into_pyobject(py)?)?;
    Ok(result)
}
