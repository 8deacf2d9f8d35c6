//! Which end of a link governs the other.
//!
//! Links of Link Grammar have no direction. For features that tell heads from modifiers, the left
//! word of a link is taken for the head, but for the links by which a word modifies a later one:
//! determiners, adjectives and nouns before a noun, adverbs before what they modify, openers of a
//! sentence, subjects before their verb, possessors, the comma that opens a phrase, and what a
//! conjunction joins to its left. Labels do not depend on it: they compare pairs without order.

use super::linkage::Link;

/// Links by their capitals whose right word is the head, in alphabetical order.
const RIGHT: [&str; 26] = [
    "A", "AN", "CO", "D", "DD", "DG", "DP", "DT", "E", "EA", "EC", "EE", "EI", "EL", "EN", "G",
    "GN", "H", "L", "ND", "PH", "S", "SF", "SX", "YP", "YS",
];

impl Link {
    /// Whether the right word is taken for the head.
    pub fn right_is_head(&self) -> bool {
        let end = self.label.find(|char: char| !char.is_ascii_uppercase());
        let (capitals, rest) = self.label.split_at(end.unwrap_or(self.label.len()));
        // SJl, VJl, …: the conjunction to the right has what it joins for modifiers.
        let joined = capitals.len() == 2 && capitals.ends_with('J') && rest.starts_with('l');
        let comma = capitals == "X" && rest.starts_with('d');
        joined || comma || RIGHT.binary_search(&capitals).is_ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modifiers_before_their_heads_are_told_by_the_label() {
        let right = |label: &str| {
            let label = label.to_owned();
            let link = Link {
                left: 0,
                right: 1,
                label,
            };
            link.right_is_head()
        };
        for label in [
            "Ss*s", "Ds**c", "A", "AN", "SJls", "VJlsi", "YS", "Xd", "COa", "EAy", "SX",
        ] {
            assert!(right(label), "{label}");
        }
        for label in [
            "Os", "MVp", "Mp", "Js", "SIsj", "SJrs", "VJrsi", "Xc", "WV", "I*d", "SXI", "",
        ] {
            assert!(!right(label), "{label}");
        }
        assert!(RIGHT.is_sorted());
    }
}
