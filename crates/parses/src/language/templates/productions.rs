//! Productions: plain, under the phrase above, and with head words.

use super::Candidate;
use crate::bag::Bag;
use crate::language::grammar::Grammar;

pub(super) fn describe(candidate: &Candidate<'_>, bag: &mut Bag) {
    let grammar = Grammar::shared();
    for (phrase, production) in candidate.tree.phrases() {
        let name = grammar.name(production);
        let above = candidate.tree.node(phrase.parent);
        let head = candidate.form(phrase.head);
        bag.count(format_args!("prod:{name}"));
        bag.count(format_args!("gprod:{}^{name}", above.symbol));
        bag.count(format_args!("lexprod:{name}:{head}"));
        bag.count(format_args!(
            "glexprod:{}:{}^{name}:{head}",
            above.symbol,
            candidate.form(above.head)
        ));
    }
}
