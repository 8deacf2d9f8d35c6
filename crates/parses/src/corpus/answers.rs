//! The answers of the parser, kept as [lines](Lines) while a run is unfinished. They stand in the order in which
//! the sentences were parsed.

use std::io::ErrorKind;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, channel};
use std::thread;

use rankrls_files::error::Fault;
use rankrls_files::{LinePlace, Lines, Part};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::observer::BuildObserver;
use crate::Error;
use crate::linkgrammar::{Answer, LinkParser, Options, no_thread};
use crate::treebank::Sentence;

/// The schema of the lines.
pub(super) const SCHEMA: &str = "rankrls.parses/4";

/// The kept outcome of a sentence.
#[derive(Debug, Serialize, Deserialize)]
struct Record {
    /// Position of the sentence in the treebank, from 0.
    sentence: usize,
    outcome: Answer,
}

/// The lines, and the place of each sentence in them.
#[derive(Debug)]
pub(super) struct Answers {
    lines: Lines,
    places: Vec<Option<LinePlace>>,
    /// Number of parsed sentences.
    done: usize,
}

impl Answers {
    /// Begins the work beside `output` of a `run` on `sentences` sentences, or resumes it if `resume` is set. `run`
    /// has all settings that answers depend on.
    pub(super) fn open(
        output: &Path,
        run: &Value,
        sentences: usize,
        resume: bool,
    ) -> Result<Self, Error> {
        let mut places = vec![None; sentences];
        let lines = Lines::open(
            output,
            run,
            "parsed sentences",
            resume,
            None,
            |entry, text| {
                let fault = |found| {
                    let expected = format!("the outcome of one of {sentences} sentences");
                    Fault::new(expected, found)
                };
                let record: Record =
                    serde_json::from_slice(text).map_err(|error| fault(error.to_string()))?;
                let sentence = record.sentence;
                match places.get_mut(sentence) {
                    Some(place @ None) => *place = Some(entry),
                    Some(Some(_)) => return Err(fault(format!("sentence {sentence} again"))),
                    None => return Err(fault(format!("sentence {sentence}"))),
                }
                Ok(())
            },
        )?;
        Ok(Self {
            done: places.iter().flatten().count(),
            lines,
            places,
        })
    }

    /// Refuses work beside `output` where no parser can resume it.
    pub(super) fn check_none(output: &Path) -> Result<(), Error> {
        if Part::open(output)?.file().is_some() {
            let (run, pieces) = (
                json!({"schema": SCHEMA}),
                "sentences parsed by --link-grammar",
            );
            Lines::open(output, &run, pieces, false, None, |_, _| Ok(()))?;
        }
        Ok(())
    }

    /// Keeps the outcome of a sentence.
    fn keep(&mut self, sentence: usize, outcome: Answer) -> Result<(), Error> {
        let kept = self.lines.push(&Record { sentence, outcome });
        let place = match kept {
            Err(error) if error.kind() == ErrorKind::FileTooLarge => {
                let outcome = Answer::Unreadable(format!("an answer that is too long: {error}"));
                self.lines.push(&Record { sentence, outcome })
            }
            kept => kept,
        };
        self.places[sentence] = Some(place.map_err(Error::write(self.lines.path()))?);
        self.done += 1;
        Ok(())
    }

    /// The outcome of a parsed sentence.
    pub(super) fn of(&self, sentence: usize) -> Result<Answer, Error> {
        let place = self.places[sentence].expect("all sentences are parsed first");
        let record: Record = self.lines.read(place)?;
        Ok(record.outcome)
    }

    /// Deletes the file, once the corpus is written.
    pub(super) fn remove(self) -> Result<(), Error> {
        let path = self.lines.path().to_owned();
        self.lines.remove().map_err(Error::write(&path))
    }

