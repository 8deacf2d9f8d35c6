//! Measures of test data after every step of a selection, with the weights of that step.

use crate::data::Dataset;
use crate::error::Error;
use crate::metrics::{
    Convention, Metric, Paired, PairedOptions, Score, distinct, evaluate, paired,
};

/// Measures a test data set after each step of a selection.
#[derive(Debug)]
pub struct TestPath<'a> {
    dataset: &'a Dataset<'a>,
    metrics: Vec<Metric>,
    convention: Convention,
    features: Vec<u32>,
    steps: Vec<Vec<Score>>,
    file_order: Vec<Score>,
    lead_errors: Vec<Vec<Option<f64>>>,
}

impl<'a> TestPath<'a> {
    /// Will measure `dataset`, which has the columns of the training data, by the different `metrics`, and by
    /// `convention` unless they name one.
    pub fn new(dataset: &'a Dataset<'a>, metrics: &[Metric], convention: Convention) -> Self {
        Self {
            dataset,
            metrics: distinct(metrics),
            convention,
            features: Vec::new(),
            steps: Vec::new(),
            file_order: Vec::new(),
            lead_errors: Vec::new(),
        }
    }

    /// The measures, in the order of every step's values.
    pub fn metrics(&self) -> &[Metric] {
        &self.metrics
    }

    /// The convention of measures that name none.
    pub fn convention(&self) -> Convention {
        self.convention
    }

    /// Scores after each step, one a measure, with the values of queries at the last step alone.
    pub fn steps(&self) -> &[Vec<Score>] {
        &self.steps
    }

    /// The values of the order of the file, one a measure; empty before the first step.
    pub fn file_order(&self) -> &[Score] {
        &self.file_order
    }

    /// Standard errors over queries of the lead of each step over [`file_order`](Self::file_order).
    pub fn lead_errors(&self) -> &[Vec<Option<f64>>] {
        &self.lead_errors
    }

    /// Compares the last step with the last step of `other`, query by query: one comparison a measure. Both have
    /// measured the same data by the same measures.
    pub fn less(&self, other: &Self, options: &PairedOptions) -> Result<Vec<Paired>, Error> {
        let [own, other] = [self, other].map(|path| path.steps.last().into_iter().flatten());
        own.zip(other)
            .map(|(own, other)| paired(&own.per_query, &other.per_query, options))
            .collect()
    }

    /// Values of all measures.
    fn measured(&self, scores: &[f64]) -> Result<Vec<Score>, Error> {
        let (labels, queries) = (self.dataset.labels(), self.dataset.queries());
        let found = evaluate(&self.metrics, labels, scores, queries, self.convention)?;
        Ok(found.into_iter().map(|(_, score)| score).collect())
    }

    /// Adds a step: `feature` was selected, and all features so far have these `weights`.
    ///
    /// # Panics
    /// Unless there are as many weights as features.
    pub fn push(&mut self, feature: u32, weights: &[f64]) -> Result<(), Error> {
        if self.features.is_empty() {
            let falling: Vec<f64> = (0..self.dataset.rows()).map(|row| -(row as f64)).collect();
            self.file_order = self.measured(&self.dataset.in_row_order(&falling)?)?;
        }
        self.features.push(feature);
        let found = self.measured(&self.dataset.scores(&self.features, weights))?;
        let leads = found.iter().zip(&self.file_order).map(|(own, order)| {
            let pairs = own.per_query.iter().zip(&order.per_query);
            let leads = pairs
                .map(|(own, order)| Some((*own)? - (*order)?))
                .collect();
            Score::of(leads).standard_error
        });
        self.lead_errors.push(leads.collect());
        // The values of queries are kept of the last step alone.
        for score in self.steps.last_mut().into_iter().flatten() {
            score.per_query = Vec::new();
        }
        self.steps.push(found);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Queries;
    use crate::data::parsed as data;
    use std::ops::ControlFlow;

    use crate::greedy::job::{select, unwatched};
    use crate::greedy::{GreedyRankRls, Selecting, Step};
    use crate::lambda::Lambda;

    #[test]
    fn scores_are_sums_over_known_features() {
        let data = data("1 1:2 3:1\n0 3:4\n0 1:2 3:1\n");
        let found = data.scores(&[2, 7, 0], &[0.5, 9.0, 0.1]);
        assert_eq!(found, [0.5 + 0.2, 2.0, 0.5 + 0.2]);
        assert_eq!(found[0].to_bits(), found[2].to_bits());
    }

    #[test]
    fn every_step_is_measured_with_its_own_weights() {
        let train = data("2 qid:1 1:1 2:1\n1 qid:1 2:1\n0 qid:1 3:1\n1 qid:2 1:1\n0 qid:2 3:2\n");
        let test = data("0 qid:1 1:1\n1 qid:1 3:1\n");
        let metrics = ["cindex".parse().unwrap(), "mrr".parse().unwrap()];
        let mut path = TestPath::new(&test, &metrics, Convention::Standard);
        let options = GreedyRankRls::new(2, Lambda::new(1.0).unwrap());
        let mut each = |step: &Step, work: &Selecting<'_>| {
            path.push(step.feature, &work.state().weights()).unwrap();
            ControlFlow::Continue(())
        };
        let selection = select(&train, &options, &mut each).unwrap();
        assert_eq!(path.steps().len(), selection.steps.len());
        let features: Vec<u32> = selection.steps.iter().map(|step| step.feature).collect();
        let last = test.scores(&features, &selection.weights);
        let last = evaluate(
            &metrics,
            test.labels(),
            &last,
            test.queries(),
            path.convention(),
        );
        let last: Vec<_> = last.unwrap().iter().map(|(_, score)| score.mean).collect();
        let found: Vec<_> = path.steps()[1].iter().map(|score| score.mean).collect();
        assert_eq!(found, last);
        // The order of the file is wrong; one query has no standard error.
        let order: Vec<_> = path.file_order().iter().map(|score| score.mean).collect();
        assert_eq!(order, [Some(0.0), Some(0.5)]);
        assert_eq!(path.lead_errors(), [[None; 2]; 2]);
    }

