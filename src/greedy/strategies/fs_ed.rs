//! FS-ED, the filter of Gupta and Rosso (*Expected Divergence based Feature Selection for Learning
//! to Rank*, COLING 2012): each feature by how well it ranks alone, and by how far the densities of
//! its values lie apart from grade to grade. A baseline: it fits no model to choose, and does not see
//! that features repeat each other.
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
//! With many grades `d` outgrows `s`, which is at most 1. Scaled, both go from 0 to 1 over the
//! candidates: then the error of a candidate depends on the others.
//!
//! A column with more than 95% zeros in training is no density: its zeros are an atom. There `p_g` is
//! the share of zeros of the grade at one point, and the rest as above, from non-zero values at
//! non-zero points, scaled to the share that is left. Where non-zero values are all equal, or no
//! validation row has one, the rest is a point, too.
//!
//! The scores are computed where the columns still have their raw values, with the column classes
//! ([`SelectionOptions::candidates`](crate::SelectionOptions::candidates)); the steps only take the
//! next best. A class is judged by the column that represents it.

use std::f64::consts::LN_2;
use std::num::NonZeroUsize;

use rayon::prelude::*;

use crate::columns::{ColumnClasses, Filter};
use crate::data::{Dataset, DatasetError};
use crate::greedy::density::Sample;
use crate::greedy::strategy::{Facts, Shape};
use crate::greedy::{Contest, Round, Strategy, Work};
use crate::interrupt::heed;
use crate::metrics::{Context, Convention, Metric, Rules};
use crate::peers::Peers;

/// Candidates entered by one task.
const CHUNK: usize = 4096;

/// Most grades, each of which has a density.
const MOST_GRADES: usize = 16;

/// Labels from here on have no gain.
const LABEL_LIMIT: f64 = 1024.0;

/// Share of zeros above which they are an atom.
const ATOM: f64 = 0.95;

pub(super) const FACTS: Facts = Facts {
    name: "fs-ed",
    summary: "Baseline: each feature by its own NDCG@10 and by the divergence of its densities from grade to grade",
    exact: false,
    samples: true,
    ranks: false,
    baseline: true,
    distils: false,
    sample: None,
    // Scores, the list of eligible candidates, and the values of a column on each thread.
    memory: |shape| {
        let column = size_of::<f64>() * 10 * shape.rows;
        (12 * shape.candidates + shape.threads * column) as u64
    },
    cost: Shape::pass,
    build: |candidates, _| {
        let errors = match candidates.filter() {
            Some(Ok(filter)) => errors(filter, candidates.peers()),
            // A plan without scores has been refused.
            _ => Vec::new(),
        };
        Box::new(FsEd { errors })
    },
};

/// Takes the candidates in the order of the scores that they come with.
struct FsEd {
    errors: Vec<f64>,
}

impl Strategy for FsEd {
    fn propose(&mut self, round: &Round<'_>) -> (Contest, Work) {
        let errors = &self.errors;
        let eligible = round.eligible_candidates();
        let contest = round.judge(&eligible, CHUNK, || (), |(), candidate| errors[candidate]);
        let judged = if round.state.steps() == 0 {
            errors.len()
        } else {
            0
        };
        (contest, Work::evaluated(judged))
    }
}

/// `s` and `d` of each of `candidates`, columns of `dataset`.
pub(in crate::greedy) fn scores(
    candidates: &ColumnClasses,
    dataset: &Dataset<'_>,
    scaled: bool,
) -> Result<Filter, DatasetError> {
    let filter = ExpectedDivergence::new(dataset)?;
    let judge = |candidate: usize| {
        heed();
        let found = filter.feature(candidates.feature(candidate));
        // A candidate varies.
        found.map_or((0.0, 0.0), |found| (found.ndcg, found.divergence))
    };
    let judged = (0..candidates.len()).into_par_iter().map(judge);
    let (ndcg, divergence): (Vec<f64>, Vec<f64>) = judged.unzip();
    Ok(Filter {
        scores: [ndcg, divergence],
        largest: if scaled {
            2.0
        } else {
            1.0 + filter.largest_divergence()
        },
        scaled,
    })
}

