//! The LETOR protocol: the experiment by which Greedy RankRLS is compared with RankRLS.
//!
//! A fold has training, validation and test data. For every ridge parameter of a grid, features
//! are selected on the training data up to the last one, and the model after each step ranks the
//! validation data: the paths of [`tune`](crate::tune::tune()) with validation data as evidence.
//! [`choose`] takes the parameter and the number of features together, by mean average precision;
//! RankRLS on all features is given its parameter in the same way. Only then are both models
//! measured on the test data. All measures follow [`Convention::Letor`], which is that of the
//! published figures; the validation and test data take their width from the training data.
//!
//! ```no_run
//! use rankrls::data::read::ReadOptions;
//! use rankrls::letor;
//!
//! let options = letor::options();
//! for files in letor::find("MQ2008".as_ref())? {
//!     let fold = files.read(&ReadOptions::new())?;
//!     let outcome = letor::run(&fold, &options, &letor::lambdas(), &mut ())?;
//!     println!("{}: {:?}", outcome.fold, outcome.greedy.test[0]);
//! }
//! # Ok::<(), rankrls::tune::TuneError>(())
//! ```

mod files;
#[cfg(test)]
mod tests;

use std::num::NonZeroUsize;

pub use files::{Fold, FoldFiles, PARTS, find};

use crate::columns::{ColumnClasses, Summary};
use crate::data::Dataset;
use crate::greedy::{Selection, SelectionOptions, StrategyKind};
use crate::interrupt::{heed, unless_ended};
use crate::metrics::{Convention, Metric, MetricsError, evaluate};
use crate::ridge::{RidgeProblem, Solver, TrainError, TrainOptions, Weights};
use crate::tune::{
    Choice, Curve, Earlier, Ending, Evidence, Measure, Observer, Outcome, Outcomes, Point, Rule,
    Score, TuneError, TuneOptions, outcomes,
};
use crate::{Lambda, Lambdas, QueryWeight};

const TEN: NonZeroUsize = NonZeroUsize::new(10).unwrap();

/// The measures of models, in the order of [`Measures`].
pub const MEASURES: [Metric; 4] = [
    Metric::AveragePrecision,
    Metric::Precision(TEN),
    Metric::MeanNdcg,
    Metric::Ndcg(TEN),
];

/// The measure that models are chosen by.
const CHOSEN_BY: Measure = Measure::Metric(Metric::AveragePrecision);

/// Values of [`MEASURES`]: means over queries.
pub type Measures = [Option<f64>; 4];

/// The paper's selections: all features by the fastest exact strategy, queries weighted alike.
pub fn options() -> SelectionOptions {
    SelectionOptions::new(usize::MAX, Lambda::ONE)
}

/// The paper's grid: powers of two from `2^-10` to `2^10`.
pub fn lambdas() -> Vec<Lambda> {
    let powers = (-10..=10).map(|exponent| 2_f64.powi(exponent));
    powers.filter_map(|power| Lambda::new(power).ok()).collect()
}

/// The results of the protocol on a fold.
#[derive(Debug, Clone, PartialEq)]
pub struct FoldOutcome {
    /// The name of the fold.
    pub fold: String,
    /// How the columns of the training data fall into classes.
    pub summary: Summary,
    /// The selections on the training data, one a ridge parameter, ascending. Their metrics are
    /// [`MEASURES`] of the validation data.
    pub paths: Vec<Outcome>,
    /// The model of Greedy RankRLS.
    pub greedy: GreedyModel,
    /// The model of RankRLS on all features.
    pub all_features: AllFeatures,
}

/// The chosen selection.
#[derive(Debug, Clone, PartialEq)]
pub struct GreedyModel {
    /// The selection, up to the chosen number of features.
    pub selection: Selection,
    /// Measures on the validation data, by which it was chosen.
    pub validation: Measures,
    /// Measures on the test data.
    pub test: Measures,
}

