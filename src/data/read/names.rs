//! Files of feature names.

use std::io::Read;
use std::path::Path;

use crate::data::{Dataset, FeatureNames, Strings};

use super::error::{Fault, ReadError, ReadErrorKind};
use super::input::Source;
use super::text::{CHUNK, Chunks};

/// Reads names of features, one a line: the first line names the first column, which is 1 in
/// svmlight files and 0 in RLScore's. The file may be compressed and have CRLF line ends; an
/// empty line is an empty name.
///
/// # Errors
/// [`ReadError`] when the file cannot be read, is not UTF-8, or takes more than `max_memory`
/// bytes.
pub fn read_names(path: &Path, max_memory: Option<u64>) -> Result<FeatureNames, ReadError> {
    names_of(Source::open(path, max_memory)?, max_memory, 0)
}

/// The same from a stream that messages call `name`.
///
/// # Errors
/// As [`read_names`].
pub fn read_names_from(
    reader: impl Read + Send,
    name: &str,
    max_memory: Option<u64>,
) -> Result<FeatureNames, ReadError> {
    names_of(Source::new(reader, name, max_memory)?, max_memory, 0)
}

/// Names the columns of `dataset`, for which `held` bytes are taken already.
pub(super) fn attach(
    dataset: Dataset<'static>,
    path: &Path,
    limit: Option<u64>,
    held: u64,
) -> Result<Dataset<'static>, ReadError> {
    let names = names_of(Source::open(path, limit)?, limit, held)?;
    let name = path.display().to_string();
    if names.len() < dataset.width() {
        let expected = format!("at least {} names, one a column", dataset.width());
        let found = names.len().to_string();
        return Err(Fault::new(ReadErrorKind::NameCount, expected, found).of(&name));
    }
    dataset
        .with_names(names)
        .map_err(|error| ReadError::data(&name, &error))
}

fn names_of(source: Source<'_>, limit: Option<u64>, held: u64) -> Result<FeatureNames, ReadError> {
    let name = source.name.clone();
    let mut chunks = Chunks::new(source, CHUNK, limit);
    let mut names = Strings::default();
    loop {
        // One line, one name: the next line is one more than there are names.
        let line = |names: &Strings| names.len() as u64 + 1;
        match chunks.next() {
            Ok(Some(text)) => {
                push_lines(&text, &mut names).map_err(|f| f.at(&name, line(&names)))?;
            }
            Ok(None) => return Ok(FeatureNames::new(names)),
            Err(failure) => return Err(failure.fault.at(&failure.name, line(&names))),
        }
        if let Some(limit) = limit
            && held + names.memory() as u64 > limit
        {
            let found = format!("{} or more", held + names.memory() as u64);
            return Err(Fault::too_large(limit, &found).at(&name, line(&names)));
        }
    }
}

fn push_lines(text: &[u8], names: &mut Strings) -> Result<(), Fault> {
    let text = text.strip_suffix(b"\n").unwrap_or(text);
    for line in text.split(|&byte| byte == b'\n') {
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        let name = std::str::from_utf8(line).map_err(|error| {
            let at = error.valid_up_to();
            let expected = "a feature name in UTF-8";
            Fault::token(ReadErrorKind::NameEncoding, expected, at, &line[at..])
        })?;
        names.push(name);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::super::compressed::{gz, zst};
    use super::super::{Place, ReadOptions};
    use super::*;

    /// Names from a file of these bytes.
    fn names(bytes: &[u8]) -> Result<Vec<String>, ReadError> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("names.txt");
        fs::write(&path, bytes).unwrap();
        let names = read_names(&path, Some(1 << 20))?;
        Ok(names.iter().map(str::to_owned).collect())
    }

    #[test]
    fn one_name_a_line() {
        assert_eq!(names("a b\r\n\nü\n".as_bytes()).unwrap(), ["a b", "", "ü"]);
        assert_eq!(names(b"a\nb").unwrap(), ["a", "b"]);
        assert_eq!(names(&gz(b"a\nb\n")).unwrap(), ["a", "b"]);
        assert_eq!(names(&zst(b"a\nb\n")).unwrap(), ["a", "b"]);
        assert!(names(b"").unwrap().is_empty());
    }

    #[test]
    fn bad_text_has_a_place() {
        let error = names(b"a\nb\xff\nc\n").unwrap_err();
        assert_eq!(error.kind(), ReadErrorKind::NameEncoding);
        assert_eq!(error.place(), Some(Place { line: 2, column: 2 }));
        let whole = gz(b"a\nb\n");
        let error = names(&whole[..whole.len() - 2]).unwrap_err();
        assert_eq!(error.kind(), ReadErrorKind::Truncated);
        let error = names(&zst(&vec![b'\n'; 2_000_000])).unwrap_err();
        assert_eq!(error.kind(), ReadErrorKind::TooLarge);
    }

    #[test]
    fn every_column_needs_a_name() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("names.txt");
        let read = |text: &str| {
            fs::write(&path, text).unwrap();
            let options = ReadOptions::new().names(path.clone());
            options.read_from(&b"1 1:1 3:1\n"[..], "f")
        };
        let data = read("a\nb\nc\nmore\n").unwrap().dataset;
        assert_eq!(data.names().unwrap().of(2), Some("c"));
        let error = read("a\nb\n").unwrap_err();
        assert_eq!(error.kind(), ReadErrorKind::NameCount);
        let text = error.to_string();
        assert!(text.ends_with("names.txt: expected at least 3 names, one a column, found 2"));
    }
}
