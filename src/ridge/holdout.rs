//! Predictions by models that have not seen some of the examples, and what they are worth.
//!
//! Solvers that factor have them from the whole model (module `without`). Conjugate gradients train
//! again for every group, several side by side, from the whole model if there are many groups, with
//! the coefficients of the group at 0. Under the global objective the ridge parameter depends on how
//! many rows are left: groups of each size have a factorisation of their own.

use std::collections::BTreeSet;

use super::conjugate::{Convergence, TOLERANCE, Task};
use super::design::Comparisons;
use super::error::TrainError;
use super::scheme::{Groups, Scheme};
use super::trained::{RidgeProblem, Trained};
use crate::columns::QueryWeight;
use crate::data::Queries;
use crate::lambda::Lambda;
use crate::metrics::{Metric, PAIR_TIE, Rules, evaluate, mean_concordance, tie_predictions};
use crate::objective::Objective;

/// Hold-out predictions and what they are worth.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Holdout {
    /// A prediction for every row in units of the labels, relative to the mean of its query, or for
    /// every preference, the difference of its rows; none for leave-pair-out. Those of a query can be compared as far as one model made them.
    pub predictions: Vec<f64>,
    /// The predictions for every pair, by leave-pair-out where they were asked for.
    pub pairs: Vec<LeftPair>,
    /// Sum over queries, or the parts of them that are held out together, of the squared centred
    /// residuals, each query weighted as in training. Of leave-pair-out, the sum over the pairs of a
    /// query of `((y_i - y_j) - (f_i - f_j))^2`, by the number of its examples.
    pub error: f64,
    /// Concordance index of the predictions, averaged over the queries, or parts, that have a pair of
    /// different labels; `None` when none has. The share of the preferences, by weight, that come in
    /// the right order, without those of magnitude 0.
    pub cindex: Option<f64>,
    /// How conjugate gradients ended, if they were the solver: all iterations, and the largest
    /// residual of all groups.
    pub convergence: Option<Convergence>,
}

/// A pair of examples of a query, and what the model without them predicts, relative to the mean of
/// the query.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LeftPair {
    /// The rows, ascending.
    pub rows: [u32; 2],
    /// The prediction for each.
    pub predictions: [f64; 2],
}

/// Groups from which on conjugate gradients begin with the model of all queries: without a few of
/// many queries it is close, without a fold it is not.
const STARTS_FROM: usize = 16;

impl Trained<'_> {
    /// Predictions by models that have not seen the examples that `scheme` holds out.
    ///
    /// # Errors
    /// As [`holdout`](Self::holdout) and [`leave_pair_out`](Self::leave_pair_out).
    pub fn holdout_by(&self, scheme: &Scheme) -> Result<Holdout, TrainError> {
        match scheme.groups(self.problem.design.queries())? {
            Some(groups) => self.holdout(&groups),
            None => self.leave_pair_out(false),
        }
    }

    /// [`holdout`](Self::holdout) of every query on its own.
    ///
    /// # Errors
    /// As [`holdout`](Self::holdout), and [`TrainError::OneQuery`] for data of one query.
    pub fn leave_query_out(&self) -> Result<Holdout, TrainError> {
        self.holdout_by(&Scheme::Queries)
    }

    /// Predictions for every row by models that were trained without its group.
    ///
    /// `dual` and `primal` take them from the factors of the whole system, `cg` trains again for
    /// every group.
    ///
    /// # Errors
    /// [`TrainError::Unexpected`] for groups of other data, [`TrainError::OneGroup`] for one of
    /// everything under the global objective, [`TrainError::NothingToCompare`] for groups of a row
    /// of a query each; [`TrainError::Singular`] and [`TrainError::NotFinite`] where numbers fail.
    pub fn holdout(&self, groups: &Groups) -> Result<Holdout, TrainError> {
        let problem = self.problem;
        let groups = groups.clone().rows(problem.design.queries())?;
        if !self.solver().has_holdout() {
            let start = [&self.coefficients[..]];
            let held_out = problem.solve_without(&[self.lambda], &groups, TOLERANCE, &start);
            return Ok(held_out?.remove(0));
        }
        let rows: Vec<&[usize]> = groups.iter().collect();
        let mut residuals = vec![0.0; problem.labels.len()];
        if problem.objective == Objective::Global {
            let sizes: BTreeSet<usize> = rows.iter().map(|rows| rows.len()).collect();
            for size in sizes {
                let trained = problem.train_without(self.lambda, size)?;
                let groups = rows.iter().copied();
                let groups: Vec<&[usize]> = groups.filter(|rows| rows.len() == size).collect();
                trained.without(&groups, &mut residuals)?;
            }
        } else {
            self.without(&rows, &mut residuals)?;
        }
        Holdout::from_residuals(problem, &groups, residuals, None)
    }
}

