//! Two rankings in one: the mixing weight by held-out queries.

use super::{Metric, MetricsError, Rules, evaluate};
use crate::data::Queries;

/// Weights that are tried: shares of the second ranking, from 0 to 1.
const SHARES: usize = 21;

/// A mix of two rankings.
#[derive(Debug, Clone, PartialEq)]
pub struct Mix {
    /// Share of the second ranking that does best on all queries.
    pub share: f64,
    /// The share for the queries of each fold, which does best on all others.
    pub shares: Vec<f64>,
    /// Mixed scores: those of a query by the share that was chosen without it, `m`.
    pub scores: Vec<f64>,
}

/// Mixes two rankings, `(1 - share) a + share b`, each divided by the root of its mean squared
/// deviation from the means of the queries. The share, of 0, 0.05 and so on up to 1, is the one of
/// the largest mean of `metric` on the queries that are not in the fold; the smallest of equal ones.
/// `folds` has the queries of each fold.
///
/// # Errors
/// As [`evaluate()`].
///
/// # Panics
/// Unless the folds are a partition of the queries.
pub fn mix(
    [a, b]: [&[f64]; 2],
    labels: &[f64],
    queries: &Queries,
    folds: &[&[usize]],
    metric: Metric,
    rules: impl Into<Rules>,
) -> Result<Mix, MetricsError> {
    let rules = rules.into();
    let (a, b) = (standardised(a, queries), standardised(b, queries));
    let share = |place: usize| place as f64 / (SHARES - 1) as f64;
    let mixed = |share: f64| -> Vec<f64> {
        let pairs = a.iter().zip(&b);
        pairs.map(|(a, b)| (1.0 - share) * a + share * b).collect()
    };
    let values = (0..SHARES).map(|place| {
        let found = evaluate(&[metric], labels, &mixed(share(place)), queries, rules)?;
        let first = found.metrics.into_iter().next();
        Ok(first.map_or_else(Vec::new, |values| values.per_query))
    });
    let values: Vec<Vec<Option<f64>>> = values.collect::<Result<_, MetricsError>>()?;
    let best = |out: &[usize]| {
        let mean = |values: &Vec<Option<f64>>| {
            let others = values.iter().enumerate();
            let others = others.filter(|(query, _)| out.binary_search(query).is_err());
            let defined: Vec<f64> = others.filter_map(|(_, value)| *value).collect();
            defined.iter().sum::<f64>() / defined.len() as f64
        };
        let means: Vec<f64> = values.iter().map(mean).collect();
        let better = |best: usize, place: usize| {
            if means[place] > means[best] {
                place
            } else {
                best
            }
        };
        share((0..SHARES).fold(0, better))
    };
    let shares: Vec<f64> = folds.iter().map(|fold| best(fold)).collect();
    let mut scores = vec![0.0; labels.len()];
    for (fold, &share) in folds.iter().zip(&shares) {
        for row in fold.iter().flat_map(|&query| queries.range(query)) {
            scores[row] = (1.0 - share) * a[row] + share * b[row];
        }
    }
    Ok(Mix {
        share: best(&[]),
        shares,
        scores,
    })
}

/// Scores less the mean of their query, divided by the root of their mean square.
fn standardised(scores: &[f64], queries: &Queries) -> Vec<f64> {
    let mut centred = scores.to_vec();
    for part in queries.split_mut(&mut centred) {
        let mean = part.iter().sum::<f64>() / part.len() as f64;
        for score in part {
            *score -= mean;
        }
    }
    let largest = centred
        .iter()
        .fold(0.0, |most: f64, score| most.max(score.abs()));
    if largest > 0.0 {
        for score in &mut centred {
            *score /= largest;
        }
        let squares: f64 = centred.iter().map(|score| score * score).sum();
        let root = (squares / centred.len() as f64).sqrt();
        for score in &mut centred {
            *score /= root;
        }
    }
    centred
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metrics::Convention;

    #[test]
    fn a_share_is_chosen_without_the_queries_that_it_is_for() {
        let queries = Queries::from_sizes(&[2, 2, 2, 2]).unwrap();
        let labels = [1.0, 0.0, 1.0, 0.0, 1.0, 0.0, 1.0, 0.0];
        let good = [5.0, 1.0, 2.0, 1.0, 8.0, 7.5, 1.0, 0.0];
        let bad: Vec<f64> = good.iter().map(|score| -3.0 * score).collect();
        let folds: [&[usize]; 2] = [&[0, 2], &[1, 3]];
        let mix = |rankings: [&[f64]; 2]| {
            let (metric, rules) = (Metric::Concordance, Convention::Standard);
            mix(rankings, &labels, &queries, &folds, metric, rules).unwrap()
        };
        let found = mix([&good, &bad]);
        assert_eq!((found.share, found.shares), (0.0, vec![0.0, 0.0]));
        let found = mix([&bad, &good]);
        assert_eq!((found.share, &found.shares[..]), (0.55, &[0.55, 0.55][..]));
        assert!(found.scores.chunks(2).all(|pair| pair[0] > pair[1]));
        // The first fold is right by one ranking, the second by the other: each gets the wrong one.
        let split: Vec<f64> = [1.0, 0.0, 0.0, 1.0, 1.0, 0.0, 0.0, 1.0].to_vec();
        let turned: Vec<f64> = split.iter().map(|score| 1.0 - score).collect();
        let found = mix([&split, &turned]);
        assert_eq!(found.shares, [0.55, 0.0]);
        assert!(found.scores.chunks(2).all(|pair| pair[0] < pair[1]));
    }
}
