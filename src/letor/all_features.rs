//! RankRLS on all features.

use super::greedy::Grid;
use super::{AllFeatures, LetorError, Measures, choose, measure};
use crate::columns::ColumnClasses;
use crate::ridge::{RidgeProblem, TrainError, TrainOptions, Weights};
use crate::{Lambda, QueryWeight};

impl Grid<'_> {
    /// The model whose ridge parameter does best on the validation data.
    pub(super) fn all_features(&self) -> Result<AllFeatures, LetorError> {
        let lambdas = &self.options.lambdas;
        let weight = self.options.weight();
        let mut options = TrainOptions::new()
            .query_weight(weight)
            .lambdas(lambdas.len());
        if let Some(bytes) = self.options.memory_limit() {
            options = options.max_memory(bytes);
        }
        // Training weights the columns itself.
        let train = &self.fold.train;
        let unweighted = (weight != QueryWeight::Uniform).then(|| ColumnClasses::new(train));
        let (candidates, held) = match &unweighted {
            Some(unweighted) => (unweighted, self.held + self.candidates.memory()),
            None => (self.candidates, self.held),
        };
        let problem = RidgeProblem::among(train, candidates, held, &options);
        let problem = problem.map_err(self.untrained())?;
        let models = lambdas.iter().map(|&lambda| {
            self.check()?;
            self.validated(&problem, lambda).map_err(self.untrained())
        });
        let models: Vec<Option<(Weights, Measures)>> = models.collect::<Result<_, _>>()?;
        let grid: Vec<Option<Measures>> = models
            .iter()
            .map(|model| model.as_ref().map(|(_, measures)| *measures))
            .collect();
        let values: Vec<_> = grid
            .iter()
            .map(|measures| vec![measures.and_then(|measures| measures[0])])
            .collect();
        let chosen = choose(lambdas, &values);
        let chosen = chosen.and_then(|choice| {
            let model = models.into_iter().nth(choice.position)??;
            Some((lambdas[choice.position], model))
        });
        let (lambda, (weights, validation)) = chosen.ok_or_else(|| self.nothing())?;
        Ok(AllFeatures {
            lambda,
            solver: problem.solver(),
            features: weights.features.len(),
            grid,
            validation,
            test: self.test(&weights.scores(&self.fold.test.dataset))?,
        })
    }

    /// Weights for `lambda`, and how they rank the validation data; none where numbers fail.
    fn validated(
        &self,
        problem: &RidgeProblem<'_>,
        lambda: Lambda,
    ) -> Result<Option<(Weights, Measures)>, TrainError> {
        let weights = match problem.train(lambda) {
            Ok(trained) => trained.weights(),
            Err(TrainError::Singular { .. } | TrainError::NotFinite) => return Ok(None),
            Err(error) => return Err(error),
        };
        let validation = &self.fold.validation.dataset;
        let measures = measure(validation, &weights.scores(validation)).ok();
        Ok(measures.map(|measures| (weights, measures)))
    }

    fn untrained(&self) -> impl Fn(TrainError) -> LetorError {
        let fold = self.fold.name.clone();
        move |source| LetorError::Train {
            fold: fold.clone(),
            source,
        }
    }
}
