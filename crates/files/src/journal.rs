//! The progress of a long run, as lines of JSON that are only appended.
//!
//! ```text
//! {"checksum":"5f0c32a7e1d94b86","record":{"schema":"rankrls.parses/1","run":{"sentences":40}}}
//! {"checksum":"a3b1940c77de2f58","record":{"sentence":3,"outcome":"timed_out"}}
//! ```
//!
//! The first line says what the run is; each other line is a record. A checksum is the first sixteen
//! digits of the BLAKE3 hash of the checksum before and of the record: a line that was changed,
//! moved or taken out is found. A run that was killed may leave a last line without its end, which is
//! cut off. Any other damage is an error, with its line.
//!
//! The file is locked as long as the journal lives: a second process is refused.

use std::fs::{self, File, TryLockError};
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use thiserror::Error;

use crate::Remedy;
use crate::error::{Fault, ReadError, escaped, quote};
use crate::input::check_regular;

/// Bytes of a line at the most. Tests write one that is longer.
const LONGEST: usize = if cfg!(test) { 1 << 16 } else { 1 << 30 };

const BEFORE: &[u8] = br#"{"checksum":""#;
const BETWEEN: &[u8] = br#"","record":"#;
const AFTER: &[u8] = b"}\n";

/// The remedy for a file of something else.
const OTHER: &str = "it is another file: give another name, or delete it";

type Checksum = [u8; 16];

/// The checksum before the first line.
const NO_LINE: Checksum = [b'0'; 16];

/// The content of the first line.
#[derive(Debug, Serialize)]
struct Head<'a, R> {
    schema: &'a str,
    run: &'a R,
}

/// The same, as it is read: what the run is can be told for a known schema only.
#[derive(Debug, Deserialize)]
struct FoundHead<'a> {
    schema: String,
    #[serde(borrow)]
    run: &'a RawValue,
}

/// A journal that this process writes.
#[derive(Debug)]
pub struct Journal {
    path: PathBuf,
    file: Mutex<File>,
    /// Where the last whole line ends.
    end: u64,
    lines: u64,
    last: Checksum,
}

/// Where a record is in its journal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RecordPlace {
    line: u64,
    start: u64,
    length: usize,
}

/// Why there is no journal, or no more of it.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum JournalError {
    /// The file is no journal of this kind, is damaged, or is no regular file.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// There is a journal already, of a run that did not end.
    #[error("{} has the progress of a run that did not end: {}, or delete it", name(.0), Remedy::Resume)]
    Exists(PathBuf),
    /// Another process has the journal.
    #[error("{}: expected a journal that no other process writes, found one at work on it (wait until it ends)", name(.0))]
    InUse(PathBuf),
    /// A record that is longer than any that is read again.
    #[error(
        "{}: expected a record of at most {LONGEST} bytes, found {bytes}",
        name(path)
    )]
    TooLong {
        /// The file.
        path: PathBuf,
        /// Bytes of the record.
        bytes: usize,
    },
    /// The system refused to open, write or read it.
    #[error("cannot write {}", name(path))]
    Io {
        /// The file.
        path: PathBuf,
        /// Why not.
        #[source]
        source: io::Error,
    },
}

fn name(path: &Path) -> String {
    escaped(&path.display().to_string())
}

impl JournalError {
    fn io(path: &Path) -> impl FnOnce(io::Error) -> Self + '_ {
        move |source| Self::Io {
            path: path.to_owned(),
            source,
        }
    }
}

impl Journal {
    /// Begins a journal of the `schema` at `path`; the first line says what the `run` is.
    pub fn create(path: &Path, schema: &str, run: &impl Serialize) -> Result<Self, JournalError> {
        let (journal, length) = Self::open(path)?;
        if length > 0 {
            return Err(JournalError::Exists(path.to_owned()));
        }
        journal.begin(&Head { schema, run })
    }

