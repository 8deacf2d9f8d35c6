//! Text line by line: the one reader of all formats and lists of lines.
//!
//! A line ends in LF, after any number of CR: Python's csv in text mode on Windows writes CR CR LF. A CR elsewhere
//! is the line end of another system, and would join lines. It is refused, and so is NUL. [`Source`] has already
//! dropped a byte order mark.

use std::io::{self, Read};
use std::path::Path;

use crate::error::{Fault, ReadError, ReadErrorKind};
use crate::input::Source;
use crate::strings::Strings;

/// Whether the text has neither CR nor NUL: [`checked`] can refuse no line of such a text.
pub fn is_plain(text: &[u8]) -> bool {
    memchr::memchr2(b'\r', 0, text).is_none()
}

/// The lines of `text`, without their ends. The last line may lack its end.
pub fn lines(mut text: &[u8]) -> impl Iterator<Item = &[u8]> {
    std::iter::from_fn(move || {
        if text.is_empty() {
            return None;
        }
        let end = memchr::memchr(b'\n', text).unwrap_or(text.len());
        let line = without_cr(&text[..end]);
        text = text.get(end + 1..).unwrap_or_default();
        Some(line)
    })
}

fn without_cr(mut line: &[u8]) -> &[u8] {
    while let [rest @ .., b'\r'] = line {
        line = rest;
    }
    line
}

/// A line, if it has neither CR nor NUL.
#[inline]
pub fn checked(line: &[u8]) -> Result<&[u8], Fault> {
    match memchr::memchr2(b'\r', 0, line) {
        None => Ok(line),
        Some(at) => Err(odd(line[at]).at_column(at + 1)),
    }
}

#[cold]
fn odd(byte: u8) -> Fault {
    if byte == b'\r' {
        Fault::new("lines that end in LF or CR LF", "CR alone")
    } else {
        Fault::new("text", "a NUL byte")
    }
}

/// The line without its comment and the blanks at its end. A comment begins the line or follows a blank: in `c#`
/// and `-1.#IND` the `#` belongs to the token.
pub fn without_comment(line: &[u8]) -> &[u8] {
    let mut marks = memchr::memchr_iter(b'#', line);
    let comment = marks.find(|&at| at == 0 || is_blank(line[at - 1]));
    let mut line = &line[..comment.unwrap_or(line.len())];
    while let [rest @ .., last] = line
        && is_blank(*last)
    {
        line = rest;
    }
    line
}

fn is_blank(byte: u8) -> bool {
    byte == b' ' || byte == b'\t'
}

/// `bytes` as text. They begin after `before` bytes of their line.
pub fn utf8<'t>(bytes: &'t [u8], before: usize, expected: &'static str) -> Result<&'t str, Fault> {
    std::str::from_utf8(bytes).map_err(|error| {
        let at = error.valid_up_to();
        Fault::token(expected, before + at, &bytes[at..])
    })
}

/// Usual bytes of a chunk.
pub const CHUNK: usize = 1 << 20;

/// Fewest bytes of a chunk under a limit.
const LEAST_CHUNK: usize = 1 << 12;

/// Most bytes of text to search for damage after a bad line.
const MOST_DRAINED: u64 = 1 << 30;

/// Cuts a source at line ends into chunks of about `size` bytes. Chunks are smaller where a batch would take much
/// of the `limit`. A longer line is a chunk of its own. A line of more than an eighth of the `limit` is refused:
/// parsed, it may take several times its length.
pub struct Chunks<'r> {
    source: Source<'r>,
    size: usize,
    /// Bytes of text that fill a batch.
    batch: usize,
    limit: Option<u64>,
    /// The beginning of a line whose end has not been read.
    rest: Vec<u8>,
    failure: Option<Fault>,
    /// The failing byte of the last line, unless the failure is behind all lines.
    failed_at: Option<usize>,
    ended: bool,
}

impl<'r> Chunks<'r> {
    /// Makes chunks of `size` bytes each. A batch has at most `chunks` and takes at most `share` bytes.
    pub fn new(
        source: Source<'r>,
        size: usize,
        (chunks, share): (usize, u64),
        limit: Option<u64>,
    ) -> Self {
        let batch = usize::try_from(share).map_or(chunks * size, |share| share.min(chunks * size));
        Self {
            source,
            size: size.min((batch / chunks).max(LEAST_CHUNK)),
            batch,
            limit,
            rest: Vec::new(),
            failure: None,
            failed_at: None,
            ended: false,
        }
    }

