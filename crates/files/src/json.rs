//! JSON that a terminal can show, whatever text is in it.

use std::io::{self, Write};

use serde::Serialize;

use crate::error::is_unsafe;

/// Writes a `document` over several lines. Escapes control characters and marks that turn the direction of text: no
/// name moves a cursor, and the document reads back the same.
pub fn write_json(mut writer: impl Write, document: &impl Serialize) -> io::Result<()> {
    serde_json::to_writer_pretty(Escaping(&mut writer), document)?;
    writeln!(writer)
}

/// Escapes characters that only stand in strings of JSON.
struct Escaping<W>(W);

impl<W: Write> Write for Escaping<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.write_all(bytes)?;
        Ok(bytes.len())
    }

    /// Writes whole characters.
    fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        if bytes.is_ascii() && !bytes.contains(&0x7f) {
            return self.0.write_all(bytes);
        }
        let text = std::str::from_utf8(bytes).map_err(io::Error::other)?;
        let mut rest = text;
        while let Some(at) = rest.find(|char| char != '\n' && is_unsafe(char)) {
            let (before, after) = rest.split_at(at);
            self.0.write_all(before.as_bytes())?;
            let mut chars = after.chars();
            for unit in chars
                .next()
                .iter()
                .flat_map(|char| char.encode_utf16(&mut [0; 2]).to_vec())
            {
                write!(self.0, "\\u{unit:04x}")?;
            }
            rest = chars.as_str();
        }
        self.0.write_all(rest.as_bytes())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_in_json_moves_no_cursor_and_reads_back() {
        let hostile =
            "ü\u{1b}[2J\u{7f}\u{9b}31m\u{202e}a\u{2066}\u{61c}\u{2028}\n\r\u{200f}日\u{1f600}";
        let document = [hostile, "plain", ""];
        let mut text = Vec::new();
        write_json(&mut text, &document).unwrap();
        let text = String::from_utf8(text).unwrap();
        assert!(
            !text.chars().any(|char| char != '\n' && is_unsafe(char)),
            "{text}"
        );
        assert!(text.contains("ü") && text.contains("\\u202e") && text.contains("日\u{1f600}"));
        assert_eq!(
            serde_json::from_str::<[String; 3]>(&text).unwrap(),
            document
        );
    }
}
