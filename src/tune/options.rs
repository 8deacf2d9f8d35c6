//! What to try, and how to judge it.

use super::{Evidence, Measure, Rule, TuneError};
use crate::checkpoint::{EvidenceSettings, TuningSettings};
use crate::columns::ColumnClasses;
use crate::data::{DataHash, Dataset};
use crate::greedy::{Criterion, StrategyKind};
use crate::metrics::{Convention, Metric};
use crate::{Lambda, QueryWeight, greedy};

/// What to try, and how to judge it.
#[derive(Debug, Clone)]
pub struct Options<'a> {
    lambdas: Vec<Lambda>,
    k: usize,
    /// What all selections have in common; its lambda stands for any.
    selection: greedy::SelectionOptions,
    concurrent: Option<usize>,
    pub(super) evidence: Evidence<'a>,
    pub(super) measure: Measure,
    pub(super) metrics: Vec<Metric>,
    pub(super) convention: Convention,
    pub(super) rule: Rule,
}

impl<'a> Options<'a> {
    /// Paths of up to `k` features with each of `lambdas`, judged by the squared error of their
    /// leave-query-out predictions; the best is chosen. The grid is in ascending order, each
    /// lambda once, in whatever order they are given.
    pub fn new(k: usize, lambdas: &[Lambda]) -> Self {
        Self {
            lambdas: Lambda::grid(lambdas),
            k,
            selection: greedy::SelectionOptions::new(k, Lambda::ONE),
            concurrent: None,
            evidence: Evidence::default(),
            measure: Measure::SquaredError,
            metrics: Vec::new(),
            convention: Convention::default(),
            rule: Rule::default(),
        }
    }

    /// The strategy; the default is the fastest exact one that fits into memory.
    #[must_use]
    pub fn strategy(mut self, strategy: StrategyKind) -> Self {
        self.selection.strategy = Some(strategy);
        self
    }

    /// ColumnClasses judged in each step, drawn at random: see [`greedy::SelectionOptions::sample`].
    #[must_use]
    pub fn sample(mut self, size: usize) -> Self {
        self.selection.sample = Some(size);
        self
    }

    /// Seed of the random subsets: see [`greedy::SelectionOptions::seed`]. The same for every lambda.
    #[must_use]
    pub fn seed(mut self, seed: u64) -> Self {
        self.selection.seed = seed;
        self
    }

    /// What the queries count in selection and training: see [`greedy::SelectionOptions::query_weight`].
    /// In the measure every query counts the same.
    #[must_use]
    pub fn query_weight(mut self, weight: QueryWeight) -> Self {
        self.selection.query_weight = weight;
        self
    }

    /// What each step improves most: see [`greedy::SelectionOptions::criterion`].
    #[must_use]
    pub fn criterion(mut self, criterion: Criterion) -> Self {
        self.selection.criterion = criterion;
        self
    }

    /// Bytes that data, candidates, results and all selections at work may take together. No
    /// limit by default.
    #[must_use]
    pub fn max_memory(mut self, bytes: u64) -> Self {
        self.selection.max_memory = Some(bytes);
        self
    }

    /// Most selections at work at once, at least 1. The default is one a thread; there are
    /// fewer where memory does not allow as many. Results do not depend on it.
    #[must_use]
    pub fn concurrent(mut self, selections: usize) -> Self {
        self.concurrent = Some(selections.max(1));
        self
    }

    /// Where the predictions come from that models are judged by.
    #[must_use]
    pub fn evidence(mut self, evidence: Evidence<'a>) -> Self {
        self.evidence = evidence;
        self
    }

    /// What models are judged by.
    #[must_use]
    pub fn measure(mut self, measure: Measure) -> Self {
        self.measure = measure;
        self
    }

    /// Metrics to take of every model besides, from the same predictions; each once.
    #[must_use]
    pub fn metrics(mut self, metrics: &[Metric]) -> Self {
        self.metrics.clear();
        for metric in metrics {
            if !self.metrics.contains(metric) {
                self.metrics.push(*metric);
            }
        }
        self
    }

    /// Convention of all metrics.
    #[must_use]
    pub fn convention(mut self, convention: Convention) -> Self {
        self.convention = convention;
        self
    }

    /// How the model is chosen.
    #[must_use]
    pub fn rule(mut self, rule: Rule) -> Self {
        self.rule = rule;
        self
    }

    /// Where predictions come from.
    pub fn source(&self) -> Evidence<'a> {
        self.evidence
    }

    /// What models are judged by.
    pub fn judge(&self) -> Measure {
        self.measure
    }

    /// Metrics taken besides.
    pub fn columns(&self) -> &[Metric] {
        &self.metrics
    }

    /// How the model is chosen.
    pub fn chooser(&self) -> Rule {
        self.rule
    }

    /// The grid, ascending.
    pub fn lambdas(&self) -> &[Lambda] {
        &self.lambdas
    }

    /// Most features of a model.
    pub fn features(&self) -> usize {
        self.k
    }

    /// Bytes allowed, if there is a limit.
    pub fn memory_limit(&self) -> Option<u64> {
        self.selection.max_memory
    }

    /// What a single selection with `lambda` and `k` features takes.
    pub fn selection(&self, lambda: Lambda, k: usize) -> greedy::SelectionOptions {
        greedy::SelectionOptions {
            k,
            lambda,
            ..self.selection
        }
    }

    /// What the features of `dataset` offer to choose from.
    pub fn candidates(&self, dataset: &Dataset<'_>) -> ColumnClasses {
        ColumnClasses::weighted(dataset, self.selection.query_weight)
    }

    /// What decides the outcome, the data aside.
    pub(crate) fn settings(&self) -> TuningSettings {
        TuningSettings {
            lambdas: self.lambdas.clone(),
            evidence: match self.evidence {
                Evidence::Lqo => EvidenceSettings::Lqo,
                Evidence::Validation(dataset) => EvidenceSettings::Validation {
                    data: DataHash::of(dataset),
                },
                Evidence::Folds { count, seed } => EvidenceSettings::Folds { count, seed },
            },
            measure: self.measure,
            convention: self.convention,
            rule: self.rule,
            selection: self.selection,
        }
    }

    pub(super) fn most_concurrent(&self) -> usize {
        self.concurrent.unwrap_or_else(rayon::current_num_threads)
    }

    pub(super) fn check(&self) -> Result<(), TuneError> {
        if self.lambdas.is_empty() {
            return Err(TuneError::NoLambdas);
        }
        self.rule.check()
    }
}
