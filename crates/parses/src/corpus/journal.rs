//! Parses of an unfinished run, kept in a file beside the output.
//!
//! The file begins with a line that names the format. Records follow: four bytes for the length
//! of the content (little-endian), sixteen of its BLAKE3 hash, and the content, JSON compressed by
//! zstd. The first record says what the run depends on; each of the others is what became of one
//! sentence, in the order in which sentences were done. A record that was not written to its end
//! is cut off, and its sentence is parsed again.

use std::fs::{self, File};
use std::io::{self, BufReader, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::thread;

use rankrls_files::error::Fault;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::BuildObserver;
use super::options::BuildError;
use crate::linkgrammar::{Answer, LinkGrammarError, LinkParser, Options};
use crate::treebank::Sentence;

const HEADING: &[u8] = b"rankrls.parses/1\n";

/// Bytes before the content of a record.
const FRAME: usize = 4 + 16;

/// Bytes of a record at the most: none comes near.
const LARGEST: usize = 1 << 28;

const ZSTD_LEVEL: i32 = 3;

/// What parses depend on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Key {
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

impl Key {
    /// The first thing in which another key differs: what, here, there.
    fn difference(&self, other: &Self) -> Option<(&'static str, String, String)> {
        let fields = |key: &Self| {
            [
                ("treebank", key.treebank.clone()),
                ("number of sentences", key.sentences.to_string()),
                ("parser", key.parser.clone()),
                ("dictionary", key.dictionary.clone()),
                ("number of linkages", key.linkages.to_string()),
                ("limit", key.limit.to_string()),
                ("time limit", format!("{} s", key.time_limit)),
            ]
        };
        let mut pairs = fields(self).into_iter().zip(fields(other));
        let ((what, here), (_, there)) = pairs.find(|(here, there)| here != there)?;
        Some((what, here, there))
    }
}

/// What became of a sentence, as it is kept.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Record {
    /// Position of the sentence in the treebank, from 0.
    sentence: usize,
    outcome: Answer,
}

/// The file, and where in it the sentences are.
#[derive(Debug)]
pub(super) struct Journal {
    path: PathBuf,
    file: Mutex<File>,
    /// Where the content of each sentence's record begins, and how long it is.
    places: Vec<Option<(u64, usize)>>,
    end: u64,
}

impl Journal {
    /// Begins a journal, or goes on with the one that is there if that is asked for: otherwise it is
    /// that of an unfinished run.
    pub(super) fn open(path: &Path, key: &Key, resume: bool) -> Result<Self, BuildError> {
        let mut options = File::options();
        options.read(true).write(true).truncate(false);
        options.create(true).create_new(!resume);
        let file = options.open(path).map_err(|error| match error.kind() {
            io::ErrorKind::AlreadyExists => BuildError::Unfinished(path.to_owned()),
            _ => BuildError::write(path)(error),
        })?;
        let mut journal = Self {
            path: path.to_owned(),
            file: Mutex::new(file),
            places: vec![None; key.sentences],
            end: 0,
        };
        journal.take_up(key)?;
        Ok(journal)
    }

    fn begin(&mut self, key: &Key) -> io::Result<()> {
        let file = self.file.get_mut().expect("nobody panics with the lock");
        file.set_len(0)?;
        file.seek(SeekFrom::Start(0))?;
        file.write_all(HEADING)?;
        self.end = HEADING.len() as u64;
        self.push(&content(key)?)?;
        Ok(())
    }

    /// Finds the records that are whole; a file without any begins anew.
    fn take_up(&mut self, key: &Key) -> Result<(), BuildError> {
        let path = self.path.clone();
        let broken = |error| BuildError::write(&path)(error);
        let file = self.file.get_mut().expect("nobody panics with the lock");
        let mut reader = BufReader::new(&mut *file);
        let mut heading = Vec::new();
        (reader.by_ref().take(HEADING.len() as u64))
            .read_to_end(&mut heading)
            .map_err(broken)?;
        if !HEADING.starts_with(&heading) {
            let fault = Fault::new("a journal of parses", "something else");
            return Err(fault.of(&self.path.display().to_string()).into());
        }
        let mut end = heading.len() as u64;
        let first = record(&mut reader).map_err(broken)?;
        let Some(first) = first.filter(|_| heading.len() == HEADING.len()) else {
            // It ended before anything was parsed.
            return self.begin(key).map_err(broken);
        };
        end += (FRAME + first.len()) as u64;
        let found: Key = parsed(&first).map_err(broken)?;
        if let Some((what, expected, found)) = key.difference(&found) {
            return Err(BuildError::OtherRun {
                path: self.path.clone(),
                what,
                expected,
                found,
            });
        }
        while let Some(content) = record(&mut reader).map_err(broken)? {
            let Ok(record) = parsed::<Record>(&content) else {
                break;
            };
            if let Some(place) = self.places.get_mut(record.sentence) {
                *place = Some((end + FRAME as u64, content.len()));
            }
            end += (FRAME + content.len()) as u64;
        }
        file.set_len(end).map_err(broken)?;
        self.end = end;
        Ok(())
    }

