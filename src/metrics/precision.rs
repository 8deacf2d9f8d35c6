//! Precision at `K`.
//!
//! `P@K = (relevant among the first K) / K`, also for queries of fewer than `K`
//! documents. Of a block of `g` tied documents, `r` of them relevant, of which
//! `c` fall before the cut, `c r/g` relevant ones are expected there (McSherry
//! and Najork 2008, section 3). `O(n)` after the sort, no allocations.

use std::num::NonZeroUsize;

use super::ranking::Ranking;

/// Expected precision at `k`, defined for every query.
pub(super) fn precision(ranking: &Ranking, k: NonZeroUsize) -> f64 {
    let k = k.get();
    let expected: f64 = ranking
        .blocks()
        .take_while(|block| block.before < k)
        .map(|block| {
            let (g, r) = (block.len(), block.relevant());
            let cut = g.min(k - block.before);
            (cut as f64 * r as f64) / g as f64
        })
        .sum();
    expected / k as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metrics::Convention::{self, Letor, Standard};

    fn at(k: usize, scores: &[f64; 4], convention: Convention) -> f64 {
        let ranking = Ranking::new(&[1.0, 0.0, 2.0, -1.0], scores, convention).unwrap();
        precision(&ranking, NonZeroUsize::new(k).unwrap())
    }

    #[test]
    #[expect(clippy::float_cmp, reason = "small fractions, rounded once")]
    fn untied_documents() {
        for convention in [Letor, Standard] {
            let values = [1, 2, 3, 8].map(|k| at(k, &[4.0, 3.0, 2.0, 1.0], convention));
            assert_eq!(values, [1.0, 0.5, 2.0 / 3.0, 0.25]);
        }
    }

    #[test]
    #[expect(clippy::float_cmp, reason = "small fractions, rounded once")]
    fn a_cut_tie_counts_its_expected_share() {
        let scores = [2.0, 3.0, 2.0, 2.0];
        assert_eq!(at(2, &scores, Standard), 1.0 / 3.0);
        assert_eq!(at(2, &scores, Letor), 0.5);
    }
}
