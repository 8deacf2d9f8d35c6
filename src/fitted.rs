//! The short way: parameters, which are checked, and models fitted to a data set.

use ndarray::{Array1, ArrayView1};

#[cfg(doc)]
use crate::columns::ColumnClasses;
use crate::columns::{QueryWeight, Scale};
use crate::data::{Dataset, DatasetError, IntoColumns, LabelScale};
use crate::greedy::{
    Criterion, Observer, Selection, SelectionOptions, Step, StrategyKind, TargetOptions,
    select_among,
};
use crate::model::{FeatureChoice, Model};
#[cfg(doc)]
use crate::ridge::RidgeProblem;
use crate::ridge::{
    Cell, Fit, Holdout, Kernel, Preferences, Scheme, Solver, TrainError, TrainGrid, TrainOptions,
    Weights,
};
use crate::setters::setters;
use crate::tune::{AutoLambda, TuneError, choose_lambda};
use crate::{InvalidLambda, Lambda, Lambdas, Objective, Ridge, Warning};

/// Greedy RankRLS fitted to a data set: a linear model over the features it selected.
///
/// ```
/// use rankrls::data::sample;
/// use rankrls::{GreedyRankRls, StrategyKind};
///
/// let params = GreedyRankRls::params(10).lambda(16.0)?;
/// let model = params.strategy(StrategyKind::Bounded).fit(&sample::train())?;
/// assert_eq!(model.features().len(), 10);
/// assert!(model.path()[9].lqo_error < model.path()[0].lqo_error);
/// let test = sample::test();
/// assert_eq!(model.predict(&test)?.len(), test.rows());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct GreedyRankRls {
    features: Vec<u32>,
    selection: Selection,
    auto: Option<AutoLambda>,
    model: Model,
}

impl GreedyRankRls {
    /// Parameters of a selection of `k` features, by default with the lambda that
    /// [`choose_lambda`] chooses and the fastest exact strategy that fits into memory.
    pub fn params(k: usize) -> GreedyRankRlsParams {
        GreedyRankRlsParams(SelectionOptions::new(k, None))
    }

    /// The features, 0-based, in order of selection.
    pub fn features(&self) -> &[u32] {
        &self.features
    }

    /// A weight for each feature, in order of selection.
    pub fn weights(&self) -> ArrayView1<'_, f64> {
        self.selection.weights()
    }

    /// The steps: the leave-query-out error and concordance index after each.
    pub fn path(&self) -> &[Step] {
        &self.selection.steps
    }

    /// Scores of the rows of `x`, in row order: of a [`Dataset`], or of a matrix of `sprs` or
    /// `ndarray` ([`IntoColumns`]). Features that `x` does not have count nothing.
    ///
    /// # Errors
    /// [`DatasetError`] for a matrix without rows, or with values that are not finite.
    pub fn predict<'a>(&self, x: impl IntoColumns<'a>) -> Result<Array1<f64>, DatasetError> {
        Ok(self.model.scores(&Dataset::unlabelled(x)?).into())
    }

    /// How folds chose the ridge parameter, where they had to.
    pub fn auto_lambda(&self) -> Option<&AutoLambda> {
        self.auto.as_ref()
    }

    /// Warnings about the selection and its ridge parameter.
    pub fn warnings(&self) -> Vec<Warning> {
        let edge = self.auto.as_ref().and_then(|auto| auto.tuned.edge());
        edge.into_iter().chain(self.selection.warnings()).collect()
    }

    /// Everything else that the selection found.
    pub fn selection(&self) -> &Selection {
        &self.selection
    }

    /// The model as a file has it, with the names of the features.
    pub fn model(&self) -> &Model {
        &self.model
    }
}

/// Parameters of [`GreedyRankRls`].
#[derive(Debug, Clone, PartialEq)]
pub struct GreedyRankRlsParams(SelectionOptions);

impl GreedyRankRlsParams {
    /// The ridge parameter, finite and above 0. The default is [`ridge`](Self::ridge)'s.
    ///
    /// # Errors
    /// [`InvalidLambda`] for other numbers.
    pub fn lambda(self, lambda: f64) -> Result<Self, InvalidLambda> {
        Ok(self.ridge(Lambda::new(lambda)?.into()))
    }

