//! A sentence, its words and its tokens.

use std::ops::Range;

/// A word of a sentence with its place in a dependency tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Word {
    /// The word in the tree. Each word of a multiword token has its own form.
    pub form: String,
    /// Part of speech, if there is one.
    pub tag: Option<String>,
    /// Number of its governing word, from 1. A root has 0.
    pub head: u32,
    /// The relation to its head.
    pub label: String,
    /// Its place among the [letters](Sentence::letters), in bytes. Words whose forms do not add up to their
    /// multiword token share the token's place.
    pub letters: Range<usize>,
}

/// Parts of speech of Universal Dependencies for words that are not punctuation: `&` may be a conjunction, and an
/// apostrophe a particle. `X` is missing because many files tag every word with it.
const WORDS: [&str; 16] = [
    "ADJ", "ADP", "ADV", "AUX", "CCONJ", "CONJ", "DET", "INTJ", "NOUN", "NUM", "PART", "PRON",
    "PROPN", "SCONJ", "SYM", "VERB",
];

/// Brackets in the notation of the Penn treebank.
const BRACKETS: [&str; 6] = ["-LRB-", "-RRB-", "-LSB-", "-RSB-", "-LCB-", "-RCB-"];

impl Word {
    /// Whether it is punctuation. A part of speech of Universal Dependencies decides. With any other tag, a form
    /// without letters and digits is punctuation.
    pub fn is_punctuation(&self) -> bool {
        let by_form = || {
            let bracket = |written: &&str| self.form.eq_ignore_ascii_case(written);
            !self.form.contains(char::is_alphanumeric) || BRACKETS.iter().any(bracket)
        };
        match self.tag.as_deref() {
            Some("PUNCT") => true,
            Some(tag) if WORDS.contains(&tag) => false,
            // A word without a form, such as a derivation in Turkish.
            Some(_) if self.form == "_" => false,
            _ => by_form(),
        }
    }
}

/// A sentence with a dependency tree over its words.
#[derive(Debug, Clone, PartialEq)]
pub struct Sentence {
    pub(super) line: u64,
    pub(super) number: usize,
    pub(super) id: Option<String>,
    pub(super) document: Option<usize>,
    pub(super) score: Option<f64>,
    pub(super) has_tree: bool,
    pub(super) words: Vec<Word>,
    text: String,
    letters: String,
}

/// Several parses of one sentence, best first.
#[derive(Debug, Clone, PartialEq)]
pub struct NBest {
    /// Line where the first parse begins, counted from 1.
    pub line: u64,
    /// The sentence's identifier.
    pub id: String,
    /// The parses.
    pub parses: Vec<Sentence>,
}

/// A stretch of text with its words: one word, or the words of a multiword token.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Token {
    pub(super) surface: String,
    pub(super) space_after: bool,
    /// The words. [`Sentence::new`] finds their places.
    pub(super) words: Vec<Word>,
}

impl Sentence {
    /// Joins tokens to a sentence, and finds the places of their words.
    pub(super) fn new(tokens: Vec<Token>) -> Self {
        let mut sentence = Self {
            line: 1,
            number: 1,
            id: None,
            document: None,
            score: None,
            has_tree: true,
            words: Vec::new(),
            text: String::new(),
            letters: String::new(),
        };
        for token in tokens {
            sentence.push(token);
        }
        sentence.text.truncate(sentence.text.trim_end().len());
        sentence
    }

    fn push(&mut self, token: Token) {
        self.text.push_str(&token.surface);
        if token.space_after {
            self.text.push(' ');
        }
        let start = self.letters.len();
        self.letters.extend(letters_of(&token.surface));
        let whole = start..self.letters.len();
        let parts: String = token
            .words
            .iter()
            .flat_map(|word| letters_of(&word.form))
            .collect();
        let adds_up = parts == self.letters[start..];
        let mut at = start;
        for mut word in token.words {
            let end = at + letters_of(&word.form).map(char::len_utf8).sum::<usize>();
            word.letters = if adds_up { at..end } else { whole.clone() };
            at = end;
            self.words.push(word);
        }
    }

    /// Line where it begins, counted from 1.
    pub fn line(&self) -> u64 {
        self.line
    }

    /// Its place among the sentences of the file, counted from 1. Malformed sentences count too.
    pub fn number(&self) -> usize {
        self.number
    }

    /// Its identifier, if it has one.
    pub fn id(&self) -> Option<&str> {
        self.id.as_deref()
    }

    /// The number of its document, from 1, in the order of their first lines. Documents with one identifier have one
    /// number. `None` before the first document, and in a file without documents.
    pub fn document(&self) -> Option<usize> {
        self.document
    }

    /// Whether its words have heads. Without a tree, all words are roots.
    pub fn has_tree(&self) -> bool {
        self.has_tree
    }

    /// The parser's score of this parse, if there is one.
    pub fn score(&self) -> Option<f64> {
        self.score
    }

    /// The words, in order.
    pub fn words(&self) -> &[Word] {
        &self.words
    }

    /// The text of the sentence.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The text without white space.
    pub fn letters(&self) -> &str {
        &self.letters
    }

    /// Whether both have the same words.
    pub fn same_words(&self, other: &Self) -> bool {
        let others = other.words.iter().map(|word| &word.form);
        self.words.iter().map(|word| &word.form).eq(others)
    }
}

/// The letters of a text without its white space.
pub(super) fn letters_of(text: &str) -> impl Iterator<Item = char> {
    text.chars().filter(|char| !char.is_whitespace())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn word(form: &str) -> Word {
        Word {
            form: form.to_owned(),
            tag: None,
            head: 0,
            label: "root".to_owned(),
            letters: 0..0,
        }
    }

    fn token(surface: &str, forms: &[&str]) -> Token {
        Token {
            surface: surface.to_owned(),
            space_after: true,
            words: forms.iter().map(|form| word(form)).collect(),
        }
    }

    #[test]
    fn words_have_their_places_among_the_letters() {
        let sentence = Sentence::new(vec![
            token("10 000", &["10 000"]),
            token("don't", &["do", "n't"]),
            token("du", &["de", "le"]),
        ]);
        assert_eq!(sentence.text(), "10 000 don't du");
        assert_eq!(sentence.letters(), "10000don'tdu");
        let places: Vec<_> = sentence.words().iter().map(|w| w.letters.clone()).collect();
        assert_eq!(places, [0..5, 5..7, 7..10, 10..12, 10..12]);
    }

    #[test]
    fn punctuation_is_known_by_tag_or_letters() {
        let tagged = |form, tag: &str| Word {
            tag: Some(tag.to_owned()).filter(|tag| tag != "_"),
            ..word(form)
        };
        for (form, tag) in [
            ("--", "_"),
            (".", "."),
            ("``", "``"),
            ("-LRB-", "-LRB-"),
            ("-rrb-", "_"),
            ("«", "$("),
            ("，", "PU"),
            ("...", "Z:"),
            ("…", "X"),
            ("(", "punct"),
            ("x", "PUNCT"),
        ] {
            assert!(tagged(form, tag).is_punctuation(), "{form} {tag}");
        }
        for (form, tag) in [
            ("a", "_"),
            ("$", "SYM"),
            ("½", "CD"),
            ("&", "CCONJ"),
            ("'", "PART"),
            ("-LRB-", "SYM"),
            ("3.", "$."),
            ("の", "助詞"),
            ("a", "."),
            ("_", "Verb"),
        ] {
            assert!(!tagged(form, tag).is_punctuation(), "{form} {tag}");
        }
    }
}
