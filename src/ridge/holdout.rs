//! Predictions by models that have not seen a group of queries.
//!
//! The residuals `p_T = y_T - X_T w_{-T}` of the rows `T` of a group follow from the whole model:
//!
//! ```text
//! dual      p_T = (G_TT)^-1 a_T          G = (K + lambda I)^-1,  a = G y
//! primal    p_T = (I - H_TT)^-1 r_T      H = X (X'X + lambda I)^-1 X',  r = y - X w
//! ```
//!
//! In the primal a group of more rows than half of the unknowns is instead taken off the system,
//! which is then solved: `w_{-T} = (X'X - X_T'X_T + lambda I)^-1 (X'y - X_T'y_T)`. Conjugate
//! gradients begin where the whole model ended, with the coefficients of the group at 0.

use std::ops::Range;

use faer::linalg::matmul::matmul;
use faer::{Accum, Mat, MatMut, MatRef, Par};
use rayon::prelude::*;

use super::cholesky::Cholesky;
use super::conjugate::{Convergence, Iterative};
use super::solver::BATCH;
use super::square::Square;
use super::system::{System, square_of};
use super::trained::Solution;
use super::{Groups, RankRls, TrainError, Trained};
use crate::greedy::cindex;

/// Hold-out predictions and what they are worth.
#[derive(Debug, Clone, PartialEq)]
pub struct Holdout {
    /// A prediction for every row, query-centred, in units of the labels.
    pub predictions: Vec<f64>,
    /// Sum over queries of the squared centred residuals, each query weighted as in training.
    pub error: f64,
    /// Concordance index of the predictions, averaged over the queries that have a pair of
    /// different labels; `None` when none has.
    pub cindex: Option<f64>,
    /// How conjugate gradients ended, if they were the solver: all iterations, and the largest
    /// residual of all groups.
    pub convergence: Option<Convergence>,
}

/// Rows of some groups, and where each group begins among them.
struct Batch {
    rows: Vec<usize>,
    groups: Vec<Range<usize>>,
}

impl Holdout {
    pub(super) fn new(trained: &Trained<'_>, groups: &Groups) -> Result<Self, TrainError> {
        let problem = trained.problem;
        groups.check(problem.design.queries().len())?;
        let mut convergence = None;
        let parts = match &trained.solution {
            Solution::Dual(system, coefficients) => {
                factored(trained, groups, |batch| dual(system, coefficients, batch))?
            }
            Solution::Primal(system, covariance) => {
                let residuals = trained.residuals();
                factored(trained, groups, |batch| {
                    if 2 * batch.rows.len() > covariance.size() {
                        without(trained, covariance, batch)
                    } else {
                        primal(trained, system, &residuals, batch)
                    }
                })?
            }
            Solution::Iterated(iterative, coefficients, _) => {
                let (parts, worst) = iterated(trained, iterative, coefficients, groups);
                convergence = Some(worst);
                parts
            }
        };
        let mut residuals = vec![0.0; problem.labels.len()];
        for (rows, part) in parts {
            for (row, residual) in rows.into_iter().zip(part) {
                residuals[row] = residual;
            }
        }
        Self::from_residuals(problem, &residuals, convergence)
    }

    fn from_residuals(
        problem: &RankRls<'_>,
        residuals: &[f64],
        convergence: Option<Convergence>,
    ) -> Result<Self, TrainError> {
        let design = &problem.design;
        let unscaled = |values: &[f64]| -> Vec<f64> {
            let rows = values.iter().enumerate();
            rows.map(|(row, value)| value / design.scale(row)).collect()
        };
        let labels = unscaled(&problem.labels);
        let mut predictions = unscaled(residuals);
        for (prediction, label) in predictions.iter_mut().zip(&labels) {
            *prediction = label - *prediction;
        }
        // As they are but for rounding.
        design.centre(&mut predictions);
        let error: f64 = residuals.iter().map(|residual| residual * residual).sum();
        if !error.is_finite() {
            return Err(TrainError::NotFinite);
        }
        let raw = problem.dataset.labels();
        Ok(Self {
            cindex: cindex(predictions.clone(), raw, &labels, design.queries()),
            predictions,
            error,
            convergence,
        })
    }
}

/// Rows and their residuals.
type Part = (Vec<usize>, Vec<f64>);

fn rows_of(problem: &RankRls<'_>, group: &[usize]) -> Vec<usize> {
    let queries = problem.design.queries();
    group
        .iter()
        .flat_map(|&query| queries.range(query))
        .collect()
}

/// Groups of a few rows are gathered, for products of larger matrices.
fn batches(problem: &RankRls<'_>, groups: &Groups) -> Vec<Batch> {
    let mut batches: Vec<Batch> = Vec::new();
    for group in groups.iter() {
        let rows = rows_of(problem, group);
        match batches.last_mut() {
            Some(batch) if batch.rows.len() + rows.len() <= BATCH => {
                let start = batch.rows.len();
                batch.rows.extend(rows);
                batch.groups.push(start..batch.rows.len());
            }
            _ => batches.push(Batch {
                groups: Vec::from([Range {
                    start: 0,
                    end: rows.len(),
                }]),
                rows,
            }),
        }
    }
    batches
}

