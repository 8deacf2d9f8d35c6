//! Training without selection: parameters, and the model fitted to a data set.

use std::fmt::Display;
use std::path::Path;

use ndarray::{Array1, ArrayView1};

use crate::columns::{QueryWeight, Scale};
use crate::data::{Dataset, LabelScale};
use crate::error::Error;
use crate::lambda::{Lambdas, Ridge};
use crate::model::{FeatureChoice, Model, ModelError};
use crate::objective::Objective;
#[cfg(doc)]
use crate::ridge::RidgeProblem;
use crate::ridge::{
    Basis, Cell, Fit, Holdout, Kernel, Preferences, Scheme, Solver, TrainError, TrainGrid,
    TrainOptions, Weights,
};
use crate::setters::setters;

/// RankRLS: parameters, checked by [`fit`](Self::fit), of a linear model over all features that vary within a
/// query, or of a kernel model over rows, with predictions for examples that it has not seen.
///
/// ```
/// use rankrls::data::sample;
/// use rankrls::ridge::{Kernel, Preference, Preferences};
/// use rankrls::{Objective, RankRls};
///
/// let data = sample::train();
/// let model = RankRls::new().lambda(16.0).fit(&data)?;
/// let held_out = model.holdout().expect("every solver that factors leaves queries out");
/// assert_eq!(held_out.predictions.len(), data.rows());
/// assert!(held_out.cindex > Some(0.5));
/// assert_eq!(model.weights().len(), model.features().len());
///
/// let params = RankRls::new().kernel(Kernel::gaussian(0.01)?);
/// let model = params.holdout("lpo".parse()?).fit(&data)?;
/// assert_eq!(model.predict(&data)?.len(), data.rows());
///
/// // All pairs of examples, whatever their queries, and given pairs.
/// let params = RankRls::new().objective(Objective::Global).lambda(16.0);
/// assert!(params.fit(&data)?.holdout().unwrap().cindex > Some(0.5));
/// let first = |other| Preference { preferred: 0, other, magnitude: 1.0, weight: 1.0 };
/// let preferences = Preferences::new((1..5).map(first).collect(), &data)?;
/// let scores = RankRls::new().preferences(preferences).fit(&data)?.predict(&data)?;
/// assert!((1..5).all(|other| scores[0] > scores[other]));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct RankRls {
    grid: TrainGrid,
    /// The fault of a parameter, if one has any.
    refused: Option<String>,
}

impl Default for RankRls {
    fn default() -> Self {
        Self::new()
    }
}

impl RankRls {
    /// All at their defaults: the lambda of [`Lambdas::Auto`] with the least hold-out error, and the
    /// fastest solver that fits into memory.
    pub fn new() -> Self {
        Self {
            grid: TrainGrid::new(Lambdas::Auto, TrainOptions::new()),
            refused: None,
        }
    }

    /// The ridge parameter: a number above 0 such as `16.0`, or a text such as `"1/16u"`, which is a
    /// share of the [unit](RidgeProblem::unit). By default one of [`Lambdas::Auto`].
    #[must_use]
    pub fn lambda(mut self, lambda: impl TryInto<Ridge, Error: Display>) -> Self {
        match lambda.try_into() {
            Ok(ridge) => self.lambdas(Lambdas::Given(vec![ridge])),
            Err(error) => {
                self.refused = Some(error.to_string());
                self
            }
        }
    }

    /// Ridge parameters, of which the one with the least hold-out error is taken. The default is
    /// [`Lambdas::Auto`].
    #[must_use]
    pub fn lambdas(mut self, lambdas: Lambdas) -> Self {
        self.grid.lambdas = lambdas;
        self.refused = None;
        self
    }

    /// The kernel. The default is [`Kernel::LINEAR`], by weights of the columns.
    #[must_use]
    pub fn kernel(mut self, kernel: Kernel) -> Self {
        self.grid.kernels = vec![kernel];
        self
    }

    /// The examples to hold out, with any solver. The default is leave-query-out, or leave-pair-out
    /// under other objectives, except with solver `cg` and for data of one query;
    /// [`Scheme::Nothing`] spares the time.
    #[must_use]
    pub fn holdout(mut self, holdout: Scheme) -> Self {
        self.grid.holdout = holdout;
        self
    }

    /// The pairs of examples to order, under [`Objective::Pairs`]: the labels of the data are not used.
    #[must_use]
    pub fn preferences(mut self, preferences: Preferences) -> Self {
        self.grid.preferences = Some(preferences);
        self.objective(Objective::Pairs)
    }

    setters! {
        /// The rows that the model is over: the reduced set method. All rows by default.
        basis: Basis => grid.basis;

        /// The solver. The default is the fastest that fits into memory
        /// ([`TrainOptions::solver`]).
        solver: Solver => grid.options.solver;

        /// Which pairs are to be ordered. The default is [`Objective::Query`].
        objective: Objective => grid.options.objective;

        /// The weight of a query. The default is [`QueryWeight::Uniform`].
        query_weight: QueryWeight => grid.options.query_weight;

        /// The scale of the labels. The default is [`LabelScale::Raw`].
        labels: LabelScale => grid.options.labels;

        /// The divisor of each column. The default is [`Scale::None`].
        scale: Scale => grid.options.scale;

        /// Bytes that data, column classes and solver may take together. No limit by default.
        max_memory: u64 => grid.options.memory;
    }