/// By how much `psi` of each candidate is below the largest that there can be: an error, of which the
/// least is best.
fn errors(filter: &Filter, peers: &dyn Peers) -> Vec<f64> {
    let [mut ndcg, mut divergence] = filter.scores.clone();
    if filter.scaled {
        spread(&mut ndcg, peers);
        spread(&mut divergence, peers);
    }
    let psi = ndcg.into_iter().zip(divergence);
    psi.map(|(s, d)| filter.largest - (s + d)).collect()
}

/// Moves `values` so that those of all ranks go from 0 to 1; all are 0 if they are equal.
fn spread(values: &mut [f64], peers: &dyn Peers) {
    let least = values.iter().copied().fold(f64::INFINITY, f64::min);
    let negative = values.iter().map(|value| -value);
    let negative = negative.fold(f64::INFINITY, f64::min);
    let least = peers.least(least);
    let range = -peers.least(negative) - least;
    for value in values {
        *value = if range > 0.0 {
            (*value - least) / range
        } else {
            0.0
        };
    }
}

/// The filter for the columns of a data set; `docs/strategies.md` has the formulas.
///
/// ```
/// use rankrls::Dataset;
/// use rankrls::greedy::ExpectedDivergence;
///
/// let x = ndarray::arr2(&[[0.1, 3.0], [0.4, 3.0], [0.9, 3.0], [0.2, 3.0], [0.3, 3.0], [0.7, 3.0]]);
/// let data = Dataset::new(&x, &[0.0, 1.0, 2.0, 0.0, 1.0, 2.0], &["a", "a", "a", "b", "b", "b"])?;
/// let filter = ExpectedDivergence::new(&data)?;
/// let first = filter.feature(0).expect("it varies");
/// assert_eq!(first.ndcg, 1.0);
/// assert_eq!(first.psi, first.ndcg + first.divergence);
/// assert!(filter.feature(1).is_none());
/// # Ok::<(), rankrls::DatasetError>(())
/// ```
#[derive(Debug)]
pub struct ExpectedDivergence<'a> {
    train: &'a Dataset<'a>,
    /// The rows at whose values densities are taken.
    points: &'a Dataset<'a>,
    /// Labels, each once, ascending.
    grades: Vec<f64>,
    /// Rows of each.
    sizes: Vec<usize>,
    /// The position of its label among the grades, of every row.
    grade_of_row: Vec<u8>,
    context: Context,
    /// NDCG of each query while all rows are tied; `None` where it is undefined.
    tied: Vec<Option<f64>>,
}

/// A feature by itself.
#[derive(Debug, Clone, PartialEq)]
pub struct FeatureDivergence {
    /// `s`: mean NDCG@10 of the training queries in the better direction.
    pub ndcg: f64,
    /// The same by falling values.
    pub descending: f64,
    /// The same by rising values.
    pub ascending: f64,
    /// Each pair of grades, by position, with its divergence in nats.
    pub pairs: Vec<(usize, usize, f64)>,
    /// `d`: the sum of the divergences, each times the difference of the grades.
    pub divergence: f64,
    /// `s + d`.
    pub psi: f64,
    /// Whether the zeros are an atom, as there are so many.
    pub sparse: bool,
    /// Bandwidth of each grade; `None` where it has no density.
    pub bandwidths: Vec<Option<f64>>,
}

/// The density of a feature for a grade, to draw.
#[derive(Debug, Clone, PartialEq)]
pub struct GradeDensity {
    /// The grade.
    pub grade: f64,
    /// Rows that have it.
    pub rows: usize,
    /// Share of zeros among them, where they are an atom and not in the density.
    pub zeros: Option<f64>,
    /// Density of the training rows at rising values, times the share that is no atom. Empty where
    /// there is none.
    pub curve: Vec<(f64, f64)>,
}