    /// Whether a sentence is done.
    pub(super) fn has(&self, sentence: usize) -> bool {
        self.places.get(sentence).is_some_and(Option::is_some)
    }

    /// How many sentences are done.
    pub(super) fn done(&self) -> usize {
        self.places.iter().flatten().count()
    }

    /// Keeps what became of a sentence.
    pub(super) fn keep(&mut self, sentence: usize, outcome: Answer) -> Result<(), BuildError> {
        let kept = content(&Record { sentence, outcome }).and_then(|content| {
            let place = self.push(&content)?;
            self.places[sentence] = Some((place, content.len()));
            Ok(())
        });
        kept.map_err(BuildError::write(&self.path))
    }

    /// Appends a record and tells where its content is.
    fn push(&mut self, content: &[u8]) -> io::Result<u64> {
        let length = u32::try_from(content.len()).map_err(io::Error::other)?;
        let mut bytes = Vec::with_capacity(FRAME + content.len());
        bytes.extend_from_slice(&length.to_le_bytes());
        bytes.extend_from_slice(&checksum(content));
        bytes.extend_from_slice(content);
        let file = self.file.get_mut().expect("nobody panics with the lock");
        file.seek(SeekFrom::Start(self.end))?;
        file.write_all(&bytes)?;
        let place = self.end + FRAME as u64;
        self.end += bytes.len() as u64;
        Ok(place)
    }

    /// What became of a sentence that is done.
    pub(super) fn outcome(&self, sentence: usize) -> Result<Answer, BuildError> {
        let read = || {
            let (place, length) = self.places[sentence].ok_or(io::ErrorKind::NotFound)?;
            let mut content = vec![0; length];
            let mut file = self.file.lock().expect("nobody panics with the lock");
            file.seek(SeekFrom::Start(place))?;
            file.read_exact(&mut content)?;
            drop(file);
            parsed::<Record>(&content)
        };
        let record = read().map_err(BuildError::write(&self.path))?;
        Ok(record.outcome)
    }

    /// Takes the file away: what it was for is done.
    pub(super) fn remove(self) -> Result<(), BuildError> {
        fs::remove_file(&self.path).map_err(BuildError::write(&self.path))
    }
}

fn checksum(content: &[u8]) -> [u8; 16] {
    let mut sum = [0; 16];
    sum.copy_from_slice(&blake3::hash(content).as_bytes()[..16]);
    sum
}

fn content(value: &impl Serialize) -> io::Result<Vec<u8>> {
    zstd::encode_all(serde_json::to_vec(value)?.as_slice(), ZSTD_LEVEL)
}

fn parsed<T: DeserializeOwned>(content: &[u8]) -> io::Result<T> {
    Ok(serde_json::from_slice(&zstd::decode_all(content)?)?)
}

/// The content of the next record, if all of it is there.
fn record(reader: &mut impl Read) -> io::Result<Option<Vec<u8>>> {
    let mut frame = Vec::with_capacity(FRAME);
    reader.by_ref().take(FRAME as u64).read_to_end(&mut frame)?;
    let Some((length, sum)) = frame
        .split_first_chunk::<4>()
        .filter(|_| frame.len() == FRAME)
    else {
        return Ok(None);
    };
    let length = u32::from_le_bytes(*length) as usize;
    if length > LARGEST {
        return Ok(None);
    }
    let mut content = Vec::new();
    reader
        .by_ref()
        .take(length as u64)
        .read_to_end(&mut content)?;
    let whole = content.len() == length && checksum(&content) == sum;
    Ok(whole.then_some(content))
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
        // Workers end when nobody listens any more, each after the sentence that it is at.
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
            journal.keep(sentence, answer)?;
            observer.parsed(journal.done(), sentences.len());
        }
        Ok(())
    })
}

