//! RankRLS on given preferences (PPRankRLS): `sum_p c_p (g_p - (f_s - f_e))^2 + lambda |w|^2`.
//!
//! Differences of rows are never formed. With `D` of a row `e_s - e_e` for each preference, the loss
//! is that of the graph Laplacian `L = D' C D` of the preferences, degrees less adjacency, and of
//! `b = D' C g`: `w = (X' L X + lambda I)^-1 X' b`. In the dual `L = B B'`, with `B` from a Cholesky
//! factor `R` of the Laplacian without one row of each connected component, and
//! `w = X' B (B' K B + lambda I)^-1 R^-1 b`.
//!
//! Preferences are left out by `(I - H_PP) u = r_P` with `H = V A^-1 V'` for the weighted differences
//! `V`, the identity of the module `holdout`.

use std::borrow::Cow;
use std::collections::BTreeMap;

use faer::linalg::matmul::matmul;
use faer::linalg::triangular_solve::solve_lower_triangular_in_place;
use faer::{Accum, ColRef, Mat, MatMut, MatRef, Par};
use rayon::prelude::*;
use sprs::{CsMat, TriMat};

use super::conjugate::{Convergence, ITERATIONS};
use super::design::Design;
use super::factor::{BLOCK, Cholesky, Square, gram};
use super::groups::Groups;
use super::holdout::Holdout;
use super::kernel::KernelMatrix;
use super::options::{BATCH, Shape, Solver, TrainError, TrainOptions};
use super::trained::{Weights, weights_of_features};
use crate::columns::ColumnClasses;
use crate::data::Dataset;
use crate::interrupt::heed;
use crate::metrics::PAIR_TIE;
use crate::{Lambda, QueryWeight};

/// One row before another.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Preference {
    /// The row that is preferred, 0-based.
    pub preferred: u32,
    /// The other row.
    pub other: u32,
    /// By how much, in units of the labels; 1 as a rule.
    pub magnitude: f64,
    /// What it counts; 1 as a rule.
    pub weight: f64,
}

/// Preferences among the rows of a data set. One that comes twice counts twice, opposite ones pull
/// against each other, cycles are allowed, and a row before itself counts nothing.
#[derive(Debug, Clone, PartialEq)]
pub struct Preferences {
    list: Vec<Preference>,
    rows: usize,
}

impl Preferences {
    /// Checks the preferences among so many rows.
    ///
    /// # Errors
    /// [`TrainError::Preference`] for a row that is not there, a magnitude that is not finite, or a
    /// weight that is not above 0; [`TrainError::NoPreferences`] if no two rows are compared.
    pub fn new(list: Vec<Preference>, rows: usize) -> Result<Self, TrainError> {
        for (number, one) in list.iter().enumerate() {
            let refuse = |expected: String, found: String| {
                Err(TrainError::Preference {
                    number: number + 1,
                    expected,
                    found,
                })
            };
            for row in [one.preferred, one.other] {
                if row as usize >= rows {
                    let found = (u64::from(row) + 1).to_string();
                    return refuse(format!("rows from 1 to {rows}"), found);
                }
            }
            if !one.magnitude.is_finite() {
                return refuse("a finite magnitude".to_owned(), one.magnitude.to_string());
            }
            if !(one.weight.is_finite() && one.weight > 0.0) {
                return refuse("a finite weight above 0".to_owned(), one.weight.to_string());
            }
        }
        if list.iter().all(|one| one.preferred == one.other) {
            return Err(TrainError::NoPreferences);
        }
        Ok(Self { list, rows })
    }