    /// Goes on with the journal at `path`, or begins it. `same` compares the run that it is of with this
    /// `run`; `take` is given each record with its place, in order, and may refuse it.
    pub fn resume<R: Serialize + DeserializeOwned, E: From<JournalError>>(
        path: &Path,
        schema: &str,
        run: &R,
        same: impl FnOnce(&R) -> Result<(), E>,
        mut take: impl FnMut(RecordPlace, &[u8]) -> Result<(), Fault>,
    ) -> Result<Self, E> {
        let (mut journal, _) = Self::open(path)?;
        let mut reader = Lines::of(&journal)?;
        let head = Head { schema, run };
        if reader.next().map_err(JournalError::from)?.is_none() {
            // The run was killed before it had its first line.
            let (own, _) = journal.line(&head)?;
            if !own.starts_with(&reader.line) {
                return Err(JournalError::from(reader.other()).into());
            }
            return Ok(journal.begin(&head)?);
        }
        same(&reader.run(schema).map_err(JournalError::from)?)?;
        while let Some(entry) = reader.next().map_err(JournalError::from)? {
            let taken = take(entry, reader.text());
            taken.map_err(|fault| JournalError::from(reader.at(fault)))?;
        }
        let Lines {
            count, end, last, ..
        } = reader;
        (journal.lines, journal.end, journal.last) = (count, end, last);
        journal.cut().map_err(JournalError::io(path))?;
        Ok(journal)
    }

    /// The file, locked, before its first line, and its length.
    fn open(path: &Path) -> Result<(Self, u64), JournalError> {
        check_regular(path)?;
        let mut options = File::options();
        options.read(true).write(true).create(true).truncate(false);
        let file = options.open(path).map_err(JournalError::io(path))?;
        lock(&file, path)?;
        let metadata = file.metadata().map_err(JournalError::io(path))?;
        let journal = Self {
            path: path.to_owned(),
            file: Mutex::new(file),
            end: 0,
            lines: 0,
            last: NO_LINE,
        };
        Ok((journal, metadata.len()))
    }

    /// Writes the first line, or takes the file away.
    fn begin(mut self, head: &impl Serialize) -> Result<Self, JournalError> {
        if let Err(error) = self.append(head) {
            let _ = self.remove();
            return Err(error);
        }
        Ok(self)
    }

    /// Takes away what is behind the last whole line.
    fn cut(&mut self) -> io::Result<()> {
        let file = self.file.get_mut().unwrap_or_else(PoisonError::into_inner);
        file.set_len(self.end)
    }

    /// The next line, of a record, and its checksum.
    fn line(&self, record: &impl Serialize) -> Result<(Vec<u8>, Checksum), JournalError> {
        let text = serde_json::to_vec(record).map_err(|error| JournalError::Io {
            path: self.path.clone(),
            source: error.into(),
        })?;
        let sum = checksum(&self.last, &text);
        Ok(([BEFORE, &sum, BETWEEN, &text, AFTER].concat(), sum))
    }

    /// Appends a record, which the system has then: it outlives this process, and with
    /// [`sync`](Self::sync) the machine.
    pub fn append(&mut self, record: &impl Serialize) -> Result<RecordPlace, JournalError> {
        let (line, sum) = self.line(record)?;
        if line.len() > LONGEST {
            return Err(JournalError::TooLong {
                path: self.path.clone(),
                bytes: line.len(),
            });
        }
        let file = self.file.get_mut().unwrap_or_else(PoisonError::into_inner);
        let written = file
            .seek(SeekFrom::Start(self.end))
            .and_then(|_| file.write_all(&line));
        if let Err(source) = written {
            // The part of the line that there is has no end, and the next one is written over it.
            let _ = self.cut();
            let path = self.path.clone();
            return Err(JournalError::Io { path, source });
        }
        self.lines += 1;
        let entry = RecordPlace::of(&line, self.end, self.lines);
        self.end += line.len() as u64;
        self.last = sum;
        Ok(entry)
    }

