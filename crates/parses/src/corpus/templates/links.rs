//! Links: what they join, and how far.

use super::Described;
use crate::bag::Bag;

pub(super) fn pairs(parse: &Described<'_>, bag: &mut Bag) {
    for (head, _, modifier) in parse.arcs() {
        let (above, below) = (&parse.forms[head], &parse.forms[modifier]);
        bag.count(format_args!("head~mod:{above}~{below}"));
        bag.count(format_args!("head~tag:{above}~{}", parse.tags[modifier]));
        bag.count(format_args!("tag~mod:{}~{below}", parse.tags[head]));
    }
}

pub(super) fn labelled(parse: &Described<'_>, bag: &mut Bag) {
    for (head, label, modifier) in parse.arcs() {
        let (above, below) = (&parse.forms[head], &parse.forms[modifier]);
        bag.count(format_args!("arc:{above}~{label}~{below}"));
    }
}

pub(super) fn by_tag(parse: &Described<'_>, bag: &mut Bag) {
    for (head, label, modifier) in parse.arcs() {
        let (above, below) = (&parse.forms[head], &parse.forms[modifier]);
        let (tag_above, tag_below) = (&parse.tags[head], &parse.tags[modifier]);
        bag.count(format_args!("arc~tag:{above}~{label}~{tag_below}"));
        bag.count(format_args!("tag~arc:{tag_above}~{label}~{below}"));
        bag.count(format_args!("tags~arc:{tag_above}~{label}~{tag_below}"));
    }
}

/// Links to the wall, and roots, have a modifier only.
pub(super) fn labels(parse: &Described<'_>, bag: &mut Bag) {
    for (link, label) in parse.links() {
        bag.count(format_args!("label:{label}"));
        bag.count(format_args!(
            "label~mod:{label}~{}",
            parse.forms[link.modifier]
        ));
        if let Some(head) = link.head {
            bag.count(format_args!("head~label:{}~{label}", parse.forms[head]));
        }
    }
}

pub(super) fn lengths(parse: &Described<'_>, bag: &mut Bag) {
    for (head, label, modifier) in parse.arcs() {
        let direction = if modifier > head { '+' } else { '-' };
        let length = bucket(head.abs_diff(modifier));
        let label = base(label);
        let (above, below) = (&parse.forms[head], &parse.forms[modifier]);
        bag.count(format_args!("length:{label}~{direction}{length}"));
        bag.count(format_args!(
            "head~length:{above}~{label}~{direction}{length}"
        ));
        bag.count(format_args!(
            "length~mod:{label}~{direction}{length}~{below}"
        ));
    }
}

/// A label without what comes after its first kind: `Ss*s` is `S`, `nsubj:pass` is `nsubj`.
fn base(label: &str) -> &str {
    let capitals = label.find(|char: char| !char.is_ascii_uppercase() && char != '_');
    match capitals.unwrap_or(label.len()) {
        0 => label.split(':').next().unwrap_or(label),
        end => &label[..end],
    }
}

/// A length as features tell it apart.
fn bucket(length: usize) -> &'static str {
    match length {
        0..=4 => ["0", "1", "2", "3", "4"][length],
        5..=6 => "5-6",
        7..=9 => "7-9",
        10..=14 => "10-14",
        _ => "15+",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_have_a_base() {
        for (label, expected) in [
            ("Ss*s", "S"),
            ("MVp", "MV"),
            ("nsubj:pass", "nsubj"),
            ("obj", "obj"),
            ("VP/NP", "VP"),
            ("", ""),
        ] {
            assert_eq!(base(label), expected);
        }
    }
}
