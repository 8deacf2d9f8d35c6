//! Two rankings of the same queries, compared query by query.
//!
//! For each query where both rankings have a value, `d` is the first value less the second. The comparison gives
//!
//! * the mean of `d` and its standard error;
//! * a bootstrap interval of the mean: the same number of queries is drawn with replacement, again and again, and
//!   the interval ends at quantiles of their means (the percentile interval: B. Efron and R. Tibshirani, *An
//!   Introduction to the Bootstrap*, 1993, chapter 13). It is somewhat short for few queries;
//! * the `p` of the randomisation test, two-sided. If both rankings were the same, each `d` could as well have the
//!   other sign. `p` is the share of all assignments of signs whose mean is at least as far from 0 as the one found
//!   (R. A. Fisher, *The Design of Experiments*, 1935; for retrieval: M. Smucker, J. Allan and B. Carterette, CIKM
//!   2007). It is exact for up to [`PairedOptions::EXACT`] queries that differ. For more, signs are drawn, and `p =
//!   (1 + c) / (1 + n)` if `c` of `n` draws are as extreme (B. Phipson and G. Smyth, Stat. Appl. Genet. Mol. Biol.
//!   9, 2010). It is never 0;
//! * the queries where the first ranking wins, where both are equal, and where it loses.
//!
//! Among many comparisons, some have a small `p` by chance. Nothing here corrects for their number.
//!
//! Draws depend only on the seed, not on the number of threads. `O(n)` time a draw for `n` queries.

use rand::rngs::ChaCha8Rng;
use rand::{Rng, RngExt, SeedableRng};
use rayon::prelude::*;
use serde::Serialize;

use super::score::Score;
use crate::error::{Result, ensure};
use crate::stop;

/// Differences up to this share of the largest value are rounding, and count as ties.
const TIE: f64 = 1e-12;

/// The draws of [`paired`].
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct PairedOptions {
    /// Draws of queries, and of signs: 10,000 if not set.
    pub resamples: usize,
    /// Share of the means that lie in the interval: 0.95 if not set.
    pub confidence: f64,
    /// Seed of the draws: 1 if not set.
    pub seed: u64,
}

impl PairedOptions {
    /// Most differing queries for which the randomisation test is exact.
    pub const EXACT: usize = 20;
}

impl Default for PairedOptions {
    fn default() -> Self {
        Self {
            resamples: 10_000,
            confidence: 0.95,
            seed: 1,
        }
    }
}

/// The first ranking compared with the second one by a measure.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Paired {
    /// Mean over queries of the first value less the second; `None` if no query has both.
    pub difference: Option<f64>,
    /// Its standard error; `None` for fewer than two queries.
    pub standard_error: Option<f64>,
    /// Ends of the bootstrap interval of the difference; `None` for fewer than two queries.
    pub interval: Option<[f64; 2]>,
    /// Two-sided `p` of the randomisation test; `None` for fewer than two queries.
    pub p: Option<f64>,
    /// Whether `p` counts all assignments of signs, not a random sample.
    pub exact: bool,
    /// Queries where both have a value.
    pub queries: usize,
    /// Queries where the first is better.
    pub wins: usize,
    /// Queries where both are equal.
    pub ties: usize,
    /// Queries where the second is better.
    pub losses: usize,
}

