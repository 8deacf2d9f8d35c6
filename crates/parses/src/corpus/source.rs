//! Sentences with gold trees.

use std::path::Path;

use rankrls_files::error::Fault;
use rankrls_files::{ReadError, escaped, escaped_id, unescaped_id};

use super::manifest::{FileHash, Reason, Skipped};
use super::options::{BuildOptions, Heads, Split};
use crate::treebank::hidden::check_text;
use crate::treebank::{self, Sentence, conllu};

/// The remedy where there are no documents to hold out.
pub(super) const SENTENCES: &str = "--split sentences holds out sentences";

/// The sentences with gold trees.
#[derive(Debug)]
pub(super) struct Treebank {
    /// The name in messages.
    pub(super) name: String,
    pub(super) source: FileHash,
    pub(super) sentences: Vec<Sentence>,
    pub(super) skipped: Vec<Skipped>,
    /// The written query identifier of every sentence.
    pub(super) ids: Vec<String>,
    /// Adpositions that depend on nouns in the file.
    pub(super) adpositions: usize,
}

impl Treebank {
    pub(super) fn read(path: &Path, options: &BuildOptions) -> Result<Self, ReadError> {
        let text = treebank::read(path)?;
        let name = path.display().to_string();
        let source = FileHash::of(path, &text);
        let sentences = conllu::read(&text, &name, options.columns.is_some());
        let (mut sentences, skipped) = sound(sentences, &source.file, options)?;
        check_text(sentences.iter(), &name)?;
        let adpositions = sentences.iter().map(Sentence::dependent_adpositions).sum();
        turn(sentences.iter_mut(), options.heads);
        Ok(Self {
            ids: query_ids(&sentences),
            adpositions,
            name,
            source,
            sentences,
            skipped,
        })
    }

    /// Refuses to hold out documents where there is one at most, before anything is parsed.
    pub(super) fn check_documents(&self, options: &BuildOptions) -> Result<(), ReadError> {
        let mut documents = self.sentences.iter().map(Sentence::document);
        let first = documents.next().flatten();
        let wanted = options.split == Some(Split::Documents) && options.holds_out();
        if !wanted || documents.any(|other| other != first) {
            return Ok(());
        }
        let found = if first.is_some() { "one" } else { "none" };
        let fault = Fault::new("several documents, which comments # newdoc begin", found);
        Err(fault.remedy(SENTENCES).of(&self.name))
    }

    /// A sentence to leave out.
    pub(super) fn unused(&self, number: usize, reason: Reason, detail: &str) -> Skipped {
        let sentence = &self.sentences[number];
        Skipped {
            file: self.source.file.clone(),
            line: sentence.line(),
            id: sentence.id().map(str::to_owned),
            reason,
            detail: detail.to_owned(),
        }
    }
}

/// The sound items of a `file`. Malformed sentences are skipped if that is asked for.
pub(super) fn sound<T>(
    read: impl Iterator<Item = Result<T, ReadError>>,
    file: &str,
    options: &BuildOptions,
) -> Result<(Vec<T>, Vec<Skipped>), ReadError> {
    let (mut all, mut skipped) = (Vec::new(), Vec::new());
    for one in read {
        match one {
            Ok(one) => all.push(one),
            Err(error) => match error.place() {
                Some(place) if options.skip_malformed => skipped.push(Skipped {
                    file: file.to_owned(),
                    line: place.line,
                    id: None,
                    reason: Reason::Malformed,
                    detail: error.to_string(),
                }),
                _ => return Err(error),
            },
        }
    }
    Ok((all, skipped))
}

/// Turns the heads of sentences as `heads` says.
pub(super) fn turn<'s>(sentences: impl Iterator<Item = &'s mut Sentence>, heads: Heads) {
    if heads == Heads::Function {
        sentences.for_each(Sentence::turn_heads);
    }
}

/// Whether svmlight can hold an identifier as it is: visible characters without `#`, no pair `INDEX:VALUE` at its
/// end, and no word for a missing value.
fn is_query_id(id: &str) -> bool {
    const MISSING: [&str; 10] = [
        "na", "n/a", "<na>", "null", "none", "nat", "missing", "\\n", ".", "?",
    ];
    let word = id.to_lowercase();
    let name = word.strip_prefix(['-', '+']).unwrap_or(&word);
    let is_nan = name
        .strip_prefix("nan")
        .is_some_and(|rest| matches!(rest, "" | "q" | "s") || rest.starts_with('('));
    let unseen = |char: char| {
        char.is_whitespace()
            || matches!(
                char,
                '#' | '\u{ad}' | '\u{180e}' | '\u{200b}' | '\u{2060}'..='\u{2064}' | '\u{feff}'
            )
    };
    let ends_in_pair = id.rsplit_once(':').is_some_and(|(before, value)| {
        let rest = before.trim_end_matches(|char: char| char.is_ascii_digit());
        rest.len() < before.len()
            && rest.ends_with(|char: char| !char.is_alphanumeric())
            && value.parse::<f64>().is_ok()
    });
    escaped(id) == id
        && !id.contains(unseen)
        && !ends_in_pair
        && !is_nan
        && !MISSING.contains(&word.as_str())
}

/// The identifier in svmlight text, escaped if it would not read back.
fn token(id: &str) -> String {
    if is_query_id(id) && unescaped_id(id) == id {
        id.to_owned()
    } else {
        escaped_id(id)
    }
}

/// The identifiers of the sentences. If some are missing or repeated, their numbers in the file instead.
fn query_ids(sentences: &[Sentence]) -> Vec<String> {
    let ids: Option<Vec<&str>> = sentences.iter().map(Sentence::id).collect();
    let distinct = |ids: &Vec<&str>| {
        let mut sorted = ids.clone();
        sorted.sort_unstable();
        sorted.windows(2).all(|pair| pair[0] != pair[1])
    };
    if let Some(ids) = ids.filter(distinct) {
        return ids.into_iter().map(token).collect();
    }
    let numbers = sentences.iter().map(|one| one.number().to_string());
    numbers.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn identifiers_that_text_cannot_hold_are_escaped_and_read_back() {
        for id in [
            "s\x1b[31m1\tx",
            "s\u{a0}1",
            "s\u{3000}1",
            "s\u{200b}1",
            "MATT_5:1",
            "d;3:0.5",
            "NaN",
            "?",
            "s#1",
            "a b",
        ] {
            assert_ne!(token(id), id);
            assert_eq!(unescaped_id(&token(id)), id);
        }
        for id in ["verse5:1", "http://a.b/1", "文-1", "a:b"] {
            assert_eq!(token(id), id);
        }
    }
}
