//! FS-ED, the filter of Gupta and Rosso (*Expected Divergence based Feature Selection for Learning to Rank*, COLING
//! 2012). It judges each feature by its ranking alone, and by the distance of the densities of its values from
//! grade to grade. A baseline: it fits no model to choose, and does not see that features repeat each other.
//!
//! ```text
//! psi(f) = s(f) + d(f)        d(f) = sum over grades m < n of (n - m) JS(p_m, p_n)
//! ```
//!
//! - `s` is the mean NDCG@10 of the training queries, ranked by the raw values of the feature, in
//!   the better of both directions.
//! - `p_g` is the density of the training rows of grade `g`, by Gaussian kernels of Silverman's
//!   bandwidth for the grade, taken at the values of all validation rows and normalised to sum 1
//!   over them; without validation rows the training rows serve. A grade with one row, or whose
//!   values are equal, has the bandwidth of the whole feature.
//! - `JS` is the Jensen-Shannon divergence in nats; `ln 2` where a density is zero at all points.
//!
//! Under many grades `d` outgrows `s`, which is at most 1.
//!
//! A column with more than 95% zeros in training has no density: its zeros are an atom. There `p_g` is the share of
//! zeros of the grade at one point, and the rest as above, from non-zero values at non-zero points, scaled to the
//! remaining share. If non-zero values are all equal, or no validation row has one, the rest is a point, too.
//!
//! The scores need the raw values of the columns. So they are computed from the data set before the first step; the
//! steps only take the next best. The representing column judges a class.

use std::f64::consts::LN_2;
use std::num::NonZeroUsize;
use std::sync::Arc;

use rankrls_files::exact;
use rayon::prelude::*;

use crate::columns::ColumnClasses;
use crate::data::Dataset;
use crate::error::Error;
use crate::greedy::density::Sample;
use crate::greedy::strategy::{Facts, bytes};
use crate::metrics::{Convention, Judge, MetricKind};
use crate::stop;

/// Most grades, each with a density.
const MOST_GRADES: usize = 16;

/// Labels from here on have no gain.
const LABEL_LIMIT: f64 = 1024.0;

/// Share of zeros above which they are an atom.
const ATOM: f64 = 0.95;

pub(super) const FACTS: Facts = Facts {
    name: "fs-ed",
    samples: true,
    baseline: true,
    needs_grades: true,
    // Scores, and the values of a column on each thread.
    memory: |shape| {
        let [candidates, threads, rows] = [shape.candidates, shape.threads, shape.rows].map(bytes);
        (bytes(8) * (candidates + threads * bytes(10) * rows)).0
    },
    ..Facts::USUAL
};

/// The filter for the columns of a data set; `docs/derivation.md`, section 7, has the formulas.
///
/// ```
/// use rankrls::{Dataset, Queries};
/// use rankrls::greedy::strategy::ExpectedDivergence;
///
/// let x = ndarray::arr2(&[[0.1, 3.0], [0.4, 3.0], [0.9, 3.0], [0.2, 3.0], [0.3, 3.0], [0.7, 3.0]]);
/// let queries = Queries::from_sizes(&[3, 3])?;
/// let data = Dataset::from_dense(x.view(), &[0.0, 1.0, 2.0, 0.0, 1.0, 2.0], queries)?;
/// let filter = ExpectedDivergence::new(&data)?;
/// // By falling values the labels of each query fall.
/// assert_eq!(filter.ndcg(0)[0], 1.0);
/// assert!(filter.psi(0) > Some(1.0));
/// assert_eq!(filter.psi(1), None);
/// # Ok::<(), rankrls::Error>(())
/// ```
#[derive(Debug)]
pub struct ExpectedDivergence<'a> {
    train: &'a Dataset<'a>,
    /// The rows whose values are the points of densities.
    points: &'a Dataset<'a>,
    /// The different labels, ascending.
    grades: Vec<f64>,
    /// The number of rows of each.
    sizes: Vec<usize>,
    /// The position of each row's label among the grades.
    grade_of_row: Vec<usize>,
    /// NDCG@10 of rankings of the training queries.
    judge: Judge<'a>,
    /// NDCG of each query with all rows tied; `None` if it is undefined.
    tied: Vec<Option<f64>>,
}

/// The cut-off of the measure.
const TEN: NonZeroUsize = NonZeroUsize::new(10).expect("ten");

/// The values of a feature, without zeros if these are an atom.
struct Values {
    /// The values of all training rows.
    whole: Sample,
    /// The values of the training rows of each grade, and the share of zeros that are an atom.
    grades: Vec<(Sample, f64)>,
    /// The values of the rows that are the points of densities.
    points: Sample,
}

