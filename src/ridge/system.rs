//! The least squares of the compared rows. Their matrix `X^ = B X diag(sqrt(k))` is never formed.
//!
//! `B` compares rows ([`Comparisons`]), `X` has a column for each class of `k` equal ones ([`Features`]). Centring
//! is implicit throughout: products with centred vectors need none, and results are centred later
//! (`docs/derivation.md`, section 12).

use std::borrow::Cow;

use rayon::prelude::*;

use super::comparisons::{Comparisons, Labelled};
use super::features::{ByRow, Features, Mean};
use crate::columns::{check_labels, check_lambda};
use crate::data::Queries;
use crate::error::{Error, Result, ensure};
use crate::lambda::Lambda;
use crate::linalg::factor::{Panel, Square};
use crate::linalg::kernels::add_scaled;

/// The least squares that solvers solve: `min_w |y^ - X^ w|^2 + ridge |w|^2`, for rows of comparisons x classes.
#[derive(Debug)]
pub(crate) struct System<'a> {
    pub(crate) rows: Comparisons,
    pub(crate) features: Features<'a>,
    /// `y^`: centred, weighted labels, one for each row.
    pub(crate) labels: Vec<f64>,
    /// [`Labelled::as_given`].
    pub(crate) as_given: Cow<'a, [f64]>,
    /// The mean of the diagonal of `X^ X^'`. The dual solver also uses it as `mu` in `K + mu J`.
    pub(crate) mean_diagonal: f64,
    /// The largest sum of squares of a column, 0 if columns are unknown.
    largest_square: f64,
}

impl<'a> System<'a> {
    pub(crate) fn new(comparisons: Labelled<'a>, features: Features<'a>) -> Result<Self> {
        check_labels(&comparisons.labels)?;
        let mut largest_square = 0.0;
        if let Features::Columns(columns) = &features {
            columns.classes.check_range()?;
            largest_square = columns.classes.largest_squared_norm();
        }
        let mean_diagonal = comparisons.rows.mean_diagonal(&features);
        ensure!(
            mean_diagonal.is_finite(),
            data,
            "the values are too large: the products of rows are no finite numbers; scale the data"
        );
        if let Features::Kernel(kernel) = &features {
            comparisons.rows.check_kernel(kernel, mean_diagonal)?;
        }
        Ok(Self {
            rows: comparisons.rows,
            features,
            labels: comparisons.labels,
            as_given: comparisons.as_given,
            mean_diagonal,
            largest_square,
        })
    }
}