/// Training values of a feature, apart by grade.
struct Values {
    sparse: bool,
    /// Without zeros where they are an atom, as those of `grades`.
    whole: Sample,
    grades: Vec<Sample>,
}

/// Where the values of a grade are: shares that add up to 1.
struct Distribution {
    /// At single points that all grades have: zero, and all other values where they have no density.
    atoms: [f64; 2],
    /// At each point, once for every row there.
    density: Vec<f64>,
    /// Too far from all points.
    beyond: f64,
}

impl<'a> ExpectedDivergence<'a> {
    /// The filter for `train`, at the values of its [validation
    /// rows](Dataset::with_validation) if there are any.
    ///
    /// # Errors
    /// [`DatasetError::Grades`] for labels that are no grades: more than 16 different ones, or
    /// numbers below 0 or from 1024 on.
    pub fn new(train: &'a Dataset<'a>) -> Result<Self, DatasetError> {
        let labels = train.labels();
        let refuse = |found: String| Err(DatasetError::Grades { found });
        let no_grade = |label: &&f64| !(0.0..LABEL_LIMIT).contains(*label);
        if let Some(label) = labels.iter().find(no_grade) {
            return refuse(format!("the label {label}"));
        }
        let mut grades = labels.to_vec();
        grades.sort_unstable_by(f64::total_cmp);
        grades.dedup();
        if grades.len() > MOST_GRADES {
            return refuse(format!("{} different labels", grades.len()));
        }
        let position = |label: &f64| {
            let mut numbered = (0_u8..).zip(&grades);
            let found = numbered.find(|(_, grade)| *grade == label);
            found.map_or(0, |(position, _)| position)
        };
        let grade_of_row: Vec<u8> = labels.iter().map(position).collect();
        let mut sizes = vec![0; grades.len()];
        for &grade in &grade_of_row {
            sizes[usize::from(grade)] += 1;
        }
        let context = Rules::from(Convention::Standard).context(labels);
        let tied = |rows: std::ops::Range<usize>| {
            let zeros = vec![0.0; rows.len()];
            ndcg(&labels[rows], &zeros, context)
        };
        Ok(Self {
            train,
            points: train.validation().unwrap_or(train),
            tied: train.queries().ranges().map(tied).collect(),
            grades,
            sizes,
            grade_of_row,
            context,
        })
    }

    /// The labels, each once, ascending.
    pub fn grades(&self) -> &[f64] {
        &self.grades
    }

    /// The most that `d` can be.
    fn largest_divergence(&self) -> f64 {
        let pairs = self.pairs();
        pairs
            .map(|(m, n)| LN_2 * (self.grades[n] - self.grades[m]))
            .sum()
    }

    /// Positions of two grades, the lower one first.
    fn pairs(&self) -> impl Iterator<Item = (usize, usize)> {
        let count = self.grades.len();
        (0..count).flat_map(move |n| (0..n).map(move |m| (m, n)))
    }

    /// Judges the 0-based `feature`; `None` if it is constant in training, or there is no such
    /// feature.
    pub fn feature(&self, feature: u32) -> Option<FeatureDivergence> {
        let values = self.values(feature)?;
        let points = self.points_of(feature, values.sparse);
        let whole = values.whole.bandwidth().filter(|_| !points.is_empty());
        let bandwidth = |sample: &Sample| whole.map(|whole| sample.bandwidth().unwrap_or(whole));
        let grades = values.grades.iter().zip(&self.sizes);
        let distributions = grades.map(|(sample, &size)| {
            let zeros = if values.sparse {
                1.0 - sample.size / size as f64
            } else {
                0.0
            };
            Distribution::new(sample, zeros, bandwidth(sample), &points)
        });
        let distributions: Vec<Distribution> = distributions.collect();
        let pair = |(m, n): (usize, usize)| {
            let divergence = distributions[m].divergence(&distributions[n], &points);
            (m, n, divergence)
        };
        let pairs: Vec<_> = self.pairs().map(pair).collect();
        let weighted = pairs.iter();
        let weighted = weighted.map(|&(m, n, js)| (self.grades[n] - self.grades[m]) * js);
        let divergence: f64 = weighted.sum();
        let [descending, ascending] = self.ndcg(feature);
        let ndcg = descending.max(ascending);
        let own = values
            .grades
            .iter()
            .map(|sample| bandwidth(sample).filter(|_| !sample.is_empty()));
        Some(FeatureDivergence {
            ndcg,
            descending,
            ascending,
            pairs,
            divergence,
            psi: ndcg + divergence,
            sparse: values.sparse,
            bandwidths: own.collect(),
        })
    }