/// The distribution of the values of a grade: shares that add up to 1.
struct Distribution {
    /// The share at zero if that is an atom, at all other values if they have no density, and at each point, once
    /// for every row there.
    shares: Vec<f64>,
    /// The share too far from all points.
    beyond: f64,
}

impl<'a> ExpectedDivergence<'a> {
    /// The filter for `train`, at the values of its [validation rows](Dataset::with_validation) if there are any.
    pub fn new(train: &'a Dataset<'a>) -> Result<Self, Error> {
        let labels = train.labels();
        let refuse = |found: String| {
            Err(Error::data(format!(
                "expected grades: at most 16 different labels, from 0 to below 1024; found {found}"
            )))
        };
        let no_grade = |label: &&f64| !(0.0..LABEL_LIMIT).contains(*label);
        if let Some(label) = labels.iter().find(no_grade) {
            return refuse(format!("the label {}", exact(*label)));
        }
        let mut grades = labels.to_vec();
        grades.sort_unstable_by(f64::total_cmp);
        grades.dedup();
        if grades.len() > MOST_GRADES {
            return refuse(format!("{} different labels", grades.len()));
        }
        let position = |label: &f64| grades.iter().position(|grade| grade == label);
        let grade_of_row: Vec<usize> = labels.iter().filter_map(position).collect();
        let mut sizes = vec![0; grades.len()];
        for &grade in &grade_of_row {
            sizes[grade] += 1;
        }
        let metric = MetricKind::Ndcg(TEN).into();
        let judge = Judge::new(metric, Convention::Standard, labels, train.queries());
        Ok(Self {
            train,
            points: train.validation().unwrap_or(train),
            tied: judge.score(&vec![0.0; labels.len()]).per_query,
            grades,
            sizes,
            grade_of_row,
            judge,
        })
    }

    /// An error of each of `candidates`, columns of the data, of which the least is best: the distance of its `psi`
    /// from the largest possible.
    pub(in crate::greedy) fn errors(&self, candidates: &ColumnClasses) -> Arc<[f64]> {
        let largest = 1.0 + self.largest_divergence();
        let judge = |candidate: usize| {
            if stop::requested() {
                return f64::NAN;
            }
            let psi = self.psi(candidates.feature(candidate));
            // A candidate varies.
            largest - psi.unwrap_or(0.0)
        };
        (0..candidates.len()).into_par_iter().map(judge).collect()
    }

    /// The largest possible `d`.
    fn largest_divergence(&self) -> f64 {
        let pairs = self.pairs();
        pairs.map(|(lower, upper)| LN_2 * (upper - lower)).sum()
    }

    /// Each two grades, the lower one first.
    fn pairs(&self) -> impl Iterator<Item = (f64, f64)> {
        let uppers = self.grades.iter().enumerate();
        uppers.flat_map(|(n, &upper)| self.grades[..n].iter().map(move |&lower| (lower, upper)))
    }

    /// `psi` of the 0-based `feature`; `None` if it does not exist or is constant in training.
    pub fn psi(&self, feature: u32) -> Option<f64> {
        let divergences = self.divergences(feature)?;
        let pairs = self.pairs().zip(divergences);
        let weighted = pairs.map(|((lower, upper), divergence)| (upper - lower) * divergence);
        let [descending, ascending] = self.ndcg(feature);
        Some(descending.max(ascending) + weighted.sum::<f64>())
    }

    /// The divergence of each two grades in nats: of the first and the second, of the first and the third, of the
    /// second and the third, and so on. `None` as in [`psi`](Self::psi).
    pub fn divergences(&self, feature: u32) -> Option<Vec<f64>> {
        let values = self.values(feature)?;
        let points = &values.points;
        let grades = values.grades.iter().zip(values.bandwidths());
        let distributions = grades.map(|((sample, zeros), bandwidth)| {
            Distribution::new(sample, *zeros, bandwidth, points)
        });
        let distributions: Vec<Distribution> = distributions.collect();
        let uppers = distributions.iter().enumerate();
        let divergences = uppers.flat_map(|(n, upper)| {
            let lowers = distributions[..n].iter();
            lowers.map(move |lower| lower.divergence(upper, points))
        });
        Some(divergences.collect())
    }

    /// The bandwidth of each grade, `None` without a density; `None` as in [`psi`](Self::psi).
    pub fn bandwidths(&self, feature: u32) -> Option<Vec<Option<f64>>> {
        Some(self.values(feature)?.bandwidths())
    }

