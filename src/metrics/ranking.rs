//! One query, sorted once for all measures.

use super::rules::{Convention, Rules};

/// The labels of a query in ranked order, cut into blocks whose inner order is
/// random.
///
/// Under [`Convention::Standard`] a block is a group of equal scores with falling labels, so no figure depends on
/// input order. Under [`Convention::Letor`] every document is a block, and ties keep input order.
#[derive(Debug)]
pub(super) struct Ranking {
    pub(super) rules: Rules,
    /// Labels by falling score.
    labels: Vec<f64>,
    /// Labels in falling order: the ideal ranking.
    ideal: Vec<f64>,
    /// The end of each group of equal scores.
    tie_ends: Vec<usize>,
}

/// Documents of one query that share their ranks.
#[derive(Debug, Clone, Copy)]
pub(super) struct TiedBlock<'a> {
    /// Documents ranked before the block.
    pub(super) before: usize,
    /// Labels, falling.
    pub(super) labels: &'a [f64],
    /// Relevant documents of the block.
    pub(super) relevant: usize,
}

impl Ranking {
    /// Sorts a query in `O(n log n)`. `None` for an empty query, and for labels or scores that are not finite.
    ///
    /// # Panics
    /// Unless there are as many labels as scores.
    pub(super) fn new(labels: &[f64], scores: &[f64], rules: Rules) -> Option<Self> {
        assert_eq!(labels.len(), scores.len(), "one score a label");
        if labels.is_empty() || !labels.iter().chain(scores).all(|value| value.is_finite()) {
            return None;
        }
        // Adding 0 turns -0 into 0, which `total_cmp` would distinguish.
        let mut documents: Vec<(f64, f64)> = scores
            .iter()
            .zip(labels)
            .map(|(score, label)| (score + 0.0, label + 0.0))
            .collect();
        match rules.convention {
            Convention::Letor => documents.sort_by(|a, b| b.0.total_cmp(&a.0)),
            Convention::Standard => {
                documents.sort_unstable_by(|a, b| b.0.total_cmp(&a.0).then(b.1.total_cmp(&a.1)));
            }
        }
        let labels: Vec<f64> = documents.iter().map(|&(_, label)| label).collect();
        let mut ideal = labels.clone();
        ideal.sort_unstable_by(|a, b| b.total_cmp(a));
        Some(Self {
            rules,
            labels,
            ideal,
            tie_ends: ends(documents.chunk_by(|a, b| a.0.total_cmp(&b.0).is_eq())),
        })
    }

    /// Number of documents `n`, at least 1.
    pub(super) fn len(&self) -> usize {
        self.labels.len()
    }

    /// Labels in falling order.
    pub(super) fn ideal(&self) -> &[f64] {
        &self.ideal
    }

    /// Number of relevant documents.
    pub(super) fn relevant(&self) -> usize {
        self.relevant_of(&self.ideal)
    }

    fn relevant_of(&self, labels: &[f64]) -> usize {
        let relevant = |label: &&f64| self.rules.is_relevant(**label);
        labels.iter().filter(relevant).count()
    }

    /// Blocks of documents in random order, best first.
    pub(super) fn blocks(&self) -> impl Iterator<Item = TiedBlock<'_>> {
        let ends = match self.rules.convention {
            Convention::Letor => None,
            Convention::Standard => Some(self.tie_ends.as_slice()),
        };
        let count = ends.map_or(self.len(), <[usize]>::len);
        let end = move |block: usize| ends.map_or(block + 1, |ends| ends[block]);
        (0..count).map(move |block| {
            let before = if block == 0 { 0 } else { end(block - 1) };
            let labels = &self.labels[before..end(block)];
            TiedBlock {
                before,
                labels,
                relevant: self.relevant_of(labels),
            }
        })
    }

    /// Labels of the groups of equal scores, best first. The order within a group is arbitrary.
    pub(super) fn ties(&self) -> impl Iterator<Item = &[f64]> {
        let mut begin = 0;
        self.tie_ends
            .iter()
            .map(move |&end| &self.labels[std::mem::replace(&mut begin, end)..end])
    }
}

impl TiedBlock<'_> {
    /// Number of documents in the block, at least 1.
    pub(super) fn len(&self) -> usize {
        self.labels.len()
    }

    /// Mean of `value` over the block. Equal values have exactly that mean. `value` must be monotone in the label.
    pub(super) fn mean(&self, value: impl Fn(f64) -> f64) -> f64 {
        let first = value(self.labels[0]);
        let last = value(self.labels[self.len() - 1]);
        if first.total_cmp(&last).is_eq() {
            return first;
        }
        mean(self.labels.iter().map(|&label| value(label)))
    }
}

/// Mean of some numbers; nan without any. It exists even if their sum overflows.
pub(super) fn mean(values: impl ExactSizeIterator<Item = f64> + Clone) -> f64 {
    let count = values.len() as f64;
    let mean = values.clone().sum::<f64>() / count;
    if mean.is_infinite() {
        return values.map(|value| value / count).sum();
    }
    mean
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

    fn blocks(convention: Convention) -> Vec<Vec<f64>> {
        let ranking = Ranking::new(&LABELS, &SCORES, convention.into()).unwrap();
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
            let ranking = Ranking::new(&LABELS, &SCORES, convention.into()).unwrap();
            let sizes: Vec<usize> = ranking.ties().map(<[f64]>::len).collect();
            assert_eq!(sizes, [2, 2, 1]);
        }
    }

    #[test]
    fn what_cannot_be_ranked_is_none() {
        let ranking =
            |labels: &[f64], scores: &[f64]| Ranking::new(labels, scores, Rules::default());
        assert!(ranking(&[], &[]).is_none());
        assert!(ranking(&[1.0], &[f64::NAN]).is_none());
        assert!(ranking(&[f64::INFINITY], &[1.0]).is_none());
    }
}