    /// The preferences, as given.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &Preference> {
        self.list.iter()
    }

    /// How many there are, at least 1.
    #[expect(clippy::len_without_is_empty, reason = "there is one at least")]
    pub fn len(&self) -> usize {
        self.list.len()
    }

    /// The Laplacian `D' C D` of the preferences that are not `out`, `m x m`, and `b = D' C g`.
    fn laplacian(&self, out: &[bool]) -> (CsMat<f64>, Vec<f64>) {
        let mut moments = vec![0.0; self.rows];
        // Sorted by place, so that sums have one order.
        let mut entries: BTreeMap<(usize, usize), f64> = BTreeMap::new();
        for (one, _) in self.list.iter().zip(out).filter(|(_, out)| !**out) {
            let (s, e) = (one.preferred as usize, one.other as usize);
            if s == e {
                continue;
            }
            moments[s] += one.weight * one.magnitude;
            moments[e] -= one.weight * one.magnitude;
            for (place, value) in [((s, s), 1.0), ((e, e), 1.0), ((s, e), -1.0), ((e, s), -1.0)] {
                *entries.entry(place).or_default() += value * one.weight;
            }
        }
        let mut triplets = TriMat::new((self.rows, self.rows));
        for ((row, column), value) in entries {
            triplets.add_triplet(row, column, value);
        }
        (triplets.to_csr(), moments)
    }
}

/// `L = B B'`.
#[derive(Debug)]
struct Root {
    /// Rows of the data that are compared, without one of each component.
    kept: Vec<usize>,
    /// Position in `kept` of every row, and none for the last row of a component.
    place: Vec<Option<usize>>,
    /// The component of every row; rows that are not compared have one of their own.
    component: Vec<usize>,
    /// `R`, lower triangle: `R R' = L` of the kept rows.
    factor: Mat<f64>,
}

/// The row that stands for the component of `row`.
fn top(component: &mut [usize], mut row: usize) -> usize {
    while component[row] != row {
        component[row] = component[component[row]];
        row = component[row];
    }
    row
}

impl Root {
    /// `None` where rounding makes the Laplacian indefinite.
    fn new(laplacian: &CsMat<f64>) -> Option<Self> {
        let rows = laplacian.rows();
        let mut component: Vec<usize> = (0..rows).collect();
        for (_, (row, column)) in laplacian {
            let (a, b) = (top(&mut component, row), top(&mut component, column));
            // The largest row stands for a component.
            component[a.min(b)] = a.max(b);
        }
        for row in 0..rows {
            component[row] = top(&mut component, row);
        }
        let kept: Vec<usize> = (0..rows).filter(|&row| component[row] != row).collect();
        let mut place = vec![None; rows];
        for (at, &row) in kept.iter().enumerate() {
            place[row] = Some(at);
        }
        let mut square = Square::zeros(kept.len());
        for (value, (row, column)) in laplacian {
            if let (Some(row), Some(column)) = (place[row], place[column]) {
                square.values_mut()[column * kept.len() + row] = *value;
            }
        }
        let factor = Cholesky::new(&square, 0.0)?.lower();
        Some(Self {
            kept,
            place,
            component,
            factor,
        })
    }

    /// `B v`: a value for each row of the data.
    fn times(&self, v: &[f64]) -> Vec<f64> {
        let mut product = vec![0.0; self.place.len()];
        for (at, &row) in self.kept.iter().enumerate() {
            product[row] = (0..=at).map(|k| self.factor[(at, k)] * v[k]).sum();
        }
        for &row in &self.kept {
            let value = product[row];
            product[self.component[row]] -= value;
        }
        product
    }

