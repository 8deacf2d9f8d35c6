//! A parse by Link Grammar.

use serde::{Deserialize, Serialize};

/// A word of a linkage.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LinkedWord {
    /// The word as the parser shows it, `dog.n`.
    #[serde(rename = "w")]
    pub shown: String,
    /// The connectors that the word was used with, `Ds**c- Os-`, if it is linked.
    #[serde(rename = "d", skip_serializing_if = "Option::is_none", default)]
    pub connectors: Option<String>,
}

/// A link between two words.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Link {
    /// Position of the left word.
    #[serde(rename = "l")]
    pub left: usize,
    /// Position of the right word.
    #[serde(rename = "r")]
    pub right: usize,
    /// Its label, `Ss*s`.
    #[serde(rename = "n")]
    pub label: String,
}

/// A parse: words and links between them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Linkage {
    /// The words, `LEFT-WALL` and `RIGHT-WALL` among them.
    #[serde(rename = "w")]
    pub words: Vec<LinkedWord>,
    /// The links.
    #[serde(rename = "l")]
    pub links: Vec<Link>,
    /// Words without links.
    #[serde(rename = "u")]
    pub unused: u32,
    /// Cost of the disjuncts in hundredths.
    #[serde(rename = "c")]
    pub cost: i32,
    /// Total length of the links.
    #[serde(rename = "n")]
    pub length: u32,
}

/// What the parser puts behind words that it guessed, split or corrected.
const MARKS: [&str; 5] = ["[?]", "[!]", "[~]", "[&]", ".#"];

/// The wall before the first word.
pub(crate) const LEFT_WALL: &str = "LEFT-WALL";

/// The wall after the last word.
pub(crate) const RIGHT_WALL: &str = "RIGHT-WALL";

impl LinkedWord {
    /// Whether it is one of the walls.
    pub fn is_wall(&self) -> bool {
        self.shown == LEFT_WALL || self.shown == RIGHT_WALL
    }

    /// Whether nothing links it.
    pub fn is_unused(&self) -> bool {
        self.connectors.is_none() && self.shown.starts_with('[') && self.shown.len() > 2
    }

    /// The word without brackets, marks and subscript.
    pub fn form(&self) -> &str {
        self.forms().next().unwrap_or(&self.shown)
    }

    /// The subscript, `n` of `dog.n`, if it has one.
    pub fn subscript(&self) -> Option<&str> {
        let form = self.form();
        let rest = self.shown.strip_prefix(form)?;
        rest.rsplit_once('.')
            .map(|(_, subscript)| subscript)
            .filter(|subscript| is_subscript(subscript))
    }

    /// What the word may be in the sentence, the likeliest first.
    pub(super) fn forms(&self) -> impl Iterator<Item = &str> {
        let shown = self.shown.as_str();
        let unused = shown
            .strip_prefix('[')
            .and_then(|rest| rest.strip_suffix(']'));
        let unused = unused.filter(|inner| self.is_unused() && !inner.is_empty());
        let marked = MARKS.iter().filter_map(move |mark| {
            let at = shown.rfind(mark)?;
            (at > 0).then(|| &shown[..at])
        });
        let subscript = shown
            .rfind('.')
            .filter(|&dot| dot > 0 && dot + 1 < shown.len());
        let bare = subscript
            .filter(|&dot| is_subscript(&shown[dot + 1..]))
            .map(|dot| &shown[..dot]);
        unused.into_iter().chain(marked).chain(bare).chain([shown])
    }
}

/// Whether what follows the last dot looks like those of the dictionary: `n`, `v-d`, `j-opnd`.
fn is_subscript(text: &str) -> bool {
    let letter = |char: char| char.is_ascii_lowercase() || char == '-' || char == '_';
    text.starts_with(|char: char| char.is_ascii_lowercase()) && text.chars().all(letter)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn word(shown: &str, linked: bool) -> LinkedWord {
        LinkedWord {
            shown: shown.to_owned(),
            connectors: linked.then(|| "A+".to_owned()),
        }
    }

    #[test]
    fn forms_have_no_marks_and_subscripts() {
        for (shown, form, subscript) in [
            ("dog.n", "dog", Some("n")),
            ("saw.v-d", "saw", Some("v-d")),
            ("the", "the", None),
            ("blorpy[?].n", "blorpy", Some("n")),
            ("U.S[!]", "U.S", None),
            ("their.#there", "their", None),
            ("...", "...", None),
            ("....y", "...", Some("y")),
            (".", ".", None),
            ("3.5", "3.5", None),
            ("[", "[", None),
            ("a[[?].n", "a[", Some("n")),
        ] {
            let word = word(shown, true);
            assert_eq!(
                (word.form(), word.subscript()),
                (form, subscript),
                "{shown}"
            );
        }
        assert_eq!(word("[can't]", false).form(), "can't");
        assert!(word("[can't]", false).is_unused());
        assert!(!word("[c[!]", true).is_unused());
    }
}
