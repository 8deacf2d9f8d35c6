//! Parses of an unfinished run, kept as [lines](rankrls_files::Lines) beside the output: what
//! became of each sentence, in the order in which sentences were done.

use std::io::ErrorKind;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;

use rankrls_files::error::Fault;
use rankrls_files::{LinePlace, Lines};
use serde::{Deserialize, Serialize};

use super::BuildObserver;
use super::options::BuildError;
use crate::linkgrammar::{Answer, LinkGrammarError, LinkParser, Options};
use crate::treebank::Sentence;

pub(super) const SCHEMA: &str = "rankrls.parses/2";

/// The settings that parses depend on.
#[derive(Debug, Clone, Serialize)]
pub(super) struct Key {
    pub(super) schema: &'static str,
    /// Hash of the treebank's text.
    pub(super) treebank: String,
    pub(super) sentences: usize,
    pub(super) parser: String,
    pub(super) dictionary: String,
    pub(super) linkages: usize,
    pub(super) limit: usize,
    /// In seconds.
    pub(super) time_limit: u64,
}

/// The outcome of a sentence, as it is kept.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Record {
    /// Position of the sentence in the treebank, from 0.
    sentence: usize,
    outcome: Answer,
}

/// The part of a record that is read at first.
#[derive(Debug, Deserialize)]
struct Heading {
    sentence: usize,
}

/// The lines, and where in them the sentences are.
#[derive(Debug)]
pub(super) struct Parses {
    lines: Lines,
    places: Vec<Option<LinePlace>>,
    /// How many sentences are done.
    pub(super) done: usize,
}

impl Parses {
    /// Begins the file, or goes on with the one that is there if that is asked for: otherwise it is
    /// that of an unfinished run.
    pub(super) fn open(path: &Path, key: &Key, resume: bool) -> Result<Self, BuildError> {
        let mut places = vec![None; key.sentences];
        let lines = Lines::open(path, key, resume, |entry, text| {
            let expected = || format!("what became of one of {} sentences", key.sentences);
            let Heading { sentence } = serde_json::from_slice(text)
                .map_err(|error| Fault::new(expected(), error.to_string()))?;
            match places.get_mut(sentence) {
                Some(place @ None) => *place = Some(entry),
                Some(Some(_)) => {
                    return Err(Fault::new(expected(), format!("sentence {sentence} again")));
                }
                None => return Err(Fault::new(expected(), format!("sentence {sentence}"))),
            }
            Ok(())
        })?;
        Ok(Self {
            done: places.iter().flatten().count(),
            lines,
            places,
        })
    }

    /// Whether a sentence is done.
    pub(super) fn has(&self, sentence: usize) -> bool {
        self.places.get(sentence).is_some_and(Option::is_some)
    }

    /// Keeps what became of a sentence.
    pub(super) fn keep(&mut self, sentence: usize, outcome: Answer) -> Result<(), BuildError> {
        let kept = self.lines.push(&Record { sentence, outcome });
        let place = match kept {
            Err(error) if error.kind() == ErrorKind::FileTooLarge => {
                let outcome = Answer::Unreadable(format!("an answer that is too long: {error}"));
                self.lines.push(&Record { sentence, outcome })
            }
            kept => kept,
        };
        self.places[sentence] = Some(place.map_err(BuildError::write(self.lines.path()))?);
        self.done += 1;
        Ok(())
    }

    /// The outcome of a sentence that is done.
    pub(super) fn outcome(&self, sentence: usize) -> Result<Answer, BuildError> {
        let place = self.places[sentence].expect("all sentences are parsed first");
        let record: Record = self.lines.read(place)?;
        Ok(record.outcome)
    }

    /// Leaves the file for another run, or takes it away.
    pub(super) fn end(self, keep: bool) -> Result<(), BuildError> {
        let path = self.lines.path().to_owned();
        let ended = if keep {
            self.lines.sync()
        } else {
            self.lines.remove()
        };
        ended.map_err(BuildError::write(&path))
    }
}

// Parsing a treebank with one parser a thread.

/// Failures that end a build when they are more than a third of the sentences tried. One sentence
/// never ends it.
const FAILURES: usize = 20;

type Done = Result<(usize, Answer), LinkGrammarError>;

/// Parses the sentences that the journal does not have, on as many processes as the current rayon
/// pool has threads; `first` is one of them.
pub(super) fn parse(
    sentences: &[Sentence],
    first: LinkParser,
    options: &Options,
    parses: &mut Parses,
    observer: &dyn BuildObserver,
) -> Result<(), BuildError> {
    let left: Vec<usize> = (0..sentences.len())
        .filter(|&sentence| !parses.has(sentence))
        .collect();
    let workers = rayon::current_num_threads().min(left.len());
    let work = Work {
        sentences,
        left: &left,
        next: AtomicUsize::new(0),
        stop: Arc::default(),
    };
    observer.parsed(parses.done, sentences.len());
    let (sender, receiver) = channel();
    let mut first = Some(first);
    thread::scope(|scope| {
        for _ in 0..workers {
            let (work, sender, parser) = (&work, sender.clone(), first.take());
            scope.spawn(move || work.run(parser, options, &sender));
        }
        drop(sender);
        let kept = keep_all(receiver, parses, sentences.len(), observer);
        // Nobody listens any more: parsers end at the sentences that they are at.
        work.stop.store(true, Ordering::Relaxed);
        kept
    })
}

