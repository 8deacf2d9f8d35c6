//! Predictions by models that have not seen the rows, and the errors of these predictions.
//!
//! Solvers that factor take them from the whole model (module `solvers::factored`). Conjugate gradients train again
//! for every group, several side by side. Under the global objective the ridge parameter depends on the number of
//! rows left: groups of each size have their own factorisation.

mod pairs;

use super::comparisons::{Parts, pick};
use super::problem::RidgeProblem;
use super::solvers::{Residuals, Solution};
use super::system::{System, too_large};
use crate::data::{Groups, Queries};
use crate::error::{Error, Result};
use crate::lambda::Lambda;
use crate::linalg::centring::centre;
use crate::metrics::{Convention, Judge, Metric};
use crate::stop;

/// A hold-out: predictions for rows by models that have not seen them, and their errors (`docs/derivation.md`,
/// section 13; Pahikkala et al., 2009; An, Liu and Venkatesh, 2007).
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Holdout {
    /// A prediction for every row, `m`, in units of the labels and relative to the mean of its query. It is the
    /// centred label less `p / sqrt(omega_q)`, for the residual `p` of the weighted label and the weight `omega_q`
    /// of the query. Predictions of one model for rows of a query compare.
    ///
    /// Under preferences, a prediction for every preference: the difference of its rows, in units of the
    /// magnitudes. Empty for leave-pair-out.
    pub predictions: Vec<f64>,
    /// Every pair that leave-pair-out left out, if asked for, `n (n - 1) / 2` for each query of `n` examples. A
    /// pair has its rows, 0-based and ascending, and the prediction for each by the model without both, in units of
    /// the labels and relative to the mean of the query.
    pub pairs: Vec<([u32; 2], [f64; 2])>,
    /// Sum of the squared centred residuals over queries, or over their parts held out together, each query
    /// weighted as in training; in squared units of the labels. For leave-pair-out, the sum over the pairs of a
    /// query of `((y_i - y_j) - (f_i - f_j))^2`, divided by the number of its examples.
    pub error: f64,
    /// Concordance index of the predictions, from 0 to 1, averaged over the queries, or parts, with a pair of
    /// different labels; `None` if there is none. For preferences, the share by weight that predictions order
    /// rightly, without magnitude 0.
    pub cindex: Option<f64>,
    /// The largest residual of the models if conjugate gradients found them, as a share of the labels.
    pub residual: Option<f64>,
}

impl RidgeProblem<'_> {
    /// The mean of a `metric` of hold-out predictions over the parts of queries that `groups` hold out together.
    /// `None` if the measure is undefined in every part, for groups of other data, and for pairs, which have no
    /// predictions.
    pub(super) fn measure(
        &self,
        holdout: &Holdout,
        groups: &Groups,
        metric: Metric,
    ) -> Option<f64> {
        let queries = self.system.queries();
        let predictions = &holdout.predictions;
        let judged = predictions.len() == queries.rows();
        if !judged || !predictions.iter().all(|one| one.is_finite()) {
            return None;
        }
        let of_rows = groups.clone().rows(queries).ok()?;
        let parts = parts_of(&of_rows, queries).ok()?;
        let labels = pick(&self.system.as_given, &parts.order);
        let judge = Judge::new(metric, Convention::Standard, labels, &parts.queries);
        judge.score(&pick(predictions, &parts.order)).mean
    }

    /// Predictions for every row, `m`, by models trained without its group, for each of `lambdas`, in their order.
    /// They are exact, except for rounding and the `tolerance` of `cg`.
    ///
    /// `dual` and `primal` take them from the factors of the whole system, or of the `known` model if it has the
    /// same ridge parameter. This takes `O(t^2 u + t^3)` time for a group of `t` rows and `u` unknowns (Pahikkala
    /// et al., 2009; An, Liu and Venkatesh, 2007). `cg` trains for all `lambdas` and groups side by side until the
    /// residual is within `tolerance`, as a share of the norm of the labels.
    pub(crate) fn leave_out(
        &self,
        lambdas: &[Lambda],
        known: Option<&Solution>,
        groups: &Groups,
        tolerance: f64,
    ) -> Result<Vec<Holdout>> {
        let queries = self.system.queries();
        let of_rows = groups.clone().rows(queries)?;
        let rows: Vec<&[usize]> = of_rows.iter().collect();
        let system = &self.system;
        let by_lambda = self
            .solve
            .leave_out(system, lambdas, known, &rows, tolerance);
        stop::check()?;
        let by_lambda = by_lambda?;
        let parts = parts_of(&of_rows, queries)?;
        let all = by_lambda.into_iter();
        all.map(|residuals| Holdout::of(system, &parts, residuals))
            .collect()
    }
}

