//! The finished work of a long run, as lines beside its output: another run goes on with them.
//!
//! ```text
//! 5f0c32a7e1d94b86 {"schema":"rankrls.parses/2","sentences":40}
//! a3b1940c77de2f58 {"sentence":3,"outcome":"timed_out"}
//! ```
//!
//! The first line says of what data and settings the work is; each other line is a piece of it, as JSON behind
//! the first sixteen digits of its BLAKE3 hash. A run that was killed may leave a last line without its end,
//! which is cut off. Other damage is an error with its line. The hash finds damage, and is no signature: who can
//! write the file can write the hash of other work. `tune` takes its steps again, and refuses those that come out
//! otherwise; the answers of a parser are believed, as are those in a file of candidates. The file is locked as long as it is open: a second
//! process is refused.

use std::fs::{self, File, TryLockError};
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::Remedy;
use crate::error::{Fault, ReadError, quote};
use crate::input::check_regular;
use crate::location::is_at;

/// Bytes of a line at the most, and of those that may be taken at most a quarter: it is read and understood.
const LONGEST: usize = 1 << 28;

/// Digits of a hash, and the space behind them.
const DIGITS: usize = 16;
const BEFORE: usize = DIGITS + 1;

/// Finished work that this process adds to.
#[derive(Debug)]
pub struct Lines {
    path: PathBuf,
    file: Mutex<File>,
    /// Where the last whole line ends.
    end: u64,
    /// Whole lines, the first with them.
    count: u64,
    /// Bytes of a line at the most.
    longest: usize,
}

/// Where the JSON of a line stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LinePlace {
    line: u64,
    start: u64,
    length: usize,
}

impl Lines {
    /// Begins the file at `path` for a `run`, which says its schema, data and settings by name. To `resume`
    /// gives the lines of such a run to `take`, which may refuse them, and goes on behind them. A line is not longer
    /// than goes well with a `limit` of bytes to take.
    pub fn open(
        path: &Path,
        run: &impl Serialize,
        resume: bool,
        limit: Option<u64>,
        mut take: impl FnMut(LinePlace, &[u8]) -> Result<(), Fault>,
    ) -> Result<Self, ReadError> {
        check_regular(path)?;
        let name = path.display().to_string();
        let io = |error: io::Error| Fault::io(&error).of(&name);
        let mut options = File::options();
        options.read(true).write(true).create(true).truncate(false);
        let file = options.open(path).map_err(io)?;
        lock(&file, path)?;
        let mut reader = BufReader::new(file.try_clone().map_err(io)?);
        let mut lines = Self {
            path: path.to_owned(),
            file: Mutex::new(file),
            end: 0,
            count: 0,
            longest: limit.map_or(LONGEST, |limit| {
                usize::try_from(limit / 4).map_or(LONGEST, |most| most.min(LONGEST))
            }),
        };
        if !resume && !reader.fill_buf().map_err(io)?.is_empty() {
            let fault = Fault::new("no file", "the work of a run that did not end");
            return Err(fault.remedy(Remedy::Resume).of(&name));
        }
        let run = serde_json::to_value(run).map_err(|error| io(error.into()))?;
        let mut line = Vec::new();
        while let Some(place) = lines.next(&mut reader, &mut line)? {
            let text = &line[BEFORE..line.len() - 1];
            let taken = match lines.count {
                1 => same(&run, text),
                _ => take(place, text),
            };
            taken.map_err(|fault| fault.at(&name, lines.count))?;
        }
        if lines.count == 0 {
            // The run was killed before it had its first line, or it is another file.
            let own = hashed(&run).map_err(io)?;
            if !own.starts_with(&line) {
                return Err(other(&line).at(&name, 1));
            }
            lines.push(&run).map_err(io)?;
        }
        lines.cut().map_err(io)?;
        Ok(lines)
    }

    /// The next whole line of `reader`, in `line`; none at the end, or where the last line has no end.
    fn next(
        &mut self,
        reader: &mut BufReader<File>,
        line: &mut Vec<u8>,
    ) -> Result<Option<LinePlace>, ReadError> {
        let name = self.path.display().to_string();
        line.clear();
        let read = reader.take(self.longest as u64 + 1).read_until(b'\n', line);
        read.map_err(|error| Fault::io(&error).of(&name))?;
        let place = self.count + 1;
        if line.len() > self.longest {
            let expected = format!("a line of at most {} bytes", self.longest);
            return Err(Fault::new(expected, "a longer one").at(&name, place));
        }
        if line.pop_if(|&mut last| last == b'\n').is_none() {
            return Ok(None);
        }
        let sound = line.len() > BEFORE
            && line[..DIGITS] == digits(&line[BEFORE..])
            && line[DIGITS] == b' ';
        if !sound && place == 1 {
            return Err(other(line).at(&name, 1));
        }
        if !sound {
            let fault = Fault::new("the line that was written, by its hash", "a damaged one");
            return Err(fault.remedy(DAMAGED).at(&name, place));
        }
        line.push(b'\n');
        Ok(Some(self.behind(line.len())))
    }

