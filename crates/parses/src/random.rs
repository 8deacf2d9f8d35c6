//! Random numbers that are the same everywhere.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

/// A stream of draws, fixed by a seed and a stream number.
///
/// Only integers are drawn, by arithmetic kept here: neither the platform nor the release of a
/// random number library changes a corpus.
#[derive(Debug)]
pub(super) struct Draws(ChaCha8Rng);

impl Draws {
    /// Stream `stream` of `seed`.
    pub(super) fn new(seed: u64, stream: u64) -> Self {
        let mut key = [0; 32];
        key[..8].copy_from_slice(&seed.to_le_bytes());
        let mut generator = ChaCha8Rng::from_seed(key);
        generator.set_stream(stream);
        Self(generator)
    }

    /// A number below `bound`, which is at least 1. The multiplication favours some numbers by
    /// a share of at most `bound / 2^64`.
    pub(super) fn below(&mut self, bound: u64) -> u64 {
        let product = u128::from(self.0.next_u64()) * u128::from(bound);
        u64::try_from(product >> 64).expect("a number below the bound")
    }

    /// A small number below a `bound` of at least 1.
    pub(super) fn small(&mut self, bound: u8) -> u8 {
        u8::try_from(self.below(u64::from(bound))).expect("a number below the bound")
    }

    /// True `percent` times in a hundred.
    pub(super) fn chance(&mut self, percent: u32) -> bool {
        self.below(100) < u64::from(percent)
    }

    /// One of `items`, all alike.
    pub(super) fn pick<'a, T>(&mut self, items: &'a [T]) -> &'a T {
        let position = usize::try_from(self.below(items.len() as u64));
        &items[position.expect("a position in memory")]
    }

    /// The numbers `0..count` in random order.
    pub(super) fn permutation(&mut self, count: u8) -> Vec<u8> {
        let mut numbers: Vec<u8> = (0..count).collect();
        for last in (1..count).rev() {
            let other = self.small(last + 1);
            numbers.swap(usize::from(last), usize::from(other));
        }
        numbers
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_repeat_and_differ() {
        let numbers = |seed, stream| {
            let mut draws = Draws::new(seed, stream);
            [(); 8].map(|()| draws.below(1000))
        };
        assert_eq!(numbers(1, 2), numbers(1, 2));
        assert_ne!(numbers(1, 2), numbers(1, 3));
        assert_ne!(numbers(1, 2), numbers(2, 2));
        assert!(numbers(1, 2).iter().all(|&number| number < 1000));
    }

    #[test]
    fn permutations_hold_every_number() {
        let mut numbers = Draws::new(3, 0).permutation(12);
        numbers.sort_unstable();
        assert_eq!(numbers, (0..12).collect::<Vec<_>>());
    }
}
