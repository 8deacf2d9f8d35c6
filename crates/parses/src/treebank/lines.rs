//! Blocks of lines with blank lines between them.

use rankrls_files::{ReadError, quote};
use thiserror::Error;

/// A line with its number, counted from 1, and without its end.
#[derive(Debug, Clone, Copy)]
pub(super) struct Line<'t> {
    pub(super) number: u64,
    pub(super) bytes: &'t [u8],
}

impl<'t> Line<'t> {
    /// The line as text.
    pub(super) fn text(self) -> Result<&'t str, Fault> {
        std::str::from_utf8(self.bytes).map_err(|error| {
            let at = error.valid_up_to();
            Fault::token(self.number, at, "text in UTF-8", &self.bytes[at..])
        })
    }

    fn is_blank(self) -> bool {
        self.bytes.iter().all(u8::is_ascii_whitespace)
    }
}

/// The blocks of a text.
#[derive(Debug)]
pub(super) struct Blocks<'t> {
    rest: &'t [u8],
    /// Lines before the rest.
    lines: u64,
}

impl<'t> Blocks<'t> {
    pub(super) fn new(text: &'t [u8]) -> Self {
        let text = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text);
        Self {
            rest: text,
            lines: 0,
        }
    }

    fn line(&mut self) -> Option<Line<'t>> {
        if self.rest.is_empty() {
            return None;
        }
        let end = memchr::memchr(b'\n', self.rest);
        let (bytes, rest) = match end {
            Some(end) => (&self.rest[..end], &self.rest[end + 1..]),
            None => (self.rest, &self.rest[self.rest.len()..]),
        };
        self.rest = rest;
        self.lines += 1;
        Some(Line {
            number: self.lines,
            bytes: bytes.strip_suffix(b"\r").unwrap_or(bytes),
        })
    }
}

impl<'t> Iterator for Blocks<'t> {
    type Item = Vec<Line<'t>>;

    fn next(&mut self) -> Option<Self::Item> {
        let mut block = Vec::new();
        while let Some(line) = self.line() {
            if !line.is_blank() {
                block.push(line);
            } else if !block.is_empty() {
                break;
            }
        }
        (!block.is_empty()).then_some(block)
    }
}

/// A sentence, or a file of them, that was refused.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum TreebankError {
    /// The file could not be read.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// A sentence is not what the format asks for.
    #[error("{name}:{line}:{column}: expected {expected}, found {found}{}", in_brackets(.remedy))]
    Malformed {
        /// The file, or how the reader was told to call its input.
        name: String,
        /// Line, counted from 1.
        line: u64,
        /// Byte within the line, counted from 1.
        column: usize,
        /// What should have been there.
        expected: String,
        /// What was there; quoted input is escaped and cut.
        found: String,
        /// What to do about it, or nothing.
        remedy: &'static str,
    },
}

fn in_brackets(remedy: &str) -> String {
    if remedy.is_empty() {
        return String::new();
    }
    format!(" ({remedy})")
}

/// A [`TreebankError::Malformed`] without its file.
#[derive(Debug)]
pub(super) struct Fault {
    pub(super) line: u64,
    column: usize,
    expected: String,
    found: String,
    remedy: &'static str,
}

impl Fault {
    /// A fault at byte `before` (from 0) of a line, where `token` was found.
    pub(super) fn token(line: u64, before: usize, expected: &str, token: &[u8]) -> Self {
        let found = if token.is_empty() {
            "nothing".to_owned()
        } else {
            quote(token)
        };
        Self::new(line, before, expected, found)
    }

    pub(super) fn new(line: u64, before: usize, expected: &str, found: String) -> Self {
        Self {
            line,
            column: before + 1,
            expected: expected.to_owned(),
            found,
            remedy: "",
        }
    }

    pub(super) fn remedy(mut self, remedy: &'static str) -> Self {
        self.remedy = remedy;
        self
    }

    pub(super) fn of(self, name: &str) -> TreebankError {
        TreebankError::Malformed {
            name: name.to_owned(),
            line: self.line,
            column: self.column,
            expected: self.expected,
            found: self.found,
            remedy: self.remedy,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_end_at_blank_lines() {
        let numbers = |text: &str| -> Vec<Vec<u64>> {
            let blocks = Blocks::new(text.as_bytes());
            blocks
                .map(|block| block.iter().map(|line| line.number).collect())
                .collect()
        };
        assert_eq!(numbers("a\r\nb\n\r\n\n \nc"), [vec![1, 2], vec![6]]);
        assert!(numbers("\n\n").is_empty());
        let mut blocks = Blocks::new(b"\xef\xbb\xbfa\r\n");
        assert_eq!(blocks.next().unwrap()[0].bytes, b"a");
    }
}
