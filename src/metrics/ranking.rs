//! One query, sorted once for all measures, and the rules by which measures read it.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::MetricsError;

/// How ranks are discounted, ties broken and undefined queries treated; the
/// [module](super) has the table. Written `letor` and `standard`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Convention {
    /// The arithmetic of `Eval-Score-4.0.pl`, to compare with published LETOR figures.
    Letor,
    /// Textbook discounts, expectations over ties, undefined queries left out.
    #[default]
    Standard,
}

impl Convention {
    /// Discount of the 1-based `rank`: 1 at rank 1 and not increasing.
    pub(super) fn discount(self, rank: usize) -> f64 {
        match self {
            Self::Letor => 1.0 / (rank.max(2) as f64).log2(),
            Self::Standard => 1.0 / (rank as f64 + 1.0).log2(),
        }
    }

    /// The value of a query for which a measure is undefined.
    pub(super) fn undefined(self) -> Option<f64> {
        match self {
            Self::Letor => Some(0.0),
            Self::Standard => None,
        }
    }
}

impl fmt::Display for Convention {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Letor => "letor",
            Self::Standard => "standard",
        })
    }
}

impl FromStr for Convention {
    type Err = MetricsError;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        match name {
            "letor" => Ok(Self::Letor),
            "standard" => Ok(Self::Standard),
            _ => Err(MetricsError::Convention(name.to_owned())),
        }
    }
}

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

/// The labels of a query in ranked order, cut into blocks whose inner order is
/// random.
///
/// Under [`Convention::Standard`] a block is a group of equal scores, its labels
/// falling, so that no figure depends on input order. Under
/// [`Convention::Letor`] every document is a block and ties keep input order.
#[derive(Debug)]
pub(super) struct Ranking {
    pub(super) convention: Convention,
    /// Labels by falling score.
    labels: Vec<f64>,
    /// Labels in falling order: the ideal ranking.
    ideal: Vec<f64>,
    /// Where each group of equal scores ends.
    tie_ends: Vec<usize>,
}

/// Documents of one query that share their ranks.
#[derive(Debug, Clone, Copy)]
pub(super) struct Block<'a> {
    /// Documents ranked before the block.
    pub(super) before: usize,
    /// Labels, falling.
    pub(super) labels: &'a [f64],
}

impl Ranking {
    /// Sorts a query: `O(n log n)`. `None` for an empty query and for labels or
    /// scores that are not finite.
    ///
    /// # Panics
    /// Unless there are as many labels as scores.
    pub(super) fn new(labels: &[f64], scores: &[f64], convention: Convention) -> Option<Self> {
        assert_eq!(labels.len(), scores.len(), "one score a label");
        if labels.is_empty() || !labels.iter().chain(scores).all(|value| value.is_finite()) {
            return None;
        }
        // Adding 0 turns -0 into 0, which `total_cmp` would tell apart.
        let mut documents: Vec<(f64, f64)> = scores
            .iter()
            .zip(labels)
            .map(|(score, label)| (score + 0.0, label + 0.0))
            .collect();
        match convention {
            Convention::Letor => documents.sort_by(|a, b| b.0.total_cmp(&a.0)),
            Convention::Standard => {
                documents.sort_unstable_by(|a, b| b.0.total_cmp(&a.0).then(b.1.total_cmp(&a.1)));
            }
        }
        let labels: Vec<f64> = documents.iter().map(|&(_, label)| label).collect();
        let mut ideal = labels.clone();
        ideal.sort_unstable_by(|a, b| b.total_cmp(a));
        Some(Self {
            convention,
            labels,
            ideal,
            tie_ends: ends(documents.chunk_by(|a, b| a.0.total_cmp(&b.0).is_eq())),
        })
    }

    /// Documents `n`, at least 1.
    pub(super) fn len(&self) -> usize {
        self.labels.len()
    }

    /// Labels in falling order.
    pub(super) fn ideal(&self) -> &[f64] {
        &self.ideal
    }

    /// Documents with a label above 0.
    pub(super) fn relevant(&self) -> usize {
        relevant(&self.ideal)
    }

