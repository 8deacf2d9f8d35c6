//! The selections to try, and the judgement of their models.

use rankrls_files::Parameter;
use serde::{Deserialize, Serialize};

use super::{Outcome, Rule};
use crate::columns::Scale;
use crate::data::{DataHash, Dataset, HoldOut, LabelScale};
use crate::error::{Result, ensure};
use crate::greedy::{GreedyRankRls, StrategyKind};
use crate::lambda::{Lambda, LambdaSearch, Lambdas};
use crate::metrics::{Convention, Measure, Metric, distinct};

/// The selections to make, and the judgement of their models: for the library, and for arguments and reports of
/// commands.
///
/// ```
/// use rankrls::tune::{Rule, Tune};
/// use rankrls::{GreedyRankRls, HoldOut, Lambdas};
///
/// let options = Tune {
///     holdout: HoldOut::Folds { count: 5, seed: 1 },
///     rule: Rule::OneSe,
///     ..Tune::new(GreedyRankRls::new(20, None), Lambdas::Auto)
/// };
/// # assert_eq!(options.grid(1.0).len(), 5);
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tune {
    /// The strategies to choose from, one after the other, each with every ridge parameter; the strategy of
    /// `selection` if empty.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub strategies: Vec<StrategyKind>,
    /// The scales of the training labels to choose from, each with every strategy; the scale of `selection` if
    /// empty. Squared errors on several scales do not compare.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub labels: Vec<LabelScale>,
    /// The scales of columns to choose from, before the grid; see [`chosen`](Self::chosen).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub scales: Vec<Scale>,
    /// The ridge parameters.
    pub lambdas: Lambdas,
    /// The rows whose predictions judge models.
    ///
    /// [`HoldOut::Queries`]: leave-query-out predictions on the training data, which every step of a selection has
    /// anyway. They also chose the features, with all queries in view: they are optimistic about the choice of
    /// features, though not about their weights.
    ///
    /// [`HoldOut::Folds`], from 2 to the number of queries: for each fold, features are selected and weighted
    /// without the queries of the fold, and then predict these. Each fold costs a selection more a lambda, and
    /// shows the effect of selection on unseen queries.
    ///
    /// [`HoldOut::Data`]: predictions for other data with the columns of the training data ([`HoldOut::of`],
    /// [`Tuning::validation`](super::Tuning::validation)).
    pub holdout: HoldOut,
    /// The measure that judges models. Every query counts the same in it, whatever its weight in selection and
    /// training.
    pub measure: Measure,
    /// Other metrics of every model, from the same predictions.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub metrics: Vec<Metric>,
    /// The convention of the measure and of the metrics, unless they name one.
    pub convention: Convention,
    /// The rule that chooses the model.
    pub rule: Rule,
    /// Options of all selections, the most features among them. [`lambdas`](Self::lambdas) replaces its lambda. Its
    /// memory is for data, candidates, results and all selections at work together.
    pub selection: GreedyRankRls,
    /// Most selections at work at once; `None`: one a thread. Less memory allows fewer. Results do not depend on
    /// it.
    #[serde(skip)]
    pub concurrent: Option<usize>,
}

impl Default for Tune {
    fn default() -> Self {
        Self::new(GreedyRankRls::default(), Lambdas::default())
    }
}

/// Candidates a query from which on leave-query-out predictions are too optimistic.
const CROWDED: usize = 10;

/// Hold-outs as evidence of a [`Tune`].
impl HoldOut {
    /// Predictions for the data set `validation`.
    pub fn of(validation: &Dataset<'_>) -> Self {
        Self::Data {
            rows: validation.rows(),
            queries: validation.queries().len(),
            data: DataHash::of(validation),
        }
    }

    /// Five folds, or one a query if there are fewer, drawn by `seed`; `None` for fewer than three queries, as
    /// selection without a fold needs two.
    pub(super) fn few_folds(queries: usize, seed: u64) -> Option<Self> {
        let count = Self::FOLDS.min(queries);
        (queries > 2).then_some(Self::Folds { count, seed })
    }

    /// Folds for more than ten candidates (column classes) a query, else leave-query-out predictions. Among many
    /// candidates some predict a query well by chance, and selection finds them.
    ///
    /// ```
    /// use rankrls::HoldOut;
    ///
    /// assert_eq!(HoldOut::advised(15_550, 108, 1), HoldOut::Folds { count: 5, seed: 1 });
    /// assert_eq!(HoldOut::advised(40, 471, 1), HoldOut::Queries);
    /// ```
    pub fn advised(candidates: usize, queries: usize, seed: u64) -> Self {
        let folds = Self::few_folds(queries, seed).filter(|_| candidates > CROWDED * queries);
        folds.unwrap_or(Self::Queries)
    }
}

