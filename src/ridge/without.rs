//! Leaving rows out: residuals of models without them, from the factors of the whole model.
//!
//! Leaving rows `T` out takes `V V'` off the Laplacian of the loss, with `V = M^1/2` on `T`: `M` is the
//! identity, but for queries that `T` cuts. There `M^-1 = I - Q`, where `Q = 1 1' / n` averages over the
//! `n` rows of the query, as what is left of it is centred anew. With the residuals `r` of the whole model
//! (`docs/rankrls.md`) the models without `T` leave `M^-1 u`, where
//!
//! ```text
//! primal    (I - Q - H_TT) u = r_T           H = X (X'X + lambda I)^-1 X',  r = y - X w
//! dual      (G_TT - Q / lambda) u = a_T      G = (K + lambda I)^-1,  a = G y:  the same over lambda
//! ```
//!
//! `X` stays centred by the whole query, so that predictions are relative to its mean. In the primal a
//! group of more rows than half of the unknowns is instead taken off the system, which is then solved.

use std::borrow::Cow;
use std::ops::Range;

use faer::linalg::matmul::matmul;
use faer::{Accum, MatMut, MatRef, Par};
use rayon::prelude::*;

use super::design::Design;
use super::error::TrainError;
use super::factor::{BLOCK, Cholesky, Panel, Square};
use super::holdout::pick;
use super::trained::{Engine, Trained};
use crate::data::Queries;
use crate::interrupt::check_interrupt;
use crate::linalg::kernels::add_scaled;

/// Rows that are left out together.
struct Left<'a> {
    /// Ascending.
    rows: &'a [usize],
    /// For every query that they have a part of: the places of this part, and the rows of the query.
    cuts: Vec<(Range<usize>, usize)>,
}

impl<'a> Left<'a> {
    fn new(queries: &Queries, rows: &'a [usize]) -> Self {
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
        Self { rows, cuts }
    }

    /// Takes `share Q` off the lower triangle.
    fn take_averages(&self, square: &mut Square, share: f64) {
        let count = square.size();
        for (part, size) in &self.cuts {
            for column in part.clone() {
                let values = &mut square.values_mut()[column * count..][column..part.end];
                for value in values {
                    *value -= share / *size as f64;
                }
            }
        }
    }

    /// Multiplies by `M^power`: a column of `height` values for each row.
    fn weigh(&self, power: f64, height: usize, values: &mut [f64]) {
        for (part, size) in &self.cuts {
            // M is 1 across the ones, and this along them.
            let along = *size as f64 / (size - part.len()) as f64;
            let share = (along.powf(power) - 1.0) / part.len() as f64;
            let own = &mut values[part.start * height..part.end * height];
            let mut sum = vec![0.0; height];
            let columns = own.chunks(height);
            columns.for_each(|column| add_scaled(&mut sum, share, column));
            let columns = own.chunks_mut(height);
            columns.for_each(|column| add_scaled(column, 1.0, &sum));
        }
    }
}

/// A factored model, whose system for rows `T` is `(B_TT - average Q) u = right_T`, with `B = G` or
/// `B = I - H`.
pub(super) struct Factored<'a> {
    design: &'a Design<'a>,
    factor: &'a Cholesky,
    pub(super) right: Cow<'a, [f64]>,
    pub(super) average: f64,
    primal: bool,
}