    /// The next chunks until the batch is full, or none at the end of the text. A failure comes with the chunks
    /// before it.
    pub fn batch(&mut self) -> (Vec<Vec<u8>>, Option<Fault>) {
        let (mut batch, mut bytes) = (Vec::new(), 0);
        while batch.is_empty() || bytes + self.size <= self.batch {
            match self.next() {
                Ok(Some(text)) => {
                    bytes += text.len();
                    batch.push(text);
                }
                Ok(None) => break,
                Err(failure) => return (batch, Some(failure)),
            }
        }
        (batch, None)
    }

    /// The next chunk, or `None` at the end of the text. A failure comes after the text before it, except for its
    /// own line.
    #[expect(
        clippy::should_implement_trait,
        reason = "a failure ends it, and is no item"
    )]
    pub fn next(&mut self) -> Result<Option<Vec<u8>>, Fault> {
        let mut text = std::mem::take(&mut self.rest);
        let mut cut = None;
        while cut.is_none() && !self.ended {
            let before = text.len();
            self.fill(&mut text);
            cut = memchr::memrchr(b'\n', &text[before..]).map(|end| before + end + 1);
            self.check_end(&text, before, cut);
            self.check_length(&text, cut);
        }
        if !self.ended || self.failure.is_some() {
            // Without a line end, all text is the rest. Do not copy it: it may be long.
            match cut {
                None => self.rest = std::mem::take(&mut text),
                Some(cut) => {
                    self.rest.extend_from_slice(&text[cut..]);
                    text.truncate(cut);
                }
            }
        }
        if !text.is_empty() {
            return Ok(Some(text));
        }
        match self.failure.take() {
            None => Ok(None),
            Some(fault) => Err(fault.at_column(self.failed_at.unwrap_or(self.rest.len()) + 1)),
        }
    }

    /// Appends about a chunk of text.
    fn fill(&mut self, text: &mut Vec<u8>) {
        let wanted = self.size.saturating_sub(text.len()).max(self.size / 2 + 1);
        text.reserve(wanted);
        match self.source.by_ref().take(wanted as u64).read_to_end(text) {
            Ok(read) => self.ended = read < wanted,
            Err(error) => self.fail(self.source.fault(&error)),
        }
    }

    /// Checks the unfinished line at the end of the text read so far: it may never end, as in a file of NUL bytes.
    /// Its bytes before `before` have been checked.
    fn check_end(&mut self, text: &[u8], before: usize, cut: Option<usize>) {
        let begin = cut.unwrap_or(0);
        let from = before.max(begin);
        if let Some(at) = memchr::memchr(0, &text[from..]).filter(|_| self.failure.is_none()) {
            self.failed_at = Some(from + at - begin);
            self.fail(odd(0));
        }
    }

    fn check_length(&mut self, text: &[u8], cut: Option<usize>) {
        let line = &text[cut.unwrap_or(0)..];
        let length = line.len();
        if let Some(limit) = self.limit
            && length as u64 > (limit / 8).max(limit.min(LEAST_CHUNK as u64))
            && self.failure.is_none()
        {
            let fault = checked(without_cr(line)).err();
            self.failed_at = fault.as_ref().map(|fault| fault.column - 1);
            let long = || Fault::too_large(limit, &format!("a line of more than {length} bytes"));
            self.fail(fault.unwrap_or_else(long));
        }
    }

    /// Reads compressed data to their end, and returns the fault if they are corrupt. Corrupt data often yield
    /// nonsense before the decompressor notices.
    pub fn damage(&mut self) -> Option<Fault> {
        let mut failure = self.failure.take();
        if failure.is_none() && self.source.is_compressed() {
            let mut rest = self.source.by_ref().take(MOST_DRAINED);
            let error = io::copy(&mut rest, &mut io::sink()).err();
            failure = error.map(|error| self.source.fault(&error));
        }
        failure.filter(|fault| fault.kind == ReadErrorKind::Corrupt)
    }

    fn fail(&mut self, fault: Fault) {
        self.failure = Some(fault);
        self.ended = true;
    }
}