    /// `B' K B`, lower triangle, of the lower triangle of `K`.
    fn between(&self, kernel: &Square) -> Square {
        let size = self.kept.len();
        let value = |a: usize, b: usize| kernel.values()[a.min(b) * kernel.size() + a.max(b)];
        // The kernel of differences to the last row of the component.
        let mut differences = Mat::zeros(size, size);
        let columns: Vec<_> = differences.col_iter_mut().collect();
        columns
            .into_par_iter()
            .zip(&self.kept)
            .for_each(|(column, &b)| {
                let last = self.component[b];
                for (slot, &a) in column.iter_mut().zip(&self.kept) {
                    let own = self.component[a];
                    *slot = value(a, b) - value(own, b) - value(a, last) + value(own, last);
                }
            });
        let product = |left: MatRef<'_, f64>, right: MatRef<'_, f64>| {
            let mut values = vec![0.0; size * size];
            let blocks = values.par_chunks_mut(size * BLOCK).enumerate();
            blocks.for_each(|(number, block)| {
                heed();
                let width = block.len() / size;
                let right = right.subcols(number * BLOCK, width);
                let block = MatMut::from_column_major_slice_mut(block, size, width);
                matmul(block, Accum::Replace, left, right, 1.0, Par::Seq);
            });
            values
        };
        let right = product(differences.as_ref(), self.factor.as_ref());
        let right = MatRef::from_column_major_slice(&right, size, size);
        let mut square = Square::zeros(size);
        square
            .values_mut()
            .copy_from_slice(&product(self.factor.transpose(), right));
        square
    }

    /// `R^-1` of the rows of the kept ones in `columns`.
    fn solve(&self, columns: MatMut<'_, f64>) {
        solve_lower_triangular_in_place(self.factor.as_ref(), columns, Par::Seq);
    }
}

/// Norm of the gradient to reach, as a share of the first: lambda may divide it, so that it has to
/// be less than the residuals of other problems.
const GRADIENT_TOLERANCE: f64 = 1e-13;

/// RankRLS on preferences, ready for ridge parameters.
#[derive(Debug)]
pub struct PairwiseProblem<'a> {
    dataset: &'a Dataset<'a>,
    preferences: &'a Preferences,
    design: Design<'a>,
    laplacian: CsMat<f64>,
    moments: Vec<f64>,
    engine: Engine,
}

#[derive(Debug)]
enum Engine {
    Dual(Root, Square),
    Primal(Square),
    Iterative,
}

impl<'a> PairwiseProblem<'a> {
    /// Prepares `dataset`, which is one query, and the `preferences` among its rows.
    ///
    /// `O(m^3)` time and `O(m^2)` memory with solver `dual`, `O(m c^2)` and `O(m c + c^2)` for `c`
    /// column classes with `primal`, and little with `cg`.
    ///
    /// # Errors
    /// [`TrainError`] when no column varies, when there is not the memory, for data of several
    /// queries, and for preferences of other data.
    pub fn new(
        dataset: &'a Dataset<'a>,
        preferences: &'a Preferences,
        options: &TrainOptions,
    ) -> Result<Self, TrainError> {
        let classes = ColumnClasses::scaled(dataset, QueryWeight::Uniform, options.scale);
        if classes.is_empty() {
            return Err(TrainError::NoColumns {
                columns: dataset.width(),
            });
        }
        let shape = Shape::new(&classes, options.lambdas.max(1));
        let held = dataset.memory().saturating_add(classes.memory());
        let solver = options.choose(&shape, held)?;
        let design = Design::new(Cow::Owned(classes), QueryWeight::Uniform);
        Self::prepare(dataset, preferences, design, solver)
    }

    /// The same under a kernel, whose values for all pairs of rows are known: by [`Solver::Dual`].
    ///
    /// # Errors
    /// As [`new`](Self::new).
    pub fn of_kernel(
        dataset: &'a Dataset<'a>,
        kernel: KernelMatrix,
        preferences: &'a Preferences,
        options: &TrainOptions,
    ) -> Result<Self, TrainError> {
        let shape = Shape::of_rows(dataset.queries(), options.lambdas.max(1));
        let held = dataset.memory().saturating_add(kernel.memory());
        options.solver(Solver::Dual).choose(&shape, held)?;
        let queries = dataset.queries();
        let design = Design::of_kernel(kernel.into_square(), queries, QueryWeight::Uniform);
        Self::prepare(dataset, preferences, design, Solver::Dual)
    }