    fn values(&self, feature: u32) -> Option<Values> {
        let column = self.train.column(self.train.position(feature)?);
        let mut by_grade = vec![Vec::new(); self.grades.len()];
        let nonzero = column.iter().filter(|&(_, value)| value != 0.0);
        for (row, value) in nonzero.clone() {
            by_grade[self.grade_of_row[row]].push(value);
        }
        let rows = self.train.rows();
        let zeros = rows - nonzero.clone().count();
        let sparse = zeros as f64 > ATOM * rows as f64;
        let sample = |values: Vec<f64>, size: usize| {
            let zeros = if sparse { 0 } else { size - values.len() };
            Sample::new(values, zeros)
        };
        let whole = sample(nonzero.map(|(_, value)| value).collect(), rows);
        let varies = whole.values.len() + usize::from(sparse) > 1;
        let points = self.points.position(feature);
        let points = points.map_or(&[][..], |position| self.points.column(position).values);
        let points = points.iter().copied().filter(|value| *value != 0.0);
        let grade = |(values, &size): (Vec<f64>, &usize)| {
            let sample = sample(values, size);
            let zeros = 1.0 - sample.size / size as f64;
            (sample, zeros)
        };
        varies.then(|| Values {
            whole,
            grades: by_grade.into_iter().zip(&self.sizes).map(grade).collect(),
            points: sample(points.collect(), self.points.rows()),
        })
    }

    /// Mean NDCG@10 of the training queries by falling and by rising values, 0 if no query has one. Queries without
    /// an entry are tied.
    pub fn ndcg(&self, feature: u32) -> [f64; 2] {
        let queries = self.train.queries();
        let measured = self.tied.iter().flatten().count();
        let Some(position) = self.train.position(feature).filter(|_| measured > 0) else {
            return [0.0; 2];
        };
        let mut sums = [self.tied.iter().flatten().sum::<f64>(); 2];
        let mut rest = self.train.column(position);
        let (mut scores, mut ranked) = (Vec::new(), Vec::new());
        while let Some(&row) = rest.rows.first() {
            let query = queries.of_row(row as usize);
            let rows = queries.range(query);
            let entries = rest.take_rows_below(rows.end);
            let Some(tied) = self.tied[query] else {
                continue;
            };
            scores.clear();
            scores.resize(rows.len(), 0.0);
            for (row, value) in entries.iter() {
                scores[row - rows.start] = value;
            }
            for sum in &mut sums {
                ranked.clone_from(&scores);
                let value = self.judge.of_query(query, &mut ranked);
                *sum += value.unwrap_or(tied) - tied;
                for score in &mut scores {
                    *score = -*score;
                }
            }
        }
        sums.map(|sum| sum / measured as f64)
    }
}

impl Values {
    /// The bandwidth of each grade; `None` without a sample or a point.
    fn bandwidths(&self) -> Vec<Option<f64>> {
        let whole = self.whole.bandwidth().filter(|_| !self.points.is_empty());
        let bandwidth = |(sample, _): &(Sample, f64)| {
            let whole = whole.filter(|_| !sample.is_empty())?;
            Some(sample.bandwidth().unwrap_or(whole))
        };
        self.grades.iter().map(bandwidth).collect()
    }
}

impl Distribution {
    /// The density of the values in `sample` and the share `zeros` of zeros, at `points`. Without a
    /// `bandwidth` the values are a point.
    fn new(sample: &Sample, zeros: f64, bandwidth: Option<f64>, points: &Sample) -> Self {
        let rest = 1.0 - zeros;
        let (mut shares, mut beyond) = (vec![zeros, 0.0], 0.0);
        if let Some(bandwidth) = bandwidth {
            let sums = sample.kernel_sums(bandwidth, &points.values);
            let counted = sums.iter().zip(&points.counts);
            let total: f64 = counted.map(|(sum, count)| sum * count).sum();
            if total > 0.0 {
                shares.extend(sums.iter().map(|sum| rest * (sum / total)));
            } else {
                beyond = rest;
            }
        } else {
            shares[1] = rest;
        }
        shares.resize(2 + points.values.len(), 0.0);
        Self { shares, beyond }
    }

    /// Jensen-Shannon divergence in nats.
    fn divergence(&self, other: &Self, points: &Sample) -> f64 {
        let counts = [1.0; 2].iter().chain(&points.counts);
        let pairs = self.shares.iter().zip(&other.shares);
        let common = pairs
            .zip(counts)
            .map(|((&p, &q), count)| share(p, q) * count);
        // Values beyond all points have no point in common.
        common.sum::<f64>() + share(self.beyond, 0.0) + share(other.beyond, 0.0)
    }
}

