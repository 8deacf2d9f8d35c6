//! Hold-outs: residuals of models without some rows, from the factors of the whole model.
//!
//! For one row it is the PRESS residual (Allen, Technometrics 16, 1974). For groups see An, Liu and Venkatesh,
//! *Fast cross-validation algorithms for least squares support vector machine and kernel ridge regression*, Pattern
//! Recognition 40, 2007, and for the rows of a query Pahikkala et al., 2009.
//!
//! The model without rows `Q` has `C - X^_Q' M X^_Q` in place of `C = X^' X^`. `M` is the identity, except in
//! queries that `Q` cuts. There `M^-1 = I - A`, where `A = 1 1' / n` averages over the `n` rows of the query, as
//! the rest of it is centred anew. With the residuals `r` of the whole model (`docs/derivation.md`, section 13) the
//! models without `Q` leave `p_Q = (I - A) pi`, where
//!
//! ```text
//! dual      (G_QQ - A / ridge) pi = a_Q    G = (K + ridge I)^-1,  a = G y^
//! primal    (I - H_QQ - A) pi = r_Q        I - H = ridge G,  r = y^ - X^ w = ridge a:  ridge times the same
//! ```
//!
//! `X^` stays centred by the whole query, so predictions are relative to its mean. For a group of more rows than
//! half of the unknowns, the primal subtracts the group from the system and solves it.
//!
//! The dual factors `K + mu J` (module `dual`), so its `G` has `1 / (ridge + mu)` along `A`.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;
use std::ops::Range;

use ndarray::{ArrayView2, Axis};
use rayon::prelude::*;

use super::{Residuals, Solution, singular};
use crate::data::Queries;
use crate::error::Result;
use crate::lambda::Lambda;
use crate::linalg::factor::{BLOCK, Cholesky, Panel, Square};
use crate::linalg::kernels::add_scaled;
use crate::ridge::comparisons::pick;
use crate::ridge::system::System;

/// The factors of a model. Its system for rows `Q` is `(G_QQ - average A) pi = right_Q`, or in the primal both
/// sides times the ridge parameter.
pub(crate) trait Factored: fmt::Debug + Send + Sync {
    /// The right side, for all rows: by default the dual coefficients `a` of the model.
    fn right<'s>(&self, system: &System<'_>, solution: &'s Solution) -> Cow<'s, [f64]> {
        let _ = system;
        Cow::Borrowed(&solution.coefficients)
    }

    /// The value of `G` along the averages `A`.
    fn average(&self) -> f64;

