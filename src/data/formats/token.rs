//! Tokens of a line, separated by spaces and tabs, and their faults.

use rankrls_files::Remedy;
use rankrls_files::error::{Fault, quote};

use super::number::{BadNumber, has_decimal_comma, is_missing, number, short, value};

/// The largest index that can be written: 0-based features fit in 32 bits, and so does their
/// number.
pub(in crate::data) const LARGEST_INDEX: u64 = u32::MAX as u64 - 1;

pub(super) fn is_space(byte: u8) -> bool {
    byte == b' ' || byte == b'\t'
}

/// The position of the next token in `line` at or after `at`; the end of the line without one.
#[inline]
pub(super) fn start(line: &[u8], mut at: usize) -> usize {
    while line.get(at).is_some_and(|&byte| is_space(byte)) {
        at += 1;
    }
    at
}

/// The end of the token that starts at `at`.
pub(super) fn end(line: &[u8], at: usize) -> usize {
    let length = line[at..].iter().position(|&byte| is_space(byte));
    length.map_or(line.len(), |length| at + length)
}

#[inline]
fn ends(line: &[u8], at: usize) -> bool {
    line.get(at).is_none_or(|&byte| is_space(byte))
}

/// The line without its comment and blanks at the end.
pub(super) fn without_comment(line: &[u8]) -> &[u8] {
    let mut at = 0;
    while let Some(length) = memchr::memchr(b'#', &line[at..]) {
        at += length;
        if !is_windows_nan(&line[..at], &line[at..]) {
            return trim_end(&line[..at]);
        }
        at += 1;
    }
    trim_end(line)
}

/// Whether a `#` belongs to a nan or infinite number, as old programs on Windows write them: `-1.#IND`,
/// also with digits after it.
fn is_windows_nan(before: &[u8], from: &[u8]) -> bool {
    const NAMES: [&[u8]; 4] = [b"#IND", b"#QNAN", b"#SNAN", b"#INF"];
    before.ends_with(b"1.") && NAMES.iter().any(|name| from.starts_with(name))
}

pub(super) fn trim_end(line: &[u8]) -> &[u8] {
    let mut line = line;
    while let [rest @ .., b' ' | b'\t'] = line {
        line = rest;
    }
    line
}

/// The decimal number that starts at `at`, `what` messages call it, and where it ends.
pub(super) fn decimal(line: &[u8], at: usize, what: &str) -> Result<(f64, usize), Fault> {
    let end = end(line, at);
    let token = &line[at..end];
    let bad = |bad| {
        let fault = |expected| Fault::token(expected, at, token);
        match bad {
            BadNumber::NotFinite => fault(format!("a finite {what}")),
            _ => with_point(fault(format!("a {what}, a decimal number")), token),
        }
    };
    number(token).map(|number| (number, end)).map_err(bad)
}

/// The decimal number that a line is, `what` messages call it.
pub(super) fn only_decimal(line: &[u8], what: &str) -> Result<f64, Fault> {
    let line = trim_end(line);
    let (number, end) = decimal(line, start(line, 0), what)?;
    nothing_after(line, end, what)?;
    Ok(number)
}

/// Refuses what follows from `end` on in a line of one `item`.
pub(super) fn nothing_after(line: &[u8], end: usize, item: &str) -> Result<(), Fault> {
    let at = start(line, end);
    match &line[at..] {
        [] => Ok(()),
        more => Err(Fault::token(format!("one {item} a line"), at, more)),
    }
}

/// The identifier of a query, which begins at `at` of its line; where it is empty, messages say that
/// `none` was found.
pub(super) fn query_id<'t>(id: &'t [u8], at: usize, none: &str) -> Result<&'t str, Fault> {
    if id.is_empty() {
        return Err(Fault::new("a query identifier", none).at_column(at + 1));
    }
    let expected = "a query identifier in UTF-8";
    std::str::from_utf8(id).map_err(|_| Fault::new(expected, quote(id)).at_column(at + 1))
}

/// An `index:value` pair as it is written.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Pair {
    pub(super) index: u64,
    pub(super) value: f64,
    pub(super) end: usize,
}

/// The pair that starts at `at`, with `missing` for a value that is. An index past 64 bits is given
/// as `u64::MAX`.
#[inline]
pub(super) fn pair(line: &[u8], at: usize, missing: Option<f64>) -> Result<Pair, Fault> {
    let Some((index, colon)) = index(line, at) else {
        return Err(no_pair(line, at));
    };
    if let Some((value, length)) = short(&line[colon + 1..]) {
        let end = colon + 1 + length;
        if ends(line, end) {
            return Ok(Pair { index, value, end });
        }
    }
    long_pair(line, at, (index, colon), missing)
}

