//! Why a file was refused, and where.

use std::borrow::Cow;
use std::fmt::Write as _;
use std::{fmt, io};

use thiserror::Error;

use crate::Remedy;

/// Characters of the input that a message quotes.
const QUOTED: usize = 40;

/// The kind of fault of a file. The message says the rest: where, what was expected, and what was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ReadErrorKind {
    /// The system could not open or read the file.
    Io(io::ErrorKind),
    /// Compressed data or an array that ends before its end.
    Truncated,
    /// Compressed data that does not decompress, or an archive that is damaged.
    Corrupt,
    /// More data than the memory limit allows.
    TooLarge,
    /// A malformed token, line, cell or array.
    Malformed,
    /// Each part is legal, but they do not fit together: queries, files of different lengths, or no row at all.
    Mismatch,
}

/// A position in a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// Line, counted from 1.
    pub line: u64,
    /// Byte within the line, counted from 1.
    pub column: usize,
}

/// A file that was refused. Its text reads
/// `file:line:column: expected …, found … (remedy)`, without place or remedy where there is none;
/// in a JSON document the place is `file: field`. Its [`Debug`](fmt::Debug) is this text, too.
#[derive(Error)]
#[error("{}", .0.message())]
pub struct ReadError(Box<Refusal>);

impl fmt::Debug for ReadError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, formatter)
    }
}

struct Refusal {
    name: String,
    line: Option<u64>,
    fault: Fault,
}

impl Refusal {
    fn message(&self) -> String {
        let mut text = escaped(&self.name);
        if let Some(line) = self.line {
            let _ = write!(text, ":{line}:{}", self.fault.column);
        } else if !self.fault.field.is_empty() {
            let _ = write!(text, ": {}", self.fault.field);
        }
        let _ = write!(
            text,
            ": expected {}, found {}",
            self.fault.expected, self.fault.found
        );
        if let Some(remedy) = &self.fault.remedy {
            let _ = write!(text, " ({remedy})");
        }
        text
    }
}

impl ReadError {
    /// The kind of fault.
    pub fn kind(&self) -> ReadErrorKind {
        self.0.fault.kind
    }

    /// The file, or the name that the reader was given for its input.
    pub fn name(&self) -> &str {
        &self.0.name
    }

    /// The place in the decompressed text, if the fault has one.
    pub fn place(&self) -> Option<Place> {
        let column = self.0.fault.column;
        self.0.line.map(|line| Place { line, column })
    }

    /// The field of a JSON document, if the fault is in one.
    pub fn field(&self) -> Option<&str> {
        Some(&*self.0.fault.field).filter(|field| !field.is_empty())
    }

    /// The text that should have been there.
    pub fn expected(&self) -> &str {
        &self.0.fault.expected
    }

    /// The text that was there: quoted input is escaped and cut to 40 characters.
    pub fn found(&self) -> &str {
        &self.0.fault.found
    }

    /// The same error, with this remedy if it has none.
    #[must_use]
    pub fn or_remedy(mut self, remedy: impl Into<Remedy>) -> Self {
        self.0.fault.remedy.get_or_insert_with(|| remedy.into());
        self
    }

    /// The remedy, where one is known.
    pub fn remedy(&self) -> Option<&Remedy> {
        self.0.fault.remedy.as_ref()
    }
}

/// A [`ReadError`] without its file and line.
#[derive(Debug)]
pub struct Fault {
    /// The kind of fault.
    pub kind: ReadErrorKind,
    /// Byte within the line, counted from 1.
    pub column: usize,
    /// The field of a JSON document, in place of line and column.
    field: Box<str>,
    expected: Cow<'static, str>,
    found: String,
    remedy: Option<Remedy>,
}

impl Fault {
    /// A malformed beginning of a line, or a malformed file.
    pub fn new(expected: impl Into<Cow<'static, str>>, found: impl Into<String>) -> Self {
        Self {
            kind: ReadErrorKind::Malformed,
            column: 1,
            field: Box::default(),
            expected: expected.into(),
            found: found.into(),
            remedy: None,
        }
    }

    /// Things that are legal each, but do not fit together.
    pub fn mismatch(expected: impl Into<Cow<'static, str>>, found: impl Into<String>) -> Self {
        Self::new(expected, found).kind(ReadErrorKind::Mismatch)
    }

    /// A malformed `token` that starts after `before` bytes of its line. An empty token is the end of the line.
    pub fn token(expected: impl Into<Cow<'static, str>>, before: usize, token: &[u8]) -> Self {
        let found = match token {
            [] => "the end of the line".to_owned(),
            _ => quote(token),
        };
        Self::new(expected, found).at_column(before + 1)
    }

    /// The system could not open or read the file.
    pub fn io(error: &io::Error) -> Self {
        let fault = Self::new("a readable file", error.to_string());
        fault.kind(ReadErrorKind::Io(error.kind()))
    }

    /// Not a single row.
    pub fn no_rows() -> Self {
        Self::mismatch("at least one row", "none")
    }

    /// Data that are legal line by line, but not as a whole.
    pub fn data(error: &impl std::fmt::Display) -> Self {
        Self::mismatch("a data set that can be stored", error.to_string())
    }

    /// More data than the memory `limit` lets in.
    pub fn too_large(limit: u64, what: &str) -> Self {
        let expected = format!("data that takes at most {limit} bytes of memory");
        Self::new(expected, what)
            .kind(ReadErrorKind::TooLarge)
            .remedy(Remedy::MoreMemoryOrLessData)
    }