/// Hands each line and its number, from 1, to `take`, which returns the bytes held or the fault of a line. Checks
/// `limit` once a chunk. Lines are not [`checked`].
pub fn each_line(
    source: Source<'_>,
    limit: Option<u64>,
    mut take: impl FnMut(u64, &[u8]) -> Result<u64, (u64, Fault)>,
) -> Result<(), ReadError> {
    let name = source.name.clone();
    let share = limit.map_or(u64::MAX, |limit| limit / 24);
    let mut chunks = Chunks::new(source, CHUNK, (1, share), limit);
    let (mut number, mut held) = (1, 0);
    loop {
        let text = match chunks.next() {
            Ok(Some(text)) => text,
            Ok(None) => return Ok(()),
            Err(fault) => return Err(fault.at(&name, number)),
        };
        for line in lines(&text) {
            held = take(number, line).map_err(|(line, fault)| match chunks.damage() {
                Some(damage) => damage.of(&name),
                None => fault.at(&name, line),
            })?;
            number += 1;
        }
        if let Some(limit) = limit.filter(|&limit| held > limit) {
            return Err(too_much(limit, held).at(&name, number));
        }
    }
}

fn too_much(limit: u64, held: u64) -> Fault {
    Fault::too_large(limit, &format!("{held} or more"))
}

/// Like [`each_line`], for lists of items that cannot be empty. Skips blank lines at the end, and hands on the
/// others.
pub fn each_item(
    source: Source<'_>,
    limit: Option<u64>,
    mut take: impl FnMut(u64, &[u8]) -> Result<u64, Fault>,
) -> Result<(), ReadError> {
    let (mut held, mut blank) = (0, 0);
    each_line(source, limit, |number, line| {
        let line = checked(line).map_err(|fault| (number, fault))?;
        if line.trim_ascii().is_empty() {
            blank += 1;
            return Ok(held);
        }
        for earlier in number - std::mem::take(&mut blank)..number {
            held = take(earlier, b"").map_err(|fault| (earlier, fault))?;
            // Blank lines of many chunks come at once.
            if let Some(limit) = limit.filter(|&limit| held > limit) {
                return Err((earlier, too_much(limit, held)));
            }
        }
        held = take(number, line).map_err(|fault| (number, fault))?;
        Ok(held)
    })
}

/// The lines of a file, without blanks around them. Messages call a line `expected`; `held` bytes are already
/// taken. The file may be compressed; `-` is standard input.
pub fn read_strings(
    path: &Path,
    limit: Option<u64>,
    held: u64,
    expected: &'static str,
) -> Result<Strings, ReadError> {
    strings_of(Source::open(path, limit)?, limit, held, expected)
}

/// A line of a list, without blanks and byte order marks around it.
pub fn trimmed(line: &str) -> &str {
    line.trim_matches(|char: char| char.is_ascii_whitespace() || char == '\u{feff}')
}

