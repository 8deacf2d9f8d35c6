//! Labelled bracket F1.

use std::cmp::Ordering;

use super::symbol::Symbol;
use super::tree::Tree;

/// The labelled spans of a tree's phrases; parts of speech are none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Brackets(Vec<(Symbol, u16, u16)>);

impl Brackets {
    /// The brackets of a tree.
    pub(super) fn of(tree: &Tree) -> Self {
        let mut spans: Vec<_> = tree
            .phrases()
            .map(|(node, _)| (node.symbol, node.start, node.end))
            .collect();
        spans.sort_unstable();
        Self(spans)
    }

    /// Labelled bracket F1 between two trees over one sentence, in ten-thousandths rounded to
    /// the nearest: `2 |A and B| / (|A| + |B|)`, brackets that come twice counting twice.
    pub(super) fn f1(&self, other: &Self) -> i32 {
        let sum = self.0.len() + other.0.len();
        if sum == 0 {
            return 0;
        }
        let rounded = (20_000 * self.shared(other) + sum / 2) / sum;
        i32::try_from(rounded).expect("at most 10000")
    }

    fn shared(&self, other: &Self) -> usize {
        let (mut left, mut right) = (self.0.iter().peekable(), other.0.iter().peekable());
        let mut shared = 0;
        while let (Some(a), Some(b)) = (left.peek(), right.peek()) {
            let order = a.cmp(b);
            shared += usize::from(order == Ordering::Equal);
            if order != Ordering::Greater {
                left.next();
            }
            if order != Ordering::Less {
                right.next();
            }
        }
        shared
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn brackets(spans: &[(Symbol, u16, u16)]) -> Brackets {
        let mut spans = spans.to_vec();
        spans.sort_unstable();
        Brackets(spans)
    }

    #[test]
    fn f1_of_small_trees() {
        use Symbol::{
            NounPhrase as NP, PrepositionalPhrase as PP, Sentence as S, VerbPhrase as VP,
        };
        // "Kim saw Sandy with Lee", the phrase on the noun and on the verb.
        let small = [
            (S, 0, 5),
            (NP, 0, 1),
            (VP, 1, 5),
            (NP, 2, 3),
            (PP, 3, 5),
            (NP, 4, 5),
        ];
        let noun = brackets(&[&small[..], &[(NP, 2, 5)]].concat());
        let verb = brackets(&[&small[..], &[(VP, 1, 3)]].concat());
        assert_eq!(noun.f1(&noun), 10_000);
        // 2 * 6 / (7 + 7) = 0.857142...
        assert_eq!(noun.f1(&verb), 8571);
        assert_eq!(verb.f1(&noun), 8571);
        assert_eq!(noun.f1(&brackets(&[(PP, 0, 5)])), 0);
    }

    #[test]
    fn brackets_that_come_twice_count_twice() {
        let once = brackets(&[(Symbol::NounPhrase, 0, 2)]);
        let twice = brackets(&[(Symbol::NounPhrase, 0, 2); 2]);
        // 2 * 1 / 3
        assert_eq!(once.f1(&twice), 6667);
    }
}