    /// `Z_Q`, a column for each of these rows: a half of `G_QQ`, or of `H_QQ`.
    fn half(&self, system: &System<'_>, rows: &[usize]) -> Panel;

    /// `G_QQ`, or its multiple, from `Z_Q`: by default `Z_Q' Z_Q`.
    fn block(&self, half: &ArrayView2<'_, f64>) -> Square {
        Square::gram(half)
    }

    /// Whether [`again`](Self::again) leaves so many rows out sooner.
    fn is_quicker_again(&self, rows: usize) -> bool {
        let _ = rows;
        false
    }

    /// The residuals of `rows` by a system of the other rows; `None` if rounding makes it indefinite.
    fn again(&self, system: &System<'_>, rows: &[usize]) -> Option<Vec<f64>> {
        let _ = (system, rows);
        None
    }
}

/// The residuals of the rows of each of `groups`, by a model without them: see
/// [`Solve::leave_out`](super::Solve::leave_out).
pub(super) fn leave_out(
    system: &System<'_>,
    train: impl Fn(f64) -> Option<Solution>,
    lambda: Lambda,
    known: Option<&Solution>,
    groups: &[&[usize]],
) -> Result<Residuals> {
    let mut by_ridge = BTreeMap::<u64, Vec<&[usize]>>::new();
    for &rows in groups {
        let ridge = system.ridge(lambda, rows.len())?;
        by_ridge.entry(ridge.to_bits()).or_default().push(rows);
    }
    let mut values = vec![0.0; system.labels.len()];
    for (bits, alike) in by_ridge {
        let ridge = f64::from_bits(bits);
        let other;
        let solution = if let Some(own) = known.filter(|own| own.ridge == ridge) {
            own
        } else {
            other = train(ridge).ok_or_else(|| singular(lambda))?;
            &other
        };
        let all = residuals_of(system, solution, &alike);
        for (rows, found) in all.ok_or_else(|| singular(lambda))? {
            for (&row, residual) in rows.iter().zip(found) {
                values[row] = residual;
            }
        }
    }
    Ok(Residuals {
        values,
        largest: None,
    })
}

/// The residuals of each of `groups`; `None` if rounding makes a system indefinite.
fn residuals_of<'g>(
    system: &System<'_>,
    solution: &Solution,
    groups: &[&'g [usize]],
) -> Option<Vec<(&'g [usize], Vec<f64>)>> {
    let factored = solution.factored.as_deref()?;
    let right = factored.right(system, solution);
    // The choice depends on the group alone, whatever its batch.
    let again = |rows: &&[usize]| factored.is_quicker_again(rows.len());
    let (large, small): (Vec<&[usize]>, Vec<&[usize]>) =
        groups.iter().partition(|rows| again(rows));
    let of_small = batches(&small).into_par_iter().map(|batch| {
        let residuals = blocks(factored, system, &batch).map(|(rows, mut block)| {
            let left = Left::new(system.queries(), rows);
            left.take_averages(&mut block, factored.average());
            let mut u = pick(&right, left.rows);
            Cholesky::of(block)?.solve(&mut u);
            left.weigh(-1.0, 1, &mut u);
            Some((rows, u))
        });
        residuals.collect::<Option<Vec<_>>>()
    });
    let alone = |rows| Some(vec![(rows, factored.again(system, rows)?)]);
    let of_large = large.into_par_iter().map(alone);
    let all: Option<Vec<Vec<_>>> = of_small.chain(of_large).collect();
    Some(all?.into_iter().flatten().collect())
}

/// `G_QQ`, or its multiple, for each group `Q` of a batch.
pub(crate) fn blocks<'g>(
    factored: &dyn Factored,
    system: &System<'_>,
    batch: &[&'g [usize]],
) -> impl Iterator<Item = (&'g [usize], Square)> {
    let half = factored.half(system, &batch.concat());
    let mut start = 0;
    batch.iter().map(move |&rows| {
        let (_, own) = half.matrix().split_at(Axis(1), start);
        let (own, _) = own.split_at(Axis(1), rows.len());
        start += rows.len();
        (rows, factored.block(&own))
    })
}

/// Rows `T` that are left out together.
pub(super) struct Left<'a> {
    /// Ascending.
    rows: &'a [usize],
    /// For every query that they cut: the places of the cut rows, and the number of rows of the query.
    cuts: Vec<(Range<usize>, usize)>,
}

impl<'a> Left<'a> {
    pub(super) fn new(queries: &Queries, rows: &'a [usize]) -> Self {
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

    /// Subtracts `share A` from the lower triangle.
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
    pub(super) fn weigh(&self, power: f64, height: usize, values: &mut [f64]) {
        for (part, size) in &self.cuts {
            // M is 1 orthogonally to the ones, and this value along them.
            let along = *size as f64 / (size - part.len()) as f64;
            let share = (along.powf(power) - 1.0) / part.len() as f64;
            let own = &mut values[part.start * height..part.end * height];
            let mut sum = vec![0.0; height];
            for column in own.chunks(height) {
                add_scaled(&mut sum, share, column);
            }
            for column in own.chunks_mut(height) {
                add_scaled(column, 1.0, &sum);
            }
        }
    }
}

/// Gathers groups of a few rows, for products of larger matrices.
pub(crate) fn batches<'g>(groups: &[&'g [usize]]) -> Vec<Vec<&'g [usize]>> {
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
