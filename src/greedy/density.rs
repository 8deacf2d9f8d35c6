//! Densities of a sample by Gaussian kernels, at any points, in time linear in both.
//!
//! Equal values are one value with a count. Values within a bandwidth of each other make a box;
//! with `u = (x - c) / h` for a point and `v = (x_j - c) / h` for a value of the box of centre `c`,
//!
//! ```text
//! exp(-(u - v)^2 / 2) = exp(-u^2 / 2) sum_n He_n(u) v^n / n!
//! ```
//!
//! has the Hermite polynomials apart from the values, so that a box is a few numbers, whatever it
//! holds (L. Greengard and J. Strain, *The fast Gauss transform*, SIAM J. Sci. Stat. Comput. 12,
//! 1991). As `|v| <= 1/2`, terms from `n = 24` on are below 1e-19.

/// Terms of the expansion.
const TERMS: usize = 24;

/// Values of a box from which on it is expanded.
const MANY: usize = 12;

/// Points that are taken side by side.
const LANES: usize = 8;

/// Bandwidths from a point beyond which values add less than 2e-22.
const REACH: f64 = 10.0;

/// Bandwidths beyond which a kernel is zero in floating point.
const FARTHEST: f64 = 40.0;

/// Values, ascending, each with its count.
#[derive(Debug, Clone, Default)]
pub(super) struct Sample {
    pub(super) values: Vec<f64>,
    pub(super) counts: Vec<f64>,
    /// Sum of the counts.
    pub(super) size: f64,
}

impl Sample {
    /// `values` in any order, and `zeros` zeros more.
    pub(super) fn new(mut values: Vec<f64>, zeros: usize) -> Self {
        values.sort_unstable_by(f64::total_cmp);
        let mut sample = Self::default();
        let mut add = |value: f64, count: usize| {
            if count == 0 {
                return;
            }
            if sample.values.last() == Some(&value) {
                *sample.counts.last_mut().expect("as many as values") += count as f64;
            } else {
                sample.values.push(value);
                sample.counts.push(count as f64);
            }
        };
        let (below, rest) = values.split_at(values.partition_point(|value| *value < 0.0));
        for &value in below {
            add(value, 1);
        }
        add(0.0, zeros);
        for &value in rest {
            add(value, 1);
        }
        sample.size = sample.counts.iter().sum();
        sample
    }

    pub(super) fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// Silverman's rule of thumb (*Density Estimation for Statistics and Data Analysis*, 1986,
    /// equation 3.31): `0.9 min(sd, IQR / 1.34) n^(-1/5)`, of the deviation alone where the quartiles
    /// agree. `None` for values that are all equal, or too large for numbers.
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

    /// The quantile of a `share`, linear between order statistics. Not for an empty sample.
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
    /// Where values are far from all points, the sums are as exact as floating point has them.
    pub(super) fn kernel_sums(&self, bandwidth: f64, points: &[f64]) -> Vec<f64> {
        let mut sums = vec![0.0; points.len()];
        for start_end in self.boxes(bandwidth) {
            let part = Part {
                values: &self.values[start_end.clone()],
                counts: &self.counts[start_end],
                bandwidth,
            };
            let near = part.near(points, REACH);
            let (points, sums) = (&points[near.clone()], &mut sums[near]);
            if part.values.len() < MANY {
                part.add(points, sums);
            } else {
                part.add_expanded(points, sums);
            }
        }
        if !self.is_empty() && sums.iter().sum::<f64>() < 1.0 {
            // The tails are all there is.
            sums.fill(0.0);
            let part = Part {
                values: &self.values,
                counts: &self.counts,
                bandwidth,
            };
            let near = part.near(points, FARTHEST);
            part.add(&points[near.clone()], &mut sums[near]);
        }
        sums
    }

    /// The values, cut into boxes no wider than a bandwidth.
    fn boxes(&self, bandwidth: f64) -> impl Iterator<Item = std::ops::Range<usize>> {
        let mut start = 0;
        std::iter::from_fn(move || {
            let end = *self.values.get(start)? + bandwidth;
            let first = start;
            // The first one is within, whatever rounding does.
            start += 1;
            start += self.values[start..].partition_point(|value| *value <= end);
            Some(first..start)
        })
    }
}

/// Neighbouring values of a sample.
struct Part<'a> {
    values: &'a [f64],
    counts: &'a [f64],
    bandwidth: f64,
}