    setters! {
        /// The ridge parameter, as a number or a share of the [unit](ColumnClasses::unit). By default
        /// folds choose it, or the strategy has one ([`choose_lambda`]).
        ridge: Ridge => 0.lambda;

        /// The strategy. The default is the fastest exact one that fits into memory.
        strategy: StrategyKind => 0.strategy;

        /// What each step improves most. The default is [`Criterion::Squared`].
        criterion: Criterion => 0.criterion;

        /// What a query counts. The default is [`QueryWeight::Uniform`].
        query_weight: QueryWeight => 0.query_weight;

        /// What is learnt from: the scale of the labels, the teacher, the weights. By default the raw
        /// labels, and the teacher of [`StrategyKind::Distil`] where that is the strategy.
        target: TargetOptions => 0.target;

        /// What each column is divided by. The default is [`Scale::None`].
        scale: Scale => 0.scale;

        /// Candidates drawn at random in each step, 1 or more. By default all are judged, and
        /// [`StrategyKind::DEFAULT_SAMPLE`] by `sampled`.
        sample: usize => 0.sample;

        /// The seed of random draws. The default is 1.
        seed: u64 => 0.seed;

        /// Bytes that data, candidates and strategy may take together. No limit by default.
        max_memory: u64 => 0.memory;
    }

    /// Selects features of `data` and fits their weights.
    ///
    /// # Errors
    /// [`TuneError::Select`] for parameters out of their range, for data without a column that varies
    /// within a query, and where memory or numbers fail; [`TuneError::NoLambda`] where folds find no
    /// lambda.
    pub fn fit(&self, data: &Dataset<'_>) -> Result<GreedyRankRls, TuneError> {
        self.fit_with(data, &mut ())
    }

    /// Selects from `dataset` as [`fit`](Self::fit), watched by `observer`, which may stop the selection.
    ///
    /// # Errors
    /// As [`fit`](Self::fit).
    pub fn fit_with(
        &self,
        data: &Dataset<'_>,
        observer: &mut dyn Observer,
    ) -> Result<GreedyRankRls, TuneError> {
        self.0.check_effects(&[self.0.strategy], false, false)?;
        let classes = self.0.candidates(data);
        let (lambda, auto) = choose_lambda(&self.0, &classes, data, &mut ())?;
        let options = SelectionOptions {
            lambda: lambda.into(),
            ..self.0.clone()
        };
        let selection = select_among(&classes, data, &options, observer)?;
        Ok(GreedyRankRls {
            features: selection.features(),
            auto,
            model: Model::from_selection(&selection, data, &classes.summary()),
            selection,
        })
    }
}

/// RankRLS fitted to a data set: a linear model over all features that vary within a query, or a
/// kernel model over its rows, with predictions for examples that it has not seen.
///
/// ```
/// use rankrls::data::sample;
/// use rankrls::ridge::{Kernel, Preference, Preferences};
/// use rankrls::{Objective, RankRls};
///
/// let data = sample::train();
/// let model = RankRls::params().lambda(16.0)?.fit(&data)?;
/// let held_out = model.holdout().expect("every solver that factors leaves queries out");
/// assert_eq!(held_out.predictions.len(), data.rows());
/// assert!(held_out.cindex > Some(0.5));
/// assert_eq!(model.weights().len(), model.features().len());
///
/// let params = RankRls::params().kernel(Kernel::gaussian(0.01)?);
/// let model = params.holdout("lpo".parse()?).fit(&data)?;
/// assert_eq!(model.predict(&data)?.len(), data.rows());
///
/// // All pairs of examples, whatever their queries, and given pairs.
/// let params = RankRls::params().objective(Objective::Global).lambda(16.0)?;
/// assert!(params.fit(&data)?.holdout().unwrap().cindex > Some(0.5));
/// let first = |other| Preference { preferred: 0, other, magnitude: 1.0, weight: 1.0 };
/// let preferences = Preferences::new((1..5).map(first).collect(), data.rows())?;
/// let scores = RankRls::params().preferences(preferences).fit(&data)?.predict(&data)?;
/// assert!((1..5).all(|other| scores[0] > scores[other]));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct RankRls {
    features: Vec<u32>,
    weights: Array1<f64>,
    cell: Cell,
    model: Model,
}