    /// The densities of the 0-based `feature`, one for each grade, at `count` values from the least to
    /// the largest in training; `None` as of [`feature`](Self::feature).
    pub fn densities(&self, feature: u32, count: usize) -> Option<Vec<GradeDensity>> {
        let values = self.values(feature)?;
        let whole = values.whole.bandwidth();
        let (first, last) = (
            values.whole.values[0],
            values.whole.values[values.whole.values.len() - 1],
        );
        let step = (last - first) / count.saturating_sub(1).max(1) as f64;
        let at: Vec<f64> = (0..count).map(|i| first + i as f64 * step).collect();
        let grades = self.grades.iter().zip(&self.sizes).zip(&values.grades);
        let density = |((&grade, &rows), sample): ((&f64, &usize), &Sample)| {
            let bandwidth = sample.bandwidth().or(whole).filter(|_| !sample.is_empty());
            let curve = bandwidth.map_or_else(Vec::new, |bandwidth| {
                let sums = sample.kernel_sums(bandwidth, &at);
                let whole = rows as f64 * bandwidth * std::f64::consts::TAU.sqrt();
                at.iter()
                    .zip(sums)
                    .map(|(&x, sum)| (x, sum / whole))
                    .collect()
            });
            GradeDensity {
                grade,
                rows,
                zeros: values.sparse.then(|| 1.0 - sample.size / rows as f64),
                curve,
            }
        };
        Some(grades.map(density).collect())
    }

    fn values(&self, feature: u32) -> Option<Values> {
        let column = self.train.column(self.train.position(feature)?);
        let mut by_grade = vec![Vec::new(); self.grades.len()];
        let nonzero = column.iter().filter(|&(_, value)| value != 0.0);
        for (row, value) in nonzero.clone() {
            by_grade[usize::from(self.grade_of_row[row])].push(value);
        }
        let rows = self.train.rows();
        let zeros = rows - nonzero.clone().count();
        let sparse = zeros as f64 > ATOM * rows as f64;
        let sample = |values: Vec<f64>, size: usize| {
            let zeros = if sparse { 0 } else { size - values.len() };
            Sample::new(values, zeros)
        };
        let whole = sample(nonzero.map(|(_, value)| value).collect(), rows);
        let varies = if sparse {
            !whole.is_empty()
        } else {
            whole.values.len() > 1
        };
        let grades = by_grade.into_iter().zip(&self.sizes);
        varies.then(|| Values {
            sparse,
            whole,
            grades: grades.map(|(values, &size)| sample(values, size)).collect(),
        })
    }

    /// Values of the rows at which densities are taken.
    fn points_of(&self, feature: u32, sparse: bool) -> Sample {
        let position = self.points.position(feature);
        let values = position.map_or(&[][..], |position| self.points.column(position).values);
        let values: Vec<f64> = values
            .iter()
            .copied()
            .filter(|value| *value != 0.0)
            .collect();
        let zeros = if sparse {
            0
        } else {
            self.points.rows() - values.len()
        };
        Sample::new(values, zeros)
    }

