//! The rules of measures for labels and ranks.

use crate::names::names;

/// The discount of ranks, and the treatment of ties and undefined queries; the [module](super) has the table.
/// Written `letor` and `standard`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Convention {
    /// The arithmetic of `Eval-Score-4.0.pl`, to compare with published LETOR figures.
    Letor,
    /// Textbook discounts, expectations over ties, and no undefined queries.
    #[default]
    Standard,
}

names!(Convention, "convention", Letor => "letor", Standard => "standard");

impl Convention {
    /// Discount of the 1-based `rank`: 1 at rank 1 and not increasing.
    pub(super) fn discount(self, rank: usize) -> f64 {
        match self {
            Self::Letor => 1.0 / (rank.max(2) as f64).log2(),
            Self::Standard => 1.0 / (rank as f64 + 1.0).log2(),
        }
    }

    /// The value of a query whose measure is undefined.
    pub(super) fn undefined(self) -> Option<f64> {
        match self {
            Self::Letor => Some(0.0),
            Self::Standard => None,
        }
    }
}

/// The gain of a document, by its grade `y`, which is its label.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub(super) enum Gain {
    /// `y` (K. Järvelin and J. Kekäläinen, ACM TOIS 20(4), 2002).
    Linear,
    /// `2^y - 1` (C. Burges et al., ICML 2005).
    #[default]
    Exponential,
}

impl Gain {
    /// Gains of documents with labels from 0 to `largest`, as shares of a unit. NDCG is a ratio, so a unit changes
    /// nothing. It is 1 if gains stay in range, and otherwise the size of the largest gain.
    pub(super) fn up_to(self, largest: f64) -> Gains {
        match self {
            Self::Linear if (LEAST..=GREATEST).contains(&largest) => Gains::Labels,
            Self::Exponential if largest > EXPONENT => Gains::Powers { largest },
            Self::Exponential if largest >= FEW_BITS => Gains::Exponential,
            Self::Exponential if largest >= LEAST => Gains::NearZero,
            Self::Linear | Self::Exponential => Gains::Shares { largest },
        }
    }
}

/// Labels whose products with discounts have sums that neither overflow nor lose digits.
const LEAST: f64 = 1e-280;
const GREATEST: f64 = 1e280;

/// The largest label for which the sum of 2^32 gains `2^y - 1` is finite, with room to spare.
const EXPONENT: f64 = 960.0;

/// The least largest label for which `2^y - 1` keeps most of its digits.
const FEW_BITS: f64 = 1e-3;

/// The gains of a query, see [`Gain::up_to`].
#[derive(Debug, Clone, Copy)]
pub(super) enum Gains {
    /// `y`.
    Labels,
    /// `2^y - 1`.
    Exponential,
    /// `2^y - 1` of labels near 0, computed without cancellation.
    NearZero,
    /// `(2^y - 1) / 2^largest`, which is at most 1.
    Powers { largest: f64 },
    /// `y / largest`, the ratio of both kinds of gain for labels out of range.
    Shares { largest: f64 },
}

impl Gains {
    /// The gain of a document with this `label`.
    pub(super) fn of(self, label: f64) -> f64 {
        match self {
            Self::Labels => label,
            Self::Exponential => label.exp2() - 1.0,
            Self::NearZero => (label * std::f64::consts::LN_2).exp_m1(),
            Self::Powers { largest } => (label - largest).exp2() - (-largest).exp2(),
            Self::Shares { largest } if largest > 0.0 => label / largest,
            Self::Shares { .. } => 0.0,
        }
    }
}

/// A measure's rules for labels and ranks: from its name, or by default.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(super) struct Rules {
    /// Discounts, ties and undefined queries.
    pub(super) convention: Convention,
    /// The least label of a relevant document; `None`: labels above 0 are relevant.
    pub(super) relevant_from: Option<f64>,
    /// Gain of a grade, for NDCG.
    pub(super) gain: Gain,
    /// The largest grade of the scale, for ERR; `None`: the largest label of the data set, at least 0.
    pub(super) max_grade: Option<f64>,
}

impl From<Convention> for Rules {
    fn from(convention: Convention) -> Self {
        Self {
            convention,
            ..Self::default()
        }
    }
}

impl Rules {
    /// These rules for a data set with these `labels`. A missing largest grade comes from them.
    pub(super) fn of(self, labels: &[f64]) -> Self {
        // The largest label, at least 0.
        let largest = || labels.iter().copied().fold(0.0, f64::max);
        Self {
            max_grade: self.max_grade.or_else(|| Some(largest())),
            ..self
        }
    }

    /// Whether a document with this `label` is relevant.
    pub(super) fn is_relevant(self, label: f64) -> bool {
        self.relevant_from
            .map_or(label > 0.0, |least| label >= least)
    }

    /// `R = (2^label - 1) / 2^Y` in `[0, 1]`, and 0 for negative labels.
    ///
    /// It is computed as `2^(label - Y) - 2^-Y`, which cannot overflow. A label above `Y`, from another data set,
    /// counts as `Y`.
    pub(super) fn stop_probability(self, label: f64) -> f64 {
        // An invalid scale has only grade 0, which clamping needs.
        let grade = self.max_grade.filter(|grade| grade.is_finite());
        let grade = grade.unwrap_or(0.0).max(0.0);
        let label = label.clamp(0.0, grade);
        (label - grade).exp2() - (-grade).exp2()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn discounts_of_the_first_ranks() {
        let discounts = |convention: Convention| [1, 2, 3, 4].map(|rank| convention.discount(rank));
        let log2_3 = 3.0_f64.log2();
        assert_eq!(discounts(Convention::Letor), [1.0, 1.0, 1.0 / log2_3, 0.5]);
        let standard = discounts(Convention::Standard);
        assert_eq!(standard[..3], [1.0, 1.0 / log2_3, 0.5]);
    }

    #[test]
    fn stop_probabilities_lie_between_0_and_1() {
        let rules = |labels: &[f64]| Rules::default().of(labels);
        let stop = |label| rules(&[0.0, 2.0, 1.0]).stop_probability(label);
        let stops = [-1.0, 0.0, 1.0, 2.0].map(stop);
        assert_eq!(stops, [0.0, 0.0, 0.25, 0.75]);
        assert_eq!(rules(&[-3.0]).max_grade, Some(0.0));
        assert_eq!(rules(&[-3.0]).stop_probability(-3.0), 0.0);
        assert_eq!(rules(&[2000.0]).stop_probability(2000.0), 1.0);
        assert_eq!(rules(&[2000.0]).stop_probability(1999.0), 0.5);
        for max_grade in [-1.0, f64::NAN, f64::INFINITY].map(Some) {
            let without = Rules {
                max_grade,
                ..Rules::default()
            };
            assert_eq!(without.stop_probability(3.0), 0.0);
        }
    }
}
