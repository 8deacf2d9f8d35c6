//! Predictions by models that have not seen some of the examples.
//!
//! The residuals `p_T = y_T - X_T w_{-T}` of the rows `T` of a group of queries follow from the
//! whole model:
//!
//! ```text
//! dual      p_T = (G_TT)^-1 a_T          G = (K + lambda I)^-1,  a = G y
//! primal    p_T = (I - H_TT)^-1 r_T      H = X (X'X + lambda I)^-1 X',  r = y - X w
//! ```
//!
//! In the primal a group of more rows than half of the unknowns is instead taken off the system,
//! which is then solved: `w_{-T} = (X'X - X_T'X_T + lambda I)^-1 (X'y - X_T'y_T)`. Conjugate
//! gradients train again for every group, several side by side, from the whole model if there
//! are many groups, with the coefficients of the group at 0.
//!
//! # A scheme of one's own
//!
//! A hold-out scheme of whole queries is a function from the number of queries to [`Groups`] and a
//! row of the table `SCHEMES` in this file.

use std::fmt;
use std::ops::Range;
use std::str::FromStr;

use faer::linalg::matmul::matmul;
use faer::{Accum, Mat, MatMut, MatRef, Par};
use rayon::prelude::*;

use super::conjugate::{Convergence, Solved, TOLERANCE, Task};
use super::factor::{Cholesky, Square, System, gram};
use super::groups::Groups;
use super::options::{BATCH, Shape, Solver, TrainError};
use super::trained::{Engine, RidgeProblem, Solution, Trained};
use crate::Lambda;
use crate::interrupt::heed;
use crate::metrics::{mean_concordance, tie_predictions};

/// A row of the table of schemes.
#[derive(Debug)]
struct Row {
    name: &'static str,
    /// Whether a number follows the name, after a colon.
    counts: bool,
    /// The groups that are held out of so many queries.
    groups: fn(&HoldoutScheme, usize) -> Result<Groups, TrainError>,
}

/// All schemes.
const SCHEMES: &[Row] = &[
    Row {
        name: "lqo",
        counts: false,
        groups: |_, queries| match queries {
            1 => Err(TrainError::OneQuery),
            _ => Ok(Groups::queries(queries)),
        },
    },
    Row {
        name: "folds",
        counts: true,
        groups: |scheme, queries| Groups::folds(queries, scheme.count, scheme.seed),
    },
];

/// Folds in place of leave-query-out.
const FOLDS: usize = 5;

/// What to hold out, by name: `lqo`, every query on its own, or `folds:5`, groups of queries drawn
/// at random.
///
/// ```
/// use rankrls::ridge::HoldoutScheme;
///
/// let scheme: HoldoutScheme = "folds:5".parse()?;
/// assert_eq!(scheme.seed(7).to_string(), "folds:5");
/// assert!("folds".parse::<HoldoutScheme>().is_err());
/// # Ok::<(), rankrls::TrainError>(())
/// ```
#[derive(Debug, Clone, Copy)]
pub struct HoldoutScheme {
    row: &'static Row,
    /// The number after the colon; 0 where there is none.
    count: usize,
    seed: u64,
}

impl HoldoutScheme {
    /// The seed of random draws, 1 by default.
    #[must_use]
    pub fn seed(self, seed: u64) -> Self {
        Self { seed, ..self }
    }

    /// The groups that are held out of so many queries.
    ///
    /// # Errors
    /// [`TrainError::Folds`] for less than two folds or more than queries,
    /// [`TrainError::OneQuery`] for leave-query-out of one query.
    pub fn groups(&self, queries: usize) -> Result<Groups, TrainError> {
        (self.row.groups)(self, queries)
    }

    /// The seed of random draws, where the scheme makes any.
    pub fn drawn_by(&self) -> Option<u64> {
        self.row.counts.then_some(self.seed)
    }

    /// Leave-query-out where it is a matter of seconds by [`Solver::holdout_cost`], as it is for
    /// solvers that factor; else five folds.
    ///
    /// ```
    /// use rankrls::ridge::{HoldoutScheme, Shape, Solver};
    ///
    /// let shape = Shape {
    ///     rows: 20_000,
    ///     queries: 1_120,
    ///     largest_query: 20,
    ///     largest_group: 20,
    ///     classes: 152_088,
    ///     nonzeros: 3_100_000,
    ///     squares: 1e10,
    ///     lambdas: 3,
    ///     threads: 2,
    /// };
    /// let scheme = HoldoutScheme::affordable(Solver::ConjugateGradients, &shape);
    /// assert_eq!(scheme.to_string(), "folds:5");
    /// assert_eq!(HoldoutScheme::affordable(Solver::Dual, &shape).to_string(), "lqo");
    /// ```
    pub fn affordable(solver: Solver, shape: &Shape) -> Self {
        let few = shape.queries <= FOLDS;
        if few || solver.holdout_cost(shape, shape.queries) <= Solver::PATIENCE {
            return Self::default();
        }
        let folds = SCHEMES.iter().find(|row| row.name == "folds");
        folds.map_or_else(Self::default, |row| Self {
            row,
            count: FOLDS,
            seed: 1,
        })
    }

