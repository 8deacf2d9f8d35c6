//! Tokens of a line: separated by spaces and tabs.

use super::error::{Fault, ReadErrorKind};
use super::number::{self, BadNumber};

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

/// The line without its comment, blanks at the end, and the carriage return of other systems.
pub(super) fn without_comment(line: &[u8]) -> &[u8] {
    let end = memchr::memchr(b'#', line).unwrap_or(line.len());
    trim_end(&line[..end])
}

pub(super) fn trim_end(line: &[u8]) -> &[u8] {
    let mut line = line.strip_suffix(b"\r").unwrap_or(line);
    while let [rest @ .., b' ' | b'\t'] = line {
        line = rest;
    }
    line
}

/// The label that starts at `at`, and where it ends.
pub(super) fn label(line: &[u8], at: usize) -> Result<(f64, usize), Fault> {
    const EXPECTED: &str = "a label, a decimal number";
    let end = end(line, at);
    let token = &line[at..end];
    let bad = |bad| match bad {
        BadNumber::Syntax => Fault::token(ReadErrorKind::Label, EXPECTED, at, token),
        BadNumber::NotFinite => not_finite("a finite label", at, token),
    };
    number::parse(token).map(|label| (label, end)).map_err(bad)
}

fn not_finite(expected: &'static str, at: usize, token: &[u8]) -> Fault {
    Fault::token(ReadErrorKind::NotFinite, expected, at, token)
}

/// An `index:value` pair as it is written.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Pair {
    pub(super) index: u64,
    pub(super) value: f64,
    pub(super) end: usize,
}

/// The pair that starts at `at`. An index past 64 bits is given as `u64::MAX`.
#[inline]
pub(super) fn pair(line: &[u8], at: usize) -> Result<Pair, Fault> {
    let Some((index, colon)) = index(line, at) else {
        return Err(no_pair(line, at));
    };
    if let Some((value, length)) = number::short(&line[colon + 1..]) {
        let end = colon + 1 + length;
        if ends(line, end) {
            return Ok(Pair { index, value, end });
        }
    }
    long_pair(line, at, index, colon)
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

#[cold]
fn long_pair(line: &[u8], at: usize, index: u64, colon: usize) -> Result<Pair, Fault> {
    const EXPECTED: &str = "a value, a decimal number, after the colon";
    let end = end(line, at);
    let token = &line[at..end];
    match number::parse(&line[colon + 1..end]) {
        Ok(value) => Ok(Pair { index, value, end }),
        Err(BadNumber::Syntax) => Err(Fault::token(ReadErrorKind::Value, EXPECTED, at, token)),
        Err(BadNumber::NotFinite) => Err(not_finite("a finite value", at, token)),
    }
}

#[cold]
fn no_pair(line: &[u8], at: usize) -> Fault {
    let token = &line[at..end(line, at)];
    if token.starts_with(b"qid:") {
        let expected = "the query identifier once, right after the label";
        return Fault::token(ReadErrorKind::QueryIdPlace, expected, at, token);
    }
    Fault::token(ReadErrorKind::Pair, "a pair index:value", at, token)
}

/// Why `index` cannot come next in a row whose indices start at `first` or, after the index
/// `before`, above it.
#[cold]
pub(super) fn bad_index(pair: &[u8], at: usize, index: u64, before: Option<u64>) -> Fault {
    let fault = |kind, expected| Fault::token(kind, expected, at, pair);
    match before {
        _ if index > LARGEST_INDEX => fault(
            ReadErrorKind::IndexTooLarge,
            format!("an index of at most {LARGEST_INDEX}"),
        ),
        Some(before) if index == before => fault(
            ReadErrorKind::RepeatedIndex,
            format!("each index once in a row, and {before} was there already"),
        ),
        Some(before) => fault(
            ReadErrorKind::FallingIndex,
            format!("an index above {before}, the one before it"),
        )
        .remedy("sort the pairs of each row by index"),
        None => fault(
            ReadErrorKind::ZeroIndex,
            "indices that count from 1".to_owned(),
        )
        .remedy("if the file counts its columns from 0, pass --zero-based"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_end_before_comments_and_blanks() {
        assert_eq!(without_comment(b"1 2:3 # x # y"), b"1 2:3");
        assert_eq!(without_comment(b"1 2:3#x\r"), b"1 2:3");
        assert_eq!(without_comment(b"1 2:3 \t\r"), b"1 2:3");
        assert_eq!(without_comment(b" # only"), b"");
        assert_eq!(without_comment(b"a\rb\r\r"), b"a\rb\r");
    }

    #[test]
    fn pairs_end_at_blanks() {
        let pair = |line: &[u8]| pair(line, 0);
        let whole = |index, value, end| Pair { index, value, end };
        assert_eq!(pair(b"3:0.5 4:1").unwrap(), whole(3, 0.5, 5));
        assert_eq!(pair(b"3:-1e-2\t").unwrap(), whole(3, -0.01, 7));
        assert_eq!(pair(b"003:+1").unwrap(), whole(3, 1.0, 6));
        assert_eq!(
            pair(b"18446744073709551616:1").unwrap(),
            whole(u64::MAX, 1.0, 22)
        );
    }

    #[test]
    fn each_fault_has_its_kind() {
        use ReadErrorKind::{NotFinite, Pair, QueryIdPlace, Value};
        for (token, kind) in [
            (&b"abc"[..], Pair),
            (b"3", Pair),
            (b":3", Pair),
            (b"-1:3", Pair),
            (b"+1:3", Pair),
            (b"1.5:3", Pair),
            (b"sid:1", Pair),
            (b"cost:2", Pair),
            (b"qid:2", QueryIdPlace),
            (b"3:", Value),
            (b"3:x", Value),
            (b"3:1x", Value),
            (b"3:1:2", Value),
            (b"3:0x1", Value),
            (b"3:1_0", Value),
            (b"3:nan", NotFinite),
            (b"3:-inf", NotFinite),
            (b"3:1e999", NotFinite),
        ] {
            assert_eq!(pair(token, 0).unwrap_err().kind, kind, "{token:?}");
        }
    }
}
