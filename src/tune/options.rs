//! What to try, and how to judge it.

use super::{Measure, Rule, TuneError};
use crate::Lambda;
use crate::columns::ColumnClasses;
use crate::data::Dataset;
use crate::greedy::SelectionOptions;
use crate::metrics::{Metric, Rules, distinct};

/// What to try, and how to judge it.
///
/// ```
/// use rankrls::tune::{Evidence, Rule, TuneOptions};
/// use rankrls::{Lambda, SelectionOptions};
///
/// let options = TuneOptions {
///     evidence: Evidence::Folds { count: 5, seed: 1 },
///     rule: Rule::OneSe,
///     ..TuneOptions::new(SelectionOptions::new(20, Lambda::ONE), &[Lambda::ONE])
/// };
/// # assert_eq!(options.grid().len(), 1);
/// ```
#[derive(Debug, Clone)]
pub struct TuneOptions<'a> {
    /// What all selections have in common, the most features among it. Its lambda stands for any;
    /// its memory is that of data, candidates, results and all selections at work together.
    pub selection: SelectionOptions,
    /// The ridge parameters, as [`Lambda::grid`] has them.
    pub lambdas: Vec<Lambda>,
    /// Where the predictions come from that models are judged by.
    pub evidence: Evidence<'a>,
    /// What models are judged by. In it every query counts the same, whatever its weight in
    /// selection and training.
    pub measure: Measure,
    /// Metrics to take of every model besides, from the same predictions.
    pub metrics: Vec<Metric>,
    /// Rules of the measure and of all metrics.
    pub rules: Rules,
    /// How the model is chosen.
    pub rule: Rule,
    /// Most selections at work at once; one a thread where it is `None`. There are fewer where
    /// memory does not allow as many. Results do not depend on it.
    pub concurrent: Option<usize>,
}

/// Where the predictions come from that models are judged by.
#[derive(Debug, Clone, Copy, Default)]
pub enum Evidence<'a> {
    /// Leave-query-out predictions on the training data, which every step of a selection has
    /// anyway. The features were chosen by them, too, with all queries in view: they are
    /// optimistic about the choice of features, though not about their weights.
    #[default]
    Lqo,
    /// Predictions for other data with the columns of the training data.
    Validation(&'a Dataset<'a>),
    /// Cross-validation over queries: for each fold, features are selected and weighted without
    /// the queries of the fold, whose predictions are then taken. Costs as many more selections a
    /// lambda, and sees what selection does to queries that had no part in it.
    Folds {
        /// Folds, from 2 to the number of queries.
        count: usize,
        /// Seed of the partition.
        seed: u64,
    },
}

impl TuneOptions<'_> {
    /// Paths by `selection` with each of `lambdas`, judged by the squared error of their
    /// leave-query-out predictions; the best is chosen. The grid is in ascending order, each
    /// lambda once, in whatever order they are given.
    pub fn new(selection: SelectionOptions, lambdas: &[Lambda]) -> Self {
        Self {
            selection,
            lambdas: Lambda::grid(lambdas),
            evidence: Evidence::default(),
            measure: Measure::SquaredError,
            metrics: Vec::new(),
            rules: Rules::default(),
            rule: Rule::default(),
            concurrent: None,
        }
    }

    /// The measure, if it is a metric, and the metrics, each once.
    pub fn measures(&self) -> Vec<Metric> {
        let measure = match self.measure {
            Measure::SquaredError => None,
            Measure::Metric(metric) => Some(metric),
        };
        let all: Vec<Metric> = measure
            .into_iter()
            .chain(self.metrics.iter().copied())
            .collect();
        distinct(&all)
    }

    /// The selections to make, in the order of their outcomes.
    pub fn grid(&self) -> Vec<SelectionOptions> {
        let selection = self.selection;
        let lambdas = self.lambdas.iter();
        lambdas
            .map(|&lambda| SelectionOptions {
                lambda,
                ..selection
            })
            .collect()
    }

    /// What the features of `dataset` offer to choose from.
    pub fn candidates(&self, dataset: &Dataset<'_>) -> ColumnClasses {
        self.selection.candidates(dataset)
    }

    pub(super) fn check(&self) -> Result<(), TuneError> {
        if self.lambdas.is_empty() {
            return Err(TuneError::NoLambdas);
        }
        if self.selection.flatters() && matches!(self.evidence, Evidence::Lqo) {
            return Err(TuneError::FlatteringEvidence);
        }
        self.rule.check()
    }
}