    fn prepare(
        dataset: &'a Dataset<'a>,
        preferences: &'a Preferences,
        design: Design<'a>,
        solver: Solver,
    ) -> Result<Self, TrainError> {
        let queries = dataset.queries().len();
        if queries > 1 {
            return Err(TrainError::Queries { queries });
        }
        if preferences.rows != dataset.rows() {
            return Err(TrainError::OtherQueries {
                what: "rows",
                expected: dataset.rows(),
                found: preferences.rows,
            });
        }
        if !design.mean_diagonal().is_finite() {
            return Err(TrainError::NotFinite);
        }
        let (laplacian, moments) = preferences.laplacian(&vec![false; preferences.len()]);
        let engine = match solver {
            Solver::Dual => {
                let root = Root::new(&laplacian).ok_or(TrainError::NotFinite)?;
                let square = root.between(&design.kernel_matrix(0.0));
                Engine::Dual(root, square)
            }
            Solver::Primal => Engine::Primal(covariance(&design, &laplacian)),
            Solver::ConjugateGradients => Engine::Iterative,
        };
        Ok(Self {
            dataset,
            preferences,
            design,
            laplacian,
            moments,
            engine,
        })
    }

    /// The solver.
    pub fn solver(&self) -> Solver {
        match self.engine {
            Engine::Dual(..) => Solver::Dual,
            Engine::Primal(_) => Solver::Primal,
            Engine::Iterative => Solver::ConjugateGradients,
        }
    }

    /// The unit of ridge parameters: the mean squared norm of a centred row, times the mean weight
    /// of the preferences that a row is in.
    pub fn unit(&self) -> f64 {
        let degrees = self
            .laplacian
            .diag()
            .iter()
            .map(|(_, degree)| degree)
            .sum::<f64>();
        self.design.mean_diagonal() * degrees / self.preferences.rows as f64
    }

