//! Parsing a treebank with one parser a thread.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::thread;

use super::BuildObserver;
use super::error::BuildError;
use super::journal::Journal;
use crate::linkgrammar::{Answer, LinkGrammarError, LinkParser, Options};
use crate::treebank::Sentence;

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
    journal: &mut Journal,
    observer: &dyn BuildObserver,
) -> Result<(), BuildError> {
    let left: Vec<usize> = (0..sentences.len())
        .filter(|&sentence| !journal.has(sentence))
        .collect();
    let workers = rayon::current_num_threads().min(left.len());
    let work = Work {
        sentences,
        left: &left,
        next: AtomicUsize::new(0),
        end: AtomicBool::new(false),
    };
    observer.parsed(journal.done(), sentences.len());
    let (sender, receiver) = channel();
    let mut first = Some(first);
    thread::scope(|scope| {
        for _ in 0..workers {
            let (work, sender, parser) = (&work, sender.clone(), first.take());
            scope.spawn(move || work.run(parser, options, &sender));
        }
        drop(sender);
        // Whatever ends the loop ends the workers, each after the sentence that it is at.
        let _end = EndOnDrop(&work.end);
        let (mut tried, mut failed) = (0, 0);
        for done in receiver {
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
            journal.keep(sentence, answer.into())?;
            observer.parsed(journal.done(), sentences.len());
            if observer.interrupted() {
                return Err(BuildError::Interrupted);
            }
        }
        Ok(())
    })
}

struct EndOnDrop<'a>(&'a AtomicBool);

impl Drop for EndOnDrop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// What the workers share.
struct Work<'a> {
    sentences: &'a [Sentence],
    left: &'a [usize],
    next: AtomicUsize,
    end: AtomicBool,
}

impl Work<'_> {
    fn run(&self, parser: Option<LinkParser>, options: &Options, sender: &Sender<Done>) {
        let mut parser = match parser.map_or_else(|| LinkParser::start(options), Ok) {
            Ok(parser) => parser,
            Err(error) => {
                // Nobody listens when another worker failed before.
                let _ = sender.send(Err(error));
                return;
            }
        };
        while !self.end.load(Ordering::Relaxed) {
            let next = self.next.fetch_add(1, Ordering::Relaxed);
            let Some(&sentence) = self.left.get(next) else {
                return;
            };
            let answer = parser.parse(self.sentences[sentence].text());
            let done = answer.map(|answer| (sentence, answer));
            if sender.send(done).is_err() {
                return;
            }
        }
    }
}
