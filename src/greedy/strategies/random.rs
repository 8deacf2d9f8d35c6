//! A random feature in every step: the baseline below which nothing should fall.

use crate::greedy::strategy::Facts;
use crate::greedy::{Contest, Round, Strategy, Work};

pub(super) const FACTS: Facts = Facts {
    name: "random",
    summary: "Baseline: a random feature in every step",
    exact: false,
    samples: false,
    ranks: false,
    baseline: true,
    distils: false,
    sample: Some(1),
    memory: |shape| 4 * shape.candidates as u64,
    cost: |_| 0.0,
    build: |_, _| Box::new(Random),
};

/// Takes what the [`Sampler`](super::Sampler) draws, one candidate a step, without judging.
#[derive(Debug, Default)]
struct Random;

impl Strategy for Random {
    fn propose(&mut self, round: &Round<'_>) -> (Contest, Work) {
        let eligible = round.eligible_candidates();
        let first = &eligible[..eligible.len().min(1)];
        let contest = round.judge(first, 1, || (), |(), _| round.state.error());
        (contest, Work::default())
    }
}
