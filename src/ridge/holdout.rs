//! Predictions by models that have not seen some of the examples, and what they are worth.
//!
//! Solvers that factor have them from the whole model (module `without`). Conjugate gradients train
//! again for every group, several side by side, from the whole model if there are many groups, with
//! the coefficients of the group at 0. Under the global objective the ridge parameter depends on how
//! many rows are left: groups of each size have a factorisation of their own.

use std::collections::BTreeSet;

use super::conjugate::{Convergence, TOLERANCE, Task};
use super::options::{Shape, TrainError};
use super::preferences::ordered;
use super::scheme::{Groups, Scheme};
use super::trained::{Engine, RidgeProblem, Solution, Trained};
use crate::data::Queries;
use crate::metrics::{Metric, Rules, evaluate, mean_concordance, tie_predictions};
use crate::{Lambda, Objective};

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
    /// [`TrainError::OtherQueries`] for groups of other data, [`TrainError::OneGroup`] for one of
    /// everything under the global objective, [`TrainError::NothingToCompare`] for groups of a row
    /// of a query each; [`TrainError::Singular`] and [`TrainError::NotFinite`] where numbers fail.
    pub fn holdout(&self, groups: &Groups) -> Result<Holdout, TrainError> {
        let problem = self.problem;
        let queries = problem.design.queries();
        problem.check(groups)?;
        if let Solution::Iterated(coefficients, _) = &self.solution {
            let held_out = problem.solve_without(&[self.lambda], groups, TOLERANCE, |_| {
                Some(&coefficients[..])
            });
            return Ok(held_out?.remove(0));
        }
        let rows: Vec<Vec<usize>> = groups
            .iter()
            .map(|group| groups.rows_of(group, queries))
            .collect();
        let mut residuals = vec![0.0; problem.labels.len()];
        if problem.objective == Objective::Global {
            let sizes: BTreeSet<usize> = rows.iter().map(Vec::len).collect();
            for size in sizes {
                let trained = problem.train_at(self.lambda, problem.ridge(self.lambda, size)?)?;
                let groups = rows.iter().map(Vec::as_slice);
                let groups: Vec<&[usize]> = groups.filter(|rows| rows.len() == size).collect();
                trained.without(&groups, &mut residuals)?;
            }
        } else {
            let groups: Vec<&[usize]> = rows.iter().map(Vec::as_slice).collect();
            self.without(&groups, &mut residuals)?;
        }
        Holdout::from_residuals(problem, groups, residuals, None)
    }
}

impl RidgeProblem<'_> {
    /// The hold-out scheme that is a matter of seconds for so many ridge parameters:
    /// [`Scheme::affordable`].
    pub fn affordable_holdout(&self, lambdas: usize) -> Scheme {
        let candidates = self.design.candidates();
        candidates.map_or(Scheme::Queries, |candidates| {
            Scheme::affordable(self.solver(), &Shape::new(candidates, lambdas))
        })
    }

    /// Refuses groups of other data.
    fn check(&self, groups: &Groups) -> Result<(), TrainError> {
        match self.objective {
            Objective::Pairs => groups.check_count("preferences", self.labels.len()),
            _ => groups.check(self.design.queries()),
        }
    }

    /// A measure of hold-out predictions, over the parts of queries that were held out together;
    /// `None` where none of them has a value.
    pub fn measure(
        &self,
        holdout: &Holdout,
        groups: &Groups,
        metric: Metric,
        rules: Rules,
    ) -> Option<f64> {
        let (order, parts) = parts_of(groups, self.design.queries()).ok()?;
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
        let Engine::Iterative(_) = &self.engine else {
            let held_out = lambdas
                .iter()
                .map(|&lambda| self.train(lambda)?.holdout(groups));
            return held_out.collect();
        };
        self.check(groups)?;
        let starts = if groups.len() < STARTS_FROM {
            Vec::new()
        } else {
            let tasks = lambdas.iter().map(|&lambda| {
                let lambda = self.ridge(lambda, 0)?;
                Ok(Task {
                    lambda,
                    out: &[],
                    start: None,
                })
            });
            let tasks: Vec<Task<'_>> = tasks.collect::<Result<_, TrainError>>()?;
            self.solve(&tasks, tolerance)
        };
        self.solve_without(lambdas, groups, tolerance, |place| {
            starts.get(place).map(|solved| &solved.values[..])
        })
    }

    /// Predictions by conjugate gradients, for each of `lambdas`, from the coefficients that `start`
    /// has for its place.
    fn solve_without<'s>(
        &self,
        lambdas: &[Lambda],
        groups: &Groups,
        tolerance: f64,
        start: impl Fn(usize) -> Option<&'s [f64]>,
    ) -> Result<Vec<Holdout>, TrainError> {
        let queries = self.design.queries();
        let rows: Vec<Vec<usize>> = groups
            .iter()
            .map(|group| groups.rows_of(group, queries))
            .collect();
        let mut order: Vec<usize> = (0..lambdas.len()).collect();
        // The longest first, so that no lane ends long after the others.
        order.sort_by(|&a, &b| lambdas[a].value().total_cmp(&lambdas[b].value()));
        let mut tasks = Vec::with_capacity(order.len() * groups.len());
        for &place in &order {
            for out in &rows {
                tasks.push(Task {
                    lambda: self.ridge(lambdas[place], out.len())?,
                    out,
                    start: start(place),
                });
            }
        }
        let solved = self.solve(&tasks, tolerance);
        let mut held_out = Vec::with_capacity(lambdas.len());
        for (place, solved) in order.into_iter().zip(solved.chunks(groups.len())) {
            let mut residuals = self.labels.clone();
            for (rows, solved) in rows.iter().zip(solved) {
                for (&row, prediction) in rows.iter().zip(&solved.values) {
                    residuals[row] -= prediction;
                }
            }
            let ended = solved.iter().map(|solved| solved.convergence);
            let worst = Convergence {
                iterations: ended.clone().map(|ended| ended.iterations).sum(),
                residual: ended.map(|ended| ended.residual).fold(0.0, f64::max),
            };
            let holdout = Holdout::from_residuals(self, groups, residuals, Some(worst))?;
            held_out.push((place, holdout));
        }
        held_out.sort_by_key(|&(place, _)| place);
        Ok(held_out.into_iter().map(|(_, holdout)| holdout).collect())
    }
}

