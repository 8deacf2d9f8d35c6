//! What is joined by a conjunction: head words, parts of speech, shapes and lengths.

use super::{Candidate, bucket};
use crate::bag::Bag;
use crate::language::grammar::Grammar;
use crate::language::symbol::Symbol;
use crate::language::tree::Node;

pub(super) fn describe(candidate: &Candidate<'_>, bag: &mut Bag) {
    for (phrase, _) in candidate.tree.phrases() {
        if let &[left, conjunction, right] = phrase.children()
            && candidate.tree.node(conjunction).symbol == Symbol::Conjunction
        {
            let [left, conjunction, right] =
                [left, conjunction, right].map(|child| candidate.tree.node(child));
            joined(candidate, left, conjunction, right, bag);
        }
    }
}

fn joined(candidate: &Candidate<'_>, left: &Node, conjunction: &Node, right: &Node, bag: &mut Bag) {
    let (first, second) = (candidate.form(left.head), candidate.form(right.head));
    bag.count(format_args!("conj:{first}~{second}"));
    bag.count(format_args!(
        "conj:{first}~{}~{second}",
        candidate.form(conjunction.head)
    ));
    bag.count(format_args!(
        "conj~tags:{}~{}",
        candidate.tag(left.head),
        candidate.tag(right.head)
    ));
    bag.count(format_args!("conj~shape:{}={}", shape(left), shape(right)));
    let longer = if right.width() > left.width() {
        '+'
    } else {
        '-'
    };
    bag.count(format_args!(
        "conj~length:{}:{longer}{}",
        left.symbol,
        bucket(left.width().abs_diff(right.width()))
    ));
}

fn shape(node: &Node) -> &'static str {
    node.production
        .map_or("", |production| Grammar::shared().name(production))
}
