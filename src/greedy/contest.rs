//! Who wins a step: the tie rule of `docs/derivation.md`, section 9, as one associative reduction.

use crate::peers::low;

/// Errors within this share of the least are equal: symmetric columns tie in
/// exact arithmetic, and rounding must not decide between them.
pub const TIE_TOLERANCE: f64 = 1e-10;

/// One judged candidate.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Entrant {
    /// The criterion's value if this candidate is added: for all strategies but
    /// `backfit` the leave-query-out error, or 1 less the ranking measure.
    pub error: f64,
    /// 0-based feature that represents the candidate: decides ties.
    pub feature: u32,
}

impl Entrant {
    /// Whether `self` is no worse than `other` in error and in feature.
    fn beats(&self, other: &Self) -> bool {
        self.error <= other.error && self.feature <= other.feature
    }
}

/// What is left of `error` after `gain`: not negative but for rounding, and no number if the
/// gain is none, which [`f64::max`] would hide.
pub(super) fn error_left(error: f64, gain: f64) -> f64 {
    let left = error - gain;
    if left < 0.0 { 0.0 } else { left }
}

/// The candidates that can still win a step.
///
/// The winner is the lowest feature among those whose error is within
/// [`TIE_TOLERANCE`] of the least. The least is not known before all have been
/// judged, so a contest keeps the *staircase* of entrants that no other beats in
/// both error and feature and that are within tolerance of the least so far; it
/// seldom has a second step. Merging is associative and commutative, so threads
/// and processes may judge in any order and reduce in any shape: one reduction a
/// step tells everyone the winner.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Contest {
    /// Errors ascending, features descending.
    leaders: Vec<Entrant>,
}

impl Contest {
    /// Lets a candidate take part. An error that is not a number never wins.
    pub fn enter(&mut self, entrant: Entrant) {
        if entrant.error.is_nan() || entrant.error > self.limit() {
            return;
        }
        if self.leaders.iter().any(|leader| leader.beats(&entrant)) {
            return;
        }
        self.leaders.retain(|leader| !entrant.beats(leader));
        let place = self
            .leaders
            .partition_point(|leader| leader.error < entrant.error);
        self.leaders.insert(place, entrant);
        let limit = self.limit();
        self.leaders.retain(|leader| leader.error <= limit);
    }

    /// Both contests' candidates in one.
    #[must_use]
    pub fn merge(mut self, other: Self) -> Self {
        for entrant in other.leaders {
            self.enter(entrant);
        }
        self
    }

    /// The same contest for other ranks: two words for each leader.
    pub(super) fn words(&self) -> impl Iterator<Item = u64> {
        let leaders = self.leaders.iter();
        leaders.flat_map(|leader| [leader.error.to_bits(), u64::from(leader.feature)])
    }

    /// The contest of another rank's words.
    pub(super) fn of_words(words: &[u64]) -> Self {
        let leaders = words.chunks_exact(2).map(|pair| Entrant {
            error: f64::from_bits(pair[0]),
            feature: low(&pair[1]),
        });
        Self {
            leaders: leaders.collect(),
        }
    }

    /// An error above this can not win any more.
    pub fn limit(&self) -> f64 {
        match self.leaders.first() {
            Some(least) => least.error * (1.0 + TIE_TOLERANCE),
            None => f64::INFINITY,
        }
    }

    /// The lowest feature within tolerance of the least error.
    pub fn winner(&self) -> Option<Entrant> {
        self.leaders.last().copied()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn contest(entrants: &[(f64, u32)]) -> Contest {
        let mut contest = Contest::default();
        for &(error, feature) in entrants {
            contest.enter(Entrant { error, feature });
        }
        contest
    }

    /// The tie rule as the derivation words it.
    fn winner_by_definition(entrants: &[(f64, u32)]) -> Option<u32> {
        let least = entrants
            .iter()
            .map(|entrant| entrant.0)
            .fold(f64::INFINITY, f64::min);
        let tied = entrants
            .iter()
            .filter(|entrant| entrant.0 <= least * (1.0 + TIE_TOLERANCE));
        tied.map(|entrant| entrant.1).min()
    }

    /// The feature that wins.
    fn winner(entrants: &[(f64, u32)]) -> Option<u32> {
        contest(entrants).winner().map(|entrant| entrant.feature)
    }

    #[test]
    fn a_tie_goes_to_the_lower_feature() {
        assert_eq!(winner(&[(1.0, 7), (1.0 + 1e-11, 3)]), Some(3));
        assert_eq!(winner(&[(1.0, 7), (1.0 + 1e-9, 3)]), Some(7));
        assert_eq!(winner(&[]), None);
        // Not a number never wins.
        assert_eq!(winner(&[(f64::NAN, 0), (5.0, 1)]), Some(1));
    }

    #[test]
    fn a_new_least_error_can_disqualify_the_winner() {
        let entrants = [(1.0 + 1.5e-10, 1), (1.0 + 0.8e-10, 2), (1.0, 3)];
        assert_eq!(winner(&entrants[..2]), Some(1));
        assert_eq!(winner(&entrants), Some(2));
    }

    proptest! {
        #[test]
        fn any_order_and_any_split_give_the_same_winner(
            steps in prop::collection::vec((0u32..40, 0u32..50), 1..30),
            cut in 0usize..30,
        ) {
            let entrants: Vec<(f64, u32)> =
                steps.iter().map(|&(step, feature)| (1.0 + f64::from(step) * 2e-11, feature)).collect();
            let (left, right) = entrants.split_at(cut.min(entrants.len()));
            let merged = contest(right).merge(contest(left));
            let expected = winner_by_definition(&entrants);
            prop_assert_eq!(merged.winner().map(|entrant| entrant.feature), expected);
        }
    }
}
