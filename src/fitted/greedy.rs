//! Selection: parameters, the model fitted to a data set, and the steps on the way to it.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt::Display;
use std::path::Path;

use ndarray::{Array1, ArrayView1};

use crate::candidates::Candidates;
use crate::columns::{QueryWeight, Scale, Summary};
use crate::data::{Dataset, LabelScale};
use crate::greedy::{
    Criterion, Earlier, OwnStrategy, Refit, SelectError, Selecting, Selection, SelectionOptions,
    State, Step, Strategy, StrategyKind, on_pool, plan_with,
};
use crate::lambda::{Lambdas, Ridge};
use crate::model::Model;
use crate::setters::setters;
use crate::tune::{Tune, TuneError, Tuned, choose_lambda_with};
use crate::warning::Warning;

/// Greedy RankRLS: parameters, checked by [`fit`](Self::fit), of a linear model over the features that it
/// selects.
///
/// ```
/// use rankrls::data::sample;
/// use rankrls::{GreedyRankRls, StrategyKind};
///
/// let params = GreedyRankRls::new(10).lambda(16.0).strategy(StrategyKind::Bounded);
/// let model = params.fit(&sample::train())?;
/// assert_eq!(model.features().len(), 10);
/// assert!(model.path()[9].lqo_error < model.path()[0].lqo_error);
/// let test = sample::test();
/// assert_eq!(model.predict(&test).len(), test.rows());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct GreedyRankRls {
    options: SelectionOptions,
    /// The strategy, where the library does not have it.
    own: Option<OwnStrategy>,
    tune: Option<Tune>,
    /// The fault of each parameter that has one.
    refused: BTreeMap<&'static str, String>,
}

impl From<SelectionOptions> for GreedyRankRls {
    fn from(options: SelectionOptions) -> Self {
        Self {
            options,
            own: None,
            tune: None,
            refused: BTreeMap::new(),
        }
    }
}

impl GreedyRankRls {
    /// A selection of `k` features by the fastest exact strategy that fits into memory, with the
    /// [`lambda`](Self::lambda) that folds choose.
    pub fn new(k: usize) -> Self {
        SelectionOptions::new(k, None).into()
    }

    /// The ridge parameter: a number above 0 such as `16.0`, or a text such as `"1/16u"`, which is a
    /// share of the [unit](Candidates::unit). By default 1/16 or 1/64 of the unit by
    /// [`StrategyKind::Distil`]; by other strategies three folds choose it.
    #[must_use]
    pub fn lambda(mut self, lambda: impl TryInto<Ridge, Error: Display>) -> Self {
        self.options.lambda = self.checked("lambda", lambda);
        self
    }

    /// The ridge parameter of [`Refit::CrossFitted`] weights, as [`lambda`](Self::lambda) takes it. The
    /// default is 1/64 of the unit.
    #[must_use]
    pub fn refit_lambda(mut self, lambda: impl TryInto<Ridge, Error: Display>) -> Self {
        self.options.target.refit_lambda = self.checked("refit_lambda", lambda);
        self
    }

    fn checked(
        &mut self,
        parameter: &'static str,
        lambda: impl TryInto<Ridge, Error: Display>,
    ) -> Option<Ridge> {
        self.refused.remove(parameter);
        let checked = lambda.try_into();
        checked
            .map_err(|error| self.refused.insert(parameter, error.to_string()))
            .ok()
    }

    /// The share of the labels in what [`StrategyKind::Distil`] selects by, from 0 to 1; the rest is the
    /// teacher's. The default is 0.2, and 0.4 from 500 queries on.
    #[must_use]
    pub fn blend(mut self, blend: f64) -> Self {
        self.refused.remove("blend");
        if !(0.0..=1.0).contains(&blend) {
            let fault = format!("blend is {blend}: expected a number from 0 to 1");
            self.refused.insert("blend", fault);
        }
        self.options.target.blend = Some(blend);
        self
    }

    /// The strategy. The default is the fastest exact one that fits into memory.
    #[must_use]
    pub fn strategy(mut self, strategy: impl Into<Option<StrategyKind>>) -> Self {
        self.options.strategy = strategy.into();
        self.own = None;
        self
    }