/// The number at `at` and the position of the colon after it.
#[inline]
fn index(line: &[u8], at: usize) -> Option<(u64, usize)> {
    let mut index = 0u64;
    let mut end = at;
    while let Some(digit) = line.get(end).map(|byte| byte.wrapping_sub(b'0'))
        && digit < 10
    {
        index = index.saturating_mul(10).saturating_add(u64::from(digit));
        end += 1;
    }
    (end > at && line.get(end) == Some(&b':')).then_some((index, end))
}

fn long_pair(
    line: &[u8],
    at: usize,
    (index, colon): (u64, usize),
    missing: Option<f64>,
) -> Result<Pair, Fault> {
    const EXPECTED: &str = "a value, a decimal number, after the colon";
    let end = end(line, at);
    let written = &line[colon + 1..end];
    match (value(written), missing) {
        (Ok(value), _) => Ok(Pair { index, value, end }),
        // Nothing at all is no word for it.
        (Err(_), _) if written.is_empty() => Err(Fault::token(EXPECTED, at, &line[at..end])),
        (Err(bad), Some(value)) if bad.is_missing(written) => Ok(Pair { index, value, end }),
        (Err(bad), _) => {
            let fault = no_number(bad, written, quote(&line[at..end]), EXPECTED, "value");
            Err(fault.at_column(at + 1))
        }
    }
}

#[cold]
fn no_pair(line: &[u8], at: usize) -> Fault {
    let token = &line[at..end(line, at)];
    if token.starts_with(b"qid:") {
        let expected = "the query identifier once, right after the label";
        return Fault::token(expected, at, token);
    }
    Fault::token("a pair index:value", at, token)
}

/// Why `index` cannot come next in a row whose indices start at `first` or, after the index
/// `before`, above it.
#[cold]
pub(super) fn bad_index(pair: &[u8], at: usize, index: u64, before: Option<u64>) -> Fault {
    let fault = |expected: String| Fault::token(expected, at, pair);
    match before {
        _ if index > LARGEST_INDEX => fault(format!("an index of at most {LARGEST_INDEX}")),
        Some(before) if index == before => fault(format!(
            "each index once in a row, and {before} was there already"
        )),
        Some(before) => fault(format!("an index above {before}, the one before it"))
            .remedy("sort the pairs of each row by index"),
        None => fault("indices that count from 1".to_owned()).remedy(Remedy::CountFromZero),
    }
}

/// The fault of what is `written` so, `found` in messages, where a number of the kind `what` was `expected`.
pub(super) fn no_number(
    bad: BadNumber,
    written: &[u8],
    found: String,
    expected: &str,
    what: &str,
) -> Fault {
    match bad {
        BadNumber::Marker => {
            let found = format!("{found}, which stands for a missing value");
            Fault::new(format!("a {what}"), found).remedy(Remedy::ReadMissing)
        }
        BadNumber::TooLarge => Fault::new(format!("a {what} whose square is finite"), found)
            .remedy("scale the data: write the column in another unit"),
        _ if is_missing(written) => {
            let finite = match bad {
                BadNumber::NotFinite => format!("a finite {what}"),
                _ => expected.to_owned(),
            };
            Fault::new(finite, found).remedy(Remedy::ReadMissing)
        }
        BadNumber::NotFinite => Fault::new(format!("a finite {what}"), found),
        BadNumber::Syntax => with_point(Fault::new(expected.to_owned(), found), written),
    }
}

/// The `fault` of something `written` where a number should be, with a remedy where it has a decimal comma.
pub(super) fn with_point(fault: Fault, written: &[u8]) -> Fault {
    if has_decimal_comma(written) {
        fault.remedy("write a decimal point, not a comma")
    } else {
        fault
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_end_before_comments_and_blanks() {
        assert_eq!(without_comment(b"1 2:3 # x # y"), b"1 2:3");
        assert_eq!(without_comment(b"1 2:3#x"), b"1 2:3");
        assert_eq!(without_comment(b"1 2:3 \t"), b"1 2:3");
        assert_eq!(without_comment(b" # only"), b"");
        // A nan of old programs on Windows is no comment.
        assert_eq!(
            without_comment(b"1 2:-1.#IND00 3:4 # x"),
            b"1 2:-1.#IND00 3:4"
        );
        assert_eq!(without_comment(b"1 2:1.#x"), b"1 2:1.");
    }

    #[test]
    fn pairs_end_at_blanks() {
        let pair = |line: &[u8]| pair(line, 0, None);
        let whole = |index, value, end| Pair { index, value, end };
        assert_eq!(pair(b"3:0.5 4:1").unwrap(), whole(3, 0.5, 5));
        assert_eq!(pair(b"3:-1e-2\t").unwrap(), whole(3, -0.01, 7));
        assert_eq!(pair(b"003:+1").unwrap(), whole(3, 1.0, 6));
        assert_eq!(
            pair(b"18446744073709551616:1").unwrap(),
            whole(u64::MAX, 1.0, 22)
        );
    }
}
