//! Leave-pair-out: predictions for every pair of examples of a query by a model trained without both.
//!
//! For all pairs of all data: Pahikkala, Airola, Boberg and Salakoski, *Exact and efficient leave-pair-out
//! cross-validation for ranking RLS*, AKRR 2008. Rows `i` and `j` of a query of `n` rows cut it, and their
//! system (module `solvers::factored`) is of size two.
//! In the coordinates `(1, -1) / sqrt(2)` and `(1, 1) / sqrt(2)` it is
//!
//! ```text
//! [ G_dd  G_ds             ] [u_d]   [right_d]        G_dd = (G_ii + G_jj) / 2 - G_ij
//! [ G_ds  G_ss - 2 avg / n ] [u_s] = [right_s]        G_ss = (G_ii + G_jj) / 2 + G_ij
//!                                                     G_ds = (G_ii - G_jj) / 2
//! ```
//!
//! and the residuals are `u_d` and `(1 - 2 / n) u_s`. So a pair takes a few operations once `G` of its query is
//! known.

use std::f64::consts::SQRT_2;
use std::ops::Range;

use rayon::prelude::*;

use super::{Holdout, RidgeProblem, nothing_to_compare};
use crate::error::{Error, Result};
use crate::lambda::Lambda;
use crate::linalg::factor::Square;
use crate::metrics::PAIR_TIE;
use crate::ridge::kernel::row_number;
use crate::ridge::solvers::{Factored, Solution, Solver, batches, blocks, singular};
use crate::ridge::system::{System, too_large};
use crate::stop;

/// Rows whose pairs with all later rows are a task.
const ROWS: usize = 64;

/// The outcome of some pairs of a query.
#[derive(Debug, Default)]
struct Tally {
    /// Sum of the squared errors of differences; of a query, divided by its rows.
    squares: f64,
    /// Pairs of different labels.
    pairs: usize,
    /// Pairs in the right order; a tie is half of one.
    ordered: f64,
    /// [`Holdout::pairs`].
    kept: Vec<([u32; 2], [f64; 2])>,
    singular: bool,
}

/// A query with the numbers from which its pairs follow.
struct Query<'a> {
    /// Its first row.
    first: usize,
    /// `G`, or its multiple, lower triangle.
    block: Square,
    right: &'a [f64],
    average: f64,
    /// Centred, weighted labels, and the labels as given.
    labels: &'a [f64],
    as_given: &'a [f64],
    /// The factor by which the weight of the query scales residuals.
    scale: f64,
    /// The largest difference of predictions that is a tie.
    tie: f64,
    keep: bool,
}

impl RidgeProblem<'_> {
    /// Leaves out every pair of examples of a query. Predictions are by a model trained without both, exactly, from
    /// the factors of the whole model (Pahikkala et al., 2008). `keep` puts them into [`Holdout::pairs`], 24 bytes
    /// each. The `whole` model is the one with `lambda`.
    ///
    /// A query of `n` examples continues with `n - 2`, centred anew, at its old weight. Under the global objective
    /// these are all pairs, and the ridge parameter fits `m - 2` rows. Predictions within 1e-10 of the largest
    /// label count as equal. Takes `O(n^2)` time after the factorisation and the inverse of the query's block;
    /// memory of this block.
    pub(in crate::ridge) fn leave_pair_out(
        &self,
        lambda: Lambda,
        whole: &Solution,
        keep: bool,
    ) -> Result<Holdout> {
        let system = &self.system;
        if whole.factored.is_none() {
            return Err(Error::options(format!(
                "solver {} has no hold-outs by lpo: expected lqo or folds:N, or solver {}",
                self.solver,
                Solver::factoring()
            )));
        }
        let queries = system.queries();
        if queries.largest() < 2 {
            return Err(nothing_to_compare());
        }
        let other;
        let mut solution = whole;
        if system.ridge(lambda, 2)? != solution.ridge {
            other = self.train(lambda, 2)?;
            solution = &other;
        }
        let Some(factored) = solution.factored.as_deref() else {
            return Err(singular(lambda));
        };
        let tallies = tallies(system, solution, factored, keep);
        stop::check()?;
        let ordered = tallies.iter().filter(|of_query| of_query.pairs > 0);
        let indices: Vec<f64> = ordered.map(|own| own.ordered / own.pairs as f64).collect();
        let sum = tallies.into_iter().fold(Tally::default(), Tally::with);
        if sum.singular {
            return Err(singular(lambda));
        }
        if !sum.squares.is_finite() {
            return Err(too_large());
        }
        let mean = || indices.iter().sum::<f64>() / indices.len() as f64;
        Ok(Holdout {
            predictions: Vec::new(),
            pairs: sum.kept,
            error: sum.squares,
            cindex: (!indices.is_empty()).then(mean),
            residual: None,
        })
    }
}

