//! Files of scores.

use std::io::Read;
use std::path::Path;

use super::error::{Fault, ReadError, ReadErrorKind};
use super::input::Source;
use super::text::{CHUNK, Chunks};
use super::token::{self, BadNumber};

/// Reads scores, a finite decimal number a line, one for each row of a data set in the order of
/// its file. The file may be compressed and have CRLF line ends; `-` is standard input.
///
/// # Errors
/// [`ReadError`] when the file cannot be read, a line is no number, or it takes more than
/// `max_memory` bytes.
pub fn read_scores(path: &Path, max_memory: Option<u64>) -> Result<Vec<f64>, ReadError> {
    scores_of(Source::open(path, max_memory)?, max_memory)
}

/// The same from a stream that messages call `name`.
///
/// # Errors
/// As [`read_scores`].
pub fn read_scores_from(
    reader: impl Read + Send,
    name: &str,
    max_memory: Option<u64>,
) -> Result<Vec<f64>, ReadError> {
    scores_of(Source::new(reader, name, max_memory)?, max_memory)
}

fn scores_of(source: Source<'_>, max_memory: Option<u64>) -> Result<Vec<f64>, ReadError> {
    let name = source.name.clone();
    let mut chunks = Chunks::new(source, CHUNK, max_memory);
    let mut scores = Vec::new();
    loop {
        // One line, one score: the next line is one more than there are scores.
        let line = |scores: &Vec<f64>| scores.len() as u64 + 1;
        match chunks.next() {
            Ok(Some(text)) => {
                push_lines(&text, &mut scores).map_err(|f| f.at(&name, line(&scores)))?;
            }
            Ok(None) => return Ok(scores),
            Err(failure) => return Err(failure.fault.at(&failure.name, line(&scores))),
        }
        let held = (scores.capacity() * size_of::<f64>()) as u64;
        if let Some(limit) = max_memory.filter(|&limit| held > limit) {
            let found = format!("{held} or more");
            return Err(Fault::too_large(limit, &found).at(&name, line(&scores)));
        }
    }
}

fn push_lines(text: &[u8], scores: &mut Vec<f64>) -> Result<(), Fault> {
    let text = text.strip_suffix(b"\n").unwrap_or(text);
    for line in text.split(|&byte| byte == b'\n') {
        scores.push(score(token::trim_end(line))?);
    }
    Ok(())
}

fn score(line: &[u8]) -> Result<f64, Fault> {
    let at = token::start(line, 0);
    let end = token::end(line, at);
    let bad = |bad| {
        let (kind, expected) = match bad {
            BadNumber::Syntax => (ReadErrorKind::Score, "a score, a decimal number"),
            BadNumber::NotFinite => (ReadErrorKind::NotFinite, "a finite score"),
        };
        Fault::token(kind, expected, at, &line[at..end])
    };
    let score = token::number(&line[at..end]).map_err(bad)?;
    if end < line.len() {
        let at = token::start(line, end);
        let expected = "one score a line";
        return Err(Fault::token(
            ReadErrorKind::Score,
            expected,
            at,
            &line[at..],
        ));
    }
    Ok(score)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::super::Place;
    use super::super::compressed::{gz, zst};
    use super::*;

    fn with<T>(bytes: &[u8], read: impl FnOnce(&Path) -> T) -> T {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("scores.txt");
        fs::write(&path, bytes).unwrap();
        read(&path)
    }

    fn scores(bytes: &[u8]) -> Result<Vec<f64>, ReadError> {
        with(bytes, |path| read_scores(path, Some(1 << 16)))
    }

    #[test]
    fn one_score_a_line() {
        let expected = [0.5, -1e-3, 2.0];
        let text = b" 0.5\r\n-1e-3 \n2";
        assert_eq!(scores(text).unwrap(), expected);
        assert_eq!(scores(&gz(text)).unwrap(), expected);
        assert_eq!(scores(&zst(text)).unwrap(), expected);
        assert!(scores(b"").unwrap().is_empty());
    }

    #[test]
    fn bad_lines_have_a_place() {
        for (text, kind, line, column) in [
            (&b"1\nx\n"[..], ReadErrorKind::Score, 2, 1),
            (b"1\n\n2\n", ReadErrorKind::Score, 2, 1),
            (b"1\n 2 3\n", ReadErrorKind::Score, 2, 4),
            (b"nan\n", ReadErrorKind::NotFinite, 1, 1),
            (b"1e999\n", ReadErrorKind::NotFinite, 1, 1),
        ] {
            let error = scores(text).unwrap_err();
            assert_eq!(error.kind(), kind, "{error}");
            assert_eq!(error.place(), Some(Place { line, column }), "{error}");
        }
        let error = scores(&zst(&b"1\n".repeat(100_000))).unwrap_err();
        assert_eq!(error.kind(), ReadErrorKind::TooLarge);
    }
}
