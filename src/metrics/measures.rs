//! The measures of one sorted query, except the concordance index.
//!
//! Documents come in blocks ([`TiedBlock`]) of `g` documents in random order, `r` of them relevant,
//! with `s` documents before the block. Every function returns the expectation over the orders of
//! all blocks, in closed form (F. McSherry and M. Najork, ECIR 2008, section 3), in `O(n)` time
//! after the sort and without allocations, unless it says otherwise.

use std::num::NonZeroUsize;

use super::ranking::{Ranking, TiedBlock};
use super::rules::Convention;

/// Average precision: the mean precision at the ranks of a query's relevant documents.
///
/// Rank `s + j` holds a relevant document with probability `r/g`. Then `(j-1)(r-1)/(g-1)` relevant ones are
/// expected among the `j - 1` before it in the block. With `b` relevant ones before the block, it adds
///
/// `sum_{j=1..g} r/g (b + 1 + (j-1)(r-1)/(g-1)) / (s+j)`.
///
/// Undefined without a relevant document.
pub(super) fn average_precision(ranking: &Ranking) -> Option<f64> {
    let relevant = ranking.relevant();
    if relevant == 0 {
        return ranking.rules.convention.undefined();
    }
    let (mut before, mut sum) = (0, 0.0);
    for block in ranking.blocks() {
        let (g, r) = (block.len(), block.relevant);
        if r == 0 {
            continue;
        }
        let share = if g == 1 {
            0.0
        } else {
            (r - 1) as f64 / (g - 1) as f64
        };
        let first = before as f64 + 1.0;
        let precisions = (0..g)
            .map(|j| (first + j as f64 * share) / (block.before + j + 1) as f64)
            .sum::<f64>();
        sum += precisions * (r as f64 / g as f64);
        before += r;
    }
    Some(sum / relevant as f64)
}

/// Precision at `k`: relevant documents among the first `k`, divided by `k`, even for queries of fewer documents.
///
/// If `c` documents of a block fall before the cut, `c r/g` relevant ones are expected there. Defined for every
/// query.
pub(super) fn precision(ranking: &Ranking, k: NonZeroUsize) -> f64 {
    let k = k.get();
    let expected: f64 = ranking
        .blocks()
        .take_while(|block| block.before < k)
        .map(|block| {
            let cut = block.len().min(k - block.before);
            (cut as f64 * block.relevant as f64) / block.len() as f64
        })
        .sum();
    expected / k as f64
}

/// The label of the first document: the mean over the first block, whose documents are equally
/// likely to come first. Defined for every query, whatever its labels.
pub(super) fn first_label(ranking: &Ranking) -> f64 {
    let first = ranking.blocks().next();
    first.map_or(0.0, |block| block.mean(|label| label))
}

/// Reciprocal rank of the first relevant document. Undefined without one.
///
/// In the first block with relevant documents, the first of them stands at place `j` with probability `p_j = C(g-j,
/// r-1) / C(g, r)`. The expectation is `sum_{j=1..g-r+1} p_j / (s+j)`, by the recursion `p_1 = r/g`, `p_{j+1} = p_j
/// (g-j-r+1)/(g-j)`. All its factors lie in `[0, 1]`.
pub(super) fn reciprocal_rank(ranking: &Ranking) -> Option<f64> {
    let Some(block) = ranking.blocks().find(|block| block.relevant > 0) else {
        return ranking.rules.convention.undefined();
    };
    let (g, r) = (block.len(), block.relevant);
    let mut probability = r as f64 / g as f64;
    let mut sum = 0.0;
    for j in 1..=g - r + 1 {
        sum += probability / (block.before + j) as f64;
        if j < g {
            probability *= (g - j + 1 - r) as f64 / (g - j) as f64;
        }
    }
    Some(sum)
}

