//! Sentences with gold trees, and where their candidate parses come from.

use std::collections::HashMap;
use std::path::Path;

use rankrls_files::ReadError;
use rankrls_files::error::Fault;

use super::journal::Parses;
use super::manifest::{FileHash, Reason, Skipped};
use super::options::{BuildError, BuildOptions, Heads, Malformed};
use super::parse::Parse;
use crate::linkgrammar::{Answer, Linkage};
use crate::treebank::hidden::check_text;
use crate::treebank::{self, NBest, Sentence, conllu};

/// The sentences with gold trees.
#[derive(Debug)]
pub(super) struct Treebank {
    /// The name in messages.
    pub(super) name: String,
    pub(super) source: FileHash,
    pub(super) sentences: Vec<Sentence>,
    pub(super) skipped: Vec<Skipped>,
    /// A query identifier for every sentence.
    pub(super) ids: Vec<String>,
    /// Adpositions that depend on nouns in the file.
    pub(super) adpositions: usize,
}

impl Treebank {
    pub(super) fn read(path: &Path, options: &BuildOptions) -> Result<Self, ReadError> {
        let text = treebank::read(path)?;
        let name = path.display().to_string();
        let source = FileHash::of(path, &text);
        let mut sentences = Vec::new();
        let mut skipped = Vec::new();
        for sentence in conllu::read(&text, &name, options.columns.is_some()) {
            match sentence {
                Ok(sentence) => sentences.push(sentence),
                Err(error) => {
                    skipped.push(skip_malformed(&source.file, error, options.malformed)?);
                }
            }
        }
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
}

/// Makes heads what they are to be.
fn turn<'s>(sentences: impl Iterator<Item = &'s mut Sentence>, heads: Heads) {
    if heads == Heads::Function {
        sentences.for_each(Sentence::turn_heads);
    }
}

fn skip_malformed(
    file: &str,
    error: ReadError,
    malformed: Malformed,
) -> Result<Skipped, ReadError> {
    match error.place() {
        Some(place) if malformed == Malformed::Skip => Ok(Skipped {
            file: file.to_owned(),
            line: place.line,
            id: None,
            reason: Reason::Malformed,
            detail: error.to_string(),
        }),
        _ => Err(error),
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
    pub(super) source: FileHash,
    groups: Vec<Option<NBest>>,
    pub(super) skipped: Vec<Skipped>,
}

impl FileCandidates {
    pub(super) fn read(
        path: &Path,
        treebank: &Treebank,
        options: &BuildOptions,
    ) -> Result<Self, ReadError> {
        let text = treebank::read(path)?;
        let name = path.display().to_string();
        let mut candidates = Self {
            source: FileHash::of(path, &text),
            groups: vec![None; treebank.sentences.len()],
            skipped: Vec::new(),
        };
        let mut groups: Vec<NBest> = Vec::new();
        for group in conllu::n_best(&text, &name) {
            match group {
                Ok(group) => groups.push(group),
                Err(error) => {
                    let file = &candidates.source.file;
                    let skipped = skip_malformed(file, error, options.malformed)?;
                    candidates.skipped.push(skipped);
                }
            }
        }
        check_text(groups.iter().flat_map(|group| &group.parses), &name)?;
        let parses = groups.iter_mut().flat_map(|group| &mut group.parses);
        turn(parses, options.heads);
        candidates.place(groups, &name, treebank)?;
        Ok(candidates)
    }

    /// Gives every sentence its group.
    fn place(
        &mut self,
        groups: Vec<NBest>,
        name: &str,
        treebank: &Treebank,
    ) -> Result<(), ReadError> {
        let numbers = numbers(treebank)?;
        for group in groups {
            let Some(&number) = numbers.get(&group.id) else {
                let detail = format!(
                    "the treebank has no sentence with the sent_id {:?}",
                    group.id
                );
                self.skipped.push(Skipped {
                    file: self.source.file.clone(),
                    line: group.line,
                    id: Some(group.id),
                    reason: Reason::Unknown,
                    detail,
                });
                continue;
            };
            if let Some(first) = &self.groups[number] {
                let expected = "the parses of a sentence next to each other";
                let (id, first) = (group.id, first.line);
                let found = format!("more of {id:?}, which began on line {first}");
                return Err(Fault::new(expected, found).at(name, group.line));
            }
            self.groups[number] = Some(group);
        }
        Ok(())
    }
}

/// Sentences by identifier, or by number where they have none: not by one that is the identifier of
/// another.
fn numbers(treebank: &Treebank) -> Result<HashMap<String, usize>, ReadError> {
    let mut numbers = HashMap::new();
    for (number, sentence) in treebank.sentences.iter().enumerate() {
        let Some(id) = sentence.id() else { continue };
        if let Some(first) = numbers.insert(id.to_owned(), number) {
            let first = treebank.sentences[first].line();
            let found = format!("{id:?} again, that of the sentence on line {first}");
            let fault = Fault::new("a sent_id of its own", found);
            return Err(fault.at(&treebank.name, sentence.line()));
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
    Journal(Parses),
    File(FileCandidates),
}

/// The parses that there are for a sentence.
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
            Self::Journal(parses) => match parses.outcome(number)? {
                Answer::Linkages(linkages) => {
                    aligned(sentence, &linkages[..linkages.len().min(limit)])
                }
                Answer::Failed(reason) | Answer::Ended(reason) => {
                    Found::None(Reason::Failed, None, reason)
                }
                Answer::Unreadable(what) => Found::None(Reason::Unreadable, None, what),
                Answer::TimedOut => Found::None(
                    Reason::TimedOut,
                    None,
                    "the parser ran out of time".to_owned(),
                ),
            },
            Self::File(file) => file.of(number, sentence, limit),
        })
    }
}

fn aligned(sentence: &Sentence, linkages: &[Linkage]) -> Found {
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
            let place = (self.source.file.clone(), other.line());
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
