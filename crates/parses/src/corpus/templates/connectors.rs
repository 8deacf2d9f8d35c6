//! What words are used with: their connectors, and pairs of labels.

use super::Described;
use crate::bag::Bag;

pub(super) fn sets(parse: &Described<'_>, bag: &mut Bag) {
    for (connectors, form) in parse.connectors.iter().zip(&parse.forms) {
        bag.count(format_args!("disjunct:{form}~{connectors}"));
        bag.count(format_args!("connectors:{connectors}"));
    }
}

pub(super) fn of_two(parse: &Described<'_>, bag: &mut Bag) {
    for pair in parse.connectors.windows(2) {
        bag.count(format_args!("next-connectors:{}~{}", pair[0], pair[1]));
    }
    for (head, _, modifier) in parse.arcs() {
        let (above, below) = (&parse.connectors[head], &parse.connectors[modifier]);
        bag.count(format_args!("head-connectors:{above}~{below}"));
    }
}

/// A link to the wall, or a root, is one to the left.
pub(super) fn pairs(parse: &Described<'_>, bag: &mut Bag) {
    let mut ends: Vec<(usize, char, &str)> = Vec::with_capacity(2 * parse.labels.len());
    for (link, label) in parse.links() {
        let before = link.head.is_none_or(|head| head < link.modifier);
        ends.push((link.modifier, if before { '<' } else { '>' }, label));
        if let Some(head) = link.head {
            ends.push((head, if before { '>' } else { '<' }, label));
        }
    }
    ends.sort_unstable();
    for at_word in ends.chunk_by(|a, b| a.0 == b.0) {
        let form = &parse.forms[at_word[0].0];
        for (number, &(_, side, label)) in at_word.iter().enumerate() {
            for &(_, other_side, other) in &at_word[number + 1..] {
                bag.count(format_args!("labels:{side}{label}~{other_side}{other}"));
                bag.count(format_args!(
                    "word~labels:{form}~{side}{label}~{other_side}{other}"
                ));
            }
        }
    }
}