impl Tune {
    /// Paths by `selection` with each of `lambdas`, judged by the squared error of their leave-query-out
    /// predictions, of which the best is chosen.
    pub fn new(selection: GreedyRankRls, lambdas: impl Into<Lambdas>) -> Self {
        Self {
            strategies: Vec::new(),
            labels: Vec::new(),
            scales: Vec::new(),
            lambdas: lambdas.into(),
            holdout: HoldOut::Queries,
            measure: Measure::Squared,
            metrics: Vec::new(),
            convention: Convention::Standard,
            rule: Rule::Best,
            selection,
            concurrent: None,
        }
    }

    /// Whether somebody wants columns in units of their own: gave no scale with ridge parameters, or `none`.
    pub fn keeps_units(&self) -> bool {
        match self.selection.scale {
            _ if !self.scales.is_empty() => false,
            Some(scale) => scale.is_none(),
            None => self.lambdas != Lambdas::Auto,
        }
    }

    /// The measure, if it is a metric, and the metrics, each once.
    pub fn measures(&self) -> Vec<Metric> {
        let measure = self.measure.metric().into_iter();
        let all: Vec<Metric> = measure.chain(self.metrics.iter().copied()).collect();
        distinct(&all)
    }

    /// The ridge parameters to try on data with this `unit`, each once, ascending.
    pub fn grid(&self, unit: f64) -> Vec<Lambda> {
        self.search(unit).tried().to_vec()
    }

    pub(super) fn search(&self, unit: f64) -> LambdaSearch {
        LambdaSearch::new(&self.lambdas.lambdas(unit), self.lambdas.is_open())
    }

    /// The model that the rule chooses from all these paths.
    pub(super) fn choose(&self, outcomes: &[Outcome]) -> Option<(usize, usize)> {
        let paths: Vec<_> = outcomes.iter().map(Outcome::scores).collect();
        self.rule.choose(self.measure, &paths)
    }

    /// Whether the predictions that judge models also chose the features, so that new queries will have worse
    /// values.
    pub fn is_optimistic(&self) -> bool {
        self.holdout == HoldOut::Queries
    }

    /// A selection for each strategy with each scale of labels.
    pub fn selections(&self) -> Vec<GreedyRankRls> {
        let asked = &self.selection;
        let mut all = Vec::new();
        let all_labels: Vec<_> = self.labels.iter().copied().map(Some).collect();
        for strategy in axis(&self.strategies, asked.strategy) {
            for label_scale in axis(&all_labels, asked.label_scale) {
                all.push(GreedyRankRls {
                    strategy,
                    label_scale,
                    ..asked.clone()
                });
            }
        }
        all
    }

    /// Refuses options that are out of range or contradict each other, whatever the data.
    pub fn check(&self) -> Result<()> {
        let all = self.selections();
        let differ = |pair: &[GreedyRankRls]| pair[0].label_scale() != pair[1].label_scale();
        ensure!(
            self.measure != Measure::Squared || !all.windows(2).any(differ),
            options,
            "labels are learnt on several scales, and squared errors on them do not compare: judge by a \
             measure such as cindex ({}), or give one scale of labels ({})",
            Parameter::ChooseBy,
            Parameter::LabelScale
        );
        ensure!(
            self.lambdas.count() > 0,
            options,
            "no lambda to choose from: expected at least one"
        );
        ensure!(
            matches!(
                self.holdout,
                HoldOut::Queries
                    | HoldOut::Folds { .. }
                    | HoldOut::Given { .. }
                    | HoldOut::Data { .. }
            ),
            options,
            "models cannot be judged by {}: expected lqo, folds:N or validation data",
            self.holdout
        );
        let biased = all.iter().any(GreedyRankRls::is_biased);
        ensure!(
            !biased || !self.is_optimistic(),
            options,
            "leave-query-out predictions are biased where a teacher has seen all labels, and do not know \
             of refitted weights: judge by folds or by validation data"
        );
        self.rule.check()
    }
}

/// The values of an axis of the grid: `several`, or the only one.
fn axis<T: Copy>(several: &[T], only: T) -> Vec<T> {
    match several {
        [] => vec![only],
        several => several.to_vec(),
    }
}
