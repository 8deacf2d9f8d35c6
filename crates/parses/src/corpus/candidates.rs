//! The sources of candidate parses: the parser, a CoNLL-U file, or a file of the parser's output.

use std::collections::HashMap;
use std::path::Path;

use rankrls_files::ReadError;
use rankrls_files::error::Fault;
use serde_json::{Value, json};

use super::answers::Answers;
use super::manifest::{FileHash, Reason, Skipped};
use super::options::BuildOptions;
use super::parse::Parse;
use super::source::{Treebank, sound, turn};
use crate::Error;
use crate::linkgrammar::{Answer, linkages};
use crate::treebank::hidden::check_text;
use crate::treebank::{self, NBest, Sentence, conllu};

/// The candidates of all sentences.
#[derive(Debug)]
pub(super) enum Pool {
    /// The parser's answers in this run.
    Asked(Answers),
    /// The parser's answers from a file.
    Printed(Vec<Option<Answer>>),
    Conllu(NBests),
}

/// Candidates from a file of CoNLL-U, by sentence.
#[derive(Debug)]
pub(super) struct NBests {
    /// The file, without its folders.
    file: String,
    groups: Vec<Option<NBest>>,
    pub(super) skipped: Vec<Skipped>,
}

impl Pool {
    /// Reads the candidates of a file, and returns the file's hash.
    pub(super) fn read(
        path: &Path,
        gold: &Treebank,
        options: &BuildOptions,
    ) -> Result<(Self, Value), ReadError> {
        let text = treebank::read(path)?;
        let name = path.display().to_string();
        let hash = FileHash::of(path, &text);
        let mut lines = text.split(|&byte| byte == b'\n');
        // No line of CoNLL-U begins with a linkage's words, or with its costs behind a tab.
        let linkage = |line: &[u8]| {
            let begins = [&b"[(LEFT-WALL)"[..], b"\tLinkage ", b"\tUnique linkage"];
            begins.iter().any(|begin| line.starts_with(begin))
        };
        let (pool, format) = if lines.any(linkage) {
            (Self::Printed(echoed(&text, &name, gold)?), "link-parser")
        } else {
            let file = hash.file.clone();
            let nbests = NBests::read(&text, &name, file, gold, options)?;
            (Self::Conllu(nbests), "conllu")
        };
        let FileHash { file, blake3 } = hash;
        Ok((
            pool,
            json!({"file": file, "blake3": blake3, "format": format}),
        ))
    }

    /// Whether the scores within every sentence are equal, so that they rank nothing.
    pub(super) fn scores_tie(&self) -> bool {
        let Self::Conllu(nbests) = self else {
            return false;
        };
        let groups = nbests.groups.iter().flatten();
        let scores =
            |group: &NBest| -> Vec<_> { group.parses.iter().map(Sentence::score).collect() };
        let mut scored = groups
            .map(scores)
            .filter(|scores| scores.len() > 1 && scores[0].is_some());
        let tie = |scores: Vec<_>| scores.windows(2).all(|pair| pair[0] == pair[1]);
        scored.next().is_some_and(tie) && scored.all(tie)
    }

    /// Whether the candidates are linkages of Link Grammar.
    pub(super) fn is_link_grammar(&self) -> bool {
        !matches!(self, Self::Conllu(_))
    }

    /// The candidates of a sentence, or the reason to leave it out.
    pub(super) fn of(
        &self,
        number: usize,
        gold: &Treebank,
    ) -> Result<Result<Vec<Parse>, Skipped>, Error> {
        let answer = match self {
            Self::Conllu(nbests) => return Ok(nbests.of(number, gold)),
            Self::Asked(answers) => Some(answers.of(number)?),
            Self::Printed(answers) => answers[number].clone(),
        };
        let unused = |reason, detail: &str| Ok(Err(gold.unused(number, reason, detail)));
        let printed = match answer {
            None => return unused(Reason::Missing, MISSING),
            Some(Answer::Failed(why) | Answer::Ended(why)) => return unused(Reason::Failed, &why),
            Some(Answer::Unreadable(what)) => return unused(Reason::Unreadable, &what),
            Some(Answer::TimedOut) => {
                return unused(Reason::TimedOut, "the parser ran out of time");
            }
            Some(Answer::Printed(printed)) => printed,
        };
        let linkages = match linkages(&printed) {
            Ok(linkages) => linkages,
            Err(what) => return unused(Reason::Unreadable, &what),
        };
        let letters = gold.sentences[number].letters();
        let parses: Option<Vec<Parse>> = (linkages.iter())
            .map(|linkage| Parse::of_linkage(linkage, letters))
            .collect();
        match parses {
            Some(parses) => Ok(Ok(parses)),
            None => unused(
                Reason::Misaligned,
                "the parser's words differ from the sentence's",
            ),
        }
    }
}

