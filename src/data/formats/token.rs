//! Tokens of a line, separated by spaces and tabs, and decimal numbers.
//!
//! Most numbers in data are short: up to 15 digits with a point somewhere. Both
//! the digits as an integer (below 10^15 < 2^53) and the power of ten (at most
//! 10^15 < 10^22) are floats without error then, so that one division gives the
//! correctly rounded value (Clinger, "How to read floating point numbers
//! accurately", 1990). Everything else goes through `fast_float2`.

use super::Remedy;
use super::error::{Fault, quote};
use rankrls_files::text::utf8;

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
    utf8(id, at, "a query identifier in UTF-8")
}

/// An `index:value` pair as it is written.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Pair {
    pub(super) index: u64,
    pub(super) value: f64,
    pub(super) end: usize,
}

/// Whether a word means that a value is missing: an empty cell, and the words of pandas, R, Julia,
/// databases and statistics programs, in capitals or not.
pub(super) fn is_missing(word: &[u8]) -> bool {
    const WORDS: [&str; 15] = [
        "", "NA", "N/A", "<NA>", "#N/A", "#NA", "#N/A N/A", "NaN", "-NaN", "+NaN", "NULL", "None",
        "NaT", "missing", "\\N",
    ];
    // Of SAS and Stata, and of data for Weka.
    let is = |other: &&str| word.eq_ignore_ascii_case(other.as_bytes());
    let known = word.len() <= 8 && WORDS.iter().any(is);
    known || matches!(word, b"." | b"?") || is_nan_of_windows(word)
}

/// Whether a word is a nan as old programs on Windows write it: `-1.#IND`, perhaps with digits after it.
fn is_nan_of_windows(word: &[u8]) -> bool {
    let word = word.strip_prefix(b"-").unwrap_or(word);
    let rest = word.strip_prefix(b"1.#").and_then(|name| {
        let rest = |nan: &&[u8]| name.strip_prefix(*nan);
        [&b"IND"[..], b"QNAN", b"SNAN"].iter().find_map(rest)
    });
    let digit = |byte: &u8| byte.is_ascii_digit() || matches!(byte, b'e' | b'+');
    rest.is_some_and(|rest| rest.iter().all(digit))
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
    let end = end(line, at);
    let written = &line[colon + 1..end];
    const EXPECTED: &str = "a value, a decimal number, after the colon";
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
///
/// # Errors
/// [`BadNumber::Marker`] for the largest numbers of 32 and 64 bits and `NetCDF`'s, in any rounding;
/// [`BadNumber::TooLarge`] from [`LARGEST`] on.
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

/// The `fault` of something `written` where a number should be, with what is wrong with it.
pub(super) fn with_cause(fault: Fault, written: &[u8]) -> Fault {
    match cause(written) {
        Some(remedy) => fault.remedy(remedy),
        None => fault,
    }
}

/// Why a number, or what stands for one, is not written as a number.
pub(super) fn cause(written: &[u8]) -> Option<&'static str> {
    const ERRORS: [&[u8]; 9] = [
        b"#NULL!",
        b"#DIV/0!",
        b"#VALUE!",
        b"#REF!",
        b"#NUM!",
        b"#NAME?",
        b"#SPILL!",
        b"#CALC!",
        b"#GETTING_DATA",
    ];
    const ABSENT: [&[u8]; 9] = [
        b"-", b"--", b"---", b"n.a.", b"n.d.", b"nil", b"unknown", b"void", b"empty",
    ];
    let is = |words: &[&[u8]]| words.iter().any(|word| written.eq_ignore_ascii_case(word));
    if is(&ERRORS) {
        return Some("an error of a spreadsheet: mend its formula");
    }
    if is(&ABSENT) || written == "\u{2013}".as_bytes() || written == "\u{2014}".as_bytes() {
        return Some("if it stands for a missing value, write NA");
    }
    let text = std::str::from_utf8(written).ok()?;
    if let Some(rest) = text.strip_prefix('\u{2212}') {
        return numeric(rest).then_some("write the sign as a hyphen, -");
    }
    if let Some(rest) = text.strip_suffix('%') {
        return numeric(rest.trim_end()).then_some("write the number without a percent sign");
    }
    let currency = |char: char| matches!(char, '$' | '\u{a2}'..='\u{a5}' | '\u{20a0}'..='\u{20cf}');
    let amount = text.trim_matches(|char: char| currency(char) || char.is_whitespace());
    let amount = amount
        .strip_prefix('-')
        .map_or(amount, |rest| rest.trim_start_matches(currency));
    if text.contains(currency) && numeric(amount) {
        return Some("write the number without a currency sign");
    }
    if let Some(rest) = text
        .strip_prefix('(')
        .and_then(|rest| rest.strip_suffix(')'))
    {
        return numeric(rest).then_some("write a number below 0 with a minus sign");
    }
    if is_date(text) {
        return Some("a date or time: write it as a number, such as days since a fixed day");
    }
    separators(text)
}

