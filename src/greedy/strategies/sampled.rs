//! `lowmem` on a fresh random subset of the candidates each step (Smola and Bartlett, 2001): O(k^2 m kappa) time
//! for `kappa` candidates. On request other strategies judge random subsets, too.

use rand::SeedableRng;
use rand::rngs::ChaCha8Rng;
use rand::seq::index;
use serde::{Deserialize, Serialize};

use super::lowmem;
use crate::greedy::strategy::{Facts, Shape};

/// The default number of drawn candidates: with probability 0.95 one of them is among the best 5%.
const DEFAULT_SAMPLE: usize = 59;

pub(super) const FACTS: Facts = Facts {
    name: "sampled",
    exact: false,
    sample: Some(DEFAULT_SAMPLE),
    memory: |shape| lowmem::errors_memory(shape, shape.k).0,
    cost: Shape::pass,
    ..lowmem::FACTS
};

/// Draws a fresh subset of the candidates for every step.
///
/// A step's subset depends on the seed and the step alone, not on earlier draws. So a resumed run makes the same
/// draws as an uninterrupted one. `ChaCha` gives the same numbers on every platform.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sampler {
    /// Candidates a step, `kappa`.
    pub size: usize,
    /// Seed of the draws.
    pub seed: u64,
}

impl Sampler {
    /// `size` of the given candidates, ascending; all of them if there are no more.
    pub fn draw(&self, step: usize, candidates: &[u32]) -> Vec<u32> {
        if self.size >= candidates.len() {
            return candidates.to_vec();
        }
        let mut generator = ChaCha8Rng::seed_from_u64(self.seed);
        generator.set_stream(step as u64);
        let drawn = index::sample(&mut generator, candidates.len(), self.size);
        let mut sample: Vec<u32> = drawn.into_iter().map(|place| candidates[place]).collect();
        sample.sort_unstable();
        sample
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_draws_the_same_from_release_to_release() {
        let candidates: Vec<u32> = (0..1000).collect();
        let sampler = Sampler { size: 5, seed: 1 };
        assert_eq!(sampler.draw(0, &candidates), sampler.draw(0, &candidates));
        assert_ne!(sampler.draw(0, &candidates), sampler.draw(1, &candidates));
        assert_eq!(sampler.draw(0, &candidates), [80, 211, 401, 547, 982]);
    }

    #[test]
    fn a_subset_is_distinct_and_ascending() {
        let candidates: Vec<u32> = (100..200).collect();
        let drawn = Sampler { size: 59, seed: 7 }.draw(3, &candidates);
        assert_eq!(drawn.len(), 59);
        assert!(drawn.windows(2).all(|pair| pair[0] < pair[1]));
        assert_eq!(
            Sampler { size: 100, seed: 7 }.draw(3, &candidates),
            candidates
        );
    }
}