    /// A `strategy` of your own, in place of one of the library: each selection takes a clone. It sees the
    /// criterion and the drawn candidates of a step in the [`Round`](crate::greedy::strategy::Round). Models
    /// call it `own`.
    ///
    /// ```
    /// use rankrls::GreedyRankRls;
    /// use rankrls::data::sample;
    /// use rankrls::greedy::strategy::{Round, Strategy};
    ///
    /// /// Takes the columns in their order.
    /// #[derive(Clone)]
    /// struct First;
    ///
    /// impl Strategy for First {
    ///     fn errors(&mut self, _: &Round<'_>, eligible: &[u32]) -> Vec<f64> {
    ///         eligible.iter().map(|&place| f64::from(place)).collect()
    ///     }
    /// }
    ///
    /// let model = GreedyRankRls::new(3).lambda(1.0).with(First).fit(&sample::train())?;
    /// assert!(model.features().is_sorted());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn with(mut self, strategy: impl Strategy + Clone + Sync + 'static) -> Self {
        self.options.strategy = None;
        self.own = Some(OwnStrategy::new(strategy));
        self
    }

    /// Chooses lambda and the number of features, at most `k`, among the models of many selections.
    /// Where [`lambda`](Self::lambda) says one, `tune` chooses the number of features alone, unless it
    /// has lambdas of its own.
    ///
    /// ```
    /// use rankrls::data::sample;
    /// use rankrls::tune::{Rule, Tune};
    /// use rankrls::GreedyRankRls;
    ///
    /// let tune = Tune::folds(3).rule(Rule::OneSe);
    /// let model = GreedyRankRls::new(10).tuned(tune).fit(&sample::train())?;
    /// assert!(model.features().len() <= 10);
    /// assert_eq!(model.tuned().unwrap().lambda(), model.selection().lambda);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn tuned(mut self, tune: Tune) -> Self {
        self.tune = Some(tune);
        self
    }

    setters! {
        /// The measure that each step improves most. The default is [`Criterion::Squared`].
        criterion: Criterion => options.criterion;

        /// The weight of a query. The default is [`QueryWeight::Uniform`].
        query_weight: QueryWeight => options.query_weight;

        /// The divisor of each column. The default is [`Scale::None`].
        scale: Scale => options.scale;

        /// The scale of the labels. The default is [`LabelScale::Raw`], and [`LabelScale::SqrtSd`] by
        /// [`StrategyKind::Distil`].
        labels: LabelScale => options.target.labels;

        /// The target of the weights. The default is [`Refit::Labels`], and
        /// [`Refit::CrossFitted`] by [`StrategyKind::Distil`].
        refit: Refit => options.target.refit;

        /// Ridge parameters of the teacher. The default is a grid from 1/64 to 4 of the unit.
        teacher_lambda: Lambdas => options.target.teacher_lambda;

        /// Candidates drawn at random in each step, 1 or more. By default all are judged, and
        /// [`StrategyKind::DEFAULT_SAMPLE`] by `sampled`.
        sample: usize => options.sample;

        /// The seed of random draws. The default is 1.
        seed: u64 => options.seed;

        /// Bytes that data, candidates and strategy may take together. No limit by default.
        max_memory: u64 => options.memory;
    }

    /// Selects features of `data` and fits their weights.
    pub fn fit(&self, data: &Dataset<'_>) -> Result<FittedGreedyRankRls, TuneError> {
        let chosen = self.choose(data)?;
        if let (Some(tuned), true) = (&chosen.tuned, self.tune.is_some()) {
            let (selection, warnings) = (tuned.selection(), tuned.warnings());
            let summary = chosen.candidates.summary();
            let fitted = FittedGreedyRankRls::new(selection, data, &summary, chosen.tuned);
            return Ok(FittedGreedyRankRls { warnings, ..fitted });
        }
        on_pool(|| {
            let mut steps = self.begin(data, chosen)?;
            for step in &mut steps {
                step?;
            }
            Ok(steps.finish()?)
        })
    }

    /// The selection of [`fit`](Self::fit) step by step. Lambda, and under [`tuned`](Self::tuned) the
    /// number of features, are chosen before the first step.
    ///
    /// ```
    /// use rankrls::GreedyRankRls;
    /// use rankrls::data::sample;
    ///
    /// for step in GreedyRankRls::new(10).lambda(16.0).steps(&sample::train())? {
    ///     let step = step?;
    ///     println!("feature {}, error {}", step.feature, step.lqo_error);
    ///     if step.lqo_cindex > Some(0.7) {
    ///         break;
    ///     }
    /// }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn steps<'a>(&self, data: &'a Dataset<'_>) -> Result<Steps<'a>, TuneError> {
        let chosen = self.choose(data)?;
        Ok(on_pool(|| self.begin(data, chosen))?)
    }

    /// Checks the parameters and makes all choices.
    fn choose(&self, data: &Dataset<'_>) -> Result<Chosen, TuneError> {
        if let Some(reason) = self.refused.values().next() {
            return Err(SelectError::Parameter(reason.clone()).into());
        }
        let (options, own) = (&self.options, self.own.as_ref());
        let Some(tune) = &self.tune else {
            options.check_effects(&[options.strategy], false, false)?;
            let candidates = options.candidates(data);
            let (lambda, auto) = choose_lambda_with(options, own, &candidates, data, &mut ())?;
            return Ok(Chosen {
                options: SelectionOptions {
                    lambda: lambda.into(),
                    ..options.clone()
                },
                candidates,
                tuned: auto.map(|auto| auto.tuned),
            });
        };
        let (candidates, tuned) = tune.run(options, own, data)?;
        Ok(Chosen {
            options: SelectionOptions {
                k: tuned.choice.k,
                lambda: tuned.lambda().into(),
                ..tuned.chosen().options.clone()
            },
            candidates,
            tuned: Some(tuned),
        })
    }

    /// Before the first step with what was `chosen`.
    fn begin<'a>(&self, data: &'a Dataset<'_>, chosen: Chosen) -> Result<Steps<'a>, SelectError> {
        let Chosen {
            options,
            candidates,
            tuned,
        } = chosen;
        let target = data.into();
        let plan = plan_with(&candidates, target, &options, self.own.as_ref())?;
        let (candidates, nothing) = (Cow::Owned(candidates), Earlier::default());
        let work = Selecting::begin(candidates, target, plan, &options, nothing, &mut ())?;
        Ok(Steps {
            work,
            data,
            tuned,
            error: None,
        })
    }
}