/// The term of a point with shares `p` and `q` in a divergence.
fn share(p: f64, q: f64) -> f64 {
    let mean = f64::midpoint(p, q);
    let part = |p: f64| {
        if p > 0.0 && mean > 0.0 {
            0.5 * p * (p / mean).ln()
        } else {
            0.0
        }
    };
    part(p) + part(q)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::parsed;

    /// A column with `zeros` zeros before `others`, for two grades in turn.
    fn column(zeros: usize, others: &[f64]) -> Dataset<'static> {
        let values = std::iter::repeat_n(&0.0, zeros).chain(others);
        let row = |(row, value): (usize, &f64)| format!("{} qid:{} 1:{value}\n", row % 2, row / 4);
        parsed(&values.enumerate().map(row).collect::<String>())
    }

    /// The divergence of the two grades of the only column, and their bandwidths.
    fn judged(data: &Dataset<'_>) -> (f64, Vec<Option<f64>>) {
        let filter = ExpectedDivergence::new(data).unwrap();
        (
            filter.divergences(0).unwrap()[0],
            filter.bandwidths(0).unwrap(),
        )
    }

    #[test]
    fn zeros_are_an_atom_above_19_of_20() {
        let others = [1.0, 2.0, 1.5, 2.5];
        let (divergence, bandwidths) = judged(&column(76, &others));
        let sample = Sample::new(vec![1.0, 1.5], 38);
        assert_eq!(bandwidths[0], sample.bandwidth());
        assert!(divergence > 0.0);
        let (divergence, bandwidths) = judged(&column(96, &others));
        // Both grades have 48 zeros of 50; the rest has its kernels at the four values.
        let bandwidth = Sample::new(vec![1.0, 1.5], 0).bandwidth().unwrap();
        assert_eq!(bandwidths, [Some(bandwidth); 2]);
        let density = |centres: [f64; 2]| {
            let at = |x: f64| {
                let kernel = |c: f64| (-0.5 * ((x - c) / bandwidth).powi(2)).exp();
                centres.map(kernel).iter().sum::<f64>()
            };
            let sums = others.map(at);
            let total: f64 = sums.iter().sum();
            sums.map(|sum| 0.04 * sum / total)
        };
        let pairs = density([1.0, 1.5]).into_iter().zip(density([2.0, 2.5]));
        let expected: f64 = pairs.map(|(p, q)| share(p, q)).sum();
        assert!((divergence - expected).abs() < 1e-15);
        assert!(divergence < 0.04 * LN_2);
    }

    #[test]
    fn an_atom_and_a_rest_are_the_divergence_of_counts_where_the_rest_is_one_value() {
        // One of 50 rows of the lower grade is a one, and two of the upper.
        let (divergence, bandwidths) = judged(&column(97, &[1.0, 1.0, 1.0]));
        assert_eq!(bandwidths, [None; 2]);
        let [p, q] = [1.0 / 50.0, 2.0 / 50.0];
        let expected = share(p, q) + share(1.0 - p, 1.0 - q);
        assert!((divergence - expected).abs() < 1e-15);
    }

    #[test]
    fn densities_without_a_common_point_are_ln_2_apart() {
        let data = parsed("0 qid:1 1:1\n1 qid:1 1:900\n0 qid:2 1:2\n1 qid:2 1:901\n");
        let far = parsed("0 qid:1 1:1.5\n0 qid:1 1:1.25\n");
        let (divergence, _) = judged(&data.with_validation(far));
        assert!((divergence - LN_2).abs() < 1e-15);
    }

    #[test]
    fn the_better_direction_counts_and_constants_are_left_out() {
        let data = parsed("0 qid:1 1:3 2:1\n1 qid:1 1:1 2:1\n0 qid:2 1:4 2:1\n2 qid:2 1:2 2:1\n");
        let filter = ExpectedDivergence::new(&data).unwrap();
        let [descending, ascending] = filter.ndcg(0);
        assert!(descending < 1.0 && ascending == 1.0);
        assert!(filter.psi(0) > Some(1.0));
        assert!(filter.psi(1).is_none() && filter.psi(2).is_none());
        // A grade with a single row has the bandwidth of all.
        let bandwidths = filter.bandwidths(0).unwrap();
        assert_eq!(bandwidths[1], bandwidths[2]);
        assert_eq!(filter.largest_divergence(), 4.0 * LN_2);
    }

    #[test]
    fn labels_that_are_no_grades_are_refused() {
        let many: Vec<f64> = (0..17).map(f64::from).collect();
        for (labels, found) in [
            (&many[..], "found 17 different labels"),
            (&[0.0, -1.0], "found the label -1"),
            (&[0.0, 1024.0], "found the label 1024"),
        ] {
            let text = labels.iter().map(|label| format!("{label} qid:1 1:1\n"));
            let data = parsed(&text.collect::<String>());
            let error = ExpectedDivergence::new(&data).unwrap_err().to_string();
            assert!(error.ends_with(found), "{error}");
        }
    }
}