impl Part<'_> {
    fn ends(&self) -> (f64, f64) {
        (self.values[0], self.values[self.values.len() - 1])
    }

    /// Those of `points` within so many bandwidths.
    fn near(&self, points: &[f64], reach: f64) -> std::ops::Range<usize> {
        let (first, last) = self.ends();
        let reach = reach * self.bandwidth;
        let start = points.partition_point(|point| *point < first - reach);
        let end = points.partition_point(|point| *point <= last + reach);
        start..end.max(start)
    }

    fn add(&self, points: &[f64], sums: &mut [f64]) {
        for (point, sum) in points.iter().zip(sums) {
            for (value, count) in self.values.iter().zip(self.counts) {
                let distance = (point - value) / self.bandwidth;
                *sum += count * (-0.5 * distance * distance).exp();
            }
        }
    }

    fn add_expanded(&self, points: &[f64], sums: &mut [f64]) {
        let (first, last) = self.ends();
        let centre = first + (last - first) / 2.0;
        let mut terms = [0.0; TERMS];
        for (value, count) in self.values.iter().zip(self.counts) {
            let v = (value - centre) / self.bandwidth;
            let mut term = *count;
            for (number, sum) in (1..).zip(&mut terms) {
                *sum += term;
                term *= v / f64::from(number);
            }
        }
        for (points, sums) in points.chunks(LANES).zip(sums.chunks_mut(LANES)) {
            let mut u = [0.0; LANES];
            for (u, point) in u.iter_mut().zip(points) {
                *u = (point - centre) / self.bandwidth;
            }
            let series = hermite_series(&terms, &u);
            for (sum, (u, series)) in sums.iter_mut().zip(u.iter().zip(series)) {
                *sum += (-0.5 * u * u).exp() * series;
            }
        }
    }
}

/// `sum_n terms_n He_n(u)` at each `u`.
fn hermite_series(terms: &[f64; TERMS], u: &[f64; LANES]) -> [f64; LANES] {
    let (mut before, mut at) = ([1.0; LANES], *u);
    let mut sums = [terms[0]; LANES];
    for (number, term) in (1..).zip(&terms[1..]) {
        for lane in 0..LANES {
            sums[lane] += term * at[lane];
            let next = u[lane] * at[lane] - f64::from(number) * before[lane];
            (before[lane], at[lane]) = (at[lane], next);
        }
    }
    sums
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Numbers from 0 to 1 that look random.
    fn numbers(count: u32) -> Vec<f64> {
        let fractions = (0..count).map(|i| (f64::from(i) * 0.754_877_666).fract());
        fractions.map(|x| x * x).collect()
    }

    fn direct(values: &[f64], bandwidth: f64, point: f64) -> f64 {
        let kernel = |value: &f64| (-0.5 * ((point - value) / bandwidth).powi(2)).exp();
        values.iter().map(kernel).sum()
    }

    #[test]
    fn boxes_add_up_to_the_sum_over_all_values() {
        let values = numbers(3000);
        let sample = Sample::new(values.clone(), 0);
        let points: Vec<f64> = (-40..140).map(|i| f64::from(i) / 100.0).collect();
        for bandwidth in [0.001, 0.02, 0.3, 5.0] {
            let sums = sample.kernel_sums(bandwidth, &points);
            let total: f64 = sums.iter().sum();
            for (sum, &point) in sums.iter().zip(&points) {
                let expected = direct(&values, bandwidth, point);
                assert!(
                    (sum - expected).abs() <= 1e-14 * total,
                    "{bandwidth} {point}"
                );
            }
        }
    }

    #[test]
    fn tails_keep_their_digits_where_there_is_nothing_else() {
        let values = numbers(100);
        let sample = Sample::new(values.clone(), 0);
        let points = [1.31, 1.35, 99.0];
        let sums = sample.kernel_sums(0.01, &points);
        for (sum, &point) in sums.iter().zip(&points) {
            let expected = direct(&values, 0.01, point);
            assert!((sum - expected).abs() <= 1e-12 * expected, "{sum:e}");
        }
        assert!(sums[0] > 0.0 && sums[2] == 0.0);
    }

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
        // `bw.nrd0` of R.
        let bandwidth = |values: &[f64]| Sample::new(values.to_vec(), 0).bandwidth();
        let found = bandwidth(&[0.1, 0.4, 0.35, 0.2]).unwrap();
        assert!((found - 0.093_914_054_097_145_7).abs() < 1e-15);
        // Quartiles that agree.
        let deviation = (8.0_f64 / 9.0).sqrt() * 0.9 * 9.0_f64.powf(-0.2);
        let found = bandwidth(&[0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 8.0_f64.sqrt()]);
        assert!((found.unwrap() - deviation).abs() < 1e-12);
        assert_eq!(bandwidth(&[3.0]), None);
        assert_eq!(bandwidth(&[3.0, 3.0]), None);
        assert_eq!(bandwidth(&[1.5e308, -1.5e308]), None);
    }
}