/// Compares the values of a measure for each query under two rankings, such as [`Score::per_query`].
///
/// ```
/// use rankrls::metrics::{PairedOptions, paired};
///
/// let first = [Some(0.9), Some(0.5), None, Some(1.0)];
/// let second = [Some(0.4), Some(0.5), None, Some(0.75)];
/// let found = paired(&first, &second, &PairedOptions::default())?;
/// assert_eq!((found.wins, found.ties, found.losses), (2, 1, 0));
/// assert_eq!(found.difference, Some(0.25));
/// // Both signs of both differences: two of four are as far out.
/// assert_eq!((found.p, found.exact), (Some(0.5), true));
/// # Ok::<(), rankrls::Error>(())
/// ```
pub fn paired(
    first: &[Option<f64>],
    second: &[Option<f64>],
    options: &PairedOptions,
) -> Result<Paired> {
    let (queries, others) = (first.len(), second.len());
    ensure!(
        queries == others,
        data,
        "the values of {queries} queries cannot be paired with those of {others}"
    );
    let values = first.iter().chain(second).flatten();
    let largest = values.fold(0.0, |largest: f64, value| largest.max(value.abs()));
    let difference = |(first, second): (&Option<f64>, &Option<f64>)| {
        let gap = (*first)? - (*second)?;
        let tied = gap.abs() <= TIE * largest;
        Some(if tied { 0.0 } else { gap })
    };
    let all: Vec<Option<f64>> = first.iter().zip(second).map(difference).collect();
    let score = Score::of(all);
    let found: Vec<f64> = score.per_query.iter().copied().flatten().collect();
    let unequal: Vec<f64> = found
        .iter()
        .copied()
        .filter(|value| *value != 0.0)
        .collect();
    let wins = unequal.iter().filter(|value| **value > 0.0).count();
    let exact = unequal.len() <= PairedOptions::EXACT;
    let several = found.len() > 1;
    let p = || {
        if exact {
            exact_p(&unequal)
        } else {
            drawn_p(&unequal, options)
        }
    };
    let found = Paired {
        difference: score.mean,
        standard_error: score.standard_error,
        interval: several.then(|| bootstrap(&found, options)),
        p: several.then(p),
        exact,
        queries: found.len(),
        wins,
        ties: found.len() - unequal.len(),
        losses: unequal.len() - wins,
    };
    // Draws may have been skipped.
    stop::check()?;
    Ok(found)
}

/// The least distance from 0 of a sum that is as extreme as the one found.
fn threshold(differences: &[f64]) -> f64 {
    let size: f64 = differences.iter().map(|value| value.abs()).sum();
    differences.iter().sum::<f64>().abs() - TIE * size
}

/// The share of all assignments of signs whose sum is as far from 0. Signs come in opposite pairs, so the first
/// difference keeps its own: `O(2^n)` additions.
fn exact_p(differences: &[f64]) -> f64 {
    let Some((first, others)) = differences.split_first() else {
        return 1.0;
    };
    let far = as_far(*first, others, threshold(differences));
    far as f64 / (1_u64 << others.len()) as f64
}

/// Assignments of signs to `differences` that bring the sum to `threshold` or beyond.
fn as_far(sum: f64, differences: &[f64], threshold: f64) -> u64 {
    match differences.split_first() {
        None => u64::from(sum.abs() >= threshold),
        Some((first, others)) => {
            as_far(sum + first, others, threshold) + as_far(sum - first, others, threshold)
        }
    }
}

/// The generator of a draw. Even streams draw queries, odd streams draw signs.
fn generator(options: &PairedOptions, draw: usize, odd: u64) -> ChaCha8Rng {
    let mut generator = ChaCha8Rng::seed_from_u64(options.seed);
    generator.set_stream(2 * draw as u64 + odd);
    generator
}

fn drawn_p(differences: &[f64], options: &PairedOptions) -> f64 {
    let threshold = threshold(differences);
    let as_far = |draw: &usize| {
        if stop::requested() {
            return false;
        }
        let mut generator = generator(options, *draw, 1);
        let sum = |part: &[f64]| -> f64 {
            let signs = generator.next_u64();
            let signed = (0..).zip(part).map(|(place, value): (u32, &f64)| {
                if signs >> place & 1 == 0 {
                    *value
                } else {
                    -value
                }
            });
            signed.sum()
        };
        differences.chunks(64).map(sum).sum::<f64>().abs() >= threshold
    };
    let far = (0..options.resamples)
        .into_par_iter()
        .filter(as_far)
        .count();
    (1 + far) as f64 / (1 + options.resamples) as f64
}

/// Quantiles of the means of resampled queries.
fn bootstrap(differences: &[f64], options: &PairedOptions) -> [f64; 2] {
    let count = differences.len();
    let mean = |draw: usize| {
        if stop::requested() {
            return 0.0;
        }
        let mut generator = generator(options, draw, 0);
        let drawn = (0..count).map(|_| differences[generator.random_range(0..count)]);
        drawn.sum::<f64>() / count as f64
    };
    let draws = options.resamples.max(1);
    let mut means: Vec<f64> = (0..draws).into_par_iter().map(mean).collect();
    means.sort_unstable_by(f64::total_cmp);
    let outside = (1.0 - options.confidence.clamp(0.0, 1.0)) / 2.0;
    [quantile(&means, outside), quantile(&means, 1.0 - outside)]
}

