//! Selections over a grid of ridge parameters.

use std::sync::atomic::{AtomicUsize, Ordering};

use rayon::prelude::*;

use super::{
    Choice, Curve, Fold, GreedyModel, LetorError, MEASURES, Observer, Options, choose, measure,
};
use crate::Lambda;
use crate::columns::ColumnClasses;
use crate::greedy::{self, Greedy, SelectError, select_among};
use crate::greedy::{TestPath, scores};
use crate::metrics::Convention;

/// All that the models of a fold share.
pub(super) struct Grid<'a> {
    pub(super) fold: &'a Fold,
    /// Of the training data, weighted.
    pub(super) candidates: &'a ColumnClasses,
    pub(super) options: &'a Options,
    /// Bytes in use besides the candidates.
    pub(super) held: u64,
    pub(super) observer: &'a dyn Observer,
}

impl Grid<'_> {
    /// The selections, one a ridge parameter.
    pub(super) fn curves(&self) -> Result<Vec<Curve>, LetorError> {
        let lambdas = &self.options.lambdas;
        let next = AtomicUsize::new(0);
        let work = |_: usize| {
            let mut done = Vec::new();
            while let Some((place, &lambda)) = at(lambdas, next.fetch_add(1, Ordering::Relaxed)) {
                if self.observer.interrupted() {
                    break;
                }
                let curve = self.curve(lambda);
                if let Ok(curve) = &curve {
                    self.observer.followed(curve);
                }
                done.push((place, curve));
            }
            done
        };
        // Tasks that take one parameter after the other: a thread that waits within a selection
        // may begin another one only by beginning another task, so that no more are at work.
        let workers = (0..self.concurrent()?).into_par_iter().with_max_len(1);
        let mut curves: Vec<_> = workers.flat_map_iter(work).collect();
        self.check()?;
        curves.sort_by_key(|(place, _)| *place);
        let curves = curves.into_iter().map(|(_, curve)| curve);
        curves.collect::<Result<_, _>>().map_err(self.refusal())
    }

    /// Whether to go on.
    pub(super) fn check(&self) -> Result<(), LetorError> {
        if self.observer.interrupted() {
            let fold = self.fold.name.clone();
            return Err(LetorError::Interrupted { fold });
        }
        Ok(())
    }

    /// How many selections fit into memory side by side, at most one a thread.
    fn concurrent(&self) -> Result<usize, LetorError> {
        let lambdas = self.options.lambdas.iter();
        let plans = lambdas.map(|&lambda| {
            let options = self.options.selection(self.k(), lambda);
            greedy::plan(self.candidates, self.held, &options).map(|plan| plan.memory)
        });
        let largest = plans
            .collect::<Result<Vec<u64>, _>>()
            .map_err(self.refusal())?;
        let largest = largest.into_iter().max().unwrap_or(0).max(1);
        let limit = self.options.memory_limit().unwrap_or(u64::MAX);
        let free = limit.saturating_sub(self.held + self.candidates.memory());
        let fit = usize::try_from(free / largest).unwrap_or(usize::MAX);
        Ok(fit.clamp(1, rayon::current_num_threads()))
    }

    fn k(&self) -> usize {
        let all = self.candidates.len().max(1);
        self.options.k.map_or(all, |k| k.min(all))
    }

    fn curve(&self, lambda: Lambda) -> Result<Curve, SelectError> {
        let validation = &self.fold.validation.dataset;
        let mut path = TestPath::new(validation, &MEASURES, Convention::Letor);
        let options = self.options.selection(self.k(), lambda);
        let labels = self.fold.train.labels();
        let plan = greedy::plan(self.candidates, self.held, &options)?;
        let mut greedy = Greedy::new(self.candidates, labels, &plan, &options, &[])?;
        while !self.observer.interrupted() {
            let feature = match greedy.advance() {
                Ok(Some(advance)) => advance.step.feature,
                Ok(None) | Err(SelectError::NotFinite { .. }) => break,
                Err(error) => return Err(error),
            };
            if path.push(feature, &greedy.state().weights()).is_err() {
                break;
            }
        }
        let values = path.steps().iter();
        let values = values.map(|values| std::array::from_fn(|index| values[index]));
        Ok(Curve {
            lambda,
            strategy: plan.strategy,
            features: greedy.features().to_vec(),
            validation: values.collect(),
        })
    }

    /// Chooses a model, takes its steps once more for the weights, and measures it.
    pub(super) fn chosen(&self, curves: &[Curve]) -> Result<GreedyModel, LetorError> {
        let values: Vec<_> = curves.iter().map(|curve| curve.of(0)).collect();
        let Choice { position, k } =
            choose(&self.options.lambdas, &values).ok_or_else(|| self.nothing())?;
        let Curve {
            lambda, strategy, ..
        } = curves[position];
        // Of its own accord the shorter selection might take another one, whose last digits differ.
        let options = greedy::SelectionOptions {
            strategy: Some(strategy),
            ..self.options.selection(k, lambda)
        };
        let labels = self.fold.train.labels();
        let selection = select_among(self.candidates, labels, self.held, &options, &mut ());
        let selection = selection.map_err(self.refusal())?;
        let features: Vec<u32> = selection.steps.iter().map(|step| step.feature).collect();
        let scores = scores(&features, &selection.weights, &self.fold.test.dataset);
        Ok(GreedyModel {
            validation: curves[position].validation[k - 1],
            test: self.test(&scores)?,
            selection,
        })
    }

    /// Measures `scores` of the test data.
    pub(super) fn test(&self, scores: &[f64]) -> Result<super::Measures, LetorError> {
        measure(&self.fold.test.dataset, scores).map_err(|source| LetorError::Evaluate {
            fold: self.fold.name.clone(),
            source,
        })
    }

    pub(super) fn nothing(&self) -> LetorError {
        LetorError::NothingToChoose {
            fold: self.fold.name.clone(),
        }
    }

    fn refusal(&self) -> impl Fn(SelectError) -> LetorError {
        let fold = self.fold.name.clone();
        move |source| LetorError::Select {
            fold: fold.clone(),
            source,
        }
    }
}

fn at<T>(items: &[T], place: usize) -> Option<(usize, &T)> {
    Some((place, items.get(place)?))
}