    /// The names of all schemes, as a list for people.
    pub fn names() -> String {
        let name = |row: &Row| format!("{}{}", row.name, if row.counts { ":N" } else { "" });
        SCHEMES.iter().map(name).collect::<Vec<_>>().join(", ")
    }
}

impl Default for HoldoutScheme {
    /// Leave-query-out.
    fn default() -> Self {
        Self {
            row: &SCHEMES[0],
            count: 0,
            seed: 1,
        }
    }
}

impl fmt::Display for HoldoutScheme {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.row.counts {
            return formatter.pad(&format!("{}:{}", self.row.name, self.count));
        }
        formatter.pad(self.row.name)
    }
}

impl FromStr for HoldoutScheme {
    type Err = TrainError;

    fn from_str(text: &str) -> Result<Self, TrainError> {
        let (name, count) = match text.split_once(':') {
            Some((name, count)) => (name, count.parse().ok()),
            None => (text, Some(0)),
        };
        let fits = |row: &&Row| row.name == name && row.counts == text.contains(':');
        let scheme = |row, count| Self {
            row,
            count,
            ..Self::default()
        };
        let found = SCHEMES.iter().find(fits).zip(count);
        found
            .map(|(row, count)| scheme(row, count))
            .ok_or_else(|| TrainError::UnknownScheme {
                found: text.to_owned(),
                expected: Self::names(),
            })
    }
}

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

/// Groups from which on conjugate gradients begin with the model of all queries: without a few of
/// many queries it is close, without a fold it is not.
const STARTS_FROM: usize = 16;

/// Rows of some groups, and where each group begins among them.
struct Batch {
    rows: Vec<usize>,
    groups: Vec<Range<usize>>,
}

impl Trained<'_> {
    /// Predictions by models that have not seen the examples that `scheme` holds out.
    ///
    /// # Errors
    /// As [`holdout`](Self::holdout).
    pub fn holdout_by(&self, scheme: &HoldoutScheme) -> Result<Holdout, TrainError> {
        let queries = self.problem.design.queries().len();
        self.holdout(&scheme.groups(queries)?)
    }

    /// [`holdout`](Self::holdout) of every query on its own.
    ///
    /// # Errors
    /// As [`holdout`](Self::holdout), and [`TrainError::OneQuery`] for data of one query.
    pub fn leave_query_out(&self) -> Result<Holdout, TrainError> {
        self.holdout_by(&HoldoutScheme::default())
    }

    /// Predictions for every query by models that were trained without its group.
    ///
    /// `dual` and `primal` take them from the factors of the whole system, `cg` trains again for
    /// every group.
    ///
    /// # Errors
    /// [`TrainError::OtherQueries`] for groups of other data; [`TrainError::Singular`] and
    /// [`TrainError::NotFinite`] where numbers fail.
    pub fn holdout(&self, groups: &Groups) -> Result<Holdout, TrainError> {
        let (trained, problem) = (self, self.problem);
        groups.check(problem.design.queries().len())?;
        let parts = match &trained.solution {
            Solution::Dual(system, coefficients) => {
                factored(trained, groups, |batch| dual(system, coefficients, batch))?
            }
            Solution::Primal {
                system,
                covariance,
                moments,
            } => {
                let residuals = trained.residuals();
                factored(trained, groups, |batch| {
                    if 2 * batch.rows.len() > covariance.size() {
                        without(trained, covariance, moments, batch)
                    } else {
                        primal(trained, system, &residuals, batch)
                    }
                })?
            }
            Solution::Iterated(blocks, coefficients, _) => {
                let tasks = groups.iter().map(|out| Task {
                    lambda: trained.lambda.value(),
                    out,
                    start: Some(coefficients),
                });
                let tasks: Vec<Task<'_>> = tasks.collect();
                let solved = problem.solve(blocks, &tasks, TOLERANCE);
                return Holdout::from_solved(problem, groups, &solved);
            }
        };
        let mut residuals = vec![0.0; problem.labels.len()];
        for (rows, part) in parts {
            for (row, residual) in rows.into_iter().zip(part) {
                residuals[row] = residual;
            }
        }
        Holdout::from_residuals(problem, &residuals, None)
    }
}