impl RankRls {
    /// Parameters: by default the lambda of [`Lambdas::Auto`] with the least hold-out error, and the
    /// fastest solver that fits into memory.
    pub fn params() -> RankRlsParams {
        RankRlsParams(TrainGrid::new(Lambdas::Auto, TrainOptions::new()))
    }

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

    /// Scores of the rows of `x`, in row order: of a [`Dataset`], or of a matrix of `sprs` or
    /// `ndarray` ([`IntoColumns`]). Features that `x` does not have count nothing.
    ///
    /// # Errors
    /// [`DatasetError`] for a matrix without rows, with values that are not finite, or, under a kernel,
    /// with columns that the training data did not have.
    pub fn predict<'a>(&self, x: impl IntoColumns<'a>) -> Result<Array1<f64>, DatasetError> {
        let data = Dataset::unlabelled(x)?;
        self.model.check_columns(&data)?;
        Ok(self.model.scores(&data).into())
    }

    /// The model as a file has it, with the names of the features.
    pub fn model(&self) -> &Model {
        &self.model
    }
}

/// Parameters of [`RankRls`].
#[derive(Debug, Clone)]
pub struct RankRlsParams(TrainGrid);

impl RankRlsParams {
    /// The ridge parameter, finite and above 0. The default is [`ridge`](Self::ridge)'s.
    ///
    /// # Errors
    /// [`InvalidLambda`] for other numbers.
    pub fn lambda(self, lambda: f64) -> Result<Self, InvalidLambda> {
        Ok(self.ridge(Lambda::new(lambda)?.into()))
    }

    /// The ridge parameter, as a number or a share of the [unit](RidgeProblem::unit). By default one
    /// of [`Lambdas::Auto`].
    #[must_use]
    pub fn ridge(self, ridge: Ridge) -> Self {
        self.lambdas(Lambdas::Given(vec![ridge]))
    }

    /// Ridge parameters, of which the one with the least hold-out error is taken. The default is
    /// [`Lambdas::Auto`].
    #[must_use]
    pub fn lambdas(mut self, lambdas: Lambdas) -> Self {
        self.0.lambdas = lambdas;
        self
    }

    /// The kernel. The default is [`Kernel::LINEAR`], by weights of the columns.
    #[must_use]
    pub fn kernel(mut self, kernel: Kernel) -> Self {
        self.0.kernels = vec![kernel];
        self
    }

    /// The examples to hold out, with any solver. The default is leave-query-out, or leave-pair-out
    /// under other objectives, except with solver `cg` and for data of one query;
    /// [`Scheme::Nothing`] spares the time.
    #[must_use]
    pub fn holdout(mut self, holdout: Scheme) -> Self {
        self.0.holdout = holdout;
        self
    }

    /// The pairs of examples to order, under [`Objective::Pairs`]: the labels of the data are not used.
    #[must_use]
    pub fn preferences(mut self, preferences: Preferences) -> Self {
        self.0.preferences = Some(preferences);
        self.objective(Objective::Pairs)
    }

    setters! {
        /// The rows of the basis, 0-based: the reduced set method. All rows by default.
        basis: Vec<usize> => 0.basis;

        /// The solver. The default is the fastest that fits into memory
        /// ([`TrainOptions::solver`]).
        solver: Solver => 0.options.solver;

        /// Which pairs are to be ordered. The default is [`Objective::Query`].
        objective: Objective => 0.options.objective;

        /// What a query counts. The default is [`QueryWeight::Uniform`].
        query_weight: QueryWeight => 0.options.query_weight;

        /// The scale of the labels. The default is [`LabelScale::Raw`].
        labels: LabelScale => 0.options.labels;

        /// What each column is divided by. The default is [`Scale::None`].
        scale: Scale => 0.options.scale;

        /// Bytes that data, column classes and solver may take together. No limit by default.
        max_memory: u64 => 0.options.memory;
    }