    /// Mean NDCG@10 by falling and by rising values, 0 where no query has one. Queries without an
    /// entry are tied.
    fn ndcg(&self, feature: u32) -> [f64; 2] {
        let (labels, queries) = (self.train.labels(), self.train.queries());
        let measured = self.tied.iter().flatten().count();
        let Some(position) = self.train.position(feature).filter(|_| measured > 0) else {
            return [0.0; 2];
        };
        let mut sums = [self.tied.iter().flatten().sum::<f64>(); 2];
        let mut rest = self.train.column(position);
        let mut scores = Vec::new();
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
                let value = ndcg(&labels[rows.clone()], &scores, self.context);
                *sum += value.unwrap_or(tied) - tied;
                for score in &mut scores {
                    *score = -*score;
                }
            }
        }
        sums.map(|sum| sum / measured as f64)
    }
}

/// NDCG@10 of a query.
fn ndcg(labels: &[f64], scores: &[f64], context: Context) -> Option<f64> {
    const TEN: NonZeroUsize = NonZeroUsize::new(10).expect("ten");
    Metric::Ndcg(TEN).query(labels, scores, Convention::Standard, context)
}

impl Distribution {
    /// That of the values in `sample` and the share `zeros` of zeros, at `points`. Without a
    /// `bandwidth` the values are a point.
    fn new(sample: &Sample, zeros: f64, bandwidth: Option<f64>, points: &Sample) -> Self {
        let rest = 1.0 - zeros;
        let mut density = vec![0.0; points.values.len()];
        let Some(bandwidth) = bandwidth else {
            return Self {
                atoms: [zeros, rest],
                density,
                beyond: 0.0,
            };
        };
        let sums = sample.kernel_sums(bandwidth, &points.values);
        let counted = sums
            .iter()
            .zip(&points.counts)
            .map(|(sum, count)| sum * count);
        let total: f64 = counted.sum();
        if total > 0.0 {
            density = sums.iter().map(|sum| rest * (sum / total)).collect();
        }
        let beyond = if total > 0.0 { 0.0 } else { rest };
        Self {
            atoms: [zeros, 0.0],
            density,
            beyond,
        }
    }

    /// Jensen-Shannon divergence in nats.
    fn divergence(&self, other: &Self, points: &Sample) -> f64 {
        let atoms = self
            .atoms
            .iter()
            .zip(&other.atoms)
            .map(|(&p, &q)| share(p, q));
        let pairs = self.density.iter().zip(&other.density);
        let shares = pairs.map(|(&p, &q)| share(p, q)).zip(&points.counts);
        let shares: f64 = shares.map(|(share, count)| share * count).sum();
        // What is beyond all points has no point in common.
        atoms.sum::<f64>() + shares + share(self.beyond, 0.0) + share(other.beyond, 0.0)
    }
}

