//! The rule of the protocol.

use std::cmp::Ordering;

use crate::Lambda;

/// A model of a grid.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Choice {
    /// Position of its ridge parameter.
    pub position: usize,
    /// Number of its features.
    pub k: usize,
}

/// Chooses the model with the largest value; of equal ones that with the fewest features, then
/// that whose ridge parameter is nearest 1 on a logarithmic scale, then the larger parameter.
///
/// `values` are, for each of `lambdas`, those after 1, 2, ... features. `None` if there is no
/// value at all.
pub fn choose(lambdas: &[Lambda], values: &[Vec<Option<f64>>]) -> Option<Choice> {
    let models = lambdas.iter().zip(values).enumerate();
    let models = models.flat_map(|(position, (&lambda, values))| {
        let valued = (1..)
            .zip(values)
            .filter_map(|(k, value)| Some((k, (*value)?)));
        valued.map(move |(k, value)| Model {
            value,
            lambda,
            choice: Choice { position, k },
        })
    });
    let best = models.min_by(Model::compare)?;
    Some(best.choice)
}

struct Model {
    value: f64,
    lambda: Lambda,
    choice: Choice,
}

impl Model {
    /// The better one first.
    fn compare(&self, other: &Self) -> Ordering {
        let (lambda, others) = (self.lambda.value(), other.lambda.value());
        let value = other.value.total_cmp(&self.value);
        value
            .then(self.choice.k.cmp(&other.choice.k))
            .then(lambda.log2().abs().total_cmp(&others.log2().abs()))
            .then(others.total_cmp(&lambda))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chosen(lambdas: &[f64], values: &[&[f64]]) -> Option<(usize, usize)> {
        let lambdas = lambdas.iter().map(|&lambda| Lambda::new(lambda).unwrap());
        let lambdas: Vec<Lambda> = lambdas.collect();
        // Not a number stands for no value.
        let value = |&value: &f64| (!value.is_nan()).then_some(value);
        let values = values.iter().map(|row| row.iter().map(value).collect());
        let values: Vec<Vec<Option<f64>>> = values.collect();
        choose(&lambdas, &values).map(|choice| (choice.position, choice.k))
    }

    #[test]
    fn the_largest_value_is_chosen() {
        let values: &[&[f64]] = &[&[0.1, 0.2], &[0.3, 0.1, 0.4], &[0.39]];
        assert_eq!(chosen(&[0.5, 1.0, 2.0], values), Some((1, 3)));
    }

    #[test]
    fn ties_go_to_fewer_features() {
        let values: &[&[f64]] = &[&[0.1, 0.4, 0.4], &[0.1, 0.2, 0.4]];
        assert_eq!(chosen(&[1024.0, 1.0], values), Some((0, 2)));
    }

    #[test]
    fn then_to_the_lambda_nearest_one() {
        let equal: &[&[f64]] = &[&[0.4], &[0.4], &[0.4]];
        assert_eq!(chosen(&[0.25, 2.0, 8.0], equal), Some((1, 1)));
        assert_eq!(chosen(&[0.001, 0.6, 1.5], equal), Some((2, 1)));
        assert_eq!(chosen(&[0.25, 4.0, 8.0], equal), Some((1, 1)));
    }

    #[test]
    fn models_without_a_value_are_not_chosen() {
        let nan = f64::NAN;
        let values: &[&[f64]] = &[&[nan, nan], &[nan, 0.0], &[]];
        assert_eq!(chosen(&[1.0, 2.0, 4.0], values), Some((1, 2)));
        assert_eq!(chosen(&[1.0], &[&[nan]]), None);
        assert_eq!(chosen(&[], &[]), None);
    }
}
