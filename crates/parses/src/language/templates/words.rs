//! Words and word bigrams: the same for every parse of a sentence, so that a ranking cannot use
//! them, and yet part of every such corpus.

use super::Candidate;
use crate::bag::Bag;

pub(super) fn describe(candidate: &Candidate<'_>, bag: &mut Bag) {
    let mut before = None;
    for leaf in candidate.tree.leaves() {
        let word = candidate.form(leaf.start);
        bag.count(format_args!("word:{word}"));
        bag.count(format_args!(
            "bigram:{}_{word}",
            candidate.form_or_edge(before)
        ));
        before = Some(leaf.start);
    }
    bag.count(format_args!("bigram:{}_$", candidate.form_or_edge(before)));
}