/// The choices for data before a selection.
struct Chosen {
    options: SelectionOptions,
    candidates: Candidates,
    tuned: Option<Tuned>,
}

/// The steps of a selection, each taken when it is asked for; the end of [`GreedyRankRls::steps`].
///
/// ```
/// use rankrls::GreedyRankRls;
/// use rankrls::data::sample;
///
/// let (train, test) = (sample::train(), sample::test());
/// let mut steps = GreedyRankRls::new(10).lambda(16.0).steps(&train)?;
/// while let Some(step) = steps.next().transpose()? {
///     let scores = steps.predict(&test);
///     println!("{} features, first score {}", steps.features().len(), scores[0]);
///     if step.lqo_error < 100.0 {
///         break;
///     }
/// }
/// let model = steps.finish()?;
/// # assert!(!model.features().is_empty());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Steps<'a> {
    work: Selecting<'a>,
    data: &'a Dataset<'a>,
    tuned: Option<Tuned>,
    /// The error that ended the steps.
    error: Option<SelectError>,
}

impl Steps<'_> {
    /// The features so far, 0-based, in order of selection.
    pub fn features(&self) -> &[u32] {
        self.work.features()
    }

    /// A weight for each feature so far, in order of selection.
    pub fn weights(&self) -> Array1<f64> {
        self.state().weights().into()
    }

    /// Scores of the rows of `data` by the features so far, as [`FittedGreedyRankRls::predict`] has
    /// them.
    pub fn predict(&self, data: &Dataset<'_>) -> Array1<f64> {
        let weights = self.state().weights();
        data.scores(self.features(), &weights).into()
    }

    /// The state: residuals and leave-query-out predictions of the examples.
    pub fn state(&self) -> &State {
        self.work.state()
    }

    /// The model of the steps so far.
    pub fn finish(self) -> Result<FittedGreedyRankRls, SelectError> {
        if let Some(error) = self.error {
            return Err(error);
        }
        if self.features().is_empty() {
            return Err(SelectError::NothingAsked);
        }
        let (selection, summary) = (self.work.selection(), self.work.summary());
        Ok(FittedGreedyRankRls::new(
            selection, self.data, &summary, self.tuned,
        ))
    }
}