    /// The same fault of another kind.
    #[must_use]
    pub fn kind(mut self, kind: ReadErrorKind) -> Self {
        self.kind = kind;
        self
    }

    /// The same fault with another expected text.
    #[must_use]
    pub fn expecting(mut self, expected: String) -> Self {
        self.expected = expected.into();
        self
    }

    /// The same fault with a remedy.
    #[must_use]
    pub fn remedy(mut self, remedy: impl Into<Remedy>) -> Self {
        self.remedy = Some(remedy.into());
        self
    }

    /// In a field of a JSON document.
    #[must_use]
    pub fn in_field(mut self, field: &str) -> Self {
        self.field = field.into();
        self
    }

    /// At a byte of its line, counted from 1.
    #[must_use]
    pub fn at_column(mut self, column: usize) -> Self {
        self.column = column;
        self
    }

    /// The error at `line`, counted from 1, of the file `name`.
    pub fn at(self, name: &str, line: u64) -> ReadError {
        ReadError(Box::new(Refusal {
            name: name.to_owned(),
            line: Some(line),
            fault: self,
        }))
    }

    /// The error of the whole file `name`.
    pub fn of(self, name: &str) -> ReadError {
        ReadError(Box::new(Refusal {
            name: name.to_owned(),
            line: None,
            fault: self,
        }))
    }
}

/// Input in quotes. Control characters and invalid UTF-8 are escaped, and long input is cut.
pub fn quote(bytes: &[u8]) -> String {
    let head = &bytes[..bytes.len().min(4 * QUOTED + 4)];
    let pieces: Vec<String> = head
        .utf8_chunks()
        .flat_map(|chunk| pieces(&chunk))
        .collect();
    let mut text = String::from("\"");
    pieces
        .iter()
        .take(QUOTED)
        .for_each(|piece| text.push_str(piece));
    if pieces.len() > QUOTED {
        text.push('…');
    }
    text.push('"');
    text
}

/// Foreign text, such as the name of a file, on one line of a terminal. Escapes control characters, which could
/// move the cursor, separators of lines, and marks that turn the direction of text.
pub fn escaped(text: &str) -> String {
    escape(text, is_unsafe)
}

/// Text of several lines, each [`escaped`].
pub fn escaped_lines(text: &str) -> String {
    escape(text, |char| char != '\n' && is_unsafe(char))
}

pub(crate) fn is_unsafe(char: char) -> bool {
    char.is_control()
        || matches!(
            char,
            '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}'
        )
}

fn escape(text: &str, escapes: impl Fn(char) -> bool) -> String {
    let mut safe = String::with_capacity(text.len());
    for char in text.chars() {
        if escapes(char) {
            safe.extend(char.escape_default());
        } else {
            safe.push(char);
        }
    }
    safe
}

fn pieces<'a>(chunk: &std::str::Utf8Chunk<'a>) -> impl Iterator<Item = String> + use<'a> {
    let valid = chunk.valid().chars();
    let invalid = chunk.invalid().iter();
    valid
        .map(|char| char.escape_debug().to_string())
        .chain(invalid.map(|byte| format!("\\x{byte:02x}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_message_has_place_expected_found_and_remedy() {
        let fault = Fault::token("a pair", 4, b"x").remedy("mend it");
        let error = fault.at("a.svm", 7);
        assert_eq!(
            error.to_string(),
            "a.svm:7:5: expected a pair, found \"x\" (mend it)"
        );
        assert_eq!(format!("{error:?}"), error.to_string());
        assert_eq!(error.kind(), ReadErrorKind::Malformed);
        assert_eq!(error.place(), Some(Place { line: 7, column: 5 }));
        assert_eq!(error.remedy(), Some(&"mend it".into()));
    }

    #[test]
    fn no_name_moves_the_cursor() {
        let name = "ä \u{1b}[2J\r\n\u{9b}31m\u{202e}.svm";
        assert_eq!(escaped(name), r"ä \u{1b}[2J\r\n\u{9b}31m\u{202e}.svm");
        let error = Fault::no_rows().of("a\u{1b}[31m").to_string();
        assert!(error.starts_with(r"a\u{1b}[31m: "), "{error}");
    }

    #[test]
    fn quotes_are_escaped_and_cut() {
        assert_eq!(quote("ä\t\"\u{1}".as_bytes()), r#""ä\t\"\u{1}""#);
        assert_eq!(quote(b"a\xffb"), r#""a\xffb""#);
        assert_eq!(quote(&[b'1'; 40]), format!("\"{}\"", "1".repeat(40)));
        assert_eq!(quote(&[b'1'; 900]), format!("\"{}…\"", "1".repeat(40)));
    }

    #[test]
    fn text_for_a_terminal_is_escaped() {
        assert_eq!(escaped("a\x1b[31m\tü"), "a\\u{1b}[31m\\tü");
        assert_eq!(escaped("a\n\u{9b}b"), "a\\n\\u{9b}b");
        assert_eq!(
            escaped("\u{202e}a\u{2066}\u{200f}"),
            "\\u{202e}a\\u{2066}\\u{200f}"
        );
        assert_eq!(escaped_lines("a\nb\r\n"), "a\nb\\r\n");
        // A joiner of letters does not control their direction.
        let joined = "\u{645}\u{6cc}\u{200c}\u{62e}";
        assert_eq!(escaped(joined), joined);
    }
}