impl Trained<'_> {
    /// The factors, for hold-outs; `None` after conjugate gradients.
    pub(super) fn factored(&self) -> Option<Factored<'_>> {
        let (problem, factor) = (self.problem, self.factor.as_ref()?);
        let primal = matches!(problem.engine, Engine::Primal(..));
        let (right, average) = if primal {
            (Cow::Owned(self.residuals()), 1.0)
        } else {
            // The shift is in the factors, too.
            let average = 1.0 / (self.ridge + problem.mean_diagonal);
            (Cow::Borrowed(&self.coefficients[..]), average)
        };
        Some(Factored {
            design: &problem.design,
            factor,
            right,
            average,
            primal,
        })
    }

    /// Fills in the residuals of the rows of each of `groups`, by a model without them.
    ///
    /// # Errors
    /// [`TrainError::Singular`] where rounding makes a system indefinite.
    pub(super) fn without(
        &self,
        groups: &[&[usize]],
        residuals: &mut [f64],
    ) -> Result<(), TrainError> {
        let factored = self.factored().expect("a solver that factors");
        // Each group is asked, whatever stands beside it.
        let unknowns = factored.factor.size();
        let is_large = |rows: &&[usize]| factored.primal && 2 * rows.len() > unknowns;
        let (large, small): (Vec<&[usize]>, Vec<&[usize]>) =
            groups.iter().copied().partition(is_large);
        let batches = batches(&small).into_par_iter();
        let small = batches.map(|batch| factored.without(&batch));
        let large = large.into_par_iter().map(|rows| {
            let residuals = self.by_solving_again(rows)?;
            Some(vec![(rows, residuals)])
        });
        let all: Option<Vec<_>> = small.chain(large).collect();
        let all = all.ok_or_else(|| self.singular())?;
        for (rows, found) in all.into_iter().flatten() {
            for (&row, residual) in rows.iter().zip(found) {
                residuals[row] = residual;
            }
        }
        Ok(())
    }

    /// The residuals of `rows` from the system of the primal without `X' V V' X`; `None` where rounding
    /// makes it indefinite.
    fn by_solving_again(&self, rows: &[usize]) -> Option<Vec<f64>> {
        check_interrupt();
        let problem = self.problem;
        let Engine::Primal(covariance, moments) = &problem.engine else {
            unreachable!("groups of another solver are small");
        };
        let left = Left::new(problem.design.queries(), rows);
        let mut panel = problem.design.examples(rows);
        left.weigh(0.5, covariance.size(), panel.values_mut());
        let panel = panel.matrix();
        let mut residuals = pick(&problem.labels, rows);
        left.weigh(0.5, 1, &mut residuals);
        let mut rest = covariance.clone();
        rest.add_products(panel, -1.0);
        let mut weights = moments.clone();
        take_product(&mut weights, panel, &residuals);
        rest.add_to_diagonal(self.ridge);
        Cholesky::of(rest)?.solve(&mut weights);
        take_product(&mut residuals, panel.transpose(), &weights);
        left.weigh(-0.5, 1, &mut residuals);
        Some(residuals)
    }
}

impl Factored<'_> {
    /// `Z` with `Z' Z = G`, or `H`, on these rows.
    fn half(&self, rows: &[usize]) -> Panel {
        let size = self.factor.size();
        let mut panel = if self.primal {
            self.design.examples(rows)
        } else {
            Panel::zeros(size, rows.len())
        };
        let blocks = panel.values_mut().par_chunks_mut(size * BLOCK);
        let blocks = blocks.zip(rows.par_chunks(BLOCK));
        blocks.for_each(|(columns, rows)| {
            check_interrupt();
            let mut skip = 0;
            if !self.primal {
                for (column, &row) in columns.chunks_mut(size).zip(rows) {
                    column[row] = 1.0;
                }
                skip = rows.iter().copied().min().unwrap_or(0);
            }
            self.factor.half(columns, skip);
        });
        panel
    }

    /// `B` of each group of a batch.
    pub(super) fn blocks<'g>(
        &self,
        batch: &[&'g [usize]],
    ) -> impl Iterator<Item = (&'g [usize], Square)> {
        let half = self.half(&batch.concat());
        let mut start = 0;
        batch.iter().map(move |&rows| {
            let columns = half.matrix().subcols(start, rows.len());
            start += rows.len();
            let mut square = Square::gram(columns);
            if self.primal {
                let values = square.values_mut().iter_mut();
                values.for_each(|value| *value = -*value);
                square.add_to_diagonal(1.0);
            }
            (rows, square)
        })
    }

    /// The residuals of the rows of every group of a batch; `None` where rounding makes a system
    /// indefinite.
    fn without<'g>(&self, batch: &[&'g [usize]]) -> Option<Vec<(&'g [usize], Vec<f64>)>> {
        let residuals = self.blocks(batch).map(|(rows, mut block)| {
            let left = Left::new(self.design.queries(), rows);
            left.take_averages(&mut block, self.average);
            let mut u = pick(&self.right, left.rows);
            Cholesky::of(block)?.solve(&mut u);
            left.weigh(-1.0, 1, &mut u);
            Some((rows, u))
        });
        residuals.collect()
    }
}

/// Groups of a few rows are gathered, for products of larger matrices.
pub(super) fn batches<'g>(groups: &[&'g [usize]]) -> Vec<Vec<&'g [usize]>> {
    let mut batches: Vec<Vec<&[usize]>> = Vec::new();
    let mut rows = 0;
    for &group in groups {
        rows += group.len();
        match batches.last_mut() {
            Some(batch) if rows <= BLOCK => batch.push(group),
            _ => {
                batches.push(vec![group]);
                rows = group.len();
            }
        }
    }
    batches
}

/// `sum -= matrix * vector`.
fn take_product(sum: &mut [f64], matrix: MatRef<'_, f64>, vector: &[f64]) {
    let size = sum.len();
    let sum = MatMut::from_column_major_slice_mut(sum, size, 1);
    let vector = MatRef::from_column_major_slice(vector, vector.len(), 1);
    matmul(sum, Accum::Add, matrix, vector, -1.0, Par::Seq);
}