impl RidgeProblem<'_> {
    /// A measure of hold-out predictions, over the parts of queries that were held out together;
    /// `None` where none of them has a value.
    pub fn measure(
        &self,
        holdout: &Holdout,
        groups: &Groups,
        metric: Metric,
        rules: Rules,
    ) -> Option<f64> {
        let queries = self.design.queries();
        let groups = groups.clone().rows(queries).ok()?;
        let (order, parts) = parts_of(&groups, queries).ok()?;
        let labels = pick(&self.as_given, &order);
        let scores = pick(&holdout.predictions, &order);
        let found = evaluate(&[metric], &labels, &scores, &parts, rules).ok()?;
        found.get(metric)?.mean
    }

    /// Predictions for every query by models that were trained without its group, for each of
    /// `lambdas`.
    ///
    /// `dual` and `primal` train with each of `lambdas` and ignore `tolerance`. `cg` trains for all
    /// `lambdas` and groups side by side, until the residual is within `tolerance`, as a share of
    /// the labels: [`HOLDOUT_TOLERANCE`](super::HOLDOUT_TOLERANCE) is enough to compare ridge
    /// parameters, [`TOLERANCE`] makes it [`Trained::holdout`].
    ///
    /// ```
    /// use rankrls::data::sample;
    /// use rankrls::ridge::{Groups, HOLDOUT_TOLERANCE, RidgeProblem, Solver, TrainOptions};
    /// use rankrls::Lambda;
    ///
    /// let data = sample::train();
    /// let problem = RidgeProblem::new(&data, &TrainOptions::new().solver(Solver::ConjugateGradients))?;
    /// let lambdas = [Lambda::new(4.0)?, Lambda::new(64.0)?];
    /// let folds = Groups::folds(data.queries().len(), 5, 1)?;
    /// let held_out = problem.holdouts(&lambdas, &folds, HOLDOUT_TOLERANCE)?;
    /// assert_eq!(held_out[1].predictions.len(), data.rows());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// As [`Trained::holdout`].
    pub fn holdouts(
        &self,
        lambdas: &[Lambda],
        groups: &Groups,
        tolerance: f64,
    ) -> Result<Vec<Holdout>, TrainError> {
        if self.solver().has_holdout() {
            let lambdas = lambdas.iter();
            let held_out = lambdas.map(|&lambda| self.train(lambda)?.holdout(groups));
            return held_out.collect();
        }
        let groups = groups.clone().rows(self.design.queries())?;
        let starts = if groups.len() < STARTS_FROM {
            Vec::new()
        } else {
            let tasks = lambdas.iter();
            let tasks = tasks.map(|&lambda| Ok(Task::whole(self.ridge(lambda, 0)?)));
            self.solve(&tasks.collect::<Result<Vec<_>, TrainError>>()?, tolerance)
        };
        let starts: Vec<&[f64]> = starts.iter().map(|solved| &solved.values[..]).collect();
        self.solve_without(lambdas, &groups, tolerance, &starts)
    }

    /// Predictions by conjugate gradients for groups of rows, for each of `lambdas`, from the
    /// coefficients that `starts` has for it, if it has any.
    fn solve_without(
        &self,
        lambdas: &[Lambda],
        groups: &Groups,
        tolerance: f64,
        starts: &[&[f64]],
    ) -> Result<Vec<Holdout>, TrainError> {
        let mut order: Vec<usize> = (0..lambdas.len()).collect();
        // The longest first, so that no lane ends long after the others.
        order.sort_by(|&a, &b| lambdas[a].total_cmp(lambdas[b]));
        let mut tasks = Vec::with_capacity(order.len() * groups.len());
        for &place in &order {
            for out in groups.iter() {
                tasks.push(Task {
                    lambda: self.ridge(lambdas[place], out.len())?,
                    out,
                    start: starts.get(place).copied(),
                });
            }
        }
        let solved = self.solve(&tasks, tolerance);
        let mut held_out = vec![Holdout::default(); lambdas.len()];
        for (place, solved) in order.into_iter().zip(solved.chunks(groups.len())) {
            let mut residuals = self.labels.clone();
            for (rows, solved) in groups.iter().zip(solved) {
                for (&row, prediction) in rows.iter().zip(&solved.values) {
                    residuals[row] -= prediction;
                }
            }
            let ended = solved.iter().map(|solved| solved.convergence);
            let worst = Convergence {
                iterations: ended.clone().map(|ended| ended.iterations).sum(),
                residual: ended.map(|ended| ended.residual).fold(0.0, f64::max),
            };
            held_out[place] = Holdout::from_residuals(self, groups, residuals, Some(worst))?;
        }
        Ok(held_out)
    }
}

