//! Expected reciprocal rank.
//!
//! A reader goes down the ranking and stops at the document of rank `i` with
//! probability `R_i`: `ERR = sum_i R_i / i prod_{l<i} (1 - R_l)` (O. Chapelle et
//! al., CIKM 2009). `R_i = (2^{y_i} - 1) / 2^Y`, with `Y` the largest label of
//! the data set.
//!
//! # Ties
//!
//! Let `x = 1 - R` and let `E_j` be the mean of the product of `x` over all
//! `j`-subsets of a block of `g` tied documents: the probability to pass `j` of
//! them in random order. With `s` documents before the block, it expects
//! `sum_{j=0..g-1} (E_j - E_{j+1}) / (s+j+1)`, times the probability to pass all
//! blocks before it. Adding a document to a block of `n` gives
//!
//! `E_j(n+1) = (n+1-j)/(n+1) E_j(n) + j/(n+1) x E_{j-1}(n)`,
//!
//! a convex combination, hence stable. By Maclaurin's inequality `E_j <= E_1^j`:
//! past the depth `J` where `E_1^J < 2^-64` a block adds nothing that a double
//! could show, and `E_0, ..., E_J` need no others. `O(g J)` time, at worst
//! `O(g^2)` where hardly any of many tied documents has gain, and `O(J)` memory;
//! `O(g)` where all stop probabilities of a block are equal.

use super::Context;
use super::ranking::{Block, Ranking};

/// `ln 2^64`, rounded up.
const LN_NEGLIGIBLE: f64 = 44.5;

/// ERR, defined for every query: 0 where all stop probabilities are.
pub(super) fn expected(ranking: &Ranking, context: Context) -> f64 {
    let pass = |&label: &f64| 1.0 - context.stop_probability(label);
    let mut reached = 1.0;
    let mut sum = 0.0;
    for block in ranking.blocks() {
        sum += reached * block_sum(block, pass);
        reached *= block.labels.iter().map(pass).product::<f64>();
    }
    sum
}

/// Expected reciprocal rank of a stop within a block, given that it is reached.
fn block_sum(block: Block<'_>, pass: impl Fn(&f64) -> f64) -> f64 {
    let first = pass(&block.labels[0]);
    let last = pass(&block.labels[block.len() - 1]);
    if first.total_cmp(&last).is_eq() {
        return equal_sum(block, first);
    }
    let passes: Vec<f64> = block.labels.iter().map(pass).collect();
    survivals(&passes, depth(&passes))
        .windows(2)
        .zip(block.before + 1..)
        .map(|(pair, rank)| (pair[0] - pair[1]) / rank as f64)
        .sum()
}

/// The same where every document is passed with probability `pass`:
/// `E_j = pass^j`.
fn equal_sum(block: Block<'_>, pass: f64) -> f64 {
    std::iter::successors(Some(1.0 - pass), |stop| Some(stop * pass))
        .zip(block.before + 1..=block.before + block.len())
        .map(|(stop, rank)| stop / rank as f64)
        .sum()
}

/// `J`: documents of the block after which the reader has surely stopped.
fn depth(passes: &[f64]) -> usize {
    let g = passes.len();
    let mean = passes.iter().sum::<f64>() / g as f64;
    let depth = LN_NEGLIGIBLE / mean.ln().abs();
    (1..g).find(|&j| j as f64 >= depth).unwrap_or(g)
}

/// `E_0, ..., E_depth` by the recursion.
fn survivals(passes: &[f64], depth: usize) -> Vec<f64> {
    let mut survivals = vec![0.0; depth + 1];
    survivals[0] = 1.0;
    for (n, pass) in (1usize..).zip(passes) {
        for j in (1..=n.min(depth)).rev() {
            let taken = j as f64 / n as f64;
            let with = survivals[j - 1] * pass;
            survivals[j] += taken * (with - survivals[j]);
        }
    }
    survivals
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metrics::Convention::{self, Letor, Standard};

    fn err(labels: &[f64], scores: &[f64], convention: Convention) -> f64 {
        let ranking = Ranking::new(labels, scores, convention).unwrap();
        expected(&ranking, Context::of(&[0.0, 1.0, 2.0]))
    }

    #[test]
    fn grades_1_0_2_by_hand() {
        for convention in [Letor, Standard] {
            let value = err(&[1.0, 0.0, 2.0], &[3.0, 2.0, 1.0], convention);
            assert!((value - (0.25 + 0.75 * 0.75 / 3.0)).abs() < 1e-15);
        }
    }

    #[test]
    fn a_tie_is_averaged_or_keeps_input_order() {
        let (labels, scores) = ([1.0, 2.0], [1.0, 1.0]);
        let one_two = 0.25 + 0.75 * 0.75 / 2.0;
        let two_one = 0.75 + 0.25 * 0.25 / 2.0;
        assert!((err(&labels, &scores, Letor) - one_two).abs() < 1e-15);
        let mean = f64::midpoint(one_two, two_one);
        assert!((err(&labels, &scores, Standard) - mean).abs() < 1e-15);
    }

    #[test]
    #[expect(clippy::float_cmp, reason = "0 exactly")]
    fn nothing_to_stop_at_is_0() {
        for convention in [Letor, Standard] {
            assert_eq!(err(&[0.0, -4.0], &[1.0, 1.0], convention), 0.0);
        }
    }

    #[test]
    fn the_negligible_tail_is_negligible() {
        let passes: Vec<f64> = (0..500u32)
            .map(|i| if i % 3 == 0 { 0.25 } else { 1.0 })
            .collect();
        let depth = depth(&passes);
        assert!(depth < passes.len(), "{depth}");
        let all = survivals(&passes, passes.len());
        assert_eq!(survivals(&passes, depth), all[..=depth]);
        assert!(all[depth] < 2.0_f64.powi(-64));
    }
}