    /// The place of a line of so many bytes that comes next.
    fn behind(&mut self, bytes: usize) -> LinePlace {
        let start = self.end + BEFORE as u64;
        self.end += bytes as u64;
        self.count += 1;
        LinePlace {
            line: self.count,
            start,
            length: bytes - BEFORE - 1,
        }
    }

    /// Adds a line, which outlives this process.
    pub fn push(&mut self, line: &impl Serialize) -> io::Result<LinePlace> {
        let line = hashed(line)?;
        if line.len() > self.longest {
            let (bytes, longest) = (line.len(), self.longest);
            let text = format!("a line of {bytes} bytes, and at most {longest} are read");
            return Err(io::Error::new(io::ErrorKind::FileTooLarge, text));
        }
        let file = self.file.get_mut().unwrap_or_else(PoisonError::into_inner);
        let written = file
            .seek(SeekFrom::Start(self.end))
            .and_then(|_| file.write_all(&line));
        if written.is_err() {
            // The next line is written over the part of this one that there is.
            let _ = self.cut();
            written?;
        }
        Ok(self.behind(line.len()))
    }

    /// Takes away what is behind the last whole line.
    fn cut(&mut self) -> io::Result<()> {
        let file = self.file.get_mut().unwrap_or_else(PoisonError::into_inner);
        file.set_len(self.end)
    }

