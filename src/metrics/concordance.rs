//! The concordance index.
//!
//! The share of a query's pairs with different labels whose scores are in the order of the labels. Equal scores
//! count one half. For two labels it is the area under the ROC curve. Without ties it is `(1 + tau) / 2`, with
//! Kendall's tau.
//!
//! Pairs are counted exactly, in whole halves, by W. R. Knight's algorithm (J. Am. Stat. Assoc. 61, 1966):
//! documents are sorted by falling score and, within equal scores, by falling label. A merge sort by label then
//! counts the discordant pairs. `O(n log n)` time, `O(n)` memory; 64 bits hold twice the pairs of 2^32 documents.

use super::ranking::Ranking;

/// Makes close scores equal. In order of size, a score joins the group before it if it exceeds the group's least
/// score by at most `tolerance`. Otherwise it begins a group.
pub(super) fn tie(scores: &mut [f64], tolerance: f64) {
    let mut order: Vec<usize> = (0..scores.len()).collect();
    order.sort_unstable_by(|&a, &b| scores[a].total_cmp(&scores[b]));
    for pair in 1..order.len() {
        let (before, here) = (order[pair - 1], order[pair]);
        if scores[here] - scores[before] <= tolerance {
            scores[here] = scores[before];
        }
    }
}

/// The concordance index of a sorted query.
pub(super) fn of_ranking(ranking: &Ranking) -> Option<f64> {
    let pairs = different(ranking.ideal());
    if pairs == 0 {
        return None;
    }
    let mut labels = Vec::with_capacity(ranking.len());
    let mut tied = 0;
    for tie in ranking.ties() {
        let begin = labels.len();
        labels.extend_from_slice(tie);
        labels[begin..].sort_unstable_by(|a, b| b.total_cmp(a));
        tied += different(&labels[begin..]);
    }
    Some(share(&mut labels, pairs, tied))
}

/// The concordance index of a query with `pairs` pairs of different `labels`, after [`tie`] on the scores. Sorts
/// once, and overwrites the scores. `None` for scores that are not finite.
pub(super) fn of_tied(
    labels: &[f64],
    scores: &mut [f64],
    pairs: u64,
    tolerance: f64,
) -> Option<f64> {
    if pairs == 0 || !scores.iter().all(|score| score.is_finite()) {
        return None;
    }
    let scored = scores.iter().zip(labels);
    let mut documents: Vec<(f64, f64)> = scored.map(|(&s, &label)| (s, label + 0.0)).collect();
    documents.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
    let mut tied = 0;
    let mut rest = &mut documents[..];
    let mut ranked = &mut scores[..];
    while let Some(least) = rest.first().map(|document| document.0) {
        let equal = rest
            .iter()
            .take_while(|document| document.0 - least <= tolerance);
        let (tie, later) = rest.split_at_mut(equal.count());
        // The best documents come first.
        let (better, worst) = ranked.split_at_mut(later.len());
        for (place, document) in worst.iter_mut().zip(tie.iter()) {
            *place = document.1;
        }
        if worst.len() > 1 {
            worst.sort_unstable_by(|a, b| b.total_cmp(a));
            tied += different(worst);
        }
        (rest, ranked) = (later, better);
    }
    Some(share(scores, pairs, tied))
}

/// Pairs of different `labels`; 0 if a label is not finite.
pub(super) fn pairs_of(labels: &[f64]) -> u64 {
    if !labels.iter().all(|label| label.is_finite()) {
        return 0;
    }
    let mut sorted: Vec<f64> = labels.iter().map(|label| label + 0.0).collect();
    sorted.sort_unstable_by(f64::total_cmp);
    different(&sorted)
}

/// The share of `pairs` in order. The labels are in falling order of scores, and within equal scores in falling
/// order. `tied` pairs have equal scores.
fn share(labels: &mut [f64], pairs: u64, tied: u64) -> f64 {
    let mut scratch = match labels.len() {
        ..=FEW => Vec::new(),
        many => vec![0.0; many],
    };
    let discordant = ascents(labels, &mut scratch);
    let halves = 2 * (pairs - discordant) - tied;
    halves as f64 / (2 * pairs) as f64
}

/// Pairs of different values in a sorted slice.
fn different(sorted: &[f64]) -> u64 {
    let equal: u64 = sorted
        .chunk_by(|a, b| a.total_cmp(b).is_eq())
        .map(|run| pairs(run.len()))
        .sum();
    pairs(sorted.len()) - equal
}

/// Number of pairs among `n`.
fn pairs(n: usize) -> u64 {
    let n = n as u64;
    n * n.saturating_sub(1) / 2
}

