//! A parse by Link Grammar.

use std::ops::Range;

/// A word of a linkage.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LinkedWord {
    /// The word as the parser shows it, `dog.n`.
    pub shown: String,
    /// The connectors that the word was used with, `Ds**c- Os-`, if it is linked.
    pub connectors: Option<String>,
}

/// A link between two words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Link {
    /// Position of the left word.
    pub left: usize,
    /// Position of the right word.
    pub right: usize,
    /// Its label, `Ss*s`.
    pub label: String,
}

/// A parse: words and links between them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Linkage {
    /// The words, `LEFT-WALL` and `RIGHT-WALL` among them.
    pub words: Vec<LinkedWord>,
    /// The links.
    pub links: Vec<Link>,
    /// Words without links.
    pub unused: u32,
    /// Cost of the disjuncts in hundredths.
    pub cost: i32,
    /// Total length of the links.
    pub length: u32,
}

/// Marks that the parser puts behind words that it guessed, split or corrected.
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

    /// Whether no link reaches it.
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

    /// Possible forms of the word in the sentence, likeliest first.
    pub(super) fn forms(&self) -> impl Iterator<Item = &str> {
        let shown = self.shown.as_str();
        let bracketed = shown
            .strip_prefix('[')
            .and_then(|rest| rest.strip_suffix(']'));
        let unused = bracketed.filter(|inner| self.is_unused() && !inner.is_empty());
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

/// Whether the text after the last dot looks like a subscript of the dictionary: `n`, `v-d`, `j-opnd`.
fn is_subscript(text: &str) -> bool {
    let letter = |char: char| char.is_ascii_lowercase() || char == '-' || char == '_';
    text.starts_with(|char: char| char.is_ascii_lowercase()) && text.chars().all(letter)
}

// The governing end of a link.
//
// Links of Link Grammar have no direction. For features that distinguish heads from modifiers, the left word is
// usually the head. The right word is the head where a word modifies a later one: determiners, adjectives and nouns
// before a noun, adverbs, openers of a sentence, subjects, possessors, the comma that opens a phrase, and the left
// conjunct of a conjunction. Labels compare pairs without order and do not depend on this.

/// Links whose right word is the head, by their capitals, in alphabetical order.
const RIGHT: [&str; 26] = [
    "A", "AN", "CO", "D", "DD", "DG", "DP", "DT", "E", "EA", "EC", "EE", "EI", "EL", "EN", "G",
    "GN", "H", "L", "ND", "PH", "S", "SF", "SX", "YP", "YS",
];

impl Link {
    /// Whether the right word counts as the head.
    pub fn right_is_head(&self) -> bool {
        let end = self.label.find(|char: char| !char.is_ascii_uppercase());
        let (capitals, rest) = self.label.split_at(end.unwrap_or(self.label.len()));
        // SJl, VJl, …: the conjunction on the right governs the conjunct on the left.
        let joined = capitals.len() == 2 && capitals.ends_with('J') && rest.starts_with('l');
        let comma = capitals == "X" && rest.starts_with('d');
        joined || comma || RIGHT.binary_search(&capitals).is_ok()
    }
}

// The words of a linkage in the sentence.

impl Linkage {
    /// The places of the words, without walls, among the letters of the sentence (its text without white space), in
    /// bytes. `None` if the sentence has other words. The parser may write words in lower case, and omits invisible
    /// characters: they go with the word before.
    pub fn places(&self, letters: &str) -> Option<Vec<Range<usize>>> {
        let mut at = 0;
        let mut places: Vec<Range<usize>> = Vec::with_capacity(self.words.len());
        for word in self.words.iter().filter(|word| !word.is_wall()) {
            let length = loop {
                let lengths = word.forms().filter_map(|form| found(&letters[at..], form));
                match lengths.max() {
                    Some(length) => break length,
                    None => at += unseen(&letters[at..])?,
                }
            };
            if let Some(before) = places.last_mut() {
                before.end = at;
            }
            places.push(at..at + length);
            at += length;
        }
        while let Some(length) = unseen(&letters[at..]) {
            at += length;
        }
        places.last_mut()?.end = at;
        (at == letters.len()).then_some(places)
    }
}

/// Bytes of the first letter if it is invisible: a control, a joiner or a blank without width.
fn unseen(letters: &str) -> Option<usize> {
    let first = letters.chars().next()?;
    let unseen =
        first.is_control() || matches!(first, '\u{200b}'..='\u{200d}' | '\u{2060}' | '\u{feff}');
    unseen.then(|| first.len_utf8())
}

/// Number of bytes of `letters` that spell `form` in any case.
fn found(letters: &str, form: &str) -> Option<usize> {
    let mut rest = letters.chars();
    for wanted in form.chars().filter(|char| !char.is_whitespace()) {
        let char = rest.next()?;
        if char != wanted && !char.to_lowercase().eq(wanted.to_lowercase()) {
            return None;
        }
    }
    let length = letters.len() - rest.as_str().len();
    (length > 0).then_some(length)
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

    fn places(words: &[&str], letters: &str) -> Option<Vec<Range<usize>>> {
        let word = |shown: &&str| LinkedWord {
            shown: (*shown).to_owned(),
            connectors: (!shown.starts_with('[')).then(|| "A+".to_owned()),
        };
        let linkage = Linkage {
            words: words.iter().map(word).collect(),
            links: Vec::new(),
            unused: 0,
            cost: 0,
            length: 0,
        };
        linkage.places(letters)
    }

    #[test]
    fn words_are_found_in_order() {
        let words = [
            "LEFT-WALL",
            "the",
            "Müller[!]",
            "'s.p",
            "dog.n",
            "[x]",
            ".",
            "RIGHT-WALL",
        ];
        let found = places(&words, "TheMüller'sdogx.").unwrap();
        assert_eq!(found, [0..3, 3..10, 10..12, 12..15, 15..16, 16..17]);
        assert_eq!(places(&["dog.n", "a"], "dog.na"), Some(vec![0..5, 5..6]));
        assert_eq!(places(&["U.S[!]", "."], "U.S."), Some(vec![0..3, 3..4]));
        assert_eq!(places(&["dog.n"], "dogs"), None);
        assert_eq!(places(&["dog.n", "cat.n"], "dog"), None);
        assert_eq!(places(&["[]"], ""), None);
        assert_eq!(places(&["LEFT-WALL", "RIGHT-WALL"], ""), None);
        let unseen = "\u{1}a\u{200d}b\u{200b}";
        assert_eq!(places(&["a", "b"], unseen), Some(vec![1..5, 5..9]));
        assert_eq!(
            places(&["a", "\u{feff}b"], "a\u{200d}\u{feff}b"),
            Some(vec![0..4, 4..8])
        );
        assert_eq!(places(&["a", "b"], "a\u{ad}b"), None);
    }
}