    /// Reads a line again.
    pub fn read<T: DeserializeOwned>(&self, place: LinePlace) -> Result<T, ReadError> {
        let name = self.path.display().to_string();
        let mut text = vec![0; place.length];
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        file.seek(SeekFrom::Start(place.start))
            .and_then(|_| file.read_exact(&mut text))
            .map_err(|error| Fault::io(&error).of(&name))?;
        drop(file);
        let parsed = serde_json::from_slice(&text);
        parsed.map_err(|error| {
            Fault::new("a line of this run", error.to_string()).at(&name, place.line)
        })
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Has the disk keep what was added.
    pub fn sync(&self) -> io::Result<()> {
        let file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        file.sync_data()
    }

    /// Takes the file away: what it was for is done.
    pub fn remove(self) -> io::Result<()> {
        fs::remove_file(&self.path)
    }
}

impl Drop for Lines {
    /// Gives the lock back. Closing the file would not, while a process that was just started still has it.
    fn drop(&mut self) {
        let file = self.file.get_mut().unwrap_or_else(PoisonError::into_inner);
        // There are file systems without locks.
        let _ = file.unlock();
    }
}

/// The remedy for a file of something else.
const OTHER: &str = "it is another file: give another name, or delete it";

/// The remedy for a damaged line.
const DAMAGED: &str =
    "keep only the lines before it to go on from there, or delete the file to begin again";

fn other(line: &[u8]) -> Fault {
    Fault::new("the work of a run", quote(line)).remedy(OTHER)
}

/// Refuses the first line of a run that is not `run`: says what differs.
fn same(run: &Value, text: &[u8]) -> Result<(), Fault> {
    let found: Value = serde_json::from_slice(text).unwrap_or_default();
    if found == *run {
        return Ok(());
    }
    let fields = run.as_object().into_iter().flatten();
    let mut differing = fields.filter(|(name, value)| found.get(name) != Some(value));
    let shown = |name: &str, value: Option<&Value>| match value {
        Some(value) => format!("{} {value}", name.replace('_', " ")),
        None => format!("no {}", name.replace('_', " ")),
    };
    let (expected, found) = match differing.next() {
        Some((name, value)) => (shown(name, Some(value)), shown(name, found.get(name))),
        None => ("no other settings".to_owned(), "more of them".to_owned()),
    };
    let expected = format!("the work of a run with {expected}");
    Err(Fault::new(expected, found).remedy("give another output"))
}

/// A line: its hash, its JSON and its end.
fn hashed(line: &impl Serialize) -> io::Result<Vec<u8>> {
    let text = serde_json::to_vec(line)?;
    Ok([&digits(&text)[..], b" ", &text, b"\n"].concat())
}

fn digits(text: &[u8]) -> [u8; DIGITS] {
    let hash = blake3::hash(text).to_hex();
    let mut digits = [0; DIGITS];
    digits.copy_from_slice(&hash.as_bytes()[..DIGITS]);
    digits
}

/// Has the lock until the file is closed.
fn lock(file: &File, path: &Path) -> Result<(), ReadError> {
    let name = path.display().to_string();
    let in_use = || {
        let found = "another process at work on it";
        let fault = Fault::new("a file that no other process writes", found);
        fault.remedy("wait until it ends").of(&name)
    };
    match file.try_lock() {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => return Err(in_use()),
        // Some file systems of clusters have no locks.
        Err(TryLockError::Error(error)) if error.kind() == io::ErrorKind::Unsupported => {}
        Err(TryLockError::Error(error)) => return Err(Fault::io(&error).of(&name)),
    }
    // The process that had the lock before may have taken the file away since it was opened.
    if is_at(file, path) {
        Ok(())
    } else {
        Err(in_use())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// Bytes that may be taken.
    const LIMIT: u64 = 1 << 18;

    /// Opens the file of a run of seven, and its lines.
    fn open(path: &Path, resume: bool) -> Result<(Lines, Vec<String>), ReadError> {
        let mut found: Vec<String> = Vec::new();
        let run = json!({"schema": "test/1", "number_of_rows": 7});
        let lines = Lines::open(path, &run, resume, Some(LIMIT), |place, text| {
            let text = serde_json::from_slice(text);
            found.push(text.map_err(|error| Fault::new("text", error.to_string()))?);
            assert_eq!(place.line, found.len() as u64 + 1);
            Ok(())
        })?;
        Ok((lines, found))
    }

    fn refusal(path: &Path) -> String {
        open(path, true).unwrap_err().to_string()
    }

    const LINES: [&str; 4] = ["a", "with \"quotes\"\n", "", "ä}\n{"];

    /// A file of four lines in a folder.
    fn written() -> (tempfile::TempDir, PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("work");
        let (mut lines, _) = open(&path, false).unwrap();
        for line in LINES {
            let place = lines.push(&line).unwrap();
            assert_eq!(lines.read::<String>(place).unwrap(), line);
        }
        lines.sync().unwrap();
        drop(lines);
        (folder, path)
    }

    #[test]
    fn a_torn_line_is_cut_off_wherever_it_is_torn() {
        let (_folder, path) = written();
        let whole = fs::read(&path).unwrap();
        for end in 0..=whole.len() {
            fs::write(&path, &whole[..end]).unwrap();
            let (mut lines, found) = open(&path, true).unwrap();
            let count = whole[..end].split(|&byte| byte == b'\n').count() - 1;
            assert_eq!(found, LINES[..count.saturating_sub(1)], "{end}");
            for line in &LINES[found.len()..] {
                lines.push(line).unwrap();
            }
            drop(lines);
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
            let (error, place) = (refusal(&path), format!("work:{line}:1: expected "));
            assert!(error.contains(&place), "{at}: {error}");
            assert_eq!(
                fs::read(&path).unwrap(),
                damaged,
                "an error changes nothing"
            );
        }
    }

    #[test]
    fn other_files_and_other_runs_stay_as_they_are() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("work");
        let other = |run: Value| hashed(&run).unwrap();
        for (bytes, expected) in [
            (
                b"something else".to_vec(),
                "expected the work of a run, found \"something else\"",
            ),
            (b"something else\n".to_vec(), "expected the work of a run"),
            (b"\0\0\0".to_vec(), "expected the work of a run"),
            (
                other(json!({"schema": "test/1", "number_of_rows": 8})),
                "expected the work of a run with number of rows 7, found number of rows 8 (give ",
            ),
            (
                other(json!({"number_of_rows": 7})),
                "with schema \"test/1\", found no schema",
            ),
            (
                other(json!({"schema": "test/1", "number_of_rows": 7, "seed": 1})),
                "with no other settings, found more of them",
            ),
        ] {
            fs::write(&path, &bytes).unwrap();
            let error = refusal(&path);
            assert!(error.contains(expected), "{error}");
            assert_eq!(fs::read(&path).unwrap(), bytes);
            assert!(
                open(&path, false)
                    .unwrap_err()
                    .to_string()
                    .contains("did not end")
            );
        }
    }

    #[test]
    fn lines_have_a_largest_size() {
        let (_folder, path) = written();
        let before = fs::read(&path).unwrap();
        let (mut lines, _) = open(&path, true).unwrap();
        lines.push(&"x".repeat(1 << 16)).unwrap_err();
        drop(lines);
        assert_eq!(fs::read(&path).unwrap(), before);
        // Without a disk that takes as much.
        let file = File::options().write(true).open(&path).unwrap();
        file.set_len(1 << 40).unwrap();
        let error = refusal(&path);
        assert!(
            error.contains(":6:1: expected a line of at most 65536 bytes"),
            "{error}"
        );
    }

    #[test]
    fn a_second_one_is_refused_until_the_first_is_gone() {
        let (folder, path) = written();
        let (lines, _) = open(&path, true).unwrap();
        for resume in [true, false] {
            let error = open(&path, resume).unwrap_err().to_string();
            assert!(error.contains("no other process writes"), "{error}");
        }
        drop(lines);
        let (lines, found) = open(&path, true).unwrap();
        assert_eq!(found, LINES);
        lines.remove().unwrap();
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
            let error = refusal(path);
            assert!(
                error.contains("expected a regular file, found a "),
                "{error}"
            );
        }
        let error = crate::read_regular(&pipe, 10).unwrap_err().to_string();
        assert!(error.contains("expected a regular file"), "{error}");
    }

    #[test]
    fn what_is_written_after_a_failure_follows_the_last_whole_line() {
        let (_folder, path) = written();
        let (mut lines, _) = open(&path, true).unwrap();
        // A full disk leaves such a line.
        let mut file = File::options().append(true).open(&path).unwrap();
        file.write_all(b"0123456789abcdef \"torn and longer than the next")
            .unwrap();
        lines.push(&"e").unwrap();
        drop(lines);
        let (_, found) = open(&path, true).unwrap();
        assert_eq!((found.len(), found[4].as_str()), (5, "e"));
    }
}
