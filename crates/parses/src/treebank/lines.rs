//! Blocks of lines with blank lines between them.

use std::borrow::Cow;
use std::iter;

use rankrls_files::ReadError;
use rankrls_files::error::Fault;

/// A line of a text that messages call `name`, with its number, counted from 1, and without its end.
#[derive(Debug, Clone, Copy)]
pub(super) struct Line<'t> {
    name: &'t str,
    pub(super) number: u64,
    pub(super) bytes: &'t [u8],
}

impl<'t> Line<'t> {
    /// The line as text.
    pub(super) fn text(self) -> Result<&'t str, ReadError> {
        std::str::from_utf8(self.bytes).map_err(|error| {
            let at = error.valid_up_to();
            self.refuse(Fault::token("text in UTF-8", at, &self.bytes[at..]))
        })
    }

    /// The error of this line.
    pub(super) fn refuse(self, fault: Fault) -> ReadError {
        fault.at(self.name, self.number)
    }

    /// The error of a `field` that begins at byte `before`, counted from 0.
    pub(super) fn refuse_field(
        self,
        before: usize,
        expected: impl Into<Cow<'static, str>>,
        field: &str,
    ) -> ReadError {
        self.refuse(match field {
            "" => Fault::new(expected, "nothing").at_column(before + 1),
            _ => Fault::token(expected, before, field.as_bytes()),
        })
    }

    fn is_blank(&self) -> bool {
        self.bytes.iter().all(u8::is_ascii_whitespace)
    }
}

/// The blocks of a text that messages call `name`.
pub(super) fn blocks<'t>(text: &'t [u8], name: &'t str) -> impl Iterator<Item = Vec<Line<'t>>> {
    let text = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text);
    let lines = (1..).zip(text.split(|&byte| byte == b'\n'));
    let mut lines = lines.map(move |(number, bytes)| Line {
        name,
        number,
        bytes: bytes.strip_suffix(b"\r").unwrap_or(bytes),
    });
    iter::from_fn(move || {
        let first = lines.find(|line| !line.is_blank())?;
        let others = lines.by_ref().take_while(|line| !line.is_blank());
        Some(iter::once(first).chain(others).collect())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_end_at_blank_lines() {
        let numbers = |text: &str| -> Vec<Vec<u64>> {
            blocks(text.as_bytes(), "f")
                .map(|block| block.iter().map(|line| line.number).collect())
                .collect()
        };
        assert_eq!(numbers("a\r\nb\n\r\n\n \nc"), [vec![1, 2], vec![6]]);
        assert!(numbers("\n\n").is_empty());
        let mut blocks = blocks(b"\xef\xbb\xbfa\r\n", "f");
        assert_eq!(blocks.next().unwrap()[0].bytes, b"a");
    }
}