/// Normalised discounted cumulative gain at `k`.
///
/// `DCG@K = sum_{i=1..min(K, n)} g(y_i) d(i)`, with `y_i` the label at rank `i`, `g` its
/// [`Gain`](super::rules::Gain) and `d` the discount of the [`Convention`]; `NDCG@K` divides it by the
/// `DCG@K` of the documents in falling order of label (K. Järvelin and J. Kekäläinen, ACM TOIS
/// 20(4), 2002). DCG is linear in the gains, and every rank of a block expects its mean gain.
///
/// A query of fewer than `k` documents has 0 under `letor`, and the value of its whole ranking under `standard`.
/// Undefined unless the ideal DCG is above 0.
///
/// Gains are in a unit of the query ([`Gain::up_to`](super::rules::Gain)), so labels of any size have a value. If
/// `2^Y` would overflow, the gain is `(2^y - 1) / 2^Y`, with `Y` the largest label of the query.
pub(super) fn ndcg(ranking: &Ranking, k: NonZeroUsize) -> Option<f64> {
    if ranking.rules.convention == Convention::Letor && ranking.len() < k.get() {
        return Some(0.0);
    }
    let (found, ideal) = cumulative_gains(ranking).take(k.get()).last()?;
    gain_ratio(found, ideal, ranking.rules.convention)
}

/// The mean of NDCG@1, ..., NDCG@n; `None` if any of them is undefined.
pub(super) fn mean_ndcg(ranking: &Ranking) -> Option<f64> {
    let mut sum = 0.0;
    for (found, ideal) in cumulative_gains(ranking) {
        sum += gain_ratio(found, ideal, ranking.rules.convention)?;
    }
    Some(sum / ranking.len() as f64)
}

/// Expected and ideal DCG at 1, ..., n.
fn cumulative_gains(ranking: &Ranking) -> impl Iterator<Item = (f64, f64)> {
    let largest = ranking.ideal().first().copied().unwrap_or(0.0);
    let gains = ranking.rules.gain.up_to(largest);
    let gain = move |label: f64| gains.of(label);
    let expected = ranking
        .blocks()
        .flat_map(move |block| std::iter::repeat_n(block.mean(gain), block.len()));
    let ideal = ranking.ideal().iter().map(move |&label| gain(label));
    (1..)
        .zip(expected.zip(ideal))
        .scan((0.0, 0.0), |sums, (rank, (expected, ideal))| {
            let discount = ranking.rules.convention.discount(rank);
            sums.0 += expected * discount;
            sums.1 += ideal * discount;
            Some(*sums)
        })
}

fn gain_ratio(found: f64, ideal: f64, convention: Convention) -> Option<f64> {
    if ideal <= 0.0 {
        return convention.undefined();
    }
    Some(found / ideal)
}

/// Expected reciprocal rank. Defined for every query. It is 0 if all stop probabilities are 0.
///
/// A reader goes down the ranking and stops at the document of rank `i` with probability `R_i`:
/// `ERR = sum_i R_i / i prod_{l<i} (1 - R_l)` (O. Chapelle et al., CIKM 2009).
/// `R_i = (2^{y_i} - 1) / 2^Y`, with `Y` the largest grade.
///
/// For ties, let `x = 1 - R`, and let `E_j` be the mean product of `x` over all `j`-subsets of a block. That is the
/// probability of passing `j` of its documents in random order. The block expects `sum_{j=0..g-1} (E_j - E_{j+1}) /
/// (s+j+1)`, times the probability of passing all blocks before it. `O(n)` time if the stop probabilities within
/// each block are equal; see [`survivals`].
pub(super) fn expected_reciprocal_rank(ranking: &Ranking) -> f64 {
    let pass = |&label: &f64| 1.0 - ranking.rules.stop_probability(label);
    let (mut reached, mut sum) = (1.0, 0.0);
    for block in ranking.blocks() {
        sum += reached * stop_in(block, pass);
        reached *= block.labels.iter().map(pass).product::<f64>();
    }
    sum
}

/// Expected reciprocal rank of a stop within a block, given that it is reached.
fn stop_in(block: TiedBlock<'_>, pass: impl Fn(&f64) -> f64) -> f64 {
    let ranks = block.before + 1..=block.before + block.len();
    let first = pass(&block.labels[0]);
    let last = pass(&block.labels[block.len() - 1]);
    if first.total_cmp(&last).is_eq() {
        // All probabilities are equal: E_j = pass^j.
        let stops = std::iter::successors(Some(1.0 - first), |stop| Some(stop * first));
        return stops
            .zip(ranks)
            .map(|(stop, rank)| stop / rank as f64)
            .sum();
    }
    let passes: Vec<f64> = block.labels.iter().map(pass).collect();
    survivals(&passes, depth(&passes))
        .windows(2)
        .zip(ranks)
        .map(|(pair, rank)| (pair[0] - pair[1]) / rank as f64)
        .sum()
}

