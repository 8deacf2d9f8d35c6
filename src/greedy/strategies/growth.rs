//! The growth of bounds that are kept from step to step.
//!
//! A bound is a sum over the queries that a candidate touches, of a number for each query and a surcharge. From one
//! step to the next it grows by no more than the largest factor by which the number of any query, with its
//! surcharge, does. The growth is the product of these factors: a bound over the growth of its step, times the
//! growth now, is a bound now (`docs/derivation.md`, section 11).

/// How many times the mean of all numbers is the surcharge: more slows the growth, and loosens the bounds.
pub(super) const SURCHARGE: f64 = 3.0;

/// The growth of bounds since the first step.
#[derive(Debug, Default)]
pub(super) struct Growth {
    /// Added to the number of each query: otherwise a query with a tiny number could soon have many times as much.
    pub(super) surcharge: f64,
    /// The product of all factors so far, 1 in the first step.
    pub(super) now: f64,
    begun: bool,
}

impl Growth {
    /// Follows the growth to the next step, with the numbers of each query before and now, and the surcharge now.
    pub(super) fn follow(&mut self, numbers: impl Iterator<Item = [f32; 2]>, surcharge: f64) {
        let factor = |[before, now]: [f32; 2]| {
            (f64::from(now) + surcharge) / (f64::from(before) + self.surcharge)
        };
        let largest = numbers.map(factor).fold(0.0, f64::max);
        self.now = if self.begun { self.now * largest } else { 1.0 };
        (self.surcharge, self.begun) = (surcharge, true);
    }
}

/// The next number of single precision above `x`. It is more by at least 3e-8 of it, which exceeds the rounding of
/// sums of such numbers.
#[expect(clippy::cast_possible_truncation, reason = "the next one is no less")]
pub(super) fn no_less(x: f64) -> f32 {
    (x as f32).next_up()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_number_outgrows_the_bounds() {
        let steps = [[4.0, 0.5, 0.0], [1.0, 0.75, 0.25], [0.5, 3.0, 0.0]];
        let surcharges = [2.0, 1.0, 0.5];
        let mut growth = Growth::default();
        let (mut before, mut kept) = ([0.0; 3], [f64::INFINITY; 3]);
        for (now, surcharge) in steps.into_iter().zip(surcharges) {
            growth.follow(before.into_iter().zip(now).map(|(a, b)| [a, b]), surcharge);
            for (kept, now) in kept.iter_mut().zip(now) {
                let bound = f64::from(now) + surcharge;
                assert!(*kept * growth.now >= bound);
                *kept = bound / growth.now;
            }
            before = now;
        }
        // The second query grows most, from 2.5 to 1.75 and from 1.75 to 3.5.
        assert!((growth.now - 1.4).abs() < 1e-15);
    }
}
