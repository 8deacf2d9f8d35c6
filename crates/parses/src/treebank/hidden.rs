//! Treebanks whose licence forbids their text: all forms are `_`.

use rankrls_files::ReadError;
use rankrls_files::error::Fault;

use super::{Sentence, Word};

/// Whether a treebank hides this word: its form is one underscore, or one for each letter.
fn is_blank(word: &Word) -> bool {
    word.form.bytes().all(|byte| byte == b'_')
}

/// The words of a sentence that should have text. Treebanks often keep punctuation.
fn words(sentence: &Sentence) -> impl Iterator<Item = &Word> {
    sentence.words().iter().filter(|word| {
        is_blank(word) && word.tag.as_deref() != Some("PUNCT") || !word.is_punctuation()
    })
}

/// Whether a sentence of several words has no text. A single underscore may be a line to write on.
pub(crate) fn is_hidden(sentence: &Sentence) -> bool {
    words(sentence).nth(1).is_some() && words(sentence).all(is_blank)
}

/// Refuses a file `name` if most of its sentences have no text.
pub(crate) fn check_text<'s>(
    sentences: impl Iterator<Item = &'s Sentence>,
    name: &str,
) -> Result<(), ReadError> {
    let (mut all, mut blank, mut total, mut hidden, mut first) = (0, 0, 0, 0, None);
    for sentence in sentences {
        let (of, without) = (
            words(sentence).count(),
            words(sentence).filter(|w| is_blank(w)).count(),
        );
        (all, blank) = (all + of, blank + without);
        total += 1;
        hidden += usize::from(of > 0 && of == without);
        if without > 0 {
            first = first.or(Some(sentence.line()));
        }
    }
    match first {
        Some(line) if 2 * blank > all || 2 * hidden > total => {
            let found = format!("\"_\" in the place of {blank} of {all}");
            Err(Fault::new("the forms of the words", found).at(name, line))
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;

    use super::*;
    use crate::treebank::conllu;

    /// Sentences of words between blanks, each with its part of speech after `/`.
    fn checked(text: &str) -> Result<(), String> {
        let mut rows = String::new();
        for sentence in text.lines() {
            for (number, word) in (1..).zip(sentence.split(' ')) {
                let (form, tag) = word.rsplit_once('/').unwrap_or((word, "_"));
                let columns = format_args!("{form}\tlemma\t{tag}\t_\t_\t0\troot\t_\t_");
                writeln!(rows, "{number}\t{columns}").unwrap();
            }
            rows += "\n";
        }
        let sentences: Result<Vec<Sentence>, _> = conllu::sentences(rows.as_bytes(), "f").collect();
        check_text(sentences.unwrap().iter(), "f").map_err(|error| error.to_string())
    }

    #[test]
    fn treebanks_without_their_text_are_refused() {
        for text in [
            "_ _ _\n_ _ _ _",
            "_/X _/X ./PUNCT\n_/X _/X ./PUNCT",
            "_ _ .\n_ _ !",
            "____ __ _\n___ _ _____",
            "_ _ _\n_ _\nA dog sees the cat near a house .",
            "_\n_\n_",
            "_ _ _ of\n_ _ _ the",
        ] {
            let error = checked(text).unwrap_err();
            let expected = "f:1:1: expected the forms of the words, found \"_\" in the place of";
            assert!(error.starts_with(expected), "{text}: {error}");
        }
        let error = checked("a dog\n_ _ .\n_ _ _").unwrap_err();
        assert!(error.starts_with("f:4:1: ") && error.ends_with("5 of 7"));
    }

    #[test]
    fn underscores_in_a_text_are_read() {
        for text in [
            "",
            "Press the _ key",
            "Press _ or _ now\n_",
            "_ _ _ _\nA dog sees it\nThe line above is empty",
            "____________\nName and date\nYes",
            "no no no no no no no no",
            "Go\nGo",
            "! !\n? ?\n. .\n... ...",
        ] {
            assert_eq!(checked(text), Ok(()), "{text}");
        }
    }
}
