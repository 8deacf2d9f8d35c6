//! Blocks of lines between blank lines.

use std::borrow::Cow;
use std::iter;

use rankrls_files::ReadError;
use rankrls_files::error::Fault;
use rankrls_files::text::{checked, lines, utf8};

/// A line of a text that messages call `name`, without its end, and its number from 1.
#[derive(Debug, Clone, Copy)]
pub(super) struct Line<'t> {
    name: &'t str,
    pub(super) number: u64,
    pub(super) bytes: &'t [u8],
}

impl<'t> Line<'t> {
    /// The line as text.
    pub(super) fn text(self) -> Result<&'t str, ReadError> {
        let text = checked(self.bytes).and_then(|line| utf8(line, 0, "text in UTF-8"));
        text.map_err(|fault| self.refuse(fault))
    }

    /// The error of this line.
    pub(super) fn refuse(self, fault: Fault) -> ReadError {
        fault.at(self.name, self.number)
    }

    /// The error of a `field` that begins at byte `before`, from 0.
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
    let numbered = (1..).zip(lines(text));
    // Concatenated files may each begin with a byte order mark.
    let mut lines = numbered.map(move |(number, bytes)| Line {
        name,
        number,
        bytes: bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes),
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
        assert_eq!(
            numbers("a\r\r\nb\r\r\n\r\r\n\r\r\nc\r"),
            [vec![1, 2], vec![5]]
        );
        assert!(numbers("\n\n").is_empty());
        let first = |text| blocks(text, "f").next().unwrap()[0];
        assert_eq!(first(b"\xef\xbb\xbfa\r\n").bytes, b"a");
        let mark = "\u{feff}";
        assert_eq!(
            numbers(&format!("{mark}a\n{mark}\n{mark}b\n{mark}c\n")),
            [vec![1], vec![3, 4]]
        );
        for (text, message) in [
            (
                &b"# a\r1\tb\r"[..],
                "f:1:4: expected lines that end in LF or CR LF, found CR alone",
            ),
            (b"# a\0", "f:1:4: expected text, found a NUL byte"),
            (b"# \xff", "f:1:3: expected text in UTF-8, found \"\\xff\""),
        ] {
            let error = first(text).text().unwrap_err().to_string();
            assert!(error.starts_with(message), "{error}");
        }
    }
}
