//! `(C + ridge I) w = X^' y^` for `C = X^' X^`, with one unknown for each column class: the normal equations (Hoerl
//! and Kennard, *Ridge regression: biased estimation for nonorthogonal problems*, Technometrics 12, 1970).

use std::borrow::Cow;
use std::num::Saturating;
use std::sync::Arc;

use ndarray::ArrayView2;
use rayon::prelude::*;

use super::factored::Left;
use super::{Factored, Solution, Solve, SolverFacts, batch_rows, factor_seconds, size};
use crate::linalg::factor::{BLOCK, Cholesky, Panel, Square};
use crate::linalg::kernels::{add_scaled, dot};
use crate::ridge::comparisons::pick;
use crate::ridge::shape::TrainShape;
use crate::ridge::system::System;
use crate::stop;

pub(super) const FACTS: SolverFacts = SolverFacts {
    name: "primal",
    factors: true,
    matrices: |shape| {
        let classes = size(shape.classes);
        Saturating(16) * classes * (classes + batch_rows(shape))
    },
    cost: |shape: &TrainShape| {
        let (rows, classes) = (shape.rows as f64, shape.classes as f64);
        0.05e-9 * rows * classes * classes + factor_seconds(shape, classes)
    },
    build: |system| {
        Box::new(Primal(Arc::new(Normal {
            covariance: system.covariance(),
            moments: system.moments(&system.labels),
        })))
    },
};

#[derive(Debug)]
struct Primal(Arc<Normal>);

/// The normal equations without a ridge parameter.
#[derive(Debug)]
struct Normal {
    /// `C = X^' X^`.
    covariance: Square,
    /// `X^' y^`.
    moments: Vec<f64>,
}

impl Solve for Primal {
    fn train(&self, system: &System<'_>, ridge: f64) -> Option<Solution> {
        let cholesky = Cholesky::new(&self.0.covariance, ridge)?;
        let mut unknowns = self.0.moments.clone();
        cholesky.solve(&mut unknowns);
        let normal = Arc::clone(&self.0);
        let factored = Factors {
            cholesky,
            ridge,
            normal,
        };
        Some(Solution {
            ridge,
            coefficients: Vec::new(),
            totals: system.totals_of(&unknowns),
            factored: Some(Box::new(factored)),
            ended: None,
        })
    }
}

/// The factor of the normal equations.
#[derive(Debug)]
struct Factors {
    cholesky: Cholesky,
    ridge: f64,
    normal: Arc<Normal>,
}

/// `ridge G = I - H` for `H = X^ (C + ridge I)^-1 X^'`, and `ridge a = y^ - X^ w`.
impl Factored for Factors {
    fn right<'s>(&self, system: &System<'_>, solution: &'s Solution) -> Cow<'s, [f64]> {
        Cow::Owned(system.residuals(&solution.totals))
    }

    fn average(&self) -> f64 {
        1.0
    }

    fn half(&self, system: &System<'_>, rows: &[usize]) -> Panel {
        let mut panel = system.examples(rows);
        let blocks = panel
            .values_mut()
            .par_chunks_mut(self.cholesky.size() * BLOCK);
        blocks.for_each(|examples| {
            if stop::requested() {
                return;
            }
            self.cholesky.half(examples, 0);
        });
        panel
    }

    fn block(&self, half: &ArrayView2<'_, f64>) -> Square {
        let mut square = Square::gram(half);
        let values = square.values_mut().iter_mut();
        values.for_each(|value| *value = -*value);
        square.add_to_diagonal(1.0);
        square
    }

    fn is_quicker_again(&self, rows: usize) -> bool {
        2 * rows > self.cholesky.size()
    }

    /// Solves the equations without the rows: less `X^_Q' M X^_Q`.
    fn again(&self, system: &System<'_>, rows: &[usize]) -> Option<Vec<f64>> {
        if stop::requested() {
            return None;
        }
        let Normal {
            covariance,
            moments,
        } = &*self.normal;
        let left = Left::new(system.queries(), rows);
        let mut panel = system.examples(rows);
        left.weigh(0.5, covariance.size(), panel.values_mut());
        let mut residuals = pick(&system.labels, rows);
        left.weigh(0.5, 1, &mut residuals);
        let mut rest = covariance.clone();
        rest.add_products(&panel.matrix(), -1.0);
        let mut weights = moments.clone();
        for (example, residual) in panel.columns_mut().zip(&residuals) {
            add_scaled(&mut weights, -residual, example);
        }
        rest.add_to_diagonal(self.ridge);
        Cholesky::of(rest)?.solve(&mut weights);
        for (example, residual) in panel.columns_mut().zip(&mut residuals) {
            *residual -= dot(example, &weights);
        }
        left.weigh(-0.5, 1, &mut residuals);
        Some(residuals)
    }
}
