//! Normalised discounted cumulative gain.
//!
//! `DCG@K = sum_{i=1..min(K, n)} (2^{y_i} - 1) d(i)`, with `y_i` the label at
//! rank `i` and `d` the discount of the [`Convention`]; `NDCG@K` divides it by
//! the `DCG@K` of the documents in falling order of label (K. Järvelin and J.
//! Kekäläinen, ACM TOIS 20(4), 2002; gain of C. Burges et al., ICML 2005).
//!
//! DCG is linear in the gains, and within a block of tied documents every rank
//! expects the block's mean gain: the expectation is the DCG of the mean gains
//! (McSherry and Najork 2008, section 3). `O(n)` after the sort, no allocations.

use std::num::NonZeroUsize;

use super::Convention;
use super::ranking::Ranking;

/// NDCG at `k`.
///
/// With fewer than `k` documents: 0 under `letor`, of the whole query under
/// `standard`. Where the ideal DCG is not above 0: 0 under `letor`, `None` under
/// `standard`. `None` where gains overflow.
pub(super) fn ndcg(ranking: &Ranking, k: NonZeroUsize) -> Option<f64> {
    if ranking.convention == Convention::Letor && ranking.len() < k.get() {
        return Some(0.0);
    }
    let (found, ideal) = cumulative(ranking).take(k.get()).last()?;
    ratio(found, ideal, ranking.convention)
}

/// The mean of NDCG@1, ..., NDCG@n; `None` where one of them is.
pub(super) fn mean_ndcg(ranking: &Ranking) -> Option<f64> {
    let mut sum = 0.0;
    for (found, ideal) in cumulative(ranking) {
        sum += ratio(found, ideal, ranking.convention)?;
    }
    Some(sum / ranking.len() as f64)
}

/// Expected and ideal DCG at 1, ..., n.
fn cumulative(ranking: &Ranking) -> impl Iterator<Item = (f64, f64)> {
    let expected = ranking
        .blocks()
        .flat_map(|block| std::iter::repeat_n(block.mean(gain), block.len()));
    let ideal = ranking.ideal().iter().map(|&label| gain(label));
    (1..)
        .zip(expected.zip(ideal))
        .scan((0.0, 0.0), |sums, (rank, (expected, ideal))| {
            let discount = ranking.convention.discount(rank);
            sums.0 += expected * discount;
            sums.1 += ideal * discount;
            Some(*sums)
        })
}

/// NDCG from the two DCGs.
fn ratio(found: f64, ideal: f64, convention: Convention) -> Option<f64> {
    if ideal <= 0.0 {
        return convention.undefined();
    }
    Some(found / ideal).filter(|ratio| ideal.is_finite() && ratio.is_finite())
}

/// `2^label - 1`.
fn gain(label: f64) -> f64 {
    label.exp2() - 1.0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metrics::Convention::{Letor, Standard};

    const SCORES: [f64; 3] = [3.0, 2.0, 1.0];

    fn at(k: usize, labels: &[f64; 3], convention: Convention) -> Option<f64> {
        let ranking = Ranking::new(labels, &SCORES, convention)?;
        ndcg(&ranking, NonZeroUsize::new(k)?)
    }

    fn mean(labels: &[f64; 3], convention: Convention) -> Option<f64> {
        mean_ndcg(&Ranking::new(labels, &SCORES, convention)?)
    }

    fn assert_close(found: Option<f64>, expected: f64) {
        assert!((found.unwrap() - expected).abs() < 1e-15, "{found:?}");
    }

    #[test]
    fn gains_1_0_3_by_hand() {
        let labels = [1.0, 0.0, 2.0];
        let third = 1.0 / 3.0_f64.log2();
        assert_close(at(1, &labels, Standard), 1.0 / 3.0);
        assert_close(at(3, &labels, Standard), 2.5 / (3.0 + third));
        assert_eq!(at(4, &labels, Standard), at(3, &labels, Standard));
        assert_close(at(2, &labels, Letor), 0.25);
        assert_close(at(3, &labels, Letor), (1.0 + 3.0 * third) / 4.0);
        assert_eq!(at(4, &labels, Letor), Some(0.0));
        let sum = 1.0 / 3.0 + 0.25 + (1.0 + 3.0 * third) / 4.0;
        assert_close(mean(&labels, Letor), sum / 3.0);
        let sum = 1.0 / 3.0 + 1.0 / (3.0 + third) + 2.5 / (3.0 + third);
        assert_close(mean(&labels, Standard), sum / 3.0);
    }

    #[test]
    fn a_tie_shares_its_mean_gain() {
        let tied = |convention| {
            let ranking = Ranking::new(&[0.0, 2.0], &[1.0, 1.0], convention)?;
            ndcg(&ranking, NonZeroUsize::MIN)
        };
        assert_eq!((tied(Letor), tied(Standard)), (Some(0.0), Some(0.5)));
    }

    #[test]
    fn without_gain() {
        for labels in [[0.0; 3], [-1.0, 0.0, -2.0]] {
            assert_eq!(at(2, &labels, Letor), Some(0.0));
            assert_eq!(mean(&labels, Letor), Some(0.0));
            assert_eq!(at(2, &labels, Standard), None);
            assert_eq!(mean(&labels, Standard), None);
        }
    }

    #[test]
    fn gains_that_overflow_are_none() {
        for convention in [Letor, Standard] {
            assert_eq!(at(3, &[0.0, 2000.0, 1.0], convention), None);
            assert_eq!(at(3, &[1023.9, 1023.9, 1023.9], convention), None);
            assert_eq!(mean(&[2000.0, 0.0, 1.0], convention), None);
            assert_eq!(at(1, &[1023.0, 1.0, 0.0], convention), Some(1.0));
        }
    }
}
