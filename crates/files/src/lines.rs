//! The finished pieces of a long run, as lines of the [`Part`] beside its output. A later run resumes from them.
//!
//! ```text
//! {"schema":"rankrls.parses/4","sentences":40}
//! {"sentence":3,"outcome":"timed_out"}
//! ```
//!
//! The first line names the run's data and settings. Every other line is a piece of its work, as JSON. A killed run
//! may leave a last line without its end, which is cut off. Other damage is an error with its line.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom, Write};
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::error::{Fault, ReadError, quote};
use crate::part::{OTHER, Part};

/// Most bytes of a line. A line also takes at most a quarter of the memory limit, since it is read and then parsed.
const LONGEST: usize = 1 << 28;

/// Finished work that this process adds to.
#[derive(Debug)]
pub struct Lines {
    part: Part,
    file: Mutex<File>,
    /// The end of the last whole line.
    end: u64,
    /// Number of whole lines, the first included.
    count: u64,
    /// Most bytes of a line.
    longest: usize,
}

/// The place of a line's JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LinePlace {
    line: u64,
    start: u64,
    length: usize,
}

impl Lines {
    /// Begins the work beside `output` of a `run`, which names its schema, data and settings. With `resume`, hands
    /// the lines of an earlier such run to `take`, which may refuse them, and goes on behind them. A refusal calls
    /// the lines `pieces`. `limit` is the memory limit in bytes, which bounds the length of a line.
    pub fn open(
        output: &Path,
        run: &impl Serialize,
        pieces: &str,
        resume: bool,
        limit: Option<u64>,
        mut take: impl FnMut(LinePlace, &[u8]) -> Result<(), Fault>,
    ) -> Result<Self, ReadError> {
        let mut part = Part::open(output)?;
        let name = part.path().display().to_string();
        let io = |error: io::Error| Fault::io(&error).of(&name);
        let run = serde_json::to_value(run).map_err(|error| io(error.into()))?;
        let is_new = part.file().is_none();
        if is_new {
            let text = line_of(&run).map_err(io)?;
            part.save(|writer| writer.write_all(&text)).map_err(io)?;
        }
        let held = part
            .file()
            .ok_or_else(|| io(io::ErrorKind::NotFound.into()))?;
        let mut file = held.try_clone().map_err(io)?;
        file.rewind().map_err(io)?;
        let mut reader = BufReader::new(file.try_clone().map_err(io)?);
        let mut lines = Self {
            part,
            file: Mutex::new(file),
            end: 0,
            count: 0,
            longest: limit.map_or(LONGEST, |limit| {
                usize::try_from(limit / 4).map_or(LONGEST, |most| most.min(LONGEST))
            }),
        };
        let mut line = Vec::new();
        while let Some(place) = lines.next(&mut reader, &mut line)? {
            let taken = match lines.count {
                1 if resume || is_new => same(&run, &line),
                1 => check_schema(&run, &line),
                _ if resume => take(place, &line),
                _ => Ok(()),
            };
            taken.map_err(|fault| fault.at(&name, lines.count))?;
        }
        if lines.count == 0 {
            return Err(other(&line).at(&name, 1));
        }
        if !resume && !is_new {
            return Err(lines.part.refusal(format!("{} {pieces}", lines.count - 1)));
        }
        lines.cut().map_err(io)?;
        Ok(lines)
    }

    /// Reads the next whole line of `reader`, without its end, into `line`. Returns `None` at the end, or at a line
    /// without an end.
    fn next(
        &mut self,
        reader: &mut BufReader<File>,
        line: &mut Vec<u8>,
    ) -> Result<Option<LinePlace>, ReadError> {
        let name = self.part.path().display().to_string();
        line.clear();
        let read = reader.take(self.longest as u64 + 1).read_until(b'\n', line);
        read.map_err(|error| Fault::io(&error).of(&name))?;
        if line.len() > self.longest {
            let expected = format!("a line of at most {} bytes", self.longest);
            return Err(Fault::new(expected, "a longer one").at(&name, self.count + 1));
        }
        let is_whole = line.pop_if(|&mut last| last == b'\n').is_some();
        Ok(is_whole.then(|| self.behind(line.len())))
    }