/// The error for groups that leave nothing to compare.
fn nothing_to_compare() -> Error {
    Error::options(
        "no group holds out two examples of a query: no two predictions of a model can be compared; expected larger groups",
    )
}

/// The parts of queries that `groups` of rows hold out together.
fn parts_of(groups: &Groups, queries: &Queries) -> Result<Parts> {
    let same = |a: &usize, b: &usize| queries.of_row(*a) == queries.of_row(*b);
    let mut parts: Vec<&[usize]> = groups.iter().flat_map(|rows| rows.chunk_by(same)).collect();
    parts.sort_unstable_by_key(|part| part[0]);
    let sizes: Vec<usize> = parts.iter().map(|part| part.len()).collect();
    if sizes.iter().all(|&size| size == 1) && queries.largest() > 1 {
        return Err(nothing_to_compare());
    }
    Ok(Parts {
        order: parts.concat(),
        queries: Queries::from_sizes(&sizes)?,
    })
}

impl Holdout {
    fn of(system: &System<'_>, parts: &Parts, residuals: Residuals) -> Result<Self> {
        let rows = &system.rows;
        let unscaled = |scaled: &[f64]| -> Vec<f64> {
            let by_row = scaled.iter().enumerate();
            by_row
                .map(|(row, value)| value / rows.weight_root(row))
                .collect()
        };
        let labels = unscaled(&system.labels);
        let mut values = residuals.values;
        let left = unscaled(&values);
        let pairs = labels.iter().zip(&left);
        let mut predictions: Vec<f64> = pairs.map(|(label, rest)| label - rest).collect();
        if parts.queries.len() > rows.queries().len() {
            values = pick(&values, &parts.order);
            parts.queries.split_mut(&mut values).for_each(centre);
        } else {
            // They are centred, up to rounding.
            rows.centre(&mut predictions);
        }
        let error: f64 = values.iter().map(|residual| residual * residual).sum();
        if !error.is_finite() {
            return Err(too_large());
        }
        let cindex = rows.concordance(&system.as_given, &labels, &predictions, parts);
        Ok(Self {
            cindex,
            pairs: Vec::new(),
            predictions,
            error,
            residual: residuals.largest,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::sample;
    use crate::memory::Memory;
    use crate::ridge::{RankRls, Solver, TOLERANCE};

    /// No front end asks for other tolerances.
    #[test]
    fn iterations_come_as_near_to_the_factors_as_they_are_asked_to() {
        let queries: Vec<usize> = (0..17).collect();
        let data = sample::train().queries_subset(&queries).unwrap();
        let lambdas = [Lambda::new(16.0).unwrap()];
        for groups in [
            Groups::queries(17),
            Groups::folds(data.queries(), 2, 1).unwrap(),
        ] {
            let by = |solver| {
                let options = RankRls {
                    solver: Some(solver),
                    ..RankRls::default()
                };
                let memory = Memory::default();
                let problem = RidgeProblem::of_columns(&data, None, &options, memory, 0).unwrap();
                problem
                    .leave_out(&lambdas, None, &groups, TOLERANCE)
                    .unwrap()
            };
            let exact = by(Solver::Dual);
            let found = by(Solver::ConjugateGradients);
            for (found, exact) in found.iter().zip(&exact) {
                assert!(found.residual <= Some(TOLERANCE));
                let pairs = found.predictions.iter().zip(&exact.predictions);
                for (prediction, expected) in pairs {
                    assert!((prediction - expected).abs() < 1e-8);
                }
                assert_eq!(found.cindex, exact.cindex);
            }
        }
    }
}