const MISSING: &str = "the file of candidates has none for it";

/// The answers in a text that the parser printed. Each follows the sentence that it answers.
fn echoed(text: &[u8], name: &str, gold: &Treebank) -> Result<Vec<Option<Answer>>, ReadError> {
    let letters_of = |line: &str| -> String { line.split_whitespace().collect() };
    let mut numbers: HashMap<&str, Vec<usize>> = HashMap::new();
    for (number, sentence) in gold.sentences.iter().enumerate() {
        numbers.entry(sentence.letters()).or_default().push(number);
    }
    let (mut printed, mut at) = (HashMap::<usize, String>::new(), None);
    for line in String::from_utf8_lossy(text).lines() {
        // The parser itself prints lines with these beginnings, for any sentences.
        let is_printed = line.starts_with(['[', '\t']);
        if let Some(echo) = numbers.get(&*letters_of(line)).filter(|_| !is_printed) {
            at = echo.first().copied();
            printed.extend(at.map(|at| (at, String::new())));
        } else if let Some(said) = at.and_then(|at| printed.get_mut(&at)) {
            // Another answer begins, for a sentence that the treebank lacks.
            let begins = line.starts_with("Found ") || line.starts_with("No complete linkages");
            if begins && said.contains("cost vector = (") {
                at = None;
                continue;
            }
            said.push_str(line);
            said.push('\n');
        }
    }
    if printed.is_empty() {
        let expected =
            "each sentence of the treebank before its parses, as link-parser -echo=1 prints them";
        return Err(Fault::new(expected, "none").of(name));
    }
    let mut answers = vec![None; gold.sentences.len()];
    for (first, said) in printed {
        let answer = Answer::of(said);
        for &number in &numbers[gold.sentences[first].letters()] {
            answers[number] = Some(answer.clone());
        }
    }
    Ok(answers)
}

impl NBests {
    fn read(
        text: &[u8],
        name: &str,
        file: String,
        gold: &Treebank,
        options: &BuildOptions,
    ) -> Result<Self, ReadError> {
        let (mut groups, skipped) = sound(conllu::n_best(text, name), &file, options)?;
        check_text(groups.iter().flat_map(|group| &group.parses), name)?;
        let parses = groups.iter_mut().flat_map(|group| &mut group.parses);
        turn(parses, options.heads);
        let mut nbests = Self {
            file,
            groups: vec![None; gold.sentences.len()],
            skipped,
        };
        nbests.place(groups, name, gold)?;
        Ok(nbests)
    }

    /// Assigns its group to every sentence.
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
                    file: self.file.clone(),
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

    fn of(&self, number: usize, gold: &Treebank) -> Result<Vec<Parse>, Skipped> {
        let sentence = &gold.sentences[number];
        let Some(group) = &self.groups[number] else {
            return Err(gold.unused(number, Reason::Missing, MISSING));
        };
        let parses = &group.parses;
        let same_words = parses.iter().all(|parse| sentence.same_words(parse));
        let same_text = |parse: &&Sentence| sentence.letters() == parse.letters();
        let other = parses.iter().find(|parse| !same_text(parse));
        if let Some(other) = other.filter(|_| !same_words) {
            let detail = format!(
                "expected a parse of {:?}, found one of {:?}",
                shortened(sentence.text()),
                shortened(other.text())
            );
            return Err(Skipped {
                file: self.file.clone(),
                line: other.line(),
                ..gold.unused(number, Reason::Misaligned, &detail)
            });
        }
        Ok(parses.iter().map(Parse::of_sentence).collect())
    }
}

/// Sentences by identifier. A sentence without one counts by its number, unless that is another sentence's
/// identifier.
fn numbers(treebank: &Treebank) -> Result<HashMap<String, usize>, ReadError> {
    let mut numbers = HashMap::new();
    for (number, sentence) in treebank.sentences.iter().enumerate() {
        let Some(id) = sentence.id() else { continue };
        if let Some(first) = numbers.insert(id.to_owned(), number) {
            let first = treebank.sentences[first].line();
            let found = format!("{id:?} again, after the sentence on line {first}");
            let fault = Fault::new("a sent_id of its own", found);
            return Err(fault.at(&treebank.name, sentence.line()));
        }
    }
    for (number, sentence) in treebank.sentences.iter().enumerate() {
        if sentence.id().is_none() {
            let own = sentence.number().to_string();
            numbers.entry(own).or_insert(number);
        }
    }
    Ok(numbers)
}

fn shortened(text: &str) -> String {
    const LONGEST: usize = 60;
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}
