//! Words: the same in every parse, unless the parser cuts the sentence in several ways, and parts
//! of speech.

use super::Described;
use crate::bag::Bag;

pub(super) fn words(parse: &Described<'_>, bag: &mut Bag) {
    for form in &parse.forms {
        bag.count(format_args!("word:{form}"));
    }
}

pub(super) fn bigrams(parse: &Described<'_>, bag: &mut Bag) {
    for right in 0..=parse.forms.len() {
        let left = parse.form_or_edge(right.checked_sub(1));
        let right = parse.form_or_edge(Some(right));
        bag.count(format_args!("bigram:{left}~{right}"));
    }
}

pub(super) fn tags(parse: &Described<'_>, bag: &mut Bag) {
    for (form, tag) in parse.forms.iter().zip(&parse.tags) {
        bag.count(format_args!("tag:{form}~{tag}"));
    }
    for pair in parse.tags.windows(2) {
        bag.count(format_args!("tags:{}~{}", pair[0], pair[1]));
    }
}