/// Keeps answers until all are there, or one of them ends the build.
fn keep_all(
    answers: Receiver<Done>,
    parses: &mut Parses,
    sentences: usize,
    observer: &dyn BuildObserver,
) -> Result<(), BuildError> {
    let (mut tried, mut failed) = (0, 0);
    for done in answers {
        let (sentence, answer) = done?;
        tried += 1;
        if let Answer::Ended(last) | Answer::Unreadable(last) = &answer {
            failed += 1;
            if failed >= FAILURES && 3 * failed > tried {
                let last = last.clone();
                return Err(BuildError::Parser {
                    failed,
                    tried,
                    last,
                });
            }
        }
        parses.keep(sentence, answer)?;
        observer.parsed(parses.done, sentences);
    }
    Ok(())
}

/// The state that the workers share.
struct Work<'a> {
    sentences: &'a [Sentence],
    left: &'a [usize],
    next: AtomicUsize,
    stop: Arc<AtomicBool>,
}

impl Work<'_> {
    fn run(&self, first: Option<LinkParser>, options: &Options, sender: &Sender<Done>) {
        let started = first.map_or_else(|| LinkParser::start_until(options, &self.stop), Ok);
        let mut parser = match started {
            Ok(parser) => parser.until(&self.stop),
            Err(error) => {
                // Nobody listens when another worker failed before.
                let _ = sender.send(Err(error));
                return;
            }
        };
        while let Some(&sentence) = self.left.get(self.next.fetch_add(1, Ordering::Relaxed)) {
            let answer = parser.parse(self.sentences[sentence].text());
            let done = answer.map(|answer| (sentence, answer));
            if sender.send(done).is_err() {
                return;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linkgrammar::{Link, Linkage, LinkedWord};

    fn key() -> Key {
        Key {
            schema: SCHEMA,
            treebank: "hash".to_owned(),
            sentences: 5,
            parser: "p".to_owned(),
            dictionary: "d".to_owned(),
            linkages: 20,
            limit: 1000,
            time_limit: 10,
        }
    }

    fn outcomes() -> [Answer; 4] {
        let word = |shown: &str, connectors: Option<&str>| LinkedWord {
            shown: shown.to_owned(),
            connectors: connectors.map(str::to_owned),
        };
        let link = |left, right| Link {
            left,
            right,
            label: "Wd".to_owned(),
        };
        let linkage = Linkage {
            words: vec![word("LEFT-WALL", Some("Wd+")), word("[x]", None)],
            links: vec![link(0, 1)],
            unused: 1,
            cost: -83,
            length: 1,
        };
        [
            Answer::Linkages(vec![linkage.clone(), linkage]),
            Answer::TimedOut,
            Answer::Unreadable("?".to_owned()),
            Answer::Failed("no linkages".to_owned()),
        ]
    }

    #[test]
    fn parses_are_gone_on_with() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("journal");
        let mut parses = Parses::open(&path, &key(), false).unwrap();
        for (sentence, outcome) in [3, 1, 0, 4].into_iter().zip(outcomes()) {
            parses.keep(sentence, outcome.clone()).unwrap();
            assert_eq!(parses.outcome(sentence).unwrap(), outcome);
        }
        drop(parses);
        let parses = Parses::open(&path, &key(), true).unwrap();
        assert_eq!((parses.done, parses.has(2)), (4, false));
        for (sentence, outcome) in [3, 1, 0, 4].into_iter().zip(outcomes()) {
            assert_eq!(parses.outcome(sentence).unwrap(), outcome);
        }
        parses.end(true).unwrap();
        assert!(path.exists());
        let parses = Parses::open(&path, &key(), true).unwrap();
        parses.end(false).unwrap();
        assert!(!path.exists());
    }

    /// Their hashes are right, as only who makes them can.
    #[test]
    fn records_that_cannot_be_are_refused_with_their_line() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("journal");
        let write = |texts: &[&str]| {
            let _ = std::fs::remove_file(&path);
            let mut lines = Lines::open(&path, &key(), false, |_, _| Ok(())).unwrap();
            for text in texts {
                let value: serde_json::Value = serde_json::from_str(text).unwrap();
                lines.push(&value).unwrap();
            }
        };
        let twice = r#"{"sentence":2,"outcome":"timed_out"}"#;
        for (texts, line) in [
            (&[r#"{"sentence":5,"outcome":"timed_out"}"#][..], 2),
            (&[r#"{"sentence":-1,"outcome":"timed_out"}"#], 2),
            (&[r#"{"outcome":"timed_out"}"#], 2),
            (&[twice, twice], 3),
        ] {
            write(texts);
            let error = Parses::open(&path, &key(), true).unwrap_err().to_string();
            let expected = format!("journal:{line}:1: expected what became of one of 5 sentences");
            assert!(error.contains(&expected), "{error}");
        }
        for outcome in [
            r#"{"linkages":[[0,0,0,[["a",null]],[[0,1,"A"]]]]}"#,
            r#"{"linkages":[[0,0,0,[["a",null],["b",null]],[[1,0,"A"]]]]}"#,
            r#""unknown""#,
        ] {
            write(&[&format!(r#"{{"sentence":0,"outcome":{outcome}}}"#)]);
            let parses = Parses::open(&path, &key(), true).unwrap();
            let error = parses.outcome(0).unwrap_err().to_string();
            assert!(
                error.contains("journal:2:1: expected a line of this run"),
                "{error}"
            );
        }
    }
}