impl System<'_> {
    pub(crate) fn queries(&self) -> &Queries {
        self.rows.queries()
    }

    /// The number of column classes; 0 if columns are unknown.
    pub(crate) fn classes(&self) -> usize {
        let columns = self.features.columns();
        columns.map_or(0, |columns| columns.counts.len())
    }

    /// `B' a`: coefficients of the rows of the data, from centred dual ones.
    pub(crate) fn of_data(&self, coefficients: &[f64]) -> Vec<f64> {
        let spread = self.rows.spread::<1>(coefficients.as_chunks().0);
        spread.as_flattened().to_vec()
    }

    /// The totals of the model with these centred dual coefficients `a`: `k x . B' a` for each canonical column
    /// `x`; empty if columns are unknown.
    pub(crate) fn totals(&self, coefficients: &[f64]) -> Vec<f64> {
        let mut totals = vec![[0.0]; self.classes()];
        if let Some(columns) = self.features.columns() {
            let spread = self.rows.spread(coefficients.as_chunks().0);
            columns.add_up::<1>(&spread, &mut totals);
        }
        totals.concat()
    }

    /// `X^' y^` for labels `y^` compared like the rows.
    pub(crate) fn moments(&self, labels: &[f64]) -> Vec<f64> {
        let totals = self.totals(labels);
        let pairs = totals.iter().zip(&self.features.known().counts);
        pairs.map(|(total, count)| total / count.sqrt()).collect()
    }

    /// The totals from the unknowns of the primal.
    pub(crate) fn totals_of(&self, unknowns: &[f64]) -> Vec<f64> {
        let pairs = unknowns.iter().zip(&self.features.known().counts);
        pairs
            .map(|(unknown, count)| unknown * count.sqrt())
            .collect()
    }

    /// The predictions of a model with these totals for the rows of `X^`.
    fn predictions(&self, totals: &[f64]) -> Vec<f64> {
        let mut predictions = vec![[0.0]; self.queries().rows()];
        let columns = self.features.known();
        self.rows.compare(&mut predictions, |rows| {
            columns.predict::<1>(totals.as_chunks().0, rows);
        });
        predictions.concat()
    }

    /// `X^ X^' v` for several centred `v`, a lane each. `totals` has a row for each class and is overwritten.
    ///
    /// `O(nnz L)` time.
    pub(crate) fn kernel<const L: usize>(
        &self,
        v: &[[f64; L]],
        totals: &mut [[f64; L]],
        product: &mut [[f64; L]],
    ) {
        let columns = self.features.known();
        columns.add_up(&self.rows.spread(v), totals);
        let predict = |rows: &mut [[f64; L]]| columns.predict(totals, rows);
        self.rows.compare(product, predict);
    }

    /// The squared norms of the columns of `X^`, before centring.
    pub(crate) fn squared_sizes(&self) -> Vec<f64> {
        let columns = self.features.known();
        let size = |(class, count): (usize, &f64)| {
            let values = columns.classes.column(class).values;
            count * values.iter().map(|value| value * value).sum::<f64>()
        };
        columns.counts.iter().enumerate().map(size).collect()
    }

    /// `N' v` for some columns `N` of `X^` and several centred `v`, a lane each.
    pub(crate) fn products<const L: usize>(
        &self,
        classes: &[usize],
        v: &[[f64; L]],
    ) -> Vec<[f64; L]> {
        let (columns, spread) = (self.features.known(), self.rows.spread(v));
        let product = |&class: &usize| {
            let root = columns.counts[class].sqrt();
            columns.total(class, &spread).map(|total| total / root)
        };
        classes.par_iter().with_max_len(1).map(product).collect()
    }

    /// `N v` for the columns `N` of `X^` in `columns`, and `coefficients` `v`.
    pub(crate) fn combination<const L: usize>(
        &self,
        columns: &ByRow,
        coefficients: &[[f64; L]],
        combination: &mut [[f64; L]],
    ) {
        let combine = |rows: &mut [[f64; L]]| columns.combine(coefficients, rows);
        self.rows.compare(combination, combine);
    }

    /// Writes the rows of `query` of these columns of `X^` side by side into `slots`, which are 0.
    pub(crate) fn fill_query(&self, query: usize, columns: &ByRow, slots: &mut [f64]) {
        self.rows.fill_query(columns, query, slots);
        let range = self.queries().range(query);
        for (row, of_row) in range.zip(slots.chunks_mut(columns.columns())) {
            let scale = self.rows.weight_root(row);
            for slot in of_row {
                *slot *= scale;
            }
        }
    }

    /// [`Loss::ridge`](super::comparisons::Loss::ridge), after a check of lambda against the columns.
    pub(crate) fn ridge(&self, lambda: Lambda, out: usize) -> Result<f64> {
        check_lambda(lambda, self.largest_square)?;
        self.rows.ridge(lambda, out)
    }

    /// The residuals of the labels under the model with these totals.
    pub(crate) fn residuals(&self, totals: &[f64]) -> Vec<f64> {
        let mut residuals = self.labels.clone();
        add_scaled(&mut residuals, -1.0, &self.predictions(totals));
        residuals
    }

    /// `X^ X^' + shift J`, lower triangle: see [`Loss`](super::comparisons::Loss).
    pub(crate) fn kernel_matrix(&self, shift: f64) -> Square {
        self.rows.kernel_matrix(&self.features, shift)
    }

    /// `C = X^' X^`, lower triangle.
    pub(crate) fn covariance(&self) -> Square {
        const EXAMPLES: usize = 512;
        let mut square = Square::zeros(self.classes());
        let mut mean = None;
        let examples: Vec<usize> = (0..self.queries().rows()).collect();
        for chunk in examples.chunks(EXAMPLES) {
            square.add_products(&self.some_examples(chunk, &mut mean).matrix(), 1.0);
        }
        square
    }

    /// Rows of `X^` as the columns of a dense matrix, classes x examples.
    pub(crate) fn examples(&self, examples: &[usize]) -> Panel {
        self.some_examples(examples, &mut None)
    }

    fn some_examples(&self, examples: &[usize], mean: &mut Mean) -> Panel {
        let columns = self.features.known();
        let roots: Vec<f64> = columns.counts.iter().map(|count| count.sqrt()).collect();
        let mut panel = Panel::zeros(roots.len(), examples.len());
        for (&row, slots) in examples.iter().zip(panel.columns_mut()) {
            self.rows.fill_row(columns, row, mean, slots);
            let scale = self.rows.weight_root(row);
            for (slot, root) in slots.iter_mut().zip(&roots) {
                *slot *= scale * root;
            }
        }
        panel
    }
}

/// The error for products of values or labels that are not finite.
pub(crate) fn too_large() -> Error {
    Error::numbers(
        "the values or labels are too large: their products are no finite numbers; scale the data",
    )
}
