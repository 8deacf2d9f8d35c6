//! Phrases by their length and by the words at their edges.

use super::{Candidate, bucket};
use crate::bag::Bag;

pub(super) fn describe(candidate: &Candidate<'_>, bag: &mut Bag) {
    for (phrase, _) in candidate.tree.phrases() {
        let symbol = phrase.symbol;
        let before = candidate.form_or_edge(phrase.start.checked_sub(1));
        let after = candidate.form_or_edge(Some(phrase.end));
        let (first, last) = (candidate.form(phrase.start), candidate.form(phrase.end - 1));
        bag.count(format_args!("span:{symbol}:{}", bucket(phrase.width())));
        bag.count(format_args!("edges:{symbol}:{first}..{last}"));
        bag.count(format_args!("before:{symbol}:{before}|{first}"));
        bag.count(format_args!("after:{symbol}:{last}|{after}"));
    }
}
