//! Lines of a table, cut into cells. A quoted cell with line breaks spans several lines.

use std::borrow::Cow;

use rankrls_files::error::{Fault, quote};
use rankrls_files::text::{checked, is_plain};

/// A cell of a record.
pub(in crate::data) struct Cell<'l> {
    /// Its first byte, from 1 on.
    pub(super) column: usize,
    pub(in crate::data) text: Cow<'l, [u8]>,
}

/// The cells of a record with closed quotes.
pub(in crate::data) fn cells(record: &[u8], delimiter: u8) -> Result<Vec<Cell<'_>>, Fault> {
    let (mut cells, mut at) = (Vec::new(), 0);
    let plain = is_plain(record);
    loop {
        let (rest, column) = (&record[at..], at + 1);
        let (text, length) = if rest.first() == Some(&b'"') {
            quoted(rest).map_err(|fault| fault.at_column(column))?
        } else {
            let end = memchr::memchr(delimiter, rest).unwrap_or(rest.len());
            (Cow::Borrowed(&rest[..end]), end)
        };
        if !plain {
            check(&record[at..at + length], at)?;
        }
        cells.push(Cell { column, text });
        at += length;
        match record.get(at) {
            None => return Ok(cells),
            Some(&byte) if byte == delimiter => at += 1,
            Some(_) => return Err(goes_on_after_quote(record, column - 1, at)),
        }
    }
}

/// The fault of a cell that begins at `start` and goes on after its closing quote, at byte `at` of the record. If
/// that is on another line, the opening quote may be stray.
fn goes_on_after_quote(record: &[u8], start: usize, at: usize) -> Fault {
    if record[start..at].contains(&b'\n') {
        return takes_rows(record, start + 1);
    }
    let expected = "nothing between a closing quote and the end of its cell";
    let remedy = "a cell that begins with a quote ends with one, and has two for each in its text";
    Fault::new(expected, quote(&record[at..]))
        .remedy(remedy)
        .at_column(at + 1)
}

/// The fault of a quote in this `column` that may join rows in its cell.
pub(super) fn takes_rows(record: &[u8], column: usize) -> Fault {
    let fault = Fault::new("a closing quote", quote(&record[column - 1..]));
    let fault = fault
        .remedy("the quote may take rows into its cell: if it is right, write no line break there");
    fault.at_column(column)
}

/// Refuses bytes that no text has, in a cell that begins after `before` bytes. A quoted cell may have CR as line
/// breaks.
fn check(cell: &[u8], before: usize) -> Result<(), Fault> {
    let (at, odd) = match memchr::memchr(0, cell) {
        _ if cell.first() != Some(&b'"') => (0, cell),
        Some(at) => (at, &cell[at..=at]),
        None => return Ok(()),
    };
    checked(odd).map(|_| ()).map_err(|fault| {
        let within = fault.column;
        fault.at_column(before + at + within)
    })
}

/// The text of the cell that begins with a quote, and its length with both quotes.
fn quoted(rest: &[u8]) -> Result<(Cow<'_, [u8]>, usize), Fault> {
    let mut text = Cow::Borrowed(&rest[..0]);
    let mut at = 1;
    loop {
        let Some(length) = memchr::memchr(b'"', &rest[at..]) else {
            return Err(Fault::new("a closing quote", quote(rest)));
        };
        let (part, end) = (&rest[at..at + length], at + length + 1);
        if text.is_empty() {
            text = Cow::Borrowed(part);
        } else {
            text.to_mut().extend_from_slice(part);
        }
        if rest.get(end) != Some(&b'"') {
            return Ok((text, end));
        }
        // Two quotes stand for one.
        text.to_mut().push(b'"');
        at = end + 1;
    }
}

