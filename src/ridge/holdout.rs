//! Predictions by models that have not seen some of the examples.
//!
//! The residuals `p_T = y_T - X_T w_{-T}` of the rows `T` follow from the whole model
//! (`docs/rankrls.md`):
//!
//! ```text
//! dual      (G_TT - Q / lambda) u = a_T      G = (K + lambda I)^-1,  a = G y
//! primal    (I - H_TT - Q) u = r_T           H = X (X'X + lambda I)^-1 X',  r = y - X w
//!           p_T = (I - Q) u
//! ```
//!
//! `Q` is 0 but for a query that `T` cuts: there it averages over its `n` rows, `1 1' / n`, as what
//! is left of the query is centred anew. `X` stays centred by the whole query, so that predictions
//! are relative to its mean.
//!
//! In the primal a group of more rows than half of the unknowns is instead taken off the system,
//! which is then solved. Conjugate gradients train again for every group, several side by side,
//! from the whole model if there are many groups, with the coefficients of the group at 0. Under the
//! global objective the ridge parameter depends on how many rows are left: groups of each size have
//! a factorisation of their own.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::fmt;
use std::ops::Range;
use std::str::FromStr;

use faer::linalg::matmul::matmul;
use faer::{Accum, Mat, MatMut, MatRef, Par};
use rayon::prelude::*;

use super::conjugate::{Convergence, TOLERANCE, Task};
use super::factor::{Cholesky, Square, gram};
use super::groups::Groups;
use super::options::{BATCH, Shape, Solver, TrainError};
use super::preferences::ordered;
use super::trained::{Engine, RidgeProblem, Solution, Trained};
use crate::data::Queries;
use crate::interrupt::heed;
use crate::metrics::{Metric, Rules, evaluate, mean_concordance, tie_predictions};
use crate::{Lambda, Objective};

/// Folds in place of leave-query-out.
const FOLDS: usize = 5;

/// What to hold out, by name: `lqo`, every query on its own; `lpo`, every pair of examples of a
/// query; `folds:5`, groups of queries drawn at random, or of rows where all are of one query.
///
/// ```
/// use rankrls::ridge::HoldOut;
///
/// let scheme: HoldOut = "folds:5".parse()?;
/// assert_eq!(scheme.seed(7).to_string(), "folds:5");
/// assert!("folds".parse::<HoldOut>().is_err());
/// # Ok::<(), rankrls::TrainError>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq)]
pub enum HoldOut {
    /// Every query on its own.
    #[default]
    Queries,
    /// Every pair of examples of a query, with all other pairs that they are in.
    Pairs,
    /// Groups drawn at random.
    Folds {
        /// How many.
        count: usize,
        /// The seed of the draw.
        seed: u64,
    },
    /// Groups of one's own.
    Given {
        /// What people call them.
        name: String,
        /// The groups.
        groups: Groups,
    },
}

impl HoldOut {
    /// The names of all that can be named, as a list for people.
    pub const NAMES: &str = "lqo, lpo, folds:N";

    /// The seed of random draws, 1 by default.
    #[must_use]
    pub fn seed(self, seed: u64) -> Self {
        match self {
            Self::Folds { count, .. } => Self::Folds { count, seed },
            other => other,
        }
    }

    /// The groups that are held out of these queries; `None` for pairs, which are no partition.
    ///
    /// # Errors
    /// [`TrainError::Folds`] for less than two folds or more than queries, or rows of the only one,
    /// [`TrainError::OneQuery`] for leave-query-out of one query.
    pub fn groups(&self, queries: &Queries) -> Result<Option<Groups>, TrainError> {
        match self {
            Self::Queries if queries.len() == 1 => Err(TrainError::OneQuery),
            Self::Queries => Ok(Some(Groups::queries(queries.len()))),
            Self::Pairs => Ok(None),
            Self::Folds { count, seed } if queries.len() == 1 => {
                // As many queries of one row as there are rows.
                let ones = Queries::from_sizes(&vec![1; queries.rows()]);
                let ones = ones.map_err(|_| TrainError::OneGroup)?;
                let groups = Groups::folds_of("rows", ones.len(), *count, *seed)?;
                Ok(Some(groups.rows(&ones)))
            }
            Self::Folds { count, seed } => Groups::folds(queries.len(), *count, *seed).map(Some),
            Self::Given { groups, .. } => Ok(Some(groups.clone())),
        }
    }