    #[test]
    fn last_steps_are_compared_query_by_query() {
        let test = data("2 qid:1 1:1\n1 qid:1 2:1\n2 qid:2 2:1\n1 qid:2 1:1\n1 qid:3 1:1\n");
        let path = |steps: &[(u32, &[f64])]| {
            let metrics = ["cindex".parse().unwrap()];
            let mut path = TestPath::new(&test, &metrics, Convention::Standard);
            for (feature, weights) in steps {
                path.push(*feature, weights).unwrap();
            }
            path
        };
        // One feature orders one query and turns another round; without weight it orders none.
        // The third query has no pairs.
        let first = path(&[(0, &[1.0])]);
        let other = path(&[(0, &[1.0]), (5, &[0.0, 1.0])]);
        let options = PairedOptions::default();
        let found = first.less(&other, &options).unwrap();
        let of = |path: &TestPath<'_>| path.steps()[path.steps().len() - 1][0].per_query.clone();
        assert_eq!(of(&first), [Some(1.0), Some(0.0), None]);
        assert_eq!(of(&other), [Some(0.5), Some(0.5), None]);
        assert_eq!(found, [paired(&of(&first), &of(&other), &options).unwrap()]);
        assert_eq!(
            (found[0].difference, found[0].standard_error),
            (Some(0.0), Some(0.5))
        );
        assert_eq!(found[0].queries, 2);
    }

    #[test]
    fn a_path_is_that_of_shorter_selections() {
        let train = data("2 qid:1 1:1 2:1\n1 qid:1 2:1\n0 qid:1 3:1\n1 qid:2 1:1\n0 qid:2 3:2\n");
        let options = |k| GreedyRankRls::new(k, Lambda::new(1.0).unwrap());
        let mut weights = Vec::new();
        let mut each = |_: &Step, work: &Selecting<'_>| {
            weights.push(work.selection().weights);
            ControlFlow::Continue(())
        };
        let whole = select(&train, &options(3), &mut each).unwrap();
        for k in 1..=3 {
            let short = select(&train, &options(k), &mut unwatched).unwrap();
            assert_eq!(short.errors()[k - 1], whole.errors()[k - 1]);
            assert_eq!(short.weights, weights[k - 1]);
        }
    }

    #[test]
    fn scores_that_overflow_are_refused() {
        let queries = Queries::single(2).unwrap();
        let test = [0.0, 1.0].to_vec();
        let test = Dataset::from_csr(&[0, 1, 2], &[0, 0], &[1e308, -1e308], 1, test, queries);
        let test = test.unwrap();
        let mut path = TestPath::new(&test, &["map".parse().unwrap()], Convention::Standard);
        let found = path.push(0, &[1e9]).unwrap_err();
        assert_eq!(
            found.to_string(),
            "the score of row 0 is inf: scores must be finite"
        );
    }
}