/// Reads the lines of a source, as [`read_strings`] does.
pub fn strings_of(
    source: Source<'_>,
    limit: Option<u64>,
    held: u64,
    expected: &'static str,
) -> Result<Strings, ReadError> {
    let mut strings = Strings::default();
    each_line(source, limit, |number, line| {
        let decoded = checked(line).and_then(|line| utf8(line, 0, expected));
        let text = decoded.map_err(|fault| (number, fault))?;
        strings.push(trimmed(text));
        Ok(held + strings.memory() as u64)
    })?;
    Ok(strings)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn strings(text: &[u8]) -> Result<Vec<String>, String> {
        let source = Source::new(text, "f", None).unwrap();
        let strings = strings_of(source, Some(1 << 20), 0, "text in UTF-8");
        let strings = strings.map_err(|error| error.to_string())?;
        Ok(strings.iter().map(str::to_owned).collect())
    }

    fn items(text: &[u8]) -> Result<Vec<(u64, String)>, String> {
        let mut items = Vec::new();
        let source = Source::new(text, "f", None).unwrap();
        let read = each_item(source, None, |number, line| {
            items.push((number, String::from_utf8_lossy(line).into_owned()));
            match line {
                b"bad" => Err(Fault::new("good", "bad")),
                _ => Ok(0),
            }
        });
        read.map(|()| items).map_err(|error| error.to_string())
    }

    /// A sparse file of any size is refused at its first NUL.
    #[test]
    fn a_line_is_judged_as_it_comes() {
        let endless = |begin: &'static [u8]| begin.chain(io::repeat(0));
        for (begin, place) in [
            (&b""[..], "f:1:1: "),
            (b"a\nbc", "f:2:3: "),
            (b"a\r\n", "f:2:1: "),
        ] {
            for limit in [None, Some(1 << 30)] {
                let source = Source::new(endless(begin), "f", limit).unwrap();
                let error = each_line(source, limit, |_, _| Ok(0))
                    .unwrap_err()
                    .to_string();
                assert_eq!(error, format!("{place}expected text, found a NUL byte"));
            }
        }
        // The first CR of a line that is too long is refused.
        let text = [b"a\nbc\rd", &[b'e'; 1000][..]].concat();
        let source = Source::new(&text[..], "f", Some(100)).unwrap();
        let error = each_line(source, Some(100), |_, _| Ok(0))
            .unwrap_err()
            .to_string();
        assert!(
            error.starts_with("f:2:3: expected lines that end in LF"),
            "{error}"
        );
    }

    #[test]
    fn blank_lines_before_an_item_count_before_they_are_all_taken() {
        let mut text = vec![b'\n'; 1 << 16];
        text.push(b'a');
        let source = Source::new(&text[..], "f", None).unwrap();
        let mut taken = 0;
        let read = each_item(source, Some(1 << 10), |_, _| {
            taken += 1;
            Ok(8 * taken)
        });
        assert!(read.unwrap_err().to_string().contains("1024"));
        assert_eq!(taken, 129);
    }

    #[test]
    fn lines_end_at_any_run_of_cr_before_lf() {
        for text in [
            "a\nb c\n\nd\n",
            "a\r\nb c\r\n\r\nd\r\n",
            "a\r\r\nb c\r\r\n\r\r\nd\r\r\n",
            "\u{feff}a\nb c\r\n\r\r\r\nd",
            "  a\t\nb c \n \nd\r",
        ] {
            assert_eq!(strings(text.as_bytes()).unwrap(), ["a", "b c", "", "d"]);
        }
        assert_eq!(strings(b"").unwrap(), [""; 0]);
        assert_eq!(strings(b"\xef\xbb\xbf").unwrap(), [""; 0]);
        assert_eq!(strings(b"\n").unwrap(), [""]);
    }

    #[test]
    fn what_is_in_no_text_has_a_place() {
        for (text, message) in [
            (
                &b"a\rb\rc"[..],
                "f:1:2: expected lines that end in LF or CR LF, found CR alone",
            ),
            (
                b"a\nb\rc\r\n",
                "f:2:2: expected lines that end in LF or CR LF, found CR alone",
            ),
            (b"a\r\nbc\0\r\n", "f:2:3: expected text, found a NUL byte"),
            (
                b"a\nbc\xff\n",
                "f:2:3: expected text in UTF-8, found \"\\xff\"",
            ),
            (
                b"\xff\xfea\0\n\0",
                "f:1:1: expected text in UTF-8, plain or compressed by gzip or zstd, found UTF-16 text (save the file as UTF-8)",
            ),
        ] {
            let error = strings(text).unwrap_err();
            assert!(error.starts_with(message), "{error}");
        }
        // A text of CR alone is one line that is too long.
        let long = "1\r".repeat(1 << 20);
        let error = strings(long.as_bytes()).unwrap_err();
        assert!(error.contains("found CR alone"), "{error}");
    }

    #[test]
    fn blank_lines_at_the_end_are_no_items() {
        let item = |number, text: &str| (number, text.to_owned());
        for text in ["a\nb\n", "a\nb\n\n", "a\r\nb\r\n \t\r\n\r\n", "a\nb"] {
            assert_eq!(
                items(text.as_bytes()).unwrap(),
                [item(1, "a"), item(2, "b")]
            );
        }
        let between = items(b"\na\n\n\nb\n\n").unwrap();
        let expected = [(1, ""), (2, "a"), (3, ""), (4, ""), (5, "b")];
        assert_eq!(between, expected.map(|(number, text)| item(number, text)));
        assert!(items(b"\n\n").unwrap().is_empty());
        assert_eq!(
            items(b"a\n\nbad\n").unwrap_err(),
            "f:3:1: expected good, found bad"
        );
    }
}
