//! Sentences with gold trees, and where their candidate parses come from.

use std::collections::HashMap;
use std::path::Path;

use super::journal::{Journal, Outcome};
use super::manifest::{Reason, Skipped, file_name};
use super::options::BuildError;
use super::options::Malformed;
use super::parse::Parse;
use crate::treebank::{self, NBest, Sentence, TreebankError, conllu};

/// The sentences with gold trees.
#[derive(Debug)]
pub(super) struct Treebank {
    /// As messages call it.
    pub(super) name: String,
    /// BLAKE3 of the text.
    pub(super) hash: String,
    pub(super) sentences: Vec<Sentence>,
    pub(super) skipped: Vec<Skipped>,
    /// A query identifier for every sentence.
    pub(super) ids: Vec<String>,
}

impl Treebank {
    pub(super) fn read(
        path: &Path,
        malformed: Malformed,
        treeless: bool,
    ) -> Result<Self, BuildError> {
        let text = treebank::read(path)?;
        let name = path.display().to_string();
        let mut sentences = Vec::new();
        let mut skipped = Vec::new();
        let all: Box<dyn Iterator<Item = _>> = if treeless {
            Box::new(conllu::with_or_without_trees(&text, &name))
        } else {
            Box::new(conllu::sentences(&text, &name))
        };
        for sentence in all {
            match sentence {
                Ok(sentence) => sentences.push(sentence),
                Err(error) => skipped.push(skip_malformed(path, error, malformed)?),
            }
        }
        let ids = query_ids(&sentences);
        Ok(Self {
            hash: blake3::hash(&text).to_hex().to_string(),
            name,
            sentences,
            skipped,
            ids,
        })
    }
}

fn skip_malformed(
    path: &Path,
    error: TreebankError,
    malformed: Malformed,
) -> Result<Skipped, BuildError> {
    match (&error, malformed) {
        (TreebankError::Malformed { line, .. }, Malformed::Skip) => Ok(Skipped {
            file: file_name(path),
            line: *line,
            id: None,
            reason: Reason::Malformed,
            detail: error.to_string(),
        }),
        _ => Err(error.into()),
    }
}

/// The identifiers of the sentences, or their numbers where some have none, none of their own, or
/// one that is no token of svmlight.
fn query_ids(sentences: &[Sentence]) -> Vec<String> {
    let part = |char: char| !char.is_control() && !matches!(char, ' ' | '#');
    let token = |id: &&str| !id.is_empty() && id.chars().all(part);
    let ids: Option<Vec<&str>> = sentences.iter().map(|s| s.id().filter(token)).collect();
    let distinct = |ids: &Vec<&str>| {
        let mut sorted = ids.clone();
        sorted.sort_unstable();
        sorted.windows(2).all(|pair| pair[0] != pair[1])
    };
    match ids.filter(distinct) {
        Some(ids) => ids.into_iter().map(str::to_owned).collect(),
        None => (1..=sentences.len()).map(|n| n.to_string()).collect(),
    }
}

/// Candidates from a file, by sentence.
#[derive(Debug)]
pub(super) struct FileCandidates {
    /// The file, without its folders.
    file: String,
    pub(super) hash: String,
    groups: Vec<Option<NBest>>,
    pub(super) skipped: Vec<Skipped>,
}

impl FileCandidates {
    pub(super) fn read(
        path: &Path,
        treebank: &Treebank,
        malformed: Malformed,
    ) -> Result<Self, BuildError> {
        let text = treebank::read(path)?;
        let name = path.display().to_string();
        let mut candidates = Self {
            file: file_name(path),
            hash: blake3::hash(&text).to_hex().to_string(),
            groups: vec![None; treebank.sentences.len()],
            skipped: Vec::new(),
        };
        let mut groups = Vec::new();
        for group in conllu::n_best(&text, &name) {
            match group {
                Ok(group) => groups.push(group),
                Err(error) => {
                    let skipped = skip_malformed(path, error, malformed)?;
                    candidates.skipped.push(skipped);
                }
            }
        }
        candidates.place(groups, &name, treebank)?;
        Ok(candidates)
    }