    /// The place of the next line, which has `length` bytes.
    fn behind(&mut self, length: usize) -> LinePlace {
        let start = self.end;
        self.end += length as u64 + 1;
        self.count += 1;
        LinePlace {
            line: self.count,
            start,
            length,
        }
    }

    /// Appends a line, which outlives this process.
    pub fn push(&mut self, line: &impl Serialize) -> io::Result<LinePlace> {
        let line = line_of(line)?;
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
            // Cut off the part of this line that was written. The next line takes its place.
            let _ = self.cut();
            written?;
        }
        Ok(self.behind(line.len() - 1))
    }

    /// Cuts off everything after the last whole line.
    fn cut(&mut self) -> io::Result<()> {
        let file = self.file.get_mut().unwrap_or_else(PoisonError::into_inner);
        file.set_len(self.end)
    }

    /// Reads a line again.
    pub fn read<T: DeserializeOwned>(&self, place: LinePlace) -> Result<T, ReadError> {
        let name = self.part.path().display().to_string();
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
        self.part.path()
    }

    /// Deletes the file, once the work is done.
    pub fn remove(mut self) -> io::Result<()> {
        self.part.remove()
    }
}

fn other(line: &[u8]) -> Fault {
    Fault::new("the work of a run", quote(line)).remedy(OTHER)
}

/// Refuses the first line of another kind of run.
fn check_schema(run: &Value, line: &[u8]) -> Result<(), Fault> {
    let found: Value = serde_json::from_slice(line).unwrap_or_default();
    let is_run = found.get("schema").is_some() && found["schema"] == run["schema"];
    if is_run { Ok(()) } else { Err(other(line)) }
}

/// Refuses the first line of a run with other data or settings, and says what differs.
fn same(run: &Value, line: &[u8]) -> Result<(), Fault> {
    check_schema(run, line)?;
    let found: Value = serde_json::from_slice(line).unwrap_or_default();
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
    Err(Fault::new(expected, found).remedy("name another output"))
}

