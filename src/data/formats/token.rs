//! Tokens of a line, separated by spaces and tabs, and decimal numbers.
//!
//! Most numbers in data are short: up to 15 digits with a point somewhere. Both
//! the digits as an integer (below 10^15 < 2^53) and the power of ten (at most
//! 10^15 < 10^22) are floats without error then, so that one division gives the
//! correctly rounded value (Clinger, "How to read floating point numbers
//! accurately", 1990). Everything else goes through `fast_float2`.

use rankrls_files::Remedy;
use rankrls_files::error::{Fault, quote};

use super::words::{is_missing, with_cause};

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
            // A pair in its place is no time.
            _ if token.contains(&b':') => fault(format!("a {what}, a decimal number")),
            _ => with_cause(fault(format!("a {what}, a decimal number")), token),
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
            let fault = bad.fault(written, quote(&line[at..end]), EXPECTED, "value");
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
    let fault = Fault::token("a pair index:value", at, token);
    if token.contains(&b':') || number(token).is_err() {
        return fault;
    }
    fault.remedy("write cells as pairs index:value, or the data as a table with a header, .csv")
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

/// Digits that an exact division can take.
const DIGITS: usize = 15;

const POWERS: [f64; DIGITS + 1] = [
    1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
];

/// Why a token is no number that can be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum BadNumber {
    /// It is none.
    Syntax,
    /// It is nan, infinite, or overflows to infinity.
    NotFinite,
    /// It is a number by which programs say that a value is missing.
    Marker,
    /// Its square is out of the range of numbers.
    TooLarge,
}

impl BadNumber {
    /// Whether the `word` means that a value is missing.
    pub(super) fn is_missing(self, word: &[u8]) -> bool {
        self == Self::Marker || is_missing(word)
    }

    /// The fault of `what` is `written` so, `found` in messages, where a number was `expected`.
    pub(super) fn fault(self, written: &[u8], found: String, expected: &str, what: &str) -> Fault {
        match self {
            Self::Marker => {
                let found = format!("{found}, which stands for a missing value");
                Fault::new(format!("a {what}"), found).remedy(Remedy::ReadMissing)
            }
            Self::TooLarge => Fault::new(format!("a {what} whose square is finite"), found)
                .remedy("scale the data: write the column in another unit"),
            _ if is_missing(written) => {
                let finite = match self {
                    Self::NotFinite => format!("a finite {what}"),
                    _ => expected.to_owned(),
                };
                Fault::new(finite, found).remedy(Remedy::ReadMissing)
            }
            Self::NotFinite => Fault::new(format!("a finite {what}"), found),
            Self::Syntax => with_cause(Fault::new(expected.to_owned(), found), written),
        }
    }
}

/// The largest value whose square is a number.
const LARGEST: f64 = 1.340_780_792_994_259_6e154;

/// The value of a feature, if it can be computed with and is none by which programs say that there is
/// none.
#[inline]
pub(super) fn checked(value: f64) -> Result<f64, BadNumber> {
    let size = value.abs();
    if size < 9.969e36 {
        return Ok(value);
    }
    let markers = [
        9.9692e36..9.9693e36,
        3.4028e38..3.4029e38,
        1e300..f64::INFINITY,
    ];
    if markers.iter().any(|marker| marker.contains(&size)) {
        return Err(BadNumber::Marker);
    }
    if size > LARGEST {
        return Err(BadNumber::TooLarge);
    }
    Ok(value)
}

/// The value of a feature that the whole of `token` is.
pub(super) fn value(token: &[u8]) -> Result<f64, BadNumber> {
    number(token).and_then(checked)
}

/// The unsigned number at the start of `text` and its length, if it has at most 15 digits and
/// perhaps a point; what comes after it is not looked at.
#[inline]
fn short(text: &[u8]) -> Option<(f64, usize)> {
    let mut mantissa = 0;
    let whole = digits(text, &mut mantissa);
    if text.get(whole) != Some(&b'.') {
        return (1..=DIGITS)
            .contains(&whole)
            .then_some((mantissa as f64, whole));
    }
    let fraction = digits(&text[whole + 1..], &mut mantissa);
    (1..=DIGITS)
        .contains(&(whole + fraction))
        .then(|| (mantissa as f64 / POWERS[fraction], whole + 1 + fraction))
}

/// Appends the leading digits of `text` to `mantissa`, which wraps, and counts them.
#[inline]
fn digits(text: &[u8], mantissa: &mut u64) -> usize {
    let mut count = 0;
    while let Some(digit) = text.get(count).map(|byte| byte.wrapping_sub(b'0'))
        && digit < 10
    {
        *mantissa = mantissa.wrapping_mul(10).wrapping_add(u64::from(digit));
        count += 1;
    }
    count
}

/// The number that the whole of `token` is: an optional sign, digits with an optional point,
/// an optional exponent.
pub(super) fn number(token: &[u8]) -> Result<f64, BadNumber> {
    let without_plus = token.strip_prefix(b"+").unwrap_or(token);
    let (negative, unsigned) = match without_plus.strip_prefix(b"-") {
        // "+-1" is no number.
        Some(_) if token[0] == b'+' => return Err(BadNumber::Syntax),
        Some(rest) => (true, rest),
        None => (false, without_plus),
    };
    let magnitude = match short(unsigned) {
        Some((value, length)) if length == unsigned.len() => value,
        _ => long(unsigned)?,
    };
    Ok(if negative { -magnitude } else { magnitude })
}

