//! From options and data to a model, in one call.

use crate::data::{DataHash, Dataset};
use crate::error::Result;
use crate::greedy::{Each, GreedyRankRls, Own, select_with, unwatched};
use crate::model::Model;
use crate::tune::{self, Tune, Tuned, Tuning, affordable, choose, unwatched_trials};

impl GreedyRankRls {
    /// Selects features of `data` and fits their weights. Without a lambda, [`choose`] chooses it, and every other
    /// open setting.
    ///
    /// ```
    /// use rankrls::data::sample;
    /// use rankrls::{Lambda, GreedyRankRls, StrategyKind};
    ///
    /// let options = GreedyRankRls {
    ///     strategy: StrategyKind::Bounded,
    ///     ..GreedyRankRls::new(10, Lambda::new(16.0)?)
    /// };
    /// let model = options.fit(&sample::train())?;
    /// assert_eq!(model.features.len(), 10);
    /// assert!(model.features[9].lqo_error < model.features[0].lqo_error);
    /// let test = sample::test();
    /// assert_eq!(model.scores(&test).len(), test.rows());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn fit(&self, data: &Dataset<'_>) -> Result<Model> {
        self.fit_with(data, None, &mut unwatched)
    }

    /// Like [`fit`](Self::fit), by your `own` strategy if there is one. `each` sees every step, and may end the
    /// selection with the steps so far.
    ///
    /// ```
    /// use std::ops::ControlFlow;
    ///
    /// use rankrls::data::sample;
    /// use rankrls::greedy::Step;
    /// use rankrls::greedy::job::Selecting;
    /// use rankrls::greedy::strategy::{Round, Strategy};
    /// use rankrls::{Lambda, GreedyRankRls};
    ///
    /// /// Takes the columns in their order.
    /// struct First;
    ///
    /// impl Strategy for First {
    ///     fn errors(&mut self, _: &Round<'_>, eligible: &[u32]) -> Vec<f64> {
    ///         eligible.iter().map(|&place| f64::from(place)).collect()
    ///     }
    /// }
    ///
    /// let options = GreedyRankRls::new(9, Lambda::new(1.0)?);
    /// let mut errors = Vec::new();
    /// let mut watch = |step: &Step, _: &Selecting<'_>| {
    ///     errors.push(step.lqo_error);
    ///     match errors.len() {
    ///         3 => ControlFlow::Break(()),
    ///         _ => ControlFlow::Continue(()),
    ///     }
    /// };
    /// let model = options.fit_with(&sample::train(), Some(&|| Box::new(First)), &mut watch)?;
    /// assert!(model.features.is_sorted_by_key(|taken| taken.feature));
    /// assert_eq!(model.features.len(), 3);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn fit_with(
        &self,
        data: &Dataset<'_>,
        own: Option<&Own<'_>>,
        each: &mut Each<'_>,
    ) -> Result<Model> {
        self.check_effects(&[self.strategy], false, false)?;
        let (options, mut choice) = choose(self, own, data, &mut unwatched_trials)?;
        let candidates = options.candidates(data)?;
        let options = affordable(options, choice.as_mut(), &candidates, data);
        let selection = select_with(&candidates, data, &options, own, &[], each)?;
        let summary = candidates.summary();
        Ok(Model {
            choice,
            ..Model::from_selection(&selection, data, &summary, DataHash::of(data))
        })
    }
}

impl Tune {
    /// The model that the rule chooses for `data`, and all models that it chose among. They have the setting that
    /// [`chosen`](Self::chosen) finds. Validation data, your own strategy and an observer are for [`Tuning`].
    ///
    /// ```
    /// use rankrls::data::sample;
    /// use rankrls::tune::{Rule, Tune};
    /// use rankrls::{GreedyRankRls, HoldOut, Lambdas};
    ///
    /// let options = Tune {
    ///     holdout: HoldOut::Folds { count: 3, seed: 1 },
    ///     rule: Rule::OneSe,
    ///     ..Tune::new(GreedyRankRls::new(10, None), Lambdas::Auto)
    /// };
    /// let (model, tuned) = options.fit(&sample::train())?;
    /// assert!(model.features.len() <= 10);
    /// assert_eq!(model.lambda, tuned.lambda());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn fit(&self, data: &Dataset<'_>) -> Result<(Model, Tuned)> {
        let all = self.selections();
        let strategies: Vec<_> = all.iter().map(|selection| selection.strategy).collect();
        self.selection.check_effects(&strategies, false, false)?;
        let (options, choice) = self.chosen(None, data, &mut unwatched_trials)?;
        let candidates = options.selection.candidates(data)?;
        let tuning = Tuning {
            candidates: Some(&candidates),
            ..Tuning::new(data, &options)
        };
        let tuned = tuning.run(&mut tune::unwatched_events)?;
        let summary = candidates.summary();
        let model = Model {
            choice,
            ..Model::from_selection(&tuned.selection(), data, &summary, DataHash::of(data))
        };
        Ok((model, tuned))
    }
}

#[cfg(test)]
mod tests {
    use std::ops::ControlFlow;
    use std::path::Path;

    use super::*;
    use crate::columns::QueryWeight;
    use crate::data::{HoldOut, sample};
    use crate::greedy::job::select;
    use crate::greedy::{Ending, Round, Selecting, Selection, Shape, Step, Strategy, StrategyKind};
    use crate::lambda::{Lambda, Lambdas};
    use crate::memory::Memory;
    use crate::tune::Rule;

