//! The definition, carried out: retrain without each query (algorithms, section 1). Dense, slow, and written
//! independently of the strategies.

// Each test binary uses a part of this.
#![allow(dead_code, unreachable_pub)]

pub mod precise;
pub mod problems;
pub mod training;

use proptest::prelude::ProptestConfig;
use rankrls::greedy::Step;
use rankrls::tune::Tuned;
use rankrls::{
    Dataset, GreedyRankRls, Lambda, Queries, QueryWeight, Scale, Selection, StrategyKind,
};

use crate::long::long;

pub const EXACT: [StrategyKind; 3] = [
    StrategyKind::Dense,
    StrategyKind::LowMem,
    StrategyKind::Bounded,
];

/// Strategies for labels of any kind.
pub fn strategies() -> impl Iterator<Item = StrategyKind> {
    let all = StrategyKind::ALL.into_iter();
    all.filter(|kind| !kind.needs_grades())
}

pub fn by(strategy: StrategyKind, k: usize, lambda: f64) -> GreedyRankRls {
    GreedyRankRls {
        strategy,
        ..GreedyRankRls::new(k, Lambda::new(lambda).unwrap())
    }
}

/// A third of `whole` drawn problems, or all if `RANKRLS_LONG` is 3 or more.
pub fn drawn_problems(whole: u32) -> ProptestConfig {
    ProptestConfig::with_cases(if long(1) < 3 { whole / 3 } else { whole })
}

pub fn grid(lambdas: &[f64]) -> Vec<Lambda> {
    let lambdas = lambdas.iter().map(|&lambda| Lambda::new(lambda).unwrap());
    lambdas.collect()
}

/// Does `work` on `threads` threads.
pub fn on<T: Send>(threads: usize, work: impl FnOnce() -> T + Send) -> T {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
    pool.unwrap().install(work)
}

/// A selection without the counts of evaluated candidates. For `bounded`, these depend on earlier steps and on
/// ranks. Its choices do not.
pub fn outcome(mut selection: Selection) -> Selection {
    selection.steps.iter_mut().for_each(forget);
    selection
}

/// The same for a tuning.
pub fn tuned(mut tuned: Tuned) -> Tuned {
    let outcomes = tuned.outcomes.iter_mut();
    let points = outcomes.flat_map(|outcome| &mut outcome.points);
    points.for_each(|point| forget(&mut point.step));
    tuned
}

fn forget(step: &mut Step) {
    step.evaluated = 0;
    step.alive.clear();
}

/// Whole numbers below a bound. Equal seeds draw equal numbers.
pub fn draws(seed: u64) -> impl FnMut(u64) -> u64 {
    let mut state = seed;
    move |below| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % below
    }
}

/// A small data set in the most naive form.
#[derive(Debug, Clone)]
pub struct Problem {
    /// `x[feature][example]`
    pub x: Vec<Vec<f64>>,
    pub labels: Vec<f64>,
    pub sizes: Vec<usize>,
}

impl Problem {
    pub fn rows(&self) -> usize {
        self.labels.len()
    }

    pub fn queries(&self) -> Vec<std::ops::Range<usize>> {
        let mut start = 0;
        let range = |&size: &usize| {
            start += size;
            start - size..start
        };
        self.sizes.iter().map(range).collect()
    }

