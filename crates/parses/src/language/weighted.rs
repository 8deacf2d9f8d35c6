//! Draws from a list by integer weights.

use crate::random::Draws;

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
