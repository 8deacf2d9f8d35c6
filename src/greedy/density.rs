//! Densities of a sample by Gaussian kernels.

/// Terms of the series of a kernel.
const TERMS: usize = 22;

/// Ascending values, each with its count.
#[derive(Debug, Clone, Default)]
pub(super) struct Sample {
    pub(super) values: Vec<f64>,
    pub(super) counts: Vec<f64>,
    /// Sum of the counts.
    pub(super) size: f64,
}

impl Sample {
    /// `values` in any order, and `zeros` more zeros.
    pub(super) fn new(mut values: Vec<f64>, zeros: usize) -> Self {
        values.resize(values.len() + zeros, 0.0);
        values.sort_unstable_by(f64::total_cmp);
        let mut sample = Self::default();
        for equal in values.chunk_by(|a, b| a == b) {
            sample.values.push(equal[0]);
            sample.counts.push(equal.len() as f64);
        }
        sample.size = values.len() as f64;
        sample
    }

    pub(super) fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// Silverman's rule of thumb (*Density Estimation for Statistics and Data Analysis*, 1986, equation 3.31): `0.9
    /// min(sd, IQR / 1.34) n^(-1/5)`. If the quartiles agree, it uses only the deviation. `None` for values that
    /// are all equal, or too large to compute with.
    pub(super) fn bandwidth(&self) -> Option<f64> {
        if self.values.len() < 2 {
            return None;
        }
        let pairs = || self.values.iter().zip(&self.counts);
        let mean = pairs().map(|(value, count)| value * count).sum::<f64>() / self.size;
        let squares = pairs().map(|(value, count)| count * (value - mean).powi(2));
        let deviation = (squares.sum::<f64>() / (self.size - 1.0)).sqrt();
        let range = (self.quantile(0.75) - self.quantile(0.25)) / 1.34;
        let spread = if range > 0.0 {
            deviation.min(range)
        } else {
            deviation
        };
        let bandwidth = 0.9 * spread * self.size.powf(-0.2);
        (bandwidth > 0.0 && bandwidth.is_finite()).then_some(bandwidth)
    }

    /// The quantile of a `share`, linear between order statistics. The sample must not be empty.
    fn quantile(&self, share: f64) -> f64 {
        let place = share * (self.size - 1.0);
        let at = |place: f64| {
            let mut passed = 0.0;
            let within = |count: &&f64| {
                passed += **count;
                passed <= place
            };
            let index = self.counts.iter().take_while(within).count();
            self.values[index.min(self.values.len() - 1)]
        };
        let (low, part) = (at(place.floor()), place.fract());
        if part == 0.0 {
            return low;
        }
        low + part * (at(place.ceil()) - low)
    }

    /// `sum_j exp(-((x - x_j) / h)^2 / 2)` over the sample at each of the ascending `points` `x`.
    ///
    /// Points within `h / 2` of a centre `c` share the sums over the sample. With `a = (x - c) / h` and `b = (x_j -
    /// c) / h` the kernel is `exp(-a^2 / 2) sum_k a^k (b^k / k!) exp(-b^2 / 2)` (Greengard and Strain, *The Fast
    /// Gauss Transform*, 1991, equation 9). Omitted terms are below 1e-16 of a kernel's peak.
    pub(super) fn kernel_sums(&self, bandwidth: f64, points: &[f64]) -> Vec<f64> {
        let mut sums = Vec::with_capacity(points.len());
        let mut rest = points;
        while let [first, ..] = rest {
            let near = rest
                .partition_point(|point| point - first <= bandwidth)
                .max(1);
            let centre = first + 0.5 * bandwidth;
            let shared = self.shared_sums(bandwidth, centre);
            sums.extend(rest[..near].iter().map(|point| {
                let a = (point - centre) / bandwidth;
                let series = shared.iter().rev().fold(0.0, |sum, term| sum * a + term);
                // Rounding may take a tiny sum below 0.
                ((-0.5 * a * a).exp() * series).max(0.0)
            }));
            rest = &rest[near..];
        }
        sums
    }

    /// `sum_j b^k / k! exp(-b^2 / 2)` for each `k`.
    fn shared_sums(&self, bandwidth: f64, centre: f64) -> [f64; TERMS] {
        let mut sums = [0.0; TERMS];
        for (value, count) in self.values.iter().zip(&self.counts) {
            let b = (value - centre) / bandwidth;
            let mut term = count * (-0.5 * b * b).exp();
            if term == 0.0 {
                continue;
            }
            for (sum, k) in sums.iter_mut().zip(1..) {
                *sum += term;
                term *= b / f64::from(k);
            }
        }
        sums
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_values_are_counted_and_zeros_are_values() {
        let sample = Sample::new(vec![2.0, -1.0, 0.0, 2.0], 3);
        assert_eq!(sample.values, [-1.0, 0.0, 2.0]);
        assert_eq!(sample.counts, [1.0, 4.0, 2.0]);
        assert_eq!(sample.size, 7.0);
        let quartiles = [0.25, 0.5, 0.75, 0.9].map(|share| sample.quantile(share));
        assert_eq!(quartiles[..3], [0.0, 0.0, 1.0]);
        assert!((quartiles[3] - 2.0).abs() < 1e-12);
    }

    #[test]
    fn bandwidths_are_silvermans() {
        // The rule `bw.nrd0` of R.
        let bandwidth = |values: &[f64]| Sample::new(values.to_vec(), 0).bandwidth();
        let found = bandwidth(&[0.1, 0.4, 0.35, 0.2]).unwrap();
        assert!((found - 0.093_914_054_097_145_7).abs() < 1e-15);
        // Equal quartiles.
        let deviation = (8.0_f64 / 9.0).sqrt() * 0.9 * 9.0_f64.powf(-0.2);
        let found = bandwidth(&[0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 8.0_f64.sqrt()]);
        assert!((found.unwrap() - deviation).abs() < 1e-12);
        assert_eq!(bandwidth(&[3.0]), None);
        assert_eq!(bandwidth(&[3.0, 3.0]), None);
        assert_eq!(bandwidth(&[1.5e308, -1.5e308]), None);
    }

    #[test]
    fn kernel_sums_are_those_of_the_definition() {
        let values: Vec<f64> = (0..300)
            .map(|n| f64::from(n * n % 89) / 7.0 - 3.0)
            .collect();
        let sample = Sample::new(values, 40);
        let points: Vec<f64> = (0..200).map(|n| f64::from(n) / 3.0 - 20.0).collect();
        for bandwidth in [0.03, 0.5, 2.0, 100.0] {
            let plain = |point: &f64| {
                let pairs = sample.values.iter().zip(&sample.counts);
                let kernel = |(value, count): (&f64, &f64)| {
                    count * (-0.5 * ((point - value) / bandwidth).powi(2)).exp()
                };
                pairs.map(kernel).sum::<f64>()
            };
            let sums = sample.kernel_sums(bandwidth, &points);
            for (found, expected) in sums.iter().zip(points.iter().map(plain)) {
                assert!(
                    (found - expected).abs() < 1e-13 * sample.size,
                    "{found} for {expected}"
                );
            }
        }
    }
}