    fn options(k: usize) -> GreedyRankRls {
        GreedyRankRls::new(k, Lambda::new(4.0).unwrap())
    }

    fn model(selection: &Selection, data: &Dataset<'_>) -> Model {
        let summary = selection.options.candidates(data).unwrap().summary();
        Model::from_selection(selection, data, &summary, DataHash::of(data))
    }

    #[test]
    fn a_fitted_model_is_that_of_select() {
        let data = sample::train();
        let options = GreedyRankRls {
            strategy: StrategyKind::Sampled,
            sample: Some(7),
            seed: Some(3),
            query_weight: QueryWeight::Size,
            ..options(5)
        };
        let selection = select(&data, &options, &mut unwatched).unwrap();
        assert_eq!(options.fit(&data).unwrap(), model(&selection, &data));
    }

    #[test]
    fn options_out_of_range_are_refused_with_the_range() {
        let refused = |options: &GreedyRankRls, range: &str| {
            let error = options.fit(&sample::train()).unwrap_err().to_string();
            assert!(error.contains(range), "{error}");
        };
        refused(&options(0), "expected at least one");
        let mut asked = options(1);
        asked.sample = Some(0);
        refused(&asked, "expected at least one");
        let mut asked = options(1);
        asked.strategy = StrategyKind::Distil;
        for blend in [-0.5, 1.5, f64::NAN] {
            asked.blend = Some(blend);
            refused(&asked, "expected a number from 0 to 1");
        }
        let tune = Tune {
            holdout: HoldOut::Folds { count: 1, seed: 1 },
            ..Tune::new(options(1), Lambdas::Auto)
        };
        let error = tune.fit(&sample::train()).unwrap_err().to_string();
        assert!(error.contains("expected from 2 folds"), "{error}");
    }

    #[test]
    fn an_observer_sees_the_steps_and_ends_them() {
        let data = sample::train();
        let whole = options(6).fit(&data).unwrap();
        let mut taken = Vec::new();
        let mut watch = |step: &Step, work: &Selecting<'_>| {
            taken.push(step.feature);
            assert_eq!(step.feature, whole.columns()[taken.len() - 1]);
            assert_eq!(work.state().weights().len(), taken.len());
            match taken.len() {
                4 => ControlFlow::Break(()),
                _ => ControlFlow::Continue(()),
            }
        };
        let four = options(6).fit_with(&data, None, &mut watch).unwrap();
        assert_eq!(four.columns(), taken);
        assert_eq!(four.features, options(4).fit(&data).unwrap().features);
    }

    #[test]
    fn a_tuned_model_is_that_of_the_tuning() {
        let data = sample::train();
        let options = Tune {
            holdout: HoldOut::Folds { count: 3, seed: 1 },
            rule: Rule::OneSe,
            ..Tune::new(GreedyRankRls::new(6, None), Lambdas::Auto)
        };
        let (fitted, tuned) = options.fit(&data).unwrap();
        assert_eq!(
            tuned,
            Tuning::new(&data, &options)
                .run(&mut tune::unwatched_events)
                .unwrap()
        );
        let selection = tuned.selection();
        assert_eq!(fitted, model(&selection, &data));
        let again = select(&data, &selection.options, &mut unwatched).unwrap();
        assert_eq!(again.steps, selection.steps);
        assert_eq!(again.ending, Ending::Complete);
    }

    /// The strategy `lowmem`, as the caller's own.
    struct Mine;

    impl Strategy for Mine {
        fn errors(&mut self, round: &Round<'_>, eligible: &[u32]) -> Vec<f64> {
            let mut exact = StrategyKind::LowMem.build(round.candidates, round.state);
            exact.errors(round, eligible)
        }

        fn memory(&self, _: &Shape) -> u64 {
            1 << 40
        }
    }

    #[test]
    fn a_strategy_of_ones_own_is_fitted_tuned_and_saved() {
        // All rows would take long.
        let first: Vec<usize> = (0..40).collect();
        let data = sample::train().queries_subset(&first).unwrap();
        let own: &Own<'_> = &|| Box::new(Mine);
        let mut asked = GreedyRankRls::new(5, None);
        let fit = |options: &GreedyRankRls| options.fit_with(&data, Some(own), &mut unwatched);
        let found = fit(&asked).unwrap();
        asked.strategy = StrategyKind::LowMem;
        let expected = asked.fit(&data).unwrap();
        assert_eq!(found.features, expected.features);
        let error = fit(&asked).unwrap_err().to_string();
        assert!(error.contains("has no effect"), "{error}");
        asked.strategy = StrategyKind::Auto;
        let tune = Tune {
            holdout: HoldOut::Folds { count: 3, seed: 1 },
            ..Tune::new(asked.clone(), Lambda::new(4.0).unwrap())
        };
        let tuning = Tuning {
            own: Some(own),
            ..Tuning::new(&data, &tune)
        };
        let tuned = tuning.run(&mut tune::unwatched_events).unwrap().selection();
        let (exact, _) = tune.fit(&data).unwrap();
        assert_eq!(model(&tuned, &data).features, exact.features);
        let mut text = Vec::new();
        found.write_to(&mut text).unwrap();
        let read = Model::parse(&text, Path::new("model.json")).unwrap();
        assert_eq!(read, found);
        assert_eq!(read.strategy.to_string(), "own");
        asked.memory = Memory::limit(1 << 40);
        let error = fit(&asked).unwrap_err().to_string();
        assert!(
            error.starts_with("the strategy of your own needs"),
            "{error}"
        );
    }
}
