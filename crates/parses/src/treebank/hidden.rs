//! Treebanks whose licence keeps their text out: all forms are `_`, or another placeholder.

use std::collections::HashMap;

use rankrls_files::ReadError;
use rankrls_files::error::Fault;

use super::{Sentence, Word};

/// Words from which on one form in most places cannot be the text of a language.
const WORDS: usize = 8;

/// Whether a form is that of a word that is kept out: an underscore, or one for each letter.
fn is_blank(form: &str) -> bool {
    form.bytes().all(|byte| byte == b'_')
}

/// Whether a word would have text: punctuation is often left in.
fn has_text(word: &Word) -> bool {
    is_blank(&word.form) && is_no_mark(word) || !word.is_punctuation()
}

/// Whether no part of speech says that it is punctuation.
fn is_no_mark(word: &Word) -> bool {
    word.tag.as_deref() != Some("PUNCT")
}

/// A form without its length, where it is one character again and again.
fn placeholder(form: &str) -> &str {
    let mut chars = form.char_indices();
    let Some((_, first)) = chars.next() else {
        return form;
    };
    match chars.next() {
        Some((second, _)) if form.chars().all(|char| char == first) => &form[..second],
        _ => form,
    }
}

fn words(sentence: &Sentence, which: fn(&Word) -> bool) -> impl Iterator<Item = &Word> {
    sentence.words().iter().filter(move |word| which(word))
}

fn is_all(sentence: &Sentence, which: fn(&Word) -> bool, is: impl Fn(&str) -> bool) -> bool {
    let mut words = words(sentence, which).peekable();
    words.peek().is_some() && words.all(|word| is(&word.form))
}

/// Whether a sentence of several words has no text. One underscore alone may be a line to write on.
pub(crate) fn is_hidden(sentence: &Sentence) -> bool {
    words(sentence, has_text).nth(1).is_some() && is_all(sentence, has_text, is_blank)
}

/// Refuses sentences of a file `name` of which most have no text.
pub(crate) fn check_text<'s>(
    sentences: impl Iterator<Item = &'s Sentence> + Clone,
    name: &str,
) -> Result<(), ReadError> {
    // Where nothing else is there, placeholders look like punctuation.
    let some = (sentences.clone()).any(|sentence| words(sentence, has_text).next().is_some());
    let which = if some { has_text } else { is_no_mark };
    let mut counts: HashMap<&str, usize> = HashMap::new();
    for word in (sentences.clone()).flat_map(|sentence| words(sentence, which)) {
        *counts.entry(placeholder(&word.form)).or_default() += 1;
    }
    let all: usize = counts.values().sum();
    let blanks = counts.get("_").copied().unwrap_or(0);
    // The first of the most frequent ones, in the order of their text.
    let most = counts
        .iter()
        .max_by_key(|&(form, &count)| (count, std::cmp::Reverse(*form)));
    let (form, count) = match most {
        Some((&form, &count)) if 2 * blanks <= all => (form, count),
        _ => ("_", blanks),
    };
    let is = |word: &str| placeholder(word) == form;
    let total = sentences.clone().count();
    let hidden = sentences
        .clone()
        .filter(|sentence| is_all(sentence, which, is))
        .count();
    let refused = match form {
        "_" => 2 * count > all || 2 * hidden > total,
        _ => 2 * count > all && 2 * hidden > total && count >= WORDS && total > 1,
    };
    let mut of_it = sentences.filter(|sentence| words(sentence, which).any(|word| is(&word.form)));
    match of_it.next() {
        Some(first) if refused => {
            let shown = rankrls_files::quote(form.as_bytes());
            let found = format!("{shown} in the place of {count} of {all}: the text was left out");
            let remedy = "get the text from who holds its rights, and fill it in by the tool of the treebank";
            Err(Fault::new("the forms of the words", found)
                .remedy(remedy)
                .at(name, first.line()))
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;

    use super::*;
    use crate::treebank::conllu;

    /// Sentences of words with blanks between, each with its part of speech after `/`.
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
            "* * * *\n* * * *",
            "xxxx xx xxx xx\nxxx xx xxxxx xx",
            "[REDACTED] [REDACTED] [REDACTED]\n[REDACTED] [REDACTED] [REDACTED]\n[REDACTED] [REDACTED] ok\n",
            "TOKEN TOKEN TOKEN TOKEN ./PUNCT\nTOKEN TOKEN TOKEN TOKEN ./PUNCT",
        ] {
            let error = checked(text).unwrap_err();
            assert!(
                error.contains("expected the forms of the words, found \""),
                "{error}"
            );
            assert!(
                error.contains("the text was left out (get the text"),
                "{text}: {error}"
            );
        }
        let error = checked("a dog\n_ _ .\n_ _ _").unwrap_err();
        assert!(
            error.starts_with("f:4:1: ") && error.contains("\"_\" in the place of 5 of 7"),
            "{error}"
        );
    }

    #[test]
    fn underscores_and_repetitions_of_a_text_are_read() {
        for text in [
            "",
            "Press the _ key",
            "Press _ or _ now\n_",
            "_ _ _ _\nA dog sees it\nThe line above is empty",
            "____________\nName and date\nYes",
            "no no no no no no no no",
            "ha ha ha\nha ha ha ha ha\nthe dog laughs\nwho is it ?",
            "Go\nGo",
            "a a\na a",
            "! !\n? ?\n. .\n... ...",
            "* one\n* two\n* three\n* four\n* five\n* six\n* seven\n* eight",
        ] {
            assert_eq!(checked(text), Ok(()), "{text}");
        }
    }
}