    /// The seed of random draws, where the scheme makes any.
    pub fn drawn_by(&self) -> Option<u64> {
        match self {
            Self::Folds { seed, .. } => Some(*seed),
            _ => None,
        }
    }

    /// Leave-query-out where it is a matter of seconds by [`Solver::holdout_cost`], as it is for
    /// solvers that factor; else five folds.
    ///
    /// ```
    /// use rankrls::ridge::{HoldOut, Shape, Solver};
    ///
    /// let shape = Shape {
    ///     rows: 20_000,
    ///     queries: 1_120,
    ///     largest_query: 20,
    ///     largest_group: 20,
    ///     pairs: false,
    ///     classes: 152_088,
    ///     nonzeros: 3_100_000,
    ///     squares: 1e10,
    ///     lambdas: 3,
    ///     threads: 2,
    /// };
    /// let scheme = HoldOut::affordable(Solver::ConjugateGradients, &shape);
    /// assert_eq!(scheme.to_string(), "folds:5");
    /// assert_eq!(HoldOut::affordable(Solver::Dual, &shape).to_string(), "lqo");
    /// ```
    pub fn affordable(solver: Solver, shape: &Shape) -> Self {
        let few = shape.queries <= FOLDS;
        if few || solver.holdout_cost(shape, shape.queries) <= Solver::PATIENCE {
            return Self::Queries;
        }
        Self::Folds {
            count: FOLDS,
            seed: 1,
        }
    }
}

impl fmt::Display for HoldOut {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Queries => formatter.pad("lqo"),
            Self::Pairs => formatter.pad("lpo"),
            Self::Folds { count, .. } => formatter.pad(&format!("folds:{count}")),
            Self::Given { name, .. } => formatter.pad(name),
        }
    }
}

impl FromStr for HoldOut {
    type Err = TrainError;

    fn from_str(text: &str) -> Result<Self, TrainError> {
        let count = text
            .strip_prefix("folds:")
            .and_then(|count| count.parse().ok());
        match (text, count) {
            ("lqo", _) => Ok(Self::Queries),
            ("lpo", _) => Ok(Self::Pairs),
            (_, Some(count)) => Ok(Self::Folds { count, seed: 1 }),
            _ => Err(TrainError::UnknownScheme {
                found: text.to_owned(),
                expected: Self::NAMES.to_owned(),
            }),
        }
    }
}

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

/// Rows of some groups, and where each group begins among them.
pub(super) struct Batch {
    pub(super) rows: Vec<usize>,
    pub(super) groups: Vec<Range<usize>>,
}