/// Documents of the block after which the reader has certainly stopped. By Maclaurin's inequality `E_j <= E_1^j`.
/// So beyond the depth `J` where `E_1^J < 2^-64`, a block adds nothing that a double could show.
fn depth(passes: &[f64]) -> usize {
    /// `ln 2^64`, rounded up.
    const LN_NEGLIGIBLE: f64 = 44.5;
    let g = passes.len();
    let mean = passes.iter().sum::<f64>() / g as f64;
    let depth = LN_NEGLIGIBLE / mean.ln().abs();
    (1..g).find(|&j| j as f64 >= depth).unwrap_or(g)
}

/// `E_0, ..., E_depth`, which depend on no later ones. Adding a document to a block of `n` gives
///
/// `E_j(n+1) = (n+1-j)/(n+1) E_j(n) + j/(n+1) x E_{j-1}(n)`,
///
/// a convex combination, hence stable. `O(g J)` time and `O(J)` memory. At worst it takes `O(g^2)`, if hardly any
/// of many tied documents has gain.
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
    use crate::metrics::Metric;
    use crate::metrics::rules::{Gain, Gains};

    const FALLING: [f64; 3] = [3.0, 2.0, 1.0];

    /// The measure of a query in a data set whose largest label is 2.
    fn of(name: &str, labels: &[f64], scores: &[f64], convention: Convention) -> Option<f64> {
        let metric: Metric = name.parse().unwrap();
        let rules = metric.rules(convention).of(&[0.0, 1.0, 2.0]);
        metric.query(labels, scores, rules)
    }

    #[test]
    fn values_by_hand() {
        let third = 1.0 / 3.0_f64.log2();
        let err = 0.25 + 0.75 * 0.75 / 3.0;
        let (letor_at_3, at_3) = ((1.0 + 3.0 * third) / 4.0, 2.5 / (3.0 + third));
        let letor_mean = (1.0 / 3.0 + 0.25 + letor_at_3) / 3.0;
        let mean = (1.0 / 3.0 + 1.0 / (3.0 + third) + at_3) / 3.0;
        // Labels 1, 0, 2 in ranked order, gains 1, 0, 3.
        for (name, letor, standard) in [
            ("map", 5.0 / 6.0, 5.0 / 6.0),
            ("p@1", 1.0, 1.0),
            ("p@2", 0.5, 0.5),
            ("p@3", 2.0 / 3.0, 2.0 / 3.0),
            ("p@8", 0.25, 0.25),
            ("mrr", 1.0, 1.0),
            ("ndcg@1", 1.0 / 3.0, 1.0 / 3.0),
            ("ndcg@2", 0.25, 1.0 / (3.0 + third)),
            ("ndcg@3", letor_at_3, at_3),
            ("ndcg@4", 0.0, at_3),
            ("mean-ndcg", letor_mean, mean),
            ("err", err, err),
            ("label@1", 1.0, 1.0),
        ] {
            for (convention, expected) in [(Letor, letor), (Standard, standard)] {
                let found = of(name, &[1.0, 0.0, 2.0], &FALLING, convention).unwrap();
                assert!(
                    (found - expected).abs() < 1e-15,
                    "{name} {convention}: {found}"
                );
            }
        }
        let second = of("mrr", &[0.0, 1.0, 1.0], &FALLING, Standard);
        assert_eq!(second, Some(0.5));
    }

    /// Among tied documents, `letor` takes the first in input order, and `standard` the mean.
    #[test]
    fn the_first_label_may_be_any_number() {
        for (labels, scores, letor, standard) in [
            (vec![-2.5], vec![0.0], -2.5, -2.5),
            (vec![-1.0, -3.0, 7.0], vec![1.0, 1.0, 0.0], -1.0, -2.0),
            (vec![-3.0, -1.0, 7.0], vec![0.0, -0.0, -1.0], -3.0, -2.0),
            (vec![0.1; 3], vec![5.0; 3], 0.1, 0.1),
            (vec![1e308; 2], vec![0.0; 2], 1e308, 1e308),
            (
                vec![f64::MAX / 2.0, f64::MAX],
                vec![0.0; 2],
                f64::MAX / 2.0,
                0.75 * f64::MAX,
            ),
            (vec![f64::MAX, -f64::MAX], vec![0.0; 2], f64::MAX, 0.0),
        ] {
            for (convention, expected) in [(Letor, letor), (Standard, standard)] {
                let found = of("label@1", &labels, &scores, convention);
                assert_eq!(found, Some(expected), "{labels:?} {convention}");
            }
        }
        assert_eq!(of("label@1", &[], &[], Standard), None);
        assert_eq!(of("label@1", &[f64::NAN], &[1.0], Standard), None);
    }

    #[test]
    fn rules_say_what_is_relevant_and_what_a_grade_is_worth() {
        let labels = [1.0, -2.0, 3.0];
        for (map, mrr, average, first) in [
            ("map", "mrr", 5.0 / 6.0, 1.0),
            ("map:1", "mrr:1", 5.0 / 6.0, 1.0),
            ("map:1.5", "mrr:1.5", 1.0 / 3.0, 1.0 / 3.0),
            ("map:-2", "mrr:-2", 1.0, 1.0),
        ] {
            let found = of(map, &labels, &FALLING, Standard).unwrap();
            assert!((found - average).abs() < 1e-15, "{map}: {found}");
            assert_eq!(of(mrr, &labels, &FALLING, Standard), Some(first));
        }
        let linear = |labels: &[f64]| of("ndcg@1:linear", labels, &FALLING, Standard);
        assert_eq!(linear(&[1.0, 0.0, 3.0]), Some(1.0 / 3.0));
        assert_eq!(linear(&[2000.0, 4000.0, 1.0]), Some(0.5));
        // The scale of the other data ends at 2.
        let err = |name: &str| of(name, &[2.0], &[0.0], Standard);
        assert_eq!((err("err"), err("err:3")), (Some(0.75), Some(0.375)));
        // Names overrule the convention.
        let short = |name: &str| of(name, &[1.0], &[0.0], Letor);
        assert_eq!(
            (short("ndcg@2"), short("ndcg@2(standard)")),
            (Some(0.0), Some(1.0))
        );
    }

    /// For huge labels `2^y - 1` is proportional to `2^(y - Y)`, and for tiny labels to `y`.
    #[test]
    fn labels_of_any_size_have_a_value() {
        let third = 1.0 / 3.0_f64.log2();
        for (name, labels, letor, standard) in [
            ("ndcg@2", [0.0, 2000.0, 1.0], 1.0, third),
            ("ndcg@3", [1023.9, 1023.9, 1023.9], 1.0, 1.0),
            ("ndcg@1", [1500.0, 1501.0, 0.0], 0.5, 0.5),
            (
                "ndcg@1",
                [1500.0, 1500.5, 0.0],
                0.5_f64.sqrt(),
                0.5_f64.sqrt(),
            ),
            ("ndcg@1", [1e300, f64::MAX, 0.0], 0.0, 0.0),
            ("ndcg@1", [1023.0, 1.0, 0.0], 1.0, 1.0),
            ("ndcg@1", [1e-20, 2e-20, 0.0], 0.5, 0.5),
            ("ndcg@1", [5e-324, 1e-323, 0.0], 0.5, 0.5),
            ("mean-ndcg", [2000.0, 0.0, 1.0], 1.0, 1.0),
        ] {
            for (convention, expected) in [(Letor, letor), (Standard, standard)] {
                let found = of(name, &labels, &FALLING, convention).unwrap();
                assert!(
                    (found - expected).abs() < 1e-14,
                    "{name} {labels:?} {convention}: {found}"
                );
            }
        }
        for size in [5e-324, 1e-300, 1.0, 1e300, f64::MAX / 2.0] {
            let labels = [size, 2.0 * size, 2.0 * size];
            let found = of("ndcg@1:linear", &labels, &FALLING, Standard);
            assert_eq!(found, Some(0.5), "{size}");
        }
    }

    /// The unit changes a value only by rounding, and values of ordinary grades not at all.
    #[test]
    fn units_of_gains_do_not_count() {
        for (labels, ordinary) in [([0.0, 3.0, 1.0], true), ([940.0, 959.5, 955.0], false)] {
            let largest = labels[1];
            let gains = Gain::Exponential.up_to(largest);
            for label in labels {
                let relative = Gains::Powers { largest }.of(label) * largest.exp2();
                assert_eq!(gains.of(label), label.exp2() - 1.0);
                assert!((relative / gains.of(label) - 1.0).abs() < 1e-13 || label == 0.0);
                assert!(!ordinary || relative == gains.of(label));
            }
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