fn line_of(piece: &impl Serialize) -> io::Result<Vec<u8>> {
    let mut line = serde_json::to_vec(piece)?;
    line.push(b'\n');
    Ok(line)
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::PathBuf;

    use serde_json::json;

    use super::*;

    const LIMIT: u64 = 1 << 18;

    /// Opens the work of a run over seven rows, and returns its lines.
    fn open(output: &Path, resume: bool) -> Result<(Lines, Vec<String>), ReadError> {
        let mut found: Vec<String> = Vec::new();
        let run = json!({"schema": "test/1", "number_of_rows": 7});
        let lines = Lines::open(output, &run, "texts", resume, Some(LIMIT), |place, text| {
            let text = serde_json::from_slice(text);
            found.push(text.map_err(|error| Fault::new("text", error.to_string()))?);
            assert_eq!(place.line, found.len() as u64 + 1);
            Ok(())
        })?;
        Ok((lines, found))
    }

    fn refusal(output: &Path) -> String {
        open(output, true).unwrap_err().to_string()
    }

    const LINES: [&str; 4] = ["a", "with \"quotes\"\n", "", "ä}\n{"];

    /// An output with four lines of work beside it, and the path of that work.
    fn written() -> (tempfile::TempDir, PathBuf, PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let output = folder.path().join("out");
        let (mut lines, _) = open(&output, false).unwrap();
        for line in LINES {
            let place = lines.push(&line).unwrap();
            assert_eq!(lines.read::<String>(place).unwrap(), line);
        }
        let path = lines.path().to_owned();
        (folder, output, path)
    }

    #[test]
    fn a_torn_line_is_cut_off_wherever_it_is_torn() {
        let (_folder, output, path) = written();
        let whole = fs::read(&path).unwrap();
        let first = whole.iter().position(|&byte| byte == b'\n').unwrap() + 1;
        for end in first..=whole.len() {
            fs::write(&path, &whole[..end]).unwrap();
            let (mut lines, found) = open(&output, true).unwrap();
            let count = whole[..end].split(|&byte| byte == b'\n').count() - 2;
            assert_eq!(found, LINES[..count], "{end}");
            for line in &LINES[found.len()..] {
                lines.push(line).unwrap();
            }
            drop(lines);
            assert_eq!(fs::read(&path).unwrap(), whole, "{end}");
        }
        // The first line appears together with the file.
        for end in 0..first {
            fs::write(&path, &whole[..end]).unwrap();
            assert!(refusal(&output).contains("out.part:1:1: expected the work of a run"));
            assert_eq!(fs::read(&path).unwrap(), &whole[..end]);
        }
    }

    #[test]
    fn damage_is_found_with_its_line_and_stays() {
        let (_folder, output, path) = written();
        let whole = fs::read_to_string(&path).unwrap();
        for (line, of, by) in [(1, "{", ""), (2, "\"a\"", "\"a"), (4, "\"\"\n", "\n")] {
            let damaged = whole.replacen(of, by, 1);
            fs::write(&path, &damaged).unwrap();
            let (error, place) = (refusal(&output), format!("out.part:{line}:1: expected "));
            assert!(error.contains(&place), "{of}: {error}");
            assert_eq!(fs::read_to_string(&path).unwrap(), damaged);
        }
    }

    #[test]
    fn other_files_and_other_runs_stay_as_they_are() {
        let folder = tempfile::tempdir().unwrap();
        let output = folder.path().join("out");
        let path = Part::path_of(&output);
        let other = |run: Value| line_of(&run).unwrap();
        for (bytes, expected) in [
            (
                b"something else".to_vec(),
                "expected the work of a run, found \"something else\" (it is something else: move it",
            ),
            (b"something else\n".to_vec(), "expected the work of a run"),
            (b"\0\0\0".to_vec(), "expected the work of a run"),
            (
                other(json!({"number_of_rows": 7})),
                "expected the work of a run, found",
            ),
            (
                other(json!({"schema": "test/1", "number_of_rows": 8})),
                "expected the work of a run with number of rows 7, found number of rows 8 (name ",
            ),
            (
                other(json!({"schema": "test/1", "number_of_rows": 7, "seed": 1})),
                "with no other settings, found more of them",
            ),
        ] {
            fs::write(&path, &bytes).unwrap();
            let error = refusal(&output);
            assert!(error.contains(expected), "{error}");
            assert!(open(&output, false).is_err());
            assert_eq!(fs::read(&path).unwrap(), bytes);
        }
    }

    #[test]
    fn lines_have_a_largest_size() {
        let (_folder, output, path) = written();
        let before = fs::read(&path).unwrap();
        let (mut lines, _) = open(&output, true).unwrap();
        lines.push(&"x".repeat(1 << 16)).unwrap_err();
        drop(lines);
        assert_eq!(fs::read(&path).unwrap(), before);
        // A sparse file: the disk need not hold it.
        let file = File::options().write(true).open(&path).unwrap();
        file.set_len(1 << 40).unwrap();
        let error = refusal(&output);
        assert!(
            error.contains(":6:1: expected a line of at most 65536 bytes"),
            "{error}"
        );
    }

    #[test]
    fn a_second_one_is_refused_until_the_first_is_gone() {
        let (folder, output, _) = written();
        let (lines, _) = open(&output, true).unwrap();
        for resume in [true, false] {
            let error = open(&output, resume).unwrap_err().to_string();
            assert!(error.contains("no other process writes"), "{error}");
        }
        drop(lines);
        let error = open(&output, false).unwrap_err().to_string();
        assert!(
            error.contains("out.part: expected no unfinished work, found 4 texts ("),
            "{error}"
        );
        let (lines, found) = open(&output, true).unwrap();
        assert_eq!(found, LINES);
        lines.remove().unwrap();
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    }

    #[test]
    fn what_is_written_after_a_failure_follows_the_last_whole_line() {
        let (_folder, output, path) = written();
        let (mut lines, _) = open(&output, true).unwrap();
        // A full disk leaves such a line.
        let mut file = File::options().append(true).open(&path).unwrap();
        file.write_all(b"\"torn and longer than the next").unwrap();
        lines.push(&"e").unwrap();
        drop(lines);
        let (_, found) = open(&output, true).unwrap();
        assert_eq!((found.len(), found[4].as_str()), (5, "e"));
    }
}
