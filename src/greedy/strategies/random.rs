//! A random feature in every step: no strategy should fall below this baseline.

use crate::greedy::strategy::Facts;
use crate::greedy::{Round, Strategy, Work};

pub(super) const FACTS: Facts = Facts {
    name: "random",
    baseline: true,
    sample: Some(1),
    cost: |_| 0.0,
    build: |_, _| Box::new(Random),
    ..Facts::USUAL
};

/// Takes the candidate that the [`Sampler`](super::Sampler) draws in each step, without judging.
#[derive(Debug, Default)]
struct Random;

impl Strategy for Random {
    fn errors(&mut self, _: &Round<'_>, eligible: &[u32]) -> Vec<f64> {
        vec![0.0; eligible.len()]
    }

    fn work(&self, _: usize) -> Work {
        Work::default()
    }
}