/// What a point with shares `p` and `q` adds to a divergence.
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
    use crate::peers::Alone;

    /// A column with so many zeros before other values, two grades in turn.
    fn column(zeros: usize, others: &[f64]) -> Dataset<'static> {
        let values = std::iter::repeat_n(&0.0, zeros).chain(others);
        let row = |(row, value): (usize, &f64)| format!("{} qid:{} 1:{value}\n", row % 2, row / 4);
        parsed(&values.enumerate().map(row).collect::<String>())
    }

    fn judged(data: &Dataset<'_>) -> FeatureDivergence {
        ExpectedDivergence::new(data).unwrap().feature(0).unwrap()
    }

    #[test]
    fn zeros_are_an_atom_above_19_of_20() {
        let others = [1.0, 2.0, 1.5, 2.5];
        assert!(!judged(&column(76, &others)).sparse);
        let found = judged(&column(96, &others));
        assert!(found.sparse);
        // Both grades have 48 zeros of 50; the rest has its kernels at the four values.
        let bandwidth = Sample::new(vec![1.0, 1.5], 0).bandwidth().unwrap();
        assert_eq!(found.bandwidths, [Some(bandwidth); 2]);
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
        assert!((found.divergence - expected).abs() < 1e-15);
        assert!(found.divergence < 0.04 * LN_2);
    }

    #[test]
    fn an_atom_and_a_rest_are_the_divergence_of_counts_where_the_rest_is_one_value() {
        // Of 50 rows 1 of the lower grade and 2 of the upper one are ones.
        let found = judged(&column(97, &[1.0, 1.0, 1.0]));
        assert!(found.sparse && found.bandwidths == [None; 2]);
        let [p, q] = [1.0 / 50.0, 2.0 / 50.0];
        let expected = share(p, q) + share(1.0 - p, 1.0 - q);
        assert!((found.divergence - expected).abs() < 1e-15);
    }

    #[test]
    fn densities_without_a_common_point_are_ln_2_apart() {
        let data = parsed("0 qid:1 1:1\n1 qid:1 1:900\n0 qid:2 1:2\n1 qid:2 1:901\n");
        let far = parsed("0 qid:1 1:1.5\n0 qid:1 1:1.25\n");
        let found = judged(&data.with_validation(far));
        assert!((found.divergence - LN_2).abs() < 1e-15);
    }

    #[test]
    fn the_better_direction_counts_and_constants_are_left_out() {
        let data = parsed("0 qid:1 1:3 2:1\n1 qid:1 1:1 2:1\n0 qid:2 1:4 2:1\n2 qid:2 1:2 2:1\n");
        let filter = ExpectedDivergence::new(&data).unwrap();
        let found = filter.feature(0).unwrap();
        assert_eq!((found.ascending, found.ndcg), (1.0, 1.0));
        assert!(found.descending < 1.0);
        assert!(filter.feature(1).is_none() && filter.feature(2).is_none());
        // A grade with a single row has the bandwidth of all.
        assert_eq!(found.bandwidths[1], found.bandwidths[2]);
        assert_eq!(filter.largest_divergence(), 4.0 * LN_2);
    }

    #[test]
    fn values_are_spread_from_0_to_1() {
        let mut values = [3.0, 5.0, 4.0];
        spread(&mut values, &Alone);
        assert_eq!(values, [0.0, 1.0, 0.5]);
        spread(&mut values[..1], &Alone);
        assert_eq!(values[0], 0.0);
    }

    #[test]
    fn densities_add_up_to_one() {
        let data = column(10, &[1.0, 2.0, 1.5, 2.5, 0.1, -0.3]);
        let filter = ExpectedDivergence::new(&data).unwrap();
        for density in filter.densities(0, 400).unwrap() {
            let curve = density.curve;
            let step = curve[1].0 - curve[0].0;
            let sum: f64 = curve.iter().map(|point| point.1 * step).sum();
            assert!(sum > 0.5 && sum < 1.01, "{sum}");
            assert_eq!((density.rows, density.zeros), (8, None));
        }
        let sparse = column(397, &[1.0, 1.0, 2.0]);
        let filter = ExpectedDivergence::new(&sparse).unwrap();
        let densities = filter.densities(0, 5).unwrap();
        assert_eq!(densities[0].zeros, Some(0.995));
        assert_eq!(densities[0].curve.len(), 5);
    }

    #[test]
    fn labels_that_are_no_grades_are_refused() {
        let refused = |labels: &[f64]| {
            let text = labels.iter().map(|label| format!("{label} qid:1 1:1\n"));
            let data = parsed(&text.collect::<String>());
            ExpectedDivergence::new(&data).map(|_| ()).unwrap_err()
        };
        let many: Vec<f64> = (0..17).map(f64::from).collect();
        assert!(
            refused(&many)
                .to_string()
                .ends_with("found 17 different labels")
        );
        assert!(
            refused(&[0.0, -1.0])
                .to_string()
                .ends_with("found the label -1")
        );
        assert!(
            refused(&[0.0, 1024.0])
                .to_string()
                .ends_with("found the label 1024")
        );
    }
}