/// Whether the record continues after the line. `at` begins a cell, or lies `within` quotes.
fn goes_on(line: &[u8], mut at: usize, delimiter: u8, mut within: bool) -> bool {
    loop {
        if within {
            let Some(length) = memchr::memchr(b'"', &line[at..]) else {
                return true;
            };
            at += length + 1;
            if line.get(at) == Some(&b'"') {
                at += 1;
                continue;
            }
            within = false;
        } else if line.get(at) == Some(&b'"') {
            (at, within) = (at + 1, true);
            continue;
        }
        match memchr::memchr(delimiter, &line[at..]) {
            None => return false,
            Some(length) => at += length + 1,
        }
    }
}

/// Joins the lines of a table to records.
pub(super) struct Records {
    pub(super) delimiter: u8,
    /// The lines of an unfinished record.
    open: Vec<u8>,
    /// The first line of that record.
    began: Option<u64>,
}

impl Records {
    pub(super) fn new(delimiter: u8) -> Self {
        Self {
            delimiter,
            open: Vec::new(),
            began: None,
        }
    }

    /// Whether the next line begins a record.
    pub(super) fn at_start(&self) -> bool {
        self.began.is_none()
    }

    /// Bytes of an unfinished record.
    pub(super) fn held(&self) -> u64 {
        self.open.len() as u64
    }

    /// The record that ends with `line`, which has this `number`, and its first line. `None` if the record
    /// continues.
    pub(super) fn next<'l>(&mut self, number: u64, line: &'l [u8]) -> Option<(u64, Cow<'l, [u8]>)> {
        let Some(began) = self.began else {
            if !goes_on(line, 0, self.delimiter, false) {
                return Some((number, Cow::Borrowed(line)));
            }
            (self.open, self.began) = (line.to_vec(), Some(number));
            return None;
        };
        self.open.push(b'\n');
        let at = self.open.len();
        self.open.extend_from_slice(line);
        if goes_on(&self.open, at, self.delimiter, true) {
            return None;
        }
        self.began = None;
        Some((began, Cow::Owned(std::mem::take(&mut self.open))))
    }

    /// The fault of a record without an end, and its line.
    pub(super) fn unclosed(&self) -> Option<(u64, Fault)> {
        let fault = cells(&self.open, self.delimiter).err()?;
        Some(placed(fault, self.began?, &self.open))
    }
}

/// The line of a fault in a record that `began` on that line, and the fault with its place in the line.
pub(super) fn placed(fault: Fault, began: u64, record: &[u8]) -> (u64, Fault) {
    let before = &record[..(fault.column - 1).min(record.len())];
    let breaks = memchr::memchr_iter(b'\n', before).count() as u64;
    let line = memchr::memrchr(b'\n', before).map_or(0, |at| at + 1);
    let column = fault.column - line;
    (began + breaks, fault.at_column(column))
}

/// A cell without the quotes around it.
fn unquoted(cell: &[u8]) -> &[u8] {
    let inner = cell
        .strip_prefix(b"\"")
        .and_then(|cell| cell.strip_suffix(b"\""));
    inner.unwrap_or(cell)
}

/// The separator that a first line for Excel names, such as `sep=;`.
pub(super) fn named_separator(line: &[u8]) -> Option<u8> {
    match unquoted(line.trim_ascii()) {
        [s, e, p, b'=', separator] if [*s, *e, *p].eq_ignore_ascii_case(b"sep") => {
            Some(*separator).filter(|byte| !byte.is_ascii_alphanumeric() && *byte != b'"')
        }
        // The tab at the end was trimmed like a blank.
        word if word.eq_ignore_ascii_case(b"sep=") && line.contains(&b'\t') => Some(b'\t'),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_are_read_as_they_are_written() {
        let line = br#"a,"b,c",,"d""e","""","",f"g,"#;
        let cells = cells(line, b',').unwrap().into_iter();
        let text = cells.map(|cell| String::from_utf8(cell.text.into_owned()).unwrap());
        let expected = ["a", "b,c", "", "d\"e", "\"", "", "f\"g", ""];
        assert_eq!(text.collect::<Vec<_>>(), expected);
    }
}
