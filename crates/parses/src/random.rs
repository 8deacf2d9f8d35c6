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

// Draws from a list by integer weights.

/// Items with cumulated integer weights, drawn by binary search.
#[derive(Debug, Clone, Default)]
pub(super) struct Weighted {
    items: Vec<u32>,
    /// Sums of weights up to and including each item.
    sums: Vec<u64>,
}

impl Weighted {
    /// Adds an item with a weight.
    pub(super) fn push(&mut self, item: u32, weight: u64) {
        self.items.push(item);
        self.sums.push(self.total() + weight);
    }

    /// Adds an item with the weight that Zipf's law gives the next rank: in proportion to
    /// `1 / (rank + 2)`, the first rank being 1. The shift is Mandelbrot's: it keeps the first
    /// few words from being most of the text.
    pub(super) fn push_zipf(&mut self, item: u32) {
        let rank = self.items.len() as u64 + 1;
        self.push(item, (1 << 32) / (rank + 2));
    }

    fn total(&self) -> u64 {
        self.sums.last().copied().unwrap_or(0)
    }

    /// Whether there is nothing to draw.
    pub(super) fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    /// An item with a chance in proportion to its weight.
    ///
    /// # Panics
    /// When there is none.
    pub(super) fn draw(&self, draws: &mut Draws) -> u32 {
        let mark = draws.below(self.total());
        self.items[self.sums.partition_point(|&sum| sum <= mark)]
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

    #[test]
    fn frequencies_follow_the_weights() {
        let mut weighted = Weighted::default();
        for item in 0..4 {
            weighted.push_zipf(item);
        }
        let mut counts = [0u32; 4];
        let mut draws = Draws::new(7, 1);
        for _ in 0..9500 {
            counts[weighted.draw(&mut draws) as usize] += 1;
        }
        // Weights 1/3, 1/4, 1/5, 1/6: shares 20, 15, 12 and 10 of 57.
        for (count, share) in counts.iter().zip([20, 15, 12, 10]) {
            let expected = 9500 * share / 57;
            assert!(count.abs_diff(expected) < 200, "{counts:?}");
        }
    }
}
