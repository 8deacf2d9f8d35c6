//! `(K + ridge I) a = y^` for `K = X^ X^'`, with one unknown for each row: kernel ridge regression (Saunders,
//! Gammerman and Vovk, *Ridge regression learning algorithm in dual variables*, ICML 1998).
//!
//! `K` is 0 on vectors that are constant in a query, where `K + ridge I` would be as small as the ridge parameter.
//! `y^` is centred, so exact arithmetic never goes there, but rounding errors would be divided by it. So `K + mu J`
//! takes its place in the factor, where `J` averages over every query and `mu` is the mean of the diagonal of `K`.
//! Both matrices have the same inverse on centred vectors.

use std::num::Saturating;

use rayon::prelude::*;

use super::{Factored, Solution, Solve, SolverFacts, batch_rows, factor_seconds, size};
use crate::linalg::factor::{BLOCK, Cholesky, Panel, Square};
use crate::ridge::shape::TrainShape;
use crate::ridge::system::System;
use crate::stop;

pub(super) const FACTS: SolverFacts = SolverFacts {
    name: "dual",
    factors: true,
    matrices: |shape| {
        let rows = size(shape.rows);
        Saturating(8) * rows * (Saturating(2) * rows + batch_rows(shape))
    },
    cost: |shape: &TrainShape| 0.5e-9 * shape.squares + factor_seconds(shape, shape.rows as f64),
    build: |system| Box::new(Dual(system.kernel_matrix(system.mean_diagonal))),
};

/// `K + mu J`.
#[derive(Debug)]
struct Dual(Square);

impl Solve for Dual {
    fn train(&self, system: &System<'_>, ridge: f64) -> Option<Solution> {
        let cholesky = Cholesky::new(&self.0, ridge)?;
        let mut coefficients = system.labels.clone();
        cholesky.solve(&mut coefficients);
        // They are centred, up to rounding.
        system.rows.centre(&mut coefficients);
        let average = 1.0 / (ridge + system.mean_diagonal);
        Some(Solution {
            factored: Some(Box::new(Factors { cholesky, average })),
            ..Solution::of_coefficients(system, ridge, coefficients)
        })
    }
}

/// The factor of `K + mu J + ridge I`.
#[derive(Debug)]
struct Factors {
    cholesky: Cholesky,
    /// `1 / (ridge + mu)`.
    average: f64,
}

/// `G = (K + mu J + ridge I)^-1`.
impl Factored for Factors {
    fn average(&self) -> f64 {
        self.average
    }

    fn half(&self, _: &System<'_>, rows: &[usize]) -> Panel {
        let size = self.cholesky.size();
        let mut panel = Panel::zeros(size, rows.len());
        let blocks = panel.values_mut().par_chunks_mut(size * BLOCK);
        blocks.zip(rows.par_chunks(BLOCK)).for_each(|(units, own)| {
            if stop::requested() {
                return;
            }
            for (unit, &row) in units.chunks_mut(size).zip(own) {
                unit[row] = 1.0;
            }
            let first = own.iter().copied().min();
            self.cholesky.half(units, first.unwrap_or(0));
        });
        panel
    }
}
