//! A word and the phrases above it: those it heads, and its nearest three.

use super::Candidate;
use crate::bag::Bag;

pub(super) fn describe(candidate: &Candidate<'_>, bag: &mut Bag) {
    let tree = candidate.tree;
    let mut path = String::new();
    for leaf in tree.leaves() {
        let word = candidate.form(leaf.start);
        let [one, two, three] = nearest(candidate, leaf.parent);
        bag.count(format_args!("anc:{word}:{one}^{two}"));
        bag.count(format_args!("anc:{word}:{one}^{two}^{three}"));
        path.clear();
        let mut above = leaf.parent;
        while tree.node(above).head == leaf.head {
            path.push('^');
            path.push_str(tree.node(above).symbol.name());
            if above == tree.node(above).parent {
                break;
            }
            above = tree.node(above).parent;
        }
        bag.count(format_args!("proj:{word}{path}"));
    }
}

/// The symbols of a node and of the two above it; the root stays the root.
fn nearest(candidate: &Candidate<'_>, node: u16) -> [&'static str; 3] {
    let mut at = node;
    [(); 3].map(|()| {
        let here = candidate.tree.node(at);
        at = here.parent;
        here.symbol.name()
    })
}