    /// Fits weights, or coefficients of rows, to `data`.
    ///
    /// # Errors
    /// [`TrainError`] for data without a column that varies within a query, for a hold-out scheme
    /// that they do not allow, and where memory or numbers fail.
    pub fn fit(&self, data: &Dataset<'_>) -> Result<RankRls, TrainError> {
        let (mut grid, options) = (self.0.clone(), &self.0.options);
        if grid.holdout == Scheme::Auto && grid.models() == 1 {
            // Nothing is to be chosen: hold-outs come only where they are free.
            grid.holdout = Scheme::Factored;
        }
        let classes = options.column_classes(data);
        let mut outcome = grid.train(data, Some(&classes))?;
        let cell = outcome.cells.swap_remove(outcome.best);
        let (fit, choice, summary) = (&outcome.fit, FeatureChoice::All, classes.summary());
        let model = Model::from_fit(fit, &cell, choice, data, &summary, options);
        let weights = match outcome.fit {
            Fit::Linear(weights) => weights,
            Fit::Kernel { .. } => Weights::default(),
        };
        Ok(RankRls {
            features: weights.features,
            weights: weights.values.into(),
            cell,
            model,
        })
    }
}

#[cfg(test)]
mod tests {
    use ndarray::{Array2, arr2};

    use super::*;
    use crate::data::sample;
    use crate::ridge::RidgeProblem;
    use crate::select;

    #[test]
    fn a_fitted_selection_is_that_of_select() {
        let data = sample::train();
        let params = GreedyRankRls::params(5).lambda(4.0).unwrap();
        let params = params.strategy(StrategyKind::Sampled).sample(7).seed(3);
        let params = params.query_weight(QueryWeight::Size);
        let model = params.fit(&data).unwrap();
        let options = SelectionOptions {
            strategy: Some(StrategyKind::Sampled),
            sample: Some(7),
            seed: Some(3),
            query_weight: QueryWeight::Size,
            ..SelectionOptions::new(5, Lambda::new(4.0).unwrap())
        };
        let selection = select(&data, &options, &mut ()).unwrap();
        assert_eq!(model.selection(), &selection);
        assert_eq!(model.weights().to_vec(), selection.weights);
        let scores = model.model().scores(&data);
        assert_eq!(model.predict(&data).unwrap().to_vec(), scores);
        assert_eq!(model.predict(dense(&data)).unwrap().to_vec(), scores);
    }

    fn dense(data: &Dataset<'_>) -> Array2<f64> {
        let mut x = Array2::zeros((data.rows(), data.width()));
        for position in 0..data.stored_columns() {
            for (row, value) in data.column(position).iter() {
                x[(row, data.feature(position) as usize)] = value;
            }
        }
        x
    }

    #[test]
    fn a_fitted_ridge_holds_out_what_was_asked_for() {
        let data = sample::train();
        let params = RankRls::params().lambda(4.0).unwrap();
        let model = params.fit(&data).unwrap();
        let problem = RidgeProblem::new(&data, &TrainOptions::new()).unwrap();
        let trained = problem.train(Lambda::new(4.0).unwrap()).unwrap();
        assert_eq!(model.holdout(), Some(&trained.leave_query_out().unwrap()));
        assert_eq!(model.weights().to_vec(), trained.weights().values);
        let folds: Scheme = "folds:3".parse().unwrap();
        let model = params.clone().holdout(folds.clone()).fit(&data).unwrap();
        assert_eq!(model.holdout(), Some(&trained.holdout_by(&folds).unwrap()));
        let scaled = params.clone().labels(LabelScale::Unit).fit(&data).unwrap();
        let units = LabelScale::Unit.apply(data.labels(), data.queries());
        let before = Dataset::new(data.x(), units, data.queries().clone()).unwrap();
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
        let data = Dataset::new(&x, &[0.0, 1.0, 2.0, 4.0], &["a", "a", "b", "b"]).unwrap();
        let model = RankRls::params()
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
        let says = |error: &dyn std::error::Error, range: &str| {
            assert!(error.to_string().contains(range), "{error}");
        };
        for lambda in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            let error = GreedyRankRls::params(5).lambda(lambda).unwrap_err();
            says(&error, "expected a finite number above 0");
            assert!(RankRls::params().lambda(lambda).is_err());
        }
        let data = sample::train();
        for params in [GreedyRankRls::params(0), GreedyRankRls::params(1).sample(0)] {
            says(&params.fit(&data).unwrap_err(), "expected at least one");
        }
        let params = RankRls::params().holdout("folds:1".parse().unwrap());
        says(&params.fit(&data).unwrap_err(), "expected from 2");
    }
}