    /// Trains with the ridge parameter `lambda`.
    ///
    /// # Errors
    /// [`TrainError::Singular`] when `lambda` is too small for the values,
    /// [`TrainError::NotFinite`] when they are too large.
    pub fn train(&'a self, lambda: Lambda) -> Result<PairwiseTrained<'a>, TrainError> {
        let ridge = lambda.value();
        let singular = TrainError::Singular { lambda: ridge };
        let (class_weights, dual, system, convergence) = match &self.engine {
            Engine::Dual(root, square) => {
                let system = Cholesky::new(square, ridge).ok_or(singular)?;
                let mut alpha: Vec<f64> = root.kept.iter().map(|&row| self.moments[row]).collect();
                let size = alpha.len();
                root.solve(MatMut::from_column_major_slice_mut(&mut alpha, size, 1));
                let labels = alpha.clone();
                system.solve(&mut alpha);
                let coefficients = root.times(&alpha);
                let weights = self.design.class_weights(&coefficients);
                // Of the labels less the residuals: sums over coefficients would lose digits.
                let fitted = labels.iter().zip(&alpha);
                let fitted = fitted.map(|(label, alpha)| label - ridge * alpha);
                let dual = (coefficients, fitted.collect());
                (weights, Some(dual), Some(system), None)
            }
            Engine::Primal(covariance) => {
                let system = Cholesky::new(covariance, ridge).ok_or(singular)?;
                let mut unknowns = self.design.moments(&self.moments);
                system.solve(&mut unknowns);
                (self.design.unscaled(&unknowns), None, Some(system), None)
            }
            Engine::Iterative => {
                let (weights, convergence) = self.iterate(&self.laplacian, &self.moments, ridge);
                (weights, None, None, Some(convergence))
            }
        };
        let coefficients = dual.iter().flat_map(|(coefficients, _)| coefficients);
        let mut values = class_weights.iter().chain(coefficients);
        if !values.all(|value| value.is_finite()) {
            return Err(TrainError::NotFinite);
        }
        Ok(PairwiseTrained {
            problem: self,
            lambda,
            class_weights,
            dual,
            system,
            convergence,
        })
    }

    /// Conjugate gradients in the space of the classes, preconditioned by the degrees.
    fn iterate(
        &self,
        laplacian: &CsMat<f64>,
        moments: &[f64],
        ridge: f64,
    ) -> (Vec<f64>, Convergence) {
        let design = &self.design;
        let Some(candidates) = design.candidates() else {
            unreachable!("a kernel has the dual solver alone");
        };
        let degrees = laplacian.diag();
        let degree = |row: usize| degrees.get(row).copied().unwrap_or(0.0);
        let diagonal: Vec<f64> = (0..candidates.len())
            .map(|class| {
                let entries = candidates.column(class).iter();
                let sum: f64 = entries
                    .map(|(row, value)| degree(row) * value * value)
                    .sum();
                ridge + candidates.class(class).len() as f64 * sum
            })
            .collect();
        let apply = |unknowns: &[f64]| {
            heed();
            let scores = design.predictions(&design.unscaled(unknowns));
            let pulled = times(laplacian, &scores);
            let mut product = design.moments(&pulled);
            crate::kernels::add_scaled(&mut product, ridge, unknowns);
            product
        };
        let dot = |a: &[f64], b: &[f64]| -> f64 { a.iter().zip(b).map(|(a, b)| a * b).sum() };
        let scaled = |residual: &[f64]| -> Vec<f64> {
            residual.iter().zip(&diagonal).map(|(r, d)| r / d).collect()
        };
        let mut residual = design.moments(moments);
        let norm = dot(&residual, &residual).sqrt();
        let mut unknowns = vec![0.0; residual.len()];
        let mut direction = scaled(&residual);
        let mut along = dot(&residual, &direction);
        let mut iterations = 0;
        let share = |residual: &[f64]| match norm {
            0.0 => 0.0,
            norm => dot(residual, residual).sqrt() / norm,
        };
        while share(&residual) > GRADIENT_TOLERANCE && iterations < ITERATIONS {
            let product = apply(&direction);
            let step = along / dot(&direction, &product);
            crate::kernels::add_scaled(&mut unknowns, step, &direction);
            crate::kernels::add_scaled(&mut residual, -step, &product);
            let next = scaled(&residual);
            let before = std::mem::replace(&mut along, dot(&residual, &next));
            for (direction, next) in direction.iter_mut().zip(next) {
                *direction = next + along / before * *direction;
            }
            iterations += 1;
        }
        // The true residual, not what was carried along.
        let mut left = design.moments(moments);
        crate::kernels::add_scaled(&mut left, -1.0, &apply(&unknowns));
        let convergence = Convergence {
            iterations,
            residual: share(&left),
        };
        (design.unscaled(&unknowns), convergence)
    }
}

/// `L v`.
fn times(laplacian: &CsMat<f64>, v: &[f64]) -> Vec<f64> {
    let rows = laplacian.outer_iterator();
    rows.map(|row| row.iter().map(|(column, value)| value * v[column]).sum())
        .collect()
}

/// `X' L X`, lower triangle and more.
fn covariance(design: &Design<'_>, laplacian: &CsMat<f64>) -> Square {
    let rows: Vec<usize> = (0..laplacian.rows()).collect();
    let examples = design.examples(&rows, &mut design.means());
    let size = examples.nrows();
    let mut square = Square::zeros(size);
    for chunk in rows.chunks(BATCH) {
        // Columns of `X' L` for these rows.
        let mut pulled = Mat::<f64>::zeros(size, chunk.len());
        for (mut column, &row) in pulled.col_iter_mut().zip(chunk) {
            let Some(neighbours) = laplacian.outer_view(row) else {
                continue;
            };
            for (other, value) in neighbours.iter() {
                let other = examples.col(other).iter();
                let slots = column.as_mut().iter_mut();
                slots.zip(other).for_each(|(slot, x)| *slot += value * x);
            }
        }
        let own = examples.as_ref().subcols(chunk[0], chunk.len());
        let blocks = square.values_mut().par_chunks_mut(size * BLOCK).enumerate();
        blocks.for_each(|(number, block)| {
            heed();
            let width = block.len() / size;
            let right = own.subrows(number * BLOCK, width).transpose();
            let block = MatMut::from_column_major_slice_mut(block, size, width);
            matmul(block, Accum::Add, pulled.as_ref(), right, 1.0, Par::Seq);
        });
    }
    square
}

/// RankRLS trained on preferences with one ridge parameter.
#[derive(Debug)]
pub struct PairwiseTrained<'a> {
    problem: &'a PairwiseProblem<'a>,
    lambda: Lambda,
    class_weights: Vec<f64>,
    /// Coefficients of the rows, and `R^-1 b` as far as the model has learnt it.
    dual: Option<(Vec<f64>, Vec<f64>)>,
    system: Option<Cholesky>,
    convergence: Option<Convergence>,
}