/// Whether these are digits, perhaps with a sign and separators of decimals or thousands.
fn numeric(text: &str) -> bool {
    number(text.as_bytes()).is_ok() || separators(text).is_some()
}

/// What is wrong with digits between which there are separators.
fn separators(text: &str) -> Option<&'static str> {
    let digits = text.strip_prefix(['-', '+']).unwrap_or(text);
    let group = |char: char| matches!(char, '\'' | '_' | '\u{2019}') || char.is_whitespace();
    let known = |char: char| char.is_ascii_digit() || matches!(char, ',' | '.') || group(char);
    if !digits.starts_with(|char: char| char.is_ascii_digit() || char == ',')
        || !digits.ends_with(|char: char| char.is_ascii_digit() || char == ',')
    {
        return None;
    }
    if !digits.chars().all(known) {
        let (number, exponent) = digits.split_once(['d', 'D'])?;
        let exponent = exponent.strip_prefix(['-', '+']).unwrap_or(exponent);
        let fortran = self::number(number.as_bytes()).is_ok()
            && !exponent.is_empty()
            && exponent.bytes().all(|byte| byte.is_ascii_digit());
        return fortran.then_some("write the exponent with e, not d");
    }
    let in_threes = |groups: &[&str]| {
        !groups[0].starts_with('0')
            && (1..=3).contains(&groups[0].len())
            && groups[1..].iter().all(|group| group.len() == 3)
    };
    let thousands = |separator: char| in_threes(&digits.split(separator).collect::<Vec<_>>());
    if digits.contains(group) {
        let whole = digits
            .rfind(['.', ','])
            .map_or(digits, |point| &digits[..point]);
        let groups: Vec<&str> = whole.split(group).collect();
        return in_threes(&groups).then_some("write the number without separators of thousands");
    }
    match (digits.matches(',').count(), digits.matches('.').count()) {
        (0, 0 | 1) => None,
        (1, 0) if thousands(',') => {
            Some("write the number without separators of thousands, and with a decimal point")
        }
        (1, 0) => Some("write a decimal point, not a comma"),
        (1, _) if digits.rfind(',') > digits.rfind('.') => Some(
            "write the number without separators of thousands, and with a decimal point, not a comma",
        ),
        (0, _) if !thousands('.') => None,
        _ => Some("write the number without separators of thousands"),
    }
}

