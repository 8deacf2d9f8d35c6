//! Values over seeds.

use serde::Serialize;

/// Mean and spread of some values.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Spread {
    /// Mean.
    pub mean: f64,
    /// Standard deviation of the sample; 0 for one value.
    pub deviation: f64,
    /// The least.
    pub least: f64,
    /// The largest.
    pub largest: f64,
}

impl Spread {
    /// Of `values`; `None` if there are none.
    pub fn of(values: impl IntoIterator<Item = f64>) -> Option<Self> {
        let values: Vec<f64> = values.into_iter().collect();
        let first = *values.first()?;
        let count = values.len() as f64;
        // Around the first, so that equal values have themselves for their mean.
        let mean = first + values.iter().map(|value| value - first).sum::<f64>() / count;
        let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
        Some(Self {
            mean,
            deviation: (squares / (count - 1.0).max(1.0)).sqrt(),
            least: values.iter().copied().fold(first, f64::min),
            largest: values.iter().copied().fold(first, f64::max),
        })
    }

    /// Of values all of which have to be there.
    pub fn of_all(values: impl IntoIterator<Item = Option<f64>>) -> Option<Self> {
        let values: Option<Vec<f64>> = values.into_iter().collect();
        Self::of(values?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn means_and_deviations() {
        let spread = Spread::of([1.0, 2.0, 6.0]).unwrap();
        assert_eq!((spread.mean, spread.least, spread.largest), (3.0, 1.0, 6.0));
        assert_eq!(spread.deviation, 7.0_f64.sqrt());
        let one = Spread::of([0.1]).unwrap();
        assert_eq!((one.mean, one.deviation), (0.1, 0.0));
        let equal = Spread::of([0.1; 7]).unwrap();
        assert_eq!((equal.mean, equal.deviation), (0.1, 0.0));
        assert_eq!(Spread::of([]), None);
        assert_eq!(Spread::of_all([Some(1.0), None]), None);
    }
}
