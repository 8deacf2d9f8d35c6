//! Predictions by models that have not seen some of the examples, and what they are worth.
//!
//! Solvers that factor have them from the whole model (module `solvers::factored`). Conjugate gradients train
//! again for every group, several side by side. Under the global objective the ridge parameter depends on how
//! many rows are left: groups of each size have a factorisation of their own.

mod pairs;

use super::comparisons::{Parts, Predicted, pick};
use super::problem::RidgeProblem;
use super::solvers::{Convergence, Model, Residuals, TOLERANCE};
use super::system::{System, too_large};
use super::trained::Trained;
use crate::data::{Groups, Queries, one_query};
use crate::error::{Error, Result};
use crate::lambda::Lambda;
use crate::linalg::centring::centre;
use crate::metrics::{Metric, Rules, evaluate};
use crate::stop;

/// A hold-out: predictions for rows by models that have not seen them, and their errors (`docs/rankrls.md`,
/// "Held-out queries"; Pahikkala et al., 2009; An, Liu and Venkatesh, 2007).
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Holdout {
    /// A prediction for every row, `m`, in units of the labels and relative to the mean of its query: the
    /// centred label less `p / sqrt(omega_q)`, for the residual `p` of the weighted label and the weight
    /// `omega_q` of the query. You can compare those that one model made for rows of a query.
    ///
    /// Under preferences, a prediction for every preference: the difference of its rows, in units of the
    /// magnitudes. Empty for leave-pair-out.
    pub predictions: Vec<f64>,
    /// The predictions for every pair, by leave-pair-out where they were asked for: `n (n - 1) / 2` for each
    /// query of `n` examples.
    pub pairs: Vec<LeftPair>,
    /// Sum over queries, or the parts of them that are held out together, of the squared centred
    /// residuals, each query weighted as in training; in squared units of the labels. For leave-pair-out, the
    /// sum over the pairs of a query of `((y_i - y_j) - (f_i - f_j))^2`, divided by the number of its examples.
    pub error: f64,
    /// Concordance index of the predictions, from 0 to 1, averaged over the queries, or parts, that have a pair
    /// of different labels; `None` when none has. For preferences, the share of them, by weight, that come in
    /// the right order, without those of magnitude 0.
    pub cindex: Option<f64>,
    /// How conjugate gradients ended, if they were the solver: the iterations of all groups, and the largest
    /// residual.
    pub convergence: Option<Convergence>,
}

/// A pair of examples of a query, and the predictions of the model without them, relative to the mean of
/// the query.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LeftPair {
    /// The rows, 0-based, ascending.
    pub rows: [u32; 2],
    /// The prediction for each, in units of the labels.
    pub predictions: [f64; 2],
}

impl Trained<'_> {
    /// Leaves out every query on its own, as [`leave_out`](Self::leave_out) does: one prediction a row.
    pub fn leave_query_out(&self) -> Result<Holdout> {
        let queries = self.problem.system.queries().len();
        if queries == 1 {
            return Err(one_query());
        }
        self.leave_out(&Groups::queries(queries))
    }

    /// Predictions for every row, `m`, by models that were trained without its group: exactly, but for rounding
    /// and the tolerance of `cg`.
    ///
    /// `dual` and `primal` take them from the factors of the whole system, in `O(t^2 u + t^3)` time for a group
    /// of `t` rows and `u` unknowns (Pahikkala et al., 2009; An, Liu and Venkatesh, 2007). `cg` trains again for
    /// every group, to a residual of [`TOLERANCE`].
    pub fn leave_out(&self, groups: &Groups) -> Result<Holdout> {
        let model = Model {
            lambda: self.lambda,
            solution: Some(&self.solution),
        };
        let holdouts = self.problem.holdouts_of(&[model], groups, TOLERANCE)?;
        Ok(holdouts.into_iter().next().unwrap_or_default())
    }
}

