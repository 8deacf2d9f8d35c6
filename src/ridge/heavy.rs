//! The columns of largest norm, which the preconditioner of conjugate gradients solves together.
//!
//! Let `B` be the blocks of the queries and `H` these columns of `X^`. The preconditioner is
//! `B + H H'`, by Woodbury's identity:
//! `(B + H H')^-1 = B^-1 - B^-1 H (I + H' B^-1 H)^-1 H' B^-1`. They make the largest eigenvalues of
//! `X^ X^'`, which grow with the rows, while a block knows one query.

use rayon::prelude::*;

use super::conjugate::Block;
use super::design::Design;
use super::factor::{Cholesky, Panel, Square};
use crate::interrupt::check_interrupt;

/// Most columns.
const MOST: usize = 512;

/// Rows that a column has to save iterations on, to be worth its products in every iteration.
const ROWS_EACH: usize = 256;

/// Rows of `X^` that are multiplied at a time.
const ROWS: usize = 1024;

/// The heaviest columns `H`.
#[derive(Debug)]
pub(super) struct Heavy {
    /// Their classes, ascending.
    pub(super) classes: Vec<usize>,
    /// The place of each class among them, or `u32::MAX`.
    places: Vec<u32>,
}

impl Heavy {
    pub(super) fn new(design: &Design<'_>) -> Self {
        let most = MOST.min(design.queries().rows() / ROWS_EACH);
        let sizes = design.squared_sizes();
        let mut classes: Vec<usize> = (0..sizes.len()).collect();
        classes.sort_by(|&a, &b| sizes[b].total_cmp(&sizes[a]));
        classes.truncate(most);
        classes.sort_unstable();
        let mut places = vec![u32::MAX; sizes.len()];
        for (&class, place) in classes.iter().zip(0..) {
            places[class] = place;
        }
        Self { classes, places }
    }

    /// `I + H' B^-1 H` for the blocks `B` with the ridge parameter `lambda`.
    ///
    /// `O(m |H|^2)` time.
    pub(super) fn inner(&self, design: &Design<'_>, blocks: &[Block], lambda: f64) -> Square {
        let mut inner = Square::zeros(self.classes.len());
        inner.add_to_diagonal(1.0);
        let queries: Vec<usize> = (0..design.queries().len()).collect();
        self.add(design, blocks, lambda, &queries, 1.0, &mut inner);
        inner
    }

    /// The factor of that matrix without the queries of the rows `out`; `None` where numbers fail.
    pub(super) fn factor(
        &self,
        design: &Design<'_>,
        blocks: &[Block],
        lambda: f64,
        out: &[usize],
        inner: &Square,
    ) -> Option<Cholesky> {
        let mut queries: Vec<usize> = out
            .iter()
            .map(|&row| design.queries().of_row(row))
            .collect();
        queries.dedup();
        let mut inner = inner.clone();
        self.add(design, blocks, lambda, &queries, -1.0, &mut inner);
        Cholesky::of(inner)
    }

    /// Adds `sign` times the share of `queries` in it.
    fn add(
        &self,
        design: &Design<'_>,
        blocks: &[Block],
        lambda: f64,
        queries: &[usize],
        sign: f64,
        inner: &mut Square,
    ) {
        let (width, size) = (self.classes.len(), |query: usize| {
            design.queries().range(query).len()
        });
        let mut rest = queries;
        while !rest.is_empty() {
            check_interrupt();
            let (mut rows, mut many) = (0, 0);
            while rows < ROWS && many < rest.len() {
                rows += size(rest[many]);
                many += 1;
            }
            let (now, later) = rest.split_at(many);
            let mut panel = Panel::zeros(width, rows);
            let mut slots = panel.values_mut();
            let part = |&query: &usize| {
                let own = slots.split_off_mut(..width * size(query));
                (query, own.unwrap_or_default())
            };
            let parts: Vec<(usize, &mut [f64])> = now.iter().map(part).collect();
            parts.into_par_iter().for_each(|(query, slots)| {
                design.fill_examples(query, &self.places, width, slots);
                blocks[query].halve(lambda, width, slots);
            });
            inner.add_products(panel.matrix(), sign);
            rest = later;
        }
    }
}