/// The outcome of the pairs of each query.
fn tallies(
    system: &System<'_>,
    solution: &Solution,
    factored: &dyn Factored,
    keep: bool,
) -> Vec<Tally> {
    let (right, average) = (factored.right(system, solution), factored.average());
    let labels = system.labels.iter().enumerate();
    let unscaled = labels.map(|(row, label)| (label / system.rows.weight_root(row)).abs());
    let tie = PAIR_TIE * unscaled.fold(0.0, f64::max);
    let tally = |rows: &[usize], block: Square| {
        let (first, range) = (rows[0], rows[0]..rows[0] + rows.len());
        let query = Query {
            first,
            right: &right[range.clone()],
            average,
            labels: &system.labels[range.clone()],
            as_given: &system.as_given[range],
            scale: system.rows.weight_root(first),
            tie,
            block,
            keep,
        };
        query.tally_all()
    };
    let rows: Vec<Vec<usize>> = system.queries().ranges().map(Iterator::collect).collect();
    let groups: Vec<&[usize]> = rows.iter().map(Vec::as_slice).collect();
    let of_batches = batches(&groups).into_par_iter().flat_map_iter(|batch| {
        let of_batch = blocks(factored, system, &batch);
        let found = of_batch.map(|(group, block)| tally(group, block));
        found.collect::<Vec<_>>()
    });
    of_batches.collect()
}

impl Query<'_> {
    /// All pairs.
    fn tally_all(&self) -> Tally {
        let size = self.block.size();
        let tasks = (0..size).into_par_iter().step_by(ROWS);
        let parts: Vec<Tally> = tasks
            .map(|start| self.tally(start..size.min(start + ROWS)))
            .collect();
        let mut all = parts.into_iter().fold(Tally::default(), Tally::with);
        all.squares /= size as f64;
        all
    }

    /// The pairs of these rows with every later one.
    fn tally(&self, rows: Range<usize>) -> Tally {
        if stop::requested() {
            return Tally::default();
        }
        let size = self.block.size();
        let share = 2.0 / size as f64;
        let diagonal = |row: usize| self.block.values()[row * (size + 1)];
        let mut tally = Tally::default();
        for i in rows {
            let column = &self.block.values()[i * size..][..size];
            for (j, beside) in column.iter().enumerate().skip(i + 1) {
                let mean = f64::midpoint(diagonal(i), diagonal(j));
                let (dd, ds) = (mean - beside, (diagonal(i) - diagonal(j)) / 2.0);
                let [rd, rs] =
                    [-1.0, 1.0].map(|sign| (self.right[i] + sign * self.right[j]) / SQRT_2);
                let [residual_d, residual_s] = if size == 2 {
                    // The pair is the whole query: nothing of it is left.
                    tally.singular |= dd <= 0.0;
                    [rd / dd, 0.0]
                } else {
                    let ss = mean + beside - share * self.average;
                    let determinant = dd * ss - ds * ds;
                    tally.singular |= dd <= 0.0 || determinant <= 0.0;
                    [
                        (rd * ss - ds * rs) / determinant,
                        (dd * rs - ds * rd) / determinant * (1.0 - share),
                    ]
                };
                let difference = SQRT_2 * residual_d;
                tally.squares += difference * difference;
                let label = self.labels[i] - self.labels[j];
                let predicted = (label - difference) / self.scale;
                let order = self.as_given[i].total_cmp(&self.as_given[j]);
                if self.as_given[i] != self.as_given[j] {
                    tally.pairs += 1;
                    tally.ordered += match predicted {
                        near if near.abs() <= self.tie => 0.5,
                        other if (other > 0.0) == order.is_gt() => 1.0,
                        _ => 0.0,
                    };
                }
                if self.keep {
                    let prediction = |row: usize, sign: f64| {
                        let residual = (residual_s + sign * residual_d) / SQRT_2;
                        (self.labels[row] - residual) / self.scale
                    };
                    let rows = [i, j].map(|row| row_number(self.first + row));
                    let pair = (rows, [prediction(i, 1.0), prediction(j, -1.0)]);
                    tally.kept.push(pair);
                }
            }
        }
        tally
    }
}

impl Tally {
    /// Both together.
    fn with(mut self, mut other: Self) -> Self {
        self.squares += other.squares;
        self.pairs += other.pairs;
        self.ordered += other.ordered;
        self.kept.append(&mut other.kept);
        self.singular |= other.singular;
        self
    }
}