/// Whether a text begins with a date or a time.
fn is_date(text: &str) -> bool {
    let digits = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    let first = text.split(['T', ' ']).next().unwrap_or_default();
    let day = |separator: char| {
        let parts: Vec<&str> = first.split(separator).collect();
        let [begin, middle, end] = parts[..] else {
            return false;
        };
        parts.iter().all(|part| digits(part))
            && middle.len() <= 2
            && matches!((begin.len(), end.len()), (4, 1 | 2) | (1 | 2, 2 | 4))
    };
    let clock = || {
        let mut parts = first.split(':');
        let hours = parts
            .next()
            .is_some_and(|part| digits(part) && part.len() <= 2);
        let mut rest = parts.map(|part| part.split_once('.').map_or(part, |(whole, _)| whole));
        let minutes = rest
            .next()
            .is_some_and(|part| digits(part) && part.len() == 2);
        hours && minutes && rest.all(|part| digits(part) && part.len() == 2)
    };
    let named = |separator: char| {
        const MONTHS: [&str; 12] = [
            "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec",
        ];
        let is_month = |part: &str| {
            let begin = part.get(..3).unwrap_or_default().to_ascii_lowercase();
            MONTHS.contains(&&*begin) && part.chars().all(char::is_alphabetic)
        };
        let parts: Vec<&str> = text.split(separator).collect();
        let months = parts.iter().filter(|part| is_month(part)).count();
        let numbers = parts
            .iter()
            .filter(|part| digits(part.trim_end_matches(',')));
        matches!(parts.len(), 2 | 3) && months == 1 && numbers.count() + 1 == parts.len()
    };
    ['-', '/', '.'].into_iter().any(day) || clock() || ['-', ' '].into_iter().any(named)
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
    let unsigned = token.strip_prefix(b"+").unwrap_or(token);
    let (negative, unsigned) = match unsigned.strip_prefix(b"-") {
        // "+-1" is no number.
        Some(_) if token[0] == b'+' => return Err(BadNumber::Syntax),
        Some(rest) => (true, rest),
        None => (false, unsigned),
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

    #[test]
    fn words_for_a_missing_value_are_those_of_other_programs() {
        for word in [
            "", "NA", "na", "N/A", "n/a", "#N/A", "#N/A N/A", "#NA", "<NA>", "nan", "NaN", "-nan",
            "-NaN", "1.#IND", "-1.#IND", "1.#QNAN", "-1.#QNAN", "NULL", "null", "None", "none",
            "NaT", "missing", "\\N", ".", "?",
        ] {
            assert!(is_missing(word.as_bytes()), "{word}");
        }
        for word in [
            "-",
            "0",
            "inf",
            "#DIV/0!",
            "#NULL!",
            "N",
            "..",
            "unknown",
            "x",
            "nananananana",
        ] {
            assert!(!is_missing(word.as_bytes()), "{word}");
        }
    }

    #[test]
    fn numbers_written_for_people_have_their_cause() {
        for (texts, words) in [
            (
                &["1,5", "-0,25", "0,377", "12,3456", ",5"][..],
                "write a decimal point, not a comma",
            ),
            (
                &["1,234", "12,345", "-999,999"],
                "separators of thousands, and with a decimal point",
            ),
            (
                &[
                    "1,234,567",
                    "1,234.5",
                    "1.234.567",
                    "1 234",
                    "1\u{a0}234,5",
                    "1\u{202f}234",
                    "1'234",
                    "1_000",
                ],
                "without separators of thousands",
            ),
            (
                &["1.234,5", "1.234.567,89"],
                "and with a decimal point, not a comma",
            ),
            (&["12%", "1,5 %", "-3.5%"], "percent"),
            (
                &["$5", "5 \u{20ac}", "\u{a3}1,200.50", "-$5", "$-5", "$ 5"],
                "currency",
            ),
            (&["(5)", "(1,234)"], "below 0"),
            (&["\u{2212}5"], "hyphen"),
            (&["1d5", "1.5D+03"], "exponent"),
            (
                &[
                    "2024-01-31",
                    "1/31/2024",
                    "31.1.24",
                    "31.12.2024",
                    "2024-01-31T10:00:00Z",
                    "2024-01-31 10:00",
                    "12:30",
                    "12:30:05.5",
                    "31-Jan-2024",
                    "Jan 31, 2024",
                    "1 May 2024",
                ],
                "a date or time",
            ),
            (
                &[
                    "#DIV/0!", "#VALUE!", "#REF!", "#NAME?", "#NUM!", "#NULL!", "#div/0!",
                ],
                "spreadsheet",
            ),
            (&["-", "--", "n.a.", "unknown", "\u{2014}"], "write NA"),
        ] {
            for text in texts {
                let found = cause(text.as_bytes()).unwrap_or_default();
                assert!(found.contains(words), "{text}: {found}");
                assert!(number(text.as_bytes()).is_err());
            }
        }
        for text in [
            "",
            "x",
            "red, blue",
            "1.2.3",
            "0x10",
            "a,b",
            "1:2",
            "v1.2",
            "%",
            "$",
            "()",
            "1,2,3x",
            "e5",
            "1-2",
            "x 5",
            "1-2-3",
            "10.1.1",
            "1_0",
            "1 2",
        ] {
            assert_eq!(cause(text.as_bytes()), None, "{text}");
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