impl Iterator for Steps<'_> {
    type Item = Result<Step, SelectError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.error.is_some() {
            return None;
        }
        let advanced = on_pool(|| self.work.advance());
        self.error = advanced.as_ref().err().cloned();
        Some(advanced.transpose()?.map(|advance| advance.step))
    }
}

/// A [`GreedyRankRls`] model fitted to a data set.
#[derive(Debug, Clone)]
pub struct FittedGreedyRankRls {
    features: Vec<u32>,
    selection: Selection,
    tuned: Option<Tuned>,
    warnings: Vec<Warning>,
    model: Model,
}

impl FittedGreedyRankRls {
    fn new(
        selection: Selection,
        data: &Dataset<'_>,
        summary: &Summary,
        tuned: Option<Tuned>,
    ) -> Self {
        let edge = tuned.as_ref().and_then(Tuned::edge);
        Self {
            features: selection.features(),
            model: Model::from_selection(&selection, data, summary),
            warnings: edge.into_iter().chain(selection.warnings()).collect(),
            selection,
            tuned,
        }
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

    /// Scores of the rows of `data`, in row order, whatever their labels and queries. Features that
    /// `data` does not have count nothing.
    pub fn predict(&self, data: &Dataset<'_>) -> Array1<f64> {
        self.model.scores(data).into()
    }

    /// The models that lambda, or lambda and the number of features, were chosen among; `None` where
    /// nothing was to be chosen.
    pub fn tuned(&self) -> Option<&Tuned> {
        self.tuned.as_ref()
    }

    /// Warnings about the selection and what was chosen for it.
    pub fn warnings(&self) -> &[Warning] {
        &self.warnings
    }

    /// Everything else that the selection found.
    pub fn selection(&self) -> &Selection {
        &self.selection
    }

    /// Writes the model to a file, compressed if its name ends in `.gz` or `.zst`.
    pub fn write(&self, path: impl AsRef<Path>) -> crate::error::Result<()> {
        self.model.write(path)
    }

    /// The model as a file has it, with the names of the features.
    pub fn model(&self) -> &Model {
        &self.model
    }
}

#[cfg(test)]
mod tests {
    use ndarray::Array2;

    use super::*;
    use crate::data::{Queries, sample};
    use crate::greedy::job::select;
    use crate::greedy::{Ending, Round};
    use crate::lambda::Lambda;
    use crate::tune::{Rule, TuneOptions, Tuning};

