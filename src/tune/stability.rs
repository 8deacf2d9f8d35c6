//! The stability of selections: do data that differ a little, or other seeds, lead to the same features?

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

/// The 0.975 quantile of the normal distribution.
const NORMAL: f64 = 1.959_963_984_540_054;

/// How often features are selected, and the index of Nogueira, Sechidis and Brown, *On the
/// Stability of Feature Selection Algorithms*, Journal of Machine Learning Research 18 (2018).
///
/// ```
/// use rankrls::tune::Stability;
///
/// let stability = Stability::new(&[vec![3, 8], vec![8, 3], vec![8, 5]], 100);
/// let counts = stability.frequencies.iter().map(|found| (found.feature, found.selections));
/// assert!(counts.eq([(8, 3), (3, 2), (5, 1)]));
/// assert!(stability.index > Some(0.6) && stability.index < Some(0.7));
/// ```
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Stability {
    /// The number of compared selections.
    pub selections: usize,
    /// 1 for equal selections, about 0 if they agree no more than random draws, from `-1 / (selections - 1)` on.
    /// `None` for fewer than two selections, and if all of them have no candidate or every candidate.
    pub index: Option<f64>,
    /// The interval with the index of unlimited selections at a probability of 0.95, if the selections are drawn
    /// independently. Folds are not quite independent.
    pub interval: Option<[f64; 2]>,
    /// All features that some selection has: the most frequent first, then in ascending order.
    pub frequencies: Vec<Frequency>,
}

/// How often a feature is selected.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Frequency {
    /// The feature, by the numbers of the selections.
    pub feature: u64,
    /// Selections that have it.
    pub selections: usize,
}

impl Stability {
    /// The stability of `selections` among so many `candidates`. The order within a selection does not count.
    pub fn new(selections: &[Vec<u64>], candidates: usize) -> Self {
        let sets: Vec<BTreeSet<u64>> = selections
            .iter()
            .map(|features| features.iter().copied().collect())
            .collect();
        let mut counts: BTreeMap<u64, usize> = BTreeMap::new();
        for feature in sets.iter().flatten() {
            *counts.entry(*feature).or_default() += 1;
        }
        let index = index(&sets, &counts, candidates);
        let counted = counts.into_iter();
        let mut frequencies: Vec<Frequency> = counted
            .map(|(feature, count)| Frequency {
                feature,
                selections: count,
            })
            .collect();
        // Stable, so that features stay in order.
        frequencies.sort_by_key(|found| std::cmp::Reverse(found.selections));
        Self {
            selections: sets.len(),
            index: index.map(|(index, _)| index),
            interval: index.map(|(index, variance)| {
                let half = NORMAL * variance.sqrt();
                [index - half, index + half]
            }),
            frequencies,
        }
    }
}

/// Definition 4 and the variance of Theorem 7. Features that nobody selected add 0 to the sums.
fn index(
    sets: &[BTreeSet<u64>],
    counts: &BTreeMap<u64, usize>,
    candidates: usize,
) -> Option<(f64, f64)> {
    let (m, d) = (sets.len() as f64, candidates as f64);
    let size = |set: &BTreeSet<u64>| set.len() as f64;
    let mean = sets.iter().map(size).sum::<f64>() / m;
    let spread = mean / d * (1.0 - mean / d);
    // NaN without sets or candidates.
    if sets.len() < 2 || spread.is_nan() || spread <= 0.0 {
        return None;
    }
    let share = |feature: &u64| counts[feature] as f64 / m;
    let variances = counts
        .keys()
        .map(|feature| share(feature) * (1.0 - share(feature)));
    let index = 1.0 - m / (m - 1.0) * variances.sum::<f64>() / d / spread;
    let part = |set: &BTreeSet<u64>| {
        let (k, common) = (size(set), set.iter().map(share).sum::<f64>());
        let centre = 2.0 * mean * k / (d * d) - k / d - mean / d + 1.0;
        (common / d - k * mean / (d * d) + index / 2.0 * centre) / spread
    };
    let parts: Vec<f64> = sets.iter().map(part).collect();
    let centre = parts.iter().sum::<f64>() / m;
    let squares = parts.iter().map(|part| (part - centre) * (part - centre));
    Some((index, 4.0 / (m * m) * squares.sum::<f64>()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Expected values from the formulas of the paper in exact fractions, by a program in Python
    /// that shares nothing with this one.
    #[test]
    fn the_index_and_its_interval_are_those_of_the_paper() {
        type Case = (&'static [&'static [u64]], usize, [f64; 3]);
        let cases: [Case; 4] = [
            (
                &[&[1, 2, 3], &[4, 2, 1], &[1, 2, 3], &[1, 5, 6]],
                10,
                [
                    0.365_079_365_079_365_06,
                    0.079_310_812_915_358_52,
                    0.650_847_917_243_371_7,
                ],
            ),
            (
                &[&[0, 1], &[0, 1, 2, 3], &[0, 4, 5]],
                7,
                [
                    0.027_777_777_777_777_776,
                    -0.204_637_486_990_640_22,
                    0.260_193_042_546_195_74,
                ],
            ),
            (&[&[0, 1], &[0, 1]], 5, [1.0; 3]),
            (&[&[0, 1], &[2, 3], &[4, 5]], 6, [-0.5; 3]),
        ];
        for (sets, candidates, [index, low, high]) in cases {
            let selections: Vec<Vec<u64>> = sets.iter().map(|set| set.to_vec()).collect();
            let stability = Stability::new(&selections, candidates);
            let [found_low, found_high] = stability.interval.unwrap();
            for (found, expected) in [
                (stability.index.unwrap(), index),
                (found_low, low),
                (found_high, high),
            ] {
                assert!((found - expected).abs() < 1e-12, "{found} for {expected}");
            }
        }
    }

    #[test]
    fn where_nothing_can_differ_there_is_no_index() {
        for (sets, candidates) in [
            (vec![], 3),
            (vec![vec![1]], 3),
            (vec![vec![], vec![]], 3),
            (vec![vec![1, 2], vec![1, 2]], 2),
            (vec![vec![], vec![]], 0),
        ] {
            let found = Stability::new(&sets, candidates);
            assert_eq!((found.index, found.interval), (None, None), "{sets:?}");
        }
    }
}
