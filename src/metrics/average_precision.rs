//! Average precision.
//!
//! The mean, over the relevant documents of a query, of the precision at their
//! ranks: `AP = 1/R sum_{i relevant} (relevant among the first i) / i`, with `R`
//! the relevant documents of the query.
//!
//! For a block of `g` tied documents, `r` of them relevant, with `s` documents
//! and `b` relevant ones before it, rank `s + j` holds a relevant document with
//! probability `r/g`, and then `(j-1)(r-1)/(g-1)` relevant ones are expected
//! among the `j - 1` of the block before it. The block adds
//!
//! `sum_{j=1..g} r/g (b + 1 + (j-1)(r-1)/(g-1)) / (s+j)`
//!
//! (McSherry and Najork 2008, section 3). `O(n)` after the sort, no allocations.

use super::ranking::{Block, Ranking};

/// Average precision; without a relevant document 0 under `letor`, `None` under
/// `standard`.
pub(super) fn average_precision(ranking: &Ranking) -> Option<f64> {
    let relevant = ranking.relevant();
    if relevant == 0 {
        return ranking.convention.undefined();
    }
    let mut before = 0;
    let mut sum = 0.0;
    for block in ranking.blocks() {
        sum += block_sum(block, before);
        before += block.relevant();
    }
    Some(sum / relevant as f64)
}

/// Expected precisions at the relevant documents of a block.
fn block_sum(block: Block<'_>, relevant_before: usize) -> f64 {
    let (g, r) = (block.len(), block.relevant());
    if r == 0 {
        return 0.0;
    }
    let share = if g == 1 {
        0.0
    } else {
        (r - 1) as f64 / (g - 1) as f64
    };
    let first = relevant_before as f64 + 1.0;
    let sum: f64 = (0..g)
        .map(|j| (first + j as f64 * share) / (block.before + j + 1) as f64)
        .sum();
    sum * (r as f64 / g as f64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metrics::Convention::{self, Letor, Standard};

    fn ap(labels: &[f64], scores: &[f64], convention: Convention) -> Option<f64> {
        average_precision(&Ranking::new(labels, scores, convention)?)
    }

    #[test]
    fn relevant_at_ranks_1_and_3() {
        for convention in [Letor, Standard] {
            let value = ap(&[1.0, 0.0, 2.0], &[3.0, 2.0, 1.0], convention).unwrap();
            assert!((value - 5.0 / 6.0).abs() < 1e-15);
        }
    }

    #[test]
    fn a_tie_is_averaged_or_keeps_input_order() {
        let (labels, scores) = ([0.0, 1.0], [1.0, 1.0]);
        assert_eq!(ap(&labels, &scores, Letor), Some(0.5));
        assert_eq!(ap(&labels, &scores, Standard), Some(0.75));
    }

    #[test]
    fn without_relevant_documents() {
        let (labels, scores) = ([0.0, -1.0], [2.0, 1.0]);
        assert_eq!(ap(&labels, &scores, Letor), Some(0.0));
        assert_eq!(ap(&labels, &scores, Standard), None);
    }
}