impl RidgeProblem<'_> {
    /// The mean of a `metric` of hold-out predictions over the parts of queries that `groups` hold out together;
    /// `None` where the measure is undefined in every part, for groups of other data, and for a hold-out of
    /// pairs, which has no predictions.
    pub fn measure(
        &self,
        holdout: &Holdout,
        groups: &Groups,
        metric: Metric,
        rules: Rules,
    ) -> Option<f64> {
        let queries = self.system.queries();
        if holdout.predictions.len() != queries.rows() {
            return None;
        }
        let of_rows = groups.clone().rows(queries).ok()?;
        let parts = parts_of(&of_rows, queries).ok()?;
        let labels = pick(&self.system.as_given, &parts.order);
        let scores = pick(&holdout.predictions, &parts.order);
        let found = evaluate(&[metric], &labels, &scores, &parts.queries, rules).ok()?;
        found.first()?.1.mean
    }

    /// [`Trained::leave_out`] for each of `lambdas`, in their order.
    ///
    /// `dual` and `primal` train with each of `lambdas` and ignore `tolerance`. `cg` trains for all
    /// `lambdas` and groups side by side, until the residual is within `tolerance`, as a share of
    /// the norm of the labels: [`HOLDOUT_TOLERANCE`](super::HOLDOUT_TOLERANCE) is enough to compare ridge
    /// parameters, [`TOLERANCE`] gives the digits of [`Trained::leave_out`].
    ///
    /// ```
    /// use rankrls::data::sample;
    /// use rankrls::data::Groups;
    /// use rankrls::ridge::{HOLDOUT_TOLERANCE, RidgeProblem, Solver};
    /// use rankrls::{Lambda, RankRls};
    ///
    /// let data = sample::train();
    /// let iterated = RankRls { solver: Some(Solver::ConjugateGradients), ..RankRls::default() };
    /// let problem = RidgeProblem::new(&data, &iterated)?;
    /// let lambdas = [Lambda::new(4.0)?, Lambda::new(64.0)?];
    /// let folds = Groups::folds(data.queries().len(), 5, 1)?;
    /// let holdouts = problem.leave_out(&lambdas, &folds, HOLDOUT_TOLERANCE)?;
    /// assert_eq!(holdouts[1].predictions.len(), data.rows());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn leave_out(
        &self,
        lambdas: &[Lambda],
        groups: &Groups,
        tolerance: f64,
    ) -> Result<Vec<Holdout>> {
        let model = |&lambda: &Lambda| Model {
            lambda,
            solution: None,
        };
        let models: Vec<Model<'_>> = lambdas.iter().map(model).collect();
        self.holdouts_of(&models, groups, tolerance)
    }

    fn holdouts_of(
        &self,
        models: &[Model<'_>],
        groups: &Groups,
        tolerance: f64,
    ) -> Result<Vec<Holdout>> {
        let queries = self.system.queries();
        let of_rows = groups.clone().rows(queries)?;
        let rows: Vec<&[usize]> = of_rows.iter().collect();
        let system = &self.system;
        let by_model = self.solve.leave_out(system, models, &rows, tolerance);
        stop::check()?;
        let by_model = by_model?;
        let parts = parts_of(&of_rows, queries)?;
        let all = by_model.into_iter();
        all.map(|residuals| Holdout::of(system, &parts, residuals))
            .collect()
    }
}

/// Groups in which nothing can be compared.
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
            by_row.map(|(row, value)| value / rows.scale(row)).collect()
        };
        let labels = unscaled(&system.labels);
        let Residuals {
            mut values,
            convergence,
        } = residuals;
        let left = unscaled(&values);
        let pairs = labels.iter().zip(&left);
        let mut predictions: Vec<f64> = pairs.map(|(label, rest)| label - rest).collect();
        if parts.queries.len() > rows.queries().len() {
            values = pick(&values, &parts.order);
            parts.queries.split_mut(&mut values).for_each(centre);
        } else {
            // They are centred but for rounding.
            rows.centre(&mut predictions);
        }
        let error: f64 = values.iter().map(|residual| residual * residual).sum();
        if !error.is_finite() {
            return Err(too_large());
        }
        let cindex = rows.concordance(&Predicted {
            as_given: &system.as_given,
            labels: &labels,
            predictions: &predictions,
            parts,
        });
        Ok(Self {
            cindex,
            pairs: Vec::new(),
            predictions,
            error,
            convergence,
        })
    }
}