fn long(unsigned: &[u8]) -> Result<f64, BadNumber> {
    let named = ["nan", "inf", "infinity"];
    if named
        .iter()
        .any(|name| unsigned.eq_ignore_ascii_case(name.as_bytes()))
    {
        return Err(BadNumber::NotFinite);
    }
    if !unsigned
        .first()
        .is_some_and(|&byte| byte == b'.' || byte.is_ascii_digit())
    {
        return Err(BadNumber::Syntax);
    }
    let value: f64 = fast_float2::parse(unsigned).map_err(|_| BadNumber::Syntax)?;
    if value.is_finite() {
        Ok(value)
    } else {
        Err(BadNumber::NotFinite)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

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

    #[test]
    fn decimal_and_scientific_numbers_are_read() {
        for (text, value) in [
            ("0", 0.0),
            ("1", 1.0),
            ("+1.5", 1.5),
            ("-2.25", -2.25),
            ("1.", 1.0),
            (".5", 0.5),
            ("-.5e1", -5.0),
            ("1e3", 1000.0),
            ("1E+3", 1000.0),
            ("12e-1", 1.2),
            ("007", 7.0),
            ("0.594594594595", 0.594_594_594_595),
            (
                "123456789012345678901234567890",
                123_456_789_012_345_678_901_234_567_890.0,
            ),
            ("1e-999", 0.0),
            ("4.9e-324", 4.9e-324),
            ("1.7976931348623157e308", f64::MAX),
        ] {
            assert_eq!(number(text.as_bytes()), Ok(value), "{text}");
        }
        assert!(number(b"-0").unwrap().is_sign_negative());
    }

    #[test]
    fn everything_else_is_refused() {
        for text in [
            "", ".", "-", "+", "e5", "1e", "1e+", "--1", "+-1", "-+1", "++1", "0x10", "1_0", "1,5",
            "1.2.3", "1 ", " 1", "abc", "1f", "-.", "1e5.5", "nano", "infinit",
        ] {
            assert_eq!(number(text.as_bytes()), Err(BadNumber::Syntax), "{text:?}");
        }
        for text in [
            "nan",
            "NaN",
            "-nan",
            "inf",
            "+Inf",
            "-infinity",
            "1e999",
            "-1e400",
        ] {
            assert_eq!(
                number(text.as_bytes()),
                Err(BadNumber::NotFinite),
                "{text:?}"
            );
        }
    }

    #[test]
    fn short_numbers_stop_at_what_follows() {
        assert_eq!(short(b"12 3"), Some((12.0, 2)));
        assert_eq!(short(b"1.50e4"), Some((1.5, 4)));
        assert_eq!(short(b"1234567890123456"), None);
        assert_eq!(short(b"123456789012345.5"), None);
        assert_eq!(short(b"12345678901234.5"), Some((12_345_678_901_234.5, 16)));
        assert_eq!(short(b"."), None);
        assert_eq!(short(b""), None);
    }

    #[test]
    fn numbers_that_stand_for_none_are_told_from_values() {
        for text in [
            "1.7976931348623157e308",
            "-1.797e308",
            "1.797e+308",
            "1e300",
            "3.4028235e38",
            "-3.4028234663852886e+38",
            "3.40282347E38",
            "-3.4028231e38",
            "3.402823e38",
            "9.96921e36",
            "9.969209968386869e+36",
            "340282346638528859811704183484516925440",
        ] {
            assert_eq!(value(text.as_bytes()), Err(BadNumber::Marker), "{text}");
            assert!(number(text.as_bytes()).is_ok());
        }
        for text in ["1e155", "-9e299", "1.3407807929942598e154"] {
            assert_eq!(value(text.as_bytes()), Err(BadNumber::TooLarge), "{text}");
        }
        for sound in [
            0.0,
            -999.0,
            1e20,
            1e36,
            1e37,
            3.4e38,
            3.41e38,
            1e100,
            LARGEST,
            f64::MIN_POSITIVE,
        ] {
            assert_eq!(checked(sound), Ok(sound));
            assert_eq!(checked(-sound), Ok(-sound));
            assert!((sound * sound).is_finite());
        }
    }

    /// To the last bit as the standard library reads it.
    fn check(text: &str) {
        let expected: f64 = text.parse().unwrap();
        assert_eq!(
            number(text.as_bytes()).map(f64::to_bits),
            Ok(expected.to_bits()),
            "{text}"
        );
    }

    proptest! {
        #[test]
        fn agrees_with_the_standard_library(text in r"[+-]?[0-9]{1,18}(\.[0-9]{0,18})?(e[+-]?[0-9]{1,2})?") {
            check(&text);
        }

        #[test]
        fn short_decimals_agree(text in r"[+-]?[0-9]{0,8}\.[0-9]{1,8}") {
            check(&text);
        }

        #[test]
        fn the_shortest_form_reads_back(value in proptest::num::f64::NORMAL | proptest::num::f64::SUBNORMAL) {
            check(&value.to_string());
            check(&format!("{value:e}"));
        }
    }
}