impl RidgeProblem<'_> {
    /// The hold-out scheme that is a matter of seconds for so many ridge parameters:
    /// [`HoldoutScheme::affordable`].
    pub fn affordable_holdout(&self, lambdas: usize) -> HoldoutScheme {
        let shape = Shape::new(self.design.candidates(), lambdas);
        HoldoutScheme::affordable(self.solver(), &shape)
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
        groups.check(self.design.queries().len())?;
        let Engine::Iterative(blocks) = &self.engine else {
            let held_out = lambdas
                .iter()
                .map(|&lambda| self.train(lambda)?.holdout(groups));
            return held_out.collect();
        };
        let whole = |lambda: &Lambda| Task {
            lambda: lambda.value(),
            out: &[],
            start: None,
        };
        let starts = if groups.len() < STARTS_FROM {
            Vec::new()
        } else {
            let tasks: Vec<Task<'_>> = lambdas.iter().map(whole).collect();
            self.solve(blocks, &tasks, tolerance)
        };
        let mut order: Vec<usize> = (0..lambdas.len()).collect();
        // The longest first, so that no lane ends long after the others.
        order.sort_by(|&a, &b| lambdas[a].value().total_cmp(&lambdas[b].value()));
        let tasks = order.iter().flat_map(|&place| {
            let start = starts.get(place).map(|solved| &solved.values[..]);
            let whole = whole(&lambdas[place]);
            groups.iter().map(move |out| Task {
                out,
                start,
                ..whole
            })
        });
        let tasks: Vec<Task<'_>> = tasks.collect();
        let solved = self.solve(blocks, &tasks, tolerance);
        let mut held_out = Vec::with_capacity(lambdas.len());
        for (place, solved) in order.into_iter().zip(solved.chunks(groups.len())) {
            held_out.push((place, Holdout::from_solved(self, groups, solved)?));
        }
        held_out.sort_by_key(|&(place, _)| place);
        Ok(held_out.into_iter().map(|(_, holdout)| holdout).collect())
    }
}

impl Holdout {
    /// From models that were trained without each of `groups`.
    fn from_solved(
        problem: &RidgeProblem<'_>,
        groups: &Groups,
        solved: &[Solved],
    ) -> Result<Self, TrainError> {
        let mut residuals = problem.labels.clone();
        for (group, solved) in groups.iter().zip(solved) {
            for (row, prediction) in rows_of(problem, group).into_iter().zip(&solved.values) {
                residuals[row] -= prediction;
            }
        }
        let ended = solved.iter().map(|solved| solved.convergence);
        let worst = Convergence {
            iterations: ended.clone().map(|ended| ended.iterations).sum(),
            residual: ended.map(|ended| ended.residual).fold(0.0, f64::max),
        };
        Self::from_residuals(problem, &residuals, Some(worst))
    }

    fn from_residuals(
        problem: &RidgeProblem<'_>,
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
        let mut tied = predictions.clone();
        tie_predictions(&mut tied, &labels, design.queries());
        Ok(Self {
            cindex: mean_concordance(problem.as_given, &tied, design.queries()),
            predictions,
            error,
            convergence,
        })
    }
}

/// Rows and their residuals.
type Part = (Vec<usize>, Vec<f64>);

fn rows_of(problem: &RidgeProblem<'_>, group: &[usize]) -> Vec<usize> {
    let queries = problem.design.queries();
    group
        .iter()
        .flat_map(|&query| queries.range(query))
        .collect()
}

/// Groups of a few rows are gathered, for products of larger matrices.
fn batches(problem: &RidgeProblem<'_>, groups: &Groups) -> Vec<Batch> {
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
        heed();
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
        let square = form(gram(columns));
        let own = &mut right[group.clone()];
        Cholesky::new(&square, 0.0)?.solve(own);
    }
    Some(right)
}

/// Trains on the system without the rows of each group.
fn without(
    trained: &Trained<'_>,
    covariance: &Square,
    moments: &[f64],
    batch: &Batch,
) -> Option<Vec<f64>> {
    let problem = trained.problem;
    let mut residuals = pick(&problem.labels, &batch.rows);
    for group in &batch.groups {
        let rows = &batch.rows[group.clone()];
        let examples = problem.design.examples(rows, &mut problem.design.means());
        let mut rest = covariance.clone();
        rest.add_products(examples.as_ref(), -1.0);
        let mut weights = moments.to_vec();
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

fn pick(values: &[f64], rows: &[usize]) -> Vec<f64> {
    rows.iter().map(|&row| values[row]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn schemes_have_names() {
        assert_eq!(HoldoutScheme::names(), "lqo, folds:N");
        assert_eq!(HoldoutScheme::default().to_string(), "lqo");
        for name in ["lqo", "folds:3"] {
            let scheme: HoldoutScheme = name.parse().unwrap();
            assert_eq!(scheme.to_string(), name);
        }
        for name in ["", "lqo:1", "folds", "folds:", "folds:x", "folds:-1"] {
            let error = name.parse::<HoldoutScheme>().unwrap_err();
            assert!(error.to_string().ends_with("expected one of lqo, folds:N"));
        }
    }
}