    /// Gives every sentence its group.
    fn place(
        &mut self,
        groups: Vec<NBest>,
        name: &str,
        treebank: &Treebank,
    ) -> Result<(), BuildError> {
        let numbers = numbers(treebank)?;
        for group in groups {
            let Some(&number) = numbers.get(&group.id) else {
                self.skipped.push(Skipped {
                    file: self.file.clone(),
                    line: group.line,
                    id: Some(group.id),
                    reason: Reason::Unknown,
                    detail: "the treebank has no such sentence".to_owned(),
                });
                continue;
            };
            if let Some(first) = &self.groups[number] {
                return Err(BuildError::SplitCandidates {
                    file: name.to_owned(),
                    line: group.line,
                    id: group.id,
                    first: first.line,
                });
            }
            self.groups[number] = Some(group);
        }
        Ok(())
    }
}

/// Sentences by identifier, or by number where they have none: not by one that is the identifier of
/// another.
fn numbers(treebank: &Treebank) -> Result<HashMap<String, usize>, BuildError> {
    let mut numbers = HashMap::new();
    for (number, sentence) in treebank.sentences.iter().enumerate() {
        let Some(id) = sentence.id() else { continue };
        if let Some(first) = numbers.insert(id.to_owned(), number) {
            return Err(BuildError::RepeatedId {
                file: treebank.name.clone(),
                line: sentence.line(),
                id: id.to_owned(),
                first: treebank.sentences[first].line(),
            });
        }
    }
    for (number, sentence) in treebank.sentences.iter().enumerate() {
        if sentence.id().is_none() {
            numbers.entry((number + 1).to_string()).or_insert(number);
        }
    }
    Ok(numbers)
}

/// Where candidates come from.
#[derive(Debug)]
pub(super) enum Pool {
    Journal(Journal),
    File(FileCandidates),
}

/// What there is for a sentence.
#[derive(Debug)]
pub(super) enum Found {
    Parses(Vec<Parse>),
    /// Nothing: why, in which file and line where that is not the sentence's, and in words.
    None(Reason, Option<(String, u64)>, String),
}

impl Pool {
    /// The first `limit` candidates of a sentence.
    pub(super) fn of(
        &self,
        number: usize,
        sentence: &Sentence,
        limit: usize,
    ) -> Result<Found, BuildError> {
        Ok(match self {
            Self::Journal(journal) => match journal.outcome(number)? {
                Outcome::Linkages(linkages) => {
                    aligned(sentence, &linkages[..linkages.len().min(limit)])
                }
                Outcome::Failed(reason) => Found::None(Reason::Failed, None, reason),
                Outcome::Unreadable(what) => Found::None(Reason::Unreadable, None, what),
                Outcome::TimedOut => Found::None(
                    Reason::TimedOut,
                    None,
                    "the parser ran out of time".to_owned(),
                ),
            },
            Self::File(file) => file.of(number, sentence, limit),
        })
    }
}

fn aligned(sentence: &Sentence, linkages: &[crate::linkgrammar::Linkage]) -> Found {
    let parse = |linkage| Parse::of_linkage(linkage, sentence.letters());
    let parses: Option<Vec<Parse>> = linkages.iter().map(parse).collect();
    parses.map_or_else(
        || {
            let detail = "the parser's words are not those of the sentence".to_owned();
            Found::None(Reason::Misaligned, None, detail)
        },
        Found::Parses,
    )
}

impl FileCandidates {
    pub(super) fn of(&self, number: usize, sentence: &Sentence, limit: usize) -> Found {
        let Some(group) = &self.groups[number] else {
            let detail = "the file of candidates has none for it".to_owned();
            return Found::None(Reason::Missing, None, detail);
        };
        let parses = &group.parses[..group.parses.len().min(limit)];
        let same_words = parses.iter().all(|parse| sentence.same_words(parse));
        let other = parses.iter().find(|parse| !same_text(sentence, parse));
        if let Some(other) = other.filter(|_| !same_words) {
            let detail = format!(
                "expected a parse of {:?}, found one of {:?}",
                shortened(sentence.text()),
                shortened(other.text())
            );
            let place = (self.file.clone(), other.line());
            return Found::None(Reason::Misaligned, Some(place), detail);
        }
        Found::Parses(parses.iter().map(Parse::of_sentence).collect())
    }
}

fn same_text(sentence: &Sentence, parse: &Sentence) -> bool {
    sentence.letters() == parse.letters()
}

fn shortened(text: &str) -> String {
    const LONGEST: usize = 60;
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}