/// The rows of `groups` in an order in which those are together that are of one query and held out
/// together, and these parts.
fn parts_of(groups: &Groups, queries: &Queries) -> Result<(Vec<usize>, Queries), TrainError> {
    let same = |a: &usize, b: &usize| queries.of_row(*a) == queries.of_row(*b);
    let mut parts: Vec<&[usize]> = groups.iter().flat_map(|rows| rows.chunk_by(same)).collect();
    parts.sort_unstable_by_key(|part| part[0]);
    let sizes: Vec<usize> = parts.iter().map(|part| part.len()).collect();
    if sizes.iter().all(|&size| size == 1) && queries.largest() > 1 {
        return Err(TrainError::NothingToCompare);
    }
    Ok((parts.concat(), Queries::from_sizes(&sizes)?))
}

impl Holdout {
    fn from_residuals(
        problem: &RidgeProblem<'_>,
        groups: &Groups,
        mut residuals: Vec<f64>,
        convergence: Option<Convergence>,
    ) -> Result<Self, TrainError> {
        let rows = &problem.design.rows;
        let (order, parts) = parts_of(groups, &rows.queries)?;
        let unscaled = |values: &[f64]| -> Vec<f64> {
            let values = values.iter().enumerate();
            values.map(|(row, value)| value / rows.scale(row)).collect()
        };
        let labels = unscaled(&problem.labels);
        let mut predictions = unscaled(&residuals);
        for (prediction, label) in predictions.iter_mut().zip(&labels) {
            *prediction = label - *prediction;
        }
        if parts.len() > rows.queries.len() {
            residuals = pick(&residuals, &order);
            Comparisons::of_queries(&parts, QueryWeight::Uniform).centre(&mut residuals);
        } else {
            // They are centred but for rounding.
            rows.centre(&mut predictions);
        }
        let error: f64 = residuals.iter().map(|residual| residual * residual).sum();
        if !error.is_finite() {
            return Err(TrainError::NotFinite);
        }
        let cindex = if problem.objective == Objective::Pairs {
            ordered(rows, &problem.as_given, &predictions)
        } else {
            let mut tied = pick(&predictions, &order);
            tie_predictions(&mut tied, &labels, &parts);
            mean_concordance(&pick(&problem.as_given, &order), &tied, &parts)
        };
        Ok(Self {
            cindex,
            pairs: Vec::new(),
            predictions,
            error,
            convergence,
        })
    }
}

pub(super) fn pick(values: &[f64], rows: &[usize]) -> Vec<f64> {
    rows.iter().map(|&row| values[row]).collect()
}

/// The share of these `predictions` of preferences, by weight, that come in the right order, without
/// those of magnitude 0; `None` where all are.
fn ordered(rows: &Comparisons, magnitudes: &[f64], predictions: &[f64]) -> Option<f64> {
    let largest = magnitudes
        .iter()
        .fold(0.0_f64, |most, one| most.max(one.abs()));
    let (mut ordered, mut all) = (0.0, 0.0);
    let ends = rows.ends.iter().flatten().enumerate();
    for (row, [preferred, other]) in ends {
        let (magnitude, weight) = (magnitudes[row], rows.scale(row).powi(2));
        if magnitude == 0.0 || preferred == other {
            continue;
        }
        all += weight;
        ordered += weight
            * match predictions[row] * magnitude.signum() {
                near if near.abs() <= PAIR_TIE * largest => 0.5,
                right if right > 0.0 => 1.0,
                _ => 0.0,
            };
    }
    (all > 0.0).then(|| ordered / all)
}
