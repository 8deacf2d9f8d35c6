//! The definition in twice the precision (32 digits), which shows the rounding of an answer.

use qd::Quad;

use super::Problem;

/// RankRLS on some features.
pub struct Precise {
    /// Squared leave-query-out error.
    pub error: f64,
    pub weights: Vec<f64>,
}

impl Problem {
    pub fn precisely(&self, features: &[usize], lambda: f64) -> Precise {
        let columns: Vec<Vec<Quad>> = features
            .iter()
            .map(|&feature| self.centre(&self.x[feature]))
            .collect();
        let labels = self.centre(&self.labels);
        let mut error = Quad::from(0.0);
        for query in self.queries() {
            let outside = |row: usize| !query.contains(&row);
            let weights = ridge(&columns, &labels, lambda, outside);
            for row in query.clone() {
                let scores = weights
                    .iter()
                    .zip(&columns)
                    .map(|(w, column)| *w * column[row]);
                let residual = scores.fold(labels[row], |rest, score| rest - score);
                error += residual * residual;
            }
        }
        let weights = ridge(&columns, &labels, lambda, |_| true);
        Precise {
            error: error.0,
            weights: weights.into_iter().map(|weight| weight.0).collect(),
        }
    }

    fn centre(&self, values: &[f64]) -> Vec<Quad> {
        let mut centred: Vec<Quad> = values.iter().map(|&value| value.into()).collect();
        for query in self.queries() {
            let length = Quad::from(query.len() as f64);
            let sum = centred[query.clone()]
                .iter()
                .fold(Quad::from(0.0), |sum, v| sum + *v);
            for value in &mut centred[query] {
                *value -= sum / length;
            }
        }
        centred
    }
}

/// Solves `(X X' + lambda I) w = X y` over some of the rows, by Cholesky.
fn ridge(
    columns: &[Vec<Quad>],
    labels: &[Quad],
    lambda: f64,
    rows: impl Fn(usize) -> bool,
) -> Vec<Quad> {
    let dot = |a: &[Quad], b: &[Quad]| {
        let products = a.iter().zip(b).enumerate().filter(|(row, _)| rows(*row));
        products.fold(Quad::from(0.0), |sum, (_, (a, b))| sum + *a * *b)
    };
    let size = columns.len();
    let mut factor = vec![vec![Quad::from(0.0); size]; size];
    let mut solution = Vec::with_capacity(size);
    for i in 0..size {
        for j in 0..=i {
            let mut value = dot(&columns[i], &columns[j]);
            if i == j {
                value += Quad::from(lambda);
            }
            for (a, b) in factor[i][..j].iter().zip(&factor[j][..j]) {
                value -= *a * *b;
            }
            factor[i][j] = if i == j {
                value.sqrt()
            } else {
                value / factor[j][j]
            };
        }
        let mut value = dot(&columns[i], labels);
        for (a, b) in factor[i].iter().zip(&solution) {
            value -= *a * *b;
        }
        solution.push(value / factor[i][i]);
    }
    for i in (0..size).rev() {
        for l in i + 1..size {
            let solved = solution[l];
            solution[i] -= factor[l][i] * solved;
        }
        solution[i] /= factor[i][i];
    }
    solution
}