/// Most values for which insertion is fastest.
const FEW: usize = 32;

/// Pairs `i < j` with `values[i] < values[j]`; sorts `values` in falling order.
fn ascents(values: &mut [f64], scratch: &mut [f64]) -> u64 {
    let n = values.len();
    if n <= FEW {
        return (1..n).map(|place| insert(&mut values[..=place])).sum();
    }
    let (left, right) = values.split_at_mut(n / 2);
    let (left_scratch, right_scratch) = scratch.split_at_mut(n / 2);
    let within = ascents(left, left_scratch) + ascents(right, right_scratch);
    let across = merge(left, right, scratch);
    values.copy_from_slice(scratch);
    within + across
}

/// Moves the last value to its place among the others, which fall. Counts the values that it passes.
fn insert(values: &mut [f64]) -> u64 {
    let last = values[values.len() - 1];
    let mut place = values.len() - 1;
    while place > 0 && values[place - 1] < last {
        values[place] = values[place - 1];
        place -= 1;
    }
    values[place] = last;
    (values.len() - 1 - place) as u64
}

/// Merges two falling slices. Counts the pairs with a larger right value.
fn merge(left: &[f64], right: &[f64], merged: &mut [f64]) -> u64 {
    let (mut i, mut j, mut count) = (0, 0, 0);
    for slot in merged {
        if i < left.len() && (j == right.len() || left[i] >= right[j]) {
            *slot = left[i];
            i += 1;
        } else {
            *slot = right[j];
            j += 1;
            count += (left.len() - i) as u64;
        }
    }
    count
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metrics::Metric;
    use crate::metrics::rules::Rules;

    fn concordance(labels: &[f64], scores: &[f64]) -> Option<f64> {
        Metric::CONCORDANCE.query(labels, scores, Rules::default())
    }

    #[test]
    fn pairs_in_order_are_counted_and_ties_one_half() {
        let labels = [0.0, 1.0, 1.0, 3.0];
        for (labels, scores, expected) in [
            (&labels[..], &[1.0, 2.0, 3.0, 4.0][..], Some(1.0)),
            (&labels, &[4.0, 3.0, 2.0, 1.0], Some(0.0)),
            (&labels, &[0.0, -0.0, 0.0, -0.0], Some(0.5)),
            // Of the three pairs one is in order, one is tied and one is discordant.
            (&[3.0, 2.0, 1.0], &[0.5, 0.5, 0.7], Some(1.0 / 6.0)),
            (&[], &[], None),
            (&[1.0], &[1.0], None),
            (&[0.0, -0.0], &[1.0, 2.0], None),
            (&[0.0, 1.0], &[f64::NAN, 2.0], None),
        ] {
            assert_eq!(
                concordance(labels, scores),
                expected,
                "{labels:?} {scores:?}"
            );
        }
    }

    #[test]
    fn close_predictions_are_tied() {
        let mut scores = [1.0, 3.0, 1.0 + 1e-13, 2.0];
        tie(&mut scores, 1e-12);
        assert_eq!(scores, [1.0, 3.0, 1.0, 2.0]);
    }

    #[test]
    fn ascents_are_counted_and_the_values_sorted() {
        let mut values = [1.0, 3.0, 2.0, 3.0, 0.0];
        assert_eq!(ascents(&mut values, &mut []), 4);
        assert_eq!(values, [3.0, 3.0, 2.0, 1.0, 0.0]);
        let mut rising: Vec<f64> = (0..100).map(f64::from).collect();
        assert_eq!(ascents(&mut rising, &mut [0.0; 100]), pairs(100));
        assert!(rising.is_sorted_by(|a, b| a > b));
    }

    #[test]
    fn one_sort_finds_what_ties_and_rankings_find() {
        let number = |i: usize, modulus: usize| (i * i * 7 % modulus) as f64;
        for n in [2, 3, 9, 40, 90] {
            let labels: Vec<f64> = (0..n).map(|i| number(i, 5) - 2.0).collect();
            let near = |i: usize| number(i + 3, 11) + number(i, 3) * 1e-13;
            let mut scores: Vec<f64> = (0..n).map(near).collect();
            let found = of_tied(&labels, &mut scores.clone(), pairs_of(&labels), 1e-12);
            tie(&mut scores, 1e-12);
            assert_eq!(found, concordance(&labels, &scores), "{n}");
        }
        assert_eq!(of_tied(&[1.0, 2.0], &mut [f64::NAN, 0.0], 1, 0.0), None);
    }
}
