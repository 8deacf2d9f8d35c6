//! How lambda and the number of features are to be chosen, as users of the library say it.

use std::sync::Arc;

use rankrls_files::Parameter;

use super::{Evidence, Measure, Rule, TuneError, TuneOptions, Tuned, Tuning};
use crate::candidates::Candidates;
use crate::data::{Dataset, LabelScale};
use crate::greedy::{OwnStrategy, SelectError, SelectionOptions, StrategyKind};
use crate::lambda::{Lambdas, Ridge};
use crate::metrics::Rules;
use crate::setters::setters;

/// How [`GreedyRankRls::tuned`](crate::GreedyRankRls::tuned) chooses lambda and the number of features:
/// by some evidence, a measure of it, and a rule. `docs/choosing.md` compares them.
#[derive(Debug, Clone)]
pub struct Tune {
    evidence: Asked,
    lambdas: Option<Lambdas>,
    strategies: Vec<StrategyKind>,
    labels: Vec<LabelScale>,
    measure: Measure,
    rules: Rules,
    rule: Rule,
}

/// The evidence that is asked for.
#[derive(Debug, Clone)]
enum Asked {
    Advised,
    Lqo,
    Folds(usize),
    Validation(Arc<Dataset<'static>>),
}

impl Tune {
    fn by(evidence: Asked) -> Self {
        Self {
            evidence,
            lambdas: None,
            strategies: Vec::new(),
            labels: Vec::new(),
            measure: Measure::SquaredError,
            rules: Rules::default(),
            rule: Rule::default(),
        }
    }

    /// Judges by the predictions that [`Evidence::advised`] takes for the data, or by folds where
    /// leave-query-out predictions are biased.
    pub fn advised() -> Self {
        Self::by(Asked::Advised)
    }

    /// Judges by leave-query-out predictions ([`Evidence::Lqo`]).
    pub fn lqo() -> Self {
        Self::by(Asked::Lqo)
    }

    /// Judges by cross-validation over queries ([`Evidence::Folds`]): `count` folds, from 2 to the number of
    /// queries, drawn by the seed of the selection.
    pub fn folds(count: usize) -> Self {
        Self::by(Asked::Folds(count))
    }

    /// Judges by predictions for other `data` with the same columns ([`Evidence::Validation`]).
    pub fn validation(data: impl Into<Arc<Dataset<'static>>>) -> Self {
        Self::by(Asked::Validation(data.into()))
    }

    setters! {
        /// The ridge parameters to try. The default is that of the selection, and [`Lambdas::Auto`]
        /// where it has none.
        lambdas: impl Into<Option<Lambdas>> => lambdas;

        /// Strategies to choose from, each with every ridge parameter. By default that of the selection.
        strategies: impl Into<Vec<StrategyKind>> => strategies;

        /// Scales of the labels to choose from, each with every strategy. By default that of the
        /// selection. Squared errors on several scales do not compare.
        labels: impl Into<Vec<LabelScale>> => labels;

        /// The measure that models are judged by, in which every query counts the same. The default is
        /// the squared error.
        measure: Measure => measure;

        /// The rules of the measure. The default is those of [`Convention::Standard`](crate::Convention).
        rules: impl Into<Rules> => rules;

        /// Which model is taken. The default is [`Rule::Best`].
        rule: Rule => rule;
    }

    /// The candidates of `dataset`, and the models of all paths by `selection`.
    pub(crate) fn run(
        &self,
        selection: &SelectionOptions,
        own: Option<&OwnStrategy>,
        dataset: &Dataset<'_>,
    ) -> Result<(Candidates, Tuned), TuneError> {
        let mut options = self.options(selection);
        if own.is_some() && !self.strategies.is_empty() {
            let parameter = Parameter::Strategy;
            return Err(SelectError::NoEffect { parameter }.into());
        }
        let all = options.selections();
        let strategies: Vec<_> = all.iter().map(|selection| selection.strategy).collect();
        selection.check_effects(&strategies, false, false)?;
        let candidates = options.selection.candidates(dataset);
        let (queries, seed) = (dataset.queries().len(), selection.seed());
        options.evidence = match &self.evidence {
            Asked::Lqo => Evidence::Lqo,
            Asked::Folds(count) => Evidence::Folds {
                count: *count,
                seed,
            },
            Asked::Validation(data) => Evidence::of(data),
            Asked::Advised if all.iter().any(SelectionOptions::is_biased) => {
                Evidence::folds(queries, seed).unwrap_or_default()
            }
            Asked::Advised => Evidence::advised(candidates.summary().column_classes, queries, seed),
        };
        let tuning = Tuning {
            candidates: Some(&candidates),
            own,
            ..Tuning::new(dataset, &options)
        };
        let tuned = match &self.evidence {
            Asked::Validation(data) => tuning.validated(data).run(&mut ()),
            _ => tuning.run(&mut ()),
        }?;
        Ok((candidates, tuned))
    }

    /// The options to try, with the evidence still to be said.
    fn options(&self, selection: &SelectionOptions) -> TuneOptions {
        let given = |ridge: Ridge| Lambdas::Given(vec![ridge]);
        let lambdas = self.lambdas.clone().or(selection.lambda.map(given));
        TuneOptions {
            strategies: self.strategies.clone(),
            labels: self.labels.clone(),
            measure: self.measure,
            rules: self.rules,
            rule: self.rule,
            ..TuneOptions::new(selection.clone(), lambdas.unwrap_or_default())
        }
    }
}