/// What the workers share.
struct Work<'a> {
    sentences: &'a [Sentence],
    left: &'a [usize],
    next: AtomicUsize,
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

    fn key() -> Key {
        Key {
            treebank: "hash".to_owned(),
            sentences: 5,
            parser: "p".to_owned(),
            dictionary: "d".to_owned(),
            linkages: 20,
            limit: 1000,
            time_limit: 10,
        }
    }

    fn failed(reason: &str) -> Answer {
        Answer::Failed(reason.to_owned())
    }

    #[test]
    fn a_torn_record_is_done_again_wherever_it_is_torn() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("journal");
        let mut journal = Journal::open(&path, &key(), false).unwrap();
        journal.keep(3, failed("a")).unwrap();
        let before = fs::read(&path).unwrap().len();
        journal.keep(1, Answer::TimedOut).unwrap();
        drop(journal);
        let whole = fs::read(&path).unwrap();
        for end in 0..=whole.len() {
            fs::write(&path, &whole[..end]).unwrap();
            let mut journal = Journal::open(&path, &key(), true).unwrap();
            assert_eq!(journal.has(3), end >= before, "{end}");
            assert_eq!(journal.has(1), end == whole.len());
            journal.keep(3, failed("a")).unwrap();
            journal.keep(1, Answer::TimedOut).unwrap();
            assert_eq!(journal.outcome(3).unwrap(), failed("a"));
            assert_eq!(journal.outcome(1).unwrap(), Answer::TimedOut);
            assert_eq!(journal.done(), 2);
        }
        let mut damaged = whole.clone();
        damaged[before - 1] ^= 1;
        fs::write(&path, &damaged).unwrap();
        let journal = Journal::open(&path, &key(), true).unwrap();
        assert_eq!(journal.done(), 0);
    }

    /// What version 0.1.0 kept before answers that cannot be understood were kept, too.
    #[test]
    fn journals_of_earlier_versions_are_gone_on_with() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("journal");
        let records = [
            r#"{"treebank":"hash","sentences":5,"parser":"p","dictionary":"d","linkages":20,"limit":1000,"time_limit":10}"#,
            r#"{"sentence":4,"outcome":{"failed":"no linkages"}}"#,
            r#"{"sentence":0,"outcome":"timed_out"}"#,
            r#"{"sentence":2,"outcome":{"linkages":[{"w":[{"w":"LEFT-WALL","d":"Wd+"},{"w":"[x]"}],"l":[{"l":0,"r":1,"n":"Wd"}],"u":1,"c":-83,"n":1}]}}"#,
        ];
        let mut bytes = HEADING.to_vec();
        for record in records {
            let content = zstd::encode_all(record.as_bytes(), ZSTD_LEVEL).unwrap();
            bytes.extend_from_slice(&u32::try_from(content.len()).unwrap().to_le_bytes());
            bytes.extend_from_slice(&checksum(&content));
            bytes.extend_from_slice(&content);
        }
        fs::write(&path, bytes).unwrap();
        let mut journal = Journal::open(&path, &key(), true).unwrap();
        assert_eq!(journal.done(), 3);
        assert_eq!(journal.outcome(4).unwrap(), failed("no linkages"));
        assert_eq!(journal.outcome(0).unwrap(), Answer::TimedOut);
        assert!(matches!(journal.outcome(2).unwrap(), Answer::Linkages(found) if found.len() == 1));
        let unreadable = Answer::Unreadable("?".to_owned());
        journal.keep(1, unreadable.clone()).unwrap();
        drop(journal);
        let journal = Journal::open(&path, &key(), true).unwrap();
        assert_eq!(
            (journal.done(), journal.outcome(1).unwrap()),
            (4, unreadable)
        );
    }

    #[test]
    fn journals_of_other_runs_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("journal");
        drop(Journal::open(&path, &key(), true).unwrap());
        let error = Journal::open(&path, &key(), false).unwrap_err().to_string();
        assert!(error.contains("resume it, or delete it"), "{error}");
        let other = Key {
            linkages: 10,
            ..key()
        };
        let error = Journal::open(&path, &other, true).unwrap_err().to_string();
        let expected = "another number of linkages: 20, where this one has 10";
        assert!(error.contains(expected), "{error}");
        fs::write(&path, "something else").unwrap();
        let error = Journal::open(&path, &key(), true).unwrap_err().to_string();
        assert!(error.contains("expected a journal of parses"), "{error}");
    }
}
