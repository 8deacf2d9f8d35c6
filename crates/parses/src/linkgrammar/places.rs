//! Finding the words of a linkage in the sentence.

use std::ops::Range;

use super::linkage::Linkage;

impl Linkage {
    /// Where the words that are no walls stand among the letters of the sentence (its text
    /// without white space), in bytes; `None` when they are not those of the sentence. The
    /// parser writes the first word of a sentence, and others, in lower case.
    pub fn places(&self, letters: &str) -> Option<Vec<Range<usize>>> {
        let mut at = 0;
        let mut places = Vec::with_capacity(self.words.len());
        for word in self.words.iter().filter(|word| !word.is_wall()) {
            let lengths = word.forms().filter_map(|form| found(&letters[at..], form));
            let end = at + lengths.max()?;
            places.push(at..end);
            at = end;
        }
        (at == letters.len()).then_some(places)
    }
}

/// How many bytes of `letters` are `form`, whatever the case.
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
    use super::super::linkage::LinkedWord;
    use super::*;

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
    }
}