/// The rows in an order in which those are together that are of one query and held out together, and
/// these parts.
fn parts_of(groups: &Groups, queries: &Queries) -> Result<(Vec<usize>, Queries), TrainError> {
    let mut parts: Vec<Vec<usize>> = Vec::new();
    for group in groups.iter() {
        let rows = groups.rows_of(group, queries);
        let query = |a: &usize, b: &usize| queries.of_row(*a) == queries.of_row(*b);
        parts.extend(rows.chunk_by(query).map(<[usize]>::to_vec));
    }
    parts.sort_unstable_by_key(|part| part[0]);
    let sizes: Vec<usize> = parts.iter().map(Vec::len).collect();
    if sizes.iter().all(|&size| size == 1) && queries.largest() > 1 {
        return Err(TrainError::NothingToCompare);
    }
    let parts_of = Queries::from_sizes(&sizes).map_err(|_| TrainError::NothingToCompare)?;
    Ok((parts.concat(), parts_of))
}

impl Holdout {
    fn from_residuals(
        problem: &RidgeProblem<'_>,
        groups: &Groups,
        mut residuals: Vec<f64>,
        convergence: Option<Convergence>,
    ) -> Result<Self, TrainError> {
        let design = &problem.design;
        let (order, parts) = parts_of(groups, design.queries())?;
        let cuts = parts.len() > design.queries().len();
        let unscaled = |values: &[f64]| -> Vec<f64> {
            let rows = values.iter().enumerate();
            rows.map(|(row, value)| value / design.scale(row)).collect()
        };
        let labels = unscaled(&problem.labels);
        let mut predictions = unscaled(&residuals);
        for (prediction, label) in predictions.iter_mut().zip(&labels) {
            *prediction = label - *prediction;
        }
        if cuts {
            residuals = pick(&residuals, &order);
            centre(&parts, &mut residuals);
        } else {
            // As they are but for rounding.
            design.centre(&mut predictions);
        }
        let error: f64 = residuals.iter().map(|residual| residual * residual).sum();
        if !error.is_finite() {
            return Err(TrainError::NotFinite);
        }
        let cindex = if problem.objective == Objective::Pairs {
            ordered(design, &problem.as_given, &predictions)
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

/// Takes the mean of its query off every value.
fn centre(queries: &Queries, values: &mut [f64]) {
    for part in queries.split_mut(values) {
        let mean = part.iter().sum::<f64>() / part.len() as f64;
        for value in part {
            *value -= mean;
        }
    }
}

pub(super) fn pick(values: &[f64], rows: &[usize]) -> Vec<f64> {
    rows.iter().map(|&row| values[row]).collect()
}
