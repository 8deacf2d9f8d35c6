//! Reciprocal rank of the first relevant document.
//!
//! In the first block with relevant documents, `r` of its `g`, with `s`
//! documents before it, the first relevant one stands at place `j` with
//! probability `p_j = C(g-j, r-1) / C(g, r)`, so that the expectation is
//! `sum_{j=1..g-r+1} p_j / (s+j)` (McSherry and Najork 2008, section 3), by the
//! recursion `p_1 = r/g`, `p_{j+1} = p_j (g-j-r+1)/(g-j)`, all of whose factors
//! lie in `[0, 1]`. `O(n)` after the sort, no allocations.

use super::ranking::{Block, Ranking};

/// Reciprocal rank; without a relevant document 0 under `letor`, `None` under
/// `standard`.
pub(super) fn reciprocal_rank(ranking: &Ranking) -> Option<f64> {
    let first = ranking.blocks().find(|block| block.relevant() > 0);
    first.map_or(ranking.convention.undefined(), |block| {
        Some(expected(block))
    })
}

/// Expectation within the first block that has a relevant document.
fn expected(block: Block<'_>) -> f64 {
    let (g, r) = (block.len(), block.relevant());
    let mut probability = r as f64 / g as f64;
    let mut sum = 0.0;
    for j in 1..=g - r + 1 {
        sum += probability / (block.before + j) as f64;
        if j < g {
            probability *= (g - j + 1 - r) as f64 / (g - j) as f64;
        }
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metrics::Convention::{self, Letor, Standard};

    fn rr(labels: &[f64], scores: &[f64], convention: Convention) -> Option<f64> {
        reciprocal_rank(&Ranking::new(labels, scores, convention)?)
    }

    #[test]
    fn first_relevant_at_rank_2() {
        for convention in [Letor, Standard] {
            let value = rr(&[0.0, 1.0, 1.0], &[3.0, 2.0, 1.0], convention);
            assert_eq!(value, Some(0.5));
        }
    }

    #[test]
    fn one_of_three_tied_is_relevant() {
        let (labels, scores) = ([0.0, 0.0, 1.0], [1.0, 1.0, 1.0]);
        assert_eq!(rr(&labels, &scores, Letor), Some(1.0 / 3.0));
        let value = rr(&labels, &scores, Standard).unwrap();
        assert!((value - 11.0 / 18.0).abs() < 1e-15);
    }

    #[test]
    fn without_relevant_documents() {
        assert_eq!(rr(&[0.0], &[1.0], Letor), Some(0.0));
        assert_eq!(rr(&[0.0], &[1.0], Standard), None);
    }
}
