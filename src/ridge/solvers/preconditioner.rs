//! The preconditioner of conjugate gradients: `E + N N'`, blocks of queries and the heaviest columns.
//!
//! `E` has the block `K_qq + ridge I` of each query `q`, in which it meets itself ([`QueryBlock`]). `N` are the columns
//! of largest norm of `X^`. They make the largest eigenvalues of `K`, which grow with the rows, while a
//! block knows one query. By Woodbury's identity (*Inverting modified matrices*, 1950)
//!
//! ```text
//! (E + N N')^-1 = E^-1 - E^-1 N (I + N' E^-1 N)^-1 N' E^-1
//! ```

use std::num::Saturating;

use rayon::prelude::*;

use super::size;

use crate::linalg::factor::{Cholesky, Panel, Square};
use crate::ridge::blocks::QueryBlock;
use crate::ridge::features::ByRow;
use crate::ridge::shape::TrainShape;
use crate::ridge::system::System;
use crate::stop;

/// Most columns.
const MOST: usize = 512;

/// Rows for each column: with fewer, a column costs more products than it saves iterations.
const ROWS_EACH: usize = 256;

/// Rows of `X^` in one product.
const ROWS: usize = 1024;

/// The blocks of all queries, and the heaviest columns.
#[derive(Debug)]
pub(super) struct Preconditioner {
    pub(super) blocks: Vec<QueryBlock>,
    pub(super) heavy: Heavy,
}

impl Preconditioner {
    /// `shift`, about as large as the diagonal of `K`, fills the directions that centring removed; no vector has
    /// them.
    pub(super) fn new(system: &System<'_>, shift: f64) -> Self {
        let queries = (0..system.queries().len()).into_par_iter();
        let block = |query| system.rows.block(&system.features, query, shift);
        Self {
            blocks: queries.map(block).collect(),
            heavy: Heavy::new(system),
        }
    }

    /// `I + N' E^-1 N` for this ridge parameter; `None` without columns `N`.
    ///
    /// `O(m c^2)` time for `c` columns.
    pub(super) fn inner(&self, system: &System<'_>, ridge: f64) -> Option<Square> {
        let mut inner = Square::zeros(self.heavy.classes.len());
        inner.add_to_diagonal(1.0);
        let queries: Vec<usize> = (0..system.queries().len()).collect();
        self.add(system, ridge, &queries, 1.0, &mut inner);
        (inner.size() > 0).then_some(inner)
    }

    /// The factor of that matrix without the queries of the rows `out`; `None` if numbers fail.
    pub(super) fn factor(
        &self,
        system: &System<'_>,
        ridge: f64,
        out: &[usize],
        inner: &Square,
    ) -> Option<Cholesky> {
        let by_row = out.iter().map(|&row| system.queries().of_row(row));
        let mut queries: Vec<usize> = by_row.collect();
        queries.dedup();
        let mut rest = inner.clone();
        self.add(system, ridge, &queries, -1.0, &mut rest);
        Cholesky::of(rest)
    }

    /// Adds `sign` times the share of `queries` in that matrix.
    fn add(
        &self,
        system: &System<'_>,
        ridge: f64,
        queries: &[usize],
        sign: f64,
        inner: &mut Square,
    ) {
        let width = self.heavy.classes.len();
        let size = |query: usize| system.queries().range(query).len();
        let mut rest = queries;
        while !rest.is_empty() && width > 0 && !stop::requested() {
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
            parts.into_par_iter().for_each(|(query, own)| {
                system.fill_query(query, &self.heavy.columns, own);
                self.blocks[query].halve(ridge, width, own);
            });
            inner.add_products(&panel.matrix(), sign);
            rest = later;
        }
    }
}

/// Most columns `N` for so many rows.
fn most_heavy(rows: usize) -> usize {
    MOST.min(rows / ROWS_EACH)
}

/// The most bytes for the entries of the heaviest columns.
pub(super) fn heavy_memory(shape: &TrainShape) -> Saturating<u64> {
    let most = size(most_heavy(shape.rows)) * size(shape.rows);
    Saturating(12) * most.min(size(shape.nonzeros))
}

/// The heaviest columns `N`.
#[derive(Debug)]
pub(super) struct Heavy {
    /// Their classes, ascending.
    pub(super) classes: Vec<usize>,
    /// Their entries alone, so a combination of few columns reads no others.
    pub(super) columns: ByRow,
}

impl Heavy {
    fn new(system: &System<'_>) -> Self {
        let most = most_heavy(system.queries().rows());
        let sizes = system.squared_sizes();
        let mut classes: Vec<usize> = (0..sizes.len()).collect();
        classes.sort_by(|&a, &b| sizes[b].total_cmp(&sizes[a]));
        classes.truncate(most);
        classes.sort_unstable();
        let columns = system.features.known().by_row(&classes);
        Self { classes, columns }
    }
}