/// The quantile of sorted values, by linear interpolation.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a place among the values"
)]
fn quantile(sorted: &[f64], share: f64) -> f64 {
    let place = share * (sorted.len() - 1) as f64;
    let below = place.floor() as usize;
    let above = (below + 1).min(sorted.len() - 1);
    sorted[below] + (place - below as f64) * (sorted[above] - sorted[below])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Error;
    use crate::stop::Stop;

    fn compare(differences: &[f64], seed: u64) -> Paired {
        let first: Vec<Option<f64>> = differences.iter().copied().map(Some).collect();
        let options = PairedOptions {
            seed,
            ..PairedOptions::default()
        };
        paired(&first, &vec![Some(0.0); first.len()], &options).unwrap()
    }

    /// Skipped draws have a mean of 0, and their signs are never as far from 0.
    #[test]
    fn a_request_skips_all_draws() {
        let (stop, options) = (Stop::new(), PairedOptions::default());
        let differences: Vec<f64> = (0..100).map(|place| f64::from(place) - 40.0).collect();
        let draws = || {
            Ok::<_, Error>((
                bootstrap(&differences, &options),
                drawn_p(&differences, &options),
            ))
        };
        let ([low, high], p) = stop.run(2, draws).unwrap().unwrap().unwrap();
        let least = 1.0 / (1 + options.resamples) as f64;
        assert!(0.0 < low && low < high && p > least, "{low} {high} {p}");
        stop.request();
        let skipped = stop.run(2, draws).unwrap().unwrap().unwrap();
        assert_eq!(skipped, ([0.0; 2], least));
        let first: Vec<_> = differences.iter().copied().map(Some).collect();
        let compare = || paired(&first, &[Some(0.5); 100], &options);
        assert!(stop.run(2, compare).unwrap().is_none());
    }

    /// The values may be labels of any size.
    #[test]
    fn equal_rankings_have_p_1() {
        for size in [1e-20, 0.5, 1e6] {
            let first = [size, size + 1e-14 * size, -size].map(Some);
            let second = [size, size, -size].map(Some);
            let found = paired(&first, &second, &PairedOptions::default()).unwrap();
            assert_eq!((found.difference, found.p), (Some(0.0), Some(1.0)));
            assert_eq!(found.interval, Some([0.0, 0.0]));
            assert_eq!((found.wins, found.ties, found.losses), (0, 3, 0));
            let found = paired(&first, &[Some(0.0); 3], &PairedOptions::default()).unwrap();
            assert_eq!((found.wins, found.ties, found.losses), (2, 0, 1));
        }
    }

    #[test]
    fn one_query_tells_nothing_and_none_less() {
        let one = compare(&[0.5], 1);
        assert_eq!(
            (one.difference, one.p, one.interval),
            (Some(0.5), None, None)
        );
        let options = PairedOptions::default();
        let none = paired(&[None, Some(1.0)], &[Some(1.0), None], &options).unwrap();
        assert_eq!((none.difference, none.p, none.queries), (None, None, 0));
        let error = paired(&[None], &[], &options).unwrap_err();
        let message = "the values of 1 queries cannot be paired with those of 0";
        assert_eq!(error.to_string(), message);
    }

    #[test]
    fn signs_that_rounding_tells_apart_are_the_same() {
        // 0.1 + 0.2 is not 0.3 in binary: four of eight signs have a sum of 0.6 or -0.6 or 0.
        let found = compare(&[0.1, 0.2, -0.3], 1);
        assert_eq!(found.p, Some(1.0));
        assert_eq!(compare(&[0.1, 0.2, 0.3], 1).p, Some(0.25));
    }

    #[test]
    fn draws_depend_on_the_seed_alone() {
        let differences: Vec<f64> = (0..40_u8).map(|i| f64::from(i % 7) / 7.0 - 0.3).collect();
        let found = compare(&differences, 1);
        assert!(!found.exact);
        let pool = rayon::ThreadPoolBuilder::new().num_threads(3).build();
        let again = pool.unwrap().install(|| compare(&differences, 1));
        assert_eq!(found, again);
        assert_ne!(found.interval, compare(&differences, 2).interval);
    }

    #[test]
    fn quantiles_lie_between_values() {
        let sorted = [0.0, 1.0, 3.0];
        assert_eq!(
            [0.0, 0.25, 0.75, 1.0].map(|share| quantile(&sorted, share)),
            [0.0, 0.5, 2.0, 3.0]
        );
    }
}
