//! Which child of a phrase holds its head.
//!
//! The table of Collins (1999, *Head-driven statistical models for natural language parsing*,
//! appendix A) for the labels of the Penn Treebank, with its rules for noun phrases. A label that is
//! not in it takes its first child that is no punctuation; so do phrases without a listed child.

use Side::{Left, Right};

/// The end from which children are searched.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Side {
    Left,
    Right,
}

/// Label of a phrase, where to begin, and the labels of children by priority.
const RULES: &[(&str, Side, &str)] = &[
    (
        "ADJP",
        Left,
        "NNS QP NN $ ADVP JJ VBN VBG ADJP JJR NP JJS DT FW RBR RBS SBAR RB",
    ),
    (
        "ADVP",
        Right,
        "RB RBR RBS FW ADVP TO CD JJR JJ IN NP JJS NN",
    ),
    ("CONJP", Right, "CC RB IN"),
    ("FRAG", Right, ""),
    ("INTJ", Left, ""),
    ("LST", Right, "LS :"),
    (
        "NAC",
        Left,
        "NN NNS NNP NNPS NP NAC EX $ CD QP PRP VBG JJ JJS JJR ADJP FW",
    ),
    ("PP", Right, "IN TO VBG VBN RP FW"),
    ("PRN", Left, ""),
    ("PRT", Right, "RP"),
    ("QP", Left, "$ IN NNS NN JJ RB DT CD NCD QP JJR JJS"),
    ("RRC", Right, "VP NP ADVP ADJP PP"),
    ("S", Left, "TO IN VP S SBAR ADJP UCP NP"),
    (
        "SBAR",
        Left,
        "WHNP WHPP WHADVP WHADJP IN DT S SQ SINV SBAR FRAG",
    ),
    ("SBARQ", Left, "SQ S SINV SBARQ FRAG"),
    ("SINV", Left, "VBZ VBD VBP VB MD VP S SINV ADJP NP"),
    ("SQ", Left, "VBZ VBD VBP VB MD VP SQ"),
    ("UCP", Right, ""),
    ("VP", Left, "TO VBD VBN MD VBZ VB VBG VBP VP ADJP NN NNS NP"),
    ("WHADJP", Left, "CC WRB JJ ADJP"),
    ("WHADVP", Right, "CC WRB"),
    ("WHNP", Left, "WDT WP WP$ WHADJP WHPP WHNP"),
    ("WHPP", Right, "IN TO FW"),
];

/// Position of the head among the labels of a phrase's children, of which there is one at least.
pub(super) fn head(phrase: &str, children: &[&str]) -> usize {
    let found = match phrase {
        "NP" | "NX" | "NML" => noun_head(children),
        _ => {
            let rule = RULES.iter().find(|rule| rule.0 == phrase);
            rule.and_then(|&(_, from, list)| by_priority(from, list, children))
        }
    };
    let from = RULES
        .iter()
        .find(|rule| rule.0 == phrase)
        .map_or(Left, |rule| rule.1);
    let other = || position(from, children, |child| !is_punctuation(child));
    found.or_else(other).unwrap_or(0)
}

fn noun_head(children: &[&str]) -> Option<usize> {
    if children.last() == Some(&"POS") {
        return Some(children.len() - 1);
    }
    let any =
        |from, list: &str| position(from, children, |child| list.split(' ').any(|l| l == child));
    any(Right, "NN NNP NNPS NNS NX NML POS JJR")
        .or_else(|| any(Left, "NP"))
        .or_else(|| any(Right, "$ ADJP PRN"))
        .or_else(|| any(Right, "CD"))
        .or_else(|| any(Right, "JJ JJS RB QP"))
        .or_else(|| position(Right, children, |child| !is_punctuation(child)))
}

fn by_priority(from: Side, list: &str, children: &[&str]) -> Option<usize> {
    list.split_whitespace()
        .find_map(|label| position(from, children, |child| child == label))
}

fn position(from: Side, children: &[&str], wanted: impl Fn(&str) -> bool) -> Option<usize> {
    match from {
        Left => children.iter().position(|child| wanted(child)),
        Right => children.iter().rposition(|child| wanted(child)),
    }
}

/// Whether a part of speech of the Penn Treebank is punctuation.
pub(super) fn is_punctuation(tag: &str) -> bool {
    matches!(
        tag,
        "," | "." | ":" | "``" | "''" | "-LRB-" | "-RRB-" | "HYPH" | "NFP"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn heads_of_common_phrases() {
        for (phrase, children, expected) in [
            ("S", "NP VP .", 1),
            ("VP", "VBD NP PP", 0),
            ("VP", "MD VP", 0),
            ("NP", "DT JJ NN", 2),
            ("NP", "NP PP", 0),
            ("NP", "NP CC NP", 0),
            ("NP", "NNP POS", 1),
            ("PP", "IN NP", 0),
            ("SBAR", "WHNP S", 0),
            ("TOP", "S", 0),
            ("XX", ", A B", 1),
            ("FRAG", "NP .", 0),
            ("X", ".", 0),
        ] {
            let labels: Vec<&str> = children.split(' ').collect();
            assert_eq!(head(phrase, &labels), expected, "{phrase} {children}");
        }
    }
}