    /// The data set of the library.
    pub fn dataset(&self) -> Dataset<'static> {
        let (mut indptr, mut rows, mut values) = (vec![0], Vec::new(), Vec::new());
        for column in &self.x {
            for (row, &value) in column.iter().enumerate() {
                if value != 0.0 {
                    rows.push(u32::try_from(row).unwrap());
                    values.push(value);
                }
            }
            indptr.push(rows.len());
        }
        let queries = Queries::from_sizes(&self.sizes).unwrap();
        Dataset::from_csc(indptr, rows, values, self.labels.clone(), queries).unwrap()
    }

    /// The problem with weighted queries: every centred row is multiplied by the root of its query's weight.
    pub fn weighted(&self, weight: QueryWeight) -> Self {
        let scaled = |values: &[f64]| {
            let mut scaled = self.centred(values);
            for range in self.queries() {
                let root = weight.of(range.len()).sqrt();
                scaled[range].iter_mut().for_each(|value| *value *= root);
            }
            scaled
        };
        Self {
            x: self.x.iter().map(|column| scaled(column)).collect(),
            labels: scaled(&self.labels),
            sizes: self.sizes.clone(),
        }
    }

    /// The problem with columns divided by `scale`, and the divisors. A column that is constant in every query
    /// stays.
    pub fn divided(&self, scale: Scale) -> (Self, Vec<f64>) {
        let divisor = |column: &Vec<f64>| {
            let centred = self.centred(column);
            let squares: f64 = centred.iter().map(|value| value * value).sum();
            let divisor = match scale {
                Scale::None => 1.0,
                Scale::Sd => (squares / self.rows() as f64).sqrt(),
                Scale::Max => centred.iter().fold(0.0, |most: f64, v| most.max(v.abs())),
            };
            if divisor > 0.0 { divisor } else { 1.0 }
        };
        let divisors: Vec<f64> = self.x.iter().map(divisor).collect();
        let columns = self.x.iter().zip(&divisors);
        let divide =
            |(column, divisor): (&Vec<f64>, &f64)| column.iter().map(|v| v / divisor).collect();
        let divided = Self {
            x: columns.map(divide).collect(),
            ..self.clone()
        };
        (divided, divisors)
    }

    /// The problem with columns of very different sizes, so that copies become multiples.
    pub fn uneven(&self) -> Self {
        let sizes = [1.0, 1024.0, 1.0 / 4096.0, 2.0];
        let columns = self.x.iter().zip(sizes.into_iter().cycle());
        let stretch = |(column, size): (&Vec<f64>, f64)| column.iter().map(|v| v * size).collect();
        Self {
            x: columns.map(stretch).collect(),
            ..self.clone()
        }
    }

    /// Leave-query-out predictions, centred.
    pub fn predictions(&self, features: &[usize], lambda: f64) -> Vec<f64> {
        let labels = self.centred(&self.labels);
        let holdout = self.holdout(features, lambda);
        labels
            .iter()
            .zip(&holdout)
            .map(|(label, residual)| label - residual)
            .collect()
    }

    pub fn centred(&self, values: &[f64]) -> Vec<f64> {
        let mut centred = values.to_vec();
        for range in self.queries() {
            let mean = centred[range.clone()].iter().sum::<f64>() / range.len() as f64;
            centred[range].iter_mut().for_each(|value| *value -= mean);
        }
        centred
    }

    /// Lowest feature of every class of columns that centre alike up to sign. Exact for
    /// values that are small multiples of a power of two.
    pub fn representatives(&self) -> Vec<usize> {
        let all = self.representing().into_iter().enumerate();
        all.filter_map(|(feature, lowest)| (lowest == Some(feature)).then_some(feature))
            .collect()
    }

    /// The lowest feature of every column's class; `None` for a column that is constant in every query.
    pub fn representing(&self) -> Vec<Option<usize>> {
        let scaled: Vec<Vec<f64>> = self
            .x
            .iter()
            .map(|column| self.scaled_centred(column))
            .collect();
        let equal = |a: &[f64], b: &[f64]| {
            a.iter().zip(b).all(|(a, b)| a == b) || a.iter().zip(b).all(|(a, b)| *a == -b)
        };
        let lowest = |column: &Vec<f64>| {
            let varies = column.iter().any(|&value| value != 0.0);
            let alike = scaled.iter().position(|other| equal(other, column));
            alike.filter(|_| varies)
        };
        scaled.iter().map(lowest).collect()
    }

    /// `|Q| (x - mean_Q)`, without division and so without rounding.
    fn scaled_centred(&self, column: &[f64]) -> Vec<f64> {
        let mut scaled = vec![0.0; column.len()];
        for range in self.queries() {
            let sum: f64 = column[range.clone()].iter().sum();
            for row in range.clone() {
                scaled[row] = column[row] * range.len() as f64 - sum;
            }
        }
        scaled
    }

    /// Leave-query-out residuals of RankRLS on `features`: `y^ - X^' w_{-Q}` for each query.
    pub fn holdout(&self, features: &[usize], lambda: f64) -> Vec<f64> {
        let y = self.centred(&self.labels);
        let x: Vec<Vec<f64>> = features.iter().map(|&f| self.centred(&self.x[f])).collect();
        let mut residual = y.clone();
        for query in self.queries() {
            let seen: Vec<usize> = (0..self.rows())
                .filter(|row| !query.contains(row))
                .collect();
            let weights = ridge(&x, &y, &seen, lambda);
            for row in query {
                let prediction: f64 = x.iter().zip(&weights).map(|(x, w)| x[row] * w).sum();
                residual[row] = y[row] - prediction;
            }
        }
        residual
    }

    /// Residuals `y - X' w` of `rows` by RankRLS on all features, trained without these rows.
    pub fn residuals_without(&self, rows: &[usize], lambda: f64) -> Vec<f64> {
        let y = self.centred(&self.labels);
        let x: Vec<Vec<f64>> = self.x.iter().map(|column| self.centred(column)).collect();
        let seen: Vec<usize> = (0..self.rows()).filter(|row| !rows.contains(row)).collect();
        let weights = ridge(&x, &y, &seen, lambda);
        let prediction = |row: usize| x.iter().zip(&weights).map(|(x, w)| x[row] * w).sum::<f64>();
        rows.iter().map(|&row| y[row] - prediction(row)).collect()
    }

    /// `e(S)`: leave-query-out error.
    pub fn error(&self, features: &[usize], lambda: f64) -> f64 {
        self.holdout(features, lambda)
            .iter()
            .map(|residual| residual * residual)
            .sum()
    }

    /// The back-fitting criterion. The weights of `selected` stay, and `newcomer` is fitted to the residuals of the
    /// other queries and tested on the query left out.
    pub fn backfit_error(&self, selected: &[usize], newcomer: usize, lambda: f64) -> f64 {
        let y = self.centred(&self.labels);
        let x: Vec<Vec<f64>> = selected.iter().map(|&f| self.centred(&self.x[f])).collect();
        let v = self.centred(&self.x[newcomer]);
        let mut error = 0.0;
        for query in self.queries() {
            let seen: Vec<usize> = (0..self.rows())
                .filter(|row| !query.contains(row))
                .collect();
            let weights = ridge(&x, &y, &seen, lambda);
            let left =
                |row: usize| y[row] - x.iter().zip(&weights).map(|(x, w)| x[row] * w).sum::<f64>();
            let along: f64 = seen.iter().map(|&row| v[row] * left(row)).sum();
            let norm: f64 = seen.iter().map(|&row| v[row] * v[row]).sum();
            let alpha = along / (lambda + norm);
            error += query
                .map(|row| (left(row) - alpha * v[row]).powi(2))
                .sum::<f64>();
        }
        error
    }

    /// The minimum of RankRLS's objective: squared centred training residuals and `lambda` times the squared
    /// weights.
    pub fn training_error(&self, features: &[usize], lambda: f64) -> f64 {
        let y = self.centred(&self.labels);
        let x: Vec<Vec<f64>> = features.iter().map(|&f| self.centred(&self.x[f])).collect();
        let weights = self.weights(features, lambda);
        let fitted = |row: usize| x.iter().zip(&weights).map(|(x, w)| x[row] * w).sum::<f64>();
        let residuals: f64 = (0..self.rows())
            .map(|row| (y[row] - fitted(row)).powi(2))
            .sum();
        residuals + lambda * weights.iter().map(|weight| weight * weight).sum::<f64>()
    }

    /// Weights of RankRLS on `features`, all queries.
    pub fn weights(&self, features: &[usize], lambda: f64) -> Vec<f64> {
        let y = self.centred(&self.labels);
        let x: Vec<Vec<f64>> = features.iter().map(|&f| self.centred(&self.x[f])).collect();
        ridge(&x, &y, &(0..self.rows()).collect::<Vec<_>>(), lambda)
    }
}