    #[test]
    fn a_fitted_selection_is_that_of_select() {
        let data = sample::train();
        let params = GreedyRankRls::new(5).lambda(4.0);
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
        assert_eq!(model.predict(&data).to_vec(), scores);
        let (x, queries) = (dense(&data), Queries::single(data.rows()).unwrap());
        let others = Dataset::from_dense(x.view(), vec![0.0; data.rows()], queries).unwrap();
        assert_eq!(model.predict(&others).to_vec(), scores);
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
    fn the_last_value_of_a_parameter_counts() {
        let params = GreedyRankRls::new(2).lambda(-1.0).lambda(4.0);
        assert!(params.fit(&sample::train()).is_ok());
        let others = params.refit_lambda("none").blend(2.0).blend(0.5);
        let error = others.fit(&sample::train()).unwrap_err().to_string();
        assert!(!error.contains("blend"), "{error}");
    }

    #[test]
    fn parameters_out_of_range_are_refused_with_the_range() {
        let data = sample::train();
        let one = GreedyRankRls::new(1);
        for (params, range) in [
            (GreedyRankRls::new(0), "expected at least one"),
            (one.clone().sample(0), "expected at least one"),
            (one.clone().lambda(0.0), "expected a finite number above 0"),
            (
                one.clone().lambda(f64::NAN),
                "expected a finite number above 0",
            ),
            (
                one.clone().lambda("1/0u"),
                "expected a finite number above 0",
            ),
            (
                one.clone().refit_lambda(-1.0),
                "expected a finite number above 0",
            ),
            (one.clone().blend(1.5), "expected a number from 0 to 1"),
            (one.clone().tuned(Tune::folds(1)), "expected from 2 folds"),
        ] {
            let error = params.fit(&data).unwrap_err().to_string();
            assert!(error.contains(range), "{error}");
            assert_eq!(params.steps(&data).err().unwrap().to_string(), error);
        }
    }

    #[test]
    fn steps_are_those_of_the_fitted_selection() {
        let data = sample::train();
        let params = GreedyRankRls::new(6).lambda("1/16u");
        let whole = params.fit(&data).unwrap();
        let taken: Result<Vec<Step>, _> = params.steps(&data).unwrap().collect();
        assert_eq!(taken.unwrap(), whole.path());
        let mut steps = params.steps(&data).unwrap();
        assert!(matches!(
            params.steps(&data).unwrap().finish(),
            Err(SelectError::NothingAsked)
        ));
        steps.by_ref().take(4).for_each(|step| drop(step.unwrap()));
        let (features, scores) = (steps.features().to_vec(), steps.predict(&data));
        let four = steps.finish().unwrap();
        assert_eq!(four.selection().ending, Ending::Interrupted);
        assert_eq!(
            (four.path(), four.features()),
            (&whole.path()[..4], &features[..])
        );
        assert_eq!(four.predict(&data), scores);
        let short = GreedyRankRls::new(4).lambda("1/16u").fit(&data).unwrap();
        assert_eq!(short.weights(), four.weights());
    }

    #[test]
    fn a_tuned_model_is_that_of_the_tuning() {
        let data = sample::train();
        let params = GreedyRankRls::new(6);
        let tune = Tune::folds(3).rule(Rule::OneSe);
        let model = params.clone().tuned(tune.clone()).fit(&data).unwrap();
        let options = TuneOptions {
            evidence: crate::tune::Evidence::Folds { count: 3, seed: 1 },
            rule: Rule::OneSe,
            ..TuneOptions::new(SelectionOptions::new(6, None), crate::lambda::Lambdas::Auto)
        };
        let tuned = Tuning::new(&data, &options).run(&mut ()).unwrap();
        assert_eq!(model.tuned(), Some(&tuned));
        assert_eq!(model.selection(), &tuned.selection());
        let steps = params.clone().tuned(tune.clone()).steps(&data).unwrap();
        let again: Result<Vec<Step>, _> = steps.collect();
        assert_eq!(again.unwrap(), model.path());
        // One lambda was said: the number of features is chosen alone.
        let fixed = params.lambda(4.0).tuned(tune).fit(&data).unwrap();
        assert_eq!(fixed.tuned().unwrap().outcomes.len(), 1);
        assert_eq!(fixed.selection().lambda.value(), 4.0);
    }

    /// The strategy `lowmem`, as one of the caller's own.
    #[derive(Clone)]
    struct Mine;

    impl Strategy for Mine {
        fn errors(&mut self, round: &Round<'_>, eligible: &[u32]) -> Vec<f64> {
            let mut exact = StrategyKind::LowMem.build(round.candidates, round.state);
            exact.errors(round, eligible)
        }

        fn memory(&self, _: &crate::greedy::Shape) -> u64 {
            1 << 40
        }
    }

    #[test]
    fn a_strategy_of_ones_own_is_fitted_tuned_and_saved() {
        let data = sample::train();
        let params = GreedyRankRls::new(5);
        let exact = params.clone().strategy(StrategyKind::LowMem);
        let own = params.with(Mine);
        let (found, expected) = (own.fit(&data).unwrap(), exact.fit(&data).unwrap());
        assert_eq!(found.selection().strategy, None);
        assert_eq!(found.path(), expected.path());
        assert_eq!(found.weights(), expected.weights());
        let tune = Tune::folds(3);
        let tuned = own.clone().tuned(tune.clone()).fit(&data).unwrap();
        assert_eq!(tuned.path(), exact.tuned(tune).fit(&data).unwrap().path());
        let mut text = Vec::new();
        found.model().write_to(&mut text).unwrap();
        let read = Model::parse(&text, Path::new("model.json")).unwrap();
        assert_eq!(&read, found.model());
        assert_eq!((read.strategy.name(), read.selection(9)), ("own", None));
        let refused = own.max_memory(1 << 40).fit(&data).unwrap_err();
        let error = refused.to_string();
        assert!(
            error.starts_with("the strategy of your own needs"),
            "{error}"
        );
    }
}
