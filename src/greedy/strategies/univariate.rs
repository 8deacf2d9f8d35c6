//! The filter: it judges every feature alone, by the leave-query-out error of a model with no other feature. A
//! baseline: it does not see that features repeat each other.
//!
//! All candidates are judged once, in the first step, by equation (*) of `docs/derivation.md`,
//! section 4, with no feature selected: O(nnz + m n). Later steps take the next best.

use super::filter::Filter;
use super::lowmem;
use crate::greedy::Round;
use crate::greedy::strategy::{Facts, bytes};

pub(super) const FACTS: Facts = Facts {
    name: "univariate",
    samples: true,
    ranks: true,
    baseline: true,
    memory: |shape| (bytes(12) * bytes(shape.candidates) + lowmem::errors_memory(shape, 0)).0,
    build: |_, _| Filter::by(alone),
    ..Facts::USUAL
};

/// The leave-query-out error of each candidate alone.
fn alone(round: &Round<'_>) -> Vec<f64> {
    let all: Vec<u32> = (0u32..).take(round.candidates.len()).collect();
    let state = &round.state.without_features();
    lowmem::errors(&Round { state, ..*round }, &all)
}
