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
use faer::{Accum, Mat, MatMut, MatRef, Par};
use rayon::prelude::*;

use super::factor::{Cholesky, Square, gram};
use super::holdout::pick;
use super::options::{BATCH, TrainError};
use super::trained::{RidgeProblem, Solution, Trained};
use crate::data::Queries;
use crate::interrupt::heed;

/// Rows that are left out together.
struct Left<'a> {
    /// Ascending.
    rows: &'a [usize],
    /// Of every query that they have a part of: the places of this part, and the rows of the query.
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

    /// Turns `u` into `M^-1 u`.
    fn shrink(&self, u: &mut [f64]) {
        for (part, size) in &self.cuts {
            let average = u[part.clone()].iter().sum::<f64>() / *size as f64;
            u[part.clone()]
                .iter_mut()
                .for_each(|value| *value -= average);
        }
    }
}

/// A factored model, whose system for rows `T` is `(B_TT - average Q) u = right_T`, with `B = G` or
/// `B = I - H`.
pub(super) struct Factored<'a> {
    problem: &'a RidgeProblem<'a>,
    system: &'a Cholesky,
    pub(super) right: Cow<'a, [f64]>,
    pub(super) average: f64,
    primal: bool,
}

impl Trained<'_> {
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

    /// Fills in the residuals of the rows of each of `groups`, by a model without them.
    ///
    /// # Errors
    /// [`TrainError::Singular`] where rounding makes a system indefinite.
    pub(super) fn without(
        &self,
        groups: &[&[usize]],
        residuals: &mut [f64],
    ) -> Result<(), TrainError> {
        let factored = self.factored();
        // Each group is asked, whatever stands beside it.
        let (large, small): (Vec<&[usize]>, Vec<&[usize]>) = groups
            .iter()
            .partition(|rows| factored.primal && 2 * rows.len() > factored.system.size());
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

    /// The residuals of `rows` from the system of the primal without `X_T' M X_T`, where `M = I + 1 1' /
    /// (n - h)` for queries of `n` rows that lose `h` of them; `None` where rounding makes it indefinite.
    fn by_solving_again(&self, rows: &[usize]) -> Option<Vec<f64>> {
        heed();
        let problem = self.problem;
        let Solution::Primal {
            covariance,
            moments,
            ..
        } = &self.solution
        else {
            unreachable!("groups of another solver are small");
        };
        let mut residuals = pick(&problem.labels, rows);
        let examples = problem.design.examples(rows, &mut problem.design.means());
        let mut rest = Square::clone(covariance);
        rest.add_products(examples.as_ref(), -1.0);
        let mut weights = moments.to_vec();
        take_product(&mut weights, examples.as_ref(), &residuals);
        for (part, size) in Left::new(problem.design.queries(), rows).cuts {
            let root = ((size - part.len()) as f64).sqrt();
            let ones = vec![1.0 / root; part.len()];
            let mut sum = vec![0.0; weights.len()];
            let own = examples.as_ref().subcols(part.start, part.len());
            take_product(&mut sum, own, &ones);
            let label: f64 = residuals[part].iter().sum::<f64>() / root;
            let sum = MatRef::from_column_major_slice(&sum, sum.len(), 1);
            rest.add_products(sum, -1.0);
            // The sign of the sum is that of a product taken off.
            take_product(&mut weights, sum, &[-label]);
        }
        Cholesky::new(&rest, self.ridge)?.solve(&mut weights);
        take_product(&mut residuals, examples.transpose(), &weights);
        Some(residuals)
    }
}

impl Factored<'_> {
    /// Unknowns.
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

    /// `B` of each group of a batch.
    pub(super) fn blocks<'g>(
        &self,
        batch: &[&'g [usize]],
    ) -> impl Iterator<Item = (&'g [usize], Square)> {
        heed();
        let half = self.half(&batch.concat());
        let mut start = 0;
        batch.iter().map(move |&rows| {
            let columns = half.as_ref().subcols(start, rows.len());
            start += rows.len();
            (rows, self.block(gram(columns)))
        })
    }

    /// The residuals of the rows of every group of a batch; `None` where rounding makes a system
    /// indefinite.
    fn without<'g>(&self, batch: &[&'g [usize]]) -> Option<Vec<(&'g [usize], Vec<f64>)>> {
        let residuals = self.blocks(batch).map(|(rows, mut block)| {
            let left = Left::new(self.problem.design.queries(), rows);
            left.take_averages(&mut block, self.average);
            let mut u = pick(&self.right, left.rows);
            Cholesky::new(&block, 0.0)?.solve(&mut u);
            left.shrink(&mut u);
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
            Some(batch) if rows <= BATCH => batch.push(group),
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
