//! The columns of largest norm, which the preconditioner of conjugate gradients solves together.
//!
//! With `B` for the blocks of the queries and `H` for these columns of `X^`, the preconditioner is
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

/// The heaviest column classes, ascending.
pub(super) fn heaviest(design: &Design<'_>) -> Vec<usize> {
    let most = MOST.min(design.queries().rows() / ROWS_EACH);
    let mut classes: Vec<(usize, f64)> = design.squared_sizes().into_iter().enumerate().collect();
    classes.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    let mut heaviest: Vec<usize> = classes.iter().take(most).map(|(class, _)| *class).collect();
    heaviest.sort_unstable();
    heaviest
}

/// The factor of `I + H' B^-1 H` for the blocks `B` with the ridge parameter `lambda`; `None` where
/// numbers fail.
///
/// `O(m |H|^2)` time.
pub(super) fn factor(
    design: &Design<'_>,
    blocks: &[Block],
    heaviest: &[usize],
    lambda: f64,
) -> Option<Cholesky> {
    let (queries, width) = (design.queries(), heaviest.len());
    let mut square = Square::zeros(width);
    square.add_to_diagonal(1.0);
    let mut places = vec![u32::MAX; design.classes()];
    for (&class, place) in heaviest.iter().zip(0..) {
        places[class] = place;
    }
    let mut start = 0;
    while start < queries.len() {
        check_interrupt();
        let first = queries.range(start).start;
        let end = (start + 1..queries.len()).find(|&end| queries.range(end).start >= first + ROWS);
        let chunk = start..end.unwrap_or(queries.len());
        let mut panel = Panel::zeros(width, queries.rows_of(&chunk).len());
        let mut rest = panel.values_mut();
        let part = |query: usize| {
            let slots = rest.split_off_mut(..width * queries.range(query).len());
            (query, slots.unwrap_or_default())
        };
        let parts: Vec<(usize, &mut [f64])> = chunk.clone().map(part).collect();
        parts.into_par_iter().for_each(|(query, slots)| {
            design.fill_examples(query, &places, width, slots);
            blocks[query].halve(lambda, width, slots);
        });
        square.add_products(panel.matrix(), 1.0);
        start = chunk.end;
    }
    Cholesky::of(square)
}