fn factored(
    trained: &Trained<'_>,
    groups: &Groups,
    residuals: impl Fn(&Batch) -> Option<Vec<f64>> + Sync,
) -> Result<Vec<Part>, TrainError> {
    let batches = batches(trained.problem, groups);
    let parts = batches.into_par_iter().map(|batch| {
        let residuals = residuals(&batch).ok_or_else(|| trained.singular())?;
        Ok((batch.rows, residuals))
    });
    parts.collect()
}

fn dual(system: &System<'_>, coefficients: &[f64], batch: &Batch) -> Option<Vec<f64>> {
    let half = system.half_of_units(&batch.rows, coefficients.len());
    let coefficients = pick(coefficients, &batch.rows);
    solve_groups(batch, &half, coefficients, |square| square)
}

fn primal(
    trained: &Trained<'_>,
    system: &System<'_>,
    residuals: &[f64],
    batch: &Batch,
) -> Option<Vec<f64>> {
    let design = &trained.problem.design;
    let half = system.half(design.examples(&batch.rows, &mut design.means()));
    let residuals = pick(residuals, &batch.rows);
    solve_groups(batch, &half, residuals, |mut square| {
        let values = square.values_mut().iter_mut();
        values.for_each(|value| *value = -*value);
        square.add_to_diagonal(1.0);
        square
    })
}

/// Solves for every group the system that `form` makes of `Z' Z`, `Z` being the group's columns
/// of `half`.
fn solve_groups(
    batch: &Batch,
    half: &Mat<f64>,
    mut right: Vec<f64>,
    form: impl Fn(Square) -> Square,
) -> Option<Vec<f64>> {
    for group in &batch.groups {
        let columns = half.as_ref().subcols(group.start, group.len());
        let square = form(square_of(columns));
        let own = &mut right[group.clone()];
        Cholesky::new(&square, 0.0)?.solve(own);
    }
    Some(right)
}

/// Trains on the system without the rows of each group.
fn without(trained: &Trained<'_>, covariance: &Square, batch: &Batch) -> Option<Vec<f64>> {
    let problem = trained.problem;
    let mut residuals = pick(&problem.labels, &batch.rows);
    for group in &batch.groups {
        let rows = &batch.rows[group.clone()];
        let examples = problem.design.examples(rows, &mut problem.design.means());
        let mut rest = covariance.clone();
        rest.add_products(examples.as_ref(), -1.0);
        let mut weights = problem.moments.clone();
        let residuals = &mut residuals[group.clone()];
        add_product(&mut weights, examples.as_ref(), residuals);
        Cholesky::new(&rest, trained.lambda.value())?.solve(&mut weights);
        add_product(residuals, examples.transpose(), &weights);
    }
    Some(residuals)
}

/// `sum -= matrix * vector`.
fn add_product(sum: &mut [f64], matrix: MatRef<'_, f64>, vector: &[f64]) {
    let size = sum.len();
    let sum = MatMut::from_column_major_slice_mut(sum, size, 1);
    let vector = MatRef::from_column_major_slice(vector, vector.len(), 1);
    matmul(sum, Accum::Add, matrix, vector, -1.0, Par::Seq);
}

/// Trains once for every group, from the coefficients of the whole model on.
fn iterated(
    trained: &Trained<'_>,
    iterative: &Iterative<'_>,
    coefficients: &[f64],
    groups: &Groups,
) -> (Vec<Part>, Convergence) {
    let problem = trained.problem;
    let part = |group: &&[usize]| {
        let mut kept = vec![true; problem.design.queries().len()];
        group.iter().for_each(|&query| kept[query] = false);
        let mut coefficients = coefficients.to_vec();
        let ended = iterative.solve(&problem.labels, Some(&kept), &mut coefficients);
        let predictions = problem.design.kernel(&coefficients);
        let rows = rows_of(problem, group);
        let residual = |&row: &usize| problem.labels[row] - predictions[row];
        let residuals = rows.iter().map(residual).collect();
        ((rows, residuals), ended)
    };
    let groups: Vec<&[usize]> = groups.iter().collect();
    let found: Vec<(Part, Convergence)> = groups.par_iter().map(part).collect();
    let (parts, ended): (Vec<Part>, Vec<Convergence>) = found.into_iter().unzip();
    let worst = Convergence {
        iterations: ended.iter().map(|ended| ended.iterations).sum(),
        residual: ended.iter().map(|ended| ended.residual).fold(0.0, f64::max),
    };
    (parts, worst)
}

fn pick(values: &[f64], rows: &[usize]) -> Vec<f64> {
    rows.iter().map(|&row| values[row]).collect()
}