    /// Has the disk keep what was appended.
    pub fn sync(&self) -> Result<(), JournalError> {
        let file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        file.sync_data().map_err(JournalError::io(&self.path))
    }

    /// Reads a record again.
    pub fn read<T: DeserializeOwned>(&self, entry: RecordPlace) -> Result<T, JournalError> {
        let mut text = vec![0; entry.length];
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        file.seek(SeekFrom::Start(entry.start))
            .and_then(|_| file.read_exact(&mut text))
            .map_err(JournalError::io(&self.path))?;
        drop(file);
        let parsed = serde_json::from_slice(&text);
        parsed.map_err(|error| {
            let fault = Fault::new("a record of this journal", error.to_string());
            fault
                .at(&self.path.display().to_string(), entry.line)
                .into()
        })
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Whether it has no records.
    pub fn is_empty(&self) -> bool {
        self.lines < 2
    }

    /// Takes the file away: what it was for is done.
    pub fn remove(&self) -> Result<(), JournalError> {
        fs::remove_file(&self.path).map_err(JournalError::io(&self.path))
    }
}

impl Drop for Journal {
    /// Gives the lock back. Closing the file would not, while a process that was just started still has it.
    fn drop(&mut self) {
        let file = self.file.get_mut().unwrap_or_else(PoisonError::into_inner);
        // There are file systems without locks.
        let _ = file.unlock();
    }
}

impl RecordPlace {
    /// Bytes of a line before its record.
    const BEFORE: usize = BEFORE.len() + size_of::<Checksum>() + BETWEEN.len();

    /// The record of a line that begins at `start`.
    fn of(line: &[u8], start: u64, number: u64) -> Self {
        Self {
            line: number,
            start: start + Self::BEFORE as u64,
            length: line.len() - Self::BEFORE - AFTER.len(),
        }
    }
}

fn checksum(last: &Checksum, record: &[u8]) -> Checksum {
    let hash = blake3::Hasher::new().update(last).update(record).finalize();
    let mut sum = NO_LINE;
    sum.copy_from_slice(&hash.to_hex().as_bytes()[..16]);
    sum
}

/// The checksum of a whole line, if it is right.
fn sum(line: &[u8], last: &Checksum) -> Option<Checksum> {
    let (sum, rest) = line.strip_prefix(BEFORE)?.split_first_chunk()?;
    let text = rest.strip_prefix(BETWEEN)?.strip_suffix(AFTER)?;
    (checksum(last, text) == *sum).then_some(*sum)
}

/// Has the lock until the journal is dropped, or the file is closed.
fn lock(file: &File, path: &Path) -> Result<(), JournalError> {
    let in_use = || JournalError::InUse(path.to_owned());
    match file.try_lock() {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => return Err(in_use()),
        // Some file systems of clusters have no locks.
        Err(TryLockError::Error(error)) if error.kind() == io::ErrorKind::Unsupported => {}
        Err(TryLockError::Error(error)) => return Err(JournalError::io(path)(error)),
    }
    // The process that had the lock before may have taken the file away since it was opened.
    if is_at(file, path) {
        Ok(())
    } else {
        Err(in_use())
    }
}

#[cfg(unix)]
fn is_at(file: &File, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;

    let place = |metadata: fs::Metadata| (metadata.dev(), metadata.ino());
    let found = file.metadata().map(place).ok();
    found.is_some() && found == fs::metadata(path).map(place).ok()
}

#[cfg(not(unix))]
fn is_at(_: &File, _: &Path) -> bool {
    true
}

/// The lines of a file that is there.
struct Lines {
    name: String,
    reader: BufReader<File>,
    /// The last line that was read.
    line: Vec<u8>,
    /// Whole lines before and with it.
    count: u64,
    end: u64,
    last: Checksum,
}

impl Lines {
    /// The descriptor is another one of the same file: the journal stays where it is.
    fn of(journal: &Journal) -> Result<Self, JournalError> {
        let locked = journal.file.lock().unwrap_or_else(PoisonError::into_inner);
        let file = locked
            .try_clone()
            .map_err(JournalError::io(&journal.path))?;
        Ok(Self {
            name: journal.path.display().to_string(),
            reader: BufReader::new(file),
            line: Vec::new(),
            count: 0,
            end: 0,
            last: NO_LINE,
        })
    }