    /// Blocks of documents whose order is random, best first.
    pub(super) fn blocks(&self) -> impl Iterator<Item = Block<'_>> {
        let ends = match self.convention {
            Convention::Letor => None,
            Convention::Standard => Some(self.tie_ends.as_slice()),
        };
        let count = ends.map_or(self.len(), <[usize]>::len);
        let end = move |block: usize| ends.map_or(block + 1, |ends| ends[block]);
        (0..count).map(move |block| {
            let before = if block == 0 { 0 } else { end(block - 1) };
            Block {
                before,
                labels: &self.labels[before..end(block)],
            }
        })
    }

    /// Labels of the groups of equal scores, best first; in no set order within.
    pub(super) fn ties(&self) -> impl Iterator<Item = &[f64]> {
        let mut begin = 0;
        self.tie_ends
            .iter()
            .map(move |&end| &self.labels[std::mem::replace(&mut begin, end)..end])
    }
}

impl Block<'_> {
    /// Documents in the block, at least 1.
    pub(super) fn len(&self) -> usize {
        self.labels.len()
    }

    /// Documents of the block with a label above 0.
    pub(super) fn relevant(&self) -> usize {
        relevant(self.labels)
    }

    /// Mean of `value` over the block: exactly the value where all are equal.
    /// `value` must be monotone in the label.
    pub(super) fn mean(&self, value: impl Fn(f64) -> f64) -> f64 {
        let first = value(self.labels[0]);
        let last = value(self.labels[self.len() - 1]);
        if first.total_cmp(&last).is_eq() {
            return first;
        }
        self.labels.iter().map(|&label| value(label)).sum::<f64>() / self.len() as f64
    }
}

/// Labels above 0.
fn relevant(labels: &[f64]) -> usize {
    labels.iter().filter(|&&label| label > 0.0).count()
}

/// Running total of lengths.
fn ends<'a, T: 'a>(runs: impl Iterator<Item = &'a [T]>) -> Vec<usize> {
    runs.scan(0, |end, run| {
        *end += run.len();
        Some(*end)
    })
    .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const LABELS: [f64; 5] = [0.0, 1.0, 2.0, -0.0, 3.0];
    const SCORES: [f64; 5] = [0.0, -0.0, 5.0, 5.0, -1.0];

    #[test]
    fn conventions_have_names() {
        for convention in [Convention::Letor, Convention::Standard] {
            assert_eq!(convention.to_string().parse(), Ok(convention));
            let json = serde_json::to_string(&convention).unwrap();
            assert_eq!(json, format!("\"{convention}\""));
        }
        let error = "LETOR".parse::<Convention>().unwrap_err();
        assert!(error.to_string().contains("letor, standard"), "{error}");
    }

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
        let context = Context::of(&[0.0, 2.0, 1.0]);
        let stops = [-1.0, 0.0, 1.0, 2.0].map(|label| context.stop_probability(label));
        assert_eq!(stops, [0.0, 0.0, 0.25, 0.75]);
        assert_eq!(Context::of(&[-3.0]).max_label(), 0.0);
        assert_eq!(Context::of(&[-3.0]).stop_probability(-3.0), 0.0);
        assert_eq!(Context::of(&[2000.0]).stop_probability(2000.0), 1.0);
    }

    fn blocks(convention: Convention) -> Vec<Vec<f64>> {
        let ranking = Ranking::new(&LABELS, &SCORES, convention).unwrap();
        ranking
            .blocks()
            .map(|block| block.labels.to_vec())
            .collect()
    }

    #[test]
    fn standard_blocks_are_tied_scores_with_falling_labels() {
        let expected = [vec![2.0, 0.0], vec![1.0, 0.0], vec![3.0]];
        assert_eq!(blocks(Convention::Standard), expected);
    }

    #[test]
    fn letor_blocks_are_documents_in_input_order() {
        let expected = [[2.0], [0.0], [0.0], [1.0], [3.0]];
        assert_eq!(blocks(Convention::Letor), expected);
    }

    #[test]
    fn ties_do_not_depend_on_the_convention() {
        for convention in [Convention::Letor, Convention::Standard] {
            let ranking = Ranking::new(&LABELS, &SCORES, convention).unwrap();
            let sizes: Vec<usize> = ranking.ties().map(<[f64]>::len).collect();
            assert_eq!(sizes, [2, 2, 1]);
        }
    }

    #[test]
    fn what_cannot_be_ranked_is_none() {
        let convention = Convention::Standard;
        assert!(Ranking::new(&[], &[], convention).is_none());
        assert!(Ranking::new(&[1.0], &[f64::NAN], convention).is_none());
        assert!(Ranking::new(&[f64::INFINITY], &[1.0], convention).is_none());
    }
}