impl Trained<'_> {
    /// Predictions by models that have not seen the examples that `scheme` holds out.
    ///
    /// # Errors
    /// As [`holdout`](Self::holdout) and [`leave_pair_out`](Self::leave_pair_out).
    pub fn holdout_by(&self, scheme: &HoldOut) -> Result<Holdout, TrainError> {
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
        self.holdout_by(&HoldOut::Queries)
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
        let mut hold_out = |trained: &Self, groups: &[&[usize]]| -> Result<(), TrainError> {
            for (rows, part) in trained.residuals_without(groups)? {
                for (row, residual) in rows.into_iter().zip(part) {
                    residuals[row] = residual;
                }
            }
            Ok(())
        };
        if problem.objective == Objective::Global {
            let sizes: BTreeSet<usize> = rows.iter().map(Vec::len).collect();
            for size in sizes {
                let trained = problem.train_at(self.lambda, problem.ridge(self.lambda, size)?)?;
                let groups = rows.iter().map(Vec::as_slice);
                let groups: Vec<&[usize]> = groups.filter(|rows| rows.len() == size).collect();
                hold_out(&trained, &groups)?;
            }
        } else {
            let groups: Vec<&[usize]> = rows.iter().map(Vec::as_slice).collect();
            hold_out(self, &groups)?;
        }
        Holdout::from_residuals(problem, groups, residuals, None)
    }

    /// Residuals of the rows of each group, by a model without them.
    fn residuals_without(&self, groups: &[&[usize]]) -> Result<Vec<Part>, TrainError> {
        let factored = self.factored();
        let unknowns = match &self.solution {
            Solution::Primal { covariance, .. } => covariance.size(),
            _ => usize::MAX,
        };
        // Each group is asked, whatever stands beside it.
        let (large, small): (Vec<&[usize]>, Vec<&[usize]>) =
            groups.iter().partition(|rows| rows.len() > unknowns / 2);
        let alone = large
            .iter()
            .flat_map(|rows| batches(std::slice::from_ref(rows)));
        let all: Vec<Batch> = alone.chain(batches(&small)).collect();
        let parts = all.into_par_iter().map(|batch| {
            heed();
            let residuals = match &self.solution {
                Solution::Primal {
                    covariance,
                    moments,
                    ..
                } if batch.groups[0].len() > unknowns / 2 => {
                    without(self, covariance, moments, &batch)
                }
                _ => factored.solve_groups(&batch),
            };
            let residuals = residuals.ok_or_else(|| self.singular())?;
            Ok((batch.rows, residuals))
        });
        parts.collect()
    }

    /// The factors, for hold-outs.
    ///
    /// # Panics
    /// When conjugate gradients were the solver.
    pub(super) fn factored(&self) -> Factored<'_> {
        let (problem, shift) = (self.problem, self.problem.mean_diagonal);
        match &self.solution {
            Solution::Dual(system, coefficients) => Factored {
                problem,
                system,
                right: Cow::Borrowed(coefficients),
                // The shift is in the factors, too.
                average: 1.0 / (self.ridge + shift),
                primal: false,
            },
            Solution::Primal { system, .. } => Factored {
                problem,
                system,
                right: Cow::Owned(self.residuals()),
                average: 1.0,
                primal: true,
            },
            Solution::Iterated(..) => unreachable!("nothing was factored"),
        }
    }
}

/// A factored model, whose system for held-out rows `T` is
/// `(B_TT - average Q) u = right_T`, with `B = G` or `B = I - H`.
pub(super) struct Factored<'a> {
    problem: &'a RidgeProblem<'a>,
    system: &'a Cholesky,
    pub(super) right: Cow<'a, [f64]>,
    pub(super) average: f64,
    primal: bool,
}

impl Factored<'_> {
    /// Rows of [`half`](Self::half): unknowns of the system.
    pub(super) fn height(&self) -> usize {
        self.system.size()
    }

    /// `Z` with `Z' Z = G`, or `H`, on these rows.
    pub(super) fn half(&self, rows: &[usize]) -> Mat<f64> {
        let design = &self.problem.design;
        if self.primal {
            let examples = design.examples(rows, &mut design.means());
            self.system.half(examples, 0)
        } else {
            self.system.half_of_units(rows)
        }
    }

    /// `B` of `Z' Z`.
    pub(super) fn block(&self, mut square: Square) -> Square {
        if self.primal {
            let values = square.values_mut().iter_mut();
            values.for_each(|value| *value = -*value);
            square.add_to_diagonal(1.0);
        }
        square
    }

    /// Residuals of the rows of every group of `batch`; `None` where rounding makes a system
    /// indefinite.
    fn solve_groups(&self, batch: &Batch) -> Option<Vec<f64>> {
        let half = self.half(&batch.rows);
        let mut right = pick(&self.right, &batch.rows);
        for group in &batch.groups {
            let columns = half.as_ref().subcols(group.start, group.len());
            let mut square = self.block(gram(columns));
            let cuts = cuts(self.problem.design.queries(), &batch.rows[group.clone()]);
            for (part, size) in &cuts {
                let (count, share) = (square.size(), self.average / *size as f64);
                for column in part.clone() {
                    let values = &mut square.values_mut()[column * count..][column..part.end];
                    for value in values {
                        *value -= share;
                    }
                }
            }
            let own = &mut right[group.clone()];
            Cholesky::new(&square, 0.0)?.solve(own);
            for (part, size) in cuts {
                let average = own[part.clone()].iter().sum::<f64>() / size as f64;
                own[part].iter_mut().for_each(|value| *value -= average);
            }
        }
        Some(right)
    }
}