    /// The next line and the place of its record; none at the end, or where the last line has no end.
    fn next(&mut self) -> Result<Option<RecordPlace>, ReadError> {
        self.line.clear();
        let mut reader = self.reader.by_ref().take(LONGEST as u64 + 1);
        let read = reader.read_until(b'\n', &mut self.line);
        read.map_err(|error| Fault::io(&error).of(&self.name))?;
        if self.line.len() > LONGEST {
            let expected = format!("a line of at most {LONGEST} bytes");
            return Err(self.damaged(Fault::new(expected, "a longer one")));
        }
        if !self.line.ends_with(b"\n") {
            return Ok(None);
        }
        let Some(sum) = sum(&self.line, &self.last) else {
            if self.count == 0 && !self.line.starts_with(BEFORE) {
                return Err(self.other());
            }
            let expected = "the line that was written, by its checksum";
            return Err(self.damaged(Fault::new(expected, "a damaged one")));
        };
        self.last = sum;
        self.count += 1;
        let entry = RecordPlace::of(&self.line, self.end, self.count);
        self.end += self.line.len() as u64;
        Ok(Some(entry))
    }

    /// The record of the line that was read.
    fn text(&self) -> &[u8] {
        &self.line[RecordPlace::BEFORE..self.line.len() - AFTER.len()]
    }

    /// The run that the line names, where it is of this `schema`.
    fn run<R: DeserializeOwned>(&self, schema: &str) -> Result<R, ReadError> {
        let found: FoundHead<'_> = serde_json::from_slice(self.text()).map_err(|_| self.other())?;
        if found.schema != schema {
            let expected = format!("a journal of the schema {schema}");
            let fault = Fault::new(expected, quote(found.schema.as_bytes()));
            return Err(self.at(fault.remedy(OTHER)));
        }
        let run = serde_json::from_str(found.run.get());
        run.map_err(|error| self.at(Fault::new("what the run is", error.to_string())))
    }

    /// The error of the line that comes next.
    fn damaged(&self, fault: Fault) -> ReadError {
        let remedy = match self.count {
            0 => "delete the file to begin again",
            _ => {
                "keep only the lines before it to go on from there, or delete the file to begin again"
            }
        };
        fault.remedy(remedy).at(&self.name, self.count + 1)
    }

    /// The error of a file that is something else.
    fn other(&self) -> ReadError {
        let fault = Fault::new("a journal", quote(&self.line));
        fault.remedy(OTHER).at(&self.name, 1)
    }

