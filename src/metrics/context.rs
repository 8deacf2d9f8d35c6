//! What a query's measures need to know of the whole data set.

/// The largest label of a data set, which scales ERR's stop probabilities.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Context {
    max_label: f64,
}

impl Context {
    /// The context of a data set with these `labels`.
    pub fn of(labels: &[f64]) -> Self {
        Self {
            max_label: labels.iter().copied().fold(0.0, f64::max),
        }
    }

    /// `Y`: the largest label, at least 0.
    pub fn max_label(self) -> f64 {
        self.max_label
    }

    /// `R = (2^label - 1) / 2^Y` in `[0, 1]`, 0 for labels below 0.
    ///
    /// Written `2^(label - Y) - 2^-Y`, which cannot overflow. A label above `Y`
    /// (of another data set) is taken as `Y`.
    pub(super) fn stop_probability(self, label: f64) -> f64 {
        let label = label.clamp(0.0, self.max_label);
        (label - self.max_label).exp2() - (-self.max_label).exp2()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[expect(clippy::float_cmp, reason = "powers of 2")]
    fn stop_probabilities_of_three_grades() {
        let context = Context::of(&[0.0, 2.0, 1.0]);
        let stops = [-1.0, 0.0, 1.0, 2.0].map(|label| context.stop_probability(label));
        assert_eq!(stops, [0.0, 0.0, 0.25, 0.75]);
    }

    #[test]
    #[expect(clippy::float_cmp, reason = "exact by construction")]
    fn the_largest_label_is_at_least_0_and_may_be_huge() {
        assert_eq!(Context::of(&[-3.0]).max_label(), 0.0);
        assert_eq!(Context::of(&[-3.0]).stop_probability(-3.0), 0.0);
        assert_eq!(Context::of(&[2000.0]).stop_probability(2000.0), 1.0);
    }
}