/// `(X X' + lambda I)^-1 X y` over the given rows, by Gaussian elimination with pivoting.
pub fn ridge(x: &[Vec<f64>], y: &[f64], rows: &[usize], lambda: f64) -> Vec<f64> {
    let n = x.len();
    let product = |a: &[f64], b: &[f64]| rows.iter().map(|&row| a[row] * b[row]).sum::<f64>();
    let mut system: Vec<Vec<f64>> = (0..n)
        .map(|i| {
            let mut line: Vec<f64> = (0..n).map(|j| product(&x[i], &x[j])).collect();
            line[i] += lambda;
            line.push(product(&x[i], y));
            line
        })
        .collect();
    for pivot in 0..n {
        let best = (pivot..n)
            .max_by(|&a, &b| system[a][pivot].abs().total_cmp(&system[b][pivot].abs()))
            .unwrap();
        system.swap(pivot, best);
        let line = system[pivot].clone();
        for other in system.iter_mut().skip(pivot + 1) {
            let factor = other[pivot] / line[pivot];
            other
                .iter_mut()
                .zip(&line)
                .for_each(|(a, b)| *a -= factor * b);
        }
    }
    let mut weights = vec![0.0; n];
    for i in (0..n).rev() {
        let known: f64 = (i + 1..n).map(|j| system[i][j] * weights[j]).sum();
        weights[i] = (system[i][n] - known) / system[i][i];
    }
    weights
}