    /// Parses the sentences without an answer, with one parser for each thread of the current rayon pool.
    pub(super) fn parse(
        &mut self,
        sentences: &[Sentence],
        options: &Options,
        observer: &dyn BuildObserver,
    ) -> Result<(), Error> {
        let left = |&sentence: &usize| self.places[sentence].is_none();
        let left: Vec<usize> = (0..sentences.len()).filter(left).collect();
        observer.parsed(self.done, sentences.len());
        let (next, stop) = (AtomicUsize::new(0), AtomicBool::new(false));
        let (sender, answers) = channel();
        thread::scope(|scope| {
            for number in 0..rayon::current_num_threads().min(left.len()) {
                let (left, next, stop, sender) = (&left, &next, &stop, sender.clone());
                let begun = thread::Builder::new().spawn_scoped(scope, move || {
                    let mut parser = LinkParser::new(options, stop);
                    while let Some(&sentence) = left.get(next.fetch_add(1, Ordering::Relaxed)) {
                        let answer = parser.parse(sentences[sentence].text());
                        // After a failed build, nobody receives.
                        if sender.send((sentence, answer)).is_err() {
                            return;
                        }
                    }
                });
                match begun {
                    Ok(_) => {}
                    Err(error) if number == 0 => return Err(no_thread(&error)),
                    // The parsers that have started parse all sentences.
                    Err(_) => break,
                }
            }
            drop(sender);
            let kept = self.keep_all(answers, observer);
            // Parsers stop within their present sentence.
            stop.store(true, Ordering::Relaxed);
            kept
        })
    }

    /// Keeps answers until all have come, or one of them fails the build.
    fn keep_all(
        &mut self,
        answers: Receiver<(usize, Result<Answer, Error>)>,
        observer: &dyn BuildObserver,
    ) -> Result<(), Error> {
        for (sentence, answer) in answers {
            self.keep(sentence, answer?)?;
            observer.parsed(self.done, self.places.len());
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run() -> Value {
        json!({"schema": SCHEMA, "sentences": 5})
    }

    #[test]
    fn answers_are_gone_on_with() {
        let outcomes = [
            Answer::Printed("a\n\"b\"".to_owned()),
            Answer::TimedOut,
            Answer::Unreadable("?".to_owned()),
            Answer::Failed("no linkages".to_owned()),
        ];
        let outcomes = || [3, 1, 0, 4].into_iter().zip(outcomes.clone());
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("parses");
        let mut answers = Answers::open(&path, &run(), 5, false).unwrap();
        for (sentence, outcome) in outcomes() {
            answers.keep(sentence, outcome).unwrap();
        }
        drop(answers);
        let answers = Answers::open(&path, &run(), 5, true).unwrap();
        assert_eq!((answers.done, answers.places[2]), (4, None));
        for (sentence, outcome) in outcomes() {
            assert_eq!(answers.of(sentence).unwrap(), outcome);
        }
        answers.remove().unwrap();
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    }

    #[test]
    fn records_that_cannot_be_are_refused_with_their_line() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("parses");
        let twice = r#"{"sentence":2,"outcome":"timed_out"}"#;
        for (texts, line) in [
            (&[r#"{"sentence":5,"outcome":"timed_out"}"#][..], 2),
            (&[r#"{"sentence":-1,"outcome":"timed_out"}"#], 2),
            (&[r#"{"outcome":"timed_out"}"#], 2),
            (&[r#"{"sentence":0,"outcome":"unknown"}"#], 2),
            (&[twice, twice], 3),
        ] {
            let _ = std::fs::remove_file(folder.path().join("parses.part"));
            let mut lines = Lines::open(&path, &run(), "", false, None, |_, _| Ok(())).unwrap();
            for text in texts {
                let value: serde_json::Value = serde_json::from_str(text).unwrap();
                lines.push(&value).unwrap();
            }
            drop(lines);
            let opened = Answers::open(&path, &run(), 5, true);
            let error = opened.unwrap_err().to_string();
            let expected =
                format!("parses.part:{line}:1: expected the outcome of one of 5 sentences");
            assert!(error.contains(&expected), "{error}");
        }
    }
}