/// The queries that `rows`, which ascend, have a part of: the places of that part, and the examples
/// of the query.
fn cuts(queries: &Queries, rows: &[usize]) -> Vec<(Range<usize>, usize)> {
    let mut cuts = Vec::new();
    let mut start = 0;
    while start < rows.len() {
        let range = queries.range(queries.of_row(rows[start]));
        let end = start + rows[start..].partition_point(|&row| row < range.end);
        if end - start < range.len() {
            cuts.push((start..end, range.len()));
        }
        start = end;
    }
    cuts
}

impl RidgeProblem<'_> {
    /// The hold-out scheme that is a matter of seconds for so many ridge parameters:
    /// [`HoldOut::affordable`].
    pub fn affordable_holdout(&self, lambdas: usize) -> HoldOut {
        let candidates = self.design.candidates();
        candidates.map_or(HoldOut::Queries, |candidates| {
            HoldOut::affordable(self.solver(), &Shape::new(candidates, lambdas))
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

/// Rows and their residuals.
type Part = (Vec<usize>, Vec<f64>);

/// Groups of a few rows are gathered, for products of larger matrices.
pub(super) fn batches(groups: &[&[usize]]) -> Vec<Batch> {
    let mut batches: Vec<Batch> = Vec::new();
    for rows in groups {
        match batches.last_mut() {
            Some(batch) if batch.rows.len() + rows.len() <= BATCH => {
                let start = batch.rows.len();
                batch.rows.extend_from_slice(rows);
                batch.groups.push(start..batch.rows.len());
            }
            _ => batches.push(Batch {
                groups: Vec::from([Range {
                    start: 0,
                    end: rows.len(),
                }]),
                rows: rows.to_vec(),
            }),
        }
    }
    batches
}

/// Trains on the system without the rows of each group: without `X_T' (I + 1 1' / (n - h)) X_T`, the
/// second part for queries of `n` examples that lose `h` of them.
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
        for (part, size) in cuts(problem.design.queries(), rows) {
            let root = ((size - part.len()) as f64).sqrt();
            let ones = vec![1.0 / root; part.len()];
            let mut sum = vec![0.0; weights.len()];
            let own = examples.as_ref().subcols(part.start, part.len());
            add_product(&mut sum, own, &ones);
            let label: f64 = residuals[part].iter().sum::<f64>() / root;
            let sum = MatRef::from_column_major_slice(&sum, sum.len(), 1);
            rest.add_products(sum, -1.0);
            // The sign of the sum is that of a product taken off.
            add_product(&mut weights, sum, &[-label]);
        }
        Cholesky::new(&rest, trained.ridge)?.solve(&mut weights);
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

/// Takes the mean of its query off every value.
fn centre(queries: &Queries, values: &mut [f64]) {
    for part in queries.split_mut(values) {
        let mean = part.iter().sum::<f64>() / part.len() as f64;
        for value in part {
            *value -= mean;
        }
    }
}

fn pick(values: &[f64], rows: &[usize]) -> Vec<f64> {
    rows.iter().map(|&row| values[row]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn schemes_have_names() {
        assert_eq!(HoldOut::default().to_string(), "lqo");
        for name in ["lqo", "lpo", "folds:3"] {
            let scheme: HoldOut = name.parse().unwrap();
            assert_eq!(scheme.to_string(), name);
        }
        for name in ["", "lqo:1", "folds", "folds:", "folds:x", "folds:-1"] {
            let error = name.parse::<HoldOut>().unwrap_err();
            assert!(
                error
                    .to_string()
                    .ends_with("expected one of lqo, lpo, folds:N")
            );
        }
    }
}