/// The chosen model of RankRLS on all features.
#[derive(Debug, Clone, PartialEq)]
pub struct AllFeatures {
    /// The ridge parameter.
    pub lambda: Lambda,
    /// The solver of the weights.
    pub solver: Solver,
    /// Features with a weight, which are the features that vary within some query.
    pub features: usize,
    /// Measures on the validation data for each ridge parameter, ascending; `None` where it is
    /// too small.
    pub grid: Vec<Option<Measures>>,
    /// Measures on the validation data, by which it was chosen.
    pub validation: Measures,
    /// Measures on the test data.
    pub test: Measures,
}

/// Runs the protocol on a fold: selections by `options` with each of `lambdas`, of all features if
/// there are fewer than it asks for. Queries have the weights of `options` in both models.
///
/// Ridge parameters are worked on side by side on the threads of the current rayon pool, as many
/// as memory allows. The outcome does not depend on how many.
///
/// # Errors
/// [`TuneError::Fold`] when nothing can be selected, or no model measured;
/// [`TuneError::Interrupted`] when the observer ended it, or an
/// [`Interrupt`](crate::interrupt::Interrupt).
pub fn run(
    fold: &Fold,
    options: &SelectionOptions,
    lambdas: impl Into<Lambdas>,
    observer: &mut dyn Observer,
) -> Result<FoldOutcome, TuneError> {
    let lambdas = lambdas.into();
    let options = TuneOptions {
        evidence: Evidence::Validation(&fold.validation.dataset),
        measure: CHOSEN_BY,
        metrics: MEASURES.to_vec(),
        rules: Convention::Letor.into(),
        ..TuneOptions::new(*options, Lambdas::default())
    };
    let filters = options.selection.strategy == Some(StrategyKind::FsEd);
    let validated = filters.then(|| {
        let validation = fold.validation.dataset.clone();
        fold.train.clone().with_validation(validation)
    });
    let candidates = options.candidates(validated.as_ref().unwrap_or(&fold.train));
    let lambdas = Lambda::grid(&lambdas.lambdas(candidates.unit()));
    let options = TuneOptions {
        lambdas: Lambdas::of(&lambdas),
        ..options
    };
    let protocol = Protocol {
        fold,
        candidates: &candidates,
        options: &options,
        lambdas: &lambdas,
        observer,
    };
    let outcome = unless_ended(|| protocol.run());
    let outcome = outcome.unwrap_or(Err(TuneError::Interrupted));
    outcome.map_err(|error| match error {
        TuneError::Interrupted => error,
        error => TuneError::Fold {
            fold: fold.name.clone(),
            source: Box::new(error),
        },
    })
}

/// The measures of the validation data for a model of [`FoldOutcome::paths`].
pub fn validation(point: &Point) -> Measures {
    std::array::from_fn(|index| point.metrics[index].mean)
}

/// Chooses the model with the largest value, as [`Rule::Best`] does: of equal ones that with the
/// fewest features, then that of the larger lambda.
///
/// `values` are, for each of `lambdas`, those after 1, 2, ... features. `None` if there is no
/// value at all.
pub fn choose(lambdas: &[Lambda], values: &[Vec<Option<f64>>]) -> Option<Choice> {
    let score = |&mean: &Option<f64>| Score {
        mean,
        standard_error: None,
        queries: 0,
    };
    let curve = |(&lambda, values): (&Lambda, &Vec<Option<f64>>)| Curve {
        lambda,
        scores: values.iter().map(score).collect(),
    };
    let curves: Vec<Curve> = lambdas.iter().zip(values).map(curve).collect();
    Rule::Best.choose(CHOSEN_BY, &curves)
}

/// The means of measures over folds; `None` where one of them has none, or there are none.
pub fn mean<'a>(folds: impl IntoIterator<Item = &'a Measures>) -> Measures {
    let folds: Vec<&Measures> = folds.into_iter().collect();
    std::array::from_fn(|index| {
        let values: Option<Vec<f64>> = folds.iter().map(|measures| measures[index]).collect();
        let values = values.filter(|values| !values.is_empty())?;
        Some(values.iter().sum::<f64>() / values.len() as f64)
    })
}

/// Measures `scores` of the rows of `dataset`.
fn measure(dataset: &Dataset<'_>, scores: &[f64]) -> Result<Measures, MetricsError> {
    let (labels, queries) = (dataset.labels(), dataset.queries());
    let evaluation = evaluate(&MEASURES, labels, scores, queries, Convention::Letor)?;
    let mean = |metric| evaluation.get(metric).and_then(|values| values.mean);
    Ok(MEASURES.map(mean))
}