    /// Fits weights, or coefficients of rows, to `data`.
    pub fn fit(&self, data: &Dataset<'_>) -> Result<FittedRankRls, TrainError> {
        if let Some(reason) = &self.refused {
            return Err(TrainError::Parameter(reason.clone()));
        }
        let (mut grid, options) = (self.grid.clone(), &self.grid.options);
        if grid.holdout == Scheme::Auto && grid.models() == 1 {
            // Nothing is to be chosen: hold-outs come only where they are free.
            grid.holdout = Scheme::Factored;
        }
        let classes = options.column_classes(data);
        let mut outcome = grid.train(data, Some(&classes))?;
        let mut cell = outcome.cells.swap_remove(outcome.best);
        let (choice, summary) = (FeatureChoice::All, classes.summary());
        let model = Model::from_cell(&cell, choice, data, &summary, options);
        let weights = match cell.fit.take() {
            Some(Fit::Linear(weights)) => weights,
            _ => Weights::default(),
        };
        Ok(FittedRankRls {
            features: weights.features,
            weights: weights.values.into(),
            cell,
            model,
        })
    }
}

/// A [`RankRls`] model fitted to a data set.
#[derive(Debug, Clone)]
pub struct FittedRankRls {
    features: Vec<u32>,
    weights: Array1<f64>,
    cell: Cell,
    model: Model,
}

impl FittedRankRls {
    /// The features that vary within some query, 0-based, ascending. The weights of all others
    /// are 0. None under a kernel.
    pub fn features(&self) -> &[u32] {
        &self.features
    }

    /// A weight for each feature.
    pub fn weights(&self) -> ArrayView1<'_, f64> {
        self.weights.view()
    }

    /// Predictions for the training data by models that have not seen the query, or have not seen
    /// the examples of the scheme that was asked for; `None` by default with solver `cg`, which
    /// would have to train again for every query, and for data of one query, which leave nothing to
    /// train on. Under other objectives every pair is held out.
    pub fn holdout(&self) -> Option<&Holdout> {
        self.cell.holdout.as_ref()
    }

    /// Scores of the rows of `data`, in row order, whatever their labels and queries. Features that
    /// `data` does not have count nothing.
    pub fn predict(&self, data: &Dataset<'_>) -> Result<Array1<f64>, Error> {
        self.model.check_columns(data)?;
        Ok(self.model.scores(data).into())
    }

    /// Writes the model to a file, compressed if its name ends in `.gz` or `.zst`.
    pub fn write(&self, path: impl AsRef<Path>) -> Result<(), ModelError> {
        self.model.write(path)
    }

    /// The model as a file has it, with the names of the features.
    pub fn model(&self) -> &Model {
        &self.model
    }
}

#[cfg(test)]
mod tests {
    use ndarray::arr2;

    use super::*;
    use crate::data::{Queries, sample};
    use crate::lambda::Lambda;
    use crate::ridge::RidgeProblem;

    #[test]
    fn a_fitted_ridge_holds_out_what_was_asked_for() {
        let data = sample::train();
        let params = RankRls::new().lambda(4.0);
        let model = params.fit(&data).unwrap();
        let problem = RidgeProblem::new(&data, &TrainOptions::new()).unwrap();
        let trained = problem.train(Lambda::new(4.0).unwrap()).unwrap();
        assert_eq!(model.holdout(), Some(&trained.leave_query_out().unwrap()));
        assert_eq!(model.weights().to_vec(), trained.weights().values);
        let folds: Scheme = "folds:3".parse().unwrap();
        let model = params.clone().holdout(folds.clone()).fit(&data).unwrap();
        assert_eq!(
            model.holdout(),
            Some(&trained.leave_out_by(&folds).unwrap())
        );
        let scaled = params.clone().labels(LabelScale::Unit).fit(&data).unwrap();
        let units = LabelScale::Unit.apply(data.labels(), data.queries());
        let before = Dataset::from_sprs(data.x(), units, data.queries().clone()).unwrap();
        assert_eq!(scaled.weights(), params.fit(&before).unwrap().weights());
        assert_eq!(
            scaled.model().settings().target.labels,
            Some(LabelScale::Unit)
        );
        let iterated = params.solver(Solver::ConjugateGradients);
        assert_eq!(iterated.fit(&data).unwrap().holdout(), None);
    }

    #[test]
    fn a_column_that_tells_queries_apart_orders_all_pairs() {
        let x = arr2(&[[0.0, 1.0], [0.0, 2.0], [1.0, 1.0], [1.0, 3.0]]);
        let queries = Queries::from_sizes(&[2, 2]).unwrap();
        let data = Dataset::from_dense(x.view(), &[0.0, 1.0, 2.0, 4.0], queries).unwrap();
        let model = RankRls::new()
            .objective(Objective::Global)
            .fit(&data)
            .unwrap();
        assert_eq!(model.features(), [0, 1]);
        let mut text = Vec::new();
        model.model().write_to(&mut text).unwrap();
        let read = Model::parse(&text, std::path::Path::new("model.json"));
        assert_eq!(&read.unwrap(), model.model());
    }

    #[test]
    fn parameters_out_of_range_are_refused_with_the_range() {
        let data = sample::train();
        let refused = |params: RankRls, range: &str| {
            let error = params.fit(&data).unwrap_err().to_string();
            assert!(error.contains(range), "{error}");
        };
        let folds = "folds:1".parse().unwrap();
        refused(RankRls::new().holdout(folds), "expected from 2");
        for lambda in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            let params = RankRls::new().lambda(lambda);
            refused(params.clone(), "expected a finite number above 0");
            assert!(params.lambda(16.0).fit(&data).is_ok());
        }
    }
}