    /// The error of the line that was read.
    fn at(&self, fault: Fault) -> ReadError {
        fault.at(&self.name, self.count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SCHEMA: &str = "test/1";
    const RUN: u32 = 7;

    /// The records of the journal at `path`, and the journal.
    fn resume(path: &Path) -> Result<(Journal, Vec<String>), JournalError> {
        let mut found = Vec::new();
        let journal = Journal::resume(
            path,
            SCHEMA,
            &RUN,
            |_| Ok::<(), JournalError>(()),
            |entry, text| {
                found.push(serde_json::from_slice(text).map_err(|_| Fault::new("text", "other"))?);
                assert_eq!(entry.line, found.len() as u64 + 1);
                Ok(())
            },
        )?;
        Ok((journal, found))
    }

    fn refusal(path: &Path) -> String {
        resume(path).unwrap_err().to_string()
    }

    const RECORDS: [&str; 4] = ["a", "with \"quotes\"\n", "", "ä}\n{"];

    /// A journal of four records in a folder.
    fn written() -> (tempfile::TempDir, PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("journal");
        let mut journal = Journal::create(&path, SCHEMA, &RUN).unwrap();
        for (line, record) in (2..).zip(RECORDS) {
            let entry = journal.append(&record).unwrap();
            assert_eq!(entry.line, line);
            assert_eq!(journal.read::<String>(entry).unwrap(), record);
        }
        journal.sync().unwrap();
        drop(journal);
        (folder, path)
    }

    #[test]
    fn each_line_is_json() {
        let (_folder, path) = written();
        let text = fs::read_to_string(&path).unwrap();
        let lines: Vec<serde_json::Value> = (text.lines())
            .map(|line| serde_json::from_str(line).unwrap())
            .collect();
        assert_eq!(lines[0]["record"]["schema"], SCHEMA);
        assert_eq!(lines[0]["record"]["run"], RUN);
        for (line, record) in lines[1..].iter().zip(RECORDS) {
            assert_eq!(line["record"], record);
            assert_eq!(line["checksum"].as_str().unwrap().len(), 16);
        }
    }

    #[test]
    fn a_torn_line_is_cut_off_wherever_it_is_torn() {
        let (_folder, path) = written();
        let whole = fs::read(&path).unwrap();
        for end in 0..=whole.len() {
            fs::write(&path, &whole[..end]).unwrap();
            let (mut journal, found) = resume(&path).unwrap();
            let lines = whole[..end].split(|&byte| byte == b'\n').count() - 1;
            assert_eq!(found, RECORDS[..lines.saturating_sub(1)], "{end}");
            for record in &RECORDS[found.len()..] {
                journal.append(record).unwrap();
            }
            drop(journal);
            assert_eq!(fs::read(&path).unwrap(), whole, "{end}");
        }
    }

    #[test]
    fn a_changed_byte_anywhere_is_found_with_its_line() {
        let (_folder, path) = written();
        let whole = fs::read(&path).unwrap();
        for at in 0..whole.len() - 1 {
            let mut damaged = whole.clone();
            damaged[at] ^= 1 << (at % 7);
            fs::write(&path, &damaged).unwrap();
            let line = whole[..at].split(|&byte| byte == b'\n').count();
            let error = refusal(&path);
            let place = format!("{}:{line}:1: expected ", path.display());
            assert!(error.starts_with(&place), "{at}: {error}");
            assert_eq!(
                fs::read(&path).unwrap(),
                damaged,
                "an error changes nothing"
            );
        }
        // The end of the last line: it is torn.
        let mut damaged = whole.clone();
        *damaged.last_mut().unwrap() ^= 1;
        fs::write(&path, &damaged).unwrap();
        assert_eq!(resume(&path).unwrap().1, RECORDS[..3]);
    }

    #[test]
    fn a_line_that_is_missing_moved_or_doubled_is_found() {
        let (_folder, path) = written();
        let text = fs::read_to_string(&path).unwrap();
        let lines: Vec<&str> = text.split_inclusive('\n').collect();
        for (order, line) in [
            (&[0, 2, 3, 4][..], 2),
            (&[0, 1, 3, 4], 3),
            (&[0, 1, 3, 2, 4], 3),
            (&[0, 1, 1, 2, 3, 4], 3),
            (&[1, 2], 1),
            (&[0, 1, 2, 3, 4, 4], 6),
        ] {
            let text: String = order.iter().map(|&line: &usize| lines[line]).collect();
            fs::write(&path, text).unwrap();
            let error = refusal(&path);
            assert!(error.contains(&format!("journal:{line}:1: ")), "{error}");
            assert!(error.contains("to begin again)"), "{error}");
        }
        // The remedy: the lines before are kept.
        fs::write(&path, lines[..3].concat()).unwrap();
        assert_eq!(resume(&path).unwrap().1, RECORDS[..2]);
    }

    #[test]
    fn other_files_stay_as_they_are() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("journal");
        let other = |schema: &str| {
            let _ = fs::remove_file(&path);
            Journal::create(&path, schema, &"run").unwrap();
            fs::read(&path).unwrap()
        };
        for (bytes, expected) in [
            (
                b"something else".to_vec(),
                "expected a journal, found \"something else\"",
            ),
            (b"something else\n".to_vec(), "expected a journal"),
            (b"{}\n".to_vec(), "expected a journal"),
            (b"\0\0\0".to_vec(), "expected a journal"),
            (
                other("test/2"),
                "expected a journal of the schema test/1, found \"test/2\"",
            ),
            (
                other(SCHEMA),
                "expected what the run is, found invalid type",
            ),
        ] {
            fs::write(&path, &bytes).unwrap();
            let error = refusal(&path);
            assert!(error.contains(expected), "{error}");
            assert_eq!(fs::read(&path).unwrap(), bytes);
        }
        let error = Journal::create(&path, SCHEMA, &RUN).unwrap_err();
        assert!(matches!(error, JournalError::Exists(_)), "{error}");
    }

    #[test]
    fn lines_have_a_largest_size() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("journal");
        let mut journal = Journal::create(&path, SCHEMA, &RUN).unwrap();
        let before = fs::read(&path).unwrap();
        let error = journal.append(&"x".repeat(LONGEST)).unwrap_err();
        assert!(matches!(error, JournalError::TooLong { .. }), "{error}");
        assert_eq!(fs::read(&path).unwrap(), before);
        drop(journal);
        // Without a disk that takes as much.
        File::options()
            .write(true)
            .open(&path)
            .unwrap()
            .set_len(1 << 40)
            .unwrap();
        let error = refusal(&path);
        assert!(
            error.contains(":2:1: expected a line of at most "),
            "{error}"
        );
    }

