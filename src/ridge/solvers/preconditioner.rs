//! The preconditioner of conjugate gradients: `B + H H'`, blocks of queries and the heaviest columns.
//!
//! `B` is the part of `K = X^ X^'` in which a query meets itself ([`Block`]). `H` are the columns of
//! largest norm of `X^`. They make the largest eigenvalues of `K`, which grow with the rows, while a
//! block knows one query. By Woodbury's identity (*Inverting modified matrices*, 1950)
//!
//! ```text
//! (B + H H')^-1 = B^-1 - B^-1 H (I + H' B^-1 H)^-1 H' B^-1
//! ```

use rayon::prelude::*;

use crate::interrupt::check_interrupt;
use crate::linalg::factor::{Cholesky, Panel, Square};
use crate::ridge::blocks::Block;
use crate::ridge::design::Design;

/// Most columns.
const MOST: usize = 512;

/// Rows for each column: with fewer, a column costs more products than it saves iterations.
const ROWS_EACH: usize = 256;

/// Rows of `X^` that are multiplied at a time.
const ROWS: usize = 1024;

/// The blocks of all queries, and the heaviest columns.
#[derive(Debug)]
pub(super) struct Preconditioner {
    pub(super) blocks: Vec<Block>,
    pub(super) heavy: Heavy,
}

impl Preconditioner {
    /// `shift` is of the size of the diagonal of `K`: what the preconditioner has for directions
    /// that are not centred, none of which is met.
    pub(super) fn new(design: &Design<'_>, shift: f64) -> Self {
        let queries = (0..design.queries().len()).into_par_iter();
        let block = |query| design.rows.block(&design.features, query, shift);
        Self {
            blocks: queries.map(block).collect(),
            heavy: Heavy::new(design),
        }
    }

    /// `I + H' B^-1 H`, where `B` has the ridge parameter `lambda`; `None` without columns `H`.
    ///
    /// `O(m |H|^2)` time.
    pub(super) fn inner(&self, design: &Design<'_>, lambda: f64) -> Option<Square> {
        let mut inner = Square::zeros(self.heavy.classes.len());
        inner.add_to_diagonal(1.0);
        let queries: Vec<usize> = (0..design.queries().len()).collect();
        self.add(design, lambda, &queries, 1.0, &mut inner);
        (inner.size() > 0).then_some(inner)
    }

    /// The factor of that matrix without the queries of the rows `out`; `None` where numbers fail.
    pub(super) fn factor(
        &self,
        design: &Design<'_>,
        lambda: f64,
        out: &[usize],
        inner: &Square,
    ) -> Option<Cholesky> {
        let queries = out.iter().map(|&row| design.queries().of_row(row));
        let mut queries: Vec<usize> = queries.collect();
        queries.dedup();
        let mut inner = inner.clone();
        self.add(design, lambda, &queries, -1.0, &mut inner);
        Cholesky::of(inner)
    }

    /// Adds `sign` times the share of `queries` in it.
    fn add(
        &self,
        design: &Design<'_>,
        lambda: f64,
        queries: &[usize],
        sign: f64,
        inner: &mut Square,
    ) {
        let width = self.heavy.classes.len();
        let size = |query: usize| design.queries().range(query).len();
        let mut rest = queries;
        while !rest.is_empty() && width > 0 {
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
                design.fill_query(query, &self.heavy.places, slots);
                self.blocks[query].halve(lambda, width, slots);
            });
            inner.add_products(panel.matrix(), sign);
            rest = later;
        }
    }
}

/// The heaviest columns `H`.
#[derive(Debug)]
pub(super) struct Heavy {
    /// Their classes, ascending.
    pub(super) classes: Vec<usize>,
    /// The place of each class among them, or `u32::MAX`.
    places: Vec<u32>,
}

impl Heavy {
    fn new(design: &Design<'_>) -> Self {
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
}