/// The parts that the models of a fold share.
struct Protocol<'a> {
    fold: &'a Fold,
    /// Of the training data, weighted.
    candidates: &'a ColumnClasses,
    options: &'a TuneOptions<'a>,
    lambdas: &'a [Lambda],
    observer: &'a mut dyn Observer,
}

impl Protocol<'_> {
    fn run(self) -> Result<FoldOutcome, TuneError> {
        let (train, held) = (&self.fold.train, self.fold.memory());
        let Outcomes { paths, interrupted } = outcomes(
            self.candidates,
            train,
            held,
            self.options,
            Earlier::default(),
            &mut *self.observer,
        )?;
        if interrupted {
            return Err(TuneError::Interrupted);
        }
        for path in &paths {
            if let Ending::Refused { reason } = &path.ending {
                let (lambda, reason) = (path.lambda, reason.clone());
                return Err(TuneError::Refused { lambda, reason });
            }
        }
        Ok(FoldOutcome {
            fold: self.fold.name.clone(),
            summary: self.candidates.summary(),
            greedy: self.greedy(&paths)?,
            all_features: self.all_features()?,
            paths,
        })
    }

    /// Chooses a model, and measures it.
    fn greedy(&self, paths: &[Outcome]) -> Result<GreedyModel, TuneError> {
        let value = |point: &Point| point.score.mean;
        let values = paths
            .iter()
            .map(|path| path.points.iter().map(value).collect());
        let choice = choose(self.lambdas, &values.collect::<Vec<_>>());
        let Choice { position, k } = choice.ok_or(TuneError::NoRanking)?;
        let path = &paths[position];
        let selection = path.selection(k).ok_or(TuneError::NoRanking)?;
        let features: Vec<u32> = selection.steps.iter().map(|step| step.feature).collect();
        let test = &self.fold.test.dataset;
        Ok(GreedyModel {
            validation: validation(&path.points[k - 1]),
            test: measure(test, &test.scores(&features, &selection.weights))?,
            selection,
        })
    }

    /// The model of RankRLS whose ridge parameter does best on the validation data.
    fn all_features(&self) -> Result<AllFeatures, TuneError> {
        let (train, selection) = (&self.fold.train, &self.options.selection);
        let lambdas = self.lambdas;
        let mut options = TrainOptions::new()
            .query_weight(selection.query_weight)
            .labels(selection.target.labels.unwrap_or_default())
            .lambdas(lambdas.len());
        if let Some(bytes) = selection.max_memory {
            options = options.max_memory(bytes);
        }
        // Training weights the columns itself.
        let weighted = selection.query_weight != QueryWeight::Uniform;
        let unweighted =
            weighted.then(|| ColumnClasses::scaled(train, QueryWeight::Uniform, selection.scale));
        let (candidates, held) = match &unweighted {
            Some(unweighted) => (unweighted, self.fold.memory() + self.candidates.memory()),
            None => (self.candidates, self.fold.memory()),
        };
        let problem = RidgeProblem::among(train, candidates, held, &options)?;
        let mut models = Vec::with_capacity(lambdas.len());
        for &lambda in lambdas {
            heed();
            models.push(self.trained(&problem, lambda)?);
        }
        let grid: Vec<Option<Measures>> =
            models.iter().map(|model| Some(model.as_ref()?.1)).collect();
        let value = |measures: &Option<Measures>| vec![measures.and_then(|measures| measures[0])];
        let values: Vec<_> = grid.iter().map(value).collect();
        let choice = choose(lambdas, &values).ok_or(TuneError::NoRanking)?;
        let model = models.swap_remove(choice.position);
        let (weights, validation) = model.ok_or(TuneError::NoRanking)?;
        let test = &self.fold.test.dataset;
        Ok(AllFeatures {
            lambda: lambdas[choice.position],
            solver: problem.solver(),
            features: weights.features.len(),
            grid,
            validation,
            test: measure(test, &weights.scores(test))?,
        })
    }

    /// Weights for `lambda`, and how they rank the validation data; none where numbers fail.
    fn trained(
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
}