    #[test]
    fn a_second_one_is_refused_until_the_first_is_gone() {
        let (folder, path) = written();
        let (journal, _) = resume(&path).unwrap();
        for error in [
            refusal(&path),
            Journal::create(&path, SCHEMA, &RUN)
                .unwrap_err()
                .to_string(),
        ] {
            assert!(error.contains("no other process writes"), "{error}");
        }
        drop(journal);
        let (journal, found) = resume(&path).unwrap();
        assert_eq!(found, RECORDS);
        journal.remove().unwrap();
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    }

    #[cfg(unix)]
    #[test]
    fn pipes_devices_and_folders_are_refused_at_once() {
        let folder = tempfile::tempdir().unwrap();
        let pipe = folder.path().join("pipe");
        let made = std::process::Command::new("mkfifo").arg(&pipe).status();
        assert!(made.unwrap().success());
        for path in [&pipe, Path::new("/dev/zero"), folder.path()] {
            let error = Journal::create(path, SCHEMA, &RUN).unwrap_err().to_string();
            assert!(
                error.contains("expected a regular file, found a "),
                "{error}"
            );
            assert_eq!(refusal(path), error);
        }
        let error = crate::read_regular(&pipe, 10).unwrap_err().to_string();
        assert!(error.contains("expected a regular file"), "{error}");
    }

    #[test]
    fn what_is_written_after_a_failure_follows_the_last_whole_line() {
        let (_folder, path) = written();
        let (mut journal, _) = resume(&path).unwrap();
        // A full disk leaves such a line.
        let mut file = File::options().append(true).open(&path).unwrap();
        file.write_all(
            br#"{"checksum":"0123456789abcdef","record":"torn and longer than the next"#,
        )
        .unwrap();
        journal.append(&"e").unwrap();
        drop(journal);
        let (_, found) = resume(&path).unwrap();
        assert_eq!((found.len(), found[4].as_str()), (5, "e"));
    }
}