impl PairwiseTrained<'_> {
    /// How conjugate gradients ended, if they were the solver.
    pub fn convergence(&self) -> Option<Convergence> {
        self.convergence
    }

    /// Weights of the features; none under a kernel.
    pub fn weights(&self) -> Weights {
        let problem = self.problem;
        weights_of_features(&problem.design, problem.dataset, &self.class_weights)
    }

    /// A coefficient for each row of the data, as of [`Trained`](super::Trained), with solver `dual`.
    pub fn coefficients(&self) -> Option<Vec<f64>> {
        self.dual
            .as_ref()
            .map(|(coefficients, _)| coefficients.clone())
    }

    /// Differences `f_s - f_e` for all preferences by models that were trained without their group:
    /// groups of preferences, as of rows ([`Groups::of_rows`], or [`Groups::queries`] for each alone).
    /// `error` sums `c_p (g_p - (f_s - f_e))^2`, and `cindex` is the share of the preferences, by
    /// weight, that come in the right order, without those of magnitude 0.
    ///
    /// # Errors
    /// [`TrainError::OtherQueries`] for groups of another number of preferences,
    /// [`TrainError::Singular`] and [`TrainError::NotFinite`] where numbers fail.
    pub fn holdout(&self, groups: &Groups) -> Result<Holdout, TrainError> {
        let preferences = self.problem.preferences;
        groups.check_count("preferences", preferences.len())?;
        let groups: Vec<&[usize]> = groups.iter().collect();
        let parts = groups.par_iter().map(|group| {
            heed();
            let singular = || TrainError::Singular {
                lambda: self.lambda.value(),
            };
            match &self.system {
                Some(system) => self.left_out(system, group).ok_or_else(singular),
                None => Ok(self.trained_without(group)),
            }
        });
        let parts: Vec<Vec<f64>> = parts.collect::<Result<_, _>>()?;
        let mut predictions = vec![0.0; preferences.len()];
        for (group, part) in groups.iter().zip(parts) {
            for (&number, value) in group.iter().zip(part) {
                predictions[number] = value;
            }
        }
        let largest = preferences.iter().map(|one| one.magnitude.abs());
        let tie = PAIR_TIE * largest.fold(0.0, f64::max);
        let (mut error, mut ordered, mut all) = (0.0, 0.0, 0.0);
        for (one, &found) in preferences.iter().zip(&predictions) {
            error += one.weight * (one.magnitude - found).powi(2);
            if one.magnitude != 0.0 && one.preferred != one.other {
                all += one.weight;
                ordered += one.weight
                    * match found * one.magnitude.signum() {
                        near if near.abs() <= tie => 0.5,
                        right if right > 0.0 => 1.0,
                        _ => 0.0,
                    };
            }
        }
        if !error.is_finite() {
            return Err(TrainError::NotFinite);
        }
        Ok(Holdout {
            predictions,
            pairs: Vec::new(),
            error,
            cindex: (all > 0.0).then(|| ordered / all),
            convergence: self.convergence,
        })
    }

    fn chosen(&self, group: &[usize]) -> Vec<Preference> {
        let list = &self.problem.preferences.list;
        group.iter().map(|&number| list[number]).collect()
    }

    /// Differences for `group` from the factors of the whole model.
    fn left_out(&self, system: &Cholesky, group: &[usize]) -> Option<Vec<f64>> {
        let (problem, group) = (self.problem, self.chosen(group));
        let ridge = self.lambda.value();
        // The weighted differences, or what has their products, and what the model predicts of them.
        let (mut square, predicted) =
            if let (Engine::Dual(root, _), Some((_, fitted))) = (&problem.engine, &self.dual) {
                let mut ends = Mat::zeros(root.kept.len(), group.len());
                for (one, mut column) in group.iter().zip(ends.col_iter_mut()) {
                    for (row, sign) in [(one.preferred, 1.0), (one.other, -1.0)] {
                        if let Some(place) = root.place[row as usize] {
                            column[place] += sign * one.weight.sqrt();
                        }
                    }
                }
                root.solve(ends.as_mut());
                let along =
                    |column: ColRef<'_, f64>| column.iter().zip(fitted).map(|(v, f)| v * f).sum();
                let predicted: Vec<f64> = ends.col_iter().map(along).collect();
                // I - H = I - V' V + lambda V' T^-1 V
                let mut square = gram(ends.as_ref());
                let inverse = gram(system.half(ends, 0).as_ref());
                let pairs = square.values_mut().iter_mut().zip(inverse.values());
                pairs.for_each(|(value, inverse)| *value = ridge * inverse - *value);
                (square, predicted)
            } else {
                let design = &problem.design;
                let end = |row: fn(&Preference) -> u32| -> Mat<f64> {
                    let rows: Vec<usize> = group.iter().map(|one| row(one) as usize).collect();
                    design.examples(&rows, &mut design.means())
                };
                let mut differences = end(|one| one.preferred) - end(|one| one.other);
                for (one, column) in group.iter().zip(differences.col_iter_mut()) {
                    let root = one.weight.sqrt();
                    column.iter_mut().for_each(|value| *value *= root);
                }
                let mut square = gram(system.half(differences, 0).as_ref());
                let values = square.values_mut().iter_mut();
                values.for_each(|value| *value = -*value);
                let scores = design.predictions(&self.class_weights);
                let predicted = group.iter().map(|one| {
                    let [s, e] = [one.preferred, one.other].map(|row| scores[row as usize]);
                    one.weight.sqrt() * (s - e)
                });
                (square, predicted.collect())
            };
        square.add_to_diagonal(1.0);
        let labels = group.iter().map(|one| one.weight.sqrt() * one.magnitude);
        let mut residuals: Vec<f64> = labels.zip(predicted).map(|(y, f)| y - f).collect();
        Cholesky::new(&square, 0.0)?.solve(&mut residuals);
        let pairs = group.iter().zip(residuals);
        Some(
            pairs
                .map(|(one, left)| one.magnitude - left / one.weight.sqrt())
                .collect(),
        )
    }

    /// Differences for `group` by training again.
    fn trained_without(&self, group: &[usize]) -> Vec<f64> {
        let problem = self.problem;
        let mut out = vec![false; problem.preferences.len()];
        for &number in group {
            out[number] = true;
        }
        let (laplacian, moments) = problem.preferences.laplacian(&out);
        let (weights, _) = problem.iterate(&laplacian, &moments, self.lambda.value());
        let scores = problem.design.predictions(&weights);
        let group = self.chosen(group).into_iter();
        group
            .map(|one| scores[one.preferred as usize] - scores[one.other as usize])
            .collect()
    }
}
